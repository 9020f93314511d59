"""VIZ=1 and VIZ_TRACE beside a script, and traces on a terminal: in processes of their own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tinyframe.viz.__main__ import main

SCRIPT = """
from tinyframe import Tensor

def layer(x):
    return (x @ Tensor.ones(6, 3)).relu()

x = Tensor.arange(12).reshape(2, 6).float()
print(layer(x).sum().item())
{end}
"""


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("VIZ")}
    root = str(Path(__file__).parents[2])
    return {**kept, "PYTHONPATH": root, "PYTHONUNBUFFERED": "1", "BROWSER": "true", **more}


def python(folder, *arguments: str, **more: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, *arguments], cwd=folder, env=environment(**more),
                          capture_output=True, text=True, timeout=120)  # fmt: skip


def run(folder, end: str = "", script: str = SCRIPT, **more: str) -> subprocess.CompletedProcess:
    (folder / "script.py").write_text(script.replace("{end}", end))
    return python(folder, "script.py", **more)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the trace of a script: run.trace."""
    folder = tmp_path_factory.mktemp("traced")
    done = run(folder, VIZ_TRACE="run.trace")
    assert done.returncode == 0 and done.stdout == "198.0\n", done.stderr
    assert "run.trace" in done.stderr
    return folder


@pytest.fixture
def terminal(folder, monkeypatch, capsys):
    """`python -m tinyframe.viz`, in this process: its status, and what it prints and complains."""

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "argv", ["tinyframe.viz", *arguments])
        return main(), *capsys.readouterr()

    return call


def test_the_list_names_each_line_and_kernel(folder) -> None:
    done = python(folder, "-m", "tinyframe.viz", "run.trace", "--ls", VIZ="1")
    assert done.returncode == 0 and done.stderr == "", "it is not watched itself"
    assert re.search(r"script\.py:8  print\(layer\(x\)\.sum\(\)\.item\(\)\)", done.stdout)
    assert re.search(r"^  \w+ +\d+\.\d us +\d+\.\d%", done.stdout, re.M)


def test_a_kernel_and_a_pass_are_printed(terminal) -> None:
    about = json.loads(terminal("run.trace", "--json")[1])
    assert about["format"] == "tinyframe trace" and about["kernels"] and not about["live"]
    name = about["kernels"][-1]["name"]
    _, whole, _ = terminal("run.trace", "--kernel", name)
    assert f"{about['kernels'][-1]['function']}(" in whole and "passes:" in whole
    arguments = "run.trace", "--kernel", name, "--pass", "simplify"
    _, one, _ = terminal(*arguments)
    data = json.loads(terminal(*arguments, "--json")[1])
    assert f"{len(data['steps'])} rewrites:" in one and "RANGE" in one


@pytest.mark.parametrize("arguments, said", [
    (["run.trace", "--kernel", "none"], "there is no kernel 'none'"),
    (["run.trace", "--kernel", "0", "--pass", "none"], "has no pass 'none'"),
    (["missing.trace", "--ls"], "missing.trace cannot be read"),
    (["script.py", "--ls"], "is not a tinyframe trace"),
    (["run.trace", "--port", "99999"], "port 99999 cannot be used"),
])  # fmt: skip
def test_what_is_wrong_is_said_in_a_line(terminal, arguments, said) -> None:
    status, _, error = terminal(*arguments)
    assert status == 1 and said in error and error.count("\n") == 1


@pytest.mark.parametrize("end, status", [
    ("import sys; sys.exit(3)", 3), ("raise ValueError('mine')", 1), ("import os; os._exit(5)", 5),
])  # fmt: skip
def test_the_exit_status_stays_the_scripts(tmp_path, end, status) -> None:
    done = run(tmp_path, end, VIZ_TRACE="run.trace")
    assert done.returncode == status and done.stdout.startswith("198.0")
    assert ("mine" in done.stderr) == (status == 1)


def test_a_trace_that_cannot_be_written_says_so_and_changes_nothing(tmp_path) -> None:
    done = run(tmp_path, VIZ_TRACE="missing/run.trace")
    assert done.returncode == 0 and done.stdout == "198.0\n"
    assert "missing/run.trace could not be written" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("end, status", [("", 0), ("import sys; sys.exit(3)", 3)])
def test_viz_serves_until_ctrl_c_and_keeps_the_exit_status(tmp_path, end, status) -> None:
    (tmp_path / "script.py").write_text(SCRIPT.format(end=end))
    process = subprocess.Popen(
        [sys.executable, "script.py"], cwd=tmp_path, env=environment(VIZ="1"), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        said = ""
        while "until Ctrl-C" not in said:  # printed when the script is done
            line = process.stderr.readline()
            assert line, said
            said += line
        url = re.search(r"http://127\.0\.0\.1:\d+/[\w-]+/", said)
        with urllib.request.urlopen(url[0] + "api/overview", timeout=60) as answer:
            about = json.load(answer)
        assert about["kernels"] and about["realizes"]
        process.send_signal(signal.SIGINT)
        out, rest = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == status and out == "198.0\n" and "Traceback" not in rest


def test_a_forked_child_does_not_write_the_trace(tmp_path) -> None:
    end = "import os\npid = os.fork()\nif pid: os.waitpid(pid, 0)"
    done = run(tmp_path, end, VIZ_TRACE="run.trace")
    assert done.returncode == 0 and done.stderr.count("wrote") == 1


def test_processes_that_the_script_starts_are_not_watched(tmp_path) -> None:
    script = """
import multiprocessing
from tinyframe import Tensor

def work(n):
    return (Tensor.ones(n) + 1).sum().item()

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(pool.map(work, [2, 3]))
"""
    done = run(tmp_path, script=script, VIZ_TRACE="run.trace")
    assert done.stdout == "[4.0, 6.0]\n", done.stderr
    assert done.stderr.count("wrote") == 1
