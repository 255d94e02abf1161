"""Metrics with gradients in PyTorch: derivatives by gradcheck, and against plain PyTorch operations."""

import math
import pathlib

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import synergraph as sg  # noqa: E402
import synergraph.torch as st  # noqa: E402
from synergraph._gradients import autograd  # noqa: E402
from live_models import Decoder  # noqa: E402


@pytest.fixture(params=["library", "panels"])
def path(request, monkeypatch):
    """By the library, and by the operations that a GPU runs: here both on the CPU."""
    if request.param == "panels":
        monkeypatch.setattr(autograd, "_OnCpu", autograd._OnDevice)
    return request.param


def scores_of(*shape, kind="soft", seed=0):
    """Scores (..., n, n) whose softmax is easy or nasty."""
    scores = torch.from_numpy(np.random.default_rng(seed).normal(size=shape))
    if kind == "near-identity":
        scores = scores + 20 * torch.eye(shape[-1])
    if kind == "ties":
        scores = scores * 0
    return scores


def attention_of(*shape, kind="soft", seed=0):
    attention = st.from_scores(scores_of(*shape, kind=kind, seed=seed))
    if kind == "zeros":
        n = shape[-1]
        i, k = np.indices((n, n))
        hidden = torch.from_numpy((k < i - 1) & ((i + k) % 3 == 0))
        attention = attention.masked_fill(hidden, 0.0)
        attention = attention / attention.sum(-1, keepdim=True)
    return attention


FUNCTIONS = {
    "hitting_time": lambda a, w, s: st.hitting_time(a, w, s, row_tolerance=1e-4),
    "log hitting_time": lambda a, w, s: st.hitting_time(a, w, s, log=True, row_tolerance=1e-4),
    "truncated_hitting_time": lambda a, w, s: st.truncated_hitting_time(a, w, s, cutoff=9, row_tolerance=1e-4),
    "survival": lambda a, w, s: st.survival(a, [0, 2, 7], w, s, row_tolerance=1e-4),
    "signals": lambda a, w, s: st.fidelity(a, [0, -1], [3, 5], w, s, row_tolerance=1e-4),
    "minimax 0.1": lambda a, w, s: st.minimax(a, w, s, softness=0.1, horizon=6, row_tolerance=1e-4),
    "log minimax 0.5": lambda a, w, s: st.minimax(a, w, s, softness=0.5, horizon=6, log=True, row_tolerance=1e-4),
    "minimax of all nodes": lambda a, w, s: st.minimax(a, w, s, softness=0.3, horizon=6, nodes="all", row_tolerance=1e-4),
    "backward_hitting_time": lambda a, w, s: st.backward_hitting_time(a, w, s, row_tolerance=1e-4),
    "stack_fidelity": lambda a, w, s: st.stack_fidelity([a, a.flip(-3)], None if w is None else torch.cat([w, w.flip(-1)], -1), s,
                                                        residual=0.4, softness=0.2, row_tolerance=1e-4),
}
# Exact minima and peaks have kinks where there are ties.
KINKED = {
    "minimax": lambda a, w, s: st.minimax(a, w, s, horizon=4, row_tolerance=1e-4),
    "peaks": lambda a, w, s: st.fidelity(a, [0, -2], None, w, s, horizon=4, row_tolerance=1e-4),
    "exact stack_fidelity": lambda a, w, s: st.stack_fidelity([a, a.flip(-3)], None, s, row_tolerance=1e-4),
}
SHAPES = [("soft", (1, 1, 1), "last"), ("soft", (1, 2, 2), "last"), ("soft", (2, 2, 5, 5), "last"), ("zeros", (2, 6, 6), "last"),
          ("ties", (2, 4, 4), "last"), ("soft", (2, 4, 4), "all"), ("soft", (1, 5, 5), [2, -1])]


