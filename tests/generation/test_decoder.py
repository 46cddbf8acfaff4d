"""The decoding loop alone: a naive matcher of finitely many texts, and models with invented logits."""

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import structgen
from structgen.generation.decoder import MAX_HELD, Decoder
from structgen.generation.sampling import Sampler

BYTES = {i: bytes([i]) for i in range(256)}
WORDS = [b'{"', b'": ', b'"$', b"name", b'"a', b"na", b"me", b"yes", b"ye", b"no", b'"}', b" 3", b"34", "é".encode()]
END = 256 + len(WORDS)
VOCABULARY = structgen.Vocabulary.from_bytes(
    {**BYTES, **{256 + i: word for i, word in enumerate(WORDS)}}, eos_token_ids=[END, END + 1], size=END + 40
)


class FiniteMatcher:
    """A matcher of a few texts that checks all of them at each step."""

    def __init__(self, texts, done=()):
        self.texts, self.done = texts, list(done)

    @property
    def text(self):
        return b"".join(piece for piece in self.done if piece is not None)

    @property
    def is_accepting(self):
        return self.text in self.texts

    @property
    def is_terminated(self):
        return self.is_accepting and not any(t.startswith(self.text) and t != self.text for t in self.texts)

    def forced_pieces(self):
        forced = self.forced_bytes()
        return [forced] if forced else []

    def allows_bytes(self, data):
        return any(t.startswith(self.text + data) for t in self.texts)

    def forced_bytes(self):
        forced = b""
        while self.text + forced not in self.texts:
            at = len(self.text) + len(forced)
            following = {t[at : at + 1] for t in self.texts if t.startswith(self.text + forced)}
            if len(following) != 1:
                break
            forced += following.pop()
        return forced

    def fill_next_token_bitmask(self, mask, row=0):
        mask[row] = 0
        for token in range(VOCABULARY.size):
            piece = VOCABULARY.token_bytes(token)
            fits = piece and any(t.startswith(self.text + piece) for t in self.texts)
            if fits or (token in VOCABULARY.eos_token_ids and self.is_accepting):
                mask[row, token >> 5] |= np.uint32(1 << (token & 31))

    def accept_token(self, token):
        self.accept_bytes(VOCABULARY.token_bytes(token))

    def accept_bytes(self, data):
        if not any(t.startswith(self.text + data) for t in self.texts):
            raise structgen.TokenRejectedError("no", token_id=None, position=0)
        self.done.append(data)

    def rollback(self, count):
        del self.done[len(self.done) - count :]

    def fork(self):
        return FiniteMatcher(self.texts, self.done)


class Written:
    has_temperatures = False

    @staticmethod
    def written(token):
        return VOCABULARY.token_bytes(token) or b""


class Constraint:
    grammar = Written
    vocabulary = VOCABULARY
    tokenization = "any"
    is_json = False

    def __init__(self, *texts):
        self.texts = [text.encode() for text in texts]

    def healed(self, prompt_ids=(), *, keeps=0):
        return list(prompt_ids), b"", FiniteMatcher(self.texts)


class Session:
    def __init__(self, model):
        self.model, self.tokens, self.can_crop = model, [], model.can_crop

    def forward(self, token_ids, *, keep=1):
        assert 1 <= keep <= len(token_ids)
        before = len(self.tokens)
        self.tokens += token_ids
        ends = range(before + len(token_ids) - keep + 1, len(self.tokens) + 1)
        return np.stack([self.model.logits(self.tokens[:end]) for end in ends])

    def crop(self, count):
        assert self.can_crop
        del self.tokens[len(self.tokens) - count :]


