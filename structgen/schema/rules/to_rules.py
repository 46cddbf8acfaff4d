"""From a JSON Schema to the rules that the engine reads: one lazy nonterminal, whose bodies lead to all others.

`json_schema_to_rules` reads the schema into nodes (`Space`), explores those that a value can reach, and hands the
engine a `LazyRules`. Rules are made when a text first leads to them: a schema of a thousand definitions costs what a
text visits of it. Each node that a value can reach is still checked at once, so that a schema that cannot be expressed
is refused at compile time. `lazy_rules` has a worked example; `to_kbnf` writes the same rules down.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, TypeVar, get_args

from structgen.engine.automata.first_states import has_few_terms
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.deadlines import Deadline
from structgen.engine.grammar.tables import END, Describer, GrammarTables, RuleSource
from structgen.engine.regex.tree import Regex
from structgen.errors import LimitExceededError, UnsatisfiableSchemaError, UnsupportedSchemaError
from structgen.limits import Limits
from structgen.schema.algebra import (
    ALL_NUMBERS,
    ALL_STRINGS,
    INTEGERS,
    OPEN,
    ArraySet,
    Inexpressible,
    Node,
    ObjectSet,
    Shape,
    StringSet,
)
from structgen.schema.algebra.text_grammars import JsonContent, TextGrammar
from structgen.schema.json_text.layout import LAYOUTS
from structgen.schema.json_text.terminals import (
    are_surely_expressible,
    has_long_texts,
    is_long,
    is_surely_expressible,
)
from structgen.schema.options import Numbers, SchemaOptions
from structgen.schema.own_keywords import GRAMMAR
from structgen.schema.reading.exploration import explore
from structgen.schema.reading.keywords import unsupported
from structgen.schema.reading.plain_data import plain_data
from structgen.schema.reading.refs import CircleFound, Document, DynamicScopeNeeded
from structgen.schema.reading.scopes import ROOT, Location, pointer
from structgen.schema.reading.space import Space, has_circles, release
from structgen.schema.reading.writable import Narrowed
from structgen.schema.rules.array_clauses import ArrayClauseRules
from structgen.schema.rules.arrays import ArrayRules
from structgen.schema.rules.content_rules import ContentRules
from structgen.schema.rules.lazy_rules import LazyRules, SetRules, reaches_grammar
from structgen.schema.rules.notation import JsonNotation, Notation
from structgen.schema.rules.object_states import ObjectStates
from structgen.schema.rules.objects import ObjectRules
from structgen.schema.rules.states import MAX_COUNTED_KEYS, ObjectState
from structgen.schema.rules.text_rules import TextRules
from structgen.schema.rules.wording import SchemaDescriber
from structgen.schema.schema_warnings import while_read

__all__ = [
    "MakeOfRules",
    "begins_plainly",
    "begins_with_many_texts",
    "check_members",
    "expressed",
    "json_rules_beside",
    "json_schema_to_rules",
    "lazy_tables",
    "read_schema",
    "rules_beside",
    "strings_of_schema",
]

_T = TypeVar("_T")
_Made = TypeVar("_Made", covariant=True)


class MakeOfRules(Protocol[_Made]):
    """A function that makes a result, such as tables or a tree, of the rules of a schema in a notation."""

    def __call__(self, rules: RuleSource, key: Hashable, space: Space, may_be_empty: bool, /) -> _Made:
        """Return the result.

        Args:
            rules: makes the bodies of the rules.
            key: the key of the nonterminal that derives all texts.
            space: the nodes of the schema.
            may_be_empty: whether the empty text is a text of the schema, too.
        """


_MAX_FIRST_TEXTS = 50_000  # of a first terminal; more take long to sort


def json_schema_to_rules(
    json_schema: Any,
    options: SchemaOptions | None = None,
    *,
    limits: Limits | None = None,
    deadline: Deadline | None = None,
    narrowed: Narrowed | None = None,
    is_plain: bool = False,
) -> GrammarTables:
    """Return the grammar of the JSON texts whose values satisfy a schema, for the engine.

    Args:
        json_schema: a JSON Schema: a dict, or a boolean.
        options: how it is read and written.
        limits: bounds on the cost of the translation.
        deadline: a running clock; by default one of `limits.compile_seconds` starts now.
        narrowed: the texts of a regex that the tokenizer can spell; by default all of them.
        is_plain: whether the schema is known to be in Python's own types; see `plain_data`.

    Raises:
        SchemaError: not a schema.
        UnsupportedSchemaError: it cannot be expressed exactly.
        UnsatisfiableSchemaError: no value satisfies it.
        LimitExceededError: it costs more than `limits` allow.
    """
    return read_schema(
        json_schema, _tables, options, limits=limits, deadline=deadline, narrowed=narrowed, is_plain=is_plain
    )


_SYMBOLS, _FIRST_RULE, _RULE_STARTS = array("i", [1, END]), array("i", [0, 1]), array("i", [0])


def _tables(lazy: LazyRules, root: Node) -> GrammarTables:
    found = lazy_tables(("value", root), lazy, SchemaDescriber(lazy), lazy.space)
    return replace(found, lookaheads=tuple(lazy.lookaheads)) if lazy.lookaheads else found


def json_rules_beside(lazy: LazyRules) -> LazyRules:
    """Return rules of the same nodes as others, which are in another notation, for JSON within their texts."""
    return rules_beside(lazy, _JSON[lazy.options.whitespace, lazy.options.numbers])


def rules_beside(lazy: LazyRules, notation: Notation) -> LazyRules:
    """Return rules of the same nodes as others, in another notation."""
    return LazyRules(lazy.space, lazy.shapes, lazy.productive, _set_rules, notation, captures=lazy.captures)


def lazy_tables(key: Hashable, source: RuleSource, describer: Describer | None, space: Space) -> GrammarTables:
    """Return the tables of a grammar of one lazy nonterminal.

    Args:
        key: the nonterminal's.
        source: makes its bodies.
        describer: describes its symbols; None if nothing does.
        space: the schema.
    """
    return GrammarTables(
        symbols=_SYMBOLS,
        first_rule=_FIRST_RULE,
        rule_starts=_RULE_STARTS,
        terminals=(),
        names=("#",),  # the schema
        start=0,
        accepts_empty=False,
        lazy=(key,),
        source=source,
        describer=describer,
        text_units=space.text_units,
    )


def strings_of_schema(
    json_schema: Any, options: SchemaOptions | None = None, *, limits: Limits | None = None
) -> tuple[StringSet, ...]:
    """Return the values of a schema that accepts strings only; nothing for any other schema.

    Raises:
        SchemaError, LimitExceededError: as `json_schema_to_rules`.
    """
    return read_schema(json_schema, _only_strings, options, limits=limits)


def _only_strings(lazy: LazyRules, root: Node) -> tuple[StringSet, ...]:
    shape = lazy.shapes[root]
    is_more = shape.null or shape.booleans or shape.numbers or shape.arrays or shape.objects
    if any(part.grammars for part in shape.strings):
        hint = "give the hole of a template the grammar itself"
        message = "a string of a grammar has no form without quotes"
        raise UnsupportedSchemaError(message, pointer="", keyword=GRAMMAR, hint=hint)
    return () if is_more else shape.strings


def begins_plainly(tables: GrammarTables) -> bool:
    """Return whether every text is an array, an object, or a scalar without conditions besides its type.

    The first characters of such texts cost little to find. Those of other scalars may cost more: multiples of several
    numbers, for example.
    """
    if not isinstance(tables.source, LazyRules):
        return False
    key: Any = tables.lazy[0]
    shape = tables.source.shapes[key[1]]
    return shape.numbers in ((), ALL_NUMBERS, INTEGERS) and shape.strings in ((), ALL_STRINGS)


def begins_with_many_texts(tables: GrammarTables) -> bool:
    """Return whether the first terminal is a list of so many strings that it takes long to sort."""
    if not isinstance(tables.source, LazyRules):
        return False
    key: Any = tables.lazy[0]
    return any(len(part.texts or ()) > _MAX_FIRST_TEXTS for part in tables.source.shapes[key[1]].strings)


def read_schema(
    json_schema: Any,
    make: Callable[[LazyRules, Node], _T],
    options: SchemaOptions | None = None,
    *,
    notation: Notation | None = None,
    captures: bool = True,
    limits: Limits | None = None,
    deadline: Deadline | None = None,
    narrowed: Narrowed | None = None,
    is_plain: bool = False,
) -> _T:
    """Read a schema, and return the result of `make` for its rules.

    Args:
        json_schema: as for `json_schema_to_rules`.
        make: called with the rules of the schema, none of them made yet, and the root node. It is called again if it
            finds something unsupported that `lenient` may drop.
        options: as for `json_schema_to_rules`.
        notation: spells the values; by default JSON text.
        captures: see `LazyRules`.
        limits: as for `json_schema_to_rules`.
        deadline: as for `json_schema_to_rules`.
        narrowed: as for `json_schema_to_rules`.
        is_plain: as for `json_schema_to_rules`.

    Raises:
        SchemaError, LimitExceededError: as `json_schema_to_rules`.
    """
    options, limits = options or SchemaOptions(), limits or Limits()
    notation = notation or _JSON[options.whitespace, options.numbers]
    deadline = deadline or Deadline(limits.compile_seconds)
    base_uri, draft = options.base_uri or "", options.draft_if_unknown
    content = json_schema if is_plain else plain_data(json_schema)
    document = Document(content, options.registry, draft=draft, base_uri=base_uri)
    try:
        with deadline, while_read():
            while True:
                try:
                    return _read_once(Space(document, options, limits, deadline, narrowed), make, notation, captures)
                except DynamicScopeNeeded:
                    document.follow_dynamic_scopes()
                except CircleFound:
                    document.is_circular = True
    except RecursionError as error:
        raise LimitExceededError("schema_depth", limits.schema_depth) from error


class _Widened(Exception):
    """Raised when a node's shape became wider, or a set turned out empty. What was made of the node is invalid."""


