"""Names of torch: what is not simply an operation of the generated table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import cuts
from ..knowledge import torch_table as table
from ..runtime import CONST, Raised
from ..semantics.calls import arg
from ..tape import Tensor
from ..torch_model import autograd, containers, inplace, leaf_modules, methods, nn, optim, tensors
from ..values import MISSING, Class, Func, LDict, LList, Namespace, Native, Obj, Sym, tensors_in
from ..where import Site
from . import data, distributions

TABLE: dict[str, Any] = {}
Fn = Callable[[Any, Site, list, dict], Any]


def native(*names: str) -> Callable[[Fn], Fn]:
    def add(fn: Fn) -> Fn:
        for name in names:
            TABLE[name] = Native(name, fn)
        return fn

    return add


def derived(full: str) -> Any:
    """A torch name from the generated tables, or MISSING."""
    head, _, last = full.rpartition(".")
    if head in ("torch.nn", "torch.nn.modules", "torch.nn.modules.loss"):
        cls = leaf_modules.leaf_class(last)
        if cls is not None:
            return cls
    if head.startswith("torch.optim"):
        cls = optim.optimizer_class(last)
        if cls is not None:
            return cls
        if (
            last in ("LambdaLR", "StepLR")
            or last.endswith("LR")
            or last
            in (
                "ReduceLROnPlateau",
                "CosineAnnealingWarmRestarts",
                "SWALR",
                "SequentialLR",
                "_LRScheduler",
                "LRScheduler",
            )
        ):
            return optim.SCHEDULER
    if table.function(full) is not None:
        return _operation(head + ".", last)
    if head == "torch" and (last in table.inplace() or table.method(last) is not None):
        return _operation("torch.", last)
    if head == "torch.Tensor":
        return Native(last, lambda rt, site, args, kwargs: _unbound(rt, site, last, args, kwargs))
    if head in ("torch.nn.functional",) and last.endswith("_") and table.function(full[:-1]) is not None:
        return Native(
            last,
            lambda rt, site, args, kwargs: (
                inplace.modify(rt, args[0], last[:-1], args[1:], site)
                if args and type(args[0]) is Tensor
                else rt.fresh(site)
            ),
        )
    if head in ("torch.nn.init",):
        return Native(last, _init)
    return MISSING


def _operation(prefix: str, name: str) -> Native:
    if name.endswith("_") and not name.endswith("__"):

        def change(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
            if args and type(args[0]) is Tensor:
                return methods.method(rt, args[0], name, args[1:], kwargs, site)
            return rt.fresh(site)

        return Native(name, change)
    profile = table.function(prefix + name)
    if profile is not None and not profile.args and profile.graph == "no":
        return Native(name, methods_factory)

    def run(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
        if not any(
            type(v) is Tensor or type(v) is Sym and v.node is not None for v in (*args, *kwargs.values())
        ):
            deep = any(True for v in (*args, *kwargs.values()) for _ in tensors_in(v, 3))
            if not deep and any(tensors.unknown_inside(v) for v in (*args, *kwargs.values())):
                return rt.fresh(site, "tensor")
            if not deep:
                return methods.factory(rt, site, [], kwargs)
        return tensors.apply(rt, name, args, kwargs, site, prefix)

    return Native(name, run)


def methods_factory(rt: Any, site: Site, args: list, kwargs: dict) -> Tensor:
    return methods.factory(rt, site, args, kwargs)


def _unbound(rt: Any, site: Site, name: str, args: list, kwargs: dict) -> Any:
    if args and type(args[0]) is Tensor:
        return methods.method(rt, args[0], name, args[1:], kwargs, site)
    if args and type(args[0]) is Sym:
        found = tensors_unknown(rt, args[0], name, site)
        return rt.shared.calls.call(rt, found, args[1:], kwargs, site)
    return rt.fresh(site)


def tensors_unknown(rt: Any, sym: Sym, name: str, site: Site) -> Any:
    return rt.shared.objects.get(rt, sym, name, site)


def _init(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """``nn.init.xavier_(w)``: in place under no_grad."""
    t = arg(args, kwargs, 0, "tensor")
    if type(t) is Tensor:
        tensors.bump(rt, t, site, "init")
    return t


@native(
    "torch.tensor",
    "torch.as_tensor",
    "torch.from_numpy",
    "torch.asarray",
    "torch.Tensor",
    "torch.FloatTensor",
    "torch.DoubleTensor",
    "torch.LongTensor",
    "torch.IntTensor",
    "torch.BoolTensor",
    "torch.ByteTensor",
    "torch.HalfTensor",
    "torch.cuda.FloatTensor",
    "torch.cuda.LongTensor",
    "torch.load",
    "torch.frombuffer",
    "torch.arange",
    "torch.range",
    "torch.linspace",
    "torch.logspace",
    "torch.eye",
    "torch.empty",
    "torch.full",
    "torch.zeros",
    "torch.ones",
    "torch.rand",
    "torch.randn",
    "torch.randint",
    "torch.randperm",
    "torch.scalar_tensor",
    "torch.empty_strided",
    "torch.tril_indices",
    "torch.triu_indices",
    "torch.hann_window",
    "torch.normal",
    "torch.multinomial",
    "torch.bernoulli",
    "torch.poisson",
    "torch.zeros_like",
    "torch.ones_like",
    "torch.rand_like",
    "torch.randn_like",
    "torch.randint_like",
    "torch.full_like",
    "torch.empty_like",
)
def _factory(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return methods.factory(rt, site, args, kwargs)


def _as_tensor(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    value = arg(args, kwargs, 0, "data")
    if type(value) is Tensor:
        return value
    return methods.factory(rt, site, [], kwargs)


def _tensor(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    made = methods.factory(rt, site, [], kwargs)
    value = arg(args, kwargs, 0, "data")
    if isinstance(value, (LList, tuple)) and not getattr(value, "open", False):
        made.length = len(value)
    elif type(value) is Tensor:
        made.length, made.shape = value.length, value.shape
    carries = value.node if type(value) is Tensor else None
    made.cut = (
        cuts.note(rt, "tensor", site, "torch.tensor", [carries]) if carries is not None else cuts.of([value])
    )
    if (
        type(value) is Sym
        and rt.shared.unknowns.root_of(value.key) in (None, "numpy", "np")
        and made.leaf_grad is False
    ):
        made.length = None
    return made


def _load(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return rt.fresh(site)


TABLE["torch.as_tensor"] = TABLE["torch.asarray"] = Native("as_tensor", _as_tensor)
TABLE["torch.tensor"] = Native("tensor", _tensor)
TABLE["torch.load"] = Native("load", _load)
TABLE["torch.Tensor"] = nn.TENSOR
nn.TENSOR.build = lambda rt, cls, args, kwargs, site: methods.factory(rt, site, args, kwargs)
for _name in ("randperm", "arange", "randint"):

    def _indices(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
        made = methods.factory(rt, site, [], kwargs)
        made.not_float = not kwargs.get("requires_grad")
        if len(args) == 1 and type(args[0]) is int:
            made.length = args[0]
        return made

    if _name != "randint":
        TABLE[f"torch.{_name}"] = Native(_name, _indices)


def _sized_later(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """``randint(low, high, size)``, ``full(size, value)``: the size is the one tuple among the arguments."""
    size = kwargs.get("size", next((a for a in args if type(a) in (tuple, LList)), None))
    made = methods.factory(rt, site, [tuple(size)] if isinstance(size, (tuple, LList)) else [], kwargs)
    return made


def _unsized(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    made = methods.factory(rt, site, [], kwargs)
    made.cut = cuts.of(args)
    return made


for _name in ("randint", "full", "normal"):
    TABLE[f"torch.{_name}"] = Native(_name, _sized_later)
for _name in (
    "linspace",
    "logspace",
    "multinomial",
    "bernoulli",
    "poisson",
    "zeros_like",
    "ones_like",
    "rand_like",
    "randn_like",
    "randint_like",
    "full_like",
    "empty_like",
    "from_numpy",
    "scalar_tensor",
    "frombuffer",
    "empty_strided",
):
    TABLE[f"torch.{_name}"] = Native(_name, _unsized)


@native("torch.is_tensor")
def _is_tensor(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    value = args[0]
    if type(value) is Sym:
        return rt.shared.classes.isinstance(rt, value, nn.TENSOR, site)
    return type(value) is Tensor


@native("torch.is_grad_enabled")
def _enabled(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return bool(rt.grad)


@native(
    "torch.manual_seed",
    "torch.save",
    "torch.set_num_threads",
    "torch.set_default_dtype",
    "torch.cuda.empty_cache",
    "torch.cuda.synchronize",
    "torch.cuda.manual_seed_all",
    "torch.cuda.manual_seed",
    "torch.set_printoptions",
    "torch.use_deterministic_algorithms",
    "torch.cuda.set_device",
    "torch.set_default_device",
    "torch.seed",
    "torch.set_default_tensor_type",
    "torch.autograd.set_detect_anomaly",
    "torch.set_float32_matmul_precision",
    "torch.utils.data.random_split_seed",
    "torch.distributed.barrier",
    "torch.distributed.init_process_group",
)
def _nothing(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return rt.fresh(site, "object")


@native("torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_value_", "torch.nn.utils.clip_grad_norm")
def _clip(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return tensors.graphless(rt, site)


@native("torch.nn.utils.parameters_to_vector")
def _flatten(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return tensors.apply(rt, "cat", args, kwargs, site, "torch.")


@native("torch.nn.utils.vector_to_parameters")
def _spread(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    for t in tensors_in(arg(args, kwargs, 1, "parameters")):
        if type(t) is Tensor:
            tensors.bump(rt, t, site, "vector_to_parameters")


@native(
    "torch.nn.utils.rnn.pack_padded_sequence",
    "torch.nn.utils.rnn.pack_sequence",
    "torch.nn.utils.rnn.pad_sequence",
)
def _pack(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return tensors.apply(rt, "cat", args[:1], {}, site, "torch.")


@native("torch.nn.utils.rnn.pad_packed_sequence")
def _pad(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return (args[0], tensors.graphless(rt, site, "index"))


@native(
    "torch.nn.utils.weight_norm",
    "torch.nn.utils.spectral_norm",
    "torch.nn.utils.parametrizations.weight_norm",
    "torch.nn.utils.parametrizations.spectral_norm",
    "torch.compile",
    "torch.jit.script",
    "torch.nn.SyncBatchNorm.convert_sync_batchnorm",
    "torch.nn.utils.parametrizations.orthogonal",
    "torch.jit.trace",
    "torch.jit.ignore",
    "torch.jit.export",
    "torch.nn.utils.fusion",
    "torch.jit.unused",
    "torch.compiler.disable",
    "torch.nn.utils.remove_weight_norm",
    "torch.jit.optimize_for_inference",
)
def _wrapped(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return args[0] if args else Native("wrap", lambda rt_, s, a, k: a[0])


@native(
    "torch.nn.DataParallel",
    "torch.nn.parallel.DistributedDataParallel",
    "torch.nn.parallel.DataParallel",
    "torch.distributed.fsdp.FullyShardedDataParallel",
)
def _parallel(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    inner = arg(args, kwargs, 0, "module")
    if type(inner) is not Obj:
        return inner
    made = Obj(PARALLEL)
    made.attrs["training"] = True
    made.attrs["module"] = inner
    rt.modules_made.append(made)
    return made


PARALLEL = Class("DataParallel", (nn.MODULE,))
PARALLEL.ns["forward"] = Native(
    "forward",
    lambda rt, site, args, kwargs: rt.shared.calls.call(rt, args[0].attrs["module"], args[1:], kwargs, site),
)
PARALLEL.ns["no_sync"] = Native("no_sync", lambda rt, site, args, kwargs: rt.fresh(site, "object"))


@native("torch.autograd.Variable", "torch.autograd.variable.Variable")
def _variable(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    value = arg(args, kwargs, 0, "data")
    volatile = kwargs.get("volatile") is True
    if type(value) is Tensor:
        if volatile:
            return methods.method(rt, value, "detach", [], {}, site)
        if kwargs.get("requires_grad") is True and value.node is None and not value.leaf_grad:
            return methods.factory(rt, site, [], {"requires_grad": True})
        return value
    if type(value) is Sym and not volatile:
        return value
    return methods.factory(rt, site, [], kwargs)


@native("torch.func.functional_call", "torch.nn.utils.stateless.functional_call")
def _functional_call(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """Run a module with other tensors in its parameters' places."""
    module, given = arg(args, kwargs, 0, "module"), arg(args, kwargs, 1, "parameter_and_buffer_dicts")
    inputs, named = arg(args, kwargs, 2, "args", ()), arg(args, kwargs, 3, "kwargs", LDict())
    tables = given if isinstance(given, (tuple, LList)) else (given,)
    inputs = list(inputs) if isinstance(inputs, tuple) else [inputs]
    if type(module) is not Obj:
        return rt.shared.unknowns.call(rt, Sym(("functional_call", id(site))), args, kwargs, site)
    saved: list[tuple[Obj, str, Any]] = []
    for entry in tables:
        for name, value in entry.items() if isinstance(entry, LDict) else ():
            owner: Any = module
            *path, last = str(name).split(".")
            for part in path:
                owner = owner.attrs.get(part) if type(owner) is Obj else None
            if type(owner) is Obj and last in owner.attrs:
                saved.append((owner, last, owner.attrs[last]))
                owner.attrs[last] = value
                if type(value) is Tensor and not value.is_param:
                    value.is_param = True
                    saved.append((owner, "", value))
    try:
        return rt.shared.calls.call(
            rt,
            module,
            inputs,
            {k: v for k, v in named.items() if type(k) is str} if isinstance(named, LDict) else {},
            site,
        )
    finally:
        for owner, name, value in reversed(saved):
            if name:
                owner.attrs[name] = value
            else:
                value.is_param = False


