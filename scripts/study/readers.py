"""Readers of model files: llama2.c, MiniMind2's and Whisper's ONNX, synergraph's checkpoints, and GGUF by llama.cpp's own package."""

import dataclasses
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
#: Models of 8 bits in a folder with config.json, as transformers.js writes them: a Llama model, or the decoder of Whisper.
ONNX_FILES = ("onnx/model_quantized.onnx", "onnx/decoder_model_merged_quantized.onnx")
#: In a folder that store() wrote.
STORED = "stored-model.json"


class InputError(Exception):
    """What is wrong, where, and what to do, in one line."""


def read_model(path, workers=1):
    """The model in a file. The ending of the name says the format; a folder holds one of ONNX_FILES. Several workers read GGUF."""
    if os.path.exists(os.path.join(path, STORED)):
        return read_stored(path)
    if os.path.isdir(path):
        path = next((whole for name in ONNX_FILES if os.path.exists(whole := os.path.join(path, name))), os.path.join(path, ONNX_FILES[0]))
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


def store(model, folder):
    """Writes a model as arrays that read_stored() maps into memory. Dequantising a large file takes minutes; this takes it once."""
    if os.path.exists(folder):
        raise InputError(f"{folder}: exists already; name this folder as the model, or another folder for the weights")
    partial = folder.rstrip("/") + ".part"
    os.makedirs(partial, exist_ok=True)
    for name, value in model.weights.items():
        np.save(os.path.join(partial, name + ".npy"), value.numpy())
    with open(os.path.join(partial, STORED), "w", encoding="utf-8") as file:
        json.dump({"shape": dataclasses.asdict(model.shape), "begin": model.begin, "longest": model.longest, "weights": list(model.weights)}, file)
    os.rename(partial, folder)


def read_stored(folder):
    """A model that store() wrote. Its weights stay in the file until they are used."""
    try:
        with open(os.path.join(folder, STORED), encoding="utf-8") as file:
            about = json.load(file)
        weights = {os.path.basename(name): torch.from_numpy(np.load(os.path.join(folder, os.path.basename(name) + ".npy"), mmap_mode="c"))
                   for name in about["weights"]}
        return Decoder(Shape(**about["shape"]), weights, about["begin"], about["longest"])
    except (OSError, ValueError, KeyError, TypeError, EOFError, IndexError, AttributeError) as error:
        raise InputError(f"{folder}: not a model that this script stored ({type(error).__name__}: {error})") from None


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


def graph_of(data):
    """The graph of an ONNX file."""
    return next(value for number, value in fields(data) if number == 7)


def nodes(graph):
    """Nodes of an ONNX graph: operation, names of inputs and of outputs, and the graphs that the node holds."""
    for number, node in fields(graph):
        if number == 1:
            parts = list(fields(node))
            inside = [value for n, attribute in parts if n == 5 for part, value in fields(attribute) if part == 6]
            names = [[bytes(v).decode() for n, v in parts if n == kind] for kind in (1, 2)]
            yield next(bytes(v) for n, v in parts if n == 4), *names, inside


def products_of(graph):
    """The weights of products of 8 bits by the name of what the product computes: "layers.0/self_attn/q_proj"."""
    found = {}
    for kind, inputs, outputs, _ in nodes(graph):
        if kind == b"MatMulInteger":
            found[outputs[0].split("/MatMul")[0].removeprefix("/model/")] = inputs[1].removesuffix("_quantized")
    return found


def restored(stored, name):
    """A tensor of 8 bits as numbers: (value - zero point) * scale."""
    values, scale, zero = (stored[name + ending] for ending in ("_quantized", "_scale", "_zero_point"))
    return torch.from_numpy((values.astype(np.float32) - zero.astype(np.float32)) * scale)


def read_onnx(path):
    """A model of 8 bits as transformers.js writes it: products are found in the graph by the name of what they compute."""
    with open(path, "rb") as file:
        data = memoryview(file.read())
    try:
        with open(os.path.join(os.path.dirname(path), "..", "config.json"), encoding="utf-8") as file:
            config = json.load(file)
        reader = onnx_whisper if config.get("model_type") == "whisper" else onnx_llama
        return reader(graph_of(data), config)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, StopIteration, UnicodeDecodeError, RuntimeError, InputError) as error:
        raise InputError(f"{path}: not a Llama or Whisper model of 8 bits as transformers.js writes it ({type(error).__name__}: {error})") from None


