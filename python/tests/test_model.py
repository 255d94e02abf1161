"""Checkpoints: the same documents as the program's."""

import copy
import gc
import pickle
import sys

import numpy as np
import pytest

import synergraph as sg


def test_equals_the_program(program, checkpoint, tmp_path):
    model = sg.load_model(checkpoint)
    assert (model.layers, model.heads, model.length, model.vocabulary) == (2, 2, 6, 9)
    assert repr(model) == "<synergraph.Model: 2 layers of 2 heads, width 8, 6 tokens of 9 kinds>"
    arguments = ["analyze", checkpoint, "--json", "-", "--quiet"]
    measured = model.measure(task="cycle", samples=7, seed=3, per_head=True)
    assert measured.to_json() == program(*arguments, "--task", "cycle", "--samples", 7, "--seed", 3, "--per-head")
    tokens = np.random.default_rng(0).integers(0, 9, size=(5, 6))
    np.save(tmp_path / "tokens.npy", tokens)
    measured = model.measure(tokens, task="copy", sink=4)
    assert measured.to_json() == program(*arguments, "--tokens", tmp_path / "tokens.npy", "--task", "copy", "--sink", 4)
    assert measured.dims == ("layer", "sample") and measured.fidelity.shape == (2, 5)
    assert 0 <= measured.to_dict()["task"]["accuracy"] <= 1


def test_attention_and_logits(checkpoint):
    model = sg.load_model(checkpoint)
    tokens = np.arange(12).reshape(2, 6) % 9
    layers = [model.attention(tokens, layer) for layer in range(2)]
    assert layers[0].shape == (2, 2, 6, 6) and np.allclose(layers[0].sum(-1), 1)
    given = sg.measure(layers, weights=model.measure(tokens).weights)
    assert np.allclose(given.fidelity, model.measure(tokens).fidelity, rtol=1e-12)
    logits = model.logits(tokens)
    assert logits.shape == (2, 6, 9) and np.isfinite(logits).all()
    assert np.array_equal(model.logits(tokens[0])[0], logits[0])


def test_copies_are_the_same_model_and_pickles_are_refused(checkpoint, monkeypatch):
    unraisable = []  # what Python would print on stderr as "Exception ignored"
    monkeypatch.setattr(sys, "unraisablehook", lambda problem: unraisable.append(str(problem.exc_value)))
    model = sg.load_model(checkpoint)
    tokens = np.arange(12).reshape(2, 6) % 9
    document = model.measure(tokens, task="copy", per_head=True).to_json()
    copies = [copy.copy(model), copy.deepcopy(model), *copy.deepcopy([model])]
    with pytest.raises(TypeError, match="pickle") as refusal:
        pickle.dumps(model)
    assert "\n" not in str(refusal.value)
    del model, refusal  # copies outlive the model
    gc.collect()
    for one in copies:
        assert (one.layers, one.heads, one.length, one.vocabulary) == (2, 2, 6, 9)
        assert one.measure(tokens, task="copy", per_head=True).to_json() == document
    del one, copies
    gc.collect()
    assert unraisable == []


def test_the_device_is_chosen_as_in_the_program(program, checkpoint):
    model = sg.load_model(checkpoint)
    arguments = {"task": "cycle", "samples": 4, "loss": "yes"}
    plain = model.value_heads(**arguments)
    assert model.value_heads(**arguments, device="cpu").to_json() == plain.to_json()
    try:
        document = model.value_heads(**arguments, device="cuda").to_dict()
        assert document["model"]["device"].startswith("cuda (") and "float32" in document["model"]["device"]
        here, there = ([layer["loss"]["won"] for layer in one["layers"]] for one in (plain.to_dict(), document))
        assert np.allclose(there, here, atol=1e-4)
    except sg.InputError as refusal:  # no GPU
        assert str(refusal).startswith("cuda: ") and "\n" not in str(refusal)
        assert model.value_heads(**arguments, device="auto").to_json() == plain.to_json()
    with pytest.raises(sg.UsageError, match="unknown device 'tpu'"):
        model.measure(task="copy", device="tpu")


def test_what_is_wrong_is_said(checkpoint):
    model = sg.load_model(checkpoint)
    for wrong, message in [
        (lambda: sg.load_model("nowhere"), "nowhere"),
        (lambda: sg.load_model(checkpoint, heads=4), "heads"),
        (lambda: model.measure([[0, 1, 2]]), "3 tokens"),
        (lambda: model.measure([[9] * 6]), "token 9 in sequence 0, position 0: expected 0 to 8"),
        (lambda: model.measure([[0] * 6, [0, 0, -1, 0, 0, 0]]), "token -1 in sequence 1, position 2"),
        (lambda: model.logits([[2**31] * 6]), "token 2147483648 in sequence 0"),
        (lambda: model.measure(task="sort"), "sort"),
        (lambda: model.measure([[0] * 6], seed=3), "exclude"),
        (lambda: model.attention([[0] * 6], 2), "layer: 2 is not in 0 to 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            wrong()
