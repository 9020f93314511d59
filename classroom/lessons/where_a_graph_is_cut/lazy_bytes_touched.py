"""Bytes of a schedule

Hint: Two loops, one inside the other: over the items, and over each item's `bufs`.
Hint: A buffer's `size` counts elements; its `nbytes` counts bytes.
Because: `nbytes` is size times bytes per element, whatever the dtype. A buffer that one kernel
writes and the next one reads is touched twice, so it counts twice.
Right: A schedule names all the memory it will use before a single byte is read.
"""

from classroom.ask import call, fresh_sizes, fresh_tensor, same_number, whole_number
from classroom.exercise import Wrong, wrong_if


def check(answer) -> None:
    """answer(items): the bytes of all buffers that a schedule's items name, item by item."""
    n, m = fresh_sizes(2)
    cases = {
        "`(a + b).sum()`, for `a` and `b` of 5 floats": (
            lambda: (fresh_tensor(5) + fresh_tensor(5)).sum()
        ),
        "`a.double() * 2`, for `a` of 5 floats": lambda: fresh_tensor(5).double() * 2,
        "`a / a.sum()`, for `a` of 5 floats": lambda: (a := fresh_tensor(5)) / a.sum(),
        "": lambda: fresh_tensor(n, m).half().sum(axis=1),
    }
    for case, make in cases.items():
        items = make().schedule()
        expected = sum(buf.size * buf.dtype.itemsize for item in items for buf in item.bufs)
        got = whole_number(call(answer, items), case)
        for mistake, words in (
            (
                sum({buf: buf.nbytes for item in items for buf in item.bufs}.values()),
                "You counted each buffer once. A buffer that's in two items counts twice.",
            ),
            (
                4 * sum(buf.size for item in items for buf in item.bufs),
                "You took 4 bytes for every element, and a double has 8.",
            ),
        ):
            wrong_if(case and got == mistake != expected, words, case, expected, got)
        if case:
            same_number(got, expected, case, "bytes")
        elif got != expected:
            raise Wrong("The three small schedules are right, and a larger one is wrong.")

# %% wrong, each line
lambda items: len(items)  # says 43 too few
lambda items: 4 * sum(b.size for i in items for b in i.bufs)  # says a double has 8
lambda items: sum(b.size * max(4, b.dtype.itemsize) for i in items for b in i.bufs)  # says a larger one is wrong

# %% right, each line
lambda items: sum(b.size * b.dtype.itemsize for i in items for b in i.bufs)
