"""The settings of the library's calls. Made by scripts/generate.py: do not edit."""

from typing import Dict, Tuple

# By the call: the key of each setting, its kind and what it is.
SETTINGS: Dict[str, Dict[str, Tuple[str, str]]] = {
    "graph": {
        "convention": ("name", (
            "definitions to measure by. exact: normalised walk, and certified fidelity over the sources. published: as for the paper's "
            "tables (walk not normalised, fidelity over all nodes and 100 steps) (default: \"exact\")")),
        "normalization": ("name", (
            "how the heads are combined into one walk: per-head (as in the theory), pooled, or published (default: pooled; per-head for "
            "graphs; published with the published convention)")),
        "nodes": ("name", (
            "nodes that count for the minimax fidelity: sources or all (default: sources; with the published convention: all)")),
        "from_tokens": ("tokens", (
            "tokens whose fidelity counts, counted from the first measured token: such as 5, 0-7, 0,3,9 or ::4; negative numbers count "
            "from the end. Of several, the weakest counts (default: all nodes)")),
        "horizon": ("steps", (
            "number of diffusion steps to search, or 'certified': as many as the proof needs (default: certified; 100 with the published "
            "convention)")),
        "eps": ("numbers", (
            "threshold of T_mix, or a list of thresholds (the program takes 0.25,0.01) (default: 0.25)")),
        "cutoff": ("integer", (
            "cutoff for truncated hitting times, in steps (default: 100)")),
        "step_limit": ("integer", (
            "limit on diffusion steps; a fidelity that is not certified by then is reported as an interval. 0: no limit, later steps are "
            "searched by squaring (default: 0)")),
    },
    "heads": {
        "convention": ("name", (
            "definitions to measure by. exact: normalised walk, and certified fidelity over the sources. published: as for the paper's "
            "tables (walk not normalised, fidelity over all nodes and 100 steps) (default: \"exact\")")),
        "normalization": ("name", (
            "how the heads are combined into one walk: per-head (as in the theory), pooled, or published (default: pooled; per-head for "
            "graphs; published with the published convention)")),
        "nodes": ("name", (
            "nodes that count for the minimax fidelity: sources or all (default: sources; with the published convention: all)")),
        "from_tokens": ("tokens", (
            "tokens whose fidelity counts, counted from the first measured token: such as 5, 0-7, 0,3,9 or ::4; negative numbers count "
            "from the end. Of several, the weakest counts (default: all nodes)")),
        "horizon": ("steps", (
            "number of diffusion steps to search, or 'certified': as many as the proof needs (default: certified; 100 with the published "
            "convention)")),
        "eps": ("numbers", (
            "threshold of T_mix, or a list of thresholds (the program takes 0.25,0.01) (default: 0.25)")),
        "cutoff": ("integer", (
            "cutoff for truncated hitting times, in steps (default: 100)")),
        "step_limit": ("integer", (
            "limit on diffusion steps; a fidelity that is not certified by then is reported as an interval. 0: no limit, later steps are "
            "searched by squaring (default: 0)")),
        "values": ("names", (
            "value to measure for every set of heads: fidelity, speed or both (the program takes fidelity,speed) (default: \"fidelity\", "
            "\"speed\")")),
        "keep": ("number", (
            "share of the value of all heads that the smallest subset keeps (default: 0.95)")),
        "weight_samples": ("integer", (
            "number of first samples used to search for the best weights, and for the best subsets of sampled layers; 0: no search for "
            "weights (default: 20)")),
        "null_samples": ("integer", (
            "number of first samples whose heads are also measured with the weights of each row permuted, to tell structure from chance; "
            "doubles the time of these samples. 0: no claims about pairs, better sets or other weights (default: 100)")),
        "exact_heads": ("integer", (
            "largest number of heads for which all subsets of a layer are measured; larger layers are sampled (default: 20)")),
        "precision": ("number", (
            "standard error at which sampling stops, as a share of the value of all heads (default: 0.001)")),
        "orders": ("integer", (
            "limit on the random orders of heads drawn per sample of a sampled layer (drawn in whole balanced sets, at least eight) "
            "(default: 100000)")),
        "loss": ("name", (
            "whether to divide the loss of a checkpoint with a task among its heads, beside their structure: yes, no or auto, which "
            "measures up to 100000 subsets of heads on sequences (default: auto)")),
        "stack": ("boolean", (
            "also follow signals through all layers, each applied once")),
        "residual": ("number", (
            "share of the signal that bypasses the heads of each layer (default: 0.5)")),
        "follow": ("integer", (
            "token whose path through the heads is shown, counted from the first measured token (default: the weakest token of each "
            "sample)")),
        "verbose": ("boolean", (
            "also print the tables of every head and pair")),
    },
    "measure": {
        "convention": ("names", (
            "definitions to measure by. exact: normalised walk, and certified fidelity over the sources. published: as for the paper's "
            "tables (walk not normalised, fidelity over all nodes and 100 steps) (default: \"exact\")")),
        "normalization": ("name", (
            "how the heads are combined into one walk: per-head (as in the theory), pooled, or published (default: pooled; per-head for "
            "graphs; published with the published convention)")),
        "nodes": ("name", (
            "nodes that count for the minimax fidelity: sources or all (default: sources; with the published convention: all)")),
        "from_tokens": ("tokens", (
            "tokens whose fidelity counts, counted from the first measured token: such as 5, 0-7, 0,3,9 or ::4; negative numbers count "
            "from the end. Of several, the weakest counts (default: all nodes)")),
        "horizon": ("steps", (
            "number of diffusion steps to search, or 'certified': as many as the proof needs (default: certified; 100 with the published "
            "convention)")),
        "eps": ("numbers", (
            "threshold of T_mix, or a list of thresholds (the program takes 0.25,0.01) (default: 0.25)")),
        "cutoff": ("integer", (
            "cutoff for truncated hitting times, in steps (default: 100)")),
        "step_limit": ("integer", (
            "limit on diffusion steps; a fidelity that is not certified by then is reported as an interval. 0: no limit, later steps are "
            "searched by squaring (default: 0)")),
    },
}
