"""Each captured call equals the uncaptured one, state included; or it is refused."""

from __future__ import annotations

import copy
import gc
import itertools
import sys
import threading

import numpy as np
import pytest

from tinyframe import Context, GlobalCounters, Tensor, TinyJit, Variable, nn
from tinyframe.device import OverwrittenError
from tinyframe.errors import GradientError
from tinyframe.jit.jit import JitError
from tinyframe.run import capture, realize
from tinyframe.run.capture import Capture

PROGRAMS = {}


def program(function):
    """A row of programs that give the same with TinyJit as without, call by call."""
    PROGRAMS[function.__name__] = function
    return function


@program
def running_statistics(transform):
    norm, rng = nn.BatchNorm(3), np.random.default_rng(0)
    step = transform(lambda x: (norm(x) * x).sum())
    for _ in range(6):
        with Tensor.train():  # alone, a sum may be fused otherwise than beside the statistics
            yield round(step(Tensor(rng.standard_normal((4, 3), np.float32)).realize()).item(), 4)
        yield norm.running_mean.tolist(), norm.running_var.tolist()


@pytest.mark.parametrize("view", [
    lambda x: x, lambda x: x.reshape(2, 2), lambda x: x[1:3], lambda x: x.contiguous(),
    lambda x: x * 1, lambda x: [x, x + 1],
])  # fmt: skip
def test_a_result_that_is_a_view_of_an_argument_is_one_of_this_argument(view):
    f = TinyJit(view)
    for n in range(5):
        x = Tensor([1.0, 2.0, 3.0, 4.0 + n]).realize()
        result, expected = first(f(x)), first(view(Tensor([1.0, 2.0, 3.0, 4.0 + n])))
        np.testing.assert_array_equal(result.numpy(), expected.numpy())
        shares = first(view(x))._storage is x._storage
        x[1] = 50
        assert (50 in result.numpy()) is shares


def first(result):
    return result[0] if isinstance(result, list) else result


def test_a_method_is_captured_for_each_instance():
    class Scale:
        def __init__(self, factor):
            self.factor = Tensor([factor]).realize()

        @TinyJit
        def __call__(self, x):
            return (x * self.factor).realize()

    double, triple = Scale(2.0), Scale(3.0)
    for n in range(5):
        x = Tensor([float(n)]).realize()
        assert double(x).tolist() == [2.0 * n]
        assert triple(x).tolist() == [3.0 * n]
    again = copy.deepcopy(double)
    again.factor.assign(Tensor([10.0])).realize()
    for n in range(4):
        x = Tensor([float(n)]).realize()
        assert again(x).tolist() == [10.0 * n]
        assert double(x).tolist() == [2.0 * n]


def test_an_argument_that_is_no_tensor_has_to_stay_what_it_was():
    f = TinyJit(lambda x, scale, name="a", options=None: x * scale)
    x = Tensor([1.0, 2.0]).realize()
    options = object()
    for _ in range(4):
        assert f(x, 2, name="b", options=options).tolist() == [2, 4]
    for wrong in (3, 2.0, True):
        with pytest.raises(JitError, match="only Tensors may change"):
            f(x, wrong, name="b", options=options)
    with pytest.raises(JitError, match=r"name was captured as 'b'"):
        f(x, 2, name="c", options=options)
    with pytest.raises(JitError, match="a different object"):
        f(x, 2, name="b", options=object())
    with pytest.raises(JitError):
        f(x, 2, name="b")
    assert f(x, 2, name="b", options=options).tolist() == [2, 4]


def test_an_array_is_not_frozen_unnoticed():
    f = TinyJit(lambda x, a: x + Tensor(a))
    x, a = Tensor([1.0]).realize(), np.float32([1])
    f(x, a)
    with pytest.raises(JitError, match="ndarray"):
        f(x, a)


def test_the_training_switch_has_to_stand_as_it_did():
    f = TinyJit(lambda x: x.dropout(0.5) + 0)
    x = Tensor([1.0, 2.0]).realize()
    for _ in range(3):
        f(x)
    with Tensor.train(), pytest.raises(JitError, match="training"):
        f(x)


