"""Whose file a stage is taken from, and what use_mini says of it."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from classroom.build import ROOT
from classroom.learner import progress, record
from classroom.mini import checking, loader
from classroom.mini.stages import HANDED_OUT, STAGES, asked
from tests.mini.planted import with_body

THREE, FOUR, FOUR_B, FIVE, SIX, *_ = STAGES
OPEN_3 = "mini, stage 3: the reference, because `flat`, `unflat` and 5 more are still open."


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A learner's copy; the working directory is its course/."""
    folder = tmp_path / "my_course"
    (folder / "course").mkdir(parents=True)
    (folder / "mini").mkdir()
    for stage in STAGES:
        (folder / "mini" / stage.file).write_text((HANDED_OUT / stage.file).read_text())
    monkeypatch.chdir(folder / "course")
    monkeypatch.setenv("TINYFRAME_CACHE", str(tmp_path / "cache"))
    return folder


def write(copy, stage) -> None:
    (copy / "mini" / stage.file).write_text(stage.reference.read_text())


def python(folder, source: str) -> str:
    """What a program prints that is run in a folder, in a process of its own."""
    command = [sys.executable, "-c", source]
    env = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(folder),
           "TINYFRAME_CACHE": str(folder)}  # fmt: skip
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_untouched_copy_uses_the_reference_and_says_why(copy):
    assert [str(choice) for choice in loader.choose(FOUR)] == [
        OPEN_3,
        "mini, stage 4: the reference, because `UOp.__new__`, `UOp.toposort` and 3 more are still "
        "open.",
    ]


def test_stages_are_chosen_one_by_one(copy):
    write(copy, FOUR)
    write(copy, SIX)
    chosen = loader.choose(SIX)
    assert [choice.is_learners for choice in chosen] == [False, True, False, False, True]
    assert [choice.path for choice in chosen] == [
        THREE.reference, copy / "mini" / "part4.py", FOUR_B.reference, FIVE.reference,
        copy / "mini" / "part6.py",
    ]  # fmt: skip
    assert str(chosen[1]) == "mini, stage 4: yours."


def half(copy, old: str = "", new: str = "") -> None:
    """Stage 5 as far as part 5a takes it: written up to expand, with one mistake."""
    cut = "\ndef broadcast("
    written, rest = FIVE.reference.read_text(), (HANDED_OUT / FIVE.file).read_text()
    text = written[: written.index(cut)] + rest[rest.index(cut) :]
    (copy / "mini" / "part5.py").write_text(text.replace(old, new) if old else text)


def test_half_a_stage_is_the_learners_as_far_as_it_is_right(copy):
    write(copy, THREE)
    write(copy, FOUR)
    write(copy, FOUR_B)
    half(copy)
    assert str(loader.choose(FIVE)[-1]).startswith("mini, stage 5: the reference, because")
    chosen = loader.choose(FIVE, upto="pad_index")
    assert [str(choice) for choice in chosen] == [
        "mini, stage 3: yours.", "mini, stage 4: yours.", "mini, stage 4b: yours.",
        "mini, stage 5: yours, up to `pad_index`.",
    ]  # fmt: skip
    assert chosen[-1].path == copy / "mini" / "part5.py"
    assert "still open" in str(loader.choose(FIVE, upto="broadcast")[-1])
    half(copy, "size - 1 - i", "size - i")
    (mistaken,) = loader.choose(FIVE, upto="pad_index")[3:]
    assert not mistaken.is_learners and "a check of `flip_index` fails" in str(mistaken)
    assert loader.choose(FIVE, upto="shrink_index")[-1].is_learners


def test_half_a_stage_moves_a_tensor(copy):
    half(copy)
    printed = python(
        copy / "course",
        """if True:
        from classroom import use_mini
        use_mini(5, upto="pad_index")
        import mini.part5
        print(mini.part5.__file__[-23:])
        print(mini.part5.Tensor([[1, 2, 3], [4, 5, 6]]).permute(1, 0).flip(0).numpy().tolist())""",
    )
    assert printed.endswith("my_course/mini/part5.py\n[[3.0, 6.0], [2.0, 5.0], [1.0, 4.0]]\n")


