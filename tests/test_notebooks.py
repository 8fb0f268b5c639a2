"""The notebooks keep the rules of the series, run in any order, and show what they last printed."""

import asyncio
import json
import re
import tomllib
from base64 import b64decode
from importlib.resources import files
from math import isclose
from pathlib import Path
from queue import Empty
from types import SimpleNamespace
from typing import Any

import nbformat
import numpy as np
import pytest
import run_notebooks
from jupyter_client.channels import AsyncZMQSocketChannel
from run_notebooks import execute, fingerprint, stored, text

from permtest.course import check

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9][0-9]-*.ipynb"))
SERIES = [path for path in NOTEBOOKS if not path.name.startswith("00")]  # 00 is the map of them
# Before the exercises: code cells, words, figures; and lines of a cell that are not blank.
MOST_CELLS, MOST_WORDS, MOST_FIGURES, LONGEST_CELL = 18, 1_200, 6, 15
PICTURE, NOTEBOOK, ALL = 60_000, 300_000, 3_000_000  # bytes that may be stored
FORBIDDEN = r"^\s*(?:import |from |!|%)|(?:pip|conda) install|urlopen|requests|https?:"
UNSEEDED = r"np\.random\.seed|default_rng\(\)|import random|rng=None"
END = ["What it means for your paper", "Three questions", "Exercises", "Next"]

every = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
numbered = pytest.mark.parametrize("path", SERIES, ids=lambda path: path.stem)


def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def tags(cell: nbformat.NotebookNode) -> list[str]:
    return cell.metadata.get("tags", [])


def code(path: Path, *, without: tuple[str, ...] = ()) -> list[nbformat.NotebookNode]:
    cells = (cell for cell in read(path).cells if cell.cell_type == "code")
    return [cell for cell in cells if not set(without) & set(tags(cell))]


def prose(path: Path) -> str:
    return "\n\n".join(cell.source for cell in read(path).cells if cell.cell_type == "markdown")


def main_text(path: Path) -> list[nbformat.NotebookNode]:
    """The cells before the exercises."""
    cells = read(path).cells
    return cells[: next(i for i, x in enumerate(cells) if x.source.startswith("## Exercises"))]


def words(cells: list[nbformat.NotebookNode]) -> int:
    """How many a reader meets: formulas that stand alone and what is folded are left out."""
    told = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    folded = r"\$\$.*?\$\$|</summary>.*?</details>|<[^>]+>"
    return len(re.sub(folded, " ", told, flags=re.S).split())


def sections(path: Path) -> list[tuple[str, str]]:
    """Heading and text of each section, without code."""
    found = re.split(r"^## (.+)$", prose(path), flags=re.M)[1:]
    return list(zip(found[::2], found[1::2], strict=True))


# ---- the file ----------------------------------------------------------------------------------


@every
def test_the_format_is_valid_and_every_cell_has_a_name(path):
    raw = json.loads(path.read_text(encoding="utf-8"))
    nbformat.validate(raw)
    names = [cell["id"] for cell in raw["cells"]]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch("[a-z0-9-]+", name) for name in names)
    assert raw["metadata"]["kernelspec"]["name"] == "python3"
    assert "widgets" not in raw["metadata"], "their state is large, and a still is enough"


@every
def test_one_set_up_cell_imports_and_nothing_is_fetched_or_random(path):
    """And cells that only prepare or draw are folded."""
    for place, cell in enumerate(code(path)):
        assert ("setup" in tags(cell)) == (place == 0), cell.id
        assert not place or not re.search(FORBIDDEN, cell.source, re.M), cell.id
        assert not re.search(UNSEEDED, cell.source), cell.id
        if {"setup", "draw", "solution"} & set(tags(cell)):
            assert cell.metadata.get("jupyter", {}).get("source_hidden") is True, cell.id


@numbered
def test_it_is_short(path):
    main = main_text(path)
    cells = [cell for cell in main if cell.cell_type == "code"]
    assert len(cells) <= MOST_CELLS
    assert words(main) <= MOST_WORDS
    outputs = [output for cell in cells for output in cell.outputs]
    assert sum("image/png" in output.get("data", {}) for output in outputs) <= MOST_FIGURES
    for cell in code(path, without=("setup", "solution", "page", "draw")):
        lines = sum(bool(line.strip()) for line in cell.source.splitlines())
        assert lines <= LONGEST_CELL, cell.id


