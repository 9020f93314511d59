# %% shared
from tinyframe import Tensor, nn

# %% wrong, each line
lambda optimizer: 8  # says learning rate
lambda o: len(nn.state.get_state_dict(o)) - len(o.params)  # counts Tensors, not numbers

# %% wrong: says counted the parameters
def every_number(optimizer):
    return sum(t.numel() for t in nn.state.get_parameters(optimizer))
every_number

# %% wrong: says few
def tensors_not_numbers(optimizer):
    return len(nn.state.get_state_dict(optimizer)) - len(optimizer.params)
tensors_not_numbers

# %% wrong: `in` compares Tensors by ==, which is a Tensor or an error
def remembered(optimizer):
    state = nn.state.get_state_dict(optimizer)
    return sum(t.numel() for t in state.values() if t not in optimizer.params)

# %% right: two averages, the rate and the steps: that none was missed is nothing to keep
def remembered(optimizer):
    kept = [optimizer.lr]
    for name in ("b", "m", "v"):
        kept += getattr(optimizer, name, [])
    kept += [optimizer.t] if hasattr(optimizer, "t") else []
    return sum(t.numel() for t in kept)

# %% right: told apart by identity
def remembered(optimizer):
    mine = {id(p) for p in optimizer.params}
    return sum(t.numel() for t in nn.state.get_parameters(optimizer) if id(t) not in mine)
