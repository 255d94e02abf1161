"""What is seen while a model runs, layer by layer."""

from __future__ import annotations

import operator
import re
import threading
import weakref
from collections import Counter
from typing import Any, Callable, Container, Dict, Iterable, List, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from .._errors import InputError, UsageError
from .._options import are_numbers, shown
from .._options import refuse as refuse_option
from . import attention_interface, fused, masks, modules
from .arrays import check, is_tensor, kept, torch
from .names import nearest
from .post_norms import linear_in
from .projections import bias_of, projection_of, weights_of_heads
from .refusals import compiling, in_backward, refuse
from .samples import Sample, Scores, weights_of
from .texts import Texts

Layers = Union[None, int, str, Sequence[Union[int, str]]]
Numbers = Union[None, int, Sequence[int]]

_CACHE = ("the layer was given {} new tokens and {} keys: generation with a cache is followed from its first token on, where the "
          "cache keeps all keys and nothing but padding is masked; run the model on the whole text instead")


def _is_one(value: Any) -> bool:
    """Whether it is one thing, not a list of some."""
    return isinstance(value, (str, bytes, type)) or not isinstance(value, Iterable) or getattr(value, "ndim", 1) == 0


def _listed(value: Any, name: str, check: Callable[[Any], Any], expected: str) -> List[Any]:
    """One, or a list of them."""
    try:
        return [check(value)] if _is_one(value) else [check(one) for one in value]
    except TypeError:
        refuse_option(name, value, expected)


def _number(value: Any) -> int:
    if isinstance(value, bool):
        raise TypeError
    return operator.index(value)


def _layer(value: Any) -> Union[int, str]:
    return value if isinstance(value, str) else _number(value)


def _layer_numbers(layers: Any) -> Any:
    """Layers as a list of numbers where they are a text of numbers, "0,2" or "4-7"."""
    if not isinstance(layers, str) or not are_numbers(layers):
        return layers
    numbers: List[int] = []
    for part in layers.split(","):
        first, hyphen, last = (one.strip() for one in part.partition("-"))
        if not first.isdigit() or (hyphen and (not last.isdigit() or int(last) < int(first) or int(last) - int(first) >= 10**6)):
            raise UsageError(f"layers: {part!r} is neither a number nor a range such as 4-7")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


class LayerChoice:
    """Which layers are chosen, by their places in the order in which they run or by regular expressions for their names."""

    def __init__(self, layers: Layers) -> None:
        self._chosen = None if layers is None else _listed(
            _layer_numbers(layers), "layers", _layer, "a number, a regular expression, or a list of these")
        for one in self._chosen or []:
            try:
                re.compile(one) if isinstance(one, str) else None
            except re.error as error:
                raise UsageError(f"layers: {one!r} is no regular expression: {error}") from None

    @staticmethod
    def _is(one: Union[int, str], place: int, name: str) -> bool:
        return one == place if isinstance(one, int) else re.search(one, name) is not None

    def fits(self, place: int, name: str) -> bool:
        return self._chosen is None or any(self._is(one, place, name) for one in self._chosen)

    def refuse_unmet(self, names: Sequence[str]) -> None:
        """InputError for a choice that none of these layers fits."""
        for one in self._chosen or []:
            if not any(self._is(one, place, name) for place, name in enumerate(names)):
                known = nearest(one, names) if isinstance(one, str) else f": the layers that ran are 0 to {len(names) - 1}"
                raise InputError(f"layers: no layer is {shown(one)}{known if names else ''}")


def _module(value: Any) -> Union[type, str]:
    if not isinstance(value, (type, str)):
        raise TypeError
    return value


def _device(value: Any) -> Any:
    try:
        device = torch().device(value)
    except (TypeError, RuntimeError):
        refuse_option("device", value, "a device of PyTorch, such as 'cpu' or 'cuda:0'")
    try:
        torch().empty(0, device=device)
    except Exception as error:  # of PyTorch, which raises many kinds
        raise UsageError(f"device: {value} cannot be used: {str(error).partition(chr(10))[0]}") from None
    return device


