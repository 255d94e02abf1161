"""Passes of a model with some of its heads switched off."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from typing import Any, Callable, Dict, Iterable, List, Optional

import numpy as np
from numpy.typing import NDArray

from .._errors import InputError
from .._options import shown
from . import losses, slots
from .arrays import is_tensor, torch
from .losses import Loss
from .sites import Change, Site, Switches, blocks_before, is_without_effect

#: Tokens in a pass of several sets, and sets in it at most.
_TOKENS = {"cpu": 1 << 12, "cuda": 1 << 15}
_MOST_SETS = 64
#: Bytes of states before a layer that stay on the model's device.
_HELD = 1 << 30


class CannotRepeat(InputError):
    """The model gave other losses for repeated inputs, or for states that were computed before."""

    def __init__(self, what: str, count: int, expected: int) -> None:
        super().__init__(f"{what}: {count} for inputs that gave {expected} before; they must be the same in every pass of the model")


def mapped(value: Any, of: Callable[[Any], Any]) -> Any:
    """A copy of nested tuples, lists and dictionaries with of(tensor) for every tensor."""
    if is_tensor(value):
        return of(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(mapped(one, of) for one in value))
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(one, of) for one in value)
    if isinstance(value, Mapping):
        made = {key: mapped(one, of) for key, one in value.items()}
        kind: Any = type(value)
        try:
            return made if kind is dict else kind(**made)  # a ModelOutput of transformers
        except TypeError:
            return made
    return value


def list_inputs(inputs: Any, device: Any) -> List[Any]:
    """Inputs as a list of what the model takes at once: tensors, tuples of arguments, or dictionaries of them."""
    t = torch()

    def one(value: Any, name: str) -> Any:
        if isinstance(value, Mapping):
            return {str(key): part.to(device) if is_tensor(part) else t.as_tensor(part, device=device) if isinstance(part, np.ndarray) else part
                    for key, part in value.items()}
        if isinstance(value, np.ndarray):
            value = t.as_tensor(value)
        value = tuple(value) if isinstance(value, list) else value  # as DataLoader gives it
        if not is_tensor(value) and not isinstance(value, tuple):
            raise InputError(f"{name}: {shown(value)} is neither a tensor, a tuple of arguments nor a dictionary of them")
        return mapped(value, lambda tensor: tensor.to(device))

    if isinstance(inputs, (Mapping, tuple, np.ndarray)) or is_tensor(inputs):
        listed = [one(inputs, "inputs")]
    else:
        try:
            each = iter(inputs)
        except TypeError:
            raise InputError(f"inputs: {shown(inputs)} is neither a tensor, a dictionary nor a list of these") from None
        listed = [one(value, f"inputs[{number}]") for number, value in enumerate(each)]
    if not listed:
        raise InputError("inputs: there are none")
    for number, value in enumerate(listed):
        tensors = tensors_in(value)
        if not tensors or tensors[0].dim() == 0 or tensors[0].numel() == 0:
            raise InputError(f"inputs[{number}]: there is no tensor with samples in it")
    return listed


def tensors_in(value: Any) -> List[Any]:
    """The tensors in nested tuples, lists and dictionaries."""
    if is_tensor(value):
        return [value]
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, (tuple, list)) else []
    return [tensor for part in parts for tensor in tensors_in(part)]


def samples_in(inputs: Any) -> int:
    """The extent of the first tensor's first axis."""
    return int(tensors_in(inputs)[0].shape[0])


def repeated(tensor: Any, samples: int, sets: int, *axes: int) -> Any:
    """A copy that has every sample once for each set, along the first of the axes that has the samples. What is the same for all samples
    stays as it is."""
    for place in axes:
        if tensor.dim() > place and tensor.shape[place] == samples:
            return tensor.repeat(*[1] * place, sets, *[1] * (tensor.dim() - place - 1))
    return tensor.clone()


def tokens_of(inputs: Any) -> Any:
    """Where there are tokens, not padding, (samples, tokens), if the inputs say it."""
    if isinstance(inputs, Mapping):
        mask: Any = inputs.get("attention_mask")
        if is_tensor(mask) and mask.dim() == 2:
            return mask != 0
        padding: Any = inputs.get("src_key_padding_mask", inputs.get("key_padding_mask"))
        if is_tensor(padding) and padding.dim() == 2 and padding.dtype == torch().bool:
            return ~padding
    return None


