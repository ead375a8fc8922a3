"""The standard library and numpy, as far as graphs can meet them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..runtime import CONST, Ended, Raised
from ..semantics import builtins_model
from ..semantics.calls import arg
from ..semantics.classes import with_mode
from ..semantics.containers import lifted, plain
from ..tape import Tensor
from ..torch_model import nn, tensors
from ..values import (
    MISSING,
    Bound,
    Class,
    Endless,
    Func,
    Iter,
    LDict,
    LList,
    LSet,
    Namespace,
    Native,
    Obj,
    Partial,
    Property,
    Sym,
    hashable,
    tensors_in,
)
from ..where import Site

TABLE: dict[str, Any] = {}
Fn = Callable[[Any, Site, list, dict], Any]
MODULES = frozenset("os collections itertools functools math random numpy copy contextlib typing".split())
SUBMODULES = frozenset({"os.path", "numpy.random", "numpy.linalg", "collections.abc"})


def native(*names: str) -> Callable[[Fn], Fn]:
    def add(fn: Fn) -> Fn:
        for name in names:
            TABLE[name] = Native(name.rsplit(".", 1)[-1], fn)
        return fn

    return add


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


@native("random.choice")
def _choice(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    items, _ = rt.shared.objects.listed(rt, args[0], site)
    if not items:
        return rt.fresh(site)
    # Which one is open; the newest and an older one alternate, so that both are seen.
    n = rt.counts.get(("choice", id(site)), 0)
    rt.counts[("choice", id(site))] = n + 1
    return items[0] if n % 2 else items[-1]


@native("random.sample", "random.choices")
def _sample(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    items, more = rt.shared.objects.listed(rt, args[0], site)
    count = arg(args, kwargs, 1, "k", 1)
    if type(count) is int and count >= len(items):
        return LList(items, more)
    return LList(
        items[-count:] if type(count) is int and count > 0 else items, more or type(count) is not int
    )


@native(
    "random.shuffle",
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


# -- collections ----------------------------------------------------------------------------------------


@native("collections.deque")
def _deque(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    items, more = rt.shared.objects.listed(rt, args[0], site) if args else ([], False)
    limit = arg(args, kwargs, 1, "maxlen")
    bounded = limit if type(limit) is int else (64 if limit is not None else None)
    return LList(items[-bounded:] if bounded else items, more, bounded)


@native("collections.defaultdict")
def _defaultdict(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    made = LDict(factory=args[0] if args else None)
    if len(args) > 1:
        rt.shared.objects.merge(rt, made, args[1], site)
    return made


@native("collections.OrderedDict")
def _ordered(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return builtins_model.TABLE["dict"].fn(rt, site, args, kwargs)


@native("collections.Counter")
def _counter(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    made = LDict(factory=builtins_model.TABLE["int"])
    if args:
        items, more = rt.shared.objects.listed(rt, args[0], site)
        for item in items:
            key = hashable(item)
            made[key] = made.get(key, 0) + 1 if type(made.get(key, 0)) is int else made[key]
        made.open = more
    return made


@native("collections.namedtuple", "typing.NamedTuple")
def _namedtuple(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    names = args[1] if len(args) > 1 else kwargs.get("field_names", ())
    if type(names) is str:
        fields = names.replace(",", " ").split()
    else:
        fields = [n if type(n) is str else n[0] for n in rt.shared.objects.listed(rt, names, site)[0]]
    cls = Class(args[0] if type(args[0]) is str else "tuple", (NAMEDTUPLE,))
    defaults = kwargs.get("defaults")
    given = list(defaults) if isinstance(defaults, (tuple, LList)) else []
    first = len(fields) - len(given)
    cls.fields = [(n, given[k - first] if k >= first else MISSING) for k, n in enumerate(fields)]
    return cls


def _tuple_replace(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    made = Obj(args[0].cls)
    names = [n for n, _ in args[0].cls.fields or []]
    made.data = tuple(kwargs.get(n, v) for n, v in zip(names, args[0].data))
    return made


NAMEDTUPLE = Class("NamedTuple")
NAMEDTUPLE.flags = frozenset({"namedtuple"})
NAMEDTUPLE.ns.update(
    _replace=Native("_replace", _tuple_replace),
    _asdict=Native(
        "_asdict",
        lambda rt, site, args, kwargs: LDict(
            {n: v for (n, _), v in zip(args[0].cls.fields or [], args[0].data)}
        ),
    ),
    _make=Native("_make", lambda rt, site, args, kwargs: rt.fresh(site)),
)
TABLE["typing.NamedTuple"] = NAMEDTUPLE

# -- functools, itertools, contextlib, dataclasses, enum -------------------------------------------------------


@native("functools.partial", "functools.partialmethod")
def _partial(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return Partial(args[0], list(args[1:]), kwargs)


@native("functools.wraps", "functools.update_wrapper")
def _wraps(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return Native("wraps", lambda rt_, s, a, k: a[0])


@native("functools.reduce")
def _reduce(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    items, _ = rt.shared.objects.listed(rt, args[1], site)
    if len(args) > 2:
        items = [args[2], *items]
    if not items:
        raise Raised("TypeError")
    total = items[0]
    for item in items[1:]:
        total = rt.shared.calls.call(rt, args[0], [total, item], {}, site)
    return total


def _memo(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """``lru_cache``: the first result for the same arguments."""
    if not args or type(args[0]) not in (Func, Bound, Native):
        return Native("lru_cache", _memo)
    fn = args[0]
    store = LDict()

    def run(rt_: Any, s: Site, a: list, k: dict) -> Any:
        from ..semantics.ops import has_identity, key_of

        key = tuple(key_of(x) if has_identity(x) else ("obj", id(x)) for x in [*a, *k.values()])
        if key not in store:
            value = rt_.shared.calls.call(rt_, fn, a, k, s)
            remembered(rt_, value, s, getattr(fn, "name", "cache"))
            rt_.put(store, key, value)
        return store[key]

    made = Native(getattr(fn, "name", "cached"), run)
    rt.caches.append(store)
    return made


def remembered(rt: Any, value: Any, site: Site, name: str) -> None:
    """A cache stores without a statement of its own: the expression that computed the value stands for it."""
    for t in tensors_in(value):
        if t.node is not None:
            rt._store(t.node, t.node.site or site, name, "attribute", "tensor")


TABLE["functools.lru_cache"] = Native("lru_cache", _memo)
TABLE["functools.cache"] = Native("cache", _memo)


def _cached_property(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    fn = args[0]
    name = getattr(fn, "name", "cached")

    def read(rt_: Any, s: Site, a: list, k: dict) -> Any:
        obj = a[0]
        value = rt_.shared.calls.call(rt_, Bound(fn, obj), [], {}, s)
        if type(obj) is Obj:
            remembered(rt_, value, s, f"self.{name}")
            rt_.put(obj.attrs, name, value)
        return value

    return Property(Native(name, read))


TABLE["functools.cached_property"] = Native("cached_property", _cached_property)


@native("functools.singledispatch")
def _singledispatch(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    table: list[tuple[Any, Any]] = []
    made = Obj(DISPATCH)
    made.data = None

    def run(rt_: Any, s: Site, a: list, k: dict) -> Any:
        for cls, fn in reversed(table):
            if rt_.known(rt_.shared.classes.isinstance(rt_, a[0], cls, s)):
                return rt_.shared.calls.call(rt_, fn, a, k, s)
        return rt_.shared.calls.call(rt_, args[0], a, k, s)

    def register(rt_: Any, s: Site, a: list, k: dict) -> Any:
        if len(a) > 1:
            table.append((a[0], a[1]))
            return a[1]
        if type(a[0]) is Func:
            first = a[0].code.args.args[0].annotation if a[0].code.args.args else None
            from ..lower.expressions import lower
            from ..runtime import Frame

            scope = a[0].code.scope
            cls = (
                lower(first, scope)(Frame(rt_, scope.file, a[0].globals, {}, a[0].outer, None))
                if first is not None
                else None
            )
            table.append((cls, a[0]))
            return a[0]

        def later(r: Any, s2: Site, a2: list, k2: dict) -> Any:
            table.append((a[0], a2[0]))
            return a2[0]

        return Native("register", later)

    made.attrs["__call__"] = made.attrs["dispatch"] = Native("dispatch", run)
    made.attrs["register"] = Native("register", register)
    return made


DISPATCH = Class("singledispatch")
DISPATCH.flags = frozenset({"inert"})
DISPATCH.ns["__call__"] = Native(
    "__call__",
    lambda rt, site, args, kwargs: rt.shared.calls.call(
        rt, args[0].attrs["__call__"], args[1:], kwargs, site
    ),
)


@native("itertools.chain")
def _chain(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    out: list[Any] = []
    opened = False
    for value in args:
        items, more = rt.shared.objects.listed(rt, value, site)
        out.extend(items)
        opened = opened or more
    return LList(out, opened)


@native("itertools.chain.from_iterable")
def _chain_from(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    items, more = rt.shared.objects.listed(rt, args[0], site)
    made = _chain(rt, site, items, {})
    made.open = made.open or more
    return made


@native("itertools.count")
def _count(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    start, step = arg(args, kwargs, 0, "start", 0), arg(args, kwargs, 1, "step", 1)
    if type(start) is int and type(step) is int:
        return Endless(lambda i: start + i * step, counter=True)
    return Endless(lambda i: rt.fresh(site, "number"))


@native("itertools.cycle", "itertools.repeat")
def _cycle(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    source = rt.shared.objects.iterate(rt, args[0], site) if site else None
    state = [0]

    def step() -> Any:
        assert source is not None
        item = source.get(state[0])
        if item is MISSING and state[0]:
            state[0] = 0
            item = source.get(0)
        state[0] += 1
        return item

    return Iter(step, False)


@native("itertools.islice")
def _islice(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    source = rt.shared.objects.iterate(rt, args[0], site)
    stop = args[1] if len(args) == 2 else args[2]
    start = args[1] if len(args) > 2 and type(args[1]) is int else 0
    out: list[Any] = []
    for i in range(start, stop if type(stop) is int and stop - start < 64 else start + 4):
        item = source.get(i)
        if item is MISSING:
            return LList(out)
        out.append(item)
    return LList(out, type(stop) is not int)


def _combined(name: str) -> None:
    import itertools

    def run(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
        lists = [rt.shared.objects.listed(rt, a, site) if type(a) is not int else (a, False) for a in args]
        values = [v for v, _ in lists]
        repeat = kwargs.get("repeat", 1)
        extra = {"repeat": repeat} if name == "product" and type(repeat) is int else {}
        try:
            made = list(itertools.islice(getattr(itertools, name)(*values, **extra), 256))
        except TypeError:
            return rt.fresh(site)
        return LList(made, any(m for _, m in lists))

    TABLE[f"itertools.{name}"] = Native(name, run)


for _name in ("product", "combinations", "permutations", "zip_longest", "pairwise"):
    _combined(_name)

TABLE["itertools.chain"].fn.__dict__["from_iterable"] = _chain_from


@native("itertools.accumulate")
def _accumulate(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    items, more = rt.shared.objects.listed(rt, args[0], site)
    fn = args[1] if len(args) > 1 else None
    out: list[Any] = []
    for item in items:
        if not out:
            out.append(item)
        elif fn is not None:
            out.append(rt.shared.calls.call(rt, fn, [out[-1], item], {}, site))
        else:
            out.append(rt.shared.ops.binary(rt, "add", lambda a, b: a + b, out[-1], item, site))
    return LList(out, more)


@native("contextlib.contextmanager")
def _contextmanager(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    fn = args[0]

    def run(rt_: Any, s: Site, a: list, k: dict) -> Any:
        made = Obj(GENERATOR_CONTEXT)
        made.data = rt_.shared.calls.call(rt_, fn, a, k, s)
        return made if type(made.data) is Iter else rt_.fresh(s, "object")

    made = Native(getattr(fn, "name", "context"), run)
    return made


GENERATOR_CONTEXT = Class("GeneratorContext")
GENERATOR_CONTEXT.flags = frozenset({"generator-context"})


@native("contextlib.nullcontext")
def _nullcontext(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    made = Obj(NULL)
    made.data = args[0] if args else None
    return made


NULL = Class("nullcontext")
NULL.flags = frozenset({"inert"})
NULL.ns["__enter__"] = Native("__enter__", lambda rt, site, args, kwargs: args[0].data)
NULL.ns["__exit__"] = Native("__exit__", lambda rt, site, args, kwargs: None)


@native("contextlib.suppress")
def _suppress(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    made = Obj(SUPPRESS)
    made.data = frozenset(getattr(a, "name", "") for a in args)
    return made


SUPPRESS = Class("suppress")
SUPPRESS.flags = frozenset({"suppress", "inert"})


@native(
    "dataclasses.dataclass",
    "dataclasses.dataclass_transform",
    "attr.s",
    "attrs.define",
    "pydantic.dataclasses.dataclass",
)
def _dataclass(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    def mark(cls: Any) -> Any:
        if type(cls) is Class:
            cls.flags = cls.flags | {"dataclass"}
            if cls.fields is None:
                cls.fields = [f for b in reversed(cls.mro[1:]) for f in b.fields or []]
        return cls

    if args:
        return mark(args[0])
    return Native("dataclass", lambda rt_, s, a, k: mark(a[0]))


FIELD = Class("Field")
FIELD.flags = frozenset({"inert"})


@native("dataclasses.field")
def _field(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    made = Obj(FIELD)
    if "default_factory" in kwargs:
        made.attrs["factory"] = kwargs["default_factory"]
    if "default" in kwargs:
        made.attrs["default"] = kwargs["default"]
    made.attrs["init"] = kwargs.get("init", True)
    return made


@native("dataclasses.replace")
def _replace(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    if type(args[0]) is not Obj:
        return rt.fresh(site)
    made = Obj(args[0].cls)
    made.attrs = dict(args[0].attrs)
    for name, value in kwargs.items():
        rt.stored(value, site, name, "field")
        made.attrs[name] = value
    return made


@native("dataclasses.asdict")
def _asdict(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return LDict(args[0].attrs) if type(args[0]) is Obj else rt.fresh(site)


@native("dataclasses.fields")
def _fields(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    cls = args[0].cls if type(args[0]) is Obj else args[0]
    out = LList()
    for name, _ in getattr(cls, "fields", None) or []:
        entry = Obj(FIELD)
        entry.attrs["name"] = name
        out.append(entry)
    return out


ENUM = Class("Enum")
ENUM.flags = frozenset({"enum"})
for _name, _flags in (("Enum", ()), ("IntEnum", ("intenum",)), ("StrEnum", ("strenum",)), ("Flag", ())):
    _cls = Class(_name, (ENUM,))
    _cls.flags = ENUM.flags | set(_flags)
    TABLE[f"enum.{_name}"] = _cls

# -- copy ------------------------------------------------------------------------------------------------


@native("copy.copy")
def _copy(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    value = args[0]
    if type(value) is Obj:
        made = Obj(value.cls, value.data)
        made.attrs = dict(value.attrs)
        return made
    if isinstance(value, LDict):
        return LDict(value, value.open, value.factory)
    if isinstance(value, LList):
        return LList(value, value.open, value.bounded)
    if isinstance(value, LSet):
        return LSet(value, value.open)
    return value


@native("copy.deepcopy")
def _deepcopy(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return clone(rt, args[0], site, {})


def clone(rt: Any, value: Any, site: Site, memo: dict[int, Any]) -> Any:
    """A deep copy; of a tensor with a graph it is torch's RuntimeError."""
    kind = type(value)
    if kind in CONST or kind in (Func, Class, Native, Namespace, Sym):
        return value
    if id(value) in memo:
        return memo[id(value)]
    if kind is Tensor:
        if value.node is not None:
            if value.guess == 0:
                raise Raised("RuntimeError")
            return value
        made = (
            nn.parameter(rt, site, value.label.split("#")[0], value.leaf_grad)
            if value.is_param
            else tensors.graphless(rt, site)
        )
        made.leaf_grad, made.where = value.leaf_grad, rt.where
        made.length, made.shape = value.length, value.shape
        made.grad = value.grad
        memo[id(value)] = made
        return made
    if kind is tuple:
        return tuple(clone(rt, v, site, memo) for v in value)
    if kind is LList:
        out = LList((), value.open, value.bounded)
        memo[id(value)] = out
        list.extend(out, [clone(rt, v, site, memo) for v in value])
        return out
    if kind is LDict:
        table = LDict((), value.open, value.factory)
        memo[id(value)] = table
        for k, v in value.items():
            table[k] = clone(rt, v, site, memo)
        return table
    if kind is Obj:
        hook = value.cls.find("__deepcopy__")
        if hook is not MISSING:
            return rt.shared.calls.call(rt, Bound(hook, value), [LDict()], {}, site)
        obj = Obj(value.cls)
        obj.site = site
        memo[id(value)] = obj
        if value.is_a("module"):
            rt.modules_made.append(obj)
        for name, v in value.attrs.items():
            obj.attrs[name] = clone(rt, v, site, memo)
            if type(obj.attrs[name]) is Tensor and obj.attrs[name].is_param:
                rt.owners[id(obj.attrs[name])] = obj
        obj.data = (
            clone(rt, value.data, site, memo) if isinstance(value.data, (tuple, LList, LDict)) else value.data
        )
        return obj
    if kind is Bound:
        return Bound(value.func, clone(rt, value.self, site, memo))
    return value


