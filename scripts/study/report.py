"""Compares the numbers of heads with the loss over all measured models: tables, figures, and a summary in Markdown."""

import csv
import functools
import glob
import itertools
import json
import os
import zipfile

import numpy as np

from . import games, statistics
from .readers import InputError
from .scores_table import CANDIDATES, SCORES

#: Texts by their number modulo 4: own samples and the Bible against own samples and documents.
HALVES = {"all": (0, 1, 2, 3), "first": (0, 1), "second": (2, 3)}
ORDERS = ("fidelity_shapley", "speed_shapley", "contribution", "new_residual", "deviation_norm", "output_norm", "projection_norm", "gradient")


class Measured:
    """What is stored of one model: the blocks of texts of which every part is there."""

    def __init__(self, folder):
        with open(os.path.join(folder, "settings.json"), encoding="utf-8") as file:
            self.settings = json.load(file)
        self.name = self.settings["name"]
        self.task = self.settings["task"]
        self.layers, self.heads = self.settings["layers"], self.settings["heads"]

        def there(part, block=0):
            return os.path.exists(os.path.join(folder, f"{part}-{block}.npz"))

        # A run that still goes on has some layers of an ablation: those of the first block of texts are compared.
        found = {kind: [layer for layer in range(self.layers) if there(f"loss-{layer}-{kind}")] for kind in games.ABLATIONS}
        self.measured = {kind: layers for kind, layers in found.items() if layers}
        self.kinds = list(self.measured)
        wanted = ["control", "scores"] + [f"loss-{layer}-{kind}" for kind in self.kinds for layer in self.measured[kind]]
        self.blocks = [block for block in range(self.settings["samples"]) if all(there(part, block) for part in wanted)] if self.kinds else []

        def read(part, block):
            with np.load(os.path.join(folder, f"{part}-{block}.npz")) as file:
                return {name: file[name] for name in file.files}

        self.stored = {part: [read(part, block) for block in self.blocks] for part in wanted}
        self.samples = sum(stored["intact"].shape[1] for stored in self.stored["control"])

    def chosen(self, half):
        """Numbers of the texts of a half."""
        return [k for k in range(self.samples) if k % 4 in HALVES[half]]

    def scores(self, name, kind, half="all"):
        """A number by layer and head, or pairs of heads: the mean over texts, of the layers that an ablation has."""
        by_text = np.concatenate([stored[name] for stored in self.stored["scores"]], 1)
        return by_text[self.measured[kind]][:, self.chosen(half)].mean(1)

    def has(self, name):
        return all(name in stored for stored in self.stored["scores"])

    def losses(self, layer, kind, half="all", which="loss"):
        """Mean losses by subset, or by order and place."""
        return np.concatenate([stored[which] for stored in self.stored[f"loss-{layer}-{kind}"]], 1)[:, self.chosen(half)].mean(1)

    @property
    def exact(self):
        return not any("orders" in stored[0] for stored in self.stored.values())

    def table(self, layer, kind, half="all", which="loss"):
        """v(S) = loss of no head - loss of S."""
        losses = self.losses(layer, kind, half, which)
        return losses[0] - losses

    @functools.lru_cache(maxsize=None)
    def needed(self, kind, half="all", which="loss"):
        """Shapley values by the loss, (layers, heads)."""
        layers = self.measured[kind]
        if self.exact:
            return np.array([games.shapley(self.table(layer, kind, half, which)) for layer in layers])
        orders = self.stored[f"loss-{layers[0]}-{kind}"][0]["orders"]
        return np.array([games.shapley_of_orders(orders, -self.losses(layer, kind, half, which).reshape(len(orders), -1))[0] for layer in layers])

    def control(self, key, row):
        """Mean of loss (row 0) or accuracy (row 1) of the control over texts."""
        return np.concatenate([stored[key][..., row, :] for stored in self.stored["control"]], -1).mean(-1)


def read_all(out):
    """All models of which at least one block is complete, in order of name; language models first."""
    models = []
    for path in sorted(glob.glob(os.path.join(glob.escape(out), "*", "settings.json"))):
        try:
            models.append(Measured(os.path.dirname(path)))
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise InputError(f"{os.path.dirname(path)}: not results of this study ({type(error).__name__}: {error}); remove the damaged files "
                             "and measure the model again") from None
    models = [model for model in models if model.blocks]
    if not models:
        raise InputError(f"{out}: no model is measured completely on any block of texts; run `validity.py measure` first")
    return sorted(models, key=lambda model: (model.task or "", model.layers, model.name))


def groups_of(models):
    """Every language model for itself, all of them together, and the models of each task together."""
    languages = [model for model in models if model.task is None]
    groups = {model.name: [model] for model in languages}
    if len(languages) > 1:
        groups["language models"] = languages
    for task in sorted({model.task for model in models if model.task}):
        for heads in sorted({model.heads for model in models if model.task == task}):
            groups[f"{task} with {heads} heads"] = [model for model in models if (model.task, model.heads) == (task, heads)]
    return groups


