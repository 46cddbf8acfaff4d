"""What does an extraction cost end to end on SmolLM2: seconds, tokens, passes of the model; and is it right?

    python benchmarks/end_to_end.py [--prompts 5] [--engines structgen outlines ...] [--plot end_to_end.png]

The prompts are sentences about people, orders and events, which the model extracts as JSON. The right answers are
known. There is one model in memory, with greedy decoding and at most 128 tokens. The engines take turns prompt by
prompt, so other work on the machine affects all of them. Compiling, and one extraction of each kind, come before the
measurement. An answer is *valid* if Pydantic reads it (free generation may put it between ``` fences). It is *right* if
all five fields are right, ignoring case.

All engines but `structgen` run in transformers' own `generate`, with the engine's logits processor. `structgen in
generate` does the same with structgen's, which shows the cost of masks alone. `structgen` is `Generator`, whose loop
sends forced text to the model in one pass. Each engine writes white space as `json.dumps` does, if it has this option.
With the engines' defaults, the model fills lines with spaces, one pass for each.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from _peers import installed
from _report import draw, heading, table
from pydantic import BaseModel, Field, ValidationError

os.environ.setdefault("HF_HUB_OFFLINE", "1")
MAX_NEW_TOKENS = 128
BASELINE = "outlines"
PEERS = ("outlines", "xgrammar", "llguidance")


# --- what is extracted ------------------------------------------------------------------------------------------------


class Person(BaseModel):
    """A person."""

    name: str = Field(max_length=40)
    age: int = Field(ge=0, le=120)
    occupation: str = Field(max_length=40)
    city: str = Field(max_length=40)
    marital_status: Literal["single", "married", "widowed"]


class Order(BaseModel):
    """An order of a product."""

    customer: str = Field(max_length=40)
    product: str = Field(max_length=40)
    quantity: int = Field(ge=1, le=1000)
    delivery: Literal["express", "standard"]
    paid: bool


class Event(BaseModel):
    """An event in a city."""

    title: str = Field(max_length=60)
    city: str = Field(max_length=40)
    year: int = Field(ge=2000, le=2100)
    visitors: int = Field(ge=0, le=100_000)
    place: Literal["indoors", "outdoors"]


class Extraction(NamedTuple):
    """A prompt, the model class of its answer, and the right answer."""

    prompt: str
    kind: type[BaseModel]
    answer: BaseModel


NAMES = "Maria Lopez|Tom Baker|Aisha Khan|Lars Holm|Nina Rossi|Paul Weber|Yuki Mori|Omar Haddad|Clara Dubois|Sam Reed"
OCCUPATIONS = "baker|plumber|teacher|dentist|gardener|pilot|librarian"
CITIES = "Lisbon|Oslo|Madrid|Vienna|Dublin|Prague|Athens|Geneva|Boston|Cairo|Helsinki|Turin|Kyoto"
PRODUCTS = "office chairs|desk lamps|coffee mugs|notebooks|bicycle tyres|rain coats|printers|garden hoses"
TITLES = "Jazz Night|Book Fair|Chess Open|Film Week|Spring Marathon|Food Festival|Robot Show|Tea Summit|Art Market"


def pick(words: str, number: int) -> Any:
    """Return one of the words, in turn."""
    listed = words.split("|")
    return listed[number % len(listed)]


def answer_of(number: int) -> tuple[BaseModel, str]:
    """Return the right answer of a number, and the sentence that states it."""
    name, city = pick(NAMES, number), pick(CITIES, number)
    if number % 3 == 0:
        job, status = pick(OCCUPATIONS, number), pick("single|married|widowed", number // 3)
        person = Person(name=name, age=19 + number, occupation=job, city=city, marital_status=status)
        return person, f"{name} is a {person.age} year old {job} from {city} who is {status}."
    if number % 3 == 1:
        product, delivery, paid = pick(PRODUCTS, number), pick("express|standard", number // 3), number % 4 < 2
        order = Order(customer=name, product=product, quantity=3 + number, delivery=delivery, paid=paid)
        state = "has been paid" if paid else "has not been paid"
        return order, f"{name} ordered {order.quantity} {product} with {delivery} delivery. The order {state}."
    title, place = pick(TITLES, number), pick("indoors|outdoors", number // 3)
    event = Event(title=title, city=city, year=2001 + number, visitors=100 + 7 * number, place=place)
    return event, f"{title} took place {place} in {city} in {event.year}, with {event.visitors} visitors."


def extractions(count: int) -> list[Extraction]:
    """Return different extractions, of the three kinds in turn."""
    made = []
    for number in range(count):
        answer, text = answer_of(number)
        fields = ", ".join(type(answer).model_fields)
        prompt = f'Extract the {type(answer).__name__.lower()} as JSON with {fields}. Text: "{text}"'
        made.append(Extraction(prompt, type(answer), answer))
    return made


def read(text: str, kind: type[BaseModel]) -> BaseModel | None:
    """Return the value of an answer; None if it is not valid."""
    bare = text.strip().removeprefix("```json").removeprefix("```").removesuffix("```")
    try:
        return kind.model_validate_json(bare.strip())
    except ValidationError:
        return None


def right_fields(value: BaseModel, answer: BaseModel) -> int:
    """Return how many fields are right."""
    pairs = zip(value.model_dump().values(), answer.model_dump().values(), strict=True)
    return sum(str(given).casefold() == str(known).casefold() for given, known in pairs)


# --- engines ----------------------------------------------------------------------------------------------------------

Extract = Callable[..., str]  # (prompt, model class, max_new_tokens=MAX_NEW_TOKENS) -> text of the answer


class Passes:
    """A counter of the passes of a model, and of the seconds in them."""

    def __init__(self, hf_model: Any) -> None:
        self.count = 0
        self.seconds = 0.0
        self._began = 0.0
        hf_model.register_forward_pre_hook(self._begin)
        hf_model.register_forward_hook(self._end)

    def _begin(self, *_: Any) -> None:
        self._began = time.perf_counter()

    def _end(self, *_: Any) -> None:
        self.seconds += time.perf_counter() - self._began
        self.count += 1


def in_generate(model: Any, processors: Callable[[type[BaseModel]], list[Any]]) -> Extract:
    """Return an extraction with transformers' `generate` and the logits processors of each kind."""

    def extract(prompt: str, kind: type[BaseModel], max_new_tokens: int = MAX_NEW_TOKENS) -> str:
        messages = [{"role": "user", "content": prompt}]
        inputs = model.tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, return_dict=True, return_tensors="pt"
        )
        output = model.hf_model.generate(
            **inputs,
            do_sample=False,
            max_new_tokens=max_new_tokens,
            logits_processor=processors(kind),
            pad_token_id=model.tokenizer.eos_token_id,
        )
        return str(model.tokenizer.decode(output[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True))

    return extract


def free(model: Any, kinds: list[type[BaseModel]]) -> Extract:
    return in_generate(model, lambda kind: [])


def structgen_itself(model: Any, kinds: list[type[BaseModel]]) -> Extract:
    import structgen

    generators = {
        kind: structgen.Generator(model, structgen.compile(kind, model.vocabulary, whitespace="single"))
        for kind in kinds
    }

    def extract(prompt: str, kind: type[BaseModel], max_new_tokens: int = MAX_NEW_TOKENS) -> str:
        try:
            return str(generators[kind].run(prompt, max_new_tokens=max_new_tokens).text)
        except structgen.IncompleteOutputError as error:
            return str(error.text)

    return extract


def structgen_in_generate(model: Any, kinds: list[type[BaseModel]]) -> Extract:
    import structgen

    compiled = {kind: structgen.compile(kind, model.vocabulary, whitespace="single") for kind in kinds}
    return in_generate(model, lambda kind: [compiled[kind].logits_processor()])


def outlines(model: Any, kinds: list[type[BaseModel]]) -> Extract:
    import outlines

    wrapped = outlines.from_transformers(model.hf_model, model.tokenizer)
    made: dict[Any, Any] = {kind: outlines.Generator(wrapped, kind).logits_processor for kind in kinds}  # type: ignore[union-attr]

    def processors(kind: type[BaseModel]) -> list[Any]:
        made[kind].reset()
        return [made[kind]]

    return in_generate(model, processors)


def xgrammar(model: Any, kinds: list[type[BaseModel]]) -> Extract:
    import xgrammar
    import xgrammar.contrib.hf

    info = xgrammar.TokenizerInfo.from_huggingface(model.tokenizer, vocab_size=model.vocabulary.size)
    compiler = xgrammar.GrammarCompiler(info)
    made = {
        kind: compiler.compile_json_schema(json.dumps(kind.model_json_schema()), any_whitespace=False) for kind in kinds
    }
    return in_generate(model, lambda kind: [xgrammar.contrib.hf.LogitsProcessor(made[kind])])


def llguidance(model: Any, kinds: list[type[BaseModel]]) -> Extract:
    import llguidance.hf
    import llguidance.torch as masks

    tokenizer = llguidance.hf.from_tokenizer(model.tokenizer, n_vocab=model.vocabulary.size)
    layout: Any = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
    made = {}
    for kind in kinds:
        grammar = llguidance.LLMatcher.grammar_from_json_schema(kind.model_json_schema(), overrides=layout)
        made[kind] = llguidance.LLMatcher(tokenizer, grammar)

    class Processor:
        def __init__(self, kind: type[BaseModel]) -> None:
            self.matcher = made[kind].deep_copy()
            self.mask = masks.allocate_token_bitmask(1, model.vocabulary.size)
            self.began = False

        def __call__(self, input_ids: Any, scores: Any) -> Any:
            if self.began:
                self.matcher.consume_token(int(input_ids[0, -1]))
            self.began = True
            masks.fill_next_token_bitmask(self.matcher, self.mask, 0)
            masks.apply_token_bitmask_inplace(scores, self.mask)
            return scores

    return in_generate(model, lambda kind: [Processor(kind)])


ENGINES: dict[str, Callable[[Any, list[type[BaseModel]]], Extract]] = {
    "free": free,
    "structgen": structgen_itself,
    "structgen in generate": structgen_in_generate,
    "outlines": outlines,
    "xgrammar": xgrammar,
    "llguidance": llguidance,
}


# --- the run ----------------------------------------------------------------------------------------------------------


@dataclass
class Account:
    """The costs of an engine, and the quality of its answers."""

    set_up_seconds: float
    seconds: list[float] = field(default_factory=list)
    model_seconds: float = 0.0
    tokens: int = 0
    passes: int = 0
    valid: int = 0
    right: int = 0
    fields: int = 0


def measure(model: Any, tasks: list[Extraction], names: list[str]) -> dict[str, Account]:
    """Run all tasks with all engines, in turns."""
    passes = Passes(model.hf_model)
    kinds = list(dict.fromkeys(task.kind for task in tasks))
    first = {task.kind: task for task in tasks[::-1]}
    engines, accounts = {}, {}
    for name in names:
        began = time.perf_counter()
        engines[name] = ENGINES[name](model, kinds)
        accounts[name] = Account(time.perf_counter() - began)
        for kind in kinds:
            engines[name](first[kind].prompt, kind)
    for number, task in enumerate(tasks):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            account = accounts[name]
            passes.count, passes.seconds = 0, 0.0
            began = time.perf_counter()
            text = engines[name](task.prompt, task.kind)
            account.seconds.append(time.perf_counter() - began)
            account.passes += passes.count
            account.model_seconds += passes.seconds
            account.tokens += len(model.encode_text(text))
            value = read(text, task.kind)
            account.valid += value is not None
            found = right_fields(value, task.answer) if value is not None else 0
            account.right += found == len(task.kind.model_fields)
            account.fields += found
    return accounts


def rows(accounts: dict[str, Account]) -> Iterator[list[Any]]:
    """Yield the rows of the table."""
    base = accounts.get(BASELINE)
    for name, account in accounts.items():
        seconds = sum(account.seconds)
        between = (seconds - account.model_seconds) / account.passes * 1000
        share = f"{seconds / sum(base.seconds):.2f}" if base else None
        counts = [account.tokens, account.passes, between, account.valid, account.right, account.fields]
        yield [name, seconds, share, *counts, account.set_up_seconds]


def paint(axes: Any, accounts: dict[str, Account]) -> None:
    """Draw the seconds of each answer, sorted, by engine."""
    for name, account in accounts.items():
        axes.plot(sorted(account.seconds), label=name)
    axes.set(xlabel="answers, the fastest first", ylabel="seconds", ylim=(0, None))
    axes.legend()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--prompts", type=int, default=5)
    parser.add_argument("--engines", nargs="+", choices=list(ENGINES))
    parser.add_argument("--plot", metavar="FILE", help="draw the seconds of each answer (needs matplotlib)")
    options = parser.parse_args()
    import structgen

    missing = {*PEERS} - {*installed(PEERS)}
    present = [name for name in ENGINES if name not in missing]
    model = structgen.load("smollm2")
    print(heading(), end="\n\n")
    accounts = measure(model, extractions(options.prompts), options.engines or present)
    columns = ["engine", f"{options.prompts} answers, s", f"of {BASELINE}'", "tokens", "passes", "ms between passes"]
    print(table([*columns, "valid", "right", "fields right", "set-up, s"], rows(accounts)))
    if options.plot:
        draw(options.plot, lambda axes: paint(axes, accounts))


if __name__ == "__main__":
    main()
