"""The tables of the atlas (docs/results/atlas), from the numbers of every text that study/atlas.py kept.

Intervals are 95 % percentile intervals of the bootstrap over texts. Where a row says so, a second interval is over heads.
"""

import csv
import glob
import json
import os
import re

import numpy as np

from . import atlas, head_types
from .readers import InputError

LEAST = 5  # texts, for an interval
MAIN = ("minimax_fidelity", "backward_hitting_time", "mixing_time_0.25")
#: Numbers of tables of lengths: medians over heads.
LENGTHS = ("minimax_fidelity", "normalised_fidelity", "backward_hitting_time", "fidelity_bound", "fidelity_tightness", "mixing_time_0.25",
           "averaged_mixing_time_0.25", "backward_mixing_time_0.25")
PAIRS = (("sink", "backward_hitting_time"), ("sink", "minimax_fidelity"), ("sink", "fidelity_tightness"), ("sink", "mixing_time_0.25"),
         ("sink", "averaged_mixing_time_0.25"), ("sink", "backward_mixing_time_0.25"), ("backward_hitting_time", "minimax_fidelity"),
         ("distance", "backward_hitting_time"), ("distance", "minimax_fidelity"), ("distance", "mixing_time_0.25"),
         ("entropy", "backward_hitting_time"), ("entropy", "minimax_fidelity"), ("entropy", "mixing_time_0.25"))


class Model:
    """What is measured of one model: for each length, arrays whose first axis are the texts."""

    def __init__(self, folder):
        with open(os.path.join(folder, "settings.json"), encoding="utf-8") as file:
            self.settings = json.load(file)
        self.name, self.layers, self.heads = (self.settings[key] for key in ("name", "layers", "heads"))
        found = {}
        for path in glob.glob(os.path.join(glob.escape(folder), "*.npz")):
            match = re.fullmatch(r"(\d+)-(\d+)\.npz", os.path.basename(path))
            if match:
                found.setdefault(int(match[1]), {})[int(match[2])] = path
        self.lengths = {}
        for tokens in sorted(found):
            parts = [atlas.load(found[tokens][k]) for k in sorted(found[tokens])]
            self.lengths[tokens] = {name: np.stack([part[name] for part in parts]) for name in parts[0]} | {"texts": sorted(found[tokens])}
        place = os.path.join(folder, "repeated.npz")
        self.repeated = atlas.load(place) if os.path.exists(place) else None
        place = os.path.join(folder, "moved.npz")
        self.moved = atlas.load(place) if os.path.exists(place) else None
        self.reference = atlas.REFERENCE if atlas.REFERENCE in self.lengths else max(self.lengths, default=0)

    def at(self, tokens, name, kind="attention"):
        """A number of every head, (texts, layers, heads)."""
        data = self.lengths[tokens]
        if name in atlas.SEEN:
            return data["seen"][:, atlas.SEEN.index(name)].astype(float)
        if name == "norm_sink":
            return data["norm_sink"].astype(float)
        return data["heads"][:, atlas.KINDS.index(kind), atlas.SYSTEM.index(name)].astype(float)

    def layer(self, tokens, name, kind="attention"):
        """A number of all heads of a layer together, (texts, layers)."""
        return self.lengths[tokens]["layers"][:, atlas.KINDS.index(kind), atlas.LAYER.index(name)]

    def has(self, tokens, kind):
        return not np.isnan(self.at(tokens, "forward_probability", kind)).all()


def read_all(out):
    folders = [os.path.dirname(path) for path in sorted(glob.glob(os.path.join(glob.escape(out), "*", "settings.json")))]
    try:
        models = [model for folder in folders if (model := Model(folder)).lengths]  # a run may not have come to its first text
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise InputError(f"{out}: not numbers of this script ({type(error).__name__}: {error})") from None
    if not models:
        raise InputError(f"{out}: no measured model; run `atlas.py measure` first")
    return sorted(models, key=lambda model: (model.layers * model.heads, model.name))


class Draws:
    """Bootstrap draws of texts: the same for all numbers of a length."""

    def __init__(self, texts, count, seed=1):
        self.places = np.random.default_rng(seed).integers(0, texts, (count, texts)) if texts >= LEAST else None

    def interval(self, statistic):
        """Ends of a statistic of places of texts; NaN for too few texts."""
        if self.places is None:
            return np.nan, np.nan
        values = np.array([statistic(places) for places in self.places])
        return tuple(np.quantile(values, [0.025, 0.975], axis=0, method="nearest"))  # between two infinite values nothing can be interpolated

    def of(self, values, statistic=np.mean):
        """A statistic of numbers of texts (the first axis), and its ends."""
        found = statistic(values, axis=0)
        low, high = self.interval(lambda places: statistic(values[places], axis=0))
        return found, np.broadcast_to(low, np.shape(found)), np.broadcast_to(high, np.shape(found))


