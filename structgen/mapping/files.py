"""`map_file`: a model over a file of prompts, resumed where it was stopped.

Each row is written when it is done, as a line of its own, and flushed; a line that a kill has cut off is removed by the
next run, which goes on with the rows that have no line yet. So no row is lost, and none is done twice. What the run is
of stands beside its answers, and with each the hash of its prompt: answers of another job are never mixed with them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias, Unpack

import pydantic_core

from structgen.errors import IncompleteOutputError, StructgenError, ValidationFailedError
from structgen.generation.batches import run_batch, with_progress
from structgen.generation.generator import Generator
from structgen.generation.runs import Result
from structgen.generation.settings import BATCH_SIZE, GeneratorOptions
from structgen.limits import Limits
from structgen.mapping.job import Job, digest, job_of

if TYPE_CHECKING:
    from structgen.models.base import AnyModel

__all__ = ["MapSummary", "Row", "answered", "map_file", "map_rows"]

Row: TypeAlias = dict[str, Any]
"""A row on its way: `line`, from 1, its `hash`, `id` if it has one, and `prompt`; or `error` and `message`, where there
is none.
"""

_BEGIN = b'{"line": '  # of each row that is written

Answers: TypeAlias = Callable[[Iterator[Row]], Iterable[Row]]
"""Answers rows: each with `value`, or with `error` and `message`, in any order."""


@dataclass(frozen=True, slots=True)
class MapSummary:
    """What became of a file of prompts, earlier runs included.

    Attributes:
        done: rows with a value.
        failed: rows with an error.
        skipped: of both, those that earlier runs have done.
    """

    done: int
    failed: int
    skipped: int


def map_file(
    model: AnyModel,
    prompts: str | Path,
    schema: Any,
    out: str | Path,
    *,
    failed: str | Path | None = None,
    field: str = "prompt",
    retry_failed: bool = False,
    batch_size: int = BATCH_SIZE,
    progress: bool = False,
    limits: Limits | None = None,
    **options: Unpack[GeneratorOptions],
) -> MapSummary:
    """Answers a file of prompts, and goes on where an earlier run was stopped.

    Args:
        model: see `structgen.generate`.
        prompts: JSON Lines: each a text, a list of messages, or an object with one of these as its `prompt`; an `id`
            in it comes back. Lines may be added to it before a run goes on.
        schema: of the answers.
        out: JSON Lines: `{"line": 1, "hash": …, "id": …, "value": …}`, as they are done; the hash is the prompt's.
            Those that are there stay. A file beside it, `.job.json` instead of its suffix, says what the run is of.
        failed: JSON Lines of the rows without a value: `{"line": 2, "id": …, "error": …, "message": …}`, and what text
            there was; by default the name of `out` with `.failed` before its suffix.
        field: the name of the field of the prompt.
        retry_failed: try those again that failed in an earlier run; options, and lines that failed, may have changed.
        batch_size: rows that the model reads together.
        progress: show a bar on stderr.
        limits: bounds on what the schema may cost.
        options: as of `structgen.generate`. With a `seed` each row has its own: seed + line.

    Raises:
        SchemaError, GrammarError: the schema cannot be used.
        ValueError: the answers that are there are of other prompts, or of another schema, model or options; two of
            the files are one.
        OSError: a file cannot be read or written, was not written by such a run, or another run is writing to it.
    """
    job = job_of(model, schema, field, limits, options)
    generator: Generator[Any] = Generator(model, schema, limits=limits, **options)
    seed = options.get("seed")

    def answers(rows: Iterator[Row]) -> Iterator[Row]:
        yield from answered(generator, rows, batch_size=batch_size, seed=seed)

    return map_rows(
        answers, prompts, out, job=job, failed=failed, field=field, retry_failed=retry_failed, progress=progress
    )


def answered(generator: Generator[Any], rows: Iterable[Row], *, batch_size: int, seed: int | None) -> Iterator[Row]:
    """Rows with their values or errors, in the order in which they are done."""
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
            raise outcome  # the machine's, or a bug: every other row would end like this one


def map_rows(
    answers: Answers,
    prompts: str | Path,
    out: str | Path,
    *,
    job: Job,
    failed: str | Path | None,
    field: str,
    retry_failed: bool,
    progress: bool,
) -> MapSummary:
    """The files' side of `map_file`: reads what is still to do, and writes what is answered."""
    out = Path(out)
    failed = Path(failed) if failed is not None else out.with_name(f"{out.stem}.failed{out.suffix}")
    if len({path.resolve() for path in (Path(prompts), out, failed, _job_path(out))}) < 4:
        raise ValueError(f"prompts, values and failed rows are three files: {prompts}, {out} and {failed} are not")
    with _Lines(out) as values, _Lines(failed) as errors:
        # All is checked before anything is written.
        if values.known or errors.known:
            _check_job(job, out, options_may_change=retry_failed)
        known = values.known | ({} if retry_failed else errors.known)
        count = _checked(prompts, known, out)
        job.write(_job_path(out))
        if retry_failed:
            errors.clear()
        done = len(known)

        def rows() -> Iterator[Row]:
            for row in _rows(prompts, field):
                if row["line"] in known:
                    continue
                if "prompt" in row:
                    yield row
                else:
                    errors.write(row)

        outcomes: Iterable[Row] = answers(rows())
        for row in with_progress(outcomes, count, done=done) if progress else outcomes:
            (errors if "error" in row else values).write(row)
        return MapSummary(len(values.known), len(errors.known), done)