def onnx_llama(graph, config):
    stored, products = initializers(graph), products_of(graph)
    layers = config["num_hidden_layers"]
    weights = {"embedding": restored(stored, "model.embed_tokens.weight"), "norm": torch.from_numpy(stored["model.norm.weight"].copy())}
    for ours, theirs in (("norm1", "input_layernorm"), ("norm2", "post_attention_layernorm")):
        weights[ours] = torch.stack([torch.from_numpy(stored[f"model.layers.{k}.{theirs}.weight"].copy()) for k in range(layers)])
    for ours, theirs in (("wq", "self_attn/q_proj"), ("wk", "self_attn/k_proj"), ("wv", "self_attn/v_proj"), ("wo", "self_attn/o_proj"),
                         ("w1", "mlp/gate_proj"), ("w3", "mlp/up_proj"), ("w2", "mlp/down_proj")):
        weights[ours] = torch.stack([restored(stored, products[f"layers.{k}/{theirs}"]).T for k in range(layers)])
    weights["output"] = restored(stored, products["logits_output_quantized"]).T  # tied, but quantised for itself
    shape = Shape(config["num_attention_heads"], config["num_key_value_heads"], config["rms_norm_eps"], "halves", config["rope_theta"])
    return Decoder(shape, weights, begin=config["bos_token_id"], longest=config["max_position_embeddings"])


def onnx_whisper(graph, config):
    """The decoder of Whisper as a language model of its own.

    The encoder's output is one zero vector. Every token then takes all of its cross-attention from one place, whose value is the bias
    of the value projection. So cross-attention adds a constant, which stands in the bias of the self-attention's output.
    """
    stored = initializers(graph)
    # A file with and without a cache of keys has two graphs of the same weights inside one node.
    products = next(products_of(inside) for kind, _, _, both in nodes(graph) if kind == b"If" for inside in both)
    layers, heads = config["decoder_layers"], config["decoder_attention_heads"]
    before = "model.decoder."

    def plain(name):
        return torch.from_numpy(stored.get(before + name + "_merged_0", stored.get(before + name)).copy())

    def stacked(name):
        return torch.stack([plain(f"layers.{k}.{name}") for k in range(layers)])

    def product(name):
        return torch.stack([restored(stored, products[f"decoder/layers.{k}/{name}"]).T for k in range(layers)])

    weights = {"embedding": restored(stored, before + "embed_tokens.weight_merged_0"), "positions": plain("embed_positions.weight"),
               "norm": plain("layer_norm.weight"), "norm_bias": plain("layer_norm.bias")}
    for ours, theirs in (("norm1", "self_attn_layer_norm"), ("norm2", "final_layer_norm")):
        weights |= {ours: stacked(theirs + ".weight"), ours + "_bias": stacked(theirs + ".bias")}
    for ours, theirs in (("q", "self_attn/q_proj"), ("k", "self_attn/k_proj"), ("v", "self_attn/v_proj"), ("o", "self_attn/out_proj"),
                         ("1", "fc1"), ("2", "fc2")):
        weights["w" + ours] = product(theirs)
        if ours != "k":
            weights["b" + ours] = stacked(theirs.replace("/", ".") + ".bias")
    constant = torch.einsum("lij,lj->li", product("encoder_attn/out_proj"), stacked("encoder_attn.v_proj.bias"))
    weights["bo"] += constant + stacked("encoder_attn.out_proj.bias")
    width, inner = config["d_model"], weights["w1"].shape[1]
    if config["activation_function"] != "gelu" or heads < 1 or width % heads:
        raise ValueError(f"{heads} heads of {width} features with {config['activation_function']}")
    shapes = {"embedding": (len(weights["embedding"]), width), "positions": (len(weights["positions"]), width), "w1": (layers, inner, width),
              "b1": (layers, inner), "w2": (layers, width, inner), "norm": (width,), "norm_bias": (width,)}
    for name, value in weights.items():
        expected = shapes.get(name, (layers, width, width) if name[0] == "w" else (layers, width))
        if value.shape != expected:
            raise ValueError(f"{name} has the shape {tuple(value.shape)}, not {tuple(expected)}")
    shape = Shape(heads, heads, rotary="none", activation="gelu")
    begin = [config["decoder_start_token_id"], *(token for _, token in config.get("forced_decoder_ids") or ())]
    return Decoder(shape, weights, begin=begin, longest=len(weights["positions"]))


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
