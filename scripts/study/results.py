"""Results of one model: collected text by text while they are measured, stored as means over the two halves of the texts."""

import glob
import json
import os
import zipfile

import numpy as np

from . import games
from .readers import InputError

#: Texts by their number modulo 4: own samples and the Bible against own samples and documents.
HALVES = {"first": (0, 1), "second": (2, 3)}
VALUES = ("loss", "last", "accuracy")


def store(path, **arrays):
    """Writes an .npz file that appears whole or not at all."""
    temporary = f"{path}.{os.getpid()}.part"
    with open(temporary, "wb") as file:
        np.savez_compressed(file, **arrays)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def load(path):
    """The arrays of a stored file."""
    try:
        with np.load(path) as file:
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: not a result of this study ({type(error).__name__}: {error}); remove the file to measure it again") from None


def in_half(texts, half):
    return [k for k in range(texts) if k % 4 in HALVES[half]]


def by_halves(values, axis):
    """Means over the texts of both halves, stacked in front. NaN where a half has no texts."""
    parts = [np.take(values, in_half(values.shape[axis], half), axis) for half in HALVES]
    return np.stack([part.mean(axis) if part.shape[axis] else np.full(part.sum(axis).shape, np.nan) for part in parts])


def value(losses, which):
    """What heads win over none, which is the first row: loss that falls, or accuracy that rises."""
    return losses - losses[:1] if which == "accuracy" else losses[:1] - losses


def compact(settings, control, scores, played, kept):
    """Arrays of one model, by name.

    `control` and `scores` are dictionaries of arrays with an axis for texts. `played[kind][layer]` is a dictionary of (subsets, texts) by
    VALUES, and "orders" where they are sampled. `kept[kind][layer][name]` are losses (heads + 1, texts) of the first heads of an order.
    """
    texts = control["intact"].shape[-1]
    arrays = {"settings": np.array(json.dumps(settings)), "texts": np.array([len(in_half(texts, half)) for half in HALVES])}
    for key, values in control.items():
        arrays["control/" + key] = values.mean(-1)
    for name, values in scores.items():
        arrays["score/" + name] = by_halves(values, 1)
    for kind, layers in played.items():
        arrays["layers/" + kind] = np.array(sorted(layers))
        for which in VALUES:
            if any("orders" in games_of for games_of in layers.values()):
                found = [sampled(layers[layer], which) for layer in sorted(layers)]
                arrays[f"needed/{kind}/{which}"] = np.stack([needed for needed, _, _ in found], 1)
                arrays[f"error/{kind}/{which}"] = np.stack([error for _, error, _ in found])
                arrays[f"curve/{kind}/{which}"] = np.stack([curve for _, _, curve in found])
                arrays["orders/" + kind] = np.array([len(layers[layer]["orders"]) for layer in sorted(layers)])
            else:
                arrays[f"value/{kind}/{which}"] = np.stack([by_halves(value(layers[layer][which], which), 1) for layer in sorted(layers)], 1)
    for kind, layers in kept.items():
        for name in next(iter(layers.values()), {}):
            arrays[f"kept/{kind}/{name}"] = np.stack([value(layers[layer][name], "loss").mean(1) for layer in sorted(layers)])
    return {name: array.astype(np.float32) if array.dtype == np.float64 else array for name, array in arrays.items()}


def sampled(games_of, which):
    """Of sampled orders: Shapley values by half, their standard errors over pairs of orders, and mean values by number of heads."""
    orders, losses = games_of["orders"], games_of[which]
    values = (losses if which == "accuracy" else -losses).reshape(len(orders), -1, losses.shape[1])
    needed = np.stack([games.shapley_of_orders(orders, half)[0] for half in by_halves(values, 2)])
    return needed, games.shapley_of_orders(orders, values.mean(2))[1], (values - values[:, :1]).mean((0, 2))


class Measured:
    """What is known of one model."""

    def __init__(self, arrays):
        self.arrays = {name: array.astype(float) if array.dtype == np.float32 else array for name, array in arrays.items()}
        self.settings = json.loads(str(arrays["settings"]))
        self.name, self.task = self.settings["name"], self.settings["task"]
        self.layers, self.heads = self.settings["layers"], self.settings["heads"]
        self.texts = [int(count) for count in arrays["texts"]]
        self.measured = {name.split("/")[1]: [int(layer) for layer in array] for name, array in arrays.items() if name.startswith("layers/")}
        self.kinds = [kind for kind in games.ABLATIONS if self.measured.get(kind)]
        self.names = [name.removeprefix("score/") for name in arrays if name.startswith("score/")]
        self.exact = not any(name.startswith("needed/") for name in arrays)
        self._needed = {}

    @property
    def samples(self):
        return sum(self.texts)

    @property
    def halved(self):
        return min(self.texts) > 0

    def of(self, array, half):
        """The mean over all texts or over a half of them, of what has the halves in front."""
        if half != "all":
            return array[list(HALVES).index(half)]
        return sum(count / self.samples * part for count, part in zip(self.texts, array) if count)

    def has(self, name):
        return "score/" + name in self.arrays

    def scores(self, name, kind, half="all"):
        """A number by layer and head, or pairs of heads: of the layers that an ablation has."""
        return self.of(self.arrays["score/" + name], half)[self.measured[kind]]

    def table(self, place, kind, half="all", which="loss"):
        """The values of all subsets of the heads of a measured layer."""
        return self.of(self.arrays[f"value/{kind}/{which}"], half)[place]

    def needed(self, kind, half="all", which="loss"):
        """Shapley values by the loss, (layers, heads)."""
        key = (kind, half, which)
        if key not in self._needed:
            if self.exact:
                tables = self.of(self.arrays[f"value/{kind}/{which}"], half)
                self._needed[key] = np.moveaxis(games.shapley(np.moveaxis(tables, 1, 0)), 0, 1)
            else:
                self._needed[key] = self.of(self.arrays[f"needed/{kind}/{which}"], half)
        return self._needed[key]

    def control(self, key, row):
        """Mean of loss (row 0) or accuracy (row 1) of the control over texts."""
        return self.arrays["control/" + key][..., row]


