"""Speed and fidelity of attention as functions that PyTorch differentiates.

    import torch
    import synergraph.torch as st

    scores = torch.zeros(1, 4, 4, requires_grad=True)       # one head, four tokens
    attention = st.from_scores(scores)
    st.hitting_time(attention).item()                       # 2.409341
    st.minimax(attention).backward()
    scores.grad.shape                                       # torch.Size([1, 4, 4])

`attention` is (n, n) for one head, (heads, n, n), or (..., heads, n, n) with any leading dimensions; the result has the leading
dimensions. Entries may be float16, bfloat16, float32 or float64; the computation is in double precision, and the result is float64 for
float64 and float32 otherwise. `from_qk` makes attention of queries and keys that is never stored: memory grows with n, not with n^2.

Every function takes:

- `weights`: one number for each head, or for each head of each leading dimension, at least 0. Weights are divided by their sum, and
  have gradients. Default: equal weights.
- `sinks`: "last", "all", or positions. Several sinks give the mean over the graphs that end at these tokens.
- `lengths`, `padding`: numbers of tokens of the sequences, and the side of the padding, "right" or "left". Padding may hold anything.
- `row_tolerance`: largest distance of a row sum from 1. Default: what the rounding of the element type explains.
- `threads`: number of threads on the CPU. Default: all.

NaN, rows that are no probabilities, and attention to later tokens are errors (`synergraph.InputError`). A time that is infinite is a
value without a gradient: its backward pass is an error unless the upstream gradient is 0, as `torch.where(torch.isfinite(t), t, 0)`
makes it. Gradients of gradients are not computed. docs/gradients.md has the formulas.
"""

from __future__ import annotations

from typing import Any, Optional, Sequence

from ._errors import InputError, UsageError
from ._gradients import autograd
from ._gradients.autograd import QueryKeys
from ._gradients.regulariser import Regulariser
from ._options import finite, flag, number, whole

__all__ = ["QueryKeys", "Regulariser", "backward_hitting_time", "fidelity", "from_qk", "from_scores", "hitting_time", "minimax",
           "stack_fidelity", "survival", "truncated_hitting_time"]


def from_scores(scores: Any, *, scale: float = 1.0) -> Any:
    """Attention of scores (..., n, n): the softmax over the keys up to each query. float16 and bfloat16 become float32."""
    t = autograd.torch()
    given = autograd.check_tensor(scores, "scores")
    if given.dim() < 2 or given.shape[-1] != given.shape[-2]:
        raise InputError(f"scores: shape {tuple(given.shape)}; expected (..., n, n)")
    hidden = t.ones(given.shape[-2:], dtype=t.bool, device=given.device).triu(1)
    kind = given if given.dtype in (t.float32, t.float64) else given.float()
    return t.softmax((kind * number(scale, "scale")).masked_fill(hidden, -float("inf")), -1)


def from_qk(queries: Any, keys: Any, *, scale: Optional[float] = None, softcap: float = 0.0, window: int = 0) -> QueryKeys:
    """Attention of queries and keys that is never stored: the softmax over keys j <= i of softcap(scale * q_i . k_j).

    Parameters
    ----------
    queries, keys
        (n, width), (heads, n, width) or (..., heads, n, width). Keys may have fewer heads, which divide those of the queries: each serves
        as many heads in turn.
    scale
        Factor of the scores. Default: 1 / sqrt(width).
    softcap
        Cap of soft-capped scores, cap * tanh(score / cap). 0: none.
    window
        Number of keys that a query sees, itself included. 0: all.
    """
    q, k = autograd.check_tensor(queries, "queries"), autograd.check_tensor(keys, "keys")
    if q.dim() < 2 or q.dim() != k.dim() or q.shape[-2:] != k.shape[-2:] or q.shape[:-3] != k.shape[:-3] or 0 in q.shape or 0 in k.shape:
        raise InputError(f"queries and keys: shapes {tuple(q.shape)} and {tuple(k.shape)}; expected (..., heads, n, width) of the same "
                         "tokens and width")
    if q.dim() > 2 and q.shape[-3] % k.shape[-3] != 0:
        raise InputError(f"queries and keys: {q.shape[-3]} heads of queries are not a multiple of {k.shape[-3]} heads of keys")
    if scale is None:
        scale = float(q.shape[-1]) ** -0.5
    return QueryKeys(q, k, finite(scale, "scale"), finite(softcap, "softcap", 0.0), whole(window, "window"))


def hitting_time(attention: Any, weights: Any = None, sinks: Any = "last", *, log: bool = False, lengths: Any = None,
                 padding: str = "right", row_tolerance: Optional[float] = None, threads: Optional[int] = None) -> Any:
    """Mean over all start tokens of the expected steps to the sink, of the pooled walk; `log`: its natural logarithm.

    Infinite if a token cannot reach the sink. The logarithm suits losses: times of trained heads reach 10^12.
    """
    return autograd.apply("hitting_time", [attention], weights, {**autograd.sink_options(sinks), "log": flag(log, "log")}, lengths=lengths,
                          padding=padding, row_tolerance=row_tolerance, threads=threads)


