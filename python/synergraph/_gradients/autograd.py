"""The metrics as functions of PyTorch's autograd: by the library on the CPU, by `panels` on a GPU."""

from __future__ import annotations

import functools
import importlib
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from .. import _library
from .._errors import InputError, OptionError, UsageError
from .._options import number, refuse, whole
from . import calls, panels


def torch() -> Any:
    try:
        return importlib.import_module("torch")
    except ImportError:
        raise InputError("synergraph.torch needs PyTorch, which is not installed") from None


class QueryKeys(NamedTuple):
    """Attention as queries and keys: see `synergraph.torch.from_qk`."""

    queries: Any  # (..., heads, tokens, width)
    keys: Any  # (..., key heads, tokens, width)
    scale: float
    softcap: float
    window: int


class Call(NamedTuple):
    """What a metric is computed of, beside tensors."""

    options: Dict[str, Any]
    layers: Tuple[Optional[QueryKeys], ...]  # None: dense; the tensors of others are not looked at
    lead: Tuple[int, ...]  # the leading dimensions
    single: bool  # attention has no axis of heads
    lengths: Optional[NDArray[np.int64]]
    padding: str
    row_tolerance: Optional[float]
    threads: Optional[int]


def _codes() -> Dict[Any, int]:
    t = torch()
    return {t.float16: _library.FLOAT16, t.bfloat16: _library.BFLOAT16, t.float32: _library.FLOAT32, t.float64: _library.FLOAT64}


def check_tensor(value: Any, name: str) -> Any:
    t = torch()
    if not isinstance(value, t.Tensor):
        refuse(name, value, "a tensor of PyTorch")
    if value.dtype not in _codes():
        raise OptionError(f"{name}: elements of {value.dtype}; expected float16, bfloat16, float32 or float64")
    if value.device.type not in ("cpu", "cuda"):
        raise InputError(f"{name}: tensors on {value.device.type} are not possible; move it to the CPU or a CUDA device")
    return value


def _flat(tensor: Any, axes: int) -> Any:
    """(samples, ...) with so many axes behind, without gaps."""
    shape = tensor.shape[-axes:]
    return tensor.detach().reshape(-1, *shape).contiguous()


def _grouped(call: Call, tensors: Sequence[Any]) -> List[Tuple[Any, ...]]:
    """The flat tensors of each layer."""
    layers: List[Tuple[Any, ...]] = []
    at = 0
    for layer in call.layers:
        if layer is None:
            tensor = tensors[at].unsqueeze(-3) if call.single else tensors[at]
            layers.append((_flat(tensor, 3),))
            at += 1
        else:
            pair = [tensor.unsqueeze(-3) if call.single else tensor for tensor in tensors[at:at + 2]]
            layers.append((_flat(pair[0], 3), _flat(pair[1].to(pair[0].dtype), 3)))
            at += 2
    return layers


class _OnCpu:
    """By the library."""

    def __init__(self, call: Call, weights: Optional[Any], layers: List[Tuple[Any, ...]]) -> None:
        self.layers = layers
        memory: List[Any] = []
        for layer, tensors in zip(call.layers, layers):
            code = _codes()[tensors[0].dtype]
            shape = tuple(tensors[0].shape)
            if layer is None:
                memory.append(calls.Dense(tensors[0].data_ptr(), code, shape, tensors))
            else:
                memory.append(calls.QueryKeys(tensors[0].data_ptr(), tensors[1].data_ptr(), code, shape, tensors[1].shape[1], layer.scale,
                                              layer.softcap, layer.window, tensors))
        given = None if weights is None else np.ascontiguousarray(weights.detach().double().cpu().numpy())
        self.weights = given
        self.gradient = calls.Gradient(memory, call.options, weights=given, lengths=call.lengths, padding=call.padding,
                                       row_tolerance=call.row_tolerance, threads=call.threads)
        self.values = torch().from_numpy(self.gradient.values)

    def pull_back(self, upstream: Any, wanted: Sequence[bool], of_weights: bool) -> Tuple[List[Any], Optional[Any]]:
        t = torch()
        found: List[Any] = []
        buffers: List[calls.Buffers] = []
        parts: List[NDArray[np.float64]] = []
        for tensors in self.layers:
            into = [t.zeros(one.shape, dtype=t.float64 if one.dtype == t.float64 else t.float32) if wanted[len(found) + place] else None
                    for place, one in enumerate(tensors)]
            found += into
            places = [None if one is None else one.data_ptr() for one in into]
            heads = tensors[0].shape[1]
            part = np.zeros((len(self.gradient.values), heads)) if of_weights else None
            if part is not None:
                parts.append(part)
            single = tensors[0].dtype != t.float64
            buffers.append(calls.Buffers(attention=places[0], weights=part, single=single) if len(tensors) == 1 else
                           calls.Buffers(queries=places[0], keys=places[1], weights=part, single=single))
        self.gradient.pull_back(upstream.detach().double().cpu().numpy(), buffers)
        return found, t.from_numpy(np.concatenate(parts, 1)) if of_weights else None


