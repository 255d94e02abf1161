"""Quantities over training."""

import math
import types
import sys

import numpy as np
import pytest

import synergraph as sg

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

LATER = torch.ones(6, 6).triu(1).bool()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(9, 8), nn.Linear(8, 9)
        self.norm = nn.BatchNorm1d(6)
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2)

    def forward(self, ids):
        return self.head(self.norm(self.layers(self.embed(ids), LATER)))


def batch(samples=3):
    return torch.randint(9, (samples, 6), generator=torch.Generator().manual_seed(5))


def trained(steps, make_tracker=None):
    """A model after some steps with dropout, and its tracker."""
    torch.manual_seed(1)
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), 0.5)
    tracker = None if make_tracker is None else make_tracker(model)
    for _ in range(steps):
        loss = nn.functional.cross_entropy(model(batch(8)).flatten(0, 1), batch(8).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if tracker is not None:
            tracker.step(loss=loss)
    return model, tracker


def test_measures_every_so_many_steps_and_changes_nothing(tmp_path):
    path = tmp_path / "track.csv"
    plain, _ = trained(7)
    model, tracker = trained(7, lambda model: sg.Tracker(model, batch(), every=3, csv=path))
    for name, tensor in plain.state_dict().items():
        assert torch.equal(tensor, model.state_dict()[name]), name
    assert model.training and tracker.steps.tolist() == [0, 3, 6]
    assert tracker["minimax_fidelity"].shape == (3, 2) and tracker.heads["minimax_fidelity"].shape == (3, 2, 2)
    assert tracker.layers == ["layers.layers.0.self_attn", "layers.layers.1.self_attn"]
    assert math.isnan(tracker.loss[0]) and np.isfinite(tracker.loss[1:]).all()
    with sg.watch(model.eval()) as seen, torch.no_grad():
        model(batch())
    np.testing.assert_allclose(tracker.measure() and tracker["minimax_fidelity"][-1], seen.result().fidelity.mean(1), rtol=1e-6)
    assert 0 < tracker.overhead < 1 and "% of the time" in repr(tracker)
    # The file had every measurement when it was made.
    assert path.read_text() == tracker.to_csv()
    again = sg.Track.read(path)
    assert again.to_csv() == tracker.to_csv() and np.array_equal(again["synergy"], tracker["synergy"])
    assert np.array_equal(again.heads["minimax_fidelity"], tracker.heads["minimax_fidelity"])


def test_a_quantity_that_is_not_measured_is_named_at_once(tmp_path):
    with pytest.raises(sg.UsageError, match="quantities: 'fidelity' is not measured: there are 'minimax_fidelity'"):
        sg.Tracker(Model(), batch(), quantities=["synergy", "fidelity"], csv=tmp_path / "track.csv")
    assert not list(tmp_path.iterdir())
    one_head = nn.MultiheadAttention(4, 1, batch_first=True)
    x = torch.randn(1, 6, 4)
    tracker = sg.Tracker(one_head, {"query": x, "key": x, "value": x, "attn_mask": LATER.bool()})
    assert tracker["synergy"].shape == (1, 1) and repr(tracker).startswith("<synergraph.Tracker: 1 measurement, ")


@pytest.mark.parametrize("cut", [1, 30, "row", "heads"])
def test_a_file_whose_last_rows_are_missing_has_the_steps_before(tmp_path, cut):
    path = tmp_path / "track.csv"
    _, tracker = trained(4, lambda model: sg.Tracker(model, batch(), every=2, csv=path))
    text = path.read_text()
    rows = text.splitlines(keepends=True)
    path.write_text({"row": "".join(rows[:-4]), "heads": "".join(rows[:-1])}.get(cut) or text[:-cut])
    with pytest.warns(UserWarning, match="last step, 4, are incomplete"):
        again = sg.Track.read(path)
    assert again.steps.tolist() == [0, 2] and np.array_equal(again["synergy"], tracker["synergy"][:2])


def test_a_log_whose_last_line_is_cut_has_the_lines_before(tmp_path):
    line = '{"step": 4, "seconds": 1.5, "loss": 2, "layers": [{"mixing_time": 3, "fidelity": 0.25}]}'
    path = tmp_path / "metrics.jsonl"
    path.write_text(f"{line}\n{line[:50]}")
    with pytest.warns(UserWarning, match="last line, 2, is incomplete"):
        assert sg.Track.read(tmp_path)["minimax_fidelity"].tolist() == [[0.25]]
    path.write_text(f"{line[:50]}\n{line}\n")
    with pytest.raises(sg.InputError, match="line 1"):
        sg.Track.read(path)


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    for path, why in ((tmp_path, "Is a directory"), (tmp_path / "none" / "track.csv", "No such file"), ("/dev/full", "No space left")):
        with pytest.raises(sg.InputError, match=f"csv: {path}: {why}"):
            sg.Tracker(Model(), batch(), csv=path)


def test_files_that_are_no_tracks_take_no_memory(tmp_path):
    path = tmp_path / "track.csv"
    trained(2, lambda model: sg.Tracker(model, batch(), every=1, csv=path))
    text = path.read_text()
    for wrong in (text.replace("attn,1,", "attn,999999999999,", 1), text.replace("layers.1.", "layers.7.", 3)):
        path.write_text(wrong)
        with pytest.raises(sg.InputError, match="rows of step"):
            sg.Track.read(path)


class Writer:
    """A stand-in for TensorBoard's SummaryWriter."""

    def __init__(self):
        self.said = []

    def add_scalar(self, name, value, step):
        self.said.append((name, value, step))


class Run:
    """A stand-in for a run of Weights & Biases."""

    def __init__(self):
        self.said = []

    def log(self, numbers, step=None):
        self.said += [(name, value, step) for name, value in numbers.items()]


@pytest.mark.parametrize("make", [Writer, Run, list])
def test_numbers_go_to_loggers(make):
    log = make()
    said = log if make is list else log.said
    function = (lambda numbers, step: said.extend((name, value, step) for name, value in numbers.items())) if make is list else log
    _, tracker = trained(2, lambda model: sg.Tracker(model, batch(), every=2, log=function, quantities="minimax_fidelity"))
    assert [(name, step) for name, _, step in said] == [(f"synergraph/minimax_fidelity/layers.layers.{layer}.self_attn", step)
                                                       for step in (0, 2) for layer in (0, 1)]
    assert [value for _, value, _ in said] == tracker["minimax_fidelity"].ravel().tolist()


def test_loggers_by_name(monkeypatch):
    run = Run()
    monkeypatch.setitem(sys.modules, "wandb", types.SimpleNamespace(run=run))
    sg.Tracker(Model(), batch(), log="wandb")
    assert len(run.said) == 6
    monkeypatch.setitem(sys.modules, "wandb", types.SimpleNamespace(run=None))
    with pytest.raises(sg.UsageError, match="wandb.init"):
        sg.Tracker(Model(), batch(), log="wandb")
    writer = Writer()
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", types.SimpleNamespace(SummaryWriter=lambda: writer))
    sg.Tracker(Model(), batch(), log="tensorboard")
    assert len(writer.said) == 6
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(sg.UsageError, match="pip install tensorboard"):
        sg.Tracker(Model(), batch(), log="tensorboard")


def test_the_log_of_the_trainer_is_a_track(program, tmp_path):
    program("train", "--task", "copy", "--heads", 2, "--layers", 2, "--width", 8, "--hidden", 8, "--vocabulary", 9, "--length", 6,
            "--epochs", 3, "--sequences", 50, "--track", 1, "--device", "cpu", "--quiet", "--out", tmp_path / "run")
    track = sg.Track.read(tmp_path / "run")
    assert track["minimax_fidelity"].shape == (3, 2) and track["mixing_time_0.25"].shape == (3, 2)
    assert track.layers == ["0", "1"] and np.isfinite(track.loss).all()
    (tmp_path / "track.csv").write_text(track.to_csv())
    assert sg.Track.read(tmp_path / "track.csv").to_csv() == track.to_csv()


def test_figure():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    _, tracker = trained(4, lambda model: sg.Tracker(model, batch(), every=2))
    figure = tracker.plot()
    assert [panel.get_ylabel() for panel in figure.axes][0] == "loss" and len(figure.axes) == 3
    assert all(float(tick).is_integer() for tick in figure.axes[0].get_xticks())


@pytest.mark.parametrize("text, why", [
    ("", "first line"), ("step,seconds,layer\n", "first line"), ("step,seconds,layer,head,loss,synergy\n1,2\n", "line 2"),
    ("step,seconds,layer,head,loss,synergy\n1,2,L,combined,,two\n", "step 1"),
])
def test_files_that_are_no_tracks(tmp_path, text, why):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(sg.InputError, match=why):
        sg.Track.read(tmp_path / "x.csv")
    with pytest.raises(sg.InputError, match="No such file"):
        sg.Track.read(tmp_path / "y.csv")
    (tmp_path / "metrics.jsonl").write_text(text or "x\n")
    with pytest.raises(sg.InputError, match="line 1"):
        sg.Track.read(tmp_path)


@pytest.mark.parametrize("options, error, why", [
    ({"every": 0}, sg.UsageError, "every"), ({"log": 7}, sg.OptionError, "SummaryWriter"), ({"layers": [9]}, sg.InputError, "no layer is 9"),
])
def test_what_is_refused(options, error, why):
    with pytest.raises(error, match=why):
        sg.Tracker(Model(), batch(), **options)
