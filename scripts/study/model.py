"""A decoder-only Transformer that shows its parts: Llama's layout, that of Whisper's decoder, and that of the paper's models.

Hooks on other people's classes depend on their versions. This module gives the study what it needs directly: attention, the values
that heads move, the output of every head, and the rest of the network after a changed layer.
"""

import functools
from dataclasses import dataclass

import torch
from torch.nn import functional


@dataclass
class Shape:
    """What a file of weights does not say."""

    heads: int
    kv_heads: int
    eps: float = 1e-5
    rotary: str = "neighbours"  # pairs (2k, 2k + 1); "halves": pairs (k, k + width / 2); "none": learned positions
    base: float = 10000.0
    activation: str = "relu"  # of a feed-forward network without gates; "gelu"


@functools.lru_cache(256)
def rotations(width, base, begin, tokens, device, dtype):
    """Cosine and sine of the angles of each position and pair."""
    step = torch.arange(0, width, 2, dtype=torch.float64) / width
    angles = torch.arange(begin, begin + tokens, dtype=torch.float64)[:, None] / base**step
    return angles.cos().to(device=device, dtype=dtype), angles.sin().to(device=device, dtype=dtype)


def linear(x, weight, bias=None):
    """A product in the weights' precision: half precision gets sums of the residual stream in single precision."""
    return functional.linear(x.to(weight.dtype), weight, bias)


class Block:
    """One layer. Matrices are stored as rows = outputs; a missing bias is None."""

    def __init__(self, shape, weights, layer):
        self.shape = shape
        self.layer = layer
        for name in ("norm1", "norm2", "wq", "wk", "wv", "wo", "w1", "w2"):
            setattr(self, name, weights[name][layer])
        for name in ("bq", "bk", "bv", "bo", "b1", "b2", "w3", "norm1_bias", "norm2_bias"):
            setattr(self, name, weights[name][layer] if name in weights else None)
        self.width = self.wq.shape[0] // shape.heads

    def split(self, values):
        """(samples, tokens, heads * width) as (samples, heads, tokens, width)."""
        return values.unflatten(-1, (-1, self.width)).transpose(1, 2)

    def rotate(self, values, begin):
        """Turns each pair of a head's features by its position over base^(2k / width)."""
        if self.shape.rotary == "none":
            return values
        width, tokens = self.width, values.shape[2]
        cosine, sine = rotations(width, self.shape.base, begin, tokens, values.device, values.dtype)
        if self.shape.rotary == "halves":
            a, b = values[..., : width // 2], values[..., width // 2 :]
            return torch.cat([a * cosine - b * sine, b * cosine + a * sine], -1)
        a, b = values[..., 0::2], values[..., 1::2]
        return torch.stack([a * cosine - b * sine, b * cosine + a * sine], -1).flatten(-2)

    def shared(self, x, past=None):
        """Queries, keys and values (samples, heads, tokens, width), and the keys and values to go on with."""
        begin = 0 if past is None else past[0].shape[2]
        y = norm(x, self.norm1, self.shape.eps, self.norm1_bias)
        queries = self.rotate(self.split(linear(y, self.wq, self.bq)), begin)
        keys = self.rotate(self.split(linear(y, self.wk, self.bk)), begin)
        values = self.split(linear(y, self.wv, self.bv))
        if past is not None:
            keys, values = torch.cat([past[0], keys], 2), torch.cat([past[1], values], 2)
        group = self.shape.heads // self.shape.kv_heads
        return queries, keys.repeat_interleave(group, 1), values.repeat_interleave(group, 1), (keys, values)

    def attend(self, x, past=None):
        """Attention (samples, heads, queries, keys), moved values (samples, heads, keys, width), and the keys and values to go on with."""
        queries, keys, values, kept = self.shared(x, past)
        scores = queries @ keys.transpose(-1, -2) / self.width**0.5
        later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=x.device).triu(scores.shape[-1] - scores.shape[-2] + 1)
        attention = scores.masked_fill(later, -torch.inf).softmax(-1)
        return attention, values, kept

    def projection(self):
        """W_O as (heads, width, features): what a head's mixed values become in the residual stream."""
        return self.wo.T.unflatten(0, (-1, self.width))

    def outputs(self, attention, values):
        """The output of every head in the residual stream, without bias: (samples, heads, tokens, features)."""
        return (attention @ values) @ self.projection()

    def attention_output(self, attention, values):
        """The sum of the outputs of all heads, with bias: (samples, tokens, features)."""
        return functional.linear((attention @ values).transpose(1, 2).flatten(2), self.wo, self.bo)

    def feed_forward(self, x):
        """The second half of the layer, its residual included."""
        y = norm(x, self.norm2, self.shape.eps, self.norm2_bias)
        inner = linear(y, self.w1, self.b1)
        activation = functional.gelu if self.shape.activation == "gelu" else functional.relu
        inner = activation(inner) if self.w3 is None else functional.silu(inner) * linear(y, self.w3)
        return x + linear(inner, self.w2, self.b2)

    def forward(self, x, past=None):
        if past is None and x.is_cuda:  # without the matrix
            queries, keys, values, kept = self.shared(x)
            mixed = functional.scaled_dot_product_attention(queries, keys, values, is_causal=True)
            return self.feed_forward(x + linear(mixed.transpose(1, 2).flatten(2), self.wo, self.bo)), kept
        attention, values, kept = self.attend(x, past)
        return self.feed_forward(x + self.attention_output(attention, values)), kept


