#!/usr/bin/env python3
"""Measuring attention on a GPU: plain PyTorch, synergraph on the CPU and on the GPU, in one go.

    . gpu_pack/environment.sh                             (scripts/pack_gpu.sh makes that folder)
    benchmarks/gpu_metrics.py [--rows given-8k,scores-32k] [--only torch,gpu] [--json FILE]
    benchmarks/gpu_metrics.py --tiny --device cpu         a rehearsal without a GPU

Each number comes from a process of its own with its own time limit, and is printed when it is there. The PyTorch version is what a
user would write: float64 matrix-vector products for 100 steps, repeated squaring for T_mix, hitting times by a triangular solve.
"agree" compares the results of synergraph with those of PyTorch. "bound" is the time that the counted operations need at the rates
of the card (--tflops, --terabytes), and what bounds them: float64 products, memory, or products of queries and keys.

Rows:
  given-8k       32 heads, n = 8,192, probabilities (float32) in the memory of the GPU
  slow-8k        8 heads, n = 8,192, that hardly move: 13 is added to the scores of every token with itself
  scores-8k      the same as given-8k from queries and keys (bfloat16)
  scores-32k     8 heads, n = 32,768, from queries and keys
  scores-131k    8 heads, n = 131,072, likewise
  small          10,000 matrices, n = 100; microseconds a matrix
  subsets        all subsets of 16 heads, n = 100
  reproduce      reproduce --preset paper, all sequences, subsets on 100 of them
  forward-8k     a model of Llama 3 8B's shape, random weights, watched at 8,192 tokens; seconds a layer
  forward-32k    the same at 32,768 tokens
"""

import argparse
import inspect
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time

EPS = 0.25
STEPS = 100
SIZES = {  # heads, tokens, width of a head, spread of the queries
    "given-8k": (32, 8192, 128, 1.0), "slow-8k": (8, 8192, 128, 1.0), "scores-8k": (32, 8192, 128, 1.0), "scores-32k": (8, 32768, 128, 1.0),
    "scores-131k": (8, 131072, 128, 1.0), "small": (1, 100, 16, 1.0), "subsets": (16, 100, 16, 1.0),
    "forward-8k": (32, 8192, 128, 1.0), "forward-32k": (32, 32768, 128, 1.0), "reproduce": (16, 100, 4, 1.0),
}
TINY = {"given-8k": (4, 96, 16, 1.0), "slow-8k": (2, 96, 16, 1.0), "scores-8k": (4, 96, 16, 1.0), "scores-32k": (2, 160, 16, 1.0), "scores-131k": (2, 200, 16, 1.0),
        "small": (1, 20, 8, 1.0), "subsets": (5, 20, 8, 1.0), "forward-8k": (4, 64, 16, 1.0), "forward-32k": (4, 96, 16, 1.0),
        "reproduce": (1, 20, 4, 1.0)}
LIMITS = {"given-8k": 90, "slow-8k": 120, "scores-8k": 90, "scores-32k": 120, "scores-131k": 120, "small": 60, "subsets": 60, "forward-8k": 150,
          "forward-32k": 200, "reproduce": 200}
KINDS = ("torch", "cpu", "gpu")