_JSON = {
    (mode, numbers): JsonNotation(layout, plain=numbers == "plain")
    for mode, layout in LAYOUTS.items()
    for numbers in get_args(Numbers)
}


def _read_once(space: Space, make: Callable[[LazyRules, Node], _T], notation: Notation, captures: bool) -> _T:
    try:
        return _read(space, make, notation, captures)
    except BaseException:
        release(space)
        raise


def _read(space: Space, make: Callable[[LazyRules, Node], _T], notation: Notation, captures: bool) -> _T:
    root = space.node(space.document.root, ROOT)
    while True:
        shapes, productive = explore(space, root)
        if has_circles(space) and not space.document.is_circular:
            raise CircleFound
        if root not in productive:
            location, keyword = _culprit(space, root, productive)
            raise UnsatisfiableSchemaError("no value satisfies the schema", pointer=pointer(location), keyword=keyword)
        lazy = LazyRules(space, shapes, productive, _set_rules, notation, captures=captures)
        try:
            _check_all(lazy)
            return make(lazy, root)
        except _Widened:
            continue


def _set_rules(lazy: LazyRules, part: ArraySet | ObjectSet | TextGrammar | JsonContent, number: int) -> SetRules:
    """Return the rules of a set of arrays or objects, or of the strings of a grammar."""
    if isinstance(part, TextGrammar):
        return TextRules(lazy, part, number)
    if isinstance(part, JsonContent):
        return ContentRules(lazy, part, number)
    if isinstance(part, ArraySet):
        return ArrayClauseRules(lazy, part, number) if part.clauses else ArrayRules(lazy, part, number)
    return ObjectRules(lazy, part, number)


