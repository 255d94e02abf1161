"""Which heads the loss needs: against loops that switch heads off by hand, and what is left of the model afterwards."""

import copy
import itertools
import math
import os
import pathlib
import pickle
import random
import signal
import threading

import numpy as np
import pytest

import synergraph as sg

torch = pytest.importorskip("torch")
import live_models  # noqa: E402
import live_models_448  # noqa: E402
from torch import nn  # noqa: E402

VOCABULARY, TOKENS, SAMPLES = 32, 10, 4
IDS = torch.randint(VOCABULARY, (SAMPLES, TOKENS), generator=torch.Generator().manual_seed(5))
MASK = torch.ones(SAMPLES, TOKENS, dtype=torch.long)
MASK[1, :3] = 0
MASK[2, 7:] = 0
PADDED = {"input_ids": IDS, "attention_mask": MASK}


class Language(nn.Module):
    """Logits from the stand-in decoders of live models."""

    def __init__(self, attention=live_models.Attention, **options):
        super().__init__()
        self.body = live_models.Decoder(attention, **options)
        self.head = nn.Linear(self.body.config.size, VOCABULARY)

    def forward(self, input_ids, attention_mask=None):
        return {"logits": self.head(self.body(input_ids, attention_mask)[0])}


class OwnAttention(nn.Module):
    """Returns no weights; says its number of heads."""

    def __init__(self, size, heads):
        super().__init__()
        self.num_heads = heads
        self.qkv, self.proj = nn.Linear(size, 3 * size), nn.Linear(size, size)

    def forward(self, states):
        samples, tokens, size = states.shape
        query, key, value = (part.view(samples, tokens, self.num_heads, -1).transpose(1, 2) for part in self.qkv(states).chunk(3, -1))
        scores = (query @ key.transpose(2, 3)).masked_fill(torch.ones(tokens, tokens, dtype=torch.bool).triu(1), -1e30)
        return self.proj((torch.softmax(scores, -1) @ value).transpose(1, 2).reshape(samples, tokens, size))


class Multihead(nn.Module):
    """nn.MultiheadAttention as attention of a block."""

    def __init__(self, size, heads, **options):
        super().__init__()
        self.inner = nn.MultiheadAttention(size, heads, **{"batch_first": True, **options})

    def forward(self, states):
        mask = torch.ones(states.shape[1], states.shape[1], dtype=torch.bool).triu(1)
        if not self.inner.batch_first:
            states = states.transpose(0, 1)
        found = self.inner(states, states, states, attn_mask=mask, need_weights=False)[0]
        return found if self.inner.batch_first else found.transpose(0, 1)


class Stack(nn.Module):
    """Blocks of attention and a little more, from an attention's class."""

    def __init__(self, attention, heads=4, size=16, layers=2, encoder=False, seed=0, **options):
        super().__init__()
        torch.manual_seed(seed)
        self.embedding = nn.Embedding(VOCABULARY, size)
        if encoder:
            self.layers = nn.ModuleList(nn.TransformerEncoderLayer(size, heads, 24, batch_first=True, **options) for _ in range(layers))
        else:
            self.layers = nn.ModuleList(nn.ModuleDict({"attention": attention(size, heads, **options), "mlp": nn.Linear(size, size)})
                                        for _ in range(layers))
            for layer in self.layers:
                layer.forward = None
        self.encoder = encoder
        self.head = nn.Linear(size, VOCABULARY)

    def forward(self, input_ids):
        states = self.embedding(input_ids)
        for layer in self.layers:
            if self.encoder:
                states = layer(states, torch.ones(input_ids.shape[1], input_ids.shape[1], dtype=torch.bool).triu(1))
            else:
                states = states + layer["attention"](states)
                states = states + torch.tanh(layer["mlp"](states))
        return self.head(states)


class Block(nn.Module):
    """What Llama's blocks are like: a module that is called, with attention and more in it."""

    def __init__(self, size, heads):
        super().__init__()
        self.attention, self.mlp = OwnAttention(size, heads), nn.Linear(size, size)
        self.calls = 0

    def forward(self, states):
        self.calls += 1
        states = states + self.attention(states)
        return states + torch.tanh(self.mlp(states))


class Blocks(nn.Module):
    def __init__(self, heads=4, size=16, layers=3, seed=0):
        super().__init__()
        torch.manual_seed(seed)
        self.embedding, self.head = nn.Embedding(VOCABULARY, size), nn.Linear(size, VOCABULARY)
        self.blocks = nn.ModuleList(Block(size, heads) for _ in range(layers))

    def forward(self, input_ids):
        states = self.embedding(input_ids)
        for block in self.blocks:
            states = block(states)
        return self.head(states)


def loss_by_hand(model, inputs=None):
    """One sample's and one token's loss at a time."""
    inputs = PADDED if inputs is None else inputs
    mask = inputs.get("attention_mask", torch.ones_like(inputs["input_ids"]))
    with torch.no_grad():
        output = model(**inputs)
    logits = output["logits"] if isinstance(output, dict) else output
    losses = []
    for sample, ids in enumerate(inputs["input_ids"]):
        places = [t for t in range(1, len(ids)) if mask[sample, t] and mask[sample, t - 1]]
        scores = [torch.log_softmax(logits[sample, t - 1].double(), 0)[ids[t]].item() for t in places]
        losses.append(-sum(scores) / len(scores))
    return np.array(losses)


def table_by_hand(model, projection, heads, kind, inputs=None):
    """v(S) of every set of the heads whose outputs a projection mixes: (sets, samples)."""
    inputs = PADDED if inputs is None else inputs
    seen = []
    handle = projection.register_forward_pre_hook(lambda module, arguments: seen.append(arguments[0]))
    loss_by_hand(model, inputs)
    handle.remove()
    mask = inputs.get("attention_mask", torch.ones_like(inputs["input_ids"])).bool()
    mean = seen[0][mask].mean(0)
    width = seen[0].shape[-1] // heads
    table = []
    for chosen in range(2 ** heads):
        def off(module, arguments, chosen=chosen):
            changed = arguments[0].clone()
            for head in range(heads):
                if not chosen >> head & 1:
                    part = slice(head * width, (head + 1) * width)
                    changed[..., part] = 0 if kind == "zero" else mean[part]
            return (changed,)

        handle = projection.register_forward_pre_hook(off)
        table.append(loss_by_hand(model, inputs))
        handle.remove()
    return table[0] - np.array(table)


def shapley_by_hand(table):
    heads = len(table).bit_length() - 1
    values = np.zeros((heads, table.shape[1]))
    for head, rest in itertools.product(range(heads), range(len(table))):
        if not rest >> head & 1:
            size = bin(rest).count("1")
            weight = math.factorial(size) * math.factorial(heads - size - 1) / math.factorial(heads)
            values[head] += weight * (table[rest | 1 << head] - table[rest])
    return values


