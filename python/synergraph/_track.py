"""Quantities over the training of a model."""

from __future__ import annotations

import csv
import importlib
import io
import json
import math
import os
import time
import warnings
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from . import _options
from ._errors import InputError, UsageError
from ._live.frozen import frozen
from ._live.modules import Chosen
from ._live.names import nearest
from ._live.passes import list_inputs
from ._live.recorder import Layers
from ._result import Measurement, Numbers
from ._watch import watch

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

_PLACE = ("step", "seconds", "layer", "head", "loss")
#: What the log of `synergraph train --track` calls quantities.
_OF_TRAIN = {"mixing_time": "mixing_time_0.25", "hitting_time": "hitting_mean", "truncated_time": "truncated_hitting_mean",
             "fidelity": "minimax_fidelity", "best_head_fidelity": "best_head_fidelity"}

Log = Union[None, str, Any, Callable[[Dict[str, float], int], Any]]


class _Moment(NamedTuple):
    """What was measured at one step: numbers by quantity, layers (layers) and heads (layers, heads)."""

    step: int
    seconds: float
    loss: float
    layers: List[str]
    all: Dict[str, NDArray[np.float64]]
    heads: Dict[str, NDArray[np.float64]]


def _mean(summary: Mapping[str, Any]) -> float:
    """The mean of the finite values; infinity if all are infinite."""
    if summary["mean"] is not None:
        return float(summary["mean"])
    return math.inf if summary["never"] == summary["samples"] else math.nan


def _is_summary(value: Any) -> bool:
    return isinstance(value, dict) and "mean" in value and "never" in value


def _moment_of(result: Measurement, step: int, seconds: float, loss: float) -> _Moment:
    layers = result.to_dict()["conventions"][0]["layers"]
    all_heads = [{**layer["combined"], **layer} for layer in layers]
    names = [name for name in result if _is_summary(all_heads[0].get(name))]
    most = max(len(layer["heads"]) for layer in layers)

    def of_head(layer: Dict[str, Any], head: int, name: str) -> float:
        return _mean(layer["heads"][head][name]) if head < len(layer["heads"]) and name in layer["heads"][head] else math.nan

    heads = {name: np.array([[of_head(layer, head, name) for head in range(most)] for layer in layers]) for name in result.heads}
    return _Moment(step, seconds, loss, [str(layer["name"]) for layer in layers],
                   {name: np.array([_mean(layer[name]) if name in layer else math.nan for layer in all_heads]) for name in names},
                   {name: values for name, values in heads.items() if np.isfinite(values).any()})


def _cell(value: float) -> str:
    return "" if math.isnan(value) else "inf" if math.isinf(value) else repr(float(value))


