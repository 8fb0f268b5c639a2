"""``permtest formats``: what can be read, by what it is paired, and what that needs."""

from __future__ import annotations

import argparse
import json
from importlib.util import find_spec
from itertools import zip_longest
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from permtest.cli import options
from permtest.cli.shared import aligned, print_text
from permtest.readers import FORMATS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from permtest.cli.shared import Commands
    from permtest.readers.systems import Format

#: Any of these modules will do for an extra.
MODULES = {
    "excel": ("openpyxl",),
    "frames": ("pyarrow",),
    "inspect": ("compression.zstd", "backports.zstd"),
}

#: Columns of the table, and their widths; a name is never broken.
HEADS = {"format": 1, "an item holds": 38, "paired on": 27, "needs": 22}

TITLE = "list the formats of files that can be compared"
DESCRIPTION = """\
Lists the formats of files that permtest compare, study and app read: what an item of a file holds,
by what the items of two systems are paired, and what has to be installed. Which format a file has
is seen from its content; its name does not matter."""

EXAMPLES = """\
examples:
  permtest formats
  permtest formats table
  permtest formats --json"""


def add_formats(commands: Commands) -> None:
    """Add the command to the parser of all commands."""
    parser = options.add_command(commands, "formats", _formats, TITLE, DESCRIPTION, EXAMPLES)
    parser.add_argument(
        "name", metavar="NAME", nargs="?", choices=tuple(FORMATS), help="one of them, in detail"
    )
    parser.add_argument("--json", action="store_true", help="print JSON, nothing else")


def _formats(args: argparse.Namespace) -> None:
    if args.name is not None:
        kind = FORMATS[args.name]
        print_text(json.dumps(_facts(kind)) if args.json else _detail(kind))
    elif args.json:
        print_text(json.dumps([_facts(kind) for kind in FORMATS.values()]))
    else:
        print_text(f"{_table()}\n\npermtest formats NAME shows one of them, with an example.")


def _facts(kind: Format) -> dict[str, Any]:
    names = ("name", "title", "rows", "pairs_on", "gold", "extra", "example")
    return {name: getattr(kind, name) for name in names} | {"installed": _installed(kind.extra)}


def _installed(extra: str | None) -> bool:
    """Whether what an extra is for can be imported."""
    return extra is None or any(_exists(module) for module in MODULES[extra])


def _exists(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ImportError:  # of the package that it is in
        return False


# ---- what is printed ---------------------------------------------------------------------------


def _needs(kind: Format) -> str:
    if kind.extra is None:
        return "nothing more"
    return f"permtest[{kind.extra}] ({'' if _installed(kind.extra) else 'not '}installed)"


def _detail(kind: Format) -> str:
    needs = _needs(kind)
    if not _installed(kind.extra):
        needs += f": pip install 'permtest[{kind.extra}]'"
    facts = [
        ("format", kind.name),
        ("an item holds", kind.rows),
        ("paired on", kind.pairs_on),
        ("gold file", "not used" if kind.gold == "none" else f"{kind.gold} (--gold)"),
        ("needs", needs),
    ]
    return f"{kind.title}\n\n{aligned(facts)}\n\n  {kind.example}"


def _table() -> str:
    rows = [(kind.name, kind.rows, kind.pairs_on, _needs(kind)) for kind in FORMATS.values()]
    return "\n".join(_laid_out([tuple(HEADS), *rows]))


def _laid_out(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table whose cells are broken into several lines where they are long."""
    name = max(len(row[0]) for row in rows)
    widths = [max(name, width) if i == 0 else width for i, width in enumerate(HEADS.values())]
    lines = []
    for row in rows:
        cells = [wrap(cell, width) for cell, width in zip(row, widths, strict=True)]
        for parts in zip_longest(*cells, fillvalue=""):
            padded = (part.ljust(width) for part, width in zip(parts, widths, strict=True))
            lines.append("  ".join(padded).rstrip())
    return lines
