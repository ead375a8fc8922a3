"""Calls of torch functions and tensor methods to measure: torch's own samples, ours, and guesses.

Most come from ``torch.testing._internal.common_methods_invocations.op_db``, the list of operators that
torch tests itself with. What it lacks (indexing, arithmetic with Python numbers, casts that return
their input, views' methods) is written out here; the remaining public names are tried with arguments
guessed from their signatures, and left out where no guess runs.

A key is ``torch.mul`` for a function and ``.mul`` for a tensor method; ``#form`` names a special form.
"""

from __future__ import annotations

import inspect
import random
import sys
import types
import unittest
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch_table_measure import STUBS, Case, attempt, signature_of

#: Samples measured per operator, spread over the whole list: more change nothing but the time.
SAMPLES = 24

NAMESPACES: dict[str, Any] = {
    "torch": torch,
    "torch.nn.functional": F,
    "torch.linalg": torch.linalg,
    "torch.fft": torch.fft,
    "torch.special": torch.special,
}

#: Operators whose name as a method differs from the function's.
OPERATORS = {
    "__add__": "add", "__radd__": "add", "__sub__": "sub", "__mul__": "mul", "__rmul__": "mul",
    "__truediv__": "div", "__floordiv__": "floor_divide", "__mod__": "remainder", "__pow__": "pow",
    "__matmul__": "matmul", "__neg__": "neg", "__pos__": "positive", "__abs__": "abs", "__eq__": "eq",
    "__ne__": "ne", "__lt__": "lt", "__le__": "le", "__gt__": "gt", "__ge__": "ge", "__and__": "bitwise_and",
    "__or__": "bitwise_or", "__xor__": "bitwise_xor", "__invert__": "bitwise_not",
}  # fmt: skip

#: Parameters whose names torch's stub for an overloaded function has not.
NAMES = {
    "max": ["input", "other"],
    "min": ["input", "other"],
    "to": ["input", "other"],
    "where": ["condition", "input", "other"],
    "normal": ["mean", "std"],
}

#: Operators that the database calls with their first two arguments exchanged.
SWAPPED = {"where", "nn.functional.embedding", "nn.functional.embedding_bag"}

#: Variants of the database that are other functions than their name says.
NO_VARIANTS = {"grad_oriented", "singular", "in_place", "number_mean"}

#: Operators measured with our own samples alone, since a flag or a count decides and torch's samples mix.
OWN = {
    "einsum", "nn.functional.dropout", "nn.functional.dropout2d", "nn.functional.dropout3d",
    "nn.functional.alpha_dropout", "nn.functional.feature_alpha_dropout",
}  # fmt: skip

#: Never called: they change global state, need another device, or end the process.
LEFT_OUT = {
    "torch.from_file", "torch.get_default_dtype", "torch.init_num_threads", "torch.sym_sum",
    "torch.nn.functional.assert_int_or_pair", "torch.nn.functional.has_torch_function_variadic",
    "torch.fbgemm_linear_quantize_weight", "torch.fbgemm_pack_gemm_matrix_fp16",
    ".register_hook", ".register_post_accumulate_grad_hook", ".backward", ".retain_grad", ".storage",
    ".pin_memory", ".cuda", ".xpu", ".ipu", ".module_load", ".data_ptr", ".const_data_ptr",
}  # fmt: skip


@dataclass
class Job:
    """Cases that tell about the same names."""

    keys: tuple[str, ...]
    cases: Callable[[], Iterable[Case]]


def op_db() -> list[Any]:
    """Torch's list of operators. Its module imports ``expecttest``, which only torch's own tests need."""
    if "expecttest" not in sys.modules:
        try:
            import expecttest  # type: ignore[import-not-found]  # noqa: F401
        except ImportError:
            stub = types.ModuleType("expecttest")
            stub.TestCase = unittest.TestCase  # type: ignore[attr-defined]
            stub.ACCEPT = False  # type: ignore[attr-defined]
            sys.modules["expecttest"] = stub
    from torch.testing._internal.common_methods_invocations import op_db as database

    return list(database)


def resolve(key: str) -> Any:
    """The object a key names, or None."""
    name = key.partition("#")[0]
    if name.startswith("."):
        return getattr(torch.Tensor, name[1:], None)
    found: Any = torch
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found


