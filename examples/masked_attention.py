"""Do good graphs make good models? Trains small Transformers whose attention sees the edges of one graph alone.

    python3 examples/masked_attention.py --device cuda --out masked.csv     # ten families, three seeds, two tasks
    python3 examples/masked_attention.py --steps 200 --train 16,32 --test 16,32,64 --families power,fs:log --seeds 1

Tasks: "maximum" asks for the category of the token with the largest value, "second-maximum" for that of the second largest, "parity" for
the parity of all bits. The last token answers. One block (attention, then a two-layer GELU MLP, each after a normalisation) is applied
ceil(log2 n) times with the same parameters. There are no positions: the graph alone tells tokens apart.

All models of a task are trained side by side, as a fleet: their parameters are stacked. Models of one seed begin with the same parameters and see
the same sequences, so families differ by their masks alone.

The table has the accuracy of each family by length, beside the numbers of its graphs (docs/graphs.md). Below it stand rank correlations
between these numbers and the accuracy over the families. --out has a row for each model and length; a second run with the same file trains the models
that are missing there. A run with --report draws the table of a file and trains nothing.
"""

import argparse
import csv
import functools
import math
import os
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import synergraph as sg

CATEGORIES = 10
FAMILIES = ("complete,indegree:4log,expander:4log,poisson:0.2:4log,fs:4log,fs-sparse:log,fs-original,longformer:log:log,bigbird:log:log:log,power")
NUMBERS = {"averaged_mixing_time": "T_avg", "normalised_fidelity": "F", "backward_hitting_time": "h_bwd", "edges": "edges"}
FIELDS = ["task", "family", "seed", "length", "steps", "trained", "correct", "samples", *NUMBERS]


def sequences(task, count, length, device):
    """Tokens (count, length, features), and the class that the last token shall answer with."""
    if task == "parity":
        bits = torch.randint(2, (count, length), device=device)
        return functional.one_hot(bits, 2).float(), bits.sum(1) % 2
    values = torch.rand(count, length, device=device)
    categories = torch.randint(CATEGORIES, (count, length), device=device)
    rank = {"maximum": 1, "second-maximum": 2}[task]
    chosen = values.topk(rank, dim=1).indices[:, -1:]
    return torch.cat([values[..., None], functional.one_hot(categories, CATEGORIES).float()], dim=2), categories.gather(1, chosen)[:, 0]


def attend(queries, keys, values, mask):
    """Softmax over the edges of the graph of each model."""
    if hasattr(functional, "scaled_dot_product_attention"):
        return functional.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
    scores = queries @ keys.transpose(-1, -2) / math.sqrt(queries.shape[-1])
    return scores.masked_fill(~mask, -math.inf).softmax(-1) @ values


