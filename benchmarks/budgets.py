"""What does a budget of tokens cost near its end?

    python benchmarks/budgets.py [--tokenizer FOLDER] [--runs 20]

The model of this benchmark has logits of chance, and likes words and opening brackets: it never closes anything by
itself. So each answer is closed by its budget, and the tokens that it likes are refused. *Near the end* is the last
fifth of the budget, and every place where a token was refused. The times are those that the budget adds to one token:
the rest is looked up, the token is tried, and where it is refused, the mask is narrowed and sampled once more. The
*first* runs, one for each budget, fill the tables of a schema; the *others* find them filled. Sampling is greedy. The
clock is that of the thread, so other work on the machine adds little.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from _peers import load_tokenizer
from _report import heading, percentile, table

import structgen
from structgen.generation.decoder import Decoder

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "job": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "job", "age"],
    "additionalProperties": False,
}
SCHEMAS: dict[str, Any] = {
    "a string": {"type": "string"},
    "a person": PERSON,
    "a list of strings": {"type": "array", "items": {"type": "string"}},
    "a list of persons": {"type": "array", "items": PERSON},
    "a tree": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#"}}},
        "required": ["name", "children"],
        "additionalProperties": False,
    },
    "a map": {"type": "object", "additionalProperties": {"type": "integer"}},
}
BUDGETS = (40, 80, 160)


class Timer:
    """Times of the choices of tokens, in µs."""

    def __init__(self) -> None:
        self.near: list[float] = []
        self.far: list[float] = []
        self.refused = 0

    def attach(self) -> None:
        """Measure all decoders from now on."""
        within = Decoder._within_budget

        def timed(decoder: Decoder, budget: Any, token_id: int, logits: Any, row: int) -> int:
            begun = time.thread_time()
            found = within(decoder, budget, token_id, logits, row)
            took = (time.thread_time() - begun) * 1e6
            left = decoder._max_new_tokens - len(decoder.token_ids)
            is_near = found != token_id or left * 5 <= decoder._max_new_tokens
            (self.near if is_near else self.far).append(took)
            self.refused += found != token_id
            return found

        Decoder._within_budget = timed  # type: ignore[method-assign]


def rambling(tokenizer: Any, seed: int) -> Any:
    """Return a model with logits of chance that likes letters and opening brackets, and ends nothing by itself."""
    vocabulary = structgen.Vocabulary.from_huggingface(tokenizer)
    rng = np.random.default_rng(seed)
    liked = np.zeros(vocabulary.size, np.float32)
    for token in range(vocabulary.size):
        text = vocabulary.token_bytes(token) or b""
        liked[token] = 20.0 if text.strip(b" [{,0123456789").isalpha() else 10.0 if b"]" not in text else 0.0
    rows = [(rng.normal(size=vocabulary.size) * 3).astype(np.float32) + liked for _ in range(17)]
    return structgen.from_logits(lambda ids: rows[len(ids) % len(rows)], tokenizer)


def cost(tokenizer: Any, runs: int) -> str:
    """Return the table of times."""
    model = rambling(tokenizer, 1)
    timer = Timer()
    timer.attach()
    rows = []
    for name, schema in SCHEMAS.items():
        for is_first in (True, False):
            timer.near, timer.far, timer.refused = [], [], 0
            generator = structgen.Generator(model, schema)
            for run in range(len(BUDGETS) if is_first else runs):
                result = generator.run("x", max_new_tokens=BUDGETS[run % len(BUDGETS)])
                assert result.finish_reason == "length"
            near, far = sorted(timer.near), sorted(timer.far) or [float("nan")]
            share = [percentile(near, 50), percentile(near, 99), near[-1]]
            rows.append(
                [name, "first" if is_first else "others", len(near), timer.refused, *share, percentile(far, 50)]
            )
    columns = ["schema", "run", "tokens near the end", "refused", "p50, µs", "p99", "max", "far from the end, p50"]
    return table(columns, rows, left=2)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--tokenizer", default="", help="the folder of a tokenizer; SmolLM2's by default")
    parser.add_argument("--runs", type=int, default=20, help="runs of each schema with filled tables")
    settings = parser.parse_args()
    tokenizer = load_tokenizer(settings.tokenizer)
    name = Path(settings.tokenizer).name if settings.tokenizer else "SmolLM2"
    print(heading(), end="\n\n")
    print(f"Tokenizer {name}, {len(tokenizer):,} tokens; budgets of {', '.join(map(str, BUDGETS))} tokens", end="\n\n")
    print(cost(tokenizer, settings.runs))


if __name__ == "__main__":
    main()
