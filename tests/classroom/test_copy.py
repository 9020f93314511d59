"""The learner's copy: what the course gives, what an update brings, and that nothing is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

import nbformat
import pytest
from jupyter_client.manager import start_new_kernel
from jupyter_server.serverapp import list_running_servers

from classroom.exercises import find
from classroom.learner import copy, opened, start_page
from classroom.learner.copy import Copy, NotFound, kernel_metadata

LAZY, PROJECT = "course/04_lazy.ipynb", "projects/01_tensors.py"


def notebook(*sources, output=""):
    """The text of a notebook with these code cells, the last of which printed something."""
    cells = [nbformat.v4.new_code_cell(source, id=f"cell-{n}") for n, source in enumerate(sources)]
    if output:
        cells[-1].outputs = [nbformat.v4.new_output("stream", text=output)]
        cells[-1].execution_count = len(cells)
    return nbformat.writes(nbformat.v4.new_notebook(cells=cells)) + "\n"


def sources(text):
    return ["".join(cell["source"]) for cell in json.loads(text)["cells"]]


@pytest.fixture
def root(tmp_path):
    """A repository with a small course."""
    files = {
        "course/01_first.ipynb": notebook("x = ..."),
        LAZY: notebook("import os", "y = ...", output="None"),
        "course/05a_strides.ipynb": notebook("a"),
        "course/05b_movement.ipynb": notebook("b"),
        "course/picture.svg": "<svg/>",
        "course/README.md": "for authors",
        "course/__pycache__/x.pyc": "",
        PROJECT: "def answer():\n    ...\n\n\ndef other():\n    ...\n",
        "mini/part3.py": '"""Stage 3: arrays."""\nflat = ...\n',
        "mini/part7a.py": "rules = ...\n",
    }
    for name, text in files.items():
        write(tmp_path / name, text)
    return tmp_path


@pytest.fixture
def learner(root):
    """That repository's copy, just made, with some progress in it."""
    Copy(root).make()
    write(root / "my_course" / ".progress.json", "my progress")
    return root / "my_course"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def update(root):
    return "\n".join(Copy(root).update())


def visible(folder):
    """The learner's files, without what the copy keeps for itself."""
    names = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    ours = (".originals", "backups", ".lock")
    return {n.as_posix(): (folder / n).read_text() for n in names if n.parts[0] not in ours}


# ---- what the course gives -----------------------------------------------------------------------


def test_the_copy_has_the_course_the_projects_and_mini_and_nothing_of_the_authors(learner):
    assert sorted(visible(learner)) == [
        ".progress.json", "course/01_first.ipynb", LAZY, "course/05a_strides.ipynb",
        "course/05b_movement.ipynb", "course/picture.svg", "mini/part3.py", "mini/part7a.py",
        PROJECT,
    ]  # fmt: skip


def test_a_room_that_is_there_is_never_touched(root, learner):
    write(learner / LAZY, "my work")
    write(root / LAZY, notebook("newer"))
    write(root / "course" / "06_new.ipynb", notebook("new"))
    before = visible(learner)
    assert Copy(root).make() == []
    assert visible(learner) == before
    assert len(Copy(root).waiting()) == 2


def test_a_room_that_is_new_in_the_course_is_copied_at_the_next_start(root, learner):
    write(root / "somewhere_else" / "x.py", "")
    (learner / "mini" / "part3.py").unlink()
    (learner / "mini" / "part7a.py").unlink()
    (learner / "mini").rmdir()
    assert [line.split()[1] for line in Copy(root).make()] == ["mini/"]
    assert (learner / "mini" / "part3.py").exists()


def test_a_copy_that_was_cut_off_is_made_whole(root):
    write(root / "my_course" / ".course.unfinished" / "half.ipynb", "{")
    Copy(root).make()
    assert not list(root.rglob("half.ipynb"))
    assert (root / "my_course" / LAZY).exists()


