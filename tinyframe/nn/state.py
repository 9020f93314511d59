"""The state of a model: its parameters by name, and files of them.

    safe_save(get_state_dict(model), "model.safetensors")
    load_state_dict(model, safe_load("model.safetensors"))

Any object is a model: Tensors are found in its attributes, and in lists, tuples and dicts among
these, and named by their path: `layers.0.weight`.

A safetensors file is a JSON header of names, dtypes, shapes and offsets, followed by the bytes.
Nothing in it can execute code. The `safetensors` library writes files, and validates those we
read.
"""

from __future__ import annotations

import contextlib
import fcntl
import glob
import io
import json
import math
import os
import secrets
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tinyframe.dtype import DType, dtypes
from tinyframe.nn.lazy_file import FileError, OpenFile, lazy_tensor
from tinyframe.nn.torch_file import torch_load
from tinyframe.tensor.core import Tensor
from tinyframe.uop.movement import memory_of
from tinyframe.uop.node import Ops, UOp

__all__ = [
    "FileError", "StateError", "TensorIO", "get_parameters", "get_state_dict", "load_state_dict",
    "safe_load", "safe_load_metadata", "safe_save", "torch_load",
]  # fmt: skip


class StateError(ValueError, KeyError, RuntimeError):
    """A state dict that does not fit a model; each mismatch is a line."""

    __str__ = Exception.__str__  # KeyError's would show it in quotes, on one line


# ---- the Tensors of an object --------------------------------------------------------------------


def get_state_dict(obj: Any, prefix: str = "") -> dict[str, Tensor]:
    """Every Tensor in an object by name, in the order of its attributes.

    prefix: goes before each name, with a dot.
    """
    return dict(_tensors(obj, prefix.strip("."), ()))


def get_parameters(obj: Any) -> list[Tensor]:
    """Every Tensor in an object, for an optimizer; running statistics included."""
    return list(get_state_dict(obj).values())


def _tensors(obj: Any, name: str, above: tuple[int, ...]) -> Iterator[tuple[str, Tensor]]:
    if isinstance(obj, Tensor):
        yield name, obj
        return
    if id(obj) in above:  # a reference cycle
        return
    for key, value in _parts(obj):
        yield from _tensors(value, f"{name}.{key}" if name else str(key), (*above, id(obj)))


def _parts(obj: Any) -> list[tuple[Any, Any]]:
    if hasattr(obj, "_asdict"):  # a namedtuple
        return list(obj._asdict().items())
    if isinstance(obj, (list, tuple)):
        return list(enumerate(obj))
    if isinstance(obj, Mapping):
        return list(obj.items())
    # Functions, modules and the framework's own objects (a TinyJit) are not searched.
    module = type(obj).__module__
    own = module.startswith("tinyframe.") and not module.startswith("tinyframe.nn")
    if own or isinstance(obj, (type, types.ModuleType, types.FunctionType, types.MethodType, UOp)):
        return []
    return list(getattr(obj, "__dict__", {}).items())


def _check(state_dict: Any) -> None:
    """TypeError for what is no dict of Tensors, with the name of the entry that is none."""
    is_dict = isinstance(state_dict, Mapping)
    for name, tensor in state_dict.items() if is_dict else [("the state dict", state_dict)]:
        if not isinstance(tensor, Tensor):
            instead = "Tensor(x)" if is_dict else "nn.state.get_state_dict(model)"
            raise TypeError(f"`{name}` is {type(tensor).__name__}: {instead} is what fits there")


