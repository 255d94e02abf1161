"""Measuring attention."""

from __future__ import annotations

import re
import textwrap
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, TypeVar, Union

import numpy as np

from . import _attention
from ._attention import Attention, Axes, LayerNumbers
from ._graph import Graph
from ._options import flag, is_path, layer_choice, number, texts, whole
from ._page import Source, weakly
from ._progress import Progress
from ._result import Measurement
from ._settings import SETTINGS
from ._views import numbers, whole_numbers

Convention = Union[str, Sequence[str]]
Function = TypeVar("Function", bound=Callable[..., Any])


def settings_of(call: str, given: Mapping[str, Any]) -> Dict[str, Any]:
    """The settings of a call of the library among the arguments of a function, `locals()`, as the library's options."""
    options: Dict[str, Any] = {}
    for key, (kind, taken, _) in SETTINGS[call].items():
        if not taken or key not in given:
            continue
        value = given[key]
        if value is not None and kind == "numbers":
            value = numbers(value, key).tolist() if np.ndim(value) else number(value, key)
        elif value is not None and kind == "tokens" and not isinstance(value, str):
            value = whole_numbers(value, key).ravel().tolist()
        elif value is not None and kind == "integers":
            value = [whole(one, key) for one in np.ravel(value)]
        elif value is not None and (kind == "names" or key == "convention"):
            value = texts(value, key, "a name, or a list of names")
        elif value is not None and kind == "boolean":
            value = flag(value, key)
        options[key] = value
    return options


def with_settings(call: str) -> Callable[[Function], Function]:
    """Puts what is said of a call's settings where the documentation of a function has "(settings)", but for those that it explains."""
    def documented(function: Function) -> Function:
        text = function.__doc__ or ""
        lines = [f"- `{key}`: {help}." for key, (_, _, help) in SETTINGS[call].items()
                 if key != "convention" and not re.search(rf"^ *- (`\w+`, )*`{key}`", text, re.MULTILINE)]

        def listed(place: "re.Match[str]") -> str:
            return "\n".join(textwrap.fill(line, 132, initial_indent=place[1], subsequent_indent=place[1] + "  ",
                                           break_on_hyphens=False) for line in lines)

        function.__doc__ = re.sub(r"( *)\(settings\)", listed, text)
        return function

    return documented


def measure_attention(attention: Attention, options: Dict[str, Any], *, threads: Optional[int], memory: Optional[int],
                      progress: Progress) -> Measurement:
    """Measures what is ready to be measured."""
    handle = attention.run("sg_measure", options, threads=threads, memory=memory, progress=progress)
    convention = options.get("convention")
    several = convention == "both" or isinstance(convention, list)
    return Measurement(handle, attention, several)


def open_attention(attention: Any, *, axes: Axes, layers: LayerNumbers, lengths: Any, padding: str, sink: Any,
                   row_tolerance: Optional[float], missing_mass: Optional[str]) -> Attention:
    """Arrays, or a file of them."""
    options: Dict[str, Any] = dict(axes=axes, layers=layer_choice(layers), lengths=lengths, padding=padding, sink=sink,
                                   row_tolerance=row_tolerance, missing_mass=missing_mass)
    return _attention.of_file(attention, **options) if is_path(attention) else _attention.of_arrays(attention, **options)


def source_of(attention: Any, weights: Any, **reading: Any) -> Source:
    """Where the page of a result gets its attention from: read again in the same way."""
    known = weakly(attention)

    def reopen(given: Any) -> Attention:
        opened = open_attention(known() if given is None else given, **reading)
        if weights is not None:
            opened.set_weights(weights)
        return opened

    return Source(reopen, path=attention if is_path(attention) else None)


