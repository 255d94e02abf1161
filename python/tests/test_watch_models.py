"""Watching models whose attention functions come from a registry, as transformers has it: a stand-in, in every way it calls."""

import copy
import gc
import threading
import warnings

import numpy as np
import pytest

import synergraph as sg

torch = pytest.importorskip("torch")
import live_models  # noqa: E402
import live_models_448  # noqa: E402
from live_models import Decoder  # noqa: E402

TOKENS = torch.randint(0, 32, (3, 10), generator=torch.Generator().manual_seed(1))
PADDING = torch.ones(3, 10, dtype=torch.long)
PADDING[1, :4] = 0
PADDING[2, 7:] = 0
SPANS = [(0, 10), (4, 10), (0, 7)]


def eager(model):
    """The same model, with attention that returns its probabilities."""
    model = copy.deepcopy(model)
    for part in model.modules():
        if hasattr(part, "config"):
            part.config = model.config
    model.config._attn_implementation = "eager"
    return model


def expect_attention(seen, weights, spans):
    assert len(seen.layers) == len(weights)
    for layer, of_layer in enumerate(weights):
        for sample, (begin, end) in enumerate(spans):
            found = seen.attention(layer, sample)
            assert found.dtype == np.float32
            np.testing.assert_allclose(found, of_layer[sample, :, begin:end, begin:end].detach(), rtol=2e-6, atol=2e-7)


MODELS = {
    "grouped": {},
    "all keys": {"key_heads": 4},
    "window": {"window": 4},
    "flash": {"implementation": "flash_attention_2"},
    "flash window": {"implementation": "flash_attention_2", "window": 3},
    "soft cap": {"implementation": "eager", "softcap": 0.5},
    "sinks": {"implementation": "eager", "sinks": True},
    "sinks, window": {"implementation": "eager", "sinks": True, "window": 4},
}


@pytest.mark.parametrize("padding", [None, PADDING], ids=["whole", "padded"])
@pytest.mark.parametrize("name", MODELS)
def test_equals_eager_attention(name, padding):
    model = Decoder(**MODELS[name])
    expected = model(TOKENS, padding)[0]
    with sg.watch(model) as seen:
        output = model(TOKENS, padding)[0]
    assert torch.equal(output, expected)
    assert seen.layers == ["layers.0", "layers.1"] and seen.refused == {}
    spans = [(0, 10)] * 3 if padding is None else SPANS
    expect_attention(seen, eager(model)(TOKENS, padding)[1], spans)
    measured = seen.result(per_head=True)
    weights = torch.stack([one.detach() for one in eager(model)(TOKENS, padding)[1]])
    for sample, (begin, end) in enumerate(spans):
        alone = sg.measure(weights[:, sample:sample + 1, :, begin:end, begin:end].contiguous(), per_head=True,
                           missing_mass="node" if model.config.sinks else None)
        np.testing.assert_allclose(measured.fidelity[:, sample], alone.fidelity[:, 0], rtol=1e-5)
        np.testing.assert_allclose(measured.heads["hitting_mean"][:, sample], alone.heads["hitting_mean"][:, 0], rtol=1e-5)


def test_the_document_of_measure():
    model = Decoder(implementation="eager")
    with sg.watch(model) as seen:
        model(TOKENS)
    arrays = {f"layers.{layer}": np.stack([seen.attention(layer, sample) for sample in range(3)]) for layer in range(2)}
    assert seen.result().to_json() == sg.measure(arrays).to_json()
    assert seen.result(convention="both", eps=[0.5, 0.1]).to_json() == sg.measure(arrays, convention="both", eps=[0.5, 0.1]).to_json()
    assert seen.result().dims == ("layer", "sample") and "2 layers, 3 samples" in repr(seen)


