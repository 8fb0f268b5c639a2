"""The notebooks keep the rules of the house, and run from a clean kernel without a warning."""

import json
import os
import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9][0-9]-*.ipynb"))
SERIES = [path for path in NOTEBOOKS if not path.name.startswith("00")]  # 00 is the map of them
LONGEST_CELL = 8  # lines that are not blank
WORDS = range(1000, 2501)
FORBIDDEN = ["pip install", "conda install", "urlopen", "requests", "http:", "https:"]

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
    cells = (cell for cell in read(path).cells if cell.cell_type == "markdown")
    return "\n\n".join(cell.source for cell in cells)


def sections(path: Path) -> list[tuple[str, str]]:
    """Heading and text of each section, without code."""
    found = re.split(r"^## (.+)$", prose(path), flags=re.M)[1:]
    return list(zip(found[::2], found[1::2], strict=True))


def cells_named(name: str) -> dict[str, str]:
    """What the notebooks of the series have in a cell that starts like this, if they have one."""
    return {
        path.stem: cell.source
        for path in SERIES
        for cell in code(path)
        if cell.source.startswith(name)
    }


@cache
def executed(path: Path) -> nbformat.NotebookNode:
    """The notebook with outputs and widget states, every warning an error."""
    notebook = read(path)
    # The kernel itself warns about what is not ours; what cells do is checked in the cells.
    strict = "import warnings as _w; _w.simplefilter('error')"
    notebook.cells.insert(0, nbformat.v4.new_code_cell(strict))
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    }
    where = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=120, resources=where).execute(env=environment)
    return notebook


# ---- the file ----------------------------------------------------------------------------------


@every
def test_the_format_is_valid_and_every_cell_has_a_name(path):
    raw = json.loads(path.read_text(encoding="utf-8"))
    nbformat.validate(raw)
    names = [cell["id"] for cell in raw["cells"]]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch("[a-z0-9-]+", name) for name in names)
    assert raw["metadata"]["kernelspec"]["name"] == "python3"


@every
def test_saving_it_in_jupyter_changes_nothing(path):
    text = path.read_text(encoding="utf-8")
    assert nbformat.writes(nbformat.reads(text, as_version=4)).rstrip("\n") + "\n" == text


@every
def test_there_is_one_set_up_cell_and_it_comes_first(path):
    first, *others = code(path)
    assert tags(first) == ["setup"]
    assert not [cell.id for cell in others if "setup" in tags(cell)]
    assert not [cell.id for cell in others if re.search(r"^\s*(import|from) ", cell.source, re.M)]


@every
def test_nothing_is_installed_or_fetched(path):
    for cell in code(path):
        for line in cell.source.splitlines():
            assert not [word for word in FORBIDDEN if word in line], cell.id
            assert not line.lstrip().startswith(("!", "%")), cell.id


@every
def test_cells_are_small(path):
    for cell in code(path, without=("setup", "solution")):
        assert sum(bool(line.strip()) for line in cell.source.splitlines()) <= LONGEST_CELL, cell.id


@every
def test_there_is_text_before_every_cell_and_after_it(path):
    cells = read(path).cells
    for before, cell in pairwise(cells):
        both = before.cell_type == cell.cell_type == "code"
        assert not both or "solution" in tags(cell), (before.id, cell.id)


@numbered
def test_it_can_be_read_in_a_quarter_of_an_hour(path):
    assert len(re.sub(r"\$\$.*?\$\$", "", prose(path), flags=re.S).split()) in WORDS


@numbered
def test_exercises_have_solutions_that_are_folded_away_and_checked(path):
    solutions = [cell for cell in code(path) if "solution" in tags(cell)]
    exercises = [cell for cell in read(path).cells if "exercise" in tags(cell)]
    asked = [cell for cell in exercises if cell.cell_type == "markdown"]
    assert 3 <= len(asked) == len(solutions) <= 5
    for cell in solutions:
        assert cell.metadata["jupyter"]["source_hidden"] is True, cell.id
        # JupyterLab shows the first line of a folded cell.
        assert re.match("# solution [1-9]\n", cell.source), cell.id
        assert re.search(r"^\s*assert ", cell.source, re.M), cell.id
    for k, cells in enumerate(zip(asked, solutions, strict=True), start=1):
        assert cells[0].source.startswith(f"### {k}. ")
        assert cells[1].source.startswith(f"# solution {k}\n")
        assert [cell.id for cell in cells] == [f"exercise-{k}", f"solution-{k}"]


@every
def test_random_numbers_come_from_a_seed(path):
    source = "\n".join(cell.source for cell in code(path))
    assert "np.random.seed" not in source
    assert not re.search(r"default_rng\(\)|import random|rng=None", source)


@every
def test_the_data_is_documented(path):
    readme = (path.parent / "data" / "README.md").read_text(encoding="utf-8")
    for name in re.findall(r"data/([\w.-]+\.csv)", "\n".join(cell.source for cell in code(path))):
        assert (path.parent / "data" / name).exists()
        assert name in readme
    assert "CC BY-SA 4.0" in readme


# ---- one book ----------------------------------------------------------------------------------