class _OnDevice:
    """By operations of PyTorch: sequences of one length at a time."""

    def __init__(self, call: Call, weights: Optional[Any], layers: List[Tuple[Any, ...]]) -> None:
        t = torch()
        self.call, self.layers = call, layers
        first = layers[0][0]
        samples, self.tokens = first.shape[0], first.shape[-1] if call.layers[0] is None else first.shape[-2]
        self.heads = [tensors[0].shape[1] for tensors in layers]
        if weights is None:
            self.given = t.ones(samples, sum(self.heads), dtype=t.float64, device=first.device)
        else:
            self.given = weights.detach().to(first.device, t.float64).expand(samples, -1)
            if bool((self.given < 0).any()) or not bool(t.isfinite(self.given).all()):
                raise InputError("weights: they must be at least 0, and finite")
        lengths = [self.tokens] * samples if call.lengths is None else np.broadcast_to(call.lengths.ravel(), (samples,)).tolist()
        if any(not 1 <= length <= self.tokens for length in lengths):
            raise InputError(f"lengths: one of them is not 1 to {self.tokens}")
        if len(set(lengths)) == 1:
            self.runs = [(slice(0, samples), lengths[0])]
        else:
            self.runs = [(slice(s, s + 1), length) for s, length in enumerate(lengths)]
        self.made: List[Tuple[slice, slice, List[panels.Rows], panels.Means]] = []
        for run, length in self.runs:
            span = slice(0, length) if call.padding == "right" else slice(self.tokens - length, self.tokens)
            rows: List[panels.Rows] = []
            at = 0
            for layer, tensors, heads in zip(call.layers, layers, self.heads):
                own = self.given[run, at:at + heads]
                at += heads
                sums = own.sum(1, keepdim=True)
                if bool((sums <= 0).any()):
                    raise InputError("weights: at least one weight of each layer must be positive")
                if layer is None:
                    rows.append(panels.DenseRows(tensors[0][run][..., span, span], own / sums, call.row_tolerance))
                else:
                    rows.append(panels.QueryKeyRows(tensors[0][run][..., span, :], tensors[1][run][..., span, :], own / sums, layer.scale,
                                                    layer.softcap, layer.window))
            self.made.append((run, span, rows, panels.Means(rows, call.options)))
        self.values = t.cat([means.values for *_, means in self.made])

    def pull_back(self, upstream: Any, wanted: Sequence[bool], of_weights: bool) -> Tuple[List[Any], Optional[Any]]:
        t = torch()
        found: List[Any] = []
        for tensors in self.layers:
            for place, one in enumerate(tensors):
                kind = t.float64 if one.dtype == t.float64 or len(tensors) == 2 else t.float32
                found.append(t.zeros(one.shape, dtype=kind, device=one.device) if wanted[len(found)] else None)
        weights = t.zeros_like(self.given) if of_weights else None
        for run, span, rows, means in self.made:
            sums: List[Any] = []
            at = 0
            for tensors, one in zip(self.layers, rows):
                if isinstance(one, panels.DenseRows):
                    sums.append(panels.DenseSum(one, None if found[at] is None else found[at][run][..., span, span]))
                else:
                    assert isinstance(one, panels.QueryKeyRows)
                    sums.append(panels.QueryKeySum(one))
                at += len(tensors)

            def add(layer: int, *gradient: Any, sums: List[Any] = sums) -> None:
                sums[layer].add(*gradient)

            means.pull_back(upstream.detach().double()[run], add)
            at = head = 0
            for tensors, one, heads in zip(self.layers, sums, self.heads):
                if isinstance(one, panels.QueryKeySum):
                    for place, part in enumerate((one.queries, one.keys)):
                        if found[at + place] is not None:
                            found[at + place][run][..., span, :] += part
                at += len(tensors)
                if weights is not None:
                    own = one.rows.weights
                    given = self.given[run, head:head + heads]
                    weights[run, head:head + heads] = (one.inner - (own * one.inner).sum(1, keepdim=True)) / given.sum(1, keepdim=True)
                head += heads
        return found, weights


