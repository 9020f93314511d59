"""Runs every notebook and every README example again, and stores what they print.

    python tests/course/refresh.py                 everything
    python tests/course/refresh.py README.md course/01_why_tinyframe.ipynb

Then read the difference (git diff) before you commit it: these files are what learners see. In a
README it replaces:

    a ```text block after a ```python block      by what that prints
    a ```text block after <!-- stage: NAME -->   by that stage, as the last ```python block has it
    N in a table row | `path` | N | …            by the file's number of lines

Notebooks are run in a fresh kernel, from the top, and their metadata is left clean: no times, no
versions, nothing of the machine.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
READMES = [ROOT / "README.md", ROOT / "tinyframe" / "README.md"]

# What a fence holds: ```python or ```text, up to the closing one.
FENCE = re.compile(r"```(python|text)\n(.*?)```\n", re.DOTALL)
STAGE = re.compile(r"<!-- stage: (.+?) -->\s*$")
COUNT = re.compile(r"^\| `(?P<path>[\w/]+\.(?:py|c))` \| (?P<lines>\d+) \|", re.MULTILINE)
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


def main(arguments: list[str]) -> None:
    wanted = [Path(argument).resolve() for argument in arguments] or [*notebooks(), *READMES]
    for path in wanted:
        print(path.relative_to(ROOT))
        if path.suffix == ".ipynb":
            refresh_notebook(path)
        else:
            path.write_text(with_counts(with_examples(path.read_text())))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main(sys.argv[1:])
