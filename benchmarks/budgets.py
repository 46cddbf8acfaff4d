"""What does a budget of tokens cost near its end, and what does it do to answers?

    python benchmarks/budgets.py [--tokenizer FOLDER] [--runs 20]
    python benchmarks/budgets.py --answers [--engine outlines]         # with SmolLM2, takes minutes

The model of this benchmark has logits of chance, and likes words and opening brackets: it never closes anything by
itself. So each answer is closed by its budget, and the tokens that it likes are refused. *Near the end* is the last
fifth of the budget, and every place where a token was refused. The times are those that the budget adds to one token:
the rest is looked up, the token is tried, and where it is refused, the mask is narrowed and sampled once more. The
*first* runs, one for each budget, fill the tables of a schema; the *others* find them filled. Sampling is greedy, so
all runs with the same budget write the same answer: the time of one token is the median over them. The clock is that of
the thread. So other work on the machine adds little. *Mask* is a part of the time: that of narrowing the mask where a
token was refused. The second table is of other loops, which get masks only: *mask* is a mask without a budget, the
others are what the budget adds to it.

With `--answers`, SmolLM2 answers the first 20 prompts of `end_to_end.py` and the 15 tasks of `_everyday_tasks.py`, with
three budgets, greedily, in batches. With `--engine outlines`, outlines answers them, one by one. An answer is
*incomplete* if its budget ended before it did. *Fields right* counts the fields whose right value is known, ignoring
case, of all answers; an incomplete answer has none.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from _everyday_tasks import TASKS
from _peers import load_tokenizer
from _report import heading, percentile, table
from end_to_end import ENGINES, extractions, read
from pydantic import BaseModel

import structgen
from structgen.compilation.budget import Budget, open_budget
from structgen.generation.decoder import Decoder

os.environ.setdefault("HF_HUB_OFFLINE", "1")
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


Times = dict[tuple[int, int], list[float]]  # by the budget and the number of tokens before, of all runs


class Timer:
    """Times of the choices of tokens, in µs."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget all times."""
        self.near: Times = {}
        self.far: Times = {}
        self.masks: Times = {}
        self.refused = 0
        self._narrowing = 0.0  # of the token under way

    def _attach_to_masks(self, name: str) -> None:
        """Measure a method of budgets that narrows masks."""
        narrow = getattr(Budget, name)

        def timed(*arguments: Any) -> Any:
            begun = time.thread_time()
            found = narrow(*arguments)
            self._narrowing += (time.thread_time() - begun) * 1e6
            return found

        setattr(Budget, name, timed)

    def attach(self) -> None:
        """Measure all decoders from now on."""
        self._attach_to_masks("narrow")
        self._attach_to_masks("narrow_towards")
        within = Decoder._within_budget

        def timed(decoder: Decoder, budget: Any, token_id: int, logits: Any, row: int) -> int:
            self._narrowing = 0.0
            begun = time.thread_time()
            found = within(decoder, budget, token_id, logits, row)
            took = (time.thread_time() - begun) * 1e6
            budgeted, spent = decoder._max_new_tokens, len(decoder.token_ids)
            is_near = found != token_id or (budgeted - spent) * 5 <= budgeted
            (self.near if is_near else self.far).setdefault((budgeted, spent), []).append(took)
            self.refused += found != token_id
            if self._narrowing:
                self.masks.setdefault((budgeted, spent), []).append(self._narrowing)
            return found

        Decoder._within_budget = timed  # type: ignore[method-assign]


def medians(times: Times) -> list[float]:
    """Return the median of each token's times, in ascending order."""
    return sorted(percentile(sorted(runs), 50) for runs in times.values())


def rambling_logits(vocabulary: structgen.Vocabulary, seed: int) -> list[Any]:
    """Return rows of logits of chance that like letters and opening brackets, and end nothing by themselves."""
    rng = np.random.default_rng(seed)
    liked = np.zeros(vocabulary.size, np.float32)
    for token in range(vocabulary.size):
        text = vocabulary.token_bytes(token) or b""
        liked[token] = 20.0 if text.strip(b" [{,0123456789").isalpha() else 10.0 if b"]" not in text else 0.0
    return [(rng.normal(size=vocabulary.size) * 3).astype(np.float32) + liked for _ in range(17)]


