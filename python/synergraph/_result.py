"""What was measured."""

from __future__ import annotations

import ctypes
import itertools
import html
import json
import shutil
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Tuple

import numpy as np
from numpy.typing import NDArray

from . import _library, _options, _page
from ._page import Source

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from ._attention import Attention


def arrays_in(handle: _library.Handle) -> Dict[str, Tuple[Tuple[str, ...], NDArray[Any]]]:
    """Copies of the arrays of a result, with the names of their axes."""
    arrays: Dict[str, Tuple[Tuple[str, ...], NDArray[Any]]] = {}
    for index in itertools.count():
        found = _library.lib.sg_result_array(handle.pointer, index)
        if not found:
            break
        array = found.contents
        shape = tuple(array.shape[:array.rank])
        dtype = np.float64 if array.dtype == _library.FLOAT64 else np.int64
        count = int(np.prod(shape, dtype=np.int64))
        values: NDArray[Any] = np.frombuffer(ctypes.string_at(array.data, 8 * count), dtype=dtype).reshape(shape)
        arrays[array.name.decode()] = (tuple(array.axes.decode().split()), values)
    return arrays


#: Columns that the tables of pickled results are laid out for.
PICKLED_WIDTHS = range(40, 201, 10)


class Numbers(Mapping[str, Any]):
    """Arrays by the names of their quantities."""

    def __init__(self, arrays: Dict[str, NDArray[Any]]) -> None:
        self._arrays = arrays

    def __getitem__(self, quantity: str) -> Any:
        if quantity not in self._arrays:
            raise KeyError(f"{quantity!r} is not one of {', '.join(self._arrays)}" if self._arrays else f"{quantity!r}: there are no numbers")
        values = self._arrays[quantity]
        return values if values.ndim else values.item()

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __repr__(self) -> str:
        return f"Numbers({', '.join(self._arrays)})"


class Document(Mapping[str, Any]):
    """Numbers by their names, and the texts that the program writes of them."""

    #: Names of the axes that every number has.
    dims: Tuple[str, ...] = ()

    _tables: Dict[int, str]  # of a result that was pickled, by columns
    _source: Optional[Source] = None  # of attention, where a page can be made

    def __init__(self, handle: _library.Handle) -> None:
        self._texts: Dict[str, str] = {}
        self._handle = handle
        self._set(arrays_in(handle))

    def _set(self, arrays: Dict[str, Tuple[Tuple[str, ...], NDArray[Any]]]) -> None:
        self._all = Numbers({name: values for name, (_, values) in arrays.items()})

    def __getitem__(self, quantity: str) -> Any:
        return self._all[quantity]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def _text(self, kind: str, *arguments: Any) -> str:
        if kind not in self._texts:
            self._texts[kind] = _library.text(f"sg_result_{kind}", self._handle.pointer, *arguments)
        return self._texts[kind]

    def to_json(self) -> str:
        """The document that the program writes with --json: docs/documents.md."""
        return self._text("json")

    def to_dict(self) -> Dict[str, Any]:
        """The same, parsed."""
        document: Dict[str, Any] = json.loads(self.to_json())
        return document

    def to_csv(self) -> str:
        """Numbers in full, as the program writes them."""
        return self._text("csv")

    def table(self, columns: int = 0) -> str:
        """The program's report, for so many columns; 0: as wide as it is. Of a result that was pickled: for tens of columns."""
        columns = _options.whole(columns, "columns")
        if columns == 0:
            return self._text("table", 0)
        if "_handle" in self.__dict__:
            return _library.text("sg_result_table", self._handle.pointer, columns)
        return self._tables[max((width for width in self._tables if width <= columns), default=min(self._tables))]

    def __repr__(self) -> str:
        return self.table(shutil.get_terminal_size((100, 24)).columns).rstrip("\n")

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.table())}</pre>"

    def _kept_texts(self) -> Tuple[str, ...]:
        return ("json", "csv", "table")

    def __copy__(self) -> "Document":
        return self  # nothing of it changes

    def __deepcopy__(self, _: object) -> "Document":
        return self

    def __getstate__(self) -> Dict[str, Any]:
        for kind in self._kept_texts():
            self._text(kind, *((0,) if kind == "table" else ()))
        state = {name: value for name, value in self.__dict__.items() if name not in ("_handle", "_source")}
        if "_handle" in self.__dict__:
            state["_tables"] = {width: self.table(width) for width in PICKLED_WIDTHS}
        return state


class Paged(Document):
    """A document of attention, which a page can show with it."""

    def page(
        self, path: Any, tokens: Any = None, *, attention: Any = None,
        # settings: write_page
        title: Optional[str] = None,
        page_samples: Optional[int] = None,
        # end of settings
    ) -> None:
        """Writes everything as an interactive page, one HTML file that needs no network: what the program writes with `--page`.

        - `tokens`: names of the tokens, one list for all samples or one list for each. A watched model whose tokenizer is known has them
          already: see `watch`.
        - `attention`: what was measured, if it is no longer in memory. Results do not keep attention.
        - `title`: name of the page. `page_samples`: samples whose attention is in the page (default: 10, or as many as 64 MiB hold).

        A warning says what was left out.
        """
        options = {"title": None if title is None else _options.text(title, "title"),
                   "page_samples": None if page_samples is None else _options.whole(page_samples, "page_samples")}
        _page.write(path, self.to_json(), self._source, options, tokens, attention)