def test_values_of_heads():
    model = Decoder()
    with sg.watch(model) as seen:
        model(TOKENS, PADDING)
    valued = seen.heads(values="fidelity", weights="learned", weight_samples=0)
    assert valued.fidelity["shapley"].shape == (2, 4) and valued.layers == seen.layers
    np.testing.assert_allclose(valued.fidelity["shapley"].sum(-1), valued.fidelity["all"])
    np.testing.assert_allclose(valued.fidelity["all"], seen.result(weights="learned").fidelity.mean(-1))


def test_one_more_node_for_sinks():
    model = Decoder(implementation="eager", sinks=True)
    with sg.watch(model) as seen:
        model(TOKENS)
    assert seen.result(per_node=True)["node_fidelity"].shape == (2, 3, 11)
    with pytest.raises(sg.InputError, match="sums to"):
        seen.result(missing_mass="error")


def test_sdpa_leaves_out_what_it_leaves_out():
    for options in ({"sinks": True}, {"softcap": 0.5}):
        model = Decoder(**options)
        plain = Decoder()
        plain.load_state_dict(model.state_dict(), strict=False)
        with pytest.warns(UserWarning, match="sdpa, leaves out"):
            with sg.watch(model) as seen:
                output = model(TOKENS)[0]
        assert torch.equal(output, plain(TOKENS)[0])
        expect_attention(seen, eager(plain)(TOKENS)[1], [(0, 10)] * 3)


def test_the_registry_of_version_4_48():
    model = Decoder(live_models_448.Attention, implementation="eager", key_heads=4)
    for padding, spans in ((None, [(0, 10)] * 3), (PADDING, SPANS)):
        with sg.watch(model) as seen:
            model(TOKENS, padding)
        expect_attention(seen, model(TOKENS, padding)[1], spans)
    live_models_448.ALL_ATTENTION_FUNCTIONS["own"] = live_models_448.eager_attention_forward
    try:
        model.config._attn_implementation = "own"
        original = live_models_448.ALL_ATTENTION_FUNCTIONS["own"]
        with sg.watch(model) as seen:
            assert live_models_448.ALL_ATTENTION_FUNCTIONS["own"] is not original
            model(TOKENS)
        assert live_models_448.ALL_ATTENTION_FUNCTIONS["own"] is original and len(seen.layers) == 2
    finally:
        del live_models_448.ALL_ATTENTION_FUNCTIONS["own"]
    learned = seen.learned_weights()[0]  # of a matrix with inputs first
    norms = np.linalg.norm(model.layers[0].c_proj.weight.detach().numpy().reshape(4, -1), axis=1)
    np.testing.assert_allclose(learned, norms / norms.sum(), rtol=1e-6)


def state_of(model):
    """Everything that a watch touches."""
    return (dict(live_models.ALL_ATTENTION_FUNCTIONS._local_mapping), dict(live_models.Registry._global_mapping),
            live_models.eager_attention_forward, [dict(vars(module)) for module in model.modules()], model.config._attn_implementation)


def test_leaves_no_trace():
    model = Decoder()
    before = state_of(model)
    with sg.watch(model) as outer:
        assert model.config._attn_implementation == "sdpa"
        with sg.watch(model, layers=1) as inner:
            model(TOKENS)
        assert state_of(model) != before
        model(TOKENS[:1])
    assert state_of(model) == before
    assert len(outer.result().fidelity[0]) == 4 and inner.layers == ["layers.1"] and inner.result().fidelity.shape == (1, 3)
    with pytest.raises(ZeroDivisionError):
        with sg.watch(model):
            model(TOKENS)
            1 / 0
    assert state_of(model) == before
    with pytest.raises(IndexError):
        with sg.watch(model) as seen:
            model(TOKENS + 100)
    assert state_of(model) == before
    with pytest.raises(sg.InputError, match="no attention was seen"):
        seen.result()
    with outer:  # once more
        model(TOKENS[:1])
    assert len(outer.result().fidelity[0]) == 5 and state_of(model) == before
    outer.clear()
    assert outer.layers == []
    # Ended in another order than begun
    first, second = sg.watch(model), sg.watch(model)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    model(TOKENS)
    second.__exit__(None, None, None)
    assert state_of(model) == before and first.layers == [] and len(second.layers) == 2