class Layer:
    """The samples that one layer has seen."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.learned: Union[NDArray[np.float64], str] = "no output projection is known: pass weights, or projection= to record()"
        self.output: Any = None  #: the output projection, and its bias or None, where values are kept
        self.gain: Any = None  #: of a norm that the heads' output goes through before it is added, by its channels; None: there is none
        self.unknown_norm: Optional[str] = None  #: why what such a norm does cannot be said
        self.heads = 0  #: all of them, whether they are kept or not
        self.seen = 0  #: samples
        self.refused: Optional[str] = None
        self._samples: List[Tuple[Tuple[int, int], Sample]] = []
        self.batch = 0  #: samples of the last call
        self.last: List[Tuple[int, Scores]] = []  #: those of them that are kept: tokens of a generated text may follow

    @property
    def samples(self) -> List[Sample]:
        return self.samples_of(self.runs)

    @property
    def runs(self) -> Dict[int, int]:
        """The passes of the model in which it was seen, and on how many samples."""
        return Counter(run for (run, _), _ in self._samples)

    def samples_of(self, runs: Container[int]) -> List[Sample]:
        """Those of these passes."""
        return [sample for (run, _), sample in sorted(self._samples, key=lambda pair: pair[0]) if run in runs]

    def learn(self, projection: Callable[[], Any]) -> None:
        """Keeps the learned weights of the heads as they are when the layer is first seen, or why there are none."""
        if isinstance(self.learned, str) and self.heads > 0:
            try:
                self.learned = weights_of_heads(projection(), self.heads)
            except Exception as error:
                self.learned = str(error)

    def keep_output(self, projection: Any, bias: Any) -> None:
        """Keeps the output projection as it is when the layer is first seen."""
        if self.output is None:
            self.output = tuple(None if one is None else one.detach().to("cpu", copy=True) if is_tensor(one) else np.array(one)
                                for one in (projection, bias))

    def places_of(self, runs: Container[int]) -> List[Tuple[int, int]]:
        """The run of each of these samples, and its place in the batch."""
        return [(key[0], sample.place) for key, sample in sorted(self._samples, key=lambda pair: pair[0]) if key[0] in runs]

    def add(self, run: int, samples: Sequence[Sample]) -> None:
        for sample in samples:
            self._samples.append(((run, len(self._samples)), sample))


class _Thread(threading.local):
    """Where a thread is in the model."""

    def __init__(self) -> None:
        self.depth = 0  # of calls of the whole model
        self.run = 0
        self.calls: Dict[int, int] = {}  # of each attention module
        self.before: List[int] = []  # that number when encoder layers began
        self.seen: Dict[str, int] = {}  # the run in which a layer was last seen, and how often
        self.weights: List[Any] = []  # that were seen in this run
        self.inputs: Dict[int, Any] = {}  # of the modules around attention
        self.of_attention: Dict[int, Tuple[Layer, bool]] = {}  # the layer that an attention module was seen as, and if samples come first
        self.outputs: Dict[str, Tuple[Layer, bool, Any]] = {}  # and what it returned, by the name of the module around it


class Recorder:
    """Keeps what the attention of a model's layers is computed from."""

    keeps_history = False  #: whether what is kept has gradients

    def __init__(self, model: Any, layers: Layers, heads: Numbers, samples: Numbers, chosen: modules.Chosen, device: Any,
                 values: bool = False) -> None:
        self.keeps_values = values
        if model is not None:
            refuse(model)
        self._model: Any = None  # while it is watched
        self._watched = None if model is None else weakref.ref(model)
        self.choice = LayerChoice(layers)
        self.heads = None if heads is None else _listed(heads, "heads", _number, "a number, or a list of numbers")
        self._samples: Optional[Container[int]] = None
        if samples is not None:
            listed = _listed(samples, "samples", _number, "a number of samples, or a list of their numbers")
            self._samples = range(listed[0]) if _is_one(samples) else listed
        self._modules: modules.Chosen = None if chosen is None else _listed(
            chosen, "modules", _module, "a class, the name of a module, or a list of these")
        self._device = None if device is None else _device(device)
        self.layers: Dict[str, Layer] = {}
        self.places: Dict[str, int] = {}
        self._lock = threading.RLock()
        self._thread = _Thread()
        self._runs = 0
        self.texts: Optional[Texts] = None  #: of the model's runs, where a tokenizer can name their tokens
        self.by_hand = False  #: something was recorded outside of the model's passes
        self._names: Dict[int, str] = {}
        self._outer: Dict[str, Any] = {}
        self._kinds: Dict[int, str] = {}
        self._put_back: List[Callable[[], None]] = []
        self._masks: List[Tuple[Any, Any, List[masks.Reading]]] = []
        if heads is not None and not self.heads:
            raise UsageError("heads: none are chosen")

    def measuring_device(self) -> Optional[str]:
        """The device that measures, if the watch was given one: "cpu", or "auto" for a GPU. None: the watch was given none."""
        if self._device is None:
            return None
        return "auto" if self._device.type == "cuda" else "cpu"

    # ---- Beginning and end

    def start(self) -> None:
        global _active
        if self._put_back or self in _active:
            raise UsageError("this watch is watching already")
        if self._watched is not None:
            self._model = self._watched()
            if self._model is None:
                raise UsageError("the model is gone")
            self._names = {id(module): name for name, module in self._model.named_modules()}
            try:
                self._kinds, self._put_back = modules.install(self._model, self._modules, _listeners, self.keeps_values)
                self._outer = {name: module for name, module in self._model.named_modules()} if self.keeps_values else {}
                self._put_back += attention_interface.install(self._model, _see)
                self._put_back += fused.install(self._model, _see_fused)
            except BaseException:
                self.stop()
                raise
        with _lock:
            _active = (*_active, self)

    def stop(self) -> None:
        global _active
        with _lock:
            _active = tuple(one for one in _active if one is not self)
        put_back, self._put_back = self._put_back, []
        for undo in reversed(put_back):
            undo()
        self._masks, self._names, self._model, self._outer = [], {}, None, {}

    def knows(self, module: Any) -> bool:
        return id(module) in self._names

    # ---- What modules tell

    def enter(self, module: Any, arguments: Sequence[Any], options: Dict[str, Any]) -> None:
        thread = self._thread
        if self.keeps_values and self._kinds.get(id(module)) in ("around", "encoder layer"):
            thread.inputs[id(module)] = next((one for one in (*arguments, *options.values()) if is_tensor(one)), None)
        if module is self._model:
            if thread.depth == 0:
                with self._lock:
                    self._runs += 1
                    thread.run = self._runs
                    if self.texts is not None:
                        self.texts.add(thread.run, arguments, options)
                thread.seen, thread.before = {}, []
            thread.depth += 1
        if self._kinds.get(id(module)) == "encoder layer":
            thread.before.append(thread.calls.get(id(module.self_attn), 0))

    def leave(self, module: Any) -> None:
        thread = self._thread
        if module is self._model:
            thread.depth -= 1
            if thread.depth == 0:
                thread.weights, thread.inputs, thread.of_attention, thread.outputs = [], {}, {}, {}

    def left(self, module: Any, arguments: Sequence[Any], options: Dict[str, Any], output: Any) -> None:
        kind = self._kinds.get(id(module))
        thread = self._thread
        if kind == "multihead":
            thread.calls[id(module)] = thread.calls.get(id(module), 0) + 1
            self.see(module, lambda seen: modules.read_multihead(arguments, options, seen, self.keeps_history))
        elif kind == "encoder layer":
            attention = module.self_attn
            if thread.before and thread.before.pop() == thread.calls.get(id(attention), 0):
                self.see(attention, lambda _: modules.read_encoder_layer(arguments, options, module))
        elif kind == "weights":
            self._see_weights(module, output)
        if self.keeps_values:
            self._see_outputs(module, kind, arguments, options, output)

    def _see_outputs(self, module: Any, kind: Optional[str], arguments: Sequence[Any], options: Dict[str, Any], output: Any) -> None:
        """Follows the output of attention to a norm beside it, if the output goes through one."""
        thread = self._thread
        name = self._names.get(id(module), "")
        if kind == "around":
            thread.outputs.pop(name, None)
        elif kind == "norm":
            seen = thread.outputs.get(name.rpartition(".")[0])
            given = next((one for one in (*arguments, *options.values()) if is_tensor(one)), None)
            if seen is not None and given is seen[2] and is_tensor(output):
                self._keep_norm(seen[0], seen[1], module, given, output)
        elif id(module) in thread.of_attention:
            returned = output[0] if isinstance(output, (tuple, list)) and output else output
            thread.outputs[name.rpartition(".")[0]] = (*thread.of_attention.pop(id(module)), returned)

    @staticmethod
    def _keep_norm(layer: Layer, batch_first: bool, module: Any, given: Any, returned: Any) -> None:
        """Keeps the gain and scales of a norm after the heads' output. An error is kept until edges that need the norm are measured."""
        if layer.unknown_norm is not None:
            return
        try:
            gain, scale = linear_in(module, given, returned, layer.gain)
            layer.gain = gain if layer.gain is None else layer.gain
            scale = scale[None] if scale.dim() == 1 else scale if batch_first else scale.T
            for sample, scores in layer.last:
                scores.scales = [*scores.scales, scale[sample]]
        except Exception as error:
            layer.unknown_norm = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"

    def see(self, module: Any, read: Callable[[Any], Dict[str, Any]]) -> None:
        """Keeps a call of attention; what cannot be measured is told later, and never disturbs the model."""
        if compiling() or in_backward():
            return
        name = self._names.get(id(module))  # none: another thread has ended the watch
        layer = None if name is None else self._layer(name)
        if layer is None:
            return
        try:
            self.keep_scores(layer, residual=self._residual(module), **read(module))
            self._thread.of_attention[id(module)] = (layer, getattr(module, "batch_first", True) is not False)
            layer.learn(lambda: projection_of(module))
            if self.keeps_values:
                layer.keep_output(projection_of(module), bias_of(module))
        except Exception as error:
            layer.refused = layer.refused or (str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}")

    def see_fused(self, under_way: Sequence[Any], read: Callable[[Any], Dict[str, Any]]) -> None:
        """Keeps a call of PyTorch's attention function, as that of the innermost module under way, unless this module is seen otherwise."""
        module = next((one for one in under_way if self.knows(one)), None)
        if module is not None and self._kinds.get(id(module)) not in ("multihead", "encoder layer"):
            self.see(module, read)

    def _residual(self, module: Any) -> Any:
        """What the outputs of an attention module are added to, (samples, tokens, E): the input of the module around it."""
        outer = self._outer.get(self._names.get(id(module), "").rpartition(".")[0])
        found = None if outer is None else self._thread.inputs.get(id(outer))
        if found is None or found.dim() not in (2, 3):
            return None
        if found.dim() == 2:
            return found.unsqueeze(0)
        return found.transpose(0, 1) if getattr(module, "batch_first", True) is False else found

    def _see_weights(self, module: Any, output: Any) -> None:
        if id(module) in self._thread.of_attention:
            return  # seen by the function that it called
        try:
            weights = modules.weights_in(output)
        except Exception:
            return
        if weights is None or any(weights is one for one in self._thread.weights) or in_backward():
            return
        if self._thread.depth > 0:
            self._thread.weights.append(weights)
        name = self._names.get(id(module))  # none: another thread has ended the watch
        layer = None if name is None else self._layer(name)
        if layer is None:
            return
        try:
            if bool((weights.detach().triu(1) > 1e-3).any()):
                raise InputError(masks.NOT_CAUSAL)
            self.keep_weights(layer, weights)
            layer.learn(lambda: projection_of(module))
        except Exception as error:
            layer.refused = layer.refused or str(error)

    def _layer(self, name: str) -> Optional[Layer]:
        """The layer of a module, if it is chosen. A module that runs twice in a model's pass is two layers."""
        thread = self._thread
        if thread.depth > 0:
            thread.seen[name] = thread.seen.get(name, 0) + 1
            if thread.seen[name] > 1:
                name = f"{name}#{thread.seen[name]}"
        return self.layer(name)

    # ---- What is kept

    def layer(self, name: str) -> Optional[Layer]:
        """The layer of this name, if it is chosen."""
        with self._lock:
            place = self.places.setdefault(name, len(self.places))
            if not self.choice.fits(place, name):
                return None
            if name not in self.layers:
                self.layers[name] = Layer(name)
            return self.layers[name]

    def _run(self, layer: Layer) -> int:
        if self._thread.depth > 0:
            return self._thread.run
        self.by_hand = True
        return layer.seen

    def _choose(self, layer: Layer, heads: int, samples: int) -> Tuple[Optional[List[int]], List[int]]:
        """The heads that are kept, None being all, and the samples."""
        if self.heads is not None and not all(-heads <= head < heads for head in self.heads):
            raise InputError(f"heads: {self.heads} of {heads}, which are 0 to {heads - 1}")
        layer.heads = heads
        first, layer.seen = layer.seen, layer.seen + samples
        chosen = [sample for sample in range(samples) if self._samples is None or first + sample in self._samples]
        return None if self.heads is None else [head % heads for head in self.heads], chosen

    def keep_weights(self, layer: Layer, probabilities: Any, values: Any = None, residual: Any = None) -> None:
        """Keeps probabilities (samples, heads, tokens, tokens), or fewer axes; values and residual as keep_scores()."""
        if len(probabilities.shape) == 4 and probabilities.shape[0] == 0:
            return
        if is_tensor(probabilities):
            probabilities = check(probabilities, "weights").detach()
        samples = weights_of(probabilities)
        with self._lock:
            run = self._run(layer)
            heads, chosen = self._choose(layer, samples[0].heads, len(samples))
            for sample in chosen:
                one = samples[sample]
                array = one.array if heads is None else one.array[heads]
                made = weights_of(array.to("cpu", copy=True) if is_tensor(array) else array.copy())
                if self.keeps_values and values is not None:
                    every = one.heads
                    key_heads = [head * values.shape[1] // every for head in (range(every) if heads is None else heads)]
                    self._keep_moved(made, [sample], values, None, key_heads)
                if self.keeps_values:
                    self._keep_moved(made, [sample], None, residual, None)
                made[0].place = sample
                layer.add(run, made)

    def keep_scores(self, layer: Layer, *, queries: Any, keys: Any, mask: Any, padding: Any, causal: bool, scaling: float,
                    softcap: Optional[float] = None, window: Optional[int] = None, logits: Any = None, values: Any = None,
                    residual: Any = None) -> None:
        """Keeps queries (samples, heads, tokens, width) and keys (samples, fewer heads, tokens, width), and where it was asked for
        values, or a function that computes them, as keys, and the residual (samples, tokens, E)."""
        values = (values() if callable(values) else values) if self.keeps_values else None
        residual = residual if self.keeps_values and residual is not None and tuple(residual.shape[:2]) == (
            queries.shape[0], queries.shape[2]) else None
        check(queries, "queries")
        check(keys, "keys")
        count, heads, new, width = queries.shape
        groups, tokens = keys.shape[1], keys.shape[2]
        if keys.shape[0] != count or keys.shape[3] != width or heads % groups != 0:
            raise InputError(f"queries of shape {tuple(queries.shape)} and keys of shape {tuple(keys.shape)} do not fit")
        if count == 0 or tokens == 0:
            return
        with self._lock:
            run = self._run(layer)
            chosen_heads, chosen = self._choose(layer, heads, count if new == tokens else 0)
            query_heads = list(range(heads)) if chosen_heads is None else chosen_heads
            groups_kept = sorted({head * groups // heads for head in query_heads})
            key_heads = [groups_kept.index(head * groups // heads) for head in query_heads]
            if new != tokens:
                self._follow(layer, queries, keys, values, residual, mask, query_heads, groups_kept)
                return
            layer.batch, layer.last = count, []
            if not chosen:
                return
            readings = self._read_mask(mask, padding, causal, chosen, tokens, chosen_heads)
            logits = None if logits is None else logits.to("cpu", torch().float64, copy=True)[query_heads]
            device = queries.device if self._device is None else self._device
            made = [Scores(q, k, key_heads, reading, scaling=scaling, softcap=softcap, window=window, logits=logits, device=device)
                    for q, k, reading in zip(kept(queries, chosen, chosen_heads, self._stays(queries)),
                                             kept(keys, chosen, None if len(groups_kept) == groups else groups_kept, self._stays(keys)),
                                             readings)]
            self._keep_moved(made, chosen, values, residual, None if len(groups_kept) == groups else groups_kept)
            for sample, one in zip(chosen, made):
                one.place = sample
            layer.last = list(zip(chosen, made))
            layer.add(run, made)

    def _stays(self, tensor: Any) -> bool:
        """Whether queries or keys stay on their GPU: that of the watch measures them there."""
        return self._device is not None and self._device.type == "cuda" and bool(tensor.is_cuda)

    @staticmethod
    def _keep_moved(made: Sequence[Sample], chosen: Sequence[int], values: Any, residual: Any, groups: Optional[Sequence[int]]) -> None:
        """Keeps what the heads of these samples move."""
        for name, tensor, part in (("values", values, groups), ("residual", residual, None)):
            if tensor is not None:
                for sample, one in zip(made, kept(check(tensor, name), chosen, part)):
                    setattr(sample, name, one)

    def _follow(self, layer: Layer, queries: Any, keys: Any, values: Any, residual: Any, mask: Any, heads: List[int], groups: List[int]) -> None:
        """Appends the tokens that a model generates with a cache."""
        new, tokens = queries.shape[2], keys.shape[2]
        past = tokens - new
        refusal = InputError(_CACHE.format(new, tokens))
        if past <= 0 or layer.batch != queries.shape[0] or new == 0:
            raise refusal
        for sample, scores in layer.last:
            if not scores.can_follow(keys[sample, groups, past - 1], past):
                raise refusal
            if mask is not None:
                t = torch()
                plane = mask[sample if mask.shape[0] > 1 else 0][..., :tokens]
                allowed = plane if plane.dtype == t.bool else plane > masks.MASKED
                places = t.arange(tokens, device=mask.device)
                expected = (places <= places[past:, None]) & (places >= scores.begin)
                if mask.shape[-2] not in (1, new) or not bool((allowed == expected).all()) or (
                        plane.is_floating_point() and bool((plane.masked_fill(~allowed, 0) != 0).any())):
                    raise refusal
        added = [tensor[:, :, -new:].detach()[:, index] for tensor, index in ((queries, heads), (keys, groups))]
        added += [None if values is None else values[:, :, -new:].detach()[:, groups],
                  None if residual is None else residual[:, -new:].detach()]
        for sample, scores in layer.last:
            places = (scores.queries.device, scores.keys.device, "cpu", "cpu")
            scores.add(*(None if tensor is None else tensor[sample].to(place, copy=True) for tensor, place in zip(added, places)))

    def _read_mask(self, mask: Any, padding: Any, causal: bool, samples: List[int], tokens: int,
                   heads: Optional[List[int]]) -> List[masks.Reading]:
        """Layers mostly get one and the same mask, which is read once."""
        if mask is None:
            return masks.read(None, padding, causal, samples, tokens, heads)
        key = (mask._version if not mask.is_inference() else 0, tuple(mask.shape), causal, tuple(samples), tokens, padding is None)
        for reference, known, readings in self._masks:
            if reference() is mask and known == key and padding is None:
                return readings
        readings = masks.read(mask, padding, causal, samples, tokens, heads)
        if padding is None and not mask.is_inference():
            self._masks = [(weakref.ref(mask), key, readings), *self._masks[:3]]
        return readings


_lock = threading.Lock()
_active: Tuple[Recorder, ...] = ()


def _listeners(module: Any) -> List[Recorder]:
    return [one for one in _active if one.knows(module)]


def _see(module: Any, read: Callable[[Any], Dict[str, Any]]) -> None:
    """Tells those who watch a module that its attention function was called."""
    for recorder in _listeners(module):
        recorder.see(module, read)


def _see_fused(frame: Any, read: Callable[[Any], Dict[str, Any]]) -> None:
    """Tells those who watch a model that is under way that PyTorch's attention function was called."""
    listeners = _active
    if listeners:
        under_way = list(fused.modules_of(frame))
        for recorder in listeners:
            recorder.see_fused(under_way, read)
