"""Shapes of training that watch themselves: monitors, moving averages, banks of features, logs of norms.

What is watched is no part of a loss. An author who forgets to cut it raises nothing: it only grows.
"""

from __future__ import annotations

from .draft import Draft, Lines, Parts, block
from .loops import epochs, loop
from .models import model
from .tensors import loss_of, maybe_cut, optimizer, update

_MONITOR = """
class {c}:
    def __init__(self, limit=None):
        self.values = {{}}
        self.limit = limit

    def __call__(self, name, value):
        kept = self.values.get(name, [])
        self.values[name] = kept + [value] if self.limit is None else (kept + [value])[-self.limit :]
        return value
"""
_LISTENER = """
class {c}:
    def __init__(self):
        self.seen = []

    def on_step(self, step, **values):
        self.seen.append((step, values))

    def summary(self):
        return len(self.seen)
"""
_LINKED = """
class {c}:
    def __init__(self, value, before=None):
        self.value = value
        self.before = before
"""


def _watcher(d: Draft, value: str, i: str) -> tuple[Lines, Lines]:
    """What is made before a loop, and what keeps a value in each step for good."""
    name = d.fresh("trace", "monitor", "record", "history_of", "tape")
    kind = d.pick(
        {
            "callable": 2,
            "listener": 1.5,
            "linked": 1,
            "queue": 0.8,
            "heap": 0.5,
            "generator": 1,
            "callbacks": 1.2,
            "decorated": 0.8,
            "chain of dicts": 0.8,
            "setdefault": 1,
            "columns": 1,
            "bisect": 0.6,
            "starred": 0.8,
            "counter": 0.6,
            "slices": 0.7,
            "hook": 1.2,
        },
        "watcher",
    )
    match kind:
        case "callable":
            cls = d.fresh("Monitor", "Probe")
            d.define(_MONITOR.format(c=cls))
            return [f"{name} = {cls}({d.pick({'': 4, 'limit=3': 1})})"], [f'{name}("out", {value})']
        case "listener":
            cls = d.fresh("Listener", "Watcher")
            d.define(_LISTENER.format(c=cls))
            return [f"{name} = [{cls}()]"], block(
                f"for each_listener in {name}:", [f"each_listener.on_step({i}, out={value})"]
            )
        case "linked":
            cls = d.fresh("Link", "Entry")
            d.define(_LINKED.format(c=cls))
            return [f"{name} = None"], [f"{name} = {cls}({value}, {name})"]
        case "queue":
            d.use("import queue")
            return [f"{name} = queue.Queue()"], [f"{name}.put({value})"]
        case "heap":
            d.use("import heapq")
            return [f"{name} = []"], [f"heapq.heappush({name}, ({i}, {value}))"]
        case "generator":
            d.define(
                "def collector():\n    kept = []\n    while True:\n        kept.append((yield len(kept)))"
            )
            return [f"{name} = collector()", f"next({name})"], [f"{name}.send({value})"]
        case "callbacks":
            d.define("CALLBACKS = []")
            return [f"{name} = []", f"CALLBACKS.append({name}.append)"], block(
                "for callback in CALLBACKS:", [f"callback({value})"]
            )
        case "decorated":
            d.use("import functools")
            d.define(
                "CALLS = []\n\n\ndef remembered(fn):\n    @functools.wraps(fn)\n    def inner(*args, **kwargs):\n"
                "        result = fn(*args, **kwargs)\n        CALLS.append(result)\n        return result\n\n    return inner"
            )
            d.define("@remembered\ndef measured(value):\n    return value * 1.0")
            return [], [f"measured({value})"]
        case "chain of dicts":
            return [f"{name} = {{}}"], [f'{name} = {{"last": {value}, "rest": {name}}}']
        case "setdefault":
            return [f"{name} = {{}}"], [f"{name}.setdefault({i} % 2, []).append({value})"]
        case "columns":
            d.use("from types import SimpleNamespace")
            return [f"{name} = SimpleNamespace(steps=[], values=[])"], [
                f"{name}.steps.append({i})",
                f"{name}.values.append({value})",
            ]
        case "bisect":
            d.use("import bisect")
            return [f"{name} = []"], [f"bisect.insort({name}, ({value}, {i}), key=lambda pair: pair[1])"]
        case "starred":
            return [f"{name} = []"], [f"{name} = [*{name}, {value}]"]
        case "counter":
            d.use("from collections import Counter")
            return [f"{name} = Counter()"], [f'{name}["mean"] += {value}.mean()', f'{name}["steps"] += 1']
        case "slices":
            return [f"{name} = [None] * 64"], [f"{name}[{i} : {i} + 1] = [{value}]"]
        case "hook":
            net = d.fresh("observed", "tracked")
            start = [f"{name} = []", f"{net} = nn.Linear(3, 3)"]
            keep = f"lambda m, args, out: {name}.append({maybe_cut(d, 'out')})"
            return [*start, f"{net}.register_forward_hook({keep})"], [f"{net}({value})"]
    raise AssertionError(kind)


