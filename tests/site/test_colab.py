"""A lesson on Google Colab: its first cell fetches the course, and what was done comes back."""

import os
import re
import subprocess
import sys

from classroom import colab
from classroom.site.command import ROOT

# The first cell, and an answer to an exercise.
STEPS = """
import os, sys
exec(sys.argv[1])
from classroom import check, progress
from tinyframe.uop import Ops
check("4.1", lambda tensor, op: sum(node.op is op for node in tensor.uop.toposort()))
progress(4)
keep(lambda file: print("download", file))
print("here:", os.getcwd())
"""


def test_the_first_cell_brings_the_course_and_remembers_what_was_done(tmp_path):
    """In an empty folder, where pip only says what it was asked for."""
    (tmp_path / "pip").mkdir()
    (tmp_path / "pip" / "__init__.py").touch()
    (tmp_path / "pip" / "__main__.py").write_text("import sys; print('pip', *sys.argv[1:])")
    asked = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    commit = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    lesson = colab.lesson(ROOT / "course" / "04a_lazy_evaluation.ipynb", ROOT.as_uri(), commit)
    here = tmp_path / "course"
    command = [sys.executable, "-c", STEPS, "".join(lesson["cells"][1]["source"])]
    env = os.environ | {"TINYFRAME_HERE": str(here), "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    (pip,) = [line for line in done.stdout.splitlines() if line.startswith("pip")]
    assert "wasmtime" in pip and "jupyterlab" not in pip
    assert re.search(r"Lazy evaluation +1/", done.stdout)
    assert f"download {here}/my_course/{colab.KEPT}" in done.stdout
    assert f"here: {here}/my_course/course" in done.stdout


def test_what_was_downloaded_and_uploaded_again_is_where_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(colab, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)
    mine = tmp_path / "my_course"
    (mine / "mini").mkdir(parents=True)
    (mine / "course").mkdir()
    (mine / "mini" / "part4.py").write_text("mine = 1\n")
    (mine / ".progress.json").write_text('{"exercises": {}}')
    colab.keep(lambda file: os.rename(file, tmp_path / colab.KEPT))
    (mine / "mini" / "part4.py").write_text("")
    colab.begin(tmp_path)
    assert (mine / "mini" / "part4.py").read_text() == "mine = 1\n"
    (mine / "mini" / "part4.py").write_text("newer = 2\n")
    colab.begin(tmp_path)
    assert (mine / "mini" / "part4.py").read_text() == "newer = 2\n"


def test_every_lesson_is_written_for_the_place_that_the_repository_has(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("TINYFRAME_REPOSITORY", "git@github.com:ann/tiny.git")
    assert colab.main([str(tmp_path)]) == 0
    lessons = sorted((ROOT / "course").glob("*.ipynb"))
    assert [p.name for p in sorted(tmp_path.iterdir())] == [p.name for p in lessons]
    for path in tmp_path.iterdir():
        assert "'https://github.com/ann/tiny'" in path.read_text()
    monkeypatch.setenv("TINYFRAME_REPOSITORY", "/home/ann/tiny")
    assert colab.main([str(tmp_path)]) == 1
    assert "TINYFRAME_REPOSITORY" in capsys.readouterr().err
