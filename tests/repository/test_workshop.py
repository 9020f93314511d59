"""What surrounds the code: continuous integration, container, make targets, ignored files."""

import json
import re
import subprocess
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
INSTALLING = ROOT / "docs" / "map.md"


def workflow_jobs(name="ci"):
    return yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text())["jobs"]


def commands_of(job):
    return [step["run"] for step in job["steps"] if "run" in step]


def test_the_parts_of_a_workflow_are_everything_there_is():
    everything = workflow_jobs()["everything"]
    parts = " ".join(everything["strategy"]["matrix"]["part"]).split()
    tested = [*(ROOT / "tests").glob("*/test_*.py"), *ROOT.glob("course/[0-9]*.ipynb")]
    folders = {path.parent.relative_to(ROOT).as_posix() for path in tested}
    assert folders <= set(parts), "a class lacks some"
    options = "python3 start.py test --torch --browser --cuda ${{ matrix.part }}"
    assert {options, "make lint"} <= set(commands_of(everything))


def test_a_job_ends_within_half_an_hour_and_its_actions_are_pinned():
    for name, job in (workflow_jobs() | workflow_jobs("pages")).items():
        assert job["timeout-minutes"] <= 30, name
        for step in job["steps"]:
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step.get("uses", "a@" + 40 * "0")), name


def test_what_compiles_is_there_and_tried_with_each_compiler_that_is_named():
    listed = re.search(r"^parts=\(.*?^\)", (ROOT / ".ci/compilers").read_text(), re.M | re.S)
    expand = f'{listed[0]}; printf "%s\\n" "${{parts[@]%%::*}}"'
    parts = subprocess.run(["bash", "-c", expand], cwd=ROOT, capture_output=True, text=True)
    assert parts.stdout
    missing = [part for part in parts.stdout.split() if not (ROOT / part).is_file()]
    assert missing == [] or not (ROOT / "solutions" / "projects").is_dir(), "a class lacks some"
    told = re.search(r"every check passes with (.*?)\n", INSTALLING.read_text())[1]
    tried = workflow_jobs()["compilers"]["strategy"]["matrix"]["compiler"]
    assert {name.removeprefix("clang-") for name in tried} <= set(re.findall(r"\w+", told))
    assert "bash .ci/compilers clang" in (ROOT / ".ci/run").read_text()


def test_the_learners_commands_run_on_linux_and_macos_at_the_oldest_python():
    learner = workflow_jobs()["learner"]
    matrix = learner["strategy"]["matrix"]
    assert {system.split("-")[0] for system in matrix["os"]} == {"ubuntu", "macos"}
    assert f"Python {matrix['python'][0]} or newer" in README.read_text()
    tests = "python3 start.py test tests/unit tests/ops tests/mini course"
    assert {"python3 start.py --no-open", tests} <= set(commands_of(learner))


def test_the_container_is_set_up_and_opened_by_the_same_command():
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    assert container["postCreateCommand"] == "python3 start.py --no-open"
    assert container["postAttachCommand"].startswith("python3 start.py lab --no-browser")


def test_each_service_that_has_pages_builds_the_site_with_the_same_command():
    command = "python -m classroom site"
    assert command in commands_of(workflow_jobs("pages")["site"])
    gitlab = yaml.safe_load((ROOT / ".gitlab-ci.yml").read_text())["pages"]
    assert f"{command} public" in gitlab["script"] and gitlab["artifacts"]["paths"] == ["public"]


def test_make_has_its_targets():
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    assert targets == ["lab", "test", "lint", "bench", "course", "site"]


def test_the_learners_copy_and_the_environment_are_never_committed():
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    assert {"/my_course/", "/.venv/"} <= set(ignored)
