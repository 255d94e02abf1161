"""Metrics with gradients in JAX."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import synergraph.jax as sj  # noqa: E402
from conftest import random_attention  # noqa: E402


@pytest.fixture(autouse=True)
def exact():
    jax.config.update("jax_enable_x64", True)


FUNCTIONS = {
    "hitting_time": lambda a, w: sj.hitting_time(a, w, log=True),
    "truncated_hitting_time": lambda a, w: sj.truncated_hitting_time(a, w, "all", cutoff=9),
    "survival": lambda a, w: sj.survival(a, [1, 4], w).sum(-1),
    "fidelity": lambda a, w: sj.fidelity(a, [0, 2], 3, w).sum(-1),
    "minimax": lambda a, w: sj.minimax(a, w, softness=0.1),
    "backward_hitting_time": sj.backward_hitting_time,
    "stack_fidelity": lambda a, w: sj.stack_fidelity([a, a], None, softness=0.2) + 0 * w.sum(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_are_differences(name):
    from jax.test_util import check_grads

    random = np.random.default_rng(1)
    scores, weights = jax.numpy.asarray(random.normal(size=(2, 2, 5, 5))), jax.numpy.array([1.0, 2.0])
    check_grads(lambda s, w: FUNCTIONS[name](sj.from_scores(s), w), (scores, weights), order=1, modes=["rev"], atol=1e-6, rtol=1e-6)


def test_compiled_and_in_float32():
    attention = jax.numpy.asarray(random_attention(2, 3, 12, 12).astype(np.float32))
    gradient = jax.jit(jax.grad(lambda a: sj.hitting_time(a).sum()))(attention)
    assert gradient.dtype == np.float32 and gradient.shape == attention.shape
    exact = jax.grad(lambda a: sj.hitting_time(a, row_tolerance=1e-3).sum())(attention.astype(np.float64))
    assert np.allclose(gradient, exact, rtol=1e-5, atol=1e-6)


def test_agrees_with_pytorch():
    torch = pytest.importorskip("torch")
    import synergraph.torch as st

    attention = random_attention(2, 3, 9, 9)
    tensor = torch.from_numpy(attention).requires_grad_()
    st.minimax(tensor, softness=0.05).sum().backward()
    value, gradient = jax.value_and_grad(lambda a: sj.minimax(a, softness=0.05).sum())(jax.numpy.asarray(attention))
    assert float(value) == pytest.approx(st.minimax(tensor.detach(), softness=0.05).sum().item(), rel=1e-14)
    assert np.array_equal(np.asarray(gradient), tensor.grad.numpy())


def test_errors_are_told():
    attention = random_attention(2, 4, 4)
    with pytest.raises(Exception, match="shape"):
        sj.hitting_time(attention[:, :3])
    attention[0, 2, 1] = np.nan
    with pytest.raises(Exception, match="nan"):
        jax.block_until_ready(sj.hitting_time(attention))
