"""Arrays of other libraries: read where they lie, and let go."""

import ctypes
import gc
import sys

import numpy as np
import pytest

import synergraph as sg
from synergraph._views import view_of


class Interface:
    """Knows `__array_interface__` only."""

    def __init__(self, array):
        self.__array_interface__ = array.__array_interface__
        self.array = array


class Exchange:
    """Knows `__dlpack__` only."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OnDevice(Exchange):
    def __dlpack_device__(self):
        return (2, 0)


def test_protocols(attention):
    expected = sg.measure(attention).to_json()
    assert sg.measure(Interface(attention)).to_json() == expected
    assert sg.measure(memoryview(attention)).to_json() == expected
    assert sg.measure((ctypes.c_float * 2 * 2).from_buffer_copy(np.float32([[1, 0], [1, 0]]).tobytes())).fidelity == 1.0
    if hasattr(attention, "__dlpack__"):
        assert sg.measure(Exchange(attention)).to_json() == expected
        assert sg.measure(Exchange(attention[::-1])).to_json() == sg.measure(attention[::-1]).to_json()
        assert view_of(Exchange(attention)).pointer == attention.__array_interface__["data"][0]
        with pytest.raises(sg.InputError, match="device"):
            sg.measure(OnDevice(attention))
        with pytest.raises(sg.InputError, match="64 bits"):
            sg.measure(Exchange(np.eye(3, dtype=int)))


def test_references_are_let_go(attention):
    def references():
        gc.collect()
        return sys.getrefcount(attention)

    before = references()
    makers = [lambda: attention, lambda: Interface(attention), lambda: memoryview(attention)]
    if hasattr(attention, "__dlpack__"):
        makers.append(lambda: Exchange(attention))
    for make in makers:
        result = sg.measure(make())
        assert references() == before
        with pytest.raises(sg.InputError):
            sg.measure(make(), sink=99)
        assert references() == before
        del result


def test_torch(attention):
    torch = pytest.importorskip("torch")
    expected = sg.measure(attention).to_json()
    tensor = torch.from_numpy(attention)
    assert view_of(tensor).pointer == tensor.data_ptr()
    assert sg.measure(tensor).to_json() == expected
    assert sg.measure(list(tensor)).to_json() == expected
    assert sg.measure(tuple(tensor.unbind(0))).to_json() == expected
    assert sg.measure(tensor.clone().requires_grad_()).to_json() == expected
    assert sg.measure(tensor.permute(4, 3, 2, 1, 0), axes="key query head sample layer").to_json() == expected
    assert sg.measure(tensor.expand(2, 3, 4, 12, 12)[:, :1]).fidelity.shape == (2, 1)
    assert sg.measure(tensor.double()).to_json() == sg.measure(attention.astype(np.float64)).to_json()
    assert sg.measure(tensor.half()).to_json() == sg.measure(attention.astype(np.float16)).to_json()
    rounded = tensor.bfloat16()
    assert view_of(rounded).pointer == rounded.data_ptr()
    assert sg.measure(rounded).to_json() == sg.measure(rounded.float(), row_tolerance=0.05).to_json()
    assert sg.measure(tensor, weights=torch.tensor([1, 2, 3, 4])).to_json() == sg.measure(attention, weights=[1, 2, 3, 4]).to_json()
    assert np.allclose(sg.learned_weights(torch.nn.Linear(4, 4).weight, 2).sum(), 1)
    with pytest.raises(sg.InputError, match="meta"):
        sg.measure(torch.empty(2, 3, 3, device="meta"))
    with pytest.raises(sg.InputError, match="layout"):
        sg.measure(torch.eye(3).to_sparse())
    with pytest.raises(sg.InputError, match="complex"):
        sg.measure(torch.eye(3, dtype=torch.complex64))


def test_bfloat16_equals_the_program(attention, program, tmp_path):
    torch = pytest.importorskip("torch")
    rounded = torch.from_numpy(attention).bfloat16()
    torch.save({str(layer): rounded[layer].clone() for layer in range(2)}, tmp_path / "a.pt")
    expected = program("analyze", tmp_path / "a.pt", "--json", "-", "--quiet", "--per-head")
    assert sg.measure(rounded, per_head=True).to_json() == expected


def test_jax(attention):
    jax = pytest.importorskip("jax")
    array = jax.device_put(attention, jax.devices("cpu")[0])
    assert sg.measure(array).to_json() == sg.measure(attention).to_json()
    assert sg.measure(array.astype("bfloat16")).fidelity.shape == (2, 3)
