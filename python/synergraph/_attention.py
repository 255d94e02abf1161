"""Attention as the library takes it: layers of arrays, the sequences in them, the weights of their heads."""

from __future__ import annotations

import ctypes
import os
from ctypes import c_double, c_int64, c_uint8
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from . import _device, _library, _options
from ._errors import InputError, OptionError
from ._inputs import LOAD_MODEL, PARAMETERS, are_parameters, given, refuse_parameters
from ._options import axis_names
from ._progress import Progress, progress_function
from ._views import (DeviceArray, HeadFunction, ScoreArrays, View, as_numpy, is_array, lengths_of, matrix_of, numbers, numpy_type, ordered, parse_axes, shape_of, view_of,
                     whole_numbers)

Path = Union[str, "os.PathLike[str]"]
Axes = Union[str, Sequence[str], None]
MOVED = ("norms", "values", "out_proj", "out_proj_bias", "residual")
LayerNumbers = Union[None, int, str, Sequence[int]]  # or a regular expression


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
        self.kept: List[View] = []  #: arrays of what the heads move
        self.named: List[str] = []  #: layers of a dictionary
        self.parameters = False  #: whether these names are those of a model's parameters

    @property
    def long(self) -> bool:
        """Whether measuring it may take long enough to be interrupted."""
        return self.work > 1e6

    def run(self, function: str, options: Dict[str, Any], *, threads: Optional[int], memory: Optional[int], progress: Progress,
            unit: str = "head", kind: str = "result", place: Tuple[int, ...] = ()) -> _library.Handle:
        """What a call makes of it that takes attention, perhaps a layer and a sample, and options."""
        with progress_function(progress, unit) as hear, self:
            # Subsets of few small heads may be many, and so may thresholds.
            eps = options.get("eps")
            long = self.long or function != "sg_measure" or (isinstance(eps, list) and len(eps) > 8)
            try:
                return _library.run_made(kind, function, (self.handle.pointer, *place, _library.encoded(options)), threads=threads,
                                         memory=memory, progress=hear, long=long, keep=self)
            except InputError as error:
                if self.failures:
                    raise
                raise InputError(self._advised(str(error))) from None

    def _advised(self, error: str) -> str:
        """An error as Python spells what to do, with what the names of the layers tell."""
        error = error.replace("lengths 5,8 padding left", 'lengths=attention_mask.sum(1), padding="left"')
        error = error.replace("such as lengths 5,8", "such as lengths=attention_mask.sum(1)")
        if self.parameters:
            return f"the dictionary holds {PARAMETERS}"
        good = [name for layer, name in enumerate(self.named) if self._is_attention(layer)]
        others = [name for name in self.named if name not in good]
        if not good or not others or not any(error.startswith(f"layer {name},") for name in others):
            return error
        advice = _library.text("sg_layers_advice", _library.names(good), len(good), _library.names(others), len(others))
        return f"{error}. {advice.replace('have the shape of', 'hold')}" if "layers='" in advice else error

    def _is_attention(self, layer: int) -> bool:
        """Whether the heads of a layer's first sample can be measured."""
        try:
            self.read(layer, 0)
        except InputError:
            return False
        return True

    def __enter__(self) -> None:
        self.failures.clear()

    def __exit__(self, *_: object) -> None:
        """What a function that reads heads has raised is what went wrong."""
        if self.failures:
            raise self.failures[0] from None

    def set_weights(self, weights: Any) -> None:
        """Weights (heads), (layers, heads), or one list a layer."""
        if isinstance(weights, str):
            raise OptionError(f"weights: {_options.shown(weights)} is not a list of numbers; learned ones come from "
                              "synergraph.learned_weights(projection, heads)")
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

    def set_moved(self, moved: Any) -> None:
        """What the heads move: a dictionary of arrays, each of all layers, or a list of one a layer. See `measure`."""
        if not isinstance(moved, dict):
            raise OptionError(f"moved: expected a dictionary of arrays ({', '.join(MOVED)}), not {_options.shown(moved)}")
        for part, value in moved.items():
            if part not in MOVED:
                raise OptionError(f"moved: {_options.shown(part)} is not one of {', '.join(MOVED)}")
            several = isinstance(value, (list, tuple)) and all(is_array(one) for one in value)
            for layer, one in enumerate(value) if several else [(-1, value)]:
                self.add_moved(part, layer, one)

    def add_moved(self, part: str, layer: int, value: Any) -> None:
        """One of these arrays, of a layer or (-1) of all."""
        tensor = _device.on_device(value)
        try:
            view = view_of(value if tensor is None else tensor.cpu())
        except InputError as error:
            raise InputError(f"{part}: {error}") from None
        except (TypeError, ValueError):  # NumPy makes no array of it
            _options.refuse(f"moved: {part}", value, "an array, or a list of one array for each layer")
        _library.check(_library.lib.sg_attention_set_moved(
            self.handle.pointer, part.encode(), layer, view.pointer, view.code, view.rank, (c_int64 * max(view.rank, 1))(*view.shape),
            (c_int64 * max(view.rank, 1))(*view.strides)))
        self.kept.append(view)

    def stack(self, options: Dict[str, Any], *, extra: int, threads: Optional[int], memory: Optional[int]) -> NDArray[np.float64]:
        """(samples, tokens): what reaches the sink through all layers, without `extra` nodes that are no tokens."""
        samples, _, tokens = self.shape(0)
        into = np.empty((samples, tokens - extra))
        pointer = into.ctypes.data_as(ctypes.POINTER(c_double))
        with self:
            _library.run("sg_attention_stack", (self.handle.pointer, _library.encoded(options)), (pointer, into.size), threads=threads,
                         memory=memory, long=True, keep=(self, into))
        return into

    def shape(self, layer: int) -> Tuple[int, int, int]:
        """Samples, heads and tokens."""
        shape = (c_int64 * 3)()
        layer = _options.whole(layer, "layer", 2**31 - 1)
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


