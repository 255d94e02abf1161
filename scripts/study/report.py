"""Compares the numbers of heads with the loss over all measured models: tables, figures, and a summary in Markdown."""

import csv
import io
import itertools
import os

import numpy as np

from . import games, statistics
from .results import read_all
from .scores_table import CANDIDATES, FAMILY, ORDERS, SCORES

#: The values of a set of heads: the loss that falls over all positions, that of the last position, and the accuracy that rises.
VALUES = ("loss", "last", "accuracy")
#: Studies of `validity.py tasks`, and what their models are called together.
STUDIES = {"paper": "paper's models", "small": "new tasks"}

#: So many models are too few to draw models: their intervals are over layers.
FEW = 4
#: Numbers that the chosen one is compared with, and how the columns of its gain begin.
RIVALS = {"fidelity_shapley": "", "output_norm": "norm_"}


class Agreement:
    """Rank correlations of all numbers of one model with the loss, layer by layer, and what heads that change places would give."""

    def __init__(self, model, kind, half="all", which="loss", count=0, seed=1):
        self.model, self.kind = model, kind
        needed = model.needed(kind, half, which)
        self.names = [name for name in SCORES if model.has(name)]
        scores = np.array([model.scores(name, kind, half) for name in self.names])
        wanted = np.array([statistics.standard_ranks(layer) for layer in needed])
        ranked = np.array([[statistics.standard_ranks(layer) for layer in score] for score in scores])
        self.found = np.einsum("slh,lh->sl", ranked, wanted)
        self.over = np.array([statistics.spearman(score.ravel(), needed.ravel()) for score in scores])
        if count:
            self.drawn = statistics.permuted_sums(ranked, wanted, count, seed)

    def of(self, name):
        return self.found[self.names.index(name)]


class Study:
    """All measured models, and their agreements, computed once."""

    def __init__(self, models, resamples):
        self.models, self.resamples, self._known = models, resamples, {}

    def agreement(self, model, kind, half="all", which="loss"):
        key = (model.name, kind, half, which)
        if key not in self._known:
            place = self.models.index(model)
            self._known[key] = Agreement(model, kind, half, which, self.resamples if which == "loss" else 0, seed=1000 + place)
        return self._known[key]

    def compare(self, models, kind, name, half="all"):
        """Agreement of one number with the loss over the layers of models: mean, interval, and p of a permutation test."""
        some = [self.agreement(model, kind, half) for model in models]
        found = np.concatenate([one.of(name) for one in some])
        # Layers of one model depend on each other: with several models, models are drawn. With few, layers are.
        groups = [model.name for model, one in zip(models, some) for _ in one.of(name)] if len(models) > FEW else None
        low, high = statistics.interval(found, self.resamples, groups=groups)
        drawn = sum(one.drawn[one.names.index(name)] for one in some) / len(found)
        row = {"correlation": found.mean(), "low": low, "high": high, "p": statistics.share_as_large(found.mean(), drawn), "models_count": len(models),
               "layers": len(found)}
        across = [one.over[one.names.index(name)] for one in some]
        row["across_layers"] = np.mean(across)
        if len(models) > FEW:
            row["across_low"], row["across_high"] = statistics.interval(across, self.resamples)
        return row


def groups_of(models):
    """Every language model for itself and all together; the models of each task, of each study, and these by their number of heads."""
    languages = [model for model in models if model.task is None]
    groups = {model.name: [model] for model in languages}
    if len(languages) > 1:
        groups["language models"] = languages
    for study in dict.fromkeys(model.settings.get("study", "") for model in models if model.task):
        of_study = [model for model in models if model.task and model.settings.get("study", "") == study]
        name = STUDIES.get(study, study or "checkpoints")
        by_task = {task: [model for model in of_study if model.task == task] for task in sorted({model.task for model in of_study})}
        for task, some in by_task.items():
            groups[task] = some
        if len(by_task) > 1:
            groups[name] = of_study
        for heads in sorted({model.heads for model in of_study}) if len({model.heads for model in of_study}) > 1 else ():
            groups[f"{name}, {heads} heads"] = [model for model in of_study if model.heads == heads]
    return groups


def common(models):
    return [name for name in SCORES if all(model.has(name) for model in models)]


def measured_kinds(models):
    return [kind for kind in games.ABLATIONS if all(kind in model.kinds for model in models)]


