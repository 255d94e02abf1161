"""Attention as the library takes it: layers of arrays, the sequences in them, the weights of their heads."""

from __future__ import annotations

import ctypes
import os
from ctypes import c_double, c_int64
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from . import _device, _library
from ._errors import InputError
from ._progress import Progress, progress_function
from ._views import HeadFunction, View, is_array, numbers, ordered, parse_axes, view_of, whole_numbers

Path = Union[str, "os.PathLike[str]"]
Axes = Union[str, Sequence[str], None]


class Attention:
    """An `sg_attention`, what it reads from, and what its samples stand for."""

    def __init__(self, handle: _library.Handle, dims: Tuple[str, ...], sinks: Optional[List[int]] = None,
                 keep: object = None, work: float = float("inf"), failures: Optional[List[BaseException]] = None) -> None:
        self.handle = handle
        self.dims = dims  #: axes of a result: some of layer, sample, and sink where samples have several
        self.sinks = sinks  #: of every sample, as they were given, where there may be several
        self.keep = keep
        self.work = work  #: multiplications of a full product of all matrices with themselves
        self.failures = [] if failures is None else failures  #: what functions that read heads have raised

    @property
    def long(self) -> bool:
        """Whether measuring it may take long enough to be interrupted."""
        return self.work > 1e6

    def run(self, function: str, options: Dict[str, Any], *, threads: Optional[int], memory: Optional[int], progress: Progress,
            unit: str = "head") -> _library.Handle:
        """What a call makes of it that takes attention and options."""
        with progress_function(progress, unit) as hear, self:
            # Subsets of few small heads may be many, and so may thresholds.
            eps = options.get("eps")
            long = self.long or function != "sg_measure" or (isinstance(eps, list) and len(eps) > 8)
            return _library.run_made("result", function, (self.handle.pointer, _library.encoded(options)), threads=threads,
                                     memory=memory, progress=hear, long=long, keep=self)

    def __enter__(self) -> None:
        self.failures.clear()

    def __exit__(self, *_: object) -> None:
        """What a function that reads heads has raised is what went wrong."""
        if self.failures:
            raise self.failures[0] from None

    def set_weights(self, weights: Any) -> None:
        """Weights (heads), (layers, heads), or one list a layer."""
        if isinstance(weights, (list, tuple)) and weights and all(np.ndim(one) == 1 for one in weights):
            flat = np.concatenate([numbers(one, "weights").ravel() for one in weights])
        else:
            given = numbers(weights, "weights")
            layers = c_int64()
            _library.check(_library.lib.sg_attention_layers(self.handle.pointer, ctypes.byref(layers)))
            if given.ndim > 2 or (given.ndim == 2 and given.shape[0] != layers.value):
                raise InputError(f"weights: shape {given.shape}, expected (heads) or ({layers.value}, heads)")
            flat = given.ravel()
        pointer = flat.ctypes.data_as(ctypes.POINTER(c_double))
        _library.check(_library.lib.sg_attention_set_weights(self.handle.pointer, pointer, flat.size))

    def shape(self, layer: int) -> Tuple[int, int, int]:
        """Samples, heads and tokens."""
        shape = (c_int64 * 3)()
        layer = _library.whole(layer, "layer", 2**31 - 1)
        _library.check(_library.lib.sg_attention_shape(self.handle.pointer, layer, shape))
        return shape[0], shape[1], shape[2]

    def read(self, layer: int, sample: int) -> NDArray[np.float64]:
        """(heads, tokens, tokens) of one sample."""
        _, heads, tokens = self.shape(layer)
        into = np.empty((heads, tokens, tokens))
        pointer = into.ctypes.data_as(ctypes.POINTER(c_double))
        with self:
            _library.check(_library.lib.sg_attention_read(self.handle.pointer, layer, sample, pointer, into.size))
        return into

    def curves(self, layer: int, sample: int, steps: int) -> NDArray[np.float64]:
        """(heads + 1, steps + 1, tokens): the signal of each head and of all together."""
        _, heads, tokens = self.shape(layer)
        into = np.empty((heads + 1, max(steps, 0) + 1, tokens))
        pointer = into.ctypes.data_as(ctypes.POINTER(c_double))
        with self:
            _library.run("sg_attention_curves", (self.handle.pointer, layer, sample, steps), (pointer, into.size),
                         long=(heads + 1) * steps * tokens**2 > 10**7, keep=(self, into))
        return into


