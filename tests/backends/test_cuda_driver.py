"""What is asked of NVIDIA's driver, and in which order; the driver here is one of ours.

It keeps memory in this process, notes each call, and fails where it is told to. What it cannot
show is that a GPU computes the right thing.
"""

from __future__ import annotations

import ctypes
import enum
import itertools
import random
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest

from classroom import devices
from tests.fuzz.interrupts import Interrupted
from tinyframe import Device, Tensor, TinyJit, dtypes
from tinyframe.device import Buffer, Compiler, DeviceUnavailable, buffer_of
from tinyframe.gpu.drivers import cuda
from tinyframe.run.realize import CompiledKernel
from tinyframe.tools import card

CUresult = enum.IntEnum(
    "CUresult",
    ["CUDA_SUCCESS", "CUDA_ERROR_OUT_OF_MEMORY", "CUDA_ERROR_ILLEGAL_ADDRESS",
     "CUDA_ERROR_INVALID_VALUE", "CUDA_ERROR_LAUNCH_FAILED", "CUDA_ERROR_LAUNCH_TIMEOUT",
     "CUDA_ERROR_ECC_UNCORRECTABLE", "CUDA_ERROR_DEVICE_UNAVAILABLE"],
    start=0,
)  # fmt: skip


class Driver:
    """The functions of cuda.bindings.driver that we call."""

    CUresult = CUresult
    CUstream_flags = SimpleNamespace(CU_STREAM_NON_BLOCKING=1)
    CUevent_flags = SimpleNamespace(CU_EVENT_DISABLE_TIMING=2)
    CUfunction_attribute = SimpleNamespace(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES="most")
    CUDA_KERNEL_NODE_PARAMS = SimpleNamespace
    ATTRIBUTES = {"COMPUTE_CAPABILITY_MAJOR": 8, "COMPUTE_CAPABILITY_MINOR": 6, "WARP_SIZE": 32,
                  "MAX_THREADS_PER_BLOCK": 1024, "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 99 << 10,
                  "L2_CACHE_SIZE": 4 << 20, "MAX_GRID_DIM_X": 2**31 - 1, "MAX_GRID_DIM_Y": 65535,
                  "MAX_GRID_DIM_Z": 65535, "MULTIPROCESSOR_COUNT": 40, "CLOCK_RATE": 1_500_000,
                  "MEMORY_CLOCK_RATE": 5_000_000, "GLOBAL_MEMORY_BUS_WIDTH": 256}  # fmt: skip
    CUdevice_attribute = SimpleNamespace(
        **{f"CU_DEVICE_ATTRIBUTE_{name}": name for name in ATTRIBUTES}
    )

    def __init__(self) -> None:
        self.calls: list[tuple] = []
        self.memory: dict[int, ctypes.Array] = {}
        self.room = 64 << 20
        self.fails: dict[str, CUresult] = {}
        self.handles = 0
        self.nodes: dict[int, tuple] = {}  # the launch of each node, and whether it is enabled
        self.launched: list[tuple] = []

    def __getattr__(self, name: str):
        if not name.startswith("cu"):
            raise AttributeError(name)
        known = getattr(type(self), f"do_{name}", None)

        def function(*arguments):
            self.calls.append((name, *arguments))
            if name in self.fails:
                return (self.fails[name],)
            return known(self, *arguments) if known else (CUresult.CUDA_SUCCESS, self.handle())

        return function

    def handle(self) -> int:
        self.handles += 1
        return self.handles

    def do_cuGetErrorString(self, status):
        return CUresult.CUDA_SUCCESS, status.name.lower().encode()

    def do_cuDeviceGetCount(self):
        return CUresult.CUDA_SUCCESS, 2

    def do_cuDeviceGetName(self, length, gpu):
        return CUresult.CUDA_SUCCESS, b"NVIDIA X1\0\0"

    def do_cuDeviceTotalMem(self, gpu):
        return CUresult.CUDA_SUCCESS, 12 << 30

    def do_cuDeviceGetAttribute(self, name, gpu):
        return CUresult.CUDA_SUCCESS, self.ATTRIBUTES[name]

    def do_cuMemAlloc(self, size):
        if size > self.room:
            return CUresult.CUDA_ERROR_OUT_OF_MEMORY, None
        self.room -= size
        array = (ctypes.c_ubyte * size)()
        self.memory[ctypes.addressof(array)] = array
        return CUresult.CUDA_SUCCESS, ctypes.addressof(array)

    def do_cuMemHostAlloc(self, size, flags):
        return self.do_cuMemAlloc(size)

    def do_cuMemFree(self, address):
        self.room += ctypes.sizeof(self.memory.pop(address))
        return (CUresult.CUDA_SUCCESS,)

    def do_cuMemcpyHtoDAsync(self, target, source, size, stream):
        ctypes.memmove(target, source, size)
        return (CUresult.CUDA_SUCCESS,)

    do_cuMemcpyDtoHAsync = do_cuMemcpyHtoDAsync

    def do_cuEventElapsedTime(self, start, end):
        return CUresult.CUDA_SUCCESS, 2.5

    def do_cuLaunchKernel(self, function, *rest):
        self.calls[-1] = ("cuLaunchKernel", function, rest[:6], given(rest[8], 3))
        self.launched.append(self.calls[-1][1:])
        return (accepted(*rest[:3]),)

    def do_cuGraphCreate(self, flags):
        self.nodes = {}  # the tests have one graph at a time
        return CUresult.CUDA_SUCCESS, self.handle()

    def do_cuGraphAddKernelNode(self, graph, before, count, parameters):
        node = self.handle()
        self.nodes[node] = launch_of(parameters), 1
        self.calls[-1] = ("cuGraphAddKernelNode", list(before), given(parameters.kernelParams, 3))
        return accepted(parameters.gridDimX), node

    def do_cuGraphExecKernelNodeSetParams(self, started, node, parameters):
        launch = launch_of(parameters)
        self.nodes[node] = launch, self.nodes[node][1]
        self.calls[-1] = ("set", node, *launch)
        return (accepted(parameters.gridDimX),)

    def do_cuGraphNodeSetEnabled(self, started, node, is_enabled):
        self.nodes[node] = self.nodes[node][0], is_enabled
        return (CUresult.CUDA_SUCCESS,)

    def do_cuGraphLaunch(self, started, stream):
        self.launched += [launch for launch, is_enabled in self.nodes.values() if is_enabled]
        return (CUresult.CUDA_SUCCESS,)

    def names(self, *without: str) -> list[str]:
        return [c[0] for c in self.calls if c[0] not in ("cuCtxSetCurrent", *without)]


