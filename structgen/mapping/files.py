"""`map_file`: answer a file of prompts; continue where an earlier run stopped.

Each row is written and flushed as a line of its own when it is done. After a kill, the next run removes a half-written
line and answers the rows that have no line yet. So no row is lost, and none is answered twice. The manifest (`job.py`)
beside the answers describes the job, and each answer holds the hash of its prompt: answers of two jobs never mix.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias, Unpack

import filelock
import pydantic_core

from structgen.errors import GenerationError, IncompleteOutputError, StructgenError, ValidationFailedError
from structgen.generation.batches import run_batch, with_progress
from structgen.generation.generator import Generator
from structgen.generation.runs import Result
from structgen.generation.settings import BATCH_SIZE, OPTION_DEFAULTS, GeneratorOptions
from structgen.limits import Limits
from structgen.mapping.job import Job, digest, job_of
from structgen.mapping.prompts import Row, check_prompts, lines_of, rows_of
from structgen.mapping.tables import is_table, write_table
from structgen.reporting.telemetry import logger
from structgen.schema.signatures import shows_options

if TYPE_CHECKING:
    from structgen.models.base import AnyModel

__all__ = ["MapSummary", "Row", "answered", "map_file", "map_rows"]

GIVE_UP_AFTER = 20  # rows
_BEGIN = b'{"line": '  # every written row begins with this

Answers: TypeAlias = Callable[[Iterator[Row]], Iterable[Row]]
"""Answers rows: yields each of them in any order, with its `value`, or with `error` and `message`."""


@dataclass(frozen=True, slots=True)
class MapSummary:
    """The counts of rows after a run, earlier runs included.

    Attributes:
        done: rows with a value.
        failed: rows with an error.
        skipped: rows that earlier runs had written, with a value or an error.
    """

    done: int
    failed: int
    skipped: int


@shows_options(GeneratorOptions, OPTION_DEFAULTS)
def map_file(
    model: AnyModel,
    prompts: str | Path,
    schema: Any,
    out: str | Path,
    *,
    failed: str | Path | None = None,
    field: str = "prompt",
    prompt: str | None = None,
    retry_failed: bool = False,
    is_sorted: bool = False,
    give_up_after: int | None = GIVE_UP_AFTER,
    batch_size: int = BATCH_SIZE,
    progress: bool = False,
    limits: Limits | None = None,
    **options: Unpack[GeneratorOptions],
) -> MapSummary:
    """Answer a file of prompts, and continue where an earlier run stopped.

    Args:
        model: see `structgen.generate`.
        prompts: JSON Lines. A line is a text, a list of messages, or an object with one of these as its `prompt`. An
            `id` in the object is copied to the answer. Lines may be added between runs. Or a table whose columns are
            such fields: a file that ends in .csv, .tsv or .parquet.
        schema: the schema of the answers.
        out: JSON Lines, written as rows are done: `{"line": 1, "hash": …, "id": …, "value": …}`, with the hash of the
            prompt. Existing rows are kept. The manifest beside it has the suffix `.job.json`. If it ends in .csv, .tsv
            or .parquet, the rows are in a file with the suffix `.jsonl`, and the table is made of them at the end: the
            columns of the prompts and those of the answers, in the order of the prompts.
        failed: JSON Lines of the rows without a value: `{"line": 2, "id": …, "error": …, "message": …}`, with the
            generated text if there is any. By default the name of `out` with `.failed` before its suffix.
        field: the name of the prompt's field.
        prompt: the prompt of each row, with names of fields in braces, such as "Classify: {review}"; in place of
            `field`.
        retry_failed: try rows again that failed in an earlier run. Options and failed lines may have changed.
        is_sorted: put the rows of `out` into the order of the prompts, at the end.
        give_up_after: the number of rows after which the run ends if all of them failed; None for no such end.
        batch_size: rows in one pass of the model.
        progress: show a bar on stderr.
        limits: bounds on the cost of the schema.
        options: see `structgen.generate`. With a `seed`, row i uses seed + line.

    Raises:
        SchemaError, GrammarError: the schema cannot be used.
        ValueError: the prompts are no JSON Lines, or have no such field; the existing answers belong to other prompts,
            or to another schema, model or options; or two of the files are the same.
        OSError: a file cannot be read or written, is no output of `map_file`, or another run is writing to it.
        GenerationError: the first `give_up_after` rows failed.
    """
    job = job_of(model, schema, field, limits, options, prompt)
    generator: Generator[Any] = Generator(model, schema, limits=limits, **options)
    seed = options.get("seed")

    def answers(rows: Iterator[Row]) -> Iterator[Row]:
        yield from answered(generator, rows, batch_size=batch_size, seed=seed)

    return map_rows(
        answers,
        prompts,
        out,
        job=job,
        failed=failed,
        field=field,
        template=prompt,
        retry_failed=retry_failed,
        is_sorted=is_sorted,
        give_up_after=give_up_after,
        progress=progress,
    )


def answered(generator: Generator[Any], rows: Iterable[Row], *, batch_size: int, seed: int | None) -> Iterator[Row]:
    """Yield rows with their values or errors, in the order in which they are done."""
    under_way: dict[int, Row] = {}

    def beginnings() -> Iterator[tuple[int, Any]]:
        for row in rows:
            line = row["line"]
            under_way[line] = row
            own = {} if seed is None else {"seed": seed + line}
            yield line, lambda make, row=row, own=own: generator.begin(row["prompt"], new_session=make, **own)

    for line, outcome in run_batch(generator.model, beginnings(), batch_size=batch_size):
        row = under_way.pop(line)
        del row["prompt"]
        if isinstance(outcome, Result):
            value = pydantic_core.to_jsonable_python(outcome.value, by_alias=True, fallback=str, inf_nan_mode="null")
            yield row | {"value": value}
        elif isinstance(outcome, (StructgenError, ValueError, TypeError)):
            yield row | _described(outcome)
        else:
            raise outcome  # the machine or a bug failed: every other row would fail too


def map_rows(
    answers: Answers,
    prompts: str | Path,
    out: str | Path,
    *,
    job: Job,
    failed: str | Path | None,
    field: str,
    template: str | None,
    retry_failed: bool,
    is_sorted: bool,
    give_up_after: int | None,
    progress: bool,
) -> MapSummary:
    """Read the rows that have no answer yet, and write the answers; the file handling of `map_file`."""
    table = Path(out) if is_table(out) else None
    out = Path(out) if table is None else table.with_suffix(".jsonl")
    failed = Path(failed) if failed is not None else out.with_name(f"{out.stem}.failed{out.suffix}")
    paths = [Path(prompts), out, failed, _job_path(out), *([] if table is None else [table])]
    if len({path.resolve() for path in paths}) < len(paths):
        raise ValueError(
            f"prompts, values and failed rows need three different files, not {prompts}, {out} and {failed}"
        )
    check_prompts(prompts, field, template)
    with _locked(out), _Lines(out) as values, _Lines(failed) as errors:
        # Check everything before anything is written.
        if values.known or errors.known:
            _check_job(job, out, options_may_change=retry_failed)
        known = values.known | ({} if retry_failed else errors.known)
        count = _checked(prompts, known, out)
        job.write(_job_path(out))
        if retry_failed:
            errors.clear()
        done = len(known)
        watch = _Watch(values, errors, give_up_after)
        outcomes: Iterable[Row] = answers(_unanswered(rows_of(prompts, field, template), known, watch))
        for row in with_progress(outcomes, count, done=done) if progress else outcomes:
            watch.write(row)
        if is_sorted:
            values.sort()
            errors.sort()
        if table is not None:
            rows = {row["line"]: row for row in (*values.rows(), *errors.rows())}
            write_table(table, lines_of(prompts), rows)
        return MapSummary(len(values.known), len(errors.known), done)


def _unanswered(rows: Iterable[Row], known: Mapping[int, str], watch: _Watch) -> Iterator[Row]:
    """Yield the rows that have no answer; those without a prompt have failed already."""
    for row in rows:
        if row["line"] in known:
            continue
        if "prompt" in row:
            yield row
        else:
            watch.write(row)


def _job_path(out: Path) -> Path:
    return out.with_name(f"{out.stem}.job.json")


def _check_job(job: Job, out: Path, *, options_may_change: bool) -> None:
    """Check that the existing answers belong to this job. Without a manifest they are assumed to.

    Raises:
        ValueError: they belong to another job.
    """
    before = Job.read(_job_path(out))
    changes = [] if before is None else job.changes(before, options_may_change=options_may_change)
    if changes:
        raise ValueError(
            f"{out} has answers of another run; changed: {', '.join(changes)}. Write to another file, delete its files "
            f"to start again, or delete only {_job_path(out)} to continue in spite of the change"
        )


def _checked(prompts: str | Path, known: Mapping[int, str], out: Path) -> int:
    """Return the number of prompts.

    Raises:
        ValueError: a prompt has changed since it was answered.
    """
    count = 0
    for number, line in lines_of(prompts):
        count += 1
        if number in known and known[number] != digest(line.strip()):
            raise ValueError(
                f"line {number} of {prompts} has changed since the run that wrote {out}. Write to another file, or "
                "delete its files to start again; failed lines may change before they are tried again"
            )
    return count


def _described(error: Exception) -> dict[str, Any]:
    """Return why a row has no value, with the generated text if there is any."""
    found: dict[str, Any] = {"error": type(error).__name__, "message": str(error)}
    if isinstance(error, IncompleteOutputError):
        found |= {"text": error.text, "partial": error.partial}
    elif isinstance(error, ValidationFailedError):
        found["attempts"] = [{"text": text, "message": str(reason)} for text, reason in error.attempts]
    return found


class _Lines:
    """An append-only file of JSON Lines, locked while it is open.

    Attributes:
        known: line number of each row in the file → hash of its prompt.
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self.known: dict[int, str] = {}
        self.path = path

    def __enter__(self) -> _Lines:
        self._file: BinaryIO = open(self.path, "a+b")
        try:
            self._read()
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, row: Row) -> None:
        """Append a row. It is in the file when this returns."""
        try:
            line = json.dumps(row, ensure_ascii=False).encode()
        except UnicodeEncodeError:  # a lone surrogate in an `id`
            line = json.dumps(row).encode()
        self._file.write(line + b"\n")
        self._file.flush()
        self.known[row["line"]] = row["hash"]

    def rows(self) -> list[Row]:
        """Return all rows of the file."""
        self._file.seek(0)
        return [json.loads(line) for line in self._file]

    def sort(self) -> None:
        """Put the rows into the order of the prompts: all of the file, or nothing if the process is killed."""
        self._file.seek(0)
        lines = sorted(self._file, key=lambda line: int(json.loads(line)["line"]))
        begun = self.path.with_name(f"{self.path.name}.tmp")
        begun.write_bytes(b"".join(lines))
        self._file.close()
        os.replace(begun, self.path)
        self._file = open(self.path, "a+b")  # noqa: SIM115  closed by __exit__

    def clear(self) -> None:
        """Remove all rows."""
        self._file.truncate(0)
        self.known.clear()

    def _read(self) -> None:
        """Read the existing rows, and remove a half-written last line."""
        self._file.seek(0)
        whole = 0
        for line in self._file:
            is_whole = line.endswith(b"\n")
            try:
                if is_whole:
                    row = json.loads(line)
                    self.known[row["line"]] = row["hash"]
                elif not (line.startswith(_BEGIN) or _BEGIN.startswith(line)):
                    raise ValueError("not the beginning of a row")
            except (ValueError, KeyError, TypeError) as error:
                raise OSError(f"{self.path} was not written by map_file: {line[:80]!r}") from error
            whole += len(line) * is_whole
        self._file.truncate(whole)
        self._file.seek(0, os.SEEK_END)


