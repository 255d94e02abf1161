#!/usr/bin/env python3
"""What does training for fidelity and speed do to small models? The study of docs/optimise.md.

    scripts/optimise.py /tmp/optimise                 trains and measures the models, then writes tables, figure and page
    scripts/optimise.py /tmp/optimise --report        writes them from the models that are there

Needs NumPy, matplotlib and the package synergraph (SYNERGRAPH_LIBRARY names a built library). Each model leaves one small file; the same
command continues after an interruption. The phases follow each other:

choose   every task, number of heads and strength, with 4 seeds
judge    for every task and number of heads, the strengths that were best with these seeds, and strength 0, with 8 other seeds
rest     every other strength with 4 of the other seeds, so that all strengths have 8
repeat   strengths whose loss was smaller with the other seeds, by the 95 % interval, with 16 fresh seeds
longer   models that are trained with answers at the first 16 of 24 positions, and judged at the last 8
"""

import argparse
import itertools
import json
import math
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True  # nothing beside the script
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "python")]

try:
    import numpy as np
    from study import small_models
except ImportError as problem:
    sys.exit(f"optimise: {problem} (Debian: python3-numpy and python3-matplotlib, which are for /usr/bin/python3)")

TASKS = ("copy", "cycle", "recall", "second-maximum")
# By the number of heads: the strengths beside 0. Those of entropy are a baseline.
STRENGTHS = {4: ("fidelity=-1", "fidelity=0.5", "fidelity=2", "speed=-0.05", "speed=-0.005", "speed=0.05", "speed=0.2", "entropy=0.05"),
             8: ("fidelity=-1", "fidelity=0.5", "speed=-0.005", "speed=0.05")}
NONE = "none"
CHOOSING, JUDGING, REST = range(1, 5), range(5, 13), range(5, 9)
LONGER_SEEDS, REPEATING = range(1, 9), range(13, 29)
LONGER_TASKS = ("recall", "second-maximum")
LONGER_CONDITIONS = (NONE, "fidelity=-1", "fidelity=0.5", "speed=-0.005", "speed=0.05")
SINKS = (11, 23)  # in the phase longer: a token in the middle, and the last, which promotion looks at
ANSWERED = 16  # positions with answers in the phase longer

LENGTH, VOCABULARY, SEQUENCES, EPOCHS = 24, 16, 2000, 16
SIZES = dict(layers=2, width=32, hidden=64, length=LENGTH, vocabulary=VOCABULARY, epochs=EPOCHS, batch=50, learning_rate=0.002, dropout=0.0)
STEPS = SEQUENCES // SIZES["batch"]  # of an epoch
JUDGED, MEASURED = 200, 30  # fresh sequences that judge a model, and those whose attention is measured
EDGES = ("attention", "norm", "contribution")
LEVEL = 0.9  # share of the attainable accuracy at which a task counts as learned


def name_of(spec):
    return "-".join(map(str, spec))


def fresh(task, seed):
    """Sequences that no model was trained on. The first answer of a cycle can only be guessed and does not count."""
    x, y = small_models.draw(task, JUDGED, LENGTH, VOCABULARY, 1_000_000 + seed)
    if task == "cycle":
        y[:, 0] = small_models.IGNORED
    return x, y


def structure(model, tokens):
    """Of each layer, means over sequences: what is promoted, by where heads look and by what they move."""
    found = {}
    for edges in EDGES:
        result = model.measure(tokens, edges=edges, per_head=edges == "attention", threads=1)
        numbers = {"fidelity": result["minimax_fidelity"], "cut_time": result["truncated_hitting_mean"], "time": result["hitting_mean"]}
        if edges == "attention":
            numbers["best_head"] = result["best_head_fidelity"]
        found[edges] = {key: np.asarray(value, float).mean(-1).tolist() for key, value in numbers.items()}
    uniform = model.measure(tokens, weights="uniform", threads=1)
    found["uniform"] = {"fidelity": np.asarray(uniform["minimax_fidelity"]).mean(-1).tolist(),
                        "time": np.asarray(uniform["hitting_mean"]).mean(-1).tolist()}
    return found


def towards(model, tokens, sink):
    """Of each layer, means over sequences: fidelity and hitting time towards a token."""
    result = model.measure(tokens, sink=sink, threads=1)
    return {"fidelity": np.asarray(result["minimax_fidelity"]).mean(-1).tolist(), "time": np.asarray(result["hitting_mean"]).mean(-1).tolist()}