@every
def test_the_data_is_documented(path):
    readme = (path.parent / "data" / "README.md").read_text(encoding="utf-8")
    source = "\n".join(cell.source for cell in code(path))
    names = re.findall(r"data/([\w.-]+\.csv)", source)
    names += [f"{name}.csv" for name in re.findall(r"load\(\"([\w.-]+)\"", source)]
    for name in names:
        assert (path.parent / "data" / name).exists()
        assert name in readme


# ---- one series --------------------------------------------------------------------------------


@numbered
def test_every_notebook_has_the_same_skeleton(path):
    headings = [heading for heading, _ in sections(path)]
    assert headings[0].startswith("The data: ")
    assert headings[-len(END) :] == END
    assert "**Sources.** " in dict(sections(path))["Next"]


@numbered
def test_there_are_three_questions_whose_answers_explain_themselves(path):
    quiz = dict(sections(path))["Three questions"]
    questions = re.split(r"^\*\*([1-3])\. ", quiz, flags=re.M)
    assert questions[1::2] == ["1", "2", "3"]
    for question in questions[2::2]:
        replies = re.findall(r"<summary>.+?</summary>\s*(.+?)\s*</details>", question, re.S)
        right = [reply for reply in replies if reply.startswith("Right. ")]
        wrong = [reply for reply in replies if reply.startswith("No. ")]
        assert len(right) == 1
        assert len(wrong) == len(replies) - 1 >= 2
        assert all(len(reply.split()) >= 6 for reply in replies)


@numbered
def test_exercises_are_checked_and_have_folded_solutions(path):
    """Of each: what is asked, a cell that asks `check`, prose of the solution, and its code.

    The last one asks for a verdict in words, and has a folded answer that says what to look for.
    """
    found = {}
    for cell in read(path).cells:
        found.setdefault((cell.cell_type, *tags(cell)), []).append(cell)
    kinds = [(kind, tag) for tag in ("exercise", "solution") for kind in ("markdown", "code")]
    exercises = list(zip(*(found[kind] for kind in kinds), strict=True))
    assert 3 <= len(exercises) <= 5
    for k, (task, attempt, answer, solution) in enumerate(exercises, start=1):
        name = f"{path.name[:2]}.{k}"
        assert task.source.startswith(f"### {k}. ")
        assert f'check("{name}", ...)' in attempt.source
        assert answer.source.startswith("<details><summary>Solution</summary>\n\n")
        assert answer.source.rstrip().endswith("</details>")
        assert solution.metadata["jupyter"] == {"source_hidden": True, "outputs_hidden": True}
        assert solution.source.startswith(f"# solution {k}\n")  # Lab shows it of a folded cell
        assert f'assert check("{name}", ' in solution.source
        assert "Put " in str(check(name))
    assert "a function" in " ".join(str(check(f"{path.name[:2]}.{k}")) for k in range(1, k + 1))
    [verdict] = found["markdown", "verdict"]
    assert verdict.source.startswith(f"### {k + 1}. ")
    assert "<details><summary>What a good answer says</summary>" in verdict.source


@numbered
def test_no_answer_is_in_plain_view(path):
    """What a reader sees without unfolding anything has no number that an exercise asks for."""
    seen = [text(cell.outputs) for cell in code(path, without=("solution",))]
    for cell in read(path).cells:
        seen.append(re.sub(r"<details>.*?</details>", " ", cell.source, flags=re.S))
    digits = [x.replace(",", "") for x in re.findall(r"\d[\d,]*\.?\d*(?:e-?\d+)?", "\n".join(seen))]
    told = {float(x) for x in digits if len(re.sub(r"\D|e.*", "", x).strip("0")) >= 3}
    tasks = (files("permtest.course") / f"{path.name[:2]}.toml").read_text("utf-8")
    for number, task in tomllib.loads(tasks).items():
        answers = np.ravel(task.get("answer", []))
        floats = [x for x in answers if isinstance(x, float) and len(f"{x:g}".strip("0.")) > 2]
        for answer in floats:
            assert not [x for x in told if isclose(x, answer, rel_tol=1e-3)], (number, answer)


@every
def test_what_it_refers_to_is_there(path):
    exercises = {
        other.name[:2]: re.findall(r"^### ([0-9])\. ", prose(other), re.M) for other in NOTEBOOKS
    }
    told = " ".join(prose(path).split())
    for number in re.findall("[Nn]otebook ([0-9]{2})", told):
        assert number in exercises
    for k, number in re.findall(r"[Ee]xercise ([0-9])(?: of (?:notebook )?([0-9]{2}))?", told):
        assert k in exercises[number or path.name[:2]], (k, number)
    for target in re.findall(r"\]\(([^)#:]+\.ipynb)", told):
        assert (path.parent / target).exists()