def test_a_constant_that_is_assigned_another_is_captured_anew():
    c = Tensor(2.0)
    f = TinyJit(lambda x: (x * c).realize())
    x = Tensor([1.0, 2.0]).realize()
    for _ in range(3):
        assert f(x).tolist() == [2, 4]
    c.assign(Tensor(3.0))
    assert f(x).tolist() == [3, 6]


def test_what_was_written_down_before_a_replay_has_the_values_of_before():
    w = Tensor([1.0, 2.0]).realize()

    @TinyJit
    def step(x):
        w.assign(w + x)
        return w * 1

    x = Tensor([1.0, 1.0]).realize()
    kept, expected = [], []
    for n in range(6):
        kept += [w + 0.5, w * 1, w.reshape(2, 1).expand(2, 50) + 0]
        expected += [[1.5 + n, 2.5 + n], [1 + n, 2 + n], [[1 + n] * 50, [2 + n] * 50]]
        assert step(x).tolist() == [2 + n, 3 + n]
    assert [t.tolist() for t in kept] == expected


def test_a_tensor_that_is_replaced_by_python_is_refused():
    class Cell:
        def __init__(self):
            self.h = Tensor([1.0]).realize()

        @TinyJit
        def step(self, x):
            self.h = (self.h * x).realize()
            return self.h + 0

    cell, x = Cell(), Tensor([2.0]).realize()
    cell.step(x)
    with pytest.raises(JitError, match="assign"):
        cell.step(x)


def test_four_threads_call_one_captured_function():
    f = TinyJit(lambda x, y: ((x @ y).relu() + x.sum()).realize())
    rng = np.random.default_rng(0)
    given = [rng.standard_normal((2, 8, 8), np.float32) for _ in range(8)]
    for a, b in given[:3]:
        f(Tensor(a).realize(), Tensor(b).realize())
    wrong, errors = [], []

    def work(k):
        try:
            for n in range(40):
                a, b = given[(n + k) % 8]
                found = f(Tensor(a).realize(), Tensor(b).realize()).numpy()
                if not np.allclose(found, np.maximum(a @ b, 0) + a.sum(), rtol=1e-4, atol=1e-4):
                    wrong.append(n)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert (wrong, errors) == ([], [])


def test_what_another_thread_makes_and_reads_during_a_capture_is_no_part_of_it():
    inside, done, found, lazy = threading.Event(), threading.Event(), [], []

    @TinyJit
    def f(x):
        y = (x * 2).realize()
        inside.set()
        assert done.wait(60)
        return y + 1

    def read():
        inside.wait(60)
        lazy.append(Tensor([5.0, 6.0]) * 7)
        found.append((Tensor([1.0, 2.0]) * 3).tolist())
        done.set()

    x = Tensor([1.0]).realize()
    for _ in range(2):
        inside.clear(), done.clear()
        thread = threading.Thread(target=read)
        thread.start()
        assert f(x).tolist() == [3]
        thread.join()
    assert found == [[3, 6]] * 2
    assert len(f.captured.kernels) == 2  # none of the other thread's
    assert [t.tolist() for t in lazy] == [[35, 42]] * 2
    assert f(x).tolist() == [3]


def test_a_capture_that_ctrl_c_left_open_ends_none_of_another_thread(monkeypatch):
    begun, found = threading.Event(), []

    def scaled(x):
        y = x * 2
        begun.set()
        assert left.wait(60)
        return (y + 1).realize()

    def other():
        found.extend(step(Tensor([float(n)]).realize()).item() for n in range(3))

    step, left = TinyJit(scaled), threading.Event()
    left.set()
    step(Tensor([9.0]).realize())
    begun.clear(), left.clear()
    thread = threading.Thread(target=other)
    thread.start()
    begun.wait(60)
    left_open = Capture([], [], [], 0)
    left_open.frame = (lambda: sys._getframe())()  # which has ended
    monkeypatch.setattr(capture._thread, "capture", left_open, raising=False)
    assert (Tensor([1.0]) + 1).item() == 2
    left.set()
    thread.join()
    assert found == [1, 3, 5]