@numbered
def test_every_notebook_has_the_same_skeleton(path):
    headings = [heading for heading, _ in sections(path)]
    assert headings[0].startswith("The data: ")
    assert headings[-3:] == ["What it means for your paper", "Exercises", "In one breath"]
    assert headings.count("Play with it") == 1
    texts = dict(sections(path))
    assert "Things to try:\n\n* " in texts["Play with it"]
    assert (
        texts["Exercises"].partition("###")[0]
        == dict(sections(SERIES[0]))["Exercises"].partition("###")[0]
    )
    assert re.search(r"\n\n\*\*Next\.\*\* .*\n\n\*\*Sources\.\*\* ", texts["In one breath"], re.S)
    assert code(path)[-1].source == 'print("All cells ran.")'


@numbered
def test_it_is_tied_to_the_one_before_and_to_the_next(path):
    opening = prose(path).partition("\n## ")[0] + sections(path)[0][1]
    end = sections(path)[-1][1]
    k = SERIES.index(path)
    if k > 0:
        assert f"]({SERIES[k - 1].name})" in opening
        assert int(SERIES[k - 1].name[:2]) == int(path.name[:2]) - 1
    if k + 1 < len(SERIES):
        assert f"]({SERIES[k + 1].name})" in end


@pytest.mark.parametrize("path", SERIES[1:], ids=lambda path: path.stem)
def test_the_last_exercise_needs_an_earlier_notebook(path):
    last = prose(path).rpartition("\n### ")[2].partition("\n## ")[0]
    assert min(re.findall("notebook\\s([0-9]{2})", last)) < path.name[:2]


@every
def test_what_it_refers_to_is_there(path):
    exercises = {
        other.name[:2]: re.findall(r"^### ([0-9])\. ", prose(other), re.M) for other in NOTEBOOKS
    }
    text = " ".join(prose(path).split())
    for number in re.findall("[Nn]otebook ([0-9]{2})", text):
        assert number in exercises
    for k, number in re.findall(r"[Ee]xercise ([0-9])(?: of notebook ([0-9]{2}))?", text):
        assert k in exercises[number or path.name[:2]], (k, number)
    for target in re.findall(r"\]\(([^)#]+\.ipynb)", text):
        assert (path.parent / target).exists()


@pytest.mark.parametrize("name", ["def read_scores(", "def seconds("])
def test_what_is_needed_again_is_written_alike(name):
    found = cells_named(name)
    assert len(found) >= 3
    assert len(set(found.values())) == 1, sorted(found)


@numbered
def test_pictures_have_a_text_and_a_common_look(path):
    pictures = [cell for cell in code(path) if "plt.show()" in cell.source]
    assert pictures
    for cell in pictures:
        assert len(cell.metadata.get("alt", "")) >= 80, cell.id
    observed = re.findall("^OBSERVED.*", code(path)[0].source, re.M)
    assert set(observed) <= set(re.findall("^OBSERVED.*", code(SERIES[0])[0].source, re.M))
    for cell in pictures:  # widths of one or of several panels; the observed value is a constant
        assert set(re.findall(r"figsize.{1,5}\(([\d.]+),", cell.source)) <= {"13"}, cell.id
        assert not re.search(r"label=.observed.(?!.*\*\*OBSERVED)", cell.source), cell.id


@numbered
def test_words_and_numbers_are_spelled_alike(path):
    text = re.sub(r"`[^`]*`|\]\([^)]*\)", " ", prose(path))
    other = r"\bt test\b|two-tailed|one-tailed|\bTP \+|\(Exercise [0-9]\)"
    assert not re.findall(other, text)
    assert not re.findall(r"(?<![\w.\\])\.\d", text), "a number begins with a digit"


# ---- a clean kernel ----------------------------------------------------------------------------


def outputs(path: Path) -> list[Any]:
    return [output for cell in executed(path).cells for output in cell.get("outputs", [])]


def printed(path: Path) -> str:
    return "\n".join(output.text for output in outputs(path) if output.output_type == "stream")


@every
def test_it_runs_without_a_warning(path):
    assert not [output for output in outputs(path) if output.output_type == "error"]
    assert not [output.text for output in outputs(path) if output.get("name") == "stderr"]


@numbered
def test_no_widget_shows_an_error(path):
    states = executed(path).metadata["widgets"]["application/vnd.jupyter.widget-state+json"]
    values = [model["state"].get("value") for model in states["state"].values()]
    assert [value for value in values if isinstance(value, str) and "role='status'" in value]
    assert not [value for value in values if isinstance(value, str) and "role='alert'" in value]


@numbered
def test_pictures_are_drawn(path):
    assert sum("image/png" in output.get("data", {}) for output in outputs(path)) >= 3


@numbered
def test_numbers_in_the_prose_were_computed(path):
    """Numbers of three digits and more, except years, are printed by some cell."""
    text = re.sub(r"\$[^$]*\$|`[^`]*`", " ", prose(path))
    numbers = set(re.findall(r"\d[\d,.]*\d", text))
    long = {x for x in numbers if len(re.sub(r"\D", "", x).lstrip("0")) >= 3}
    assert {x for x in long if not re.fullmatch("(19|20)[0-9]{2}", x)} <= set(
        re.findall(r"\d[\d,.]*\d", printed(path))
    )
