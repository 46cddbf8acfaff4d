"""Token bit masks: how they are allocated, read, and applied to logits.

A mask is uint32[batch, ceil(V / 32)] for a vocabulary of V tokens: token t is bit t % 32 of word t // 32, 1 where it is
allowed. This is the layout of xgrammar and llguidance, so masks can be handed from one to the other; their int32
tensors hold the same bits.

    vocabulary of 40 tokens, 0 and 33 allowed:   [[0b1, 0b10]]   uint32[1, 2]
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from structgen.engine.vocabulary.bitmask_kernel import MaskedLogits, lanes
from structgen.engine.whole_numbers import whole_number
from structgen.engine.worker_threads import IS_COMPILED, thread_count
from structgen.errors import VocabularyError

if TYPE_CHECKING:
    import torch

    Bitmask: TypeAlias = NDArray[np.uint32] | NDArray[np.int32] | torch.Tensor
    Logits: TypeAlias = NDArray[np.floating[Any]] | torch.Tensor

__all__ = [
    "allocate_token_bitmask",
    "apply_token_bitmask",
    "as_rows",
    "as_words",
    "check_not_too_wide",
    "is_sparse",
    "masked_logits",
    "tokens_of",
]

SPARSE = 8  # less than one word in so many has a bit
FULL = 0xFFFFFFFF  # a word of 32 allowed tokens
_WORDS = (np.dtype(np.uint32), np.dtype(np.int32))  # comparing a dtype with these is quicker than with the classes
_MAX_PADDING = (
    4096  # logits by which a row may be wider than twice the vocabulary: models of tiny vocabularies pad more
)


def allocate_token_bitmask(batch_size: int, vocab_size: int) -> NDArray[np.uint32]:
    """Allocate a mask that allows every token of the vocabulary, with a row for each sequence.

    Args:
        batch_size: the number of rows, one for each sequence.
        vocab_size: the number of tokens, `Vocabulary.size`.

    Returns:
        uint32[batch_size, ceil(vocab_size / 32)]. Bits past the last token are 0.

    Raises:
        VocabularyError: `batch_size` is negative, or `vocab_size` is not positive.
        TypeError: one of them is no integer.

    Example:
        >>> allocate_token_bitmask(1, 34).tolist()
        [[4294967295, 3]]
    """
    batch_size = whole_number(batch_size, "a number of rows")
    vocab_size = whole_number(vocab_size, "a number of tokens")
    if batch_size < 0 or vocab_size <= 0:
        raise VocabularyError(f"a mask of {batch_size} rows for {vocab_size} tokens cannot be allocated")
    mask = np.full((batch_size, (vocab_size + 31) // 32), FULL, dtype=np.uint32)
    if vocab_size % 32:
        mask[:, -1] = (1 << vocab_size % 32) - 1
    return mask


def as_words(mask: Bitmask, vocab_size: int) -> NDArray[np.uint32]:
    """Return a numpy view of a mask, to write into it. The view shares the memory of the mask.

    Args:
        mask: uint32 or int32 [batch, ceil(V / 32)] or [ceil(V / 32)], a numpy array or a torch tensor on the CPU. The
            words of a row must be contiguous.
        vocab_size: the number of tokens V.

    Returns:
        uint32[batch, ceil(V / 32)].

    Raises:
        VocabularyError: the mask has another type or shape, is on another device, or is read-only.
    """
    words = as_rows(mask)
    width = (vocab_size + 31) // 32
    if words.shape[1] != width:
        raise VocabularyError(
            f"a mask of shape {tuple(mask.shape)} does not fit a vocabulary of {vocab_size} tokens",
            hint=f"allocate_token_bitmask(batch_size, {vocab_size}) gives one of shape [batch_size, {width}]",
        )
    return words


def as_rows(mask: Bitmask) -> NDArray[np.uint32]:
    """Return a numpy view of a mask of any width, to write into it. See `as_words`, which checks the width.

    Args:
        mask: uint32 or int32 [batch, words] or [words], a numpy array or a torch tensor on the CPU. The words of a row
            must be contiguous.

    Returns:
        uint32[batch, words].

    Raises:
        VocabularyError: the mask has another type or shape, is on another device, or is read-only.
    """
    words = _words(mask)
    if not words.flags.writeable or (words.size > len(words) and words.strides[1] != words.itemsize):
        raise VocabularyError("a mask to be filled must be writeable, and the words of a row next to each other")
    return words


def apply_token_bitmask(logits: Logits, mask: Bitmask, *, threads: int = 1) -> None:
    """Set the logits of the tokens that a mask does not allow to minus infinity, in place.

    Logits past the mask's width belong to no token and become minus infinity, too: models pad their logits. Logits of
    more than twice the width are those of another model, and an error.
    On the CPU this costs at most about 15 µs for a row of 128,256 float32 in the cache, whatever the mask
    (`benchmarks/apply_bitmask.py`). On other devices the mask is copied to the device, where each of its bytes is
    looked up in a table of eight flags.

    Args:
        logits: float [batch, V] or [V]: numpy, or torch on any device, of 16, 32 or 64 bits; any strides.
        mask: uint32 or int32 [batch, words] or [words]: numpy or torch, token t is bit t % 32 of word t // 32.
        threads: the number of threads that share the rows of logits on the CPU, without the interpreter lock. It pays
            from about four rows on. `structgen.fill_next_token_bitmask` also fills the mask meanwhile.

    Raises:
        ValueError: `threads` is not positive.
        TypeError: it is no integer.
        VocabularyError: the type or shape of `logits` or `mask` is not one of these, they differ in the number of rows,
            or the mask has words for tokens that have no logits, or the logits are those of another model.

    Example:
        >>> logits = np.zeros(4, dtype=np.float32)
        >>> apply_token_bitmask(logits, np.array([0b0101], dtype=np.uint32))
        >>> logits.tolist()
        [0.0, -inf, 0.0, -inf]
    """
    threads = thread_count(threads)
    if _is_tensor(logits) and not logits.is_cpu:
        bits = _tensor_words(mask, logits.device)
        _check_shapes(logits, bits.shape)
        _mask_on_device(logits if logits.ndim == 2 else logits.unsqueeze(0), bits)
        return
    words = _words(mask.cpu() if _is_tensor(mask) else mask)
    masked = masked_logits(logits, words)
    if masked is None:
        _fill_by_numpy(*_patterns(logits), np.ascontiguousarray(words))
    elif threads == 1:
        masked.mask(0, masked.rows)
    else:
        masked.mask_in_threads(threads)


def masked_logits(logits: Logits, words: NDArray[np.uint32]) -> MaskedLogits | None:
    """Return logits together with their masks, to be masked row by row.

    Args:
        logits: see `apply_token_bitmask`.
        words: uint32[batch, words].

    Returns:
        None where only numpy or another device can mask them: logits of other strides than usual, or uncompiled.

    Raises:
        VocabularyError: as in `apply_token_bitmask`.
    """
    _check_shapes(logits, words.shape)
    if _is_tensor(logits) and not logits.is_cpu:
        return None
    patterns, kind = _patterns(logits)
    if not IS_COMPILED or not (patterns.strides[1] == patterns.itemsize or patterns.shape[1] < 2):
        return None
    if words.strides[1] != words.itemsize:
        words = np.ascontiguousarray(words)
    return MaskedLogits(patterns, words, kind.lanes, kind.infinity)


def is_sparse(words: NDArray[np.uint32]) -> bool:
    """Return whether few words of a row of a mask have a bit; then single bits are quicker than all of them."""
    return SPARSE * int(np.count_nonzero(words)) < len(words)


def tokens_of(words: NDArray[np.uint32], size: int | None = None) -> NDArray[np.intp]:
    """Return the tokens that a row of a mask allows, in ascending order.

    Args:
        words: uint32[ceil(V / 32)], contiguous.
        size: the number of tokens to look at, if bits after them may be set; by default all bits.

    Returns:
        intp[allowed tokens], the token ids.

    Example:
        >>> tokens_of(np.array([0b1, 0b10], dtype=np.uint32)).tolist()
        [0, 33]
    """
    if not is_sparse(words):
        return np.flatnonzero(np.unpackbits(words.view(np.uint8), count=size, bitorder="little"))
    used = (words != 0).nonzero()[0]  # of words itself, it would take five times as long
    bits = np.flatnonzero(np.unpackbits(words[used].view(np.uint8), bitorder="little"))
    tokens: NDArray[np.intp] = 32 * used[bits >> 5] + (bits & 31)
    return tokens if size is None else tokens[: np.searchsorted(tokens, size)]


def _check_shapes(logits: Logits, mask: tuple[int, ...]) -> None:
    """Check that a mask, given by its shape, fits the logits."""
    if not hasattr(logits, "shape"):
        raise VocabularyError(f"logits must be an array of numpy or a tensor of torch, not {type(logits).__name__}")
    shape = tuple(logits.shape)
    if len(shape) not in (1, 2):
        raise VocabularyError(f"logits of shape {shape}: [batch, V] or [V] is needed")
    rows, width = shape if len(shape) == 2 else (1, *shape)
    if rows != mask[0]:
        raise VocabularyError(f"got {rows} rows of logits and {mask[0]} rows of masks")
    if mask[1] > (width + 31) // 32:
        raise VocabularyError(
            f"got {width} logits a row and a mask for more than {32 * (mask[1] - 1)} tokens",
            hint="compile the schema for the vocabulary of the model that makes the logits",
        )
    check_not_too_wide(width, 32 * mask[1])


def check_not_too_wide(width: int, vocab_size: int) -> None:
    """Check that logits are not much wider than a vocabulary: models pad them, but not to twice the size.

    Args:
        width: the number of logits in a row.
        vocab_size: the number of tokens V.

    Raises:
        VocabularyError: the logits are those of another model.
    """
    if width > 2 * vocab_size + _MAX_PADDING:
        raise VocabularyError(
            f"the model returns {width} logits a row, more than twice the {vocab_size} tokens of the vocabulary",
            hint=f"make the vocabulary with the model's own tokenizer, or with the size {width} if the model pads",
        )


def _is_tensor(value: object) -> TypeGuard[torch.Tensor]:
    torch = sys.modules.get("torch")  # a caller with a tensor has imported it
    return torch is not None and isinstance(value, torch.Tensor)


def _words(mask: Bitmask) -> NDArray[np.uint32]:
    """Return the mask as uint32[batch, words], sharing its memory."""
    if not isinstance(mask, np.ndarray) and _is_tensor(mask):
        if not mask.is_cpu:
            raise VocabularyError(f"the mask is on {mask.device}: masks are filled on the CPU")
        mask = mask.numpy()
    if not isinstance(mask, np.ndarray) or mask.dtype not in _WORDS or mask.ndim not in (1, 2):
        what = f"{mask.dtype}{list(mask.shape)}" if isinstance(mask, np.ndarray) else type(mask).__name__
        raise VocabularyError(f"a mask of type {what}: uint32 or int32 [batch, words] or [words] is needed")
    words: NDArray[np.uint32] = mask.view(_WORDS[0])
    return words if words.ndim == 2 else words[np.newaxis]


class _Kind(NamedTuple):
    """A float type as bit patterns: its logits are masked as unsigned integers, also bfloat16, unknown to numpy.

    Attributes:
        dtype: the unsigned integer type of the same width.
        infinity: the bit pattern of minus infinity, of that type.
        lanes: the table that `MaskedLogits` takes.
    """

    dtype: np.dtype[Any]
    infinity: Any
    lanes: NDArray[Any]


def _kind(width: int, infinity: int) -> _Kind:
    """Return the kind of a type of `width` bytes, with its bit pattern of minus infinity."""
    dtype = np.dtype(f"u{width}")
    return _Kind(dtype, dtype.type(infinity), lanes(dtype))


_BFLOAT16 = _kind(2, 0xFF80)
_KINDS = {
    np.dtype(np.float16): _kind(2, 0xFC00),
    np.dtype(np.float32): _kind(4, 0xFF80_0000),
    np.dtype(np.float64): _kind(8, 0xFFF0_0000_0000_0000),
}


def _patterns(logits: Logits) -> tuple[NDArray[Any], _Kind]:
    """Return logits on the CPU as unsigned integers of the same width [batch, V], sharing their memory."""
    if len(logits.shape) == 1:
        logits = logits[None]
    if _is_tensor(logits):
        import torch

        if logits.requires_grad:
            logits = logits.detach()
        if logits.dtype == torch.bfloat16:
            return logits.view(torch.int16).numpy().view(np.uint16), _BFLOAT16
        if logits.is_floating_point() and logits.element_size() > 1:
            logits = logits.numpy()
    kind = _KINDS.get(logits.dtype) if isinstance(logits, np.ndarray) else None
    if kind is None or not isinstance(logits, np.ndarray):
        name = getattr(logits, "dtype", type(logits).__name__)
        raise VocabularyError(f"logits of type {name}: floats of 16, 32 or 64 bits in numpy or torch are needed")
    return logits.view(kind.dtype), kind


def _fill_by_numpy(logits: NDArray[Any], kind: _Kind, words: NDArray[np.uint32]) -> None:
    """Write minus infinity where a bit is 0, in logits of any strides: about 40 µs for 128,256 float32."""
    width = min(logits.shape[1], 32 * words.shape[1])
    for row, row_words in zip(logits[:, :width], words):  # one row at a time: it stays in the cache
        allowed = np.unpackbits(row_words.view(np.uint8), count=width, bitorder="little")
        row ^= kind.infinity  # now 0 stands for minus infinity, and a product with 0 sets it without a branch
        row *= allowed
        row ^= kind.infinity
    logits[:, width:] = kind.infinity


# -- other devices ------------------------------------------------------------------------------------------------


def _tensor_words(mask: Bitmask, device: torch.device) -> torch.Tensor:
    """Return the mask as int32[batch, words] on the device."""
    import torch

    if not _is_tensor(mask):
        mask = torch.from_numpy(_words(mask).view(np.int32))
    if mask.dtype not in (torch.int32, torch.uint32) or mask.ndim not in (1, 2):
        raise VocabularyError(f"a mask of type {mask.dtype}{list(mask.shape)}: int32 [batch, words] is needed")
    words: torch.Tensor = mask.to(device, non_blocking=True).view(torch.int32)
    return words if words.ndim == 2 else words.unsqueeze(0)


@functools.cache
def _refused_flags(device: torch.device) -> torch.Tensor:
    """Return int64[256]: for each byte of a mask eight flags of a byte each, 1 where the bit is 0."""
    import torch

    bits = np.unpackbits(~np.arange(256, dtype=np.uint8), bitorder="little")
    return torch.from_numpy(bits.view(np.int64)).to(device)


def _mask_on_device(logits: torch.Tensor, words: torch.Tensor) -> None:
    """Set logits to minus infinity where a bit is 0. The only other memory it needs is a byte for each token."""
    import torch

    width = min(logits.shape[1], 32 * words.shape[1])
    index = words.contiguous().view(torch.uint8).to(torch.int32)
    refused = _refused_flags(logits.device).index_select(0, index.flatten()).view(torch.bool)
    logits[:, :width].masked_fill_(refused.view(len(words), 32 * words.shape[1])[:, :width], float("-inf"))
    logits[:, width:] = float("-inf")
