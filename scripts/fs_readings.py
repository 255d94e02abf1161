#!/usr/bin/env python3
"""Readings of the FS construction of the parent paper (arXiv 2502.06751), compared by their numbers: the table in docs/graphs.md.

    scripts/fs_readings.py [--sizes 64,256,1024]

All readings cut the nodes into ceil(log2 n) blocks and join each block to the next by K random perfect matchings. They differ in what is inside
the blocks. Entries are T_avg, F for K = log n and for K = 4 log n.
"""

import argparse

import numpy as np

import synergraph as sg


def log2_up(count):
    return max(0, (count - 1).bit_length())


class Reading:
    """Weights of edges, weights[receiver, sender], from the options of a reading."""

    def __init__(self, nodes, matchings, *, ratio=0.5, fill="all", own=None, repeated=False, small=1, later=False):
        self.weights, self.random = np.eye(nodes), np.random.default_rng(nodes)
        self.ratio, self.fill, self.own, self.repeated, self.small, self.later = ratio, fill, own, repeated, small, later
        self.make(0, nodes, matchings, True)

    def join(self, first, second, matchings):
        """Edges from the nodes `first` to the nodes `second`, two ranges."""
        count, size = len(first), len(second)
        if self.repeated:  # an edge of two matchings has weight two
            for _ in range(matchings):
                partners = np.resize(self.random.permutation(count), max(count, size))[:size]
                np.add.at(self.weights, (second, np.asarray(first)[partners]), 1.0)
        elif matchings >= count:
            self.weights[np.ix_(second, first)] = 1.0
        else:
            senders, receivers = self.random.permutation(first), self.random.permutation(second)
            for shift in self.random.choice(count, matchings, replace=False):
                self.weights[receivers, senders[(np.arange(size) + shift) % count]] = 1.0

    def complete(self, block):
        for i in block:
            self.weights[i, block[0]:i] = 1.0

    def make(self, begin, size, matchings, top):
        if size <= max(1, self.small):
            return self.complete(range(begin, begin + size))
        count = min(size, max(2, log2_up(size)))
        ends = [begin + size * k // count for k in range(count + 1)]
        blocks = [range(ends[k], ends[k + 1]) for k in range(count)]
        wanted = max(1, round(self.own * log2_up(size) if self.own else matchings))
        for k in range(count):
            for m in range(k + 1, count if self.later else min(count, k + 2)):
                self.join(blocks[k], blocks[m], wanted)
        for k, block in enumerate(blocks):
            last = k == count - 1
            if top and last and self.fill in ("complete", "complete alone"):
                self.complete(block)
            elif self.fill in ("all", "complete") or (last and self.fill == "last"):
                self.make(block[0], len(block), matchings * self.ratio, False)


READINGS = [
    ("every block filled, ratio 0.5 (`fs-sparse`)", lambda k: {}),
    ("every block filled, ratio 0.9", lambda k: {"ratio": 0.9}),
    ("every block filled, ratio 1", lambda k: {"ratio": 1.0}),
    ("every block filled, K from its own size", lambda k: {"own": k}),
    ("the same three, repeated edges count: ratio 0.5", lambda k: {"repeated": True}),
    ("ratio 0.9", lambda k: {"repeated": True, "ratio": 0.9}),
    ("K from its own size", lambda k: {"repeated": True, "own": k}),
    ("only the last block filled, ratio 0.5", lambda k: {"fill": "last"}),
    ("only the last block filled, ratio 1", lambda k: {"fill": "last", "ratio": 1.0}),
    ("only the last block filled, repeated edges, ratio 1", lambda k: {"fill": "last", "ratio": 1.0, "repeated": True}),
    ("blocks of at most 4 log n nodes are complete", lambda k: {"small": "4log"}),
    ("joined to all later blocks, ratio 0.5", lambda k: {"later": True}),
    ("last block complete, no other filled", lambda k: {"fill": "complete alone"}),
    ("last block complete, others filled, ratio 0.5 (`fs`)", lambda k: {"fill": "complete"}),
]


def numbers(nodes, k, options):
    options = dict(options)
    if options.get("small") == "4log":
        options["small"] = 4 * log2_up(nodes)
    weights = Reading(nodes, k * log2_up(nodes), **options).weights
    receivers, senders = np.nonzero(weights)
    measured = sg.SparseGraph(nodes, senders, receivers, weights[receivers, senders]).measure()
    return f"{measured['averaged_mixing_time']:.0f}, {measured['normalised_fidelity']:.2g}"


def main():
    parser = argparse.ArgumentParser(description="Compare readings of the FS construction.")
    parser.add_argument("--sizes", type=lambda text: [int(size) for size in text.split(",")], default=[64, 256, 1024])
    options = parser.parse_args()
    columns = [(k, nodes) for k in (1, 4) for nodes in options.sizes]
    print("| inside the blocks | " + " | ".join(f"K = {'' if k == 1 else k}{' ' if k > 1 else ''}log n, n = {nodes:,}" for k, nodes in columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for name, of in READINGS:
        print(f"| {name} | " + " | ".join(numbers(nodes, k, of(k)) for k, nodes in columns) + " |", flush=True)


if __name__ == "__main__":
    main()
