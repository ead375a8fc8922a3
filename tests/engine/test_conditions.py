"""Programs with unknown conditions, and programs that only grow, on which the analysis and PyTorch once disagreed.

Each is run under PyTorch with every assignment of its conditions; what these runs show is what is written here, and
the analysis has to agree with all of them (``tests/oracle`` says how). Named after what they taught.
"""

from __future__ import annotations

import textwrap

import pytest

pytest.importorskip("torch")

from tests.oracle.judge import judge

HEAD = """
import argparse
import torch
from torch import nn
parser = argparse.ArgumentParser()
parser.add_argument("--a", action="store_true")
args = parser.parse_args()
N = 6
"""
CARRIED = """
w = torch.randn(3, requires_grad=True)
h = torch.zeros(3)
{start}
if args.a:
    {change}
for i in range(N):
    h = torch.tanh(h * w)
    h.sum().backward()
    if {question}:
        h = h.detach()
"""
#: A value, what an unknown condition makes of it, a question about it, and whether the condition cuts or keeps.
MERGED = {
    "a tensor or None": ("mask = None", "mask = torch.ones(3)", "mask is None", "keeps"),
    "None or a tensor": ("mask = torch.ones(3)", "mask = None", "mask is None", "cuts"),
    "a list or None": ("names = None", "names = [1]", "names", "cuts"),
    "a dict or None": ("given = None", "given = {'k': 1}", "given is None", "keeps"),
    "an object or None": ("logger = None", "logger = object()", "logger is None", "keeps"),
    "a tuple or an empty one": ("pair = ()", "pair = (1, 2)", "pair", "cuts"),
    "a list that something is appended to": ("names = []", "names.append('k')", "'k' in names", "cuts"),
    "a list that loses its only element": ("names = [1]", "names.pop()", "names", "keeps"),
    "a list that is cleared": ("names = ['k']", "names.clear()", "len(names) == 1", "keeps"),
    "a set that something is added to": ("names = set()", "names.add('k')", "names", "cuts"),
    "a dict with one more key": ("given = {}", "given['k'] = 1", "'k' in given", "cuts"),
    "a number or a string": ("size = 1", "size = 'auto'", "isinstance(size, str)", "cuts"),
}


@pytest.mark.parametrize("name", MERGED)
def test_what_two_branches_left_different_is_no_answer_for_both(name: str) -> None:
    start, change, question, effect = MERGED[name]
    verdict = judge(HEAD + CARRIED.format(start=start, change=change, question=question))
    wanted = ["clean", "second-backward"] if effect == "keeps" else ["second-backward", "clean"]
    assert [run["outcome"] for run in verdict["runs"]] == wanted, "this is no longer what torch does"
    assert verdict["disagreements"] == []
    assert [(f["code"], f["certainty"]) for f in verdict["report"]["findings"]] == [("LG101", "possible")]


