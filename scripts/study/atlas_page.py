"""The tables of docs/atlas.md, from those of `atlas.py report`. Nobody types the numbers of that page."""

import csv
import glob
import os

import numpy as np

from . import atlas_figures, atlas_tables
from .atlas_figures import number
from .page import table
from .readers import InputError

EDGES = ("attention", "norm", "contribution", "permuted")


class Tables:
    """The tables by name, with numbers as text."""

    def __init__(self, folder):
        self.rows = {}
        try:
            for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*.csv"))):
                with open(path, newline="", encoding="utf-8") as file:
                    self.rows[os.path.basename(path)[: -len(".csv")]] = list(csv.DictReader(file))
            self.models = [row["model"] for row in self.rows["models"]]
            self.tokens = {row["model"]: int(row["tokens"]) for row in self.rows["models"]}
            missing = {*atlas_tables.TABLES, *(f"heads-{name}" for name in self.models)} - set(self.rows)
            if missing or not self.models:
                raise ValueError(f"{', '.join(sorted(missing)) or 'models'} missing")
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{folder}: not the tables of `atlas.py report` ({type(error).__name__}: {error})") from None
        #: Models with texts long enough for tables of heads, types and sinks.
        self.long = [name for name in self.models if self.tokens[name] > 16]

    def one(self, name, **keys):
        found = self.some(name, **keys)
        return found[0] if found else {}

    def some(self, name, **keys):
        return [row for row in self.rows[name] if all(row[key] == str(value) for key, value in keys.items())]

    def at(self, name, model, **keys):
        """The row of a model at its reference length."""
        return self.one(name, model=model, tokens=self.tokens[model], **keys)

    def at_all(self, name, model, **keys):
        """The rows of a model at its reference length."""
        return self.some(name, model=model, tokens=self.tokens[model], **keys)


def short(value):
    """Three digits."""
    return "" if np.isnan(value) else "∞" if np.isinf(value) else f"{value:.3g}"


def ranged(row, name):
    """A number with its interval, if there is one."""
    middle, low, high = (number(row, name + ending) for ending in ("", "_low", "_high"))
    return short(middle) + (f" ({short(low)} to {short(high)})" if np.isfinite(low) else "")


def rho(row):
    """A rank correlation with its interval over heads."""
    low, high = number(row, "low_heads"), number(row, "high_heads")
    return f"{number(row, 'rho'):.2f} ({low:.2f} to {high:.2f})" if row else ""


def named(pairs):
    """ "A 0.1, B 0.2 and C 0.3" """
    parts = [f"{name} {value}" for name, value in pairs]
    return "".join(parts) if len(parts) < 2 else ", ".join(parts[:-1]) + " and " + parts[-1]


def correlation(tables, model, a, b, given="", kind="attention"):
    return tables.at("correlations", model, a=a, b=b, given=given, kind=kind)


def models_table(tables):
    rows = []
    for row in tables.rows["models"]:
        copies = " → ".join(f"{number(row, name):.1f}" for name in ("loss_first_copy", "loss_second_copy")) if row["loss_first_copy"] else ""
        rows.append([row["model"], f"{row['layers']} x {row['heads']}", row["context"] if row["model"] in tables.long else "", row["texts"], row["loss"], copies])
    return table(["model", "layers x heads", "context", "tokens: texts", "loss at the reference length, in nats", "random tokens: first → second copy"], rows)


def sinks_table(tables):
    rows = []
    for name in tables.models:
        row = tables.at("lengths", name)
        rows.append([name, tables.tokens[name], ranged(row, "sink_rate"), ranged(row, "norm_sink_rate"), ranged(row, "backward_hitting_time"),
                     ranged(row, "fidelity_bound"), ranged(row, "minimax_fidelity"), ranged(row, "fidelity_tightness"), short(number(row, "largest_tightness"))])
    return table(["model", "tokens", "sink rate", "sink rate, norm edges", "h_bwd", "bound", "φ_min", "φ_min / bound", "largest"], rows)


def groups_table(tables):
    rows = []
    for name in tables.models:
        for group in ("sink", "other"):
            found = [tables.at("groups", name, group=group, kind=kind) for kind in ("attention", "permuted", "cut")]
            if found[0] and found[0]["heads"] != "0":
                plain, permuted, cut = found
                rows.append([name, f"{group}: {plain['heads']}", ranged(plain, "normalised_fidelity"), ranged(plain, "mixing_time_0.25"),
                             ranged(cut, "normalised_fidelity_ratio"), ranged(cut, "backward_hitting_time_ratio"), ranged(cut, "mixing_time_0.25_ratio"),
                             ranged(permuted, "mixing_time_0.25_ratio")])
    return table(["model", "heads", "n φ_min", "T_mix", "n φ_min, cut", "h_bwd, cut", "T_mix, cut", "T_mix, permuted"], rows)