def accepted(*grid: int) -> CUresult:
    """A driver refuses a grid without blocks."""
    return CUresult.CUDA_ERROR_INVALID_VALUE if 0 in grid else CUresult.CUDA_SUCCESS


def launch_of(parameters) -> tuple:
    """A node's function, its sizes, and its arguments, as of a launch."""
    sizes = [getattr(parameters, f"{of}Dim{axis}") for of in ("grid", "block") for axis in "XYZ"]
    return parameters.func, tuple(sizes), given(parameters.kernelParams, 3)


def given(pointers: int, count: int) -> list[int]:
    """The values of a kernel's arguments, each of 8 bytes."""
    places = (ctypes.c_int64 * count).from_address(pointers)
    return [ctypes.c_int64.from_address(place).value for place in places]


class CompilerFor(Compiler):
    def __init__(self, architecture: str) -> None:
        self.for_ = architecture


@pytest.fixture
def driver(monkeypatch) -> Iterator[Driver]:
    ours = Driver()
    monkeypatch.setattr(cuda, "driver", lambda: ours)
    monkeypatch.setattr(cuda, "architecture_for", lambda major, minor: f"sm_{major}{minor}")
    monkeypatch.setattr(cuda, "NVRTC", CompilerFor)
    monkeypatch.setattr(Device, "_opened", {})
    monkeypatch.setenv("CUDA_EMULATE", "0")
    yield ours


