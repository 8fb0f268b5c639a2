"""Servers and a browser for the tests that drive one."""

import json
import os
import re
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
QUIET = {  # no news, no autosave, and every cell in the page whether in sight or not
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/docmanager-extension:plugin": {"autosave": False},
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
}


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


@contextmanager
def serving(command: Sequence[str], folder: Path) -> Iterator[str]:
    """Start a server, and wait until its log names an address."""
    log, environment = folder / "log", jupyter_environment(folder / "jupyter")
    with log.open("wb") as out:
        server = subprocess.Popen(command, env=environment, stdout=out, stderr=out)
        try:
            yield address(server, log)
        finally:
            server.terminate()
            try:
                server.wait(timeout=20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def address(server: "subprocess.Popen[bytes]", log: Path) -> str:
    deadline = time.monotonic() + 300  # after which it is taken to hang
    while time.monotonic() < deadline and server.poll() is None:
        if found := re.search(r"http://127\.0\.0\.1:\d+/\S+", log.read_text(errors="replace")):
            return found[0]
        time.sleep(0.1)
    return pytest.fail("nothing was served:\n" + log.read_text(errors="replace"))


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page that remembers whom it asked for what; those must be on this machine."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    page, asked = context.new_page(), []
    context.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: asked.append(socket.url))
    page.set_default_timeout(300_000)
    yield page
    context.close()
    inside = ("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:http://127.0.0.1:", "about:")
    assert not [url for url in asked if not url.startswith((*inside, "file:"))]
