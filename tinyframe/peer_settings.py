"""Names that people write and tinyframe doesn't have, with what to write instead.

If you come from tinygrad, you set METAL=1 or PROFILE=1 in the environment; anybody may write BEEM
for BEAM. Nothing reads such a variable, so it would be ignored without a word. `import tinyframe`
warns about it instead (`check_environment` in settings.py).

If you come from PyTorch, you write `x.cuda()`, `model.parameters()` or `nn.MSELoss()`. The
AttributeError then says how that is written here (`no_attribute`, `no_names`).

https://docs.tinygrad.org/env_vars/ lists tinygrad's settings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NoReturn

_C = "CPU=1 compiles C with clang or gcc"
_AMD = ("CL=1 computes on an AMD GPU through its OpenCL driver, WEBGPU=1 through Vulkan; "
        "DEVICE=NULL:HIP shows kernels in HIP's C++ without running them")  # fmt: skip
_CHECKED = "DEVICE=PYTHON and CUDA_EMULATE=1 check every access"
_WARP = "each kernel's plan decides; DEBUG=3 prints it, and NOOPT=1 switches plans off"

# name -> what to write instead
INSTEAD = {
    # devices
    "METAL": "WEBGPU=1 computes on a Mac's GPU; DEVICE=NULL:METAL shows kernels in Metal's "
             "language without running them",
    "HIP": _AMD,
    "AMD": _AMD,
    "HSA": _AMD,
    "LLVM": _C,
    "CPU_LLVM": _C,
    "X86": _C,
    "DSP": _C,
    "TORCH": _C,
    "QCOM": "CL=1 computes through any OpenCL driver",
    "DEV": "DEVICE=CL (or CPU, CUDA, WEBGPU, PYTHON) names the default device",
    # what is shown
    "GRAPH": "VIZ=1 shows each graph in the browser",
    "PROFILE": "VIZ=1 shows when each kernel ran, DEBUG=2 prints how long it took",
    "TRACK_MATCH_STATS": "DEBUG=4 prints which rules fired, VIZ=1 shows each rewrite",
    # how kernels are compiled
    "JITBEAM": "BEAM=2 searches in every function, jitted or not",
    "NOLOCALS": _WARP,
    "TC_OPT": _WARP,
    "CHECK_OOB": _CHECKED,
    "IGNORE_OOB": _CHECKED,
    "MOCKGPU": "CUDA_EMULATE=1 runs CUDA kernels on the processor",
    "DEFAULT_FLOAT": "dtypes.default_float = dtypes.float16 sets the default in Python",
    # what is kept
    "CACHELEVEL": "CACHE=0 neither reads nor writes compiled kernels on disk",
    "CACHEDB": "TINYFRAME_CACHE names the folder of compiled kernels",
    "DISABLE_COMPILER_CACHE": "CACHE=0 neither reads nor writes compiled kernels on disk",
    "IGNORE_BEAM_CACHE": "CACHE=0 neither reads nor writes what BEAM found",
}  # fmt: skip

_MODE = "`with Tensor.train():` around a step of training; outside of it every layer evaluates"

# an attribute that Tensors or layers have elsewhere -> what to write instead
ATTRIBUTES = {
    # of a Tensor
    "cuda": 'x.to("CUDA"), or set DEVICE=CUDA in the environment, which holds for everything',
    "mps": 'x.to("WEBGPU"), which computes on a Mac\'s GPU',
    "cpu": 'x.to("CPU"); x.numpy() reads the values from any device',
    "dim": "x.ndim",
    "type": "x.cast(dtype)",
    "astype": "x.cast(dtype)",
    "copy": "x.clone()",
    "grid_sample": "x[..., rows, columns], with Tensors of ints, or x.interpolate(size)",
    "median": "np.median(x.numpy()), or x.sort()[0][..., n // 2]",
    "quantile": "np.quantile(x.numpy(), q)",
    "msort": "x.sort(0)[0]",
    "searchsorted": "(x < values.unsqueeze(-1)).sum(-1)",
    "mse_loss": "(x - y).square().mean()",
    "l1_loss": "(x - y).abs().mean()",
    "huber_loss": "(far - near / 2) * near, with far = (x - y).abs() and near = far.clip(max=1)",
    "smooth_l1_loss": "(far - near / 2) * near, as for huber_loss",
    "kl_div": "(y * (y.log() - x)).mean()",
    "pixel_shuffle": 'x.rearrange("b (c h1 w1) h w -> b c (h h1) (w w1)", h1=2, w1=2)',
    "adaptive_avg_pool2d": "x.mean((-2, -1), keepdim=True), or x.avg_pool2d(kernel) for parts",
    "adaptive_max_pool2d": "x.max((-2, -1), keepdim=True), or x.max_pool2d(kernel) for parts",
    **dict.fromkeys(("mm", "mv", "bmm"), "x @ y"),
    **dict.fromkeys(("addmm", "baddbmm"), "beta * x + alpha * (a @ b)"),
    "tensordot": 'Tensor.einsum("ij,jk->ik", x, y)',
    "outer": "x.unsqueeze(1) * y",
    "cosine_similarity": "(x.normalize(axis=1) * y.normalize(axis=1)).sum(1)",
    **dict.fromkeys(("movedim", "moveaxis"), "x.permute(2, 0, 1)"),
    "swapaxes": "x.transpose(0, 1)",
    "mT": "x.transpose(-2, -1)",
    **dict.fromkeys(("view_as", "reshape_as"), "x.reshape(y.shape)"),
    "select": "x[:, index] for axis 1",
    "narrow": "x[:, start:end] for axis 1",
    "tile": "x.repeat(2, 1)",
    "hstack": "x.cat(y, dim=1)",
    "vstack": "x.cat(y, dim=0)",
    "diag_embed": "x.unsqueeze(-1) * Tensor.eye(n)",
    "trace": "x.diagonal().sum()",
    "aminmax": "x.min(), x.max()",
    "nansum": "x.isnan().where(0, x).sum()",
    "nanmean": "x.isnan().where(0, x).sum() / x.isnan().logical_not().sum()",
    "diff": "x[1:] - x[:-1]",
    "float_power": "x.double() ** y",
    "frac": "x - x.trunc()",
    **dict.fromkeys(("atan2", "arctan2"), "(y / x).atan(), and π more or less where x < 0"),
    "nan_to_num": "x.isnan().where(0, x)",
    "bernoulli": "(x.rand_like() < x).float()",
    # of a layer
    "parameters": "nn.state.get_parameters(model)",
    "state_dict": "nn.state.get_state_dict(model)",
    "load_state_dict": "nn.state.load_state_dict(model, state)",
    "train": _MODE,
    "eval": _MODE,
    "to": "for x in nn.state.get_parameters(model): x.to_(device)",
}

# a name that a module has elsewhere -> what to write instead
NAMES = {
    # of nn
    "BCELoss": "Tensor.binary_crossentropy",
    "BCEWithLogitsLoss": "Tensor.binary_crossentropy_logits",
    "Identity": "lambda x: x",
    "RNN": "nn.GRU or nn.LSTM, whose states last longer",
    "MSELoss": "lambda x, y: (x - y).square().mean()",
    "L1Loss": "lambda x, y: (x - y).abs().mean()",
    "GradScaler": "(loss * 1024).backward(), and then t.grad / 1024; bfloat16 needs neither",
    "clip_grad_value_": "t.grad.replace(t.grad.clip(-1, 1)) for each parameter t",
    # of nn.optim
    "Adagrad": "Adam, whose steps don't shrink",
    "RMSprop": "Adam(params, lr, b1=0), which is that with a correction of the first steps",
    # of nn.lr
    "MultiStepLR": "LambdaLR(optimizer, lambda step: (step < 30).where(1.0, 0.1))",
    "OneCycleLR": "SequentialLR of a LinearLR, which goes up, and a CosineAnnealingLR",
}

# Other values are for another program: LLVM=/usr/lib/llvm, DEV=true.
VALUES = {"DEV": r"[A-Z]{2,}(:.*)?", "DEFAULT_FLOAT": ".+", "CACHEDB": ".+"}
A_SWITCH = r"[1-9]\d*"

SHORTEST = 4  # letters of a name that is compared: CC is one letter away from too many others


def instead(name: str, value: str) -> str | None:
    """What to write for NAME=VALUE, which tinygrad would read; None where it's somebody else's."""
    is_meant = name in INSTEAD and re.fullmatch(VALUES.get(name, A_SWITCH), value.strip())
    return INSTEAD[name] if is_meant else None


def no_attribute(obj: object, name: str) -> AttributeError:
    """The error for an attribute that a Tensor or a layer doesn't have."""
    kind, instead = type(obj), ATTRIBUTES.get(name)
    if re.fullmatch("[a-z].*_", name) and hasattr(kind, name[:-1]):
        instead = f"x.assign(x.{name[:-1]}(...))"
    text = f"{kind.__name__!r} object has no attribute {name!r}"
    return AttributeError(f"{text}: write {instead}" if instead else text, name=name, obj=obj)