def test_threads_that_realize_one_value_compute_it_once():
    counter = Tensor([0.0]).realize()
    for _ in range(20):
        counter += 1
        threads = [threading.Thread(target=counter.realize) for _ in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert counter.item() == 20


def test_a_pickled_or_copied_function_captures_for_itself():
    class Twice:
        @TinyJit
        def __call__(self, x):
            return x * 2

    one = Twice()
    x = Tensor([1.0]).realize()
    for _ in range(3):
        one(x)
    two = copy.deepcopy(one)
    assert [two(x).tolist() for _ in range(3)] == [[2.0]] * 3
    jit = copy.deepcopy(TinyJit(np.sin))
    assert jit.cnt == 0 and jit.captured is None


@program
def kernels_that_were_scheduled_outside_and_wait(transform):
    state = Tensor([1.0, 2.0]).realize()
    add = transform(lambda x: (x + state).realize())
    for n in range(6):
        state.assign(state * 3).schedule()  # its kernels run when the call needs it
        yield add(Tensor([1.0, float(n)]).realize()).tolist(), state.tolist()


@program
def data_that_each_call_makes(transform):
    @transform
    def step(x):
        doubled = (x * 2).flip(0).contiguous().realize()
        data = Tensor([5.0, 6.0, 7.0, 8.0])
        data[:2] = doubled[1:3]
        data.realize()  # the kernel that first uses its memory writes a part of it
        for _ in range(3):
            data = (data.flip(0) + doubled.sum()).contiguous().realize()
        return data + 1

    with Context(DEVICE="PYTHON"):  # where data lies as it is; to any other device it is copied
        for n in range(6):
            yield step(Tensor([1.0, 2.0, 3.0, float(n)]).realize()).tolist()


@program
def data_that_is_copied_to_memory_of_its_size(transform):
    state = Tensor([0.0, 0.0]).realize()

    @transform
    def step(x):
        doubled = (x * 2).contiguous().realize()
        total = doubled.sum().realize()  # from here on the memory of `doubled` is free
        state.assign(state + Tensor([1.0, 2.0])).realize()
        return total

    for n in range(6):
        yield step(Tensor([float(n)] * 64).realize()).item(), state.tolist()


@program
def a_change_that_waits_outside_of_a_call(transform):
    state, results = (Tensor([5.0, 5.0, 1.0]).realize() * 2).relu(), []

    @transform
    def step(x):
        larger = state.maximum(x)
        state.assign(larger)
        return state.max(), larger.flip(0)

    for x in ([7, -9, -1], [-3, -6, 7], [9, -7, 8], [1, 20, 8]):
        largest, backwards = step(Tensor(x).float().realize())
        backwards.assign(backwards * 2)  # nobody asks for it before the next call
        results += [largest, backwards]
    yield [t.tolist() for t in (*results, state)]


@program
def a_variable_of_several_values_in_a_call(transform):
    place, cache = Variable("place", 0, 7), Tensor.zeros(8).contiguous().realize()

    @transform
    def fill(x):
        for n in (4, 1, 6):
            cache[place.bind(n) : place.bind(n) + 1] = x + n
            cache.realize()
        return cache * 1

    for n in range(6):
        with Context(DEBUG=2 * (n == 4)):
            yield fill(Tensor([float(n)]).realize()).tolist()


def test_a_capture_holds_no_more_memory_than_its_intermediate_values_need():
    def work(x):
        for _ in range(6):
            x = (x.flip(0) + 1).contiguous().realize()
        return x.sum(0).realize()

    step = TinyJit(work)
    for n in range(4):
        step(Tensor(np.full((100, 100), n, np.float32)).realize())
    gc.collect()
    held = GlobalCounters.mem_used
    step.reset()
    gc.collect()
    assert held - GlobalCounters.mem_used == 2 * 100 * 100 * 4  # they take turns in two


# ---- results with Variables ----------------------------------------------------------------------

ROWS = np.arange(28, dtype=np.float32).reshape(7, 4)
OF_ROWS = {
    "sum": (lambda t, v: t[:v].sum(1).realize(), lambda a, k: a[:k].sum(1)),
    "row": (lambda t, v: (t * 2).realize()[v - 1], lambda a, k: a[k - 1] * 2),
    "part of an argument": (lambda t, v: t[:v], lambda a, k: a[:k]),
    "part of a result": (lambda t, v: (t + 1).realize()[:v].T, lambda a, k: a[:k].T + 1),
    "turned": (lambda t, v: t[:v].T, lambda a, k: a[:k].T),
    "softmax": (lambda t, v: t[:v].softmax(0), lambda a, k: np.exp(a[:k] - a[k - 1])
                / np.exp(a[:k] - a[k - 1]).sum(0)),
    "sort": (lambda t, v: t[:v].sort(0, descending=True)[0], lambda a, k: a[:k][::-1]),
    "attention": (lambda t, v: t[:v].scaled_dot_product_attention(t[:v], t[:v]).sum(1),
                  lambda a, k: attention(a[:k]).sum(1)),
}  # fmt: skip


def attention(a):
    scores = a @ a.T / 2
    weights = np.exp(scores - scores.max(1, keepdims=True))
    return weights / weights.sum(1, keepdims=True) @ a


@pytest.mark.parametrize("is_view", [True, False], ids=["view given", "Variable given"])
@pytest.mark.parametrize("name", OF_ROWS)
def test_a_result_has_the_variables_of_its_call(name, is_view):
    function, expected = OF_ROWS[name]
    n = Variable("n", 1, 7)
    given = TinyJit(lambda t: function(t, t.shape[0])) if is_view else TinyJit(function)
    results = []
    for k in (2, 3, 7, 1, 5):
        x = Tensor(ROWS / 10 + k).realize()
        results.append((k, given(x[: n.bind(k)]) if is_view else given(x, n.bind(k))))
    for k, result in results:
        np.testing.assert_allclose(result.numpy(), expected(ROWS / 10 + k, k), rtol=1e-5)


# ---- gradients -----------------------------------------------------------------------------------


def losses_and_weights(transform, zero, backward, step):
    """Training in which each part is done inside of a captured function, before or after it, or on
    every second call."""
    w, v = Tensor([1.0, 2.0], requires_grad=True), Tensor([0.5], requires_grad=True)
    optimizer = nn.optim.SGD([w, v], lr=0.1, momentum=0.5)

    def body(x):
        if zero == "inside":
            optimizer.zero_grad()
        loss = (w * w * x + v).sum()
        if backward == "inside":
            loss.backward()
        if step == "inside":
            optimizer.step()
        return loss

    function, found, kept = transform(body), [], []
    for n in range(7):
        if zero == "before" or (zero == "at times" and n % 2 == 0):
            optimizer.zero_grad()
        loss = function(Tensor([1.0, float(n)]).realize())
        if backward == "after":
            loss.backward()
        if step == "after":
            optimizer.step()
        kept.append(w.grad)
        found += [loss, *[t.clone() for t in (w, v, w.grad, v.grad)]]
        if zero == "after":
            optimizer.zero_grad()
    return [t.tolist() for t in (*found, *[g for g in kept if zero != "never"])]


@pytest.mark.parametrize("step", ["inside", "after", "never"])
@pytest.mark.parametrize("zero", ["inside", "before", "after", "at times", "never"])
def test_zero_grad_and_step_may_be_inside_or_outside(zero, step):
    plain = losses_and_weights(lambda f: f, zero, "inside", step)
    assert losses_and_weights(TinyJit, zero, "inside", step) == plain


@pytest.mark.parametrize("zero", ["inside", "before", "never"])
def test_backward_through_a_captured_result_says_who_cut_it(zero):
    with pytest.raises(GradientError, match="TinyJit"):
        losses_and_weights(TinyJit, zero, "after", "after")


@program
def a_step_alone(transform):
    w = Tensor([1.0, 2.0], requires_grad=True)
    optimizer = nn.optim.SGD([w], lr=0.1, momentum=0.5)
    step = transform(lambda: (optimizer.step(), w + 0)[1])
    for n in range(6):
        optimizer.zero_grad()
        (w * w * Tensor([1.0, float(n)])).sum().backward()
        yield step().tolist()


def test_an_encoder_under_tinyjit_says_that_it_does_not_train():
    encoder, head = nn.Linear(4, 3), nn.Linear(3, 1)
    parameters = nn.state.get_parameters([encoder, head])
    optimizer = nn.optim.SGD(parameters, lr=0.1)
    encode = TinyJit(lambda x: encoder(x).tanh())
    x = Tensor.ones(2, 4).contiguous().realize()
    for _ in range(2):
        optimizer.zero_grad()
        head(encode(x)).sum().backward()
        optimizer.step()
    with pytest.raises(GradientError, match="TinyJit"):
        head(encode(x)).sum().backward()
    optimizer.zero_grad()
    head(encode(x).detach()).sum().backward()  # which is a way to mean it
    assert encoder.weight.grad is None and head.weight.grad is not None


def test_an_argument_that_requires_a_gradient_is_cut_off_in_words():
    double = TinyJit(lambda x: (x * 2).realize())
    w, x = Tensor([1.0, 2.0], requires_grad=True), Tensor([3.0, 4.0]).realize()
    for _ in range(2):
        (double(w).sum() + w.sum()).backward()
    assert w.grad.tolist() == [6, 6]
    with pytest.raises(GradientError, match="TinyJit"):
        (double(w).sum() + w.sum()).backward()
    (double(x) * w).sum().backward()
    assert w.grad.tolist() == [6 + 6, 6 + 8]


def test_memory_that_a_call_changes_has_no_history_of_an_earlier_value():
    w, state = Tensor([1.0, 2.0], requires_grad=True), Tensor([0.0, 0.0]).realize()
    step = TinyJit(lambda x: state.assign(state * 0.5 + w * x))
    for n in range(4):
        step(Tensor([1.0, float(n)]).realize())
    with pytest.raises(GradientError, match="TinyJit"):
        (state.sum() + w.sum()).backward()
    clear = TinyJit(lambda x: state.assign(x))
    state.assign(w * 3)
    for n in range(4):
        clear(Tensor([1.0, float(n)]).realize())
    (state.sum() + w.sum()).backward()
    assert w.grad.tolist() == [1, 1]


def _trained(transform):
    """A call that trains; its parameter, and a Tensor of the kind that asks for no gradient."""
    w = Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True).realize()
    optimizer = nn.optim.SGD([w], lr=0.1)

    def step(x):
        optimizer.zero_grad()
        loss = ((x @ w) ** 2).sum().backward()
        optimizer.step()
        return loss

    step = transform(step)
    return w, lambda n: step(Tensor([[n + 1.0, 2.0, -1.0]]).realize())


