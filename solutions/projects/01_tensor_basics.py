"""Project 1: Tensor basics. What a Tensor is before and after its numbers exist.

You will write ten functions. Each one says what it is given and what it should return; replace the
`...` with your code. Nothing else needs to change, and you may add functions of your own.

    python projects/01_tensor_basics.py                       runs everything and prints the results
    python -m classroom grade projects/01_tensor_basics.py    100 points, and a hint for each miss

Run the file as often as you like: a task you have not written yet is simply called open. You need
parts 1 to 4 of the course, and about three hours.

Wherever a list is asked for, a tuple is fine too, and the other way round. A Tensor is a tinyframe
Tensor, not a NumPy array, and an integer is 3, not 3.0.
"""

import re
from time import perf_counter

from tinyframe import Context, GlobalCounters, Tensor, dtypes
from tinyframe.run.realize import get_kernel

# ---- Tensors, and where they come from -----------------------------------------------------------


def describe(tensor):
    """Task 1 (6 points). The shape, the dtype as text, and how many bytes the numbers take.

    describe(Tensor.ones(2, 3)) is ((2, 3), "dtypes.float", 24). Don't compute anything for it.
    """
    ### BEGIN SOLUTION
    return tensor.shape, str(tensor.dtype), tensor.nbytes
    ### END SOLUTION


def factories(rows, columns):
    """Task 2 (10 points). A dict with one Tensor of each of these names:

    "zeros", "ones"  0 and 1 everywhere, of shape (rows, columns), floats
    "full"           7 everywhere, of that shape, dtypes.int32
    "arange"         0, 1, 2, ... row by row, of that shape, dtypes.int32
    "linspace"       as many floats as there are columns, from -1 to 1, both included
    "eye"            the identity matrix with that many rows
    "like"           ones of the shape and dtype of "full"
    "list"           made from a list of Python bools, one per column: True, False, True, ...
    "rand"           random floats from 0 up to 1, of shape (rows, columns)
    "randn"          random floats around 0, with standard deviation 1, of that shape
    "uniform"        random floats from -2 up to 3, of that shape
    "randint"        random whole numbers from -rows to rows, both included, of that shape
    """
    ### BEGIN SOLUTION
    full = Tensor.full((rows, columns), 7, dtype=dtypes.int32)
    return {
        "zeros": Tensor.zeros(rows, columns),
        "ones": Tensor.ones(rows, columns),
        "full": full,
        "arange": Tensor.arange(rows * columns).reshape(rows, columns),
        "linspace": Tensor.linspace(-1, 1, columns),
        "eye": Tensor.eye(rows),
        "like": full.ones_like(),
        "list": Tensor([column % 2 == 0 for column in range(columns)]),
        "rand": Tensor.rand(rows, columns),
        "randn": Tensor.randn(rows, columns),
        "uniform": Tensor.uniform(rows, columns, low=-2.0, high=3.0),
        "randint": Tensor.randint(rows, columns, low=-rows, high=rows + 1),
    }
    ### END SOLUTION


def checkerboard(rows, columns):
    """Task 3 (10 points). 0 and 1 alternate along both axes, with a 0 in the corner; integers.

    checkerboard(2, 3) is [[0, 1, 0], [1, 0, 1]]. Make it from factories and arithmetic alone,
    without a list of numbers: its graph has no BUFFER in it, and it takes at most one kernel.
    Return the Tensor before it is computed. Any of the integer dtypes will do.
    """
    ### BEGIN SOLUTION
    down = Tensor.arange(rows).reshape(rows, 1)
    along = Tensor.arange(columns).reshape(1, columns)
    return (down + along) % 2
    ### END SOLUTION


# ---- kernels -------------------------------------------------------------------------------------


def kernel_count(build):
    """Task 4 (10 points). How many kernels it takes to realize what `build()` returns.

    build: a function without arguments that builds a new Tensor at each call.
    kernel_count(lambda: (a + b).relu().sum()) is 1 if a and b are in memory.
    """
    ### BEGIN SOLUTION
    tensor = build()
    GlobalCounters.reset()
    tensor.realize()
    return GlobalCounters.kernel_count
    ### END SOLUTION