def check_layer(result, layer, table, rtol=1e-12):
    """All indices of a layer against those of its table by hand."""
    heads = len(table).bit_length() - 1
    shapley, scale = shapley_by_hand(table), np.abs(table).max()
    samples = table.shape[1]
    all_heads = len(table) - 1
    compared = {
        "shapley": shapley.mean(1), "shapley_error": shapley.std(1, ddof=1) / samples ** 0.5,
        "alone": [table[1 << head].mean() for head in range(heads)],
        "dropped": [(table[-1] - table[all_heads & ~(1 << head)]).mean() for head in range(heads)],
        "banzhaf": [np.mean([(table[s | 1 << head] - table[s]).mean() for s in range(len(table)) if not s >> head & 1])
                    for head in range(heads)],
        "best": [max(table[s].mean() for s in range(len(table)) if bin(s).count("1") == size) for size in range(heads + 1)],
    }
    for name, expected in compared.items():
        np.testing.assert_allclose(result.loss[name][layer][:len(expected)], expected, rtol=rtol, atol=rtol * scale, err_msg=name)
    assert result.loss["all"][layer] == pytest.approx(table[-1].mean(), rel=rtol, abs=rtol * scale)
    assert result.loss["shapley"][layer].sum() == pytest.approx(result.loss["all"][layer], rel=1e-12, abs=1e-13)
    if heads > 1:
        pair = np.mean([(table[s | 3] - table[s | 1] - table[s | 2] + table[s]).mean() / math.comb(heads - 2, bin(s).count("1"))
                        for s in range(len(table)) if not s & 3]) * 2 ** (heads - 2) / (heads - 1)
        assert result.loss["pairs"][layer, 0, 1] == pytest.approx(pair, rel=max(rtol, 1e-10), abs=rtol * scale)


# ---- Against loops


@pytest.mark.parametrize("kind", ["mean", "zero"])
@pytest.mark.parametrize("options", [
    {}, {"implementation": "eager"}, {"implementation": "flash_attention_2"}, {"heads": 4, "key_heads": 1},
    {"implementation": "eager", "sinks": True, "softcap": 5.0, "window": 4}])
def test_models_of_transformers(options, kind):
    model = Language(**options).double()
    result = sg.ablate(model, PADDED, kind=kind)
    assert result.layers == ["body.layers.0", "body.layers.1"] and result.dims == ("layer",)
    for layer, module in enumerate(model.body.layers):
        check_layer(result, layer, table_by_hand(model, module.o_proj, 4, kind))
    np.testing.assert_allclose(result.control["intact"]["mean"], loss_by_hand(model).mean(), rtol=1e-12)


@pytest.mark.parametrize("kind", ["mean", "zero"])
def test_conv1d_of_transformers_448(kind):
    model = Language(live_models_448.Attention, key_heads=4, implementation="eager").double()
    result = sg.ablate(model, {"input_ids": IDS}, kind=kind)
    for layer, module in enumerate(model.body.layers):
        check_layer(result, layer, table_by_hand(model, module.c_proj, 4, kind, {"input_ids": IDS}))


@pytest.mark.parametrize("kind", ["mean", "zero"])
def test_own_modules(kind):
    model = Blocks().double()
    result = sg.ablate(model, IDS, kind=kind)
    assert result.layers == [f"blocks.{layer}.attention" for layer in range(3)]
    for layer, block in enumerate(model.blocks):
        check_layer(result, layer, table_by_hand(model, block.attention.proj, 4, kind, {"input_ids": IDS}))
    chosen = sg.ablate(model, IDS, kind=kind, layers="blocks.1", modules="blocks.1.attention")
    assert chosen.layers == ["blocks.1.attention"]
    np.testing.assert_allclose(chosen.loss["shapley"][0], result.loss["shapley"][1], rtol=1e-12)


def multihead_table(model, module, kind):
    """The same for MultiheadAttention, whose projection is no call: by its weights and bias. A head of output z adds W z."""
    weight, bias = module.out_proj.weight, module.out_proj.bias
    size, heads = weight.shape[0], module.num_heads
    width = size // heads
    identity = copy.deepcopy(model)
    place = [name for name, one in model.named_modules() if one is module][0]
    inner = dict(identity.named_modules())[place]
    seen = []
    with torch.no_grad():
        inner.out_proj.weight.copy_(torch.eye(size))
        if bias is not None:
            inner.out_proj.bias.zero_()
    inner.register_forward_hook(lambda one, arguments, output: seen.append(output[0]))
    identity.train()  # not computed all at once
    for one in identity.modules():
        one.dropout = 0.0 if isinstance(one, nn.MultiheadAttention) else getattr(one, "dropout", None)
    loss_by_hand(identity, {"input_ids": IDS})
    mean = seen[0].reshape(-1, size).mean(0)
    changed = copy.deepcopy(model)
    other = dict(changed.named_modules())[place].out_proj
    if other.bias is None:
        other.bias = nn.Parameter(torch.zeros(size, dtype=weight.dtype))
    table = []
    for chosen in range(2 ** heads):
        off = torch.tensor([not chosen >> column // width & 1 for column in range(size)])
        with torch.no_grad():
            other.weight.copy_(weight.masked_fill(off, 0))
            other.bias.copy_((0 if bias is None else bias) + (weight[:, off] @ mean[off] if kind == "mean" else 0))
        table.append(loss_by_hand(changed, {"input_ids": IDS}))
    return table[0] - np.array(table)


@pytest.mark.parametrize("kind", ["mean", "zero"])
@pytest.mark.parametrize("options", [{}, {"batch_first": False}, {"bias": False}])
def test_multihead_attention(options, kind):
    model = Stack(Multihead, **options).double().eval()
    result = sg.ablate(model, IDS, kind=kind)
    assert result.layers == ["layers.0.attention.inner", "layers.1.attention.inner"]
    for layer, block in enumerate(model.layers):
        check_layer(result, layer, multihead_table(model, block["attention"].inner, kind), rtol=1e-11)


@pytest.mark.parametrize("kind", ["mean", "zero"])
def test_encoder_layers(kind):
    model = Stack(None, encoder=True, dropout=0.0).double().eval()
    result = sg.ablate(model, IDS, kind=kind)
    for layer, block in enumerate(model.layers):
        check_layer(result, layer, multihead_table(model, block.self_attn, kind), rtol=1e-11)


def test_cross_attention():
    torch.manual_seed(0)
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 12, dropout=0.0, batch_first=True), 1).double().eval()
    inputs = {"tgt": torch.randn(3, 4, 8).double(), "memory": torch.randn(3, 6, 8).double()}

    def loss(output, given):
        return output[:, 0, 0] ** 3

    result = sg.ablate(decoder, inputs, loss, kind="zero")
    assert result.layers == ["layers.0.self_attn", "layers.0.multihead_attn"]
    for layer, name in enumerate(("self_attn", "multihead_attn")):
        losses = []
        for chosen in range(4):
            changed = copy.deepcopy(decoder)
            with torch.no_grad():
                weight = getattr(changed.layers[0], name).out_proj.weight
                weight[:, [column for column in range(8) if not chosen >> column // 4 & 1]] = 0
                losses.append(loss(changed(**inputs), None).numpy())
        check_layer(result, layer, losses[0] - np.array(losses), rtol=1e-10)


def test_padding_of_encoders_is_left_out_of_means():
    torch.manual_seed(0)
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 12, dropout=0.0, batch_first=True), 1).double().eval()
    states, padding = torch.randn(3, 6, 8).double(), torch.zeros(3, 6, dtype=torch.bool)
    padding[1, 4:] = True

    def shapley(values):
        return sg.ablate(encoder, {"src": values, "src_key_padding_mask": padding}, lambda output, given: output[:, 0, 0] ** 3).loss["shapley"]

    other = torch.where(padding[..., None], states + 1, states)
    np.testing.assert_allclose(shapley(other), shapley(states), rtol=1e-9)


