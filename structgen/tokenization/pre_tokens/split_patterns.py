r"""The regexes of pre-tokenizers, compiled to programs that are followed one character at a time.

They mean what a backtracking engine finds (Oniguruma, in `tokenizers`): of all ways to match, the first in the order of
alternatives and quantifiers counts, not the longest. A program keeps threads in order of preference (Pike; Cox,
"Regular Expression Matching: the Virtual Machine Approach", 2009). ` ?\p{L}+|\s` is compiled to

    0  split 1, 8
    1  split 2, 3        the space is preferred to none
    2  leaf ` `
    3  leaf \p{L}
    4  split 5, 7        one more letter is preferred to the end
    5  leaf \p{L}
    6  split 4, 4        a jump
    7  split 9, 9
    8  leaf \s
    9  match

The classes of characters (`\p{L}`, `[^\s\p{N}]`, `(?i:s)`) stay as their sources, *leaves*. `tokenizers` itself is
asked which characters they match, in its own version of Unicode (`character_classes.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from structgen.errors import VocabularyError

__all__ = ["Program", "Threads", "compile_pattern", "empty_pattern", "is_one_character", "literal_pattern", "union_of"]

MAX_COPIES = 256  # copies of a repeated part
MAX_LOOK_BEHINDS = 4  # classes that a pattern looks behind for

Threads: TypeAlias = tuple[int, ...]
"""Positions in a program, the preferred one first; steps that read no character are not followed yet."""

_PART = re.compile(r"\\[pP]\{\w+\}|\\[sdrn]")
_UNION = re.compile(rf"\[(\^?)((?:{_PART.pattern})+)\]")
_CASELESS = re.compile(r"\(\?i+:\\x\{([0-9a-f]+)\}\)")
_NAMED = {r"\r": r"\x{d}", r"\n": r"\x{a}"}
_SEVERAL = tuple({text for code in range(0x10000) if len(text := chr(code).casefold()) > 1})
"""Texts that single characters stand for if case does not matter: `ss` for ß. All are below U+10000."""
_TOKEN = re.compile(
    r"""(?P<group>\(\?[a-z]*:)|(?P<look>\(\?<?[=!])|(?P<other>\(\?.?.?)|(?P<open>\()|(?P<close>\))|(?P<bar>\|)
    |(?P<repeat>(?:[*+?]|\{[0-9]*(?:,[0-9]*)?\})[+?]?)|(?P<anchor>[$^]|\\[bBAz])
    |(?P<property>\\[pP]\{[^}]*\})|(?P<code>\\x\{[0-9A-Fa-f]+\}|\\x[0-7][0-9A-Fa-f]|\\u[0-9A-Fa-f]{4})
    |(?P<escape>\\[sSdDwWhHtnrfvae\W])|(?P<odd>\\.)|(?P<set>\[)|(?P<character>.)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A character of a class."""

    source: str


@dataclass(frozen=True, slots=True)
class _Row:
    """Parts one after another."""

    parts: tuple[_Node, ...]


@dataclass(frozen=True, slots=True)
class _Choice:
    """Alternatives, the preferred one first."""

    options: tuple[_Node, ...]


@dataclass(frozen=True, slots=True)
class _Repeat:
    """A part several times; `mode` is "" (greedy), "?" (lazy) or "+" (possessive)."""

    part: _Node
    least: int
    most: int | None
    mode: str


@dataclass(frozen=True, slots=True)
class _Look:
    """A look-ahead: the next character is, or is not, of a class. At the end of the text it is of none."""

    source: str
    negative: bool


@dataclass(frozen=True, slots=True)
class _Behind:
    """A look-behind: the same for the character before. At the beginning of the text it is of no class."""

    source: str
    negative: bool


_Node: TypeAlias = _Leaf | _Row | _Choice | _Repeat | _Look | _Behind

_ANY = r"[\s\S]"
_ANCHORS: dict[str, _Node] = {
    "$": _Look(r"[^\n]", True),  # the end of a line, to Oniguruma
    "^": _Row((_Behind(r"[^\n]", True), _Look(_ANY, False))),  # the beginning of one that is not empty
    r"\A": _Behind(_ANY, True),
    r"\z": _Look(_ANY, True),
    r"\b": _Choice(tuple(_Row((_Behind(r"\w", is_word), _Look(r"\w", not is_word))) for is_word in (False, True))),
    r"\B": _Choice(tuple(_Row((_Behind(r"\w", is_word), _Look(r"\w", is_word))) for is_word in (False, True))),
}


class Program:
    """A pattern as a program.

    Args:
        node: its syntax tree.
        pattern: its source, for error messages.

    Attributes:
        pattern: the same.
        leaves: the sources of the classes of characters that it asks about.
    """

    def __init__(self, node: _Node, pattern: str) -> None:
        self.pattern = pattern
        self.leaves: list[str] = []
        # ("leaf" or "is" or "not", number of a leaf) or ("behind", number of a leaf, whether it must not be of it) or
        # ("split", preferred position, other position) or ("match",) or ("never",)
        self._code: list[tuple[str, int, int]] = []
        self._emit(node)
        self._code.append(("match", 0, 0))
        self._positions = self._code
        if self.may_match(()):
            raise _unsupported(pattern, "it matches the empty text")

    @property
    def start(self) -> Threads:
        """The threads before the first character of a match, at the beginning of a text."""
        return (0,)

    def start_after(self, before: Threads | int | None) -> Threads:
        """Return the threads before the first character of a match.

        Args:
            before: the threads of a match that ends here, or the result of `between`; none at the beginning of a text.
        """
        return (0,)

    def between(self, members: Sequence[bool] | None) -> int | None:
        """Return what counts about the character before, where no match is followed.

        Args:
            members: the classes that it belongs to.
        """
        return None

    def advance(self, threads: Threads, members: Sequence[bool] | None) -> tuple[Threads, bool]:
        """Follow threads over one character.

        Args:
            threads: the threads before it.
            members: for each of `leaves`, whether the character is of the class; None is the end of the text.

        Returns:
            The threads after it that are preferred to a match that ends before it; all threads if there is no such
            match. And whether there is one.
        """
        after: list[int] = []
        seen: set[int] = set()
        stack = list(reversed(threads))
        while stack:
            position = stack.pop()
            if position in seen:
                continue
            seen.add(position)
            kind, first, second = self._code[position]
            if kind == "match":
                return tuple(dict.fromkeys(after)), True
            if kind == "split":
                stack += (second, first)
            elif kind == "never":
                continue
            elif kind == "leaf":
                if members is not None and members[first]:
                    after.append(position + 1)
            elif (members is not None and members[first]) == (kind == "is"):
                stack.append(position + 1)
        return tuple(dict.fromkeys(after)), False

    def matches_here(self, threads: Threads) -> bool:
        """Return whether one of the threads ends a match here, whatever follows."""
        stack, seen = list(threads), set(threads)
        while stack:
            kind, first, second = self._code[stack.pop()]
            if kind == "match":
                return True
            if kind == "split":
                found = {first, second} - seen
                seen |= found
                stack += found
        return False

    @property
    def starts(self) -> list[Threads]:
        """The threads before the first character of a match, for each character that may stand before it."""
        return [(0,)]

    def matches_alone(self, members: Sequence[bool]) -> bool:
        """Return whether a character is a match wherever a match may begin with it, or begins a longer one.

        Args:
            members: for each of `leaves`, whether the character is of the class.
        """
        return all(self.matches_here(self.advance(start, members)[0]) for start in self.starts)

    @property
    def is_of_single_characters(self) -> bool:
        r"""True if each character that a match may hold is a match by itself, as in `\w+|[^\w\s]+`."""
        read = {leaf for kind, leaf, _ in self._positions if kind == "leaf"}
        rows = [[leaf == other for other in range(len(self.leaves))] for leaf in read]
        return not self.looks and all(self.may_match([row]) for row in rows)

    @property
    def is_class(self) -> bool:
        """True if the pattern is just a class of characters."""
        return [kind for kind, _, _ in self._positions] == ["leaf", "match"]

    def leaf_of(self, character: str) -> int:
        """Return the number of the class that holds only a character; it is added if it is new."""
        return self._leaf(_quoted(character))

    @property
    def looks(self) -> bool:
        """True if the pattern looks at characters that are not part of a match."""
        return any(kind in ("is", "not", "behind") for kind, _, _ in self._positions)

    @property
    def looks_behind(self) -> bool:
        """True if the pattern has a look-behind: at characters before the position, in the match or before it."""
        return any(kind == "behind" for kind, _, _ in self._positions)

    def may_hold(self, rows: Iterable[Sequence[bool]]) -> bool:
        """Return whether a match may hold one of some characters.

        Args:
            rows: for each character, the classes that it belongs to.
        """
        read = [leaf for kind, leaf, _ in self._positions if kind == "leaf"]
        return any(members[leaf] for members in rows for leaf in read)

    def may_match(self, rows: Sequence[Sequence[bool]]) -> bool:
        """Return whether the pattern may match a text of some characters, between others.

        Args:
            rows: for each character, the classes that it belongs to.
        """
        threads = {0}
        for members in rows:
            reached = self._reached(threads)
            threads = {
                position + 1
                for position in reached
                if self._code[position][0] == "leaf" and members[self._code[position][1]]
            }
        return any(self._positions[position][0] == "match" for position in self._reached(threads))

    def _reached(self, threads: Iterable[int]) -> set[int]:
        """Return the positions that threads reach before the next character, whatever that is."""
        stack = list(threads)
        seen = set(stack)
        while stack:
            position = stack.pop()
            kind, first, second = self._positions[position]
            looks = kind in ("is", "not", "behind")
            found = {first, second} if kind == "split" else {position + 1} if looks else set()
            stack += found - seen
            seen |= found
        return seen

    # -- compiling --------------------------------------------------------------------------------------------------

    def _leaf(self, source: str) -> int:
        if source not in self.leaves:
            self.leaves.append(source)
        return self.leaves.index(source)

    def _emit(self, node: _Node) -> None:
        code = self._code
        if isinstance(node, _Leaf):
            code.append(("leaf", self._leaf(node.source), 0))
        elif isinstance(node, _Look):
            code.append(("not" if node.negative else "is", self._leaf(node.source), 0))
        elif isinstance(node, _Behind):
            code.append(("behind", self._leaf(node.source), node.negative))
        elif isinstance(node, _Row):
            for part in node.parts:
                self._emit(part)
        elif isinstance(node, _Choice):
            self._emit_choice(node.options)
        else:
            self._emit_repeat(node)

    def _emit_choice(self, options: tuple[_Node, ...]) -> None:
        if not options:
            self._code.append(("never", 0, 0))
            return
        ends = []
        for option in options[:-1]:
            split = self._jump()
            self._emit(option)
            ends.append(self._jump())
            self._code[split] = ("split", split + 1, len(self._code))
        self._emit(options[-1])
        for end in ends:
            self._code[end] = ("split", len(self._code), len(self._code))

    def _emit_repeat(self, node: _Repeat) -> None:
        if (node.most or node.least) > MAX_COPIES:
            raise _unsupported(self.pattern, f"a part is repeated more than {MAX_COPIES} times")
        if node.most != 1:
            self._check_repeated(node.part)
        for _ in range(node.least):
            self._emit(node.part)
        ends = []
        for _ in range(1 if node.most is None else node.most - node.least):
            split = self._jump()
            self._emit(node.part)
            if node.most is None:
                self._code.append(("split", split, split))
            ends.append(split)
        for split in ends:
            after = len(self._code)
            self._code[split] = ("split", after, split + 1) if node.mode == "?" else ("split", split + 1, after)
        if node.mode == "+" and ends:
            self._emit_possessive(node, ends)

    def _check_repeated(self, part: _Node) -> None:
        """Make sure that a repeated part is not empty: Oniguruma ends the loop there, whatever the count is."""
        before, self._code = self._code, []
        self._emit(part)
        self._code, self._positions = before, [*self._code, ("match", 0, 0)]
        if self.may_match(()):
            raise _unsupported(self.pattern, "a part that may be empty is repeated")

    def _emit_possessive(self, node: _Repeat, ends: list[int]) -> None:
        """Emit a possessive repetition: it ends only where no further character of its class follows."""
        if not isinstance(node.part, _Leaf):
            raise _unsupported(self.pattern, "more than one character is repeated possessively")
        jump = self._jump()  # after the maximum number, it ends anyway
        for split in ends:
            self._code[split] = ("split", split + 1, len(self._code))
        self._code.append(("not", self._leaf(node.part.source), 0))
        self._code[jump] = ("split", len(self._code), len(self._code))

    def _jump(self) -> int:
        """Reserve a position for a jump, and return it."""
        self._code.append(("split", 0, 0))
        return len(self._code) - 1


class _LookingBehind(Program):
    """A program that looks behind: it has a copy of its code for each set of classes of the character before.

    Threads are in the copy for the character that was read last. (So the states of other programs are no bigger.)
    """

    def __init__(self, node: _Node, pattern: str) -> None:
        super().__init__(node, pattern)
        self._asked = sorted({leaf for kind, leaf, _ in self._positions if kind == "behind"})
        if len(self._asked) > MAX_LOOK_BEHINDS:
            raise _unsupported(pattern, f"it looks behind for more than {MAX_LOOK_BEHINDS} classes of characters")
        self._size = len(self._positions)
        self._code = []
        for answer in range(1 << len(self._asked)):  # 0 is that of the beginning, too
            self._code += [self._answered(at, *position, answer) for at, position in enumerate(self._positions)]

    def _answered(self, at: int, kind: str, first: int, second: int, answer: int) -> tuple[str, int, int]:
        """Return an instruction in the copy for an answer."""
        copy = answer * self._size
        if kind == "split":
            return kind, first + copy, second + copy
        if kind != "behind":
            return kind, first, second
        is_member = bool(answer >> self._asked.index(first) & 1)
        return ("never", 0, 0) if is_member == bool(second) else ("split", at + 1 + copy, at + 1 + copy)

    @property
    def starts(self) -> list[Threads]:
        """The threads before the first character of a match; see `Program`."""
        return [(answer * self._size,) for answer in range(1 << len(self._asked))]

    def start_after(self, before: Threads | int | None) -> Threads:
        """Return the threads before the first character of a match; see `Program`."""
        answer = before if isinstance(before, int) else before[0] // self._size if before else 0
        return (answer * self._size,)

    def between(self, members: Sequence[bool] | None) -> int | None:
        """Return what counts about the character before, where no match is followed."""
        return sum(members[leaf] << at for at, leaf in enumerate(self._asked)) if members is not None else 0

    def advance(self, threads: Threads, members: Sequence[bool] | None) -> tuple[Threads, bool]:
        """Follow threads over one character; see `Program`."""
        after, is_match = super().advance(threads, members)
        copy = (self.between(members) or 0) * self._size
        return tuple(dict.fromkeys(position % self._size + copy for position in after)), is_match


def compile_pattern(pattern: str) -> Program:
    """Return the program of a pre-tokenizer's regex.

    Args:
        pattern: the regex, in Oniguruma's syntax.

    Raises:
        VocabularyError: it has a part that is not supported (references, longer look-arounds …); named.
    """
    parser = _Parser(pattern)
    node = parser.parse()
    program = (_LookingBehind if parser.looks_behind else Program)(node, pattern)
    if program.looks and parser.repeats_any:  # Oniguruma looks for such matches at the beginnings of lines only
        raise _unsupported(pattern, "it looks around, and '.' is repeated")
    return program


def literal_pattern(text: str) -> Program:
    """Return the program of a text that is matched literally."""
    return Program(_Row(tuple(_Leaf(_quoted(character)) for character in text)), text)


def empty_pattern() -> Program:
    """Return the program of a pattern that matches nothing."""
    return Program(_Choice(()), "")


def _quoted(character: str) -> str:
    return f"\\x{{{ord(character):x}}}"


def union_of(leaf: str) -> tuple[bool, list[str]]:
    """Return a class as a union of other classes: whether it is the complement of the union, and the classes."""
    if leaf in (r"\S", r"\D"):
        return True, [leaf.lower()]
    found = _UNION.fullmatch(leaf)
    if found is None:
        return False, [leaf]
    return bool(found[1]), [_NAMED.get(part, part) for part in _PART.findall(found[2])]


def is_one_character(leaf: str) -> bool:
    """Return whether a class is one character, up to upper and lower case."""
    return re.fullmatch(r"(\(\?i:)?\\x\{[0-9a-f]+\}\)?", leaf) is not None


def _folded(node: _Node) -> str:
    """Return the text that a part matches, folded, if it is one text whose case does not matter; else ""."""
    if isinstance(node, _Leaf):
        found = _CASELESS.fullmatch(node.source)
        return chr(int(found[1], 16)).casefold() if found else ""
    if isinstance(node, _Repeat):
        return _folded(node.part) if node.least == node.most == 1 else ""
    texts = [_folded(part) for part in node.parts] if isinstance(node, _Row) else []
    return "".join(texts) if all(texts) else ""


def _unsupported(pattern: str, what: str) -> VocabularyError:
    return VocabularyError(f"the tokenizer splits texts by {pattern!r}, and {what}: that is not supported")


class _Parser:
    """A recursive-descent parser of Oniguruma's syntax, as far as pre-tokenizers use it."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._flags = [""]
        self.looks_behind = False
        self.repeats_any = False

    def parse(self) -> _Node:
        node = self._choice()
        if self._at < len(self._pattern):
            raise self._refused("a ')' closes nothing")
        return node

    def _refused(self, what: str) -> VocabularyError:
        return _unsupported(self._pattern, f"{what} (at {self._at})")

    def _peek(self) -> re.Match[str] | None:
        return _TOKEN.match(self._pattern, self._at)

    def _choice(self) -> _Node:
        options = [self._row()]
        while (token := self._peek()) and token.lastgroup == "bar":
            self._at = token.end()
            options.append(self._row())
        return options[0] if len(options) == 1 else _Choice(tuple(options))

    def _row(self) -> _Node:
        parts: list[_Node] = []
        folded = ""  # the characters before, if case does not matter: Oniguruma joins them across groups
        while (token := self._peek()) and token.lastgroup not in ("bar", "close"):
            if token.lastgroup == "repeat":
                if not parts:
                    raise self._refused("a quantifier follows nothing")
                parts[-1] = self._repeated(parts[-1], token[0])
                self._at = token.end()
            else:
                parts.append(self._atom(token))
                text = _folded(parts[-1]) if self._flags[-1] and token.lastgroup != "open" else ""
                folded = folded + text if text else ""
                if any(several in folded for several in _SEVERAL):
                    raise self._refused("one character may stand for several in another case")
        return parts[0] if len(parts) == 1 else _Row(tuple(parts))

    def _repeated(self, part: _Node, text: str) -> _Repeat:
        if isinstance(part, (_Look, _Repeat)):
            raise self._refused("a quantifier follows neither a character nor a group")
        braces = text.startswith("{")
        count, mode = (text[1 : text.index("}")], text[text.index("}") + 1 :]) if braces else (text[0], text[1:])
        if braces and mode == "+":  # Oniguruma repeats it once more
            once = self._repeated(part, f"{{{count}}}")
            if once.most == 0:
                return once
            return _Repeat(replace(once, least=max(once.least, 1)), min(once.least, 1), None, "")
        if braces and mode and "," not in count:  # or never
            if not isinstance(part, _Leaf):
                raise self._refused(f"more than one character is followed by {text!r}")
            return _Repeat(self._repeated(part, f"{{{count}}}"), 0, 1, "")
        simple: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        if not braces:
            self.repeats_any = self.repeats_any or (count != "?" and part in (_Leaf("."), _Leaf("(?i:.)")))
            return _Repeat(part, *simple[count], mode)
        least, comma, most = count.partition(",")
        if not least or (most and int(most) < int(least)):
            raise self._refused(f"the count {text!r} is used")  # from 0, or the other way round, to Oniguruma
        return _Repeat(part, int(least), int(most) if most else None if comma else int(least), mode)

    def _atom(self, token: re.Match[str]) -> _Node:
        kind = token.lastgroup or ""
        if kind in ("other", "odd"):
            raise self._refused(f"{token[0]!r} is used")
        if kind == "set":
            return _Leaf(self._flagged(self._set()))
        self._at = token.end()
        if kind == "anchor":
            self.looks_behind = self.looks_behind or token[0] not in ("$", r"\z")
            return _ANCHORS[token[0]]
        if kind in ("open", "group"):
            return self._group(token[0])
        if kind == "look":
            inner = self._group("(?:")
            is_behind = "<" in token[0]
            if not isinstance(inner, _Leaf):
                raise self._refused(f"it looks {'behind' if is_behind else 'ahead'} for more than one character")
            self.looks_behind = self.looks_behind or is_behind
            return (_Behind if is_behind else _Look)(inner.source, token[0].endswith("!"))
        character = self._character(token)
        return _Leaf(self._flagged(token[0] if character is None else _quoted(character)))

    @staticmethod
    def _character(token: re.Match[str]) -> str | None:
        """Return the character that a token of the syntax stands for; None if it is none, or an escape, which stays."""
        if token.lastgroup == "code":
            return chr(int(token[0].strip("\\xu{}"), 16))
        return token[0] if token.lastgroup == "character" and token[0] != "." else None

    def _flagged(self, source: str) -> str:
        return f"(?{self._flags[-1]}:{source})" if self._flags[-1] else source

    def _group(self, opening: str) -> _Node:
        flags = opening[2:-1] if opening.startswith("(?") else ""
        if flags.strip("i"):
            raise self._refused(f"the flags {flags!r} are set")
        self._flags.append(flags or self._flags[-1])
        node = self._choice()
        self._flags.pop()
        if self._pattern[self._at : self._at + 1] != ")":
            raise self._refused("a group is not closed")
        self._at += 1
        return node

    def _set(self) -> str:
        """Return the source of a class in brackets."""
        first, depth = self._at, 0
        if self._pattern.startswith(("[]", "[^]"), first):
            raise self._refused("a class begins with ']'")
        while self._at < len(self._pattern):
            character = self._pattern[self._at]
            self._at += 2 if character == "\\" else 1
            depth += (character == "[") - (character == "]")
            if depth == 0:
                found = self._pattern[first : self._at]
                if self._flags[-1] and not re.fullmatch(r"\[[A-Za-z0-9]+\]", found):
                    raise self._refused(f"the case of {found} does not matter")
                return found
        raise self._refused("a '[' is not closed")
