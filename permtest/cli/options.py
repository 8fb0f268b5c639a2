"""Options that several commands have, and checks of them before anything is computed."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from permtest.statistics import ALTERNATIVES

if TYPE_CHECKING:
    from permtest.cli.shared import Commands, Parser

#: What does a command, given its arguments; its exit code, where that is not 0.
Run: TypeAlias = Callable[[argparse.Namespace], int | None]


def add_command(
    commands: Commands, name: str, run: Run, title: str, description: str, epilog: str
) -> Parser:
    """Add a command to the parser of all commands; `run` does it, `title` says so in a line."""
    parser: Parser = commands.add_parser(
        name,
        help=title,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    return parser


def add_alternative(
    parser: argparse.ArgumentParser,
    said: str = "greater: A scores higher than B, better or not; less: A scores lower than B",
) -> None:
    """Add --alternative; `said` is what its values mean."""
    parser.add_argument(
        "--alternative",
        choices=ALTERNATIVES,
        default="two-sided",
        help=f"{said}; default: %(default)s",
    )


def add_direction(parser: argparse.ArgumentParser, *lower: str) -> None:
    """Add --higher-is-better and --lower-is-better, which may have other names, too."""
    group = parser.add_mutually_exclusive_group()
    how: dict[str, Any] = {"dest": "higher_is_better", "action": "store_const"}
    help_ = "say which scores are better; default: what their name says, else higher"
    group.add_argument("--higher-is-better", const=True, help=help_, **how)
    group.add_argument("--lower-is-better", *lower, const=False, help="the same", **how)


def add_level_and_seed(parser: argparse.ArgumentParser) -> None:
    """Add --alpha and --seed."""
    parser.add_argument(
        "--alpha", metavar="P", type=float, default=0.05, help="level; default: %(default)s"
    )
    parser.add_argument(
        "--seed", metavar="N", type=int, default=0, help="of everything random; default: 0"
    )


def add_json_and_force(
    parser: argparse.ArgumentParser, force: str = "overwrite files that exist"
) -> None:
    """Add --json and --force; `force` is what that one does."""
    parser.add_argument("--json", action="store_true", help="print one JSON object, nothing else")
    parser.add_argument("--force", action="store_true", help=force)


# ---- checks --------------------------------------------------------------------------------------


def check_alpha(alpha: float) -> None:
    """Refuse what is no level."""
    if not 0 < alpha < 1:
        raise ValueError(f"--alpha {alpha:g}: a level lies between 0 and 1")


def check_seed(seed: int | None) -> None:
    """Refuse a negative seed."""
    if seed is not None and seed < 0:
        raise ValueError(f"--seed {seed}: a seed must not be negative")


def check_file(option: str, path: Path, force: bool) -> None:
    """Refuse a file that could not be written."""
    if path.is_dir():
        problem = "this is a folder; name a file"
    elif not path.parent.is_dir():
        problem = f"there is no folder {path.parent}; create it first"
    elif path.exists() and not force:
        problem = "the file exists; choose another name, or add --force"
    else:
        return
    raise ValueError(f"{option} {path}: {problem}")


@contextmanager
def checking_out(force: bool, what: str = "name") -> Iterator[None]:
    """Say of --out why it cannot be written, and to choose another of `what` where it exists."""
    try:
        yield
    except FileExistsError as error:
        advice = f"choose another {what}" + ("" if force else ", or add --force")
        raise ValueError(f"--out {error}; {advice}") from None
    except (OSError, ValueError) as error:
        raise ValueError(f"--out {error}") from None


def check_installed(modules: Sequence[str], what: str, extra: str) -> None:
    """Refuse what needs modules that are missing; `extra` brings them."""
    for module in modules:
        if find_spec(module) is None:
            raise ImportError(f"{what} needs {module}: pip install 'permtest[{extra}]'")
