"""Tests examples/atlas.py and what it calls: atlas_test.py SCRIPT. All models are small, random and made here."""
import csv
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import numpy as np
    import torch
except ImportError:
    print("NumPy or PyTorch is missing")
    sys.exit(77)

SCRIPT = sys.argv[1]
sys.dont_write_bytecode = True  # nothing beside the scripts
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(SCRIPT)), "scripts"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from sinks_test import write_model  # noqa: E402
from study import atlas, head_types, readers  # noqa: E402

torch.set_grad_enabled(False)
torch.set_num_threads(1)


def whole(number):
    """A number of a protocol buffer."""
    number &= (1 << 64) - 1
    found = b""
    while number > 127:
        found, number = found + bytes([number & 127 | 128]), number >> 7
    return found + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return whole(number << 3) + whole(value)
    value = value.encode() if isinstance(value, str) else value
    return whole(number << 3 | 2) + whole(len(value)) + value


def tensor(name, values):
    kind = {np.dtype("f4"): 1, np.dtype("u1"): 2, np.dtype("i1"): 3}[values.dtype]
    return field(5, b"".join(field(1, n) for n in values.shape) + field(2, kind) + field(8, name) + field(9, values.tobytes()))


class Whisper:
    """A random decoder of Whisper in 8 bits, as transformers.js writes it, and its forward pass in NumPy."""

    LAYERS, HEADS, WIDTH, INNER, VOCABULARY, LONGEST = 2, 2, 8, 12, 17, 20

    def __init__(self, seed=0):
        rng = np.random.default_rng(seed)
        self.plain, self.graph, self.inside = {}, [], []
        self.exact = {"embedding": self.quantised(rng, "model.decoder.embed_tokens.weight_merged_0", (self.VOCABULARY, self.WIDTH), np.uint8)}
        self.add(rng, "embed_positions.weight", (self.LONGEST, self.WIDTH))
        for name in ("weight", "bias"):
            self.add(rng, f"layer_norm.{name}", (self.WIDTH,))
        for layer in range(self.LAYERS):
            for norm in ("self_attn_layer_norm", "encoder_attn_layer_norm", "final_layer_norm"):
                for name in ("weight", "bias"):
                    self.add(rng, f"layers.{layer}.{norm}.{name}", (self.WIDTH,))
            for part in ("self_attn", "encoder_attn"):
                for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
                    self.product(rng, f"layers.{layer}/{part}/{name}", (self.WIDTH, self.WIDTH))
                    if name != "k_proj":
                        self.add(rng, f"layers.{layer}.{part}.{name}.bias", (self.WIDTH,))
            self.product(rng, f"layers.{layer}/fc1", (self.WIDTH, self.INNER))
            self.product(rng, f"layers.{layer}/fc2", (self.INNER, self.WIDTH))
            self.add(rng, f"layers.{layer}.fc1.bias", (self.INNER,))
            self.add(rng, f"layers.{layer}.fc2.bias", (self.WIDTH,))

    def quantised(self, rng, name, shape, kind):
        values, scale, zero = rng.integers(0, 100, shape).astype(kind), np.float32(0.02), np.array(50, kind)
        self.graph += [tensor(name + "_quantized", values), tensor(name + "_scale", np.array(scale)), tensor(name + "_zero_point", zero)]
        return (values.astype(float) - 50) * float(scale)

    def add(self, rng, name, shape):
        self.plain[name] = rng.normal(size=shape).astype("f4")
        self.graph.append(tensor(f"model.decoder.{name}_merged_0", self.plain[name]))

    def product(self, rng, name, shape):
        stored = f"onnx::MatMul_{len(self.graph)}_merged_0"
        self.exact[name] = self.quantised(rng, stored, shape, np.int8)
        self.inside.append(field(1, field(1, "x") + field(1, stored + "_quantized") + field(2, f"/model/decoder/{name}/MatMul_output_0") + field(4, "MatMulInteger")))

    def write(self, folder):
        os.makedirs(os.path.join(folder, "onnx"))
        branch = field(1, "use_cache_branch") + field(2, "logits") + field(4, "If") + field(5, field(1, "else_branch") + field(6, b"".join(self.inside)))
        with open(os.path.join(folder, readers.ONNX_FILES[1]), "wb") as file:
            file.write(field(1, 8) + field(7, field(1, branch) + b"".join(self.graph)))
        self.config = {"model_type": "whisper", "decoder_layers": self.LAYERS, "decoder_attention_heads": self.HEADS, "d_model": self.WIDTH,
                       "activation_function": "gelu", "decoder_start_token_id": 3, "forced_decoder_ids": [[1, 5]]}
        with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
            json.dump(self.config, file)

    def norm(self, x, name):
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
        return x * self.plain[name + ".weight"] + self.plain[name + ".bias"]

    def attend(self, layer, part, queries, keys):
        """Attention of a layer to `keys`, and its output with bias."""
        def projected(x, name):
            return x @ self.exact[f"layers.{layer}/{part}/{name}"] + self.plain.get(f"layers.{layer}.{part}.{name}.bias", 0.0)

        split = [projected(x, name).reshape(len(x), self.HEADS, -1).swapaxes(0, 1)
                 for x, name in ((queries, "q_proj"), (keys, "k_proj"), (keys, "v_proj"))]
        scores = split[0] @ split[1].swapaxes(1, 2) / np.sqrt(self.WIDTH / self.HEADS)
        if part == "self_attn":
            scores = np.where(np.tri(len(queries), dtype=bool), scores, -np.inf)
        attention = np.exp(scores - scores.max(-1, keepdims=True))
        attention /= attention.sum(-1, keepdims=True)
        return attention, projected((attention @ split[2]).swapaxes(0, 1).reshape(len(queries), -1), "out_proj")

    def forward(self, ids):
        """Attention of all layers, and the logits; the encoder's output is one zero vector."""
        x, seen = self.exact["embedding"][ids] + self.plain["embed_positions.weight"][: len(ids)], []
        for layer in range(self.LAYERS):
            y = self.norm(x, f"layers.{layer}.self_attn_layer_norm")
            attention, output = self.attend(layer, "self_attn", y, y)
            seen.append(attention)
            x = x + output
            x = x + self.attend(layer, "encoder_attn", self.norm(x, f"layers.{layer}.encoder_attn_layer_norm"), np.zeros((1, self.WIDTH)))[1]
            y = self.norm(x, f"layers.{layer}.final_layer_norm") @ self.exact[f"layers.{layer}/fc1"] + self.plain[f"layers.{layer}.fc1.bias"]
            y = torch.nn.functional.gelu(torch.tensor(y)).numpy()
            x = x + y @ self.exact[f"layers.{layer}/fc2"] + self.plain[f"layers.{layer}.fc2.bias"]
        return np.array(seen), self.norm(x, "layer_norm") @ self.exact["embedding"].T


