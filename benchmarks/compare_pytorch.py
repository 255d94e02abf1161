#!/usr/bin/env python3
"""Time of one training step of the paper's model: PyTorch and synergraph side by side, on the CPU.

    taskset -c 0,1 benchmarks/compare_pytorch.py build/release/benchmarks/train_step

Both train the same architecture (docs/training.md) on the same sizes: batch 50, length 100, width 64,
four layers, dropout 0.1, Adam. Attention is written as separate operations, because a model whose
attention is to be looked at has to return it. Both use the CPUs this process may run on; they are
timed in turns, several rounds each, so that both meet the same machine.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

try:
    import torch
    from torch import nn
except ImportError:
    sys.exit("compare_pytorch.py needs PyTorch: pip install torch")


class Attention(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads = heads
        self.head_width = width // heads
        self.W_q = nn.Linear(width, width)
        self.W_k = nn.Linear(width, width)
        self.W_v = nn.Linear(width, width)
        self.out_proj = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask):
        batch, length, width = x.shape

        def split(y):
            return y.view(batch, length, self.heads, self.head_width).transpose(1, 2)

        q, k, v = split(self.W_q(x)), split(self.W_k(x)), split(self.W_v(x))
        scores = q @ k.transpose(-2, -1) / self.head_width**0.5
        attention = torch.softmax(scores.masked_fill(mask, float("-inf")), dim=-1)
        out = (self.dropout(attention) @ v).transpose(1, 2).reshape(batch, length, width)
        return self.out_proj(out), attention


class RMSNorm(nn.Module):
    """torch.nn.RMSNorm where there is one; its formula elsewhere."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        if hasattr(nn.functional, "rms_norm"):
            return nn.functional.rms_norm(x, x.shape[-1:], self.weight)
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 2.0**-23) * self.weight


class Layer(nn.Module):
    def __init__(self, width, hidden, heads, dropout):
        super().__init__()
        self.ln1 = RMSNorm(width)
        self.ln2 = RMSNorm(width)
        self.attn = Attention(width, heads, dropout)
        self.mlp = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, width),
                                 nn.Dropout(dropout))

    def forward(self, x, mask):
        out, attention = self.attn(self.ln1(x), mask)
        x = x + out
        return x + self.mlp(self.ln2(x)), attention


class Transformer(nn.Module):
    def __init__(self, heads, vocabulary=256, length=100, width=64, hidden=128, layers=4, dropout=0.1):
        super().__init__()
        self.token_emb = nn.Embedding(vocabulary, width)
        self.pos_emb = nn.Embedding(length, width)
        self.layers = nn.ModuleList(Layer(width, hidden, heads, dropout) for _ in range(layers))
        self.out_proj = nn.Linear(width, vocabulary)
        self.register_buffer("positions", torch.arange(length), persistent=False)
        self.register_buffer("mask", torch.ones(length, length, dtype=torch.bool).triu(1),
                             persistent=False)

    def forward(self, tokens):
        x = self.token_emb(tokens) + self.pos_emb(self.positions)
        attentions = []
        for layer in self.layers:
            x, attention = layer(x, self.mask)
            attentions.append(attention)
        return self.out_proj(x), attentions


class TorchStep:
    """PyTorch's training step, ready to be timed."""

    def __init__(self, heads, batch, compiled):
        torch.manual_seed(1)
        self.model = Transformer(heads)
        assert sum(p.numel() for p in self.model.parameters()) == 172800
        self.model.train()
        self.optimiser = torch.optim.Adam(self.model.parameters(), lr=1e-3)
        self.tokens = torch.randint(0, 256, (batch, 100))
        self.forward = torch.compile(self.model) if compiled else self.model
        for _ in range(5):
            self.step()

    def step(self):
        self.optimiser.zero_grad()
        logits, _ = self.forward(self.tokens)
        loss = nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]),
                                           self.tokens.reshape(-1))
        loss.backward()
        self.optimiser.step()
        return loss.item()

    def times(self, steps):
        result = []
        for _ in range(steps):
            start = time.perf_counter()
            self.step()
            result.append(1e3 * (time.perf_counter() - start))
        return result


def synergraph_time(binary, heads, batch, threads, steps):
    command = [binary, "--json", "--heads", str(heads), "--batch", str(batch), "--threads", str(threads),
               "--steps", str(steps)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(output)["ms"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("train_step", help="path of the benchmark program, e.g. "
                        "build/release/benchmarks/train_step")
    parser.add_argument("--heads", type=int, nargs="+", default=[1, 4, 8, 16])
    parser.add_argument("--batch", type=int, default=50)
    parser.add_argument("--steps", type=int, default=60, help="timed steps a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--compile", action="store_true", help="use torch.compile as well")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if not os.access(arguments.train_step, os.X_OK):
        parser.error(f"{arguments.train_step} is not a program: build it with "
                     "cmake --build --preset release --target train_step")

    threads = len(os.sched_getaffinity(0))
    torch.set_num_threads(threads)
    rows = []
    for heads in arguments.heads:
        step = TorchStep(heads, arguments.batch, arguments.compile)
        theirs, ours = [], []
        for _ in range(arguments.rounds):
            theirs += step.times(arguments.steps)
            ours.append(synergraph_time(arguments.train_step, heads, arguments.batch, threads,
                                        arguments.steps))
        rows.append({"heads": heads, "pytorch_ms": statistics.median(theirs),
                     "synergraph_ms": statistics.median(ours)})
        rows[-1]["ratio"] = rows[-1]["pytorch_ms"] / rows[-1]["synergraph_ms"]

    if arguments.json:
        print(json.dumps({"pytorch": torch.__version__, "threads": threads, "rows": rows}))
        return
    print(f"PyTorch {torch.__version__}{' (compiled)' if arguments.compile else ''}, {threads} CPUs; "
          "median ms of a step")
    print(f"{'heads':>5}  {'PyTorch':>9}  {'synergraph':>10}  {'ratio':>6}")
    for row in rows:
        print(f"{row['heads']:5}  {row['pytorch_ms']:9.1f}  {row['synergraph_ms']:10.1f}  "
              f"{row['ratio']:5.1f}x")


if __name__ == "__main__":
    main()