def test_learners_do_not_see_what_a_cell_prints_before_they_run_it(root, learner):
    given = json.loads((learner / LAZY).read_text())
    assert all(cell["outputs"] == [] for cell in given["cells"])
    assert "None" in (root / LAZY).read_text()


def test_what_is_given_is_what_jupyterlab_would_write(learner):
    """Otherwise a notebook would be marked as unsaved as soon as its kernel has started."""
    text = (learner / LAZY).read_text()
    assert json.loads(text)["metadata"] == kernel_metadata()
    assert text == nbformat.writes(nbformat.reads(text, as_version=4)) + "\n"


def test_the_language_that_is_written_down_is_the_one_that_a_kernel_reports():
    manager, client = start_new_kernel()
    try:
        client.kernel_info()
        reply = client.get_shell_msg(timeout=60)["content"]
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert kernel_metadata()["language_info"] == reply["language_info"]
    assert kernel_metadata()["kernelspec"]["name"] == manager.kernel_name


# ---- update --------------------------------------------------------------------------------------


def test_update_brings_what_is_new_or_changed(root, learner):
    write(root / "course" / "06_new.ipynb", notebook("z"))
    write(root / "course" / "data" / "table.csv", "1,2")
    write(root / LAZY, notebook("import os", "y = ...  # clearer"))
    write(root / "course" / "notes.md", "theirs")
    write(learner / "course" / "notes.md", "mine")
    said = update(root)
    mine = visible(learner)
    assert (mine["course/notes.md"], mine["course/notes.new.md"]) == ("mine", "theirs")
    assert sources(mine["course/06_new.ipynb"]) == ["z"]
    assert sources(mine[LAZY]) == ["import os", "y = ...  # clearer"]
    assert mine["course/data/table.csv"] == "1,2"
    assert mine[".progress.json"] == "my progress"
    assert "course/06_new.ipynb: new" in said and f"{LAZY}: updated" in said
    assert update(root) == copy.UP_TO_DATE


def test_a_corrected_sentence_reaches_a_learner_who_has_answered_and_answers_stay(root, learner):
    write(learner / LAZY, notebook("import os", "y = 4", output="4"))
    write(root / LAZY, notebook("import os  # clearer", "y = ..."))
    write(learner / PROJECT, "def answer():\n    return 42\n\n\ndef other():\n    ...\n")
    write(root / PROJECT, "def answer():\n    ...\n\n\ndef other():\n    # clearer\n    ...\n")
    said = update(root)
    mine = visible(learner)
    assert sources(mine[LAZY]) == ["import os  # clearer", "y = 4"]
    assert json.loads(mine[LAZY])["cells"][1]["outputs"][0]["text"] == ["4"]
    assert "return 42" in mine[PROJECT] and "# clearer" in mine[PROJECT]
    assert f"{LAZY}: updated, with your changes in it" in said
    assert f"{PROJECT}: updated, with your changes in it" in said


def test_each_file_that_an_update_changes_is_kept_as_it_was(root, learner):
    write(learner / LAZY, mine := notebook("import os", "y = 4", output="4"))
    write(root / LAZY, notebook("import sys", "y = ..."))
    said = update(root)
    (kept,) = [path for path in (learner / "backups").rglob("*") if path.is_file()]
    assert kept.read_text() == mine and kept.parts[-2:] == tuple(Path(LAZY).parts)
    assert kept.parents[1].relative_to(root).as_posix() in said


def test_a_notebook_that_was_only_run_counts_as_unchanged_and_keeps_its_outputs(root, learner):
    write(learner / LAZY, notebook("import os", "y = ...", output="ran"))
    write(root / LAZY, notebook("import os", "y = ...", "new"))
    said = update(root)
    cells = json.loads(visible(learner)[LAZY])["cells"]
    assert cells[1]["outputs"][0]["text"] == ["ran"] and "".join(cells[2]["source"]) == "new"
    assert f"{LAZY}: updated\n" in said


