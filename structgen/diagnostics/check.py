"""`check`: find the position where a text breaks a schema or a grammar. No model is needed."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Unpack

from structgen.compilation.compiler import compile
from structgen.compilation.inputs import as_grammar
from structgen.engine.matching.expectations import Expected, printable, shown
from structgen.engine.matching.matcher import Matcher
from structgen.engine.vocabulary.vocabulary import byte_vocabulary
from structgen.errors import LimitExceededError, TokenRejectedError, UnsupportedSchemaError
from structgen.limits import Limits
from structgen.output_types.grammar import Grammar
from structgen.output_types.json_lines import JsonLines
from structgen.output_types.template import Template
from structgen.output_types.yaml import Yaml
from structgen.reporting.cards import as_json, card
from structgen.schema import resolve
from structgen.schema.json_text.lexemes import Piece, canonical_pieces, offset_of, pointer_at, pointer_of
from structgen.schema.options import SchemaArguments, SchemaOptions
from structgen.schema.signatures import SCHEMA_DEFAULTS, shows_options

if TYPE_CHECKING:
    from structgen.compilation.captures import Captures

__all__ = ["CheckResult", "Checker", "Problem", "check"]

_SPACE = b" \t\n\r"
_MAX_CONTEXT = 60  # characters of a line shown before and after a problem
_MAX_CONTINUATION = 3  # bytes of a character after its first
_MAX_ERRORS = 20  # problems of one text that a validator reports


@dataclass(frozen=True, slots=True)
class Problem:
    """A position where a text does not fit.

    Attributes:
        message: what is wrong.
        offset: the position in bytes.
        line, column: the position, both from 1; the column counts characters.
        pointer: the JSON pointer of the value at that position; None for grammars.
        expected: what would fit there; empty if a validator refused the value, or if a limit was passed in finding out.
        breaks_off: the text is right so far, but not finished.
        excerpt: the line, or a part of it.
        caret: terminal columns of the excerpt before the position.
    """

    message: str
    offset: int
    line: int
    column: int
    pointer: str | None
    expected: tuple[Expected, ...] = ()
    breaks_off: bool = False
    excerpt: str = ""
    caret: int = 0

    def __str__(self) -> str:
        where = f" (in {self.pointer})" if self.pointer else ""
        lines = [f"{self.line}:{self.column}: {self.message}{where}"]
        lines += [f"  {self.excerpt}", f"  {' ' * self.caret}^"]
        lines += [f"  expected: {'; '.join(map(str, self.expected))}"] if self.expected else []
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check. It is true if the text fits.

    Attributes:
        fits: the text fits.
        problems: the first position that breaks the schema; or, if the form is right, what the validator refuses, up
            to 20 problems.
        note: names something in the text that is valid but is never generated: `1e400`, a repeated key, a lone
            surrogate. Or says that only the validator read the text.
        captures: of a Lark grammar with captures, where the text fits; see `Constraint.captures`.
        reasons: what is wrong, in sentences such as "age: 200 is more than the maximum 120"; for JSON and YAML whose
            form is right. Printed first.
    """

    fits: bool
    problems: tuple[Problem, ...] = ()
    note: str = ""
    captures: Captures = field(default_factory=dict)
    reasons: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.fits

    def __str__(self) -> str:
        lines = [*self.reasons, *map(str, self.problems)] or ["fits"]
        return "\n".join([*lines, *([f"note: {self.note}"] if self.note else [])])

    def _repr_html_(self) -> str:
        problems = [(f"{one.line}:{one.column}", str(one).partition(": ")[2]) for one in self.problems]
        reasons = [("reason", reason) for reason in self.reasons]
        captures = as_json(self.captures) if self.captures else ""
        rows = [*reasons, *problems, ("note", self.note), ("captures", captures)]
        return card("✓ The text fits" if self.fits else "✗ The text does not fit", rows)


