"""How many tokens and passes do masks cost that allow any split of a text into tokens?

    python benchmarks/split_tokens.py [--tasks 10] [--seeds 4]

"Masks that allow any split of a text slow decoding down" (V. Tran-Thien, 2024): a model that may write a word in more
and shorter tokens than its tokenizer does needs more passes for the same text. SmolLM2 answers the tasks of
`yaml_tokens.py` with JSON, and with the free text of a regex, sampled at temperature 1. For each text that it wrote,
the tokenizer's own tokens of that text are counted too. With `tokenization="proper"` the two numbers are equal; the
benchmark fails if they are not. Passes are those of the model; forced text needs none.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

from _report import heading, table
from yaml_tokens import tasks

os.environ.setdefault("HF_HUB_OFFLINE", "1")
MAX_NEW_TOKENS = 128
SENTENCE = r"[A-Z][a-z]+( [A-Za-z]+){4,12}\."


def measure(model: Any, asked: list[tuple[str, Any]], tokenization: str, seeds: int) -> tuple[int, int, int, int, int]:
    """Return the texts, those split otherwise, their tokens, the tokenizer's tokens of them, and passes."""
    import structgen

    texts = others = written = own = passes = 0
    prompts, schemas = zip(*asked, strict=True)
    options: dict[str, Any] = {"temperature": 1.0, "tokenization": tokenization, "max_new_tokens": MAX_NEW_TOKENS}
    options["limits"] = structgen.Limits(mask_seconds=60)  # not a matter of this benchmark
    for seed in range(seeds):
        found = structgen.batch(model, prompts, list(schemas), results=True, seed=1000 * seed, **options)
        for result in found:
            tokens, usual = result.usage.completion_tokens, len(model.encode_text(result.text))
            texts, others = texts + 1, others + (tokens != usual)
            written, own, passes = written + tokens, own + usual, passes + result.usage.model_calls
    if tokenization == "proper" and others:
        raise AssertionError(f"{others} proper texts are tokenized otherwise")
    return texts, others, written, own, passes


def main() -> None:
    """Run the benchmark, and print its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=10, help="number of tasks, at most 10 (10)")
    parser.add_argument("--seeds", type=int, default=4, help="answers to each task (4)")
    options = parser.parse_args()
    import structgen

    model = structgen.load("smollm2")
    asked = tasks(options.tasks)
    kinds = {
        "JSON": [
            (f'Extract the {task.kind.__name__.lower()} as JSON. Text: "{task.text}"', task.kind) for task in asked
        ],
        "a sentence": [
            (f"Write one short sentence about this: {task.text}", structgen.Grammar.regex(SENTENCE)) for task in asked
        ],
    }
    rows = []
    for kind, given in kinds.items():
        for tokenization in ("any", "proper"):
            texts, others, written, own, passes = measure(model, given, tokenization, options.seeds)
            rows.append((kind, tokenization, texts, others, written, own, f"{written / own - 1:.1%}", passes))
    print(heading(), end="\n\n")
    columns = ["answers", "tokenization", "texts", "split otherwise", "tokens", "the tokenizer's", "more", "passes"]
    print(table(columns, rows, left=2))


if __name__ == "__main__":
    main()
