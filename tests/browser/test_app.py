"""People use the page of `permtest app`, each for themselves, and nobody else hears of it."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.test_cli_jupyter import fetch, kernel_of, running_app

pytestmark = pytest.mark.browser

WATCH = """
new MutationObserver(() => {
  const text = document.getElementById("loading_text")?.textContent;
  if (text) note(text);
}).observe(document, {subtree: true, childList: true, characterData: true});
"""

DROP = """button => {
  const files = new DataTransfer();
  files.items.add(new File(["1,0\\n"], "dropped.csv"));
  button.dispatchEvent(new DragEvent("drop", {dataTransfer: files, bubbles: true}));
}"""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_app(tmp_path_factory.mktemp("app")) as address:
        yield address


def open_page(page: Any, app: str) -> None:
    page.set_default_timeout(300_000)
    page.goto(app)
    page.locator("[role=status]", has_text="ready").wait_for()


def test_a_page_shows_how_far_it_is_takes_files_of_some_size_and_asks_nobody(
    app: str,
    page: Any,
    tmp_path: Path,
) -> None:
    texts, failed = [], []
    page.expose_function("note", lambda text: texts.append(text))
    page.add_init_script(WATCH)
    page.on("requestfailed", lambda request: failed.append(request.url))
    open_page(page, app)
    assert "Starting a Python for this page; this takes some seconds" in texts
    assert "token" not in page.url
    assert page.title() == "permtest: compare two systems"
    assert page.evaluate("document.documentElement.lang") == "en"
    assert page.locator("mjx-container").count() == 1

    data = tmp_path / "scores.csv"
    data.write_bytes(b"1,0\n" * 3_000_000)  # more than Jupyter lets through
    choose(page, data)
    page.locator("[role=status]", has_text="got 12000000 bytes").wait_for()
    assert page.locator(".jupyter-widgets-error-widget").count() == 0
    page.locator("button.widget-upload").evaluate(DROP)
    page.locator("[role=status]", has_text="got 4 bytes").wait_for()

    with data.open("wb") as large:
        large.truncate(200_000_000)
    choose(page, data)
    said = "Not taken: scores.csv has 200 MB, more than 100 MB; permtest compare takes such files."
    page.get_by_role("alert").filter(has_text=said).wait_for(timeout=3_000)  # no byte was sent
    assert page.locator("[role=status]", has_text="got 4 bytes").count() == 1
    assert not failed


def choose(page: Any, path: Path) -> None:
    with page.expect_file_chooser() as chooser:
        page.locator("button.widget-upload").click()
    chooser.value.set_files(path)


def test_every_page_has_a_kernel_which_ends_with_it(app: str, page: Any) -> None:
    open_page(page, app)
    other = page.context.browser.new_context().new_page()
    open_page(other, app)
    other.locator(".noUi-handle").press("ArrowRight")
    other.locator("[role=status]", has_text="slid to 1").wait_for()
    assert page.locator("[role=status]").inner_text() == "ready"

    mine, its = (app.replace("?", f"api/kernels/{kernel_of(p.content())}?") for p in (page, other))
    assert fetch(its)[0] == 200
    other.close(run_before_unload=True)
    deadline = time.monotonic() + 300
    while fetch(its)[0] != 404:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert fetch(mine)[0] == 200
