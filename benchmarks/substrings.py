"""What does a field that quotes a source text cost, by the length of the source?

    python benchmarks/substrings.py [--tokenizer FOLDER] [--rounds N]

The source texts are parts of this package's own code. The numbers are medians in milliseconds of processor time. Each
source is compiled once, like a source that comes with a request. The first mask in a piece must consider all tokens
that occur anywhere in the source. A piece has about 200 characters.

llguidance has no such strings in JSON. Its `substring_chars` and `substring_words` are compared with
`Grammar.substring`. A dash means that llguidance refuses the source as larger than its limits.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _peers import load_tokenizer
from _report import heading, table

import structgen
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.schema.reading.substrings import units_of

LENGTHS = (1_000, 10_000, 100_000)
PIECE = 200
Times = tuple[float, float, float, float]


def pieces_of(text: str, chance: random.Random) -> str:
    """Return about 200 characters of a text, cut between words."""
    units = units_of(text, "word")
    start = chance.randrange(len(units) // 2)
    while units[start].isspace():
        start += 1
    end, size = start, 0
    while size < PIECE:
        size += len(units[end])
        end += 1
    return "".join(units[start:end]).rstrip()


def milliseconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the milliseconds of a call, and its result."""
    began = time.process_time()
    found = call()
    return 1000 * (time.process_time() - began), found


def ours(given: Any, vocabulary: Vocabulary, ids: list[int]) -> Times:
    """Measure structgen: the compile, the largest mask, the median mask, and the suffix automaton in MB."""
    took, constraint = milliseconds(lambda: structgen.compile(given, vocabulary, whitespace="single"))
    matcher = constraint.matcher()
    mask = structgen.allocate_token_bitmask(1, vocabulary.size)
    masks = []
    for token in ids:
        masks.append(milliseconds(lambda: matcher.fill_next_token_bitmask(mask))[0])
        matcher.accept_token(token)
    if not matcher.is_accepting:
        raise ValueError("the piece is not whole")
    return took, max(masks), statistics.median(masks), constraint.grammar.shared.automata.suffix_bytes() / 2**20


def theirs(text: str, unit: str, tokenizer: Any, ids: list[int]) -> Times:
    """Measure the same for llguidance's substrings."""
    import llguidance
    import llguidance.numpy

    body = json.dumps({f"substring_{unit}s": text})
    lark = f"start: piece\npiece: %regex {body}"
    took, matcher = milliseconds(
        lambda: llguidance.LLMatcher(tokenizer, json.dumps({"grammars": [{"lark_grammar": lark}]}))
    )
    mask = llguidance.numpy.allocate_token_bitmask(1, tokenizer.vocab_size)
    masks = []
    for token in ids:
        masks.append(milliseconds(lambda: llguidance.numpy.fill_next_token_bitmask(matcher, mask, 0))[0])
        if not matcher.consume_token(token):
            return (float("nan"),) * 4  # its default limits refuse longer texts
    return took, max(masks), statistics.median(masks), float("nan")


def main() -> None:
    """Print the table; see the module's docstring."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--tokenizer", default="", help="a folder with a tokenizer; by default that of SmolLM2")
    options.add_argument("--rounds", type=int, default=5, help="sources of each length (5)")
    chosen = options.parse_args()
    tokenizer = load_tokenizer(chosen.tokenizer)
    files = sorted(Path(structgen.__file__).parent.rglob("*.py"))
    sources = "".join(file.read_text() for file in files)
    try:
        import llguidance.hf

        peer: Any = llguidance.hf.from_tokenizer(tokenizer)
    except ImportError:
        peer = None
    rows = []
    for unit in ("character", "word"):
        for length in LENGTHS:
            found: dict[str, list[Times]] = {}
            chance = random.Random(length)
            for _ in range(chosen.rounds):
                at = chance.randrange(len(sources) - length)
                text = sources[at : at + length]
                piece = pieces_of(text, chance)
                keyword = {"text": text, "unit": unit}
                schema = {"type": "object", "properties": {"quote": {"type": "string", "x-substring-of": keyword}}}
                schema |= {"required": ["quote"], "additionalProperties": False}
                grammar = structgen.Grammar.substring(text, unit=unit)
                for name, given, written in (
                    ("a field", schema, json.dumps({"quote": piece}, ensure_ascii=False)),
                    ("`Grammar.substring`", grammar, piece),
                ):
                    vocabulary = Vocabulary.from_huggingface(tokenizer)
                    structgen.clear_cache()
                    vocabulary.shared = None
                    ids = tokenizer.encode(written, add_special_tokens=False)
                    found.setdefault(name, []).append(ours(given, vocabulary, ids))
                if peer is not None:
                    found.setdefault("llguidance", []).append(
                        theirs(text, unit if unit == "word" else "char", peer, tokenizer.encode(piece))
                    )
            for name, times in found.items():
                rows.append([unit, length, name, *map(statistics.median, zip(*times))])
    print(heading())
    print()
    columns = ["unit", "length", "", "compile, ms", "largest mask, ms", "median mask, ms", "automaton, MB"]
    print(table(columns, rows, left=1))


if __name__ == "__main__":
    main()