def test_what_a_notebook_asks_for_is_all_that_it_uses(copy):
    """Part 5a ends in the middle of stage 5, and then makes a carpet with what is written."""
    notebook = json.loads((ROOT / "course" / "05a_three_kinds_of_op.ipynb").read_text())
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    (first,) = [number for number, cell in enumerate(cells) if "upto=" in cell]
    (last,) = re.findall(r'upto="(\w+)"', cells[first])
    names = asked(FIVE)
    assert names[names.index(last) + 1] == "broadcast"  # from where on half() leaves all open
    for stage in (THREE, FOUR, FOUR_B):
        write(copy, stage)
    half(copy)
    cell = cells[first].replace("shades(", "print(carpet.numpy().shape) #(")
    source = f"import numpy as np\nfrom classroom import use_mini\n{cell}"
    assert python(copy / "course", source).endswith(
        f"mini, stage 5: yours, up to {last}.\n(96, 192)\n"
    )


def test_a_failing_stage_gives_way_to_the_reference(copy):
    text = THREE.reference.read_text().replace("place * size + i", "place + i")
    (copy / "mini" / "part3.py").write_text(text)
    (choice,) = loader.choose(THREE)
    assert str(choice) == "mini, stage 3: the reference, because a check of `flat` fails."
    assert (copy / "mini" / "part3.py").read_text() == text


def test_a_missing_or_broken_file_gives_way_to_the_reference(copy):
    (copy / "mini" / "part3.py").unlink()
    (copy / "mini" / "part4.py").write_text("class UOp(\n")
    assert [choice.reason for choice in loader.choose(FOUR)] == [
        "part3.py is not in my_course/mini",
        "yours does not run: check_mini(4) says why",
    ]


def test_without_a_copy_the_reference_is_used_and_nothing_else_said(tmp_path, monkeypatch):
    for folder in (tmp_path, ROOT / "course", ROOT / "solutions" / "course"):
        monkeypatch.chdir(folder)
        assert [str(choice) for choice in loader.choose(FOUR)] == [
            "mini, stage 3: the reference.", "mini, stage 4: the reference.",
        ]  # fmt: skip


def test_checks_that_were_run_on_the_same_files_are_not_run_again(copy, monkeypatch):
    write(copy, THREE)
    assert loader.choose(THREE)[0].is_learners
    monkeypatch.setattr(checking, "run", lambda *_: pytest.fail("run again"))
    assert loader.choose(THREE)[0].is_learners
    (copy / "mini" / "part3.py").write_text(THREE.reference.read_text() + "\n# changed\n")
    with pytest.raises(pytest.fail.Exception, match="run again"):
        loader.choose(THREE)


def test_one_class_of_nodes_whoever_wrote_which_stage(copy):
    write(copy, FIVE)
    printed = python(
        copy / "course",
        """if True:
        from classroom import use_mini
        use_mini(6)
        from mini.part6 import Adam, Tensor
        import mini.part4, mini.part5
        print(mini.part5.UOp is mini.part4.UOp, mini.part5.__file__[-23:])
        print(mini.part4.__file__.endswith("solutions/mini/part4.py"))
        print((Tensor([[1, 2]]) @ Tensor([[3], [4]])).numpy())
        print(mini.join().name)""",
    )
    assert "mini, stage 5: yours." in printed
    assert printed.endswith("True my_course/mini/part5.py\nTrue\n[[11.]]\nmy_mini.py\n")
    assert "# Stage 5: three kinds" in (copy / "my_mini.py").read_text()


def test_a_file_that_changes_after_its_import_is_read_again(copy):
    write(copy, THREE)
    printed = python(
        copy / "course",
        """if True:
        from pathlib import Path
        from classroom import use_mini
        use_mini(3)
        from mini.part3 import flat
        use_mini(4)                       # more stages: nothing is read again
        from mini.part4 import UOp as first
        print("between")
        file = Path("../mini/part3.py")
        file.write_text(file.read_text() + "\\nNEW = 5")
        use_mini(4)
        from mini.part3 import NEW
        from mini.part4 import UOp
        print(UOp is first, NEW, flat((1, 2), (3, 4)))
        use_mini(4)
        from mini.part4 import UOp as again
        print(again is UOp)""",
    )
    before, after = printed.split("between\n")
    assert "reads it anew" not in before
    assert after.count("reads it anew") == 1 and "False 5 6\n" in after and after.endswith("True\n")


