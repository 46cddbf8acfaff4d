r"""The arguments of a tool call in the notation of a model family, as text and as data.

    json           {"a": 1, "note": "x"}
    qwen_xml       <parameter=a>\n1\n</parameter>\n<parameter=note>\nx\n</parameter>
    minimax_xml    <parameter name="a">1</parameter>\n<parameter name="note">x</parameter>\n
    gemma          {a:1,note:<|"|>x<|"|>}
    glm_xml        <arg_key>a</arg_key><arg_value>1</arg_value><arg_key>note</arg_key><arg_value>x</arg_value>

In XML a text stands as it is, and any other value as JSON. Only the schema tells the text `1` from the number 1. Where
it allows both, what reads as an allowed JSON value is that value, and anything else is text.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from referencing.exceptions import Unresolvable

from structgen.errors import SchemaError
from structgen.generation.partial_json import partial_value
from structgen.generation.tools.literals import read_gemma, write_gemma
from structgen.schema.rules.parameter_styles import MARKS
from structgen.schema.validation import matches, validator_for

__all__ = ["Arguments", "read_arguments", "write_arguments"]


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments that were read.

    Attributes:
        values: the arguments by name; those so far, where the text ends within them.
        end: the position after them; -1 where the text ends within them.
    """

    values: dict[str, Any]
    end: int


@dataclass(frozen=True, slots=True)
class _Xml:
    """An XML notation in which each argument is one element.

    Attributes:
        pattern: an element; with the groups `key`, `value` and perhaps `kind`, the type that the model names.
        written: the element of an argument, for `str.format` with `key`, `value` and `kind`.
        begins: the first characters of an element.
        kinds: the words of the model for text and for other values; by JSON type where there are more.
        frame: what stands around a value, and is not part of it.
        separator: the text between two elements.
        has_sections: whether a text with `<`, `&` or a line break stands in a section, `<![CDATA[…]]>`.
    """

    pattern: re.Pattern[str]
    written: str
    begins: str
    kinds: tuple[str, str] = ("", "")
    frame: str = ""
    separator: str = ""
    has_sections: bool = False

    def framed(self, text: str, *, is_text: bool) -> str:
        """Return a text, or the JSON of another value, with what stands around it in an element."""
        if self.has_sections and is_text and re.search(r"[<&\n]", text):
            return f"<![CDATA[{text}]]>"
        return f"{self.frame}{text}{self.frame}"


def _xml(pattern: str, written: str, **more: Any) -> _Xml:
    begins = written.partition("{")[0]
    return _Xml(re.compile(r"\s*" + pattern, re.DOTALL), written, begins, **more)


def _dsml(name: str) -> _Xml:
    return _xml(
        rf'<{name} name="(?P<key>[^"]+)" string="(?P<kind>\w+)">(?P<value>.*?)</{name}>',
        f'<{name} name="{{key}}" string="{{kind}}">{{value}}</{name}>\n',
        kinds=("true", "false"),
    )


