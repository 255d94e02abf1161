"""Sparse feedforward graphs in compressed rows: families, masks, files."""

from __future__ import annotations

import ctypes
import os
from ctypes import c_double, c_int32, c_int64
from typing import Any, Dict, List, Optional, Tuple

import numpy as np
from numpy.typing import NDArray

from . import _library, _options
from ._attention import Path
from ._errors import InputError
from ._graph import Graph
from ._masks import MaskMod, as_mask, in_torch, mask_mod_of
from ._progress import Progress, progress_function
from ._result import arrays_in
from ._sparse_files import printable, read_edges, read_npz, write_edges, write_npz
from ._views import numbers, whole_numbers

MOST_NODES = 2**30
Edges = Tuple[NDArray[np.int64], NDArray[np.int64], Optional[NDArray[np.float64]]]  # senders, receivers, weights


class SparseGraph:
    """A feedforward graph whose edges are stored one by one. The last node is the sink.

    An edge j -> i lets node i attend to node j. Edges go forward, from a node to itself or to a later node.

    >>> graph = family("fs:4log", 256, seed=7)
    >>> graph
    <synergraph.SparseGraph: 9495 edges on 256 nodes>
    >>> graph.mask().shape, bool(graph.mask()[3, 5])
    ((256, 256), False)
    >>> SparseGraph.from_mask(graph.mask()) == graph
    True
    """

    def __init__(self, nodes: int, senders: Any, receivers: Any, weights: Any = None, *, source: str = "edges") -> None:
        """Makes a graph with edges senders[k] -> receivers[k]; `source` names them in messages. No self-loop is added."""
        self.nodes = _options.whole(nodes, "nodes", MOST_NODES, 1)
        ends = [np.atleast_1d(_whole(value, source)) for value in (senders, receivers)]
        strengths = None if weights is None else np.atleast_1d(numbers(weights, source))
        for array in (ends[1], strengths):
            if array is not None and array.shape != ends[0].shape or ends[0].ndim != 1:
                raise InputError(f"{source}: senders, receivers and weights must be lists of one length")
        _check(self.nodes, ends[0], ends[1], strengths, source)
        self._sort(ends[0], ends[1], strengths, source)

    def _sort(self, senders: NDArray[Any], receivers: NDArray[Any], weights: Optional[NDArray[np.float64]], source: str) -> None:
        """Sorts the edges by sender, then by receiver."""
        keys = senders.astype(np.int64) * self.nodes + receivers
        if keys.size and np.any(keys[1:] <= keys[:-1]):
            order = np.argsort(keys, kind="stable")
            keys = keys[order]
            weights = None if weights is None else weights[order]
            twice = np.flatnonzero(keys[1:] == keys[:-1])
            if twice.size:
                sender, receiver = divmod(int(keys[twice[0]]), self.nodes)
                raise InputError(f"{source}: edge {sender} -> {receiver} is there twice; sum repeated entries first")
        counts = np.bincount(keys // self.nodes, minlength=self.nodes)
        self.first: NDArray[np.int64] = np.zeros(self.nodes + 1, dtype=np.int64)
        np.cumsum(counts, out=self.first[1:])
        self.receivers: NDArray[np.int32] = (keys % self.nodes).astype(np.int32)
        self.weights = None if weights is None or np.all(weights == 1.0) else weights

    @classmethod
    def _of_rows(cls, first: NDArray[np.int64], receivers: NDArray[Any]) -> "SparseGraph":
        """Takes rows that the library made."""
        graph = cls.__new__(cls)
        graph.nodes = first.size - 1
        graph.first, graph.receivers, graph.weights = first, receivers.astype(np.int32), None
        return graph

    @classmethod
    def from_mask(cls, mask: Any) -> "SparseGraph":
        """Makes a graph from a boolean mask (query, key) of NumPy or torch."""
        rows, columns = np.nonzero(as_mask(mask, 2))
        return cls(len(mask), columns, rows, source="mask")

    @classmethod
    def read(cls, path: Path, *, nodes: Optional[int] = None) -> "SparseGraph":
        """Reads SciPy's .npz (csr or csc: row = query, column = key), or a text file with an edge "from to [weight]" on each line.

        `nodes` is the number of nodes of a text file. By default, the line "# nodes N" says it, or the largest node does.
        """
        name = os.fspath(_options.path(path, "path"))
        shown = printable(os.fsdecode(name))
        count, senders, receivers, weights = read_npz(name, shown) if os.fsdecode(name).endswith(".npz") else read_edges(name, shown, nodes)
        if nodes is not None and count != _options.whole(nodes, "nodes", MOST_NODES, 1):
            raise InputError(f"{shown}: the graph has {count} nodes, not {nodes}")
        if not 1 <= count <= MOST_NODES:
            raise InputError(f"{shown}: a sparse graph has 1 to {MOST_NODES} nodes, not {count}")
        return cls(count, senders, receivers, weights, source=shown)

    def save(self, path: Path) -> None:
        """Writes SciPy's .npz (a csc matrix, row = query, column = key) if the name ends so; else a text file of edges."""
        name = os.fspath(_options.path(path, "path"))
        if os.fsdecode(name).endswith(".npz"):
            write_npz(name, self.nodes, self.first, self.receivers, self.weights)
        else:
            write_edges(name, self.nodes, *self.edges())

    @property
    def edge_count(self) -> int:
        """Number of edges, self-loops included."""
        return int(self.receivers.size)

    def edges(self) -> Edges:
        """Senders, receivers and weights of all edges; the weights are None if all are 1."""
        return np.repeat(np.arange(self.nodes), np.diff(self.first)), self.receivers.astype(np.int64), self.weights

    def mask(self, *, torch: bool = False, device: Any = None) -> Any:
        """Boolean mask (query, key): True where the query may attend to the key. With `torch`, a tensor on `device`."""
        mask = np.zeros((self.nodes, self.nodes), dtype=bool)
        senders, receivers, _ = self.edges()
        mask[receivers, senders] = True
        return in_torch(mask, device) if _options.flag(torch, "torch") else mask

    def mask_mod(self, device: Any = None) -> MaskMod:
        """Function (batch, head, query, key) for torch's `create_block_mask`. All heads have this mask."""
        return mask_mod_of(self.mask()[None], device)

    def as_graph(self, name: Optional[str] = None) -> Graph:
        """The graph as a `Graph` with one head, for all of its methods; at most 16,384 nodes."""
        senders, receivers, weights = self.edges()
        columns: List[NDArray[Any]] = [senders, receivers] if weights is None else [senders, receivers, weights]
        return Graph().add_edges(np.stack(columns, axis=1), nodes=self.nodes, name=name, self_loops=False)

    def measure(self, *, eps: float = 0.25, step_limit: int = 100000, threads: Optional[int] = None, memory: Optional[int] = None,
                progress: Progress = None) -> Dict[str, Any]:
        """The numbers of `synergraph families`, by their keys in CSV (docs/graphs.md), edge by edge without a matrix.

        >>> family("power", 64).measure()["averaged_mixing_time"]
        14.0
        """
        weights = None if self.weights is None else self.weights.ctypes.data_as(ctypes.POINTER(c_double))
        arguments = (self.nodes, self.first.ctypes.data_as(ctypes.POINTER(c_int64)),
                     self.receivers.ctypes.data_as(ctypes.POINTER(c_int32)), weights,
                     _options.number(eps, "eps"), _options.whole(step_limit, "step_limit"))
        with progress_function(progress, "graph") as hear:
            handle = _library.run_made("result", "sg_sparse_measure", arguments, threads=threads, memory=memory, progress=hear, keep=self)
        values = {key: values.item() for key, (_, values) in arrays_in(handle).items()}
        values["exact"] = bool(values["exact"])
        return values

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SparseGraph):
            return NotImplemented
        same = self.nodes == other.nodes and np.array_equal(self.first, other.first) and np.array_equal(self.receivers, other.receivers)
        if self.weights is None or other.weights is None:
            return same and self.weights is other.weights
        return same and np.array_equal(self.weights, other.weights)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<synergraph.SparseGraph: {self.edge_count} edge{'' if self.edge_count == 1 else 's'} on {self.nodes} nodes>"


