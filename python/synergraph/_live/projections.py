"""Learned weights of heads, from the matrices that mix what they bring."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._attention import learned_weights
from .._errors import InputError
from .arrays import is_tensor, torch

#: What attention modules call their output projections.
_NAMES = ("o_proj", "out_proj", "c_proj", "dense", "wo", "W_o", "to_out", "out_lin", "proj")


def projection_module_of(module: Any) -> Any:
    """The module that is the output projection of an attention module, or None."""
    for name in _NAMES:
        projection = getattr(module, name, None)
        weight: Any = getattr(projection, "weight", None)
        if is_tensor(weight) and weight.dim() == 2:
            return projection
    return None


def projection_of(module: Any) -> Any:
    """The output projection of an attention module: (outputs, heads * width)."""
    projection = projection_module_of(module)
    if projection is not None:
        # GPT-2's Conv1D has inputs first.
        return projection.weight.t() if type(projection).__name__ == "Conv1D" else projection.weight
    raise InputError(f"{type(module).__name__} has no output projection that is known: pass weights")


def bias_of(module: Any) -> Any:
    """The bias of the same projection, or None."""
    for name in _NAMES:
        if is_tensor(getattr(getattr(module, name, None), "weight", None)):
            bias = getattr(getattr(module, name), "bias", None)
            return bias if is_tensor(bias) else None
    return None


def weights_of_heads(projection: Any, heads: int) -> NDArray[np.float64]:
    """Learned weights of all heads of a projection; with grouped queries every query head has its own block."""
    if projection.shape[1] % heads != 0:
        raise InputError(f"an output projection of {projection.shape[1]} columns for {heads} heads: pass weights")
    if not is_tensor(projection):
        return learned_weights(projection, heads)
    if projection.is_meta or not projection.is_floating_point():
        raise InputError(f"the output projection ({projection.dtype}, on {projection.device}) cannot be read: pass weights")
    t = torch()
    with t.no_grad():  # block by block, in little of the device's memory
        norms = t.stack([block.double().norm() for block in projection.detach().split(projection.shape[1] // heads, 1)])
        weights: NDArray[np.float64] = (norms / norms.sum()).cpu().numpy()
    return weights
