"""What heads add: the same documents as the program's."""

import pickle

import itertools

import numpy as np
import pytest

import synergraph as sg


@pytest.fixture
def small(attention):
    """(layers, samples, heads, n, n), few of each."""
    cut = attention[:, :2, :, :8, :8]
    return cut / cut.sum(-1, keepdims=True)


@pytest.mark.parametrize("options, arguments", [
    ({}, []),
    ({"stack": True, "residual": 0.25, "follow": 2, "weight_samples": 0},
     ["--stack", "--residual", "0.25", "--follow", "2", "--weight-samples", "0"]),
    ({"values": ["speed"], "keep": 0.5, "weight_samples": 0}, ["--values", "speed", "--keep", "0.5", "--weight-samples", "0"]),
    ({"exact_heads": 3, "precision": 0.1, "orders": 64, "convention": "published", "weight_samples": 0},
     ["--weight-samples", "0", "--exact-heads", "3", "--precision", "0.1", "--orders", "64", "--convention", "published"]),
    ({"weights": [1, 2, 3, 4], "sink": 5, "weight_samples": 1}, ["--weights", "1,2,3,4", "--sink", "5", "--weight-samples", "1"]),
])
def test_equals_the_program(small, document, options, arguments):
    assert sg.heads(small, **options).to_json() == document("heads", small, *arguments)


@pytest.mark.parametrize("given, text", [(2, "2"), ([1, 2], "1,2"), ("::2", "::2"), (np.arange(2), "0,1"), (-2, "-2")])
def test_chosen_tokens_equal_the_program(small, document, given, text):
    options = ["--values", "fidelity", "--weight-samples", "0"]
    valued = sg.heads(small, values="fidelity", weight_samples=0, from_tokens=given)
    assert valued.to_json() == document("heads", small, *options, f"--from={text}")
    assert sg.measure(small, from_tokens=given).fidelity.mean(1).tolist() == pytest.approx(valued.fidelity["all"].tolist())


def test_several_sinks_are_averaged(small):
    options = {"values": "fidelity", "weight_samples": 0, "from_tokens": 1}
    several = sg.heads(small, sink=[3, -1], **options).fidelity
    single = [sg.heads(small, sink=sink, **options).fidelity for sink in (3, 7)]
    np.testing.assert_allclose(several["shapley"], (single[0]["shapley"] + single[1]["shapley"]) / 2, rtol=1e-12)
    with pytest.raises(sg.InputError, match="^from_tokens: token 5 is not there; the tokens are 0 to 3"):
        sg.heads(small, sink=3, from_tokens=5)
    for wrong in ([], "5-3", 1.5, True, "x"):
        with pytest.raises(sg.Error, match="from_tokens"):
            sg.heads(small, from_tokens=wrong)


@pytest.mark.parametrize("seed", range(4))
def test_chosen_tokens_at_chosen_sinks_are_powers_of_the_matrix(seed):
    """Every subset by powers of its matrix, and Shapley values over all orders of the heads."""
    random = np.random.default_rng(seed)
    samples, heads, tokens = 2, 3, 7
    attention = np.tril(random.random((1, samples, heads, tokens, tokens)))
    attention /= attention.sum(-1, keepdims=True)
    weights, chosen, sinks = random.random(heads) + 0.1, [1, 2], [3, 6]

    def worth(sample, members):
        if not members:
            return 0.0
        matrix = sum(weights[h] * attention[0, sample, h] for h in members) / sum(weights[h] for h in members)
        found = []
        for sink in sinks:
            signal = np.eye(sink + 1)[sink]
            best = signal
            for _ in range(400):
                signal = signal @ matrix[:sink + 1, :sink + 1]
                best = np.maximum(best, signal)
            found.append(best[chosen].min())
        return np.mean(found)

    expected = np.zeros((samples, heads))
    orders = list(itertools.permutations(range(heads)))
    for sample, order in itertools.product(range(samples), orders):
        for place, head in enumerate(order):
            expected[sample, head] += (worth(sample, order[:place + 1]) - worth(sample, order[:place])) / len(orders)
    found = sg.heads(attention, weights=weights, values="fidelity", from_tokens=chosen, sink=sinks, weight_samples=0).fidelity
    np.testing.assert_allclose(found["shapley"][0], expected.mean(0), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found["shapley_error"][0], expected.std(0, ddof=1) / samples ** 0.5, rtol=1e-8, atol=1e-12)


def test_graphs_equal_the_program(program, tmp_path):
    graph = sg.Graph.generate("chain:7", "powers:7", "random:7:0.5:3")
    (tmp_path / "graph.txt").write_text(graph.to_text())
    arguments = ["heads", tmp_path / "graph.txt", "--quiet", "--weights", "1,2,1"]
    valued = sg.heads(graph, weights=[1, 2, 1])
    assert valued.to_json() == program(*arguments, "--json", "-")
    assert valued.to_csv() == program(*arguments, "--csv", "-")
    assert valued.table() == program(*arguments).replace("--verbose, --csv or --json", "verbose, csv or json")
    assert valued.dims == () and valued.fidelity["shapley"].shape == (3,)
    assert list(valued.to_pandas()["head"][:3]) == ["chain:7", "powers:7", "random:7:0.5:3"] if has("pandas") else True


