"""``python -m permtest`` is the command `permtest`."""

import sys

from permtest.cli import main

if __name__ == "__main__":
    sys.exit(main())
