"""Heads that do not fit into the memory: against plain NumPy, and against heads in memory."""

import math

import numpy as np
import pytest

import synergraph as sg

# Three matrices of 300 tokens take a little more than 2 MiB.
MEMORY = 2 << 20
TOKENS = 300


def softmax(logits):
    logits = np.where(np.tril(np.ones(logits.shape[-2:], dtype=bool)), logits, -np.inf)
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def random_heads(heads, dtype="float64", scale=1.5, seed=1):
    return softmax(scale * np.random.default_rng(seed).normal(size=(heads, TOKENS, TOKENS))).astype(dtype)


def exact_rows(array):
    """What is measured: rows in double precision that sum to 1."""
    array = array.astype(np.float64)
    return array / array.sum(axis=-1, keepdims=True)


def walk_numbers(step, eps=0.25, cutoff=100):
    """Of a walk with rows that sum to 1, step by step."""
    n = len(step)
    hitting = np.zeros(n)
    for j in range(n - 2, -1, -1):
        leave = step[j, j + 1:].sum()
        hitting[j] = (1.0 + step[j, j + 1:] @ hitting[j + 1:]) / leave if leave > 0 else math.inf
    survival = np.ones(n)
    survival[-1] = 0.0
    truncated, mixing, time = np.zeros(n), None, 0
    while time < cutoff or mixing is None:
        if mixing is None and survival.max() <= eps:
            mixing = time
        if time < cutoff:
            truncated += survival
        survival = step @ survival
        survival[-1] = 0.0
        time += 1
        if math.isinf(hitting.max()) and time >= cutoff:
            mixing = math.inf
    return {"hitting_mean": hitting.mean(), "hitting_max": hitting.max(), "truncated_hitting_mean": truncated.mean(),
            "truncated_hitting_max": truncated.max(), "mixing_time": mixing}


def columns_walk(attention):
    return attention.T / attention.sum(axis=0)[:, None]


def published_walk(attention):
    """Running sums of the columns, cut at 1; what is missing goes to the sink."""
    reached = np.minimum(1.0, np.cumsum(attention.T, axis=1))
    step = np.diff(reached, axis=1, prepend=0.0)
    step[:, -1] += 1.0 - reached[:, -1]
    step[-1] = 0.0
    step[-1, -1] = 1.0
    return step


def fidelity(diffusion, sources, steps):
    signal = np.zeros(len(diffusion))
    signal[-1] = 1.0
    peak = np.zeros(len(diffusion))
    for _ in range(steps):
        signal = signal @ diffusion
        peak = np.maximum(peak, signal)
    return peak[:-1].min() if sources else peak.min()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("heads", [1, 3])
def test_equals_numpy(tmp_path, dtype, heads):
    array = random_heads(heads, dtype)
    np.save(tmp_path / "a.npy", array)
    weights = np.arange(1.0, heads + 1)
    result = sg.measure(tmp_path / "a.npy", weights=weights, per_head=True, memory=MEMORY)
    shares = weights / weights.sum()
    exact = exact_rows(array)
    diffusion = np.tensordot(shares, exact, 1)
    for key, wanted in walk_numbers(columns_walk(diffusion)).items():
        got = np.ravel(result.mixing_time if key == "mixing_time" else result[key])
        assert got == pytest.approx([wanted], rel=1e-12), key
    # The supremum: node 0 never is the weakest of random heads, and all signals are gone by then.
    combined = fidelity(diffusion, True, 4 * TOKENS)
    assert np.ravel(result.fidelity) == pytest.approx([combined], rel=1e-12)
    of_heads = [fidelity(head, True, 4 * TOKENS) for head in exact]
    assert np.ravel(result.heads["minimax_fidelity"]) == pytest.approx(of_heads, rel=1e-12)
    assert np.ravel(result.synergy) == pytest.approx([combined / max(of_heads)], rel=1e-12)
    times = [walk_numbers(columns_walk(head)) for head in exact]
    together = walk_numbers(np.tensordot(shares, [columns_walk(head) for head in exact], 1))
    synergy = min(t["mixing_time"] for t in times) / together["mixing_time"]
    assert np.ravel(result["mixing_synergy"]) == pytest.approx([synergy], rel=1e-12)
    for key in ("hitting_mean", "hitting_max", "truncated_hitting_mean"):
        assert np.ravel(result.heads[key]) == pytest.approx([t[key] for t in times], rel=1e-12), key


