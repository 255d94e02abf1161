"""Figures with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional, Sequence

import numpy as np

from ._errors import InputError, UsageError
from ._options import shown
from ._quantities import QUANTITIES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ._compare import Comparison
    from ._families import Families
    from ._heads import HeadValues
    from ._result import GraphResult, Measurement
    from ._track import Track

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


def _signed_image(panel: Any, values: Any, signed: bool = False) -> Any:
    """A map whose colours say the sign: white is 0. Without negative values, from white upwards."""
    most = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    signed = signed or bool((values < 0).any())
    return panel.imshow(values, aspect="auto", cmap="RdBu_r" if signed else "Blues", vmin=-most if signed else 0.0, vmax=most)


def _wide_scale(panel: Any, values: Any) -> None:
    """A logarithmic axis where a straight one would hide the small numbers."""
    positive = values[np.isfinite(values) & (values > 0)]
    if not positive.size or positive.max() <= 20 * positive.min():
        return
    if np.all(values[np.isfinite(values)] > 0):
        panel.set_yscale("log")
    else:
        panel.set_yscale("symlog", linthresh=float(positive.min()))


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
        for c, convention in enumerate(conventions):
            low, middle, high = np.nanquantile(values[c], (0.1, 0.5, 0.9), axis=-1)
            places = np.arange(len(layers)) + 0.12 * (c - (len(conventions) - 1) / 2)
            panel.errorbar(places, middle, yerr=(middle - low, high - middle), fmt=f"-{_MARKS[c % len(_MARKS)]}", markersize=4,
                           linewidth=1, capsize=2, color=_COLOURS[c % len(_COLOURS)], label=convention)
        _wide_scale(panel, values)
        _layer_axis(panel, "x", layers)
        panel.set_ylabel(QUANTITIES[name].label)
        _plain(panel)
    if len(conventions) > 1:
        _legend_beside(np.ravel(panels)[-1])
    return figure


def _label(quantity: str) -> str:
    """A quantity in words; a T_mix by its threshold."""
    if quantity in QUANTITIES:
        return QUANTITIES[quantity].label
    if quantity.startswith("mixing_time_"):
        return f"T_mix({quantity[len('mixing_time_'):]})"
    return quantity.replace("_", " ")


def _chosen_quantities(wanted: Optional[Sequence[str]], known: Sequence[str], usual: Sequence[str]) -> List[str]:
    if wanted is None:
        return [name for name in usual if name in known] or list(known)[:2]
    listed = [wanted] if isinstance(wanted, str) else list(wanted)
    for name in listed:
        if name not in known:
            raise UsageError(f"quantities: {shown(name)} is not one of {', '.join(known)}")
    return listed


def plot_comparison(change: "Comparison", quantities: Optional[Sequence[str]], **options: Any) -> "Figure":
    """A row a quantity: differences by layer with intervals, and a map of the heads' differences."""
    import matplotlib.pyplot as plt

    names = _chosen_quantities(quantities, list(change), ("truncated_hitting_mean", "minimax_fidelity", "synergy"))
    layers, clear = change.layers, 1.0 - change.level
    places = np.arange(len(layers))
    options.setdefault("figsize", (8.5, max(2.4, 0.16 * len(layers) + 1.0) * len(names)))
    options.setdefault("constrained_layout", True)
    figure, panels = plt.subplots(len(names), 2, squeeze=False, **options)
    for (left, right), name in zip(panels, names):
        part = change.combined
        middle, low, high, p = (np.asarray(one[name], dtype=float) for one in (part, part.low, part.high, part.p_corrected))
        for place in places[np.isfinite(low)]:
            left.plot((low[place], high[place]), (place, place), color=_COLOURS[0], linewidth=1.2)
        sure = p < clear
        left.scatter(middle[sure], places[sure], s=18, color=_COLOURS[0], zorder=3, label=f"p < {clear:.4g} (Holm)")
        left.scatter(middle[~sure], places[~sure], s=18, facecolor="white", edgecolor=_COLOURS[0], zorder=3, label="not clear")
        left.axvline(0, color="black", linewidth=0.8)
        _layer_axis(left, "y", layers)
        left.set_ylim(-0.6, len(layers) - 0.4)
        left.set_xlabel(f"{_label(name)}, B - A")
        _plain(left)
        if name == names[0]:
            left.legend(frameon=False, fontsize="small", ncol=2, loc="lower left", bbox_to_anchor=(0.0, 1.0), handletextpad=0.2)
        if name not in change.heads or not np.isfinite(change.heads[name]).any():
            right.set_axis_off()
            continue
        values = np.asarray(change.heads[name], dtype=float)
        image = _signed_image(right, values, signed=True)
        figure.colorbar(image, ax=right, label=f"{_label(name)}, B - A")
        rows, columns = np.nonzero(np.asarray(change.heads.p_corrected[name]) < clear)
        right.scatter(columns, rows, s=4, color="black")
        right.invert_yaxis()
        _layer_axis(right, "y", layers)
        _name_ticks(right, "x", [str(head) for head in range(values.shape[1])], "head")
    return figure


