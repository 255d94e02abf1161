"""What heads move in models that are watched: the same as from arrays."""

import numpy as np
import pytest

import synergraph as sg

torch = pytest.importorskip("torch")
import live_models  # noqa: E402
from live_models import Decoder  # noqa: E402

from synergraph._live.post_norms import linear_in  # noqa: E402

TOKENS = torch.randint(0, 32, (3, 10), generator=torch.Generator().manual_seed(1))
PADDING = torch.ones(3, 10, dtype=torch.long)
PADDING[1, :4] = 0
PADDING[2, 7:] = 0


class Block(torch.nn.Module):
    """A module around attention, whose input is what attention is added to."""

    def __init__(self, config, layer):
        super().__init__()
        self.self_attn = live_models.Attention(config, layer)

    def forward(self, states, attention_mask, cache):
        return self.self_attn(states, attention_mask, cache)


def moved_of(model, tokens, padding=None):
    """Values, projections and residuals of a Decoder of Blocks, by running its parts."""
    parts = {"values": [], "out_proj": [], "residual": []}
    states = model.embedding(tokens) * 2**0.5
    for block in model.layers:
        attention = block.self_attn
        split = (*states.shape[:2], -1, model.config.width)
        parts["values"].append(attention.v_proj(states).view(split).transpose(1, 2))
        parts["out_proj"].append(attention.o_proj.weight)
        parts["residual"].append(states)
        states = states + block(states, model.mask(padding, tokens.shape[1], 0), None)[0]
    return {part: [one.detach().numpy() for one in arrays] for part, arrays in parts.items()}


@pytest.mark.parametrize("padding", [None, PADDING], ids=["whole", "padded"])
@pytest.mark.parametrize("kind", ["norm", "contribution"])
def test_equals_arrays(kind, padding):
    model = Decoder(attention=Block)
    expected = model(TOKENS, padding)[0]
    with sg.watch(model, values=True) as seen:
        output = model(TOKENS, padding)[0]
    assert torch.equal(output, expected)
    moved = moved_of(model, TOKENS, padding)
    spans = [(0, 10)] * 3 if padding is None else [(0, 10), (4, 10), (0, 7)]
    result = seen.result(edges=kind, per_head=True)
    for sample, (begin, end) in enumerate(spans):
        arrays = [seen.attention(layer, sample)[None] for layer in range(2)]
        cut = {"values": [one[sample:sample + 1, :, begin:end] for one in moved["values"]], "out_proj": moved["out_proj"],
               "residual": [one[sample:sample + 1, begin:end] for one in moved["residual"]]}
        alone = sg.measure(arrays, edges=kind, moved=cut, per_head=True)
        np.testing.assert_allclose(result.fidelity[:, sample], np.ravel(alone.fidelity), rtol=1e-4)
        np.testing.assert_allclose(result.heads["minimax_fidelity"][:, sample], alone.heads["minimax_fidelity"].reshape(2, 4), rtol=1e-4)
    if padding is None:
        stacked = seen.heads(edges=kind, stack=True, values="fidelity")
        assert stacked.stack["share_heads"].sum(-1) + stacked.stack["share_residual"] == pytest.approx(1.0)


def test_a_bias_of_one_layer_holds_for_this_layer_alone():
    model = Decoder(attention=Block)
    projection = model.layers[0].self_attn.o_proj
    bias = torch.linspace(-3, 3, len(projection.weight), dtype=projection.weight.dtype)
    projection.bias = torch.nn.Parameter(bias)
    with sg.watch(model, values=True) as seen:
        model(TOKENS)
    both = moved_of(model, TOKENS)
    arrays = [np.stack([seen.attention(layer, sample) for sample in range(3)]) for layer in range(2)]
    biases = [bias.numpy(), np.zeros_like(bias.numpy())]
    expected = sg.measure(arrays, edges="contribution", moved={**both, "out_proj_bias": biases})
    np.testing.assert_allclose(seen.result(edges="contribution").fidelity, expected.fidelity, rtol=1e-4)


