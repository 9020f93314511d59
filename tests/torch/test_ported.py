"""A kernel of tinyframe as an op of PyTorch, as part 11b makes it."""

import json

import numpy as np

from classroom.contributing.issues import ROOT
from classroom.contributing.ported import in_c, in_pytorch

NOTEBOOK = ROOT / "course" / "11b_other_peoples_changes.ipynb"


def as_op(**names):
    """The notebook's own function, with what it uses."""
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    (source,) = [s for cell in cells if "def as_op(" in (s := "".join(cell["source"]))]
    exec(source, names)
    return names["as_op"]


def gradient(grad, x, n=2):
    return grad[..., None] * x / (n * np.sqrt(np.square(x).mean(-1)))[..., None]


def test_pytorch_accepts_the_op_and_its_gradient_and_refuses_a_wrong_one(capsys):
    rms = in_c(lambda x: (x * x).mean(-1).sqrt())
    op = as_op(rms=rms, rms_gradient=lambda grad, x: gradient(grad, x, x.shape[-1]))
    in_pytorch(op, gradient)
    said = capsys.readouterr().out
    assert "sqrt(): True" in said and "gradcheck: the gradient is that" in said
    assert said.count("SUCCESS") == said.count("opcheck,") == 3
    in_pytorch(as_op(rms=rms, rms_gradient=gradient), gradient)
    assert "Jacobian mismatch" in capsys.readouterr().out


def test_without_a_gradient_nothing_is_made(capsys):
    in_pytorch(lambda torch: 1 / 0, lambda grad, x: None)
    assert "As soon as" in capsys.readouterr().out
