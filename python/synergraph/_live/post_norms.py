"""Norms between the heads' output and the residual, as Gemma 2 and 3 and OLMo 2 have them.

For a fixed denominator an RMS norm is linear: it returns s g x, with a gain g for each channel and one scale s for each token. The gain
is among the module's parameters. The scale follows from the input and the output of the norm. So norm and contribution edges are those of
the output projection diag(g) W_O with the residual divided by s. This divides every row by one number, and rows are normalised.
"""

from __future__ import annotations

from typing import Any, Iterator, Tuple

from .._errors import InputError
from .arrays import torch


def is_named_after_norm(module: Any) -> bool:
    return "norm" in type(module).__name__.lower()


def _gains(module: Any, width: int) -> Iterator[Any]:
    """The gains that a norm may have: its parameter, as in Llama, or 1 plus its parameter, as in Gemma."""
    t = torch()
    own = [one.detach().double() for one in module.parameters(recurse=False)]
    if not own:
        yield t.ones(width, dtype=t.float64)
    elif len(own) == 1 and tuple(own[0].shape) == (width,):
        yield own[0]
        yield 1 + own[0]


_ROWS = 4096  # tokens that are looked at together


def _fit(gain: Any, given: Any, returned: Any) -> Any:
    """The scale of every token (tokens), and how far the output of the norm is from s g x at most. None if it is not s g x."""
    t = torch()
    # y was rounded to its type; sums over channels are rounded less.
    tolerance = max(1e-4, 4 * t.finfo(returned.dtype).eps)
    scales, furthest = [], 0.0
    for x, y in zip(given.split(_ROWS), returned.split(_ROWS)):
        moved, y = x.double() * gain.to(x.device), y.double()
        scale = (moved * y).sum(-1) / (moved * moved).sum(-1)
        scale = t.where((moved != 0).any(-1), scale, t.ones_like(scale))  # nothing is moved, whatever the scale
        error, length = (y - scale[:, None] * moved).norm(dim=-1), y.norm(dim=-1)
        if not bool(((scale > 0) & (error <= tolerance * length)).all()):
            return None
        furthest = max(furthest, float((error / length.where(length > 0, t.ones_like(length))).max()))
        scales.append(scale.cpu())
    return t.cat(scales), furthest


def linear_in(module: Any, given: Any, returned: Any, known: Any = None) -> Tuple[Any, Any]:
    """The gain (E) of a norm and its scale for every token of a call, in the CPU's memory.

    The gain is the known one or, of those that a norm may have, the one that fits best; None if the norm was given zeros only, which
    every gain fits. InputError if the output is not s g x, as for a norm that subtracts the mean or adds a bias.
    """
    t = torch()
    with t.no_grad():
        x, y = (one.detach().cpu() if one.device.type == "mps" else one.detach() for one in (given, returned))
        width = x.shape[-1]
        if x.shape == y.shape and not bool((x != 0).any() or (y != 0).any()):
            return None, t.ones(x.shape[:-1], dtype=t.float64)
        gains = [] if x.shape != y.shape else _gains(module, width) if known is None else [known]
        fits = [(gain, _fit(gain, x.reshape(-1, width), y.reshape(-1, width))) for gain in gains]
        fits = [(gain, fit) for gain, fit in fits if fit is not None]
        if fits:
            gain, (scale, _) = min(fits, key=lambda one: float(one[1][1]))
            return gain.cpu(), scale.reshape(x.shape[:-1])
    raise InputError(f"the heads' output goes through a {type(module).__name__} before it is added to the residual; norm and "
                     "contribution edges need an RMS norm there. Use edges=\"attention\".")