def _as_grad_of_another(grad):
    other = Tensor([[0.0]])
    other.grad = grad
    return lambda: other.grad.numpy()


def _read_already(view):
    view.numpy()
    return view.numpy


# each is how the values are read later
WAYS_TO_KEEP = {
    "the Tensor": lambda grad: grad.numpy,
    "a view": lambda grad: grad[1:].numpy,
    "a transposed view": lambda grad: grad.T.numpy,
    "a view that was read": lambda grad: _read_already(grad.T),
    "what is computed from it": lambda grad: (grad * 2).numpy,
    "detached": lambda grad: grad.detach().numpy,
    "a copy of the Tensor": lambda grad: copy.copy(grad).numpy,
    "the `.grad` of another": _as_grad_of_another,
    "its graph": lambda grad: lambda uop=grad.uop: Tensor(uop).numpy(),
    "a part of its graph": lambda grad: lambda base=grad.uop.base: Tensor(base).numpy(),
}


@pytest.mark.parametrize("way", WAYS_TO_KEEP)
def test_a_gradient_that_somebody_keeps_in_any_way_stays_what_it_was(way):
    def readers():
        w, call = _trained(TinyJit)
        for n in range(7):
            call(n)
            if n % 2:
                yield WAYS_TO_KEEP[way](w.grad)

    at_once = [read() for read in readers()]
    later = [read() for read in list(readers())]
    assert np.array_equal(later, at_once)
    assert not np.array_equal(at_once[0], at_once[1])


