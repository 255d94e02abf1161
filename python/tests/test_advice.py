"""What people pass instead of attention, and what they are told to do."""

import inspect
from types import SimpleNamespace

import numpy as np
import pytest

import synergraph as sg
from conftest import random_attention
from synergraph._attention import of_layers
from synergraph._views import CODES, HeadFunction

LOGITS = np.random.default_rng(1).normal(size=(2, 6, 6))
GOOD = random_attention(1, 2, 6, 6)
EAGER = r'attn_implementation="eager" and call it with output_attentions=True, or .* synergraph\.watch\(model\)'


def masked():
    return np.where(np.tril(np.ones((6, 6))) > 0, LOGITS, -np.inf)


def padded_left():
    attention = random_attention(2, 2, 6, 6)
    attention[1] = 0
    attention[1, :, :2] = 1 / 6
    attention[1, :, 2:, 2:] = random_attention(2, 4, 4)
    return attention


def added_padding():
    """Masks of -10000 that were added: the first two tokens, padding, attend to later ones."""
    scores = np.random.default_rng(3).normal(size=(1, 2, 6, 6)) - 1e4 * np.triu(np.ones((6, 6)), 1)
    scores[..., :2] -= 1e4
    values = np.exp(scores - scores.max(-1, keepdims=True))
    return values / values.sum(-1, keepdims=True)


def dropped_out():
    kept = np.random.default_rng(2).random((1, 20, 20)) > 0.2
    kept[0, 0, 0] = True
    return random_attention(1, 20, 20) * kept / 0.8


def encoder():
    values = np.exp(LOGITS)
    return values / values.sum(-1, keepdims=True)


def generated():
    return [[GOOD, GOOD], [np.full((1, 2, 1, 7), 1 / 7)] * 2]


MASK = r"These look like attention scores\. Apply the causal mask, then softmax over the keys$"
PADDING = r"\. Pass the number of real tokens per sample, such as lengths=attention_mask\.sum\(1\), padding=\"left\"$"
PARAMETERS = {"h.0.attn.weight": LOGITS[0], "h.0.attn.bias": LOGITS[0, 0]}


@pytest.mark.parametrize("call", [sg.measure, sg.heads])
@pytest.mark.parametrize("wrong, message", [
    (LOGITS, MASK),
    (np.tril(LOGITS), MASK),
    (masked(), r"These look like attention scores\. Apply softmax over the keys$"),
    (padded_left(), "first 2 tokens look like padding" + PADDING),
    (added_padding(), "first 2 tokens look like padding" + PADDING),
    (np.swapaxes(GOOD, -1, -2), r"columns sum to 1 instead of its rows, so query and key are swapped: pass attention\.swapaxes\(-1, -2\)$"),
    (encoder(), "rows sum to 1 only with the later tokens, as in an encoder"),
    (dropped_out(), r"look like dropout: call model\.eval\(\)"),
    (generated(), r"one step of generate\(\)\. Run the model once"),
    (tuple(map(tuple, generated())), r"one step of generate\(\)"),
    ({"logits": np.ones((1, 6, 9)), "a0": GOOD, "a1": GOOD}, 
     r"These arrays have the shape of attention: 'a0', 'a1'\. Select them with layers='\^a\[0-9\]\+\$'$"),
    ([np.ones((1, 6, 9)), GOOD, GOOD], r"These arrays have the shape of attention: '1', '2'\. Select them with layers='1,2'$"),
    ({"scores": LOGITS, "probs": GOOD[0]}, r"These arrays hold attention: 'probs'\. Select them with layers='\^probs\$'$"),
    (PARAMETERS, r"a model's parameters, not its attention: .* synergraph\.watch"),
    ({"model": PARAMETERS, "step": 3}, "a model's parameters, not its attention"),
    ({"a.q_proj.weight": LOGITS[0], "a.k_proj.weight": LOGITS[1]}, r"a model's parameters, not its attention: .* synergraph\.watch"),
    (list(PARAMETERS.items()), r"the list holds a model's parameters, not its attention: .* synergraph\.watch"),
    ([("a", GOOD), ("b", GOOD)], r"names with arrays\. Pass a dictionary: dict\(attention\)$"),
    ({"model": SimpleNamespace(named_modules=lambda: [])}, r"layer 'model': a SimpleNamespace is a model, .* synergraph\.watch"),
    ([], "the list is empty"),
    ([GOOD, 3], "element 1: 3 is not an array$"),
    ([[None, None], [None, None]], EAGER),
    ([SimpleNamespace(attentions=(GOOD,)), SimpleNamespace(attentions=(GOOD,))], "element 0: an output of a model. Measure one output"),
    ((np.ones((1, 6, 9)), (GOOD, GOOD)), r"the output of a model as a tuple\. Pass its attentions: output\[1\]$"),
    ({"layer0": [GOOD]}, r"layer 'layer0': a list is not an array\. Pass its arrays themselves, one a layer$"),
    (np.array([GOOD[0], np.eye(5)], dtype=object), r"Python objects, not numbers: pass list\(array\)$"),
    (GOOD.astype(object), r"Python objects, not numbers: pass array\.astype\(float\)$"),
    (np.array([None, None]), EAGER),
    (SimpleNamespace(decoder_attentions=(GOOD,)), r"This output has encoder and decoder attention\. Pass output\.decoder_attentions$"),
    (None, EAGER),
    ((None, None), EAGER),
    (SimpleNamespace(attentions=None, logits=LOGITS), EAGER),
    (SimpleNamespace(attentions=(None, None)), EAGER),
    (SimpleNamespace(logits=LOGITS), EAGER),
    (SimpleNamespace(), "is not attention: expected an array"),
    (SimpleNamespace(named_modules=lambda: []), r"is a model, not its attention: .* synergraph\.watch"),
])
def test_advice(call, wrong, message):
    with pytest.raises(sg.InputError, match=message) as caught:
        call(wrong)
    assert "--" not in str(caught.value)  # options as Python spells them