def correlations_table(tables):
    pairs = (("sink", "backward_hitting_time", "first token, h_bwd"), ("sink", "minimax_fidelity", "first token, φ_min"),
             ("sink", "fidelity_tightness", "first token, φ_min / bound"), ("sink", "mixing_time_0.25", "first token, T_mix"))
    rows = []
    for a, b, label in pairs:
        rows.append([label, *(rho(correlation(tables, name, a, b)) for name in tables.models)])
        rows.append([label + ", given distance and entropy", *(rho(correlation(tables, name, a, b, "distance entropy")) for name in tables.models)])
    for a in ("distance", "entropy"):
        for b, label in (("backward_hitting_time", "h_bwd"), ("minimax_fidelity", "φ_min"), ("mixing_time_0.25", "T_mix")):
            rows.append([f"{a}, {label}", *(rho(correlation(tables, name, a, b)) for name in tables.models)])
    rows.append(["permuted rows: first token, h_bwd", *(rho(correlation(tables, name, "sink", "backward_hitting_time", kind="permuted")) for name in tables.models)])
    return table(["numbers of a head", *tables.models], rows)


def stack_table(tables):
    rows = []
    for name in tables.models:
        found = {kind: tables.at("stack", name, kind=kind) for kind in ("attention", "cut", "permuted", "norm", "norm cut")}
        if found["attention"]:
            rows.append([name, ranged(found["attention"], "first"), ranged(found["norm"], "first") if found["norm"] else "",
                         *(ranged(row, "effective_tokens") if row else "" for row in found.values())])
    return table(["model", "share of the first token", "the same, norm edges", "effective tokens", "cut", "permuted", "norm edges", "norm edges, cut"], rows)


def synergy_table(tables):
    rows = []
    for name in tables.models:
        for length in dict.fromkeys(row["tokens"] for row in tables.some("synergy", model=name)):
            cells = []
            for edges in EDGES:
                row = tables.one("synergy", model=name, tokens=length, edges=edges)
                cells += [f"{row['layers_above_one']} of {row['layers']}; {ranged(row, 'above_one')}" if row else ""]
            first = tables.one("synergy", model=name, tokens=length, edges="attention")
            rows.append([name, length, first["texts"], ranged(first, "median"), *cells])
    return table(["model", "tokens", "texts", "median synergy, attention", *(atlas_figures.EDGES[edges] for edges in EDGES)], rows)


def types_table(tables):
    kinds = ("sink", "previous", "itself", "induction", "duplicate", "none")
    rows = []
    for name in tables.models:
        cells = []
        for kind in kinds:
            row = tables.at("types", name, type=kind)
            interval = f" ({short(number(row, 'low'))} to {short(number(row, 'high'))})" if row and row["low"] else ""
            cells.append(row["heads"] + interval if row else "")
        best = tables.at("types", name, type="induction")
        rows.append([name, *cells, short(number(best, "largest_score")) if best else ""])
    return table(["model", *kinds, "largest induction score"], rows)


def type_numbers_table(tables):
    rows = []
    for name in tables.models:
        for row in tables.some("types", model=name, tokens=tables.tokens[name]):
            if row["heads"] != "0":
                rows.append([name, row["type"], row["heads"], row["layers"], short(number(row, "normalised_fidelity")), short(number(row, "backward_hitting_time")),
                             short(number(row, "mixing_time_0.25")), short(number(row, "fidelity_tightness"))])
    return table(["model", "type", "heads", "layers", "n φ_min", "h_bwd", "T_mix", "φ_min / bound"], rows)


def changes_table(tables):
    rows = [[row["model"], f"{row['from']} to {row['to']}", row["texts"], ranged(row, "sink_change"), *(ranged(row, f"{name}_ratio") for name in (
        "normalised_fidelity", "backward_hitting_time", "fidelity_tightness", "mixing_time_0.25", "distance"))] for row in tables.rows["changes"]]
    return table(["model", "tokens", "texts", "change of attention to first token", "n φ_min", "h_bwd", "φ_min / bound", "T_mix", "mean distance"], rows)


def loss_table(folder):
    """Of docs/results/validity, for the language models there."""
    path = os.path.join(os.path.dirname(os.path.normpath(folder)), "validity", "correlations.csv")
    if not os.path.exists(path):
        return None
    with open(path, newline="", encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    shown = (("fidelity_shapley", "minimax fidelity"), ("speed_shapley", "speed"), ("contribution", "L1 contribution"), ("output_norm", "output norm"),
             ("entropy", "entropy"), ("distance", "mean distance"), ("first_token", "first token"))
    rows = []
    for model in ("stories260K", "stories15M", "MiniMind2-Small", "TinyLlama-1.1B"):
        own = {row["number"]: row for row in found if row["models"] == model and row["ablation"] == "mean"}
        if own:
            rows.append([model, *(f"{number(own[key], 'correlation'):.2f} ({number(own[key], 'low'):.2f} to {number(own[key], 'high'):.2f})" if key in own else ""
                                  for key, _ in shown)])
    return table(["model", *(label for _, label in shown)], rows) if rows else None