def test_a_GPU_says_what_its_schedules_may_use(driver):
    device = Device["CUDA"]
    assert device.compiler.for_ == "sm_86"
    assert device.renderer.target.block_threads == 1024
    assert device.renderer.target.shared_bytes == 99 << 10
    assert device.renderer.target.grid == (2**31 - 1, 65535, 65535)
    assert driver.names()[:4] == ["cuDeviceGetCount", "cuDeviceGet", "cuDevicePrimaryCtxRetain",
                                  "cuStreamCreate"]  # fmt: skip


def test_doctor_tells_what_a_GPU_is_and_how_much_of_it_our_kernels_use(driver, monkeypatch, capsys):
    assert devices.main(["CUDA"]) == 0
    assert capsys.readouterr().out == "NVIDIA X1 (sm_86, 12.0 GiB)\n"
    monkeypatch.setattr(card, "reached", lambda device: (240e9, 7.68e12))
    assert devices.main(["CUDA", "--measure"]) == 0
    # 2 * 5 GHz * 256 bits, and 2 * 1.5 GHz * 40 multiprocessors of 128 multiply-adds
    assert capsys.readouterr().out == (
        "NVIDIA X1 (sm_86, 12.0 GiB): copies at 240 GB/s, 75% of what its clocks allow; float32 "
        "products at 7.7 TFLOP/s, 50% of what its clocks allow\n"
    )
    driver.ATTRIBUTES = driver.ATTRIBUTES | {"COMPUTE_CAPABILITY_MINOR": 0, "CLOCK_RATE": 0}
    assert "7.7 TFLOP/s\n" in [devices.main(["CUDA", "--measure"]), capsys.readouterr().out][1]


def test_a_rate_is_of_launches_that_take_long_enough_together(monkeypatch):
    seconds = [0.0]
    monkeypatch.setattr(card.time, "perf_counter", lambda: seconds[0])

    def step() -> None:
        seconds[0] += 0.125

    assert card.rate(step, lambda: None, 10.0) == 80


def test_a_copy_and_a_product_are_measured(monkeypatch):
    done: list[float] = []
    monkeypatch.setattr(card, "rate", lambda step, wait, work: done.append(work) or step().sum())
    copied, multiplied = card.reached("CPU", 1 << 12, 8)
    assert done == [2 << 12, 2 * 8**3]  # bytes, and operations
    assert (copied.item(), multiplied.item()) == (2 * 1024, 8**3)


def test_a_GPU_that_is_not_there(driver):
    with pytest.raises(DeviceUnavailable, match="no GPU number 2, only 2.*CUDA_EMULATE=1"):
        Device["CUDA:2"]


@pytest.mark.parametrize("pieces", [0, 0.5, 1, 1.25, 2, 3.5])
def test_copies_of_any_size_by_way_of_two_halves(driver, pieces, monkeypatch):
    monkeypatch.setattr(cuda, "STAGING_BYTES", 64)
    data = np.random.default_rng(0).integers(0, 256, max(int(64 * pieces), 1)).astype(np.uint8)
    buffer = Buffer("CUDA", len(data), dtypes.uchar, initial_value=data.tobytes())
    np.testing.assert_array_equal(buffer.numpy(), data)


def test_a_half_is_not_filled_before_the_GPU_has_read_it(driver, monkeypatch):
    monkeypatch.setattr(cuda, "STAGING_BYTES", 64)
    buffer = Buffer("CUDA", 192, dtypes.uchar).allocate()
    driver.calls.clear()
    buffer.copyin(bytes(192))
    copies = driver.names("cuMemHostAlloc", "cuEventCreate")
    assert copies == ["cuEventSynchronize", "cuMemcpyHtoDAsync", "cuEventRecord"] * 3
    waited = [c[1] for c in driver.calls if c[0] == "cuEventSynchronize"]
    recorded = [c[1] for c in driver.calls if c[0] == "cuEventRecord"]
    assert waited == recorded == [waited[0], waited[1], waited[0]]


