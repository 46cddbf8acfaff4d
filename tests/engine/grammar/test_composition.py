"""Compositions of grammars with token terminals."""

from __future__ import annotations

import structgen
from structgen.engine.grammar.composition import concatenation
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.reading.kbnf import parse
from structgen.schema import json_schema_to_rules


def test_parts_beside_token_terminals_have_no_marks():
    vocabulary = structgen.Vocabulary.from_bytes(
        {**{byte: bytes([byte]) for byte in range(256)}}, eos_token_ids=[257], size=258, special_tokens={"<x>": 256}
    )
    tokens = normalize(parse("start ::= #token'<x>';"), vocabulary=vocabulary)
    anything = normalize(parse("start ::= any! 'b';"))
    schema = json_schema_to_rules({"type": "object", "properties": {"a": {"type": "string"}}})
    tables = concatenation([tokens, schema, tokens, anything, tokens, b"c"])
    assert tables.marks == ((256, 256),)
    matcher = Matcher(CompiledGrammar(tables, vocabulary))
    assert matcher.allowed_token_ids() == [256]
    matcher.accept_token(256)
    assert matcher.forced_pieces() == [b"{"]
    matcher.accept_bytes(b'{"a": "')
    assert 0xFF not in matcher.allowed_token_ids()
    assert 256 not in matcher.allowed_token_ids()
    matcher.accept_bytes(b'x"}')
    matcher.accept_token(256)
    assert matcher.allowed_token_ids() == list(range(255))
    matcher.accept_bytes(b"xb")
    assert matcher.allowed_token_ids() == [*range(255), 256]
    matcher.accept_token(256)
    assert matcher.forced_pieces() == [b"c"]
