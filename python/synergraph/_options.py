"""Options of calls: of the right type, or an error that names the option, what was given and what is expected."""

from __future__ import annotations

import math
import operator
import os
from typing import Any, Iterable, List, NoReturn, Optional, Sequence, Tuple, Union

from ._errors import InputError, OptionError, UsageError


def shown(value: Any) -> str:
    """A value for a message: on one line, and short."""
    try:
        text = repr(value)
    except Exception:
        text = f"a {type(value).__name__}"
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"a {type(value).__name__}"


def refuse(name: str, value: Any, expected: str) -> NoReturn:
    raise OptionError(f"{name}: {shown(value)} is not {expected}")


def whole(value: Any, name: str, most: int = 2**63 - 1, least: int = 0) -> int:
    """A whole number, which ctypes would cut to its size without a word."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        refuse(name, value, "a whole number")
    if not least <= number <= most:
        expected = f"at least {least}" if number < least else f"at most {most}"
        raise UsageError(f"{name}: {number} is not {expected}" if most == 2**63 - 1 else f"{name}: {number} is not in {least} to {most}")
    return number


def number(value: Any, name: str) -> float:
    """A number."""
    try:
        if isinstance(value, (str, bytes, bool)) or type(value).__name__ in ("bool_", "bool"):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        refuse(name, value, "a number")


def finite(value: Any, name: str, least: float = -math.inf, most: float = math.inf) -> float:
    """A number that is neither infinite nor NaN."""
    found = number(value, name)
    if not (math.isfinite(found) and least <= found <= most):
        limits = f" from {least:g} to {most:g}" if most < math.inf else f" of at least {least:g}" if least > -math.inf else ""
        raise UsageError(f"{name}: {found} is not a finite number{limits}")
    return found


def text(value: Any, name: str, expected: str = "a text") -> str:
    """A text."""
    if not isinstance(value, str):
        refuse(name, value, expected)
    if "\0" in value:
        raise UsageError(f"{name}: {shown(value)} has a zero byte in it")
    return value


def encoded_text(value: Any, name: str, expected: str = "a text") -> bytes:
    """The same for a call, surrogates of undecodable bytes being those bytes."""
    try:
        return text(value, name, expected).encode(errors="surrogateescape")
    except UnicodeEncodeError:
        refuse(name, value, expected)


def flag(value: Any, name: str) -> bool:
    """True or False, NumPy's too."""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return bool(value)
    refuse(name, value, "True or False")


def texts(value: Any, name: str, expected: str) -> Union[str, List[str]]:
    """A text, or a list of some."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bytes, dict)) or not isinstance(value, Iterable):
        refuse(name, value, expected)
    listed = list(value)
    for one in listed:
        if not isinstance(one, str):
            refuse(name, value, expected)
    return listed


def is_path(value: Any) -> bool:
    return isinstance(value, (str, bytes)) or hasattr(value, "__fspath__")


def path(value: Any, name: str) -> Any:
    """A path; a number would be a file that is open."""
    if not is_path(value):
        refuse(name, value, "a path")
    given = os.fspath(value)
    try:
        if b"\0" in os.fsencode(given):
            raise InputError(f"{name}: {shown(given)} is no path: there is a zero byte in it")
    except UnicodeEncodeError:
        refuse(name, value, "a path")
    return given


def are_numbers(layers: str) -> bool:
    """Whether a choice of layers is numbers, "3", "0,2" or "4-7", and no regular expression."""
    return set(layers) <= set("0123456789,- ") and any(one.isdigit() for one in layers)


def layer_choice(layers: Any, name: str = "layers") -> Optional[str]:
    """Layers as the library takes them: numbers, "3", "0,2", "4-7", or a regular expression."""
    if layers is None or isinstance(layers, str):
        return layers
    expected = "a number, a list of numbers, or a text such as '0,2', '4-7' or a regular expression"
    values = [layers]
    if hasattr(layers, "tolist"):
        layers = layers.tolist()
    if isinstance(layers, (list, tuple, range)):
        values = list(layers)
    numbers = []
    for value in values:
        try:
            if isinstance(value, bool):
                raise TypeError
            numbers.append(str(operator.index(value)))
        except TypeError:
            refuse(name, layers, expected)
    if not numbers:
        raise UsageError(f"{name}: an empty list")
    return ",".join(numbers)


def axis_names(axes: Union[str, Sequence[str]]) -> Tuple[str, ...]:
    """The names of axes, from a text with commas or blanks, or a list."""
    listed = texts(axes, "axes", "a text such as 'layer head query key', or a list of names")
    names = tuple(listed.replace(",", " ").split()) if isinstance(listed, str) else tuple(listed)
    for place, name in enumerate(names):
        if name in names[:place]:
            raise UsageError(f"axes: {name} is given twice")
    return names
