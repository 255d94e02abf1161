"""Boolean attention masks (query, key): True where the query may attend to the key."""

from __future__ import annotations

import sys
from typing import Any, Callable

import numpy as np
from numpy.typing import NDArray

from ._errors import InputError, UsageError
from ._options import shown

MaskMod = Callable[[Any, Any, Any, Any], Any]  # batch, head, query, key -> boolean tensor


def as_mask(value: Any, rank: int) -> NDArray[np.bool_]:
    """A boolean array of NumPy or torch on any device, with `rank` axes, the last two of the same length."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        value = value.detach().cpu().numpy()
    mask: NDArray[Any] = np.asarray(value)
    if mask.dtype != np.bool_:
        raise InputError(f"mask: elements are {mask.dtype}; a mask is boolean. From additive masks: mask == 0")
    axes = "(query, key)" if rank == 2 else "(head, query, key)"
    if mask.ndim != rank or mask.shape[-1] != mask.shape[-2] or mask.size == 0:
        raise InputError(f"mask: an array of shape {mask.shape}, expected {axes} with as many queries as keys")
    later = np.argwhere(np.triu(mask, 1))
    if later.size:
        query, key = later[0][-2:]
        raise InputError(f"mask: query {query} attends to key {key}, a later token; take the lower triangle: np.tril(mask), mask.tril()")
    return mask


def in_torch(mask: NDArray[np.bool_], device: Any) -> Any:
    """The mask as a tensor."""
    try:
        import torch
    except ImportError:
        raise UsageError("mask: PyTorch is not installed; leave torch=True out, or run pip install torch") from None
    try:
        return torch.from_numpy(mask).to(device) if device is not None else torch.from_numpy(mask)
    except (RuntimeError, TypeError, AssertionError) as error:
        raise UsageError(f"device: {shown(device)}: {str(error).splitlines()[0]}") from None


def mask_mod_of(masks: NDArray[np.bool_], device: Any) -> MaskMod:
    """The function of flex attention for masks (head, query, key); a single mask is that of every head."""
    table = in_torch(masks, device)
    if len(masks) == 1:
        shared = table[0]
        return lambda batch, head, query, key: shared[query, key]
    return lambda batch, head, query, key: table[head, query, key]
