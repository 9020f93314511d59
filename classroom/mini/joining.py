"""All stages as one file to be proud of: `my_mini.py`."""

from __future__ import annotations

import ast
from pathlib import Path

from classroom.cut import BEGIN, END
from classroom.mini import loader, stages
from classroom.mini.loader import Choice
from classroom.mini.stages import STAGES

FILE = "my_mini.py"
WIDTH = 100


def join(folder: Path | None = None) -> Path:
    """Write the stages that are in use, one after another, into my_mini.py: in the learner's copy,
    or in this folder. Returns where it is."""
    learners = stages.learners_folder()
    folder = folder or (learners.parent if learners else Path.cwd())
    path = folder / FILE
    path.write_text(joined(loader.choose(STAGES[-1])))
    return path


def joined(choices: list[Choice]) -> str:
    """The text of one file: a heading, all imports, and each stage without its own imports."""
    imports: dict[str, set[str]] = {}
    bodies = []
    for choice in choices:
        text = choice.path.read_text()
        own, body = _split(text)
        for beginning, names in own:
            imports.setdefault(beginning, set()).update(names)
        bodies.append(f"{_banner(choice, text)}\n\n\n{body.strip()}\n")
    heading = '"""A deep-learning framework in one file, from an index to training."""'
    lines = [
        beginning + line
        for beginning, names in imports.items()
        for line in (sorted(names) if beginning == "import " else [", ".join(sorted(names))])
    ]
    ordered = sorted(lines, key=lambda line: (line.split()[1].startswith("numpy"), line))
    return "\n\n\n".join(["\n\n".join([heading, "\n".join(ordered)]), *bodies])


def _banner(choice: Choice, text: str) -> str:
    """The docstring of a stage as a comment; it says so if the stage is the reference's."""
    name = f"Stage {choice.stage.name}"
    docstring = ast.get_docstring(ast.parse(text)) or f"{name}: {choice.stage.title}."
    if not choice.is_learners:
        docstring = docstring.replace(name, f"{name} (the reference)", 1)
    lines = [f"# {line}".rstrip() for line in docstring.splitlines()]
    return "\n".join([f"# {'=' * (WIDTH - 2)}", *lines])


def _split(text: str) -> tuple[list[tuple[str, list[str]]], str]:
    """The imports at the top level of a file, but for those of mini, each as what it begins with
    and its names; and the rest of it, without its docstring and the marks of solutions."""
    lines: list[str | None] = list(text.splitlines())
    imports = []
    tree = ast.parse(text)
    gone: list[ast.stmt] = []
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            gone.append(node)
            line = ast.unparse(node)
            if not line.split()[1].startswith("mini."):
                beginning, _, names = line.partition("import ")
                imports.append((f"{beginning}import ", names.split(", ")))
    if ast.get_docstring(tree) is not None:
        gone.append(tree.body[0])
    for node in gone:
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1):
            lines[number - 1] = None
    kept = [line for line in lines if line is not None and line.strip() not in (BEGIN, END)]
    return imports, "\n".join(kept)