def load_state_dict(
    model: Any,
    state_dict: Mapping[str, Tensor],
    strict: bool = True,
    verbose: bool = True,
) -> None:
    """Writes the values of a state dict into the Tensors of a model, cast to their dtypes.

    () and (1,) are interchangeable. strict: names that only one side has are errors too; otherwise
    they are skipped, and printed if verbose. StateError lists all mismatches; nothing has been
    changed then. An optimizer's file may be from when all parameters had one counter.
    """
    _check(state_dict)
    own = get_state_dict(model)
    state_dict = _with_counters(own, state_dict)
    missing = [name for name in own if name not in state_dict]
    unexpected = [name for name in state_dict if name not in own]
    pairs = {name: (own[name], state_dict[name]) for name in own if name in state_dict}
    problems = [
        f"Shape mismatch in layer `{name}`: Expected shape {tensor._dims}, but found {found.shape} "
        "in state dict."
        for name, (tensor, found) in pairs.items()
        if tensor.shape != found.shape and {tensor.shape, found.shape} != {(), (1,)}
    ]
    left_over = [f"Missing in state dict: `{name}` of shape {own[name].shape}." for name in missing]
    left_over += [
        f"Not in the model: `{name}` of shape {state_dict[name].shape}." for name in unexpected
    ]
    if strict and left_over:
        problems += [*left_over, "strict=False passes over names that one side lacks."]
    if problems:
        raise StateError("\n".join(problems))
    if verbose and left_over:
        print("\n".join(left_over))
    loaded = []
    for tensor, found in pairs.values():
        value = found.detach().to(tensor.device).cast(tensor.dtype).reshape(tensor.shape)
        if tensor.uop.op is Ops.CONST and value.item() == tensor.uop.arg:
            continue  # a constant still, which costs an optimizer's step less
        # into memory of its own, never that of `value`, which may be shared
        is_stored = memory_of(tensor.uop) is not None
        loaded.append(tensor.assign(value if is_stored else tensor.empty_like().assign(value)))
    if loaded:
        Tensor.realize(*loaded)


