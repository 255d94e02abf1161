"""Arrays of other libraries through DLPack, read where they lie."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p
from typing import Any, Tuple

from ._errors import InputError

_CPU_DEVICES = {1, 3}  # the CPU's memory, and such of it as CUDA has pinned
_FLOAT, _BFLOAT = 2, 4
_NAMES = {(_FLOAT, 16): "float16", (_BFLOAT, 16): "bfloat16", (_FLOAT, 32): "float32", (_FLOAT, 64): "float64"}


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("rank", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


class _ManagedTensor(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", c_void_p), ("deleter", c_void_p)]


_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype = c_void_p
_get_pointer.argtypes = [ctypes.py_object, c_char_p]


class Tensor:
    """What a DLPack capsule says. The capsule stays unused: it releases the array when this is gone."""

    def __init__(self, source: Any) -> None:
        device, _ = source.__dlpack_device__()
        if int(device) not in _CPU_DEVICES:
            raise InputError(f"attention is on a device (DLPack's kind {int(device)}), expected the CPU's memory, or import torch to read it from there")
        self._capsule = source.__dlpack__()
        tensor = ctypes.cast(_get_pointer(self._capsule, b"dltensor"), POINTER(_ManagedTensor)).contents.tensor
        name = _NAMES.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
        if name is None:
            raise InputError(
                f"elements of {tensor.bits} bits, DLPack's kind {tensor.code}: expected float16, bfloat16, float32 or float64"
            )
        self.dtype: str = name
        self.pointer: int = (tensor.data or 0) + tensor.byte_offset
        self.shape: Tuple[int, ...] = tuple(tensor.shape[:tensor.rank])
        self.strides: Tuple[int, ...]  # in bytes
        if tensor.strides:
            self.strides = tuple(stride * tensor.bits // 8 for stride in tensor.strides[:tensor.rank])
        else:
            strides = [tensor.bits // 8]
            for extent in reversed(self.shape[1:]):
                strides.insert(0, strides[0] * extent)
            self.strides = tuple(strides[:tensor.rank])
