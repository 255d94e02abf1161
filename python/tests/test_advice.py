"""What people pass instead of attention, and what they are told to do."""

import inspect
from types import SimpleNamespace

import numpy as np
import pytest

import synergraph as sg
from conftest import random_attention

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


def dropped_out():
    kept = np.random.default_rng(2).random((1, 20, 20)) > 0.2
    kept[0, 0, 0] = True
    return random_attention(1, 20, 20) * kept / 0.8


def encoder():
    values = np.exp(LOGITS)
    return values / values.sum(-1, keepdims=True)


def generated():
    return [[GOOD, GOOD], [np.full((1, 2, 1, 7), 1 / 7)] * 2]


PARAMETERS = {"h.0.attn.weight": LOGITS[0], "h.0.attn.bias": LOGITS[0, 0]}


@pytest.mark.parametrize("call", [sg.measure, sg.heads])
@pytest.mark.parametrize("wrong, message", [
    (LOGITS, "These look like logits: apply softmax over the keys first"),
    (masked(), "These look like logits: apply softmax over the keys first"),
    (padded_left(), "first 2 tokens look like padding: leave padding out with lengths and padding left"),
    (np.swapaxes(GOOD, -1, -2), "columns sum to 1 instead of its rows, so query and key are swapped: give axes"),
    (encoder(), "rows sum to 1 with later tokens, as in an encoder"),
    (dropped_out(), r"look like dropout: call model\.eval\(\)"),
    (generated(), r"a step of generate\(\), one token at a time: run the model once"),
    (tuple(map(tuple, generated())), r"a step of generate\(\)"),
    ({"logits": np.ones((1, 6, 9)), "a0": GOOD, "a1": GOOD}, r"layers '\^a\[0-9\]\+\$' chooses what fits: 'a0', 'a1'"),
    (PARAMETERS, r"a model's parameters, not its attention: .* synergraph\.watch"),
    ({"model": PARAMETERS, "step": 3}, "a model's parameters, not its attention"),
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


def test_arrays_of_a_list_are_layers_or_samples():
    texts = [random_attention(2, 5, 5), random_attention(2, 7, 7)]
    assert "a layer each (by default; axes sample,head,query,key reads samples)" in sg.measure(texts).table()
    for axes in ("sample head query key", "sample,head,query,key", ["sample", "head", "query", "key"]):
        result = sg.measure(texts, axes=axes)
        assert "a sample each" in result.table()
        assert result.fidelity.ravel().tolist() == [float(sg.measure(one).fidelity) for one in texts]


def test_layers_have_numbers(attention, tmp_path):
    np.save(tmp_path / "a.npy", attention)
    every = sg.measure(attention).fidelity
    for given in (attention, list(attention), tmp_path / "a.npy"):
        for layers in (2, "2", [2], np.int64(2), range(2, 3)):
            assert np.array_equal(sg.measure(given, layers=layers).fidelity, every[1:])
        with pytest.raises(sg.InputError, match="there is no layer 3: the layers are 1 to 2"):
            sg.measure(given, layers=3)


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
    with pytest.raises(sg.UsageError, match=r"none that is 'attn': there are 'layers\.0\.self_attn', .* and \d+ more"):
        watched(modules=["attn"])
    with pytest.raises(sg.UsageError, match="none that is .*: there are .*'Linear'"):
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
