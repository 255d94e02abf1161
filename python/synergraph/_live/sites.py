"""Where the outputs of heads can be changed: the inputs of output projections.

A site is one call of an attention module in a pass of the model. Its switches stand right before the output projection, whose input
has the outputs of all heads side by side.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from .._errors import InputError
from . import modules, slots
from .arrays import is_tensor, torch
from .projections import projection_module_of
from .recorder import Recorder
from .refusals import warn_of

#: What modules call their number of heads.
_COUNTS = ("num_heads", "num_attention_heads", "n_heads", "n_head", "nhead", "heads", "h")


class Site(NamedTuple):
    """One call of an attention module in a pass."""

    name: str
    path: str  #: of the attention module
    heads: int
    gate: Any  #: the module whose input the heads' outputs are; the attention itself for `MultiheadAttention`
    call: int  #: of the gate, counted from 0 in each pass


def _heads_of(module: Any) -> Optional[int]:
    """The number of heads that a module or its configuration says."""
    for holder in (module, getattr(module, "config", None)):
        for name in _COUNTS:
            count = getattr(holder, name, None)
            if isinstance(count, int) and not isinstance(count, bool) and count > 0:
                return count
    return None


class Finder(Recorder):
    """Sees which attention modules run in a pass, in order, and how many heads they have."""

    def __init__(self, model: Any, chosen: modules.Chosen, heads: Optional[int]) -> None:
        super().__init__(model, None, None, None, chosen, None)
        self.ran: List[Tuple[Any, Optional[int]]] = []
        self._heads = heads

    def enter(self, module: Any, arguments: Sequence[Any], options: Dict[str, Any]) -> None:
        pass

    def leave(self, module: Any) -> None:
        pass

    def left(self, module: Any, arguments: Sequence[Any], options: Dict[str, Any], output: Any) -> None:
        kind = self._kinds.get(id(module))
        if kind == "multihead":
            self.ran.append((module, module.num_heads))
        elif kind == "weights":
            weights = modules.weights_in(output)
            self.ran.append((module, self._heads or (_heads_of(module) if weights is None else int(weights.shape[1]))))

    def see(self, module: Any, read: Any) -> None:
        self.ran.append((module, int(read.args[1]["query"].shape[1])))


def _is_multihead(module: Any) -> bool:
    multihead = torch().nn.MultiheadAttention
    return isinstance(module, multihead) and type(module).forward is multihead.forward


def _gate(module: Any, parents: Dict[int, Any]) -> Any:
    if _is_multihead(module):
        return module
    found = projection_module_of(module)
    parent = parents.get(id(module))
    if found is None and modules.is_named_after_attention(parent):  # BERT and its like have the projection beside the attention
        found = projection_module_of(getattr(parent, "output", None))
    return found


def find_sites(model: Any, chosen: modules.Chosen, heads: Optional[int], run: Callable[[], Any]) -> List[Site]:
    """The sites of a model in the order in which they run in `run()`. InputError where there is none."""
    finder = Finder(model, chosen, heads)
    with always_by_layers(model):
        finder.start()
        try:
            run()
        finally:
            finder.stop()
    names = {id(module): name for name, module in model.named_modules()}
    parents = {id(child): module for module in model.modules() for child in module.children()}
    inside = {id(module): {id(one) for one in module.modules()} - {id(module)} for module, _ in finder.ran}
    ran = {id(module) for module, _ in finder.ran}
    sites: List[Site] = []
    calls: Dict[int, int] = {}
    owners: Dict[int, int] = {}
    refused: Dict[int, Tuple[str, str]] = {}
    covered: Set[int] = set()  # what is inside of a site's module
    for module, count in finder.ran:
        gate = _gate(module, parents)
        name = names.get(id(module)) or type(module).__name__
        if gate is None or owners.setdefault(id(gate), id(module)) != id(module):
            if gate is None and not inside[id(module)] & ran:
                refused[id(module)] = name, f"{type(module).__name__} has no output projection that is known; name it o_proj, out_proj or c_proj"
            continue
        if count is None:
            refused[id(module)] = name, f"{type(module).__name__} does not say how many heads it has: pass heads="
            continue
        call = calls[id(gate)] = calls.get(id(gate), -1) + 1
        sites.append(Site(name if call == 0 else f"{name}#{call + 1}", names.get(id(module), ""), count, gate, call))
        covered |= inside[id(module)]
    left_out = {name: reason for key, (name, reason) in refused.items() if key not in covered}
    if left_out and (chosen is not None or not sites):
        name, reason = next(iter(left_out.items()))
        raise InputError(f"layer {name}: {reason}")
    if left_out:
        warn_of(left_out)
    if not sites:
        raise InputError("no attention was seen: it is neither that of transformers nor torch.nn.MultiheadAttention nor a module whose "
                         "class is named after attention; choose modules=")
    return sites


class always_by_layers:
    """Makes `TransformerEncoderLayer` call its attention, which it does not if it computes everything at once, and on tensors that are
    not nested, to which `TransformerEncoder` turns padded ones for that."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._put_back: List[Callable[[], None]] = []

    def __enter__(self) -> None:
        for module in self._model.modules():
            if isinstance(module, torch().nn.TransformerEncoderLayer) and "activation_relu_or_gelu" in vars(module):
                self._put_back.append(slots.replace(vars(module), "activation_relu_or_gelu", module.activation_relu_or_gelu, lambda _: 0))
            if isinstance(module, torch().nn.TransformerEncoder) and "use_nested_tensor" in vars(module):  # PyTorch 2.1 decides when it is made
                self._put_back.append(slots.replace(vars(module), "use_nested_tensor", module.use_nested_tensor, lambda _: False))

    def __exit__(self, *_: object) -> None:
        for undo in self._put_back:
            undo()
        self._put_back = []