def train_model(job):
    """Trains and measures one model; leaves its record."""
    import synergraph as sg

    (phase, task, heads, condition, seed), path = job
    folder = tempfile.mkdtemp(prefix="optimise-")
    begin = time.process_time()
    promote = None if condition == NONE else condition
    settings = dict(SIZES, heads=heads, seed=seed, promote=promote, device="cpu", threads=1, checkpoint_every=1e9, progress=False)
    try:
        if phase == "longer":
            x, y = small_models.draw(task, SEQUENCES + 100, LENGTH, VOCABULARY, seed)
            y[:, ANSWERED:] = small_models.IGNORED
            run = sg.train(folder, data=(x[:-100], y[:-100]), validation=(x[-100:], y[-100:]), **settings)
        else:
            run = sg.train(folder, task=task, sequences=SEQUENCES, **settings)
        trained = time.process_time() - begin
        weights = small_models.read_weights(run.path)
        x, y = fresh(task, seed)
        logits, outputs = small_models.run(weights, heads, x)
        record = {"phase": phase, "task": task, "heads": heads, "condition": condition, "seed": seed}
        if phase == "longer":
            inside, beyond = y.copy(), y.copy()
            inside[:, ANSWERED:] = beyond[:, :ANSWERED] = small_models.IGNORED
            record["inside"], record["beyond"] = small_models.judge(logits, inside), small_models.judge(logits, beyond)
            record["sinks"] = {str(sink): towards(run.model, x[:MEASURED], sink) for sink in SINKS}
        else:
            model = run.model
            difference = float(np.abs(model.logits(x[:4]) - logits[:4]).mean() / logits[:4].std())
            if not difference < 1e-3:  # float32; steep softmaxes round by more than that at single positions
                raise RuntimeError(f"{name_of((task, heads, condition, seed))}: the forward pass here differs from the library's by {difference}")
            record["loss"], record["accuracy"] = small_models.judge(logits, y)
            record["curve"] = [line["held_out_accuracy"] for line in run.log]
            record["promoted"] = run.promoted
            record["structure"] = structure(model, x[:MEASURED])
            record["alike"] = [small_models.alike(layer) for layer in outputs[:, :, :MEASURED]]
            record["replaceable"] = small_models.replaceable(weights, heads, x[:MEASURED], y[:MEASURED])
        record["seconds"] = [trained, time.process_time() - begin]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    part = f"{path}.{os.getpid()}.part"
    with open(part, "w", encoding="utf-8") as file:
        json.dump(record, file)
    os.replace(part, path)


def train_all(specs, out, jobs):
    folder = out / "models"
    folder.mkdir(parents=True, exist_ok=True)
    todo = [(spec, str(folder / (name_of(spec) + ".json"))) for spec in specs]
    todo = [job for job in todo if not os.path.exists(job[1])]
    begin = time.monotonic()
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        for done, _ in enumerate(pool.imap_unordered(train_model, todo), 1):
            if done % 25 == 0 or done == len(todo):
                left = (len(todo) - done) * (time.monotonic() - begin) / done
                print(f"{done} of {len(todo)} models of this phase, {left / 60:.1f} min left", file=sys.stderr, flush=True)


def read_records(out):
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted((out / "models").glob("*.json"))]


def grid(seeds):
    """Seed by seed, so that an unfinished study has all strengths."""
    return [("task", task, heads, condition, seed) for seed, task, (heads, strengths) in itertools.product(seeds, TASKS, STRENGTHS.items())
            for condition in (NONE, *strengths)]


def judge_specs(records):
    from study import optimise_report

    chosen = optimise_report.chosen_conditions(records, CHOOSING)
    return [("task", task, heads, condition, seed) for seed in JUDGING for (task, heads), conditions in chosen.items()
            for condition in dict.fromkeys([NONE, *conditions.values()])]


def repeat_specs(records):
    from study import optimise_report

    rows = optimise_report.judged_rows(records, CHOOSING)
    better = dict.fromkeys((row["task"], row["heads"], row["condition"]) for row in rows if row["high"] < 0 and row["outcome"] == "loss")
    cells = dict.fromkeys((task, heads) for task, heads, _ in better)
    return [("repeat", *what, seed) for seed in REPEATING for what in (*((*cell, NONE) for cell in cells), *better)]


def longer_specs():
    return [("longer", task, 4, condition, seed) for seed, task, condition in itertools.product(LONGER_SEEDS, LONGER_TASKS, LONGER_CONDITIONS)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("out", type=Path, metavar="DIR", help="directory of the study")
    parser.add_argument("--report", action="store_true", help="train nothing; write tables, figure and page of the models in DIR")
    parser.add_argument("--jobs", type=int, default=2, help="models to train at once (2)")
    parser.add_argument("--results", type=Path, default=ROOT / "docs/results/optimise", help="directory of the tables")
    parser.add_argument("--figure", type=Path, default=ROOT / "docs/figures/optimise.svg", help="the figure")
    parser.add_argument("--page", type=Path, default=ROOT / "docs/optimise.md", help="the page, whose tables are replaced")
    arguments = parser.parse_args()
    if arguments.jobs < 1:
        parser.error("--jobs: expected 1 or more")
    if not arguments.report:
        train_all(grid(CHOOSING), arguments.out, arguments.jobs)
        train_all(judge_specs(read_records(arguments.out)), arguments.out, arguments.jobs)
        train_all(grid(REST), arguments.out, arguments.jobs)
        train_all(repeat_specs(read_records(arguments.out)), arguments.out, arguments.jobs)
        train_all(longer_specs(), arguments.out, arguments.jobs)
    records = read_records(arguments.out)
    if not records:
        parser.error(f"{arguments.out}: no models; run without --report first")
    from study import optimise_report

    optimise_report.write(records, CHOOSING, arguments.results, arguments.figure, arguments.page)
    seconds = sum(record["seconds"][1] for record in records)
    print(f"{len(records)} models, {seconds / 60:.0f} min of CPU time", file=sys.stderr)


if __name__ == "__main__":
    main()
