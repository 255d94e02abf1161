"""A study by the workers of a Dask cluster: python dask_study.py SCHEDULER WORKERS OPTION...

    python dask_study.py tcp://scheduler:8786 16 --preset paper --seeds 20 --out /shared/paper

Every task is one worker of `synergraph reproduce`; the directory of --out is all that they share. A task that Dask gives up or
repeats costs nothing but time: the others take over, and what is done stays done.
"""
import subprocess
import sys

from dask.distributed import Client, as_completed


def work(shard, options):
    ran = subprocess.run(["synergraph", "reproduce", "--shard", shard, "--leave", "--quiet", *options], capture_output=True, text=True)
    return shard, ran.returncode, ran.stdout or ran.stderr


def main(scheduler, workers, *options):
    with Client(scheduler) as client:
        shards = [f"{k + 1}/{workers}" for k in range(int(workers))]
        tasks = [client.submit(work, shard, options, key=f"synergraph {shard}", retries=3) for shard in shards]
        failed = 0
        for _, (shard, status, text) in as_completed(tasks, with_results=True):
            print(f"--- worker {shard}, status {status}\n{text}", flush=True)
            failed |= status
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
