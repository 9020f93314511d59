"""A students' release: whole, without solutions or hidden checks, and everything in it works."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from classroom import release
from classroom.cut import cut_solutions
from classroom.grader.judge import load_project, tasks_of
from classroom.release import ROOT, CannotRelease, for_students, without_hidden

LONG = 40  # characters: shorter lines may stand anywhere


def clean_environment():
    return {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "PYTHONPATH"))}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("class") / "template"
    release.release(place)
    return place


def texts(folder):
    """Each file's text; of a notebook the sources of its cells."""
    for path in folder.rglob("*"):
        if path.is_file() and path.suffix in (".py", ".md", ".ipynb", ".yml", ".toml", ".cfg", ""):
            yield path, source_of(path)


def source_of(path):
    text = path.read_text()
    if path.suffix != ".ipynb":
        return text
    return "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])


def secrets():
    """Lines that are in a solution and in nothing that a learner gets of it, and hidden checks."""
    rooms = [ROOT / "solutions" / room for room in ("course", "projects")]
    files = [path for room in rooms for path in room.rglob("*")]
    worked = [path for path in files if path.suffix in (".py", ".ipynb")]
    assert len(worked) >= 4
    for path in worked:
        text = source_of(path)
        public = without_hidden(cut_solutions(text), path.name)
        for line in text.splitlines():
            if len(line.strip()) >= LONG and line.strip() not in public:
                yield line.strip().removesuffix("  ### SOLUTION")


def test_no_line_of_a_solution_or_a_hidden_check_is_in_it(folder):
    lines = set(secrets())
    assert len(lines) > 50
    for path, text in texts(folder):
        found = [line for line in lines if line in text]
        assert not found, f"{path.relative_to(folder)}: {found}"


def test_neither_marks_nor_folders_of_solutions_are_in_it(folder):
    assert [path.name for path in (folder / "solutions").iterdir()] == ["mini"]
    for page in ("INSTRUCTOR.md", "docs/sandbox.md", "docs/cluster.md"):
        assert not (folder / page).exists()
    for kind in ("attacks", "hostile", "submissions"):
        assert not list((folder / "tests" / "grader").glob(f"*{kind}*"))
    assert not (folder / ".git").exists()
    for path, text in texts(folder):
        if path.relative_to(folder).parts[0] in ("course", "projects", "mini"):
            assert "SOLUTION" not in text and "HIDDEN" not in text, path


def test_links_in_its_texts_lead_somewhere(folder):
    for path in folder.rglob("*.md"):
        for target in re.findall(r"\]\(([^)\s#]+)[^)\s]*\)", path.read_text()):
            if target.startswith("../../") and path.parent == folder:
                continue  # another page of the repository, wherever that is
            assert "://" in target or (path.parent / target).exists(), f"{path}: {target}"


def test_what_is_only_for_authors_is_cut_off_and_was_there(folder):
    for name, begins in release.AUTHORS_ONLY.items():
        assert begins in (ROOT / name).read_text() and begins not in (folder / name).read_text()


def test_its_readme_has_no_holes(folder):
    for name in ("README.md", "docs/map.md"):
        text = (folder / name).read_text()
        assert "solutions/course" not in text and "INSTRUCTOR" not in text
        assert "\n\n\n" not in text
    assert "solutions/mini" in text, "which they do get"
    assert "`projects/`" in text and "`course/`" in text


def run_in(folder, *arguments):
    command = [sys.executable, *arguments]
    env = {**clean_environment(), "PYTHONPATH": str(folder)}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)


def test_its_tests_pass(folder):
    chosen = ["tests/grader/test_channel.py", "tests/repository/test_packages.py",
              "tests/repository/test_workshop.py", "tests/classroom/test_learner.py"]  # fmt: skip
    done = run_in(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen)
    assert done.returncode == 0, done.stdout[-3000:]


ROOM = ROOT / "solutions" / "projects"
WORKED = {path.stem: path for path in sorted(ROOM.iterdir()) if path.stem[:1].isdecimal()}
PROJECTS = list(WORKED)
MEASURED = ["01_tensor_basics", "04_mnist"]  # test_project_repeat.py grades them in the sandbox


@pytest.fixture(scope="module")
def written(folder, tmp_path_factory):
    """A student's repository, in which all projects are done."""
    there = tmp_path_factory.mktemp("student") / "repository"
    shutil.copytree(folder, there)
    shutil.copytree(ROOM, there / "projects", dirs_exist_ok=True,
                    ignore=shutil.ignore_patterns("tasks", "_new", "__pycache__"))  # fmt: skip
    return there


OUTDATED = "there, it's judged by recorded answers: run `python -m classroom record` after a change"


@pytest.mark.parametrize("project", [name for name in PROJECTS if name not in MEASURED])
def test_what_is_written_where_the_starter_was_gets_all_points(written, project):
    told = ("grade", f"projects/{WORKED[project].name}", "--slow", "9", "--json")
    done = run_in(written, "-m", "classroom", *told)
    found = json.loads(done.stdout)
    assert done.returncode == 0, (found, OUTDATED)
    assert found["score"] == found["of"] == found["total"] - found["elsewhere"] < 100


