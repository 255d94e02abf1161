"""synergraph: how fast, and how faithfully, attention moves information to the last token.

>>> import numpy as np
>>> import synergraph as sg
>>> attention = np.array([[[1, 0, 0], [0, 1, 0], [0.75, 0.25, 0]],
...                       [[1, 0, 0], [0, 1, 0], [0.25, 0.75, 0]]])
>>> sg.measure(attention)["minimax_fidelity"]
0.5

`measure` takes attention in memory, `Graph` feedforward graphs, `load_model` checkpoints of the paper's models.
"""

from ._attention import learned_weights
from ._errors import Error, InputError, Stopped, UsageError
from ._graph import Graph
from ._library import lib as _lib
from ._measure import fidelity, measure, mixing_time, signal_curves
from ._model import Model, load_model
from ._result import GraphResult, Measurement, Numbers, Result

__version__: str = _lib.sg_version().decode()


def isa() -> str:
    """The instruction set that the kernels use on this CPU: "x86-64-v3"."""
    name = _lib.sg_isa()
    if name is None:
        raise UsageError(_lib.sg_error().decode())
    return str(name.decode())


__all__ = [
    "Error", "Graph", "GraphResult", "InputError", "Measurement", "Model", "Numbers", "Result", "Stopped", "UsageError",
    "__version__", "fidelity", "isa", "learned_weights", "load_model", "measure", "mixing_time", "signal_curves",
]
