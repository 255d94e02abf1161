"""Attention of Hugging Face models (transformers 4.48 and later): queries and keys as its attention functions get them.

The modules of such a model take their attention function from a registry, `ALL_ATTENTION_FUNCTIONS`, or call the
`eager_attention_forward` of the file that they are written in. Every one of these is wrapped under its own name: the model's
configuration, its masks and the function that computes its output stay what they are.
"""

from __future__ import annotations

import functools
import sys
import threading
import warnings
from collections.abc import MutableMapping
from typing import Any, Callable, Dict, List, Optional

from .._errors import InputError
from . import slots
from .arrays import is_tensor, torch
from .masks import four_axes

_PLACES = ("module", "query", "key", "value", "attention_mask", "dropout", "scaling", "is_causal")
_inside = threading.local()  # a function that calls another one is seen once


def is_inside() -> bool:
    """Whether this thread is in one of these functions."""
    return bool(getattr(_inside, "function", False))


def namespaces(model: Any) -> List[Dict[str, Any]]:
    """Of the files that the model's modules are written in, those that attention functions are taken from."""
    found: Dict[int, Dict[str, Any]] = {}
    for module in model.modules():
        for base in type(module).__mro__:
            namespace = vars(sys.modules[base.__module__]) if base.__module__ in sys.modules else {}
            if "ALL_ATTENTION_FUNCTIONS" in namespace or "eager_attention_forward" in namespace:
                found[id(namespace)] = namespace
    return list(found.values())


def install(model: Any, see: Callable[..., None]) -> List[Callable[[], None]]:
    """Wraps the model's attention functions: `see(module, call)` hears of every call. Returns what takes the wraps off again."""
    put_back = []
    for namespace in namespaces(model):
        registry = namespace.get("ALL_ATTENTION_FUNCTIONS")
        if isinstance(registry, MutableMapping):
            for name in list(registry):
                put_back.append(slots.replace(registry, name, registry[name], functools.partial(_wrapped, name=name, see=see)))
        eager = namespace.get("eager_attention_forward")
        if callable(eager):
            put_back.append(slots.replace(namespace, "eager_attention_forward", eager,
                                          functools.partial(_wrapped, name="eager", see=see)))
    return put_back


def _wrapped(original: Callable[..., Any], name: str, see: Callable[..., None]) -> Callable[..., Any]:
    @functools.wraps(original)
    def attention(*arguments: Any, **options: Any) -> Any:
        if is_inside():
            return original(*arguments, **options)
        _inside.function = True
        try:
            output = original(*arguments, **options)
        finally:
            _inside.function = False
        call = dict(zip(_PLACES, arguments), **options)
        see(call.pop("module", None), functools.partial(read_call, name, call))
        return output

    return attention


def _scaling(module: Any, name: str, width: int) -> float:
    """Of a call that does not say: what GPT-2 made of it before it did, else what all do."""
    scaling: float = float(width) ** -0.5
    if name == "eager":
        if getattr(module, "scale_attn_weights", True) is False:
            scaling = 1.0
        if getattr(module, "scale_attn_by_inverse_layer_idx", False):
            scaling /= float(module.layer_idx + 1)
    return scaling


def read_call(name: str, call: Dict[str, Any], module: Any) -> Dict[str, Any]:
    """What a call of an attention function says, as `Recorder.keep_scores` takes it."""
    query, key, mask = call["query"], call["key"], call.get("attention_mask")
    if name.startswith("paged") or name.endswith("_paged"):
        raise InputError("paged attention of continuous batching is not measured: run the model on whole sequences")
    if call.get("cu_seq_lens_q") is not None:
        raise InputError("sequences that are packed one after another are not measured: pass a padded batch")
    if getattr(module, "is_cross_attention", False) or call.get("is_cross_attention"):
        raise InputError("cross-attention: queries and keys are of different sequences")
    flash = "flash" in name
    padding: Any = None
    if mask is not None and not is_tensor(mask):
        raise InputError(f"masks of {name} ({type(mask).__name__}) cannot be read: load the model with "
                         "attn_implementation=\"sdpa\"")
    if mask is not None and mask.dim() == 2 and mask.shape[0] == query.shape[0]:
        padding, mask = mask != 0, None
    triangle: Any = getattr(module, "bias", None)
    if is_tensor(triangle) and triangle.dim() == 4 and (mask is None or mask.shape[-2] == 1):
        is_causal = True  # GPT-2 of 4.48 masks later tokens by itself
    elif mask is not None or name == "eager":  # a mask says it all, and for eager attention even if there is none
        is_causal = False
    else:
        is_causal = bool(getattr(module, "is_causal", True) if call.get("is_causal") is None else call["is_causal"])
    softcap: Optional[float] = call.get("softcap")
    logits = call.get("s_aux")
    if name == "sdpa" and (softcap is not None or logits is not None):
        what = "learned sink logits" if logits is not None else "soft cap of scores"
        warnings.warn(f"the model's attention function, sdpa, leaves out its {what}: measured as it is run; "
                      "attn_implementation=\"eager\" has them", stacklevel=2)
        softcap = logits = None
    if mask is not None:
        mask = four_axes(mask)
    return {
        "queries": query,
        "keys": key,
        "values": call["value"],
        "mask": mask,
        "padding": padding,
        "causal": is_causal,
        "scaling": _scaling(module, name, query.shape[-1]) if call.get("scaling") is None else float(call["scaling"]),
        "softcap": softcap,
        "window": call.get("sliding_window") if flash else None,
        "logits": None if logits is None else torch().as_tensor(logits).detach().reshape(-1),
    }
