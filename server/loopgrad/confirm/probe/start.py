"""The file that the user's interpreter is started with.

``python start.py JOB CHANNEL`` runs a script; both arguments are inherited descriptors (handles on Windows).
``python start.py serve SETTINGS READY`` becomes a warm server, see ``server.py``. This file undoes what its
own start has changed (``sys.path[0]``, ``sys.argv``), so that the script finds what it would find if Python
had been given the script itself.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import signal
import sys
from typing import Any

PACKAGE = "_loopgrad_probe"


def main() -> None:
    if hasattr(signal, "SIGTERM"):
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    words = sys.argv[1:]
    _load()
    if words[0] == "serve":
        served = _part("server").serve(int(words[1]), int(words[2]))
        if served is None:
            sys.exit(0)
        data, channel = served  # this is the process that a request has forked
    else:
        job, channel = _descriptor(words[0], os.O_RDONLY), _descriptor(words[1], os.O_WRONLY)
        data = read_job(job)
        _part("tree").die_with(int(data["parent"]))
    os.set_inheritable(channel, False)
    _part("runner").run(data, channel)


def read_job(descriptor: int) -> dict[str, Any]:
    with os.fdopen(descriptor, "rb") as file:
        data: dict[str, Any] = json.loads(file.read())
    return data


def _load() -> None:
    """The package of this file, under a name that no script imports."""
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


def _part(name: str) -> Any:
    return importlib.import_module(f"{PACKAGE}.{name}")


def _descriptor(word: str, flags: int) -> int:
    if os.name == "nt":
        import msvcrt

        system: Any = msvcrt
        return int(system.open_osfhandle(int(word), flags))
    return int(word)


if __name__ == "__main__":
    main()
