"""Modules of ``torch.nn`` to measure: how each is constructed and called, in training and evaluation.

The first sample of a module, written out here, gives its parameters, buffers and output structure; the
samples of ``torch.testing._internal.common_modules.module_db`` are measured beside it. A class that is
not written out is tried without constructor arguments, and left out if no call runs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import nn
from torch_table_measure import Case, attempt, signature_of
from torch_table_samples import op_db, seed, tensor

#: Samples of module_db measured per module and mode.
SAMPLES = 8

#: No modules to call: containers, bases, and what only works for quantised or distributed models.
LEFT_OUT = {
    "Module", "Container", "Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict",
    "RNNBase", "RNNCellBase", "DataParallel",
}  # fmt: skip

Tensors = Callable[[], tuple[Any, ...]]


@dataclass
class Spec:
    """Constructor arguments (``args``, ``kwargs``) and the inputs of one call (``inputs``, ``keywords``)."""

    args: tuple[Any, ...]
    inputs: Tensors
    kwargs: dict[str, Any] = field(default_factory=dict)
    keywords: dict[str, Any] = field(default_factory=dict)


def of(*shapes: tuple[int, ...]) -> Tensors:
    """Floating tensors of these shapes as the inputs."""
    return lambda: tuple(tensor(*shape) for shape in shapes)


def unpooling(shape: list[int], indices: torch.Tensor) -> tuple[Any, ...]:
    """The inputs of a MaxUnpool."""
    return tensor(*shape), indices


def specs() -> dict[str, Spec]:
    """The modules that need arguments, by name."""
    line, image, volume = (2, 4, 8), (2, 4, 8, 8), (2, 4, 4, 4, 4)
    shapes = {"1d": line, "2d": image, "3d": volume}
    classes = torch.tensor([0, 1, 2])
    signs = torch.tensor([1.0, -1.0, 1.0])
    found: dict[str, Spec] = {}
    for suffix, shape in shapes.items():
        dims = len(shape) - 2
        for name in ("Conv", "ConvTranspose"):
            found[f"{name}{suffix}"] = Spec((4, 3, 3), of(shape))
            found[f"Lazy{name}{suffix}"] = Spec((3, 3), of(shape))
        for name in ("BatchNorm", "InstanceNorm"):
            found[f"{name}{suffix}"] = Spec((4,), of(shape))
            found[f"Lazy{name}{suffix}"] = Spec((), of(shape))
        for name in ("MaxPool", "AvgPool"):
            found[f"{name}{suffix}"] = Spec((2,), of(shape))
        for name in ("AdaptiveAvgPool", "AdaptiveMaxPool"):
            found[f"{name}{suffix}"] = Spec((2,), of(shape))
        found[f"LPPool{suffix}"] = Spec((2, 2), of(shape))
        for name in ("Dropout", "ZeroPad", "ReflectionPad", "ReplicationPad", "CircularPad", "ConstantPad"):
            extra = () if name == "Dropout" else (1, 0.5) if name == "ConstantPad" else (1,)
            found[f"{name}{suffix}"] = Spec(extra, of(shape))
        unpooled = [*shape[:2], *(4,) * dims]
        indices = torch.zeros(unpooled, dtype=torch.int64)
        found[f"MaxUnpool{suffix}"] = Spec((2,), partial(unpooling, unpooled, indices))
    found["FractionalMaxPool2d"] = Spec((2,), of(image), {"output_size": 3})
    found["FractionalMaxPool3d"] = Spec((2,), of((2, 4, 6, 6, 6)), {"output_size": 3})
    for name in ("Softmax", "LogSoftmax", "Softmin"):
        found[name] = Spec((-1,), of((3, 5)))
    found["Softmax2d"] = Spec((), of(image))
    found["Threshold"] = Spec((0.1, 0.0), of((3, 5)))
    found["GLU"] = Spec((), of((3, 6)))
    found["PReLU"] = Spec((), of((3, 5)))
    found["Linear"] = Spec((5, 4), of((3, 5)))
    found["LazyLinear"] = Spec((4,), of((3, 5)))
    found["Bilinear"] = Spec((5, 6, 4), of((3, 5), (3, 6)))
    found["LayerNorm"] = found["RMSNorm"] = Spec((5,), of((3, 5)))
    found["GroupNorm"] = Spec((2, 4), of(image))
    found["SyncBatchNorm"] = Spec((4,), of(image))  # refuses the CPU in training, runs in evaluation
    found["LocalResponseNorm"] = Spec((2,), of(image))
    found["CrossMapLRN2d"] = Spec((2,), of(image))
    found["Flatten"] = Spec((), of(image))
    found["Unflatten"] = Spec((1, (2, 2)), of(image))
    found["Fold"] = Spec(((4, 4), 2), of((2, 4, 9)))
    found["Unfold"] = Spec((2,), of(image))
    found["PixelShuffle"] = found["PixelUnshuffle"] = found["ChannelShuffle"] = Spec((2,), of(image))
    found["Upsample"] = Spec((), of(image), {"scale_factor": 2})
    found["UpsamplingNearest2d"] = found["UpsamplingBilinear2d"] = Spec((), of(image), {"scale_factor": 2})
    found["Embedding"] = Spec((7, 5), lambda: (torch.tensor([[1, 2], [3, 4]]),))
    found["EmbeddingBag"] = Spec((7, 5), lambda: (torch.tensor([[1, 2], [3, 4]]),))
    for name in ("RNN", "GRU", "LSTM"):
        found[name] = Spec((5, 4), of((3, 2, 5), (1, 2, 4)))
        found[f"{name}Cell"] = Spec((5, 4), of((2, 5), (2, 4)))
    found["LSTM"].inputs = lambda: (tensor(3, 2, 5), (tensor(1, 2, 4), tensor(1, 2, 4)))
    found["LSTMCell"].inputs = lambda: (tensor(2, 5), (tensor(2, 4), tensor(2, 4)))
    found["MultiheadAttention"] = Spec((4, 2), of((3, 2, 4), (3, 2, 4), (3, 2, 4)))
    layer = nn.TransformerEncoderLayer(4, 2, 8)
    found["TransformerEncoderLayer"] = Spec((4, 2, 8), of((3, 2, 4)))
    found["TransformerDecoderLayer"] = Spec((4, 2, 8), of((3, 2, 4), (3, 2, 4)))
    found["TransformerEncoder"] = Spec((layer, 1), of((3, 2, 4)), {"enable_nested_tensor": False})
    found["TransformerDecoder"] = Spec((nn.TransformerDecoderLayer(4, 2, 8), 1), of((3, 2, 4), (3, 2, 4)))
    found["Transformer"] = Spec((4, 2, 1, 1, 8), of((3, 2, 4), (3, 2, 4)))

    pair = of((3, 5), (3, 5))
    for name in (
        "L1Loss", "MSELoss", "SmoothL1Loss", "HuberLoss", "PoissonNLLLoss", "KLDivLoss", "BCELoss",
        "BCEWithLogitsLoss", "SoftMarginLoss", "HingeEmbeddingLoss", "MultiLabelSoftMarginLoss",
    ):  # fmt: skip
        found[name] = Spec((), pair)
    for name in ("CrossEntropyLoss", "NLLLoss", "MultiMarginLoss"):
        found[name] = Spec((), lambda: (tensor(3, 5), classes))
    found["NLLLoss2d"] = Spec((), lambda: (tensor(2, 3, 4, 4), torch.zeros(2, 4, 4, dtype=torch.int64)))
    found["MultiLabelMarginLoss"] = Spec((), lambda: (tensor(3, 5), torch.zeros(3, 5, dtype=torch.int64)))
    found["GaussianNLLLoss"] = Spec((), of((3, 5), (3, 5), (3, 5)))
    found["CosineEmbeddingLoss"] = Spec((), lambda: (tensor(3, 5), tensor(3, 5), signs))
    found["MarginRankingLoss"] = Spec((), lambda: (tensor(3), tensor(3), signs))
    found["TripletMarginLoss"] = Spec((), of((3, 5), (3, 5), (3, 5)))
    found["TripletMarginWithDistanceLoss"] = Spec((), of((3, 5), (3, 5), (3, 5)))
    found["PairwiseDistance"] = found["CosineSimilarity"] = Spec((), pair)
    found["AdaptiveLogSoftmaxWithLoss"] = Spec((5, 10, [4]), lambda: (tensor(3, 5), classes))
    labels, lengths = torch.tensor([[1, 2], [3, 4]]), (torch.tensor([6, 6]), torch.tensor([2, 2]))
    found["CTCLoss"] = Spec((), lambda: (tensor(6, 2, 5).log_softmax(-1), labels, *lengths))
    return found


@dataclass
class Sample:
    """One construction and call of a module: its case, and the names of what it holds."""

    case: Case
    params: list[str]
    buffers: list[str]


def sample(cls: type[nn.Module], spec: Spec, training: bool) -> Sample:
    """A module's call as a case that builds the module anew for every run."""
    names, rest = signature_of(cls.forward)

    def make() -> tuple[Case, nn.Module]:
        seed(0)
        module = cls(*spec.args, **spec.kwargs)
        module.train(training)
        if any(isinstance(p, nn.UninitializedParameter) for p in module.parameters()) or hasattr(
            module, "_infer_parameters"
        ):
            module(*spec.inputs(), **spec.keywords)  # a lazy module has its parameters after a first call
        extra = {"params": list(module.parameters()), "buffers": list(module.buffers())}
        case = Case(module, spec.inputs(), dict(spec.keywords), names[1:], rest, extra)
        return case, module

    case, module = make()
    case.refresh = lambda: make()[0]
    return Sample(case, [n for n, _ in module.named_parameters()], [n for n, _ in module.named_buffers()])


