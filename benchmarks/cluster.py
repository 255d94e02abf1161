#!/usr/bin/env python3
"""What it costs to share work through a directory (docs/clusters.md, docs/performance.md).

cluster.py SYNERGRAPH grid [--cells 20000] [--workers 2]    a grid of the smallest cells: time and memory of each stage, files
cluster.py SYNERGRAPH calls [--cells 100]                   calls on files a cell, as strace counts them
cluster.py SYNERGRAPH analyze [--samples 10000] [--shards 8] [--rounds 5]
                                                            CPU time of all shards against that of one process

TMPDIR says on which disk.
"""
import argparse
import collections
import os
import re
import resource
import statistics
import subprocess
import tempfile
import time

CELL = ("--tasks copy --heads 1 --layers 1 --width 4 --hidden 4 --vocabulary 6 --length 6 --sequences 10 --batch 10 --epochs 1 "
        "--samples 2 --subset-samples 0 --no-figures --threads 1 --quiet").split()


class Used:
    """Seconds, CPU seconds and the largest memory of a command, or of some at the same time."""

    def __init__(self, *commands):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.monotonic()
        workers = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for command in commands]
        self.memory = 0
        self.text = ""
        for worker in workers:
            self.text += worker.stdout.read()
            _, status, usage = os.wait4(worker.pid, 0)
            worker.returncode = os.waitstatus_to_exitcode(status)
            if worker.returncode != 0:
                raise SystemExit(f"{' '.join(worker.args)}: {self.text}")
            self.memory = max(self.memory, usage.ru_maxrss / 1024)
        self.seconds = time.monotonic() - began
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime

    def __str__(self):
        return f"{self.seconds:.2f} s, {self.cpu:.2f} s of CPU time, {self.memory:.0f} MiB"


def study(program, out, cells, *options):
    return [program, "reproduce", *CELL, "--seeds", str(cells), "--out", out, *options]


def grid(arguments, folder):
    out = os.path.join(folder, "out")
    shards = [("--shard", f"{k + 1}/{arguments.workers}") for k in range(arguments.workers)]
    first = Used(*(study(arguments.program, out, arguments.cells, *shard) for shard in shards))
    print(f"{arguments.cells} cells by {arguments.workers} workers: {first}; {1000 * first.cpu / arguments.cells:.2f} ms of CPU time a cell")
    again = Used(study(arguments.program, out, arguments.cells, "--shard", "1/2"))
    print(f"a worker that finds all done: {again}")
    print(f"merge: {Used(study(arguments.program, out, arguments.cells, '--merge'))}")
    status = Used([arguments.program, "status", out])
    print(f"status: {status}: {status.text.splitlines()[1].strip()}")
    entries = collections.Counter()
    for path, folders, files in os.walk(os.path.join(out, "cells")):
        entries[len(os.path.relpath(path, out).split(os.sep))] = max(entries[len(os.path.relpath(path, out).split(os.sep))],
                                                                     len(folders) + len(files))
    print(f"most entries of a directory, by depth: {dict(entries)}")
    print(f"results.json: {os.path.getsize(os.path.join(out, 'results.json')) / 1e6:.1f} MB")


def calls(arguments, folder):
    log = os.path.join(folder, "calls")
    counts = []
    for cells in (10, 10 + arguments.cells):  # the difference is what a cell costs
        command = study(arguments.program, os.path.join(folder, str(cells)), cells, "--shard", "1/2")
        subprocess.run(["strace", "-f", "-c", "-o", log, "-e", "trace=%file,write,pwrite64,fsync,getdents64", *command], check=True,
                       stdout=subprocess.DEVNULL)
        with open(log) as file:
            rows = [line.split() for line in file if re.match(r"\s*\d", line)]
        counts.append({row[-1]: int(row[3]) for row in rows})
    for name in sorted(counts[1], key=lambda name: -counts[1][name]):
        print(f"{name:12} {(counts[1][name] - counts[0].get(name, 0)) / arguments.cells:8.2f} a cell")


def analyze(arguments, folder):
    model = os.path.join(folder, "run", "model.safetensors")  # of the paper's shape
    Used([arguments.program, "train", "--task", "copy", "--heads", "4", "--epochs", "1", "--sequences", "500", "--quiet", "--out",
          os.path.dirname(model)])
    command = [arguments.program, "analyze", model, "--task", "copy", "--samples", str(arguments.samples), "--quiet"]
    busy = str(min(arguments.shards, len(os.sched_getaffinity(0))))  # as many cores as the shards have: a core is faster alone
    ratios = []
    for k in range(arguments.rounds):
        whole = Used([*command, "--threads", busy, "--json", folder + "/whole.json"])
        parts = os.path.join(folder, f"parts{k}")
        shared = Used(*([*command, "--threads", "1", "--json", folder + "/shared.json", "--shard-dir", parts, "--shard", f"{rank + 1}/{arguments.shards}"]
                        for rank in range(arguments.shards)))
        with open(folder + "/whole.json", "rb") as one, open(folder + "/shared.json", "rb") as other:
            assert one.read() == other.read()
        ratios.append(shared.cpu / whole.cpu)
        print(f"one process: {whole}; {arguments.shards} shards: {shared}; CPU time {ratios[-1]:.3f}", flush=True)
    print(f"median of {arguments.rounds}: {statistics.median(ratios):.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("what", choices=("grid", "calls", "analyze"))
    parser.add_argument("--cells", type=int)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--samples", type=int, default=10000)
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    arguments.cells = arguments.cells or (20000 if arguments.what == "grid" else 100)
    with tempfile.TemporaryDirectory() as folder:
        {"grid": grid, "calls": calls, "analyze": analyze}[arguments.what](arguments, folder)


if __name__ == "__main__":
    main()
