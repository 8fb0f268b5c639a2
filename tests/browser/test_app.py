"""Two people use the page of `permtest app`, each for themselves, and nobody else hears of it."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.test_lab import outsiders, page  # noqa: F401 - a fixture
from tests.test_cli_commands import fetch, kernel_of, running_app

pytestmark = pytest.mark.browser


@pytest.fixture
def app(tmp_path: Path) -> Iterator[str]:
    with running_app(tmp_path) as address:
        yield address


def test_each_page_has_a_kernel_and_stays_on_this_machine(
    app: str,
    page: Any,  # noqa: F811
    tmp_path: Path,
) -> None:
    texts = []
    page.expose_function("note", lambda text: texts.append(text))
    page.add_init_script(
        "new MutationObserver(() => {"
        "  const text = document.getElementById('loading_text')?.textContent;"
        "  if (text) note(text);"
        "}).observe(document, {subtree: true, childList: true, characterData: true})"
    )
    failed = []
    page.on("requestfailed", lambda request: failed.append(request.url))
    page.goto(app)
    page.locator("[role=status]", has_text="ready").wait_for()
    assert "Starting a Python for this page; this takes some seconds" in texts
    assert "Preparing the page: step 2 of 2" in texts
    assert page.title() == "permtest: compare two systems"
    assert page.evaluate("document.documentElement.lang") == "en"
    assert page.locator("mjx-container").count() == 1  # the formula, without asking for its fonts

    other = page.context.browser.new_page()
    other.set_default_timeout(60_000)
    other.goto(app)
    other.locator("[role=status]", has_text="ready").wait_for()
    other.locator(".noUi-handle").press("ArrowRight")
    other.locator("[role=status]", has_text="slid to 1").wait_for()
    assert page.locator("[role=status]").inner_text() == "ready"
    kernel = f"api/kernels/{kernel_of(other.content())}?"
    assert fetch(app.replace("?", kernel))[0] == 200
    other.close(run_before_unload=True)
    deadline = time.monotonic() + 30
    while fetch(app.replace("?", kernel))[0] != 404:
        assert time.monotonic() < deadline
        time.sleep(0.1)

    data = tmp_path / "scores.csv"
    data.write_bytes(b"1,0\n" * 3_000_000)
    with page.expect_file_chooser() as chooser:
        page.locator("button.widget-upload").click()
    chooser.value.set_files(data)
    page.locator("[role=status]", has_text="got 12000000 bytes").wait_for()
    assert page.locator(".jupyter-widgets-error-widget").count() == 0
    assert not outsiders(page.asked)
    assert not failed
