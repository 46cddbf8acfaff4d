r"""The final validator of plain JSON Schemas: `jsonschema`, made exact where it is not.

- `multipleOf` is computed on decimals. `jsonschema` divides doubles, for which 0.07 is not a multiple of 0.01.
- Patterns are read as ECMA-262, as the standard says. `jsonschema` reads them as Python's, where `\d` matches all of
  Unicode's digits.
- The dialects of subschemas, the vocabularies of metaschemas and references are read as for the grammar. Nothing is
  fetched.
- A reference that leads back to itself at the same value is decided by the fixed point (`undecided.py`). `jsonschema`
  follows it until the stack ends.
- Nested `unevaluated…` keywords take linear time (`unevaluated.py`).
- `format`, where it is asserted, means the same as for the grammar. `jsonschema` only checks formats whose packages are
  installed, and some of them loosely. It still decides on texts that `Language.outer` leaves open.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, lru_cache
from numbers import Number
from typing import Any
from urllib.parse import urldefrag, urlsplit

import attrs
import jsonschema
from jsonschema.protocols import Validator
from jsonschema_specifications import REGISTRY as SPECIFICATIONS  # type: ignore[import-untyped]
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import specification_with

from structgen.errors import LimitExceededError, SchemaError
from structgen.limits import Limits
from structgen.schema import formats
from structgen.schema.algebra import Language
from structgen.schema.json_text.numbers import exact
from structgen.schema.options import SchemaOptions
from structgen.schema.own_keywords import GRAMMAR, JSON_CONTENT, SUBSTRING_OF
from structgen.schema.reading.dialects import UNDECLARED, dialect_of, dialect_within, is_of_draft4
from structgen.schema.reading.grammars import texts_of_grammar
from structgen.schema.reading.keywords import language_of
from structgen.schema.reading.refs import REFERENCES
from structgen.schema.reading.resources import Library, without_fragment
from structgen.schema.reading.scopes import ROOT, Dialect
from structgen.schema.reading.substrings import is_substring, read_keyword
from structgen.schema.undecided import (
    Errors,
    Keyword,
    decided_if,
    decided_not,
    decided_one_of,
    decided_reference,
)
from structgen.schema.unevaluated import unevaluated

__all__ = ["TOO_DEEP", "matches", "validator_for"]

TOO_DEEP = "the text is nested too deeply to be validated"

_CLASSES: dict[str, Any] = {
    "draft4": jsonschema.Draft4Validator,
    "draft6": jsonschema.Draft6Validator,
    "draft7": jsonschema.Draft7Validator,
    "2019-09": jsonschema.Draft201909Validator,
    "2020-12": jsonschema.Draft202012Validator,
    "": jsonschema.Draft202012Validator,
}
_DRAFT4, _2019, _2020 = (_CLASSES[name].VALIDATORS for name in ("draft4", "2019-09", "2020-12"))
_WITH_DEPENDENCIES = ("draft4", "draft6", "draft7")  # their `dependencies` hold schemas
_ROOT_URI = "urn:structgen:schema"
_BY_DEFAULT = SchemaOptions()
_FRAMES_LEFT = 150  # of the stack, for what a keyword calls
_RAISED = Limits(automaton_states=2**22, grammar_symbols=2**28, regex_nodes=2**28, regex_depth=2**28)
"""Bounds on patterns and grammars. Their compile has kept the caller's; a text needs few states of them."""


def validator_for(schema: dict[str, Any] | bool, options: SchemaOptions = _BY_DEFAULT) -> Validator:
    """Return the validator of a schema.

    Its methods raise RecursionError for values that are nested too deeply.

    Args:
        schema: the whole schema.
        options: tell whether formats are asserted, and which schemas references may name.
    """
    dialect = dialect_of(schema, Library(options.registry).contents, draft=options.draft_if_unknown)
    made = _validator_class(dialect, options.formats != "annotate", options.draft_if_unknown)
    if isinstance(schema, dict) and dialect.id_keyword not in schema and not dialect.ref_overrides:
        # jsonschema leaves a root without a URI out of dynamic scopes
        schema = {dialect.id_keyword: options.base_uri or _ROOT_URI, **schema}
    registry: Registry[Any] = Registry() if options.registry is None else options.registry
    resolver = _resolver(schema, dialect, registry, options.base_uri or "")
    validator: Validator = made(
        schema, format_checker=_CLASSES[""].FORMAT_CHECKER, registry=registry, _resolver=resolver
    )
    return validator


