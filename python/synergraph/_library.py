"""The shared library behind the package: found, loaded, declared, called."""

from __future__ import annotations

import ctypes
import atexit
import json
import os
import queue
import threading
from ctypes import POINTER, byref, c_char_p, c_double, c_float, c_int, c_int32, c_int64, c_size_t, c_uint8, c_uint64, c_void_p
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List, Optional, Set, Tuple, Type

import numpy as np
from numpy.typing import NDArray

from . import _options
from ._errors import Error, InputError, Stopped, UsageError
from ._prototypes import LIBRARY, PROTOTYPES, VERSION

OK = 0
STOPPED = 3
MEMORY = 4
_ERRORS: Dict[int, Type[Exception]] = {1: InputError, 2: UsageError, STOPPED: Stopped, MEMORY: MemoryError}

FLOAT16, BFLOAT16, FLOAT32, FLOAT64, INT64 = range(5)

Progress = ctypes.CFUNCTYPE(c_int, c_uint64, c_uint64, c_char_p, c_void_p)
ReadHead = ctypes.CFUNCTYPE(c_int, c_int64, c_int64, c_void_p, c_void_p)
SetValues = ctypes.CFUNCTYPE(c_int, c_int64, c_int64, POINTER(c_uint8), POINTER(c_double), c_void_p)


class Call(ctypes.Structure):
    """`sg_call`: how a call is carried out."""

    _fields_ = [
        ("size", c_size_t),
        ("threads", c_int32),
        ("any_thread", c_int32),
        ("memory", c_uint64),
        ("progress", Progress),
        ("user", c_void_p),
    ]


class Sequence(ctypes.Structure):
    """`sg_sequence`: tokens begin to end - 1 of a sample."""

    _fields_ = [("sample", c_int64), ("begin", c_int64), ("end", c_int64)]


class Place(ctypes.Structure):
    """`sg_place`: the device that memory belongs to, and the caller's stream on that device."""

    _fields_ = [("size", c_size_t), ("device", c_int32), ("none", c_int32), ("stream", c_void_p)]


class Scores(ctypes.Structure):
    """`sg_scores`: attention as queries and keys."""

    _fields_ = [
        ("size", c_size_t),
        ("queries", c_void_p),
        ("keys", c_void_p),
        ("dtype", c_int32),
        ("none", c_int32),
        *((name, c_int64) for name in ("samples", "heads", "key_heads", "tokens", "width")),
        ("query_strides", c_int64 * 3),
        ("key_strides", c_int64 * 3),
        ("scale", c_double),
        ("softcap", c_double),
        ("window", c_int64),
        ("sink_logits", c_void_p),
    ]


class Pairs(ctypes.Structure):
    """`sg_pairs`: sequences, and what a model shall answer to them."""

    _fields_ = [("count", c_int64), ("length", c_int64), ("inputs", POINTER(c_int32)), ("targets", POINTER(c_int32))]


class GradientBuffers(ctypes.Structure):
    """`sg_gradient_buffers`: where the derivatives of one layer go."""

    _fields_ = [
        ("size", c_size_t),
        ("dtype", c_int32),
        ("none", c_int32),
        ("attention", c_void_p),
        ("queries", c_void_p),
        ("keys", c_void_p),
        ("weights", c_void_p),
    ]


class Array(ctypes.Structure):
    """`sg_array`: an array of a result."""

    _fields_ = [
        ("name", c_char_p),
        ("axes", c_char_p),
        ("dtype", c_int32),
        ("rank", c_int32),
        ("shape", POINTER(c_int64)),
        ("data", c_void_p),
    ]


# The types of _prototypes.py. A handle is the address of an object, of a text to free or of any numbers.
_TYPES: Dict[str, Any] = {
    "void": None, "handle": c_void_p, "text": c_char_p, "int": c_int, "unsigned char": c_uint8, "int32_t": c_int32, "int64_t": c_int64,
    "uint64_t": c_uint64, "size_t": c_size_t, "float": c_float, "double": c_double, "sg_call": Call, "sg_sequence": Sequence, "sg_pairs": Pairs,
    "sg_array": Array, "sg_place": Place, "sg_scores": Scores, "sg_gradient_buffers": GradientBuffers, "sg_read_head": ReadHead, "sg_set_values": SetValues,
}


def _type(name: str) -> Any:
    return POINTER(_TYPES[name[:-1]]) if name.endswith("*") else _TYPES[name]


def _known(version: str) -> bool:
    """Whether the package can use a library of that version. Before 1.0 a minor version may change anything; from then on it only adds."""
    major, minor = (int(part) for part in version.split(".")[:2])
    own_major, own_minor = (int(part) for part in VERSION.split(".")[:2])
    return major == own_major and (minor >= own_minor if major else minor == own_minor)


