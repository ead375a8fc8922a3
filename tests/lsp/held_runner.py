"""Runs scripts under real PyTorch and notes, for each line, whether the variables in sight carry a graph.

    python held_runner.py OUTPUT FILE ...

Each script runs in a fork of its own. OUTPUT gets one JSON object: by file, by line, by name, what the variable
was at the first visits of the line (just before it ran): true with a ``grad_fn``, false without, null for what
is no tensor.
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import sys
import tempfile
from types import FrameType
from typing import Any

import torch

VISITS = 3
SECONDS = 20


def note(path: str) -> dict[int, dict[str, list[bool | None]]]:
    seen: dict[int, dict[str, list[bool | None]]] = {}
    visits_of: dict[int, int] = {}

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        if frame.f_code.co_filename != path:
            return None
        visits_of[frame.f_lineno] = visits_of.get(frame.f_lineno, 0) + (event == "line")
        if event == "line" and visits_of[frame.f_lineno] <= VISITS:
            names = seen.setdefault(frame.f_lineno, {})
            for name, value in {**frame.f_globals, **frame.f_locals}.items():
                visits = names.setdefault(name, [])
                visits.append(value.grad_fn is not None if isinstance(value, torch.Tensor) else None)
        return trace

    sys.settrace(trace)
    try:
        runpy.run_path(path, run_name="__main__")
    except BaseException as error:  # whatever the script does, what was seen until then counts
        print(f"{path}: {type(error).__name__}", file=sys.stderr)
    finally:
        sys.settrace(None)
    return seen


def main() -> None:
    torch.set_num_threads(1)
    output, *paths = sys.argv[1:]
    found: dict[str, Any] = {}
    for path in paths:
        with tempfile.NamedTemporaryFile("r") as result:
            child = os.fork()
            if child == 0:
                signal.alarm(SECONDS)
                os.chdir(tempfile.gettempdir())
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                sys.argv = [path]
                seen = note(path)
                with open(result.name, "w") as file:
                    json.dump(seen, file)
                os._exit(0)
            os.waitpid(child, 0)
            text = result.read()
            found[path] = json.loads(text) if text else {}
    with open(output, "w") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main()
