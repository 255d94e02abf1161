"""Training models of the paper's kind, and its whole study."""

from __future__ import annotations

import json
import shutil
from ctypes import POINTER, byref, c_int32
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from . import _library
from ._attention import Path
from ._errors import InputError
from ._measure import settings_of, with_settings
from ._model import Model, load_model
from ._options import number
from ._progress import Progress, progress_function
from ._result import Document
from ._views import tokens_of

if TYPE_CHECKING:
    import pandas


def _pairs(pairs: Any, what: str) -> Tuple[_library.Pairs, List[NDArray[np.int32]]]:
    """Pairs (inputs, targets) as the library takes them, and the arrays behind them."""
    arrays = []
    if not isinstance(pairs, (tuple, list)) or len(pairs) != 2:
        raise InputError(f"{what}: expected a pair of arrays, inputs and targets")
    for values, least in zip(pairs, (0, -1)):  # a target of -1 does not count
        arrays.append(tokens_of(values, what, 2**31 - 1, least))
    if arrays[0].shape != arrays[1].shape:
        raise InputError(f"{what}: inputs have shape {arrays[0].shape}, targets {arrays[1].shape}")
    pointers = [array.ctypes.data_as(POINTER(c_int32)) for array in arrays]
    return _library.Pairs(*arrays[0].shape, *pointers), arrays


# Strengths by metric, {"fidelity": 0.1}, or texts "fidelity=0.1".
Promote = Union[Mapping[str, float], str, Sequence[str], None]


def _promoted(promote: Promote) -> Union[str, Sequence[str], None]:
    """Texts NAME=STRENGTH."""
    if not isinstance(promote, Mapping):
        return promote
    return [f"{name}={number(strength, f'promote[{name!r}]')!r}" for name, strength in promote.items()] or None


class Training:
    """A run that is done: see `train`."""

    def __init__(self, out: Path, outcome: Dict[str, Any]) -> None:
        self.directory = FilePath(out)
        self.path = self.directory / "model.safetensors"  #: the checkpoint
        self.steps: int = outcome["steps"]
        self.loss: float = outcome["loss"]  #: of the last epoch, with dropout
        self.accuracy: float = outcome["accuracy"]
        self.held_out = "held_out_loss" in outcome  #: the next two are on sequences that are not trained on
        judged = "held_out" if self.held_out else "training_pairs"
        self.judged_loss: float = outcome[f"{judged}_loss"]
        self.judged_accuracy: float = outcome[f"{judged}_accuracy"]
        self.seconds: float = outcome["seconds"]
        #: the mean of each promoted metric over the last epoch; empty if nothing is promoted
        self.promoted: Dict[str, Optional[float]] = outcome.get("promoted", {})

    @property
    def model(self) -> Model:
        """The model."""
        return load_model(self.path)

    @property
    def log(self) -> List[Dict[str, Any]]:
        """One entry an epoch: docs/formats.md."""
        with open(self.directory / "metrics.jsonl", encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]

    def to_pandas(self) -> "pandas.DataFrame":
        """The log, one row an epoch."""
        import pandas

        return pandas.DataFrame(self.log)

    def __repr__(self) -> str:
        judged = "held-out" if self.held_out else "training pairs"
        return (f"<synergraph.Training: {self.steps} steps, loss {self.loss:.4g}, accuracy {self.accuracy:.4f}; "
                f"{judged}: {self.judged_loss:.4g}, {self.judged_accuracy:.4f}; {self.path}>")