def test_where_both_changed_a_cell_both_versions_are_there(root, learner):
    write(learner / LAZY, notebook("import os", "y = 4"))
    write(root / LAZY, notebook("import os", "z = ..."))
    said = update(root)
    one, mine, note, new = sources(visible(learner)[LAZY])
    assert (one, mine, new) == ("import os", "y = 4", "z = ...")
    assert "Two versions" in note and "1 cell in two versions" in said
    assert update(root) == copy.UP_TO_DATE


def test_where_both_changed_a_line_of_a_script_the_new_one_is_put_beside_it(root, learner):
    write(learner / "mini/part3.py", '"""Stage 3: arrays."""\nflat = 7\n')
    write(root / "mini/part3.py", new := '"""Stage 3: arrays."""\nflat = None\n')
    said = update(root)
    mine = visible(learner)
    assert mine["mini/part3.py"].endswith("flat = 7\n") and mine["mini/part3.new.py"] == new
    assert "kept as you have it; the course's new version is beside it, part3.new.py" in said
    write(root / "mini/part3.py", new + "# more\n")
    update(root)
    assert visible(learner)["mini/part3.py"].endswith("flat = 7\n# more\n"), "only what is new now"


def test_a_merge_that_would_not_be_python_any_more_is_not_made(root, learner):
    write(root / PROJECT, "if True:\n    a = 1\n    b = 2\n")
    Copy(root).reset(["project", "1"])
    write(learner / PROJECT, "if True:\n    a = 1\n    b = (2,\n         3)\n")
    write(root / PROJECT, "if 1:\n    a = 1\nb = 2\n")
    update(root)
    assert "3)" in visible(learner)[PROJECT]
    write(learner / PROJECT, "x = [\n1,\n2,\n]\n")
    Copy(root)._remember(Path(PROJECT), b"x = [\n1,\n2,\n]\n")
    write(root / PROJECT, "x = (\n1,\n2,\n)\n")
    write(learner / PROJECT, "x = [\n1,\n2,\n][0:1]\n")
    update(root)
    assert visible(learner)[PROJECT] == "x = [\n1,\n2,\n][0:1]\n"


def test_a_broken_notebook_stays_as_it_is(root, learner):
    write(learner / LAZY, '{"cells": [')
    write(root / LAZY, notebook("newer"))
    update(root)
    assert visible(learner)[LAZY] == '{"cells": ['
    assert sources(visible(learner)["course/04_lazy.new.ipynb"]) == ["newer"]


def test_what_the_learner_deleted_stays_away_until_it_is_new_or_reset(root, learner):
    (learner / LAZY).unlink()
    update(root)
    assert not (learner / LAZY).exists()
    write(root / LAZY, notebook("newer"))
    update(root)
    assert sources(visible(learner)[LAZY]) == ["newer"]


def test_a_file_that_the_course_drops_goes_only_if_nobody_worked_in_it(root, learner):
    write(learner / "course/05a_strides.ipynb", notebook("my work"))
    (root / "course/05a_strides.ipynb").unlink()
    (root / "course/05b_movement.ipynb").unlink()
    said = update(root)
    mine = visible(learner)
    assert sources(mine["course/05a_strides.ipynb"]) == ["my work"]
    assert "course/05b_movement.ipynb" not in mine
    assert list((learner / "backups").rglob("05b_movement.ipynb"))
    assert "no longer in the course; yours stays" in said
    assert update(root) == copy.UP_TO_DATE


# ---- cut off -------------------------------------------------------------------------------------


