"""Readers of model files: llama2.c, MiniMind2's ONNX, synergraph's checkpoints, and GGUF by llama.cpp's own package."""

import json
import math
import multiprocessing
import os
import struct
import tempfile

import numpy as np
import torch

from .model import Decoder, Shape

#: The first bytes of the package's file are the model; the tokenizer follows.
STORIES15M_BYTES = 60816028


class InputError(Exception):
    """What is wrong, where, and what to do, in one line."""


def read_model(path, workers=1):
    """The model in a file. The ending of the name says the format; a folder holds onnx/model_quantized.onnx. Several workers read GGUF."""
    if os.path.isdir(path):
        path = os.path.join(path, "onnx", "model_quantized.onnx")
    readers = {".bin": read_llama2c, ".data": read_llama2c, ".onnx": read_onnx, ".safetensors": read_checkpoint, ".gguf": read_gguf}
    reader = readers.get(os.path.splitext(path)[1])
    if reader is None:
        raise InputError(f"{path}: unknown kind of model; expected a name that ends in {', '.join(readers)}")
    try:
        model = read_gguf(path, workers) if reader is read_gguf else reader(path)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    for name, value in model.weights.items():
        if not torch.isfinite(value).all():
            raise InputError(f"{path}: {name} contains a value that is not finite")
    return model


def read_llama2c(path):
    """Seven integers, then float32 arrays. What follows the model (a tokenizer) is ignored."""
    data = np.fromfile(path, np.uint8)
    if len(data) < 28:
        raise InputError(f"{path}: {len(data)} bytes are too few for a llama2.c model")
    dim, hidden, layers, heads, kv_heads, vocabulary, longest = (int(n) for n in data[:28].view("<i4"))
    shared, vocabulary = vocabulary > 0, abs(vocabulary)
    sizes = (dim, hidden, layers, heads, kv_heads, vocabulary, longest)
    if min(sizes) < 1 or max(sizes) > 1 << 20 or dim % heads or heads % kv_heads or dim // heads % 2:
        raise InputError(f"{path}: dim, hidden, layers, heads, kv_heads, vocabulary, length = {sizes} describe no llama2.c model")
    width = dim // heads
    shapes = {"embedding": (vocabulary, dim), "norm1": (layers, dim), "wq": (layers, dim, dim), "wk": (layers, kv_heads * width, dim),
              "wv": (layers, kv_heads * width, dim), "wo": (layers, dim, dim), "norm2": (layers, dim), "w1": (layers, hidden, dim),
              "w2": (layers, dim, hidden), "w3": (layers, hidden, dim), "norm": (dim,), "rotations": (longest, width)}
    if not shared:
        shapes["output"] = (vocabulary, dim)
    needed = 28 + 4 * sum(math.prod(shape) for shape in shapes.values())
    if len(data) < needed:
        raise InputError(f"{path}: {len(data)} bytes; this shape needs {needed}")
    weights, offset = {}, 28
    for name, shape in shapes.items():
        count = math.prod(shape)
        if name != "rotations":
            weights[name] = torch.from_numpy(data[offset : offset + 4 * count].view("<f4").reshape(shape).copy())
        offset += 4 * count
    return Decoder(Shape(heads, kv_heads), weights, begin=1, longest=longest)


