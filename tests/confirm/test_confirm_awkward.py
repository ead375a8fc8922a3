"""Scripts that do not want to be run: the right verdict each, and nothing left behind.

That no process and no temporary file is left is checked by the fixture ``confirm`` after each test.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Confirm

Write = Callable[..., Path]

LOOP = """
import torch
net = torch.nn.Linear(3, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
h = torch.zeros(2, 3)
for i in range({n}):
    h = net(torch.randn(2, 3) + h{cut}).tanh()
    opt.zero_grad()
    h.sum().backward()
    opt.step()
"""
BUG = LOOP.format(n=1000, cut="")
RIGHT = LOOP.format(n=1000, cut=".detach()")
SHORT = LOOP.format(n=4, cut=".detach()")


def confirmed(document: dict) -> bool:
    return (document["verdict"], document["outcome"], document["iteration"]) == (
        "confirmed",
        "second-backward",
        2,
    )


def test_bug_and_right(confirm: Confirm, write: Write) -> None:
    document = confirm(write(BUG))
    assert confirmed(document) and confirm.status == 1
    assert document["carriers"][0] == {
        "name": "h",
        "stored_at": {"path": document["raised_at"]["path"], "line": 7},
    }
    document = confirm(write(RIGHT), "--steps", "5")
    assert (document["verdict"], document["steps"], confirm.status) == ("clean", 5, 0)
    assert len(document["graph_nodes"]) == 5


def test_argparse(confirm: Confirm, write: Write) -> None:
    head = (
        "import argparse\np = argparse.ArgumentParser(); p.add_argument('--lr', type=float, required=True)\n"
    )
    script = write(head + "args = p.parse_args()\nassert args.lr == 0.5\n" + BUG)
    document = confirm(script)
    assert (document["verdict"], confirm.status) == ("inconclusive", 3)
    assert "status 2" in document["reason"]
    assert confirmed(confirm(script, "--", "--lr", "0.5"))


def test_sys_exit(confirm: Confirm, write: Write) -> None:
    assert confirm(write(SHORT + "\nimport sys\nsys.exit(0)\n"))["verdict"] == "clean"
    document = confirm(write("import sys\nsys.exit('no data')\n" + BUG))
    assert document["verdict"] == "inconclusive" and "before any backward" in document["reason"]
    document = confirm(write("raise SystemExit\n" + BUG))
    assert document["verdict"] == "inconclusive" and "no backward" in document["reason"]


def test_input(confirm: Confirm, write: Write) -> None:
    document = confirm(write("x = input('go? ')\n" + BUG))
    assert document["verdict"] == "inconclusive" and "asks for input" in document["reason"]


def test_os_exit(confirm: Confirm, write: Write) -> None:
    assert confirm(write(SHORT + "\nimport os\nos._exit(0)\n"))["verdict"] == "clean"
    assert confirm(write("import os\nos._exit(0)\n" + BUG))["verdict"] == "inconclusive"


def test_segmentation_fault(confirm: Confirm, write: Write) -> None:
    document = confirm(write(SHORT + "\nimport os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n"))
    assert document["verdict"] == "inconclusive" and "SIGSEGV" in document["reason"]


def test_infinite_loop_before_training(confirm: Confirm, write: Write) -> None:
    document = confirm(write("while True:\n    pass\n" + BUG), "--timeout", "5")
    assert document["verdict"] == "inconclusive"
    assert "ended after 5 seconds, before any backward" in document["reason"]


def test_hang_that_ignores_term(confirm: Confirm, write: Write) -> None:
    script = write(
        "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(100)\n" + BUG
    )
    started = time.monotonic()
    assert confirm(script, "--timeout", "3")["verdict"] == "inconclusive"
    assert time.monotonic() - started < 15


def test_flood(confirm: Confirm, write: Write) -> None:
    document = confirm(write("while True:\n    print('x' * 100_000)\n" + BUG))
    assert document["verdict"] == "inconclusive" and "printed too much" in document["reason"]
    assert len(confirm.stderr) < 10 << 20


def test_much_output_is_no_flood(confirm: Confirm, write: Write) -> None:
    assert confirmed(confirm(write("for _ in range(40):\n    print('x' * 1_000_000)\n" + BUG)))


@pytest.mark.parametrize("kind", ["fork", "spawn"])
def test_workers(confirm: Confirm, write: Write, kind: str) -> None:
    script = write(f"""
        import torch
        from torch.utils.data import DataLoader, Dataset

        class Rows(Dataset):
            def __len__(self):
                return 400
            def __getitem__(self, i):
                for _ in range(2):
                    pass
                return torch.randn(3)

        def main():
            net = torch.nn.Linear(3, 3)
            opt = torch.optim.SGD(net.parameters(), lr=0.1)
            h = torch.zeros(2, 3)
            for x in DataLoader(Rows(), batch_size=2, num_workers=2, multiprocessing_context="{kind}"):
                h = net(x + h).tanh()
                opt.zero_grad()
                h.sum().backward()
                opt.step()

        if __name__ == "__main__":
            main()
        """)
    assert confirmed(confirm(script))


def test_workers_of_a_run_that_is_stopped(confirm: Confirm, write: Write) -> None:
    head = "import multiprocessing, subprocess, sys, time\n"
    workers = "p = multiprocessing.get_context('fork').Process(target=time.sleep, args=(100,)); p.start()\n"
    away = (
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(100)'], start_new_session=True)\n"
    )
    assert confirm(write(head + workers + away + RIGHT))["verdict"] == "clean"


def test_training_in_children_is_not_clean(confirm: Confirm, write: Write) -> None:
    body = "\n".join("    " + line for line in BUG.splitlines())
    script = write(
        "import multiprocessing\ndef main():\n" + body + "\nif __name__ == '__main__':\n"
        "    p = multiprocessing.get_context('fork').Process(target=main)\n    p.start(); p.join()\n"
    )
    document = confirm(script)
    assert document["verdict"] == "inconclusive" and "no backward" in document["reason"]


def test_training_in_a_thread(confirm: Confirm, write: Write) -> None:
    body = "\n".join("    " + line for line in SHORT.splitlines())
    script = write("import threading\ndef main():\n" + body + "\nthreading.Thread(target=main).start()\n")
    assert confirm(script)["verdict"] == "clean"


def test_keyboard_interrupt(confirm: Confirm, write: Write) -> None:
    document = confirm(write(SHORT + "\nraise KeyboardInterrupt\n"))
    assert document["verdict"] == "inconclusive" and "KeyboardInterrupt" in document["reason"]


def test_missing_file_and_package(confirm: Confirm, write: Write) -> None:
    document = confirm(write("open('train.csv')\n" + BUG))
    assert document["verdict"] == "inconclusive" and "train.csv" in document["reason"]
    document = confirm(write("import not_a_package_anywhere\n" + BUG))
    assert document["verdict"] == "inconclusive" and "not installed" in document["reason"]


def test_syntax_error(confirm: Confirm, write: Write) -> None:
    document = confirm(write("def f(:\n"))
    assert document["verdict"] == "inconclusive" and "SyntaxError" in document["reason"]


def test_unwritable_folder(confirm: Confirm, write: Write) -> None:
    script = write(BUG)
    script.parent.chmod(0o555)
    try:
        if os.access(script.parent, os.W_OK):
            pytest.skip("this user may write everywhere")
        assert confirmed(confirm(script))
    finally:
        script.parent.chmod(0o755)


def test_write_into_an_unwritable_place(confirm: Confirm, write: Write) -> None:
    document = confirm(write("open('/proc/nothing', 'w')\n" + BUG))
    assert document["verdict"] == "inconclusive"


def test_nested_packages(confirm: Confirm, write: Write) -> None:
    for name in ("one/__init__.py", "one/two/__init__.py", "one/two/three/__init__.py"):
        write("", name)
    write("def cut(h):\n    return h\n", "one/two/tools.py")
    body = BUG.replace("+ h)", "+ cut(h))")
    write("from ..tools import cut\nassert __package__ == 'one.two.three'\n" + body, "one/two/three/train.py")
    folder = write("", "here.txt").parent
    document = confirm("one.two.three.train", "-m", cwd=folder)
    assert confirmed(document), document["reason"]
    assert document["raised_at"] == {"path": os.path.join("one", "two", "three", "train.py"), "line": 11}


def test_caught_exception_is_none(confirm: Confirm, write: Write) -> None:
    text = BUG.replace(
        "    h.sum().backward()",
        "    try:\n        h.sum().backward()\n    except RuntimeError:\n        h = h.detach()",
    )
    assert confirm(write(text))["verdict"] == "clean"


def test_implicit_loop(confirm: Confirm, write: Write) -> None:
    """A loop inside a library: the script only brings the step."""
    library = write(
        "def fit(step):\n    for _ in range(1000):\n        step()\n", "lib/site-packages/library.py"
    )
    script = write(f"""
        import sys
        sys.path.append({str(library.parent)!r})
        import torch, library
        net = torch.nn.Linear(3, 3)
        state = {{"h": torch.zeros(2, 3)}}
        def step():
            state["h"] = net(state["h"] CUT).tanh()
            state["h"].sum().backward()
        library.fit(step)
        """)
    text = script.read_text()
    script.write_text(text.replace(" CUT", ""))
    document = confirm(script)
    assert (document["outcome"], document["iteration"], document["loop_line"]) == ("second-backward", 2, None)
    assert document["carriers"][0]["name"] == "state['h']"
    script.write_text(text.replace(" CUT", ".detach()"))
    document = confirm(script)
    assert document["verdict"] == "clean" and document["steps"] <= 9


def test_first_write_and_scratch_copy(confirm: Confirm, write: Write) -> None:
    script = write("open('log.txt', 'w').write('x')\n" + BUG)
    document = confirm(script, "--scratch-copy")
    assert confirmed(document)
    assert document["raised_at"]["path"] == str(script)
    assert not (script.parent / "log.txt").exists()
    document = confirm(script)
    assert document["first_write"]["path"].endswith("log.txt") and document["first_write"]["at"]["line"] == 1


def test_temporary_folder_of_the_script(confirm: Confirm, write: Write) -> None:
    assert (
        confirm(write("import tempfile\nd = tempfile.TemporaryDirectory()\n" + RIGHT))["verdict"] == "clean"
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_cancel(confirm: Confirm, write: Write, number: signal.Signals) -> None:
    process = confirm.start(write("import time\nprint('here', flush=True)\ntime.sleep(100)\n"))
    assert process.stderr is not None
    process.stderr.readline()
    process.send_signal(number)
    process.communicate(timeout=20)
    assert process.returncode == 130


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="PR_SET_PDEATHSIG")
def test_host_killed(confirm: Confirm, write: Write) -> None:
    process = confirm.start(write("import time\nprint('here', flush=True)\ntime.sleep(100)\n"))
    assert process.stderr is not None
    process.stderr.readline()
    process.kill()
    process.communicate(timeout=20)
    deadline = time.monotonic() + 5
    while confirm.left() and time.monotonic() < deadline:
        time.sleep(0.05)


@pytest.mark.parametrize("cut, outcome", [("", "second-backward"), (".detach()", None)])
def test_closures_of_an_optimizer(confirm: Confirm, write: Write, cut: str, outcome: str | None) -> None:
    """LBFGS calls its closure many times in one step: they are no iterations of training."""
    script = write(f"""
        import torch
        net = torch.nn.Linear(3, 3)
        opt = torch.optim.LBFGS(net.parameters(), max_iter=5)
        x = torch.randn(8, 3)
        outside = (net(x) * 2){cut}

        def closure():
            opt.zero_grad()
            loss = (net(x) - outside - 1).pow(2).mean()
            loss.backward()
            return loss

        for i in range(6):
            opt.step(closure)
        """)
    document = confirm(script)
    assert document["outcome"] == outcome, document["reason"]
    if outcome is None:
        assert (document["verdict"], document["steps"]) == ("clean", 6)
    else:  # in the first step, by the closure's second call
        assert document["iteration"] == 1 and document["carriers"][0]["name"] == "outside"


def test_a_sampler_takes_gradients_and_trains_nothing(confirm: Confirm, write: Write) -> None:
    """The chain of a sampler's few steps goes with the next sample, though each step asks for a gradient."""
    script = write("""
        import torch

        energy = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.SiLU(), torch.nn.Linear(8, 1))
        optimizer = torch.optim.Adam(energy.parameters())
        for i in range(9):
            x = torch.randn(4, 2).requires_grad_(True)
            for step in range(5):
                (grad,) = torch.autograd.grad(energy(x).sum(), x)
                x = x - 0.1 * grad
            loss = energy(x.detach()).mean() - energy(torch.randn(4, 2)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """)
    document = confirm(script)
    assert (document["verdict"], document["outcome"]) == ("clean", None), document["reason"]


def test_a_loop_within_a_library_that_steps_by_closures(confirm: Confirm, write: Write) -> None:
    """As Lightning's: each step of the optimizer runs the user's training step in a closure."""
    library = write(
        "def fit(step, optimizer):\n    for _ in range(1000):\n        optimizer.step(step)\n",
        "lib/site-packages/library.py",
    )
    text = f"""
        import sys
        sys.path.append({str(library.parent)!r})
        import torch, library
        net = torch.nn.Linear(3, 3)
        state = {{"h": torch.zeros(2, 3)}}
        def step():
            state["h"] = net(state["h"] CUT).tanh()
            loss = state["h"].sum()
            loss.backward()
            return loss
        library.fit(step, torch.optim.SGD(net.parameters(), lr=0.1))
        """
    document = confirm(write(text.replace(" CUT", "")))
    assert (document["outcome"], document["iteration"]) == ("second-backward", 2)
    document = confirm(write(text.replace(" CUT", ".detach()")))
    assert document["verdict"] == "clean" and document["steps"] <= 9


def test_a_hundred_megabytes(confirm: Confirm, write: Write) -> None:
    """More than is shown, and then more than is waited for: either way the reader is spared."""
    document = confirm(
        write("for _ in range(100):\n    print('x' * 1_000_000)\n" + "import time\ntime.sleep(30)\n")
    )
    assert document["verdict"] == "inconclusive" and "printed too much" in document["reason"]
    assert len(confirm.stderr) < 10 << 20


@pytest.mark.parametrize("statement", ["raise MemoryError", "import torch\ntorch.empty(1 << 50)"])
def test_memory_runs_out(confirm: Confirm, write: Write, statement: str) -> None:
    document = confirm(write(statement + "\n" + BUG))
    assert document["verdict"] == "inconclusive" and "memory ran out" in document["reason"]


def test_killed_from_outside(confirm: Confirm, write: Write) -> None:
    """As the kernel does where memory is short."""
    document = confirm(write("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n" + BUG))
    assert document["verdict"] == "inconclusive" and "SIGKILL" in document["reason"]


def test_reasons_in_chinese(confirm: Confirm, write: Write) -> None:
    document = confirm(write("open('train.csv')\n" + BUG), "--language", "zh-cn")
    assert document["verdict"] == "inconclusive" and "train.csv" in document["reason"]
    assert "is missing" not in document["reason"] and not document["reason"].isascii()


def test_an_old_graph_walked_again_in_silence(confirm: Confirm, write: Write) -> None:
    """Additions save nothing: no exception, and the gradients of a parameter that has changed since."""
    script = write("""
        import torch
        w = torch.nn.Parameter(torch.ones(3))
        opt = torch.optim.SGD([w], lr=0.1)
        shifted = w + 1
        for i in range(20):
            opt.zero_grad()
            (shifted + i).sum().backward()
            opt.step()
        """)
    document = confirm(script)
    assert (document["verdict"], document["outcome"], document["iteration"]) == ("confirmed", "silent", 2)
    assert document["carriers"][0]["name"] == "shifted" and document["built_at"]["line"] == 5


def test_an_optimizer_without_gradients(confirm: Confirm, write: Write) -> None:
    script = write("""
        import torch
        body, head = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
        first = torch.optim.SGD(body.parameters(), lr=0.1)
        second = torch.optim.SGD(head.parameters(), lr=0.1)
        for i in range(20):
            head(body(torch.randn(2, 3)).detach()).sum().backward()
            first.step()
            second.step()
        """)
    document = confirm(script)
    assert (document["verdict"], document["outcome"]) == ("confirmed", "not-trained")
    assert "body.weight" in document["reason"] and "head" not in document["reason"]


def test_windows_and_trackers_are_off_by_default(confirm: Confirm, write: Write) -> None:
    script = write("import os\nprint('has', os.environ['MPLBACKEND'], os.environ['WANDB_MODE'])\n" + BUG)
    confirm(script)
    assert "has Agg disabled" in confirm.stderr
    confirm(script, MPLBACKEND="svg", WANDB_MODE="offline")
    assert "has svg offline" in confirm.stderr


def test_checkpoint_is_a_write(confirm: Confirm, write: Write) -> None:
    """torch.save writes in C++, beside Python's own files."""
    script = write("import torch\ntorch.save({'a': torch.ones(1)}, 'model.pt')\n" + BUG)
    document = confirm(script)
    assert document["first_write"]["path"].endswith("model.pt")
    assert document["first_write"]["at"]["line"] == 2
