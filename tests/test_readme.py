"""What the README shows is what the project does."""

import doctest
import re
from pathlib import Path

import pytest

from permtest.cli import main

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"


def test_python_session():
    failed, tried = doctest.testfile(str(README), module_relative=False)
    assert tried > 5
    assert failed == 0


def console_sessions():
    blocks = re.findall(r"```console\n\$ permtest (.*)\n((?:.*\n)*?)```", README.read_text("utf-8"))
    return [pytest.param(command, output, id=command[:30]) for command, output in blocks]


@pytest.mark.parametrize(("command", "output"), console_sessions())
def test_console_session(command, output, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert main(command.split()) == 0
    assert capsys.readouterr().out == output


def test_there_is_a_console_session():
    assert console_sessions()


def test_relative_links_lead_somewhere():
    for document in (README, ROOT / "CONTRIBUTING.md", ROOT / "notebooks/data/README.md"):
        for target in re.findall(r"\]\((?!https?:|#)([^)]+)\)", document.read_text("utf-8")):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"
