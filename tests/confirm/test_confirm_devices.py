"""Accelerators that are not here, ranks, compiled regions and shapes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from .conftest import Confirm

Write = Callable[..., Path]

no_gpu = pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is here")
gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU is here")

CUDA = """
import torch
from torch.utils.data import DataLoader
CHECK
device = torch.device("cuda:0")
net = torch.nn.Linear(3, 3).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
h = torch.zeros(2, 3, device="cuda")
for x in DataLoader(torch.randn(40, 3), batch_size=2, pin_memory=True):
    with torch.autocast("cuda"):
        h = net(x.to(device, non_blocking=True) + hCUT).tanh()
        loss = h.float().sum()
    opt.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()
    torch.cuda.synchronize()
"""


@no_gpu
@pytest.mark.parametrize("check", ["", "assert torch.cuda.is_available(), 'needs a GPU'"])
@pytest.mark.parametrize("cut, outcome", [("", "second-backward"), (".detach()", None)])
def test_redirection(confirm: Confirm, write: Write, check: str, cut: str, outcome: str | None) -> None:
    document = confirm(write(CUDA.replace("CHECK", check).replace("CUT", cut)))
    assert document["outcome"] == outcome, document["reason"]
    assert document["redirected"] and document["device"] == "cpu"


@gpu
@pytest.mark.parametrize("option", ["auto", "cuda", "cuda:0", "cpu"])
@pytest.mark.parametrize("cut, outcome", [("", "second-backward"), (".detach()", None)])
def test_on_a_gpu(confirm: Confirm, write: Write, option: str, cut: str, outcome: str | None) -> None:
    document = confirm(write(CUDA.replace("CHECK", "").replace("CUT", cut)), "--device", option, "--with-fix")
    assert document["outcome"] == outcome, document["reason"]
    assert document["iteration"] == (2 if outcome else None)
    assert document["redirected"] == (option == "cpu")
    assert document["device"].startswith("cpu" if option == "cpu" else "cuda")
    if outcome:
        assert {"h"} == {carrier["name"] for carrier in document["carriers"]}
        assert document["fixed"]["proven"]


@no_gpu
def test_no_device(confirm: Confirm, write: Write) -> None:
    document = confirm(write(CUDA), "--device", "cuda:0")
    assert (document["verdict"], confirm.status) == ("inconclusive", 3)
    assert "cuda:0" in document["reason"]


@pytest.mark.parametrize("cut, outcome", [("", "second-backward"), (".detach()", None)])
def test_ranks(confirm: Confirm, write: Write, cut: str, outcome: str | None) -> None:
    script = write(f"""
        import torch, torch.distributed as dist
        from torch.nn.parallel import DistributedDataParallel as DDP
        dist.init_process_group("gloo")
        assert dist.get_world_size() == 2
        net = DDP(torch.nn.Linear(3, 3))
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        h = torch.zeros(2, 3)
        for i in range(100):
            h = net(torch.randn(2, 3) + h{cut}).tanh()
            opt.zero_grad()
            h.sum().backward()
            opt.step()
        """)
    document = confirm(script, "--nproc", "2")
    assert document["outcome"] == outcome, document["reason"]


@pytest.mark.parametrize("cut, outcome", [("", "second-backward"), (".detach()", None)])
def test_compiled(confirm: Confirm, write: Write, cut: str, outcome: str | None) -> None:
    """The injected calls vanish in a compiled region: with fullgraph, anything left would raise."""
    script = write(f"""
        import torch
        net = torch.nn.Linear(3, 3)
        def step(x, h):
            for k in range(2):
                x = net(x + h)
            return x
        compiled = torch.compile(step, backend="aot_eager", fullgraph=True)
        h = torch.zeros(2, 3)
        for i in range(50):
            y = compiled(torch.randn(2, 3), h)
            y.sum().backward()
            h = y{cut}
        """)
    document = confirm(script)
    assert document["outcome"] == outcome, document["reason"]
    assert document["verdict"] in ("confirmed", "clean")


def test_large_model_by_shapes(confirm: Confirm, write: Write) -> None:
    """1.2 billion parameters with a carried memory, in seconds and without the memory for them."""
    script = write("""
        import resource
        import torch
        layer = torch.nn.TransformerEncoderLayer(2048, 16, 8192, batch_first=True)
        net = torch.nn.TransformerEncoder(layer, 24)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        memory = torch.zeros(1, 64, 2048)
        for i in range(10):
            memory = net(torch.randn(1, 64, 2048) + memory)
            opt.zero_grad()
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
            memory.mean().backward()
            opt.step()
        """)
    document = confirm(script, "--shape-only")
    assert (document["outcome"], document["iteration"], document["shape_only"]) == (
        "second-backward",
        2,
        True,
    )
    assert document["seconds"] < 30
    assert max(int(line) for line in confirm.stderr.split() if line.isdigit()) < 1 << 20


@pytest.mark.parametrize("test", ["loss > 3", "loss.item() < best"])
def test_branch_on_data_by_shapes(confirm: Confirm, write: Write, test: str) -> None:
    script = write(f"""
        import torch
        net = torch.nn.Linear(3, 3)
        best = 1e9
        for i in range(10):
            loss = net(torch.randn(2, 3)).sum()
            loss.backward()
            if {test}:
                best = 0
        """)
    assert confirm(script)["verdict"] == "clean"
    document = confirm(script, "--shape-only")
    assert document["verdict"] == "inconclusive" and "depends on data" in document["reason"]
