"""Make what learners get from the worked versions: `python -m classroom course`, or `make course`.

    classroom/lessons/name/lesson.md                           a lesson's source, as text
        ->  solutions/course/NN_name.ipynb                     its cells, and what they print
        ->  course/NN_name.ipynb                               solutions cut out, outputs cleared,
                                                               run again from the top, stored
    solutions/projects/NN_name.py   ->  projects/NN_name.py    solutions cut out; a project that is
                                                               a folder, file by file
    solutions/mini/partN.py         ->  mini/partN.py          solutions cut out

and, from all of them together, `classroom/lessons/order.json`, which gives exercises their numbers,
`classroom/exercises/answers.json`, the worked answers that `answer("4.3")` shows, and
`course/GLOSSARY.md`.

A notebook whose text says something else now is made too, whatever is asked for: a new exercise
moves the numbers of those behind it. Both versions run in a fresh kernel, and
their metadata is left clean: no times, no versions, nothing of the machine. A cell that shows the
same but for what tests do not compare (times, plots of times) keeps what it had, so that the
difference (git diff) is what is new to a learner: read it before you commit.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from classroom import glossary, lesson_text
from classroom.cut import cut_solutions
from classroom.exercises import answers, exercises, puzzles
from classroom.exercises import order as order_of_exercises

ROOT = Path(__file__).resolve().parents[1]
WORKED, GLOSSARY = "solutions/course", "course/GLOSSARY.md"
ANSWERS = "classroom/exercises/answers.json"
LESSONS, ORDER = "classroom/lessons", "classroom/lessons/order.json"
KERNELSPEC = {"display_name": "Python 3", "language": "python", "name": "python3"}
TIMEOUT = 300  # seconds for one cell
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
NOT_COMPARED = "nbval-ignore-output"
SANITIZER = ROOT / "tests" / "nbval_sanitize.cfg"  # what tests do not compare


def pairs(new: Iterable[Path] = ()) -> Iterator[tuple[Path, Path]]:
    """(worked, learner's) of every notebook, every project and every stage of mini.

    new: worked notebooks that may not be there yet.
    """
    rooms = (("course", "*.ipynb"), ("projects", "*.py"), ("projects", "[0-9]*/*.py"),
             ("mini", "*.py"))  # fmt: skip
    for room, pattern in rooms:
        there = {*(ROOT / "solutions" / room).glob(pattern)}
        for worked in sorted(there | {*new} if room == "course" else there):
            name = worked.relative_to(ROOT / "solutions" / room)
            if not name.parts[0].startswith("_"):
                yield worked, ROOT / room / name


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m classroom course",
        description="Make course/, projects/ and mini/ from solutions/.",
    )
    parser.add_argument("names", nargs="*", help="only those with this in their name, such as 04")
    parser.add_argument(
        "--check", action="store_true", help="run and write nothing: say what has drifted apart"
    )
    asked = parser.parse_args(arguments)
    try:
        order = lesson_text.order(ROOT / LESSONS)
        changed = changed_texts(order)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    chosen = [
        (worked, learners)
        for worked, learners in pairs(changed)
        if not asked.names or worked in changed or any(n in _name(learners) for n in asked.names)
    ]
    if not chosen:
        print(f"nothing in solutions/ is named like {' or '.join(asked.names)}")
        return 2
    if asked.check:
        found = texts_drift(order, changed)
        found += [text for pair in chosen if (text := drift(*pair))]
        found += [text for text in (answers_drift(), glossary_drift()) if text]
        print("\n".join(found) if found else f"{len(chosen)} in step")
        return bool(found)
    from nbclient.exceptions import CellExecutionError

    try:
        if order:
            (ROOT / ORDER).write_text(json.dumps(order, indent=1) + "\n")
            for kept in (order_of_exercises, exercises):
                kept.cache_clear()
        for worked, learners in chosen:
            make(worked, learners, changed.get(worked))
        answers.write(worked_answers(), ROOT / ANSWERS)
        (ROOT / GLOSSARY).write_text(glossary.page(glossary.course_in(ROOT / WORKED)))
    except (ValueError, CellExecutionError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def changed_texts(order: dict[str, list[str]]) -> dict[Path, Any]:
    """The worked notebooks that are not what their lessons' texts say, as these say them."""
    import nbformat

    numbers, changed = lesson_text.numbers(order), {}
    for name, text in lesson_text.lessons(ROOT / LESSONS):
        worked = ROOT / WORKED / f"{name}.ipynb"
        stored = read(worked) if worked.exists() else nbformat.v4.new_notebook()
        made = lesson_text.notebook(text, numbers, stored)
        if [*map(_content, made.cells)] != [*map(_content, stored.cells)]:
            changed[worked] = made
    return changed


def texts_drift(order: dict[str, list[str]], changed: Iterable[Path]) -> list[str]:
    """A sentence for each of these notebooks, and for the order if it's not that of the texts."""
    said = [f"{worked.relative_to(ROOT)} is not what its lesson.md says" for worked in changed]
    stored = ROOT / ORDER
    if order and not (stored.exists() and json.loads(stored.read_text()) == order):
        said.append(f"{ORDER} is not the order of the lessons")
    return [f"{sentence}: make course writes it" for sentence in said]


def _name(learners: Path) -> str:
    """What is called by its name: the file, and the folder that it is a part of."""
    return "/".join(learners.relative_to(ROOT).parts[1:])


def worked_answers() -> dict[str, str]:
    """The worked answers of all parts, by name of the exercise, in the order of the course."""
    found = {}
    for worked, _ in pairs():
        if worked.suffix == ".ipynb" and worked.name[:2].isdecimal():
            cells = [cell.source for cell in read(worked).cells if cell.cell_type == "code"]
            asked = (*exercises(int(worked.name[:2])), *puzzles())
            found.update(answers.collected(cells, asked))
    return found


def answers_drift() -> str:
    """Whether the stored worked answers are those of the worked notebooks; "" where they are."""
    if answers.stored(ROOT / ANSWERS) == worked_answers():
        return ""
    return f"{ANSWERS} is not what the worked notebooks answer: make course writes it"


def glossary_drift() -> str:
    """Whether the stored glossary is that of the worked notebooks; "" where it is."""
    path = ROOT / GLOSSARY
    expected = glossary.page(glossary.course_in(ROOT / WORKED))
    if path.exists() and path.read_text() == expected:
        return ""
    return f"{GLOSSARY} is not what the notebooks explain: make course writes it"


def make(worked: Path, learners: Path, text: Any = None) -> None:
    """Write the learner's version of one, and run both where they are notebooks.

    text: the worked notebook as its lesson says it, where that has changed.
    """
    learners.parent.mkdir(parents=True, exist_ok=True)
    if worked.suffix == ".py":
        _say(learners)
        learners.write_text(cut(worked))
        return
    _say(worked)
    notebook = run(text or read(worked), worked.parent)
    _write(calmed(notebook, read(worked)) if worked.exists() else notebook, worked)
    _say(learners)
    before = read(learners) if learners.exists() else notebook
    _write(calmed(run(cut_notebook(notebook), learners.parent), before), learners)


def drift(worked: Path, learners: Path) -> str:
    """What is different between the learner's version and what cutting would make; "" if nothing.

    Sources only, nothing is run: what cells print, nbval compares.
    """
    name = learners.relative_to(ROOT)
    if not learners.exists():
        return f"{name} is missing: make course writes it"
    if worked.suffix == ".py":
        same = cut(worked) == learners.read_text()
        return "" if same else f"{name} is not {worked.relative_to(ROOT)} with its solutions cut"
    expected, stored = cut_notebook(read(worked)).cells, read(learners).cells
    for number, (one, other) in enumerate(zip(expected, stored, strict=False)):
        if _content(one) != _content(other):
            return f"{name}: cell {number} is not that of {worked.relative_to(ROOT)}, cut"
    if len(expected) != len(stored):
        return f"{name} has {len(stored)} cells, and {worked.relative_to(ROOT)} {len(expected)}"
    return ""


def cut(worked: Path) -> str:
    """The text of a worked script without its solutions; ValueError names file and line."""
    try:
        return cut_solutions(worked.read_text())
    except ValueError as error:
        raise ValueError(f"{worked.relative_to(ROOT)}: {error}") from None


def cut_notebook(worked: Any) -> Any:
    """A copy without solutions, outputs and counts. ValueError names the cell."""
    import nbformat

    learners = nbformat.from_dict(worked)
    for number, cell in enumerate(learners.cells):
        if cell.cell_type == "code":
            try:
                cell.source = cut_solutions(cell.source)
            except ValueError as error:
                raise ValueError(f"cell {number}, {error}") from None
            cell.outputs, cell.execution_count = [], None
    return learners


def read(path: Path) -> Any:
    import nbformat

    try:
        return nbformat.read(path, as_version=4)
    except ValueError:
        raise ValueError(
            f"{path.name} is no notebook. If git found a conflict in it, take one side "
            "and run this again: git checkout --theirs course solutions/course"
        ) from None


def run(notebook: Any, folder: Path) -> Any:
    """The notebook with what its cells print, run from the top in a fresh kernel in `folder`."""
    from nbclient import NotebookClient

    with tempfile.TemporaryDirectory() as apart:  # the author's IPython start-up files stay out
        env = clean_environment() | {"IPYTHONDIR": apart, "JUPYTER_CONFIG_DIR": apart}
        client = NotebookClient(
            notebook,
            timeout=TIMEOUT,
            kernel_name="python3",
            record_timing=False,
            coalesce_streams=True,
            resources={"metadata": {"path": str(folder)}},
            extra_arguments=["--log-level=40"],  # errors: it warns of TCP
        )
        client.execute(env=env)
    notebook.metadata = {"kernelspec": KERNELSPEC, "language_info": {"name": "python"}}
    for cell in notebook.cells:
        if cell.cell_type == "code":  # without its kernel, a widget shows nothing
            cell.outputs = [o for o in cell.outputs if WIDGET_VIEW not in o.get("data", {})]
        tags = cell.metadata.get("tags")
        cell.metadata = {"tags": tags} if tags else {}
    return notebook


def calmed(notebook: Any, before: Any) -> Any:
    """The notebook with the outputs of before in each cell that shows the same, sanitized. Not
    where a cell says what was measured in others: all of these have to be of one run."""
    if any("what_happened(" in cell.source for cell in notebook.cells):
        return notebook
    old = {cell.source: cell.outputs for cell in before.cells if cell.cell_type == "code"}
    for cell in notebook.cells:
        kept = old.get(cell.source) if cell.cell_type == "code" else None
        if not kept or len(kept) != len(cell.outputs):
            continue
        if NOT_COMPARED in cell.metadata.get("tags", ()) or _shown(kept) == _shown(cell.outputs):
            counts = [o.get("execution_count") for o in cell.outputs]
            cell.outputs = kept
            for output, count in zip(cell.outputs, counts, strict=True):
                if "execution_count" in output:
                    output.execution_count = count
    return notebook


def _shown(outputs: list[Any]) -> list[Any]:
    """What outputs show, sanitized; but pictures of graphs as they are, which do not vary."""
    texts = [o.get("data") or {"text": o.get("text", "")} for o in outputs]
    return [{kind: sanitized(str(t), graphs=True) for kind, t in text.items()} for text in texts]


def sanitized(text: str, graphs: bool = False) -> str:
    """A text as tests compare it. graphs: leave pictures of graphs in it."""
    # as nbval reads them: a rule whose replacement is empty would be none
    rules = re.findall(r"^regex: (.*)$\n^replace: (.*)$", SANITIZER.read_text(), re.MULTILINE)
    for regex, replacement in rules:
        if not (graphs and regex.startswith("data:")):
            text = re.sub(regex, replacement, text)
    return text


def clean_environment() -> dict[str, str]:
    """This environment without anything that would change what tinyframe prints."""
    from tinyframe.settings import rows

    kept = {"TINYFRAME_CACHE", "TINYFRAME_DATA", "CC"}
    env = {name: value for name, value in os.environ.items() if name not in rows().keys() - kept}
    return env | {"PYTHONPATH": str(ROOT)}


def _content(cell: Any) -> tuple[str, str, tuple[str, ...]]:
    return cell.cell_type, cell.source, tuple(cell.metadata.get("tags", ()))


def _write(notebook: Any, path: Path) -> None:
    import nbformat

    nbformat.write(notebook, path)


def _say(path: Path) -> None:
    print(path.relative_to(ROOT), flush=True)
