"""The notebooks of examples/, cell by cell."""

import json
import pathlib

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
