"""People use the page of `permtest app`, each for themselves, and nobody else hears of it."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.test_app import fetch, kernel_of, running_app

pytestmark = pytest.mark.browser

NASTY = "<img src=x onerror=alert(1)>"
MARKS = "student,before,after\n17,2.3,2.0\n4,3.7,2.3\n21,1.0,1.3\n8,2.0,1.7\n"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_app(tmp_path_factory.mktemp("app")) as address:
        yield address


def open_page(page: Any, app: str) -> None:
    page.set_default_timeout(300_000)
    page.goto(app)
    page.get_by_role("button", name="Show an example").wait_for()


def choose(page: Any, *files: dict[str, Any]) -> None:
    with page.expect_file_chooser() as chooser:
        page.locator("button.widget-upload").click()
    chooser.value.set_files(list(files))


def one_file(name: str, text: str) -> dict[str, Any]:
    """A file as a browser is handed it."""
    return {"name": name, "mimeType": "text/csv", "buffer": text.encode()}


def press(page: Any, button: str) -> None:
    """By keyboard."""
    found = page.get_by_role("button", name=button, exact=True).first
    found.focus()
    found.press("Enter")


def report(page: Any) -> Any:
    return page.frame_locator("iframe[title='the report']")


def test_somebody_compares_two_columns_and_two_files(app: str, page: Any) -> None:
    failed: list[str] = []
    page.on("pageerror", lambda error: failed.append(str(error)))
    page.on("dialog", lambda dialog: failed.append(dialog.message))
    open_page(page, app)
    choose(page, one_file("marks.csv", MARKS))
    page.get_by_role("alert").filter(has_text="say which columns are what").wait_for()
    assert page.get_by_label("System A", exact=True).input_value() == "before"
    press(page, "Compare")
    report(page).get_by_text("over 4 pairs").first.wait_for()

    lines = [f"q{k} {NASTY},{{}}\n" for k in range(40)]
    texts = ("".join(x.format(k % n) for k, x in enumerate(lines)) for n in (3, 4))
    old, new = (f"id,score\n{text}" for text in texts)
    choose(page, one_file("old.csv", old), one_file("new.csv", new))
    press(page, "Compare")
    report(page).get_by_text("over 40 pairs").first.wait_for()
    with page.expect_download() as found:
        page.get_by_role("link", name="report.json").click()
    assert json.loads(Path(found.value.path()).read_text("utf-8"))["n"] == 40
    for width in (1400, 1100, 400):  # nothing sticks out
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.scrollingElement.scrollWidth") <= width
    assert not failed


def test_files_of_some_size_come_through(app: str, page: Any) -> None:
    open_page(page, app)
    choose(page, one_file("scores.csv", "1,0\n0,1\n1,0\n" * 1_000_000))  # more than is usual
    page.get_by_text("scores.csv: 3,000,000 lines").wait_for()
    assert page.locator(".jupyter-widgets-error-widget").count() == 0


def test_every_page_has_a_kernel_which_ends_with_it(app: str, page: Any) -> None:
    open_page(page, app)
    other = page.context.browser.new_context().new_page()
    open_page(other, app)
    press(other, "Show an example")
    other.get_by_text("example.csv: 12 lines").wait_for()
    assert page.get_by_text("example.csv").count() == 0

    server, _, query = app.partition("/voila/render/permtest.ipynb?")
    mine, its = (
        f"{server}/api/kernels/{kernel_of(one.content())}?{query}" for one in (page, other)
    )
    assert fetch(its)[0] == 200
    other.close(run_before_unload=True)
    deadline = time.monotonic() + 300
    while fetch(its)[0] != 404:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert fetch(mine)[0] == 200
