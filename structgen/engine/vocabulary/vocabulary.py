"""The vocabulary: which bytes each token stands for, which tokens end a text, and the trie that masks walk.

Tokens without bytes are never allowed by a mask: special tokens, ids that the tokenizer does not use (padded logits),
tokens that spell nothing. End tokens are allowed exactly where the text may stop.
"""

from __future__ import annotations

import functools
import hashlib
import operator
import threading
import weakref
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np

from structgen.engine.vocabulary.token_bytes import spell_tokens, tokenizer_state
from structgen.engine.vocabulary.token_trie import TokenTrie
from structgen.errors import VocabularyError

__all__ = ["Vocabulary", "byte_vocabulary"]

MAX_SIZE = 2**24  # far above any tokenizer, far below what int32 trie arrays hold
KEPT_PER_TOKENIZER = 8  # vocabularies of different sizes or end tokens


class Vocabulary:
    """The tokens of a model. Make one with `from_huggingface` or `from_bytes`; it never changes.

    Two vocabularies with the same content are the same object as long as one of them is in use, so that compiled
    grammars and masks are shared.

    Attributes:
        size: the number of token ids, 0 .. size - 1: the width of the model's logits.
        eos_token_ids: the end tokens, in the order given, without duplicates.
        spellings: the bytes of the token ids up to the last that stands for text; none for what stands for no text.
        trie: the tokens that stand for text, as a `TokenTrie`.
        max_token_bytes: the length of the longest token.

    Example:
        >>> vocabulary = Vocabulary.from_bytes({0: b"a", 1: b"ab"}, eos_token_ids=[2])
        >>> vocabulary.size, vocabulary.token_bytes(1), vocabulary.token_bytes(2)
        (3, b'ab', None)
    """

    __slots__ = (
        "__weakref__",
        "_fingerprint",
        "_tokenizers",
        "eos_token_ids",
        "max_token_bytes",
        "proper",
        "shared",
        "size",
        "spellings",
        "trie",
    )

    size: int
    eos_token_ids: tuple[int, ...]
    spellings: tuple[bytes, ...]
    trie: TokenTrie
    max_token_bytes: int
    _fingerprint: str | None
    _tokenizers: list[tuple[Callable[[], Any], tuple[Hashable, ...]]]
    proper: object  # of `structgen.tokenization`: how its tokenizer splits texts
    shared: object  # of `engine.compiled`: what the grammars compiled for this vocabulary share

    @classmethod
    def from_huggingface(
        cls, tokenizer: Any, vocab_size: int | None = None, *, eos_token_ids: int | Iterable[int] | None = None
    ) -> Vocabulary:
        """The vocabulary of a Hugging Face tokenizer, with the real bytes of its tokens (see `engine.spelling`).

        The end tokens are the tokenizer's `eos_token_id` and `eos_token_ids`. Chat models often have another end of
        turn than their tokenizer knows (`<|eot_id|>`, `<|im_end|>`, `<end_of_turn>`): no name is guessed at, so pass
        `model.generation_config.eos_token_id` here.

        The result is kept as long as the tokenizer lives: a second call with the same arguments returns it.

        Args:
            tokenizer: of transformers (any backend), of `tokenizers`, or of mistral-common.
            vocab_size: the width of the model's logits where it is larger than the tokenizer
                (`model.config.vocab_size`). The ids above are never allowed.
            eos_token_ids: more end tokens, as a generation config has them: one id, a list, or None.

        Raises:
            VocabularyError: a token that stands for text or ends it does not fit in `vocab_size`; the tokenizer's
                kind or its decoder is not known.
        """
        ends = _end_tokens([getattr(tokenizer, "eos_token_id", None), eos_token_ids])
        key = (vocab_size, ends, tokenizer_state(tokenizer))
        kept = _CACHE.of_tokenizer(tokenizer, key)
        if kept is None:
            spellings, special = spell_tokens(tokenizer)
            size = max([*spellings, *special], default=-1) + 1 if vocab_size is None else vocab_size
            kept = _make(cls, spellings, ends, size)
            _CACHE.keep(tokenizer, key, kept)
            kept.remember(tokenizer)
        return kept

    def remember(self, tokenizer: Any) -> None:
        """Keeps a tokenizer that the vocabulary was read out of, for `tokenization="proper"`.

        Of a tokenizer of transformers only what it wraps is kept: the cache keeps a vocabulary as long as the tokenizer
        lives, and must not keep the tokenizer itself alive.
        """
        backend = getattr(tokenizer, "backend_tokenizer", None)
        held = tokenizer if backend is None else backend
        kept = weakref.ref(tokenizer) if backend is None and _is_weak(tokenizer) else lambda: held
        self._tokenizers = [*self._tokenizers, (kept, tokenizer_state(held))][-KEPT_PER_TOKENIZER:]
        self.proper = None  # which looks at all of them

    @property
    def tokenizers(self) -> list[Any]:
        """The tokenizers that it was read out of, as far as they are still there, and what they were."""
        found = [(kept(), state) for kept, state in self._tokenizers]
        return [one for one, state in found if one is not None and tokenizer_state(one) == state]

    @classmethod
    def from_bytes(
        cls, tokens: Mapping[int, bytes], eos_token_ids: int | Iterable[int] | None = (), size: int | None = None
    ) -> Vocabulary:
        """A vocabulary of tokens whose bytes are known.

        Args:
            tokens: the bytes of each token id that stands for text. Ids that are missing, or have no bytes, or are
                end tokens are never allowed as text. Different ids may have the same bytes.
            eos_token_ids: the end tokens.
            size: the width of the model's logits; by default the largest id and one.

        Raises:
            VocabularyError: an id is negative or not below `size`; a value is not bytes; no token stands for text.
        """
        ends = _end_tokens([eos_token_ids])
        spellings = _checked(tokens)
        return _make(cls, spellings, ends, max([*spellings, *ends], default=-1) + 1 if size is None else size)

    def with_spellings(self, spellings: dict[int, bytes]) -> Vocabulary:
        """A vocabulary as wide as this one, of other texts and without end tokens.

        Args:
            spellings: the bytes of each token, not empty, nearly in the order of these bytes. Tokens with the same ones
                stay in the order that is given.
        """
        by_id = _by_id(spellings)
        return _built(type(self), by_id, sorted(spellings, key=by_id.__getitem__), (), self.size)

    @property
    def fingerprint(self) -> str:
        """A hash of its content, the same in every process."""
        if self._fingerprint is None:
            self._fingerprint = _fingerprint(self.spellings, self.eos_token_ids, self.size)
        return self._fingerprint

    def token_bytes(self, token_id: int) -> bytes | None:
        """The bytes a token stands for; None for end tokens, special tokens and ids that mean nothing."""
        return (self.spellings[token_id] or None) if 0 <= token_id < len(self.spellings) else None

    def __repr__(self) -> str:
        return f"Vocabulary({self.size} tokens, eos_token_ids={self.eos_token_ids}, {self.fingerprint[:12]})"


