"""Python in processes of its own, with other surroundings."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

#: Seconds until a process that should need a few is taken to hang.
PATIENCE = 1200


def run(
    *arguments: str,
    env: Mapping[str, str] | None = None,
    options: tuple[str, ...] = (),
    root: Path = ROOT,
    **how: Any,
) -> subprocess.CompletedProcess[str]:
    """Run Python to its end: code of several lines, or what comes after ``python``.

    `env` is the whole environment but for PYTHONPATH, which is `root`; `options` are of Python.
    """
    given = dict(os.environ if env is None else env) | {"PYTHONPATH": str(root)}
    command = ["-c", *arguments] if "\n" in arguments[0] else list(arguments)
    how = {"cwd": ROOT, "capture_output": True, "text": True, "timeout": PATIENCE} | how
    return subprocess.run([sys.executable, *options, *command], env=given, check=False, **how)


def check(*arguments: str, **how: Any) -> str:
    """What it printed, if it ended well and printed no error."""
    done = run(*arguments, **how)
    assert (done.returncode, done.stderr) == (0, ""), (done.returncode, done.stderr[-3000:])
    return done.stdout
