"""Speed and fidelity of attention as functions that JAX differentiates in reverse mode.

    import jax, jax.numpy as jnp
    import synergraph.jax as sj

    def loss(scores):                                    # (heads, n, n)
        return -sj.minimax(sj.from_scores(scores), softness=0.05)

    gradient = jax.jit(jax.grad(loss))(scores)

The functions are those of `synergraph.torch`, with the same arguments but `threads`: `attention` is (n, n), (heads, n, n) or
(..., heads, n, n). The library computes on the CPU, in double precision, by a callback: arrays of other devices are copied there and
back. Values and gradients are float32 unless JAX has 64-bit numbers (`jax_enable_x64`). `jax.jit`, `jax.grad` and `jax.vjp`
work; `jax.vmap`, forward mode and second derivatives do not: use leading dimensions. JAX reports errors of the library as errors of the
callback.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from . import _library
from ._errors import InputError, UsageError
from ._gradients import autograd, calls
from ._options import flag, number, whole

__all__ = ["backward_hitting_time", "fidelity", "from_scores", "hitting_time", "minimax", "stack_fidelity", "survival",
           "truncated_hitting_time"]


def _jax() -> Any:
    try:
        return importlib.import_module("jax")
    except ImportError:
        raise InputError("synergraph.jax needs JAX, which is not installed") from None


class _Options(Dict[str, Any]):
    """Options of a call that JAX can compare."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(sorted((key, str(value)) for key, value in self.items())))


def _gradient(options: Dict[str, Any], lengths: Optional[Tuple[int, ...]], padding: str, row_tolerance: Optional[float],
              weights: NDArray[Any], layers: Sequence[NDArray[Any]]) -> Tuple[calls.Gradient, List[NDArray[Any]]]:
    """The metric of attention on the CPU, (..., heads, n, n) a layer."""
    memory, flat = [], []
    for layer in layers:
        array = np.asarray(layer)
        code = {"float16": _library.FLOAT16, "bfloat16": _library.BFLOAT16, "float32": _library.FLOAT32}.get(array.dtype.name, _library.FLOAT64)
        array = np.ascontiguousarray(array if code != _library.FLOAT64 else array.astype(np.float64))
        array = array.reshape(-1, *array.shape[-3:])
        flat.append(array)
        memory.append(calls.Dense(array.ctypes.data, code, array.shape, array))
    own = None if weights.size == 0 else np.asarray(weights, dtype=np.float64)
    samples = len(flat[0])
    spans = None if lengths is None else np.broadcast_to(np.array(lengths, dtype=np.int64), (samples,))
    return calls.Gradient(memory, dict(options), weights=own, lengths=spans, padding=padding, row_tolerance=row_tolerance), flat


@functools.lru_cache(maxsize=None)
def _metric() -> Any:
    """The function with its derivatives, made when JAX is first needed: metric(static, weights, *layers)."""
    jax = _jax()
    real = jax.numpy.result_type(float)

    def values_of(static: Any, weights: Any, *layers: Any) -> Any:
        options, lengths, padding, row_tolerance, count = static
        lead = layers[0].shape[:-3]

        def compute(own: Any, *arrays: Any) -> Any:
            gradient, _ = _gradient(options, lengths, padding, row_tolerance, np.asarray(own), arrays)
            return gradient.values.reshape(*np.shape(arrays[0])[:-3], count).astype(real)

        return jax.pure_callback(compute, jax.ShapeDtypeStruct((*lead, count), real), weights, *layers)

    @functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
    def metric(static: Any, weights: Any, *layers: Any) -> Any:
        return values_of(static, weights, *layers)

    def forward(static: Any, weights: Any, *layers: Any) -> Any:
        return values_of(static, weights, *layers), (weights, *layers)

    def backward(static: Any, kept: Any, upstream: Any) -> Any:
        options, lengths, padding, row_tolerance, _ = static

        def compute(given: Any, own: Any, *arrays: Any) -> Any:
            gradient, flat = _gradient(options, lengths, padding, row_tolerance, np.asarray(own), arrays)
            single = [array.dtype.name != "float64" for array in flat]
            found = [np.zeros(array.shape, np.float32 if short else np.float64) for array, short in zip(flat, single)]
            heads = [np.zeros(array.shape[:2]) for array in flat]
            gradient.pull_back(np.asarray(given, dtype=np.float64).reshape(gradient.values.shape),
                               [calls.Buffers(attention=one.ctypes.data, weights=part, single=short)
                                for one, part, short in zip(found, heads, single)])
            of_weights = np.concatenate(heads, 1)
            own = np.asarray(own)
            of_weights = of_weights.sum(0) if own.ndim == 1 else of_weights
            of_weights = np.zeros_like(own) if own.size == 0 else of_weights.reshape(own.shape).astype(own.dtype)
            return (of_weights, *(one.reshape(np.shape(array)).astype(np.asarray(array).dtype) for one, array in zip(found, arrays)))

        shapes = tuple(jax.ShapeDtypeStruct(one.shape, one.dtype) for one in kept)
        return tuple(jax.pure_callback(compute, shapes, upstream, *kept))

    metric.defvjp(forward, backward)
    return metric


