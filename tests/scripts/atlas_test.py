"""Tests examples/atlas.py and what it calls: atlas_test.py SCRIPT. All models are small, random and made here."""
import contextlib
import csv
import glob
import importlib.util
import io
import json
import os
import signal
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
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(SCRIPT)), "scripts"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import synergraph as sg  # noqa: E402
from sinks_test import write_model  # noqa: E402
from study import atlas, atlas_tables, head_types, readers, statistics, texts  # noqa: E402

torch.set_grad_enabled(False)
torch.set_num_threads(1)
spec = importlib.util.spec_from_file_location("script", SCRIPT)
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)


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
        with self.assertRaisesRegex(readers.InputError, "exists already"):
            readers.store(model, stored)
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

    def test_moved_through_is_the_product_of_the_layers(self):
        path = os.path.join(self.folder, "model.bin")
        write_model(path)
        model, ids = atlas.FileModel(readers.read_model(path)), torch.tensor([1, 5, 3, 9, 2, 7])
        x, product = model.model.embed(ids[None]), np.eye(6)
        for block in model.model.blocks:
            attention, values, _ = block.attend(x)
            moved = (values @ block.projection()).norm(dim=-1)[0].double().numpy()  # (heads, keys)
            edges = (attention[0].double().numpy() * moved[:, None]).sum(0) + np.diag(x[0].double().norm(dim=-1).numpy())
            product = edges / edges.sum(-1, keepdims=True) @ product
            x = block.feed_forward(x + block.attention_output(attention, values))
        found = atlas.moved_through(model, ids)
        np.testing.assert_allclose(found[0, :2], product[-1, [0, -1]], rtol=1e-5)
        np.testing.assert_allclose(found[0, 3], product[-1, :-1].min(), rtol=1e-5)
        self.assertGreater(found[1, 0], 0)

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
            np.testing.assert_allclose(weights / weights.sum(), sg.learned_weights(moved["contribution"]["out_proj"], 4), rtol=1e-6)

    def test_synergy_of_heads_that_need_each_other(self):
        """Two heads that pass on one token each: alone, a token never arrives; together, every token does."""
        one, other = np.eye(3), np.eye(3)
        one[2], other[2] = [1, 0, 0], [0, 1, 0]
        heads, layer = atlas.numbers_of(np.stack([one, other, (one + other) / 2]), np.ones(3))
        fidelity = heads[atlas.SYSTEM.index("minimax_fidelity")]
        np.testing.assert_allclose(fidelity, [0, 0, 0.5])
        self.assertAlmostEqual(layer[atlas.LAYER.index("synergy")], 1.0)
        self.assertEqual(layer[atlas.LAYER.index("best_head")], 2)

    def test_bound_holds(self):
        attention = random_attention(np.random.default_rng(8), 6, 20, 20)
        heads, _ = atlas.numbers_of(attention)
        numbers = dict(zip(atlas.SYSTEM, heads))
        np.testing.assert_allclose(numbers["fidelity_bound"], numbers["backward_hitting_time"] / 19)
        self.assertTrue((numbers["minimax_fidelity"] <= numbers["fidelity_bound"]).all())

    def test_transformers(self):
        """A model behind the interface of transformers is measured as its file would be."""
        class Layer(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)

            def forward(self, x):
                later = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
                return x + self.attention(x, x, x, attn_mask=later, need_weights=False)[0]

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                torch.manual_seed(3)
                self.config = type("Config", (), {"vocab_size": 300, "num_hidden_layers": 2, "num_attention_heads": 2, "max_position_embeddings": 16})
                self.embedding = torch.nn.Embedding(300, 8)
                self.layers = torch.nn.ModuleList([Layer(), Layer()])

            def forward(self, ids, past_key_values=None, use_cache=False):
                if past_key_values is not None:
                    ids = torch.cat([past_key_values, ids], 1)
                x = self.embedding(ids)
                for layer in self.layers:
                    x = layer(x)
                return type("Output", (), {"logits": x @ self.embedding.weight.T, "past_key_values": ids})

        class Tokenizer:
            bos_token_id, eos_token_id = None, 7

            def encode(self, text, add_special_tokens=True):
                return list(text.encode())

        model = Model().eval()
        library = type("transformers", (), {})
        library.AutoModelForCausalLM = type("A", (), {"from_pretrained": staticmethod(lambda path: model)})
        library.AutoTokenizer = type("B", (), {"from_pretrained": staticmethod(lambda path: Tokenizer())})
        read = atlas.HuggingFace("some/model", library)
        atlas.measure(read, "fake", {8: 2, 12: 1}, ["own"], self.folder, periods=(2, 4))
        found = atlas_tables.Model(os.path.join(self.folder, "fake"))
        ids = torch.as_tensor(atlas.load(os.path.join(self.folder, "fake", "texts.npz"))["ids"])
        self.assertEqual((ids.shape, ids[0, 0].item(), ids[1, 8:].tolist()), ((2, 12), 7, [-1] * 4))
        x = model.embedding(ids[:1])
        for layer in range(2):
            block = model.layers[layer].attention
            expected = block(x, x, x, attn_mask=torch.ones(12, 12, dtype=torch.bool).triu(1), average_attn_weights=False)[1][0].numpy()
            weights = sg.learned_weights(block.out_proj.weight.numpy(), 2)
            result = sg.measure(expected, weights=weights, per_head=True)
            np.testing.assert_allclose(found.at(12, "minimax_fidelity")[0, layer], result.heads["minimax_fidelity"], rtol=1e-4)
            np.testing.assert_allclose(found.layer(12, "synergy")[0, layer], result.synergy, rtol=1e-4)
            np.testing.assert_allclose(found.at(12, "sink")[0, layer], expected[:, 1:, 0].mean(-1), rtol=1e-5)
            x = model.layers[layer](x)
        for edges in ("norm", "contribution"):
            self.assertTrue(np.isfinite(found.layer(12, "synergy", edges)).all())
        with self.assertRaisesRegex(readers.InputError, "at most 16"):
            atlas.measure(read, "long", {20: 1}, ["own"], self.folder)
        missing = type("transformers", (), {"AutoModelForCausalLM": type("A", (), {"from_pretrained": staticmethod(open)})})
        with self.assertRaises(readers.InputError) as caught:
            atlas.HuggingFace(os.path.join(self.folder, "nothing"), missing)
        self.assertEqual(len(str(caught.exception).splitlines()), 1)


