"""Does a long-running process stay bounded? Prints the memory of a process that serves schema after schema.

    python benchmarks/leaks.py [--matchers 20000] [--step 1000] [--vocabulary bytes] [--write]

Each matcher has a schema of its own, of a kind that is hard to share or to cache: arrays of unique items with their own
pattern, objects with keys of their own, excluded values, patterns with look-aheads. It writes a random text of up to 60
tokens: a mask before each token. No schema comes twice. The table shows the resident memory, the estimate of the cache
(`Limits.cache_bytes` bounds it), and the sizes of the tables that all grammars share.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path
from typing import Any

import numpy as np
from _attack_worker import byte_vocabulary, smollm2_vocabulary

import structgen
from structgen.compilation.compiler import _cache
from structgen.engine.matching.compiled import SharedState
from structgen.engine.memory import resident_bytes

PAGE = Path(__file__).resolve().parent.parent / "docs" / "limits.md"
BEGIN = "<!-- The table below is written by benchmarks/leaks.py. -->\n"
END = "<!-- The end of the table of benchmarks/leaks.py. -->\n"
MAX_TOKENS = 60
LIMITS = structgen.Limits(mask_seconds=60)  # the run must not end where another process takes the machine for a second
NAMES = ("matchers", "resident memory, MB", "estimate of the cache, MB", "grammars in the cache")
HEAD = f"| {' | '.join(NAMES)} |\n| ---: | ---: | ---: | ---: |"


def word(chance: random.Random) -> str:
    """Return a random word."""
    return "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randrange(2, 9)))


def strings(chance: random.Random) -> dict[str, Any]:
    """Return a schema of strings that no other matcher has."""
    low = chance.randrange(1, 9)
    kinds = (
        {"pattern": f"^{word(chance)}[a-z]{{{low},{low + chance.randrange(20)}}}$"},
        {"enum": [word(chance) for _ in range(chance.randrange(2, 40))]},
        {"minLength": low, "maxLength": low + chance.randrange(400), "pattern": word(chance)},
        {"pattern": f"^(?=.*{word(chance)})(?!.*{word(chance)})[a-z ]*$"},
        {"not": {"enum": [word(chance) for _ in range(chance.randrange(1, 9))]}},
    )
    return {"type": "string"} | chance.choice(kinds)


def schema(chance: random.Random) -> dict[str, Any]:
    """Return a schema that no other matcher has."""
    array = {"type": "array", "uniqueItems": True, "items": strings(chance), "minItems": chance.randrange(6)}
    if chance.random() < 0.6:
        return array
    names = [word(chance) for _ in range(chance.randrange(1, 8))]
    return {
        "type": "object",
        "properties": {name: array if chance.random() < 0.3 else strings(chance) for name in names},
        "required": names[: chance.randrange(len(names) + 1)],
        "additionalProperties": strings(chance) if chance.random() < 0.5 else False,
    }


def serve(chance: random.Random, vocabulary: structgen.Vocabulary, mask: Any) -> None:
    """Compile a schema and write a random text of it. Some schemas have no value: their error must free all, too."""
    try:
        matcher = structgen.compile(schema(chance), vocabulary, limits=LIMITS).matcher()
    except structgen.UnsatisfiableSchemaError:
        return
    for _ in range(MAX_TOKENS):
        matcher.fill_next_token_bitmask(mask)
        allowed = np.flatnonzero(np.unpackbits(mask[0].view(np.uint8), bitorder="little"))
        token = int(chance.choice(allowed))
        if token in vocabulary.eos_token_ids:
            break
        matcher.accept_token(token)


def main() -> None:
    """Serve the schemas; print the table, and write it into the page if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matchers", type=int, default=20_000)
    parser.add_argument("--step", type=int, default=1_000)
    parser.add_argument("--vocabulary", choices=("smollm2", "bytes"), default="smollm2")
    parser.add_argument("--write", action="store_true", help="write the table into docs/limits.md")
    options = parser.parse_args()
    vocabulary = byte_vocabulary() if options.vocabulary == "bytes" else smollm2_vocabulary()
    mask = structgen.allocate_token_bitmask(1, vocabulary.size)
    chance = random.Random(30)
    lines = [HEAD]
    began = time.monotonic()
    for number in range(options.matchers + 1):
        if number % options.step == 0:
            lines.append(
                f"| {number:,} | {resident_bytes(0) >> 20:,} | {_cache._total_bytes / 2**20:.1f} | {len(_cache):,} |"
            )
            shared = SharedState.of(vocabulary).tables(vocabulary, LIMITS)
            states, masks = shared.automata.count, shared.terminals.store.bytes_used
            print(lines[-1], f"{time.monotonic() - began:.0f} s, {states:,} states, {masks >> 20} MB", flush=True)
        serve(chance, vocabulary, mask)
    if options.write:
        text = PAGE.read_text()
        before, _, rest = text.partition(BEGIN)
        PAGE.write_text(before + BEGIN + "\n" + "\n".join(lines) + "\n\n" + END + rest.partition(END)[2])


if __name__ == "__main__":
    main()