@pytest.mark.parametrize("act", [Copy.update, lambda c: c.reset(["04", "project", "1"])])
@pytest.mark.parametrize("step", range(12))
@pytest.mark.parametrize("problem", [OSError("No space left on device"), KeyboardInterrupt()])
def test_a_full_disk_or_an_interrupt_at_any_step_loses_nothing(
    root, learner, monkeypatch, act, step, problem
):
    """The step-th file that is written is half there when it happens."""
    stub, corrected = "# Find y.\ny = ...\ncheck(y)", "# Work out y.\ny = ...\ncheck(y)"
    write(root / LAZY, notebook("import os", "x = ...", stub))
    Copy(root).update()
    answered = "# Find y.\n# more of it\ny = 4\ncheck(y)"
    work = {LAZY: notebook("import os", "x = 3", answered, "mine"), PROJECT: "my work\n"}
    for name, text in work.items():
        write(learner / name, text)
    write(root / LAZY, notebook("import os  # clearer", "z = ...", corrected))
    write(root / PROJECT, "another\n")
    write(root / "course/01_first.ipynb", notebook("x = ...  # clearer"))
    written = []
    write_bytes = Path.write_bytes

    def fails_once(target, content):
        written.append(target)
        if len(written) == step + 1:
            target.write_text("hal")
            raise problem
        return write_bytes(target, content)

    monkeypatch.setattr(Path, "write_bytes", fails_once)
    try:
        act(Copy(root))
    except (OSError, KeyboardInterrupt):
        pass
    files = [p.read_text() for p in learner.rglob("*") if p.is_file() and p.suffix != ".unfinished"]
    assert work[PROJECT] in files and any("mine" in text and "y = 4" in text for text in files)
    assert "hal" not in files
    act(Copy(root))
    mine = visible(learner)
    once = mine[LAZY] if "y = 4" in mine[LAZY] else mine["course/04_lazy.mine.ipynb"]
    for text in ("y = 4", "mine", "x = 3"):
        assert sum(text in cell for cell in sources(once)) == 1, text
    assert sources(once).count("z = ...") <= 1 and corrected not in sources(once)
    assert work[PROJECT] in mine.values() and mine[".progress.json"] == "my progress"
    assert not [name for name in mine if "-2" in name], "nothing is put there twice"
    assert not [name for name in mine if name.endswith(".unfinished")]


# ---- reset ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["04"], [LAZY]),
        (["4"], [LAZY]),
        (["part", "4"], [LAZY]),
        (["04_lazy"], [LAZY]),
        (["04_lazy.ipynb"], [LAZY]),
        (["my_course/course/04_lazy.ipynb"], [LAZY]),
        (["./course/04_lazy.ipynb"], [LAZY]),
        (["course/4"], [LAZY]),
        (["05"], ["course/05a_strides.ipynb", "course/05b_movement.ipynb"]),
        (["5b"], ["course/05b_movement.ipynb"]),
        (["05a"], ["course/05a_strides.ipynb"]),
        (["project", "1"], [PROJECT]),
        (["projects/01"], [PROJECT]),
        (["01_tensors.py"], [PROJECT]),
        (["mini", "3"], ["mini/part3.py"]),
        (["mini", "7"], ["mini/part7a.py"]),
        (["mini/part7a.py"], ["mini/part7a.py"]),
        (["picture.svg"], ["course/picture.svg"]),
        (["4", "project", "1", "mini", "3"], [LAZY, PROJECT, "mini/part3.py"]),
    ],
)
def test_reset_finds_files_by_number_name_or_path_and_keeps_the_learners(
    root, learner, words, names
):
    before = visible(learner)
    for name in names:
        write(learner / name, f"my work on {name}")
    said = "\n".join(Copy(root).reset(words))
    kept = {Path(n).with_suffix(f".mine{Path(n).suffix}").as_posix(): n for n in names}
    assert visible(learner) == before | {place: f"my work on {n}" for place, n in kept.items()}
    assert all(Path(place).name in said for place in kept)


