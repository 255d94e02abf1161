"""Comparing two results: by layer and head, paired or not."""

import json
import pickle

import numpy as np
import pytest

import synergraph as sg
from conftest import random_attention

A, B = random_attention(2, 6, 3, 8, 8, seed=1), random_attention(2, 6, 3, 8, 8, seed=2, scale=3.0)
MOVED = {"norms": np.random.default_rng(3).random((2, 6, 3, 8)) + 0.1}


def test_differences_are_those_of_the_samples():
    a, b = sg.measure(A, per_head=True), sg.measure(B, per_head=True)
    change = sg.compare(a, b)
    assert change.paired and change.why == "sample k of A with sample k of B" and change.layers == ["0", "1"]
    for name in ("minimax_fidelity", "truncated_hitting_mean", "synergy"):
        np.testing.assert_allclose(change[name], (b[name] - a[name]).mean(1), rtol=1e-12)
        np.testing.assert_allclose(change.combined.a[name], a[name].mean(1), rtol=1e-12)
    np.testing.assert_allclose(change.heads["minimax_fidelity"], (b.heads["minimax_fidelity"] - a.heads["minimax_fidelity"]).mean(1), rtol=1e-12)
    differences = b.fidelity - a.fidelity
    half = 2.5705818356363146 * differences.std(1, ddof=1) / np.sqrt(6)  # Student's 97.5 % quantile, 5 degrees of freedom
    np.testing.assert_allclose(change.combined.high["minimax_fidelity"], differences.mean(1) + half, rtol=1e-9)
    np.testing.assert_allclose(change.combined.low["minimax_fidelity"], differences.mean(1) - half, rtol=1e-9)
    assert np.all(change.combined.p_corrected["minimax_fidelity"] >= change.combined.p["minimax_fidelity"])


def test_p_values_match_an_independent_reference():
    stats = pytest.importorskip("scipy.stats")
    a, b = sg.measure(A), sg.measure(B)
    change, apart = sg.compare(a, b), sg.compare(a, b, pairing="none")
    np.testing.assert_allclose(change.combined.p["minimax_fidelity"], stats.ttest_rel(b.fidelity, a.fidelity, axis=1).pvalue, rtol=1e-8)
    np.testing.assert_allclose(apart.combined.p["minimax_fidelity"], stats.ttest_ind(b.fidelity, a.fidelity, axis=1, equal_var=False).pvalue, rtol=1e-8)
    document = sg.compare(a, b, quantities="minimax_fidelity").to_dict()
    p = np.array([layer["combined"]["minimax_fidelity"]["p"] for layer in document["layers"]])
    corrected = np.array([layer["combined"]["minimax_fidelity"]["p_corrected"] for layer in document["layers"]])
    np.testing.assert_allclose(np.sort(corrected), np.maximum.accumulate(np.minimum(1, np.sort(p) * [2, 1])))


def test_what_sides_may_be(tmp_path, program, checkpoint):
    a, b = sg.measure(A), sg.measure(B)
    same = sg.compare(a, b).to_csv()
    assert sg.compare(A, B).to_csv() == same
    assert sg.compare(pickle.loads(pickle.dumps(a)), B).to_csv() == same
    (tmp_path / "a.csv").write_text(a.to_csv())
    (tmp_path / "b.json").write_text(b.to_json())
    np.save(tmp_path / "b.npy", B)
    assert sg.compare(tmp_path / "a.csv", tmp_path / "b.npy").to_csv() == same
    means = sg.compare(tmp_path / "a.csv", tmp_path / "b.json")
    assert not means.paired and "b.json has means only" in means.why
    np.testing.assert_allclose(means["minimax_fidelity"], sg.compare(a, b)["minimax_fidelity"], rtol=1e-12)
    apart = sg.compare(a, b, pairing="none")
    np.testing.assert_allclose(means.combined.p["minimax_fidelity"], apart.combined.p["minimax_fidelity"], rtol=1e-9)
    model = sg.load_model(checkpoint)
    change = sg.compare(model, checkpoint, task="copy", samples=4)
    assert change.paired and np.all(change["minimax_fidelity"] == 0) and np.all(change.combined.p["minimax_fidelity"] == 1)
    # The program gives the same.
    np.save(tmp_path / "a.npy", A)
    text = program("compare", tmp_path / "a.npy", tmp_path / "b.npy", "--per-head", "--quiet", "--csv", "-")
    assert text == sg.compare(A, B, per_head=True).to_csv()


