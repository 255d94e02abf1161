"""Figures with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

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


def plot_heads(result: "HeadValues", **options: Any) -> "Figure":
    """A row a value: Shapley values of the heads (a map where there are several layers), and the best of so many heads."""
    import matplotlib.pyplot as plt

    values, layers = result.value_names, result.layers
    options.setdefault("figsize", (7.0, 2.8 * len(values)))
    options.setdefault("constrained_layout", True)
    figure, panels = plt.subplots(len(values), 2, squeeze=False, **options)
    for (left, right), value in zip(panels, values):
        numbers = result._part(value)
        shapley = np.asarray(numbers["shapley"]).reshape(len(layers), -1)
        if len(layers) > 1:
            image = left.imshow(shapley, aspect="auto", cmap="viridis")
            figure.colorbar(image, ax=left, label=f"Shapley value ({value})")
            left.set_yticks(range(len(layers)))
            left.set_yticklabels(layers)
            left.set_ylabel("layer")
        else:
            errors = np.nan_to_num(np.asarray(numbers["shapley_error"]).reshape(-1))
            left.bar(range(shapley.shape[1]), shapley[0], yerr=errors if errors.any() else None, capsize=2, color=_COLOURS[0])
            left.axhline(0, color="black", linewidth=0.8)
            left.set_ylabel(f"Shapley value ({value})")
            _plain(left)
        left.set_xlabel("head")
        left.set_xticks(range(shapley.shape[1]))
        best = np.asarray(numbers["best"]).reshape(len(layers), -1)
        for layer, curve in enumerate(best):
            colour = plt.get_cmap("viridis")(0.9 * layer / max(len(layers) - 1, 1))
            right.plot(range(best.shape[1]), curve, marker=_MARKS[layer % len(_MARKS)], markersize=3, linewidth=1, color=colour,
                       label=layers[layer])
        right.set_xlabel("heads kept")
        right.set_ylabel(f"{value} of the best")
        _plain(right)
        if 1 < len(layers) <= 12:
            right.legend(frameon=False, title="layer", fontsize="small", ncol=2 if len(layers) > 6 else 1)
    return figure


def plot_nodes(result: "GraphResult", **options: Any) -> "Figure":
    """Hitting time and fidelity of every node but the sink."""
    import matplotlib.pyplot as plt

    options.setdefault("figsize", (7.0, 2.8))
    options.setdefault("constrained_layout", True)
    figure, panels = plt.subplots(1, 2, **options)
    document = result.to_dict()
    names = [str(head["name"]) for head in document["heads"]]
    for panel, (name, title) in zip(np.ravel(panels), (("hitting_time", "mean hitting time"), ("node_fidelity", "node fidelity"))):
        for head, values in enumerate(result.heads[name]):
            panel.plot(values[:-1], marker=_MARKS[head % len(_MARKS)], markersize=3, linewidth=1,
                       color=_COLOURS[head % len(_COLOURS)], label=names[head])
        panel.plot(result[name][:-1], color="black", marker="x", markersize=4, linewidth=1.5, label="all together")
        panel.set_xlabel("node")
        panel.set_ylabel(title)
        _plain(panel)
    np.ravel(panels)[-1].legend(frameon=False, fontsize="small")
    return figure


def plot_layers(result: "Measurement", **options: Any) -> "Figure":
    """Hitting time and fidelity of all heads together, by layer."""
    import matplotlib.pyplot as plt

    options.setdefault("figsize", (7.0, 2.8))
    options.setdefault("constrained_layout", True)
    figure, panels = plt.subplots(1, 2, **options)
    layers, conventions = result.layers, result.conventions
    panel_titles = (("truncated_hitting_mean", "mean hitting time (cut)"), ("minimax_fidelity", "minimax fidelity"))
    for panel, (name, title) in zip(np.ravel(panels), panel_titles):
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
        panel.set_xticks(range(len(layers)))
        panel.set_xticklabels(layers)
        panel.set_xlabel("layer")
        panel.set_ylabel(title)
        _plain(panel)
    if len(conventions) > 1:
        np.ravel(panels)[0].legend(frameon=False)
    return figure
