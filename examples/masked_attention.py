"""Do good graphs make good models? Trains small Transformers whose attention sees the edges of one graph alone.

    python3 examples/masked_attention.py --device cuda --out masked.csv     # nine families, three seeds, two tasks
    python3 examples/masked_attention.py --steps 200 --train 16,32 --test 16,32,64 --families power,fs:log --seeds 1

Tasks: "maximum" asks for the category of the token with the largest value, "second-maximum" for that of the second largest, "parity" for
the parity of all bits. The last token answers. One block (attention, then a two-layer GELU MLP, each after a normalisation) is applied
ceil(log2 n) times with the same parameters. There are no positions: the graph alone tells tokens apart.

The table has the accuracy of each family by length, beside the numbers of its graphs (docs/graphs.md). Below it stand rank correlations
between these numbers and the accuracy over the families. --out has a row for each model and length; a second run with the same file trains the models
that are missing there.
"""

import argparse
import csv
import math
import os
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import synergraph as sg

CATEGORIES = 10
FAMILIES = ("complete,indegree:4log,expander:4log,poisson:0.2:4log,fs:4log,fs-original,longformer:log:log,bigbird:log:log:log,power")
NUMBERS = {"averaged_mixing_time": "T_avg", "normalised_fidelity": "F", "backward_hitting_time": "h_bwd", "edges": "edges"}
FIELDS = ["task", "family", "seed", "length", "steps", "correct", "samples", *NUMBERS]


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
    """Softmax over the edges of the graph."""
    if hasattr(functional, "scaled_dot_product_attention"):
        return functional.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
    scores = queries @ keys.transpose(-1, -2) / math.sqrt(queries.shape[-1])
    return scores.masked_fill(~mask, -math.inf).softmax(-1) @ values


