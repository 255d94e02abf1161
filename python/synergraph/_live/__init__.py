"""Live models: what `watch` is made of.

`slots` replaces functions and puts them back, `attention_interface` sees the attention of Hugging Face models, `modules` that of
PyTorch's modules and of others that return weights, `masks` reads masks, `samples` keeps what was seen and computes probabilities
from it, `projections` the weights of heads; `source` hands all that to the library, `recorder` brings it together.

`ablate` stands on the rest: `sites` finds where the outputs of heads can be changed, `passes` runs the model with some of them off,
`losses` reads its loss, and `frozen` leaves it as it was.
"""
