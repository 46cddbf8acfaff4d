"""The logits processors for vLLM, against the definitions of its release 0.33.0. `make test-vllm` runs them in vLLM."""

from __future__ import annotations

import importlib
import inspect
import json
import random
from types import SimpleNamespace

import numpy as np
import pytest
from support.vllm_interface import Interface, ModelConfig, SamplingParams, VllmConfig

import structgen
from structgen.integrations.serving.compiling import RequestCompiler

torch = pytest.importorskip("torch")
tokenizers = pytest.importorskip("tokenizers")

TEXTS = ["<unk>", "</s>", "a", "b", "c", "1", "2", '"', "{", "}", ":", ",", "true", "false", "ab", '":']
WIDTH = 20  # wider than the tokens: the logits are padded
END = 1
ID = {text: token for token, text in enumerate(TEXTS)}
REGEX = {"structgen": {"regex": "(ab|a)c[12]*"}}
SCHEMA = {"structgen": {"schema": {"type": "boolean"}}}


@pytest.fixture
def interfaces(monkeypatch):
    interface = Interface(monkeypatch)
    return interface.first, interface.second


@pytest.fixture
def config():
    model = tokenizers.models.WordLevel(ID, unk_token="<unk>")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.decoder = tokenizers.decoders.Fuse()
    tokenizer.add_special_tokens(["<unk>", "</s>"])
    return VllmConfig(ModelConfig(tokenizer, WIDTH, eos_token_ids=[END]))


def ids(text):
    """One token for each character."""
    return [ID[character] for character in text]


def allowed(row):
    return {token for token in range(WIDTH) if row[token] > float("-inf")}


def expected(extra_args, output, config):
    """What structgen's own matcher allows after an output."""
    asked = extra_args["structgen"]
    schema = structgen.Grammar.regex(asked["regex"]) if "regex" in asked else asked["schema"]
    vocabulary = structgen.Vocabulary.from_huggingface(
        config.model_config.tokenizer, vocab_size=WIDTH, eos_token_ids=END
    )
    matcher = structgen.compile(schema, vocabulary).matcher()
    for token in output:
        matcher.accept_token(token)
    return set(matcher.allowed_token_ids())


EVERYTHING = set(range(WIDTH))


def test_one_class_has_both_interfaces(interfaces):
    import structgen.vllm
    from structgen.integrations.vllm import GrammarLogitsProcessor, GrammarLogitsProcessorV1

    assert GrammarLogitsProcessor is GrammarLogitsProcessorV1 is structgen.vllm.GrammarLogitsProcessor
    assert not inspect.isabstract(GrammarLogitsProcessor)
    for theirs in interfaces:
        assert issubclass(GrammarLogitsProcessor, theirs.LogitsProcessor)
        for name in vars(theirs.LogitsProcessor):
            method = getattr(theirs.LogitsProcessor, name)
            if callable(method) and (not name.startswith("_") or name == "__init__"):
                wanted = inspect.signature(method).parameters
                given = list(inspect.signature(getattr(GrammarLogitsProcessor, name)).parameters.values())
                # vLLM calls by position. What one runner does not pass has a default.
                assert len(given) >= len(wanted), name
                assert all(one.default is not one.empty for one in given[len(wanted) :]), name
    with pytest.raises(AttributeError):
        getattr(importlib.import_module("structgen.integrations.vllm"), "Nothing")  # noqa: B009


@pytest.mark.parametrize(
    "asked",
    [
        "x",
        {},
        {"schema": {}, "regex": "a"},
        {"regex": "("},
        {"schema": {"type": "colour"}},
        {"schema": {}, "whitespace": "much"},
        {"schema": {}, "registry": {}},
        {"regex": "a", "whitespace": "any"},
        {"regex": 3},
        {"regex": r"[^\s\S]"},  # no text matches it
        {"schema": None},  # not Python's None
        {"schema": [1]},
        {"choice": []},
        {"grammar": 'root ::= "a'},
        {"structural_tag": {}},
        {"schema": {}, "after": 3},
        '{"regex": "("}',
        "{",
    ],
)
def test_bad_requests_are_refused_at_the_door(interfaces, asked):
    from structgen.integrations.vllm import GrammarLogitsProcessor, GrammarLogitsProcessorV1

    for processor in (GrammarLogitsProcessor, GrammarLogitsProcessorV1):
        with pytest.raises(ValueError, match=r"."):
            processor.validate_params(SamplingParams({"structgen": asked}))
        processor.validate_params(SamplingParams({"structgen": {"schema": {}, "whitespace": "compact"}}))
        processor.validate_params(SamplingParams(None))


