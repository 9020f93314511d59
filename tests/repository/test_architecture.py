"""The reading order of tinyframe/README.md is the order of imports, rooms stand one above another,
and every function of the core can be read from top to bottom.

A room is a folder; it imports rooms below it (`ROOMS`), and files of the package's own folder. A
file imports only files that stand before it in that table. Imports inside functions count too:
they load something later, and do not turn the order around. The `__init__.py` of a package that the
table does not list only gathers names.
"""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "tinyframe"
ROW = re.compile(r"^\| `([\w/]+\.(?:py|c))` \| \d+ \|", re.MULTILINE)
ORDER = ROW.findall((PACKAGE / "README.md").read_text())
PLACE = {path: place for place, path in enumerate(ORDER)}
FILES = {path.relative_to(PACKAGE).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}

# (file, what it imports from further down): why
KNOWN_UPWARD = {
    # a copy of a storage, and a captured call that reads one, need its value, computed above
    ("tensor/base.py", "tensor/laziness.py"),
}

# the rooms, lowest first
ROOMS = ("uop", "rewrite", "algebra", "renderer", "schedule", "codegen", "gpu", "runtime",
         "gpu/drivers", "run", "search", "tensor", "jit", "nn", "viz", "tools")  # fmt: skip

# Names under the paths by which users of peers know them, and commands: they import from above.
FACES = {
    "uop/ops.py", "uop/symbolic.py", "engine/jit.py", "runtime/conformance.py",
    "codegen/optimize/nest.py",
    "plans.py", "ptx.py", "notebook.py", "helpers.py", "__init__.py",
}  # fmt: skip

# Imports inside functions, by room, and why they have to be there.
INSIDE_FUNCTIONS = {
    ("run", "codegen"): "compiling is loaded with the first kernel: `import tinyframe` is quick",
    ("tensor", "schedule"): "and so is scheduling",
    ("jit", "schedule"): "the same",
    ("tensor", "tensor"): "KNOWN_UPWARD; and the gradient, for one name of it",
    ("runtime", "renderer"): "a device's language is loaded when it is opened",
    ("runtime", "gpu"): "what tensor cores do, if a kernel uses them",
    ("gpu/drivers", "gpu/drivers"): "the emulator stands in for CUDA where it is asked for",
    ("nn", "nn"): "nothing is downloaded by most programs",
    ("viz", "viz"): "a widget needs a library that a picture does not",
    ("notebook.py", "viz"): "pictures are loaded when the first is drawn",
}

CORE = ("uop", "rewrite", "algebra", "schedule", "codegen", "renderer", "run", "jit", "runtime",
        "gpu", "search")  # fmt: skip
MOST_LINES, MOST_BRANCHES = 80, 30


@functools.cache
def trees() -> dict[str, ast.Module]:
    """Every file of the package, parsed."""
    return {name: ast.parse(path.read_text()) for name, path in FILES.items()}


# ---- imports -------------------------------------------------------------------------------------


def is_for_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def statements(tree: ast.AST):
    """Every node that is run, wherever it stands."""
    pending = [tree]
    while pending:
        node = pending.pop()
        yield node
        if not is_for_type_checking(node):
            pending += ast.iter_child_nodes(node)


def file_of(module: str) -> str | None:
    """The file of `tinyframe.uop.node`, or of the package `tinyframe.uop`."""
    name = "/".join(module.split(".")[1:])
    options = (f"{name}.py", f"{name}/__init__.py" if name else "__init__.py")
    return next((option for option in options if option in FILES), None)


