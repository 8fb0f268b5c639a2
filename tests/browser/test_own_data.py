"""People compare their own files, in Voila and in JupyterLab, and take the report away."""

import io
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import nbformat
import pytest

from tests.browser.test_lab import (  # noqa: F401 - fixtures
    END,
    NOTEBOOK,
    ROOT,
    jupyter_environment,
    lab,
    outsiders,
    page,
    run_all_cells,
)

OWN = "09-your-own-data.ipynb"
SENTENCE = ".permtest-app .permtest-verdict"
ALERT = ".permtest-app [role=alert]"
SERVE = "import sys; from pathlib import Path; from permtest._jupyter import serve; "
SERVE += "serve(Path(sys.argv[1]), browser=False)"
NASTY = "<img src=x onerror=alert(1)>"

pytestmark = pytest.mark.browser


def only_the_page(path: Path) -> None:
    """Leave the cells that the page of `permtest app` consists of, and the last one."""
    notebook = nbformat.read(path, as_version=4)
    kept = {"page", "setup"}
    cells = [cell for cell in notebook.cells if kept & set(cell.metadata.get("tags", []))]
    notebook.cells = [*cells, nbformat.v4.new_code_cell(f"print({END!r})")]
    nbformat.write(notebook, path)


@pytest.fixture
def voila(tmp_path: Path) -> Iterator[str]:
    """Address of the page, served as `permtest app` serves it."""
    notebook = tmp_path / OWN
    notebook.write_bytes((ROOT / "notebooks" / OWN).read_bytes())
    only_the_page(notebook)
    log = tmp_path / "voila.log"
    with log.open("wb") as out:
        command = [sys.executable, "-c", SERVE, str(notebook)]
        environment = jupyter_environment(tmp_path / "jupyter")
        server = subprocess.Popen(command, env=environment, stdout=out, stderr=out)
        try:
            yield address(server, log)
        finally:
            server.send_signal(signal.SIGTERM)
            try:
                server.wait(timeout=20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def address(server: "subprocess.Popen[bytes]", log: Path) -> str:
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and server.poll() is None:
        if found := re.search(r"http://127\.0\.0\.1:\d+/\S+", log.read_text(errors="replace")):
            return found[0]
        time.sleep(0.1)
    return pytest.fail("the page was not served:\n" + log.read_text(errors="replace"))


# ---- what people do ----------------------------------------------------------------------------


def scores(system: str, step: int, ids: range) -> dict[str, Any]:
    """A file of one system, as a browser is handed it."""
    lines = "".join(f"q{k} {NASTY},{int(k % step == 0)}\n" for k in ids)
    data = f"id,score\n{lines}".encode()
    return {"name": f"{system}.csv", "mimeType": "text/csv", "buffer": data}


def choose(page: Any, button: str, *files: dict[str, Any]) -> None:  # noqa: F811
    with page.expect_file_chooser() as chooser:
        page.locator(".permtest-app button", has_text=button).click()
    chooser.value.set_files(list(files))


def press(page: Any, button: str) -> None:  # noqa: F811
    """By keyboard."""
    found = page.locator(".permtest-app button", has_text=button)
    found.focus()
    found.press("Enter")


def says(page: Any, text: str) -> None:  # noqa: F811
    page.locator(SENTENCE, has_text=text).wait_for()


def settled(page: Any) -> None:  # noqa: F811
    page.locator(".permtest-app .permtest-work", has_text="Working").wait_for(state="detached")


def picture(page: Any) -> str:  # noqa: F811
    """The estimation plot, when it has been loaded."""
    found = page.locator(".permtest-app img").first
    assert found.evaluate("image => image.decode().then(() => image.naturalWidth > 0)")
    return str(found.get_attribute("src"))


def download(page: Any, name: str) -> bytes:  # noqa: F811
    with page.expect_download() as found:
        page.locator(f".permtest-app a[download='{name}']").click()
    assert found.value.suggested_filename == name
    return Path(found.value.path()).read_bytes()


def screenshots(page: Any, name: str) -> None:  # noqa: F811
    """The page on a window, a small one and a phone, light and dark; nothing sticks out."""
    for width, scheme in itertools.product((1400, 1100, 400), ("light", "dark")):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.scrollingElement.scrollWidth") <= width
        right = page.locator(".permtest-app").evaluate("app => app.getBoundingClientRect().right")
        assert right <= width
        if folder := os.environ.get("PERMTEST_SCREENSHOTS"):
            page.screenshot(path=Path(folder, f"{name}-{width}-{scheme}.png"))
    page.set_viewport_size({"width": 1280, "height": 1000})


def headings(page: Any) -> None:  # noqa: F811
    """Levels go down one by one."""
    levels = page.locator("h1:visible, h2:visible, h3:visible, h4:visible").evaluate_all(
        "all => all.map(one => Number(one.tagName[1]))"
    )
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def drop(page: Any, *files: dict[str, Any]) -> None:  # noqa: F811
    """Drag files from the desktop to the page."""
    page.locator(".permtest-app").evaluate(
        """(app, files) => {
          const held = new DataTransfer();
          for (const {name, text} of files) held.items.add(new File([text], name));
          app.dispatchEvent(new DragEvent("drop", {dataTransfer: held, bubbles: true}));
        }""",
        [{"name": one["name"], "text": one["buffer"].decode("latin-1")} for one in files],
    )


def compare_two_files(page: Any, give: Callable[..., None]) -> None:  # noqa: F811
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
    settled(page)
    assert "3 only in A" in page.locator(".permtest-app").inner_text()
    change_every_control(page)
    assert picture(page) != before
    open_all_and_download(page)
    headings(page)


def change_every_control(page: Any) -> None:  # noqa: F811
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


def open_all_and_download(page: Any) -> None:  # noqa: F811
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


def test_two_people_compare_their_files_on_the_page(voila: str, page: Any) -> None:  # noqa: F811
    failed: list[str] = []
    page.on("pageerror", lambda error: failed.append(str(error)))
    page.on("dialog", lambda dialog: failed.append(dialog.message))
    other = page.context.browser.new_page()
    other.set_default_timeout(300_000)
    page.goto(voila, wait_until="commit")
    other.goto(voila, wait_until="commit")
    compare_two_files(page, drop)
    screenshots(page, "app-voila")
    says(other, "crf_rich scores higher than crf_base")  # as if nobody else were there
    other.get_by_label("Question", exact=True).select_option(label="one tail: does B score higher?")
    says(other, "crf_rich")
    assert "Our parser" in page.locator(SENTENCE).inner_text()
    assert not outsiders(page.asked)
    assert not failed


def test_it_works_in_jupyterlab(lab: str, page: Any, tmp_path: Path) -> None:  # noqa: F811
    only_the_page(tmp_path / "notebooks" / OWN)
    failed: list[str] = []
    page.on("dialog", lambda dialog: failed.append(dialog.message))
    page.goto(lab.replace(NOTEBOOK, OWN))
    run_all_cells(page)
    compare_two_files(page, lambda page, *files: choose(page, "Choose files", *files))
    page.get_by_role("menuitem", name="View", exact=True).wait_for()
    assert page.locator("[data-mime-type='application/vnd.jupyter.error']").count() == 0
    assert page.locator("[data-mime-type='application/vnd.jupyter.stderr']").count() == 0
    assert page.locator(".jupyter-widgets-error-widget").count() == 0
    if folder := os.environ.get("PERMTEST_SCREENSHOTS"):
        page.locator(".permtest-app h2").first.scroll_into_view_if_needed()
        page.screenshot(path=Path(folder, "app-lab.png"))
    assert not outsiders(page.asked)
    assert not failed
