"""Tests scripts/validity.py and scripts/study on small random models: validity_test.py SYNERGRAPH SCRIPT. Needs no model file."""
import importlib.util
import itertools
import json
import math
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
import types
import unittest
import unittest.mock

try:
    import numpy as np
    import torch
except ImportError:
    print("NumPy or PyTorch is missing")
    sys.exit(77)

PROGRAM, SCRIPT = sys.argv[1:3]
sys.dont_write_bytecode = True  # nothing beside the scripts
sys.path.insert(0, os.path.dirname(SCRIPT))
from study import games, page, readers, report, results, scores, statistics, structure, texts, wide, wide_report  # noqa: E402
from study.model import Block, Decoder, Shape, next_tokens  # noqa: E402

torch.set_grad_enabled(False)
torch.set_num_threads(1)


def small_model(heads=4, kv_heads=2, rotary="neighbours", layers=3, seed=0, **more):
    """A random Llama-shaped model in double precision."""
    draws = torch.Generator().manual_seed(seed)
    dim, hidden, vocabulary = 8 * heads // 2, 12, 11
    width = dim // heads
    shapes = {"embedding": (vocabulary, dim), "norm1": (layers, dim), "norm2": (layers, dim), "wq": (layers, dim, dim),
              "wk": (layers, kv_heads * width, dim), "wv": (layers, kv_heads * width, dim), "wo": (layers, dim, dim), "w1": (layers, hidden, dim),
              "w2": (layers, dim, hidden), "w3": (layers, hidden, dim), "norm": (dim,)}
    weights = {name: torch.randn(shape, generator=draws, dtype=torch.float64) * 0.7 for name, shape in shapes.items()}
    return Decoder(Shape(heads, kv_heads, rotary=rotary, **more), weights, begin=1, longest=20)