def test_out_of_memory_is_tried_again_after_what_is_kept_is_freed(driver):
    kept = Buffer("CUDA", 40 << 20, dtypes.uchar).allocate()
    kept.deallocate()
    Buffer("CUDA", 50 << 20, dtypes.uchar).allocate()
    allocations = driver.names()
    first_free = allocations.index("cuMemFree")
    assert allocations[first_free - 1 : first_free + 2] == ["cuMemAlloc", "cuMemFree", "cuMemAlloc"]
    with pytest.raises(MemoryError, match="cannot allocate 104.86 MB.*Drop Tensors"):
        Buffer("CUDA", 100 << 20, dtypes.uchar).allocate()


def runner(driver: Driver, name: str = "E_4") -> cuda.CUDARunner:
    return Device["CUDA"].runner(name, b"cubin")


def test_a_launch_passes_buffers_and_variables_and_can_be_timed(driver):
    kernel = runner(driver)
    driver.calls.clear()
    took = kernel(7, 8, global_size=(5, 4, 3), local_size=(2, 1, 1), vals=(-9,), wait=True)
    assert took == 2.5e-3
    assert driver.names() == ["cuEventCreate", "cuEventCreate", "cuEventRecord", "cuLaunchKernel",
                              "cuEventRecord", "cuEventSynchronize", "cuEventElapsedTime",
                              "cuEventDestroy", "cuEventDestroy"]  # fmt: skip
    (launch,) = [c for c in driver.calls if c[0] == "cuLaunchKernel"]
    assert launch[1:] == (kernel.function, (5, 4, 3, 2, 1, 1), [7, 8, -9])
    driver.calls.clear()
    assert kernel(7, 8, vals=(0,)) is None
    assert driver.names() == ["cuLaunchKernel"]


def test_every_call_is_made_in_the_context_of_its_GPU(driver):
    kernels = [Device[name].runner("E_4", b"cubin") for name in ("CUDA", "CUDA:1")]
    contexts = [kernel.context.context for kernel in kernels]
    assert len(set(contexts)) == 2
    for kernel, context in [*zip(kernels, contexts, strict=True)] * 2:
        for _ in range(2):  # another library may have changed it in between
            kernel(1, 2, 3)
            assert driver.calls[-2] == ("cuCtxSetCurrent", context)
            assert driver.calls[-1][:2] == ("cuLaunchKernel", kernel.function)


def test_a_graph_sets_anew_only_the_launches_that_changed(driver):
    kernels = [runner(driver, name) for name in ("E_4", "E_5")]
    graph = cuda.CUDAGraph(kernels, [[11, 12], [12, 13]], [1, 1])
    graph.set_values([((2, 1, 1), (4, 1, 1)), ((3, 1, 1), (4, 1, 1))], [5, 6])
    driver.calls.clear()
    graph()
    assert driver.names() == ["cuGraphCreate", "cuGraphAddKernelNode", "cuGraphAddKernelNode",
                              "cuGraphInstantiate", "cuGraphLaunch"]  # fmt: skip
    first, second = [c for c in driver.calls if c[0] == "cuGraphAddKernelNode"]
    assert first[1:] == ([], [11, 12, 5])
    assert second[1:] == ([graph.nodes[0]], [12, 13, 6])  # it comes after the first
    driver.calls.clear()
    graph()
    assert driver.names() == ["cuGraphLaunch"]
    driver.calls.clear()
    graph.set_buffer(3, 99)
    graph()
    assert driver.names() == ["set", "cuGraphLaunch"]
    sizes = 3, 1, 1, 4, 1, 1
    assert driver.calls[1] == ("set", graph.nodes[1], kernels[1].function, sizes, [12, 99, 6])