def chain(x, kernels):
    """Task 5 (12 points). x + kernels, the slow way: in exactly that number of kernels.

    Don't compute it here: return the graph. chain(x, 3) takes 3 kernels, and its values are those
    of x + 3.
    """
    ### BEGIN SOLUTION
    for _ in range(kernels):
        x = (x + 1).contiguous()
    return x
    ### END SOLUTION


def one_pass(a, b):
    """Task 6 (12 points). The sum of all a * b, plus the sum of a, minus the sum of b, in one
    kernel that reads each element of a and of b from memory once. Return the graph, not computed.

    (a * b).sum() + a.sum() - b.sum() is one kernel too, but look at its source with DEBUG=3 and
    NOOPT=1: it has three loops, and two of them read a, and two read b.
    """
    ### BEGIN SOLUTION
    return (a * b + a - b).sum()
    ### END SOLUTION


def before_and_after(build):
    """Task 7 (10 points). What realize() changes: (kernels before, op before, kernels after, op
    after).

    build: as in task 4. Kernels: how many are in the schedule of the Tensor. Op: the name of the
    op that its graph ends with, `tensor.uop.base.op.name`; `base` skips reshapes and other
    movements. schedule() already gives the Tensor memory, with nothing in it yet: look at the op
    before you call schedule(), and build a new Tensor to realize. Build that one afterwards: two
    Tensors that are built alike are one graph, and what happens to it happens to both.
    """
    ### BEGIN SOLUTION
    op_before = build().uop.base.op.name
    kernels_before = len(build().schedule())
    tensor = build().realize()
    return kernels_before, op_before, len(tensor.schedule()), tensor.uop.base.op.name
    ### END SOLUTION


# ---- two ways to compute the same thing ----------------------------------------------------------


def compare(start, steps):
    """Task 8 (14 points). The same steps taken all together, and then apart, with a realize() after
    each.

    start: a function that returns a Tensor in memory. steps: functions from a Tensor to a Tensor;
    apply them one after the other. Some look at the numbers to decide what to do, which runs
    kernels too, and some make new numbers every time. Return a dict:

    "kernels together", "kernels apart"   how many kernels run in all, those for looking included
    "seconds together", "seconds apart"   how long that takes, as a float; run each way once before
                                          you measure, so that nothing is compiled meanwhile
    "equal"                               whether the numbers are the same (to 1e-5): True or False
    """
    ### BEGIN SOLUTION

    def together():
        tensor = start()
        for step in steps:
            tensor = step(tensor)
        return tensor.realize()

    def apart():
        tensor = start()
        for step in steps:
            tensor = step(tensor).realize()
        return tensor

    found, results = {}, []
    for name, run in (("together", together), ("apart", apart)):
        run()
        GlobalCounters.reset()
        begin = perf_counter()
        results.append(run())
        found[f"seconds {name}"] = perf_counter() - begin
        found[f"kernels {name}"] = GlobalCounters.kernel_count
    difference = (results[0] - results[1]).abs().max().item()
    return found | {"equal": difference <= 1e-5}
    ### END SOLUTION


# ---- reading a kernel ----------------------------------------------------------------------------


def source_of(tensor):
    """The C source of the last kernel that `tensor` takes, without optimizations."""
    with Context(NOOPT=1):
        item = tensor.schedule()[-1]
        return get_kernel(item.ast, item.bufs[0].device).spec.src


