"""Tables, figure and page of scripts/optimise.py. Differences are paired: a model with a strength, less the model of the same seed with
strength 0."""

import csv
import itertools
import math
import re
from collections import defaultdict

import numpy as np

from .statistics import holm

NONE = "none"
STEPS = 40  # of an epoch
LEVEL = 0.9
# Student's 97.5 % quantile by degrees of freedom.
STUDENT = [math.inf, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110,
           2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042]
ORDER = ("none", "fidelity=-1", "fidelity=0.5", "fidelity=2", "speed=-0.05", "speed=-0.005", "speed=0.05", "speed=0.2",
         "entropy=0.05")
TASKS = ("copy", "cycle", "recall", "second-maximum")


def layer_mean(values):
    return float(np.mean(values))


def log_mean(values):
    """Mean over layers of log10; infinite times count as such."""
    return float(np.mean(np.log10(values)))


def epochs_to_learn(record):
    """The first epoch with the accuracy, or one more than there are."""
    bar = LEVEL * ((24 - 1 + 1 / 16) / 24 if record["task"] == "cycle" else 1.0)
    return next((k for k, accuracy in enumerate(record["curve"], 1) if accuracy >= bar), len(record["curve"]) + 1)


def share_needed(record):
    """Of what the loss rises by without a layer's heads, the part that single heads account for; mean over layers that matter."""
    shares = [sum_of_one / whole for whole, sum_of_one in record["replaceable"] if whole > 0.1]
    return float(np.mean(shares)) if shares else math.nan


# By the name: a number of a model's record.
NUMBERS = {
    "fidelity": lambda r: layer_mean(r["structure"]["attention"]["fidelity"]),
    "fidelity_uniform": lambda r: layer_mean(r["structure"]["uniform"]["fidelity"]),
    "fidelity_norm": lambda r: layer_mean(r["structure"]["norm"]["fidelity"]),
    "fidelity_contribution": lambda r: layer_mean(r["structure"]["contribution"]["fidelity"]),
    "log_time": lambda r: log_mean(r["structure"]["attention"]["time"]),
    "log_time_uniform": lambda r: log_mean(r["structure"]["uniform"]["time"]),
    "cut_time": lambda r: layer_mean(r["structure"]["attention"]["cut_time"]),
    "cut_time_norm": lambda r: layer_mean(r["structure"]["norm"]["cut_time"]),
    "cut_time_contribution": lambda r: layer_mean(r["structure"]["contribution"]["cut_time"]),
    "log_loss": lambda r: math.log10(r["loss"]),
    "accuracy": lambda r: r["accuracy"],
    "steps": lambda r: STEPS * epochs_to_learn(r),
    "learning": lambda r: float(np.mean(r["curve"])),
    "alike": lambda r: layer_mean(r["alike"]),
    "needed": share_needed,
    "synergy": lambda r: math.log10(max(layer_mean(r["structure"]["attention"]["fidelity"]), 1e-12)
                                    / max(layer_mean(r["structure"]["attention"]["best_head"]), 1e-12)),
}


def mean_interval(values):
    """Mean and Student's 95 % interval; NaN without values."""
    values = np.asarray([v for v in values if not math.isnan(v)], float)
    if len(values) == 0:
        return math.nan, math.nan, math.nan, 0
    mean = float(values.mean())
    if len(values) == 1 or not np.isfinite(values).all():
        return mean, math.nan, math.nan, len(values)
    half = (STUDENT[len(values) - 1] if len(values) <= len(STUDENT) else 1.96) * float(values.std(ddof=1)) / math.sqrt(len(values))
    return mean, mean - half, mean + half, len(values)


def sign_flip_p(values):
    """Two-sided p of the mean of paired differences: every sign may turn (all ways up to 2^14, else as many drawn)."""
    values = np.asarray(values, float)
    if len(values) <= 14:
        signs = np.array(list(itertools.product((1, -1), repeat=len(values))))
    else:
        signs = np.vstack([np.ones(len(values)), np.random.default_rng(1).choice((1, -1), (2**14 - 1, len(values)))])
    sums = np.abs(signs @ values)
    return float((sums >= abs(values.sum()) - 1e-12).mean())


