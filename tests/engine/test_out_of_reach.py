"""What nobody can see into, or what is bounded, is no false alarm: each program here is met in public code."""

from __future__ import annotations

import textwrap

import pytest

from loopgrad.rules import check
from loopgrad.source import FileProvider, SourceFile

SILENT = {
    "what a path that fails before the file's backward had kept for it": """
        import torch
        from torch import nn
        from elsewhere import actions


        class Agent(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(3, 1)
                self.kept = []

            def forward(self, action):
                logit = self.layer(torch.ones(1, 3))
                if self.training:
                    self.kept.append(logit)
                return bool(action == 1)


        add, move = Agent(), Agent()
        optimizer = torch.optim.SGD([*add.parameters(), *move.parameters()], lr=0.1)
        for game in range(100):
            add.kept, move.kept = [], []
            stop = add(actions[0])
            while not stop:
                if actions[1] == 1:
                    move(actions[1])
                stop = add(actions[2])
            loss = torch.cat(add.kept).sum() + torch.cat(move.kept).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
    "a method of an unknown may put anything in the place of what was stored in it": """
        import torch
        from elsewhere import build

        graph = build()
        net = torch.nn.Linear(6, 3)
        net.eval()
        for step in range(100):
            graph.ndata["h"] = torch.ones(2, 3)
            graph.apply_edges("difference")
            graph.edata["e"] = net(torch.cat([graph.edata["e"], torch.ones(2, 3)], dim=1))
            graph.update_all("sum")
            last = graph.edata["e"]
        """,
    "where a solver starts may be a leaf, which each of its calls may walk again": """
        import torch
        from elsewhere import bounded, first_guess, surface

        start = first_guess().requires_grad_(True)
        solver = torch.optim.LBFGS([start], max_eval=20)


        def closure():
            solver.zero_grad()
            x = bounded(start)
            y = surface(x)
            torch.autograd.backward(start, torch.autograd.grad(y, start, retain_graph=True))
            return y


        solver.step(closure)
        """,
    "a value that is improved until it is good enough, and given back: one result": """
        import torch

        def truncated(t, std):
            torch.nn.init.normal_(t, std=std)
            while True:
                wrong = torch.logical_or(t < -2 * std, t > 2 * std)
                if not torch.sum(wrong):
                    break
                t = torch.where(wrong, torch.nn.init.normal_(torch.ones(t.shape), std=std), t)
            return t

        net = torch.nn.Linear(3, 3)
        truncated(net.weight, 0.1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for step in range(4):
            optimizer.zero_grad()
            net(torch.ones(2, 3)).sum().backward()
            optimizer.step()
        """,
    "the rows of one output, added up one by one: bounded by the output, whose graph is kept as a whole": """
        import torch
        net = torch.nn.Linear(3, 25)
        out = net(torch.ones(2, 3)).t()
        total = torch.zeros(1)
        for step in range(25):
            total += out[step].mean()
        print(total.item())
        """,
    "what an unknown brings, added in place": """
        import torch
        from elsewhere import batches

        for u in batches():
            z = torch.zeros(2)
            z += u
            z.sum().backward()
        """,
    "what an unknown brings, stored into a row": """
        import torch
        from elsewhere import batches

        for u in batches():
            z = torch.zeros(2, 2)
            z[0] = u
            z.sum().backward()
        """,
    "a backward over one part of what an unknown gives shows nothing of its other parts": """
        from elsewhere import batches, build

        model, total = build(), 0
        for u in batches():
            loss, value = model.compute_loss(u)
            total += value
            loss.backward()
        print("%.4f" % total)
        """,
    "groups of an optimizer that an unknown brings": """
        import torch
        from elsewhere import groups, share

        net = torch.nn.Linear(3, 3)
        first = torch.optim.SGD(net.parameters(), lr=0.1)
        second = torch.optim.Adam(net.parameters())
        first.param_groups = groups(net)
        second.param_groups[0]["params"] = share(net)
        for step in range(4):
            loss = net(torch.ones(2, 3)).sum()
            for optimizer in (first, second):
                optimizer.zero_grad()
            loss.backward()
            for optimizer in (first, second):
                optimizer.step()
        """,
    "what an unknown brings, copied": """
        import torch
        from elsewhere import batches

        for u in batches():
            z = torch.zeros(2)
            z.copy_(u)
            z.sum().backward()
        """,
    "what an unknown brings, in an einsum": """
        import torch
        from elsewhere import batches

        for u in batches():
            torch.einsum('i,i', torch.ones(2), u).backward()
        """,
    "what an unknown brings, scattered": """
        import torch
        from elsewhere import batches

        for u in batches():
            torch.zeros(2).scatter(0, torch.tensor([0, 1]), u).sum().backward()
        """,
    "what an unknown brings, as a distribution's parameter": """
        import torch
        from elsewhere import batches

        for u in batches():
            torch.distributions.Normal(u, 1.0).log_prob(torch.zeros(2)).sum().backward()
        """,
    "what an unknown brings, as it is": """
        import torch
        from elsewhere import batches

        for u in batches():
            torch.as_tensor(u).sum().backward()
        """,
    "what an unknown brings, padded": """
        import torch
        from elsewhere import batches

        for u in batches():
            torch.nn.utils.rnn.pad_sequence([u, u]).sum().backward()
        """,
    "what an unknown brings, compared by maximum": """
        import torch
        from elsewhere import batches

        for u in batches():
            torch.max(torch.ones(2), u).sum().backward()
        """,
    "a walk over an unknown calls itself": """
        import torch
        from elsewhere import model, batches


        def repackage(h):
            if isinstance(h, torch.Tensor):
                return h.detach()
            return tuple(repackage(v) for v in h)


        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        hidden = model.init_hidden(4)
        for x, y in batches():
            hidden = repackage(hidden)
            out, hidden = model(x, hidden)
            loss = torch.nn.functional.cross_entropy(out, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
    "a long walk over conditions that nobody knows ends": """
        import torch
        import bullet

        body = -1
        for i in range(bullet.count()):
            if bullet.name(i) == "torso":
                body = i
        while True:
            if bullet.visible():
                if body > -1:
                    bullet.camera(body)
        """,
    "arithmetic on what an unknown callee gave may still carry a graph": """
        import torch
        import torch.nn.functional as F
        from elsewhere import Encoder, loader

        encoder = Encoder()
        for x, y in loader:
            z = encoder(x)
            score = (z[:, :4] * z[:, 4:]).sum(dim=1)
            loss = F.binary_cross_entropy_with_logits(score, torch.ones_like(score))
            loss.backward()
        """,
    "gathering from an unknown network's output is no loss without a graph": """
        import torch
        import torch.nn.functional as F


        class Agent:
            def train(self, batches):
                for batch in batches:
                    q = self.q_net(batch.observations)
                    q = torch.gather(q, dim=1, index=batch.actions.long())
                    loss = F.smooth_l1_loss(q, batch.targets)
                    loss.backward()
        """,
    "accumulation over a number of steps that only the command line knows": """
        import argparse
        import torch

        parser = argparse.ArgumentParser()
        parser.add_argument("--accumulate", type=int, default=4)
        options = parser.parse_args()
        model = torch.nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        total = 0
        for step in range(100):
            total = total + model(torch.randn(8, 4)).pow(2).mean()
            if (step + 1) % options.accumulate == 0:
                total.backward()
                optimizer.step()
                optimizer.zero_grad()
                total = 0
        """,
    "a state that a callee out of reach may have cut": """
        import torch
        from elsewhere import Model, loader, cut

        model = Model()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        hidden = None
        for x in loader:
            hidden = cut(hidden)
            out, hidden = model(x, hidden)
            out.sum().backward()
            optimizer.step()
        """,
    "an objective of inner gradients, given to a solver out of reach: it may run the backward over the sum": """
        import torch
        from elsewhere import conjugate_gradient

        net = torch.nn.Linear(3, 1)


        def objective(tasks):
            total = 0.0
            for x in tasks:
                inner = net(x).pow(2).mean()
                slopes = torch.autograd.grad(inner, tuple(net.parameters()), create_graph=True)
                total += sum(slope.pow(2).sum() for slope in slopes)
            return total


        conjugate_gradient(objective([torch.randn(2, 3) for _ in range(6)]))
        """,
}


@pytest.mark.parametrize("name", SILENT)
def test_nothing_is_said(name: str) -> None:
    source = SourceFile("program.py", textwrap.dedent(SILENT[name]).lstrip())
    found = check(source, FileProvider([])).findings
    assert [finding for finding in found if finding.severity != "information"] == []


def test_what_was_retained_may_be_walked_out_of_reach() -> None:
    """The second value of one forward goes to a solver that nobody can see into: ``retain_graph`` is for it."""
    source = SourceFile(
        "program.py",
        textwrap.dedent(
            """
            import torch
            from elsewhere import conjugate_gradient

            net = torch.nn.Linear(3, 1)
            for _ in range(6):
                out = net(torch.randn(2, 3))
                loss, divergence = out.pow(2).mean(), out.exp().mean()
                slopes = torch.autograd.grad(loss, tuple(net.parameters()), retain_graph=True)
                step = conjugate_gradient(divergence, slopes)
            """
        ).lstrip(),
    )
    assert check(source, FileProvider([])).findings == []


def test_a_backward_proves_a_graph() -> None:
    """The model is out of reach, but its loss has a graph: else ``backward()`` would raise."""
    source = SourceFile(
        "program.py",
        textwrap.dedent(
            """
            import torch
            import torch.nn.functional as F
            from elsewhere import Model, loader

            model = Model(3, 4)
            optimizer = torch.optim.Adam(model.parameters())
            for epoch in range(5):
                total = 0
                for x, y in loader():
                    loss = F.cross_entropy(model(x), y)
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    total += loss
            """
        ).lstrip(),
    )
    found = check(source, FileProvider([])).findings
    assert [(finding.code, finding.range.line, finding.carriers) for finding in found] == [
        ("LG201", 14, ("total",))
    ]