class Inner(nn.Module):
    """Attention by name, within one that has the projection."""

    def forward(self, query, key, value):
        return torch.softmax((query @ key.transpose(2, 3)).tril(), -1) @ value


class ScaledAttention(OwnAttention):
    def __init__(self, size, heads):
        super().__init__(size, heads)
        self.inner = type("InnerAttention", (Inner,), {})()

    def forward(self, states):
        query, key, value = (part.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for part in self.qkv(states).chunk(3, -1))
        return self.proj(self.inner(query, key, value).transpose(1, 2).flatten(2))


class BertLike(nn.Module):
    """The projection beside the attention, in a module whose class is named after attention, too."""

    class BertAttention(nn.Module):
        class SelfAttention(nn.Module):
            def __init__(self):
                super().__init__()
                self.num_attention_heads, self.value = 4, nn.Linear(16, 16)

            def forward(self, states):
                return torch.tanh(self.value(states.cumsum(1)))

        class Output(nn.Module):
            def __init__(self):
                super().__init__()
                self.dense = nn.Linear(16, 16)

            def forward(self, states):
                return self.dense(states)

        def __init__(self):
            super().__init__()
            self.self, self.output = self.SelfAttention(), self.Output()

        def forward(self, states):
            return states + self.output(self.self(states))

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.embedding, self.attention, self.head = nn.Embedding(VOCABULARY, 16), self.BertAttention(), nn.Linear(16, VOCABULARY)
        self.output = self.BertAttention.Output()  # of something else

    def forward(self, input_ids):
        states = self.attention(self.embedding(input_ids))
        return self.head(states + torch.tanh(self.output(states)))


def test_projections_beside_and_around_the_attention():
    model = BertLike().double()
    result = sg.ablate(model, IDS)
    assert result.layers == ["attention.self"]
    check_layer(result, 0, table_by_hand(model, model.attention.output.dense, 4, "mean", {"input_ids": IDS}))
    model = Blocks(layers=1).double()
    model.blocks[0].attention = ScaledAttention(16, 4).double()
    result = sg.ablate(model, IDS, lambda output, given: output[:, 0, 0])
    assert result.layers == ["blocks.0.attention"]


def test_attention_without_a_projection_is_left_out_with_a_warning():
    model = Blocks(layers=2).double()
    model.blocks[0].attention = type("PoolingAttention", (nn.Identity,), {})()
    with pytest.warns(UserWarning, match="1 layers are left out .blocks.0.attention.: PoolingAttention has no output projection"):
        result = sg.ablate(model, IDS)
    assert result.layers == ["blocks.1.attention"]
    with pytest.raises(sg.InputError, match="layer blocks.0.attention: PoolingAttention has no"):
        sg.ablate(model, IDS, modules=["blocks.0.attention", "blocks.1.attention"])


def test_encoder_layers_that_compute_all_at_once_call_their_attention():
    """Without a mask and in evaluation mode a TransformerEncoder computes everything in one call, its padding as nested tensors."""
    torch.manual_seed(0)
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 24, batch_first=True), 2).eval()
    states = torch.randn(3, 8, 16)
    padding = torch.zeros(3, 8, dtype=torch.bool)
    padding[1, 5:] = True

    def loss(output, inputs):
        return output[:, 0, 0] ** 3

    for inputs in ({"src": states}, {"src": states, "src_key_padding_mask": padding}):
        result = sg.ablate(encoder, inputs, loss)
        with torch.no_grad():
            expected = loss(encoder(**inputs), None).mean()
        np.testing.assert_allclose(result.control["intact"]["mean"], expected.item(), rtol=1e-5)
        assert np.abs(result.loss["shapley"]).min() > 0


def test_single_precision():
    model = Blocks()
    result = sg.ablate(model, IDS)
    for layer, block in enumerate(model.blocks):
        check_layer(result, layer, table_by_hand(model, block.attention.proj, 4, "mean", {"input_ids": IDS}), rtol=1e-5)


def test_a_module_that_runs_twice_is_two_layers():
    class Twice(Blocks):
        def forward(self, input_ids):
            states = self.embedding(input_ids)
            for block in (self.blocks[0], self.blocks[1], self.blocks[0]):
                states = block(states)
            return self.head(states)

    model = Twice(layers=2).double()
    result = sg.ablate(model, IDS, kind="zero")
    assert result.layers == ["blocks.0.attention", "blocks.1.attention", "blocks.0.attention#2"]
    check_layer(result, 1, table_by_hand(model, model.blocks[1].attention.proj, 4, "zero", {"input_ids": IDS}))
    calls = []

    def off(module, arguments):
        calls.append(0)
        return (torch.zeros_like(arguments[0]) if len(calls) % 2 == 0 else arguments[0],)

    handle = model.blocks[0].attention.proj.register_forward_pre_hook(off)
    without = loss_by_hand(model, {"input_ids": IDS})
    handle.remove()
    np.testing.assert_allclose(result.loss["all"][2], (without - loss_by_hand(model, {"input_ids": IDS})).mean(), rtol=1e-11)


# ---- Identities