class Texts(unittest.TestCase):
    def test_words_are_encoded_as_the_whole_text_is(self):
        words = [b"<unk>", b"<s>", b"</s>", *(bytes([k]) for k in range(256)), b" a", b"ab", b" ab", b"ba", b"abab", b" b", b"  "]
        scores = np.random.default_rng(1).normal(size=len(words))
        data = b"\0\0\0\0" + b"".join(np.float32(s).tobytes() + np.int32(len(w)).tobytes() + w for w, s in zip(words, scores))
        fast = texts.SentencePiece(data, len(words))
        rng = np.random.default_rng(2)
        for _ in range(200):
            text = "".join(rng.choice(list("ab c"), 30))
            self.assertEqual(fast.encode(text), fast.joined(" " + text))

    def test_texts_of_several_lengths_are_disjoint(self):
        class Model:
            begin = [1]

            def encode(self, text):
                return [int(text)] * 4

        parts = [str(k) for k in range(10, 60)]
        self.addCleanup(setattr, texts, "paragraphs", texts.paragraphs)
        texts.paragraphs = lambda: parts
        ids, order = atlas.chosen_texts(Model(), ["documents"], atlas.needed({9: 4, 17: 2, 5: 3}), 1)
        self.assertEqual(order, ["documents"] * 4)
        self.assertEqual((ids >= 0).sum(1).tolist(), [17, 17, 9, 9])
        said = [set(row[row > 1].tolist()) for row in ids]
        self.assertEqual(sum(map(len, said)), len(set.union(*said)))


