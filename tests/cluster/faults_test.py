"""A small study by processes that are killed, or meet an error, between any two steps on files, must come to the bytes of one that
was left alone: faults_test.py SYNERGRAPH FAULTS [--every K]. FAULTS is the library of faults.cpp; K: try every K-th step.
"""
import argparse
import errno
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

STUDY = ("reproduce --tasks copy --heads 1,2 --seeds 1 --layers 1 --width 8 --hidden 8 --vocabulary 6 --length 6 --sequences 20 "
         "--batch 10 --epochs 2 --samples 4 --subset-samples 1 --no-figures --threads 1 --quiet --claim-timeout 1").split()
ARGUMENTS = None
KILLED = -9


def files_in(folder):
    """What a study is for: all its files, but for those that its processes need."""
    found = {}
    for path, _, names in os.walk(folder):
        for name in names:
            full = os.path.join(path, name)
            relative = os.path.relpath(full, folder)
            if not relative.startswith("cells" + os.sep) and name != "synergraph.lock":
                with open(full, "rb") as file:
                    found[relative] = file.read()
    return found


class StudyTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.out = os.path.join(self.folder, "study")
        self.count = os.path.join(self.folder, "count")
        self.assertEqual(self.run_study("off", out=self.folder + "/whole").returncode, 0)
        self.whole = files_in(self.folder + "/whole")
        self.assertIn("results.json", self.whole)

    def run_study(self, shard, out=None, **faults):
        environment = dict(os.environ, LD_PRELOAD=ARGUMENTS.faults, **{name: str(value) for name, value in faults.items()})
        return subprocess.run([ARGUMENTS.program, *STUDY, "--out", out or self.out, "--shard", shard], env=environment,
                              capture_output=True, text=True, timeout=60)

    def expect_whole(self):
        found = files_in(self.out)
        self.assertEqual(sorted(found), sorted(self.whole))
        self.assertEqual([name for name in found if found[name] != self.whole[name]], [])


class FaultsTest(StudyTest):
    def steps(self, shard, **faults):
        shutil.rmtree(self.out, ignore_errors=True)
        self.run_study(shard, FAULT_COUNT=self.count, **faults)
        with open(self.count) as file:
            count = int(file.read())
        self.assertGreater(count, 100)
        return range(1, count + 1, ARGUMENTS.every)

    def at_each(self, shard, **faults):
        """Steps, each with a directory where nothing is yet."""
        for step in self.steps(shard, **faults):
            shutil.rmtree(self.out, ignore_errors=True)
            yield step

    def expect_killed(self, shard, **faults):
        """Or ended: signs of life are steps, too, and more of them where the machine is busy."""
        self.assertIn(self.run_study(shard, **faults).returncode, (KILLED, 0))

    def expect_end(self, **faults):
        """What is left is finished by another worker, and no claim of the others remains."""
        end = self.run_study("2/3", **faults)
        self.assertEqual(end.returncode, 0, end.stderr)
        self.expect_whole()
        for path, _, names in os.walk(self.out):
            for name in set(names) - {"merge.claim"}:  # of who died when all was done: the next merge takes it over
                self.assertNotRegex(name, r"claim|after-|failed", path)
        self.assertEqual(os.listdir(os.path.join(self.out, "cells", "workers")), [])

    def test_killed_at_any_step(self):
        for shard in ("1/2", "off"):
            for step in self.at_each(shard):
                with self.subTest(shard=shard, step=step):
                    self.expect_killed(shard, FAULT_AT=step)
                    self.expect_end()

    def test_killed_at_any_step_without_hard_links(self):
        for step in self.at_each("1/2", FAULT_LINKS=errno.EPERM):
            with self.subTest(step=step):
                self.expect_killed("1/2", FAULT_AT=step, FAULT_LINKS=errno.EPERM)
                self.expect_end(FAULT_LINKS=errno.EPERM)

    def test_an_error_at_any_step(self):
        for shard in ("1/2", "off"):
            for error in (errno.ENOSPC, errno.EROFS):
                for step in self.at_each(shard):
                    with self.subTest(shard=shard, step=step, error=os.strerror(error)):
                        ran = self.run_study(shard, FAULT_AT=step, FAULT_ERROR=error)
                        self.assertIn(ran.returncode, (0, 1))
                        if ran.returncode == 0:
                            self.expect_whole()
                        else:
                            self.assertRegex(ran.stderr, r"(?m)\Asynergraph: [^\n]*: " + os.strerror(error) + r"\n\Z")
                        self.expect_end()


class InTheWayTest(StudyTest):
    """What lies where a file of the study should be is used if it is that file; else it is named, at once."""

    def things(self, path):
        yield lambda: os.mkdir(path)
        yield lambda: os.mkfifo(path)
        yield lambda: os.symlink("nowhere", path)
        yield lambda: pathlib.Path(path).write_text("nonsense\n")

    def test_something_else_in_place_of_a_file(self):
        self.assertEqual(self.run_study("1/2").returncode, 0)
        kept = self.out + ".kept"
        os.rename(self.out, kept)
        files = [os.path.relpath(os.path.join(path, name), kept) for path, _, names in os.walk(kept + "/cells") for name in names]
        files = sorted(file for file in files if "2-heads" not in file)
        self.assertEqual(len(files), 7, files)  # of a cell: result, model, state, log and notes; plan and mark
        result = next(file for file in files if ".result-" in file)
        for file in files:
            for make in self.things(os.path.join(self.out, file)):
                with self.subTest(file=file):
                    shutil.rmtree(self.out, ignore_errors=True)
                    shutil.copytree(kept, self.out)
                    if "heads" in file:  # or else the training is not looked at
                        os.remove(os.path.join(self.out, result))
                    if file != result:
                        os.remove(os.path.join(self.out, file))
                    make()
                    ran = self.run_study("1/2")
                    self.assertIn(ran.returncode, (0, 1))
                    if ran.returncode == 1:
                        self.assertRegex(ran.stderr, r"(?m)\Asynergraph: [^\n]*\n\Z")
                        self.assertIn(os.path.dirname(os.path.join(self.out, file)), ran.stderr)
                    self.expect_whole()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("faults", type=os.path.abspath)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("tests", nargs="*")
    ARGUMENTS = parser.parse_intermixed_args()
    unittest.main(argv=[sys.argv[0], *ARGUMENTS.tests], verbosity=2)
