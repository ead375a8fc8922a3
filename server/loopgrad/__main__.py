"""``python -m loopgrad``."""

import sys

# `python -m` puts the folder it is called in first: a user's own `queue.py` must not stand in for Python's.
if sys.path and not getattr(sys.flags, "safe_path", False):
    del sys.path[0]

from loopgrad.cli import main

if __name__ == "__main__":
    sys.exit(main())
