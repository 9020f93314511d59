"""Package `mini`, put together from files that are chosen one by one: `use_mini(5)`.

A learner's stage is used if it passes its checks on top of the stages below it, and the reference
otherwise. All of `mini` comes from one finder, so a module is never loaded twice and there is one
class UOp, whoever wrote it.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from classroom.mini import stages
from classroom.mini.stages import Stage

PACKAGE = "mini"


@dataclass(frozen=True)
class Choice:
    """The file that a stage is taken from. reason: why it is the reference; "" if it is not.
    upto: the last function that had to be right, if not all of them had to."""

    stage: Stage
    path: Path
    is_learners: bool
    reason: str = ""
    upto: str = ""

    def __str__(self) -> str:
        whose = "yours" if self.is_learners else "the reference"
        whose += f", up to `{self.upto}`" if self.is_learners and self.upto else ""
        because = f", because {self.reason}" if self.reason else ""
        return f"mini, stage {self.stage.name}: {whose}{because}."


class Finder(MetaPathFinder):
    """Finds the modules of `mini` where it has been told, and nowhere else."""

    def __init__(self) -> None:
        self.paths: dict[str, Path] = {}
        self.loaded: dict[str, str] = {}  # name: fingerprint of the file as it was loaded

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name == PACKAGE:
            package = ModuleSpec(PACKAGE, None, is_package=True)
            package.submodule_search_locations = []
            return package
        if name not in self.paths:
            return None
        self.loaded[name] = fingerprint(self.paths[name])
        return importlib.util.spec_from_file_location(name, self.paths[name])

    def would_change(self, paths: dict[str, Path]) -> bool:
        """Whether something that is loaded already would come from a different file or text."""
        foreign = any(_is_of_package(name) and name not in self.loaded for name in sys.modules)
        return foreign or any(
            name in self.loaded and self.loaded[name] != fingerprint(path)
            for name, path in paths.items()
        )


_finder = Finder()


def _is_of_package(name: str) -> bool:
    return name.startswith(f"{PACKAGE}.")


def fingerprint(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def install(paths: dict[str, Path]) -> None:
    """From here on `import mini.part3` reads the file that is named for it."""
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
        if PACKAGE in sys.modules and not any(map(_is_of_package, sys.modules)):
            del sys.modules[PACKAGE]  # an empty one, found by chance beside a notebook
    _finder.paths |= paths


def load(paths: dict[str, Path]) -> list[ModuleType]:
    """The modules, imported in this order; one that stands for several, in one file, once."""
    install(paths)
    modules: dict[Path, ModuleType] = {}
    for name, path in paths.items():
        if path not in modules:
            modules[path] = importlib.import_module(name)
        sys.modules[name] = modules[path]
    return list(modules.values())


def choose(last: Stage, upto: str = "") -> list[Choice]:
    """For each stage up to one, the file that it is taken from. upto: of the last stage, only the
    functions up to this one have to be right."""
    from classroom.mini.checking import verdict

    folder = stages.learners_folder()
    chosen: list[Choice] = []
    for stage in stages.up_to(last):
        if folder is None:  # the repository's own notebooks, both versions
            chosen.append(Choice(stage, stage.reference, False))
            continue
        path = folder / stage.file
        reason = f"{path.name} is not in {folder.parent.name}/mini"
        if path.is_file():
            below = {choice.stage.module: choice.path for choice in chosen}
            found = verdict(stage, below | {stage.module: path})
            reason = (found.upto(upto) if upto and stage == last else found).reason
        used = stage.reference if reason else path
        chosen.append(Choice(stage, used, not reason, reason, upto if stage == last else ""))
    return chosen


def use(last: Stage, upto: str = "") -> tuple[list[Choice], bool]:
    """Make `mini` importable up to a stage, or a function of it. Returns the choices, and whether
    modules were there that are not of these files, or not of them as they are now: then all are
    forgotten, and the next import reads them."""
    choices = choose(last, upto)
    paths = {choice.stage.module: choice.path for choice in choices}
    if has_changed := _finder.would_change(paths):
        for name in [name for name in sys.modules if name == PACKAGE or _is_of_package(name)]:
            del sys.modules[name]
        _finder.loaded.clear()
    install(paths)
    importlib.import_module(PACKAGE).__dict__["join"] = _join  # `mini.join()` in a notebook
    return choices, has_changed


def is_learners(last: Stage) -> bool:
    """Whether every stage in use, up to this one, is the learner's."""
    folder = stages.learners_folder()
    used = [_finder.paths.get(stage.module) for stage in stages.up_to(last)]
    return folder is not None and all(path and path.parent == folder for path in used)


def _join() -> Path:
    """Write all stages that are in use into one file, my_mini.py. Returns where it is."""
    from classroom.mini.joining import join

    return join()
