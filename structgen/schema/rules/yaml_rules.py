r"""Rules of YAML texts: the rules of a schema, with line breaks and indentation in place of brackets and commas.

`LazyRules` makes the rules of a schema's values, in the terms of its notation. Here its punctuation is only marks
(`_Marks`), and its scalars are one nonterminal. `YamlRules` replaces both, for a place in the text (`Place`): which
margin the lines have, what comes before the value, and whether more lines follow.

    the rules of `LazyRules`                                  after a key, at a margin of two blanks
    (0, "first", 0)  ->  {  "name":  string  (0, "then", 1)   "\n  name:"  string  (0, "then", 1)
    (0, "then", 1)   ->  }                                    nothing: `string` is the last value
    (0, "then", 1)   ->  ,  (0, "pair", 1)                    "  "  (0, "pair", 1)

A closing bracket is nothing in YAML, and a nonterminal must derive some text. So the body before it is made twice:
once with its value as the last one of the collection, without what follows; and once with a value that ends with a
line break, if another may follow it.

A nonterminal is a pair of a key of `LazyRules` and a place. A recursive schema has any number of margins; the rules of
each are made when a text comes there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Hashable, Sequence
from typing import Any, NamedTuple

from structgen.engine.deadlines import Deadline
from structgen.engine.grammar.tables import Capture, GrammarTables, Lazy, Lookahead, Refusals, Spelling, Symbol
from structgen.engine.regex.tree import Literal, Regex, sequence
from structgen.errors import UnsupportedSchemaError
from structgen.kbnf import ast
from structgen.limits import Limits
from structgen.schema.algebra import OPEN, Inexpressible, Node, Shape, StringSet
from structgen.schema.json_text.layout import Layout
from structgen.schema.json_text.strings import begun_text
from structgen.schema.options import SchemaOptions
from structgen.schema.rules.arrays import ArrayRules
from structgen.schema.rules.lazy_rules import LazyRules
from structgen.schema.rules.rule_names import origin_of
from structgen.schema.rules.rules_to_kbnf import rules_to_kbnf
from structgen.schema.rules.to_rules import expressed, lazy_tables, read_schema
from structgen.schema.rules.yaml_wording import YamlDescriber
from structgen.schema.yaml_text import keys as yaml_keys
from structgen.schema.yaml_text.characters import is_plain
from structgen.schema.yaml_text.reader import yaml_to_json
from structgen.schema.yaml_text.scalars import Ending, block_regex, has_block_style, scalar_regexes

__all__ = ["Place", "YamlNotation", "YamlRules", "json_schema_to_yaml_kbnf", "json_schema_to_yaml_rules"]

_BREAK = Literal(b"\n")
_DASH_WIDTH = 2  # of `- `
_MAX_WRITTEN_MARGIN = 160  # blanks: lists and maps in each other, 80 deep and deeper, are recursive
_INDICATED_STEP = 2  # of the lines of a block whose header has the indicator `2`

# The place of a value: at the beginning of the text, after `key:`, or after `-`. Or a place within a collection, where
# the margin is that of its lines: at the beginning of a line, or after a captured item, before the line break.
START, AFTER_KEY, AFTER_DASH, WITHIN, AFTER_ITEM = range(5)

_JSON_SCALAR = re.compile(rb'"(?:[^"\\\n]|\\.)*"|-?[0-9]+(?:\.[0-9]+(?:[eE][-+][0-9]+)?)?|null|true|false')

_LEADS = {START: b"", AFTER_KEY: b" ", AFTER_DASH: b" "}


class Place(NamedTuple):
    """The place of a value, or of the rest of a collection.

    Attributes:
        margin: the number of blanks before the lines of the collection around the value; or before those of the
            collection itself, WITHIN it.
        where: START, AFTER_KEY, AFTER_DASH, WITHIN or AFTER_ITEM.
        ending: the end of the value's text, or of the collection's.
    """

    margin: int
    where: int
    ending: Ending


class _Steps(NamedTuple):
    """The widths by which lines may be indented more than those around them.

    Attributes:
        map: of a map in a map.
        list: of a list in a map.
        block: of the lines of a block.
    """

    map: tuple[int, ...]
    list: tuple[int, ...]
    block: tuple[int, ...]


_STEPS = {
    "compact": _Steps((2,), (0,), (2,)),
    "single": _Steps((2,), (2,), (2,)),
    "any": _Steps(tuple(range(1, 9)), tuple(range(9)), tuple(range(1, 9))),
}


class _Marks(Layout):
    """The punctuation as marks for `YamlRules`, and the keys that the schema names."""

    def __init__(self) -> None:
        super().__init__(",", ":")

    def key(self, name: str) -> Regex:
        """Return a known key and its colon.

        Raises:
            Inexpressible: the key is too long.
        """
        return Literal(yaml_keys.key_text(name))

    def key_after(self, lead: str, name: str) -> tuple[Regex, ...]:
        """Return a mark of the punctuation before a known key, and the key."""
        return (*{"{": (self.open_object,), ",": (self.comma,), "": ()}[lead], self.key(name))


class YamlNotation:
    """The `Notation` of YAML: the texts of keys; marks and nonterminals for everything else."""

    def __init__(self) -> None:
        self.layout: Layout = _Marks()
        self.other_keys: StringSet | None = None

    def scalars(self, shape: Shape) -> list[Lazy]:
        """Return the nonterminal of a shape's scalars. See `Notation`."""
        return [Lazy(("scalars", shape))] if shape.null or shape.booleans or shape.numbers or shape.strings else []

    def check(self, shape: Shape) -> None:
        """Make the terminals of a shape's scalars. See `Notation`."""
        scalar_regexes(shape)

    def keys(self, keys: StringSet, names: Collection[str]) -> Regex:
        """Return the terminal of keys and their colons. See `Notation`."""
        return yaml_keys.key_regex(keys, names)

    def key_of(self, text: bytes) -> str:
        """Return the key of a captured text. See `Notation`."""
        return yaml_keys.key_of(text)

    def surely_begun(self, begun: bytes) -> str:
        """Return the characters up to the first escape. See `Notation`."""
        return begun_text(begun) if begun[:1] == b'"' else begun.decode(errors="ignore")

    def completions(self, keys: Collection[str], begun: bytes) -> tuple[Spelling, ...]:
        """Return the rests of keys and their colons. See `Notation`."""
        return yaml_keys.completions(keys, begun)


