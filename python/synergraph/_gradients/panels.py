"""The same metrics and derivatives in operations of PyTorch, in double precision, for tensors on a GPU.

Attention is read in blocks of rows, as the library reads it (synergraph/gradients). All steps of a block are made while the block is
in memory: besides the inputs there are two numbers a token and step, and one block of rows. Gradients stay products of two narrow
matrices until they are applied, block by block, to dense attention or to queries and keys.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, List, Optional, Tuple

from .._errors import InputError, UsageError

BLOCK = 256  # rows
Take = Callable[..., None]  # layer, left (samples, nodes, rank), right, and where products would cancel the diagonal (samples, nodes)


def _torch() -> Any:
    import importlib

    return importlib.import_module("torch")


class Rows:
    """Attention of a batch of sequences of the same length: (samples, heads, n, n), never all of it in double precision."""

    def __init__(self, weights: Any) -> None:
        self.weights = weights  # (samples, heads), which sum to 1
        self.nodes = 0

    def heads(self, begin: int, end: int) -> Any:
        """Rows and columns below `end`, (samples, heads, end - begin, end), in double precision."""
        raise NotImplementedError

    def combined(self, begin: int, end: int) -> Any:
        return _torch().einsum("sh,shik->sik", self.weights, self.heads(begin, end))

    def blocks(self, count: int) -> List[Tuple[int, int]]:
        return [(begin, min(begin + BLOCK, count)) for begin in range(0, count, BLOCK)]

    def prefix(self, count: int) -> "Rows":
        """The first tokens alone."""
        raise NotImplementedError


class DenseRows(Rows):
    def __init__(self, attention: Any, weights: Any, tolerance: Optional[float], name: str = "attention", checked: bool = False) -> None:
        super().__init__(weights)
        self.attention = attention
        self.nodes = attention.shape[-1]
        if not checked:
            self._check(tolerance, name)

    def _check(self, given: Optional[float], name: str) -> None:
        torch = _torch()
        kind = self.attention.dtype
        unit = {torch.float64: 2.0**-53, torch.float32: 2.0**-24, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}[kind]
        sums = 2.0**-53 if kind == torch.float64 else 2.0**-24
        # Attention that is float32 now may have been bfloat16 before: the library looks at the entries, here the bound is the wider one.
        sum_tolerance = 4 * (2.0**-8 if kind != torch.float64 else unit) + self.nodes * sums if given is None else given
        below = 0.0 if given is None else given
        above = unit / self.nodes if given is None else given
        for begin, end in self.blocks(self.nodes):
            block = self.attention[..., begin:end, :].double()
            if not bool(torch.isfinite(block).all()):
                raise InputError(f"{name}: rows {begin} to {end - 1} contain NaN or infinity; attention must be finite")
            if bool((torch.triu(block, begin + 1).abs() > above).any()):
                raise InputError(f"{name}: rows {begin} to {end - 1} are not 0 above the diagonal; attention must be causal")
            if bool((block < -below).any()):
                raise InputError(f"{name}: rows {begin} to {end - 1} contain negative entries; attention must be probabilities. "
                                 "If these are scores, apply softmax first")
            if bool(((torch.tril(block, begin).sum(-1) - 1).abs() > sum_tolerance).any()):
                raise InputError(f"{name}: rows {begin} to {end - 1} do not all sum to 1; pass attention as softmax gives it, before "
                                 "dropout, or allow more with row_tolerance")

    def heads(self, begin: int, end: int) -> Any:
        return _torch().tril(self.attention[..., begin:end, :end].double(), begin)

    def prefix(self, count: int) -> "Rows":
        return DenseRows(self.attention[..., :count, :count], self.weights, None, checked=True)


class QueryKeyRows(Rows):
    def __init__(self, queries: Any, keys: Any, weights: Any, scale: float, softcap: float, window: int) -> None:
        super().__init__(weights)
        self.queries, self.keys, self.scale, self.softcap, self.window = queries, keys, scale, softcap, window
        self.nodes = queries.shape[-2]
        self.group = queries.shape[1] // keys.shape[1]

    def read(self, begin: int, end: int) -> Tuple[Any, Any, Any, Any]:
        """Queries and keys in double precision, probabilities, and the slope of the soft cap or None."""
        torch = _torch()
        queries = self.queries[:, :, begin:end].double()
        keys = self.keys[:, :, :end].double()
        if self.group > 1:
            keys = keys.repeat_interleave(self.group, 1)
        scores = queries @ keys.transpose(-1, -2) * self.scale
        slope = None
        if self.softcap > 0:
            level = torch.tanh(scores / self.softcap)
            scores, slope = self.softcap * level, 1 - level * level
        places = torch.arange(end, device=scores.device)
        hidden = places[None, :] > places[begin:end, None]
        if self.window > 0:
            hidden = hidden | (places[None, :] <= places[begin:end, None] - self.window)
        probabilities = torch.softmax(scores.masked_fill(hidden, -math.inf), -1)
        if not bool(torch.isfinite(probabilities).all()):
            raise InputError(f"attention: scores of rows {begin} to {end - 1} are NaN or infinite; queries and keys must be finite")
        return queries, keys, probabilities, slope

    def heads(self, begin: int, end: int) -> Any:
        return self.read(begin, end)[2]

    def prefix(self, count: int) -> "Rows":
        return QueryKeyRows(self.queries[..., :count, :], self.keys[..., :count, :], self.weights, self.scale, self.softcap, self.window)


# ---- Panels of steps


def _in_block(block: Any, panel: Any) -> None:
    """x_{s+1} = x_{s+1} + block x_s for the nodes of a block, in place: panel is (samples, nodes of the block, steps + 1).

    After k rounds the panel has what the last 2^k steps bring: a round is one product with a power of the block. All numbers are
    sums of products in few operations, instead of one operation a step.
    """
    power, step, steps = block, 1, panel.shape[2] - 1
    while step <= steps:
        panel[..., step:] += power @ panel[..., :-step].contiguous()
        step *= 2
        if step <= steps:
            power = power @ power


def down(rows: Rows, panel: Any, scale: Optional[Any] = None) -> None:
    """x_{s+1}[j] = scale[j] (x_{s+1}[j] + sum over i >= j of D(i, j) x_s[i]); a node of scale 0 keeps its state."""
    torch = _torch()
    for begin, end in reversed(rows.blocks(panel.shape[1])):
        block = rows.combined(begin, end)
        part = slice(begin, end)
        inner = block[..., begin:end].transpose(-1, -2)
        if scale is not None:
            own = scale[:, part]
            inner = inner * own.unsqueeze(-1) + torch.diag_embed((own == 0).double())
            panel[:, part, 1:] *= own.unsqueeze(-1)
        _in_block(inner.contiguous(), panel[:, part])
        if begin > 0:
            panel[:, :begin, 1:] += block[..., :begin].transpose(-1, -2) @ panel[:, part, :-1]


def up(rows: Rows, panel: Any, scale: Optional[Any] = None) -> None:
    """x_{s+1}[i] = scale[i] (x_{s+1}[i] + sum over k <= i of D(i, k) x_s[k])."""
    for begin, end in rows.blocks(panel.shape[1]):
        block = rows.combined(begin, end)
        part = slice(begin, end)
        if begin > 0:
            panel[:, part, 1:] += block[..., :begin] @ panel[:, :begin, :-1]
        inner = block[..., begin:end]
        if scale is not None:
            inner = inner * scale[:, part].unsqueeze(-1)
            panel[:, part, 1:] *= scale[:, part].unsqueeze(-1)
        _in_block(inner.contiguous(), panel[:, part])


# ---- Metrics of one sink: values (samples, k), and what makes their gradients


class Metric:
    """Values of the tokens up to a sink, kept with what their derivatives need."""

    values: Any  # (samples, k)

    def pull_back(self, upstream: Any, take: Take) -> None:
        raise NotImplementedError


def _refuse_infinite(values: Any, upstream: Any, name: str) -> None:
    torch = _torch()
    wrong = torch.nonzero(torch.isinf(values[:, 0]) & (upstream[:, 0] != 0))
    if len(wrong) > 0:
        raise InputError(f"{name}: the value of sample {int(wrong[0])} is infinite and has no gradient; leave such items out of the loss "
                         "(torch.where), or use truncated_hitting_time")


class HittingTime(Metric):
    def __init__(self, rows: Rows) -> None:
        torch = _torch()
        self.rows, n = rows, rows.nodes
        weights = rows.weights
        leaving = torch.zeros(len(weights), n, dtype=torch.float64, device=weights.device)
        diagonal = torch.zeros_like(leaving)
        for begin, end in rows.blocks(n):
            block = rows.combined(begin, end)
            leaving[:, :end] += torch.tril(block, begin - 1).sum(1)
            diagonal[:, begin:end] = block[..., begin:end].diagonal(dim1=-2, dim2=-1)
        stuck = (leaving[:, :-1] <= 0).any(1) if n > 1 else torch.zeros(len(weights), dtype=torch.bool, device=weights.device)
        leaving[:, -1] = 1.0
        self.leaving = torch.where(leaving > 0, leaving, torch.ones_like(leaving))
        self.times = torch.zeros_like(leaving)
        into = torch.zeros_like(leaving)
        for begin, end in reversed(rows.blocks(n)):
            block = rows.combined(begin, end)
            inner = torch.tril(block[..., begin:end], -1).transpose(-1, -2)
            right = diagonal[:, begin:end] + self.leaving[:, begin:end] + into[:, begin:end]
            if end == n:
                right[:, -1] = 0.0
            system = torch.diag_embed(self.leaving[:, begin:end]) - inner
            self.times[:, begin:end] = torch.linalg.solve_triangular(system, right.unsqueeze(-1), upper=True).squeeze(-1)
            if begin > 0:
                into[:, :begin] += (block[..., :begin].transpose(-1, -2) @ self.times[:, begin:end].unsqueeze(-1)).squeeze(-1)
        mean = self.times.mean(1)
        self.values = torch.where(stuck, torch.full_like(mean, math.inf), mean).unsqueeze(1)

    def pull_back(self, upstream: Any, take: Take) -> None:
        torch = _torch()
        _refuse_infinite(self.values, upstream, "hitting_time")
        n = self.rows.nodes
        if n == 1:
            return
        visits = torch.zeros_like(self.times)
        for begin, end in self.rows.blocks(n):
            block = self.rows.combined(begin, end)
            right = torch.full_like(self.times[:, begin:end], 1.0 / n)
            if begin > 0:
                right = right + (block[..., :begin] @ visits[:, :begin].unsqueeze(-1)).squeeze(-1)
            system = torch.diag_embed(self.leaving[:, begin:end]) - torch.tril(block[..., begin:end], -1)
            visits[:, begin:end] = torch.linalg.solve_triangular(system, right.unsqueeze(-1), upper=False).squeeze(-1)
        visits[:, -1] = 0.0
        scaled = self.times * upstream
        take(0, torch.stack([scaled + upstream, torch.ones_like(scaled)], -1), torch.stack([visits, -visits * scaled], -1), visits * upstream)


class BackwardHittingTime(Metric):
    def __init__(self, rows: Rows) -> None:
        torch = _torch()
        self.rows, n = rows, rows.nodes
        weights = rows.weights
        self.times = torch.zeros(len(weights), n, dtype=torch.float64, device=weights.device)
        leaving = torch.zeros_like(self.times)
        for begin, end in rows.blocks(n):
            block = rows.combined(begin, end)
            strict = torch.tril(block, begin - 1)
            leaving[:, begin:end] = strict.sum(-1)
            own = torch.where(leaving[:, begin:end] > 0, leaving[:, begin:end], torch.ones_like(leaving[:, begin:end]))
            right = block.sum(-1)
            if begin > 0:
                right = right + (block[..., :begin] @ self.times[:, :begin].unsqueeze(-1)).squeeze(-1)
            else:
                right[:, 0] = 0.0
            system = torch.diag_embed(own) - strict[..., begin:end]
            self.times[:, begin:end] = torch.linalg.solve_triangular(system, right.unsqueeze(-1), upper=False).squeeze(-1)
        self.leaving = torch.where(leaving > 0, leaving, torch.ones_like(leaving))
        arriving = torch.zeros_like(self.times)
        arriving[:, -1] = 1.0
        self.visits = torch.zeros_like(self.times)
        for begin, end in reversed(rows.blocks(n)):
            block = rows.combined(begin, end)
            system = torch.diag_embed(self.leaving[:, begin:end]) - torch.tril(block[..., begin:end], -1).transpose(-1, -2)
            self.visits[:, begin:end] = torch.linalg.solve_triangular(system, arriving[:, begin:end].unsqueeze(-1), upper=True).squeeze(-1)
            if begin > 0:
                arriving[:, :begin] += (block[..., :begin].transpose(-1, -2) @ self.visits[:, begin:end].unsqueeze(-1)).squeeze(-1)
        stuck = ((leaving[:, 1:] <= 0) & (self.visits[:, 1:] > 0)).any(1)
        last = self.times[:, -1]
        self.values = torch.where(stuck, torch.full_like(last, math.inf), last).unsqueeze(1)

    def pull_back(self, upstream: Any, take: Take) -> None:
        torch = _torch()
        _refuse_infinite(self.values, upstream, "backward_hitting_time")
        visits = self.visits.clone()
        visits[:, 0] = 0.0
        scaled = self.times * upstream
        take(0, torch.stack([visits, -visits * scaled], -1), torch.stack([scaled + upstream, torch.ones_like(scaled)], -1),
             visits * upstream)


class Survival(Metric):
    def __init__(self, rows: Rows, weights: List[List[float]]) -> None:
        torch = _torch()
        self.rows = rows
        device = rows.weights.device
        steps = max(len(one) for one in weights) - 1
        self.weights = torch.tensor([one + [0.0] * (steps + 1 - len(one)) for one in weights], dtype=torch.float64, device=device)
        samples, n = len(rows.weights), rows.nodes
        columns = torch.zeros(samples, n, dtype=torch.float64, device=device)
        for begin, end in rows.blocks(n):
            columns[:, :end] += rows.combined(begin, end).sum(1)
        self.inverse = torch.where(columns > 0, 1 / columns, torch.zeros_like(columns))[:, :-1]
        self.panel = torch.zeros(samples, n - 1, steps + 1, dtype=torch.float64, device=device)
        self.panel[..., 0] = 1.0
        down(rows, self.panel, self.inverse)
        self.values = (self.panel.sum(1) / n) @ self.weights.T

    def pull_back(self, upstream: Any, take: Take) -> None:
        torch = _torch()
        samples, n, steps = len(upstream), self.rows.nodes, self.panel.shape[2] - 1
        if steps == 0 or n == 1:
            return
        weight = upstream @ self.weights / n  # (samples, steps + 1)
        adjoint = weight.flip(1).unsqueeze(1).repeat(1, n - 1, 1)
        adjoint[..., 0] *= self.inverse
        up(self.rows, adjoint, self.inverse)
        adjoint = adjoint.flip(2)
        left = torch.zeros(samples, n, steps + 1, dtype=torch.float64, device=upstream.device)
        right = torch.zeros_like(left)
        left[:, :-1, :steps] = self.panel[..., :-1]
        left[..., steps] = 1.0
        right[:, :-1, :steps] = adjoint[..., 1:]
        right[:, :-1, steps] = -(adjoint[..., 1:] * self.panel[..., 1:]).sum(-1)
        take(0, left, right)


def signals(rows: Rows, steps: int) -> Any:
    torch = _torch()
    panel = torch.zeros(len(rows.weights), rows.nodes, steps + 1, dtype=torch.float64, device=rows.weights.device)
    panel[:, -1, 0] = 1.0
    down(rows, panel)
    return panel


def take_signals(rows: Rows, signal: Any, adjoint: Any, take: Take) -> None:
    """`adjoint` (samples, nodes, steps + 1) are the derivatives towards the signals, by time."""
    later = adjoint.flip(2).contiguous()
    up(rows, later)
    take(0, signal[..., :-1], later.flip(2)[..., 1:])


class Placed(Metric):
    """Signals of nodes at times, or at their peaks."""

    def __init__(self, rows: Rows, nodes: List[int], times: Optional[List[int]], horizon: int) -> None:
        torch = _torch()
        self.rows = rows
        self.signal = signals(rows, horizon if times is None else max(times))
        kept = [node for node in nodes if node < rows.nodes]
        self.there = [place for place, node in enumerate(nodes) if node < rows.nodes]
        self.nodes = torch.tensor(kept, dtype=torch.long, device=self.signal.device)
        chosen = self.signal[:, self.nodes]
        if times is None:
            self.times = chosen[..., 1:].argmax(-1) + 1
        else:
            given = torch.tensor([times[place] for place in self.there], dtype=torch.long, device=self.signal.device)
            self.times = given.expand(len(self.signal), -1)
        self.values = torch.zeros(len(self.signal), len(nodes), dtype=torch.float64, device=self.signal.device)
        self.values[:, self.there] = chosen.gather(2, self.times.unsqueeze(-1)).squeeze(-1)

    def pull_back(self, upstream: Any, take: Take) -> None:
        torch = _torch()
        if self.signal.shape[2] == 1 or not self.there:
            return
        adjoint = torch.zeros_like(self.signal)
        samples = torch.arange(len(self.signal), device=self.signal.device)[:, None].expand_as(self.times)
        adjoint.index_put_((samples, self.nodes[None, :].expand_as(self.times), self.times), upstream[:, self.there], accumulate=True)
        take_signals(self.rows, self.signal, adjoint, take)


def soft_minimum(logs: Any, softness: float) -> Tuple[Any, Any]:
    """(samples, nodes) to the logarithm of the soft minimum, and its derivatives; see soft_minimum.h."""
    torch = _torch()
    least, first = logs.min(1)
    one = torch.zeros_like(logs).scatter_(1, first.unsqueeze(1), 1.0)
    if softness == 0:
        return least, one
    shares = torch.softmax(-logs / softness, 1)
    value = -softness * (torch.logsumexp(-logs / softness, 1) - math.log(logs.shape[1]))
    zero = torch.isinf(least)
    return torch.where(zero, least, value), torch.where(zero.unsqueeze(1), one, shares)


class Minimax(Metric):
    """Values are logarithms here: see LogMean."""

    def __init__(self, rows: Rows, horizon: int, softness: float, counted: str) -> None:
        torch = _torch()
        self.rows, self.softness = rows, softness
        self.signal = signals(rows, horizon)
        count = rows.nodes if counted == "all" else rows.nodes - 1
        if count == 0:
            self.values, self.shares = torch.zeros(len(self.signal), 1, dtype=torch.float64, device=self.signal.device), None
            return
        r = self.signal[:, :count, 1:]
        self.most, self.peak = r.max(-1)
        level = r / torch.where(self.most > 0, self.most, torch.ones_like(self.most)).unsqueeze(-1)
        self.level = level.clamp(min=0)
        logs = torch.log(self.most)
        if softness > 0:
            self.powers = (self.level ** (1 / softness)).sum(-1)
            logs = torch.where(self.most > 0, logs + softness * torch.log(self.powers), logs)
        value, self.shares = soft_minimum(logs, softness)
        self.values = value.unsqueeze(1)

    def pull_back(self, upstream: Any, take: Take) -> None:
        """`upstream` is that of the value itself times the value, or of the logarithm; see `plain`."""
        torch = _torch()
        if self.shares is None:
            return
        factor, plain = upstream[:, :1], upstream[:, 1:]  # of the logarithm, and of the value where that is 0
        adjoint = torch.zeros_like(self.signal)
        count = self.most.shape[1]
        scale = self.shares * torch.where(self.most > 0, factor / self.most, plain)
        hard = torch.zeros_like(self.level).scatter_(2, self.peak.unsqueeze(-1), 1.0)
        slopes = hard
        if self.softness > 0:
            beta = 1 / self.softness
            soft = self.level ** (beta - 1) / torch.where(self.powers > 0, self.powers, torch.ones_like(self.powers)).unsqueeze(-1)
            slopes = torch.where((self.most > 0).unsqueeze(-1), soft, hard)
        adjoint[:, :count, 1:] = scale.unsqueeze(-1) * slopes
        take_signals(self.rows, self.signal, adjoint, take)


class Stack(Metric):
    """The logarithm, too."""

    def __init__(self, layers: List[Rows], residual: float, softness: float) -> None:
        torch = _torch()
        self.layers, self.residual = layers, residual
        n = layers[0].nodes
        row = torch.zeros(len(layers[0].weights), n, dtype=torch.float64, device=layers[0].weights.device)
        row[:, -1] = 1.0
        self.rows = [row]
        for layer in reversed(layers):
            above = self.rows[0]
            here = residual * above
            for begin, end in layer.blocks(n):
                here[:, :end] += (1 - residual) * (above[:, None, begin:end] @ layer.combined(begin, end)).squeeze(1)
            self.rows.insert(0, here)
        if n == 1:
            self.values, self.shares = torch.zeros(len(row), 1, dtype=torch.float64, device=row.device), None
            return
        value, self.shares = soft_minimum(torch.log(self.rows[0][:, :-1].clamp(min=0)), softness)
        self.values = value.unsqueeze(1)

    def pull_back(self, upstream: Any, take: Take) -> None:
        torch = _torch()
        if self.shares is None:
            return
        signal = self.rows[0][:, :-1]
        column = torch.zeros_like(self.rows[0])
        column[:, :-1] = self.shares * torch.where(signal > 0, upstream[:, :1] / signal, upstream[:, 1:])
        for number, layer in enumerate(self.layers):
            take(number, (1 - self.residual) * self.rows[number + 1].unsqueeze(-1), column.unsqueeze(-1))
            after = self.residual * column
            for begin, end in layer.blocks(layer.nodes):
                after[:, begin:end] += (1 - self.residual) * (layer.combined(begin, end) @ column[:, :end].unsqueeze(-1)).squeeze(-1)
            column = after


# ---- Means over sinks


class Means:
    """A metric of a batch: the mean over sinks, or its logarithm."""

    def __init__(self, layers: List[Rows], options: Dict[str, Any]) -> None:
        torch = _torch()
        self.kind, self.log = options["metric"], bool(options.get("log"))
        n = layers[0].nodes
        self.sinks = sorted({sink + n if sink < 0 else sink for sink in options.get("sinks") or [-1]})
        if options.get("all_sinks"):
            self.sinks = list(range(n))
        if self.sinks[0] < 0 or self.sinks[-1] >= n:
            raise InputError(f"sinks: one of the positions is not one of the tokens 0 to {n - 1}")
        if options.get("nodes"):
            nodes = [node + n if node < 0 else node for node in options["nodes"]]
            if min(nodes) < 0 or max(nodes) >= n:
                raise InputError(f"nodes: one of the positions is not one of the tokens 0 to {n - 1}")
            options = {**options, "nodes": nodes}
        self.parts = [make([layer.prefix(sink + 1) if sink + 1 < n else layer for layer in layers], options) for sink in self.sinks]
        values = torch.stack([part.values for part in self.parts])  # (sinks, samples, k)
        if self.kind in ("minimax", "stack_fidelity"):
            self.log_values = values
            self.log_mean = torch.logsumexp(values, 0) - math.log(len(self.sinks))
            self.values = self.log_mean if self.log else torch.exp(self.log_mean)
        else:
            self.mean = values.mean(0)
            self.values = torch.log(self.mean) if self.log else self.mean

    def pull_back(self, upstream: Any, take: Take) -> None:
        torch = _torch()
        upstream = upstream / len(self.sinks)
        if self.kind in ("minimax", "stack_fidelity"):
            if self.log and bool((torch.isinf(self.log_mean) & (upstream != 0)).any()):
                raise InputError(f"{self.kind}: the fidelity is 0, so its logarithm is -infinity and has no gradient; leave such items out "
                                 "of the loss (torch.where), or use the fidelity itself")
            shift = torch.where(torch.isinf(self.log_mean), torch.zeros_like(self.log_mean), self.log_mean) if self.log else 0.0
            for part, value in zip(self.parts, self.log_values):
                part.pull_back(torch.cat([upstream * torch.exp(value - shift), upstream], 1), take)
            return
        if self.log:
            if bool(((self.mean == 0) & (upstream != 0)).any()):
                raise InputError(f"{self.kind}: the time is 0, so its logarithm is -infinity and has no gradient; one token has no way to go")
            _refuse_infinite(self.mean, upstream, self.kind)
            upstream = torch.where(upstream == 0, upstream, upstream / self.mean)
        for part in self.parts:
            part.pull_back(upstream, take)


def make(layers: List[Rows], options: Dict[str, Any]) -> Metric:
    """The metric of one sink, the last token."""
    kind, rows = options["metric"], layers[0]
    if kind == "hitting_time":
        return HittingTime(rows)
    if kind == "backward_hitting_time":
        return BackwardHittingTime(rows)
    if kind == "truncated_hitting_time":
        return Survival(rows, [[1.0] * int(options.get("cutoff", 100))])
    if kind == "survival":
        return Survival(rows, [[0.0] * time + [1.0] for time in options["times"]])
    if kind == "fidelity":
        return Placed(rows, options["nodes"], options.get("times"), int(options.get("horizon", 100)))
    if kind == "minimax":
        return Minimax(rows, int(options.get("horizon", 100)), float(options.get("softness", 0.0)), options.get("counted", "sources"))
    if kind == "stack_fidelity":
        return Stack(layers, float(options.get("residual", 0.5)), float(options.get("softness", 0.0)))
    raise UsageError(f"metric: {kind!r} is not known")


# ---- Gradients of inputs


def gradient_rows(begin: int, end: int, left: Any, right: Any, diagonal: Optional[Any]) -> Any:
    """Rows of the gradient of combined attention, (samples, end - begin, end)."""
    block = _torch().tril(left[:, begin:end] @ right[:, :end].transpose(-1, -2), begin)
    if diagonal is not None:
        block.diagonal(begin, -2, -1).copy_(diagonal[:, begin:end])
    return block


class DenseSum:
    """Applies gradients of combined attention to that of the heads, and to their weights."""

    def __init__(self, rows: DenseRows, into: Optional[Any]) -> None:
        self.rows, self.into = rows, into
        self.inner = _torch().zeros_like(rows.weights)

    def add(self, left: Any, right: Any, diagonal: Optional[Any] = None) -> None:
        torch = _torch()
        for begin, end in self.rows.blocks(left.shape[1]):
            block = gradient_rows(begin, end, left, right, diagonal)
            self.inner += torch.einsum("shik,sik->sh", self.rows.heads(begin, end), block)
            if self.into is not None:
                self.into[:, :, begin:end, :end] += (self.rows.weights[:, :, None, None] * block[:, None]).to(self.into.dtype)


class QueryKeySum:
    """The same for queries and keys: the softmax's backward pass, a block of rows at a time."""

    def __init__(self, rows: QueryKeyRows) -> None:
        torch = _torch()
        self.rows = rows
        self.inner = torch.zeros_like(rows.weights)
        self.queries = torch.zeros_like(rows.queries, dtype=torch.float64)
        self.keys = torch.zeros_like(rows.keys, dtype=torch.float64)

    def add(self, left: Any, right: Any, diagonal: Optional[Any] = None) -> None:
        for begin, end in self.rows.blocks(left.shape[1]):
            block = gradient_rows(begin, end, left, right, diagonal)[:, None]
            queries, keys, p, slope = self.rows.read(begin, end)
            mean = (p * block).sum(-1, keepdim=True)
            self.inner += mean.sum((-1, -2))
            scores = p * (block - mean) * (self.rows.weights * self.rows.scale)[:, :, None, None]
            if slope is not None:
                scores = scores * slope
            self.queries[:, :, begin:end] += scores @ keys
            of_keys = scores.transpose(-1, -2) @ queries
            if self.rows.group > 1:
                of_keys = of_keys.unflatten(1, (-1, self.rows.group)).sum(2)
            self.keys[:, :, :end] += of_keys
