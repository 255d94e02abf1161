"""Arrays of NumPy: the same documents as the program's, whatever the layout."""

import numpy as np
import pytest

import synergraph as sg
from conftest import random_attention
from synergraph._views import view_of


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("options, arguments", [
    ({}, []),
    ({"per_head": True, "convention": "both"}, ["--per-head", "--convention", "both"]),
    ({"convention": "published", "eps": [0.5, 0.01], "cutoff": 7}, ["--convention", "published", "--eps", "0.5,0.01", "--cutoff", "7"]),
    ({"weights": [1, 2, 3, 4], "normalization": "per-head"}, ["--weights", "1,2,3,4", "--normalization", "per-head"]),
    ({"nodes": "all", "horizon": 9}, ["--nodes", "all", "--horizon", "9"]),
    ({"sink": 5}, ["--sink", "5"]),
    ({"threads": 1, "memory": 1 << 28}, ["--threads", "1"]),
])
def test_equals_the_program(attention, document, dtype, options, arguments):
    array = attention.astype(dtype)
    assert sg.measure(array, **options).to_json() == document("analyze", array, *arguments)


def test_reads_files(attention, tmp_path, program):
    np.savez(tmp_path / "a.npz", **{"layer10": attention[0], "layer2": attention[1]})
    expected = program("analyze", tmp_path / "a.npz", "--json", "-", "--quiet", "--sink", "7", "--layers", "layer")
    assert sg.measure(tmp_path / "a.npz", sink=7, layers="layer").to_json() == expected
    assert sg.measure(str(tmp_path / "a.npz")).layers == ["layer2", "layer10"]


def layouts(array):
    """The same numbers, otherwise in memory."""
    yield "fortran", np.asfortranarray(array)
    yield "backwards", np.ascontiguousarray(array[::-1, ::-1, ::-1, ::-1, ::-1])[::-1, ::-1, ::-1, ::-1, ::-1]
    padded = np.full([extent + 3 for extent in array.shape], np.nan, dtype=array.dtype)
    inner = padded[tuple(slice(2, -1) for _ in array.shape)]
    inner[...] = array
    yield "slice", inner
    every_other = np.zeros(array.shape[:-1] + (2 * array.shape[-1],), dtype=array.dtype)[..., ::2]
    every_other[...] = array
    yield "every other", every_other
    unaligned = np.frombuffer(b"x" + array.tobytes(), dtype=np.uint8)[1:].view(array.dtype).reshape(array.shape)
    yield "unaligned", unaligned
    records = np.zeros(array.shape, dtype=[("tag", "i1"), ("value", array.dtype)])
    records["value"] = array
    yield "records", records["value"]
    yield "big endian", array.astype(array.dtype.newbyteorder(">"))
    frozen = array.copy()
    frozen.flags.writeable = False
    yield "read-only", frozen
    yield "matrix of another class", array.view(type("Other", (np.ndarray,), {}))


def test_any_layout(attention):
    expected = sg.measure(attention).to_json()
    for name, array in layouts(attention):
        assert sg.measure(array).to_json() == expected, name


def test_axes(attention):
    expected = sg.measure(attention).to_json()
    moved = np.moveaxis(attention, (0, 1, 2, 3, 4), (3, 0, 4, 2, 1))
    assert sg.measure(moved, axes="sample key query layer head").to_json() == expected
    assert sg.measure(moved, axes=["sample", "key", "query", "layer", "head"]).to_json() == expected
    one = sg.measure(attention[:, 0], axes="layer,head,query,key")
    assert one.dims == ("layer",) and one.fidelity.shape == (2,)
    assert one.fidelity.tolist() == sg.measure(attention).fidelity[:, 0].tolist()
    assert isinstance(sg.measure(attention[0, 0]).fidelity, float)
    assert isinstance(sg.measure(attention[0, 0, 0])["best_head"], int)


def test_nothing_is_copied(attention):
    for array in (attention, attention[::-1, :, ::2], np.broadcast_to(attention[0, 0, 0], (5, 2, 12, 12))):
        view = view_of(array)
        assert view.pointer == array.__array_interface__["data"][0] and view.strides == array.strides
    # A terabyte that is one matrix
    huge = np.broadcast_to(attention[0, 0, 0], (10**3, 1, 12, 12))
    assert np.unique(sg.measure(huge).fidelity).size == 1


