"""Proper tokenizations: only sequences of tokens that the tokenizer itself makes of their text.

    configuration/   reads a tokenizer's parts: added tokens, normalizers, pre-tokenizers, the model's merges
    pre_tokens/      where the pre-tokenizer cuts: its regexes, guesses from left to right, an automaton over bytes
    merges/          which tokens may be neighbours within a pre-token
    unspellable/     texts that no tokens spell: refused, or removed from the grammar
    matching/        the tokens that may follow, the masks under a grammar, the matcher of one sequence
    direct_merge     the published automaton over tokens, of regular grammars: a second opinion on the masks

The method, with proofs and sources: docs/proper-tokenization.md.
"""

import structgen.engine  # noqa: F401  (finds the modules, compiled or not)
