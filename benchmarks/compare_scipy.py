"""A step of a walk on a sparse graph: synergraph against SciPy's sparse product, in one run.

    python3 benchmarks/compare_scipy.py                                   # an FS graph of 2^20 nodes, about 93 million edges
    python3 benchmarks/compare_scipy.py --family power --nodes 65536

SciPy multiplies a csr matrix of float64 by a vector, as one writes it; the matrix holds probabilities already. synergraph's time of a step is the difference
of two measurements with different step limits, divided by the additional steps of the walk and of the way back: all else cancels. The runs
alternate, and the medians are compared. First, both must find the same mixing times.
"""

import argparse
import statistics
import time

import numpy as np
import scipy
import scipy.sparse

import synergraph as sg

STEPS = 160  # additional steps of each walk


def timed(call):
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def mixing_times(matrix, eps=0.25):
    """T_avg by the L1 distance and T_mix, by steps of SciPy."""
    alive = np.ones(matrix.shape[0])
    alive[-1] = 0.0
    averaged = worst = None
    step = 0
    while averaged is None or worst is None:
        step += 1
        alive = matrix @ alive
        if averaged is None and alive.mean() < eps / 2:
            averaged = step
        if worst is None and alive.max() <= eps:
            worst = step
    return averaged, worst


def main():
    parser = argparse.ArgumentParser(description="Compare a step of a walk with SciPy's sparse product.")
    parser.add_argument("--family", default="fs-sparse:4log:0.1", help="family as for `synergraph families`")
    parser.add_argument("--nodes", type=int, default=2**20)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    seconds, graph = timed(lambda: sg.family(options.family, options.nodes))
    print(f"{options.family} of {options.nodes} nodes, {graph.edge_count} edges, made in {seconds:.1f} s; SciPy {scipy.__version__}")
    counts = np.diff(graph.first)
    # Row j has the probabilities of the steps from node j, so a product gives every node's survival one step later.
    matrix = scipy.sparse.csr_matrix((np.repeat(1.0 / counts, counts), graph.receivers, graph.first.astype(np.int32)), shape=(graph.nodes, graph.nodes))
    matrix.data[matrix.indptr[-2]:] = 0.0  # the sink

    seconds, measured = timed(graph.measure)
    found = mixing_times(matrix)
    print(f"all numbers: {seconds:.1f} s; T_avg {measured['averaged_mixing_time']:.0f} (SciPy {found[0]}), T_mix {measured['mixing_time']:.0f} (SciPy {found[1]}), "
          f"F {measured['normalised_fidelity']:.3g}, {'certified' if measured['exact'] else 'not certified'}")
    if found != (measured["averaged_mixing_time"], measured["mixing_time"]):
        raise SystemExit("the mixing times differ")

    # With such an eps the walks end at the step limit alone.
    def walks(steps):
        return timed(lambda: graph.measure(eps=1e-300, step_limit=steps))[0]

    ours, theirs = [], []
    alive = np.ones(graph.nodes)
    for _ in range(options.repeats):
        short, long = walks(112), walks(112 + STEPS)
        ours.append((long - short) / (2 * STEPS))
        theirs.append(timed(lambda: [matrix @ alive for _ in range(4)])[0] / 4)
    print(f"a step: synergraph {1e3 * statistics.median(ours):.1f} ms, SciPy {1e3 * statistics.median(theirs):.1f} ms: "
          f"{statistics.median(theirs) / statistics.median(ours):.1f} times as fast (medians of {options.repeats})")
    print("synergraph:", ", ".join(f"{1e3 * value:.1f}" for value in ours), "ms; SciPy:", ", ".join(f"{1e3 * value:.1f}" for value in theirs), "ms")


if __name__ == "__main__":
    main()
