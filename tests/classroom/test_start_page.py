"""START.md: the map is true, its links lead somewhere, and it follows what the learner does."""

from __future__ import annotations

import json
import re

import nbformat
import pytest

from classroom import check_mini
from classroom.exercise import Outcome
from classroom.exercises import exercises, parts
from classroom.learner import record, start_page
from classroom.learner.copy import ROOT, Copy
from classroom.mini import stages
from classroom.puzzlebook.game import by_name, exercise_of, games
from tests.mini.planted import with_body

PART = min(parts())


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy of the real course."""
    for room in ("course", "projects", "mini"):
        (tmp_path / room).symlink_to(ROOT / room, target_is_directory=True)
    found = Copy(tmp_path)
    found.make()
    monkeypatch.chdir(found.folder / "course")
    return found.folder


def row_of(text, name):
    (line,) = [line for line in text.splitlines() if line.startswith("|") and f"({name})" in line]
    return line.replace("&nbsp;", " ")  # what must not be torn apart in a narrow window


def do(*chosen):
    for exercise in chosen:
        record.note(Outcome(exercise, "right"))


def test_each_part_is_on_the_map_with_its_time_and_its_exercises(copy):
    text = start_page.page_text(copy)
    notebooks = sorted((copy / "course").glob("[0-9]*.ipynb"))
    assert notebooks
    total = dict.fromkeys(parts(), 0)
    for path in notebooks:
        row = row_of(text, f"course/{path.name}")
        head = "".join(json.loads(path.read_text())["cells"][0]["source"])
        assert f"[{head.splitlines()[0].removeprefix('# ')}]" in row
        minutes = re.search(r"About (\d+) minutes(, and (?:then )?(\d+) more)?", head)
        assert f"| {int(minutes[1]) + int(minutes[3] or 0)} min |" in row
        total[int(path.name[:2])] += int(re.search(r"0 of (\d+)", row)[1])
    for game in games():
        total[int(game.part[:-1])] -= len(game.puzzles)
    assert total == {part: len(exercises(part)) for part in parts()}


def test_links_lead_to_files_of_the_copy(copy):
    links = re.findall(r"\]\(([^)]+)\)", start_page.page_text(copy))
    assert len(links) > 5
    assert all((copy / link.partition("#")[0]).is_file() for link in links)


def test_a_part_that_is_not_there_has_no_row(tmp_path):
    for number in (1, 4):
        path = tmp_path / "course" / f"{number:02}_x.ipynb"
        path.parent.mkdir(exist_ok=True)
        cell = nbformat.v4.new_markdown_cell(f"# {number}. A title\n\n*About 90 minutes.*")
        nbformat.write(nbformat.v4.new_notebook(cells=[cell]), path)
    rows = [line.split(" |")[0] for line in start_page.page_text(tmp_path).splitlines()
            if line.startswith("| ") and "min" in line]  # fmt: skip
    assert rows == ["| [1. A title](course/01_x.ipynb)", "| [4. A title](course/04_x.ipynb)"]


def test_an_exercise_that_is_done_is_on_the_page_at_once(copy):
    first, second, *rest = exercises(PART)
    page = copy / start_page.PAGE
    name = f"course/{min((copy / 'course').glob(f'{PART:02}*.ipynb')).name}"
    start_page.write(copy)
    total = re.search(r"0 of (\d+)", row_of(page.read_text(), name))[1]
    assert "Start here: [" in page.read_text()
    do(first)
    bar = f'<progress value="1" max="{total}"></progress> 1 of {total} |'
    assert bar in row_of(page.read_text(), name)
    assert cell_to_go_on_with(copy)[0] == f"exercise {second.number}"
    do(second, *rest)
    assert f"{total} of {total} |" in row_of(page.read_text(), name)
    assert re.search(r"Go on with \[2a\. [^,]+\]\([^#]+\)\.", page.read_text()), "from its top"
    record.forget([first.name])
    assert cell_to_go_on_with(copy)[0] == f"exercise {first.number}"


def cell_to_go_on_with(copy):
    """The words of the link, and the cell that it leads to."""
    text = (copy / start_page.PAGE).read_text().partition("## The parts")[0]
    words, name, at = re.search(r"Go on with \[.+?, (.+?)\]\((.+)#cell-id=(.+?)\)", text).groups()
    assert "Run All Above Selected Cell" in text
    (cell,) = [c for c in json.loads((copy / name).read_text())["cells"] if c["id"] == at]
    return words, "".join(cell["source"])


def test_to_go_on_with_an_exercise_leads_to_its_question(copy):
    record.note_done(exercise for part in parts() for exercise in exercises(part))
    for *_, exercise in map(exercises, reversed(parts())):
        record.forget([exercise.name])
        words, source = cell_to_go_on_with(copy)
        assert words == f"exercise {exercise.number}" and f"Exercise {exercise.number}" in source


def test_the_best_scores_of_a_game_stand_beside_their_par(copy):
    for game in games():
        first, *rest = game.puzzles
        row = f"course/{min((copy / 'course').glob(f'{game.part.zfill(3)}*.ipynb')).name}"
        record.note_score(exercise_of(first), first.best)
        said = row_of((copy / start_page.PAGE).read_text(), row)
        of = f"1 of {len(game.puzzles)} done, " if rest else ""
        assert f"{game.title}: {of}{first.best:g} {game.unit}, par {first.par_here:g}" in said


def test_what_was_looked_up_is_marked_until_it_is_reset(copy):
    first, second, *_ = exercises(PART)
    name = f"course/{min((copy / 'course').glob(f'{PART:02}*.ipynb')).name}"
    record.note_help(first, answer=True)
    do(first, second)
    record.note_help(second, answer=True)  # to compare, which is no help
    row = row_of((copy / start_page.PAGE).read_text(), name)
    assert row.endswith(" (1 looked up) |") and " 2 of " in row
    record.forget([first.name])
    assert "looked up" not in row_of((copy / start_page.PAGE).read_text(), name)


def test_when_everything_is_done_the_page_says_so(copy):
    record.note_done(exercise for part in parts() for exercise in exercises(part))
    assert "You have done every" in (copy / start_page.PAGE).read_text()  # but for the puzzles
    record.note_done(map(exercise_of, by_name().values()))
    text = (copy / start_page.PAGE).read_text()
    assert "You have done every exercise there is." in text
    found = re.findall(r'value="(\d+)" max="(\d+)"', text)
    assert found and all(done == total for done, total in found)


def test_the_hours_of_projects_are_added(copy):
    text = start_page.page_text(copy)
    of_parts, of_all = re.findall(r"\| \*.*\* \| (\d+) hours \|", text)
    files = [*(copy / "projects").glob("0*.py"), *(copy / "projects").glob("0*/*.py")]
    words = " ".join(path.read_text() for path in files)
    numbers = {"three": 3, "four": 4, "five": 5, "six": 6}
    hours = sum(numbers[w] for w in re.findall(rf"about ({'|'.join(numbers)}) hours", words))
    assert hours >= 24 and int(of_all) - int(of_parts) == hours


def test_projects_and_stages_of_mini_are_on_it_with_what_they_are(copy):
    text = start_page.page_text(copy)
    for path in (copy / "projects").glob("[0-9]*.py"):
        assert row_of(text, f"projects/{path.name}").count("|") == 3
    folder = row_of(text, "projects/07_custom_backend/backend.py")  # and no row for its other file
    assert "7. A device of your own" in folder and "parts 1 to 8 of the course" in folder
    assert "__main__" not in text
    (copy / ".progress.json").write_text('{"exercises": {"mini-3": {"done": true}}}')
    (copy / "mini" / "part3.py").write_text(stages.find(3).reference.read_text())
    text = start_page.page_text(copy)
    rows = [row_of(text, f"mini/{path.name}") for path in (copy / "mini").glob("part*.py")]
    assert rows and [("✓" in row) for row in rows] == ["part3" in row for row in rows]
    places = [text.index(f"mini/{name}") for name in sorted(stage.file for stage in stages.STAGES)]
    assert places == sorted(places)


def test_a_stage_that_two_notebooks_build_is_on_the_map_once(copy):
    text = start_page.page_text(copy)
    assert "mini: " not in row_of(text, "course/05a_three_kinds_of_op.ipynb")
    assert "mini: 0 of " in row_of(text, "course/05b_matmul_and_convolution.ipynb")
    both = row_of(text, "course/08a_your_own_c.ipynb")
    assert both.index("mini, stage 8: 0 of ") < both.index("mini, stage 7c: 0 of ")


def test_minutes_for_what_comes_after_the_lesson_are_on_the_map(copy):
    """Whatever a head says of more minutes, START has to be able to read."""
    for path in (copy / "course").glob("[0-9]*.ipynb"):
        head = "".join(json.loads(path.read_text())["cells"][0]["source"])
        (said,) = re.findall(r"\*About (.+?)\*", head, re.DOTALL)
        minutes = re.search(r"About (\d+) minutes(?:, and (?:then )?(\d+) more)?", head)
        assert bool(minutes[2]) == (" more" in said), head


def test_how_far_mini_is_stands_beside_the_exercises_of_its_part_and_its_file(copy):
    count = len(stages.asked(stages.find(3)))
    file, notebook = copy / "mini" / "part3.py", "course/03a_tensors.ipynb"

    def said():
        text = start_page.page_text(copy)
        return [row_of(text, name).split("|")[3].strip() for name in (notebook, "mini/part3.py")]

    beside, alone = said()
    assert alone == f"0 of {count} written" and beside.endswith(f"<br>mini: {alone}")
    text = with_body(file.read_text(), "flat", "return 0")
    file.write_text(text)
    assert said()[1] == f"1 of {count} written"
    file.write_text("def flat(:")
    assert said()[1] == "part3.py doesn't run"
    file.write_text(stages.find(3).reference.read_text())
    assert said()[1] == f"{count} of {count} written", "written, and not checked yet"
    (copy / ".progress.json").write_text(
        '{"exercises": {"mini-3": {"done": true}, "mini-3-flat": {"helped": true}}}'
    )
    beside, alone = said()
    assert alone == f"✓ all {count} written, all checks pass, 1 looked up"
    assert beside.endswith(f"<br>mini: {alone}")


def test_a_check_of_mini_brings_the_page_up_to_date(copy, monkeypatch):
    monkeypatch.setenv("TINYFRAME_CACHE", str(copy.parent / "cache"))
    start_page.write(copy)
    file = copy / "mini" / "part3.py"
    file.write_text(with_body(file.read_text(), "flat", "return 0"))
    check_mini(3)
    page = (copy / start_page.PAGE).read_text()
    assert f"| 1 of {len(stages.asked(stages.find(3)))} written |" in page


def test_a_file_that_cannot_be_read_is_left_off_the_map(copy):
    before = start_page.page_text(copy)
    (copy / ".originals" / "course" / "01_broken.ipynb").write_text("{")
    (copy / ".progress.json").write_text("{")
    assert start_page.page_text(copy) == before


def test_a_page_that_is_true_is_not_written_again(copy):
    start_page.write(copy)
    before = (copy / start_page.PAGE).stat().st_mtime_ns
    start_page.write(copy)
    assert (copy / start_page.PAGE).stat().st_mtime_ns == before
    assert not list(copy.glob("*.unfinished"))
