"""Groups of many properties: their keys are one terminal.

In any order, a state has a bit for each property that was written. With a body for each of n properties, one state
leads to n states of n bits. A group has one body instead: it captures the key, and the key decides the state after it.
In a *mixed* group, the key decides the schema of the value as well.

    {"properties": {"a1": {"type": "string"}, ..., "a9": {"type": "string"}}}        "a1" | ... | "a9"   then its state

In the schema's order, a group is a run of optional properties. Without groups, a state has n items, one for each
property that may come next.
"""

from __future__ import annotations

from structgen.engine.regex.tree import Literal, LiteralSet, Regex
from structgen.schema.algebra import ANY, Node
from structgen.schema.json_text.strings import canonical
from structgen.schema.rules.object_states import ObjectStates

__all__ = ["KeyGroup", "groups_of"]

# Below these numbers, the keys have bodies of their own: their masks are known without a check of single tokens.
MIN_GROUPED = 128  # properties of a group in any order
MIN_MIXED = 256  # properties of a mixed group in any order
MIN_RUN = 2_048  # properties of a run in the schema's order, where all states share the bodies


class KeyGroup:
    """Properties, all of them required or none.

    Attributes:
        node: the node of the values; ANY if the group is mixed.
        is_mixed: the properties may have different nodes.
        numbers: the index of each property, by key.
        last: the greatest index.
    """

    def __init__(self, node: Node | None, numbers: dict[str, int]) -> None:
        self.node = ANY if node is None else node
        self.is_mixed = node is None
        self.numbers = numbers
        self._spelled = sorted((canonical(key), index) for key, index in numbers.items())
        self.last = max(numbers.values())

    def first_left(self, written: int) -> int:
        """Return the first property whose bit is not set; -1 if all are."""
        for index in self.numbers.values():
            if not written >> index & 1:
                return index
        return -1

    def keys_left(self, written: int) -> Regex:
        """Return the terminal of the keys whose bit is not set; there must be one."""
        bits = written.to_bytes(max(self.last, written.bit_length()) // 8 + 1, "little")
        texts = [text for text, index in self._spelled if not bits[index >> 3] >> (index & 7) & 1]
        return LiteralSet(tuple(texts)) if len(texts) > 1 else Literal(texts[0])


def groups_of(states: ObjectStates, can_capture: bool) -> tuple[list[KeyGroup], list[int]]:
    """Return the groups of a set's properties, and for each property the number of its group; -1 for none."""
    number_of = [-1] * len(states.properties)
    least = MIN_GROUPED if states.any_order else MIN_RUN
    if not can_capture or states.asked or len(number_of) < least or not (states.any_order or states.is_plain):
        return [], number_of
    groups = _in_any_order(states) if states.any_order else _runs(states)
    for number, group in enumerate(groups):
        for index in group.numbers.values():
            number_of[index] = number
    return groups, number_of


def _in_any_order(states: ObjectStates) -> list[KeyGroup]:
    """Return groups of one node each, and mixed groups of the properties that are in none of them."""
    found: dict[tuple[Node, bool], dict[str, int]] = {}
    for index, entry in enumerate(states.properties):
        found.setdefault((entry.node, entry.is_required), {})[entry.key] = index
    groups: list[KeyGroup] = []
    others: dict[bool, dict[str, int]] = {}
    for (node, is_required), keys in found.items():
        if len(keys) >= MIN_GROUPED:
            groups.append(KeyGroup(node, keys))
        else:
            others.setdefault(is_required, {}).update(keys)
    return groups + [KeyGroup(None, keys) for keys in others.values() if len(keys) >= MIN_MIXED]


def _runs(states: ObjectStates) -> list[KeyGroup]:
    """Return long runs of optional properties, mixed ones if their nodes differ."""
    runs: list[dict[str, int]] = [{}]
    for index, entry in enumerate(states.properties):
        if entry.is_required:
            runs.append({})
        else:
            runs[-1][entry.key] = index
    groups: list[KeyGroup] = []
    for keys in runs:
        if len(keys) >= MIN_RUN:
            nodes = {states.properties[index].node for index in keys.values()}
            groups.append(KeyGroup(nodes.pop() if len(nodes) == 1 else None, keys))
    return groups
