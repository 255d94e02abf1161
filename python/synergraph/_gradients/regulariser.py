"""Terms of a loss that promote the speed or the fidelity of a model's attention."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Dict, List, Optional, Tuple, Type

from .._errors import InputError, UsageError
from .._live.recorder import Layer, Recorder
from .._options import finite, whole
from . import autograd

_MOST_STEPS = 2**20  #: kMostGradientSteps of the library
_GOALS = ("fidelity", "log_fidelity", "speed", "log_speed")


class _History(Recorder):
    """Keeps queries, keys and weights as the model has them, with their gradients."""

    keeps_history = True

    def __init__(self, model: Any, layers: Any) -> None:
        super().__init__(model, layers, None, None, None, None)
        self.seen: List[Tuple[Layer, Any, Optional[List[int]], str]] = []  # attention, lengths, side of the padding

    def keep_scores(self, layer: Layer, *, queries: Any, keys: Any, mask: Any, padding: Any, causal: bool, scaling: float,
                    softcap: Optional[float] = None, window: Optional[int] = None, logits: Any = None, values: Any = None,
                    residual: Any = None) -> None:
        if not queries.requires_grad and not keys.requires_grad:
            return
        samples, heads, tokens, _ = queries.shape
        if keys.shape[2] != tokens:
            raise InputError("the layer has a cache: train on whole sequences")
        if logits is not None:
            raise InputError("attention with learned sink logits has no gradients here")
        layer.heads = heads
        readings = self._read_mask(mask, padding, causal, list(range(samples)), tokens, None)
        if any(one.bias is not None for one in readings):
            raise InputError("a bias that is added to scores has no gradients here")
        seen = window
        for one in readings:
            if one.allowed is None:
                continue
            seen = _window_of(one.allowed)
            if seen is None:
                raise InputError("a mask of other tokens than padding, later ones and those outside of a window has no gradients here")
        spans = [(one.begin, one.end) for one in readings]
        lengths: Optional[List[int]] = [end - begin for begin, end in spans]
        if all(begin == 0 for begin, _ in spans):
            side = "right"
        elif all(end == tokens for _, end in spans):
            side = "left"
        else:
            raise InputError("padding on both sides of the sequences of a batch: expected it on one side")
        if all(length == tokens for length in lengths or []):
            lengths = None
        attention = autograd.QueryKeys(queries, keys, float(scaling), float(softcap or 0.0), int(seen or 0))
        self.seen.append((layer, attention, lengths, side))

    def keep_weights(self, layer: Layer, probabilities: Any, values: Any = None, residual: Any = None) -> None:
        if probabilities.requires_grad:
            layer.heads = 1 if probabilities.dim() == 2 else probabilities.shape[-3]
            self.seen.append((layer, probabilities, None, "right"))


def _window_of(allowed: Any) -> Optional[int]:
    """The number of keys that each query sees, if the mask is such a window."""
    t = autograd.torch()
    tokens = allowed.shape[-1]
    size = int(allowed[0, -1].sum())
    places = t.arange(tokens)
    expected = (places <= places[:, None]) & (places > places[:, None] - size)
    return size if all(bool(t.equal(plane, expected)) for plane in allowed) else None


class Regulariser:
    """Adds to a loss what promotes the speed or the fidelity of a model's attention while the model trains.

        with st.Regulariser(model, fidelity=0.1) as promote:
            for inputs, targets in batches:
                loss = promote(criterion(model(inputs), targets))
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
        promote.values                                      # {"fidelity": 0.31}

    Within the block, the attention of the model is seen as `synergraph.watch` sees it: of models of transformers,
    `torch.nn.MultiheadAttention`, calls of `scaled_dot_product_attention`, and modules that return attention weights. Call the object
    with the loss of each step: it returns loss - sum of strength * value, and forgets the step. The values are means over the layers
    and sequences of the step.

    Parameters
    ----------
    model
        A `torch.nn.Module`; None: attention comes by `add` alone.
    fidelity, log_fidelity
        Strengths of the minimax fidelity within `horizon` steps, softened by `softness`, and of its natural logarithm.
    speed, log_speed
        Strengths of 1 - E[min(T, cutoff)] / cutoff, and of minus the natural logarithm of the mean hitting time. Negative strengths demote.
    layers
        Layers as `synergraph.watch` takes them. Default: all.
    weights
        "uniform", "learned" (the norms of the heads' blocks of the output projection, without gradients), or one number for each head.
    sinks
        "last", "all" or positions. One sink invites a star: all tokens that attend to it mix at once. "all" asks it of every token.
    """

    def __init__(self, model: Any = None, *, fidelity: float = 0.0, log_fidelity: float = 0.0, speed: float = 0.0, log_speed: float = 0.0,
                 layers: Any = None, weights: Any = "uniform", sinks: Any = "last", softness: float = 0.05, horizon: int = 100,
                 cutoff: int = 100, threads: Optional[int] = None) -> None:
        given = (fidelity, log_fidelity, speed, log_speed)
        self._strengths = {goal: finite(value, goal) for goal, value in zip(_GOALS, given)}
        if not any(self._strengths.values()):
            raise UsageError(f"Regulariser: no strength is given; expected one of {', '.join(_GOALS)}")
        if isinstance(weights, str) and weights not in ("uniform", "learned"):
            raise UsageError(f"weights: {weights!r} is neither 'uniform' nor 'learned'")
        self._weights, self._sinks = weights, autograd.sink_options(sinks)
        self._softness = finite(softness, "softness", 0.0, 1.0)
        self._horizon, self._cutoff = (whole(value, name, _MOST_STEPS, 1) for value, name in ((horizon, "horizon"), (cutoff, "cutoff")))
        self._threads = threads
        self._recorder = _History(model, layers)
        #: The values of the last step, means over layers and sequences: {"fidelity": 0.12}.
        self.values: Dict[str, float] = {}

    def __enter__(self) -> "Regulariser":
        self._recorder.start()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self._recorder.stop()
        self.clear()

    def add(self, attention: Any, *, lengths: Any = None, padding: str = "right") -> None:
        """Adds a layer of this step from one's own code: attention or `from_qk`, (..., heads, n, n), with gradients."""
        self._recorder.seen.append((Layer(f"added {len(self._recorder.seen)}"), attention, lengths, padding))

    def clear(self) -> None:
        """Forgets the attention that was seen since the last call."""
        self._recorder.seen = []
        self._recorder.layers.clear()
        self._recorder.places.clear()

    def _value(self, goal: str, attention: Any, weights: Any, common: Dict[str, Any]) -> Any:
        if goal in ("fidelity", "log_fidelity"):
            options = {**self._sinks, "softness": self._softness, "horizon": self._horizon, "log": goal == "log_fidelity"}
            return autograd.apply("minimax", [attention], weights, options, **common)
        if goal == "speed":
            options = {**self._sinks, "cutoff": self._cutoff}
            return 1 - autograd.apply("truncated_hitting_time", [attention], weights, options, **common) / self._cutoff
        return -autograd.apply("hitting_time", [attention], weights, {**self._sinks, "log": True}, **common)

    def _weights_of(self, layer: Layer) -> Any:
        if not isinstance(self._weights, str):
            return self._weights
        if self._weights == "uniform":
            return None
        if isinstance(layer.learned, str):
            raise InputError(f"layer {layer.name}: {layer.learned}")
        return layer.learned

    def penalty(self) -> Any:
        """What is to be added to the loss of this step: minus the sum of strength * value. Forgets the step."""
        seen = self._recorder.seen
        refused = {name: layer.refused for name, layer in self._recorder.layers.items() if layer.refused is not None}
        try:
            if refused:
                name, reason = next(iter(refused.items()))
                raise InputError(f"layer {name}: {reason}")
            if self._recorder.places:
                self._recorder.choice.refuse_unmet(list(self._recorder.places))
            if not seen:
                raise InputError("no attention with gradients was seen: run the model in the block, with gradients on, before the loss")
            found: Dict[str, List[Any]] = {goal: [] for goal, strength in self._strengths.items() if strength}
            for layer, attention, lengths, side in seen:
                common = {"lengths": lengths, "padding": side, "row_tolerance": None, "threads": self._threads}
                for goal, values in found.items():
                    values.append(self._value(goal, attention, self._weights_of(layer), common).mean())
            means = {goal: sum(values[1:], values[0]) / len(values) for goal, values in found.items()}
        finally:
            self.clear()
        self.values = {goal: float(value.detach()) for goal, value in means.items()}
        terms = [-self._strengths[goal] * value for goal, value in means.items()]
        return sum(terms[1:], terms[0])

    def __call__(self, loss: Any) -> Any:
        """The loss with what is promoted."""
        return loss + self.penalty().to(loss.device)
