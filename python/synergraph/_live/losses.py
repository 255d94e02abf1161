"""The loss of a model on each sample."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable, Union

import numpy as np
from numpy.typing import NDArray

from .._errors import InputError, UsageError
from .._options import refuse, shown
from .arrays import is_tensor, torch

Loss = Callable[[Any, Any], Any]

NEXT_TOKEN = "next-token cross-entropy"
WRONG_TOKENS = "share of wrong next tokens"
_BLOCK = {"cpu": 1 << 22, "cuda": 1 << 25}  # logits that are worked on at once


def _token_ids(inputs: Any) -> Any:
    """The token ids (samples, tokens) in what a model is given, or None."""
    found: Any = inputs.get("input_ids") if isinstance(inputs, Mapping) else inputs[0] if isinstance(inputs, tuple) and inputs else inputs
    return found if is_tensor(found) and found.dim() == 2 and not found.is_floating_point() else None


def tokens_in(inputs: Any) -> int:
    ids = _token_ids(inputs)
    return 0 if ids is None else int(ids.shape[1])


def _mask(inputs: Any, ids: Any) -> Any:
    """Where there are tokens, not padding: (samples, tokens)."""
    mask: Any = inputs.get("attention_mask") if isinstance(inputs, Mapping) else None
    if is_tensor(mask) and mask.shape == ids.shape:
        return mask != 0
    return torch().ones_like(ids, dtype=torch().bool)


def logits_in(output: Any, ids: Any) -> Any:
    """The logits (samples, tokens, vocabulary) in what a model returned."""
    found = output.get("logits") if isinstance(output, Mapping) else getattr(output, "logits", None)
    if found is None:
        candidates = [output] if is_tensor(output) else list(output) if isinstance(output, (list, tuple)) else []
        found = next((one for one in candidates if is_tensor(one) and one.dim() == 3 and one.is_floating_point()), None)
    if found is None or found.dim() != 3 or tuple(found.shape[:2]) != tuple(ids.shape):
        what = "no logits" if found is None else f"logits of shape {tuple(found.shape)} for token ids of shape {tuple(ids.shape)}"
        raise InputError(f"loss: the model returned {what}; pass loss=, a function of outputs and inputs")
    return found


def _of_next_tokens(output: Any, inputs: Any, judge: Callable[[Any, Any], Any]) -> Any:
    """The mean of judge(logits (tokens, vocabulary), next tokens) over each sample. Padding and labels of -100 are left out."""
    t = torch()
    ids = _token_ids(inputs)
    if ids is None:
        raise InputError("loss: no token ids were found in the inputs (a tensor, or a dictionary with input_ids); pass loss=")
    logits = logits_in(output, ids)
    labels = inputs.get("labels") if isinstance(inputs, Mapping) else None
    targets = ids if labels is None else labels
    if targets.shape != ids.shape:
        raise InputError(f"loss: labels of shape {tuple(targets.shape)} for token ids of shape {tuple(ids.shape)}; pass loss=")
    mask = _mask(inputs, ids)
    counts = mask[:, :-1] & mask[:, 1:] & (targets[:, 1:] != -100)
    empty = (~counts.any(1)).nonzero().flatten().tolist()
    if empty:
        raise InputError(f"loss: sample {empty[0]} has no next token to predict")
    samples, places = counts.nonzero(as_tuple=True)
    wanted = targets[samples, places + 1].to(logits.device)
    if bool(((wanted < 0) | (wanted >= logits.shape[-1])).any()):
        raise InputError(f"loss: a token id is not in 0 to {logits.shape[-1] - 1}")
    samples, places = samples.to(logits.device), places.to(logits.device)
    rows = max(1, _BLOCK.get(logits.device.type, 1 << 22) // logits.shape[-1])
    parts = []
    for first in range(0, len(wanted), rows):
        some = slice(first, first + rows)
        parts.append(judge(logits[samples[some], places[some]], wanted[some]))
    sums = t.zeros(ids.shape[0], dtype=t.float64, device=logits.device).index_add_(0, samples, t.cat(parts))
    return sums / counts.sum(1).to(logits.device)


def _cross_entropy(logits: Any, wanted: Any) -> Any:
    block = logits.to(torch().float64)
    return torch().logsumexp(block, 1) - block.gather(1, wanted[:, None])[:, 0]


def next_token(output: Any, inputs: Any) -> Any:
    """The mean cross-entropy of each sample's next tokens, in float64."""
    return _of_next_tokens(output, inputs, _cross_entropy)


