"""The planted bugs, one row each.

`old` is a short text that the sources of tinyframe and classroom have exactly once between them, in
whichever file: so a row survives a file that is renamed or merged. `tests` are the files in which
at least one test has to fail, those that fail soonest.
"""

from __future__ import annotations

from typing import NamedTuple


class Mutation(NamedTuple):
    """One bug: `new` in place of `old`, and why that is wrong."""

    name: str
    old: str
    new: str
    why: str
    tests: tuple[str, ...]


MUTATIONS = [
    # ---- rewrite rules, algebra, bounds ----------------------------------------------------------
    Mutation(
        "mask-of-holes",
        "return x if is_mask and 0 <= x.vmin",
        "return x if 0 <= x.vmin",
        "x & 0b101 is x only where the mask has no holes",
        ("tests/unit/test_symbolic.py",),
    ),
    Mutation(
        "choice-of-true",
        "(where(c, x, true), lambda c, x: negated(c) | x)",
        "(where(c, x, true), lambda c, x: c | x)",
        "where(c, x, True) is True where c is False",
        ("tests/unit/test_symbolic.py",),
    ),
    Mutation(
        "inexact-inverse",
        "if abs(math.frexp(c.arg)[0]) != 0.5:",
        "if not math.isfinite(c.arg) or c.arg == 0:",
        "x / 3 and x * (1/3) differ in the last bit",
        ("tests/unit/test_symbolic.py", "tests/ops/test_elementwise.py"),
    ),
    Mutation(
        "cast-keeps-too-much",
        "narrows = dtypes.is_int(u.dtype) and u.dtype.itemsize <= middle.itemsize",
        "narrows = dtypes.is_int(u.dtype)",
        "300 by way of int8 is 44, whatever it is cast to afterwards",
        ("tests/unit/test_symbolic.py",),
    ),
    Mutation(
        "sums-never-wrap",
        "return ts if fits(u.dtype, *bounds_of(ts)) else {u: 1}",
        "return ts",
        "(x + 1) // 2 is not what its terms say where x + 1 wraps around",
        ("tests/unit/test_symbolic.py", "tests/unit/test_dtype.py"),
    ),
    Mutation(
        "quotient-of-quotient",
        "inside = plus(exact_terms(x), {None: k * a})",
        "inside = plus(exact_terms(x), {None: k})",
        "(x//a + k) // c is (x + k*a) // (a*c)",
        ("tests/unit/test_symbolic.py",),
    ),
    Mutation(
        "bound-of-remainder",
        "return (x if x[1] < low else (0, min(x[1], high - 1)))",
        "return (x if x[1] <= low else (0, min(x[1], high - 1)))",
        "4 % 4 is 0, so 0..4 % 4 does not reach 4, and its smallest value need not be x's",
        ("tests/unit/test_bounds.py",),
    ),
    Mutation(
        "bound-of-less",
        "Ops.CMPLT: lambda x, y: (x[1] < y[0], x[0] < y[1]),",
        "Ops.CMPLT: lambda x, y: (x[1] <= y[0], x[0] < y[1]),",
        "3 < 3 is not sure to be true",
        ("tests/unit/test_bounds.py",),
    ),
    # ---- gradients -------------------------------------------------------------------------------
    Mutation(
        "gradient-of-exponent",
        "flat.where(x.const_like(1), x).log2() * math.log(2)",
        "flat.where(x.const_like(1), x).log2()",
        "the derivative of x**y by y has the natural logarithm",
        ("tests/ops/test_gradient.py",),
    ),
    Mutation(
        "gradient-of-a-tie",
        "tie = x.eq(y).where(grad * 0.5, grad)",
        "tie = grad",
        "two equal maxima would get the gradient twice",
        ("tests/ops/test_gradient.py",),
    ),
    Mutation(
        "maxima-counted-in-half",
        "count = largest.cast(sum_acc_dtype(grad.dtype)).reduce_axis(Ops.ADD, z.arg[1])",
        "count = sum_to(largest.cast(grad.dtype), z.arg[1])",
        "a half ends at 65504, and the share of each of more equal maxima would be 0",
        ("tests/ops/test_gradient.py",),
    ),
    Mutation(
        "limit-behind-a-logarithm",
        "return self.le(1e-38).where(self.detach(), self).log().clip(min=-100)",
        "return self.log().clip(min=-100)",
        "the gradient at a probability of 0 would be 0 * inf",
        ("tests/ops/test_losses.py",),
    ),
    Mutation(
        "gradient-of-modulo",
        "lambda grad, z, x, y: (grad, grad * ((z - x) / y))",
        "lambda grad, z, x, y: (grad, grad * ((x - z) / y))",
        "x % y falls as y grows",
        ("tests/ops/test_gradient.py",),
    ),
    # ---- fusion, scheduling, order in memory -----------------------------------------------------
    Mutation(
        "reduce-computed-twice",
        "if len({use.kernel for use in uses}) > 1:",
        "if len({use.kernel for use in uses}) > 2:",
        "two kernels would both compute the same reduce",
        ("tests/unit/test_fuse.py", "tests/unit/test_schedule.py"),
    ),
    Mutation(
        "kernels-without-end",
        "if u.device is not None and any(",
        "if u.device is None and any(",
        "one kernel of thousands of statements takes its compiler minutes",
        ("tests/unit/test_growth.py", "tests/unit/test_fuse.py"),
    ),
    Mutation(
        "overwritten-before-read",
        "after[w][n] = None",
        "after[w].pop(n, None)",
        "a kernel that reads the old value has to run before the one that overwrites it",
        ("tests/ops/test_laziness.py", "tests/unit/test_schedule.py"),
    ),
    Mutation(
        "windows-that-overlap-are-written",
        "return dilation * (size - 1) < stride",
        "return dilation * (size - 2) < stride",
        "an element that is in two windows cannot be assigned through both",
        ("tests/ops/test_laziness.py", "tests/ops/test_memory_order.py"),
    ),
    Mutation(
        "store-before-load",
        "reads.setdefault(store_of[u.src[0]], []).append(u)",
        "reads.setdefault(store_of[u.src[0]], [])",
        "in place, an element is read before it is overwritten",
        ("tests/unit/test_linearize.py", "tests/ops/test_memory_order.py"),
    ),
    Mutation(
        "former-values-forgotten",
        'append_weak(self.uop.__dict__.setdefault("_earlier_storages", []), weakref.ref(self))',
        'self.uop.__dict__.setdefault("_earlier_storages", [])',
        "a gradient could not find the value that a parameter had before its step",
        ("tests/ops/test_history.py",),
    ),
    # ---- opts, indices ---------------------------------------------------------------------------
    Mutation(
        "last-tile-counts-twice",
        "counted, exists = index < start, UOp.const(dtypes.bool, True)",
        "counted, exists = index < start - 1, UOp.const(dtypes.bool, True)",
        "a tile that is moved back would add an element that the one before it has added",
        ("tests/unit/test_loops.py",),
    ),
    Mutation(
        "threads-inside-of-a-loop",
        "if any(first is not r for first in outermost):",
        "if any(first is None for first in outermost):",
        "only the outermost loop can be divided among cores",
        ("tests/unit/test_loops.py",),
    ),
    Mutation(
        "copies-lose-their-offset",
        "offset = ts.pop(None, 0) + constants",
        "offset = ts.pop(None, 0) * 0 + constants",
        "x[i + 1] in the copy i = 2 is x[3]",
        ("tests/unit/test_expand.py", "tests/unit/test_loops.py"),
    ),
    Mutation(
        "lanes-side-by-side",
        "None if step == 1 else step)]",
        "None)]",
        "lanes that lie 4 apart would be loaded as neighbours",
        ("tests/unit/test_expand.py", "tests/unit/test_loops.py"),
    ),
    Mutation(
        "flip-off-by-one",
        "return tuple(s - 1 - i if flip else i for i, s, flip",
        "return tuple(s - i if flip else i for i, s, flip",
        "the last of 4 elements has the index 3",
        ("tests/ops/test_movement.py", "tests/unit/test_ranges.py"),
    ),
    Mutation(
        "guard-of-what-is-read",
        "_DONE_ANYWAY = (Ops.LOAD, Ops.REDUCE, Ops.SCAN)",
        "_DONE_ANYWAY = ()",
        "what is read for an index is read where the index's condition fails, too",
        ("tests/unit/test_symbolic.py", "tests/fuzz/test_guards.py"),
    ),
    Mutation(
        "condition-on-a-variable",
        "if c.ranges else c.unknowns & index.unknowns",
        "if c.ranges else ()",
        "the element that a Variable picks of a padding may be one that there isn't",
        ("tests/fuzz/test_guards.py",),
    ),
    # ---- decompositions --------------------------------------------------------------------------
    Mutation(
        "remainder-of-power-of-two",
        "is None else x & (y.arg - 1)",
        "is None else x & y.arg",
        "x % 8 is x & 7",
        ("tests/unit/test_decompose.py",),
    ),
    Mutation(
        "floor-of-exact-quotients",
        "return ((rest ^ y) < 0) & rest.ne(0)",
        "return (rest ^ y) < 0",
        "-6 // 3 leaves no rest, and is not rounded down",
        ("tests/unit/test_decompose.py",),
    ),
    Mutation(
        "ties-away-from-even",
        "rounded = bits + 0x7FFF + ((bits >> 16) & 1)",
        "rounded = bits + 0x8000",
        "a tie goes to the even bfloat16",
        ("tests/unit/test_decompose.py",),
    ),
    Mutation(
        "sign-of-a-power",
        "is_odd = whole & (number & 1).ne(0)",
        "is_odd = whole",
        "(-2) ** 2 is positive",
        ("tests/unit/test_decompose.py", "tests/ops/test_elementwise.py"),
    ),
    # ---- renderers, barriers ---------------------------------------------------------------------
    Mutation(
        "c-less-or-equal",
        'Ops.CMPLE: infix("<="),',
        'Ops.CMPLE: infix("<"),',
        "2 <= 2",
        ("tests/unit/test_cstyle.py", "tests/backends/test_every_op.py"),
    ),
    Mutation(
        "opencl-lanes-in-decimal",
        "{name}.s{n:x};",
        "{name}.s{n};",
        "OpenCL's lane 10 is .sa",
        ("tests/backends/test_opencl.py::test_lanes_that_lie_apart_are_stored_one_by_one",),
    ),
    Mutation(
        "cuda-bits-converted",
        "text = f\"__{'_as_'.join(VECTOR_WORDS.get(d, d.name) for d in kinds)}({given})\"",
        'text = f"({dtype.name})({given})"',
        "a bitcast keeps the bits, not the number",
        ("tests/backends/test_cuda_source.py", "tests/backends/test_every_op.py"),
    ),
    Mutation(
        "wgsl-narrow-integers",
        'return f"extractBits({text}, 0u, {dtype.bits}u)" if is_narrow else text',
        "return text",
        "300 as uint8 is 44",
        ("tests/unit/test_wgsl.py", "tests/backends/test_webgpu.py"),
    ),
    Mutation(
        "barrier-before-a-store",
        "if stores & read or loads & written:",
        "if loads & written:",
        "a thread would overwrite what another still has to read",
        ("tests/backends/test_blocks.py",),
    ),
    Mutation(
        "barrier-of-the-round-before",
        "written, read, end = written | stores, read | loads, n",
        "written, read, end = written, read, n",
        "a loop's second round overwrites what other threads read in the first",
        ("tests/backends/test_blocks.py",),
    ),
    # ---- dtypes, random numbers, the cache -------------------------------------------------------
    Mutation(
        "uint8-with-int8",
        "dtypes.uint8: (dtypes.int16, dtypes.uint16),",
        "dtypes.uint8: (dtypes.uint16,),",
        "int8 with uint8 is int16 in JAX's lattice",
        ("tests/unit/test_dtype.py",),
    ),
    Mutation(
        "random-numbers-again",
        "first, Random._counter = Random._counter, Random._counter + count",
        "first, Random._counter = Random._counter, Random._counter + 1",
        "the second rand() would repeat all but one number of the first",
        ("tests/ops/test_random.py",),
    ),
    Mutation(
        "damaged-entries-are-read",
        "intact = contents.endswith(MARK) and hashlib.sha256(data).digest() == checksum",
        "intact = contents.endswith(MARK)",
        "an entry with a wrong byte would be loaded as code",
        ("tests/backends/test_cache.py",),
    ),
    # ---- TinyJit, nn -----------------------------------------------------------------------------
    Mutation(
        "jit-repeats-its-random-numbers",
        "refill(buffer)",
        "pass",
        "a replay draws new random numbers, as the function would",
        ("tests/ops/test_random.py",),
    ),
    Mutation(
        "jit-keeps-the-old-constant",
        "(storage := known.storage()) is not None and storage.uop is not known.uop",
        "(storage := known.storage()) is not None and storage is None",
        "a constant that a kernel holds as a number has been assigned another",
        ("tests/nn/test_jit_state.py",),
    ),
    Mutation(
        "adam-without-its-square",
        "v * self.b2 + g.square() * (1 - self.b2)",
        "v * self.b2 + g.abs() * (1 - self.b2)",
        "v is the mean of the square of the gradient",
        ("tests/nn/test_optim.py", "tests/torch/test_nn_optim.py"),
    ),
    Mutation(
        "biased-running-variance",
        "(self.running_var, variance * (count / (count - 1))),",
        "(self.running_var, variance),",
        "BatchNorm keeps the unbiased variance",
        ("tests/nn/test_layers.py", "tests/torch/test_nn_layers.py"),
    ),
    # ---- the course ------------------------------------------------------------------------------
    Mutation(
        "graded-by-too-many-points",
        "return _row(check, check.points * len(right) // len(parts), [head, *others], lines)",
        "return _row(check, check.points, [head, *named], lines)",
        "half of the parts give half of the points",
        ("tests/grader/test_tasks.py",),
    ),
    Mutation(
        "points-lost-with-the-file",
        'if self.report is not None and status != "refused":',
        'if self.report is None and status != "refused":',
        "a student whose file has gone keeps the points of an earlier run",
        ("tests/gradebook/test_grade_class.py",),
    ),
    Mutation(
        "untouched-tuple-is-judged",
        "return any(item is ... for item in answer)",
        "return all(item is ... for item in answer)",
        "an answer with one of two blanks filled in is still open",
        ("tests/classroom/test_feedback.py", "tests/classroom/test_exercises.py"),
    ),
    Mutation(
        "answers-lost-in-an-update",
        "return [] if said(mine) == said(base) else [mine]",
        "return []",
        "what the learner wrote in a cell that the course drops stays",
        ("tests/classroom/test_merge.py",),
    ),
    # ---- panels of a GPU -------------------------------------------------------------------------
    Mutation(
        "last-vectors-unguarded",
        "valid = all_of([valid, vector < vectors])",
        "valid = all_of([valid])",
        "threads beyond the last vector write beyond the panel",
        ("tests/backends/test_gpu_plans.py", "tests/backends/test_tensor_cores.py"),
    ),
    Mutation(
        "waits-one-too-few",
        "(next(self.numbers), self.n - 2)",
        "(next(self.numbers), self.n - 1)",
        "a panel is read before the copies to it have arrived",
        ("tests/backends/test_gpu_instructions.py",),
    ),
    Mutation(
        "halves-of-matrices-swapped",
        "return line * 4 + half * (MATRIX // run(form)), lower, thread * 0",
        "return line * 4 + lower * (MATRIX // run(form)), half, thread * 0",
        "an MMA's operands are multiplied in different orders",
        ("tests/backends/test_tensor_cores.py",),
    ),
    Mutation(
        "reads-ahead-of-the-sum",
        "filled = self.at(fill, self.loop + 1, self.loop + 1 < self.loop.src[0])",
        "filled = self.at(fill, self.loop + 1)",
        "the last iteration reads memory behind the operands",
        ("tests/backends/test_gpu_plans.py", "tests/backends/test_gpu_instructions.py"),
    ),
]
