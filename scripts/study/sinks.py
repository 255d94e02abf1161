#!/usr/bin/env python3
"""Attention sinks and the graph of a head: the study of docs/sinks.md.

    python3 scripts/study/sinks.py MODEL... --results docs/results/sinks

MODEL is NAME=PATH, NAME=PATH:TOKENS or NAME=PATH:TOKENS:TEXTS (128 tokens and --texts if left out), with a file that study/readers.py reads. For every head, on every text, the
script measures the mean attention to the first token, and what `synergraph analyze --backward` measures. It does the same for two controls:
`permuted` has the weights of each row in a random order among the allowed keys, and `cut` has no first token (rows are normalised again).
It writes heads.csv (medians over texts), groups.csv (heads with and without a sink), correlations.csv (rank correlations over heads, with
bootstrap intervals over heads and over texts) and effects.csv (what the removal of the first token changes).

The command needs PyTorch, NumPy and the package synergraph (SYNERGRAPH_LIBRARY names a built library). Debian's bible-kjv has the Bible.
"""

import argparse
import csv
import multiprocessing
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
try:
    import numpy as np
    import synergraph as sg
    import torch
    from study import readers, statistics, structure, texts
    from study.model import next_tokens
except ImportError as problem:
    sys.exit(f"sinks: {problem} (Debian: python3-torch and python3-numpy, which are for /usr/bin/python3)")

#: A head is a sink where tokens give more than this to the first token, on average.
SINK = 0.3
#: Our keys and their names in synergraph.
MEASURED = {"h_bwd": "backward_hitting_time", "fidelity": "minimax_fidelity", "F": "normalised_fidelity", "bound": "fidelity_bound",
            "tightness": "fidelity_tightness", "T_bwd": "backward_mixing_time_0.25", "T_mix": "mixing_time_0.25",
            "T_avg": "averaged_mixing_time_0.25"}
NUMBERS = ("sink", *MEASURED)
PAIRS = (("sink", "h_bwd"), ("sink", "fidelity"), ("sink", "tightness"), ("h_bwd", "fidelity"), ("sink", "T_mix"), ("sink", "T_avg"),
         ("sink", "T_bwd"))
KINDS = ("real", "permuted", "cut")


def without_first(attention):
    """The attention among all tokens but the first. A row that gives all to the first token stays where it is."""
    cut = attention[..., 1:, 1:].copy()
    total = cut.sum(-1)
    empty = total <= 0
    cut[empty, np.nonzero(empty)[-1]] = 1.0
    return cut / np.where(empty, 1.0, total)[..., None]


def measured(attention):
    """The numbers of matrices (..., n, n), by name: arrays (...). Each matrix is one system."""
    shape = attention.shape[:-2]
    result = sg.measure(attention.reshape(-1, 1, *attention.shape[-2:]), axes="sample head query key", backward=True, device="cpu", threads=1)
    found = {name: np.asarray(result[key], float).reshape(shape) for name, key in MEASURED.items()}
    found["sink"] = attention[..., 1:, 0].mean(-1)  # the first row has no other key
    return found


def of_text(attention, seed):
    """Numbers (kind, number, layer, head) of one text's attention (layer, head, n, n)."""
    attention = np.asarray(attention, float)
    attention = attention / attention.sum(-1, keepdims=True)  # rows of single precision
    kinds = (attention, structure.permuted_rows(attention, seed), without_first(attention))
    numbers = np.stack([np.stack([one[name] for name in NUMBERS]) for one in map(measured, kinds)])
    numbers[KINDS.index("cut"), NUMBERS.index("sink")] = numbers[0, NUMBERS.index("sink")]  # heads keep their place
    return numbers


def attention_of(model, ids):
    """Attention of one text, (layer, head, n, n), and the mean loss of its tokens in nats."""
    x, layers = model.embed(ids[None]), []
    for block in model.blocks:
        attention, values, _ = block.attend(x)
        layers.append(attention[0].double().numpy())
        x = block.feed_forward(x + block.attention_output(attention, values))
    return np.stack(layers), model.losses(x, next_tokens(ids[None])).sum().item() / (len(ids) - 1)


def study_model(path, tokens, count, arguments):
    """Numbers (text, kind, number, layer, head) of a model, and its loss in nats."""
    model = readers.read_model(path)
    tokenizer = texts.tokenizer_for(path, model.vocabulary, arguments.tokenizer if path.endswith(".bin") else None)
    if model.longest is not None and tokens > model.longest:
        raise readers.InputError(f"{path}: {tokens} tokens; the model reads at most {model.longest}")
    read = texts.read_texts(tokenizer, model.begin, count, tokens, arguments.seed) if tokenizer else None
    ids, sources = texts.texts_of(model, read, count, tokens, arguments.seed)
    with multiprocessing.get_context("fork").Pool(arguments.workers) as pool:
        waiting, losses = [], []
        for k, one in enumerate(ids):
            attention, loss = attention_of(model, one)
            losses.append(loss)
            waiting.append(pool.apply_async(of_text, (attention, arguments.seed + k)))
            if len(waiting) > 2 * arguments.workers:
                waiting[-2 * arguments.workers - 1].wait()
        numbers = np.stack([answer.get() for answer in waiting])
    by_source = {source: float(np.mean([x for x, s in zip(losses, sources) if s == source])) for source in dict.fromkeys(sources)}
    return numbers, by_source