class _Watch:
    """The writer of rows. It logs the first failure, and ends a run in which no row succeeds.

    Args:
        values, errors: the files.
        give_up_after: see `map_file`.
    """

    def __init__(self, values: _Lines, errors: _Lines, give_up_after: int | None) -> None:
        self._values = values
        self._errors = errors
        self._give_up_after = give_up_after
        self._failed = 0

    def write(self, row: Row) -> None:
        """Write a row to its file.

        Raises:
            GenerationError: `give_up_after` rows have failed, and none has a value.
        """
        if "error" not in row:
            self._values.write(row)
            return
        self._errors.write(row)
        self._failed += 1
        told = f"line {row['line']}: {row['error']}: {row['message']}"
        if self._failed == 1:
            logger.warning("a row failed, %s\nAll rows that fail are written to %s", told, self._errors.path)
        if self._failed == self._give_up_after and not self._values.known:
            raise GenerationError(
                f"the first {self._failed} rows all failed; the last is {told}",
                hint="give_up_after=None (--give-up-after 0) goes on",
            )


@contextlib.contextmanager
def _locked(out: Path) -> Iterator[None]:
    """Keep other runs away from the files of the job until the end; the lock ends with the process, too."""
    lock = filelock.FileLock(f"{out}.lock")
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        raise OSError(f"another run is writing to {out}") from None
    try:
        yield
    finally:
        lock.release()