def of_folder(folder):
    """The arrays of a model from the parts that `measure` stored: the blocks of texts and the layers that are complete."""
    with open(os.path.join(folder, "settings.json"), encoding="utf-8") as file:
        settings = json.load(file)
    names = {os.path.basename(path)[: -len(".npz")] for path in glob.glob(os.path.join(glob.escape(folder), "*.npz"))}

    def rounds(layer, kind, block):
        return [name for k in range(1000) if (name := f"loss-{layer}-{kind}-{block}" + (f".{k}" if settings["sampled"] else "")) in names
                and (k == 0 or settings["sampled"])]

    # Of a run that still goes on: the layers of the first block of texts, and the blocks that have all of them.
    found = {kind: [layer for layer in range(settings["layers"]) if rounds(layer, kind, 0)] for kind in games.ABLATIONS}
    found = {kind: layers for kind, layers in found.items() if layers}
    blocks = [block for block in range(settings["samples"]) if f"control-{block}" in names and f"scores-{block}" in names
              and found and all(rounds(layer, kind, block) for kind, layers in found.items() for layer in layers)]
    if not blocks:
        return None

    def joined(parts, axis):
        return {key: np.concatenate([part[key] for part in parts], axis) for key in parts[0]}

    def games_of(layer, kind):
        common = min(len(rounds(layer, kind, block)) for block in blocks)
        parts = [[load(os.path.join(folder, name + ".npz")) for name in rounds(layer, kind, block)[:common]] for block in blocks]
        orders = [part.pop("orders") for part in parts[0] if "orders" in part]
        for others in parts[1:]:
            for part in others:
                part.pop("orders", None)
        whole = joined([joined(of_block, 0) for of_block in parts], 1)
        return whole | ({"orders": np.concatenate(orders)} if orders else {})

    def kept_of(layer, kind):
        parts = [f"kept-{layer}-{kind}-{block}" for block in blocks]
        return joined([load(os.path.join(folder, name + ".npz")) for name in parts], 1) if all(name in names for name in parts) else {}

    control = joined([load(os.path.join(folder, f"control-{block}.npz")) for block in blocks], -1)
    scores = joined([load(os.path.join(folder, f"scores-{block}.npz")) for block in blocks], 1)
    played = {kind: {layer: games_of(layer, kind) for layer in layers} for kind, layers in found.items()}
    kept = {kind: {layer: kept_of(layer, kind) for layer in layers} for kind, layers in found.items()}
    kept = {kind: layers for kind, layers in kept.items() if all(layers.values())}
    return compact(settings, control, scores, played, kept)


def read_all(out):
    """All models of which at least one block is complete, in order of name; language models first."""
    models = []
    for path in sorted(glob.glob(os.path.join(glob.escape(out), "*", "settings.json")) + glob.glob(os.path.join(glob.escape(out), "*.npz"))):
        try:
            arrays = load(path) if path.endswith(".npz") else of_folder(os.path.dirname(path))
            many = [arrays] if arrays is None or "settings" in arrays else unbundled(arrays)
            models += [Measured(one) for one in many if one is not None]
        except (OSError, ValueError, KeyError, EOFError, IndexError, zipfile.BadZipFile) as error:
            raise InputError(f"{path}: not results of this study ({type(error).__name__}: {error}); remove the damaged files "
                             "and measure the model again") from None
    models = list({model.name: model for model in models if model.kinds}.values())
    if not models:
        raise InputError(f"{out}: no model is measured completely on any block of texts; run `validity.py measure` first")
    return sorted(models, key=lambda model: (model.task or "", model.layers, model.heads, model.name))


def bundled(models):
    """Arrays of several models in one dictionary."""
    return {f"{place}|{name}": array for place, arrays in enumerate(models) for name, array in arrays.items()}


def unbundled(arrays):
    found = {}
    for name, array in arrays.items():
        place, _, rest = name.partition("|")
        found.setdefault(int(place), {})[rest] = array
    return list(found.values())