def rambling(tokenizer: Any, seed: int) -> Any:
    """Return a model with such logits."""
    rows = rambling_logits(structgen.Vocabulary.from_huggingface(tokenizer), seed)
    return structgen.from_logits(lambda ids: rows[len(ids) % len(rows)], tokenizer)


def cost(tokenizer: Any, runs: int) -> str:
    """Return the table of times."""
    model = rambling(tokenizer, 1)
    timer = Timer()
    timer.attach()
    rows = []
    for name, schema in SCHEMAS.items():
        for is_first in (True, False):
            timer.clear()
            generator = structgen.Generator(model, schema)
            for run in range(len(BUDGETS) if is_first else runs):
                result = generator.run("x", max_new_tokens=BUDGETS[run % len(BUDGETS)])
                assert result.finish_reason == "length"
            near, far = medians(timer.near), medians(timer.far) or [float("nan")]
            share = [percentile(near, 50), percentile(near, 99), near[-1], percentile(medians(timer.masks), 99)]
            count = sum(map(len, timer.near.values()))
            rows.append([name, "first" if is_first else "others", count, timer.refused, *share, percentile(far, 50)])
    columns = ["schema", "run", "tokens near the end", "refused", "p50, µs", "p99", "max", "mask, p99", "far, p50"]
    return table(columns, rows, left=2)


def loop_cost(tokenizer: Any, runs: int) -> str:
    """Return the table of times of loops that sample from masks themselves."""
    vocabulary = structgen.Vocabulary.from_huggingface(tokenizer)
    rows = rambling_logits(vocabulary, 1)
    found = []
    for name, schema in SCHEMAS.items():
        constraint = structgen.compile(schema, vocabulary, whitespace="single", numbers="plain")
        times: tuple[Times, Times, Times] = ({}, {}, {})  # of masks, of what far budgets add, and near ones
        for run in range(runs + len(BUDGETS)):
            limited_text(constraint, BUDGETS[run % len(BUDGETS)], rows, times if run >= len(BUDGETS) else ({}, {}, {}))
        masks, far, near = map(medians, times)
        found.append([name, *(percentile(each, share) for each in (masks, far, near) for share in (50, 99))])
    columns = ["schema", "mask, p50, µs", "p99", "far from the end, p50", "p99", "near the end, p50", "p99"]
    return table(columns, found, left=1)


def limited_text(constraint: Any, tokens: int, rows: list[Any], times: tuple[Times, Times, Times]) -> None:
    """Write a text within a budget, and add the times of its masks."""
    vocabulary, matcher = constraint.vocabulary, constraint.matcher()
    budget = open_budget(matcher, tokens, is_proper=False)
    assert budget is not None
    mask = structgen.allocate_token_bitmask(1, vocabulary.size)
    for spent in range(tokens + 1):
        begun = time.thread_time()
        matcher.fill_next_token_bitmask(mask)
        filled = time.thread_time()
        budget.limit(matcher, mask[0], spent)
        ended = time.thread_time()
        kind = times[2 if (tokens - spent) * 5 <= tokens else 1]
        times[0].setdefault((tokens, spent), []).append((filled - begun) * 1e6)
        kind.setdefault((tokens, spent), []).append((ended - filled) * 1e6)
        logits = rows[spent % len(rows)].copy()
        structgen.apply_token_bitmask(logits, mask[0])
        best = int(logits.argmax())
        if best in vocabulary.eos_token_ids:
            break
        matcher.accept_token(best)
    assert matcher.is_accepting


GUARDS: dict[str, Any] = {"as by default": {}, "without guards": {"on_budget": "error", "max_repeats": None}}


ANSWER_BUDGETS = (64, 128, 256)
Case = tuple[str, type[BaseModel], dict[str, Any]]  # a prompt, the type of its answer, the fields that are known