def random_attention(rng, *shape):
    attention = np.tril(rng.random(shape)) ** 3
    return attention / attention.sum(-1, keepdims=True)


class Folder(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.folder = self._folder.name
        self.addCleanup(self._folder.cleanup)


class Readers(Folder):
    def test_whisper(self):
        made, folder = Whisper(), os.path.join(self.folder, "whisper")
        made.write(folder)
        model = readers.read_model(folder)
        self.assertEqual((model.begin, model.longest), ([3, 5], made.LONGEST))
        ids = np.array([3, 5, 9, 1, 16, 0, 9])
        expected, logits = made.forward(ids)
        read = atlas.FileModel(model)
        found = np.array([attention for attention, _, _ in read.read(torch.as_tensor(ids))])
        np.testing.assert_allclose(found, expected, atol=2e-5)  # single against double precision
        scores = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
        np.testing.assert_allclose(read.losses, -scores[np.arange(6), ids[1:]], rtol=1e-3, atol=1e-3)
        sampled = model.sample(3, 6, 1)
        self.assertTrue((sampled[:, :2] == torch.tensor([3, 5])).all())
        whole_text = torch.stack([model.run(model.embed(one[None]), 0)[0] for one in sampled])
        self.assertEqual(whole_text.shape, (3, 6, made.WIDTH))

    def test_samples_are_drawn_from_the_model(self):
        """With a prompt of several tokens, the cache of keys holds all of them: the most probable token is that of a plain pass."""
        folder = os.path.join(self.folder, "whisper")
        Whisper(4).write(folder)
        model = readers.read_model(folder)
        ids = model.sample(1, 9, 1, temperature=0)
        logits = model.logits(model.run(model.embed(ids[:, :-1]), 0))[0]
        self.assertEqual(logits.argmax(-1)[1:].tolist(), ids[0, 2:].tolist())

    def test_hostile_whisper(self):
        made, folder = Whisper(1), os.path.join(self.folder, "whisper")
        made.write(folder)
        path, about = os.path.join(folder, readers.ONNX_FILES[1]), os.path.join(folder, "config.json")
        with open(path, "rb") as file:
            data = file.read()

        def refused(what):
            with self.assertRaises(readers.InputError) as caught:
                readers.read_model(folder)
            self.assertEqual(len(str(caught.exception).splitlines()), 1)
            self.assertIn("not a Llama or Whisper model" if what is None else what, str(caught.exception))

        for key, value in (("decoder_layers", 3), ("decoder_layers", "two"), ("decoder_attention_heads", 3), ("decoder_attention_heads", 0),
                           ("d_model", 10), ("activation_function", "relu"), ("forced_decoder_ids", 7)):
            with open(about, "w", encoding="utf-8") as file:
                json.dump(made.config | {key: value}, file)
            refused(None)
        with open(about, "w", encoding="utf-8") as file:
            file.write("{")
        refused(None)
        with open(about, "w", encoding="utf-8") as file:
            json.dump(made.config, file)
        rng = np.random.default_rng(2)
        for size in (0, 1, 50, *rng.integers(0, len(data), 40)):
            with open(path, "wb") as file:
                file.write(data[:size])
            refused(None)
        infinite = data.replace(made.plain["layer_norm.bias"].tobytes(), np.full(made.WIDTH, np.inf, "f4").tobytes())
        self.assertNotEqual(infinite, data)
        with open(path, "wb") as file:
            file.write(infinite)
        refused("not finite")
        for _ in range(60):  # any byte may change: the file is read, or refused in one line
            broken = bytearray(data)
            broken[rng.integers(len(data))] = rng.integers(256)
            with open(path, "wb") as file:
                file.write(broken)
            try:
                readers.read_model(folder)
            except readers.InputError as error:
                self.assertEqual(len(str(error).splitlines()), 1)

    def test_stored_models_are_the_same(self):
        path, stored = os.path.join(self.folder, "model.bin"), os.path.join(self.folder, "stored")
        write_model(path)
        model = readers.read_model(path)
        readers.store(model, stored)
        again = readers.read_model(stored)
        ids = torch.tensor([[1, 4, 2, 8, 10]])
        self.assertTrue(torch.equal(model.run(model.embed(ids), 0), again.run(again.embed(ids), 0)))
        os.remove(os.path.join(stored, "wq.npy"))
        with self.assertRaisesRegex(readers.InputError, "stored"):
            readers.read_model(stored)
        with open(os.path.join(stored, readers.STORED), "w", encoding="utf-8") as file:
            file.write("[]")
        with self.assertRaisesRegex(readers.InputError, "not a model that this script stored"):
            readers.read_model(stored)

    def test_given_attention(self):
        path = os.path.join(self.folder, "given.json")
        attention = random_attention(np.random.default_rng(5), 2, 3, 6, 6)
        good = {"heads": 3, "soft": attention.reshape(6, 6, 6).tolist()}

        def write(*given):
            with open(path, "w", encoding="utf-8") as file:
                json.dump(list(given), file)

        write(good, good)
        model = atlas.GivenAttention(path)
        self.assertEqual((model.layers, model.heads, model.longest), (2, 3, 6))
        np.testing.assert_allclose(np.array([layer for layer, _, _ in model.read(torch.tensor([1]))]), attention)
        later, negative, wrong = (np.array(good["soft"]) for _ in range(3))
        later[0, 0, :2] = 0.5
        negative[1, 3, :2] += [-2.0, 2.0]
        wrong[2, 3] *= 2.0
        for bad, what in ((good | {"soft": later.tolist()}, "later token"), (good | {"soft": negative.tolist()}, "probabilities"),
                          (good | {"soft": wrong.tolist()}, "probabilities"), (good | {"heads": 4}, "heads"), (good | {"heads": "x"}, "x"),
                          (good | {"soft": [[1.0]]}, "tokens"), ({}, "soft"), (7, "7")):
            write(good, bad)
            with self.assertRaises(readers.InputError) as caught:
                atlas.GivenAttention(path)
            self.assertEqual(len(str(caught.exception).splitlines()), 1)
        write()
        with self.assertRaisesRegex(readers.InputError, "no texts"):
            atlas.GivenAttention(path)
        with self.assertRaisesRegex(readers.InputError, "No such file"):
            atlas.GivenAttention(path + "x")


class HeadTypes(unittest.TestCase):
    def test_pure_heads(self):
        tokens = 9
        itself, first, previous = np.eye(tokens), np.zeros((tokens, tokens)), np.eye(tokens, k=-1)
        first[:, 0] = previous[0, 0] = 1.0
        heads = np.stack([itself, first, previous])
        np.testing.assert_allclose(head_types.sink(heads), [0, 1, 1 / 8])  # token 1's token before is the first
        np.testing.assert_allclose(head_types.previous(heads), [0, 0, 1])
        np.testing.assert_allclose(head_types.itself(heads), [1, 0, 0])
        np.testing.assert_allclose(head_types.entropy(heads), 0)
        np.testing.assert_allclose(head_types.distance(heads), [0, 4, 8 / 9])

    def test_uniform_head(self):
        tokens = 7
        uniform = np.tri(tokens) / np.arange(1, tokens + 1)[:, None]
        sizes = np.arange(1, tokens + 1)
        self.assertAlmostEqual(head_types.sink(uniform), np.mean(1 / sizes[1:]))
        self.assertAlmostEqual(head_types.previous(uniform), np.mean(1 / sizes[2:]))
        self.assertAlmostEqual(head_types.entropy(uniform), np.mean(np.log(sizes)))
        self.assertAlmostEqual(head_types.distance(uniform), np.mean((sizes - 1) / 2))

    def test_repeated_tokens(self):
        begin, period = 2, 5
        tokens = begin + 2 * period
        induction, duplicate = np.eye(tokens), np.eye(tokens)
        for i in range(begin + period, tokens):
            induction[i], duplicate[i] = 0, 0
            induction[i, i - period + 1] = duplicate[i, i - period] = 1
        uniform = np.tri(tokens) / np.arange(1, tokens + 1)[:, None]
        found = head_types.repeated(np.stack([induction, duplicate, uniform]), begin, period)
        np.testing.assert_allclose(found["induction"][:2], [1, 0])
        np.testing.assert_allclose(found["duplicate"][:2], [0, 1])
        np.testing.assert_allclose(found["chance"][:2], 0, atol=1e-12)
        rows = 1 / np.arange(begin + period + 1, tokens + 1)
        self.assertAlmostEqual(found["induction"][2], rows[:-1].mean())
        self.assertAlmostEqual(found["duplicate"][2], rows.mean())
        self.assertAlmostEqual(found["chance"][2], rows[:-1].mean())


class Numbers(Folder):
    def test_through_is_the_product_of_the_layers(self):
        layers = random_attention(np.random.default_rng(3), 4, 8, 8)
        product = np.eye(8)
        for layer in layers:
            product = (0.5 * np.eye(8) + 0.5 * layer) @ product
        signal = product[-1]
        first, last, others, weakest, tokens = atlas.through(list(layers))
        self.assertAlmostEqual(first, signal[0])
        self.assertAlmostEqual(last, signal[-1])
        self.assertAlmostEqual(first + last + others, 1)
        self.assertAlmostEqual(weakest, signal[:-1].min())
        self.assertAlmostEqual(np.log(tokens), -(signal * np.log(signal)).sum())

    def test_norm_edges_are_those_of_the_moved_values(self):
        """Lengths of W_O v come from W_O^T W_O: the same edges as from values and projection."""
        path = os.path.join(self.folder, "model.bin")
        write_model(path)
        model = atlas.FileModel(readers.read_model(path))
        for attention, weights, moved in model.read(torch.tensor([1, 5, 3, 9, 2, 7])):
            heads, layer = atlas.numbers_of(attention, moved=moved["norm"], edges="norm")
            others = atlas.numbers_of(attention, moved=moved["contribution"], edges="norm")
            np.testing.assert_allclose(heads, others[0], rtol=1e-6)
            np.testing.assert_allclose(layer, others[1], rtol=1e-6)
            import synergraph as sg
            np.testing.assert_allclose(weights / weights.sum(), sg.learned_weights(moved["contribution"]["out_proj"], 4), rtol=1e-6)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