def test_v1_follows_the_rows_of_a_batch(interfaces, config):
    first, _ = interfaces
    from structgen.integrations.vllm import GrammarLogitsProcessorV1

    processor = GrammarLogitsProcessorV1(config, torch.device("cpu"), False)
    assert processor.is_argmax_invariant() is False
    outputs = [[], [], []]
    asked = [REGEX, None, SCHEMA]
    added = [(row, SamplingParams(asked[row]), [2, 3], outputs[row]) for row in range(3)]

    def update(size, removed=(), added=(), moved=()):
        processor.update_state(first.BatchUpdate(batch_size=size, removed=removed, added=added, moved=moved))

    def check(order):
        logits = processor.apply(torch.zeros(len(order), WIDTH))
        for row, request in enumerate(order):
            wanted = EVERYTHING if asked[request] is None else expected(asked[request], outputs[request], config)
            assert allowed(logits[row]) == wanted, (row, request)

    update(3, added=added)
    check([0, 1, 2])
    outputs[0] += ids("a")  # vLLM adds to the lists; nothing about the batch has changed
    outputs[1] += ids("2")
    processor.update_state(None)
    check([0, 1, 2])
    update(3, moved=[(0, 2, first.MoveDirectionality.SWAP)])
    check([2, 1, 0])
    outputs[2] += [ID["true"]]
    outputs[0] += ids("c1")
    check([2, 1, 0])
    update(2, removed=[1], moved=[(2, 1, first.MoveDirectionality.UNIDIRECTIONAL)])
    check([2, 0])
    outputs.append([])
    asked.append(SCHEMA)
    update(2, added=[(0, SamplingParams(SCHEMA), None, outputs[3])])  # in the place of one that ended
    check([3, 0])
    update(2, added=[(1, SamplingParams(None), None, [])])
    assert allowed(processor.apply(torch.zeros(2, WIDTH))[1]) == EVERYTHING


class Slots:
    """The model runner's side of V2: what it knows of its slots, and a step's layout of them."""

    def __init__(self, second, slots=4, longest=30):
        self.second = second
        self.tokens = torch.zeros(slots, longest, dtype=torch.int64)
        self.prompt_len = np.zeros(slots, dtype=np.int32)
        self.total_len = torch.zeros(slots, dtype=torch.int32)
        self.states = second.LogitsProcRequestState(
            device=torch.device("cpu"),
            max_num_reqs=slots,
            vocab_size=WIDTH,
            all_token_ids=SimpleNamespace(gpu=self.tokens),
            prompt_len=SimpleNamespace(np=self.prompt_len),
            prefill_len=None,
            total_len=SimpleNamespace(gpu=self.total_len),
        )

    def fill(self, slot, prompt, output):
        everything = [*prompt, *output]
        self.tokens[slot, : len(everything)] = torch.tensor(everything)
        self.prompt_len[slot] = len(prompt)
        self.total_len[slot] = len(everything)

    def context(self, slots, drafts=None):
        rows = []
        for slot in slots:
            total = int(self.total_len[slot])
            rows.append((slot, 0, int(self.tokens[slot, total - 1]), total - 1))
            rows += [(slot, at + 1, token, total + at) for at, token in enumerate((drafts or {}).get(slot, []))]
        columns = [torch.tensor(column) for column in zip(*rows)]
        return len(rows), self.second.LogitsContext(
            expanded_idx_mapping=columns[0],
            idx_mapping=torch.tensor(slots),
            idx_mapping_np=np.array(slots),
            expanded_local_pos=columns[1],
            input_ids=columns[2],
            pos=columns[3],
            seq_lens_upper_bound_np=np.array([int(self.total_len[slot]) for slot in slots]),
        )


def test_v2_follows_slots_in_any_order(interfaces, config):
    _, second = interfaces
    from structgen.integrations.vllm import GrammarLogitsProcessor

    slots = Slots(second)
    processor = GrammarLogitsProcessor(config, slots.states)
    asked = {0: REGEX, 1: None, 3: SCHEMA}
    prompts = {0: ids("abc"), 1: ids("b"), 3: ids("12")}
    outputs = {0: [], 1: [], 3: []}
    for slot, extra in asked.items():
        assert processor.add_request(slot, SamplingParams(extra)) is (extra is not None)

    def check(order):
        for slot in order:
            slots.fill(slot, prompts[slot], outputs[slot])
        count, context = slots.context(order)
        logits = processor.apply(torch.zeros(count, WIDTH), context)
        for row, slot in enumerate(order):
            wanted = EVERYTHING if asked[slot] is None else expected(asked[slot], outputs[slot], config)
            assert allowed(logits[row]) == wanted, (row, slot)

    processor.apply_staged_writes()
    check([0, 1, 3])
    for slot, text in ((0, "a"), (1, "1")):
        outputs[slot] += ids(text)
    outputs[3] += [ID["false"]]
    check([3, 0, 1])
    outputs[0] += ids("c2")  # two at once
    check([1, 0])
    outputs[0] = ids("ac1")  # after a preemption, say
    check([0])
    outputs[3] += [END]
    check([3])
    # The slot goes to another request, and then to one that asks for nothing.
    outputs[0] = []
    asked[0] = SCHEMA
    processor.add_request(0, SamplingParams(SCHEMA))
    check([0, 1])
    asked[0] = None
    assert not processor.add_request(0, SamplingParams({}))
    check([0, 1])


