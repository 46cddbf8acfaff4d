"""Vocabularies, constraints and grammars in other processes: pickled, copied, forked and spawned."""

import copy
import multiprocessing
import os
import pickle
import sys
import threading
from enum import Enum

import pytest
from pydantic import BaseModel

import structgen
from structgen.compilation import compiler
from structgen.engine.matching import matcher as matcher_module
from structgen.engine.vocabulary.vocabulary import Vocabulary

VOCABULARY = Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)} | {257: b'{"name":'}, 256)


class Person(BaseModel):
    name: str
    age: int


class Color(Enum):
    RED = "red"


SCHEMAS = {
    "type": (Person, b'{"name": "Ada", "age": 36}'),
    "dict": ({"type": "array", "items": {"type": "string"}, "uniqueItems": True}, b'["a", "b"]'),
    "regex": (structgen.Grammar.regex(r"\d{2,4}(?=x)x|[^é]"), b"123x"),
    "choice": (structgen.Grammar.choice(Color), b"red"),
    "substring": (structgen.Grammar.substring("the cat", unit="word"), b"cat"),
    "kbnf": (structgen.Grammar.kbnf('start ::= #"[a-z]+" #e"x*y" #ex"end" "!";', eager=False), b"abyq!"),
    "gbnf": (structgen.Grammar.gbnf('root ::= "a"{2,3} [^x]'), b"aab"),
    "lark": (structgen.Grammar.lark('start: WORD "."\nWORD: /[a-z]+/'), b"ab."),
    "lines": (structgen.json_lines(Person), b'{"name": "Ada", "age": 36}\n'),
    "template": (structgen.template("n: {n}", n=int), b"n: 12"),
    "yaml": (structgen.Grammar.yaml(Person), b"name: Ada\nage: 36"),
}


def _masks(constraint: structgen.Constraint, text: bytes) -> list[list[int]]:
    matcher = constraint.matcher()
    found = [matcher.allowed_token_ids()]
    for byte in text:
        matcher.accept_bytes(bytes([byte]))
        found.append(matcher.allowed_token_ids())
    return found


def _work(given: tuple[structgen.Constraint, bytes]) -> tuple[int, list[list[int]], str]:
    constraint, text = given
    return os.getpid(), _masks(constraint, text), constraint.vocabulary.fingerprint


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_pickled_constraint_allows_the_same_tokens(name):
    schema, text = SCHEMAS[name]
    constraint = structgen.compile(schema, VOCABULARY, whitespace="single", cache=False)
    stored = pickle.dumps(constraint)
    loaded = pickle.loads(stored)
    assert loaded is not constraint
    assert loaded.vocabulary.fingerprint == VOCABULARY.fingerprint
    assert _masks(loaded, text) == _masks(constraint, text)
    assert loaded.parse(text.decode()) == constraint.parse(text.decode())
    assert pickle.loads(pickle.dumps(loaded)).tokenization == "any"


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_constraints_work_in_other_processes(method):
    constraints = [(structgen.compile(schema, VOCABULARY), text) for schema, text in SCHEMAS.values()]
    with multiprocessing.get_context(method).Pool(1) as pool:
        answers = pool.map(_work, constraints)
    for (constraint, text), (process, masks, fingerprint) in zip(constraints, answers, strict=True):
        assert process != os.getpid()
        assert masks == _masks(constraint, text)
        assert fingerprint == VOCABULARY.fingerprint


def test_a_loaded_vocabulary_is_the_one_of_the_process():
    assert pickle.loads(pickle.dumps(VOCABULARY)) is VOCABULARY
    assert copy.copy(VOCABULARY) is copy.deepcopy(VOCABULARY) is VOCABULARY


