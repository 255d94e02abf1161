"""Calls of `torch.nn.functional.scaled_dot_product_attention` in a model's own code.

The function is replaced under its own name, in PyTorch's namespace and in those that have imported it by name. A mode of
`torch.overrides` would see every call, too, but `TransformerEncoderLayer` computes otherwise, and not to the same last digit, under one.
"""

from __future__ import annotations

import functools
import sys
from types import FrameType
from typing import Any, Callable, Dict, Iterator, List, Optional

from .._errors import InputError
from . import attention_interface, slots
from .arrays import torch

_NAME = "scaled_dot_product_attention"
_PLACES = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")


def install(model: Any, see: Callable[[Any, Callable[[Any], Dict[str, Any]]], None]) -> List[Callable[[], None]]:
    """Wraps the function: `see(frames, read)` hears of every call. Returns what takes the wraps off again."""
    home = vars(torch().nn.functional)
    original = home.get(_NAME)
    if not callable(original):  # before PyTorch 2
        return []
    found: Dict[int, Dict[str, Any]] = {id(home): home}
    for module in list(sys.modules.values()):
        namespace = getattr(module, "__dict__", {})
        if namespace.get(_NAME) is original:
            found[id(namespace)] = namespace
    places = [(namespace, _NAME) for namespace in found.values()]
    written_in = {base.__module__ for module in model.modules() for base in type(module).__mro__}
    for name in written_in & set(sys.modules):  # under another name: from ... import ... as attention
        if not name.startswith("torch."):
            places += [(vars(sys.modules[name]), key) for key, value in list(vars(sys.modules[name]).items())
                       if value is original and key != _NAME]
    return [slots.replace(namespace, key, original, functools.partial(_wrapped, see=see)) for namespace, key in places]


def _wrapped(original: Callable[..., Any], see: Callable[..., None]) -> Callable[..., Any]:
    # Another model may be compiled meanwhile, whole: nothing of a frame can be traced.
    is_compiling = getattr(getattr(torch(), "compiler", None), "is_compiling", None)

    @functools.wraps(original)
    def attention(*arguments: Any, **options: Any) -> Any:
        if is_compiling is not None and is_compiling():
            return original(*arguments, **options)
        output = original(*arguments, **options)
        if not attention_interface.is_inside():  # of a function of transformers, which has been seen
            see(sys._getframe(1), functools.partial(read_call, dict(zip(_PLACES, arguments), **options)))
        return output

    return attention


def modules_of(frame: Optional[FrameType]) -> Iterator[Any]:
    """The modules whose `forward` is under way, the innermost first.

    Other frames are passed over: looking into a frame keeps what its variables were until it ends, which those of a training loop never
    do.
    """
    kind = torch().nn.Module
    while frame is not None:
        code = frame.f_code
        if code.co_name == "forward" and code.co_argcount > 0:
            first = frame.f_locals.get(code.co_varnames[0])
            if isinstance(first, kind):
                yield first
        frame = frame.f_back


def read_call(call: Dict[str, Any], _: Any) -> Dict[str, Any]:
    """What a call says, as `Recorder.keep_scores` takes it."""
    query, key, value, mask = call["query"], call["key"], call["value"], call.get("attn_mask")
    if query.dim() != 4 or key.dim() != 4:
        raise InputError(f"queries of shape {tuple(query.shape)}: expected (samples, heads, tokens, width); with other axes call "
                         "Watch.record, which says what they are")
    samples, tokens, keys = query.shape[0], query.shape[2], key.shape[2]
    causal = bool(call.get("is_causal", False))
    if causal and tokens != keys:
        raise InputError(f"is_causal with {tokens} queries and {keys} keys hides the last keys from all queries: not measured")
    if mask is not None:
        if mask.dim() > 4:
            raise InputError(f"a mask of {mask.dim()} axes: expected (samples, heads, queries, keys)")
        while mask.dim() < 4:  # as it is broadcast
            mask = mask.unsqueeze(0)
        mask = mask.expand(*mask.shape[:-1], keys)
    scale = call.get("scale")
    return {
        "queries": query,
        "keys": key.expand(samples, *key.shape[1:]),
        "values": value.expand(samples, *value.shape[1:]),
        "mask": mask,
        "padding": None,
        "causal": causal or (mask is None and tokens == keys == 1),
        "scaling": float(query.shape[-1]) ** -0.5 if scale is None else float(scale),
    }