@pytest.mark.parametrize("name", [*FUNCTIONS, *KINKED])
def test_gradcheck(name, path):
    for kind, shape, sinks in SHAPES if path == "library" else SHAPES[:3] + SHAPES[-1:]:
        if shape[-1] == 1 and name.startswith("log"):
            continue  # of a time of 0
        if name in KINKED and (kind == "ties" or sinks != "last" or shape[-1] == 1):
            continue
        function = {**FUNCTIONS, **KINKED}[name]
        attention = attention_of(*shape, kind=kind).requires_grad_()
        below = torch.ones(shape[-2:], dtype=torch.bool).tril()
        weights = torch.arange(1.0, shape[-3] + 1, dtype=torch.float64, requires_grad=True)

        def of_lower(entries, w):
            return function(entries.masked_fill(~below, 0.0), w, sinks)

        assert torch.autograd.gradcheck(of_lower, (attention, weights), eps=1e-6, atol=2e-6, rtol=1e-5), (kind, shape, sinks)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradcheck_near_the_identity(name, path):
    """Through the softmax, and of logarithms: times are 10^8 and more."""
    scores = scores_of(1, 4, 4, kind="near-identity").requires_grad_()

    def of_scores(entries):
        value = FUNCTIONS[name](st.from_scores(entries), None, "last")
        return value if name in ("signals", "survival") else (value.log() if not name.startswith("log") else value)

    assert torch.autograd.gradcheck(of_scores, (scores,), eps=1e-5, atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("function, axis", [(st.hitting_time, 1), (st.backward_hitting_time, 2)])
def test_digits_of_a_head_that_moves_once_in_1e14_steps(function, axis, path):
    """A factor for all steps that leave a node changes nothing, so entries times derivatives sum to 0 in its column, or backwards in its row."""
    e = 1e-14
    attention = torch.tensor([[[1, 0, 0], [e, 1 - e, 0], [e, e, 1 - 2 * e]]], dtype=torch.float64, requires_grad=True)
    function(attention, log=True).backward()
    parts = attention.detach() * attention.grad
    assert float(parts[0, 1, 1]) > 0.1
    assert float(parts.sum(axis)[0, 1].abs()) < 1e-14


@pytest.mark.parametrize("name", [one for one in FUNCTIONS if one != "stack_fidelity"])
@pytest.mark.parametrize("options", [{}, {"softcap": 2.0}, {"window": 3}])
def test_gradcheck_of_queries_and_keys(name, options, path):
    if path == "panels" and options and name not in ("hitting_time", "minimax 0.1"):
        pytest.skip("two functions show it")
    if "window" in options and "hitting" not in name and name != "survival":
        options = {"window": 4}
    random = np.random.default_rng(3)
    queries = torch.from_numpy(random.normal(size=(2, 4, 5, 3))).requires_grad_()
    keys = torch.from_numpy(random.normal(size=(2, 2, 5, 3))).requires_grad_()
    weights = torch.tensor([1.0, 2.0, 0.5, 1.5], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda q, k, w: FUNCTIONS[name](st.from_qk(q, k, **options), w, "last"), (queries, keys, weights),
                                    eps=1e-6, atol=1e-6, rtol=1e-5)


def plain_minimax(attention, steps, softness):
    """The softened minimax of one system (n, n), in plain operations."""
    row = torch.zeros(attention.shape[-1], dtype=attention.dtype)
    row = torch.cat([row[:-1], row[-1:] + 1])
    signals = []
    for _ in range(steps):
        row = row @ attention
        signals.append(row)
    beta = 1 / softness
    logs = torch.logsumexp(beta * torch.log(torch.stack(signals)[:, :-1]), 0) / beta
    return torch.exp(-softness * (torch.logsumexp(-beta * logs, 0) - math.log(len(logs))))


def plain_hitting_time(attention):
    n = attention.shape[-1]
    walk = (attention / attention.sum(0, keepdim=True)).T
    inner = torch.eye(n - 1, dtype=attention.dtype) - walk[:-1, :-1]
    return torch.linalg.solve(inner, torch.ones(n - 1, 1, dtype=attention.dtype)).sum() / n


@pytest.mark.parametrize("n", [33, 512])
def test_queries_and_keys_against_plain_operations(n, path):
    random = np.random.default_rng(n)
    heads, width = 3, 16
    queries = torch.from_numpy(random.normal(size=(heads, n, width))).requires_grad_()
    keys = torch.from_numpy(random.normal(size=(heads, n, width))).requires_grad_()
    weights = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
    inputs = (queries, keys, weights)

    def attention():
        scores = queries @ keys.transpose(-1, -2) / math.sqrt(width)
        return ((weights / weights.sum())[:, None, None] * st.from_scores(scores)).sum(0)

    given = st.from_qk(queries, keys)
    pairs = [(plain_minimax(attention(), 30, 0.05), st.minimax(given, weights, softness=0.05, horizon=30)),
             (torch.log(plain_hitting_time(attention())), st.hitting_time(given, weights, log=True))]
    for expected, found in pairs:
        assert found.item() == pytest.approx(expected.item(), rel=1e-11)
        for right, left in zip(torch.autograd.grad(expected, inputs), torch.autograd.grad(found, inputs)):
            assert (right - left).abs().max() <= 1e-9 * right.abs().max()


def test_values_are_those_that_the_package_measures(path):
    attention = attention_of(3, 40, 40)
    measured = sg.measure(attention.numpy(), horizon=100)
    assert st.minimax(attention).item() == pytest.approx(measured["minimax_fidelity"], rel=1e-12)
    assert st.hitting_time(attention).item() == pytest.approx(measured["hitting_mean"], rel=1e-12)
    assert st.truncated_hitting_time(attention).item() == pytest.approx(measured["truncated_hitting_mean"], rel=1e-12)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32])
