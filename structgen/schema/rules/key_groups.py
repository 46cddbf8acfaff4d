"""Groups of properties whose values have one schema: their keys are one terminal.

In any order, a state has a bit for each property that was written. With a body for each of n properties, one state
leads to n states of n bits. A group has one body instead: it captures the key, and the key decides the state after it.

    {"properties": {"a1": {"type": "string"}, ..., "a9": {"type": "string"}}}        "a1" | ... | "a9"   then its state

In the schema's order, a group is a run of optional properties. Without groups, a state has n items, one for each
property that may come next.
"""

from __future__ import annotations

from structgen.engine.regex.tree import Literal, LiteralSet, Regex
from structgen.schema.algebra import Node
from structgen.schema.json_text.strings import canonical
from structgen.schema.rules.object_states import ObjectStates

__all__ = ["KeyGroup", "groups_of"]

# Below these numbers, the keys have bodies of their own: their masks are known without a check of single tokens.
MIN_GROUPED = 128  # properties of a group in any order
MIN_RUN = 2_048  # properties of a run in the schema's order, where all states share the bodies


class KeyGroup:
    """Properties of one node, all of them required or none.

    Attributes:
        node: the node of the values.
        numbers: the index of each property, by key.
        last: the greatest index.
    """

    def __init__(self, node: Node, numbers: dict[str, int]) -> None:
        self.node = node
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
    found: dict[tuple[Node, int], dict[str, int]] = {}
    run = 0
    for index, entry in enumerate(states.properties):
        if states.any_order:
            run = int(entry.is_required)
        elif entry.is_required or (index and entry.node != states.properties[index - 1].node):
            run += 1
        if states.any_order or not entry.is_required:
            found.setdefault((entry.node, run), {})[entry.key] = index
    groups = [KeyGroup(node, keys) for (node, _), keys in found.items() if len(keys) >= least]
    for number, group in enumerate(groups):
        for index in group.numbers.values():
            number_of[index] = number
    return groups, number_of