def test_v2_masks_the_rows_of_draft_tokens(interfaces, config):
    _, second = interfaces
    from structgen.integrations.vllm import GrammarLogitsProcessor

    slots = Slots(second)
    processor = GrammarLogitsProcessor(config, slots.states)
    processor.add_request(2, SamplingParams(REGEX))
    slots.fill(2, ids("b"), ids("a"))
    draft = ids("c1b2")  # `b` is refused, and what follows it is never looked at
    count, context = slots.context([2], {2: draft})
    logits = processor.apply(torch.zeros(count, WIDTH), context)
    for row in range(3):
        assert allowed(logits[row]) == expected(REGEX, ids("a") + draft[:row], config)
    assert allowed(logits[3]) == EVERYTHING
    slots.fill(2, ids("b"), ids("ac"))  # one of them was taken
    count, context = slots.context([2])
    assert allowed(processor.apply(torch.zeros(count, WIDTH), context)[0]) == expected(REGEX, ids("ac"), config)


def one_row(interfaces, config, params, output, prompt=()):
    """A processor of V1 with one request."""
    first, _ = interfaces
    from structgen.integrations.vllm import GrammarLogitsProcessor

    processor = GrammarLogitsProcessor(config, torch.device("cpu"), False)
    added = [(0, params, list(prompt), output)]
    processor.update_state(first.BatchUpdate(batch_size=1, removed=[], added=added, moved=[]))
    return processor


def test_an_output_that_left_the_grammar_ends(interfaces, config, caplog):
    processor = one_row(interfaces, config, SamplingParams(REGEX), ids("b"))
    for _ in range(2):
        assert allowed(processor.apply(torch.zeros(1, WIDTH))[0]) == {END}
    assert caplog.text.count("something else than the mask chose token") == 1


def test_a_request_that_cannot_be_compiled_ends(interfaces, config, caplog, monkeypatch):
    def compiled(*arguments):
        raise structgen.LimitExceededError("compile_seconds", 10.0)

    monkeypatch.setattr(RequestCompiler, "compiled", compiled)
    output = []
    processor = one_row(interfaces, config, SamplingParams(REGEX), output)
    assert allowed(processor.apply(torch.zeros(1, WIDTH))[0]) == {END}
    output.append(END)
    assert allowed(processor.apply(torch.zeros(1, WIDTH))[0]) == {END}
    assert caplog.text.count("a request cannot be compiled") == 1


def test_a_row_without_any_token_ends(interfaces, config):
    """vLLM itself may refuse all tokens that the grammar allows."""
    processor = one_row(interfaces, config, SamplingParams(REGEX), [])
    logits = torch.full((1, WIDTH), float("-inf"))
    logits[0, ID["b"]] = 1.0  # `allowed_token_ids`
    assert allowed(processor.apply(logits)[0]) == {END}


def test_end_tokens_of_a_request_are_refused_before_the_end(interfaces, config):
    output = []
    params = SamplingParams({"structgen": {"regex": "a[bc]{2}"}}, all_stop_token_ids={END, ID["c"]})
    processor = one_row(interfaces, config, params, output)
    for token, wanted in (("a", {ID["a"], ID["ab"]}), ("b", {ID["b"]}), ("b", {ID["b"]})):
        assert allowed(processor.apply(torch.zeros(1, WIDTH))[0]) == wanted
        output.append(ID[token])
    assert allowed(processor.apply(torch.zeros(1, WIDTH))[0]) == {END, ID["c"]}


def test_json_text_asks_as_objects_do(interfaces, config):
    """Over HTTP, `vllm_xargs` takes no objects."""
    from structgen.integrations.vllm import read_request

    asked = {"schema": {"type": "boolean"}, "whitespace": "compact"}
    assert read_request({"structgen": json.dumps(asked)}) == read_request({"structgen": asked})
    processor = one_row(interfaces, config, SamplingParams({"structgen": json.dumps(asked)}), [])
    assert allowed(processor.apply(torch.zeros(1, WIDTH))[0]) == {ID["true"], ID["false"]}