def all_cases() -> list[tuple[str, list[Case]]]:
    """Return the prompts in two groups, each with its name."""
    asked: list[Case] = [(one.prompt, one.kind, one.answer.model_dump()) for one in extractions(20)]
    tasks: list[Case] = [(one.prompt, one.kind, one.right) for one in TASKS]
    return [("20 extractions", asked), ("15 everyday tasks", tasks)]


def engine_answers(name: str, budgets: list[int]) -> str:
    """Return the table of answers of another engine, in transformers' `generate`."""
    model = structgen.load("smollm2")
    rows = []
    for group, cases in all_cases():
        extract = ENGINES[name](model, list(dict.fromkeys(kind for _, kind, _ in cases)))
        for budget in budgets:
            values = [
                (read(extract(prompt, kind, max_new_tokens=budget), kind), right) for prompt, kind, right in cases
            ]
            right = sum(right_fields(value.model_dump(), known) for value, known in values if value is not None)
            incomplete = sum(value is None for value, _ in values)
            rows.append([group, budget, incomplete, f"{right} of {sum(len(case[2]) for case in cases)}"])
            print(rows[-1], file=sys.stderr, flush=True)
    return table(["prompts", "budget", "incomplete", "fields right"], rows, left=2)


def answers(names: list[str]) -> str:
    """Return the table of answers.

    Args:
        names: of GUARDS.
    """
    model = structgen.load("smollm2")
    rows = []
    for kind, cases in all_cases():
        for budget in ANSWER_BUDGETS:
            for name in names:
                options = {"max_new_tokens": budget, **GUARDS[name]}
                prompts, schemas = [case[0] for case in cases], [case[1] for case in cases]
                found = structgen.batch(model, prompts, schemas, return_exceptions=True, results=True, **options)
                done = [
                    (one, case) for one, case in zip(found, cases, strict=True) if isinstance(one, structgen.Result)
                ]
                right = sum(right_fields(one.value.model_dump(), case[2]) for one, case in done)
                ended = sum(one.finish_reason == "length" for one, _ in done)
                tokens = sum(len(one.token_ids) for one, _ in done)
                known = sum(len(case[2]) for case in cases)
                rows.append([kind, budget, name, len(cases) - len(done), ended, f"{right} of {known}", tokens])
                print(rows[-1], file=sys.stderr, flush=True)
    columns = [
        "prompts",
        "budget",
        "guards",
        "incomplete",
        "ended by a guard",
        "fields right",
        "tokens of complete answers",
    ]
    return table(columns, rows, left=3)


def right_fields(given: dict[str, Any], right: dict[str, Any]) -> int:
    """Return how many of the fields have their right value."""
    return sum(str(given[name]).casefold() == str(value).casefold() for name, value in right.items())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--tokenizer", default="", help="the folder of a tokenizer; SmolLM2's by default")
    parser.add_argument("--runs", type=int, default=20, help="runs of each schema with filled tables")
    parser.add_argument("--answers", action="store_true", help="SmolLM2's answers within budgets instead")
    parser.add_argument("--engine", choices=ENGINES, help="the answers of another engine")
    parser.add_argument("--budgets", type=int, nargs="+", default=list(ANSWER_BUDGETS), help="with --engine")
    parser.add_argument("--guards", nargs="+", choices=GUARDS, default=list(GUARDS), help="of which settings")
    settings = parser.parse_args()
    if settings.answers:
        print(heading(), end="\n\n")
        print(engine_answers(settings.engine, settings.budgets) if settings.engine else answers(settings.guards))
        return
    tokenizer = load_tokenizer(settings.tokenizer)
    name = Path(settings.tokenizer).name if settings.tokenizer else "SmolLM2"
    print(heading(), end="\n\n")
    print(f"Tokenizer {name}, {len(tokenizer):,} tokens; budgets of {', '.join(map(str, BUDGETS))} tokens", end="\n\n")
    print(cost(tokenizer, settings.runs), end="\n\n")
    print(loop_cost(tokenizer, settings.runs))


if __name__ == "__main__":
    main()
