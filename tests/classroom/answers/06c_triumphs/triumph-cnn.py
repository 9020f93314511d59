# %% shared
from classroom.mini import triumphs

# %% wrong, each line
lambda dice: triumphs.network(dice)[1]  # says a list of mini's Tensors

# %% wrong: says the shape of filters
def blind(dice):
    mini = triumphs.mini()
    w = mini.Tensor(dice.standard_normal((64, 10)) / 10)
    return [w], lambda images: images.reshape(images.shape[0], 64) @ w
blind

# %% wrong: says not far enough
def one_filter(dice):
    mini = triumphs.mini()
    f = mini.Tensor(dice.standard_normal((1, 1, 7, 7)) / 7)
    w = mini.Tensor(dice.standard_normal((4, 10)) / 10)
    return [f, w], lambda images: images.conv2d(f).reshape(images.shape[0], 4) @ w
one_filter

# %% wrong: says aren't in your list
def unlisted(dice):
    parameters, model = triumphs.network(dice)
    return parameters[:3], model
unlisted

# %% wrong: says takes no part
def idle_parameter(dice):
    parameters, model = triumphs.network(dice)
    return [*parameters, triumphs.mini().Tensor([1.0])], model
idle_parameter

# %% wrong: says wrong shape
def flat_scores(dice):
    parameters, model = triumphs.network(dice)
    return parameters, lambda images: model(images).sum(1)
flat_scores

# %% wrong: a matrix that only looks like filters: no conv2d
def network(dice):
    w, b = Tensor(dice.standard_normal((64, 24, 1, 1)) / 8), Tensor(np.zeros(24))
    v, c = Tensor(dice.standard_normal((24, 10)) / 5), Tensor(np.zeros(10))
    def model(images):
        x = images.reshape(images.shape[0], 64)
        return (x @ w.reshape(64, 24) + b).relu() @ v + c
    return [w, b, v, c], model

# %% wrong: says a Tensor of scores
def of_numpy(dice):
    parameters, model = triumphs.network(dice)
    return parameters, lambda images: model(images).numpy()
of_numpy

# %% right: eight filters, a tuple, and lambdas
def network(dice):
    f, g = Tensor(dice.standard_normal((8, 1, 3, 3)) / 3), Tensor(np.zeros((8, 1, 1)))
    w, b = Tensor(dice.standard_normal((72, 10)) / 9), Tensor(np.zeros(10))
    pool = lambda x: x.reshape(x.shape[0], 8, 3, 2, 3, 2).max(3, 5)
    return (f, g, w, b), lambda i: pool((i.conv2d(f) + g).relu()).reshape(i.shape[0], 72) @ w + b