def test_the_advice_works():
    attention = padded_left()
    measured = sg.measure(attention, lengths=[6, 4], padding="left").fidelity
    assert measured[1] == sg.measure(attention[1:, :, 2:, 2:]).fidelity[0]
    assert sg.measure(np.swapaxes(GOOD, -1, -2), axes="sample head key query").to_dict()["conventions"] == \
        sg.measure(GOOD).to_dict()["conventions"]
    named = {"logits": np.ones((1, 6, 9)), "q.weight": np.ones(3), "k.weight": np.ones(3), "a0": GOOD, "a1": GOOD}
    assert sg.measure(named, layers="^a[0-9]+$").fidelity.shape == (2, 1)
    assert sg.measure({"attn.weight": GOOD, "late.weight": GOOD}).fidelity.shape == (2, 1)  # attention, whatever its name
    assert sg.measure(SimpleNamespace(attentions=(GOOD, GOOD))).fidelity.shape == (2, 1)


    scores = np.where(np.tril(np.ones((6, 6))) > 0, LOGITS, -np.inf)
    values = np.exp(scores)
    assert sg.measure(values / values.sum(-1, keepdims=True)).fidelity > 0
    assert sg.measure(added_padding(), lengths=4, padding="left").fidelity > 0
    swapped = np.swapaxes(GOOD, -1, -2)
    assert sg.measure(swapped.swapaxes(-1, -2)).fidelity == sg.measure(GOOD).fidelity
    assert sg.measure({"scores": LOGITS, "probs": GOOD[0]}, layers="^probs$").fidelity.shape == (1,)
    assert sg.measure([np.ones((1, 6, 9)), GOOD, GOOD], layers="1,2").fidelity.shape == (2, 1)
    assert sg.measure((np.ones((1, 6, 9)), (GOOD, GOOD))[1]).fidelity.shape == (2, 1)


def test_files_are_told_the_same(tmp_path):
    np.savez(tmp_path / "both.npz", scores=LOGITS, probs=GOOD[0])
    with pytest.raises(sg.InputError, match=r"These arrays hold attention: 'probs'\. Select them with layers='\^probs\$'$"):
        sg.measure(tmp_path / "both.npz")
    assert sg.measure(tmp_path / "both.npz", layers="^probs$").fidelity.shape == (1, 1)
    np.save(tmp_path / "padded.npy", padded_left())
    with pytest.raises(sg.InputError, match="first 2 tokens look like padding" + PADDING):
        sg.measure(tmp_path / "padded.npy")


def test_files_of_objects_are_told_how_to_save(tmp_path):
    arrays = [GOOD[0], np.eye(5)[np.newaxis]]
    whole = np.empty(2, dtype=object)
    whole[:] = arrays
    np.save(tmp_path / "objects.npy", whole, allow_pickle=True)
    with pytest.raises(sg.InputError, match=r"Python objects\. Save arrays of numbers with numpy\.savez\(path, \*arrays\)$"):
        sg.measure(tmp_path / "objects.npy")
    np.savez(tmp_path / "arrays.npz", *arrays)
    assert sg.measure(tmp_path / "arrays.npz").fidelity.shape == (2, 1)


