"""How near do samples come to the model's own distribution, and are extractions more often right?

    python benchmarks/alignment.py [--particles 4 16 64 256] [--seeds 8] [--prompts 30] [--plot alignment.svg]

**Distance.** SmolLM2 answers short questions with one of a few texts, in the tokenizer's own split. It reads all their
beginnings. So its own distribution over whole answers is known exactly, and also that of sampling token by token under
the mask. The distance is the total variation distance over the texts: the mean over questions and seeds. The logits are
kept, and the samples are drawn from these.

**Extractions.** The sentences of `end_to_end.py`. *right* counts answers whose five fields are all right, *fields* the
right fields. Samplers have 16 particles. The methods take turns, prompt by prompt. *passes* are passes of the model,
over one answer or over all together; *tokens* are those that it read for all answers.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from _report import draw, heading, table
from end_to_end import MAX_NEW_TOKENS, Extraction, extractions, right_fields

import structgen
from structgen import Grammar
from structgen.generation.adjusting import Adjuster
from structgen.generation.aligned.reader import PrefixReader
from structgen.generation.aligned.target import Prefix, Target, log_of
from structgen.models.logits import LogitsSession

os.environ.setdefault("HF_HUB_OFFLINE", "1")
QUESTIONS = {
    "Name a colour.": ["blue", "light blue", "dark red", "red", "green"],
    "Is a tomato a fruit or a vegetable?": ["A fruit.", "A vegetable.", "Both.", "It is a fruit."],
    "What is the capital of Australia?": ["Canberra", "Canberra.", "Sydney", "Sydney.", "Melbourne"],
    "Which season do you like best?": ["Spring", "Summer", "I like spring.", "I like summer.", "Autumn"],
    "Is the sea salty? Answer yes or no.": ["yes", "Yes", "Yes.", "no", "No", "No."],
}
METHODS = ("smc", "awrs", "asap")
MASK = "mask alone"
SPACED = {"whitespace": "any"}
PROPER = {"whitespace": "any", "tokenization": "proper"}
ROWS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # options of the schema, and of the run
    "greedy": ({}, {}),
    'greedy, whitespace="any"': (SPACED, {}),
    'num_beams=4, whitespace="any"': (SPACED, {"num_beams": 4}),
    "smc, temperature 0.1": ({}, {"sampling": "smc", "temperature": 0.1, "seed": 0}),
    'smc, temperature 0.3, whitespace="any"': (SPACED, {"sampling": "smc", "temperature": 0.3, "seed": 0}),
    'smc, temperature 0.1, whitespace="any"': (SPACED, {"sampling": "smc", "temperature": 0.1, "seed": 0}),
    'the same, tokenization="proper"': (PROPER, {"sampling": "smc", "temperature": 0.1, "seed": 0}),
}


# --- distance ---------------------------------------------------------------------------------------------------------


class Replayed:
    """A model that returns kept logits.

    Args:
        model: encodes texts.
        rows: the logits by the tokens before them.
    """

    context_tokens = None
    chat_template = None

    def __init__(self, model: Any, rows: dict[tuple[int, ...], Any]) -> None:
        self.vocabulary = model.vocabulary
        self.encode_text = model.encode_text
        self._model = model
        self._rows = rows

    def encode_prompt(self, prompt: Any, **options: Any) -> list[int]:
        """Return the token ids of a prompt."""
        return list(self._model.encode_prompt(prompt))

    def session(self) -> LogitsSession:
        """Return a new, empty sequence."""
        return LogitsSession(lambda ids: self._rows[tuple(ids)], self.vocabulary.size)


@dataclass
class Truth:
    """The exact distributions over the answers to a question.

    Attributes:
        model: returns the logits that the model had.
        own: the model's own distribution, by text, of sum 1.
        masked: that of sampling token by token under the mask.
        normalizer: the probability of all answers together.
    """

    model: Replayed
    own: dict[str, float]
    masked: dict[str, float]
    normalizer: float


def enumerate_answers(model: Any, question: str, constraint: structgen.Constraint[Any]) -> Truth:
    """Return the distributions over the answers to a question; the language of the constraint is finite."""
    prompt_ids = model.encode_prompt(question)
    target = Target(constraint, prompt_ids, max_new_tokens=99, temperature=1.0, adjuster=Adjuster(), finish=False)
    reader = PrefixReader(model, prompt_ids)
    rows: dict[tuple[int, ...], Any] = {}
    own: dict[str, float] = {}
    masked: dict[str, float] = {}
    level: list[tuple[Prefix, float]] = [(target.root(), 0.0)]
    while level:
        longer = []
        logits = reader.logits([prefix.token_ids for prefix, _ in level])
        for (prefix, log_masked), row in zip(level, logits):
            rows[(*prompt_ids, *prefix.token_ids)] = row
            shares = target.probabilities(prefix, row)
            allowed = target.allowed(prefix)
            log_total = log_of(float(shares[allowed].sum()))
            for token_id in allowed.tolist():
                logprob = log_of(float(shares[token_id]))
                if logprob == -math.inf:
                    continue
                found = target.after(prefix, token_id, logprob)
                if found.is_complete:
                    text = target.text_of(found).decode()
                    own[text] = own.get(text, 0.0) + math.exp(found.logprob)
                    masked[text] = masked.get(text, 0.0) + math.exp(log_masked + logprob - log_total)
                else:
                    longer.append((found, log_masked + logprob - log_total))
        level = longer
    total = sum(own.values())
    return Truth(Replayed(model, rows), {text: share / total for text, share in own.items()}, masked, total)


def distance(found: dict[str, float], truth: dict[str, float]) -> float:
    """Return the total variation distance of two distributions."""
    return sum(abs(found.get(text, 0.0) - share) for text, share in truth.items()) / 2


def distances(model: Any, counts: list[int], seeds: int) -> tuple[list[list[Any]], dict[str, list[float]]]:
    """Return the rows of the table of questions, and the mean distance of each method by the number of particles."""
    rows = []
    means: dict[str, list[float]] = {method: [0.0] * len(counts) for method in (MASK, *METHODS)}
    for question, answers in QUESTIONS.items():
        constraint = structgen.compile(Grammar.choice(answers), model.vocabulary, tokenization="proper")
        truth = enumerate_answers(model, question, constraint)
        best, wrong = (max(shares, key=shares.__getitem__) for shares in (truth.own, truth.masked))
        apart = distance(truth.masked, truth.own)
        rows.append([question, best, truth.own[best], wrong, truth.masked[wrong], apart, f"{truth.normalizer:.1e}"])
        for at, count in enumerate(counts):
            means[MASK][at] += apart / len(QUESTIONS)
            for method in METHODS:
                for seed in range(seeds):
                    samples = structgen.sample(
                        truth.model,  # type: ignore[arg-type]
                        question,
                        constraint,
                        sampling=method,  # type: ignore[arg-type]
                        particles=count,
                        seed=seed,
                    )
                    means[method][at] += distance(dict(samples.shares()), truth.own) / seeds / len(QUESTIONS)
    return rows, means


def painter(counts: list[int], means: dict[str, list[float]]) -> Callable[[Any], None]:
    """Return a function that draws the distances."""

    def paint(axes: Any) -> None:
        for method, marker in zip(means, ("", "o", "s", "^")):
            axes.plot(counts, means[method], marker=marker, linestyle="-" if marker else "--", label=method)
        axes.plot(
            counts, [(counts[0] / count) ** 0.5 * 0.5 for count in counts], ":", color="grey", label="1 / sqrt(N)"
        )
        axes.set(xscale="log", yscale="log", xlabel="samples N", ylabel="distance to the model's own distribution")
        axes.legend()

    return paint


# --- extractions ------------------------------------------------------------------------------------------------------


@dataclass
class Account:
    """The costs of a method, and the quality of its answers."""

    right: int = 0
    fields: int = 0
    passes: int = 0
    tokens: int = 0
    seconds: list[float] = field(default_factory=list)


def extract(model: Any, tasks: list[Extraction]) -> dict[str, Account]:
    """Run all tasks with all methods, in turns."""
    generators = {
        (kind, name): structgen.Generator(model, kind, **reading)
        for kind in dict.fromkeys(task.kind for task in tasks)
        for name, (reading, _) in ROWS.items()
    }
    accounts = {name: Account() for name in ROWS}
    for task in tasks:
        for name, (_, options) in ROWS.items():
            account = accounts[name]
            began = time.process_time()
            result = generators[task.kind, name].run(task.prompt, max_new_tokens=MAX_NEW_TOKENS, **options)
            account.seconds.append(time.process_time() - began)
            fields = right_fields(result.value, task.answer)
            account.right += fields == len(task.kind.model_fields)
            account.fields += fields
            account.passes += result.usage.model_calls
            account.tokens += result.usage.completion_tokens
            print(name, account.right, account.fields, result.text, file=sys.stderr, flush=True)
    return accounts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--particles", type=int, nargs="+", default=[4, 16, 64, 256])
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--prompts", type=int, default=30)
    parser.add_argument("--skip", type=int, default=0, help="the number of prompts to leave out at the start")
    parser.add_argument("--plot", metavar="FILE")
    options = parser.parse_args()
    model = structgen.load("smollm2")
    print(heading(), "\n")
    if options.seeds:
        rows, means = distances(model, options.particles, options.seeds)
        columns = ["question", "likeliest answer", "its share", "likeliest under the mask", "its share there"]
        print(table([*columns, "distance", "Z"], rows), "\n")
        found = [[method, *means[method]] for method in means]
        print(table(["distance by samples", *map(str, options.particles)], found), "\n", flush=True)
        if options.plot:
            draw(options.plot, painter(options.particles, means), size=(7, 4.5))
    if options.prompts:
        accounts = extract(model, extractions(options.prompts)[options.skip :])
        rows = [
            [name, one.right, one.fields, one.passes, one.tokens, sum(one.seconds) / len(one.seconds)]
            for name, one in accounts.items()
        ]
        of = f"of {options.prompts}"
        print(table(["method", f"right {of}", f"fields of {5 * options.prompts}", "passes", "tokens", "CPU s"], rows))


if __name__ == "__main__":
    main()
