"""Recurrent networks: a state that is carried from one element of a sequence to the next.

A cell is one step, from an input and a state to the next state. GRU and LSTM run a cell over a
sequence, forward and optionally backward too; several layers can be stacked, each reading the
states of the one below.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tinyframe.errors import ShapeError
from tinyframe.nn.initial import by_fan_in
from tinyframe.nn.layer import TakesTensors
from tinyframe.tensor.core import Tensor


class LSTMCell(TakesTensors):
    """One step: from an input and the state (h, c) to the next state.

    Four gates are computed from the input and h: the input gate i, the forget gate f, the candidate
    g (from -1 to 1), and the output gate o.

        c' = f * c + i * g
        h' = o * tanh(c')

    weight_ih: (4 * hidden_size, input_size) and weight_hh: (4 * hidden_size, hidden_size), with the
    gates stacked in the order i, f, g, o. bias_ih, bias_hh: (4 * hidden_size,), or
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
        axis; they start as zeros if hc is None."""
        if hc is None:
            zeros = Tensor.zeros((*x.shape[:-1], self.hidden_size), dtype=x.dtype, device=x.device)
            hc = zeros, zeros
        h, c = hc
        gates = x.linear(self.weight_ih.T, self.bias_ih) + h.linear(self.weight_hh.T, self.bias_hh)
        return _lstm_step(gates, c)


def _lstm_step(gates: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    i, f, g, o = gates.chunk(4, dim=-1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


class Recurrent(TakesTensors):
    """The base of GRU and LSTM.

    Parameters have PyTorch's names: weight_ih_l0 (gates * hidden_size, input_size), weight_hh_l0
    (gates * hidden_size, hidden_size), bias_ih_l0 and bias_hh_l0 (gates * hidden_size,), unless
    bias=False; then l1, of the next layer; and if bidirectional l0_reverse, of the backward
    direction.

    dropout: applied between layers, in training.
    """

    gates: ClassVar[int]
    states: ClassVar[int] = 1  # the number of Tensors in a state; the first is the output

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
    ):
        if num_layers < 1 or hidden_size < 1:
            raise ValueError(
                f"{type(self).__name__} needs 1 or more layers of size 1 or more, not "
                f"{num_layers} of {hidden_size}"
            )
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, dropout
        self.bidirectional = bidirectional
        rows = self.gates * hidden_size
        for layer in range(num_layers):
            size = hidden_size * len(self._names(0)) if layer else input_size
            shapes: dict[str, Any] = {"weight_ih": (rows, size), "weight_hh": (rows, hidden_size)}
            shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)} if bias else {}
            for name in self._names(layer):
                for kind, shape in shapes.items():
                    setattr(self, f"{kind}_{name}", by_fan_in(shape, hidden_size))

    def _names(self, layer: int) -> list[str]:
        """The suffix of the parameters of a layer, for each direction."""
        return [f"l{layer}", f"l{layer}_reverse"][: 2 if self.bidirectional else 1]

    def _step(self, x: Tensor, own: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """The next state. x, own: the inputs of the gates from the input, and from h."""
        raise NotImplementedError(f"{type(self).__name__} has to define _step")

    def __call__(self, x: Tensor, state: Any = None) -> tuple[Tensor, Any]:
        """(output, state): the outputs of the last layer, and the last state of all layers.

        x: (length, batch, input_size), with batch_first (batch, length, input_size); or without a
        batch (length, input_size). output has hidden_size in its last axis (twice that, if
        bidirectional). state: (layers * directions, batch, hidden_size), for an LSTM a pair of
        these; zeros by default. ShapeError if they do not fit.
        """
        if x.ndim not in (2, 3) or x.shape[-1] != self.input_size:
            raise ShapeError(
                f"{type(self).__name__} takes (length, batch, {self.input_size}) or (length, "
                f"{self.input_size}), not {x._dims}"
            )
        single = x.ndim == 2
        x = x.unsqueeze(1) if single else x.transpose(0, 1) if self.batch_first else x
        if x.shape[0] == 0:
            raise ShapeError(f"{type(self).__name__} of a sequence with no element")
        begins = zip(*self._begin(state, x, single), strict=True)  # for each layer and direction
        ends: list[tuple[Tensor, ...]] = []
        for layer in range(self.num_layers):
            x = x.dropout(self.dropout) if layer else x
            outputs = []
            for name in self._names(layer):
                output, last = self._run(x, next(begins), name)
                outputs.append(output)
                ends.append(last)
            x = outputs[0].cat(*outputs[1:], dim=-1)
        states = tuple(kept[0].stack(*kept[1:]) for kept in zip(*ends, strict=True))
        if single:
            x, states = x.squeeze(1), tuple(one.squeeze(1) for one in states)
        elif self.batch_first:
            x = x.transpose(0, 1)
        return x, states if self.states > 1 else states[0]

    def _begin(self, state: Any, x: Tensor, single: bool) -> tuple[Tensor, ...]:
        """The first states of all layers, (layers * directions, batch, hidden_size) each."""
        count = self.num_layers * len(self._names(0))
        shape = (count, x.shape[1], self.hidden_size)
        if state is None:
            return (Tensor.zeros(shape, dtype=x.dtype, device=x.device),) * self.states
        given = tuple(state) if self.states > 1 else (state,)
        wanted = (count, self.hidden_size) if single else shape
        if len(given) != self.states or any(one.shape != wanted for one in given):
            raise ShapeError(
                f"{type(self).__name__} takes {self.states} state of shape {wanted}, not "
                f"{', '.join(str(one.shape) for one in given)}"
            )
        return tuple(one.unsqueeze(1) for one in given) if single else given

    def _run(self, x: Tensor, state: tuple[Tensor, ...], name: str) -> tuple[Tensor, Any]:
        """One layer in one direction: its outputs, and the last state."""
        kinds = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        weights: list[Any] = [getattr(self, f"{kind}_{name}", None) for kind in kinds]
        weight_ih, weight_hh, bias_ih, bias_hh = weights
        # the gates' part from the input, for all elements at once
        inputs = x.linear(weight_ih.T, bias_ih).unbind(0)
        backwards = name.endswith("reverse")
        outputs = []
        for element in reversed(inputs) if backwards else inputs:
            own = state[0].linear(weight_hh.T, bias_hh)
            # stored, and its gradient too, or each step would repeat all earlier ones
            step = self._step(element, own, state)
            state = tuple(one.contiguous_backward() for one in step)
            outputs.append(state[0])
        outputs = outputs[::-1] if backwards else outputs
        return outputs[0].stack(*outputs[1:]), state


class GRU(Recurrent):
    """A state with a reset gate r and an update gate z.

        n = tanh(W_n x + r * V_n h)
        h' = (1 - z) * n + z * h

    The parameters have the gates in the order r, z, n. Cho et al., "Learning phrase representations
    using RNN encoder-decoder" (2014).
    """

    gates = 3

    def _step(self, x: Tensor, own: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        (h,) = state
        (r, z, n), (own_r, own_z, own_n) = x.chunk(3, dim=-1), own.chunk(3, dim=-1)
        r, z = (r + own_r).sigmoid(), (z + own_z).sigmoid()
        n = (n + r * own_n).tanh()
        return (n + z * (h - n),)


class LSTM(Recurrent):
    """LSTMCell at each element of a sequence; the state is the pair (h, c)."""

    gates, states = 4, 2

    def _step(self, x: Tensor, own: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return _lstm_step(x + own, state[1])
