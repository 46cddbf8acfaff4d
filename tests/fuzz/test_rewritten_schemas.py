"""Random schemas, written in another way that means the same: they compile to the same masks, or are refused alike.

`{"contains": S}` is `{"not": {"type": "array", "items": {"not": S}}}`, for example. `make test` takes 200 schemas;
`STRUCTGEN_ALL_CASES=1` takes 20,000.
"""

from __future__ import annotations

import copy
import json
import os
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.random_schemas import DRAFTS, RandomSchemas
from support.vocabularies import BYTES
from support.walks import Sampler

import structgen
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher

ALL_CASES = bool(os.environ.get("STRUCTGEN_ALL_CASES"))
BLOCKS = 100 if ALL_CASES else 1
SCHEMAS = 200  # of a block
SAMPLER = Sampler(BYTES, longest=400, repeats=0.3)

Schema = dict[str, Any]
Rewrite = Callable[[Schema], Schema | None]

NOTHING: Schema = {"not": {}}
TYPES = ("null", "boolean", "number", "string", "array", "object")
OF_ROOT = frozenset({"$schema", "$id", "id", "$defs", "definitions", "$anchor", "$dynamicAnchor", "$recursiveAnchor"})
TOGETHER = frozenset(
    (
        *("if", "then", "else", "properties", "patternProperties", "additionalProperties", "propertyNames"),
        *("items", "prefixItems", "additionalItems", "contains", "minContains", "maxContains"),
        *("unevaluatedItems", "unevaluatedProperties", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("$ref", "$dynamicRef", "$recursiveRef"),
    )
)
"""Keywords that look at others beside them, or that are read with them."""


def without(schema: Schema, *keys: str) -> Schema:
    return {key: held for key, held in schema.items() if key not in keys}


def split(schema: Schema) -> Schema | None:
    """Half of the keywords that stand for themselves apart from the others."""
    alone = sorted(key for key in schema if key not in TOGETHER)[::2]
    return {"allOf": [{key: schema[key] for key in alone}, without(schema, *alone)]} if alone else None


def by_type(schema: Schema) -> Schema | None:
    return None if "type" in schema else {"anyOf": [{**copy.deepcopy(schema), "type": kind} for kind in TYPES]}


def by_value(schema: Schema) -> Schema | None:
    values = schema.get("enum", ())
    return {"anyOf": [{**copy.deepcopy(schema), "enum": [value]} for value in values]} if len(values) > 1 else None


def none_of_their_complements(schema: Schema) -> Schema | None:
    """De Morgan's law."""
    if "allOf" not in schema or "not" in schema:
        return None
    return {**without(schema, "allOf"), "not": {"anyOf": [{"not": part} for part in schema["allOf"]]}}


def not_only_others(schema: Schema) -> Schema | None:
    if "contains" not in schema or not {"not", "minContains", "maxContains"}.isdisjoint(schema):
        return None
    others = {"type": "array", "items": {"not": schema["contains"]}}
    return {**without(schema, "contains"), "not": others}


def as_patterns(schema: Schema) -> Schema | None:
    names = schema.get("properties", {})
    if not names or not {"patternProperties", "additionalProperties"}.isdisjoint(schema):
        return None
    if not all(re.fullmatch("[a-z]+", name) for name in names):
        return None
    return {**without(schema, "properties"), "patternProperties": {f"^{name}$": names[name] for name in names}}


def of_every_key(schema: Schema) -> Schema | None:
    if "additionalProperties" not in schema or not {"properties", "patternProperties"}.isdisjoint(schema):
        return None
    every = {"": schema["additionalProperties"]}
    return {**without(schema, "additionalProperties"), "patternProperties": every}


def distributed(schema: Schema) -> Schema | None:
    """What stands beside alternatives in each of them."""
    key = next((key for key in ("anyOf", "oneOf") if key in schema), None)
    if key is None or "if" in schema or "then" in schema:
        return None
    return {key: [{"allOf": [part, copy.deepcopy(without(schema, key))]} for part in schema[key]]}


PLAIN: tuple[Rewrite, ...] = (
    lambda schema: {"allOf": [schema]},
    lambda schema: {"anyOf": [schema]},
    lambda schema: {"allOf": [{}, schema, {}]},
)
"""For any schema; the others are not for what evaluates properties and items."""
REWRITES: tuple[Rewrite, ...] = (
    *PLAIN,
    lambda schema: {"anyOf": [schema, copy.deepcopy(schema)]},
    lambda schema: {"anyOf": [schema, NOTHING]},
    lambda schema: {"oneOf": [NOTHING, schema]},
    lambda schema: {"not": {"not": schema}},
    *(split, by_type, by_value, none_of_their_complements, as_patterns, of_every_key, distributed),
)
NEWER: dict[str, tuple[Rewrite, ...]] = {  # draft 4 has no `contains`, draft 6 no `if`
    "draft4": (),
    "draft6": (not_only_others,),
    **dict.fromkeys(("draft7", "2019-09", "2020-12"), (not_only_others, lambda schema: {"if": {}, "then": schema})),
}
NESTED = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
SINGLE = ("not", "if", "then", "else", "items", "additionalItems", "additionalProperties", "contains", "propertyNames")


def places(schema: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all subschemas that are objects."""
    if not isinstance(schema, dict):
        return
    yield at
    for key, held in schema.items():
        if key in NESTED and isinstance(held, dict):
            for name, part in held.items():
                yield from places(part, (*at, key, name))
        elif key in LISTS and isinstance(held, list):
            for index, part in enumerate(held):
                yield from places(part, (*at, key, index))
        elif key in SINGLE:
            yield from places(held, (*at, key))


def rewritten(schema: Schema, draft: str, rng: random.Random) -> Schema | None:
    """A schema with a subschema in another form; None if none was found."""
    text = json.dumps(schema)
    looks_around = any(word in text for word in ("unevaluated", "$dynamic", "$recursive"))
    rewrites = list(PLAIN if looks_around else REWRITES + NEWER[draft])
    rng.shuffle(rewrites)
    at = list(places(schema))
    for rewrite in rewrites:
        rng.shuffle(at)
        for place in at:
            found = _rewritten_at(place, copy.deepcopy(schema), rewrite)
            if found is not None:
                return found
    return None


def _rewritten_at(place: tuple[Any, ...], schema: Schema, rewrite: Rewrite) -> Schema | None:
    outer: Any = None
    part: Any = schema
    for key in place:
        outer, part = part, part[key]
    if place and not OF_ROOT.isdisjoint(part):
        return None
    made = rewrite({key: held for key, held in part.items() if place or key not in OF_ROOT})
    if made is None:
        return None
    if not place:
        return {key: held for key, held in part.items() if key in OF_ROOT} | made
    outer[place[-1]] = made
    return schema


def compiled(schema: Schema) -> CompiledGrammar | str:
    """The grammar of a schema, or the name of the error that refuses it."""
    try:
        return structgen.compile(schema, BYTES, property_order="any", cache=False).grammar
    except (structgen.SchemaError, structgen.LimitExceededError) as error:
        return type(error).__name__


@pytest.mark.filterwarnings("ignore::structgen.schema.SchemaWarning")
@pytest.mark.parametrize("block", range(BLOCKS))
def test_schemas_of_one_meaning_have_one_mask(block):
    for seed in range(block * SCHEMAS, (block + 1) * SCHEMAS):
        rng = random.Random(seed)
        draft = rng.choice(sorted(DRAFTS))
        drawn = (RandomSchemas(rng, draft).document() for _ in range(10))
        # Pointers may lead into what is rewritten.
        schema: Schema = next((one for one in drawn if "$ref" not in json.dumps(one)), {})
        other = rewritten(schema, draft, rng)
        twice = None if other is None else rewritten(other, draft, rng)
        if twice is not None:
            _check(schema, twice, rng)


def _check(schema: Schema, other: Schema, rng: random.Random) -> None:
    first, second = compiled(schema), compiled(other)
    if isinstance(first, str) or isinstance(second, str):
        refused = "UnsupportedSchemaError", "LimitExceededError"  # one form may be harder than another
        assert first == second or first in refused or second in refused, (schema, other)
        return
    for walked in (first, second):
        matchers = Matcher(first), Matcher(second)
        for byte in SAMPLER.walk(walked, rng).text:
            one, two = (matcher.allowed_token_ids() for matcher in matchers)
            assert one == two, (schema, other)
            for matcher in matchers:
                matcher.accept_bytes(bytes([byte]))
