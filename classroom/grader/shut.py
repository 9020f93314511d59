"""tinyframe without the devices that come with it, for a project in which one is written.

In the sandbox of such a project, every module of tinyframe/runtime raises what `SAID` says. Only
the host's memory is left, as much of it as a Tensor needs that is made of a list: it can be filled
once, by tinyframe, and read by tinyframe. `host_memory.py` is that, and is copied in two places.
"""

from __future__ import annotations

from pathlib import Path

SAID = (
    "{} belongs to a device that comes with tinyframe. In this project the allocator, the "
    "compiler, the runner and the device have to be your own"
)
OPEN = ("__init__",)
MEMORY = ("host", "python")  # what a Tensor is made from
HOST_MEMORY = Path(__file__).with_name("host_memory.py")


def close_devices(runtime: Path) -> None:
    """Put what raises in the place of each module in a copy of tinyframe/runtime."""
    for path in runtime.rglob("*"):
        if not path.is_file() or path.name == "__init__.py":
            continue
        if path.suffix == ".py" and path.stem not in MEMORY:
            said = SAID.format(f"tinyframe.runtime.{path.stem}")
            path.write_text(f"raise ImportError({said!r})\n")
        elif path.suffix != ".py" or path.stem in MEMORY:
            path.unlink()  # sources in C, and what was compiled before
    for name in MEMORY:
        (runtime / f"{name}.py").write_text(HOST_MEMORY.read_text())
        (runtime / f"{name}.py").chmod(0o644)
