"""What cuts a value's graph and what does not: each expression in the place where it decides.

A state that is carried into the next iteration is right if the expression cuts, and LG101 if it keeps. A record of
the losses is right if the expression cuts, and grows (LG201) if it keeps.
"""

from __future__ import annotations

import pytest

from .judge import judge

CARRIED = """
import copy
import numpy as np
import torch
from torch import nn
from torch.autograd import Variable
N = 6
net = nn.Linear(3, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
state = torch.zeros(2, 3)
for i in range(N):
    optimizer.zero_grad()
    out = torch.tanh(net(torch.randn(2, 3)) + state)
    out.square().mean().backward()
    optimizer.step()
    state = EXPRESSION
"""

CUTS = {
    # .detach() and what follows it
    "detach": "out.detach()",
    "detach, cpu": "out.detach().cpu()",
    "cpu, detach": "out.cpu().detach()",
    "detach, clone": "out.detach().clone()",
    "clone, detach": "out.clone().detach()",
    "detach, float": "out.detach().float()",
    "detach of an element": "torch.stack([row.detach() for row in out])",
    "the unbound method": "torch.Tensor.detach(out)",
    "the function of torch": "torch.detach(out)",
    "detach_": "out.detach_()",
    "detach_ and a leaf again": "out.detach_().requires_grad_()  # information: LG401",
    "detach_ of a container's item": "[out, out][0].detach_()",
    # .data
    "data": "out.data",
    "data, clone": "out.data.clone()",
    "data by index": "out.data[0]",
    "Variable, which no longer keeps": "Variable(out)",
    "Variable of data": "Variable(out.data)",
    "data changed in place": "out.data.mul_(0.5)",
    # numbers
    "item": "out.mean().item()",
    "float": "float(out.mean())",
    "int": "int(out.mean() * 10)",
    "bool": "float(bool(out.mean() > 0))",
    "tolist": "torch.tensor(out.tolist())",
    "format and back": "float('%f' % out.mean())",
    "f-string and back": "float(f'{out.mean():.3f}')",
    "str.format and back": "float('{:.3f}'.format(out.mean().item()))",
    "round of a number": "round(out.mean().item(), 3)",
    # numpy
    "numpy": "torch.from_numpy(out.detach().numpy())",
    "cpu, numpy": "torch.from_numpy(out.detach().cpu().numpy())",
    "data, cpu, numpy": "torch.from_numpy(out.data.cpu().numpy())",
    "as_tensor of an array": "torch.as_tensor(out.detach().numpy())",
    "numpy's own functions": "torch.from_numpy(np.clip(out.detach().numpy(), 0, 1))",
    "tensor of numbers": "torch.tensor([row.mean().item() for row in out]).mean()",
    # new tensors of the same form
    "tensor of a number": "torch.tensor(out.mean().item())",
    "zeros_like": "torch.zeros_like(out)",
    "ones_like": "torch.ones_like(out)",
    "rand_like": "torch.rand_like(out)",
    "full_like": "torch.full_like(out, 0.5)",
    "empty_like, filled": "torch.empty_like(out).fill_(0)",
    "new_zeros": "out.new_zeros(2, 3)",
    "new_full": "out.new_full((2, 3), 0.5)",
    "new_tensor of numbers": "out.new_tensor([0.1, 0.2, 0.3])",
    "new": "out.new(2, 3).zero_()",
    "one_hot": "nn.functional.one_hot(out.argmax(1), 3).float()",
    # metadata
    "len": "len(out)",
    "size": "out.size(0)",
    "shape": "out.shape[1] / 10",
    "dim": "out.dim()",
    "numel": "out.numel() / 10",
    # whole numbers and truth
    "long": "out.long()",
    "int of a tensor": "out.int()",
    "bool of a tensor": "out.bool().float()",
    "to an integer type": "out.to(torch.int64)",
    "equal": "(out == 0).float()",
    "eq": "out.eq(0).float()",
    "gt": "out.gt(0).float()",
    "greater": "(out > 0).float()",
    "not": "(~(out > 0)).float()",
    "sign of a comparison": "torch.where(out > 0, torch.ones(2, 3), torch.zeros(2, 3))",
    "isnan": "torch.isnan(out).float()",
    "isfinite": "torch.isfinite(out).float()",
    "allclose": "float(torch.allclose(out, out))",
    # indices
    "argmax": "out.argmax(1, keepdim=True)",
    "argmin": "out.argmin(1, keepdim=True)",
    "argsort": "out.argsort(1)",
    "indices of max": "out.max(1, keepdim=True)[1]",
    "indices of max by name": "out.max(1, keepdim=True).indices",
    "indices of topk": "out.topk(1)[1]",
    "indices of sort": "out.sort()[1]",
    "nonzero": "out.nonzero().float().mean()",
    "multinomial": "torch.multinomial(torch.softmax(out, 1), 1)",
    "bernoulli": "torch.bernoulli(torch.sigmoid(out.detach()))",
    # distributions
    "sample of a Normal": "torch.distributions.Normal(out, 1.0).sample()",
    "sample of a Categorical": "torch.distributions.Categorical(logits=out).sample().unsqueeze(1)",
    # parameters and copies
    "Parameter": "nn.Parameter(out)",
    "tensor": "torch.tensor(out)",
    "copy of a tensor": "copy.copy(out)",
    "deepcopy of a leaf": "copy.deepcopy(out.detach())",
    "a parameter's gradient": "net.bias.grad",
    "a parameter's gradient, cloned": "net.bias.grad.clone()",
    "an entry of the state_dict": "net.state_dict()['bias']",
    "a parameter": "net.bias",
}