def test_short_types_give_the_gradients_of_their_numbers(kind, path):
    attention = attention_of(2, 2, 12, 12).to(kind)
    exact = attention.double().requires_grad_()
    given = attention.clone().requires_grad_()
    short, full = st.minimax(given, softness=0.1), st.minimax(exact, softness=0.1, row_tolerance=0.05)
    assert short.dtype == torch.float32 and full.dtype == torch.float64
    assert torch.allclose(short.double(), full, rtol=1e-6)
    short.sum().backward()
    full.sum().backward()
    assert given.grad.dtype == kind
    assert torch.allclose(given.grad.double(), exact.grad, rtol=torch.finfo(kind).eps, atol=1e-6)


@pytest.mark.parametrize("padding", ["right", "left"])
def test_padding_is_left_out_and_has_no_gradient(padding, path):
    whole = attention_of(2, 3, 9, 9)
    lengths = [4, 7]
    padded = torch.full((2, 3, 9, 9), float("nan"), dtype=torch.float64)
    for sample, length in enumerate(lengths):
        part = slice(0, length) if padding == "right" else slice(9 - length, 9)
        padded[sample, :, part, part] = attention_of(3, length, length, seed=sample)
    padded.requires_grad_()
    values = st.hitting_time(padded, lengths=lengths, padding=padding)
    values.sum().backward()
    for sample, length in enumerate(lengths):
        alone = attention_of(3, length, length, seed=sample).requires_grad_()
        value = st.hitting_time(alone)
        value.backward()
        part = slice(0, length) if padding == "right" else slice(9 - length, 9)
        assert values[sample].item() == pytest.approx(value.item(), rel=1e-13)
        assert torch.allclose(padded.grad[sample, :, part, part], alone.grad, rtol=1e-13)
        padded.grad[sample, :, part, part] = 0
    assert not bool(padded.grad.any())
    assert whole.shape == padded.shape


