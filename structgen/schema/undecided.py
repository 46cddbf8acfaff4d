"""Keywords of the validator where a reference leads back to itself at the same value: the fixed point decides.

A value satisfies a subschema, or does not satisfy it, only if finitely many steps show that. `reading/fixed_points.py`
computes the grammar so; `jsonschema` follows such a circle until the stack ends. A value of neither is undecided: of
`{"not": {"$ref": "#"}}`, all are.

Here a validator answers one of two questions. Is the value surely valid? That is what users ask. Or is it possibly
valid? Where a reference is reached again, the answers are no and yes. `not` asks its subschema the other question.
`if` and `oneOf` ask both.

    {"anyOf": [{"type": "string"}, {"$ref": "#"}]}     of 1: surely no, possibly yes
    {"not": {"anyOf": [...]}}                          of 1: surely no, as it possibly satisfies the branch

Answers at references are kept for the values inside of a value that is being validated. Otherwise `anyOf` beside
`unevaluatedProperties` would double the work at each level of a value. An answer of "no" (or "possibly yes") may depend
on a reference that is still open. It is kept for now: it falls with the first "yes" (or "no, not even possibly") of a
reference that was open when it was made, and is true if the first of these references gets no such answer either. Both
answers need no assumption, so they stay. Without this, a few references that lead to one another take exponential time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import jsonschema
from jsonschema.protocols import Validator
from referencing.exceptions import Unresolvable

__all__ = [
    "Errors",
    "Keyword",
    "answers",
    "decided_if",
    "decided_not",
    "decided_one_of",
    "decided_reference",
    "scope_of",
]

Errors = Iterable[jsonschema.ValidationError]
Keyword = Callable[[Validator, Any, Any, Any], Errors]

_Key = tuple[str, int, tuple[str, ...], int, bool]
_NO_REFERENCE = 1 << 30  # in place of a position in `_State.open`


@dataclass(slots=True)
class _Answer:
    """The answer at a reference that was followed to its end.

    Attributes:
        errors: the arguments of its errors.
        depends: whether the other question may have another answer.
        instance: the value, which keeps its identity while the answer is stored.
        lowest: the position in `open` of the first reference on which the answer depends.
    """

    errors: list[dict[str, Any]]
    depends: bool
    instance: Any
    lowest: int


class _State(threading.local):
    """The state of the validator in one thread.

    Attributes:
        possibly: whether it checks that values are possibly valid; else, that they surely are.
        open: the keywords that are being checked and may lead to themselves, in order: the keyword, its schema and
            scope, the value and the question.
        lowest: the position in `open` of the first reference that was reached again.
        circles: how often a reference was reached again.
        answers: the answers at references that were followed to their end.
        assumed: the keys of the answers that depend on a reference that is open, in the order in which they were made.
    """

    def __init__(self) -> None:
        self.possibly = False
        self.open: dict[_Key, int] = {}
        self.lowest = 0
        self.circles = 0
        self.answers: dict[_Key, _Answer] = {}
        self.assumed: list[_Key] = []


_STATE = _State()


def scope_of(validator: Any) -> tuple[str, ...]:
    """Return the URIs of the resources that were entered on the way to a subschema, its own last."""
    resolver = validator._resolver
    outer = dict.fromkeys(reversed([uri for uri, _ in resolver.dynamic_scope()]))
    return (*outer, resolver._base_uri)


def decided_reference(name: str, keyword: Keyword) -> Keyword:
    """Return a keyword that ends where it is reached again at the same value: a reference, or `unevaluated…`."""

    def check(validator: Validator, reference: Any, instance: Any, schema: Any) -> Errors:
        key = name, id(schema), scope_of(validator), id(instance), _STATE.possibly
        if key in _STATE.open:
            return _reached_again(_STATE.open[key], reference if isinstance(reference, str) else name)
        if key in _STATE.answers:
            return _answered(_STATE.answers[key])
        before, circles, assumed = _STATE.lowest, _STATE.circles, len(_STATE.assumed)
        depth = _STATE.open[key] = _STATE.lowest = len(_STATE.open)
        errors: list[jsonschema.ValidationError] = []
        try:  # here and not in a function: each level of a deep value has few frames of the stack
            # No call of `extend`, as that is a level of its own, which `_check_stack` of validation.py does not see.
            for error in keyword(validator, reference, instance, schema) or ():
                errors.append(error)
            if depth:
                _keep(key, _Answer([], _STATE.circles > circles, instance, _STATE.lowest), errors, depth, assumed)
        except Unresolvable:  # outside of the schema; without `lenient`, the grammar refused it or did not reach it
            errors.clear()
            _drop(assumed)
        finally:
            del _STATE.open[key]
            _STATE.lowest = min(before, _STATE.lowest)
            if not depth:
                _STATE.answers.clear()
                _STATE.assumed.clear()
        return errors

    return check


def _keep(key: _Key, answer: _Answer, errors: list[jsonschema.ValidationError], depth: int, assumed: int) -> None:
    """Keep the answer at a reference, and correct the answers that depend on it.

    Args:
        key: of the reference.
        answer: its answer, without the errors.
        errors: its errors.
        depth: its position in `open`.
        assumed: how many answers were assumed before it was followed.
    """
    if bool(errors) == _STATE.possibly:  # whatever the open references answer
        _drop(assumed)
        answer.lowest = _NO_REFERENCE
    elif answer.lowest == depth:  # nothing before it is needed: the answers inside of it are true, too
        answer.lowest = _NO_REFERENCE
    _STATE.lowest = min(depth, answer.lowest)
    answer.errors = [_content(error) for error in errors]
    _STATE.answers[key] = answer
    for inner in _STATE.assumed[assumed:]:
        _STATE.answers[inner].lowest = answer.lowest
    if answer.lowest == _NO_REFERENCE:
        del _STATE.assumed[assumed:]
    else:
        _STATE.assumed.append(key)


def _drop(assumed: int) -> None:
    """Forget the answers that were assumed last, from a position on."""
    for key in _STATE.assumed[assumed:]:
        del _STATE.answers[key]
    del _STATE.assumed[assumed:]


def _reached_again(depth: int, reference: Any) -> list[jsonschema.ValidationError]:
    _STATE.circles += 1
    _STATE.lowest = min(_STATE.lowest, depth)
    if _STATE.possibly:
        return []
    return [jsonschema.ValidationError(f"{reference!r} refers to itself, and nothing else accepts the value")]


def _answered(answer: _Answer) -> list[jsonschema.ValidationError]:
    _STATE.circles += answer.depends
    _STATE.lowest = min(_STATE.lowest, answer.lowest)
    return [jsonschema.ValidationError(**known) for known in answer.errors]


def _content(error: jsonschema.ValidationError) -> dict[str, Any]:
    """Return the arguments of an equal error. An error cannot be yielded twice, as each `descend` adds to its path."""
    return {
        "message": error.message,
        "validator": error.validator,
        "path": tuple(error.relative_path),
        "validator_value": error.validator_value,
        "instance": error.instance,
        "schema": error.schema,
        "schema_path": tuple(error.relative_schema_path),
    }


@contextmanager
def _other_question() -> Iterator[None]:
    _STATE.possibly = not _STATE.possibly
    try:
        yield
    finally:
        _STATE.possibly = not _STATE.possibly


def answers(validator: Validator, subschema: Any, instance: Any) -> tuple[bool, bool]:
    """Return whether a value is valid, by the question of this time and by the other one."""
    circles = _STATE.circles
    inner = validator.evolve(schema=subschema)
    valid = inner.is_valid(instance)
    if _STATE.circles == circles:
        return valid, valid
    with _other_question():
        return valid, inner.is_valid(instance)


def decided_not(validator: Validator, subschema: Any, instance: Any, schema: Any) -> Errors:
    """Check `not`."""
    with _other_question():
        valid = validator.evolve(schema=subschema).is_valid(instance)
    if valid:
        yield jsonschema.ValidationError(f"{instance!r} should not be valid under {subschema!r}")


def decided_if(validator: Validator, condition: Any, instance: Any, schema: Any) -> Errors:
    """Check `if`. Where the condition is undecided, `then` and `else` still decide if they agree."""
    if "then" not in schema and "else" not in schema:
        return
    valid, other = answers(validator, condition, instance)
    sides = (["then"] if valid else []) + ([] if other else ["else"])
    if not sides:
        sides = ["then", "else"]
    found = [_errors_of(validator, side, instance, schema) for side in sides]
    if not _STATE.possibly or all(found):
        for errors in found:
            yield from errors


def _errors_of(validator: Any, side: str, instance: Any, schema: Any) -> list[jsonschema.ValidationError]:
    return list(validator.descend(instance, schema[side], schema_path=side)) if side in schema else []


def decided_one_of(validator: Validator, branches: Any, instance: Any, schema: Any) -> Errors:
    """Check `oneOf`."""
    found: list[Any] = []
    others: list[Any] = []
    for branch in branches:
        valid, other = answers(validator, branch, instance)
        found += [branch] if valid else []
        others += [branch] if other else []
    if not found:
        yield jsonschema.ValidationError(
            f"{instance!r} is not valid under any of the given schemas",
            context=[
                error
                for index, branch in enumerate(branches)
                for error in validator.descend(instance, branch, schema_path=index)  # type: ignore[attr-defined]
            ],
        )
    elif len(others) > 1:
        yield jsonschema.ValidationError(f"{instance!r} is valid under each of {', '.join(map(repr, others))}")
