"""What is kept of a sample in a layer, and the probabilities that come from it."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence

import numpy as np
from numpy.typing import NDArray

from .._errors import InputError
from .arrays import torch
from .masks import Reading

_BLOCK = 2 << 20  # scores that are computed at once


class Sample:
    """The attention of some heads on one sequence."""

    heads: int
    tokens: int  #: with padding
    place: int = 0  #: in its batch
    begin: int = 0
    end: int
    loses: bool = False  #: rows sum to less than 1 on purpose
    double: bool = False  #: in float64
    key_heads: Sequence[int] = ()  #: of `values` for each head; none: values are those of the heads
    values: Any = None  #: (heads or fewer, tokens, width), where they are kept
    residual: Any = None  #: (tokens, E): what the heads' outputs are added to, where that is known
    scales: Sequence[Any] = ()  #: of tokens in order, by which a norm multiplies the heads' outputs before; none: there is no norm

    def moved(self, part: str) -> Any:
        """The values of every head, or the residual in units of the heads' outputs, as the CPU has them."""
        if part == "residual":
            return self._scaled_residual()
        return self.values if self.values is None or not self.key_heads else self.values[list(self.key_heads)]

    def _scaled_residual(self) -> Any:
        if self.residual is None or not self.scales:
            return self.residual
        scale = torch().cat([*self.scales])
        if len(scale) != len(self.residual):
            raise InputError(f"the norm after the heads' output was seen on {len(scale)} of {len(self.residual)} tokens; "
                             "the residual needs all of them")
        return self.residual.double() / scale[:, None]

    def write(self, heads: Sequence[int], into: NDArray[Any]) -> None:
        """Writes rows begin to end - 1 of these heads into (heads, tokens or more, tokens or more)."""
        raise NotImplementedError


class Weights(Sample):
    """Probabilities that a module returned: (heads, tokens, tokens)."""

    def __init__(self, probabilities: Any) -> None:
        self.array = probabilities
        self.heads, self.tokens, _ = probabilities.shape
        self.end = self.tokens
        self.double = str(probabilities.dtype).endswith("float64")

    def write(self, heads: Sequence[int], into: NDArray[Any]) -> None:
        for place, head in enumerate(heads):
            probabilities = self.array[head]
            into[place, :self.tokens, :self.tokens] = (
                probabilities if isinstance(probabilities, np.ndarray) else probabilities.to(torch().float64).numpy())
            into[place, :self.tokens, self.tokens:] = 0


