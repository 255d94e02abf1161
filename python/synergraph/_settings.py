"""The settings of the library's calls. Made by scripts/generate.py: do not edit."""

from typing import Dict, Tuple

# By the call: the key of each setting, its kind and what it is.
SETTINGS: Dict[str, Dict[str, Tuple[str, str]]] = {
    "graph": {
        "convention": ("name", (
            "exact: certified fidelity over the sources, and steps that sum to one. published: as the paper's tables were computed (walk "
            "that is not normalised, all nodes, 100 steps) (default: \"exact\")")),
        "normalization": ("name", (
            "how heads become a walk: per-head (as in the theory), pooled, or published (default: pooled, for graphs per-head; with the "
            "published convention: published)")),
        "nodes": ("name", (
            "nodes that count for the minimax fidelity: sources or all (default: sources; with the published convention: all)")),
        "horizon": ("steps", (
            "number of diffusion steps to look at, or 'certified' (default: certified; with the published convention: 100)")),
        "eps": ("numbers", (
            "thresholds of T_mix, separated by commas (default: 0.25)")),
        "cutoff": ("integer", (
            "cutoff for truncated hitting times, in steps (default: 100)")),
        "step_limit": ("integer", (
            "diffusion steps after which an uncertified fidelity is reported as an interval; 0: no limit, later steps are searched by "
            "squaring (default: 0)")),
    },
    "heads": {
        "convention": ("name", (
            "exact: certified fidelity over the sources, and steps that sum to one. published: as the paper's tables were computed (walk "
            "that is not normalised, all nodes, 100 steps) (default: \"exact\")")),
        "normalization": ("name", (
            "how heads become a walk: per-head (as in the theory), pooled, or published (default: pooled, for graphs per-head; with the "
            "published convention: published)")),
        "nodes": ("name", (
            "nodes that count for the minimax fidelity: sources or all (default: sources; with the published convention: all)")),
        "horizon": ("steps", (
            "number of diffusion steps to look at, or 'certified' (default: certified; with the published convention: 100)")),
        "eps": ("numbers", (
            "thresholds of T_mix, separated by commas (default: 0.25)")),
        "cutoff": ("integer", (
            "cutoff for truncated hitting times, in steps (default: 100)")),
        "step_limit": ("integer", (
            "diffusion steps after which an uncertified fidelity is reported as an interval; 0: no limit, later steps are searched by "
            "squaring (default: 0)")),
        "values": ("names", (
            "what heads are worth: fidelity, speed or both, separated by commas (default: \"fidelity\", \"speed\")")),
        "keep": ("number", (
            "share of the value of all heads that the smallest subset keeps (default: 0.95)")),
        "weight_samples": ("integer", (
            "number of samples, from the first, for which the best weights are sought, and the best subsets of sampled layers; 0: no "
            "weights are sought (default: 20)")),
        "exact_heads": ("integer", (
            "most heads of a layer for which all subsets are measured; larger layers are sampled (default: 20)")),
        "precision": ("number", (
            "standard error at which sampling stops, as a share of the value of all heads (default: 0.001)")),
        "orders": ("integer", (
            "most orders of the heads drawn for each sample of a sampled layer (whole sets of balanced orders, at least eight) (default: "
            "100000)")),
        "stack": ("boolean", (
            "also follow signals through all layers, each applied once")),
        "residual": ("number", (
            "share of the signal that passes each layer beside its heads (default: 0.5)")),
        "follow": ("integer", (
            "token whose path through the heads is shown, counted from the first measured token (default: the weakest token of each "
            "sample)")),
    },
    "measure": {
        "convention": ("names", (
            "exact: certified fidelity over the sources, and steps that sum to one. published: as the paper's tables were computed (walk "
            "that is not normalised, all nodes, 100 steps) (default: \"exact\")")),
        "normalization": ("name", (
            "how heads become a walk: per-head (as in the theory), pooled, or published (default: pooled, for graphs per-head; with the "
            "published convention: published)")),
        "nodes": ("name", (
            "nodes that count for the minimax fidelity: sources or all (default: sources; with the published convention: all)")),
        "horizon": ("steps", (
            "number of diffusion steps to look at, or 'certified' (default: certified; with the published convention: 100)")),
        "eps": ("numbers", (
            "thresholds of T_mix, separated by commas (default: 0.25)")),
        "cutoff": ("integer", (
            "cutoff for truncated hitting times, in steps (default: 100)")),
        "step_limit": ("integer", (
            "diffusion steps after which an uncertified fidelity is reported as an interval; 0: no limit, later steps are searched by "
            "squaring (default: 0)")),
    },
}