def student_p(values):
    """Two-sided p of Student's test of the mean of paired differences. With x = sqrt(df) tan(a) the density is cos(a)^(df - 1)."""
    values = np.asarray(values, float)
    spread, freedom = values.std(ddof=1), len(values) - 1
    if not spread > 0:
        return 1.0 if values.mean() == 0 else 0.0
    begin = math.atan(abs(values.mean()) / spread * math.sqrt(len(values)) / math.sqrt(freedom))

    def area(a, parts=20000):
        middles = a + (math.pi / 2 - a) * (np.arange(parts) + 0.5) / parts
        return float((np.cos(middles) ** (freedom - 1)).mean()) * (math.pi / 2 - a)

    return area(begin) / area(0.0)


def by_cell(records, phase):
    """{(task, heads): {condition: {seed: record}}}"""
    found = defaultdict(lambda: defaultdict(dict))
    for record in records:
        if record["phase"] == phase:
            found[record["task"], record["heads"]][record["condition"]][record["seed"]] = record
    return found


def of_complete_seeds(records):
    """The models of the seeds that have all strengths, so that strengths are compared over the same seeds."""
    of_seed = defaultdict(set)
    for r in records:
        if r["phase"] == "task":
            of_seed[r["seed"]].add((r["task"], r["heads"], r["condition"]))
    most = max(map(len, of_seed.values()))
    return [r for r in records if r["phase"] == "task" and len(of_seed[r["seed"]]) == most]


def paired(conditions, condition, number):
    """Differences from strength 0 over the seeds that have both."""
    ours, zero = conditions.get(condition, {}), conditions.get(NONE, {})
    return [NUMBERS[number](ours[seed]) - NUMBERS[number](zero[seed]) for seed in sorted(ours) if seed in zero]


def chosen_conditions(records, seeds):
    """For every task and number of heads, the strengths that were best with these seeds: by loss and by steps among those of fidelity and
    speed, and the baseline's by loss."""
    chosen = {}
    for cell, conditions in sorted(by_cell([r for r in records if r["seed"] in seeds], "task").items()):
        def mean(condition, number, of=conditions):
            return np.mean([NUMBERS[number](record) for record in of[condition].values()])

        own = [c for c in ORDER if c in conditions and c.startswith(("fidelity", "speed"))]
        base = [c for c in ORDER if c in conditions and c.startswith("entropy")]
        chosen[cell] = {"loss": min(own, key=lambda c: mean(c, "log_loss")),
                        "steps": min(own, key=lambda c: (mean(c, "steps"), -mean(c, "learning")))}
        if base:
            chosen[cell]["baseline"] = min(base, key=lambda c: mean(c, "log_loss"))
    return chosen


def number_text(value, digits):
    """Fixed digits; large numbers as powers of ten."""
    if math.isnan(value):
        return "-"
    return f"{value:.{digits}f}" if value < 1e4 else "10^" + f"{math.log10(value):.0f}"


def difference(interval, digits, factor=False):
    """"mean (low to high)", of log10 differences as factors; bold where the interval leaves no difference out."""
    mean, low, high, count = interval
    if count == 0:
        return "-"
    bold = "**" if not math.isnan(low) and (low > 0 or high < 0) else ""
    show = (lambda v: number_text(10**v, digits)) if factor else (lambda v: f"{v:+.{digits}f}")
    if math.isnan(low):
        return show(mean)
    return f"{bold}{show(mean)}{bold} ({show(low)} to {show(high)})"


def write_csv(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()})


def effects(cells):
    """Mean of every number under every condition, and its paired difference: a row each for every task and number of heads."""
    rows = []
    for (task, heads), conditions in sorted(cells.items()):
        for condition in ORDER:
            for number in NUMBERS:
                if condition not in conditions:
                    continue
                values = [NUMBERS[number](record) for record in conditions[condition].values()]
                change, low, high, count = mean_interval(paired(conditions, condition, number))
                rows.append({"task": task, "heads": heads, "condition": condition, "number": number, "models": len(values),
                             "mean": float(np.mean(values)), "difference": change, "low": low, "high": high, "pairs": count})
    return rows