class Scores(Sample):
    """Queries and keys, after everything that is done to them before they meet.

    `queries` (heads, tokens, width) and `keys` (fewer heads, tokens, width) are in the CPU's memory, or in a GPU's; head h meets the keys
    of head `key_heads[h]`. `logits` are the learned sink's, one a head.
    """

    def __init__(self, queries: Any, keys: Any, key_heads: Sequence[int], reading: Reading, *, scaling: float,
                 softcap: Optional[float], window: Optional[int], logits: Any, device: Any) -> None:
        self.queries = queries
        self.keys = keys
        self.key_heads = list(key_heads)
        self.scaling = scaling
        self.softcap = softcap
        self.window = window
        self.logits = logits
        self.device = device  #: that probabilities are computed on
        self.allowed = reading.allowed
        self.bias = reading.bias
        self.begin, self.end = reading.begin, reading.end
        self.heads, self.tokens, _ = queries.shape
        self.loses = logits is not None
        self.double = any(str(tensor.dtype).endswith("float64") for tensor in (queries, reading.bias) if tensor is not None)
        self._added: List[Any] = []  # queries, keys, values and residual of tokens that came later

    def stands_alone(self) -> bool:
        """Whether the probabilities follow from queries, keys, scale, soft cap, window and sink logits alone: no other mask, no bias."""
        self._join()
        several = self.heads // self.keys.shape[0]
        return (self.allowed is None and self.bias is None and not self.double and several * self.keys.shape[0] == self.heads
                and list(self.key_heads) == [head // several for head in range(self.heads)]
                and (self.logits is None or self.begin == 0) and self.queries.dtype == self.keys.dtype)

    def computes_like(self, other: "Scores") -> bool:
        """Whether another sample's probabilities come from its queries and keys in the same way."""
        return (self.scaling == other.scaling and self.softcap == other.softcap and self.window == other.window
                and self.queries.dtype == other.queries.dtype and self.queries.shape[2] == other.queries.shape[2]
                and (self.logits is None) == (other.logits is None)
                and (self.logits is None or bool(torch().equal(self.logits.cpu(), other.logits.cpu()))))

    def can_follow(self, last_key: Any, past: int) -> bool:
        """Whether tokens with so many before them continue this sample, whose last key they hand back."""
        if self.tokens != past or self.end != past or self.allowed is not None or self.bias is not None:
            return False
        mine = self._added[-1][1][:, -1] if self._added else self.keys[:, -1]
        return bool(torch().equal(mine, last_key.to(mine.device)))

    def add(self, queries: Any, keys: Any, values: Any, residual: Any) -> None:
        """Appends tokens of a generated text."""
        self._added.append((queries, keys, values, residual))
        self.tokens += queries.shape[1]
        self.end = self.tokens

    def _join(self) -> None:
        if self._added:
            t = torch()
            parts = zip((self.queries, self.keys, self.values, self.residual), zip(*self._added))
            self.queries, self.keys, self.values, self.residual = (
                None if first is None or any(one is None for one in later) else t.cat([first, *later], -2) for first, later in parts)
            self._added = []

    def moved(self, part: str) -> Any:
        self._join()
        return super().moved(part)

    def write(self, heads: Sequence[int], into: NDArray[Any]) -> None:
        t = torch()
        self._join()
        at_once = max(1, _BLOCK // max(1, (self.end - self.begin) ** 2))
        with t.no_grad():
            for first in range(0, len(heads), at_once):
                self._write(list(heads[first:first + at_once]), into[first:first + at_once])

    def _write(self, heads: List[int], into: NDArray[Any]) -> None:
        t = torch()
        # Products in float32 may have been allowed to be less exact than that.
        exact = getattr(t, "get_float32_matmul_precision", lambda: "highest")() == "highest" and not self.double
        product_type = t.float32 if exact else t.float64
        scores_type = t.float64 if self.double else t.float32
        tokens = slice(self.begin, self.end)
        queries = self.queries[heads][:, tokens].to(self.device, product_type)
        keys = self.keys[[self.key_heads[head] for head in heads]][:, tokens].to(self.device, product_type).transpose(1, 2)
        allowed, bias = (None if mask is None else (mask if mask.shape[0] == 1 else mask[heads]).to(self.device)
                         for mask in (self.allowed, self.bias))
        logits = None if self.logits is None else self.logits[heads].to(self.device, scores_type)[:, None, None]
        count = self.end - self.begin
        rows = max(1, _BLOCK // (count * len(heads)))
        places = t.arange(count, device=self.device)
        pinned = None
        for first in range(0, count, rows):
            last = min(count, first + rows)
            scores = t.matmul(queries[:, first:last], keys[:, :, :last]).to(scores_type) * self.scaling
            if self.softcap is not None:
                scores = t.tanh(scores / self.softcap) * self.softcap
            if bias is not None:
                scores += bias[:, first:last, :last] if bias.shape[1] > 1 else bias[:, :, :last]
            ahead = places[first:last, None] - places[:last]
            masked = ahead < 0
            if self.window is not None:
                masked |= ahead >= self.window
            if allowed is not None:
                masked = masked | ~allowed[:, first:last, :last]
            scores.masked_fill_(masked, -float("inf"))
            highest = scores.amax(-1, keepdim=True)
            if logits is not None:
                highest = t.maximum(highest, logits)
            scores = scores.sub_(highest.masked_fill(highest == -float("inf"), 0)).exp_()
            total = scores.sum(-1, keepdim=True)
            if logits is not None:
                total += (logits - highest).exp_()
            scores /= total
            if scores.is_cuda:
                if pinned is None or pinned.numel() < scores.numel():
                    pinned = t.empty(len(heads) * rows * count, dtype=scores_type, pin_memory=True)
                scores = pinned[:scores.numel()].view(scores.shape).copy_(scores)
            elif scores.device.type != "cpu":
                scores = scores.cpu()
            rows_into = into[:, self.begin + first:self.begin + last]
            rows_into[:, :, :self.begin] = 0
            rows_into[:, :, self.begin:self.begin + last] = scores.numpy()
            rows_into[:, :, self.begin + last:] = 0


def probabilities(sample: Sample, begin: int, end: int) -> NDArray[Any]:
    """(heads, end - begin, end - begin)."""
    into = np.zeros((sample.heads, sample.tokens, sample.tokens), dtype=np.float64 if sample.double else np.float32)
    sample.write(range(sample.heads), into)
    return np.ascontiguousarray(into[:, begin:end, begin:end])


def weights_of(probabilities: Any) -> List[Weights]:
    """Samples of an array (queries, keys), (heads, queries, keys) or (samples, heads, queries, keys), which is copied."""
    rank = len(probabilities.shape)
    if not 2 <= rank <= 4 or probabilities.shape[-1] != probabilities.shape[-2] or 0 in tuple(probabilities.shape):
        raise InputError(f"attention of shape {tuple(probabilities.shape)}: expected (samples, heads, tokens, tokens)")
    array = probabilities.reshape((1,) * (4 - rank) + tuple(probabilities.shape))
    return [Weights(one) for one in array]
