"""What is given as attention: arrays, what a model returned, or something that has none."""

from __future__ import annotations

import sys
from typing import Any, Iterable, Iterator, List, Mapping, NamedTuple, NoReturn, Optional, Tuple

from ._errors import InputError
from ._options import shown
from ._views import is_array, shape_of

NO_ATTENTION = ('the model returned no attention: load it with attn_implementation="eager" and call it with output_attentions=True, '
                "or measure it while it runs, with synergraph.watch(model)")

PARAMETERS = ("a model's parameters, not its attention: run the model with output_attentions=True and pass the attentions, "
              "or measure it while it runs, with synergraph.watch(model)")

LOAD_MODEL = "a model of synergraph, not its attention. Measure it with sg.load_model(path).measure(task=...)"

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
        raise InputError("This output has encoder and decoder attention. Pass output.decoder_attentions")
    return False, None


def _refuse_other(value: Any) -> None:
    """What has no attention to be read."""
    if value is None:
        raise InputError(f"attention is None: {NO_ATTENTION}")
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.nn.Module) or hasattr(value, "named_modules"):
        raise InputError(f"a {type(value).__name__} is a model, not its attention: watch it while it runs, "
                         "`with synergraph.watch(model) as seen: model(inputs)`, then call seen.result()")
    if type(value).__module__.partition(".")[0] == "synergraph":
        if type(value).__name__ == "Model":
            raise InputError(f"this is {LOAD_MODEL}")
        raise InputError(f"a synergraph.{type(value).__name__} is not attention: expected arrays or a file; see its own methods")
    if hasattr(value, "logits") or hasattr(value, "last_hidden_state"):
        raise InputError(f"a {type(value).__name__} without attentions: {NO_ATTENTION}")


def _names_in(value: Any, prefix: str = "") -> Iterator[str]:
    """The names of arrays in dictionaries of dictionaries."""
    for name, one in value.items():
        if isinstance(one, Mapping):
            yield from _names_in(one, f"{prefix}{name}.")
        elif is_array(one):
            yield f"{prefix}{name}"


def are_parameters(names: Iterable[str]) -> bool:
    """Whether arrays of these names are a model's parameters, as those in files are told."""
    listed = list(names)
    count = sum(name.endswith(("weight", "bias")) for name in listed)
    return count >= 2 and 2 * count >= len(listed)


def refuse_parameters(names: Iterable[str]) -> None:
    """Refuses what is a model's parameters, by their names."""
    if are_parameters(names):
        raise InputError(f"the dictionary holds {PARAMETERS}")


def _is_parameter(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.nn.Parameter)


def _is_named(value: Any) -> bool:
    """Whether it is an array with its name, an item of a dictionary."""
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str) and is_array(value[1])


def _refuse_element(where: str, value: Any) -> NoReturn:
    """What an element of a list or a dictionary is that is not an array."""
    try:
        if _attentions_in(value)[0]:
            raise InputError("an output of a model. Measure one output at a time: [sg.measure(output) for output in outputs]")
        _refuse_other(value)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    way = ". Pass its arrays themselves, one a layer" if isinstance(value, (list, tuple)) else ""
    raise InputError(f"{where}: {'a list' if way else shown(value)} is not an array{way}")


def _holds_objects(value: Any) -> bool:
    return getattr(getattr(value, "dtype", None), "kind", "") == "O"


def _refuse_objects(array: Any) -> None:
    """An array of NumPy whose elements are no numbers, but objects of Python."""
    leaves = array.ravel().tolist()
    if all(one is None for one in leaves):
        raise InputError(f"every element is None: {NO_ATTENTION}")
    way = "list(array)" if any(is_array(one) for one in leaves) else "array.astype(float)"
    raise InputError(f"the array holds Python objects, not numbers: pass {way}")


def _first_leaf(value: Any, wanted: Any) -> Any:
    """The first array in lists of lists for which something holds."""
    if is_array(value):
        return value if wanted(value) else None
    for one in value if isinstance(value, (list, tuple)) else ():
        found = _first_leaf(one, wanted)
        if found is not None:
            return found
    return None


def _leaves(value: Any) -> Iterator[Any]:
    """What is in lists of lists."""
    if isinstance(value, (list, tuple)):
        for one in value:
            yield from _leaves(one)
    else:
        yield value


def _refuse_list(value: Any) -> None:
    """A list that is no list of arrays, one a layer."""
    if not value:
        raise InputError("the list is empty: expected arrays whose last axes are query and key")
    if all(one is None for one in _leaves(value)):
        raise InputError(f"every element is None: {NO_ATTENTION}")
    if all(_is_named(one) for one in value):
        if not are_parameters(name for name, _ in value) and not _is_parameter(value[0][1]):
            raise InputError("the list holds names with arrays. Pass a dictionary: dict(attention)")
        raise InputError(f"the list holds {PARAMETERS}")
    if all(_is_parameter(one) for one in value):
        raise InputError(f"the list holds {PARAMETERS}")
    if any(is_array(one) for one in value):
        for place, one in reversed(list(enumerate(value))):
            if isinstance(value, tuple) and isinstance(one, (list, tuple)) and one and all(is_array(layer) and len(shape_of(layer)) == 4 for layer in one):
                raise InputError(f"this is the output of a model as a tuple. Pass its attentions: output[{place}]")


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
            raise InputError("the dictionary is empty; expected one array per layer")
        value = {str(name): one for name, one in value.items()}
        items: List[Tuple[Optional[str], Any]] = list(value.items())
    elif isinstance(value, (list, tuple)):
        _refuse_list(value)
        items = [(None, one) for one in value]
    else:
        if _holds_objects(value):
            _refuse_objects(value)
        if not (is_array(value) or isinstance(value, (list, tuple, int, float))):
            raise InputError(f"{shown(value)} is not attention: expected an array, a list of arrays, a dictionary of arrays or a file")
        return Given(array=value)
    empty = [number for number, (_, one) in enumerate(items) if one is None]
    if len(empty) == len(items):
        raise InputError(f"every element is None: {NO_ATTENTION}")
    if empty:
        raise InputError(f"element {empty[0]} is None: attention of every layer is expected")
    if isinstance(value, Mapping) and not all(is_array(one) for _, one in items):
        refuse_parameters(_names_in(value))
    listed = isinstance(value, (list, tuple)) and not any(is_array(one) for one in value)
    for number, (name, one) in enumerate(items):
        if _holds_objects(one):
            _refuse_objects(one)
        if not is_array(one) and not (listed and isinstance(one, (list, tuple, int, float))):
            _refuse_element(f"element {number}" if name is None else f"layer {shown(name)}", one)
    if not listed:
        return Given(items=items)
    step = _first_leaf(value, lambda array: len(shape_of(array)) >= 3 and shape_of(array)[-2] == 1 < shape_of(array)[-1])
    if step is not None:
        return Given(array=step)  # which the library refuses, with advice on generated texts
    if _first_leaf(value, lambda array: len(shape_of(array)) >= 2) is not None:
        raise InputError("the list holds lists. Pass one list with one array per layer; measure each text in its own call")
    return Given(array=value)