class Functional:
    """The forward pass of a `Stack`, sample by sample and head by head, from its weights alone. Heads in `off`, {layer: heads}, give what
    `instead`, {layer: (heads, width)}, says; `seen` collects the outputs of all heads."""

    def __init__(self, model, heads):
        self.model, self.heads, self.seen = model, heads, {}

    def logits(self, ids, off=None, instead=None):
        states = self.model.embedding.weight[ids]
        for place, layer in enumerate(self.model.layers):
            attention = layer["attention"]
            own = isinstance(attention, OwnAttention)
            weight, bias = (attention.qkv.weight, attention.qkv.bias) if own else (attention.inner.in_proj_weight, attention.inner.in_proj_bias)
            last = attention.proj if own else attention.inner.out_proj
            mixed = []
            for head in range(self.heads):
                width = states.shape[1] // self.heads
                query, key, value = ((states @ weight.T + bias)[:, part * states.shape[1] + head * width:][:, :width] for part in range(3))
                # OwnAttention does not scale its scores.
                scores = query @ key.T / (1 if own else width ** 0.5)
                shares = torch.softmax(scores.masked_fill(torch.ones(len(ids), len(ids), dtype=torch.bool).triu(1), -math.inf), -1)
                output = shares @ value
                self.seen.setdefault(place, {}).setdefault(head, []).append(output)
                mixed.append(instead[place][head].expand_as(output) if off and head in off.get(place, ()) else output)
            states = states + torch.cat(mixed, 1) @ last.weight.T + last.bias
            states = states + torch.tanh(layer["mlp"](states))
        return self.model.head(states)


@pytest.mark.parametrize("loss", ["cross-entropy", "accuracy"])
@pytest.mark.parametrize("kind", ["mean", "zero"])
@pytest.mark.parametrize("attention", [OwnAttention, Multihead])
def test_a_forward_pass_of_plain_functions(attention, kind, loss):
    """Batches of different lengths, two layers: values of all samples, the control, and errors, from weights and definitions alone."""
    heads, layers = 3, 2
    model = Stack(attention, heads=heads, size=12, layers=layers, seed=4).double().eval()
    inputs = [torch.randint(VOCABULARY, (samples, tokens), generator=torch.Generator().manual_seed(tokens)) for samples, tokens in ((2, 7), (3, 4))]
    texts = [text for batch in inputs for text in batch]

    @torch.no_grad()
    def losses(off=None, instead=None):
        found = []
        for ids in texts:
            scores = torch.log_softmax(Functional(model, heads).logits(ids, off, instead)[:-1], -1)
            found.append((-scores[torch.arange(len(ids) - 1), ids[1:]] if loss == "cross-entropy" else (scores.argmax(-1) != ids[1:]).double()).mean().item())
        return np.array(found)

    with torch.no_grad():
        observer = Functional(model, heads)
        for ids in texts:
            observer.logits(ids)
    instead = {layer: [torch.cat(outputs).mean(0) * (kind == "mean") for outputs in observer.seen[layer].values()] for layer in range(layers)}
    result = sg.ablate(model, inputs, loss, kind=kind)
    every = {layer: set(range(heads)) for layer in range(layers)}
    intact, without = losses(), losses(every, instead)
    assert result.control["intact"]["mean"] == pytest.approx(intact.mean(), rel=1e-10)
    assert result.control["needed"]["mean"] == pytest.approx((without - intact).mean(), rel=1e-9, abs=1e-12)
    assert result.control["needed"]["error"] == pytest.approx((without - intact).std(ddof=1) / len(texts) ** 0.5, rel=1e-8)
    for layer in range(layers):
        table = np.array([losses({layer: {head for head in range(heads) if not chosen >> head & 1}}, instead) for chosen in range(1 << heads)])
        check_layer(result, layer, table[0] - table, rtol=1e-9)


def test_heads_without_effect_are_worth_exactly_nothing():
    model = Blocks()
    with torch.no_grad():
        for parameter in (model.blocks[1].attention.qkv.weight, model.blocks[1].attention.qkv.bias):
            parameter[2 * 16 + 4:2 * 16 + 8] = 0  # no values of head 1
        model.blocks[1].attention.proj.weight[:, 8:12] = 0  # what head 2 gives is not read
        model.blocks[2].attention.proj.weight.zero_()
    for kind, options in itertools.product(("zero", "mean"), ({}, {"exact_heads": 2, "pairs": True})):
        result = sg.ablate(model, IDS, kind=kind, **options)
        for index in ("shapley", "shapley_error", "alone", "dropped"):
            assert (result.loss[index][1, 1:3] == 0).all(), index
            assert (result.loss[index][2] == 0).all(), index
        assert (result.loss["shapley"][1, [0, 3]] != 0).all() and result.loss["all"][2] == 0
        assert result.loss["pairs"][1, 1, 2] == 0


def test_equal_heads_have_equal_values():
    model = Blocks().double()
    attention = model.blocks[0].attention
    with torch.no_grad():
        for part in range(3):
            begin = 16 * part
            for parameter in (attention.qkv.weight, attention.qkv.bias):
                parameter[begin + 12:begin + 16] = parameter[begin:begin + 4]
        attention.proj.weight[:, 12:16] = attention.proj.weight[:, 0:4]
    values = sg.ablate(model, IDS).loss["shapley"][0]
    assert values[3] == pytest.approx(values[0], rel=1e-11) and abs(values[1] - values[0]) > 1e-6


def test_the_control_switches_every_head_of_every_layer_off():
    model = Blocks().double()
    result = sg.ablate(model, IDS, kind="zero", layers=1)
    for block in model.blocks:
        block.attention.proj.register_forward_pre_hook(lambda module, arguments: (torch.zeros_like(arguments[0]),))
    without = loss_by_hand(model, {"input_ids": IDS})
    control = result.control
    assert control["name"] == "next-token cross-entropy"
    np.testing.assert_allclose(control["without_attention"]["mean"], without.mean(), rtol=1e-12)
    np.testing.assert_allclose(control["without_attention"]["error"], without.std(ddof=1) / SAMPLES ** 0.5, rtol=1e-10)
    np.testing.assert_allclose(control["needed"]["mean"], control["without_attention"]["mean"] - control["intact"]["mean"], rtol=1e-9)
    assert "with every head of every layer off: " in result.table() and "every head of every layer off" in result._repr_html_()


# ---- Sampled orders


def test_sampled_orders():
    model = Blocks(heads=6, size=24, layers=1, seed=3).double()
    exact = sg.ablate(model, IDS).loss
    sampled = sg.ablate(model, IDS, exact_heads=5, orders=600, precision=1e-9, pairs=True)
    loss = sampled.loss
    assert sampled["permutations"] == [600] and not sampled["precise"][0] and not sampled["exact"][0]
    assert (np.abs(loss["shapley"] - exact["shapley"]) < 5 * loss["shapley_error"]).all()
    assert np.abs(loss["shapley"] - exact["shapley"]).max() < 0.05 * np.abs(exact["shapley"]).max()
    # Samples differ more than orders do: the error of samples is in it.
    assert (loss["shapley_error"] >= 0.9 * exact["shapley_error"]).all()
    np.testing.assert_allclose(loss["shapley"].sum(), loss["all"][0], rtol=1e-12)
    for index in ("alone", "dropped", "all"):
        np.testing.assert_allclose(loss[index], exact[index], rtol=1e-12)
    np.testing.assert_allclose(loss["best"][0][[0, 1, 5, 6]], exact["best"][0][[0, 1, 5, 6]], rtol=1e-12, atol=1e-15)
    assert (loss["best"] <= exact["best"] + 1e-14).all()
    assert np.abs(loss["pairs"][0, 0, 1:] - exact["pairs"][0, 0, 1:]).max() < 0.1 * np.nanmax(np.abs(exact["pairs"]))
    again = sg.ablate(model, IDS, exact_heads=5, orders=600, precision=1e-9, pairs=True)
    assert again.to_json() == sampled.to_json()
    other = sg.ablate(model, IDS, exact_heads=5, orders=48, precision=1e-9, seed=1)
    assert (other.loss["shapley"] != loss["shapley"]).all() and other["permutations"] == [48]
    assert np.isnan(other.loss["pairs"]).all() and np.isnan(other.loss["banzhaf"]).all()