KEEPS = {
    "the value itself": "out",
    "clone": "out.clone()",
    "torch.clone": "torch.clone(out)",
    "cpu": "out.cpu()",
    "to a device": "out.to('cpu')",
    "to a type": "out.to(torch.float32)",
    "to another's type": "out.type_as(state)",
    "float": "out.float()",
    "double and back": "out.double().float()",
    "contiguous": "out.contiguous()",
    "view": "out.view(2, 3)",
    "reshape": "out.reshape(2, 3)",
    "slice": "out[:]",
    "index": "out[0]",
    "squeeze": "out.squeeze()",
    "unsqueeze": "out.unsqueeze(0)[0]",
    "expand": "out[:1].expand(2, 3)",
    "transposed twice": "out.t().t()",
    "stack": "torch.stack([out])[0]",
    "cat": "torch.cat([out[:1], out[1:]])",
    "as_tensor": "torch.as_tensor(out)",
    "requires_grad_": "out.requires_grad_()  # information: LG401",
    "a mask of zeros": "out * torch.zeros(2, 1)",
    "zero times": "0 * out + torch.randn(2, 3)",
    "masked_fill": "out.masked_fill(torch.ones(2, 3).bool(), 0.0)",
    "where": "torch.where(torch.ones(2, 1) > 0, torch.zeros(2, 3), out)",
    "values of max": "out.max(1, keepdim=True)[0]",
    "values of max by name": "out.max(1, keepdim=True).values",
    "values of topk": "out.topk(1)[0]",
    "values of sort": "out.sort()[0]",
    "rsample": "torch.distributions.Normal(out, 1.0).rsample()",
    "log_prob": "torch.distributions.Normal(out, 1.0).log_prob(torch.zeros(2, 3))",
    "entropy": "torch.distributions.Categorical(logits=out).entropy().mean()",
    "identity": "nn.Identity()(out)",
    "dropout of nothing": "nn.Dropout(0.0)(out)",
    "a tuple's element": "(out, out.detach())[0]",
    "detach whose result is dropped": "(out.detach(), out)[1]",
    "squared": "out ** 1",
}


@pytest.mark.parametrize("expression", CUTS.values(), ids=CUTS.keys())
def test_carried_with_a_cut(expression: str) -> None:
    judge(CARRIED.replace("EXPRESSION", expression))


@pytest.mark.parametrize("expression", KEEPS.values(), ids=KEEPS.keys())
def test_carried_with_what_keeps(expression: str) -> None:
    judge(CARRIED.replace("EXPRESSION", f"{expression}  # error: LG101"))


RECORDED = """
import torch
N = 6
net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
total = 0.0
history = []
for i in range(N):
    optimizer.zero_grad()
    loss = net(torch.randn(2, 3)).square().mean()
    loss.backward()
    optimizer.step()
    STATEMENT
print(total, history)
"""

RECORDS = {
    "item": "total += loss.item()",
    "float": "total += float(loss)",
    "detach": "total += loss.detach()",
    "data": "total += loss.data",
    "data and item": "total += loss.data.item()",
    "numpy": "total += loss.detach().cpu().numpy()",
    "tolist": "history += loss.detach().reshape(1).tolist()",
    "a format": "history.append('%.3f' % loss)",
    "an f-string": "history.append(f'{loss:.3f} {i}')",
    "str": "history.append(str(loss))",
    "item over a batch": "total += loss.item() * 2 / N",
    "a dict of numbers": "history.append({'loss': loss.item(), 'step': i})",
    "a tensor of a number": "history.append(torch.tensor(float(loss)))",
    "no_grad around the sum": "with torch.no_grad(): total = total + loss",
}

