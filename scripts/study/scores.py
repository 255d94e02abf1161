"""Numbers of heads that may predict what the loss needs: one number for each layer, text and head.

Structure describes the attention graph. What a head moves needs values and output projections. The gradient needs the loss.
"""

import numpy as np
import torch

import synergraph as sg

from . import games

def contribution_edges(attention, moved, outputs, after):
    """max(0, |y|_1 - |y - f|_1) of what each head moves along each edge, (heads, n, n), and of the residual, (n,), for one text.

    `moved` (heads, n, features) are the values after W_O; `outputs` their mixtures; `after` the residual with all of them.
    """
    heads, tokens = attention.shape[:2]
    new = after.abs().sum(-1)
    edges = torch.zeros_like(attention)
    for h in range(heads):
        for begin in range(0, tokens, 16):  # a panel of queries: it stays in the cache
            end = min(tokens, begin + 16)
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


def edge_games(edges):
    """Minimax fidelity and speed, (2^heads, 2), of every subset of heads whose edges have their own weights.

    Each row is normalised over the heads of the subset.
    """
    heads = len(edges)
    table = np.zeros((1 << heads, 2))
    sets = games.all_subsets(heads)[1:]
    combined = np.tensordot(sets.astype(float), edges, 1)
    total = combined.sum(-1)
    empty = total <= 0
    combined /= np.where(empty, 1, total)[..., None]
    s, i = np.nonzero(empty)
    combined[s, i, i] = 1  # a token to which nothing moves keeps what it has
    result = sg.measure(combined[:, None], axes="sample head query key", cutoff=100, threads=1)
    table[1:] = np.stack([result["minimax_fidelity"], 1 - result["truncated_hitting_mean"] / 100], 1)
    return table


def permuted_rows(attention, seed):
    """The same weights of each row in a random order among the row's allowed keys."""
    generator = torch.Generator().manual_seed(seed)
    tokens = attention.shape[-1]
    keys = torch.rand(attention.shape, generator=generator)
    keys = keys.masked_fill(~torch.ones(tokens, tokens, dtype=torch.bool).tril(), 2.0)  # not allowed: last
    return torch.gather(attention, -1, keys.argsort(-1))


def structure(attention, learned, seed):
    """Structural numbers of one layer from attention (samples, heads, n, n): by name (samples, heads), and pairs of the two games."""
    found = {}

    def add(name, values):
        found.setdefault(name, []).append(values)

    for sample, one in enumerate(attention.double().cpu()):
        game = sg.heads(one.numpy(), weights=learned, values=["fidelity", "speed"], weight_samples=0, threads=1)
        alone = sg.measure(one[:, None].numpy(), axes="sample head query key", per_node=True, threads=1)  # a head a sample
        null = sg.heads(permuted_rows(one, seed + sample).numpy(), weights=learned, values="fidelity", weight_samples=0, threads=1)
        for value, part in (("fidelity", game.fidelity), ("speed", game.speed)):
            add(value + "_shapley", part["shapley"])
            add(value + "_alone", part["alone"])
            add("pairs_" + value, part["pairs"])
        add("mean_fidelity", np.asarray(alone["node_fidelity"])[:, :-1].mean(1))
        add("permuted", null.fidelity["shapley"])
        add("pairs_permuted", null.fidelity["pairs"])
    return {name: np.array(values) for name, values in found.items()}


def measure(model, ids, targets, means, seed=1, tell=None, exact_heads=10):
    """All numbers for some texts: by name (layers, samples, heads), and pairs_* (layers, samples, heads, heads).

    `means` (layers, heads, features) are the mean outputs over all texts.
    """
    samples, tokens = ids.shape
    found, norm_parts, contribution_parts = {}, [], []

    def add(name, values):
        found.setdefault(name, []).append(values.double().cpu().numpy() if isinstance(values, torch.Tensor) else values)

    x = model.embed(ids)
    place = torch.arange(tokens, device=x.device, dtype=torch.float64)
    for layer, block in enumerate(model.blocks):
        attention, values, _ = block.attend(x)
        projection = block.projection()
        moved, outputs = values @ projection, block.outputs(attention, values)
        after = x + block.attention_output(attention, values)
        learned = projection.double().flatten(1).norm(dim=1)
        for name, value in structure(attention, learned.cpu().numpy(), seed + 1000 * layer).items():
            add(name, value)
        precise = attention.double()
        add("entropy", -(precise * precise.clamp(min=1e-300).log()).sum(-1).mean(-1))
        add("distance", (precise * (place[:, None] - place).clamp(min=0)).sum(-1).mean(-1))
        add("first_token", precise[..., 0].mean(-1))
        add("projection_norm", learned.expand(samples, -1))
        add("output_norm", outputs.norm(dim=-1).mean(-1))
        add("deviation_norm", (outputs - means[layer].to(outputs)[:, None]).norm(dim=-1).mean(-1))
        add("new_residual", ((outputs * after[:, None]).sum(-1) / after.norm(dim=-1)[:, None]).mean(-1))
        norms, contributed = [], []
        for s in range(samples):
            norms.append(normalised(precise[s] * moved[s].double().norm(dim=-1)[:, None], x[s].double().norm(dim=-1)))
            contributed.append(normalised(*contribution_edges(attention[s], moved[s], outputs[s], after[s])))
        norm_parts.append(norms)
        contribution_parts.append(contributed)
        for name, parts in (("norm", norms), ("contribution", contributed)):
            if model.shape.heads <= exact_heads:
                tables = np.stack([edge_games(edges.cpu().numpy()) for edges, _ in parts], 1)  # (subsets, samples, 2)
                values, pairs = games.shapley(tables), games.interactions(tables)
                for k, value in enumerate(("fidelity", "speed")):
                    add(f"{name}_{value}", values[..., k].T)
                    add(f"pairs_{name}_{value}", np.moveaxis(pairs[..., k], 2, 0))
        x = block.feed_forward(after)
        if tell is not None:
            tell(1)
    for names, parts in ((("norm_edges", "norm_stack"), norm_parts), (("contribution", "contribution_stack"), contribution_parts)):
        by_text = [shares([layer[s][0] for layer in parts], [layer[s][1] for layer in parts]) for s in range(samples)]
        for k, name in enumerate(names):
            found[name] = [text.cpu().numpy() for text in torch.stack([pair[k] for pair in by_text], 1)]
    found.update(gradients(model, ids, targets))
    return {name: np.array(values) for name, values in found.items()}


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
