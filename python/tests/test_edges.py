"""What a head moves: norm and contribution edges against a reference in NumPy, and through all layers."""

import itertools
import json
from fractions import Fraction

import edges_reference as reference
import numpy as np
import pytest
from conftest import random_attention

import synergraph as sg

HEADS, TOKENS, WIDTH, OUTPUTS = 4, 9, 3, 10


def random_layer(seed, heads=HEADS, key_heads=HEADS, tokens=TOKENS, scale=1.0):
    """Attention (heads, n, n), and what it moves."""
    random = np.random.default_rng(seed)
    moved = {
        "values": scale * random.normal(size=(1, key_heads, tokens, WIDTH)),
        "out_proj": random.normal(size=(OUTPUTS, heads * WIDTH)),
        "out_proj_bias": scale * random.normal(size=OUTPUTS),
        "residual": scale * random.normal(size=(1, tokens, OUTPUTS)),
    }
    return random_attention(heads, tokens, tokens, seed=seed), moved


def edges_of(kind, attention, moved):
    vectors = reference.moved_vectors(moved["values"][0], moved["out_proj"], len(attention))
    if kind == "norm":
        return reference.norm_edges(attention, np.linalg.norm(vectors, axis=-1)), np.linalg.norm(moved["residual"][0], axis=-1)
    return reference.contribution_edges(attention, vectors, moved["residual"][0], moved.get("out_proj_bias", 0.0))


def expect_reference(edges, result):
    """Every number of a measurement with `per_head`."""
    whole = reference.diffusion(edges)
    assert result["minimax_fidelity"] == pytest.approx(reference.fidelity(whole), rel=1e-9)
    assert result["truncated_hitting_mean"] == pytest.approx(reference.truncated_mean(reference.walk_of_columns(whole)), rel=1e-9)
    for h, head in enumerate(edges):
        alone = reference.identity_where_empty(head)
        assert result.heads["minimax_fidelity"][h] == pytest.approx(reference.fidelity(alone), rel=1e-9, abs=1e-300)
        assert result.heads["truncated_hitting_mean"][h] == pytest.approx(
            reference.truncated_mean(reference.walk_of_columns(alone)), rel=1e-9)
    assert result.weights == pytest.approx(reference.row_weights(edges).mean(-1), rel=1e-12)


