"""Tables of `validity.py wide`: pairs of heads, the best subsets, and sampled orders against all subsets."""

import glob
import os

import numpy as np

from . import games, statistics, wide
from .readers import InputError
from .report import STUDIES, write_csv

#: What the tables call the models together.
TOGETHER = STUDIES["small"]


def models_in(out):
    """(settings, arrays) of all stored models, in order of task and seed."""
    found = [wide.read(path) for path in sorted(glob.glob(os.path.join(glob.escape(out), "*.npz")))]
    if not found:
        raise InputError(f"{out}: no models; run `validity.py wide` first")
    if len({(settings["heads"], settings["samples"], settings["orders"]) for settings, _ in found}) > 1:
        raise InputError(f"{out}: models of different heads, samples or orders; keep them in folders of their own")
    return sorted(found, key=lambda one: (one[0]["task"], one[0]["trained"]))


def groups_of(models):
    """All models together, and those of each task."""
    return {TOGETHER: models} | {task: [one for one in models if one[0]["task"] == task] for task in dict.fromkeys(one[0]["task"] for one in models)}


def counts_of(models):
    settings = models[0][0]
    return {"heads": settings["heads"], "models_count": len(models), "texts": settings["samples"]}


def kinds_of(models):
    return [kind for kind in games.ABLATIONS if all(kind in settings["ablations"] for settings, _ in models)]


def pair_rows(groups, resamples):
    """Agreement of interactions by structure with those by loss, by models: mean over layers, interval, and p by permuted heads."""
    rows = []
    for group, models in groups.items():
        names = [name.removeprefix("structure/") for name in models[0][1] if name.startswith("structure/")]
        owners = [place for place, (settings, _) in enumerate(models) for _ in range(settings["layers"])]
        for kind in kinds_of(models):
            needed = [layer for _, arrays in models for layer in arrays[kind + "/pairs"]]
            some = []
            for name in names:
                score = [layer for _, arrays in models for layer in arrays["structure/" + name]]
                found = [statistics.spearman(statistics.upper(s), statistics.upper(n)) for s, n in zip(score, needed)]
                low, high = statistics.interval(found, resamples, groups=owners)
                some.append({"models": group, "ablation": kind, "pairs": name, "correlation": np.mean(found), "low": low, "high": high,
                             "p": statistics.pair_permutation_p(score, needed, max(200, resamples // 10)), "layers": len(found)} | counts_of(models))
            rows += [row | {"p_holm": corrected} for row, corrected in zip(some, statistics.holm([row["p"] for row in some]))]
    return rows


def redundancy_rows(groups):
    """Of all pairs of a layer: the share whose interaction by loss is below 0, and how much of it the largest tenth of pairs have."""
    rows = []
    for group, models in groups.items():
        for kind in kinds_of(models):
            pairs = np.concatenate([[statistics.upper(layer) for layer in arrays[kind + "/pairs"]] for _, arrays in models])
            largest = np.sort(np.abs(pairs), 1)[:, ::-1][:, : max(1, pairs.shape[1] // 10)]
            rows.append({"models": group, "ablation": kind, "layers": len(pairs), "redundant": np.mean(pairs < 0),
                         "largest_tenth": np.mean(largest.sum(1) / np.abs(pairs).sum(1))} | counts_of(models))
    return rows


def kept_rows(groups, resamples):
    """Share of the value of all heads that the first k heads keep, summed over layers and models. "best subset" is chosen and judged on the
    same texts; all others are judged on other texts."""
    rows = []
    for group, models in groups.items():
        for kind in kinds_of(models):
            orders = ["best subset"] + [name.removeprefix(f"{kind}/kept/") for name in models[0][1] if name.startswith(f"{kind}/kept/")]
            for order in orders:
                if order == "all":
                    continue
                curves, total = [], []
                for _, arrays in models:
                    same = order == "best subset"
                    curves.append((arrays[kind + "/best"] if same else arrays[f"{kind}/kept/{order}"])[:, 1:-1].sum(0))
                    total.append((arrays[kind + "/all"] if same else arrays[f"{kind}/kept/all"]).sum())
                curves, total = np.array(curves), np.array(total)
                drawn = np.random.default_rng(1).integers(0, len(models), (resamples, len(models)))
                low, high = np.quantile(curves.mean(1)[drawn].sum(1) / total[drawn].sum(1), [0.025, 0.975])
                rows.append({"models": group, "ablation": kind, "order": order, "value_of_all": total.sum(),
                             "mean_kept": curves.mean(1).sum() / total.sum(), "low": float(low), "high": float(high)} | counts_of(models)
                            | {f"keep_{k}": value for k, value in enumerate(curves.sum(0) / total.sum(), 1)})
    return rows


def order_rows(groups):
    """Shapley values of sampled orders against those of all subsets, by layer: rank correlation, error over the spread of the values, and
    the shares of values whose error is at most one and two of its stated standard errors."""
    rows = []
    for group, models in groups.items():
        for kind in kinds_of(models):
            exact, sampled, stated = (np.concatenate([arrays[f"{kind}/{name}"] for _, arrays in models]) for name in ("shapley", "sampled", "sampled_error"))
            error = np.abs(sampled - exact)
            spread = exact.std(1)
            ranks = statistics.within_layers(sampled, exact)
            rows.append({"models": group, "ablation": kind, "orders": models[0][0]["orders"], "layers": len(exact), "rank_correlation": np.mean(ranks),
                         "lowest_layer": np.min(ranks), "error_over_spread": np.median(np.sqrt((error**2).mean(1)) / spread),
                         "stated_over_spread": np.median(np.sqrt((stated**2).mean(1)) / spread), "within_one": np.mean(error <= stated),
                         "within_two": np.mean(error <= 2 * stated), "most_needed": np.mean(exact.argmax(1) == sampled.argmax(1))} | counts_of(models))
    return rows


def write(out, results, resamples):
    """Writes the tables of all models in a folder."""
    groups = groups_of(models_in(out))
    os.makedirs(results, exist_ok=True)
    for name, rows in {"wide_pairs": pair_rows(groups, resamples), "wide_redundancy": redundancy_rows(groups), "wide_kept": kept_rows(groups, resamples),
                       "wide_orders": order_rows(groups)}.items():
        write_csv(os.path.join(results, name + ".csv"), rows)
    print(f"{len(groups[TOGETHER])} models of {groups[TOGETHER][0][0]['heads']} heads")