def test_an_entry_that_someone_else_replaced_stays():
    model = Decoder()
    registry = live_models.ALL_ATTENTION_FUNCTIONS
    with sg.watch(model):
        mine = registry["sdpa"] = lambda *arguments, **options: live_models.sdpa_attention_forward(*arguments, **options)
    assert registry["sdpa"] is mine
    del registry["sdpa"]


def test_other_models_are_not_seen():
    model, other = Decoder(seed=1), Decoder(seed=2)
    with sg.watch(model) as seen:
        other(TOKENS)
    assert seen.layers == []


def test_choices():
    model = Decoder(layers=3, heads=6, key_heads=3)
    weights = eager(model)(TOKENS)[1]
    with sg.watch(model, layers=[0, "2$"], heads=[5, 1], samples=[1, 2]) as seen:
        model(TOKENS)
    assert seen.layers == ["layers.0", "layers.2"]
    for place, layer in enumerate((0, 2)):
        for sample in (1, 2):
            np.testing.assert_allclose(seen.attention(place, sample - 1), weights[layer][sample, [5, 1]].detach(), rtol=2e-6, atol=1e-7)
    learned = seen.learned_weights()
    expected = sg.learned_weights(model.layers[2].o_proj.weight.detach(), 6)[[5, 1]]
    np.testing.assert_allclose(learned[1], expected)
    np.testing.assert_allclose(seen.result(weights="learned").weights[1], expected / expected.sum())
    with sg.watch(model, samples=2, sink=[3, -1]) as seen:
        model(TOKENS)
        model(TOKENS)
    measured = seen.result()
    assert measured.dims == ("layer", "sample", "sink") and measured.fidelity.shape == (3, 2, 2)
    np.testing.assert_allclose(measured.fidelity[0, 1, 0], sg.fidelity(weights[0][1, :, :4, :4].detach().contiguous()), rtol=1e-5)
    with sg.watch(model, lengths=[10, 6, 7], padding="left") as seen:
        model(TOKENS)
    assert seen.result(per_node=True)["node_fidelity"].shape == (3, 3, 10)
    for wrong, message in (({"layers": 7}, "no layer is 7"), ({"layers": "mlp"}, "no layer is 'mlp'"), ({"heads": 6}, "heads: .6. of 6"),
                           ({"sink": 10}, "sink: token 10"), ({"lengths": [1, 2]}, "lengths: 2 for 3"), ({"lengths": 11}, "lengths: 11"),
                           ({"padding": "top", "lengths": 3}, "neither")):
        with sg.watch(model, **wrong) as seen:
            model(TOKENS)
        with pytest.raises(sg.InputError, match=message):
            seen.result()
    with sg.watch(model) as seen:
        model(TOKENS)
    with pytest.raises(sg.UsageError, match="neither 'learned'"):
        seen.result(weights="large")
    with pytest.raises(sg.UsageError, match="heads"):
        sg.watch(model, heads=[])


