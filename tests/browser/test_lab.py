"""People run notebooks in JupyterLab, and compare their own files there and on the page."""

import io
import itertools
import json
import secrets
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import nbformat
import pytest

from tests.browser.conftest import ROOT, serving

FIRST, OWN = "01-are-they-different.ipynb", "12-your-own-data.ipynb"
END = "All cells ran."
SENTENCE = ".jp-OutputArea .widget-html [role=status]"
PICTURE = ".jp-OutputArea .widget-html img"
VERDICT = ".permtest-app .permtest-verdict"
ALERT = ".permtest-app [role=alert]"
SERVE = "import sys; from pathlib import Path; from permtest._jupyter import serve; "
SERVE += "serve(Path(sys.argv[1]), browser=False)"
NASTY = "<img src=x onerror=alert(1)>"

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """Addresses of the notebooks in a JupyterLab, each in a workspace of its own."""
    folder = tmp_path_factory.mktemp("lab")
    shutil.copytree(ROOT / "notebooks", folder / "notebooks")
    prepare(folder / "notebooks" / OWN, "page", "setup")
    prepare(folder / "notebooks" / FIRST)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token = secrets.token_hex(16)
    command = [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root"]
    command += ["--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"]
    command += [f"--ServerApp.root_dir={folder / 'notebooks'}"]
    command += [f"--IdentityProvider.token={token}", "--LabApp.extension_manager=readonly"]
    with serving(command, folder):
        where = f"http://127.0.0.1:{port}/lab/workspaces"
        yield lambda name: f"{where}/{name[:2]}/tree/{name}?token={token}"


@pytest.fixture
def voila(tmp_path: Path) -> Iterator[str]:
    """Address of the page, served as `permtest app` serves it."""
    notebook = tmp_path / OWN
    notebook.write_bytes((ROOT / "notebooks" / OWN).read_bytes())
    prepare(notebook, "page", "setup")
    with serving([sys.executable, "-c", SERVE, str(notebook)], tmp_path) as address:
        yield address


def prepare(path: Path, *kept: str) -> None:
    """Leave the cells with these tags, or all without outputs; add a last one to wait for."""
    notebook = nbformat.read(path, as_version=4)
    if kept:
        cells = notebook.cells
        notebook.cells = [x for x in cells if set(kept) & set(x.metadata.get("tags", []))]
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    notebook.cells.append(nbformat.v4.new_code_cell(f"print({END!r})"))
    nbformat.write(notebook, path)


def run_all_cells(page: Any) -> None:
    """Run them, and see no error."""
    page.locator("#jp-main-statusbar", has_text="| Idle").wait_for()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    page.locator(".jp-OutputArea-output", has_text=END).wait_for()
    no_errors(page)


def no_errors(page: Any) -> None:
    for kind in ("error", "stderr"):
        assert page.locator(f"[data-mime-type='application/vnd.jupyter.{kind}']").count() == 0
    assert page.locator(".jupyter-widgets-error-widget").count() == 0


# ---- what people do ----------------------------------------------------------------------------


def scores(system: str, step: int, ids: range) -> dict[str, Any]:
    """A file of one system, as a browser is handed it."""
    lines = "".join(f"q{k} {NASTY},{int(k % step == 0)}\n" for k in ids)
    data = f"id,score\n{lines}".encode()
    return {"name": f"{system}.csv", "mimeType": "text/csv", "buffer": data}


def choose(page: Any, button: str, *files: dict[str, Any]) -> None:
    with page.expect_file_chooser() as chooser:
        page.locator(".permtest-app button", has_text=button).click()
    chooser.value.set_files(list(files))


def press(page: Any, button: str) -> None:
    """By keyboard."""
    found = page.locator(".permtest-app button", has_text=button)
    found.focus()
    found.press("Enter")


def says(page: Any, text: str) -> None:
    page.locator(VERDICT, has_text=text).wait_for()


def settled(page: Any) -> None:
    page.locator(".permtest-app .permtest-work", has_text="Working").wait_for(state="detached")


def picture(page: Any) -> str:
    """The estimation plot, when it has been loaded."""
    found = page.locator(".permtest-app img").first
    assert found.evaluate("image => image.decode().then(() => image.naturalWidth > 0)")
    return str(found.get_attribute("src"))


def download(page: Any, name: str) -> bytes:
    with page.expect_download() as found:
        page.locator(f".permtest-app a[download='{name}']").click()
    assert found.value.suggested_filename == name
    return Path(found.value.path()).read_bytes()


def headings(page: Any) -> None:
    """Levels go down one by one."""
    levels = page.locator("h1:visible, h2:visible, h3:visible, h4:visible").evaluate_all(
        "all => all.map(one => Number(one.tagName[1]))"
    )
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def drop(page: Any, *files: dict[str, Any]) -> None:
    """Drag files from the desktop to the page."""
    page.locator(".permtest-app").evaluate(
        """(app, files) => {
          const held = new DataTransfer();
          for (const {name, text} of files) held.items.add(new File([text], name));
          app.dispatchEvent(new DragEvent("drop", {dataTransfer: held, bubbles: true}));
        }""",
        [{"name": one["name"], "text": one["buffer"].decode("latin-1")} for one in files],
    )


def compare_two_files(page: Any, give: Callable[..., None]) -> None:
    """A bad file, then two good ones; then all that there is to do with them."""
    says(page, "crf_rich scores higher than crf_base")
    before = picture(page)
    give(page, {"name": "photo.png", "mimeType": "image/png", "buffer": bytes(range(256)) * 4})
    page.locator(ALERT, has_text="Not taken: photo.png").wait_for()
    assert picture(page) == before
    give(page, scores("old", 3, range(40)))
    page.locator(ALERT, has_text="one system so far").wait_for()
    give(page, scores("new", 2, range(3, 42)))
    says(page, "old and new differ")
    assert page.locator(ALERT).count() == 0
    page.locator(".permtest-app", has_text="3 only in old").wait_for()
    change_every_control(page)
    page.wait_for_function(
        "old => document.querySelector('.permtest-app img')?.getAttribute('src') !== old",
        arg=before,
    )
    picture(page)
    open_all_and_download(page)
    headings(page)


def change_every_control(page: Any) -> None:
    for label, choice, said in (
        ("Question", "does B score higher?", "one-sided"),
        ("Level", "0.1", "90% interval"),
        ("Better is", "lower", "lower is better"),
        ("Metric", "sum", "difference of -5"),
        ("System A", "new", "No answer: "),
        ("System B", "old", "On 37 items"),
        ("Metric", "mean", "On 37 items"),
    ):
        control = page.get_by_label(label, exact=True)
        text = control.locator("option", has_text=choice).last.inner_text()
        control.select_option(label=text)
        page.locator(".permtest-app", has_text=said).wait_for()
    name = page.get_by_label("A is called", exact=True)
    name.fill("Our parser")
    name.press("Enter")
    says(page, "Our parser")
    settled(page)


def open_all_and_download(page: Any) -> None:
    for title, heading in (
        ("other tests", "Other tests"),
        ("power, and the next", "Power, and the next study"),
        ("evaluation units", "Evaluation units"),
    ):
        press(page, f"Show {title}")
        page.locator(".permtest-app h3", has_text=heading).wait_for()
    press(page, "Show the report as files")
    page.locator(".permtest-app a[download$='.zip']").wait_for()
    settled(page)
    with ZipFile(io.BytesIO(download(page, "permtest-report.zip"))) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    assert json.loads(held["permtest-report.json"])["names"] == ["Our parser", "old"]
    assert download(page, "permtest-report.html") == held["permtest-report.html"]
    assert page.locator(".permtest-app img:not([src^='data:'])").count() == 0


# ---- tests -------------------------------------------------------------------------------------


def test_two_people_compare_their_files_on_the_page(voila: str, page: Any) -> None:
    failed: list[str] = []
    page.on("pageerror", lambda error: failed.append(str(error)))
    page.on("dialog", lambda dialog: failed.append(dialog.message))
    other = page.context.browser.new_page()
    other.set_default_timeout(300_000)
    page.goto(voila, wait_until="commit")
    other.goto(voila, wait_until="commit")
    compare_two_files(page, drop)
    for width in (1400, 1100, 400):  # nothing sticks out
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.scrollingElement.scrollWidth") <= width
    page.set_viewport_size({"width": 1280, "height": 1000})
    says(other, "crf_rich scores higher than crf_base")  # as if nobody else were there
    other.get_by_label("Question", exact=True).select_option(label="one tail: does B score higher?")
    says(other, "crf_rich")
    assert "Our parser" in page.locator(VERDICT).inner_text()
    assert not failed


def test_it_works_in_jupyterlab(lab: Callable[[str], str], page: Any) -> None:
    failed: list[str] = []
    page.on("dialog", lambda dialog: failed.append(dialog.message))
    page.goto(lab(OWN))
    run_all_cells(page)
    compare_two_files(page, lambda page, *files: choose(page, "Choose files", *files))
    page.get_by_role("menuitem", name="View", exact=True).wait_for()
    no_errors(page)
    assert not failed


def test_the_slider_moves_the_numbers_and_the_picture(lab: Callable[[str], str], page: Any) -> None:
    page.goto(lab(FIRST))
    run_all_cells(page)
    sentence, picture = page.locator(SENTENCE), page.locator(PICTURE)
    assert "over 2077 pairs" in sentence.inner_text()
    assert "p = 0.000907" in sentence.inner_text()
    before = picture.get_attribute("src")
    handle = page.locator(".jp-OutputArea .noUi-handle")
    handle.focus()
    for _ in range(3):
        handle.press("ArrowLeft")
    page.locator(SENTENCE, has_text="over 2074 pairs").wait_for()
    page.wait_for_function(
        "([selector, src]) => document.querySelector(selector).src !== src", arg=[PICTURE, before]
    )
    assert picture.evaluate("image => image.complete && image.naturalWidth > 0")

    page.get_by_label("one tail: is A better?").check()
    page.locator(SENTENCE, has_text="one-sided (greater)").wait_for()
