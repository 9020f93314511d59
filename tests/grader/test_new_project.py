"""A new project works at once: its solution gets 100, its starter 0, and its own tests pass; and
where there's no place for one, nothing is written."""

import json
import shutil
from pathlib import Path

import pytest
import yaml

from classroom import new_project
from classroom.__main__ import main
from classroom.build import pairs
from classroom.cut import cut_solutions
from classroom.grader import judge
from classroom.grader.recorded import CASES
from classroom.new_project import CannotMake, made
from classroom.release import KEPT_BACK, without_hidden, without_worked
from tests.grader import worked
from tests.grader.here import recorded
from tests.grader.submissions import expect_its_points, together

ROOT = Path(__file__).parents[2]


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """As much of a repository as a new project touches, and the grader looks there."""
    root = tmp_path / "copy"
    shutil.copytree(ROOT / new_project.TEXTS, root / new_project.TEXTS)
    for name in ("classroom", "tinyframe"):  # what the program of a project imports
        (root / name).mkdir()
        for path in (ROOT / name).iterdir():
            if path.name != "grade.yml":
                (root / name / path.name).symlink_to(path)
    shutil.copy(ROOT / "classroom" / "grade.yml", root / "classroom")
    for name in ("INSTRUCTOR.md", "docs/projects.md", "course/README.md"):
        (root / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    monkeypatch.setattr(judge, "ROOT", root)
    monkeypatch.setattr(judge, "TASKS", (root / "solutions" / "projects" / "tasks",))
    monkeypatch.setattr(worked, "ROOT", root)
    monkeypatch.chdir(tmp_path)
    return root


def all_files(root):
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*")
            if p.is_file() and not p.is_symlink() and "__pycache__" not in p.parts}  # fmt: skip


@pytest.mark.parametrize("is_folder", [False, True], ids=["file", "folder"])
def test_a_new_project_works_at_once(copy, is_folder, tmp_path):
    said = made("08_my_topic", "", is_folder, copy, recorded)
    assert "Now make it yours" in said and "python -m classroom course 08_my_topic" in said
    of = worked.Worked("08_my_topic")
    assert of.points == {"weighted": 48, "kernels_of": 52}
    assert "Project 8: My topic." in of.text and of.project.title == "Project 8: My topic"
    assert [sum(row.points for row in of.rows(of.text, seed)) for seed in ("1", "2")] == [100, 100]
    judged = of.rows(of.starter.read_text())
    assert {row.found for row in judged} == {"not written yet"}
    assert of.starter.read_text() == cut_solutions(of.text)
    visible = [check for check in of.project.checks if not check.hidden]
    assert sum(check.points for check in visible) == 50 and len(visible) == 2
    listed = json.loads(of.tasks.with_suffix(".json").read_text())
    assert listed and all(key.startswith("kernels") for key in listed) and CASES


@pytest.mark.parametrize("is_folder", [False, True], ids=["file", "folder"])
def test_its_own_tests_pass(copy, is_folder, tmp_path, monkeypatch):
    made("08_my_topic", "", is_folder, copy, recorded)
    # printed() asks for the project by its name
    monkeypatch.setattr(worked, "worked", worked.Worked)
    of = worked.Worked("08_my_topic")
    files = together(copy / "tests" / "grader" / "submissions" / "08_my_topic.txt")
    for changes in files:
        expect_its_points(of, changes)
    assert {task for changes in files for each in changes for task in each.points} == {*of.points}
    for text, often in ((of.text, 0), (of.starter.read_text(), 2)):
        (tmp_path / str(often)).mkdir()
        assert worked.printed(text, tmp_path / str(often), of.name).count("open") == often


def test_the_workflow_grades_it_and_the_instructors_page_lists_it(copy):
    before = yaml.safe_load((copy / "classroom" / "grade.yml").read_text())
    made("08_my_topic", "", False, copy, recorded)
    made("12_more", "More of it", True, copy, recorded)
    workflow = yaml.safe_load((copy / "classroom" / "grade.yml").read_text())
    steps, old = (each["jobs"]["grade"]["steps"] for each in (workflow, before))
    assert [s for s in steps[:-1] if s not in old] == [
        {"id": "project-8", "continue-on-error": True,
         "run": "python -m classroom grade projects/08_my_topic.py --format github"},
        {"id": "project-12", "continue-on-error": True,
         "run": "python -m classroom grade projects/12_more --format github"},
    ]  # fmt: skip
    assert steps[:-3] == old[:-1]
    assert steps[-1]["with"]["runners"] == old[-1]["with"]["runners"] + ",project-8,project-12"
    assert steps[-1]["env"] == old[-1]["env"] | {
        f"PROJECT-{n}_RESULTS": f"${{{{ steps.project-{n}.outputs.result }}}}" for n in (8, 12)
    }
    page = (copy / "INSTRUCTOR.md").read_text()
    assert "| `08_my_topic` | 4 | 180 minutes | 50 of 100 |\n| `12_more` (a folder) | 4 |" in page
    links = (copy / "course" / "README.md").read_text().partition("[project 7]: ")[2]
    assert links.splitlines()[1:3] == ["[project 8]: ../projects/08_my_topic.py",
                                       "[project 12]: ../projects/12_more"]  # fmt: skip
    rows = (copy / "docs" / "projects.md").read_text().partition("| [7. ")[2].splitlines()
    assert rows[2] == "| [12. More of it](../projects/12_more/work.py) | 4 | what you make |"
    assert rows[1].startswith("| [8. My") and rows[3] == ""


