"""Watching the attention of a model while it runs."""

from __future__ import annotations

import warnings
import weakref
from types import TracebackType
from typing import Any, Dict, List, Optional, Sequence, Tuple, Type, TypeVar, Union

import numpy as np
from numpy.typing import NDArray

from ._attention import Attention
from ._errors import InputError, UsageError
from ._heads import HeadValues, heads_of
from ._live import masks
from ._live.arrays import as_float64, as_tensor, is_tensor
from ._live.modules import Chosen
from ._live.names import nearest
from ._live.recorder import Layer, Layers, Numbers, Recorder
from ._live.refusals import in_backward, warn_of
from ._live.samples import Sample, probabilities
from ._live.source import attention_of, refuse_not_causal, spans_of
from ._live.texts import Texts, is_tokenizer, names_of
from ._measure import Convention, measure_attention, settings_of
from ._options import flag, number, refuse, shown, text, whole
from ._page import Source
from ._progress import Progress
from ._result import Measurement, Paged
from ._views import lengths_of, numbers_array, whole_numbers

# Bytes that are worked in where heads are computed when they are read: at least these, and two matrices.
_MEMORY = 256 << 20


Shown = TypeVar("Shown", bound=Paged)


class Watch:
    """What a model's attention was while it ran: see `watch`."""

    def __init__(self, recorder: Recorder, sink: Any, lengths: Any, padding: str, tokenizer: Any = None) -> None:
        self._recorder = recorder
        self._tokenizer = tokenizer
        recorder.texts = None if tokenizer is None else Texts()
        self._sink = sink
        self._lengths = lengths
        self._padding = padding

    def __enter__(self) -> "Watch":
        self._recorder.start()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self._recorder.stop()

    def __repr__(self) -> str:
        layers = self._recorder.layers
        samples = max((len(layer.samples) for layer in layers.values()), default=0)
        return f"<synergraph.Watch: {len(layers)} layers, {samples} samples>"

    @property
    def layers(self) -> List[str]:
        """The names of the layers that were seen."""
        return list(self._recorder.layers)

    @property
    def refused(self) -> Dict[str, str]:
        """The layers that cannot be measured, and why."""
        return {name: layer.refused for name, layer in self._recorder.layers.items() if layer.refused is not None}

    def clear(self) -> None:
        """Forgets what was seen."""
        self._recorder.layers.clear()
        if self._recorder.texts is not None:
            self._recorder.texts.clear()

    @property
    def tokens(self) -> Optional[List[List[str]]]:
        """The names of the tokens of every sample, without padding, where a tokenizer and the model's input ids are known."""
        layers = [layer for layer in self._recorder.layers.values() if layer.refused is None and layer.samples]
        return self._names(layers[0], layers[0].samples) if layers else None

    def _names(self, layer: Layer, samples: List[Sample]) -> Optional[List[List[str]]]:
        texts = self._recorder.texts
        if texts is None:
            return None
        kept = {id(sample) for sample in samples}
        runs = [run for run in layer.runs if kept.issuperset(id(sample) for sample in layer.samples_of([run]))]
        ids = texts.of(layer.places_of(runs))
        if ids is None or [len(one) for one in ids] != [sample.tokens for sample in samples]:
            return None
        named = [names_of(self._tokenizer, one) for one in ids]
        return [named[at][begin:end] for at, begin, end in spans_of(samples, self._lengths, self._padding, self._sink)]

    def record(
        self, layer: Union[int, str], queries: Any, keys: Any, *, scaling: Optional[float] = None, mask: Any = None,
        padding: Any = None, causal: bool = True, window: Optional[int] = None, softcap: Optional[float] = None, sinks: Any = None,
        projection: Any = None, values: Any = None, residual: Any = None,
    ) -> None:
        """To be called from one's own attention code: the queries and keys of a layer, as they meet.

        - `queries` (samples, heads, tokens, width); `keys` the same, or of fewer heads, each for a group of queries.
        - `scaling` of scores; unless given, 1 / sqrt(width). `softcap`: scores s become softcap tanh(s / softcap).
        - `mask`: booleans (True: attends) or numbers to be added, (queries, keys) up to (samples, heads, queries, keys).
        - `padding` (samples, tokens): False or 0 where there is no token. `window`: tokens that one attends to, itself included.
        - `causal=False`: the mask alone says that no token attends to later ones.
        - `sinks`: one learned logit a head, that takes its part of every row: one more node, before the first token.
        - `projection`: the layer's output projection, for `result(weights="learned")`.
        - `values`, as `keys`, and `residual` (samples, tokens, E), for `watch(values=True)` and `result(edges=...)`.
        """
        queries, keys = as_tensor(queries, "queries"), as_tensor(keys, "keys")
        if queries.dim() == 3:
            queries, keys = queries.unsqueeze(0), keys.unsqueeze(0)
        if queries.dim() != 4 or keys.dim() != 4:
            raise InputError(f"queries of shape {tuple(queries.shape)}: expected (samples, heads, tokens, width)")
        into = None if in_backward() else self._recorder.layer(str(layer))
        if into is None:
            return
        self._recorder.keep_scores(
            into, queries=queries, keys=keys, mask=None if mask is None else masks.four_axes(as_tensor(mask, "mask")),
            padding=None if padding is None else self._padding_of(padding, queries.shape[0]), causal=flag(causal, "causal"),
            scaling=float(queries.shape[-1]) ** -0.5 if scaling is None else number(scaling, "scaling"),
            softcap=None if softcap is None else number(softcap, "softcap"),
            window=None if window is None else whole(window, "window", least=1),
            logits=None if sinks is None else as_tensor(sinks, "sinks").detach().reshape(-1), **self._moved(values, residual))
        self._learn(into, projection)

    @staticmethod
    def _moved(values: Any, residual: Any) -> Dict[str, Any]:
        """Values and residual with an axis of samples."""
        values = None if values is None else as_tensor(values, "values")
        residual = None if residual is None else as_tensor(residual, "residual")
        return {"values": values if values is None or values.dim() == 4 else values.unsqueeze(0),
                "residual": residual if residual is None or residual.dim() == 3 else residual.unsqueeze(0)}

    def _learn(self, into: Layer, projection: Any) -> None:
        if projection is None:
            return
        into.learn(lambda: projection)
        if self._recorder.keeps_values:
            into.keep_output(projection, None)

    @staticmethod
    def _padding_of(padding: Any, samples: int) -> Any:
        """Whether there is a token, (samples, tokens)."""
        tensor = as_tensor(padding, "padding")
        if tensor.numel() % samples != 0:
            raise InputError(f"padding: shape {tuple(tensor.shape)}, expected (samples, tokens) for {samples} samples")
        return tensor.reshape(samples, -1) != 0

    def record_weights(self, layer: Union[int, str], probabilities: Any, *, projection: Any = None, values: Any = None,
                       residual: Any = None) -> None:
        """The same for probabilities, (heads, tokens, tokens) or (samples, heads, tokens, tokens), which are copied."""
        into = None if in_backward() else self._recorder.layer(str(layer))
        if into is None:
            return
        if not is_tensor(probabilities):
            probabilities = numbers_array(probabilities, "probabilities")
        elif not probabilities.is_meta:
            refuse_not_causal(str(layer), probabilities)
        self._recorder.keep_weights(into, probabilities, **self._moved(values, residual))
        self._learn(into, projection)

    def _measurable(self) -> List[Layer]:
        layers = [layer for layer in self._recorder.layers.values() if layer.refused is not None or layer.samples]
        refused = self.refused
        self._recorder.choice.refuse_unmet(list(self._recorder.places))
        good = [layer for layer in layers if layer.refused is None]
        if not good and refused:
            name, reason = next(iter(refused.items()))
            raise InputError(f"layer {name}: {reason}")
        ran = max((layer.seen for layer in self._recorder.layers.values()), default=0)
        if not good and ran > 0:
            raise InputError(f"samples: the model ran none of the chosen samples; it ran samples 0 to {ran - 1}")
        if not good:
            raise InputError("no attention was seen: the model was not run while it was watched, or its attention is neither that "
                             "of transformers nor torch.nn.MultiheadAttention nor scaled_dot_product_attention nor returned as weights (see "
                             "Watch.record)")
        if refused:
            warn_of(refused)
        return good

    def _aligned(self, layers: List[Layer]) -> List[List[Sample]]:
        """The samples of each layer, without those of passes that not all layers saw."""
        runs = [layer.runs for layer in layers]
        if self._recorder.by_hand or all(one == runs[0] for one in runs):
            return [layer.samples for layer in layers]
        common = {run for run, count in runs[0].items() if all(one.get(run) == count for one in runs)}
        left_out = len(set().union(*runs)) - len(common)
        told = f"{left_out} of the model's calls did not run all layers, or not to their end"
        if not common or self._lengths is not None:
            raise InputError(told + ("" if common else ": no call did") + "; choose layers=, or watch the calls one by one")
        warnings.warn(told + ", and are left out", stacklevel=4)
        return [layer.samples_of(common) for layer in layers]

    def attention(self, layer: Union[int, str], sample: int = 0) -> NDArray[Any]:
        """The probabilities (heads, tokens, tokens) of a layer, by name or number, on a sample, without its padding.

        Padding is cut off and rows are not renormalised: what a row gives to padding is missing from its sum.
        """
        layers = self._recorder.layers
        if isinstance(layer, str):
            if layer not in layers:
                raise InputError(f"layer: no layer is {shown(layer)}{nearest(layer, layers)}")
            found = layers[layer]
        else:
            found = list(layers.values())[self._place(layer, "layer", len(layers))]
        if found.refused is not None:
            raise InputError(f"layer {found.name}: {found.refused}")
        samples = found.samples
        sample = self._place(sample, "sample", len(samples))
        _, begin, end = spans_of(samples, self._lengths, self._padding, None)[sample]
        return probabilities(samples[sample], begin, end)

    @staticmethod
    def _place(place: Any, what: str, count: int) -> int:
        """A place among so many, from the end if it is negative."""
        if count == 0:
            raise InputError(f"{what}: none were seen")
        return whole(place, what, count - 1, -count) % count

    def learned_weights(self) -> List[NDArray[np.float64]]:
        """Weights of each layer's heads, from its output projection as it was when the layer was first seen."""
        return [self._learned(layer) for layer in self._measurable()]

    def _learned(self, layer: Layer) -> NDArray[np.float64]:
        if isinstance(layer.learned, str):
            raise InputError(f"layer {layer.name}: {layer.learned}")
        heads = self._recorder.heads
        return layer.learned if heads is None else layer.learned[heads]

    def _attention(self, weights: Any, row_tolerance: Optional[float], missing_mass: Optional[str],
                   memory: Optional[int], edges: Optional[str], device: Optional[str] = "cpu") -> Tuple[Attention, Optional[int]]:
        """What was seen, and the memory to work in."""
        layers = self._measurable()
        aligned = self._aligned(layers)
        learned = isinstance(weights, str) and weights == "learned"
        attention, streams = attention_of(
            [(layer.name, samples) for layer, samples in zip(layers, aligned)], lengths=self._lengths, padding=self._padding, sink=self._sink,
            row_tolerance=row_tolerance, missing_mass=missing_mass, weights_from="learned" if learned else None, device=device)
        if isinstance(weights, str):
            if weights not in ("learned", "uniform"):
                raise UsageError(f"weights: {shown(weights)} is neither 'learned' nor 'uniform'")
            weights = [self._learned(layer) for layer in layers] if learned else None
        if weights is not None:
            attention.set_weights(weights)
        if edges not in (None, "attention"):
            for number, (layer, samples) in enumerate(zip(layers, aligned)):
                for part, array in self._moved_of(layer, samples):
                    attention.add_moved(part, number, array)
        if memory is None and streams:
            memory = max(_MEMORY, 16 * max(sample.tokens for sample in layers[0].samples) ** 2)
        return attention, memory

    def _paged(self, result: Shown, weights: Any, row_tolerance: Optional[float], missing_mass: Optional[str]) -> Shown:
        """A result whose page has what was seen, as long as this watch is there."""
        known = weakref.ref(self)

        def watch_of(given: Any) -> "Watch":
            found = known() if given is None else given
            if not isinstance(found, Watch):
                raise InputError("attention: the watch is gone. Keep it, or pass it again: result.page(path, attention=watch)")
            return found

        def names() -> Optional[List[List[str]]]:
            watch = watch_of(None)
            layers = watch._measurable()
            return watch._names(layers[0], watch._aligned(layers)[0])

        result._source = Source(lambda given: watch_of(given)._attention(weights, row_tolerance, missing_mass, None, None)[0], names)
        return result

    def _moved_of(self, layer: Layer, samples: List[Sample]) -> List[Tuple[str, NDArray[Any]]]:
        """What the heads of a layer move, as the library takes it."""
        if not self._recorder.keeps_values:
            raise UsageError("edges: the values were not kept: watch with values=True")
        if layer.output is None or any(sample.values is None for sample in samples):
            raise InputError(f"layer {layer.name}: its values or its output projection are not known: pass them to Watch.record")
        if layer.unknown_norm is not None:
            raise InputError(f"layer {layer.name}: {layer.unknown_norm}")
        projection, bias = as_float64(layer.output[0]), layer.output[1]
        bias = np.zeros(len(projection)) if bias is None else as_float64(bias)
        if layer.gain is not None:
            gain = as_float64(layer.gain)
            projection, bias = gain[:, None] * projection, gain * bias
        width = samples[0].moved("values").shape[-1]
        if self._recorder.heads is not None:
            projection = projection.reshape(len(projection), -1, width)[:, self._recorder.heads].reshape(len(projection), -1)
        tokens = max(sample.tokens for sample in samples)
        # A bias of one layer alone would hold for all layers: a layer without one has zeros.
        parts: List[Tuple[str, NDArray[Any]]] = [
            ("out_proj", projection), ("out_proj_bias", bias)]
        for part in ("values", "residual"):
            kept = [sample.moved(part) for sample in samples]
            if any(one is None for one in kept):
                continue
            shape = (len(samples), *kept[0].shape[:-2], tokens, kept[0].shape[-1])
            array = np.zeros(shape)
            for into, one in zip(array, kept):
                into[..., :one.shape[-2], :] = as_float64(one)
            parts.append((part, array))
        return parts

    def result(
        self, *, weights: Any = None, convention: Convention = "exact",
        # settings: measure -axes -layers -lengths -padding -sink
        row_tolerance: Optional[float] = None,
        missing_mass: Optional[str] = None,
        device: Optional[str] = None,
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
        threads: Optional[int] = None,
        memory: Optional[int] = None, progress: Progress = None,
    ) -> Measurement:
        """Measures what was seen, every layer on every sample: what `measure` gives, and with its options.

        `weights` are equal unless given; "learned": the norms of the heads' blocks in the layers' output projections.
        """
        options = settings_of("measure", locals())
        if options["device"] is None:
            options["device"] = self._recorder.measuring_device()
        attention, memory = self._attention(weights, row_tolerance, missing_mass, memory, edges, options["device"])
        return self._paged(measure_attention(attention, options, threads=threads, memory=memory, progress=progress), weights,
                           row_tolerance, missing_mass)

    def heads(
        self, *, weights: Any = None, convention: str = "exact",
        # settings: heads -axes -layers -lengths -padding -sink
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
        threads: Optional[int] = None,
        memory: Optional[int] = None, progress: Progress = None,
    ) -> HeadValues:
        """What heads add in what was seen: what `heads` gives, and with its options; `weights` as in `result`."""
        options = settings_of("heads", locals())
        if options.get("device") is None:
            options["device"] = self._recorder.measuring_device()
        attention, memory = self._attention(weights, row_tolerance, missing_mass, memory, edges)
        return self._paged(heads_of(attention, options, threads=threads, memory=memory, progress=progress), weights, row_tolerance,
                           missing_mass)


