"""The names of the tokens that a model was run on."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

from .arrays import is_tensor, torch

#: How tokenizers write a blank before a word, and the end of a line.
_MARKS = {"\u0120": " ", "\u2581": " ", "\u010a": "\\n"}


def ids_in(arguments: Sequence[Any], options: Dict[str, Any]) -> Optional[List[List[int]]]:
    """The numbers of the tokens (samples, tokens) that a model is called with, if it is."""
    found = options.get("input_ids")
    if not is_tensor(found):
        found = next((one for one in arguments if is_tensor(one)), None)
    t = torch()
    if found is None or found.is_floating_point() or found.dtype == t.bool or found.dim() not in (1, 2) or found.is_meta:
        return None
    ids: List[List[int]] = found.detach().reshape(-1, found.shape[-1]).tolist()
    return ids


class Texts:
    """The numbers of tokens by the runs of a model."""

    def __init__(self) -> None:
        self._runs: Dict[int, List[List[int]]] = {}

    def add(self, run: int, arguments: Sequence[Any], options: Dict[str, Any]) -> None:
        try:
            ids = ids_in(arguments, options)
        except Exception:  # the model is never disturbed; it tells what is wrong with its inputs
            return
        if ids is not None:
            self._runs[run] = ids

    def of(self, places: Sequence[Tuple[int, int]]) -> Optional[List[List[int]]]:
        """The numbers for samples (run, place in the batch). Runs without samples continue the texts of the one before: a model generates
        token by token."""
        begins = {run for run, _ in places}
        texts: Dict[int, List[List[int]]] = {}
        last = -1
        for run in sorted(self._runs):
            ids = self._runs[run]
            if run in begins:
                last = run
                texts[run] = [list(one) for one in ids]
            elif last >= 0 and len(ids) == len(texts[last]):
                for text, new in zip(texts[last], ids):
                    text += new
        if any(run not in texts or place >= len(texts[run]) for run, place in places):
            return None
        return [texts[run][place] for run, place in places]

    def clear(self) -> None:
        self._runs.clear()


def is_tokenizer(value: Any) -> bool:
    """Whether `names_of` can ask it."""
    return callable(value) or any(callable(getattr(value, name, None)) for name in ("convert_ids_to_tokens", "id_to_token", "decode"))


def names_of(tokenizer: Any, ids: Sequence[int]) -> List[str]:
    """The tokens as a tokenizer of transformers, tokenizers, tiktoken or SentencePiece writes them; or a function of their numbers."""
    def decoded(one: int) -> str:
        try:
            return str(tokenizer.decode([one]))
        except Exception:  # of a number that is no token
            return ""

    if hasattr(tokenizer, "convert_ids_to_tokens"):
        raw = [str(name) for name in tokenizer.convert_ids_to_tokens(list(ids))]
    elif hasattr(tokenizer, "id_to_token"):
        raw = [str(tokenizer.id_to_token(one) or "") for one in ids]
    elif hasattr(tokenizer, "decode"):
        return [decoded(one) for one in ids]
    else:
        return [str(name) for name in tokenizer(list(ids))]
    names = []
    for one, name in zip(ids, raw):
        plain = "".join(_MARKS.get(letter, letter) for letter in name)
        text = plain if plain.isascii() or not hasattr(tokenizer, "decode") else decoded(one)
        names.append(plain if not text or "\ufffd" in text else text)
    return names
