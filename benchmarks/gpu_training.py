#!/usr/bin/env python3
"""Time of a training step of the paper's model on a GPU: PyTorch, JAX and synergraph in one go.

    benchmarks/gpu_training.py build/cuda/benchmarks/train_step

All train the architecture of docs/training.md on the same sizes: batch 50, length 100, width 64, four
layers, dropout 0.1, Adam. One model has the GPU to itself, or many share it: PyTorch by a captured
graph and a stream for each, JAX by vmap over the models and scan over the steps. Times are
milliseconds a model and step, ratios those to synergraph. PyTorch and JAX need CUDA; where one of
them is missing its rows are empty, and a line says why. Takes five minutes.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

BATCH, LENGTH, VOCABULARY, WIDTH, HIDDEN, LAYERS, DROPOUT = 50, 100, 256, 64, 128, 4, 0.1


def torch_times(heads, models, steps, eager):
    import torch
    from compare_pytorch import Transformer

    torch.backends.cuda.matmul.allow_tf32 = True
    tokens = torch.randint(0, VOCABULARY, (BATCH, LENGTH), device="cuda")

    def prepare():
        model = Transformer(heads).cuda().train()
        optimiser = torch.optim.Adam(model.parameters(), lr=1e-3, capturable=True, fused=True)

        def step():
            optimiser.zero_grad(set_to_none=True)
            logits, _ = model(tokens)
            torch.nn.functional.cross_entropy(logits.reshape(-1, VOCABULARY),
                                              tokens.reshape(-1)).backward()
            optimiser.step()

        return step

    kept = []

    def captured(stream):
        step = prepare()
        with torch.cuda.stream(stream):
            for _ in range(3):
                step()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            step()
        kept.append((graph, step))  # what a graph works on is to stay
        return graph.replay

    if eager:
        step = prepare()
        work = [(step, torch.cuda.current_stream())]
    else:
        streams = [torch.cuda.Stream() for _ in range(min(models, 32))]
        work = [(captured(streams[k % len(streams)]), streams[k % len(streams)])
                for k in range(models)]

    def run(count):
        for _ in range(count):
            for step, stream in work:
                with torch.cuda.stream(stream):
                    step()
        torch.cuda.synchronize()

    return timed(run, steps, models)


def jax_times(heads, models, steps, precision):
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_default_prng_impl", "unsafe_rbg")
    jax.config.update("jax_default_matmul_precision", precision)
    depth = WIDTH // heads
    seen = jnp.tril(jnp.ones((LENGTH, LENGTH), bool))

    def linear(key, rows, columns):
        return {"w": jax.random.uniform(key, (columns, rows), minval=-1, maxval=1) / columns**0.5,
                "b": jnp.zeros(rows)}

    def initial(key):
        keys = iter(jax.random.split(key, 64))
        layer = lambda: {"norm1": jnp.ones(WIDTH), "norm2": jnp.ones(WIDTH),
                         "qkv": linear(next(keys), 3 * WIDTH, WIDTH),
                         "projection": linear(next(keys), WIDTH, WIDTH),
                         "mlp_in": linear(next(keys), HIDDEN, WIDTH),
                         "mlp_out": linear(next(keys), WIDTH, HIDDEN)}
        return {"tokens": jax.random.normal(next(keys), (VOCABULARY, WIDTH)),
                "positions": jax.random.normal(next(keys), (LENGTH, WIDTH)),
                "layers": [layer() for _ in range(LAYERS)],
                "output": linear(next(keys), VOCABULARY, WIDTH)}

    def apply(part, x):
        return x @ part["w"] + part["b"]

    def norm(gain, x):
        return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 2.0**-23) * gain

    def drop(key, x):
        kept = jax.random.bits(key, x.shape, jnp.uint8) >= round(256 * DROPOUT)
        return jnp.where(kept, x / (1 - DROPOUT), 0)

    def loss(parameters, tokens, key):
        keys = jax.random.split(key, 2 * LAYERS)
        x = parameters["tokens"][tokens] + parameters["positions"]
        for index, layer in enumerate(parameters["layers"]):
            qkv = apply(layer["qkv"], norm(layer["norm1"], x)).reshape(BATCH, LENGTH, 3, heads, depth)
            q, k, v = qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2]
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / depth**0.5
            weights = drop(keys[2 * index], jax.nn.softmax(jnp.where(seen, scores, -jnp.inf), -1))
            out = jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(BATCH, LENGTH, WIDTH)
            x = x + apply(layer["projection"], out)
            hidden = jax.nn.relu(apply(layer["mlp_in"], norm(layer["norm2"], x)))
            x = x + drop(keys[2 * index + 1], apply(layer["mlp_out"], hidden))
        logits = jax.nn.log_softmax(apply(parameters["output"], x))
        return -jnp.mean(jnp.take_along_axis(logits, tokens[..., None], -1))

    def step(state, key):
        parameters, first, second, count = state
        gradient = jax.grad(loss)(parameters, tokens, key)
        count = count + 1
        tree = jax.tree_util.tree_map
        first = tree(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
        second = tree(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradient)
        parameters = tree(lambda p, m, v: p - 1e-3 * (m / (1 - 0.9**count)) /
                          (jnp.sqrt(v / (1 - 0.999**count)) + 1e-8), parameters, first, second)
        return (parameters, first, second, count), None

    tokens = jax.random.randint(jax.random.key(1), (BATCH, LENGTH), 0, VOCABULARY)
    many = jax.jit(jax.vmap(lambda state, keys: jax.lax.scan(step, state, keys)[0]))
    parameters = jax.vmap(initial)(jax.random.split(jax.random.key(2), models))
    zeros = jax.tree_util.tree_map(jnp.zeros_like, parameters)
    state = [(parameters, zeros, zeros, jnp.zeros(models))]
    keys = jax.random.split(jax.random.key(3), (models, steps))

    def run(_):
        state[0] = jax.block_until_ready(many(state[0], keys))

    return timed(run, steps, models)


def timed(run, steps, models):
    """Milliseconds a model and step: the median of several calls of run."""
    run(steps)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        run(steps)
        times.append(1e3 * (time.perf_counter() - start) / (steps * models))
    return statistics.median(times)


def synergraph_times(binary, heads, models, precision):
    command = [binary, "--json", "--device", "cuda", "--precision", precision, "--heads", str(heads),
               "--models", str(models), "--steps", "5"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit((done.stderr.strip().splitlines() or [f"{binary} failed"])[-1])
    return json.loads(done.stdout)["ms"] / models


PROGRAMS = {  # name: (worker, many models too)
    "PyTorch, eager": ("torch_eager", False),
    "PyTorch, CUDA graphs, TF32": ("torch", True),
    "JAX, vmap and scan, TF32": ("jax_tf32", True),
    "JAX, vmap and scan, float32": ("jax_float32", True),
    "synergraph, TF32": ("tf32", True),
    "synergraph, float32": ("float32", True),
}


def work(worker, binary, heads, models):
    steps = 20 if models == 1 else 5
    if worker.startswith("torch"):
        return torch_times(heads, models, steps, worker == "torch_eager")
    if worker.startswith("jax"):
        return jax_times(heads, models, steps, {"jax_tf32": "tensorfloat32"}.get(worker, "highest"))
    return synergraph_times(binary, heads, models, worker)


def ask(worker, options, models):
    """The same for all numbers of heads, in a process of its own, so that nobody keeps memory from the
    next. None for what cannot be had."""
    command = [sys.executable, __file__, options.train_step, "--worker", worker, "--models", str(models),
               "--heads", *map(str, options.heads)]
    environment = dict(os.environ, XLA_PYTHON_CLIENT_PREALLOCATE="false", TF_CPP_MIN_LOG_LEVEL="3")
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{worker}: {(done.stderr.strip().splitlines() or ['failed'])[-1]}", file=sys.stderr)
    values = [float(line) for line in done.stdout.split()]
    return values + [None] * (len(options.heads) - len(values))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("train_step", help="the benchmark of that name, built with SYNERGRAPH_CUDA")
    parser.add_argument("--heads", type=int, nargs="+", default=[1, 4, 8, 16])
    parser.add_argument("--models", type=int, default=32, help="that share the GPU, at least 2")
    parser.add_argument("--programs", nargs="+", default=list(PROGRAMS), choices=PROGRAMS, metavar="PROGRAM",
                        help="of: " + "; ".join(PROGRAMS))
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        for heads in options.heads:
            print(work(options.worker, options.train_step, heads, options.models), flush=True)
        return
    if options.models < 2:
        parser.error("--models: at least 2 share a GPU")
    if not os.access(options.train_step, os.X_OK):
        parser.error(f"{options.train_step}: no such program")
    measured = False
    print(f"{'ms a model-step, ratio':40}" + "".join(f"{h:>14} heads" for h in options.heads))
    for models in (1, options.models):
        ours = [None] * len(options.heads)
        for name in sorted(options.programs, key=lambda name: name != "synergraph, TF32"):
            worker, many = PROGRAMS[name]
            if models > 1 and not many:
                continue
            values = ask(worker, options, models)
            measured = measured or any(values)
            if worker == "tf32":
                ours = values
            cells = [f"{value:11.3f} {f'({value / own:.1f}x)' if own else '':8}" if value else f"{'-':>20}"
                     for value, own in zip(values, ours)]
            print(f"{models:3} models  {name:29}{''.join(cells)}", flush=True)
    if not measured:
        sys.exit("gpu_training: nothing could be measured")


if __name__ == "__main__":
    main()
