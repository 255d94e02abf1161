#!/usr/bin/env python3
"""The paper's sampling procedure in plain NumPy beside synergraph, on the same attention matrix.

Usage: compare_numpy.py path/to/time_metrics [REPEATS]

NumPy samples the mixing-time proxy (500 walks from each of 100 tokens, cut at 100 steps) and diffuses for 100
steps; synergraph computes the same expectation exactly. Two NumPy versions are timed: Algorithm 1 as written, a
walk at a time, and a vectorised one that moves all walks of a step together.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

N, WALKS, CUTOFF, HORIZON = 100, 500, 100, 100


def softmax_attention(rng):
    logits = rng.standard_normal((N, N))
    logits[np.triu_indices(N, 1)] = -np.inf
    weights = np.exp(logits)
    return weights / weights.sum(axis=1, keepdims=True)


def plain_mixing(attention, rng):
    """Algorithm 1, one walk after another: the first i whose running column sum reaches u, or the sink."""
    sums = np.cumsum(attention, axis=0)
    total = 0
    for start in range(N):
        for _ in range(WALKS):
            at, steps = start, 0
            while at != N - 1 and steps < CUTOFF:
                at = min(int(np.searchsorted(sums[:, at], rng.random())), N - 1)
                steps += 1
            total += steps
    return total / (N * WALKS)


def vectorised_mixing(attention, rng):
    sums = np.cumsum(attention, axis=0).T.copy()
    at = np.repeat(np.arange(N), WALKS)
    steps = np.zeros(at.size)
    for _ in range(CUTOFF):
        moving = np.flatnonzero(at != N - 1)
        if moving.size == 0:
            break
        reached = sums[at[moving]] >= rng.random(moving.size)[:, None]
        at[moving] = np.where(reached.any(axis=1), reached.argmax(axis=1), N - 1)
        steps[moving] += 1
    return steps.mean()


def fidelity(attention):
    power, best = np.eye(N), np.zeros(N)
    for _ in range(HORIZON):
        power = power @ attention
        best = np.maximum(best, power[-1])
    return best.min()


def timed(function, *arguments):
    start = time.perf_counter()
    value = function(*arguments)
    return value, time.perf_counter() - start


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    repeats = int(sys.argv[2]) if len(sys.argv) == 3 else 3
    rng = np.random.default_rng(1)
    attention = softmax_attention(rng)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "attention.npy")
        np.save(path, attention)
        rows = {"plain": [], "vectorised": []}
        ours = []
        for _ in range(repeats):
            ours.append(json.loads(subprocess.run([sys.argv[1], path], check=True, capture_output=True).stdout))
            phi, diffusion_time = timed(fidelity, attention)
            for name, function in (("plain", plain_mixing), ("vectorised", vectorised_mixing)):
                mixing, seconds = timed(function, attention, rng)
                rows[name].append((seconds + diffusion_time, mixing))
    exact = ours[0]
    micro = float(np.median([o["microseconds"] for o in ours]))
    print(f"synergraph, exact      {micro:10.1f} us   mixing {exact['mixing']:.4f}   fidelity {exact['fidelity']:.6g}")
    assert abs(phi - exact["fidelity"]) < 1e-10 * phi
    for name, samples in rows.items():
        seconds = float(np.median([s for s, _ in samples]))
        mixing = float(np.mean([m for _, m in samples]))
        print(f"NumPy, {name:<15} {seconds * 1e6:10.0f} us   mixing {mixing:.4f}   fidelity {phi:.6g}"
              f"   ratio {seconds * 1e6 / micro:,.0f}")


if __name__ == "__main__":
    main()
