"""A textbook Earley recognizer over KBNF trees, slow and simple: the oracle for the engine.

It shares no code with the engine: nullable rules are found by running to a fixed point, terminals are matched by the
`regex` package (whose partial matches tell whether a text can be continued).
"""

from __future__ import annotations

import regex

from structgen.kbnf import ast

# A nonterminal, or ("literal", bytes), or ("regex", pattern), or ("not", pattern of a character that must not follow).
Symbol = str | tuple[str, bytes]


class NaiveRecognizer:
    """Recognizes texts, and beginnings of texts, of a grammar whose regex terminals have a source."""

    def __init__(self, grammar: ast.Grammar) -> None:
        self.rules: dict[str, list[list[Symbol]]] = {}
        self.start = grammar.start
        for rule in grammar.rules:
            self.rules.setdefault(rule.name, []).extend(self._bodies(rule.body))
        self._patterns: dict[bytes, regex.Pattern[bytes]] = {}
        self._drop_silent_rules()

    def _drop_silent_rules(self) -> None:
        """Drops rules with a nonterminal that derives no text and spells nothing either, such as `A ::= A;`.

        Rules that never end but spell something, such as `B ::= 'a' B;`, stay, as in the published KBNF engine.
        """
        while True:
            ends: set[str] = set()  # derive some text
            spells: set[str] = set()  # show some byte
            before = -1
            while before != len(ends) + len(spells):
                before = len(ends) + len(spells)
                for name, bodies in self.rules.items():
                    for body in bodies:
                        if all(symbol in ends for symbol in body if isinstance(symbol, str)):
                            ends.add(name)
                        for symbol in body:
                            if not isinstance(symbol, str) or symbol in spells:
                                spells.add(name)
                            if isinstance(symbol, str) and symbol not in ends:
                                break
            usable = ends | spells
            kept = {
                name: [body for body in bodies if all(s in usable for s in body if isinstance(s, str))]
                for name, bodies in self.rules.items()
            }
            if kept == self.rules:
                return
            self.rules = kept

    def _bodies(self, node: ast.Expression) -> list[list[Symbol]]:
        if isinstance(node, ast.Choice):
            return [body for part in node.parts for body in self._bodies(part)]
        if isinstance(node, ast.Sequence):
            return [[self._symbol(part) for part in node.parts]]
        return [[self._symbol(node)]]

    def _symbol(self, node: ast.Expression) -> Symbol:
        if isinstance(node, ast.Reference):
            return node.name
        if isinstance(node, ast.Literal):
            return ("literal", node.data)
        if isinstance(node, ast.RegexTerminal):
            assert node.source is not None and node.kind == ""
            return ("regex", node.source.encode())
        if isinstance(node, ast.NotFollowedBy):
            kind, source = self._symbol(node.body)
            return ("not", regex.escape(source) if kind == "literal" else source)
        name = f"#{len(self.rules)}"
        self.rules[name] = []
        if isinstance(node, ast.Option):
            bodies = [[], [self._symbol(node.body)]]
        elif isinstance(node, ast.ZeroOrMore):
            bodies = [[], [self._symbol(node.body), name]]
        elif isinstance(node, ast.OneOrMore):
            body = self._symbol(node.body)
            bodies = [[body], [body, name]]
        elif isinstance(node, ast.Bounded):
            assert node.max is not None
            body = self._symbol(node.body)
            bodies = [[body] * count for count in range(node.min, node.max + 1)]
        else:
            bodies = self._bodies(node)
        self.rules[name] = bodies
        return name

    def _pattern(self, source: bytes) -> regex.Pattern[bytes]:
        if source not in self._patterns:
            self._patterns[source] = regex.compile(source, regex.DOTALL)
        return self._patterns[source]

    def run(self, text: bytes) -> tuple[bool, bool]:
        """Whether the text can be continued to (or is) something the rules spell, and whether it is whole.

        "Can be continued" does not ask whether the continuation ever ends.
        """
        size = len(text)
        chart: list[set[tuple[str, int, int, int]]] = [set() for _ in range(size + 1)]
        chart[0] = {(self.start, index, 0, 0) for index in range(len(self.rules[self.start]))}
        viable = whole = False
        for place in range(size + 1):
            agenda = list(chart[place])
            while agenda:
                name, index, dot, origin = agenda.pop()
                body = self.rules[name][index]
                new: list[tuple[int, tuple[str, int, int, int]]] = []
                if dot == len(body):
                    if place == size and name == self.start and origin == 0:
                        whole = True
                    for item in list(chart[origin]):
                        waiting = self.rules[item[0]][item[1]]
                        if item[2] < len(waiting) and waiting[item[2]] == name:
                            new.append((place, (item[0], item[1], item[2] + 1, item[3])))
                elif isinstance(body[dot], str):
                    symbol = body[dot]
                    new.extend((place, (symbol, other, 0, place)) for other in range(len(self.rules[symbol])))
                    if any((symbol, o, len(b), place) in chart[place] for o, b in enumerate(self.rules[symbol])):
                        new.append((place, (name, index, dot + 1, origin)))
                else:
                    ends, partial = self._scan(body[dot], text, place)
                    viable = viable or partial
                    new.extend((end, (name, index, dot + 1, origin)) for end in ends)
                for end, item in new:
                    if item not in chart[end]:
                        chart[end].add(item)
                        if end == place:
                            agenda.append(item)
        return viable or whole, whole

    def _scan(self, terminal: tuple[str, bytes], text: bytes, place: int) -> tuple[list[int], bool]:
        """Where the terminal may end, and whether the rest of the text is a beginning of it."""
        kind, data = terminal
        rest = text[place:]
        if kind == "not":
            return ([] if self._pattern(data).match(rest) else [place]), False
        if kind == "literal":
            return ([place + len(data)] if rest.startswith(data) else []), data.startswith(rest)
        pattern = self._pattern(data)
        ends = [end for end in range(place, len(text) + 1) if pattern.fullmatch(text[place:end])]
        return ends, pattern.fullmatch(rest, partial=True) is not None