class Work:
    """What one process does."""

    def __init__(self, options):
        import torch

        self.torch = torch
        self.row, self.tiny, self.device = options.row, options.tiny, options.device
        self.cuda = self.device.startswith("cuda")
        self.heads, self.tokens, self.width, self.spread = (TINY if self.tiny else SIZES)[self.row]
        self.repeats = options.repeats
        torch.manual_seed(0)

    def synchronise(self):
        if self.cuda:
            self.torch.cuda.synchronize()

    def timed(self, function, repeats=None):
        """What it returns, the median of its seconds after a first call, and the MiB that it took at most beside what was there."""
        torch = self.torch
        times = []
        for attempt in range(1 + (self.repeats if repeats is None else repeats)):
            value = None  # of the last attempt
            self.synchronise()
            # Memory is watched in the first run alone: to ask for it takes time of the others.
            with Peak(self, watches=attempt == 0) as watched:
                begin = time.perf_counter()
                value = function()
                self.synchronise()
                times.append(time.perf_counter() - begin)
            if attempt == 0:
                peak, before = watched, watched.begun
            if times[0] > 20:
                break
        steady = times[1:] or times
        return value, {"seconds": statistics.median(steady), "first": times[0], "runs": len(steady), "mib": (peak.most - before) / 2**20}

    def used(self):
        if not self.cuda:
            return 0
        free, total = self.torch.cuda.mem_get_info()
        # What PyTorch keeps for itself counts as free.
        kept = self.torch.cuda.memory_reserved() - self.torch.cuda.memory_allocated()
        return total - free - kept

    # ---- Inputs

    def scores(self):
        """Queries and keys (1, heads, tokens, width), a quarter as many heads of keys."""
        torch = self.torch
        key_heads = max(1, self.heads // 4)
        dtype = torch.bfloat16
        queries = self.spread * torch.randn(1, self.heads, self.tokens, self.width, device=self.device, dtype=torch.float32)
        keys = torch.randn(1, key_heads, self.tokens, self.width, device=self.device, dtype=torch.float32)
        return queries.to(dtype), keys.to(dtype)

    def probabilities(self, queries, keys, head, dtype=None):
        """(tokens, tokens) of one head, computed in float32 as attention functions do."""
        torch = self.torch
        query = queries[0, head].float()
        key = keys[0, head // (queries.shape[1] // keys.shape[1])].float()
        scores = query @ key.T * self.width ** -0.5
        if self.row.startswith("slow"):
            scores.diagonal().add_(13.0)
        scores.masked_fill_(torch.ones_like(scores, dtype=torch.bool).triu_(1), -float("inf"))
        made = torch.softmax(scores, -1)
        return made if dtype is None else made.to(dtype)

    def given(self):
        """Probabilities (heads, tokens, tokens) in float32."""
        queries, keys = self.scores()
        made = self.torch.empty(self.heads, self.tokens, self.tokens, device=self.device)
        for head in range(self.heads):
            made[head] = self.probabilities(queries, keys, head)
        return made

    # ---- The version of plain PyTorch

    def measure_operator(self, diffusion):
        """T_mix, the largest hitting time, the largest truncated one and the minimax fidelity of (n, n) in float64."""
        torch = self.torch
        n = diffusion.shape[0]
        # Signals diffuse backwards from the sink; 100 steps as everyone would take them.
        signal = torch.zeros(n, dtype=torch.float64, device=diffusion.device)
        signal[-1] = 1.0
        peaks = signal.clone()
        for _ in range(STEPS):
            signal = diffusion.T @ signal
            torch.maximum(peaks, signal, out=peaks)
        fidelity = peaks[:-1].min()
        # The walk goes forward along columns; the sink absorbs it.
        walk = diffusion.T / diffusion.sum(0)[:, None]
        inside = walk[:-1, :-1]
        ones = torch.ones(n - 1, dtype=torch.float64, device=diffusion.device)
        survival, truncated = ones, torch.zeros_like(ones)
        for _ in range(STEPS):
            truncated = truncated + survival
            survival = inside @ survival
        system = -inside
        system.diagonal().add_(1.0)
        hitting = torch.linalg.solve_triangular(system, ones[:, None], upper=True)[:, 0]
        # T_mix by repeated squaring, then bit by bit.
        powers = [inside]
        while float((powers[-1] @ ones).max()) > EPS and len(powers) < 40:
            powers.append(powers[-1] @ powers[-1])
        steps, state = 0, ones
        for bit in reversed(range(len(powers))):
            ahead = powers[bit] @ state
            if float(ahead.max()) > EPS:
                steps, state = steps + (1 << bit), ahead
        return [steps + 1, float(hitting.max()), float(truncated.max()), float(fidelity)]

    def measure_layer(self, head_of):
        """Every head and the combination with equal weights."""
        torch = self.torch
        combined = torch.zeros(self.tokens, self.tokens, dtype=torch.float64, device=self.device)
        results = []
        for head in range(self.heads):
            diffusion = head_of(head).double()
            diffusion /= diffusion.sum(1, keepdim=True)
            combined.add_(diffusion, alpha=1.0 / self.heads)
            results.append(self.measure_operator(diffusion))
        results.append(self.measure_operator(combined))
        return results

    # ---- synergraph

    def synergraph(self):
        import synergraph

        return synergraph

    def options(self, kind):
        return dict(per_head=True, **self.on(kind, self.synergraph().measure))

    def on(self, kind, function):
        """The option for the device, where a function has it."""
        if "device" in inspect.signature(function).parameters:
            return {"device": self.device if kind == "gpu" else "cpu"}
        if kind == "gpu":
            raise NotImplementedError(f"{function.__name__} does not measure on devices")
        return {}

    @staticmethod
    def numbers(result):
        """The same numbers as those of PyTorch."""
        import numpy as np

        def row(values):
            return [float(np.ravel(values[key])[0]) for key in ("mixing_time_0.25", "hitting_max", "truncated_hitting_max",
                                                                "minimax_fidelity")]

        heads = {key: np.asarray(value) for key, value in result.heads.items()}
        count = next(iter(heads.values())).shape[-1]
        rows = [row({key: value[..., head] for key, value in heads.items()}) for head in range(count)]
        return rows + [row({key: result[key] for key in heads if key in result})]

    def made_on(self, result):
        return result.to_dict().get("device", "cpu") if hasattr(result, "to_dict") else "?"

    def given_row(self, kind):
        attention = self.given()
        if kind == "torch":
            numbers, times = self.timed(lambda: self.measure_layer(lambda head: attention[head]), repeats=1)
            return dict(times, numbers=numbers)
        sg = self.synergraph()
        if kind == "cpu":
            attention = attention.cpu()
        result, times = self.timed(lambda: sg.measure(attention, **self.options(kind)))
        return dict(times, numbers=self.numbers(result), device=self.made_on(result))

    slow_row = given_row

    def scores_row(self, kind):
        queries, keys = self.scores()
        if kind == "torch":
            numbers, times = self.timed(lambda: self.measure_layer(lambda head: self.probabilities(queries, keys, head)), repeats=1)
            return dict(times, numbers=numbers)
        sg = self.synergraph()
        watch = sg.watch(device=self.device if kind == "gpu" else "cpu")
        with watch:
            watch.record(0, queries, keys)
        result, times = self.timed(lambda: watch.result(**self.options(kind)))
        return dict(times, numbers=self.numbers(result), device=self.made_on(result))

    def small_row(self, kind):
        torch = self.torch
        samples = 32 if self.tiny else 10000
        matrices = samples * self.heads
        logits = torch.randn(samples, self.heads, self.tokens, self.tokens, device=self.device)
        logits.masked_fill_(torch.ones(self.tokens, self.tokens, dtype=torch.bool, device=self.device).triu(1), -float("inf"))
        attention = torch.softmax(logits, -1)
        if kind == "torch":
            _, times = self.timed(lambda: self.small_by_torch(attention))
        else:
            sg = self.synergraph()
            where = attention.cpu() if kind == "cpu" else attention
            result, times = self.timed(lambda: sg.measure(where, **self.on(kind, sg.measure)))
            times["device"] = self.made_on(result)
        return dict(times, matrices=matrices, microseconds=1e6 * times["seconds"] / matrices)

    def small_by_torch(self, attention):
        torch = self.torch
        diffusion = attention.double().flatten(0, 1)
        diffusion = diffusion / diffusion.sum(-1, keepdim=True)
        count, n, _ = diffusion.shape
        signal = torch.zeros(count, n, 1, dtype=torch.float64, device=self.device)
        signal[:, -1] = 1.0
        peaks, back = signal.clone(), diffusion.transpose(1, 2).contiguous()
        inside = (back / diffusion.sum(1)[:, :, None])[:, :-1, :-1].contiguous()
        survival = torch.ones(count, n - 1, 1, dtype=torch.float64, device=self.device)
        truncated = torch.zeros_like(survival)
        for _ in range(STEPS):
            truncated += survival
            survival = inside @ survival
            signal = back @ signal
            torch.maximum(peaks, signal, out=peaks)
        system = torch.eye(n - 1, dtype=torch.float64, device=self.device) - inside
        hitting = torch.linalg.solve_triangular(system, torch.ones_like(truncated), upper=True)
        powers, ones = [inside], torch.ones_like(truncated)
        while bool(((powers[-1] @ ones).amax((1, 2)) > EPS).any()) and len(powers) < 24:
            powers.append(powers[-1] @ powers[-1])
        steps, state = torch.zeros(count, dtype=torch.int64, device=self.device), ones
        for bit in reversed(range(len(powers))):
            ahead = powers[bit] @ state
            slow = ahead.amax((1, 2)) > EPS
            steps += slow.long() << bit
            state = torch.where(slow[:, None, None], ahead, state)
        return steps + 1, hitting, peaks

    def subsets_row(self, kind):
        torch = self.torch
        logits = torch.randn(1, self.heads, self.tokens, self.tokens, device=self.device)
        logits.masked_fill_(torch.ones(self.tokens, self.tokens, dtype=torch.bool, device=self.device).triu(1), -float("inf"))
        attention = torch.softmax(logits, -1)
        if kind == "torch":
            _, times = self.timed(lambda: self.subsets_by_torch(attention[0].double()), repeats=1)
            return times
        sg = self.synergraph()
        where = attention.cpu() if kind == "cpu" else attention
        options = self.on(kind, sg.heads)
        result, times = self.timed(lambda: sg.heads(where, exact_heads=self.heads, weight_samples=0, null_samples=0, **options))
        return dict(times, device=self.made_on(result))

    def subsets_by_torch(self, heads):
        """Fidelity and largest hitting time of every subset, 4,096 at a time."""
        torch = self.torch
        count, n = heads.shape[0], heads.shape[-1]
        best = []
        masks = torch.arange(1, 1 << count, device=self.device)
        for part in masks.split(4096):
            weights = ((part[:, None] >> torch.arange(count, device=self.device)) & 1).double()
            weights = weights / weights.sum(1, keepdim=True)
            diffusion = torch.einsum("sh,hij->sij", weights, heads)
            back = diffusion.transpose(1, 2).contiguous()
            signal = torch.zeros(len(part), n, 1, dtype=torch.float64, device=self.device)
            signal[:, -1] = 1.0
            peaks = signal.clone()
            for _ in range(STEPS):
                signal = back @ signal
                torch.maximum(peaks, signal, out=peaks)
            inside = (back / diffusion.sum(1)[:, :, None])[:, :-1, :-1]
            system = torch.eye(n - 1, dtype=torch.float64, device=self.device) - inside
            hitting = torch.linalg.solve_triangular(system, torch.ones(len(part), n - 1, 1, dtype=torch.float64, device=self.device),
                                                    upper=True)
            best.append((peaks[:, :-1, 0].amin(1), hitting[:, :, 0].amax(1)))
        return best

    def reproduce_row(self, kind):
        if kind == "torch":
            return {"skipped": "there is no such version"}
        program = os.environ.get("SYNERGRAPH_PROGRAM", "synergraph")
        size = ["--epochs", "1", "--sequences", "200", "--subset-samples", "1"] if self.tiny else ["--subset-samples", "100"]
        preset = "quick" if self.tiny else "paper"
        with tempfile.TemporaryDirectory() as folder:
            begin = time.perf_counter()
            subprocess.run([program, "reproduce", "--preset", preset, *size, "--no-figures", "--quiet", "--device",
                            self.device if kind == "gpu" else "cpu", "--out", os.path.join(folder, "study")], check=True,
                           stdout=subprocess.DEVNULL)
            return {"seconds": time.perf_counter() - begin, "runs": 1}

    def forward_row(self, kind):
        if kind == "torch":
            return {"skipped": "see given-8k and scores-32k"}
        torch, sg = self.torch, self.synergraph()
        layers = 2 if self.tiny else 32 if self.tokens <= 8192 else 16
        if kind == "cpu":
            layers = min(layers, 1)
        model = Llama(torch, layers, self.heads, self.width, self.device)
        states = torch.randn(1, self.tokens, self.heads * self.width, device=self.device, dtype=torch.bfloat16)
        with torch.no_grad():
            _, plain = self.timed(lambda: model.run(states, None), repeats=2)
            watch = sg.watch(device=self.device if kind == "gpu" else "cpu")
            with watch:
                _, watched = self.timed(lambda: model.run(states, None), repeats=1)
                _, watched = self.timed(lambda: model.run(states, watch), repeats=0)
        del model
        options = self.options(kind)
        result, times = self.timed(lambda: watch.result(**options), repeats=0)
        return {"seconds": times["seconds"] / layers, "runs": 1, "mib": times["mib"], "layers": layers, "pass_a_layer": plain["seconds"] / layers,
                "watched_pass_a_layer": watched["seconds"] / layers, "device": self.made_on(result)}

    def run(self, kind):
        name = self.row.partition("-")[0] + "_row"
        return getattr(self, name)(kind)


class Llama:
    """The layers of Llama 3 8B in plain PyTorch, with random weights in bfloat16."""

    def __init__(self, torch, layers, heads, width, device):
        self.torch, self.heads, self.width = torch, heads, width
        self.key_heads = max(1, heads // 4)
        states, hidden = heads * width, heads * width * 7 // 2

        def matrix(rows, columns):
            return torch.randn(rows, columns, device=device, dtype=torch.bfloat16) * columns ** -0.5

        self.layers = [{"query": matrix(states, states), "key": matrix(self.key_heads * width, states),
                        "value": matrix(self.key_heads * width, states), "out": matrix(states, states), "gate": matrix(hidden, states),
                        "up": matrix(hidden, states), "down": matrix(states, hidden)} for _ in range(layers)]

    def rotated(self, heads):
        torch = self.torch
        tokens, width = heads.shape[2:]
        rates = 500000.0 ** (-torch.arange(0, width, 2, device=heads.device) / width)
        angles = torch.arange(tokens, device=heads.device)[:, None] * rates
        cosines, sines = (turn(torch.cat([angles, angles], -1)).to(heads.dtype) for turn in (torch.cos, torch.sin))
        swapped = torch.cat([-heads[..., width // 2:], heads[..., :width // 2]], -1)
        return heads * cosines + swapped * sines

    def normed(self, states):
        return states * self.torch.rsqrt(states.float().square().mean(-1, keepdim=True) + 1e-5).to(states.dtype)

    def run(self, states, watch):
        functional = self.torch.nn.functional
        for number, weights in enumerate(self.layers):
            normed = self.normed(states)
            query, key, value = (functional.linear(normed, weights[part]).unflatten(-1, (-1, self.width)).transpose(1, 2)
                                 for part in ("query", "key", "value"))
            query, key = self.rotated(query), self.rotated(key)
            if watch is not None:
                watch.record(number, query, key, projection=weights["out"])
            several = self.heads // self.key_heads
            keys, values = key.repeat_interleave(several, 1), value.repeat_interleave(several, 1)
            if hasattr(functional, "scaled_dot_product_attention"):
                moved = functional.scaled_dot_product_attention(query, keys, values, is_causal=True)
            else:  # before PyTorch 2, for rehearsals
                later = self.torch.ones(query.shape[2], query.shape[2], dtype=self.torch.bool, device=query.device).triu(1)
                scores = (query @ keys.transpose(2, 3)).float() * self.width ** -0.5
                moved = self.torch.softmax(scores.masked_fill(later, -float("inf")), -1).to(values.dtype) @ values
            states = states + functional.linear(moved.transpose(1, 2).flatten(2), weights["out"])
            normed = self.normed(states)
            gated = functional.silu(functional.linear(normed, weights["gate"])) * functional.linear(normed, weights["up"])
            states = states + functional.linear(gated, weights["down"])
        return states


class Peak:
    """The most memory of the GPU that was in use meanwhile: by PyTorch, and by libraries beside it."""

    def __init__(self, work, watches=True):
        self.work, self.most, self.watches = work, 0, watches
        self.begun = work.used() if watches else 0

    def watch(self):
        while not self.done.wait(0.002):
            self.most = max(self.most, self.work.used())

    def __enter__(self):
        if self.work.cuda and self.watches:
            self.work.torch.cuda.reset_peak_memory_stats()
            self.before = self.work.used(), self.work.torch.cuda.memory_allocated()
            self.done = threading.Event()
            self.thread = threading.Thread(target=self.watch, daemon=True)
            self.thread.start()
        return self

    def __exit__(self, *_):
        if self.work.cuda and self.watches:
            self.done.set()
            self.thread.join()
            base, allocated = self.before
            self.most = max(self.most, self.work.used(), base + self.work.torch.cuda.max_memory_allocated() - allocated)


def bound(row, numbers, tiny, tflops, terabytes, half_tflops):
    """Seconds that the counted operations need, and what bounds them."""
    heads, n, width, _ = (TINY if tiny else SIZES)[row]
    if numbers is None or row.startswith(("forward", "reproduce", "slow")):
        return None
    # Steps that T_mix, and 100 steps of truncated sums, need of survivals, in panels of 64; as many of the signal.
    steps = [64 * (-(-max(STEPS, one[0] if one[0] < 10**6 else STEPS) // 64)) for one in numbers]
    products = sum(2 * one * n * n for one in steps)  # survival and signal: half a matrix each, two operations an entry
    panels = sum(one // 64 for one in steps)
    remade = row.startswith("scores")
    traffic = sum(2 * one // 64 for one in steps[:-1]) * n * n / 2 * 4 if not remade else 0
    # Queries and keys: sums once, then each panel of each head; the combination needs all heads.
    tiles = 2 * heads * width * n * n / 2 * 2 * max(1, max(one // 64 for one in steps)) if remade else 0
    needed = {"float64 products": products / (tflops * 1e12), "memory": traffic / (terabytes * 1e12),
              "products of queries and keys": tiles / (half_tflops * 1e12)}
    what = max(needed, key=needed.get)
    return {"seconds": needed[what], "by": what, "float64 operations": products, "panels": panels, "bytes": traffic,
            "bfloat16 operations": tiles}


def agreement(one, other):
    """The largest relative difference, and whether T_mix is the same."""
    worst, same = 0.0, True
    for mine, theirs in zip(one, other):
        same = same and mine[0] == theirs[0]
        for a, b in zip(mine[1:], theirs[1:]):
            worst = max(worst, abs(a - b) / max(abs(b), 1e-300))
    return {"same T_mix": same, "largest relative difference": worst}


def child(options):
    try:
        result = Work(options).run(options.child)
    except Exception as error:  # one line for the table
        result = {"failed": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:300]}
    with open(options.result, "w") as file:
        json.dump(result, file)


def measured(row, kind, options):
    """What a process of its own found."""
    with tempfile.TemporaryDirectory() as folder:
        result = os.path.join(folder, "result.json")
        arguments = [sys.executable, os.path.abspath(__file__), "--child", kind, "--row", row, "--result", result, "--device", options.device,
                     "--repeats", str(options.repeats), *(["--tiny"] if options.tiny else [])]
        limit = options.limit or LIMITS[row]
        try:
            done = subprocess.run(arguments, timeout=limit, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        except subprocess.TimeoutExpired:
            return {"failed": f"not done in {limit} s"}
        if os.path.exists(result):
            with open(result) as file:
                return json.load(file)
        last = done.stderr.strip().splitlines()
        return {"failed": f"status {done.returncode}: {last[-1] if last else ''}"[:300]}


def shown(result, row):
    if "seconds" not in result:
        return result.get("failed") or result.get("skipped") or "nothing"
    time_text = f"{result['microseconds']:.3g} us" if "microseconds" in result else f"{result['seconds']:.4g} s"
    extra = [f"first {result['first']:.3g} s"] if "first" in result else []
    if result.get("mib"):
        extra.append(f"{result['mib']:.0f} MiB")
    if "pass_a_layer" in result:
        extra.append(f"{result['layers']} layers; pass {result['pass_a_layer']:.4g} s a layer, watched {result['watched_pass_a_layer']:.4g} s")
    if result.get("device"):
        extra.append(str(result["device"]))
    return time_text + (f" ({', '.join(extra)})" if extra else "")


def card(options):
    import torch

    name = torch.cuda.get_device_name() if options.device.startswith("cuda") and torch.cuda.is_available() else "CPU"
    return f"{name}, PyTorch {torch.__version__}, {os.cpu_count()} CPUs"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default=",".join(SIZES), help="rows, in their order")
    parser.add_argument("--only", default=",".join(KINDS), help="some of torch, cpu, gpu")
    parser.add_argument("--device", default="cuda", help="device of PyTorch and synergraph")
    parser.add_argument("--limit", type=float, default=0, help="seconds for each number, instead of its own limit")
    parser.add_argument("--repeats", type=int, default=3, help="runs after the first one")
    parser.add_argument("--json", help="file for all results")
    parser.add_argument("--tiny", action="store_true", help="small sizes, for a rehearsal")
    parser.add_argument("--tflops", type=float, default=61.0, help="float64 products of the card, in 10^12 operations a second")
    parser.add_argument("--half-tflops", type=float, default=788.0, help="the same of bfloat16 products")
    parser.add_argument("--terabytes", type=float, default=4.8, help="memory of the card, in 10^12 bytes a second")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--row", help=argparse.SUPPRESS)
    parser.add_argument("--result", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(options)
    rows, kinds = options.rows.split(","), options.only.split(",")
    for name, known in [*((row, SIZES) for row in rows), *((kind, KINDS) for kind in kinds)]:
        if name not in known:
            parser.error(f"{name} is not one of {', '.join(known)}")
    results = {"machine": card(options)}
    print(results["machine"], flush=True)
    for row in rows:
        found = results[row] = {}
        print(f"\n{row}", flush=True)
        for kind in kinds:
            found[kind] = measured(row, kind, options)
            print(f"  {kind:6} {shown(found[kind], row)}", flush=True)
        ours = found.get("gpu", {})
        for kind in ("torch", "cpu"):
            if "seconds" in ours and "seconds" in found.get(kind, {}):
                print(f"  {kind} / gpu: {found[kind]['seconds'] / ours['seconds']:.3g}")
            if "numbers" in ours and "numbers" in found.get(kind, {}):
                found[f"gpu against {kind}"] = agreement(ours["numbers"], found[kind]["numbers"])
                print(f"  gpu against {kind}: {found[f'gpu against {kind}']}")
        if "numbers" in found.get("cpu", {}) and "numbers" in found.get("torch", {}):
            found["cpu against torch"] = agreement(found["cpu"]["numbers"], found["torch"]["numbers"])
            print(f"  cpu against torch: {found['cpu against torch']}")
        numbers = next((one["numbers"] for one in found.values() if "numbers" in one), None)
        limit = bound(row, numbers, options.tiny, options.tflops, options.terabytes, options.half_tflops)
        if limit:
            found["bound"] = limit
            share = f"; this is {limit['seconds'] / ours['seconds']:.1%} of it" if "seconds" in ours else ""
            print(f"  bound: {limit['seconds']:.3g} s by {limit['by']}, {limit['float64 operations']:.3g} float64 operations, "
                  f"{limit['panels']} panels of 64 steps{share}")
        if options.json:
            with open(options.json, "w") as file:
                json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
