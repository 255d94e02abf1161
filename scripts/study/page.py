"""Writes docs/validity.md. Every result in it comes from the tables of `validity.py report`; nobody types these numbers."""

import csv
import os
import re
import textwrap

from .readers import InputError
from .report import write_whole
from .scores_table import SCORES

WIDTH = 150
KINDS = ("zero", "mean")
LANGUAGES = ("stories260K", "stories15M", "MiniMind2-Small", "TinyLlama-1.1B")
TASKS = ("delayed-copy", "majority", "maximum", "parity", "recall", "second-maximum")
#: Short names of numbers, for tables of orders and choices.
SHORT = {"best subset": "best subset (limit)", "best of other half": "best subset of the other half", "loss_shapley": "Shapley values by loss",
         "random": "random", "fidelity_shapley": "minimax fidelity", "speed_shapley": "speed", "contribution": "L1 contribution, within the layer",
         "contribution_stack": "L1 contribution, through the stack", "new_residual": "projection on the new residual",
         "deviation_residual": "projection of the deviation on the new residual", "projection_edges": "projection edges, within the layer",
         "projection_stack": "projection edges, through the stack", "output_norm": "output norm", "deviation_norm": "norm of the deviation",
         "projection_norm": "output projection norm (learned weight)", "gradient": "gradient times output, absolute",
         "norm_speed": "speed, norm edges", "best subset of other texts": "best subset of other texts", "contribution_others": "L1 contribution, without the token itself"}
#: The figures that the question began with: number, then stories15M zero and mean, MiniMind2-Small zero and mean.
FIRST = (("fidelity_shapley", 0.05, -0.19, -0.15, -0.35), ("speed_shapley", 0.25, -0.18, -0.47, -0.58), ("contribution", 0.70, 0.34, 0.60, 0.65),
         ("new_residual", 0.57, 0.12, 0.71, 0.71), ("deviation_norm", 0.33, 0.34, 0.51, 0.59), ("norm_stack", 0.45, 0.09, 0.30, 0.24))


class Tables:
    """The tables of a report, and how their numbers look in text."""

    def __init__(self, folder):
        self._rows = {}
        for name in ("correlations", "reliability", "pairs", "kept", "control", "held_out", "sizes", "wide_pairs", "wide_redundancy", "wide_kept",
                     "wide_orders"):
            with open(os.path.join(folder, name + ".csv"), newline="", encoding="utf-8") as file:
                self._rows[name] = list(csv.DictReader(file))
        self.languages = [name for name in LANGUAGES if self.has("control", models=name)]
        #: Groups without a common model.
        self.separate = [*self.languages, "copy", "cycle", *TASKS]

    def rows(self, table, **keys):
        return [row for row in self._rows[table] if all(row[key] == value for key, value in keys.items())]

    def row(self, table, **keys):
        found = self.rows(table, **keys)
        if len(found) != 1:
            raise ValueError(f"{table}: {len(found)} rows with {keys}")
        return found[0]

    def has(self, table, **keys):
        return bool(self.rows(table, **keys))

    def r(self, models, kind, number, column="correlation"):
        """A rank correlation."""
        return two(self.row("correlations", models=models, ablation=kind, number=number)[column])

    def marked(self, models, kind, number):
        """With a star where it is significant."""
        row = self.row("correlations", models=models, ablation=kind, number=number)
        return two(row["correlation"]) + ("*" if float(row["p_holm"]) < 0.05 else "")

    def interval(self, models, kind, number):
        return with_interval(self.row("correlations", models=models, ablation=kind, number=number))

    def both(self, models, number, column="correlation"):
        """Of zero and mean ablation: "0.54 and 0.42"."""
        return " and ".join(self.r(models, kind, number, column) for kind in KINDS)

    def control(self, models, column):
        return float(self.row("control", models=models)[column])

    def models(self, group):
        return int(self.row("control", models=group)["models_count"])

    def counts(self, number):
        """Of groups and both ablations: those where the number is significant above 0, below 0, and all; the least and the largest."""
        rows = [self.row("correlations", models=group, ablation=kind, number=number) for group in self.separate for kind in KINDS]
        clear = [float(row["correlation"]) for row in rows if float(row["p_holm"]) < 0.05]
        values = [float(row["correlation"]) for row in rows]
        return sum(c > 0 for c in clear), sum(c < 0 for c in clear), len(rows), min(values), max(values)

    def wide_seed_count(self):
        """Seeds of each task among the models of wide layers."""
        return min(int(self.row("wide_kept", models=task, ablation="zero", order="random")["models_count"]) for task in TASKS)

    def wide_seeds(self):
        fewest = self.wide_seed_count()
        return f"six tasks, {fewest} seeds each" if fewest * len(TASKS) == int(
            self.row("wide_kept", models="new tasks", ablation="zero", order="random")["models_count"]) else f"six tasks, at least {fewest} seeds each"

    def kept(self, models, kind, order):
        found = self.rows("kept", models=models, ablation=kind, order=order)
        return two(found[0]["mean_kept"]) if found else ""


