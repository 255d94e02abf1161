"""Arrays of any library, seen as memory: a pointer, an element type, a shape and strides in bytes."""

from __future__ import annotations

import sys
from typing import Any, Callable, NamedTuple, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from . import _library
from ._dlpack import Tensor
from ._errors import InputError, OptionError
from ._options import axis_names, refuse, shown

CODES = {
    "float16": _library.FLOAT16,
    "bfloat16": _library.BFLOAT16,
    "float32": _library.FLOAT32,
    "float64": _library.FLOAT64,
}
_KNOWN = "expected float16, bfloat16, float32, float64, integers or booleans"


class View(NamedTuple):
    """Memory that `owner` holds."""

    pointer: int
    code: int  # of the element type
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]
    owner: object

    @property
    def rank(self) -> int:
        return len(self.shape)


class HeadFunction(NamedTuple):
    """A layer that is not in this memory: its heads are written to an address, one by one, when they are wanted."""

    read: Callable[[int, int, int], None]  # sample, head, address of n x n elements
    code: int
    shape: Tuple[int, ...]  # samples, heads, n, n


class DeviceArray(NamedTuple):
    """A layer (samples, heads, n, n) in the memory of a CUDA device, and the function that reads its heads on the CPU."""

    view: View
    device: int
    stream: int
    read: Callable[[int, int, int], None]

    @property
    def code(self) -> int:
        return self.view.code

    @property
    def shape(self) -> Tuple[int, ...]:
        return self.view.shape


class ScoreArrays(NamedTuple):
    """A layer as queries (samples, heads, n, width) and keys, and the function that computes its heads on the CPU."""

    queries: View
    keys: View
    scale: float
    softcap: float
    window: int
    logits: Any  # a View of float32, one a head, or None
    read: Callable[[int, int, int], None]
    code: int  # of the elements that `read` writes
    shape: Tuple[int, ...]  # samples, heads, n, n
    place: Optional[Tuple[int, int]] = None  # CUDA device and stream, if queries, keys and logits lie there; None: the CPU's memory


def is_array(value: object) -> bool:
    """Whether something is one array, and not a list of some."""
    if isinstance(value, (list, tuple, dict, str, bytes)):
        return False
    if any(hasattr(value, name) for name in ("__array_interface__", "__dlpack__", "__array__")):
        return True
    try:
        memoryview(value)  # type: ignore[arg-type]
    except TypeError:
        return False
    return True


def view_of(value: Any) -> View:
    """The memory of an array, as it lies there. What has other elements than attention's is converted."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _view_of_torch(value)
    if not hasattr(value, "__array_interface__") and hasattr(value, "__dlpack__"):
        tensor = Tensor(value)
        return View(tensor.pointer, CODES[tensor.dtype], tensor.shape, tensor.strides, (tensor, value))
    return _view_of_numpy(value)


def _view_of_torch(tensor: Any) -> View:
    if tensor.device.type != "cpu":
        raise InputError(f"the tensor is on {tensor.device}, expected one whose numbers are in memory: pass tensor.cpu()")
    if str(tensor.layout) != "torch.strided":
        raise InputError(f"the tensor's layout is {tensor.layout}, expected torch.strided: pass tensor.to_dense()")
    if tensor.is_neg():
        tensor = tensor.resolve_neg()
    name = str(tensor.dtype).replace("torch.", "")
    if name not in CODES:
        return _view_of_numpy(tensor.detach().numpy())
    strides = tuple(stride * tensor.element_size() for stride in tensor.stride())
    return View(tensor.data_ptr(), CODES[name], tuple(tensor.shape), strides, tensor)


def _view_of_numpy(value: Any) -> View:
    if isinstance(value, np.ma.MaskedArray) and bool(np.any(value.mask)):
        raise InputError("the array is masked: attention has no missing numbers")
    array: NDArray[Any] = np.asanyarray(value).view(np.ndarray)
    name = array.dtype.name
    if not (array.dtype.kind in "fiub" or name == "bfloat16") or name in ("longdouble", "float128", "float96"):
        raise InputError(f"elements are {name}: {_KNOWN}")
    if name not in CODES or not array.dtype.isnative:
        array = array.astype(np.float64 if name not in CODES else name)
    if any(stride % array.itemsize for stride in array.strides):  # of a field in records
        array = np.array(array)
    return View(array.__array_interface__["data"][0], CODES[name] if name in CODES else _library.FLOAT64,
                array.shape, array.strides, array)


def shape_of(value: Any) -> Tuple[int, ...]:
    """The shape of an array of any library, on any device."""
    shape = getattr(value, "shape", None)
    return tuple(int(extent) for extent in shape) if shape is not None else view_of(value).shape


def numpy_type(code: int) -> str:
    """NumPy's type for elements of this code; bfloat16, which it does not have, as its bits."""
    return {_library.FLOAT16: "f2", _library.BFLOAT16: "u2", _library.FLOAT32: "f4", _library.FLOAT64: "f8"}[code]


