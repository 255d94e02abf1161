"""Metrics with gradients: calls of the library, and what PyTorch and JAX make of them."""
