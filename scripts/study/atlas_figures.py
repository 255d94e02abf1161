"""Figures of docs/atlas.md (matplotlib), from the tables."""

import os

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from matplotlib.colors import BoundaryNorm, ListedColormap, LogNorm, TwoSlopeNorm  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator  # noqa: E402

from .figures import legend_below, save  # noqa: E402

COLOURS = ("#1b9e77", "#d95f02", "#7570b3", "#e7298a", "#66a61e", "#a6761d", "#444444")
TYPES = ("none", "sink", "previous", "itself", "induction", "duplicate", "several")
TYPE_COLOURS = ("#eeeeee", "#4575b4", "#d73027", "#fdae61", "#1a9850", "#984ea3", "#333333")
EDGES = {"attention": "attention", "norm": "norm edges", "contribution": "contribution edges", "permuted": "permuted rows"}


def number(row, name):
    """A number of a table; NaN where nothing stands."""
    return float(row[name]) if row.get(name) else np.nan


def grid(rows, name):
    """A number of heads as (layers, heads)."""
    values = np.full((1 + max(int(row["layer"]) for row in rows), 1 + max(int(row["head"]) for row in rows)), np.nan)
    for row in rows:
        values[int(row["layer"]), int(row["head"])] = number(row, name)
    return values


def log_norm(values):
    positive = values[np.isfinite(values) & (values > 0)]
    return LogNorm(positive.min(), max(positive.max(), positive.min() * 1.001)) if len(positive) else None


def draw_heads(path, name, tokens, rows):
    """Every head of a model: attention to the first token, our numbers, and types."""
    layers, heads = grid(rows, "sink").shape
    width = max(2.1, 0.075 * heads + 0.9)
    figure, panels = plt.subplots(1, 5, figsize=(5 * width + 0.6, max(2.3, 0.12 * layers + 1.3)), layout="constrained")
    shown = (("sink", "attention to the first token", None), ("minimax_fidelity", "minimax fidelity", "log"),
             ("backward_hitting_time", "h_bwd, in steps", "log"), ("mixing_time_0.25", "mixing time, in steps", "log"))
    for panel, (key, title, scale) in zip(panels, shown):
        values = grid(rows, key)
        masked = np.ma.masked_invalid(np.where(values > 0, values, np.nan)) if scale else values
        colours = matplotlib.colormaps["viridis"].copy()
        colours.set_bad("#cccccc")
        picture = panel.imshow(masked, cmap=colours, interpolation="nearest", aspect="auto",
                               **({"norm": log_norm(values)} if scale else {"vmin": 0, "vmax": 1}))
        figure.colorbar(picture, ax=panel, orientation="horizontal", shrink=0.9, aspect=18).ax.tick_params(labelsize=7)
        panel.set_title(title, fontsize=8)
    kinds = np.zeros((layers, heads))
    for row in rows:
        own = row["types"].split()
        own = [kind for kind in own if kind != "sink"] or own  # a sink with another type shows that one
        kinds[int(row["layer"]), int(row["head"])] = TYPES.index("several" if len(own) > 1 else own[0] if own else "none")
    picture = panels[4].imshow(kinds, cmap=ListedColormap(TYPE_COLOURS), norm=BoundaryNorm(np.arange(-0.5, len(TYPES)), len(TYPES)),
                               interpolation="nearest", aspect="auto")
    bar = figure.colorbar(picture, ax=panels[4], orientation="horizontal", shrink=0.98, aspect=18, ticks=range(len(TYPES)))
    bar.ax.set_xticklabels(TYPES, fontsize=6, rotation=40, ha="right", rotation_mode="anchor")
    panels[4].set_title("type (other types before sink)", fontsize=8)
    for panel in panels:
        panel.set_xlabel("head", fontsize=7)
        panel.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        panel.yaxis.set_major_locator(MaxNLocator(8, integer=True))
        panel.tick_params(labelsize=7)
    panels[0].set_ylabel("layer", fontsize=7)
    figure.suptitle(f"{name}, {tokens} tokens", fontsize=9)
    save(figure, path)