# -- threads and queues: what goes in comes out ------------------------------------------------------------------

QUEUE = Class("Queue")
QUEUE.flags = frozenset({"inert"})


def _queue_init(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    args[0].data = LList()


def _queue_put(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    value = arg(args, kwargs, 1, "item")
    rt.note_list(args[0].data)
    list.append(args[0].data, value)


def _queue_get(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    items = args[0].data
    if isinstance(items, LList) and items:
        rt.note_list(items)
        return list.pop(items, 0)
    return rt.fresh(site)


def _queue_empty(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return rt.fresh(site, "bool") if not args[0].data else False


QUEUE.ns.update(
    {
        n: Native(n, f)
        for n, f in {
            "__init__": _queue_init,
            "put": _queue_put,
            "put_nowait": _queue_put,
            "get": _queue_get,
            "get_nowait": _queue_get,
            "empty": _queue_empty,
        }.items()
    }
)
for _name in ("qsize", "full", "join", "task_done"):
    QUEUE.ns[_name] = Native(_name, lambda rt, site, args, kwargs: rt.fresh(site, "number"))
QUEUE.build = lambda rt, cls, args, kwargs, site: Obj(cls, LList())
for _name in (
    "queue.Queue",
    "queue.LifoQueue",
    "queue.SimpleQueue",
    "queue.PriorityQueue",
    "multiprocessing.Queue",
    "torch.multiprocessing.Queue",
):
    TABLE[_name] = QUEUE

THREAD = Class("Thread")
THREAD.flags = frozenset({"inert"})


def _thread_init(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    obj = args[0]
    obj.attrs["_target"] = arg(args, kwargs, 2, "target")
    obj.attrs["_args"] = arg(args, kwargs, 4, "args", ())
    obj.attrs["_kwargs"] = kwargs.get("kwargs", LDict())


def _thread_start(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    """The thread's function runs at once: no interleaving is assumed, and nothing it stores is lost."""
    obj = args[0]
    target = obj.attrs.get("_target")
    run = obj.cls.find("run")
    grad, rt.grad = rt.grad, True  # grad mode is per thread
    try:
        if type(run) is Func:
            rt.shared.calls.call(rt, Bound(run, obj), [], {}, site)
        elif target is not None and type(target) is not Sym:
            given = obj.attrs.get("_args", ())
            named = obj.attrs.get("_kwargs")
            rt.shared.calls.call(
                rt,
                target,
                list(given) if isinstance(given, (tuple, LList)) else [],
                dict(named) if isinstance(named, LDict) else {},
                site,
            )
    except Raised as error:
        if getattr(error, "observation", None) is not None:
            raise
    finally:
        rt.grad = grad


THREAD.ns.update({"__init__": Native("__init__", _thread_init), "start": Native("start", _thread_start)})
for _name in ("join", "is_alive", "setDaemon", "set", "wait", "clear", "is_set"):
    THREAD.ns[_name] = Native(_name, lambda rt, site, args, kwargs: rt.fresh(site, "bool"))
THREAD.build = lambda rt, cls, args, kwargs, site: Obj(cls)
TABLE["threading.Thread"] = THREAD

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


def _namespace_init(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    args[0].attrs.update(kwargs)


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
            raise Raised("RuntimeError")
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
__all__ = ["TABLE", "clone", "with_mode"]