def three(name, values):
    """Columns for a number and its interval."""
    return {name: float(values[0]), f"{name}_low": float(values[1]), f"{name}_high": float(values[2])}


def median(values, axis=0):
    return np.median(values, axis=axis)


def ranks(values):
    """Average ranks of a vector."""
    order = np.sort(values)
    return (np.searchsorted(order, values, "left") + np.searchsorted(order, values, "right")) / 2.0


def correlation(a, b, given=()):
    """Spearman's rank correlation; with `given`, the partial one: of what ranks of these numbers leave over. 0 where a side is constant."""
    a, b, *given = (ranks(np.asarray(one, float)) for one in (a, b, *given))
    if given:
        basis = np.stack([np.ones(len(a)), *given], 1)
        a, b = (one - basis @ np.linalg.lstsq(basis, one, rcond=None)[0] for one in (a, b))
    a, b = a - a.mean(), b - b.mean()
    scale = np.sqrt((a @ a) * (b @ b))
    return float(a @ b / scale) if scale > 1e-9 * len(a) else 0.0


def over_texts(model, tokens, name, places=slice(None), kind="attention"):
    """A number of each head: the mean over texts of what is seen, the median of others, as times are orders of magnitude apart."""
    values = model.at(tokens, name, kind)[places]
    return values.mean(0) if name in atlas.SEEN or name == "norm_sink" else np.median(values, 0)


def about(model, draws):
    """A row of models.csv."""
    data = model.lengths[model.reference]
    losses = {source: data["loss"][data["source"] == source].mean() for source in dict.fromkeys(data["source"].tolist())}
    row = {"model": model.name, "layers": model.layers, "heads": model.heads, "context": model.settings["longest"],
           "texts": "; ".join(f"{tokens}: {len(one['texts'])}" for tokens, one in model.lengths.items()), "tokens": model.reference,
           "loss": "; ".join(f"{source} {loss:.2f}" for source, loss in losses.items() if np.isfinite(loss))}
    for k, copy in enumerate(("first_copy", "second_copy")):
        values = (np.nan,) * 3 if model.repeated is None else Draws(len(model.repeated["losses"]), draws).of(model.repeated["losses"][:, k])
        row |= three(f"loss_{copy}", values)
    return row


def lengths_of(model, draws):
    """Rows of lengths.csv: each number is the median over heads, then the median over texts; sink rates are means over texts."""
    rows = []
    for tokens, data in model.lengths.items():
        drawn = Draws(len(data["texts"]), draws)
        row = {"model": model.name, "tokens": tokens, "texts": len(data["texts"])}
        sink = model.at(tokens, "sink")
        row |= three("sink_rate", drawn.of((sink > head_types.THRESHOLD).mean((1, 2)))) | three("sink", drawn.of(sink.mean((1, 2))))
        norm = model.at(tokens, "norm_sink")
        row |= three("norm_sink_rate", drawn.of((norm > head_types.THRESHOLD).mean((1, 2))) if np.isfinite(norm).all() else (np.nan,) * 3)
        for name in LENGTHS:
            row |= three(name, drawn.of(np.median(model.at(tokens, name), (1, 2)), median))
        tight = model.at(tokens, "fidelity_tightness")
        row |= {"largest_tightness": float(np.nanmax(tight))} | three("tight_above_half", drawn.of((tight > 0.5).mean((1, 2))))
        for name in ("entropy", "distance"):
            row |= three(name, drawn.of(model.at(tokens, name).mean((1, 2))))
        rows.append(row | three("loss", drawn.of(data["loss"])))
    return rows