def kept(name, path, tokens, count, arguments):
    """The numbers of study_model(), from the folder --keep if they are there."""
    if not arguments.keep:
        return study_model(path, tokens, count, arguments)
    file = os.path.join(arguments.keep, f"{name}-{tokens}-{count}-{arguments.seed}.npz")
    if os.path.exists(file):
        with np.load(file) as stored:
            return stored["numbers"], dict(zip(stored["sources"].tolist(), stored["losses"].tolist()))
    numbers, losses = study_model(path, tokens, count, arguments)
    os.makedirs(arguments.keep, exist_ok=True)
    np.savez(file + ".part.npz", numbers=numbers, sources=list(losses), losses=list(losses.values()))
    os.replace(file + ".part.npz", file)
    return numbers, losses


def over_texts(numbers):
    """Numbers (..., number, layer, head) of texts (the first axis): medians, as some times are orders of magnitude apart; the mean of the sink."""
    found = np.median(numbers, 0)
    place = NUMBERS.index("sink")
    found[..., place, :, :] = numbers[..., place, :, :].mean(0)
    return found


def rank_correlations(a, b):
    """Spearman's of each row of two arrays (draws, heads), with average ranks of equal numbers; 0 where one side is constant."""

    def standard(x):
        below, equal = x[:, :, None] > x[:, None, :], x[:, :, None] == x[:, None, :]
        ranks = below.sum(-1) + equal.sum(-1) / 2
        centred = ranks - ranks.mean(-1, keepdims=True)
        norm = np.sqrt((centred**2).sum(-1, keepdims=True))
        return centred / np.where(norm > 0, norm, 1.0)

    return (standard(a) * standard(b)).sum(-1)


