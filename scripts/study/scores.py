"""Numbers that might predict which heads the loss needs: for each layer, text and head.

Structure describes the attention graph (structure.py). What a head moves needs values and output projections. The gradient needs the loss.
"""

import numpy as np
import torch

from . import structure


def contribution_edges(attention, moved, outputs, after):
    """max(0, |y|_1 - |y - f|_1) of what each head moves along each edge, (heads, n, n), and of the residual, (n,), for one text.

    `moved` (heads, n, features) are the values after W_O; `outputs` their mixtures; `after` the residual with all of them.
    """
    heads, tokens = attention.shape[:2]
    new = after.abs().sum(-1)
    edges = torch.zeros_like(attention)
    panel = tokens if attention.is_cuda else 16  # queries at once: on the CPU they stay in the cache
    for h in range(heads):
        for begin in range(0, tokens, panel):
            end = min(tokens, begin + panel)
            pieces = attention[h, begin:end, :end, None] * moved[h, None, :end]
            left = (after[begin:end, None] - pieces).abs().sum(-1)
            edges[h, begin:end, :end] = (new[begin:end, None] - left).clamp(min=0)
    # Without the residual, the heads' outputs (and a bias) remain of y.
    return edges.double(), (new - outputs.sum(0).abs().sum(-1)).clamp(min=0).double()


def normalised(edges, residual):
    """Edges and residual divided by each row's total; a row of zeros keeps what it has (residual 1)."""
    total = edges.sum((0, 2)) + residual
    empty = total <= 0
    return edges / total.masked_fill(empty, 1)[:, None], (residual / total.masked_fill(empty, 1)).masked_fill(empty, 1)


def shares(edges, residual):
    """Shares of every head within its layer and through the stack, (layers, heads) each, for one text.

    `edges` and `residual` are lists over layers of normalised rows. Each layer is applied once. u(i) is the mean over sinks of what
    reaches the sink from token i after the layer; MLPs act within a token and move nothing between tokens.
    """
    tokens = residual[0].shape[0]
    u = torch.full((tokens,), 1 / tokens, dtype=torch.float64, device=residual[0].device)
    within, through = [], []
    for layer in reversed(range(len(edges))):
        rows = edges[layer].sum(-1)  # (heads, tokens)
        within.append(rows.mean(-1))
        through.append(rows @ u)
        u = u @ edges[layer].sum(0) + u * residual[layer]
    return torch.stack(within[::-1]), torch.stack(through[::-1])


class Pending:
    """Numbers of some texts whose structural part is still computed in other processes."""

    def __init__(self, found, answers):
        self._found, self._answers = found, answers

    def ready(self):
        return all(answer.ready() for layer in self._answers for answer in layer)

    def get(self):
        """All numbers: by name (layers, samples, heads), and pairs_* (layers, samples, heads, heads)."""
        layers = [[answer.get() for answer in layer] for layer in self._answers]
        found = {name: np.array([[text[name] for text in layer] for layer in layers]) for name in layers[0][0]}
        return found | self._found


def whole_contribution(outputs, after):
    """Share of each head's whole output in its token: max(0, |y|_1 - |y - o|_1) of heads over the sum over heads, mean over tokens."""
    new = after.abs().sum(-1)
    parts = torch.stack([(new - (after - outputs[:, h]).abs().sum(-1)).clamp(min=0) for h in range(outputs.shape[1])], 1).double()
    return (parts / parts.sum(1, keepdim=True).clamp(min=1e-30)).mean(-1)