def compare(models, kind, name, resamples, half="all", which="loss"):
    """Agreement of one number with the loss over the layers of models."""
    score = [layer for model in models for layer in model.scores(name, kind, half)]
    needed = [layer for model in models for layer in model.needed(kind, half, which)]
    found = statistics.within_layers(score, needed)
    # Layers of one model depend on each other: with several models of a task, models are drawn. With few, layers are.
    groups = [model.name for model in models for _ in model.measured[kind]] if len(models) > 3 else None
    low, high = statistics.interval(found, resamples, groups=groups)
    over = np.mean([statistics.spearman(model.scores(name, kind, half).ravel(), model.needed(kind, half, which).ravel()) for model in models])
    return {"correlation": found.mean(), "low": low, "high": high, "p": statistics.permutation_p(score, needed, resamples),
            "layers": len(found), "texts": sum(len(model.chosen(half)) for model in models), "across_layers": over}


def correlations(groups, resamples):
    """One row for each group of models, ablation and number. Holm's correction is over the numbers of a group and ablation."""
    rows = []
    for group, models in groups.items():
        for kind in games.ABLATIONS:
            if any(kind not in model.kinds for model in models):
                continue
            names = [name for name in SCORES if all(model.has(name) for model in models)]
            found = [compare(models, kind, name, resamples) for name in names]
            for name, row, corrected in zip(names, found, statistics.holm([row["p"] for row in found])):
                last = compare(models, kind, name, 10, which="last")["correlation"]
                rows.append({"models": group, "ablation": kind, "number": name, "kind": SCORES[name][0]} | row
                            | {"p_holm": corrected, "last_token": last})
    return rows


def reliability(groups):
    """Rank correlation of the loss's Shapley values of the two halves of the texts, and what it says of all texts."""
    rows = []
    for group, models in groups.items():
        halved = [model for model in models if model.chosen("first") and model.chosen("second")]
        for kind in games.ABLATIONS:
            if halved and all(kind in model.kinds for model in halved):
                found = np.concatenate([statistics.within_layers(model.needed(kind, "first"), model.needed(kind, "second")) for model in halved])
                rows.append({"models": group, "ablation": kind, "texts": halved[0].samples, "halves": found.mean(), "lowest_layer": found.min(),
                             "all_texts": statistics.full_reliability(found.mean())})
    return rows