class Tables(unittest.TestCase):
    def test_rank_correlations(self):
        rng = np.random.default_rng(3)
        for _ in range(20):
            a, b = rng.integers(0, 6, (2, 12)).astype(float)
            self.assertAlmostEqual(atlas_tables.correlation(a, b), statistics.spearman(a, b), places=10)
        self.assertEqual(atlas_tables.correlation(np.ones(9), rng.normal(size=9)), 0.0)

    def test_partial_correlation(self):
        """What two numbers share through a third one alone vanishes; what they share beside it stays."""
        rng = np.random.default_rng(4)
        common, shared = rng.normal(size=(2, 4000))
        a, b = common + 0.5 * rng.normal(size=4000), common + 0.5 * rng.normal(size=4000)
        self.assertGreater(atlas_tables.correlation(a, b), 0.7)
        self.assertLess(abs(atlas_tables.correlation(a, b, [common])), 0.1)
        self.assertGreater(atlas_tables.correlation(a + shared, b + shared, [common]), 0.6)
        self.assertAlmostEqual(atlas_tables.correlation(common, a, [common]), 0.0)

    def test_intervals(self):
        rng = np.random.default_rng(5)
        values = rng.normal(2.0, 1.0, (400, 3))
        mean, low, high = atlas_tables.Draws(400, 1000).of(values)
        np.testing.assert_allclose(mean, values.mean(0))
        np.testing.assert_allclose(high - low, 2 * 1.96 / 20, rtol=0.15)  # the normal interval
        few = atlas_tables.Draws(4, 1000).of(values[:4])
        self.assertTrue(np.isnan(few[1]).all() and np.isnan(few[2]).all())


