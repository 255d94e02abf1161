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


# Of the memory that is free on a GPU, what the copies of one call may take there.
_SHARE = 4


def _has_room(tensor: Any, samples: int, heads: Optional[Sequence[int]]) -> bool:
    """Whether copies of so many samples and heads of (samples, heads, ...) stay on the tensor's GPU."""
    if not tensor.is_cuda:
        return False
    elements = tensor[0].numel() // max(1, tensor.shape[1]) * (tensor.shape[1] if heads is None else len(heads)) * samples
    free, _ = torch().cuda.mem_get_info(tensor.device)
    pool = torch().cuda.memory_reserved(tensor.device) - torch().cuda.memory_allocated(tensor.device)
    return bool(elements * tensor.element_size() < (free + pool) // _SHARE)


def kept(tensor: Any, samples: Sequence[int], heads: Optional[Sequence[int]], on_gpu: bool = False) -> "list[Any]":
    """Copies of samples of (samples, heads, ...), side by side and without history: in the CPU's memory, or with `on_gpu` where the
    tensor lies, if that is a GPU with room."""
    tensor = tensor.detach()
    stays = on_gpu and _has_room(tensor, len(samples), heads)
    if heads is not None:
        tensor = tensor[:, list(heads)]
    if not stays:
        return [tensor[sample].to("cpu", copy=True).contiguous() for sample in samples]
    whole = list(samples) == list(range(tensor.shape[0]))
    copies = (tensor if whole else tensor[list(samples)]).clone(memory_format=torch().contiguous_format)
    return list(copies)


def lie_side_by_side(parts: "Sequence[Any]") -> bool:
    """Whether tensors of one shape follow each other in one storage, each without gaps, as kept() makes them."""
    def storage(tensor: Any) -> int:
        return int((tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()).data_ptr())

    first = parts[0]
    return all(part.shape == first.shape and part.dtype == first.dtype and part.is_contiguous() and storage(part) == storage(first)
               and part.storage_offset() == first.storage_offset() + place * first.numel() for place, part in enumerate(parts))


def as_float64(value: Any) -> "NDArray[np.float64]":
    """The numbers of a tensor on any device, or of an array."""
    return np.asarray(value.detach().cpu().double().numpy() if is_tensor(value) else value, dtype=np.float64)
