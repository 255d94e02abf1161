"""Watching PyTorch's own attention, modules that return weights, and one's own code."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import synergraph as sg
from conftest import random_attention

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

TOKENS = 9
CAUSAL = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)
PADDING = torch.zeros(3, TOKENS, dtype=torch.bool)
PADDING[1, :2] = True
PADDING[2, 6:] = True
SPANS = [(0, 9), (2, 9), (0, 6)]


def states(batch_first=True, width=8):
    values = torch.randn(3, TOKENS, width, generator=torch.Generator().manual_seed(2))
    return values if batch_first else values.transpose(0, 1).contiguous()


def expected_weights(module, values, **options):
    """(samples, heads, tokens, tokens), as the module itself returns them."""
    training = module.training
    with torch.no_grad():
        weights = module.train()(values, values, values, need_weights=True, average_attn_weights=False, **options)[1]
    module.train(training)
    return weights


def same(found, expected):
    np.testing.assert_allclose(found, expected.detach().float(), rtol=3e-6, atol=2e-7)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("options", [{}, {"need_weights": False}, {"average_attn_weights": True}, {"key_padding_mask": PADDING}])
@pytest.mark.parametrize("made", [
    {"batch_first": True}, {"batch_first": False}, {"batch_first": True, "bias": False},
    {"batch_first": True, "kdim": 8, "vdim": 4}, {"batch_first": True, "add_zero_attn": True},
])
def test_multihead_attention(made, options, training):
    torch.manual_seed(0)
    module = nn.MultiheadAttention(8, 2, **made).train(training)
    values = states(made["batch_first"])
    third = values if "vdim" not in made else values[..., :4].contiguous()
    with torch.set_grad_enabled(training):
        expected = module(values, values, third, attn_mask=CAUSAL, **options)
        with sg.watch(module) as seen:
            found = module(values, values, third, attn_mask=CAUSAL, **options)
    assert torch.equal(torch.nan_to_num(expected[0]), torch.nan_to_num(found[0]))
    if "vdim" in made:
        module.v_proj_weight = nn.Parameter(torch.zeros(8, 8))
        module.vdim = 8
    weights = expected_weights(module, values, attn_mask=CAUSAL)[..., :TOKENS]
    padded = "key_padding_mask" in options
    for sample, (begin, end) in enumerate(SPANS if padded else [(0, TOKENS)] * 3):
        one = expected_weights(module, values[sample:sample + 1, begin:end] if made["batch_first"] else values[begin:end, sample:sample + 1],
                               attn_mask=CAUSAL[:end - begin, :end - begin])[0, ..., :end - begin] if padded else weights[sample]
        same(seen.attention(0, sample), one)
    assert seen.result(weights="learned").fidelity.shape == (1, 3)


def test_masks_of_multihead_attention():
    torch.manual_seed(0)
    module = nn.MultiheadAttention(8, 2, batch_first=True)
    values = states()
    added = torch.zeros(TOKENS, TOKENS).masked_fill(CAUSAL, -float("inf"))
    of_heads = torch.randn(6, TOKENS, TOKENS, generator=torch.Generator().manual_seed(3)) + added
    for mask in (added, of_heads, CAUSAL.expand(6, -1, -1)):
        with sg.watch(module) as seen:
            module(values, values, values, None, False, mask)
        weights = expected_weights(module, values, attn_mask=mask)
        for sample in range(3):
            same(seen.attention(0, sample), weights[sample])
    with sg.watch(module) as seen:  # no batch
        module(values[0], values[0], values[0], attn_mask=CAUSAL)
    same(seen.attention(0), expected_weights(module, values, attn_mask=CAUSAL)[0])
    with sg.watch(module) as seen, torch.autocast("cpu", dtype=torch.bfloat16):
        module(values, values, values, attn_mask=CAUSAL)
    assert seen.result().fidelity.shape == (1, 3)
    np.testing.assert_allclose(seen.attention(0), expected_weights(module, values, attn_mask=CAUSAL)[0].detach(), atol=0.02)


@pytest.mark.parametrize("call, reason", [
    (lambda module, values: module(values, values, values), "encoder"),
    (lambda module, values: module(values, values, values, key_padding_mask=PADDING), "encoder"),
    (lambda module, values: module(values, values[:, :4], values[:, :4]), "cross-attention"),
    (lambda module, values: module(values, values + 1, values, attn_mask=CAUSAL), "cross-attention"),
])
def test_refuses_with_a_reason(call, reason):
    module = nn.MultiheadAttention(8, 2, batch_first=True)
    with sg.watch(module) as seen:
        call(module, states())
    with pytest.raises(sg.InputError, match=reason):
        seen.result()
    module = nn.MultiheadAttention(8, 2, batch_first=True, add_bias_kv=True)
    with sg.watch(module) as seen:
        module(states(), states(), states(), attn_mask=CAUSAL)
    with pytest.raises(sg.InputError, match="add_bias_kv"):
        seen.result()


@pytest.mark.parametrize("norm_first", [True, False])
def test_encoder_layers_fast_and_slow(norm_first):
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=norm_first, dropout=0.0)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    for module in model.layers:
        for parameter in module.parameters():
            nn.init.normal_(parameter, std=0.5)
    values = states()
    found = []
    for training in (True, False):
        model.train(training)
        with torch.set_grad_enabled(training):
            expected = model(values, mask=CAUSAL)
            with sg.watch(model) as seen:
                output = model(values, mask=CAUSAL)
        assert torch.equal(output, expected)
        assert seen.layers == ["layers.0.self_attn", "layers.1.self_attn"]
        found.append([seen.attention(0), seen.attention(1)])
        assert seen.result().fidelity.shape == (2, 3)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-4, atol=1e-6)
    # Where the layer does everything at once its attention is never called; without a mask that is an encoder's.
    model.eval()
    with sg.watch(model) as seen, torch.no_grad():
        output = model(values)
    with torch.no_grad():
        assert torch.equal(output, model(values))
    with pytest.raises(sg.InputError, match="encoder"):
        seen.result()
    assert len(seen.refused) == 2
    assert not any("forward" in vars(module) for module in model.modules())


def test_attention_of_a_layer_that_does_everything_at_once():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True, dropout=0.0).eval()
    from synergraph._live.modules import read_encoder_layer

    with torch.no_grad():
        call = read_encoder_layer((states(),), {"src_mask": CAUSAL}, layer)
        values = layer.norm1(states())
    seen = sg.watch()
    seen.record(0, call["queries"], call["keys"], mask=call["mask"], scaling=call["scaling"], causal=False)
    same(seen.attention(0, 1), expected_weights(layer.self_attn, values, attn_mask=CAUSAL)[1])


def test_decoder_layers():
    torch.manual_seed(0)
    model = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, batch_first=True), 2).eval()
    values = states()
    with sg.watch(model) as seen:
        model(values, values[:, :4], tgt_mask=CAUSAL)
    with pytest.warns(UserWarning, match="2 layers are left out.*cross-attention"):
        assert seen.result().layers == ["layers.0.self_attn", "layers.1.self_attn"]
    with sg.watch(model, layers="self_attn") as seen:
        model(values, values[:, :4], tgt_mask=CAUSAL)
    assert seen.refused == {} and seen.result().fidelity.shape == (2, 3)


class OwnAttention(nn.Module):
    """Returns its output and its weights."""

    def __init__(self, shape=tuple):
        super().__init__()
        self.qkv = nn.Linear(8, 24)
        self.proj = nn.Linear(8, 8)
        self.shape = shape

    def forward(self, values):
        query, key, value = (part.view(*values.shape[:2], 2, 4).transpose(1, 2) for part in self.qkv(values).chunk(3, -1))
        tokens = values.shape[1]
        weights = torch.softmax((query @ key.transpose(2, 3) / 2).masked_fill(CAUSAL[:tokens, :tokens], -float("inf")), -1)
        output = self.proj((weights @ value).transpose(1, 2).reshape(values.shape))
        return {"output": output, "weights": weights} if self.shape is dict else (output, weights)


class Block(nn.Module):
    def __init__(self, shape=tuple):
        super().__init__()
        self.mixer = OwnAttention(shape)

    def forward(self, values):
        return self.mixer(values)


def test_modules_that_return_weights():
    torch.manual_seed(0)
    for shape in (tuple, dict):
        model = nn.ModuleList([Block(shape), Block(shape)])
        model.forward = lambda values: [block(values) for block in model]
        values = states()
        with sg.watch(model) as seen:
            outputs = model(values)
        assert seen.layers == ["0.mixer", "1.mixer"]
        weights = [output[1] if shape is tuple else output["weights"] for output in outputs]
        assert seen.result().to_json() == sg.measure({name: one.detach() for name, one in zip(seen.layers, weights)}).to_json()
        learned = sg.learned_weights(model[1].mixer.proj.weight.detach(), 2)
        np.testing.assert_allclose(seen.learned_weights()[1], learned)
        with sg.watch(model, modules=Block, heads=1, samples=1) as seen:  # the inner ones return the same
            model(values)
        assert seen.layers == ["0", "1"] and seen.result().fidelity.shape == (2, 1)
        same(seen.attention("1"), weights[1][0, 1:])
        with sg.watch(model, modules=["0.mixer"]) as seen:
            model(values)
        assert seen.layers == ["0.mixer"]
        with pytest.raises(sg.UsageError, match="no module is named 'mixer'"):
            with sg.watch(model, modules="mixer"):
                pass
        assert not any("forward" in vars(module) for module in model.modules() if module is not model)


def test_own_code():
    torch.manual_seed(0)
    query, key = torch.randn(2, 4, TOKENS, 8), torch.randn(2, 2, TOKENS, 8)
    repeated = key.repeat_interleave(2, 1)
    seen = sg.watch()
    with seen:
        seen.record("plain", query, key)
        seen.record("scaled", query, key, scaling=0.7, softcap=1.5, window=3)
        seen.record("sinks", query, key, sinks=torch.tensor([0.0, 1.0, -1.0, 2.0]))
        seen.record("masked", query, key, mask=~CAUSAL, causal=False)
    scores = query @ repeated.transpose(2, 3)
    infinite = -float("inf")
    same(seen.attention("plain", 1), torch.softmax((scores / 8**0.5).masked_fill(CAUSAL, infinite), -1)[1])
    same(seen.attention("masked", 1), torch.softmax((scores / 8**0.5).masked_fill(CAUSAL, infinite), -1)[1])
    ahead = torch.arange(TOKENS)[:, None] - torch.arange(TOKENS)
    capped = (torch.tanh(scores * 0.7 / 1.5) * 1.5).masked_fill((ahead < 0) | (ahead >= 3), infinite)
    same(seen.attention(1, 0), torch.softmax(capped, -1)[0])
    with_sinks = torch.cat([(scores / 8**0.5).masked_fill(CAUSAL, infinite),
                            torch.tensor([0.0, 1.0, -1.0, 2.0]).view(1, 4, 1, 1).expand(2, 4, TOKENS, 1)], -1)
    same(seen.attention("sinks", 1), torch.softmax(with_sinks, -1)[1, ..., :-1])
    assert seen.result().layers == ["plain", "scaled", "sinks", "masked"]
    with pytest.raises(sg.InputError, match="no output projection"):
        seen.result(weights="learned")
    # Several calls are several samples, of several lengths.
    seen = sg.watch(layers="first")
    for tokens in (5, 3):
        seen.record("first", query[0, :, :tokens].numpy(), key[0, :, :tokens].numpy(), projection=np.eye(32))
        seen.record("second", query[0, :, :tokens], key[0, :, :tokens])
    measured = seen.result(per_node=True, weights="learned")
    assert measured.layers == ["first"] and np.isnan(measured["node_fidelity"][0, 1, 3:]).all()
    seen.record("first", query, key, padding=torch.arange(TOKENS) >= torch.tensor([[2], [4]]))
    assert seen.attention(0, 3).shape == (4, 5, 5)
    for wrong, message in ((lambda: seen.record("first", query, key[..., :4]), "do not fit"),
                           (lambda: seen.record("first", query, query[:, :3]), "do not fit"),
                           (lambda: seen.record("first", query[0, 0], key[0, 0]), "expected .samples"),
                           (lambda: seen.record("first", query, key, causal=False), "encoder"),
                           (lambda: seen.record("first", query, key, mask=torch.ones(9)), "axes"),
                           (lambda: seen.record_weights("first", np.ones((2, 3))), "shape"),
                           (lambda: seen.record_weights("first", torch.ones(1, 1, 3, 3)), "encoder")):
        with pytest.raises(sg.InputError, match=message):
            wrong()


def test_own_weights():
    attention = random_attention(2, 3, 4, 6, 6)
    for kind in (lambda array: array, torch.from_numpy):
        with sg.watch() as seen:
            for layer, of_layer in enumerate(attention):
                seen.record_weights(layer, kind(of_layer))
        expected = sg.measure({"0": attention[0], "1": attention[1]})
        assert seen.result().to_json() == expected.to_json()
    half = torch.from_numpy(attention[0]).to(torch.bfloat16)
    with sg.watch() as seen:
        seen.record_weights("half", half)
        kept = half.clone()
        half.zero_()
    np.testing.assert_allclose(seen.result().fidelity[0], sg.measure(kept).fidelity)


class Skipping(nn.Module):
    """Two layers, of which a call may skip the first, or fail after it."""

    def __init__(self):
        super().__init__()
        self.first, self.second = OwnAttention(), OwnAttention()

    def forward(self, values, skip=False, fail=False):
        values = values if skip else self.first(values)[0]
        if fail:
            raise RuntimeError("as asked")
        return self.second(values)[0]


@pytest.mark.parametrize("option", ["skip", "fail"])
def test_calls_that_do_not_run_all_layers_are_left_out(option):
    model, values = Skipping(), states()
    with sg.watch(model) as whole:
        model(values)
    with sg.watch(model) as seen:
        try:
            model(values.flip(1), **{option: True})
        except RuntimeError:
            pass
        model(values)
    with pytest.warns(UserWarning, match="1 of the model's calls did not run all layers"):
        found = dict(zip(seen.layers, seen.result().fidelity))  # layers come in the order in which they were seen
    for name, expected in zip(whole.layers, whole.result().fidelity):
        np.testing.assert_array_equal(found[name], expected)


def test_layers_that_share_no_call_are_refused():
    model, values = Skipping(), states()
    with sg.watch(model) as seen:
        model(values, skip=True)
        with pytest.raises(RuntimeError):
            model(values, fail=True)
    with pytest.raises(sg.InputError, match="no call did"):
        seen.heads(stack=True)
    assert seen.refused == {}


def test_a_watch_that_ends_in_another_thread_does_not_disturb_the_model():
    model, values = OwnAttention(), states()
    expected = model(values)[0]

    def call():
        for _ in range(30):
            with sg.watch(model):
                assert torch.equal(model(values)[0], expected)

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(call) for _ in range(4)]:
            done.result()


class Recording(nn.Module):
    """Attention of one's own that tells what it does."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 8)
        self.watch = None

    def forward(self, values):
        found = self.inner(values)
        if self.watch is not None:
            self.watch.record("own", found[:, None], values[:, None])
            self.watch.record_weights("weights", torch.softmax((found @ values.mT).masked_fill(CAUSAL, -float("inf")), -1)[:, None])
        return found