def test_models_of_synergraph_are_loaded(tmp_path):
    run = sg.train(tmp_path / "run", task="copy", heads=2, layers=1, width=8, hidden=8, length=6, vocabulary=9, sequences=50, epochs=1,
                   device="cpu")
    for wrong in (run.model, tmp_path / "run" / "model.safetensors"):
        with pytest.raises(sg.InputError, match=r"a model of synergraph.* sg\.load_model\(path\)\.measure\(task=\.\.\.\)$"):
            sg.measure(wrong)
    model = sg.load_model(tmp_path / "run" / "model.safetensors")
    learned = model.measure(task="copy", samples=2)
    assert "learned head weights" in model.measure(task="copy", samples=2, weights="learned").table()
    assert np.array_equal(model.measure(task="copy", samples=2, weights="learned").fidelity, learned.fidelity)
    assert np.array_equal(model.measure(task="copy", samples=2, weights="uniform").fidelity,
                          model.measure(task="copy", samples=2, weights=[1, 1]).fidelity)
    assert model.value_heads(task="copy", samples=2, weights="uniform").fidelity["all"].shape == (1,)
    with pytest.raises(sg.UsageError, match="weights: 'heavy' is neither 'learned' nor 'uniform'"):
        model.measure(task="copy", weights="heavy")


def test_arrays_of_a_list_are_layers_or_samples():
    texts = [random_attention(2, 5, 5), random_attention(2, 7, 7)]
    assert "a layer each (default; axes='sample,head,query,key' reads samples)" in sg.measure(texts).table()
    for axes in ("sample head query key", "sample,head,query,key", ["sample", "head", "query", "key"]):
        result = sg.measure(texts, axes=axes)
        assert "a sample each" in result.table()
        assert result.fidelity.ravel().tolist() == [float(sg.measure(one).fidelity) for one in texts]
    with pytest.raises(sg.UsageError, match="axes: sample is given twice"):
        sg.measure([random_attention(3, 2, 5, 5), random_attention(3, 2, 7, 7)], axes="sample sample head query key")
    # Samples are of one layer.
    assert sg.measure(texts, axes="sample head query key", layers=0).fidelity.shape == (2,)
    for layers in (2, "2", "0-2"):
        with pytest.raises(sg.InputError, match="there is no layer 2: the only layer is 0"):
            sg.measure(texts, axes="sample head query key", layers=layers)
        with pytest.raises(sg.InputError, match="there is no layer 2: the only layer is 0"):
            sg.measure(dict(zip("ab", texts)), axes="sample head query key", layers=layers)
    assert sg.measure(dict(zip("ab", texts)), axes="sample head query key", layers="b").fidelity.shape == (1,)


def test_arrays_with_an_axis_of_samples_are_samples_where_their_lengths_differ(tmp_path):
    texts = [random_attention(count, 2, tokens, tokens) for count, tokens in ((1, 5), (2, 7), (1, 6))]
    assert "a layer each (default; axes='sample,head,query,key' reads samples)" in sg.measure([texts[0], texts[2]]).table()
    np.savez(tmp_path / "a.npz", a=texts[0], b=texts[1], c=texts[2])
    expected = [value for one in texts for value in sg.measure(one).fidelity]
    for given in (texts, tmp_path / "a.npz"):
        result = sg.measure(given, axes="sample head query key")
        assert result.fidelity.ravel().tolist() == expected and "a sample each" in result.table()
        with pytest.raises(sg.InputError, match="there is no layer 2"):
            sg.measure(given, axes="sample head query key", layers=2)
    # Layers have the same tokens.
    assert sg.measure([texts[1], texts[1]], axes="sample head query key").dims == ("layer", "sample")
    texts[2] = texts[2][:, :1]
    with pytest.raises(sg.InputError, match="element 2: 1 heads, the first element has 2"):
        sg.measure(texts, axes="sample head query key")


def test_layers_have_numbers(attention, tmp_path):
    np.save(tmp_path / "a.npy", attention)
    every = sg.measure(attention).fidelity
    for given in (attention, list(attention), tmp_path / "a.npy"):
        for layers in (1, "1", [1], np.int64(1), range(1, 2)):
            assert np.array_equal(sg.measure(given, layers=layers).fidelity, every[1:])
        with pytest.raises(sg.InputError, match="there is no layer 2: the layers are 0 to 1"):
            sg.measure(given, layers=2)


