"""Sparse graphs in files: SciPy's .npz, and edge lists as text."""

from __future__ import annotations

import os
import re
import uuid
import warnings
import zipfile
from contextlib import contextmanager
from typing import IO, Any, Dict, Iterator, Optional, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from ._errors import InputError
from ._options import shown

#: Number of nodes, senders, receivers, weights or None.
Parts = Tuple[int, NDArray[Any], NDArray[Any], Optional[NDArray[np.float64]]]
Name = Union[str, bytes]
_format: Any = np.lib.format  # NumPy does not state its types


def read_npz(name: Name, source: str) -> Parts:
    """Reads what scipy.sparse.save_npz writes. Row i, column j: node i attends to node j."""
    with open(name, "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                return _parts_of(_Members(archive, source), source)
        except InputError:
            raise
        except MemoryError:
            raise InputError(f"{source}: the graph does not fit into memory") from None
        except Exception as error:  # zipfile and its decompressors have many types of errors
            raise InputError(f"{source}: not a readable .npz file: {_line(error)}") from None


class _Members:
    """The arrays of an archive. Each is checked by its header before its numbers take any memory."""

    def __init__(self, archive: zipfile.ZipFile, source: str) -> None:
        self._archive = archive
        self._source = source
        self._names = set(archive.namelist())

    def header(self, member: str) -> Tuple[Tuple[int, ...], np.dtype[Any]]:
        if member + ".npy" not in self._names:
            raise InputError(f"{self._source}: {member} is missing; expected a file of scipy.sparse.save_npz with format csr or csc")
        with self._archive.open(member + ".npy") as file:
            try:
                version = _format.read_magic(file)
                read = _format.read_array_header_1_0 if version == (1, 0) else _format.read_array_header_2_0
                shape, _, dtype = read(file)
            except (ValueError, TypeError, SyntaxError, RecursionError) as error:
                raise InputError(f"{self._source}: {member} is no array of NumPy: {_line(error)}") from None
            used = file.tell()
        if dtype.hasobject:
            raise InputError(f"{self._source}: {member} holds objects of Python; expected numbers")
        if any(extent < 0 for extent in shape):
            raise InputError(f"{self._source}: {member} has shape {shape}")
        stated = self._archive.getinfo(member + ".npy").file_size
        needed = int(np.prod(shape, dtype=object)) * dtype.itemsize
        if stated - used != needed:
            raise InputError(f"{self._source}: {member} has {stated - used} bytes; its shape {shape} needs {needed}")
        return shape, dtype

    def read(self, member: str) -> NDArray[Any]:
        self.header(member)
        with self._archive.open(member + ".npy") as file:
            try:
                array: NDArray[Any] = _format.read_array(file, allow_pickle=False)
            except ValueError as error:
                raise InputError(f"{self._source}: {member} is no array of numbers: {_line(error)}") from None
        return array

    def whole(self, member: str, count: int) -> NDArray[Any]:
        """A list of so many whole numbers."""
        shape, dtype = self.header(member)
        if dtype.kind not in "iu" or shape != (count,):
            raise InputError(f"{self._source}: {member} is {dtype} of shape {shape}, expected {count} integers")
        numbers = self.read(member)
        if dtype.kind == "u" and numbers.size and numbers.max() >= 2**63:
            raise InputError(f"{self._source}: {member} contains {numbers.max()}; expected integers below 2^63")
        return numbers.astype(np.int64) if dtype.kind == "u" else numbers


def _parts_of(members: _Members, source: str) -> Parts:
    layout = _layout(members, source)
    nodes = _nodes(members, source)
    _check_memory(nodes, "nodes", source)
    first = members.whole("indptr", nodes + 1)
    edges = int(first[-1])
    if first[0] != 0 or np.any(first[1:] < first[:-1]):
        raise InputError(f"{source}: indptr must begin with 0 and never decrease")
    if edges > nodes * (nodes + 1) // 2:
        raise InputError(f"{source}: {edges} edges of {nodes} nodes, which have at most {nodes * (nodes + 1) // 2}")
    _check_memory(edges, "edges", source)
    inner = members.whole("indices", edges)
    shape, dtype = members.header("data")
    if shape != (edges,) or dtype.kind not in "biuf":
        raise InputError(f"{source}: data is {dtype} of shape {shape}, expected {edges} numbers")
    data = members.read("data").astype(np.float64)
    outer = np.repeat(np.arange(nodes), np.diff(first))
    senders, receivers = (inner, outer) if layout == "csr" else (outer, inner)
    stored = data != 0.0  # SciPy keeps zeros that were stored on purpose; they are no edges
    if not stored.all():
        senders, receivers, data = senders[stored], receivers[stored], data[stored]
    return nodes, senders, receivers, data


def _layout(members: _Members, source: str) -> str:
    shape, dtype = members.header("format")
    if shape != () or dtype.kind not in "SU" or dtype.itemsize > 64:
        raise InputError(f"{source}: format is {dtype} of shape {shape}, expected the text csr or csc")
    value = members.read("format").item()
    layout = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
    if layout not in ("csr", "csc"):
        raise InputError(f"{source}: format {shown(layout)}, expected csr or csc: convert with matrix.tocsr()")
    return layout


def _nodes(members: _Members, source: str) -> int:
    shape = members.whole("shape", 2).tolist()
    if shape[0] != shape[1] or not 1 <= shape[0] <= 2**30:
        raise InputError(f"{source}: a matrix of {shape[0]} x {shape[1]}; expected a square one with 1 to {2**30} rows")
    return int(shape[0])


def write_npz(name: Name, nodes: int, first: NDArray[np.int64], receivers: NDArray[np.int32], weights: Optional[NDArray[np.float64]]) -> None:
    """Writes a csc matrix. Its column j has the receivers of node j."""
    arrays: Dict[str, Any] = {
        "indices": receivers,
        "indptr": first.astype(np.int32) if receivers.size < 2**31 else first,
        "format": np.array(b"csc"),
        "shape": np.array([nodes, nodes]),
        "data": np.ones(receivers.size, dtype=bool) if weights is None else weights,
    }
    with _replacing(name) as file:
        np.savez_compressed(file, **arrays)


def read_edges(name: Name, source: str, nodes: Optional[int]) -> Parts:
    """Reads a line "from to" or "from to weight" for each edge. Blank lines and text behind # are ignored, but for "# nodes N"."""
    with open(name, encoding="utf-8", errors="replace") as file:
        stated = re.fullmatch(r"#\s*nodes\s+(\d{1,10})\s*", file.readline(200))
        file.seek(0)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that the file has no edges
                table = np.loadtxt(_lines(file, source), dtype=np.float64, ndmin=2)
        except InputError:
            raise
        except ValueError as error:
            raise InputError(f"{source}: {_line(error)}; expected \"from to\" or \"from to weight\" on each line") from None
    if table.size == 0:
        table = np.empty((0, 2))
    if table.shape[1] not in (2, 3):
        raise InputError(f"{source}: {table.shape[1]} numbers on a line; expected \"from to\" or \"from to weight\"")
    ends = table[:, :2]
    wrong = np.flatnonzero(~((ends >= 0) & (ends < 2**30) & (ends == np.floor(ends))).all(axis=1))
    if wrong.size:
        raise InputError(f"{source}: edge {wrong[0] + 1} is {ends[wrong[0], 0]:g} -> {ends[wrong[0], 1]:g}; "
                         f"nodes are whole numbers from 0 to {2**30 - 1}")
    count = nodes if nodes is not None else int(stated[1]) if stated else int(ends.max()) + 1 if ends.size else 0
    return count, ends[:, 0].astype(np.int64), ends[:, 1].astype(np.int64), table[:, 2] if table.shape[1] == 3 else None


def _lines(file: IO[str], source: str) -> Iterator[str]:
    """The lines of a text, none of which may fill the memory."""
    while line := file.readline(1001):
        if len(line) > 1000:
            raise InputError(f"{source}: a line has more than 1000 characters; expected \"from to\" or \"from to weight\"")
        yield line


def write_edges(name: Name, nodes: int, senders: NDArray[Any], receivers: NDArray[Any], weights: Optional[NDArray[np.float64]]) -> None:
    """Writes the number of nodes, then an edge on each line."""
    with _replacing(name) as file:
        file.write(f"# nodes {nodes}\n".encode())
        if weights is None:
            np.savetxt(file, np.stack([senders, receivers], axis=1), fmt="%d")
        else:
            rows = (f"{j} {i} {weight!r}\n".encode() for j, i, weight in zip(senders.tolist(), receivers.tolist(), weights.tolist()))
            file.writelines(rows)


@contextmanager
def _replacing(name: Name) -> Iterator[IO[bytes]]:
    """A file beside the named one, which takes its place once it is complete."""
    folder, base = os.path.split(os.fsdecode(name))
    made = os.path.join(folder, f".{base}.{uuid.uuid4().hex}")
    try:
        with open(made, "xb") as file:
            yield file
        os.replace(made, name)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fsdecode(name)) from None  # with the name that the caller knows
    finally:
        if os.path.exists(made):
            os.unlink(made)


def _check_memory(count: int, what: str, source: str) -> None:
    """Refuses a graph that the machine cannot hold while it is read and sorted: the system would kill the process."""
    needed, there = 64 * count, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if needed > there:
        raise InputError(f"{source}: {count} {what} need {needed >> 30} GiB of memory; the machine has {there >> 30} GiB")


def printable(text: str) -> str:
    """A text on one line, without control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _line(error: BaseException) -> str:
    """A message of NumPy or zipfile, which may quote the file: short and printable."""
    return printable(str(error))[:120] or type(error).__name__
