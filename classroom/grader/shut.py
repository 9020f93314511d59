"""tinyframe without the devices that come with it, for a project in which one is written.

In the sandbox of such a project, every module of tinyframe/runtime raises what `SAID` says, and so
does mini. Only the host's memory is left, as much of it as a Tensor needs that is made of a list:
`host_memory.py`, which stands where two modules were.
"""

from __future__ import annotations

from pathlib import Path

from classroom.grader.host_memory import SAID

MEMORY = ("host", "python")  # what a Tensor is made from
HOST_MEMORY = Path(__file__).with_name("host_memory.py")


def close_devices(library: Path) -> None:
    """Puts what raises in the place of the devices, in a folder with a copy of tinyframe."""
    for path in [*(library / "tinyframe" / "runtime").rglob("*")]:
        if path.suffix == ".py" and path.stem in MEMORY:
            path.write_text(HOST_MEMORY.read_text())
        elif path.suffix == ".py" and path.name != "__init__.py":
            path.write_text(raises(f"tinyframe.runtime.{path.stem}"))
        elif path.is_file() and path.suffix != ".py":
            path.unlink()  # sources in C, a README with a backend, and what was compiled before
    (library / "mini").mkdir()
    (library / "mini" / "__init__.py").write_text(raises("mini's reference"))
    for path in (library / "mini", library / "mini" / "__init__.py"):
        path.chmod(0o755)


def raises(name: str) -> str:
    return f"raise ImportError({SAID.format(name)!r})\n"
