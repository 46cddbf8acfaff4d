"""Sends a request in one form after the other, until the server takes one; and remembers what it refused.

    form ──400──▶ form.otherwise() ──200──▶ the answer; for `FORGET_SECONDS`, the same constraint begins with the second

A refusal may have other reasons than the form, such as a prompt that is too long. So a form counts as refused only if
another one of the same request was taken. If that one is refused later, the server may have changed: all forms are
tried again.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from structgen.errors import GrammarError, LimitExceededError, SchemaError
from structgen.models.asked import Form

__all__ = ["FORGET_SECONDS", "RefusedForms", "asend", "send"]

FORGET_SECONDS = 600.0
MAX_FORMS = 4096

Refusals: TypeAlias = type[Exception] | tuple[type[Exception], ...]


class RefusedForms:
    """The forms that one model's server refused in the last minutes.

    Args:
        clock: returns the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ends: OrderedDict[bytes, float] = OrderedDict()  # when each form is forgotten, by its digest

    def __contains__(self, form: Form) -> bool:
        end = self._ends.get(_digest(form))
        return end is not None and self._clock() < end

    def add(self, form: Form) -> None:
        """Remember that a form was refused."""
        self._ends[_digest(form)] = self._clock() + FORGET_SECONDS
        while len(self._ends) > MAX_FORMS:
            self._ends.popitem(last=False)

    def discard(self, form: Form) -> None:
        """Forget a form."""
        self._ends.pop(_digest(form), None)


def send(
    create: Callable[..., Any],
    arguments: Callable[[Form], dict[str, Any]],
    form: Form,
    refusals: Refusals,
    refused: RefusedForms,
) -> tuple[Form, Any]:
    """Send a request in one form after the other, until the server takes one.

    Args:
        create: sends a request.
        arguments: returns its arguments for a form.
        form: the first form.
        refusals: the errors of the client by which a server refuses a form.
        refused: the forms that the server refused before; those of this request are added.

    Returns:
        The form that was taken, and the answer.
    """
    forms = _Forms(form, refused)
    while True:
        try:
            answer = create(**arguments(forms.current))
        except refusals as error:
            forms.refuse(error)
        else:
            return forms.taken(), answer


async def asend(
    create: Callable[..., Awaitable[Any]],
    arguments: Callable[[Form], dict[str, Any]],
    form: Form,
    refusals: Refusals,
    refused: RefusedForms,
) -> tuple[Form, Any]:
    """Send a request as `send` does, with a client that is awaited."""
    forms = _Forms(form, refused)
    while True:
        try:
            answer = await create(**arguments(forms.current))
        except refusals as error:
            forms.refuse(error)
        else:
            return forms.taken(), answer


class _Forms:
    """The forms of one request.

    Attributes:
        current: the form to send.
    """

    def __init__(self, first: Form, refused: RefusedForms) -> None:
        self._first = first
        self._known = refused
        self._refused: list[Form] = []  # by this request
        self._skipped: list[Form] = []
        self.current = first
        while self.current in refused and (following := _after(self.current)) is not None:
            self._skipped.append(self.current)
            self.current = following

    def refuse(self, error: Exception) -> None:
        """Go on to the next form.

        Args:
            error: the refusal, which is raised where there is no other form.
        """
        self._refused.append(self.current)
        following = _after(self.current)
        if following is None:
            if not self._skipped:
                raise error
            for form in self._skipped:
                self._known.discard(form)
            self._skipped, self._refused = [], []
            following = self._first
        self.current = following

    def taken(self) -> Form:
        """Return the form that was taken, and remember those that were refused."""
        for form in self._refused:
            self._known.add(form)
        return self.current


def _after(form: Form) -> Form | None:
    """Return the next form; None where there is none, or where it cannot be written."""
    try:
        return None if form.otherwise is None else form.otherwise()
    except (GrammarError, LimitExceededError, SchemaError):  # the server's words say more
        return None


def _digest(form: Form) -> bytes:
    return hashlib.sha256(json.dumps([form.fields, form.extra], sort_keys=True).encode()).digest()
