"""The vocabulary of a model: the bytes of each token, the tokens that end a text, and the trie that masks walk.

A mask never allows tokens without bytes: special tokens, ids that the tokenizer does not use (padded logits), and
tokens that spell nothing. It allows end tokens exactly where the text may stop. A grammar with token terminals is an
exception: it names tokens, and is compiled for a vocabulary that has marks for them (`marks.py`).
"""

from __future__ import annotations

import functools
import hashlib
import pickle
import weakref
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np

from structgen.engine.fork_safety import forkable_lock
from structgen.engine.garbage_collection import collect_early
from structgen.engine.vocabulary.marks import MARK_BYTE, Ranges, mark_of
from structgen.engine.vocabulary.token_bytes import special_tokens, spell_tokens, tokenizer_state
from structgen.engine.vocabulary.token_trie import TokenTrie
from structgen.engine.whole_numbers import whole_number
from structgen.errors import VocabularyError
from structgen.limits import Limits

__all__ = ["Vocabulary", "byte_vocabulary"]

MAX_SIZE = 2**24  # tokens; far more than any tokenizer has, and an id fits into the three bytes of a mark
MAX_MARKED = 8  # vocabularies with marks that are kept for one vocabulary
MIN_COLLECTED = 16_000  # tokens; smaller vocabularies are made by the thousand, in tests
MAX_PER_TOKENIZER = 8  # vocabularies with different sizes or end tokens that are kept for one tokenizer


class Tokenization(Protocol):
    """A tokenizer's way to split texts: an object of `structgen.tokenization` that the vocabulary only stores."""

    def spell(self, text: bytes) -> tuple[int, ...] | None:
        """Return the tokens that the tokenizer makes of a text."""


class SharedState(Protocol):
    """Tables that the grammars of a vocabulary share. The vocabulary only stores this object of `engine.matching`."""

    def tables(self, vocabulary: Vocabulary, limits: Limits) -> object:
        """Return the tables that a grammar compiled now should use."""