def truncated_hitting_time(attention: Any, weights: Any = None, sinks: Any = "last", *, cutoff: int = 100, lengths: Any = None,
                           padding: str = "right", row_tolerance: Optional[float] = None, threads: Optional[int] = None) -> Any:
    """Mean over all start tokens of E[min(T, cutoff)]: the paper's mixing-time proxy, always finite."""
    return autograd.apply("truncated_hitting_time", [attention], weights,
                          {**autograd.sink_options(sinks), "cutoff": whole(cutoff, "cutoff")}, lengths=lengths, padding=padding,
                          row_tolerance=row_tolerance, threads=threads)


def survival(attention: Any, times: Any, weights: Any = None, sinks: Any = "last", *, lengths: Any = None, padding: str = "right",
             row_tolerance: Optional[float] = None, threads: Optional[int] = None) -> Any:
    """Mean over all start tokens of P(T > t): (..., times), or (...) for one number of steps."""
    found = autograd.apply("survival", [attention], weights, {**autograd.sink_options(sinks), "times": autograd.step_list(times)},
                           lengths=lengths, padding=padding, row_tolerance=row_tolerance, threads=threads)
    return found if hasattr(times, "__iter__") else found.squeeze(-1)


def fidelity(attention: Any, nodes: Any, times: Any = None, weights: Any = None, sinks: Any = "last", *, horizon: int = 100,
             lengths: Any = None, padding: str = "right", row_tolerance: Optional[float] = None, threads: Optional[int] = None) -> Any:
    """Signal of tokens at the sink: (..., nodes), or (...) for one token.

    `times` are the numbers of steps, one or one for each token. Without `times`: the peak of each token in the steps from 1 to `horizon`,
    with the derivative at its first peak.
    """
    options = {**autograd.sink_options(sinks), **autograd.node_options(nodes, times), "horizon": whole(horizon, "horizon")}
    found = autograd.apply("fidelity", [attention], weights, options, lengths=lengths, padding=padding, row_tolerance=row_tolerance,
                           threads=threads)
    return found if hasattr(nodes, "__iter__") else found.squeeze(-1)


def minimax(attention: Any, weights: Any = None, sinks: Any = "last", *, softness: float = 0.0, horizon: int = 100, nodes: str = "sources",
            log: bool = False, lengths: Any = None, padding: str = "right", row_tolerance: Optional[float] = None,
            threads: Optional[int] = None) -> Any:
    """Minimax fidelity within `horizon` steps: the least peak of any source; `log`: its natural logarithm.

    `softness` 0: exact, with the derivative of the first weakest token at its first peak. Above 0, up to 1: the soft minimum of
    docs/gradients.md with beta = 1 / softness. Its gradient is exact, too, and moves all weak tokens. `nodes` "all" counts the sink, too.
    """
    if nodes not in ("sources", "all"):
        raise UsageError(f"nodes: {nodes!r} is neither 'sources' nor 'all'")
    options = {**autograd.sink_options(sinks), "softness": number(softness, "softness"), "horizon": whole(horizon, "horizon"),
               "counted": nodes, "log": flag(log, "log")}
    return autograd.apply("minimax", [attention], weights, options, lengths=lengths, padding=padding, row_tolerance=row_tolerance,
                          threads=threads)


def backward_hitting_time(attention: Any, weights: Any = None, sinks: Any = "last", *, log: bool = False, lengths: Any = None,
                          padding: str = "right", row_tolerance: Optional[float] = None, threads: Optional[int] = None) -> Any:
    """Expected steps of the backward walk from the sink to the first token: h_bwd. It bounds the minimax fidelity by h_bwd / (n - 1)."""
    return autograd.apply("backward_hitting_time", [attention], weights, {**autograd.sink_options(sinks), "log": flag(log, "log")},
                          lengths=lengths, padding=padding, row_tolerance=row_tolerance, threads=threads)


def stack_fidelity(layers: Sequence[Any], weights: Any = None, sinks: Any = "last", *, residual: float = 0.5, softness: float = 0.0,
                   log: bool = False, lengths: Any = None, padding: str = "right", row_tolerance: Optional[float] = None,
                   threads: Optional[int] = None) -> Any:
    """Least signal of any source through all layers, each applied once beside a residual share.

    `layers` is a list, or a tensor whose first axis is the layers. `weights` are (layers, heads), or a list of the layers' weights.
    """
    options = {**autograd.sink_options(sinks), "residual": number(residual, "residual"), "softness": number(softness, "softness"),
               "log": flag(log, "log")}
    return autograd.apply("stack_fidelity", list(layers), weights, options, lengths=lengths, padding=padding, row_tolerance=row_tolerance,
                          threads=threads)
