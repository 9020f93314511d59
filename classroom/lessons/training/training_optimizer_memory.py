"""What an optimizer keeps

Hint: `nn.state.get_state_dict(optimizer)` is a dict of every Tensor in it. Which of those belong
to the model?
Hint: `optimizer.params` is the list of parameters. Add up `numel()` for both. The rest is what
you want.
Because: SGD keeps its learning rate and nothing else. Momentum adds a velocity for each
parameter. Adam has two averages for each, and counts its steps.
Right: Nothing for SGD but its learning rate. For Adam, two more copies of the whole model.
"""

from classroom.ask import Wrong, call, fresh_sizes, same_number, whole_number, wrong_if
from tinyframe import nn


def check(answer) -> None:
    """answer(optimizer): how many numbers it keeps beside the parameters."""
    inside, out = fresh_sizes(2)
    first = nn.Linear(3, 2)
    fresh = [nn.Linear(inside, out), nn.Linear(out, 2)]
    shown = "`SGD` with momentum, for a `Linear(3, 2)`"
    optimizers = {
        shown: nn.optim.SGD(nn.state.get_parameters(first), lr=0.1, momentum=0.9),
        "`SGD` without momentum": nn.optim.SGD(nn.state.get_parameters(first), lr=0.1),
        "`Adam`, for two layers": nn.optim.Adam(nn.state.get_parameters(fresh)),
    }
    for case, optimizer in optimizers.items():
        parameters = sum(tensor.numel() for tensor in optimizer.params)
        every = nn.state.get_state_dict(optimizer).values()
        expected = sum(tensor.numel() for tensor in every) - parameters
        plain = whole_number(call(answer, optimizer), case)
        # Adam's counts of missed steps are constants until there is one: nobody has to see them
        without = expected - len(getattr(optimizer, "missed", ()))
        expected = without if plain <= without else expected
        if plain == expected + parameters:
            raise Wrong("You counted the parameters, too. They belong to the model.", case)
        wrong_if(expected - 2 <= plain < expected, "Nearly. Did you count the learning rate, and "
                 "the number of steps if there is one? They're Tensors with one number each.",
                 case)  # fmt: skip
        same_number(plain, expected, case, "numbers")

# %% shared
from tinyframe import Tensor, nn

# %% wrong, each line
lambda optimizer: 8  # says learning rate
lambda o: len(nn.state.get_state_dict(o)) - len(o.params)  # says few

# %% wrong: says counted the parameters
def every_number(optimizer):
    return sum(t.numel() for t in nn.state.get_parameters(optimizer))
every_number

# %% wrong: `in` compares Tensors by ==, which is a Tensor or an error
def remembered(optimizer):
    state = nn.state.get_state_dict(optimizer)
    return sum(t.numel() for t in state.values() if t not in optimizer.params)

# %% right: told apart by identity
def remembered(optimizer):
    mine = {id(p) for p in optimizer.params}
    return sum(t.numel() for t in nn.state.get_parameters(optimizer) if id(t) not in mine)