@numbered
def test_pictures_have_a_text_and_a_common_look(path):
    pictures = [cell for cell in code(path, without=("solution",)) if "plt.show()" in cell.source]
    assert pictures
    for cell in pictures:
        assert len(cell.metadata.get("alt", "")) >= 80, cell.id
        assert set(re.findall(r"figsize.{1,5}\(([\d.]+),", cell.source)) <= {"13"}, cell.id


# ---- what is stored ----------------------------------------------------------------------------


@every
def test_outputs_are_those_of_the_code_that_is_there_and_small(path):
    """`python3 dev.py notebooks` stores them; whoever changes a cell runs it again."""
    assert path.stat().st_size <= NOTEBOOK
    assert sum(notebook.stat().st_size for notebook in NOTEBOOKS) <= ALL
    for cell in code(path):
        assert cell.metadata.get("ran") == fingerprint(cell), cell.id
        assert not complaints(cell.outputs)
        for output in cell.outputs:
            assert len(b64decode(output.get("data", {}).get("image/png", ""))) <= PICTURE, cell.id


# ---- a clean kernel ----------------------------------------------------------------------------


def complaints(outputs: list[Any]) -> list[str]:
    """Errors, and what was written to the standard error stream."""
    errors = [f"{out['ename']}: {out['evalue']}" for out in outputs if "ename" in out]
    return errors + [out["text"] for out in outputs if out.get("name") == "stderr"]


def long_numbers(told: str) -> set[str]:
    """Those of three digits and more, except years."""
    numbers = set(re.findall(r"\d[\d,.]*\d", told))
    long = {x for x in numbers if len(re.sub(r"\D", "", x).lstrip("0")) >= 3}
    return {x for x in long if not re.fullmatch("(19|20)[0-9]{2}", x)}


def check_widgets(states: list[dict[str, Any]]) -> None:
    """Explorers say in an alert what went wrong; what else does is caught by an output widget."""
    assert not [said for state in states for said in complaints(state.get("outputs", []))]
    texts = [state["value"] for state in states if isinstance(state.get("value"), str)]
    assert not [said for said in texts if "role='alert'" in said]


@pytest.mark.notebook
@every
def test_it_runs_from_a_clean_kernel_and_then_from_the_last_cell_to_the_first(path):
    """All that needs a kernel is one test, so that wherever tests run each notebook runs once."""
    there = code(path)
    notebook = execute(read(path), again=True)
    models = notebook.metadata.get("widgets", {}).get("application/vnd.jupyter.widget-state+json")
    check_widgets([model["state"] for model in (models or {"state": {}})["state"].values()])
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    printed = "\n".join(text(cell.outputs) for cell in cells)
    again = {cell.id: cell.metadata.pop("again") for cell in cells}
    for cell in cells:
        assert not complaints([*cell.outputs, *again[cell.id]]), cell.id
        if "timing" not in tags(cell):
            assert text(again[cell.id]) == text(cell.outputs), f"{cell.id}, run again"
    new = {cell.id: cell.outputs for cell in stored(notebook).cells if cell.cell_type == "code"}
    for cell in there:
        if "timing" not in tags(cell):
            assert text(new[cell.id]) == text(cell.outputs), f"{cell.id}, as it is stored"
    if path in SERIES:
        said = long_numbers(re.sub(r"\$[^$]*\$|`[^`]*`", " ", prose(path)))
        assert said <= set(re.findall(r"\d[\d,.]*\d", printed))


# ---- kernels that do not wake up -----------------------------------------------------------------


class Channel:
    """A socket that is silent for some polls; it is the clock as well."""

    def __init__(self, silent: int) -> None:
        self.silent, self.socket = silent, self
        self.polls: list[int] = []

    async def poll(self, milliseconds: int) -> bool:
        self.polls.append(milliseconds)
        return len(self.polls) > self.silent

    def monotonic(self) -> float:
        return sum(self.polls) / 1000

    async def _recv(self) -> dict[str, str]:
        return {"said": "something"}


def test_a_missed_wake_up_costs_one_slice_and_a_timeout_is_kept(monkeypatch):
    run_notebooks.poll_in_slices()
    get_msg: Any = AsyncZMQSocketChannel.get_msg
    channel = Channel(silent=1)
    assert asyncio.run(get_msg(channel)) == {"said": "something"}
    assert channel.polls == [250, 250]
    channel = Channel(silent=9)
    monkeypatch.setattr(run_notebooks, "time", SimpleNamespace(monotonic=channel.monotonic))
    with pytest.raises(Empty):
        asyncio.run(get_msg(channel, timeout=0.375))
    assert channel.polls == [250, 125]
