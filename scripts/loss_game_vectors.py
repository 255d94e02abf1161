#!/usr/bin/env python3
"""Writes the games on the loss of a small model, by brute force in PyTorch: a forward pass in float64 for every subset of heads.

    scripts/loss_game_vectors.py tests/data/train_tiny.safetensors tests/data/loss_games.npy

The model is "init" of the first file, read with four heads. The result has the shape (loss or accuracy, layer, zero or mean ablation, all
targets or some, subset). Of some targets, every third one from the first counts. The test LossGame.AgreesWithPyTorch reads the result."""

import argparse
import json
import math
import struct

import numpy as np
import torch

HEADS = 4
KINDS = {"F64": np.float64, "F32": np.float32, "I64": np.int64, "I32": np.int32}


def read(path):
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        data = file.read()
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            values = np.frombuffer(data[begin:end], KINDS[entry["dtype"]]).reshape(entry["shape"])
            tensors[name] = torch.from_numpy(values.copy())
    return tensors


def norm(x, gain):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 2.0**-23) * gain


def heads_output(model, layer, x):
    """What the heads of a layer give, side by side: (samples, tokens, width)."""
    at = f"init/layers.{layer}."
    y = norm(x, model[at + "ln1.weight"])
    samples, tokens, width = y.shape

    def project(name):
        z = torch.nn.functional.linear(y, model[at + f"attn.{name}.weight"], model[at + f"attn.{name}.bias"])
        return z.view(samples, tokens, HEADS, width // HEADS).transpose(1, 2)

    scores = project("W_q") @ project("W_k").transpose(2, 3) / math.sqrt(width // HEADS)
    later = torch.ones(tokens, tokens, dtype=torch.bool).triu(1)
    return (scores.masked_fill(later, -math.inf).softmax(-1) @ project("W_v")).transpose(1, 2).reshape(samples, tokens, width)


def forward(model, layers, tokens, change):
    """The logits; change(layer, heads' output) is what the layer goes on with."""
    x = model["init/token_emb.weight"][tokens] + model["init/pos_emb.weight"]
    for layer in range(layers):
        at = f"init/layers.{layer}."
        attended = change(layer, heads_output(model, layer, x))
        x = x + torch.nn.functional.linear(attended, model[at + "attn.out_proj.weight"], model[at + "attn.out_proj.bias"])
        hidden = torch.nn.functional.linear(norm(x, model[at + "ln2.weight"]), model[at + "mlp.0.weight"], model[at + "mlp.0.bias"]).relu()
        x = x + torch.nn.functional.linear(hidden, model[at + "mlp.2.weight"], model[at + "mlp.2.bias"])
    return torch.nn.functional.linear(x, model["init/out_proj.weight"], model["init/out_proj.bias"])


def games(model):
    tokens, targets = model["x"].long(), model["y"].long()
    layers = int(model["config"][4])
    some = targets.clone().flatten()
    some[torch.arange(len(some)) % 3 != 0] = -1
    result = np.empty((2, layers, 2, 2, 2**HEADS))
    intact = {}
    forward(model, layers, tokens, lambda layer, attended: intact.setdefault(layer, attended))
    for layer in range(layers):
        means = intact[layer].mean((0, 1))
        for ablation, other in enumerate([torch.zeros_like(means), means]):
            for subset in range(2**HEADS):
                on = torch.tensor([subset >> h & 1 for h in range(HEADS)], dtype=torch.bool).repeat_interleave(len(means) // HEADS)
                logits = forward(
                    model, layers, tokens, lambda at, attended: torch.where(on, attended, other) if at == layer else attended
                ).flatten(0, 1)
                for mask, counted in enumerate([targets.flatten(), some]):
                    result[0, layer, ablation, mask, subset] = torch.nn.functional.cross_entropy(logits, counted, ignore_index=-1)
                    result[1, layer, ablation, mask, subset] = (logits.argmax(-1) == counted).sum().double() / (counted >= 0).sum()
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("model", help="tests/data/train_tiny.safetensors")
    parser.add_argument("games", help="the .npy file to write")
    arguments = parser.parse_args()
    np.save(arguments.games, games(read(arguments.model)))


if __name__ == "__main__":
    main()