def norm(x, gain, eps, bias=None):
    """RMSNorm; with a bias, layer normalisation."""
    if bias is not None:
        return functional.layer_norm(x, gain.shape, gain.to(x.dtype), bias.to(x.dtype), eps)
    if x.is_cuda and hasattr(functional, "rms_norm"):  # one pass over the memory instead of six
        return functional.rms_norm(x, gain.shape, gain.to(x.dtype), eps)
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * gain


class Decoder:
    """A model of named weights. `begin` is the token that begins a text, or a list of them; None for the paper's tasks."""

    def __init__(self, shape, weights, begin=None, longest=None):
        self.shape = shape
        self.weights = weights
        self.begin = begin
        self.longest = longest
        self.blocks = [Block(shape, weights, layer) for layer in range(len(weights["wq"]))]

    @property
    def vocabulary(self):
        return self.weights["embedding"].shape[0]

    def to(self, device=None, dtype=None):
        """The model on another device, or of another element type."""
        moved = {name: value.to(device=device, dtype=dtype) for name, value in self.weights.items()}
        return Decoder(self.shape, moved, self.begin, self.longest)

    def embed(self, ids, begin=0):
        x = self.weights["embedding"][ids]
        x = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
        return x + self.weights["positions"][begin : begin + ids.shape[1]] if "positions" in self.weights else x

    def logits(self, x):
        if "norm" in self.weights:
            x = norm(x, self.weights["norm"], self.shape.eps, self.weights.get("norm_bias"))
        return linear(x, self.weights.get("output", self.weights["embedding"]), self.weights.get("output_bias"))

    def run(self, x, first):
        """The layers from `first` on: the state before the logits."""
        for block in self.blocks[first:]:
            x, _ = block.forward(x)
        return x

    def judge(self, x, targets):
        """Cross-entropy in nats of each position from the state before the logits, and whether the answer is right; 0 where the target is
        below 0."""
        logits = self.logits(x).to(x.dtype)
        counts = targets >= 0
        chosen = logits.gather(-1, targets.clamp(min=0)[..., None])[..., 0]
        return (logits.logsumexp(-1) - chosen) * counts, (logits.argmax(-1) == targets) & counts

    def losses(self, x, targets):
        """The losses alone."""
        return self.judge(x, targets)[0]

    def loss(self, ids, targets):
        """Losses (samples, tokens) of the unchanged model."""
        return self.losses(self.run(self.embed(ids), 0), targets)

    def sample(self, samples, tokens, seed, temperature=1.0):
        """Texts that the model writes after its first tokens, (samples, tokens). Temperature 0 takes the most probable token."""
        generator = torch.Generator().manual_seed(seed)
        ids = torch.tensor([self.begin] if isinstance(self.begin, int) else self.begin).repeat(samples, 1)
        past, done = [None] * len(self.blocks), 0
        while ids.shape[1] < tokens:
            x = self.embed(ids[:, done:].to(self.weights["embedding"].device), done)
            done = ids.shape[1]
            for k, block in enumerate(self.blocks):
                x, past[k] = block.forward(x, past[k])
            last = self.logits(x)[:, -1].double().cpu()
            drawn = torch.multinomial((last / temperature).softmax(-1), 1, generator=generator) if temperature else last.argmax(-1, keepdim=True)
            ids = torch.cat([ids, drawn], 1)
        return ids


def next_tokens(ids):
    """Targets of language modelling: the last position has none."""
    return torch.cat([ids[:, 1:], torch.full_like(ids[:, :1], -1)], 1)
