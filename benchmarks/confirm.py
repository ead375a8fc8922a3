"""What ``loopgrad confirm`` costs, as ratios within one run. Nothing here passes or fails: read the figures.

    python benchmarks/confirm.py [warm] [overhead] [large]      default: all three

* ``warm``: a second confirm of example 2 against the first (the first starts the warm server), as a user
  waits for them, over a few rounds; and against a plain run of the script.
* ``overhead``: CPU time of an iteration of training under the probe against the plain script, by feature; last
  the second pass, which runs only where something was seen.
  One thread, the best of a few runs, since a loaded machine only ever adds.
* ``large``: a transformer of more than a billion parameters with a carried memory, ``--shape-only``: seconds and
  the largest resident memory of any process of the run.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "admm_denoiser.py"
ROUNDS = 3
#: One run on a quiet moment decides the best of a few: more of them for what is told to a hundredth.
OVERHEAD_ROUNDS = 6

TIMED = """
    if i == 9:
        import time
        start = time.process_time()
    if i == 49:
        print("TIME", (time.process_time() - start) / 40, flush=True)
"""

MODELS = {
    "small CNN": """
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(
    nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 16 * 16, 10),
)
opt = torch.optim.Adam(net.parameters())
x, y = torch.randn(32, 3, 32, 32), torch.randint(0, 10, (32,))
running = 0.0
for i in range(60):
    out = net(x)
    loss = nn.functional.cross_entropy(out, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    running += loss.item()
""",
    "LSTM": """
import torch
from torch import nn
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.out = nn.Embedding(100, 64), nn.Linear(128, 100)
        self.lstm = nn.LSTM(64, 128, batch_first=True)
    def forward(self, x, state):
        hidden, state = self.lstm(self.embedding(x), state)
        return self.out(hidden), state
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randint(0, 100, (16, 32))
state = None
for i in range(60):
    if state is not None:
        state = tuple(value.detach() for value in state)
    out, state = net(x, state)
    loss = nn.functional.cross_entropy(out.flatten(0, 1), x.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "LSTMCell unrolled": """
import torch
from torch import nn
torch.manual_seed(0)
cell, out = nn.LSTMCell(32, 64), nn.Linear(64, 32)
opt = torch.optim.SGD([*cell.parameters(), *out.parameters()], lr=0.1)
x = torch.randn(24, 16, 32)
for i in range(60):
    h, c, loss = torch.zeros(16, 64), torch.zeros(16, 64), 0.0
    for t in range(23):
        h, c = cell(x[t], (h, c))
        loss = loss + (out(h) - x[t + 1]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
}

#: What each column adds to the one before it.
FEATURES = ("training", "marks", "growth", "names")

LARGE = """
import torch
layer = torch.nn.TransformerEncoderLayer(2048, 16, 8192, batch_first=True)
net = torch.nn.TransformerEncoder(layer, 24)
print(sum(p.numel() for p in net.parameters()), "parameters")
opt = torch.optim.SGD(net.parameters(), lr=0.1)
memory = torch.zeros(1, 64, 2048)
for i in range(10):
    memory = net(torch.randn(1, 64, 2048) + memory)
    opt.zero_grad()
    memory.mean().backward()
    opt.step()
"""


def confirm(script: Path, *options: str) -> tuple[float, dict]:
    """Seconds that a user waits, and the document."""
    command = [sys.executable, "-m", "loopgrad", "confirm", str(script), "--output-format", "json"]
    start = time.perf_counter()
    done = subprocess.run([*command, "--python", sys.executable, *options], capture_output=True, check=False)
    return time.perf_counter() - start, json.loads(done.stdout)


def warm() -> None:
    firsts, seconds, plains = [], [], []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, check=False)
        plains.append(time.perf_counter() - start)
        # A server of its own for each round: it ends with this process.
        editor = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        options = ("--parent-pid", str(editor.pid))
        for times in (firsts, seconds):
            waited, document = confirm(EXAMPLE, *options)
            if (document["outcome"], document["warm"]) != ("second-backward", True):
                sys.exit(f"not the run that is measured: {document['reason']}")
            times.append(waited)
        editor.communicate(b"\n")
    print("warm: confirm of example 2, ratios to the first confirm of the same round")
    for first, second, plain in zip(firsts, seconds, plains):
        print(f"  second {second / first:5.2f}   plain python {plain / first:5.2f}   (first {first:.2f} s)")


def plain(script: Path) -> float:
    done = subprocess.run([sys.executable, str(script)], capture_output=True, check=True)
    return float(done.stdout.split()[1])


def probed(script: Path, without: tuple[str, ...], *, details: bool = False) -> float:
    from loopgrad.confirm.observe import Request, observe
    from loopgrad.confirm.warm import Warm

    warm = Warm(parent=os.getpid())
    with tempfile.TemporaryFile() as out:
        request = Request(str(script), steps=60, python=sys.executable, without=without, warm=warm)
        observe(replace(request, details=details), out=out)
        out.seek(0)
        return float(out.read().split()[1])


def overhead(folder: Path) -> None:
    from loopgrad.confirm.details import NOT_NEEDED

    os.environ["OMP_NUM_THREADS"] = "1"
    print("overhead: CPU time of an iteration, ratio to the plain script")
    print(f"  {'':18} {'walk':>9} " + " ".join(f"+{name:>9}" for name in FEATURES) + "  second pass")
    for name, text in MODELS.items():
        script = folder / "model.py"
        script.write_text(text + TIMED)
        columns = [FEATURES[count:] for count in range(len(FEATURES) + 1)]
        bests = [9e9] * (len(columns) + 2)
        for _ in range(OVERHEAD_ROUNDS):  # interleaved, so that load falls on all alike
            measured = [plain(script), *(probed(script, without) for without in columns)]
            measured.append(probed(script, NOT_NEEDED, details=True))
            bests = [min(pair) for pair in zip(bests, measured)]
        print(f"  {name:18} " + " ".join(f"{each / bests[0]:10.2f}" for each in bests[1:]), flush=True)


def large(folder: Path) -> None:
    script = folder / "large.py"
    script.write_text(LARGE)
    waited, document = confirm(script, "--shape-only")
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print("large: a transformer of 1.2 billion parameters, shapes only")
    print(
        f"  {document['verdict']}, {document['outcome']}, iteration {document['iteration']}: {waited:.1f} s, "
        f"at most {memory:.0f} MB in a process"
    )


def main() -> None:
    wanted = sys.argv[1:] or ["large", "warm", "overhead"]
    with tempfile.TemporaryDirectory() as folder:
        if "large" in wanted:  # first: the peak is of all children so far
            large(Path(folder))
        if "warm" in wanted:
            warm()
        if "overhead" in wanted:
            overhead(Path(folder))


if __name__ == "__main__":
    main()
