"""Groups of properties in any order whose values have one schema: their keys are one terminal.

In any order, a state has a bit for each property that was written. With a body for each of n properties, one state
leads to n states of n bits. A group has one body instead: it captures the key, and the key decides the state after it.

    {"properties": {"a1": {"type": "string"}, ..., "a9": {"type": "string"}}}        "a1" | ... | "a9"   then its state
"""

from __future__ import annotations

from structgen.engine.regex.tree import Literal, LiteralSet, Regex
from structgen.schema.algebra import Node
from structgen.schema.json_text.strings import canonical
from structgen.schema.rules.object_states import ObjectStates

__all__ = ["KeyGroup", "groups_of"]

MIN_GROUPED = 128  # properties of a group; few have bodies of their own, whose masks are known without a check


class KeyGroup:
    """Properties of one node, all of them required or none.

    Attributes:
        node: the node of the values.
        numbers: the index of each property, by key.
    """

    def __init__(self, node: Node, numbers: dict[str, int]) -> None:
        self.node = node
        self.numbers = numbers
        self._spelled = sorted((canonical(key), index) for key, index in numbers.items())

    def first_left(self, progress: int) -> int:
        """Return the first property that was not written; -1 if all were."""
        for index in self.numbers.values():
            if not progress >> index & 1:
                return index
        return -1

    def keys_left(self, progress: int) -> Regex:
        """Return the terminal of the keys that were not written yet; there must be one."""
        written = progress.to_bytes((progress.bit_length() + 7) // 8 + (max(self.numbers.values()) >> 3) + 1, "little")
        texts = [text for text, index in self._spelled if not written[index >> 3] >> (index & 7) & 1]
        return LiteralSet(tuple(texts)) if len(texts) > 1 else Literal(texts[0])


def groups_of(states: ObjectStates, can_capture: bool) -> tuple[list[KeyGroup], list[int]]:
    """Return the groups of a set's properties, and the indices of the properties in no group."""
    found: dict[tuple[Node, bool], dict[str, int]] = {}
    if can_capture and states.any_order and not states.asked and len(states.properties) >= MIN_GROUPED:
        for index, entry in enumerate(states.properties):
            found.setdefault((entry.node, entry.is_required), {})[entry.key] = index
    groups = [KeyGroup(node, keys) for (node, _), keys in found.items() if len(keys) >= MIN_GROUPED]
    grouped = {index for group in groups for index in group.numbers.values()}
    return groups, [index for index in range(len(states.properties)) if index not in grouped]
