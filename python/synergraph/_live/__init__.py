"""Live models: what `watch` is made of.

`slots` replaces functions and puts them back, `attention_interface` sees the attention of Hugging Face models, `modules` that of
PyTorch's modules and of others that return weights, `masks` reads masks, `samples` keeps what was seen and computes probabilities
from it, `projections` the weights of heads; `source` hands all that to the library, `recorder` brings it together.
"""
