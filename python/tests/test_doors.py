"""What other programs and libraries hand over, as docs/python.md says it is measured. The examples are small and made here."""

import numpy as np
import pytest

import synergraph as sg
from conftest import random_attention

LAYERS = random_attention(3, 2, 4, 6, 6, seed=3).astype(np.float32)  # (layers, samples, heads, n, n)


class ActivationCache(dict):
    """TransformerLens's: `cache["pattern", 3]` is short for `cache["blocks.3.attn.hook_pattern"]`."""

    def __getitem__(self, key):
        return super().__getitem__(f"blocks.{key[1]}.attn.hook_{key[0]}" if isinstance(key, tuple) else key)


class Saved:
    """nnsight's, of a value that was saved within a trace."""

    def __init__(self, value):
        self.value = value


class OnlyDlpack:
    """An array of MLX or JAX on the CPU."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **_):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


EXPECTED = sg.measure(LAYERS).fidelity


def test_a_cache_of_transformerlens():
    torch = pytest.importorskip("torch")
    cache = ActivationCache({f"blocks.{layer}.attn.hook_pattern": torch.tensor(one) for layer, one in enumerate(LAYERS)})
    result = sg.measure([cache["pattern", layer] for layer in range(3)])
    np.testing.assert_array_equal(result.fidelity, EXPECTED)
    named = sg.measure({name: one for name, one in cache.items() if name.endswith("hook_pattern")})
    np.testing.assert_array_equal(named.fidelity, EXPECTED)


def test_saved_values_of_nnsight():
    saved = [Saved(one) for one in LAYERS]
    np.testing.assert_array_equal(sg.measure([one.value for one in saved]).fidelity, EXPECTED)


def test_tensors_dumped_by_llama_cpp(tmp_path):
    """`kq_soft_max-L` has the extents (n_kv, n_tokens, n_head) as ggml counts them, the fastest first, and n_kv is padded with zeros."""
    heads, tokens, n_kv = 4, 6, 32
    for layer, one in enumerate(LAYERS[:, 0]):
        padded = np.zeros((heads, tokens, n_kv), np.float32)
        padded[:, :, :tokens] = one
        padded.tofile(tmp_path / f"kq_soft_max-{layer}.bin")
    dumped = [np.fromfile(tmp_path / f"kq_soft_max-{layer}.bin", np.float32).reshape(heads, tokens, -1)[:, :, :tokens] for layer in range(3)]
    np.testing.assert_array_equal(sg.measure(dumped, axes="layer head query key").fidelity, EXPECTED[:, 0])


def test_arrays_of_mlx_and_jax():
    np.testing.assert_array_equal(sg.measure([OnlyDlpack(one) for one in LAYERS]).fidelity, EXPECTED)
    np.testing.assert_array_equal(sg.measure(OnlyDlpack(LAYERS)).fidelity, EXPECTED)
