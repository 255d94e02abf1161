"""Search for sparse graphs of high fidelity."""

from __future__ import annotations

import json
import shutil
from typing import Any, Dict, List, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from . import _library, _options
from ._masks import in_torch
from ._measure import settings_of, with_settings
from ._progress import Progress, progress_function
from ._result import PICKLED_WIDTHS, arrays_in
from ._sparse import SparseGraph


class Design(Dict[str, Any]):
    """A design that a search found: its numbers, as `synergraph design --json` has them, and a graph for each head."""

    def __init__(self, numbers: Dict[str, Any], graphs: List[SparseGraph]) -> None:
        super().__init__(numbers)
        self.graphs = graphs  #: one SparseGraph for each head

    @property
    def fidelity(self) -> float:
        """Minimax fidelity of the heads together."""
        return float(self["numbers"]["minimax_fidelity"])

    def masks(self, *, torch: bool = False, device: Any = None) -> Any:
        """Boolean masks (head, query, key): True where the query may attend to the key. With `torch`, a tensor on `device`."""
        masks = np.stack([graph.mask() for graph in self.graphs])
        return in_torch(masks, device) if _options.flag(torch, "torch") else masks

    def __repr__(self) -> str:
        numbers = self["numbers"]
        heads = f"{len(self.graphs)} heads" if len(self.graphs) > 1 else "1 head"
        return (f"<synergraph.Design: {heads}, {self['edges']} edges on {self.graphs[0].nodes} nodes, "
                f"F {numbers['normalised_fidelity']:.4g}, T_avg {numbers['averaged_mixing_time']:g}>")


class Designs(List[Design]):
    """The best design of every search, the most faithful first."""

    _tables: Dict[int, str]  # of a result that was pickled, by columns

    def __init__(self, handle: _library.Handle) -> None:
        self._json = _library.text("sg_result_json", handle.pointer)
        self._handle = handle
        document = self.to_dict()
        arrays = arrays_in(handle)
        first, receivers = arrays["first"][1], arrays["receivers"][1]
        super().__init__(Design(numbers, [_rows(first[d, h], receivers) for h in range(first.shape[1])])
                         for d, numbers in enumerate(document["designs"]))
        self.finished: bool = document["finished"]  #: all moves that were asked for were tried
        self.steps: int = document["steps"]  #: moves that each search tried

    @property
    def best(self) -> Design:
        """The most faithful design."""
        return self[0]

    @property
    def front(self) -> List[Design]:
        """The Pareto front of edges, averaged mixing time and fidelity."""
        return [design for design in self if design["front"]]

    def to_json(self) -> str:
        """The document that the program writes with --json: docs/documents.md."""
        return self._json

    def to_dict(self) -> Dict[str, Any]:
        """The same, parsed."""
        document: Dict[str, Any] = json.loads(self._json)
        return document

    def table(self, columns: int = 0) -> str:
        """The program's table, for so many columns; 0: as wide as it is. Of a pickled result: for tens of columns."""
        columns = _options.whole(columns, "columns")
        if "_handle" not in self.__dict__:
            return self._tables[columns if columns == 0 else max((width for width in PICKLED_WIDTHS if width <= columns), default=PICKLED_WIDTHS[0])]
        return _library.text("sg_result_table", self._handle.pointer, columns)

    def __getstate__(self) -> Dict[str, Any]:
        state = {name: value for name, value in self.__dict__.items() if name != "_handle"}
        return {**state, "_tables": {columns: self.table(columns) for columns in (0, *PICKLED_WIDTHS)}}

    def __repr__(self) -> str:
        return self.table(shutil.get_terminal_size((100, 24)).columns).rstrip("\n")


def _rows(first: NDArray[Any], receivers: NDArray[Any]) -> SparseGraph:
    return SparseGraph._of_rows(first - first[0], receivers[first[0]:first[-1]])


@with_settings("design")
def design(
    size: Optional[int] = None,
    *,
    # settings: design -size
    indegree: Optional[str] = None,
    edges: Optional[int] = None,
    heads: Optional[int] = None,
    averaged_mixing: Optional[int] = None,
    mixing: Optional[int] = None,
    eps: Optional[float] = None,
    starts: Union[str, Sequence[str], None] = None,
    levels: Optional[int] = None,
    seed: Optional[int] = None,
    steps: Optional[int] = None,
    seconds: Optional[float] = None,
    state: Optional[str] = None,
    # end of settings
    threads: Optional[int] = None,
    progress: Progress = None,
) -> Designs:
    """Searches for sparse graphs, or heads, of high minimax fidelity, as `synergraph design` does (docs/graphs.md).

    The result is a list of designs, the most faithful first. Each has its numbers, a graph for each head, and masks.

    (settings)

    >>> designs = design(16, indegree="3", heads=2, steps=500)
    >>> designs.best["certified"], designs.best["edges"] <= 64, designs.best.masks().shape
    (True, True, (2, 16, 16))
    """
    options = settings_of("design", locals())
    with progress_function(progress, "move") as hear:
        return Designs(_library.run_made("result", "sg_design", (_library.encoded(options),), threads=threads, progress=hear))
