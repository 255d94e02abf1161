"""Sparse graphs: families, masks, files, and files that are wrong."""

import io
import zipfile

import numpy as np
import pytest

import synergraph as sg

FAMILIES = ["indegree:4", "expander:log", "poisson:0.2:log", "fs:log", "fs-original", "longformer:log:2", "bigbird:2:2:2", "dilated:3:2", "power"]


@pytest.mark.parametrize("description", FAMILIES)
def test_masks(description):
    graph = sg.family(description, 60, seed=3)
    mask = graph.mask()
    assert mask.dtype == bool and mask.shape == (60, 60)
    assert mask.sum() == graph.edge_count and mask.diagonal().all() and not np.triu(mask, 1).any()
    assert sg.SparseGraph.from_mask(mask) == graph
    dense = graph.as_graph()
    assert np.array_equal(dense.mask(), mask) and np.array_equal(sg.Graph.from_mask(mask).mask(), mask)
    assert dense.measure()["minimax_fidelity"] == pytest.approx(graph.measure()["minimax_fidelity"], rel=1e-12)


def test_definitions():
    """Query i of `power` attends to i, i-1, i-2, i-4, ...; of `longformer:2:1` to the last two tokens and the first one."""
    query, key = np.indices((32, 32))
    distance = query - key
    assert np.array_equal(sg.family("power", 32).mask(), np.isin(distance, [0, 1, 2, 4, 8, 16]))
    assert np.array_equal(sg.family("longformer:2:1", 32).mask(), (distance >= 0) & ((distance <= 2) | (key == 0)))


def test_equals_the_program(program):
    header, *rows = program("families", "--families", "poisson:0.2:log,power", "--sizes", "40", "--graphs", "2", "--csv", "-", "--quiet").split()
    for row in rows:
        stated = dict(zip(header.split(","), row.split(",")))
        measured = sg.family(stated["family"], 40, int(stated["seed"] or 1)).measure()
        assert all(float(stated[key]) == value for key, value in measured.items() if key != "exact")
        assert (stated["exact"] == "true") == measured["exact"]


def test_seeds():
    assert sg.family("fs:4", 50) == sg.family("fs:4", 50, seed=1, threads=2)
    assert sg.family("fs:4", 50) != sg.family("fs:4", 50, seed=2**64 - 1)
    with pytest.raises(sg.UsageError, match="unknown family 'ring'"):
        sg.family("ring:3", 8)
    with pytest.raises(sg.UsageError, match="seed: -1"):
        sg.family("power", 8, seed=-1)
    with pytest.raises(sg.InputError, match="1 to 1073741824 nodes, not 0"):
        sg.family("power", 0)


def test_torch():
    torch = pytest.importorskip("torch")
    graph = sg.family("bigbird:2:1:2", 20)
    mask = graph.mask(torch=True)
    assert mask.dtype == torch.bool and np.array_equal(mask.numpy(), graph.mask())
    assert sg.SparseGraph.from_mask(mask) == graph
    both = sg.Graph.from_mask(torch.stack([mask, torch.eye(20, dtype=torch.bool)]))
    assert np.array_equal(both.mask(1), np.eye(20)) and torch.equal(both.mask(torch=True, device="cpu"), mask)
    # As create_block_mask() calls it: with indices on all axes.
    index = [torch.arange(2)[:, None, None, None], torch.arange(2)[:, None, None], torch.arange(20)[:, None], torch.arange(20)]
    expected = torch.stack([mask, torch.eye(20, dtype=torch.bool)])
    assert torch.equal(both.mask_mod()(*index).expand(2, 2, 20, 20), expected.expand(2, 2, 20, 20))
    assert torch.equal(graph.mask_mod("cpu")(*index).expand(2, 2, 20, 20), mask.expand(2, 2, 20, 20))
    with pytest.raises(sg.UsageError, match="device: 'nowhere'"):
        graph.mask_mod("nowhere")
    with pytest.raises(sg.UsageError, match="head: 2"):
        both.mask(2)


def test_flex_attention():
    """Softmax over the edges of the graph alone, where this torch has flex attention."""
    torch = pytest.importorskip("torch")
    flex = pytest.importorskip("torch.nn.attention.flex_attention")
    graph = sg.family("power", 128)
    torch.manual_seed(0)
    queries, keys, values = torch.randn(3, 1, 2, 128, 16)
    block_mask = flex.create_block_mask(graph.mask_mod(), None, None, 128, 128, device="cpu")
    expected = torch.nn.functional.scaled_dot_product_attention(queries, keys, values, attn_mask=graph.mask(torch=True))
    assert torch.allclose(flex.flex_attention(queries, keys, values, block_mask=block_mask), expected, atol=1e-5)