def layers_of(model, draws):
    """Rows of layers.csv: all heads of a layer together, for each kind of edges. `fixed` compares with the head that is best on other texts."""
    rows = []
    for tokens, data in model.lengths.items():
        texts = len(data["texts"])
        drawn = Draws(texts, draws)
        for kind in atlas.KINDS:
            if kind == "cut" or not model.has(tokens, kind):
                continue
            synergy = model.layer(tokens, "synergy", kind)
            found = drawn.of(synergy, median)
            fidelity, fixed = model.layer(tokens, "minimax_fidelity", kind), None
            alone = model.at(tokens, "minimax_fidelity", kind)
            if texts >= LEAST:
                best = np.stack([np.median(np.delete(alone, k, 0), 0).argmax(-1) for k in range(texts)])
                with np.errstate(divide="ignore", invalid="ignore"):
                    fixed = fidelity / np.take_along_axis(alone, best[..., None], -1)[..., 0]
            for layer in range(model.layers):
                row = {"model": model.name, "tokens": tokens, "texts": texts, "edges": kind, "layer": layer}
                row |= three("synergy", [one[layer] for one in found])
                row |= {"above_one": float((synergy[:, layer] > 1).mean()),
                        "fixed_synergy": float(np.median(fixed[:, layer])) if fixed is not None else np.nan,
                        "fidelity": float(np.median(fidelity[:, layer])),
                        "mixing_time": float(np.median(model.layer(tokens, "mixing_time_0.25", kind)[:, layer])),
                        "mixing_synergy": float(np.median(model.layer(tokens, "mixing_synergy", kind)[:, layer])),
                        "cross_head_share": float(np.median(model.layer(tokens, "cross_head_share", kind)[:, layer])),
                        "backward_hitting_time": float(np.median(model.layer(tokens, "backward_hitting_time", kind)[:, layer]))}
                rows.append(row)
    return rows


def synergies_of(model, draws):
    """Rows of synergy.csv: layers and texts with synergy above 1."""
    rows = []
    for tokens, data in model.lengths.items():
        drawn = Draws(len(data["texts"]), draws)
        for kind in atlas.KINDS:
            if kind == "cut" or not model.has(tokens, kind):
                continue
            synergy = model.layer(tokens, "synergy", kind)
            known = np.isfinite(synergy)
            row = {"model": model.name, "tokens": tokens, "texts": len(synergy), "edges": kind, "layers": model.layers,
                   "layers_above_one": int((np.median(synergy, 0) > 1).sum()), "undefined": int((~known).sum())}
            row |= three("above_one", drawn.of((synergy > 1).mean(1))) | three("median", drawn.of(np.median(synergy, 1), median))
            rows.append(row | {"least": float(np.nanmin(synergy)), "largest": float(np.nanmax(synergy))})
    return rows


def groups_of(model, draws):
    """Rows of groups.csv: heads with a sink and others, in all kinds; and the ratio of each control to attention, paired by head and text."""
    rows = []
    for tokens, data in model.lengths.items():
        if not model.has(tokens, "cut"):
            continue
        drawn = Draws(len(data["texts"]), draws)
        is_sink = model.at(tokens, "sink").mean(0) > head_types.THRESHOLD
        for group, chosen in (("sink", is_sink), ("other", ~is_sink)):
            for kind in ("attention", "permuted", "cut"):
                row = {"model": model.name, "tokens": tokens, "texts": len(data["texts"]), "group": group, "heads": int(chosen.sum()), "kind": kind}
                for name in ("normalised_fidelity", "backward_hitting_time", "fidelity_tightness", "mixing_time_0.25", "averaged_mixing_time_0.25"):
                    values, plain = (model.at(tokens, name, one)[:, chosen] for one in (kind, "attention"))
                    if not chosen.any():
                        row |= three(name, (np.nan,) * 3) | three(f"{name}_ratio", (np.nan,) * 3)
                        continue
                    row |= three(name, drawn.of(np.median(values, 1), median))
                    with np.errstate(all="ignore"):
                        logs = np.log(values / plain)
                    logs = np.where(np.isnan(logs), 0.0, logs)  # both 0, or both infinite: no change
                    row |= three(f"{name}_ratio", [np.exp(one) for one in drawn.of(np.median(logs, 1))])
                rows.append(row)
    return rows


