#!/usr/bin/env python3
"""CPU time of one layer on one sample by attention, norm and contribution edges, on one thread.

    benchmarks/edges.py [HEADS [TOKENS [WIDTH [OUTPUTS]]]]      by default 32 512 128 2048
"""

import resource
import sys

import numpy as np

import synergraph as sg


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main():
    heads, tokens, width, outputs = [int(text) for text in sys.argv[1:]] + [32, 512, 128, 2048][len(sys.argv) - 1:]
    random = np.random.default_rng(0)
    attention = np.tril(np.exp(2 * random.normal(size=(1, heads, tokens, tokens)))).astype(np.float32)
    attention /= attention.sum(-1, keepdims=True)
    moved = {"values": random.normal(size=(1, 1, heads, tokens, width)), "out_proj": random.normal(size=(outputs, heads * width)) / 50,
             "residual": random.normal(size=(1, 1, tokens, outputs))}
    for edges in ("attention", "norm", "contribution"):
        times = []
        for _ in range(3):
            begin = cpu_seconds()
            sg.measure(attention, edges=edges, moved=None if edges == "attention" else moved, cutoff=2, step_limit=2, threads=1)
            times.append(cpu_seconds() - begin)
        print(f"{edges:<13} {min(times):.2f} s")


if __name__ == "__main__":
    main()