def _resolver(schema: Any, dialect: Dialect, registry: Registry[Any], base_uri: str) -> Any:
    """Return the resolver of references in a schema that comes from a URI. By itself, `jsonschema` knows only `$id`."""
    resource = _specification(dialect.name).create_resource(schema)
    uri = without_fragment(base_uri, resource.id() or "#")
    if not urlsplit(uri).scheme:  # `referencing` would join a relative URI with itself
        usual: Any = resource._specification
        in_root = attrs.evolve(usual, id_of=lambda contents: None if contents is schema else usual.id_of(contents))
        resource = in_root.create_resource(schema)
    known: Registry[Any] = SPECIFICATIONS.combine(registry)
    return known.with_resource(uri, resource).resolver(base_uri=uri)


@cache
def _specification(name: str) -> Any:
    """Return how a dialect's subschemas with URIs of their own are found.

    `referencing` takes all values of `dependencies` for schemas if the first one is, and none of them if it is a list
    of keys. From draft 2019-09 on, it takes a fragment such as `#name` for a URI of its own.
    """
    usual: Any = specification_with(_CLASSES[name].META_SCHEMA["$schema"])

    def subresources_of(contents: Any) -> Iterator[Any]:
        rest = contents
        if isinstance(contents, dict) and isinstance(contents.get("dependencies"), dict):
            rest = {key: value for key, value in contents.items() if key != "dependencies"}
            if name in _WITH_DEPENDENCIES:
                yield from (value for value in contents["dependencies"].values() if not isinstance(value, list))
        yield from usual.subresources_of(rest)

    def id_of(contents: Any) -> str | None:
        uri = usual.id_of(contents) if isinstance(contents, dict) else None
        return urldefrag(uri)[0] or None if isinstance(uri, str) else None

    return attrs.evolve(usual, id_of=id_of, subresources_of=subresources_of)


@cache
def _validator_class(dialect: Dialect, asserts_formats: bool, draft: str | None) -> Any:
    """Return the validator class of a dialect; `draft` is that of subschemas with an unknown `$schema`."""
    base = _CLASSES[dialect.name]
    keywords: dict[str, Keyword] = {
        "multipleOf": _multiple_of,
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "format": _format,
        SUBSTRING_OF: _substring_of,
        GRAMMAR: _grammar,
        JSON_CONTENT: _json_content,
    }
    keywords |= {name: check for name, check in _MENDED.items() if name in base.VALIDATORS}
    if not dialect.name:
        keywords |= _OLDER_FORMS
    if dialect.name == "draft4":
        keywords["items"] = _2019["items"]  # which reads `true` and `false`, too
    keywords |= {
        name: _of_form(form, check)
        for name, form in _FORMS.items()
        if (check := {**base.VALIDATORS, **keywords}.get(name)) is not None
    }
    keywords |= dict.fromkeys(base.VALIDATORS.keys() - dialect.keywords, _annotation)
    if not (asserts_formats or dialect.asserts_formats):
        keywords["format"] = _annotation
    known = {**base.VALIDATORS, **keywords}
    may_lead_back = [
        name for name in (*REFERENCES, *_UNEVALUATED, "oneOf", "if") if known.get(name, _annotation) is not _annotation
    ]
    keywords |= {name: decided_reference(name, known[name]) for name in may_lead_back}
    extend: Any = jsonschema.validators.extend
    made = extend(base, keywords)
    arguments = [(field.name, field.alias) for field in attrs.fields(made) if field.init]

    def evolve(self: Any, **changes: Any) -> Any:
        """Return a validator of a subschema, in the subschema's own dialect."""
        _check_stack()
        for name, alias in arguments:
            if alias not in changes:
                changes[alias] = getattr(self, name)
        base_uri = changes["_resolver"]._base_uri
        if "#" in base_uri:  # see `_specification`
            base_uri = urldefrag(base_uri)[0] or self._resolver._base_uri
            changes["_resolver"] = attrs.evolve(changes["_resolver"], base_uri=base_uri)
        inner = _dialect_inside(changes["schema"], dialect, changes["_resolver"], self, draft)
        return (made if inner is dialect else _validator_class(inner, asserts_formats, draft))(**changes)

    made.evolve = evolve
    return made


