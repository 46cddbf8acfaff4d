r"""Parts that several regexes of a grammar have in common, as rules of their own.

    start ::= #'-?(?:0|[1-9][0-9]*)' ',' #'\\[(?:0|[1-9][0-9]*)\\]';

becomes, if the common part were longer,

    start ::= #'-?' start_1 ',' '[' start_1 ']';
    start_1 ::= #'0|[1-9][0-9]*';

This module finds the parts; `lowering` makes the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from structgen.engine.regex import tree as rx
from structgen.kbnf.regex_facts import post_order

__all__ = ["parts_of", "shared_texts", "splits"]

_MIN_CHARACTERS = 40  # of a part that gets a rule
_SIMPLE = frozenset({(0, 1), (0, None), (1, None)})


def parts_of(node: rx.Regex) -> tuple[rx.Regex, ...]:
    """Return the parts of a regex that may become symbols of a rule; none where it has to stay one terminal."""
    if isinstance(node, (rx.Sequence, rx.Choice)):
        return node.parts
    if isinstance(node, rx.Repeat) and (node.min, node.max) in _SIMPLE:
        return (node.body,)
    return ()


def shared_texts(regexes: Iterable[rx.Regex], texts: Mapping[int, str | None]) -> frozenset[str]:
    """Return the texts of the largest parts that occur at least twice and are long enough for a name.

    Args:
        regexes: the terminals of a grammar, each as often as it occurs.
        texts: the text of each part by its `id`, None where it has none.
    """
    counts: dict[str, int] = {}
    stack = list(regexes)
    while stack:
        node = stack.pop()
        text = texts[id(node)]
        if text is not None:
            if len(text) < _MIN_CHARACTERS:
                continue
            counts[text] = counts.get(text, 0) + 1
            if counts[text] > 1:
                continue
        stack.extend(parts_of(node))
    return frozenset(text for text, count in counts.items() if count > 1)


def splits(regex: rx.Regex, texts: Mapping[int, str | None], shared: frozenset[str]) -> set[int]:
    """Return the `id`s of the parts that have to be split, because a shared text is inside of them."""
    found: set[int] = set()
    holds_one: set[int] = set()
    for node in post_order(regex):
        if any(id(part) in holds_one for part in parts_of(node)):
            found.add(id(node))
            holds_one.add(id(node))
        if texts[id(node)] in shared:
            holds_one.add(id(node))
    return found
