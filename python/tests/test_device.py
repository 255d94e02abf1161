"""Tensors on devices: read head by head. Here the CPU stands in for a device."""

import numpy as np
import pytest

import synergraph as sg
from synergraph import _device

torch = pytest.importorskip("torch")


@pytest.fixture
def device(monkeypatch):
    """Takes every tensor for one on a device, and lists what was copied."""
    copied = []
    write = _device._Staging.write

    def watched(self, matrix, address):
        copied.append(tuple(matrix.shape))
        write(self, matrix, address)

    monkeypatch.setattr(_device, "on_device", lambda value: value if isinstance(value, torch.Tensor) else None)
    monkeypatch.setattr(_device._Staging, "write", watched)
    return copied


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_equals_memory(attention, device, dtype):
    tensor = torch.from_numpy(attention).to(getattr(torch, dtype))
    expected = sg.measure(tensor.float().numpy() if dtype == "bfloat16" else tensor.numpy(), per_head=True,
                          row_tolerance=0.05 if dtype == "bfloat16" else None).to_json()
    assert sg.measure(tensor, per_head=True).to_json() == expected
    assert set(device) == {(12, 12)} and len(device) >= 24
    assert sg.measure(list(tensor), per_head=True).to_json() == expected
    assert sg.measure(tensor.permute(4, 1, 2, 3, 0), axes="key sample head query layer", per_head=True).to_json() == expected


def test_everything_that_takes_attention(attention, device):
    tensor = torch.from_numpy(attention)
    assert np.array_equal(sg.measure(tensor, lengths=[12, 5, 9], padding="left").fidelity,
                          sg.measure(attention, lengths=[12, 5, 9], padding="left").fidelity)
    assert np.array_equal(sg.measure(tensor[0, 0], sink=[3, 4]).fidelity, sg.measure(attention[0, 0], sink=[3, 4]).fidelity)
    assert np.array_equal(sg.signal_curves(tensor, 5, layer=1, sample=2), sg.signal_curves(attention, 5, layer=1, sample=2))
    assert sg.heads(tensor[0], values="fidelity").to_json() == sg.heads(attention[0], values="fidelity").to_json()
    assert sg.measure(tensor.clone().requires_grad_()).fidelity.shape == (2, 3)


def test_what_is_wrong_is_said(attention, device):
    tensor = torch.from_numpy(attention)
    with pytest.raises(sg.InputError, match="head 0: row 0"):
        sg.measure(2 * tensor)
    with pytest.raises(sg.InputError, match="int64"):
        sg.measure(tensor.long())
    with pytest.raises(sg.InputError, match="no elements"):
        sg.measure(tensor[:, :0])


def test_an_error_of_the_device_is_raised(attention, device, monkeypatch):
    def fail(self, matrix, address):
        raise RuntimeError("CUDA error")

    monkeypatch.setattr(_device._Staging, "write", fail)
    for call in (lambda: sg.measure(torch.from_numpy(attention)), lambda: sg.signal_curves(torch.from_numpy(attention)),
                 lambda: sg.heads(torch.from_numpy(attention))):
        with pytest.raises(RuntimeError, match="CUDA error"):
            call()


def test_memory_is_let_go(attention, device):
    import gc
    import weakref

    tensor = torch.from_numpy(attention.copy())
    gone = weakref.ref(tensor)
    result = sg.measure(tensor)
    del tensor
    gc.collect()
    assert gone() is None and result.fidelity.shape == (2, 3)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_cuda(attention):
    tensor = torch.from_numpy(attention).cuda()
    there, here = sg.measure(tensor), sg.measure(attention)
    assert set(there) == set(here)
    for name in here:
        if np.asarray(here[name]).dtype.kind == "f":
            np.testing.assert_allclose(there[name], here[name], rtol=1e-9, atol=1e-14, err_msg=name)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        busy = sum((torch.randn(2000, 2000, device="cuda") @ torch.randn(2000, 2000, device="cuda")).sum() for _ in range(20))
        late = tensor + 0 * busy.isnan()
        assert sg.measure(late).to_json() == there.to_json()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_a_watch_keeps_queries_and_keys_on_their_gpu():
    queries = torch.randn(2, 4, 300, 64, device="cuda", dtype=torch.bfloat16)
    keys = torch.randn(2, 2, 300, 64, device="cuda", dtype=torch.bfloat16)
    for sinks in (None, torch.randn(4, device="cuda")):
        found = {}
        for device in ("cuda", "cpu"):
            with sg.watch(device=device) as seen:
                seen.record(0, queries, keys, sinks=sinks)
            sample = next(iter(seen._recorder.layers.values())).samples[1]
            assert sample.queries.device.type == sample.keys.device.type == device
            found[device] = seen.result(per_head=True)
        assert found["cuda"].to_dict()["device"].startswith("cuda (")
        np.testing.assert_array_equal(found["cuda"].mixing_time, found["cpu"].mixing_time)
        np.testing.assert_allclose(found["cuda"].fidelity, found["cpu"].fidelity, rtol=1e-4)
