"""Measuring on devices, with a library that stands in for the one for GPUs: its devices are the CPU."""

import ctypes
import os

import numpy as np
import pytest

import synergraph as sg
from synergraph import _attention, _library
from synergraph._views import DeviceArray, ordered, view_of

FAKE = os.environ.get("SYNERGRAPH_FAKE_LIBRARY")
pytestmark = pytest.mark.skipif(not FAKE, reason="SYNERGRAPH_FAKE_LIBRARY names no library")


@pytest.fixture(autouse=True)
def fake(monkeypatch):
    monkeypatch.setenv("SYNERGRAPH_CUDA_LIBRARY", FAKE or "")


def random_attention(*shape):
    array = np.tril(np.exp(np.random.default_rng(1).normal(size=shape)))
    return array / array.sum(-1, keepdims=True)


def expect_same(one, other):
    for key in other:
        np.testing.assert_allclose(one[key], other[key], rtol=1e-6, err_msg=key)


def test_arrays():
    attention = random_attention(3, 2, 4, 12, 12)
    measured = sg.measure(attention, device="cuda:1", per_head=True)
    assert measured.to_dict()["device"] == "fake (device 1), float64"
    assert "measured on fake (device 1), float64" in str(measured)
    plain = sg.measure(attention, per_head=True)
    assert "device" not in plain.to_dict()
    expect_same(measured, plain)
    assert (measured.mixing_time == plain.mixing_time).all()


def test_refusals():
    attention = random_attention(2, 5, 5)
    with pytest.raises(sg.InputError, match="cuda:2: this machine has 2 GPUs"):
        sg.measure(attention, device="cuda:2")
    with pytest.raises(sg.UsageError, match="unknown device 'tpu'"):
        sg.measure(attention, device="tpu")


def test_memory_of_a_device():
    """A tensor on a GPU comes to the library as this does: a pointer, a device, a stream and a function for the CPU."""
    attention = random_attention(2, 3, 10, 10)
    reads = []

    def read(sample, head, address):
        reads.append((sample, head))
        ctypes.memmove(address, np.ascontiguousarray(attention[sample, head]).ctypes.data, 800)

    view = ordered(view_of(attention), ("sample", "head", "query", "key"))
    layer = DeviceArray(view._replace(shape=view.shape[1:], strides=view.strides[1:]), 1, 0, read)
    opened = _attention.of_layers([(None, layer)], ("sample",))

    def measured(device):
        handle = opened.run("sg_measure", {"device": device}, threads=None, memory=None, progress=None)
        return _library.text("sg_result_json", handle.pointer)

    on_device = measured("auto")  # where it lies, however small
    assert '"fake (device 1), float64"' in on_device and not reads
    on_cpu = measured("cpu")
    assert '"device"' not in on_cpu and len(reads) >= 6


def test_queries_and_keys():
    torch = pytest.importorskip("torch")
    torch.manual_seed(2)
    queries, keys = torch.randn(3, 4, 20, 8), torch.randn(3, 2, 20, 8)

    def watched(device, **options):
        with sg.watch() as seen:
            seen.record(0, queries, keys, **options)
        return seen.result(per_head=True, device=device)

    for options in ({}, {"scaling": 0.3, "window": 6, "softcap": 2.0}, {"sinks": torch.randn(4)},
                    {"padding": torch.tensor([[1] * 20, [0] * 5 + [1] * 15, [1] * 9 + [0] * 11])}):
        measured = watched("cuda", **options)
        assert measured.to_dict()["device"] == "fake (device 0), float64", options
        expect_same(measured, watched("cpu", **options))
    # A bias on scores is no property of queries and keys: the CPU computes the probabilities, the device measures them.
    bias = torch.randn(20, 20).masked_fill(torch.ones(20, 20, dtype=torch.bool).triu(1), -float("inf"))
    expect_same(watched("cuda", mask=bias, causal=False), watched("cpu", mask=bias, causal=False))


def test_samples_that_are_kept_side_by_side(monkeypatch):
    """As on a GPU, where the samples of a call stay together: no copy is made to measure them."""
    torch = pytest.importorskip("torch")
    from synergraph._live import arrays, recorder, source

    torch.manual_seed(4)
    queries, keys = torch.randn(3, 4, 20, 8), torch.randn(3, 2, 20, 8)
    kept = []
    make = source.ScoreArrays
    monkeypatch.setattr(arrays, "_has_room", lambda *_: True)
    monkeypatch.setattr(recorder.Recorder, "_stays", lambda *_: True)
    monkeypatch.setattr(source, "ScoreArrays", lambda *parts: kept.append(parts[0]) or make(*parts))
    for chosen in ({}, {"heads": [1, 3]}, {"samples": [0, 2]}):
        with sg.watch(**chosen) as seen:
            seen.record(0, queries, keys)
        samples = next(iter(seen._recorder.layers.values())).samples
        assert arrays.lie_side_by_side([sample.queries for sample in samples])
        measured = seen.result(per_head=True, device="cuda")
        if "heads" not in chosen:  # two heads of one of keys each lie in other places
            assert kept.pop().pointer == samples[0].queries.data_ptr()
        expect_same(measured, seen.result(per_head=True, device="cpu"))
    queries += 1.0  # copies do not change with what they are copies of
    expect_same(seen.result(per_head=True, device="cuda"), measured)


def test_generated_tokens():
    torch = pytest.importorskip("torch")
    torch.manual_seed(3)
    samples = [torch.randn(2, length, 4) for length in (7, 12)]
    with sg.watch() as seen:
        for sample in samples:
            seen.record("layer", sample, sample)
    expect_same(seen.result(device="cuda"), seen.result(device="cpu"))