class YamlRules:
    """The `RuleSource` of the YAML texts of a schema.

    Args:
        lazy: the rules of the schema, in the `YamlNotation`.

    Attributes:
        lazy: see above.
    """

    def __init__(self, lazy: LazyRules) -> None:
        self.lazy = lazy
        self._layout = lazy.layout
        self._steps = _STEPS[lazy.options.whitespace]
        self._plain_numbers = lazy.options.numbers == "plain"
        self._terminals: dict[Shape, tuple[Regex, ...]] = {}

    def bodies(self, key: Any) -> Sequence[Sequence[Symbol | Lookahead]]:
        """Return the bodies of a nonterminal at a place. See `RuleSource.bodies`."""
        inner, place = key
        if inner[0] not in ("value", "without"):
            return self._collection(inner, place)
        found: list[Sequence[Symbol]] = []
        for symbol in self.lazy.alternatives(*inner[1:]):
            of: Any = symbol.key if isinstance(symbol, Lazy) else None
            found += self._scalars(of[1], place) if of[0] == "scalars" else self._collection(of, place)
        return found

    # --- scalars -----------------------------------------------------------------------------------------------------

    def _scalars(self, shape: Shape, place: Place) -> list[Sequence[Symbol]]:
        """Return the scalars of a shape at a place."""
        lead = Literal(_LEADS[place.where])
        terminals = self._terminals.get(shape)
        if terminals is None:
            terminals = self._terminals[shape] = scalar_regexes(shape, plain_numbers=self._plain_numbers)
        found = [self._on_line(sequence(lead, terminal), place) for terminal in terminals]
        for strings in filter(has_block_style, shape.strings):
            found += self._blocks(strings, lead, place)
        return found

    def _blocks(self, strings: StringSet, lead: Regex, place: Place) -> list[Sequence[Symbol]]:
        """Return the strings of a set as blocks of lines."""
        found: list[Sequence[Symbol]] = []
        for step in self._steps.block:
            # Readers count the indicator's blanks from the parent's margin, which a whole text does not have.
            has_indicator = step == _INDICATED_STEP and place.where != START
            block = block_regex(place.margin + step, strings.high, has_indicator=has_indicator, ending=place.ending)
            found.append((sequence(lead, block),))
        return found

    def _on_line(self, terminal: Regex, place: Place) -> Sequence[Symbol]:
        return (terminal, _BREAK) if place.ending is Ending.LINE else (terminal,)

    # --- lists and maps ----------------------------------------------------------------------------------------------

    def _collection(self, inner: Any, place: Place) -> list[Sequence[Symbol]]:
        """Return the bodies of a set of arrays or objects at a place."""
        number, kind, _ = inner
        layout = self._layout
        is_list = isinstance(self.lazy.numbered(number), ArrayRules)
        found: list[Sequence[Symbol]] = []
        closes = False
        for body in self.lazy.bodies(inner):
            if body[0] is layout.close_array or body[0] is layout.close_object:
                closes = True
                continue
            if len(body) > 1 and (body[1] is layout.end_array or body[1] is layout.end_object):
                text = _LEADS[place.where] + (b"[]" if is_list else b"{}")
                found.append(self._on_line(Literal(text), place))
                continue
            for margin in self._margins(place, is_list) if kind == "first" else (place.margin,):
                found += _Body(self, inner, margin, place, is_list=is_list).made(body)
        if closes and place.where == AFTER_ITEM and (place.ending is Ending.LINE or not found):
            # An item is captured where another one may follow. It may be one after which none is left; then a line
            # break ends the list.
            found.append((_BREAK,))
        return found

    def _margins(self, place: Place, is_list: bool) -> tuple[int, ...]:
        """Return the margins that the lines of a collection may have."""
        if place.where == AFTER_KEY:
            return tuple([place.margin + step for step in (self._steps.list if is_list else self._steps.map)])
        return (place.margin + (_DASH_WIDTH if place.where == AFTER_DASH else 0),)

    def ways_on(self, then: Any) -> tuple[bool, bool]:
        """Return whether a collection may end in a state, and whether it may go on."""
        layout = self._layout
        bodies = self.lazy.bodies(then)
        closing = [body for body in bodies if body[0] is layout.close_array or body[0] is layout.close_object]
        return bool(closing), len(bodies) > len(closing)

    # --- captured keys and items -------------------------------------------------------------------------------------

    def after(self, then: Any, text: bytes | None) -> Hashable | None:
        """Return the key of the nonterminal after a captured key or item. See `RuleSource.after`."""
        inner, place = then
        if text is not None and place.where == AFTER_ITEM:
            text = _item_json(text, place.margin)
        after = self.lazy.after(inner, text)
        return None if after is None else (after, place)

    def refusals(self, then: Any, begun: bytes) -> Refusals:
        """Return the completions of keys that must not be written. See `RuleSource.refusals`."""
        return self.lazy.refusals(then[0], begun)

    def least_bytes(self, key: Any) -> int:
        """Return a lower bound of the bytes of a nonterminal's texts. See `RuleSource.least_bytes`."""
        return 1

    def remaining(self, then: Any, least: int) -> Regex:
        """Return the keys that may be written. See `RuleSource.remaining`."""
        return self.lazy.remaining(then[0], least)

    def forget(self) -> None:
        """Drop what was computed for written texts. See `RuleSource.forget`."""
        self.lazy.forget()


