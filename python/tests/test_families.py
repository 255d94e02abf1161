"""Families of graphs against a reference in NumPy: their edges, degrees and numbers."""

import math

import numpy as np
import pytest

import synergraph as sg

FAMILIES = ["indegree:4", "indegree:2log", "expander:4", "expander:log", "poisson:0.2:log", "poisson:0.5:6", "fs:log", "fs:4log", "fs:3:0.9",
            "fs-sparse:log", "fs-sparse:4log:0.8", "fs-original", "longformer:log:2", "bigbird:2:2:2", "dilated:3:2", "power"]


def log2_up(count):
    return (count - 1).bit_length()


def blocks_of(begin, size):
    """FS cuts nodes into log2 (rounded up) even blocks, at least two; block k of c begins at floor(k size / c)."""
    count = min(size, max(2, log2_up(size)))
    return [begin + size * k // count for k in range(count + 1)]


def numbers_of(mask):
    """All numbers of a graph, from its matrices alone. mask[i, j]: node i hears node j."""
    nodes, edges = len(mask), mask.astype(float)
    walk, listening = (edges / edges.sum(0)).T, edges / edges.sum(1, keepdims=True)  # rows sum to one

    def times(steps, end):
        """Averaged and worst mixing times of a walk that ends at a node, and expected steps from each node."""
        others = np.delete(np.arange(nodes), end)
        inner = steps[np.ix_(others, others)]
        caught = [j for j in others if steps[j, j] == 1.0]
        if caught:
            # What stays for ever: the probability to end at each node that is a trap.
            free = [j for j in others if j not in caught]
            hit = np.linalg.solve(np.eye(len(free)) - steps[np.ix_(free, free)], steps[np.ix_(free, caught)].sum(1)) if free else np.zeros(0)
            limit = (hit.sum() + len(caught)) / nodes
        else:
            limit = 0.0
        alive = np.ones(nodes)
        alive[end] = 0.0
        averaged, averaged_tv, worst, t = math.inf, math.inf, math.inf, 0
        while t < 20000:
            mean = alive.sum() / nodes
            if averaged_tv == math.inf and mean < 0.25 * (1 - 1e-12):
                averaged_tv = t
            if averaged == math.inf and mean < 0.125 * (1 - 1e-12):
                averaged = t
            if worst == math.inf and alive.max() <= 0.25 * (1 + 1e-12):
                worst = t
            if (worst < math.inf or caught) and (averaged < math.inf or limit >= 0.125) and (averaged_tv < math.inf or limit >= 0.25):
                break
            alive[others] = inner @ alive[others]
            t += 1
        # Infinite from where the walk may come to a trap; the other nodes are a walk of their own.
        ways = np.linalg.matrix_power(steps + np.eye(nodes), nodes) > 0
        safe = [j for j in others if not ways[j, caught].any()]
        steps_to_end = np.full(nodes, math.inf)
        steps_to_end[end] = 0.0
        if safe:
            steps_to_end[safe] = np.linalg.solve(np.eye(len(safe)) - steps[np.ix_(safe, safe)], np.ones(len(safe)))
        return averaged, averaged_tv, worst, steps_to_end

    averaged, averaged_tv, worst, hitting = times(walk, nodes - 1)
    _, _, back_worst, back = times(listening, 0)
    signal, peak = np.eye(nodes)[-1], np.zeros(nodes)
    for _ in range(6 * nodes + 400):
        signal = signal @ listening
        peak = np.maximum(peak, signal)
    return {"averaged_mixing_time": averaged, "averaged_mixing_time_tv": averaged_tv, "mixing_time": worst, "hitting_mean": hitting.mean(),
            "minimax_fidelity": peak[:-1].min(), "normalised_fidelity": nodes * peak[:-1].min(), "backward_hitting_time": back[-1],
            "backward_mixing_time": back_worst, "fidelity_bound": back[-1] / (nodes - 1), "edges": int(mask.sum())}


@pytest.mark.parametrize("family", FAMILIES)
def test_numbers(family):
    """Every number equals the reference on small graphs. Traps and unreachable nodes give infinite times in both."""
    for nodes in (2, 7, 16, 33, 48):
        if family == "expander:4" and nodes < 7:
            continue
        for seed in (1, 2):
            graph = sg.family(family, nodes, seed)
            measured, expected = graph.measure(), numbers_of(graph.mask())
            assert measured["exact"]
            for key, value in expected.items():
                assert measured[key] == pytest.approx(value, rel=1e-10, abs=1e-300), (nodes, seed, key)


def test_edges_of_definite_families():
    """Rebuilds every family without chance, edge by edge, from the definitions in docs/graphs.md."""
    for nodes in (1, 2, 5, 16, 50, 97):
        for family, hears in [("longformer:4:2", lambda i, j: i - j <= 4 or j < 2), ("dilated:3:5", lambda i, j: (i - j) % 5 == 0 and i - j <= 15),
                              ("power", lambda i, j: i == j or (i - j) & (i - j - 1) == 0)]:
            assert np.array_equal(sg.family(family, nodes).mask(), [[j <= i and hears(i, j) for j in range(nodes)] for i in range(nodes)])
        begins = blocks_of(0, nodes) if nodes > 2 else [k * nodes // max(1, log2_up(nodes)) for k in range(max(1, log2_up(nodes)) + 1)]
        block = np.searchsorted(begins, np.arange(nodes), side="right") - 1
        last = len(begins) - 2
        assert np.array_equal(sg.family("fs-original", nodes).mask(),
                              [[i == j or block[j] == block[i] - 1 or (block[i] == block[j] == last and j < i) for j in range(nodes)] for i in range(nodes)])


@pytest.mark.parametrize("nodes", [16, 60, 200])
def test_edges_of_fs(nodes):
    """Edges of FS go to the next block of some level, so many to each node, and nearly as many from each; the last block is complete or filled."""
    def check(begin, size, matchings, complete):
        if size <= 1:
            return
        begins = blocks_of(begin, size)
        for k in range(len(begins) - 1):
            low, high = begins[k], begins[k + 1]
            if k > 0:
                part = mask[low:high, begins[k - 1]:low]
                wanted = min(low - begins[k - 1], max(1, math.floor(matchings + 0.5)))
                assert (part.sum(1) == wanted).all()
                # A matching is perfect, but for one node of a larger block and the repairs of repeated partners.
                assert abs(part.sum(0).mean() - wanted * part.shape[0] / part.shape[1]) < 1e-12
                seen[low:high, begins[k - 1]:low] = True
            if complete and k == len(begins) - 2:
                assert np.array_equal(mask[low:high, low:high], np.tri(high - low, dtype=bool))
                seen[low:high, low:high] = True
            else:
                check(low, high - low, matchings * ratio, False)

    for seed in range(3):
        for name, complete in (("fs", True), ("fs-sparse", False)):
            for matchings, ratio in ((3, 0.5), (8, 0.9), (40, 0.5)):
                mask = sg.family(f"{name}:{matchings}:{ratio}", nodes, seed).mask()
                seen = np.eye(nodes, dtype=bool)
                check(0, nodes, matchings, complete)
                assert not (mask & ~seen).any()


def likely(counts, probabilities, trials):
    """Counts of independent trials lie within 5.5 standard deviations: wrong for one in 10^7 of them."""
    expected = trials * probabilities
    return (np.abs(counts - expected) <= 5.5 * np.sqrt(trials * probabilities * (1 - probabilities)) + 1e-9).all()


def test_degrees():
    """Each edge of a random family is there with its probability, over many seeds; indegrees have their laws."""
    nodes, trials = 24, 1500
    query, key = np.indices((nodes, nodes))
    later = query > key
    masks = {family: np.array([sg.family(family, nodes, seed).mask() for seed in range(trials)])
             for family in ("indegree:5", "expander:6", "poisson:0.3:6", "bigbird:2:1:3", "fs:2:0.5")}
    with np.errstate(divide="ignore"):
        assert likely(masks["indegree:5"].sum(0)[later], np.minimum(1, 5 / query)[later], trials)
    assert likely(masks["expander:6"].sum(0)[later], np.full(later.sum(), 6 / (nodes - 1)), trials)
    degrees = masks["expander:6"] | masks["expander:6"].transpose(0, 2, 1)
    assert (degrees.sum(2) == 7).all()
    # poisson: node i - g is heard if it is not skipped and fewer than 5 of the g - 1 between are heard.
    gap = query - key
    heard = np.array([[0.7 * sum(math.comb(g - 1, m) * 0.7**m * 0.3**(g - 1 - m) for m in range(min(5, g))) if g > 0 else 1.0 for g in row] for row in gap])
    assert likely(masks["poisson:0.3:6"].sum(0)[later], heard[later], trials)
    assert (masks["poisson:0.3:6"].sum(2) <= 6).all()
    # bigbird: three of the nodes that are neither in the window nor global.
    between = np.maximum(0, query - 2 - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        random = np.where((gap > 2) & (key >= 1), np.minimum(1, 3 / between), 1.0)
    assert likely(masks["bigbird:2:1:3"].sum(0)[later], random[later], trials)
    # fs: between blocks of equal size each edge has the same chance. 24 nodes are blocks of 4, 5, 5, 5, 5.
    begins = blocks_of(0, nodes)
    assert begins == [0, 4, 9, 14, 19, 24]
    part = masks["fs:2:0.5"][:, 14:19, 9:14]
    assert likely(part.sum(0), np.full((5, 5), 2 / 5), trials) and (part.sum(2) == 2).all() and (part.sum(1) == 2).all()


def test_heads_of_several_families():
    """Heads from several families: their masks are those of the families, and the combined numbers those of the mean of their matrices."""
    families = ["fs:32:log", "power:32", "longformer:32:3:1", "poisson:32:0.2:6"]
    graph = sg.Graph.generate(*families)
    masks = [sg.family(name.replace(":32", "", 1), 32).mask() for name in families]
    for head, mask in enumerate(masks):
        assert np.array_equal(graph.mask(head), mask)
    listening = np.mean([mask / mask.sum(1, keepdims=True) for mask in masks], axis=0)
    signal, peak = np.eye(32)[-1], np.zeros(32)
    for _ in range(400):
        signal = signal @ listening
        peak = np.maximum(peak, signal)
    assert graph.measure()["minimax_fidelity"] == pytest.approx(peak[:-1].min(), rel=1e-11)


def test_families_side_by_side(program):
    """sg.families has the rows of the program, and each row the numbers of its graph."""
    result = sg.families(["poisson:0.2:log", "power"], [16, 40], graphs=2)
    arguments = ["families", "--families", "poisson:0.2:log,power", "--sizes", "16,40", "--graphs", "2", "--quiet"]
    assert result.to_csv() == program(*arguments, "--csv", "-") and result.to_json() == program(*arguments, "--json", "-")
    assert result.table() == program(*arguments)
    assert result.names == ["poisson:0.2:log"] * 4 + ["power"] * 2 and result["nodes"].tolist() == [16, 16, 40, 40, 16, 40]
    for k, name in enumerate(result.names):
        for key, value in sg.family(name, int(result["nodes"][k]), int(result["seed"][k]) or 1).measure().items():
            assert result[key][k] == value, (k, key)
    assert sg.families("power", 16, step_limit=3)["exact"].tolist() == [0]
    for arguments, message in [(("ring:3",), "unknown family 'ring'"), (("power", 0), "'sizes' is not a whole number from 1"), (("power", [16, 2**31]), "sizes")]:
        with pytest.raises(sg.UsageError, match=message):
            sg.families(*arguments)


def test_figure_of_families():
    pytest.importorskip("matplotlib").use("Agg")
    result = sg.families(["power", "dilated:1:1", "indegree:2"], [16, 64], graphs=2)
    panel, = result.plot(figsize=(4, 3)).axes
    power, line, never = panel.get_lines()
    assert power.get_xdata().tolist() == pytest.approx([8.0, 14.0]) and line.get_xdata()[1] == pytest.approx(111.0)
    assert len(never.get_xdata()) == 0  # walks that never arrive have no mark
    assert len(result.to_pandas()) == 8 and result.to_pandas()["family"][7] == "indegree:2"


def test_levels_of_fs():
    """Inside a block of FS, the same construction with fewer matchings: here one matching of two nodes with two."""
    nodes, trials = 24, 1500
    masks = np.array([sg.family("fs-sparse:1:0.5", nodes, seed).mask() for seed in range(trials)])
    part = masks[:, 22:24, 20:22]  # the last block is cut at 19, 20, 22 and 24
    assert (part.sum(1) == 1).all() and (part.sum(2) == 1).all()
    assert likely(part.sum(0), np.full((2, 2), 0.5), trials)
    assert masks[:, 20:22, 19].all() and not masks[:, 22:24, 19].any()
    assert likely(masks[:, 9:14, 4:9].sum(0), np.full((5, 5), 0.2), trials)
