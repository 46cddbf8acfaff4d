"""The rules of llguidance that have attributes, as expressions: `name[lazy, capture]: /.*;/`."""

from __future__ import annotations

from typing import NoReturn, Protocol

from structgen.engine.regex import tree as rx
from structgen.kbnf import ast
from structgen.kbnf.reading.lark_attributes import Attributes, before_stop, ends_anywhere
from structgen.kbnf.reading.lark_items import Definition
from structgen.kbnf.reading.lark_lexer import LarkToken

__all__ = ["AttributeReader", "attributed"]


class AttributeReader(Protocol):
    """The reader of a grammar, as attributes need it."""

    def fail(self, token: LarkToken, message: str, *, hint: str = "") -> NoReturn:
        """Raise a `GrammarError` that points at a token."""

    def regex_of(self, body: list[LarkToken]) -> rx.Regex:
        """Return the regex of the body of a terminal."""

    def grammar_of(self, token: LarkToken, temperature: float | None) -> ast.Expression:
        """Return the texts of an `@name`, a `%json` or a `%lark`."""

    def skipping(self, found: ast.Expression) -> ast.Expression:
        """Return an expression followed by any number of ignored texts."""


def attributed(reader: AttributeReader, definition: Definition) -> tuple[ast.Expression | None, ast.Capturing | None]:
    """Return the body of a rule with attributes, and its captures.

    Args:
        reader: reads the parts.
        definition: the rule.

    Returns:
        The body, or None if it is the one that is written; and the captures, or None for none.

    Raises:
        GrammarError: the body is not what an attribute needs.
    """
    attributes = definition.attributes or Attributes()
    captures = ast.Capturing(attributes.capture, attributes.stop_capture)
    body = definition.body
    if attributes.temperature is not None and not attributes.needs_terminal and _is_grammar(body):
        return reader.grammar_of(body[0], attributes.temperature), captures
    if not attributes.needs_terminal and attributes.temperature is None:
        return None, captures
    regex = _terminal(reader, definition, attributes)
    if attributes.suffix:
        suffix = reader.regex_of(attributes.suffix)
        captures = ast.Capturing(attributes.capture, attributes.stop_capture, regex, suffix)
        regex = rx.Early(rx.sequence(regex, suffix))
    elif attributes.stop:
        regex = _before_stop(reader, attributes, regex)
    elif attributes.is_lazy:
        regex = rx.Early(regex)
    if attributes.max_tokens and not ends_anywhere(regex):
        reader.fail(
            attributes.at["max_tokens"],
            "'max_tokens' is for rules whose text may end after each character, as /.*/",
            hint="a text that is cut would fit no rule; bound its characters, as in /.{0,200};/",
        )
    found: ast.Expression = ast.RegexTerminal(regex)
    if attributes.temperature is not None or attributes.max_tokens:
        name = definition.name.text
        inner = ast.Grammar((ast.Rule(name, found),), name)
        found = ast.Hole(name, inner, attributes.temperature, attributes.max_tokens)
    return reader.skipping(found), captures


def _terminal(reader: AttributeReader, definition: Definition, attributes: Attributes) -> rx.Regex:
    """Return the regex of a body that must be a terminal."""
    for token in definition.body:
        if token.kind in ("rule", "special", "nested") or token.text == "%json":
            names = ("lazy", "stop", "suffix", "max_tokens", "temperature")
            name = next(name for name in names if name in attributes.at)
            also = "" if attributes.needs_terminal else ", or one @name, %json or %lark"
            what = f"the rule {token.text!r}" if token.kind == "rule" else token.text
            reader.fail(token, f"the attribute {name!r} needs a body that is a terminal{also}; this uses {what}")
    return reader.regex_of(definition.body)


def _before_stop(reader: AttributeReader, attributes: Attributes, body: rx.Regex) -> rx.Regex:
    if [token.text for token in attributes.stop] == ['""']:
        return body  # the end token stops it: in llguidance it is hidden, here the rules after it begin
    found = before_stop(body, reader.regex_of(attributes.stop))
    if found is None:
        reader.fail(
            attributes.stop[0],
            "the value of 'stop' is a text, some texts none of which is within another one, or a set of characters",
            hint="'suffix' may be any terminal",
        )
    return found


def _is_grammar(body: list[LarkToken]) -> bool:
    return len(body) == 1 and (body[0].text in ("%json", "%lark") or body[0].text.startswith("@"))
