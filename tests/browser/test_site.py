"""Readers run a notebook on the site: in their browser, with nothing installed, asking nobody."""

import os
import time
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from build_site import build_lite

from tests.browser.conftest import ROOT

pytestmark = pytest.mark.browser

ARCHIVE = ROOT.parent / "shared" / "browser" / "pyodide-0.27.7.tar.bz2"
FIRST = "01-are-they-different.ipynb"
ERROR = (
    "[data-mime-type='application/vnd.jupyter.stderr']"  # what cells wrote there, and tracebacks
)
LONGEST = 300_000  # ms, on a busy machine


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder, and keeps no log."""

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a JupyterLite that has Python itself."""
    if not ARCHIVE.exists():
        missing = f"there is no Pyodide at {ARCHIVE.relative_to(ROOT.parent)}, beside the checkout"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(missing)
    folder = tmp_path_factory.mktemp("site")
    build_lite(folder / "lite", ARCHIVE)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/lite"
    server.shutdown()
    server.server_close()


def test_a_notebook_runs_to_its_end_as_it_is(site: str, page: Any) -> None:
    start = time.perf_counter()

    def say(what: str) -> None:
        print(f"{what}: {time.perf_counter() - start:.1f} s")

    page.context.route(lambda url: not url.startswith(site.removesuffix("/lite")), refuse)
    page.set_default_timeout(LONGEST)
    page.goto(f"{site}/notebooks/index.html?path={FIRST}")
    page.locator(".jp-Notebook .jp-CodeCell").first.click()
    say("page")
    for menu, entry in (("Edit", "Clear Outputs of All Cells"), ("Run", "Run All Cells")):
        page.get_by_role("menuitem", name=menu, exact=True).click()
        page.get_by_role("menuitem", name=entry, exact=True).click()
    wrong = page.locator(ERROR)
    numbered = "prompt => /[0-9]/.test(prompt.textContent)"
    done = "prompt => !prompt.textContent.includes('*')"  # folded cells have no prompt
    for what, ready in (("kernel", f"some({numbered})"), ("end", f"every({done})")):
        prompts = "[...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')]"
        page.wait_for_function(f'document.querySelector("{ERROR}") || {prompts}.{ready}')
        say(what)
        if what == "kernel":
            page.locator(".jp-OutputArea img").or_(wrong).first.wait_for()
            say("first picture")
    assert wrong.all_inner_texts() == []
    assert page.locator(".jp-OutputArea .jupyter-widgets").count() > 0


def refuse(route: Any) -> None:
    route.abort()