def write_llama2c(path, model, tokenizer=b""):
    """A model in llama2.c's layout; what follows it is ignored."""
    w = model.weights
    layers, dim = w["norm1"].shape
    with open(path, "wb") as file:
        file.write(struct.pack("<7i", dim, w["w1"].shape[1], layers, model.shape.heads, model.shape.kv_heads, model.vocabulary, 20))
        for name in ("embedding", "norm1", "wq", "wk", "wv", "wo", "norm2", "w1", "w2", "w3", "norm"):
            file.write(w[name].numpy().astype("<f4").tobytes())
        file.write(np.zeros((20, dim // model.shape.heads), "<f4").tobytes() + tokenizer)


def reference_loss(model, ids, targets, off=None, replaced=None):
    """Losses of one text, position by position with plain loops. Heads in `off`, pairs of layer and head, give `replaced` instead."""
    w, shape = model.weights, model.shape
    dim = w["wq"].shape[2]
    width = dim // shape.heads
    rms = lambda x, g: x / torch.sqrt((x * x).mean() + shape.eps) * g  # noqa: E731

    def turned(vector, position):
        result = vector.clone()
        for k in range(width // 2):
            a, b = (2 * k, 2 * k + 1) if shape.rotary == "neighbours" else (k, k + width // 2)
            turn = complex(vector[a], vector[b]) * np.exp(1j * position / shape.base ** (2 * k / width))
            result[a], result[b] = turn.real, turn.imag
        return result

    states = [w["embedding"][token].clone() for token in ids]
    for layer in range(len(w["wq"])):
        normed = [rms(x, w["norm1"][layer]) for x in states]
        outputs = [torch.zeros(dim, dtype=torch.float64) for _ in states]
        for h in range(shape.heads):
            group, part = h // (shape.heads // shape.kv_heads), slice(h * width, (h + 1) * width)
            kv = slice(group * width, (group + 1) * width)
            keys = [turned(w["wk"][layer][kv] @ y, j) for j, y in enumerate(normed)]
            values = [w["wv"][layer][kv] @ y for y in normed]
            for i, y in enumerate(normed):
                if off and (layer, h) in off:
                    outputs[i] += replaced[h]
                    continue
                query = turned(w["wq"][layer][part] @ y, i)
                shares = torch.stack([query @ key for key in keys[: i + 1]]).div(math.sqrt(width)).softmax(0)
                outputs[i] += w["wo"][layer][:, part] @ sum(s * v for s, v in zip(shares, values))
        for i, out in enumerate(outputs):
            x = states[i] + out
            y = rms(x, w["norm2"][layer])
            gate = w["w1"][layer] @ y
            states[i] = x + w["w2"][layer] @ (gate * gate.sigmoid() * (w["w3"][layer] @ y))
    found = []
    for x, target in zip(states, targets):
        logits = w["embedding"] @ rms(x, w["norm"])
        found.append(0.0 if target < 0 else float(logits.logsumexp(0) - logits[target]))
    return np.array(found)


class Model(unittest.TestCase):
    def test_loss_is_that_of_plain_loops(self):
        ids = torch.tensor([[1, 5, 5, 9, 0, 3], [1, 2, 7, 7, 10, 4]])
        for rotary, kv_heads in (("neighbours", 2), ("halves", 1), ("halves", 4)):
            model = small_model(kv_heads=kv_heads, rotary=rotary)
            targets = next_tokens(ids)
            found = model.loss(ids, targets)
            for one, wanted, text in zip(found, targets, ids):
                np.testing.assert_allclose(one, reference_loss(model, text, wanted), rtol=1e-10, atol=1e-12)

    def test_pairings_are_permutations_of_each_other(self):
        """Rows of queries and keys in the other order give the same model: (2k, 2k + 1) against (k, k + width / 2)."""
        model = small_model()
        width = model.blocks[0].width
        order = [2 * k for k in range(width // 2)] + [2 * k + 1 for k in range(width // 2)]
        weights = dict(model.weights)
        for name in ("wq", "wk"):
            weights[name] = weights[name].unflatten(1, (-1, width))[:, :, order].flatten(1, 2)
        other = Decoder(Shape(4, 2, rotary="halves"), weights, begin=1)
        ids = torch.tensor([[1, 5, 5, 9, 0, 3]])
        torch.testing.assert_close(other.loss(ids, next_tokens(ids)), model.loss(ids, next_tokens(ids)), rtol=1e-12, atol=1e-12)

    def test_texts_one_token_at_a_time_are_those_of_the_whole(self):
        model = small_model()
        text = model.sample(1, 12, seed=3, temperature=0)
        x = model.run(model.embed(text), 0)
        np.testing.assert_array_equal(model.logits(x)[0, :-1].argmax(-1), text[0, 1:])
        np.testing.assert_array_equal(model.sample(3, 12, 3), model.sample(3, 12, 3))
        self.assertFalse((model.sample(3, 12, 3) == model.sample(3, 12, 4)).all())

    def test_llama2c_files(self):
        model = small_model()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.data")
            write_llama2c(path, model, b"tokenizer")
            read = readers.read_model(path)
            ids = torch.tensor([[1, 5, 5, 9]])
            torch.testing.assert_close(read.to(dtype=torch.float64).loss(ids, next_tokens(ids)), model.loss(ids, next_tokens(ids)), rtol=1e-5, atol=1e-5)
            with open(path, "rb") as file:
                data = file.read()
            for content, message in ((data[:20], "too few"), (data[:200], "this shape needs"), (b"\0" * 100, "describe no llama2.c"),
                                     (data[:28] + b"\0\0\xc0\x7f" + data[32:], "not finite")):
                with open(path, "wb") as file:
                    file.write(content)
                with self.assertRaisesRegex(readers.InputError, message):
                    readers.read_model(path)
            with self.assertRaisesRegex(readers.InputError, "unknown kind"):
                readers.read_model("model.txt")

    def test_gguf_files(self):
        """The names and shapes of a file, by a stand-in for llama.cpp's reader, give the model."""
        model = small_model()
        ours = {"token_embd": "embedding", "output_norm": "norm"}
        of_layer = {"attn_norm": "norm1", "ffn_norm": "norm2", "attn_q": "wq", "attn_k": "wk", "attn_v": "wv", "attn_output": "wo", "ffn_gate": "w1",
                    "ffn_down": "w2", "ffn_up": "w3"}
        stored = {f"{theirs}.weight": model.weights[name] for theirs, name in ours.items()}
        stored |= {f"blk.{k}.{theirs}.weight": model.weights[name][k] for theirs, name in of_layer.items() for k in range(3)}
        said = {"block_count": 3, "attention.head_count": 4, "attention.head_count_kv": 2, "attention.layer_norm_rms_epsilon": 1e-5, "context_length": 20}
        reader = types.SimpleNamespace(
            tensors=[types.SimpleNamespace(name=name, data=2 * value.numpy(), tensor_type="halved") for name, value in stored.items()],
            fields={"llama." + key: types.SimpleNamespace(parts=[np.array([value])], data=[0]) for key, value in said.items()})
        stand_in = {"gguf": types.ModuleType("gguf"), "gguf.gguf_reader": types.SimpleNamespace(GGUFReader=lambda path: reader),
                    "gguf.quants": types.SimpleNamespace(dequantize=lambda data, kind: data / 2 if kind == "halved" else None)}
        ids = torch.tensor([[1, 5, 5, 9]])
        with unittest.mock.patch.dict(sys.modules, stand_in):
            read = readers.read_model("model.gguf", 2)
        torch.testing.assert_close(read.to(dtype=torch.float64).loss(ids, next_tokens(ids)), model.loss(ids, next_tokens(ids)), rtol=1e-5, atol=1e-5)
        with unittest.mock.patch.dict(sys.modules, {"gguf.gguf_reader": None}), self.assertRaisesRegex(readers.InputError, "needs llama.cpp's package gguf"):
            readers.read_model("model.gguf")

    def test_protocol_buffers(self):
        def varint(n):
            out = b""
            while n > 127:
                out, n = out + bytes([n & 127 | 128]), n >> 7
            return out + bytes([n])

        def field(number, value):
            return varint(number << 3) + varint(value) if isinstance(value, int) else varint(number << 3 | 2) + varint(len(value)) + value

        tensor = field(1, 300) + field(1, 2) + field(2, 3) + field(8, b"w") + field(9, bytes(range(200)) * 3)
        minus = field(1, 1) + field(2, 3) + field(5, varint((1 << 64) - 7)) + field(8, b"z")  # one int8 of -7, as int32_data
        stored = readers.initializers(field(5, tensor) + field(1, b"") + field(5, minus))
        self.assertEqual(stored["w"].shape, (300, 2))
        self.assertEqual(stored["w"].dtype, np.int8)
        self.assertEqual(stored["z"].tolist(), [-7])
        with self.assertRaises(readers.InputError):
            list(readers.fields(varint(9 << 3 | 2) + varint(50) + b"short"))


class Tokenizers(unittest.TestCase):
    def test_sentence_pieces_join_the_best_pair_first(self):
        words = [(b"<unk>", 0), (b"<s>", 0), (b"</s>", 0)] + [(bytes([b]), 0) for b in range(256)]
        words += [(b"a", -9), (b"b", -9), (b" ", -9), (b"ab", -3), (b"ba", -1), (b" a", -2), (b"aba", -1)]
        data = struct.pack("<i", 3) + b"".join(struct.pack("<fi", score, len(word)) + word for word, score in words)
        tokenizer = texts.SentencePiece(data, len(words))
        self.assertEqual([words[k][0] for k in tokenizer.encode("aba")], [b" ", b"aba"])
        self.assertEqual(tokenizer.encode("\u00e9")[1:], [3 + b for b in "\u00e9".encode()])  # unknown letters are bytes

    def test_byte_pairs(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "tokenizer.json")
            vocabulary = {piece: k for k, piece in enumerate(["a", "b", "\u0120", "1", "!", "ab", "\u0120ab", "'", "s"])}
            with open(path, "w") as file:
                json.dump({"model": {"vocab": vocabulary, "merges": [["a", "b"], "\u0120 ab"]}}, file)
            tokenizer = texts.BytePairs(path)
            self.assertEqual(tokenizer.encode("ab ab1!"), [5, 6, 3, 4])
            self.assertEqual(tokenizer.encode("ab's"), [5, 7, 8])

    def test_pieces_are_disjoint(self):
        parts = [chr(97 + k) * 5 for k in range(26)]
        found = texts.pieces(parts, lambda text: [ord(c) for c in text], 4, 11, 1, np.random.default_rng(2))
        letters = [set(row.tolist()) - {1} for row in found]
        self.assertEqual(found.shape, (4, 11))
        self.assertTrue(all(not a & b for a, b in itertools.combinations(letters, 2)))
        with self.assertRaises(readers.InputError):
            texts.pieces(parts, lambda text: [1], 4, 30, 1, np.random.default_rng(2))


class Games(unittest.TestCase):
    def test_subsets_are_those_of_plain_loops(self):
        model = small_model()
        ids = torch.tensor([[1, 5, 5, 9, 0, 3], [1, 2, 7, 7, 10, 4]])
        targets = next_tokens(ids)
        means = games.mean_outputs(model, [ids[:1], ids[1:]])
        for layer, replaced in ((1, torch.zeros_like(means[1])), (2, means[2])):
            losses = games.subset_losses(model, ids, targets, layer, replaced, games.all_subsets(4), rows=50)
            found, last = losses["loss"], losses["last"]
            for subset in (0, 5, 10, 15):
                off = {(layer, h) for h in range(4) if not subset >> h & 1}
                for s in range(2):
                    expected = reference_loss(model, ids[s], targets[s], off, replaced)
                    self.assertAlmostEqual(found[subset, s], expected.sum() / 5, places=10)
                    self.assertAlmostEqual(last[subset, s], expected[4], places=10)

    def test_means(self):
        model = small_model()
        ids = torch.tensor([[1, 5, 5, 9], [1, 2, 7, 7]])
        x = model.embed(ids)
        means = games.mean_outputs(model, ids.split(1))
        for layer, block in enumerate(model.blocks):
            attention, values, _ = block.attend(x)
            torch.testing.assert_close(means[layer], block.outputs(attention, values).mean((0, 2)))
            x, _ = block.forward(x)

    def test_a_head_without_output_has_no_value(self):
        model = small_model()
        weights = dict(model.weights, wo=model.weights["wo"].clone())
        weights["wo"][1][:, : model.blocks[0].width] = 0
        model = Decoder(model.shape, weights, begin=1)
        ids = torch.tensor([[1, 5, 5, 9, 0, 3]])
        losses = games.subset_losses(model, ids, next_tokens(ids), 1, torch.zeros(4, 16), games.all_subsets(4))["loss"]
        values = games.shapley(losses[0] - losses)
        self.assertAlmostEqual(values[0, 0], 0, places=12)
        self.assertGreater(abs(values[1:]).min(), 1e-6)
        self.assertAlmostEqual(values.sum(), (losses[0] - losses[-1])[0], places=12)

    def test_shapley_values_and_interactions_by_definition(self):
        table = np.random.default_rng(4).normal(size=32)
        table[0] = 0
        orders = list(itertools.permutations(range(5)))
        gains = np.zeros(5)
        for order in orders:
            for k, head in enumerate(order):
                before = sum(1 << h for h in order[:k])
                gains[head] += table[before | 1 << head] - table[before]
        np.testing.assert_allclose(games.shapley(table), gains / len(orders), atol=1e-12)
        # The interaction of a and b: the value that a alone adds in the game where b is always on, less where it is always off.
        a, b = 1, 3
        rest = [0, 2, 4]
        places = {head: k for k, head in enumerate([a] + rest)}
        games_of = []
        for on in (1, 0):
            games_of.append(np.array([table[sum(1 << h for h in [a] + rest if s >> places[h] & 1) | on << b] for s in range(16)]))
        expected = games.shapley(games_of[0])[0] - games.shapley(games_of[1])[0]
        found = games.interactions(table)
        self.assertAlmostEqual(found[a, b], expected, places=12)
        np.testing.assert_array_equal(found, found.T)

    def test_all_orders_give_the_exact_values(self):
        table = np.random.default_rng(5).normal(size=16)
        forward = [order for order in itertools.permutations(range(4)) if order < order[::-1]]
        orders = np.array([one for order in forward for one in (order, order[::-1])])
        sets = games.order_subsets(orders) @ (1 << np.arange(4))
        found, error = games.shapley_of_orders(orders, table[sets].reshape(len(orders), 5))
        np.testing.assert_allclose(found, games.shapley(table), atol=1e-12)
        self.assertTrue((error > 0).all())
        drawn = games.random_orders(6, 3, 1)
        np.testing.assert_array_equal(drawn[0::2], drawn[1::2, ::-1])
        self.assertTrue((np.sort(drawn, 1) == np.arange(6)).all())


class Statistics(unittest.TestCase):
    def test_rank_correlation(self):
        self.assertEqual(statistics.ranks([3, 1, 3, 2]).tolist(), [2.5, 0, 2.5, 1])
        self.assertAlmostEqual(statistics.spearman([1, 2, 3, 4], [1, 4, 9, 16]), 1)
        self.assertAlmostEqual(statistics.spearman([1, 2, 3, 4], [1, 3, 2, 4]), 0.8)  # 1 - 6 * 2 / (4 * 15)
        self.assertEqual(statistics.spearman([1, 1, 1], [1, 2, 3]), 0)

    def test_permutations_are_those_by_counting(self):
        score, needed = [[1.0, 2, 3, 4]], [[1.0, 2, 4, 3]]
        found = abs(statistics.spearman(score[0], needed[0]))
        exact = np.mean([abs(statistics.spearman(p, needed[0])) >= found - 1e-12 for p in itertools.permutations(score[0])])
        self.assertAlmostEqual(statistics.permutation_p(score, needed, 20000), exact, delta=0.015)  # 4 standard errors
        # Two layers that agree with opposite signs: the mean is 0, nothing is larger by chance only.
        self.assertEqual(statistics.permutation_p([[1, 2, 3], [1, 2, 3]], [[1, 2, 3], [3, 2, 1]], 200), 1)
        self.assertEqual(statistics.permutation_p([range(8)] * 4, [range(8)] * 4, 999), 0.001)

    def test_pairs_are_permuted_by_heads(self):
        rng = np.random.default_rng(7)
        a = rng.normal(size=(4, 4))
        a = a + a.T
        b = a + 0.4 * (lambda e: e + e.T)(rng.normal(size=(4, 4)))
        found = statistics.spearman(statistics.upper(a), statistics.upper(b))
        every = [statistics.spearman(statistics.upper(a[np.ix_(p, p)]), statistics.upper(b)) for p in itertools.permutations(range(4))]
        exact = np.mean(np.abs(every) >= abs(found) - 1e-12)
        self.assertAlmostEqual(statistics.pair_permutation_p([a], [b], 4000), exact, delta=0.035)  # 4 standard errors

    def test_intervals(self):
        draws = np.random.default_rng(8).normal(2, 1, 400)
        low, high = statistics.interval(draws)
        self.assertAlmostEqual((low + high) / 2, draws.mean(), delta=0.02)
        self.assertAlmostEqual(high - low, 2 * 1.96 * draws.std() / 20, delta=0.02)
        # Groups that are constant inside have as much information as groups, not as values.
        wide = statistics.interval(np.repeat(draws[:16], 25), groups=np.repeat(np.arange(16), 25).tolist())
        self.assertAlmostEqual(wide[1] - wide[0], 2 * 1.96 * draws[:16].std() / 4, delta=0.1)

    def test_holm(self):
        np.testing.assert_allclose(statistics.holm([0.01, 0.04, 0.03]), [0.03, 0.06, 0.06])
        np.testing.assert_allclose(statistics.holm([0.5, 0.9]), [1, 1])

    def test_values_by_order_and_size(self):
        table = np.array([0, 1, 4, 6, 2, 2, 7, 9.0])
        self.assertEqual(statistics.value_by_order(table, [1, 0, 2]).tolist(), [4, 6])
        np.testing.assert_allclose(statistics.value_by_size(table), [7 / 3, 5])
        self.assertEqual(statistics.best_by_size(table).tolist(), [4, 7])
        self.assertEqual(statistics.best_by_size(table, -table).tolist(), [-4, -7])


class Scores(unittest.TestCase):
    def test_contributions_by_definition(self):
        model = small_model()
        ids = torch.tensor([[1, 5, 5, 9, 0, 3]])
        x = model.embed(ids)
        block = model.blocks[0]
        attention, values, _ = block.attend(x)
        moved, outputs = (values @ block.projection())[0], block.outputs(attention, values)[0]
        after = x[0] + outputs.sum(0)
        edges, residual = scores.contribution_edges(attention[0], moved, after, x[0])
        for h, i, j in ((0, 5, 2), (3, 4, 4), (2, 3, 0), (1, 2, 5)):
            one = attention[0, h, i, j] * moved[h, j]
            self.assertAlmostEqual(float(edges[h, i, j]), max(0.0, float(after[i].abs().sum() - (after[i] - one).abs().sum())), places=12)
        for i in range(6):
            self.assertAlmostEqual(float(residual[i]), max(0.0, float(after[i].abs().sum() - (after[i] - x[0, i]).abs().sum())), places=12)
        edges, residual = scores.normalised(edges, residual)
        torch.testing.assert_close(edges.sum((0, 2)) + residual, torch.ones(6, dtype=torch.float64))

    def test_contributions_far_below_the_whole_keep_their_digits(self):
        """Single precision, and what moves 1e-9 of the whole: the difference of the lengths would be rounding alone."""
        draws = np.random.default_rng(9)
        after = draws.choice([-1, 1], 50) * (1 + draws.random(50))
        pieces = 1e-9 * (draws.integers(-3, 9, 50))
        exact = max(0.0, float(np.sign(after) @ pieces))
        found = scores.contributions(torch.tensor(after, dtype=torch.float32), torch.tensor(pieces, dtype=torch.float32))
        self.assertAlmostEqual(float(found), exact, delta=1e-6 * exact)
        self.assertGreater(exact, 0)
        # Beyond the whole, and of nothing: |3| - |3 - 5| = 1, |0| - |0 - 5| < 0.
        self.assertEqual(float(scores.contributions(torch.tensor([3.0, -3.0]), torch.tensor([5.0, -5.0]))), 2)
        self.assertEqual(float(scores.contributions(torch.tensor([3.0, 0.0, 0.0]), torch.tensor([5.0, 5.0, -5.0]))), 0)

    def test_texts_together_are_texts_alone(self):
        model = small_model()
        ids = torch.tensor([[1, 5, 5, 9, 0, 3], [1, 2, 7, 7, 10, 4]])
        targets, means = next_tokens(ids), games.mean_outputs(model, [ids])
        both = scores.measure(model, ids, targets, means).get()
        for s in range(2):
            alone = scores.measure(model, ids[s : s + 1], targets[s : s + 1], means, seed=1 + s).get()
            for name, values in alone.items():
                np.testing.assert_allclose(both[name][:, s], values[:, 0], rtol=1e-10, atol=1e-12, err_msg=name)

    def test_structure_on_a_device_is_that_of_the_cpu(self):
        """All games at once against one after the other: on the CPU, and on the GPU if there is one."""
        for device in ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",):
            self.check_structure_on(device)

    def check_structure_on(self, device):
        def there(array):
            return torch.tensor(array, device=device)

        rng = np.random.default_rng(2)
        attention = np.tril(rng.random((4, 9, 9)))
        attention /= attention.sum(-1, keepdims=True)
        norm, contribution = attention * rng.random((4, 1, 9)), attention**2
        contribution[:2, 5] = 0
        for orders in (None, 6):
            expected = structure.of_text(attention, np.array([0.4, 0.1, 0.2, 0.3]), norm, contribution, 1, orders)
            found = structure.of_text(there(attention), np.array([0.4, 0.1, 0.2, 0.3]), there(norm), there(contribution), 1, orders, device)
            self.assertEqual(set(found), set(expected))
            for name, values in expected.items():
                np.testing.assert_allclose(found[name], values, rtol=1e-9, atol=1e-11, err_msg=name)
        sets = games.all_subsets(4)
        whole = structure.values_on_device(there(np.stack([norm, contribution])), sets, device)
        np.testing.assert_array_equal(structure.values_on_device(there(np.stack([norm, contribution])), sets, device, most=500), whole)

    def test_shares_sum_to_one_with_the_residual(self):
        draws = torch.Generator().manual_seed(3)
        parts = [scores.normalised(torch.rand(4, 7, 7, generator=draws, dtype=torch.float64).tril(), torch.rand(7, generator=draws, dtype=torch.float64))
                 for _ in range(3)]
        within, through = scores.shares([edges for edges, _ in parts], [residual for _, residual in parts])
        # By matrices: what reaches the sinks from each token after the layer.
        stack = [edges.sum(0) + torch.diag(residual) for edges, residual in parts]
        u = torch.full((7,), 1 / 7, dtype=torch.float64)
        after = [u @ stack[2] @ stack[1], u @ stack[2], u]
        for layer, (edges, residual) in enumerate(parts):
            torch.testing.assert_close(through[layer], torch.einsum("i,hij->h", after[layer], edges))
            self.assertAlmostEqual(float(through[layer].sum() + after[layer] @ residual), 1)
            self.assertAlmostEqual(float(within[layer].sum() + residual.mean()), 1)

    def test_gradients_are_differences_of_the_loss(self):
        model = small_model()
        ids = torch.tensor([[1, 5, 5, 9, 0, 3], [1, 2, 7, 7, 10, 4]])
        targets = next_tokens(ids)
        found = scores.gradients(model, ids, targets)["saved_gradient"]
        for layer, head in ((0, 1), (2, 3)):
            step, width = 1e-6, model.blocks[0].width
            losses = []
            for scale in (1 + step, 1 - step):
                weights = dict(model.weights, wo=model.weights["wo"].clone())
                weights["wo"][layer][:, head * width : (head + 1) * width] *= scale
                losses.append(Decoder(model.shape, weights, begin=1).loss(ids, targets).sum(1) / 5)
            np.testing.assert_allclose(found[layer, :, head], -(losses[0] - losses[1]) / (2 * step), rtol=1e-6, atol=1e-9)

    def test_games_of_edges_are_those_of_heads_where_rows_have_one_total(self):
        """Edges w_h A_h have the rows' totals w_h: their games are those of sg.heads with weights w."""
        import synergraph as sg

        rng = np.random.default_rng(2)
        attention = np.tril(rng.random((4, 9, 9)))
        attention /= attention.sum(-1, keepdims=True)
        weights = np.array([0.4, 0.1, 0.2, 0.3])
        table = structure.edge_games(attention * weights[:, None, None])
        result = sg.heads(attention, weights=weights, weight_samples=0)
        np.testing.assert_allclose(games.shapley(table).T, [result.fidelity["shapley"], result.speed["shapley"]], atol=1e-10)
        np.testing.assert_allclose(statistics.upper(games.interactions(table)[..., 0]), statistics.upper(result.fidelity["pairs"]), atol=1e-10)

    def test_structure_of_a_text_is_that_of_sg_heads(self):
        import synergraph as sg

        rng = np.random.default_rng(3)
        attention = np.tril(rng.random((3, 7, 7)))
        attention /= attention.sum(-1, keepdims=True)
        weights = np.array([0.5, 2.0, 1.0])
        found = structure.of_text(attention, weights, attention, attention, 1)
        result = sg.heads(attention, weights=weights, weight_samples=0, null_samples=0)
        for name, part in (("fidelity", result.fidelity), ("speed", result.speed)):
            np.testing.assert_allclose(found[f"{name}_shapley"], part["shapley"], rtol=1e-9)
            np.testing.assert_allclose(statistics.upper(found[f"pairs_{name}"]), statistics.upper(part["pairs"]), atol=1e-10)
            np.testing.assert_allclose(found[f"subsets_{name}"][[1, 2, 4, 7]], [*part["alone"], part["all"]], rtol=1e-9)

    def test_permuted_rows_keep_their_weights(self):
        attention = np.tril(np.random.default_rng(1).random((3, 6, 6)))
        found = structure.permuted_rows(attention, 1)
        np.testing.assert_array_equal(np.sort(found), np.sort(attention))
        np.testing.assert_array_equal(found, np.tril(found))
        self.assertFalse((found == attention).all())

    def test_sampled_structure_is_near_the_exact(self):
        rng = np.random.default_rng(2)
        attention = np.tril(rng.random((4, 9, 9)))
        attention /= attention.sum(-1, keepdims=True)
        exact = structure.of_text(attention, np.ones(4), attention, attention**2, 1)
        sampled = structure.of_text(attention, np.ones(4), attention, attention**2, 1, orders=200)
        self.assertEqual(set(sampled), {name for name in exact if not name.startswith(("pairs_", "subsets_"))})
        for name, value in sampled.items():
            np.testing.assert_allclose(value, exact[name], atol=0.05)
            np.testing.assert_allclose(value.sum(), exact[name].sum(), atol=1e-9)

    def test_shares_of_whole_outputs_sum_to_one(self):
        outputs, before = torch.rand(2, 3, 5, 7, dtype=torch.float64), torch.rand(2, 5, 7, dtype=torch.float64)
        found = scores.whole_contribution(outputs, before + outputs.sum(1))
        torch.testing.assert_close(found.sum(1), torch.ones(2, dtype=torch.float64))
        # Of positive numbers the head's contribution is its sum.
        by_hand = (outputs.sum(-1) / outputs.sum((1, 3))[:, None]).mean(-1)
        torch.testing.assert_close(found, by_hand)


class Command(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.model = self.path("model.bin")
        write_llama2c(self.model, small_model())

    def tearDown(self):
        self.folder.cleanup()

    def path(self, *names):
        return os.path.join(self.folder.name, *names)

    def run_script(self, *arguments):
        return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True)

    def measure(self, out, *more):
        return self.run_script("measure", self.model, "--name", "small", "--samples", "8", "--tokens", "10", "--out", self.path(out), *more)

    def contents(self, out):
        found = {}
        for name in sorted(os.listdir(self.path(out, "small"))):
            if name.endswith(".npz"):
                with np.load(self.path(out, "small", name)) as file:
                    found[name] = {key: file[key].tobytes() for key in file.files}  # bytes: some numbers are NaN
        return found

    def test_a_killed_run_continues_to_the_same_results(self):
        done = self.measure("whole")
        self.assertEqual(done.returncode, 0, done.stderr)
        whole = self.contents("whole")
        self.assertEqual(len(whole), 1 + 2 * (2 + 3 * 2))
        process = subprocess.Popen([sys.executable, SCRIPT, "measure", self.model, "--name", "small", "--samples", "8", "--tokens", "10", "--out",
                                    self.path("cut")], stderr=subprocess.DEVNULL)
        limit = time.monotonic() + 300
        while process.poll() is None and time.monotonic() < limit:
            if os.path.isdir(self.path("cut", "small")) and len(os.listdir(self.path("cut", "small"))) > 4:
                process.send_signal(signal.SIGKILL)
                break
            time.sleep(0.005)
        process.wait()
        self.assertEqual(self.measure("cut").returncode, 0)
        self.assertTrue(self.contents("cut") == whole)
        other = self.measure("cut", "--seed", "2")
        self.assertEqual(other.returncode, 1)
        self.assertIn("holds results of another seed", other.stderr)
        with open(self.path("cut", "small", "scores-0.npz"), "r+b") as file:
            file.truncate(100)
        broken = self.measure("cut")
        self.assertEqual((broken.returncode, broken.stderr.count("\n")), (1, 1))
        self.assertIn("scores-0.npz: not a result of this study", broken.stderr)

    def test_report(self):
        self.assertEqual(self.measure("out").returncode, 0)
        sampled = self.run_script("measure", self.model, "--name", "sampled", "--samples", "8", "--tokens", "10", "--exact-heads", "3", "--orders", "24",
                                  "--out", self.path("out"))
        self.assertEqual(sampled.returncode, 0, sampled.stderr)
        done = self.run_script("report", "--out", self.path("out"), "--results", self.path("tables"), "--resamples", "50")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("tables", "correlations.csv")) as file:
            rows = [line.split(",") for line in file.read().splitlines()]
        self.assertEqual({row[0] for row in rows[1:]}, {"small", "sampled", "language models"})
        one = results.Measured(results.of_folder(self.path("out", "small")))
        found = {(row[0], row[1], row[2]): float(row[4]) for row in rows[1:]}
        expected = np.mean([statistics.spearman(a, b) for a, b in zip(one.scores("contribution", "zero"), one.needed("zero"))])
        self.assertAlmostEqual(found["small", "zero", "contribution"], expected, places=3)
        # 24 of 24 orders' sampled values are near the exact ones: both are of the same texts.
        other = results.Measured(results.of_folder(self.path("out", "sampled")))
        self.assertGreater(np.corrcoef(one.needed("mean").ravel(), other.needed("mean").ravel())[0, 1], 0.9)
        kept = report.kept_rows({"small": [one]}, 50)
        self.assertTrue(all(row["keep_3"] <= next(r for r in kept if r["order"] == "best subset" and r["ablation"] == row["ablation"])["keep_3"] + 1e-12
                            for row in kept if row["value_of_all"] > 0))

    def test_the_page_is_that_of_the_tables(self):
        docs = os.path.join(os.path.dirname(SCRIPT), "..", "docs")
        others = [os.path.join(docs, "..", "README.md"), os.path.join(docs, "heads.md"), os.path.join(docs, "start.md")]
        copies = [self.path(os.path.basename(other)) for other in others]
        for other, copied in zip(others, copies):
            with open(other, encoding="utf-8") as kept, open(copied, "w", encoding="utf-8") as file:
                file.write(re.sub(r"(<!-- validity: \w+ -->).*?(<!-- end)", r"\1 7 of 9 \2" if "heads" not in other else "\\1\n7 of 9\n\\2", kept.read(), flags=re.DOTALL))
        done = self.run_script("page", "--results", os.path.join(docs, "results", "validity"), "--out", self.path("page.md"), "--said-in", *copies)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for mine, theirs in zip([self.path("page.md"), *copies], [os.path.join(docs, "validity.md"), *others]):
            with open(mine, encoding="utf-8") as made, open(theirs, encoding="utf-8") as kept:
                self.assertEqual(made.read(), kept.read())
        done = self.run_script("page", "--results", os.path.join(docs, "results", "validity"), "--out", self.path("page.md"), "--said-in", SCRIPT)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)

    def test_paragraphs_are_filled_and_tables_are_not(self):
        text = "# A heading\n\n" + "word " * 60 + "\n\n- " + "item " * 50 + "\n- next\n\n| a | b |\n| --- | --- |\n\n```sh\nas  it\n\nis\n```\n"
        lines = page.filled(text).splitlines()
        self.assertLessEqual(max(len(line) for line in lines), page.WIDTH)
        for kept in ("# A heading", "- next", "| a | b |", "as  it", "is", "```"):
            self.assertIn(kept, lines)
        self.assertEqual([line[:2] for line in lines if "item" in line], ["- ", "  "])
        self.assertEqual(page.two(-0.004), "0.00")

    def test_checkpoints_are_evaluated_as_by_the_program(self):
        run = self.path("run")
        subprocess.run([PROGRAM, "train", "--task", "cycle", "--heads", "2", "--layers", "2", "--width", "8", "--hidden", "8", "--vocabulary", "9",
                        "--length", "6", "--epochs", "30", "--sequences", "100", "--device", "cpu", "--quiet", "--out", run], check=True,
                       capture_output=True)
        checkpoint = os.path.join(run, "model.safetensors")
        done = self.run_script("measure", checkpoint, "--task", "cycle", "--samples", "8", "--name", "toy", "--out", self.path("out"))
        self.assertEqual(done.returncode, 0, done.stderr)
        with np.load(self.path("out", "toy", "texts.npz")) as file:
            ids, targets = file["ids"], file["targets"]
        np.testing.assert_array_equal(targets, np.roll(ids, 1, 1))
        np.save(self.path("tokens.npy"), ids.astype(np.int32))
        shown = subprocess.run([PROGRAM, "analyze", checkpoint, "--task", "cycle", "--tokens", self.path("tokens.npy"), "--quiet", "--json", "-"],
                               check=True, capture_output=True, text=True)
        task = json.loads(shown.stdout)["task"]
        toy = results.Measured(results.of_folder(self.path("out", "toy")))
        self.assertAlmostEqual(toy.control("intact", 0), task["loss"], delta=1e-5 * task["loss"])
        self.assertAlmostEqual(toy.control("intact", 1), task["accuracy"], places=9)
        self.assertAlmostEqual(toy.control("zero", 0), task["without_attention"]["loss"], delta=1e-5 * task["loss"])
        # What `heads` begins with is the study's L1 contribution.
        shown = subprocess.run([PROGRAM, "heads", checkpoint, "--task", "cycle", "--tokens", self.path("tokens.npy"), "--quiet", "--json", "-"],
                               check=True, capture_output=True, text=True)
        heads = json.loads(shown.stdout)
        np.testing.assert_allclose([layer["moved"] for layer in heads["layers"]], toy.scores("contribution", "zero"), rtol=1e-4)
        self.assertTrue(heads["summary"][0].startswith("most is moved (L1 contribution) by"), heads["summary"])

    def test_all_subsets_by_the_library_are_those_of_plain_games(self):
        """`validity.py wide` against tables of all subsets by PyTorch, and against the structure of each text."""
        cell = self.path("study", "cells", "00", "majority-4-heads-seed-3-0")
        subprocess.run([PROGRAM, "train", "--task", "majority", "--heads", "4", "--layers", "2", "--width", "8", "--hidden", "8", "--vocabulary", "9",
                        "--length", "7", "--epochs", "4", "--sequences", "100", "--device", "cpu", "--quiet", "--out", cell], check=True,
                       capture_output=True)
        run = ("wide", self.path("study"), "--samples", "3", "--orders", "6", "--out", self.path("wide"))
        done = self.run_script(*run)
        self.assertEqual(done.returncode, 0, done.stderr)
        settings, found = wide.read(self.path("wide", "majority-4-3.npz"))
        self.assertEqual((settings["task"], settings["heads"], settings["trained"]), ("majority", 4, 3))
        model = readers.read_model(os.path.join(cell, "model.safetensors"))
        ids, targets = texts.task_sequences(model, "majority", 6, 1 + 3)
        halves = (ids[:3], targets[:3]), (ids[3:], targets[3:])
        learned = [block.projection().double().flatten(1).norm(dim=1).numpy() for block in model.blocks]
        orders = games.random_orders(4, 3, 4)
        x = model.embed(halves[0][0])
        for layer, block in enumerate(model.blocks):
            attention = block.attend(x)[0].double().numpy()
            for name in ("fidelity", "speed", "permuted_fidelity"):
                # The edges of these games need no values.
                pairs = [structure.of_text(text, learned[layer], text, text, 4 + 1000 * layer + k)[f"pairs_{name}"] for k, text in enumerate(attention)]
                np.testing.assert_allclose(statistics.upper(found["structure/" + name][layer]), statistics.upper(np.mean(pairs, 0)), rtol=1e-4, atol=1e-7)
            x = block.feed_forward(x + block.attention_output(*block.attend(x)[:2]))
            for kind in games.ABLATIONS:
                tables = []
                for some in halves:
                    means = games.mean_outputs(model, [some[0]])[layer]
                    losses = wide.mean_losses(model, *some, layer, means if kind == "mean" else torch.zeros_like(means), games.all_subsets(4), 512)
                    tables.append(losses[0] - losses)
                table, other = tables
                close = {"rtol": 1e-4, "atol": 1e-5}
                np.testing.assert_allclose(found[kind + "/shapley"][layer], games.shapley(table), **close)
                np.testing.assert_allclose(statistics.upper(found[kind + "/pairs"][layer]), statistics.upper(games.interactions(table)), **close)
                np.testing.assert_allclose(found[kind + "/best"][layer][1:-1], statistics.best_by_size(table), **close)
                np.testing.assert_allclose(found[kind + "/kept/best subset of other texts"][layer][1:-1], statistics.best_by_size(table, other), **close)
                by_shapley = np.argsort(-games.shapley(table), kind="stable")
                np.testing.assert_allclose(found[kind + "/kept/loss_shapley"][layer][1:-1], statistics.value_by_order(other, by_shapley), **close)
                values = table[wide.first_heads(orders) @ (1 << np.arange(4))].reshape(6, 5)
                np.testing.assert_allclose(found[kind + "/sampled"][layer], games.shapley_of_orders(orders, values)[0], **close)
        before = os.stat(self.path("wide", "majority-4-3.npz")).st_mtime_ns
        self.assertEqual(self.run_script(*run).returncode, 0)
        self.assertEqual(os.stat(self.path("wide", "majority-4-3.npz")).st_mtime_ns, before)
        done = self.run_script(*run, "--seed", "2")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        self.assertIn("holds results of another seed", done.stderr)
        done = self.run_script("wide-report", "--out", self.path("wide"), "--results", self.path("tables"), "--resamples", "50")
        self.assertEqual(done.returncode, 0, done.stderr)
        groups = wide_report.groups_of(wide_report.models_in(self.path("wide")))
        row = next(one for one in wide_report.pair_rows(groups, 50) if one["pairs"] == "speed" and one["ablation"] == "zero")
        expected = [statistics.spearman(statistics.upper(a), statistics.upper(b)) for a, b in zip(found["structure/speed"], found["zero/pairs"])]
        self.assertAlmostEqual(row["correlation"], np.mean(expected))
        kept = {one["order"]: one for one in wide_report.kept_rows(groups, 50) if one["ablation"] == "zero" and one["models"] == "majority"}
        self.assertAlmostEqual(kept["best subset"]["keep_2"], found["zero/best"][:, 2].sum() / found["zero/all"].sum())

    def test_all_orders_have_no_error(self):
        """Sampled orders that are all orders give the exact values: no error, and the same ranks."""
        rng = np.random.default_rng(5)
        exact = games.shapley(rng.random(8))
        arrays = {f"zero/{name}": np.array([values]) for name, values in (("shapley", exact), ("sampled", exact), ("sampled_error", 0 * exact))}
        settings = {"task": "recall", "heads": 3, "layers": 1, "trained": 1, "samples": 4, "orders": 6, "ablations": ["zero"]}
        row = wide_report.order_rows(wide_report.groups_of([(settings, arrays)]))[0]
        self.assertAlmostEqual(row["rank_correlation"], 1)
        self.assertEqual((row["error_over_spread"], row["within_one"], row["most_needed"]), (0, 1, 1))
        worse = arrays | {"zero/sampled": arrays["zero/sampled"][:, ::-1]}
        self.assertGreater(wide_report.order_rows(wide_report.groups_of([(settings, worse)]))[0]["error_over_spread"], 0)

    def test_what_is_wrong_is_said_in_one_line(self):
        for arguments, message in (((self.model, "--tokens", "30"), "takes at most 20 tokens"), (("none.bin",), "none.bin: No such file"),
                                   ((self.model, "--task", "copy"), "--task is for checkpoints"),
                                   ((self.model, "--tokens", "9", "--tokenizer", "none.json"), "none.json: not a tokenizer")):
            done = self.run_script("measure", *arguments, "--out", self.path("wrong"))
            self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
            self.assertIn(message, done.stderr)
        done = self.run_script("report", "--out", self.path("empty"))
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
