"""Code of torch 0.1 to 0.4: understood, not stumbled over.

What today's PyTorch still runs, it judges. What it no longer runs stands beside its spelling of today: PyTorch
judges that one, and the analysis has to say the same of both.
"""

from __future__ import annotations

import warnings

import pytest

from loopgrad.source import SourceError, SourceFile
from tests.torch_runner.run_block import run_apart

from .judge import analysed, judge, marks, written

RUNS_TODAY = {
    "Variables around data, a state cut by data": """
        import torch
        from torch.autograd import Variable
        N = 6
        rnn = torch.nn.RNN(3, 4)
        hidden = Variable(torch.zeros(1, 2, 4))
        for i in range(N):
            data = Variable(torch.randn(5, 2, 3))
            hidden = Variable(hidden.data)
            out, hidden = rnn(data, hidden)
            out.pow(2).mean().backward()
        """,
    "Variables around data, a state that is carried": """
        import torch
        from torch.autograd import Variable
        N = 6
        rnn = torch.nn.RNN(3, 4)
        hidden = Variable(torch.zeros(1, 2, 4))
        for i in range(N):
            data = Variable(torch.randn(5, 2, 3))
            out, hidden = rnn(data, hidden)  # error: LG101
            out.pow(2).mean().backward()
        """,
    "repackage_hidden with isinstance of Variable": """
        import torch
        from torch.autograd import Variable
        N = 6
        lstm = torch.nn.LSTM(3, 4)

        def repackage_hidden(h):
            if isinstance(h, Variable):
                return Variable(h.data)
            else:
                return tuple(repackage_hidden(v) for v in h)

        hidden = (Variable(torch.zeros(1, 2, 4)), Variable(torch.zeros(1, 2, 4)))
        for i in range(N):
            hidden = repackage_hidden(hidden)
            out, hidden = lstm(Variable(torch.randn(5, 2, 3)), hidden)
            out.pow(2).mean().backward()
        """,
    "init_hidden with new and zero_": """
        import torch
        from torch.autograd import Variable
        N = 6

        class Model(torch.nn.Module):
            def __init__(self):
                super(Model, self).__init__()
                self.rnn = torch.nn.GRU(3, 4)

            def init_hidden(self, size):
                weight = next(self.parameters()).data
                return Variable(weight.new(1, size, 4).zero_())

            def forward(self, x, hidden):
                return self.rnn(x, hidden)

        model = Model()
        hidden = model.init_hidden(2)
        for i in range(N):
            out, hidden = model(Variable(torch.randn(5, 2, 3)), hidden)
            out.mean().backward()
            hidden = model.init_hidden(2)
        """,
    "volatile has no effect any more: the outputs keep their graphs": """
        import torch
        from torch.autograd import Variable
        N = 6
        net = torch.nn.Linear(3, 1)

        def evaluate():
            net.eval()
            outputs = []
            for i in range(N):
                data = Variable(torch.randn(2, 3), volatile=True)
                outputs.append(net(data))  # warning: LG203
            return outputs

        evaluate()
        """,
    "volatile, and what is stored is cut": """
        import torch
        from torch.autograd import Variable
        N = 6
        net = torch.nn.Linear(3, 1)
        net.eval()
        total = 0
        for i in range(N):
            data, target = Variable(torch.randn(2, 3), volatile=True), Variable(torch.randn(2, 1))
            output = net(data)
            total += torch.nn.functional.mse_loss(output, target, size_average=False).data
            pred = output.data.max(1, keepdim=True)[1]
            total += pred.eq(pred).sum()
        """,
    "losses with size_average and reduce, functions that have methods now": """
        import torch
        import torch.nn as nn
        import torch.nn.functional as F
        from torch.autograd import Variable
        N = 6
        net = nn.Linear(3, 3)
        criterion = nn.CrossEntropyLoss(size_average=False)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        total = 0.0
        for i in range(N):
            x, y = Variable(torch.randn(2, 3)), Variable(torch.LongTensor([0, 1]))
            out = F.tanh(net(F.sigmoid(x)))
            loss = criterion(out, y) + F.nll_loss(F.log_softmax(out), y, size_average=True)
            loss = loss + F.mse_loss(out, x, reduce=False).sum()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm(net.parameters(), 1.0)
            optimizer.step()
            total += loss.data
        """,
    "the same, and the losses are added up": """
        import torch
        import torch.nn.functional as F
        from torch.autograd import Variable
        N = 6
        net = torch.nn.Linear(3, 3)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        total = 0.0
        for i in range(N):
            x = Variable(torch.randn(2, 3))
            loss = F.mse_loss(F.sigmoid(net(x)), x, size_average=False)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm(net.parameters(), 1.0)
            optimizer.step()
            total += loss  # warning: LG201
        """,
    "clipped, initialised and updated through data": """
        import torch
        import torch.nn as nn
        from torch.autograd import Variable
        N = 6
        critic = nn.Linear(3, 1)
        nn.init.xavier_uniform(critic.weight)
        nn.init.constant(critic.bias, 0)
        one = torch.FloatTensor([1])
        mone = one * -1
        for i in range(N):
            for p in critic.parameters():
                p.requires_grad = True
                p.data.clamp_(-0.01, 0.01)
            real = critic(Variable(torch.randn(2, 3))).mean(0).view(1)
            real.backward(one)
            fake = critic(Variable(torch.randn(2, 3))).mean(0).view(1)
            fake.backward(mone)
            for p in critic.parameters():
                p.grad.data.clamp_(-1, 1)
                p.data.add_(-0.1, p.grad.data)
                p.grad.data.zero_()
        """,
    "a generator whose output is cut for the discriminator by data": """
        import torch
        from torch.autograd import Variable
        N = 6
        G, D = torch.nn.Linear(3, 3), torch.nn.Linear(3, 1)
        for i in range(N):
            fake = G(Variable(torch.randn(2, 3)))
            D(Variable(fake.data)).mean().backward()
            D(fake).mean().backward()
        """,
    "a generator whose output nobody cuts": """
        import torch
        from torch.autograd import Variable
        G, D = torch.nn.Linear(3, 3), torch.nn.Linear(3, 1)
        noise = Variable(torch.randn(2, 3))
        fake = torch.tanh(G(noise))
        D(fake).mean().backward()
        D(fake).mean().backward()  # error: LG103
        """,
    "a Variable that requires grad, and no optimizer": """
        import torch
        from torch.autograd import Variable
        N = 6
        w = Variable(torch.randn(3), requires_grad=True)
        for i in range(N):
            loss = (w * Variable(torch.randn(3))).pow(2).sum()
            loss.backward()
            w.data -= 0.1 * w.grad.data
            w.grad.data.zero_()
        """,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RUNS_TODAY)