def test_so_do_those_that_are_graded_in_the_sandbox_elsewhere(folder):
    code = """
import sys
from pathlib import Path
from classroom.grader.judge import load_project, tasks_of
from tests.grader.here import rows
for path in map(Path, sys.argv[1:]):
    project = load_project(tasks_of(path.stem))
    print(sum(row.points for row in rows(project, path.read_text())), project.elsewhere)
"""
    done = run_in(folder, "-c", code, *[str(WORKED[name]) for name in MEASURED])
    found = [list(map(int, line.split())) for line in done.stdout.splitlines()]
    assert [sum(points) for points in found] == [100, 100], (done.stderr, OUTDATED)
    assert all(points < 100 for points, _ in found)


def test_a_starter_gets_none_and_is_told_who_decides_the_rest(folder):
    starter = run_in(folder, "-m", "classroom", "grade", f"projects/{PROJECTS[0]}.py")
    assert starter.returncode == 1
    visible, declared = visible_points(PROJECTS[0])
    text = " ".join(starter.stdout.split())
    assert f"0 of {visible} points" in text
    assert "Not written yet, or nothing returned" in text
    assert f"{declared - visible} more depend on your instructor's own checks" in text


def visible_points(project):
    """Of the checks that learners see, and of all."""
    declared = load_project(tasks_of(project))
    return declared.points - sum(c.points for c in declared.checks if c.hidden), declared.points


def test_each_project_is_graded_at_every_push_and_listed_for_instructors(folder):
    steps = (folder / ".github" / "workflows" / "grade.yml").read_text()
    rows = (ROOT / "INSTRUCTOR.md").read_text()
    for project in PROJECTS:
        step = f"project-{int(project[:2])}"
        assert f"grade projects/{WORKED[project].name} " in steps and f"- id: {step}\n" in steps
        assert re.search(rf"runners: .*\b{step}\b", steps)
        visible, declared = visible_points(project)
        assert re.search(rf"\| `{project}` .*\| {visible} of {declared} \|", rows)


# ---- writing it ----------------------------------------------------------------------------------


def test_a_folder_with_something_in_it_is_left_alone(tmp_path, capsys):
    (tmp_path / "mine").write_text("mine")
    assert release.main([str(tmp_path)]) == 2
    assert "is not empty" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_it_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    def fails(self, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fails)
    with pytest.raises(CannotRelease, match="No space left"):
        release.release(tmp_path / "template")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_is_filled(tmp_path):
    (tmp_path / "template").mkdir()
    assert release.release(tmp_path / "template") > 200
    assert [path.name for path in tmp_path.iterdir()] == ["template"]


def git(folder, *arguments):
    identity = ["-c", "user.name=Lee", "-c", "user.email=lee@uni.example"]
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_later_release_replaces_an_earlier_one_that_is_committed(tmp_path, monkeypatch, capsys):
    said = {"start.py": b"1", "gone.md": b"", "course/a.md": b"one"}
    start = ROOT / "start.py"
    monkeypatch.setattr(release, "contents", lambda: {n: (start, data) for n, data in said.items()})
    folder = tmp_path / "class"
    release.release(folder)
    git(folder, "init", "-q")
    assert release.main([str(folder)]) == 2
    assert "aren't committed" in capsys.readouterr().err
    git(folder, "add", "--all")
    git(folder, "commit", "-qm", "The course")
    (folder / ".git/info/exclude").write_text("grades\n")
    (folder / "grades").write_text("mine")
    del said["gone.md"]
    said |= {"course/a.md": b"two", "course/b.md": b"new"}
    assert release.main([str(folder)]) == 0
    status = git(folder, "status", "--porcelain", "--untracked-files=all").splitlines()
    assert status == [" M course/a.md", " D gone.md", "?? course/b.md"]
    assert (folder / "grades").read_text() == "mine"


def test_a_repository_that_is_no_release_is_left_alone(tmp_path):
    git(tmp_path, "init", "-q")
    (tmp_path / "mine.py").write_text("mine")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "-qm", "mine")
    with pytest.raises(CannotRelease, match="but not that of a release"):
        release.release(tmp_path)
    assert git(tmp_path, "status", "--porcelain") == ""
    (tmp_path / ".git" / "HEAD").unlink()
    with pytest.raises(CannotRelease, match="git can't read"):
        release.release(tmp_path)


def test_without_git_what_is_ignored_is_left_out(monkeypatch):
    with_git = set(release.files())
    monkeypatch.setenv("PATH", "")
    without = set(release.files())
    assert with_git <= without
    assert not any(name.startswith((".venv/", ".git/", "my_course/")) for name in without)
    assert not any("__pycache__" in name for name in without)


def test_paragraphs_and_rows_about_solutions_go():
    text = (
        "# A\n\nSee solutions/course/x.\nAnd more.\n\nSee solutions/mini.\n\n"
        "| a | b |\n|---|---|\n| solutions/projects | x |\n| c | d |\n"
    )
    assert for_students("X.md", text) == (
        "# A\n\nSee solutions/mini.\n\n| a | b |\n|---|---|\n| c | d |\n"
    )


@pytest.mark.parametrize(
    "text", ["### BEGIN HIDDEN\nx", "### END HIDDEN", "### BEGIN HIDDEN\n### BEGIN HIDDEN",
             "x = 1  ### BEGIN HIDDEN"],
)  # fmt: skip
def test_marks_that_do_not_pair_stop_the_release(text):
    with pytest.raises(CannotRelease, match="tasks.py"):
        without_hidden(text, "tasks.py")
