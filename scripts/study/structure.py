"""Numbers of the attention graph of one layer and text: what `synergraph heads` measures, by the package synergraph.

This part runs on the CPU, text by text, in as many processes as are asked for. The rest of the study may use a GPU meanwhile.
"""

import multiprocessing

import numpy as np
import torch

try:
    import synergraph as sg
except ImportError as problem:  # the report needs no package
    sg, MISSING = None, problem

from . import games
from .readers import InputError


DEVICE_THREADS = 4  # of a process that measures on a device: several run side by side
#: The values of all subsets that results keep.
KEPT = ("subsets_fidelity", "subsets_speed")


def values_of_edges(edges, sets):
    """Minimax fidelity and speed, (len(sets), 2), of subsets of heads whose edges (heads, n, n) have their own weights.

    Each row is normalised over the heads of the subset. The value of no head is 0.
    """
    table = np.zeros((len(sets), 2))
    some = np.flatnonzero(sets.any(1))
    for begin in range(0, len(some), 256):
        part = some[begin : begin + 256]
        combined = np.tensordot(sets[part].astype(float), edges, 1)
        total = combined.sum(-1)
        empty = total <= 0
        combined /= np.where(empty, 1, total)[..., None]
        s, i = np.nonzero(empty)
        combined[s, i, i] = 1  # a token to which nothing moves keeps what it has
        result = sg.measure(combined[:, None], axes="sample head query key", cutoff=100, threads=1)
        table[part] = np.stack([result["minimax_fidelity"], 1 - result["truncated_hitting_mean"] / 100], 1)
    return table


def values_on_device(edges, sets, device, most=1 << 27):
    """The same of several games at once, (games, len(sets), 2): `edges` (games, heads, n, n) are a tensor in double precision.

    `most` is the number of entries of the systems that are measured together.
    """
    tokens = edges.shape[-1]
    table = np.zeros((len(edges), len(sets), 2))
    some = np.flatnonzero(sets.any(1))
    chosen = torch.as_tensor(sets[some], dtype=torch.float64, device=edges.device)
    at_once = max(1, most // (len(edges) * tokens * tokens))
    for begin in range(0, len(some), at_once):
        part = slice(begin, begin + at_once)
        combined = torch.einsum("sh,khij->ksij", chosen[part], edges)
        total = combined.sum(-1)
        empty = total <= 0
        combined /= total.masked_fill(empty, 1)[..., None]
        combined.diagonal(dim1=-2, dim2=-1).masked_fill_(empty, 1)
        result = sg.measure(combined.flatten(0, 1)[:, None], axes="sample head query key", cutoff=100, device=device, threads=DEVICE_THREADS)
        values = np.stack([result["minimax_fidelity"], 1 - result["truncated_hitting_mean"] / 100], 1)
        table[:, some[part]] = values.reshape(len(edges), -1, 2)
    return table


def edge_games(edges):
    """The values of every subset of heads, (2^heads, 2)."""
    return values_of_edges(edges, games.all_subsets(len(edges)))


def permuted_rows(attention, seed):
    """The same weights of each row in a random order among the row's allowed keys."""
    tokens = attention.shape[-1]
    keys = np.random.default_rng(seed).random(attention.shape)
    keys[..., ~np.tri(tokens, dtype=bool)] = 2.0  # not allowed: last
    return np.take_along_axis(attention, keys.argsort(-1), -1)


def shared_tables(edges, sets, device):
    """The values of subsets of heads for edges by name."""
    if device is None:
        return {name: values_of_edges(one, sets) for name, one in edges.items()}
    return dict(zip(edges, values_on_device(torch.stack(list(edges.values())), sets, device)))


def of_text(attention, learned, norm, contribution, seed, orders=None, device=None):
    """Structural numbers by name, (heads,), and pairs of heads, (heads, heads), of one layer and text.

    `attention` are the heads' matrices, `learned` their weights; `norm` and `contribution` the edges of what they move. With `orders`
    the Shapley values come from so many random orders of each text, and there are no pairs. Without, `subsets_` are the values of all
    subsets. With a `device`, the arrays are tensors in double precision.
    """
    attention = attention / attention.sum(-1)[..., None]  # rows of single precision
    heads, options = len(attention), {"threads": 1} if device is None else {"device": device, "threads": DEVICE_THREADS}
    permuted = permuted_rows(attention if device is None else attention.cpu().numpy(), seed)
    weights = (np.asarray(learned) / np.sum(learned))[:, None, None]
    if device is not None:
        permuted, weights = (torch.as_tensor(array, device=attention.device) for array in (permuted, weights))
    alone = sg.measure(attention[:, None], axes="sample head query key", per_node=True, cutoff=100, **options)  # a head a sample
    found = {"fidelity_alone": np.asarray(alone["minimax_fidelity"]), "speed_alone": 1 - np.asarray(alone["truncated_hitting_mean"]) / 100,
             "mean_fidelity": np.asarray(alone["node_fidelity"])[:, :-1].mean(1)}
    if orders is None:
        sets = games.all_subsets(heads)
    else:
        orders = games.random_orders(heads, orders // 2, seed)
        sets, place = np.unique(games.order_subsets(orders), axis=0, return_inverse=True)
        place = place.reshape(len(orders), -1)
    edges = {"": attention * weights, "permuted_": permuted * weights, "norm_": norm, "contribution_": contribution}
    for name, table in shared_tables(edges, sets, device).items():
        if orders is None:
            values, pairs = games.shapley(table), games.interactions(table)
        for k, value in enumerate(("fidelity", "speed")):
            if orders is None:
                found[f"{name}{value}"], found[f"subsets_{name}{value}"] = values[:, k], table[:, k]
                if heads > 1:
                    found[f"pairs_{name}{value}"] = pairs[..., k]
            else:
                found[f"{name}{value}"] = games.shapley_of_orders(orders, table[place, k])[0]
    names = {"fidelity": "fidelity_shapley", "speed": "speed_shapley", "permuted_fidelity": "permuted"}
    return {names.get(name, name): value for name, value in found.items()
            if name not in ("permuted_speed", "pairs_permuted_speed") and (not name.startswith("subsets_") or name in KEPT)}


class Here:
    """Stands in for a pool of processes: computes when asked."""

    class Answer:
        def __init__(self, value):
            self._value = value

        def get(self):
            return self._value

        def ready(self):
            return True

    def apply_async(self, function, arguments):
        return self.Answer(function(*arguments))


def workers(count):
    """A pool of processes, made before PyTorch uses a GPU or threads."""
    if sg is None:
        raise InputError(f"measuring needs the package synergraph ({MISSING}); SYNERGRAPH_LIBRARY names a built library")
    return multiprocessing.get_context("fork").Pool(count) if count > 1 else Here()
