"""Tables for notebooks."""

from __future__ import annotations

import html
from typing import Any, Dict, List, Optional, Tuple

_STEPS = {"truncated_hitting_mean", "hitting_mean", "hitting_max"}


def _number(value: Optional[float], steps: bool) -> str:
    if value is None:
        return "never" if steps else "–"
    return f"{value:.0f}" if steps and value < 1e6 and value == int(value) else f"{value:.4g}"


def _cell(summary: Optional[Dict[str, Any]], steps: bool = False) -> str:
    """Mean and standard deviation over samples, and how many have none."""
    if summary is None:
        return "–"
    if summary["never"] + summary["undefined"] == summary["samples"]:
        return "never" if steps and summary["never"] else "–"
    text = _number(summary["mean"], steps)
    if summary["samples"] > 1:
        text += f" ± {summary['std']:.2g}"
    if summary["never"]:
        text += f" ({summary['never']} {'never' if steps else 'inf'})"
    return text


def _table(title: str, header: List[str], rows: List[List[str]]) -> str:
    def line(cells: List[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(line(row, "td") for row in rows)
    return (f"<table><caption>{html.escape(title)}</caption><thead>{line(header, 'th')}</thead>"
            f"<tbody>{body}</tbody></table>")


def _estimate(estimate: Dict[str, Any]) -> str:
    """A mean and its standard error."""
    if estimate["mean"] is None:
        return "–"
    return f"{estimate['mean']:.4g}" + (f" ± {estimate['error']:.2g}" if estimate["error"] is not None else "")


def _marked(head: int, heads: List[int]) -> str:
    return "✓" if head in heads else ""


def html_heads(document: Dict[str, Any]) -> str:
    """The summary, and one table a layer and value, one row a head, from a document of `synergraph heads`."""
    summary = list(document["summary"])
    if "loss" in document:
        loss = document["loss"]
        summary.append(f"{loss['name']} {_estimate(loss['intact'])}; with every head of every layer off "
                       f"{_estimate(loss['without_attention'])}")
    parts = ["<ul>", *[f"<li>{html.escape(line)}</li>" for line in summary], "</ul>"]
    names = document.get("head_names")
    for layer in document["layers"]:
        for value in layer["values"]:
            best = value.get("best_weights")
            weights = layer["weights"]  # None: heads are on or off
            header = ["head", *(["weight"] if weights else []), "Shapley", "alone", "lost without it", "in the smallest set",
                      *(["best weight"] if best else [])]
            rows = [[names[head["head"]] if names else str(head["head"]), *([f"{weights[head['head']]:.3g}"] if weights else []),
                     _estimate(head["shapley"]), _estimate(head["alone"]), _estimate(head["dropped"]),
                     _marked(head["head"], value["smallest"]["heads"]),
                     *([f"{best['weights'][head['head']]:.3g}"] if best else [])] for head in value["heads"]]
            title = f"layer {layer['name']}: {value['value']} {_estimate(value['all'])}" + ("" if layer["exact"] else " (sampled)")
            parts.append(_table(title, header, rows))
    return "".join(parts)


def html_report(document: Dict[str, Any]) -> str:
    """One table a convention, one row a layer, from a document of `synergraph analyze`."""
    tables = []
    for convention in document["conventions"]:
        settings = convention["settings"]
        times: List[Tuple[str, str]] = [
            (f"hit cut {settings['cutoff']}", "truncated_hitting_mean"),
            ("hit mean", "hitting_mean"),
            ("hit max", "hitting_max"),
        ]
        names = [key for key in convention["layers"][0]["combined"] if key.startswith("mixing_time_")]
        times += [(f"T_mix({name[12:]})", name) for name in names]
        rows = []
        for layer in convention["layers"]:
            combined = layer["combined"]
            rows.append([layer["name"], *[_cell(combined.get(key), True) for _, key in times],
                         _cell(combined["minimax_fidelity"]), str(layer["best_head"]), _cell(layer["best_head_fidelity"]),
                         _cell(layer["synergy"]), f"{100 * layer['synergy_share']:.0f} %", _cell(layer["cross_head_share"])])
        title = (f"{convention['convention']}: {settings['normalization']} walk, fidelity over "
                 f"{settings['fidelity_nodes']} ({settings['horizon']})")
        header = ["layer", *[text for text, _ in times], "fidelity", "best head", "its fidelity", "synergy", "present",
                  "cross-head"]
        tables.append(_table(title, header, rows))
    return "".join(tables)