def correlations(study, groups):
    """One row for each group of models, ablation and number. Holm's correction is over the numbers of a group and ablation."""
    rows = []
    for group, models in groups.items():
        for kind in measured_kinds(models):
            names = common(models)
            found = [study.compare(models, kind, name) for name in names]
            for name, row, corrected in zip(names, found, statistics.holm([row["p"] for row in found])):
                others = {which: np.concatenate([study.agreement(model, kind, which=which).of(name) for model in models]).mean() for which in VALUES[1:]}
                rows.append({"models": group, "ablation": kind, "number": name, "kind": SCORES[name][0]} | row
                            | {"p_holm": corrected, "last_token": others["last"], "accuracy": others["accuracy"]})
    return rows


def reliability(groups):
    """Rank correlation of the loss's Shapley values of the two halves of the texts, and what it says of all texts."""
    rows = []
    for group, models in groups.items():
        for kind in measured_kinds(models):
            if all(model.halved for model in models):
                found = np.concatenate([statistics.within_layers(model.needed(kind, "first"), model.needed(kind, "second")) for model in models])
                row = {"models": group, "ablation": kind, "texts": text_of_sizes(model.samples for model in models), "halves": found.mean(), "lowest_layer": found.min(),
                       "all_texts": statistics.full_reliability(found.mean())}
                errors = [model.arrays[f"error/{kind}/loss"] / model.needed(kind).std(1, keepdims=True).clip(1e-12) for model in models if not model.exact]
                orders = [int(model.arrays["orders/" + kind].min()) for model in models if not model.exact]
                rows.append(row | {"orders": min(orders, default=""), "error_over_spread": float(np.median(np.concatenate(errors))) if errors else ""})
    return rows


