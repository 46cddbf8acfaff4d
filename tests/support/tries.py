"""Tries of pairs."""

from structgen.engine.vocabulary.token_trie import TokenTrie


def trie_of(entries: list[tuple[bytes, int]]) -> TokenTrie:
    """The trie of sorted pairs of bytes and a token id."""
    return TokenTrie([spelling for spelling, _ in entries], [token_id for _, token_id in entries])
