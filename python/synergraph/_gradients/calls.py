"""A metric of attention in the memory of the CPU, and its derivatives, without any framework of gradients."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, c_double, c_int64
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from .. import _library
from .._errors import InputError

_QUICK = 2e7  # multiply-adds; longer calls listen to Ctrl-C


class Dense(NamedTuple):
    """Attention (samples, heads, tokens, tokens) without gaps."""

    pointer: int
    code: int  # of the element type
    shape: Tuple[int, ...]
    owner: Any


class QueryKeys(NamedTuple):
    """Queries (samples, heads, tokens, width) and keys (samples, key heads, tokens, width) without gaps, of one type."""

    queries: int  # their addresses
    keys: int
    code: int
    shape: Tuple[int, ...]
    key_heads: int
    scale: float
    softcap: float
    window: int
    owner: Any


class Buffers(NamedTuple):
    """The derivatives of one layer: arrays of zeros, float32 or float64; None: not wanted."""

    attention: Optional[int] = None
    queries: Optional[int] = None
    keys: Optional[int] = None
    weights: Optional[NDArray[np.float64]] = None
    single: bool = False  # float32


def _scores(layer: QueryKeys) -> _library.Scores:
    samples, heads, tokens, width = layer.shape
    size = {_library.FLOAT64: 8, _library.FLOAT32: 4}.get(layer.code, 2)
    strides = [(c_int64 * 3)(size * count * tokens * width, size * tokens * width, size * width) for count in (heads, layer.key_heads)]
    return _library.Scores(ctypes.sizeof(_library.Scores), layer.queries, layer.keys, layer.code, 0, samples, heads, layer.key_heads,
                           tokens, width, strides[0], strides[1], layer.scale, layer.softcap, layer.window, None)


class Gradient:
    """A metric of every sample of a batch. The memory of the layers must keep its numbers as long as this object lives."""

    def __init__(self, layers: Sequence[Any], options: Dict[str, Any], *, weights: Optional[NDArray[np.float64]] = None,
                 lengths: Optional[NDArray[np.int64]] = None, padding: str = "right", row_tolerance: Optional[float] = None,
                 threads: Optional[int] = None) -> None:
        self._layers = list(layers)
        self._threads = threads
        self._attention = _library.make("attention", "sg_attention_create", _library.encoded({"row_tolerance": row_tolerance}))
        pointer = self._attention.pointer
        for number, layer in enumerate(layers):
            name = f"layer {number}".encode()
            if isinstance(layer, Dense):
                _library.check(_library.lib.sg_attention_add(pointer, name, layer.pointer, layer.code, (c_int64 * 4)(*layer.shape), None))
            else:
                _library.check(_library.lib.sg_attention_add_scores(pointer, name, byref(_scores(layer)), None,
                                                                    _library.ReadHead(0), None, layer.code))
        if padding not in ("left", "right"):
            raise InputError(f"padding: {padding!r} is neither 'left' nor 'right'")
        if lengths is not None:
            given = np.ascontiguousarray(lengths, dtype=np.int64).ravel()
            _library.check(_library.lib.sg_attention_set_lengths(
                pointer, given.ctypes.data_as(POINTER(c_int64)), given.size, padding.encode(), None, 0))
        own = np.ascontiguousarray(weights, dtype=np.float64).ravel() if weights is not None else np.empty(0)
        arguments = (pointer, own.ctypes.data_as(POINTER(c_double)) if own.size else None, own.size, _library.encoded(options))
        self._work = float(sum(np.prod(layer.shape[:3], dtype=float) * layer.shape[2] for layer in layers))
        self._handle = _library.run_made("gradient", "sg_gradient_create", arguments, keep=(self._attention, own, self._layers),
                                         threads=threads, long=self._long())
        samples, values = c_int64(), c_int64()
        _library.check(_library.lib.sg_gradient_shape(self._handle.pointer, byref(samples), byref(values)))
        self.values: NDArray[np.float64] = np.empty((samples.value, values.value))
        _library.check(_library.lib.sg_gradient_values(self._handle.pointer, self.values.ctypes.data_as(POINTER(c_double)), self.values.size))

    def _long(self) -> bool:
        return self._work * 100 > _QUICK

    def pull_back(self, upstream: NDArray[np.float64], buffers: Sequence[Buffers]) -> None:
        """Adds the derivatives of (upstream * values).sum() to the buffers, one entry for each layer."""
        given = np.ascontiguousarray(upstream, dtype=np.float64)
        listed: List[_library.GradientBuffers] = []
        for one in buffers:
            weights = None if one.weights is None else one.weights.ctypes.data
            listed.append(_library.GradientBuffers(
                ctypes.sizeof(_library.GradientBuffers), _library.FLOAT32 if one.single else _library.FLOAT64, 0,
                one.attention, one.queries, one.keys, weights))
        array = (_library.GradientBuffers * len(listed))(*listed)
        _library.run("sg_gradient_pull_back", (self._handle.pointer, given.ctypes.data_as(POINTER(c_double)), given.size, array, len(listed)),
                     (), keep=(self, given, buffers), threads=self._threads, long=self._long())
