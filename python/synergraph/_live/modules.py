"""Attention of PyTorch's own modules, and of modules that return their weights.

A module's `forward` is replaced on the module itself. Hooks of PyTorch would do, but for `TransformerEncoderLayer`, which computes
otherwise, and not to the same last digit, when it has some.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict, Iterator, List, Sequence, Tuple, Union

from .._errors import InputError, UsageError
from .._options import shown
from . import slots
from .arrays import check, is_tensor, torch
from .attention_interface import namespaces
from .masks import MASKED
from .names import nearest_names
from .post_norms import is_named_after_norm

Chosen = Union[None, str, type, Sequence[Union[str, type]]]

_MULTIHEAD = ("query", "key", "value", "key_padding_mask", "need_weights", "attn_mask", "average_attn_weights", "is_causal")
_ENCODER_LAYER = ("src", "src_mask", "src_key_padding_mask", "is_causal")


def is_named_after_attention(module: Any) -> bool:
    title = type(module).__name__.lower()
    return "attention" in title or "attn" in title


def kind_of(name: str, module: Any, chosen: Chosen, interfaces: List[Dict[str, Any]]) -> str:
    """How the module's attention is seen: "multihead", "encoder layer", "weights", or not at all."""
    t = torch()
    if chosen is not None:
        for one in [chosen] if isinstance(chosen, (str, type)) else chosen:
            if name == one if isinstance(one, str) else isinstance(module, one):
                return "weights"
    if isinstance(module, t.nn.MultiheadAttention) and type(module).forward is t.nn.MultiheadAttention.forward:
        return "multihead"
    if isinstance(module, t.nn.TransformerEncoderLayer) and type(module).forward is t.nn.TransformerEncoderLayer.forward:
        return "encoder layer"
    written_in = [base.__module__ for base in type(module).__mro__]
    has_interface = any(namespace.get("__name__") in written_in for namespace in interfaces)
    if chosen is None and is_named_after_attention(module) and not has_interface:
        return "weights"
    return ""


def _around(model: Any, kinds: Dict[str, str]) -> Dict[str, str]:
    """The kinds of modules by name: "around" holds a module named after attention, "inner" is that module, and "norm" is a norm beside it,
    which the heads' output may go through."""
    found: Dict[str, str] = {}
    for name, module in model.named_modules():
        outer = name.rpartition(".")[0]
        if outer and outer not in kinds and is_named_after_attention(module):
            found[outer] = "around"
            found.setdefault(name, "inner")
    for name, module in model.named_modules():
        if found.get(name.rpartition(".")[0]) == "around" and is_named_after_norm(module):
            found.setdefault(name, "norm")
    return found


def install(model: Any, chosen: Chosen, hear: Any, around: bool) -> Tuple[Dict[int, str], List[Callable[[], None]]]:
    """Wraps the `forward` of the model and of its attention modules: `hear.enter(module, arguments, options)`, `hear.leave(module)` and
    `hear.left(module, arguments, options, output)` are told. Returns their kinds, and what takes the wraps off again."""
    kinds: Dict[int, str] = {}
    put_back = []
    interfaces = namespaces(model)
    matched = set()
    own = {name: kind for name, module in model.named_modules() if (kind := kind_of(name, module, chosen, interfaces))}
    outer = _around(model, own) if around else {}
    for name, module in model.named_modules():
        kind = own.get(name, outer.get(name, ""))
        if kind or module is model:
            kinds[id(module)] = kind
            put_back.append(slots.replace(vars(module), "forward", module.forward,
                                          functools.partial(_wrapped, module=module, hear=hear)))
            put_back.append(slots.replace(vars(module), "__reduce_ex__", module.__reduce_ex__,
                                          functools.partial(_unwrapped, module=module)))
        if kind == "weights":
            matched.add(name)
            matched.update(type(module).__mro__)
    for one in [] if chosen is None else [chosen] if isinstance(chosen, (str, type)) else chosen:
        if one not in matched:
            for undo in put_back:
                undo()
            if isinstance(one, str):
                candidates = [name for name, _ in model.named_modules() if name]
                raise UsageError(f"modules: no module is named {shown(one)}. {nearest_names(one, candidates)}")
            classes = sorted({type(module).__name__ for module in model.modules()})
            raise UsageError(f"modules: no module is a {one.__name__}. {nearest_names(one.__name__, classes)}")
    return kinds, put_back


def _wrapped(original: Callable[..., Any], module: Any, hear: Any) -> Callable[..., Any]:
    @functools.wraps(original)
    def forward(*arguments: Any, **options: Any) -> Any:
        listeners = hear(module)
        for listener in listeners:
            listener.enter(module, arguments, options)
        try:
            output = original(*arguments, **options)
        finally:
            for listener in listeners:
                listener.leave(module)
        for listener in listeners:
            listener.left(module, arguments, options, output)
        return output

    return forward


def _unwrapped(original: Callable[..., Any], module: Any) -> Callable[..., Any]:
    """What copies and pickles a module without what watches it."""
    def reduce(protocol: Any) -> Any:
        parts = original(protocol)
        return (*parts[:2], slots.as_it_was(vars(module), parts[2]), *parts[3:]) if isinstance(parts, tuple) and len(parts) > 2 else parts

    return reduce


