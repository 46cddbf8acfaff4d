"""The reader of a file of prompts, JSON Lines or a table. A file without any prompt is refused, with advice."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from structgen.generation.prompt_templates import filled, names_in
from structgen.mapping.job import digest
from structgen.mapping.tables import is_table, lines_of_table

__all__ = ["Row", "check_prompts", "lines_of", "rows_of"]

Row: TypeAlias = dict[str, Any]
"""A row: its `line` number from 1, its `hash`, its `id` if it has one, and its `prompt`; or `error` and `message` if it
has no prompt.
"""


def lines_of(path: str | Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not empty, with their numbers from 1; of a table, its records as lines of JSON."""
    if is_table(path):
        yield from lines_of_table(path)
        return
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield number, line


def rows_of(path: str | Path, field: str, template: str | None = None) -> Iterator[Row]:
    """Yield a row for each line that is not empty.

    Args:
        path: the file.
        field: the name of the prompt's field.
        template: the prompt, with names of fields in braces; in place of `field`.
    """
    for number, line in lines_of(path):
        row: Row = {"line": number, "hash": digest(line.strip())}
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield row | {"error": type(error).__name__, "message": f"the line is not JSON: {error}"}
            continue
        if isinstance(value, Mapping) and "id" in value:
            row["id"] = value["id"]
        try:
            yield row | {"prompt": _prompt_of(value, field, template)}
        except ValueError as error:
            yield row | {"error": "ValueError", "message": f"the line has {error}"}


def check_prompts(path: str | Path, field: str, template: str | None = None) -> None:
    """Check that a file is one of prompts. A bad line fails alone; a file without any good line is refused.

    Args:
        path: the file.
        field: the name of the prompt's field.
        template: see `rows_of`.

    Raises:
        ValueError: no line has a prompt, or the template is not one.
        OSError: the file cannot be read.
    """
    if template is not None:
        _check_template(template)
    keys: list[str] = []
    is_json = False
    first = b""
    for _, line in lines_of(path):
        first = first or line.strip()
        if first in (b"[", b"{"):
            break  # a text over several lines, of which some may be JSON by chance
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        with contextlib.suppress(ValueError):
            _prompt_of(value, field, template)
            return
        is_json = True
        keys = keys or (list(value) if isinstance(value, Mapping) else [])
    if first and not is_json:
        shown = first[:60].decode(errors="replace")
        raise ValueError(f"{path} is not JSON Lines: its first line is {shown!r}. {_advice(first)}")
    if keys and template is not None:
        missing = [name for name in names_in(template) if name not in keys]
        if not missing:
            raise ValueError(f"the fields of no line of {path} fit the template {template!r}")
        raise ValueError(f"the lines of {path} have no field {missing[0]!r}, but {', '.join(keys)}")
    if keys:
        raise ValueError(
            f"the lines of {path} have no field {field!r} with a text or messages, but {', '.join(keys)}; "
            f"field={keys[0]!r} (--field {keys[0]}) names another"
        )
    if first:
        raise ValueError(f"no line of {path} is a text, a list of messages, or an object with a field {field!r}")


def _advice(first: bytes) -> str:
    """Return how to make JSON Lines of a file, by its first line."""
    if first[:1] in (b"[", b"{"):
        return "A JSON text over several lines must become one line for each prompt"
    if any(separator in first for separator in (b",", b"\t", b";")):
        return "Is it a table? Name it .csv or .tsv, and name the column of the prompts with field= (--field)"
    return 'Each line must be JSON: a text in quotes, a list of messages, or {"prompt": …}'


def _prompt_of(value: Any, field: str, template: str | None) -> str | list[Any]:
    """Return the prompt of a line's value.

    Raises:
        ValueError: it has none.
    """
    if template is not None:
        if not isinstance(value, Mapping):
            raise ValueError("no fields for the template: it is no object")
        missing = [name for name in names_in(template) if name not in value]
        if missing:
            raise ValueError(f"no field {missing[0]!r}")
        try:
            return filled(template, value)
        except (LookupError, AttributeError, TypeError) as error:  # of a part of a field, as in {film.title}
            raise ValueError(f"fields that do not fit the template: {type(error).__name__}: {error}") from error
    if isinstance(value, Mapping):
        value = value.get(field)
    if not isinstance(value, (str, list)):
        raise ValueError(f"no field {field!r} with a text or messages")
    return value


def _check_template(template: str) -> None:
    try:
        names = names_in(template)
    except ValueError as error:
        raise ValueError(f"{template!r} is no prompt: {error}; write {{{{ and }}}} for braces of the prompt") from error
    if "" in names:
        raise ValueError(f"{template!r} has braces without a name; write {{{{ and }}}} for braces of the prompt")