@pytest.mark.parametrize("mask, message", [
    (np.ones((3, 3)), "elements are float64; a mask is boolean"),
    (np.ones((3, 3), dtype=bool), "query 0 attends to key 1, a later token"),
    (np.ones((3, 2), dtype=bool), r"shape \(3, 2\)"),
    (np.ones((0, 0), dtype=bool), r"shape \(0, 0\)"),
    (np.ones((2, 2, 3, 3), dtype=bool), "shape"),
    ("mask", "elements are"),
])
def test_masks_that_are_wrong(mask, message):
    for kind in (sg.Graph, sg.SparseGraph):
        with pytest.raises(sg.InputError, match=message):
            kind.from_mask(mask)


@pytest.mark.parametrize("name", ["graph.npz", "graph.txt"])
@pytest.mark.parametrize("weighted", [False, True])
def test_files(tmp_path, name, weighted):
    graph = sg.family("fs:3", 40)
    if weighted:
        senders, receivers, _ = graph.edges()
        graph = sg.SparseGraph(40, senders, receivers, np.random.default_rng(0).random(senders.size) + 1e-9)
    graph.save(tmp_path / name)
    assert sg.SparseGraph.read(tmp_path / name) == graph
    assert [path.name for path in tmp_path.iterdir()] == [name]
    with pytest.raises(sg.InputError, match="edge .* leaves the graph|has 40 nodes, not 39"):
        sg.SparseGraph.read(tmp_path / name, nodes=39)


@pytest.mark.parametrize("layout", ["csr", "csc"])
@pytest.mark.parametrize("compressed", [False, True])
def test_scipy(tmp_path, layout, compressed):
    sparse = pytest.importorskip("scipy.sparse")
    graph = sg.family("bigbird:2:2:2", 50)
    graph.save(tmp_path / "ours.npz")
    assert np.array_equal(sparse.load_npz(tmp_path / "ours.npz").toarray(), graph.mask())
    values = np.tril(np.random.default_rng(1).random((50, 50))) * graph.mask()
    matrix = sparse.csr_matrix(values).asformat(layout)
    sparse.save_npz(tmp_path / "theirs.npz", matrix, compressed=compressed)
    read = sg.SparseGraph.read(tmp_path / "theirs.npz")
    senders, receivers, weights = read.edges()
    assert np.array_equal(read.mask(), graph.mask()) and np.array_equal(weights, values[receivers, senders])