@functools.lru_cache(maxsize=None)
def metric_function() -> Any:
    """The subclass of torch.autograd.Function, made when PyTorch is first needed."""
    t = torch()

    class Metric(t.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, call: Call, weights: Optional[Any], *tensors: Any) -> Any:
            layers = _grouped(call, tensors)
            device = tensors[0].device.type
            made: Any = (_OnDevice if device == "cuda" else _OnCpu)(call, weights, layers)
            ctx.call, ctx.made, ctx.given = call, made, weights is not None
            ctx.save_for_backward(*(() if weights is None else (weights,)), *tensors)  # tells of changes in place
            double = any(tensor.dtype == t.float64 for tensor in tensors)
            values = made.values.reshape(*call.lead, -1)
            if call.options["metric"] not in ("survival", "fidelity"):
                values = values.squeeze(-1)
            return values.to(tensors[0].device, t.float64 if double else t.float32)

        @staticmethod
        @t.autograd.function.once_differentiable  # type: ignore[misc]
        def backward(ctx: Any, upstream: Any) -> Any:
            saved = ctx.saved_tensors
            weights, tensors = (saved[0], saved[1:]) if ctx.given else (None, saved)
            wanted = ctx.needs_input_grad[2:]
            found, of_weights = ctx.made.pull_back(upstream.reshape(ctx.made.values.shape), wanted, bool(ctx.needs_input_grad[1]))
            if of_weights is not None and weights is not None:
                of_weights = of_weights if weights.dim() == 2 else of_weights.sum(0)
                of_weights = of_weights.to(weights.device, weights.dtype).reshape(weights.shape)
            return (None, of_weights, *(None if one is None else one.reshape(tensor.shape).to(tensor.dtype) for one, tensor in zip(found, tensors)))

    return Metric


# ---- Arguments


def _positions(value: Any, name: str) -> List[int]:
    listed = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(listed, (str, bytes)) or not hasattr(listed, "__iter__"):
        listed = [listed]
    return [whole(one, name, 2**30, -(2**30)) for one in listed]


def sink_options(sinks: Any) -> Dict[str, Any]:
    if isinstance(sinks, str):
        if sinks not in ("last", "all"):
            raise UsageError(f"sinks: {sinks!r} is neither 'last' nor 'all' nor a list of positions")
        return {"all_sinks": True} if sinks == "all" else {}
    found = _positions(sinks, "sinks")
    if not found:
        raise UsageError("sinks: an empty list")
    return {"sinks": found}


def node_options(nodes: Any, times: Any) -> Dict[str, Any]:
    options: Dict[str, Any] = {"nodes": _positions(nodes, "nodes")}
    if not options["nodes"]:
        raise UsageError("nodes: an empty list")
    if times is not None:
        listed = _positions(times, "times")
        options["times"] = listed * len(options["nodes"]) if len(listed) == 1 else listed
        if len(options["times"]) != len(options["nodes"]):
            raise UsageError(f"times: {len(listed)} numbers for {len(options['nodes'])} nodes, expected one time for each node")
    return options


