"""What watching one layer costs: memory and seconds beside the layer's own pass, on the CPU.

    python3 benchmarks/watch_layer.py [--heads 32] [--tokens 4096] [--width 128] [--scale 1.0]

The layer computes its attention in blocks of rows, as fast attention does, so that its pass needs little memory. `--scale` makes
queries longer: attention is sharper, walks are slower, and their mixing times need more memory and time.
"""

import argparse
import time

import torch
from torch import nn

import synergraph as sg


class Attention(nn.Module):
    def __init__(self, heads, width, scale, watch):
        super().__init__()
        self.heads, self.width, self.scale, self.watch = heads, width, scale, watch
        self.qkv = nn.Linear(heads * width, 3 * heads * width, bias=False)
        self.out_proj = nn.Linear(heads * width, heads * width, bias=False)

    def forward(self, states):
        tokens = states.shape[1]
        query, key, value = (part.view(-1, tokens, self.heads, self.width).transpose(1, 2) for part in self.qkv(states).chunk(3, -1))
        query = query * self.scale
        if self.watch is not None:
            self.watch.record("layer", query, key, projection=self.out_proj.weight)
        rows = 256
        later = torch.ones(tokens, tokens, dtype=torch.bool).triu(1)
        parts = []
        for first in range(0, tokens, rows):
            scores = query[:, :, first:first + rows] @ key.transpose(2, 3) * self.width ** -0.5
            parts.append(torch.softmax(scores.masked_fill(later[first:first + rows], -float("inf")), -1) @ value)
        return self.out_proj(torch.cat(parts, 2).transpose(1, 2).reshape(states.shape))


def memory(what):
    """MiB of this process: VmRSS, what it has; VmHWM, what it had at most."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(what)) / 1024


parser = argparse.ArgumentParser()
parser.add_argument("--heads", type=int, default=32)
parser.add_argument("--tokens", type=int, default=4096)
parser.add_argument("--width", type=int, default=128)
parser.add_argument("--scale", type=float, default=1.0)
arguments = parser.parse_args()
torch.manual_seed(0)
with torch.no_grad():
    states = torch.randn(1, arguments.tokens, arguments.heads * arguments.width)
    layer = Attention(arguments.heads, arguments.width, arguments.scale, None)
    begin = time.time()
    expected = layer(states)
    passed = time.time() - begin
    before = memory("VmRSS")
    with sg.watch() as layer.watch:
        begin = time.time()
        assert torch.equal(layer(states), expected)
        watched = time.time() - begin
    with open("/proc/self/clear_refs", "w") as peak:
        peak.write("5")  # begin anew
    begin = time.time()
    result = layer.watch.result(weights="learned")
    measured = time.time() - begin
print(result)
print(f"{arguments.heads} heads, {arguments.tokens} tokens: the pass {passed:.1f} s, watched {watched:.1f} s, measuring {measured:.1f} s "
      f"with {torch.get_num_threads()} threads of PyTorch; {memory('VmHWM') - before:.0f} MiB at most beside the layer and its input")