def test_batches_are_their_samples(path):
    attention = attention_of(2, 3, 2, 6, 6).requires_grad_()
    weights = torch.rand(2, 3, 2, dtype=torch.float64) + 0.1
    weights.requires_grad_()
    values = st.minimax(attention, weights, softness=0.2)
    assert values.shape == (2, 3)
    values.sum().backward()
    one, own = attention.detach()[1, 2].requires_grad_(), weights.detach()[1, 2].requires_grad_()
    value = st.minimax(one, own, softness=0.2)
    value.backward()
    assert value.item() == pytest.approx(values[1, 2].item(), rel=1e-14)
    assert torch.allclose(attention.grad[1, 2], one.grad) and torch.allclose(weights.grad[1, 2], own.grad)
    assert st.fidelity(attention, 0, 3).shape == (2, 3) and st.fidelity(attention, [0], 3).shape == (2, 3, 1)
    assert st.hitting_time(attention[0, 0, 0]).shape == ()


def test_several_sinks_are_the_mean_of_prefixes(path):
    attention = attention_of(2, 7, 7)
    for function in (st.hitting_time, st.truncated_hitting_time, st.backward_hitting_time, lambda a, sinks="last": st.minimax(a, sinks=sinks, softness=0.1)):
        alone = [function(attention[:, :n, :n]).item() for n in range(1, 8)]
        assert function(attention, sinks="all").item() == pytest.approx(np.mean(alone), rel=1e-13)
        assert function(attention, sinks=[1, -1]).item() == pytest.approx((alone[1] + alone[6]) / 2, rel=1e-13)


def test_infinite_times_have_a_value_and_no_gradient(path):
    attention = attention_of(1, 5, 5)
    attention[0, 3:, 3:] += torch.diag(attention[0, 3:, 2])
    attention[0, 3:, 2] = 0  # no later token attends to token 2
    attention = torch.stack([attention_of(1, 5, 5, seed=1), attention]).requires_grad_()
    times = st.hitting_time(attention)
    assert torch.isfinite(times).tolist() == [True, False] and times[1] == math.inf
    with pytest.raises(sg.InputError, match="infinite"):
        st.hitting_time(attention).sum().backward()
    torch.where(torch.isfinite(times), times, torch.zeros_like(times)).sum().backward()
    assert bool(attention.grad[0].any()) and not bool(attention.grad[1].any())
    attention.grad = None
    st.truncated_hitting_time(attention).sum().backward()
    assert bool(torch.isfinite(attention.grad).all())


def test_fidelity_of_zero_points_to_the_first_step(path):
    attention = torch.eye(3, dtype=torch.float64)[None].requires_grad_()
    value = st.minimax(attention, softness=0.1)
    assert value == 0
    value.backward()
    expected = torch.zeros(3, 3, dtype=torch.float64)
    expected[2, 0] = 1  # token 0 is the first of the weakest
    assert torch.equal(attention.grad[0], expected)
    with pytest.raises(sg.InputError, match="logarithm"):
        st.minimax(attention, log=True).backward()


def test_wrong_inputs_are_refused(path):
    good = attention_of(2, 4, 4)
    bad = [(float("nan"), 3, 1), (0.5, 0, 3), (-0.5, 3, 0), (0.9, 3, 3)]
    for value, row, key in bad:
        wrong = good.clone()
        wrong[1, row, key] = value
        with pytest.raises(sg.InputError):
            st.hitting_time(wrong)
    with pytest.raises(sg.InputError, match="finite"):
        st.minimax(st.from_qk(torch.full((1, 3, 2), float("nan")), torch.ones(1, 3, 2)))
    for call, match in [(lambda: st.hitting_time(good, sinks="first"), "sinks"), (lambda: st.hitting_time(good, sinks=[4]), "sinks"),
                        (lambda: st.hitting_time(good, [1.0, -1.0]), "weights"), (lambda: st.hitting_time(good, [1.0]), "weights"),
                        (lambda: st.hitting_time(good, [0.0, 0.0]), "weights"), (lambda: st.hitting_time(good[:, :3]), "shape"),
                        (lambda: st.hitting_time(good.int()), "int32"), (lambda: st.hitting_time(good.numpy()), "tensor"),
                        (lambda: st.fidelity(good, 4, 1), "nodes"), (lambda: st.fidelity(good, [0, 1], [1, 2, 3]), "times"),
                        (lambda: st.hitting_time(good, padding="up"), "padding"), (lambda: st.hitting_time(good, lengths=[5]), "lengths|tokens"),
                        (lambda: st.from_qk(good, good[:, :3]), "shapes")]:
        with pytest.raises(sg.Error, match=match):
            call()


