"""What would a mask store over a language's terminals hold, compared with the dotted rules that masks use?

    python benchmarks/mask_stores.py [--tokenizer FOLDER] [--languages NAME ...]

The entries are those of `structgen grammar stats`; see docs/grammar-analyses.md. The places are the dotted rules that
`structgen/engine/masks/dotted_rule_masks.py` has used after all programs of the tests were followed with one compiled
grammar, with a mask before each token. The number in parentheses is the same after the first half of the programs.
"""

from __future__ import annotations

import argparse
import time

from _peers import load_tokenizer
from _report import heading, table
from languages import programs

import structgen
from structgen.diagnostics.grammar_statistics.statistics import short, statistics
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.kbnf.reading.kbnf import parse
from structgen.languages import language_names, language_source


def places(language: str, tokenizer: object, vocabulary: Vocabulary) -> tuple[int, str]:
    """Return the number of masks along all programs, and the number of dotted rules that they use."""
    constraint = structgen.compile(structgen.Grammar.language(language), vocabulary)
    found = constraint.grammar.masks.places
    mask = structgen.allocate_token_bitmask(1, vocabulary.size)
    counts = []
    masks = 0
    for _, ids in programs(language, tokenizer, 1_000_000):
        matcher = constraint.matcher()
        for token_id in ids:
            matcher.fill_next_token_bitmask(mask)
            matcher.accept_token(token_id)
        masks += len(ids)
        counts.append(len(found._rests) + len(found._nonterminals))
    return masks, f"{counts[-1]:,} ({counts[(len(counts) - 1) // 2]:,})"


def main() -> None:
    """Print the table; see the module's docstring."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--tokenizer", default="", help="a folder with a tokenizer; by default that of SmolLM2")
    options.add_argument("--languages", nargs="+", default=list(language_names()))
    chosen = options.parse_args()
    tokenizer = load_tokenizer(chosen.tokenizer)
    vocabulary = Vocabulary.from_huggingface(tokenizer)
    rows = []
    for language in chosen.languages:
        began = time.process_time()
        found = statistics(parse(language_source(language)), vocabulary)
        seconds = time.process_time() - began
        counts = [found.legal, found.conditional, found.joint]
        sizes = [language, found.terminals, found.states, short(found.entries)]
        rows.append([*sizes, *counts, seconds, *places(language, tokenizer, vocabulary)])
    columns = ["language", "terminals", "states", "entries", "without never legal", "without always legal", "joined"]
    print(heading())
    print()
    print(table([*columns, "CPU s", "masks of programs", "places"], rows))


if __name__ == "__main__":
    main()
