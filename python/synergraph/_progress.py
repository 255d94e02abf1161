"""Progress of long calls."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, Optional, Union

Progress = Union[bool, Callable[[int, int], Any], None]


@contextlib.contextmanager
def progress_function(progress: Progress, unit: str) -> Iterator[Optional[Callable[[int, int], Any]]]:
    """What hears of progress: the caller's function, tqdm's bar, or nobody."""
    if not isinstance(progress, bool):
        yield progress
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        progress = False
    if not progress:
        yield None
        return
    with tqdm(unit=unit, leave=False) as bar:

        def show(done: int, total: int) -> None:
            bar.total = total or None
            bar.update(done - bar.n)

        yield show
