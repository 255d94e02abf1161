"""Tests scripts/export_llama2c.py on small random models: export_llama2c_test.py SYNERGRAPH SCRIPT."""
import cmath
import importlib.util
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
except ImportError:
    print("NumPy is missing")
    sys.exit(77)

PROGRAM, SCRIPT = sys.argv[1:3]
sys.dont_write_bytecode = True  # nothing beside the script
spec = importlib.util.spec_from_file_location("export_llama2c", SCRIPT)
export = importlib.util.module_from_spec(spec)
spec.loader.exec_module(export)


def write_model(path, shape=(8, 12, 2, 4, 2, 11, 10), shared=True, seed=1):
    """A random model in llama2.c's layout; returns its weights."""
    dim, hidden, layers, heads, kv_heads, vocab, seq = shape
    draws = np.random.default_rng(seed)
    kv_dim = kv_heads * dim // heads
    shapes = [(vocab, dim), (layers, dim), (layers, dim, dim), (layers, kv_dim, dim), (layers, kv_dim, dim),
              (layers, dim, dim), (layers, dim), (layers, hidden, dim), (layers, dim, hidden), (layers, hidden, dim),
              (dim,), (seq, dim // heads)] + ([] if shared else [(vocab, dim)])
    weights = [draws.normal(size=one).astype("<f4") for one in shapes]
    with open(path, "wb") as file:
        file.write(np.array([*shape[:5], vocab if shared else -vocab, seq], "<i4").tobytes())
        for array in weights:
            file.write(array.tobytes())
    return weights


def reference(weights, shape, tokens):
    """Logits and attention [layer][head][query][key] of one text: number by number, rotations as complex numbers."""
    dim, hidden, layers, heads, kv_heads = shape[:5]
    width = dim // heads
    embedding, rms_att, wq, wk, wv, wo, rms_ffn, w1, w2, w3, rms_final = weights[:11]
    output = weights[12] if len(weights) > 12 else embedding

    def times(matrix, vector):
        return [math.fsum(float(m) * v for m, v in zip(row, vector)) for row in matrix]

    def norm(vector, gain):
        scale = 1.0 / math.sqrt(math.fsum(v * v for v in vector) / dim + 1e-5)
        return [float(g) * v * scale for g, v in zip(gain, vector)]

    def turned(vector, position):
        """Heads of complex numbers."""
        parts = [vector[k:k + width] for k in range(0, len(vector), width)]
        return [[complex(part[2 * k], part[2 * k + 1]) * cmath.exp(1j * position / 10000 ** (2 * k / width))
                 for k in range(width // 2)] for part in parts]

    states = [[float(v) for v in embedding[token]] for token in tokens]
    attention = []
    for l in range(layers):
        normed = [norm(state, rms_att[l]) for state in states]
        queries = [turned(times(wq[l], y), i) for i, y in enumerate(normed)]
        keys = [turned(times(wk[l], y), i) for i, y in enumerate(normed)]
        values = [times(wv[l], y) for y in normed]
        attention.append(np.zeros((heads, len(tokens), len(tokens))))
        for i, state in enumerate(states):
            mixed = []
            for h in range(heads):
                group = h // (heads // kv_heads)
                scores = [sum((q * k.conjugate()).real for q, k in zip(queries[i][h], keys[j][group])) / math.sqrt(width)
                          for j in range(i + 1)]
                powers = [math.exp(score - max(scores)) for score in scores]
                shares = [power / math.fsum(powers) for power in powers]
                attention[l][h, i, :i + 1] = shares
                mixed += [math.fsum(share * values[j][group * width + k] for j, share in enumerate(shares))
                          for k in range(width)]
            state = [s + o for s, o in zip(state, times(wo[l], mixed))]
            y = norm(state, rms_ffn[l])
            hidden_values = [g / (1.0 + math.exp(-g)) * u for g, u in zip(times(w1[l], y), times(w3[l], y))]
            states[i] = [s + o for s, o in zip(state, times(w2[l], hidden_values))]
    return np.array([times(output, norm(state, rms_final)) for state in states]), np.array(attention)


class ExportTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.model = os.path.join(self.folder.name, "model.bin")

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def export(self, *options):
        return subprocess.run([sys.executable, SCRIPT, *options], capture_output=True, text=True)

    def test_forward_pass_is_that_of_the_reference(self):
        tokens = np.array([[1, 5, 5, 9, 0, 3]])
        for shape, shared in (((8, 12, 2, 4, 2, 11, 10), True), ((12, 7, 3, 2, 2, 10, 6), False), ((8, 5, 1, 4, 1, 10, 6), True)):
            weights = write_model(self.model, shape, shared)
            logits, attention, _ = export.forward(export.load_model(self.model), tokens)
            expected_logits, expected = reference(weights, shape, tokens[0])
            np.testing.assert_allclose(np.concatenate(attention), expected, rtol=1e-10, atol=1e-14)
            np.testing.assert_allclose(logits[0], expected_logits, rtol=1e-9, atol=1e-12)

    def test_later_tokens_change_nothing_before_them(self):
        write_model(self.model)
        model = export.load_model(self.model)
        tokens = np.array([[1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 9, 8]])
        logits, attention, _ = export.forward(model, tokens)
        np.testing.assert_array_equal(logits[0, :4], logits[1, :4])
        self.assertFalse(np.allclose(logits[0, 4], logits[1, 4]))
        for layer in attention:
            np.testing.assert_array_equal(layer[0, :, :4], layer[1, :, :4])
            np.testing.assert_array_equal(np.triu(layer[0, 0], 1), np.zeros((6, 6)))

    def test_tokens_one_at_a_time_give_what_they_give_together(self):
        write_model(self.model)
        model = export.load_model(self.model)
        tokens = np.array([[1, 7, 2, 4], [1, 3, 3, 0]])
        together, _, _ = export.forward(model, tokens)
        past = None
        for k in range(4):
            alone, _, past = export.forward(model, tokens[:, k:k + 1], past)
            np.testing.assert_allclose(alone[:, 0], together[:, k], rtol=1e-12)

    def test_text_follows_the_model(self):
        write_model(self.model)
        model = export.load_model(self.model)
        count = 20000
        tokens = export.sample_text(model, count, 2, 3)
        self.assertTrue((tokens[:, 0] == 1).all())
        chances = export.softmax(export.forward(model, np.array([[1]]))[0][0, 0])
        found = np.bincount(tokens[:, 1], minlength=model.vocab) / count
        self.assertTrue((np.abs(found - chances) < 5 * np.sqrt(chances * (1 - chances) / count) + 1e-4).all())
        np.testing.assert_array_equal(export.sample_text(model, 5, 8, 3), export.sample_text(model, 9, 8, 3)[:5])
        self.assertFalse((export.sample_text(model, 5, 8, 3) == export.sample_text(model, 5, 8, 4)).all())

    def test_the_program_reads_what_is_written(self):
        weights = write_model(self.model)
        norms = np.linalg.norm(weights[5].reshape(2, 8, 4, 2), axis=(1, 3))  # layers, outputs, heads, width
        results = []
        for suffix, more in ((".safetensors", ["--double"]), (".npz", ["--double"]), (".safetensors", [])):
            attention, projections = self.path("a" + suffix), self.path("p" + suffix)
            run = self.export(self.model, attention, "--out-proj", projections, "--samples", "3", "--tokens", "9", *more)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn("2 layers of 4 heads on 3 texts of 9 tokens", run.stdout)
            report = subprocess.run([PROGRAM, "analyze", attention, "--out-proj", projections, "--quiet", "--json", "-"],
                                    check=True, stdout=subprocess.PIPE).stdout
            layers = json.loads(report)["conventions"][0]["layers"]
            self.assertEqual([layer["name"] for layer in layers], ["0", "1"])
            self.assertEqual({(layer["samples"], layer["tokens"]) for layer in layers}, {(3, 9)})
            for layer, expected in zip(layers, norms):
                np.testing.assert_allclose([head["weight"] for head in layer["heads"]], expected / expected.sum(), rtol=1e-6)
            results.append(report)
        self.assertEqual(results[0], results[1])
        self.assertEqual(sorted(os.listdir(self.folder.name)),
                         ["a.npz", "a.safetensors", "model.bin", "p.npz", "p.safetensors"])

    def test_what_is_wrong_is_said_and_leaves_nothing(self):
        write_model(self.model)
        with open(self.model, "rb") as file:
            data = file.read()
        broken = self.path("broken.bin")
        for content, message in ((data[:-4], "bytes, expected"), (data[:20], "no llama2.c model"),
                                 (b"\0" * len(data), "no llama2.c model"),
                                 (data[:28] + b"\0\0\xc0\x7f" + data[32:], "not finite")):
            with open(broken, "wb") as file:
                file.write(content)
            run = self.export(broken, self.path("a.npz"))
            self.assertEqual(run.returncode, 1)
            self.assertIn(message, run.stderr)
            self.assertEqual(run.stderr.count("\n"), 1)
        for options, status in ((("missing.bin", self.path("a.npz")), 1), ((self.model, self.path("a.txt")), 2),
                                ((self.model, self.path("none/a.npz")), 2), ((self.model, self.path("a.npz"), "--tokens", "11"), 1),
                                ((self.model, self.path("a.npz"), "--samples", "0"), 2),
                                ((self.model, self.path("a.npz"), "--out-proj", self.path("a.npz")), 2)):
            run = self.export(*options)
            self.assertEqual(run.returncode, status, run.stderr)
            self.assertNotIn("Traceback", run.stderr)
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["broken.bin", "model.bin"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
