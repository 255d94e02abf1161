"""Gradient ascent on the weights of edges, beside the annealing of `synergraph design`: does it find better masks?

    python3 benchmarks/design_ascent.py                        # one head of 64 nodes, T_avg at most 12
    python3 benchmarks/design_ascent.py --iterations 1000 --seeds 3

Every pair of nodes has a weight, exp(parameter). Adam raises the softened minimax fidelity of the weighted graph with exact gradients (float64), and a penalty keeps the
averaged mixing time within its limit. Every 25 iterations, edges above a share of the largest weight of their row, and all self-loops, become a mask. The script prints the
best weighted graph and the best mask, both within the limit, from random weights and from the best design of the annealing.
"""

import argparse

import numpy as np
import torch

import synergraph as sg

SHARES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)


def measured(weights):
    """F and T_avg of a lower triangular matrix of weights (query, key)."""
    queries, keys = np.nonzero(weights)
    numbers = sg.SparseGraph(len(weights), keys, queries, weights[queries, keys]).measure()
    return numbers["normalised_fidelity"], numbers["averaged_mixing_time"]


def climb(start, limit, iterations, edges):
    """The best weighted graph and the best mask within the limits, as (F, T_avg)."""
    size = len(start)
    lower = torch.tril(torch.ones(size, size, dtype=torch.bool))
    parameters = start.clone().requires_grad_(True)
    optimiser = torch.optim.Adam([parameters], lr=0.05)
    alive = torch.ones(size)
    alive[-1] = 0.0
    best = {"weights": (0.0, 0.0), "mask": (0.0, 0.0)}
    for iteration in range(iterations):
        weights = torch.where(lower, parameters.clamp(-12, 6).exp(), torch.zeros(()))
        diffusion, walk = weights / weights.sum(1, keepdim=True), (weights / weights.sum(0)).T
        signal, signals = torch.eye(size)[-1], []
        for _ in range(3 * size):
            signal = signal @ diffusion
            signals.append(signal)
        peaks = torch.stack(signals)[:, :-1].clamp_min(1e-300).max(0).values.log()
        sharpness = 5.0 * 40.0 ** (iteration / iterations)
        fidelity = -(torch.logsumexp(-sharpness * peaks, 0) - np.log(size - 1)) / sharpness
        survival = alive
        for _ in range(limit):
            survival = (walk @ survival) * alive
        loss = 20.0 * torch.relu((survival.mean() / 0.12).log()) - fidelity
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if iteration % 25:
            continue
        now = weights.detach().numpy()
        masks = [((now >= share * now.max(1, keepdims=True)) & lower.numpy() | np.eye(size, dtype=bool)).astype(float) for share in SHARES]
        for name, graphs in (("weights", [now]), ("mask", [mask for mask in masks if mask.sum() <= edges])):
            for value in map(measured, graphs):
                if value[1] <= limit and value > best[name]:
                    best[name] = value
    return best


def main():
    parser = argparse.ArgumentParser(description="Compare gradient ascent on weights of edges with the annealing of `synergraph design`.")
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--edges", type=int, default=2048)
    parser.add_argument("--averaged-mixing", type=int, default=12)
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    designs = sg.design(options.size, edges=options.edges, averaged_mixing=options.averaged_mixing, starts=["layers", "random"])
    for found in designs:
        print(f"annealing from {found['start']}: F {found['numbers']['normalised_fidelity']:.3f}, T_avg {found['numbers']['averaged_mixing_time']:g}")
    mask = torch.tensor(designs.best.masks()[0])
    for seed in range(1, options.seeds + 1):
        torch.manual_seed(seed)
        noise = torch.randn(options.size, options.size)
        for name, start in (("random weights", noise), ("the best design", torch.where(mask, 0.0, -3.0) + 0.05 * noise)):
            best = climb(start, options.averaged_mixing, options.iterations, options.edges)
            print(f"ascent from {name}, seed {seed}: "
                  + ", ".join(f"{kind} F {value[0]:.3f} (T_avg {value[1]:g})" for kind, value in best.items()), flush=True)


if __name__ == "__main__":
    main()
