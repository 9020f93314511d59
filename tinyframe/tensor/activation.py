"""Activations: the nonlinear functions of networks, each composed of elementwise steps.

They neither overflow nor lose their gradient for large inputs. `1 / (1 + exp(-x))` is right at
x = -1000, but its gradient there is `0 * inf`; so only `exp(-|x|)` is used, which is at most 1.
"""

from __future__ import annotations

import math
from typing import Self

from tinyframe.errors import check_choice
from tinyframe.tensor.elementwise import Elementwise, float_function


class Activation(Elementwise):
    """One result for each element."""

    def relu(self) -> Self:
        """max(self, 0), with gradient 0 at 0. NaN stays NaN."""
        return self.le(0).where(0, self)

    def relu6(self) -> Self:
        """relu, limited to 6."""
        return self.hardtanh(0, 6)

    def leaky_relu(self, neg_slope: float = 0.01) -> Self:
        """self above 0, self * neg_slope below."""
        return self.le(0).where(self * neg_slope, self)

    @float_function
    def elu(self, alpha: float = 1.0) -> Self:
        """self above 0, alpha * (exp(self) - 1) below."""
        below = self.gt(0).where(0, self)
        return self.gt(0).where(self, below.expm1() * alpha)

    @float_function
    def celu(self, alpha: float = 1.0) -> Self:
        """self above 0, alpha * (exp(self / alpha) - 1) below."""
        below = self.gt(0).where(0, self)
        return self.gt(0).where(self, (below / alpha).expm1() * alpha)

    def selu(self, alpha: float = 1.6732632423543772, gamma: float = 1.0507009873554805) -> Self:
        """gamma * elu(self, alpha), which keeps activations at mean 0 and variance 1.

        Klambauer et al., "Self-normalizing neural networks" (2017).
        """
        return self.elu(alpha) * gamma

    @float_function
    def sigmoid(self) -> Self:
        """1 / (1 + exp(-self))."""
        power = (-self._magnitude()).exp()
        return self.lt(0).where(power, 1.0) / (1 + power)

    def hardsigmoid(self, alpha: float = 1 / 6, beta: float = 0.5) -> Self:
        """alpha * self + beta, limited to 0 … 1."""
        # limited before it is multiplied: self + 3 is 0 at -3, also where C fuses the two
        return (self + beta / alpha).hardtanh(*sorted((0.0, 1 / alpha))) * alpha

    @float_function
    def logsigmoid(self) -> Self:
        """log(sigmoid(self))."""
        # one branch at each kink, or the second derivative at 0 would be lost
        return self.lt(0).where(self, 0.0) - (-self._magnitude()).exp().log1p()

    @float_function
    def silu(self) -> Self:
        """self * sigmoid(self)."""
        return self * self.sigmoid()

    @float_function
    def gelu(self, approximate: str | None = "tanh") -> Self:
        """self * P(N(0, 1) <= self). approximate: "tanh", as in tinygrad, or "none" (exact).

        Hendrycks and Gimpel, "Gaussian Error Linear Units", section 2.
        """
        if approximate == "tanh":
            return 0.5 * self * (1 + (math.sqrt(2 / math.pi) * (self + 0.044715 * self**3)).tanh())
        check_choice("gelu's approximate", approximate, "tanh", "none", None)
        return 0.5 * self * (1 + (self * math.sqrt(0.5)).erf())

    @float_function
    def quick_gelu(self) -> Self:
        """self * sigmoid(1.702 * self)."""
        return self * (self * 1.702).sigmoid()

    @float_function
    def softplus(self, beta: float = 1.0, threshold: float = 20.0) -> Self:
        """log(1 + exp(beta * self)) / beta; self where beta * self is above the threshold."""
        scaled = self * beta
        above = scaled.lt(0).where(0.0, scaled)
        # one branch at each kink, or the second derivative at 0 would be lost
        smooth = (above + (-scaled._magnitude()).exp().log1p()) / beta
        return scaled.gt(threshold).where(self, smooth)

    @float_function
    def mish(self) -> Self:
        """self * tanh(softplus(self))."""
        return self * self.softplus().tanh()

    @float_function
    def softsign(self) -> Self:
        """self / (1 + |self|)."""
        return self / (1 + self._magnitude())

    def hardswish(self) -> Self:
        """self * relu6(self + 3) / 6."""
        return self * (self + 3).relu6() * (1 / 6)

    def hardtanh(self, min_val: float = -1, max_val: float = 1) -> Self:
        """self, limited to min_val … max_val, with gradient 0 at both."""
        return self.le(min_val).where(min_val, self.ge(max_val).where(max_val, self))

    @float_function
    def logaddexp(self, other: Self) -> Self:
        """log(exp(self) + exp(other)), without overflow.

        Two equal infinities share the gradient equally.
        """
        x, y = self._operands(other)
        alike = x.eq(y) * x.isinf()  # their difference would be NaN
        distance = alike.where(0.0, x) - alike.where(0.0, y)
        # one branch at each kink, or the second derivative of equal numbers would be lost
        largest = alike.where(x.maximum(y), x.lt(y).where(y, x))
        return largest + (-distance._magnitude()).exp().log1p()
