"""A small study, and an analysis, under real launchers must give the bytes of one process: launchers_test.py SYNERGRAPH mpirun|slurm.

Exit status 77: the launcher is not installed.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import slurm_cluster  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
LAUNCHER = sys.argv[2]
os.environ["SYNERGRAPH"] = PROGRAM  # for the scripts
SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts")
STUDY = ("reproduce --tasks copy,cycle --heads 1,2 --seeds 2 --layers 1 --width 8 --hidden 8 --vocabulary 12 --length 12 "
         "--sequences 100 --batch 10 --epochs 4 --samples 30 --subset-samples 1 --no-figures").split()
OUTPUTS = ("results.json", "report.html", "tables/mixing-copy.csv")


def read(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


class LauncherTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.whole = self.study("--shard", "off", "--out", os.path.join(self.folder, "whole"))
        self.out = os.path.join(self.folder, "shared")

    def study(self, *options):
        subprocess.run([PROGRAM, *STUDY, *options], check=True, capture_output=True)
        return options[-1]

    def expect_same(self):
        for name in OUTPUTS:
            self.assertEqual(read(self.out, name), read(self.whole, name), name)
        status = subprocess.run([PROGRAM, "status", self.out], check=True, capture_output=True, text=True).stdout
        self.assertIn("8 of 8 cells done", status)


class MpirunTest(LauncherTest):
    def mpirun(self, *command):
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        return subprocess.run(["mpirun", "--oversubscribe", "-n", "3", *command], env=environment, check=True,
                              capture_output=True, text=True)

    def test_three_ranks_give_the_bytes_of_one_process(self):
        ran = self.mpirun(PROGRAM, *STUDY, "--out", self.out)
        self.expect_same()
        self.assertEqual(ran.stdout.count("report.html"), 1)
        self.assertEqual(ran.stderr.count("another has written the results"), 2)


    def test_the_others_do_the_work_of_a_rank_that_is_killed(self):
        longer = list(STUDY)
        longer[longer.index("--epochs") + 1] = "300"
        self.whole = os.path.join(self.folder, "longer")
        subprocess.run([PROGRAM, *longer, "--shard", "off", "--out", self.whole], check=True, capture_output=True)
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                           MPIRUN="mpirun --oversubscribe")
        ranks = subprocess.Popen([os.path.join(SCRIPTS, "mpi.sh"), "3", *longer[1:], "--out", self.out], env=environment,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        workers = os.path.join(self.out, "cells", "workers")
        found = []
        for _ in range(500):
            found = os.listdir(workers) if os.path.isdir(workers) else []
            if len(found) == 3 and all(b"\n" in read(workers, name) for name in found):  # each has signed
                break
            time.sleep(0.02)
        self.assertEqual(len(found), 3)
        os.kill(json.loads(read(workers, found[0]).decode().splitlines()[0])["pid"], signal.SIGKILL)
        text = ranks.communicate(timeout=120)[0]
        self.assertIn("report.html", text)
        self.expect_same()


class SlurmTest(LauncherTest):
    def test_array_and_steps_give_the_bytes_of_one_process(self):
        with slurm_cluster.SlurmCluster(tempfile.mkdtemp(dir=self.folder)) as cluster:
            self.cluster = cluster
            with self.subTest("array of four"):
                self.array()
            with self.subTest("srun"):
                self.steps()
            with self.subTest("a signal before the time limit"):
                self.requeue()

    def array(self):
        self.cluster.run("sbatch", "--array=1-4", "-o", self.folder + "/out-%a", os.path.join(SCRIPTS, "slurm", "array.sbatch"),
                         *STUDY[1:], "--out", self.out, cwd=self.folder)
        self.cluster.wait_for_jobs()
        texts = [read(self.folder, f"out-{k}").decode() for k in range(1, 5)]
        self.assertEqual(sum("report.html" in text for text in texts), 1, "\n".join(texts))
        self.expect_same()

    def steps(self):
        self.out = os.path.join(self.folder, "steps")
        self.cluster.run("srun", "-n", "3", "--overcommit", PROGRAM, *STUDY, "--out", self.out)
        self.expect_same()

    def requeue(self):
        """A task that gets the signal before its time limit leaves checkpoints and is queued again."""
        longer = list(STUDY)
        longer[longer.index("--epochs") + 1] = "300"
        self.whole = os.path.join(self.folder, "longer")
        subprocess.run([PROGRAM, *longer, "--shard", "off", "--out", self.whole], check=True, capture_output=True)
        self.out = os.path.join(self.folder, "requeued")
        job = self.cluster.run("sbatch", "--parsable", "--array=1-2", "-o", self.folder + "/requeued-%a",
                               os.path.join(SCRIPTS, "slurm", "array.sbatch"), *longer[1:], "--out", self.out,
                               cwd=self.folder).stdout.strip()
        workers = os.path.join(self.out, "cells", "workers")
        self.cluster.wait_for(lambda: os.path.isdir(workers) and len(os.listdir(workers)) > 1, "workers")
        self.cluster.run("scancel", "--signal=USR1", "--batch", job)
        text = os.path.join(self.folder, "requeued-1")
        self.cluster.wait_for(lambda: os.path.exists(text) and b"stopped" in read(text), "stop")
        self.cluster.wait_for(lambda: set(self.cluster.run("squeue", "-h", "-r", "-o", "%T").stdout.split()) <= {"PENDING"},
                              "tasks in the queue again")
        time.sleep(2)  # what a job was allowed before is forbidden by the second
        for task in (1, 2):  # Slurm lets a job that was queued again wait for two minutes
            self.cluster.run("scontrol", "update", f"jobid={job}_{task}", "starttime=now", check=False)
        self.cluster.wait_for_jobs()
        self.expect_same()


if __name__ == "__main__":
    missing = slurm_cluster.missing_programs() if LAUNCHER == "slurm" else [] if shutil.which("mpirun") else ["mpirun"]
    if missing:
        print("not installed:", *missing)
        sys.exit(77)
    case = {"mpirun": MpirunTest, "slurm": SlurmTest}[LAUNCHER]
    result = unittest.TextTestRunner(verbosity=2).run(unittest.defaultTestLoader.loadTestsFromTestCase(case))
    sys.exit(0 if result.wasSuccessful() else 1)