def module_db() -> list[Any]:
    """Torch's list of modules (``op_db`` first: it makes the import possible)."""
    op_db()
    from torch.testing._internal.common_modules import module_db as database

    return list(database)


def database_specs(name: str, training: bool) -> Iterator[Spec]:
    """The samples of module_db for one class, evenly spread."""
    for info in module_db():
        if info.name != f"nn.{name}":
            continue
        seed(0)
        inputs = info.module_inputs_func(
            info, device="cpu", dtype=torch.float32, requires_grad=True, training=training
        )
        step = max(1, len(inputs) / SAMPLES)
        for number in range(min(len(inputs), SAMPLES)):
            one = inputs[int(number * step)]
            given, call = one.constructor_input, one.forward_input
            if call is not None and torch.is_tensor(next(iter(call.args), None)):
                yield Spec(given.args, partial(tuple, call.args), dict(given.kwargs), dict(call.kwargs))


def names() -> list[str]:
    """The public modules of torch.nn."""
    found = [n for n in dir(nn) if inspect.isclass(getattr(nn, n)) and issubclass(getattr(nn, n), nn.Module)]
    return [n for n in found if n not in LEFT_OUT and not n.startswith("_")]


def samples(name: str, training: bool) -> Iterator[Sample]:
    """The samples of a module that can be built, our own first."""
    cls = getattr(nn, name)
    own = specs().get(name)
    tried = [own] if own else [Spec((), of((3, 6))), Spec((), of((2, 4, 8, 8)))]
    for spec in [*tried, *database_specs(name, training)]:
        found = attempt(sample, cls, spec, training)
        if found is not None:
            yield found
