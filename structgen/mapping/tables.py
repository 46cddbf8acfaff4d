"""Tables of prompts and of answers: CSV, tab-separated text, and Parquet.

A table is read as lines of JSON, one object for each record, so that everything else of `map_file` sees JSON Lines:

    review,stars                  {"review": "I love it.", "stars": "5"}
    I love it.,5            ->

A table of answers has the columns of the prompts, then those of the answers. An answer that is an object has a column
for each member, any other one the column `value`. A name that is taken gets the prefix `answer_`. Half of a surrogate
pair, which no table can hold, is written as an escape.
"""

from __future__ import annotations

import contextlib
import csv
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

from structgen.errors import StructgenError

__all__ = ["is_table", "lines_of_table", "write_table"]

_MAX_FIELD_CHARACTERS = 1 << 30  # Python's own bound is 2**17, and documents are longer
_SEPARATORS = (",", ";", "\t", "|")


def is_table(path: str | Path) -> bool:
    """Return whether a file is a table, by its suffix."""
    return Path(path).suffix.lower() in (".csv", ".tsv", ".parquet")


def lines_of_table(path: str | Path) -> Iterator[tuple[int, bytes]]:
    """Yield each record of a table as JSON, with its number from 1.

    Raises:
        ValueError: the table has no header, a name twice, or a record with more fields than the header.
        OSError: the file cannot be read, or is no Parquet.
        StructgenError: pyarrow is not installed.
    """
    records = _parquet_records(path) if Path(path).suffix.lower() == ".parquet" else _text_records(path)
    for number, record in enumerate(records, 1):
        yield number, json.dumps(record, ensure_ascii=False, default=str).encode(errors="surrogatepass")


def _text_records(path: str | Path) -> Iterator[dict[str, Any]]:
    csv.field_size_limit(max(csv.field_size_limit(), _MAX_FIELD_CHARACTERS))  # of the process
    with _text_of(path) as file:
        header = file.readline()
        file.seek(0)
        is_tabbed = Path(path).suffix.lower() == ".tsv"
        reader = csv.DictReader(file, delimiter="\t" if is_tabbed else max(_SEPARATORS, key=header.count))
        names = list(reader.fieldnames or ())
        if not names or len(set(names)) < len(names) or "" in names:
            raise ValueError(f"{path} needs a header with a name for each column, not {header.strip()[:80]!r}")
        for record in reader:
            if None in record:
                raise ValueError(f"line {reader.line_num} of {path} has more fields than its header")
            yield record


@contextlib.contextmanager
def _text_of(path: str | Path) -> Iterator[TextIO]:
    with open(path, encoding="utf-8-sig", newline="") as file:
        try:
            yield file
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} is not UTF-8: {error}") from error


def _parquet_records(path: str | Path) -> Iterator[dict[str, Any]]:
    parquet = _parquet()
    try:
        batches = parquet.ParquetFile(path).iter_batches()
    except ValueError as error:  # pyarrow's errors of files that are none
        raise OSError(f"{path} is not Parquet: {error}") from error
    return chain.from_iterable(batch.to_pylist() for batch in batches)


def _parquet() -> Any:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise StructgenError(
            "Parquet needs pyarrow, which is not installed", hint="pip install 'structgen-llm[parquet]'"
        ) from error
    return pyarrow.parquet


def write_table(path: Path, lines: Iterable[tuple[int, bytes]], answers: Mapping[int, Mapping[str, Any]]) -> None:
    """Write the prompts and their answers, in the order of the prompts.

    Args:
        path: the table; it is replaced at once, when all of it is written.
        lines: the prompts as JSON, by number.
        answers: the answered rows by the same numbers: each with `value`, or with `error` and `message`.
    """
    answered = [(_columns(line), answers[number]) for number, line in lines if number in answers]
    of_prompts = dict.fromkeys(name for prompt, _ in answered for name in prompt)
    records = [_record(prompt, answer, of_prompts) for prompt, answer in answered]
    names = list(dict.fromkeys(chain(of_prompts, *records)))
    begun = path.with_name(f"{path.name}.tmp")
    if path.suffix.lower() == ".parquet":
        _write_parquet(begun, records, names)
    else:
        with open(begun, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
            writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
            writer.writerow(names)
            writer.writerows([_cell(record.get(name)) for name in names] for record in records)
    os.replace(begun, path)


def _columns(line: bytes) -> dict[str, Any]:
    """Return the columns of a prompt. A line that is not JSON, which has failed, is one text."""
    try:
        prompt = json.loads(line)
    except (ValueError, RecursionError):
        prompt = line.strip().decode(errors="replace")
    return prompt if isinstance(prompt, dict) else {"prompt": prompt}


def _record(prompt: Mapping[str, Any], answer: Mapping[str, Any], of_prompts: Collection[str]) -> dict[str, Any]:
    record = dict(prompt)
    if "error" in answer:
        found: Mapping[str, Any] = {"error": f"{answer['error']}: {answer['message']}"}
    else:
        found = answer["value"] if isinstance(answer["value"], Mapping) else {"value": answer["value"]}
    for name, value in found.items():
        own = name
        while own in of_prompts or own in record:
            own = f"answer_{own}"
        record[own] = value
    return record


def _cell(value: Any) -> Any:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _write_parquet(path: Path, records: list[dict[str, Any]], names: list[str]) -> None:
    parquet = _parquet()
    import pyarrow

    columns = {}
    for name in names:
        values = [record.get(name) for record in records]
        try:
            column = pyarrow.array(values)
        # Values of several types, large integers, halves of surrogate pairs: as JSON text.
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, OverflowError, UnicodeEncodeError):
            column = None
        if column is None or "struct<>" in str(column.type):  # Parquet has no empty objects
            column = pyarrow.array([_escaped(_cell(value)) for value in values])
        columns[_escaped(name)] = column
    parquet.write_table(pyarrow.table(columns), path)


def _escaped(text: Any) -> Any:
    """Return a text with the halves of surrogate pairs as escapes; None as it is."""
    return text if text is None else text.encode(errors="backslashreplace").decode()
