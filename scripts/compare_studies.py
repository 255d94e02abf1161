#!/usr/bin/env python3
"""Do two studies of the same models tell the same? For instance one trained on a GPU, one on the CPU.

    scripts/compare_studies.py cpu/results.json gpu/results.json [--convention exact] [--level 0.05]

Of every task, number of heads and layer, the mean mixing time (cut) and the mean fidelity of each
model, one value a seed: their means and ranges in both studies, and the p-value of the difference of
ranks (Mann-Whitney, exact over all ways to deal the values out, ties by mid-ranks). All p-values
are corrected together (Holm). Where both studies have the same seeds the values are pairs, which this
test does not use: it errs towards finding no difference. Exit status 1 where a difference is
significant, 2 where the studies cannot be compared: they are not of the same models and measurements, they
have too few seeds for any difference to be significant, the memory does not hold them, Ctrl-C.
"""

import argparse
import json
import math
import sys

MOST_SEEDS = 32  # all ways to deal more of them out take long to count
MEASUREMENT = ("samples", "cutoff", "horizon", "eps")  # settings that must agree beside those of training
QUANTITIES = {"truncated_hitting_mean": "mixing time", "minimax_fidelity": "fidelity"}


def fail(line):
    print("compare_studies: " + "".join(c if c.isprintable() else repr(c)[1:-1] for c in line), file=sys.stderr)
    sys.exit(2)


def read(path, convention):
    """{(task, heads, layer, quantity): {seed: value}}, and the settings that must agree."""
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        values = {}
        for cell in document["cells"]:
            for layer, summary in enumerate(cell[convention], 1):
                for quantity in QUANTITIES:
                    task = ascii(str(cell["task"]))[1:-1].replace("|", "\\x7c")  # nothing commands a terminal, or ends a column
                    of_seed = values.setdefault((task, int(cell["heads"]), layer, quantity), {})
                    if int(cell["seed"]) in of_seed:
                        raise ValueError(f"two cells have seed {int(cell['seed'])}")
                    of_seed[int(cell["seed"])] = float(summary[quantity]["mean"])
        settings = {**document["settings"]["training"], **{k: document["settings"].get(k) for k in MEASUREMENT}}
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        fail(f"{path}: not the results.json of a study ({type(error).__name__}: {error})")
    if not values:
        fail(f"{path}: no cell has {convention} measurements")
    for (task, heads, layer, quantity), of_seed in values.items():
        where = f"{path}: {task}, {heads} heads, layer {layer}"
        if len(of_seed) > MOST_SEEDS:
            fail(f"{where}: {len(of_seed)} seeds, at most {MOST_SEEDS} can be compared")
        for seed, value in of_seed.items():
            if not math.isfinite(value):
                fail(f"{where}, seed {seed}: {quantity} is {value}")
    return values, settings


def middle_ranks(values):
    """Twice the rank of each value, equal ones sharing theirs: whole numbers."""
    ordered = sorted(values)
    first, last = {}, {}
    for place, value in enumerate(ordered, 1):
        first.setdefault(value, place)
        last[value] = place
    return [first[value] + last[value] for value in values]


def rank_test(a, b):
    """Two-sided exact p-value that the ranks of a and b differ as much by chance alone."""
    ranks = middle_ranks(a + b)
    centre = len(a) * sum(ranks)  # times len(a) + len(b)
    observed = abs(sum(ranks[: len(a)]) * len(ranks) - centre)

    ways = [{0: 1}] + [{} for _ in a]  # of choosing so many of the values so far: {sum of ranks: number}
    for rank in ranks:
        for chosen in range(len(a), 0, -1):
            for total, count in ways[chosen - 1].items():
                ways[chosen][total + rank] = ways[chosen].get(total + rank, 0) + count
    counts = ways[len(a)]
    extreme = sum(n for total, n in counts.items() if abs(total * len(ranks) - centre) >= observed)
    return extreme / sum(counts.values())


def corrected(p_values):
    """Holm's correction."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    result, largest = [0.0] * len(p_values), 0.0
    for place, index in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - place) * p_values[index]))
        result[index] = largest
    return result


def least(a, b):
    """The smallest p-value that so many values can give: all of one study beyond all of the other."""
    return rank_test([*range(a)], [*range(a, a + b)])


def text(values):
    mean = sum(values) / len(values)
    return f"{mean:.4g} ({min(values):.4g} to {max(values):.4g})"


def p_text(p):
    return f"{p:.3f}" if p >= 0.001 else "< 0.001"


def significance(word):
    level = float(word)
    if not 0.0 < level < 1.0:
        raise ValueError
    return level


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0], epilog="Exit status 1: they differ; 2: they cannot be compared."
    )
    parser.add_argument("first", help="results.json of a study")
    parser.add_argument("second", help="results.json of another one")
    parser.add_argument("--convention", choices=["published", "exact"], default="published")
    parser.add_argument("--level", type=significance, default=0.05, help="of significance, after correction (0.05)")
    arguments = parser.parse_args()
    first, settings = read(arguments.first, arguments.convention)
    second, other = read(arguments.second, arguments.convention)
    if settings != other:
        names = sorted(k for k in {*settings, *other} if settings.get(k) != other.get(k))
        fail(f"the studies were trained or measured otherwise: {', '.join(names)}")
    if first.keys() != second.keys():
        fail("the studies are not of the same tasks, heads and layers")

    sizes = {(len(first[w]), len(second[w])) for w in first}
    smallest = min(least(*size) for size in sizes)
    if smallest * len(first) >= arguments.level:
        fail(f"too few seeds to tell: the smallest p-value of {' or '.join(f'{a} and {b}' for a, b in sorted(sizes))} models is "
             f"{smallest:.3g}, {min(1.0, smallest * len(first)):.3g} corrected for {len(first)} comparisons")
    p_values = [rank_test(list(first[w].values()), list(second[w].values())) for w in first]
    holm = corrected(p_values)
    print("| task | heads | layer | quantity | first | second | p | corrected |\n|---|---|---|---|---|---|---|---|")
    for (where, values), p, q in zip(first.items(), p_values, holm):
        task, heads, layer, quantity = where
        print(f"| {task} | {heads} | L{layer} | {QUANTITIES[quantity]} | {text(values.values())} | "
              f"{text(second[where].values())} | {p_text(p)} | {p_text(q)} |")
    seeds = [{len(v) for v in study.values()} for study in (first, second)]
    below = sum(p < arguments.level for p in p_values)
    print(f"\n{len(p_values)} comparisons of {'/'.join(map(str, sorted(seeds[0])))} and "
          f"{'/'.join(map(str, sorted(seeds[1])))} models ({arguments.convention} convention): "
          f"{below} below {arguments.level:g} before correction, where chance alone gives at most "
          f"{arguments.level * len(p_values):.1f} in the mean; smallest after correction {p_text(min(holm))}.")
    return 1 if min(holm) < arguments.level else 0


def guarded():
    """The exit status, or why there is none: status 1 is for studies that differ, and for nothing else."""
    try:
        status = main()
        sys.stdout.flush()  # what is still to be written fails here, not after the status
        return status, None
    except OSError as error:  # a full disk, a closed pipe
        sys.stdout = None  # nothing is left to be written at the end
        return 2, f"standard output: {error.strerror}"
    except MemoryError:
        return 2, "the memory does not hold these studies"
    except KeyboardInterrupt:
        return 2, "interrupted"
    except Exception as error:
        return 2, f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    exit_status, problem = guarded()  # what an exception held on to is released here
    if problem is not None:
        fail(problem)
    sys.exit(exit_status)
