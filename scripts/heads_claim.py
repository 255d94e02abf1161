#!/usr/bin/env python3
"""Does multi-head attention perform better than single-head attention with the same number of parameters?

    scripts/heads_claim.py STUDY [--run PROGRAM [--arguments "..."]] [--level 0.9] [--figure claim.svg]

STUDY is the directory of a study by `synergraph reproduce`. With --run, the script first trains the study: every task, 1, 4, 8 and 16
heads, 16 seeds, at the sizes that docs/tasks.md states. --arguments replaces the sizes: `--arguments "--layers 4 --device cuda"`.

Two outcomes of each model, both on sequences that it was not trained on: the accuracy after the last epoch, and the steps to learn. A model
has learned at the first epoch whose held-out accuracy is at least `--level` of what the task allows; a model that never gets there ranks
last. For every task and outcome, Mann-Whitney's exact test compares the models of one head with those of each larger number of heads. All
tests of one outcome are corrected together (Holm). The script prints Markdown."""

import argparse
import json
import math
import random
import shlex
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # nothing beside the script
sys.path.insert(0, str(Path(__file__).resolve().parent))
from compare_studies import corrected, middle_ranks, rank_test  # noqa: E402

TASKS = "recall,delayed-copy,maximum,second-maximum,parity,majority,cycle"
SIZES = (
    "--epochs 16 --sequences 2000 --length 24 --vocabulary 16 --layers 2 --width 32 --hidden 64 --learning-rate 0.002 --dropout 0 "
    "--samples 1 --subset-samples 0 --no-figures"
)
SIGNIFICANT = 0.05


def fail(line):
    print("heads_claim: " + "".join(c if c.isprintable() else repr(c)[1:-1] for c in line), file=sys.stderr)
    sys.exit(2)


def attainable(task, training):
    """The accuracy that a causal model can reach: of a cycle, the first answer can only be guessed."""
    length, vocabulary = int(training["length"]), int(training["vocabulary"])
    return (length - 1 + 1 / vocabulary) / length if task == "cycle" else 1.0