class Observed:
    """What the heads of a site give in the model as it is: means, and whether they are always the same."""

    def __init__(self) -> None:
        self.count = 0
        self.sum: Any = None
        self.low: Any = None
        self.high: Any = None

    def add(self, rows: Any) -> None:
        """Rows of tokens (tokens, heads, width)."""
        rows = rows[rows.flatten(1).isfinite().all(1)]
        if len(rows) == 0:
            return
        total, low, high = rows.sum(0, dtype=torch().float64), rows.amin(0), rows.amax(0)
        if self.count == 0:
            self.sum, self.low, self.high = total, low, high
        else:
            self.sum, self.low, self.high = self.sum + total, torch().minimum(self.low, low), torch().maximum(self.high, high)
        self.count += len(rows)

    def mean(self) -> Any:
        """(heads, width); a number that is always the same is its own mean, to the last bit."""
        mean = (self.sum / max(1, self.count)).to(self.low.dtype)
        return torch().where(self.low == self.high, self.low, mean)

    def constant(self, zero: bool) -> List[bool]:
        """The heads that always give the same, or always 0."""
        same = (self.low == self.high) & ((self.low == 0) if zero else torch().ones_like(self.low, dtype=torch().bool))
        return [bool(one) for one in same.flatten(1).all(1)]


class Prefix:
    """The modules before a layer, whose results are the same for all sets of its heads."""

    def __init__(self, blocks: Iterable[Any]) -> None:
        self.blocks = list(blocks)

    def _replaced(self, run: Callable[[], Any], forward: Callable[[int, Callable[..., Any]], Callable[..., Any]]) -> Any:
        """Runs the model with another `forward` of each module."""
        put_back = []
        try:
            for number, block in enumerate(self.blocks):
                put_back.append(slots.replace(vars(block), "forward", block.forward, functools.partial(forward, number)))
            return run()
        finally:
            for undo in reversed(put_back):
                undo()

    def record(self, run: Callable[[], Any]) -> "tuple[Any, Any]":
        """Runs the model: its result, and what the last of the modules gave; None unless they ran one after the other, each once."""
        ran: List[int] = []
        states: List[Any] = []

        def forward(number: int, original: Callable[..., Any]) -> Callable[..., Any]:
            def recorded(*arguments: Any, **options: Any) -> Any:
                output = original(*arguments, **options)
                ran.append(number)
                if number == len(self.blocks) - 1:
                    states.append(mapped(output, lambda tensor: tensor.detach().clone()))  # what comes later may change it
                return output

            return recorded

        result = self._replaced(run, forward)
        return result, states[0] if ran and ran == list(range(len(self.blocks))) else None

    def skip(self, run: Callable[[], Any], states: Any) -> Any:
        """Runs the model with these states in place of what the modules would compute."""
        return self._replaced(run, lambda number, original: lambda *arguments, **options: states)


def call_model(model: Any, inputs: Any, loss: Loss) -> Any:
    """The model's output."""
    if not isinstance(inputs, Mapping):
        return model(*inputs) if isinstance(inputs, tuple) else model(inputs)
    options = dict(inputs)
    parameters = inspect.signature(model.forward).parameters
    labels = parameters.get("labels")
    if loss in (losses.next_token, losses.wrong_tokens) and labels is not None and labels.default is None:
        options.pop("labels", None)  # the model need not compute a loss of its own
    if "use_cache" in parameters:
        options.setdefault("use_cache", False)
    return model(**options)


def tolerance_of(model: Any) -> float:
    """How far losses of the same sample may be apart, relatively, if they are computed beside other samples."""
    t = torch()
    dtype = next((one.dtype for one in model.parameters() if one.is_floating_point()), t.float32)
    half = t.is_autocast_enabled() or getattr(t, "is_autocast_cpu_enabled", lambda: False)()
    return 5e-3 if half else {t.float64: 1e-9, t.float32: 1e-4}.get(dtype, 5e-3)


def refuse_values(values: NDArray[np.float64], what: str) -> None:
    if not np.isfinite(values).all():
        sample = int((~np.isfinite(values)).argmax())
        raise InputError(f"loss: {values[sample]:g} on sample {sample} of {what}")