def step_list(times: Any) -> List[int]:
    found = _positions(times, "times")
    if not found or min(found) < 0:
        raise UsageError("times: expected at least one number of steps, 0 or more")
    return found


def _weights(given: Any, heads: List[int], lead: Tuple[int, ...]) -> Optional[Any]:
    """(all heads) or (samples, all heads)."""
    t = torch()
    if given is None:
        return None
    if isinstance(given, (list, tuple)) and any(isinstance(one, t.Tensor) for one in given):
        given = t.cat([one for one in given], -1)
    weights = given if isinstance(given, t.Tensor) else t.as_tensor(given, dtype=t.float64)
    if weights.dim() == 2 and len(heads) > 1 and tuple(weights.shape) == (len(heads), heads[0]) and len(set(heads)) == 1:
        weights = weights.reshape(-1)  # (layers, heads)
    if weights.dim() == 0 or weights.shape[-1] != sum(heads):
        raise InputError(f"weights: shape {tuple(weights.shape)}, expected one number for each of {sum(heads)} heads")
    if weights.dim() == 1:
        return weights
    if tuple(weights.shape[:-1]) != lead:
        raise InputError(f"weights: shape {tuple(weights.shape)}, expected (heads) or {(*lead, sum(heads))}")
    return weights.reshape(-1, sum(heads))


def apply(metric: str, layers: Sequence[Any], weights: Any, options: Dict[str, Any], *, lengths: Any, padding: str,
          row_tolerance: Optional[float], threads: Optional[int]) -> Any:
    """The metric of some layers, each a tensor or `QueryKeys`."""
    if not layers:
        raise InputError(f"{metric}: there is no layer")
    tensors: List[Any] = []
    heads: List[int] = []
    leads: List[Tuple[int, ...]] = []
    single = False
    for layer in layers:
        if isinstance(layer, QueryKeys):
            queries, keys = check_tensor(layer.queries, "queries"), check_tensor(layer.keys, "keys")
            single = queries.dim() == 2
            tensors += [queries, keys]
            heads.append(1 if single else queries.shape[-3])
            leads.append(tuple(queries.shape[:-3]))
            continue
        attention = check_tensor(layer, "attention")
        if attention.dim() < 2 or attention.shape[-1] != attention.shape[-2] or 0 in attention.shape:
            raise InputError(f"attention: shape {tuple(attention.shape)}; expected (n, n), (heads, n, n) or (..., heads, n, n)")
        single = attention.dim() == 2
        tensors.append(attention)
        heads.append(1 if single else attention.shape[-3])
        leads.append(tuple(attention.shape[:-3]))
    if len(set(leads)) > 1:
        raise InputError(f"{metric}: the layers differ in leading dimensions: {', '.join(map(str, leads))}")
    if len({tensor.device for tensor in tensors}) > 1:
        raise InputError(f"{metric}: the tensors are on different devices")
    if padding not in ("left", "right"):
        raise UsageError(f"padding: {padding!r} is neither 'left' nor 'right'")
    own = None
    if lengths is not None:
        own = np.asarray(lengths.detach().cpu().numpy() if hasattr(lengths, "detach") else lengths, dtype=np.int64).ravel()
        samples = int(np.prod(leads[0])) if leads[0] else 1
        if own.size not in (1, samples):
            raise InputError(f"lengths: {own.size} numbers for {samples} sequences")
        own = np.ascontiguousarray(np.broadcast_to(own, (samples,)))
    if row_tolerance is not None:
        row_tolerance = number(row_tolerance, "row_tolerance")
    call = Call({"metric": metric, **options}, tuple(layer if isinstance(layer, QueryKeys) else None for layer in layers), leads[0], single,
                own, padding, row_tolerance, threads)
    given = _weights(weights, heads, leads[0])
    # What the call remembers must not hold on to the tensors.
    call = call._replace(layers=tuple(None if one is None else one._replace(queries=None, keys=None) for one in call.layers))
    return metric_function().apply(call, given, *tensors)