def monitored(d: Draft) -> Parts:
    """A supervised loop that keeps outputs, norms or penalties for later."""
    net, opt, out, loss = (
        d.fresh("net", "model"),
        d.fresh("optimizer", "opt"),
        d.fresh("out", "pred", "logits"),
        d.fresh("loss", "batch_loss"),
    )
    starts: Lines = []

    def body(i: str, x: str, y: str) -> Lines:
        watched = d.pick(
            {
                out: 3,
                f"{out}.mean(0)": 1,
                f"sum(p.norm() for p in {net}.parameters())": 1,
                f"torch.stack([p.abs().mean() for p in {net}.parameters()])": 0.7,
                f"({out} - {y}).abs()": 1,
                f"F.softmax({out}, dim=-1)": 0.7,
            },
            "watched",
        )
        start, keep = _watcher(d, maybe_cut(d, f"({watched})" if watched != out else out), i)
        starts.extend(start)
        if d.chance(0.15):
            keep = block(f"if {i} % 2 == 0:" if d.chance(0.5) else f"if {d.flag()}:", keep)
        lines = [f"{out} = {net}({x})", f"{loss} = {loss_of(d, out, y)}"]
        step = update(d, loss, opt)
        return [*lines, *keep, *step] if d.chance(0.5) else [*lines, *step, *keep]

    before, run = loop(d, body)
    setup = [f"{net} = {model(d)}", f"{opt} = {optimizer(d, f'{net}.parameters()')}", *before]
    if d.chance(0.2):
        return Parts(setup, epochs(d, [*starts, *run]))
    return Parts([*setup, *starts], epochs(d, run))