def _set_lengths(handle: _library.Handle, lengths: Any, padding: str, sink: Any) -> None:
    """Leaves padding out, and chooses sinks."""
    side = _options.encoded_text(padding, "padding", "'left' or 'right'")
    if lengths is None and sink is None and padding in ("left", "right"):
        return
    arrays = []
    for value, name in ((lengths, "lengths"), (sink, "sink")):
        array = np.empty(0, dtype=np.int64) if value is None else lengths_of(value) if name == "lengths" else whole_numbers(value, name)
        if value is not None and array.size == 0:
            raise InputError(f"{name}: an empty list")
        arrays.append(np.ascontiguousarray(array.ravel()))
    pointers = [array.ctypes.data_as(ctypes.POINTER(c_int64)) for array in arrays]
    _library.check(_library.lib.sg_attention_set_lengths(
        handle.pointer, pointers[0], arrays[0].size, side, pointers[1], arrays[1].size))


Numbers = Union[View, HeadFunction, DeviceArray, ScoreArrays]
Layer = Tuple[Optional[str], Numbers]  # its name, and (layers = 1, samples, heads, n, n) or a function


def _layers_of(value: Any, axes: Axes, layers: bool) -> Tuple[Tuple[str, ...], List[Numbers]]:
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


def _scores(layer: ScoreArrays) -> _library.Scores:
    """Queries and keys as the library takes them."""
    queries, keys = layer.queries, layer.keys
    samples, heads, tokens, width = queries.shape
    return _library.Scores(
        ctypes.sizeof(_library.Scores), queries.pointer, keys.pointer, queries.code, 0, samples, heads, keys.shape[1], tokens, width,
        (c_int64 * 3)(*queries.strides[:3]), (c_int64 * 3)(*keys.strides[:3]), layer.scale, layer.softcap, layer.window,
        None if layer.logits is None else layer.logits.pointer)


