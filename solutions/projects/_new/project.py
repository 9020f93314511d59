"""Project NUMBER: TITLE.

Say in a sentence or two what somebody can do afterwards.

    python projects/FILE
        runs everything and prints a report
    python -m classroom grade projects/FILE
        100 points, and a hint for each miss

There are two functions to write. Each one says what it is given and what it should return; replace
the `...` with your code. You may add functions of your own. Run the file as often as you like: a
task you have not written yet is simply called open.

You need parts 1 to 4 of the course, and about three hours.
"""

from tinyframe import Tensor


def weighted(x, weights):
    """Task 1 (48 points). The sum of each row of x, every value times its weight: a Tensor that
    isn't computed yet, and that takes one kernel.

    x: a Tensor of shape (rows, columns). weights: one of shape (columns,).
    """
    ### BEGIN SOLUTION
    return (x * weights).sum(axis=1)
    ### END SOLUTION


def kernels_of(build):
    """Task 2 (52 points). How many kernels it takes to compute a Tensor: an integer.

    build: a function without arguments; each call returns the Tensor again, not computed yet.
    kernels_of(lambda: (x + 1).contiguous() * 2) is 2.
    """
    ### BEGIN SOLUTION
    return len(build().schedule())
    ### END SOLUTION


# ---- the report ----------------------------------------------------------------------------------


def show(title, answer, look=lambda answer: answer):
    """Print an answer, or that there is none yet."""
    is_open = answer is None or answer is ...
    print(f"{title}: {'open' if is_open else look(answer)}")


def main():
    x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    print("\n1. Weighted sums")
    found = weighted(x, Tensor([1.0, 10.0, 100.0]))
    show("   of two rows", found, lambda found: found.tolist())
    print("\n2. Kernels")
    show("   of (x + 1) * 2", kernels_of(lambda: (x + 1) * 2))


if __name__ == "__main__":
    main()
