"""All settings, in one table: environment variables that `Context` can override temporarily.

`settings.DEBUG` is the first of these that is set: the innermost enclosing `Context(DEBUG=...)`,
the current `os.environ["DEBUG"]` (set before or after import, from the shell or from Python), the
default. An empty environment variable counts as not set.

    with Context(DEBUG=2, NOOPT=1):
        (a @ b).realize()

To add a setting, add a row to `Settings`. Nothing else in tinyframe reads `os.environ`.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import operator
import os
import warnings
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Generic, NamedTuple, NoReturn, Self, TypeVar, overload

from tinyframe.peer_settings import INSTEAD, instead, misspelt

T = TypeVar("T")


@contextlib.contextmanager
def variable(name: str, value: str) -> Iterator[None]:
    """Sets an environment variable inside the block, for a driver that reads it."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


class UnknownSetting(AttributeError, ValueError):
    """There is no such setting; the message lists those that exist."""


class SettingWarning(UserWarning):
    """An environment variable looks like a setting, but nothing reads it."""


class _Frame(NamedTuple):
    """The settings overridden by the enclosing Contexts, and the frame to go back to."""

    values: dict[str, Any]
    outer: _Frame | None


_frame: ContextVar[_Frame | None] = ContextVar("tinyframe_settings", default=None)