def test_uniform_attention_of_four_tokens():
    """By hand: h_2 = 7/3, h_1 = (13/12 + h_2 / 3) / (7/12), h_0 = (25/12 + h_1 / 2 + h_2 / 3) / (13/12)."""
    two = 7 / 3
    one = (13 / 12 + two / 3) / (7 / 12)
    zero = (25 / 12 + one / 2 + two / 3) / (13 / 12)
    attention = st.from_scores(torch.zeros(1, 4, 4))
    assert st.hitting_time(attention).item() == pytest.approx((zero + one + two) / 4, rel=1e-6)
    assert (zero + one + two) / 4 == pytest.approx(2.409341, abs=1e-6)  # in the module's docstring


def test_changes_in_place_are_noticed():
    attention = attention_of(1, 4, 4).requires_grad_()
    value = attention * 1
    time = st.hitting_time(value)
    with torch.no_grad():
        value.mul_(0.5)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        time.backward()


@pytest.mark.parametrize("implementation, options", [("sdpa", {}), ("eager", {"softcap": 5.0}), ("flash_attention_2", {})])
def test_regulariser_sees_what_the_registry_sees(implementation, options):
    torch.manual_seed(0)
    model = Decoder(**{"implementation": implementation, **options})
    tokens = torch.randint(0, 9, (3, 12))
    padding = torch.ones(3, 12, dtype=torch.bool)
    padding[1, :4] = False  # on the left
    with st.Regulariser(model, fidelity=0.5, log_speed=0.1, sinks="all") as promote:
        loss = model(tokens, padding)[0].square().mean()
        whole = promote(loss)
    assert set(promote.values) == {"fidelity", "log_speed"}
    assert whole.item() == pytest.approx(loss.item() - 0.5 * promote.values["fidelity"] - 0.1 * promote.values["log_speed"], rel=1e-6)
    whole.backward()
    assert all(module.q_proj.weight.grad is not None for module in model.modules() if hasattr(module, "q_proj"))
    with pytest.raises(sg.InputError, match="no attention"):
        promote.penalty()


@pytest.mark.parametrize("options, why", [
    ({}, "no strength"), ({"speed": math.nan}, "speed: nan"), ({"fidelity": 1.0, "softness": 2}, "softness: 2.0 .* from 0 to 1"),
    ({"fidelity": 1.0, "horizon": 0}, "horizon: 0"), ({"speed": 1.0, "cutoff": 2**20 + 1}, "cutoff: 1048577"),
])
def test_regulariser_refuses_at_once_what_can_never_work(options, why):
    with pytest.raises(sg.UsageError, match=why):
        st.Regulariser(torch.nn.Identity(), **options)


def test_regulariser_names_layers_that_do_not_exist():
    model = torch.nn.MultiheadAttention(4, 2, batch_first=True)
    x, later = torch.randn(1, 3, 4), torch.ones(3, 3).triu(1).bool()
    with st.Regulariser(model, fidelity=1.0, layers=["self_attn"]) as promote:
        model(x, x, x, attn_mask=later)
        with pytest.raises(sg.InputError, match="no layer is 'self_attn'"):
            promote(torch.zeros(()))