def _autocast_type(tensor: Any) -> Any:
    """The type that autocast computes products of this tensor in."""
    t = torch()
    kind = tensor.device.type
    try:
        return t.get_autocast_dtype(kind) if t.is_autocast_enabled(kind) else tensor.dtype
    except (AttributeError, TypeError):  # before PyTorch 2.4
        if kind == "cpu":
            return t.get_autocast_cpu_dtype() if t.is_autocast_cpu_enabled() else tensor.dtype
        return t.get_autocast_gpu_dtype() if t.is_autocast_enabled() else tensor.dtype


def _projected(inputs: Any, weight: Any, bias: Any, kind: Any, heads: int) -> Any:
    """(samples, heads, tokens, width), computed in a type."""
    linear = torch().nn.functional.linear(inputs.to(kind), weight.to(kind), None if bias is None else bias.to(kind))
    return linear.view(*inputs.shape[:2], heads, weight.shape[0] // heads).transpose(1, 2)


def _multihead_values(call: Dict[str, Any], module: Any) -> Any:
    """The values of a call of `MultiheadAttention`."""
    t = torch()
    value = call.get("value", call["query"])
    value = value.unsqueeze(0) if value.dim() == 2 else value if module.batch_first else value.transpose(0, 1)
    with t.no_grad(), t.autocast(value.device.type, enabled=False):
        weight = module.v_proj_weight if module.in_proj_weight is None else module.in_proj_weight[-module.embed_dim:]
        bias = None if module.in_proj_bias is None else module.in_proj_bias[-module.embed_dim:]
        return _projected(value, weight, bias, _autocast_type(value), module.num_heads)


def read_multihead(arguments: Sequence[Any], options: Dict[str, Any], module: Any, history: bool = False) -> Dict[str, Any]:
    """What a call of `MultiheadAttention` says, as `Recorder.keep_scores` takes it. With `history`, queries and keys have gradients."""
    t = torch()
    call = dict(zip(_MULTIHEAD, arguments), **options)
    query, key = call["query"], call["key"]
    check(query, "queries")
    if query is not key and (query.shape != key.shape or not t.equal(query, key)):
        raise InputError("cross-attention: queries and keys are of different sequences")
    if module.bias_k is not None:
        raise InputError("add_bias_kv adds a token that is none of the sequence")
    batched = query.dim() == 3
    if not batched:
        query = query.unsqueeze(0)
    elif not module.batch_first:
        query = query.transpose(0, 1)
    samples, tokens, width = query.shape
    heads = module.num_heads
    with t.set_grad_enabled(history and t.is_grad_enabled()), t.autocast(query.device.type, enabled=False):
        if module.in_proj_weight is not None:
            weights = module.in_proj_weight.split(width)[:2]
        else:
            weights = (module.q_proj_weight, module.k_proj_weight)
        biases = (None, None) if module.in_proj_bias is None else module.in_proj_bias.split(module.embed_dim)[:2]
        kind = _autocast_type(query)
        projected = [_projected(query, weight, bias, kind, heads) for weight, bias in zip(weights, biases)]
    mask, padding = call.get("attn_mask"), call.get("key_padding_mask")
    if mask is not None:
        mask = ~mask if mask.dtype == t.bool else mask
        mask = mask.view(1, 1, tokens, tokens) if mask.dim() == 2 else mask.view(samples, heads, tokens, tokens)
    if padding is not None:
        if padding.dtype != t.bool and bool(((padding != 0) & (padding > MASKED)).any()):
            raise InputError("a key_padding_mask that adds to scores: expected booleans, or 0 and -inf")
        padding = ~padding if padding.dtype == t.bool else padding == 0
        padding = padding.view(samples, tokens)
    return {"queries": projected[0], "keys": projected[1], "values": functools.partial(_multihead_values, call, module), "mask": mask, "padding": padding, "causal": False,
            "scaling": float(projected[0].shape[-1]) ** -0.5,
            "logits": t.zeros(heads) if module.add_zero_attn else None}


def read_encoder_layer(arguments: Sequence[Any], options: Dict[str, Any], layer: Any) -> Dict[str, Any]:
    """The same of a `TransformerEncoderLayer` that has not called its attention, but done everything at once."""
    call = dict(zip(_ENCODER_LAYER, arguments), **options)
    source = check(call["src"], "queries")
    with torch().no_grad():
        source = layer.norm1(source) if layer.norm_first else source
    return read_multihead((source, source), {"attn_mask": call.get("src_mask"),
                                             "key_padding_mask": call.get("src_key_padding_mask")}, layer.self_attn)


def _tensors(output: Any) -> Iterator[Any]:
    if is_tensor(output):
        yield output
    elif isinstance(output, dict):
        for value in output.values():
            yield from _tensors(value)
    elif isinstance(output, (list, tuple)):
        for value in output:
            yield from _tensors(value)


def weights_in(output: Any) -> Any:
    """The attention weights (samples, heads, tokens, tokens) in what a module returned, or None."""
    for tensor in _tensors(output):
        if tensor.dim() == 4 and tensor.is_floating_point() and tensor.shape[-1] == tensor.shape[-2] and tensor.numel() > 0:
            # Some rows may be padding's, and sum to nothing.
            if not tensor.is_meta and bool(((tensor.detach()[0, 0].float().nansum(-1) - 1).abs() < 0.05).any()):
                return tensor
    return None