def test_a_mini_that_was_imported_past_use_mini_is_read_again(copy):
    write(copy, THREE)
    printed = python(
        copy,
        """if True:
        import mini.part3
        from classroom import use_mini
        use_mini(3)
        from mini.part3 import flat
        print(flat.__globals__ is not mini.part3.__dict__)""",
    )
    assert "reads it anew" in printed and printed.endswith("True\n")


def test_there_is_no_stage_9(copy, capsys):
    from classroom import check_mini, use_mini

    use_mini(9)
    check_mini("3b")
    said = capsys.readouterr().out
    names = "3, 4, 4b, 5, 6, 7a, 7b, 8, 7c"
    assert f"mini has no stage 9. Its stages are {names}." in said and "no stage 3b" in said


def test_a_stage_that_passes_is_noted_and_one_that_is_open_is_not(copy, capsys):
    from classroom import check_mini

    check_mini(3)
    assert (
        "○ mini, stage 3. 0 of 18 checks pass. Still to write: `flat`, `unflat` and 5 more."
        in capsys.readouterr().out
    )
    assert not (copy / ".progress.json").exists()
    write(copy, THREE)
    check_mini(3)
    said = capsys.readouterr().out
    assert (
        "✓ mini, stage 3. All 18 checks pass. Your framework has room" in said
        and "✓ Array.sum" in said
    )
    kept = record.read(copy / ".progress.json")[0]
    assert kept["mini-3"]["done"] and kept["mini-3-flat"]["done"]
    assert "mini-4" not in kept and "mini-4-interpret" not in kept
    table = progress.table(copy / ".progress.json")[0]
    assert re.search(r"mini 3 .* 7/7 ", table) and re.search(r"mini 4 .* 0/5 +UOp.__new__", table)
    assert "mini" not in progress.table(copy / ".progress.json", only=3)[0]


def test_functions_that_pass_are_kept_one_by_one(copy, capsys):
    from classroom import check_mini

    text = with_body((HANDED_OUT / THREE.file).read_text(), "unflat", """
        index = ()
        for size in shape[::-1]:
            place, last = divmod(place, size)
            index = (last, *index)
        return index
        """)  # fmt: skip
    (copy / "mini" / "part3.py").write_text(text)
    check_mini(3)
    assert "Still to write: `flat`, `Array.of` and 4 more." in capsys.readouterr().out
    kept = record.read(copy / ".progress.json")[0]
    assert not kept.get("mini-3", {}).get("done")
    assert "mini-3-unflat" not in kept, "it is to undo flat, which is not there yet"
    write(copy, THREE)
    check_mini(3)
    assert record.read(copy / ".progress.json")[0]["mini-3-unflat"] == {"done": True}


def test_a_failure_names_the_call_what_was_expected_and_what_came(copy, capsys):
    from classroom import check_mini

    text = THREE.reference.read_text().replace("place * size + i", "place + i")
    (copy / "mini" / "part3.py").write_text(text)
    check_mini(3)
    said = capsys.readouterr().out
    assert "✗ flat. You added the two numbers of the index." in said
    for row in ("case      flat((1, 2), (3, 4))", "expected  6", "got       3"):
        assert row in said
    assert re.search(r"○ Array.of +0 of 1, waits for `flat`", said)


def test_a_failure_that_raises_shows_the_learners_line(copy, capsys):
    from classroom import check_mini

    text = THREE.reference.read_text().replace("place * size + i", "place.size + i")
    (copy / "mini" / "part3.py").write_text(text)
    check_mini(3)
    said = capsys.readouterr().out
    assert "AttributeError: 'int' object has no attribute 'size'" in said
    assert re.search(r"your line  \d+: `place = place.size \+ i`", said)


def test_no_line_is_better_than_line_none(copy, capsys):
    from classroom import check_mini

    for text in ("x = 1\0\n", "def f():\nreturn 1\n", "exec('1 / 0')\n", "import nothing_at_all\n"):
        (copy / "mini" / "part3.py").write_text(text)
        check_mini(3)
        said = capsys.readouterr().out
        assert "part3.py does not run." in said and "None" not in said
    (copy / "mini" / "part3.py").write_bytes(b"# \xff\xfe\n")
    check_mini(3)
    said = capsys.readouterr().out
    assert "part3.py does not run." in said and "None" not in said
