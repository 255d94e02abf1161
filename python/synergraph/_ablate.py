"""Which heads the loss needs: a model is run with its heads switched off."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any, Callable, Dict, List, Optional, Union

import numpy as np
from numpy.typing import NDArray

from . import _library, _options
from ._errors import InputError, UsageError
from ._heads import HeadValues
from ._live import losses
from ._live.arrays import torch
from ._live.frozen import frozen
from ._live.modules import Chosen
from ._live.passes import LayerPasses, Passes, call_model, list_inputs, tolerance_of
from ._live.recorder import LayerChoice, Layers
from ._live.refusals import refuse
from ._live.sites import Switches, find_sites
from ._measure import settings_of, with_settings
from ._progress import Progress, progress_function
from ._result import Document, Numbers, Result


class Agreement(Document):
    """Whether numbers order heads as the loss does: see `Ablation.compare`.

    `agreement["fidelity/shapley/rho"]` is the rank correlation pooled within layers, `".../p"` its p-value, `".../heads"` the number of
    heads behind both; `".../layer_rho"` and `".../layer_p"` have one number per layer.
    """

    def to_pandas(self) -> Any:
        """One row per number and layer, and one for all layers together, which has no layer."""
        import io

        import pandas

        return pandas.read_csv(io.StringIO(self.to_csv(), newline=""), dtype={"layer": str, "number": str}, float_precision="round_trip")


class Ablation(HeadValues):
    """What the loss needs of the heads of each layer: see `ablate`."""

    @property
    def loss(self) -> Numbers:
        """What heads are worth: `all`, `shapley`, `banzhaf`, `alone`, `dropped`, `pairs`, `best`, ...: how much the loss falls."""
        return self._part("loss")

    @property
    def control(self) -> Dict[str, Any]:
        """The loss of the model as it is (`intact`), with every head of every layer off (`without_attention`), and the difference
        (`needed`), each with its `mean` and standard `error`, and the `name` of the loss."""
        return dict(self.to_dict()["loss"])

    def compare(self, structure: Any, *, of: str = "shapley", seed: int = 1) -> Agreement:
        """Whether numbers that say something else of the same heads order the heads as the loss does.

        - `structure`: a result of `heads` or `measure(per_head=True)`, or a dictionary of arrays (layers, heads) by name. Layers are
          those with the same names; without names, all in order.
        - `of`: what the loss says, `"shapley"`, `"dropped"`, `"alone"` or `"banzhaf"`.
        - `seed`: of the permutations.

        Spearman's rank correlation is computed for each layer and pooled over the layers, with ranks within each. The p-values are those
        of permutations within layers, not corrected for the number of comparisons.
        """
        reference = f"loss/{_options.text(of, 'of')}"
        if reference not in self or np.ndim(self[reference]) != 2:
            raise UsageError(f"of: {_options.shown(of)} is not 'shapley', 'banzhaf', 'alone' or 'dropped'")
        names, numbers = _numbers_of(structure)
        places = list(range(len(self.layers)))
        if names is not None and set(names) & set(self.layers):
            places = [place for place, name in enumerate(self.layers) if name in names]
            rows = [names.index(self.layers[place]) for place in places]
            numbers = {name: array[rows] for name, array in numbers.items()}
        sizes = [int(np.isfinite(self["loss/alone"][place]).sum()) for place in places]
        for name, array in numbers.items():
            if len(array) != len(places):
                raise InputError(f"{name}: {len(array)} layers, the ablation has {len(places)} ({', '.join(self.layers[:3])}, ...)")
            for place, row, heads in zip(places, array, sizes):
                if len(row) < heads or np.isfinite(row[heads:]).any():
                    raise InputError(f"{name}: {len(row)} heads in layer {self.layers[place]}, the ablation has {heads}")
        flat = np.concatenate([self[reference][place, :heads] for place, heads in zip(places, sizes)])
        others = np.concatenate([array[row, :heads] for array in numbers.values() for row, heads in enumerate(sizes)])
        counts = np.array(sizes, dtype=np.int64)
        options = {"reference": reference, "names": list(numbers), "layers": [self.layers[place] for place in places],
                   "seed": _options.whole(seed, "seed")}

        def doubles(array: NDArray[np.float64]) -> Any:
            return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))

        return Agreement(_library.make("result", "sg_agreement", _library.encoded(options), counts.ctypes.data_as(
            ctypes.POINTER(ctypes.c_int64)), len(counts), doubles(flat), doubles(np.ascontiguousarray(others)), len(numbers)))


def _numbers_of(structure: Any) -> "tuple[Optional[List[str]], Dict[str, NDArray[np.float64]]]":
    """The names of layers, if there are any, and numbers (layers, heads) by name."""
    names: Optional[List[str]] = None
    found: Dict[str, Any] = {}
    if isinstance(structure, HeadValues):
        names = structure.layers
        found = {f"{value}/{index}": structure[f"{value}/{index}"] for value in structure.value_names
                 for index in ("shapley", "alone", "dropped")}
    elif isinstance(structure, Result):
        names = list(getattr(structure, "layers", [])) or None
        for name in structure.heads:
            array = np.asarray(structure.heads[name], dtype=np.float64)
            if array.ndim == len(structure.dims) + 1 and "convention" not in structure.dims:
                axes = tuple(axis for axis, dim in enumerate(structure.dims) if dim != "layer")
                found[name] = array.mean(axes)
        if not found:
            raise InputError("structure: the result has no numbers of single heads; measure with per_head=True and one convention")
    elif isinstance(structure, Mapping):
        found = {str(name): array for name, array in structure.items()}
    else:
        found = {"numbers": structure}
    if not found:
        raise InputError("structure: there are no numbers in it")
    arrays: Dict[str, NDArray[np.float64]] = {}
    for name, array in found.items():
        try:
            values = np.asarray(array.detach().cpu() if hasattr(array, "detach") else array, dtype=np.float64)
        except (TypeError, ValueError):
            _options.refuse(name, array, "an array (layers, heads)")
        values = values[np.newaxis] if values.ndim == 1 else values
        if values.ndim != 2:
            raise InputError(f"{name}: an array of shape {values.shape}, expected (layers, heads)")
        arrays[name] = values
    return names, arrays


def _play(settings: Dict[str, Any], heads: List[int], answer: Callable[[int, NDArray[np.bool_]], NDArray[np.float64]],
          hear: Optional[_library.ProgressFunction] = None, **options: Any) -> _library.Handle:
    """The library's result for the games of some layers."""
    return _library.run_asking("result", "sg_ablation", (_library.encoded({**settings, **options, "heads": heads}),), heads, answer, hear)


