"""Figures with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Sequence

import numpy as np

from ._quantities import QUANTITIES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ._heads import HeadValues
    from ._result import GraphResult, Measurement

_MARKS = "osD^"
# Told apart by those who see few colours, and in grey.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")


def _plain(panel: Any) -> None:
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)


def _shared(lists: Sequence[Sequence[str]]) -> int:
    """How many first elements all lists share."""
    return next((k for k, ones in enumerate(zip(*lists)) if len(set(ones)) > 1), min(map(len, lists)))


def short_names(names: Sequence[str]) -> List[str]:
    """Names without the parts that all of them share: "model.layers.3.self_attn" among its like is "3"."""
    parts = [str(name).split(".") for name in names]
    if len(parts) < 2 or len({tuple(part) for part in parts}) < len(parts):
        return [str(name) for name in names]
    begin = _shared(parts)
    end = _shared([part[begin:][::-1] for part in parts])
    if any(len(part) <= begin + end for part in parts):
        return [str(name) for name in names]
    return [".".join(part[begin:len(part) - end]) for part in parts]


def _name_ticks(panel: Any, axis: str, names: Sequence[str], title: str) -> None:
    """A tick for each name, or for every second, fifth, ... one: as many as the panel has room for."""
    grid = panel.get_subplotspec().get_gridspec()
    width, height = panel.figure.get_size_inches() * 72
    room, needs = (width / grid.ncols, 7 * max(map(len, names)) + 6) if axis == "x" else (height / grid.nrows, 12)
    most = max(2, int(0.6 * room / needs))
    step = next(size for size in (1, 2, 5, 10, 20, 50, 100, 200, 500, len(names)) if len(names) <= size * most or size >= len(names))
    places = list(range(0, len(names), step))
    getattr(panel, f"set_{axis}ticks")(places, [names[place] for place in places])
    getattr(panel, f"set_{axis}label")(title)


def _layer_axis(panel: Any, axis: str, layers: Sequence[str]) -> None:
    """Ticks of layers, without what their names share."""
    _name_ticks(panel, axis, short_names(layers), "layer")


def _signed_image(panel: Any, values: Any) -> Any:
    """A map whose colours say the sign: white is 0. Without negative values, from white upwards."""
    most = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    signed = bool((values < 0).any())
    return panel.imshow(values, aspect="auto", cmap="RdBu_r" if signed else "Blues", vmin=-most if signed else 0.0, vmax=most)


def _layer_colours(count: int) -> List[Any]:
    import matplotlib.pyplot as plt

    return [plt.get_cmap("viridis")(0.9 * layer / max(count - 1, 1)) for layer in range(count)]


def _legend_beside(panel: Any, title: str = "") -> None:
    """The legend to the right of the panel, where it covers no data."""
    entries = len(panel.get_legend_handles_labels()[1])
    panel.legend(frameon=False, title=title or None, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5),
                 ncol=-(-entries // 12), handlelength=1.2, columnspacing=0.8)


def plot_heads(result: "HeadValues", **options: Any) -> "Figure":
    """A row for each value: Shapley values of the heads (a map for several layers), and the best set of each size."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator

    values, layers = result.value_names, result.layers
    options.setdefault("figsize", (8.5, max(2.8, 0.17 * len(layers) + 1.0) * len(values)))
    options.setdefault("constrained_layout", True)
    figure, panels = plt.subplots(len(values), 2, squeeze=False, **options)
    for (left, right), value in zip(panels, values):
        numbers = result._part(value)
        shapley = np.asarray(numbers["shapley"]).reshape(len(layers), -1)
        if len(layers) > 1:
            figure.colorbar(_signed_image(left, shapley), ax=left, label=f"{QUANTITIES['shapley'].label} ({value})")
            _layer_axis(left, "y", layers)
        else:
            errors = np.nan_to_num(np.asarray(numbers["shapley_error"]).reshape(-1))
            left.bar(range(shapley.shape[1]), shapley[0], yerr=errors if errors.any() else None, capsize=2, color=_COLOURS[0])
            left.axhline(0, color="black", linewidth=0.8)
            left.set_ylabel(f"{QUANTITIES['shapley'].label} ({value})")
            _plain(left)
        _name_ticks(left, "x", [str(head) for head in range(shapley.shape[1])], "head")
        best = np.asarray(numbers["best"]).reshape(len(layers), -1)
        for curve, colour, name, layer in zip(best, _layer_colours(len(layers)), short_names(layers), range(len(layers))):
            right.plot(range(best.shape[1]), curve, marker=_MARKS[layer % len(_MARKS)], markersize=3, linewidth=1, color=colour,
                       label=name)
        right.set_xlabel("heads kept")
        right.set_ylabel("loss saved by the best set" if value == "loss" else f"{value} of the best set")
        right.xaxis.set_major_locator(MaxNLocator(integer=True))
        _plain(right)
        if len(layers) > 1:
            _legend_beside(right, "layer")
    return figure


def plot_nodes(result: "GraphResult", **options: Any) -> "Figure":
    """Hitting time and fidelity of every node but the sink."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator

    options.setdefault("figsize", (7.0, 2.8))
    options.setdefault("constrained_layout", True)
    figure, panels = plt.subplots(1, 2, **options)
    document = result.to_dict()
    names = [str(head["name"]) for head in document["heads"]]
    for panel, name in zip(np.ravel(panels), ("hitting_time", "node_fidelity")):
        for head, values in enumerate(result.heads[name]):
            panel.plot(values[:-1], marker=_MARKS[head % len(_MARKS)], markersize=3, linewidth=1,
                       color=_COLOURS[head % len(_COLOURS)], label=names[head])
        panel.plot(result[name][:-1], color="black", marker="x", markersize=4, linewidth=1.5, label="all together")
        panel.set_xlabel("node")
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
        panel.set_ylabel(QUANTITIES[name].label)
        _plain(panel)
    _legend_beside(np.ravel(panels)[-1])
    return figure


def plot_layers(result: "Measurement", **options: Any) -> "Figure":
    """Hitting time and fidelity of all heads together, by layer."""
    import matplotlib.pyplot as plt

    options.setdefault("figsize", (7.0, 2.8))
    options.setdefault("constrained_layout", True)
    figure, panels = plt.subplots(1, 2, **options)
    layers, conventions = result.layers, result.conventions
    for panel, name in zip(np.ravel(panels), ("truncated_hitting_mean", "minimax_fidelity")):
        values = np.asarray(result[name], dtype=float).reshape(len(conventions), len(layers), -1)
        positive = values[np.isfinite(values) & (values > 0)]
        for c, convention in enumerate(conventions):
            low, middle, high = np.nanquantile(values[c], (0.1, 0.5, 0.9), axis=-1)
            places = np.arange(len(layers)) + 0.12 * (c - (len(conventions) - 1) / 2)
            panel.errorbar(places, middle, yerr=(middle - low, high - middle), fmt=f"-{_MARKS[c % len(_MARKS)]}", markersize=4,
                           linewidth=1, capsize=2, color=_COLOURS[c % len(_COLOURS)], label=convention)
        if positive.size and positive.max() > 20 * positive.min():
            panel.set_yscale("log" if np.all(values[np.isfinite(values)] > 0) else "symlog")
            if panel.get_yscale() == "symlog":
                panel.set_yscale("symlog", linthresh=float(positive.min()))
        _layer_axis(panel, "x", layers)
        panel.set_ylabel(QUANTITIES[name].label)
        _plain(panel)
    if len(conventions) > 1:
        _legend_beside(np.ravel(panels)[-1])
    return figure