PROGRAMS: dict[str, tuple[list[str], str]] = {
    "a heap and a sorted list keep what is put in": (
        ["grows", "grows"],
        """
        import bisect, heapq
        w = torch.randn(3, requires_grad=True)
        heap, ranked = [], []
        for i in range(N):
            loss = (w * w).sum()
            loss.backward()
            if args.a:
                heapq.heappush(heap, (-i, loss))
            else:
                bisect.insort(ranked, (loss, i), key=lambda pair: pair[1])
        """,
    ),
    "the dimension of an index_add is no place of a tensor": (
        ["grows", "grows"],
        """
        w = torch.randn(3, requires_grad=True)
        sums = torch.zeros(3, 3)
        for i in range(N):
            z = w * torch.randn(4, 3)
            z.sum().backward()
            sums = sums.index_add(0, torch.tensor([0, 1, 2, 0]), z)
        """,
    ),
    "an average grows beside a carried sum that is walked again": (
        ["grows", "grows"],
        """
        w = nn.Parameter(torch.randn(3))
        opt = torch.optim.SGD([w], lr=0.01)
        state = torch.zeros(3)
        history = 0.0
        for i in range(N):
            loss = ((w + state) ** 2).sum()
            history = 0.9 * history + 0.1 * loss
            opt.zero_grad()
            loss.backward()
            opt.step()
            if not args.a:
                state = state + w - 1.0
        """,
    ),
    "a sum of losses grows beside a state that is carried": (
        ["grows", "second-backward"],
        """
        net = nn.Linear(3, 3)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        data = [(torch.randn(4, 3), torch.randn(4, 3)) for _ in range(N)]
        losses = 0
        state = torch.zeros(4, 3)
        for x, y in data:
            new = net(x) + state
            loss = nn.functional.mse_loss(new, y)
            losses += loss
            if args.a:
                loss.backward()
            optimizer.step()
            state = new
        """,
    ),
    "what a class and a function hold stays": (
        ["grows", "grows"],
        """
        w = torch.randn(3, requires_grad=True)
        class Shared:
            seen = []
        def total(): ...
        total.sum = 0.0
        for i in range(N):
            loss = (w * w).sum()
            loss.backward()
            if args.a:
                Shared.seen.append(loss)
            else:
                total.sum = total.sum + loss
        """,
    ),
    "the gradient of a loss module hangs on its input": (
        ["second-backward", "second-backward"],
        """
        theta = nn.Parameter(torch.randn(3, 3))
        fast = theta.clone()
        loss_of = nn.L1Loss() if args.a else nn.PoissonNLLLoss()
        for i in range(N):
            x, y = torch.randn(4, 3), torch.rand(4, 3)
            inner = loss_of(x @ fast, y)
            (grad,) = torch.autograd.grad(inner, fast, create_graph=True)
            fast = fast - 0.1 * grad
            (x @ fast - y).square().mean().backward()
        """,
    ),
    "an option given as an argument": (
        ["no-grad-fn", "no-grad-fn"],
        """
        w = torch.randn(3)
        for i in range(N):
            (w * w).sum().backward(retain_graph=args.a)
        """,
    ),
    "a value beside the carried one is an array": (
        ["second-backward", "second-backward"],
        """
        cell = nn.RNNCell(3, 3)
        optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
        def learn(new, hidden, loss, seen):
            optimizer.step()
            hidden = new
            seen = loss.detach().numpy() if seen is None else seen + loss.detach().numpy()
            return hidden, seen
        hidden, seen = torch.zeros(4, 3), None
        for i in range(N):
            new = cell(torch.randn(4, 3), hidden)
            loss = new.square().mean()
            optimizer.zero_grad()
            loss.backward()
            hidden, seen = learn(new, hidden, loss, seen)
        """,
    ),
    "what a loop left is walked when an outer loop comes to it again": (
        ["grows", "grows"],
        """
        w = nn.Parameter(torch.randn(4, 3))
        optimizer = torch.optim.SGD([w], lr=0.01)
        left = list(range(2 * N + 1))
        last, state = torch.zeros(4, 3), torch.zeros(4, 3)
        for epoch in range(3):
            for k in iter(lambda: left.pop() if left else 0, 0):
                loss = (last * (w - state)).sum()
                loss.backward(retain_graph=True)
                optimizer.step()
                state = torch.clone(w + last)
                last = last + w - state
        """,
    ),
    "a list that grows where two conditions meet": (
        ["clean", "grows"],
        """
        import os
        w = torch.randn(3, requires_grad=True)
        kept = []
        hidden = os.environ.get("A_NAME_THAT_NOBODY_SETS")
        for i in range(N):
            loss = (w * w).sum()
            if not hidden:
                for listener in [kept]:
                    if args.a:
                        listener.append(loss.mean())
            loss.backward()
        """,
    ),
    "what is sampled or shuffled is met by chance": (
        ["second-backward"] * 8 + ["second-backward"] * 8,
        """
        import random
        w = torch.randn(3, requires_grad=True)
        kept = []
        for i in range(N):
            kept = [*kept[-1:], (w * w).sum()]
            if args.a:
                random.shuffle(kept)
            random.sample(kept, 1)[0].backward()
        """,
    ),
    "a set that is filled under a condition": (
        ["clean", "grows"],
        """
        net = nn.Linear(3, 3)
        seen = set()
        for i in range(N):
            loss = net(torch.randn(4, 3)).mean()
            loss.backward()
            if args.a:
                seen.add(loss)
        """,
    ),
    "growth on the side of a condition on which nothing raises": (
        ["second-backward", "grows"],
        """
        net = nn.Linear(3, 3)
        losses = None
        for k in range(N):
            loss = net(torch.randn(4, 3)).mean()
            losses = loss if losses is None else 0.9 * losses
            loss.backward(retain_graph=args.a)
            loss.backward()
        """,
    ),
    "one carried value that raises under a condition and grows without it": (
        ["grows", "second-backward"],
        """
        net = nn.Linear(3, 3)
        table = torch.zeros(1, 4, 3)
        for k in range(N):
            table = torch.cat([table, net(torch.randn(4, 3)).unsqueeze(0)])
            if args.a:
                table.square().mean().backward()
        """,
    ),
    "a flag that says whether the graph is retained, and a step": (
        ["second-backward", "inplace-version"],
        """
        net = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for k in range(N):
            loss = net(torch.randn(4, 3)).mean()
            loss.backward(retain_graph=args.a)
            optimizer.step()
            loss.backward()
        """,
    ),
    "data that a node has saved, changed under a condition": (
        ["clean", "inplace-version"],
        """
        matrix = nn.Parameter(torch.randn(3, 3))
        scale = torch.randn(3)
        loss = (matrix @ scale).sum()
        if args.a:
            scale.mul_(0.5)
        loss.backward()
        """,
    ),
    "a result that its node has saved, changed without recording under a condition": (
        ["clean", "inplace-version"],
        """
        u = torch.randn(3, requires_grad=True)
        for i in range(N):
            v = torch.tanh(u)
            if args.a:
                with torch.no_grad():
                    v.add_(1.0)
            v.sum().backward()
        """,
    ),
    "gradients with graphs of their own that are never cleared": (
        ["grows", "grows"],
        """
        w = torch.randn(3, requires_grad=True)
        for i in range(N):
            loss = (w ** 2).sum()
            loss.backward(create_graph=True)
        """,
    ),
    "gradients with graphs of their own, cleared in each step": (
        ["clean", "clean"],
        """
        w = torch.randn(3, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.1)
        for i in range(N):
            optimizer.zero_grad()
            loss = (w ** 2).sum()
            loss.backward(create_graph=True)
            optimizer.step()
        """,
    ),
    "a chain below what autograd.grad walks": (
        ["grows", "grows"],
        """
        theta = nn.Parameter(torch.randn(3, 3))
        adapted = theta.clone()
        for step in range(N):
            gradient = torch.autograd.grad(adapted.sum(), adapted, retain_graph=True)
            adapted = adapted - 0.1
        """,
    ),
    "plain tensors in a container of parameters are parameters": (
        ["grows", "grows"],
        """
        gates = nn.ParameterDict({"in": torch.zeros(3)})
        scales = nn.ParameterList([torch.ones(3)])
        running = 0
        for k, x in enumerate([torch.randn(3) for _ in range(N)]):
            running = running + gates["in"] + scales[0] * x
        """,
    ),
    "a window of values of which each is made from the one before": (
        ["grows", "grows"],
        """
        from collections import deque
        w = torch.randn(3, requires_grad=True)
        window = deque([torch.zeros(3)], maxlen=3)
        for x in [torch.randn(3) for _ in range(N)]:
            window.append(window[-1] + w * x)
        """,
    ),
    "a window of values that have nothing to do with each other": (
        ["clean", "clean"],
        """
        from collections import deque
        w = torch.randn(3, requires_grad=True)
        window = deque([torch.zeros(3)], maxlen=3)
        for x in [torch.randn(3) for _ in range(N)]:
            window.append(w * x)
        """,
    ),
    "a tuple of the last few values, filled in an earlier epoch": (
        ["clean", "clean"],
        """
        net = nn.Linear(3, 3)

        def batches(steps):
            for _ in range(steps):
                yield torch.randn(4, 3)

        losses = ()
        for epoch in range(2):
            for k, x in enumerate(batches(N)):
                total = net(x).mean()
                losses = (*losses[-3:], total)
                total.backward()
        """,
    ),
    "a linked list": (
        ["grows", "grows"],
        """
        class Entry:
            def __init__(self, value, before=None):
                self.value = value
                self.before = before

        net = nn.Linear(3, 3)
        record = None
        for k in range(N):
            out = net(torch.randn(4, 3))
            record = Entry(out, record)
            out.mean().backward()
        """,
    ),
    "gradients of operations that choose have no graphs": (
        ["clean", "clean"],
        """
        u = torch.randn(3, requires_grad=True)
        for k in range(N):
            loss = u.clamp(-1.0, 1.0).sum() + u.max() + u.sort()[0].sum()
            loss.backward(create_graph=True)
        """,
    ),
    "the gradient of a fused loss hangs on its input": (
        ["grows", "grows"],
        """
        u = torch.randn(3, requires_grad=True)
        for k in range(N):
            loss = nn.functional.cross_entropy(u, torch.tensor(1))
            loss.backward(create_graph=True)
        """,
    ),
    "what a counter lets begin late": (
        ["grows", "grows"],
        """
        w = torch.randn(3, requires_grad=True)
        kept = []
        for i, x in enumerate([torch.randn(3) for _ in range(N)]):
            if i >= 3:
                kept.append(w * x)
        """,
    ),
    "what is cleared every third iteration": (
        ["clean", "clean"],
        """
        w = torch.randn(3, requires_grad=True)
        kept = []
        for i, x in enumerate([torch.randn(3) for _ in range(N)]):
            if i >= 1 and i % 3 == 0:
                kept.clear()
            kept.append(w * x)
        """,
    ),
    "a sum of losses that were walked already, after the weights have changed": (
        ["clean", "clean"],
        """
        w = nn.Parameter(torch.randn(3))
        optimizer = torch.optim.SGD([w], lr=0.01)
        total = 0
        for i in range(N):
            loss = (w[:] + 1.0)[0]
            total = total + loss
            (w.grad,) = torch.autograd.grad(loss, [w])
            optimizer.step()
            if i % 3 == 2:
                total.backward()
                total = 0
        """,
    ),
    "an iterator is as long as what it goes over": (
        ["grows", "grows"],
        """
        w = torch.randn(3, requires_grad=True)
        data = [torch.randn(3) for _ in range(N)]
        total = 0
        i = -1
        for x in iter(data):
            i += 1
            if i in (1, 3):
                continue
            total = total + (w * x).sum()
        """,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_assignment_is_told(name: str) -> None:
    outcomes, text = PROGRAMS[name]
    verdict = judge(HEAD + textwrap.dedent(text))
    assert [run["outcome"] for run in verdict["runs"]] == outcomes, "this is no longer what torch does"
    assert verdict["disagreements"] == []
