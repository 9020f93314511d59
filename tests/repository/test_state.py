"""tinyframe/README.md lists all state of a process, and the caches: those that the source has."""

from __future__ import annotations

import ast
import re

from tests.repository.test_architecture import FILES, PACKAGE, trees

README = (PACKAGE / "README.md").read_text()
PAGE = README[README.index("## What is kept") :].partition("\n## ")[0]
ROW = re.compile(r"^\| (.+?) \| `([\w/]+\.py)` \|", re.MULTILINE)
NAME = re.compile(r"`(\w+)`")

CHANGES = {"append", "add", "update", "pop", "setdefault", "clear", "discard", "remove", "insert",
           "extend"}  # fmt: skip
STATE = {"local", "ContextVar", "count", "RLock", "Lock", "WeakSet", "WeakKeyDictionary",
         "WeakValueDictionary"}  # fmt: skip

# filled while modules are imported, and not after
TABLES = {("thresholds.py", "_rows"), ("uop/movement.py", "source_index_rules")}


def functions(tree: ast.AST) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def changed_in_functions(tree: ast.AST) -> set[str]:
    """Names that some function assigns to with `global`, or calls a changing method of."""
    found = set()
    for function in functions(tree):
        for node in ast.walk(function):
            match node:
                case ast.Global(names=names):
                    found.update(names)
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)):
                    if method in CHANGES:
                        found.add(name)
                case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
                    found.add(name)
    return found


def state_of(tree: ast.Module) -> set[str]:
    """The module's names that hold what changes."""
    changed, found = changed_in_functions(tree), set()
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = getattr(node, "value", None)
        made_by = ast.unparse(value.func).split(".")[-1] if isinstance(value, ast.Call) else ""
        for target in targets:
            if isinstance(target, ast.Name) and (target.id in changed or made_by in STATE):
                found.add(target.id)
    return found


def test_every_state_of_a_module_has_its_row():
    found = {(file, name) for file in FILES for name in state_of(trees()[file])} - TABLES
    said = {(file, name) for names, file in ROW.findall(PAGE) for name in NAME.findall(names)}
    # the table of nodes is changed by default arguments of a function, which are not names
    assert found | {("uop/node.py", "_nodes")} == said


def test_every_cached_function_is_in_a_file_that_the_page_names():
    cached = {
        file
        for file, tree in trees().items()
        for function in functions(tree)
        if any(
            "functools.cache" in ast.unparse(d) and "property" not in ast.unparse(d)
            for d in function.decorator_list
        )
    }
    named = tuple(re.findall(r"`([\w/]+(?:/|\.py))`", PAGE[PAGE.index("`functools.cache`") :]))
    assert [file for file in cached if not file.startswith(named)] == []
