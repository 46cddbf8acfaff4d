"""Reads what a request asks of the logits processor: the argument `structgen` in its `extra_args`.

Over HTTP these are `vllm_xargs`, which take texts and numbers only: there the argument is JSON text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from structgen.errors import GrammarError, SchemaError, StructgenError
from structgen.integrations.serving.compiling import check_requested
from structgen.integrations.serving.requests import Requested, read_choice, read_grammar, read_schema
from structgen.integrations.serving.settings import server_settings
from structgen.output_types.grammar import Grammar
from structgen.schema.options import SchemaOptions

__all__ = ["AFTER", "ARGUMENT", "read_request", "requested_of"]

ARGUMENT = "structgen"
AFTER = "after"  # the option of a request whose model reasons first: the mark that ends its reasoning
_KINDS = ("schema", "regex", "choice", "grammar", "kbnf", "gbnf", "lark", "structural_tag")
_OPTIONS = ("format", "whitespace", "numbers", "property_order", "formats", "draft", "lenient")


def read_request(extra_args: Mapping[str, Any] | None) -> tuple[Any, dict[str, Any]] | None:
    """Read the constraint of a request, and check it.

    Args:
        extra_args: the field of vLLM's `SamplingParams`: `{"structgen": {"schema": …}}`, optionally with `format`,
            `whitespace`, `numbers`, `property_order`, `formats`, `draft` and `lenient`. In place of "schema": "regex";
            "choice" with a list of texts; "structural_tag"; "grammar", "kbnf", "gbnf" or "lark" with the text of a
            grammar. With `after`, such as "</think>", the constraint begins after this text, for models that reason
            first. The argument may be JSON text: over HTTP, `vllm_xargs` takes no objects.

    Returns:
        A schema or a `Grammar`, and the options of the schema; None if the request asks for no constraint.

    Raises:
        ValueError: the request cannot be read. vLLM then refuses it.

    Example:
        >>> read_request({"structgen": {"regex": "[a-z]+"}})
        (Grammar.regex('[a-z]+'), {})
    """
    try:
        requested = requested_of(extra_args)
        if requested is None:
            return None
        options = {name: value for name, value in requested.options.items() if name != AFTER}
        check_requested(replace(requested, options=options), server_settings())
    except (StructgenError, TypeError) as error:
        raise ValueError(str(error)) from error
    return requested.schema, options


def requested_of(extra_args: Mapping[str, Any] | None) -> Requested | None:
    """Read the constraint of a request.

    Raises:
        ValueError, TypeError, StructgenError: it cannot be read.
    """
    asked = (extra_args or {}).get(ARGUMENT)
    if asked is None:
        return None
    size = server_settings().max_request_bytes
    if isinstance(asked, str):
        if len(asked) > size:
            raise ValueError(f"{ARGUMENT} has {len(asked):,} characters; this server reads {size:,}")
        asked = _parsed(asked)
    kinds = [kind for kind in _KINDS if isinstance(asked, dict) and kind in asked]
    if len(kinds) != 1:
        raise ValueError(
            f"extra_args[{ARGUMENT!r}] must be an object with one of {', '.join(_KINDS)}, or its JSON text"
        )
    kind = kinds[0]
    options = {name: value for name, value in asked.items() if name not in (kind, AFTER)}
    after = asked.get(AFTER, "")
    if not isinstance(after, str):
        raise TypeError(f"{AFTER} must be a text, not {json.dumps(after, default=repr)[:60]}")
    unknown = set(options) - set(_OPTIONS if kind == "schema" else ())
    if unknown:
        raise ValueError(f"extra_args[{ARGUMENT!r}] has unknown options: {', '.join(sorted(unknown))}")
    requested = _read(kind, asked[kind], options)
    return replace(requested, options={**requested.options, AFTER: after}) if after else requested


def _read(kind: str, given: Any, options: dict[str, Any]) -> Requested:
    limits = server_settings().limits
    if kind == "schema":
        SchemaOptions(**options)
        requested = read_schema(given)
        return Requested(requested.schema, {**requested.options, **options})
    if kind == "choice":
        return read_choice(given)
    if kind == "structural_tag":
        return Requested(Grammar.structural_tag(given))
    if not isinstance(given, str):
        raise GrammarError(f"{kind} must be a text, not {json.dumps(given, default=repr)[:60]}")
    if kind == "regex":
        return Requested(Grammar.regex(given, limits=limits))
    return read_grammar(given, limits, None if kind == "grammar" else kind)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SchemaError(f"extra_args[{ARGUMENT!r}] is not valid JSON: {error}", pointer="") from error
