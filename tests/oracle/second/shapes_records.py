"""Shapes of training that keep records: metrics, histories, replays, memories, evaluations."""

from __future__ import annotations

from .draft import Draft, Lines, Parts, block
from .loops import epochs, loop
from .models import model
from .tensors import cut, loss_of, maybe_cut, optimizer, update

_METER = """
class AverageMeter:
    def __init__(self):
        self.total = 0.0
        self.count = 0

    def update(self, value, n=1):
        self.total += value * n
        self.count += n

    @property
    def avg(self):
        return self.total / max(1, self.count)
"""
_HISTORY = """
class History:
    def __init__(self):
        self.records = {}

    def log(self, **values):
        for key, value in values.items():
            self.records.setdefault(key, []).append(value)
"""


def record(d: Draft, loss: str, i: str) -> tuple[Lines, Lines]:
    """What is made before and what keeps a scalar in each step."""
    store = d.fresh("running", "history", "losses", "log", "stats")
    value = (
        d.pick(
            {
                f"{loss}.item()": 4,
                f"float({loss})": 1,
                f"{loss}.detach()": 2,
                f"{loss}.detach().cpu().numpy()": 0.4,
            }
        )
        if d.careful()
        else loss
    )
    kind = d.pick(
        {
            "sum": 4,
            "list": 3,
            "dict": 1.5,
            "meter": 1.5,
            "history": 1,
            "ema": 1.5,
            "deque": 0.8,
            "best": 1,
            "sum in place": 1,
            "rebuilt": 0.7,
            "tensor rows": 0.7,
            "stack": 0.7,
            "keyed": 0.7,
            "nested": 0.7,
            "string": 0.6,
            "set": 0.4,
        },
        "record",
    )
    match kind:
        case "list":
            return [f"{store} = []"], [
                d.pick(
                    [
                        f"{store}.append({value})",
                        f"{store} += [{value}]",
                        f"{store}.extend([{value}])",
                        f"{store} = {store} + [{value}]",
                        f"{store}.insert(0, {value})",
                    ]
                )
            ]
        case "dict":
            d.use("from collections import defaultdict")
            return [f"{store} = defaultdict(list)"], [f'{store}["loss"].append({value})']
        case "keyed":
            return [f"{store} = {{}}"], [f"{store}[{i}] = {value}"]
        case "nested":
            return [f'{store} = {{"train": {{"loss": 0.0}}}}'], [f'{store}["train"]["loss"] += {value}']
        case "meter":
            d.define(_METER)
            return [f"{store} = AverageMeter()"], [f"{store}.update({value}{d.pick(['', ', 4', ', n=4'])})"]
        case "history":
            d.define(_HISTORY)
            return [f"{store} = History()"], [f"{store}.log(loss={value}, step={i})"]
        case "ema":
            return [f"{store} = {d.pick(['0.0', 'None'])}"], [
                f"{store} = {value} if {store} is None else 0.9 * {store} + 0.1 * {value}"
            ]
        case "deque":
            d.use("from collections import deque")
            return [f"{store} = deque({d.pick(['maxlen=3', 'maxlen=4', '[], 2', ''])})"], [
                f"{store}.append({value})"
            ]
        case "best":
            return [f'{store} = float("inf")'], block(f"if {loss}.item() < {store}:", [f"{store} = {value}"])
        case "sum in place":
            return [f"{store} = torch.zeros(1)"], [
                f"{store} += {value}" if "numpy" not in value else f"{store} += 1.0"
            ]
        case "rebuilt":
            return [f"{store} = ()"], [f"{store} = (*{store}[-{d.pick(['2', '3'])}:], {value})"]
        case "tensor rows":
            return [f"{store} = torch.zeros(64)"], [
                f"{store}[{i}] = {value}" if "numpy" not in value else f"{store}[{i}] = 1.0"
            ]
        case "stack":
            return [f"{store} = torch.zeros(0)"], [
                f"{store} = torch.cat([{store}, torch.as_tensor({value}).reshape(1)])"
            ]
        case "string":
            return [f'{store} = ""'], [f'{store} += f"{{{loss}:.3f}} "']
        case "set":
            return [f"{store} = set()"], [
                f"{store}.add({value})" if "numpy" not in value else f"{store}.add({i})"
            ]
    return [f"{store} = {d.pick(['0', '0.0', 'torch.tensor(0.0)'])}"], [
        d.pick([f"{store} += {value}", f"{store} = {store} + {value}"])
    ]


