"""Averages and the way back, against a reference in NumPy, through every door of the package."""

import json

import numpy as np
import pytest

import synergraph as sg
from test_edges import edges_of, random_layer

EPS = 0.25
TIE = 1e-13


def softmax_heads(seed, shape, tokens, sharpness):
    logits = sharpness * np.random.default_rng(seed).normal(size=(*shape, tokens, tokens))
    weights = np.where(np.tri(tokens, dtype=bool), np.exp(logits), 0.0)
    return weights / weights.sum(-1, keepdims=True)


def nasty_heads(tokens):
    """Heads with a sink, one-hot rows, tokens that keep nearly all, and a token that nothing leaves."""
    attention = np.zeros((6, tokens, tokens))
    attention[:, 0, 0] = 1.0
    for i in range(1, tokens):
        attention[0, i, 0] = 1.0  # all to the first token
        attention[1, i, i - 1] = 1.0  # the previous token
        attention[2, i, i], attention[2, i, i - 1] = 1.0 - 2.0**-20, 2.0**-20
        attention[3, i, : i + 1] = 1.0 / (i + 1)
        attention[4, i, 0], attention[4, i, i] = 0.999, 0.001
        attention[5, i, i if i == tokens // 2 else i - 1] = 1.0
    return attention


def pooled_walk(d):
    """The walk by columns, P[j, i]; a token that no later one attends to stays."""
    walk = np.triu(d.T)
    empty = np.flatnonzero(walk.sum(1) == 0)
    walk[empty, empty] = 1.0
    walk /= walk.sum(1, keepdims=True)
    walk[-1] = 0.0
    walk[-1, -1] = 1.0
    return walk


def first_time(matrix, absorbing, met, most=4000000):
    """The first t at which the survivals of a chain meet a condition, by doubling powers: no steps are left out."""
    alive = np.delete(np.delete(matrix, absorbing, 0), absorbing, 1)

    def survival(power):
        return power.sum(1)

    if met(np.ones(len(alive))):
        return 0.0
    powers = [alive]
    while not met(survival(powers[-1])):
        if 2 ** len(powers) > most:
            return np.inf
        powers.append(powers[-1] @ powers[-1])
    time, power = 0, np.eye(len(alive))
    for k in range(len(powers) - 1, -1, -1):
        if not met(survival(powers[k] @ power)):
            power, time = powers[k] @ power, time + 2**k
    return time + 1.0


def reference(d):
    """The numbers of one diffusion matrix, from their definitions."""
    n = len(d)
    walk = pooled_walk(d)
    found = {
        "averaged_mixing_time_0.25": first_time(walk, n - 1, lambda s: 2 * s.sum() / n < EPS * (1 - TIE)),
        "averaged_mixing_time_tv_0.25": first_time(walk, n - 1, lambda s: s.sum() / n < EPS * (1 - TIE)),
        "backward_mixing_time_0.25": first_time(d, 0, lambda s: s.max() <= EPS * (1 + TIE)),
    }
    hitting = np.zeros(n)
    for i in range(1, n):
        down = d[i, :i]
        reached = down > 0
        hitting[i] = (1 + down[reached] @ hitting[:i][reached]) / down.sum() if reached.any() else np.inf
    signal, peak = np.eye(n)[-1], np.zeros(n)
    for _ in range(3000):
        if signal[1:].sum() < 1e-14:
            break
        signal = signal @ d
        peak = np.maximum(peak, signal)
    if np.isfinite(hitting[-1]):
        peak[0] = 1.0  # all arrives there
    fidelity = peak[:-1].min()
    found["backward_hitting_time"] = hitting[-1]
    found["normalised_fidelity"] = n * fidelity
    found["fidelity_bound"] = hitting[-1] / (n - 1)
    found["fidelity_tightness"] = fidelity * (n - 1) / hitting[-1]
    return found


def expect(result, d, at=()):
    for name, value in reference(d).items():
        assert np.asarray(result[name])[at] == pytest.approx(value, rel=1e-9), name


def test_equals_numpy_on_random_heads():
    for seed, sharpness in enumerate([0.0, 1.0, 2.5]):
        attention = softmax_heads(seed, (2, 3), 13, sharpness)
        result = sg.measure(attention, axes="sample head query key", per_head=True, backward=True)
        for sample in range(2):
            expect(result, attention[sample].mean(0), (sample,))
            for head in range(3):
                expect(result.heads, attention[sample, head], (sample, head))


def test_equals_numpy_on_nasty_heads():
    attention = nasty_heads(6)
    result = sg.measure(attention[:, None], axes="sample head query key", backward=True)
    for head in (0, 1, 3, 4, 5):
        expect(result, attention[head], (head,))
    # A head of 2^-20: the walk back takes 5 steps of 2^20 each on average, and peaks are those of Poisson's law.
    assert result["backward_hitting_time"][2] == 5 * 2.0**20
    assert result["backward_mixing_time_0.25"][2] / 2**20 == pytest.approx(6.27443, abs=1e-4)  # quantile 3/4 of a Gamma(5) number
    assert result["fidelity_tightness"][1] == 1.0 and result["fidelity_tightness"][5] == 0.0
    assert result["backward_hitting_time"][0] == 1.0 and np.isinf(result["backward_hitting_time"][5])


def test_is_not_there_unless_asked():
    attention = softmax_heads(5, (2,), 7, 1.0)
    plain = sg.measure(attention, per_head=True)
    assert not any(word in name for name in plain for word in ("backward", "averaged", "normalised", "tightness", "bound"))
    both = sg.measure(attention, per_head=True, backward=True)
    assert all(np.array_equal(plain[name], both[name], equal_nan=True) for name in plain)
    document = both.to_dict()["conventions"][0]
    assert document["settings"]["backward"] is True and "backward" not in plain.to_dict()["conventions"][0]["settings"]
    without = sg.measure(attention, backward=True).to_dict()["conventions"][0]["layers"][0]["heads"][0]
    assert "backward_hitting_time" in without and "backward_mixing_time_0.25" not in without  # walks of heads: per_head


def test_equals_the_program(tmp_path, program):
    attention = softmax_heads(6, (2, 3, 4), 9, 2.0).astype(np.float32)
    np.save(tmp_path / "a.npy", attention)
    options = {"backward": True, "per_head": True, "convention": "both", "step_limit": 1, "eps": [0.25, 0.01]}
    result = sg.measure(attention, **options)
    arguments = ["--backward", "--per-head", "--convention", "both", "--step-limit", "1", "--eps", "0.25,0.01", "--quiet"]
    assert result.to_json() == program("analyze", tmp_path / "a.npy", *arguments, "--json", "-")
    assert result.to_csv() == program("analyze", tmp_path / "a.npy", *arguments, "--per-sample", "-")
    assert "backward_mixing_time_0.01" in result.to_csv().splitlines()[0].split(",")
    lower, upper = result["normalised_fidelity"], result["normalised_fidelity_upper"]
    assert (upper >= lower).all() and (upper > lower).any()
    exact = sg.measure(attention, **{**options, "step_limit": 0})
    within = slice(0, 1)  # the exact convention
    assert (exact["normalised_fidelity"][within] >= lower[within]).all() and (exact["normalised_fidelity"][within] <= upper[within]).all()
    assert (exact["fidelity_tightness"][within] <= result["fidelity_tightness_upper"][within]).all()


def test_graphs(program):
    graph = sg.Graph.generate("chain:64", "complete:64")
    measured = graph.measure(backward=True)
    assert measured.heads["averaged_mixing_time_0.25"][0] == 111 and measured.heads["averaged_mixing_time_tv_0.25"][0] == 95
    assert measured.heads["normalised_fidelity"][1] == pytest.approx(1.0)
    assert measured.heads["backward_hitting_time"][0] == 126
    arguments = ["--generate", "chain:64", "--generate", "complete:64", "--backward"]
    assert measured.to_json() == program("graph", *arguments, "--json")
    combined = json.loads(measured.to_json())["combined"]
    assert combined["averaged_mixing_time"] == [{"eps": 0.25, "steps": measured["averaged_mixing_time_0.25"]}]
    assert "averaged_mixing_time" not in json.loads(graph.measure().to_json())["combined"]
    table = program("graph", *arguments)
    assert all(heading in table for heading in ("T_avg(0.25)", "F", "h_bwd", "T_bwd(0.25)", "tight"))


def test_several_sinks_and_missing_mass():
    attention = softmax_heads(8, (2,), 8, 1.5)
    sinks = sg.measure(attention, sink=[4, 7], backward=True)
    for place, sink in enumerate((4, 7)):
        alone = sg.measure(attention, sink=sink, backward=True)
        for name in ("backward_hitting_time", "averaged_mixing_time_0.25", "backward_mixing_time_0.25", "fidelity_tightness"):
            assert np.asarray(sinks[name]).ravel()[place] == np.asarray(alone[name]), name
    # A learned sink is node 0: what rows lack goes there.
    lacking = attention * 0.75
    found = sg.measure(lacking, missing_mass="node", backward=True)
    whole = np.zeros((2, 9, 9))
    whole[:, 1:, 1:], whole[:, 1:, 0], whole[:, 0, 0] = lacking, 0.25, 1.0
    expect(found, whole.mean(0))


def test_edges_with_weights_by_row():
    attention, moved = random_layer(2, key_heads=2)
    edges, _ = edges_of("norm", attention, moved)
    combined = edges.sum(0)
    expect(sg.measure(attention, edges="norm", moved=moved, backward=True), combined / combined.sum(-1, keepdims=True))


def test_chosen_tokens_have_their_own_bound():
    attention = softmax_heads(10, (2,), 9, 1.0)
    found = sg.measure(attention, from_tokens="0-3", backward=True)
    hitting = found["backward_hitting_time"]
    assert found["fidelity_bound"] == pytest.approx(hitting / 4)
    assert found["fidelity_tightness"] == pytest.approx(found["minimax_fidelity"] / (hitting / 4))