def family(description: str, nodes: int, seed: int = 1, *, threads: Optional[int] = None) -> SparseGraph:
    """Makes a graph of a family. The description is as for `synergraph families --families`: "fs:4log", "longformer:log:log", "power".

    >>> family("longformer:2:1", 8).edges()[1][:8].tolist()
    [0, 1, 2, 3, 4, 5, 6, 7]
    """
    arguments = (_options.encoded_text(description, "description"), _options.whole(nodes, "nodes"),
                 _options.whole(seed, "seed", 2**64 - 1))
    handle = _library.run_made("result", "sg_family", arguments, threads=threads, long=arguments[1] > 10**4)
    arrays = arrays_in(handle)
    return SparseGraph._of_rows(arrays["first"][1], arrays["receivers"][1])


def _whole(value: Any, source: str) -> NDArray[Any]:
    """Whole numbers without a copy where they are some already."""
    return value if isinstance(value, np.ndarray) and value.dtype.kind == "i" else whole_numbers(value, source)


def _check(nodes: int, senders: NDArray[Any], receivers: NDArray[Any], weights: Optional[NDArray[np.float64]], source: str) -> None:
    """Raises for the first edge that is wrong."""
    for wrong, text in (
        ((senders < 0) | (receivers < 0) | (senders >= nodes) | (receivers >= nodes), f"leaves the graph, which has nodes 0 to {nodes - 1}"),
        (senders > receivers, "goes backward; every edge must go to a later node (in a matrix: row = query, column = key, lower triangle)"),
    ):
        if wrong.any():
            k = int(np.argmax(wrong))
            raise InputError(f"{source}: edge {senders[k]} -> {receivers[k]} {text}")
    if weights is not None:
        wrong = ~(np.isfinite(weights) & (weights > 0))
        if wrong.any():
            k = int(np.argmax(wrong))
            raise InputError(f"{source}: edge {senders[k]} -> {receivers[k]} has weight {weights[k]}; weights must be positive and finite")