@shows_options(defaults={**SCHEMA_DEFAULTS, "property_order": "any"})
def check(
    schema: Any, text: str | bytes, *, limits: Limits | None = None, **options: Unpack[SchemaArguments]
) -> CheckResult:
    r"""Find where a text breaks a schema or a grammar.

    JSON may have white space anywhere and keys in any order, unless `options` say otherwise. If the form is right, the
    validator decides: Pydantic with the validators of a model, `jsonschema` for a JSON Schema.

    Args:
        schema: a Pydantic model or any type that Pydantic knows, a JSON Schema as a dict, a `Grammar`, or
            `Grammar.yaml(…)`. A `re.compile(…)` stands for `Grammar.regex`, and a list of texts for `Grammar.choice`.
        text: the text; bytes should be UTF-8.
        limits: bounds on the cost of the schema.
        options: see `structgen.schema.options.SchemaArguments`. `property_order` is "any" by default, and
            `whitespace="any"` has no bound here.

    Raises:
        SchemaError, GrammarError, LimitExceededError: see `structgen.compile`. Where a limit is passed while the
            grammar reads JSON or YAML, the validator alone decides, if no option restricts the form.
        TypeError: the text is neither str nor bytes.

    Example:
        >>> schema = {"type": "object", "properties": {"age": {"type": "integer"}}}
        >>> print(structgen.check(schema, '{\n  "age": "34"\n}'))
        age: "34" is not an integer
        2:10: unexpected `"` (in /age)
            "age": "34"
                   ^
          expected: an integer (#/properties/age)
    """
    if not isinstance(text, str | bytes | bytearray | memoryview):
        raise TypeError(f"check takes the schema first, and then the text as str or bytes, not {type(text).__name__}")
    return Checker(schema, limits=limits, **options).check(text if isinstance(text, str) else bytes(text))


