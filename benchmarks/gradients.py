#!/usr/bin/env python3
"""Time and memory of gradients: synergraph.torch beside plain operations of PyTorch, from queries and keys to their gradients.

    PYTHONPATH=python SYNERGRAPH_LIBRARY=build/release/capi/libsynergraph.so python3 benchmarks/gradients.py
    ... benchmarks/gradients.py --device cuda --tokens 512 2048 8192

Three metrics of 4 heads of width 64: the softened minimax fidelity within 100 steps and the truncated hitting time (cutoff 100), which the
plain version steps through, and the logarithm of the mean hitting time, which the plain version solves. The plain version is in the type
of --plain. The time is the best of --rounds, the memory is the peak above that of the inputs. On the CPU, each measurement runs on one
thread in a process of its own, and the time is that of the process, which other programs change little. "dense" starts from attention,
"queries" from queries and keys.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import time

HEADS, WIDTH, STEPS = 4, 64, 100
METRICS = ("minimax", "truncated_hitting_time", "hitting_time")


def plain(metric, attention):
    """The metric of (heads, n, n) in plain operations."""
    import torch

    d = attention.mean(0)
    n = d.shape[-1]
    if metric == "minimax":
        row = torch.zeros(n, dtype=d.dtype, device=d.device)
        row[-1] = 1
        signals = []
        for _ in range(STEPS):
            row = row @ d
            signals.append(row)
        beta = 20.0
        logs = torch.logsumexp(beta * torch.log(torch.stack(signals)[:, :-1]), 0) / beta
        return torch.exp(-(torch.logsumexp(-beta * logs, 0) - math.log(n - 1)) / beta)
    walk = (d / d.sum(0, keepdim=True)).T[:-1, :-1]
    if metric == "hitting_time":
        system = torch.eye(n - 1, dtype=d.dtype, device=d.device) - walk
        times = torch.linalg.solve_triangular(system, torch.ones(n - 1, 1, dtype=d.dtype, device=d.device), upper=True)
        return torch.log(times.sum() / n)
    left = torch.ones(n - 1, dtype=d.dtype, device=d.device)
    total = left.sum()
    for _ in range(STEPS - 1):
        left = walk @ left
        total = total + left.sum()
    return total / n


def memory_of(device, peak):
    """Bytes in use, or the largest number since it was forgotten."""
    import torch

    if device == "cuda":
        return torch.cuda.max_memory_allocated() if peak else torch.cuda.memory_allocated()
    name = "VmHWM" if peak else "VmRSS"
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(name))


def forget_peak(device):
    import torch

    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
        return
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def measure_one(arguments):
    import torch
    import synergraph.torch as st

    torch.manual_seed(0)
    torch.set_num_threads(1)
    clock = time.process_time if arguments.device == "cpu" else time.perf_counter
    n, device = arguments.tokens[0], arguments.device
    ours = arguments.one == "synergraph"
    kind = torch.float32 if ours else getattr(torch, arguments.plain)
    queries, keys = (torch.randn(HEADS, n, WIDTH, device=device) for _ in range(2))
    if arguments.start == "dense":
        hidden = torch.ones(n, n, dtype=torch.bool, device=device).triu_(1)
        inputs = [torch.stack([(q @ k.T).mul_(WIDTH**-0.5).masked_fill_(hidden, -math.inf).softmax(-1) for q, k in zip(queries, keys)]).to(kind)]
        del hidden, queries, keys
    else:
        inputs = [queries.to(kind), keys.to(kind)]
    for tensor in inputs:
        tensor.requires_grad_()

    def value():
        if ours:
            attention = inputs[0] if arguments.start == "dense" else st.from_qk(*inputs)
            if arguments.metric == "minimax":
                return st.minimax(attention, softness=0.05, horizon=STEPS, threads=1)
            if arguments.metric == "hitting_time":
                return st.hitting_time(attention, log=True, threads=1)
            return st.truncated_hitting_time(attention, cutoff=STEPS, threads=1)
        if arguments.start == "dense":
            return plain(arguments.metric, inputs[0])
        return plain(arguments.metric, st.from_scores(inputs[0] @ inputs[1].transpose(-1, -2) * WIDTH**-0.5))

    def wait():
        if device == "cuda":
            torch.cuda.synchronize()

    wait()
    forget_peak(device)
    before = memory_of(device, False)
    times, numbers = [], None
    for number in range(arguments.rounds):
        for tensor in inputs:
            tensor.grad = None
        begin = clock()
        result = value()
        wait()
        middle = clock()
        result.backward()
        wait()
        times.append((middle - begin, clock() - middle))
        if number == 0:
            memory = memory_of(device, True) - before
            numbers = (result.item(), inputs[0].grad.double().norm().item())
    return {"forward": min(one for one, _ in times), "backward": min(one for _, one in times), "memory": memory, "value": numbers[0],
            "norm": numbers[1]}


def measured(arguments, one, start, metric, n):
    """The numbers of one version, or why there are none."""
    if arguments.device != "cpu":
        import torch

        given = argparse.Namespace(**{**vars(arguments), "one": one, "start": start, "metric": metric, "tokens": [n]})
        try:
            return measure_one(given)
        except torch.cuda.OutOfMemoryError:
            return "out of memory"
        finally:
            torch.cuda.empty_cache()
    done = subprocess.run([sys.executable, __file__, "--one", one, "--start", start, "--metric", metric, "--tokens", str(n), "--plain",
                           arguments.plain, "--rounds", str(arguments.rounds)], capture_output=True, text=True, env=os.environ)
    return json.loads(done.stdout) if done.returncode == 0 else (done.stderr.strip().splitlines() or ["killed"])[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, nargs="+", default=[512, 2048])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--plain", choices=["float64", "float32"], default="float64", help="type of the plain version")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--start", choices=["dense", "queries"], default=None)
    parser.add_argument("--metric", choices=METRICS, default=None)
    parser.add_argument("--one", choices=["synergraph", "plain"], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure_one(arguments)))
        return
    print("start    metric                  tokens   synergraph: forward  backward    MiB   plain: forward  backward    MiB   faster  less memory")
    for start in [arguments.start] if arguments.start else ["queries", "dense"]:
        for metric in [arguments.metric] if arguments.metric else METRICS:
            for n in arguments.tokens:
                found = {one: measured(arguments, one, start, metric, n) for one in ("synergraph", "plain")}
                cells = [f"{start:8} {metric:23} {n:6}  "]
                for one in found.values():
                    cells.append(f"{one:>37}" if isinstance(one, str) else
                                 f"{one['forward'] * 1e3:14.1f} ms {one['backward'] * 1e3:6.1f} ms {one['memory'] / 2**20:6.0f}")
                ours, other = found["synergraph"], found["plain"]
                if not isinstance(ours, str) and not isinstance(other, str):
                    total = (other["forward"] + other["backward"]) / (ours["forward"] + ours["backward"])
                    cells.append(f"{total:7.1f}x {other['memory'] / max(ours['memory'], 2**20):8.1f}x")
                    assert abs(ours["value"] - other["value"]) <= 1e-3 * abs(other["value"]), (ours, other)
                print("  ".join(cells), flush=True)


if __name__ == "__main__":
    main()
