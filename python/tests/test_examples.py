"""The notebooks of examples/, cell by cell."""

import csv
import json
import pathlib
import subprocess
import sys

import pytest

NOTEBOOKS = sorted((pathlib.Path(__file__).parents[2] / "examples").glob("*.ipynb"))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_notebook(notebook):
    pytest.importorskip("torch")
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib").use("agg")
    names = {}
    for cell in json.loads(notebook.read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
            assert cell["outputs"] or "import torch" in "".join(cell["source"])
    assert names["right"] == 1
    signal = [watch.result(per_node=True)["node_fidelity"][:, :, names["ASKED"]].mean() for watch in (names["before"], names["after"])]
    assert signal[0] < 0.2 and signal[1] > 0.5
    alone = names["carried"].fidelity["alone"]
    assert alone.shape == (2, 4) and (alone.max(axis=1) > 0.9).all()  # a head of each layer carries the token almost whole
    # Zeroing a head costs something, and no single head is necessary: the others stand in for it.
    costs = names["table"]["loss without it"]
    assert names["whole"] < costs.max() < 0.1


def test_masked_attention(tmp_path):
    """Trains tiny models with masks of graphs, and goes on where a run was stopped."""
    pytest.importorskip("torch")
    script = NOTEBOOKS[0].parent / "masked_attention.py"
    table = tmp_path / "masked.csv"

    def run(*arguments):
        return subprocess.run([sys.executable, script, "--families", "complete,fs:log", "--tasks", "maximum,second-maximum,parity", "--steps", "2",
                               "--train", "4,8", "--test", "4,16", "--batch", "4", "--samples", "10", "--width", "8", "--heads", "2",
                               "--out", table, *arguments], capture_output=True, text=True)

    first = run("--seeds", "1")
    assert first.returncode == 0, first.stderr
    assert "3/3 parity: 2 models, 2 steps" in first.stdout and "rank correlation, F" in first.stdout
    second = run("--seeds", "2", "--together", "1")
    assert second.returncode == 0 and "6/6 parity: 1 models" in second.stdout, second.stderr
    third = run("--seeds", "2", "--report")
    assert third.stdout.count("fs:log") == 3 and "models" not in third.stdout
    rows = list(csv.DictReader(table.open()))
    assert len(rows) == 24 and all(0 <= int(row["correct"]) <= 10 for row in rows)
    assert all(float(row["normalised_fidelity"]) == pytest.approx(1) for row in rows if row["family"] == "complete")
    for arguments, message in [(("--families", "ring"), "unknown family 'ring'"), (("--tasks", "sum"), "unknown task 'sum'"), (("--train", "1"), "at least 2"), (("--width", "9"), "not a multiple")]:
        assert message in run(*arguments).stderr.splitlines()[-1]
    table.write_text("something,else\n1,2\n")
    assert "not a table of this script" in run("--seeds", "1").stderr
