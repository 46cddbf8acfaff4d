"""DirectMerge: a finite automaton over bytes, rewritten to one over the tokens that a byte-pair encoding makes of them.

The reference that the fast way (`merges.MergeTable`, `proper_masks.ProperMasks`) is checked against on small automata;
nothing else imports it. It follows the definition of an encoding step by step, so there is little to get wrong, but it
goes through the whole automaton for each merge, and states multiply.

Source: V. Tran-Thien, "Fast, High-Fidelity LLM Decoding with Regex Constraints", 2024.

One merge (a, b) -> c, on an automaton of which every path is what the merges before it make of a text: where
p -a-> q -b-> r, the path of c goes p -c-> r, and a now leads from p to a copy of q without b. Nothing changes behind c,
and what does not lead through a b stays. Taken alone, each merge then stands for replacing all its pairs, from left to
right. The encoding itself takes the merge of the least rank that there is anywhere; this is the same only if no merge
makes a part of one that came before it, which training never does.
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
        """Whether a sequence of tokens leads to an accepting state."""
        state = self.start
        for token in tokens:
            following = self.transitions.get(state, {}).get(token)
            if following is None:
                return False
            state = following
        return state in self.accepting


def direct_merge(automaton: Automaton, merges: Sequence[tuple[int, int, int]]) -> Automaton:
    """The automaton of what a byte-pair encoding makes of the texts that an automaton accepts.

    Args:
        automaton: over the tokens that runs begin with (single bytes or characters).
        merges: left part, right part and product, in the order of their ranks; that has to be an order they can be
            learned in: no product is a part of an earlier merge, or of its own, or the product of two.

    Returns:
        An automaton that accepts exactly these sequences of tokens. All its states lie on a way from the start to an
        accepting state, but for a start from which there is none.

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
    taken = {token for arrows in transitions.values() for token in arrows}
    for left, right, product in merges:
        taken |= {left, right}
        if product in taken:
            raise ValueError(f"the merge ({left}, {right}) makes {product}, which was there before it")
        taken.add(product)
        _merge(transitions, accepting, left, right, product)
    return _trimmed(automaton.start, accepting, transitions)


def _merge(transitions: Transitions, accepting: set[int], left: int, right: int, product: int) -> None:
    """Replaces a pair by its product on all paths, in place."""
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
    # Of two equal symbols the product would be read one symbol too late: the first of "aaa" belongs to the pair.
    lost = {right, product} if left == right else {right}
    # Only now, as a copy's own transitions may be among those that were changed.
    for between, copy in copies.items():
        transitions[copy] = {token: target for token, target in transitions[between].items() if token not in lost}
        if between in accepting:
            accepting.add(copy)


def _trimmed(start: int, accepting: set[int], transitions: Transitions) -> Automaton:
    """The states that lie on a way from the start to an accepting one, numbered as they are reached."""
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
