"""The types of structural tags that are made of tokens, not of text.

    token                  one token, by its id or name
    exclude_token          one token that is none of some
    any_tokens             any number of them
    token_triggered_tags   free tokens, in which a token begins one of the tags
    token_dispatch         free tokens, in which a token is followed by a format

End tokens of the vocabulary are no free tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from structgen.kbnf import ast
from structgen.kbnf.rewriting import sequence
from structgen.output_types.structural_tags.fields import Fields, refuse
from structgen.output_types.structural_tags.reader import Reader, ReadFormat, Scope
from structgen.output_types.structural_tags.tags import Tag, alternatives, read_tags

__all__ = ["TOKENS"]

_Named = int | str


def _token_of(value: Any, pointer: str) -> _Named:
    is_id = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if not is_id and not (isinstance(value, str) and value):
        refuse("a token is an id or a name", pointer)
    found: _Named = value
    return found


def _terminal(tokens: Iterable[_Named], *, is_negated: bool = False) -> ast.Token:
    """Return the terminal of some tokens, or of all others."""
    found = list(dict.fromkeys(tokens))
    names = tuple([token for token in found if isinstance(token, str)])
    return ast.Token(names, tuple([(token, token) for token in found if isinstance(token, int)]), is_negated)


def _tokens(fields: Fields, name: str) -> list[_Named]:
    items = fields.items(name, [], may_be_empty=True)
    return [_token_of(item, fields.at(name, index)) for index, item in enumerate(items)]


def _token(reader: Reader, fields: Fields, scope: Scope) -> ast.Expression:
    return _terminal([_token_of(fields.value("token"), fields.at("token"))])


def _exclude_token(reader: Reader, fields: Fields, scope: Scope) -> ast.Expression:
    return _terminal([*_tokens(fields, "exclude_tokens"), *scope.end_tokens], is_negated=True)


def _any_tokens(reader: Reader, fields: Fields, scope: Scope) -> ast.Expression:
    return ast.Bounded(_exclude_token(reader, fields, scope), 0, fields.count("max_tokens", None))


def _dispatched(
    following: Sequence[tuple[_Named, ast.Expression]], excludes: Iterable[_Named], *, loop: bool
) -> ast.Expression:
    """Return free tokens in which some tokens must be followed by expressions."""
    free = ast.ZeroOrMore(_terminal([*(token for token, _ in following), *excludes], is_negated=True))
    parts = [sequence([_terminal([token]), rest]) for token, rest in following]
    if loop:
        return sequence([free, ast.ZeroOrMore(sequence([alternatives(parts), free]))])
    return sequence([free, ast.Option(alternatives(parts))])


def _token_triggered_tags(reader: Reader, fields: Fields, scope: Scope) -> ast.Expression:
    tags = read_tags(reader, fields)
    triggers = _tokens(fields, "trigger_tokens")
    excludes = [*_tokens(fields, "exclude_tokens"), *scope.end_tokens]
    at_least_one, stops = fields.flag("at_least_one"), fields.flag("stop_after_first")
    first = alternatives([tag.after(reader) for tag in tags])
    by_trigger = _by_trigger(triggers, tags, fields)
    if at_least_one and stops:
        return first
    following: list[tuple[_Named, ast.Expression]] = []
    for trigger, own in by_trigger.items():
        following.append((trigger, reader.rule("triggered", alternatives([tag.rest for tag in own]))))
    text = _dispatched(following, excludes, loop=not stops)
    return sequence([reader.rule("first_tag", first), text]) if at_least_one else text


def _by_trigger(triggers: list[_Named], tags: list[Tag], fields: Fields) -> dict[_Named, list[Tag]]:
    """Return the tags of each trigger.

    Raises:
        GrammarError: a tag begins with a text or with no trigger; or no tag begins with a trigger.
    """
    found: dict[_Named, list[Tag]] = {trigger: [] for trigger in triggers}
    for tag in tags:
        own = [trigger for trigger in triggers if tag.begin == _terminal([trigger])]
        if not own:
            refuse("the tag begins with none of the trigger tokens", f"{tag.pointer}/begin")
        found[own[0]].append(tag)
    for index, trigger in enumerate(triggers):
        if not found[trigger]:
            refuse(f"no tag begins with the token {trigger!r}", fields.at("trigger_tokens", index), hint="remove it")
    return found


def _token_dispatch(reader: Reader, fields: Fields, scope: Scope) -> ast.Expression:
    following: list[tuple[_Named, ast.Expression]] = []
    for index, rule in enumerate(fields.items("rules")):
        pointer = fields.at("rules", index)
        if not isinstance(rule, (list, tuple)) or len(rule) != 2:
            refuse("a rule is a list of a token and a format", pointer)
        following.append((_token_of(rule[0], f"{pointer}/0"), reader.read(rule[1], f"{pointer}/1", scope)))
    excludes = _tokens(fields, "exclude_tokens")
    return _dispatched(following, excludes, loop=fields.flag("loop", True))


TOKENS: dict[str, ReadFormat] = {
    "token": _token,
    "exclude_token": _exclude_token,
    "any_tokens": _any_tokens,
    "token_triggered_tags": _token_triggered_tags,
    "token_dispatch": _token_dispatch,
}
"""The function that reads each of these types."""
