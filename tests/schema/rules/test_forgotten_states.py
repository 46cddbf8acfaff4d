"""What a schema's rules keep for written texts is dropped with the tables, and found again."""

import json

import pytest

import structgen
from structgen.engine.vocabulary.vocabulary import byte_vocabulary
from structgen.schema.rules.arrays import ArrayRules
from structgen.schema.rules.lazy_rules import LazyRules

SCHEMAS = {
    "unique items": {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "minItems": 3},
    "keys": {"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 3, "maxProperties": 4},
    "contains": {"type": "array", "contains": {"const": "b"}, "maxContains": 2, "minContains": 2},
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_masks_are_the_same_after_the_tables_are_begun_anew(name):
    constraint = structgen.compile(SCHEMAS[name], byte_vocabulary(), cache=False, whitespace="compact")
    texts = ["a", "b", "ab", "b"][: 3 if name != "contains" else 4]
    data = {text: text for text in texts} if name == "keys" else texts
    written = json.dumps(data, separators=(",", ":")).encode()

    def masks(*, renews: bool) -> list[list[int]]:
        matcher = constraint.matcher()
        found = []
        for byte in written:
            matcher.accept_bytes(bytes([byte]))
            if renews:
                with constraint.grammar.lock:
                    constraint.grammar.renew()
            found.append(matcher.allowed_token_ids())
        return found

    before = masks(renews=False)
    assert masks(renews=True) == before
    assert masks(renews=False) == before


def test_renewed_tables_keep_no_written_items():
    constraint = structgen.compile(SCHEMAS["unique items"], byte_vocabulary(), cache=False, whitespace="compact")
    source = constraint.grammar.tables.source
    assert isinstance(source, LazyRules)
    assert isinstance(source.numbered(0), ArrayRules)
    matcher = constraint.matcher()
    matcher.accept_bytes(b'["a","b","c"')
    kept = source.alternatives(source.numbered(0).part.at(0), frozenset({("string", "a")}))
    assert source.alternatives(source.numbered(0).part.at(0), frozenset({("string", "a")})) is kept
    with constraint.grammar.lock:
        constraint.grammar.renew()
    again = source.alternatives(source.numbered(0).part.at(0), frozenset({("string", "a")}))
    assert again is not kept
    assert again == kept
