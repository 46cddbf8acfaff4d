"""Proper tokenizations: only those sequences of tokens that the tokenizer itself makes of their text.

    reading          a tokenizer's parts, out of its configuration
    split_patterns   the regexes of pre-tokenizers
    pre_tokenizers   where they cut, guessed from left to right
    scanner          the same as an automaton over bytes, and what it says of each token
    merges           which neighbouring tokens stay as they are
    whole_words      pre-tokens that are one token against the merges
    added_tokens     tokens that are taken out before all else
    borders          which tokens stay as they are where nothing is cut
    cutting_texts    what cuts off each token
    completions      how characters are completed
    continuations    how texts go on in a grammar
    tokenization     what may follow the tokens so far
    proper_masks     the same under a grammar, without dead ends
    proper_matcher   one sequence

The method, with proofs and sources: docs/proper-tokenization.md.
"""

import structgen.engine  # noqa: F401  (finds the modules, compiled or not)