class FakeModel:
    """A model with longest-match tokens. Its logits are a hash of all tokens before, so a wrong cache shows."""

    vocabulary = VOCABULARY
    context_tokens = None

    def __init__(self, *, can_crop=True, logits=None, encode=None):
        self.can_crop = can_crop
        self.logits = logits or self.hashed
        self.encode_text = encode or self.longest_match
        self.sessions = []

    def hashed(self, tokens):
        seed = int.from_bytes(hashlib.sha256(repr(tokens).encode()).digest()[:8], "big")
        return np.random.default_rng(seed).normal(size=VOCABULARY.size).astype(np.float32)

    def longest_match(self, text):
        data, tokens = text.encode(), []
        while data:
            token = max(
                (t for t in range(END) if data.startswith(VOCABULARY.token_bytes(t))),
                key=lambda t: len(VOCABULARY.token_bytes(t)),
            )
            tokens.append(token)
            data = data[len(VOCABULARY.token_bytes(token)) :]
        return tokens

    def session(self):
        self.sessions.append(Session(self))
        return self.sessions[-1]


def run(model, *texts, max_new_tokens=100, stop=(), prompt=(1, 2, 3), **options):
    session = model.session()
    decoder = Decoder(
        model,
        Constraint(*texts),
        list(prompt),
        session=session,
        sampler=Sampler(**options),
        max_new_tokens=max_new_tokens,
        stop=stop,
    )
    while (request := decoder.request()) is not None:
        decoder.take(session.forward(request.token_ids, keep=request.keep))
    return decoder, decoder.finish_reason


def spelled(tokens):
    return b"".join(VOCABULARY.token_bytes(token) for token in tokens)


texts = st.sets(st.text(alphabet='{"$name: yso34}é', max_size=12), min_size=1, max_size=6)


@settings(max_examples=200)
@given(texts=texts, seed=st.integers(0, 9), temperature=st.sampled_from([0.0, 1.0, 50.0]), can_crop=st.booleans())
def test_every_run_ends_in_a_text_of_the_language(texts, seed, temperature, can_crop):
    model = FakeModel(can_crop=can_crop)
    decoder, reason = run(model, *texts, prompt=(seed,), temperature=temperature, seed=seed)
    assert decoder.text_bytes.decode() in texts
    assert reason == "stop"
    assert spelled(decoder.token_ids) == decoder.text_bytes
    # The cache held, at the end, nothing but the prompt and tokens of the answer.
    seen = model.sessions[0].tokens
    assert seen == [seed, *decoder.token_ids][: len(seen)]


@settings(max_examples=100)
@given(texts=texts, budget=st.integers(1, 6), seed=st.integers(0, 9))
def test_the_budget_is_kept(texts, budget, seed):
    decoder, reason = run(FakeModel(), *texts, max_new_tokens=budget, temperature=1.0, seed=seed)
    assert len(decoder.token_ids) <= budget
    if reason == "length":
        assert len(decoder.token_ids) == budget
    assert any(text.encode().startswith(decoder.text_bytes) for text in texts)


def test_forced_text_costs_no_pass_and_is_tokenized_by_the_tokenizer():
    decoder, reason = run(FakeModel(), '{"name": 34}')
    assert [VOCABULARY.token_bytes(t) for t in decoder.token_ids] == [b'{"', b"name", b'": ', b"34", b"}"]
    assert (decoder.model_calls, decoder.forced_tokens, reason) == (0, 5, "stop")


def prefers(*tokens):
    """Return logits that always prefer these tokens, in this order."""
    logits = np.zeros(VOCABULARY.size, np.float32)
    for rank, token in enumerate(tokens):
        logits[token] = 100 - rank
    return lambda _: logits


@settings(max_examples=300)
@given(texts=texts, seed=st.integers(0, 9))
def test_forced_text_changes_nothing_but_the_passes(texts, seed):
    forced, _ = run(FakeModel(), *texts, prompt=(seed,))
    asked, _ = run(FakeModel(encode=lambda text: []), *texts, prompt=(seed,))
    assert forced.text_bytes == asked.text_bytes
    assert forced.model_calls <= asked.model_calls


KEY = [256 + WORDS.index(word) for word in (b'{"', b"name", b'": ')]


def test_a_held_token_may_be_merged_with_what_follows():
    dollar = 256 + WORDS.index(b'"$')
    languages = ('{"name": "$5"}', '{"name": "yes"}')
    decoder, _ = run(FakeModel(logits=prefers(*KEY, dollar, ord("5"))), *languages)
    assert dollar in decoder.token_ids
    assert decoder.text_bytes == b'{"name": "$5"}'
    # The pass over the forced tokens asked about the held one too: its choice cost no other.
    assert decoder.model_calls == 1


