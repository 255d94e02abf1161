"""Training and the study: the same files as the program's."""

import json
import os
import signal
import threading
import time

import numpy as np
import pytest

import synergraph as sg

SIZES = {"heads": 2, "layers": 2, "width": 8, "hidden": 8, "vocabulary": 9, "length": 6, "sequences": 50, "device": "cpu"}


def arguments(settings):
    """Settings as those of the program."""
    return [word for name, value in settings.items() for word in (f"--{name.replace('_', '-')}", value)]


def test_train_equals_the_program(program, tmp_path):
    settings = dict(SIZES, epochs=2, seed=3, dropout=0.2, learning_rate=0.01, batch=20)
    program("train", "--task", "cycle", *arguments(settings), "--quiet", "--out", tmp_path / "program")
    heard = []
    run = sg.train(tmp_path / "package", task="cycle", **settings, progress=lambda done, total: heard.append((done, total)))
    for name in ("model.safetensors", "state.safetensors"):
        assert (tmp_path / "package" / name).read_bytes() == (tmp_path / "program" / name).read_bytes()
    assert run.steps == 6 and heard[-1] == (6, 6) and run.held_out
    assert run.path == tmp_path / "package" / "model.safetensors" and run.model.heads == 2
    assert [entry["epoch"] for entry in run.log] == [1, 2] and run.log[-1]["held_out_loss"] == run.judged_loss
    assert "6 steps" in repr(run)

    with pytest.raises(sg.UsageError, match="resume it"):
        sg.train(tmp_path / "package", task="cycle", **settings)
    program("train", "--resume", "--epochs", 3, "--quiet", "--out", tmp_path / "program")
    assert sg.train(tmp_path / "package", resume=True, epochs=3).steps == 9
    assert run.path.read_bytes() == (tmp_path / "program" / "model.safetensors").read_bytes()


def test_pairs_equal_the_program(program, tmp_path):
    inputs = np.random.default_rng(0).integers(0, 9, size=(30, 5))
    targets = inputs[:, ::-1].copy()
    targets[1::2, 0] = -1  # these do not count
    pairs, validation = (inputs, targets), (inputs[:4], targets[:4])
    for name, array in zip("xyvw", (*pairs, *validation)):
        np.save(tmp_path / f"{name}.npy", array)
    sizes = {name: value for name, value in SIZES.items() if name not in ("length", "sequences")}
    program("train", "--data", tmp_path / "x.npy", "--targets", tmp_path / "y.npy", "--validation", tmp_path / "v.npy",
            tmp_path / "w.npy", *arguments(sizes), "--epochs", 1, "--quiet", "--out", tmp_path / "program")
    run = sg.train(tmp_path / "package", data=pairs, validation=validation, **sizes, epochs=1)
    assert run.path.read_bytes() == (tmp_path / "program" / "model.safetensors").read_bytes()
    assert not sg.train(tmp_path / "unjudged", data=pairs, **sizes, epochs=1).held_out


def test_promotes_metrics(program, tmp_path):
    settings = dict(SIZES, epochs=2, seed=3)
    program("train", "--task", "cycle", *arguments(settings), "--promote", "fidelity=0.5", "--promote", "speed=-0.25", "--quiet", "--out",
            tmp_path / "program")
    run = sg.train(tmp_path / "package", task="cycle", promote={"speed": -0.25, "fidelity": 0.5}, **settings)
    assert run.path.read_bytes() == (tmp_path / "program" / "model.safetensors").read_bytes()
    assert run.promoted == run.log[-1]["promoted"] and list(run.promoted) == ["fidelity", "speed", "left_out"]
    plain = sg.train(tmp_path / "plain", task="cycle", **settings)
    assert plain.promoted == {} and plain.path.read_bytes() != run.path.read_bytes()
    assert sg.train(tmp_path / "zero", task="cycle", promote={"speed": 0}, **settings).path.read_bytes() == plain.path.read_bytes()
    for promote in ({"speed": "much"}, {"speed": None}, {"speed": float("nan")}, {"mixing": 1.0}, ["speed=1", "speed=1"], 3):
        with pytest.raises(sg.Error, match="promote"):
            sg.train(tmp_path / "refused", promote=promote, **settings)


def test_ctrl_c_leaves_a_checkpoint(tmp_path):
    settings = dict(SIZES, task="copy", epochs=100000, sequences=500)
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        sg.train(tmp_path, **settings)
    assert time.monotonic() - begun < 5
    steps = json.loads((tmp_path / "metrics.jsonl").read_text().splitlines()[-1])["step"]
    with pytest.raises(ValueError, match="epochs cannot be 1"):
        sg.train(tmp_path, resume=True, epochs=1)  # fewer than it has already done
    done = sg.train(tmp_path, resume=True, epochs=steps // 10 + 2)
    assert done.steps == 10 * (steps // 10 + 2)


def test_reproduce_equals_the_program(program, tmp_path):
    grid = {"epochs": 1, "samples": 5, "width": 8, "hidden": 8, "layers": 2, "vocabulary": 9, "length": 6, "sequences": 50,
            "device": "cpu", "subset_samples": 1}
    program("reproduce", "--tasks", "copy", "--heads", "1,2", *arguments(grid), "--no-figures", "--quiet", "--out", tmp_path / "program")
    study = sg.reproduce(tmp_path / "package", tasks="copy", heads=[1, 2], **grid, figures=False)
    expected = (tmp_path / "program" / "results.json").read_text()
    assert study.to_json() == expected == (tmp_path / "package" / "results.json").read_text()
    assert study.page.exists() and study.statements and len(study) == 0
    assert "copy" in repr(study) and study._repr_html_().startswith("<pre>")
    with pytest.raises(sg.UsageError, match="several tables"):
        study.to_csv()
    pandas = pytest.importorskip("pandas")
    frame = study.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and {"task", "heads", "layer", "quantity"} <= set(frame.columns)


@pytest.mark.parametrize("wrong, message", [
    (lambda out: sg.train(out, task="sort"), "sort"),
    (lambda out: sg.train(out, heads=3, width=8), "heads"),
    (lambda out: sg.train(out, data=np.eye(3)), "pair"),
    (lambda out: sg.train(out, data=([[1, 2]], [[1]])), "shape"),
    (lambda out: sg.train(out, data=([[0.5]], [[1]])), "whole"),
    (lambda out: sg.train(out, data=([[1, -2]], [[1, 2]])), "data: token -2 in sequence 0, position 1: expected 0 to 2147483647"),
    (lambda out: sg.train(out, data=([[1, 2]], [[2**31, 2]])), "data: token 2147483648 in sequence 0, position 0"),
    (lambda out: sg.train(out, data=([1, 2], [1, 2])), "shape"),
    (lambda out: sg.train(out, data=([[1, 2]], [[1, 2]]), task="copy"), "exclude"),
    (lambda out: sg.train(out, validation=([[1, 2]], [[1, 2]])), "validation"),
    (lambda out: sg.train(out, device="abacus"), "abacus"),
    (lambda out: sg.train("", task="copy"), "name"),
    (lambda out: sg.reproduce(out, preset="slow"), "slow"),
    (lambda out: sg.reproduce(out, seeds=2, seed_list=[1]), "exclude"),
    (lambda out: sg.reproduce(out, heads=[0]), "heads"),
])
def test_what_is_wrong_is_said(tmp_path, wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong(tmp_path / "run")
