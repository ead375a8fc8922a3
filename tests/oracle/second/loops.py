"""Loops over batches, in the ways that scripts write them."""

from __future__ import annotations

from collections.abc import Callable

from .draft import Draft, Lines, block

KINDS = {
    "range": 6.0, "list": 2, "enumerate": 2.5, "loader": 2.5, "loader of dicts": 1.2, "dataset": 1.5, "zip": 1.2, "while": 2,
    "while True": 1.2, "next": 1, "cycle": 0.8, "generator": 1.2, "count": 0.6, "reversed": 0.4, "sentinel": 0.3,
    "for else": 0.5, "islice": 0.5, "iterable class": 0.6, "from one": 0.5, "tensor rows": 0.5,
}  # fmt: skip

_DATASET = """
class {c}(Dataset):
    def __init__(self, size):
        self.x = torch.randn(size, 3)
        self.y = torch.randn(size, 3)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index], self.y[index]
"""
_COLLATE = """
def collate(samples):
    xs, ys = zip(*samples)
    return torch.stack(xs), torch.stack(ys)
"""
_DICTS = """
def collate_dict(samples):
    return {"x": torch.stack([s[0] for s in samples]), "y": torch.stack([s[1] for s in samples])}
"""
_BATCHES = """
def batches(steps):
    for _ in range(steps):
        yield torch.randn(4, 3), torch.randn(4, 3)
"""
_STREAM = """
class Stream:
    def __init__(self, steps):
        self.steps = steps

    def __iter__(self):
        for k in range(self.steps):
            yield torch.randn(4, 3), torch.randn(4, 3)

    def __len__(self):
        return self.steps
"""

Body = Callable[[str, str, str], Lines]


