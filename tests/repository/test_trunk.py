"""The list of the trunk in tinyframe/README.md is true, and the trunk names no branch."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.repository.test_architecture import FILES, PACKAGE, imported_by, trees
from tests.repository.trunk import passed

ROW = re.compile(r"^\| \d+ \| `([\w/]+\.py)` \| \d+ \| \d+ \|", re.MULTILINE)
LISTED = ROW.findall((PACKAGE / "README.md").read_text())

# what the trunk looks things up in, or has at hand: the README says so below the list
AT_HAND = {
    "errors.py", "thresholds.py", "peer_settings.py", "uop/evaluate.py", "uop/show.py",
    "codegen/decompose/__init__.py", "renderer/__init__.py", "rewrite/spec.py", "run/capture.py",
    "tensor/movement.py",
}  # fmt: skip

# a table of the trunk, and what stands in it: the branches
TABLES = {
    # Tensor's list of bases, each a part of its methods
    "tensor/core.py": "tensor/",
    # a row for each op that a device may lack
    "codegen/decompose/__init__.py": "codegen/decompose/",
    # a row for each kind of Opt
    "codegen/optimize/loops.py": "codegen/optimize/",
    # what a device is made of: memory, launches from other threads, the machine
    "runtime/cpu.py": "runtime/",
    "runtime/clang.py": "runtime/",
    # arrays that other libraries give, and their memory
    "tensor/creation.py": ("tensor/dlpack.py", "runtime/host.py"),
}

# which of these a kernel passes depends on the processor and on the compiler
OF_A_MACHINE = {"renderer/gcc.py", "renderer/masks.py"}


def test_the_list_has_the_files_that_the_expression_passes_in_their_order():
    found = list(passed())
    assert [file for file in found if file not in OF_A_MACHINE] == [
        file for file in LISTED if file not in OF_A_MACHINE
    ]


@pytest.mark.parametrize("file", LISTED)
def test_a_file_of_the_trunk_names_branches_in_its_table_only(file):
    branches = imported_by(trees()[file]) - set(LISTED) - AT_HAND
    assert {branch for branch in branches if not branch.startswith(TABLES.get(file, " "))} == set()


def test_the_trunk_imports_nothing_of_a_gpu_nor_of_the_search():
    wings = {file for file in FILES if file.startswith(("gpu/", "search/"))}
    for file in (*LISTED, *AT_HAND, "__init__.py"):
        assert imported_by(trees()[file]) & wings == set()


def test_a_kernel_of_a_cpu_loads_nothing_of_a_gpu_nor_of_the_search():
    program = (
        "import sys; from tinyframe import Device, Tensor; assert Device._opened == {};"
        "(Tensor([1.0, 2.0]) + 1).sum().realize();"
        "print([m for m in sys.modules if m.startswith(('tinyframe.gpu', 'tinyframe.search'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True,
        env={**os.environ, "CPU": "1", "PYTHONPATH": str(PACKAGE.parent)},
    )  # fmt: skip
    assert done.stdout.strip() == "[]"
