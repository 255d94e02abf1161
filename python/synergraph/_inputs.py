"""What is given as attention: arrays, what a model returned, or something that has none."""

from __future__ import annotations

import sys
from typing import Any, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Tuple

from ._errors import InputError
from ._options import shown
from ._views import is_array, shape_of

NO_ATTENTION = ('the model returned no attention: load it with attn_implementation="eager" and call it with output_attentions=True, '
                "or measure it while it runs, with synergraph.watch(model)")

_PARAMETERS = ("a model's parameters, not its attention: run the model with output_attentions=True and pass the attentions, "
               "or measure it while it runs, with synergraph.watch(model)")

_PARTS = ("attentions", "decoder_attentions", "encoder_attentions")


class Given(NamedTuple):
    """One array, or a list of arrays with their names."""

    array: Any = None
    items: Optional[List[Tuple[Optional[str], Any]]] = None


def _attentions_in(value: Any) -> Tuple[bool, Any]:
    """The attentions of a model's output, an object or a dictionary, and whether that is what it is."""
    if is_array(value) or isinstance(value, (list, tuple, str, bytes)):
        fields = getattr(value, "_fields", ())  # of a named tuple
        if "attentions" not in fields:
            return False, None
    for name in _PARTS:
        found: Any = None
        if isinstance(value, Mapping) and name in value:
            found = value[name]
            if is_array(found):  # a layer of that name
                return False, None
        elif hasattr(value, name):
            found = getattr(value, name)
        else:
            continue
        if name == "attentions":
            return True, found
        raise InputError(f"this output of a model has attentions of two parts: pass its decoder_attentions, not {shown(type(value))}")
    return False, None


def _refuse_other(value: Any) -> None:
    """What has no attention to be read."""
    if value is None:
        raise InputError(f"attention is None: {NO_ATTENTION}")
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.nn.Module) or hasattr(value, "named_modules"):
        raise InputError(f"a {type(value).__name__} is a model, not its attention: run it while it is watched, "
                         "with synergraph.watch(model) as seen: model(inputs); then seen.result()")
    if hasattr(value, "logits") or hasattr(value, "last_hidden_state"):
        raise InputError(f"a {type(value).__name__} without attentions: {NO_ATTENTION}")
    if type(value).__module__.partition(".")[0] == "synergraph":
        raise InputError(f"a synergraph.{type(value).__name__} is not attention: expected arrays or a file; see its own methods")


def _names_in(value: Any, prefix: str = "") -> Iterator[str]:
    """The names of arrays in dictionaries of dictionaries."""
    for name, one in value.items():
        if isinstance(one, Mapping):
            yield from _names_in(one, f"{prefix}{name}.")
        elif is_array(one):
            yield f"{prefix}{name}"


def refuse_parameters(names: Iterable[str]) -> None:
    """Refuses what is a model's parameters, by the names that those in files are told by, too."""
    listed = list(names)
    count = sum(name.endswith(("weight", "bias")) for name in listed)
    if count >= 2 and 2 * count >= len(listed):
        raise InputError(f"the dictionary holds {_PARAMETERS}")


def _first_leaf(value: Any, wanted: Any) -> Any:
    """The first array in lists of lists for which something holds."""
    if is_array(value):
        return value if wanted(value) else None
    for one in value if isinstance(value, (list, tuple)) else ():
        found = _first_leaf(one, wanted)
        if found is not None:
            return found
    return None


def given(value: Any) -> Given:
    """What is to be measured. InputError for what is not attention: what it is, and what to pass instead."""
    is_output, attentions = _attentions_in(value)
    if is_output:
        if attentions is None:
            raise InputError(f"the output's attentions are None: {NO_ATTENTION}")
        value = attentions
    _refuse_other(value)
    if isinstance(value, Mapping):
        if not value:
            raise InputError("an empty dictionary: expected arrays, one a layer")
        value = {str(name): one for name, one in value.items()}
        items: List[Tuple[Optional[str], Any]] = list(value.items())
    elif isinstance(value, (list, tuple)) and value:
        items = [(None, one) for one in value]
    else:
        if not (is_array(value) or isinstance(value, (list, tuple, int, float))):
            raise InputError(f"{shown(value)} is not attention: expected an array, a list of arrays, a dictionary of arrays or a file")
        return Given(array=value)
    empty = [number for number, (_, one) in enumerate(items) if one is None]
    if len(empty) == len(items):
        raise InputError(f"every element is None: {NO_ATTENTION}")
    if empty:
        raise InputError(f"element {empty[0]} is None: attention of every layer is expected")
    if all(is_array(one) for _, one in items):
        return Given(items=items)
    if isinstance(value, Mapping):
        for name, one in items:
            if not is_array(one) and _first_leaf(one, lambda _: True) is None:
                refuse_parameters(_names_in(value))
                raise InputError(f"layer {shown(name)}: {shown(one)} is not an array")
    step = _first_leaf(value, lambda array: len(shape_of(array)) >= 3 and shape_of(array)[-2] == 1 < shape_of(array)[-1])
    if step is not None:
        return Given(array=step)  # which the library refuses, with advice on generated texts
    if _first_leaf(value, lambda array: len(shape_of(array)) >= 2) is not None:
        raise InputError("lists in a list: expected one list of arrays, one a layer; pass the list of each text, one after the other")
    return Given(array=value)
