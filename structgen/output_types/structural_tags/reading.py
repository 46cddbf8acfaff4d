"""The grammar of a structural tag.

    {"type": "structural_tag", "format": {…}}                        the format says what the texts are
    {"type": "structural_tag", "structures": […], "triggers": […]}   the older form: triggered tags of JSON Schemas

Every schema becomes a hole of the tree, and keeps its own rules.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from structgen.errors import GrammarError, LimitExceededError
from structgen.kbnf import ast
from structgen.kbnf.rewriting import sequence
from structgen.limits import Limits
from structgen.output_types.bound_schemas import BoundSchema
from structgen.output_types.structural_tags.basic import BASIC, read_schema
from structgen.output_types.structural_tags.fields import Fields, refuse
from structgen.output_types.structural_tags.reader import MakePart, Reader, Scope, flat
from structgen.output_types.structural_tags.tags import TAGS, Tag, triggered
from structgen.output_types.structural_tags.tokens import TOKENS

__all__ = ["read_structural_tag", "source_of"]

_READERS = {**BASIC, **TAGS, **TOKENS}


def read_structural_tag(
    tag: Any, make_grammar: MakePart, special_tokens: Collection[str] = ()
) -> tuple[ast.Grammar, tuple[BoundSchema, ...]]:
    """Return the tree of a structural tag, and the schemas in it.

    Args:
        tag: the structural tag as a dict, or as JSON text.
        make_grammar: makes the `Grammar` of a part whose tokens are counted.
        special_tokens: names of tokens that have no text. Where a mark holds one, it is a token terminal.

    Raises:
        GrammarError: it is wrong; the message has the location as a JSON pointer.
        LimitExceededError: it is nested too deeply.
    """
    if isinstance(tag, str):
        try:
            tag = json.loads(tag)
        except ValueError as error:
            raise GrammarError(f"the structural tag is not JSON: {error}") from error
    reader = Reader(_READERS, make_grammar, special_tokens)
    try:
        body = _whole(reader, tag)
    except RecursionError as error:
        raise LimitExceededError("schema_depth", Limits().schema_depth) from error
    return ast.Grammar((ast.Rule("start", body), *reader.rules)), tuple(reader.schemas)


def source_of(tag: Any) -> str:
    """Return a structural tag as text; what is not JSON is shown.

    Raises:
        GrammarError: a key is not JSON.
        LimitExceededError: it is nested too deeply.
    """
    try:
        return json.dumps(tag, default=repr)
    except RecursionError as error:
        raise LimitExceededError("schema_depth", Limits().schema_depth) from error
    except (TypeError, ValueError) as error:
        raise GrammarError(f"the structural tag is not JSON: {error}") from error


def _whole(reader: Reader, tag: Any) -> ast.Expression:
    fields = Fields(tag, "")
    if fields.text("type", "structural_tag") != "structural_tag":
        hint = 'write {"type": "structural_tag", "format": …} around it'
        refuse("a structural tag has the type 'structural_tag'", "/type", hint=hint)
    if "format" in fields:
        body = reader.read(fields.value("format"), "/format", Scope())
    elif "structures" in fields:
        body = _older(reader, fields)
    else:
        refuse("'format' is missing", "")
    fields.done()
    return body


def _older(reader: Reader, fields: Fields) -> ast.Expression:
    """Return the expression of the older form."""
    tags: list[Tag] = []
    for index, structure in enumerate(fields.items("structures")):
        inner = Fields(structure, fields.at("structures", index))
        begin, end = inner.text("begin"), reader.text(inner.text("end"))
        tags.append(Tag(begin, sequence([read_schema(reader, inner, "schema"), *flat(end)]), inner.pointer))
        inner.done()
    return triggered(reader, fields, tags)
