"""Graphs: the same documents as the program's."""

import pickle

import numpy as np
import pytest

import synergraph as sg


@pytest.mark.parametrize("number", [1, 2])
def test_examples_equal_the_program(program, number):
    graph = sg.Graph.example(number)
    measured = graph.measure(eps=[0.25, 0.01])
    assert measured.to_json() == program("graph", "--example", number, "--eps", "0.25,0.01", "--json")
    assert measured.to_csv() == program("graph", "--example", number, "--eps", "0.25,0.01", "--csv")
    assert measured.table() == program("graph", "--example", number, "--eps", "0.25,0.01")


def test_generators_equal_the_program(program, tmp_path):
    generators = ["chain:9", "powers:9", "random:9:0.5:3"]
    graph = sg.Graph.generate(*generators)
    arguments = [argument for generator in generators for argument in ("--generate", generator)]
    measured = graph.measure(weights=[1, 2, 3], convention="published", nodes="sources", cutoff=12)
    assert measured.to_json() == program("graph", *arguments, "--weights", "1,2,3", "--convention", "published", "--nodes",
                                         "sources", "--cutoff", "12", "--json")
    (tmp_path / "graph.txt").write_text(graph.to_text())
    assert sg.Graph.read(tmp_path / "graph.txt").measure().to_json() == program("graph", tmp_path / "graph.txt", "--json")
    assert graph.to_dot() == sg.Graph.parse(graph.to_text()).to_dot()
    curves = program("graph", *arguments, "--curves", "-", "--steps", "6").splitlines()[1:]
    expected = np.array([line.split(",")[2:] for line in curves], dtype=float).reshape(4, 7, 9)
    assert np.array_equal(graph.signal_curves(6), expected)
    assert np.array_equal(sg.signal_curves(graph, 6), expected)


def test_building():
    graph = sg.Graph().add_edges(np.array([[0, 1], [1, 2]]), nodes=3)
    graph.add_edges([(0, 2, 2.5)], name="skip", weight=3, self_loops=False)
    graph.add_matrix(np.array([[1, 0, 0], [0.5, 0.5, 0], [0, 0, 1]], dtype=np.float32)).add_generated("star:3", weight=0.5)
    graph.name_nodes(["u", "v", "last one"])
    assert (graph.heads, graph.nodes) == (4, 3)
    assert repr(graph) == "<synergraph.Graph: 4 heads on 3 nodes>"
    assert "skip" in graph.to_text() and '"last one"' in graph.to_text()
    again = pickle.loads(pickle.dumps(graph))
    assert again.measure().to_json() == graph.measure().to_json()
    assert pickle.loads(pickle.dumps(sg.Graph())).heads == 0
    frame = graph.measure().to_pandas() if has_pandas() else None
    assert frame is None or list(frame.index) == ["head 1", "skip", "head 3", "star:3", "combined"]


def has_pandas():
    try:
        import pandas  # noqa: F401
    except ImportError:
        return False
    return True


def test_numbers():
    measured = sg.Graph.example(1).measure()
    assert measured.mixing_time == sg.mixing_time(sg.Graph.example(1)) == 10
    assert measured["hitting_time"].tolist() == [8, 4, 0]
    assert measured.heads["node_fidelity"].shape == (2, 3)
    assert sg.fidelity(sg.Graph.example(1), nodes="all") == sg.Graph.example(1).measure(nodes="all").fidelity
    assert np.isinf(measured.heads["mixing_time_0.25"]).all()


@pytest.mark.parametrize("wrong, message", [
    (lambda: sg.Graph.example(3), "3"),
    (lambda: sg.Graph.parse("nodes 2\nhead a\n 1 -> 0\n", "mine"), "mine:3"),
    (lambda: sg.Graph.generate("wheel:3"), "wheel"),
    (lambda: sg.Graph.generate("chain:3", "chain:4"), "4 nodes"),
    (lambda: sg.Graph().measure(), "no head"),
    (lambda: sg.Graph().add_edges([(0, 1, 2, 3)], nodes=2), "an edge is"),
    (lambda: sg.Graph().add_edges([(0, 0.5)], nodes=2), "whole"),
    (lambda: sg.Graph().add_edges([(0, 5)], nodes=2), "0 -> 5"),
    (lambda: sg.Graph().add_edges([]), "nodes"),
    (lambda: sg.Graph().add_matrix(np.ones((2, 3))), "square"),
    (lambda: sg.Graph().add_matrix(np.ones((2, 2))), "row 0"),
    (lambda: sg.Graph.example(1).measure(convention="both"), "one convention, exact or published, not both"),
    (lambda: sg.Graph.example(1).name_nodes(["a"]), "1 names"),
])
def test_what_is_wrong_is_said(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()


def test_a_missing_file_is_the_systems_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        sg.Graph.read(tmp_path / "nowhere.txt")