@with_settings("measure")
def measure(
    attention: Any,
    weights: Any = None,
    convention: Convention = "exact",
    *,
    # settings: measure
    layers: LayerNumbers = None,
    axes: Axes = None,
    sink: Any = None,
    lengths: Any = None,
    padding: str = "right",
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
    moved: Optional[Dict[str, Any]] = None,
    threads: Optional[int] = None,
    memory: Optional[int] = None,
    progress: Progress = None,
) -> Measurement:
    """How fast and how faithfully attention moves information to the last token.

    `attention` is an array of softmax probabilities whose last axes are query and key: (heads, n, n), (samples, heads, n, n),
    (layers, samples, heads, n, n), or what `axes` says, such as "layer head query key". NumPy arrays, PyTorch tensors on the
    CPU and anything with `__dlpack__`, `__array_interface__` or the buffer protocol are read where they lie, float16, bfloat16,
    float32 and float64, whatever their strides. A list or a tuple of arrays, one a layer, will do, and so will a dictionary of
    them by the layers' names, the output of a Hugging Face model, or the path of a file. With `axes="sample head query key"` the
    arrays (heads, n, n) of a list are samples, of any lengths.

    >>> import numpy as np
    >>> attention = np.array([[[1, 0, 0], [0, 1, 0], [0.75, 0.25, 0]],
    ...                       [[1, 0, 0], [0, 1, 0], [0.25, 0.75, 0]]])
    >>> result = measure(attention, per_head=True)
    >>> result.mixing_time, result.fidelity, result.synergy
    (4.0, 0.5, 2.0)
    >>> result.heads["minimax_fidelity"]
    array([0.25, 0.25])

    Numbers have the axes `result.dims`: layers and samples, as far as the array has such axes.

    - `weights`: of the heads, (heads) or (layers, heads); unless given, equal ones.
    - `convention`: "exact", "published", or several: then results have an axis more.
    - `axes`: names of the axes, as above.
    - `lengths`: of the samples' sequences, where they are padded, on the `padding` side.
    - `sink`: the token that information moves to, instead of each sequence's last; of several, results have an axis more.
    (settings)
    - `moved`: what the heads move, for `edges`: a dictionary of arrays of the whole attention, or of lists of one array a layer:
      `values` (samples, key heads, tokens, width), `out_proj` (E, heads x width) and its `out_proj_bias`, `residual` (samples, tokens,
      E); of several layers with an axis more, the first. Norm edges take the lengths `norms` (samples, heads, tokens) instead.
    - `layers`: the layers to measure. Give the numbers that results show, `3`, `[1, 4]` or `"4-7"`, or a regular expression for the
      names in a dictionary or a file.
    - `threads`, `memory` (bytes): how much of each is used; results do not depend on it.
    - `progress`: True for a bar (with tqdm, if that is installed), or a function of what is done and the total.
    """
    options = settings_of("measure", locals())
    opened = open_attention(attention, axes=axes, layers=layers, lengths=lengths, padding=padding, sink=sink,
                            row_tolerance=row_tolerance, missing_mass=missing_mass)
    if weights is not None:
        opened.set_weights(weights)
    if moved is not None:
        opened.set_moved(moved)
    result = measure_attention(opened, options, threads=threads, memory=memory, progress=progress)
    result._source = source_of(attention, weights, axes=axes, layers=layers, lengths=lengths, padding=padding, sink=sink,
                               row_tolerance=row_tolerance, missing_mass=missing_mass)
    return result


def _through_layers(attention: Any, options: Dict[str, Any], moved: Optional[Dict[str, Any]], weights: Any,
                    threads: Optional[int], memory: Optional[int], **reading: Any) -> Any:
    given: Dict[str, Any] = dict(axes=None, layers=None, lengths=None, padding="right", sink=None, row_tolerance=None, missing_mass=None)
    unknown = [name for name in reading if name not in given]
    if unknown:
        raise TypeError(f"unexpected option {unknown[0]!r}")
    given.update(reading)
    opened = open_attention(attention, **given)
    if weights is not None:
        opened.set_weights(weights)
    if moved is not None:
        opened.set_moved(moved)
    moves = options.get("edges") not in (None, "attention")  # then no node takes missing mass
    result = opened.stack(options, extra=int(moves and given["missing_mass"] == "node"), threads=threads, memory=memory)
    return result if "sample" in opened.dims or "sink" in opened.dims else result[0]


