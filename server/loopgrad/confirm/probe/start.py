"""The file that the user's interpreter is started with: ``python start.py JOB CHANNEL``.

Both arguments are inherited descriptors. This file undoes what its own start has changed (``sys.path[0]``,
``sys.argv``), so that the script finds what it would find if Python had been given the script itself.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import signal
import sys

PACKAGE = "_loopgrad_probe"


def die_with(parent: int) -> None:
    """Linux: this process gets SIGKILL when its parent ends, however that ends (``man 2 prctl``)."""
    if not sys.platform.startswith("linux"):
        return
    try:
        import ctypes

        ctypes.CDLL(None, use_errno=True).prctl(1, int(signal.SIGKILL), 0, 0, 0)  # PR_SET_PDEATHSIG
    except (ImportError, OSError, AttributeError):
        return
    if parent and os.getppid() != parent:  # it had gone before the call
        os._exit(1)


def main() -> None:
    if hasattr(signal, "SIGTERM"):
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    job_fd, channel_fd = int(sys.argv[1]), int(sys.argv[2])
    with os.fdopen(job_fd, "rb") as file:
        data = json.loads(file.read())
    die_with(int(data["parent"]))
    os.set_inheritable(channel_fd, False)
    folder = os.path.dirname(os.path.abspath(__file__))
    if not getattr(sys.flags, "safe_path", False):
        del sys.path[0]
    spec = importlib.util.spec_from_file_location(
        PACKAGE, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    if spec is None or spec.loader is None:
        raise ImportError(folder)
    package = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = package
    spec.loader.exec_module(package)
    runner = importlib.import_module(f"{PACKAGE}.runner")
    sys.exit(runner.run(data, channel_fd))


if __name__ == "__main__":
    main()
