"""What differs between two results."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from . import _library, _options
from ._errors import InputError, UsageError
from ._measure import measure, settings_of, with_settings
from ._model import Model, load_model
from ._result import Document, Measurement, Numbers

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

_PARTS = ("a", "b", "difference", "low", "high", "p", "p_corrected")


class Differences(Numbers):
    """Differences B - A by quantity. `a`, `b`, `low`, `high`, `p` and `p_corrected` have the same quantities."""

    def __init__(self, arrays: Dict[str, NDArray[Any]]) -> None:
        parts = {part: {name[len(part) + 1:]: values for name, values in arrays.items() if name.startswith(part + "/")} for part in _PARTS}
        super().__init__(parts["difference"])
        self.a = Numbers(parts["a"])  #: means in A
        self.b = Numbers(parts["b"])  #: means in B
        self.low = Numbers(parts["low"])  #: lower ends of the intervals of the differences
        self.high = Numbers(parts["high"])  #: upper ends
        self.p = Numbers(parts["p"])  #: two-sided p-values, not corrected
        self.p_corrected = Numbers(parts["p_corrected"])  #: after Holm's correction


class Comparison(Document):
    """What differs between two results: see `compare`.

    `change["minimax_fidelity"]` has the differences B - A of all heads together by layer, and `change.heads["minimax_fidelity"]` those of
    single heads, (layers, heads). `change.combined.low`, `.high`, `.p` and `.p_corrected`, and the same of `change.heads`, say how sure
    they are.
    """

    dims: Tuple[str, ...] = ("layer",)

    def _set(self, arrays: Dict[str, Tuple[Tuple[str, ...], NDArray[Any]]]) -> None:
        numbers = {name: values for name, (_, values) in arrays.items()}
        self.combined = Differences({name: values for name, values in numbers.items() if not name.startswith("heads/")})
        self.heads = Differences({name[6:]: values for name, values in numbers.items() if name.startswith("heads/")})
        self._all = self.combined

    @property
    def paired(self) -> bool:
        """Whether sample k of A was compared with sample k of B."""
        return bool(self.to_dict()["paired"])

    @property
    def why(self) -> str:
        """Why samples are paired, or not."""
        return str(self.to_dict()["why"])

    @property
    def layers(self) -> List[str]:
        """The layers' names in A."""
        return [str(layer["name"]) for layer in self.to_dict()["layers"]]

    @property
    def level(self) -> float:
        """Coverage of the intervals."""
        return float(self.to_dict()["level"])

    def to_pandas(self) -> "pandas.DataFrame":
        """One row a layer, head and quantity; the head "combined" stands for all heads together."""
        import pandas

        rows = []
        for layer in self.to_dict()["layers"]:
            for head, numbers in [*enumerate(layer["heads"]), ("combined", layer["combined"])]:
                rows += [{"layer": layer["name"], "head": head, "quantity": name, **number} for name, number in numbers.items()]
        return pandas.DataFrame(rows)

    def plot(self, quantities: Optional[Sequence[str]] = None, **options: Any) -> "Figure":
        """Differences by layer with their intervals, and a map of the heads' differences (matplotlib).

        `quantities` chooses among those that were compared. `options` go to `matplotlib.pyplot.subplots`, such as `figsize=(7, 3)`.
        """
        from ._plot import plot_comparison

        return plot_comparison(self, quantities, **options)


def _texts(result: Measurement) -> str:
    """The settings, and the numbers of every sample."""
    return f"{result.to_json()}\n{result.to_csv()}"


def _side(side: Any, name: Optional[str], measuring: Dict[str, Any], sinks: Optional[int]) -> Tuple[str, Optional[str], Optional[int], bool]:
    """The text that the library compares, what reports call it, sinks of each sample, and whether it was measured here."""
    if isinstance(side, Measurement):
        return _texts(side), name, max(1, len(side.sinks)), False
    if isinstance(side, Document):
        raise InputError(f"{name or 'a side'}: {type(side).__name__} is not a result of sg.measure, Watch.result or Model.measure")
    if _options.is_path(side):
        path = os.fspath(side)
        name = name or str(path)
        if str(path).endswith((".json", ".csv")):
            try:
                with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
                    return file.read(), name, sinks, False
            except OSError as error:
                raise InputError(f"{path}: {error.strerror}") from None
        if "task" in measuring or "tokens" in measuring:
            side = load_model(path)
    measured = side.measure(**measuring) if isinstance(side, Model) else measure(side, **measuring)
    return _texts(measured), name, max(1, len(measured.sinks)), True


@with_settings("compare")
def compare(
    a: Any, b: Any, *,
    # settings: compare
    quantities: Union[str, Sequence[str], None] = None,
    pairing: Optional[str] = None,
    level: Optional[float] = None,
    sinks: Optional[int] = None,
    verbose: bool = False,
    # end of settings
    names: Optional[Sequence[str]] = None,
    **measuring: Any,
) -> Comparison:
    """What differs between two results, by layer and head: B - A, with intervals and a correction for the number of tests.

    `a` and `b` are results of `measure`, `Watch.result` or `Model.measure`; or paths of what the program has written (`--json`,
    `--per-sample` with the ending .csv); or what these functions measure: attention, its path, a `Model`. `measuring` are then their
    options, the same for both; with `task` or `tokens` a path is that of a checkpoint.

    >>> import numpy as np
    >>> attention = np.tril(np.random.default_rng(1).random((2, 8, 3, 5, 5)) + 0.1)
    >>> sharper = attention ** 2
    >>> change = compare(attention / attention.sum(-1, keepdims=True), sharper / sharper.sum(-1, keepdims=True))
    >>> change["minimax_fidelity"].shape, change.combined.p_corrected["minimax_fidelity"].shape
    ((2,), (2,))
    >>> change.paired, change.why
    (True, 'sample k of A with sample k of B')

    Samples are paired if both results have the numbers of every sample and as many samples. Sample k of both must then be the same text:
    pass `pairing="none"` if it is not. The intervals are Student's, of the pairs' differences, or Welch's without pairs. Holm's correction
    counts all layers and quantities together, and all single heads and quantities together. Samples with an infinite number are left out.

    (settings)
    - `names`: names of A and B in reports.
    """
    options = settings_of("compare", locals())
    given: Tuple[Optional[str], ...] = (None, None)
    if names is not None:
        listed = _options.texts(names, "names", "two names")
        if isinstance(listed, str) or len(listed) != 2:
            _options.refuse("names", names, "two names")
        given = tuple(listed)
    sides = [_side(side, name, measuring, sinks) for side, name in zip((a, b), given)]
    if measuring and not any(measured for *_, measured in sides):
        raise UsageError(f"{next(iter(measuring))}: both sides are results already; this option is for what is measured")
    counts = {count for _, _, count, _ in sides if count is not None}
    if len(counts) > 1:
        raise InputError(f"A was measured up to {sides[0][2]} sinks and B up to {sides[1][2]}")
    options.update(sinks=next(iter(counts), None), name_a=sides[0][1] or "A", name_b=sides[1][1] or "B")
    return Comparison(_library.make("result", "sg_compare", _library.encoded(options), *(
        text.encode(errors="surrogateescape") for text, *_ in sides)))