def _load() -> ctypes.CDLL:
    """The library beside this file, unless the environment's SYNERGRAPH_LIBRARY names another; else the system's."""
    beside = Path(__file__).parent / LIBRARY
    path = os.environ.get("SYNERGRAPH_LIBRARY") or (str(beside) if beside.exists() else LIBRARY)
    try:
        library = ctypes.CDLL(path)
        library.sg_version.restype = c_char_p
        version = library.sg_version().decode()
        if not _known(version):
            raise ImportError(f"synergraph: the library {path} has version {version}; this package is of version {VERSION}")
        for name, (result, *arguments) in PROTOTYPES.items():
            function = getattr(library, name)
            function.restype = _type(result)
            function.argtypes = [_type(argument) for argument in arguments]
    except (OSError, AttributeError) as error:
        raise ImportError(f"synergraph: the library {path} cannot be used: {error}") from error
    return library


lib = _load()


def exception(status: int) -> Exception:
    """What a status means, with the message of this thread."""
    message = lib.sg_error().decode(errors="replace")
    return _ERRORS.get(status, Error)(message)


def check(status: int) -> None:
    """Raises unless a call succeeded."""
    if status != OK:
        raise exception(status)


class Handle:
    """An object of the library, released with this one."""

    def __init__(self, pointer: int, free: Callable[[c_void_p], None]):
        self._pointer: Optional[int] = pointer
        self._free = free

    @property
    def pointer(self) -> c_void_p:
        return c_void_p(self._pointer)

    def __reduce__(self) -> Any:
        raise TypeError("objects of the library can neither be copied nor pickled; save and load what they were made from")

    def __del__(self) -> None:
        if self.__dict__.get("_pointer") is not None:
            self._free(c_void_p(self._pointer))
            self._pointer = None


def make(kind: str, function: str, *arguments: Any) -> Handle:
    """The object of this kind ("graph") that a call makes."""
    place = c_void_p()
    check(getattr(lib, function)(*arguments, byref(place)))
    return made(kind, place)


def made(kind: str, place: c_void_p) -> Handle:
    """A handle of an object of this kind that a call has put into its place."""
    assert place.value is not None
    return Handle(place.value, getattr(lib, f"sg_{kind}_free"))


def text(function: str, *arguments: Any) -> str:
    """The text that a call makes."""
    place = c_void_p()
    check(getattr(lib, function)(*arguments, byref(place)))
    return taken_text(place)


def taken_text(place: c_void_p) -> str:
    """The text that a call has put into its place, which is released."""
    try:
        return ctypes.string_at(place.value or 0).decode(errors="replace")
    finally:
        lib.sg_free(place)


def encoded(options: Dict[str, Any]) -> bytes:
    """Options as the library takes them, without those that are None. The library checks what a value must be."""
    def plain(value: Any) -> Any:
        if hasattr(value, "tolist"):  # of NumPy
            return value.tolist()
        raise TypeError

    given = []
    for key, value in options.items():
        if value is None:
            continue
        try:
            given.append(f"{json.dumps(key)}: {json.dumps(value, default=plain, allow_nan=False)}")
        except (TypeError, RecursionError):
            _options.refuse(key, value, "a number, a text, or a list of these")
        except ValueError:
            raise UsageError(f"{key}: {_options.shown(value)}: infinity and NaN are no values of options") from None
    return ("{" + ", ".join(given) + "}").encode()


def path_bytes(path: Any, what: str = "path") -> bytes:
    """A path as the system takes it."""
    name = os.fsencode(_options.path(path, what))
    if b"\0" in name:
        raise InputError(f"{name!r} is no path: there is a zero byte in it")
    return name


def names(values: Iterable[str]) -> "ctypes.Array[c_char_p]":
    """Names as the library takes them."""
    encoded_names = [value.encode(errors="surrogateescape") for value in values]
    return (c_char_p * len(encoded_names))(*encoded_names)


ProgressFunction = Callable[[int, int, str], Any]  # what is done, the total, how things stand


class _Work:
    """A call under way: how far it is, whether it shall stop, and what came of it."""

    def __init__(self, carry_out: Callable[[], int]) -> None:
        self.done = 0
        self.total = 0
        self.detail = ""
        self.stop = False
        self.told = False  #: the library calls back
        self.error: Optional[BaseException] = None
        self.finished = threading.Event()
        self._carry_out = carry_out

    def hear(self, done: int, total: int, detail: bytes, _: Any = None) -> int:
        self.done, self.total, self.detail = done, total, detail.decode(errors="replace")
        return int(self.stop)

    def tell(self, progress: Optional[ProgressFunction]) -> None:
        if progress is not None and not self.stop:
            progress(self.done, self.total, self.detail)

    def fail(self, error: BaseException) -> None:
        self.error = self.error or error
        self.stop = True

    def run(self) -> None:
        _under_way.add(self)
        try:
            status = self._carry_out()
            if status != OK and not self.stop:
                self.error = exception(status)
        finally:
            _under_way.discard(self)
            self.finished.set()


