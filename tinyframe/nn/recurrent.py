"""LSTMCell: one step of a recurrent network that can remember over many steps."""

from __future__ import annotations

from tinyframe.nn.initial import by_fan_in
from tinyframe.tensor.core import Tensor


class LSTMCell:
    """One step: from an input and the state (h, c) to the next state.

    Four gates between 0 and 1, or -1 and 1, are computed from input and h: what to let in (i), what
    to keep of c (f), what to add to c (g), what to show of c (o).

        c' = f * c + i * g
        h' = o * tanh(c')

    weight_ih: (4 * hidden_size, input_size) and weight_hh: (4 * hidden_size, hidden_size), the
    gates one under the other, in the order i, f, g, o. bias_ih, bias_hh: (4 * hidden_size,), or
    None. Hochreiter and Schmidhuber, "Long short-term memory" (1997).
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True):
        self.input_size, self.hidden_size = input_size, hidden_size
        gates = 4 * hidden_size
        self.weight_ih = by_fan_in((gates, input_size), hidden_size)
        self.weight_hh = by_fan_in((gates, hidden_size), hidden_size)
        self.bias_ih = by_fan_in((gates,), hidden_size) if bias else None
        self.bias_hh = by_fan_in((gates,), hidden_size) if bias else None

    def __call__(self, x: Tensor, hc: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """x: (batch, input_size) or (input_size,). Returns (h, c), with hidden_size in the last
        axis; they begin as zeros where hc is None."""
        if hc is None:
            zeros = Tensor.zeros((*x.shape[:-1], self.hidden_size), dtype=x.dtype, device=x.device)
            hc = zeros, zeros
        h, c = hc
        gates = x.linear(self.weight_ih.T, self.bias_ih) + h.linear(self.weight_hh.T, self.bias_hh)
        i, f, g, o = gates.chunk(4, dim=-1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c