@pytest.mark.parametrize("reentrant", [True, False])
def test_what_is_checkpointed_is_seen_once(reentrant):
    """Parts of a model that are computed again for their gradients."""
    from torch.utils.checkpoint import checkpoint

    class Checkpointed(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True) for _ in range(2))
            self.returning = OwnAttention()
            self.own = Recording()

        def forward(self, values):
            for layer in self.layers:
                values = checkpoint(lambda inputs, module=layer: module(inputs, CAUSAL), values, use_reentrant=reentrant)
            values = checkpoint(lambda inputs: self.returning(inputs)[0], values, use_reentrant=reentrant)
            return checkpoint(self.own, values, use_reentrant=reentrant)

    torch.manual_seed(0)
    model = Checkpointed()
    with sg.watch(model) as seen:
        model.own.watch = seen
        for _ in range(2):
            model(states().requires_grad_()).square().sum().backward()
    assert len(seen.layers) == 5
    assert all(len(layer.samples) == 6 for layer in seen._recorder.layers.values()), seen
    assert seen.result().fidelity.shape == (5, 6)


def test_a_copy_of_a_watched_model_is_not_watched(tmp_path):
    import copy
    import pickle

    def modules(model):
        return [vars(module) for module in model.modules()]

    torch.manual_seed(0)
    model = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    model.linear1.forward = model.linear1.forward  # as some libraries do
    before = [sorted(vars(module)) for module in model.modules()]
    values = states()
    with sg.watch(model) as seen, sg.watch(model), torch.no_grad():
        expected = model(values, CAUSAL)
        torch.save(model, tmp_path / "model.pt")
        again = [copy.deepcopy(model), pickle.loads(pickle.dumps(model)),
                 torch.load(tmp_path / "model.pt", **({} if torch.__version__.startswith("1.") else {"weights_only": False}))]
        for one in again:
            assert [sorted(vars(module)) for module in one.modules()] == before
            assert torch.equal(one(values, CAUSAL), expected)
            one.self_attn.in_proj_weight.zero_()  # its own parameters, not the model's
            assert not torch.equal(one(values, CAUSAL), expected)
        assert torch.equal(model(values, CAUSAL), expected)
    assert len(seen._recorder.layers["self_attn"].samples) == 6
    assert [sorted(vars(module)) for module in model.modules()] == before


