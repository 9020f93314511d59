"""Runs every notebook and every README example again, and stores what they print.

    python tests/course/refresh.py                 everything
    python tests/course/refresh.py README.md course/01_why_tinyframe.ipynb

Then read the difference (git diff) before you commit it: these files are what learners see. In a
README it replaces:

    a ```text block after a ```python block      by what that prints
    a ```text block after <!-- stage: NAME -->   by that stage, as the last ```python block has it
    N in a table row | `path` | N | …            by the file's number of lines
    what stands after <!-- methods -->           by the public methods of Tensor, from docstrings

Notebooks are run in a fresh kernel, from the top, and their metadata is left clean: no times, no
versions, nothing of the machine.
"""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
READMES = [ROOT / "README.md", ROOT / "tinyframe" / "README.md"]

# What a fence holds: ```python or ```text, up to the closing one.
FENCE = re.compile(r"```(python|text)\n(.*?)```\n", re.DOTALL)
STAGE = re.compile(r"<!-- stage: (.+?) -->\s*$")
COUNT = re.compile(r"^\| `(?P<path>[\w/]+\.(?:py|c))` \| (?P<lines>\d+) \|", re.MULTILINE)
METHODS = re.compile(r"(<!-- methods -->\n).*?(<!-- end of methods -->)", re.DOTALL)
# What a table's cell would take for markup, and code, which it takes as it is.
MARKDOWN = re.compile(r"`[^`]*`|[|*]")
TITLE = re.compile(r"^───── (.+?) ─+$", re.MULTILINE)


def notebooks() -> list[Path]:
    return sorted((ROOT / "course").glob("*.ipynb"))


def clean_environment() -> dict[str, str]:
    """This environment without anything that would change what tinyframe prints."""
    from tinyframe.settings import rows

    kept = {"TINYFRAME_CACHE", "TINYFRAME_DATA", "CC"}
    env = {name: value for name, value in os.environ.items() if name not in rows().keys() - kept}
    return env | {"PYTHONPATH": str(ROOT)}


# ---- notebooks ----------------------------------------------------------------------------------


def refresh_notebook(path: Path) -> None:
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:  # the author's IPython start-up files stay out
        env = clean_environment() | {"IPYTHONDIR": folder, "JUPYTER_CONFIG_DIR": folder}
        client = NotebookClient(
            notebook,
            timeout=300,
            kernel_name="python3",
            record_timing=False,
            coalesce_streams=True,
            resources={"metadata": {"path": str(path.parent)}},
        )
        client.execute(env=env)
    kernelspec = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook.metadata = {"kernelspec": kernelspec, "language_info": {"name": "python"}}
    for cell in notebook.cells:
        tags = cell.metadata.get("tags")
        cell.metadata = {"tags": tags} if tags else {}
    nbformat.write(notebook, path)


# ---- READMEs ------------------------------------------------------------------------------------


def run_example(source: str) -> str:
    """What a README's example prints, in a process of its own. CalledProcessError if it fails."""
    env = clean_environment() | {"DEVICE": "CPU", "THREADS": "1", "NO_COLOR": "1"}
    command = [sys.executable, "-c", source]
    done = subprocess.run(command, env=env, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


def stages(printed: str) -> dict[str, str]:
    """DEBUG=4's output by name of stage, titles included; what follows the last is "source"."""
    titles = list(TITLE.finditer(printed))
    cuts = [title.start() for title in titles] + [len(printed)]
    found = {t[1]: printed[cuts[n] : cuts[n + 1]] for n, t in enumerate(titles)}
    last = titles[-1][1]
    program, typedef, source = found[last].partition("typedef ")
    return found | {last: program, "source": typedef + source}


def with_examples(text: str) -> str:
    """The README with every printed block as it is now."""
    pieces: list[str] = []
    position, example = 0, ""
    by_stage: dict[str, str] = {}
    for fence in FENCE.finditer(text):
        pieces.append(between := text[position : fence.start()])
        kind, body = fence.groups()
        if kind == "python":
            example, by_stage = body, {}
        elif stage := STAGE.search(between):
            by_stage = by_stage or stages(run_example(example))
            body = by_stage[stage[1]]
        elif example and pieces[-2:-1] and pieces[-2].startswith("```python"):
            body = run_example(example)
        pieces.append(f"```{kind}\n{body.rstrip()}\n```\n")
        position = fence.end()
    return "".join(pieces) + text[position:]


def with_counts(text: str) -> str:
    """The README with every file's number of lines as it is now."""
    return COUNT.sub(lambda row: f"| `{row['path']}` | {number_of_lines(row['path'])} |", text)


def number_of_lines(path: str) -> int:
    """As `wc -l` in tinyframe/ counts them."""
    return (ROOT / "tinyframe" / path).read_text().count("\n")


# ---- the methods of Tensor ----------------------------------------------------------------------


class Method(NamedTuple):
    """A public method or property of Tensor: its name, what it gives, the file it is in."""

    name: str
    meaning: str
    file: str


def public_methods() -> list[Method]:
    """All of Tensor's that do not begin with an underscore, file by file, as they stand there."""
    from tinyframe import Tensor

    found: dict[str, Method] = {}
    for kind in Tensor.__mro__:
        path = kind.__module__.removeprefix("tinyframe.").replace(".", "/")
        declared = vars(kind).get("__annotations__", {})
        for name, attribute in vars(kind).items():
            # A switch is where it is declared, and not where somebody has set it.
            is_set = isinstance(attribute, bool) and name not in declared
            if not name.startswith("_") and not is_set:
                found.setdefault(name, Method(name, meaning(name, attribute), f"{path}.py"))
    return list(found.values())


def meaning(name: str, attribute: Any) -> str:
    """The first sentence of a docstring, on one line."""
    function = getattr(attribute, "__func__", attribute)  # of a classmethod, a staticmethod
    if not callable(function) and not isinstance(function, property):  # a switch
        return "A switch, False until somebody sets it."
    if getattr(function, "__name__", name) != name:
        return f"Another name of {function.__name__}."
    paragraph = (inspect.getdoc(function) or "").partition("\n\n")[0].replace("\n", " ")
    return re.split(r"(?<=\.) ", paragraph)[0]


def with_methods(text: str) -> str:
    """The README with a table of public methods for each file of tensor/, in reading order."""
    methods = public_methods()
    lines = []
    for file in dict.fromkeys(row["path"] for row in COUNT.finditer(text)):
        own = [method for method in methods if method.file == file]
        if own:
            lines += [f"`{file}`", "", "| method | what it gives |", "|---|---|"]
            lines += [f"| `{m.name}` | {MARKDOWN.sub(as_it_stands, m.meaning)} |" for m in own]
            lines.append("")
    return METHODS.sub(lambda found: found[1] + "\n".join(lines) + found[2], text)


def as_it_stands(found: re.Match[str]) -> str:
    """Code as it is, a single sign with a backslash."""
    return found[0] if found[0].startswith("`") else "\\" + found[0]


def main(arguments: list[str]) -> None:
    wanted = [Path(argument).resolve() for argument in arguments] or [*notebooks(), *READMES]
    for path in wanted:
        print(path.relative_to(ROOT))
        if path.suffix == ".ipynb":
            refresh_notebook(path)
        else:
            path.write_text(with_methods(with_counts(with_examples(path.read_text()))))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main(sys.argv[1:])
