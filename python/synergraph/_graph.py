"""Feedforward graphs."""

from __future__ import annotations

import ctypes
import json
from ctypes import byref, c_double, c_int64
from typing import Any, Iterable, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from . import _library, _options
from ._attention import Attention, Path
from ._errors import InputError
from ._masks import MaskMod, as_mask, in_torch, mask_mod_of
from ._progress import Progress, progress_function
from ._result import GraphResult
from ._views import matrix_of, numbers, whole_numbers

Edges = Iterable[Sequence[float]]


class Graph:
    """One or more heads on the same nodes, whose edges go forward; the last node is the sink.

    >>> graph = Graph.generate("chain:8", "powers:8")
    >>> graph
    <synergraph.Graph: 2 heads on 8 nodes>
    >>> graph.measure()["best_head"]
    0

    Or head by head:

    >>> graph = Graph().add_edges([(0, 1), (1, 2)], nodes=3).add_edges([(0, 2, 0.5)], nodes=3, weight=2, name="skip")
    >>> print(graph.to_text().rstrip())
    nodes 3
    self-loops off
    <BLANKLINE>
    head "head 1" weight 1
      0 -> 0
      0 -> 1
      1 -> 1
      1 -> 2
      2 -> 2
    <BLANKLINE>
    head skip weight 2
      0 -> 0
      0 -> 2 : 0.5
      1 -> 1
      2 -> 2
    """

    def __init__(self, _handle: Optional[_library.Handle] = None) -> None:
        self._handle = _handle or _library.make("graph", "sg_graph_create")

    @classmethod
    def parse(cls, text: str, source: Optional[str] = None) -> "Graph":
        """Reads the text format of docs/formats.md; `source` names it in messages."""
        if not isinstance(text, str):
            _options.refuse("text", text, "a text")
        encoded = text.encode(errors="surrogateescape")
        name = None if source is None else _options.encoded_text(source, "source")
        return cls(_library.make("graph", "sg_graph_parse", encoded, len(encoded), name))

    @classmethod
    def read(cls, path: Path) -> "Graph":
        """Reads a file in that format."""
        with open(_options.path(path, "path"), encoding="utf-8", errors="surrogateescape", newline="") as file:
            encoded = file.read().encode(errors="surrogateescape")
        return cls(_library.make("graph", "sg_graph_parse", encoded, len(encoded), _library.path_bytes(path)))

    @classmethod
    def example(cls, number: int) -> "Graph":
        """The paper's worked example, 1 or 2."""
        return cls(_library.make("graph", "sg_graph_example", _options.whole(number, "example", 2)))

    @classmethod
    def generate(cls, *generators: str, self_loops: bool = True) -> "Graph":
        """A head for each of "chain:N", "complete:N", "window:N:WIDTH", "powers:N", "star:N", "random:N:PROBABILITY[:SEED]"."""
        graph = cls()
        for generator in generators:
            graph.add_generated(generator, self_loops=self_loops)
        return graph

    @classmethod
    def from_mask(cls, mask: Any) -> "Graph":
        """Makes a graph from a boolean mask (query, key), or (head, query, key) with a graph for each head, of NumPy or torch."""
        graph = cls()
        heads = as_mask(mask, 3 if len(getattr(mask, "shape", ())) == 3 else 2)
        for head in heads.reshape(-1, *heads.shape[-2:]):
            graph.add_edges(np.argwhere(head.T), nodes=len(head), self_loops=False)
        return graph

    def add_edges(self, edges: Edges, *, nodes: Optional[int] = None, name: Optional[str] = None, weight: float = 1.0,
                  self_loops: bool = True) -> "Graph":
        """Adds a head with edges (from, to) or (from, to, strength); on as many nodes as the others, unless it is the first."""
        try:
            if isinstance(edges, (str, bytes)):
                raise TypeError
            rows = [tuple(edge) for edge in edges]
        except TypeError:
            _options.refuse("edges", edges, "a list of edges (from, to) or (from, to, strength)")
        for row in rows:
            if len(row) not in (2, 3):
                raise InputError(f"edges: {_options.shown(row)}: an edge is (from, to) or (from, to, strength)")
        ends = whole_numbers([row[:2] for row in rows] if rows else np.empty((0, 2)), "edges")
        strengths = numbers([row[2] if len(row) == 3 else 1.0 for row in rows], "strengths")
        size = self.nodes if nodes is None else _options.whole(nodes, "nodes")
        columns = [np.ascontiguousarray(ends[:, k]).ctypes.data_as(ctypes.POINTER(c_int64)) for k in range(2)]
        self._add("edges", name, weight, size, *columns, strengths.ctypes.data_as(ctypes.POINTER(c_double)), len(rows),
                  _options.flag(self_loops, "self_loops"))
        return self

    def add_generated(self, generator: str, *, name: Optional[str] = None, weight: float = 1.0,
                      self_loops: bool = True) -> "Graph":
        """Adds a generated head."""
        self._add("generated", name, weight, _options.encoded_text(generator, "generator"), _options.flag(self_loops, "self_loops"))
        return self

    def add_matrix(self, matrix: Any, *, name: Optional[str] = None, weight: float = 1.0) -> "Graph":
        """Adds a causal attention matrix as a head."""
        view = matrix_of(matrix, "matrix")
        if view.shape[0] != view.shape[1]:
            raise InputError(f"matrix: an attention matrix is square, not of shape {view.shape}")
        self._add("matrix", name, weight, view.pointer, view.code, view.shape[0], (c_int64 * 2)(*view.strides))
        return self

    def _add(self, kind: str, name: Optional[str], weight: float, *arguments: Any) -> None:
        _library.check(getattr(_library.lib, f"sg_graph_add_{kind}")(
            self._handle.pointer, None if name is None else _options.encoded_text(name, "name"), _options.number(weight, "weight"),
            *arguments))

    def name_nodes(self, names: Sequence[str]) -> "Graph":
        """Gives every node a name."""
        listed = _options.texts(names, "names", "a list of texts")
        if isinstance(listed, str):
            _options.refuse("names", names, "a list of texts")
        given = [_options.text(name, "names") for name in listed]
        _library.check(_library.lib.sg_graph_name_nodes(self._handle.pointer, _library.names(given), len(given)))
        return self

    def _size(self) -> Tuple[int, int]:
        heads, nodes = c_int64(), c_int64()
        _library.check(_library.lib.sg_graph_size(self._handle.pointer, byref(heads), byref(nodes)))
        return heads.value, nodes.value

    @property
    def heads(self) -> int:
        """How many there are."""
        return self._size()[0]

    @property
    def nodes(self) -> int:
        """How many there are."""
        return self._size()[1]

    def to_text(self) -> str:
        """The text format of docs/formats.md."""
        return _library.text("sg_graph_text", self._handle.pointer)

    def to_dot(self) -> str:
        """Graphviz's language."""
        return _library.text("sg_graph_dot", self._handle.pointer)

    def _masks(self) -> NDArray[np.bool_]:
        """(head, query, key)."""
        masks = np.zeros((self.heads, self.nodes, self.nodes), dtype=bool)
        for mask, head in zip(masks, json.loads(_library.text("sg_graph_json", self._handle.pointer))["heads"]):
            ends = np.array([(edge["to"], edge["from"]) for edge in head["edges"]], dtype=np.int64).reshape(-1, 2)
            mask[ends[:, 0], ends[:, 1]] = True
        return masks

    def mask(self, head: int = 0, *, torch: bool = False, device: Any = None) -> Any:
        """Boolean mask (query, key) of a head: True where the query may attend to the key. With `torch`, a tensor on `device`.

        >>> Graph.generate("chain:3").mask().astype(int).tolist()
        [[1, 0, 0], [1, 1, 0], [0, 1, 1]]
        """
        masks = self._masks()
        mask = masks[_options.whole(head, "head", len(masks) - 1)]
        return in_torch(mask, device) if _options.flag(torch, "torch") else mask

    def mask_mod(self, device: Any = None) -> MaskMod:
        """Function (batch, head, query, key) for `create_block_mask` of torch's flex attention.

        Attention head h has the edges of the graph's head h. If the graph has one head, all attention heads have its edges.
        """
        return mask_mod_of(self._masks(), device)

    def as_attention(self) -> Attention:
        """The graph as one layer on one sample."""
        return Attention(_library.make("attention", "sg_graph_attention", self._handle.pointer), ())

    def measure(
        self, *, weights: Optional[Sequence[float]] = None, convention: str = "exact",
        # settings: graph
        normalization: Optional[str] = None,
        nodes: Optional[str] = None,
        from_tokens: Union[int, str, Sequence[int], None] = None,
        horizon: Union[int, str, None] = None,
        eps: Union[float, Sequence[float], None] = None,
        cutoff: Optional[int] = None,
        step_limit: Optional[int] = None,
        backward: bool = False,
        # end of settings
        threads: Optional[int] = None, memory: Optional[int] = None, progress: Progress = None,
    ) -> GraphResult:
        """Mixing time and fidelity of each head and of all together; options as those of `measure`.

        >>> result = Graph.example(1).measure()
        >>> result.mixing_time, result.heads["mixing_time_0.25"]
        (10.0, array([inf, inf]))
        """
        from ._measure import settings_of

        options = settings_of("graph", locals())
        options["weights"] = None if weights is None else numbers(weights, "weights").tolist()
        with progress_function(progress, "head") as hear:
            return GraphResult(_library.run_made(
                "result", "sg_graph_measure", (self._handle.pointer, _library.encoded(options)), threads=threads, memory=memory,
                progress=hear, long=self.heads * self.nodes**3 > 10**6, keep=self._handle))

    def signal_curves(self, steps: int = 20) -> NDArray[np.float64]:
        """The signal of every node at the sink: see `signal_curves`."""
        return self.as_attention().curves(0, 0, _options.whole(steps, "steps"))

    def __repr__(self) -> str:
        heads, nodes = self._size()
        return f"<synergraph.Graph: {heads} head{'' if heads == 1 else 's'} on {nodes} node{'' if nodes == 1 else 's'}>"

    def __reduce__(self) -> Any:
        return (Graph.parse, (self.to_text(),)) if self.heads else (Graph, ())
