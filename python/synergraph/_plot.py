"""Figures with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ._result import Measurement

_MARKS = "osD^"
# Told apart by those who see few colours, and in grey.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")


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
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
    if len(conventions) > 1:
        np.ravel(panels)[0].legend(frameon=False)
    return figure
