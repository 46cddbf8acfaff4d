"""The fewest tokens that complete a text, by a search over item sets.

`shortest_completions` finds the fewest bytes. Another text with more bytes may have fewer tokens:

    choices            "zqx", "yes"
    fewest bytes       "zqx"          tokens: "   zq   x   "
    fewest tokens      "yes"          tokens: "yes"

A step of the search is a token: a walk over the trie finds all item sets that the tokens after one set lead to. The
sets are visited in the order of their number of tokens, each once, so the first one at which the text may end is the
nearest. A walk takes up to a millisecond or two. So the search is only for texts that would not fit into a budget by
their bytes.
"""

from __future__ import annotations

from collections.abc import Callable

from structgen.engine.earley.item_sets import ItemSetStore
from structgen.engine.matching.class_walk import ClassWalk
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.engine.vocabulary.bitmask import tokens_of

__all__ = ["fewest_tokens"]

MAX_WALKS = 1_000
MAX_SETS = 3_000  # item sets that are reached


def fewest_tokens(matcher: Matcher, below: int) -> list[int] | None:
    """Return the fewest tokens that complete a text, if they are fewer than a number.

    Args:
        matcher: the text, not ended; it stays as it is.
        below: the number.

    Returns:
        The tokens. None if there are none so few, and where they are not known: where the grammar names tokens or
        counts them, and where the search reaches too many item sets.

    Raises:
        LimitExceededError: a bound of `Limits` was passed.

    Example:
        >>> vocabulary = Vocabulary.from_bytes({0: b"z", 1: b"q", 2: b"yes", 3: b"</s>"}, eos_token_ids=[3])
        >>> matcher = structgen.compile(structgen.Grammar.choice(["zq", "yes"]), vocabulary).matcher()
        >>> fewest_tokens(matcher, below=2)
        [2]
    """
    return matcher.ask(lambda compiled, set_id: _found(compiled, set_id, below))


def _found(compiled: CompiledGrammar, start: int, below: int) -> list[int] | None:
    if compiled.has_marks or compiled.counts_tokens:
        return None
    before = {start: start}  # for each set that was reached: the set before the last token
    if compiled.sets.table.accepting[start]:
        return []
    last = [start]
    walks = 0
    for _ in range(below - 1):
        reached: list[int] = []
        for set_id in last:
            walks += 1
            if walks > MAX_WALKS or len(before) > MAX_SETS:
                return None
            for after in _reached(compiled, set_id):
                if after not in before:
                    before[after] = set_id
                    reached.append(after)
                if compiled.sets.table.accepting[after]:
                    return _tokens(compiled, before, start, after)
        last = reached
    return None


def _reached(compiled: CompiledGrammar, set_id: int) -> list[int]:
    """Return the item sets after one more token; some of them, if they are more than MAX_SETS."""
    found: dict[int, None] = {}

    def class_of(after: int) -> int:
        found[after] = None
        return 0 if len(found) <= MAX_SETS else -1

    _walk(compiled, class_of).find(set_id, 1)
    return list(found)


def _tokens(compiled: CompiledGrammar, before: dict[int, int], start: int, end: int) -> list[int]:
    """Return the tokens of the way from one set to another."""
    tokens: list[int] = []
    while end != start:
        tokens.append(_token_between(compiled, before[end], end))
        end = before[end]
    return tokens[::-1]


def _token_between(compiled: CompiledGrammar, set_id: int, wanted: int) -> int:
    """Return a token that leads from one set to another."""
    masks = _walk(compiled, lambda after: int(after == wanted)).find(set_id, 2)
    assert masks is not None  # no class of these ends the walk
    return int(tokens_of(masks[1])[0])


def _walk(compiled: CompiledGrammar, class_of: Callable[[int], int]) -> ClassWalk:
    sets: ItemSetStore = compiled.sets
    return ClassWalk(sets, compiled.marked.trie, (compiled.vocabulary.size + 31) // 32, class_of)