#: What happens to the outputs of heads (..., heads * width); `leading`: the first axis has the samples, not the second one.
Change = Callable[[Site, Any, bool], Any]


class Switches:
    """Hands the outputs of the heads of all sites through `change` while it is entered."""

    def __init__(self, model: Any, sites: Sequence[Site]) -> None:
        self._model = model
        self._by_layers = always_by_layers(model)
        self._of_gate: Dict[int, List[Site]] = {}
        self._gates: Dict[int, Any] = {}
        for site in sites:
            self._of_gate.setdefault(id(site.gate), []).append(site)
            self._gates[id(site.gate)] = site.gate
        self._calls: Dict[int, int] = {}
        self._put_back: List[Callable[[], None]] = []
        self._identities: Dict[Any, Any] = {}
        self.change: Optional[Change] = None

    def __enter__(self) -> "Switches":
        try:
            self._by_layers.__enter__()
            for gate in self._gates.values():
                wrap = functools.partial(self._multihead if _is_multihead(gate) else self._projection, gate)
                self._put_back.append(slots.replace(vars(gate), "forward", gate.forward, wrap))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        put_back, self._put_back = self._put_back, []
        for undo in reversed(put_back):
            undo()
        self._by_layers.__exit__()
        self._identities = {}

    def begin(self) -> None:
        """To be called before every pass of the model."""
        self._calls = {}

    def missed(self) -> List[str]:
        """The sites that the last pass has not run."""
        return [site.name for key, sites in self._of_gate.items() for site in sites[self._calls.get(key, 0):]]

    def _changed(self, gate: Any, outputs: Any, leading: bool) -> Any:
        sites = self._of_gate[id(gate)]
        call = self._calls[id(gate)] = self._calls.get(id(gate), 0) + 1
        if call > len(sites):
            raise InputError(f"layer {sites[0].name}: runs more often on this input than on the first one")
        site = sites[call - 1]
        if outputs.shape[-1] % site.heads != 0:
            raise InputError(f"layer {site.name}: the input of its output projection has {outputs.shape[-1]} columns, which {site.heads} "
                             "heads cannot share equally")
        return outputs if self.change is None else self.change(site, outputs, leading)

    def _projection(self, gate: Any, original: Callable[..., Any]) -> Callable[..., Any]:
        def forward(outputs: Any, *arguments: Any, **options: Any) -> Any:
            return original(self._changed(gate, outputs, True), *arguments, **options)

        return forward

    def _multihead(self, gate: Any, original: Callable[..., Any]) -> Callable[..., Any]:
        """`MultiheadAttention` projects without calling its projection: it gets the identity, and the projection is done here."""
        t = torch()
        places = gate.out_proj._parameters

        def forward(*arguments: Any, **options: Any) -> Any:
            weight, bias = places["weight"], places.get("bias")
            key = (weight.device, weight.dtype, weight.shape)
            if key not in self._identities:
                self._identities[key] = t.nn.Parameter(t.eye(weight.shape[1], device=weight.device, dtype=weight.dtype), False)
            try:
                places["weight"] = self._identities[key]
                if bias is not None:
                    places["bias"] = t.nn.Parameter(t.zeros_like(bias), False)
                outputs, weights = original(*arguments, **options)
            finally:
                places["weight"] = weight
                if bias is not None:
                    places["bias"] = bias
            outputs = self._changed(gate, outputs, gate.batch_first or outputs.dim() == 2)
            return t.nn.functional.linear(outputs, weight, bias), weights

        return forward


def _readable() -> Tuple[Any, ...]:
    t = torch()
    return t.float64, t.float32, t.float16, t.bfloat16


def is_without_effect(site: Site) -> List[bool]:
    """The heads whose block of the output projection is all 0."""
    projection = site.gate.out_proj if _is_multihead(site.gate) else site.gate
    weight: Any = getattr(projection, "weight", None)
    plain = type(projection).__name__ in ("Linear", "NonDynamicallyQuantizableLinear", "Conv1D")
    if not plain or not is_tensor(weight) or weight.dim() != 2 or weight.is_meta or weight.dtype not in _readable():
        return [False] * site.heads
    if type(projection).__name__ == "Conv1D":
        weight = weight.t()
    if weight.shape[1] % site.heads != 0:
        return [False] * site.heads
    return [not bool(block.any()) for block in weight.detach().split(weight.shape[1] // site.heads, 1)]


def blocks_before(model: Any, site: Site) -> Iterator[Any]:
    """The modules that stand before the one with the site in the outermost list of modules that holds it."""
    at = model
    for part in filter(None, site.path.split(".")):
        below = getattr(at, part)
        if isinstance(at, (torch().nn.ModuleList, torch().nn.Sequential)):
            for block in at:
                if block is below:
                    return
                yield block
            return
        at = below
