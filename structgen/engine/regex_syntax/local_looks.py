r"""Look-ahead in a repeated group that sees no more than its round becomes a part of the round.

Often a look-ahead bounds the length of what comes next in the same round, as for the labels of a domain:

    ((?=[a-z0-9-]{1,63}\.)[a-z0-9]+(-[a-z0-9]+)*\.)+

Let X be the look-ahead's body, and B the part after it. If no text of B goes on to one of X, then whether X matches is
known at the end of B, and what follows does not matter:

    (?=X)B      is the same as      B & X.*
    (?!X)B                          B - X.*

Such a round is a plain regex. So its texts may be divided into rounds in several ways, and other assertions may stand
beside it. `((?!foo).)*` is not of this kind.
"""

from __future__ import annotations

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex.tree import ANY_CHAR, difference, intersection, plus, sequence
from structgen.engine.regex_syntax.assertion_tree import Asserting, Pattern, alternatives, join, look_ahead, repeated
from structgen.engine.regex_syntax.edges import ANY_TEXT

__all__ = ["without_local_looks"]


def without_local_looks(part: Pattern) -> Pattern:
    """Return a pattern that matches the same texts, without look-ahead that sees no more than its round."""
    if not isinstance(part, Asserting) or not part.has_looking_rounds:
        return part
    inner = [without_local_looks(p) for p in part.parts]
    if part.kind == "sequence":
        return join(*inner)
    if part.kind == "choice":
        return alternatives(*inner)
    if part.kind == "look":
        return look_ahead(inner[0], negative=part.negative)
    if part.kind != "repeat":
        return part
    body = inner[0] if part.max == 1 else _decided(inner[0])
    found = repeated(body, part.min, part.max)
    if isinstance(found, Asserting):
        found.begin = part.begin
    return found


def _decided(round_: Pattern) -> Pattern:
    """Return a round with each look-ahead resolved that the rest of the round decides."""
    if not isinstance(round_, Asserting):
        return round_
    if round_.kind == "choice":
        return alternatives(*map(_decided, round_.parts))
    if round_.kind != "sequence":
        return round_
    after: list[Pattern] = []
    for part in reversed(round_.parts):
        resolved = _resolved(part, after[0]) if after else None
        if resolved is None:
            after.insert(0, part)
        else:
            after[0] = resolved
    return join(*after)


def _resolved(look: Pattern, after: Pattern) -> Pattern | None:
    """Return a look-ahead and the part after it as a plain part; None if the part does not decide it."""
    if not isinstance(look, Asserting) or look.kind != "look" or isinstance(after, Asserting):
        return None
    body = look.parts[0]
    if isinstance(body, Asserting):
        return None
    if not AutomatonStore().is_empty(intersection(sequence(after, plus(ANY_CHAR)), body)):
        return None
    seen = sequence(body, ANY_TEXT)
    return difference(after, seen) if look.negative else intersection(after, seen)