def test_a_project_that_is_a_folder_is_copied_updated_and_reset_as_one(root, learner):
    mine, more = "projects/07_device/backend.py", "projects/07_device/__main__.py"
    write(root / mine, "x = 1\n\n\n\n\ny = 1\n")
    write(root / more, "print(1)\n")
    update(root)
    write(learner / mine, "x = 1\n\n\n\n\ny = 2\n")
    write(root / mine, "x = 3\n\n\n\n\ny = 1\n")
    update(root)
    assert visible(learner)[mine] == "x = 3\n\n\n\n\ny = 2\n"
    for words in (["project", "7"], ["projects/07_device"], ["07_device"]):
        write(learner / mine, "mine\n")
        said = "\n".join(Copy(root).reset(words))
        assert visible(learner)[mine] == (root / mine).read_text()
        assert "backend.mine.py" in said and f"{more} was untouched already" in said
    assert visible(learner)["projects/07_device/backend.mine.py"] == "mine\n"


def test_reset_opens_the_exercises_of_that_file_again(root, learner):
    write(root / "course" / "03_arrays.ipynb", notebook('check("1.7", 1)', 'puzzle("eye", eye)'))
    update(root)
    names = find("1.7").name, find("1.3").name, "mini-3", "mini-3-flat", "mini-3b"
    entries = {name: {"done": True} for name in names}
    entries["puzzle-eye"] = {"done": True, "score": 3}
    write(learner / ".progress.json", json.dumps({"exercises": entries}))
    write(learner / "course" / "03_arrays.ipynb", "mine")
    (said,) = Copy(root).reset(["03"])
    assert "(with 2 of its exercises open again); your version is beside it" in said
    left = json.loads((learner / ".progress.json").read_text())["exercises"]
    assert left.keys() >= {find("1.3").name, "mini-3"} and find("1.7").name not in left
    write(learner / "mini" / "part3.py", "mine")
    Copy(root).reset(["mini", "3"])
    left = json.loads((learner / ".progress.json").read_text())["exercises"]
    assert left.keys() == {find("1.3").name, "mini-3b"}


def test_reset_again_and_again_keeps_every_version(root, learner):
    for work in ("one", "two", "three"):
        write(learner / LAZY, work)
        Copy(root).reset(["04"])
    kept = [visible(learner)[f"course/04_lazy.mine{n}.ipynb"] for n in ("", "-2", "-3")]
    assert kept == ["one", "two", "three"]


def test_reset_of_what_is_untouched_says_so_and_leaves_it(root, learner):
    before = visible(learner)
    assert Copy(root).reset(["04"]) == [f"{LAZY} was untouched already"]
    assert visible(learner) == before


def test_reset_of_an_untouched_file_opens_its_exercises_all_the_same(root, learner):
    """What was typed and never saved, or undone since, is still in the record."""
    write(root / "course" / "03_arrays.ipynb", notebook('check("1.7", 1)'))
    update(root)
    write(learner / ".progress.json", json.dumps({"exercises": {find("1.7").name: {"done": True}}}))
    (said,) = Copy(root).reset(["03"])
    assert said.endswith("was untouched already (with 1 of its exercises open again)")
    assert json.loads((learner / ".progress.json").read_text()) == {"exercises": {}}


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["06"], "no '06' to reset.*You can reset: course/01_first.ipynb"),
        (["04_layz"], "Did you mean 04_lazy"),
        (["project", "7"], "You can reset: projects/01_tensors.py$"),
        (["project"], "Reset which project"),
        (["4", "99"], "no '99' to reset"),
        ([], "Reset what"),
        (["../../etc/passwd"], "no '../../etc/passwd' to reset"),
        ([""], "no '' to reset"),
    ],
)
def test_reset_of_what_there_is_not_changes_nothing(root, learner, words, answer):
    write(learner / LAZY, "my work")
    before = visible(learner)
    with pytest.raises(NotFound, match=f"(?s){answer}"):
        Copy(root).reset(words)
    assert visible(learner) == before