_XML = {
    "qwen_xml": _xml(
        r"<parameter=(?P<key>[^>]+)>(?P<value>.*?)</parameter>",
        "<parameter={key}>{value}</parameter>",
        frame="\n",
        separator="\n",
    ),
    "seed_xml": _xml(
        r"<parameter=(?P<key>[^>]+)>(?P<value>.*?)</parameter>",
        "<parameter={key}>{value}</parameter>",
        separator="\n",
    ),
    "minimax_xml": _xml(
        r'<parameter name="(?P<key>[^"]+)">(?P<value>.*?)</parameter>',
        '<parameter name="{key}">{value}</parameter>\n',
    ),
    "atem_xml": _xml(
        r'<atem:parameter name="(?P<key>[^"]+)">(?P<value>.*?)</atem:parameter>',
        '<atem:parameter name="{key}">{value}</atem:parameter>\n',
    ),
    "deepseek_xml": _dsml("｜DSML｜parameter"),
    "deepseek_v4_1_xml": _dsml("｜DSML｜ parameter"),
    "gcml_xml": _dsml("｜GCML｜parameter"),
    "glm_xml": _xml(
        r"<arg_key>(?P<key>.*?)</arg_key>\s*<arg_value>(?P<value>.*?)</arg_value>",
        "<arg_key>{key}</arg_key><arg_value>{value}</arg_value>",
    ),
    "hunyuan_xml": _xml(
        r"<arg_key:opensource>(?P<key>.*?)</arg_key:opensource>\s*"
        r"<arg_value:opensource>(?P<value>.*?)</arg_value:opensource>",
        "<arg_key:opensource>{key}</arg_key:opensource>\n<arg_value:opensource>{value}</arg_value:opensource>\n",
    ),
    "minicpm_xml": _xml(
        r'<param name="(?P<key>[^"]+)">(?P<value><!\[CDATA\[.*?\]\]>|.*?)</param>',
        '<param name="{key}">{value}</param>',
        has_sections=True,
    ),
    "kimi_k3_xml": _xml(
        r'<\|open\|>argument key="(?P<key>[^"]+)" type="(?P<kind>\w+)"<\|sep\|>'
        r"(?P<value>.*?)<\|close\|>argument<\|sep\|>",
        '<|open|>argument key="{key}" type="{kind}"<|sep|>{value}<|close|>argument<|sep|>',
        kinds=("string", ""),
    ),
}

_M3 = "]<]minimax[>["


def read_arguments(style: str, text: str, start: int, schema: Any) -> Arguments:
    """Read the arguments of a call.

    Args:
        style: the notation.
        text: the whole text.
        start: the position of the arguments.
        schema: their JSON Schema.

    Raises:
        ValueError: they are not in the notation.
    """
    if style == "json":
        return _read_json(text, start)
    if style in MARKS:
        return Arguments(*read_gemma(text, start, MARKS[style]))
    if style == "cohere_xml":
        return _read_cohere(text, start)
    if style == "minimax_m3_xml":
        return _decided(_read_m3(text, start, schema), schema)
    return _decided(_read_xml(_XML[style], text, start, schema), schema)


def write_arguments(style: str, arguments: Mapping[str, Any]) -> str:
    """Return arguments as a text that `read_arguments` reads.

    Args:
        style: the notation.
        arguments: JSON data by name.
    """
    if style == "json":
        return _json(arguments)
    if style in MARKS:
        return write_gemma(arguments, MARKS[style])
    if style == "cohere_xml":
        return "".join(_cohere(value, f' name="{_escaped(key)}"') for key, value in arguments.items())
    if style == "minimax_m3_xml":
        return "".join(_m3(key, value) for key, value in arguments.items())
    xml = _XML[style]
    elements = []
    for key, value in arguments.items():
        shown = value if isinstance(value, str) else _json(value)
        kind = xml.kinds[0] if isinstance(value, str) else xml.kinds[1] or _json_type(value)
        elements.append(xml.written.format(key=key, value=xml.framed(shown, is_text=isinstance(value, str)), kind=kind))
    return xml.separator.join(elements)


def _read_json(text: str, start: int) -> Arguments:
    try:
        values, end = json.JSONDecoder().raw_decode(text, start)
    except ValueError:
        partial = partial_value(text[start:])
        return Arguments(partial if isinstance(partial, dict) else {}, -1)
    if not isinstance(values, dict):
        raise ValueError(f"the arguments are not an object: {text[start:end][:80]!r}")
    return Arguments(values, end)


def _read_xml(xml: _Xml, text: str, start: int, schema: Any) -> Arguments:
    values: dict[str, Any] = {}
    end = start
    while (found := xml.pattern.match(text, end)) is not None:
        key, raw = found["key"], found["value"]
        if xml.frame:
            raw = raw.removeprefix(xml.frame).removesuffix(xml.frame)
        kind = found.groupdict().get("kind")
        if xml.has_sections and raw.startswith("<![CDATA["):
            values[key] = raw.removeprefix("<![CDATA[").removesuffix("]]>")
        elif kind is None:
            values[key] = _typed(raw, _property(schema, key))
        else:
            values[key] = raw if kind == xml.kinds[0] else json.loads(raw)
        end = found.end()
    rest = text[end:].lstrip()
    is_open = rest.startswith(xml.begins) or xml.begins.startswith(rest)
    return Arguments(values, -1 if is_open else end)


