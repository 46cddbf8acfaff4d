"""Samples of a model's own distribution over answers, with weights."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from structgen.generation.logprobs import member_of
from structgen.generation.usage import Usage
from structgen.schema.json_text.lexemes import members_of

__all__ = ["Sample", "Samples", "best_of"]

T = TypeVar("T")

_Leaves: TypeAlias = frozenset[tuple[tuple[str | int, ...], str]]  # paths, and the texts of the leaves there


@dataclass(frozen=True, slots=True)
class Sample(Generic[T]):
    """An answer with its weight.

    Attributes:
        value: the validated value.
        text: its text.
        token_ids: its tokens, without an end token.
        weight: its share among the samples; the shares of all samples have the sum 1.
        logprob: the natural logarithm of the probability of these tokens and the end, by the model without a mask, at
            the temperature of the call.
    """

    value: T
    text: str
    token_ids: tuple[int, ...]
    weight: float
    logprob: float


@dataclass(frozen=True, slots=True)
class Samples(Generic[T]):
    """Weighted samples of the answers to a prompt: means over them estimate those of the model's own distribution.

    Attributes:
        items: the samples. The same answer may be there several times.
        log_normalizer: an estimate of log Z; Z is the probability that the model, without a mask, writes an answer that
            fits the schema and the validators. The estimate of Z itself is unbiased.
        usage: the cost of the call, all samples together.
        is_json: whether the texts are JSON.

    Example:
        >>> samples = structgen.sample(model, "Ann is 34.", Person, particles=32, seed=0)     # doctest: +SKIP
        >>> samples.best, samples.shares("/age")                                              # doctest: +SKIP
        (Person(name='Ann', age=34), [(34, 0.91), (3, 0.09)])
    """

    items: tuple[Sample[T], ...]
    log_normalizer: float
    usage: Usage
    is_json: bool = False

    @property
    def values(self) -> list[T]:
        """The values."""
        return [item.value for item in self.items]

    @property
    def weights(self) -> list[float]:
        """The weights of the values, of sum 1."""
        return [item.weight for item in self.items]

    @property
    def effective_sample_size(self) -> float:
        """How many samples of equal weight are worth as much: 1 / the sum of the squared weights."""
        return 1 / sum(item.weight**2 for item in self.items)

    @property
    def best(self) -> T:
        """The value that agrees most with all samples, by weight; see `best_of`."""
        return self.best_sample.value

    @property
    def best_sample(self) -> Sample[T]:
        """The sample whose value is `best`."""
        return best_of(self.items, is_json=self.is_json)

    def shares(self, pointer: str = "") -> list[tuple[Any, float]]:
        """Return the different values at a JSON pointer, each with the weight of the samples that have it.

        Args:
            pointer: the JSON pointer of a value in the answers, such as "/address/city"; "" for the whole answer.

        Returns:
            The values as JSON data, or texts where the answers are not JSON; the heaviest first. Samples without such a
            value are left out, so the weights may sum to less than 1.

        Raises:
            ValueError: a pointer into answers that are not JSON, or none of them has such a value.

        Example:
            >>> samples.shares("/age")                                                        # doctest: +SKIP
            [(34, 0.91), (3, 0.09)]
        """
        if pointer and not self.is_json:
            raise ValueError(f"the answers are not JSON, so they have no value at {pointer!r}")
        members_of(pointer)  # checks it
        totals: dict[_Leaves, float] = {}
        found: dict[_Leaves, Any] = {}
        for item in self.items:
            try:
                value = member_of(json.loads(item.text), pointer) if self.is_json else item.text
            except ValueError:
                continue  # this answer has no value at the pointer
            key = _leaves(value)
            found.setdefault(key, value)
            totals[key] = totals.get(key, 0.0) + item.weight
        if not found:
            raise ValueError(f"no answer has a value at {pointer!r}")
        return [(found[key], totals[key]) for key in sorted(totals, key=lambda key: -totals[key])]


def best_of(items: Sequence[Sample[T]], *, is_json: bool) -> Sample[T]:
    """Return the sample that agrees most with all samples, by weight; of several, the likeliest.

    This is minimum Bayes risk decoding. Two JSON values agree as far as their leaves do: twice the number of equal
    leaves at equal pointers, divided by the number of leaves of both. Other texts agree if they are equal.

    Args:
        items: the samples.
        is_json: whether the texts are JSON.
    """
    likeliest: dict[_Leaves, Sample[T]] = {}
    weights: dict[_Leaves, float] = {}
    for item in items:
        leaves = _leaves(json.loads(item.text) if is_json else item.text)
        weights[leaves] = weights.get(leaves, 0.0) + item.weight
        if leaves not in likeliest or likeliest[leaves].logprob < item.logprob:
            likeliest[leaves] = item

    def order(own: _Leaves) -> tuple[float, float]:
        agreement = sum(2 * weight * len(own & other) / (len(own) + len(other)) for other, weight in weights.items())
        # Rounded: the order in which weights are added must not decide.
        return round(agreement, 9), likeliest[own].logprob

    return likeliest[max(likeliest, key=order)]


def _leaves(value: Any) -> _Leaves:
    """Return the leaves of JSON data, each with its path; empty objects and arrays are leaves. 1 and 1.0 are equal."""
    found: list[tuple[tuple[str | int, ...], str]] = []
    rest: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    while rest:
        path, part = rest.pop()
        children: list[tuple[Any, Any]] = []
        if isinstance(part, (dict, list)):
            children = list(part.items() if isinstance(part, dict) else enumerate(part))
        if not children:
            is_whole = isinstance(part, float) and part.is_integer()
            found.append((path, json.dumps(int(part) if is_whole else part)))
        rest += [((*path, name), child) for name, child in children]
    return frozenset(found)
