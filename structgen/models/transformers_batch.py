"""Sequences of a transformers model in one key-value cache: rows join, read new tokens together, and leave.

All rows have the same number of columns. Where a row has fewer tokens than the others, or removed some, its columns are
holes: the attention mask hides them, and positions are counted without them (t = token, . = hole):

    row 0   t t t t t t
    row 1   . . t t . t    3 tokens were shorter by two at the left; one was removed later

When too many columns are holes, each row's tokens move together to the right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import DynamicCache

from structgen.models.transformers_forward import TransformersForward

__all__ = ["TransformersBatch", "TransformersRow"]

# Holes are removed when there are more columns than MAX_COLUMNS_RATIO * (tokens of the longest row) + SPARE_COLUMNS.
MAX_COLUMNS_RATIO = 1.5
SPARE_COLUMNS = 64


class TransformersRow:
    """A sequence of a `TransformersBatch`; a `structgen.models.base.Session` that the batch reads."""

    __slots__ = ("_batch", "length")

    can_crop = True

    def __init__(self, batch: TransformersBatch) -> None:
        self._batch = batch
        self.length = 0  # the number of tokens read

    def forward(self, token_ids: Sequence[int], *, keep: int = 1) -> NDArray[np.float32]:
        """Refuse to read alone; see `TransformersBatch.forward`."""
        raise NotImplementedError("a row of a batch cannot read alone: call the batch's forward")

    def crop(self, count: int) -> None:
        """Remove the last tokens."""
        self._batch.crop(self, count)
        self.length -= count


class TransformersBatch:
    """Rows in one cache; a `structgen.models.base.SessionBatch`.

    Args:
        forward: the passes of a model whose attention sees all tokens, in every layer.
    """

    def __init__(self, forward: TransformersForward) -> None:
        self._forward = forward
        self._hf_model = forward.hf_model
        self._rows: list[TransformersRow] = []
        self._cache: Any = None
        # bool[rows, columns]: whether a column of the cache is a token of the row, and no hole.
        self._is_token = torch.empty((0, 0), dtype=torch.bool, device=self._hf_model.device)

    def session(self) -> TransformersRow:
        """Return a new row; it joins the cache when it first has tokens to read."""
        return TransformersRow(self)

    def forward(self, requests: Sequence[tuple[Any, Sequence[int], int]]) -> list[NDArray[np.float32]]:
        """Read more tokens of the requested rows; all other rows leave the cache.

        A row without new tokens gets a hole in this pass.

        Args:
            requests: see `structgen.models.base.SessionBatch.forward`.
        """
        by_row = {id(row): (token_ids, keep) for row, token_ids, keep in requests}
        self._leave([index for index, row in enumerate(self._rows) if id(row) not in by_row])
        self._close_holes()
        known = {id(row) for row in self._rows}
        joining = [row for row, _, _ in requests if id(row) not in known]
        found: dict[int, NDArray[np.float32]] = {}
        with torch.inference_mode():
            inputs = [by_row[id(row)] for row in self._rows]
            if any(token_ids for token_ids, _ in inputs):
                self._is_token = self._read(self._rows, inputs, self._cache, self._is_token, found)
            if joining:
                cache = DynamicCache(config=self._hf_model.config)
                nothing = torch.empty((len(joining), 0), dtype=torch.bool, device=self._hf_model.device)
                is_token = self._read(joining, [by_row[id(row)] for row in joining], cache, nothing, found)
                self._join(joining, cache, is_token)
        nothing_read = np.empty((0, 0), np.float32)
        return [found.get(id(row), nothing_read) for row, _, _ in requests]

    def fork(self, rows: Sequence[TransformersRow]) -> list[TransformersRow]:
        """Return new rows that have read what these have read; see `structgen.models.base.SessionBatch`."""
        found = []
        for row in rows:
            twin = TransformersRow(self)
            twin.length = row.length
            found.append(twin)
        origins = [*range(len(self._rows)), *(self._rows.index(row) for row in rows)]
        chosen = torch.tensor(origins, dtype=torch.long, device=self._hf_model.device)
        with torch.inference_mode():
            self._is_token = self._is_token[chosen]
            self._cache.batch_select_indices(chosen)
        self._rows = [*self._rows, *found]
        return found

    def crop(self, row: TransformersRow, count: int) -> None:
        """Turn the last `count` tokens of a row into holes."""
        if not count:
            return
        with torch.inference_mode():
            columns = self._is_token[self._rows.index(row)]
            columns[columns.nonzero()[-count:, 0]] = False

    def _read(
        self,
        rows: list[TransformersRow],
        inputs: list[tuple[Sequence[int], int]],
        cache: Any,
        is_token: torch.Tensor,
        found: dict[int, NDArray[np.float32]],
    ) -> torch.Tensor:
        """Run one pass over the rows of a cache; the new tokens are at the right end.

        Args:
            rows: the rows of the cache, in order.
            inputs: for each row its new tokens, and the number of logits to keep.
            cache: the key-value cache.
            is_token: the cache's tokens before the pass, as `_is_token`.
            found: gets the logits of each row, by the row's id().

        Returns:
            The cache's tokens after the pass, as `_is_token`.
        """
        width = max(len(token_ids) for token_ids, _ in inputs)
        max_keep = max(keep for _, keep in inputs)
        device = self._hf_model.device
        input_ids = torch.zeros((len(rows), width), dtype=torch.long)
        positions = torch.zeros((len(rows), width), dtype=torch.long)
        is_new = torch.zeros((len(rows), width), dtype=torch.bool)
        for index, (row, (token_ids, _)) in enumerate(zip(rows, inputs)):
            count = len(token_ids)
            input_ids[index, width - count :] = torch.tensor(list(token_ids))
            positions[index, width - count :] = torch.arange(row.length, row.length + count)
            is_new[index, width - count :] = True
            row.length += count
        is_token = torch.cat([is_token, is_new.to(device)], dim=1)
        logits = self._forward.logits(
            cache,
            max_keep,
            input_ids=input_ids.to(device),
            position_ids=positions.to(device),
            attention_mask=is_token.long(),
        )
        for index, (row, (_, keep)) in enumerate(zip(rows, inputs)):
            found[id(row)] = _last(logits[index], keep)
        return is_token

    def _leave(self, indices: list[int]) -> None:
        if not indices:
            return
        left = set(indices)
        kept = [index for index in range(len(self._rows)) if index not in left]
        self._rows = [self._rows[index] for index in kept]
        if not kept:
            self._cache, self._is_token = None, self._is_token[:0, :0]
            return
        chosen = torch.tensor(kept, dtype=torch.long, device=self._hf_model.device)
        self._is_token = self._is_token[chosen]
        self._cache.batch_select_indices(chosen)

    def _join(self, rows: list[TransformersRow], cache: Any, is_token: torch.Tensor) -> None:
        """Add the rows of another cache; the cache with fewer columns gets holes at the left."""
        if self._cache is None:
            self._rows, self._cache, self._is_token = rows, cache, is_token
            return
        columns = max(self._is_token.shape[1], is_token.shape[1])
        for layer, other in zip(self._cache.layers, cache.layers):
            layer.keys = torch.cat([_widened(layer.keys, columns), _widened(other.keys, columns)])
            layer.values = torch.cat([_widened(layer.values, columns), _widened(other.values, columns)])
        masks = [torch.nn.functional.pad(mask, (columns - mask.shape[1], 0)) for mask in (self._is_token, is_token)]
        self._is_token = torch.cat(masks)
        self._rows = [*self._rows, *rows]

    def _close_holes(self) -> None:
        """Move the tokens of every row to the right end, where too many columns are holes."""
        columns = self._is_token.shape[1]
        longest = max((row.length for row in self._rows), default=0)
        if columns <= MAX_COLUMNS_RATIO * longest + SPARE_COLUMNS:
            return
        # A stable sort by is_token puts the tokens after the holes, and keeps their order.
        order = torch.argsort(self._is_token.int(), dim=1, stable=True)[:, columns - longest :]
        self._is_token = torch.gather(self._is_token, 1, order)
        for layer in self._cache.layers:
            layer.keys = _gathered(layer.keys, order)
            layer.values = _gathered(layer.values, order)


def _last(logits: torch.Tensor, keep: int) -> NDArray[np.float32]:
    """Return the last rows of logits, as float32[keep, V]."""
    found: NDArray[np.float32] = logits[logits.shape[0] - keep :].float().cpu().numpy()
    return found


def _widened(states: torch.Tensor, columns: int) -> torch.Tensor:
    """Return float[rows, heads, T, size] with holes at the left, up to a number of columns."""
    return torch.nn.functional.pad(states, (0, 0, columns - states.shape[2], 0))


def _gathered(states: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    """Return the columns of each row in another order."""
    index = order[:, None, :, None].expand(-1, states.shape[1], -1, states.shape[3])
    return torch.gather(states, 2, index)
