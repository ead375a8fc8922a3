"""``python -m loopgrad``."""

import sys

from loopgrad.cli import main

if __name__ == "__main__":
    sys.exit(main())