def find_op(source, op):
    """Task 9 (8 points). Where an op is in a kernel's source: a list of the lines it is on, as
    numbers, in order, counted from 1.

    source: C as `source_of` returns it, for floats that are loaded, added, multiplied, put through
    relu and summed. op is one of these:

    "LOAD"   a value is read from memory         float val0 = data1[alu0];
    "STORE"  a value is written to memory        data0[ridx0] = acc0;
    "ADD"    two values are added                val0 + val1
    "MUL"    two values are multiplied           val0 * val1
    "RELU"   negative values become 0            (...) ? 0.0f : alu2
    "SUM"    a sum grows in a loop               acc0 = acc0 + ...

    Leave integers out: they are loops and places in memory. The addition of a SUM is not an ADD.
    You'll be asked about kernels that are not in this file.
    """
    ### BEGIN SOLUTION
    found = []
    for number, line in enumerate(source.splitlines(), 1):
        line = line.strip()
        if not re.match(r"(float )?(val|alu|acc|data)\d+.* = ", line):
            continue  # a loop, an integer, the head of the function
        is_sum = re.match(r"(acc\d+) = \1 \+ ", line)
        value = line[is_sum.end() :] if is_sum else line.split(" = ", 1)[1]
        arithmetic = re.sub(r"\[.*?\]", "", value)
        is_there = {
            "LOAD": re.match(r"data\d+\[", value),
            "STORE": re.match(r"data\d+\[", line),
            "ADD": " + " in arithmetic,
            "MUL": " * " in arithmetic,
            "RELU": "? 0.0f :" in value,
            "SUM": is_sum,
        }
        if is_there[op]:
            found.append(number)
    return found
    ### END SOLUTION


# ---- measurements as text ------------------------------------------------------------------------


def report(rows):
    """Task 10 (8 points). Measurements as text, one line per row, the largest gain first.

    rows: a list of dicts as `compare` returns them, each with a "name" added. The line for "norm",
    with 1 kernel in 2 ms together and 3 kernels in 9 ms apart, is:

    norm: 3 kernels -> 1, 4.5 times as fast

    The gain has one decimal place.
    """
    ### BEGIN SOLUTION
    lines = []
    for row in rows:
        gain = row["seconds apart"] / row["seconds together"]
        kernels = f"{row['kernels apart']} kernels -> {row['kernels together']}"
        lines.append((gain, f"{row['name']}: {kernels}, {gain:.1f} times as fast"))
    return "\n".join(line for _, line in sorted(lines, reverse=True))
    ### END SOLUTION


# ---- run everything ------------------------------------------------------------------------------


def show(title, answer, look=lambda answer: answer):
    """Print an answer, or that there is none yet."""
    is_open = answer is None or answer is ...
    print(f"{title}: {'open' if is_open else look(answer)}")


def quickest(measure, times=5):
    """The same measurement several times, with the least of each time: noise only ever adds."""
    found = [measure() for _ in range(times)]
    if not isinstance(found[0], dict):
        return found[0]
    timed = [name for name in found[0] if name.startswith("seconds")]
    return found[0] | {name: min(each[name] for each in found) for name in timed}


def main():
    a, b = Tensor.rand(512, 512).realize(), Tensor.rand(512, 512).realize()
    pair = Tensor([1.0, 2.0]).realize()

    def expression():
        return (a + b).relu().sum()

    print("1, 2. Factories: shape, dtype, bytes")
    for name, tensor in (factories(3, 4) or {"all of them": None}).items():
        show(f"   {name}", tensor, describe)

    print("3. A checkerboard without data")
    show("   board", checkerboard(4, 6), lambda board: board.tolist())

    print("4. Kernels")
    show("   (a + b).relu().sum()", kernel_count(expression))

    print("5. A chain of kernels")
    show("   values", chain(pair, 4), lambda links: links.tolist())
    show("   kernels", chain(pair, 4), lambda _: kernel_count(lambda: chain(pair, 4)))

    print("6. One pass over memory")
    show("   lines that load", one_pass(a, b), lambda total: find_op(source_of(total), "LOAD"))

    print("7. Before and after realize()")
    show("   kernels, op, kernels, op", before_and_after(expression))

    print("8. Together and apart")
    steps = [lambda t: t + b, lambda t: t.relu(), lambda t: t.sum()]
    measured = quickest(lambda: compare(lambda: a, steps))
    show("   (a + b).relu().sum()", measured)

    print("9. Where the ops are in the source")
    source = source_of(expression())
    print("\n".join(f"   {n:2} {line}" for n, line in enumerate(source.splitlines(), 1)))
    for op in ("LOAD", "ADD", "RELU", "SUM", "STORE"):
        show(f"   {op} on lines", find_op(source, op))

    print("10. A report")
    show("   gain", measured, lambda found: report([found | {"name": "(a + b).relu().sum()"}]))


if __name__ == "__main__":
    main()
