"""The lines of a file of prompts, in JSON Lines: which of them have a prompt, and what to do with a file of none."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from structgen.mapping.job import digest

__all__ = ["Row", "check_prompts", "lines_of", "rows_of"]

Row: TypeAlias = dict[str, Any]
"""A row: its `line` number from 1, its `hash`, its `id` if it has one, and its `prompt`; or `error` and `message` if it
has no prompt.
"""


def lines_of(path: str | Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not empty, with their numbers from 1."""
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield number, line


def rows_of(path: str | Path, field: str) -> Iterator[Row]:
    """Yield a row for each line that is not empty.

    Args:
        path: the file.
        field: the name of the prompt's field.
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
        prompt = _prompt_of(value, field)
        if prompt is not None:
            yield row | {"prompt": prompt}
        else:
            yield row | {"error": "ValueError", "message": f"the line has no field {field!r} with a text or messages"}


def check_prompts(path: str | Path, field: str) -> None:
    """Check that a file is one of prompts. A bad line fails alone; a file without any good line is refused.

    Args:
        path: the file.
        field: the name of the prompt's field.

    Raises:
        ValueError: no line has a prompt.
        OSError: the file cannot be read.
    """
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
        if _prompt_of(value, field) is not None:
            return
        is_json = True
        keys = keys or (list(value) if isinstance(value, Mapping) else [])
    if first and not is_json:
        shown = first[:60].decode(errors="replace")
        raise ValueError(f"{path} is not JSON Lines: its first line is {shown!r}. {_advice(first)}")
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
    for separator, name in ((b",", "CSV"), (b"\t", "tab-separated"), (b";", "CSV")):
        if separator in first:
            option = "" if separator == b"," else f", delimiter={separator.decode()!r}"
            return (
                f"Turn a {name} file into JSON Lines, and name the column of the prompts with --field: python -c "
                f'"import csv, json, sys; [print(json.dumps(row)) for row in csv.DictReader(sys.stdin{option})]" '
                "< prompts.csv > prompts.jsonl"
            )
    return 'Each line must be JSON: a text in quotes, a list of messages, or {"prompt": …}'


def _prompt_of(value: Any, field: str) -> str | list[Any] | None:
    """Return the prompt of a line's value; None if it has none."""
    if isinstance(value, Mapping):
        value = value.get(field)
    return value if isinstance(value, (str, list)) else None
