"""The settings of the library's calls. Made by scripts/generate.py: do not edit."""

from typing import Dict, Tuple

# By the call: the key of each setting, its kind, whether the call of the C interface takes it, and what it is.
SETTINGS: Dict[str, Dict[str, Tuple[str, bool, str]]] = {
    "ablate": {
        "keep": ("number", True, (
            "share of the value of all heads that the smallest subset keeps (default: 0.95)")),
        "exact_heads": ("integer", True, (
            "largest number of heads for which all subsets of a layer are run; larger layers are sampled (default: 10)")),
        "precision": ("number", True, (
            "standard error by orders at which sampling stops, as a share of the value of all heads (default: 0.01)")),
        "orders": ("integer", True, (
            "limit on the random orders of heads drawn for a sampled layer (drawn in whole balanced sets of 2 orders per head, at least "
            "four sets) (default: 256)")),
        "seed": ("integer", True, (
            "seed of the random orders (default: 0)")),
        "pairs": ("boolean", True, (
            "also estimate interactions of pairs in sampled layers, with two to three times as many passes")),
    },
    "measure": {
        "layers": ("string", False, (
            "layers to analyse: numbers as the output shows them, such as 3 or 0,2 or 4-7, or a regular expression for the names of an "
            "archive's tensors (default: all); layers come in natural order, 2 before 10")),
        "axes": ("string", False, (
            "names of the arrays' axes in their order: some of layer,sample,head,query,key (default: the last of these, one for each "
            "axis); for an archive, one more name in front, layer or sample, says what each array is")),
        "sink": ("tokens", False, (
            "sinks, the tokens where information arrives: such as 63, 0-7, 15,31 or ::4; each ends a prefix of the sample, and numbers are"
            " means over the prefixes; negative numbers count from the end (default: the last token)")),
        "lengths": ("string", False, (
            "number of real tokens per sample, as a list or a file; one number holds for all samples; padding is ignored, even if it holds"
            " NaN")),
        "padding": ("name", False, (
            "side of the padding, where lengths are given (default: right)")),
        "row_tolerance": ("number", False, (
            "largest distance of a row's sum from 1 (default: the rounding error of the element type, or of a shorter type that holds all "
            "values)")),
        "missing_mass": ("name", False, (
            "error: refuse rows that sum to less than 1 beyond rounding; node: add a first node that takes all the missing mass and keeps "
            "it, for models with a learned sink logit (default: \"error\")")),
        "device": ("string", True, (
            "device that runs models and measures attention: cpu, cuda (the first GPU), cuda:1 (the second), ..., cuda:all (to measure), "
            "or auto: a GPU if there is one that can and the work is long enough for it, else the CPU (default: cpu; in C and Python auto)")),
        "convention": ("names", True, (
            "definitions to measure by. exact: normalised walk, and certified fidelity over the sources. published: as for the paper's "
            "tables (walk not normalised, fidelity over all nodes and 100 steps) (default: \"exact\")")),
        "normalization": ("name", True, (
            "how the heads are combined into one walk: per-head (as in the theory), pooled, or published (default: pooled; per-head for "
            "graphs; published with the published convention)")),
        "nodes": ("name", True, (
            "nodes that count for the minimax fidelity: sources or all (default: sources; with the published convention: all)")),
        "from_tokens": ("tokens", True, (
            "tokens whose fidelity counts, counted from the first measured token: such as 5, 0-7, 0,3,9 or ::4; negative numbers count "
            "from the end. Of several, the weakest counts (default: all nodes)")),
        "horizon": ("steps", True, (
            "number of diffusion steps to search, or 'certified': as many as the proof needs (default: certified; 100 with the published "
            "convention)")),
        "eps": ("numbers", True, (
            "threshold of T_mix, or a list of thresholds (the program takes 0.25,0.01) (default: 0.25)")),
        "cutoff": ("integer", True, (
            "cutoff for truncated hitting times, in steps (default: 100)")),
        "step_limit": ("integer", True, (
            "limit on diffusion steps; a fidelity that is not certified by then is reported as an interval. 0: no limit, later steps are "
            "searched by squaring (default: 0)")),
        "edges": ("name", True, (
            "what the edges are: attention, norm (attention times the norm of what the head moves) or contribution (share of each moved "
            "value in the output). With norm and contribution the weights of the heads follow from the edges (default: attention)")),
        "per_head": ("boolean", True, (
            "also measure each head alone, and the mixing synergy")),
        "backward": ("boolean", True, (
            "also measure averaged mixing times, the backward walk to the first token, and how close fidelity comes to its bound; the CPU "
            "measures these numbers")),
        "per_node": ("boolean", True, (
            "keep the numbers of every token")),
    },
    "heads": {
        "layers": ("string", False, (
            "layers to analyse: numbers as the output shows them, such as 3 or 0,2 or 4-7, or a regular expression for the names of an "
            "archive's tensors (default: all); layers come in natural order, 2 before 10")),
        "axes": ("string", False, (
            "names of the arrays' axes in their order: some of layer,sample,head,query,key (default: the last of these, one for each "
            "axis); for an archive, one more name in front, layer or sample, says what each array is")),
        "sink": ("tokens", False, (
            "sinks, the tokens where information arrives: such as 63, 0-7, 15,31 or ::4; each ends a prefix of the sample, and numbers are"
            " means over the prefixes; negative numbers count from the end (default: the last token)")),
        "lengths": ("string", False, (
            "number of real tokens per sample, as a list or a file; one number holds for all samples; padding is ignored, even if it holds"
            " NaN")),
        "padding": ("name", False, (
            "side of the padding, where lengths are given (default: right)")),
        "row_tolerance": ("number", False, (
            "largest distance of a row's sum from 1 (default: the rounding error of the element type, or of a shorter type that holds all "
            "values)")),
        "missing_mass": ("name", False, (
            "error: refuse rows that sum to less than 1 beyond rounding; node: add a first node that takes all the missing mass and keeps "
            "it, for models with a learned sink logit (default: \"error\")")),
        "device": ("string", True, (
            "device that runs models and measures attention: cpu, cuda (the first GPU), cuda:1 (the second), ..., cuda:all (to measure), "
            "or auto: a GPU if there is one that can and the work is long enough for it, else the CPU (default: cpu; in C and Python auto)")),
        "convention": ("name", True, (
            "definitions to measure by. exact: normalised walk, and certified fidelity over the sources. published: as for the paper's "
            "tables (walk not normalised, fidelity over all nodes and 100 steps) (default: \"exact\")")),
        "normalization": ("name", True, (
            "how the heads are combined into one walk: per-head (as in the theory), pooled, or published (default: pooled; per-head for "
            "graphs; published with the published convention)")),
        "nodes": ("name", True, (
            "nodes that count for the minimax fidelity: sources or all (default: sources; with the published convention: all)")),
        "from_tokens": ("tokens", True, (
            "tokens whose fidelity counts, counted from the first measured token: such as 5, 0-7, 0,3,9 or ::4; negative numbers count "
            "from the end. Of several, the weakest counts (default: all nodes)")),
        "horizon": ("steps", True, (
            "number of diffusion steps to search, or 'certified': as many as the proof needs (default: certified; 100 with the published "
            "convention)")),
        "cutoff": ("integer", True, (
            "cutoff for truncated hitting times, in steps (default: 100)")),
        "step_limit": ("integer", True, (
            "limit on diffusion steps; a fidelity that is not certified by then is reported as an interval. 0: no limit, later steps are "
            "searched by squaring (default: 0)")),
        "values": ("names", True, (
            "value to measure for every set of heads: fidelity, speed or both (the program takes fidelity,speed) (default: \"fidelity\", "
            "\"speed\")")),
        "keep": ("number", True, (
            "share of the value of all heads that the smallest subset keeps (default: 0.95)")),
        "weight_samples": ("integer", True, (
            "number of first samples used to search for the best weights, and for the best subsets of sampled layers; 0: no search for "
            "weights (default: 20)")),
        "exact_heads": ("integer", True, (
            "largest number of heads for which all subsets of a layer are measured; larger layers are sampled (default: 20)")),
        "null_samples": ("integer", True, (
            "number of first samples whose heads are also measured with the weights of each row permuted among its allowed keys, to tell "
            "structure from chance; doubles the time of these samples. 0: no claims about pairs, better sets or other weights (default: "
            "100)")),
        "precision": ("number", True, (
            "standard error at which sampling stops, as a share of the value of all heads (default: 0.001)")),
        "orders": ("integer", True, (
            "limit on the random orders of heads drawn per sample of a sampled layer (drawn in whole balanced sets, at least eight) "
            "(default: 100000)")),
        "loss": ("name", True, (
            "whether to divide the loss of a checkpoint with a task among its heads, beside their structure: yes, no or auto, which "
            "measures up to 100000 subsets of heads on sequences (default: auto)")),
        "ablation": ("name", True, (
            "output of a head that is off, when the loss is measured: zero or mean, its mean over all tokens of all sequences; also asks "
            "for the loss (default: mean)")),
        "edges": ("name", True, (
            "what the edges are: attention, norm (attention times the norm of what the head moves) or contribution (share of each moved "
            "value in the output). With norm and contribution the weights of the heads follow from the edges (default: attention)")),
        "stack": ("boolean", True, (
            "also follow signals through all layers, each applied once")),
        "residual": ("number", True, (
            "share of the signal that bypasses the heads of each layer (default: 0.5)")),
        "follow": ("integer", True, (
            "token whose path through the heads is shown, counted from the first measured token (default: the weakest token of each "
            "sample)")),
        "method": ("name", True, (
            "signal: with the weights of the heads. rollout: attention rollout, with equal weights and residual 0.5. flow: also attention "
            "flow, the maximum flow of each token to the sink (default: signal)")),
        "verbose": ("boolean", True, (
            "also print the tables of every head and pair")),
    },
    "compare": {
        "quantities": ("names", True, (
            "quantities to compare, by their keys, or all (default: truncated_hitting_mean, minimax_fidelity and synergy)")),
        "pairing": ("name", True, (
            "auto: pair sample k of A with sample k of B if both results have numbers by sample, as many of them, of as many tokens; "
            "samples: error if they have not; none: compare means only (default: \"auto\")")),
        "level": ("number", True, (
            "coverage of the intervals; differences whose corrected p is below 1 - level are called clear (default: 0.95)")),
        "sinks": ("integer", True, (
            "number of sinks of each sample in tables of samples (CSV); numbers of a sample are means over its sinks (default: 1)")),
        "verbose": ("boolean", True, (
            "show every head, not only the heads that differ clearly")),
    },
    "graph": {
        "convention": ("name", True, (
            "definitions to measure by. exact: normalised walk, and certified fidelity over the sources. published: as for the paper's "
            "tables (walk not normalised, fidelity over all nodes and 100 steps) (default: \"exact\")")),
        "normalization": ("name", True, (
            "how the heads are combined into one walk: per-head (as in the theory), pooled, or published (default: pooled; per-head for "
            "graphs; published with the published convention)")),
        "nodes": ("name", True, (
            "nodes that count for the minimax fidelity: sources or all (default: sources; with the published convention: all)")),
        "from_tokens": ("tokens", True, (
            "tokens whose fidelity counts, counted from the first measured token: such as 5, 0-7, 0,3,9 or ::4; negative numbers count "
            "from the end. Of several, the weakest counts (default: all nodes)")),
        "horizon": ("steps", True, (
            "number of diffusion steps to search, or 'certified': as many as the proof needs (default: certified; 100 with the published "
            "convention)")),
        "eps": ("numbers", True, (
            "threshold of T_mix, or a list of thresholds (the program takes 0.25,0.01) (default: 0.25)")),
        "cutoff": ("integer", True, (
            "cutoff for truncated hitting times, in steps (default: 100)")),
        "step_limit": ("integer", True, (
            "limit on diffusion steps; a fidelity that is not certified by then is reported as an interval. 0: no limit, later steps are "
            "searched by squaring (default: 0)")),
        "backward": ("boolean", True, (
            "also measure averaged mixing times, the backward walk to the first token, and how close fidelity comes to its bound; the CPU "
            "measures these numbers")),
    },
    "families": {
        "families": ("names", True, (
            "families of graphs with their parameters, without number of nodes and seed (default: \"indegree:4log\", \"expander:4log\", "
            "\"poisson:0.2:4log\", \"fs:4log\", \"fs-sparse:log\", \"fs-original\", \"longformer:log:log\", \"bigbird:log:log:log\", \"power\")")),
        "sizes": ("integers", True, (
            "numbers of nodes (default: 32, 64, 128, 256, 512, 1024)")),
        "graphs": ("integer", True, (
            "number of graphs for each random family and size; seeds from 1 (default: 3)")),
        "eps": ("number", True, (
            "threshold of the mixing times (default: 0.25)")),
        "step_limit": ("integer", True, (
            "limit on the steps of walks and diffusion; later results are lower limits (default: 100000)")),
    },
    "design": {
        "size": ("integer", True, (
            "number of nodes (default: 256)")),
        "indegree": ("string", True, (
            "budget as edges into each node beside its self-loop, on average and over all heads: a number, log, 4log, sqrt (default: "
            "\"4log\")")),
        "edges": ("integer", True, (
            "budget as the number of edges of all heads, self-loops included (default: from the indegree)")),
        "heads": ("integer", True, (
            "number of heads, each with its own edges; they have equal weights (default: 1)")),
        "averaged_mixing": ("integer", True, (
            "limit on the averaged mixing time, in steps; 0: 4 log2 n, rounded up (default: 0)")),
        "mixing": ("integer", True, (
            "limit on the mixing time from the worst node, in steps (default: none)")),
        "eps": ("number", True, (
            "threshold of the mixing times (default: 0.25)")),
        "starts": ("names", True, (
            "designs that searches start from: layers, random, or families of graphs without number of nodes and seed (default: \"layers\", "
            "\"fs-original\", \"power\", \"poisson:0.2:4log\", \"random\")")),
        "levels": ("integer", True, (
            "number of budgets, and of limits on the averaged mixing time, to try, each half of the previous one; every pair has its own "
            "searches (default: 1)")),
        "seed": ("integer", True, (
            "seed of the searches (default: 1)")),
        "steps": ("integer", True, (
            "number of moves that each search tries (default: 20000)")),
        "seconds": ("number", True, (
            "time after which searches end early, in seconds (default: none)")),
        "state": ("string", True, (
            "file with the state of the searches, from which the same command continues")),
    },
    "train": {
        "heads": ("integer", True, (
            "attention heads per layer; must divide the width (default: 4)")),
        "epochs": ("integer", True, (
            "passes over the training sequences (default: 200)")),
        "sequences": ("integer", True, (
            "number of training sequences (default: 5000)")),
        "seed": ("integer", True, (
            "seed of data, initialisation, order and dropout (default: 0)")),
        "layers": ("integer", True, (
            "number of layers (default: 4)")),
        "width": ("integer", True, (
            "features per token (default: 64)")),
        "hidden": ("integer", True, (
            "hidden units of each MLP (default: 128)")),
        "vocabulary": ("integer", True, (
            "number of different tokens (default: 256)")),
        "length": ("integer", True, (
            "tokens per sequence (default: 100)")),
        "batch": ("integer", True, (
            "sequences per step (default: 50)")),
        "dropout": ("number", True, (
            "dropout rate of attention probabilities and after each MLP (default: 0.1)")),
        "learning_rate": ("number", True, (
            "learning rate of Adam (default: 0.001)")),
        "beta1": ("number", True, (
            "Adam's decay rate of the mean gradient (default: 0.9)")),
        "beta2": ("number", True, (
            "Adam's decay rate of the mean squared gradient (default: 0.999)")),
        "epsilon": ("number", True, (
            "number that Adam adds to the root of the mean squared gradient (default: 1e-08)")),
        "promote": ("names", True, (
            "metric of attention to promote and its strength, such as fidelity=0.1 or speed=0.05, once for each metric (fidelity, speed, "
            "entropy); a negative strength discourages the metric")),
        "task": ("string", True, (
            "task to learn: copy (answer each token with itself), cycle (answer each token with the one before it, the first with the "
            "last), zero (answer every token with 0), recall (answer a key with the value that stood beside it), delayed-copy (repeat the "
            "first half of the sequence after a separator), maximum (answer with the largest token so far), second-maximum (answer with "
            "the second largest token so far), parity (answer with the parity of the bits so far), majority (answer with the more frequent"
            " bit so far) (default: \"copy\")")),
        "resume": ("boolean", True, (
            "continue the run in the directory, or start one if there is none; settings that are not given are those of the run")),
        "checkpoint_every": ("number", True, (
            "seconds between the checkpoints of a training; there is also one at the end and when it is stopped (default: 60.0)")),
        "track": ("integer", True, (
            "measure mixing time and fidelity of every layer every N epochs, and log them; 0: never (default: 0)")),
        "device": ("string", True, (
            "device that runs or trains models: cpu, cuda (the first GPU), cuda:1 (the second), ..., or auto: a GPU if there is one that "
            "can, else the CPU. A GPU also measures what it can (default: \"auto\")")),
        "precision": ("name", True, (
            "precision of products on a GPU: tf32 (operands of eleven bits), or float32 at about half the speed. The CPU computes in "
            "float32 (default: \"tf32\")")),
    },
    "reproduce": {
        "preset": ("name", True, (
            "quick: 4 epochs, up to 200 sequences measured; paper: 200 epochs, all sequences measured (default: \"quick\")")),
        "tasks": ("names", True, (
            "list of tasks to train (default: copy,cycle)")),
        "heads": ("integers", True, (
            "list of numbers of heads (default: 1,4,8,16)")),
        "seeds": ("integer", True, (
            "number of seeds: seeds 1 to K are used (default: 1)")),
        "seed_list": ("integers", True, (
            "list of seeds")),
        "epochs": ("integer", True, (
            "passes over the training sequences")),
        "sequences": ("integer", True, (
            "number of training sequences")),
        "layers": ("integer", True, (
            "number of layers (default: 4)")),
        "width": ("integer", True, (
            "features per token (default: 64)")),
        "hidden": ("integer", True, (
            "hidden units of each MLP (default: 128)")),
        "vocabulary": ("integer", True, (
            "number of different tokens (default: 256)")),
        "length": ("integer", True, (
            "tokens per sequence (default: 100)")),
        "batch": ("integer", True, (
            "sequences per step (default: 50)")),
        "dropout": ("number", True, (
            "dropout rate of attention probabilities and after each MLP (default: 0.1)")),
        "learning_rate": ("number", True, (
            "learning rate of Adam (default: 0.001)")),
        "beta1": ("number", True, (
            "Adam's decay rate of the mean gradient (default: 0.9)")),
        "beta2": ("number", True, (
            "Adam's decay rate of the mean squared gradient (default: 0.999)")),
        "epsilon": ("number", True, (
            "number that Adam adds to the root of the mean squared gradient (default: 1e-08)")),
        "samples": ("integer", True, (
            "number of training sequences to measure, from the first (the paper: 50; default: the preset's)")),
        "eps": ("numbers", True, (
            "threshold of T_mix, or a list of thresholds (the program takes 0.25,0.01) (default: 0.25)")),
        "cutoff": ("integer", True, (
            "cutoff for truncated hitting times, in steps (default: 100)")),
        "horizon": ("integer", True, (
            "diffusion steps looked at for the published fidelity (default: 100)")),
        "subset_samples": ("integer", True, (
            "number of sequences on which all subsets of up to 20 heads are measured; 0: none (default: the preset's)")),
        "jobs": ("integer", True, (
            "cells to run at the same time; they share the threads. On a GPU: sets of up to 64 cells of one shape. 0: one; on a GPU more "
            "if they are small (default: 0)")),
        "checkpoint_every": ("number", True, (
            "seconds between the checkpoints of a training; there is also one at the end and when it is stopped (default: 60.0)")),
        "device": ("string", True, (
            "device that runs or trains models: cpu, cuda (the first GPU), cuda:1 (the second), ..., or auto: a GPU if there is one that "
            "can, else the CPU. A GPU also measures what it can (default: \"auto\")")),
        "precision": ("name", True, (
            "precision of products on a GPU: tf32 (operands of eleven bits), or float32 at about half the speed. The CPU computes in "
            "float32 (default: \"tf32\")")),
        "figures": ("boolean", True, (
            "draw figures, with gnuplot (default: false; in Python true where gnuplot is installed)")),
    },
    "write_page": {
        "title": ("string", True, (
            "title of the page")),
        "page_samples": ("integer", True, (
            "samples whose attention is in the page (default: 10, or as many as 64 MiB hold)")),
    },
    "model_attention": {
        "task": ("string", True, (
            "task that judges a checkpoint; it also draws the sequences if no tokens are given: copy, cycle, zero, recall, delayed-copy, "
            "maximum, second-maximum, parity, majority")),
        "samples": ("integer", True, (
            "sequences to draw (default: 50)")),
        "seed": ("integer", True, (
            "seed of the random sequences (default: 1)")),
        "device": ("string", True, (
            "device that runs or trains models: cpu, cuda (the first GPU), cuda:1 (the second), ..., or auto: a GPU if there is one that "
            "can, else the CPU. A GPU also measures what it can (default: \"cpu\")")),
    },
}
