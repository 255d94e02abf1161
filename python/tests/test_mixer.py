"""One system at any weights, against references in NumPy and against the rest of the package."""

import itertools
import math

import numpy as np
import pytest

import synergraph as sg
from conftest import random_attention


@pytest.fixture
def heads():
    return random_attention(4, 9, 9)


def signals(diffusion, steps):
    """(D^t)[sink], t = 0 to steps."""
    return np.array([np.linalg.matrix_power(diffusion, t)[-1] for t in range(steps + 1)])


def pooled_walk(diffusion):
    """A step from j to i >= j with probability D(i, j) over its column's sum; the sink keeps what it has."""
    walk = diffusion.T / diffusion.sum(axis=0)[:, np.newaxis]
    walk[-1] = np.eye(len(walk))[-1]
    return walk


def survivals(diffusion, steps):
    """P(T_j > t)."""
    walk, now, all_steps = pooled_walk(diffusion), np.ones(len(diffusion)), []
    now[-1] = 0
    for _ in range(steps + 1):
        all_steps.append(now)
        now = walk @ now
        now[-1] = 0
    return np.array(all_steps)


def test_curves_are_those_of_numpy(heads):
    steps, weights = 30, np.array([1, 0, 2, 5])
    curves = sg.Mixer(heads).curves(steps, weights)
    every = [*heads, np.tensordot(weights / weights.sum(), heads, 1)]
    assert curves["signal"].shape == (5, 31, 9) and curves["survival"].shape == (5, 31)
    for k, diffusion in enumerate(every):
        signal, survival = signals(diffusion, steps), survivals(diffusion, steps)
        np.testing.assert_allclose(curves["signal"][k], signal, rtol=1e-12, atol=1e-300)
        np.testing.assert_allclose(curves["survival"][k], survival.max(axis=1), rtol=1e-12)
        np.testing.assert_allclose(curves["mean_survival"][k], survival.mean(axis=1), rtol=1e-12)
        minimax = np.maximum.accumulate(signal[:, :-1], axis=0).min(axis=1)
        np.testing.assert_allclose(curves["minimax_fidelity"][k], minimax, rtol=1e-12)
    assert "signal" not in sg.Mixer(heads).curves(3, signal=False)
    np.testing.assert_array_equal(curves["signal"], sg.signal_curves(heads, steps, weights=weights))


def test_nodes_and_horizon_hold_for_curves(heads):
    steps = 12
    minimax = sg.Mixer(heads, nodes="all", horizon=5).curves(steps)["minimax_fidelity"][-1]
    peaks = np.maximum.accumulate(signals(heads.mean(axis=0), steps)[1:6], axis=0).min(axis=1)
    np.testing.assert_allclose(minimax, [0, *peaks, *[peaks[-1]] * (steps - 5)], rtol=1e-12)


def test_update_is_measure(heads):
    mixer = sg.Mixer(heads, eps=[0.25, 0.01])
    for weights in ([1, 1, 1, 1], [1, 0, 0, 2], np.array([0, 0, 3, 0])):
        mixed = mixer.update(weights)
        measured = sg.measure(heads, weights, eps=[0.25, 0.01], per_head=True, per_node=True)
        np.testing.assert_allclose(mixed.weights, np.array(weights) / np.sum(weights))
        for name in measured:
            np.testing.assert_allclose(mixed[name], measured[name], rtol=1e-13, err_msg=name)
        for name in measured.heads:
            np.testing.assert_array_equal(mixer.heads[name], measured.heads[name])
    assert mixer.update().to_json() == mixer.update([2, 2, 2, 2]).to_json()
    assert "combined" in mixer.update().to_dict() and mixer.update().table()


def test_layer_sample_and_weights_are_chosen(attention):
    weights = [[1, 2, 3, 4], [4, 3, 2, 1]]
    measured = sg.measure(attention, weights)
    for layer, sample in itertools.product(range(2), range(3)):
        mixer = sg.Mixer(attention, weights, layer=layer, sample=sample)
        np.testing.assert_allclose(mixer.weights, np.array(weights[layer]) / 10)
        np.testing.assert_allclose(mixer.update().fidelity, measured.fidelity[layer, sample], rtol=1e-13)
    cut = sg.Mixer(attention, lengths=[5, 7, 12], sample=1)
    assert cut.curves(2)["signal"].shape == (5, 3, 7) and cut.update()["node_fidelity"].shape == (7,)


def shapley(value, players):
    """By its definition, from the values of all sets."""
    result = np.zeros(players)
    for h in range(players):
        for size in range(players):
            for others in itertools.combinations([k for k in range(players) if k != h], size):
                share = math.factorial(size) * math.factorial(players - size - 1) / math.factorial(players)
                result[h] += share * (value({*others, h}) - value(set(others)))
    return result