def imported_by(tree: ast.AST) -> set[str]:
    """The files of the package that are imported anywhere in it."""
    found = set()
    for node in statements(tree):
        if isinstance(node, ast.Import):
            names = [[alias.name] for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names = [[f"{node.module}.{alias.name}", node.module] for alias in node.names]
        else:
            continue
        for options in names:
            if options[-1].partition(".")[0] == "tinyframe":
                found.add(next(file for name in options if (file := file_of(name))))
    return found


def upward(name: str) -> list[tuple[str, str]]:
    """The imports of a file that stand after it in the order."""
    imported = imported_by(trees()[name])
    return [(name, file) for file in sorted(imported) if PLACE.get(file, -1) > PLACE[name]]


def test_every_file_stands_in_the_reading_order_once():
    gathers_names = {name for name in FILES if name.endswith("__init__.py")}
    assert len(set(ORDER)) == len(ORDER)
    assert FILES.keys() - gathers_names - set(ORDER) == set()
    assert [path for path in ORDER if not (PACKAGE / path).exists()] == []


@pytest.mark.parametrize("name", [name for name in FILES if name in PLACE])
def test_a_file_imports_only_what_stands_before_it(name):
    assert set(upward(name)) <= KNOWN_UPWARD


def test_the_known_exceptions_are_still_there():
    assert {pair for name in FILES if name in PLACE for pair in upward(name)} == KNOWN_UPWARD


# Who imports a file of a package runs its __init__ first, so that counts like the first of its
# files: it may import these, and what stands before them.
@pytest.mark.parametrize("name", [name for name in FILES if name not in PLACE and "/" in name])
def test_a_package_gathers_only_its_own_names_and_what_stands_before_it(name):
    folder = name.removesuffix("__init__.py")
    first = min(PLACE[file] for file in PLACE if file.startswith(folder))
    others = {file for file in imported_by(trees()[name]) if not file.startswith(folder)}
    assert [file for file in others if PLACE[file] >= first] == []


def test_modules_do_not_import_each_other_in_a_circle():
    needs = {name: imported_by(tree) & FILES.keys() - {name} for name, tree in trees().items()}
    for importer, imported in KNOWN_UPWARD:
        needs[importer].discard(imported)
    while ready := [name for name, others in needs.items() if not others & needs.keys()]:
        for name in ready:
            del needs[name]
    assert needs == {}


def test_an_import_inside_a_function_is_seen_and_one_for_types_is_not():
    source = """
if TYPE_CHECKING:
    from tinyframe.tensor.core import Tensor
def f():
    from tinyframe.uop import node
    import tinyframe.uop.movement
"""
    assert imported_by(ast.parse(source)) == {"uop/node.py", "uop/movement.py"}


# ---- rooms ---------------------------------------------------------------------------------------


def room_of(file: str) -> str:
    """Its folder; drivers are above what they drive kernels of, and above the CPU's."""
    return "gpu/drivers" if file.startswith("gpu/drivers/") else file.partition("/")[0]


def test_every_folder_is_a_room():
    folders = {room_of(file) for file in FILES if "/" in file}
    assert folders == {*ROOMS, "engine"}


def test_no_import_goes_up_from_room_to_room():
    rank = {room: n for n, room in enumerate(ROOMS)}
    up = [
        (file, other)
        for file in FILES.keys() - FACES
        for other in imported_by(trees()[file])
        if "/" in file and "/" in other and rank[room_of(other)] > rank[room_of(file)]
    ]
    assert up == []


def test_imports_inside_functions_are_those_that_have_a_reason():
    found = {
        (room_of(file), room_of(other))
        for file, tree in trees().items()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for other in imported_by(function)
    }
    assert found == set(INSIDE_FUNCTIONS)


# ---- functions -----------------------------------------------------------------------------------


def branch_points(function: ast.AST) -> int:
    """Ifs, loops, comprehensions and their conditions, and what `and` and `or` add."""
    found = 0
    for node in ast.walk(function):
        if isinstance(node, ast.If | ast.IfExp | ast.While | ast.For | ast.comprehension):
            found += 1
        if isinstance(node, ast.comprehension):
            found += len(node.ifs)
        if isinstance(node, ast.BoolOp):
            found += len(node.values) - 1
    return found


def core_functions() -> dict[str, ast.AST]:
    files = [name for name in FILES if name.startswith(CORE) and "/decompose/" not in name]
    return {
        f"{name}:{node.name}": node
        for name in [*files, "device.py", "dtype.py"]
        for node in ast.walk(trees()[name])
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def is_too_long(function: ast.AST) -> bool:
    lines = function.end_lineno - function.lineno + 1
    return lines > MOST_LINES or branch_points(function) > MOST_BRANCHES


def test_no_function_of_the_core_is_too_long():
    assert [name for name, function in core_functions().items() if is_too_long(function)] == []


def test_branch_points_are_counted():
    source = "def f(a):\n  if a and a[0] or a[1]:\n    return [x for x in a if x] if a else None"
    assert branch_points(ast.parse(source)) == 6