def test_generation_with_a_cache():
    model = Decoder()
    for padding in (None, PADDING[:2]):
        with sg.watch(model) as seen, torch.no_grad():
            cache = {}
            outputs = [model(TOKENS[:2, :6], None if padding is None else padding[:, :6], cache)[0]]
            for last in range(7, 11):
                outputs.append(model(TOKENS[:2, last - 1:last], None if padding is None else padding[:, :last], cache)[0])
        whole = eager(model)(TOKENS[:2], padding)
        expect_attention(seen, whole[1], [(0, 10)] * 2 if padding is None else SPANS[:2])
        begin = 0 if padding is None else 4
        torch.testing.assert_close(torch.cat(outputs, 1)[:, begin:], whole[0][:, begin:])
        assert seen.result().fidelity.shape == (2, 2)
    with sg.watch(model, samples=[1, 3]) as seen, torch.no_grad():  # two texts, one of either
        for _ in range(2):
            cache = {}
            for first, last in ((0, 6), (6, 7), (7, 10)):
                model(TOKENS[:2, first:last], None, cache)
    expect_attention(seen, [one[[1, 1]] for one in eager(model)(TOKENS[:2])[1]], [(0, 10)] * 2)
    # A cache that was filled before, one that keeps few keys, and texts that change places
    def continued(change, window=None):
        model = Decoder(window=window)
        cache = {}
        seen = sg.watch(model)
        with seen, torch.no_grad():
            model(TOKENS[:2, :6], None, cache)
            change(cache, seen)
            model(TOKENS[:2, 6:7], None, cache)
        with pytest.raises(sg.InputError, match="1 new tokens and [67] keys: generation with a cache"):
            seen.result()

    continued(lambda cache, seen: seen.clear())
    continued(lambda cache, seen: cache.update({layer: tuple(one[:, :, 1:] for one in pair) for layer, pair in cache.items()}))
    continued(lambda cache, seen: cache.update({layer: tuple(one.flip(0) for one in pair) for layer, pair in cache.items()}))
    continued(lambda cache, seen: None, window=4)


@pytest.mark.parametrize("change, reason", [
    (lambda model: setattr(model.layers[0], "is_causal", False), "encoder"),
    (lambda model: setattr(model, "mask", lambda *_: torch.ones(3, 1, 10, 10, dtype=torch.bool)), "encoder"),
    (lambda model: setattr(model, "mask", lambda *_: torch.zeros(3, 1, 10, 10)), "encoder"),
    (lambda model: setattr(model, "mask", lambda *_: (torch.arange(10) < torch.arange(1, 11)[:, None] + 3)[None, None]), "encoder"),
    (lambda model: setattr(model, "mask", lambda *_: torch.ones(3, 10).index_fill(1, torch.tensor(4), 0)), "middle"),
    (lambda model: setattr(model, "mask", lambda *_: torch.zeros(3, 1, 10, 10, dtype=torch.bool)), "padding from its first token"),
    (lambda model: setattr(model, "mask", lambda *_: torch.ones(3, 1, 1, 10, dtype=torch.bool)), "encoder"),
    (lambda model: setattr(model, "mask", lambda *_: torch.ones(10, 10, dtype=torch.bool).tril().index_fill(
        1, torch.arange(4), True)[None, None]), "encoder"),  # of a prefix
    (lambda model: setattr(model, "mask", lambda *_: -1e4 * torch.ones(3, 1, 10, 10).tril(-1)), "encoder"),
    (lambda model: setattr(model, "mask", lambda *_: None) or setattr(model.config, "_attn_implementation", "eager"), "encoder"),
    (lambda model: setattr(model.layers[0], "is_cross_attention", True), "cross-attention"),
    (lambda model: setattr(model.config, "_attn_implementation", "paged|sdpa"), "paged"),
])
def test_refuses_with_a_reason(change, reason):
    model = Decoder(layers=1)
    if reason == "middle":
        model.config._attn_implementation = "flash_attention_2"
    change(model)
    with sg.watch(model) as seen:
        model(TOKENS)
    with pytest.raises(sg.InputError, match=reason):
        seen.result()
    assert list(seen.refused) == ["layers.0"]


def test_rows_of_padding_that_attend_to_everything():
    model = Decoder(window=2)
    padding = torch.ones(3, 10, dtype=torch.long)
    padding[0, 4:] = 0
    padding[1, :7] = 0
    mask = live_models.causal_mask(padding, 10, 0, 2)
    assert mask[0, 0, 9].all() and mask[1, 0, 0].all()
    with sg.watch(model) as seen:
        model(TOKENS, padding)
    expect_attention(seen, eager(model)(TOKENS, padding)[1], [(0, 4), (7, 10), (0, 10)])