def test_a_gradient_that_nobody_keeps_is_written_again_and_read_each_time():
    w, call = _trained(TinyJit)
    plain_w, plain_call = _trained(lambda f: f)
    places = set()
    for n in range(8):
        call(n), plain_call(n)
        assert np.array_equal(w.grad.numpy(), plain_w.grad.numpy())
        assert np.array_equal(w.grad.T.numpy(), plain_w.grad.T.numpy())
        assert w.grad.sum().item() == plain_w.grad.sum().item()
        if n >= 3:
            places.add(id(w.grad))
    assert len(places) == 1


def test_a_gradient_that_has_got_a_gradient_or_a_value_of_its_own_is_made_anew():
    w, call = _trained(TinyJit)
    plain_w, plain_call = _trained(lambda f: f)
    for n in range(9):
        for one, step in ((w, call), (plain_w, plain_call)):
            step(n)
            if n == 3:
                one.grad.assign(one.grad * 0 + 5)
            if n == 4:
                one.grad.requires_grad = True
            if n == 5:
                one.grad.grad = Tensor.ones(3, 2)
            if n == 6:
                one.grad = None
        assert (w.grad is None) == (plain_w.grad is None)
        if w.grad is not None:
            assert np.array_equal(w.grad.numpy(), plain_w.grad.numpy())
            assert w.grad.requires_grad is plain_w.grad.requires_grad
            assert (w.grad.grad is None) == (plain_w.grad.grad is None)