@native(
    "torch.func.grad",
    "torch.func.vmap",
    "torch.vmap",
    "torch.func.jacrev",
    "torch.func.jacfwd",
    "torch.func.hessian",
    "torch.func.grad_and_value",
    "torch.func.vjp",
    "torch.func.jvp",
    "torch.autograd.functional.jacobian",
    "torch.autograd.functional.hessian",
)
def _transform(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return rt.fresh(site, "any")


def _nullcontext(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return rt.fresh(site, "object")


for _name in (
    "torch.autocast",
    "torch.amp.autocast",
    "torch.cuda.amp.autocast",
    "torch.autograd.detect_anomaly",
    "torch.autograd.profiler.profile",
    "torch.profiler.profile",
    "torch.device",
    "torch.random.fork_rng",
    "torch.cuda.stream",
    "torch.autograd.graph.save_on_cpu",
    "torch.backends.cuda.sdp_kernel",
):
    TABLE[_name] = Native(_name, _nullcontext)

TABLE.update(
    {
        "torch.nn.Module": nn.MODULE,
        "torch.nn.Sequential": containers.SEQUENTIAL,
        "torch.nn.ModuleList": containers.MODULE_LIST,
        "torch.nn.ModuleDict": containers.MODULE_DICT,
        "torch.nn.ParameterList": containers.PARAMETER_LIST,
        "torch.nn.ParameterDict": containers.PARAMETER_DICT,
        "torch.nn.Parameter": nn.PARAMETER,
        "torch.nn.parameter.Parameter": nn.PARAMETER,
        "torch.nn.modules.Module": nn.MODULE,
        "torch.no_grad": autograd.NO_GRAD,
        "torch.enable_grad": autograd.ENABLE_GRAD,
        "torch.inference_mode": autograd.INFERENCE,
        "torch.set_grad_enabled": autograd.SET_GRAD,
        "torch.autograd.no_grad": autograd.NO_GRAD,
        "torch.autograd.enable_grad": autograd.ENABLE_GRAD,
        "torch.autograd.set_grad_enabled": autograd.SET_GRAD,
        "torch.autograd.inference_mode": autograd.INFERENCE,
        "torch.autograd.grad": Native("grad", autograd.grad),
        "torch.autograd.backward": Native("backward", autograd.autograd_backward),
        "torch.autograd.Function": autograd.FUNCTION,
        "torch.utils.checkpoint.checkpoint": Native("checkpoint", autograd.checkpoint),
        "torch.optim.Optimizer": optim.OPTIMIZER,
        "torch.nn.utils.parametrize.register_parametrization": Native(
            "register_parametrization", leaf_modules.parametrize
        ),
        "torch.nn.utils.parametrize.cached": leaf_modules.CACHED,
        "torch.cuda.amp.GradScaler": optim.SCALER,
        "torch.amp.GradScaler": optim.SCALER,
        "torch.GradScaler": optim.SCALER,
        "torch.cuda.is_available": Native(
            "is_available", lambda rt, site, args, kwargs: Sym(("cuda", "available"), "bool")
        ),
        "torch.cuda.device_count": Native(
            "device_count", lambda rt, site, args, kwargs: Sym(("cuda", "count"), "number")
        ),
        "torch.pi": 3.141592653589793,
        "torch.inf": float("inf"),
        "torch.nan": float("nan"),
        "torch.e": 2.718281828459045,
        **data.TABLE,
        **distributions.TABLE,
    }
)
for _name in (
    "float",
    "float32",
    "float64",
    "float16",
    "double",
    "half",
    "bfloat16",
    "long",
    "int",
    "int64",
    "int32",
    "int8",
    "uint8",
    "bool",
    "short",
    "complex64",
    "Size",
    "dtype",
    "strided",
    "channels_last",
    "Generator",
    "finfo",
    "iinfo",
    "__version__",
    "version",
):
    TABLE.setdefault(f"torch.{_name}", Sym(("lib", f"torch.{_name}"), "object"))
__all__ = ["CONST", "Func", "Namespace", "Raised", "TABLE", "derived"]