def wrong_tokens(output: Any, inputs: Any) -> Any:
    """The share of each sample's next tokens that do not have the largest logit: 1 - accuracy."""
    return _of_next_tokens(output, inputs, lambda logits, wanted: (logits.argmax(1) != wanted).to(torch().float64))


#: Losses that need a decoder's logits, by what `ablate` calls them.
OWN = {"cross-entropy": (next_token, NEXT_TOKEN), "accuracy": (wrong_tokens, WRONG_TOKENS)}


def chosen(loss: Union[Loss, str, None]) -> "tuple[Loss, bool]":
    """The function of a loss, and whether it is one of ours."""
    if loss is None:
        return next_token, True
    if isinstance(loss, str):
        if loss not in OWN:
            raise UsageError(f"loss: {shown(loss)} is not 'cross-entropy', 'accuracy' or a function of the model's output and inputs")
        return OWN[loss][0], True
    if not callable(loss):
        refuse("loss", loss, "'cross-entropy', 'accuracy' or a function of the model's output and inputs")
    return loss, False


def refuse_not_causal(inputs: Any, run: Callable[[Any], Any], tolerance: float) -> None:
    """Refuses losses of next tokens for a model whose logits depend on later tokens, by more than this part of their deviation."""
    ids = _token_ids(inputs)
    if ids is None or ids.shape[1] < 2:
        return
    t = torch()
    logits = logits_in(run(inputs), ids)
    mask = _mask(inputs, ids)
    places = t.arange(ids.shape[1], device=ids.device)
    last = (places * mask).amax(1)
    rows = t.arange(ids.shape[0], device=ids.device)
    other = ids.clone()
    other[rows, last] = (ids[rows, last] + 1) % logits.shape[-1]
    changed = {**inputs, "input_ids": other} if isinstance(inputs, Mapping) else (other, *inputs[1:]) if isinstance(inputs, tuple) else other
    before = (mask & (places < last[:, None])).to(logits.device)
    found = logits_in(run(changed), ids)
    difference = (found[before].double() - logits[before].double()).abs().max() if bool(before.any()) else t.zeros(())
    if float(difference) > tolerance * float(logits[before].double().std()):
        raise InputError("loss: the model's tokens see later tokens (other logits where only the last token was changed), so next-token "
                         "cross-entropy is not its loss; pass loss=")


def name_of(loss: Loss) -> str:
    for function, name in OWN.values():
        if loss is function:
            return name
    name = getattr(loss, "__name__", type(loss).__name__)
    return "loss" if name == "<lambda>" else name


def losses_of(found: Any) -> "tuple[NDArray[np.float64], bool]":
    """What a loss returned: a number for every sample, and whether it was one number for all of them."""
    expected = "expected one number for each sample, or a single one"
    if not is_tensor(found):
        try:
            found = torch().as_tensor(found, dtype=torch().float64)
        except (TypeError, ValueError, RuntimeError):
            raise InputError(f"loss: {shown(found)} is not a tensor: {expected}") from None
    if found.dim() > 1:
        raise InputError(f"loss: a tensor of shape {tuple(found.shape)}: {expected}")
    if found.is_complex() or found.numel() == 0:
        raise InputError(f"loss: a tensor of {found.numel()} numbers ({found.dtype}): {expected}")
    values: NDArray[np.float64] = found.detach().to("cpu", torch().float64).reshape(-1).numpy()
    return values, found.dim() == 0