def test_a_loaded_vocabulary_has_its_tokenizers(tiny_tokenizer):
    tokenizer = copy.deepcopy(tiny_tokenizer)
    # No other test has this vocabulary: vocabularies of the same tokens are one, and know the tokenizers of all.
    vocabulary = Vocabulary.from_huggingface(tokenizer, eos_token_ids=[0, 3])
    constraint = structgen.compile(Person, vocabulary, tokenization="proper")
    masks = _masks(constraint, b"")
    stored = pickle.dumps(constraint)
    del tokenizer, vocabulary, constraint
    structgen.clear_cache()
    loaded = pickle.loads(stored)
    assert loaded.tokenization == "proper"
    assert len(loaded.vocabulary.tokenizers) == 1
    assert _masks(loaded, b"") == masks


def test_copies_of_a_constraint_and_a_matcher():
    constraint = structgen.compile({"enum": ["ab", "cd"]}, VOCABULARY)
    assert copy.copy(constraint) is copy.deepcopy(constraint) is constraint
    assert copy.copy(constraint.grammar) is copy.deepcopy(constraint.grammar) is constraint.grammar
    matcher = constraint.matcher()
    for make in (copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=r"fork\(\) copies it"):
            make(matcher)


def test_objects_that_cannot_be_pickled_say_what_to_do():
    constraint = structgen.compile({"enum": ["ab"]}, VOCABULARY)
    with pytest.raises(TypeError, match="pickle the Constraint and the accepted tokens"):
        pickle.dumps(constraint.matcher())
    with pytest.raises(TypeError, match="pickle the Constraint, which is compiled again on load"):
        pickle.dumps(constraint.grammar)
    by_hand = structgen.Constraint(constraint.grammar, constraint.prepared)
    with pytest.raises(TypeError, match=r"made by structgen\.compile"):
        pickle.dumps(by_hand)


@pytest.mark.parametrize("change", [{"enum": ["x"]}, {"type": 12, "enum": ["ab"]}])
def test_a_schema_changed_after_its_compile_is_not_pickled(change):
    schema = {"enum": ["ab"]}
    constraint = structgen.compile(schema, VOCABULARY)
    schema.update(change)
    with pytest.raises(TypeError, match="the schema was changed"):
        pickle.dumps(constraint)


def test_no_compiled_object_is_copied_half():
    # Without code of its own, pickle and copy refuse an extension type with attributes in C.
    plain = object.__basicsize__
    kinds = list(_extension_types())
    if matcher_module.__file__.endswith(".py"):
        assert kinds == []
        return
    assert len(kinds) > 50
    for kind in kinds:
        own = kind.__basicsize__ - plain - 8 * (kind.__dictoffset__ > 0) - 8 * (kind.__weakrefoffset__ > 0)
        assert own > 0 or "__reduce__" in vars(kind), kind


def _extension_types():
    for name, module in list(sys.modules.items()):
        if name.startswith("structgen.") and (getattr(module, "__file__", None) or ".py").endswith(".so"):
            for value in vars(module).values():
                if isinstance(value, type) and value.__module__ == name and "__dict__" not in vars(value):
                    yield value


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_fork_while_other_threads_hold_every_lock(monkeypatch):
    """The forked process computes masks and compiles, whatever the other threads were doing."""
    grammar = structgen.compile({"type": "string"}, VOCABULARY)
    holds, may_end = threading.Event(), threading.Event()

    def hold() -> None:
        with grammar.grammar.lock, compiler._cache._lock:
            holds.set()
            may_end.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    holds.wait()
    try:
        process = multiprocessing.get_context("fork").Process(target=_use, args=(grammar,))
        process.start()
        process.join(20)
        assert process.exitcode == 0
    finally:
        process.kill()
        may_end.set()
        thread.join()
    assert grammar.matcher().allowed_token_ids()


def _use(constraint: structgen.Constraint) -> None:
    assert constraint.matcher().allowed_token_ids() == [ord('"')]
    again = structgen.compile({"enum": [os.getpid()]}, VOCABULARY)
    assert again.matcher().allowed_token_ids()