class Vocabulary:
    """The tokens of a model. Make one with `from_huggingface` or `from_bytes`; it never changes.

    Two vocabularies with the same content are the same object as long as one of them is in use, so that compiled
    grammars and masks are shared.

    Attributes:
        size: the number of token ids, which are 0 to size - 1: the width of the model's logits.
        eos_token_ids: the end tokens, in the order given, without duplicates.
        spellings: by token id, the bytes of the token, up to the last id that stands for text; `b""` for ids that
            stand for no text.
        special_tokens: the ids of special and added tokens, by name; for token terminals.
        trie: the tokens that stand for text, as a `TokenTrie`.
        max_token_bytes: the length of the longest token in bytes.
        proper: what `structgen.tokenization` knows about how the tokenizer splits texts; None until it is needed.
        shared: the tables that grammars compiled for this vocabulary share; None until one is compiled.

    Example:
        >>> vocabulary = Vocabulary.from_bytes({0: b"a", 1: b"ab"}, eos_token_ids=[2])
        >>> vocabulary.size, vocabulary.token_bytes(1), vocabulary.token_bytes(2)
        (3, b'ab', None)
    """

    __slots__ = (
        "__weakref__",
        "_fingerprint",
        "_marked",
        "_names",
        "_tokenizers",
        "eos_token_ids",
        "max_token_bytes",
        "proper",
        "shared",
        "size",
        "special_tokens",
        "spellings",
        "trie",
    )

    size: int
    eos_token_ids: tuple[int, ...]
    spellings: tuple[bytes, ...]
    special_tokens: Mapping[str, int]
    trie: TokenTrie
    max_token_bytes: int
    _fingerprint: str | None
    _marked: dict[Ranges, Vocabulary]
    _names: dict[int, bytes] | None
    _tokenizers: list[tuple[Callable[[], Any], tuple[Hashable, ...]]]
    proper: Tokenization | None
    shared: SharedState | None

    @classmethod
    def from_huggingface(
        cls, tokenizer: Any, vocab_size: int | None = None, *, eos_token_ids: int | Iterable[int] | None = None
    ) -> Vocabulary:
        """Return the vocabulary of a tokenizer, with the real bytes of its tokens.

        `engine/vocabulary/token_bytes.py` says how these are found. The end tokens are the tokenizer's `eos_token_id`
        and `eos_token_ids`. The end of turn of a chat model is often another token than its tokenizer's end token
        (`<|eot_id|>`, `<|im_end|>`, `<end_of_turn>`). It is not guessed by name, so pass
        `model.generation_config.eos_token_id` here.

        The result is kept as long as the tokenizer lives: a second call with the same arguments returns it. For a large
        vocabulary, the first call also runs Python's garbage collector once, so that it does not interrupt a mask.

        Args:
            tokenizer: a tokenizer of transformers (any backend), of `tokenizers`, or of mistral-common.
            vocab_size: the width of the model's logits where it is larger than the tokenizer
                (`model.config.vocab_size`). Ids that the tokenizer does not have are never allowed.
            eos_token_ids: more end tokens, as a generation config has them: one id, a list, or None.

        Returns:
            The vocabulary, `vocab_size` tokens wide.

        Raises:
            VocabularyError: the id of a token that stands for text, or of an end token, is not below `vocab_size`; that
                is no integer; or the tokenizer's kind or its decoder is not supported.
        """
        ends = _end_tokens([getattr(tokenizer, "eos_token_id", None), eos_token_ids])
        vocab_size = None if vocab_size is None else _size(vocab_size)
        key = (vocab_size, ends, tokenizer_state(tokenizer))
        found = _CACHE.of_tokenizer(tokenizer, key)
        if found is None:
            spellings, special = spell_tokens(tokenizer)
            size = max([*spellings, *special], default=-1) + 1 if vocab_size is None else vocab_size
            names = {name: token_id for name, token_id in special_tokens(tokenizer).items() if token_id < size}
            found = _make(cls, spellings, ends, size, names)
            _CACHE.keep(tokenizer, key, found)
            found.remember(tokenizer)
            if size >= MIN_COLLECTED:
                collect_early()
        return found

    def remember(self, tokenizer: Any) -> None:
        """Keep a tokenizer that the vocabulary was read from, for `tokenization="proper"`.

        The cache keeps a vocabulary as long as its tokenizer lives, so a vocabulary must not keep the tokenizer alive.
        For a tokenizer of transformers the backend that it wraps is kept; for others a weak reference, if possible.

        Args:
            tokenizer: as `from_huggingface` takes it.
        """
        backend = getattr(tokenizer, "backend_tokenizer", None)
        held = tokenizer if backend is None else backend
        is_weak = backend is None and _allows_weak_references(tokenizer)
        self._add_tokenizer(weakref.ref(tokenizer) if is_weak else lambda: held, tokenizer_state(held))

    def _remember_loaded(self, tokenizer: Any) -> None:
        """Keep a tokenizer that was pickled with the vocabulary. Nothing else keeps it alive."""
        self._add_tokenizer(lambda: tokenizer, tokenizer_state(tokenizer))

    def _add_tokenizer(self, tokenizer: Callable[[], Any], state: tuple[Hashable, ...]) -> None:
        """Store a tokenizer, as a function that returns it or None, and the state that it has now."""
        self._tokenizers = [*self._tokenizers, (tokenizer, state)][-MAX_PER_TOKENIZER:]
        self.proper = None  # it depends on all tokenizers, so it is made again

    @property
    def tokenizers(self) -> list[Any]:
        """The tokenizers that the vocabulary was read from, as far as they still exist and have not changed since."""
        found = [(stored(), state) for stored, state in self._tokenizers]
        return [each for each, state in found if each is not None and tokenizer_state(each) == state]

    @classmethod
    def from_bytes(
        cls,
        tokens: Mapping[int, bytes],
        eos_token_ids: int | Iterable[int] | None = (),
        size: int | None = None,
        *,
        special_tokens: Mapping[str, int] | None = None,
    ) -> Vocabulary:
        """Return the vocabulary of tokens whose bytes are known.

        Args:
            tokens: the bytes of each token id that stands for text. Ids that are missing, have no bytes, or are end
                tokens are never allowed as text. Different ids may have the same bytes.
            eos_token_ids: the end tokens: one id, several, or None.
            size: the width of the model's logits; by default the largest id plus one.
            special_tokens: the ids of special tokens by name, such as `{"<|im_end|>": 7}`, for grammars that name them.

        Returns:
            The vocabulary, `size` tokens wide.

        Raises:
            VocabularyError: an id is negative or not below `size`; that is no integer; a value is not bytes; or no
                token stands for text.
        """
        ends = _end_tokens([eos_token_ids])
        spellings = _checked(tokens)
        names = {name: _token_id(token_id) for name, token_id in (special_tokens or {}).items()}
        found = max([*spellings, *ends, *names.values()], default=-1) + 1 if size is None else _size(size)
        return _make(cls, spellings, ends, found, names)

    def with_spellings(self, spellings: dict[int, bytes]) -> Vocabulary:
        """Return a vocabulary as wide as this one, with other bytes for its tokens and without end tokens.

        Args:
            spellings: the bytes of each token, not empty; it is fastest if they are nearly sorted. Tokens with equal
                bytes stay in the order given.
        """
        by_id = _by_id(spellings)
        return _built(type(self), by_id, sorted(spellings, key=by_id.__getitem__), (), self.size)

    @property
    def fingerprint(self) -> str:
        """A hash of the tokens, end tokens, size and names, which is the same in every process."""
        if self._fingerprint is None:
            self._fingerprint = _fingerprint(self.spellings, self.eos_token_ids, self.size, self.special_tokens)
        return self._fingerprint

    def token_bytes(self, token_id: int) -> bytes | None:
        """Return the bytes of a token; None for end tokens, special tokens and unused ids.

        Args:
            token_id: the token's id; any int is accepted.

        Raises:
            TypeError: it is no integer.
        """
        if type(token_id) is not int:
            token_id = whole_number(token_id, "a token id")
        return (self.spellings[token_id] or None) if 0 <= token_id < len(self.spellings) else None

    def shown(self, token_id: int) -> bytes:
        """Return a readable text of a token: its bytes, or else its name, or else its id as in `<[1000]>`.

        That is what a decoder without `skip_special_tokens` writes.

        Args:
            token_id: a token of the vocabulary.
        """
        text = self.token_bytes(token_id)
        if text is not None:
            return text
        if self._names is None:
            self._names = {found: name.encode() for name, found in self.special_tokens.items()}
        return self._names.get(token_id, f"<[{token_id}]>".encode())

    def tokens_without_text(self) -> list[str]:
        """Return the names of the special tokens that stand for no text."""
        return [name for name, token_id in self.special_tokens.items() if self.token_bytes(token_id) is None]

    def marked(self, marks: Ranges) -> Vocabulary:
        """Return this vocabulary with marks for some tokens, for grammars with token terminals; see `marks.py`.

        The last few results are kept, because grammars for the same model name the same few tokens.

        Args:
            marks: ranges of token ids of this vocabulary.

        Returns:
            A vocabulary without end tokens. A token that stands for text, too, has two entries in its trie, and its
            text in `spellings`.
        """
        made = self._marked.get(marks)
        if made is None:
            made = _with_marks(self, marks)
            while len(self._marked) >= MAX_MARKED:
                self._marked.pop(next(iter(self._marked)), None)
            made = self._marked.setdefault(marks, made)
        return made

    def with_marks(self) -> list[Vocabulary]:
        """Return the vocabularies with marks that are kept for this one."""
        return list(self._marked.values())

    def detached(self) -> Vocabulary:
        """Return another object with the same tokens, for which nothing was compiled yet.

        Grammars that are compiled for it share no tables with others. The tables are freed with it.
        """
        made = object.__new__(type(self))
        made.size, made.eos_token_ids, made.spellings = self.size, self.eos_token_ids, self.spellings
        made.special_tokens, made._names, made._marked = self.special_tokens, self._names, {}
        made.trie, made.max_token_bytes = self.trie, self.max_token_bytes
        made._fingerprint, made._tokenizers, made.proper = self._fingerprint, self._tokenizers, self.proper
        made.shared = None
        return made

    def __copy__(self) -> Vocabulary:
        """Return the vocabulary itself, as it never changes."""
        return self

    def __deepcopy__(self, memo: Any) -> Vocabulary:
        """Return the vocabulary itself, as it never changes."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what pickle stores: the tokens, and the tokenizers that can be pickled.

        Loading returns the vocabulary with these tokens if the process has one already. Nothing compiled is stored.
        """
        parts = dict(enumerate(self.spellings)), self.eos_token_ids, self.size
        tokenizers = list(filter(None, map(_pickled, self.tokenizers)))
        return _loaded, (type(self), *parts, tokenizers, dict(self.special_tokens))

    def __repr__(self) -> str:
        return f"Vocabulary({self.size} tokens, eos_token_ids={self.eos_token_ids}, {self.fingerprint[:12]})"