def test_names_in_tables_are_the_names():
    pytest.importorskip("pandas")
    names = ["=1+1", "-1", "'quoted", "NA", "a,b;c", "plain"]
    chain = np.tril(np.ones((3, 3))) / np.arange(1, 4)[:, np.newaxis]
    valued = sg.heads({name: chain[np.newaxis] for name in names}, values="fidelity", weight_samples=0)
    assert "\n'=1+1,fidelity,0," in valued.to_csv() and "\n=" not in valued.to_csv()
    frame = valued.to_pandas()
    assert list(frame["layer"]) == names and list(frame["head"]) == [0] * len(names) and frame["shapley"].dtype == float
    graph = sg.Graph().add_edges([(0, 1), (1, 2)], nodes=3, name="@head").add_edges([(0, 2)], name="null")
    assert list(sg.heads(graph, values="fidelity", weight_samples=0).to_pandas()["head"]) == ["@head", "null"]


def test_models_equal_the_program(program, checkpoint):
    expected = program("heads", checkpoint, "--json", "-", "--quiet", "--task", "copy", "--samples", 3, "--stack")
    assert sg.load_model(checkpoint).value_heads(task="copy", samples=3, stack=True).to_json() == expected


def has(module):
    try:
        __import__(module)
    except ImportError:
        return False
    return True


def test_numbers(small):
    valued = sg.heads(small, stack=True, weight_samples=1)
    assert valued.dims == ("layer",) and valued.value_names == ["fidelity", "speed"] and valued.layers == ["0", "1"]
    for value in (valued.fidelity, valued.speed):
        assert value["shapley"].shape == (2, 4) and value["pairs"].shape == (2, 4, 4)
        assert np.allclose(value["shapley"].sum(-1), value["all"], rtol=1e-12)
        assert np.array_equal(value["pairs"], value["pairs"].swapaxes(1, 2), equal_nan=True)
        assert np.all(value["best"][:, 1:].max(-1) >= value["all"] * (1 - 1e-12))
        assert np.allclose(value["best_weights"].sum(-1), 1)
        assert np.all(value["best_weights_value"] <= value["best_weights_bound"] * (1 + 1e-9))
        assert sorted(value["greedy_removal_order"][0]) == [0, 1, 2, 3]
    # All heads together, and each alone, are what `measure` gives.
    measured = sg.measure(small)
    assert np.allclose(valued["fidelity/all"], measured.fidelity.mean(1), rtol=1e-12)
    assert np.allclose(valued["fidelity/alone"], measured.heads["minimax_fidelity"].mean(1), rtol=1e-12)
    assert np.allclose(valued.stack["heads"].sum(-1) + valued.stack["residual"], 1)
    assert valued.stack["signal"].shape == (8,) and isinstance(valued.stack["fidelity"], float)
    assert len(valued.summary) > 2


def test_any_array(small):
    expected = sg.heads(small, values="fidelity", weight_samples=0).to_json()
    for array in (np.asfortranarray(small), small[::-1].copy()[::-1], list(small), Lists(small)):
        assert sg.heads(array, values="fidelity", weight_samples=0).to_json() == expected
    padded = sg.heads(small, values="fidelity", weight_samples=0, lengths=[8, 5])
    assert padded.fidelity["all"].shape == (2,)
    named = sg.heads({"a": small[0], "b": small[1][:, :2]}, values="fidelity")
    assert named.layers == ["a", "b"] and np.isnan(named.fidelity["shapley"][1, 2:]).all()
    assert np.array_equal(named.fidelity["smallest"][1, 2:], [-1, -1])


class Lists:
    """Knows `__array_interface__` only."""

    def __init__(self, array):
        self.__array_interface__ = array.__array_interface__
        self.array = array


def test_reports(small, tmp_path):
    valued = sg.heads(small, weight_samples=1)
    again = pickle.loads(pickle.dumps(valued))
    assert again.to_json() == valued.to_json() and again.table(50) == valued.table(50) and again.table() == valued.table()
    assert np.array_equal(again.fidelity["shapley"], valued.fidelity["shapley"])
    html = valued._repr_html_()
    assert html.count("<table>") == 4 and "Shapley" in html
    assert "'shapely' is not one of" in str(pytest.raises(KeyError, lambda: valued.fidelity["shapely"]).value)
    if has("pandas"):
        frame = valued.to_pandas()
        assert len(frame) == 16 and np.array_equal(frame["shapley"][:4], valued.fidelity["shapley"][0])
    if has("matplotlib"):
        import matplotlib

        matplotlib.use("Agg")
        for result in (valued, sg.heads(small[0, 0], values="speed")):
            figure = result.plot()
            figure.savefig(tmp_path / "heads.pdf")
            matplotlib.pyplot.close(figure)


def test_progress(small):
    heard = []
    sg.heads(small, values="fidelity", weight_samples=0, progress=lambda done, total: heard.append((done, total)))
    assert heard and heard[-1][0] == heard[-1][1] > 0


@pytest.mark.parametrize("wrong, message", [
    (lambda a: sg.heads(a, convention="both"), "one convention, exact or published, not both"),
    (lambda a: sg.heads(a, values="worth"), "'worth'"),
    (lambda a: sg.heads(a, follow=1), "stack"),
    (lambda a: sg.heads(a, stack=True, follow=8), "token 8"),
    (lambda a: sg.heads(a, exact_heads=21), "exact_heads"),
    (lambda a: sg.heads(a, stack=True, lengths=[8, 5]), "no stack"),
    (lambda a: sg.heads(a[:0]), "no elements"),
    (lambda a: sg.heads(a, weights=[1, 2]), "2 weights"),
])
def test_what_is_wrong_is_said(small, wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong(small)
