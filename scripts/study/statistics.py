"""How well a number of heads agrees with what the loss says: rank correlations within layers, with intervals and permutation tests."""

import itertools

import numpy as np


def ranks(values):
    """Average ranks, from 0."""
    values = np.asarray(values, float)
    order = values.argsort(kind="stable")
    result = np.empty(len(values))
    for _, group in itertools.groupby(range(len(values)), key=lambda k: values[order[k]]):
        group = list(group)
        result[order[group]] = np.mean(group)
    return result


def standard_ranks(values):
    """Ranks with mean 0 and norm 1; zeros where all values are equal: a constant orders nothing."""
    centred = ranks(values) - (len(values) - 1) / 2
    scale = np.sqrt((centred * centred).sum())
    return centred / scale if scale > 0 else centred


def spearman(a, b):
    """Rank correlation; 0 where one side is constant."""
    return float((standard_ranks(a) * standard_ranks(b)).sum())


def within_layers(score, needed):
    """Rank correlation of every layer: sequences over layers of numbers over heads."""
    return np.array([spearman(s, n) for s, n in zip(score, needed)])


def share_as_large(found, drawn):
    """Two-sided p-value of a permutation test: the observed order is one of the permutations."""
    return float((1 + np.sum(np.abs(drawn) >= abs(found) - 1e-12)) / (1 + len(drawn)))


def permuted_sums(scores, needed, count, seed=1):
    """Sums over layers of the rank correlations that heads give which change places within their layer: (numbers, count).

    `scores` are (numbers, layers, heads) and `needed` (layers, heads), both of standard ranks. All numbers see the same changes.
    """
    rng = np.random.default_rng(seed)
    total = np.zeros((len(scores), count))
    for layer, wanted in enumerate(needed):
        places = rng.random((count, len(wanted))).argsort(1)
        total += scores[:, layer] @ wanted[places].T
    return total


def permutation_p(score, needed, count=10000, seed=1):
    """Two-sided p of the mean rank correlation within layers: heads change places within their layer."""
    ranked = np.array([standard_ranks(s) for s in score])
    drawn = permuted_sums(ranked[None], np.array([standard_ranks(n) for n in needed]), count, seed)[0] / len(ranked)
    return share_as_large(within_layers(score, needed).mean(), drawn)


def upper(matrix):
    """The pairs of a symmetric matrix, each once."""
    return np.asarray(matrix)[np.triu_indices(len(matrix), 1)]


def pair_permutation_p(score, needed, count=2000, seed=1):
    """The same for matrices over pairs of heads. Pairs of one head depend on each other, so heads change places, not pairs (Mantel)."""
    rng = np.random.default_rng(seed)
    drawn = np.zeros(count)
    for s, n in zip(score, needed):
        heads = len(s)
        pairs = np.zeros((heads, heads))
        pairs[np.triu_indices(heads, 1)] = standard_ranks(upper(s))
        pairs += pairs.T
        b = standard_ranks(upper(n))
        places = rng.random((count, heads)).argsort(1)
        changed = pairs[places[:, :, None], places[:, None]]
        drawn += changed[(slice(None), *np.triu_indices(heads, 1))] @ b / len(score)
    return share_as_large(np.mean([spearman(upper(s), upper(n)) for s, n in zip(score, needed)]), drawn)


def interval(values, count=10000, seed=1, groups=None):
    """95 % percentile interval of the mean by the bootstrap over values, or over groups of values (the layers of a model)."""
    values = np.asarray(values, float)
    rng = np.random.default_rng(seed)
    if groups is None:
        means = values[rng.integers(0, len(values), (count, len(values)))].mean(1)
    else:
        parts = [values[np.asarray(groups) == group] for group in dict.fromkeys(groups)]
        sums, sizes = np.array([part.sum() for part in parts]), np.array([len(part) for part in parts])
        drawn = rng.integers(0, len(parts), (count, len(parts)))
        means = sums[drawn].sum(1) / sizes[drawn].sum(1)
    return [float(q) for q in np.quantile(means, [0.025, 0.975])]


def holm(p_values):
    """Holm's correction for several tests."""
    order = np.argsort(p_values, kind="stable")
    corrected, largest = np.empty(len(p_values)), 0.0
    for place, k in enumerate(order):
        largest = max(largest, min(1.0, p_values[k] * (len(p_values) - place)))
        corrected[k] = largest
    return corrected


def full_reliability(halves):
    """Spearman-Brown: the correlation that twice as many texts would have with as many others, from that of the halves."""
    return 2 * halves / (1 + halves) if halves > -1 else -1.0


def value_by_order(table, order):
    """The values of the first k heads of an order, k = 1 .. H - 1."""
    sets = np.cumsum(1 << np.asarray(order, int)[:-1])
    return np.asarray(table, float)[sets]


def sizes_of(table):
    return np.array([bin(s).count("1") for s in range(len(table))])


def value_by_size(table):
    """The mean value over all subsets of each size: what a random order keeps, k = 1 .. H - 1."""
    table, size = np.asarray(table, float), sizes_of(table)
    return np.array([table[size == k].mean() for k in range(1, size[-1])])


def best_by_size(table, judged=None):
    """The value of the best subset of each size; with `judged`, chosen by one table and judged by another."""
    table, size = np.asarray(table, float), sizes_of(table)
    judged = table if judged is None else np.asarray(judged, float)
    return np.array([judged[np.flatnonzero(size == k)[table[size == k].argmax()]] for k in range(1, size[-1])])
