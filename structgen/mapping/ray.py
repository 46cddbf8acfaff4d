"""`map_file` on Ray Data: the same rows, the same files, and a model in each of some actors, on one machine or many."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from structgen.errors import ModelError
from structgen.generation.generator import Generator
from structgen.generation.settings import BATCH_SIZE, GeneratorOptions
from structgen.mapping.files import MapSummary, Row, answered, map_rows
from structgen.mapping.job import job_of

if TYPE_CHECKING:
    from structgen.models.base import AnyModel

__all__ = ["map_file_on_ray"]

ROWS_A_BATCH = 4  # times the rows that a model reads together: an actor's rows that are done wait for its others


def map_file_on_ray(
    load_model: Callable[[], AnyModel],
    prompts: str | Path,
    load_schema: Callable[[], Any],
    out: str | Path,
    *,
    actors: int = 1,
    gpus: float = 0,
    failed: str | Path | None = None,
    field: str = "prompt",
    retry_failed: bool = False,
    batch_size: int = BATCH_SIZE,
    progress: bool = False,
    **options: Unpack[GeneratorOptions],
) -> MapSummary:
    """Answers a file of prompts by actors of Ray; what is connected to is Ray's to say (`ray.init`, `RAY_ADDRESS`).

    Args:
        load_model: loads the model, once in each actor.
        prompts: see `structgen.mapping.files.map_file`.
        load_schema: gives the schema, here and in each actor.
        out: see `map_file`; it and `prompts` are files of the machine that this runs on.
        actors: how many.
        gpus: of each actor, as Ray counts them.
        failed: see `map_file`.
        field: see `map_file`.
        retry_failed: see `map_file`.
        batch_size: rows that a model reads together.
        progress: show a bar on stderr.
        options: as of `structgen.generate`.

    Raises:
        ModelError: Ray is not installed.
        ValueError: as of `map_file`; but that a run is of another model is not seen.
    """
    try:
        import ray.data
    except ImportError as error:
        raise ModelError(f"Ray Data is not installed: {error}", hint="pip install 'structgen[ray]'") from error

    def answers(rows: Iterator[Row]) -> Iterable[Row]:
        texts = [{"row": json.dumps(row)} for row in rows]
        if not texts:
            return
        answering = ray.data.from_items(texts).map_batches(
            _Answering,
            fn_constructor_args=(load_model, load_schema, batch_size, options),
            batch_size=batch_size * ROWS_A_BATCH,
            batch_format="numpy",
            compute=ray.data.ActorPoolStrategy(size=actors),
            num_gpus=gpus or None,
        )
        for item in answering.iter_rows():
            yield json.loads(item["row"])

    job = job_of(None, load_schema(), field, None, options)
    return map_rows(
        answers, prompts, out, job=job, failed=failed, field=field, retry_failed=retry_failed, progress=progress
    )


class _Answering:
    """What an actor holds: a generator. Rows come and go as JSON, since their columns differ."""

    def __init__(
        self,
        load_model: Callable[[], AnyModel],
        load_schema: Callable[[], Any],
        batch_size: int,
        options: GeneratorOptions,
    ) -> None:
        self._generator: Generator[Any] = Generator(load_model(), load_schema(), **options)
        self._batch_size = batch_size
        self._seed = options.get("seed")

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        rows = [json.loads(text) for text in batch["row"]]
        done = answered(self._generator, rows, batch_size=self._batch_size, seed=self._seed)
        return {"row": [json.dumps(row) for row in done]}