def pooled(cells, condition, number, tasks=TASKS):
    return [d for (task, _), conditions in sorted(cells.items()) if task in tasks for d in paired(conditions, condition, number)]


def level(cells, condition, number):
    return float(np.mean([NUMBERS[number](r) for conditions in cells.values() for r in conditions.get(condition, {}).values()]))


def cells_moved(cells, condition, number, sign):
    """In how many cells the interval of the difference lies on the side asked for, and on the other."""
    asked = other = 0
    for conditions in cells.values():
        _, low, high, count = mean_interval(paired(conditions, condition, number))
        if count > 1:
            asked += (low > 0) if sign > 0 else (high < 0)
            other += (high < 0) if sign > 0 else (low > 0)
    return asked, other


def table(header, rows):
    return "\n".join(["| " + " | ".join(header) + " |", "|" + "---|" * len(header), *("| " + " | ".join(row) + " |" for row in rows)])


def of_heads(cells, heads):
    return {cell: conditions for cell, conditions in cells.items() if cell[1] == heads}


def moved_table(cells):
    """Of the models with 4 heads, which have all strengths."""
    cells, rows = of_heads(cells, 4), []
    for condition in ORDER:
        if not any(condition in conditions for conditions in cells.values()):
            continue
        row = [f"`{condition}`"]
        for number in ("fidelity", "fidelity_norm", "fidelity_contribution"):
            row.append(number_text(level(cells, condition, number), 3))
        row.append(number_text(10 ** level(cells, condition, "log_time"), 1))
        for number in ("cut_time", "cut_time_norm", "cut_time_contribution"):
            row.append(number_text(level(cells, condition, number), 1))
        rows.append(row)
    return table(["strength", "fidelity", "fidelity, norm edges", "fidelity, contribution edges", "hitting time", "cut at 100",
                  "cut, norm edges", "cut, contribution edges"], rows)


def asked_table(cells):
    rows = []
    for condition in ORDER[1:]:
        if condition.startswith("entropy") or not any(condition in conditions for conditions in cells.values()):
            continue
        metric, strength = condition.split("=")
        sign = 1 if float(strength) > 0 else -1
        numbers = ("fidelity_uniform", "fidelity", "fidelity_norm", "fidelity_contribution")
        if metric == "speed":
            numbers, sign = ("log_time_uniform", "log_time", "cut_time_norm", "cut_time_contribution"), -sign
        rows.append([f"`{condition}`", *("{} / {}".format(*cells_moved(cells, condition, number, sign)) for number in numbers)])
    return table(["strength", "equal weights (promoted)", "learned weights", "norm edges", "contribution edges"], rows)


def task_table(cells, number, digits, factor):
    rows = [[f"`{condition}`", *(difference(mean_interval(pooled(cells, condition, number, (task,))), digits, factor) for task in TASKS)]
            for condition in ORDER[1:] if any(condition in conditions for conditions in cells.values())]
    return table(["strength", *(f"`{task}`" for task in TASKS)], rows)


def level_table(cells):
    rows = []
    for task in TASKS:
        of = {cell: conditions for cell, conditions in cells.items() if cell[0] == task}
        records = [r for conditions in of.values() for r in conditions.get(NONE, {}).values()]
        if records:
            steps = sorted(NUMBERS["steps"](r) for r in records)
            rows.append([f"`{task}`", f"{10 ** level(of, NONE, 'log_loss'):.4f}", f"{level(of, NONE, 'accuracy'):.4f}",
                         f"{np.median(steps):.0f} ({steps[0]} to {steps[-1]})", str(len(records))])
    return table(["task", "loss", "accuracy", "steps to learn: median (range)", "models"], rows)


