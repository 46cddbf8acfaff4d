"""Proper tokenizations: only those sequences of tokens that the tokenizer itself makes of their text.

    reading, reading_normalizers, charsmaps, reading_splits   a tokenizer's parts, out of its configuration
    memberships, scripts   the kinds of characters, as the tokenizer sees them
    openings         what it does to the text behind an added token
    split_patterns   the regexes of pre-tokenizers
    pre_tokenizers, levels   where they cut, guessed from left to right; the same for bytes behind ByteLevel
    scanner          the same as an automaton over bytes, and what it says of each token
    merges           which neighbouring tokens stay as they are
    whole_words      pre-tokens that are one token against the merges
    added_tokens     tokens that are taken out before all else
    borders          which tokens stay as they are where nothing is cut
    cutting_texts    what cuts off each token
    completions      how characters are completed
    continuations    how texts go on in a grammar
    spelling, named_texts, spellable   which texts can be spelled; what is refused or taken out since it cannot
    special_texts, spelled_rules   the same of grammars whose rules make up a special token's text together
    symbols, rows, direct_merge   what merges begin with; masks as bits; the published rewriting, as a reference
    tokenization     what may follow the tokens so far
    proper_masks     the same under a grammar, without dead ends
    proper_matcher   one sequence

The method, with proofs and sources: docs/proper-tokenization.md.
"""

import structgen.engine  # noqa: F401  (finds the modules, compiled or not)