def no_names(module: str, functions: type | None = None) -> Callable[[str], NoReturn]:
    """`__getattr__` of `nn`, `nn.optim` and `nn.lr`: the error for a name that isn't there.
    functions: the class whose methods are what PyTorch has as layers."""

    def missing(name: str) -> NoReturn:
        text = f"module {module!r} has no attribute {name!r}"
        methods = {method.replace("_", ""): method for method in dir(functions) if functions}
        found = methods.get(name.lower()) or methods.get(name.lower().removesuffix("loss"))
        function = f"Tensor.{found}: a function is a layer as it is" if found else None
        instead = NAMES.get(name, function)
        raise AttributeError(f"{text}: write {instead}" if instead else text, name=name)

    return missing


def misspelt(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` is one slip away from: a letter changed, added or left out, two
    swapped, or upper and lower case mixed up. None where there is no such name."""
    for right in known:
        if len(right) >= SHORTEST and name != right and _is_one_slip(name.upper(), right):
            return right
    return None


def _is_one_slip(a: str, b: str) -> bool:
    if abs(len(a) - len(b)) > 1 or a[:1] != b[:1]:  # few slip at the first letter
        return False
    same = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), None)
    if same is None:
        return True
    one_changed = a[same + 1 :] == b[same + 1 :]
    one_more = a[same + 1 :] == b[same:] or a[same:] == b[same + 1 :]
    swapped = a[same + 2 :] == b[same + 2 :] and a[same : same + 2] == b[same : same + 2][::-1]
    return one_changed or one_more or swapped
