"""What comes of a measurement: arrays, tables, figures."""

import copy
import pickle

import numpy as np
import pytest

import synergraph as sg


def test_arrays_are_the_documents_numbers(attention):
    result = sg.measure(attention, per_head=True, convention=["exact", "published"])
    assert result.dims == ("convention", "layer", "sample") and result.conventions == ["exact", "published"]
    for c, convention in enumerate(result.to_dict()["conventions"]):
        for layer, summary in enumerate(convention["layers"]):
            for name, numbers in summary["combined"].items():
                values = result[name][c, layer]
                finite = values[np.isfinite(values)]
                assert numbers["mean"] is None or np.isclose(finite.mean(), numbers["mean"], rtol=1e-13), name
            for head, numbers in enumerate(summary["heads"]):
                assert np.isclose(result.heads["minimax_fidelity"][c, layer, :, head].mean(), numbers["minimax_fidelity"]["mean"])
                assert result.weights[layer, head] == numbers["weight"]


def test_mapping(attention):
    result = sg.measure(attention)
    assert "mixing_time_0.25" in result and len(result) == len(list(result))
    assert "mixing_synergy" not in result and "mixing_time_0.25" not in result.heads
    with pytest.raises(KeyError, match="minimax_fidelity"):
        result["fidelitee"]
    assert "minimax_fidelity" in repr(result.heads)
    assert not result.fidelity.flags.writeable
    assert np.array_equal(result.mixing_time, result["mixing_time_0.25"])


def test_tables(attention, program, tmp_path):
    np.save(tmp_path / "a.npy", attention)
    result = sg.measure(attention)
    lines = program("analyze", tmp_path / "a.npy", "--quiet").splitlines()
    assert lines[1].endswith("(default; change with --axes=...)")
    assert result.table().splitlines() == [line.replace("--axes", "axes") for line in lines]
    assert result.to_csv() == program("analyze", tmp_path / "a.npy", "--quiet", "--per-sample", "-")
    assert all(len(line) <= 60 for line in result.table(60).splitlines())


def test_html(attention):
    result = sg.measure({"<b>": attention[0], "deep": np.eye(4)[np.newaxis, np.newaxis]}, convention="both")
    html = result._repr_html_()
    assert html.count("<table>") == 2 and "&lt;b&gt;" in html and "<b>" not in html and "never" in html


def test_pickles_and_copies(attention):
    for result in (sg.measure(attention), sg.Graph.example(2).measure()):
        for again in (pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result)):
            assert again.to_json() == result.to_json() and again.table() == result.table()
            assert all(again.table(columns) == result.table(columns) for columns in (40, 80, 100, 120))
            assert again.table(89) == result.table(80 if again is not result else 89)
            assert again.dims == result.dims and np.array_equal(again.fidelity, result.fidelity)


def test_pandas(attention):
    pytest.importorskip("pandas")
    result = sg.measure(attention, per_head=True, convention="both", lengths=[12, 6, 4])
    frame = result.to_pandas()
    assert list(frame.columns[:3]) == ["convention", "layer", "sample"] and len(frame) == 12
    row = frame[(frame.convention == "published") & (frame.layer == "1") & (frame["sample"] == 1)].iloc[0]
    assert row.minimax_fidelity == result.fidelity[1, 1, 1] and row.best_head == result["best_head"][1, 1, 1]
    heads = result.to_pandas(heads=True)
    assert len(heads) == 48 and np.allclose(heads.weight, 0.25)
    one = sg.measure(attention[0, 0], per_head=True).to_pandas(heads=True)
    assert len(one) == 4 and list(one.columns[:2]) == ["head", "weight"]
    assert len(sg.measure(attention[0, 0]).to_pandas()) == 1
    sinks = sg.measure(attention, sink=[3, -1])
    frame = sinks.to_pandas()
    assert sinks.sinks == [3, -1] and frame["sink"].tolist() == [3, -1] * 6 and frame["sample"].tolist() == [0, 0, 1, 1, 2, 2] * 2
    last = frame[(frame["sink"] == -1) & (frame.layer == "1") & (frame["sample"] == 1)].iloc[0]
    assert last.minimax_fidelity == sg.measure(attention).fidelity[1, 1]
    ragged = sg.measure([attention[0], attention[1][:1, :2]])
    assert len(ragged.to_pandas()) == 4 and len(ragged.to_pandas(heads=True)) == 14


def test_html_of_graphs():
    assert sg.Graph.parse("nodes 2\nhead <i>\n 0 -> 1\n").measure()._repr_html_().startswith("<pre>")


@pytest.mark.parametrize("names, short", [
    ([f"model.layers.{k}.self_attn" for k in range(12)], [str(k) for k in range(12)]),
    (["encoder.0.attn", "decoder.0.attn"], ["encoder", "decoder"]),
    (["a.b", "a.b.c"], ["a.b", "a.b.c"]),  # nothing would be left of the first
    (["a", "a"], ["a", "a"]),
    (["transformer.h.0"], ["transformer.h.0"]),
    (["0", "1"], ["0", "1"]),
])
def test_names_in_figures_are_short(names, short):
    from synergraph._plot import short_names

    assert short_names(names) == short


def test_labels_in_figures_do_not_overlap(attention):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    heads = np.concatenate([np.asarray(attention[0])[:2]] * 8, axis=1)[:, :16, :8, :8]
    heads /= heads.sum(-1, keepdims=True)
    layers = {f"model.layers.{k}.self_attn": heads for k in range(12)}
    for figure in (sg.measure(layers, convention="both").plot(), sg.heads(layers, exact_heads=4, orders=4, weight_samples=0).plot()):
        figure.canvas.draw()
        for panel in figure.axes:
            for axis, side in ((panel.xaxis, "x"), (panel.yaxis, "y")):
                boxes = [label.get_window_extent() for label in axis.get_ticklabels() if label.get_text()]
                edges = [(getattr(box, side + "0"), getattr(box, side + "1")) for box in boxes]
                edges.sort()
                assert all(one[1] <= other[0] for one, other in zip(edges, edges[1:]))
            if panel.get_xlabel() in ("heads kept", "node"):
                assert all(tick == int(tick) for tick in panel.get_xticks())
            if panel.get_legend() is not None:
                assert panel.get_legend().get_window_extent().x0 >= panel.get_window_extent().x1
            for image in panel.get_images():  # colours that say the sign have 0 in the middle
                low, high = image.get_clim()
                assert low == -high if image.get_array().min() < 0 else low == 0
        matplotlib.pyplot.close(figure)


def test_plot(attention, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    figure = sg.Graph.example(2).measure().plot()
    assert len(figure.axes) == 2
    matplotlib.pyplot.close(figure)
    for array in (attention, attention[0, 0], np.eye(3)[np.newaxis]):
        figure = sg.measure(array, convention="both").plot(figsize=(5, 2))
        figure.savefig(tmp_path / "figure.pdf")
        assert len(figure.axes) == 2
        matplotlib.pyplot.close(figure)