def test_one_sample_has_errors_of_orders_alone():
    model = Blocks(heads=6, size=24, layers=1)
    exact = sg.ablate(model, IDS[:1])
    assert np.isnan(exact.loss["shapley_error"]).all() and exact.summary[-1].startswith("one sample")
    sampled = sg.ablate(model, IDS[:1], exact_heads=4, precision=1e-9, orders=48)
    assert (sampled.loss["shapley_error"] > 0).all()


def test_sampling_stops_at_the_precision():
    model = Blocks(heads=6, size=24, layers=1)
    assert sg.ablate(model, IDS, exact_heads=4, precision=1.0, orders=10**6)["permutations"] == [48]  # the least: four times two orders a head


# ---- Inputs and losses


def test_inputs_of_any_kind():
    model = Blocks().double()
    expected = sg.ablate(model, IDS).loss
    loader = torch.utils.data.DataLoader(IDS, batch_size=3)
    for inputs in ({"input_ids": IDS}, (IDS,), [IDS[:1], IDS[1:]], [{"input_ids": one[None]} for one in IDS], loader, iter([IDS]),
                   IDS.numpy(), {"input_ids": IDS.numpy()}, torch.utils.data.DataLoader(torch.utils.data.TensorDataset(IDS), batch_size=3)):
        found = sg.ablate(model, inputs).loss
        for index in ("shapley", "shapley_error", "pairs"):
            np.testing.assert_allclose(found[index], expected[index], rtol=1e-9, atol=1e-13)
    texts = [IDS[:1, :6], IDS[1:2]]  # of several lengths
    assert sg.ablate(model, texts).to_dict()["layers"][0]["tokens"] == TOKENS


def test_labels_and_padding():
    model = Language().double()
    labels = IDS.clone()
    labels[0, 4:] = -100
    labels[1, :6] = -100
    found = sg.ablate(model, [PADDED]).control["intact"]["mean"]

    class Labelled(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, input_ids, attention_mask=None, labels=None):
            assert labels is None  # its own loss is not needed
            return self.model(input_ids, attention_mask)

    labelled = sg.ablate(Labelled(), {**PADDED, "labels": labels})
    with torch.no_grad():
        scores = -torch.log_softmax(model(**PADDED)["logits"], -1)
    counts = [[t for t in range(1, TOKENS) if MASK[s, t] and MASK[s, t - 1] and labels[s, t] != -100] for s in range(SAMPLES)]
    expected = np.mean([np.mean([scores[s, t - 1, IDS[s, t]].item() for t in places]) for s, places in enumerate(counts)])
    np.testing.assert_allclose(labelled.control["intact"]["mean"], expected, rtol=1e-12)
    assert abs(found - expected) > 1e-6
    # What stands in padding changes nothing, mean outputs neither.
    other = {**PADDED, "input_ids": torch.where(MASK == 1, IDS, (IDS + 7) % VOCABULARY)}
    np.testing.assert_allclose(sg.ablate(model, other).loss["shapley"], sg.ablate(model, PADDED).loss["shapley"], rtol=1e-8, atol=1e-12)


def last_token(output, inputs):
    """The loss of each sample's last token."""
    logits = output["logits"] if isinstance(output, dict) else output
    return -torch.log_softmax(logits[:, -2], -1)[torch.arange(len(logits)), inputs["input_ids"][:, -1]]


def test_losses_of_ones_own():
    model = Blocks().double()
    each = sg.ablate(model, {"input_ids": IDS}, last_token)
    assert each.control["name"] == "last_token"
    pooled = sg.ablate(model, {"input_ids": IDS}, lambda output, inputs: last_token(output, inputs).mean())
    np.testing.assert_allclose(pooled.loss["shapley"], each.loss["shapley"], rtol=1e-9, atol=1e-13)
    assert np.isnan(pooled.loss["shapley_error"]).all() and pooled.control["name"] == "loss"
    floats = sg.ablate(model, [{"input_ids": one[None]} for one in IDS], lambda output, inputs: float(last_token(output, inputs)))
    np.testing.assert_allclose(floats.loss["shapley_error"], each.loss["shapley_error"], rtol=1e-9)


def accuracy_by_hand(model, inputs):
    """The share of each sample's next tokens that are the model's first choice, one token at a time."""
    logits = model(**inputs)
    logits = logits["logits"] if isinstance(logits, dict) else logits
    mask = inputs.get("attention_mask", torch.ones_like(IDS))
    right = [[logits[s, t - 1].argmax() == IDS[s, t] for t in range(1, TOKENS) if mask[s, t] and mask[s, t - 1]] for s in range(SAMPLES)]
    return np.array([np.mean(one) for one in right])


@pytest.mark.parametrize("make, inputs", [(Blocks, {"input_ids": IDS}), (Language, PADDED)])
def test_accuracy_that_heads_win(make, inputs):
    model = make().double()
    model.head.weight.data *= 8  # first choices that heads change
    found = sg.ablate(model, inputs, loss="accuracy", kind="zero", layers=1)
    assert found.control["name"] == "share of wrong next tokens"
    with torch.no_grad():
        np.testing.assert_allclose(1 - found.control["intact"]["mean"], accuracy_by_hand(model, inputs).mean(), rtol=1e-12)
    losses = {**inputs, "input_ids": IDS}

    def wrong(output, inputs):
        return 1 - torch.as_tensor(accuracy_by_hand(lambda **_: output, inputs))

    by_hand = sg.ablate(model, losses, wrong, kind="zero", layers=1, batch=1)
    np.testing.assert_allclose(found.loss["shapley"], by_hand.loss["shapley"], atol=1e-12)
    np.testing.assert_allclose(found.loss["shapley"].sum(), found.loss["all"][0], atol=1e-12)
    usual = sg.ablate(model, inputs, loss="cross-entropy", kind="zero", layers=1)
    np.testing.assert_array_equal(usual.loss["shapley"], sg.ablate(model, inputs, kind="zero", layers=1).loss["shapley"])
    assert "loss/shapley" in usual.compare(found).table()


