"""What each head adds to the attention graph."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from . import _library
from ._attention import Attention, Axes, LayerNumbers
from ._graph import Graph
from ._measure import open_attention, settings_of, source_of, with_settings
from ._progress import Progress
from ._result import Numbers, Paged

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

Values = Union[str, Sequence[str]]


class HeadValues(Paged):
    """What the heads of each layer are worth: see `heads`.

    `result.fidelity["shapley"]`, or `result["fidelity/shapley"]`, has the axes `dims` (layers, if the attention had any) and then
    the heads; its standard errors over samples are `"shapley_error"`.
    """

    def __init__(self, handle: _library.Handle, dims: Tuple[str, ...]) -> None:
        self.dims = tuple(dim for dim in dims if dim == "layer")
        super().__init__(handle)

    def _set(self, arrays: Dict[str, Tuple[Tuple[str, ...], NDArray[Any]]]) -> None:
        if "layer" not in self.dims:
            arrays = {name: (axes[1:], values[0]) if axes[:1] == ("layer",) else (axes, values)
                      for name, (axes, values) in arrays.items()}
        self.weights: NDArray[np.float64] = arrays.pop("weights")[1]
        super()._set(arrays)

    def _part(self, name: str) -> Numbers:
        begin = name + "/"
        return Numbers({key[len(begin):]: np.asarray(self[key]) for key in self if key.startswith(begin)})

    @property
    def value_names(self) -> List[str]:
        """What heads were valued by: "fidelity", "speed", "loss"."""
        return [name for name in ("fidelity", "speed", "loss") if f"{name}/all" in self]

    @property
    def fidelity(self) -> Numbers:
        """What heads are worth by the minimax fidelity: `all`, `shapley`, `banzhaf`, `alone`, `dropped`, `pairs`, ..."""
        return self._part("fidelity")

    @property
    def speed(self) -> Numbers:
        """The same by the speed: the share of `cutoff` steps that a walk saves on its way to the sink."""
        return self._part("speed")

    @property
    def loss(self) -> Numbers:
        """What the model's loss needs of them, where that was measured (`Model.value_heads`, `ablate`): how much the loss falls."""
        return self._part("loss")

    @property
    def stack(self) -> Numbers:
        """All layers applied once each, where `stack` was asked for: `signal`, `heads`, `residual`, ..."""
        return self._part("stack")

    @property
    def layers(self) -> List[str]:
        """The layers' names."""
        return [str(layer["name"]) for layer in self.to_dict()["layers"]]

    @property
    def summary(self) -> List[str]:
        """What stands out, in words."""
        return [str(line) for line in self.to_dict()["summary"]]

    def to_pandas(self) -> "pandas.DataFrame":
        """One row a layer, value and head: the program's CSV, with the names of layers and heads as they are."""
        import pandas

        def name(cell: str) -> str:
            return cell[1:] if cell[:1] == "'" else cell  # that keeps spreadsheets from running it

        frame = pandas.read_csv(io.StringIO(self.to_csv(), newline=""), converters={"layer": name, "head": name}, keep_default_na=False,
                                na_values=[""], float_precision="round_trip")
        if frame["head"].str.fullmatch("[0-9]+").all():
            frame["head"] = frame["head"].astype("int64")
        return frame

    def _repr_html_(self) -> str:
        from ._html import html_heads

        return html_heads(self.to_dict())

    def plot(self, **options: Any) -> "Figure":
        """Shapley values of the heads, and how many heads are enough, by layer (matplotlib).

        `options` go to `matplotlib.pyplot.subplots`, such as `figsize=(7, 3)`.
        """
        from ._plot import plot_heads

        return plot_heads(self, **options)


def heads_of(attention: Attention, options: Dict[str, Any], *, threads: Optional[int], memory: Optional[int],
             progress: Progress) -> HeadValues:
    """Values the heads of what is ready to be measured."""
    return HeadValues(attention.run("sg_heads", options, threads=threads, memory=memory, progress=progress, unit="step"), attention.dims)


@with_settings("heads")
def heads(
    attention: Any,
    weights: Any = None,
    convention: str = "exact",
    *,
    # settings: heads
    layers: LayerNumbers = None,
    axes: Axes = None,
    sink: Any = None,
    lengths: Any = None,
    padding: str = "right",
    row_tolerance: Optional[float] = None,
    missing_mass: Optional[str] = None,
    device: Optional[str] = None,
    normalization: Optional[str] = None,
    nodes: Optional[str] = None,
    from_tokens: Union[int, str, Sequence[int], None] = None,
    horizon: Union[int, str, None] = None,
    cutoff: Optional[int] = None,
    step_limit: Optional[int] = None,
    values: Union[str, Sequence[str], None] = None,
    keep: Optional[float] = None,
    weight_samples: Optional[int] = None,
    exact_heads: Optional[int] = None,
    null_samples: Optional[int] = None,
    precision: Optional[float] = None,
    orders: Optional[int] = None,
    loss: Optional[str] = None,
    ablation: Optional[str] = None,
    edges: Optional[str] = None,
    stack: bool = False,
    residual: Optional[float] = None,
    follow: Optional[int] = None,
    method: Optional[str] = None,
    verbose: bool = False,
    # end of settings
    moved: Optional[Dict[str, Any]] = None,
    threads: Optional[int] = None,
    memory: Optional[int] = None,
    progress: Progress = None,
) -> HeadValues:
    """What each head adds to the attention graph: every subset of a layer's heads, which are redundant, and how few are enough.

    `attention` is what `measure` takes, or a `Graph`.

    >>> import numpy as np
    >>> attention = np.array([[[1, 0, 0], [0, 1, 0], [0.75, 0.25, 0]],
    ...                       [[1, 0, 0], [0, 1, 0], [0.25, 0.75, 0]],
    ...                       [[1, 0, 0], [0, 1, 0], [0.25, 0.75, 0]]])
    >>> result = heads(attention, values="fidelity", keep=0.9)
    >>> result.fidelity["all"], result.fidelity["shapley"].round(4)
    (0.4166666666666667, array([0.2222, 0.0972, 0.0972]))
    >>> result.fidelity["pairs"][1, 2].round(4)    # the last two heads are the same
    -0.2917
    >>> result.fidelity["smallest"]                # two heads keep 90 %
    array([1, 1, 0])

    - `axes`, `layers`, `lengths`, `padding`, `sink`: as in `measure`, with one convention.
    (settings)
    - `weights`, `moved`, `threads`, `memory`, `progress`: as in `measure`. Of several sinks, numbers are means over them.

    "Which head carries token 5 to token 20?" is `heads(attention, from_tokens=5, sink=20).fidelity["shapley"]`.
    """
    options = settings_of("heads", locals())
    if isinstance(attention, Graph):
        opened = attention.as_attention()
    else:
        opened = open_attention(attention, axes=axes, layers=layers, lengths=lengths, padding=padding, sink=sink,
                                row_tolerance=row_tolerance, missing_mass=missing_mass)
    if weights is not None:
        opened.set_weights(weights)
    if moved is not None:
        opened.set_moved(moved)
    result = heads_of(opened, options, threads=threads, memory=memory, progress=progress)
    if not isinstance(attention, Graph):
        result._source = source_of(attention, weights, axes=axes, layers=layers, lengths=lengths, padding=padding, sink=sink,
                                   row_tolerance=row_tolerance, missing_mass=missing_mass)
    return result
