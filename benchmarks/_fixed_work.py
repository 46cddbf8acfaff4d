"""Count the engine's work for a fixed set of schemas. The counts are the same on every machine.

    python benchmarks/_fixed_work.py            # prints each count that differs from `work_counters.json`
    python benchmarks/_fixed_work.py --update   # writes that file

The schemas and texts are those of `data/`. The vocabulary is made of their words, so it needs no package. Each schema
starts with empty tables. `tests/repository/test_work_counters.py` compares the counts, because times are noisy and
counts are not.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import string
import sys
import warnings
from pathlib import Path

from _mask_run import Case, read_cases
from _work import WORK, work_of

import structgen

__all__ = ["FILE", "Counts", "count", "differences"]

HERE = Path(__file__).resolve().parent
FILE = HERE / "work_counters.json"
UPDATE = "python benchmarks/_fixed_work.py --update"
WORSE = 0.05  # fraction by which a count may grow
WORSE_BY = 20  # or the number by which it may grow, if that is more
BETTER = 0.10  # fraction by which the sum of a count may fall before the file must be updated
Counts = dict[str, dict[str, int]]


def spellings(cases: list[Case]) -> list[bytes]:
    """Return tokens like a tokenizer's: bytes, pairs of letters, numbers, the words of the texts and their prefixes."""
    found = {bytes([byte]) for byte in range(256)}
    found |= {"".join(pair).encode() for pair in itertools.product(string.ascii_lowercase, repeat=2)}
    found |= {f"{number}".encode() for number in range(1000)}
    for text in (text for case in cases for text in case.texts):
        for word in re.findall(r" ?[^\W\d_]+|[\W_]{1,4}", text):
            found |= {word[:end].encode() for end in range(1, len(word) + 1)}
    return sorted(found)


def tokens_of(text: bytes, numbers: dict[bytes, int], longest: int) -> list[int]:
    """Split a text into tokens, with the longest token at each position."""
    tokens = []
    at = 0
    while at < len(text):
        end = next(end for end in range(min(len(text), at + longest), at, -1) if text[at:end] in numbers)
        tokens.append(numbers[text[at:end]])
        at = end
    return tokens


def count() -> Counts:
    """Return the counts of each schema."""
    cases = read_cases(HERE / "data")
    spelled = spellings(cases)
    numbers = {text: number for number, text in enumerate(spelled)}
    vocabulary = structgen.Vocabulary.from_bytes(dict(enumerate(spelled)), eos_token_ids=[len(spelled)])
    longest = max(map(len, spelled))
    counts = {}
    for case in cases:
        vocabulary.shared = None
        texts = [tokens_of(text.encode(), numbers, longest) for text in case.texts]
        counts[case.name] = work_on(case, texts, vocabulary)
    return counts


def work_on(case: Case, texts: list[list[int]], vocabulary: structgen.Vocabulary) -> dict[str, int]:
    """Count the work for one schema and its texts. Each text is read up to the first token that is not allowed."""
    structgen.clear_cache()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grammar = structgen.compile(case.schema, vocabulary).grammar
    mask = structgen.allocate_token_bitmask(1, vocabulary.size)
    for tokens in texts:
        matcher = grammar.matcher()
        for token in tokens:
            matcher.fill_next_token_bitmask(mask, 0)
            if not int(mask[0, token >> 5]) >> (token & 31) & 1:
                break
            matcher.accept_token(token)
    return dict(zip(WORK, work_of(grammar)))


def differences(held: Counts, now: Counts) -> list[str]:
    """Return a line for each count that got worse, or so much better that the file should be updated."""
    told = []
    for name in sorted(held.keys() | now.keys()):
        if name not in held or name not in now:
            told.append(f"{name}: only {'counted now' if name in now else 'in the file'}")
            continue
        for kind in WORK:
            before, after = held[name][kind], now[name][kind]
            if after > before + max(WORSE * before, WORSE_BY):
                told.append(f"{name}: {after:,} {kind}, {before:,} before")
    for kind in WORK:
        before, after = (sum(one[kind] for one in counts.values()) for counts in (held, now))
        if after < before * (1 - BETTER):
            told.append(f"all schemas: {after:,} {kind}, {before:,} before, which is better")
    return told


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--update", action="store_true", help="write the file")
    options = parser.parse_args()
    now = count()
    told = differences(json.loads(FILE.read_text()), now) if FILE.exists() else []
    for line in told:
        print(line)
    if options.update:
        lines = [f"{json.dumps(name)}: {json.dumps(counts)}" for name, counts in now.items()]
        FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        return 0
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())