def _spans(samples: int, tokens: int, lengths: Any, padding: str, sink: Any) -> Optional[List[Tuple[int, int, int]]]:
    """The sequences (sample, begin, end), sinks of a sample together; None: all samples whole."""
    if padding not in ("left", "right"):
        raise InputError(f"padding: {padding!r} is neither 'left' nor 'right'")
    if lengths is None and sink is None:
        return None
    begins = np.zeros(samples, dtype=np.int64)
    ends = np.full(samples, tokens, dtype=np.int64)
    if lengths is not None:
        given = np.broadcast_to(whole_numbers(lengths, "lengths"), (samples,)) if np.ndim(lengths) == 0 else (
            whole_numbers(lengths, "lengths"))
        if given.shape != (samples,):
            raise InputError(f"lengths: {given.size} for {samples} samples")
        if np.any(given < 1) or np.any(given > tokens):
            raise InputError(f"lengths: expected 1 to {tokens}")
        if padding == "left":
            begins = tokens - given
        else:
            ends = given.copy()
    if sink is not None and np.size(sink) == 0:
        raise InputError("sink: an empty list")
    if sink is None:
        return [(s, int(begins[s]), int(ends[s])) for s in range(samples)]
    spans = []
    for s in range(samples):
        for one in whole_numbers(sink, "sink").ravel():
            at = int(one) if one >= 0 else int(ends[s] + one)
            if not begins[s] <= at < ends[s]:
                raise InputError(f"sink: token {one} is not in sample {s}, which has {begins[s]} to {ends[s] - 1}")
            spans.append((s, int(begins[s]), at + 1))
    return spans


Layer = Tuple[Optional[str], Union[View, HeadFunction]]  # its name, and (layers = 1, samples, heads, n, n) or a function


def _layers_of(value: Any, axes: Axes, layers: bool) -> Tuple[Tuple[str, ...], List[Union[View, HeadFunction]]]:
    """The axes of an array, and its layers."""
    tensor = _device.on_device(value)
    if tensor is not None:
        named = parse_axes(axes, tensor.dim(), layers)
        shape = tuple(tensor.shape)
    else:
        view = view_of(value)
        named = parse_axes(axes, view.rank, layers)
        shape = view.shape
    if 0 in shape:
        raise InputError(f"the array has no elements: its shape is {shape}")
    if tensor is not None:
        return named, list(_device.layers_of(tensor, named))
    whole = ordered(view, named)
    return named, [whole._replace(pointer=whole.pointer + layer * whole.strides[0]) for layer in range(whole.shape[0])]


def _add_layer(handle: _library.Handle, name: Optional[str], layer: Union[View, HeadFunction],
               failures: List[BaseException]) -> object:
    """Adds a layer, and returns what must live as long as it is there."""
    encoded = None if name is None else name.encode()
    if isinstance(layer, View):
        _library.check(_library.lib.sg_attention_add(
            handle.pointer, encoded, layer.pointer, layer.code, (c_int64 * 4)(*layer.shape[1:]), (c_int64 * 4)(*layer.strides[1:])))
        return layer.owner

    read_head = layer.read

    def read(sample: int, head: int, address: int, _: object) -> int:
        try:
            read_head(sample, head, address)
        except BaseException as error:  # raised when the call has ended
            failures.append(error)
            return 1
        return 0

    function = _library.ReadHead(read)
    _library.check(_library.lib.sg_attention_add_function(
        handle.pointer, encoded, function, None, layer.code, (c_int64 * 4)(*layer.shape)))
    return function


