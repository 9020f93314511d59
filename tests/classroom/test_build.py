"""`python -m classroom course`: what a worked notebook and a worked script become."""

from __future__ import annotations

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from classroom import build
from classroom.exercise import Exercise
from classroom.exercises import answers
from classroom.guesses import Prediction

WORKED = [
    new_markdown_cell("# 9. Nine", id="title"),
    new_code_cell("import os\n\nanswer = 42  ### SOLUTION\nanswer", id="answer"),
    new_code_cell(
        "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION\n\n\n"
        "print(double(21), os.path.basename(os.getcwd()), os.environ.get('DEBUG'))",
        id="double",
        metadata={"tags": ["kept"], "collapsed": True},
    ),
]


@pytest.fixture
def repository(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.setenv("DEBUG", "2")
    for room in ("solutions/course", "solutions/projects", "course"):
        (tmp_path / room).mkdir(parents=True)
    notebook = new_notebook(cells=WORKED, metadata={"author": {"machine": "mine"}})
    nbformat.write(notebook, tmp_path / "solutions/course/09_nine.ipynb")
    script = '"""Project 3."""\nx = 1  ### SOLUTION\nprint(x)\n'
    (tmp_path / "solutions/projects/03_three.py").write_text(script)
    (tmp_path / "solutions/projects/_checks.py").write_text("no project\n")
    return tmp_path


def outputs(path) -> list[str]:
    cells = [cell for cell in build.read(path).cells if cell.cell_type == "code"]
    return [o.get("text") or o["data"]["text/plain"] for cell in cells for o in cell.outputs]


def test_both_versions_are_run_and_the_learners_shows_nothing_of_the_answers(repository, capsys):
    assert build.main([]) == 0
    worked, learners = (repository / f"{p}course/09_nine.ipynb" for p in ("solutions/", ""))
    assert outputs(worked) == ["42", "42 course None\n"]
    assert outputs(learners) == ["Ellipsis", "None course None\n"]
    notebook = build.read(learners)
    assert [c.source for c in notebook.cells][1] == "import os\n\nanswer = ...\nanswer"
    assert [c.execution_count for c in notebook.cells[1:]] == [1, 2]
    assert [c.id for c in notebook.cells] == ["title", "answer", "double"]
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert notebook.cells[2].metadata == {"tags": ["kept"]}
    assert (repository / "projects/03_three.py").read_text() == (
        '"""Project 3."""\nx = ...\nprint(x)\n'
    )
    assert not (repository / "projects/_checks.py").exists()
    said = capsys.readouterr().out.split()
    assert said == ["solutions/course/09_nine.ipynb", "course/09_nine.ipynb",
                    "projects/03_three.py"]  # fmt: skip
    assert build.main(["--check"]) == 0


def test_worked_answers_are_stored_by_name_without_marks_and_checks(repository, monkeypatch):
    exercise = Exercise("9.1", "nine-double", "Double", lambda answer: "", ("One.", "Two."))
    guess = Exercise("9.2", "nine-guess", "Guess", Prediction(lambda: 4), (), shown_by="the next")
    monkeypatch.setattr(build, "exercises", lambda part: (exercise, guess) if part == 9 else ())
    path = repository / "solutions/course/09_nine.ipynb"
    cells = [
        new_code_cell(
            WORKED[2].source.partition("\n\n\n")[0] + '\n\n\ncheck("9.1", double)', id="a"
        ),
        new_code_cell('four = 4  ### SOLUTION\npredict("9.2", four)', id="b"),
    ]
    nbformat.write(new_notebook(cells=cells), path)
    assert build.worked_answers() == {"nine-double": "def double(x):\n    return 2 * x"}
    assert "make course" in build.answers_drift()
    answers.write(build.worked_answers(), repository / build.ANSWERS)
    assert build.answers_drift() == ""


def test_a_cell_that_shows_the_same_but_for_a_time_keeps_what_it_had():
    def ran(*texts):
        cells = [
            new_code_cell(f"show({n})", id=str(n), outputs=[new_output("stream", text=text)])
            for n, text in enumerate(texts)
        ]
        return new_notebook(cells=cells)

    before = ran("1 kernel, 0.50 ms", "1 kernel, 0.50 ms", "x")
    after = build.calmed(ran("1 kernel, 0.70 ms", "2 kernels, 0.70 ms", "y", "z"), before)
    shown = [cell.outputs[0].text for cell in after.cells]
    assert shown == ["1 kernel, 0.50 ms", "2 kernels, 0.70 ms", "y", "z"]


def test_only_what_is_named_is_made(repository):
    assert build.main(["three"]) == 0
    assert (repository / "projects/03_three.py").exists()
    assert not (repository / "course/09_nine.ipynb").exists()


def test_a_project_that_is_a_folder_is_made_file_by_file_and_called_by_its_name(repository, capsys):
    folder = repository / "solutions/projects/07_device"
    (folder / "__pycache__").mkdir(parents=True)
    (folder / "backend.py").write_text("x = 1  ### SOLUTION\n")
    (folder / "__main__.py").write_text("import backend\n")
    assert build.main(["07_dev"]) == 0
    made = repository / "projects/07_device"
    assert (made / "backend.py").read_text() == "x = ...\n"
    assert (made / "__main__.py").read_text() == "import backend\n"
    assert build.main(["--check", "07_device"]) == 0
    (made / "backend.py").write_text("x = 2\n")
    assert build.main(["--check", "07_device"]) == 1
    assert "projects/07_device/backend.py is not solutions/" in capsys.readouterr().out


def test_check_says_what_has_drifted_and_changes_nothing(repository, capsys):
    build.main(["three"])
    (repository / "projects/03_three.py").write_text("changed by hand\n")
    assert build.main(["--check"]) == 1
    said = capsys.readouterr().out
    assert "course/09_nine.ipynb is missing" in said and "projects/03_three.py is not" in said
    assert (repository / "projects/03_three.py").read_text() == "changed by hand\n"


def test_a_name_that_is_nowhere_is_said(repository, capsys):
    assert build.main(["eleven"]) == 2
    assert "eleven" in capsys.readouterr().out


def test_a_wrong_mark_is_named_by_its_place(repository, capsys):
    (repository / "solutions/projects/03_three.py").write_text("### BEGIN SOLUTION\n")
    assert build.main(["three"]) == 1
    assert "03_three.py: line 1" in capsys.readouterr().err
    with pytest.raises(ValueError, match="cell 0, line 1"):
        build.cut_notebook(new_notebook(cells=[new_code_cell("### END SOLUTION")]))


def test_a_cell_that_raises_stores_nothing(repository, capsys):
    path = repository / "solutions/course/09_nine.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell("1 / 0", id="a")]), path)
    before = path.read_text()
    assert build.main(["nine"]) == 1
    assert "ZeroDivisionError" in capsys.readouterr().err
    assert path.read_text() == before and not (repository / "course/09_nine.ipynb").exists()
