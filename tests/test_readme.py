"""What the README and the guide show is what the project does."""

import doctest
import re
import runpy
import shlex
from pathlib import Path

import pytest

from permtest.cli import main

ROOT = Path(__file__).parents[1]
SHOWN = [ROOT / "README.md", ROOT / "docs" / "guide.md"]
OTHERS = ["CONTRIBUTING.md", "notebooks/data/README.md", "docs/performance.md", "docs/teaching.md"]


@pytest.mark.parametrize("document", SHOWN, ids=lambda path: path.stem)
def test_python_session(document, monkeypatch):
    monkeypatch.chdir(ROOT)
    failed, tried = doctest.testfile(str(document), module_relative=False)
    assert tried > 2
    assert failed == 0


def console_sessions():
    text = "\n".join(document.read_text("utf-8") for document in SHOWN)
    blocks = re.findall(r"```console\n\$ permtest (.*)\n((?:.*\n)*?)```", text)
    assert blocks
    return [pytest.param(command, output, id=command[:30]) for command, output in blocks]


@pytest.mark.parametrize(("command", "output"), console_sessions())
def test_console_session(command, output, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert main(shlex.split(command)) == 0
    shown, cut, _ = output.partition("...\n")  # the rest is not shown
    printed = capsys.readouterr().out
    assert printed.startswith(shown) if cut else printed == shown


def test_relative_links_lead_somewhere():
    for document in (*SHOWN, *(ROOT / name for name in OTHERS)):
        for target in re.findall(r"\]\((?!https?:|#)([^)]+)\)", document.read_text("utf-8")):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"


def test_one_command_draws_every_picture_that_shows_results_and_all_are_there():
    drawn = set(runpy.run_path(str(ROOT / "tools" / "draw_docs.py"))["PICTURES"])
    shown = set()
    for path in (SHOWN[0], *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"!?\[[^\]]*\]\(([^):]+\.png)\)", path.read_text("utf-8")):
            picture = (path.parent / target).resolve()
            assert picture.exists(), f"{path.name} shows {target}"
            shown |= {picture.stem} if picture.parent == ROOT / "docs" else set()
    measured = {"error", "time", "time-f1"}  # by the benchmarks
    assert shown - measured == drawn >= {"answers", "bayes", "leaderboard"}
