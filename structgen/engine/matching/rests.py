"""The shortest rest of a text, in bytes and in tokens, and the tokens that may come next by the rest after them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structgen.engine.grammar.shortest_bodies import FAR
from structgen.engine.matching.class_walk import ClassWalk
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.engine.matching.shortest_completions import ShortestCompletions, completions_of
from structgen.engine.matching.token_classes import TokenClasses
from structgen.engine.vocabulary.bitmask_kernel import TokenSubset

__all__ = ["Around", "Rest", "rests_around", "shortest_rest", "tokens_by_rest", "tokens_towards"]

MAX_CLASSES = 64  # of one item set
MAX_REACHED = 2_000  # item sets that a walk reaches
MAX_KEPT_BYTES = 16 << 20  # of the masks of all classes


class Rest(NamedTuple):
    """A text that completes a text.

    Attributes:
        text: its bytes.
        tokens: the fewest tokens that spell them; None if none do.
    """

    text: bytes
    tokens: list[int] | None


class Around(NamedTuple):
    """The rests of a text before and after one more token.

    Attributes:
        before: the shortest rest before the token; None where none was found.
        after: the shortest rest after it; None where none was found.
        closing: intp[n], in ascending order: tokens after which the rest has fewer bytes than before. Do not change the
            array. Each of them ends with the first bytes of the rest: for the rest `"}` in a string, they are `"`,
            `."`, `"}`, `!"}`, … For strings of JSON these are all such tokens that do not begin with a space. None if
            the caller did not ask for them, or if it must try single tokens; see `tokens_by_rest`.
    """

    before: Rest | None
    after: Rest | None
    closing: NDArray[np.intp] | None = None


def shortest_rest(matcher: Matcher, after: bytes = b"") -> Rest | None:
    """Return the shortest completion of a text with its tokens; see `shortest_completion`.

    Args:
        matcher: the text; it stays as it is.
        after: bytes that are put after the text first.

    Returns:
        The rest; None where none was found, or where these bytes cannot follow.

    Raises:
        LimitExceededError: a bound of `Limits` was passed.
    """
    if matcher.is_terminated:
        return None if after else Rest(b"", [])
    return matcher.ask(lambda compiled, set_id: _rest(compiled, set_id, after))


def rests_around(matcher: Matcher, token_id: int, *, with_closing: bool = False) -> Around | None:
    """Return the shortest completions of a text before and after one more token; see `shortest_rest`.

    Args:
        matcher: the text, which has not ended; it stays as it is.
        token_id: the token; the matcher allows it.
        with_closing: also find the tokens that bring the end of the text nearer (`Around.closing`). This is done only
            if the token begins with a space and leaves the rest as it is.

    Returns:
        Both rests, and these tokens. None if the bytes of the token do not say what it does, so that the matcher has to
        accept it first: an end token, a token that the grammar names, and any token if the grammar counts tokens.

    Raises:
        LimitExceededError: a bound of `Limits` was passed.
    """

    def found(compiled: CompiledGrammar, set_id: int) -> Around | None:
        spellings = compiled.spellings
        text = b"" if compiled.counts_tokens or token_id >= len(spellings) else spellings[token_id]
        if not text:
            return None
        known = completions_of(compiled)
        before, after = _rest_at(known, set_id), _rest_at(known, known.sets.goto_all(set_id, text))
        if not with_closing or text[:1] != b" " or before is None or before != after:
            return Around(before, after)
        if before.tokens is None or not _is_by_set(compiled, set_id):
            return Around(before, after)
        return Around(before, after, known.closing_tokens(set_id))

    return matcher.ask(found)


def _rest(compiled: CompiledGrammar, set_id: int, after: bytes) -> Rest | None:
    known = completions_of(compiled)
    return _rest_at(known, known.sets.goto_all(set_id, after) if after else set_id)


def _rest_at(known: ShortestCompletions, set_id: int) -> Rest | None:
    """Return the rest of an item set; None for set 0, which no text reaches, and where none was found."""
    text = known.completion(set_id) if set_id else None
    return None if text is None else Rest(text, known.tokens(text))


def tokens_by_rest(matcher: Matcher) -> TokenClasses | None:
    """Return the tokens that may come next, in classes by the length of the rest of the text after them.

    Args:
        matcher: the text, not ended; it stays as it is.

    Returns:
        The classes. They may hold more tokens than the mask allows: intersect with it. None where single tokens must be
        tried: where the grammar names tokens, counts them or captures texts, and where too many item sets are reached.

    Raises:
        LimitExceededError: a bound of `Limits` was passed.

    Example:
        >>> vocabulary = Vocabulary.from_bytes({0: b"[", 1: b"]", 2: b"[]"})
        >>> grammar = structgen.Grammar.kbnf('start ::= "[" start "]" | "[]";')
        >>> classes = tokens_by_rest(structgen.compile(grammar, vocabulary).matcher())
        >>> classes.lengths                           # after "[" the rest is "]", one byte and one token
        [(1, 1), (0, 0)]
    """
    return matcher.ask(_classes)


def tokens_towards(matcher: Matcher, rest: Rest) -> TokenSubset:
    """Return the tokens whose text ends with that of the first token of a rest, and the end tokens.

    After such a token the rest has one token less, where the mask allows it. So these are tokens to be tried where
    there are no classes: of the rest `": 0}` in a key of a map, they are `":`, `s":`, `-1":`, …

    Args:
        matcher: the text.
        rest: its shortest rest.

    Returns:
        The tokens. The mask may forbid some of them.
    """
    return matcher.ask(lambda compiled, set_id: completions_of(compiled).tokens_towards(rest.tokens))


def _is_by_set(compiled: CompiledGrammar, set_id: int) -> bool:
    """Return whether what a token does depends on its bytes and the item set alone, and few item sets are reached."""
    return not (compiled.has_marks or compiled.counts_tokens or compiled.sets.captures_at(set_id))


def _classes(compiled: CompiledGrammar, set_id: int) -> TokenClasses | None:
    known = completions_of(compiled)
    if set_id not in known.classes:
        if not _is_by_set(compiled, set_id):
            return None
        kept = sum(each.masks.nbytes for each in known.classes.values() if each is not None)
        if kept > MAX_KEPT_BYTES or len(known.classes) >= MAX_REACHED:
            known.classes.clear()
        known.classes[set_id] = _walked(compiled, known, set_id)
    return known.classes[set_id]


def _walked(compiled: CompiledGrammar, known: ShortestCompletions, set_id: int) -> TokenClasses | None:
    """Return the classes that a walk finds; None if it reaches too many item sets."""
    rows: dict[tuple[int, int], int] = {}
    reached: dict[int, int] = {}

    def class_of(after: int) -> int:
        row = reached.get(after)
        if row is None:
            text = known.completion(after)
            tokens = None if text is None else known.tokens(text)
            length = (FAR, FAR) if text is None or tokens is None else (len(text), len(tokens))
            row = reached[after] = rows.setdefault(length, len(rows))
        return -1 if row >= MAX_CLASSES or len(reached) > MAX_REACHED else row

    words = (compiled.vocabulary.size + 31) // 32
    masks = ClassWalk(known.sets, compiled.marked.trie, words, class_of).find(set_id, MAX_CLASSES)
    if masks is None:
        return None
    rest = _rest_at(known, set_id)
    before = None if rest is None or rest.tokens is None else len(rest.tokens)
    return TokenClasses(list(rows), masks[: len(rows)].copy(), list(compiled.vocabulary.eos_token_ids), before)
