"""What is a view: how to call each method of Tensor, also so that nothing is left to do.

The methods that give views are listed in tinyframe/README.md, and so are those that give the Tensor
itself. `tests/torch/test_every_method.py` goes through all methods, beside PyTorch.

A row has a method's name and its calls. Behind a `/` is the same for PyTorch, where it is written
in another way; `-` where there is no such thing. Arithmetic on one or two numbers needs no row.
"""

from __future__ import annotations

import re
from pathlib import Path

README = Path(__file__).resolve().parents[1] / "tinyframe" / "README.md"


def listed(kind: str) -> set[str]:
    """The names in a list of the README: "views", or "itself"."""
    text = README.read_text()
    (found,) = re.findall(rf"<!-- {kind} -->(.*?)<!-- end of {kind} -->", text, re.DOTALL)
    return set(re.findall(r"`(\w+)`", found))


# x 3 by 4, x3 2 by 3 by 4, v 4, one 1 by 1, s a number, c channels of 6 by 4, sq 3 by 3 and none
# 0 by 4: floats; n and b ints and bools like x; x64, x16, xb, n64, n16 of other dtypes; i indices
# into 3 rows, rows all of them in order
CALLS: dict[str, list[tuple[str, ...]]] = {}
ROWS = r"""
abs: n.abs() | x.abs()
neg: n.neg()
trunc: n.trunc() | x.trunc()
floor: n.floor() | x.floor()
ceil: n.ceil() | x.ceil()
round: x.round()
pow: x.pow(1)
mul: x.mul(1)
add: x.add(0)
sub: x.sub(0)
div: x.div(1)
clip: x.clip(-99, 99)
clamp: x.clamp(-99, 99)
where: x.where(b, x)
lerp: x.lerp(x, 0.0)
masked_fill: x.masked_fill(b & False, 0.0)
dropout: x.dropout(0.0) / F.dropout(x, 0.0) | x.dropout(0.5) / F.dropout(x, 0.5, False)
sequential: x.sequential([Tensor.exp]) / -
sum: x.sum(1) | one.sum(1) | s.sum()
mean: x.mean(1) | one.mean(1) | s.mean()
prod: x.prod(1) | one.prod(1) | s.prod()
max: x.max(1) / x.max(1)[0] | one.max(1) / one.max(1)[0] | s.max()
min: x.min(1) / x.min(1)[0] | one.min(1) / one.min(1)[0] | s.min()
amax: x.amax(1) | one.amax(1) | s.amax()
amin: x.amin(1) | one.amin(1) | s.amin()
any: b.any(1) | one.bool().any(1)
all: b.all(1) | one.bool().all(1)
var: x.var(1)
std: x.std(1)
std_mean: x.std_mean(1) / torch.std_mean(x, 1)
logsumexp: one.logsumexp(1)
norm: one.norm(2, 1)
argmax: x.argmax(1)
argmin: x.argmin(1)
argsort: x.argsort(1)
count_nonzero: n.count_nonzero(1)
cumsum: x.cumsum(1) | one.cumsum(1) | s.cumsum(0)
cumprod: x.cumprod(1) | one.cumprod(1) | s.cumprod(0)
cummax: x.cummax(1)[0] | one.cummax(1)[0] | s.cummax(0)[0]
cummin: x.cummin(1)[0] | one.cummin(1)[0] | s.cummin(0)[0]
logcumsumexp: one.logcumsumexp(1) | s.logcumsumexp(0)
sort: x.sort(1)[0] | one.sort(1)[0] | s.sort()[0]
topk: x.topk(4, 1)[0] | one.topk(1, 1)[0]
softmax: s.softmax(0) | one.softmax(1)
log_softmax: one.log_softmax(1)
softmin: one.softmin(1) / F.softmin(one, 1)
normalize: x.normalize() / F.normalize(x)
T: x.T
t: x.t() | v.t()
reshape: x.reshape(3, 4) | x.reshape(2, 6) | x.reshape(-1) | s.reshape(1)
view: x.view(3, 4) | x.view(2, 6)
permute: x.permute(0, 1) | x.permute(1, 0)
transpose: x.transpose(0, 0) | x.transpose(0, 1)
flip: x.flip(0) | x.flip(()) | one.flip(0)
expand: x.expand(3, 4) | x.expand(2, 3, 4) | one.expand(2, 2)
expand_as: x.expand_as(x) | v.expand_as(x)
squeeze: x.squeeze() | one.squeeze() | x.squeeze(0)
unsqueeze: x.unsqueeze(0)
flatten: x.flatten() | v.flatten() | s.flatten() | x.flatten(1)
unflatten: x.unflatten(1, (2, 2)) | x.unflatten(1, (4,))
ravel: x.ravel() | v.ravel()
repeat: x.repeat(1, 1) | x.repeat(2, 1)
repeat_interleave: x.repeat_interleave(1, 1) | x.repeat_interleave(2, 1)
unfold: x.unfold(1, 3, 1) | x.unfold(1, 1, 1) | x.unfold(1, 4, 1)
window: x.window(1, 3, 1) / x.unfold(1, 3, 1)
chunk: x.chunk(1) | x.chunk(3)
split: x.split(3) | x.split(1)
unbind: x.unbind() | one.unbind()
diagonal: x.diagonal() | one.diagonal() | x.diagonal(1) | x3.diagonal(0, 1, 2)
diag: x.diag() | one.diag() | v.diag() | x.diag(1)
tril: x.tril() | x.tril(9) | one.tril()
triu: x.triu() | x.triu(-9)
roll: x.roll(1, 0) | x.roll(0, 0) | x.roll(3, 0) | one.roll(1, 0)
pad: x.pad((0, 0)) / F.pad(x, (0, 0)) | x.pad((-1, 0)) / F.pad(x, (-1, 0))
pad_to: x.pad_to(3, 4) / - | x.pad_to(4, 4) / -
shrink: x.shrink(((1, 3), None)) / x[1:3] | x.shrink((None, None)) / x[:]
shrink_to: x.shrink_to(2, None) / x[:2] | x.shrink_to(3, 4) / x[:]
rearrange: x.rearrange("a b -> a b") / - | x.rearrange("a b -> (b a)") / -
cat: x.cat() / torch.cat([x]) | x.cat(none) / torch.cat([x, none]) | x.cat(x) / torch.cat([x, x])
stack: x.stack() / torch.stack([x]) | x.stack(x) / torch.stack([x, x])
meshgrid: v.meshgrid(v) / torch.meshgrid(v, v, indexing="ij")
meshgrid: v.meshgrid() / torch.meshgrid(v, indexing="ij")
contiguous: x.contiguous() | x.T.contiguous()
contiguous_backward: x.contiguous_backward() / -
clone: x.clone()
fuse: x.fuse() / -
detach: x.detach()
to: x.to("CPU") / x.to("cpu")
cast: x.cast("float32") / x.to(torch.float32)
float: x.float()
double: x64.double()
half: x16.half()
bfloat16: xb.bfloat16()
int: n.int()
long: n64.long()
short: n16.short()
bool: b.bool()
bitcast: x.bitcast("float32") / x.view(torch.float32) | x.bitcast("int32") / x.view(torch.int32)
gather: x.gather(0, i)
take: x.take(i)
take_along_dim: x.take_along_dim(i[:1], 0)
index_select: x.index_select(0, rows)
index_add: x.index_add(0, rows, x) | x.index_add(0, rows[:0], none)
index_copy: x.index_copy(0, rows, x) | x.index_copy(0, rows[:0], none)
index_fill: x.index_fill(0, rows, 1.0) | x.index_fill(0, rows[:0], 1.0)
scatter: x.scatter(0, i, x) | x.scatter(0, i[:0], x)
scatter_add: x.scatter_add(0, i, x) | x.scatter_add(0, i[:0], x)
scatter_reduce: x.scatter_reduce(0, i, x, "sum") | x.scatter_reduce(0, i[:0], x, "sum")
masked_select: x.masked_select(x > 0)
nonzero: n.nonzero()
one_hot: i.one_hot(3) / F.one_hot(i, 3)
isin: n.isin(n) / torch.isin(n, n)
bincount: rows.bincount()
unique: v.unique()
interpolate: c.interpolate((6, 4), "nearest") / F.interpolate(c, (6, 4))
interpolate: c.interpolate((6, 4)) / F.interpolate(c, (6, 4), mode="bilinear")
interpolate: c.interpolate((3, 4), "nearest") / F.interpolate(c, (3, 4))
max_pool1d: x3.max_pool1d(1, 1) / F.max_pool1d(x3, 1)
max_pool2d: c.max_pool2d(1) / F.max_pool2d(c, 1)
max_unpool2d: c.max_unpool2d((c * 0).long(), 1) / F.max_unpool2d(c, (c * 0).long(), 1)
max_pool3d: c[None].max_pool3d(1) / F.max_pool3d(c[None], 1)
avg_pool1d: x3.avg_pool1d(1) / F.avg_pool1d(x3, 1)
avg_pool2d: c.avg_pool2d(1) / F.avg_pool2d(c, 1)
avg_pool3d: c[None].avg_pool3d(1) / F.avg_pool3d(c[None], 1)
conv1d: x3.conv1d(x3) / F.conv1d(x3, x3)
conv2d: c.conv2d(c) / F.conv2d(c, c)
conv3d: c[None].conv3d(c[None]) / F.conv3d(c[None], c[None])
conv_transpose1d: x3.conv_transpose1d(sq[..., None]) / F.conv_transpose1d(x3, sq[..., None])
conv_transpose3d: c[None].conv_transpose3d(c[:, None]) / F.conv_transpose3d(c[None], c[:, None])
conv_transpose2d: c.conv_transpose2d(c.transpose(0, 1)) / F.conv_transpose2d(c, c.transpose(0, 1))
dot: v.dot(v)
matmul: x.matmul(x.T)
linear: x.linear(x.T) / F.linear(x, x)
einsum: Tensor.einsum("ij->ij", x) / torch.einsum("ij->ij", x)
einsum: Tensor.einsum("ij->ji", x) / torch.einsum("ij->ji", x)
einsum: Tensor.einsum("ii->i", sq) / torch.einsum("ii->i", sq)
qr: sq.qr()
svd: one.svd()
newton_schulz: x.newton_schulz(1, (1.0, 0.0)) / -
layernorm: x.layernorm() / F.layer_norm(x, (4,))
groupnorm: x.groupnorm(1) / F.group_norm(x, 1)
rms_norm: x.rms_norm() / F.rms_norm(x, (4,))
batchnorm: x.batchnorm(None, None, v, v) / F.batch_norm(x, v, v)
scaled_dot_product_attention: x3.scaled_dot_product_attention(x3, x3) / -
embedding: i.embedding(x) / F.embedding(i, x)
cross_entropy: x.cross_entropy(rows) / F.cross_entropy(x, rows)
sparse_categorical_crossentropy: x.sparse_categorical_crossentropy(rows) / -
nll_loss: x.nll_loss(rows) / F.nll_loss(x, rows)
binary_crossentropy: x.binary_crossentropy(x) / F.binary_cross_entropy(x, x)
binary_crossentropy_logits: x.binary_crossentropy_logits(x) / -
bitwise_not: n.bitwise_not()
lshift: n.lshift(0) / n << 0
rshift: n.rshift(0) / n >> 0
full_like: x.full_like(1.0) / torch.full_like(x, 1.0)
ones_like: x.ones_like() / torch.ones_like(x)
zeros_like: x.zeros_like() / torch.zeros_like(x)
empty_like: x.empty_like() / torch.empty_like(x)
rand_like: x.rand_like() / torch.rand_like(x)
randn_like: x.randn_like() / torch.randn_like(x)
multinomial: x.multinomial(1)
assign: x.assign(x + 1) / x.copy_(x + 1)
copy_: x.copy_(x + 1)
fill_: x.fill_(1)
zero_: x.zero_()
replace: x.replace(x + 1) / -
realize: x.realize() / -
kernelize: x.kernelize() / -
requires_grad_: x.requires_grad_()
is_param_: x.is_param_() / -
to_: x.to_("CPU") / -
backward: s.requires_grad_().backward() / -
from_dlpack: Tensor.from_dlpack(np.ones(3)) / torch.from_numpy(np.ones(3))
"""
for _row in ROWS.strip().splitlines():
    _name, _calls = _row.split(": ", 1)
    CALLS.setdefault(_name, []).extend(tuple(c.split(" / ")) for c in _calls.split(" | "))

# What makes a Tensor of none, and what gives no Tensor.
NEITHER = {
    "allclose", "arange", "data", "device", "dtype", "element_size", "empty", "eye", "full",
    "glorot_uniform", "grad", "gradient", "is_floating_point", "is_param", "item",
    "kaiming_normal", "kaiming_uniform", "linspace", "manual_seed", "max_numel", "max_shape",
    "nbytes", "ndim", "no_grad", "normal", "numel", "numpy", "ones", "rand", "randint", "randn",
    "randperm", "requires_grad", "scaled_uniform", "schedule", "shape", "size", "tolist", "train",
    "uniform", "uop", "xavier_uniform", "zeros",
}  # fmt: skip
