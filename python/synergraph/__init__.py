"""synergraph: how fast, and how faithfully, attention moves information to the last token.

>>> import numpy as np
>>> import synergraph as sg
>>> attention = np.array([[[1, 0, 0], [0, 1, 0], [0.75, 0.25, 0]],
...                       [[1, 0, 0], [0, 1, 0], [0.25, 0.75, 0]]])
>>> sg.measure(attention)["minimax_fidelity"]
0.5

`measure` takes attention in memory and says how fast and how faithful it is, `heads` what each of its heads adds; `Mixer` measures one
layer at any weights of its heads; `watch` sees the attention of models while they run, `ablate` says which heads their loss needs; `Graph` is for feedforward graphs, `load_model`
for checkpoints of the paper's models, `train` makes one, and `reproduce` is the paper's study.
"""

try:
    import numpy.typing as _typing
except ModuleNotFoundError as _missing:
    if _missing.name not in ("numpy", "numpy.typing"):
        raise
    raise ModuleNotFoundError("synergraph needs NumPy 1.20 or later: pip install --upgrade numpy", name=_missing.name) from None

from ._ablate import Ablation, Agreement, ablate
from ._attention import learned_weights
from ._compare import Comparison, Differences, compare
from ._design import Design, Designs, design
from ._errors import Error, InputError, OptionError, Stopped, UsageError
from ._families import Families, families
from ._graph import Graph
from ._heads import HeadValues, heads
from ._library import lib as _lib
from ._measure import fidelity, flow, measure, mixing_time, rollout, signal_curves
from ._mixer import Mixer, Subsets
from ._model import Model, load_model
from ._result import Document, GraphResult, Measurement, Numbers, Result
from ._sparse import SparseGraph, family
from ._track import Track, Tracker
from ._train import Study, Training, reproduce, train
from ._watch import Watch, watch

__version__: str = _lib.sg_version().decode()


def isa() -> str:
    """The instruction set that the kernels use on this CPU: "x86-64-v3"."""
    name = _lib.sg_isa()
    if name is None:
        raise UsageError(_lib.sg_error().decode())
    return str(name.decode())


__all__ = [
    "Ablation", "Agreement", "Comparison", "Design", "Designs", "Differences", "Document", "Error", "Families", "Graph", "GraphResult", "HeadValues", "InputError", "Measurement", "Mixer", "Model", "Numbers", "OptionError",
    "Result", "SparseGraph", "Stopped", "Study", "Subsets", "Track", "Tracker", "Training", "UsageError", "Watch", "__version__", "ablate", "compare", "design", "families", "family", "fidelity", "flow", "heads", "isa", "learned_weights", "load_model", "measure",
    "mixing_time", "reproduce", "rollout", "signal_curves", "train", "watch",
]
