"""Values that live on in a loop and are right: buffers that are emptied, sums with one backward, fast weights."""

from __future__ import annotations

import pytest

from tests.torch_runner.run_block import run_apart

from .judge import analysed, judge, written

HEAD = """
import random
from collections import deque
import torch
from torch.func import functional_call, grad, vmap
N = 6
net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def batch():
    return torch.randn(2, 3)


"""

RIGHT = {
    "a buffer made in the loop": """
        for i in range(N):
            losses = []
            for j in range(2):
                losses.append(net(batch()).square().mean())
            torch.stack(losses).sum().backward()
        """,
    "a sum that begins in the loop": """
        for i in range(N):
            running = 0
            for j in range(2):
                running += net(batch()).square().mean()
            running.backward()
        """,
    "a buffer that is cleared": """
        losses = []
        for i in range(N):
            losses.append(net(batch()).square().mean())
            losses.append(net(batch()).abs().mean())
            sum(losses).backward()
            losses.clear()
        """,
    "a buffer that another function empties": """
        class Agent:
            def __init__(self):
                self.rewards, self.log_probs = [], []

        agent = Agent()

        def finish():
            torch.stack(agent.log_probs).sum().backward()
            del agent.log_probs[:]
            del agent.rewards[:]

        for i in range(N):
            for j in range(2):
                agent.log_probs.append(net(batch()).mean())
                agent.rewards.append(1.0)
            finish()
        """,
    "a buffer that is assigned anew": """
        losses = []
        for i in range(N):
            losses += [net(batch()).square().mean()]
            sum(losses).backward()
            losses = []
        """,
    "a deque with a length": """
        recent = deque(maxlen=3)
        for i in range(N):
            loss = net(batch()).square().mean()
            loss.backward()
            recent.append(loss)
        """,
    "loss = None before each": """
        for i in range(N):
            loss = None
            for j in range(2):
                part = net(batch()).square().mean()
                loss = part if loss is None else loss + part
            loss.backward()
        """,
    "del loss": """
        for i in range(N):
            loss = net(batch()).square().mean()
            loss.backward()
            del loss
        """,
    "a sum over tasks and then one backward": """
        loss_sum = 0.0
        for task in range(3):
            loss_sum += net(batch()).square().mean()
        optimizer.zero_grad()
        loss_sum.backward()
        optimizer.step()
        """,
    "a sum over tasks in each round": """
        for i in range(N):
            optimizer.zero_grad()
            total = torch.zeros(())
            for task in range(3):
                total = total + net(batch()).square().mean()
            (total / 3).backward()
            optimizer.step()
        """,
    "fast weights under create_graph": """
        for i in range(N):
            optimizer.zero_grad()
            weights = list(net.parameters())
            for step in range(2):
                loss = torch.nn.functional.linear(batch(), *weights).square().mean()
                grads = torch.autograd.grad(loss, weights, create_graph=True)
                weights = [w - 0.1 * g for w, g in zip(weights, grads)]
            torch.nn.functional.linear(batch(), *weights).square().mean().backward()
            optimizer.step()
        """,
    "fast weights by name, with functional_call": """
        for i in range(N):
            optimizer.zero_grad()
            weights = dict(net.named_parameters())
            for step in range(2):
                loss = functional_call(net, weights, (batch(),)).square().mean()
                grads = torch.autograd.grad(loss, tuple(weights.values()), create_graph=True)
                weights = {k: w - 0.1 * g for (k, w), g in zip(weights.items(), grads)}
            functional_call(net, weights, (batch(),)).square().mean().backward()
            optimizer.step()
        """,
    "torch.func's grad and vmap": """
        def loss_of(weights, x):
            return functional_call(net, weights, (x,)).square().mean()

        weights = {k: p.detach() for k, p in net.named_parameters()}
        for i in range(N):
            grads = vmap(grad(loss_of), in_dims=(None, 0))(weights, batch())
            weights = {k: w - 0.1 * grads[k].mean(0) for k, w in weights.items()}
        """,
    "weights written by hand under no_grad": """
        for i in range(N):
            loss = net(batch()).square().mean()
            loss.backward()
            with torch.no_grad():
                for p in net.parameters():
                    p -= 0.1 * p.grad
                    p.grad = None
        """,
    "gradient accumulation": """
        for i in range(N):
            loss = net(batch()).square().mean() / 3
            loss.backward()
            if (i + 1) % 3 == 0:
                optimizer.step()
                optimizer.zero_grad()
        """,
    "several steps of a window, then one backward and a cut": """
        cell = torch.nn.GRUCell(3, 3)
        hidden, loss = torch.zeros(2, 3), 0.0
        for i in range(N):
            hidden = cell(batch(), hidden)
            loss = loss + hidden.square().mean()
            if i % 2 == 1:
                loss.backward()
                hidden, loss = hidden.detach(), 0.0
        """,
    "a replay buffer of what was cut": """
        memory = []
        for i in range(N):
            out = net(batch())
            memory.append(out.detach())
            old = random.choice(memory)
            (out - old).square().mean().backward()
        """,
    "a value made under no_grad and kept outside of it": """
        targets = []
        for i in range(N):
            with torch.no_grad():
                target = net(batch())
            targets.append(target)
            (net(batch()) - targets[-1]).square().mean().backward()
        """,
    "a moving average of the weights": """
        average = {k: v.clone() for k, v in net.state_dict().items()}
        for i in range(N):
            net(batch()).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            for key, value in net.state_dict().items():
                average[key] = 0.9 * average[key] + 0.1 * value
        """,
    "a moving average of data": """
        average = [p.data.clone() for p in net.parameters()]
        for i in range(N):
            net(batch()).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            for a, p in zip(average, net.parameters()):
                a.mul_(0.9).add_(p.data, alpha=0.1)
        """,
}

