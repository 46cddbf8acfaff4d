"""DirectMerge: rewrites an automaton over bytes to one over the tokens that a byte-pair encoding makes of its texts.

Source: V. Tran-Thien, "Fast, High-Fidelity LLM Decoding with Regex Constraints", 2024.

One merge (a, b) -> c, on an automaton whose paths are what the merges before it make of the texts:

    p -a-> q -b-> r      becomes      p -c-> r
                                      p -a-> q'       a copy of q without b

States after c stay the same, and so do paths that do not lead through b. Each merge then stands for replacing all its
pairs from left to right. The encoding itself takes the merge of the least rank that there is anywhere. Both are the
same only if no merge that is made makes a part of one that came before it. Training alone never does that; some
tokenizers have a few such merges, which only certain texts meet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from structgen.engine.deadlines import Deadline
from structgen.errors import LimitExceededError
from structgen.limits import Limits

__all__ = ["TokenAutomaton", "apply_merges"]

Transitions = dict[int, dict[int, int]]
CHECKED_MERGES = 64  # the number of merges between two looks at the clock
MIN_PRUNED = 64  # states; a smaller automaton is not worth pruning


@dataclass(frozen=True)
class TokenAutomaton:
    """A deterministic finite automaton over token ids.

    Attributes:
        start: the state it starts in.
        accepting: the states in which a sequence may end.
        transitions: by state and token, the next state. States without transitions may be left out.
    """

    start: int
    accepting: frozenset[int]
    transitions: Transitions

    @property
    def state_count(self) -> int:
        """The number of states that have transitions or may end a sequence."""
        return len(self.transitions.keys() | self.accepting | {self.start})

    @property
    def transition_count(self) -> int:
        """The number of transitions."""
        return sum(map(len, self.transitions.values()))

    def follow(self, tokens: Iterable[int]) -> int | None:
        """Return the state after a sequence of tokens; None if no text leads there."""
        state = self.start
        for token in tokens:
            following = self.transitions.get(state, {}).get(token)
            if following is None:
                return None
            state = following
        return state

    def accepts(self, tokens: Iterable[int]) -> bool:
        """Return whether a sequence of tokens leads to an accepting state."""
        return self.follow(tokens) in self.accepting

    def allowed_token_ids(self, state: int) -> list[int]:
        """Return the tokens that may come next in a state, in ascending order."""
        return sorted(self.transitions.get(state, {}))


def apply_merges(
    automaton: TokenAutomaton, merges: Sequence[tuple[int, int, int]], limits: Limits | None = None
) -> TokenAutomaton:
    """Return the automaton of the tokens that a byte-pair encoding makes of the texts of an automaton.

    Args:
        automaton: the automaton over symbols (single bytes or characters).
        merges: left part, right part and product, in the order of their ranks. Those that a text meets must be
            learnable in this order: no product is a part of an earlier merge, or of its own, or made by two merges.
        limits: `automaton_states` bounds the states, `compile_seconds` the time.

    Returns:
        An automaton that accepts exactly these sequences of tokens. All its states lie on a way from the start to an
        accepting state; the start may be the only exception.

    Raises:
        ValueError: a merge that a text meets is out of order.
        LimitExceededError: automaton_states or compile_seconds.

    Cost: for each merge, the states that its left part leads on from, and a copy of each state between its parts. A
    merge can double the number of states.

    >>> texts = TokenAutomaton(0, frozenset({0}), {0: {97: 1}, 1: {97: 1, 98: 0}})  # (a+b)*
    >>> merged = apply_merges(texts, [(97, 98, 256), (97, 256, 257)])
    >>> merged.accepts([257, 256]), merged.accepts([97, 257]), merged.accepts([97, 256]), merged.accepts([97, 98])
    (True, True, False, False)
    """
    rewriting = _Rewriting(automaton, limits or Limits())
    deadline = Deadline((limits or Limits()).compile_seconds)
    used = {token for arrows in automaton.transitions.values() for token in arrows}
    for at, (left, right, product) in enumerate(merges):
        if at % CHECKED_MERGES == 0:
            deadline.check()
        used |= {left, right}
        pairs = rewriting.pairs(left, right)
        if pairs and product in used:
            raise ValueError(f"the merge ({left}, {right}) makes {product}, which was there before it")
        used.add(product)
        rewriting.replace(pairs, left, right, product)
    return rewriting.pruned()


class _Rewriting:
    """An automaton while merges are applied to it.

    Args:
        automaton: the automaton before the first merge.
        limits: `automaton_states` bounds its states.
    """

    def __init__(self, automaton: TokenAutomaton, limits: Limits) -> None:
        self._max_states = limits.automaton_states
        self._start = automaton.start
        self._accepting = set(automaton.accepting)
        self._transitions = {state: dict(arrows) for state, arrows in automaton.transitions.items()}
        targets = {target for arrows in automaton.transitions.values() for target in arrows.values()}
        for state in targets | automaton.accepting | {automaton.start}:  # all names that are taken, used or not
            self._transitions.setdefault(state, {})
        self._index()

    def _index(self) -> None:
        """Index the states by the tokens that lead on from them."""
        self._unused = max(self._transitions) + 1
        self._sources: dict[int, set[int]] = {}
        for state, arrows in self._transitions.items():
            for token in arrows:
                self._sources.setdefault(token, set()).add(state)
        self._pruned_count = len(self._transitions)

    def pairs(self, left: int, right: int) -> list[tuple[int, int, int]]:
        """Return the states before, between and after two tokens that follow each other on a path."""
        found = []
        for before in self._sources.get(left, ()):
            between = self._transitions[before][left]
            after = self._transitions[between].get(right)
            if after is not None:
                found.append((before, between, after))
        return found

    def replace(self, pairs: Sequence[tuple[int, int, int]], left: int, right: int, product: int) -> None:
        """Replace the pairs of two tokens by their product on all paths."""
        transitions = self._transitions
        copies: dict[int, int] = {}
        for before, between, after in pairs:
            copy = copies.setdefault(between, self._unused + len(copies))
            transitions[before][left] = copy
            transitions[before][product] = after
        self._sources.setdefault(product, set()).update(before for before, _, _ in pairs)
        # If both symbols are equal, the product must not begin at the second one: in "aaa", the first two are the pair.
        lost = {right, product} if left == right else {right}
        # Copies are filled only now, as the transitions that they copy may be among those that were changed.
        for between, copy in copies.items():
            kept = transitions[copy] = {token: at for token, at in transitions[between].items() if token not in lost}
            for token in kept:
                self._sources[token].add(copy)
            if between in self._accepting:
                self._accepting.add(copy)
        self._unused += len(copies)
        if len(transitions) > max(2 * self._pruned_count, MIN_PRUNED):
            self._prune()

    def _prune(self) -> None:
        """Remove the states that no path uses any more: most originals of copies."""
        kept = self.pruned()
        self._start, self._accepting, self._transitions = kept.start, set(kept.accepting), kept.transitions
        self._index()
        if len(self._transitions) > self._max_states:
            raise LimitExceededError("automaton_states", self._max_states)

    def pruned(self) -> TokenAutomaton:
        """Return the automaton without states that lie on no way to an accepting one, numbered as they are reached."""
        sources: dict[int, list[int]] = {self._start: []}
        reached = [self._start]
        for state in reached:  # grows meanwhile
            for target in self._transitions[state].values():
                if target not in sources:
                    sources[target] = []
                    reached.append(target)
                sources[target].append(state)
        live = [state for state in reached if state in self._accepting]
        alive = set(live)
        for state in live:  # grows meanwhile
            for source in sources[state]:
                if source not in alive:
                    alive.add(source)
                    live.append(source)
        alive.add(self._start)  # dead or not
        numbers = {state: number for number, state in enumerate(state for state in reached if state in alive)}
        return TokenAutomaton(
            numbers[self._start],
            frozenset(number for state, number in numbers.items() if state in self._accepting),
            {
                number: {token: numbers[to] for token, to in self._transitions[state].items() if to in alive}
                for state, number in numbers.items()
            },
        )