@functools.cache
def byte_vocabulary() -> Vocabulary:
    """A vocabulary for reading texts that no model writes: the token of each byte is its number, 256 is the end."""
    return Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)}, eos_token_ids=[256])


def _make(cls: type[Vocabulary], spellings: dict[int, bytes], ends: tuple[int, ...], size: int) -> Vocabulary:
    """Checks what belongs together, and builds the vocabulary unless the same one is in use already.

    Args:
        cls: of what it is.
        spellings: by token id, its bytes.
        ends: the end tokens.
        size: the width of the model's logits.
    """
    spellings = {token_id: text for token_id, text in spellings.items() if text and token_id not in ends}
    _check(spellings, ends, size)
    by_id = _by_id(spellings)
    fingerprint = _fingerprint(by_id, ends, size)
    known = _CACHE.by_fingerprint(fingerprint)
    if known is not None:
        return known
    # The sorts are stable: tokens with the same bytes stay in the order of their ids.
    made = _built(cls, by_id, sorted(sorted(spellings), key=by_id.__getitem__), ends, size)
    made._fingerprint = fingerprint
    return _CACHE.intern(made)


def _by_id(spellings: dict[int, bytes]) -> list[bytes]:
    by_id = [b""] * (max(spellings) + 1)
    for token_id, text in spellings.items():
        by_id[token_id] = text
    return by_id


def _built(
    cls: type[Vocabulary], by_id: list[bytes], token_ids: list[int], ends: tuple[int, ...], size: int
) -> Vocabulary:
    """A vocabulary of tokens in the order of their bytes."""
    made = object.__new__(cls)
    made.size = size
    made.eos_token_ids = ends
    made._fingerprint = None
    # A tuple of bytes is nothing to the garbage collector, and takes half of what a dict with its keys would.
    made.spellings = tuple(by_id)
    made.trie = TokenTrie(list(map(by_id.__getitem__, token_ids)), token_ids)
    made.max_token_bytes = made.trie.max_depth
    made._tokenizers = []
    made.proper = made.shared = None
    return made