def test_subsets_are_those_of_brute_force(heads):
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    mixer = sg.Mixer(heads, weights)
    subsets = mixer.subsets()

    def measured(quantity, worth):
        return lambda some: worth(mixer.update([w if h in some else 0 for h, w in enumerate(weights)])[quantity]) if some else 0.0

    values = {"fidelity": measured("minimax_fidelity", float),
              "speed": measured("truncated_hitting_mean", lambda mean: 1 - mean / 100)}
    assert set(subsets) == set(values)
    for name, value in values.items():
        found = subsets[name]
        table = [value({h for h in range(4) if s >> h & 1}) for s in range(16)]
        np.testing.assert_allclose(found.table, table, rtol=1e-11)
        np.testing.assert_allclose(found.shapley, shapley(value, 4), rtol=1e-9, atol=1e-13)
        assert found.pairs.shape == (4, 4) and (found.pairs == found.pairs.T).all()
        for size, best in enumerate(found.best):
            assert len(best) == size
            assert sum(1 << h for h in best) == max((s for s in range(16) if bin(s).count("1") == size), key=lambda s: found.table[s])


@pytest.mark.parametrize("goal", ["fidelity", "speed", "hitting-time"])
def test_best_weights_are_no_worse(heads, goal):
    mixer = sg.Mixer(heads)
    best = mixer.best_weights(goal, [1, 2, 3, 4])
    better = (lambda a, b: a <= b) if goal == "hitting-time" else (lambda a, b: a >= b)
    assert better(best["value"], best["given_value"])
    np.testing.assert_allclose(best["weights"].sum(), 1, rtol=1e-12)
    if goal == "fidelity":
        np.testing.assert_allclose(mixer.update(best["weights"]).fidelity, best["value"], rtol=1e-11)


def test_a_graph_keeps_its_weights_and_walks():
    graph = sg.Graph.generate("chain:8", "powers:8").add_generated("star:8", weight=2)
    mixer = sg.Mixer(graph)
    assert mixer.update().to_json() == graph.measure().to_json()
    assert list(mixer.weights) == [0.25, 0.25, 0.5]
    survival = mixer.curves(200)["survival"][-1]
    assert np.argmax(survival <= 0.25) == graph.measure().mixing_time


def test_arrays_may_go_before_the_mixer():
    mixer = sg.Mixer(random_attention(2, 30, 30).copy())
    before = mixer.update([1, 2]).fidelity
    _ = [np.ones((2, 30, 30)) for _ in range(50)]
    assert mixer.update([1, 2]).fidelity == before


@pytest.mark.parametrize("weights, message", [
    ([1, 1, 1], "3 weights for 4 heads"),
    ([1] * 5, "5 weights for 4 heads"),
    ([1, 1, 1, -1], "not finite and non-negative"),
    ([1, 1, 1, math.nan], "not finite and non-negative"),
    ([1, 1, 1, math.inf], "not finite and non-negative"),
    ([0, 0, 0, 0], "all head weights are zero"),
    ([], "weights"),
])
def test_wrong_weights(heads, weights, message):
    mixer = sg.Mixer(heads)
    for call in (mixer.update, mixer.subsets, lambda w: mixer.best_weights(weights=w), lambda w: mixer.curves(3, w)):
        with pytest.raises((sg.InputError, sg.UsageError), match=message):
            call(weights)
    assert mixer.update().fidelity > 0


def test_wrong_requests(heads):
    for options, message in (({"layer": 1}, "layer 1 was asked for"), ({"sample": 1}, "sample 1 was asked for"), ({"layer": -1}, "layer"),
                             ({"convention": "both"}, "one convention"), ({"convention": "old"}, "convention"), ({"eps": 2}, "eps"),
                             ({"layer": 1.5}, "layer"), ({"weights": [1, 2]}, "weights")):
        with pytest.raises((sg.InputError, sg.UsageError), match=message):
            sg.Mixer(heads, **options)
    mixer = sg.Mixer(heads)
    for call in (lambda: mixer.curves(-1), lambda: mixer.curves(10**7), lambda: mixer.curves(2.5), lambda: mixer.best_weights("worth"),
                 lambda: mixer.best_weights(3), lambda: mixer.update("1,2"), lambda: mixer.curves(2, signal="no")):
        with pytest.raises((sg.InputError, sg.UsageError)):
            call()
    with pytest.raises(sg.InputError, match="row"):
        sg.Mixer(np.ones((2, 3, 3)))
    with pytest.raises(TypeError, match="pickled"):
        import pickle

        pickle.dumps(mixer)