GROWS = {
    "plus": "total = total + loss",
    "plus in place": "total += loss",
    "clone": "total += loss.clone()",
    "cpu": "total += loss.cpu()",
    "divided": "total += loss / N",
    "append": "history.append(loss)",
    "append of a clone": "history.append(loss.clone())",
    "append of a copy on the CPU": "history.append(loss.to('cpu'))",
    "a dict": "history.append({'loss': loss, 'step': i})",
    "a tuple": "history.append((i, loss))",
    "a list added": "history += [loss]",
    "extend": "history.extend([loss])",
    "insert": "history.insert(0, loss)",
}


@pytest.mark.parametrize("statement", RECORDS.values(), ids=RECORDS.keys())
def test_recorded_with_a_cut(statement: str) -> None:
    judge(RECORDED.replace("STATEMENT", statement))


@pytest.mark.parametrize("statement", GROWS.values(), ids=GROWS.keys())
def test_recorded_with_what_keeps(statement: str) -> None:
    judge(RECORDED.replace("STATEMENT", f"{statement}  # warning: LG201"))


DATA = {
    "a step by hand through data": """
        import torch
        N = 6
        w = torch.nn.Parameter(torch.randn(3))
        for i in range(N):
            (w * torch.randn(3)).square().sum().backward()
            w.data = w.data - 0.1 * w.grad
            w.grad = None
        """,
    "a step by hand through data, in place": """
        import torch
        N = 6
        w = torch.nn.Parameter(torch.randn(3))
        for i in range(N):
            (w * torch.randn(3)).square().sum().backward()
            w.data.add_(w.grad.data, alpha=-0.1)
            w.data.sub_(0.1 * w.grad)
            w.data[0] = 0.0
            w.data -= 0.1 * w.grad.data
            w.grad.data.zero_()
        """,
    "weights that are copied, clipped and initialised": """
        import torch
        N = 6
        net, target = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
        net.weight.data.normal_(0, 0.02)
        net.bias.data.fill_(0)
        for i in range(N):
            (net(torch.randn(2, 3)) - target(torch.randn(2, 3)).detach()).square().mean().backward()
            for p, t in zip(net.parameters(), target.parameters()):
                t.data.copy_(0.9 * t.data + 0.1 * p.data)
                p.data.clamp_(-0.01, 0.01)
        """,
    "a state that is given new data": """
        import torch
        N = 6
        net = torch.nn.Linear(3, 3)
        state = torch.zeros(2, 3)
        for i in range(N):
            out = torch.tanh(net(torch.randn(2, 3)) + state)
            out.square().mean().backward()
            state.data = out.data
        """,
    "what data changes, no version counts": """
        import torch
        N = 6
        net = torch.nn.Linear(3, 3)
        for i in range(N):
            out = torch.tanh(net(torch.randn(2, 3)))
            out.data.mul_(0.5)
            out.sum().backward()
        """,
    "the same change without data": """
        import torch
        net = torch.nn.Linear(3, 3)
        out = torch.tanh(net(torch.randn(2, 3)))
        loss = out.sum()  # error: LG104
        with torch.no_grad():
            out.mul_(0.5)
        loss.backward()
        """,
    "a dict of detached values that a comprehension makes": """
        import torch
        N = 6
        net = torch.nn.Linear(3, 1)
        history = []
        for i in range(N):
            losses = {"a": net(torch.randn(2, 3)).square().mean(), "b": net(torch.randn(2, 3)).abs().mean()}
            sum(losses.values()).backward()
            history.append({k: v.detach() for k, v in losses.items()})
        """,
    "a dict of values that a comprehension copies": """
        import torch
        N = 6
        net = torch.nn.Linear(3, 1)
        history = []
        for i in range(N):
            losses = {"a": net(torch.randn(2, 3)).square().mean(), "b": net(torch.randn(2, 3)).abs().mean()}
            sum(losses.values()).backward()
            history.append({k: v.clone() for k, v in losses.items()})  # warning: LG201
        """,
    "a dropped detach, and one that a statement needs": """
        import torch
        N = 6
        net = torch.nn.Linear(3, 3)
        state = torch.zeros(2, 3)
        for i in range(N):
            state = torch.tanh(net(torch.randn(2, 3)) + state)  # error: LG101
            state.square().mean().backward()
            state.detach()  # warning: LG402
        """,
}


@pytest.mark.parametrize("name", DATA)
def test_data_and_statements(name: str) -> None:
    judge(DATA[name])
