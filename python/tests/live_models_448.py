"""The same registry as transformers 4.48 has it, a dictionary, and GPT-2's attention of that version, which masks later tokens by
itself and gets no scaling."""

import torch
from torch import nn

ALL_ATTENTION_FUNCTIONS = {}


def eager_attention_forward(module, query, key, value, attention_mask, head_mask=None, **kwargs):
    scores = query @ key.transpose(2, 3)
    if module.scale_attn_weights:
        scores = scores / value.shape[-1] ** 0.5
    if module.scale_attn_by_inverse_layer_idx:
        scores = scores / float(module.layer_idx + 1)
    scores = scores.masked_fill(~module.bias[:, :, :query.shape[2], :key.shape[2]], torch.finfo(scores.dtype).min)
    if attention_mask is not None:
        scores = scores + attention_mask
    probabilities = torch.softmax(scores, -1)
    return (probabilities @ value).transpose(1, 2), probabilities


class Conv1D(nn.Module):
    """A linear map whose weight has inputs first."""

    def __init__(self, outputs, inputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs) / inputs ** 0.5)

    def forward(self, states):
        return states @ self.weight


class Attention(nn.Module):
    is_causal = True
    scale_attn_weights = True
    scale_attn_by_inverse_layer_idx = True

    def __init__(self, config, layer):
        super().__init__()
        self.config = config
        self.layer_idx = layer
        self.register_buffer("bias", torch.ones(1, 1, 32, 32, dtype=torch.bool).tril(), persistent=False)
        self.c_attn = Conv1D(3 * config.size, config.size)
        self.c_proj = Conv1D(config.size, config.size)

    def forward(self, states, attention_mask, cache):
        split = (*states.shape[:2], -1, self.config.width)
        query, key, value = (part.view(split).transpose(1, 2) for part in self.c_attn(states).chunk(3, -1))
        interface = eager_attention_forward
        if self.config._attn_implementation != "eager":
            interface = ALL_ATTENTION_FUNCTIONS[self.config._attn_implementation]
        if attention_mask is not None:  # of keys alone
            attention_mask = attention_mask[:, :, -1:]
        output, weights = interface(self, query, key, value, attention_mask, dropout=0.0)
        return self.c_proj(output.reshape(*states.shape[:2], -1)), weights