def _with_counters(own: Mapping[str, Tensor], old: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """A state dict with what an optimizer has for each parameter now: the number of steps that it
    missed."""
    new = dict(old)
    for name in own.keys() - old.keys():
        prefix, _, kind = name.rpartition(".")[0].rpartition(".")
        prefix += "." if prefix else ""
        if kind == "missed" and f"{prefix}t" in old:
            new[name] = own[name].zeros_like()
    return new


# ---- safetensors ---------------------------------------------------------------------------------

# the names in a header, and those of the library, which are tinyframe's too
_NAMES = {
    "F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "I64": "int64",
    "I32": "int32", "I16": "int16", "I8": "int8", "U64": "uint64", "U32": "uint32",
    "U16": "uint16", "U8": "uint8", "BOOL": "bool",
}  # fmt: skip
_LIBRARY_NAMES: dict[DType, str] = {getattr(dtypes, name): name for name in _NAMES.values()}


def _library() -> Any:
    try:
        import safetensors
    except ImportError as error:
        raise ImportError(
            "files of weights need the safetensors package: pip install safetensors, or all that "
            'tinyframe.nn uses: pip install "tinyframe[nn]"'
        ) from error
    return safetensors


def safe_save(
    tensors: Mapping[str, Tensor],
    path: str | os.PathLike,
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Writes Tensors by name, and optional metadata, to a safetensors file.

    The file is replaced atomically: an interrupt or a full disk leaves the old one. FileError for a
    dtype that the format lacks.
    """
    library = _library()
    _check(tensors)
    if "__metadata__" in tensors:
        raise FileError("`__metadata__` names the metadata of a file, so no Tensor: rename it")
    Tensor.realize(*tensors.values()) if tensors else None
    held, entries = [], {}
    for name, tensor in tensors.items():
        if tensor.dtype not in _LIBRARY_NAMES:
            raise FileError(f"a safetensors file cannot hold `{name}`, of {tensor.dtype}")
        data = np.frombuffer(tensor.detach()._buffer().as_memoryview(), np.uint8)
        held.append(data)
        entry: Any = {"dtype": _LIBRARY_NAMES[tensor.dtype], "shape": list(tensor.shape)}
        if hasattr(library, "TensorSpec"):  # since 0.8: the address, and no copy
            place = {"data_ptr": data.ctypes.data, "data_len": data.nbytes}
            entries[name] = library.TensorSpec(**entry, **place)
        else:
            entries[name] = {**entry, "data": data.tobytes()}
    texts = None if metadata is None else dict(metadata)
    with replacing(path) as temporary:
        try:
            library.serialize_file(entries, temporary, metadata=texts)
        except library.SafetensorError as error:  # for example of a full disk
            raise OSError(f"{os.fspath(path)} could not be written: {error}") from error


@contextlib.contextmanager
def replacing(path: str | os.PathLike) -> Iterator[str]:
    """The name of a temporary file, which replaces `path` at the end, or is removed on failure.

    A process that is killed leaves its file behind. It also loses its lock on it, which tells the
    next one to remove the file.
    """
    target = Path(os.path.realpath(path))  # the target of a link
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent} to write {target.name} to")
    for left in target.parent.glob(f".{glob.escape(target.name)}.*.tmp"):
        with contextlib.suppress(OSError), left.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink()
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}.tmp")
    try:
        with temporary.open("xb") as held:  # with the permissions of any new file
            with contextlib.suppress(OSError):  # a disk without locks
                fcntl.flock(held, fcntl.LOCK_EX)
            mode = temporary.stat().st_mode
            yield str(temporary)
            temporary.chmod(mode)
            with temporary.open("rb+") as written:
                os.fsync(written.fileno())  # the bytes before the name, also if power fails
            os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def safe_load(path: str | os.PathLike | Tensor, device: str | None = None) -> dict[str, Tensor]:
    """The Tensors of a safetensors file by name, on any device.

    Only the header is read and checked now; the bytes of each Tensor are read when it is first
    used. path: a file, or a Tensor with its bytes. FileError for a broken file.
    """
    return _open(path, device)[0]


def safe_load_metadata(path: str | os.PathLike | Tensor) -> dict[str, str]:
    """The metadata of a safetensors file: texts by name."""
    return _open(path, "PYTHON")[1]


def _open(path: Any, device: str | None) -> tuple[dict[str, Tensor], dict[str, str]]:
    if isinstance(path, Tensor):
        import tempfile  # here: it takes a while to import

        with tempfile.NamedTemporaryFile() as copy:
            copy.write(path.data())
            copy.flush()
            return _open(copy.name, device)
    library, file = _library(), OpenFile(path)
    try:
        with library.safe_open(file.name, framework="np"):
            pass
    except library.SafetensorError as error:
        raise FileError(
            f"{file.name} is no complete safetensors file ({error}). It has {file.size} bytes; "
            "was its download or its copy cut off?"
        ) from error
    # The library has checked that the header is JSON, and that every place in it has the right size
    # and lies within the file.
    length = int.from_bytes(file.read(0, 8), "little")
    header = json.loads(file.read(8, length))
    metadata = header.pop("__metadata__", {})
    places = sorted(header.items(), key=lambda entry: entry[1]["data_offsets"])
    tensors = {}
    for name, entry in places:
        if entry["dtype"] not in _NAMES:
            raise FileError(
                f"`{name}` in {file.name} is of {entry['dtype']}, which tinyframe does not have; "
                f"it reads {', '.join(_NAMES)}"
            )
        shape, dtype = tuple(entry["shape"]), getattr(dtypes, _NAMES[entry["dtype"]])
        # an empty Tensor may have any shape in a file, but not in NumPy
        if math.prod(max(size, 1) for size in shape) * dtype.itemsize >= 1 << 63:
            raise FileError(f"`{name}` in {file.name} has a shape that no array can have: {shape}")
        start = 8 + length + entry["data_offsets"][0]
        tensors[name] = lazy_tensor(file, start, shape, dtype, device)
    return tensors, metadata


# ---- bytes as a file -----------------------------------------------------------------------------


class TensorIO(io.BufferedReader):
    """A Tensor of bytes (1-d, uint8) as a readable file. RuntimeError for any other Tensor."""

    def __init__(self, tensor: Tensor):
        if tensor.ndim != 1 or tensor.dtype is not dtypes.uint8:
            raise RuntimeError(
                f"a file is one axis of bytes (uint8), not {tensor.dtype} of shape {tensor._dims}"
            )
        super().__init__(io.BytesIO(tensor.data()))
        self._size = len(tensor)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Moves to a position, limited to the start and the end."""
        origin = {io.SEEK_SET: 0, io.SEEK_CUR: self.tell(), io.SEEK_END: self._size}[whence]
        return super().seek(min(max(origin + offset, 0), self._size))
