"""All subsets of wide layers, by the library's own games: pairs of heads, the best subsets, and how wrong sampled orders are.

PyTorch would need minutes for each layer of 16 heads. `Model.value_heads` measures the loss and the structure of all 65,536 subsets in seconds.
The few subsets of given orders pass PyTorch's code of the study, which checks the library's values on the way.
"""

import json
import os

import numpy as np

from . import games, structure
from .readers import InputError
from .results import store

#: Values of structure, by the name of the edges' games: what `edges` is, and whether rows are permuted.
GAMES = {"": (None, False), "norm_": ("norm", False), "contribution_": ("contribution", False), "permuted_": (None, True)}
#: Disagreement of the library with PyTorch that single precision explains, as a share of the loss without heads.
AGREEMENT = 1e-4


def mean_losses(model, ids, targets, layer, replaced, sets, rows):
    """The mean loss over all answers with each set of heads: what the library's games measure."""
    counts = (targets >= 0).sum(1).numpy()
    return games.subset_losses(model, ids, targets, layer, replaced, sets, rows)["loss"] @ counts / counts.sum()


def first_heads(orders):
    """The sets of the first k = 0 .. heads of each order."""
    return games.order_subsets(np.asarray(orders))


def sets_of(best, heads):
    """Lists of heads as rows of 0 and 1."""
    return np.array([[head in chosen for head in range(heads)] for chosen in best], dtype=np.int64)


def structural_pairs(library, ids, task, seed, threads):
    """Interactions of pairs by every game on structure: (layers, heads, heads) by name."""
    found = {}
    options = {"loss": "no", "values": ["fidelity", "speed"], "weight_samples": 0, "null_samples": 0, "threads": threads}
    for name, (edges, permuted) in GAMES.items():
        if permuted:
            # The null has the learned weights of the heads and the weights of each row in another order.
            rows = [np.stack([structure.permuted_rows(text, seed + 1000 * layer + k) for k, text in enumerate(library.attention(ids, layer))])
                    for layer in range(library.layers)]
            weights = library.value_heads(ids[:1], task=task, **options | {"values": "speed"}).weights
            valued = [structure.sg.heads(layer[None], axes="layer sample head query key", weights=one, **options) for layer, one in zip(rows, weights)]
            result = {value: np.concatenate([one[f"{value}/pairs"] for one in valued]) for value in options["values"]}
        else:
            valued = library.value_heads(ids, task=task, edges=edges, **options)
            result = {value: valued[f"{value}/pairs"] for value in options["values"]}
        found |= {name + value: result[value] for value in result if name + value != "permuted_speed"}
    return found


def measure(model, library, task, ids, targets, seed, orders, rows=2048, threads=1, ablations=games.ABLATIONS):
    """The arrays of one model by name. The first half of the texts chooses subsets and orders; the second half judges them."""
    half = len(ids) // 2
    chosen, judged = (ids[:half], targets[:half]), (ids[half:], targets[half:])
    heads, layers = library.heads, library.layers
    drawn = games.random_orders(heads, orders // 2, seed)
    arrays = {f"structure/{name}": pairs for name, pairs in structural_pairs(library, chosen[0].numpy(), task, seed, threads).items()}
    for kind in ablations:
        valued = library.value_heads(chosen[0].numpy(), task=task, ablation=kind, values="speed", weight_samples=0, null_samples=0, threads=threads)
        arrays |= {f"{kind}/{name}": valued[f"loss/{name}"] for name in ("all", "shapley", "pairs", "best", "by_shapley")}
        document = valued.to_dict()["layers"]
        sampled, errors, kept = [], [], {name: [] for name in ("all", "best subset of other texts", "loss_shapley", "contribution", "random")}
        for layer in range(layers):
            zeros = np.zeros((heads, library.width), np.float32)

            def losses(texts, sets, layer=layer, zeros=zeros, kind=kind):
                means = games.mean_outputs(model, [texts[0]])[layer]
                replaced = means if kind == "mean" else means.new_tensor(zeros)
                return mean_losses(model, *texts, layer, replaced, sets, rows)

            values = -losses(chosen, first_heads(drawn)).reshape(len(drawn), -1)
            won = values[0, -1] - values[0, 0]
            if abs(won - arrays[f"{kind}/all"][layer]) > AGREEMENT * (abs(values[0, 0]) + 1):
                raise InputError(f"{task}, seed {seed}, layer {layer}: all heads win {won:.8g} nats by PyTorch, "
                                 f"{arrays[f'{kind}/all'][layer]:.8g} by the library")
            needed, error = games.shapley_of_orders(drawn, values)
            sampled.append(needed)
            errors.append(error)
            best = document[layer]["loss"]["value"]["pruning"]["best"]
            by_shapley, by_moved = (np.argsort(-np.asarray(numbers), kind="stable") for numbers in (arrays[f"{kind}/shapley"][layer], valued["moved"][layer]))
            some = drawn[: min(len(drawn), 2 * heads)]
            parts = [sets_of([one["heads"] for one in best], heads), first_heads([by_shapley]), first_heads([by_moved]), first_heads(some)]
            found = np.split(losses(judged, np.concatenate(parts)), np.cumsum([len(part) for part in parts])[:-1])
            curves = [one[0] - one for one in found[:3]] + [(found[3][0] - found[3]).reshape(len(some), -1).mean(0)]
            for name, curve in zip(("best subset of other texts", "loss_shapley", "contribution", "random"), curves):
                kept[name].append(curve)
            kept["all"].append(curves[0][-1])
        arrays |= {f"{kind}/sampled": np.array(sampled), f"{kind}/sampled_error": np.array(errors)}
        arrays |= {f"{kind}/kept/{name}": np.array(curves) for name, curves in kept.items()}
    return arrays


def measure_and_store(path, settings, make):
    """Measures a model unless a file has its results. Returns whether it did."""
    if os.path.exists(path):
        stored = read(path)[0]
        changed = [key for key in settings if stored.get(key) != settings[key]]
        if changed:
            raise InputError(f"{path}: holds results of another {', '.join(changed)}; use another --out, or remove the file")
        return False
    store(path, settings=np.array(json.dumps(settings)), **make())
    return True


def read(path):
    """Settings and arrays of a stored model."""
    from .results import load

    arrays = load(path)
    try:
        return json.loads(str(arrays.pop("settings"))), arrays
    except (KeyError, ValueError) as error:
        raise InputError(f"{path}: not a result of `validity.py wide` ({type(error).__name__}: {error}); remove the file") from None
