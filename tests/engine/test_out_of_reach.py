"""What nobody can see into costs findings, never a false alarm: each program here is met in public code."""

from __future__ import annotations

import textwrap

import pytest

from loopgrad.rules import check
from loopgrad.source import FileProvider, SourceFile

SILENT = {
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
}


@pytest.mark.parametrize("name", SILENT)
def test_nothing_is_said(name: str) -> None:
    source = SourceFile("program.py", textwrap.dedent(SILENT[name]).lstrip())
    found = check(source, FileProvider([])).findings
    assert [finding for finding in found if finding.severity != "information"] == []