@functools.cache
def byte_vocabulary() -> Vocabulary:
    """Return a vocabulary for texts that no model writes: token b is the byte b, and token 256 is the end."""
    return Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)}, eos_token_ids=[256])


def _make(
    cls: type[Vocabulary], spellings: dict[int, bytes], ends: tuple[int, ...], size: int, names: Mapping[str, int]
) -> Vocabulary:
    """Check the parts of a vocabulary, and build it unless one with the same content is in use already.

    Args:
        cls: the class of the vocabulary.
        spellings: by token id, the token's bytes.
        ends: the end tokens.
        size: the width of the model's logits.
        names: the ids of special and added tokens, by name.
    """
    spellings = {token_id: text for token_id, text in spellings.items() if text and token_id not in ends}
    _check(spellings, ends, size)
    for name, token_id in names.items():
        if not 0 <= token_id < size:
            raise VocabularyError(f"the special token {name!r} is {token_id}, not in a vocabulary of {size} tokens")
    by_id = _by_id(spellings)
    fingerprint = _fingerprint(by_id, ends, size, names)
    known = _CACHE.by_fingerprint(fingerprint)
    if known is not None:
        return known
    # The sorts are stable: tokens with the same bytes stay in the order of their ids.
    made = _built(cls, by_id, sorted(sorted(spellings), key=by_id.__getitem__), ends, size)
    made.special_tokens = MappingProxyType(dict(names))
    made._fingerprint = fingerprint
    return _CACHE.intern(made)