class Checker:
    """A schema or grammar that many texts are checked against; see `check`."""

    def __init__(self, schema: Any, *, limits: Limits | None = None, **options: Unpack[SchemaArguments]) -> None:
        self._limits = limits or Limits()
        options.setdefault("property_order", "any")
        schema = as_grammar(schema)
        if isinstance(schema, (Template, JsonLines)):
            message = f"check takes a schema or a grammar, not {schema!r}"
            raise UnsupportedSchemaError(message, pointer="", keyword="type", hint="check its parts one by one")
        if isinstance(schema, Yaml):
            schema, options["format"] = schema.schema, "yaml"
        has_schema = not isinstance(schema, Grammar)
        self._is_yaml = options.get("format") == "yaml"
        self._is_json = has_schema and not self._is_yaml
        self._is_free = options.get("whitespace", "any") == "any"
        self._is_any_order = options["property_order"] == "any"
        if isinstance(schema, Grammar):
            schema = replace(schema, eager=False)  # the text is complete: it need not end early
        self._constraint = compile(schema, byte_vocabulary(), limits=self._limits, **options)
        self._source = resolve(schema, limits=self._limits, options=SchemaOptions(**options)) if has_schema else None
        self._validator: Any = None

    def check(self, text: str | bytes) -> CheckResult:
        """Return the result for one text."""
        found = self._checked(text)
        return found if found.fits or self._source is None else replace(found, reasons=self._reasons(text))

    def _reasons(self, text: str | bytes) -> tuple[str, ...]:
        """Return what the JSON Schema refuses, in sentences; none if the text is not JSON (or YAML, for YAML)."""
        from structgen.schema.sentences import sentences

        try:
            whole = text if isinstance(text, str) else text.decode()
            value = json.loads(self._as_json(whole), parse_constant=_no_constant)
            errors = islice(self._schema_validator().iter_errors(value), _MAX_ERRORS)
            return tuple(sentences(errors))
        except (ValueError, RecursionError):
            return ()

    def _as_json(self, text: str) -> str:
        """Return a JSON text as it is, and YAML as JSON."""
        if not self._is_yaml:
            return text
        from structgen.schema.yaml_text.reader import read_yaml

        return read_yaml(text)[0]

    def _schema_validator(self) -> Any:
        """Return the validator of the JSON Schema."""
        from structgen.schema.validation import validator_for

        if self._validator is None and self._source is not None:
            self._validator = validator_for(self._source.json_schema, self._source.options)
        return self._validator

    def _checked(self, text: str | bytes) -> CheckResult:
        """Return the result for one text, without reasons."""
        data = text.encode(errors="surrogatepass") if isinstance(text, str) else bytes(text)
        if self._source is None:
            found = self._first_problem([Piece(data, 0, True)], data)
            if found is not None:
                return CheckResult(False, (found,))
            return CheckResult(True, captures=self._constraint.captures(data.decode(errors="replace")))
        pieces = canonical_pieces(data) if self._is_free and self._is_json else [Piece(data, 0, True)]
        try:
            found = self._first_problem(pieces, data)
        except LimitExceededError as error:
            return self._validated(data, error)
        if found is not None and self._is_yaml and data.endswith(b"\n"):  # files end so; generated texts do not
            bare = data.rstrip(b"\n")
            found = found if self._first_problem([Piece(bare, 0, True)], bare) else None
        if found is None:
            problems = tuple(self._refusals(data))
            return CheckResult(not problems, problems)
        if not (self._is_free and self._is_any_order):
            return CheckResult(False, (found,))
        try:
            problems = tuple(self._refusals(data))
        except ValueError:  # not JSON, or not YAML
            return CheckResult(False, (found,))
        if any(_are_related(problem, found) for problem in problems):
            return CheckResult(False, (found,))
        # The grammar refuses legal JSON, such as `1e400`, and the other styles of YAML. If something is wrong, it is
        # elsewhere.
        note = f"structgen never generates this: {found.line}:{found.column}: {found.message}"
        return CheckResult(not problems, problems, note)

    def _validated(self, data: bytes, passed: LimitExceededError) -> CheckResult:
        """Return the result of the validators alone, for a text at which the grammar has passed a limit.

        Raises:
            LimitExceededError: `passed`, where the form counts too, or the text is not JSON or YAML.
        """
        if not (self._is_free and self._is_any_order):
            raise passed
        try:
            problems = tuple(self._refusals(data))
        except ValueError:
            raise passed from None
        note = f"only the validator read this: the grammar passed the limit {passed.limit}={passed.value}"
        return CheckResult(not problems, problems, note)

    # -- the form ---------------------------------------------------------------------------------------------------

    def _first_problem(self, pieces: Iterable[Piece], data: bytes) -> Problem | None:
        """Return where the grammar refuses a text given in pieces; None if it accepts the text."""
        matcher = self._constraint.matcher()
        for piece in pieces:
            try:
                matcher.accept_bytes(piece.data)
            except TokenRejectedError as error:
                at = _start_of_character(piece.data, error.position)
                matcher.accept_bytes(piece.data[:at])
                offset = piece.offset(at)
                if self._is_free and self._is_json and matcher.is_accepting:
                    offset += len(data[offset:]) - len(
                        data[offset:].lstrip(_SPACE)
                    )  # white space after a value is free
                return self._refused(matcher, None if at < error.position else piece.data[at], data, offset)
        if matcher.is_accepting:
            return None
        end = len(data.rstrip(_SPACE)) if self._is_free and self._is_json else len(data)
        try:
            expected = matcher.expected()
        except LimitExceededError:
            expected = ()
        return self._problem("the text breaks off", data, end, expected, breaks_off=True)

    def _refused(self, matcher: Matcher, byte: int | None, data: bytes, offset: int) -> Problem:
        """Return the problem of a character that the grammar refuses.

        Args:
            matcher: the state before the character.
            byte: the first byte of the character if it is refused; None if a later byte of the character is.
            data: the whole text.
            offset: the position of the character in the text, in bytes.
        """
        message = f"unexpected {shown(_character(data, offset))}"
        try:
            if byte is None:
                return self._problem(message, data, offset, matcher.expected())
            explanation = matcher.explain(byte)
        except LimitExceededError:  # the position is known
            return self._problem(message, data, offset)
        why = ": it ends a key or an item that must not be repeated" if explanation.reason == "taken" else ""
        return self._problem(message + why, data, offset, explanation.expected)

    def _problem(
        self,
        message: str,
        data: bytes,
        offset: int,
        expected: tuple[Expected, ...] = (),
        *,
        pointer: str | None = None,
        breaks_off: bool = False,
    ) -> Problem:
        if pointer is None and self._is_json:
            pointer = pointer_at(data, offset)
        start = data.rfind(b"\n", 0, offset) + 1
        end = data.find(b"\n", offset)
        before = data[start:offset].decode(errors="replace")
        after = data[offset : len(data) if end < 0 else end].rstrip(b"\r").decode(errors="replace")
        cut_before = "…" + before[-_MAX_CONTEXT:] if len(before) > _MAX_CONTEXT else before
        cut_after = after[:_MAX_CONTEXT] + "…" if len(after) > _MAX_CONTEXT else after
        excerpt = "".join(map(_shown_character, cut_before + cut_after))
        caret = sum(map(_columns, map(_shown_character, cut_before)))
        line = data.count(b"\n", 0, offset) + 1
        return Problem(message, offset, line, len(before) + 1, pointer, expected, breaks_off, excerpt, caret)

    # -- the validators ---------------------------------------------------------------------------------------------

    def _refusals(self, data: bytes) -> Iterator[Problem]:
        """Yield the problems that the validators find in a text.

        Raises:
            ValueError: the text is not JSON, or not YAML.
        """
        if self._is_yaml:
            from structgen.schema.yaml_text.reader import read_yaml

            yaml_text = data.decode()
            text, starts = read_yaml(yaml_text)
            for members, message in self._errors(text):
                offset = len(yaml_text[: starts.get(members, 0)].encode())
                yield self._problem(message, data, offset, pointer=pointer_of(members))
            return
        for members, message in self._errors(data.decode()):
            yield self._problem(message, data, offset_of(data, members), pointer=pointer_of(members))

    def _errors(self, text: str) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Yield what the validators refuse in a JSON text: the keys and indices that lead there, and a message.

        Raises:
            ValueError: the text is not JSON.
            LimitExceededError: the text is nested too deeply.
        """
        import pydantic

        if self._source is None:
            return
        from structgen.schema.validation import TOO_DEEP

        try:
            value = json.loads(text, parse_constant=_no_constant)
            errors = [
                (tuple(error.absolute_path), error.message) for error in self._schema_validator().iter_errors(value)
            ]
            yield from errors[:_MAX_ERRORS]
            if not errors:
                self._source.parse(text)
        except pydantic.ValidationError as error:
            for one in error.errors(include_url=False)[:_MAX_ERRORS]:
                yield _members(value, one["loc"]), one["msg"]
        except RecursionError as error:
            raise LimitExceededError("schema_depth", self._limits.schema_depth, message=TOO_DEEP) from error


def _are_related(left: Problem, right: Problem) -> bool:
    """Return whether the value of one problem contains the value of the other.

    Where the grammar refuses YAML, the value is not known: the line decides, or that the text breaks off.
    """
    if right.pointer is None:
        return left.line == right.line or right.breaks_off
    first, second = f"{left.pointer}/", f"{right.pointer}/"
    return first.startswith(second) or second.startswith(first)


def _members(value: Any, location: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Return the keys and indices of a Pydantic error location, without the type names that Pydantic adds."""
    found: list[str | int] = []
    for member in location:
        try:
            value = value[member]
        except (KeyError, IndexError, TypeError):
            continue
        found.append(member)
    return tuple(found)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _start_of_character(data: bytes, at: int) -> int:
    """Return where the character begins that a byte is in; the byte's own position if it is in none."""
    start = at
    while start > 0 and at - start < _MAX_CONTINUATION and 0x80 <= data[start] < 0xC0:
        start -= 1
    return start if start + len(_character(data, start)) > at else at


def _character(data: bytes, offset: int) -> bytes:
    """Return the character at an offset, or the byte if no character begins there."""
    text = data[offset : offset + 4].decode(errors="ignore")
    first = text[:1].encode()
    return first if first and data.startswith(first, offset) else data[offset : offset + 1]


def _shown_character(character: str) -> str:
    return " " if character == "\t" else printable(character.encode(errors="replace"))


def _columns(text: str) -> int:
    """Return the number of terminal columns of a text."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
