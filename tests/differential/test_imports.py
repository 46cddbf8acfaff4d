"""Grammars written for other engines are read as those engines read them."""

from __future__ import annotations

import os
import random

import pytest
from support.engine_process import EngineProcess
from support.engines import first_difference, is_installed
from support.foreign_grammars import GBNF, LARK
from support.texts import is_read
from support.walks import Sampler, byte_vocabulary

import structgen
from structgen.compilation.export import Dialect
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.kbnf.normal_form.passes import normalize

FULL = os.environ.get("STRUCTGEN_DIFFERENTIAL") == "full"
WALKS = 60 if FULL else 6
SECONDS = 30.0

NOT_IN_XGRAMMAR = {"json": "it has no empty alternative", "statements": "it has no '.'"}
"""What of GBNF xgrammar does not read."""
NOTHING_BEHIND_THE_LAST = {"json", "imports"}
"""Where llguidance ignores nothing behind the last terminal, as no other might follow it."""


def _compiled(grammar: structgen.Grammar) -> CompiledGrammar:
    return CompiledGrammar(normalize(grammar.tree), byte_vocabulary(), eager=False)


def _walks(compiled: CompiledGrammar, seed: str, count: int = WALKS):
    sampler, rng = Sampler(compiled.vocabulary, longest=200, late=30), random.Random(seed)
    return [sampler.walk(compiled, rng) for _ in range(count)]


def _process(engine: str) -> EngineProcess:
    if not is_installed(engine):
        pytest.skip(f"{engine} is not installed")
    vocabulary = byte_vocabulary()
    tokens = {token: vocabulary.token_bytes(token) or b"" for token in range(vocabulary.size)}
    return EngineProcess(f"engine_worker.py {engine}", tokens, SECONDS)


@pytest.fixture(scope="module", params=["xgrammar", "llama.cpp"])
def gbnf_engine(request):
    process = _process(request.param)
    yield request.param, process
    process.close()


@pytest.fixture(scope="module")
def llguidance():
    process = _process("llguidance")
    yield process
    process.close()


@pytest.mark.parametrize("name", GBNF)
def test_gbnf_is_read_as_its_engines_do(gbnf_engine, name):
    which, process = gbnf_engine
    compiled = _compiled(structgen.Grammar.gbnf(GBNF[name].text))
    difference = first_difference(
        which, process, GBNF[name].text, compiled, _walks(compiled, name), whole_characters=which == "llama.cpp"
    )
    if which == "xgrammar" and name in NOT_IN_XGRAMMAR:
        assert "EBNF" in difference, "xgrammar reads it now: take it off the table"
    else:
        assert not difference


@pytest.mark.parametrize("name", LARK)
def test_lark_is_read_as_llguidance_does(llguidance, name):
    compiled = _compiled(structgen.Grammar.lark(LARK[name].text))
    difference = first_difference("llguidance", llguidance, LARK[name].text, compiled, _walks(compiled, name))
    if name in NOTHING_BEHIND_THE_LAST:
        assert ", 0 less" not in difference
        assert "0 more" in difference
    else:
        assert not difference


@pytest.mark.parametrize("name", LARK)
def test_grammars_are_read_as_lark_does(name):
    lark = pytest.importorskip("lark")
    parser = lark.Lark(LARK[name].text, parser="earley", lexer="dynamic_complete")
    compiled = _compiled(structgen.Grammar.lark(LARK[name].text, dialect="lark"))
    rng = random.Random(name)
    for walk in _walks(compiled, name, 30):
        text = walk.text.decode(errors="replace")
        for changed in (text, text[:-1], text + rng.choice("1a ]}+"), text[: len(text) // 2] + rng.choice(" ,x(")):
            assert _parses(parser, lark, changed) is is_read(compiled, changed), changed


def _parses(parser, lark, text: str) -> bool:
    try:
        parser.parse(text)
    except lark.exceptions.LarkError:
        return False
    return True


@pytest.mark.parametrize("to", ["gbnf", "xgrammar", "lark", "kbnf"])
@pytest.mark.parametrize("name", [*(f"gbnf {name}" for name in GBNF), *(f"lark {name}" for name in LARK)])
def test_round_trips(name, to: Dialect):
    kind, _, key = name.partition(" ")
    grammar = structgen.Grammar.gbnf(GBNF[key].text) if kind == "gbnf" else structgen.Grammar.lark(LARK[key].text)
    try:
        text = structgen.export(grammar, to)
    except structgen.GrammarError as error:
        assert to == "gbnf" and "left recursion" in str(error), error
        return
    read = {"lark": structgen.Grammar.lark, "kbnf": structgen.Grammar.kbnf}.get(to, structgen.Grammar.gbnf)
    one, other = _compiled(grammar), _compiled(read(text))
    for first, second in ((one, other), (other, one)):
        for walk in _walks(first, name, 3):
            mine, theirs = Matcher(first), Matcher(second)
            for byte in walk.text:
                assert mine.allowed_token_ids() == theirs.allowed_token_ids(), walk.text
                mine.accept_token(byte)
                theirs.accept_token(byte)
            assert mine.allowed_token_ids() == theirs.allowed_token_ids(), walk.text