def test_a_held_token_that_the_model_wants_as_it_is_costs_no_pass():
    yes = 256 + WORDS.index(b"yes")
    languages = ('{"name": "$5"}', '{"name": "yes"}')
    model = FakeModel(logits=prefers(*KEY, ord('"'), yes))
    decoder, _ = run(model, *languages)
    assert [VOCABULARY.token_bytes(t) for t in decoder.token_ids] == [b'{"', b"name", b'": ', b'"', b"yes", b'"}']
    assert decoder.model_calls == 1


def test_a_model_that_splits_forced_text_in_its_own_way_is_followed():
    brace, yes = ord("{"), 256 + WORDS.index(b"yes")
    model = FakeModel(logits=prefers(brace, *KEY[1:], ord('"'), yes))
    decoder, _ = run(model, '{"name": "$5"}', '{"name": "yes"}')
    assert [VOCABULARY.token_bytes(t) for t in decoder.token_ids[:4]] == [b"{", b'"', b"name", b'": ']
    assert decoder.model_calls == 2


def test_without_cropping_the_held_token_is_asked_for():
    yes = 256 + WORDS.index(b"yes")
    model = FakeModel(logits=prefers(ord('"'), yes), can_crop=False)
    decoder, _ = run(model, '{"name": "$5"}', '{"name": "yes"}')
    assert decoder.text_bytes == b'{"name": "yes"}'
    assert decoder.model_calls == 2


def test_more_held_tokens_than_rows_are_committed_from_the_left():
    letters = [ord(c) for c in "abcdefgh"]
    vocabulary_like = FakeModel(encode=lambda text: [ord(c) for c in text], logits=prefers(*letters))
    decoder, _ = run(vocabulary_like, "namenamename1", "namenamename2")
    assert decoder.text_bytes.startswith(b"namenamename")
    assert len(decoder._mask) == MAX_HELD + 1


def test_text_that_the_tokenizer_spells_otherwise_is_left_to_the_model():
    model = FakeModel(encode=lambda text: [ord(" "), *[ord(c) for c in text]])
    decoder, reason = run(model, '{"name": 34}')
    assert (decoder.text_bytes, reason) == (b'{"name": 34}', "stop")
    assert decoder.model_calls > 0


def test_forced_text_that_begins_within_a_character_is_left_to_the_model():
    first, second = "é".encode()
    model = FakeModel(logits=prefers(first, second))
    decoder, reason = run(model, "é1", "è2")
    assert (decoder.token_ids[:2], reason) == ([first, second], "stop")
    assert decoder.text_bytes.decode() == "é1"


def test_a_budget_that_ends_where_the_text_may_end():
    model = FakeModel(logits=prefers(ord("n"), ord("o")))
    decoder, reason = run(model, "n", "nn", "nno", max_new_tokens=2)
    assert (decoder.text_bytes, reason, decoder.is_complete) == (b"nn", "length", True)


def test_the_model_decides_between_ending_and_going_on():
    go_on, end = FakeModel(logits=prefers(ord("n"))), FakeModel(logits=prefers(END + 1, ord("n")))
    assert run(go_on, "n", "nn", "nnn")[0].text_bytes == b"nnn"
    assert run(end, "n", "nn", "nnn")[0].text_bytes == b"n"


@pytest.mark.parametrize(
    ("stop", "expected"),
    [
        (["e"], b"ye"),  # within a token
        (["y"], b"yes no no"),  # the grammar allows no end there
        (["s"], b"yes"),
        (["o"], b"yes no"),
        (["s no"], b"yes no"),  # across tokens
        (["zzz"], b"yes no no"),
    ],
)
def test_stop_texts_end_where_the_grammar_may(stop, expected):
    model = FakeModel(logits=prefers(256 + WORDS.index(b"yes"), ord(" "), 256 + WORDS.index(b"no")))
    decoder, reason = run(model, "ye", "yes", "yes no", "yes no no", stop=stop)
    assert (decoder.text_bytes, reason) == (expected, "stop")