def _apply(options: Dict[str, Any], layers: Sequence[Any], weights: Any, lengths: Any, padding: str, row_tolerance: Optional[float],
           count: int = 1) -> Any:
    jnp = _jax().numpy
    if not layers:
        raise InputError(f"{options['metric']}: there is no layer")
    arrays = [jnp.asarray(layer) for layer in layers]
    for array in arrays:
        if array.ndim < 2 or array.shape[-1] != array.shape[-2] or 0 in array.shape:
            raise InputError(f"attention: shape {tuple(array.shape)}; expected (n, n), (heads, n, n) or (..., heads, n, n)")
        if not jnp.issubdtype(array.dtype, jnp.floating):
            raise InputError(f"attention: elements of {array.dtype}; expected floating-point numbers")
    arrays = [array[None] if array.ndim == 2 else array for array in arrays]
    if padding not in ("left", "right"):
        raise UsageError(f"padding: {padding!r} is neither 'left' nor 'right'")
    heads = sum(array.shape[-3] for array in arrays)
    own = jnp.zeros((0,)) if weights is None else jnp.asarray(weights)
    if weights is not None and own.ndim == 2 and len(arrays) > 1:
        own = own.reshape(-1)
    if weights is not None and (own.ndim == 0 or own.shape[-1] != heads or own.ndim > 1 and own.shape[:-1] != arrays[0].shape[:-3]):
        raise InputError(f"weights: shape {tuple(own.shape)}, expected one number for each of {heads} heads")
    spans = None if lengths is None else tuple(int(one) for one in np.asarray(lengths).ravel())
    static = (_Options(options), spans, padding, None if row_tolerance is None else number(row_tolerance, "row_tolerance"), count)
    return _metric()(static, own, *arrays)


def from_scores(scores: Any, *, scale: float = 1.0) -> Any:
    """Attention of scores (..., n, n): the softmax over the keys up to each query."""
    jax = _jax()
    given = jax.numpy.asarray(scores)
    hidden = np.triu(np.ones(given.shape[-2:], dtype=bool), 1)
    return jax.nn.softmax(jax.numpy.where(hidden, -np.inf, given * scale), -1)


def hitting_time(attention: Any, weights: Any = None, sinks: Any = "last", *, log: bool = False, lengths: Any = None,
                 padding: str = "right", row_tolerance: Optional[float] = None) -> Any:
    """Mean hitting time, or its logarithm: see `synergraph.torch.hitting_time`."""
    options = {"metric": "hitting_time", **autograd.sink_options(sinks), "log": flag(log, "log")}
    return _apply(options, [attention], weights, lengths, padding, row_tolerance)[..., 0]


def truncated_hitting_time(attention: Any, weights: Any = None, sinks: Any = "last", *, cutoff: int = 100, lengths: Any = None,
                           padding: str = "right", row_tolerance: Optional[float] = None) -> Any:
    """Truncated mean hitting time: see `synergraph.torch.truncated_hitting_time`."""
    options = {"metric": "truncated_hitting_time", **autograd.sink_options(sinks), "cutoff": whole(cutoff, "cutoff")}
    return _apply(options, [attention], weights, lengths, padding, row_tolerance)[..., 0]


def survival(attention: Any, times: Any, weights: Any = None, sinks: Any = "last", *, lengths: Any = None, padding: str = "right",
             row_tolerance: Optional[float] = None) -> Any:
    """Mean survival at some times: see `synergraph.torch.survival`."""
    steps = autograd.step_list(times)
    options = {"metric": "survival", **autograd.sink_options(sinks), "times": steps}
    found = _apply(options, [attention], weights, lengths, padding, row_tolerance, len(steps))
    return found if hasattr(times, "__iter__") else found[..., 0]


def fidelity(attention: Any, nodes: Any, times: Any = None, weights: Any = None, sinks: Any = "last", *, horizon: int = 100,
             lengths: Any = None, padding: str = "right", row_tolerance: Optional[float] = None) -> Any:
    """Signals of tokens at the sink, or their peaks: see `synergraph.torch.fidelity`."""
    places = autograd.node_options(nodes, times)
    options = {"metric": "fidelity", **autograd.sink_options(sinks), **places, "horizon": whole(horizon, "horizon")}
    found = _apply(options, [attention], weights, lengths, padding, row_tolerance, len(places["nodes"]))
    return found if hasattr(nodes, "__iter__") else found[..., 0]


def minimax(attention: Any, weights: Any = None, sinks: Any = "last", *, softness: float = 0.0, horizon: int = 100, nodes: str = "sources",
            log: bool = False, lengths: Any = None, padding: str = "right", row_tolerance: Optional[float] = None) -> Any:
    """Minimax fidelity, exact or softened: see `synergraph.torch.minimax`."""
    options = {"metric": "minimax", **autograd.sink_options(sinks), "softness": number(softness, "softness"),
               "horizon": whole(horizon, "horizon"), "counted": nodes, "log": flag(log, "log")}
    return _apply(options, [attention], weights, lengths, padding, row_tolerance)[..., 0]


def backward_hitting_time(attention: Any, weights: Any = None, sinks: Any = "last", *, log: bool = False, lengths: Any = None,
                          padding: str = "right", row_tolerance: Optional[float] = None) -> Any:
    """Time of the backward walk from the sink to the first token: see `synergraph.torch.backward_hitting_time`."""
    options = {"metric": "backward_hitting_time", **autograd.sink_options(sinks), "log": flag(log, "log")}
    return _apply(options, [attention], weights, lengths, padding, row_tolerance)[..., 0]


def stack_fidelity(layers: Sequence[Any], weights: Any = None, sinks: Any = "last", *, residual: float = 0.5, softness: float = 0.0,
                   log: bool = False, lengths: Any = None, padding: str = "right", row_tolerance: Optional[float] = None) -> Any:
    """Least signal through all layers: see `synergraph.torch.stack_fidelity`."""
    options = {"metric": "stack_fidelity", **autograd.sink_options(sinks), "residual": number(residual, "residual"),
               "softness": number(softness, "softness"), "log": flag(log, "log")}
    return _apply(options, list(layers), weights, lengths, padding, row_tolerance)[..., 0]