@pytest.mark.parametrize("gone_wrong", ["launched one by one", "refused"])
def test_a_replay_after_one_that_the_graph_knows_nothing_of_has_its_memory(gone_wrong, capsys):
    def run(transform):
        w = Tensor([1.0, 2.0], requires_grad=True).realize()

        def step(x):
            w.grad = None
            loss = (w * x).sum().backward()
            w.assign(w.detach() + 1)
            return loss

        step, seen = transform(step), []
        for n in range(8):
            if n in (4, 6):
                w.uop = Tensor([5.0 * n, 1.0]).realize().uop  # other memory
            with Context(DEBUG=2 if n in (4, 6) and gone_wrong == "launched one by one" else 0):
                if n in (4, 6) and gone_wrong == "refused" and transform is TinyJit:
                    with pytest.raises(JitError, match="also uses it by another route"):
                        step(w)
                loss = step(Tensor([1.0, float(n)]).realize())
            seen.append((loss.item(), w.tolist(), w.grad.tolist()))
        return seen

    assert run(TinyJit) == run(lambda f: f)


# ---- what is refused -----------------------------------------------------------------------------


def refused(function, *later, match, first=None):
    """Captures with `first`, and checks that each later call is refused."""
    captured = TinyJit(function)
    first = first or (Tensor([1.0, 2.0]).realize(),)
    with pytest.raises(JitError, match=match):
        for _ in range(3):
            captured(*first)
        for arguments in later:
            captured(*arguments)


def test_what_a_replay_could_not_do_is_refused():
    x = Tensor([1.0, 2.0]).realize()
    refused(lambda x, s: x * s, (x, -0.0), match=r"-0\.0", first=(x, 0.0))
    refused(lambda x, s: x * s, (x, 1), match="only Tensors", first=(x, True))
    refused(lambda x: (Tensor.manual_seed(1), x.dropout())[1], match="manual_seed")
    refused(lambda x: x + 1, (Tensor.ones(2),), match=r"contiguous\(\)")
    refused(lambda x: x + 1, (Tensor([1.0, 2.0, 3.0]).realize()[1:],), match=r"\.contiguous\(\)")
    captured = TinyJit(lambda x: x + 1)
    results = [captured(Tensor([0.0, n, n]).realize()[1:].contiguous()).tolist() for n in range(4)]
    assert results == [[n + 1, n + 1] for n in range(4)]


def test_a_tensor_that_is_passed_and_used_without_is_refused():
    w, x = Tensor([1.0, 2.0], requires_grad=True), Tensor([1.0, 2.0], requires_grad=True)
    refused(lambda t: t + w, match="clone", first=(w,))
    add = TinyJit(lambda t: t + w)
    for _ in range(3):
        assert add(x).tolist() == [2, 4]
    assert add(w).tolist() == [2, 4]  # where nothing is changed there is nothing to confuse
    refused(lambda t: t.assign(t + w), (w,), match="clone", first=(x,))


