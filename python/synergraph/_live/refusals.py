"""What cannot be watched, and when not to look."""

from __future__ import annotations

import sys
import warnings
from typing import Any, Dict

from .._errors import UsageError
from .._options import shown
from .arrays import torch


def compiling() -> bool:
    compiler = getattr(torch(), "compiler", None)
    return bool(compiler is not None and getattr(compiler, "is_compiling", lambda: False)())


def in_backward() -> bool:
    """Whether a checkpointed part of the model is being run again, which was seen when it ran first."""
    module: Any = sys.modules.get("torch")
    if module is None:
        return False
    task = getattr(module._C, "_current_graph_task_id", None)
    if task is not None:
        return bool(task() != -1)
    try:  # PyTorch 1 tells by whether it takes a function to call when the backward pass ends
        module.autograd.Variable._execution_engine.queue_callback(lambda: None)
    except (AttributeError, RuntimeError):
        return False
    return True


def refuse(model: Any) -> None:
    """What cannot be watched."""
    t = torch()
    if not isinstance(model, t.nn.Module):
        raise UsageError(f"model: {shown(model)} is not a torch.nn.Module")
    if any(type(one).__name__ == "OptimizedModule" or getattr(one, "_compiled_call_impl", None) is not None
           for one in model.modules()):
        raise UsageError("the model is compiled: watch and call the one that was handed to torch.compile")
    if isinstance(model, t.nn.DataParallel):
        raise UsageError("DataParallel runs copies of the model: watch and call model.module")
    if any(isinstance(one, t.jit.ScriptModule) for one in model.modules()):
        raise UsageError("the model is TorchScript's: watch the one it was made from")


def warn_of(refused: Dict[str, str]) -> None:
    """Tells of layers that are left out."""
    reasons = sorted(set(refused.values()))
    warnings.warn(f"{len(refused)} layers are left out ({', '.join(list(refused)[:3])}{', ...' if len(refused) > 3 else ''}): "
                  f"{'; '.join(reasons)}", stacklevel=3)