def keys_of(op: Any) -> tuple[str, ...]:
    """The public names that an entry of op_db and its aliases stand for."""
    keys = []
    for name in (op.name, *(alias.name for alias in op.aliases)):
        key = name if name.startswith("torch.") else f"torch.{name}"
        if callable(resolve(key)) and "._" not in key.replace("torch._C", ""):
            keys.append(key)
        if "." not in name and name not in SWAPPED and hasattr(torch.Tensor, name):
            keys.append(f".{name}")
            keys += [f".{dunder}" for dunder, same in OPERATORS.items() if same == name]
    return tuple(key for key in dict.fromkeys(keys) if not key.endswith("_") or key.endswith("__"))


def samples_of(op: Any) -> Iterator[Case]:
    """An operator's samples as cases, at most SAMPLES of them, evenly spread."""
    supported = op.dtypes
    preferred = (torch.float32, torch.float64, torch.complex64, torch.int64, torch.bool)
    dtype = next((d for d in preferred if d in supported), None)
    if dtype is None:
        return
    seed(0)
    grad = dtype.is_floating_point or dtype.is_complex
    samples = list(op.sample_inputs("cpu", dtype, requires_grad=grad))
    step = max(1, len(samples) / SAMPLES)
    fn, key = op.op, op.name if op.name.startswith("torch.") else f"torch.{op.name}"
    if op.name in SWAPPED:
        fn = resolve(key)
    candidates = [fn, resolve(key), resolve(f".{op.name}")]
    # A lambda around a function hides its parameters' names: it is asked last.
    candidates.sort(key=lambda source: getattr(source, "__name__", "") == "<lambda>")
    signatures = [found for found in map(signature_of, candidates) if found[0] or found[1]]
    names, rest = signatures[0] if signatures else ([], None)
    names = NAMES.get(op.name, names)
    for number in range(min(len(samples), SAMPLES)):
        sample = samples[int(number * step)]
        args = (sample.input, *sample.args)
        if op.name in SWAPPED:
            args = (args[1], args[0], *args[2:])
        yield Case(fn, args, dict(sample.kwargs), names, rest)


def seed(value: int) -> None:
    """The same random numbers for every run, so that two runs of the generator agree."""
    torch.manual_seed(value)
    random.seed(value)


