"""Tests scripts/compare_studies.py: its test of ranks by counting, and what it says of studies."""
import importlib.util
import itertools
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

SCRIPT = sys.argv[1]
sys.dont_write_bytecode = True  # nothing beside the script
spec = importlib.util.spec_from_file_location("compare_studies", SCRIPT)
compare = importlib.util.module_from_spec(spec)
spec.loader.exec_module(compare)


def counted(a, b):
    """The p-value by its definition: every way to deal the values out."""
    values = a + b
    rank = {v: sum(x < v for x in values) + (sum(x == v for x in values) + 1) / 2 for v in values}

    def distance(chosen):
        return abs(sum(rank[v] for v in chosen) - len(a) * (len(values) + 1) / 2)

    deals = list(itertools.combinations(values, len(a)))
    return sum(distance(d) >= distance(a) - 1e-9 for d in deals) / len(deals)


def study(path, shift, epochs="25", seeds=8, cutoff=100, task="copy"):
    def layer(value):
        return {quantity: {"mean": value} for quantity in compare.QUANTITIES}

    cells = [{"task": task, "heads": 4, "seed": seed, "published": [layer(shift + seed / 10)]}
             for seed in range(seeds)]
    with open(path, "w") as file:
        json.dump({"settings": {"training": {"epochs": epochs}, "cutoff": cutoff}, "cells": cells}, file)
    return path


def run(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True)


class CompareStudies(unittest.TestCase):
    def test_ranks_agree_with_counting(self):
        for seed in range(40):
            draws = random.Random(seed)
            ties = seed % 2 == 0
            a, b = ([draws.randrange(4) if ties else draws.random() for _ in range(draws.randrange(1, 7))]
                    for _ in "ab")
            self.assertAlmostEqual(compare.rank_test(a, b), counted(a, b), places=12)

    def test_correction(self):
        for corrected, expected in zip(compare.corrected([0.01, 0.04, 0.03]), [0.03, 0.06, 0.06]):
            self.assertAlmostEqual(corrected, expected)
        self.assertEqual(compare.corrected([0.5, 0.9]), [1.0, 1.0])

    def test_studies(self):
        with tempfile.TemporaryDirectory() as folder:
            path = lambda name: os.path.join(folder, name)
            one = study(path("1"), 3.0)
            self.assertEqual(run(one, study(path("2"), 3.05)).returncode, 0)
            apart = run(one, study(path("3"), 9.0))
            self.assertEqual(apart.returncode, 1)
            self.assertIn("2 below 0.05", apart.stdout)
            with open(path("deep"), "w") as file:
                file.write("[" * 100000)
            with open(one) as file:
                text = file.read()
            with open(path("twice"), "w") as file:
                document = json.loads(text)
                document["cells"] *= 2
                json.dump(document, file)
            with open(path("huge"), "w") as file:
                file.write(text.replace("3.0", "1" + "0" * 400, 1))
            for other in (path("twice"), path("huge"), study(path("7"), 3.0, cutoff=3), study(path("8"), 3.0, task="a\x1b|\n"),
                          study(path("4"), 3.0, epochs="4"), path("none"), SCRIPT, path("deep"), study(path("5"), float("nan")),
                          study(path("6"), 3.0, seeds=40)):
                refused = run(one, other)
                self.assertEqual((refused.returncode, refused.stdout), (2, ""))
                self.assertEqual(refused.stderr.count("\n"), 1)
            few = run(study(path("9"), 3.0, seeds=3), study(path("10"), 9.0, seeds=3))
            self.assertEqual((few.returncode, few.stdout), (2, ""))
            self.assertIn("the smallest p-value of 3 and 3 models is 0.1, 0.2 corrected", few.stderr)
            for level in ("0", "1", "nan", "-1"):
                self.assertEqual(run(one, one, "--level", level).returncode, 2)
            for unbuffered in ("", "1"):  # fails at the end, or at the first line
                with open("/dev/full", "w") as full:
                    refused = subprocess.run([sys.executable, SCRIPT, one, one], stdout=full, stderr=subprocess.PIPE, text=True,
                                             env={**os.environ, "PYTHONUNBUFFERED": unbuffered})
                self.assertEqual((refused.returncode, refused.stderr.count("\n")), (2, 1))

    def test_only_a_difference_is_status_1(self):
        with tempfile.TemporaryDirectory() as folder:
            one = study(os.path.join(folder, "1"), 3.0)
            large = os.path.join(folder, "large")
            with open(large, "w") as file:
                file.write("[" + "0.5," * 4_000_000 + "0]")  # takes some 160 MB
            memory = 80 << 20
            refused = subprocess.run([sys.executable, SCRIPT, one, large], capture_output=True, text=True,
                                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory)))
            self.assertEqual((refused.returncode, refused.stdout), (2, ""))
            self.assertEqual(refused.stderr, "compare_studies: the memory does not hold these studies\n")

            pipe = os.path.join(folder, "pipe")
            os.mkfifo(pipe)
            waiting = subprocess.Popen([sys.executable, SCRIPT, one, pipe], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                       preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
            with open(pipe, "w"):  # until the script reads it
                waiting.send_signal(signal.SIGINT)
                out, error = waiting.communicate()
            self.assertEqual((waiting.returncode, out, error), (2, "", "compare_studies: interrupted\n"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