def loop(d: Draft, body: Body, steps: str = "N") -> tuple[Lines, Lines]:
    """What is to be made before it, and a loop of `steps` batches; `body` is given the names `i, x, y`."""
    kind = d.pick(KINDS, "loop")
    i, x, y = (
        d.fresh("i", "step", "it", "k"),
        d.fresh("x", "inputs", "obs", "data"),
        d.fresh("y", "target", "labels"),
    )
    inner = body(i, x, y)
    drawn = [f"{x} = torch.randn(4, 3)", f"{y} = torch.randn(4, 3)"]
    pairs = f"[(torch.randn(4, 3), torch.randn(4, 3)) for _ in range({steps})]"
    data = d.fresh("loader", "train_loader", "batches_list", "dataset_list")
    match kind:
        case "list":
            return [f"{data} = {pairs}", f"{i} = 0"], block(f"for {x}, {y} in {data}:", [*inner, f"{i} += 1"])
        case "enumerate":
            return [f"{data} = {pairs}"], block(f"for {i}, ({x}, {y}) in enumerate({data}):", inner)
        case "from one":
            batch = d.fresh("batch", "sample")
            return [f"{data} = {pairs}"], block(
                f"for {i}, {batch} in enumerate({data}, 1):", [f"{x}, {y} = {batch}", *inner]
            )
        case "loader":
            d.use("from torch.utils.data import DataLoader, TensorDataset")
            whole = f"TensorDataset(torch.randn(4 * {steps}, 3), torch.randn(4 * {steps}, 3))"
            return [f"{data} = DataLoader({whole}, batch_size=4, shuffle=True)"], block(
                f"for {i}, ({x}, {y}) in enumerate({data}):", inner
            )
        case "loader of dicts":
            d.use("from torch.utils.data import DataLoader, TensorDataset")
            d.define(_DICTS)
            whole = f"TensorDataset(torch.randn(4 * {steps}, 3), torch.randn(4 * {steps}, 3))"
            batch = d.fresh("batch", "sample")
            first = [f"{x} = {batch}['x']", f"{y} = {batch}['y'].to('cpu')"]
            return [f"{data} = DataLoader({whole}, batch_size=4, collate_fn=collate_dict)"], block(
                f"for {i}, {batch} in enumerate({data}):", [*first, *inner]
            )
        case "dataset":
            d.use("from torch.utils.data import DataLoader, Dataset")
            cls = d.fresh("Pairs", "ToyDataset")
            d.define(_DATASET.format(c=cls))
            more = ""
            if d.chance(0.5):
                d.define(_COLLATE)
                more = ", collate_fn=collate"
            return [f"{data} = DataLoader({cls}(4 * {steps}), batch_size=4{more})", f"{i} = 0"], block(
                f"for {x}, {y} in {data}:", [*inner, f"{i} += 1"]
            )
        case "zip":
            xs, ys = d.fresh("xs", "inputs_all"), d.fresh("ys", "targets_all")
            made = [
                f"{xs} = torch.randn({steps}, 4, 3)",
                f"{ys} = [torch.randn(4, 3) for _ in range({steps})]",
            ]
            return made, block(f"for {i}, ({x}, {y}) in enumerate(zip({xs}, {ys})):", inner)
        case "tensor rows":
            xs = d.fresh("xs", "sequence")
            return [f"{xs} = torch.randn({steps}, 4, 3)", f"{i} = 0"], block(
                f"for {x} in {xs}:", [f"{y} = {x}.flip(0)", *inner, f"{i} += 1"]
            )
        case "while":
            return [f"{i} = 0"], block(f"while {i} < {steps}:", [*drawn, *inner, f"{i} += 1"])
        case "while True":
            return [f"{i} = 0"], block(
                "while True:", [*drawn, *inner, f"{i} += 1", *block(f"if {i} >= {steps}:", ["break"])]
            )
        case "next":
            source = d.fresh("iterator", "it_data")
            get = [*block("try:", [f"{x}, {y} = next({source})"]), *block("except StopIteration:", ["break"])]
            return [f"{data} = {pairs}", f"{source} = iter({data})", f"{i} = 0"], block(
                "while True:", [*get, *inner, f"{i} += 1"]
            )
        case "cycle":
            d.use("import itertools")
            source = d.fresh("endless", "stream")
            short = pairs.replace(f"range({steps})", "range(2)")
            return [f"{source} = itertools.cycle({short})"], block(
                f"for {i} in range({steps}):", [f"{x}, {y} = next({source})", *inner]
            )
        case "generator":
            d.define(_BATCHES)
            return [], block(f"for {i}, ({x}, {y}) in enumerate(batches({steps})):", inner)
        case "iterable class":
            d.define(_STREAM)
            return [f"{data} = Stream({steps})"], block(f"for {i}, ({x}, {y}) in enumerate({data}):", inner)
        case "count":
            d.use("import itertools")
            return [], block(
                f"for {i} in itertools.count():", [*block(f"if {i} == {steps}:", ["break"]), *drawn, *inner]
            )
        case "islice":
            d.use("import itertools")
            short = pairs.replace(f"range({steps})", "range(3)")
            return [f"{data} = {short}"], block(
                f"for {i}, ({x}, {y}) in enumerate(itertools.islice(itertools.cycle({data}), {steps})):",
                inner,
            )
        case "reversed":
            return [], block(f"for {i} in reversed(range({steps})):", [*drawn, *inner])
        case "sentinel":
            ticks = d.fresh("ticks", "remaining")
            return [f"{ticks} = list(range({steps} + 1))"], block(
                f"for {i} in iter(lambda: {ticks}.pop() if {ticks} else 0, 0):", [*drawn, *inner]
            )
        case "for else":
            return [], [
                *block(f"for {i} in range({steps}):", [*drawn, *inner]),
                *block("else:", ["print('done')"]),
            ]
    return [], block(f"for {i} in range({steps}):", [*drawn, *inner])


def epochs(d: Draft, body: Lines) -> Lines:
    """Perhaps a loop of epochs around it."""
    if not d.chance(0.35):
        return body
    d.note("loop of epochs")
    e = d.fresh("epoch", "ep", "e")
    return block(f"for {e} in range({d.pick(['2', '3'])}):", body)
