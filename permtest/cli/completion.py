"""``permtest completion``: a script with which a shell completes commands, options and files."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from permtest.cli import options
from permtest.cli.shared import print_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from permtest.cli.shared import Commands

SHELLS = ("bash", "zsh", "fish", "tcsh")

#: What an argument is a file or a folder by: its name in the help.
FILES = {"FILE", "FILE_B", "GOLD", "YAML", "OUT"}
FOLDERS = {"FOLDER"}

TITLE = "print a script that makes a shell complete these commands"
DESCRIPTION = """\
Prints a script for a shell, so that it completes commands, options, their choices, and names of
files. Needs pip install 'permtest[completion]'."""

EXAMPLES = """\
examples:
  permtest completion bash > ~/.local/share/bash-completion/completions/permtest
  permtest completion zsh > ~/.zfunc/_permtest         # a folder of $fpath, before compinit
  permtest completion fish > ~/.config/fish/completions/permtest.fish
  permtest completion tcsh > ~/.permtest.tcsh          # and source it in ~/.tcshrc
For one session of bash: source <(permtest completion bash)"""


def add_completion(commands: Commands) -> None:
    """Add the command to the parser of all commands."""
    parser = options.add_command(commands, "completion", _completion, TITLE, DESCRIPTION, EXAMPLES)
    parser.add_argument("shell", choices=SHELLS, help="which shell")


def _completion(args: argparse.Namespace) -> None:
    try:
        import shtab
    except ImportError:
        raise ImportError(
            "permtest completion needs shtab: pip install 'permtest[completion]'"
        ) from None
    from permtest.cli import _parser

    parser = _parser()
    _shorten(parser)
    for action in _arguments(parser):
        if action.metavar in FILES | FOLDERS:
            kind = shtab.FILE if action.metavar in FILES else shtab.DIRECTORY
            action.complete = kind  # type: ignore[attr-defined] # where shtab looks
    print_text(shtab.complete(parser, shell=args.shell))


def _arguments(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """All arguments of a parser and of its commands."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _arguments(command)


def _shorten(parser: argparse.ArgumentParser) -> None:
    """Describe commands in a line, as shells show them beside their names."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for line in action._choices_actions:
                action.choices[line.dest].description = line.help