def pair_rows(groups, resamples):
    """Agreement of interactions of pairs, structure against loss. Holm's correction is over the games of a group and ablation."""
    rows = []
    for group, models in groups.items():
        if not all(model.exact and model.heads > 2 for model in models):
            continue
        names = [name for name in models[0].stored["scores"][0] if name.startswith("pairs_") and all(model.has(name) for model in models)]
        for kind in games.ABLATIONS:
            if any(kind not in model.kinds for model in models):
                continue
            needed = [games.interactions(model.table(layer, kind)) for model in models for layer in model.measured[kind]]
            some = []
            for name in names:
                score = [layer for model in models for layer in model.scores(name, kind)]
                found = [statistics.spearman(statistics.upper(s), statistics.upper(n)) for s, n in zip(score, needed)]
                low, high = statistics.interval(found, resamples)
                some.append({"models": group, "ablation": kind, "pairs": name.removeprefix("pairs_"), "correlation": np.mean(found), "low": low,
                             "high": high, "p": statistics.pair_permutation_p(score, needed, max(200, resamples // 10)), "layers": len(found)})
            for row, corrected in zip(some, statistics.holm([row["p"] for row in some])):
                rows.append(row | {"p_holm": corrected})
    return rows


def kept_rows(groups):
    """Share of the value of all heads that the first k heads of each order keep: sums over layers, then their ratio.

    The best subset is the limit. "best of other half" is chosen on one half of the texts and judged on the other, both ways.
    """
    rows = []
    for group, models in groups.items():
        if not all(model.exact for model in models) or len({model.heads for model in models}) > 1:
            continue
        for kind in games.ABLATIONS:
            if any(kind not in model.kinds for model in models):
                continue
            curves, everything = {}, 0.0

            def add(order, values):
                curves[order] = curves.get(order, 0) + values

            halved = all(model.chosen("first") and model.chosen("second") for model in models)
            for model in models:
                for place, layer in enumerate(model.measured[kind]):
                    table = model.table(layer, kind)
                    everything += table[-1]
                    add("random", statistics.value_by_size(table))
                    add("best subset", statistics.best_by_size(table))
                    if halved:
                        first, second = model.table(layer, kind, "first"), model.table(layer, kind, "second")
                        add("best of other half", (statistics.best_by_size(first, second) + statistics.best_by_size(second, first)) / 2)
                    for name in SCORES:
                        if all(one.has(name) for one in models):
                            order = np.argsort(-model.scores(name, kind)[place], kind="stable")
                            add(name, statistics.value_by_order(table, order))
                    add("loss_shapley", statistics.value_by_order(table, np.argsort(-games.shapley(table), kind="stable")))
            for order, values in curves.items():
                rows.append({"models": group, "ablation": kind, "order": order, "value_of_all": everything, "mean_kept": (values / everything).mean()}
                            | {f"keep_{k}": value for k, value in enumerate(values / everything, 1)})
    return rows


def control_rows(models):
    """Does the model need attention at all?"""
    rows = []
    for model in models:
        row = {"model": model.name, "layers": model.layers, "heads": model.heads, "texts": model.samples}
        for key, name in (("intact", "intact"), ("zero", "all_zero"), ("mean", "all_mean")):
            row |= {f"{name}_loss": model.control(key, 0), f"{name}_accuracy": model.control(key, 1)}
        for key in games.ABLATIONS:
            row[f"largest_layer_{key}_loss"] = model.control(key + "_layers", 0).max()
        rows.append(row)
    return rows


def held_out(models, resamples):
    """The best number, chosen on half of the texts of one language model and judged on the other half of every other model.

    The best has the largest mean rank correlation over the ablations. Its gain over minimax fidelity is judged layer by layer.
    """
    languages = [model for model in models if model.task is None]
    found = []
    for one, other, half in itertools.product(languages, languages, ("first", "second")):
        rest = "second" if half == "first" else "first"
        if one is other or not one.chosen(half) or not other.chosen(rest):
            continue
        means = {name: float(np.mean([statistics.within_layers(one.scores(name, kind, half), one.needed(kind, half)).mean() for kind in one.kinds]))
                 for name in CANDIDATES if one.has(name)}
        best = max(means, key=means.get)
        for kind in other.kinds:
            row = {"chosen_on": one.name, "half": half, "judged_on": other.name, "ablation": kind, "number": best, "when_chosen": means[best]}
            row |= compare([other], kind, best, resamples, rest)
            needed = other.needed(kind, rest)
            rival = statistics.within_layers(other.scores("fidelity_shapley", kind, rest), needed)
            gain = statistics.within_layers(other.scores(best, kind, rest), needed) - rival
            low, high = statistics.interval(gain, resamples)
            found.append(row | {"minimax_fidelity": rival.mean(), "gain": gain.mean(), "gain_low": low, "gain_high": high})
    for row, corrected in zip(found, statistics.holm([row["p"] for row in found])):
        row["p_holm"] = corrected
    return found


def text_of(value):
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def write_csv(path, rows):
    """Rows with the same keys as CSV."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    temporary = f"{path}.{os.getpid()}.part"
    with open(temporary, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(keys)
        table.writerows([text_of(row.get(key, "")) for key in keys] for row in rows)
    os.replace(temporary, path)


def markdown(rows, groups):
    """The table of correlations: a row for each number, a column for each group and ablation."""
    cells = {(row["number"], row["models"], row["ablation"]): row for row in rows}
    columns = [(group, kind) for group in groups for kind in games.ABLATIONS if any((name, group, kind) in cells for name in SCORES)]
    lines = ["| number | " + " | ".join(f"{group}, {kind}" for group, kind in columns) + " |", "|---" * (1 + len(columns)) + "|"]
    for name, (kind_of, label) in SCORES.items():
        texts = []
        for group, kind in columns:
            row = cells.get((name, group, kind))
            texts.append("" if row is None else f"{row['correlation']:.2f}{'*' if row['p_holm'] < 0.05 else ''}")
        lines.append(f"| {label} ({kind_of}) | " + " | ".join(texts) + " |")
    return "\n".join(lines)


def write(out, results, figures, resamples):
    """Prints the summary; writes tables and figures where folders are given."""
    models = read_all(out)
    groups = groups_of(models)
    tables = {"correlations": correlations(groups, resamples), "reliability": reliability(groups), "pairs": pair_rows(groups, resamples),
              "kept": kept_rows(groups), "control": control_rows(models), "held_out": held_out(models, resamples)}
    print(markdown(tables["correlations"], groups))
    for name in ("reliability", "control", "held_out"):
        print(f"\n{name}")
        for row in tables[name]:
            print("  " + ", ".join(f"{key} {text_of(value)}" for key, value in row.items()))
    if results:
        os.makedirs(results, exist_ok=True)
        for name, rows in tables.items():
            if rows:
                write_csv(os.path.join(results, name + ".csv"), rows)
    if figures:
        from .figures import draw_correlations, draw_kept

        os.makedirs(figures, exist_ok=True)
        draw_correlations(os.path.join(figures, "validity.svg"), tables["correlations"], list(groups))
        draw_kept(os.path.join(figures, "validity-kept.svg"), tables["kept"], [group for group in groups if groups[group][0].task is None])