def averaged(d: Draft) -> Parts:
    """Training beside which something is averaged: the weights, the outputs, a baseline, a centre."""
    net, opt, out, loss, mean = (
        d.fresh("net", "model"),
        d.fresh("optimizer", "opt"),
        d.fresh("out", "pred"),
        d.fresh("loss", "batch_loss"),
        d.fresh("shadow", "centre", "average", "baseline"),
    )
    of = d.pick(
        {"weights": 1.5, "named weights": 1, "output": 2, "flat weights": 0.8, "used": 1.2}, "averaged"
    )

    def body(i: str, x: str, y: str) -> Lines:
        lines = [f"{out} = {net}({x})"]
        match of:
            case "weights":
                new = maybe_cut(d, "p")
                rule = f"{mean} = [0.9 * s + 0.1 * {new} for s, p in zip({mean}, {net}.parameters())]"
            case "named weights":
                new = maybe_cut(d, "p")
                rule = f"{mean} = {{k: 0.9 * {mean}[k] + 0.1 * {new} for k, p in {net}.named_parameters()}}"
            case "flat weights":
                flat = f"torch.cat([p.flatten() for p in {net}.parameters()])"
                rule = f"{mean} = torch.lerp({mean}, {maybe_cut(d, flat)}, 0.1)"
            case _:
                new = maybe_cut(d, f"{out}.mean(0)")
                rule = d.pick(
                    [
                        f"{mean} = 0.9 * {mean} + 0.1 * {new}",
                        f"{mean} = {mean} + 0.1 * ({new} - {mean})",
                        f"{mean} = torch.lerp({mean}, {new}, 0.1)",
                        f"{mean} = torch.stack([{mean}, {new}]).mean(0)",
                    ]
                )
        target = f"{loss} = {loss_of(d, out, y)}"
        if of == "used":
            target += (
                f" + ({out} - {maybe_cut(d, mean) if d.chance(0.3) else f'{mean}.detach()'}).pow(2).mean()"
            )
        step = [target, *update(d, loss, opt)]
        keep = block("with torch.no_grad():", [rule]) if d.careful() and d.chance(0.3) else [rule]
        return [*lines, *keep, *step] if d.chance(0.4) else [*lines, *step, *keep]

    before, run = loop(d, body)
    # Names of their own: what a layout moves into functions is told by names.
    first = {
        "weights": f"[w0.detach().clone() for w0 in {net}.parameters()]",
        "named weights": f"{{k0: w0.detach().clone() for k0, w0 in {net}.named_parameters()}}",
        "flat weights": f"torch.cat([w0.detach().flatten() for w0 in {net}.parameters()])",
    }.get(of, "torch.zeros(3)")
    setup = [
        f"{net} = {model(d)}",
        f"{opt} = {optimizer(d, f'{net}.parameters()')}",
        f"{mean} = {first}",
        *before,
    ]
    return Parts(setup, epochs(d, run))


def bank(d: Draft) -> Parts:
    """Features that are kept beside the training and compared with: a queue of keys, prototypes, a cache."""
    net, opt, loss, kept = (
        d.fresh("encoder", "net"),
        d.fresh("optimizer", "opt"),
        d.fresh("loss", "nce"),
        d.fresh("bank", "queue_of_keys", "prototypes"),
    )
    kind = d.pick({"cat": 2, "window": 1, "list": 2, "dict": 1, "rows": 1, "classes": 1}, "bank")

    def body(i: str, x: str, y: str) -> Lines:
        z = d.fresh("z", "feat", "emb")
        new = maybe_cut(d, z)
        keep, read = {
            "cat": (f"{kept} = torch.cat([{kept}, {new}])", kept),
            "window": (f"{kept} = torch.cat([{kept}, {new}])[-8:]", kept),
            "list": (f"{kept}.append({new})", f"torch.cat({kept})"),
            "dict": (f"{kept}[{i}] = {new}", f"torch.cat(list({kept}.values()))"),
            "rows": (f"{kept} = {kept}.clone()\n{kept}[{i} % 8] = {new}[0]", kept),
            "classes": (f"{kept} = {kept}.index_add(0, {y}.argmax(1), {new})", kept),
        }[kind]
        old = f"{read}.detach()" if d.chance(0.8) else read
        lines = [f"{z} = {net}({x})"]
        lines += [f"{loss} = {loss_of(d, z, y)} + 0.1 * ({z} @ {old}.t()).pow(2).mean()"]
        step = update(d, loss, opt)
        return [*lines, *step, *keep.split("\n")] if d.chance(0.6) else [*lines, *keep.split("\n"), *step]

    before, run = loop(d, body)
    first = {"list": "[torch.randn(2, 3)]", "dict": "{-1: torch.randn(2, 3)}", "classes": "torch.zeros(3, 3)"}
    setup = [
        f"{net} = {model(d)}",
        f"{opt} = {optimizer(d, f'{net}.parameters()')}",
        f"{kept} = {first.get(kind, 'torch.zeros(8, 3)')}",
        *before,
    ]
    return Parts(setup, epochs(d, run))
