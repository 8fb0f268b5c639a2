"""What `dev.py lab` starts: `permtest lab`, of this checkout."""

import sys

from permtest.cli import main

if __name__ == "__main__":
    sys.exit(main(["lab", *sys.argv[1:]]))