def test_what_runs_today(name: str) -> None:
    judge(RUNS_TODAY[name])


#: A program, and what of it is spelled otherwise today.
RESPELLED: dict[str, tuple[dict[str, str], str]] = {
    "the loss as a number": (
        {"loss.data[0]": "loss.item()"},
        """
        import torch
        from torch.autograd import Variable
        N = 6
        net = torch.nn.Linear(3, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        total, history = 0, []
        for i in range(N):
            loss = net(Variable(torch.randn(2, 3))).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.data[0]
            history.append(loss.data[0])
            print('%d %.3f' % (i, loss.data[0]))
        """,
    ),
    "the loss as an item of an array": (
        {".cpu().numpy()[0]": ".cpu().item()"},
        """
        import torch
        from torch.autograd import Variable
        N = 6
        net = torch.nn.Linear(3, 1)
        losses = []
        for i in range(N):
            loss = net(Variable(torch.randn(2, 3))).pow(2).mean()
            loss.backward()
            losses.append(loss.data.cpu().numpy()[0])
        """,
    ),
    "a carry next to the loss as a number": (
        {"loss.data[0]": "loss.item()"},
        """
        import torch
        from torch.autograd import Variable
        N = 6
        rnn = torch.nn.RNN(3, 4)
        hidden = Variable(torch.zeros(1, 2, 4))
        total = 0
        for i in range(N):
            out, hidden = rnn(Variable(torch.randn(5, 2, 3)), hidden)  # error: LG101
            loss = out.pow(2).mean()
            total += loss.data[0]
            loss.backward()
        """,
    ),
    "the loss that is indexed, with its graph": (
        {"loss[0]": "loss.view(1)[0]"},
        """
        import torch
        from torch.autograd import Variable
        N = 6
        net = torch.nn.Linear(3, 1)
        total = 0
        for i in range(N):
            loss = net(Variable(torch.randn(2, 3))).pow(2).mean()
            loss.backward()
            total += loss[0]  # warning: LG201
        """,
    ),
    "repackage_hidden with the type of Variable": (
        {"type(h) == Variable": "isinstance(h, Variable)"},
        """
        import torch
        from torch.autograd import Variable
        N = 6
        lstm = torch.nn.LSTM(3, 4)

        def repackage_hidden(h):
            if type(h) == Variable:
                return Variable(h.data)
            else:
                return tuple(repackage_hidden(v) for v in h)

        hidden = (Variable(torch.zeros(1, 2, 4)), Variable(torch.zeros(1, 2, 4)))
        for i in range(N):
            hidden = repackage_hidden(hidden)
            out, hidden = lstm(Variable(torch.randn(5, 2, 3)), hidden)
            out.pow(2).mean().backward()
        """,
    ),
    "xrange, and next as a method": (
        {"xrange": "range", "batches.next()": "next(batches)"},
        """
        import torch
        from torch.autograd import Variable
        N = 6
        rnn = torch.nn.RNN(3, 4)
        batches = iter([torch.randn(5, 2, 3) for _ in range(N)])
        hidden = Variable(torch.zeros(1, 2, 4))
        for i in xrange(N):
            out, hidden = rnn(Variable(batches.next()), hidden)  # error: LG101
            out.pow(2).mean().backward()
        """,
    ),
    "the graph's creator": (
        {".creator": ".grad_fn"},
        """
        import torch
        from torch.autograd import Variable
        N = 6
        net = torch.nn.Linear(3, 1)
        for i in range(N):
            loss = net(Variable(torch.randn(2, 3))).pow(2).mean()
            print(loss.creator)
            loss.backward()
        """,
    ),
    "volatile set as an attribute": (
        {"data.volatile = True": "data.requires_grad = False"},
        """
        import torch
        from torch.autograd import Variable
        N = 6
        net = torch.nn.Linear(3, 1)
        for i in range(N):
            data = Variable(torch.randn(2, 3))
            data.volatile = True
            print(net(data).data)
        """,
    ),
}