def _check_all(lazy: LazyRules) -> None:
    """Check all nodes that have a value; see `_check`.

    Raises:
        _Widened: a shape became wider, or some sets have no member. What only these need is no reason to refuse.
    """
    checked = set[Node]()
    known = len(lazy.space.dead)
    try:
        while len(checked) < len(lazy.productive):  # the rules of a set may need more nodes
            unchecked = lazy.productive - checked
            for node in lazy.not_surely_writable(unchecked):
                _check(lazy, node, lazy.shapes[node])
            checked |= unchecked
    except UnsupportedSchemaError as error:
        if len(lazy.space.dead) > known:
            raise _Widened from error
        raise
    if len(lazy.space.dead) > known:
        raise _Widened
    lazy.splits.clear()  # the sets of one node ask for the same; masks ask for little


def _check(lazy: LazyRules, node: Node, shape: Shape) -> None:
    """Raise the error now that the node would otherwise raise later, while the engine computes masks."""
    if shape.numbers or shape.strings:
        _check_scalars(lazy, node, shape)
    for items in shape.arrays:
        if items.repeats is not None and reaches_grammar(lazy, shape):
            expressed(partial(_refuse, "uniqueItems", "the items hold strings of a grammar"), lazy.space, node)
        if items.clauses:
            expressed(partial(_check_clauses, lazy, items), lazy.space, node)
        elif items.contains or items.repeats is not None:
            expressed(partial(lazy.rules_of, items), lazy.space, node)
    for members in shape.objects:
        if members.overlapping and reaches_grammar(lazy, shape):
            why = "patterns overlap, and the values hold strings of a grammar"
            expressed(partial(_refuse, "patternProperties", why), lazy.space, node)
        is_open = members.classes is OPEN or not members.classes
        if (
            not is_open
            or members.overlapping
            or members.clauses
            or members.somewhere
            or members.low > MAX_COUNTED_KEYS
            or not "".join((*members.properties, *members.required)).isascii()
        ):
            expressed(partial(_check_keys, lazy, members), lazy.space, node)


def _check_scalars(lazy: LazyRules, node: Node, shape: Shape) -> None:
    """Raise the error that numbers or strings would raise later; see `_check`."""
    if not is_surely_expressible(shape):
        lazy.space.text_units += sum(part.text_units for part in shape.strings)
        expressed(partial(lazy.check, shape), lazy.space, node)
        for part in shape.strings:
            for content in part.grammars:
                if isinstance(content, JsonContent):
                    expressed(partial(_check_content, lazy, content), lazy.space, node)
    if is_long(shape):
        _check_size(lazy, node, shape)


def _refuse(keyword: str, why: str) -> None:
    raise Inexpressible(keyword, why)


