"""Tensors on other devices. A GPU measures them in its memory; the CPU reads them head by head, through pinned memory."""

from __future__ import annotations

import ctypes
import sys
from typing import Any, List, Optional, Tuple, Union

from ._errors import InputError
from ._views import AXES, CODES, DeviceArray, HeadFunction, View


def on_device(value: Any) -> Optional[Any]:
    """The PyTorch tensor on a device that something is, if it is one; arrays of other libraries come by DLPack."""
    torch = sys.modules.get("torch")
    if torch is None:
        return None
    if isinstance(value, torch.Tensor):
        return value if value.device.type not in ("cpu", "meta") else None
    if hasattr(value, "__dlpack_device__"):
        if int(value.__dlpack_device__()[0]) == 2 and torch.cuda.is_available():
            return torch.from_dlpack(value)
    elif hasattr(value, "__cuda_array_interface__") and torch.cuda.is_available():
        return torch.as_tensor(value, device="cuda")
    return None


class _Staging:
    """Memory for one head, pinned where there is a GPU, that all layers of a tensor share: they are read one at a time."""

    def __init__(self) -> None:
        self._buffer: Any = None

    def write(self, matrix: Any, address: int) -> None:
        """Writes a matrix on a device to an address in memory."""
        torch: Any = sys.modules["torch"]
        if self._buffer is None or self._buffer.shape != matrix.shape or self._buffer.dtype != matrix.dtype:
            self._buffer = torch.empty(matrix.shape, dtype=matrix.dtype, pin_memory=torch.cuda.is_available())
        self._buffer.copy_(matrix)
        ctypes.memmove(address, self._buffer.data_ptr(), self._buffer.numel() * self._buffer.element_size())


def view_there(tensor: Any) -> View:
    """A tensor on a GPU as memory."""
    name = str(tensor.dtype).replace("torch.", "")
    return View(tensor.data_ptr(), CODES[name], tuple(tensor.shape), tuple(stride * tensor.element_size() for stride in tensor.stride()), tensor)


def place_of(tensor: Any) -> Tuple[int, int]:
    """The CUDA device of a tensor, and the caller's stream there."""
    torch: Any = sys.modules["torch"]
    return tensor.device.index or 0, int(torch.cuda.current_stream(tensor.device).cuda_stream)


def layers_of(tensor: Any, axes: Tuple[str, ...]) -> List[Union[HeadFunction, DeviceArray]]:
    """The layers of a tensor on a device, whose axes are these."""
    torch: Any = sys.modules["torch"]
    name = str(tensor.dtype).replace("torch.", "")
    if name not in CODES:
        raise InputError(f"elements are {name}: on a device, expected {', '.join(CODES)}")
    if str(tensor.layout) != "torch.strided":
        raise InputError(f"the tensor's layout is {tensor.layout}, expected torch.strided: pass tensor.to_dense()")
    whole = tensor.detach().permute([axes.index(axis) for axis in AXES if axis in axes])
    for place, axis in enumerate(AXES):
        if axis not in axes:
            whole = whole.unsqueeze(place)
    if tensor.device.type == "cuda":
        # What makes the tensor has to be done: heads are read by other threads, in a stream of their own.
        torch.cuda.current_stream(tensor.device).synchronize()
    staging = _Staging()

    def function(layer: Any) -> Union[HeadFunction, DeviceArray]:
        def read(sample: int, head: int, address: int) -> None:
            staging.write(layer[sample, head], address)

        if layer.device.type != "cuda":
            return HeadFunction(read, CODES[name], tuple(layer.shape))
        return DeviceArray(view_there(layer), *place_of(layer), read)

    return [function(layer) for layer in whole]