class Model(nn.Module):
    def __init__(self, features, classes, width, heads):
        super().__init__()
        self.heads = heads
        self.embed = nn.Linear(features, width)
        self.before_attention, self.before_mlp, self.before_answer = nn.LayerNorm(width), nn.LayerNorm(width), nn.LayerNorm(width)
        self.queries_keys_values = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.answer = nn.Linear(width, classes)

    def forward(self, tokens, mask):
        signal = self.embed(tokens)
        count, length, width = signal.shape
        for _ in range(max(1, math.ceil(math.log2(length)))):
            parts = self.queries_keys_values(self.before_attention(signal)).view(count, length, 3, self.heads, width // self.heads)
            heard = attend(*parts.permute(2, 0, 3, 1, 4), mask)
            signal = signal + self.output(heard.transpose(1, 2).reshape(count, length, width))
            signal = signal + self.mlp(self.before_mlp(signal))
        return self.answer(self.before_answer(signal[:, -1]))


def graph_of(family, length, seed):
    if family == "complete":
        return sg.SparseGraph.from_mask(np.tril(np.ones((length, length), dtype=bool)))
    return sg.family(family, length, seed)


def trained(task, masks, seed, options):
    torch.manual_seed(seed)
    features, classes = (2, 2) if task == "parity" else (1 + CATEGORIES, CATEGORIES)
    model = Model(features, classes, options.width, options.heads).to(options.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.rate)
    lengths = np.random.default_rng(seed).choice(options.train, size=options.steps)
    for length in lengths.tolist():
        tokens, answers = sequences(task, options.batch, length, options.device)
        loss = functional.cross_entropy(model(tokens, masks[length]), answers)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    return model


@torch.no_grad()
def correct_answers(model, task, mask, length, options):
    correct, chunk = 0, max(1, 2**16 // length)
    for begin in range(0, options.samples, chunk):
        tokens, answers = sequences(task, min(chunk, options.samples - begin), length, options.device)
        correct += int((model(tokens, mask).argmax(1) == answers).sum())
    return correct


def rows_of_model(task, family, seed, options):
    """Trains a model and tests it: a row for each length."""
    graphs = {length: graph_of(family, length, seed) for length in {*options.train, *options.test}}
    masks = {length: graph.mask(torch=True, device=options.device) for length, graph in graphs.items()}
    model = trained(task, masks, seed, options)
    for length in options.test:
        numbers = graphs[length].measure()
        yield {"task": task, "family": family, "seed": seed, "length": length, "steps": options.steps,
               "correct": correct_answers(model, task, masks[length], length, options), "samples": options.samples,
               **{key: numbers[key] for key in NUMBERS}}


def key_of(row):
    return row["task"], row["family"], int(row["seed"]), int(row["steps"])


def stored_rows(path):
    if not path or not os.path.exists(path):
        return []
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    def whole(row):
        return set(row) == set(FIELDS) and all(row.values()) and all(row[key].isdigit() for key in ("seed", "length", "steps", "correct", "samples"))
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


def report(rows, options):
    for task in options.tasks:
        print(f"\n{task}: accuracy by length, {options.steps} steps, mean over seeds; numbers of the graphs at length {options.test[-1]}")
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
            print("".join([f"rank correlation, {name}".ljust(24), *(f"{value:7.2f}" for value in values)]))


def parsed():
    def numbers(text):
        return [int(number) for number in text.split(",")]
    parser = argparse.ArgumentParser(description="Train Transformers with masks of several families of graphs.")
    parser.add_argument("--families", type=lambda text: text.split(","), default=FAMILIES.split(","), help="families as for `synergraph families`, or complete")
    parser.add_argument("--tasks", type=lambda text: text.split(","), default=["maximum", "parity"], help="maximum, second-maximum, parity")
    parser.add_argument("--seeds", type=int, default=3, help="models of each family and task")
    parser.add_argument("--train", type=numbers, default=[16, 32, 64, 128, 256], help="lengths in training; each step draws one")
    parser.add_argument("--test", type=numbers, default=[16, 32, 64, 128, 256, 512, 1024], help="lengths in testing")
    parser.add_argument("--steps", type=int, default=10000, help="steps of training")
    parser.add_argument("--batch", type=int, default=256, help="sequences a step")
    parser.add_argument("--samples", type=int, default=2000, help="sequences of each test length")
    parser.add_argument("--width", type=int, default=128, help="width of the model")
    parser.add_argument("--heads", type=int, default=4, help="attention heads")
    parser.add_argument("--rate", type=float, default=1e-3, help="learning rate")
    parser.add_argument("--device", default="cpu", help="PyTorch's device")
    parser.add_argument("--out", help="CSV file of all models")
    parser.add_argument("--minutes", type=float, default=math.inf, help="start no model that would end later than this")
    options = parser.parse_args()
    wrong = set(options.tasks) - {"maximum", "second-maximum", "parity"}
    if wrong:
        parser.error(f"--tasks: unknown task {sorted(wrong)[0]!r}; there are maximum, second-maximum, parity")
    if min([*options.train, *options.test]) < 2:
        parser.error("--train and --test: lengths must be at least 2")
    if options.width % options.heads:
        parser.error(f"--width: {options.width} is not a multiple of {options.heads} heads")
    for family in options.families:
        try:
            graph_of(family, options.test[0], 1)
        except sg.Error as error:
            parser.error(f"--families: {error}")
    return options


def main():
    options = parsed()
    begin, longest = time.monotonic(), 0.0
    rows = [row for row in stored_rows(options.out) if int(row["steps"]) == options.steps]
    done = {key_of(row) for row in rows}
    # Seeds outside: if time runs out, every family and task has as many models.
    wanted = [(task, family, seed, options.steps) for seed in range(1, options.seeds + 1) for task in options.tasks for family in options.families]
    for number, key in enumerate(wanted, 1):
        if key in done:
            continue
        if time.monotonic() - begin + longest > 60 * options.minutes:
            print(f"stopped after {number - 1} of {len(wanted)} models (--minutes)")
            break
        start = time.monotonic()
        made = list(rows_of_model(*key[:3], options))
        longest = max(longest, time.monotonic() - start)
        if options.out:
            new = not os.path.exists(options.out)
            with open(options.out, "a", newline="") as file:
                writer = csv.DictWriter(file, FIELDS)
                if new:
                    writer.writeheader()
                writer.writerows(made)
        rows += made
        accuracy = " ".join(f"{row['correct'] / row['samples']:.3f}" for row in made)
        print(f"{number}/{len(wanted)} {key[0]} {key[1]} seed {key[2]}: {accuracy} ({time.monotonic() - start:.0f} s)", flush=True)
    report(rows, options)


if __name__ == "__main__":
    main()