def heads_table(cells):
    rows = []
    for condition in ORDER:
        if not any(condition in conditions for conditions in cells.values()):
            continue
        row = [f"`{condition}`"]
        for number, digits, factor in (("alike", 3, False), ("needed", 3, False), ("synergy", 2, True)):
            if condition == NONE:
                values = [NUMBERS[number](r) for conditions in cells.values() for r in conditions.get(NONE, {}).values()]
                mean = float(np.nanmean(values))
                row.append(f"{10**mean:.2f}" if factor else f"{mean:.3f}")
            else:
                row.append(difference(mean_interval(pooled(cells, condition, number)), digits, factor))
        rows.append(row)
    return table(["strength", "correlation of heads' outputs", "share of the layer's value that single heads account for", "fidelity, all heads over best head"], rows)


JUDGED_NUMBERS = {"loss": "log_loss", "steps": "steps", "baseline": "log_loss"}


def judged_rows(records, seeds):
    """What the choice with these seeds does with other seeds; and the null, strength 0 with the next seed."""
    chosen, first = chosen_conditions(records, seeds), by_cell([r for r in records if r["seed"] in seeds], "task")
    cells = by_cell([r for r in records if r["seed"] not in seeds], "task")
    rows = []
    for cell, conditions in sorted(cells.items()):
        for outcome, condition in chosen.get(cell, {}).items():
            number = JUDGED_NUMBERS[outcome]
            differences = paired(conditions, condition, number)
            if len(differences) < 2:
                continue
            before = mean_interval(paired(first[cell], condition, number))
            mean, low, high, count = mean_interval(differences)
            zero = [NUMBERS[number](conditions[NONE][seed]) for seed in sorted(conditions[NONE]) if seed in conditions[condition]]
            null = mean_interval([b - a for a, b in zip(zero, zero[1:] + zero[:1])])
            rows.append({"task": cell[0], "heads": cell[1], "outcome": outcome, "condition": condition, "chosen_difference": before[0],
                         "difference": mean, "low": low, "high": high, "pairs": count, "p": student_p(differences), "p_signs": sign_flip_p(differences), "p_holm": math.nan,
                         "null_low": null[1], "null_high": null[2]})
    for kind in (("loss", "steps"), ("baseline",)):  # the baseline is a question of its own
        of = [row for row in rows if row["outcome"] in kind]
        for row, p in zip(of, holm([row["p"] for row in of]) if of else []):
            row["p_holm"] = float(p)
    return rows


def judged_table(rows, outcomes):
    lines = []
    for row in rows:
        if row["outcome"] not in outcomes:
            continue
        factor = row["outcome"] != "steps"
        digits = 2 if factor else 0
        values = (row["difference"], row["low"], row["high"], row["pairs"])
        one = (lambda v: f"{10**v:.2f}") if factor else (lambda v: f"{v:+.0f}")
        verdict = "-" if not row["p_holm"] <= 0.05 else "**better**" if row["difference"] < 0 else "**worse**"
        lines.append([f"`{row['task']}`", str(row["heads"]), "loss" if factor else "steps", f"`{row['condition']}`", one(row["chosen_difference"]),
                      difference(values, digits, factor).replace("**", ""), f"{one(row['null_low'])} to {one(row['null_high'])}",
                      f"{row['p']:.4f}", f"{row['p_signs']:.4f}", f"{row['p_holm']:.3f}", verdict])
    return table(["task", "heads", "outcome", "chosen", "with the choosing seeds", "with other seeds", "null", "p", "p by signs", "corrected p", ""], lines)


def longer_rows(records):
    rows = []
    for (task, heads), conditions in sorted(by_cell(records, "longer").items()):
        for condition in ORDER:
            if condition not in conditions:
                continue
            of, zero = conditions[condition], conditions.get(NONE, {})
            row = {"task": task, "heads": heads, "condition": condition, "models": len(of)}
            for part in ("inside", "beyond"):
                change, low, high, count = mean_interval([of[s][part][1] - zero[s][part][1] for s in sorted(of) if s in zero])
                row |= {part: float(np.mean([r[part][1] for r in of.values()])), f"{part}_difference": change, f"{part}_low": low,
                        f"{part}_high": high, "pairs": count}
            rows.append(row)
    return rows


