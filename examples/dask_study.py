"""A study by the workers of a Dask cluster: python dask_study.py SCHEDULER WORKERS OPTION...

    python dask_study.py tcp://scheduler:8786 16 --preset paper --seeds 20 --out /shared/paper

Every task is one worker of `synergraph reproduce` (SYNERGRAPH names another program); the directory of --out is all that they share.
A task that is killed is begun again, what is done stays done. `synergraph status /shared/paper` shows how far it is.
"""
import os
import subprocess
import sys


def work(program, shard, options):
    ran = subprocess.run([program, "reproduce", "--shard", shard, "--leave", "--quiet", *options], capture_output=True, text=True)
    if ran.returncode < 0:
        raise RuntimeError(f"worker {shard} was killed by signal {-ran.returncode}\n{ran.stderr}")  # Dask tries again
    return shard, ran.returncode, ran.stdout + ran.stderr


def main(scheduler, workers, *options):
    from dask.distributed import Client, as_completed

    program = os.environ.get("SYNERGRAPH", "synergraph")
    with Client(scheduler) as client:
        shards = [f"{k + 1}/{workers}" for k in range(int(workers))]
        # pure: the same call for another time or user would be taken for done
        tasks = [client.submit(work, program, shard, options, pure=False, retries=3) for shard in shards]
        failed = 0
        for task in as_completed(tasks):
            if task.status == "error":
                print(f"--- {task.exception()}", flush=True)
                failed = 1
                continue
            shard, status, text = task.result()
            print(f"--- worker {shard}, status {status}\n{text}", flush=True)
            failed |= status
    return failed


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