def test_measures_what_can_be_measured():
    model = Decoder(layers=3)
    model.layers[1].is_causal = False
    with sg.watch(model) as seen:
        model(TOKENS)
    with pytest.warns(UserWarning, match="1 layers are left out .layers.1.*encoder"):
        assert seen.result().layers == ["layers.0", "layers.2"]


def test_masks_of_packed_sequences_and_biases_of_heads():
    model = Decoder(implementation="eager", layers=1)
    segments = torch.arange(10) // 5
    packed = live_models.additive(torch.ones(10, 10, dtype=torch.bool).tril() & (segments == segments[:, None]))
    slopes = -torch.arange(1.0, 5)[:, None, None] * (torch.arange(10)[:, None] - torch.arange(10)).clamp(min=0)
    alibi = slopes[None] + live_models.additive(torch.ones(10, 10, dtype=torch.bool).tril())
    for mask in (packed, alibi):
        model.mask = lambda *_: mask
        with sg.watch(model, heads=[2, 0]) as seen:
            model(TOKENS)
        weights = model(TOKENS)[1][0].detach()
        for sample in range(3):
            np.testing.assert_allclose(seen.attention(0, sample), weights[sample, [2, 0]], rtol=2e-6, atol=1e-7)


def test_shared_modules_are_layers_of_their_own():
    model = Decoder(layers=1)
    model.layers = torch.nn.ModuleList([model.layers[0], model.layers[0]])
    with sg.watch(model) as seen:
        model(TOKENS)
        model(TOKENS[:1])
    assert seen.layers == ["layers.0", "layers.0#2"] and seen.result().fidelity.shape == (2, 4)
    seen = sg.watch(model)
    with seen:
        model.layers[0](model.embedding(TOKENS), None, None)  # not the model as a whole
    assert seen.layers == ["layers.0"] and seen.result().fidelity.shape == (1, 3)


def test_training_and_types():
    model = Decoder()
    tokens = TOKENS
    expected = [parameter.grad for parameter in gradients(model, tokens)]
    with sg.watch(model) as seen:
        found = [parameter.grad for parameter in gradients(model, tokens)]
    assert all(torch.equal(one, other) for one, other in zip(expected, found))
    layer = next(iter(seen._recorder.layers.values()))
    assert not layer.samples[0].queries.requires_grad and layer.samples[0].queries.grad_fn is None
    for dtype, tolerance in ((torch.float64, 1e-6), (torch.bfloat16, 3e-2)):
        other = copy.deepcopy(model).to(dtype)
        for part in other.modules():
            if hasattr(part, "config"):
                part.config = other.config
        with sg.watch(other) as seen, torch.no_grad():
            other(tokens)
        assert layer.samples[0].queries.dtype == torch.float32 and next(iter(seen._recorder.layers.values())).samples[0].queries.dtype == dtype
        np.testing.assert_allclose(seen.result().fidelity, sg.measure([one.detach() for one in eager(model)(tokens)[1]]).fidelity, rtol=tolerance)
    with sg.watch(model) as seen, torch.autocast("cpu", dtype=torch.bfloat16):
        output = model(tokens)[0]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(output, model(tokens)[0])
    assert seen.result().fidelity.shape == (2, 3)
    with sg.watch(model) as seen, torch.inference_mode():
        model(tokens, PADDING)
    assert seen.result().fidelity.shape == (2, 3)


def gradients(model, tokens):
    model.zero_grad(set_to_none=True)
    model(tokens)[0].square().sum().backward()
    copies = [torch.nn.Parameter(parameter.detach().clone()) for parameter in model.parameters()]
    for copied, parameter in zip(copies, model.parameters()):
        copied.grad = None if parameter.grad is None else parameter.grad.clone()
    return copies


