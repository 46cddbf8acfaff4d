"""The types of structural tags with marks.

    tag                    begin content end
    triggered_tags         free text, in which a trigger begins one of the tags:  text <f=a>…</f> text <f=b>…</f> text
    tags_with_separator    tags with a text between them, and nothing else
    dispatch               free text, in which a pattern is followed by a format

Free text ends where a mark first occurs.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from structgen.kbnf import ast
from structgen.kbnf.rewriting import sequence
from structgen.output_types.structural_tags.fields import Fields, refuse
from structgen.output_types.structural_tags.reader import Reader, ReadFormat, Scope, flat

__all__ = ["TAGS", "Tag", "alternatives", "read_tags", "triggered"]


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag that was read.

    Attributes:
        begin: its begin mark: a text, or a token terminal.
        rest: what follows it: the content and the end mark.
        pointer: its location.
    """

    begin: str | ast.Token
    rest: ast.Expression
    pointer: str

    def after(self, reader: Reader, written: str = "") -> ast.Expression:
        """Return the tag without the first characters of its begin mark."""
        if isinstance(self.begin, ast.Token):
            return sequence([self.begin, *flat(self.rest)])
        begin = reader.text_after(self.begin, written, f"{self.pointer}/begin")
        return sequence([*flat(begin), *flat(self.rest)])


def alternatives(parts: list[ast.Expression]) -> ast.Expression:
    """Return the choice of some expressions, at least one."""
    return parts[0] if len(parts) == 1 else ast.Choice(tuple(parts))


def _read_tag(reader: Reader, fields: Fields) -> Tag:
    begin = fields.value("begin")
    mark = _mark(reader, begin, fields.at("begin")) if isinstance(begin, dict) else fields.text("begin")
    end, scope = _end(reader, fields)
    content = reader.read(fields.value("content"), fields.at("content"), scope)
    return Tag(mark, sequence([*flat(content), *flat(end)]), fields.pointer)


def _mark(reader: Reader, data: Any, pointer: str) -> ast.Token:
    """Return the token terminal of a mark."""
    found = reader.read(data, pointer, Scope())
    if not isinstance(found, ast.Token) or found.is_negated:
        refuse("a mark is a text or a token", pointer)
    return found


def _end(reader: Reader, fields: Fields) -> tuple[ast.Expression, Scope]:
    """Return the end mark of a tag, and the scope within the tag."""
    end = fields.value("end")
    if isinstance(end, dict):
        mark = _mark(reader, end, fields.at("end"))
        return mark, Scope(end_tokens=(*mark.names, *(first for first, _ in mark.ids)))
    ends = end if isinstance(end, list) else [end]
    if not ends or not all(isinstance(text, str) for text in ends):
        refuse("an end is a text, a list of at least one text, or a token", fields.at("end"))
    ends = list(dict.fromkeys(ends))
    content = fields.value("content")
    is_text = isinstance(content, dict) and content.get("type") == "any_text"
    scope = Scope(tuple(filter(None, ends)), mark=ends[0] if is_text and len(ends) == 1 else "")
    return alternatives([reader.text(text) for text in ends]), scope


def _tag(reader: Reader, fields: Fields, scope: Scope) -> ast.Expression:
    return _read_tag(reader, fields).after(reader)


def read_tags(reader: Reader, fields: Fields) -> list[Tag]:
    """Return the tags of a list, the value of a key."""
    found: list[Tag] = []
    for index, data in enumerate(fields.items("tags")):
        inner = Fields(data, fields.at("tags", index))
        if inner.text("type", "tag") != "tag":
            refuse("it must be a tag", inner.at("type"))
        found.append(_read_tag(reader, inner))
        inner.done()
    return found


# --- tags in free text -----------------------------------------------------------------------------------------------


def _triggered_tags(reader: Reader, fields: Fields, scope: Scope) -> ast.Expression:
    tags = read_tags(reader, fields)
    excludes = {*fields.texts("excludes", []), *scope.ends}
    at_least_one, stops = fields.flag("at_least_one"), fields.flag("stop_after_first")
    return triggered(reader, fields, tags, excludes, at_least_one=at_least_one, stops=stops)


