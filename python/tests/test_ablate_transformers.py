"""Which heads the loss of models of transformers needs, where that is installed: randomly initialised models of six families against
hooks that switch heads off by hand, one set at a time.

On the GPU, if there is one, too. `python/tests/gpu_watch.sh` runs these and the benchmark.
"""

import numpy as np
import pytest

import synergraph as sg

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
from test_ablate import check_layer, table_by_hand  # noqa: E402
from test_watch_transformers import DEVICES, make  # noqa: E402

#: Families, and what the projections of their layers are called.
FAMILIES = {
    "gpt2": "transformer.h.{}.attn.c_proj", "llama": "model.layers.{}.self_attn.o_proj", "qwen2": "model.layers.{}.self_attn.o_proj",
    "mistral": "model.layers.{}.self_attn.o_proj", "gemma2": "model.layers.{}.self_attn.o_proj",
    "gpt-oss": "model.layers.{}.self_attn.o_proj",
}
HEADS, TOKENS = 8, 12


def texts(device):
    ids = torch.randint(1, 96, (3, TOKENS), generator=torch.Generator().manual_seed(4))
    mask = torch.ones(3, TOKENS, dtype=torch.long)
    mask[1, 8:] = 0
    return {"input_ids": ids.to(device), "attention_mask": mask.to(device)}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", ["mean", "zero"])
@pytest.mark.parametrize("family", FAMILIES)
def test_families(family, kind, device):
    model = make(family, dtype=torch.float64, device=device)
    inputs = texts(device)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    result = sg.ablate(model, inputs, kind=kind)
    assert len(result.layers) == 3
    for layer in (0, 2):
        projection = model.get_submodule(FAMILIES[family].format(layer))
        check_layer(result, layer, table_by_hand(model, projection, HEADS, kind, inputs), rtol=1e-5)
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
    for module in model.modules():
        assert not module._forward_pre_hooks and not module._forward_hooks and "forward" not in vars(module)
    assert np.isfinite(result.control["needed"]["mean"])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("family", FAMILIES)
def test_shorter_passes_are_taken(family, device):
    """The blocks before a layer run a few times, however many sets there are."""
    model = make(family, device=device)
    first = model.get_submodule(FAMILIES[family].format(0))
    calls = []
    handle = first.register_forward_hook(lambda *arguments: calls.append(0))
    sg.ablate(model, texts(device), layers=2, batch=1)
    handle.remove()
    assert len(calls) < 12  # of 256 sets


@pytest.mark.parametrize("device", DEVICES)
def test_sampled_orders_in_bfloat16(device):
    model = make("llama", dtype=torch.bfloat16, device=device)
    result = sg.ablate(model, texts(device), exact_heads=4, orders=64, precision=1e-9)
    assert np.isfinite(result.loss["shapley"]).all() and (result["permutations"] == 64).all()
    np.testing.assert_allclose(result.loss["shapley"].sum(1), result.loss["all"], rtol=1e-9, atol=1e-12)


def test_encoders_need_a_loss_of_their_own():
    model = transformers.BertForSequenceClassification(transformers.BertConfig(
        vocab_size=96, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=32)).eval()
    labels = torch.tensor([0, 1, 0])
    inputs = {**texts("cpu"), "labels": labels}

    def loss(output, given):
        return torch.nn.functional.cross_entropy(output.logits, given["labels"], reduction="none")

    result = sg.ablate(model, inputs, loss)
    assert len(result.layers) == 2 and np.abs(result.loss["shapley"]).max() > 0
    with pytest.raises(sg.InputError, match="pass loss="):
        sg.ablate(model, inputs)