def correlations_of(model, draws):
    """Rows of correlations.csv: rank correlations over heads, at the reference length and the longest; `given` names baselines held fixed."""
    rows = []
    rng = np.random.default_rng(1)
    longest = max(tokens for tokens, data in model.lengths.items() if len(data["texts"]) >= min(LEAST, len(model.lengths[model.reference]["texts"])))
    for tokens in sorted({model.reference, longest}):
        texts = len(model.lengths[tokens]["texts"])
        drawn = Draws(texts, max(1, draws // 5))
        for kind in ("attention", "permuted"):
            if not model.has(tokens, kind) or (kind == "permuted" and tokens != model.reference):
                continue
            names = sorted({name for pair in PAIRS for name in pair})

            def heads(places, kind=kind, tokens=tokens, names=names):
                return {name: over_texts(model, tokens, name, places, kind).ravel() for name in names}

            plain = heads(slice(None))
            resampled = [] if drawn.places is None else [heads(places) for places in drawn.places]
            by_head = [rng.integers(0, model.layers * model.heads, model.layers * model.heads) for _ in range(draws)]
            for a, b in PAIRS:
                for given in ((), ("distance", "entropy")):
                    if given and (a != "sink" or kind != "attention"):
                        continue

                    def of(values, a=a, b=b, given=given):
                        return correlation(values[a], values[b], [values[name] for name in given])

                    row = {"model": model.name, "tokens": tokens, "texts": texts, "kind": kind, "a": a, "b": b, "given": " ".join(given),
                           "heads": model.layers * model.heads, "rho": of(plain)}
                    for which, some in (("texts", [of(values) for values in resampled]),
                                        ("heads", [of({name: values[places] for name, values in plain.items()}) for places in by_head])):
                        low, high = np.quantile(some, [0.025, 0.975]) if some else (np.nan, np.nan)
                        row |= {f"low_{which}": float(low), f"high_{which}": float(high)}
                    rows.append(row)
    return rows


def scores_of(model, places=slice(None), repeats=slice(None)):
    """Scores of types by name, (layers, heads)."""
    found = {name: model.at(model.reference, name)[places].mean(0) for name in ("sink", "previous", "itself")}
    if model.repeated is not None:
        scores = model.repeated["scores"][repeats].astype(float).mean(0)
        found |= {"induction": scores[0], "duplicate": scores[1], "chance": scores[2]}
    return found


def types_of(model, draws):
    """Rows of types.csv: heads of each type, with medians of their numbers, and of heads without a type."""
    rows, scores = [], scores_of(model)
    rng = np.random.default_rng(1)
    texts = len(model.lengths[model.reference]["texts"])
    drawn = [(rng.integers(0, texts, texts), rng.integers(0, len(model.repeated["scores"]), len(model.repeated["scores"]))
              if model.repeated is not None else slice(None)) for _ in range(draws if texts >= LEAST else 0)]
    resampled = [scores_of(model, *one) for one in drawn]
    any_type = np.zeros((model.layers, model.heads), bool)
    for kind in (*head_types.TYPES, "none"):
        if kind not in scores and kind != "none":
            continue
        chosen = ~any_type if kind == "none" else scores[kind] > head_types.THRESHOLD
        any_type |= chosen
        counts = [(score[kind] > head_types.THRESHOLD).sum() for score in resampled] if kind != "none" else []
        low, high = np.quantile(counts, [0.025, 0.975]) if counts else (np.nan, np.nan)
        row = {"model": model.name, "tokens": model.reference, "type": kind, "heads": int(chosen.sum()), "low": float(low), "high": float(high),
               "of": chosen.size, "largest_score": float(scores[kind].max()) if kind != "none" else np.nan,
               "layers": " ".join(str(layer) for layer in np.flatnonzero(chosen.any(1)))}
        for name in ("normalised_fidelity", "backward_hitting_time", "mixing_time_0.25", "fidelity_tightness"):
            row[name] = float(np.median(over_texts(model, model.reference, name)[chosen])) if chosen.any() else np.nan
        rows.append(row)
    return rows


def depth_of(model, draws):
    """Rows of depth.csv: means over the heads of a layer of what is seen, medians of our numbers."""
    rows = []
    tokens = model.reference
    drawn = Draws(len(model.lengths[tokens]["texts"]), draws)
    columns = {name: drawn.of(model.at(tokens, name).mean(2)) for name in ("sink", "previous", "itself", "entropy", "distance")}
    columns["sink_rate"] = drawn.of((model.at(tokens, "sink") > head_types.THRESHOLD).mean(2))
    columns |= {name: drawn.of(np.median(model.at(tokens, name), 2), median)
                for name in ("normalised_fidelity", "backward_hitting_time", "fidelity_tightness", "mixing_time_0.25")}
    if model.repeated is not None:
        columns["induction"] = Draws(len(model.repeated["scores"]), draws).of(model.repeated["scores"][:, 0].astype(float).max(2))
    for layer in range(model.layers):
        row = {"model": model.name, "tokens": tokens, "layer": layer}
        for name, values in columns.items():
            row |= three("largest_induction" if name == "induction" else name, [one[layer] for one in values])
        rows.append(row)
    return rows


def stacks_of(model, draws):
    """Rows of stack.csv: what reaches the last token through all layers, by attention with a residual share of 0.5, and by norm edges."""
    found = [(tokens, kind, data["stack"][:, place]) for tokens, data in model.lengths.items() for place, kind in enumerate(("attention", "permuted", "cut"))]
    if model.moved is not None:
        found += [(int(model.moved["tokens"]), kind, model.moved["stack"][:, place]) for place, kind in enumerate(("norm", "norm cut"))]
    rows = []
    for tokens, kind, values in found:
        if np.isnan(values).any():
            continue
        drawn = Draws(len(values), draws)
        row = {"model": model.name, "tokens": tokens, "texts": len(values), "kind": kind}
        for k, name in enumerate(atlas.STACK):
            row |= three(name, drawn.of(values[:, k], median if name == "weakest" else np.mean))
        # Without the first token, the token that is first then is one of the others.
        others = values[:, 2] + (values[:, 0] if kind.endswith("cut") else 0.0)
        rows.append(row | three("passed_on", drawn.of(others)))
    return rows


def changes_of(model, draws):
    """Rows of changes.csv: from the shortest length to every other, on texts that have both: ratios, paired by head and text."""
    rows, shortest = [], min(model.lengths)
    for tokens, data in model.lengths.items():
        if tokens == shortest:
            continue
        both = [k for k in data["texts"] if k in model.lengths[shortest]["texts"]]
        places = [[one["texts"].index(k) for k in both] for one in (model.lengths[shortest], data)]
        if not both:
            continue
        drawn = Draws(len(both), draws)
        row = {"model": model.name, "from": shortest, "to": tokens, "texts": len(both)}
        row |= three("sink_change", drawn.of(model.at(tokens, "sink")[places[1]].mean((1, 2)) - model.at(shortest, "sink")[places[0]].mean((1, 2))))
        for name in ("minimax_fidelity", "normalised_fidelity", "backward_hitting_time", "fidelity_tightness", "mixing_time_0.25", "entropy", "distance"):
            with np.errstate(all="ignore"):
                logs = np.log(model.at(tokens, name)[places[1]] / model.at(shortest, name)[places[0]])
            row |= three(f"{name}_ratio", [np.exp(one) for one in drawn.of(np.nanmedian(np.where(np.isfinite(logs), logs, np.nan), (1, 2)))])
        rows.append(row)
    return rows


def heads_of(model, draws):
    """Rows of heads-NAME.csv: every head at the reference length, with intervals of the main numbers."""
    tokens = model.reference
    drawn = Draws(len(model.lengths[tokens]["texts"]), draws)
    scores = scores_of(model)
    columns = {"sink": drawn.of(model.at(tokens, "sink"))}
    columns |= {name: drawn.of(model.at(tokens, name), median) for name in MAIN}
    others = {name: over_texts(model, tokens, name) for name in ("norm_sink", "entropy", "distance", *atlas.SYSTEM) if name not in MAIN}
    rows = []
    for layer in range(model.layers):
        for head in range(model.heads):
            own = [kind for kind in head_types.TYPES if kind in scores and scores[kind][layer, head] > head_types.THRESHOLD]
            row = {"layer": layer, "head": head, "types": " ".join(own)}
            for name, values in columns.items():
                row |= three(name, [one[layer, head] for one in values])
            row |= {name: float(score[layer, head]) for name, score in scores.items() if name != "sink"}
            rows.append(row | {name: float(values[layer, head]) for name, values in others.items()})
    return rows


def write_table(folder, name, rows, digits=4):
    """A CSV file with so many digits."""
    path = os.path.join(folder, name + ".csv")
    columns = list(dict.fromkeys(key for row in rows for key in row))
    with open(path + ".part", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({key: ("" if np.isnan(value) else f"{value:.{digits}g}") if isinstance(value, float) else value for key, value in row.items()})
    os.replace(path + ".part", path)


TABLES = {"lengths": lengths_of, "layers": layers_of, "synergy": synergies_of, "groups": groups_of, "correlations": correlations_of,
          "types": types_of, "depth": depth_of, "stack": stacks_of, "changes": changes_of}


def write(out, results, draws=400):
    """All tables of all models in a folder."""
    models = read_all(out)
    os.makedirs(results, exist_ok=True)
    write_table(results, "models", [about(model, draws) for model in models])
    for name, table in TABLES.items():
        write_table(results, name, [row for model in models for row in table(model, draws)])
    for model in models:
        write_table(results, f"heads-{model.name}", heads_of(model, draws), 3)