def rollout(attention: Any, *, threads: Optional[int] = None, memory: Optional[int] = None, **reading: Any) -> Any:
    """Attention rollout: what of each token reaches the sink through all layers, (tokens) or (samples, tokens).

    Every layer passes half of its input beside the heads, and the mean of the heads for the rest. `attention` and the options are
    those of `measure`: `axes`, `layers`, `lengths`, `padding`, `sink`, `row_tolerance`, `missing_mass`.

    >>> import numpy as np
    >>> head = np.array([[1, 0, 0], [0, 1, 0], [0.75, 0.25, 0]])
    >>> rollout([head[None], head[None]])     # two layers of one head
    array([0.5625, 0.1875, 0.25  ])
    """
    return _through_layers(attention, {"method": "rollout"}, None, None, threads, memory, **reading)


def flow(attention: Any, weights: Any = None, *, residual: Optional[float] = None, edges: Optional[str] = None,
         moved: Optional[Dict[str, Any]] = None, threads: Optional[int] = None, memory: Optional[int] = None, **reading: Any) -> Any:
    """Attention flow: the maximum flow from each token to the sink through all layers, (tokens) or (samples, tokens).

    A layer passes at most `residual` (0.5) of a token to itself, and of other tokens what its heads take of them. `weights` of the
    heads are equal unless given; `edges` and `moved` are those of `measure`, and the other options those of `rollout`.

    >>> import numpy as np
    >>> head = np.array([[1, 0, 0], [0, 1, 0], [0.75, 0.25, 0]])
    >>> flow([head[None], head[None]])
    array([0.75, 0.25, 0.5 ])
    """
    options = {"method": "flow", "residual": None if residual is None else number(residual, "residual"), "edges": edges}
    return _through_layers(attention, options, moved, weights, threads, memory, **reading)


def mixing_time(attention: Any, eps: float = 0.25, **options: Any) -> Any:
    """Steps after which a walk from any token has reached the sink but for a chance of `eps`; infinity: some walk never does.

    Of a `Graph`, or of what `measure` takes, with its options.

    >>> mixing_time(Graph.example(1))
    10.0
    """
    measured = attention.measure(eps=eps, **options) if isinstance(attention, Graph) else measure(attention, eps=eps, **options)
    return measured.mixing_time


def fidelity(attention: Any, **options: Any) -> Any:
    """The minimax fidelity: the weakest peak signal that any token delivers to the sink by diffusion.

    Of a `Graph`, or of what `measure` takes, with its options.

    >>> fidelity(Graph.example(1))
    0.421875
    """
    measured = attention.measure(**options) if isinstance(attention, Graph) else measure(attention, **options)
    return measured.fidelity


def signal_curves(attention: Any, steps: int = 20, *, layer: int = 0, sample: int = 0, weights: Any = None, axes: Axes = None,
                  row_tolerance: Optional[float] = None, missing_mass: Optional[str] = None) -> Any:
    """The signal of every token at the sink after 0 to `steps` steps of diffusion: (heads + 1, steps + 1, tokens).

    The last of the first axis is all heads together. Of a `Graph`, or of one layer and sample of what `measure` takes.

    >>> signal_curves(Graph.example(1), 3)[-1].round(3)
    array([[0.   , 0.   , 1.   ],
           [0.   , 0.25 , 0.75 ],
           [0.062, 0.375, 0.562],
           [0.156, 0.422, 0.422]])
    """
    opened = attention.as_attention() if isinstance(attention, Graph) else open_attention(
        attention, axes=axes, layers=None, lengths=None, padding="right", sink=None, row_tolerance=row_tolerance,
        missing_mass=missing_mass)
    if weights is not None:
        opened.set_weights(weights)
    return opened.curves(whole(layer, "layer"), whole(sample, "sample"), whole(steps, "steps"))