def triggered(
    reader: Reader,
    fields: Fields,
    tags: list[Tag],
    excludes: Collection[str] = (),
    *,
    at_least_one: bool = False,
    stops: bool = False,
) -> ast.Expression:
    """Return tags in free text.

    Args:
        reader: the reader.
        fields: has the triggers.
        tags: the tags.
        excludes: texts that must not occur in the free text.
        at_least_one: whether the text begins with a tag.
        stops: whether it ends after the first tag.
    """
    by_trigger = _by_trigger(list(dict.fromkeys(fields.texts("triggers"))), tags, fields)
    first = alternatives([tag.after(reader) for tag in tags])
    if at_least_one and stops:
        return first
    following: list[tuple[str, ast.Expression]] = []
    for trigger, own in by_trigger.items():
        following.append((trigger, reader.rule("triggered", alternatives([tag.after(reader, trigger) for tag in own]))))
    text = _dispatched(reader, following, excludes, loop=not stops)
    return sequence([reader.rule("first_tag", first), text]) if at_least_one else text


def _by_trigger(triggers: list[str], tags: list[Tag], fields: Fields) -> dict[str, list[Tag]]:
    """Return the tags of each trigger.

    Raises:
        GrammarError: a tag begins with no trigger or with several; or no tag begins with a trigger.
    """
    found: dict[str, list[Tag]] = {trigger: [] for trigger in triggers}
    for tag in tags:
        if isinstance(tag.begin, ast.Token):
            refuse("the tag begins with a token", f"{tag.pointer}/begin", hint="use token_triggered_tags")
        own = [trigger for trigger in triggers if tag.begin.startswith(trigger)]
        if len(own) != 1:
            what = "with none of the triggers" if not own else f"with several triggers: {', '.join(map(repr, own))}"
            refuse(f"the tag begins {what}", f"{tag.pointer}/begin", hint="a trigger is the first part of a begin mark")
        found[own[0]].append(tag)
    for index, trigger in enumerate(triggers):
        if not found[trigger]:
            refuse(f"no tag begins with the trigger {trigger!r}", fields.at("triggers", index), hint="remove it")
    return found


def _dispatched(
    reader: Reader, following: list[tuple[str, ast.Expression]], excludes: Collection[str], *, loop: bool
) -> ast.Expression:
    """Return free text in which a mark must be followed by an expression.

    Args:
        reader: the reader.
        following: the marks, and what follows each.
        excludes: texts that must not occur in the free text.
        loop: whether free text follows again.
    """
    marks = [mark for mark, _ in following]
    parts: list[ast.Expression] = []
    for mark, rest in following:
        parts.append(sequence([*flat(reader.up_to(mark, marks, excludes)), rest]))
    tail = reader.any_text([*marks, *excludes])
    if loop:
        return sequence([ast.ZeroOrMore(alternatives(parts)), tail])
    return ast.Choice((*parts, tail))


def _dispatch(reader: Reader, fields: Fields, scope: Scope) -> ast.Expression:
    following: list[tuple[str, ast.Expression]] = []
    for index, rule in enumerate(fields.items("rules")):
        pointer = fields.at("rules", index)
        if not isinstance(rule, (list, tuple)) or len(rule) != 2 or not isinstance(rule[0], str) or not rule[0]:
            refuse("a rule is a list of a text and a format", pointer)
        following.append((rule[0], reader.read(rule[1], f"{pointer}/1", scope)))
    return _dispatched(reader, following, set(fields.texts("excludes", [])), loop=fields.flag("loop", True))


# --- tags only -------------------------------------------------------------------------------------------------------


def _tags_with_separator(reader: Reader, fields: Fields, scope: Scope) -> ast.Expression:
    tags = read_tags(reader, fields)
    separator = fields.text("separator")
    at_least_one, stops = fields.flag("at_least_one"), fields.flag("stop_after_first")
    one = reader.rule("tag", alternatives([tag.after(reader) for tag in tags]))
    whole: ast.Expression = one
    if not stops:
        more = sequence([*flat(reader.text(separator)), one])
        whole = sequence([one, ast.ZeroOrMore(more)])
    return whole if at_least_one else ast.Option(whole)


TAGS: dict[str, ReadFormat] = {
    "tag": _tag,
    "triggered_tags": _triggered_tags,
    "tags_with_separator": _tags_with_separator,
    "dispatch": _dispatch,
}
"""The function that reads each of these types."""
