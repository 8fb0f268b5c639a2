"""``permtest lab`` and ``permtest app``: the notebooks, and the page that compares two systems."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import permtest
from permtest.cli import options
from permtest.cli.shared import print_text

if TYPE_CHECKING:
    from permtest.cli.shared import Commands, Parser

PACKAGE = Path(permtest.__file__).parent
FIRST = "01"
OWN_DATA = "09-your-own-data.ipynb"
FOLDER = "permtest-notebooks"

LAB_TITLE = "open the notebooks in JupyterLab"
LAB_DESCRIPTION = f"""\
Opens the notebooks in JupyterLab, on this machine only, with all cells of the first one run. They
are copied to FOLDER, with their data; files that are there already are left as they are. Without
FOLDER a checkout's own notebooks are opened, and an installed package copies its notebooks to
{FOLDER}. Needs pip install 'permtest[lab]'."""

LAB_EXAMPLES = """\
examples:
  permtest lab
  permtest lab --notebook 05
  permtest lab course --port 8888 --no-browser"""

APP_TITLE = "compare two systems on a web page of this machine"
APP_DESCRIPTION = """\
Serves a page on which files can be dropped to compare two systems, see what the difference is
worth, and take the report away. Only this machine can see it, and nothing leaves this machine.
Each page has a Python of its own, so that several people or windows do not disturb each other; it
ends when the page is closed. Needs pip install 'permtest[lab]'."""

APP_EXAMPLES = """\
examples:
  permtest app
  permtest app --port 8866 --no-browser"""


# ---- arguments ---------------------------------------------------------------------------------


def add_lab(commands: Commands) -> None:
    """Add the command to the parser of all commands."""
    parser = options.add_command(commands, "lab", _lab, LAB_TITLE, LAB_DESCRIPTION, LAB_EXAMPLES)
    parser.add_argument("folder", metavar="FOLDER", nargs="?", help="where to copy the notebooks")
    parser.add_argument(
        "--notebook",
        metavar="NAME",
        default=FIRST,
        help="which to open: its name, or how that begins; default: %(default)s",
    )
    _add_server(parser)


def add_app(commands: Commands) -> None:
    """Add the command to the parser of all commands."""
    parser = options.add_command(commands, "app", _app, APP_TITLE, APP_DESCRIPTION, APP_EXAMPLES)
    _add_server(parser)


def _add_server(parser: Parser) -> None:
    parser.add_argument(
        "--port", metavar="N", type=int, default=0, help="where to listen; default: any free port"
    )
    parser.add_argument("--no-browser", action="store_true", help="only print the address")


# ---- the commands ------------------------------------------------------------------------------


def _lab(args: argparse.Namespace) -> None:
    needed = ("jupyterlab", "nbclient", "ipywidgets", "matplotlib")
    options.check_installed(needed, "permtest lab", "lab")
    from permtest.cli.lab import open_notebook

    name = find_notebook(shipped(), args.notebook).name
    folder = shipped()
    if args.folder is not None or not _is_checkout(folder):
        folder = Path(FOLDER if args.folder is None else args.folder)
        copied, kept = copy_missing(shipped(), folder)
        there = f", {kept} left as they were" if kept else ""
        print_text(f"the notebooks are in {folder.resolve()} ({copied} files copied{there})")
    open_notebook(folder.resolve() / name, port=args.port, browser=not args.no_browser)


def _app(args: argparse.Namespace) -> None:
    options.check_installed(("voila", "ipywidgets", "matplotlib", "jinja2"), "permtest app", "lab")
    path = shipped() / OWN_DATA
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; install permtest again")
    print("starting the page", flush=True)  # Voila takes some seconds
    from permtest.cli.app import serve

    serve(path, port=args.port, browser=not args.no_browser)


# ---- the files ---------------------------------------------------------------------------------


def shipped() -> Path:
    """The folder of the notebooks: beside the package in a checkout, within it once installed."""
    beside = PACKAGE.parent / "notebooks"
    return beside if _is_checkout(beside) else PACKAGE / "notebooks"


def _is_checkout(folder: Path) -> bool:
    return folder.is_dir() and (folder.parent / "pyproject.toml").is_file()


def find_notebook(folder: Path, name: str) -> Path:
    """The notebook of that name, or the only one whose name begins like this.

    Parameters
    ----------
    folder : Path
    name : str

    Returns
    -------
    Path
    """
    names = sorted(path.name for path in folder.glob("*.ipynb"))
    if not names:
        raise FileNotFoundError(f"there are no notebooks in {folder}; install permtest again")
    found = [name] if name in names else [known for known in names if known.startswith(name)]
    if len(found) != 1:
        said = "there is no such notebook" if not found else "this could be several"
        raise ValueError(f"--notebook {name}: {said}; choose one of {', '.join(names)}")
    return folder / found[0]


def copy_missing(source: Path, target: Path) -> tuple[int, int]:
    """Copy all files of a folder that are not there yet; never write over one that is.

    Parameters
    ----------
    source : Path
    target : Path
        Made where it does not exist.

    Returns
    -------
    copied, kept : int
        How many files were copied, and how many were there.
    """
    if target.exists() and not target.is_dir():
        raise ValueError(f"{target}: this is a file; name a folder")
    copied = kept = 0
    for path in sorted(source.rglob("*")):
        inside = path.relative_to(source)
        if path.is_dir() or any(part.startswith(".") for part in inside.parts):
            continue
        (target / inside).parent.mkdir(parents=True, exist_ok=True)
        try:
            with path.open("rb") as old, (target / inside).open("xb") as new:
                shutil.copyfileobj(old, new)
            copied += 1
        except FileExistsError:
            kept += 1
    return copied, kept