class Result(Document):
    """Numbers by their names, and reports.

    `result["minimax_fidelity"]` is an array, or a number where nothing is counted; `result.heads["minimax_fidelity"]` has one
    more axis, that of the heads alone. A time that is never reached is infinite, a number that does not exist NaN.
    """

    #: The numbers of each head alone.
    heads: Numbers

    def _set(self, arrays: Dict[str, Tuple[Tuple[str, ...], NDArray[Any]]]) -> None:
        self.weights: NDArray[np.float64] = arrays.pop("weights")[1]
        self._all = Numbers({name: values for name, (_, values) in arrays.items() if not name.startswith("heads/")})
        self.heads = Numbers({name[6:]: values for name, (_, values) in arrays.items() if name.startswith("heads/")})

    @property
    def fidelity(self) -> Any:
        """The minimax fidelity of all heads together."""
        return self["minimax_fidelity"]

    @property
    def mixing_time(self) -> Any:
        """The mixing time of all heads together, for the first eps."""
        return self[next(name for name in self if name.startswith("mixing_time_"))]

    @property
    def synergy(self) -> Any:
        """The fidelity of all heads together over that of the best head."""
        return self["synergy"]


class GraphResult(Result):
    """What was measured of a graph: see `Graph.measure`."""

    def to_pandas(self) -> "pandas.DataFrame":
        """One row a head, and one for all together."""
        import pandas

        document = self.to_dict()
        names = [head["name"] for head in document["heads"]] + ["combined"]
        scalars = [name for name in self.heads if np.ndim(self.heads[name]) == 1]
        columns: Dict[str, Any] = {"weight": np.append(self.weights, 1.0)}
        columns.update((name, np.append(self.heads[name], self[name])) for name in scalars)
        return pandas.DataFrame(columns, index=pandas.Index(names, name="head"))

    def plot(self, **options: Any) -> "Figure":
        """Hitting time and fidelity of every node, by head and of all together (matplotlib).

        `options` go to `matplotlib.pyplot.subplots`, such as `figsize=(7, 3)`.
        """
        from ._plot import plot_nodes

        return plot_nodes(self, **options)


class Measurement(Result, Paged):
    """What was measured of attention: see `measure`."""

    def __init__(self, handle: _library.Handle, attention: "Attention", several: bool) -> None:
        self._attention_dims = attention.dims
        self._sinks = attention.sinks
        self.dims = (("convention",) if several else ()) + attention.dims
        super().__init__(handle)

    def _set(self, arrays: Dict[str, Tuple[Tuple[str, ...], NDArray[Any]]]) -> None:
        for name, (axes, values) in arrays.items():
            if self._sinks is not None and "sample" in axes:
                at = axes.index("sample")
                values = values.reshape(values.shape[:at] + (-1, len(self._sinks)) + values.shape[at + 1:])
                axes = axes[:at + 1] + ("sink",) + axes[at + 1:]
            left_out = [k for k, axis in enumerate(axes) if axis in ("convention", "layer", "sample") and axis not in self.dims]
            arrays[name] = (tuple(axis for k, axis in enumerate(axes) if k not in left_out), values.squeeze(tuple(left_out)))
        super()._set(arrays)

    @property
    def layers(self) -> List[str]:
        """The layers' names."""
        return [str(layer["name"]) for layer in self.to_dict()["conventions"][0]["layers"]]

    @property
    def conventions(self) -> List[str]:
        """The conventions that were measured."""
        return [str(convention["convention"]) for convention in self.to_dict()["conventions"]]

    @property
    def sinks(self) -> List[int]:
        """The sinks of every sample, as they were given: what the axis "sink" stands for."""
        return list(self._sinks or [])

    def to_pandas(self, heads: bool = False) -> "pandas.DataFrame":
        """One row a sample, or with `heads` one for every head of a sample. Layers have their names, several sinks are what was
        asked for, the rest is counted from 0."""
        import pandas

        numbers: Mapping[str, Any] = self.heads if heads else self
        dims = self.dims + (("head",) if heads else ())
        columns = {name: numbers[name] for name in numbers if np.ndim(numbers[name]) == len(dims)}
        shape = np.shape(next(iter(columns.values())))
        labels: Dict[str, Any] = {"layer": self.layers, "convention": self.conventions, "sink": self.sinks}
        rows: Dict[str, Any] = {}
        for dim, place in zip(dims, np.indices(shape)):
            rows[dim] = np.asarray(labels[dim])[place.ravel()] if dim in labels else place.ravel()
        if heads:
            weights = self.weights if "layer" in dims else self.weights[np.newaxis]
            layer = np.indices(shape)[dims.index("layer")].ravel() if "layer" in dims else 0
            rows["weight"] = weights[layer, rows["head"]]
        rows.update((name, np.ravel(values)) for name, values in columns.items())
        frame = pandas.DataFrame(rows)
        return frame[frame["minimax_fidelity"].notna()].reset_index(drop=True)

    def _repr_html_(self) -> str:
        from ._html import html_report

        return html_report(self.to_dict())

    def plot(self, **options: Any) -> "Figure":
        """Speed and fidelity by layer: medians over samples (and sinks), with bars from the 10 % to the 90 % quantile (matplotlib).

        `options` go to `matplotlib.pyplot.subplots`, such as `figsize=(7, 3)`.
        """
        from ._plot import plot_layers

        return plot_layers(self, **options)
