"""Results as interactive pages, with the attention that they are of."""

from __future__ import annotations

import json
import os
import warnings
import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional

from . import _library, _options
from ._errors import InputError, UsageError

if TYPE_CHECKING:
    from ._attention import Attention

#: Names of the tokens, one list for all samples or one for each; or a function that gives them.
Names = Optional[List[List[str]]]

_GONE = ("attention: the arrays that were measured are no longer in memory. Keep them, or pass them again: "
         "result.page(path, attention=...)")


def weakly(value: Any) -> Callable[[], Any]:
    """Gives arrays, or lists and dictionaries of some, back as long as someone else keeps them. Results must not keep them: they are
    large."""
    if value is None or isinstance(value, (str, bytes, int, float)) or _options.is_path(value):
        return lambda: value
    if isinstance(value, Mapping):
        parts = {key: weakly(one) for key, one in value.items()}
        return lambda: {key: part() for key, part in parts.items()}
    if isinstance(value, (list, tuple)):
        ones, kind = [weakly(one) for one in value], list if isinstance(value, list) else tuple
        return lambda: kind(one() for one in ones)
    try:
        reference = weakref.ref(value)
    except TypeError:  # of a kind that cannot be followed
        return lambda: _gone()

    def found() -> Any:
        array = reference()
        return _gone() if array is None else array

    return found


def _gone() -> Any:
    raise InputError(_GONE)


class Source:
    """Where a result's attention is, for its page."""

    def __init__(self, reopen: Callable[[Any], "Attention"], tokens: Optional[Callable[[], Names]] = None, path: Any = None) -> None:
        self._reopen = reopen  #: of what is passed instead of the attention, or None
        self._tokens = tokens
        self._path = path  #: of the file that was measured

    def attention(self, given: Any) -> "Attention":
        return self._reopen(given)

    def refuse_to_overwrite(self, target: bytes, given: Any) -> None:
        path = self._path if given is None else given
        if _options.is_path(path) and os.path.exists(target) and os.path.samefile(target, path):
            raise UsageError(f"path: the page would overwrite {os.fsdecode(path)!r}, which is read")

    def names(self) -> Names:
        """The names of the tokens, if they are known."""
        return None if self._tokens is None else self._tokens()


def _whole_characters(name: str) -> str:
    """The name with U+FFFD for each lone surrogate, which no file can hold."""
    return name.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _listed(tokens: Any) -> List[List[str]]:
    """One list of names, or one a sample."""
    def names(one: Any, what: str) -> List[str]:
        listed = list(one)
        for name in listed:
            if not isinstance(name, str):
                _options.refuse(what, name, "the name of a token; pass tokenizer.convert_ids_to_tokens(ids)")
        return [_whole_characters(name) for name in listed]

    if isinstance(tokens, (str, bytes)) or not hasattr(tokens, "__iter__"):
        _options.refuse("tokens", tokens, "a list of names, or one list for each sample")
    every = list(tokens)
    if every and isinstance(every[0], str):
        return [names(every, "tokens")]
    for one in every:
        if isinstance(one, str) or not hasattr(one, "__iter__"):
            _options.refuse("tokens", one, "a list of names; pass tokenizer.convert_ids_to_tokens(ids)")
    return [names(one, f"tokens[{place}]") for place, one in enumerate(every)]


def _fitted(names: List[List[str]], attention: "Attention") -> List[List[str]]:
    """As many lists as the library has samples, and as many names as it has tokens: names of shorter samples are filled up, and those of
    several sinks are repeated."""
    samples, _, tokens = attention.shape(0)
    sinks = len(attention.sinks or [])
    if sinks > 1 and len(names) > 1 and len(names) * sinks == samples:
        names = [one for one in names for _ in range(sinks)]
    return [one + [""] * (tokens - len(one)) if len(names) > 1 else one for one in names]


def write(path: Any, document: str, source: Optional[Source], options: Dict[str, Any], tokens: Any, given: Any) -> None:
    """Writes the page of a document."""
    target = _library.path_bytes(path)
    if "edges" in json.loads(document):
        raise UsageError("page: it shows attention edges; measure without edges=")
    if source is None:
        raise InputError("attention: it is not known to this result, which was unpickled: measure again")
    source.refuse_to_overwrite(target, given)
    attention = source.attention(given)
    names = source.names() if tokens is None else _listed(tokens)
    written = None if names is None else json.dumps(_fitted(names, attention)).encode()
    with attention:
        note = _library.text("sg_write_page", target, _library.encoded(options), document.encode(), written, attention.handle.pointer)
    if note:
        warnings.warn(note.strip().replace("--page-samples", "page_samples"), stacklevel=3)