class Script(Folder):
    def setUp(self):
        super().setUp()
        self.model, self.out = os.path.join(self.folder, "model.bin"), os.path.join(self.folder, "out")
        write_model(self.model)

    def command(self, *arguments):
        return [sys.executable, SCRIPT, *arguments]

    def run_here(self, *arguments):
        """Exit status and what stands on stderr, without the start of a process."""
        stderr = io.StringIO()
        with contextlib.redirect_stderr(stderr), self.assertRaises(SystemExit) as left:
            script.main(arguments)
        said = stderr.getvalue() + (left.exception.code if isinstance(left.exception.code, str) else "")
        return (1, said) if isinstance(left.exception.code, str) else (left.exception.code, said)

    def numbers(self, folder):
        return {os.path.basename(path): atlas.load(path) for path in sorted(glob.glob(os.path.join(folder, "tiny", "*.npz")))}

    def test_a_killed_run_goes_on(self):
        """Two runs, one of them killed: the same numbers. Then the tables and the page."""
        def measure(out, **options):
            return subprocess.Popen(self.command("measure", f"tiny={self.model}", "--lengths", "8:6,24:6", "--out", out),
                                    stderr=subprocess.PIPE, text=True, **options)

        killed = measure(self.out)
        for line in killed.stderr:
            if "text 1," in line:
                killed.send_signal(signal.SIGKILL)
                break
        killed.communicate()
        before = {path: os.stat(path).st_mtime_ns for path in glob.glob(os.path.join(self.out, "tiny", "*.npz"))}
        self.assertTrue(0 < len(before) < 15)
        again = measure(self.out)
        _, errors = again.communicate()
        self.assertEqual(again.returncode, 0, errors)
        for path, changed in before.items():
            self.assertEqual(os.stat(path).st_mtime_ns, changed)
        straight = measure(self.out + "2")
        _, errors = straight.communicate()
        self.assertEqual(straight.returncode, 0, errors)
        first, second = self.numbers(self.out), self.numbers(self.out + "2")
        self.assertEqual(len(first), 15)
        self.assertEqual(list(first), list(second))
        for name, arrays in first.items():
            for key, array in arrays.items():
                np.testing.assert_array_equal(array, second[name][key], err_msg=f"{name} {key}")

        results, page = os.path.join(self.folder, "results"), os.path.join(self.folder, "atlas.md")
        script.main(["report", "--out", self.out, "--results", results, "--draws", "50"])
        self.check_tables(results)
        script.main(["page", "--results", results, "--page", page])
        with open(page, encoding="utf-8") as file:
            text = file.read()
        self.assertIn("tiny", text)
        for name in ("heads-tiny", "synergy", "bound", "lengths", "depth"):
            path = os.path.join("figures", "atlas", f"{name}.svg")
            self.assertIn(path, text)
            self.assertTrue(os.path.exists(os.path.join(self.folder, path)))

        found, said = self.run_here("measure", f"tiny={self.model}", "--lengths", "8:5", "--out", self.out)
        self.assertEqual((found, len(said.splitlines())), (1, 1))
        self.assertIn("other settings", said)
        with open(os.path.join(self.out, "tiny", "8-0.npz"), "wb") as file:
            file.write(b"PK")
        found, said = self.run_here("report", "--out", self.out, "--results", results)
        self.assertEqual((found, len(said.splitlines())), (1, 1))
        self.assertIn("8-0.npz", said)

    def check_tables(self, results):
        def rows(name):
            with open(os.path.join(results, f"{name}.csv"), newline="", encoding="utf-8") as file:
                return list(csv.DictReader(file))

        model = readers.read_model(self.model)
        ids = torch.as_tensor(atlas.load(os.path.join(self.out, "tiny", "texts.npz"))["ids"])
        seen = []
        for text in ids:
            read = atlas.FileModel(model)
            seen.append([attention for attention, _, _ in read.read(text)])
        attention = np.array(seen)  # (texts, layers, heads, n, n)
        heads = rows("heads-tiny")
        self.assertEqual(len(heads), 8)
        for row in heads:
            own = attention[:, int(row["layer"]), int(row["head"])]
            self.assertLess(abs(float(row["sink"]) / own[:, 1:, 0].mean() - 1), 0.006)
            fidelity = np.median(sg.measure(own[:, None], axes="sample head query key")["minimax_fidelity"])
            self.assertLess(abs(float(row["minimax_fidelity"]) / fidelity - 1), 0.006)  # three digits
            self.assertLessEqual(float(row["minimax_fidelity_low"]), float(row["minimax_fidelity_high"]))
        long = next(row for row in rows("lengths") if row["tokens"] == "24")
        self.assertAlmostEqual(float(long["sink_rate"]), (attention[..., 1:, 0].mean(-1) > 0.3).mean(), places=3)
        weights = [sg.learned_weights(block.wo.numpy(), 4) for block in model.blocks]
        for row in rows("layers"):
            if (row["tokens"], row["edges"]) == ("24", "attention"):
                layer = int(row["layer"])
                result = sg.measure(attention[:, layer], weights=weights[layer], axes="sample head query key")
                self.assertAlmostEqual(float(row["synergy"]) / np.median(result["synergy"]), 1, places=3)
        self.assertEqual({row["edges"] for row in rows("synergy")}, {"attention", "norm", "contribution", "permuted"})

    def test_bad_input_is_one_line(self):
        for arguments, status, what in (((f"a={self.model}", "--lengths", "64:1"), 1, "at most 32"), (("missing.bin",), 1, "missing.bin"),
                                        ((f"../a={self.model}",), 1, "a name that can be a folder"), ((f"a={self.model}", "--sources", "bible"), 1, "no tokenizer"),
                                        ((f"a={self.model}", "--lengths", "4"), 2, "at least 8 tokens"), ((f"a={self.model}", "--sources", "news"), 2, "own, bible")):
            found, said = self.run_here("measure", *arguments, "--out", self.out)
            self.assertEqual(found, status, said)
            self.assertIn(what, said.splitlines()[-1])
            self.assertTrue(status == 2 or len(said.splitlines()) == 1, said)
        self.assertFalse(os.path.exists(os.path.join(self.out, "a", "texts.npz")))
        blocked = os.path.join(self.model, "out")
        found, said = self.run_here("measure", f"a={self.model}", "--lengths", "8:1", "--out", blocked)
        self.assertEqual((found, len(said.splitlines())), (1, 1))
        self.assertIn(blocked, said)
        found, said = self.run_here("report", "--out", self.folder, "--results", self.out)
        self.assertEqual((found, len(said.splitlines())), (1, 1))
        self.assertIn("no measured model", said)
        found, said = self.run_here("page", "--results", self.folder, "--page", os.path.join(self.folder, "page.md"))
        self.assertEqual((found, len(said.splitlines())), (1, 1))
        self.assertIn("not the tables", said)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "page.md")))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
