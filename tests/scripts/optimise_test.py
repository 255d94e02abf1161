"""Tests scripts/optimise.py: its tasks and forward pass against the program's, and what it says of models whose numbers are known."""
import importlib.util
import json
import math
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
PROGRAM, SCRIPT = sys.argv[1:3]
specification = importlib.util.spec_from_file_location("optimise", SCRIPT)
optimise = importlib.util.module_from_spec(specification)
specification.loader.exec_module(optimise)

import numpy as np  # noqa: E402
from study import optimise_report, small_models  # noqa: E402


def record(task, heads, condition, seed, phase="task", loss=0.1, epochs=3, fidelity=0.5, time=8.0):
    layers = {key: {"fidelity": [fidelity] * 2, "cut_time": [time] * 2, "time": [time] * 2} for key in ("attention", "norm", "contribution", "uniform")}
    layers["attention"]["best_head"] = [fidelity / 2] * 2
    return {"phase": phase, "task": task, "heads": heads, "condition": condition, "seed": seed, "loss": loss, "accuracy": 0.9,
            "curve": [0.5] * (epochs - 1) + [0.95] * (17 - epochs), "structure": layers, "alike": [0.1, 0.3],
            "replaceable": [(2.0, 1.0), (0.001, 5.0)], "seconds": [1.0, 2.0], "promoted": {}}


class SmallModels(unittest.TestCase):
    def test_tasks_are_those_of_the_program(self):
        """A model of the program that has learned a task answers the sequences made here."""
        for task, targets in (("recall", 12), ("second-maximum", 23), ("cycle", 24)):
            x, y = small_models.draw(task, 50, 24, 16, 1)
            self.assertEqual(x.shape, (50, 24))
            self.assertTrue(((y >= 0).sum(1) == targets).all() and x.min() >= 0 and x.max() < 16)
        x, y = small_models.draw("recall", 1, 24, 16, 1)
        pairs = dict(zip(x[0, :12:2], x[0, 1:12:2]))
        self.assertEqual(len(pairs), 6)
        self.assertEqual([pairs[key] for key in x[0, 12:]], list(y[0, 12:]))
        x, y = small_models.draw("second-maximum", 20, 24, 16, 1)
        self.assertTrue(all(sorted(row[: i + 1])[-2] == wanted[i] for row, wanted in zip(x, y) for i in range(1, 24)))
        x, y = small_models.draw("majority", 20, 24, 16, 1)
        for row, wanted in zip(x, y):
            for i in range(24):
                ones = row[: i + 1].sum()
                self.assertEqual(wanted[i], -1 if 2 * ones == i + 1 else int(2 * ones > i + 1))
        self.assertNotEqual(small_models.draw("copy", 5, 24, 16, 1)[0].tolist(), small_models.draw("copy", 5, 24, 16, 2)[0].tolist())

    def test_a_model_is_trained_measured_and_kept(self):
        """In train_model, the forward pass in NumPy is compared with the library's."""
        sizes, sequences = optimise.SIZES, optimise.SEQUENCES
        with tempfile.TemporaryDirectory() as folder:
            try:
                optimise.SIZES, optimise.SEQUENCES = dict(sizes, epochs=2), 200
                for phase in ("task", "longer"):
                    path = Path(folder) / f"{phase}.json"
                    optimise.train_model(((phase, "recall", 4, "fidelity=0.5", 3), str(path)))
                    found = json.loads(path.read_text())
                    if phase == "longer":
                        self.assertEqual(len(found["beyond"]), 2)
                        self.assertGreater(found["sinks"]["11"]["time"][0], 0)
                        continue
                    self.assertEqual(len(found["curve"]), 2)
                    self.assertGreater(found["promoted"]["fidelity"], 0)
                    self.assertTrue(0 < found["structure"]["norm"]["fidelity"][1] <= 1)
                    self.assertTrue(all(np.isfinite(optimise_report.NUMBERS[name](found)) for name in ("log_time", "log_loss", "alike")))
            finally:
                optimise.SIZES, optimise.SEQUENCES = sizes, sequences

    def test_equal_heads_are_alike(self):
        rng = np.random.default_rng(1)
        one, other = rng.normal(size=(2, 1, 5, 24, 8))
        self.assertAlmostEqual(small_models.alike(np.concatenate([one, -2 * one])), 1.0)
        self.assertLess(small_models.alike(np.concatenate([one, other])), 0.2)


