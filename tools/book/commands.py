"""The page of the command line: what every command says for ``--help``."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator
from html import escape
from unittest import mock

from bs4 import BeautifulSoup
from nbconvert.filters.ansi import strip_ansi

from book.chapter import Chapter, outline
from permtest.cli import _parser

TITLE = "The command line"
ABOUT = "The same tests without a notebook: what every command says about itself."
COLUMNS = "80"


def commands() -> Chapter:
    """The page, a heading for each command."""
    parser = _parser()
    with mock.patch.dict(os.environ, COLUMNS=COLUMNS):  # which argparse takes for the width
        parts = [help_of("permtest", parser), *(help_of(*found) for found in inner(parser))]
    head = f"<h1 id='command-line'>{TITLE}</h1><p>{ABOUT}</p>"
    body = f"<div class='prose reference'>{head}{''.join(parts)}</div>"
    sections = tuple(outline(BeautifulSoup(body, "html.parser")))
    return Chapter("command-line", TITLE, ABOUT, body, sections, "Reference")


def inner(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """The commands of a parser, and theirs, by their full names."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield command.prog, command
                yield from inner(command)


def help_of(name: str, parser: argparse.ArgumentParser) -> str:
    """A heading, how the command is called, its arguments, and what else its help says."""
    usage = strip_ansi(parser.format_usage()).removeprefix("usage: ").removeprefix(name)
    called = f"<b>{escape(name)}</b> {escape(' '.join(usage.split()))}"
    groups = [group_of(group, parser) for group in parser._action_groups if group._group_actions]
    return "".join(
        [
            f"<h2 id='{name.replace(' ', '-')}'><code>{escape(name)}</code></h2>",
            f"<p class='signature'><code>{called}</code></p>",
            text_of(parser.description),
            *groups,
            text_of(parser.epilog),
        ]
    )


def text_of(text: str | None) -> str:
    """Paragraphs; those with lines that are set in stay as they are."""
    parts = []
    for block in re.split(r"\n\s*\n", strip_ansi(text or "").strip("\n")):
        indented = any(line.startswith(" ") for line in block.splitlines())
        html = escape(block)
        parts.append(f"<pre class='help'>{html}</pre>" if indented else f"<p>{html}</p>")
    return "".join(parts)


def group_of(group: argparse._ArgumentGroup, parser: argparse.ArgumentParser) -> str:
    """Arguments of one kind, each with what it does."""
    form = parser._get_formatter()
    rows = []
    for action in group._group_actions:
        commands = getattr(action, "_choices_actions", [])
        for one in commands or [action]:
            if one.help == argparse.SUPPRESS:  # the help of another one names it
                continue
            name = one.dest if commands else strip_ansi(form._format_action_invocation(one))
            told = escape(form._expand_help(one)) if one.help else ""
            rows.append(f"<dt><code>{escape(name)}</code></dt><dd>{told}</dd>")
    return f"<p class='rubric'>{escape(str(group.title))}</p><dl>{''.join(rows)}</dl>"
