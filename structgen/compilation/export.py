"""`export`: write a schema, a type or a grammar for another engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Unpack, cast, get_args, overload

from structgen.engine.deadlines import Deadline
from structgen.errors import GrammarError
from structgen.limits import Limits
from structgen.output_types.grammar import Grammar
from structgen.output_types.json_lines import JsonLines
from structgen.output_types.parameters import Parameters
from structgen.output_types.template import Template
from structgen.output_types.yaml import Yaml
from structgen.schema.signatures import SCHEMA_DEFAULTS, shows_options

if TYPE_CHECKING:
    from structgen.kbnf import ast
    from structgen.output_types.bound_schemas import BoundSchema
    from structgen.schema.algebra import StringSet
    from structgen.schema.options import SchemaArguments

__all__ = ["Dialect", "export", "export_for_server"]

Dialect: TypeAlias = Literal["kbnf", "kbnf-older", "gbnf", "lark", "xgrammar", "vllm"]
"""The notations that `export` writes."""

_NO_TOKENS = "bound its characters, as in /.{0,200}/"
_END_NAME = "value"
_EXACT_FORMATS: dict[Dialect, tuple[str, ...]] = {"lark": ("hostname",)}
"""Formats with large automata that a dialect can express exactly. Lark can, as it has intersections."""

_EXACT_AS_RULES = ("regex",)
"""The same for all other dialects. They write `regex` as nested rules; in Lark, a string must be one terminal."""


@overload
def export(
    schema: Any,
    to: Literal["kbnf", "kbnf-older", "gbnf", "lark", "xgrammar"],
    *,
    end: str = ...,
    limits: Limits | None = ...,
    **options: Unpack[SchemaArguments],
) -> str: ...
@overload
def export(
    schema: Any,
    to: Literal["vllm"],
    *,
    end: str = ...,
    limits: Limits | None = ...,
    **options: Unpack[SchemaArguments],
) -> dict[str, str]: ...
@shows_options(defaults={**SCHEMA_DEFAULTS, "numbers": "plain"})
def export(
    schema: Any, to: Dialect, *, end: str = "", limits: Limits | None = None, **options: Unpack[SchemaArguments]
) -> str | dict[str, str]:
    r"""Write a schema, a type, a `Grammar`, a template or JSON Lines for another engine.

    The language of texts stays the same, with exceptions that are named in the next paragraph and in
    docs/other-engines.md.

    Two rules cannot be written as a grammar; structgen's own engine checks them. Additional keys must differ: an
    exported grammar allows a repeated one. Items must differ: `uniqueItems` is refused. A construct that the
    dialect lacks is refused by name. See docs/other-engines.md.

    Args:
        schema: a Pydantic model, a type, a JSON Schema, a `Grammar`, `template(…)` or `json_lines(…)`.
        to: "kbnf": KBNF for the package `kbnf`. It ends *eagerly*, at the first token after which the text may end; an
            integer then has one token only, unless `end` is set. "kbnf-older": KBNF of earlier releases, with `any!`
            and `except!`. "gbnf": for llama.cpp. "lark": for llguidance. "xgrammar": EBNF for xgrammar. "vllm": a
            dict, the arguments of vLLM's `StructuredOutputsParams`.
        end: a text that must follow the value and cannot be part of it, such as `"\n"`. Remove it from the output.
        limits: bounds on the size of the schema and of the exported text, and on the time: `compile_seconds`.
        options: options for a schema; see `structgen.schema.options.SchemaArguments`: `whitespace`, `numbers`,
            `property_order`, `formats`, `draft`, `lenient`, `registry`, `base_uri`. With
            `format="yaml"`, a recursive schema is refused.

    Raises:
        SchemaError: the schema cannot be used; with its JSON pointer.
        GrammarError: the dialect lacks a construct that the grammar needs; or `end` has a lone surrogate.
        LimitExceededError: the grammar is too large, or takes too long.
        ValueError: the dialect is unknown.

    Example:
        >>> print(export(Literal["yes", "no"], "gbnf"), end="")
        root ::= "\"no\"" | "\"yes\""
        >>> export({"type": "boolean"}, "vllm")
        {'grammar': 'root ::= "false" | "true"\n'}
    """
    if to not in get_args(Dialect):
        raise ValueError(f"to must be one of {', '.join(get_args(Dialect))}, not {to!r}")
    limits = limits or Limits()
    if not isinstance(schema, Grammar) or schema.bound:
        options = {"numbers": "plain", **options}
    with Deadline(limits.compile_seconds, memory_bytes=limits.memory_bytes):
        text = _written(_tree(schema, to, end, limits, options), to, limits)
    return {"grammar": text} if to == "vllm" else text


def export_for_server(given: Any, to: Dialect, options: Mapping[str, Any], limits: Limits) -> str:
    """Return the grammar that a server masks an answer with.

    JSON is written with single spaces and with keys in the schema's order, where the options allow any: a model has no
    use for the choice, and some would write white space without end.

    Args:
        given: what was compiled.
        to: the notation.
        options: the options with which it was compiled.
        limits: bounds on the size of the text.
    """
    if isinstance(given, Grammar) and not given.bound:
        options = {}
    else:
        narrow = {"whitespace": "single", "property_order": "schema"}
        chosen = {name: value for name, value in options.items() if name not in narrow or value != "any"}
        options = {**narrow, **chosen}
    written = export(given, to, limits=limits, **cast(Any, options))
    return written if isinstance(written, str) else written["grammar"]


def _tree(schema: Any, to: Dialect, end: str, limits: Limits, options: SchemaArguments) -> ast.Grammar:
    """Return the grammar, followed by `end`."""
    from structgen.kbnf import ast
    from structgen.kbnf.composition import of_text

    grammar = _tree_of(schema, _END_NAME if end else "start", to, limits, options)
    if not end:
        return grammar
    start, names = "start", {rule.name for rule in grammar.rules}
    while start in names:
        start += "_"
    whole = ast.Sequence((ast.Reference(grammar.start), of_text(end).rules[0].body))
    return ast.Grammar((ast.Rule(start, whole), *grammar.rules), start)


def _tree_of(schema: Any, start: str, to: Dialect, limits: Limits, options: SchemaArguments) -> ast.Grammar:
    """Return the grammar of a schema, a `Grammar`, a template or JSON Lines."""
    from structgen.compilation.composed_grammar import grammar_with_schemas, json_lines_grammar, template_grammar
    from structgen.schema import resolve, schema_to_kbnf, strings_of_schema
    from structgen.schema.options import SchemaOptions

    def inner(given: Any) -> ast.Grammar:
        """Return the tree of a part; the options are those of schemas."""
        is_schema = not isinstance(given, (Grammar, JsonLines, Template))
        return _tree_of(given, "value", to, limits, options if is_schema else {})

    if isinstance(schema, Grammar) and schema.bound:

        def of_schema(bound: BoundSchema) -> ast.Grammar:
            if bound.max_tokens:
                raise GrammarError(f"the bound on the tokens of {bound.place} cannot be exported", hint=_NO_TOKENS)
            is_schema = not isinstance(bound.schema, (Grammar, JsonLines, Template))
            of_both: Any = {**options, **bound.options} if is_schema else {}
            return _tree_of(bound.schema, "value", to, limits, of_both)

        return _as_read(schema, grammar_with_schemas(schema.tree, of_schema), start, to)
    if isinstance(schema, Grammar):
        if options:
            raise ValueError(f"{', '.join(options)}: these options are for schemas, not for a Grammar")
        return _as_read(schema, schema.tree, start, to)
    if isinstance(schema, Parameters):
        return _parameters(schema, limits, options)
    if isinstance(schema, Yaml):
        return _tree_of(schema.schema, start, to, limits, {**options, "format": "yaml"})
    if isinstance(schema, JsonLines):
        if options.get("whitespace", "any") == "any":
            options = {**options, "whitespace": "line"}
        return json_lines_grammar(schema, inner)
    if isinstance(schema, Template):

        def strings_of(given: Any) -> tuple[StringSet, ...]:
            if isinstance(given, (Grammar, JsonLines, Template)):
                return ()
            source = resolve(given, limits=limits, options=SchemaOptions(**options))
            return strings_of_schema(source.json_schema, source.options, limits=limits)

        return template_grammar(schema, inner, strings_of)
    exact_formats = _EXACT_FORMATS.get(to, _EXACT_AS_RULES)
    return schema_to_kbnf(schema, start=start, limits=limits, exact_formats=exact_formats, **options)


def _as_read(grammar: Grammar, tree: ast.Grammar, start: str, to: Dialect) -> ast.Grammar:
    """Return the tree of a grammar, without the empty text where another notation would add it.

    A text in KBNF is never empty, even if the rules derive the empty text. In other notations, and in a part of a
    grammar, it may be empty. So it is removed from the rules of KBNF for these.

    Args:
        grammar: the grammar.
        tree: its tree, holes filled.
        start: "start" for a whole grammar, another name for a part of one.
        to: the notation.
    """
    from structgen.kbnf.nonempty import without_empty_text

    if grammar.kind != "kbnf" or (start == "start" and to in ("kbnf", "kbnf-older")):
        return tree
    return without_empty_text(tree)


def _parameters(parameters: Parameters, limits: Limits, options: SchemaArguments) -> ast.Grammar:
    """Return the grammar of the arguments of a call in a notation."""
    from structgen.schema import resolve
    from structgen.schema.options import SchemaOptions
    from structgen.schema.rules.parameters import parameters_to_kbnf

    if parameters.style == "json":
        hint = "export a format without excluded texts, such as 'qwen_3'"
        raise GrammarError("JSON whose strings exclude some texts cannot be exported", hint=hint)
    source = resolve(parameters.schema, limits=limits, options=SchemaOptions(**options))
    special = parameters.special_tokens
    return parameters_to_kbnf(source, parameters.style, parameters.excludes, special_tokens=special, limits=limits)


def _written(grammar: ast.Grammar, to: Dialect, limits: Limits) -> str:
    # Each writer is imported where it is needed: `import structgen` stays quick.
    if to == "gbnf":
        from structgen.kbnf.writing.gbnf import print_gbnf

        return print_gbnf(grammar, limits=limits)
    if to == "lark":
        from structgen.kbnf.writing.lark import print_lark

        return print_lark(grammar, limits=limits)
    if to == "xgrammar" or to == "vllm":
        from structgen.kbnf.writing.gbnf import print_xgrammar

        return print_xgrammar(grammar, limits=limits)
    from structgen.kbnf.writing.kbnf import print_grammar
    from structgen.kbnf.writing.kbnf_dialects import to_current_dialect, to_older_dialect
    from structgen.kbnf.writing.lowering import lower

    if to == "kbnf":
        return print_grammar(to_current_dialect(grammar), limits=limits)
    return print_grammar(to_older_dialect(lower(grammar, limits=limits)), limits=limits)
