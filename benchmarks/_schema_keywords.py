"""The keywords that a JSON Schema uses, and the drafts that have them."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import jsonschema_specifications

__all__ = ["DRAFTS", "keywords_of", "sections"]

DRAFTS = {
    "4": "http://json-schema.org/draft-04/schema",
    "6": "http://json-schema.org/draft-06/schema",
    "7": "http://json-schema.org/draft-07/schema",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
}

_MAPS = frozenset({"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"})
_LISTS = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
_SCHEMAS = frozenset(
    {
        "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not",
        "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
    }
)  # fmt: skip

_NOT_LISTED = {"4": "$ref", "7": "writeOnly"}
"""Keywords that a draft has, but that its metaschema does not list."""


def keywords_of(schema: Any) -> set[str]:
    """Return the keywords of a schema and its subschemas. Forms with a meaning of their own count separately.

    `format` is also returned with its value, as `format: date`. Keywords of no draft are `(unknown)`.
    """
    found: set[str] = set()
    stack = [schema]
    while stack:
        value = stack.pop()
        if isinstance(value, bool):
            found.add("true and false as schemas")
        if not isinstance(value, dict):
            continue
        for keyword, content in value.items():
            found.update(_names(keyword, content))
            stack.extend(_subschemas(keyword, content))
    return found


def _names(keyword: str, content: Any) -> Iterator[str]:
    if keyword not in _known():
        yield "(unknown)"
        return
    if keyword in ("items", "type") and isinstance(content, list):
        keyword = f"{keyword} (a list)"
    elif keyword in ("exclusiveMaximum", "exclusiveMinimum") and isinstance(content, bool):
        keyword = f"{keyword} (a boolean)"
    yield keyword
    if keyword == "format" and isinstance(content, str):
        yield f"format: {content}"


def _subschemas(keyword: str, content: Any) -> list[Any]:
    if keyword in _MAPS and isinstance(content, dict):
        return list(content.values())
    if keyword in _LISTS and isinstance(content, list):
        return content
    return [content] if keyword in _SCHEMAS else []


@functools.cache
def _keywords_by_draft() -> dict[str, dict[str, list[str]]]:
    """Return, for each draft, its vocabularies with their keywords, as the metaschemas list them.

    The metaschemas of the newer drafts also list old keywords, outside of their vocabularies. These count only for the
    old drafts.
    """
    found = {}
    for draft, uri in DRAFTS.items():
        metaschema = _metaschema(uri)
        parts = {"": metaschema} | {
            part["$ref"].rpartition("/")[2]: _metaschema(uri.rpartition("/")[0] + "/" + part["$ref"])
            for part in metaschema.get("allOf", ())
        }
        if len(parts) > 1:
            del parts[""]
        found[draft] = {name: list(part.get("properties", ())) for name, part in parts.items()}
    for draft, keyword in _NOT_LISTED.items():
        found[draft][""].append(keyword)
    return found


def _metaschema(uri: str) -> Any:
    return jsonschema_specifications.REGISTRY.contents(uri)


@functools.cache
def _known() -> frozenset[str]:
    return frozenset(keyword for section in sections().values() for keyword in section)


@functools.cache
def sections() -> dict[str, dict[str, list[str]]]:
    """Return all keywords with their drafts, by the vocabulary that has them in the newest draft."""
    drafts: dict[str, list[str]] = {}
    for draft, parts in _keywords_by_draft().items():
        for keyword in (keyword for keywords in parts.values() for keyword in keywords):
            drafts.setdefault(keyword, []).append(draft)
    newest = _keywords_by_draft()["2020-12"]
    older = drafts.keys() - {keyword for keywords in newest.values() for keyword in keywords}
    names = newest | {"older drafts": sorted(older)}
    return {section: {keyword: drafts[keyword] for keyword in keywords} for section, keywords in names.items()}
