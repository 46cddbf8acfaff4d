"""Why a token may come next, or may not: `Matcher.explain`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from structgen.engine.matching.expectations import THE_END, ExpectationFinder, Expected, shown
from structgen.engine.vocabulary.vocabulary import Vocabulary

__all__ = ["Explanation", "Reason", "explain"]

Reason = Literal["allowed", "grammar", "taken", "ended", "unfinished", "tokenizer", "no text", "no token"]
"""Why a token is what it is:

allowed     it may come next
grammar     its bytes leave the grammar
taken       they end a text that must not come again, such as the key of an object
ended       the text has ended, and only an end token may follow
unfinished  an end token, where the text may not end
tokenizer   the grammar allows it, and the tokenizer would split the text otherwise (`tokenization="proper"`)
no text     a token that stands for no text
no token    an id that the vocabulary does not have
"""

_BEHIND = 40  # bytes of the text so far that are shown
_MAX_EXPECTED = 12


@dataclass(frozen=True, slots=True)
class Explanation:
    """Whether a token may come next, and why. As text it says so in words.

    Attributes:
        token_id: the token.
        text: the bytes that it stands for; None where it stands for none.
        allowed: whether it may come next: the same as its bit in the mask.
        reason: why; see `Reason`.
        position: the byte of the token at which it is refused; None where that is not for one of its bytes.
        behind: the text before that byte, from the beginning.
        expected: what could have stood there.
        instead: for the reason "tokenizer": how the tokenizer writes the end of the text with this token's, where it
            can be asked.
    """

    token_id: int
    text: bytes | None
    allowed: bool
    reason: Reason
    position: int | None = None
    behind: bytes = b""
    expected: tuple[Expected, ...] = ()
    instead: tuple[bytes, ...] = ()

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules of the grammar, or the places in the schema, that refused it."""
        return tuple(dict.fromkeys(one.place for one in self.expected if one.place))

    def __str__(self) -> str:
        name = f"token {self.token_id}" + (f" ({shown(self.text)})" if self.text else "")
        return f"{name} {self._why()}{self._alternatives()}"

    def _why(self) -> str:
        behind = shown(b"\xe2\x80\xa6" * (len(self.behind) > _BEHIND) + self.behind[-_BEHIND:]) if self.behind else ""
        where = f"after {behind}" if behind else "at the beginning"
        if self.reason in ("grammar", "taken"):
            byte = shown((self.text or b"")[self.position : (self.position or 0) + 1])
            why = ", which would end a text that must not come again" if self.reason == "taken" else ""
            return f"is refused at its byte {self.position}, {byte}, {where}{why}."
        if self.reason == "tokenizer":
            told = f": it writes {' '.join(map(shown, self.instead))}" if self.instead else ""
            return f"is refused {where}: the grammar allows it, the tokenizer would not write it there{told}."
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


def explain(
    finder: ExpectationFinder,
    vocabulary: Vocabulary,
    set_id: int,
    read: bytes,
    token_id: int,
    *,
    has_ended: bool = False,
) -> Explanation:
    """Explain why a token may come next after an item set, or may not.

    Args:
        finder: finds what the grammar expects; the grammar's lock is held.
        vocabulary: the tokens.
        set_id: one of the grammar's sets.
        read: the text so far, for the message.
        token_id: any number.
        has_ended: whether only end tokens may come.

    Raises:
        LimitExceededError: automaton_states, item_sets, or what the grammar's source raises.
    """
    sets = finder.sets
    if not 0 <= token_id < vocabulary.size:
        return Explanation(token_id, None, False, "no token")
    text = vocabulary.token_bytes(token_id)
    if token_id in vocabulary.eos_token_ids:
        if has_ended or sets.table.accepting[set_id]:
            return Explanation(token_id, None, True, "allowed")
        return Explanation(token_id, None, False, "unfinished", None, read, finder.expected(set_id))
    if text is None:
        return Explanation(token_id, None, False, "no text")
    if has_ended:
        return Explanation(token_id, text, False, "ended", 0, read, (THE_END,))
    place = set_id
    for position, byte in enumerate(text):
        after = sets.goto(place, byte)
        if not after:
            expected = finder.expected(place)
            reason: Reason = "taken" if finder.is_accepted(place, byte) else "grammar"
            return Explanation(token_id, text, False, reason, position, read + text[:position], expected)
        place = after
    return Explanation(token_id, text, True, "allowed", None, read + text)