def _typed(raw: str, schema: Any) -> Any:
    """Return the value of a raw text, by its schema."""
    types = _types_of(schema)
    if types == {"string"}:
        return raw
    try:
        value = json.loads(raw, parse_constant=_no_number)
    except ValueError:
        if "string" in types:
            return raw
        raise ValueError(f"{raw[:80]!r} is not JSON, and its schema allows no text") from None
    if "string" not in types:
        return value
    kind = _json_type(value)
    is_whole = kind == "number" and value == value // 1
    if kind == "string" or not (kind in types or (is_whole and "integer" in types)):
        return raw
    return _valid_one((value, raw), schema)


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


@dataclass(frozen=True, slots=True)
class _Either:
    """A value that only the schema of all arguments decides, as which one of a union's objects holds does."""

    values: Sequence[Any]


def _valid_one(values: Sequence[Any], schema: Any) -> Any:
    """Return the value that a schema allows, or that it may be either of several; the first where none is valid."""
    valid = [value for value in values if _is_valid(value, schema)]
    return valid[0] if len(valid) == 1 else _Either(valid) if valid else values[0]


def _is_valid(value: Any, schema: Any) -> bool:
    """Return whether a schema allows a value; True where no validator reads it."""
    try:
        return bool(validator_for(dict(schema) if isinstance(schema, Mapping) else True).is_valid(value))
    except (SchemaError, RecursionError, Unresolvable):  # it refers to a part of the whole that was left out
        return True


def _decided(arguments: Arguments, schema: Any) -> Arguments:
    """Return arguments with the first values that are valid together; those before the first open one, of a part."""
    choices = [one.values for one in _open_ones(arguments.values)]
    if not choices:
        return arguments
    if arguments.end < 0:
        known = itertools.takewhile(lambda pair: not list(_open_ones(pair[1])), arguments.values.items())
        return Arguments(dict(known), -1)
    ways = (_filled(arguments.values, iter(way)) for way in itertools.product(*choices))
    tried = list(itertools.islice(ways, _MAX_WAYS))
    return Arguments(next((way for way in tried if _is_valid(way, schema)), tried[0]), arguments.end)


def _open_ones(value: Any) -> Iterator[_Either]:
    """Yield the values within a value that are not decided."""
    if isinstance(value, _Either):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _open_ones(one)


def _filled(value: Any, chosen: Iterator[Any]) -> Any:
    """Return a value with choices for what is not decided, in order."""
    if isinstance(value, _Either):
        return next(chosen)
    if isinstance(value, dict):
        return {key: _filled(one, chosen) for key, one in value.items()}
    return [_filled(one, chosen) for one in value] if isinstance(value, list) else value


def _property(schema: Any, key: str) -> Any:
    """Return the schema of an argument, with the definitions that it may refer to."""
    found = []
    for part in _parts_of(schema, "object"):
        named = [part["properties"][key]] if key in part.get("properties", {}) else []
        named += [one for pattern, one in part.get("patternProperties", {}).items() if matches(pattern, key)]
        found += named or [part.get("additionalProperties", True)]
    return {**_definitions(schema), "allOf": found} if found else True


def _item(schema: Any, index: int) -> Any:
    """Return the schema of an item of an array, with the definitions that it may refer to."""
    found = []
    for part in _parts_of(schema, "array"):
        first, rest = part.get("prefixItems", ()), part.get("items", True)
        if isinstance(rest, list):  # drafts before 2020-12
            first, rest = rest, part.get("additionalItems", True)
        found.append(first[index] if index < len(first) else rest)
    return {**_definitions(schema), "allOf": found} if found else True