WORDS = ("no", "one", "two", "three", "four", "five", "six")


def in_words(count):
    return WORDS[count] if count < len(WORDS) else str(count)


def two(value):
    text = f"{float(value):.2f}"
    return "0.00" if text == "-0.00" else text


def with_interval(row, value="correlation", low="low", high="high"):
    return f"{two(row[value])} ({two(row[low])} to {two(row[high])})"


def table(header, rows):
    lines = ["| " + " | ".join(str(cell) for cell in line) + " |" for line in (header, *rows)]
    return "\n".join([lines[0], "|---" * len(header) + "|", *lines[1:]])


def filled(text):
    """Paragraphs and items of lists in lines of WIDTH; tables, code, pictures and headings as they are."""
    result, inside = [], False
    for part in text.strip("\n").split("\n\n"):
        fences = part.count("```")
        if inside or fences or part.startswith(("|", "#", "![")):
            result.append(part)
            inside ^= fences % 2 == 1
            continue
        for item in re.split(r"\n(?=- |\d+\. )", part):
            mark = re.match(r"- |\d+\. |", item)[0]
            whole = re.sub(r"`[^`]*`", lambda code: code[0].replace(" ", "\0"), " ".join(item.split()))  # code stays in one line
            result.append(textwrap.fill(whole, WIDTH, subsequent_indent=" " * len(mark), break_long_words=False,
                                        break_on_hyphens=False).replace("\0", " "))
            result.append("")
        result.pop()
        result[-1:] = ["\n".join(last_items(result))]
    return "\n\n".join(part for part in result if part) + "\n"


def last_items(parts):
    """Takes the items of one list, which empty parts separate, off the end of parts."""
    items = [parts[-1]]
    while len(parts) > 2 and parts[-2] == "":
        del parts[-2:]
        items.insert(0, parts[-1])
    return items


def correlation_table(t):
    groups = ("language models", "copy", "cycle", "new tasks")
    header = ["number", *(f"{group}, {kind}" for group in groups for kind in KINDS)]
    return table(header, [[f"{text} ({SCORES[name][0]})", *(t.marked(group, kind, name) for group in groups for kind in KINDS)]
                          for name, (_, text) in SCORES.items()])


def model_table(t):
    names = ("fidelity_shapley", "speed_shapley", "norm_stack", "contribution", "contribution_stack", "projection_edges", "new_residual", "deviation_residual",
             "output_norm", "projection_norm", "gradient", "permuted")
    header = ["models", *(SHORT.get(name, SCORES[name][1]) for name in names)]
    return table(header, [[group, *(f"{t.marked(group, 'zero', name)}, {t.marked(group, 'mean', name)}" for name in names)] for group in t.separate])


def count_table(t):
    names = [name for name, (kind, _) in SCORES.items()]
    found = [(name, t.counts(name)) for name in names]
    found.sort(key=lambda one: (one[1][1] - one[1][0], one[1][1]))
    return table(["number", "above 0", "below 0", "least", "largest"],
                 [[f"{SCORES[name][1]} ({SCORES[name][0]})", above, below, two(least), two(largest)] for name, (above, below, _, least, largest) in found])


def across_table(t):
    names = ("fidelity_shapley", "speed_shapley", "norm_stack", "contribution", "contribution_stack", "projection_stack", "new_residual", "output_norm", "gradient")

    def cell(group, kind, name):
        row = t.row("correlations", models=group, ablation=kind, number=name)
        return with_interval(row, "across_layers", "across_low", "across_high") if row["across_low"] else two(row["across_layers"])

    groups = (*t.languages, "copy", "cycle", "new tasks")
    return "\n\n".join(table([f"number, {kind} ablation", *groups], [[SHORT.get(name, SCORES[name][1]), *(cell(group, kind, name) for group in groups)]
                                                                   for name in names]) for kind in KINDS)


def held_out_table(t):
    rows = t.rows("held_out", family="moved")
    found = []
    for row in rows:
        if row["ablation"] != "zero":
            continue
        other = next(one for one in rows if one["ablation"] == "mean" and (one["chosen_on"], one["judged_on"]) == (row["chosen_on"], row["judged_on"]))
        star = ["*" if float(one["p_holm"]) < 0.05 else "" for one in (row, other)]
        found.append([row["chosen_on"], SHORT.get(row["number"], SCORES[row["number"]][1]), row["judged_on"],
                      two(row["correlation"]) + star[0], two(other["correlation"]) + star[1],
                      *(with_interval(one, f"{start}gain", f"{start}gain_low", f"{start}gain_high") for start in ("", "norm_") for one in (row, other))])
    return table(["chosen on", "number", "judged on", "zero", "mean", "gain over minimax fidelity, zero", "mean", "gain over the output norm, zero", "mean"],
                 found)


