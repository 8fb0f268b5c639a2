"""The notebooks keep the rules of the house, and run from a clean kernel without a warning."""

import ast
import json
import os
import re
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
LONGEST_PICTURE = 15  # lines of a cell that draws
WORDS = range(1000, 2501)
FORBIDDEN = ["pip install", "conda install", "urlopen", "requests", "http:", "https:"]
DRAWN = {"plot", "loglog", "semilogx", "semilogy", "vlines", "hlines"}
# What a reader would see; by the environment for processes that a cell starts, as joblib's.
VISIBLE = ("UserWarning", "RuntimeWarning", "FutureWarning", "SyntaxWarning")
STRICT = {"PYTHONWARNINGS": ",".join(f"error::{category}" for category in VISIBLE)}

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
        most = LONGEST_PICTURE if "alt" in cell.metadata else LONGEST_CELL
        assert sum(bool(line.strip()) for line in cell.source.splitlines()) <= most, cell.id


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
    for cell in pictures:  # widths of one or of several panels
        assert set(re.findall(r"figsize.{1,5}\(([\d.]+),", cell.source)) <= {"13"}, cell.id


def written_out(source: str) -> list[str]:
    """Colours and dashes that are written out where something is drawn."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    named = [(key.arg, key.value) for call in calls for key in call.keywords]
    values = [value for name, value in named if name in ("color", "linestyle", "ls")]
    drawn = [call for call in calls if getattr(call.func, "attr", None) in DRAWN]
    values += [argument for call in drawn for argument in call.args]
    texts = [value.value for value in values if isinstance(value, ast.Constant)]
    return [text for text in texts if isinstance(text, str) and text not in ("none", "+", ".")]


@numbered
def test_pictures_look_as_their_roles_say(path):
    """Only a net of paths has no role."""
    for cell in code(path, without=("solution",)):
        assert not written_out(cell.source) or cell.id == "paths-picture", cell.id


@numbered
def test_words_and_numbers_are_spelled_alike(path):
    text = re.sub(r"`[^`]*`|\]\([^)]*\)", " ", prose(path))
    other = r"\bt test\b|two-tailed|one-tailed|\bTP \+|\(Exercise [0-9]\)"
    assert not re.findall(other, text)
    assert not re.findall(r"(?<![\w.\\])\.\d", text), "a number begins with a digit"


# ---- a clean kernel ----------------------------------------------------------------------------


def executed(path: Path) -> nbformat.NotebookNode:
    """The notebook with outputs and widget states, every warning an error."""
    notebook = read(path)
    # The kernel itself warns about what is not ours; what cells do is checked in the cells.
    strict = "import warnings as _w; _w.simplefilter('error')"
    notebook.cells.insert(0, nbformat.v4.new_code_cell(strict))
    folders = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = os.environ | STRICT | {"PYTHONPATH": folders}
    where = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=1800, resources=where).execute(env=environment)
    return notebook


def outputs(notebook: nbformat.NotebookNode) -> list[Any]:
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


def printed(notebook: nbformat.NotebookNode) -> str:
    return "\n".join(out.text for out in outputs(notebook) if out.output_type == "stream")


def widget_states(notebook: nbformat.NotebookNode) -> list[dict[str, Any]]:
    states = notebook.metadata["widgets"]["application/vnd.jupyter.widget-state+json"]["state"]
    return [model["state"] for model in states.values()]


def complaints(outputs: list[Any]) -> list[str]:
    """Errors, and what was written to the standard error stream."""
    errors = [f"{out['ename']}: {out['evalue']}" for out in outputs if "ename" in out]
    return errors + [out["text"] for out in outputs if out.get("name") == "stderr"]


def long_numbers(text: str) -> set[str]:
    """Those of three digits and more, except years."""
    numbers = set(re.findall(r"\d[\d,.]*\d", text))
    long = {x for x in numbers if len(re.sub(r"\D", "", x).lstrip("0")) >= 3}
    return {x for x in long if not re.fullmatch("(19|20)[0-9]{2}", x)}


def check_widgets(states: list[dict[str, Any]]) -> None:
    """Explorers say in an alert what went wrong; what else does is caught by an output widget."""
    assert not [text for state in states for text in complaints(state.get("outputs", []))]
    texts = [state["value"] for state in states if isinstance(state.get("value"), str)]
    assert any("role='status'" in text for text in texts)
    assert not [text for text in texts if "role='alert'" in text]


@pytest.mark.notebook
@every
def test_it_runs_from_a_clean_kernel(path):
    """All that needs a kernel is one test, so that wherever tests run each notebook runs once."""
    notebook = executed(path)
    assert not complaints(outputs(notebook))
    assert printed(notebook).endswith("All cells ran.\n")
    if path in SERIES:
        check_widgets(widget_states(notebook))
        assert sum("image/png" in out.get("data", {}) for out in outputs(notebook)) >= 3
        said = long_numbers(re.sub(r"\$[^$]*\$|`[^`]*`", " ", prose(path)))
        assert said <= set(re.findall(r"\d[\d,.]*\d", printed(notebook)))


def test_what_goes_wrong_in_a_widget_is_noticed():
    good = {"value": "<p role='status'>fine</p>"}
    check_widgets([good])
    error = {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": []}
    stream = {"output_type": "stream", "name": "stderr", "text": "Traceback"}
    for bad in ({"value": "<p role='alert'>"}, {"outputs": [error]}, {"outputs": [stream]}):
        with pytest.raises(AssertionError):
            check_widgets([good, bad])