class Fleet(nn.Module):
    """Models of one shape: every parameter has a first dimension for the model."""

    def __init__(self, seeds, features, classes, width, heads):
        super().__init__()
        self.heads, self.width = heads, width
        layers = {"embed": (features, width), "mix": (width, 3 * width), "output": (width, width),
                  "expand": (width, 2 * width), "contract": (2 * width, width), "answer": (width, classes)}
        self.matrices, self.offsets = nn.ParameterDict(), nn.ParameterDict()
        made = {seed: torch.Generator().manual_seed(seed) for seed in sorted(set(seeds))}
        for name, (inner, outer) in layers.items():
            drawn = {seed: (torch.rand(inner + 1, outer, generator=generator) * 2 - 1) / math.sqrt(inner) for seed, generator in made.items()}
            both = torch.stack([drawn[seed] for seed in seeds])
            self.matrices[name] = nn.Parameter(both[:, :inner].clone())
            self.offsets[name] = nn.Parameter(both[:, inner:].clone())

    def layer(self, name, signal):
        return torch.baddbmm(self.offsets[name], signal, self.matrices[name])

    def forward(self, tokens, mask):
        """Scores (model, sequence, class) from tokens (model, sequence, token, feature) and masks (model, query, key)."""
        models, count, length, _ = tokens.shape
        signal = self.layer("embed", tokens.flatten(1, 2))
        for _ in range(max(1, math.ceil(math.log2(length)))):
            parts = self.layer("mix", functional.layer_norm(signal, (self.width,)))
            parts = parts.view(models, count, length, 3, self.heads, self.width // self.heads)
            heard = attend(*parts.permute(3, 0, 1, 4, 2, 5).flatten(2, 3), mask[:, None])
            heard = heard.view(models, count, self.heads, length, -1).transpose(2, 3).reshape(models, count * length, self.width)
            signal = signal + self.layer("output", heard)
            hidden = functional.gelu(self.layer("expand", functional.layer_norm(signal, (self.width,))))
            signal = signal + self.layer("contract", hidden)
        last = signal.view(models, count, length, self.width)[:, :, -1]
        return self.layer("answer", functional.layer_norm(last, (self.width,)))


@functools.lru_cache(maxsize=None)
def graph_of(family, length, seed):
    if family == "complete":
        return sg.SparseGraph.from_mask(np.tril(np.ones((length, length), dtype=bool)))
    return sg.family(family, length, seed)


@functools.lru_cache(maxsize=None)
def numbers_of(family, length, seed):
    return graph_of(family, length, seed).measure()


def masks_of(fleet, length, device):
    """The masks (model, query, key) of a fleet, a list of families and seeds."""
    return torch.stack([graph_of(family, length, seed).mask(torch=True) for family, seed in fleet]).to(device)


def draw(task, fleet, count, length, device):
    """The same sequences for all models of one seed: tokens (model, sequence, token, feature) and answers (model, sequence)."""
    seeds = sorted({seed for _, seed in fleet})
    drawn = [sequences(task, count, length, device) for _ in seeds]
    place = [seeds.index(seed) for _, seed in fleet]
    return torch.stack([tokens for tokens, _ in drawn])[place], torch.stack([answers for _, answers in drawn])[place]


def trained(task, fleet, options):
    """Trains the models of a fleet side by side. Returns them and the number of steps."""
    torch.manual_seed(fleet[0][1])
    features, classes = (2, 2) if task == "parity" else (1 + CATEGORIES, CATEGORIES)
    models = Fleet([seed for _, seed in fleet], features, classes, options.width, options.heads).to(options.device)
    optimizer = torch.optim.AdamW(models.parameters(), lr=options.rate)
    masks = {length: masks_of(fleet, length, options.device) for length in options.train}
    # As many tokens of each length would make long sequences rare, as many sequences make them take most of the time.
    chances = 1 / np.sqrt(options.train)
    lengths = np.random.default_rng(fleet[0][1]).choice(options.train, size=options.steps, p=chances / chances.sum())
    start = time.monotonic()
    for step, length in enumerate(lengths.tolist()):
        if step % 50 == 0 and options.device.startswith("cuda"):
            torch.cuda.synchronize()
        if time.monotonic() - start > options.seconds:
            return models, step
        tokens, answers = draw(task, fleet, options.batch, length, options.device)
        scores = models(tokens, masks[length])
        # The mean over sequences and the sum over models: every model has the gradient of its own loss.
        loss = functional.cross_entropy(scores.flatten(0, 1), answers.flatten(), reduction="sum") / options.batch
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if (step + 1) % 500 == 0:
            print(f"  {task}, step {step + 1}: mean loss {loss.item() / len(fleet):.3f} ({time.monotonic() - start:.0f} s)", flush=True)
    return models, options.steps


@torch.no_grad()
def correct_answers(models, task, fleet, length, options):
    torch.manual_seed(10**6 + length)  # not the sequences of training
    mask = masks_of(fleet, length, options.device)
    correct, chunk = torch.zeros(len(fleet), dtype=torch.long, device=options.device), max(1, 2**22 // (length * len(fleet)))
    for begin in range(0, options.samples, chunk):
        tokens, answers = draw(task, fleet, min(chunk, options.samples - begin), length, options.device)
        correct += (models(tokens, mask).argmax(2) == answers).sum(1)
    return correct.tolist()


def rows_of_fleet(task, fleet, options):
    """Trains a fleet and tests it: a row for each model and length."""
    models, steps = trained(task, fleet, options)
    found = {length: correct_answers(models, task, fleet, length, options) for length in options.test}
    for k, (family, seed) in enumerate(fleet):
        for length in options.test:
            numbers = numbers_of(family, length, seed)
            yield {"task": task, "family": family, "seed": seed, "length": length, "steps": options.steps, "trained": steps,
                   "correct": found[length][k], "samples": options.samples, **{key: numbers[key] for key in NUMBERS}}


def key_of(row):
    return row["task"], row["family"], int(row["seed"])


def stored_rows(path):
    if not path or not os.path.exists(path):
        return []
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    counts = ("seed", "length", "steps", "trained", "correct", "samples")
    def whole(row):
        return set(row) == set(FIELDS) and all(row.values()) and all(row[key].isdigit() for key in counts)
    if not all(map(whole, rows)):
        raise SystemExit(f"{path}: not a table of this script; name another file with --out")
    return rows


def ranks(values):
    """Ranks from 0; equal values share the mean of their ranks."""
    values = np.asarray(values, dtype=float)
    return np.array([(np.sum(values < value) + np.sum(values <= value) - 1) / 2 for value in values])


def rank_correlation(first, second):
    """Spearman's rank correlation; NaN where one of the two does not vary."""
    a, b = (one - one.mean() for one in (ranks(first), ranks(second)))
    size = math.sqrt((a @ a) * (b @ b))
    return a @ b / size if size > 0 else math.nan


def interval(correlation, count):
    """95 % interval of a rank correlation over so many families, by Bonett and Wright (2000); it is wide for few families."""
    if count < 4 or not abs(correlation) < 1:
        return math.nan, math.nan
    middle, half = math.atanh(correlation), 1.96 * math.sqrt((1 + correlation**2 / 2) / (count - 3))
    return math.tanh(middle - half), math.tanh(middle + half)


def report(rows, options):
    for task in options.tasks:
        steps = sorted({int(row["trained"]) for row in rows if row["task"] == task})
        if not steps:
            continue
        print(f"\n{task}: accuracy by length, {' or '.join(map(str, steps))} steps, mean over seeds; numbers of the graphs at length {options.test[-1]}")
        print("".join(["family".ljust(24), *(f"{length:>7}" for length in options.test), *(f"{name:>10}" for name in NUMBERS.values())]))
        table = []
        for family in options.families:
            def mean(length, number):
                found = [number(row) for row in rows if (row["task"], row["family"], int(row["length"])) == (task, family, length)]
                return np.mean(found) if found else math.nan
            accuracy = [mean(length, lambda row: int(row["correct"]) / int(row["samples"])) for length in options.test]
            numbers = {(key, length): mean(length, lambda row: float(row[key])) for key in NUMBERS for length in options.test}
            if math.isnan(accuracy[0]):
                continue
            table.append((accuracy, numbers))
            print("".join([family.ljust(24), *(f"{value:7.3f}" for value in accuracy),
                           *(f"{numbers[key, options.test[-1]]:10.3g}" for key in NUMBERS)]))
        for key, name in NUMBERS.items():
            values = [rank_correlation([accuracy[k] for accuracy, _ in table], [numbers[key, length] for _, numbers in table])
                      for k, length in enumerate(options.test)]
            ends = [interval(value, len(table)) for value in values]
            print("".join([f"rank correlation, {name}".ljust(24), *(f"{value:7.2f}" for value in values)]))
            print("".join(["  95 %, from".ljust(24), *(f"{low:7.2f}" for low, _ in ends)]))
            print("".join(["  95 %, to".ljust(24), *(f"{high:7.2f}" for _, high in ends)]))


def draw_figure(path, rows, options):
    """Accuracy by length for each family, with the least and the largest seed. Needs Matplotlib."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    tasks = [task for task in options.tasks if any(row["task"] == task for row in rows)]
    figure, panels = pyplot.subplots(1, len(tasks), figsize=(1.5 + 4.2 * len(tasks), 3.6), sharey=True, squeeze=False)
    for panel, task in zip(panels[0], tasks):
        for k, family in enumerate(options.families):
            values = [[int(row["correct"]) / int(row["samples"]) for row in rows if (row["task"], row["family"], int(row["length"])) == (task, family, length)]
                      for length in options.test]
            if all(values):
                panel.plot(options.test, [np.mean(seeds) for seeds in values], marker="osv^D<>ph*X"[k % 11], markersize=4, linewidth=1.2, color=f"C{k % 10}", label=family)
                panel.fill_between(options.test, [min(seeds) for seeds in values], [max(seeds) for seeds in values], color=f"C{k % 10}", alpha=0.12, linewidth=0)
        panel.axvline(max(options.train), color="grey", linewidth=0.8, linestyle=":")
        panel.set(title=task, xlabel="length (dotted: longest in training)", xscale="log", ylim=(0, 1.02))
        panel.set_xticks(options.test, [str(length) for length in options.test])
        panel.minorticks_off()
    panels[0][0].set_ylabel("accuracy")
    panels[0][-1].legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8, frameon=False)
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None} if path.endswith(".svg") else None)


def parsed():
    def numbers(text):
        return [int(number) for number in text.split(",")]
    parser = argparse.ArgumentParser(description="Train Transformers with masks of several families of graphs.")
    parser.add_argument("--families", type=lambda text: text.split(","), default=FAMILIES.split(","), help="families as for `synergraph families`, or complete")
    parser.add_argument("--tasks", type=lambda text: text.split(","), default=["maximum", "second-maximum"], help="maximum, second-maximum, parity")
    parser.add_argument("--seeds", type=int, default=3, help="models of each family and task")
    parser.add_argument("--train", type=numbers, default=[16, 32, 64, 128, 256], help="lengths in training; each step draws one")
    parser.add_argument("--test", type=numbers, default=[16, 32, 64, 128, 256, 512, 1024], help="lengths in testing")
    parser.add_argument("--steps", type=int, default=10000, help="steps of training")
    parser.add_argument("--seconds", type=float, default=math.inf, help="end the training of a fleet after this time")
    parser.add_argument("--batch", type=int, default=256, help="sequences a step")
    parser.add_argument("--samples", type=int, default=2000, help="sequences of each test length")
    parser.add_argument("--width", type=int, default=64, help="width of the model")
    parser.add_argument("--heads", type=int, default=2, help="attention heads")
    parser.add_argument("--rate", type=float, default=1e-3, help="learning rate")
    parser.add_argument("--together", type=int, default=30, help="models side by side; they share the memory of the device")
    parser.add_argument("--device", default="cpu", help="PyTorch's device")
    parser.add_argument("--out", help="CSV file of all models")
    parser.add_argument("--figure", help="draw accuracy by length, with Matplotlib: a path that ends in .svg, .pdf or .png")
    parser.add_argument("--minutes", type=float, default=math.inf, help="start no fleet that would end later than this")
    parser.add_argument("--report", action="store_true", help="print the table of --out; train nothing")
    options = parser.parse_args()
    wrong = set(options.tasks) - {"maximum", "second-maximum", "parity"}
    if wrong:
        parser.error(f"--tasks: unknown task {sorted(wrong)[0]!r}; there are maximum, second-maximum, parity")
    if min([*options.train, *options.test]) < 2:
        parser.error("--train and --test: lengths must be at least 2")
    if options.heads < 1 or options.width < 1 or options.width % options.heads:
        parser.error(f"--width: {options.width} is not a multiple of {options.heads} heads")
    for name in ("seeds", "steps", "batch", "samples", "together"):
        if getattr(options, name) < 1:
            parser.error(f"--{name}: must be at least 1")
    for family in options.families:
        try:
            graph_of(family, options.test[0], 1)
        except sg.Error as error:
            parser.error(f"--families: {error}")
    return options


def finish(rows, options):
    report(rows, options)
    if options.figure and rows:
        draw_figure(options.figure, rows, options)


def main():
    options = parsed()
    if options.device.startswith("cuda"):
        torch.set_float32_matmul_precision("high")
    begin, longest = time.monotonic(), 0.0
    rows = [row for row in stored_rows(options.out) if int(row["steps"]) == options.steps]
    if options.report:
        return finish(rows, options)
    done = {key_of(row) for row in rows}
    fleets = []
    for task in options.tasks:
        # Seeds outside: if models do not fit side by side, the first fleet has every family.
        missing = [(family, seed) for seed in range(1, options.seeds + 1) for family in options.families if (task, family, seed) not in done]
        fleets += [(task, missing[k:k + options.together]) for k in range(0, len(missing), options.together)]
    for number, (task, fleet) in enumerate(fleets, 1):
        if time.monotonic() - begin + longest > 60 * options.minutes:
            print(f"stopped after {number - 1} of {len(fleets)} fleets (--minutes)")
            break
        start = time.monotonic()
        made = list(rows_of_fleet(task, fleet, options))
        longest = max(longest, time.monotonic() - start)
        if options.out:
            new = not os.path.exists(options.out)
            with open(options.out, "a", newline="") as file:
                writer = csv.DictWriter(file, FIELDS)
                if new:
                    writer.writeheader()
                writer.writerows(made)
        rows += made
        print(f"{number}/{len(fleets)} {task}: {len(fleet)} models, {made[0]['trained']} steps ({time.monotonic() - start:.0f} s)", flush=True)
    finish(rows, options)


if __name__ == "__main__":
    main()