class Setting(Generic[T]):
    """One row of the table. As an attribute of `settings` it gives the current value.

    parse: text -> value; ValueError if the text is malformed.
    allowed: what parse accepts, in words for the user.
    default: the value, or a function that computes it, which `default_text` describes.
    """

    def __init__(
        self,
        parse: Callable[[str], T],
        allowed: str,
        default: T | Callable[[], T],
        meaning: str,
        default_text: str | None = None,
    ) -> None:
        self.parse, self.allowed, self.meaning = parse, allowed, meaning
        self.default = default
        self.default_text = str(default) if default_text is None else default_text
        self._parsed: dict[Any, T] = {}  # the environment's text -> value: parsed once

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        self._encoded_name = os.environ.encodekey(name)

    @overload
    def __get__(self, instance: None, owner: type) -> Setting[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> Setting[T] | T:
        if instance is None:
            return self
        frame = _frame.get()
        if frame is not None and self.name in frame.values:
            value: T = frame.values[self.name]
            return value
        # If the name is missing, as usual, os.environ.get raises and catches a KeyError inside; the
        # private dict of encoded names beneath it is several times faster.
        environ = os.environ
        stored = getattr(environ, "_data", None)
        raw = environ.get(self.name) if stored is None else stored.get(self._encoded_name)
        if raw:
            if raw not in self._parsed:
                self._parsed[raw] = self.from_text(environ[self.name])
            return self._parsed[raw]
        return self.default() if callable(self.default) else self.default

    def from_text(self, text: str) -> T:
        """The value of this text. ValueError with the name, the text and what is allowed."""
        try:
            return self.parse(text.strip())
        except ValueError:
            raise ValueError(
                f"{self.name}={text!r}: must be {self.allowed} ({self.meaning})"
            ) from None

    def from_python(self, value: object) -> T:
        """The value that `Context(NAME=value)` sets, through its text: 1 and "1" are the same."""
        if isinstance(value, (str, os.PathLike)):
            return self.from_text(os.fspath(value))
        try:
            return self.from_text(str(operator.index(value)))  # type: ignore[arg-type]
        except TypeError:
            raise ValueError(
                f"{self.name}={value!r}: must be {self.allowed} ({self.meaning})"
            ) from None


# *** kinds of rows ***


def integer(default: int, lowest: int, highest: int | None, meaning: str) -> Setting[int]:
    """A whole number from `lowest` to `highest`, or without an upper bound if that is None."""
    allowed = f"{lowest} or more" if highest is None else f"{lowest} to {highest}"
    return Setting(_integer_parser(lowest, highest), f"a whole number, {allowed}", default, meaning)


def flag(default: int, meaning: str) -> Setting[int]:
    """0 or 1."""
    return Setting(_integer_parser(0, 1), "0 or 1", default, meaning)


def text(default: str, meaning: str) -> Setting[str]:
    """Any text; the code that reads it checks it."""
    return Setting(str, "any text", default, meaning, default_text=default or "(none)")


def folder(default: Callable[[], Path], meaning: str, default_text: str) -> Setting[Path]:
    """A path, with ~ for the home directory; it need not exist."""
    return Setting(_parse_path, "a path", default, meaning, default_text)


def _integer_parser(lowest: int, highest: int | None) -> Callable[[str], int]:
    def parse(text: str) -> int:
        value = int(text)
        if value < lowest or (highest is not None and value > highest):
            raise ValueError(text)
        return value

    return parse


def _parse_path(text: str) -> Path:
    if not text:
        raise ValueError(text)
    try:
        return Path(text).expanduser()
    except RuntimeError as error:  # ~someone who does not exist
        raise ValueError(text) from error


def _parse_cpu(text: str) -> int:
    # openSUSE's /etc/profile sets CPU to the output of `uname -m`, which selects no device.
    return 0 if text == os.uname().machine else _integer_parser(0, 1)(text)


# *** defaults that are computed ***


@functools.cache
def usable_cores() -> int:
    """The number of cores this process may run on, as of the first call."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # macOS has no affinity


def _user_cache() -> Path:
    import platformdirs  # imported here, since it would slow down `import tinyframe`

    return platformdirs.user_cache_path("tinyframe")


def _user_data() -> Path:
    import platformdirs

    return platformdirs.user_data_path("tinyframe")


def _is_traced() -> int:
    """The default of VIZ: setting VIZ_TRACE turns it on."""
    return int(settings.VIZ_TRACE != "")


# *** the table ***


class Settings:
    """The table of settings; `settings` is its one instance."""

    # what to show
    DEBUG = integer(
        0, 0, 7, "1 kernels and time, 2 each kernel, 3 source, 4 changes by stage, 5 whole graphs"
    )
    NO_COLOR = text("", "any text takes the colours out of what is printed (https://no-color.org)")
    VIZ = Setting(_integer_parser(0, 1), "0 or 1", _is_traced,
                  "record what is compiled and run, and show it in the browser explorer",
                  default_text="0")  # fmt: skip
    VIZ_TRACE = text("", "a file for what VIZ=1 would show, to look at later")

    # how to compile
    BEAM = integer(
        0, 0, None, "beam width of the search for each kernel's loops; 0 takes what the plan says"
    )
    NOOPT = flag(0, "leave each kernel's loops as written")
    JIT = flag(1, "0 runs every TinyJit function in Python every time")
    SPEC = flag(0, "check every graph against the spec after each stage")
    RELAXED = flag(0, "also use float rules that are not exact, such as log(exp(x)) -> x")
    TF32 = flag(0, "tensor cores may multiply float32; they read 10 of its 23 mantissa bits")

    # what to compute
    TRAINING = flag(0, "dropout is active, and BatchNorm updates its statistics: `Tensor.train()`")
    ALL_GRADS = flag(0, "backward() gives a .grad to every float Tensor, as in tinygrad")

    # where to run
    DEVICE = text("", 'the default device by name, such as "CPU" or "CUDA:1"')
    CPU = Setting(_parse_cpu, "0 or 1", 0,
                  "the default device is CPU: C through the system's compiler")  # fmt: skip
    CLANG = flag(0, "another name for CPU")
    CL = flag(0, "the default device is OpenCL")
    OPENCL = flag(0, "another name for CL")
    GPU = flag(0, "another name for CL")
    CUDA = flag(0, "the default device is CUDA")
    NV = flag(0, "another name for CUDA")
    WEBGPU = flag(0, "the default device is WEBGPU: WGSL through wgpu")
    PYTHON = flag(0, "the default device is PYTHON, the interpreter that checks every access")
    NULL = flag(0, "the default device is NULL, which compiles and counts, and runs nothing")
    CUDA_EMULATE = integer(
        0, 0, 2, "1 runs CUDA kernels on the CPU, checking each access, 2 also looks for races"
    )
    THREADS = Setting(_integer_parser(1, None), "a whole number, 1 or more", usable_cores,
                      "CPU threads that a kernel may use", default_text="usable cores")  # fmt: skip
    CC = text("", "the C compiler; by default gcc, clang, cc or zig, the first that is found")
    TINYFRAME_CFLAGS = text("", 'more flags for the C compiler, such as "-mno-avx512f"')

    # what to keep
    CACHE = flag(1, "0 neither reads nor writes compiled kernels on disk")
    TINYFRAME_CACHE = folder(
        _user_cache, "folder of compiled kernels and found schedules", "user cache folder"
    )
    TINYFRAME_DATA = folder(
        _user_data, "folder of downloaded datasets and weights", "user data folder"
    )

    def __getattr__(self, name: str) -> NoReturn:
        raise UnknownSetting(_unknown([name]))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        if name not in rows():
            raise UnknownSetting(_unknown([name]))
        raise AttributeError(
            f"settings.{name} is read-only; use `with Context({name}={value!r}):` "
            f'or os.environ["{name}"] = "{value}"'
        )

    def fingerprint(self) -> tuple[object, ...]:
        """A tuple that stays equal as long as no setting changes: the enclosing Context, and the
        texts in the environment. Comparing it is a fast check for code that depends on many
        settings."""
        stored = getattr(os.environ, "_data", os.environ)  # see Setting.__get__
        names = _encoded_names() if stored is not os.environ else rows()
        return (_frame.get(), *map(stored.get, names))

    def describe(self) -> str:
        """The table as text: name, default, allowed values and meaning, one setting per line."""
        lines = [("name", "default", "allowed", "meaning")]
        lines += [(row.name, row.default_text, row.allowed, row.meaning) for row in rows().values()]
        widths = [max(len(line[column]) for line in lines) for column in range(4)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )


@functools.cache
def rows() -> dict[str, Setting[Any]]:
    """The settings by name, in the table's order."""
    return {name: row for name, row in vars(Settings).items() if isinstance(row, Setting)}


@functools.cache
def _encoded_names() -> list[Any]:
    return [row._encoded_name for row in rows().values()]


def _unknown(names: list[str]) -> str:
    hints = []
    for name in names:
        close = difflib.get_close_matches(name.upper(), rows(), n=1)
        hint = INSTEAD.get(name) or (close and f"did you mean {close[0]}?")
        hints.append(f"{name!r}" + (f" ({hint})" if hint else ""))
    return f"unknown setting {', '.join(hints)}; there are: {', '.join(rows())}"


def check_environment() -> None:
    """Checks the environment: a SettingWarning for each variable that has no effect here and was
    probably meant as a setting; ValueError if a setting has a malformed value."""
    for name, value in os.environ.items():
        if row := rows().get(name):
            if value:
                row.from_text(value)
        elif (hint := instead(name, value) or _misspelling(name, value)) is not None:
            warnings.warn(f"{name}={value} does nothing in tinyframe: {hint}", SettingWarning,
                          stacklevel=3)  # fmt: skip


def _misspelling(name: str, value: str) -> str | None:
    """A hint at the setting that was meant; None if the name is unlikely to be a misspelling."""
    right = misspelt(name, rows())
    if right is None or not value:
        return None
    try:
        rows()[right].from_text(value)
    except ValueError:  # BEEM=red was not meant as a BEAM
        return None
    return f"did you mean {right}={value}?"


settings = Settings()


def getenv(name: str, default: Any = 0) -> Any:
    """An environment variable of a user's program, converted to the type of its default."""
    return type(default)(os.environ.get(name) or default)


def put(name: str, value: int) -> None:
    """Changes a setting: in the innermost enclosing Context if one sets it, else permanently."""
    frame, row = _frame.get(), rows()[name]
    if frame is not None and name in frame.values:
        frame.values[name] = row.from_python(value)
    else:
        row.default = row.from_python(value)


class Context(contextlib.ContextDecorator):
    """Overrides settings inside a `with` block, or inside the function it decorates.

    Values are checked on creation, before the block starts: UnknownSetting for an unknown name,
    ValueError for a malformed value. Contexts nest, the innermost wins, and the old values are
    restored at the end, even after an exception. A Context applies to its own thread (or asyncio
    task) only, and not to threads started inside it.

        with Context(DEBUG=2, BEAM=4):
            loss.backward()
    """

    def __init__(self, **values: Any) -> None:
        unknown = [name for name in values if name not in rows()]
        if unknown:
            raise UnknownSetting(_unknown(unknown))
        self.values = {name: rows()[name].from_python(value) for name, value in values.items()}

    # Enter and exit keep no state on self, so one Context can be entered many times at once: it may
    # decorate a recursive function, or one that several threads call.
    def __enter__(self) -> Self:
        outer = _frame.get()
        _frame.set(_Frame({**(outer.values if outer else {}), **self.values}, outer))
        return self

    def __exit__(self, *exc: object) -> None:
        frame = _frame.get()
        _frame.set(frame.outer if frame else None)
