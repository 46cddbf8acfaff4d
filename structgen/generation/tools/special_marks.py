"""Marks of tool calls that are special tokens of a vocabulary: they become token terminals.

A special token has no text, so no text of a grammar is that token:

    "<|channel|>final<|message|>"   ->   #token"<|channel|>" "final" #token"<|message|>"

Other marks stay texts, also those that are one token of the vocabulary, such as Qwen's `<tool_call>`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from structgen.engine.regex.tree import Regex
from structgen.kbnf import ast
from structgen.kbnf.rewriting import nodes_of, rewrite, sequence
from structgen.output_types.grammar import Grammar
from structgen.output_types.structural_tags.free_text import any_text, up_to
from structgen.output_types.tool_formats.families import FAMILIES
from structgen.output_types.tool_formats.more_families import MORE_FAMILIES

__all__ = ["with_special_tokens"]


def with_special_tokens(grammar: Grammar, format: str, names: Collection[str]) -> Grammar:
    """Return the grammar of a format with token terminals for the marks that are special tokens.

    Args:
        grammar: the grammar of `Grammar.tool_calls`.
        format: the name of the format.
        names: the names of the special tokens; other names than the format's marks do not matter.
    """
    if not names:
        return grammar
    pattern = re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True))))
    triggers = _triggers(format, pattern)

    def changed(node: ast.Expression) -> ast.Expression:
        if isinstance(node, ast.Literal):
            return _split(node.data.decode(), pattern)
        if isinstance(node, ast.RegexTerminal) and node.regex in triggers:
            return triggers[node.regex]
        return node

    rules = tuple(ast.Rule(rule.name, rewrite(rule.body, changed)) for rule in grammar.tree.rules)
    used = sorted({name for rule in rules for name in _names_in(rule.body)})
    if not used:
        return grammar
    return replace(grammar, tree=replace(grammar.tree, rules=rules), source=f"{grammar.source}\n{used}")


def _names_in(body: ast.Expression) -> Collection[str]:
    return [name for node in nodes_of(body) if isinstance(node, ast.Token) for name in node.names]


def _triggers(format: str, pattern: re.Pattern[str]) -> dict[Regex, ast.Expression]:
    """Return the regexes of free text up to the format's trigger, each with the expression in its place.

    A special token does not occur in free text, so the text before it may be any.
    """
    family = {**FAMILIES, **MORE_FAMILIES}.get(format)
    if family is None:
        return {}
    trigger = family.trigger or (family.section[0] if family.section else family.begin.partition("NAME")[0])
    if not pattern.search(trigger):
        return {}
    excludes = {text for text in family.excludes if not pattern.search(text)}
    before = ast.RegexTerminal(any_text(excludes))
    found = sequence([before, _split(trigger, pattern)])
    return {up_to(trigger, [trigger], {*family.excludes}): found}


def _split(text: str, pattern: re.Pattern[str]) -> ast.Expression:
    parts: list[ast.Expression] = []
    position = 0
    for found in pattern.finditer(text):
        if found.start() > position:
            parts.append(ast.Literal(text[position : found.start()].encode()))
        parts.append(ast.Token((found.group(),)))
        position = found.end()
    if not parts:
        return ast.Literal(text.encode())
    if position < len(text):
        parts.append(ast.Literal(text[position:].encode()))
    return sequence(parts)
