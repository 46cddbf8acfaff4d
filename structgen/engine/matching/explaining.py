"""Explanations of why a token may come next, or why not (`Matcher.explain`).

The token's bytes are followed from the current Earley set to the first one that is refused. `expectations.py` then says
what was expected there:

    token 1 ("toffee") is refused at its byte 1, "o", after "one t". Expected there: "ea" (drink).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.expectations import THE_END, ExpectationFinder, Expected, shown
from structgen.engine.vocabulary.marks import MARK_BYTE, mark_of

__all__ = ["Explanation", "Reason", "State", "explain", "with_reasons"]

Reason = Literal["allowed", "grammar", "taken", "ended", "unfinished", "tokenizer", "not here", "no text", "no token"]
"""The reason why a token is allowed or refused:

allowed     it may come next
grammar     its bytes leave the grammar
taken       its bytes end a text that must not come again, such as a key of an object
ended       the text has ended, and only an end token may follow
unfinished  it is an end token, and the text may not end here
tokenizer   the grammar allows it, but the tokenizer would split the text in another way (`tokenization="proper"`)
not here    it is a token terminal of the grammar, which is not allowed here
no text     it stands for no text
no token    the vocabulary has no such id
"""

_MAX_BEFORE_BYTES = 40  # of the text so far that is shown
_MAX_EXPECTED = 12  # number of alternatives that are listed


@dataclass(frozen=True, slots=True)
class Explanation:
    """The reason why a token may come next, or why not. `str` gives it in words.

    Attributes:
        token_id: the token.
        text: its bytes; None where it stands for no text.
        allowed: whether it may come next, like its bit in the mask.
        reason: the kind of reason; see `Reason`.
        position: the index of its byte that is refused; None where no single byte is.
        behind: the text before that byte, from the beginning.
        expected: what is allowed in its place.
        instead: for the reason "tokenizer": the tokens that the tokenizer would write at the end of the text, where it
            can be asked.
        reasons: what is wrong with the JSON text up to the end of the token, in sentences such as
            "age: 200 is more than the maximum 120", where that is known. Printed first.
    """

    token_id: int
    text: bytes | None
    allowed: bool
    reason: Reason
    position: int | None = None
    behind: bytes = b""
    expected: tuple[Expected, ...] = ()
    instead: tuple[bytes, ...] = ()
    reasons: tuple[str, ...] = ()

    @property
    def rules(self) -> tuple[str, ...]:
        """Rules of the grammar, or locations in the schema, that refused it."""
        return tuple(dict.fromkeys(one.place for one in self.expected if one.place))

    def __str__(self) -> str:
        name = f"token {self.token_id}" + (f" ({shown(self.text)})" if self.text else "")
        return "\n".join([*self.reasons, f"{name} {self._why()}{self._alternatives()}"])

    def _why(self) -> str:
        behind = (
            shown(b"\xe2\x80\xa6" * (len(self.behind) > _MAX_BEFORE_BYTES) + self.behind[-_MAX_BEFORE_BYTES:])
            if self.behind
            else ""
        )
        where = f"after {behind}" if behind else "at the beginning"
        if self.reason in ("grammar", "taken"):
            byte = shown((self.text or b"")[self.position : (self.position or 0) + 1])
            why = ", which would end a text that must not come again" if self.reason == "taken" else ""
            return f"is refused at its byte {self.position}, {byte}, {where}{why}."
        if self.reason == "tokenizer":
            instead = f": it writes {' '.join(map(shown, self.instead))}" if self.instead else ""
            return f"is refused {where}: the grammar allows it, the tokenizer would not write it there{instead}."
        if self.reason == "not here":
            return f"is refused {where}: the grammar does not allow this token there."
        if self.reason == "unfinished":
            return f"is refused {where}: it ends the text, which may not end there."
        return {
            "allowed": "is allowed.",
            "ended": "is refused: the text has ended.",
            "no text": "is refused: it stands for no text (a special token, or an id that is not used).",
            "no token": "is refused: the vocabulary has no such token.",
        }[self.reason]

    def _alternatives(self) -> str:
        if not self.expected or self.reason == "tokenizer":
            return ""
        listed = [str(one) for one in self.expected[:_MAX_EXPECTED]]
        listed += [f"{len(self.expected) - _MAX_EXPECTED} more"] * (len(self.expected) > _MAX_EXPECTED)
        return f" Expected there: {'; '.join(listed)}."


class State(NamedTuple):
    """The state of a sequence that an explanation is about.

    Attributes:
        set_id: the item set.
        read: the text so far, for the message.
        has_ended: whether only end tokens may come.
        may_end: whether an end token may come.
    """

    set_id: int
    read: bytes
    has_ended: bool
    may_end: bool


def explain(finder: ExpectationFinder, compiled: CompiledGrammar, state: State, token_id: int) -> Explanation:
    """Explain why a token may come next after an item set, or may not.

    Args:
        finder: finds what the grammar expects; the grammar's lock is held.
        compiled: the grammar.
        state: where the sequence is.
        token_id: any number.

    Raises:
        LimitExceededError: automaton_states, item_sets, or what the grammar's source raises.
    """
    vocabulary = compiled.vocabulary
    if not 0 <= token_id < vocabulary.size:
        return Explanation(token_id, None, False, "no token")
    text = vocabulary.token_bytes(token_id)
    named = _explain_named(finder, compiled, state, token_id) if compiled.has_marks else None
    if named is not None:
        return named
    if token_id in vocabulary.eos_token_ids:
        if state.may_end:
            return Explanation(token_id, None, True, "allowed")
        return Explanation(token_id, None, False, "unfinished", None, state.read, finder.expected(state.set_id))
    if text is None:
        return Explanation(token_id, None, False, "no text")
    if state.has_ended:
        return Explanation(token_id, text, False, "ended", 0, state.read, (THE_END,))
    reached = state.set_id
    for position, byte in enumerate(text):
        after = 0 if compiled.has_marks and byte == MARK_BYTE else finder.sets.goto(reached, byte)
        if not after:
            expected = finder.expected(reached)
            reason: Reason = "taken" if finder.ends_taken_text(reached, byte) else "grammar"
            return Explanation(token_id, text, False, reason, position, state.read + text[:position], expected)
        reached = after
    return Explanation(token_id, text, True, "allowed", None, state.read + text)


def with_reasons(found: Explanation, reasons_of: Callable[[bytes], tuple[str, ...]] | None) -> Explanation:
    """Return an explanation with its sentences for people.

    Args:
        found: the explanation.
        reasons_of: returns them for a text that is refused; None where there are none.
    """
    if reasons_of is None or found.reason != "grammar" or found.text is None or found.position is None:
        return found
    reasons = reasons_of(found.behind + found.text[found.position :])
    if not reasons:  # what comes after the refused byte may not even be JSON
        reasons = reasons_of(found.behind + found.text[found.position : found.position + 1])
    return replace(found, reasons=reasons)


def _explain_named(
    finder: ExpectationFinder, compiled: CompiledGrammar, state: State, token_id: int
) -> Explanation | None:
    """Explain a token that the grammar names; None where its text, or the end of the text, says more."""
    vocabulary = compiled.vocabulary
    if not compiled.names(token_id):
        return None
    name = vocabulary.shown(token_id)
    if state.has_ended:
        return None if token_id in vocabulary.eos_token_ids else Explanation(token_id, name, False, "ended")
    if finder.sets.goto_all(state.set_id, mark_of(token_id)):
        return Explanation(token_id, name, True, "allowed", None, state.read + name)
    if vocabulary.token_bytes(token_id) is not None or token_id in vocabulary.eos_token_ids:
        return None
    return Explanation(token_id, name, False, "not here", None, state.read, finder.expected(state.set_id))
