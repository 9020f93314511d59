"""Process replay: recordings are repeatable, and a change of what is generated is shown."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kernels import on_buffer
from tests.replay.compare import differences, report
from tests.replay.record import Recorder
from tests.replay.recording import BrokenRecording, Program, Recording
from tinyframe import Context
from tinyframe.codegen.optimize import plans
from tinyframe.codegen.optimize.plans import Nest, Plan
from tinyframe.observe import observing

ROOT = Path(__file__).parents[2]
SMALL = """
from tinyframe import Context, Tensor

def test_of_a_difference():
    (Tensor.ones(8, 8).contiguous() - Tensor.full((8, 8), 3.0).contiguous()).realize()

def test_without_opts():
    with Context(NOOPT=1):
        Tensor.ones(9).contiguous().exp().realize()

def test_of_doubles():
    (Tensor.ones(4, dtype="float64").contiguous() * 3).realize()
"""


def recorded(*makers, label: str = "here", languages: tuple[str, ...] = ()) -> Recording:
    """What running these records, each as a file of tests of its name."""
    recording = Recording(label, ["tests"], list(languages), "this machine")
    recorder = Recorder(recording)
    with observing(recorder):
        for make in makers:
            recorder.begin(f"tests/{make.__name__}.py")
            make()
    recorder.write_in(languages)
    return recording


def matmul() -> None:
    (on_buffer(16, 24, device="NULL") @ on_buffer(24, 32, device="NULL")).realize()


def rows() -> None:
    on_buffer(16, 20, device="NULL").sum(1).realize()


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(folder), **environment}
    env.pop("PYTEST_ADDOPTS", None)
    return subprocess.run([sys.executable, "-m", "tests.replay", *arguments], cwd=folder, env=env,
                          capture_output=True, text=True, check=False)  # fmt: skip


# ---- the same code -------------------------------------------------------------------------------


def test_two_recordings_of_the_same_code_are_equal_byte_by_byte_whatever_the_hash_seed(tmp_path):
    test = tmp_path / "test_small.py"
    test.write_text(SMALL)
    for seed in ("1", "2"):
        to = tmp_path / seed
        done = run(ROOT, "record", "--to", str(to), "--label", "same", "--languages", "METAL",
                   str(test), PYTHONHASHSEED=seed)  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
    one, two = (tmp_path / seed / "kernels.jsonl" for seed in ("1", "2"))
    assert one.read_bytes() == two.read_bytes()
    done = run(ROOT, "compare", str(tmp_path / "1"), str(tmp_path / "2"))
    assert done.returncode == 0
    assert done.stdout.endswith("No difference.\n")
    assert_all_was_recorded(Recording.read(tmp_path / "1"))


def assert_all_was_recorded(found: Recording) -> None:
    programs = [program for kernel in found.kernels.values() for program in kernel.programs]
    assert {program.language for program in programs} == {"CPU", "METAL"}
    assert {program.settings for program in programs} == {"", "NOOPT=1"}
    refused = [p for p in programs if p.source.startswith("DTypeError: METAL has no float64")]
    assert {(program.language, program.opts) for program in refused} == {("METAL", ())}
    assert all({Path(f).name for f in kernel.files} == {"test_small.py"}
               for kernel in found.kernels.values())  # fmt: skip


def test_a_kernel_that_is_ready_counts_for_every_file_that_asks_for_it():
    def again() -> None:
        matmul()

    found = recorded(matmul, rows, again)
    files = sorted(sorted(kernel.files) for kernel in found.kernels.values())
    assert files == [["tests/again.py", "tests/matmul.py"], ["tests/rows.py"]]


def test_reading_gives_what_was_written(tmp_path):
    found = recorded(matmul, rows, languages=("HIP",))
    found.write(tmp_path)
    assert Recording.read(tmp_path) == found


def test_order_makes_no_difference(tmp_path):
    recorded(matmul, rows).write(tmp_path / "a")
    recorded(rows, matmul).write(tmp_path / "b")
    a, b = ((tmp_path / name / "kernels.jsonl").read_bytes() for name in "ab")
    assert a == b


def test_what_a_search_finds_is_not_recorded():
    with Context(BEAM=1):
        assert recorded(matmul).kernels == {}


# ---- other code ----------------------------------------------------------------------------------


def test_a_planted_plan_is_shown_with_the_kernels_name_its_opts_and_a_diff_of_its_source():
    old = recorded(matmul, rows, label="before", languages=("METAL",))
    as_written = Plan("as written", "a test says so", {}, lambda kernel: Nest(()))
    plans.CPU.insert(0, as_written)
    try:
        new = recorded(matmul, rows, label="after", languages=("METAL",))
    finally:
        plans.CPU.remove(as_written)
    assert {d.kind for d in differences(old, new)} == {"changed"}
    lines = report(old, new).splitlines()
    assert lines[:3] == ["old: before, 2 kernels", "new: after, 2 kernels",
                         "0 gone, 0 new, 2 changed"]  # fmt: skip
    assert "tests/matmul.py  1 changed" in lines
    (name,) = [line for line in lines if line.startswith("changed") and "matmul" in line]
    assert name.startswith("changed r_") and name.endswith("   tests/matmul.py")
    assert lines.count("      -> as written") == 2
    assert sum(line.startswith("    plan: ") for line in lines) == 2
    assert any(line.startswith("    opts: Opt(OptOps.") for line in lines)
    assert lines.count("      -> none") == 2
    assert any(line.startswith("  -") and "float4" in line for line in lines)
    assert any(line.startswith("  +") and "for (int ridx" in line for line in lines)
    assert not any("METAL" in line for line in lines)  # there, nothing has changed


def test_new_and_gone_kernels_are_named_with_their_files():
    old, new = recorded(matmul, label="a"), recorded(rows, label="b")
    text = report(old, new)
    assert "1 gone, 1 new, 0 changed" in text
    assert "tests/matmul.py  1 gone\ntests/rows.py    1 new" in text
    assert [d.kind for d in differences(old, new)] == ["gone", "new"]
    assert [d.kind for d in differences(new, old)] == ["gone", "new"]


def test_a_program_more_and_one_less_are_told_from_a_changed_one():
    old, new = recorded(rows), recorded(rows)
    (kernel,) = new.kernels.values()
    kernel.programs.add(Program("CPU", "NOOPT=1", "r_16_20", (), "", "void r_16_20() {}\n"))
    assert "CPU NOOPT=1: one more program, r_16_20" in report(old, new)
    assert "CPU NOOPT=1: one program less, r_16_20" in report(new, old)


def test_only_so_many_differences_are_shown_in_full():
    old, new = recorded(label="nothing"), recorded(matmul, rows)
    assert "… and 1 more; --most 0 shows all." in report(old, new, most=1)
    assert "more" not in report(old, new, most=0)


def test_a_language_that_an_older_commit_lacks_is_no_difference():
    old, new = recorded(rows), recorded(rows, languages=("METAL",))
    assert differences(old, new) == []
    assert "Only new writes METAL.\nNo difference." in report(old, new)


def test_recordings_of_two_machines_are_said_to_be():
    old, new = recorded(rows), recorded(rows)
    new.machine = "that machine"
    assert "different machines: this machine; that machine" in report(old, new)


def test_commits_are_recorded_in_worktrees_of_their_own_once(tmp_path):
    repository(tmp_path)
    changed = tmp_path / "tinyframe" / "codegen" / "decompose" / "__init__.py"
    changed.write_text(changed.read_text() + "\nfor_native_op.clear()  # a - b stays a + b * -1\n")
    git(tmp_path, "commit", "-qam", "a rule less")
    given = ("--tests", "test_small.py", "--languages", "METAL")
    done = run(tmp_path, "compare", "HEAD~1", "HEAD", *given)
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.count("recording ") == 2
    assert "\ntest_small.py  " in done.stdout
    assert "\nchanged E_" in done.stdout
    assert "\n  CPU:\n" in done.stdout and "\n  METAL:\n" in done.stdout
    assert "\n  -" in done.stdout and "* -1.0f" in done.stdout
    assert git(tmp_path, "worktree", "list").count("\n") == 1  # no temporary one is left

    done = run(tmp_path, "compare", "HEAD", "HEAD", *given)
    assert (done.returncode, done.stdout.count("recording ")) == (0, 0)
    assert git(tmp_path, "status", "--porcelain") == ""

    done = run(tmp_path, "compare", "no-such-branch")
    assert done.returncode == 2
    assert "'no-such-branch' is neither the folder of a recording nor a commit" in done.stderr


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", *who, *arguments], cwd=folder, check=True, text=True,
                          capture_output=True).stdout  # fmt: skip


def repository(folder: Path) -> None:
    """A repository with this tinyframe, and a file of tests."""
    skipped = shutil.ignore_patterns("__pycache__", "viz")
    shutil.copytree(ROOT / "tinyframe", folder / "tinyframe",
                    ignore=shutil.ignore_patterns("__pycache__"))  # fmt: skip
    shutil.copytree(ROOT / "tests" / "replay", folder / "tests" / "replay", ignore=skipped)
    (folder / "tests" / "__init__.py").write_text("")
    (folder / "test_small.py").write_text(SMALL)
    (folder / ".gitignore").write_text("/build/\n__pycache__/\n.pytest_cache/\n")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "as it is")


# ---- broken recordings ---------------------------------------------------------------------------


def cut(folder: Path) -> None:
    file = folder / "kernels.jsonl"
    file.write_text(file.read_text()[:-40])


def without_kernels(folder: Path) -> None:
    (folder / "kernels.jsonl").unlink()


def without_manifest(folder: Path) -> None:
    (folder / "manifest.json").unlink()


def no_json(folder: Path) -> None:
    (folder / "manifest.json").write_text("{")


def of_another_version(folder: Path) -> None:
    about = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**about, "format": 0}))


BROKEN = {
    cut: "kernels.jsonl is not the file that manifest.json was written with",
    without_kernels: "kernels.jsonl cannot be read",
    without_manifest: "is no recording, or one that was interrupted",
    no_json: "manifest.json cannot be read",
    of_another_version: "manifest.json is not of this version; record it again",
}


@pytest.mark.parametrize("damage", BROKEN)
def test_a_broken_recording_is_an_error_that_says_what_is_wrong(damage, tmp_path):
    recorded(rows).write(tmp_path)
    damage(tmp_path)
    with pytest.raises(BrokenRecording, match=BROKEN[damage]) as error:
        Recording.read(tmp_path)
    assert str(tmp_path) in str(error.value)


def test_the_command_says_so_too_and_ends_with_status_2(tmp_path):
    recorded(rows).write(tmp_path)
    cut(tmp_path)
    done = run(ROOT, "compare", str(tmp_path), str(tmp_path))
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {tmp_path}: kernels.jsonl is not the file")


def test_tests_that_cannot_be_run_leave_no_recording(tmp_path):
    to = tmp_path / "to"
    done = run(ROOT, "record", "--to", str(to), "--label", "x", str(tmp_path / "no_such_file.py"))
    assert done.returncode == 2
    assert "pytest ended with status 4: nothing was recorded" in done.stderr
    assert not to.exists()


def test_recordings_of_different_tests_are_not_compared(tmp_path):
    recorded(rows).write(tmp_path / "a")
    other = recorded(rows)
    other.tests = ["others"]
    other.write(tmp_path / "b")
    done = run(ROOT, "compare", str(tmp_path / "a"), str(tmp_path / "b"))
    assert done.returncode == 2
    assert "the recordings are of different tests or languages" in done.stderr