def test_axes_take_commas_and_blanks(attention):
    expected = sg.measure(attention).to_dict()["conventions"]
    for axes in ("layer sample head query key", "layer,sample,head,query,key", " layer, sample , head query key"):
        assert sg.measure(attention, axes=axes).to_dict()["conventions"] == expected


class Other:
    """Of no type that an option has."""


@pytest.mark.parametrize("call", [
    sg.measure, sg.heads, sg.watch, sg.train, sg.reproduce, sg.Graph.generate("chain:4").measure,
], ids=lambda call: call.__name__)
def test_wrong_types_name_their_option(call, attention, tmp_path):
    names = list(inspect.signature(call).parameters)
    first = {"attention": attention, "out": tmp_path / "out"}
    needed = {name: first[name] for name in names[:1] if name in first}
    if "figures" in names:
        needed["figures"] = False
    checked = 0
    for name in names:
        if name in ("attention", "model", "figures", "options"):
            continue
        with pytest.raises((TypeError, ValueError), match=name) as caught:
            call(**{**needed, **({"stack": True} if "stack" in names and name == "follow" else {}), name: Other()})
        assert isinstance(caught.value, sg.Error), name
        checked += 1
    assert checked >= 3


def test_one_convention_where_one_is_wanted(attention):
    for call in (lambda both: sg.heads(attention, convention=both), sg.Graph.generate("chain:4").measure):
        for both in ("both", ["exact", "published"]):
            with pytest.raises(sg.UsageError, match="one convention, exact or published, not both"):
                call(both) if call.__name__ == "<lambda>" else call(convention=both)