def _job_path(out: Path) -> Path:
    return out.with_name(f"{out.stem}.job.json")


def _check_job(job: Job, out: Path, *, options_may_change: bool) -> None:
    """Whether the answers that are there are of this job; where nothing says of which they are, it is believed.

    Raises:
        ValueError: they are not.
    """
    before = Job.read(_job_path(out))
    changes = [] if before is None else job.changes(before, options_may_change=options_may_change)
    if changes:
        raise ValueError(
            f"{out} has answers of another run; what has changed: {', '.join(changes)}. Write to another file; or "
            f"delete its files to begin anew, or {_job_path(out)} alone to go on all the same"
        )


def _checked(prompts: str | Path, known: Mapping[int, str], out: Path) -> int:
    """How many prompts there are.

    Raises:
        ValueError: one that was answered is not there as it was.
    """
    count = 0
    for number, line in _lines_of(prompts):
        count += 1
        if number in known and known[number] != digest(line.strip()):
            raise ValueError(
                f"line {number} of {prompts} has changed since the run that wrote {out}. Write to another file, or "
                "delete its files to begin anew; lines that failed may change when they are tried again"
            )
    return count


def _described(error: Exception) -> dict[str, Any]:
    """Why a row has no value, and what text there was."""
    found: dict[str, Any] = {"error": type(error).__name__, "message": str(error)}
    if isinstance(error, IncompleteOutputError):
        found |= {"text": error.text, "partial": error.partial}
    elif isinstance(error, ValidationFailedError):
        found["attempts"] = [{"text": text, "message": str(reason)} for text, reason in error.attempts]
    return found


def _lines_of(path: str | Path) -> Iterator[tuple[int, bytes]]:
    """The lines that are not empty, with their numbers from 1."""
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield number, line


def _rows(path: str | Path, field: str) -> Iterator[Row]:
    for number, line in _lines_of(path):
        row: Row = {"line": number, "hash": digest(line.strip())}
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield row | {"error": type(error).__name__, "message": f"the line is no JSON: {error}"}
            continue
        if isinstance(value, Mapping):
            if "id" in value:
                row["id"] = value["id"]
            value = value.get(field)
        if isinstance(value, (str, list)):
            yield row | {"prompt": value}
        else:
            yield row | {"error": "ValueError", "message": f"the line has no {field!r} that is a text or messages"}


class _Lines:
    """A file of JSON Lines that only grows, locked while it is open.

    Attributes:
        known: the numbers of the rows in it, with the hashes of their prompts.
    """

    def __init__(self, path: Path) -> None:
        self.known: dict[int, str] = {}
        self._path = path

    def __enter__(self) -> _Lines:
        self._file: BinaryIO = open(self._path, "a+b")
        try:
            _lock(self._file, self._path)
            self._read()
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, row: Row) -> None:
        """Appends a row; it is in the file when this returns."""
        try:
            line = json.dumps(row, ensure_ascii=False).encode()
        except UnicodeEncodeError:  # half of a surrogate pair, in an `id`
            line = json.dumps(row).encode()
        self._file.write(line + b"\n")
        self._file.flush()
        self.known[row["line"]] = row["hash"]

    def clear(self) -> None:
        """Forgets all rows."""
        self._file.truncate(0)
        self.known.clear()

    def _read(self) -> None:
        """Finds what is there, and cuts off the end of a line that was not written to its end."""
        self._file.seek(0)
        whole = 0
        for line in self._file:
            is_whole = line.endswith(b"\n")
            try:
                if is_whole:
                    row = json.loads(line)
                    self.known[row["line"]] = row["hash"]
                elif not (line.startswith(_BEGIN) or _BEGIN.startswith(line)):
                    raise ValueError("no row begins so")
            except (ValueError, KeyError, TypeError) as error:
                raise OSError(f"{self._path} is not what an earlier run has written: {line[:80]!r}") from error
            whole += len(line) * is_whole
        self._file.truncate(whole)
        self._file.seek(0, os.SEEK_END)


def _lock(file: BinaryIO, path: Path) -> None:
    """Keeps other runs from the file until it is closed; the lock goes with the process."""
    try:
        import fcntl
    except ImportError:
        return  # Windows: nothing keeps two runs apart
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise OSError(f"another run is writing to {path}") from error