class Contrary(Blocks):
    """Knows the next tokens, but less well the more its heads give."""

    def forward(self, input_ids):
        states, given = self.embedding(input_ids), 0
        for block in self.blocks:
            more = block.attention(states)
            given = given + (more - block.attention.proj.bias).abs().mean(-1, keepdim=True)
            states = states + more
        return 4.0 * nn.functional.one_hot(torch.roll(input_ids, -1, 1), VOCABULARY) * torch.exp(-given)


def test_layers_that_raise_the_loss_keep_no_heads():
    def loss(output, inputs):
        return -torch.log_softmax(output, -1)[:, :-1].gather(2, inputs[:, 1:, None]).mean((1, 2))

    found = sg.ablate(Contrary().double(), IDS, loss, kind="zero")
    assert (found.loss["all"] < 0).all() and (found.loss["shapley"] < 0).all()
    text = found.table()
    assert text.count("the model is better without the heads of this layer") >= 3 and text.count("heads harm") == 3
    assert "smallest set    none: the model is better without the heads of this layer" in text and "0 of 4" not in text


def test_a_list_of_sizes_makes_no_difference():
    model = Blocks().double()
    expected = sg.ablate(model, IDS, batch=1).loss["shapley"]
    for batch in (None, 2, 5, 1000):
        np.testing.assert_allclose(sg.ablate(model, IDS, batch=batch).loss["shapley"], expected, rtol=1e-10, atol=1e-14)


class Mixed(Blocks):
    """Subtracts the mean over samples: a sample's loss depends on the others."""

    def forward(self, input_ids):
        self.largest = max(getattr(self, "largest", 0), len(input_ids))
        logits = super().forward(input_ids)
        return logits - 3 * logits[:1]


def test_models_that_cannot_be_batched_run_one_set_at_a_time():
    model = Mixed().double()
    result = sg.ablate(model, IDS)
    for layer, block in enumerate(model.blocks):
        check_layer(result, layer, table_by_hand(model, block.attention.proj, 4, "mean", {"input_ids": IDS}))
    with pytest.raises(sg.InputError, match="pass batch=1"):
        sg.ablate(model, IDS, batch=4)

    class Fixed(Blocks):
        def forward(self, input_ids):
            return super().forward(input_ids.view(SAMPLES, TOKENS))

    np.testing.assert_allclose(sg.ablate(Fixed().double(), IDS).loss["shapley"], sg.ablate(Blocks().double(), IDS).loss["shapley"],
                               rtol=1e-9, atol=1e-13)


# ---- No more passes than needed


def test_blocks_before_the_layer_run_once():
    model = Blocks(layers=3)
    sg.ablate(model, IDS, layers=2)
    before = [block.calls for block in model.blocks]
    assert before[0] == before[1] and before[0] <= 6 and before[2] <= 10  # 16 sets of 4 x 10 tokens: a single pass
    sg.ablate(model, IDS, layers=2, batch=1)
    assert model.blocks[0].calls - before[0] <= 6 and 16 <= model.blocks[2].calls - before[2] <= 24


class Remembers(Blocks):
    """Adds what the first block gave to the last states: the first block cannot be left out where it is not the one before."""

    def forward(self, input_ids):
        states = first = self.blocks[0](self.embedding(input_ids))
        for block in self.blocks[1:]:
            states = block(states)
        return self.head(states + 2 * first)


class InPlace(Blocks):
    """Changes states in place."""

    def forward(self, input_ids):
        states = self.embedding(input_ids)
        for block in self.blocks:
            states = block(states)
            states *= 1.5
        return self.head(states)


@pytest.mark.parametrize("kind", [Remembers, InPlace])
@pytest.mark.parametrize("batch", [None, 1])
def test_states_that_are_used_again(kind, batch):
    model = kind().double()
    result = sg.ablate(model, [IDS[:2], IDS[2:]], batch=batch)
    for layer, block in enumerate(model.blocks):
        check_layer(result, layer, table_by_hand(model, block.attention.proj, 4, "mean", {"input_ids": IDS}), rtol=1e-11)


def test_progress():
    heard = []
    sg.ablate(Blocks(), IDS, progress=lambda done, total: heard.append((done, total)))
    assert heard and heard[-1] == (48, 48)
    sg.ablate(Blocks(layers=1), IDS, progress=True)


# ---- The model afterwards


class Noisy(Blocks):
    """With dropout, a buffer that counts, random numbers, and gradients that were there before."""

    def __init__(self):
        super().__init__()
        self.dropout = nn.Dropout(0.5)
        self.register_buffer("count", torch.zeros(3))
        self.register_buffer("replaced", torch.zeros(3))
        self.fail = None

    def forward(self, input_ids):
        self.count += 1
        self.replaced = self.replaced + 1
        torch.rand(3), random.random(), np.random.rand()
        if self.fail is not None:
            self.fail()
        return self.dropout(super().forward(input_ids))


def everything(model):
    state = {name: tensor.clone() for name, tensor in itertools.chain(model.named_parameters(), model.named_buffers())}
    state.update({f"{name} grad": parameter.grad.clone() for name, parameter in model.named_parameters()})
    modes = [module.training for module in model.modules()]
    attributes = [sorted((key, id(value)) for key, value in vars(module).items() if key not in ("_buffers", "fail", "calls"))
                  for module in model.modules()]
    hooks = [(len(module._forward_hooks), len(module._forward_pre_hooks)) for module in model.modules()]
    return state, modes, attributes, hooks, torch.get_rng_state(), random.getstate(), np.random.get_state()[1].tolist(), {
        name: id(parameter) for name, parameter in itertools.chain(model.named_parameters(), model.named_buffers())}


def same(one, other):
    assert one[0].keys() == other[0].keys() and all(torch.equal(one[0][name], other[0][name]) for name in one[0])
    assert one[1:4] == other[1:4] and torch.equal(one[4], other[4]) and one[5:] == other[5:]


@pytest.mark.parametrize("how", ["success", "error", "interrupt", "progress", "loss"])
def test_the_model_is_what_it_was(how):
    torch.manual_seed(3)
    model = Noisy().train()
    model.blocks[1].eval()
    model(IDS).sum().backward()
    calls = []

    def fail():
        calls.append(0)
        if len(calls) > 12:
            raise {"error": LookupError("enough"), "interrupt": KeyboardInterrupt()}[how]

    def stop(done, total):
        raise LookupError("enough")

    model.fail = fail if how in ("error", "interrupt") else None
    before, registered = everything(model), dict(live_models.ALL_ATTENTION_FUNCTIONS)
    options = {"progress": stop} if how == "progress" else {"loss": lambda output, inputs: 1 / 0} if how == "loss" else {}
    errors = {"success": None, "error": LookupError, "interrupt": KeyboardInterrupt, "progress": LookupError, "loss": ZeroDivisionError}
    if errors[how] is None:
        sg.ablate(model, IDS, batch=2, **options)
    else:
        with pytest.raises(errors[how]):
            sg.ablate(model, IDS, batch=2, **options)
    same(before, everything(model))
    assert dict(live_models.ALL_ATTENTION_FUNCTIONS) == registered
    assert torch.is_grad_enabled() and not any(thread.name == "synergraph" for thread in threading.enumerate() if thread.is_alive())


