"""Families of graphs, measured side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Tuple, Union

from . import _library
from ._measure import settings_of, with_settings
from ._progress import Progress, progress_function
from ._result import Document

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure


class Families(Document):
    """The numbers of each graph, by their keys in CSV (docs/graphs.md): arrays over `graph`, in the order of families, sizes and seeds.

    `print(result)` shows the table of `synergraph families`: means over the graphs of one family and size.
    """

    dims: Tuple[str, ...] = ("graph",)

    @property
    def names(self) -> List[str]:
        """The family of each graph."""
        return [str(graph["family"]) for graph in self.to_dict()["graphs"]]

    def to_pandas(self) -> "pandas.DataFrame":
        """One row for each graph."""
        import pandas

        return pandas.DataFrame({"family": self.names, **dict(self)})

    def plot(self, **options: Any) -> "Figure":
        """Normalised fidelity against averaged mixing time: a line for each family, a mark for each size (matplotlib).

        Marks are geometric means over the graphs. `options` go to `matplotlib.pyplot.subplots`, such as `figsize=(7, 3)`.
        """
        from ._plot import plot_families

        return plot_families(self, **options)


@with_settings("families")
def families(
    families: Union[str, Sequence[str], None] = None,
    sizes: Union[int, Sequence[int], None] = None,
    *,
    # settings: families -families -sizes
    graphs: Optional[int] = None,
    eps: Optional[float] = None,
    step_limit: Optional[int] = None,
    # end of settings
    threads: Optional[int] = None,
    progress: Progress = None,
) -> Families:
    """Makes and measures graphs of several families and sizes, as `synergraph families` does (docs/graphs.md).

    (settings)

    >>> result = families(["power", "fs:4log"], [64, 256], graphs=2)
    >>> result.names
    ['power', 'power', 'fs:4log', 'fs:4log', 'fs:4log', 'fs:4log']
    >>> result["averaged_mixing_time"].tolist()
    [14.0, 21.0, 10.0, 10.0, 13.0, 13.0]
    """
    options = settings_of("families", locals())
    with progress_function(progress, "graph") as hear:
        return Families(_library.run_made("result", "sg_families", (_library.encoded(options),), threads=threads, progress=hear, long=True))
