"""Shapes of the keywords about single types: `type`, `minimum`, `pattern`, `items`, `properties` and so on.

`base_shape` reads those of one subschema. `applicators.py` reads the keywords that combine subschemas: `$ref`, `allOf`,
`not` and so on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from structgen.engine.deadlines import Deadline, empty, spend
from structgen.engine.regex.tree import choice, intersection
from structgen.errors import GrammarError, SchemaError, UnsupportedSchemaError
from structgen.limits import Limits
from structgen.schema import formats
from structgen.schema.algebra import (
    ALL_ARRAYS,
    ALL_OBJECTS,
    ALL_STRINGS,
    ANY,
    NONE,
    OPEN,
    ArraySet,
    Contains,
    KeyClass,
    Language,
    Node,
    Number,
    NumberSet,
    ObjectSet,
    Shape,
    StringSet,
    meet,
)
from structgen.schema.algebra.numbers import ANY_FORM
from structgen.schema.algebra.text_grammars import JsonContent, TextGrammar
from structgen.schema.json_text.terminals import string_regex
from structgen.schema.options import Formats, SchemaOptions
from structgen.schema.own_keywords import GRAMMAR, JSON_CONTENT, REGEX_DIALECT, SUBSTRING_OF
from structgen.schema.reading.key_classes import disjoint_classes, merged, overlapping_classes
from structgen.schema.reading.number_keywords import NUMBER_FORM, number_of, number_sets
from structgen.schema.reading.scopes import ROOT, Location, pointer
from structgen.schema.reading.substrings import substring_language
from structgen.schema.schema_warnings import warn_of_keyword

__all__ = ["OWN_KEYWORDS", "NodeOf", "base_shape", "check_names", "language_of", "unsupported", "value_shape"]


OWN_KEYWORDS = frozenset({REGEX_DIALECT, NUMBER_FORM, SUBSTRING_OF, GRAMMAR, JSON_CONTENT})
"""Keywords that no draft has: those that `sources` puts into schemas of types, and those that
users write."""

_NULL, _BOOLEAN, _NUMBER, _INTEGER, _STRING, _ARRAY, _OBJECT = (1 << i for i in range(7))
_TYPES = {
    "null": _NULL,
    "boolean": _BOOLEAN,
    "number": _NUMBER,
    "integer": _INTEGER,
    "string": _STRING,
    "array": _ARRAY,
    "object": _OBJECT,
}
_ALL_TYPES = (1 << 7) - 1
_MEANT = {
    "bool": "boolean", "decimal": "number", "dict": "object", "double": "number", "float": "number", "int": "integer",
    "json_object": "object", "list": "array", "long": "integer", "map": "object", "none": "null", "str": "string",
    "text": "string", "tuple": "array", **{name: name for name in _TYPES},
}  # fmt: skip
"""The type that is meant by a name of another language, in lower case."""

_REQUESTS = frozenset({"function", "json_schema", "structural_tag"})
"""The `type` of what a request to a server holds: a `response_format`, a tool."""

_STRING_KEYS = frozenset({"minLength", "maxLength", "pattern", "format", SUBSTRING_OF, GRAMMAR, JSON_CONTENT})
_ARRAY_KEYS = frozenset({"items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems", "contains"})
_OBJECT_KEYS = frozenset(
    {
        "properties", "required", "additionalProperties", "patternProperties", "minProperties", "maxProperties",
    }
)  # fmt: skip

_MAX_IN_ONE_SET = 20_000  # texts
_LAST_SET = 63  # of the sets that many texts are in
_MAX_LENGTH = 2**31 - 2  # characters of a text; automata count in 32 bits, and a complement adds one

NodeOf = Callable[[Any, Location], Node]


def _fail(message: str, location: Location, keyword: str) -> SchemaError:
    return SchemaError(message, pointer=pointer(location), keyword=keyword)


def unsupported(message: str, location: Location, keyword: str) -> UnsupportedSchemaError:
    """Return the error for a keyword that cannot be expressed exactly."""
    return UnsupportedSchemaError(message, pointer=pointer(location), keyword=keyword)


def base_shape(
    schema: dict[str, Any],
    location: Location,
    node_of: NodeOf,
    options: SchemaOptions,
    limits: Limits,
    deadline: Deadline,
) -> Shape:
    """Return the values that satisfy `type` and the keywords about single types.

    Args:
        schema: the keywords of the subschema that its dialect knows.
        location: the subschema's location.
        node_of: returns the node of a child schema at a location.
        options: how `format` is read.
        limits: bounds on the regexes of patterns.
        deadline: checked while `patternProperties` are split into disjoint sets of keys.

    Raises:
        SchemaError: a keyword has an invalid value.
        UnsupportedSchemaError: a keyword cannot be expressed.
    """
    types = _types(schema["type"], location) if "type" in schema else _ALL_TYPES
    numbers = number_sets(schema, location, integer=not types & _NUMBER) if types & (_NUMBER | _INTEGER) else ()
    strings: tuple[StringSet, ...] = ()
    arrays: tuple[ArraySet, ...] = ()
    objects: tuple[ObjectSet, ...] = ()
    if types & _STRING:
        strings = (
            ALL_STRINGS if _STRING_KEYS.isdisjoint(schema) else _strings(schema, location, node_of, options, limits)
        )
    if types & _ARRAY:
        arrays = ALL_ARRAYS if _ARRAY_KEYS.isdisjoint(schema) else _arrays(schema, location, node_of)
    if types & _OBJECT:
        objects = (
            ALL_OBJECTS if _OBJECT_KEYS.isdisjoint(schema) else _objects(schema, location, node_of, limits, deadline)
        )
    elif isinstance(schema.get("required"), bool):
        warn_of_keyword(
            f"`required` is a list of strings (at #{pointer(location)}): a boolean, as in draft 3, is not enforced; "
            "name the property in `required` of the object"
        )
    return Shape(bool(types & _NULL), 3 if types & _BOOLEAN else 0, numbers, strings, arrays, objects)


def _types(value: Any, location: Location) -> int:
    names = value if isinstance(value, list) else (value,)
    types = 0
    for name in names:
        bit = _TYPES.get(name) if isinstance(name, str) else None
        if bit is None:
            meant = _MEANT.get(name.lower()) if isinstance(name, str) else None
            hint = f"write {meant!r}" if meant else ""
            if location is ROOT and name in _REQUESTS:
                hint = "this is a part of a request: give only the JSON Schema inside it"
            raise SchemaError(f"{name!r} is not a JSON type", pointer=pointer(location), keyword="type", hint=hint)
        types |= bit
    return types


# --- strings ---------------------------------------------------------------------------------------------------------


def _count(schema: dict[str, Any], keyword: str, location: Location) -> int | None:
    value = schema.get(keyword)
    if value is None and keyword not in schema:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _fail(f"{keyword} must be an integer of at least 0", location, keyword)
    return value


_LANGUAGES: dict[tuple[str, str, Limits], Language] = {}
_MAX_LANGUAGES_KEPT = 1024


def language_of(pattern: Any, dialect: str, location: Location, keyword: str, limits: Limits) -> Language:
    """Return the texts in which a pattern matches somewhere.

    Args:
        pattern: the regex.
        dialect: its syntax: "ecma", "python" or "rust".
        location: the location of the schema that holds it.
        keyword: the keyword that holds it.
        limits: bounds on its size.

    Raises:
        SchemaError: the pattern is not a string.
        UnsupportedSchemaError: the regex is invalid, or uses something that automata cannot do.
        LimitExceededError: the regex is too large, or the first masks of its look-ahead would take too long.
    """
    if not isinstance(pattern, str):
        raise _fail(f"{keyword} must be a string", location, keyword)
    found = _LANGUAGES.get((pattern, dialect, limits))
    if found is None:
        from structgen.engine.automata.first_states import check_look_ahead  # imported late: many have no pattern
        from structgen.engine.regex_syntax.parser import parse_readings

        try:
            readings = parse_readings(pattern, dialect, anchored=False, limits=limits)  # type: ignore[arg-type]
        except GrammarError as error:
            raise unsupported(f"cannot use the pattern {pattern!r}: {error}", location, keyword) from error
        regex = intersection(*readings)
        found = Language(f"{dialect} {pattern}", regex, partial(choice, *readings) if len(readings) > 1 else None)
        spelled = partial(string_regex, StringSet(within=(found,)))
        check_look_ahead(pattern, regex, limits, spelled=spelled, where=lambda: f" (at #{pointer(location)})")
        if len(_LANGUAGES) >= _MAX_LANGUAGES_KEPT:
            _LANGUAGES.clear()
        _LANGUAGES[pattern, dialect, limits] = found
    return found


def _strings(
    schema: dict[str, Any], location: Location, node_of: NodeOf, options: SchemaOptions, limits: Limits
) -> tuple[StringSet, ...]:
    low, high = _count(schema, "minLength", location) or 0, _count(schema, "maxLength", location)
    if low > _MAX_LENGTH:
        raise unsupported(
            f"minLength is more than {_MAX_LENGTH}, the longest text that is counted", location, "minLength"
        )
    if high is not None and high > _MAX_LENGTH:
        high = None  # no text is that long
    within: list[Language] = []
    if "pattern" in schema:
        dialect = schema.get(REGEX_DIALECT, "ecma")
        within.append(language_of(schema["pattern"], dialect, location, "pattern", limits))
    if "format" in schema:
        language = _format(schema["format"], location, options.formats)
        if language is not None:
            within.append(language)
    if SUBSTRING_OF in schema:
        within.append(substring_language(schema[SUBSTRING_OF], location, limits))
    grammars: list[TextGrammar | JsonContent] = []
    if GRAMMAR in schema:
        from structgen.schema.reading.grammars import texts_of_grammar  # imported late: few schemas have a grammar

        texts = texts_of_grammar(schema[GRAMMAR], location, limits)
        if isinstance(texts, Language):
            within.append(texts)
        else:
            grammars.append(texts)
    if JSON_CONTENT in schema:
        grammars.append(JsonContent(node_of(schema[JSON_CONTENT], (location, JSON_CONTENT))))
    found = StringSet(low, high, tuple(within), grammars=tuple(grammars))
    return () if found.is_empty() else (found,)


def _format(name: Any, location: Location, reading: Formats) -> Language | None:
    """Return the language of a format; None where it is only an annotation."""
    if not isinstance(name, str):
        raise _fail("format must be a string", location, "format")
    if name.startswith(formats.UNSUPPORTED):
        keyword, _, why = name[len(formats.UNSUPPORTED) + 1 :].partition(" ")
        raise unsupported(why or f"{keyword} cannot be expressed exactly", location, keyword)
    if reading == "annotate":
        return None
    if name in formats.REFUSED:
        raise unsupported(f"the format {name!r} cannot be expressed exactly", location, "format")
    language = formats.language(name)
    if language is None and reading == "strict":
        raise unsupported(f"unknown format {name!r}", location, "format")
    if language is None and name not in formats.ANNOTATIONS:
        warn_of_keyword(f"unknown format {name!r} (at #{pointer(location)}): it is not enforced")
    return language


# --- arrays ----------------------------------------------------------------------------------------------------------


def _children(value: Any, keyword: str, location: Location, node_of: NodeOf) -> tuple[Node, ...]:
    if not isinstance(value, list):
        raise _fail(f"{keyword} must be a list of schemas", location, keyword)
    inside = (location, keyword)
    return tuple(node_of(schema, (inside, str(i))) for i, schema in enumerate(value))


def _arrays(schema: dict[str, Any], location: Location, node_of: NodeOf) -> tuple[ArraySet, ...]:
    prefix: tuple[Node, ...] = ()
    rest = ANY
    items = schema.get("items")
    if "prefixItems" in schema:
        prefix = _children(schema["prefixItems"], "prefixItems", location, node_of)
    if isinstance(items, list):
        if prefix:
            raise _fail("items must be a schema, not a list, beside prefixItems", location, "items")
        prefix = _children(items, "items", location, node_of)
        if "additionalItems" in schema:
            rest = node_of(schema["additionalItems"], (location, "additionalItems"))
    elif "items" in schema:
        rest = node_of(items, (location, "items"))
    low, high = _count(schema, "minItems", location) or 0, _count(schema, "maxItems", location)
    contains = _contains(schema, location, node_of)
    must_differ = schema.get("uniqueItems", False)
    if not isinstance(must_differ, bool):
        raise _fail("uniqueItems must be true or false", location, "uniqueItems")
    repeats = False if must_differ else None
    found = ArraySet(prefix, rest, low, high, contains, repeats).reduced()
    return () if found is None else (found,)


def _contains(schema: dict[str, Any], location: Location, node_of: NodeOf) -> tuple[Contains, ...]:
    """Return the count of `contains`, with the bounds of `minContains` and `maxContains`."""
    if "contains" not in schema:
        return ()
    node = node_of(schema["contains"], (location, "contains"))
    low, high = _count(schema, "minContains", location), _count(schema, "maxContains", location)
    return (Contains(0, node, 1 if low is None else low, high),)


# --- objects ---------------------------------------------------------------------------------------------------------


def _names(value: Any, keyword: str, location: Location) -> tuple[str, ...]:
    """Return a list of strings, each once."""
    names = value if isinstance(value, list) else (None,)
    for name in names:
        if not isinstance(name, str):
            raise _fail(f"{keyword} must be a list of strings", location, keyword)
    return tuple(names if len(set(names)) == len(names) else dict.fromkeys(names))


def check_names(members: dict[Any, Any], keyword: str, location: Location) -> None:
    """Raise SchemaError for a key that is no string: Python and YAML have such keys, and JSON has none."""
    for name in members:
        if not isinstance(name, str):
            raise _fail(f"{keyword} has the key {name!r}, which is not a string", location, keyword)


def _objects(
    schema: dict[str, Any], location: Location, node_of: NodeOf, limits: Limits, deadline: Deadline
) -> tuple[ObjectSet, ...]:
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        raise _fail("properties must be an object", location, "properties")
    check_names(properties, "properties", location)
    inside = (location, "properties")
    nodes = {name: node_of(child, (inside, name)) for name, child in properties.items()}
    classes = OPEN
    overlapping: tuple[KeyClass, ...] = ()
    if "additionalProperties" in schema:
        rest = node_of(schema["additionalProperties"], (location, "additionalProperties"))
        classes = OPEN if rest == ANY else () if rest == NONE else ((ALL_STRINGS[0], rest),)
    if "patternProperties" in schema:
        patterns = _patterns(schema["patternProperties"], location, nodes, node_of, limits)
        split = disjoint_classes(patterns, classes, deadline)
        if split is None:
            patterns = merged(patterns)
            split = disjoint_classes(patterns, classes, deadline)
        if split is None:
            classes, overlapping = OPEN, overlapping_classes(patterns, classes)
        else:
            classes = split
    required = _names(schema["required"], "required", location) if "required" in schema else ()
    low, high = _count(schema, "minProperties", location) or 0, _count(schema, "maxProperties", location)
    found = ObjectSet(nodes, classes, required, low, high, overlapping=overlapping).reduced()
    return () if found is None else (found,)


def _patterns(
    patterns: Any, location: Location, nodes: dict[str, Node], node_of: NodeOf, limits: Limits
) -> list[tuple[Language, Node]]:
    """Return the languages of `patternProperties`, with the nodes of values. Narrows `nodes` in place."""
    if not isinstance(patterns, dict):
        raise _fail("patternProperties must be an object", location, "patternProperties")
    inside = (location, "patternProperties")
    found: list[tuple[Language, Node]] = []
    for pattern, child in patterns.items():
        language = language_of(pattern, "ecma", inside, "patternProperties", limits)
        node = node_of(child, (inside, pattern))
        for name in nodes:
            spend(1)
            if language.matches(name):
                nodes[name] = meet(nodes[name], node)
        found.append((language, node))
    return found


# --- values ----------------------------------------------------------------------------------------------------------


def value_shape(values: list[Any], location: Location, keyword: str, node_of: NodeOf, written: int = ANY_FORM) -> Shape:
    """Return the shape of exactly these JSON values.

    Args:
        values: the values.
        location: the location of the schema that lists them.
        keyword: the keyword that lists them.
        node_of: returns the node of a child schema at a location.
        written: the forms that numbers may have; see `NumberSet`.
    """
    texts: list[str] = []
    numbers: list[Number] = []
    arrays: list[ArraySet] = []
    objects: list[ObjectSet] = []
    null, booleans = False, 0
    inside = (location, keyword)
    for value in values:
        spend(1)
        if value is None:
            null = True
        elif isinstance(value, bool):
            booleans |= 2 if value else 1
        elif isinstance(value, str):
            texts.append(value)
        elif isinstance(value, list):
            items = tuple(node_of({"enum": [item]}, inside) for item in value)
            arrays.append(ArraySet(items, NONE, len(items), len(items)))
        elif isinstance(value, dict):
            check_names(value, keyword, location)
            members = {name: node_of({"enum": [item]}, inside) for name, item in value.items()}
            objects.append(ObjectSet(members, (), tuple(members)))
        else:
            numbers.append(number_of(value, location, keyword))
    return Shape(
        null,
        booleans,
        _listed(numbers, written),
        (StringSet(texts=_distinct(texts)),) if texts else (),
        tuple(arrays),
        tuple(objects),
    )


def _distinct(texts: list[str]) -> tuple[str, ...]:
    """Return the texts of a list in their order, each once. The list may be empty afterwards.

    A set copies itself where it grows, which holds Python's interpreter lock. So many texts are in many small sets.
    """
    if len(texts) <= _MAX_IN_ONE_SET:
        return tuple(dict.fromkeys(texts))
    known: list[set[str]] = [set() for _ in range(_LAST_SET + 1)]
    found: list[str] = []
    for text in texts:
        spend(1)
        some = known[hash(text) & _LAST_SET]
        if text not in some:
            some.add(text)
            found.append(text)
    while known:
        spend(len(known.pop()) >> 2)
    made = tuple(found)
    empty(found)
    empty(texts)
    return made


def _listed(numbers: list[Number], written: int) -> tuple[NumberSet, ...]:
    found = NumberSet(values=tuple(dict.fromkeys(numbers)), written=written).reduced()
    return () if found is None else (found,)