class _Body:
    """The writer of one body of a collection.

    Args:
        rules: the rules.
        inner: the key of the body's nonterminal in `LazyRules`.
        margin: the margin of the collection's lines.
        place: the place of the collection; of the rest of it, WITHIN.
        is_list: whether it is a list.
    """

    def __init__(self, rules: YamlRules, inner: Any, margin: int, place: Place, *, is_list: bool) -> None:
        self._rules = rules
        self._number = inner[0]
        self._margin = b" " * margin
        self._is_list = is_list
        self._begins = {AFTER_KEY: b"\n" + self._margin, AFTER_DASH: b" "}.get(place.where, b"")
        self._continues = (b"\n" if place.where == AFTER_ITEM else b"") + self._margin
        self._value = Place(margin, AFTER_DASH if is_list else AFTER_KEY, Ending.LINE)
        self._last_value = self._value._replace(ending=place.ending)
        self._rest = Place(margin, WITHIN, place.ending)

    def made(self, body: Sequence[Symbol]) -> list[Sequence[Symbol]]:
        """Return the bodies of the YAML text that a body of `LazyRules` becomes."""
        last = body[len(body) - 1]
        if isinstance(last, Capture):
            if self._is_list:
                return self._captured_item(last)
            return [[Capture(last.of, (last.then, self._rest), last.endless, last.refuses)]]
        then: Any = last.key if isinstance(last, Lazy) else None
        if then is None or then[1] != "then":
            return [self._symbols(body, is_last=False)]
        may_end, may_go_on = self._rules.ways_on(then)
        found: list[Sequence[Symbol]] = []
        if may_end:
            found.append(self._symbols(body[:-1], is_last=True))
        if may_go_on:
            found.append([*self._symbols(body[:-1], is_last=False), Lazy((then, self._rest))])
        return found

    def _captured_item(self, capture: Capture) -> list[Sequence[Symbol]]:
        """Return an item that later ones depend on.

        The last item need not be captured. What follows a captured one must not be empty, so the line break after it
        is a part of that.
        """
        rules = self._rules.lazy.numbered(self._number)
        may_end, may_go_on = self._rules.ways_on(self._rules.lazy.after(capture.then, None))
        if isinstance(rules, ArrayRules) and rules.part.repeats:
            may_end = False  # a later item must equal one that is captured
        found: list[Sequence[Symbol]] = []
        if may_end and (self._rest.ending is not Ending.LINE or not may_go_on):
            found.append([self._symbol(capture.of, is_last=True)])
        if may_go_on:
            item: Any = capture.of
            then = (capture.then, self._rest._replace(where=AFTER_ITEM))
            value = Lazy((item.key, self._value._replace(ending=Ending.BARE)))
            found.append([Capture(value, then, capture.endless, capture.refuses)])
        return found

    def _symbols(self, body: Sequence[Symbol], *, is_last: bool) -> list[Symbol]:
        """Return some symbols in YAML.

        Args:
            body: the symbols.
            is_last: whether the last of them is the last value of the collection.
        """
        layout = self._rules.lazy.layout
        found: list[Symbol] = []
        text = b""  # known text that is not in `found` yet
        for at, symbol in enumerate(body):
            if symbol is layout.open_object or symbol is layout.open_array:
                text += self._begins + (b"-" if self._is_list else b"")
            elif symbol is layout.comma:
                text += self._continues + (b"-" if self._is_list else b"")
            elif symbol is layout.colon:
                continue  # part of the key
            elif isinstance(symbol, Literal):
                text += symbol.data
            else:
                found += [Literal(text)] if text else []
                text = b""
                found.append(self._symbol(symbol, is_last=is_last and at == len(body) - 1))
        return [*found, Literal(text)] if text else found

    def _symbol(self, symbol: Symbol, *, is_last: bool) -> Symbol:
        if not isinstance(symbol, Lazy):
            return symbol
        key: Any = symbol.key
        is_value = key[0] in ("value", "without")
        return Lazy((key, (self._last_value if is_last else self._value) if is_value else self._rest))


