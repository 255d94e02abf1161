"""What watching a Llama model costs on a GPU: memory and seconds, layer by layer.

    python3 benchmarks/watch_llama.py [--layers 4] [--tokens 8192] [--heads 32] [--device cuda]

The model has the shape of Llama 3 8B (32 heads, 8 of keys, width 128 each), random weights, bfloat16. transformers must be installed.
"""

import argparse
import time

import torch
import transformers

import synergraph as sg

parser = argparse.ArgumentParser()
parser.add_argument("--layers", type=int, default=4)
parser.add_argument("--tokens", type=int, default=8192)
parser.add_argument("--heads", type=int, default=32)
parser.add_argument("--device", default="cuda")
arguments = parser.parse_args()

torch.manual_seed(0)
config = transformers.LlamaConfig(
    vocab_size=128256, hidden_size=128 * arguments.heads, intermediate_size=448 * arguments.heads, num_hidden_layers=arguments.layers,
    num_attention_heads=arguments.heads, num_key_value_heads=arguments.heads // 4, max_position_embeddings=arguments.tokens)
with torch.device(arguments.device):
    model = transformers.AutoModelForCausalLM.from_config(config).to(torch.bfloat16).eval()
tokens = torch.randint(0, config.vocab_size, (1, arguments.tokens), device=arguments.device)
cuda = arguments.device.startswith("cuda")


def timed(function):
    """What it returns, its seconds, and the GiB that it took at most on the GPU beside what was there."""
    if cuda:
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated() if cuda else 0
    begin = time.time()
    value = function()
    if cuda:
        torch.cuda.synchronize()
    return value, time.time() - begin, ((torch.cuda.max_memory_allocated() if cuda else 0) - before) / 2**30


print(f"PyTorch {torch.__version__}, transformers {transformers.__version__}, {model.config._attn_implementation} attention, "
      f"{arguments.layers} layers of {arguments.heads} heads, {arguments.tokens} tokens")
with torch.no_grad():
    states = model.model  # without logits, which take more memory than the layers
    timed(lambda: states(tokens))
    expected, plain_seconds, plain_memory = timed(lambda: states(tokens, use_cache=False).last_hidden_state)
    for layer in range(arguments.layers):
        seen = sg.watch(model, layers=layer)
        with seen:
            output, seconds, memory = timed(lambda: states(tokens, use_cache=False).last_hidden_state)
        assert torch.equal(output, expected)
        del output
        result, measuring, measured = timed(lambda: seen.result(weights="learned"))
        print(f"layer {layer}: pass {plain_seconds:.3f} s and {plain_memory:.2f} GiB, watched {seconds:.3f} s and {memory:.2f} GiB; "
              f"metrics {measuring:.1f} s and {measured:.3f} GiB on the GPU; mixing time {result.mixing_time[0, 0]:.0f}, "
              f"fidelity {result.fidelity[0, 0]:.3g}", flush=True)
    seen = sg.watch(model)
    with seen:
        _, seconds, memory = timed(lambda: states(tokens, use_cache=False).last_hidden_state)
    print(f"all layers watched at once: pass {seconds:.3f} s and {memory:.2f} GiB, {memory - plain_memory:+.3f} GiB beside the unwatched one's")
