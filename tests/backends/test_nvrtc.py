"""NVIDIA's compiler takes what we write, for an old architecture and a new one; it needs no GPU.

It is given each kernel that tests/ops asks for, too: see nvrtc_suite.py.
"""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest
from cuda.bindings import driver

from tests import nvrtc_suite
from tests.every_op import every_op, one_kernel
from tests.gpu_kernels import GLOBAL, LOCAL, SOFTMAX, SUM_OF_ROWS, TILED, VECTOR, cases
from tests.kernels import filled, kernels_of, on_buffer
from tests.nvrtc_suite import ARCHITECTURES, Refused, asked_for, compile_all
from tinyframe import Context, Tensor, dtypes
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import Opt
from tinyframe.device import CompileError, DeviceUnavailable
from tinyframe.gpu import mma
from tinyframe.gpu.drivers import cuda
from tinyframe.gpu.drivers.nvrtc import NVRTC, architecture_for, architectures
from tinyframe.gpu.languages.cuda import CUDALanguage, target_for
from tinyframe.renderer.program_text import call
from tinyframe.tools import ptx
from tinyframe.uop.node import Ops

VECTORS = [Opt(VECTOR, 0, 4), Opt(LOCAL, 0, 4), Opt(GLOBAL, 0)]
NUMBERS = [dtype for dtype in dtypes.all if dtype is not dtypes.bool]


def sources(tensor: Tensor, opts: list[Opt] | None = None) -> list[str]:
    return [get_program(kernel, CUDALanguage(), opts).src for kernel in kernels_of(tensor)]


def ptx_of(texts: list[str]) -> list[str]:
    """PTX for each architecture; all are well-formed kernels for it."""
    found = []
    for architecture in ARCHITECTURES:
        for text in texts:
            made = NVRTC(architecture).compile(text).rstrip(b"\0").decode()
            assert f".target {architecture.replace('compute', 'sm')}" in made
            assert ".visible .entry" in made
            found.append(made)
    return found


def x(*shape: int, dtype=dtypes.float) -> Tensor:
    return on_buffer(*shape, dtype=dtype)


@pytest.mark.parametrize("dtype", dtypes.all, ids=str)
def test_every_op_of_each_dtype(dtype):
    kernel, _ = one_kernel(every_op(dtype))
    assert ptx_of([get_program(kernel, CUDALanguage(), []).src])


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_vectors_and_arithmetic_of_each_dtype(dtype):
    n = 4 if dtype.itemsize <= 4 else 2
    opts = [Opt(VECTOR, 0, n), *VECTORS[1:]]
    for tensor in (x(64, dtype=dtype) * 3 + 1, x(64, dtype=dtype).maximum(x(64, dtype=dtype))):
        (text, _) = ptx_of(sources(tensor, opts))
        assert f".v{n}." in text  # one instruction for the lanes
    ptx_of(sources(x(9, 64, dtype=dtype).sum(axis=1)))
    ptx_of(sources(x(9, 64, dtype=dtype).max(axis=1)))


@pytest.mark.parametrize("name", cases("CPU"))
def test_kernels_of_blocks_of_threads(name):
    tensor, opts, _ = cases("CPU")[name]
    ptx_of(sources(tensor(), opts))


@pytest.mark.parametrize(
    ("tensor", "opts", "barriers"),
    [
        (lambda: x(64, 48) @ x(48, 64), TILED, 2),
        (lambda: x(9, 256).sum(axis=1), SUM_OF_ROWS, 1),
        (lambda: x(40, 50).softmax(), SOFTMAX, 2),
    ],
)
def test_shared_memory_and_barriers(tensor, opts, barriers):
    for text in ptx_of(sources(tensor(), opts)):
        assert ".shared .align 16" in text
        assert text.count("bar.sync") >= barriers  # a loop may be unrolled


def test_division_and_square_root_are_rounded_correctly_and_denormals_kept():
    for text in ptx_of(sources((x(8) / x(8)).sqrt())):
        assert "div.rn.f32" in text and "sqrt.rn.f32" in text
        assert ".approx" not in text and ".ftz" not in text


