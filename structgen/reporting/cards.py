"""Small cards in HTML, by which notebooks show values: the body of each `_repr_html_`.

A card takes its colours from the notebook: text has the notebook's own colour, lines and grounds are a part of it. So
it is readable on a dark page and on a light one. It has no script and no class names: it works where a notebook is
shown without a kernel, and two cards do not disturb each other.

Texts come from models. They are escaped, and control characters are made visible.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable
from typing import Any

__all__ = ["Html", "as_json", "card", "chip", "shown"]

MAX_CHARACTERS = 4_000  # of one text in a card; a repr must not fill the notebook

_FAINT = "color-mix(in srgb, currentColor 25%, transparent)"
_GROUND = "color-mix(in srgb, currentColor 8%, transparent)"
_CARD = f"border:1px solid {_FAINT};border-radius:6px;padding:8px 12px;max-width:60em;font-family:system-ui,sans-serif"
_KEY = "text-align:left;vertical-align:top;padding:2px 12px 2px 0;opacity:.7;font-weight:normal;white-space:nowrap"
_VALUE = "text-align:left;vertical-align:top;padding:2px 0;width:100%"
_WRAPPED = "white-space:pre-wrap;overflow-wrap:anywhere"
_TEXT = f"margin:0;{_WRAPPED};font-family:ui-monospace,monospace;max-height:24em;overflow:auto"
_CHIP = f"background:{_GROUND};border-radius:3px;padding:0 3px;margin:1px;white-space:pre-wrap;display:inline-block"


class Html(str):
    """A text that is HTML already."""


def shown(text: str) -> Html:
    """Return a text as HTML: escaped, with visible control characters, and cut where it is long."""
    cut = text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}… ({len(text):,} characters)"
    visible = "".join(char if char.isprintable() or char == "\n" else repr(char)[1:-1] for char in cut)
    return Html(f'<pre style="{_TEXT}">{html.escape(visible)}</pre>')


def as_json(value: Any) -> str:
    """Return a value as indented JSON; for what JSON has no form, its repr."""
    import pydantic_core

    data = pydantic_core.to_jsonable_python(value, by_alias=True, fallback=repr)
    return json.dumps(data, ensure_ascii=False, indent=2)


def chip(text: str, *, title: str = "", style: str = "") -> Html:
    """Return a short text in a box of its own.

    Args:
        text: the text.
        title: shown when the pointer is on it.
        style: CSS declarations.
    """
    return Html(f'<span title="{html.escape(title)}" style="{_CHIP};{style}">{html.escape(text)}</span>')


def card(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """Return a card: a title, and a table of names and texts.

    Args:
        title: the title.
        rows: names and texts, or `Html`; those with an empty text are left out.
    """
    lines = [
        f'<tr style="background:none"><th style="{_KEY}">{html.escape(name)}</th>'
        f'<td style="{_VALUE}">{text if isinstance(text, Html) else shown(text)}</td></tr>'
        for name, text in rows
        if text
    ]
    table = f'<table style="border-collapse:collapse;margin:4px 0 0;width:100%">{"".join(lines)}</table>'
    return f'<div style="{_CARD}"><b>{html.escape(title)}</b>{table if lines else ""}</div>'