def repeat_rows(records):
    """What was better with the judging seeds, with fresh ones."""
    rows = []
    for (task, heads), conditions in sorted(by_cell(records, "repeat").items()):
        for condition in (c for c in ORDER[1:] if c in conditions):
            differences = paired(conditions, condition, "log_loss")
            mean, low, high, count = mean_interval(differences)
            rows.append({"task": task, "heads": heads, "condition": condition, "difference": mean, "low": low, "high": high, "pairs": count,
                         "p": student_p(differences), "p_signs": sign_flip_p(differences), "p_holm": math.nan})
    for row, p in zip(rows, holm([row["p"] for row in rows]) if rows else []):
        row["p_holm"] = float(p)
    return rows


def repeat_table(rows):
    lines = [[f"`{row['task']}`", str(row["heads"]), f"`{row['condition']}`",
              difference((row["difference"], row["low"], row["high"], row["pairs"]), 2, True).replace("**", ""), str(row["pairs"]),
              f"{row['p']:.4f}", f"{row['p_signs']:.4f}", f"{row['p_holm']:.3f}",
              "-" if row["p_holm"] > 0.05 else "**better**" if row["difference"] < 0 else "**worse**"] for row in rows]
    return table(["task", "heads", "strength", "loss, as a factor", "pairs", "p", "p by signs", "corrected p", ""], lines)


def sinks_rows(records):
    """Fidelity and hitting time towards a token in the middle and towards the last one."""
    rows = []
    for (task, heads), conditions in sorted(by_cell(records, "longer").items()):
        for condition in (c for c in ORDER if c in conditions):
            of, zero = conditions[condition], conditions.get(NONE, {})
            for sink in ("11", "23"):
                def number(record, key, at=sink):
                    values = record["sinks"][at][key]
                    return log_mean(values) if key == "time" else math.log10(max(layer_mean(values), 1e-12))

                row = {"task": task, "heads": heads, "condition": condition, "sink": int(sink), "models": len(of)}
                for key in ("fidelity", "time"):
                    change, low, high, count = mean_interval([number(of[s], key) - number(zero[s], key) for s in sorted(of) if s in zero])
                    row |= {f"log_{key}": float(np.mean([number(r, key) for r in of.values()])), f"{key}_difference": change,
                            f"{key}_low": low, f"{key}_high": high, "pairs": count}
                rows.append(row)
    return rows


def sinks_table(rows):
    lines = []
    for row in rows:
        if row["condition"] == NONE:
            continue
        lines.append([f"`{row['task']}`", f"`{row['condition']}`", str(row["sink"]),
                      *(difference((row[f"{key}_difference"], row[f"{key}_low"], row[f"{key}_high"], row["pairs"]), 2, True)
                        for key in ("fidelity", "time"))])
    return table(["task", "strength", "towards token", "fidelity over that with strength 0", "hitting time over that with strength 0"], lines)


def longer_table(rows):
    lines = []
    for row in rows:
        change = "" if row["condition"] == NONE else difference(
            (row["beyond_difference"], row["beyond_low"], row["beyond_high"], row["pairs"]), 3)
        lines.append([f"`{row['task']}`", f"`{row['condition']}`", f"{row['inside']:.3f}", f"{row['beyond']:.3f}", change, str(row["models"])])
    return table(["task", "strength", "accuracy, positions 0 to 15", "accuracy, positions 16 to 23", "difference from strength 0", "models"], lines)


def replace_tables(page, tables):
    text = page.read_text(encoding="utf-8")
    for name, made in tables.items():
        begin, end = f"<!-- optimise: {name} -->\n", "<!-- end of optimise -->"
        pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        if len(pattern.findall(text)) != 1:
            raise SystemExit(f"optimise: {page}: expected one block '{begin.strip()}'")
        text = pattern.sub(lambda _, of=begin + made + "\n" + end: of, text)
    page.write_text(text, encoding="utf-8")


