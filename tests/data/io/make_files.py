#!/usr/bin/env python3
"""Makes the files in this folder and the seed corpora in fuzz/corpus, with NumPy and PyTorch.

The files are committed; the tests need neither library. Element k (in C order) of every array is
k / 2 - 3 for floating-point types, k for integers and k % 2 for bool.
"""
import collections
import io
import json
import os
import pickle
import struct
import zipfile

import numpy as np
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
CORPUS = os.path.join(HERE, "..", "..", "..", "fuzz", "corpus")


def array(dtype, *shape):
    k = np.arange(int(np.prod(shape)))
    dtype = np.dtype(dtype)
    values = k / 2 - 3 if dtype.kind == "f" else k % 2 if dtype.kind == "b" else k
    return values.astype(dtype).reshape(shape)


def save(name, data):
    with open(os.path.join(HERE, name), "wb") as file:
        file.write(data)


def seed(target, name, data):
    os.makedirs(os.path.join(CORPUS, target), exist_ok=True)
    with open(os.path.join(CORPUS, target, name), "wb") as file:
        file.write(data)


def npy(a, version=(1, 0)):
    out = io.BytesIO()
    np.lib.format.write_array(out, a, version=version)
    return out.getvalue()


def make_npy():
    files = {}
    for dtype in "<f2 >f2 <f4 >f4 <f8 >f8 |b1 |u1 |i1 <u2 >u2 <i2 >i2 <u4 >u4 <i4 >i4 <u8 >u8 <i8 >i8".split():
        label = {"<": "le", ">": "be", "|": "1"}[dtype[0]] + "_" + dtype[1:]
        files[label] = npy(array(dtype, 2, 3))
    files["fortran"] = npy(np.asfortranarray(array("<f4", 3, 4, 5)))
    files["fortran_be"] = npy(np.asfortranarray(array(">f8", 4, 3)))
    files["version2"] = npy(array("<f4", 2, 3), (2, 0))
    files["version3"] = npy(array("<f4", 2, 3), (3, 0))
    files["scalar"] = npy(array("<f8"))
    files["empty"] = npy(array("<f4", 3, 0, 2))
    files["text"] = npy(np.array(["a", "bc"]))
    files["records"] = npy(np.zeros(2, dtype=[("x", "<f4"), ("y", "<i4")]))
    for label, data in files.items():
        save(f"npy_{label}.npy", data)
        seed("npy", label, data)


def make_npz():
    arrays = {
        "attention": array("<f4", 2, 3, 3),
        "tokens": array("<i4", 5),
        "layers/0/weight": np.asfortranarray(array("<f8", 3, 4)),
        "words": np.array(["a", "bc"]),
    }
    for name, writer in (("stored", np.savez), ("deflated", np.savez_compressed)):
        out = io.BytesIO()
        writer(out, **arrays)
        save(f"npz_{name}.npz", out.getvalue())
        seed("npz", name, out.getvalue())


def safetensors(tensors, metadata):
    header, data = {"__metadata__": metadata} if metadata else {}, b""
    for name, (dtype, shape, raw) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def make_safetensors():
    numpy_types = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "U64": "<u8", "I32": "<i4",
                   "U32": "<u4", "I16": "<i2", "U16": "<u2", "I8": "|i1", "U8": "|u1", "BOOL": "|b1"}
    tensors = {f"t.{name}": (name, [2, 3], array(dtype, 2, 3).tobytes()) for name, dtype in numpy_types.items()}
    floats = array("<f4", 2, 3).view("<u4")
    tensors["t.BF16"] = ("BF16", [2, 3], (floats >> 16).astype("<u2").tobytes())
    tensors["empty"] = ("F32", [0, 4], b"")
    tensors["scalar"] = ("F32", [], array("<f4").tobytes())
    data = safetensors(tensors, {"format": "pt", "task": "copy"})
    save("all.safetensors", data)
    seed("safetensors", "all", data)
    seed("safetensors", "small", safetensors({"a": ("F16", [2], b"\0\x3c\0\x40")}, {}))