def plot_track(track: "Track", quantities: Optional[Sequence[str]], **options: Any) -> "Figure":
    """The loss, and quantities of every layer, over the steps."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator

    if not len(track):
        raise InputError("nothing has been measured yet")
    names = _chosen_quantities(quantities, list(track), ("truncated_hitting_mean", "minimax_fidelity"))
    has_loss = bool(np.isfinite(track.loss).any())
    count = len(names) + has_loss
    options.setdefault("figsize", (3.4 * count + 1.0, 2.8))
    options.setdefault("constrained_layout", True)
    options.setdefault("sharex", True)
    figure, panels = plt.subplots(1, count, squeeze=False, **options)
    row = list(panels[0])
    if has_loss:
        row[0].plot(track.steps[np.isfinite(track.loss)], track.loss[np.isfinite(track.loss)], color="black", linewidth=1, marker="o", markersize=3)
        row[0].set_ylabel("loss")
    for panel, name in zip(row[has_loss:], names):
        values = np.asarray(track[name], dtype=float)
        values = np.where(np.isfinite(values), values, np.nan)
        for layer, (colour, label) in enumerate(zip(_layer_colours(len(track.layers)), short_names(track.layers))):
            panel.plot(track.steps, values[:, layer], color=colour, linewidth=1, marker=_MARKS[layer % len(_MARKS)], markersize=3, label=label)
        _wide_scale(panel, values)
        panel.set_ylabel(_label(name))
    for panel in row:
        panel.set_xlabel("step")
        panel.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
        _plain(panel)
    _legend_beside(row[-1], "layer")
    return figure


def plot_families(result: "Families", **options: Any) -> "Figure":
    """Fidelity against mixing time, both logarithmic: a line for each family, a mark for each size."""
    import matplotlib.pyplot as plt

    options.setdefault("figsize", (7.0, 3.6))
    options.setdefault("constrained_layout", True)
    figure, panel = plt.subplots(**options)
    names, nodes = np.array(result.names), np.asarray(result["nodes"])
    with np.errstate(divide="ignore"):
        time, fidelity = np.log(result["averaged_mixing_time"]), np.log(result["normalised_fidelity"])
    for k, name in enumerate(dict.fromkeys(result.names)):
        chosen = [(names == name) & (nodes == size) for size in dict.fromkeys(nodes[names == name].tolist())]
        means = np.array([(time[graphs].mean(), fidelity[graphs].mean()) for graphs in chosen])
        means = np.exp(means[np.isfinite(means).all(1)])
        filled = "none" if k >= len(_COLOURS) else _COLOURS[k]
        panel.plot(means[:, 0], means[:, 1], color=_COLOURS[k % len(_COLOURS)], marker=_MARKS[k // len(_COLOURS) % len(_MARKS)], markerfacecolor=filled,
                   linewidth=1, markersize=4, label=name)
    panel.set_xscale("log")
    panel.set_yscale("log")
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_formatter("{x:g}")
    panel.xaxis.set_minor_formatter("{x:g}")
    panel.set_xlabel("averaged mixing time, in steps")
    panel.set_ylabel("normalised fidelity F")
    _plain(panel)
    _legend_beside(panel, "family")
    return figure
