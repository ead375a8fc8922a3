"""Programs that raise under a condition, and grow without it, on which the analysis and PyTorch disagreed.

Each is run under PyTorch with both answers to its condition. What one carried value does, raise or grow, is one
finding, if its fix ends both; two faults are two (``tests/oracle`` says how that is judged).
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
w = torch.randn(3, requires_grad=True)
u = nn.Parameter(torch.randn(3))
m = nn.Parameter(torch.randn(3, 3))
net = nn.Linear(3, 3)
optimizer = torch.optim.SGD([w, u, m, *net.parameters()], lr=0.1)
"""
PROGRAMS: dict[str, tuple[list[str], str]] = {
    "where nothing is recorded at all, one condition leads to what raises": (
        ["clean", "no-grad-fn"],
        """
        options = ["quick"]
        if args.a:
            options.clear()
        for i in range(N):
            x = torch.randn(3)
            if len(options) > 0:
                continue
            torch.autograd.grad(x.sum(), [x])
        """,
    ),
    "a loop that runs a backward under a condition unrolls no sequence for one behind it": (
        ["grows", "clean"],
        """
        net = nn.Linear(3, 3)
        h = torch.zeros(3)
        for i in range(N):
            h = torch.tanh(net(h))
            if args.a:
                h.sum().backward()
                h = h.detach()
        """,
    ),
    "a value of a dictionary that is updated by name is cut where it is read": (
        ["grows", "second-backward"],
        """
        state = dict(h=torch.zeros(3))
        for i in range(N):
            state.update(h=state["h"] * 0.5 + net(torch.randn(3)))
            if args.a:
                state["h"].sum().backward()
        """,
    ),
    "a value of a dictionary that is updated by name is cut where it is stored": (
        ["grows", "second-backward"],
        """
        state = dict(h=torch.zeros(3), n=0)
        for i in range(N):
            v = torch.tanh(state["h"] + w)
            state.update(h=v * state["h"])
            state.update({"n": i})
            if args.a:
                v.sum().backward()
        """,
    ),
    "a weight that is updated by hand was saved by an average that is carried": (
        ["grows", "inplace-version"],
        """
        average = torch.zeros(3)
        for i in range(N):
            v = torch.tanh(average) if args.a else torch.tanh(w)
            loss = (v * w).sum()
            average = 0.9 * average + 0.1 * torch.sin(w)
            loss.backward()
            with torch.no_grad():
                w -= 0.01 * w.grad
        """,
    ),
    "a step between forward and backward explains no growth": (
        ["grows", "inplace-version"],
        """
        x = torch.zeros(3)
        both = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
        optimizer = torch.optim.SGD(both.parameters(), lr=0.1)
        for i in range(N):
            x = x + both(torch.randn(3))
            optimizer.step()
            if args.a:
                x.sum().backward()
        """,
    ),
    "a change in place between forward and backward explains no growth": (
        ["grows", "inplace-version"],
        """
        x = torch.zeros(3)
        for i in range(N):
            x += torch.tanh(net(x))
            if args.a:
                x.square().sum().backward()
        """,
    ),
    "a sum whose backward is under a condition is cut behind the condition": (
        ["grows", "inplace-version"],
        """
        total = 0.0
        for i in range(N):
            total = total + nn.functional.mse_loss(torch.tanh(net(torch.randn(3))) * u, w)
            if (i + 1) % 2 == 0:
                if args.a:
                    total.backward(retain_graph=True)
                optimizer.step()
                optimizer.zero_grad()
        """,
    ),
    "a list that is never cleared is cut element by element": (
        ["grows", "second-backward"],
        """
        net.saved = []
        for i in range(N):
            for t in range(2):
                net.saved.append(net(torch.randn(3)).square().mean())
            loss = sum(net.saved)
            optimizer.zero_grad()
            if args.a:
                loss.backward()
            optimizer.step()
        """,
    ),
    "a number in a named tuple stays when the tensor beside it is cut": (
        ["grows", "second-backward"],
        """
        from typing import NamedTuple
        class State(NamedTuple):
            h: torch.Tensor
            n: int
        state = State(torch.zeros(3), 0)
        for i in range(N):
            v = torch.tanh(state.h + w)
            loss = v.sum() if args.a else u.norm()
            loss.backward()
            state = state._replace(h=v)
        """,
    ),
    "what a property's setter stores is cut under the property's name": (
        ["grows", "second-backward"],
        """
        class Slot:
            @property
            def value(self):
                return self._value
            @value.setter
            def value(self, new):
                self._value = new
        carry = Slot()
        carry.value = torch.zeros(3)
        for i in range(N):
            carry.value = carry.value.sigmoid() + net(torch.randn(3))
            loss = carry.value.sum()
            if args.a:
                loss.backward()
        """,
    ),
    "what a helper appends to an argument's list is cut under the name that the loop has for it": (
        ["grows", "inplace-version"],
        """
        net.saved = []
        net.tail = nn.Linear(3, 3)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        def keep(x, model):
            model.saved.append(model.tail(torch.tanh(model(x))).sum())
        for i in range(N):
            keep(torch.randn(3), net)
            sum(net.saved).backward(retain_graph=True)
            if args.a:
                optimizer.step()
        """,
    ),
    "what a method stores is cut under the name of its object": (
        ["grows", "second-backward"],
        """
        class Memory:
            h = None
            def keep(self, new):
                self.h = new if self.h is None else self.h * 0.5 + new
        memory = Memory()
        for i in range(N):
            memory.keep(net(torch.randn(3)))
            loss = memory.h.sum()
            if args.a:
                loss.backward()
        """,
    ),
    "fast weights are leaves anew behind the condition of their backward": (
        ["grows", "second-backward"],
        """
        fast = m.clone()
        for i in range(N):
            x = torch.randn(4, 3)
            (g,) = torch.autograd.grad((x @ fast).square().mean(), fast, retain_graph=True)
            fast = fast - u[0] * g
            loss = (x @ fast).square().mean()
            if args.a:
                loss.backward()
        """,
    ),
    "a set of losses grows beside the state that they lead to": (
        ["grows", "second-backward"],
        """
        class Memory(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(3, 3)
                self.h = torch.zeros(3)
            def forward(self, x):
                self.h = self.fc(x) * torch.sigmoid(self.h)
                return self.h
        model = Memory()
        kept = set()
        for i in range(N):
            loss = model(torch.randn(3)).sum()
            kept.add(loss)
            if args.a:
                loss.backward()
        """,
    ),
    "of two carriers the one that is stored below the other grows by itself": (
        ["grows", "second-backward"],
        """
        def box(value):
            def get():
                return value
            def put(new):
                nonlocal value
                value = new
            return get, put
        get, put = box(torch.zeros(3))
        speed = torch.zeros(3)
        for i in range(N):
            for t in range(3):
                speed = speed + net(get())
                put(get() + speed)
                loss = get().square().mean()
                if args.a:
                    loss.backward()
            put(get().detach().clone())
        """,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_sides_are_told(name: str) -> None:
    outcomes, text = PROGRAMS[name]
    verdict = judge(HEAD + textwrap.dedent(text))
    assert [run["outcome"] for run in verdict["runs"]] == outcomes, "this is no longer what torch does"
    assert verdict["disagreements"] == []


def test_a_table_that_a_function_only_writes_to_is_named_and_cut_in_place() -> None:
    table = """
    bank = torch.zeros(2, 3)
    def step():
        bank[0] = bank[0] * 0.5 + u
        loss = (w * u + bank[0]).sum()
        loss.backward()
    for i in range(N):
        step()
    """
    verdict = judge(HEAD + textwrap.dedent(table))
    assert {run["outcome"] for run in verdict["runs"]} == {"second-backward"}
    (finding,) = verdict["report"]["findings"]
    assert finding["carriers"] == ["bank"]
    (edit,) = next(fix["edits"] for fix in finding["fixes"] if fix["preferred"])
    assert edit["new_text"].strip() == "bank.detach_()"
    assert verdict["disagreements"] == []


def test_what_was_gathered_for_the_backwards_that_an_exception_cuts_off_is_no_growth() -> None:
    episode = """
    policy = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 1))
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.1)
    def episode():
        kept = []
        for t in range(20):
            kept.append(policy(torch.randn(3)).sum())
        for value in kept:
            optimizer.zero_grad()
            value.backward(retain_graph=True)
            optimizer.step()
    for i in range(N):
        episode()
    """
    verdict = judge(HEAD + textwrap.dedent(episode))
    assert {run["outcome"] for run in verdict["runs"]} == {"inplace-version"}
    assert [finding["code"] for finding in verdict["report"]["findings"]] == ["LG104"]
