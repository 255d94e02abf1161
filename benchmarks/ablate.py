"""What sg.ablate costs: one layer of a model of Llama 3 8B's shape, beside the model's forward pass.

    python3 benchmarks/ablate.py [--layers 32] [--layer 16] [--heads 32] [--tokens 1024] [--samples 1] [--orders 256] [--limit 240] [--device cuda]

The model has 32 heads, 8 of keys, width 128 each, random weights and bfloat16 (float32 on the CPU). PyTorch alone is needed. Without a
GPU the model is small (--layers 4 --heads 12 --width 16 --tokens 64) unless the options say otherwise.

What it must take: orders come in balanced sets of 64 for 32 heads, four sets at least. An order has 31 sets of 1 to 31 heads, and
finding the best subsets takes another 1,024. So 256 orders are 8,960 sets of heads. Each runs the layers from the ablated one on, and the output
matrix: for the middle layer 4.0 billion multiply-adds a token, 7.4e16 operations in all with 1,024 tokens. After --limit seconds the
benchmark stops, and says what all sets would take.
"""

import argparse
import time

import torch
from torch import nn

import synergraph as sg

cuda = torch.cuda.is_available()
parser = argparse.ArgumentParser()
parser.add_argument("--layers", type=int, default=32 if cuda else 4)
parser.add_argument("--layer", type=int, help="the layer that is ablated (the middle one)")
parser.add_argument("--heads", type=int, default=32 if cuda else 12)
parser.add_argument("--width", type=int, default=128 if cuda else 16, help="of a head")
parser.add_argument("--tokens", type=int, default=1024 if cuda else 64)
parser.add_argument("--samples", type=int, default=1)
parser.add_argument("--vocabulary", type=int, default=128256 if cuda else 1000)
parser.add_argument("--orders", type=int, default=256)
parser.add_argument("--batch", type=int, help="sets of heads in a pass")
parser.add_argument("--limit", type=float, default=240, help="seconds that the orders may take")
parser.add_argument("--device", default="cuda" if cuda else "cpu")
arguments = parser.parse_args()
size, key_heads = arguments.heads * arguments.width, max(1, arguments.heads // 4)
begun = time.time()


def say(text):
    """A line for each stage, at once."""
    print(f"{time.time() - begun:6.1f} s: {text}", flush=True)


def linear(inputs, outputs):
    """Made where it stays: eight billion random weights take minutes on a CPU."""
    return nn.Linear(inputs, outputs, bias=False, device=arguments.device)


class RMSNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size, device=arguments.device))

    def forward(self, states):
        return self.weight * (states.float() * states.float().pow(2).mean(-1, keepdim=True).add(1e-5).rsqrt()).to(states.dtype)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.num_heads = arguments.heads
        self.q_proj, self.o_proj = linear(size, size), linear(size, size)
        self.k_proj, self.v_proj = (linear(size, key_heads * arguments.width) for _ in range(2))

    def forward(self, states):
        samples, tokens, _ = states.shape
        query, key, value = (projection(states).view(samples, tokens, -1, arguments.width).transpose(1, 2)
                             for projection in (self.q_proj, self.k_proj, self.v_proj))
        key, value = (part.repeat_interleave(arguments.heads // key_heads, 1) for part in (key, value))
        if hasattr(nn.functional, "scaled_dot_product_attention"):
            found = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        else:
            later = torch.ones(tokens, tokens, dtype=torch.bool, device=states.device).triu(1)
            found = torch.softmax((query @ key.transpose(2, 3) / arguments.width ** 0.5).masked_fill(later, -1e30), -1) @ value
        return self.o_proj(found.transpose(1, 2).reshape(samples, tokens, size))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.self_attn, self.before, self.between = Attention(), RMSNorm(), RMSNorm()
        self.gate_proj, self.up_proj = (linear(size, 7 * size // 2) for _ in range(2))
        self.down_proj = linear(7 * size // 2, size)

    def forward(self, states):
        states = states + self.self_attn(self.before(states))
        inner = self.between(states)
        return states + self.down_proj(nn.functional.silu(self.gate_proj(inner)) * self.up_proj(inner))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.norm = nn.Embedding(arguments.vocabulary, size, device=arguments.device), RMSNorm()
        self.layers = nn.ModuleList(Block() for _ in range(arguments.layers))
        self.head = linear(size, arguments.vocabulary)

    def forward(self, input_ids):
        states = self.embedding(input_ids)
        for layer in self.layers:
            states = layer(states)
        return self.head(self.norm(states))


def seconds(function):
    """What it returns, and how long it takes."""
    if arguments.device != "cpu":
        torch.cuda.synchronize()
    begin = time.time()
    value = function()
    if arguments.device != "cpu":
        torch.cuda.synchronize()
    return value, time.time() - begin


torch.manual_seed(0)
torch.set_default_dtype(torch.float32 if arguments.device == "cpu" else torch.bfloat16)
model = Model().eval()
tokens = torch.randint(arguments.vocabulary, (arguments.samples, arguments.tokens), device=arguments.device)
layer = arguments.layers // 2 if arguments.layer is None else arguments.layer
with torch.no_grad():
    model(tokens)
    say(f"PyTorch {torch.__version__}, {arguments.device}: {arguments.layers} layers of {arguments.heads} heads, "
        f"{sum(one.numel() for one in model.parameters()) / 1e9:.2f} billion parameters, {arguments.samples} x {arguments.tokens} tokens")
    passes = [seconds(lambda: model(tokens))[1] for _ in range(5)]
plain = sorted(passes)[2]
say(f"forward pass {plain:.4f} s")


class Enough(Exception):
    """The limit is over."""


heard = []
limit = time.time() + arguments.limit


def hear(done, total):
    heard.append((time.time(), done, total))
    if time.time() > limit:
        raise Enough


start = time.time()
try:
    result = sg.ablate(model, tokens, layers=layer, orders=arguments.orders, precision=1e-9, batch=arguments.batch, progress=hear)
except Enough:
    result = None
(_, sets, total), taken = heard[-1], time.time() - start
# The first passes choose how to run: the rate is that of the second half.
middle = next((one for one in heard if one[1] >= sets / 2), heard[0])
each = (heard[-1][0] - middle[0]) / max(1, sets - middle[1]) if sets > middle[1] else taken / sets
say(f"layer {layer}: {sets} of {total} sets of heads in {taken:.1f} s, {1e3 * each:.2f} ms a set or {each / plain:.2f} forward passes"
    + ("" if result else f"; all sets would take {taken + (total - sets) * each:.0f} s"))
work = sum(one.numel() for block in model.layers[layer:] for one in block.parameters()) + model.head.weight.numel()
say(f"{2e-12 * work * arguments.samples * arguments.tokens / each:.1f} TFLOP/s of products with weights in the layers from {layer} on")
if result:
    orders = int(result["permutations"][0])
    say(f"{f'{orders} orders' if orders else 'all sets'}: largest Shapley value {result.loss['shapley'].max():.4g}, largest standard error "
        f"{result.loss['shapley_error'].max():.2g}, all heads {result.loss['all'][0]:.4g}")
