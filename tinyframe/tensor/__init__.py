"""Tensor, its methods by kind, and gradients."""

from tinyframe.tensor.core import Tensor

__all__ = ["Tensor"]