def test_chosen_heads_and_generated_tokens():
    model = Decoder(attention=Block)
    moved = moved_of(model, TOKENS)
    with sg.watch(model, values=True, heads=[1, 2]) as seen:
        model(TOKENS)
    width = model.config.width
    norms = []
    for values, projection in zip(moved["values"], moved["out_proj"]):
        blocks = [values[:, head // 2] @ projection[:, head * width:(head + 1) * width].T for head in (1, 2)]
        norms.append(np.stack([np.linalg.norm(block, axis=-1) for block in blocks], axis=1))
    arrays = [np.stack([seen.attention(layer, sample) for sample in range(3)]) for layer in range(2)]
    np.testing.assert_allclose(seen.result(edges="norm").fidelity, sg.measure(arrays, edges="norm", moved={"norms": norms}).fidelity,
                               rtol=1e-4)
    cache = {}
    with sg.watch(model, values=True) as later:
        model(TOKENS[:, :7], cache=cache)
        for token in range(7, 10):
            model(TOKENS[:, token:token + 1], cache=cache)
    with sg.watch(model, values=True) as whole:
        model(TOKENS)
    np.testing.assert_allclose(later.result(edges="contribution").fidelity, whole.result(edges="contribution").fidelity, rtol=1e-3)


class Norm(torch.nn.Module):
    """The RMS norm of Gemma: its gain is 1 and a parameter."""

    def __init__(self, size):
        super().__init__()
        self.weight = torch.nn.Parameter(0.5 * torch.randn(size))

    def forward(self, states):
        return states * torch.rsqrt(states.square().mean(-1, keepdim=True) + 1e-6) * (1 + self.weight)


class NormedBlock(Block):
    """A block that normalises what the heads bring before it is added, as Gemma 2 and 3 do."""

    norm = Norm

    def __init__(self, config, layer):
        super().__init__(config, layer)
        self.post_attention_layernorm = self.norm(config.size)
        self.post_attention_layernorm.weight.data *= 3

    def forward(self, states, attention_mask, cache):
        added, weights = super().forward(states, attention_mask, cache)
        return self.post_attention_layernorm(added), weights


def block_with(norm_class):
    return type("BlockWith" + norm_class.__name__, (NormedBlock,), {"norm": norm_class})


def brute_force_shares(block, states, attention):
    """Contribution edges of one sample by the definition, with the norm's denominator as it was: (heads, tokens, tokens) and the
    residual's (tokens), not normalised."""
    module, norm = block.self_attn, block.post_attention_layernorm
    values = module.v_proj(states).view(len(states), -1, module.config.width).transpose(0, 1)
    heads, width = module.config.heads, module.config.width
    blocks = module.o_proj.weight.view(-1, heads, width)
    parts = torch.einsum("hij,hjd,ehd->hije", attention, values.repeat_interleave(heads // len(values), 0), blocks)
    out = parts.sum((0, 2))
    scale = torch.rsqrt(out.square().mean(-1, keepdim=True) + 1e-6) * (1 + norm.weight)
    parts = parts * scale[:, None]
    y = states + out * scale
    whole = y.abs().sum(-1)
    edges = (whole[:, None] - (y[:, None] - parts).abs().sum(-1)).clamp(min=0)
    return edges, (whole - (y - states).abs().sum(-1)).clamp(min=0), parts.norm(dim=-1)


@pytest.mark.parametrize("cached", [False, True])
def test_a_norm_behind_the_heads_counts_with_its_scale(cached):
    model = Decoder(attention=NormedBlock, layers=1, implementation="eager").double()
    expected_output = model(TOKENS)[0]
    with sg.watch(model, values=True) as seen:
        if cached:
            cache = {}
            parts = [model(TOKENS[:, first:last], cache=cache)[0] for first, last in [(0, 7), (7, 8), (8, 9), (9, 10)]]
            assert torch.allclose(torch.cat(parts, 1), expected_output)
        else:
            assert torch.equal(model(TOKENS)[0], expected_output)
    states = (model.embedding(TOKENS) * 2**0.5).detach()
    for kind in ("contribution", "norm"):
        stack = seen.heads(edges=kind, stack=True, values="fidelity").stack
        shares, beside = [], []
        with torch.no_grad():
            for sample in range(3):
                edges, residual, norms = brute_force_shares(model.layers[0], states[sample], torch.as_tensor(seen.attention(0, sample)))
                edges, residual = (norms, states[sample].norm(dim=-1)) if kind == "norm" else (edges, residual)
                row = edges[:, -1].sum(-1)
                shares.append((row / (row.sum() + residual[-1])).numpy())
                beside.append(float(residual[-1] / (row.sum() + residual[-1])))
        np.testing.assert_allclose(stack["share_heads"][0], np.mean(shares, 0), rtol=1e-9)
        assert stack["share_residual"][0] == pytest.approx(np.mean(beside), rel=1e-9)


def test_norms_that_are_not_linear_are_refused():
    model = Decoder(attention=block_with(torch.nn.LayerNorm), layers=1)
    with sg.watch(model, values=True) as seen:
        model(TOKENS)
    assert seen.result().fidelity.shape == (1, 3)
    for kind in ("norm", "contribution"):
        with pytest.raises(sg.InputError, match="goes through a LayerNorm before it is added to the residual") as refused:
            seen.result(edges=kind)
        assert "\n" not in str(refused.value)


def test_norms_of_the_sum_are_left_alone():
    """Llama's norm of that name is given the residual, not the heads' output."""
    class Outer(Block):
        def __init__(self, config, layer):
            super().__init__(config, layer)
            self.post_attention_layernorm = torch.nn.LayerNorm(config.size)

        def forward(self, states, attention_mask, cache):
            added, weights = super().forward(states, attention_mask, cache)
            self.post_attention_layernorm(states + added)
            return added, weights

    both = []
    for block in (Block, Outer):
        model = Decoder(attention=block, seed=3, layers=1)
        with sg.watch(model, values=True) as seen:
            model(TOKENS)
        both.append(seen.result(edges="contribution").fidelity)
    np.testing.assert_array_equal(*both)


def test_the_gain_that_fits_best_counts():
    """A parameter whose channels hardly differ fits within rounding with and without 1 added; zeros fit with every gain."""
    torch.manual_seed(0)
    norm = Norm(8).to(torch.bfloat16)
    norm.weight.data = torch.linspace(0.9, 1.1, 8, dtype=torch.bfloat16)
    given = torch.randn(5, 8, dtype=torch.bfloat16)
    expected = 1 + norm.weight.detach().double()
    gain, scale = linear_in(norm, given, norm(given))
    assert torch.equal(gain, expected)
    assert torch.allclose(scale * given.double().square().mean(-1).sqrt(), torch.ones(5, dtype=torch.float64), rtol=0.02)
    assert linear_in(norm, 0 * given, norm(0 * given))[0] is None
    wrong = norm.weight.detach().double()
    assert torch.equal(linear_in(norm, given, norm(given), wrong)[0], wrong)  # one gain for all calls, so that scales have one meaning


def test_a_first_call_that_moves_nothing_does_not_choose_the_gain():
    results = []
    for calls in ([TOKENS], [0 * TOKENS, TOKENS]):
        model = Decoder(attention=NormedBlock, layers=1, seed=4, implementation="eager").double()
        with torch.no_grad():
            model.embedding.weight[0] = 0
        with sg.watch(model, values=True) as seen:
            for tokens in calls:
                model(tokens)
        results.append(np.ravel(seen.result(edges="contribution").fidelity)[-len(TOKENS):])
    np.testing.assert_array_equal(*results)


def test_half_precision_norms_fit():
    model = Decoder(attention=NormedBlock, layers=1).to(torch.bfloat16)
    with sg.watch(model, values=True) as seen:
        model(TOKENS)
    assert (seen.result(edges="contribution").fidelity > 0).all()


def test_multihead_attention():
    torch.manual_seed(2)
    layer = torch.nn.TransformerEncoderLayer(12, 3, 16, batch_first=True, dropout=0.0).eval()
    states = torch.randn(2, 6, 12)
    mask = torch.triu(torch.ones(6, 6, dtype=torch.bool), 1)
    with sg.watch(layer, values=True) as seen, torch.no_grad():
        layer(states, src_mask=mask)
    attention = layer.self_attn
    values = torch.nn.functional.linear(states, attention.in_proj_weight[24:], attention.in_proj_bias[24:]).view(2, 6, 3, 4).transpose(1, 2)
    moved = {"values": values.detach().numpy(), "out_proj": attention.out_proj.weight.detach().numpy(),
             "out_proj_bias": attention.out_proj.bias.detach().numpy(), "residual": states.numpy()}
    arrays = np.stack([seen.attention(0, sample) for sample in range(2)])
    for kind in ("norm", "contribution"):
        np.testing.assert_allclose(np.ravel(seen.result(edges=kind).fidelity), np.ravel(sg.measure(arrays, edges=kind, moved=moved).fidelity),
                                   rtol=1e-4)


def test_ones_own_code():
    random = np.random.default_rng(0)
    attention = np.tril(random.uniform(size=(2, 5, 5)))
    attention /= attention.sum(-1, keepdims=True)
    moved = {"values": random.normal(size=(1, 2, 5, 3)), "out_proj": random.normal(size=(7, 6)), "residual": random.normal(size=(1, 5, 7))}
    with sg.watch(values=True) as seen:
        seen.record_weights("one", attention, projection=moved["out_proj"], values=moved["values"], residual=moved["residual"])
    expected = sg.measure(attention, edges="contribution", moved=moved)
    np.testing.assert_allclose(np.ravel(seen.result(edges="contribution").fidelity), expected.fidelity, rtol=1e-9)


def test_what_was_not_kept_is_told():
    model = Decoder()
    with sg.watch(model) as seen:
        model(TOKENS)
    with pytest.raises(sg.UsageError, match="values=True"):
        seen.result(edges="norm")
    with sg.watch(model, values=True) as seen:
        model(TOKENS)
    assert seen.result(edges="norm").fidelity.shape == (2, 3)
    with pytest.raises(sg.InputError, match="need the residual input"):  # no module around the attention tells it
        seen.result(edges="contribution")