def test_meta_tensors():
    model = Decoder().to("meta")
    with sg.watch(model) as seen:
        model.layers[0](torch.empty(3, 10, 32, device="meta"), torch.ones(3, 1, 10, 10, dtype=torch.bool, device="meta"), None)
    with pytest.raises(sg.InputError, match="meta device"):
        seen.result()


def test_threads():
    model = Decoder()
    texts = [torch.randint(0, 32, (1, 5 + k), generator=torch.Generator().manual_seed(k)) for k in range(8)]
    with sg.watch(model) as seen:
        threads = [threading.Thread(target=model, args=(text,)) for text in texts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    measured = seen.result()
    expected = sorted(sg.measure([one.detach() for one in eager(model)(text)[1]]).fidelity[1, 0] for text in texts)
    np.testing.assert_allclose(sorted(measured.fidelity[1]), expected, rtol=1e-5)
    assert all(seen.attention(0, k).shape == seen.attention(1, k).shape for k in range(8))

    def alone(k, found):
        other = Decoder(seed=k)
        with sg.watch(other) as mine:
            other(texts[k])
        found[k] = mine.result().fidelity.shape

    found = {}
    threads = [threading.Thread(target=alone, args=(k, found)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {k: (2, 1) for k in range(8)}
    assert live_models.ALL_ATTENTION_FUNCTIONS._local_mapping == {}


def test_models_that_cannot_be_watched():
    class OptimizedModule(torch.nn.Module):
        pass

    for model, reason in ((OptimizedModule(), "compiled"), (torch.nn.Sequential(OptimizedModule()), "compiled"), (torch.nn.DataParallel(torch.nn.Linear(1, 1)), "DataParallel"),
                          (torch.jit.script(torch.nn.Linear(1, 1)), "TorchScript"), ("model", "model: 'model' is not a torch.nn.Module")):
        with pytest.raises(sg.UsageError, match=reason):
            sg.watch(model)
    model = Decoder()
    seen = sg.watch(model)
    with seen, pytest.raises(sg.UsageError, match="already"):
        seen.__enter__()
    del model  # nobody holds it
    gc.collect()
    with pytest.raises(sg.UsageError, match="gone"):
        seen.__enter__()


def test_learned_weights_are_those_of_the_time():
    model = Decoder()
    with sg.watch(model) as seen:
        model(TOKENS)
    expected = sg.learned_weights(model.layers[0].o_proj.weight.detach(), 4)
    with torch.no_grad():
        model.layers[0].o_proj.weight[:, :8] = 0
    np.testing.assert_allclose(seen.learned_weights()[0], expected)
    del model.layers[0].o_proj
    model.layers[0].o_proj = torch.nn.Identity()
    with sg.watch(model) as seen:
        model(TOKENS)
    assert seen.result().fidelity.shape == (2, 3)
    with pytest.raises(sg.InputError, match="layer layers.0: Attention has no output projection"):
        seen.result(weights="learned")


def test_heads_are_computed_when_they_are_read(monkeypatch):
    model = Decoder()
    with sg.watch(model) as seen:
        model(TOKENS, PADDING)
    held = seen.result(per_head=True, per_node=True)
    monkeypatch.setattr("synergraph._live.source._HELD", 0)
    assert seen.result(per_head=True, per_node=True).to_json() == held.to_json()
    monkeypatch.setattr("synergraph._live.samples._BLOCK", 16)  # rows by rows, not the same to the last digit
    np.testing.assert_allclose(seen.result(per_node=True)["node_fidelity"], held["node_fidelity"], rtol=1e-5)
    layer = seen._recorder.layers["layers.1"]
    monkeypatch.setattr(layer.samples[1], "write", lambda heads, into: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        seen.result()


def test_nothing_is_warned_of():
    model = Decoder()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with sg.watch(model) as seen:
            model(TOKENS, PADDING)
        seen.result()