def _check_size(lazy: LazyRules, node: Node, shape: Shape) -> None:
    """Make the first states of the terminals of long scalars, to find out whether the limits allow them."""
    limits = lazy.space.limits
    where = f" (at #{pointer(lazy.space.location(node))})"
    terminals = [symbol for symbol in lazy.notation.scalars(shape) if isinstance(symbol, get_args(Regex))]
    if has_long_texts(shape) and not all(has_few_terms(terminal, limits) for terminal in terminals):
        message = f"a string with this minLength and its patterns takes too many automaton states{where}"
        raise LimitExceededError("automaton_states", limits.automaton_states, message=message)
    try:
        store = AutomatonStore(limits)
        for terminal in terminals:
            store.add(terminal)
    except LimitExceededError as error:
        if error.limit in ("compile_seconds", "memory_bytes"):
            raise
        message = f"the numbers and strings are too many, or their patterns too long{where}"
        raise LimitExceededError(error.limit, error.value, message=message) from error


def _check_content(lazy: LazyRules, content: JsonContent) -> None:
    rules, _ = lazy.rules_of(content)
    assert isinstance(rules, ContentRules)
    rules.check()


def _check_keys(lazy: LazyRules, part: ObjectSet) -> None:
    # A notation that cannot write each key finds out by itself what it cannot write of a set that has members.
    every_key = lazy if lazy.notation.other_keys is None else json_rules_beside(lazy)
    if part.low > MAX_COUNTED_KEYS and not ObjectStates(every_key, part).is_alive(ObjectState(0)):
        raise Inexpressible("minProperties")  # the keys of an open object are counted up to that number
    if (part.overlapping or part.clauses or part.somewhere) and not every_key.rules_of(part)[0].is_alive(0):
        _leave_out(lazy.space, part)
        return
    if part.clauses:
        rules = lazy.rules_of(part)[0]
        assert isinstance(rules, ObjectRules)
        rules.states.check_clauses()
    for key in (*part.properties, *part.required):
        if not key.isascii():
            key.encode()  # raises for a lone surrogate, which no text contains
    if part.somewhere or not all(are_surely_expressible(keys) for keys, _ in part.classes):
        lazy.rules_of(part)


def check_members(lazy: LazyRules, part: ObjectSet) -> None:
    """Make sure that some object of a set can be written, in a notation that cannot write each key.

    Raises:
        Inexpressible: none can, or a key that decides about others cannot.
    """
    rules = lazy.rules_of(part)[0]
    assert isinstance(rules, ObjectRules)
    for entry in rules.states.properties:
        lazy.layout.key(entry.key)
    if not rules.is_alive(0):
        keyword = "not" if part.somewhere else "minProperties" if part.low else "patternProperties"
        raise Inexpressible(keyword, "it asks for a key that is not declared, which this notation cannot write")


def _leave_out(space: Space, part: ArraySet | ObjectSet) -> None:
    """Mark a set of arrays or objects as empty, so that no rules are made of it. Sizes that counted it are forgotten.

    Raises:
        _Widened: with `lenient`, to begin anew at once: a keyword that only this set needs must not be dropped.
            Without it, the caller first checks the other sets, as many of them may be empty.
    """
    space.dead |= {part}
    space.sizes().forget()
    if space.options.lenient:
        raise _Widened


def _check_clauses(lazy: LazyRules, part: ArraySet) -> None:
    if not lazy.symbols_of(Shape(arrays=(part,)), frozenset()):
        _leave_out(lazy.space, part)


def expressed(made: Callable[[], _T], space: Space, node: Node) -> _T:
    """Call `made` and return its result. Turn an `Inexpressible` error into one with the location of the node.

    Raises:
        UnsupportedSchemaError: it cannot be expressed.
    """
    try:
        return made()
    except (Inexpressible, UnicodeEncodeError) as error:
        keyword = error.keyword if isinstance(error, Inexpressible) else "properties"
        reason = f": {error.reason}" if isinstance(error, Inexpressible) and error.reason else ""
        message = f"this {keyword} cannot be expressed exactly{reason}"
        refused = unsupported(message, space.location(node), keyword)
        refused.__cause__ = error
        space.widen(node, refused)
        raise _Widened from error


def _culprit(space: Space, node: Node, productive: set[Node]) -> tuple[Location, str]:
    """Return the location of the innermost required part without a value, and a keyword that requires it."""
    seen: set[Node] = set()
    location, keyword = space.location(node), ""
    while node not in seen:
        seen.add(node)
        location = space.location(node) or location
        shape = space.shape(node)
        if len(shape.objects) != 1 or shape.size != 1:
            break
        part = shape.objects[0]
        missing = [part.at(key) for key in part.required if part.at(key) not in productive]
        if not missing:
            break
        node, keyword = missing[0], "required"
    return location, keyword