def watch(
    model: Any = None, *, layers: Layers = None, heads: Numbers = None, samples: Numbers = None, sink: Any = None,
    lengths: Any = None, padding: str = "right", modules: Chosen = None, device: Any = None, values: bool = False,
    tokenizer: Any = None,
) -> Watch:
    """Watches the attention of a model while it runs: `with watch(model) as seen: model(inputs)`, then `seen.result()`.

    The model computes what it would compute unwatched, to the last bit. What is kept of every layer are queries and keys, in the
    CPU's memory; `result()` computes the probabilities of one head at a time from them, measures them and drops them. When the
    block ends, also by an exception, the model is what it was.

    Seen are the models of transformers (4.48 and later), `torch.nn.MultiheadAttention`, calls of PyTorch's
    `scaled_dot_product_attention`, modules that return attention weights, and what one's own code tells with `Watch.record` and
    `Watch.record_weights`:

    >>> import numpy as np
    >>> attention = np.array([[[1, 0, 0], [0, 1, 0], [0.75, 0.25, 0]],
    ...                       [[1, 0, 0], [0, 1, 0], [0.25, 0.75, 0]]])
    >>> with watch() as seen:
    ...     seen.record_weights("first", attention)
    >>> seen.result().fidelity
    array([[0.5]])

    - `layers`: numbers from 0 in the order in which they run, `3`, `[0, 2]`, `"4-7"`, or regular expressions for the names of their
      modules.
    - `heads`: numbers. `samples`: how many of the first, or their numbers, counted over all calls of the model.
    - `sink`, `lengths`, `padding`: as in `measure`. Padding is recognised by masks unless `lengths` are given.
    - `modules`: classes, or names of modules, that return attention weights (samples, heads, tokens, tokens), also in a tuple;
      unless given, all whose class is named after attention.
    - `device`: device that computes the probabilities and, if it is a GPU, measures them (default: the device of the queries).
    - `values`: keep values and output projections, too, for `result(edges="norm")`; and the input of the module around the attention,
      which is the residual of `edges="contribution"` if the model adds the heads' outputs to that input. An RMS norm in between (Gemma 2
      and 3, OLMo 2) is included, with the scale that it had on each token. Any other norm in between is an error.
    - `tokenizer`: names the tokens in pages, see `result.page`; unless given, the model's attribute `tokenizer`, if it has one.
    """
    text(padding, "padding", "'left' or 'right'")
    if sink is not None:
        whole_numbers(sink, "sink")
    if lengths is not None:
        lengths_of(lengths)
    if tokenizer is None:
        tokenizer = getattr(model, "tokenizer", None)
        tokenizer = tokenizer if is_tokenizer(tokenizer) else None
    elif not is_tokenizer(tokenizer):
        refuse("tokenizer", tokenizer, "a tokenizer, or a function of the numbers of tokens")
    return Watch(Recorder(model, layers, heads, samples, modules, device, flag(values, "values")), sink, lengths, padding, tokenizer)
