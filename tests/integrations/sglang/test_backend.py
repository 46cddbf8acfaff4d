"""The grammar backend for SGLang. SGLang itself does not run here.

`make test-sglang` runs the same tests with the definitions of SGLang's wheel.
"""

from __future__ import annotations

import inspect
import json

import pytest
from support import sglang_interface
from support.sglang_interface import FOLDER, Interface

import structgen
from structgen.integrations.sglang import plugin

torch = pytest.importorskip("torch")
tokenizers = pytest.importorskip("tokenizers")

TEXTS = ["<unk>", "</s>", *"abc12", '"', *"{}:,", "true", "false", "ab", '":', *" []", "null"]
WIDTH = 40  # wider than the tokens: the logits are padded
END = 1
ID = {text: token for token, text in enumerate(TEXTS)}


@pytest.fixture
def sglang(monkeypatch):
    return Interface(monkeypatch)


@pytest.fixture
def tokenizer():
    model = tokenizers.models.WordLevel(ID, unk_token="<unk>")
    made = tokenizers.Tokenizer(model)
    made.decoder = tokenizers.decoders.Fuse()
    made.add_special_tokens(["<unk>", "</s>"])
    return made


@pytest.fixture
def backend(sglang, tokenizer):
    plugin.register()
    made = sglang.base.GRAMMAR_BACKEND_REGISTRY["structgen"](None, tokenizer, WIDTH, {END})
    yield made
    made.executor.shutdown()


def allowed(grammar):
    mask = grammar.allocate_vocab_mask(vocab_size=WIDTH, batch_size=3, device="cpu")
    assert mask.dtype == torch.int32
    assert (mask == -1).all()
    entry = type("GrammarRow", (), {"row": 1, "grammar": grammar})
    grammar.fill_vocab_mask_batched([entry], mask)
    logits = torch.zeros(3, WIDTH)
    grammar.apply_vocab_mask(logits=logits, vocab_mask=grammar.move_vocab_mask(mask, "cpu"))
    assert (logits[[0, 2]] == 0).all()
    grammar.reset_vocab_mask(mask)
    assert (mask == -1).all()
    return set(torch.nonzero(logits[1] == 0).flatten().tolist())


def ids(*texts):
    return [ID[text] for text in texts]


def accept(grammar, *texts):
    for text in texts:
        grammar.accept_token(ID[text])


def test_the_name_is_registered_once(sglang):
    plugin.register()
    plugin.register()
    assert list(sglang.base.GRAMMAR_BACKEND_REGISTRY) == ["structgen"]
    assert sglang.choices == ["xgrammar", "none", "structgen"]


def test_the_classes_are_of_the_interface(sglang, backend):
    from structgen.integrations.sglang.backend import StructgenGrammar, StructgenGrammarBackend

    for ours, theirs in (
        (StructgenGrammar, sglang.base.BaseGrammarObject),
        (StructgenGrammarBackend, sglang.base.BaseGrammarBackend),
    ):
        assert issubclass(ours, theirs)
        for name in vars(theirs).keys() & vars(ours).keys():
            wanted, given = getattr(theirs, name), getattr(ours, name)
            if callable(given) and name != "__init__":
                expected = [one for one in inspect.signature(wanted).parameters if one != "self"]
                assert [one for one in inspect.signature(given).parameters if one != "self"] == expected, name


@pytest.mark.skipif(FOLDER is None, reason="STRUCTGEN_SGLANG names no unpacked wheel: make test-sglang")
def test_the_stand_ins_have_the_form_of_the_release(sglang):
    for name in ("BaseGrammarObject", "BaseGrammarBackend", "InvalidGrammarObject"):
        copy = getattr(sglang_interface, name)
        for member, value in vars(copy).items():
            if inspect.isfunction(value) or isinstance(value, staticmethod):
                real = inspect.signature(getattr(getattr(sglang.base, name), member)).parameters
                assert list(inspect.signature(getattr(copy, member)).parameters) == list(real), (name, member)
    real = inspect.signature(sglang.reasoner.ReasonerGrammarBackend.__init__).parameters
    assert list(inspect.signature(sglang_interface.ReasonerGrammarBackend.__init__).parameters) == list(real)