def _item_json(text: bytes, margin: int) -> bytes:
    """Return the JSON text of a captured item: the text after its dash, at a margin.

    A text of one line may be a longer one's beginning, so each byte of it asks for this. Most are scalars, which need
    no reader of YAML.
    """
    line = text[1:].decode()
    if is_plain(line):
        return json.dumps(line, ensure_ascii=False).encode()
    if _JSON_SCALAR.fullmatch(text, 1):
        return text[1:]
    return yaml_to_json(f"{' ' * margin}-{text.decode()}")[1:-1].encode()


def json_schema_to_yaml_rules(
    json_schema: Any,
    options: SchemaOptions | None = None,
    *,
    limits: Limits | None = None,
    deadline: Deadline | None = None,
) -> GrammarTables:
    """Return the grammar of the YAML texts whose values satisfy a schema, for the engine.

    Args:
        json_schema: a JSON Schema: a dict, or a boolean.
        options: how it is read and written.
        limits: bounds on the cost of the translation.
        deadline: a running clock; by default one of `limits.compile_seconds` starts now.

    Raises:
        SchemaError: not a schema.
        UnsupportedSchemaError: it cannot be expressed exactly.
        UnsatisfiableSchemaError: no value satisfies it.
        LimitExceededError: it costs more than `limits` allow.
    """
    return read_schema(json_schema, _tables, options, notation=YamlNotation(), limits=limits, deadline=deadline)


