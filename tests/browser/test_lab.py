"""People run notebooks in JupyterLab, and compare their own files there."""

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
QUIET = {  # no news, no autosave, and every cell in the page whether in sight or not
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/docmanager-extension:plugin": {"autosave": False},
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
}
FIRST, OWN = "01-are-they-different.ipynb", "11-your-own-data.ipynb"
END = "All cells ran."
SENTENCE = ".jp-OutputArea .widget-html [role=status]"
PICTURE = ".jp-OutputArea .widget-html img"

pytestmark = pytest.mark.browser


def own_settings(folder: Path) -> dict[str, str]:
    """Variables that keep Jupyter's settings, and what it writes, in a folder of its own."""
    overrides = folder / "jupyter_config_dir" / "labconfig" / "default_setting_overrides.json"
    overrides.parent.mkdir(parents=True)
    overrides.write_text(json.dumps(QUIET), encoding="utf-8")
    names = ["JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"]
    names += ["JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR"]
    own = {name: str(folder / name.lower()) for name in names}
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return os.environ | own | {"PYTHONPATH": path}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """Addresses of the notebooks in a JupyterLab, each in a workspace of its own."""
    folder = tmp_path_factory.mktemp("lab")
    shutil.copytree(ROOT / "notebooks", folder / "notebooks")
    for name in (FIRST, OWN):
        prepare(folder / "notebooks" / name)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token = secrets.token_hex(16)
    command = [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root"]
    command += ["--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"]
    command += [f"--ServerApp.root_dir={folder / 'notebooks'}"]
    command += [f"--IdentityProvider.token={token}", "--LabApp.extension_manager=readonly"]
    log = folder / "log"
    with log.open("wb") as out:
        server = subprocess.Popen(command, env=own_settings(folder), stdout=out, stderr=out)
    deadline = time.monotonic() + 300  # after which it is taken to hang
    try:
        while f"127.0.0.1:{port}/" not in (told := log.read_text(errors="replace")):
            assert server.poll() is None, told
            assert time.monotonic() < deadline, told
            time.sleep(0.1)
        where = f"http://127.0.0.1:{port}/lab/workspaces"
        yield lambda name: f"{where}/{name[:2]}/tree/{name}?token={token}"
    finally:
        server.terminate()
        server.wait(timeout=60)


def prepare(path: Path) -> None:
    """Leave out the outputs; add a last cell to wait for."""
    notebook = nbformat.read(path, as_version=4)
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


def test_own_files_are_compared_in_jupyterlab(lab: Callable[[str], str], page: Any) -> None:
    page.goto(lab(OWN))
    run_all_cells(page)
    app = page.locator(".permtest-app").last
    app.get_by_role("button", name="Compare", exact=True).click()
    app.frame_locator("iframe").get_by_text("paired-permutation test").first.wait_for()
    no_errors(page)


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

    page.get_by_label("Test", exact=True).select_option("one tail: is A better?")
    page.locator(SENTENCE, has_text="one-sided paired-permutation test").wait_for()
