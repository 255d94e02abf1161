"""Games on the loss: what a layer's heads save, by subsets or by sampled orders, with the other heads switched off.

The state before the layer and the output of every head are computed once. A subset is one sum and the rest of the network.
"""

import math

import numpy as np
import torch

ABLATIONS = ("zero", "mean")


def layer_parts(model, ids, layer):
    """The state before the layer's heads with the bias of W_O (samples, tokens, features), and the heads' outputs."""
    x = model.embed(ids)
    for block in model.blocks[:layer]:
        x, _ = block.forward(x)
    block = model.blocks[layer]
    attention, values, _ = block.attend(x)
    return x if block.bo is None else x + block.bo, block.outputs(attention, values)


def mean_outputs(model, batches):
    """The mean output of every head over the tokens of all texts: by layer (heads, features), in double precision."""
    totals, count = [0.0] * len(model.blocks), 0
    for ids in batches:
        x = model.embed(ids)
        for layer, block in enumerate(model.blocks):
            attention, values, _ = block.attend(x)
            mixed = (attention @ values).double().sum((0, 2))  # W_O is linear: the mean passes through it
            totals[layer] = totals[layer] + torch.einsum("hd,hde->he", mixed, block.projection().double())
            x = block.feed_forward(x + block.attention_output(attention, values))
        count += ids.numel()
    return torch.stack([total / count for total in totals])


def subset_losses(model, ids, targets, layer, replaced, subsets, rows=512, tell=None, runner=None):
    """Mean losses of each text, losses of its last target, and accuracies, (subsets, samples) each, with the heads of each subset on.

    `subsets` are (count, heads) of 0 and 1. `replaced` (heads, features) takes the place of the outputs of heads that are off: zeros,
    or means. `rows` is the number of tokens that pass the network at once. `runner` is the same model with elements of half precision,
    which carries out the rest of the network.
    """
    runner = model if runner is None else runner
    before, outputs = layer_parts(model, ids, layer)
    replaced = replaced.to(outputs)
    before = before + replaced.sum(0)
    outputs = outputs - replaced[:, None]
    samples, tokens = ids.shape
    counts = (targets >= 0).sum(1)
    last = tokens - 1 - (targets >= 0).flip(1).int().argmax(1)
    at_once = max(1, rows // (samples * tokens))
    found = {"loss": [], "last": [], "accuracy": []}
    for begin in range(0, len(subsets), at_once):
        chosen = torch.as_tensor(subsets[begin : begin + at_once], dtype=outputs.dtype, device=outputs.device)
        x = before + torch.einsum("sh,bhne->sbne", chosen, outputs)
        x = runner.run(runner.blocks[layer].feed_forward(x.flatten(0, 1)), layer + 1)
        losses, right = runner.judge(x, targets.repeat(len(chosen), 1))
        losses, right = (part.unflatten(0, (len(chosen), samples)) for part in (losses, right))
        found["loss"].append(losses.double().sum(-1) / counts)
        found["last"].append(losses[:, torch.arange(samples, device=last.device), last].double())
        found["accuracy"].append(right.double().sum(-1) / counts)
        if tell is not None:
            tell(len(chosen))
    return {name: torch.cat(parts).cpu().numpy() for name, parts in found.items()}


def all_subsets(heads):
    """(2^heads, heads) of 0 and 1; bit h of the row's number says whether head h is on."""
    return (np.arange(1 << heads)[:, None] >> np.arange(heads)) & 1


def random_orders(heads, pairs, seed):
    """Orders of heads, each followed by its reverse: (2 * pairs, heads)."""
    rng = np.random.default_rng(seed)
    forward = [rng.permutation(heads) for _ in range(pairs)]
    return np.array([order for one in forward for order in (one, one[::-1])])


def order_subsets(orders):
    """The subsets of 0, 1, ... first heads of each order: (orders * (heads + 1), heads) of 0 and 1."""
    places = np.argsort(orders, 1)  # the place of each head in each order
    sizes = np.arange(orders.shape[1] + 1)
    return (places[:, None] < sizes[:, None]).astype(np.int64).reshape(-1, orders.shape[1])


def shapley_of_orders(orders, values):
    """Means over orders of what a head adds to the heads before it: (heads,) and standard errors over pairs of orders.

    `values` are (orders, heads + 1).
    """
    gains = np.zeros(orders.shape)
    np.put_along_axis(gains, orders, np.diff(values, axis=1), 1)
    pairs = gains.reshape(-1, 2, orders.shape[1]).mean(1)
    return pairs.mean(0), pairs.std(0, ddof=1) / math.sqrt(len(pairs)) if len(pairs) > 1 else np.full(orders.shape[1], np.nan)


def shapley(values):
    """Shapley values (heads, ...) of a game (2^heads, ...)."""
    values = np.asarray(values, float)
    heads = len(values).bit_length() - 1
    sets = np.arange(len(values))
    size = all_subsets(heads).sum(1)
    weight = np.array([1 / (heads * math.comb(heads - 1, k)) for k in range(heads)])
    result = []
    for head in range(heads):
        without = sets[(sets >> head & 1) == 0]
        gains = values[without | 1 << head] - values[without]
        result.append(np.tensordot(weight[size[without]], gains, 1))
    return np.array(result)


def interactions(values):
    """Shapley interaction indices of pairs, (heads, heads, ...) with zeros on the diagonal."""
    values = np.asarray(values, float)
    heads = len(values).bit_length() - 1
    sets = np.arange(len(values))
    size = all_subsets(heads).sum(1)
    result = np.zeros((heads, heads) + values.shape[1:])
    weight = np.array([1 / ((heads - 1) * math.comb(heads - 2, k)) for k in range(heads - 1)]) if heads > 1 else None
    for a in range(heads):
        for b in range(a):
            pair = 1 << a | 1 << b
            free = sets[(sets & pair) == 0]
            gains = values[free | pair] - values[free | 1 << a] - values[free | 1 << b] + values[free]
            result[a, b] = result[b, a] = np.tensordot(weight[size[free]], gains, 1)
    return result