def test_regulariser_of_multihead_attention_and_of_ones_own():
    torch.manual_seed(0)
    model = torch.nn.MultiheadAttention(16, 2, batch_first=True)
    inputs, mask = torch.randn(4, 9, 16), torch.ones(9, 9).triu(1).bool()
    with st.Regulariser(model, fidelity=1.0, weights="learned") as promote:
        output, probabilities = model(inputs, inputs, inputs, attn_mask=mask, average_attn_weights=False)
        penalty = promote.penalty()
        with torch.no_grad():  # evaluation is not seen
            model(inputs, inputs, inputs, attn_mask=mask)
    norms = model.out_proj.weight.detach().double().split(8, 1)
    weights = torch.stack([block.norm() for block in norms])
    expected = st.minimax(probabilities.detach().double(), weights, softness=0.05, row_tolerance=1e-3).mean()
    assert penalty.item() == pytest.approx(-expected.item(), rel=1e-5)
    by_hand = st.Regulariser(fidelity=1.0)
    by_hand.add(probabilities.detach().requires_grad_())
    assert by_hand.penalty().item() == pytest.approx(-st.minimax(probabilities.detach(), softness=0.05).mean().item(), rel=1e-6)
    penalty.backward()
    assert bool(model.in_proj_weight.grad[:32].any())
    for wrong in ({}, {"fidelity": 1.0, "weights": "some"}):
        with pytest.raises(sg.UsageError):
            st.Regulariser(model, **wrong)


def test_the_example_of_the_docs(capsys):
    """The code of docs/python.md raises the fidelity of a small model, which falls without."""
    page = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md").read_text()
    code = page.split("## Training for speed and fidelity")[1].split("```python\n")[1].split("```")[0]
    exec(code, {})
    promoted = [float(line.split()[-1]) for line in capsys.readouterr().out.splitlines()]
    assert promoted[-1] > 1.5 * promoted[0] and len(promoted) == 3
    assert "log_fidelity=0.1" in code
    exec(code.replace("log_fidelity=0.1", "log_fidelity=1e-9"), {})
    left_alone = float(capsys.readouterr().out.splitlines()[-1].split()[-1])
    assert left_alone < promoted[-1] / 20


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("name", [*FUNCTIONS, *KINKED])
@pytest.mark.parametrize("n", [1, 2, 40, 300])
def test_cuda_agrees_with_the_cpu(name, n):
    function = {**FUNCTIONS, **KINKED}[name]
    if n == 1 and (name.startswith("log") or name == "peaks"):
        pytest.skip("one token has no such value")
    results = []
    for device in ("cpu", "cuda"):
        attention = attention_of(2, 2, n, n).to(device).requires_grad_()
        weights = torch.tensor([1.0, 3.0], dtype=torch.float64, device=device, requires_grad=True)
        value = function(attention, weights, "last")
        assert value.device.type == device
        (value * torch.arange(1.0, value.numel() + 1, device=device).reshape(value.shape)).sum().backward()
        results.append((value.detach().cpu(), attention.grad.cpu(), torch.zeros(2) if weights.grad is None else weights.grad.cpu()))
    for left, right in zip(*results):
        assert (left - right).abs().max() <= 1e-9 * left.abs().max()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float32, torch.float64])
def test_cuda_queries_and_keys_agree_with_the_cpu(kind):
    random = np.random.default_rng(2)
    given = [torch.from_numpy(random.normal(size=(2, heads, 300, 32))).to(kind) for heads in (4, 2)]
    results = []
    for device in ("cpu", "cuda"):
        queries, keys = (one.clone().to(device).requires_grad_() for one in given)
        attention = st.from_qk(queries, keys)
        value = st.minimax(attention, softness=0.05) + st.hitting_time(attention, log=True, lengths=[300, 211])
        value.sum().backward()
        results.append([value.detach().cpu().double(), queries.grad.cpu().double(), keys.grad.cpu().double()])
    for left, right in zip(*results):
        assert (left - right).abs().max() <= max(1e-9, 2 * torch.finfo(kind).eps) * left.abs().max()