def test_given_lengths_are_those_of_the_probabilities():
    torch.manual_seed(0)
    module = nn.MultiheadAttention(8, 2, batch_first=True)
    values = states()
    for padding, spans in (("right", [(0, 9), (0, 7), (0, 6)]), ("left", [(0, 9), (2, 9), (3, 9)])):
        with sg.watch(module, lengths=[9, 7, 6], padding=padding) as seen:
            module(values, values, values, attn_mask=CAUSAL)
        for sample, (begin, end) in enumerate(spans):
            same(seen.attention(0, sample), expected_weights(module, values, attn_mask=CAUSAL)[sample, :, begin:end, begin:end])
        assert seen.attention(0, -1).shape == (2, 6, 6)


def test_weights_with_padding_that_is_nan():
    """Rows and columns of padding may be anything where lengths say what is padding."""
    clean = torch.from_numpy(random_attention(2, 3, TOKENS, TOKENS).astype(np.float32))
    dirty = torch.full_like(clean, float("nan"))
    dirty[0, :, :5, :5] = clean[0, :, :5, :5]
    dirty[1] = clean[1]

    class Attention(nn.Module):
        def forward(self, weights):
            return weights.sum(), weights

    for first in (dirty, torch.nan_to_num(dirty)):
        model = Attention()
        with sg.watch(model, lengths=[5, 9]) as seen:
            model(first)
        assert np.array_equal(seen.result().fidelity, sg.measure(clean.numpy()[None], lengths=[5, 9]).fidelity)