def correlations(name, numbers, count, seed):
    """Rank correlations over heads, with intervals by the bootstrap over heads, and over texts."""
    rows = []
    for kind, of_kind in enumerate(KINDS):
        own = numbers[:, kind]
        heads = over_texts(own).reshape(len(NUMBERS), -1)
        rng = np.random.default_rng(seed)
        by_head = heads[:, rng.integers(0, heads.shape[1], (count, heads.shape[1]))]
        by_text = np.stack([over_texts(own[rng.integers(0, len(own), len(own))]).reshape(len(NUMBERS), -1) for _ in range(count // 4)], 1)
        for pair in PAIRS:
            a, b = (NUMBERS.index(one) for one in pair)
            ends = [np.quantile(rank_correlations(drawn[a], drawn[b]), [0.025, 0.975]) for drawn in (by_head, by_text)]
            rows.append({"model": name, "kind": of_kind, "a": pair[0], "b": pair[1], "heads": heads.shape[1], "texts": len(numbers),
                         "rho": statistics.spearman(heads[a], heads[b]), "low_heads": ends[0][0], "high_heads": ends[0][1],
                         "low_texts": ends[1][0], "high_texts": ends[1][1]})
    return rows


def groups(name, numbers):
    """Medians over heads with a sink and over the others, of medians over texts."""
    rows = []
    sink = numbers[:, 0, NUMBERS.index("sink")].mean(0).ravel()
    for kind, of_kind in enumerate(KINDS):
        heads = over_texts(numbers[:, kind]).reshape(len(NUMBERS), -1)
        for group, chosen in (("sink", sink > SINK), ("other", sink <= SINK), ("all", sink >= 0.0)):
            row = {"model": name, "kind": of_kind, "group": group, "heads": int(chosen.sum())}
            row |= {number: float(np.median(heads[k, chosen])) if chosen.any() else np.nan for k, number in enumerate(NUMBERS)}
            row["tight_above_half"] = float((heads[NUMBERS.index("tightness"), chosen] > 0.5).mean()) if chosen.any() else np.nan
            rows.append(row)
    return rows


def effects(name, numbers, count, seed):
    """Number without the first token over that with it: the median over heads of the mean log ratio over texts, with an interval over heads."""
    sink = numbers[:, 0, NUMBERS.index("sink")].mean(0).ravel()
    rows = []
    for number in ("T_mix", "T_avg", "F", "h_bwd"):
        k = NUMBERS.index(number)
        with np.errstate(all="ignore"):
            logs = np.log(numbers[:, KINDS.index("cut"), k] / numbers[:, 0, k]).reshape(len(numbers), -1)
        logs = np.where(np.isfinite(logs), logs, 0.0).mean(0)
        for group, chosen in (("sink", sink > SINK), ("other", sink <= SINK)):
            if not chosen.any():
                continue
            own = logs[chosen]
            rng = np.random.default_rng(seed)
            drawn = [np.median(own[rng.integers(0, len(own), len(own))]) for _ in range(count)]
            low, high = np.quantile(drawn, [0.025, 0.975])
            rows.append({"model": name, "number": number, "group": group, "heads": len(own), "ratio": float(np.exp(np.median(own))),
                         "low": float(np.exp(low)), "high": float(np.exp(high))})
    return rows


def heads_of(name, numbers):
    """A row a head: medians over texts of every kind, and the mean of the sink."""
    rows = []
    means = over_texts(numbers)
    for layer in range(numbers.shape[3]):
        for head in range(numbers.shape[4]):
            row = {"model": name, "layer": layer, "head": head, "texts": len(numbers),
                   "sink_texts": float((numbers[:, 0, NUMBERS.index("sink"), layer, head] > SINK).mean())}
            for kind, of_kind in enumerate(KINDS):
                for k, number in enumerate(NUMBERS):
                    if (of_kind, number) != ("cut", "sink"):
                        row[number if kind == 0 else f"{of_kind}_{number}"] = float(means[kind, k, layer, head])
            rows.append(row)
    return rows


def models_of(name, numbers, losses):
    """What was run: texts, loss, sink rate, and how often the bound was exceeded (never, if all is right)."""
    sink = numbers[:, 0, NUMBERS.index("sink")]
    per_text = (sink > SINK).mean((1, 2))
    low, high = statistics.interval(per_text)
    tight = numbers[:, :, NUMBERS.index("tightness")]
    return {"model": name, "texts": len(numbers), "layers": sink.shape[1], "heads": sink.shape[2],
            "loss": "; ".join(f"{source} {loss:.2f}" for source, loss in losses.items()), "mean_sink": float(sink.mean()),
            "sink_rate": float(per_text.mean()), "sink_rate_low": low, "sink_rate_high": high, "largest_tightness": float(np.nanmax(tight)),
            "largest_F_over_T_bwd": float(np.nanmax(numbers[:, :2, NUMBERS.index("F")] / numbers[:, :2, NUMBERS.index("T_bwd")]))}


def write(folder, name, rows):
    path = os.path.join(folder, name)
    with open(path + ".part", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({key: f"{value:.5g}" if isinstance(value, float) else value for key, value in row.items()})
    os.replace(path + ".part", path)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("models", nargs="+", metavar="NAME=PATH[:TOKENS[:TEXTS]]", help="models to measure, with their numbers of tokens")
    parser.add_argument("--results", required=True, metavar="DIR", help="folder for the tables")
    parser.add_argument("--keep", metavar="DIR", help="folder for the numbers of every text; a second run takes them from there")
    parser.add_argument("--texts", type=int, default=64, help="number of texts of each model, a multiple of 4")
    parser.add_argument("--seed", type=int, default=1, help="seed of texts, permutations and bootstraps")
    parser.add_argument("--tokenizer", metavar="FILE", help="tokenizer of llama2.c for models in .bin files; without it they read their own samples only")
    parser.add_argument("--draws", type=int, default=2000, help="number of bootstrap draws over heads; over texts, a quarter of them")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="number of processes that measure")
    return parser.parse_args(arguments)


def main(given=None):
    arguments = parse(given)
    torch.set_grad_enabled(False)
    torch.set_num_threads(1)
    rows = {"models": [], "heads": [], "groups": [], "correlations": [], "effects": []}
    try:
        for one in arguments.models:
            name, _, place = one.partition("=")
            path, *counts = place.split(":")
            if not path or len(counts) > 2 or not all(number.isdigit() for number in counts) or (counts and int(counts[0]) < 3):
                raise readers.InputError(f"{one}: expected NAME=PATH, NAME=PATH:TOKENS or NAME=PATH:TOKENS:TEXTS, with at least 3 tokens")
            tokens, count = (*map(int, counts), *(128, arguments.texts)[len(counts):])
            if count < 4 or count % 4:
                raise readers.InputError(f"{name}: {count} texts; the number of texts must be a multiple of 4")
            numbers, losses = kept(name, path, tokens, count, arguments)
            rows["models"].append(models_of(name, numbers, losses))
            rows["heads"] += heads_of(name, numbers)
            rows["groups"] += groups(name, numbers)
            rows["correlations"] += correlations(name, numbers, arguments.draws, arguments.seed)
            rows["effects"] += effects(name, numbers, arguments.draws, arguments.seed)
            print(f"{name}: {len(numbers)} texts measured", file=sys.stderr, flush=True)
        os.makedirs(arguments.results, exist_ok=True)
        for name, table in rows.items():
            write(arguments.results, f"{name}.csv", table)
    except (readers.InputError, sg.Error) as error:
        sys.exit(f"sinks: {error}")


if __name__ == "__main__":
    main()
