"""compare_python.py PROGRAM [REPEATS]: `sg.measure` on a NumPy array beside `synergraph analyze` on the file of the same array.

Both are run in turn, and the medians of the ratios of wall and CPU time are printed: those of the call alone, and with reading the
file (np.load, mapped) and writing the document (to_json), as the program does. The documents must be equal.
"""

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import synergraph as sg

SHAPES = [(12, 4, 12, 128, 128), (4, 2, 16, 512, 512), (1, 1, 16, 2048, 2048)]


def random_attention(shape):
    values = np.exp(2 * np.random.default_rng(0).standard_normal(shape, dtype=np.float32))
    values *= np.tri(shape[-1], dtype=np.float32)
    return values / values.sum(-1, keepdims=True)


def seconds(call, who):
    """What a call returns, and its wall and CPU seconds."""
    before, begun = resource.getrusage(who), time.perf_counter()
    value = call()
    wall, after = time.perf_counter() - begun, resource.getrusage(who)
    return value, wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main():
    program, repeats = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 9
    print("shape                     program   sg.measure: wall  CPU   with file and document: wall  CPU")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "attention.npy"
        for shape in SHAPES:
            array = random_attention(shape)
            np.save(path, array)
            command = [program, "analyze", str(path), "--json", "-", "--quiet"]
            runs = []
            for _ in range(repeats + 1):
                runs.append((seconds(lambda: subprocess.run(command, check=True, capture_output=True).stdout, resource.RUSAGE_CHILDREN),
                             seconds(lambda: sg.measure(array), resource.RUSAGE_SELF),
                             seconds(lambda: sg.measure(np.load(path, mmap_mode="r")).to_json(), resource.RUSAGE_SELF)))
            assert runs[0][0][0].decode() == runs[0][2][0], "the documents differ"

            def ratio(of, kind):
                return statistics.median(run[of][kind] / run[0][kind] for run in runs[1:])

            took = statistics.median(run[0][1] for run in runs[1:])
            print(f"{str(shape):24} {took:8.3f} s {ratio(1, 1):17.3f} {ratio(1, 2):5.3f} {ratio(2, 1):29.3f} {ratio(2, 2):5.3f}")


main()