def _loaded(
    cls: type[Vocabulary],
    spellings: dict[int, bytes],
    ends: tuple[int, ...],
    size: int,
    tokenizers: list[bytes],
    names: Mapping[str, int],
) -> Vocabulary:
    """Return a vocabulary that was pickled; see `Vocabulary.__reduce__`."""
    made = _make(cls, spellings, ends, size, names)
    if not made.tokenizers:
        for stored in tokenizers:
            made._remember_loaded(pickle.loads(stored))
    return made


def _pickled(tokenizer: Any) -> bytes | None:
    """Return a tokenizer as pickle stores it; None for one that cannot be pickled."""
    try:
        return pickle.dumps(tokenizer)
    except Exception:  # any error of a foreign class: without its tokenizer, the vocabulary still works
        return None


def _by_id(spellings: dict[int, bytes]) -> list[bytes]:
    """Return the bytes of tokens as a list with the token ids as indices."""
    by_id = [b""] * (max(spellings) + 1)
    for token_id, text in spellings.items():
        by_id[token_id] = text
    return by_id


def _built(
    cls: type[Vocabulary], by_id: list[bytes], token_ids: list[int], ends: tuple[int, ...], size: int
) -> Vocabulary:
    """Return the vocabulary of tokens that are given in the order of their bytes."""
    made = object.__new__(cls)
    made.size = size
    made.eos_token_ids = ends
    # The garbage collector skips a tuple of bytes, which takes half the memory of a dict with its keys.
    made.spellings = tuple(by_id)
    _set_trie(made, TokenTrie(list(map(by_id.__getitem__, token_ids)), token_ids))
    return made


def _set_trie(made: Vocabulary, trie: TokenTrie) -> None:
    """Set the trie of a vocabulary in the making, and the attributes that it has at first."""
    made.trie = trie
    made.max_token_bytes = trie.max_depth
    made.special_tokens = MappingProxyType({})
    made._names = made._fingerprint = None
    made._marked = {}
    made._tokenizers = []
    made.proper = made.shared = None


def _with_marks(vocabulary: Vocabulary, marks: Ranges) -> Vocabulary:
    """Return a vocabulary with marks; see `Vocabulary.marked`. The marks come last in the order of bytes."""
    named = [token_id for first, last in marks for token_id in range(first, last + 1)]
    by_id = list(vocabulary.spellings)
    by_id += [b""] * (vocabulary.size - len(by_id))
    trie = vocabulary.trie
    # Remove the tokens that hold the byte of marks. Those that begin with it are the end of the trie: in a byte-level
    # vocabulary, this is often one token, and no other token holds that byte.
    begin = trie.first_node[MARK_BYTE] if trie.first_node[MARK_BYTE] >= 0 else trie.node_count
    for token_id in trie.tokens[trie.token_start[begin] :]:
        by_id[token_id] = b""
    if (np.asarray(trie.node_byte)[:begin] == MARK_BYTE).any():
        by_id = [text if MARK_BYTE not in text else b"" for text in by_id]
        plain = [token_id for token_id in trie.tokens if by_id[token_id]]
        trie = TokenTrie(list(map(by_id.__getitem__, plain)), plain)
    for token_id in named:
        by_id[token_id] = by_id[token_id] or mark_of(token_id)
    made = object.__new__(type(vocabulary))
    made.size, made.eos_token_ids, made.spellings = vocabulary.size, (), tuple(by_id)
    _set_trie(made, trie.followed_by(TokenTrie(list(map(mark_of, named)), named), MARK_BYTE))
    return made


