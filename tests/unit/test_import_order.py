"""Imports run one way: who opens a file finds everything it builds on further down, never up.

The order is that of the design: the node type, rewriting, the algebra and the spec on top of it,
devices, then scheduling, code generation, rendering and runtimes beside each other, then engine,
tensor, nn and viz, and the classroom. Only imports at the top of a file count: one inside a
function is how a lower room calls up (`uop.simplify()`), and it is said where it is.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "tinyframe"

# From the bottom up; what stands on one line stands beside each other.
ROOMS = [
    ["dtype", "settings", "errors", "counters", "collector"],
    ["uop.node"],
    ["uop.movement", "uop.bounds", "uop.evaluate", "uop.show", "uop"],
    ["rewrite"],
    ["uop.sums", "uop.symbolic", "uop.spec", "uop.view", "uop.stages", "uop.ops"],
    ["device"],
    ["schedule", "codegen", "renderer", "runtime"],
    ["engine"],
    ["tensor"],
    ["nn", "viz", ""],
    ["classroom"],
]
LEVEL = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}


def module_name(path: Path) -> str:
    """`uop.node` of tinyframe/uop/node.py; "" of tinyframe/__init__.py."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
    """The longest name in ROOMS that the module is, or is inside of."""
    while module and module not in LEVEL:
        module = module.rpartition(".")[0]
    return module


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imported_by(path: Path) -> list[str]:
    """Modules of the package that a file imports at its top level, not only for type checking."""
    found = []
    for statement in ast.parse(path.read_text()).body:
        if isinstance(statement, ast.Import):
            found += [alias.name for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            assert statement.level == 0, f"{path}: imports are absolute"
            for alias in statement.names:
                inside = f"{statement.module}.{alias.name}"
                found.append(inside if inside.partition(".")[2] in MODULES else statement.module)
    own = [name for name in found if name.partition(".")[0] == "tinyframe"]
    return [name.partition(".")[2] for name in own]


def test_every_module_has_a_place_in_the_order():
    assert {room_of(module) for module in MODULES} <= set(LEVEL)
    assert not [module for module in MODULES if module and not room_of(module)]


@pytest.mark.parametrize("module", MODULES)
def test_imports_do_not_climb(module):
    level = LEVEL[room_of(module)]
    climbing = [name for name in imported_by(MODULES[module]) if LEVEL[room_of(name)] > level]
    assert climbing == []


def test_modules_do_not_import_each_other_in_a_ring():
    needs = {module: set(imported_by(path)) - {module} for module, path in MODULES.items()}
    while ready := [module for module, others in needs.items() if not others & needs.keys()]:
        for module in ready:
            del needs[module]
    assert needs == {}


# who imports a package runs its __init__ first, so that counts as a module below it
def test_a_package_imports_only_what_is_inside_it_or_below():
    for module, path in MODULES.items():
        if path.name == "__init__.py" and module:
            for name in imported_by(path):
                assert name.startswith(module) or LEVEL[room_of(name)] <= LEVEL[room_of(module)]