def draw(path, cells):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from .figures import save

    cells = of_heads(cells, 4)
    conditions = [c for c in ORDER if any(c in of for of in cells.values())]
    groups = {metric: [c for c in conditions if c == NONE or c.startswith(metric)] for metric in ("fidelity", "speed")}
    for metric, of in groups.items():
        of.sort(key=lambda c: 0.0 if c == NONE else float(c.split("=")[1]))
    figure, panels = plt.subplots(2, 2, figsize=(9.4, 6.4), layout="constrained", sharex="col")
    colours = ("#2166ac", "#b2182b", "#1a9850", "#8073ac")
    edges = (("", "where heads look"), ("_norm", "norm edges"), ("_contribution", "contribution edges"))
    for column, (metric, of) in enumerate(groups.items()):
        places = range(len(of))
        top, bottom = panels[0, column], panels[1, column]
        base = "fidelity" if metric == "fidelity" else "cut_time"
        for (suffix, label), colour in zip(edges, colours):
            intervals = [mean_interval([NUMBERS[base + suffix](r) for conditions in cells.values() for r in conditions.get(c, {}).values()])
                         for c in of]
            top.errorbar(places, [i[0] for i in intervals], yerr=[[i[0] - i[1] for i in intervals], [i[2] - i[0] for i in intervals]],
                         color=colour, marker="o", markersize=4, linewidth=1.2, label=label)
        top.set_ylabel("minimax fidelity" if metric == "fidelity" else "hitting time, cut at 100 steps", fontsize=9)
        for shift, (task, colour) in enumerate(zip(TASKS, colours)):
            changes = [mean_interval(pooled(cells, c, "log_loss", (task,))) if c != NONE else (0.0, 0.0, 0.0, 1) for c in of]
            at = [k + 0.08 * (shift - 1.5) for k in places]
            bottom.errorbar(at, [10 ** i[0] for i in changes],
                            yerr=[[10 ** i[0] - 10 ** i[1] for i in changes], [10 ** i[2] - 10 ** i[0] for i in changes]],
                            color=colour, marker="o", markersize=4, linewidth=1, label=task)
        bottom.axhline(1, color="#999999", linewidth=0.8, zorder=0)
        bottom.set_yscale("log")
        bottom.set_ylabel("loss over that with strength 0", fontsize=9)
        bottom.set_xticks(list(places), ["0" if c == NONE else c.split("=")[1] for c in of], fontsize=9)
        bottom.set_xlabel(f"strength of {metric}", fontsize=9)
        for panel in (top, bottom):
            panel.grid(axis="y", color="#eeeeee")
            panel.tick_params(labelsize=8)
            panel.spines[["top", "right"]].set_visible(False)
    panels[0, 0].legend(fontsize=8, frameon=False, loc="upper left")
    panels[1, 0].legend(fontsize=8, frameon=False, loc="upper left")
    save(figure, str(path))


def write(records, choosing, results, figure, page):
    results.mkdir(parents=True, exist_ok=True)
    cells = by_cell(of_complete_seeds(records), "task")
    repeated = repeat_rows(records)
    if repeated:
        write_csv(results / "repeated.csv", repeated)
    write_csv(results / "effects.csv", effects(cells))
    judged = judged_rows(records, choosing)
    longer, sinks = longer_rows(records), sinks_rows(records)
    if judged:
        write_csv(results / "judged.csv", judged)
    if longer:
        write_csv(results / "longer.csv", longer)
        write_csv(results / "sinks.csv", sinks)
    draw(figure, cells)
    replace_tables(page, {
        "levels": level_table(cells), "asked": asked_table(cells), "moved": moved_table(cells), "loss": task_table(cells, "log_loss", 2, True),
        "steps": task_table(cells, "steps", 0, False), "heads": heads_table(cells), "judged": judged_table(judged, ("loss", "steps")),
        "baseline": judged_table(judged, ("baseline",)), "repeated": repeat_table(repeated), "longer": longer_table(longer),
        "sinks": sinks_table(sinks)})
