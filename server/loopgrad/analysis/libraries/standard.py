"""The standard library and numpy, as far as graphs can meet them."""

from __future__ import annotations

import math
from typing import Any

from ..semantics import builtins_model
from ..semantics.calls import arg
from ..semantics.containers import lifted, plain
from ..signals import Ended, Raised
from ..tape import Tensor
from ..values import (
    MISSING,
    MORE,
    Bound,
    Class,
    Native,
    Obj,
    Sym,
)
from ..where import Site
from . import (
    chance_model,
    collections_model,
    contextlib_model,
    copying,
    functional_model,
    ordered_model,
    records_model,
    threads_model,
)
from .registry import TABLE, native

MODULES = frozenset("os collections itertools functools math random numpy copy contextlib typing".split())
SUBMODULES = frozenset({"os.path", "numpy.random", "numpy.linalg", "collections.abc"})
#: Importing them enters what they know.
PARTS = (
    chance_model,
    collections_model,
    contextlib_model,
    copying,
    functional_model,
    ordered_model,
    records_model,
    threads_model,
)

# -- math, random, sys, time --------------------------------------------------------------------------

for _name, _value in builtins_model.MATH.items():
    if callable(_value):

        def _compute(rt: Any, site: Site, args: list, kwargs: dict, fn: Any = _value) -> Any:
            values = [plain(rt.resolve(a)) for a in args]
            if any(v is MISSING for v in values):
                return rt.fresh(site, "number")
            try:
                return lifted(fn(*values))
            except Exception as error:
                raise Raised(type(error).__name__) from None

        TABLE[f"math.{_name}"] = Native(_name, _compute)
    else:
        TABLE[f"math.{_name}"] = _value


@native("sys.exit", "os._exit", "os.abort")
def _exit(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    raise Ended


@native(
    "random.random",
    "random.uniform",
    "random.randint",
    "random.gauss",
    "random.randrange",
    "time.time",
    "time.perf_counter",
    "time.monotonic",
    "numpy.random.rand",
    "numpy.random.random",
    "numpy.random.uniform",
    "numpy.random.randint",
    "random.betavariate",
)
def _number(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return rt.fresh(site, "number")


@native(
    "random.seed",
    "numpy.random.seed",
    "time.sleep",
    "gc.collect",
    "warnings.filterwarnings",
    "os.makedirs",
    "os.environ.setdefault",
    "logging.basicConfig",
    "atexit.register",
    "faulthandler.enable",
    "warnings.warn",
)
def _nothing(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    return None


# -- typing, abc, argparse, tqdm, numpy --------------------------------------------------------------------------


@native("typing.cast")
def _cast(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return args[1]


@native(
    "abc.abstractmethod", "typing.overload", "typing.final", "typing_extensions.override", "typing.override"
)
def _identity(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return args[0]


@native(
    "tqdm.tqdm",
    "tqdm.auto.tqdm",
    "tqdm.notebook.tqdm",
    "tqdm.trange",
    "tqdm.auto.trange",
    "rich.progress.track",
    "tqdm.contrib.tenumerate",
    "fastprogress.progress_bar",
)
def _progress(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    value = arg(args, kwargs, 0, "iterable")
    if value is None:
        return rt.fresh(site, "object")
    if type(value) is int or type(value) is Sym and value.kind == "number":
        value = builtins_model.TABLE["range"].fn(rt, site, [value], {})
    made = Obj(PROGRESS)
    made.data = None
    made.attrs["iterable"] = value
    return made


PROGRESS = Class("tqdm")
PROGRESS.opaque = True
PROGRESS.flags = frozenset({"inert"})
PROGRESS.ns["__iter__"] = Native("__iter__", lambda rt, site, args, kwargs: args[0].attrs["iterable"])
PROGRESS.ns["__len__"] = Native(
    "__len__",
    lambda rt, site, args, kwargs: builtins_model.TABLE["len"].fn(rt, site, [args[0].attrs["iterable"]], {}),
)
PROGRESS.ns["__enter__"] = Native("__enter__", lambda rt, site, args, kwargs: args[0])
PROGRESS.ns["__exit__"] = Native("__exit__", lambda rt, site, args, kwargs: None)
for _name in (
    "set_postfix",
    "set_description",
    "update",
    "close",
    "set_postfix_str",
    "write",
    "refresh",
    "reset",
):
    PROGRESS.ns[_name] = Native(_name, lambda rt, site, args, kwargs: None)


NAMESPACE = Class("SimpleNamespace")
#: A namespace of which every attribute is known.
WHOLE_NAMESPACE = Class("SimpleNamespace", (NAMESPACE,))
WHOLE_NAMESPACE.flags = frozenset({"namespace"})


def _namespace_init(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    obj = args[0]
    obj.attrs.update((name, value) for name, value in kwargs.items() if name is not MORE)
    if obj.cls is NAMESPACE and len(args) == 1 and MORE not in kwargs:
        obj.cls = WHOLE_NAMESPACE


NAMESPACE.ns["__init__"] = Native("__init__", _namespace_init)
TABLE["types.SimpleNamespace"] = NAMESPACE
TABLE["types.MethodType"] = Native("MethodType", lambda rt, site, args, kwargs: Bound(args[0], args[1]))


@native(
    "numpy.array",
    "numpy.asarray",
    "numpy.mean",
    "numpy.std",
    "numpy.sum",
    "numpy.concatenate",
    "numpy.stack",
    "numpy.max",
    "numpy.min",
    "numpy.argmax",
    "numpy.float32",
)
def _array(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    for t in args[:1]:
        if type(t) is Tensor and t.requires_grad and t.guess == 0:
            raise Raised("RuntimeError", sure=True)
    return rt.fresh(site, "object")


TABLE["numpy.pi"], TABLE["numpy.inf"], TABLE["numpy.nan"] = math.pi, math.inf, math.nan
TABLE["operator.itemgetter"] = Native(
    "itemgetter",
    lambda rt, site, args, kwargs: Native(
        "itemgetter",
        lambda rt_, s, a, k: (
            rt_.shared.objects.item(rt_, a[0], args[0], s)
            if len(args) == 1
            else tuple(rt_.shared.objects.item(rt_, a[0], x, s) for x in args)
        ),
    ),
)
TABLE["operator.attrgetter"] = Native(
    "attrgetter",
    lambda rt, site, args, kwargs: Native(
        "attrgetter", lambda rt_, s, a, k: rt_.shared.objects.get(rt_, a[0], args[0], s)
    ),
)
TABLE["operator.add"] = Native(
    "add",
    lambda rt, site, args, kwargs: rt.shared.ops.binary(
        rt, "add", lambda a, b: a + b, args[0], args[1], site
    ),
)
TABLE["operator.mul"] = Native(
    "mul",
    lambda rt, site, args, kwargs: rt.shared.ops.binary(
        rt, "mul", lambda a, b: a * b, args[0], args[1], site
    ),
)
TABLE["weakref.ref"] = Native(
    "ref", lambda rt, site, args, kwargs: Native("ref", lambda rt_, s, a, k: args[0])
)
__all__ = ["MODULES", "PARTS", "SUBMODULES", "TABLE"]