def _add_layer(handle: _library.Handle, name: Optional[str], layer: Numbers,
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
    if isinstance(layer, DeviceArray):
        view = layer.view
        place = _library.Place(ctypes.sizeof(_library.Place), layer.device, 0, layer.stream)
        _library.check(_library.lib.sg_attention_add_device(
            handle.pointer, encoded, view.pointer, view.code, (c_int64 * 4)(*view.shape), (c_int64 * 4)(*view.strides),
            ctypes.byref(place), function, None))
        return function, view.owner
    if isinstance(layer, ScoreArrays):
        there = None if layer.place is None else ctypes.byref(_library.Place(ctypes.sizeof(_library.Place), layer.place[0], 0, layer.place[1]))
        _library.check(_library.lib.sg_attention_add_scores(
            handle.pointer, encoded, ctypes.byref(_scores(layer)), there, function, None, layer.code))
        return function, layer
    _library.check(_library.lib.sg_attention_add_function(
        handle.pointer, encoded, function, None, layer.code, (c_int64 * 4)(*layer.shape)))
    return function


def of_layers(
    layers: Sequence[Layer], dims: Tuple[str, ...], *, lengths: Any = None, padding: str = "right", sink: Any = None,
    row_tolerance: Optional[float] = None, missing_mass: Optional[str] = None, spans: Optional[List[Tuple[int, int, int]]] = None,
    weights_from: Optional[str] = None, reading: Optional[Dict[str, Any]] = None,
) -> Attention:
    """Attention of these layers; `dims` are those of layer and sample that results shall have. `spans` are what lengths, padding
    and sinks come to, where that is known. `reading`: how arrays were read, as the library takes it."""
    handle = _library.make("attention", "sg_attention_create", _library.encoded(
        {"row_tolerance": row_tolerance, "missing_mass": missing_mass, "weights_from": weights_from, "reading": reading}))
    failures: List[BaseException] = []
    keep = [_add_layer(handle, name, layer, failures) for name, layer in layers]
    work = sum(float(np.prod(layer.shape, dtype=float)) * layer.shape[-1] for _, layer in layers)
    if spans is None:
        _set_lengths(handle, lengths, padding, sink)
    else:
        _library.check(_library.lib.sg_attention_set_sequences(
            handle.pointer, (_library.Sequence * len(spans))(*[_library.Sequence(*span) for span in spans]), len(spans)))
    return Attention(handle, *_with_sinks(dims, sink), keep, work, failures)


def _with_sinks(dims: Tuple[str, ...], sink: Any) -> Tuple[Tuple[str, ...], Optional[List[int]]]:
    """The axes of results, and the sinks where there may be several."""
    if sink is None or np.ndim(sink) == 0:
        return dims, None
    return dims + ("sink",), whole_numbers(sink, "sink").ravel().tolist()


def _fits(value: Any, axes: Optional[Tuple[str, ...]]) -> bool:
    """Whether an array has a shape of attention."""
    shape = shape_of(value)
    if axes is None:
        return 2 <= len(shape) <= 4 and shape[-1] == shape[-2] > 0
    return len(axes) == len(shape) and shape[axes.index("query")] == shape[axes.index("key")]


def _chosen(layers: str, names: Sequence[str]) -> List[bool]:
    """Which layers of these names are chosen."""
    chosen = (c_uint8 * len(names))()
    _library.check(_library.lib.sg_choose_layers(_options.encoded_text(layers, "layers"), _library.names(names), len(names), chosen))
    return [bool(one) for one in chosen]


def _numbered(items: Sequence[Tuple[Optional[str], Any]]) -> List[str]:
    """The names of layers; those without one are counted from 0."""
    return [str(number) if name is None else name for number, (name, _) in enumerate(items)]


def _check_shapes(items: Sequence[Tuple[Optional[str], Any]], axes: Optional[Tuple[str, ...]]) -> None:
    """Refuses an array that has not the shape of attention, and tells how to leave it out."""
    fitting = [_fits(value, axes) for _, value in items]
    names = _numbered(items)
    if all(fitting):
        return
    refuse_parameters(names)
    if not any(fitting):
        return
    wrong = fitting.index(False)
    shape = shape_of(items[wrong][1])
    if len(shape) >= 3 and shape[-2] == 1 < shape[-1]:
        return  # a step of a generated text: the library tells
    good = [name for name, fits in zip(names, fitting) if fits]
    others = [name for name, fits in zip(names, fitting) if not fits]
    advice = _library.text("sg_layers_advice", _library.names(good), len(good), _library.names(others), len(others))
    raise InputError(f"layer {_options.shown(names[wrong])}: shape {shape} is not the shape of attention. {advice}")


def _list_axis(axes: Axes, items: Sequence[Tuple[Optional[str], Any]]) -> Tuple[str, Optional[Tuple[str, ...]]]:
    """What the arrays of a list are, and their own axes. With one axis more than the arrays have, the first is that of the list.
    Arrays of different lengths that have an axis of samples are samples, too."""
    if axes is None:
        return "layer", None
    names = axis_names(axes)
    shapes = [shape_of(value) for _, value in items]
    if names[:1] in (("layer",), ("sample",)) and all(len(shape) == len(names) - 1 for shape in shapes):
        return names[0], names[1:]
    if "sample" in names and "layer" not in names and "key" in names and all(len(shape) == len(names) for shape in shapes):
        if len({shape[names.index("key")] for shape in shapes}) > 1:  # layers have the same tokens
            return "sample", names
    return "layer", names


def _one_layer(samples: Sequence[View]) -> Tuple[View, List[Tuple[int, int, int]]]:
    """Samples (1, samples, heads, n, n) of several lengths as one layer, in a copy that is filled up, and their tokens."""
    heads, code = samples[0].shape[2], samples[0].code
    for number, sample in enumerate(samples):
        if sample.shape[2] != heads:
            raise InputError(f"element {number}: {sample.shape[2]} heads, the first element has {heads}")
        if sample.shape[3] != sample.shape[4]:
            raise InputError(f"element {number}: {sample.shape[3]} queries and {sample.shape[4]} keys; attention must be square")
        if sample.code != code:
            raise InputError(f"element {number}: its data type differs from element 0; convert all arrays to one type")
    most = max(sample.shape[-1] for sample in samples)
    whole = np.zeros((sum(sample.shape[1] for sample in samples), heads, most, most), dtype=numpy_type(code))
    spans: List[Tuple[int, int, int]] = []
    for sample in samples:
        count, tokens = sample.shape[1], sample.shape[-1]
        whole[len(spans):len(spans) + count, :, :tokens, :tokens] = as_numpy(sample)[0]
        spans += [(len(spans) + place, 0, tokens) for place in range(count)]
    return View(whole.ctypes.data, code, (1, *whole.shape), (0, *whole.strides), whole), spans


def _of_samples(items: Sequence[Tuple[Optional[str], Any]], axes: Tuple[str, ...], reading: Dict[str, Any], *, lengths: Any,
                padding: str, sink: Any, **options: Any) -> Attention:
    """A list of which every array is a sample, or some of them."""
    views = []
    for _, value in items:
        tensor = _device.on_device(value)
        named = parse_axes(axes, len(shape_of(value)), layers=False)
        views.append(ordered(view_of(value if tensor is None else tensor.cpu()), named))
    layer, spans = _one_layer(views)
    same = len({end for _, _, end in spans}) == 1
    if not same and (lengths is not None or sink is not None):
        raise InputError("these samples differ in length; sink and lengths need samples of one length")
    return of_layers([(None, layer)], ("sample",), lengths=lengths, padding=padding, sink=sink, spans=None if same else spans,
                     reading=reading, **options)


def of_arrays(attention: Any, *, axes: Axes = None, layers: Optional[str] = None, **options: Any) -> Attention:
    """One array, or a list or a dictionary of them, one a layer; options as those of `of_layers`."""
    value, items = given(attention)
    by_default = axes is None
    if items is None:
        of_array, of_layer = _layers_of(value, axes, layers=True)
        dims = tuple(name for name in ("layer", "sample") if name in of_array)
        reading = {"arrays": [[shape_of(value), ",".join(of_array)]], "each": "", "by_default": by_default}
        every: List[Layer] = [(str(number), layer) for number, layer in enumerate(of_layer)]
        if layers is not None:
            every = [layer for layer, wanted in zip(every, _chosen(layers, [str(name) for name, _ in every])) if wanted]
        return of_layers(every, dims, reading=reading, **options)
    parameters = are_parameters(name for name, _ in items if name is not None)
    each, own = _list_axis(axes, items)
    if layers is not None and each == "sample" and (_options.are_numbers(layers) or items[0][0] is None):
        _chosen(layers, ["0"])  # samples are of one layer
    elif layers is not None:
        named = list(zip(_numbered(items), (value for _, value in items)))
        candidates = [one for one in named if _fits(one[1], own)] or named
        chosen = _chosen(layers, [name for name, _ in candidates])
        items = [(name, value) for (name, value), wanted in zip(candidates, chosen) if wanted]
    _check_shapes(items, own)
    arrays = [[shape_of(value), ",".join(parse_axes(own, len(shape_of(value)), layers=False))] for _, value in items]
    reading = {"arrays": arrays, "each": each, "by_default": by_default}
    if each == "sample" and own is not None:
        return _of_samples(items, own, reading, **options)
    dims = ("layer",)
    stacked: List[Layer] = []
    for name, value in items:
        of_array, of_layer = _layers_of(value, own, layers=False)
        if "sample" in of_array and "sample" not in dims:
            dims += ("sample",)
        stacked.append((name, of_layer[0]))
    made = of_layers(stacked, dims, reading=reading, **options)
    made.named = [name for name, _ in items if name is not None]
    made.parameters = parameters
    return made


def of_file(
    path: Path, *, axes: Axes = None, layers: Optional[str] = None, lengths: Any = None, padding: str = "right", sink: Any = None,
    row_tolerance: Optional[float] = None, missing_mass: Optional[str] = None,
) -> Attention:
    """The attention in a file."""
    # One sink alone is a range of tokens, of which no more is read.
    prefix = int(whole_numbers(sink, "sink").item()) + 1 if lengths is None and sink is not None and np.ndim(sink) == 0 else 0
    name = _library.path_bytes(path, "attention")
    options = {
        "axes": None if axes is None else ",".join(axis_names(axes)), "layers": layers, "row_tolerance": row_tolerance,
        "missing_mass": missing_mass, "range": [0, prefix] if prefix > 0 else None,
    }
    try:
        handle = _library.make("attention", "sg_attention_open", name, _library.encoded(options))
    except InputError:
        try:
            _library.make("model", "sg_model_open", name, _library.encoded({}))
        except InputError:
            pass
        else:
            raise InputError(f"{os.fsdecode(name)}: the file holds {LOAD_MODEL}") from None
        raise
    _set_lengths(handle, lengths, padding, None if prefix > 0 else sink)
    return Attention(handle, *_with_sinks(("layer", "sample"), sink))


def learned_weights(projection: Any, heads: int) -> NDArray[np.float64]:
    """Learned head weights, from an attention output projection (rows are outputs): the norms of the heads' blocks of columns.

    >>> import numpy as np
    >>> learned_weights(np.diag([3.0, 0.0, 0.0, 1.0]), heads=2)
    array([0.75, 0.25])
    """
    view = matrix_of(projection, "projection")
    heads = _options.whole(heads, "heads", 2**31 - 1)
    weights = np.empty(max(heads, 1))
    _library.check(_library.lib.sg_learned_weights(
        view.pointer, view.code, (c_int64 * 2)(*view.shape), (c_int64 * 2)(*view.strides), heads,
        weights.ctypes.data_as(ctypes.POINTER(c_double))))
    return weights