def reliability_table(t):
    return table(["models", "texts", "zero", "mean", "sampled orders: error over spread"], [
        [group, t.row("reliability", models=group, ablation="zero")["texts"], *(two(t.row("reliability", models=group, ablation=kind)["halves"])
                                                                             for kind in KINDS),
         t.row("reliability", models=group, ablation="zero")["error_over_spread"]] for group in t.separate])


def kept_table(t, kind):
    groups = (*t.languages, "new tasks, 4 heads", "new tasks, 8 heads", "new tasks, 16 heads")
    orders = ("best subset", "best of other half", "loss_shapley", "gradient", "contribution", "new_residual", "output_norm", "deviation_norm", "projection_norm",
              "speed_shapley", "fidelity_shapley", "random")
    return table([f"order, {kind} ablation", *groups], [[SHORT[order], *(t.kept(group, kind, order) for group in groups)] for order in orders])


def pair_table(t):
    groups = (*(name for name in t.languages if t.has("pairs", models=name)), "language models", "copy", "cycle", "new tasks")
    names = {"fidelity": "minimax fidelity", "speed": "speed", "norm_fidelity": "minimax fidelity, norm edges", "norm_speed": "speed, norm edges",
             "contribution_fidelity": "minimax fidelity, contribution edges", "contribution_speed": "speed, contribution edges",
             "permuted_fidelity": "minimax fidelity, permuted rows (null)"}

    def cell(tables, group, kind, name):
        row = t.row(tables, models=group, ablation=kind, pairs=name)
        return two(row["correlation"]) + ("*" if float(row["p_holm"]) < 0.05 else "")

    columns = [("pairs", group) for group in groups] + [("wide_pairs", "new tasks")]
    return table(["interactions of", *groups, "new tasks, 16 heads"], [[text, *(", ".join(cell(*column, kind, name) for kind in KINDS) for column in columns)]
                                                                      for name, text in names.items()])


def wide_kept_table(t):
    orders = ("best subset", "best subset of other texts", "loss_shapley", "contribution", "random")
    rows = {(order, kind): t.row("wide_kept", models="new tasks", ablation=kind, order=order) for order in orders for kind in KINDS}
    return table(["order", *KINDS], [[SHORT[order], *(with_interval(rows[order, kind], "mean_kept") for kind in KINDS)] for order in orders])


def wide_order_table(t):
    groups = ("new tasks", *TASKS)
    columns = (("rank_correlation", two), ("lowest_layer", two), ("error_over_spread", two), ("stated_over_spread", two), ("within_one", percent),
               ("within_two", percent), ("most_needed", percent))
    found = [[group, *(", ".join(shown(t.row("wide_orders", models=group, ablation=kind)[name]) for kind in KINDS) for name, shown in columns)]
             for group in groups]
    return table(["models", "rank correlation", "lowest of a layer", "error over spread", "stated error over spread", "within one stated error", "within two",
                  "names the most needed head"], found)


def percent(value):
    return f"{100 * float(value):.0f} %"


def first_table(t):
    columns = [(group, kind) for group in ("stories15M", "MiniMind2-Small") for kind in KINDS]
    return table(["number", *(f"{group}, {kind}: first, here" for group, kind in columns)], [
        [SHORT.get(name, SCORES[name][1]), *(f"{two(value)}, {t.r(group, kind, name)}" for value, (group, kind) in zip(values, columns))]
        for name, *values in FIRST])


def control_table(t):
    return table(["models", "number", "loss", "accuracy", "loss, all heads off", "accuracy, all heads off", "loss, one layer off (median)", "heads that harm"], [
        [group, t.models(group), f"{t.control(group, 'intact_loss'):.3g}", two(t.control(group, "intact_accuracy")),
         f"{t.control(group, 'all_zero_loss'):.3g}", two(t.control(group, "all_zero_accuracy")), f"{t.control(group, 'median_layer_zero_loss'):.3g}",
         f"{100 * t.control(group, 'harmful_zero'):.0f} %"] for group in t.separate])


def write(results, path, others=()):
    """Writes the page from the tables in a folder, and what other documents say of it.

    There, what stands between "<!-- validity: NAME -->" and "<!-- end of validity -->" is replaced.
    """
    from .page_text import SAYINGS, text_of

    tables = Tables(results)
    write_whole(path, filled(text_of(tables)))
    for other in others:
        with open(other, encoding="utf-8") as file:
            text = file.read()

        def said(match):
            made = SAYINGS[match[2]](tables)
            return match[1] + ("\n" + filled(made) if match[3].startswith("\n") else made) + match[4]

        changed, count = re.subn(r"(<!-- validity: (\w+) -->)(.*?)(<!-- end of validity -->)", said, text, flags=re.DOTALL)
        if not count:
            raise InputError(f"{other}: no text between <!-- validity: NAME --> and <!-- end of validity -->")
        write_whole(other, changed)
