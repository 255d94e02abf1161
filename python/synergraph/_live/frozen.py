"""A model that is run for measurement and afterwards is what it was."""

from __future__ import annotations

import contextlib
import random
from typing import Any, Dict, Iterator, List, Tuple

import numpy as np

from .arrays import torch


@contextlib.contextmanager
def _random_numbers() -> Iterator[None]:
    """Puts the random numbers of Python, NumPy and PyTorch back to where they were."""
    t = torch()
    python, numpy, cpu = random.getstate(), np.random.get_state(), t.get_rng_state()
    devices = t.cuda.get_rng_state_all() if t.cuda.is_available() and t.cuda.is_initialized() else None
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)
        t.set_rng_state(cpu)
        if devices is not None:
            t.cuda.set_rng_state_all(devices)


@contextlib.contextmanager
def frozen(model: Any) -> Iterator[None]:
    """Runs a block with the model in evaluation mode and without gradients. Afterwards modes, buffers and random numbers are what
    they were, whatever the block did."""
    t = torch()
    modes: List[Tuple[Any, bool]] = [(module, module.training) for module in model.modules()]
    buffers: List[Tuple[Dict[str, Any], str, Any, int, Any]] = [
        (module._buffers, name, buffer, buffer._version, buffer.clone())
        for module in model.modules() for name, buffer in module._buffers.items() if buffer is not None and not buffer.is_inference()]
    with _random_numbers(), t.no_grad():
        try:
            model.eval()
            yield
        finally:
            for module, training in modes:
                module.training = training
            for places, name, buffer, version, before in buffers:
                if buffer._version != version:
                    buffer.copy_(before)
                places[name] = buffer