def test_layers_in_lists_and_dictionaries(attention):
    expected = sg.measure(attention)
    assert sg.measure(list(attention)).to_json() == expected.to_json()
    assert sg.measure(tuple(attention)).to_json() == expected.to_json()
    assert sg.measure([attention[0], attention[1].astype(np.float64)])["synergy"].shape == (2, 3)
    named = sg.measure({"first": attention[0], "second": attention[1]})
    assert named.layers == ["first", "second"]
    assert np.array_equal(named.fidelity, expected.fidelity)
    ragged = sg.measure([attention[0], attention[1][:1, :2, :5, :5] / attention[1][:1, :2, :5, :5].sum(-1, keepdims=True)])
    assert ragged.fidelity.shape == (2, 3) and np.isnan(ragged.fidelity[1, 1:]).all()
    assert ragged.heads["minimax_fidelity"].shape == (2, 3, 4) and ragged["best_head"][1].tolist()[1:] == [-1, -1]
    nested = sg.measure([[[1, 0], [0.5, 0.5]], [[1, 0], [1, 0]]])
    assert nested.dims == () and nested.heads["minimax_fidelity"].shape == (2,)


def test_integers_and_booleans():
    identity = np.eye(4, dtype=int)[np.newaxis]
    assert sg.measure(identity).to_json() == sg.measure(identity.astype(float)).to_json() == sg.measure(identity > 0).to_json()


def test_padding(attention):
    lengths = [12, 5, 9]
    right = sg.measure(attention, lengths=lengths)
    left = sg.measure(attention, lengths=lengths, padding="left")
    for sample, length in enumerate(lengths):
        begin = 12 - length
        alone = attention[:, sample:sample + 1, :, :length, :length]
        assert np.array_equal(right.fidelity[:, sample], sg.measure(alone).fidelity[:, 0])
        cut = attention[:, sample:sample + 1, :, begin:, begin:].astype(np.float64)
        expected = sg.measure(cut / cut.sum(-1, keepdims=True)).fidelity[:, 0]
        assert np.allclose(left.fidelity[:, sample], expected, rtol=1e-12)
    assert np.array_equal(sg.measure(attention, lengths=7).fidelity, sg.measure(attention, sink=6).fidelity)
    # What is padding is not looked at.
    padded = attention.copy()
    padded[:, 1, :, 5:, :] = np.nan
    assert np.array_equal(sg.measure(padded, lengths=lengths).fidelity, right.fidelity)
    kept = sg.measure(attention, lengths=lengths, per_node=True)["node_fidelity"]
    assert kept.shape == (2, 3, 12) and np.isnan(kept[0, 1, 5:]).all() and not np.isnan(kept[0, 1, :5]).any()


def test_sinks(attention):
    several = sg.measure(attention, sink=[3, 11, -1])
    assert several.dims == ("layer", "sample", "sink") and several.fidelity.shape == (2, 3, 3)
    for k, sink in enumerate((3, 11, 11)):
        assert np.array_equal(several.fidelity[..., k], sg.measure(attention, sink=sink).fidelity)
    ends = sg.measure(attention, sink=-1, lengths=[12, 5, 9])
    assert np.array_equal(ends.fidelity, sg.measure(attention, lengths=[12, 5, 9]).fidelity)
    assert several.heads["minimax_fidelity"].shape == (2, 3, 3, 4)
    assert sg.measure(attention[0, 0], sink=[3, 4]).dims == ("sink",)


def test_sinks_and_lengths_are_for_layers_of_one_size(attention):
    long, short = attention[0], attention[0][:, :, :9, :9]  # its rows sum to one as they are causal
    assert sg.measure([short, long]).fidelity.shape == (2, 3)
    for options in ({"sink": -1}, {"sink": 3}, {"lengths": 5, "padding": "left"}):
        for layers in ([short, long], {"a": short, "b": long}):
            with pytest.raises(sg.InputError, match="layer (1|b) has 3 samples of 12 tokens, the first layer has 3 of 9"):
                sg.measure(layers, **options)
        with pytest.raises(sg.InputError, match="layer 1 has 2 samples of 12 tokens, the first layer has 3 of 12"):
            sg.measure([long, long[:2]], **options)