def test_attention_of_transformers_and_multihead_attention_is_what_it_was():
    for model in (Language(implementation="eager"), Stack(Multihead), Stack(None, encoder=True)):
        model.train()
        weights = {name: (id(parameter), parameter.clone()) for name, parameter in model.named_parameters()}
        attributes = [dict(vars(module)) for module in model.modules()]
        functions = dict(live_models.ALL_ATTENTION_FUNCTIONS), live_models.eager_attention_forward
        sg.ablate(model, IDS)
        assert all(id(parameter) == weights[name][0] and torch.equal(parameter, weights[name][1]) for name, parameter in model.named_parameters())
        assert [dict(vars(module)) for module in model.modules()] == attributes and model.training
        assert (dict(live_models.ALL_ATTENTION_FUNCTIONS), live_models.eager_attention_forward) == functions


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals go to the main thread")
def test_ctrl_c():
    model = Blocks(heads=8, size=16)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(1000):
            sg.ablate(model, IDS, batch=1)
    assert "forward" not in vars(model.blocks[0]) and "forward" not in vars(model.blocks[0].attention.proj)
    timer.join()


def test_a_watched_model_can_be_ablated():
    model = Language().double()
    expected = sg.ablate(model, IDS).loss["shapley"]
    with sg.watch(model) as seen:
        np.testing.assert_allclose(sg.ablate(model, IDS).loss["shapley"], expected, rtol=1e-12)
    assert "forward" not in vars(model) and seen.layers


def test_modes_of_the_calling_thread_hold():
    model = Blocks()
    plain = sg.ablate(model, IDS).loss["shapley"]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rough = sg.ablate(model, IDS).loss["shapley"]
    assert (plain != rough).all() and np.abs(plain - rough).max() < 0.2 * np.abs(plain).max()


# ---- Refusals


class NoProjection(nn.Module):
    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.num_heads, self.mix = 2, nn.Linear(8, 8)

        def forward(self, states):
            return self.mix(states)

    def __init__(self):
        super().__init__()
        self.embedding, self.attention, self.head = nn.Embedding(VOCABULARY, 8), self.Attention(), nn.Linear(8, VOCABULARY)

    def forward(self, input_ids):
        return self.head(self.attention(self.embedding(input_ids)))


class Encoder(Blocks):
    def forward(self, input_ids):
        states = self.embedding(input_ids)
        return self.head(states + states.mean(1, keepdim=True) + self.blocks[0](states))


@pytest.mark.parametrize("make, options, message", [
    (NoProjection, {}, "layer attention: Attention has no output projection that is known"),
    (lambda: nn.Embedding(VOCABULARY, VOCABULARY), {}, "no attention was seen"),
    (Encoder, {}, "see later tokens .* pass loss="),
    (Blocks, {"inputs": []}, "inputs: there are none"),
    (Blocks, {"inputs": IDS[:0]}, r"inputs\[0\]: there is no tensor with samples"),
    (Blocks, {"inputs": 5}, "inputs: 5 is neither a tensor"),
    (Blocks, {"inputs": [5]}, r"inputs\[0\]: 5 is neither a tensor"),
    (Blocks, {"inputs": IDS[:, :1]}, "sample 0 has no next token"),
    (Blocks, {"layers": []}, "layers: none are chosen"),
    (lambda: Blocks().to("meta"), {}, "model: its parameters are on the meta device"),
    (Blocks, {"loss": 3}, "loss: 3 is not 'cross-entropy', 'accuracy' or a function"),
    (Blocks, {"loss": "precision"}, "loss: 'precision' is not 'cross-entropy', 'accuracy' or a function"),
    (Encoder, {"loss": "accuracy"}, "see later tokens .* pass loss="),
    (Blocks, {"loss": lambda output, inputs: output}, "loss: a tensor of shape .* one number for each sample"),
    (Blocks, {"loss": lambda output, inputs: "x"}, "loss: 'x' is not a tensor"),
    (Blocks, {"loss": lambda output, inputs: output[:0, 0, 0]}, "loss: a tensor of 0 numbers"),
    (Blocks, {"loss": lambda output, inputs: output.sum() * math.nan}, r"loss: nan on sample 0 of inputs\[0\] with all heads on"),
    (Blocks, {"kind": "median"}, "kind: 'median' is neither 'mean' nor 'zero'"),
    (Blocks, {"layers": 9}, "no layer is 9: the layers that ran are 0 to 2"),
    (Blocks, {"layers": "block.7"}, "no layer is 'block.7': there are"),
    (Blocks, {"exact_heads": 21}, "'exact_heads' is not a whole number from 1 to 20"),
    (Blocks, {"orders": 0}, "orders"),
    (Blocks, {"precision": 0}, "precision"),
    (Blocks, {"batch": 0}, "batch"),
    (Blocks, {"modules": "attn"}, "no module is named 'attn'"),
    (lambda: "model", {}, "model: 'model' is not a torch.nn.Module"),
    (lambda: nn.DataParallel(Blocks()), {}, "DataParallel"),
])
def test_refusals(make, options, message):
    options = {"inputs": IDS, **options}
    with pytest.raises(sg.Error, match=message) as error:
        sg.ablate(make(), **options)
    assert "\n" not in str(error.value)


