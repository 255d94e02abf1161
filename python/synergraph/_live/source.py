"""What was kept, as attention that the library measures: computed when it is read, where it is too much to hold."""

from __future__ import annotations

import ctypes
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from .._attention import Attention, of_layers
from .._device import place_of, view_there
from .._errors import InputError
from .._views import CODES, HeadFunction, ScoreArrays, View, lengths_of, ordered, view_of, whole_numbers
from . import masks
from .arrays import lie_side_by_side, torch
from .samples import Sample, Scores, weights_of

_HELD = 256 << 20  # bytes of probabilities that are computed beforehand

Layers = Sequence[Tuple[str, List[Sample]]]


def spans_of(samples: List[Sample], lengths: Any, padding: str, sink: Any) -> List[Tuple[int, int, int]]:
    """The sequences (sample, begin, end), sinks of a sample together."""
    if padding not in ("left", "right"):
        raise InputError(f"padding: {padding!r} is neither 'left' nor 'right'")
    given = None
    if lengths is not None:
        given = lengths_of(lengths)
        given = np.broadcast_to(given, (len(samples),)) if given.size == 1 else given
        if given.shape != (len(samples),):
            raise InputError(f"lengths: {given.size} for {len(samples)} samples")
    spans = []
    for at, sample in enumerate(samples):
        begin, end = sample.begin, sample.end
        if given is not None:
            length = int(given[at])
            if not 1 <= length <= sample.tokens:
                raise InputError(f"lengths: {length} of a sample of {sample.tokens} tokens")
            begin, end = (sample.tokens - length, sample.tokens) if padding == "left" else (0, length)
        if sink is None:
            spans.append((at, begin, end))
            continue
        for one in whole_numbers(sink, "sink").ravel():
            place = int(one) if one >= 0 else end + int(one)
            if not begin <= place < end:
                raise InputError(f"sink: token {one} is not in sample {at}, which has {begin} to {end - 1}")
            spans.append((at, begin, place + 1))
    return spans


def _function(samples: List[Sample], shape: Tuple[int, int, int, int], dtype: Any) -> HeadFunction:
    """Computes the heads of a layer when the library asks for them."""
    tokens = shape[-1]
    kind = np.dtype(dtype)

    def read(sample: int, head: int, address: int) -> None:
        memory = (ctypes.c_char * (tokens * tokens * kind.itemsize)).from_address(address)
        samples[sample].write([head], np.frombuffer(memoryview(memory), dtype=kind).reshape(1, tokens, tokens))

    return HeadFunction(read, CODES[kind.name], shape)


def _array(samples: List[Sample], shape: Tuple[int, int, int, int], dtype: Any) -> View:
    """All of them at once."""
    array = np.zeros(shape, dtype=dtype)
    for sample, into in zip(samples, array):
        sample.write(range(sample.heads), into)
    return ordered(view_of(array), ("sample", "head", "query", "key"))


def _scores(samples: List[Sample], shape: Tuple[int, int, int, int], dtype: Any) -> Optional[ScoreArrays]:
    """Queries and keys, for a device that computes and measures the probabilities. None if the probabilities depend on more than these."""
    kept = [sample for sample in samples if isinstance(sample, Scores)]
    if len(kept) < len(samples) or any(not sample.stands_alone() for sample in kept):
        return None
    first = kept[0]
    if any(not first.computes_like(sample) for sample in kept[1:]):
        return None
    t, tokens = torch(), shape[-1]
    # Where the first lies: the CPU's memory, or that of a GPU.
    there = first.queries.device
    view_in = view_there if there.type == "cuda" else view_of

    def together(parts: List[Any]) -> View:
        """One array (samples, heads, tokens, width), without a copy where samples lie side by side. Zeros fill up shorter samples."""
        if parts[0].device == there and lie_side_by_side(parts):
            whole = parts[0].as_strided((len(parts), *parts[0].shape), (parts[0].numel(), *parts[0].stride()))
        else:
            whole = t.zeros(len(parts), parts[0].shape[0], tokens, parts[0].shape[2], dtype=parts[0].dtype, device=there)
            for into, part in zip(whole, parts):
                into[:, :part.shape[1]] = part
        return view_in(whole)._replace(owner=(whole, parts))

    logits = None if first.logits is None else view_in(first.logits.detach().to(there, t.float32).contiguous())
    function = _function(samples, shape, dtype)
    queries, keys = together([sample.queries for sample in kept]), together([sample.keys for sample in kept])
    place = None
    if there.type == "cuda":
        t.cuda.synchronize(there)  # what was kept in other streams is there
        place = place_of(first.queries)
    return ScoreArrays(queries, keys, first.scaling, first.softcap or 0.0, first.window or 0, logits, function.read, function.code, shape,
                       place)


def attention_of(layers: Layers, *, lengths: Any, padding: str, sink: Any, row_tolerance: Optional[float],
                 missing_mass: Optional[str], weights_from: Optional[str] = None, device: Optional[str] = None) -> Tuple[Attention, bool]:
    """Layers of samples as attention, and whether attention is computed when it is read. `device`: device that measures it."""
    dtype = np.float64 if any(sample.double for _, samples in layers for sample in samples) else np.float32
    if missing_mass is None and any(sample.loses for _, samples in layers for sample in samples):
        missing_mass = "node"
    shapes: List[Tuple[int, int, int, int]] = []
    for name, samples in layers:
        heads, tokens = samples[0].heads, max(sample.tokens for sample in samples)
        if any(sample.heads != heads for sample in samples):
            raise InputError(f"layer {name}: samples with different numbers of heads")
        shapes.append((len(samples), heads, tokens, tokens))
    spans: Optional[List[Tuple[int, int, int]]] = None
    found = [spans_of(samples, lengths, padding, sink) for _, samples in layers]
    whole = all(begin == 0 and end == shape[2] for of_layer, shape in zip(found, shapes) for _, begin, end in of_layer)
    if not whole or sink is not None:
        spans = found[0]
        for (name, _), of_layer in zip(layers, found):
            if of_layer != spans:
                raise InputError(f"layers {layers[0][0]} and {name} have seen different samples: choose layers")
    streams = sum(float(np.prod(shape, dtype=float)) for shape in shapes) * np.dtype(dtype).itemsize > _HELD
    make: Any = _function if streams else _array
    of_device = (device or "").startswith("cuda") or (device in (None, "auto") and streams)
    made = [(name, (_scores(samples, shape, dtype) if of_device else None) or make(samples, shape, dtype))
            for (name, samples), shape in zip(layers, shapes)]
    attention = of_layers(made, ("layer", "sample"), sink=sink, row_tolerance=row_tolerance, missing_mass=missing_mass, spans=spans,
                          weights_from=weights_from)
    return attention, streams


def refuse_not_causal(layer: str, probabilities: Any) -> None:
    """Refuses a tensor whose tokens attend to later ones, with what it looks like."""
    probabilities = probabilities.detach()
    if not bool((probabilities.triu(1) > 1e-3).any()):
        return
    try:
        samples: List[Sample] = [*weights_of(probabilities.cpu())]
        attention, _ = attention_of([(layer, samples)], lengths=None, padding="right", sink=None, row_tolerance=None, missing_mass=None)
        for sample in range(len(samples)):
            attention.read(0, sample)
    except InputError as error:
        if ". " in str(error):
            raise
    raise InputError(f"layer {layer}: {masks.NOT_CAUSAL}")