def json_schema_to_yaml_kbnf(
    json_schema: Any,
    options: SchemaOptions | None = None,
    *,
    start: str = "start",
    limits: Limits | None = None,
    deadline: Deadline | None = None,
) -> ast.Grammar:
    """Return the KBNF of the YAML texts whose values satisfy a schema without recursion.

    As in the KBNF of JSON, keys that the schema does not name may come twice, and `uniqueItems` is refused.

    Args:
        json_schema: a JSON Schema: a dict, or a boolean.
        options: how it is read and written.
        start: the name of the first rule.
        limits: bounds on the cost of the translation.
        deadline: a running clock; by default one of `limits.compile_seconds` starts now.

    Raises:
        SchemaError, LimitExceededError: as `json_schema_to_yaml_rules`.
        UnsupportedSchemaError: lists or maps nest without a bound; each depth would have rules of its own.
    """
    limits = limits or Limits()
    deadline = deadline or Deadline(limits.compile_seconds)

    def written(lazy: LazyRules, root: Node) -> ast.Grammar:
        rules = _WrittenRules(_checked(lazy))
        return rules_to_kbnf(rules, _start(root), start=start, limits=limits, deadline=deadline)

    notation = YamlNotation()
    return read_schema(
        json_schema, written, options, notation=notation, captures=False, limits=limits, deadline=deadline
    )


class _WrittenRules(YamlRules):
    """Rules that are all written down, so that they must end."""

    def __init__(self, lazy: LazyRules) -> None:
        super().__init__(lazy)
        self._pointers: dict[Hashable, str] = {}  # by nonterminal; values of any type have that of the value around

    def bodies(self, key: Any) -> Sequence[Sequence[Symbol | Lookahead]]:
        """Return the bodies of a nonterminal at a place. See `RuleSource.bodies`.

        Raises:
            UnsupportedSchemaError: its margin is so wide that only a recursive schema leads there.
        """
        inner, place = key
        is_value = inner[0] in ("value", "without")
        pointer = (origin_of(self.lazy.space, inner[1]) if is_value else "") or self._pointers.get(key, "")
        if is_value and place.margin > _MAX_WRITTEN_MARGIN:
            raise UnsupportedSchemaError(
                "lists or maps may nest without a bound, and an exported grammar cannot count the margins of YAML",
                pointer=pointer,
                hint="export the schema as JSON, or bound its depth; values of any type nest, too",
            )
        found = super().bodies(key)
        for body in found:
            self._pointers |= {symbol.key: pointer for symbol in body if isinstance(symbol, Lazy)}
        return found


def _start(root: Node) -> Hashable:
    return ("value", root), Place(0, START, Ending.TEXT)


def _tables(lazy: LazyRules, root: Node) -> GrammarTables:
    return lazy_tables(_start(root), YamlRules(_checked(lazy)), YamlDescriber(lazy), lazy.space)


def _checked(lazy: LazyRules) -> LazyRules:
    """Return the rules, after a look at the length of all keys."""
    for node in list(lazy.productive):
        for part in lazy.shapes[node].objects:
            for key in (*part.properties, *part.required):
                if len(key) * 6 > yaml_keys.MAX_KEY_CHARACTERS:  # of which each may be an escape
                    expressed(lambda key=key: yaml_keys.key_text(key), lazy.space, node)  # type: ignore[misc]
            for keys, _ in part.classes if part.classes is not OPEN else ():
                if not yaml_keys.are_surely_enough(keys):
                    expressed(_refuse_long_keys, lazy.space, node)
    return lazy


def _refuse_long_keys() -> None:
    most = yaml_keys.MAX_KEY_CHARACTERS
    raise Inexpressible("patternProperties", f"keys of more than {most} characters cannot be written in YAML")