def as_numpy(view: View) -> NDArray[Any]:
    """The memory of a view as an array of that type."""
    class Memory:
        __array_interface__ = {"version": 3, "data": (view.pointer, True), "shape": view.shape, "strides": view.strides,
                               "typestr": np.dtype(numpy_type(view.code)).str}

    return np.asarray(Memory())


def _has_texts(value: Any) -> bool:
    """Whether something that NumPy would turn into numbers holds texts or booleans."""
    if isinstance(value, (list, tuple)):
        return any(_has_texts(one) for one in value)
    return isinstance(value, (str, bytes, bool)) or getattr(getattr(value, "dtype", None), "kind", "") in tuple("bSU")


def matrix_of(value: Any, what: str) -> View:
    """The memory of a matrix."""
    if not is_array(value) and not isinstance(value, (list, tuple)):
        refuse(what, value, "a matrix of numbers")
    try:
        view = view_of(value)
    except InputError as error:
        raise InputError(f"{what}: {error}") from None
    except (TypeError, ValueError):
        refuse(what, value, "a matrix of numbers")
    if view.rank != 2:
        raise InputError(f"{what}: expected a matrix, not an array of shape {view.shape}")
    return view


def lengths_of(value: Any) -> NDArray[np.int64]:
    """Numbers of tokens: one for all samples, or one per sample."""
    lengths = whole_numbers(value, "lengths")
    if lengths.ndim > 1:
        raise InputError(f"lengths: shape {lengths.shape}; expected one length per sample. From an attention mask: mask.sum(1)")
    return lengths.ravel()


def numbers(value: Any, what: str) -> NDArray[np.float64]:
    """A few numbers as float64: a list, an array, a tensor."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        value = value.detach().cpu()
        value = value.numpy() if value.dtype == torch.bool else value.double().numpy()
    try:
        if _has_texts(value):
            raise TypeError
        array = np.ascontiguousarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        kind = OptionError if isinstance(value, (str, bytes)) or np.ndim(np.asarray(value, dtype=object)) == 0 else InputError
        raise kind(f"{what}: {shown(value)} is not a number or a list of numbers") from None
    return array


def numbers_array(value: Any, what: str) -> NDArray[Any]:
    """An array of numbers of any type."""
    try:
        array: NDArray[Any] = np.asarray(value)
    except (TypeError, ValueError):
        array = np.empty((), dtype=object)
    if array.dtype.kind not in "fiub":
        raise OptionError(f"{what}: {shown(value)} is not an array of numbers")
    return array


def whole_numbers(value: Any, what: str) -> NDArray[np.int64]:
    """A few whole numbers."""
    array = numbers(value, what)
    if not np.all(np.isfinite(array)) or not np.all(array == np.floor(array)) or np.any(np.abs(array) > 2**53):
        raise InputError(f"{what}: {shown(value)}: expected whole numbers")
    return array.astype(np.int64)


def tokens_of(value: Any, what: str, most: int, least: int = 0) -> NDArray[np.int32]:
    """Sequences of tokens `least` to `most`, (samples, length)."""
    array = whole_numbers(value, what)
    if array.ndim != 2:
        raise InputError(f"{what}: an array of shape {array.shape}, expected (samples, length)")
    wrong = np.argwhere((array < least) | (array > most))
    if wrong.size:
        sample, place = wrong[0]
        raise InputError(f"{what}: token {array[sample, place]} in sequence {sample}, position {place}: expected {least} to {most}")
    return np.ascontiguousarray(array, dtype=np.int32)


AXES = ("layer", "sample", "head", "query", "key")


def parse_axes(axes: "str | Sequence[str] | None", rank: int, layers: bool) -> Tuple[str, ...]:
    """The names of an array's axes; None: the last of `AXES`. `layers`: one of them may count layers."""
    known = AXES if layers else AXES[1:]
    if axes is None:
        if not 2 <= rank <= len(known):
            raise InputError(f"an array of {rank} axes is not attention: expected (head, query, key), up to ({', '.join(known)})")
        return known[-rank:]
    names = axis_names(axes)
    for name in names:
        if name not in known:
            raise InputError(f"axes: {name!r} is no axis: expected some of {', '.join(known)}")
    for name in ("query", "key"):
        if name not in names:
            raise InputError(f"axes: {name} is missing")
    if len(names) != rank:
        raise InputError(f"axes: {', '.join(names)}: an array of {rank} axes has other ones")
    return names


def ordered(view: View, axes: Tuple[str, ...]) -> View:
    """The same memory with all of `AXES`, in their order."""
    extents = dict(zip(axes, zip(view.shape, view.strides)))
    pairs = [extents.get(name, (1, 0)) for name in AXES]
    return view._replace(shape=tuple(extent for extent, _ in pairs), strides=tuple(stride for _, stride in pairs))
