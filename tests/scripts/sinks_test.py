"""Tests scripts/study/sinks.py on a small random model: sinks_test.py SCRIPT. Needs no model file."""
import csv
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
    import torch
except ImportError:
    print("NumPy or PyTorch is missing")
    sys.exit(77)

SCRIPT = sys.argv[1]
sys.dont_write_bytecode = True  # nothing beside the scripts
sys.path.insert(0, os.path.dirname(os.path.dirname(SCRIPT)))
from study import sinks  # noqa: E402
from study.readers import read_model  # noqa: E402

torch.set_grad_enabled(False)
torch.set_num_threads(1)


def write_model(path, seed=0):
    """A random model in the format of llama2.c: 2 layers of 4 heads."""
    dim, hidden, layers, heads, vocabulary, longest = 16, 12, 2, 4, 11, 32
    rng = np.random.default_rng(seed)
    shapes = [(vocabulary, dim), (layers, dim), (layers, dim, dim), (layers, dim, dim), (layers, dim, dim), (layers, dim, dim), (layers, dim),
              (layers, hidden, dim), (layers, dim, hidden), (layers, hidden, dim), (dim,), (longest, dim // heads)]
    with open(path, "wb") as file:
        file.write(np.array([dim, hidden, layers, heads, heads, vocabulary, longest], "<i4").tobytes())
        for shape in shapes:
            file.write(rng.normal(size=shape).astype("<f4").tobytes())


def rows_of(folder, name):
    with open(os.path.join(folder, f"{name}.csv"), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class Sinks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.model = os.path.join(self.folder.name, "model.bin")
        write_model(self.model)

    def tearDown(self):
        self.folder.cleanup()

    def run_script(self, *arguments):
        command = [sys.executable, SCRIPT, *arguments, "--workers", "1", "--draws", "20"]
        return subprocess.run(command, capture_output=True, text=True)

    def test_a_head_that_falls_back_at_once(self):
        tokens = 6
        first = np.zeros((1, 1, tokens, tokens))
        first[..., 0] = 1.0
        real, _, cut = (dict(zip(sinks.NUMBERS, kind[:, 0, 0])) for kind in sinks.of_text(first, 1))
        self.assertEqual((real["sink"], real["h_bwd"], real["T_bwd"]), (1.0, 1.0, 1.0))
        self.assertAlmostEqual(real["bound"], 1 / (tokens - 1))
        self.assertEqual(real["fidelity"], 0.0)
        self.assertTrue(np.isinf(cut["h_bwd"]))  # without the first token every token keeps what it has

    def test_rank_correlations(self):
        rng = np.random.default_rng(2)
        a, b = rng.integers(0, 6, (2, 9, 12)).astype(float)
        a[0], b[1, :3] = 4.0, np.inf
        found = sinks.rank_correlations(a, b)
        for row in range(9):
            self.assertAlmostEqual(found[row], sinks.statistics.spearman(a[row], b[row]), places=12)

    def test_controls(self):
        rng = np.random.default_rng(3)
        attention = np.tril(rng.random((2, 3, 7, 7)))
        attention /= attention.sum(-1, keepdims=True)
        cut = sinks.without_first(attention)
        np.testing.assert_allclose(cut.sum(-1), 1.0)
        np.testing.assert_allclose(cut[0, 0, 3, 1] / cut[0, 0, 3, 2], attention[0, 0, 4, 2] / attention[0, 0, 4, 3])
        mixed = sinks.structure.permuted_rows(attention, 5)
        np.testing.assert_allclose(np.sort(mixed, -1), np.sort(attention, -1))
        self.assertTrue((np.triu(mixed, 1) == 0).all())

    def test_tables_have_the_numbers_of_the_model(self):
        done = self.run_script(f"small={self.model}:16", "--results", self.folder.name, "--texts", "4")
        self.assertEqual(done.returncode, 0, done.stderr)
        heads = rows_of(self.folder.name, "heads")
        self.assertEqual(len(heads), 8)
        model = read_model(self.model)
        ids = model.sample(4, 16, 1)
        attention = np.stack([sinks.attention_of(model, one)[0] for one in ids])
        self.assertAlmostEqual(sinks.attention_of(model, ids[0])[1], model.loss(ids[:1], sinks.next_tokens(ids[:1])).sum().item() / 15, places=5)
        mean = attention[..., 1:, 0].mean((0, -1))
        for row in heads:
            self.assertAlmostEqual(float(row["sink"]), mean[int(row["layer"]), int(row["head"])], places=4)
            self.assertLessEqual(float(row["tightness"]), 1.0)
            self.assertLessEqual(float(row["permuted_tightness"]), 1.0)
        [about] = rows_of(self.folder.name, "models")
        self.assertAlmostEqual(float(about["sink_rate"]), (attention[..., 1:, 0].mean(-1) > sinks.SINK).mean(), places=4)
        self.assertLessEqual(float(about["largest_tightness"]), 1.0)
        self.assertEqual(len(rows_of(self.folder.name, "correlations")), 3 * len(sinks.PAIRS))
        for row in rows_of(self.folder.name, "correlations"):
            self.assertLessEqual(float(row["low_heads"]), float(row["high_heads"]))

    def test_bad_input_is_one_line(self):
        results = os.path.join(self.folder.name, "results")
        for model, what in ((f"small={self.model}:64", "at most 32"), ("small", "expected NAME=PATH"), ("a=missing.bin", "missing.bin"),
                            (f"small={self.model}:2", "at least 3")):
            done = self.run_script(model, "--results", results, "--texts", "4")
            self.assertEqual(done.returncode, 1)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
            self.assertIn(what, done.stderr)
        self.assertIn("multiple of 4", self.run_script(f"small={self.model}:16", "--results", results, "--texts", "5").stderr)
        self.assertFalse(os.path.exists(results))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
