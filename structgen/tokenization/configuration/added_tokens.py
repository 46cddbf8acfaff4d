"""Added tokens: texts that a tokenizer takes out before all else, each as one token.

They are found from left to right, the longest first (the Aho-Corasick automaton of `tokenizers`, leftmost-longest). So
a text in which one of them occurs is never spelled by other tokens; and where one of them stands, no longer one with
the same beginning may stand there, nor one that began before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from structgen.engine.vocabulary.token_trie import TokenTrie

__all__ = ["AddedTokens"]

ROOT = 0
ALL_BYTES = (1 << 256) - 1
_NONE: frozenset[int] = frozenset()


class AddedTokens:
    """The texts of added tokens as a trie; its nodes are numbers.

    Args:
        contents: by id, the text of each added token, special or not.
        spelled: those that stand for this text. (Gemma's `▁▁` stands for two spaces: a text of spaces is no added
            token, and one with `▁` in it cannot be spelled.)

    Attributes:
        spelled: the same.
        free_bytes: those with which none of the others begins, as bits of a number.
    """

    def __init__(self, contents: Mapping[int, bytes], spelled: set[int]) -> None:
        self.spelled = frozenset(spelled)
        self._contents = contents
        begun = {content[0] for token, content in contents.items() if token not in spelled}
        self.free_bytes = ALL_BYTES ^ sum(1 << byte for byte in begun)
        self._children: list[dict[int, int]] = [{}]
        self._is_end = [False]
        self._end_of: dict[int, int] = {}
        self._leaving: dict[frozenset[int], int] = {}
        for token, content in contents.items():
            node = ROOT
            for byte in content:
                node = self._children[node].setdefault(byte, len(self._children))
                if node == len(self._children):
                    self._children.append({})
                    self._is_end.append(False)
            self._is_end[node] = True
            self._end_of[token] = node
        first_bytes = b"".join(bytes([byte]) for byte in self._children[ROOT])
        self._may_begin = re.compile(b"[" + re.escape(first_bytes) + b"]") if first_bytes else None

    def behind(self, nodes: frozenset[int], text: bytes) -> frozenset[int] | None:
        """Which added tokens the text is in the middle of, behind some more bytes of it that other tokens spell.

        Args:
            nodes: which ones it was in the middle of.
            text: the bytes.

        Returns:
            None if one of them is completed.
        """
        if not nodes and (self._may_begin is None or self._may_begin.search(text) is None):
            return nodes
        for byte in text:
            after = self._step({*nodes, ROOT}, byte)
            if after is None:
                return None
            nodes = after
        return nodes

    def leaving(self, nodes: frozenset[int]) -> int:
        """The bytes behind which the text is in the middle of none, as bits of a number."""
        known = self._leaving.get(nodes)
        if known is None:
            going_on = {byte for node in (*nodes, ROOT) for byte in self._children[node]}
            known = self._leaving[nodes] = ALL_BYTES ^ sum(1 << byte for byte in going_on)
        return known

    def begun_by(self, texts: Iterable[bytes]) -> list[frozenset[int] | None]:
        """Of each text by itself, which added tokens it is in the middle of; None where one occurs in it."""
        if self._may_begin is None:
            return [_NONE for _ in texts]
        may_begin = self._may_begin.search
        return [_NONE if may_begin(text) is None else self.behind(_NONE, text) for text in texts]

    def behind_added(self, nodes: frozenset[int], token: int) -> frozenset[int] | None:
        """The same behind an added token, in which no other one begins."""
        for byte in self._contents[token]:
            after = self._step(nodes, byte)
            if after is None:
                return None
            nodes = after
        end = self._end_of[token]
        return nodes | {end} if self._children[end] else nodes

    def _step(self, nodes: frozenset[int] | set[int], byte: int) -> frozenset[int] | None:
        after = {self._children[node][byte] for node in nodes if byte in self._children[node]}
        return None if any(self._is_end[node] for node in after) else frozenset(after)

    def completing(self, nodes: frozenset[int], trie: TokenTrie) -> list[int]:
        """The tokens that complete one of the added tokens that a text is in the middle of."""
        found: list[int] = []
        for child, below in self._along(nodes, trie):
            if self._is_end[child]:
                found += trie.tokens[trie.token_start[below] : trie.token_start[trie.node_end[below]]]
        return found

    def within(self, nodes: frozenset[int], trie: TokenTrie) -> list[int]:
        """The tokens that only go on with them."""
        found: list[int] = []
        for child, below in self._along(nodes, trie):
            if not self._is_end[child]:
                found += trie.tokens[trie.token_start[below] : trie.token_start[below + 1]]
        return found

    def _along(self, nodes: frozenset[int], trie: TokenTrie) -> Iterator[tuple[int, int]]:
        """The nodes that go on with them up to their ends, and what the vocabulary has there."""
        stack = [(node, -1) for node in nodes]
        while stack:
            node, place = stack.pop()
            for byte, child in self._children[node].items():
                below = _child(trie, place, byte)
                if below >= 0:
                    yield child, below
                    if not self._is_end[child]:
                        stack.append((child, below))


def _child(trie: TokenTrie, node: int, byte: int) -> int:
    """The node that a byte leads to; from -1, the root. -1 if there is none."""
    if node < 0:
        return trie.first_node[byte]
    child, end = node + 1, trie.node_end[node]
    while child < end and trie.node_byte[child] != byte:
        child = trie.node_end[child]
    return child if child < end else -1
