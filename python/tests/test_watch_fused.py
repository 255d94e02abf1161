"""Watching models that call PyTorch's `scaled_dot_product_attention` in their own code, as nanoGPT does."""

import copy
import math
import sys
import types

import numpy as np
import pytest

import synergraph as sg

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

functional = nn.functional
TOKENS = 7


def written_down(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """The function as PyTorch documents it, for versions without it; returns its weights, too."""
    if enable_gqa:
        key, value = (one.repeat_interleave(query.shape[-3] // one.shape[-3], -3) for one in (key, value))
    scores = query @ key.transpose(-2, -1) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if is_causal:
        assert attn_mask is None
        scores = scores.masked_fill(torch.ones(query.shape[-2], key.shape[-2], device=query.device).triu(1).bool(), -math.inf)
    if attn_mask is not None:
        scores = scores.masked_fill(~attn_mask, -math.inf) if attn_mask.dtype == torch.bool else scores + attn_mask
    weights = scores.softmax(-1)
    return torch.dropout(weights, dropout_p, True) @ value, weights


def stand_in(*arguments, **options):
    return written_down(*arguments, **options)[0]


@pytest.fixture(autouse=True)
def fused(monkeypatch):
    """PyTorch's function, or what stands in for it before PyTorch 2."""
    if not hasattr(functional, "scaled_dot_product_attention"):
        monkeypatch.setattr(functional, "scaled_dot_product_attention", stand_in, raising=False)
    return functional.scaled_dot_product_attention


class CausalSelfAttention(nn.Module):
    """nanoGPT's, and what else a call may say."""

    def __init__(self, width=8, heads=4, key_heads=None, **call):
        super().__init__()
        self.heads, self.key_heads, self.width = heads, key_heads or heads, width // heads
        self.c_attn = nn.Linear(width, (heads + 2 * self.key_heads) * self.width)
        self.c_proj = nn.Linear(width, width)
        self.call = call

    def parts(self, x):
        sizes = [count * self.width for count in (self.heads, self.key_heads, self.key_heads)]
        return [part.unflatten(2, (-1, self.width)).transpose(1, 2) for part in self.c_attn(x).split(sizes, 2)]

    def options(self):
        return {**self.call, **({"enable_gqa": True} if self.key_heads < self.heads else {})}

    def forward(self, x):
        return self.c_proj(functional.scaled_dot_product_attention(*self.parts(x), **self.options()).transpose(1, 2).flatten(2))


class Model(nn.Module):
    def __init__(self, make=CausalSelfAttention, layers=2, **call):
        super().__init__()
        self.embed = nn.Embedding(11, 8)
        self.blocks = nn.ModuleList([nn.ModuleDict({"attn": make(**call)}) for _ in range(layers)])

    def forward(self, input_ids):
        x = self.embed(input_ids)
        for block in self.blocks:
            x = x + block["attn"](x)
        return x


def ids(samples=3, tokens=TOKENS):
    return torch.randint(11, (samples, tokens), generator=torch.Generator().manual_seed(1))


def expected(model, inputs):
    """The weights of every layer (samples, heads, tokens, tokens), written down."""
    x, found = model.embed(inputs), []
    with torch.no_grad():
        for block in model.blocks:
            module = block["attn"]
            output, weights = written_down(*module.parts(x), **{**module.options(), "dropout_p": 0.0})
            found.append(weights)
            x = x + module.c_proj(output.transpose(1, 2).flatten(2))
    return found


def check(model, inputs, layers=("blocks.0.attn", "blocks.1.attn")):
    torch.manual_seed(0)
    before = model(inputs)
    torch.manual_seed(0)
    with sg.watch(model) as seen:
        during = model(inputs)
    assert torch.equal(before, during)
    assert seen.layers == list(layers)
    return seen


LATER = torch.ones(TOKENS, TOKENS).triu(1).bool()
CALLS = {
    "causal": {"is_causal": True},
    "scale": {"is_causal": True, "scale": 0.3},
    "mask": {"attn_mask": ~LATER},
    "mask by heads": {"attn_mask": (~LATER).expand(4, TOKENS, TOKENS)},
    "mask by samples": {"attn_mask": (~LATER & (torch.arange(TOKENS) != 0) | torch.eye(TOKENS).bool()).expand(3, 1, TOKENS, TOKENS)},
    "added": {"attn_mask": torch.zeros(TOKENS, TOKENS).masked_fill(LATER, -math.inf)},
    "bias": {"attn_mask": (torch.linspace(0, 1, TOKENS).expand(TOKENS, TOKENS)).masked_fill(LATER, -math.inf)},
    "grouped": {"is_causal": True, "key_heads": 2},
    "one key head": {"is_causal": True, "key_heads": 1},
}


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_every_kind_of_causal_call_is_seen(call):
    torch.manual_seed(3)
    model = Model(**CALLS[call])
    seen = check(model, ids())
    for layer, weights in enumerate(expected(model, ids())):
        for sample in range(3):
            np.testing.assert_allclose(seen.attention(layer, sample), weights[sample], rtol=3e-6, atol=2e-7)
    result = seen.result(weights="learned")
    assert result.fidelity.shape == (2, 3)
    assert seen.result(weights="learned").weights.shape == (2, 4)


def test_variables_of_the_caller_are_not_kept_alive():
    import gc
    import weakref

    def loop(model):
        loss = model(ids()).sum()
        known = weakref.ref(loss)
        with sg.watch(model):
            model(ids())  # while there is a loss
        del loss
        gc.collect()
        return known()

    assert loop(Model(is_causal=True)) is None


def test_dropout_is_no_part_of_the_probabilities():
    model = Model(is_causal=True, dropout_p=0.5)
    found = check(model, ids()).attention(0, 0)
    np.testing.assert_allclose(found, expected(model, ids())[0][0], rtol=3e-6, atol=2e-7)


@pytest.mark.parametrize("call, why", [({}, "later ones"), ({"attn_mask": torch.ones(TOKENS, TOKENS).bool()}, "later ones")])
def test_calls_that_are_not_causal_are_refused(call, why):
    model = Model(**call)
    with sg.watch(model) as seen:
        model(ids())
    assert list(seen.refused) == ["blocks.0.attn", "blocks.1.attn"]
    with pytest.raises(sg.InputError, match=why):
        seen.result()


def test_queries_of_three_axes_are_refused():
    class Flat(CausalSelfAttention):
        def forward(self, x):
            q, k, v = self.c_attn(x).split(8, 2)
            return functional.scaled_dot_product_attention(q, k, v, is_causal=True)

    model = Model(Flat)
    with sg.watch(model) as seen:
        model(ids())
    assert "Watch.record" in seen.refused["blocks.0.attn"]


def test_the_function_is_put_back_also_after_an_error(fused):
    class Broken(CausalSelfAttention):
        def forward(self, x):
            functional.scaled_dot_product_attention(*self.parts(x), is_causal=True)
            raise RuntimeError("broken")

    model = Model(Broken)
    with pytest.raises(RuntimeError, match="broken"), sg.watch(model) as seen:
        assert functional.scaled_dot_product_attention is not fused
        model(ids())
    assert functional.scaled_dot_product_attention is fused
    assert seen.layers == ["blocks.0.attn"]


def test_two_watches_see_their_own_models(fused):
    first, second = Model(is_causal=True), Model(is_causal=True, layers=1)
    with sg.watch(first) as one:
        with sg.watch(second) as other, sg.watch(first) as again:
            first(ids())
            second(ids())
        first(ids(1))
        copy.deepcopy(first)(ids())
    assert [len(one.layers), len(other.layers), len(again.layers)] == [2, 1, 2]
    assert one.result().fidelity.shape == (2, 4) and again.result().fidelity.shape == (2, 3)
    assert functional.scaled_dot_product_attention is fused


def test_names_that_the_function_was_imported_by(monkeypatch):
    module = types.ModuleType("own_model")
    code = """
from torch.nn.functional import scaled_dot_product_attention
from torch.nn.functional import scaled_dot_product_attention as attend
from test_watch_fused import CausalSelfAttention

def helper(parts):
    return attend(*parts, is_causal=True)

class Attention(CausalSelfAttention):
    def forward(self, x):
        a = scaled_dot_product_attention(*self.parts(x), is_causal=True)
        return self.c_proj(helper(self.parts(x)).transpose(1, 2).flatten(2)) + a.transpose(1, 2).flatten(2)
"""
    monkeypatch.setitem(sys.modules, "own_model", module)
    monkeypatch.setitem(sys.modules, "test_watch_fused", sys.modules[__name__])
    exec(code, vars(module))
    model = Model(module.Attention, layers=1)
    check(model, ids(), layers=("blocks.0.attn", "blocks.0.attn#2"))


def test_layers_that_are_seen_otherwise_are_seen_once(fused, monkeypatch):
    """MultiheadAttention calls the function in later versions of PyTorch."""
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.0), 2)
    for training in (True, False):
        with sg.watch(model.train(training)) as seen:
            model(torch.randn(3, TOKENS, 8), LATER)
        assert seen.layers == ["layers.0.self_attn", "layers.1.self_attn"]
        assert seen.result().fidelity.shape == (2, 3)


def test_generation_with_a_cache():
    class Cached(CausalSelfAttention):
        keys = None

        def forward(self, x):
            q, k, v = self.parts(x)
            if self.keys is not None:
                k, v = torch.cat([self.keys[0], k], 2), torch.cat([self.keys[1], v], 2)
            self.keys = k, v
            call = {"is_causal": True} if q.shape[2] == k.shape[2] else {}
            return self.c_proj(functional.scaled_dot_product_attention(q, k, v, **call).transpose(1, 2).flatten(2))

    model = Model(Cached)
    text = ids(2)
    with torch.no_grad(), sg.watch(model) as seen:
        model(text[:, :5])
        model(text[:, 5:6])
        model(text[:, 6:])
    for block in model.blocks:
        block["attn"].keys = None
    with torch.no_grad(), sg.watch(model) as whole:
        model(text)
    np.testing.assert_allclose(seen.attention(1, 1), whole.attention(1, 1), rtol=1e-5, atol=1e-6)


def test_chosen_layers_and_values():
    model = Model(is_causal=True, layers=3)
    with sg.watch(model, layers=[1], values=True) as seen:
        model(ids())
    assert seen.layers == ["blocks.1.attn"]
    assert seen.result(edges="norm").fidelity.shape == (1, 3)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("call", ["causal", "grouped", "mask"])
def test_calls_on_a_gpu_in_half_precision(call):
    torch.manual_seed(3)
    options = {key: value.cuda() if hasattr(value, "cuda") else value for key, value in CALLS[call].items()}
    model = Model(**options).cuda().half()
    with torch.no_grad():
        seen = check(model, ids().cuda())
        for layer, weights in enumerate(expected(model, ids().cuda())):
            np.testing.assert_allclose(seen.attention(layer, 1), weights[1].float().cpu(), atol=3e-3)
    assert np.isfinite(seen.result(weights="learned").fidelity).all()


@pytest.mark.skipif(not hasattr(functional, "scaled_dot_product_attention"), reason="the function of PyTorch 2 itself")
def test_the_functions_own_output_is_what_is_written_down():
    for call in CALLS.values():
        torch.manual_seed(3)
        model = Model(**call)
        with torch.no_grad():
            module = model.blocks[0]["attn"]
            parts = module.parts(model.embed(ids()))
            torch.testing.assert_close(functional.scaled_dot_product_attention(*parts, **module.options()), written_down(*parts, **module.options())[0])