def tensor(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """A tensor of distinct numbers in (0.1, 1): in the domain of nearly every function."""
    if dtype == torch.bool:
        return torch.arange(max(1, torch.Size(shape).numel())).reshape(shape) % 2 == 0
    if dtype in (torch.int64, torch.int32):
        return torch.zeros(shape, dtype=dtype)
    return (torch.rand(shape, dtype=dtype) * 0.9 + 0.1).clone()


def set_item(index: Any) -> Callable[..., torch.Tensor]:
    """``h[index] = value`` on a tensor that is no leaf; the addition before it saves nothing."""

    def assign(input: torch.Tensor, value: Any, *indices: torch.Tensor) -> torch.Tensor:
        changed = input + 0
        changed[indices[0] if indices else index] = value
        return changed

    return assign


def own_jobs() -> Iterator[Job]:
    """Forms that torch's database has not, or merges with others."""
    x, y, square = tensor(3, 4), tensor(3, 4), tensor(3, 3)
    mask, index = tensor(3, 4, dtype=torch.bool), torch.tensor([0, 2])

    def one(
        keys: str, fn: Callable[..., Any], *args: Any, names: str = "input other value", **kwargs: Any
    ) -> Job:
        return Job(tuple(keys.split()), lambda: [Case(fn, args, kwargs, names.split())])

    for name, form in (
        ("add", lambda x: x + 1), ("sub", lambda x: x - 1), ("mul", lambda x: x * 2),
        ("div", lambda x: x / 2), ("true_divide", lambda x: x / 2),
        ("floor_divide", lambda x: x // 2), ("remainder", lambda x: x % 2),
        ("pow", lambda x: x**2), ("eq", lambda x: x == 1), ("ne", lambda x: x != 1), ("lt", lambda x: x < 1),
        ("le", lambda x: x <= 1), ("gt", lambda x: x > 1), ("ge", lambda x: x >= 1),
    ):  # fmt: skip
        dunders = " ".join(f".{d}#scalar" for d, same in OPERATORS.items() if same == name)
        yield one(f"torch.{name}#scalar .{name}#scalar {dunders}", form, x)
    yield one(".__rsub__ .rsub torch.rsub", lambda x: 1 - x, x)
    yield one(".__rtruediv__ .__rdiv__", lambda x: 1 / x, x)
    yield one(".__rpow__", lambda x: 2**x, x)
    yield one(".__rmatmul__", lambda x, y: torch.matmul(y, x), square, square.clone())
    for equation, sizes in (("ij,jk->ik", (3, 3)), ("bij,bjk->bik", (2, 3, 3)), ("i,j->ij", (3,))):
        pair = [tensor(*sizes), tensor(*sizes)]
        yield one("torch.einsum", lambda t, e=equation: torch.einsum(e, *t), pair, names="tensors")
    yield one("torch.einsum#unary", lambda t: torch.einsum("ij->ji", t), x)
    yield one("torch.einsum#unary", lambda t: torch.einsum("ij->", t), x)

    for suffix, fn, more in (
        ("int", lambda t: t[0], ()), ("slice", lambda t: t[1:], ()), ("tensor", lambda t, i: t[i], (index,)),
        ("mask", lambda t, m: t[m], (mask,)), ("list", lambda t: t[[0, 2]], ()),
        ("none", lambda t: t[None], ()), ("ellipsis", lambda t: t[..., 0], ()),
    ):  # fmt: skip
        yield one(f".getitem#{suffix}", fn, x, *more, names="input index")
    for suffix, at, value, more in (
        ("int", 0, tensor(4), ()), ("full", slice(None), y, ()), ("ellipsis", ..., y, ()),
        ("slice", slice(1), y[:1], ()), ("tensor", None, tensor(2, 4), (index,)),
        ("mask", None, tensor(6), (mask,)),
    ):  # fmt: skip
        yield one(f".setitem#{suffix}", set_item(at), x, value, *more, names="input value index")
        if not more:
            yield one(".setitem .__setitem__", set_item(at), x, value, names="input value index")
    yield one(".setitem#scalar", set_item(0), x, 0.0, names="input value index")
    yield one(".setitem#full_scalar", set_item(slice(None)), x, 0.0, names="input value index")
    yield one(".setitem#mask_scalar", set_item(None), x, 0.0, mask, names="input value index")

    # In place, on what is no leaf; the other in-place methods have a functional one that tells the same.
    yield one(".copy_", lambda t, v: (t + 0).copy_(v), x, y)
    yield one(".fill_", lambda t, v: (t + 0).fill_(v), x, torch.tensor(1.0), names="input value")
    yield one(".fill_#scalar", lambda t: (t + 0).fill_(1.0), x)
    for name in ("zero_", "normal_", "uniform_"):
        yield one(f".{name}", lambda t, n=name: getattr(t + 0, n)(), x)

    double = tensor(3, 4, dtype=torch.float64)
    for name in ("float", "double", "half", "bfloat16", "long", "int", "bool"):
        yield one(f".{name}", lambda t, name=name: getattr(t, name)(), double)
        yield one(f".{name}", lambda t, name=name: getattr(t, name)(), x)
    for argument in (torch.float32, torch.float64, torch.int64, "cpu"):
        yield one(".to", lambda t, a=argument: t.to(a), x)
        if argument != "cpu":
            yield one(".type", lambda t, a=argument: t.type(a), x)
    yield one(".to", lambda t, o: t.to(o), x, y)
    yield one(".to", lambda t, o: t.to(o), x, double)
    yield one(".type_as", lambda t, o: t.type_as(o), x, y)
    yield one(".type_as", lambda t, o: t.type_as(o), x, double)
    yield one(".cpu", lambda t: t.cpu(), x)
    yield one(".contiguous", lambda t: t.contiguous(), x)
    yield one(".contiguous", lambda t: t.t().contiguous(), x)
    yield one(".clone torch.clone", lambda t: t.clone(), x)
    yield one(".detach torch.detach", lambda t: t.detach(), x)
    yield one(".data", lambda t: t.data, x)
    yield one(".getitem", lambda t: t[0], x)
    yield one(".getitem", lambda t, i: t[i], x, index, names="input index")
    yield one(".numpy", lambda t: t.detach().numpy(), x)
    yield one(".expand", lambda t: t.expand(3, 4), x)
    yield one(".expand", lambda t: t.expand(2, 3, 4), x)
    yield one(".view", lambda t: t.view(-1), x)
    yield one(".reshape torch.reshape", lambda t: t.reshape(-1), x)
    yield one(".reshape torch.reshape", lambda t: t.t().reshape(-1), x)
    # The database always asks for the indices too.
    functional = torch.nn.functional
    for pool, image in (
        (functional.max_pool1d, tensor(2, 3, 8)),
        (functional.max_pool2d, tensor(2, 3, 8, 8)),
        (functional.max_pool3d, tensor(2, 3, 8, 8, 8)),
    ):
        name = f"torch.nn.functional.max_pool{image.dim() - 2}d"
        yield one(name, lambda t, pool=pool: pool(t, 2), image, names="input")
    yield one("torch.tensor", lambda: torch.tensor([1.0]))
    yield one("torch.as_tensor torch.asarray", torch.as_tensor, x, names="input")
    yield one("torch.empty", lambda: torch.empty(3))
    for scalar in (1, 0, 3, 0.5, -1):
        yield one("torch.pow#scalar .pow#scalar .__pow__#scalar", lambda t, s=scalar: t**s, x)

    names = "condition input other"
    for given in ((mask, x, 0.0), (mask, 0.0, y), (mask,)):
        yield one("torch.where", torch.where, *given, names=names)
    for given in ((x, mask, y), (x, mask, 0.0)):
        yield one(".where", torch.Tensor.where, *given, names="input condition other")
    for name in ("clamp", "clip", "clamp_min", "clamp_max"):
        bounds = (0.2, 0.8) if name in ("clamp", "clip") else (0.5,)
        yield one(f"torch.{name}#scalar .{name}#scalar", lambda t, n=name, b=bounds: getattr(t, n)(*b), x)
    for dims in (1, 2, 3):
        name, image = f"adaptive_avg_pool{dims}d", tensor(2, 3, *(4,) * dims)
        yield one(f"torch.nn.functional.{name}", getattr(F, name), image, 1)
        yield one(f"torch.nn.functional.{name}", getattr(F, name), image, 2)
    for name, fn in (("bool", bool), ("float", float), ("int", int), ("index", int), ("len", lambda t: 1)):
        yield one(f".__{name}__", fn, tensor(1), names="input")
    yield one(".__contains__", lambda t: 1.0 in t, x)
    yield one(".__iter__", list, x)
    yield one(".prelu torch.prelu", torch.prelu, x, tensor(1), names="input weight")
    yield one(".new_tensor", lambda t: t.new_tensor([1.0]), x)
    yield one("torch.embedding", torch.embedding, x, index, names="weight indices")
    yield one(
        "torch.chain_matmul", lambda t: torch.chain_matmul(*t), [square, square.clone()], names="tensors"
    )

    p = tensor(8)
    drop = ("dropout", "alpha_dropout", "feature_alpha_dropout", "dropout1d", "dropout2d", "dropout3d")
    for name in drop:
        fn, image = getattr(F, name), tensor(2, 3, 4, 4, 4) if name[-2:] == "3d" else tensor(2, 3, 4)
        if name == "dropout2d":
            image = tensor(2, 3, 4, 4)
        yield one(f"torch.nn.functional.{name}", fn, image, names="input")
        yield one(f"torch.nn.functional.{name}#eval", lambda t, fn=fn: fn(t, training=False), image)
        yield one(f"torch.nn.functional.{name}#zero", lambda t, fn=fn: fn(t, p=0.0), image)
    yield one("torch.nn.functional.rrelu#eval", lambda t: F.rrelu(t, training=False), p)
    yield one("torch.dropout", lambda t: torch.dropout(t, 0.5, True), p)
    batch = (tensor(4, 3), tensor(3), tensor(3), tensor(3), tensor(3))
    names = "input running_mean running_var weight bias"
    yield one("torch.nn.functional.batch_norm#eval", F.batch_norm, *batch, names=names)
    yield one("torch.nn.functional.gumbel_softmax", F.gumbel_softmax, x, names="input")
    yield one("torch.nn.functional.gumbel_softmax", lambda t: F.gumbel_softmax(t, hard=True), x)
    yield one(
        "torch.nn.functional.affine_grid",
        lambda t: F.affine_grid(t, [2, 3, 4, 4]),
        tensor(2, 2, 3),
        names="theta",
    )
    yield one("torch.nn.functional.pad", lambda t: F.pad(t, (1, 1)), x)
    for name in ("upsample", "interpolate"):
        yield one(f"torch.nn.functional.{name}", getattr(F, name), tensor(1, 2, 4, 4), scale_factor=2)
    yield one(
        "torch.nn.functional.grid_sample",
        F.grid_sample,
        tensor(1, 2, 4, 4),
        tensor(1, 4, 4, 2),
        names="input grid",
    )
    yield one("torch.nn.functional.fold", lambda t: F.fold(t, (4, 4), 2), tensor(1, 4, 9))
    signs = torch.tensor([1.0, -1.0, 1.0])
    yield one(
        "torch.cosine_embedding_loss", torch.cosine_embedding_loss, x, y, signs, names="input1 input2 target"
    )
    yield one("torch.nn.functional.lp_pool1d", lambda t: F.lp_pool1d(t, 2, 2), tensor(1, 2, 8))
    yield one("torch.nn.functional.lp_pool2d", lambda t: F.lp_pool2d(t, 2, 2), tensor(1, 2, 8, 8))
    yield one("torch.nn.functional.lp_pool3d", lambda t: F.lp_pool3d(t, 2, 2), tensor(1, 2, 4, 4, 4))


def database_jobs() -> Iterator[Job]:
    for op in op_db():
        keys = keys_of(op)
        if keys and op.name not in OWN and op.variant_test_name not in NO_VARIANTS:
            yield Job(keys, partial(samples_of, op))


#: Arguments to try by the name of a parameter. Whatever has no entry is a tensor.
GUESSES: dict[str, list[Any]] = {
    "dim": [0], "dims": [(0, 1)], "size": [(4, 3), 2], "shape": [(4, 3)], "n": [2], "k": [2], "p": [2],
    "repeats": [2], "kernel_size": [2], "output_size": [2], "sections": [1], "chunks": [2], "axis": [0],
    "axis0": [0], "axis1": [1], "dim0": [0], "dim1": [1], "source": [0], "destination": [1], "start": [0],
    "length": [1], "indices": [torch.tensor([0, 1])], "index": [torch.tensor([0, 1])], "value": [0.5],
    "dtype": [torch.float64],
    "negative_slope": [0.1], "lambd": [0.5], "upscale_factor": [1], "groups": [1], "training": [True],
}  # fmt: skip


def guessed(key: str, fn: Callable[..., Any]) -> Iterator[Case]:
    """Calls of a function with its required parameters, filled by name; else with floating tensors."""
    names, rest = signature_of(fn)
    try:
        parameters = inspect.signature(STUBS.get(fn, fn)).parameters.values()
    except (TypeError, ValueError):
        parameters = []  # type: ignore[assignment]
    required = [p.name for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    if key.startswith(".") and not required:
        required, names = ["input"], ["input"]
    for shape in ((3, 3), (4,), (2, 3, 4, 4), (2, 3, 4)):
        values = [GUESSES[n][0] if n in GUESSES else tensor(*shape) for n in required]
        yield Case(fn, tuple(values), {}, names, rest)


def guessed_jobs(known: set[str]) -> Iterator[Job]:
    """Public functions and methods that no other job names."""
    for prefix, module in [*NAMESPACES.items(), ("", torch.Tensor)]:
        for name in sorted(dir(module)):
            key = f"{prefix}.{name}"
            fn = getattr(module, name)
            plain = not name.startswith("_") and not name.endswith("_") and key not in known | LEFT_OUT
            if not plain or isinstance(fn, (type, types.ModuleType)):
                continue
            if prefix == "torch" and fn not in STUBS:
                continue  # torch itself exports much that is no function of tensors
            if callable(fn):
                yield Job((key,), partial(guesses, key, fn))
            elif prefix == "" and torch.is_tensor(getattr(tensor(3, 3), name, None)):
                yield Job((key,), partial(attribute, name))


def guesses(key: str, fn: Callable[..., Any]) -> Iterator[Case]:
    """The first guessed call that runs."""
    for case in guessed(key, fn):
        if attempt(lambda case: [case.fn(*case.args, **case.kwargs)], case):
            yield case
            return


def attribute(name: str) -> list[Case]:
    """The call that reads a tensor's attribute."""
    return [Case(lambda t: getattr(t, name), (tensor(3, 3),), {}, ["input"])]


def inplace_methods() -> list[str]:
    """Methods of a tensor that change it: ``add_``, and the operators ``+=`` stands for."""
    methods = [n for n in dir(torch.Tensor) if n.endswith("_") and not n.startswith("_")]
    return methods + [n for n in dir(torch.Tensor) if n.startswith("__i") and f"__{n[3:]}" in OPERATORS]


def jobs() -> list[Job]:
    """All jobs, in a fixed order."""
    seed(0)
    found = [*database_jobs(), *own_jobs()]
    known = {key for job in found for key in job.keys}
    return found + list(guessed_jobs(known))