_under_way: Set[_Work] = set()


@atexit.register
def _stop_all() -> None:
    """No call of another thread may want to tell of its progress when there is no interpreter any more."""
    works = list(_under_way)
    for work in works:
        work.stop = True
    for work in works:
        if work.told:
            work.finished.wait(30.0)


def run(
    function: str, arguments: Tuple[Any, ...], results: Tuple[Any, ...], *, threads: Optional[int] = None,
    memory: Optional[int] = None, progress: Optional[ProgressFunction] = None, long: bool = True, keep: Any = None,
) -> None:
    """Carries out a call that takes an `sg_call` between its arguments and its results.

    A long call on the main thread, and a call with a progress function, runs on another thread, which also holds on to what it
    needs (`keep`). The calling thread waits where it hears signals: Ctrl-C stops the call and is then raised. The library starts
    no thread of its own to wait.
    """
    call = Call(ctypes.sizeof(Call), _options.whole(0 if threads is None else threads, "threads", 2**31 - 1), 1,
                _options.whole(0 if memory is None else memory, "memory"))
    target = getattr(lib, function)

    def carry_out(held: Any = keep) -> int:
        return int(target(*arguments, byref(call), *results))

    work = _Work(carry_out)
    if progress is None and (not long or threading.current_thread() is not threading.main_thread()):
        work.run()
    else:
        call.progress = Progress(work.hear)
        work.told = True
        threading.Thread(target=work.run, name="synergraph", daemon=True).start()
        finished = False
        try:
            while not finished:
                try:
                    # Not by joining the thread: an interrupted join takes a thread for finished that is not.
                    finished = work.finished.wait(0.1)
                    work.tell(progress)
                except BaseException as error:  # Ctrl-C, or of the progress function
                    work.fail(error)
        finally:
            work.stop = True
    if work.error is not None:
        raise work.error


def run_made(kind: str, function: str, arguments: Tuple[Any, ...], **options: Any) -> Handle:
    """The same for a call that makes an object of this kind."""
    place = c_void_p()
    try:
        run(function, arguments, (byref(place),), **options)
    finally:
        handle = made(kind, place) if place.value is not None else None
    assert handle is not None
    return handle


class _Asked:
    """What a call on another thread asks this one for, and what it is told."""

    def __init__(self) -> None:
        self.questions: "queue.SimpleQueue[Optional[Tuple[int, NDArray[np.bool_]]]]" = queue.SimpleQueue()
        self.answers: "queue.SimpleQueue[Optional[NDArray[np.float64]]]" = queue.SimpleQueue()

    def ask(self, layer: int, sets: int, heads: int, members: Any, values: Any) -> int:
        self.questions.put((layer, np.ctypeslib.as_array(members, (sets, heads)) != 0))
        answer = self.answers.get()
        if answer is None:
            return 1
        np.ctypeslib.as_array(values, answer.shape)[...] = answer
        return 0


def run_asking(kind: str, function: str, arguments: Tuple[Any, ...], heads: List[int],
               answer: Callable[[int, NDArray[np.bool_]], NDArray[np.float64]], progress: Optional[ProgressFunction]) -> Handle:
    """An object that a call makes which asks for the values of sets of heads: `answer(layer, sets)`. The call runs on another thread,
    and `answer` on this one, with all that belongs to a thread: modes of PyTorch, Ctrl-C."""
    asked = _Asked()
    place = c_void_p()
    call = Call(ctypes.sizeof(Call), 1, 1, 0)
    function_of_values = SetValues(lambda layer, sets, members, values, _: asked.ask(layer, sets, heads[layer], members, values))
    work = _Work(lambda: int(getattr(lib, function)(*arguments, function_of_values, None, byref(call), byref(place))))
    call.progress = Progress(work.hear)

    def carry_out() -> None:
        try:
            work.run()
        finally:
            asked.questions.put(None)

    threading.Thread(target=carry_out, name="synergraph", daemon=True).start()
    try:
        while (question := asked.questions.get()) is not None:
            asked.answers.put(answer(*question))
            work.tell(progress)
        if work.error is None:
            work.tell(progress)  # that all is done
    except BaseException as error:
        work.fail(error)
    finally:
        asked.answers.put(None)
        while not work.finished.is_set():
            try:
                work.finished.wait()
            except BaseException as error:  # Ctrl-C again
                work.fail(error)
        handle = made(kind, place) if place.value is not None else None
    if work.error is not None:
        raise work.error
    assert handle is not None
    return handle


def run_text(function: str, arguments: Tuple[Any, ...], **options: Any) -> str:
    """The same for a call that makes a text."""
    place = c_void_p()
    run(function, arguments, (byref(place),), **options)
    return taken_text(place)