def supervised(d: Draft) -> Parts:
    """A plain loop with one or two records of its losses."""
    net, opt, out, loss = (
        d.fresh("net", "model"),
        d.fresh("optimizer", "opt"),
        d.fresh("out", "pred", "logits"),
        d.fresh("loss", "batch_loss"),
    )
    starts: Lines = []

    def body(i: str, x: str, y: str) -> Lines:
        lines = [f"{out} = {net}({x})", f"{loss} = {loss_of(d, out, y)}"]
        keeps: Lines = []
        for _ in range(d.rng.choice([1, 1, 2])):
            start, keep = record(d, loss, i)
            starts.extend(start)
            keeps += keep
        step = update(d, loss, opt, f"list({net}.parameters())" if d.chance(0.3) else "")
        return [*lines, *step, *keeps] if d.chance(0.75) else [*lines, *keeps, *step]

    before, run = loop(d, body)
    setup = [f"{net} = {model(d)}", f"{opt} = {optimizer(d, f'{net}.parameters()')}", *before]
    if d.chance(0.25):
        return Parts(setup, epochs(d, [*starts, *run]))
    return Parts([*setup, *starts], epochs(d, run))


def evaluation(d: Draft) -> Parts:
    """Training, then (or at each epoch) a loop over held-out batches that keeps what the model says."""
    net, opt, loss, kept = (
        d.fresh("net", "model"),
        d.fresh("optimizer", "opt"),
        d.fresh("loss", "train_loss"),
        d.fresh("preds", "outputs", "all_scores"),
    )

    def body(i: str, x: str, y: str) -> Lines:
        return [f"{loss} = {loss_of(d, f'{net}({x})', y)}", *update(d, loss, opt)]

    def look(i: str, x: str, y: str) -> Lines:
        out = d.fresh("scores", "val_out")
        value = out
        if d.careful() and d.chance(0.6):
            value = d.pick(
                [
                    f"{out}.argmax(dim=1)",
                    cut(d, out),
                    f"{out}.detach().cpu()",
                    f"({out} > 0).float()",
                    f"{out}.detach().numpy()",
                ]
            )
        keep = d.pick(
            [
                f"{kept}.append({value})",
                f"{kept}.extend({value})",
                f"{kept}.append(({value}, {y}))",
                f'{kept}.append({{"out": {value}}})',
                f"{kept} += [{loss_of(d, out, y)}]",
            ]
        )
        return [f"{out} = {net}({x})", keep]

    before, run = loop(d, body)
    more, val = loop(d, look)
    guard = d.pick({"none": 3, "with": 2.5, "set_grad_enabled": 0.8, "inference": 0.6}, "evaluation under")
    val = [*([f"{net}.eval()"] if d.chance(0.7) else []), *val]
    val = {"none": val, "with": block("with torch.no_grad():", val),
           "set_grad_enabled": ["torch.set_grad_enabled(False)", *val, "torch.set_grad_enabled(True)"],
           "inference": block("with torch.inference_mode():", val)}[guard]  # fmt: skip
    val += [f"{net}.train()"]
    setup = [f"{net} = {model(d)}", f"{opt} = {optimizer(d, f'{net}.parameters()')}", *before, *more]
    start = [f"{kept} = []"]
    if d.chance(0.4):
        return Parts(setup, [*run, *start, *val])
    e = d.fresh("epoch", "ep")
    inside = d.careful()
    each = block(f"for {e} in range({d.pick(['2', 'N'])}):", [*run, *(start if inside else []), *val])
    return Parts(setup, each if inside else [*start, *each])


