"""Search for sparse graphs: what it returns, and against NumPy."""

import numpy as np
import pytest

import synergraph as sg


def reference(masks):
    """Minimax fidelity and averaged mixing time (L1, eps 1/4) of heads with equal weights, by dense steps."""
    diffusion = np.mean([mask / mask.sum(axis=1, keepdims=True) for mask in masks], axis=0)
    walk = np.mean([mask.T / mask.T.sum(axis=1, keepdims=True) for mask in masks], axis=0)
    n = len(diffusion)
    signal, peak = np.eye(n)[-1], np.zeros(n)
    for _ in range(5000):
        signal = signal @ diffusion
        peak = np.maximum(peak, signal)
    alive, time = np.ones(n), 0
    alive[-1] = 0
    while 2 * alive.mean() >= 0.25:
        alive = walk @ alive
        alive[-1] = 0
        time += 1
    return peak[:-1].min(), time


@pytest.mark.parametrize("heads", [1, 3])
def test_equals_numpy(heads):
    designs = sg.design(20, heads=heads, edges=20 * heads + 60, averaged_mixing=11, steps=300, seed=4)
    assert designs.finished and designs.steps == 300 and designs.best is designs[0]
    for design in designs:
        fidelity, time = reference(design.masks())
        assert design.fidelity == pytest.approx(fidelity, rel=1e-10)
        assert design["numbers"]["averaged_mixing_time"] == time <= 11
        assert design["edges"] == design.masks().sum() <= 20 * heads + 60
        assert design["certified"] and len(design.graphs) == heads
    assert designs.front and all(design["front"] for design in designs.front)
    assert designs.to_dict()["schema"] == "synergraph.design"
    assert "F" in repr(designs) and "edges on 20 nodes" in repr(designs.best)


def test_graphs_can_be_saved(tmp_path):
    best = sg.design(16, indegree="3", steps=50).best
    best.graphs[0].save(tmp_path / "best.npz")
    again = sg.SparseGraph.read(tmp_path / "best.npz")
    assert again == best.graphs[0]
    assert again.measure()["minimax_fidelity"] == pytest.approx(best.fidelity, rel=1e-12)


def test_state(tmp_path):
    whole = sg.design(16, indegree="3", steps=400)
    state = str(tmp_path / "state")
    sg.design(16, indegree="3", steps=111, state=state)
    parts = sg.design(16, indegree="3", steps=400, state=state)
    assert parts.to_json() == whole.to_json() and [d.graphs for d in parts] == [d.graphs for d in whole]
    with pytest.raises(sg.InputError, match="with other settings"):
        sg.design(17, indegree="3", state=state)


@pytest.mark.parametrize("settings, message", [
    (dict(edges=10), "needs at least 31"),
    (dict(indegree="16"), "have at most 15"),
    (dict(starts=["ring"]), "neither layers"),
    (dict(heads=0), "heads"),
    (dict(edges=2**31), "edges"),
])
def test_refusals(settings, message):
    with pytest.raises(sg.Error, match=message):
        sg.design(16, **settings)
