"""Sequences of a transformers model in one key-value cache: rows join, grow by what each has to read, and leave.

All rows have the same number of columns. Where a row has fewer tokens than the others, or took some back, its columns
are holes: the attention mask hides them, and positions are counted without them. When too many are holes, the tokens
that are left move together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import DynamicCache

__all__ = ["TransformersBatch", "TransformersRow"]

# Holes are removed when there are more columns than this many times the longest row's tokens, and some more.
MAX_COLUMNS = 1.5
SPARE_COLUMNS = 64


class TransformersRow:
    """One sequence of a `TransformersBatch`; a `structgen.models.base.Session` that the batch reads for."""

    __slots__ = ("_batch", "length")

    can_crop = True

    def __init__(self, batch: TransformersBatch) -> None:
        self._batch = batch
        self.length = 0  # tokens that were read

    def forward(self, token_ids: Sequence[int], *, keep: int = 1) -> NDArray[np.float32]:
        """See `structgen.models.base.Session.forward`; for this row alone."""
        raise NotImplementedError("a row of a batch is read by its batch")

    def crop(self, count: int) -> None:
        """See `structgen.models.base.Session.crop`."""
        self._batch.crop(self, count)
        self.length -= count


class TransformersBatch:
    """Rows in one cache; see `structgen.models.base.SessionBatch`.

    Args:
        hf_model: whose attention looks back at all tokens, in every layer.
        keeps_logits: whether it takes `logits_to_keep`.
    """

    def __init__(self, hf_model: Any, *, keeps_logits: bool) -> None:
        self._hf_model = hf_model
        self._keeps_logits = keeps_logits
        self._rows: list[TransformersRow] = []
        self._cache: Any = None
        # bool[rows, columns]: whether a column of the cache is a token of the row.
        self._is_token = torch.empty((0, 0), dtype=torch.bool, device=hf_model.device)

    def session(self) -> TransformersRow:
        """A new row; it joins when it first has something to read."""
        return TransformersRow(self)

    def forward(self, requests: Sequence[tuple[Any, Sequence[int], int]]) -> list[NDArray[np.float32]]:
        """See `structgen.models.base.SessionBatch.forward`. Rows that are not asked for leave."""
        asked = {id(row): (token_ids, keep) for row, token_ids, keep in requests}
        self._leave([index for index, row in enumerate(self._rows) if id(row) not in asked])
        self._close_holes()
        known = {id(row) for row in self._rows}
        joining = [row for row, _, _ in requests if id(row) not in known]
        found: dict[int, NDArray[np.float32]] = {}
        with torch.inference_mode():
            if self._rows:
                wanted = [asked[id(row)] for row in self._rows]
                self._is_token = self._read(self._rows, wanted, self._cache, self._is_token, found)
            if joining:
                cache = DynamicCache(config=self._hf_model.config)
                nothing = torch.empty((len(joining), 0), dtype=torch.bool, device=self._hf_model.device)
                is_token = self._read(joining, [asked[id(row)] for row in joining], cache, nothing, found)
                self._join(joining, cache, is_token)
        return [found[id(row)] for row, _, _ in requests]

    def crop(self, row: TransformersRow, count: int) -> None:
        """Makes holes of the last `count` tokens of a row."""
        if not count:
            return
        with torch.inference_mode():
            columns = self._is_token[self._rows.index(row)]
            columns[columns.nonzero()[-count:, 0]] = False

    def _read(
        self,
        rows: list[TransformersRow],
        wanted: list[tuple[Sequence[int], int]],
        cache: Any,
        is_token: torch.Tensor,
        found: dict[int, NDArray[np.float32]],
    ) -> torch.Tensor:
        """One pass over the rows of a cache; the new tokens stand at the right. Returns what is a token now."""
        width = max(len(token_ids) for token_ids, _ in wanted)
        most = max(keep for _, keep in wanted)
        device = self._hf_model.device
        input_ids = torch.zeros((len(rows), width), dtype=torch.long)
        positions = torch.zeros((len(rows), width), dtype=torch.long)
        is_new = torch.zeros((len(rows), width), dtype=torch.bool)
        for index, (row, (token_ids, _)) in enumerate(zip(rows, wanted)):
            count = len(token_ids)
            input_ids[index, width - count :] = torch.tensor(list(token_ids))
            positions[index, width - count :] = torch.arange(row.length, row.length + count)
            is_new[index, width - count :] = True
            row.length += count
        is_token = torch.cat([is_token, is_new.to(device)], dim=1)
        output = self._hf_model(
            input_ids=input_ids.to(device),
            position_ids=positions.to(device),
            attention_mask=is_token.long(),
            past_key_values=cache,
            use_cache=True,
            **({"logits_to_keep": most} if self._keeps_logits else {}),
        )
        for index, (row, (_, keep)) in enumerate(zip(rows, wanted)):
            found[id(row)] = output.logits[index, -keep:].float().cpu().numpy()
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
        """Puts the rows of another cache under those here; the shorter side gets holes at the left."""
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
        """Moves the tokens of every row to the right, where too many columns are holes."""
        columns = self._is_token.shape[1]
        longest = max((row.length for row in self._rows), default=0)
        if columns <= MAX_COLUMNS * longest + SPARE_COLUMNS:
            return
        # A stable sort by whether it is a token leaves the order of tokens, and puts them behind the holes.
        order = torch.argsort(self._is_token.int(), dim=1, stable=True)[:, columns - longest :]
        self._is_token = torch.gather(self._is_token, 1, order)
        for layer in self._cache.layers:
            layer.keys = _gathered(layer.keys, order)
            layer.values = _gathered(layer.values, order)


def _widened(states: torch.Tensor, columns: int) -> torch.Tensor:
    """float[rows, heads, T, size] with holes at the left, up to so many columns."""
    return torch.nn.functional.pad(states, (0, 0, columns - states.shape[2], 0))


def _gathered(states: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    """The columns of each row in another order."""
    index = order[:, None, :, None].expand(-1, states.shape[1], -1, states.shape[3])
    return torch.gather(states, 2, index)