@pytest.mark.parametrize("kind", ["norm", "contribution"])
@pytest.mark.parametrize("key_heads", [1, 2, 4])
@pytest.mark.parametrize("seed", range(3))
def test_equals_the_reference(kind, key_heads, seed):
    attention, moved = random_layer(seed, key_heads=key_heads)
    edges, _ = edges_of(kind, attention, moved)
    expect_reference(edges, sg.measure(attention, edges=kind, moved=moved, per_head=True))
    heads = sg.heads(attention, edges=kind, moved=moved)
    for name, value in (("fidelity", reference.fidelity), ("speed", reference.speed)):
        worth = getattr(heads, name)
        assert worth["all"] == pytest.approx(value(reference.diffusion(edges)), rel=1e-9)
        assert worth["alone"] == pytest.approx([value(reference.diffusion(edges, [h])) for h in range(HEADS)], rel=1e-9, abs=1e-12)
        assert worth["shapley"] == pytest.approx(
            reference.shapley(lambda subset: value(reference.diffusion(edges, subset)), HEADS), rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("larger", [1e3, 1e12, 1e30])
def test_contributions_far_below_the_output_keep_their_digits(larger):
    """The residual is so much larger than what heads move. Against exact fractions: at 1e12, the difference of two lengths has 4 digits left."""
    attention, moved = random_layer(21)
    moved["residual"] *= larger
    # Exact numbers: products of doubles are fractions.
    shares = [[[Fraction(float(x)) for x in row] for row in head] for head in attention]
    projection = [[Fraction(float(x)) for x in row] for row in moved["out_proj"]]
    values = [[[Fraction(float(x)) for x in token] for token in head] for head in moved["values"][0]]
    vectors = [[[sum(projection[e][h * WIDTH + k] * values[h][j][k] for k in range(WIDTH)) for e in range(OUTPUTS)] for j in range(TOKENS)]
               for h in range(HEADS)]
    edges = np.zeros((HEADS, TOKENS, TOKENS))
    for i in range(TOKENS):
        parts = {(h, j): [shares[h][i][j] * x for x in vectors[h][j]] for h in range(HEADS) for j in range(i + 1)}
        whole = [Fraction(float(moved["residual"][0, i, e])) + Fraction(float(moved["out_proj_bias"][e])) + sum(part[e] for part in parts.values())
                 for e in range(OUTPUTS)]
        for (h, j), part in parts.items():
            edges[h, i, j] = max(Fraction(0), sum(abs(y) - abs(y - f) for y, f in zip(whole, part)))
    expect_reference(edges, sg.measure(attention, edges="contribution", moved=moved, per_head=True))


def test_more_heads_than_are_enumerated_have_the_same_values():
    attention, moved = random_layer(5)
    exact = sg.heads(attention, edges="norm", moved=moved)
    sampled = sg.heads(attention, edges="norm", moved=moved, exact_heads=2, precision=1e-9, orders=3000)
    assert sampled.fidelity["alone"] == pytest.approx(exact.fidelity["alone"], rel=1e-12)
    assert sampled.fidelity["dropped"] == pytest.approx(exact.fidelity["dropped"], rel=1e-9, abs=1e-12)
    assert sampled.fidelity["shapley"] == pytest.approx(exact.fidelity["shapley"], abs=0.02)
    assert sampled.fidelity["best_values"] == pytest.approx(exact.fidelity["best_values"], rel=1e-9) if "best_values" in sampled.fidelity else True


@pytest.mark.parametrize("normalization", ["per-head", "published"])
def test_other_walks(normalization):
    attention, moved = random_layer(11)
    edges, _ = edges_of("norm", attention, moved)
    weights = reference.row_weights(edges)
    whole = reference.diffusion(edges)
    if normalization == "per-head":  # at token j the walk takes head h with weight w_h(j)
        walk = sum(weights[h][:, None] * reference.walk_of_columns(reference.identity_where_empty(edges[h])) for h in range(HEADS))
    else:
        running = np.minimum(1.0, np.cumsum(whole, axis=0)).T
        walk = np.diff(running, axis=1, prepend=0.0)
        walk[:, -1] += 1.0 - running[:, -1]
        walk[-1] = np.eye(TOKENS)[-1]
    result = sg.measure(attention, edges="norm", moved=moved, normalization=normalization)
    assert result["truncated_hitting_mean"] == pytest.approx(reference.truncated_mean(walk), rel=1e-9)
    values = sg.heads(attention, edges="norm", moved=moved, normalization=normalization, values="speed")
    assert values.speed["all"] == pytest.approx(1.0 - reference.truncated_mean(walk) / 100, rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_cross_head_share(seed):
    attention, moved = random_layer(seed)
    edges, _ = edges_of("contribution", attention, moved)
    result = sg.measure(attention, edges="contribution", moved=moved, per_node=True)
    whole = reference.diffusion(edges)
    signals = [np.linalg.matrix_power(whole, t)[-1] for t in range(400)]
    peaks = np.max(signals, axis=0)
    node = int(np.argmin(peaks[:-1]))
    time = int(np.argmax([signal[node] for signal in signals]))
    if time < 399:
        assert result["cross_head_share"] == pytest.approx(reference.cross_head_share(edges, node, time), rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["norm", "contribution"])
def test_through_layers_the_residual_is_measured(kind, seed):
    layers = [random_layer(10 * seed + layer) for layer in range(3)]
    attention = np.stack([one for one, _ in layers])[:, None]
    moved = {part: [one[part] for _, one in layers] for part in layers[0][1]}
    each = [edges_of(kind, *layer) for layer in layers]
    shares = [reference.residual_share(*one) for one in each]
    signal, passed = reference.stack([edges for edges, _ in each], shares)
    result = sg.heads(attention, edges=kind, moved=moved, stack=True)
    assert result.stack["signal"] == pytest.approx(signal, rel=1e-10)
    assert result.stack["share_heads"] == pytest.approx(np.stack([heads for heads, _ in passed]), rel=1e-10)
    assert result.stack["share_residual"] == pytest.approx([beside for _, beside in passed], rel=1e-10)
    assert result.stack["share_heads"].sum(-1) + result.stack["share_residual"] == pytest.approx(1.0, rel=1e-12)
    assert result.stack["heads"].sum(-1) + result.stack["residual"] == pytest.approx(1.0, rel=1e-12)
    assert sg.measure(attention, edges=kind, moved=moved)["minimax_fidelity"].ravel() == pytest.approx(
        [reference.fidelity(reference.diffusion(edges)) for edges, _ in each], rel=1e-9)


def test_equal_norms_are_attention_with_equal_weights():
    attention = random_attention(2, 3, HEADS, TOKENS, TOKENS, seed=3)
    moved = {"norms": np.full((2, 3, HEADS, TOKENS), 0.75)}
    plain, by_norms = sg.measure(attention, per_head=True), sg.measure(attention, edges="norm", moved=moved, per_head=True)
    for name in ("minimax_fidelity", "truncated_hitting_mean", "hitting_mean", "cross_head_share", "synergy", "mixing_synergy",
                 "effective_forward_probability"):
        if name in plain:
            assert by_norms[name] == pytest.approx(plain[name], rel=1e-9, abs=1e-12), name
    one, other = sg.heads(attention, stack=True), sg.heads(attention, edges="norm", moved=moved, stack=True)
    assert other.fidelity["shapley"] == pytest.approx(one.fidelity["shapley"], rel=1e-9, abs=1e-12)
    assert other.stack["signal"] == pytest.approx(one.stack["signal"], rel=1e-12)


def test_norms_are_those_of_the_values():
    attention, moved = random_layer(7)
    vectors = reference.moved_vectors(moved["values"][0], moved["out_proj"], HEADS)
    norms = np.linalg.norm(vectors, axis=-1)
    one = sg.measure(attention, edges="norm", moved=moved, per_head=True)
    other = sg.measure(attention, edges="norm", moved={"norms": norms}, per_head=True)
    assert one["minimax_fidelity"] == pytest.approx(other["minimax_fidelity"], rel=1e-12)


@pytest.mark.parametrize("scale", [1e-30, 1e30, 1e150, 1e-150])
@pytest.mark.parametrize("kind", ["norm", "contribution"])
def test_scale_does_not_matter(kind, scale):
    attention, moved = random_layer(2)
    _, scaled = random_layer(2, scale=scale)
    one = sg.measure(attention, edges=kind, moved=moved, per_head=True)
    other = sg.measure(attention, edges=kind, moved=scaled, per_head=True)
    assert other["minimax_fidelity"] == pytest.approx(one["minimax_fidelity"], rel=1e-9)
    assert other.weights == pytest.approx(one.weights, rel=1e-9)


def test_norms_of_any_size_beside_each_other():
    attention = random_attention(3, TOKENS, TOKENS, seed=8)
    norms = np.random.default_rng(8).uniform(0.5, 2.0, size=(3, TOKENS))
    sizes = np.array([1e300, 1e270, 1e-300])[:, None]
    alone = sg.measure(attention, edges="norm", moved={"norms": norms}, per_head=True)
    huge = sg.measure(attention, edges="norm", moved={"norms": norms * sizes}, per_head=True)
    assert huge.heads["minimax_fidelity"] == pytest.approx(alone.heads["minimax_fidelity"], rel=1e-12)
    assert huge["minimax_fidelity"] == pytest.approx(alone.heads["minimax_fidelity"][0], rel=1e-8)


def test_a_row_in_which_nothing_moves_keeps_what_it_gets():
    attention = random_attention(3, TOKENS, TOKENS, seed=4)
    norms = np.random.default_rng(4).uniform(0.5, 2.0, size=(3, TOKENS))
    norms[0] = 0.0       # a head that moves nothing
    norms[:, :3] = 0.0   # tokens that no head moves: the first rows move nothing at all
    norms[1, 3:6] = 0.0  # and rows in which only one head does
    edges = reference.norm_edges(attention, norms)
    expect_reference(edges, sg.measure(attention, edges="norm", moved={"norms": norms}, per_head=True))
    worth = sg.heads(attention, edges="norm", moved={"norms": norms}).fidelity
    assert worth["alone"][0] == 0.0
    for subset in itertools.chain.from_iterable(itertools.combinations(range(3), size) for size in (1, 2)):
        value = reference.fidelity(reference.diffusion(edges, subset))
        if len(subset) == 1:
            assert worth["alone"][subset[0]] == pytest.approx(value, rel=1e-9, abs=1e-300)
        else:
            missing = ({0, 1, 2} - set(subset)).pop()
            assert worth["all"] - worth["dropped"][missing] == pytest.approx(value, rel=1e-9, abs=1e-12)


def test_nothing_moves_at_all():
    attention = random_attention(2, TOKENS, TOKENS, seed=4)
    result = sg.measure(attention, edges="norm", moved={"norms": np.zeros((2, TOKENS))}, per_head=True)
    assert result["minimax_fidelity"] == 0.0 and np.all(result.heads["minimax_fidelity"] == 0.0)
    assert result.weights == pytest.approx([0.5, 0.5])
    worth = sg.heads(attention, edges="norm", moved={"norms": np.zeros((2, TOKENS))})
    assert worth.fidelity["all"] == 0.0 and worth.speed["all"] == pytest.approx(1.0 / TOKENS)


def test_heads_that_cancel():
    attention = np.repeat(random_attention(1, TOKENS, TOKENS, seed=6), 2, axis=0)
    _, moved = random_layer(6, heads=2, key_heads=2)
    moved["values"][0, 1] = moved["values"][0, 0]
    moved["out_proj"][:, WIDTH:] = -moved["out_proj"][:, :WIDTH]
    norm = sg.measure(attention, edges="norm", moved=moved)
    assert norm.weights == pytest.approx([0.5, 0.5])
    edges, beside = edges_of("contribution", attention, moved)
    expect_reference(edges, sg.measure(attention, edges="contribution", moved=moved, per_head=True))


def test_one_head_and_one_token():
    attention, moved = random_layer(9, heads=1, key_heads=1, tokens=1)
    for kind in ("norm", "contribution"):
        result = sg.measure(attention, edges=kind, moved=moved, per_head=True)
        assert result["minimax_fidelity"] == 1.0 and result.weights == pytest.approx([1.0])
    assert sg.heads(attention, edges="norm", moved=moved, stack=True).stack["signal"] == pytest.approx([1.0])


def test_sums_of_heads_alone_contribute_all():
    """One head that moves the only token, to a residual of zero: the head's share is one."""
    _, moved = random_layer(9, heads=1, key_heads=1, tokens=1)
    moved = {**moved, "residual": np.zeros((1, 1, OUTPUTS)), "out_proj_bias": np.zeros(OUTPUTS)}
    result = sg.heads(np.ones((1, 1, 1)), edges="contribution", moved=moved, stack=True)
    assert np.ravel(result.stack["share_heads"]) == pytest.approx([1.0])
    assert float(result.stack["share_residual"]) == pytest.approx(0.0)


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_elements_of_any_type_and_strides(kind):
    attention, moved = random_layer(1)
    short = {part: value.astype(kind) for part, value in moved.items()}
    exact = {part: value.astype(np.float64) for part, value in short.items()}
    turned = {**short, "values": np.ascontiguousarray(short["values"].transpose(3, 2, 1, 0)).transpose(3, 2, 1, 0),
              "out_proj": np.asfortranarray(short["out_proj"])}
    one = sg.measure(attention, edges="contribution", moved=exact)
    for other in (short, turned):
        assert sg.measure(attention, edges="contribution", moved=other).to_json() == one.to_json()


def test_sequences_and_missing_mass():
    """Padding is left out with what it moves; a learned sink logit moves nothing."""
    attention, moved = random_layer(12)
    tokens = 6
    part = attention[:, :tokens, :tokens]
    cut = {**moved, "values": moved["values"][:, :, :tokens], "residual": moved["residual"][:, :tokens]}
    expected = sg.measure(part, edges="contribution", moved=cut)
    assert sg.measure(attention, edges="contribution", moved=moved, lengths=[tokens])["minimax_fidelity"] == pytest.approx(
        expected["minimax_fidelity"], rel=1e-12)
    leaking = 0.75 * attention
    edges, _ = edges_of("norm", leaking, moved)
    assert sg.measure(leaking, edges="norm", moved=moved, missing_mass="node")["minimax_fidelity"] == pytest.approx(
        reference.fidelity(reference.diffusion(edges)), rel=1e-9)


@pytest.mark.parametrize("part, value, said", [
    ("values", np.nan, "values of head 2: token 3 contains nan"),
    ("values", np.inf, "values of head 2: token 3 contains inf"),
    ("residual", np.nan, "residual: token 2 contains nan"),
    ("out_proj", np.inf, "output projection: row 2 contains inf"),
    ("out_proj_bias", np.nan, "bias of the output projection: it contains nan"),
])
def test_numbers_that_are_not_finite_are_told(part, value, said):
    attention, moved = random_layer(0)
    place = {"values": (0, 2, 3, 1), "residual": (0, 2, 1), "out_proj": (2, 1), "out_proj_bias": (1,)}[part]
    moved[part][place] = value
    with pytest.raises(sg.InputError, match=said) as error:
        sg.measure(attention, edges="contribution", moved=moved)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("change, said", [
    ({"values": None}, "need the values"),
    ({"out_proj": None}, "need the values"),
    ({"residual": None}, "need the residual"),
    ({"values": np.ones((1, 3, TOKENS, WIDTH))}, "3 heads; the attention has 4"),
    ({"values": np.ones((1, 4, TOKENS - 1, WIDTH))}, "tokens"),
    ({"values": np.ones((2, 4, TOKENS, WIDTH))}, "2 samples"),
    ({"out_proj": np.ones((OUTPUTS, 5))}, "5 columns"),
    ({"residual": np.ones((1, TOKENS, 4))}, "4 numbers a token"),
    ({"out_proj_bias": np.ones(3)}, "3 numbers"),
    ({"values": np.ones(3)}, "shape"),
])
def test_what_does_not_fit_is_told(change, said):
    attention, moved = random_layer(0)
    moved = {part: value for part, value in {**moved, **change}.items() if value is not None}
    with pytest.raises(sg.InputError, match=said) as error:
        sg.measure(attention, edges="contribution", moved=moved)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("part, shape, said", [
    ("values", (1, 2**28, TOKENS, WIDTH), "268435456 heads, the attention has 4"),
    ("values", (1, 4, TOKENS, 2**28), "too large"),
    ("residual", (1, TOKENS, 2**28), "too large"),
    ("out_proj_bias", (2**28,), "too large"),
    ("out_proj", (2**16, 2**16), "not that of an output projection"),
    ("norms", (1, 2**28, TOKENS), "268435456 heads, the attention has 4"),
    ("norms", (1, 4, 2**28), "too large"),
])
def test_sizes_that_no_layer_has_are_refused_before_they_are_read(part, shape, said):
    attention, moved = random_layer(0)
    with pytest.raises(sg.InputError, match=said):
        sg.measure(attention, edges="norm", moved={**moved, part: np.broadcast_to(1.0, shape)})


def test_lists_that_are_no_arrays_are_told():
    attention, moved = random_layer(0)
    with pytest.raises(sg.OptionError, match="moved: values: .* is not an array, or a list"):
        sg.measure(attention, edges="norm", moved={**moved, "values": [moved["values"], None]})


@pytest.mark.parametrize("kind", ["norm", "contribution"])
def test_values_that_the_projection_makes_too_large_are_told(kind):
    """Token 1 moves 1e100 to token 2, but 1e400 per unit of attention."""
    attention = np.array([[[1, 0, 0], [1, 0, 0], [0, 1e-300, 1]]])
    moved = {"values": np.array([[[[0], [1e200], [0]]]]), "out_proj": np.array([[1e200]]), "residual": np.zeros((1, 3, 1))}
    with pytest.raises(sg.InputError, match="values of head 0, token 1: the output projection makes them too large"):
        sg.measure(attention, edges=kind, moved=moved)


def test_norms_that_cannot_be_are_told():
    attention, _ = random_layer(0)
    norms = np.ones((HEADS, TOKENS))
    norms[1, 2] = -1.0
    with pytest.raises(sg.InputError, match="norms: head 1 contains -1; expected finite norms"):
        sg.measure(attention, edges="norm", moved={"norms": norms})


def test_usage():
    attention, moved = random_layer(0)
    with pytest.raises(sg.UsageError, match="what the heads move"):
        sg.measure(attention, edges="norm")
    with pytest.raises(sg.UsageError, match="give no weights"):
        sg.measure(attention, [1, 1, 1, 1], edges="norm", moved=moved)
    with pytest.raises(sg.OptionError, match="'value' is not one of"):
        sg.measure(attention, edges="norm", moved={"value": moved["values"]})
    with pytest.raises(sg.UsageError, match="edges"):
        sg.measure(attention, edges="norms", moved=moved)
    with pytest.raises(sg.UsageError, match="measures the share of the residual"):
        sg.heads(attention, edges="contribution", moved=moved, stack=True, residual=0.5)


def test_equals_the_program(document, tmp_path):
    layers = [random_layer(layer) for layer in range(2)]
    attention = np.stack([one for one, _ in layers])[:, None]
    moved = {part: np.stack([one[part] for _, one in layers]) for part in layers[0][1]}
    np.savez(tmp_path / "moved.npz", **moved)
    np.savez(tmp_path / "layers.npz", **{f"layers.{layer}.{part}": value for layer, (_, one) in enumerate(layers)
                                         for part, value in one.items()})
    for name in ("moved.npz", "layers.npz"):
        options = ["--edges", "contribution", "--moved", tmp_path / name]
        assert sg.measure(attention, edges="contribution", moved=moved).to_json() == document("analyze", attention, *options)
        assert sg.heads(attention, edges="contribution", moved=moved, stack=True).to_json() == document(
            "heads", attention, *options, "--stack")
    one = sg.measure(attention[1:2], edges="norm", moved={part: value[1:2] for part, value in moved.items()})
    chosen = document("analyze", attention, "--edges", "norm", "--moved", tmp_path / "moved.npz", "--layers", "1")
    assert str(one["minimax_fidelity"].item())[:12] in chosen


# Through all layers


def random_stack(seed, layers=3, heads=2, tokens=5):
    return random_attention(layers, 1, heads, tokens, tokens, seed=seed)


def capacities(attention, residual=0.5):
    mean = attention[:, 0].mean(1)
    return residual * np.eye(mean.shape[-1]) + (1.0 - residual) * mean


@pytest.mark.parametrize("seed", range(3))
def test_rollout(seed):
    attention = random_stack(seed)
    expected = np.linalg.multi_dot([np.eye(5), *capacities(attention)[::-1]])[-1]
    assert sg.rollout(attention)[0] == pytest.approx(expected, rel=1e-12)
    assert sg.heads(attention, stack=True, method="rollout", weights=[1, 3]).stack["signal"] == pytest.approx(expected, rel=1e-12)
    assert sg.heads(attention, stack=True, weights=[1, 3]).stack["signal"] != pytest.approx(expected, rel=1e-6)


def least_cut(layers, token):
    """The maximum flow as the least capacity of a cut, over all of them: places on the token's side are bits of a number."""
    tokens, levels = layers.shape[-1], len(layers) + 1
    inner = [(level, place) for level in range(1, levels) for place in range(tokens) if (level, place) != (levels - 1, tokens - 1)]
    least = np.inf
    for bits in range(2 ** len(inner)):
        side = np.zeros((levels, tokens), dtype=bool)
        side[0, token] = True
        for number, place in enumerate(inner):
            side[place] = bits >> number & 1
        cut = sum(layers[level - 1][np.ix_(~side[level], side[level - 1])].sum() for level in range(1, levels))
        least = min(least, cut)
    return least


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("layers, tokens", [(1, 4), (2, 4), (3, 3), (4, 3)])
def test_flow_is_the_least_cut(layers, tokens, seed):
    attention = random_stack(seed, layers=layers, tokens=tokens)
    expected = [least_cut(capacities(attention), token) for token in range(tokens)]
    assert sg.flow(attention)[0] == pytest.approx(expected, rel=1e-12)
    result = sg.heads(attention, stack=True, method="flow")
    assert result.stack["flow"] == pytest.approx(expected, rel=1e-12)
    assert np.all(sg.flow(attention)[0] >= sg.rollout(attention)[0] - 1e-12)  # the signal is a flow


def largest_flow(layers, token):
    """The maximum flow by shortest augmenting paths."""
    levels, tokens = len(layers) + 1, layers.shape[-1]
    room = {}
    for level, layer in enumerate(layers):
        for query, key in zip(*np.nonzero(layer)):
            room.setdefault((level, key), {})[level + 1, query] = layer[query, key]
            room.setdefault((level + 1, query), {}).setdefault((level, key), 0.0)
    start, end, flow = (0, token), (levels - 1, tokens - 1), 0.0
    while True:
        before, waiting = {start: None}, [start]
        for place in waiting:
            for following, free in room.get(place, {}).items():
                if free > 1e-15 and following not in before:
                    before[following] = place
                    waiting.append(following)
        if end not in before:
            return flow
        path, place = [], end
        while before[place] is not None:
            path.append((before[place], place))
            place = before[place]
        step = min(room[one][other] for one, other in path)
        flow += step
        for one, other in path:
            room[one][other] -= step
            room[other][one] = room[other].get(one, 0.0) + step


@pytest.mark.parametrize("layers, tokens", [(5, 11), (3, 15)])
def test_flow_is_that_of_augmenting_paths(layers, tokens):
    attention = random_stack(layers, layers=layers, heads=2, tokens=tokens) ** 4
    attention /= attention.sum(-1, keepdims=True)
    expected = [largest_flow(capacities(attention), token) for token in range(tokens)]
    assert sg.flow(attention)[0] == pytest.approx(expected, rel=1e-11)


def test_flow_uses_what_was_measured():
    attention, moved = random_layer(3, tokens=3)
    edges, beside = edges_of("contribution", attention, moved)
    share = reference.residual_share(edges, beside)
    layer = np.diag(share) + (1.0 - share)[:, None] * reference.diffusion(edges)
    expected = [least_cut(layer[None], token) for token in range(3)]
    assert sg.flow(attention, edges="contribution", moved=moved) == pytest.approx(expected, rel=1e-12)


def test_flow_of_many_tokens_is_a_flow():
    attention = random_stack(1, layers=4, heads=3, tokens=40)
    flow = sg.flow(attention)[0]
    assert flow[-1] >= 0.5**4 and np.all((flow > 0) & (flow <= 1.0 + 1e-12))


def test_methods_that_do_not_go_together():
    attention = random_stack(0)
    with pytest.raises(sg.UsageError, match="need stack"):
        sg.heads(attention, method="flow")
    with pytest.raises(sg.UsageError, match="0.5"):
        sg.heads(attention, stack=True, method="rollout", residual=0.25)


# Models


def parameters_of(path):
    """The tensors of a safetensors file."""
    bytes_ = path.read_bytes()
    size = int.from_bytes(bytes_[:8], "little")
    header = json.loads(bytes_[8:8 + size])
    return {name: np.frombuffer(bytes_[8 + size:][slice(*one["data_offsets"])], dtype=np.float32).reshape(one["shape"]).astype(np.float64)
            for name, one in header.items() if name != "__metadata__"}


def rms(x, gain):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + 2.0**-23) * gain


def layers_of_model(parameters, tokens, heads):
    """Attention and what it moves, layer by layer."""
    x = parameters["token_emb.weight"][tokens] + parameters["pos_emb.weight"][:len(tokens)]
    width = x.shape[-1] // heads
    layer = 0
    while f"layers.{layer}.ln1.weight" in parameters:
        def linear(name, inputs, at=layer):
            return inputs @ parameters[f"layers.{at}.{name}.weight"].T + parameters[f"layers.{at}.{name}.bias"]
        normed = rms(x, parameters[f"layers.{layer}.ln1.weight"])
        queries, keys, values = (linear(f"attn.{name}", normed).reshape(len(x), heads, width).transpose(1, 0, 2)
                                 for name in ("W_q", "W_k", "W_v"))
        scores = np.where(np.tri(len(x), dtype=bool), queries @ keys.transpose(0, 2, 1) / np.sqrt(width), -np.inf)
        attention = np.exp(scores - scores.max(-1, keepdims=True))
        attention /= attention.sum(-1, keepdims=True)
        yield attention, {"values": values[None], "out_proj": parameters[f"layers.{layer}.attn.out_proj.weight"],
                          "out_proj_bias": parameters[f"layers.{layer}.attn.out_proj.bias"], "residual": x[None]}
        x = x + linear("attn.out_proj", (attention @ values).transpose(1, 0, 2).reshape(len(x), -1))
        x = x + linear("mlp.2", np.maximum(0.0, linear("mlp.0", rms(x, parameters[f"layers.{layer}.ln2.weight"]))))
        layer += 1


@pytest.mark.parametrize("kind", ["norm", "contribution"])
def test_a_model_knows_what_it_moves(kind, checkpoint, program):
    tokens = np.array([3, 1, 4, 1, 5, 8])
    model = sg.load_model(checkpoint)
    layers = list(layers_of_model(parameters_of(checkpoint), tokens, 2))
    each = [edges_of(kind, *layer) for layer in layers]
    result = model.measure(tokens[None], edges=kind, per_head=True)
    for layer, (edges, _) in enumerate(each):
        assert result.fidelity[layer, 0] == pytest.approx(reference.fidelity(reference.diffusion(edges)), rel=1e-4)
        assert result.weights[layer] == pytest.approx(reference.row_weights(edges).mean(-1), rel=1e-4)
    stacked = model.value_heads(tokens[None], edges=kind, stack=True).stack
    signal, passed = reference.stack([edges for edges, _ in each], [reference.residual_share(*one) for one in each])
    assert stacked["signal"] == pytest.approx(signal, rel=1e-4)
    assert stacked["share_heads"] == pytest.approx(np.stack([heads for heads, _ in passed]), rel=1e-4)
    options = ["--edges", kind, "--task", "copy", "--samples", "3", "--quiet", "--json", "-"]
    assert model.measure(task="copy", samples=3, edges=kind).to_json() == program("analyze", checkpoint, *options)


def test_what_hardly_moves_beside_the_residual_keeps_its_digits():
    attention, moved = random_layer(17)
    edges, residual = edges_of("norm", attention, moved)
    whole = sg.heads(attention, edges="norm", moved={**moved, "values": 1e-20 * moved["values"]}, stack=True, values="speed")
    shares = 1e-20 * edges.sum((0, 2)) / residual
    assert whole.stack["share_heads"].sum() == pytest.approx(shares[-1], rel=1e-12, abs=0)
    assert whole.stack["signal"][:-1] == pytest.approx(shares[-1] * reference.diffusion(edges)[-1, :-1], rel=1e-12, abs=0)
