"""Tables for notebooks."""

from __future__ import annotations

import html
from typing import Any, Dict, List, Optional

from ._quantities import QUANTITIES, Quantity


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
            shown = [key for key, row in QUANTITIES.items() if row.column and key in value["heads"][0]]
            weights = layer["weights"]  # None: heads are on or off
            header = ["head", *([_heading("weight")] if weights else []), *map(_heading, shown), "in the smallest set",
                      *(["best weight"] if best else [])]
            rows = [[names[head["head"]] if names else str(head["head"]), *([f"{weights[head['head']]:.3g}"] if weights else []),
                     *[_estimate(head[key]) for key in shown],
                     _marked(head["head"], value["smallest"]["heads"]),
                     *([f"{best['weights'][head['head']]:.3g}"] if best else [])] for head in value["heads"]]
            title = f"layer {layer['name']}: {value['value']} {_estimate(value['all'])}" + ("" if layer["exact"] else " (sampled)")
            parts.append(_table(title, header, rows))
    return "".join(parts)


def _row(key: str) -> Quantity:
    """The row of a quantity. That of T_mix stands for every eps."""
    if key in QUANTITIES:
        return QUANTITIES[key]
    return QUANTITIES[key.rsplit("_", 1)[0] + "_EPS"]


def _heading(key: str, cutoff: object = "") -> str:
    return _row(key).heading.replace("EPS", key.rsplit("_", 1)[-1]).replace("CUTOFF", str(cutoff))


def _columns(numbers: Dict[str, Any]) -> List[str]:
    """The quantities in a document's numbers that tables show, in the order of the rows."""
    order = list(QUANTITIES.values())
    return sorted((key for key, value in numbers.items() if isinstance(value, dict) and "never" in value and _row(key).column),
                  key=lambda key: order.index(_row(key)))


def html_report(document: Dict[str, Any]) -> str:
    """One table a convention, one row a layer, from a document of `synergraph analyze`."""
    tables = []
    for convention in document["conventions"]:
        settings = convention["settings"]
        cutoff = settings["cutoff"]
        together = [key for key in _columns(convention["layers"][0]["combined"]) if key != "forward_probability"]
        compared = _columns(convention["layers"][0])
        rows = []
        for layer in convention["layers"]:
            cells = [_cell(layer["combined"].get(key), _row(key).unit == "steps") for key in together] + [str(layer["best_head"])]
            for key in compared:
                cells.append(_cell(layer[key]))
                if key == "synergy":
                    cells.append(f"{100 * layer['synergy_share']:.0f} %")
            rows.append([layer["name"], *cells])
        title = (f"{convention['convention']}: {settings['normalization']} walk, fidelity over "
                 f"{settings['fidelity_nodes']} ({settings['horizon']})")
        header = ["layer", *[_heading(key, cutoff) for key in together], _heading("best_head")]
        for key in compared:
            header += [_heading(key, cutoff)] + ([_heading("synergy_share")] if key == "synergy" else [])
        tables.append(_table(title, header, rows))
    return "".join(tables)
