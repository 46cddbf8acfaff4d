"""`map_file` on Ray Data: the same rows and files, with a model in each actor, on one machine or many."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from structgen.errors import ModelError
from structgen.generation.generator import Generator
from structgen.generation.settings import BATCH_SIZE, OPTION_DEFAULTS, GeneratorOptions
from structgen.mapping.files import GIVE_UP_AFTER, MapSummary, Row, answered, map_rows
from structgen.mapping.job import job_of
from structgen.schema.signatures import shows_options

if TYPE_CHECKING:
    from structgen.models.base import AnyModel

__all__ = ["map_file_on_ray"]

BATCH_FACTOR = 4  # rows sent to an actor, in batches of the model: finished rows wait for the others


@shows_options(GeneratorOptions, OPTION_DEFAULTS)
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
    prompt: str | None = None,
    retry_failed: bool = False,
    is_sorted: bool = False,
    give_up_after: int | None = GIVE_UP_AFTER,
    batch_size: int = BATCH_SIZE,
    progress: bool = False,
    **options: Unpack[GeneratorOptions],
) -> MapSummary:
    """Answer a file of prompts with Ray actors. Ray's settings choose the cluster (`ray.init`, `RAY_ADDRESS`).

    Args:
        load_model: loads the model, once in each actor.
        prompts: see `structgen.mapping.files.map_file`.
        load_schema: returns the schema, in this process and in each actor.
        out: see `map_file`. It and `prompts` are files of this machine.
        actors: the number of actors.
        gpus: GPUs of each actor, as Ray counts them.
        failed: see `map_file`.
        field: see `map_file`.
        prompt: see `map_file`.
        retry_failed: see `map_file`.
        is_sorted: see `map_file`.
        give_up_after: see `map_file`.
        batch_size: rows in one pass of a model.
        progress: show a bar on stderr.
        options: see `structgen.generate`.

    Raises:
        ModelError: Ray is not installed.
        ValueError: see `map_file`. A changed model is not noticed here.
    """
    try:
        import ray.data
    except ImportError as error:
        raise ModelError(f"Ray Data is not installed: {error}", hint="pip install 'structgen-llm[ray]'") from error

    def answers(rows: Iterator[Row]) -> Iterable[Row]:
        texts = [{"row": json.dumps(row)} for row in rows]
        if not texts:
            return
        answering = ray.data.from_items(texts).map_batches(
            _Answering,
            fn_constructor_args=(load_model, load_schema, batch_size, options),
            batch_size=batch_size * BATCH_FACTOR,
            batch_format="numpy",
            compute=ray.data.ActorPoolStrategy(size=actors),
            num_gpus=gpus or None,
        )
        for item in answering.iter_rows():
            yield json.loads(item["row"])

    job = job_of(None, load_schema(), field, None, options, prompt)
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


class _Answering:
    """The state of an actor: one generator. Rows are sent as JSON, because their columns differ."""

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