class Report(unittest.TestCase):
    def test_differences_are_paired_and_choices_are_judged_with_other_seeds(self):
        # Seeds differ by far more than the strengths do.
        records = []
        for seed in range(1, 9):
            base = 0.01 * 2.0**seed
            records += [record("recall", 4, "none", seed, loss=base), record("recall", 4, "fidelity=0.5", seed, loss=base / 2, fidelity=0.6),
                        record("recall", 4, "speed=0.05", seed, loss=base * 2, epochs=2),
                        record("recall", 4, "entropy=0.05", seed, loss=base * 1.5)]
        chosen = optimise_report.chosen_conditions(records, range(1, 9))
        self.assertEqual(chosen, {("recall", 4): {"loss": "fidelity=0.5", "steps": "speed=0.05", "baseline": "entropy=0.05"}})
        for seed in range(101, 111):
            base = 0.01 * 1.5 ** (seed % 7)
            records += [record("recall", 4, "none", seed, loss=base), record("recall", 4, "fidelity=0.5", seed, loss=base / 2),
                        record("recall", 4, "speed=0.05", seed, loss=base, epochs=3),
                        record("recall", 4, "entropy=0.05", seed, loss=base)]
        rows = {row["outcome"]: row for row in optimise_report.judged_rows(records, range(1, 9))}
        self.assertAlmostEqual(rows["loss"]["difference"], math.log10(0.5))
        self.assertAlmostEqual(rows["loss"]["p_signs"], 2 / 2**10)  # all ten seeds agree
        self.assertLess(rows["loss"]["p_holm"], 1e-6)
        self.assertAlmostEqual(rows["steps"]["chosen_difference"], -40.0)  # did not hold up
        self.assertEqual((rows["steps"]["difference"], rows["steps"]["p"]), (0.0, 1.0))
        self.assertLess(rows["loss"]["null_low"], 0 < rows["loss"]["null_high"])

    def test_the_page_gets_its_tables_and_keeps_its_words(self):
        records = [record("copy", 4, condition, seed, fidelity=0.5 + 0.01 * seed + (0.2 if condition != "none" else 0))
                   for condition in ("none", "fidelity=0.5", "speed=0.05") for seed in range(1, 5)]
        names = ("levels", "asked", "moved", "loss", "steps", "heads", "judged", "baseline", "repeated", "longer", "sinks")
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            page = folder / "page.md"
            page.write_text("Words.\n" + "".join(f"<!-- optimise: {name} -->\n(table)\n<!-- end of optimise -->\n" for name in names))
            optimise_report.write(records, range(1, 3), folder / "results", folder / "figure.svg", page)
            text = page.read_text()
            self.assertTrue(text.startswith("Words.\n<!-- optimise: levels -->\n| task |"))
            self.assertNotIn("(table)", text)
            self.assertIn("| `fidelity=0.5` | 1 / 0 | 1 / 0 | 1 / 0 | 1 / 0 |", text)
            self.assertIn("<svg", (folder / "figure.svg").read_text())
            self.assertIn("copy,4,fidelity=0.5,fidelity,4,0.725,0.2,0.2,0.2,4", (folder / "results" / "effects.csv").read_text())
            page.write_text("Words alone.\n")
            with self.assertRaises(SystemExit):
                optimise_report.write(records, range(1, 3), folder / "results", folder / "figure.svg", page)

    def test_what_was_better_is_repeated(self):
        records = [record("cycle", 4, condition, seed, loss=0.1 * 1.1**seed * factor[seed % 2])
                   for condition, factor in (("none", (1.0, 1.0)), ("fidelity=0.5", (0.5, 0.4))) for seed in range(1, 13)]
        specs = optimise.repeat_specs(records)
        self.assertEqual(len(specs), 2 * len(optimise.REPEATING))
        self.assertEqual(specs[0], ("repeat", "cycle", 4, "none", optimise.REPEATING[0]))
        records += [record("cycle", 4, condition, seed, "repeat", loss=0.1 * (1 + seed % 2)) for _, _, _, condition, seed in specs]
        row, = optimise_report.repeat_rows(records)
        self.assertEqual((row["condition"], row["pairs"], row["difference"], row["p"]), ("fidelity=0.5", 16, 0.0, 1.0))

    def test_p_values_count_signs(self):
        self.assertEqual(optimise_report.sign_flip_p([1.0, 2.0, 3.0]), 2 / 8)
        self.assertEqual(optimise_report.sign_flip_p([1.0, -1.0]), 1.0)
        # Student's 97.5 % quantiles: mean t / sqrt(n) of a spread of 1.
        for count in (2, 8, 12):
            values = np.arange(count) - (count - 1) / 2
            values /= values.std(ddof=1)
            self.assertAlmostEqual(optimise_report.student_p(values + optimise_report.STUDENT[count - 1] / math.sqrt(count)), 0.05, 4)
        self.assertEqual(optimise_report.student_p([0.0, 0.0]), 1.0)

    def test_bad_usage_is_one_line(self):
        for arguments in (["--report", "/nonexistent"], ["x", "--jobs", "0"]):
            said = subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True)
            self.assertEqual(said.returncode, 2)
            self.assertNotIn("Traceback", said.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
