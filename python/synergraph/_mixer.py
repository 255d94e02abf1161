"""One system of heads at any weights."""

from __future__ import annotations

import json
from ctypes import POINTER, c_double
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from . import _library
from ._attention import Axes, LayerNumbers
from ._graph import Graph
from ._measure import open_attention, settings_of, with_settings
from ._options import encoded_text, flag, whole
from ._progress import Progress, progress_function
from ._result import GraphResult, Numbers, arrays_in
from ._views import numbers


class Subsets(NamedTuple):
    """The values of all subsets of the heads by one value, "fidelity" or "speed": see `Mixer.subsets`."""

    #: Value of every subset. Bit h of the index says whether head h is in the subset.
    table: NDArray[np.float64]
    #: Shapley value of each head.
    shapley: NDArray[np.float64]
    #: Banzhaf value of each head.
    banzhaf: NDArray[np.float64]
    #: Shapley interaction index of each pair of heads, a symmetric matrix. Positive: the heads complement each other.
    pairs: NDArray[np.float64]
    #: Heads of the best subset of every size, from no head to all heads.
    best: List[List[int]]


def _subsets(document: Dict[str, Any], heads: int) -> Subsets:
    pairs = np.zeros((heads, heads))
    for pair in document["pairs"]:
        a, b = pair["heads"]
        pairs[a, b] = pairs[b, a] = pair["interaction"]
    best = [[h for h in range(heads) if choice["subset"] >> h & 1] for choice in document["best"]]
    return Subsets(np.array(document["table"]), np.array(document["shapley"]), np.array(document["banzhaf"]), pairs, best)