@pytest.mark.parametrize("name", ["graph.npz", "graph.txt"])
def test_folders_that_are_not_there(tmp_path, name):
    with pytest.raises(FileNotFoundError, match=f"none/{name}'$"):
        sg.family("power", 4).save(tmp_path / "none" / name)
    (tmp_path / name).mkdir()
    with pytest.raises(OSError, match=f"{name}'$"):
        sg.family("power", 4).save(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_text(tmp_path):
    path = tmp_path / "graph.txt"
    path.write_text("0 1\n\n1 2  # a comment\n# another\n0 0\n")
    graph = sg.SparseGraph.read(path)
    assert graph.nodes == 3 and graph.mask().astype(int).tolist() == [[1, 0, 0], [1, 0, 0], [0, 1, 0]]
    assert sg.SparseGraph.read(path, nodes=9).nodes == 9
    path.write_text("# nodes 5\n")
    assert repr(sg.SparseGraph.read(path)) == "<synergraph.SparseGraph: 0 edges on 5 nodes>"


@pytest.mark.parametrize("text, message", [
    ("0 1\n0 x\n", "expected \"from to\""),
    ("0 1\n0 1 2\n", "expected \"from to\""),
    ("0 1 2 3\n", "4 numbers on a line"),
    ("1 0\n", "edge 1 -> 0 goes backward"),
    ("0 1.5\n", "nodes are whole numbers"),
    ("-1 0\n", "nodes are whole numbers"),
    ("0 nan\n", "nodes are whole numbers"),
    ("0 2147483648\n", "nodes are whole numbers"),
    ("0 1 -2\n", "edge 0 -> 1 has weight -2"),
    ("0 1 inf\n", "weights must be positive and finite"),
    ("0 1\n0 1\n", "edge 0 -> 1 is there twice"),
    ("# nodes 1\n0 1\n", "edge 0 -> 1 leaves the graph, which has nodes 0 to 0"),
    ("# nodes 9999999999\n0 1\n", "1 to 1073741824 nodes, not 9999999999"),
    ("", "1 to 1073741824 nodes, not 0"),
    pytest.param("1" * 5000, "more than 1000 characters", id="a long line"),
    ("\x1b[2J\n", "expected"),
])
def test_texts_that_are_wrong(tmp_path, text, message):
    path = tmp_path / "graph.txt"
    path.write_text(text)
    refused(path, message)


def refused(path, message):
    with pytest.raises(sg.InputError, match=message) as caught:
        sg.SparseGraph.read(path)
    text = str(caught.value)
    assert text.isprintable() and path.name in text and len(text) < 400
    return text


def members(**changes):
    """What SciPy would write for a line of four nodes, with changes; None leaves a member out."""
    arrays = {"indices": np.array([0, 0, 1, 2], dtype=np.int32), "indptr": np.array([0, 1, 2, 3, 4], dtype=np.int32), "format": np.array(b"csr"),
              "shape": np.array([4, 4]), "data": np.ones(4)}
    return {name: array for name, array in {**arrays, **changes}.items() if array is not None}


def claiming(shape):
    """An array whose header claims another shape than its numbers have."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<i4", "fortran_order": False, "shape": shape})
    return file.getvalue() + bytes(16)


@pytest.mark.parametrize("changes, message", [
    ({"indices": None}, "indices is missing; expected a file of scipy.sparse.save_npz"),
    ({"format": np.array(b"coo")}, "format 'coo', expected csr or csc"),
    ({"format": np.array(b"\x1b[2J")}, "expected csr or csc"),
    ({"format": np.array({}, dtype=object)}, "format holds objects of Python"),
    ({"format": np.zeros(10**6, dtype="S3")}, "expected the text csr or csc"),
    ({"shape": np.array([4, 5])}, "a matrix of 4 x 5; expected a square one"),
    ({"shape": np.array([0, 0])}, "a matrix of 0 x 0"),
    ({"shape": np.array([2**40, 2**40])}, "expected a square one"),
    ({"shape": np.array([-4, -4])}, "expected a square one"),
    ({"shape": np.array([4.0, 4.0])}, "shape is float64"),
    ({"indptr": np.arange(4)}, r"indptr is int64 of shape \(4,\), expected 5 integers"),
    ({"indptr": np.array([0, 2, 1, 3, 4])}, "never decrease"),
    ({"indptr": np.array([1, 1, 2, 3, 4])}, "begin with 0"),
    ({"indptr": np.array([0, 1, 2, 3, 2**31])}, "2147483648 edges of 4 nodes, which have at most 10"),
    ({"indptr": np.array([0, 1, 2, 3, -1])}, "never decrease"),
    ({"indices": np.array([0, 0, 1, 2**63], dtype=np.uint64)}, "indices contains 9223372036854775808"),
    ({"indices": np.array([0, 0, 1])}, r"indices is int64 of shape \(3,\), expected 4 integers"),
    ({"indices": np.array([0, 0, 1, 4])}, "edge 4 -> 3 leaves the graph, which has nodes 0 to 3"),
    ({"indices": np.array([0, 0, 1, -1])}, "edge -1 -> 3 leaves the graph"),
    ({"indices": np.array([0, 2, 1, 2])}, "edge 2 -> 1 goes backward"),
    ({"indptr": np.array([0, 1, 2, 2, 4]), "indices": np.array([0, 0, 1, 1])}, "edge 1 -> 3 is there twice"),
    ({"data": np.ones(3)}, "expected 4 numbers"),
    ({"data": np.array(["a"] * 4)}, "expected 4 numbers"),
    ({"data": np.array([None] * 4)}, "data holds objects of Python"),
    ({"data": np.array([1, 1, np.nan, 1])}, "edge 1 -> 2 has weight nan"),
    ({"data": np.array([1, -1, 1, 1])}, "edge 0 -> 1 has weight -1"),
])
def test_arrays_that_are_wrong(tmp_path, changes, message):
    np.savez(tmp_path / "graph.npz", **members(**changes))
    refused(tmp_path / "graph.npz", message)


@pytest.mark.parametrize("changes", [
    {"indices": "<i8", "indptr": "<i8"}, {"indices": "<u2", "indptr": "<u4"}, {"indices": ">i4", "indptr": ">i8", "data": ">f8"}, {"data": "<f4"}, {"data": "<f2"}, {"data": "|i1"},
], ids=str)
def test_types_of_numbers(tmp_path, program, changes):
    """A graph of seven nodes with a zero row, a zero column and indices in any order has the same numbers in every type that can hold it."""
    weights = np.tril(np.arange(49).reshape(7, 7) % 5) * 2.0
    weights[3], weights[:, 4] = 0.0, 0.0  # node 3 hears nobody, nobody hears node 4
    queries, keys = np.nonzero(weights)
    expected = sg.SparseGraph(7, keys, queries, weights[queries, keys]).measure()
    order = np.lexsort((-keys, queries))  # by row, from the last column to the first
    arrays = {"indices": keys[order].astype("<i4"), "indptr": np.append(0, np.cumsum(np.bincount(queries, minlength=7))).astype("<i4"),
              "data": weights[queries, keys][order], "shape": np.array([7, 7]), "format": np.array(b"csr")}
    for name, dtype in changes.items():
        arrays[name] = arrays[name].astype(dtype)
    np.savez(tmp_path / "graph.npz", **arrays)
    assert sg.SparseGraph.read(tmp_path / "graph.npz").measure() == expected
    header, row = program("families", tmp_path / "graph.npz", "--csv", "-", "--quiet").splitlines()
    stated = dict(zip(header.split(","), row.split(",")))
    assert all(float(stated[key]) == value for key, value in expected.items() if key != "exact") and expected["exact"]


def test_stored_zeros_are_no_edges(tmp_path):
    np.savez(tmp_path / "graph.npz", **members(data=np.array([1, 0, 1, 1])))
    assert sg.SparseGraph.read(tmp_path / "graph.npz").edge_count == 3


def test_many_nodes_need_memory(tmp_path):
    """2^31 edges on 100,000 nodes are possible; without their indices the file is refused before any memory is taken."""
    first = np.zeros(100001, dtype=np.int64)
    first[-1] = 2**31
    np.savez_compressed(tmp_path / "graph.npz", **members(shape=np.array([100000, 100000]), indptr=first))
    refused(tmp_path / "graph.npz", "2147483648 edges need 128 GiB of memory|expected 2147483648 integers")


@pytest.mark.parametrize("shape", [(2**40,), (-4,), (2**62, 2**62), (5,)])
def test_headers_that_lie(tmp_path, shape):
    np.savez(tmp_path / "graph.npz", **members(indices=None))
    with zipfile.ZipFile(tmp_path / "graph.npz", "a") as archive:
        archive.writestr("indices.npy", claiming(shape))
    refused(tmp_path / "graph.npz", "indices has")


def test_files_that_are_damaged(tmp_path):
    """A file with any byte changed is read, or refused with one line."""
    path = tmp_path / "graph.npz"
    sg.family("power", 12).save(path)
    whole = path.read_bytes()
    for end in range(0, len(whole), 37):
        path.write_bytes(whole[:end])
        refused(path, "not a readable .npz file")
    random = np.random.default_rng(0)
    for place in random.integers(len(whole), size=600):
        damaged = bytearray(whole)
        damaged[place] ^= int(random.integers(1, 256))
        path.write_bytes(damaged)
        try:
            sg.SparseGraph.read(path)
        except sg.InputError as error:
            assert str(error).isprintable() and len(str(error)) < 400
    with pytest.raises(FileNotFoundError):
        sg.SparseGraph.read(tmp_path / "none.npz")


def test_edges_in_memory():
    graph = sg.SparseGraph(3, [1, 0], [2, 1])
    assert graph.edges()[0].tolist() == [0, 1] and graph == sg.SparseGraph(3, [0, 1], [1, 2], [1, 1])
    assert graph.measure(eps=0.5)["hitting_mean"] >= 0
    for arguments, message in [((3, [0, 1], [2]), "one length"), ((2, [0], [2]), "leaves the graph"), ((2, [0.5], [1]), "whole numbers"),
                               ((2, [0], [1], [0]), "weight 0"), ((2, [[0]], [[1]]), "one length")]:
        with pytest.raises(sg.InputError, match=message):
            sg.SparseGraph(*arguments)
    with pytest.raises(sg.UsageError, match="nodes: 0"):
        sg.SparseGraph(0, [], [])
    with pytest.raises(sg.UsageError, match="eps: 2"):
        graph.measure(eps=2)