def torch_bytes(value, protocol=2):
    out = io.BytesIO()
    torch.save(value, out, pickle_protocol=protocol)
    return out.getvalue()


def members(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name.split("/", 1)[1]: archive.read(name) for name in archive.namelist()}


def archive(records):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as target:
        for name, data in records.items():
            target.writestr(zipfile.ZipInfo("archive/" + name), data)
    return out.getvalue()


def tensor(dtype, *shape):
    return torch.from_numpy(array(dtype, *shape))


def checkpoint():
    base = tensor("<f4", 4, 6)
    attributed = tensor("<f4", 2)
    attributed.note = "kept as an attribute"
    return {
        "model": collections.OrderedDict([
            ("weight", tensor("<f4", 2, 3)),
            ("transposed", tensor("<f4", 3, 2).t()),
            ("half", tensor("<f2", 3)),
            ("bfloat", tensor("<f4", 3).bfloat16()),
            ("parameter", torch.nn.Parameter(tensor("<f4", 2))),
            ("attributed", attributed),
            ("scalar", torch.tensor(-3.0)),
            ("empty", torch.zeros(0, 3)),
        ]),
        "shared": {"all": base, "columns": base[:, 1::2], "row": base[2], "expanded": base[0, :1].expand(3, 2)},
        "integers": [torch.arange(4), torch.arange(4, dtype=torch.uint8), torch.arange(4) % 2 == 1],
        "epoch": 3,
        "loss": 0.25,
        "config": {"heads": [4, 8], "task": "copy", "causal": True, "seed": None, "dtype": torch.float32,
                   "device": torch.device("cpu"), "shape": torch.Size([2, 3]), "big": 2**70},
    }


def make_torch():
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.LayerNorm(2))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(tensor("<f4", *parameter.shape))
    save("state_dict.pt", torch_bytes(model.state_dict()))
    for protocol in (2, 3, 4, 5):
        save(f"checkpoint_protocol{protocol}.pt", torch_bytes(checkpoint(), protocol))
    save("tensor.pt", torch_bytes(tensor("<f8", 2, 3)))
    save("list.pt", torch_bytes([tensor("<f4", 2), tensor("<i8", 3)]))

    records = members(torch_bytes(tensor("<f4", 2, 3)))
    records["byteorder"] = b"big"
    records["data/0"] = array(">f4", 2, 3).tobytes()
    save("big_endian.pt", archive(records))
    seed("npz", "torch", archive(records))

    class Command:
        def __init__(self, function, *arguments):
            self.call = (function, arguments)

        def __reduce__(self):
            return self.call

    save("os_system.pt", torch_bytes({"a": tensor("<f4", 2), "b": Command(os.system, "touch /tmp/owned")}))
    save("eval.pt", torch_bytes(Command(eval, "1 + 1"), 4))
    save("whole_module.pt", torch_bytes(torch.nn.Linear(1, 1)))
    old = io.BytesIO()
    torch.save(tensor("<f4", 2), old, _use_new_zipfile_serialization=False)
    save("before_1_6.pt", old.getvalue())

    # Seeds for the pickle fuzzer: storages of the sizes that the target provides.
    value = [tensor("<f4", 3, 2).t(), tensor("<f8", 8), tensor("<f2", 2), {"epoch": 3, 1: (0.5, None, True)}]
    for protocol in (2, 4):
        seed("pickle", f"list{protocol}", b"\0" + members(torch_bytes(value, protocol))["data.pkl"])
    seed("pickle", "checkpoint", b"\1" + members(torch_bytes(checkpoint()))["data.pkl"])
    seed("pickle", "eval", b"\0" + pickle.dumps(Command(eval, "1"), 2))


make_npy()
make_npz()
make_safetensors()
make_torch()