def test_forms_of_a_comparison():
    change = sg.compare(sg.measure(A, per_head=True), sg.measure(B, per_head=True), names=["before", "after"], verbose=True)
    assert "A: before, 6 samples" in change.table(80) and max(map(len, change.table(80).splitlines())) <= 80
    document = change.to_dict()
    assert document["schema"] == "synergraph.compare" and document["a"] == "before"
    again = pickle.loads(pickle.dumps(change))
    assert again.to_csv() == change.to_csv() and np.array_equal(again.heads["minimax_fidelity"], change.heads["minimax_fidelity"])
    pandas = pytest.importorskip("pandas")
    frame = change.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == 2 * (3 + 2 * 3)
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    assert len(change.plot().axes) == 3 * 2 + 2  # and two colour bars: heads have no synergy
    with pytest.raises(sg.UsageError, match="quantities"):
        change.plot(["no such"])


def test_heads_of_one_layer_are_compared_if_those_of_another_cannot_be():
    change = sg.compare({"x": A[0, :, :2], "y": A[1]}, {"x": B[0], "y": B[1]}, per_head=True)
    assert np.isnan(change.heads["minimax_fidelity"][0]).all()
    np.testing.assert_allclose(change.heads["minimax_fidelity"][1], sg.compare(A[1], B[1], per_head=True).heads["minimax_fidelity"][0], rtol=1e-12)


def test_several_sinks_are_one_sample():
    a, b = sg.measure(A, sink=[3, 7]), sg.measure(B, sink=[3, 7])
    change = sg.compare(a, b)
    np.testing.assert_allclose(change["minimax_fidelity"], (b.fidelity - a.fidelity).mean((1, 2)), rtol=1e-12)
    assert change.to_dict()["layers"][0]["combined"]["minimax_fidelity"]["samples_a"] == 6
    with pytest.raises(sg.InputError, match="2 sinks"):
        sg.compare(a, sg.measure(B))


@pytest.mark.parametrize("call, error, why", [
    (lambda: sg.compare(sg.measure(A), sg.measure(B[:1])), sg.InputError, "counterpart|layers"),
    (lambda: sg.compare(sg.measure(A), sg.measure(B), task="copy"), sg.UsageError, "task: both sides are results"),
    (lambda: sg.compare(sg.measure(A), sg.measure(B), level=1), sg.UsageError, "level"),
    (lambda: sg.compare(sg.measure(A), sg.measure(B), quantities="speed"), sg.UsageError, "quantities"),
    (lambda: sg.compare(sg.measure(A), sg.measure(B), names="one"), sg.OptionError, "two names"),
    (lambda: sg.compare(sg.heads(A[0, :1]), sg.measure(B)), sg.InputError, "HeadValues is not a result"),
    (lambda: sg.compare(sg.measure(A), sg.measure(B, cutoff=7)), sg.InputError, "A was measured with cutoff 100 and B with 7"),
    (lambda: sg.compare(sg.measure(A), sg.measure(B, edges="norm", moved=MOVED)), sg.InputError, "edges attention and B with norm"),
    (lambda: sg.compare(sg.measure(A), sg.measure(A[..., :5, :5]), pairing="samples"), sg.InputError, "samples of A have 8 tokens"),
    (lambda: sg.compare("missing.json", sg.measure(B)), sg.InputError, "missing.json"),
    (lambda: sg.compare(sg.measure(A), sg.measure(B[:, :4]), pairing="samples"), sg.InputError, "6 samples and B has 4"),
])
def test_what_is_refused(call, error, why):
    if why == "counterpart|layers":
        change = call()
        assert change.to_dict()["notes"] == [
            "layers without a counterpart of the same name are left out: 1 of 2 of A, 0 of 1 of B",
            "single heads are not compared, because A has no numbers of them; measure with --per-head, in Python with per_head=True"]
        with pytest.raises(KeyError, match="there are no numbers"):
            change.heads["minimax_fidelity"]
        return
    with pytest.raises(error, match=why) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_a_difference_of_nothing_but_rounding_is_none():
    change = sg.compare(A, A.astype(np.longdouble).astype(np.float64))
    assert json.loads(change.to_json())["layers"][0]["combined"]["minimax_fidelity"]["p"] == 1.0