class Launches:
    """A graph of `count` launches, and what each of them is to be: random at first, and after each
    `change()`, which returns the launches it changed."""

    def __init__(self, driver: Driver, count: int, seed: int) -> None:
        self.driver, self.rng = driver, random.Random(seed)
        self.kernels = [runner(driver, f"E_{n}") for n in range(count)]
        self.wanted = [[1, 11, 12, 5] for _ in range(count)]  # the grid, two buffers, a Variable
        self.graph = cuda.CUDAGraph(self.kernels, [[7, 8]] * count, [1] * count)

    def change(self) -> set[int]:
        before = [[*each] for each in self.wanted]
        for each in self.wanted:
            for n, values in enumerate(((0, 1, 2), (11, 12, 13), (11, 12, 13), (5, -6))):
                if self.rng.random() < 0.3:
                    each[n] = self.rng.choice(values)
        return {n for n, each in enumerate(self.wanted) if each != before[n]}

    def replay(self) -> None:
        for place, address in enumerate(a for _, *buffers, _ in self.wanted for a in buffers):
            self.graph.set_buffer(place, address)
        sizes = [((grid, 1, 1), (4, 1, 1)) for grid, *_ in self.wanted]
        self.graph.set_values(sizes, [value for *_, value in self.wanted])
        self.graph()

    def check(self) -> None:
        """A replay launches what has blocks, in order, with its current arguments and sizes."""
        self.driver.calls.clear()
        self.driver.launched.clear()
        self.replay()
        assert self.driver.launched == [
            (kernel.function, (grid, 1, 1, 4, 1, 1), arguments)
            for kernel, (grid, *arguments) in zip(self.kernels, self.wanted, strict=True)
            if grid
        ]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_graph_updates_what_has_changed(driver, count, seed):
    launches = Launches(driver, count, seed)
    for turn in range(12):
        changed = launches.change()
        launches.check()
        if count == 1:
            assert set(driver.names()) <= {"cuLaunchKernel"}  # it needs no graph
        elif turn:
            nodes = {launches.graph.nodes[n] for n in changed}
            assert {c[1] for c in driver.calls if c[0] == "set"} <= nodes


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("turns", [0, 2])
def test_a_graph_that_Ctrl_C_stopped_anywhere_is_right_in_the_next_call(driver, count, seed, turns):
    """turns: how many calls were complete before."""
    for at in itertools.count(1):
        launches = Launches(driver, count, seed)
        for _ in range(turns):
            launches.change()
            launches.replay()
        launches.change()
        try:
            with Interrupted(at):
                launches.replay()
        except KeyboardInterrupt:
            launches.change()
            launches.check()
        else:
            break
    assert at > 10 * count


def test_a_captured_call_of_one_kernel_is_one_launch_with_the_memory_of_this_call(driver):
    @TinyJit
    def f(x, y):
        return x + y

    given = [Tensor(np.ones(8, np.float32), device="CUDA").realize() for _ in range(3)]
    for turn in range(6):
        x, y = given[turn % 3], given[(turn + 1) % 3]
        driver.calls.clear()
        result = f(x, y)
        if turn >= 2:
            assert driver.names("cuMemAlloc") == ["cuLaunchKernel"]
            addresses = [buffer_of(t.uop.base)._buf for t in (result, x, y)]
            assert driver.calls[-1][-1] == addresses


def test_a_launch_without_blocks_is_left_out(driver):
    """The driver refuses it."""
    spec = SimpleNamespace(globals=[], vars=[], global_size=(0, 1, 1), local_size=(4, 1, 1))
    kernel = CompiledKernel(spec, runner(driver))
    driver.calls.clear()
    assert kernel([], {}) is None
    assert kernel([], {}, wait=True) == 0.0
    assert driver.names() == []
    with pytest.raises(cuda.CUDAError, match="INVALID_VALUE"):
        kernel.runner(1, 2, 3, global_size=(0, 1, 1))


def test_a_launch_that_lacks_memory_is_tried_again_after_what_is_kept_is_freed(driver):
    kernel = runner(driver)
    Buffer("CUDA", 40 << 20, dtypes.uchar).allocate().deallocate()
    driver.calls.clear()
    driver.fails["cuLaunchKernel"] = CUresult.CUDA_ERROR_OUT_OF_MEMORY
    with pytest.raises(MemoryError, match="the GPU is out of memory"):
        kernel(1, 2, 3)
    assert driver.names() == ["cuLaunchKernel", "cuMemFree", "cuLaunchKernel"]
    driver.fails.clear()
    kernel(1, 2, 3)


@pytest.mark.parametrize("name", ["cuModuleLoadData", "cuModuleGetFunction", "cuLaunchKernel",
                                  "cuEventCreate", "cuMemAlloc", "cuMemcpyHtoDAsync"])  # fmt: skip