def _check(spellings: dict[int, bytes], ends: tuple[int, ...], size: int) -> None:
    if not spellings:
        raise VocabularyError("no token of the vocabulary stands for text")
    least, greatest = min(spellings), max(spellings)
    if least < 0:
        raise VocabularyError(f"token id {least} is negative")
    if not 0 < size <= MAX_SIZE:
        raise VocabularyError(f"a vocabulary of {size} tokens: the size must be 1 to {MAX_SIZE}")
    for token_id in ends:
        if not 0 <= token_id < size:
            raise VocabularyError(f"end token {token_id} is not in a vocabulary of {size} tokens")
    if greatest >= size:
        raise VocabularyError(
            f"token {greatest} ({spellings[greatest]!r}) is not in a vocabulary of {size} tokens",
            hint=f"the size must be at least {greatest + 1}; it is the width of the model's logits",
        )


def _fingerprint(by_id: Sequence[bytes], ends: tuple[int, ...], size: int) -> str:
    digest = hashlib.blake2b(digest_size=20)
    # Each part's length is told by the parts before it, so that no two contents give the same bytes.
    digest.update(np.array([size, len(ends), *ends, len(by_id)], dtype="<i8").tobytes())
    digest.update(np.fromiter(map(len, by_id), dtype="<i8", count=len(by_id)).tobytes())
    digest.update(b"".join(by_id))
    return digest.hexdigest()


def _checked(tokens: Mapping[int, bytes]) -> dict[int, bytes]:
    if set(map(type, tokens)) == {int} and set(map(type, tokens.values())) == {bytes}:
        return dict(tokens)  # the usual case, fast
    return {_token_id(token_id): _spelling(token_id, text) for token_id, text in tokens.items()}


def _token_id(value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise VocabularyError(f"{value!r} is not a token id: an int is needed") from None


def _spelling(token_id: Any, text: Any) -> bytes:
    if not isinstance(text, bytes | bytearray | memoryview):
        raise VocabularyError(
            f"the text of token {token_id!r} is a {type(text).__name__}: bytes are needed",
            hint="encode str as UTF-8" if isinstance(text, str) else "",
        )
    return bytes(text)


def _end_tokens(given: list[int | Iterable[int] | None]) -> tuple[int, ...]:
    """All given end tokens once, in order."""
    ends: list[int] = []
    for value in given:
        if value is not None:
            ends.extend(map(_token_id, value if isinstance(value, Iterable) else [value]))
    return tuple(dict.fromkeys(ends))


def _is_weak(tokenizer: Any) -> bool:
    """Whether references to a tokenizer can be weak, and so the cache knows it."""
    try:
        weakref.ref(tokenizer)
    except TypeError:
        return False
    return True


class _Cache:
    """Vocabularies in use by content, and by tokenizer as long as the tokenizer lives."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_fingerprint: WeakValueDictionary[str, Vocabulary] = WeakValueDictionary()
        self._by_tokenizer: WeakKeyDictionary[Any, dict[tuple[Any, ...], Vocabulary]] = WeakKeyDictionary()

    def by_fingerprint(self, fingerprint: str) -> Vocabulary | None:
        return self._by_fingerprint.get(fingerprint)

    def intern(self, vocabulary: Vocabulary) -> Vocabulary:
        """The first vocabulary with this content, which another thread may have made meanwhile."""
        with self._lock:
            return self._by_fingerprint.setdefault(vocabulary.fingerprint, vocabulary)

    def of_tokenizer(self, tokenizer: Any, key: tuple[Any, ...]) -> Vocabulary | None:
        with self._lock:
            try:
                return self._by_tokenizer.get(tokenizer, {}).get(key)
            except TypeError:  # cannot be hashed or referenced weakly
                return None

    def keep(self, tokenizer: Any, key: tuple[Any, ...], vocabulary: Vocabulary) -> None:
        with self._lock:
            try:
                kept = self._by_tokenizer.setdefault(tokenizer, {})
            except TypeError:
                return
            kept[key] = vocabulary
            while len(kept) > KEPT_PER_TOKENIZER:
                del kept[next(iter(kept))]


_CACHE = _Cache()