def _check(spellings: dict[int, bytes], ends: tuple[int, ...], size: int) -> None:
    """Check the token ids and the size of a vocabulary."""
    if not spellings:
        raise VocabularyError("no token of the vocabulary stands for text")
    smallest, greatest = min(spellings), max(spellings)
    if smallest < 0:
        raise VocabularyError(f"token id {smallest} is negative")
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


def _fingerprint(by_id: Sequence[bytes], ends: tuple[int, ...], size: int, names: Mapping[str, int]) -> str:
    """Return a hash of the content of a vocabulary."""
    digest = hashlib.blake2b(digest_size=20)
    # Each part's length follows from the parts before it, so that no two contents give the same bytes.
    digest.update(np.array([size, len(ends), *ends, len(by_id)], dtype="<i8").tobytes())
    digest.update(np.fromiter(map(len, by_id), dtype="<i8", count=len(by_id)).tobytes())
    digest.update(b"".join(by_id))
    if names:
        digest.update(repr(sorted(names.items())).encode())
    return digest.hexdigest()


def _checked(tokens: Mapping[int, bytes]) -> dict[int, bytes]:
    """Return the tokens as a dict of int and bytes, after checks of the types."""
    if not isinstance(tokens, Mapping):
        raise VocabularyError(
            f"the tokens are a {type(tokens).__name__}: a mapping of token ids to bytes is needed",
            hint="dict(enumerate(tokens))" if isinstance(tokens, list | tuple) else "",
        )
    if set(map(type, tokens)) == {int} and set(map(type, tokens.values())) == {bytes}:
        return dict(tokens)  # the usual case, fast
    return {_token_id(token_id): _spelling(token_id, text) for token_id, text in tokens.items()}


def _size(value: Any) -> int:
    """Return a number of tokens of any integer type as an int."""
    try:
        return whole_number(value, "a number of tokens")
    except TypeError:
        raise VocabularyError(f"a vocabulary of {value!r} tokens: an int is needed") from None


def _token_id(value: Any) -> int:
    """Return a token id of any integer type as an int."""
    try:
        return whole_number(value, "a token id")
    except TypeError:
        raise VocabularyError(f"{value!r} is not a token id: an int is needed") from None


def _spelling(token_id: Any, text: Any) -> bytes:
    """Return the text of a token as bytes."""
    if not isinstance(text, bytes | bytearray | memoryview):
        raise VocabularyError(
            f"the text of token {token_id!r} is a {type(text).__name__}: bytes are needed",
            hint="encode str as UTF-8" if isinstance(text, str) else "",
        )
    return bytes(text)


def _end_tokens(given: list[int | Iterable[int] | None]) -> tuple[int, ...]:
    """Return all given end tokens once, in order."""
    ends: list[int] = []
    for value in given:
        if value is not None:
            ends.extend(map(_token_id, value if isinstance(value, Iterable) else [value]))
    return tuple(dict.fromkeys(ends))


def _allows_weak_references(tokenizer: Any) -> bool:
    """Return whether weak references to a tokenizer are possible."""
    try:
        weakref.ref(tokenizer)
    except TypeError:
        return False
    return True


class _Cache:
    """The vocabularies in use, by content, and by tokenizer as long as the tokenizer lives."""

    def __init__(self) -> None:
        self._lock = forkable_lock()
        self._by_fingerprint: WeakValueDictionary[str, Vocabulary] = WeakValueDictionary()
        self._by_tokenizer: WeakKeyDictionary[Any, dict[tuple[Any, ...], Vocabulary]] = WeakKeyDictionary()

    def by_fingerprint(self, fingerprint: str) -> Vocabulary | None:
        return self._by_fingerprint.get(fingerprint)

    def intern(self, vocabulary: Vocabulary) -> Vocabulary:
        """Return the first vocabulary with this content, which another thread may have made in the meantime."""
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
            while len(kept) > MAX_PER_TOKENIZER:
                del kept[next(iter(kept))]


_CACHE = _Cache()
