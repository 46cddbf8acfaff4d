"""DirectMerge: rewrites an automaton over bytes to one over the tokens that a byte-pair encoding makes of its texts.

It is the reference that the fast method (`MergeTable`, `ProperMasks`) is tested against, on small automata; nothing
else imports it. It follows the definition of an encoding step by step, so it is easy to get right. But it goes through
the whole automaton for each merge, and states multiply.

Source: V. Tran-Thien, "Fast, High-Fidelity LLM Decoding with Regex Constraints", 2024.

One merge (a, b) -> c, on an automaton whose paths are what the merges before it make of the texts:

    p -a-> q -b-> r      becomes      p -c-> r
                                      p -a-> q'       a copy of q without b

States after c stay the same, and so do paths that do not lead through b. Each merge then stands for replacing all its
pairs from left to right. The encoding itself takes the merge of the least rank that there is anywhere. Both are the
same only if no merge makes a part of one that came before it; training never does that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["Automaton", "direct_merge"]

Transitions = dict[int, dict[int, int]]


@dataclass(frozen=True)
class Automaton:
    """A deterministic finite automaton over token ids.

    Attributes:
        start: the state it starts in.
        accepting: the states in which a sequence may end.
        transitions: by state and token, the next state. States without transitions may be left out.
    """

    start: int
    accepting: frozenset[int]
    transitions: Transitions

    def accepts(self, tokens: Iterable[int]) -> bool:
        """Return whether a sequence of tokens leads to an accepting state."""
        state = self.start
        for token in tokens:
            following = self.transitions.get(state, {}).get(token)
            if following is None:
                return False
            state = following
        return state in self.accepting


def direct_merge(automaton: Automaton, merges: Sequence[tuple[int, int, int]]) -> Automaton:
    """Return the automaton of the tokens that a byte-pair encoding makes of the texts of an automaton.

    Args:
        automaton: the automaton over symbols (single bytes or characters).
        merges: left part, right part and product, in the order of their ranks. They must be learnable in this order: no
            product is a part of an earlier merge, or of its own, or the product of two merges.

    Returns:
        An automaton that accepts exactly these sequences of tokens. All its states lie on a way from the start to an
        accepting state; the start may be the only exception.

    Raises:
        ValueError: a merge is out of order.

    Cost: the automaton's size for each merge; a merge can double the number of its states.

    >>> texts = Automaton(0, frozenset({0}), {0: {97: 1}, 1: {97: 1, 98: 0}})  # (a+b)*
    >>> merged = direct_merge(texts, [(97, 98, 256), (97, 256, 257)])
    >>> merged.accepts([257, 256]), merged.accepts([97, 257]), merged.accepts([97, 256]), merged.accepts([97, 98])
    (True, True, False, False)
    """
    transitions = {state: dict(arrows) for state, arrows in automaton.transitions.items()}
    targets = {target for arrows in automaton.transitions.values() for target in arrows.values()}
    for state in targets | automaton.accepting | {automaton.start}:  # all names that are taken, used or not
        transitions.setdefault(state, {})
    accepting = set(automaton.accepting)
    used = {token for arrows in transitions.values() for token in arrows}
    for left, right, product in merges:
        used |= {left, right}
        if product in used:
            raise ValueError(f"the merge ({left}, {right}) makes {product}, which was there before it")
        used.add(product)
        _merge(transitions, accepting, left, right, product)
    return _trimmed(automaton.start, accepting, transitions)


def _merge(transitions: Transitions, accepting: set[int], left: int, right: int, product: int) -> None:
    """Replace a pair by its product on all paths, in place."""
    found = [
        (before, arrows[left], transitions[arrows[left]][right])
        for before, arrows in transitions.items()
        if left in arrows and right in transitions[arrows[left]]
    ]
    unused = max(transitions) + 1
    copies: dict[int, int] = {}
    for before, between, behind in found:
        copy = copies.setdefault(between, unused + len(copies))
        transitions[before][left] = copy
        transitions[before][product] = behind
    # If both symbols are equal, the product must not begin at the second one: in "aaa", the first two are the pair.
    lost = {right, product} if left == right else {right}
    # Copies are filled only now, as the transitions that they copy may be among those that were changed.
    for between, copy in copies.items():
        transitions[copy] = {token: target for token, target in transitions[between].items() if token not in lost}
        if between in accepting:
            accepting.add(copy)


def _trimmed(start: int, accepting: set[int], transitions: Transitions) -> Automaton:
    """Return the automaton without states that lie on no way to an accepting one, numbered as they are reached."""
    sources: dict[int, list[int]] = {start: []}
    reached = [start]
    for state in reached:  # grows meanwhile
        for target in transitions[state].values():
            if target not in sources:
                sources[target] = []
                reached.append(target)
            sources[target].append(state)
    live = [state for state in reached if state in accepting]
    alive = set(live)
    for state in live:  # grows meanwhile
        for source in sources[state]:
            if source not in alive:
                alive.add(source)
                live.append(source)
    alive.add(start)  # dead or not
    numbers = {state: number for number, state in enumerate(state for state in reached if state in alive)}
    return Automaton(
        numbers[start],
        frozenset(number for state, number in numbers.items() if state in accepting),
        {
            number: {token: numbers[to] for token, to in transitions[state].items() if to in alive}
            for state, number in numbers.items()
        },
    )