def test_a_text_that_no_token_continues_is_an_error():
    poor = structgen.Vocabulary.from_bytes({0: b"a"}, eos_token_ids=[1])

    class Stuck(FiniteMatcher):
        def fill_next_token_bitmask(self, mask, row=0):
            mask[row] = 0

        def forced_bytes(self):
            return b""

    class Poor(Constraint):
        vocabulary = poor

        def healed(self, prompt_ids=(), *, keeps=0):
            return list(prompt_ids), b"", Stuck(self.texts)

    model = FakeModel()
    decoder = Decoder(model, Poor("b"), [0], session=model.session(), sampler=Sampler(), max_new_tokens=5)
    with pytest.raises(structgen.GenerationError, match="no token"):
        decoder.request()


class Observed:
    """An observer that records the steps, and checks the masks and logits before each token."""

    def __init__(self, model, prompt):
        self.model, self.prompt = model, list(prompt)
        self.tokens, self.forced, self.back = [], [], []

    def accepted(self, token_id, logits, mask, *, forced):
        assert mask is None or mask[token_id >> 5] >> (token_id & 31) & 1
        if logits is not None:
            np.testing.assert_array_equal(logits, self.model.logits([*self.prompt, *self.tokens]))
        else:
            assert forced
        self.tokens.append(token_id)
        self.forced.append(forced)

    def rolled_back(self, token_ids):
        self.back.append((len(self.tokens), list(token_ids)))


@settings(max_examples=150)
@given(
    texts=texts,
    temperature=st.sampled_from([0.0, 1.0]),
    can_crop=st.booleans(),
    budget=st.integers(1, 12),
    stop=st.sampled_from([(), ("y",), ('"', "es")]),
)
def test_an_observer_is_told_of_every_token_once(texts, temperature, can_crop, budget, stop):
    model = FakeModel(can_crop=can_crop)
    observer = Observed(model, [1, 2, 3])
    session = model.session()
    decoder = Decoder(
        model,
        Constraint(*texts),
        [1, 2, 3],
        session=session,
        sampler=Sampler(temperature=temperature, seed=budget),
        max_new_tokens=budget,
        stop=stop,
        observer=observer,
    )
    while (request := decoder.request()) is not None:
        decoder.take(session.forward(request.token_ids, keep=request.keep))
    ends = [token for token in observer.tokens if token in VOCABULARY.eos_token_ids]
    assert observer.tokens == [*decoder.token_ids, *ends]
    assert len(ends) <= 1
    assert sum(observer.forced) >= decoder.forced_tokens
    for at, tokens in observer.back:
        assert tokens[0] != observer.tokens[at]
        assert can_crop


@pytest.mark.parametrize("shape", [(1, VOCABULARY.size - 1), (1, 0), (2, VOCABULARY.size), (VOCABULARY.size,)])
def test_logits_of_a_wrong_shape_are_an_error(shape):
    model = FakeModel()
    decoder = Decoder(model, Constraint("yes", "no"), [1], session=model.session(), sampler=Sampler(), max_new_tokens=9)
    assert decoder.request().keep == 1
    with pytest.raises(structgen.ModelError, match=rf"the model returned logits of shape \[.*\[1, {VOCABULARY.size}\]"):
        decoder.take(np.zeros(shape, np.float32))
    assert decoder.token_ids == []


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_logits_that_pad_the_vocabulary_are_ignored(temperature):
    """Though they are the highest: models round up the width of their matrices."""

    def padded(tokens):
        return np.concatenate([plain.hashed(tokens), np.full(99, 1e9, np.float32)])

    plain = FakeModel()
    wide = FakeModel(logits=padded)
    texts = ["yes", "no", '{"name": "a"}']
    expected, _ = run(plain, *texts, temperature=temperature, seed=0)
    assert run(wide, *texts, temperature=temperature, seed=0)[0].token_ids == expected.token_ids