@with_settings("ablate")
def ablate(
    model: Any,
    inputs: Any,
    loss: Union[losses.Loss, str, None] = None,
    layers: Layers = None,
    kind: str = "mean",
    *,
    modules: Chosen = None,
    heads: Optional[int] = None,
    batch: Optional[int] = None,
    # settings: ablate
    keep: Optional[float] = None,
    exact_heads: Optional[int] = None,
    precision: Optional[float] = None,
    orders: Optional[int] = None,
    seed: Optional[int] = None,
    pairs: bool = False,
    # end of settings
    progress: Progress = None,
) -> Ablation:
    """Which heads matter to a PyTorch model: how much its loss rises where heads are switched off.

    The value of a set of heads of a layer is the loss without any head of the layer minus the loss with the heads of the set, all other
    layers being as they are. The result says what every head is worth, as `heads` does for structure, and what the model loses without
    any attention (`result.control`). `result.compare(structure)` puts other numbers beside the loss.

    Models are those that `watch` can watch, encoders and cross-attention too. The model runs in evaluation mode and without gradients.
    Afterwards, also after an exception or Ctrl-C, it is what it was, to the last bit.

    - `inputs`: what the model takes at once, a tensor, a dictionary of keyword arguments or a tuple of arguments; or a list of these, or
      a DataLoader. All are kept in memory.
    - `loss`: a function of the model's output and these inputs that gives one number for each sample (standard errors are over samples),
      or a single one for all of them. Unless given: the mean cross-entropy of each sample's next tokens, without padding
      (`attention_mask`) and without labels of -100. `"accuracy"` is the share of these tokens that are not the model's first choice, so the
      value of heads is the accuracy that they win.
    - `layers`: numbers from 0 in the order in which they run, `3`, `[0, 2]`, `"4-7"`, or regular expressions for the names of modules.
    - `kind`: heads that are off give "mean", their mean over all tokens and samples, or "zero".
    - `modules`: classes or names of attention modules, as in `watch`. `heads`: their number of heads, where they do not say it.
    - `batch`: sets of heads in a pass; unless given, as many as fit into a few thousand tokens if the model computes samples on their own.
    (settings)
    - `progress`: True for a bar (with tqdm, if that is installed), or a function of what is done and the total, in sets of heads.
    """
    options: Dict[str, Any] = settings_of("ablate", locals())
    if _options.text(kind, "kind", "'mean' or 'zero'") not in ("mean", "zero"):
        raise UsageError(f"kind: {_options.shown(kind)} is neither 'mean' nor 'zero'")
    of_output, own = losses.chosen(loss)
    batch = None if batch is None else _options.whole(batch, "batch", least=1)
    heads = None if heads is None else _options.whole(heads, "heads", least=1)
    choice = LayerChoice(layers)
    _play(options, [1], lambda layer, sets: np.zeros((len(sets), 1)), layers=["0"], intact=0, without_attention=0)  # checks the options
    refuse(model)
    if own and getattr(getattr(model, "config", None), "is_encoder_decoder", False):
        raise InputError("loss: the model is an encoder with a decoder, whose loss is not next-token cross-entropy of its inputs; pass loss=")
    with frozen(model), progress_function(progress, "set") as hear:
        devices = {one.device: one.is_meta for one in model.parameters()}
        device = next((place for place, meta in devices.items() if not meta), torch().device("cpu"))
        if devices and all(devices.values()):
            raise InputError("model: its parameters are on the meta device: there are no numbers")
        listed = list_inputs(inputs, device)
        sites = find_sites(model, modules, heads, lambda: call_model(model, listed[0], of_output))
        chosen = [site for place, site in enumerate(sites) if choice.fits(place, site.name)]
        choice.refuse_unmet([site.name for site in sites])
        if not chosen:
            raise UsageError("layers: none are chosen")
        if own:
            losses.refuse_not_causal(listed[0], lambda changed: call_model(model, changed, of_output), 10 * tolerance_of(model))
        with Switches(model, sites) as switches:
            passes = Passes(model, listed, of_output, sites, switches, zero=kind == "zero", batch=batch)
            passes.observe()
            current: Dict[int, LayerPasses] = {}

            def answer(layer: int, sets: NDArray[np.bool_]) -> NDArray[np.float64]:
                if layer not in current:
                    current.clear()
                    current[layer] = LayerPasses(passes, chosen[layer])
                return current[layer].values(sets)

            handle = _play(options, [site.heads for site in chosen], answer, hear, layers=[site.name for site in chosen], kind=kind,
                           loss=losses.name_of(of_output), tokens=max(losses.tokens_in(one) for one in listed),
                           intact=np.concatenate(passes.intact), without_attention=np.concatenate(passes.without_attention))
    return Ablation(handle, ("layer",))
