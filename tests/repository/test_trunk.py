"""The list of the trunk in tinyframe/README.md is true, and the trunk names no branch."""

from __future__ import annotations

import re

import pytest

from tests.repository.test_architecture import PACKAGE, imported_by, trees
from tests.repository.trunk import passed

ROW = re.compile(r"^\| \d+ \| `([\w/]+\.py)` \| \d+ \| \d+ \|", re.MULTILINE)
LISTED = ROW.findall((PACKAGE / "README.md").read_text())

# what the trunk looks things up in, or has at hand: the README says so below the list
AT_HAND = {
    "errors.py", "thresholds.py", "peer_settings.py", "uop/evaluate.py", "uop/show.py",
    "rewrite/spec.py",
}  # fmt: skip

# a table of the trunk, and what stands in it: the branches
TABLES = {
    # Tensor's list of bases, each a part of its methods
    "tensor/core.py": "tensor/",
    # a row for each op that a device may lack
    "codegen/decompose/__init__.py": "codegen/decompose/",
    # a row for each kind of Opt
    "codegen/optimize/loops.py": "codegen/optimize/",
    # the plans for each kind of device
    "codegen/__init__.py": "codegen/optimize/plans_gpu.py",
    # the rules that lowering applies
    "schedule/ranges.py": "schedule/sum_to_gather.py",
    # what a device is made of: memory, launches from other threads, the machine
    "runtime/cpu.py": "runtime/",
    "runtime/clang.py": "runtime/",
    # arrays that other libraries give, and their memory
    "tensor/creation.py": ("tensor/dlpack.py", "runtime/host.py"),
    # what an MMA's operands need in a panel
    "codegen/expand.py": "uop/mma.py",
    # where BEAM=n searches
    "run/realize.py": "run/search.py",
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
