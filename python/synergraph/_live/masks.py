"""Masks of any kind, as the tokens of each sample and what is left to mask among them."""

from __future__ import annotations

from typing import Any, List, NamedTuple, Optional, Sequence

from .._errors import InputError
from .arrays import torch

NOT_CAUSAL = "tokens attend to later ones: this is an encoder's attention; synergraph measures causal attention, as decoders have it"

#: What is added to a score to mask it is this or less: some models add no more than -10000, which is -9984 in bfloat16.
MASKED = -9900.0


class Reading(NamedTuple):
    """A sample's tokens begin to end - 1 among padding, and what is masked beside later tokens."""

    begin: int
    end: int
    allowed: Any = None  #: (1 or heads, tokens, tokens) booleans, or None
    bias: Any = None  #: (1 or heads, tokens, tokens) to be added to scores, or None


def _span(kept: Any, why: str) -> "tuple[int, int]":
    """Where the tokens are that are kept, which must lie side by side."""
    places = kept.nonzero().flatten().tolist()
    if not places:
        raise InputError("a sample is padding from its first token to its last")
    begin, end = places[0], places[-1] + 1
    if end - begin != len(places):
        raise InputError(why)
    return begin, end


def _plane(mask: Any, sample: int, heads: Optional[Sequence[int]]) -> Any:
    """(1 or heads, queries, keys) of one sample."""
    mask = mask[sample if mask.shape[0] > 1 else 0]
    return mask[list(heads)] if heads is not None and mask.shape[0] > 1 else mask


def four_axes(mask: Any) -> Any:
    """A mask (queries, keys), (samples, queries, keys) or (samples, heads, queries, keys), with all four axes."""
    if not 2 <= mask.dim() <= 4:
        raise InputError(f"a mask of {mask.dim()} axes: expected (samples, heads, queries, keys)")
    while mask.dim() < 4:
        mask = mask.unsqueeze(0 if mask.dim() == 2 else 1)
    return mask


def read(mask: Any, padding: Any, causal: bool, samples: Sequence[int], tokens: int,
         heads: Optional[Sequence[int]]) -> List[Reading]:
    """What a mask says of each of these samples.

    `mask` is None or has four axes, booleans (True: attends) or numbers that are added to scores; `padding` is None or
    (samples, keys), True where there is a token. `causal`: later tokens are masked whatever the mask says.
    """
    if mask is None and not causal:
        raise InputError(NOT_CAUSAL)
    readings = []
    for sample in samples:
        begin, end = 0, tokens
        if padding is not None:
            begin, end = _span(padding[sample, :tokens], "padding is in the middle of a sample: expected it on one side")
        if mask is None:
            readings.append(Reading(begin, end))
        else:
            readings.append(_read_one(_plane(mask, sample, heads)[..., :tokens], begin, end, causal))
    return readings


def _read_one(mask: Any, begin: int, end: int, causal: bool) -> Reading:
    """Of one sample: (1 or heads, 1 or queries, keys)."""
    t = torch()
    bias = None
    if mask.dtype == t.bool:
        allowed = mask
    elif mask.is_floating_point():
        allowed = mask > MASKED
        if bool((mask.masked_fill(~allowed, 0) != 0).any()):
            bias = mask
    else:
        allowed = mask != 0
    if mask.shape[-2] == 1 and mask.shape[-1] > 1:  # of keys, the same for all queries
        if not causal:
            raise InputError(NOT_CAUSAL)
        first, last = _span(allowed.any(0)[0], "padding is in the middle of a sample: expected it on one side")
        begin, end = max(begin, first), min(end, last)
        allowed = None
    else:
        if causal:
            allowed = allowed.tril()
        begin, end = _tokens(allowed.any(0), begin, end)
        allowed = allowed[:, begin:end, begin:end]
        full = t.ones(end - begin, end - begin, dtype=t.bool, device=mask.device).tril()
        if all(t.equal(plane, full) for plane in allowed):
            allowed = None
    if bias is not None:
        bias = bias[:, begin:end, begin:end] if bias.shape[-2] > 1 else bias[:, :, begin:end]
        bias = bias.detach().to("cpu", t.float64 if bias.dtype == t.float64 else t.float32, copy=True)
    return Reading(begin, end, None if allowed is None else allowed.to("cpu", copy=True), bias)


def _tokens(allowed: Any, begin: int, end: int) -> "tuple[int, int]":
    """The tokens of a mask (queries, keys), which attend to themselves and to none that is later.

    A token of padding attends to nothing, or, where libraries avoid empty rows, to everything; no other token attends to it.
    """
    inside = allowed[begin:end, begin:end]
    itself = inside.diagonal()
    later = inside.triu(1).any(1)
    kept = itself & ~later
    kept = kept & ~(inside & ~kept).any(1)
    if bool((later & ~inside.all(1)).any()) or (bool(later.any()) and not bool(kept.any())):
        raise InputError(NOT_CAUSAL)
    first, last = _span(kept, NOT_CAUSAL if bool(later.any()) else "padding is in the middle of a sample: expected it on one side")
    return begin + first, begin + last