def test_several_sinks_are_sequences_in_documents(attention):
    document = sg.measure(attention, sink=[3, -1]).to_dict()
    assert document["range"] is None and document["sequences"] == [[s, 0, end] for s in range(3) for end in (4, 12)]
    assert sg.measure(attention, lengths=[12, 6, 4]).to_dict()["sequences"] == [[0, 0, 12], [1, 0, 6], [2, 0, 4]]
    assert "sequences" not in sg.measure(attention, sink=3).to_dict()
    assert sg.heads(attention, sink=[3]).to_json() == sg.heads(attention, sink=3).to_json()


@pytest.mark.parametrize("padding", ["left", "right"])
def test_padding_may_be_nan(attention, padding):
    clean = np.zeros((2, 12, 12))
    tokens = slice(4, 12) if padding == "left" else slice(0, 8)
    clean[:, tokens, tokens] = attention[0, 0, :2, :8, :8]
    dirty = np.full((2, 12, 12), np.nan)
    dirty[:, tokens, tokens] = clean[:, tokens, tokens]
    options = dict(lengths=[8], padding=padding)
    assert sg.measure(dirty[None], **options).to_json() == sg.measure(clean[None], **options).to_json()
    assert sg.fidelity(dirty[None], **options) == sg.fidelity(attention[0, 0, :2, :8, :8])
    with pytest.raises(sg.InputError, match="finite"):
        sg.measure(dirty[None], lengths=[9], padding=padding)


def test_missing_mass():
    rows = np.array([[[0.5, 0], [0.25, 0.25]]])
    with pytest.raises(sg.InputError, match="row 0 sums to 0.5"):
        sg.measure(rows)
    measured = sg.measure(rows, missing_mass="node", per_node=True)
    assert measured["node_fidelity"].shape == (3,)
    assert sg.measure(rows, row_tolerance=0.6).fidelity == 1.0


def test_weights(attention):
    by_layer = np.array([[1, 2, 3, 4], [4, 0, 0, 1]])
    both = sg.measure(attention, weights=by_layer)
    assert np.allclose(both.weights, by_layer / by_layer.sum(1, keepdims=True))
    for layer in range(2):
        assert np.array_equal(both.fidelity[layer], sg.measure(attention[layer], weights=by_layer[layer]).fidelity)
    assert np.array_equal(sg.measure(attention, weights=[[1, 2, 3, 4], [4, 0, 0, 1]]).fidelity, both.fidelity)
    projection = np.random.default_rng(1).normal(size=(6, 8))
    expected = np.linalg.norm(projection.reshape(6, 4, 2), axis=(0, 2))
    assert np.allclose(sg.learned_weights(projection, 4), expected / expected.sum())
    assert np.allclose(sg.learned_weights(np.asfortranarray(projection).astype(np.float32), 4), expected / expected.sum())


@pytest.mark.parametrize("wrong, message", [
    (lambda a: sg.measure(a[..., :0, :0]), "no elements"),
    (lambda a: sg.measure(a[:0]), "no elements"),
    (lambda a: sg.measure(np.float64(1.0)), "0 axes"),
    (lambda a: sg.measure(a[0, 0, 0, 0]), "1 axes"),
    (lambda a: sg.measure(a[np.newaxis]), "6 axes"),
    (lambda a: sg.measure(a[..., :5]), "queries and"),
    (lambda a: sg.measure(a.astype(complex)), "complex128"),
    (lambda a: sg.measure(a.astype(np.longdouble)), "longdouble|float128"),
    (lambda a: sg.measure(a.astype(object)), "object"),
    (lambda a: sg.measure(a.astype(str)), "str"),
    (lambda a: sg.measure(np.ma.masked_less(a, 0.01)), "masked"),
    (lambda a: sg.measure(None), "output_attentions=True"),
    (lambda a: sg.measure([]), "axes"),
    (lambda a: sg.measure({}), "dictionary is empty"),
    (lambda a: sg.measure(2 * a), "layer 0, sample 0, head 0: row 0 sums to 2"),
    (lambda a: sg.measure(np.swapaxes(a, -1, -2)), "above the diagonal"),
    (lambda a: sg.measure(a, axes="head query key"), "5 axes"),
    (lambda a: sg.measure(a, axes="layer sample head query time"), "'time' is no axis"),
    (lambda a: sg.measure(a, axes="layer layer head query key"), "twice"),
    (lambda a: sg.measure(a, axes="layer sample head query"), "key is missing"),
    (lambda a: sg.measure(list(a), axes="layer head query key"), "'layer' is no axis"),
    (lambda a: sg.measure(a, weights=[1, 2]), "2 weights"),
    (lambda a: sg.measure(a, weights=[0, 0, 0, 0]), "zero"),
    (lambda a: sg.measure(a, weights="heavy"), "weights"),
    (lambda a: sg.measure(a, lengths=[1, 2]), "2 lengths for 3 samples"),
    (lambda a: sg.measure(a, lengths=[1, 2, 13]), "1 to 12"),
    (lambda a: sg.measure(a, lengths=[1, 2, 2.5]), "whole"),
    (lambda a: sg.measure(a, padding="middle"), "middle"),
    (lambda a: sg.measure(a, sink=12), "token 12"),
    (lambda a: sg.measure(a, sink=-13), "token -13"),
    (lambda a: sg.measure(a, convention="other"), "exact, published"),
    (lambda a: sg.measure(a, eps=0), "eps"),
    (lambda a: sg.measure(a, threads=-1), "threads"),
    (lambda a: sg.measure("nowhere.npy"), "nowhere.npy"),
    (lambda a: sg.measure("nowhere.npy", lengths=3), "nowhere.npy"),
    (lambda a: sg.measure(a, layers="x"), "layers"),
    (lambda a: sg.learned_weights(a[0, 0, 0], 5), "5"),
    (lambda a: sg.learned_weights(a, 4), "matrix"),
])
def test_what_is_wrong_is_said(attention, wrong, message):
    with pytest.raises(ValueError, match=message) as caught:
        wrong(attention)
    assert isinstance(caught.value, (sg.InputError, sg.UsageError)) and "\n" not in str(caught.value)


