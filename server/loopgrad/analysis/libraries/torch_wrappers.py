"""torch functions around modules and graphs: wrappers, packing, ``functional_call``, context managers."""

from __future__ import annotations

from typing import Any

from ..semantics.calls import arg
from ..tape import Tensor
from ..torch_model import methods, nn, tensors
from ..values import Class, LDict, LList, Native, Obj, Sym, tensors_in
from ..where import Site
from .registry import TABLE, native


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
    if not any(True for _ in tensors_in(args[0] if args else (), 3)):
        return rt.fresh(site, "tensor")
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


@native("torch.nn.parallel.data_parallel")
def _data_parallel(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """``data_parallel(module, inputs)`` calls the module, on parts of its inputs."""
    inputs = arg(args, kwargs, 1, "inputs", ())
    inputs = list(inputs) if isinstance(inputs, tuple) else [inputs]
    named = kwargs.get("module_kwargs")
    named = {k: v for k, v in named.items() if type(k) is str} if isinstance(named, LDict) else {}
    return rt.shared.calls.call(rt, arg(args, kwargs, 0, "module"), inputs, named, site)


PARALLEL = Class("DataParallel", (nn.MODULE,))
PARALLEL.ns["forward"] = Native(
    "forward",
    lambda rt, site, args, kwargs: rt.shared.calls.call(rt, args[0].attrs["module"], args[1:], kwargs, site),
)
PARALLEL.ns["no_sync"] = Native("no_sync", lambda rt, site, args, kwargs: rt.fresh(site, "object"))


def _variable(rt: Any, cls: Class, args: list, kwargs: dict, site: Site) -> Any:
    """``Variable(x)``: x without its graph, as ``detach`` gives it (measured in torch 2.1, 2.13 and 2.14)."""
    value = arg(args, kwargs, 0, "data")
    made = (
        methods.method(rt, value, "detach", [], {}, site)
        if type(value) is Tensor
        else methods.factory(rt, site, [], {})
    )
    flag = arg(args, kwargs, 1, "requires_grad", False)
    made.leaf_grad = rt.truth(flag, site) if type(flag) is Sym else bool(flag)
    if made.leaf_grad:
        made.where = rt.where
    return made


nn.VARIABLE.build = _variable
TABLE["torch.autograd.Variable"] = TABLE["torch.autograd.variable.Variable"] = nn.VARIABLE


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
