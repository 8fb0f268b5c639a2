"""``python -m permtest`` is the command `permtest`."""

from permtest.cli import main

raise SystemExit(main())