@with_settings("graph")
class Mixer:
    """The heads of one layer on one sample, held in memory and measured at any weights.

    The library reads and measures each head once, when the mixer is made. `update` then only measures the combination.

    >>> import numpy as np
    >>> attention = np.array([[[1, 0, 0], [0, 1, 0], [0.75, 0.25, 0]],
    ...                       [[1, 0, 0], [0, 1, 0], [0.25, 0.75, 0]]])
    >>> mixer = Mixer(attention)
    >>> mixer.update([3, 1]).fidelity, mixer.update([1, 1]).fidelity
    (0.375, 0.5)
    >>> mixer.subsets()["fidelity"].shapley
    array([0.25, 0.25])
    >>> round(mixer.best_weights()["value"], 9)
    0.5
    >>> mixer.curves(1)["signal"][-1]
    array([[0. , 0. , 1. ],
           [0.5, 0.5, 0. ]])

    Parameters
    ----------
    attention
        Attention that `measure` takes, or a `Graph`.
    weights
        Initial weights of the heads, (heads) or (layers, heads). Default: equal weights, or the weights of the graph.
    convention
        "exact" or "published".
    layer, sample
        Place of the layer and of the sample, counted from 0.
    axes, layers, lengths, padding, sink, row_tolerance, missing_mass
        Options of `measure`.
    threads, memory, progress
        How the heads are measured: options of `measure`.

    Notes
    -----
    The other options:

    (settings)

    The weights of every method are at least 0 and not all 0. The library normalises them. None stands for the initial weights.
    """

    def __init__(
        self,
        attention: Any,
        weights: Any = None,
        convention: str = "exact",
        *,
        layer: int = 0,
        sample: int = 0,
        axes: Axes = None,
        lengths: Any = None,
        padding: str = "right",
        sink: Any = None,
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
        row_tolerance: Optional[float] = None,
        missing_mass: Optional[str] = None,
        layers: LayerNumbers = None,
        threads: Optional[int] = None,
        memory: Optional[int] = None,
        progress: Progress = None,
    ) -> None:
        options = settings_of("graph", locals())
        if isinstance(attention, Graph):
            opened = attention.as_attention()
        else:
            opened = open_attention(attention, axes=axes, layers=layers, lengths=lengths, padding=padding, sink=sink,
                                    row_tolerance=row_tolerance, missing_mass=missing_mass)
        if weights is not None:
            opened.set_weights(weights)
        place = (whole(layer, "layer"), whole(sample, "sample"))
        self._handle = opened.run("sg_mixer_create", options, threads=threads, memory=memory, progress=progress, kind="mixer", place=place)
        self._first = self.update()

    @property
    def heads(self) -> Numbers:
        """Numbers of each head alone, which do not depend on weights."""
        return self._first.heads

    @property
    def weights(self) -> NDArray[np.float64]:
        """The initial weights, normalised."""
        return self._first.weights

    def _at(self, weights: Any) -> Tuple[Any, ...]:
        """The first arguments of a call."""
        if weights is None:
            return self._handle.pointer, None, 0
        given = np.ascontiguousarray(numbers(weights, "weights").ravel())
        return self._handle.pointer, given.ctypes.data_as(POINTER(c_double)), given.size

    def update(self, weights: Any = None) -> GraphResult:
        """Measures the heads at these weights.

        Parameters
        ----------
        weights
            One number for each head. Default: the initial weights.

        Returns
        -------
        GraphResult
            The result of `Graph.measure`: `fidelity`, `mixing_time`, `synergy`, `["hitting_time"]`, ...
        """
        return GraphResult(_library.run_made("result", "sg_mixer_measure", self._at(weights), keep=self))

    def subsets(self, weights: Any = None, *, threads: Optional[int] = None, memory: Optional[int] = None,
                progress: Progress = None) -> Dict[str, Subsets]:
        """Measures every subset of the heads, for at most 20 heads. The weights are normalised in each subset.

        Parameters
        ----------
        weights
            One number for each head. Default: the initial weights.

        Returns
        -------
        dict
            A `Subsets` for "fidelity" and one for "speed".
        """
        document = self._document("sg_mixer_subsets", self._at(weights), threads, memory, progress)
        return {value["value"]: _subsets(value, document["heads"]) for value in document["values"]}

    def best_weights(self, goal: str = "fidelity", weights: Any = None, *, threads: Optional[int] = None, memory: Optional[int] = None,
                     progress: Progress = None) -> Dict[str, Any]:
        """Searches for the best weights.

        Parameters
        ----------
        goal
            "fidelity", "speed" or "hitting-time".
        weights
            Weights that the search starts from. Default: the initial weights.

        Returns
        -------
        dict
            "weights", an array; "value", the goal at the weights; "given_value", the goal at the start; "bound", which no weights
            exceed; and the other fields of `BestWeights` in docs/documents.md.
        """
        arguments = (*self._at(weights), encoded_text(goal, "goal"))
        document = self._document("sg_mixer_best_weights", arguments, threads, memory, progress)
        document["weights"] = np.array(document["weights"])
        return document

    def _document(self, function: str, arguments: Tuple[Any, ...], threads: Optional[int], memory: Optional[int],
                  progress: Progress) -> Dict[str, Any]:
        with progress_function(progress, "step") as hear:
            text = _library.run_text(function, arguments, threads=threads, memory=memory, progress=hear, keep=(self, arguments))
        document: Dict[str, Any] = json.loads(text)
        return document

    def curves(self, steps: int = 100, weights: Any = None, *, signal: bool = True) -> Numbers:
        """Computes curves over 0 to `steps` steps, for each head and, last, for all heads together.

        Parameters
        ----------
        steps
            Last step.
        weights
            One number for each head. Default: the initial weights.
        signal
            False leaves "signal" out, the largest array.

        Returns
        -------
        Numbers
            Arrays (heads + 1, steps + 1): "survival", the largest probability that a walk has not reached the sink;
            "mean_survival", its mean over the nodes; "minimax_fidelity" within the first steps. "signal" is
            (heads + 1, steps + 1, nodes): the signal of each node at the sink.
        """
        options = _library.encoded({"steps": whole(steps, "steps"), "signal": flag(signal, "signal")})
        handle = _library.run_made("result", "sg_mixer_curves", (*self._at(weights), options), keep=self)
        return Numbers({name: values for name, (_, values) in arrays_in(handle).items()})

    def __repr__(self) -> str:
        return f"<synergraph.Mixer: {self.weights.size} head{'' if self.weights.size == 1 else 's'}>"
