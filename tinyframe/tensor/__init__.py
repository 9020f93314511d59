"""Tensor, its methods by kind, and gradients."""