def measure(model, ids, targets, means, seed=1, pool=None, orders=None):
    """All numbers for some texts, Pending. `means` (layers, heads, features) are the mean outputs over all texts.

    With `orders`, structural games are sampled by so many orders of heads of each text; without, all subsets are measured.
    """
    pool = structure.Here() if pool is None else pool
    samples, tokens = ids.shape
    found, answers = {}, []
    edges_of = {"norm": [], "contribution": [], "projection": []}

    def add(name, values):
        found.setdefault(name, []).append(values.double().cpu().numpy() if isinstance(values, torch.Tensor) else values)

    x = model.embed(ids)
    place = torch.arange(tokens, device=x.device, dtype=torch.float64)
    all_outputs = []
    for layer, block in enumerate(model.blocks):
        attention, values, _ = block.attend(x)
        projection = block.projection()
        moved, outputs = values @ projection, block.outputs(attention, values)
        after = x + block.attention_output(attention, values)
        learned = projection.double().flatten(1).norm(dim=1)
        precise = attention.double()
        add("entropy", -(precise * precise.clamp(min=1e-300).log()).sum(-1).mean(-1))
        add("distance", (precise * (place[:, None] - place).clamp(min=0)).sum(-1).mean(-1))
        add("first_token", precise[..., 0].mean(-1))
        add("projection_norm", learned.expand(samples, -1))
        add("output_norm", outputs.norm(dim=-1).mean(-1))
        deviation = outputs - means[layer].to(outputs)[:, None]
        add("deviation_norm", deviation.norm(dim=-1).mean(-1))
        add("new_residual", ((outputs * after[:, None]).sum(-1) / after.norm(dim=-1)[:, None]).mean(-1))
        add("deviation_residual", ((deviation * after[:, None]).sum(-1) / after.norm(dim=-1)[:, None]).mean(-1))
        add("contribution_whole", whole_contribution(outputs, after))
        add("contribution_deviation", whole_contribution(deviation, after))
        parts = {name: [] for name in edges_of}
        for s in range(samples):
            parts["norm"].append(normalised(precise[s] * moved[s].double().norm(dim=-1)[:, None], x[s].double().norm(dim=-1)))
            parts["contribution"].append(normalised(*contribution_edges(attention[s], moved[s], outputs[s], after[s])))
            along = torch.einsum("hje,ie->hij", moved[s], after[s]).double() * precise[s]
            parts["projection"].append(normalised(along.clamp(min=0), (x[s] * after[s]).sum(-1).double().clamp(min=0)))
        for name, some in parts.items():
            edges_of[name].append(some)
        reached = torch.stack([edges for edges, _ in parts["contribution"]])
        add("contribution_no_first", reached[..., 1:].sum(-1).mean(-1))
        add("contribution_others", (reached.sum(-1) - reached.diagonal(dim1=-2, dim2=-1)).mean(-1))
        weights = learned.cpu().numpy()
        answers.append([pool.apply_async(structure.of_text, (
            attention[s].cpu().numpy(), weights, parts["norm"][s][0].float().cpu().numpy(), parts["contribution"][s][0].float().cpu().numpy(),
            seed + 1000 * layer + s, orders)) for s in range(samples)])
        all_outputs.append(outputs)
        x = block.feed_forward(after)
    for outputs in all_outputs:
        add("final_residual", ((outputs * x[:, None]).sum(-1) / x.norm(dim=-1)[:, None]).mean(-1))
    for kind, (within, through) in {"norm": ("norm_edges", "norm_stack"), "contribution": ("contribution", "contribution_stack"),
                                    "projection": ("projection_edges", "projection_stack")}.items():
        by_text = [shares([layer[s][0] for layer in edges_of[kind]], [layer[s][1] for layer in edges_of[kind]]) for s in range(samples)]
        for k, name in enumerate((within, through)):
            found[name] = [text.cpu().numpy() for text in torch.stack([pair[k] for pair in by_text], 1)]
    found.update(gradients(model, ids, targets))
    return Pending({name: np.array(values) for name, values in found.items()}, answers)


def gradients(model, ids, targets):
    """Gradient of each text's mean loss times the output of each head, summed over tokens: its size, and the loss saved to first order."""
    with torch.enable_grad():
        x, mixed = model.embed(ids), []
        for block in model.blocks:
            attention, values, _ = block.attend(x)
            outputs = (attention @ values).requires_grad_()
            mixed.append(outputs)
            x = block.feed_forward(x + torch.nn.functional.linear(outputs.transpose(1, 2).flatten(2), block.wo, block.bo))
        loss = (model.losses(x, targets).sum(1) / (targets >= 0).sum(1)).sum()
        slopes = torch.autograd.grad(loss, mixed)
    products = torch.stack([(slope * outputs.detach()).double().sum((2, 3)) for slope, outputs in zip(slopes, mixed)]).detach().cpu().numpy()
    return {"gradient": abs(products), "saved_gradient": -products}