def test_equals_numpy_by_the_published_convention(tmp_path):
    array = random_heads(2, "float32")
    np.save(tmp_path / "a.npy", array)
    result = sg.measure(tmp_path / "a.npy", convention="published", memory=MEMORY)
    diffusion = exact_rows(array).mean(axis=0)
    wanted = walk_numbers(published_walk(diffusion))
    assert np.ravel(result["truncated_hitting_mean"]) == pytest.approx([wanted["truncated_hitting_mean"]], rel=1e-12)
    assert np.ravel(result.fidelity) == pytest.approx([fidelity(diffusion, False, 100)], rel=1e-12)
    assert np.isinf(np.ravel(result["hitting_mean"])).all()


def numbers(result):
    return {key: np.ravel(result[key]) for key in result if np.issubdtype(np.asarray(result[key]).dtype, np.number)}


def assert_same(streamed, whole):
    for key, wanted in numbers(whole).items():
        np.testing.assert_allclose(numbers(streamed)[key], wanted, rtol=1e-11, err_msg=key)


@pytest.mark.parametrize("save", ["npy", "npz", "safetensors", "memory map", "array"])
def test_streams_every_kind_of_input(tmp_path, save, program):
    array = random_heads(2, "float16")
    np.save(tmp_path / "a.npy", array)
    given = tmp_path / "a.npy"
    if save == "npz":
        given = tmp_path / "a.npz"
        np.savez(given, layer=array)
    elif save == "safetensors":
        given = tmp_path / "a.safetensors"
        program("convert", tmp_path / "a.npy", given)
    elif save == "memory map":
        given = np.load(given, mmap_mode="r")
    elif save == "array":
        given = array
    for convention in ("exact", "published"):
        assert_same(sg.measure(given, convention=convention, per_head=True, memory=MEMORY),
                    sg.measure(given, convention=convention, per_head=True))


@pytest.mark.parametrize("options", [{"lengths": [290], "padding": "left"}, {"sink": 295}, {"missing_mass": "node"}, {"normalization": "per-head"},
                                     {"nodes": "all", "horizon": 30}, {"eps": [0.5, 0.01], "cutoff": 7}, {"convention": ["exact", "published"]}])
def test_streams_with_options(options):
    array = random_heads(2)
    if "missing_mass" in options:
        array *= np.random.default_rng(2).uniform(0.5, 1.0, size=(2, TOKENS, 1))
    assert_same(sg.measure(array, per_head=True, memory=MEMORY - (1 << 19), **options), sg.measure(array, per_head=True, **options))


def test_the_same_bytes_for_any_threads(tmp_path):
    np.save(tmp_path / "a.npy", random_heads(3, "float16"))
    texts = {sg.measure(tmp_path / "a.npy", per_head=True, memory=MEMORY, threads=threads).to_json() for threads in (1, 2, 5)}
    assert len(texts) == 1


def test_slow_heads_have_bounds(tmp_path, program):
    slow = np.tril(np.full((TOKENS, TOKENS), 1e-9)) + np.eye(TOKENS)
    array = np.stack([slow / slow.sum(axis=1, keepdims=True), random_heads(1)[0]])
    np.save(tmp_path / "a.npy", array)
    streamed = sg.measure(array, per_head=True, memory=MEMORY)
    whole = sg.measure(array, per_head=True)
    assert np.isnan(np.ravel(streamed.heads["mixing_time_0.25"])[0])
    assert np.ravel(streamed.heads["hitting_mean"]) == pytest.approx(np.ravel(whole.heads["hitting_mean"]), rel=1e-12)
    assert np.ravel(streamed.heads["mixing_time_0.25"])[1] == np.ravel(whole.heads["mixing_time_0.25"])[1]
    text = program("analyze", tmp_path / "a.npy", "--per-head", "--memory", "2", "--quiet")
    assert "T_mix(0.25) of layer 0, head 0: between" in text


def test_refusals(tmp_path):
    array = random_heads(1)
    np.savez_compressed(tmp_path / "a.npz", layer=array)
    np.save(tmp_path / "f.npy", np.asfortranarray(array))
    for name, reason in (("a.npz", "compressed"), ("f.npy", "side by side")):
        with pytest.raises(ValueError, match=reason):
            sg.measure(tmp_path / name, memory=MEMORY)
    with pytest.raises(ValueError, match="every token"):
        sg.measure(array, per_node=True, memory=MEMORY)
    with pytest.raises(ValueError, match="at least"):
        sg.measure(random_heads(4), memory=1 << 20)
    bad = array.copy()
    bad[0, 200, 17] = -0.5
    with pytest.raises(ValueError, match="head 0: entry -0.5 in row 200, column 17 is negative"):
        sg.measure(bad, memory=MEMORY)
