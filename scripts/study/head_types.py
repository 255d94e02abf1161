"""What heads look at: scores of a head's matrices that name its type, and the sceptic's baselines.

All functions take attention (..., queries, keys), rows of probabilities, and return one number for each matrix.
"""

import numpy as np

#: A head has a type if its mean score over texts exceeds this number. All types share the threshold.
THRESHOLD = 0.3
TYPES = ("sink", "previous", "itself", "induction", "duplicate")


def sink(attention):
    """The mean attention to the first token. The first row has no other key and does not count."""
    return attention[..., 1:, 0].mean(-1)


def previous(attention):
    """The mean attention to the token before. Row 1 does not count: its token before is the first token."""
    return np.diagonal(attention, -1, -2, -1)[..., 1:].mean(-1)


def itself(attention):
    """The mean attention of a token to itself, without the first token."""
    return np.diagonal(attention, 0, -2, -1)[..., 1:].mean(-1)


def entropy(attention):
    """The mean entropy of the rows in nats."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return -np.where(attention > 0, attention * np.log(attention), 0.0).sum(-1).mean(-1)


def distance(attention):
    """The mean number of tokens that a row looks back, over all rows."""
    tokens = attention.shape[-1]
    back = np.clip(np.subtract.outer(np.arange(tokens), np.arange(tokens)), 0, None)
    return np.einsum("...ij,ij->...", attention, back.astype(attention.dtype)) / tokens


def repeated(attention, begin, period):
    """Scores of a text that says `period` random tokens twice, after `begin` other tokens: by name.

    Row i of the second copy repeats the token at i - period. `induction` is the mean attention to the token after that one,
    `duplicate` the mean attention to that one. `chance` is the mean attention to a token of the first copy that is neither.
    The last row of the second copy counts for `duplicate` alone: the token after its double is the first of the second copy.
    """
    rows = np.arange(begin + period, begin + 2 * period)
    first = attention[..., rows[:-1], begin : begin + period].sum(-1)
    follows = attention[..., rows[:-1], rows[:-1] - period + 1]
    doubles = attention[..., rows, rows - period]
    chance = (first - follows - doubles[..., :-1]) / (period - 2)
    return {"induction": follows.mean(-1), "duplicate": doubles.mean(-1), "chance": chance.mean(-1)}