def test_a_release_has_neither_its_answers_nor_its_hidden_checks(copy):
    made("08_my_topic", "", False, copy, recorded)
    tasks = (copy / "solutions" / "projects" / "tasks" / "08_my_topic.py").read_text()
    released = without_worked(without_hidden(tasks, "08_my_topic.py"))
    assert 'kernels = recorded("kernels")' in released and "one row, and many" not in released
    assert "solutions/projects/*" in KEPT_BACK  # and with it the texts that it was made from
    hidden = [line for line in tasks.splitlines() if len(line) > 60 and line not in released]
    assert hidden and not any(line in Path(new_project.__file__).read_text() for line in hidden)
    assert not any("_new" in str(path) for pair in pairs() for path in pair)


def test_the_longest_name_and_title_fit_into_the_lines(copy):
    made(f"08_{'x' * 40}", "T" * 60, True, copy, recorded)
    lines = [line for name, data in all_files(copy).items() if "08" in name
             for line in data.decode().splitlines() if not name.endswith(".json")]  # fmt: skip
    assert len(lines) > 200 and max(map(len, lines)) <= 100


@pytest.mark.parametrize(
    ("name", "title", "why"),
    [
        ("my_topic", "", "is no name for a project"),
        ("8_my_topic", "", "is no name"),
        ("00_zero", "", "is no name"),
        ("08_../../x", "", "is no name"),
        (f"08_{'x' * 42}", "", "is no name"),
        ("08_My", "", "is no name"),
        ("08_x", 'A "quoted"', "is no title"),
        ("08_x", "One. Two", "is no title"),
        ("08_x", "small", "is no title"),
    ],
)
def test_names_and_titles_that_would_not_work_are_refused(copy, name, title, why):
    before = all_files(copy)
    with pytest.raises(CannotMake, match=why):
        made(name, title, False, copy, recorded)
    assert all_files(copy) == before


@pytest.mark.parametrize(
    "there", ["projects/08_other.py", "solutions/projects/08_my_topic/work.py",
              "solutions/projects/tasks/08_other.json", "tests/grader/submissions/08_x.txt"],
)  # fmt: skip
def test_a_number_that_is_taken_is_refused(copy, there):
    (copy / there).parent.mkdir(parents=True, exist_ok=True)
    (copy / there).write_text("mine")
    before = all_files(copy)
    with pytest.raises(CannotMake, match="number 08 is taken by"):
        made("08_my_topic", "", False, copy, recorded)
    assert all_files(copy) == before


@pytest.mark.parametrize("error", [RuntimeError("weighted: wrong"), OSError(28, "No space left")])
def test_all_of_it_is_written_or_nothing(copy, error):
    before, folders = all_files(copy), {p for p in copy.rglob("*") if p.is_dir()}

    def fails(tasks, cases):
        assert tasks.is_file()
        raise error

    with pytest.raises(CannotMake, match="nothing was written"):
        made("08_my_topic", "", True, copy, fails)
    assert all_files(copy) == before
    assert {p for p in copy.rglob("*") if p.is_dir()} == folders


LISTS = ["classroom/grade.yml", "INSTRUCTOR.md", "docs/projects.md", "course/README.md"]


@pytest.mark.parametrize("file", LISTS)
def test_where_a_file_looks_different_it_is_named_and_nothing_is_written(copy, file):
    (copy / file).write_text("something else\n")
    before = all_files(copy)
    with pytest.raises(CannotMake, match=f"{file} has no place"):
        made("08_my_topic", "", False, copy, recorded)
    assert all_files(copy) == before


def test_the_command_says_what_is_wrong_in_a_line(capsys):
    assert main(["new-project", "01_again"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("new-project: number 01 is taken by 01_tensor_basics")
    assert said.count("\n") == 1


def test_a_students_copy_says_that_it_cannot(copy):
    shutil.rmtree(copy / new_project.TEXTS)
    with pytest.raises(CannotMake, match="students' copy"):
        made("08_my_topic", "", False, copy, recorded)
