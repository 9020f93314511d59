"""The default schedule: what it does to each kind of kernel, for each kind of machine."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from tests.kernels import body_of, filled, kernel_of, kernels_of, numbers, on_buffer
from tests.reference import evaluate
from tinyframe import Tensor, dtypes, thresholds
from tinyframe.codegen import get_program, scheduled_kernel
from tinyframe.codegen.optimize.loops import Opt, OptOps, axes
from tinyframe.codegen.optimize.plans import CPU, Nest, Plan, Workload, choose, tile_rows
from tinyframe.codegen.optimize.plans import opts_of as opts_of_nest
from tinyframe.codegen.program import ProgramSpec
from tinyframe.renderer import Target
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.run.realize import get_kernel
from tinyframe.thresholds import THREADS_FROM
from tinyframe.tools.plans import main as command
from tinyframe.uop.node import AxisType, Ops, UOp, axis_type, extent

AVX512 = Target(vector_bytes=64, vector_registers=32, threads=2, l1=32 << 10, l2=1 << 20)
AVX2 = Target(vector_bytes=32, vector_registers=16, threads=4, l1=32 << 10, l2=256 << 10)
NEON = Target(vector_bytes=16, vector_registers=32, threads=8, l1=64 << 10, l2=1 << 20)
ONE_CORE = Target(vector_bytes=64, vector_registers=32, threads=1, l1=32 << 10, l2=1 << 20)
NO_VECTORS = Target(vector_bytes=4, vector_registers=8, threads=1, l1=16 << 10, l2=64 << 10)
C = CStyleLanguage(AVX512)
EVERY_TARGET = [AVX512, AVX2, NEON, ONE_CORE, NO_VECTORS]


def compiled(t: Tensor, target: Target = AVX512) -> ProgramSpec:
    return get_program(kernel_of(t), CStyleLanguage(target))


def opts_of(t: Tensor, target: Target = AVX512) -> list[Opt]:
    return compiled(t, target).opts


def sizes(opts: list[Opt], op: OptOps) -> list[int]:
    return [opt.arg for opt in opts if opt.op is op]


# ---- which plan, and what it says ----------------------------------------------------------------

WINDOWS = lambda: on_buffer(4, 8, 12, 12).conv2d(on_buffer(16, 8, 3, 3), padding=1)  # noqa: E731
CHOSEN = {
    "dot products": lambda: on_buffer(12, 784) @ on_buffer(128, 784).T,
    "image by image": WINDOWS,
    "columns, then images": lambda: on_buffer(16, 256, 14, 14).conv2d(
        on_buffer(128, 256, 3, 3), padding=1
    ),
    "lanes along an image": lambda: on_buffer(4, 16, 20, 20).conv2d(
        on_buffer(16, 4, 3, 3), padding=1, groups=4
    ),
    "short sum": lambda: on_buffer(32, 128).T @ on_buffer(32, 784),
    "blocks of rows": lambda: on_buffer(128, 256).T @ on_buffer(128, 96),
    "register tile": lambda: on_buffer(512, 512) @ on_buffer(512, 512),
    "transpose": lambda: on_buffer(64, 48).T.contiguous(),
    "windows of an image": lambda: on_buffer(4, 16, 14, 14).conv2d(
        on_buffer(16, 1, 3, 3), padding=1, groups=16
    ),
    "vectors": lambda: on_buffer(64, 48).softmax(),
}


def test_there_is_an_example_for_every_plan():
    assert list(CHOSEN) == [plan.name for plan in CPU]


@pytest.mark.parametrize("name", CHOSEN)
def test_a_program_knows_the_plan_that_it_follows(name):
    kernel = kernels_of(CHOSEN[name]())[-1]
    program = get_program(kernel, CStyleLanguage(AVX512))
    assert program.plan is not None and program.plan.name == name
    assert get_program(kernel, CStyleLanguage(AVX512), program.opts).plan is None


def with_its_plan(ast: UOp, target: Target) -> tuple[Workload, Nest, list[Opt], UOp]:
    """A kernel as the plans see it, the nest that one chooses for it, and what that gives: Opts,
    and the kernel after them."""
    sink = scheduled_kernel(ast, CStyleLanguage(target))
    kernel = Workload(sink, target)
    nest = choose(kernel, CPU).nest(kernel)
    return kernel, nest, *opts_of_nest(sink, nest)


def inner_loop_of(nest: Nest, split: int) -> int:
    """Iterations of the inner loop of a SPLIT, after the tiles that follow."""
    _, r, size = nest.tiles[split]
    for _, tiled, n in nest.tiles[split + 1 :]:
        size = -(-size // n) if tiled is r else size
    return size


@pytest.mark.parametrize("target", EVERY_TARGET, ids=["AVX-512", "AVX2", "NEON", "one", "none"])
@pytest.mark.parametrize("name", CHOSEN)
def test_every_opt_of_a_plan_is_legal_and_leaves_the_loops_that_its_nest_says(name, target):
    """None is left out, and where there is work for them, all cores take part."""
    kernel, nest, opts, scheduled = with_its_plan(kernels_of(CHOSEN[name]())[-1], target)
    written = [o.op for o in opts if o.op is not OptOps.REORDER]
    assert written == [
        *[op for op, _, _ in nest.tiles],
        *[OptOps.STAGE for _ in nest.panels],
        *[OptOps.THREAD for _ in [nest.thread] if nest.thread is not None],
    ]
    if target.threads > 1 and kernel.table.work > 2 * THREADS_FROM:
        assert nest.thread is not None
    around = [r for r in axes(scheduled) if axis_type(r) in (AxisType.LOOP, AxisType.THREAD)]
    left = [nest.left(r) for r in nest.loops(kernel.around)]
    inner = [inner_loop_of(nest, n) for n, tile in enumerate(nest.tiles) if tile[0] is OptOps.SPLIT]
    assert sorted(map(extent, around)) == sorted([*left, *[n for n in inner if n > 1]])
    if nest.thread is not None:
        assert extent(around[0]) == nest.left(nest.thread)
    assert (nest.thread is not None) == any(axis_type(r) is AxisType.THREAD for r in around)


def test_a_plan_that_was_not_chosen_says_what_it_lacks():
    kernel = Workload(scheduled_kernel(kernel_of(CHOSEN["dot products"]()), C), AVX512)
    assert choose(kernel, CPU).name == "dot products"
    lacks = {plan.name: plan.missing(kernel) for plan in CPU}
    assert lacks["dot products"] is None
    assert lacks["register tile"] is None  # it would apply too, but stands later
    assert lacks["image by image"] == "a padded operand that has the rows"
    assert lacks["transpose"] == "nothing reduced"
    assert list(CPU[-1].needs) == []  # it always applies


def test_a_plan_of_ones_own_is_chosen_and_kernels_are_made_anew():
    x = filled(numbers(64, 32))
    before = (x + 1).realize().numpy()

    def by_row(k: Workload) -> Nest:
        return Nest(((OptOps.UPCAST, k.loops[0], 2),))

    CPU.insert(
        0, mine := Plan("mine", "I say so", {"no reduce": lambda k: not k.table.reduces}, by_row)
    )
    try:
        kernel = get_kernel(kernel_of(filled(numbers(64, 32)) + 1), "CPU")
        assert kernel.spec.plan is mine
        assert kernel.spec.opts == [Opt(OptOps.UPCAST, 0, 2)]
        np.testing.assert_array_equal((x + 1).numpy(), before)
    finally:
        CPU.remove(mine)
    assert get_kernel(kernel_of(filled(numbers(64, 32)) + 1), "CPU").spec.plan is not mine


def test_every_threshold_is_a_row_of_the_table():
    named = {n: v for n, v in vars(thresholds).items() if n.isupper() and n != "TABLE"}
    assert named == {name: row.value for name, row in thresholds.TABLE.items()}
    for row in thresholds.TABLE.values():
        assert row.unit and row.moves and row.origin, row.name


def test_the_plans_can_be_listed_and_asked(capsys):
    assert command([]) == 0
    listed = capsys.readouterr().out
    assert all(f"\n{plan.name}\n" in listed for plan in CPU)
    assert command(["empty(600, 64) @ empty(64, 600)"]) == 0
    told = capsys.readouterr().out
    assert "plan: register tile, because" in told
    assert "before it: image by image; columns, then images: need a padded operand" in told
    assert re.search(r"nest: .*lanes along ridx1", told)
    assert command(["--numbers"]) == 0
    assert "THREADS_FROM = 65536" in capsys.readouterr().out


@pytest.mark.parametrize("wrong", ["empty(3", "1 + 1", "empty(2, 3) @ empty(2, 3)", "nothing"])
def test_an_expression_that_is_no_tensor_is_told_so(wrong, capsys):
    with pytest.raises(SystemExit):
        command([wrong])
    assert repr(wrong) in capsys.readouterr().err


# ---- sums of products ----------------------------------------------------------------------------


def inner_loop(program: ProgramSpec) -> str:
    """The body of the innermost loop that adds to accumulators."""
    innermost = re.findall(r"for \(.*\{\n([^{}]*)\}", body_of(program.src))
    (body,) = [loop for loop in innermost if re.search(r"\bacc\d+ = acc", loop)]
    return body


def accumulators(program: ProgramSpec) -> int:
    """How many the innermost loop adds to: those that have to stay in registers."""
    return len(set(re.findall(r"\bacc\d+\b", inner_loop(program))))


@pytest.mark.parametrize(
    ("target", "lanes", "most"), [(AVX512, 16, 24), (AVX2, 8, 12), (NEON, 4, 24)]
)
def test_a_matmul_is_a_tile_of_vector_accumulators_that_fit_the_registers(target, lanes, most):
    program = compiled(on_buffer(512, 512) @ on_buffer(512, 512), target)
    assert sizes(program.opts, OptOps.VECTOR) == [lanes]
    assert most // 2 <= accumulators(program) <= most <= target.vector_registers - 4


def test_the_inner_loop_of_a_matmul_reads_each_operand_once_and_has_no_condition():
    program = compiled(on_buffer(512, 512) @ on_buffer(512, 512))
    inner = inner_loop(program)
    products, loads = inner.count(" * val"), len(re.findall(r"float\w* val\d+ = ", inner))
    assert products == accumulators(program)
    assert loads == 4 + products // 4
    assert "?" not in inner


def test_a_panel_is_made_only_if_many_rows_read_it():
    few = opts_of(on_buffer(16, 512) @ on_buffer(512, 512))
    many = opts_of(on_buffer(512, 512) @ on_buffer(512, 512))
    assert not sizes(few, OptOps.STAGE)
    assert sizes(many, OptOps.STAGE) == [2]


def test_a_padded_convolution_copies_its_input_so_that_the_inner_loop_has_no_condition():
    program = compiled(on_buffer(4, 32, 28, 28).conv2d(on_buffer(64, 32, 3, 3), padding=1))
    lines = re.findall(r"^ +acc\d+ = acc\d+ \+.*", body_of(program.src), re.MULTILINE)
    assert lines
    assert not any("?" in line for line in lines)
    assert "? data" in program.src  # in the copy


CONTRACTIONS = {
    "L1 distances": lambda x, y, z: (x.unsqueeze(1) - y.T.unsqueeze(0)).abs().sum(axis=-1),
    "max-plus product": lambda x, y, z: (x.unsqueeze(-1) + y.unsqueeze(0)).max(axis=1),
    "three factors": lambda x, y, z: (
        x.unsqueeze(-1) * y.unsqueeze(0) * z[:1].reshape(1, -1, 1)
    ).sum(axis=1),
    "a sum on one side": lambda x, y, z: (x + z) @ y,
}


@pytest.mark.parametrize("name", CONTRACTIONS)
def test_reuse_decides_and_not_what_is_computed(name):
    shapes = (40, 70), (70, 130), (40, 70)
    graph = CONTRACTIONS[name](*[filled(numbers(*shape)) for shape in shapes])
    program = compiled(graph)
    assert program.plan.name == "register tile"
    assert sizes(program.opts, OptOps.VECTOR) == [16]
    np.testing.assert_array_equal(graph.numpy(), evaluate(graph.uop))


# size, vectors side by side, registers, and the rows of the tile
TILES = [(3, 2, 32, 3), (12, 2, 32, 12), (512, 2, 32, 8), (27, 2, 32, 9), (1016, 2, 32, 8)]
TILES += [(15, 2, 16, 5), (28, 4, 32, 4), (30, 4, 32, 6), (1024, 4, 32, 6), (7, 4, 32, 4)]


@pytest.mark.parametrize(("size", "wide", "registers", "rows"), TILES)
def test_rows_of_a_tile_fit_the_registers_and_divide_the_size_well(size, wide, registers, rows):
    assert tile_rows(size, wide, registers) == rows
    assert rows * wide + wide + 1 <= registers
    assert -size % tile_rows(size, wide, registers, exact=True) <= -size % rows


def test_few_rows_have_lanes_along_a_long_sum_that_both_are_contiguous_in():
    x, w = on_buffer(12, 784), on_buffer(128, 784)
    lanes = [Opt(OptOps.VECTOR, 2, 16), Opt(OptOps.UPCAST, 0, 4), Opt(OptOps.UPCAST, 1, 4)]
    assert opts_of(x @ w.T)[:3] == lanes and not sizes(opts_of(x @ w.T), OptOps.STAGE)
    assert sizes(opts_of(on_buffer(512, 784) @ w.T), OptOps.STAGE)  # many rows have a panel
    assert sizes(opts_of(on_buffer(6, 784) @ w.T, AVX2), OptOps.UPCAST) == [3, 3]


LANES = {  # -> the loop that has them: 0 to 3 are rows and columns, or image, channel, y, x
    "a few odd columns": (lambda: on_buffer(1024, 1024) @ on_buffer(1024, 17), 1),
    "of Aᵀ, a few odd columns": (lambda: on_buffer(1024, 1024).T @ on_buffer(1024, 17), 0),
    "columns that are no whole vectors": (lambda: on_buffer(128, 256) @ on_buffer(256, 130), 1),
    "windows that lie apart": (
        lambda: on_buffer(4, 3, 224, 224).conv2d(on_buffer(64, 3, 7, 7), stride=2, padding=3), 1),
    "pixels, none of which is in two windows": (
        lambda: on_buffer(16, 256, 14, 14).conv2d(on_buffer(256, 256, 1, 1)), 2),
    "places that lie apart": (
        lambda: on_buffer(8, 256, 64, 64).conv2d(on_buffer(512, 256, 1, 1), stride=2), 1),
    "windows that don't fill vectors": (
        lambda: on_buffer(4, 16, 100, 100).conv2d(on_buffer(32, 16, 3, 3)), 1),
    "windows that do": (
        lambda: on_buffer(8, 32, 32, 32).conv2d(on_buffer(64, 32, 3, 3), padding=1), 3),
}  # fmt: skip


@pytest.mark.parametrize("name", LANES)
def test_the_loop_that_costs_least_has_the_lanes(name):
    graph, loop = LANES[name]
    kernel = Workload(scheduled_kernel(kernel_of(graph()), C), AVX512)
    assert kernel.around.index(kernel.tile.column) == loop


WIDTHS = [(64, 4), (96, 3), (80, 1), (112, 1), (144, 3), (160, 2), (784, 3), (960, 4)]


@pytest.mark.parametrize(("columns", "wide"), WIDTHS)
def test_a_tile_is_not_so_wide_that_many_columns_are_computed_twice(columns, wide):
    product = kernel_of(on_buffer(960, 512) @ on_buffer(512, columns))
    tile = Workload(scheduled_kernel(product, C), AVX512).tile
    assert extent(tile.column) == columns and tile.wide == wide
    vectors = -(-columns // 16)
    twice = -(-vectors // wide) * wide / vectors - 1
    for other in range(wide + 1, 5):  # any wider one wastes more than this, and more than 5 %
        assert -(-vectors // other) * other / vectors - 1 > max(twice, 0.05)


@pytest.mark.parametrize(("k", "wide"), [(512, 4), (3000, 4), (4096, 3), (6000, 2), (20000, 2)])
def test_a_panel_stays_in_the_second_cache(k, wide):
    target = replace(AVX512, l2=5 << 18)
    opts = opts_of(on_buffer(512, k) @ on_buffer(k, 960), target)
    assert sizes(opts, OptOps.UPCAST)[0] == wide
    assert wide == 2 or k * wide * 64 <= target.l2 * 3 // 4


def test_a_short_sum_goes_through_memory_as_it_lies():
    program = compiled(on_buffer(32, 128).T @ on_buffer(32, 784))
    assert not sizes(program.opts, OptOps.STAGE)
    # rows, among the cores
    assert program.global_size[0] == 128 // sizes(program.opts, OptOps.UPCAST)[-1]
    assert sizes(compiled(on_buffer(512, 128).T @ on_buffer(512, 784)).opts, OptOps.STAGE)


# ---- everything else -----------------------------------------------------------------------------


VECTOR, UPCAST = OptOps.VECTOR, OptOps.UPCAST
BLOCKS = [Opt(UPCAST, 0, 16), Opt(VECTOR, 1, 16)]
FIRST_OPTS = [
    # vectors run along contiguous memory, with the lanes of the widest type
    (lambda: on_buffer(4096) + 1, [Opt(VECTOR, 0, 16)]),
    (lambda: on_buffer(64, 48) + on_buffer(64, 1), [Opt(VECTOR, 1, 16)]),
    (lambda: on_buffer(64, 48).sum(axis=0), [Opt(VECTOR, 0, 16)]),
    (lambda: on_buffer(4096, dtype=dtypes.double) + 1, [Opt(VECTOR, 0, 8)]),
    (lambda: on_buffer(4096, dtype=dtypes.int8) + 1, [Opt(VECTOR, 0, 64)]),
    # several rows or a wide column are summed at once
    (lambda: on_buffer(64, 48).sum(axis=1), [Opt(VECTOR, 1, 16), Opt(UPCAST, 0, 2)]),
    (lambda: on_buffer(4096, 4096).sum(axis=1), [Opt(VECTOR, 1, 16), Opt(UPCAST, 0, 8)]),
    (lambda: on_buffer(4096, 4096).sum(axis=0), [Opt(VECTOR, 0, 16), Opt(UPCAST, 0, 16)]),
    # what is transposed is done in blocks
    (lambda: on_buffer(64, 48).T.contiguous(), BLOCKS),
    (lambda: on_buffer(48, 64) + on_buffer(64, 48).T, BLOCKS),
]


def rows_of_exponentials(rows: int, columns: int) -> Tensor:
    x, y = (filled(numbers(*shape)) for shape in ((1, columns), (rows, columns)))
    return (x.exp() * y).fuse()


@pytest.mark.parametrize(("rows", "columns"), [(2, 16), (3, 40), (2, 1000)])
def test_what_most_of_the_work_does_not_depend_on_is_done_side_by_side(rows, columns):
    program = compiled(rows_of_exponentials(rows, columns))
    assert Opt(UPCAST, 0, rows) in program.opts
    x, y = numbers(1, columns), numbers(rows, columns)
    found = rows_of_exponentials(rows, columns).numpy()
    np.testing.assert_allclose(found, np.exp(x) * y, rtol=1e-6)


def test_work_that_depends_on_every_loop_is_not_done_side_by_side():
    x, y = on_buffer(1, 1000), on_buffer(2, 1000)
    for graph in ((x + y).exp(), x.exp() * y.exp(), x * y):
        assert not sizes(opts_of(graph.fuse()), UPCAST)


@pytest.mark.parametrize(("graph", "first"), FIRST_OPTS)
def test_a_kernel_begins_with_these_opts(graph, first):
    assert opts_of(graph())[: len(first)] == first


def test_a_machine_without_vectors_gets_none():
    x = on_buffer(64, 64)
    for graph in (x @ x, x.exp(), x.sum(axis=1)):
        assert not sizes(opts_of(graph, NO_VECTORS), OptOps.VECTOR)


def test_threads_only_where_there_is_work_for_them():
    enough, little = (on_buffer(n) + 1 for n in (2 * THREADS_FROM, THREADS_FROM // 2))
    assert [o.op for o in opts_of(enough)][-1] is OptOps.THREAD
    assert OptOps.THREAD not in [o.op for o in opts_of(little)]
    assert OptOps.THREAD not in [o.op for o in opts_of(enough, ONE_CORE)]
    product = on_buffer(512, 512) @ on_buffer(512, 512)
    assert OptOps.THREAD in [o.op for o in opts_of(product)]
    assert OptOps.THREAD not in [o.op for o in opts_of(product, ONE_CORE)]


@pytest.mark.parametrize("size", [240, 251])
def test_a_transposed_operand_is_copied_a_block_of_rows_at_a_time(size):
    x, y = numbers(128, size), numbers(128, 96, seed=1)
    program = compiled(filled(x).T @ filled(y))
    assert [opt.axis for opt in program.opts if opt.op is OptOps.STAGE] == [0, 1]
    np.testing.assert_array_equal((filled(x).T @ filled(y)).numpy(), x.T @ y)


def test_a_panel_is_split_as_the_register_tile_is():
    """What one tile reads of a block of rows lies side by side: [tile][k][row]."""
    product = kernel_of(on_buffer(128, 240).T @ on_buffer(128, 96))
    kernel, nest, _, scheduled = with_its_plan(product, AVX512)
    high = kernel.tile.high
    row = kernel.tile.row
    (block,) = [n // high for op, r, n in nest.tiles if (op, r) == (OptOps.SPLIT, row)]
    panels = [u for u in scheduled.toposort() if u.op is Ops.STAGE]
    assert [block, 128, high] in [[extent(r) for r in u.own_ranges] for u in panels]


def test_rows_that_are_computed_on_the_way_are_copied_as_blocks():
    half = dtypes.half
    for product, plan in (
        (on_buffer(512, 512, dtype=half) @ on_buffer(512, 512, dtype=half), "blocks of rows"),
        ((on_buffer(512, 512) * 2) @ on_buffer(512, 512), "blocks of rows"),
        (on_buffer(512, 512) @ (on_buffer(512, 512) * 2), "register tile"),
        (on_buffer(512, 512) @ on_buffer(512, 512), "register tile"),
    ):
        assert choose(Workload(scheduled_kernel(kernel_of(product), C), AVX512), CPU).name == plan