def draw_synergy(path, rows, models):
    """log2 of the synergy by layer, a row for each kind of edges and length; a dot where the interval contains 1."""
    shown = [(name, [row for row in rows if row["model"] == name]) for name in models]
    lines = [(name, own, sorted({(row["edges"], int(row["tokens"])) for row in own}, key=lambda key: (list(EDGES).index(key[0]), key[1])))
             for name, own in shown if own]
    columns = 2
    deep = -(-len(lines) // columns)
    heights = [max(len(keys) for _, _, keys in lines[k * columns : (k + 1) * columns]) for k in range(deep)]
    figure, panels = plt.subplots(deep, columns, figsize=(11.5, sum(0.19 * high + 0.75 for high in heights) + 0.7), squeeze=False,
                                  layout="constrained", height_ratios=[0.19 * high + 0.5 for high in heights])
    norm = TwoSlopeNorm(0, -3, 3)
    for panel in panels.flat[len(lines):]:
        panel.axis("off")
    for panel, (name, own, keys) in zip(panels.flat, lines):
        layers = 1 + max(int(row["layer"]) for row in own)
        values, open_marks = np.full((len(keys), layers), np.nan), []
        for row in own:
            place = keys.index((row["edges"], int(row["tokens"]))), int(row["layer"])
            with np.errstate(divide="ignore"):
                values[place] = np.log2(number(row, "synergy"))
            if number(row, "synergy_low") <= 1 <= number(row, "synergy_high"):
                open_marks.append(place)
        picture = panel.imshow(np.clip(values, -3, 3), cmap="RdBu", norm=norm, interpolation="nearest", aspect="auto")
        if open_marks:
            y, x = zip(*open_marks)
            panel.plot(x, y, ".", color="black", markersize=2.5)
        panel.set_yticks(range(len(keys)), [f"{EDGES[edges]}, {tokens}" for edges, tokens in keys], fontsize=6)
        panel.xaxis.set_major_locator(MaxNLocator(11, integer=True))
        panel.tick_params(axis="x", labelsize=7)
        panel.set_title(name, fontsize=9)
        panel.set_xlabel("layer", fontsize=7)
    bar = figure.colorbar(picture, ax=panels, shrink=0.5, aspect=30, extend="both")
    bar.set_label("log2 of synergy: all heads together over the best head; blue: synergy", fontsize=8)
    bar.ax.tick_params(labelsize=7)
    save(figure, path)


def draw_bound(path, heads, tokens):
    """Minimax fidelity of every head against its bound h_bwd / (n - 1)."""
    columns = 4
    deep = -(-len(heads) // columns)
    figure, panels = plt.subplots(deep, columns, figsize=(11.5, 2.7 * deep + 0.3), squeeze=False, layout="constrained")
    for panel in panels.flat[len(heads):]:
        panel.axis("off")
    for panel, (name, rows) in zip(panels.flat, heads.items()):
        bound, found, sink = (np.array([number(row, key) for row in rows]) for key in ("fidelity_bound", "minimax_fidelity", "sink"))
        known = found > 0
        picture = panel.scatter(bound[known], found[known], c=sink[known], s=9, vmin=0, vmax=1, cmap="viridis", linewidths=0, rasterized=True)
        if known.any():
            ends = np.array([bound[known].min(), bound[known].max()])
            ends = np.minimum(ends, 1.0)
            panel.plot(ends, ends, color="#b2182b", linewidth=1)
            panel.set(xscale="log", yscale="log")
        none = int((~known).sum())
        panel.set_title(f"{name}, {tokens[name]} tokens" + (f" ({none} heads at 0)" if none else ""), fontsize=8)
        panel.tick_params(labelsize=7)
        panel.spines[["top", "right"]].set_visible(False)
        panel.set_xlabel("bound h_bwd / (n - 1)", fontsize=7)
    panels[0, 0].set_ylabel("minimax fidelity", fontsize=8)
    bar = figure.colorbar(picture, ax=panels, shrink=0.6, aspect=30)
    bar.set_label("attention to the first token", fontsize=8)
    bar.ax.tick_params(labelsize=7)
    save(figure, path)


def lines_of(panel, models, rows, x, name, logarithmic):
    for place, model in enumerate(models):
        own = sorted((x(row), number(row, name), number(row, f"{name}_low"), number(row, f"{name}_high")) for row in rows if row["model"] == model)
        if len(own) < 2:
            continue
        at, middle, low, high = np.array(own).T
        colour = COLOURS[place % len(COLOURS)]
        panel.plot(at, middle, "o-", color=colour, markersize=3, linewidth=1.3, label=model)
        panel.fill_between(at, np.where(np.isfinite(low), low, middle), np.where(np.isfinite(high), high, middle), color=colour, alpha=0.2, linewidth=0)
    if logarithmic:
        panel.set_yscale("log")
        low, high = panel.get_ylim()
        panel.yaxis.set_major_locator(LogLocator(subs=(1.0,) if high > 300 * low else (1.0, 2.0, 5.0)))
        panel.yaxis.set_major_formatter(FuncFormatter(lambda value, place: f"{value:g}"))
        panel.yaxis.set_minor_locator(NullLocator())
    panel.tick_params(labelsize=7)
    panel.spines[["top", "right"]].set_visible(False)


def draw_lengths(path, rows, models):
    """What changes with the length of the text."""
    models = [name for name in models if sum(row["model"] == name for row in rows) > 1]
    shown = (("sink_rate", "share of sink heads", False), ("backward_hitting_time", "h_bwd, in steps", True),
             ("normalised_fidelity", "n times minimax fidelity", True), ("fidelity_tightness", "fidelity over its bound", True),
             ("mixing_time_0.25", "mixing time, in steps", True), ("distance", "mean distance, in tokens", True))
    figure, panels = plt.subplots(2, 3, figsize=(10, 5.4), layout="constrained")
    for panel, (name, title, logarithmic) in zip(panels.flat, shown):
        lines_of(panel, models, rows, lambda row: int(row["tokens"]), name, logarithmic)
        panel.set_xscale("log", base=2)
        lengths = sorted({int(row["tokens"]) for row in rows if row["model"] in models})
        kept = [n for n in lengths if n & (n - 1) == 0]
        panel.set_xticks(kept, [str(n) for n in kept])
        panel.minorticks_off()
        panel.set_title(title, fontsize=9)
        panel.set_xlabel("tokens", fontsize=8)
    legend_below(figure, panels[0, 0].get_legend_handles_labels()[0], 0.09)
    save(figure, path)


def draw_depth(path, rows, models):
    """Profiles over the layers."""
    deep = {name: max(int(row["layer"]) for row in rows if row["model"] == name) for name in models}
    shown = (("sink_rate", "share of sink heads", False), ("previous", "attention to the previous token", False),
             ("largest_induction", "largest induction score", False), ("entropy", "entropy of rows, in nats", False),
             ("normalised_fidelity", "n times minimax fidelity", True), ("mixing_time_0.25", "mixing time, in steps", True))
    figure, panels = plt.subplots(2, 3, figsize=(10, 5.4), layout="constrained")
    for panel, (name, title, logarithmic) in zip(panels.flat, shown):
        lines_of(panel, models, [row for row in rows if np.isfinite(number(row, name))], lambda row: int(row["layer"]) / deep[row["model"]], name,
                 logarithmic)
        panel.set_title(title, fontsize=9)
        panel.set_xlabel("layer / last layer", fontsize=8)
    legend_below(figure, panels[0, 0].get_legend_handles_labels()[0], 0.09)
    save(figure, path)


def draw_all(folder, tables):
    """All figures into a folder."""
    os.makedirs(folder, exist_ok=True)
    models = [row["model"] for row in tables["models"]]
    tokens = {row["model"]: int(row["tokens"]) for row in tables["models"]}
    heads = {name: tables[f"heads-{name}"] for name in models}
    for name, rows in heads.items():
        draw_heads(os.path.join(folder, f"heads-{name}.svg"), name, tokens[name], rows)
    draw_synergy(os.path.join(folder, "synergy.svg"), tables["layers"], models)
    draw_bound(os.path.join(folder, "bound.svg"), heads, tokens)
    draw_lengths(os.path.join(folder, "lengths.svg"), tables["lengths"], models)
    draw_depth(os.path.join(folder, "depth.svg"), [row for row in tables["depth"] if tokens[row["model"]] > 16],
               [name for name in models if tokens[name] > 16])