@with_settings("train")
def train(
    out: Path,
    *,
    data: Any = None,
    validation: Any = None,
    # settings: train
    heads: Optional[int] = None,
    epochs: Optional[int] = None,
    sequences: Optional[int] = None,
    seed: Optional[int] = None,
    layers: Optional[int] = None,
    width: Optional[int] = None,
    hidden: Optional[int] = None,
    vocabulary: Optional[int] = None,
    length: Optional[int] = None,
    batch: Optional[int] = None,
    dropout: Optional[float] = None,
    learning_rate: Optional[float] = None,
    beta1: Optional[float] = None,
    beta2: Optional[float] = None,
    epsilon: Optional[float] = None,
    promote: Promote = None,
    task: Optional[str] = None,
    resume: bool = False,
    checkpoint_every: Optional[float] = None,
    track: Optional[int] = None,
    device: Optional[str] = None,
    precision: Optional[str] = None,
    # end of settings
    threads: Optional[int] = None,
    progress: Progress = None,
) -> Training:
    """Trains a model, as `synergraph train` does, and leaves it in the directory `out`.

    On a `task` ("copy", "cycle", "recall", ...: docs/tasks.md lists them), or on pairs of one's own, `data=(inputs, targets)` of
    shape (sequences, length), with `validation` pairs to judge by. Targets of -1 count neither for the loss nor for the accuracy.
    Unless given, settings are the paper's, or with `resume` those of the run in the directory.
    Ctrl-C leaves a checkpoint: call again with `resume=True`.

    `promote={"fidelity": 0.1, "speed": 0.05}` adds these metrics of attention to what is trained for (docs/training.md); a negative
    strength discourages one. The mean of each over the last epoch is in `promoted`.

    (settings)

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as out:
    ...     run = train(out, task="copy", heads=2, layers=1, width=8, hidden=8, vocabulary=4, length=6, sequences=50, epochs=1)
    ...     run.steps, run.model
    (1, <synergraph.Model: 1 layers of 2 heads, width 8, 6 tokens of 4 kinds>)
    """
    promote = _promoted(promote)
    options = settings_of("train", locals())
    keep: List[Any] = []
    given: List[Any] = []
    for pairs, what in ((data, "data"), (validation, "validation")):
        if pairs is None:
            given.append(None)
            continue
        structure, arrays = _pairs(pairs, what)
        keep += [structure, *arrays]
        given.append(byref(structure))
    with progress_function(progress, "step") as hear:
        outcome = _library.run_text("sg_train", (_library.path_bytes(out, "out"), _library.encoded(options), *given), threads=threads,
                                    progress=hear, keep=keep)
    return Training(out, json.loads(outcome))


class Study(Document):
    """A study that is done: see `reproduce`. Tables, figures and a page are in its directory."""

    def __init__(self, out: Path, handle: _library.Handle) -> None:
        self.directory = FilePath(out)
        super().__init__(handle)

    def _kept_texts(self) -> Tuple[str, ...]:
        return ("json", "table")

    @property
    def page(self) -> FilePath:
        """The report of the study: an interactive page in one file."""
        return self.directory / "report.html"

    @property
    def statements(self) -> List[str]:
        """What the data say of the paper's claims."""
        return [str(line) for line in self.to_dict()["findings"]["statements"]]

    def to_pandas(self) -> "pandas.DataFrame":
        """One row a task, number of heads, layer, convention and quantity: the mean over seeds with its interval."""
        import pandas

        return pandas.json_normalize(self.to_dict()["findings"]["summaries"])


@with_settings("reproduce")
def reproduce(
    out: Path,
    *,
    # settings: reproduce
    preset: Optional[str] = None,
    tasks: Union[str, Sequence[str], None] = None,
    heads: Union[int, Sequence[int], None] = None,
    seeds: Optional[int] = None,
    seed_list: Union[int, Sequence[int], None] = None,
    epochs: Optional[int] = None,
    sequences: Optional[int] = None,
    layers: Optional[int] = None,
    width: Optional[int] = None,
    hidden: Optional[int] = None,
    vocabulary: Optional[int] = None,
    length: Optional[int] = None,
    batch: Optional[int] = None,
    dropout: Optional[float] = None,
    learning_rate: Optional[float] = None,
    beta1: Optional[float] = None,
    beta2: Optional[float] = None,
    epsilon: Optional[float] = None,
    samples: Optional[int] = None,
    eps: Union[float, Sequence[float], None] = None,
    cutoff: Optional[int] = None,
    horizon: Optional[int] = None,
    subset_samples: Optional[int] = None,
    jobs: Optional[int] = None,
    checkpoint_every: Optional[float] = None,
    device: Optional[str] = None,
    precision: Optional[str] = None,
    figures: Optional[bool] = None,
    # end of settings
    threads: Optional[int] = None,
    progress: Progress = None,
) -> Study:
    """Trains the paper's grid of models, measures it, and shows the paper's tables beside ours, as `synergraph reproduce` does.

    The directory `out` gets results, tables, a page and, where gnuplot is there (or `figures` is True), figures. What is done
    already is kept: after Ctrl-C, call again.

    (settings)
    """
    options = settings_of("reproduce", locals())
    if figures is None:
        options["figures"] = shutil.which("gnuplot") is not None
    with progress_function(progress, "step") as hear:
        handle = _library.run_made("result", "sg_reproduce", (_library.path_bytes(out, "out"), _library.encoded(options)), threads=threads,
                                   progress=hear)
    return Study(out, handle)
