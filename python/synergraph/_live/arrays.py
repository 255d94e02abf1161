"""PyTorch, if it is there."""

from __future__ import annotations

import importlib
from typing import Any, Optional, Sequence

import numpy as np
from numpy.typing import NDArray

from .._errors import InputError
from .._options import refuse


def torch() -> Any:
    """The module, which is not imported with the package."""
    try:
        return importlib.import_module("torch")
    except ImportError:
        raise InputError("queries and keys need PyTorch, which is not installed") from None


def as_tensor(value: Any, name: str) -> Any:
    """A tensor, of what PyTorch takes for one."""
    try:
        return torch().as_tensor(value)
    except (TypeError, ValueError, RuntimeError):
        refuse(name, value, "a tensor, or an array of numbers")


def is_tensor(value: Any) -> bool:
    import sys

    module = sys.modules.get("torch")
    return module is not None and isinstance(value, module.Tensor)


def check(tensor: Any, what: str) -> Any:
    """Refuses a tensor whose numbers cannot be read."""
    if tensor.is_meta:
        raise InputError(f"{what} are on the meta device: there are no numbers")
    if getattr(tensor, "is_nested", False):
        raise InputError(f"{what} are nested tensors: pass padded ones")
    if tensor.is_cuda and torch().cuda.is_current_stream_capturing():
        raise InputError("a CUDA graph is being captured")
    return tensor


def kept(tensor: Any, samples: Sequence[int], heads: Optional[Sequence[int]]) -> "list[Any]":
    """Copies of samples of (samples, heads, ...), in the CPU's memory and without history."""
    tensor = tensor.detach()
    if heads is not None:
        tensor = tensor[:, list(heads)]
    return [tensor[sample].to("cpu", copy=True).contiguous() for sample in samples]


def as_float64(value: Any) -> "NDArray[np.float64]":
    """The numbers of a tensor on any device, or of an array."""
    return np.asarray(value.detach().cpu().double().numpy() if is_tensor(value) else value, dtype=np.float64)
