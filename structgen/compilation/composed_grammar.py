r"""The trees of templates, of JSON Lines and of grammars with schemas in them, made of the trees of their parts.

    template("Name: {name}\nAge: {age}", name=str, age=int)

becomes

    start ::= 'Name: ' #ex'\\nAge: '? '\nAge: ' age;
    age ::= #'…';

Free text is `#ex'…'` of the text after it, and `except!('…')` in the older dialect. Both are of bytes there; in the
other dialects, free text is the regex of characters that structgen's own engine runs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from structgen.compilation.template_rules import bare_strings
from structgen.errors import StructgenError
from structgen.kbnf import ast
from structgen.kbnf.holes import filled, holes_of
from structgen.kbnf.rewriting import group_rules, nodes_of, rewrite, sequence
from structgen.output_types.bound_schemas import BoundSchema
from structgen.output_types.json_lines import JsonLines
from structgen.output_types.template import Hole, Template
from structgen.schema.algebra import StringSet

__all__ = ["grammar_with_schemas", "json_lines_grammar", "template_grammar"]

TreeOf = Callable[[Any], ast.Grammar]
StringsOf = Callable[[Any], tuple[StringSet, ...]]

_START = "start"
_NEW_LINE = ast.Literal(b"\n")


def json_lines_grammar(lines: JsonLines, tree_of: TreeOf) -> ast.Grammar:
    """Return the tree of JSON Lines: values with a line break between them, and perhaps one at the end.

    Args:
        lines: the schema of a line, and the number of lines.
        tree_of: returns the tree of a schema whose white space has no line breaks.
    """
    rules = _Rules()
    item = rules.add("line", tree_of(lines.item))
    more = ast.Bounded(
        ast.Sequence((_NEW_LINE, item)), max(lines.min_items - 1, 0), lines.max_items and lines.max_items - 1
    )
    body = ast.Sequence((item, more, ast.Option(_NEW_LINE)))
    return rules.grammar(body if lines.min_items else ast.Option(body))


def template_grammar(template: Template, tree_of: TreeOf, strings_of: StringsOf) -> ast.Grammar:
    """Return the tree of a template.

    Args:
        template: the template.
        tree_of: returns the tree of what a hole holds.
        strings_of: returns the strings of a hole whose values are strings only; nothing for other holes.
    """
    rules = _Rules()
    parts: list[ast.Expression] = []
    for number, part in enumerate(template.parts):
        if isinstance(part, str):
            parts.append(ast.Literal(part.encode()))
            continue
        after = template.parts[number + 1] if number + 1 < len(template.parts) else ""
        parts.append(_hole(part, after if isinstance(after, str) else "", rules, tree_of, strings_of))
    return rules.grammar(sequence(parts))


def _hole(hole: Hole, after: str, rules: _Rules, tree_of: TreeOf, strings_of: StringsOf) -> ast.Expression:
    try:
        strings = strings_of(hole.schema)
        return bare_strings(strings, after) if strings else rules.add(hole.name, tree_of(hole.schema))
    except StructgenError as error:
        error.add_location(f"the hole {hole.name!r}")
        raise


def grammar_with_schemas(grammar: ast.Grammar, tree_of: Callable[[BoundSchema], ast.Grammar]) -> ast.Grammar:
    """Return the tree of a grammar with the rules of the schemas in it.

    Args:
        grammar: the tree, with holes for the schemas.
        tree_of: returns the tree of a schema.
    """
    rules = _Rules(taken={rule.name for rule in grammar.rules})
    placed: dict[int, ast.Expression] = {}
    for hole in holes_of(grammar):
        assert isinstance(hole.content, BoundSchema)
        try:
            placed[id(hole.content)] = rules.add(hole.name, tree_of(hole.content))
        except StructgenError as error:
            error.add_location(hole.content.place)
            raise
    whole = filled(grammar, lambda hole: placed[id(hole.content)])
    return ast.Grammar((*whole.rules, *rules.all()), whole.start)


class _Rules:
    """The rules of several trees in one grammar: equal rules are shared, others of the same name get a prefix.

    Args:
        taken: names of other rules.
    """

    def __init__(self, taken: Collection[str] = ()) -> None:
        self._taken = {_START, *taken}
        self._rules: dict[str, ast.Rule] = {}

    def add(self, name: str, tree: ast.Grammar) -> ast.Reference:
        """Add the rules of a tree, and return a reference to its start.

        Args:
            name: the wished name of the start; a taken one gets a prefix or a number.
            tree: the tree.
        """
        rules = {rule.name: rule for rule in reversed(tree.rules)}
        for rule_name, bodies in group_rules(tree).items():
            if len(bodies) > 1:
                rules[rule_name] = replace(rules[rule_name], body=ast.Choice(tuple(bodies)))
        start = tree.start
        uses = [found for rule in rules.values() for found in _names_in(rule.body)]
        alias = rules[start].body
        if isinstance(alias, ast.Reference) and start not in uses:  # the name that it refers to says more
            del rules[start]
            tree, start = ast.Grammar(tuple(rules.values()), alias.name), alias.name
            name = name if start == _START else start
        shared = self._shared(rules)
        names: dict[str, str] = {}
        for rule_name in (start, *dict.fromkeys(rule.name for rule in tree.rules)):
            if rule_name not in names:
                wish = name if rule_name == start else rule_name
                names[rule_name] = rule_name if rule_name in shared else self._fresh(wish, name)
        for rule_name, written in names.items():
            if rule_name not in shared:
                rule = rules[rule_name]
                self._rules[written] = replace(
                    rule, name=written, body=rewrite(rule.body, lambda node: _renamed(node, names))
                )
        return ast.Reference(names[start])

    def _shared(self, rules: dict[str, ast.Rule]) -> set[str]:
        """Return the names of the rules that were added before and are equal, with all rules that they lead to."""
        found = {name for name, rule in rules.items() if self._rules.get(name) == rule}
        is_changing = True
        while is_changing:
            wrong = {name for name in found if not _names_in(rules[name].body) <= found}
            found -= wrong
            is_changing = bool(wrong)
        return found

    def grammar(self, body: ast.Expression) -> ast.Grammar:
        """Return all rules, with a start of this body before them."""
        return ast.Grammar((ast.Rule(_START, body), *self.all()), _START)

    def all(self) -> list[ast.Rule]:
        """Return all rules."""
        return list(self._rules.values())

    def _fresh(self, wish: str, owner: str) -> str:
        """Return a free name, and reserve it.

        Args:
            wish: the name itself, if it is free. Otherwise the owner's name is put before it, or a number after it.
            owner: the name of the part that the rule belongs to.
        """
        name, count = wish, 2
        if name in self._rules or name in self._taken:
            name = wish = f"{owner}_{wish}" if wish != owner else wish
        while name in self._rules or name in self._taken:
            name, count = f"{wish}_{count}", count + 1
        self._rules[name] = ast.Rule(name, _NEW_LINE)  # replaced by its rule
        return name


def _names_in(body: ast.Expression) -> set[str]:
    return {node.name for node in nodes_of(body) if isinstance(node, ast.Reference)}


def _renamed(node: ast.Expression, names: dict[str, str]) -> ast.Expression:
    if isinstance(node, ast.Reference):
        return ast.Reference(names.get(node.name, node.name))
    if isinstance(node, ast.Except) and isinstance(node.excluded, ast.Reference):
        return ast.Except(ast.Reference(names.get(node.excluded.name, node.excluded.name)), node.limit)
    return node
