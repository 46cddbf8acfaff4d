"""Words for a schema's rules: the values that a symbol derives, and the schema location that asks for them.

Error messages and explanations use them: after `{"age": ` in a text, the next symbol is described as "an integer from
0 to 120", at the location `#/properties/age`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from structgen.engine.grammar.tables import Capture, Lazy, Lookahead, Symbol
from structgen.engine.matching.expectations import joined
from structgen.engine.regex.tree import Literal, LiteralSet, Regex
from structgen.engine.regex.tree import Sequence as RegexSequence
from structgen.schema.algebra import ANY, ArraySet, Node, NumberSet, ObjectSet, Shape, StringSet
from structgen.schema.algebra.nodes import AnyOf
from structgen.schema.algebra.text_grammars import JsonContent, TextGrammar
from structgen.schema.json_text.numbers import decimal_text
from structgen.schema.own_keywords import GRAMMAR, JSON_CONTENT
from structgen.schema.reading.scopes import Location, Subschema, pointer
from structgen.schema.rules.array_clauses import ArrayClauseRules
from structgen.schema.rules.arrays import ArrayRules
from structgen.schema.rules.content_rules import ContentRules
from structgen.schema.rules.lazy_rules import LazyRules
from structgen.schema.rules.object_states import index_of
from structgen.schema.rules.objects import ObjectRules
from structgen.schema.rules.states import ArrayState
from structgen.schema.rules.text_rules import TextRules

__all__ = [
    "SchemaDescriber",
    "is_shared",
    "item_location",
    "node_of_part",
    "node_words",
    "property_location",
    "shape_words",
    "shown_location",
    "subschemas_of",
]

Body = Sequence[Symbol | Lookahead]

_KEY = re.compile(rb'(?:\{|,)? ?("(?:[^"\\]|\\.)*")(: ?)?', re.DOTALL)
_MAX_NAME_CHARACTERS = 60
_DIFFERENT = " that differs from those before"


class SchemaDescriber:
    """The `Describer` of a schema's rules.

    Args:
        lazy: the rules.
    """

    def __init__(self, lazy: LazyRules) -> None:
        self._lazy = lazy

    def words(self, key: Any, body: Body, at: int) -> tuple[str, str]:
        """Describe a symbol; see `Describer`."""
        lazy = self._lazy
        symbol = body[at]
        if at == 0 and _is_value(key):
            return node_words(lazy, key[1]) + (_DIFFERENT if key[0] == "without" else ""), ""
        if isinstance(symbol, Capture) and isinstance(symbol.of, Lazy) and (at > 0 or key[1] == "value"):  # after a key
            node = lazy.node_of(symbol.of)
            return ("" if node is None else node_words(lazy, node)), ""
        if isinstance(symbol, Capture):
            if isinstance(symbol.of, LiteralSet):  # the keys of a group
                return "a key: " + joined([text.decode() for text in symbol.of.texts]), ""
            return ("a key" if _is_object(lazy, key, body) else f"an item{_DIFFERENT}"), ""
        if not isinstance(symbol, Regex) or _is_in_text(lazy, key):
            return "", ""
        sign = _punctuation(lazy, symbol)
        if sign:
            return "", sign
        name = _key_of(symbol)
        if name is not None:
            has_lead = isinstance(symbol, Literal) and symbol.data[:1] != b'"'
            return ("", "") if has_lead else ("a key", json.dumps(name, ensure_ascii=False))
        node = _node_at(lazy, key, body, at)
        return ("" if node is None else node_words(lazy, node)), ""

    def location(self, key: Any, body: Body, at: int) -> str | None:
        """Return the schema location that asks for a symbol; see `Describer`."""
        lazy = self._lazy
        if _is_in_text(lazy, key):
            return None
        node: Node | None = key[1] if _is_value(key) else node_of_part(lazy, lazy.numbered(key[0]).part)
        if node is None or is_shared(lazy, node):
            return None
        if _is_value(key) and at == 0:
            return shown_location(lazy.space.location(node))
        subschemas = subschemas_of(lazy, node)
        if not _is_object(lazy, key, body):
            return item_location(subschemas, key, is_item=at == 0 and not _is_value(key) and key[1] == "item")
        is_key = _key_of(body[at]) is not None or (at == 0 and isinstance(body[at], Capture) and key[1] != "value")
        is_other = not _is_value(key) and isinstance(key[1], int)
        name = _name_before(lazy, key, body, at)
        return property_location(subschemas, None if is_key else name, is_other)


def _is_value(key: tuple[Any, ...]) -> bool:
    """Return whether a nonterminal derives whole values."""
    return key[0] in ("value", "without")


def _is_in_text(lazy: LazyRules, key: Any) -> bool:
    """Return whether a nonterminal derives a string of a grammar or one that holds JSON, or a part of one."""
    return not _is_value(key) and isinstance(lazy.numbered(key[0]), (TextRules, ContentRules))


# -- symbols ----------------------------------------------------------------------------------------------------------


def _punctuation(lazy: LazyRules, symbol: Any) -> str:
    """Return the character that a terminal of the layout stands for, in quotes; an empty text for other terminals."""
    layout = lazy.layout
    for sign, regexes in (
        ("{", (layout.open_object,)),
        ("[", (layout.open_array,)),
        ("}", (layout.end_object, layout.close_object)),
        ("]", (layout.end_array, layout.close_array)),
        (",", (layout.comma,)),
        (":", (layout.colon,)),
    ):
        if any(symbol is regex for regex in regexes):
            return f'"{sign}"'
    return ""


def _key_of(symbol: Any) -> str | None:
    """Return the name in a terminal of a known key and its colon; None for other terminals."""
    if isinstance(symbol, RegexSequence) and len(symbol.parts) == 2 and isinstance(symbol.parts[0], Literal):
        found = _KEY.fullmatch(symbol.parts[0].data)
    elif isinstance(symbol, Literal):
        found = _KEY.fullmatch(symbol.data)
        found = found if found and found[2] else None
    else:
        return None
    name: str | None = json.loads(found[1]) if found else None
    return name


def _is_object(lazy: LazyRules, key: Any, body: Body) -> bool:
    """Return whether a body is part of an object, not of an array."""
    if not _is_value(key):
        return isinstance(lazy.numbered(key[0]), ObjectRules)
    first = body[0]
    return first is lazy.layout.open_object or (isinstance(first, Literal) and first.data[:1] == b"{")


def _name_before(lazy: LazyRules, key: Any, body: Body, at: int) -> str | None:
    """Return the name of the property whose key stands before a position of a body; None for no known key."""
    if at:
        return _key_of(body[at - 1])
    rules = None if _is_value(key) else lazy.numbered(key[0])
    if not isinstance(rules, ObjectRules) or key[1] != "value":
        return None
    return rules.states.properties[index_of(key[2])].key


def _node_at(lazy: LazyRules, key: Any, body: Body, at: int) -> Node | None:
    """Return the node of the value at a position of a body after its first symbol; None where it is not known."""
    name = _name_before(lazy, key, body, at)
    if _is_value(key):
        members: Iterable[ObjectSet] = lazy.shapes[key[1]].objects
        return next((part.at(name) for part in members if name is not None), None)
    rules: Any = lazy.numbered(key[0])
    if isinstance(rules, (ArrayRules, ArrayClauseRules)):
        state = key[2]
        found: Node = rules.part.at(state.written if isinstance(state, ArrayState) else state)
    elif name is not None:
        found = rules.part.at(name)
    elif isinstance(key[1], int):
        found = rules.states.cases_after(key[1])[0][1]
    else:
        return None
    return found


# -- locations --------------------------------------------------------------------------------------------------------


def node_of_part(lazy: LazyRules, part: ArraySet | ObjectSet | TextGrammar | JsonContent) -> Node | None:
    """Return a node that a set of arrays or objects belongs to; None for strings."""
    if isinstance(part, (TextGrammar, JsonContent)):
        return None
    for node, shape in lazy.shapes.items():
        if any(part is one for one in (shape.arrays if isinstance(part, ArraySet) else shape.objects)):
            return node
    return None


def is_shared(lazy: LazyRules, node: Node) -> bool:
    """Return whether a node may stand for several schema locations: flat subschemas of equal content share one."""
    return node == ANY or any(not isinstance(atom, AnyOf) and lazy.space.atoms.is_flat(abs(atom)) for atom in node)


def subschemas_of(lazy: LazyRules, node: Node) -> list[Subschema]:
    """Return the subschemas that a node is made of, without those that it is the complement of."""
    found: list[Subschema] = []
    work = [node]
    while work:
        for atom in work.pop():
            if isinstance(atom, AnyOf):
                work.extend(atom.nodes)
            elif atom > 0:
                found.append(lazy.space.atoms.subschema(atom))
    return found


def property_location(subschemas: list[Subschema], name: str | None, is_other: bool) -> str | None:
    """Return where the schema describes the value of a key or of additional keys, else the location of the object."""
    for one in subschemas:
        schema = one.schema if isinstance(one.schema, dict) else {}
        properties = schema.get("properties")
        if name is not None and isinstance(properties, dict) and name in properties:
            return shown_location(((one.location, "properties"), name))
        if name is None and is_other and isinstance(schema.get("additionalProperties"), dict):
            return shown_location((one.location, "additionalProperties"))
    return shown_location(subschemas[0].location) if subschemas else None


def item_location(subschemas: list[Subschema], key: Any, *, is_item: bool) -> str | None:
    """Return where the schema describes an item; else where it describes the array."""
    if is_item:
        index = key[2].written if isinstance(key[2], ArrayState) else key[2]
        for one in subschemas:
            schema = one.schema if isinstance(one.schema, dict) else {}
            first = schema.get("prefixItems")
            if isinstance(first, list) and index < len(first):
                return shown_location(((one.location, "prefixItems"), str(index)))
            if isinstance(schema.get("items"), dict):
                return shown_location((one.location, "items"))
    return shown_location(subschemas[0].location) if subschemas else None


def shown_location(location: Location) -> str:
    """Return a location as messages show it: a JSON pointer after `#`, or after the URI of another schema."""
    found = pointer(location)
    return found if found and not found.startswith("/") else f"#{found}"


# -- words ------------------------------------------------------------------------------------------------------------


def node_words(lazy: LazyRules, node: Node) -> str:
    """Return the values of a node in words."""
    if node == ANY:
        return "any value"
    return joined(shape_words(lazy.shapes[node])) if lazy.holds(node) else ""


def shape_words(shape: Shape) -> list[str]:
    """Return the values of a shape in words, a text for each kind of value.

    >>> shape_words(Shape(null=True, numbers=(NumberSet(0, high=120, multiple=1),), strings=(StringSet(high=40),)))
    ['null', 'an integer from 0 to 120', 'a string of at most 40 characters']
    """
    found = ["null"] if shape.null else []
    found += {0: [], 1: ["false"], 2: ["true"], 3: ["true", "false"]}[shape.booleans]
    for numbers in shape.numbers:
        found += _number_words(numbers)
    for strings in shape.strings:
        found += _string_words(strings)
    found += ["an array"] if shape.arrays else []
    found += ["an object"] if shape.objects else []
    return list(dict.fromkeys(found))


def _number_words(numbers: NumberSet) -> list[str]:
    if numbers.values is not None:
        return [decimal_text(value) for value in numbers.values]
    words = "an integer" if numbers.is_integer else "a number"
    words += _range_words(numbers)
    if numbers.multiple is not None and numbers.multiple != 1:
        words += f" that is a multiple of {decimal_text(numbers.multiple)}"
    if numbers.outside:
        words += f" that is no multiple of {joined(map(decimal_text, numbers.outside))}"
    return [words]


def _range_words(numbers: NumberSet) -> str:
    low = "" if numbers.low is None else decimal_text(numbers.low)
    high = "" if numbers.high is None else decimal_text(numbers.high)
    if low and high and not numbers.low_open and not numbers.high_open:
        return f" from {low} to {high}"
    above = f" above {low}" if numbers.low_open else f" from {low}" if high else f" from {low} up"
    below = f" below {high}" if numbers.high_open else f" up to {high}"
    return (above if low else "") + (below if high else "")


def _string_words(strings: StringSet) -> list[str]:
    if strings.texts is not None:
        return [json.dumps(text, ensure_ascii=False) for text in strings.texts]
    low, high = strings.low, strings.high
    words = "a string"
    if high is None:
        words += f" of at least {_characters(low)}" if low else ""
    elif low == high:
        words += f" of {_characters(low)}"
    else:
        words += f" of {low} to {_characters(high)}" if low else f" of at most {_characters(high)}"
    words += "".join(f", {_language_words(language.name)}" for language in strings.within)
    words += "".join(f", {_language_words(grammar.name)}" for grammar in strings.grammars)
    words += "".join(f", not {_language_words(language.name)}" for language in strings.outside)
    if strings.excluded:
        words += f", other than {joined(json.dumps(text, ensure_ascii=False) for text in strings.excluded)}"
    return [words]


def _characters(count: int) -> str:
    return "1 character" if count == 1 else f"{count} characters"


def _language_words(name: str) -> str:
    """Return words for a language by its name: `format date`, or a syntax and a pattern."""
    kind, _, rest = name.partition(" ")
    if kind == JSON_CONTENT:
        return "JSON in a string"
    if kind == GRAMMAR:
        value = json.loads(rest)
        is_language = isinstance(value, dict) and "language" in value
        return f"a text in the language {value['language']}" if is_language else "a text of its grammar"
    rest = rest if len(rest) <= _MAX_NAME_CHARACTERS else f"{rest[:_MAX_NAME_CHARACTERS]}…"
    if kind == "format":
        return f"a {rest}"
    return f"matching {rest}" if kind in ("ecma", "python", "rust") else "as the schema says"
