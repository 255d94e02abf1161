#!/usr/bin/env python3
"""Small studies by workers to whom everything happens, and that must come to the bytes of one undisturbed process.

chaos.py SYNERGRAPH [--studies K] [--seed S]

Each study is begun and gone on with by one to eight workers at a time. Some of them are killed at random moments and followed by
others in another number, some have the same place, some are in a container of their own (so that they can only be judged by their
signs of life), some have clocks that are wrong and jump, and the directory may disappear for a while. Counted are the kills, the
cells that were taken over, and the cells that were finished more often than once, of which there must be none.
"""
import argparse
import collections
import filecmp
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

STUDY = ("reproduce --tasks copy,cycle --heads 1,2 --seeds 2 --layers 1 --width 8 --hidden 8 --vocabulary 12 --length 12 "
         "--sequences 100 --batch 10 --epochs 40 --samples 30 --subset-samples 1 --no-figures --threads 1 "
         "--checkpoint-every 0.02 --claim-timeout 6").split()
OUTPUTS = ("results.json", "report.html", "tables/mixing-copy.csv", "tables/fidelity-cycle.tex")
LIMIT = 600.0  # seconds for a study: none may hang, however busy the machine is
FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"


def can_unshare():
    return subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "true"], capture_output=True).returncode == 0


class Study:
    def __init__(self, program, folder, draws, contained):
        self.program, self.folder, self.draws, self.contained = program, folder, draws, contained
        self.out = os.path.join(folder, "study")
        self.clock = os.path.join(folder, "clock")
        self.set_clock()
        self.workers = []
        self.started = 0.0
        self.logs = []
        self.counts = collections.Counter()

    def set_clock(self):
        with open(self.clock + ".new", "w") as file:
            file.write(f"{self.draws.choice('+-')}{self.draws.randrange(100000)}\n")
        os.rename(self.clock + ".new", self.clock)

    def start(self, rank, size):
        command = [self.program, *STUDY, "--out", self.out, "--shard", f"{rank + 1}/{size}"]
        environment = dict(os.environ)
        if os.path.exists(FAKETIME) and self.draws.random() < 0.3:
            environment.update(LD_PRELOAD=FAKETIME, FAKETIME_TIMESTAMP_FILE=self.clock, FAKETIME_NO_CACHE="1",
                               FAKETIME_DONT_FAKE_MONOTONIC="1", DONT_FAKE_MONOTONIC="1")
            self.counts["wrong clocks"] += 1
        if self.contained and self.draws.random() < 0.2:
            command = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", *command]
            self.counts["containers"] += 1
        log = open(os.path.join(self.folder, f"log-{len(self.logs)}"), "w+")
        self.logs.append(log)
        self.workers.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log, env=environment))
        self.started = time.monotonic()
        self.counts["workers"] += 1

    def start_some(self):
        size = self.draws.randint(1, 8)
        if size == 1:  # alone it would keep the others out
            return self.start(0, 2)
        ranks = list(range(size))
        if self.draws.random() < 0.3:
            ranks[-1] = 0
            self.counts["same place"] += 1
        for rank in ranks:
            self.start(rank, size)

    def kill(self, worker):
        if worker.poll() is None:
            worker.send_signal(signal.SIGKILL)
            worker.wait()
            self.counts["kills"] += 1
        self.workers.remove(worker)

    def disturb(self):
        what = self.draws.random()
        if what < 0.6 and self.workers:
            self.kill(self.draws.choice(self.workers))
        elif what < 0.75:
            self.set_clock()
        elif what < 0.85 and os.path.isdir(os.path.join(self.out, "cells", "workers")):
            self.disappear()
        elif len(self.workers) < 8:
            self.start(self.draws.randrange(3), 3)

    def disappear(self):
        # Who starts while there is no directory makes one: that is another study.
        time.sleep(max(0.0, self.started + 1.0 - time.monotonic()))
        os.rename(self.out, self.out + ".away")
        time.sleep(self.draws.uniform(0.05, 1.5))
        while os.path.exists(self.out + ".away"):
            shutil.rmtree(self.out, ignore_errors=True)
            try:
                os.rename(self.out + ".away", self.out)
            except OSError:
                pass
        self.counts["disappearances"] += 1

    def run(self):
        end = time.monotonic() + LIMIT
        for _ in range(self.draws.randint(1, 3)):
            self.start_some()
            for _ in range(self.draws.randint(1, 5)):
                time.sleep(self.draws.uniform(0.0, 0.4))
                self.disturb()
            for worker in list(self.workers):
                if self.draws.random() < 0.7:
                    self.kill(worker)
        self.start_some()
        for worker in self.workers:
            try:
                status = worker.wait(max(1.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                return "hangs"
            if status != 0:
                return f"a worker ended with status {status}"
        return ""

    def stop(self):
        for worker in self.workers:
            if worker.poll() is None:
                worker.kill()
                worker.wait()

    def count_cells(self):
        finished = collections.Counter()
        for log in self.logs:
            log.seek(0)
            for line in log:
                if match := re.match(r"(\w+, \d+ heads?, seed \d+): (accuracy|taken over|put off)", line):
                    self.counts[{"accuracy": "cells finished", "taken over": "taken over", "put off": "put off"}[match[2]]] += 1
                    finished[match[1]] += match[2] == "accuracy"
            log.close()
        self.counts["finished again"] += sum(max(0, times - 1) for times in finished.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.program)
    total = collections.Counter()
    wrong = 0
    contained = can_unshare()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        whole = os.path.join(folder, "whole")
        subprocess.run([program, *STUDY, "--shard", "off", "--quiet", "--out", whole], check=True, stdout=subprocess.DEVNULL)
        for k in range(arguments.studies):
            own = os.path.join(folder, str(k))
            os.mkdir(own)
            study = Study(program, own, random.Random(f"{arguments.seed} {k}"), contained)
            began = time.monotonic()
            try:
                trouble = study.run()
            finally:
                study.stop()
            study.count_cells()
            if not trouble:
                trouble = ", ".join(f"{name} differs" for name in OUTPUTS
                                    if not os.path.exists(os.path.join(study.out, name))
                                    or not filecmp.cmp(os.path.join(whole, name), os.path.join(study.out, name), shallow=False))
            if not trouble and study.counts["finished again"]:
                trouble = "a cell was finished twice"
            total.update(study.counts)
            if trouble:
                wrong += 1
                kept = tempfile.mkdtemp(prefix="chaos-")
                shutil.copytree(own, os.path.join(kept, "study"))
                print(f"study {k}: {trouble}: see {kept}", flush=True)
            elif arguments.studies <= 10 or (k + 1) % 10 == 0:
                print(f"study {k}: the same bytes after {time.monotonic() - began:.1f} s, {dict(study.counts)}", flush=True)
            shutil.rmtree(own)
    print(f"{arguments.studies} studies, {wrong} wrong, in {time.monotonic() - begin:.0f} s: {dict(total)}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
