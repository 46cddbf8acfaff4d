"""Plugin of vLLM: makes "structgen" a name of `--structured-outputs-config '{"backend": "structgen"}'`.

vLLM calls `register` in each of its processes, by the entry point `vllm.general_plugins`. It has no registry of
backends, so four of its parts are wrapped:

    StructuredOutputsConfig.backend               a Literal of names: one more
    SamplingParams._validate_structured_outputs   the check of a request, in the process that answers HTTP
    StructuredOutputManager.grammar_init          makes the backend at the first request, in the engine's process
    StructuredOutputManager._create_grammar       compiles a request, in a thread: ours sees the whole request

Its beam search is wrapped in `beams.py`.

Requests of other backends go through unchanged. With a release of vLLM that is not supported, only the name is added,
and the configuration refuses it with an error that names the supported releases.
"""

from __future__ import annotations

import functools
import typing
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from structgen.integrations.vllm.beams import wrap_beams
from structgen.integrations.vllm.releases import BACKEND, SUPPORTED

__all__ = ["register"]

MIN_COMPILE_THREADS = 4  # vLLM has half as many as cores: on a small machine one slow compile would delay all others


def register() -> None:
    """Add the backend to vLLM. A second call does nothing.

    Programs that use `vllm.LLM` call it first; `vllm serve` calls it by itself.
    """
    try:
        import vllm.config.structured_outputs as configuration
        from vllm import __version__ as version

        names = typing.get_args(configuration.StructuredOutputsBackend)
    except (ImportError, AttributeError):
        return  # another vLLM, without a Literal of names: it refuses unknown names by itself
    supported = _is_supported(version)
    if supported and not wrap_beams():
        supported = False
        version = f"{version}, with its beam search in another place"
    if BACKEND in names:
        return
    if supported:
        _add_name(configuration, typing.Literal[(*names, BACKEND)])
        _wrap_check()
        _wrap_manager()
    else:
        _add_refused_name(configuration, version, typing.Literal[(*names, BACKEND)])


def _is_supported(version: str) -> bool:
    return ".".join(version.split(".")[:2]) in SUPPORTED


def _add_name(configuration: Any, names: Any) -> None:
    from pydantic.dataclasses import rebuild_dataclass

    configuration.StructuredOutputsBackend = names
    settings = configuration.StructuredOutputsConfig
    settings.__annotations__["backend"] = names
    settings.__dataclass_fields__["backend"].type = names
    rebuild_dataclass(settings, force=True)


def _add_refused_name(configuration: Any, version: str, names: Any) -> None:
    """Let the configuration refuse the name, with an error that says which releases are supported."""
    from pydantic import AfterValidator

    def refuse(name: str) -> str:
        if name == BACKEND:
            releases = " and ".join(f"{release}.x" for release in SUPPORTED)
            raise ValueError(f"structgen's backend supports vLLM {releases}; this is {version}")
        return name

    try:
        _add_name(configuration, typing.Annotated[names, AfterValidator(refuse)])
    except (ImportError, AttributeError, KeyError, TypeError):
        return  # its configuration is made otherwise: then vLLM refuses the name


def _wrap_check() -> None:
    from vllm.sampling_params import SamplingParams

    original = SamplingParams._validate_structured_outputs

    @functools.wraps(original)
    def check(self: Any, model_config: Any, structured_outputs_config: Any, tokenizer: Any) -> None:
        if getattr(structured_outputs_config, "backend", None) != BACKEND or self.structured_outputs is None:
            original(self, model_config, structured_outputs_config, tokenizer)
            return
        from structgen.integrations.vllm.backend import check_request

        reasons = bool(structured_outputs_config.reasoning_parser)
        check_request(self, model_config, tokenizer, reasons=reasons)

    SamplingParams._validate_structured_outputs = check


def _wrap_manager() -> None:
    from vllm.v1.structured_output import StructuredOutputManager

    original = StructuredOutputManager.grammar_init

    @functools.wraps(original)
    def grammar_init(self: Any, request: Any) -> None:
        if self.backend is None and _asks_for_us(request):
            _make_backend(self)
        original(self, request)

    StructuredOutputManager.grammar_init = grammar_init
    created = StructuredOutputManager._create_grammar

    @functools.wraps(created)
    def create_grammar(self: Any, request: Any) -> Any:
        if not _asks_for_us(request):
            return created(self, request)
        return self.backend.compile_request(request, reasons=self.reasoner_cls is not None)

    StructuredOutputManager._create_grammar = create_grammar


def _asks_for_us(request: Any) -> bool:
    if request.structured_output_request is None:
        return False
    return bool(request.sampling_params.structured_outputs._backend == BACKEND)


def _make_backend(manager: Any) -> None:
    from structgen.integrations.vllm.backend import StructgenBackend

    config = manager.vllm_config
    manager.backend = StructgenBackend(
        config, tokenizer=manager.tokenizer, vocab_size=config.model_config.get_vocab_size()
    )
    manager.backend_name = BACKEND  # read by 0.33
    if manager.executor._max_workers < MIN_COMPILE_THREADS:
        manager.executor.shutdown(wait=False)
        manager.executor = ThreadPoolExecutor(MIN_COMPILE_THREADS, thread_name_prefix="structgen-compile")
