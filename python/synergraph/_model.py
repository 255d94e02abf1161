"""Models of the paper's kind."""

from __future__ import annotations

import ctypes
import json
from ctypes import c_float, c_int32
from typing import Any, Optional, Sequence, Tuple, TypeVar, Union

import numpy as np
from numpy.typing import NDArray

from . import _library, _options
from ._attention import Attention, Path
from ._errors import UsageError
from ._heads import HeadValues, heads_of
from ._measure import Convention, measure_attention, settings_of
from ._page import Source
from ._progress import Progress
from ._result import Measurement, Paged
from ._views import tokens_of, whole_numbers


Shown = TypeVar("Shown", bound=Paged)


def _shown(result: Shown, attention: Attention) -> Shown:
    """A result whose page has the model's attention, which is computed when it is read."""
    result._source = Source(lambda given: attention)
    return result


class Model:
    """A Transformer from a checkpoint: see `load_model`."""

    def __init__(self, handle: _library.Handle) -> None:
        self._handle = handle
        sizes = json.loads(_library.text("sg_model_json", handle.pointer))
        self.vocabulary: int = sizes["vocabulary"]  #: tokens are 0 to vocabulary - 1
        self.length: int = sizes["length"]  #: tokens of every sequence
        self.width: int = sizes["width"]
        self.heads: int = sizes["heads"]  #: of a layer
        self.layers: int = sizes["layers"]
        self.hidden: int = sizes["hidden"]

    def __copy__(self) -> "Model":
        return Model(self._handle)  # nothing changes a model: copies share it

    def __deepcopy__(self, memo: Any) -> "Model":
        return Model(self._handle)

    def __reduce__(self) -> Any:
        raise TypeError("a Model cannot be pickled: load its checkpoint again with load_model where it is needed")

    def __repr__(self) -> str:
        return (f"<synergraph.Model: {self.layers} layers of {self.heads} heads, width {self.width}, "
                f"{self.length} tokens of {self.vocabulary} kinds>")

    def _tokens(self, tokens: Any) -> NDArray[np.int32]:
        return tokens_of(np.atleast_2d(whole_numbers(tokens, "tokens")), "tokens", self.vocabulary - 1)

    def _attention(self, tokens: Any, task: Optional[str], samples: Optional[int], seed: Optional[int],
                   sink: Optional[int], device: Optional[str] = None) -> Attention:
        given: Tuple[Any, ...] = (None, 0, 0)
        if tokens is not None:
            array = self._tokens(tokens)
            given = (array.ctypes.data_as(ctypes.POINTER(c_int32)), *array.shape)
        prefix = None if sink is None else [0, _options.whole(sink, "sink", 2**31 - 2) + 1]
        options = {"task": task, "samples": samples, "seed": seed, "range": prefix, "device": device}
        handle = _library.make("attention", "sg_model_attention", self._handle.pointer, *given, _library.encoded(options))
        return Attention(handle, ("layer", "sample"))

    def _weighted(self, attention: Attention, weights: Any) -> Attention:
        """The same with these weights: those that the model has learned, equal ones, or numbers."""
        if isinstance(weights, str) and weights not in ("learned", "uniform"):
            raise UsageError(f"weights: {_options.shown(weights)} is neither 'learned' nor 'uniform'")
        if weights is not None and not isinstance(weights, str):
            attention.set_weights(weights)
        elif weights == "uniform":
            attention.set_weights(np.ones(self.heads))
        return attention

    def logits(self, tokens: Any, *, threads: Optional[int] = None) -> NDArray[np.float32]:
        """What the model answers to sequences (samples, length): (samples, length, vocabulary)."""
        array = self._tokens(tokens)
        into = np.empty((*array.shape, self.vocabulary), dtype=np.float32)
        _library.run("sg_model_run", (self._handle.pointer, array.ctypes.data_as(ctypes.POINTER(c_int32)), *array.shape),
                     (into.ctypes.data_as(ctypes.POINTER(c_float)), into.size), threads=threads, keep=(self, array, into))
        return into

    def attention(self, tokens: Any, layer: int) -> NDArray[np.float64]:
        """The attention of a layer on sequences (samples, length): (samples, heads, length, length)."""
        layer = _options.whole(layer, "layer", self.layers - 1)
        made = self._attention(tokens, None, None, None, None)
        return np.stack([made.read(layer, sample) for sample in range(made.shape(layer)[0])])

    def measure(
        self, tokens: Any = None, *, sink: Optional[int] = None, weights: Any = None, convention: Convention = "exact",
        # settings: model_attention
        task: Optional[str] = None,
        samples: Optional[int] = None,
        seed: Optional[int] = None,
        device: Optional[str] = None,
        # end of settings
        # settings: measure Measurement -device
        normalization: Optional[str] = None,
        nodes: Optional[str] = None,
        from_tokens: Union[int, str, Sequence[int], None] = None,
        horizon: Union[int, str, None] = None,
        eps: Union[float, Sequence[float], None] = None,
        cutoff: Optional[int] = None,
        step_limit: Optional[int] = None,
        edges: Optional[str] = None,
        per_head: bool = False,
        backward: bool = False,
        per_node: bool = False,
        # end of settings
        threads: Optional[int] = None, memory: Optional[int] = None, progress: Progress = None,
    ) -> Measurement:
        """Measures every layer on sequences (samples, length), or on `samples` random ones drawn from `seed`.

        With a `task` ("copy", "cycle", "recall", ...) the random sequences are those of the task, and the task judges the model's
        answers: `to_dict()["task"]`. `weights` are
        "learned" (default), "uniform" or numbers. The other options are those of `measure`.
        """
        options = settings_of("measure", locals())
        attention = self._weighted(self._attention(tokens, task, samples, seed, sink, device), weights)
        return _shown(measure_attention(attention, options, threads=threads, memory=memory, progress=progress), attention)

    def value_heads(
        self, tokens: Any = None, *, sink: Optional[int] = None, weights: Any = None, convention: str = "exact",
        # settings: model_attention
        task: Optional[str] = None,
        samples: Optional[int] = None,
        seed: Optional[int] = None,
        device: Optional[str] = None,
        # end of settings
        # settings: heads Measurement Through_the_layers Output -device
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
        threads: Optional[int] = None, memory: Optional[int] = None, progress: Progress = None,
    ) -> HeadValues:
        """What the heads of every layer add, on sequences as those of `measure`: see `heads`."""
        options = settings_of("heads", locals())
        attention = self._weighted(self._attention(tokens, task, samples, seed, sink, device), weights)
        return _shown(heads_of(attention, options, threads=threads, memory=memory, progress=progress), attention)


def load_model(path: Path, heads: Optional[int] = None) -> Model:
    """The model in a checkpoint of `synergraph train` or of the paper's authors; `heads` where the file does not say how many."""
    return Model(_library.make("model", "sg_model_open", _library.path_bytes(path), _library.encoded({"heads": heads})))