FOUND = {
    "a buffer that nobody clears": """
        losses = []
        for i in range(N):
            losses.append(net(batch()).square().mean())  # error: LG101
            sum(losses).backward()
        """,
    "a sum over all steps with a backward in each": """
        loss_sum = 0.0
        for i in range(N):
            loss_sum += net(batch()).square().mean()  # error: LG101
            loss_sum.backward()
        """,
    "a buffer without a length": """
        recent = deque()
        for i in range(N):
            loss = net(batch()).square().mean()
            loss.backward()
            recent.append(loss)  # warning: LG201
        """,
    "a buffer that is cleared before its last use alone": """
        class Agent:
            def __init__(self):
                self.log_probs, self.rewards = [], []

        agent = Agent()

        def finish():
            torch.stack(agent.log_probs).sum().backward()
            del agent.rewards[:]

        for i in range(N):
            for j in range(2):
                agent.log_probs.append(net(batch()).mean())  # error: LG101
                agent.rewards.append(1.0)
            finish()
        """,
    "a moving average of the weights with their graph": """
        average = {k: v.clone() for k, v in net.named_parameters()}
        for i in range(N):
            net(batch()).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            for key, value in net.named_parameters():
                average[key] = 0.9 * average[key] + 0.1 * value  # warning: LG201
        """,
    "weights written by hand without no_grad": """
        for i in range(N):
            loss = net(batch()).square().mean()
            loss.backward()
            for p in net.parameters():
                p -= 0.1 * p.grad  # error: LG303
                p.grad = None
        """,
    "an evaluation over time: the state carries, not what is made of it": """
        def evaluate(steps):
            net.eval()
            hidden, words = torch.zeros(2, 1), []
            for i in range(steps):
                h = torch.tanh(net(batch()) + hidden)
                output, hidden, attention = h * 2, h + 1, torch.softmax(h, 0)  # warning: LG203
                words.append(output.argmax(1))
            return words

        evaluate(N)
        """,
    "an evaluation over time whose state is a tuple, beside lists that are made anew": """
        weight = torch.nn.Linear(1, 1)

        def rnn(inputs, state):
            (h,) = state
            outputs = []
            for x in inputs:
                h = torch.tanh(net(x) + weight(h))
                outputs.append(h * 2)
            return outputs, (h,)

        def predict(steps):
            net.eval()
            state, words = (torch.zeros(2, 1),), []
            for i in range(steps):
                outputs, state = rnn([batch()], state)  # warning: LG203
                words.append(outputs[0].argmax(1))
            return words

        predict(N)
        """,
    "a window whose state is not cut": """
        cell = torch.nn.GRUCell(3, 3)
        hidden, loss = torch.zeros(2, 3), 0.0
        for i in range(N):
            hidden = cell(batch(), hidden)  # error: LG101
            loss = loss + hidden.square().mean()
            if i % 2 == 1:
                loss.backward()
                loss = 0.0
        """,
    "a replay buffer with its graphs": """
        memory = []
        for i in range(N):
            out = net(batch())
            old = memory[0] if memory else torch.zeros(2, 1)
            (out - old).square().mean().backward()
            memory.append(out)  # error: LG101
        """,
}


@pytest.mark.parametrize("name", RIGHT)
def test_right(name: str) -> None:
    judge(HEAD + written(RIGHT[name]))


@pytest.mark.parametrize("name", FOUND)
def test_found(name: str) -> None:
    judge(HEAD + written(FOUND[name]))


def test_nothing_put_together_raises_before_any_backward() -> None:
    """A loop that may not run leaves its list empty: ``torch.stack`` raises then, so the loss has a graph."""
    step = """
        import torch
        net = torch.nn.Linear(3, 1)

        def step(batches):
            losses = []
            for x in batches:
                losses.append(net(x).mean())
            torch.stack(losses).sum().backward()
        """
    assert analysed(written(step)).findings == []
    report = run_apart(written(step) + "\nstep([])\n")
    assert report.error is not None
    assert "non-empty" in report.error
    for join in ("stack", "cat", "hstack", "vstack", "concat"):
        report = run_apart(f"import torch\ntorch.{join}([]).sum().backward()\n")
        assert report.outcome == "error", join
        assert analysed(f"import torch\ntorch.{join}([]).sum().backward()\n").findings == []
