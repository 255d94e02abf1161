"""Tests scripts/heads_claim.py: what it says of studies whose outcomes are known, and of a study that it trains."""
import json
import math
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT, PROGRAM = sys.argv[1:3]


def run(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *map(str, arguments)], capture_output=True, text=True)


def study(directory, epochs_to_learn, seeds=8, task="recall", length=24):
    """Models that have learned after so many of 10 epochs of 40 steps; seeds differ in the accuracy after learning alone."""
    cells = []
    for heads, epochs in epochs_to_learn.items():
        for seed in range(1, seeds + 1):
            accuracies = [0.5 if epoch < epochs else 0.95 + seed / 1000 for epoch in range(1, 11)]
            folder = directory / "cells" / "00" / f"{task}-{heads}-heads-seed-{seed}-0123456789abcdef"
            folder.mkdir(parents=True)
            lines = [json.dumps({"step": 40 * (k + 1), "held_out_accuracy": a}) for k, a in enumerate(accuracies)]
            (folder / "metrics.jsonl").write_text("\n".join(lines) + "\n")
            off = {"accuracy": 0.25, "loss": 1.0}
            cells.append({"task": task, "heads": heads, "seed": seed, "accuracy": accuracies[-1], "control": {"without_attention": off}})
    training = {"length": str(length), "vocabulary": "16"}
    (directory / "results.json").write_text(json.dumps({"settings": {"training": training}, "cells": cells}))


class HeadsClaim(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.directory = Path(folder.name) / "study"
        self.directory.mkdir()

    def test_says_which_head_counts_learn_faster_and_slower(self):
        study(self.directory, {1: 5, 4: 3, 8: 5, 16: math.inf})
        said = run(self.directory)
        self.assertEqual(said.stderr, "")
        self.assertIn("| `recall` | 200 (200 to 200) | 120 (120 to 120) **better** | 200 (200 to 200) | not learned **worse** |", said.stdout)
        # Of two groups of 8 without overlap, 2 of 12870 deals are as far apart; three tests.
        self.assertIn("Better: recall with 4 heads (effect +1.00, p < 0.001).", said.stdout)
        self.assertIn("Worse: recall with 16 heads (effect -1.00, p < 0.001).", said.stdout)
        self.assertIn("Steps to learn: in 1 of 3 comparisons more heads are better than one, in 1 they are worse.", said.stdout)
        self.assertIn("| `recall` | 0.250 | 0.250 | 0.250 | 0.250 |", said.stdout)
        # Accuracies are equal for all but the models that never learned.
        self.assertIn("Accuracy: in 0 of 3 comparisons more heads are better than one, in 1 they are worse.", said.stdout)

    def test_finds_nothing_where_models_are_alike(self):
        study(self.directory, {1: 4, 4: 4})
        said = run(self.directory)
        self.assertEqual(said.stdout.count("in 0 of 1 comparisons more heads are better than one, in 0 they are worse."), 2)
        self.assertIn("[0.953, 0.956]", said.stdout)  # of 0.951 to 0.958

    def test_a_level_is_a_share_of_what_the_task_allows(self):
        # Of 6 answers of a cycle, 5 and one in 16 can be right: 0.84. All of these models have 0.95 and more.
        study(self.directory, {1: 2, 4: 3}, task="cycle", length=6)
        self.assertIn("| `cycle` | 80 (80 to 80) | 120 (120 to 120) **worse** |", run(self.directory, "--level", 1).stdout)

    def test_says_in_one_line_what_is_missing(self):
        for arguments, line in [
            ((self.directory,), "not the directory of a finished study (FileNotFoundError"),
            ((self.directory, "--level", 0), "--level: expected a share in (0, 1], not 0.0"),
            ((self.directory, "--run", self.directory / "none"), "--run: "),
        ]:
            refused = run(*arguments)
            self.assertEqual((refused.returncode, refused.stdout), (2, ""))
            self.assertIn(line, refused.stderr)
            self.assertEqual(refused.stderr.count("\n"), 1)
        study(self.directory, {4: 2})
        self.assertIn("no task has models of one head and of several", run(self.directory).stderr)

    def test_trains_a_study(self):
        sizes = "--epochs 1 --sequences 20 --batch 10 --length 8 --vocabulary 8 --layers 1 --width 16 --hidden 8 --samples 1 --subset-samples 0"
        said = run(self.directory, "--run", PROGRAM, "--seeds", 1, "--arguments", sizes + " --no-figures --quiet --device cpu")
        self.assertEqual(said.returncode, 0, said.stderr)
        for task in ("recall", "delayed-copy", "maximum", "second-maximum", "parity", "majority", "cycle"):
            self.assertEqual(said.stdout.count(f"| `{task}` |"), 3)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
