"""Numbers that might predict which heads the loss needs: for each layer, text and head.

Structure describes the attention graph (structure.py). What a head moves needs values and output projections. The gradient needs the loss.
"""

import numpy as np
import torch

from . import structure


#: Numbers that contributions work on at once: on the CPU they stay in the cache.
AT_ONCE = {"cpu": 1 << 19, "cuda": 1 << 28}


def contributions(after, pieces):
    """max(0, |y|_1 - |y - f|_1) over the last axis: the sum of min(g, 2 |y_k| - g) with g = f_k sign(y_k), in double precision.

    The difference of the lengths themselves would lose an f far below y.
    """
    size = after.abs()
    along = torch.where(after < 0, -pieces, pieces)
    return torch.minimum(along, size - (along - size)).sum(-1, dtype=torch.float64).clamp(min=0)


def contribution_edges(attention, moved, after, before):
    """Contributions of what each head moves along each edge, (..., heads, n, n), and of the residual, (..., n).

    `attention` (..., heads, n, n), `moved` (..., heads, n, features): the values after W_O. `after` (..., n, features) is the residual with
    all of them, `before` that without.
    """
    tokens, features = moved.shape[-2:]
    heads = attention.shape[-3]
    edges = torch.zeros(attention.shape, dtype=torch.float64, device=attention.device)
    flat = edges.view(-1, heads, tokens, tokens)
    inputs = attention.reshape(flat.shape), moved.reshape(-1, heads, tokens, features), after.reshape(-1, tokens, features)
    most = AT_ONCE["cuda" if attention.is_cuda else "cpu"]
    some = max(1, min(heads, most // (tokens * tokens * features)))
    panel = max(1, min(tokens, most // (some * tokens * features)))
    for into, looks, vectors, whole in zip(flat, *inputs):
        for first in range(0, heads, some):
            chosen = slice(first, first + some)
            for begin in range(0, tokens, panel):
                end = min(tokens, begin + panel)
                pieces = looks[chosen, begin:end, :end, None] * vectors[chosen, None, :end]
                into[chosen, begin:end, :end] = contributions(whole[begin:end, None], pieces)
    return edges, contributions(after, before)


def normalised(edges, residual):
    """Edges (..., heads, n, n) and residual (..., n) divided by each row's total; a row of zeros keeps what it has (residual 1)."""
    total = edges.sum((-3, -1)) + residual
    empty = total <= 0
    divisor = total.masked_fill(empty, 1)
    return edges / divisor[..., None, :, None], (residual / divisor).masked_fill(empty, 1)


def shares(edges, residual):
    """Shares of every head within its layer and through the stack, (layers, ..., heads) each.

    `edges` and `residual` are lists over layers of normalised rows. Each layer is applied once. u(i) is the mean over sinks of what
    reaches the sink from token i after the layer; MLPs act within a token and move nothing between tokens.
    """
    tokens = residual[0].shape[-1]
    u = torch.full_like(residual[0], 1 / tokens)
    within, through = [], []
    for layer in reversed(range(len(edges))):
        rows = edges[layer].sum(-1)  # (..., heads, tokens)
        within.append(rows.mean(-1))
        through.append((rows @ u[..., None])[..., 0])
        u = (u[..., None, :] @ edges[layer].sum(-3))[..., 0, :] + u * residual[layer]
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
    parts = torch.stack([contributions(after, outputs[:, h]) for h in range(outputs.shape[1])], 1)
    return (parts / parts.sum(1, keepdim=True).clamp(min=1e-30)).mean(-1)


def measure(model, ids, targets, means, seed=1, pool=None, orders=None, device=None):
    """All numbers for some texts, Pending. `means` (layers, heads, features) are the mean outputs over all texts.

    With `orders`, structural games are sampled by so many orders of heads of each text; without, all subsets are measured. `device` is
    that of `sg.measure`, for structure; without, processes of the pool measure it on the CPU.
    """
    pool = structure.Here() if pool is None or device else pool
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
        along = torch.einsum("shje,sie->shij", moved, after).double() * precise
        parts = {"norm": normalised(precise * moved.double().norm(dim=-1)[:, :, None], x.double().norm(dim=-1)),
                 "contribution": normalised(*contribution_edges(attention, moved, after, x)),
                 "projection": normalised(along.clamp(min=0), (x * after).sum(-1).double().clamp(min=0))}
        for name, part in parts.items():
            edges_of[name].append(part)
        reached = parts["contribution"][0]
        add("contribution_no_first", reached[..., 1:].sum(-1).mean(-1))
        add("contribution_others", (reached.sum(-1) - reached.diagonal(dim1=-2, dim2=-1)).mean(-1))
        of_layer = [attention.double(), parts["norm"][0], parts["contribution"][0]]
        if device is None:
            of_layer = [part.cpu().numpy() for part in of_layer]
        weights = learned.cpu().numpy()
        answers.append([pool.apply_async(structure.of_text, (of_layer[0][s], weights, of_layer[1][s], of_layer[2][s], seed + 1000 * layer + s, orders,
                                                             device)) for s in range(samples)])
        all_outputs.append(outputs)
        x = block.feed_forward(after)
    for outputs in all_outputs:
        add("final_residual", ((outputs * x[:, None]).sum(-1) / x.norm(dim=-1)[:, None]).mean(-1))
    for kind, (within, through) in {"norm": ("norm_edges", "norm_stack"), "contribution": ("contribution", "contribution_stack"),
                                    "projection": ("projection_edges", "projection_stack")}.items():
        for name, values in zip((within, through), shares([edges for edges, _ in edges_of[kind]], [residual for _, residual in edges_of[kind]])):
            found[name] = values.cpu().numpy()
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