def of_layers(
    layers: Sequence[Layer], dims: Tuple[str, ...], *, lengths: Any = None, padding: str = "right", sink: Any = None,
    row_tolerance: Optional[float] = None, missing_mass: Optional[str] = None, spans: Optional[List[Tuple[int, int, int]]] = None,
) -> Attention:
    """Attention of these layers; `dims` are those of layer and sample that results shall have. `spans` are what lengths, padding
    and sinks come to, where that is known."""
    handle = _library.make("attention", "sg_attention_create", _library.encoded(
        {"row_tolerance": row_tolerance, "missing_mass": missing_mass}))
    failures: List[BaseException] = []
    keep = [_add_layer(handle, name, layer, failures) for name, layer in layers]
    work = sum(float(np.prod(layer.shape, dtype=float)) * layer.shape[-1] for _, layer in layers)
    sinks = None
    if spans is None:
        samples, _, tokens, _ = layers[0][1].shape[-4:]
        spans = _spans(samples, tokens, lengths, padding, sink)
        for number, (name, layer) in enumerate(layers if spans is not None else [], 1):
            own_samples, _, own_tokens, _ = layer.shape[-4:]
            if (own_samples, own_tokens) != (samples, tokens):
                raise InputError(f"layer {name or number}: {own_samples} samples of {own_tokens} tokens, the first layer has {samples} of "
                                 f"{tokens}: sink and lengths are for layers of one size")
    if spans is not None:
        _library.check(_library.lib.sg_attention_set_sequences(
            handle.pointer, (_library.Sequence * len(spans))(*[_library.Sequence(*span) for span in spans]), len(spans)))
    if sink is not None and np.ndim(sink) > 0:
        dims += ("sink",)
        sinks = whole_numbers(sink, "sink").ravel().tolist()
    return Attention(handle, dims, sinks, keep, work, failures)


def of_arrays(attention: Any, *, axes: Axes = None, **options: Any) -> Attention:
    """One array, or a list or a dictionary of them, one a layer; options as those of `of_layers`."""
    items: List[Tuple[Optional[str], Any]] = []
    if isinstance(attention, Mapping):
        items = [(str(name), value) for name, value in attention.items()]
    elif isinstance(attention, (list, tuple)) and all(is_array(one) for one in attention):
        items = [(None, value) for value in attention]
    if not items:
        of_array, layers = _layers_of(attention, axes, layers=True)
        dims = tuple(name for name in ("layer", "sample") if name in of_array)
        return of_layers([(None, layer) for layer in layers], dims, **options)
    dims = ("layer",)
    named: List[Layer] = []
    for name, value in items:
        of_array, layers = _layers_of(value, axes, layers=False)
        if "sample" in of_array and "sample" not in dims:
            dims += ("sample",)
        named.append((name, layers[0]))
    return of_layers(named, dims, **options)


def of_file(
    path: Path, *, axes: Axes = None, layers: Optional[str] = None, sink: Any = None, row_tolerance: Optional[float] = None,
    missing_mass: Optional[str] = None,
) -> Attention:
    """The attention in a file."""
    if sink is not None and np.ndim(sink) > 0:
        raise InputError("sink: files take one")
    names = None if axes is None else ",".join(axes.replace(",", " ").split() if isinstance(axes, str) else axes)
    handle = _library.make("attention", "sg_attention_open", _library.path_bytes(path), _library.encoded({
        "axes": names, "layers": layers, "row_tolerance": row_tolerance, "missing_mass": missing_mass,
        "range": None if sink is None else [0, int(whole_numbers(sink, "sink").item()) + 1],
    }))
    return Attention(handle, ("layer", "sample"))


def learned_weights(projection: Any, heads: int) -> NDArray[np.float64]:
    """Learned head weights, from an attention output projection (rows are outputs): the norms of the heads' blocks of columns.

    >>> import numpy as np
    >>> learned_weights(np.diag([3.0, 0.0, 0.0, 1.0]), heads=2)
    array([0.75, 0.25])
    """
    view = view_of(projection)
    if view.rank != 2:
        raise InputError(f"an output projection is a matrix, not of shape {view.shape}")
    weights = np.empty(max(heads, 1))
    _library.check(_library.lib.sg_learned_weights(
        view.pointer, view.code, (c_int64 * 2)(*view.shape), (c_int64 * 2)(*view.strides), heads,
        weights.ctypes.data_as(ctypes.POINTER(c_double))))
    return weights
