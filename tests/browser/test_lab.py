"""A person opens notebook 01 in JupyterLab, runs it, and moves the slider."""

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sync_api = pytest.importorskip("playwright.sync_api")

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = "01-are-they-different.ipynb"
END = "All cells ran."
SENTENCE = ".jp-OutputArea .widget-html [role=status]"
PICTURE = ".jp-OutputArea .widget-html img"
QUIET = {  # no news, no autosave, and every cell in the page whether in sight or not
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/docmanager-extension:plugin": {"autosave": False},
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
}
CHROMIUM = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
CHROMIUM += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]

pytestmark = pytest.mark.browser


def jupyter_environment(home: Path) -> dict[str, str]:
    """Variables that keep Jupyter's settings, and what it writes, in a folder of its own."""
    names = ["JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"]
    names += ["JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR"]
    folders = {name: str(home / name.lower()) for name in names}
    overrides = Path(folders["JUPYTER_CONFIG_DIR"], "labconfig", "default_setting_overrides.json")
    overrides.parent.mkdir(parents=True)
    overrides.write_text(json.dumps(QUIET), encoding="utf-8")
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return os.environ | folders | {"PYTHONPATH": path}


def wait_until_it_answers(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and server.poll() is None:
        try:
            direct.open(url, timeout=5).close()
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
        else:
            return
    pytest.fail("JupyterLab did not start:\n" + log.read_text(errors="replace"))


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """Address of a copy of the notebook in a JupyterLab of our own."""
    shutil.copytree(ROOT / "notebooks", tmp_path / "notebooks")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token, log = secrets.token_hex(16), tmp_path / "lab.log"
    command = [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root"]
    command += ["--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"]
    command += [f"--ServerApp.root_dir={tmp_path / 'notebooks'}"]
    command += [f"--IdentityProvider.token={token}", "--LabApp.extension_manager=readonly"]
    environment = jupyter_environment(tmp_path / "jupyter")
    with log.open("wb") as out:
        server = subprocess.Popen(command, env=environment, stdout=out, stderr=out)
        try:
            wait_until_it_answers(f"http://127.0.0.1:{port}/api?token={token}", server, log)
            yield f"http://127.0.0.1:{port}/lab/tree/{NOTEBOOK}?token={token}"
        finally:
            server.terminate()
            try:
                server.wait(timeout=20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


@pytest.fixture
def page(chromium: str) -> Iterator[Any]:
    """A page that remembers whom it asked for what."""
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, headless=True, args=CHROMIUM)
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.asked = []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("websocket", lambda socket: page.asked.append(socket.url))
        page.set_default_timeout(300_000)
        yield page
        browser.close()


def outsiders(urls: list[str]) -> list[str]:
    """Requests that leave this machine."""
    inside = ("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:http://127.0.0.1:", "about:")
    return [url for url in urls if not url.startswith(inside)]


def run_all_cells(page: Any) -> None:
    page.locator("#jp-main-statusbar", has_text="| Idle").wait_for()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    page.locator(".jp-OutputArea-output", has_text=END).wait_for()


def test_the_slider_moves_the_numbers_and_the_picture(lab: str, page: Any) -> None:
    page.goto(lab)
    run_all_cells(page)
    assert page.locator("[data-mime-type='application/vnd.jupyter.error']").count() == 0
    assert page.locator("[data-mime-type='application/vnd.jupyter.stderr']").count() == 0

    sentence, picture = page.locator(SENTENCE), page.locator(PICTURE)
    assert "over 2077 pairs" in sentence.inner_text()
    assert "p = 0.000907" in sentence.inner_text()
    assert page.locator(".jupyter-widgets-error-widget").count() == 0
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
    if folder := os.environ.get("PERMTEST_SCREENSHOTS"):
        picture.scroll_into_view_if_needed()
        page.screenshot(path=Path(folder, "lab.png"))
    assert not outsiders(page.asked)