@pytest.mark.parametrize(
    ("kind", "text", "first"),
    [
        ("json", '{"type": "boolean", "x-structgen": {"whitespace": "compact"}}', {"true", "false"}),
        ("json", "$$ANY$$", {"{"}),
        ("regex", "ab*|c", {"a", "ab", "c"}),
        ("ebnf", 'root ::= "a" [12]+', {"a"}),
        ("ebnf", 'start ::= "b;" | "1";', {"b", "1"}),
        ("full_assistant_ebnf", 'start: "c" /[12]/', {"c"}),
        ("structural_tag", json.dumps({"type": "structural_tag", "format": {"type": "regex", "pattern": "b1"}}), {"b"}),
    ],
)
def test_each_kind_of_request(sglang, backend, kind, text, first):
    assert allowed(sglang.compiled(backend, kind, text)) == set(ids(*first))


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("json", "null", "must be an object or a boolean"),
        ("json", '{"properties": {"a": {"type": "colour"}}}', "#/properties/a"),
        ("regex", "(", "line 1"),
        ("regex", r"[^\s\S]", "matches no text"),
        ("ebnf", 'root ::= "a', "line 1"),
        ("structural_tag", "{}", "'format' is missing"),
    ],
)
def test_bad_requests_are_answers(sglang, backend, kind, text, message):
    for _ in range(2):  # and errors are not kept
        found = sglang.compiled(backend, kind, text)
        assert isinstance(found, sglang.base.InvalidGrammarObject)
        assert message in found.error_message
    assert not backend.cache


def test_requests_share_a_grammar_and_no_state(sglang, backend):
    first, second = (sglang.compiled(backend, "regex", "ab*c") for _ in range(2))
    accept(first, "a", "b")
    assert allowed(first) == set(ids("b", "c"))
    assert allowed(second) == set(ids("a", "ab"))
    third = first.copy()
    accept(first, "c")
    assert allowed(third) == set(ids("b", "c"))
    first.rollback(2)
    assert allowed(first) == set(ids("b", "c"))
    with pytest.raises(ValueError, match="does not allow token"):
        accept(first, "1")
    assert first.current_token == ID["c"]
    accept(first, "c")
    assert not first.is_terminated()
    first.accept_token(END)
    assert first.is_terminated()
    first.accept_token(ID["a"])  # ignored, as drafts after the end are
    first.rollback(1)
    assert not first.is_terminated()
    assert first.try_jump_forward(None) is None


def test_a_mask_that_fails_ends_the_request(sglang, backend, monkeypatch):
    grammar = sglang.compiled(backend, "regex", "a+")

    def fill(mask, row):
        raise structgen.LimitExceededError("mask_seconds", 0.5)

    class Matcher:
        fill_next_token_bitmask = staticmethod(fill)

    monkeypatch.setattr(grammar._sequence, "_matcher", Matcher())
    assert allowed(grammar) == {END}
    with pytest.raises(ValueError, match="mask_seconds"):
        grammar.accept_token(END)


def test_the_cache_is_bounded(sglang, backend, monkeypatch):
    from structgen.integrations.sglang import backend as module

    monkeypatch.setattr(module, "MAX_KEPT", 3)
    for length in range(1, 6):
        sglang.compiled(backend, "regex", f"a{{{length}}}")
    assert [text for _, text in backend.cache] == ["a{3}", "a{4}", "a{5}"]


def test_token_filters(backend):
    mask = backend.allocate_vocab_mask(WIDTH, 2, "cpu")
    backend.set_token_filter(mask, [3, 33], 0, is_allowed=True)
    backend.set_token_filter(mask, [31, 32], 1, is_allowed=False)
    backend.set_token_filter(mask, [31], 1, is_allowed=True, reset_vocab_mask=False)
    logits = torch.zeros(2, WIDTH)
    backend.apply_vocab_mask(logits, backend.move_vocab_mask(mask, "cpu"))
    assert torch.nonzero(logits[0] == 0).flatten().tolist() == [3, 33]
    assert torch.nonzero(logits[1] != 0).flatten().tolist() == [32]


def test_a_model_that_reasons_first(sglang, tokenizer):
    sglang.serving.reasoning_parser = "some"
    backend = plugin.make_backend(None, tokenizer, WIDTH, END)
    assert isinstance(backend, sglang.reasoner.ReasonerGrammarBackend)
    if FOLDER is None:
        assert type(backend.grammar_backend).__name__ == "StructgenGrammarBackend"
        return
    # With the release's own wrapper: the grammar begins after "}}".
    for _ in range(2):
        grammar = sglang.compiled(backend, "regex", "ab*", reasons=True)
        for text in ("c", "}", "1", "}", "}"):
            mask = grammar.allocate_vocab_mask(WIDTH, 1, "cpu")
            grammar.fill_vocab_mask(mask, 0)
            assert (mask == -1).all()
            accept(grammar, text)
        mask = grammar.allocate_vocab_mask(WIDTH, 1, "cpu")
        grammar.fill_vocab_mask(mask, 0)
        logits = torch.zeros(1, WIDTH)
        grammar.apply_vocab_mask(logits, mask)
        assert set(torch.nonzero(logits[0] == 0).flatten().tolist()) == set(ids("a", "ab"))
        accept(grammar, "a")
        grammar.accept_token(END)
        assert grammar.is_terminated()
    backend.executor.shutdown()
