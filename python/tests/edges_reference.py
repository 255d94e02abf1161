"""Norm and contribution edges in plain NumPy, written from their definitions (docs/theory.md, "What a head moves")."""

import itertools
import math

import numpy as np


def moved_vectors(values, out_proj, heads):
    """W_O^h v_j^h: (heads, tokens, E), of values (key heads, tokens, width)."""
    width = values.shape[-1]
    shared = heads // values.shape[0]
    return np.stack([values[h // shared] @ out_proj[:, h * width:(h + 1) * width].T for h in range(heads)])


def norm_edges(attention, norms):
    return attention * norms[:, None, :]


def contribution_edges(attention, vectors, residual, bias=0.0):
    """c of the heads, (heads, tokens, tokens), and of the residual, (tokens)."""
    parts = attention[..., None] * vectors[:, None]
    outputs = residual + parts.sum((0, 2)) + bias
    length = np.abs(outputs).sum(-1)
    heads = np.maximum(0.0, length[:, None] - np.abs(outputs[:, None] - parts).sum(-1))
    return np.tril(heads), np.maximum(0.0, length - np.abs(outputs - residual).sum(-1))


def identity_where_empty(rows):
    """Rows divided by their sums; a row of zeros keeps what it gets."""
    total = rows.sum(-1, keepdims=True)
    return np.where(total > 0, rows / np.where(total > 0, total, 1.0), np.eye(len(rows)))


def diffusion(edges, heads=None):
    """D of a subset of the heads, all of them by default."""
    chosen = range(len(edges)) if heads is None else heads
    return identity_where_empty(sum(edges[h] for h in chosen))


def row_weights(edges):
    """w_h(i); equal where nothing is moved."""
    totals = edges.sum(-1)
    every = totals.sum(0)
    return np.where(every > 0, totals / np.where(every > 0, every, 1.0), 1.0 / len(edges))


def fidelity(matrix, steps=3000):
    signal = np.eye(len(matrix))[-1]
    best = signal.copy()
    for _ in range(steps):
        signal = signal @ matrix
        best = np.maximum(best, signal)
    return best[:-1].min() if len(matrix) > 1 else 1.0


def walk_of_columns(matrix):
    columns = matrix.sum(0)
    walk = (matrix / np.where(columns > 0, columns, 1.0)).T
    walk[columns == 0, columns == 0] = 1.0
    return walk


def truncated_mean(walk, cutoff=100):
    survival = np.ones(len(walk))
    survival[-1] = 0.0
    total = 0.0
    for _ in range(cutoff):
        total += survival.mean()
        survival = walk @ survival
        survival[-1] = 0.0
    return total


def speed(matrix, cutoff=100):
    return 1.0 - truncated_mean(walk_of_columns(matrix), cutoff) / cutoff


def shapley(value, heads):
    """Of a function of lists of heads."""
    table = {subset: value(list(subset)) if subset else 0.0
             for size in range(heads + 1) for subset in itertools.combinations(range(heads), size)}
    result = np.zeros(heads)
    for subset, worth in table.items():
        for head in range(heads):
            if head not in subset:
                size = len(subset)
                share = math.factorial(size) * math.factorial(heads - size - 1) / math.factorial(heads)
                result[head] += share * (table[tuple(sorted((*subset, head)))] - worth)
    return result


def cross_head_share(edges, node, time):
    """The part of the paths of this length, from the sink to a node, that change head."""
    weights = row_weights(edges)
    each = np.stack([identity_where_empty(one) for one in edges])
    pure = sum(np.linalg.matrix_power(weights[h][:, None] * each[h], time)[-1, node] for h in range(len(edges)))
    return 1.0 - pure / np.linalg.matrix_power(diffusion(edges), time)[-1, node]


def residual_share(edges, residual):
    total = edges.sum((0, 2)) + residual
    return np.where(total > 0, residual / np.where(total > 0, total, 1.0), 1.0)


def stack(layers, shares):
    """The signal at the sink through layers (edges, a), and what of all that arrives passes each head and the residual."""
    row = np.eye(len(shares[0]))[-1]
    passed = []
    for edges, beside in reversed(list(zip(layers, shares))):
        heads = row_weights(edges) * (1.0 - beside)
        passed.append(((heads * row).sum(-1), (beside * row).sum()))
        row = row @ (np.diag(beside) + (1.0 - beside)[:, None] * diffusion(edges))
    return row, passed[::-1]