def _parts_of(schema: Any, kind: str) -> list[Mapping[str, Any]]:
    """Return the schemas that all hold for the values of a type: the schema and those in its `allOf`."""
    if not isinstance(schema, Mapping):
        return []
    found: list[Mapping[str, Any]] = []
    waiting = [schema]
    while waiting and len(found) < _MAX_PARTS:
        part = _only_part(waiting.pop(0), kind)
        found.append(part)
        waiting += [{**_definitions(part), **one} for one in part.get("allOf", ()) if isinstance(one, Mapping)]
    return found


def _only_part(schema: Mapping[str, Any], kind: str, depth: int = 0) -> Mapping[str, Any]:
    """Return the part of `anyOf` or `oneOf` that describes values of a type, if there is only one; else the schema."""
    schema = _resolved(schema, schema)
    for keyword in ("anyOf", "oneOf"):
        parts = [{**_definitions(schema), **part} for part in schema.get(keyword, ()) if isinstance(part, Mapping)]
        fitting = [part for part in parts if kind in _types_of(part)]
        if len(fitting) == 1 and depth < 20:
            return _only_part(fitting[0], kind, depth + 1)
    return schema


def _definitions(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {name: schema[name] for name in ("$defs", "definitions") if name in schema}


_MAX_PARTS = 20  # schemas of one value that are looked at
_MAX_WAYS = 256  # of values that the schema leaves open
_ALL_TYPES = frozenset(("string", "number", "integer", "boolean", "null", "object", "array"))


def _types_of(schema: Any, depth: int = 0) -> frozenset[str]:
    """Return the types that a schema allows, as far as `type`, `enum`, `const`, `anyOf`, `allOf` and `$ref` tell."""
    if not isinstance(schema, Mapping) or depth > 20:
        return _ALL_TYPES
    found = _ALL_TYPES
    if "type" in schema:
        named = schema["type"]
        found &= frozenset([named] if isinstance(named, str) else named)
        found |= {"integer"} if "number" in found else set()
    if "enum" in schema or "const" in schema:
        values = [schema["const"]] if "const" in schema else schema["enum"]
        kinds = frozenset(map(_json_type, values))
        found &= kinds | {"integer"} if "number" in kinds else kinds
    inner = _definitions(schema)
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            parts = [part for part in schema[keyword] if isinstance(part, Mapping)]
            found &= frozenset().union(*(_types_of({**inner, **part}, depth + 1) for part in parts))
    for part in schema.get("allOf", ()):
        found &= _types_of({**inner, **part}, depth + 1) if isinstance(part, Mapping) else _ALL_TYPES
    if "$ref" in schema:
        target = _resolved(schema, schema)
        found &= _types_of({**inner, **target}, depth + 1) if target is not schema else _ALL_TYPES
    return found


def _resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a schema's `$ref` into its own definitions refers to; the schema itself without one."""
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return schema
    target: Any = root
    for part in reference[2:].split("/"):
        target = target.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(target, Mapping) else None
    return {**_definitions(root), **target} if isinstance(target, Mapping) else schema


def _json_type(value: Any) -> str:
    if value is None:
        return "null"
    by_type = {bool: "boolean", str: "string", list: "array", tuple: "array"}
    return next((name for kind, name in by_type.items() if isinstance(value, kind)), None) or (
        "object" if isinstance(value, Mapping) else "number"
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


# --- Cohere: <cofl:value name="a" type="json">1</cofl:value>; dicts and lists are nested -----------------------------

_COHERE = re.compile(r'\s*<cofl:value(?: name="(?P<key>[^"]*)")? type="(?P<kind>\w+)">')
_COHERE_END = re.compile(r"\s*</cofl:value>")


def _read_cohere(text: str, start: int) -> Arguments:
    values: dict[str, Any] = {}
    end = start
    for key, value, after in _cohere_values(text, start):
        values[key], end = value, after
    rest = text[end:].lstrip()
    is_open = rest.startswith("<cofl:value") or "<cofl:value".startswith(rest)
    return Arguments(values, -1 if is_open else end)


def _cohere_values(text: str, at: int) -> Iterator[tuple[str, Any, int]]:
    """Yield the complete values at a position: their names, the values, and the positions after them."""
    while (found := _COHERE.match(text, at)) is not None:
        value: Any
        kind, at = found["kind"], found.end()
        if kind in ("dict", "list"):
            inner = list(_cohere_values(text, at))
            value = {key: one for key, one, _ in inner} if kind == "dict" else [one for _, one, _ in inner]
            close = _COHERE_END.match(text, inner[-1][2] if inner else at)
            if close is None:
                return
            at = close.end()
        else:
            end = text.find("</cofl:value>", at)
            if end < 0:
                return
            value = json.loads(text[at:end]) if kind == "json" else text[at:end]
            at = end + len("</cofl:value>")
        yield _unescaped(found["key"] or ""), value, at


def _cohere(value: Any, name: str = "") -> str:
    if isinstance(value, Mapping):
        inner = "".join(_cohere(one, f' name="{_escaped(key)}"') for key, one in value.items())
        return f'<cofl:value{name} type="dict">{inner}</cofl:value>'
    if isinstance(value, list | tuple):
        return f'<cofl:value{name} type="list">{"".join(map(_cohere, value))}</cofl:value>'
    if isinstance(value, str):
        return f'<cofl:value{name} type="raw">{value}</cofl:value>'
    return f'<cofl:value{name} type="json">{_json(value)}</cofl:value>'


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _unescaped(text: str) -> str:
    return text.replace("&quot;", '"').replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&")


# --- MiniMax M3: an element is called after the argument; objects and arrays are nested ------------------------------

_M3_OPEN = re.compile(r"\s*" + re.escape(_M3) + r"<(?P<key>[^/>][^>]*)>")


def _read_m3(text: str, start: int, schema: Any) -> Arguments:
    values: dict[str, Any] = {}
    end = start
    while (found := _M3_OPEN.match(text, end)) is not None and not found["key"].startswith('invoke name="'):
        at = _m3_close(text, found["key"], found.end())
        if at < 0:
            return Arguments(values, -1)
        values[found["key"]] = _m3_value(text[found.end() : at], _property(schema, found["key"]))
        end = at + len(f"{_M3}</{found['key']}>")
    rest = text[end:].lstrip()
    is_open = f"{_M3}</".startswith(rest) or (rest.startswith(f"{_M3}<") and ">" not in rest[len(_M3) :])
    return Arguments(values, -1 if is_open and end < len(text) else end)


def _m3_close(text: str, key: str, at: int) -> int:
    """Return the position of the end mark of an element; -1 where there is none. It may contain one of its own name."""
    opening, closing = f"{_M3}<{key}>", f"{_M3}</{key}>"
    depth = 1
    while (close := text.find(closing, at)) >= 0:
        depth += text.count(opening, at, close) - 1
        if not depth:
            return close
        at = close + len(closing)
    return -1


def _m3_value(raw: str, schema: Any) -> Any:
    elements = raw.lstrip()
    if not elements:
        return _valid_one((raw, {}, []), schema)
    if not elements.startswith(_M3):
        return _typed(raw, schema)
    if "array" in _types_of(schema) and elements.startswith(f"{_M3}<item>"):
        return _m3_items(elements, schema)
    return _read_m3(elements, 0, schema).values


def _m3_items(raw: str, schema: Any) -> list[Any]:
    values: list[Any] = []
    end = 0
    while (found := _M3_OPEN.match(raw, end)) is not None and found["key"] == "item":
        start = found.end()
        end = _m3_close(raw, "item", start)
        if end < 0:
            raise ValueError(f"an item is not closed: {raw[start : start + 80]!r}")
        values.append(_m3_value(raw[start:end], _item(schema, len(values))))
        end += len(f"{_M3}</item>")
    return values


def _m3(key: str, value: Any) -> str:
    if isinstance(value, Mapping) and value:
        shown = "".join(_m3(name, one) for name, one in value.items())
    elif isinstance(value, list | tuple) and value:
        shown = "".join(_m3("item", one) for one in value)
    else:
        shown = value if isinstance(value, str) else _json(value)
    return f"{_M3}<{key}>{shown}{_M3}</{key}>"