@pytest.mark.parametrize("name", RESPELLED)
def test_what_is_spelled_otherwise_today(name: str) -> None:
    spellings, text = RESPELLED[name]
    old = written(text)
    today = old
    for before, after in spellings.items():
        assert before in today
        today = today.replace(before, after)
    judge(today)
    result = analysed(old)
    assert {(f.range.line, f.severity, f.code) for f in result.findings} == set(marks(old))
    assert not result.partial


def test_a_function_of_the_old_kind_is_not_known() -> None:
    """Its instances are called; PyTorch of today refuses them, so nothing is claimed about what they make."""
    result = analysed(
        written(
            """
            import torch
            from torch.autograd import Function, Variable

            class Double(Function):
                def forward(self, x):
                    self.save_for_backward(x)
                    return x * 2

                def backward(self, grad):
                    x, = self.saved_tensors
                    return grad * 2

            w = Variable(torch.randn(3), requires_grad=True)
            for i in range(3):
                Double()(w).sum().backward()
            """
        )
    )
    assert result.findings == []


def test_an_argument_that_is_no_more_ends_the_program() -> None:
    """``retain_variables`` raises a TypeError today, in the first backward: nothing is claimed of what follows."""
    text = written(
        """
        import torch
        from torch.autograd import Variable
        cell = torch.nn.GRUCell(3, 3)
        hidden = Variable(torch.zeros(2, 3))
        for i in range(4):
            hidden = cell(Variable(torch.randn(2, 3)), hidden)
            hidden.pow(2).mean().backward(retain_variables=True)
        """
    )
    report = run_apart(text)
    assert report.error is not None
    assert report.error.startswith("TypeError")
    assert analysed(text).findings == []


PYTHON_2 = {
    "print": ("import torch\nprint loss.data[0]\n", 2, "source.python2", "print x"),
    "print with a format": ("import torch\nprint 'loss %f' % loss.data[0]\n", 2, "source.python2", "print x"),
    "except with a comma": (
        "try:\n    pass\nexcept IOError, e:\n    pass\n",
        3,
        "source.python2",
        "except X, e",
    ),
    "raise with a comma": ("raise ValueError, 'x'\n", 1, "source.python2", "raise X, text"),
    "exec": ("exec 'x = 1'\n", 1, "source.python2", "exec code"),
    "not equal": ("if a <> b:\n    pass\n", 1, "source.python2", "a <> b"),
    "backticks": ("x = `y`\n", 1, "source.python2", "`x`"),
    "octal numbers": ("mode = 0755\n", 1, "source.python2", "0755"),
    "long numbers": ("n = 10L\n", 1, "source.python2", "10L"),
    "ur strings": ("s = ur'x'\n", 1, "source.python2", "ur'x'"),
    "async as an argument": ("x = x.cuda(async=True)\n", 1, "source.async", "async"),
    "async as an argument, further on": (
        "import torch\nx, y = x.cuda(0, async=True), y.cuda(async = True)\n",
        2,
        "source.async",
        "async",
    ),
    "async as a parameter": (
        "def cuda(self, device=None, async=False):\n    pass\n",
        1,
        "source.async",
        "async",
    ),
    "async over several lines": (
        "x = Variable(\n    x.cuda(\n        async=True))\n",
        3,
        "source.async",
        "async",
    ),
}


@pytest.mark.parametrize("name", PYTHON_2)
def test_code_that_python_3_cannot_read_is_named(name: str) -> None:
    text, line, key, construct = PYTHON_2[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(SyntaxError):
            compile(text, "old.py", "exec")
    with pytest.raises(SourceError) as caught:
        SourceFile("old.py", text).tree  # noqa: B018
    assert caught.value.message.key == key
    assert caught.value.line == line
    if key == "source.python2":
        assert dict(caught.value.message.args)["construct"] == construct