def test_a_product_is_added_in_one_instruction():
    assert "fma.rn.f32" in ptx_of(sources(x(8) * x(8) + x(8)))[0]


@pytest.mark.parametrize(("form", "deep"), [("f16", 16), ("bf16", 16), ("tf32", 8)])
def test_tensor_cores_from_the_architecture_on_that_has_them(form, deep):
    dtype = mma.DTYPES[form]
    product = x(256, 256, dtype=dtype).matmul(x(256, 256, dtype=dtype), dtype=dtypes.float)
    instruction = f"mma.sync.aligned.m16n8k{deep}.row.col.f32.{form}.{form}.f32"
    with Context(TF32=1):
        for architecture, has_cores in (("sm_75", False), ("sm_80", True), ("sm_90", True)):
            language = CUDALanguage(target_for(architecture))
            (text,) = (get_program(kernel, language).src for kernel in kernels_of(product))
            made = ptx.ptx(text, architecture)
            assert (instruction in made) == has_cores
            assert NVRTC(architecture).compile(text).startswith(b"\x7fELF")


def test_a_cubin_is_machine_code():
    (text,) = sources(x(8) + 1)
    assert NVRTC(architectures()[0]).compile(text).startswith(b"\x7fELF")


# ---- every kernel of some tests ------------------------------------------------------------------


@pytest.fixture
def nothing_known(monkeypatch):
    monkeypatch.setattr(nvrtc_suite, "_compiled", set())


@pytest.mark.usefixtures("nothing_known")
def test_what_tests_compute_on_any_device_is_compiled_once(monkeypatch):
    made = []
    monkeypatch.setattr(NVRTC, "compile_cached", noting(made, NVRTC.compile))
    with asked_for() as kernels:
        for device in ("CPU", "PYTHON"):
            t = filled(np.arange(8, dtype=np.float32), device)
            for expected in (t.maximum(2) + 1, t.maximum(2) + 1, t.half() * 2, t.cumsum()):
                expected.realize()
    counted = compile_all(list(kernels), "these tests")
    assert counted == (3, 0, 0)
    assert [architecture for architecture, _ in made] == [ARCHITECTURES[0]] * 2  # half is apart
    assert compile_all(list(kernels), "those tests") == (0, 3, 0)
    assert len(made) == 2


def noting(made, compile):
    """NVRTC.compile that keeps the architecture and the source of each call."""

    def noted(self, src):
        made.append((self.architecture, src))
        return compile(self, src)

    return noted


@pytest.mark.usefixtures("nothing_known")
def test_a_kernel_that_is_refused_is_named_with_who_asked_for_it(monkeypatch):
    wrong = {**CUDALanguage.code_for_op, Ops.SQRT: call("fooo", typed=False)}
    with asked_for() as kernels:
        for tensor in (x(8) + 1, x(9).sqrt(), x(10) * 2):
            tensor.realize()
    monkeypatch.setattr(CUDALanguage, "code_for_op", wrong)
    with pytest.raises(Refused) as error:
        compile_all(list(kernels), "tests/some.py")
    words = str(error.value)
    assert re.match(r"tests/some\.py .3 kernels.*: NVRTC refuses E_9(n\d+)? for compute_80", words)
    assert 'identifier "fooo" is undefined' in words
    assert "E_8" not in words and "E_10" not in words  # the source of one


@pytest.mark.usefixtures("nothing_known")
def test_a_kernel_whose_dtype_cuda_lacks_is_counted(monkeypatch):
    with asked_for() as kernels:
        (x(8) + 1).realize()
        (x(8, dtype=dtypes.double) + 1).realize()
    monkeypatch.setattr(CUDALanguage, "unsupported", frozenset({dtypes.double}))
    assert compile_all(list(kernels), "these tests") == (1, 0, 1)


@pytest.mark.usefixtures("nothing_known")
def test_settings_of_a_test_do_not_take_its_plan_from_a_kernel():
    with asked_for() as kernels, Context(NOOPT=1):
        (x(64) + 1).realize()
    with Context(NOOPT=1):
        (program,), _ = nvrtc_suite._programs(list(kernels), "these tests")
    assert program.plan is not None and program.opts


