"""Run every block of a page under the real packages: one JSON line a block.

    python -m tests.frameworks.run_page PAGE.md

It is started with an interpreter that has the packages (see ``test_frameworks.py``), so it needs the standard
library and torch alone. The packages are imported once; each block runs in a fork.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

from tests.pages.parse import parse
from tests.torch_runner.run_block import Report, observe, preload

#: What the blocks of a page need, by the page's name; a page that is not named needs torch alone.
PACKAGES = {
    "accelerate": ("accelerate",),
    "apex": ("apex",),
    "deepspeed": ("deepspeed",),
    "fabric": ("lightning",),
    "higher": ("higher",),
    "ignite": ("ignite",),
    "learn2learn": ("learn2learn",),
    "lightning": ("lightning",),
    "norse": ("norse",),
    "opacus": ("opacus",),
    "pyg": ("torch_geometric",),
    "pyro": ("pyro",),
    "replay": ("torchrl", "stable_baselines3"),
    "snntorch": ("snntorch",),
    "spikingjelly": ("spikingjelly.activation_based",),
    "torchmetrics": ("torchmetrics",),
    "transformers": ("transformers",),
}


def main(path: str) -> int:
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    page = parse(Path(path))
    missing = []
    for name in PACKAGES.get(page.path.stem, ()):
        try:
            importlib.import_module(name)
        except ImportError as error:
            missing.append(f"{name}: {error}")
    preload()
    for block in page.blocks:
        if missing:
            report = Report(outcome="error", error="not installed: " + "; ".join(missing))
        elif "no-run" in block.options:
            report = Report(outcome="error", error="not run: " + block.options["no-run"])
        else:
            report = observe(
                f"{block.code}{block.options.get('driver', '')}\n",
                steps=block.options.get("steps"),
                timeout=120,
            )
        print(json.dumps(asdict(report)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
