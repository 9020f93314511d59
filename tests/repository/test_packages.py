"""pyproject.toml and environment.yml name the same packages, and the lean install stays lean."""

import itertools
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import yaml

from classroom.release import files

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]

# What conda calls some packages of PyPI. "graphviz" there is the dot program.
CONDA_NAMES = {"graphviz": "python-graphviz", "pocl-binary-distribution": "pocl"}
# What a pip user gets from the system, or has by running pip at all.
ONLY_CONDA = {"python", "pip", "clang", "graphviz"}
# Extras that conda's environment goes without, and why.
NOT_IN_CONDA = {
    "torch": "a reference for tests, by pip and in one release",
    "bench": "the libraries that benchmarks measure beside, by pip",
    "cuda": "NVIDIA's driver binding and compiler, by pip",
    "zig": "clang is there",
    "browser": "what tests the explorer's page, by pip",
    "dev": "the sum of course, test and site",
}


def split(requirement):
    """("numpy", ">=2.0") of "numpy>=2.0; sys_platform == 'linux'"."""
    return re.match(r"([\w.-]+)\s*([^;]*)", requirement).groups()


def conda_lists():
    """What environment.yml takes from conda-forge, and what from PyPI."""
    listed = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    (by_pip,) = (entry["pip"] for entry in listed if isinstance(entry, dict))
    return [entry for entry in listed if isinstance(entry, str)], by_pip


def conda_packages():
    by_conda, by_pip = conda_lists()
    named = [package for package in by_pip if not package.startswith("--")]
    return dict(split(package) for package in by_conda + named)


def pypi_packages():
    """Name and versions of all that conda should have too, under conda's names."""
    wanted = [extra for extra in EXTRAS if extra not in NOT_IN_CONDA]
    listed = PROJECT["dependencies"] + [package for extra in wanted for package in EXTRAS[extra]]
    return {CONDA_NAMES.get(name, name): versions for name, versions in map(split, listed)}


def test_conda_and_pypi_users_get_the_same_packages_in_the_same_versions():
    conda = conda_packages()
    assert {name: conda[name] for name in conda if name not in ONLY_CONDA} == pypi_packages()
    assert conda["python"] == PROJECT["requires-python"]
    assert set(conda) >= ONLY_CONDA


def test_the_environment_has_what_the_course_promises_to_conda_users():
    promised = {"python", "jupyterlab", "numpy", "matplotlib", "graphviz", "python-graphviz"}
    promised |= {"nbval", "pyopencl", "pocl", "clang"}
    assert promised <= set(conda_packages())


def test_conda_installs_tinyframe_itself_from_this_folder():
    assert "--editable ." in conda_lists()[1]


def test_tinyframe_alone_needs_only_numpy_and_platformdirs():
    assert [split(package)[0] for package in PROJECT["dependencies"]] == ["numpy", "platformdirs"]


def test_pytorch_is_a_reference_for_tests_in_one_release():
    assert EXTRAS["torch"] == ["torch==2.13.0"]
    others = [package for extra in EXTRAS if extra != "torch" for package in EXTRAS[extra]]
    assert not any(package.startswith("torch") for package in others)


def test_dev_is_what_start_py_test_installs():
    assert EXTRAS["dev"] == ["tinyframe[course,test,site]"]


def test_no_package_is_asked_for_in_two_versions():
    seen = {}
    for package in [*PROJECT["dependencies"], *itertools.chain(*EXTRAS.values())]:
        name, versions = split(package)
        assert seen.setdefault(name, versions) == versions, f"{name} has two different bounds"


# ---- a release ----------------------------------------------------------------------------------


def test_a_wheel_brings_what_a_program_needs(tmp_path):
    """Built of what git knows, and run where nothing else of the repository is."""
    listed = [name for name in files() if name.startswith(("tinyframe/", "classroom/"))]
    for name in (*listed, "pyproject.toml", "README.md", "LICENSE"):
        (tmp_path / "copy" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / "copy" / name)
    pip = [sys.executable, "-m", "pip", "-q", "wheel", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "-w", tmp_path, tmp_path / "copy"], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        file.extractall(tmp_path / "there")
        left_out = {name for name in listed if name not in file.namelist()}
    assert {Path(name).suffix for name in left_out} <= {".md", ".yml", ".png"}
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'there')!r})\n"
        "import tinyframe; print(tinyframe.__file__)\n"
        "print(tinyframe.Tensor([3.0, 4.0]).square().sum().sqrt().item())"
    )
    done = subprocess.run([sys.executable, "-I", "-c", program], cwd=tmp_path, check=True,
                          capture_output=True, text=True)  # fmt: skip
    file, number = done.stdout.split()
    assert Path(file).is_relative_to(tmp_path) and number == "5.0"


def test_a_release_has_one_version():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cited["version"] == PROJECT["version"]
    assert PROJECT["version"] in (ROOT / "CHANGELOG.md").read_text()
