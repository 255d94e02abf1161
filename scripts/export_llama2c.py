#!/usr/bin/env python3
"""Attention of a llama2.c model on text that it writes itself, for `synergraph analyze` and `heads`.

    export_llama2c.py stories260K.bin attention.safetensors --out-proj projections.safetensors
    synergraph analyze attention.safetensors --out-proj projections.safetensors

MODEL is a file of the llama2.c project in its first layout: seven integers, then the weights in float32. Every
sample begins with token 1 and is drawn at temperature 1; a text that ends is followed by another. The attention is
computed in double precision and written as one array (layers, samples, heads, n, n), the output projections that
learned head weights come from as (layers, dim, dim); .safetensors or .npz. Needs NumPy (Debian: python3-numpy).
"""
import argparse
import json
import math
import os
import sys
import types

try:
    import numpy as np
except ImportError:
    sys.exit("export_llama2c: NumPy is missing (Debian: python3-numpy, which is for /usr/bin/python3)")

BEGIN = 1  # the token that begins a text


class InputError(Exception):
    """What is wrong, in one line."""


def load_model(path):
    """The model in a file: its shape and its weights in double precision."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    if len(data) < 28:
        raise InputError(f"{path}: {len(data)} bytes are no llama2.c model")
    dim, hidden, layers, heads, kv_heads, vocab, seq = (int(n) for n in np.frombuffer(data, "<i4", 7))
    shared = vocab > 0  # the embedding is the output matrix, too
    vocab = abs(vocab)
    sizes = (dim, hidden, layers, heads, kv_heads, vocab, seq)
    if min(sizes) < 1 or max(sizes) > 1 << 20 or dim % heads or heads % kv_heads or dim // heads % 2 or vocab <= BEGIN:
        raise InputError(f"{path}: dim, hidden, layers, heads, kv_heads, vocab, seq = {sizes} are no llama2.c model")
    width = dim // heads
    shapes = {
        "embedding": (vocab, dim), "rms_attention": (layers, dim), "wq": (layers, dim, dim),
        "wk": (layers, kv_heads * width, dim), "wv": (layers, kv_heads * width, dim), "wo": (layers, dim, dim),
        "rms_feed_forward": (layers, dim), "w1": (layers, hidden, dim), "w2": (layers, dim, hidden),
        "w3": (layers, hidden, dim), "rms_final": (dim,), "rotations": (seq, width)}
    if not shared:
        shapes["output"] = (vocab, dim)
    expected = 28 + 4 * sum(math.prod(shape) for shape in shapes.values())
    if len(data) != expected:
        raise InputError(f"{path}: {len(data)} bytes, expected {expected} for this shape")
    model = types.SimpleNamespace(layers=layers, heads=heads, kv_heads=kv_heads, width=width, vocab=vocab, seq=seq)
    offset = 28
    for name, shape in shapes.items():
        values = np.frombuffer(data, "<f4", math.prod(shape), offset).reshape(shape).astype(np.float64)
        if name != "rotations" and not np.isfinite(values).all():
            raise InputError(f"{path}: {name} has a value that is not finite")
        setattr(model, name, values)
        offset += 4 * values.size
    if shared:
        model.output = model.embedding
    return model


def rms_norm(x, gain):
    return gain * x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-5)


def softmax(x):
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def rotate(x, positions):
    """Rotary embedding of x (samples, positions, heads, width): turns the pairs (2k, 2k + 1)."""
    width = x.shape[-1]
    angles = positions[:, None] / 10000.0 ** (np.arange(0, width, 2) / width)
    cosine, sine = np.cos(angles)[:, None, :], np.sin(angles)[:, None, :]
    even, odd = x[..., 0::2], x[..., 1::2]
    return np.stack([even * cosine - odd * sine, even * sine + odd * cosine], axis=-1).reshape(x.shape)


def forward(model, tokens, past=None):
    """Runs tokens (samples, count) that follow those of `past`. Returns logits (samples, count, vocab), the attention
    of every layer (samples, heads, count, all so far), and what the next call takes as `past`."""
    samples, count = tokens.shape
    begin = 0 if past is None else past[0][0].shape[1]
    positions = np.arange(begin, begin + count)
    x = model.embedding[tokens]
    later = np.arange(begin + count) > positions[:, None]
    attention, seen = [], []

    def split(values):
        return values.reshape(samples, count, -1, model.width)

    for layer in range(model.layers):
        y = rms_norm(x, model.rms_attention[layer])
        queries = rotate(split(y @ model.wq[layer].T), positions)
        keys, values = rotate(split(y @ model.wk[layer].T), positions), split(y @ model.wv[layer].T)
        if past is not None:
            keys = np.concatenate([past[layer][0], keys], axis=1)
            values = np.concatenate([past[layer][1], values], axis=1)
        seen.append((keys, values))
        # A head of keys and values serves several heads of queries.
        keys, values = (np.repeat(part, model.heads // model.kv_heads, axis=2) for part in (keys, values))
        scores = queries.transpose(0, 2, 1, 3) @ keys.transpose(0, 2, 3, 1) / math.sqrt(model.width)
        scores[..., later] = -np.inf
        attention.append(softmax(scores))
        mixed = (attention[-1] @ values.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3)
        x = x + mixed.reshape(x.shape) @ model.wo[layer].T
        y = rms_norm(x, model.rms_feed_forward[layer])
        gate = y @ model.w1[layer].T
        x = x + (gate * 0.5 * (1.0 + np.tanh(0.5 * gate)) * (y @ model.w3[layer].T)) @ model.w2[layer].T
    return rms_norm(x, model.rms_final) @ model.output.T, attention, seen


def sample_text(model, samples, length, seed):
    """Tokens (samples, length) that the model draws. A sample does not depend on how many there are."""
    draws = np.stack([np.random.default_rng([seed, sample]).random(length) for sample in range(samples)])
    tokens = np.full((samples, 1), BEGIN)
    past = None
    while tokens.shape[1] < length:
        logits, _, past = forward(model, tokens[:, -1:], past)
        sums = np.cumsum(softmax(logits[:, -1]), axis=1)
        drawn = (sums <= draws[:, tokens.shape[1] - 1, None] * sums[:, -1:]).sum(axis=1)
        tokens = np.column_stack([tokens, np.minimum(drawn, model.vocab - 1)])
    return tokens


def attention_of(model, tokens, dtype):
    """Attention (layers, samples, heads, n, n), and the loss of every sample in nats a token."""
    samples, length = tokens.shape
    attention = np.empty((model.layers, samples, model.heads, length, length), dtype)
    losses = []
    for sample in range(samples):
        logits, layers, _ = forward(model, tokens[sample:sample + 1])
        attention[:, sample] = np.concatenate(layers)
        chances = softmax(logits[0, :-1])[np.arange(length - 1), tokens[sample, 1:]]
        losses.append(-np.log(chances).mean() if length > 1 else math.nan)
    return attention, np.array(losses)


def save(path, name, array):
    """Writes one array; the file appears whole or not at all."""
    path = os.path.realpath(path)
    temporary = f"{path}.{os.getpid()}.part"
    try:
        with open(temporary, "xb") as file:
            if path.endswith(".npz"):
                np.savez(file, **{name: array})
            else:
                about = {"dtype": f"F{8 * array.itemsize}", "shape": array.shape, "data_offsets": [0, array.nbytes]}
                header = json.dumps({name: about}).encode()
                header += b" " * (-len(header) % 8)
                file.write(len(header).to_bytes(8, "little") + header)
                file.write(np.ascontiguousarray(array).data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)


def positive(text):
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", metavar="MODEL", help="a model file of llama2.c")
    parser.add_argument("attention", metavar="ATTENTION", help="where the attention goes: .safetensors or .npz")
    parser.add_argument("--out-proj", metavar="FILE", help="where the output projections go")
    parser.add_argument("--samples", type=positive, default=20, help="texts to draw (default: 20)")
    parser.add_argument("--tokens", type=positive, default=128, help="of every text (default: 128)")
    parser.add_argument("--seed", type=int, default=1, help="of the texts (default: 1)")
    parser.add_argument("--double", action="store_true", help="write float64 instead of float32")
    arguments = parser.parse_args()
    if arguments.seed < 0:
        parser.error("argument --seed: expected a number that is not negative")
    outputs = [path for path in (arguments.attention, arguments.out_proj) if path is not None]
    for path in outputs:
        if not path.endswith((".safetensors", ".npz")):
            parser.error(f"{path}: expected a name that ends in .safetensors or .npz")
        if not os.path.isdir(os.path.dirname(os.path.realpath(path))):
            parser.error(f"{path}: there is no such folder")
    if len({os.path.realpath(path) for path in [arguments.model, *outputs]}) != 1 + len(outputs):
        parser.error("MODEL, ATTENTION and --out-proj are the same file")
    return arguments


def main():
    arguments = parse_arguments()
    dtype = np.float64 if arguments.double else np.float32
    model = load_model(arguments.model)
    if arguments.tokens > model.seq:
        raise InputError(f"{arguments.model}: {arguments.tokens} tokens were asked for, it takes {model.seq}")
    tokens = sample_text(model, arguments.samples, arguments.tokens, arguments.seed)
    attention, losses = attention_of(model, tokens, dtype)
    if not np.isfinite(attention).all():
        raise InputError(f"{arguments.model}: its attention is not finite")
    save(arguments.attention, "attention", attention)
    if arguments.out_proj is not None:
        save(arguments.out_proj, "out_proj", model.wo.astype(dtype))
    print(f"{model.layers} layers of {model.heads} heads on {arguments.samples} texts of {arguments.tokens} tokens; "
          f"loss on them {losses.mean():.3f} nats a token, {math.log(model.vocab):.3f} by guessing")


if __name__ == "__main__":
    try:
        main()
    except InputError as problem:
        sys.exit(f"export_llama2c: {problem}")
