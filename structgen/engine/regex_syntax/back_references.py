r"""Patterns with back-references as patterns without them, where a referenced group has few texts.

No automaton can match a back-reference in general. Often the group is a quote or a separator:

    (['"])[^'"]*\1        \'[^'"]*\'|\"[^'"]*\"
    \d{4}(-?)\d\d\1\d\d   \d{4}\-\d\d\-\d\d|\d{4}\d\d\d\d

The sequence that holds the group and all its references becomes a choice, with one alternative for each text of the
group. If the group is optional, one more alternative leaves it out. Then Python's back-reference matches nothing, and
that of ECMA-262 matches the empty text.

The pattern is read as a tree of groups, the rest of it as plain text. What this module does not know, such as flags,
stays as it is: the parser refuses the back-reference by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TypeAlias

__all__ = ["without_back_references"]

MAX_TEXTS = 16  # of a group that a back-reference repeats
MAX_CHARACTERS = 20_000  # of a pattern without its back-references
_MAX_DEPTH = 50  # nested groups
_MAX_REFERENCES = 16  # groups with references, those in copies included

_NEVER = r"[^\s\S]"
_CLASSES = {"ecma": r"\[(?:\\.|[^\]\\])*\]", "python": r"\[\^?\]?(?:\\.|[^\]\\])*\]"}
_REFERENCES = {"ecma": r"\\([1-9]\d*)|\\k<([^>]*)>", "python": r"\\([1-9]\d?)(?!\d)|\(\?P=(\w+)\)"}
_OPENINGS = {"ecma": r"\((?!\?)|\(\?<(?![=!])([^>]*)>", "python": r"\((?!\?)|\(\?P<([^>]*)>"}
_QUANTIFIER = re.compile(r"(?:[*+?]|\{\d+(?:,\d*)?\})\??")
_AT_MOST_ONCE = ("", "?", "??", "{1}", "{0,1}", "{0,1}?", "{1,1}")
_PLAIN = ("", "(?:")


@dataclass
class _Group:
    """A group, or the whole pattern.

    Attributes:
        opening: its opening bracket; "(?:" for a group that captures; "" for the whole pattern.
        number: of a group that captures; else 0.
        branches: its alternatives: texts, groups, and numbers of the groups that are referred to.
        quantifier: follows its closing bracket.
    """

    opening: str
    number: int = 0
    branches: list[list[_Part]] = field(default_factory=lambda: [[]])
    quantifier: str = ""


_Part: TypeAlias = "str | int | _Group"
_Step = tuple[_Group, int, int]  # a group, the branch and the index in it that lead towards a part


class _CannotExpandError(Exception):
    """A back-reference must stay."""


def without_back_references(
    pattern: str, dialect: str, texts_of: Callable[[str], list[str] | None], *, unset_is_empty: bool = False
) -> str:
    """Return a pattern that matches the same texts, without back-references; the same pattern where that is impossible.

    Args:
        pattern: the regular expression.
        dialect: "ecma" or "python"; in other dialects nothing is done.
        texts_of: returns all texts that a pattern matches; None if they are many.
        unset_is_empty: whether a reference to a group without a match matches the empty text, as in ECMA-262, or
            nothing, as in Python.
    """
    if dialect not in _REFERENCES:
        return pattern
    try:
        whole, numbers = _read(pattern, dialect)
        for step in range(_MAX_REFERENCES):
            if not any(isinstance(part, int) for part, _ in _parts(whole)):
                return _written(whole) if step else pattern
            _expand_one(whole, numbers, texts_of, _literal("") if unset_is_empty else _NEVER)
    except _CannotExpandError:
        pass
    return pattern


def _read(pattern: str, dialect: str) -> tuple[_Group, Iterator[int]]:
    """Return the tree of a pattern, and numbers that no group has."""
    token = re.compile(
        rf"(?P<reference>{_REFERENCES[dialect]})|(?P<opening>{_OPENINGS[dialect]})|(?P<plain>\(\?(?::|<?[=!]))"
        rf"|(?P<close>\))|(?P<bar>\|)|(?P<text>{_CLASSES[dialect]}|\\.|[^()\\\[|]+)",
        re.DOTALL,
    )
    stack = [_Group("")]
    names: dict[str, int] = {}
    number = position = 0
    while position < len(pattern):
        found = token.match(pattern, position)
        if found is None or len(stack) > _MAX_DEPTH:
            raise _CannotExpandError
        position = found.end()
        given = [group for group in found.groups()[1:3] if group is not None]
        match found.lastgroup:
            case "reference":
                target = int(given[0]) if given[0].isdecimal() else names.get(given[0], 0)
                stack[-1].branches[-1].append(target)
            case "opening":
                number += 1
                if found[0] != "(":
                    names[found[0].partition("<")[2].removesuffix(">")] = number
                stack.append(_Group("(?:", number))
            case "plain":
                stack.append(_Group(found[0]))
            case "close":
                position = _close(stack, pattern, position)
            case "bar":
                stack[-1].branches.append([])
            case _:
                stack[-1].branches[-1].append(found[0])
    if len(stack) > 1:
        raise _CannotExpandError
    return stack[0], count(number + 1)


def _close(stack: list[_Group], pattern: str, position: int) -> int:
    """Close the innermost group; return the position after its quantifier."""
    group = stack.pop()
    if not stack:
        raise _CannotExpandError
    quantifier = _QUANTIFIER.match(pattern, position)
    if quantifier is not None:
        group.quantifier, position = quantifier[0], quantifier.end()
    stack[-1].branches[-1].append(group)
    return position


def _parts(group: _Group, path: tuple[_Step, ...] = ()) -> Iterator[tuple[_Part, tuple[_Step, ...]]]:
    """Yield all parts in a group, at any depth, each with the way to it."""
    for number, branch in enumerate(group.branches):
        for index, part in enumerate(branch):
            way = (*path, (group, number, index))
            yield part, way
            if isinstance(part, _Group):
                yield from _parts(part, way)


def _written(part: _Part) -> str:
    """Return the text of a part."""
    if not isinstance(part, _Group):
        return part if isinstance(part, str) else f"\\{part}"
    inside = "|".join("".join(map(_written, branch)) for branch in part.branches)
    return f"{part.opening}{inside}){part.quantifier}" if part.opening else inside


def _literal(text: str) -> str:
    """Return a pattern that matches one text."""
    escaped = [c if (c.isascii() and c.isalnum()) or not c.isascii() else f"\\{c}" for c in text]
    return f"(?:{''.join(escaped)})"


def _expand_one(whole: _Group, numbers: Iterator[int], texts_of: Callable[[str], list[str] | None], unset: str) -> None:
    """Replace one group and its references by the texts of the group.

    Raises:
        _CannotExpandError: no group can be replaced.
    """
    references: dict[int, list[tuple[_Step, ...]]] = {}
    groups: dict[int, list[tuple[_Group, tuple[_Step, ...]]]] = {}
    for part, way in _parts(whole):
        if isinstance(part, int):
            references.setdefault(part, []).append(way)
        elif isinstance(part, _Group) and part.number:
            groups.setdefault(part.number, []).append((part, way))
    for number, uses in references.items():
        found = groups.get(number, [])
        if len(found) != 1 or any(isinstance(part, int) for part, _ in _parts(found[0][0])):
            continue
        ((group, way),) = found
        step = _common_step(group, way, uses)
        if step is None:
            continue
        texts = texts_of(_written(replace(group, quantifier="")))
        if texts is None or len(texts) > MAX_TEXTS:
            continue
        _split(step, group, texts, numbers, unset)
        if len(_written(whole)) > MAX_CHARACTERS:
            raise _CannotExpandError
        return
    raise _CannotExpandError


def _is_met_once(group: _Group) -> bool:
    """Return whether a group matches at most once, and keeps what it captured."""
    return group.opening in _PLAIN and group.quantifier in _AT_MOST_ONCE


def _common_step(group: _Group, way: tuple[_Step, ...], uses: list[tuple[_Step, ...]]) -> _Step | None:
    """Return the step on the way to a group in the sequence that holds it, and then all its references.

    Returns None if there is none, or if a reference may see more than one match of the group. In a repeated sequence,
    Python keeps what an optional group matched in the round before, and ECMA-262 does not.
    """
    depth = _common_depth(way, uses)
    if depth is None or not all(_is_met_once(step[0]) for step in way[depth + 1 :]) or not _is_met_once(group):
        return None
    scope, branch, index = way[depth]
    is_repeated = not all(step[0].quantifier in _AT_MOST_ONCE for step in way[: depth + 1])
    return None if is_repeated and _may_be_left_out(scope.branches[branch][index], group) else way[depth]


def _common_depth(way: tuple[_Step, ...], uses: list[tuple[_Step, ...]]) -> int | None:
    """Return the depth of the sequence that holds a group and then all its references; None if there is none."""
    depth = len(way) - 1
    for use in uses:
        same = 0
        while same < min(len(way), len(use)) - 1 and way[same][0] is use[same][0] and way[same][1:] == use[same][1:]:
            same += 1
        mine, other = way[same], use[same]
        if mine[1] != other[1] or mine[2] >= other[2]:
            return None
        depth = min(depth, same)
    return depth


def _split(step: _Step, group: _Group, texts: list[str], numbers: Iterator[int], unset: str) -> None:
    """Replace the sequence at a step by one for each text of a group, and one without the group if it may be left out.

    Args:
        step: the sequence, and the index of its part that holds the group.
        group: the group.
        texts: its texts.
        numbers: numbers for the groups in copies.
        unset: the pattern of a reference to the group where it has no match.
    """
    scope, branch, index = step
    old = scope.branches[branch]
    kept = [
        _copy(old, {group.number: (_literal(text), _literal(text))}, numbers, must_hold=(index, group))
        for text in texts
    ]
    if _may_be_left_out(old[index], group):
        kept.append(_copy(old, {group.number: (_NEVER, unset)}, numbers))
    scope.branches[branch : branch + 1] = kept


def _may_be_left_out(part: _Part, group: _Group) -> bool:
    """Return whether a part may match without a group in it."""
    while isinstance(part, _Group):
        if part.quantifier not in ("", "{1}", "{1,1}") or (part is not group and len(part.branches) > 1):
            return True
        if part is group:
            return False
        part = next(inner for inner in part.branches[0] if _holds(inner, group))
    return False  # not reached: the group is inside


def _holds(part: _Part, group: _Group) -> bool:
    """Return whether a part is a group, or has it inside."""
    return part is group or (isinstance(part, _Group) and any(inner is group for inner, _ in _parts(part)))


def _copy(
    branch: list[_Part],
    texts: dict[int, tuple[str, str]],
    numbers: Iterator[int],
    must_hold: tuple[int, _Group] | None = None,
) -> list[_Part]:
    """Return a copy of a sequence, with new numbers for the groups in it.

    Args:
        branch: the sequence.
        texts: for the number of a group, the patterns that replace the group and its references.
        numbers: the new numbers.
        must_hold: the index of a part and a group in it: of this part only what matches the group is kept.
    """
    new: dict[int, int] = {}

    def copied(part: _Part, forced: _Group | None) -> _Part:
        if isinstance(part, int):
            return texts[part][1] if part in texts else new.get(part, part)
        if not isinstance(part, _Group):
            return part
        quantifier = "" if forced else part.quantifier
        if part.number in texts:
            return replace(part, number=0, branches=[[texts[part.number][0]]], quantifier=quantifier)
        if part.number:
            new[part.number] = next(numbers)
        kept = [b for b in part.branches if forced is None or any(_holds(inner, forced) for inner in b)]
        branches = [[copied(p, forced if forced and _holds(p, forced) else None) for p in b] for b in kept]
        return replace(part, number=new.get(part.number, 0), branches=branches, quantifier=quantifier)

    return [
        copied(part, must_hold[1] if must_hold is not None and must_hold[0] == index else None)
        for index, part in enumerate(branch)
    ]
