"""A stand-in for transformers: a registry of attention functions as version 5 has it, its calling convention, and a decoder.

`eager` is written down plainly and returns its probabilities; `sdpa` computes the same otherwise, and drops soft caps and sink
logits, as the library's does.
"""

import math
import types
from collections.abc import MutableMapping

import torch
from torch import nn


class Registry(MutableMapping):
    """Entries of its own over those of the class."""

    _global_mapping = {}

    def __init__(self):
        self._local_mapping = {}

    def __getitem__(self, key):
        return self._local_mapping[key] if key in self._local_mapping else self._global_mapping[key]

    def __setitem__(self, key, value):
        self._local_mapping[key] = value

    def __delitem__(self, key):
        del self._local_mapping[key]

    def __iter__(self):
        return iter({**self._global_mapping, **self._local_mapping})

    def __len__(self):
        return len({**self._global_mapping, **self._local_mapping})

    def get_interface(self, name, default):
        if name != "eager" and name not in self:
            raise KeyError(name)
        return super().get(name, default)


def repeated(states, module):
    samples, heads, tokens, width = states.shape
    states = states[:, :, None].expand(-1, -1, module.num_key_value_groups, -1, -1)
    return states.reshape(samples, heads * module.num_key_value_groups, tokens, width)


def sdpa_attention_forward(module, query, key, value, attention_mask, dropout=0.0, scaling=None, is_causal=None, **kwargs):
    is_causal = module.is_causal if is_causal is None else is_causal
    scores = query @ repeated(key, module).transpose(2, 3) * (query.shape[-1] ** -0.5 if scaling is None else scaling)
    if attention_mask is None and is_causal and query.shape[2] > 1:
        attention_mask = torch.ones(query.shape[2], key.shape[2], dtype=torch.bool).tril()
    if attention_mask is not None and attention_mask.dtype == torch.bool:
        scores = scores.masked_fill(~attention_mask, torch.finfo(scores.dtype).min)
    elif attention_mask is not None:
        scores = scores + attention_mask
    return (torch.softmax(scores, -1) @ repeated(value, module)).transpose(1, 2).contiguous(), None


def flash_attention_forward(module, query, key, value, attention_mask, dropout=0.0, scaling=None, sliding_window=None, softcap=None,
                            **kwargs):
    """Without a mask of queries and keys: (samples, keys), or none."""
    tokens = query.shape[2]
    places = torch.arange(tokens)
    allowed = (places <= places[:, None]) & (places > places[:, None] - (sliding_window or tokens))
    if attention_mask is not None:
        allowed = allowed & attention_mask[:, None, None, :].bool()
    return eager_attention_forward(module, query, key, value, additive(allowed), scaling=scaling, softcap=softcap)


def eager_attention_forward(module, query, key, value, attention_mask, scaling, dropout=0.0, softcap=None, s_aux=None, **kwargs):
    scores = query @ repeated(key, module).transpose(2, 3) * scaling
    if softcap is not None:
        scores = torch.tanh(scores / softcap) * softcap
    if attention_mask is not None:
        scores = scores + attention_mask[..., :key.shape[2]]
    if s_aux is not None:
        sinks = s_aux.reshape(1, -1, 1, 1).expand(scores.shape[0], -1, scores.shape[2], 1)
        probabilities = torch.softmax(torch.cat([scores, sinks], -1), -1)[..., :-1]
    else:
        probabilities = torch.softmax(scores, -1)
    return (probabilities @ repeated(value, module)).transpose(1, 2).contiguous(), probabilities


Registry._global_mapping = {"sdpa": sdpa_attention_forward, "flash_attention_2": flash_attention_forward,
                            "paged|sdpa": sdpa_attention_forward}
ALL_ATTENTION_FUNCTIONS = Registry()


def additive(allowed):
    while allowed.dim() < 4:
        allowed = allowed[None]
    return torch.zeros(allowed.shape).masked_fill(~allowed, torch.finfo(torch.float32).min)


def causal_mask(padding, tokens, past, window=None):
    """(samples, 1, tokens, past + tokens) booleans; rows of padding attend to everything, as the library has it."""
    queries = torch.arange(past, past + tokens)[:, None]
    keys = torch.arange(past + tokens)
    allowed = (keys <= queries) & (keys > queries - (window or past + tokens))
    allowed = allowed[None, None] & (torch.ones(1, 1, 1, 1, dtype=torch.bool) if padding is None else padding[:, None, None].bool())
    return allowed | ~allowed.any(-1, keepdim=True)


class Attention(nn.Module):
    is_causal = True

    def __init__(self, config, layer):
        super().__init__()
        self.config = config
        self.layer_idx = layer
        self.num_key_value_groups = config.heads // config.key_heads
        self.scaling = config.width ** -0.5
        self.q_proj = nn.Linear(config.size, config.heads * config.width, bias=False)
        self.k_proj = nn.Linear(config.size, config.key_heads * config.width, bias=False)
        self.v_proj = nn.Linear(config.size, config.key_heads * config.width, bias=False)
        self.o_proj = nn.Linear(config.heads * config.width, config.size, bias=False)
        self.sinks = nn.Parameter(torch.randn(config.heads)) if config.sinks else None

    def forward(self, states, attention_mask, cache):
        split = (*states.shape[:2], -1, self.config.width)
        query, key, value = (projection(states).view(split).transpose(1, 2) for projection in (self.q_proj, self.k_proj, self.v_proj))
        if cache is not None:
            if self.layer_idx in cache:
                key, value = (torch.cat(pair, 2) for pair in zip(cache[self.layer_idx], (key, value)))
            cache[self.layer_idx] = (key, value)
        interface = ALL_ATTENTION_FUNCTIONS.get_interface(self.config._attn_implementation, eager_attention_forward)
        output, weights = interface(self, query, key, value, attention_mask, dropout=0.0, scaling=self.scaling,
                                    sliding_window=self.config.window, softcap=self.config.softcap, s_aux=self.sinks)
        return self.o_proj(output.reshape(*states.shape[:2], -1)), weights


class Decoder(nn.Module):
    """Layers of attention on embedded tokens; returns states and, where attention is eager, probabilities."""

    def __init__(self, attention=Attention, implementation="sdpa", layers=2, heads=4, key_heads=2, width=8, window=None, softcap=None,
                 sinks=False, seed=0):
        super().__init__()
        torch.manual_seed(seed)
        size = heads * width
        self.config = types.SimpleNamespace(size=size, heads=heads, key_heads=key_heads, width=width, window=window, softcap=softcap,
                                            sinks=sinks, _attn_implementation=implementation)
        self.embedding = nn.Embedding(32, size)
        self.layers = nn.ModuleList(attention(self.config, layer) for layer in range(layers))

    def mask(self, padding, tokens, past):
        implementation = self.config._attn_implementation
        if implementation.startswith("flash"):
            return padding
        if implementation == "sdpa" and padding is None and not self.config.window and past == 0:
            return None
        allowed = causal_mask(padding, tokens, past, self.config.window)
        return additive(allowed) if implementation == "eager" else allowed

    def forward(self, tokens, attention_mask=None, cache=None):
        past = cache[0][0].shape[2] if cache else 0
        mask = self.mask(attention_mask, tokens.shape[1], past)
        states, seen = self.embedding(tokens) * math.sqrt(2), []
        for layer in self.layers:
            added, weights = layer(states, mask, cache)
            states = states + added
            seen.append(weights)
        return states, seen
