"""Programs on which the analysis and PyTorch once disagreed, named after what they taught.

Each runs under PyTorch first: the outcome below is torch's, and the analysis has to say the same. They came from
generated programs (``tests/oracle``) and public code, cut down to what mattered.
"""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from tests.engine.told import says_what_torch_does

PROGRAMS: dict[str, tuple[str, str]] = {
    "a view taken under no_grad still requires grad": (
        "clean",
        """
        import torch
        N = 6
        w = torch.randn(3, requires_grad=True)
        for i in range(N):
            with torch.no_grad():
                v = w.view(3)
            v[0].backward()
        """,
    ),
    "set_grad_enabled as a context restores what was before it was made": (
        "clean",
        """
        import torch
        N = 6
        w = torch.randn(3, requires_grad=True)
        for i in range(N):
            loss = w.sum()
            with torch.set_grad_enabled(False):
                pass
            (loss + w.sum()).backward()
        """,
    ),
    "the cell state of an LSTMCell brings no weights along": (
        "grows",
        """
        import torch
        N = 6
        cell = torch.nn.LSTMCell(3, 3)
        optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
        h = c = torch.zeros(3)
        for i in range(N):
            h, c = cell(torch.randn(3), (h.detach(), c))
            h.sum().backward(retain_graph=True)
            optimizer.step()
        """,
    ),
    "a hidden state of an LSTMCell does": (
        "inplace-version",
        """
        import torch
        cell = torch.nn.LSTMCell(3, 3)
        optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
        h = c = torch.zeros(3)
        for i in range(6):
            h, c = cell(torch.randn(3), (h, c))
            h.sum().backward(retain_graph=True)
            optimizer.step()
        """,
    ),
    "detaching the hidden state alone raises through the cell state": (
        "second-backward",
        """
        import torch
        cell = torch.nn.LSTMCell(3, 3)
        h = c = torch.zeros(3)
        for i in range(4):
            h, c = cell(torch.randn(3), (h.detach(), c))
            h.sum().backward()
        """,
    ),
    "a value that was never given a graph": (
        "no-grad-fn",
        """
        import torch
        u = torch.randn(3)
        loss = u.sum()
        loss.backward()
        """,
    ),
    "autograd.grad of something without a graph": (
        "no-grad-fn",
        """
        import torch
        u = torch.randn(3)
        torch.autograd.grad(u.sum(), [u])
        """,
    ),
    "a state behind softmax raises one iteration after the silent one": (
        "second-backward",
        """
        import torch
        w = torch.randn(3, requires_grad=True)
        state = torch.zeros(3)
        for i in range(5):
            state = torch.cat([torch.softmax(state, 0)[:2], w])[:3]
            state.sum().backward()
        """,
    ),
    "reshape of contiguous memory is a view: its base's change is seen": (
        "inplace-version",
        """
        import torch
        w = torch.randn(3, requires_grad=True)
        scale = torch.ones(3)
        v = scale.reshape(-1) * w
        scale.add_(1.0)
        v.sum().backward()
        """,
    ),
    "a buffer written by index raises though only additions lead to it": (
        "second-backward",
        """
        import torch
        w = torch.randn(3, requires_grad=True)
        rows = torch.zeros(2, 3)
        for i in range(3):
            rows[i % 2] = w + 1
            rows.sum().backward()
        """,
    ),
    "what an inner backward leaves unwalked is not freed": (
        "clean",
        """
        import torch
        N = 6
        w = torch.randn(3, requires_grad=True)
        for i in range(N):
            h = w * w
            (g,) = torch.autograd.grad((h * 2).sum(), [h])
            (h * g).sum().backward()
        """,
    ),
    "requires_grad set on a loss that kept its graph": (
        "error",
        """
        import torch
        w = torch.randn(3, requires_grad=True)
        for i in range(4):
            loss = w.sum()
            loss.requires_grad = True
            loss.backward()
        """,
    ),
    "a loss that was made a leaf, beside one that trains everything": (
        "clean",
        """
        import torch
        N = 6
        w = torch.randn(3, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.1)
        for i in range(N):
            optimizer.zero_grad()
            w.sum().backward()
            extra = (w * w).sum().detach()
            extra.requires_grad = True
            extra.backward()
            optimizer.step()
        """,
    ),
    "what a module has and no model knows of is no error": (
        "second-backward",
        """
        import torch
        N = 6
        net = torch.nn.Linear(3, 3)
        net.reset_parameters()
        if net.weight.is_nested:
            print('nested')
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        h = torch.zeros(2, 3)
        for i in range(N):
            h = torch.tanh(net(h))
            loss = h.pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    ),
    "what is asserted holds": (
        "second-backward",
        """
        import torch
        N = 6
        net = torch.nn.Linear(3, 3)
        assert {id(p) for p in net.parameters()} == {id(net.weight), id(net.bias)}
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        h = torch.zeros(2, 3)
        for i in range(N):
            h = torch.tanh(net(h))
            loss = h.pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    ),
    "pooling with a positional stride gives a tensor": (
        "second-backward",
        """
        import torch
        N = 6
        net = torch.nn.Linear(3, 3)
        z = torch.nn.functional.max_pool2d(torch.ones(1, 1, 4, 4), 2, 2)
        z = z.view(-1, 4)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        h = torch.zeros(2, 3)
        for i in range(N):
            h = torch.tanh(net(h))
            loss = h.pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    ),
    "arguments out of an argument parser": (
        "second-backward",
        """
        import argparse
        import torch
        N = 6
        class Net(torch.nn.Linear):
            def __init__(self, width, **options):
                super().__init__(width, width)
        parser = argparse.ArgumentParser()
        parser.add_argument('--width', type=int, default=3)
        net = Net(**vars(parser.parse_args([])))
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        h = torch.zeros(2, 3)
        for i in range(N):
            h = torch.tanh(net(h))
            loss = h.pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    ),
    "an optimizer of the user's own has the keys of its defaults": (
        "second-backward",
        """
        import torch
        N = 6
        class Mine(torch.optim.Optimizer):
            def __init__(self, params, momentum=0.9):
                super().__init__(params, dict(momentum=momentum))
            @torch.no_grad()
            def step(self):
                for group in self.param_groups:
                    for p in group['params']:
                        p.add_(p.grad, alpha=-group['momentum'])
        net = torch.nn.Linear(3, 3)
        opt = Mine(net.parameters())
        h = torch.zeros(2, 3)
        for i in range(N):
            h = torch.tanh(net(h))
            loss = h.pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    ),
    "a loop over the layers of a model, called without no_grad": (
        "clean",
        """
        import torch
        N = 6
        layers = torch.nn.ModuleList([torch.nn.Linear(4, 4) for _ in range(6)])
        for i in range(N):
            x = torch.randn(2, 4)
            for layer in layers:
                x = torch.relu(layer(x))
            print(x.argmax().item())
        """,
    ),
    "a Variable of a tensor is the tensor without its graph": (
        "clean",
        """
        import torch
        from torch.autograd import Variable
        N = 6
        net = torch.nn.Linear(3, 3)
        memory = torch.zeros(2, 3)
        for i in range(N):
            out = net(torch.randn(2, 3)) + memory
            memory = Variable(out)
            out.square().mean().backward()
        """,
    ),
    "a tensor in an old format string is read and stays what it is": (
        "second-backward",
        """
        import torch
        net = torch.nn.Linear(3, 3)
        loss = net(torch.randn(2, 3)).mean()
        text = "%.3f" % loss
        loss.backward()
        loss.backward()
        """,
    ),
    "a graph that is retained but for its last use": (
        "clean",
        """
        import torch
        N = 6
        net = torch.nn.Linear(3, 3)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for i in range(N):
            out = net(torch.randn(2, int(torch.randint(3, 6, (1,))), 3)).relu()
            length = out.size(1)
            optimizer.zero_grad()
            for k in range(length):
                loss = out[:, k].square().sum()
                loss.backward(retain_graph=k + 1 < length)
            optimizer.step()
        """,
    ),
    "an optimizer's state of each parameter": (
        "second-backward",
        """
        import torch
        net = torch.nn.Linear(3, 3)
        class Ascent(torch.optim.SGD):
            def first_step(self):
                with torch.no_grad():
                    for group in self.param_groups:
                        for p in group["params"]:
                            self.state[p]["old"] = p.clone()
                            p.add_(p.grad)
        optimizer = Ascent(net.parameters(), lr=0.1)
        for i in range(3):
            loss = net(torch.randn(2, 3)).mean()
            loss.backward()
            optimizer.first_step()
            loss.backward()
        """,
    ),
    "a tensor that is saved for the backward and detached in place stops it": (
        "error",
        """
        import torch
        w = torch.randn(3, requires_grad=True)
        h = w * 2
        loss = (h * h).sum()
        h.detach_()
        loss.backward()
        loss.backward()
        """,
    ),
    "what a backward computes with its own result may be detached in place": (
        "second-backward",
        """
        import torch
        w = torch.randn(3, requires_grad=True)
        h = torch.tanh(w)
        loss = h.sum()
        h.detach_()
        loss.backward()
        loss.backward()
        """,
    ),
    "the outputs of an LSTM do not hang on the tensor of its last state": (
        "second-backward",
        """
        import torch
        lstm = torch.nn.LSTM(3, 3)
        out, (h, c) = lstm(torch.randn(2, 1, 3))
        loss = (out * out).sum()
        h.detach_()
        loss.backward()
        loss.backward()
        """,
    ),
    "the tensor that new is given keeps its graph": (
        "second-backward",
        """
        import torch
        w = torch.randn(3, requires_grad=True)
        h = torch.randn(3).new(torch.tanh(w))
        h.sum().backward()
        h.sum().backward()
        """,
    ),
    "the last step of an unknown number of them is one step, and the loop ends with it": (
        "clean",
        """
        import argparse
        import torch
        N = 6
        parser = argparse.ArgumentParser()
        parser.add_argument("--steps", type=int, default=5)
        args = parser.parse_args()
        cell = torch.nn.RNNCell(3, 3)
        for epoch in range(N):
            h = torch.zeros(1, 3)
            for t in range(args.steps):
                h = cell(torch.randn(1, 3), h)
                if t == args.steps - 1:
                    h.sum().backward()
        """,
    ),
    "a sequence whose one backward stands in its last step": (
        "clean",
        """
        import torch
        N = 6
        cell = torch.nn.RNNCell(3, 3)
        for epoch in range(N):
            h = torch.zeros(1, 3)
            for t in range(6):
                h = cell(torch.randn(1, 3), h)
                if t == 5:
                    h.sum().backward()
        """,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_analysis_says_what_torch_does(name: str) -> None:
    says_what_torch_does(*PROGRAMS[name])