# ---- python -m tinyframe.ptx ---------------------------------------------------------------------


def test_an_expressions_kernels_as_ptx_machine_code_and_cubins(capsys, tmp_path):
    expression = "empty(8, 16).softmax()"
    assert ptx.main([expression]) == 0
    shown = capsys.readouterr().out
    assert shown.count(".visible .entry") == shown.count("// r_") + shown.count("// E_") == 2
    assert ".target sm_80" in shown
    assert ptx.main(["--sass", "--arch", "sm_90", expression]) == 0
    assert "LDG.E" in capsys.readouterr().out  # loads from global memory
    assert ptx.main(["--cubin", str(tmp_path), expression]) == 0
    written = capsys.readouterr().out
    files = list(tmp_path.glob("*.sm_80.cubin"))
    assert len(files) == 2 and all(str(file) in written for file in files)
    assert all(file.read_bytes().startswith(b"\x7fELF") for file in files)


def test_a_transpose_reads_and_writes_vectors(capsys):
    assert ptx.main(["--sass", "--arch", "sm_90", "empty(300, 500).T.contiguous()"]) == 0
    moved = re.findall(r"(?:LDG|STG)[.\w]*", capsys.readouterr().out)
    assert [word[:9] for word in moved] == ["LDG.E.128", "STG.E.128"]


def test_an_architecture_that_is_wrong_is_a_wrong_argument(capsys):
    with pytest.raises(SystemExit):
        ptx.main(["--arch", "sm_20", "empty(8) + 1"])
    assert "does not know the architecture" in capsys.readouterr().err


# ---- the driver's binding ------------------------------------------------------------------------


def test_what_we_call_is_what_the_binding_has():
    text = inspect.getsource(cuda)
    calls = set(re.findall(r'"(cu[A-Z]\w+)"', text)) | {"cuInit", "cuGetErrorString"}
    assert len(calls) > 25
    assert [name for name in calls if not hasattr(driver, name)] == []
    attributes = re.findall(r'attribute\(f?"(\w+)"\)', text)
    attributes += [f"MAX_GRID_DIM_{axis}" for axis in "XYZ"]
    attributes += [f"COMPUTE_CAPABILITY_{part}" for part in ("MAJOR", "MINOR")]
    assert len(attributes) > 8
    for name in attributes:
        assert hasattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
    for kind in cuda.STICKY:
        assert hasattr(driver.CUresult, f"CUDA_ERROR_{kind}")
    parameters = driver.CUDA_KERNEL_NODE_PARAMS()
    for name in re.findall(r"given\.(\w+)", text):
        assert hasattr(parameters, name)


# ---- what is refused -----------------------------------------------------------------------------


def test_an_error_has_the_compilers_words_the_command_and_the_source():
    with pytest.raises(CompileError) as error:
        NVRTC("sm_90").compile("__global__ void k() { x = 1; }")
    words = str(error.value)
    assert 'identifier "x" is undefined' in words
    assert "--gpu-architecture=sm_90" in words
    assert "1 | __global__ void k()" in words


@pytest.mark.parametrize("name", ["sm_20", "sm_", "90", "sm_90; rm"])
def test_an_architecture_that_does_not_exist(name):
    with pytest.raises(ValueError, match="does not know the architecture.*it knows sm_"):
        NVRTC(name)


def test_the_architecture_for_a_GPU():
    newest = max(int(name[3:]) for name in architectures())
    assert architecture_for(9, 0) == "sm_90"
    assert architecture_for(99, 0) == f"compute_{newest}"  # the driver translates PTX for it
    with pytest.raises(DeviceUnavailable, match="this GPU is sm_20"):
        architecture_for(2, 0)


def test_identity_tells_architectures_apart():
    assert NVRTC("sm_75").identity() != NVRTC("sm_90").identity()
    assert np.unique([NVRTC(a).identity() for a in architectures()]).size == len(architectures())
