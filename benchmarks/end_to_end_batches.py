"""What do extractions in batches cost end to end on SmolLM2, compared with single ones and with other engines' batches?

    python benchmarks/end_to_end_batches.py [--prompts 12] [--batch-size 8] [--engines structgen outlines ...]

The prompts are those of `end_to_end.py`. A batch has one kind only, because other engines take one schema per batch.
Decoding is greedy, with at most 128 tokens. Compiling, and one batch, come before the measurement. The engines take
turns batch by batch.

All engines but structgen run in transformers' own `generate`, with prompts padded on the left: a finished row is
computed until the last row is finished. `structgen.batch` sends forced text to the model in one pass, and gives the
place of a finished row to the next prompt. `structgen, mixed` has all prompts in one call, each with its own schema.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from _peers import installed
from _report import heading, table
from end_to_end import MAX_NEW_TOKENS, Extraction, Passes, extractions, read, right_fields
from pydantic import BaseModel

os.environ.setdefault("HF_HUB_OFFLINE", "1")
PEERS = ("outlines", "xgrammar")

Answer = Callable[[Sequence[Extraction]], list[str]]  # extractions of one kind -> texts of their answers


def structgen_batch(model: Any, kinds: list[type[BaseModel]], size: int) -> Answer:
    import structgen

    compiled = {kind: structgen.compile(kind, model.vocabulary, whitespace="single") for kind in kinds}

    def answer(tasks: Sequence[Extraction]) -> list[str]:
        prompts, schemas = [task.prompt for task in tasks], [compiled[task.kind] for task in tasks]
        values = structgen.batch(
            model, prompts, schemas, batch_size=size, max_new_tokens=MAX_NEW_TOKENS, return_exceptions=True
        )
        return [value.model_dump_json() if isinstance(value, BaseModel) else str(value.text) for value in values]

    return answer


def structgen_alone(model: Any, kinds: list[type[BaseModel]], size: int) -> Answer:
    return structgen_batch(model, kinds, 1)


def in_generate(model: Any, processors: Callable[[type[BaseModel], int], list[Any]]) -> Answer:
    """Return batches with transformers' `generate` and the logits processors of a kind for N rows."""
    tokenizer = model.tokenizer

    def answer(tasks: Sequence[Extraction]) -> list[str]:
        chats = [[{"role": "user", "content": task.prompt}] for task in tasks]
        inputs = tokenizer.apply_chat_template(
            chats, add_generation_prompt=True, return_dict=True, return_tensors="pt", padding=True, padding_side="left"
        )
        output = model.hf_model.generate(
            **inputs,
            do_sample=False,
            max_new_tokens=MAX_NEW_TOKENS,
            logits_processor=processors(tasks[0].kind, len(tasks)),
            pad_token_id=tokenizer.eos_token_id,
        )
        return list(tokenizer.batch_decode(output[:, inputs["input_ids"].shape[1] :], skip_special_tokens=True))

    return answer


def structgen_in_generate(model: Any, kinds: list[type[BaseModel]], size: int) -> Answer:
    import structgen

    compiled = {kind: structgen.compile(kind, model.vocabulary, whitespace="single") for kind in kinds}
    return in_generate(model, lambda kind, count: [compiled[kind].logits_processor()])


def outlines(model: Any, kinds: list[type[BaseModel]], size: int) -> Answer:
    import outlines

    wrapped = outlines.from_transformers(model.hf_model, model.tokenizer)
    made: dict[Any, Any] = {kind: outlines.Generator(wrapped, kind).logits_processor for kind in kinds}  # type: ignore[union-attr]

    def processors(kind: type[BaseModel], count: int) -> list[Any]:
        made[kind].reset()
        return [made[kind]]

    return in_generate(model, processors)


def xgrammar(model: Any, kinds: list[type[BaseModel]], size: int) -> Answer:
    import xgrammar
    import xgrammar.contrib.hf

    info = xgrammar.TokenizerInfo.from_huggingface(model.tokenizer, vocab_size=model.vocabulary.size)
    compiler = xgrammar.GrammarCompiler(info)
    made = {
        kind: compiler.compile_json_schema(json.dumps(kind.model_json_schema()), any_whitespace=False) for kind in kinds
    }
    return in_generate(model, lambda kind, count: [xgrammar.contrib.hf.LogitsProcessor([made[kind]] * count)])


ENGINES: dict[str, Callable[[Any, list[type[BaseModel]], int], Answer]] = {
    "structgen one by one": structgen_alone,
    "structgen": structgen_batch,
    "structgen in generate": structgen_in_generate,
    "outlines": outlines,
    "xgrammar": xgrammar,
}


@dataclass
class Account:
    """The costs of an engine, and the quality of its answers."""

    seconds: float = 0.0
    passes: int = 0
    valid: int = 0
    right: int = 0
    fields: int = 0

    def add(self, tasks: Sequence[Extraction], answer: Answer, passes: Passes) -> None:
        """Run some extractions, and add their costs and quality."""
        passes.count = 0
        began = time.perf_counter()
        texts = answer(tasks)
        self.seconds += time.perf_counter() - began
        self.passes += passes.count
        for task, text in zip(tasks, texts, strict=True):
            value = read(text, task.kind)
            found = 0 if value is None else right_fields(value, task.answer)
            self.valid += value is not None
            self.right += found == len(task.kind.model_fields)
            self.fields += found


def measure(model: Any, tasks: list[Extraction], names: list[str], size: int) -> dict[str, Account]:
    """Run all tasks with all engines, in turns."""
    passes = Passes(model.hf_model)
    kinds = list(dict.fromkeys(task.kind for task in tasks))
    batches = []
    for kind in kinds:
        own = [task for task in tasks if task.kind is kind]
        batches += [own[first : first + size] for first in range(0, len(own), size)]
    engines = {name: ENGINES[name](model, kinds, size) for name in names}
    accounts = {name: Account() for name in names}
    for name in names:
        for kind in kinds:
            engines[name](next(batch for batch in batches if batch[0].kind is kind)[:2])
    for number, batch in enumerate(batches):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            accounts[name].add(batch, engines[name], passes)
    if "structgen" in names:
        accounts["structgen, mixed"] = Account()
        accounts["structgen, mixed"].add(tasks, engines["structgen"], passes)
    return accounts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--prompts", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--engines", nargs="+", choices=list(ENGINES))
    options = parser.parse_args()
    import structgen

    missing = {*PEERS} - {*installed(PEERS)}
    names = options.engines or [name for name in ENGINES if name not in missing]
    model = structgen.load("smollm2")
    print(heading(), end="\n\n")
    accounts = measure(model, extractions(options.prompts), names, options.batch_size)
    base = accounts.get("outlines")
    rows = [
        [
            name,
            account.seconds,
            f"{account.seconds / base.seconds:.2f}" if base else None,
            *(account.passes, account.valid, account.right, account.fields),
        ]
        for name, account in accounts.items()
    ]
    columns = ["engine", f"{options.prompts} answers, s", "of outlines'", "passes", "valid", "right", "fields right"]
    print(table(columns, rows))


if __name__ == "__main__":
    main()