def read_curve(path):
    """Held-out accuracies after each epoch, and the steps of an epoch."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [float(line["held_out_accuracy"]) for line in lines], int(lines[0]["step"])


def read_study(directory, level):
    """{task: {heads: [model]}}, a model a seed; and the settings of training."""
    try:
        document = json.loads((directory / "results.json").read_text(encoding="utf-8"))
        training = document["settings"]["training"]
        runs = {}
        for path in directory.glob("cells/**/metrics.jsonl"):
            runs.setdefault(path.parent.name.rsplit("-", 1)[0], []).append(path)
        models = {}
        for cell in document["cells"]:
            task, heads, seed = str(cell["task"]), int(cell["heads"]), int(cell["seed"])
            paths = runs.get(f"{task}-{heads}-heads-seed-{seed}", [])
            if len(paths) != 1:
                fail(f"{directory}: {len(paths)} trainings of {ascii(task)}, {heads} heads, seed {seed}; the study must have one of each")
            curve, steps = read_curve(paths[0])
            bar = level * attainable(task, training)
            epoch = next((k for k, accuracy in enumerate(curve, 1) if accuracy >= bar), math.inf)
            models.setdefault(task, {}).setdefault(heads, []).append(
                {
                    "accuracy": float(cell["accuracy"]),
                    "steps": epoch * steps,
                    "without": float(cell["control"]["without_attention"]["accuracy"]),
                }
            )
    except (OSError, ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
        fail(f"{directory}: not the directory of a finished study ({type(error).__name__}: {error}); --run PROGRAM trains one")
    if not any(1 in by_heads and len(by_heads) > 1 for by_heads in models.values()):
        fail(f"{directory}: no task has models of one head and of several")
    return models, training


def mean_interval(values):
    """The mean and its 95 % interval, by 4000 bootstrap samples."""
    draws = random.Random(1)
    means = sorted(sum(draws.choices(values, k=len(values))) / len(values) for _ in range(4000))
    return sum(values) / len(values), means[100], means[3899]


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def superiority(one, more, larger_is_better):
    """The share of pairs in which more heads are better, less the share in which one head is: in [-1, 1]."""
    ranks = middle_ranks([*one, *more])
    ahead = sum(ranks[len(one) :]) / 2 - len(more) * (len(more) + 1) / 2  # pairs in which more heads have the larger value
    effect = 2 * ahead / (len(one) * len(more)) - 1
    return effect if larger_is_better else -effect


def compare(models, outcome, larger_is_better):
    """{(task, heads): (effect, corrected p)}"""
    tests = {}
    for task, by_heads in models.items():
        if 1 not in by_heads:
            continue
        one = [model[outcome] for model in by_heads[1]]
        for heads in sorted(by_heads):
            if heads > 1:
                more = [model[outcome] for model in by_heads[heads]]
                tests[task, heads] = (superiority(one, more, larger_is_better), rank_test(one, more))
    holm = corrected([p for _, p in tests.values()])
    return {where: (effect, p) for (where, (effect, _)), p in zip(tests.items(), holm)}


def p_text(p):
    return f"{p:.3f}" if p >= 0.001 else "< 0.001"


def accuracy_text(models):
    mean, low, high = mean_interval([model["accuracy"] for model in models])
    return f"{mean:.3f} [{low:.3f}, {high:.3f}]"


def steps_text(models):
    steps = sorted(model["steps"] for model in models)
    learned = [s for s in steps if math.isfinite(s)]
    if not learned:
        return "not learned"
    middle = median(steps)
    spread = f"{steps[0]:.0f} to {steps[-1]:.0f}" if len(learned) == len(steps) else f"{len(learned)} of {len(steps)} models"
    return f"{middle:.0f} ({spread})" if math.isfinite(middle) else f"- ({spread})"


def table(models, tests, text):
    heads = sorted({h for by_heads in models.values() for h in by_heads})
    print("| task | " + " | ".join(f"{h} head{'s' if h > 1 else ''}" for h in heads) + " |")
    print("|---" * (len(heads) + 1) + "|")
    for task, by_heads in models.items():
        cells = []
        for h in heads:
            cell = text(by_heads[h]) if h in by_heads else "-"
            effect, p = tests.get((task, h), (0.0, 1.0))
            if p <= SIGNIFICANT:
                cell += " **better**" if effect > 0 else " **worse**"
            cells.append(cell)
        print(f"| `{task}` | " + " | ".join(cells) + " |")
    print()


def conclusion(tests, what):
    better = [where for where, (effect, p) in tests.items() if p <= SIGNIFICANT and effect > 0]
    worse = [where for where, (effect, p) in tests.items() if p <= SIGNIFICANT and effect < 0]

    def named(places):
        return ", ".join(
            f"{task} with {heads} heads (effect {tests[task, heads][0]:+.2f}, p {p_text(tests[task, heads][1])})" for task, heads in places
        )

    print(f"{what}: in {len(better)} of {len(tests)} comparisons more heads are better than one, in {len(worse)} they are worse.")
    if better:
        print(f"Better: {named(better)}.")
    if worse:
        print(f"Worse: {named(worse)}.")
    print()


def draw(models, path):
    """Steps to learn: a panel per task, a dot per model. Models that did not learn are above the dashed line."""
    finite = [m["steps"] for by_heads in models.values() for of in by_heads.values() for m in of if math.isfinite(m["steps"])]
    top = 1.3 * max(finite, default=1.0)
    heads = sorted({h for by_heads in models.values() for h in by_heads})
    rows = (len(models) + 3) // 4
    script = [
        f"set terminal svg size 1040,{30 + 230 * rows} font 'sans,12' background '#ffffff'",
        f"set output '{path}'",
        f"set multiplot layout {rows},4",
        "unset key; set grid ytics lc '#dddddd'; set border 3; set tics nomirror",
        f"set xrange [-0.6:{len(heads) - 0.4}]; set yrange [0:{1.22 * top}]; set xlabel 'heads'",
        f"set label 'not learned' at graph 0.02, first {1.14 * top} tc '#666666'",
        "set xtics (" + ", ".join(f"'{h}' {k}" for k, h in enumerate(heads)) + ")",
    ]
    draws = random.Random(1)
    for panel, (task, by_heads) in enumerate(models.items()):
        script.append(f"set ylabel '{'steps to learn' if panel % 4 == 0 else ''}'")
        script.append(f"set title '{task}'; plot {top} lw 1 dt 2 lc '#999999', '-' with points pt 7 ps 0.5 lc '#2f6db3'")
        for k, h in enumerate(heads):
            for model in by_heads.get(h, []):
                script.append(f"{k + draws.uniform(-0.22, 0.22):.3f} {min(model['steps'], 1.04 * top):.0f}")
        script.append("e")
    script.append("unset multiplot")
    try:
        subprocess.run(["gnuplot"], input="\n".join(script), text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        fail(f"gnuplot cannot draw {path}: {error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("study", type=Path, metavar="STUDY", help="directory of a study by synergraph reproduce")
    parser.add_argument("--run", metavar="PROGRAM", help="the program synergraph: train the study first, or go on with it")
    parser.add_argument("--arguments", default=SIZES, help=f"arguments of `reproduce` beside tasks, heads and seeds (default: {SIZES})")
    parser.add_argument("--seeds", type=int, default=16, help="number of seeds to train (16)")
    parser.add_argument("--level", type=float, default=0.9, help="share of the attainable accuracy at which a task counts as learned (0.9)")
    parser.add_argument("--figure", metavar="FILE", help="draw the steps to learn as an SVG file with gnuplot")
    arguments = parser.parse_args()
    if not 0.0 < arguments.level <= 1.0:
        fail(f"--level: expected a share in (0, 1], not {arguments.level}")
    if arguments.run:
        grid = ["--tasks", TASKS, "--heads", "1,4,8,16", "--seeds", str(arguments.seeds), *shlex.split(arguments.arguments)]
        try:
            code = subprocess.run([arguments.run, "reproduce", *grid, "--out", str(arguments.study)]).returncode
        except OSError as error:
            fail(f"--run: {error}")
        if code != 0:
            fail(f"synergraph reproduce ended with status {code}; the same command goes on where it stopped")
    models, training = read_study(arguments.study, arguments.level)

    print("Accuracy on held-out sequences after the last epoch: mean and 95 % interval over seeds.\n")
    accuracy = compare(models, "accuracy", True)
    table(models, accuracy, accuracy_text)
    conclusion(accuracy, "Accuracy")
    print(f"Steps until the held-out accuracy is {arguments.level:g} of what the task allows: median (least to largest).\n")
    steps = compare(models, "steps", False)
    table(models, steps, steps_text)
    conclusion(steps, "Steps to learn")
    print("Accuracy with every head switched off: mean over seeds.\n")
    table(models, {}, lambda of: f"{sum(m['without'] for m in of) / len(of):.3f}")
    if arguments.figure:
        draw(models, arguments.figure)


if __name__ == "__main__":
    main()