def replay(d: Draft) -> Parts:
    """Transitions that are kept with what the model said at the time, and learned from later."""
    net, opt, mem, loss = (
        d.fresh("q_net", "policy"),
        d.fresh("optimizer", "opt"),
        d.fresh("buffer", "replay", "memory"),
        d.fresh("loss", "td_loss"),
    )
    d.use("import random")
    bound = d.pick({"[]": 3, "deque(maxlen=4)": 2, "deque(maxlen=2)": 1})
    if "deque" in bound:
        d.use("from collections import deque")

    def body(i: str, x: str, y: str) -> Lines:
        q, old = d.fresh("q", "value"), d.fresh("old", "sampled")
        making = [f"{q} = {net}({x})"]
        if d.careful() and d.chance(0.4):
            making = block("with torch.no_grad():", making)
        lines = [*making, f"{mem}.append(({x}, {maybe_cut(d, q)}))"]
        drawn = d.pick(
            [
                f"random.choice({mem})",
                f"{mem}[-1]",
                f"{mem}[0]",
                f"random.sample(list({mem}), 1)[0]",
                f"{mem}[{i} // 2 % len({mem})]",
            ]
        )
        lines += [f"s_, {old} = {drawn}"]
        lines += [
            f"{loss} = {loss_of(d, f'{net}(s_)', d.pick([old, f'({old} * 0.9)', f'({old} + 1.0)']) if True else '')}"
        ]
        learn = update(d, loss, opt)
        return [
            *lines,
            *(block(f"if len({mem}) > {d.pick(['0', '1', '2'])}:", learn) if d.chance(0.4) else learn),
        ]

    before, run = loop(d, body)
    setup = [
        f"{net} = {model(d)}",
        f"{opt} = {optimizer(d, f'{net}.parameters()')}",
        f"{mem} = {bound}",
        *before,
    ]
    return Parts(setup, epochs(d, run))


def reinforce(d: Draft) -> Parts:
    """Episodes whose log-probabilities are gathered and learned from at their end, cleared or not."""
    net, opt, logps, rewards, loss = (
        d.fresh("policy", "agent"),
        d.fresh("optimizer", "opt"),
        d.fresh("log_probs", "saved"),
        d.fresh("rewards", "rs"),
        d.fresh("loss", "policy_loss"),
    )
    d.use("from torch.distributions import Categorical")
    on_policy = d.chance(0.4)
    store = f"{net}.{logps}" if on_policy else logps
    clear = d.pick([f"{store}.clear()", f"del {store}[:]", f"{store} = []"])

    def body(i: str, x: str, y: str) -> Lines:
        t, dist, act = d.fresh("t", "tick"), d.fresh("dist", "m"), d.fresh("act", "a")
        play = block(
            f"for {t} in range(3):",
            [
                f"{dist} = Categorical(logits={net}({x}))",
                f"{act} = {dist}.sample()",
                f"{store}.append({dist}.log_prob({act}).mean())",
                f"{rewards}.append(float({y}.sum()))",
            ],
        )
        gathered = d.pick(
            [
                f"-torch.stack({store}).sum() * sum({rewards})",
                f"sum(-lp * r for lp, r in zip({store}, {rewards}))",
                f"-(torch.stack({store}) * torch.tensor({rewards})[-len({store}):]).mean()",
            ]
        )
        learn = [f"{loss} = {gathered}", *update(d, loss, opt, retain=d.chance(0.1))]
        tidy = (
            [clear, f"{rewards}.clear()"]
            if d.careful() or d.chance(0.2)
            else [f"{rewards}.clear()"]
            if d.chance(0.3) and "zip" not in gathered and "tensor" not in gathered
            else []
        )
        if d.chance(0.12):
            tidy = block(f"if {d.flag()}:", tidy)
        return [*tidy, *play, *learn] if d.chance(0.2) else [*play, *learn, *tidy]

    before, run = loop(d, body)
    setup = [
        f"{net} = {model(d)}",
        f"{opt} = {optimizer(d, f'{net}.parameters()')}",
        f"{store} = []",
        f"{rewards} = []",
        *before,
    ]
    return Parts(setup, epochs(d, run))