def _check_stack() -> None:
    """Raise RecursionError before the interpreter does: in a library that is not written in Python, it is a panic."""
    try:
        sys._getframe(sys.getrecursionlimit() - _FRAMES_LEFT)
    except ValueError:  # the stack is not that deep
        return
    raise RecursionError(TOO_DEEP)


def _dialect_inside(schema: Any, outer: Dialect, resolver: Any, validator: Any, draft: str | None) -> Dialect:
    """Return the dialect of a subschema: its own, or else that of the resource that a reference led into."""
    if resolver is not validator._resolver:
        try:
            root = resolver.lookup("#").contents
        except Unresolvable:  # `$id` in a subschema whose draft has another keyword for it
            root = None
        if isinstance(root, dict) and "$schema" in root:
            outer = dialect_within(root, outer, Library(validator._registry).contents, draft=draft)
    if isinstance(schema, dict) and "$schema" in schema:
        outer = dialect_within(schema, outer, Library(validator._registry).contents, draft=draft)
    return outer


def _multiple_of(validator: Validator, step: Any, instance: Any, schema: Any) -> Errors:
    if not validator.is_type(instance, "number"):
        return
    if isinstance(instance, float) and not math.isfinite(instance):  # 1e400, which Python reads so
        yield jsonschema.ValidationError(f"{instance!r} is too large to be checked for multipleOf")
    elif Fraction(exact(instance)) % exact(step):
        yield jsonschema.ValidationError(f"{instance!r} is not a multiple of {step}")


def _pattern(validator: Validator, pattern: Any, instance: Any, schema: Any) -> Errors:
    if validator.is_type(instance, "string") and not matches(pattern, instance):
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


def matches(pattern: str, text: str) -> bool:
    """Return whether a text has a match of a pattern of a schema."""
    try:
        return _language(pattern).matches(text)
    except SchemaError:  # automata cannot do this pattern; the grammar refused it or did not reach it
        try:
            return re.search(pattern, text) is not None
        except (re.error, OverflowError):  # of another syntax than Python's; `lenient` dropped it from the grammar
            return True


@lru_cache(maxsize=1024)
def _language(pattern: str) -> Language:
    """Return the texts in which a pattern matches, also where only the caller's own limits allow the pattern."""
    try:
        return language_of(pattern, "ecma", ROOT, "pattern", Limits())
    except LimitExceededError:
        return language_of(pattern, "ecma", ROOT, "pattern", _RAISED)


def _pattern_properties(validator: Validator, patterns: Any, instance: Any, schema: Any) -> Errors:
    if validator.is_type(instance, "object"):
        for pattern, subschema in patterns.items():
            for key, value in instance.items():
                if matches(pattern, key):
                    yield from validator.descend(value, subschema, path=key, schema_path=pattern)  # type: ignore[attr-defined]


def _additional_properties(validator: Validator, rest: Any, instance: Any, schema: Any) -> Errors:
    if not validator.is_type(instance, "object"):
        return
    known, patterns = (schema.get(name) or () for name in ("properties", "patternProperties"))
    for key, value in instance.items():
        if key in known or any(matches(pattern, key) for pattern in patterns):
            continue
        if rest is False:
            yield jsonschema.ValidationError(f"additional properties are not allowed: {key!r}")
        else:
            yield from validator.descend(value, rest, path=key)  # type: ignore[attr-defined]


def _format(validator: Validator, name: Any, instance: Any, schema: Any) -> Iterator[jsonschema.ValidationError]:
    if getattr(validator, "format_checker", None) is None or not isinstance(instance, str):
        return
    language = formats.language(name) if isinstance(name, str) else None
    if language is None or (language.may_match(instance) and not language.matches(instance)):
        try:
            yield from jsonschema.Draft202012Validator.VALIDATORS["format"](validator, name, instance, schema)
        except (ArithmeticError, ValueError):  # of a checker, which cannot read the text: the regex `a{4294967296}`
            yield jsonschema.ValidationError(f"{instance!r} is not a {name!r}")
    elif not language.matches(instance):
        yield jsonschema.ValidationError(f"{instance!r} is not a {name!r}")


def _substring_of(validator: Validator, source: Any, instance: Any, schema: Any) -> Errors:
    if validator.is_type(instance, "string") and not is_substring(instance, *read_keyword(source)):
        yield jsonschema.ValidationError(f"{instance!r} does not occur in the source text")