def test_unknown_options_are_errors(attention):
    with pytest.raises(TypeError):
        sg.measure(attention, normalisation="pooled")


def test_functions_of_one_number(attention):
    measured = sg.measure(attention, eps=[0.1])
    assert np.array_equal(sg.mixing_time(attention, 0.1), measured.mixing_time)
    assert np.array_equal(sg.fidelity(attention), measured.fidelity)
    curves = sg.signal_curves(attention, 30, layer=1, sample=2)
    assert curves.shape == (5, 31, 12)
    power = np.eye(12)
    mean = attention[1, 2].astype(float).mean(0)
    for t in range(31):
        assert np.allclose(curves[-1, t], power[-1], atol=1e-6)
        power = power @ (mean / mean.sum(-1, keepdims=True))


def test_random_attention_is_measured_as_the_definitions_say():
    array = random_attention(1, 9, 9, seed=3)
    signal = np.eye(9)[-1]
    best = np.zeros(9)
    for _ in range(2000):
        signal = signal @ array[0]
        best = np.maximum(best, signal)
    assert np.isclose(sg.measure(array).fidelity, best[:-1].min())


def test_thresholds_may_repeat(attention):
    twice = sg.measure(attention, eps=[0.25, 0.25])
    np.testing.assert_array_equal(twice["mixing_time_0.25"], sg.measure(attention)["mixing_time_0.25"])


@pytest.mark.parametrize("weights", [np.ones((4, 2)), np.ones((3, 4)), np.ones((2, 4, 1))])
def test_weights_of_another_shape_are_refused(attention, weights):
    with pytest.raises(sg.InputError, match="weights: shape"):
        sg.measure(attention, weights)


def test_what_would_be_cut_is_refused(attention):
    for options in ({"threads": 2**40}, {"memory": -1}, {"memory": 2**64}, {"cutoff": float("nan")}, {"horizon": object()}):
        with pytest.raises(sg.UsageError):
            sg.measure(attention, **options)
    with pytest.raises(sg.UsageError):
        sg.signal_curves(attention, layer=2**64)
    with pytest.raises(sg.UsageError):
        sg.Graph.example(2**40 + 1)
    with pytest.raises(sg.InputError, match="zero byte"):
        sg.measure("a\0b.npy")
    with pytest.raises(sg.InputError, match="sink"):
        sg.measure(attention, sink=[])
    with pytest.raises(TypeError, match="progress"):
        sg.measure(attention, progress=5)
    np.testing.assert_array_equal(sg.measure(attention, horizon=np.int64(5), per_head=np.True_).fidelity,
                                  sg.measure(attention, horizon=5, per_head=True).fidelity)


def test_messages_are_one_line():
    with pytest.raises(sg.InputError) as error:
        sg.measure("no\nsuch\x1b[31m.npy")
    assert "\n" not in str(error.value) and "\x1b" not in str(error.value)
