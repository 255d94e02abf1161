"""Progress of long calls."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, Optional, Union

from ._options import refuse

Progress = Union[bool, Callable[[int, int], Any], None]


def _tqdm() -> Any:
    """The bar, if it is installed."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm


@contextlib.contextmanager
def progress_function(progress: Progress, unit: str) -> Iterator[Optional[Callable[[int, int, str], Any]]]:
    """What hears of progress: the caller's function, tqdm's bar, or nobody."""
    if callable(progress):
        hear = progress
        yield lambda done, total, detail: hear(done, total)
        return
    if progress is not None and not isinstance(progress, bool):
        refuse("progress", progress, "True, False or a function")
    if not progress or (tqdm := _tqdm()) is None:
        yield None
        return
    with tqdm(unit=unit, leave=False) as bar:

        def show(done: int, total: int, detail: str) -> None:
            bar.total = total or None
            bar.set_postfix_str(detail, refresh=False)
            bar.update(done - bar.n)

        yield show