def test_calls_with_no_sample():
    torch.manual_seed(0)
    module = nn.MultiheadAttention(8, 2, batch_first=True)
    returning = OwnAttention()
    values = states()
    with sg.watch(module) as seen:
        for batch in (values[:0], values, values[:0]):
            module(batch, batch, batch, attn_mask=CAUSAL)
        module(values[:0], values[:0], values[:0], attn_mask=CAUSAL.expand(0, -1, -1))
    assert seen.refused == {} and seen.result().fidelity.shape == (1, 3)
    with sg.watch(returning) as seen:
        for batch in (values[:0], values):
            returning(batch)
        seen.record("own", values[:0, None], values[:0, None])
        seen.record_weights("own", np.zeros((0, 2, 4, 4)))
    assert seen.refused == {} and seen.result().fidelity.shape == (1, 3)


def test_expressions_for_layers():
    module = nn.MultiheadAttention(8, 2)
    with pytest.raises(ValueError, match=r"layers: '\[' is no regular expression: "):
        sg.watch(module, layers="[")


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_biases_keep_their_digits(kind):
    generator = torch.Generator().manual_seed(3)
    queries, keys = (torch.randn(2, 6, 4, generator=generator, dtype=torch.float64).to(getattr(torch, kind)) for _ in range(2))
    bias = 1000 + torch.randn(1, 6, 6, generator=generator, dtype=torch.float64)  # float32 has four digits behind the point here
    with sg.watch() as watch:
        watch.record("only", queries, keys, mask=bias)
    scores = queries.double() @ keys.double().transpose(1, 2) * 4**-0.5 + bias
    expected = torch.softmax(scores.masked_fill(torch.ones(6, 6).triu(1).bool(), float("-inf")), -1).numpy()
    assert np.abs(watch.attention("only") - expected).max() < 1e-12
