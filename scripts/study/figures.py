"""Figures of docs/validity.md (matplotlib)."""

import os

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

from .scores_table import SCORES  # noqa: E402

COLOURS = {"structure": "#b2182b", "moved": "#2166ac", "baseline": "#777777", "loss": "#1a9850", "null": "#bbbbbb"}
KINDS = {"structure": "where heads look", "moved": "what heads move", "baseline": "baseline", "loss": "uses the loss", "null": "null"}
LINES = {"best subset": ("black", "-"), "best of other half": ("black", "--"), "random": ("#777777", ":"), "gradient": ("#1a9850", "-"),
         "contribution": ("#2166ac", "-"), "new_residual": ("#67a9cf", "-"), "output_norm": ("#8073ac", "-"), "projection_norm": ("#fdae61", "-"),
         "fidelity_shapley": ("#b2182b", "-"), "speed_shapley": ("#ef8a62", "-")}
NAMES = {"gradient": "gradient × output, absolute", "contribution": "L1 contribution", "new_residual": "projection on the residual",
         "output_norm": "output norm", "projection_norm": "projection norm (weights)", "fidelity_shapley": "minimax fidelity", "speed_shapley": "speed"}


def save(figure, path):
    """The same bytes for the same numbers: no date, fixed names inside the file."""
    with matplotlib.rc_context({"svg.hashsalt": "synergraph", "svg.fonttype": "none"}):
        temporary = f"{path}.{os.getpid()}.part"
        figure.savefig(temporary, format=os.path.splitext(path)[1][1:], metadata={"Date": None} if path.endswith(".svg") else None)
        os.replace(temporary, path)
    plt.close(figure)


def legend_below(figure, handles, height):
    """A legend under the panels, which leave it this share of the figure's height."""
    figure.get_layout_engine().set(rect=(0, height, 1, 1 - height))
    figure.legend(handles=handles, loc="lower center", ncols=4, fontsize=8, frameon=False)


def draw_correlations(path, rows, groups):
    """Rank correlation of every number with the loss's Shapley values: a panel for each group of models, with intervals."""
    groups = [group for group in groups if any(row["models"] == group for row in rows)]
    figure, panels = plt.subplots(1, len(groups), figsize=(3.4 + 2.1 * len(groups), 6.4), sharey=True, squeeze=False, layout="constrained")
    names = list(SCORES)
    for panel, group in zip(panels[0], groups):
        panel.axvline(0, color="#444444", linewidth=0.8)
        for row in rows:
            if row["models"] != group:
                continue
            y = names.index(row["number"]) + (-0.17 if row["ablation"] == "zero" else 0.17)
            colour = COLOURS[row["kind"]]
            panel.plot([row["low"], row["high"]], [y, y], color=colour, linewidth=1.2)
            panel.plot(row["correlation"], y, "o" if row["ablation"] == "zero" else "s", color=colour, markersize=4,
                       markerfacecolor=colour if row["p_holm"] < 0.05 else "white")
        panel.set_title(group, fontsize=9)
        panel.set_xlim(-1, 1)
        panel.set_xticks([-1, -0.5, 0, 0.5, 1])
        panel.tick_params(labelsize=8)
        for y in range(len(names)):
            panel.axhline(y, color="#eeeeee", linewidth=0.6, zorder=0)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0, 0].set_yticks(range(len(names)), [SCORES[name][1] for name in names], fontsize=8)
    panels[0, 0].set_ylim(len(names) - 0.4, -0.6)
    marks = [plt.Line2D([], [], color=colour, marker="o", linestyle="-", label=KINDS[kind]) for kind, colour in COLOURS.items()]
    marks += [plt.Line2D([], [], color="black", marker=mark, linestyle="", markersize=4, label=label)
              for mark, label in (("o", "zero ablation"), ("s", "mean ablation"))]
    marks.append(plt.Line2D([], [], color="black", marker="o", markerfacecolor="white", linestyle="", markersize=4, label="open: not significant (Holm)"))
    panels[0, len(groups) // 2].set_xlabel("rank correlation with the Shapley values by loss, mean over layers, 95 % interval", fontsize=9)
    legend_below(figure, marks, 0.08)
    save(figure, path)


def draw_kept(path, rows, groups):
    """Share of the value of all heads that the first k heads of each order keep."""
    rows = [row for row in rows if row["models"] in groups and row["order"] in LINES]
    groups = [group for group in groups if any(row["models"] == group for row in rows)]
    if not groups:
        return
    kinds = [kind for kind in ("zero", "mean") if any(row["ablation"] == kind for row in rows)]
    figure, panels = plt.subplots(len(kinds), len(groups), figsize=(0.6 + 3.2 * len(groups), 0.9 + 2.7 * len(kinds)), squeeze=False,
                                  layout="constrained")
    for column, group in enumerate(groups):
        for line, kind in enumerate(kinds):
            panel = panels[line, column]
            lowest = 0.0
            for order, (colour, style) in LINES.items():
                for row in rows:
                    if (row["models"], row["ablation"], row["order"]) == (group, kind, order):
                        values = [row[key] for key in row if key.startswith("keep_")]
                        panel.plot([0, *np.arange(1, len(values) + 1), len(values) + 1], [0, *values, 1], color=colour, linestyle=style,
                                   linewidth=1.3, label=NAMES.get(order, order))
                        lowest = min(lowest, *values)
            panel.set_ylim(max(-0.5, lowest - 0.05), 1.1)
            panel.axhline(1, color="#dddddd", linewidth=0.8, zorder=0)
            panel.set_title(f"{group}, {kind} ablation", fontsize=9)
            panel.xaxis.get_major_locator().set_params(integer=True)
            panel.tick_params(labelsize=8)
            panel.spines[["top", "right"]].set_visible(False)
    panels[-1, len(groups) // 2].set_xlabel("heads that stay on in each layer", fontsize=9)
    figure.supylabel("loss saved, of all heads", fontsize=9)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    for handle, label in zip(handles, labels):
        handle.set_label(label)
    legend_below(figure, handles, 0.1)
    save(figure, path)
