"""Names that were meant, perhaps."""

from __future__ import annotations

import difflib
from typing import Iterable, List

from .._options import shown

_SHOWN = 5


def _order(name: str, names: Iterable[str]) -> List[str]:
    """The names, the nearest first: those that contain it, those whose parts are like it, the others."""
    def distance(other: str) -> float:
        wanted, found = name.lower(), other.lower()
        if wanted in found:
            return -1.0
        parts = [found, *found.split(".")]
        return -max(difflib.SequenceMatcher(None, wanted, part).ratio() for part in parts) / 2

    return sorted(names, key=distance)


def _listed(name: str, names: Iterable[str]) -> str:
    """"'a', 'b' and 3 more", the nearest first; or "none"."""
    ordered = _order(name, names)
    listed = ", ".join(shown(one) for one in ordered[:_SHOWN]) or "none"
    more = len(ordered) - _SHOWN
    return listed + (f" and {more} more" if more > 0 else "")


def nearest(name: str, names: Iterable[str]) -> str:
    """": there are 'a', 'b' and 3 more", the nearest first."""
    return f": there are {_listed(name, names)}"


def nearest_names(name: str, names: Iterable[str]) -> str:
    """"Nearest names: 'a', 'b' and 3 more"."""
    return f"Nearest names: {_listed(name, names)}"