class Passes:
    """Losses of a model, sample by sample, with some of its heads switched off."""

    def __init__(self, model: Any, inputs: List[Any], loss: Loss, sites: List[Site], switches: Switches, *, zero: bool,
                 batch: Optional[int]) -> None:
        self._model = model
        self._inputs = inputs
        self._loss = loss
        self._sites = sites
        self._switches = switches
        self._zero = zero
        self._means: Dict[str, Any] = {}
        self.inputs = inputs
        self.batch = batch
        self.most_sets = _MOST_SETS if batch is None else batch  #: in a pass
        self.repeats = batch != 1
        self.without_effect: Dict[str, List[bool]] = {}
        self.tolerance = tolerance_of(model)
        self.model = model
        self.intact: List[NDArray[np.float64]] = []
        self.without_attention: List[NDArray[np.float64]] = []
        self.passes = 0  #: of the model that were run

    # ---- One pass

    def _run(self, inputs: Any, change: Optional[Change] = None) -> "tuple[NDArray[np.float64], bool]":
        """Losses of a pass, and whether the loss was one number for all samples."""
        self._switches.begin()
        self._switches.change = change
        self.passes += 1
        try:
            output = call_model(self._model, inputs, self._loss)
        finally:
            self._switches.change = None
        return losses.losses_of(self._loss(output, inputs))

    def run_with(self, inputs: Any, site: Site, keep: Any) -> NDArray[np.float64]:
        """Losses where the heads of a site are only those of keep (sets, heads)."""
        return self._run(inputs, lambda here, outputs, leading: self._switched(here, outputs, leading, keep) if here is site else outputs)[0]

    def _switched(self, site: Site, outputs: Any, leading: bool, keep: Any) -> Any:
        """Outputs (samples, ..., heads * width) with what stands for heads that are off; every sample is there once for each set."""
        t = torch()
        sets, heads = len(keep), site.heads
        axis = 0 if leading else 1
        if outputs.shape[axis] % sets != 0:
            raise CannotRepeat("samples in the attention of " + site.name, outputs.shape[axis], sets)
        split = outputs.reshape(*outputs.shape[:axis], sets, outputs.shape[axis] // sets, *outputs.shape[axis + 1:-1], heads, -1)
        on = keep.to(outputs.device).reshape(*[1] * axis, sets, *[1] * (split.dim() - axis - 3), heads, 1)
        if self._zero:
            fill = t.zeros((), dtype=outputs.dtype, device=outputs.device)
        else:
            fill = self._means[site.name].to(outputs.device, outputs.dtype)
        return t.where(on, split, fill).reshape(outputs.shape)

    # ---- The model as it is

    def observe(self) -> None:
        """Runs the model as it is, and without any head of any layer."""
        observed = {site.name: Observed() for site in self._sites}
        for number, inputs in enumerate(self._inputs):
            mask = tokens_of(inputs)

            def look(site: Site, outputs: Any, leading: bool) -> Any:
                rows = outputs.reshape(-1, site.heads, outputs.shape[-1] // site.heads)
                if mask is not None and mask.numel() == len(rows):
                    rows = rows[(mask if leading else mask.t()).reshape(-1).to(rows.device)]
                observed[site.name].add(rows)
                return outputs

            values, single = self._run(inputs, look)
            missed = self._switches.missed()
            if missed:
                raise InputError(f"layer {missed[0]}: inputs[{number}] does not run it through its output projection")
            if single and samples_in(inputs) != 1:
                self.repeats = False  # one number for all samples cannot tell the sets of a pass apart
            refuse_values(values, f"inputs[{number}] with all heads on")
            self.intact.append(values)
        for site in self._sites:
            seen = observed[site.name]
            if seen.count == 0:
                raise InputError(f"layer {site.name}: no output of its heads is finite")
            self._means[site.name] = seen.mean()
            self.without_effect[site.name] = [a or b for a, b in zip(seen.constant(self._zero), is_without_effect(site))]

        def off(site: Site, outputs: Any, leading: bool) -> Any:
            return self._switched(site, outputs, leading, torch().zeros(1, site.heads, dtype=torch().bool))

        for number, inputs in enumerate(self._inputs):
            values, _ = self._run(inputs, off)
            refuse_values(values, f"inputs[{number}] with every head off")
            self.without_attention.append(values)


class LayerPasses:
    """Values of sets of the heads of one site."""

    def __init__(self, passes: Passes, site: Site) -> None:
        self._passes = passes
        self._site = site
        self._counts = np.array([not one for one in passes.without_effect[site.name]])
        self._none: List[NDArray[np.float64]] = []
        self._states: List[Any] = []
        self._prefix = Prefix(blocks_before(passes.model, site) if site.call == 0 else [])
        self._run_without()
        self._skips, self._repeats = self._shortcuts()
        self._known: Dict[bytes, NDArray[np.float64]] = {}
        self._without: Optional[NDArray[np.float64]] = None  # the losses without any head, from passes like those of other sets

    # ---- How passes may be shortened

    def _run_without(self) -> None:
        """Runs every input without any head of the layer, whole and one set at a time: shorter passes must give the same."""
        off = torch().zeros(1, self._site.heads, dtype=torch().bool)
        held = 0
        for number, inputs in enumerate(self._passes.inputs):
            values, states = self._prefix.record(lambda: self._passes.run_with(inputs, self._site, off))
            refuse_values(values, f"inputs[{number}] without the heads of layer {self._site.name}")
            self._none.append(values)
            if states is None:
                self._prefix = Prefix([])
                continue
            held += sum(tensor.numel() * tensor.element_size() for tensor in tensors_in(states))
            self._states.append(mapped(states, lambda tensor: tensor.cpu()) if held > _HELD else states)

    def _shortcuts(self) -> "tuple[bool, bool]":
        """Whether passes begin at the layer's block, and whether they take several sets at once."""
        for skips, repeats in ((True, True), (True, False), (False, True)):
            if (not skips or self._prefix.blocks) and (not repeats or self._passes.repeats) and self._agree(skips, repeats):
                break
        else:
            skips = repeats = False
        self._states = self._states if skips else []
        if not repeats and self._passes.batch not in (None, 1):
            raise InputError("batch: several sets in a pass need a model that computes each sample on its own, along the first axis of its "
                             "inputs, and a loss for each sample; pass batch=1")
        self._passes.repeats = repeats
        return skips, repeats

    def _agree(self, skips: bool, repeats: bool) -> bool:
        """Whether shorter passes give the losses of whole ones, with no head and with all heads, on every input."""
        t = torch()
        both = t.tensor([[False], [True]]).expand(2, self._site.heads)
        for number, (none, intact) in enumerate(zip(self._none, self._passes.intact)):
            try:
                found = (self._losses(number, both, skips) if repeats else
                         np.concatenate([self._losses(number, both[k:k + 1], skips) for k in range(2)]))
            except Exception:  # of a model that takes no repeated inputs: of whatever kind
                return False
            if not np.allclose(found, np.stack([none, intact]), rtol=self._passes.tolerance, atol=0.01 * self._passes.tolerance):
                return False
        return True

    def _losses(self, number: int, keep: Any, skips: bool) -> NDArray[np.float64]:
        """(sets, samples) on one of the inputs."""
        inputs, sets = self._passes.inputs[number], len(keep)
        count = samples_in(inputs)
        many = mapped(inputs, lambda tensor: repeated(tensor, count, sets, 0)) if sets > 1 else inputs
        if skips:
            device = tensors_in(inputs)[0].device
            axes = (0, 1) if getattr(self._site.gate, "batch_first", True) else (1, 0)
            states = mapped(self._states[number], lambda tensor: repeated(tensor.to(device), count, sets, *axes))
            values = self._prefix.skip(lambda: self._passes.run_with(many, self._site, keep), states)
        else:
            values = self._passes.run_with(many, self._site, keep)
        if values.size != sets * len(self._passes.intact[number]):
            raise CannotRepeat("loss: losses", values.size, sets * len(self._passes.intact[number]))
        by_set: NDArray[np.float64] = values.reshape(sets, -1)
        return by_set

    def _sets_at_once(self, number: int) -> int:
        if not self._repeats:
            return 1
        if self._passes.batch is not None:
            return self._passes.most_sets
        first = tensors_in(self._passes.inputs[number])[0]
        tokens = int(np.prod(first.shape[:2]))
        return max(1, min(self._passes.most_sets, _TOKENS.get(first.device.type, _TOKENS["cpu"]) // tokens))

    # ---- Values

    def values(self, sets: NDArray[np.bool_]) -> NDArray[np.float64]:
        """(sets, samples): the loss without any head of the layer minus that with these heads. Heads without any effect count as off, so
        that they are worth exactly nothing."""
        wanted = sets & self._counts
        keys = [one.tobytes() for one in wanted]
        missing = {key: one for key, one in zip(keys, wanted) if one.any() and key not in self._known}
        rows = list(missing.values())
        if self._without is None:
            rows.insert(0, np.zeros_like(self._counts))
        if rows:
            found = np.concatenate([self._losses_on(number, np.stack(rows)) for number in range(len(self._passes.inputs))], axis=1)
            if self._without is None:
                self._without, found = found[0], found[1:]
            fresh = dict(zip(missing, self._without - found))
        else:
            fresh = {}
        if not self._counts.all():  # sets that differ in heads without effect come again
            self._known.update(fresh)
        nothing = np.zeros(sum(map(len, self._none)))
        return np.stack([fresh[key] if key in fresh else self._known[key] if one.any() else nothing for key, one in zip(keys, wanted)])

    def _losses_on(self, number: int, rows: NDArray[np.bool_]) -> NDArray[np.float64]:
        """(sets, samples) on one of the inputs, so many sets at once as the memory holds."""
        t = torch()
        keep, parts, first = t.as_tensor(rows), [], 0
        while first < len(keep):
            at_once = self._sets_at_once(number)
            try:
                part = self._losses(number, keep[first:first + at_once], self._skips)
            except RuntimeError as error:
                if "out of memory" not in str(error) or at_once == 1:
                    raise
                self._passes.most_sets = at_once // 2
                t.cuda.empty_cache() if t.cuda.is_available() else None
                continue
            for heads, values in zip(rows[first:first + len(part)], part):
                refuse_values(values, f"inputs[{number}] with only heads {heads.nonzero()[0].tolist()} of layer {self._site.name}")
            parts.append(part)
            first += len(part)
        return np.concatenate(parts)
