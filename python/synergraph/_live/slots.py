"""Functions that are replaced while someone watches, and put back afterwards."""

from __future__ import annotations

import threading
from typing import Any, Callable, Dict, MutableMapping, Tuple

Mapping = MutableMapping[Any, Any]


class _Slot:
    def __init__(self, mapping: Mapping, key: str, original: Any, replacement: Any) -> None:
        self.mapping = mapping
        self.key = key
        self.original = original
        self.replacement = replacement
        # A registry of transformers has entries of its own over those that all registries share.
        self.own = key in getattr(mapping, "_local_mapping", mapping)
        self.users = 1
        mapping[key] = replacement

    def put_back(self) -> None:
        if self.mapping.get(self.key) is not self.replacement:
            return  # someone has replaced it since; ours hands everything through
        if self.own:
            self.mapping[self.key] = self.original
        else:
            del self.mapping[self.key]


_slots: Dict[Tuple[int, str], _Slot] = {}
_lock = threading.RLock()


def as_it_was(mapping: Mapping, state: Any) -> Any:
    """A copy of what a mapping holds, with the originals of what was replaced in it."""
    if isinstance(state, tuple):
        return tuple(as_it_was(mapping, part) for part in state)
    if not isinstance(state, dict):
        return state
    copy = dict(state)
    with _lock:
        for (owner, key), slot in _slots.items():
            if owner == id(mapping) and copy.get(key) is slot.replacement:
                if slot.own:
                    copy[key] = slot.original
                else:
                    del copy[key]
    return copy


def replace(mapping: Mapping, key: str, original: Any, wrap: Callable[[Any], Any]) -> Callable[[], None]:
    """Puts `wrap(original)` into a mapping. The function that is returned puts the original back when all who replaced it have."""
    with _lock:
        slot = _slots.get((id(mapping), key))
        if slot is not None and slot.mapping.get(key) is slot.replacement:
            slot.users += 1
        else:
            slot = _slots[id(mapping), key] = _Slot(mapping, key, original, wrap(original))
    held = slot

    def put_back() -> None:
        with _lock:
            held.users -= 1
            if held.users == 0:
                held.put_back()
                if _slots.get((id(mapping), key)) is held:
                    del _slots[id(mapping), key]

    return put_back