def test_after_an_error_that_does_not_stay_the_next_kernel_runs(driver, name):
    driver.fails[name] = CUresult.CUDA_ERROR_INVALID_VALUE
    with pytest.raises(cuda.CUDAError, match=f"{name}: .*INVALID_VALUE") as error:
        Buffer("CUDA", 4, dtypes.uchar).copyin(bytes(4))
        runner(driver)(1, 2, 3, wait=True)
    assert "restart" not in str(error.value)
    driver.fails.clear()
    Buffer("CUDA", 4, dtypes.uchar).copyin(bytes(4))
    assert runner(driver)(1, 2, 3, wait=True) == 2.5e-3


def test_a_launch_that_fails_keeps_no_events(driver):
    kernel = runner(driver)
    driver.fails["cuLaunchKernel"] = CUresult.CUDA_ERROR_INVALID_VALUE
    driver.calls.clear()
    with pytest.raises(cuda.CUDAError):
        kernel(1, 2, 3, wait=True)
    assert driver.names().count("cuEventCreate") == driver.names().count("cuEventDestroy") == 2


@pytest.mark.parametrize("status", [
    "CUDA_ERROR_ILLEGAL_ADDRESS", "CUDA_ERROR_LAUNCH_FAILED", "CUDA_ERROR_LAUNCH_TIMEOUT",
    "CUDA_ERROR_ECC_UNCORRECTABLE",
])  # fmt: skip
def test_every_call_after_an_error_that_stays_says_to_restart(driver, status):
    """A driver answers all of them with the same error."""
    device, kernel = Device["CUDA"], runner(driver)
    buffer = Buffer("CUDA", 4, dtypes.uchar).allocate()
    for name in ("cuLaunchKernel", "cuStreamSynchronize", "cuMemAlloc", "cuEventSynchronize",
                 "cuEventCreate", "cuMemHostAlloc", "cuCtxSetCurrent"):  # fmt: skip
        driver.fails[name] = CUresult[status]
    for call in (lambda: kernel(1, 2, 3), device.synchronize, lambda: buffer.copyin(bytes(4)),
                 lambda: buffer.copyout(bytearray(4)), lambda: kernel(1, 2, 3, wait=True),
                 Buffer("CUDA", 8, dtypes.uchar).allocate):  # fmt: skip
        with pytest.raises(cuda.CUDAError, match=f"{status}.*restart Python"):
            call()


def test_a_GPU_that_another_program_holds_is_not_there(driver):
    driver.fails["cuDevicePrimaryCtxRetain"] = CUresult.CUDA_ERROR_DEVICE_UNAVAILABLE
    with pytest.raises(DeviceUnavailable, match="GPU number 0 cannot be opened: .*CUDA_EMULATE"):
        Device["CUDA"]
    assert "CUDA_ERROR_DEVICE_UNAVAILABLE" in str(Device.why_not("CUDA"))


def test_an_error_has_the_drivers_words(driver):
    kernel = runner(driver)
    driver.fails["cuLaunchKernel"] = CUresult.CUDA_ERROR_INVALID_VALUE
    with pytest.raises(cuda.CUDAError) as error:
        kernel(1, 2, 3)
    words = "cuLaunchKernel: cuda_error_invalid_value (CUDA_ERROR_INVALID_VALUE)"
    assert str(error.value) == words


def test_an_error_after_which_nothing_works_says_so_and_names_the_kernels(driver):
    kernels = [runner(driver, name) for name in ("E_3", "E_4")]
    for kernel in kernels:
        kernel(1, 2, 3)
    driver.fails["cuStreamSynchronize"] = CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
    with pytest.raises(cuda.CUDAError, match="caused it: E_3, E_4.*restart Python"):
        Device["CUDA"].synchronize()
    kernels.clear()  # unloading them fails too, and says nothing more


def test_one_process_has_one_kind_of_CUDA(driver, monkeypatch):
    device = Device["CUDA"]
    monkeypatch.setenv("CUDA_EMULATE", "1")
    with pytest.raises(RuntimeError, match="opened without CUDA_EMULATE"):
        _ = device.compiler
