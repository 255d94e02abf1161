"""Small models of `synergraph train` in NumPy: their tasks, their forward pass, and what their heads put out. For scripts/optimise.py."""

import json

import numpy as np

IGNORED = -1  # a position without a target


def draw(task, count, length, vocabulary, seed):
    """Sequences of a task and their targets, as docs/training.md defines them: (count, length) each."""
    rng = np.random.default_rng([seed, *task.encode()])
    if task in ("copy", "cycle"):
        x = rng.integers(0, vocabulary, (count, length))
        return x, x.copy() if task == "copy" else np.roll(x, 1, 1)
    if task == "recall":
        pairs, half = length // 4, vocabulary // 2
        keys = rng.random((count, half)).argsort(1)[:, :pairs]
        values = rng.integers(half, vocabulary, (count, pairs))
        asked = rng.integers(0, pairs, (count, length - 2 * pairs))
        x = np.concatenate([np.stack([keys, values], 2).reshape(count, -1), np.take_along_axis(keys, asked, 1)], 1)
        y = np.full_like(x, IGNORED)
        y[:, 2 * pairs :] = np.take_along_axis(values, asked, 1)
        return x, y
    if task == "majority":
        x = rng.integers(0, 2, (count, length))
        lead = (2 * x - 1).cumsum(1)
        return x, np.where(lead > 0, 1, np.where(lead < 0, 0, IGNORED))
    if task not in ("maximum", "second-maximum"):
        raise ValueError(f"no task {task!r} here")
    x = (rng.random((count, length)) * rng.integers(1, vocabulary + 1, (count, 1))).astype(np.int64)
    y = np.maximum.accumulate(x, 1)
    if task == "second-maximum":
        y = np.stack([np.sort(x[:, : i + 1], 1)[:, -2] if i > 0 else np.full(count, IGNORED) for i in range(length)], 1)
    return x, y


def attainable(task, length, vocabulary):
    """The accuracy that a causal model can reach: of a cycle, the first answer can only be guessed."""
    return (length - 1 + 1 / vocabulary) / length if task == "cycle" else 1.0


def read_weights(path):
    """The tensors of a safetensors file of float32."""
    with open(path, "rb") as file:
        data = file.read()
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    return {name: np.frombuffer(data[begin + info["data_offsets"][0] : begin + info["data_offsets"][1]], np.float32).reshape(info["shape"])
            for name, info in header.items() if name != "__metadata__"}


def normed(x, gain):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 2.0**-23) * gain


def run(weights, heads, tokens, off=None):
    """Logits, and the heads' outputs of every layer, (layers, heads, samples, length, width). `off` is a layer's heads that put out nothing:
    (layer, head), or (layer, None) for all of them."""
    x = weights["token_emb.weight"][tokens] + weights["pos_emb.weight"][: tokens.shape[1]]
    samples, length, width = x.shape
    size = width // heads
    future = np.triu(np.full((length, length), -np.inf, np.float32), 1)
    layers = 1 + max(int(name.split(".")[1]) for name in weights if name.startswith("layers."))
    outputs = []
    for layer in range(layers):
        def linear(name, y, prefix=f"layers.{layer}."):
            return y @ weights[prefix + name + ".weight"].T + weights[prefix + name + ".bias"]

        y = normed(x, weights[f"layers.{layer}.ln1.weight"])
        q, k, v = (linear(f"attn.{name}", y).reshape(samples, length, heads, size).transpose(0, 2, 1, 3) for name in ("W_q", "W_k", "W_v"))
        scores = q @ k.transpose(0, 1, 3, 2) / np.float32(np.sqrt(size)) + future
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        moved = scores / scores.sum(-1, keepdims=True) @ v
        blocks = weights[f"layers.{layer}.attn.out_proj.weight"].reshape(width, heads, size)
        out = np.stack([moved[:, h] @ blocks[:, h].T for h in range(heads)])
        for head in [] if off is None or off[0] != layer else range(heads) if off[1] is None else [off[1]]:
            out[head] = 0
        outputs.append(out)
        x = x + out.sum(0) + weights[f"layers.{layer}.attn.out_proj.bias"]
        y = normed(x, weights[f"layers.{layer}.ln2.weight"])
        x = x + linear("mlp.2", np.maximum(linear("mlp.0", y), 0))
    return x @ weights["out_proj.weight"].T + weights["out_proj.bias"], np.stack(outputs)


def judge(logits, targets):
    """Mean cross-entropy and accuracy over the targets that count."""
    counts = targets != IGNORED
    logits = logits[counts].astype(np.float64)
    wanted = targets[counts]
    largest = logits.max(1, keepdims=True)
    loss = np.log(np.exp(logits - largest).sum(1)) + largest[:, 0] - logits[np.arange(len(wanted)), wanted]
    return float(loss.mean()), float((logits.argmax(1) == wanted).mean())


def alike(outputs):
    """Mean absolute correlation between the outputs of two heads of a layer: outputs are (heads, samples, length, width)."""
    flat = outputs.reshape(len(outputs), -1, outputs.shape[-1]).astype(np.float64)
    flat = (flat - flat.mean(1, keepdims=True)).reshape(len(outputs), -1)
    flat /= np.maximum(np.sqrt((flat * flat).sum(1, keepdims=True)), 1e-30)
    return float(np.abs(flat @ flat.T)[np.triu_indices(len(outputs), 1)].mean())


def replaceable(weights, heads, tokens, targets):
    """For each layer: what the loss rises by without the layer's heads, and the sum of what it rises by without one of them."""
    logits, outputs = run(weights, heads, tokens)
    loss = judge(logits, targets)[0]
    result = []
    for layer in range(len(outputs)):
        without = [judge(run(weights, heads, tokens, (layer, head))[0], targets)[0] - loss for head in [None, *range(heads)]]
        result.append((without[0], sum(without[1:])))
    return result