def watched(**options):
    torch = pytest.importorskip("torch")
    layer = torch.nn.TransformerEncoderLayer(16, 2, 16, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    with torch.no_grad(), sg.watch(model, **options) as seen:
        model(torch.randn(2, 6, 16), mask=torch.full((6, 6), -torch.inf).triu(1))
    return seen


def test_modules_and_layers_there_are():
    with pytest.raises(sg.UsageError, match=r"no module is named 'attn'\. Nearest names: 'layers\.0\.self_attn', .* and \d+ more"):
        watched(modules=["attn"])
    with pytest.raises(sg.UsageError, match=r"no module is a Other\. Nearest names: .*'Linear'"):
        watched(modules=Other)
    with pytest.raises(sg.InputError, match=r"no layer is 'layer\.9': there are 'layers\.0\.self_attn'"):
        watched(layers="layer.9").result()
    seen = watched()
    with pytest.raises(sg.InputError, match=r"no layer is 'self': there are 'layers\.0\.self_attn'"):
        seen.attention("self")
    for arguments, name in (((2,), "layer"), ((0, 2), "sample")):
        with pytest.raises(sg.UsageError, match=f"{name}: 2 is not in -2 to 1"):
            seen.attention(*arguments)


def test_watched_lengths_and_learned_weights():
    seen = watched(lengths=[6, 4])
    assert [seen.attention(1, sample).shape for sample in (0, 1)] == [(2, 6, 6), (2, 4, 4)]
    assert "learned head weights" in seen.result(weights="learned").table()
    assert "given head weights" in seen.result(weights=[1, 2]).table()
    assert "uniform head weights" in seen.result(weights="uniform").table()


def test_recorded_weights_are_told_as_arrays_are():
    torch = pytest.importorskip("torch")
    for wrong, message in ((LOGITS, MASK), (np.tril(LOGITS), "attention scores"), (np.swapaxes(GOOD[0], -1, -2), r"swapaxes\(-1, -2\)$"),
                           (encoder(), "as in an encoder")):
        for kind in (np.asarray, torch.as_tensor):
            with pytest.raises(sg.InputError, match=message) as caught, sg.watch() as seen:
                seen.record_weights("a", kind(wrong))
                seen.result()
            assert "axes " not in str(caught.value)
    with sg.watch() as seen:
        seen.record_weights("a", torch.as_tensor(np.swapaxes(GOOD[0], -1, -2).copy()).swapaxes(-1, -2))
    assert seen.result().fidelity.ravel() == sg.measure(GOOD[0]).fidelity


def test_parameters_of_a_model_are_no_attention():
    model = pytest.importorskip("torch").nn.Linear(6, 6)
    for wrong in (list(model.parameters()), tuple(model.parameters()), list(model.named_parameters()), model.state_dict()):
        with pytest.raises(sg.InputError, match=r"holds a model's parameters, not its attention: .* synergraph\.watch"):
            sg.measure(wrong)
    with pytest.raises(sg.InputError, match=r"layer 'model': a Linear is a model, not its attention: .* synergraph\.watch"):
        sg.measure({"model": model})


def test_what_a_device_raises_is_what_went_wrong():
    def fail(*_):
        raise RuntimeError("the device is gone")

    function = HeadFunction(fail, CODES["float64"], (1, 2, 6, 6))
    made = of_layers([("a", function), ("b", function)], ("layer", "sample"))
    made.named = ["a", "b"]
    with pytest.raises(RuntimeError, match="the device is gone"):
        made.run("sg_measure", {}, threads=None, memory=None, progress=None)


def test_watched_layers_and_samples_there_are():
    every = watched().result().fidelity
    for layers, places in (("0,1", [0, 1]), ("0-1", [0, 1]), ("1", [1]), ("0, 1", [0, 1])):
        assert np.allclose(watched(layers=layers).result().fidelity.shape, every[places].shape)
    for wrong in ("1-0", "1,,2", "2-", "-1"):
        with pytest.raises(sg.UsageError, match="is neither a number nor a range such as 4-7"):
            watched(layers=wrong)
    with pytest.raises(sg.InputError, match="layers: no layer is 7: the layers that ran are 0 to 1"):
        watched(layers="0,7").result()
    with pytest.raises(sg.InputError, match="samples: the model ran none of the chosen samples; it ran samples 0 to 1$"):
        watched(samples=[9]).result()


MASK_AS_LENGTHS = r"lengths: shape \(2, 10\); expected one length per sample\. From an attention mask: mask\.sum\(1\)$"


@pytest.mark.parametrize("wrong, message", [
    (lambda: sg.measure(random_attention(2, 1, 10, 10), lengths=np.ones((2, 10))), MASK_AS_LENGTHS),
    (lambda: sg.watch(lengths=np.ones((2, 10))), MASK_AS_LENGTHS),
    (lambda: sg.measure(GOOD, padding="\ud800"), "padding: .* is not 'left' or 'right'$"),
    (lambda: sg.Graph.read("\0"), "path: .* zero byte"),
    (lambda: sg.Graph.read("\ud800"), "path: .* is not a path$"),
    (lambda: sg.measure("\ud800"), "attention: .* is not a path$"),
    (lambda: sg.Graph().add_matrix(None), "matrix: None is not a matrix of numbers$"),
    (lambda: sg.Graph().add_matrix([[1], [1, 2]]), "matrix: .* is not a matrix of numbers$"),
    (lambda: sg.Graph().add_matrix("a"), "matrix: 'a' is not a matrix of numbers$"),
    (lambda: sg.Graph().add_matrix(np.ones(3)), r"matrix: expected a matrix, not an array of shape \(3,\)$"),
    (lambda: sg.Graph().add_edges("zz", nodes=3), "edges: 'zz' is not a list of edges"),
    (lambda: sg.Graph().add_edges(["z"], nodes=3), r"edges: \('z',\): an edge is"),
    (lambda: sg.learned_weights(None, 2), "projection: None is not a matrix of numbers$"),
    (lambda: sg.measure(GOOD, lengths=True), "lengths: True is not"),
    (lambda: sg.measure(GOOD, lengths="3"), "lengths: '3' is not"),
    (lambda: sg.measure(GOOD, lengths=["3"]), "lengths: .* is not"),
    (lambda: sg.measure(GOOD, sink=True), "sink: True is not"),
    (lambda: sg.measure(GOOD, sink="2"), "sink: '2' is not"),
    (lambda: sg.measure(GOOD, eps=True), "eps: True is not"),
    (lambda: sg.measure(GOOD, eps="0.1"), "eps: '0.1' is not"),
    (lambda: sg.measure(GOOD, eps=["0.1"]), "eps: .* is not"),
    (lambda: sg.measure(GOOD, eps=[True]), "eps: .* is not"),
    (lambda: sg.measure(GOOD, weights=["1", "2"]), "weights: .* is not"),
    (lambda: sg.measure(GOOD, weights=[True, False]), "weights: .* is not"),
    (lambda: sg.measure(GOOD, weights=np.array([True, False])), "weights: .* is not"),
])
def test_one_line_names_the_option(wrong, message):
    with pytest.raises(sg.Error, match=message) as caught:
        wrong()
    assert "\n" not in str(caught.value)


def test_devices_that_are_not_there():
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(sg.UsageError, match="^device: cuda cannot be used: "):
        sg.watch(device="cuda")
    with pytest.raises(sg.UsageError, match="^device: 'gpu' is not a device of PyTorch"):
        sg.watch(device="gpu")
