"""From an item set to the tokens that may come next: item set × trie of the vocabulary → bit mask.

Read `set_masks` first. `terminal_masks` has the tables that all grammars of a vocabulary share; `trie_walk` and
`token_walks` fill them.
"""