def test_a_loss_that_is_not_finite_names_the_heads():
    model = Blocks().double()
    intact = loss_by_hand(model, {"input_ids": IDS})

    def loss(output, inputs):
        values = -torch.log_softmax(output[:, :-1], -1).gather(2, inputs[:, 1:, None])[..., 0].mean(1)
        known = torch.as_tensor(np.tile(intact, len(values) // SAMPLES))
        return torch.where((values - known).abs() < 1e-9, values, values / (values > values.mean()))

    with pytest.raises(sg.InputError, match="loss: inf on sample"):
        sg.ablate(model, IDS, loss)


def test_a_loss_of_another_size_in_later_passes_is_told():
    sizes = iter([SAMPLES] * 2 + [1000] * 1000)
    with pytest.raises(sg.InputError, match="loss: losses: 1000 for inputs that gave .* before"):
        sg.ablate(Blocks().double(), IDS, lambda output, inputs: torch.zeros(next(sizes)), layers=0)


def test_modules_that_do_not_say_their_heads():
    model = Blocks().double()
    expected = sg.ablate(model, IDS).loss["shapley"]
    for block in model.blocks:
        heads, block.attention.count = block.attention.num_heads, block.attention.num_heads
        del block.attention.num_heads
    OwnAttention.__getattr__ = lambda self, name: self.count if name == "num_heads" and len(asking) else nn.Module.__getattr__(self, name)
    asking = [1]
    try:
        original = OwnAttention.forward

        def forward(self, states):
            asking.append(1)
            try:
                return original(self, states)
            finally:
                asking.pop()

        asking.pop()
        OwnAttention.forward = forward
        with pytest.raises(sg.InputError, match="does not say how many heads it has: pass heads="):
            sg.ablate(model, IDS)
        np.testing.assert_allclose(sg.ablate(model, IDS, heads=heads).loss["shapley"], expected, rtol=1e-12)
        with pytest.raises(sg.InputError, match="16 columns, which 5 heads cannot share equally"):
            sg.ablate(model, IDS, heads=5)
    finally:
        OwnAttention.forward = original
        del OwnAttention.__getattr__


# ---- The result


@pytest.fixture(scope="module")
def result():
    return sg.ablate(Blocks(heads=5, size=20).double(), IDS)


def test_documents(result):
    document = result.to_dict()
    assert document["schema"] == "synergraph.ablation" and document["settings"]["kind"] == "mean"
    assert document["layers"][0]["values"][0]["value"] == "loss" and result.value_names == ["loss"]
    assert document["layers"][2]["values"][0]["heads"][4]["shapley"]["mean"] == result.loss["shapley"][2, 4]
    assert "Shapley" in result.table() and "weight" not in result.table() and all(len(line) <= 60 for line in result.table(60).splitlines())
    assert result._repr_html_().count("<table>") == 3
    again = pickle.loads(pickle.dumps(result))
    assert isinstance(again, sg.Ablation) and again.to_json() == result.to_json() and again.layers == result.layers


def test_pandas_and_figures(result, tmp_path):
    pytest.importorskip("pandas")
    frame = result.to_pandas()
    assert len(frame) == 15 and frame["shapley"].tolist() == result.loss["shapley"].ravel().tolist()
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    figure = result.plot()
    figure.savefig(tmp_path / "figure.pdf")
    matplotlib.pyplot.close(figure)


def ranks(values):
    return np.argsort(np.argsort(values)) - (len(values) - 1) / 2


def test_comparison_with_arrays(result):
    loss = result.loss["shapley"]
    numbers = np.random.default_rng(0).normal(size=loss.shape)
    compared = result.compare({"noise": numbers, "itself": loss, "reversed": -loss})
    for layer in range(3):
        expected = ranks(loss[layer]) @ ranks(numbers[layer]) / (ranks(loss[layer]) @ ranks(loss[layer]))
        assert compared["noise/layer_rho"][layer] == pytest.approx(expected, rel=1e-12)
        p = np.mean([abs(ranks(loss[layer]) @ np.array(order)) >= abs(ranks(loss[layer]) @ ranks(numbers[layer])) - 1e-9
                     for order in itertools.permutations(ranks(numbers[layer]))])
        assert compared["noise/layer_p"][layer] == pytest.approx(p, rel=1e-12)
    pooled = sum(ranks(loss[layer]) @ ranks(numbers[layer]) for layer in range(3)) / sum(ranks(one) @ ranks(one) for one in loss)
    assert compared["noise/rho"] == pytest.approx(pooled, rel=1e-12) and compared["noise/heads"] == 15
    assert compared["itself/rho"] == 1 and compared["reversed/rho"] == -1 and compared["itself/p"] < 1e-4
    assert compared["itself/layer_p"] == pytest.approx([2 / 120] * 3)
    assert "noise" in compared.table() and compared.to_dict()["numbers"][0]["name"] == "noise"
    assert pickle.loads(pickle.dumps(compared)).to_csv() == compared.to_csv()
    one = result.compare(numbers, of="dropped")
    assert list(one) [0].startswith("numbers/")


def test_too_few_heads_are_said():
    result = sg.ablate(Blocks(heads=4, layers=1), IDS)
    text = result.compare({"x": [[1, 2, 3, 4]]}).table()
    assert "too few heads: with 4 heads in a layer" in text and "in all layers together, too: 4" in text
    text = sg.ablate(Blocks(heads=4, layers=3), IDS).compare({"x": np.random.rand(3, 4)}).table()
    assert "too few heads: with 4 heads in a layer" in text and "all layers together, too" not in text


def test_comparison_with_structure():
    model = Language(implementation="eager").double()
    result = sg.ablate(model, IDS)
    with torch.no_grad(), sg.watch(model) as seen:
        model(IDS)
    compared = result.compare(seen.heads(weight_samples=0))
    assert {"fidelity/shapley/rho", "speed/shapley/rho", "fidelity/alone/layer_rho"} <= set(compared)
    per_head = seen.result(per_head=True)
    compared = result.compare(per_head)
    rho = compared["minimax_fidelity/layer_rho"]
    fidelity = per_head.heads["minimax_fidelity"].mean(1)
    expected = [ranks(result.loss["shapley"][layer]) @ ranks(fidelity[layer]) / 5 for layer in range(2)]
    assert rho == pytest.approx(expected)
    with torch.no_grad(), sg.watch(model, layers=1) as seen:
        model(IDS)
    assert result.compare(seen.result(per_head=True))["minimax_fidelity/layer_rho"] == pytest.approx(rho[1:])


@pytest.mark.parametrize("structure, message", [
    ({"x": np.zeros((2, 5))}, "x: 2 layers, the ablation has 3"),
    ({"x": np.zeros((3, 4))}, "x: 4 heads in layer blocks.0.attention, the ablation has 5"),
    ({"x": np.zeros((3, 5, 2))}, "expected \\(layers, heads\\)"),
    ({}, "there are no numbers"),
    ({"x": "text"}, "x: 'text' is not an array"),
])
def test_refused_comparisons(result, structure, message):
    with pytest.raises(sg.Error, match=message):
        result.compare(structure)
    with pytest.raises(sg.UsageError, match="of: 'pairs' is not"):
        result.compare(np.zeros((3, 5)), of="pairs")


def test_constant_numbers_have_no_correlation(result):
    compared = result.compare({"x": np.zeros((3, 5))})
    assert np.isnan(compared["x/rho"]) and np.isnan(compared["x/layer_p"]).all()


def test_the_example_of_the_documentation(capsys):
    text = (pathlib.Path(__file__).parents[2] / "docs" / "python.md").read_text()
    code = text.partition("## Which heads the loss needs")[2].partition("```python\n")[2].partition("```")[0]
    torch.manual_seed(1)
    names = {}
    exec(code, names)
    printed = capsys.readouterr().out
    assert "every head of every layer off" in printed and "fidelity/shapley" in printed
    assert names["result"].loss["shapley"].shape == (2, 4)