def test_v2_masks_drafts_after_the_end_of_the_reasoning(interfaces, config):
    """Drafts may end the reasoning, and begin the text."""
    _, second = interfaces
    from structgen.integrations.vllm import GrammarLogitsProcessor

    slots = Slots(second)
    processor = GrammarLogitsProcessor(config, slots.states)
    processor.add_request(2, SamplingParams({"structgen": {**REGEX["structgen"], "after": "}1"}}))
    slots.fill(2, ids("b"), ids("c}"))
    draft = ids("1abc")
    for _ in range(2):  # none of them is taken
        count, context = slots.context([2], {2: draft})
        logits = processor.apply(torch.zeros(count, WIDTH), context)
        assert allowed(logits[0]) == EVERYTHING
        for row in (1, 2, 3):
            assert allowed(logits[row]) == expected(REGEX, draft[1:row], config)
    slots.fill(2, ids("b"), ids("c}1a"))
    count, context = slots.context([2])
    assert allowed(processor.apply(torch.zeros(count, WIDTH), context)[0]) == expected(REGEX, ids("a"), config)


def test_a_constraint_after_reasoning(interfaces, config):
    output = ids("a")
    params = SamplingParams({"structgen": {"regex": "(ab|a)c[12]*", "after": "}1"}})
    processor = one_row(interfaces, config, params, output)
    for character in "b1}}1":
        assert allowed(processor.apply(torch.zeros(1, WIDTH))[0]) == EVERYTHING
        output += ids(character)
    for character in "ac":
        after = output[output.index(ID["}"]) + 3 :]
        assert allowed(processor.apply(torch.zeros(1, WIDTH))[0]) == expected(REGEX, after, config)
        output += ids(character)
    del output[3:]  # a preemption, say
    assert allowed(processor.apply(torch.zeros(1, WIDTH))[0]) == EVERYTHING


@pytest.mark.parametrize(("regex", "following"), [("bc[12]*", {ID["c"]}), ("b", {END}), ("c", {END})])
def test_the_token_that_ends_the_reasoning_may_begin_the_text(interfaces, config, regex, following):
    """Its rest is read; where the grammar does not allow it, the text ends there."""
    output = ids("1")
    processor = one_row(interfaces, config, SamplingParams({"structgen": {"regex": regex, "after": "a"}}), output)
    assert allowed(processor.apply(torch.zeros(1, WIDTH))[0]) == EVERYTHING
    for _ in range(2):
        output.append(ID["ab"])
        assert allowed(processor.apply(torch.zeros(1, WIDTH))[0]) == following
        output.pop()  # a preemption, say
        assert allowed(processor.apply(torch.zeros(1, WIDTH))[0]) == EVERYTHING


def test_sampling_gives_texts_of_the_schema(interfaces, config):
    """A batch as vLLM's sampler runs it, by chance."""
    first, _ = interfaces
    from structgen.integrations.vllm import GrammarLogitsProcessorV1

    rng = random.Random(3)
    schema = {"type": "object", "properties": {"a": {"type": "boolean"}, "b": {"enum": [1, 2]}}, "required": ["a"]}
    schema["additionalProperties"] = False
    params = SamplingParams({"structgen": {"schema": schema, "whitespace": "compact"}})
    processor = GrammarLogitsProcessorV1(config, torch.device("cpu"), False)
    outputs = [[] for _ in range(4)]
    added = [(row, params, [], output) for row, output in enumerate(outputs)]
    processor.update_state(first.BatchUpdate(batch_size=4, removed=[], added=added, moved=[]))
    for _ in range(30):
        logits = processor.apply(torch.zeros(4, WIDTH))
        for row, output in enumerate(outputs):
            if END not in output:
                output.append(rng.choice(sorted(allowed(logits[row]))))
    for output in outputs:
        assert output[-1] == END
        text = "".join(TEXTS[token] for token in output[:-1])
        assert text in ['{"a":%s%s}' % (a, b) for a in ("true", "false") for b in ("", ',"b":1', ',"b":2')]  # noqa: UP031


@pytest.mark.parametrize("missing", [1, WIDTH])
def test_logits_narrower_than_the_vocabulary_are_an_error(interfaces, config, missing):
    first, _ = interfaces
    from structgen.integrations.vllm import GrammarLogitsProcessorV1

    processor = GrammarLogitsProcessorV1(config, torch.device("cpu"), False)
    added = [(0, SamplingParams(REGEX), [2, 3], [])]
    processor.update_state(first.BatchUpdate(batch_size=1, removed=(), added=added, moved=()))
    with pytest.raises(structgen.VocabularyError, match=f"got {WIDTH - missing} logits a row"):
        processor.apply(torch.zeros(1, WIDTH - missing))