def read_checkpoint(path):
    """A model of the paper's kind, as `synergraph train` writes it."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        size = struct.unpack("<Q", data[:8])[0]
        header = json.loads(data[8 : 8 + size])
        heads = int(header.pop("__metadata__", {})["heads"])
        tensors = {}
        for name, about in header.items():
            begin, end = about["data_offsets"]
            array = np.frombuffer(data[8 + size + begin : 8 + size + end], {"F32": "<f4", "F64": "<f8"}[about["dtype"]])
            tensors[name] = torch.from_numpy(array.reshape(about["shape"]).astype(np.float32))
        layers = 1 + max(int(name.split(".")[1]) for name in tensors if name.startswith("layers."))
        weights = {"embedding": tensors["token_emb.weight"], "positions": tensors["pos_emb.weight"], "output": tensors["out_proj.weight"],
                   "output_bias": tensors["out_proj.bias"]}
        names = {"norm1": "ln1.weight", "norm2": "ln2.weight", "w1": "mlp.0.weight", "b1": "mlp.0.bias", "w2": "mlp.2.weight", "b2": "mlp.2.bias"}
        for ours, theirs in (("q", "W_q"), ("k", "W_k"), ("v", "W_v"), ("o", "out_proj")):
            names |= {"w" + ours: f"attn.{theirs}.weight", "b" + ours: f"attn.{theirs}.bias"}
        for ours, theirs in names.items():
            weights[ours] = torch.stack([tensors[f"layers.{layer}.{theirs}"] for layer in range(layers)])
        features = weights["wq"].shape[2]
        if heads < 1 or features % heads:
            raise ValueError(f"{heads} heads do not divide {features} features")
    except (ValueError, KeyError, TypeError, IndexError, struct.error) as error:
        raise InputError(f"{path}: not a checkpoint of `synergraph train` ({type(error).__name__}: {error})") from None
    return Decoder(Shape(heads, heads, eps=2.0**-23, rotary="none"), weights, longest=len(weights["positions"]))


def whole(data, at):
    """A number of variable length at a byte of a protocol buffer, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """The fields of a protocol buffer message: pairs of number and value."""
    at = 0
    while at < len(data):
        key, at = whole(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = whole(data, at)
        else:
            size = {1: 8, 5: 4}.get(kind)
            if kind == 2:
                size, at = whole(data, at)
            if size is None or at + size > len(data):
                raise InputError(f"field {number} of kind {kind} at byte {at} does not fit")
            value = data[at : at + size]
            at += size
        yield number, value


def wholes(value):
    """Repeated whole numbers, packed or one alone."""
    if isinstance(value, int):
        return [value]
    found, at = [], 0
    while at < len(value):
        one, at = whole(value, at)
        found.append(one)
    return found


def initializers(graph):
    """The stored tensors of an ONNX graph by name."""
    types = {1: np.float32, 2: np.uint8, 3: np.int8, 6: np.int32, 7: np.int64}
    tensors = {}
    for number, message in fields(graph):
        if number != 5:
            continue
        name, dims, kind, values = "", [], 0, None
        for part, value in fields(message):
            if part == 1:
                dims += wholes(value)
            elif part == 2:
                kind = value
            elif part == 4:
                values = np.frombuffer(value, "<f4")
            elif part == 5:
                values = np.array(wholes(value), np.uint64).astype(np.int64)
            elif part == 8:
                name = bytes(value).decode()
            elif part == 9:
                values = np.frombuffer(value, types.get(kind, np.uint8))
        if kind in types and values is not None and len(values) == math.prod(dims):
            tensors[name] = values.reshape(dims)
    return tensors


def read_onnx(path):
    """A Llama model quantised to 8 bits as MiniMind2's: products are found in the graph by the name of what they compute."""
    with open(path, "rb") as file:
        data = memoryview(file.read())
    try:
        with open(os.path.join(os.path.dirname(path), "..", "config.json"), encoding="utf-8") as file:
            config = json.load(file)
        graph = next(value for number, value in fields(data) if number == 7)
        stored = initializers(graph)

        def restored(name):
            values, scale, zero = (stored[name + ending] for ending in ("_quantized", "_scale", "_zero_point"))
            return torch.from_numpy((values.astype(np.float32) - zero.astype(np.float32)) * scale)

        products = {}
        for number, node in fields(graph):
            if number == 1:
                parts = list(fields(node))
                if any(n == 4 and bytes(v) == b"MatMulInteger" for n, v in parts):
                    source = [bytes(v).decode() for n, v in parts if n == 1][1]
                    target = next(bytes(v).decode() for n, v in parts if n == 2)
                    products[target.split("/MatMul")[0].removeprefix("/model/")] = source.removesuffix("_quantized")
        layers = config["num_hidden_layers"]
        weights = {"embedding": restored("model.embed_tokens.weight"), "norm": torch.from_numpy(stored["model.norm.weight"].copy())}
        for ours, theirs in (("norm1", "input_layernorm"), ("norm2", "post_attention_layernorm")):
            weights[ours] = torch.stack([torch.from_numpy(stored[f"model.layers.{k}.{theirs}.weight"].copy()) for k in range(layers)])
        for ours, theirs in (("wq", "self_attn/q_proj"), ("wk", "self_attn/k_proj"), ("wv", "self_attn/v_proj"), ("wo", "self_attn/o_proj"),
                             ("w1", "mlp/gate_proj"), ("w3", "mlp/up_proj"), ("w2", "mlp/down_proj")):
            weights[ours] = torch.stack([restored(products[f"layers.{k}/{theirs}"]).T for k in range(layers)])
        weights["output"] = restored(products["logits_output_quantized"]).T  # tied, but quantised for itself
    except (ValueError, KeyError, TypeError, IndexError, StopIteration, UnicodeDecodeError, InputError) as error:
        raise InputError(f"{path}: not a Llama model of 8 bits as transformers.js writes it ({type(error).__name__}: {error})") from None
    shape = Shape(config["num_attention_heads"], config["num_key_value_heads"], config["rms_norm_eps"], "halves", config["rope_theta"])
    return Decoder(shape, weights, begin=config["bos_token_id"], longest=config["max_position_embeddings"])


def dequantised(place):
    """Writes a tensor of the file that the parent process opened, dequantised."""
    reader, folder = OPENED
    tensor = reader.tensors[place]
    np.save(os.path.join(folder, f"{place}.npy"), np.ascontiguousarray(DEQUANTIZE(tensor.data, tensor.tensor_type), np.float32))


def read_gguf(path, workers=1):
    """A Llama model in GGUF, read and dequantised by llama.cpp's package `gguf` (directory gguf-py of its source)."""
    global OPENED, DEQUANTIZE
    try:
        from gguf.gguf_reader import GGUFReader
        from gguf.quants import dequantize
    except ImportError:
        raise InputError(f"{path}: reading GGUF needs llama.cpp's package gguf; put its directory gguf-py into PYTHONPATH") from None
    reader = GGUFReader(path)

    def said(key):
        field = reader.fields["llama." + key]
        return field.parts[field.data[0]][0].item()

    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        OPENED, DEQUANTIZE = (reader, folder), dequantize
        with multiprocessing.get_context("fork").Pool(workers) as pool:
            pool.map(dequantised, range(len(reader.tensors)), chunksize=1)
        tensors = {tensor.name: torch.from_numpy(np.load(os.path.join(folder, f"{place}.npy"))) for place, tensor in enumerate(reader.tensors)}
    layers = said("block_count")
    weights = {"embedding": tensors["token_embd.weight"], "norm": tensors["output_norm.weight"]}
    if "output.weight" in tensors:
        weights["output"] = tensors["output.weight"]
    for ours, theirs in (("norm1", "attn_norm"), ("norm2", "ffn_norm"), ("wq", "attn_q"), ("wk", "attn_k"), ("wv", "attn_v"),
                         ("wo", "attn_output"), ("w1", "ffn_gate"), ("w2", "ffn_down"), ("w3", "ffn_up")):
        weights[ours] = torch.stack([tensors[f"blk.{k}.{theirs}.weight"] for k in range(layers)])
    base = said("rope.freq_base") if "llama.rope.freq_base" in reader.fields else 10000.0
    shape = Shape(said("attention.head_count"), said("attention.head_count_kv"), said("attention.layer_norm_rms_epsilon"), "neighbours", base)
    return Decoder(shape, weights, begin=1, longest=said("context_length"))
