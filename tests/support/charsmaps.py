"""Charsmaps of a few texts, as SentencePiece writes them."""

import struct

__all__ = ["charsmap"]

MOST = 1 << 16  # units


def charsmap(replaced):
    """Return the charsmap that replaces some texts."""
    new, places = b"", {}
    for text, instead in replaced.items():
        places[text.encode()] = len(new)
        new += instead.encode() + b"\0"
    nodes = {text[:size] for text in places for size in range(len(text) + 1)}
    units, used, firsts = [0] * MOST, {0}, set()
    waiting = [(0, b"")]
    while waiting:
        place, text = waiting.pop()
        labels = sorted(node[-1] for node in nodes if node[:-1] == text and node)
        slots = [*labels, 0] if text in places else labels
        first = next(at for at in range(1, MOST) if at not in firsts and not any(at ^ slot in used for slot in slots))
        firsts.add(first)
        used.update(first ^ slot for slot in slots)
        units[place] |= (place ^ first) << 10
        if text in places:
            units[place] |= 1 << 8
            units[first] = 1 << 31 | places[text]
        for label in labels:
            units[first ^ label] |= label
            waiting.append((first ^ label, text + bytes([label])))
    size = max(used) // 256 * 256 + 256
    return struct.pack(f"<{size + 1}I", 4 * size, *units[:size]) + new