def pair_rows(groups, resamples):
    """Agreement of interactions of pairs, structure against loss. Holm's correction is over the games of a group and ablation."""
    rows = []
    for group, models in groups.items():
        models = [model for model in models if model.exact and model.heads > 2]
        if not models:
            continue
        names = [name for name in models[0].names if name.startswith("pairs_") and all(model.has(name) for model in models)]
        for kind in measured_kinds(models):
            needed = [games.interactions(model.table(place, kind)) for model in models for place in range(len(model.measured[kind]))]
            owners = [model.name for model in models for _ in model.measured[kind]] if len(models) > FEW else None
            some = []
            for name in names:
                score = [layer for model in models for layer in model.scores(name, kind)]
                found = [statistics.spearman(statistics.upper(s), statistics.upper(n)) for s, n in zip(score, needed)]
                low, high = statistics.interval(found, resamples, groups=owners)
                some.append({"models": group, "ablation": kind, "pairs": name.removeprefix("pairs_"), "correlation": np.mean(found), "low": low,
                             "high": high, "p": statistics.pair_permutation_p(score, needed, max(200, resamples // 10)), "models_count": len(models),
                             "layers": len(found)})
            for row, corrected in zip(some, statistics.holm([row["p"] for row in some])):
                rows.append(row | {"p_holm": corrected})
    return rows


def kept_of(model, kind):
    """By order: the values of the first k = 1 .. H - 1 heads, summed over layers; and the value of all heads."""
    curves, everything = {}, 0.0

    def add(order, values):
        curves[order] = curves.get(order, 0) + values

    for place in range(len(model.measured[kind])):
        if not model.exact:
            curve = model.arrays[f"curve/{kind}/loss"][place]
            everything += curve[-1]
            add("random", curve[1:-1])
            for name in ORDERS:
                if f"kept/{kind}/{name}" in model.arrays:
                    add(name, model.arrays[f"kept/{kind}/{name}"][place][1:-1])
            continue
        table = model.table(place, kind)
        everything += table[-1]
        add("random", statistics.value_by_size(table))
        add("best subset", statistics.best_by_size(table))
        if model.halved:
            first, second = model.table(place, kind, "first"), model.table(place, kind, "second")
            add("best of other half", (statistics.best_by_size(first, second) + statistics.best_by_size(second, first)) / 2)
        for name in SCORES:
            if model.has(name):
                add(name, statistics.value_by_order(table, np.argsort(-model.scores(name, kind)[place], kind="stable")))
        add("loss_shapley", statistics.value_by_order(table, np.argsort(-games.shapley(table), kind="stable")))
    return curves, everything


def kept_rows(groups, resamples):
    """Share of the value of all heads that the first k heads of each order keep: sums over layers and models, then their ratio.

    The best subset is the limit. "best of other half" is chosen on one half of the texts and judged on the other, both ways. The interval
    of the mean over k is over models, where there are more than three.
    """
    rows, known = [], {}
    for group, models in groups.items():
        for kind in measured_kinds(models):
            found = [known.setdefault((model.name, kind), kept_of(model, kind)) for model in models]
            total = np.array([everything for _, everything in found])
            if total.sum() <= 0:
                continue
            same_size = len({model.heads for model in models}) == 1
            for order in [name for name in found[0][0] if all(name in curves for curves, _ in found)]:
                means = np.array([curves[order].mean() for curves, _ in found])
                row = {"models": group, "ablation": kind, "order": order, "value_of_all": total.sum(), "mean_kept": means.sum() / total.sum()}
                if len(models) > FEW:
                    drawn = np.random.default_rng(1).integers(0, len(models), (resamples, len(models)))
                    row["low"], row["high"] = (float(q) for q in np.quantile(means[drawn].sum(1) / total[drawn].sum(1), [0.025, 0.975]))
                if same_size:
                    row |= {f"keep_{k}": value for k, value in enumerate(sum(curves[order] for curves, _ in found) / total.sum(), 1)}
                rows.append(row)
    return rows


def text_of_sizes(sizes):
    """The different sizes of models, in rising order."""
    return " ".join(str(size) for size in sorted(set(sizes)))


def control_rows(groups):
    """Does the model need attention at all? Means over the models of a group."""
    rows = []
    for group, models in groups.items():
        row = {"models": group, "models_count": len(models), "texts": text_of_sizes(model.samples for model in models),
               "tokens": text_of_sizes(model.settings["tokens"] for model in models),
               "heads": text_of_sizes(model.heads for model in models)}
        for key, name in (("intact", "intact"), ("zero", "all_zero"), ("mean", "all_mean")):
            row |= {f"{name}_loss": np.mean([model.control(key, 0) for model in models]),
                    f"{name}_accuracy": np.mean([model.control(key, 1) for model in models])}
        for key in games.ABLATIONS:
            row[f"median_layer_{key}_loss"] = np.median(np.concatenate([model.control(key + "_layers", 0) for model in models]))
            row[f"largest_layer_{key}_loss"] = np.mean([model.control(key + "_layers", 0).max() for model in models])
            shares = [np.mean(model.needed(key) < 0) for model in models if key in model.kinds]
            row[f"harmful_{key}"] = np.mean(shares) if shares else ""
        rows.append(row)
    return rows


def choices(models):
    """Halves of models, to choose on and to judge on: (name, models, name, models)."""
    found = []
    languages = [model for model in models if model.task is None]
    trained = {study: [model for model in models if "trained" in model.settings and model.settings["study"] == study]
               for study in dict.fromkeys(model.settings.get("study") for model in models) if study}
    parts = {}
    for study, some in trained.items():
        for rest, word in ((1, "odd"), (0, "even")):
            part = [model for model in some if model.settings["trained"] % 2 == rest]
            if part:
                parts[study, word] = (f"{STUDIES.get(study, study)}, {word} seeds", part)
    for one, other in itertools.permutations(parts, 2):
        if one[1] != other[1]:  # never the same seeds
            found.append((*parts[one], *parts[other]))
    if len(trained) > 1:
        of_word = {word: [model for (_, its_word), (_, part) in parts.items() if its_word == word for model in part] for word in ("odd", "even")}
        for one, other in itertools.permutations([word for word, part in of_word.items() if part]):
            found.append((f"all trained models, {one} seeds", of_word[one], f"all trained models, {other} seeds", of_word[other]))
    if languages:
        for study, some in trained.items():
            found.append((STUDIES.get(study, study), some, "language models", languages))
        if len(trained) > 1:
            found.append(("all trained models", [model for some in trained.values() for model in some], "language models", languages))
    for size in range(1, len(languages)):
        for part in itertools.combinations(languages, size):
            rest = [model for model in languages if model not in part]
            if abs(len(part) - len(rest)) <= 1:
                found.append((" and ".join(model.name for model in part), list(part), " and ".join(model.name for model in rest), rest))
    return found


def held_out(study):
    """The best number, chosen on half of the models and judged on the other half: of what heads move, and of all that need no loss.

    The best has the largest mean rank correlation over layers and ablations. Its gains over minimax fidelity, and over the output norm, are
    judged on the same layers.
    """
    rows = []
    for chosen_on, some, judged_on, others in choices(study.models):
        for family, allowed in (("moved", FAMILY), ("all", CANDIDATES)):
            means = {name: float(np.mean([study.agreement(model, kind).of(name).mean() for model in some for kind in model.kinds]))
                     for name in allowed if all(model.has(name) for model in [*some, *others])}
            best = max(means, key=means.get)
            for kind in measured_kinds(others):
                row = {"chosen_on": chosen_on, "judged_on": judged_on, "family": family, "ablation": kind, "number": best, "when_chosen": means[best]}
                row |= study.compare(others, kind, best)
                agreements = [study.agreement(model, kind) for model in others]
                owners = [model.name for model, one in zip(others, agreements) for _ in one.of(best)] if len(others) > FEW else None
                for rival, start in RIVALS.items():
                    gain = np.concatenate([one.of(best) - one.of(rival) for one in agreements])
                    low, high = statistics.interval(gain, study.resamples, groups=owners)
                    row |= {rival: np.concatenate([one.of(rival) for one in agreements]).mean(), f"{start}gain": gain.mean(), f"{start}gain_low": low,
                            f"{start}gain_high": high}
                rows.append(row)
    for row, corrected in zip(rows, statistics.holm([row["p"] for row in rows])):
        row["p_holm"] = corrected
    return rows


def size_rows(groups):
    """Over subsets of all sizes of the heads of a layer: rank correlation of the loss's values with the mere number of heads, and with
    fidelity and speed. And the smallest set that keeps 95 % of the fidelity: in how many layers a random set of its size is better.

    Layers where only all heads keep 95 % are left out of the last.
    """
    rows = []
    for group, models in groups.items():
        models = [model for model in models if model.exact]
        for kind in measured_kinds(models) if models else ():
            layers = [(model.table(place, kind), {name: model.scores("subsets_" + name, kind)[place] for name in ("fidelity", "speed")
                                                  if model.has("subsets_" + name)})
                      for model in models for place in range(len(model.measured[kind]))]
            row = {"models": group, "ablation": kind, "layers": len(layers),
                   "number_of_heads": np.mean([statistics.spearman(statistics.sizes_of(table), table) for table, _ in layers])}
            if all(subsets for _, subsets in layers):
                row |= {name: np.mean([statistics.spearman(subsets[name], table) for table, subsets in layers]) for name in ("fidelity", "speed")}
                kept = [one for one in (keeping_set(table, subsets["fidelity"]) for table, subsets in layers) if one is not None]
                row |= {"keep95_layers": len(kept), "keep95_worse": sum(chosen < random for chosen, random, _ in kept),
                        "keep95_value": sum(chosen for chosen, _, _ in kept) / sum(whole for _, _, whole in kept) if kept else "",
                        "keep95_random": sum(random for _, random, _ in kept) / sum(whole for _, _, whole in kept) if kept else ""}
            rows.append(row)
    return rows


def keeping_set(table, fidelity, share=0.95):
    """The loss's value of the smallest set of heads that keeps this share of the fidelity of all heads (of equals, the most faithful), the
    mean value of all sets of its size, and the value of all heads. None where all heads are needed."""
    sizes = statistics.sizes_of(table)
    for size in range(1, sizes[-1]):
        sets = np.flatnonzero(sizes == size)
        best = sets[fidelity[sets].argmax()]
        if fidelity[best] >= share * fidelity[-1]:
            return table[best], table[sets].mean(), table[-1]
    return None


def text_of(value):
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def write_whole(path, text):
    """Writes a text that appears whole or not at all."""
    temporary = f"{path}.{os.getpid()}.part"
    with open(temporary, "w", newline="", encoding="utf-8") as file:
        file.write(text)
    os.replace(temporary, path)


def write_csv(path, rows):
    """Rows as CSV; a key that a row lacks is empty."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(keys)
    table.writerows([text_of(row.get(key, "")) for key in keys] for row in rows)
    write_whole(path, text.getvalue())


def write(out, results, figures, resamples):
    """Writes tables and figures where folders are given, and prints what there is."""
    models = read_all(out)
    groups = groups_of(models)
    study = Study(models, resamples)
    tables = {"correlations": correlations(study, groups), "reliability": reliability(groups), "pairs": pair_rows(groups, resamples),
              "kept": kept_rows(groups, resamples), "control": control_rows(groups), "held_out": held_out(study), "sizes": size_rows(groups)}
    for row in tables["control"]:
        print(f"{row['models']}: {row['models_count']} models, {row['texts']} texts of {row['tokens']} tokens")
    if results:
        os.makedirs(results, exist_ok=True)
        for name, rows in tables.items():
            if rows:
                write_csv(os.path.join(results, name + ".csv"), rows)
    if figures:
        from .figures import draw_correlations, draw_kept

        os.makedirs(figures, exist_ok=True)
        single = [group for group in groups if len(groups[group]) == 1 and groups[group][0].task is None]
        shown = [group for group in ("language models", "copy", "cycle", "new tasks") if group in groups] or single
        draw_correlations(os.path.join(figures, "validity.svg"), tables["correlations"], shown)
        draw_kept(os.path.join(figures, "validity-kept.svg"), tables["kept"], single + [
            group for group in ("new tasks, 8 heads", "new tasks, 16 heads") if group in groups])