def _grammar(validator: Validator, grammar: Any, instance: Any, schema: Any) -> Errors:
    if not validator.is_type(instance, "string"):
        return
    try:
        texts = texts_of_grammar(grammar)
    except LimitExceededError:
        texts = texts_of_grammar(grammar, limits=_RAISED)
    if not texts.matches(instance):
        yield jsonschema.ValidationError(f"{instance!r} is not a text of the grammar")


def _json_content(validator: Validator, inner: Any, instance: Any, schema: Any) -> Errors:
    if validator.is_type(instance, "string"):
        try:
            value = json.loads(instance)
        except ValueError:
            yield jsonschema.ValidationError(f"{instance!r} is not JSON")
            return
        yield from validator.descend(value, inner)  # type: ignore[attr-defined]


def _of_form(form: Any, check: Keyword) -> Keyword:
    """Return the check of a keyword that asserts nothing where its value has another form, as `required: true`.

    The grammar reads no keyword that is about other types than `type` allows; where it reads one, it has refused it.
    """

    def checked(validator: Validator, value: Any, instance: Any, schema: Any) -> Errors:
        return iter(check(validator, value, instance, schema) or ()) if isinstance(value, form) else iter(())

    return checked


def _annotation(validator: Validator, value: Any, instance: Any, schema: Any) -> Errors:
    return iter(())


def _items(validator: Validator, items: Any, instance: Any, schema: Any) -> Errors:
    keyword = (_2019 if isinstance(items, list) else _2020)["items"]
    return iter(keyword(validator, items, instance, schema) or ())


def _additional_items(validator: Validator, items: Any, instance: Any, schema: Any) -> Errors:
    if not isinstance(schema.get("items"), list):
        return iter(())
    return iter(_2019["additionalItems"](validator, items, instance, schema) or ())


def _bound(keyword: str, strict: str) -> Keyword:
    """Return the check of `minimum` or `maximum`, which draft 4's boolean beside it may make strict."""

    def check(validator: Validator, bound: Any, instance: Any, schema: Any) -> Errors:
        drafts = _DRAFT4 if isinstance(schema.get(strict), bool) else _2020
        return iter(drafts[keyword](validator, bound, instance, schema) or ())

    return check


def _type(validator: Validator, types: Any, instance: Any, schema: Any) -> Errors:
    checker: Any = jsonschema.Draft4Validator if is_of_draft4(schema, UNDECLARED) else validator
    names = types if isinstance(types, list) else [types]
    if not any(checker.TYPE_CHECKER.is_type(instance, name) for name in names):
        yield jsonschema.ValidationError(f"{instance!r} is not of type {' or '.join(map(str, names))}")


def _strict_bound(keyword: str) -> Keyword:
    def check(validator: Validator, bound: Any, instance: Any, schema: Any) -> Errors:
        return iter(() if isinstance(bound, bool) else _2020[keyword](validator, bound, instance, schema) or ())

    return check


_SCHEMA = (dict, bool)
_FORMS: dict[str, Any] = {
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), Number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), Number),
    **dict.fromkeys(("pattern", "format"), str),
    **dict.fromkeys(("required", "prefixItems"), list),
    **dict.fromkeys(("properties", "patternProperties", "dependencies", "dependentRequired", "dependentSchemas"), dict),
    **dict.fromkeys(("additionalItems", "additionalProperties", "contains", "propertyNames"), _SCHEMA),
    "items": (*_SCHEMA, list),
}
"""The types of the values of keywords that are about one type."""
_UNEVALUATED = ("unevaluatedItems", "unevaluatedProperties")
_MENDED: dict[str, Keyword] = {
    "additionalItems": _additional_items,
    "not": decided_not,
    "if": decided_if,
    "oneOf": decided_one_of,
    **{name: unevaluated(name, matches, _annotation) for name in _UNEVALUATED},
}

_OLDER_FORMS: dict[str, Keyword] = {
    "$recursiveRef": _2019["$recursiveRef"],
    "additionalItems": _additional_items,
    "dependencies": jsonschema.Draft7Validator.VALIDATORS["dependencies"],
    "exclusiveMaximum": _strict_bound("exclusiveMaximum"),
    "exclusiveMinimum": _strict_bound("exclusiveMinimum"),
    "items": _items,
    "maximum": _bound("maximum", "exclusiveMaximum"),
    "minimum": _bound("minimum", "exclusiveMinimum"),
    "type": _type,
}
"""Keywords in forms of older drafts, which a schema without `$schema` may use."""
