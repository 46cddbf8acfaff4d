"""Added tokens: texts that a tokenizer takes out of a text before all else, each as one token.

`tokenizers` finds them from left to right, the longest first (an Aho-Corasick automaton, leftmost-longest). So other
tokens never spell a text in which an added token occurs:

    added tokens `<tool>` and `<tool_call>`
    text "<tool"     is in the middle of both: `>` must not come next, spelled by another token
    text "<tool_"    is in the middle of `<tool_call>` only

Where an added token stands, no longer one with the same beginning may stand, nor one that began earlier.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from structgen.engine.vocabulary.token_trie import TokenTrie, child_of

__all__ = ["AddedTokens"]

ROOT = 0
ALL_BYTES = (1 << 256) - 1
MAX_KEPT = 256  # answers for places within added tokens
_NONE: frozenset[int] = frozenset()


class AddedTokens:
    """The texts of added tokens as a trie; its nodes are numbers.

    A set of nodes stands for the end of a text: for each added token whose first bytes the text ends with, the node of
    these bytes. The text is *in the middle of* these tokens: with the added token `<|end|>`, the text `a <|e` is.

    Args:
        contents: by id, the text of each added token, special or not.
        spelled: the ids of the added tokens that are decoded to this text. (Gemma's `▁▁` is decoded to two spaces, so
            it is not among them; and a text with `▁` in it cannot be spelled.)

    Attributes:
        spelled: the same.
        free_bytes: all bytes but the first ones of added tokens that are not in `spelled`, as bits of a number.
        ending_bytes: the first bytes of the added tokens in `spelled`, as bits of a number.
    """

    def __init__(self, contents: Mapping[int, bytes], spelled: set[int]) -> None:
        self.spelled = frozenset(spelled)
        self._contents = contents
        begun = {content[0] for token, content in contents.items() if token not in spelled}
        self.free_bytes = ALL_BYTES ^ sum(1 << byte for byte in begun)
        self.ending_bytes = sum(1 << byte for byte in {contents[token][0] for token in self.spelled})
        self._children: list[dict[int, int]] = [{}]
        self._is_end = [False]
        self._end_of: dict[int, int] = {}
        self._by_first_byte: dict[int, list[int]] = {}
        self._leaving: dict[frozenset[int], int] = {}
        self._continued: dict[frozenset[int], tuple[TokenTrie, list[int], list[int]]] = {}
        for token, content in contents.items():
            node = ROOT
            for byte in content:
                node = self._children[node].setdefault(byte, len(self._children))
                if node == len(self._children):
                    self._children.append({})
                    self._is_end.append(False)
            self._is_end[node] = True
            self._end_of[token] = node
            self._by_first_byte.setdefault(content[0], []).append(token)
        first_bytes = b"".join(bytes([byte]) for byte in self._children[ROOT])
        self._may_begin = re.compile(b"[" + re.escape(first_bytes) + b"]") if first_bytes else None

    def after(self, nodes: frozenset[int], text: bytes) -> frozenset[int] | None:
        """Return the nodes at the end of a text after some more bytes, which no added token spells.

        Args:
            nodes: the nodes before these bytes.
            text: the bytes.

        Returns:
            The nodes; None if the bytes complete an added token.
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
        """Return the bytes after which a text is in the middle of no added token, as bits of a number."""
        known = self._leaving.get(nodes)
        if known is None:
            continuing = {byte for node in (*nodes, ROOT) for byte in self._children[node]}
            known = self._leaving[nodes] = ALL_BYTES ^ sum(1 << byte for byte in continuing)
        return known

    def begun_by(self, texts: Iterable[bytes]) -> list[frozenset[int] | None]:
        """Return for each text the nodes at its end; None if an added token occurs in it. See `after`."""
        if self._may_begin is None:
            return [_NONE for _ in texts]
        may_begin = self._may_begin.search
        return [_NONE if may_begin(text) is None else self.after(_NONE, text) for text in texts]

    def after_added(self, nodes: frozenset[int], token: int) -> frozenset[int] | None:
        """Return the nodes after an added token; None if its text completes one that began before it.

        Args:
            nodes: the nodes before it.
            token: its id.
        """
        for byte in self._contents[token]:
            after = self._step(nodes, byte)
            if after is None:
                return None
            nodes = after
        end = self._end_of[token]
        return nodes | {end} if self._children[end] else nodes

    def continuing(self, nodes: frozenset[int]) -> list[int]:
        """Return the added tokens whose first byte continues one that a text is in the middle of.

        For all other added tokens, `after_added` does not depend on `nodes`.
        """
        found: list[int] = []
        for byte in {byte for node in nodes for byte in self._children[node]}:
            found += self._by_first_byte.get(byte, [])
        return found

    def _step(self, nodes: frozenset[int] | set[int], byte: int) -> frozenset[int] | None:
        after = {self._children[node][byte] for node in nodes if byte in self._children[node]}
        return None if any(self._is_end[node] for node in after) else frozenset(after)

    def completing(self, nodes: frozenset[int], trie: TokenTrie) -> list[int]:
        """Return the tokens that would complete one of the added tokens that a text is in the middle of."""
        return self._continued_from(nodes, trie)[0]

    def within(self, nodes: frozenset[int], trie: TokenTrie) -> list[int]:
        """Return the tokens that continue one of these added tokens without completing it."""
        return self._continued_from(nodes, trie)[1]

    def _continued_from(self, nodes: frozenset[int], trie: TokenTrie) -> tuple[list[int], list[int]]:
        """Return the results of `completing` and `within`. They are kept, for the trie of the last call."""
        known = self._continued.get(nodes)
        if known is None or known[0] is not trie:
            if len(self._continued) >= MAX_KEPT:
                self._continued.clear()
            completing, within = list[int](), list[int]()
            for child, below in self._along(nodes, trie):
                if self._is_end[child]:
                    completing += trie.tokens[trie.token_start[below] : trie.token_start[trie.node_end[below]]]
                else:
                    within += trie.tokens[trie.token_start[below] : trie.token_start[below + 1]]
            known = self._continued[nodes] = (trie, completing, within)
        return known[1], known[2]

    def _along(self, nodes: frozenset[int], trie: TokenTrie) -> Iterator[tuple[int, int]]:
        """Yield the nodes after some, up to the ends of added tokens, each with the trie's node of the same text."""
        stack = [(node, -1) for node in nodes]
        while stack:
            node, trie_node = stack.pop()
            for byte, child in self._children[node].items():
                below = child_of(trie, trie_node, byte)
                if below >= 0:
                    yield child, below
                    if not self._is_end[child]:
                        stack.append((child, below))