class Track(Mapping[str, Any]):
    """Quantities over the steps of a training run.

    `track["minimax_fidelity"]` has all heads together, (steps, layers), and `track.heads["minimax_fidelity"]` single heads, (steps,
    layers, heads): means over the samples of the batch. `track.steps`, `track.seconds` and `track.loss` have one number for each step.
    """

    def __init__(self, moments: Sequence[_Moment] = ()) -> None:
        self._moments: List[_Moment] = list(moments)

    @property
    def steps(self) -> NDArray[np.int64]:
        """The steps at which the model was measured."""
        return np.array([moment.step for moment in self._moments], dtype=np.int64)

    @property
    def seconds(self) -> NDArray[np.float64]:
        """Seconds from the beginning to each of them."""
        return np.array([moment.seconds for moment in self._moments])

    @property
    def loss(self) -> NDArray[np.float64]:
        """The losses that `Tracker.step` was given there; NaN without one."""
        return np.array([moment.loss for moment in self._moments])

    @property
    def layers(self) -> List[str]:
        """The layers' names."""
        return list(self._moments[0].layers) if self._moments else []

    def __getitem__(self, quantity: str) -> NDArray[np.float64]:
        return np.asarray(Numbers(self._stacked("all"))[quantity])

    @property
    def heads(self) -> Numbers:
        """The numbers of single heads."""
        return Numbers(self._stacked("heads"))

    def _stacked(self, part: str) -> Dict[str, NDArray[Any]]:
        if not self._moments:
            return {}
        names = getattr(self._moments[0], part)
        return {name: np.stack([getattr(moment, part)[name] for moment in self._moments]) for name in names
                if all(name in getattr(moment, part) for moment in self._moments)}

    def __iter__(self) -> Iterator[str]:
        return iter(self._stacked("all"))

    def __len__(self) -> int:
        return len(self._stacked("all"))

    def __repr__(self) -> str:
        if not self._moments:
            return "<synergraph.Track: nothing measured yet>"
        count = len(self._moments)
        return (f"<synergraph.Track: {count} measurement{'s' * (count != 1)}, steps {self.steps[0]} to {self.steps[-1]}, {len(self.layers)} layers, "
                f"{len(self)} quantities>")

    def _columns(self) -> List[str]:
        first = self._moments[0]
        return list(dict.fromkeys([*first.all, *first.heads]))

    @staticmethod
    def _rows(moment: _Moment, columns: Sequence[str]) -> Iterator[List[str]]:
        """The rows of one measurement: the loss, then all heads together and single heads of each layer."""
        begin = [str(moment.step), f"{moment.seconds:.3f}"]
        if not math.isnan(moment.loss):
            yield [*begin, "", "", _cell(moment.loss), *[""] * len(columns)]
        count = max((values.shape[1] for values in moment.heads.values()), default=0)
        for layer, name in enumerate(moment.layers):
            yield [*begin, name, "combined", "", *(_cell(moment.all[key][layer]) if key in moment.all else "" for key in columns)]
            for head in range(count):
                cells = [_cell(moment.heads[key][layer, head]) if key in moment.heads else "" for key in columns]
                if any(cells):
                    yield [*begin, name, str(head), "", *cells]

    def to_csv(self, path: Any = None) -> str:
        """One row for each step, layer and head; "combined" stands for all heads together, and rows without a layer have the loss."""
        text = io.StringIO()
        if self._moments:
            writer = csv.writer(text, lineterminator="\n")
            columns = self._columns()
            writer.writerow([*_PLACE, *columns])
            for moment in self._moments:
                writer.writerows(self._rows(moment, columns))
        if path is not None:
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(text.getvalue())
        return text.getvalue()

    def to_pandas(self) -> "pandas.DataFrame":
        """The rows of `to_csv()`."""
        import pandas

        return pandas.read_csv(io.StringIO(self.to_csv()), dtype={"layer": str, "head": str}, float_precision="round_trip")

    def plot(self, quantities: Optional[Sequence[str]] = None, **options: Any) -> "Figure":
        """The loss, hitting time and fidelity of every layer over the steps (matplotlib).

        `quantities` chooses others. `options` go to `matplotlib.pyplot.subplots`, such as `figsize=(7, 3)`.
        """
        from ._plot import plot_track

        return plot_track(self, quantities, **options)

    @staticmethod
    def read(path: Any) -> "Track":
        """The track in a CSV file of `Tracker`, in the directory of `synergraph train --track N`, or in its log `metrics.jsonl`."""
        name = os.fspath(_options.path(path, "path"))
        if os.path.isdir(name):
            name = os.path.join(name, "metrics.jsonl")
        try:
            with open(name, encoding="utf-8", newline="") as file:
                return Track(_of_log(file, name) if str(name).endswith(".jsonl") else _of_csv(file, name))
        except OSError as error:
            raise InputError(f"{name}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise InputError(f"{name}: the file is not text") from None


def _of_log(lines: Any, name: Any) -> List[_Moment]:
    """What the log of a run of `synergraph train --track` has."""
    moments = []
    for number, line in enumerate(lines, 1):
        try:
            entry = json.loads(line)
            if "layers" not in entry:
                continue
            layers = entry["layers"]
            numbers = {_OF_TRAIN.get(key, key): np.array([math.inf if layer[key] is None else float(layer[key]) for layer in layers])
                       for key in layers[0]}
            moments.append(_Moment(int(entry["step"]), float(entry["seconds"]), float(entry.get("loss", math.nan)),
                                   [str(layer) for layer in range(len(layers))], numbers, {}))
        except (ValueError, KeyError, TypeError, IndexError, AttributeError):
            if moments and not line.endswith("\n"):
                warnings.warn(f"{name}: the last line, {number}, is incomplete and left out", stacklevel=3)
                break
            raise InputError(f"{name}: line {number} is no measurement of synergraph train") from None
    if not moments:
        raise InputError(f"{name}: no layers were measured; train with --track N")
    return moments


def _of_layers(rows: List[List[str]]) -> List[List[str]]:
    return [row for row in rows if row[2]]


def _of_csv(file: Any, name: Any) -> List[_Moment]:
    text = file.read()
    cut = not text.endswith("\n")  # the program ended while it wrote
    rows = csv.reader(io.StringIO(text[:text.rfind("\n") + 1], newline=""))
    header: List[str] = next(rows, [])
    if tuple(header[:len(_PLACE)]) != _PLACE:
        raise InputError(f"{name}: no track; the first line must begin with {','.join(_PLACE)}")
    keys = header[len(_PLACE):]
    found: Dict[int, List[List[str]]] = {}
    for number, row in enumerate(rows, 2):
        if len(row) != len(header) or not row[0].lstrip("-").isdigit():
            raise InputError(f"{name}: line {number} has {len(row)} cells, expected {len(header)} beginning with a step")
        found.setdefault(int(row[0]), []).append(row)
    steps = list(found)
    if len(steps) > 1 and (cut or len(_of_layers(found[steps[-1]])) < len(_of_layers(found[steps[0]]))):
        warnings.warn(f"{name}: the rows of the last step, {steps[-1]}, are incomplete and left out", stacklevel=3)
        del found[steps[-1]]
    moments: List[_Moment] = []
    for step, some in found.items():
        try:
            loss = [float(row[4]) for row in some if not row[2] and row[4]]
            layers = list(dict.fromkeys(row[2] for row in some if row[3] == "combined"))
            heads = max((int(row[3]) + 1 for row in some if row[3].isdigit()), default=0)
            if heads > len(some) or moments and layers != moments[0].layers:
                raise ValueError
            all_heads = {key: np.full(len(layers), math.nan) for key in keys}
            single = {key: np.full((len(layers), heads), math.nan) for key in keys}
            for row in some:
                for key, cell in zip(keys, row[len(_PLACE):]):
                    if cell and row[3] == "combined":
                        all_heads[key][layers.index(row[2])] = float(cell)
                    elif cell:
                        single[key][layers.index(row[2]), int(row[3])] = float(cell)
            moments.append(_Moment(step, float(some[0][1]), loss[0] if loss else math.nan, layers,
                                   {key: values for key, values in all_heads.items() if not np.isnan(values).all()},
                                   {key: values for key, values in single.items() if heads and not np.isnan(values).all()}))
        except ValueError:
            raise InputError(f"{name}: the rows of step {step} are not those of a track") from None
    return moments


def _logger(log: Log) -> Optional[Callable[[Dict[str, float], int], Any]]:
    """What takes numbers by their names, and the step."""
    if log is None:
        return None
    if isinstance(log, str) and log == "tensorboard":
        try:
            writers: Any = importlib.import_module("torch.utils.tensorboard")
        except ImportError:
            raise UsageError("log: 'tensorboard' needs TensorBoard: pip install tensorboard") from None
        log = writers.SummaryWriter()
    elif isinstance(log, str) and log == "wandb":
        try:
            wandb: Any = importlib.import_module("wandb")
        except ImportError:
            raise UsageError("log: 'wandb' needs Weights & Biases: pip install wandb") from None
        if wandb.run is None:
            raise UsageError("log: no run of Weights & Biases is active: call wandb.init() first")
        log = wandb.run
    if hasattr(log, "add_scalar"):  # TensorBoard's SummaryWriter
        writer = log

        def write(numbers: Dict[str, float], step: int) -> None:
            for name, value in numbers.items():
                writer.add_scalar(name, value, step)

        return write
    if hasattr(log, "log"):  # a run of Weights & Biases, or the module
        run = log
        return lambda numbers, step: run.log(numbers, step=step)
    if callable(log):
        made: Callable[[Dict[str, float], int], Any] = log
        return made
    _options.refuse("log", log, "'tensorboard', 'wandb', a SummaryWriter, a run of Weights & Biases, or a function of numbers and step")


class Tracker(Track):
    """Measures a model while it is trained: every `every` steps, on one batch.

    >>> tracker = Tracker(model, batch, every=100, csv="track.csv")        # doctest: +SKIP
    >>> for inputs in loader:                                              # doctest: +SKIP
    ...     loss = train_step(model, inputs)
    ...     tracker.step(loss=loss)
    >>> tracker["minimax_fidelity"], tracker.plot()                        # doctest: +SKIP

    The model is measured when the tracker is made, as step 0, then after every `every` calls of `step`. It runs in evaluation mode and
    without gradients, as `watch` sees it; afterwards modes, buffers and random numbers are what they were, so the training run is the same
    with and without a tracker. `tracker.overhead` is the share of the time since the beginning that measuring took.

    - `batch`: what the model takes, a tensor, a dictionary of keyword arguments or a tuple of arguments; or a list of these.
    - `csv`: a file that gets the rows of every measurement at once. An older file of this name is replaced.
    - `log`: "tensorboard", "wandb", a `SummaryWriter`, a run of Weights & Biases, or a function of a dictionary of numbers and the step.
      Names are such as "synergraph/minimax_fidelity/0", a layer each. Infinite numbers are left out.
    - `quantities`: those that go to `log`; by default truncated_hitting_mean, minimax_fidelity and synergy.
    - `weights`: of the heads, as in `Watch.result`.
    - `layers`, `modules`: as in `watch`; `measuring`: options of `Watch.result`, such as `per_head=True`.
    """

    def __init__(
        self, model: Any, batch: Any, every: int = 100, *, csv: Any = None, log: Log = None,
        quantities: Sequence[str] = ("truncated_hitting_mean", "minimax_fidelity", "synergy"), weights: Any = None,
        layers: Layers = None, modules: Chosen = None, **measuring: Any,
    ) -> None:
        super().__init__()
        self.every = _options.whole(every, "every", least=1)
        listed = _options.texts(quantities, "quantities", "names of quantities")
        self._logged = [listed] if isinstance(listed, str) else listed
        self._log = _logger(log)
        self._csv = None if csv is None else os.fspath(_options.path(csv, "csv"))
        self._model = model
        self._batch = batch
        self._watching: Dict[str, Any] = {"layers": layers, "modules": modules}
        self._measuring = {"weights": weights, **measuring}
        self._begun = time.perf_counter()
        self._measuring_seconds = 0.0
        self.count = 0  #: calls of `step`
        self.measure()

    @property
    def overhead(self) -> float:
        """The share of the time since the tracker was made that measuring took."""
        return self._measuring_seconds / max(time.perf_counter() - self._begun, 1e-9)

    @property
    def seconds_per_measurement(self) -> float:
        """The mean time of a measurement, in seconds."""
        return self._measuring_seconds / max(len(self._moments), 1)

    def __repr__(self) -> str:
        return (f"{super().__repr__()[:-1]}; {self.seconds_per_measurement:.2g} s each, {100 * self.overhead:.1f} % of the time>"
                .replace("synergraph.Track:", "synergraph.Tracker:"))

    def step(self, loss: Any = None) -> Optional[Measurement]:
        """To be called after every training step, with the step's loss if it is to be kept. Returns what was measured, if anything was."""
        self.count += 1
        return self.measure(loss) if self.count % self.every == 0 else None

    def measure(self, loss: Any = None) -> Measurement:
        """Measures the model now."""
        begun = time.perf_counter()
        value = math.nan if loss is None else _options.number(loss.detach() if hasattr(loss, "detach") else loss, "loss")
        result = self._result()
        moment = _moment_of(result, self.count, begun - self._begun, value)
        if unknown := [key for key in self._logged if key not in moment.all]:
            raise UsageError(f"quantities: {unknown[0]!r} is not measured{nearest(unknown[0], list(moment.all))}")
        if self._moments and moment.layers != self._moments[0].layers:
            raise InputError(f"batch: the model ran layers {', '.join(moment.layers[:3])}, ... and at step 0 {', '.join(self.layers[:3])}, ...")
        if self._moments and self._moments[-1].step == moment.step:
            self._moments.pop()  # measured again
        self._moments.append(moment)
        self._write(moment)
        self._measuring_seconds += time.perf_counter() - begun
        return result

    def _result(self) -> Measurement:
        parameter = next(iter(self._model.parameters()), None) if hasattr(self._model, "parameters") else None
        with watch(self._model, **self._watching) as seen, frozen(self._model):
            try:
                listed = list_inputs(self._batch, "cpu" if parameter is None else parameter.device)
            except InputError as error:
                raise InputError(str(error).replace("inputs", "batch", 1)) from None
            for one in listed:
                self._model(**one) if isinstance(one, dict) else self._model(*one) if isinstance(one, tuple) else self._model(one)
        return seen.result(**self._measuring)

    def _write(self, moment: _Moment) -> None:
        if self._csv is not None:
            first = len(self._moments) == 1
            columns = self._columns()
            try:
                with open(self._csv, "w" if first else "a", encoding="utf-8", newline="") as file:
                    writer = csv.writer(file, lineterminator="\n")
                    if first:
                        writer.writerow([*_PLACE, *columns])
                    writer.writerows(self._rows(moment, columns))
            except OSError as error:
                raise InputError(f"csv: {self._csv}: {error.strerror}") from None
        if self._log is not None:
            numbers = {f"synergraph/{key}/{layer}": float(moment.all[key][place]) for key in self._logged if key in moment.all
                       for place, layer in enumerate(moment.layers)}
            self._log({name: value for name, value in numbers.items() if math.isfinite(value)}, moment.step)