# ---- the commands --------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["copy", "update", "reset"])
def test_each_command_explains_itself(command):
    done = subprocess.run(
        [sys.executable, "-m", "classroom", command, "--help"],
        cwd=copy.ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout.startswith(f"python -m classroom {command}")


def test_the_commands_end_with_the_first_page_written(root, monkeypatch, capsys):
    monkeypatch.setattr(copy, "ROOT", root)
    page = root / "my_course" / start_page.PAGE
    for command in (copy.make_command, copy.update_command):
        page.unlink(missing_ok=True)
        assert command([]) == 0 and page.is_file()
    write(root / LAZY, notebook("newer"))
    copy.make_command([])
    assert "1 file of the course is new or corrected" in capsys.readouterr().out
    assert copy.reset_command(["04"]) == 0 and copy.reset_command(["99"]) == 2
    assert "There is no '99' to reset" in capsys.readouterr().err


@pytest.fixture
def jupyter(learner, tmp_path, monkeypatch):
    """A Jupyter server on the copy, with part 4 open in it."""
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    command = [sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root",
               "--ServerApp.port=0", "--ServerApp.ip=127.0.0.1", "--ServerApp.token=secret",
               "--ServerApp.no_browser_open_file=True"]  # fmt: skip
    server = subprocess.Popen(command, cwd=learner, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        next(line for line in server.stderr if "Use Control-C to stop" in line)
        (info,) = waited_for(lambda: [*list_running_servers()])
        body = {"path": LAZY, "type": "notebook", "kernel": {"name": "python3"}}
        ask = Request(f"{info['url']}api/sessions", json.dumps(body).encode())
        ask.add_header("Authorization", "token secret")
        assert waited_for(lambda: answers(ask))  # it says that it is there a moment too early
        yield
    finally:
        server.terminate()
        server.communicate()


def answers(ask) -> bool:
    try:
        urlopen(ask, timeout=60).close()
    except URLError:
        return False
    return True


def waited_for(look):
    """What `look` finds as soon as it finds anything."""
    pause = threading.Event()
    return next(found for _ in range(600) if (found := look()) or pause.wait(0.1))


def test_an_update_names_notebooks_that_are_open_before_it_changes_them(
    root, learner, jupyter, monkeypatch, capsys
):
    monkeypatch.setattr(copy, "ROOT", root)
    before = (learner / LAZY).read_text()
    assert copy.update_command([]) == 0, "nothing is new, so nothing is asked"
    write(root / "course/01_first.ipynb", notebook("newer"))
    assert copy.update_command([]) == 0, "what changes is not open"
    write(root / LAZY, notebook("newer"))
    capsys.readouterr()

    def nobody():
        assert f"    {LAZY}\nSave each of them now" in capsys.readouterr().out
        raise EOFError

    monkeypatch.setattr("builtins.input", nobody)
    assert copy.update_command([]) == 130
    assert (learner / LAZY).read_text() == before
    monkeypatch.setattr("builtins.input", lambda: "")
    assert copy.update_command([]) == 0
    assert sources((learner / LAZY).read_text()) == ["newer"]


def test_no_jupyter_is_no_reason_to_ask(root, learner, tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    gone = {"pid": os.getpid(), "url": "http://127.0.0.1:9/", "root_dir": str(learner)}
    write(tmp_path / "jpserver-1.json", json.dumps(gone))  # of one that does not answer
    assert opened.notebooks(learner) == []


@pytest.mark.parametrize(
    ("problem", "status", "said"),
    [(OSError(28, "No space left"), 1, "No space left"), (KeyboardInterrupt(), 130, "Stopped")],
)
def test_a_problem_is_one_sentence(root, monkeypatch, capsys, problem, status, said):
    def fails(*_):
        raise problem

    monkeypatch.setattr(copy, "ROOT", root)
    monkeypatch.setattr(Path, "write_bytes", fails)
    assert copy.update_command([]) == status
    error = capsys.readouterr().err
    assert said in error and "Nothing is lost" in error and "Traceback" not in error
