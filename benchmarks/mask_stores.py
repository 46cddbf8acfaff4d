"""What would a mask store over a language's terminals hold, compared with the dotted rules that masks use?

    python benchmarks/mask_stores.py [--tokenizer FOLDER] [--languages NAME ...] [--no-lark] [--tokens N]

The entries are those of `structgen grammar stats`; see docs/grammar-analyses.md. The places are the dotted rules that
`structgen/engine/masks/dotted_rule_masks.py` has used after all programs of the tests were followed with one compiled
grammar, with a mask before each token. The number in parentheses is the same after the first half of the programs.

The second part is Lark's own grammar of Python with its lexer: the mask store before and after each step of the
streamlining, and whether the masks of all steps are equal along the Python programs of the tests, up to N tokens of
each (40). A program that the grammar does not accept is compared up to there.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import lark
from _peers import load_tokenizer
from _report import heading, table
from languages import programs

import structgen
from structgen.diagnostics.grammar_statistics.lexed_contexts import LexedTables, lexed_tables
from structgen.diagnostics.grammar_statistics.lexers import Lexer, lexer_of_lark
from structgen.diagnostics.grammar_statistics.mask_store import STEPS, mask_store
from structgen.diagnostics.grammar_statistics.statistics import MIN_ITEM_SETS, short, statistics
from structgen.diagnostics.grammar_statistics.stored_masks import StoredMasks
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.kbnf.reading.kbnf import parse
from structgen.kbnf.reading.lark import parse_lexed
from structgen.languages import language_names, language_source
from structgen.limits import Limits


def places(language: str, tokenizer: object, vocabulary: Vocabulary) -> tuple[int, str]:
    """Return the number of masks along all programs, and the number of dotted rules that they use."""
    constraint = structgen.compile(structgen.Grammar.language(language), vocabulary)
    found = constraint.grammar.masks.dotted_rules
    mask = structgen.allocate_token_bitmask(1, vocabulary.size)
    counts = []
    masks = 0
    for _, ids in programs(language, tokenizer, 1_000_000):
        matcher = constraint.matcher()
        for token_id in ids:
            matcher.fill_next_token_bitmask(mask)
            matcher.accept_token(token_id)
        masks += len(ids)
        counts.append(found.kept)
    return masks, f"{counts[-1]:,} ({counts[(len(counts) - 1) // 2]:,})"


def lark_grammar() -> tuple[Lexer, LexedTables, Limits]:
    """Return Lark's grammar of Python: its lexer, and its rules over the terminals of the lexer."""
    source = (Path(lark.__file__).parent / "grammars" / "python.lark").read_text(encoding="utf-8")
    grammar = parse_lexed(source, start="file_input")
    lexer = lexer_of_lark(grammar)
    limits = Limits(item_sets=MIN_ITEM_SETS)
    return lexer, lexed_tables(grammar, lexer, limits), limits


def compared(masks: StoredMasks, tokenizer: object, tokens: int) -> list[list[object]]:
    """Return a row for each Python program: its masks, how many are equal after each step, and entries asked."""
    rows: list[list[object]] = []
    for name, ids in programs("python", tokenizer, tokens):
        found = masks.compare(ids)
        rows.append([name, found.masks, *found.equal, *[asked / found.masks for asked in found.asked]])
    return rows


def main() -> None:
    """Print the tables; see the module's docstring."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--tokenizer", default="", help="a folder with a tokenizer; by default that of SmolLM2")
    options.add_argument("--languages", nargs="*", default=list(language_names()))
    options.add_argument("--no-lark", dest="lark", action="store_false", help="leave out Lark's grammar of Python")
    options.add_argument("--tokens", type=int, default=40, help="tokens of each program whose masks are compared")
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
    if not chosen.lark:
        return
    lexer, lexed, limits = lark_grammar()
    began = time.process_time()
    store = mask_store(lexer, lexed, vocabulary.spellings, limits)
    print(f"\nLark's grammar of Python, in {time.process_time() - began:.1f} s of CPU:\n\n```text")
    print("\n".join(store.lines()))
    print("```\n\nMasks along programs that are equal to those of the whole store, and entries asked for each mask:\n")
    masks = StoredMasks(lexer, lexed, dict(enumerate(vocabulary.spellings)), limits)
    columns = ["program", "masks", *[f"equal, {step}" for step in STEPS[1:]], *[f"asked, {step}" for step in STEPS]]
    print(table(columns, compared(masks, tokenizer, chosen.tokens)))


if __name__ == "__main__":
    main()