def test_a_tensor_left_in_an_attribute_is_refused():
    seen = []
    refused(lambda x: (seen.append(x * 2), x + 1)[1], match=r"leaves a Tensor.*Return it")


@program
def an_argument_that_asks_for_a_gradient_at_times(transform):
    w = Tensor([1.0, 2.0], requires_grad=True)
    function = transform(lambda t: (t * w).sum().backward())
    for n in range(8):
        x = Tensor([3.0, float(n)], requires_grad=n % 3 == 1).realize()
        function(x)
        yield [None if t.grad is None else t.grad.tolist() for t in (w, x)]


def test_a_gradient_through_what_was_computed_before_the_call_is_refused():
    w = Tensor([1.0, 2.0], requires_grad=True)
    outside = (w * w).realize()
    refused(lambda x: (x * outside).sum().backward(), match="computed before the call")
    refused(lambda x: (x * 2).sum().backward(), match="computed before the call", first=(w * 3,))
    step = TinyJit(lambda x: (x * outside.detach() * w).sum().backward())
    for _ in range(4):
        w.grad = None
        step(Tensor([1.0, 2.0]).realize())
        assert w.grad.tolist() == [1, 8]


@program
def a_gradient_that_waits_and_is_computed_with_a_change_in_a_call(transform):
    x, w = Tensor([0.75, 3.0]).realize(), Tensor([0.5, -2.75], requires_grad=True)

    @transform
    def step(t):
        x[x > 0.5] = -1  # computes the gradient of the call before, which reads x
        (x * w).square().sum().backward()

    for n in range(5):
        step(Tensor([float(n)]).realize())
    yield w.grad.tolist()


def test_a_tensor_that_gets_a_history_after_the_capture_is_refused():
    w, b = Tensor([1.5], requires_grad=True), Tensor.zeros(2).contiguous().realize()

    @TinyJit
    def step(x):
        w.grad = None
        ((w - b) * x).sum().backward()

    for n in range(5):
        step(Tensor([1.0, float(n)]).realize())
        assert w.grad.tolist() == [1 + n]
        b.assign(b + 1).realize()
    b.assign(b + w * 3)
    with pytest.raises(JitError, match="detach"):
        step(Tensor([1.0, 2.0]).realize())


@program
def a_gradient_that_is_a_part_with_zeros_around_it(transform):
    with Context(DEVICE="PYTHON"):  # which checks each access
        w = Tensor([[1.75, 2.0], [2.25, 0.75]], requires_grad=True)
        step = transform(lambda: (w[1].square().sum().backward(), w.detach()[0].assign(3))[0])
        for _ in range(5):
            step()
        yield w.grad.tolist(), w.tolist()


def test_what_a_captured_call_was_writing_is_never_written_twice(monkeypatch):
    x, y = Tensor([1.0, 2.0]).realize(), Tensor([3.0, 4.0, 5.0]).realize()

    @TinyJit
    def step():
        x.assign(x * 2).realize()
        y.assign(y * 2).realize()

    for _ in range(3):
        step()
    run, count = realize._run_kernel, itertools.count()

    def stopped_after_the_second(*args):
        run(*args)
        if next(count) == 1:
            args[1].ran.clear()  # a Runner that cannot tell
            raise KeyboardInterrupt

    monkeypatch.setattr(realize.CompiledKernel, "notes_itself", False)
    monkeypatch.setattr(realize, "_run_kernel", stopped_after_the_second)
    with Context(DEBUG=2), pytest.raises(KeyboardInterrupt):  # one by one
        step()
    assert x.tolist() == [16, 32]
    with pytest.raises(OverwrittenError):
        y.tolist()


# ---- programs with TinyJit and without -----------------------------------------------------------


@pytest.mark.parametrize("name", PROGRAMS)
def test_captured_calls_give_what_plain_ones_give(name):
    assert [*PROGRAMS[name](TinyJit)] == [*PROGRAMS[name](lambda function: function)]
