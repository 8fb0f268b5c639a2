"""`permtest app`, and the cure for kernels whose messages are missed."""

import asyncio
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from html import escape
from http.client import HTTPConnection
from pathlib import Path
from queue import Empty
from types import SimpleNamespace
from urllib.parse import urlsplit

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

from permtest import _jupyter
from permtest.app import bundled
from permtest.cli import commands
from permtest.course import load

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WHEEL = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]


# ---- the command -------------------------------------------------------------------------------


def test_without_the_extra(command_line, monkeypatch):
    monkeypatch.setitem(sys.modules, "voila", None)
    said = "permtest app needs voila: pip install 'permtest[lab]'\n"
    assert command_line("app") == (2, "", f"permtest app: error: {said}")


def test_a_port_that_is_taken_or_none(command_line):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        code, _, err = command_line("app", "--port", port)
    assert code == 2
    assert err.startswith(f"permtest app: error: --port {port}: ")
    assert err.endswith("; choose another, or leave it out\n")
    said = "--port 65536: a port is a number from 1 to 65535"
    assert said in command_line("app", "--port", 65536)[2]


def test_the_app_is_the_notebook_that_comes_with_the_package(command_line, monkeypatch, tmp_path):
    served = []
    monkeypatch.setattr(commands, "serve", lambda *args, **named: served.append((*args, named)))
    package = tmp_path / "site-packages" / "permtest"  # as a wheel has it, without a checkout
    for source, target in WHEEL["force-include"].items():
        inside = package.parent / target
        inside.parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / source).is_dir() else shutil.copyfile
        copy(ROOT / source, inside)
    monkeypatch.setattr(_jupyter, "PACKAGE", package)
    assert command_line("app", "--port", 8123, "--no-browser") == (0, "starting the page\n", "")
    path = package / "notebooks" / "12-your-own-data.ipynb"
    assert served == [(path, {"port": 8123, "browser": False})]
    assert bundled("own_taggers.csv") == path.parent / "data" / "own_taggers.csv"
    assert len(load("ud_en_ewt_pos")) == 2077
    shutil.rmtree(path.parent)
    code, _, err = command_line("app")
    assert (code, err.count("\n")) == (2, 1)
    assert "install permtest again" in err


# ---- the app -----------------------------------------------------------------------------------

WIDGETS = """
import ipywidgets as w
said = w.HTML("<p role='status'>ready</p>")
files, slider = w.FileUpload(), w.IntSlider()
def say(text): said.value = f"<p role='status'>{text}</p>"
files.observe(lambda change: say(f"got {len(change.new[0].content)} bytes"), "value")
slider.observe(lambda change: say(f"slid to {change.new}"), "value")
w.VBox([files, slider, said])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Where the page has its notebook, its settings, and what it opens in a browser: `opened`."""
    return tmp_path_factory.mktemp("app")


@contextmanager
def running_app(folder: Path, idle: int = 60) -> Iterator[str]:
    """The address of a page with an upload, a slider and a sentence."""
    browser = folder / "browser.sh"
    browser.write_text(f'#!/bin/sh\ncd {folder}\necho "$@" >part\nmv part opened\n')
    browser.chmod(0o700)
    cells = [new_markdown_cell("# A page\n\n$x^2$"), new_code_cell(WIDGETS)]
    for cell in cells:
        cell.metadata["tags"] = ["page"]
    cells.insert(1, new_code_cell("print('not for the page')"))
    metadata = {"kernelspec": {"name": "python3", "display_name": "", "language": "python"}}
    nbformat.write(new_notebook(cells=cells, metadata=metadata), folder / "page.ipynb")
    code = "import sys; from pathlib import Path; from permtest._jupyter import serve; "
    code += f"serve(Path(sys.argv[1]), idle={idle})"
    command = [sys.executable, "-W", "error", "-c", code, folder / "page.ipynb"]
    names = ["JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"]
    homes = {name: str(folder / name.lower()) for name in names}
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = os.environ | homes | {"PYTHONPATH": path, "BROWSER": f"{browser} %s"}
    environment["TMPDIR"] = str(folder)
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=log) as app,
    ):
        try:
            lines = [app.stdout.readline().decode() for _ in range(3)]
            assert lines[-1].endswith("Ctrl-C stops it\n"), (folder / "log").read_text()
            yield lines[1].strip()
        finally:
            app.send_signal(signal.SIGTERM)
            rest = app.stdout.read().decode()
            app.wait(timeout=120)
    assert app.returncode == 0
    assert rest.endswith("the page has been stopped\n")
    assert not [*folder.glob("permtest-*")], "what it opened is gone"


@pytest.fixture(scope="module")
def app(folder) -> Iterator[str]:
    with running_app(folder, idle=2) as address:
        yield address


def fetch(url: str, **headers: str) -> tuple[int, dict[str, str], str]:
    """Status, headers and text; redirections are not followed."""
    server = urlsplit(url).netloc
    with closing(HTTPConnection(server, timeout=300)) as connection:
        connection.request("GET", url.partition(server)[2], headers=headers)
        reply = connection.getresponse()
        return reply.status, dict(reply.headers), reply.read().decode()


def kernel_of(page: str) -> str:
    return re.search(r'"kernelId": "([\w-]+)"', page)[1]


LOADED = r"""(?:src|<link[^>]*href)\s*=\s*["']?(?:https?:)?//[^>]*|@import|url\(.?http"""


def asked_elsewhere(page: str) -> list[str]:
    return re.findall(LOADED, page)


def test_the_page_says_what_it_is_and_asks_nobody_else(app):
    not_for_the_asking = "&template=reveal&theme=dark"
    status, headers, page = fetch(app + not_for_the_asking)
    assert status == 200
    assert '<html lang="en">' in page
    assert "<title>permtest: compare two systems</title>" in page
    assert "Starting a Python for this page" in page
    assert not asked_elsewhere(page)
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self' 'unsafe-inline';")
    assert not re.search(r"\*|https?:", policy)
    assert "said = w.HTML" not in page
    assert "not for the page" not in page


def test_only_who_has_the_token_gets_a_page(app):
    address = app.split("?")[0]
    status, headers, page = fetch(address)
    assert status == 302
    login = headers["Location"].partition("?")[0]
    assert address.endswith(login.removesuffix("login"))
    status, _, page = fetch(address + "login")
    assert status == 200
    assert not asked_elsewhere(page)


def test_the_token_is_in_no_command_line(app, folder):
    """All users of a machine see command lines; only one of them may read the file."""
    token = app.rpartition("=")[2]
    deadline = time.monotonic() + 60
    while not (folder / "opened").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # of processes that have just ended
            assert token.encode() not in path.read_bytes()
    url = (folder / "opened").read_text().strip()
    assert url.startswith("file:///")
    assert token not in url
    page = Path(url.removeprefix("file://"))
    assert escape(app) in page.read_text()
    assert page.stat().st_mode & 0o077 == 0
    assert page.parent.stat().st_mode & 0o077 == 0
    assert page.parent.parent == folder


def test_no_other_origin_gets_a_socket_even_with_the_token(app):
    address, token = app.split("?")
    page = fetch(app)
    where = address.replace("http", "ws") + f"api/kernels/{kernel_of(page[2])}/channels"
    cookie = page[1]["Set-Cookie"].partition(";")[0]

    async def connect(url: str, **headers: str) -> None:
        (await websocket_connect(HTTPRequest(url, headers=headers))).close()

    asyncio.run(connect(f"{where}?{token}", Origin=address.rpartition("/")[0].rpartition("/")[0]))
    for origin in ("https://example.org", "http://127.0.0.1:1", "null"):
        for url, headers in ((f"{where}?{token}", {}), (where, {"Cookie": cookie})):
            with pytest.raises(HTTPClientError, match="403"):
                asyncio.run(connect(url, Origin=origin, **headers))


def test_a_page_elsewhere_cannot_pass_for_this_machine(app):
    status, headers, page = fetch(app, Host="example.org")
    assert status == 403
    assert "permtest app" in page
    assert not asked_elsewhere(page)
    assert "default-src 'none'" in headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    "name", ["voila/files/page.ipynb", "voila/files/log", "api/contents", "logout", "nothing/here"]
)
def test_nothing_else_is_served(app, name):
    address, token = app.split("?")
    assert fetch(f"{address}{name}?{token}")[0] in {302, 403, 404}


def test_large_files_come_through_and_kernels_that_nobody_looks_at_end(app):
    address, token = app.split("?")

    def there(kernel: str) -> bool:
        return fetch(f"{address}api/kernels/{kernel}?{token}")[0] == 200

    async def look() -> None:
        other = kernel_of((await asyncio.to_thread(fetch, app))[2])
        kernel = kernel_of((await asyncio.to_thread(fetch, app))[2])
        assert other != kernel
        channels = address.replace("http", "ws") + f"api/kernels/{kernel}/channels"
        connection = await websocket_connect(f"{channels}?session_id=s&{token}")
        header = {"msg_id": "1", "msg_type": "comm_info_request", "session": "s", "version": "5.3"}
        message = {"header": header, "parent_header": {}, "metadata": {}, "channel": "shell"}
        message["content"] = {"target_name": "none", "padding": "x" * 110_000_000}
        await connection.write_message(json.dumps(message))
        reply = {"msg_type": "none yet"}
        while reply["msg_type"] != "comm_info_reply":
            reply = json.loads(await connection.read_message())
        assert reply["parent_header"]["msg_id"] == "1"

        deadline = time.monotonic() + 300
        while await asyncio.to_thread(there, other):
            assert time.monotonic() < deadline
            await asyncio.sleep(0.2)
        assert await asyncio.to_thread(there, kernel)
        connection.close()

    asyncio.run(look())


# ---- kernels whose messages are missed -----------------------------------------------------------


class Channel:
    """A socket that is silent for some polls; it is the clock as well."""

    def __init__(self, silent: int) -> None:
        self.silent, self.socket = silent, self
        self.polls: list[int] = []

    async def poll(self, milliseconds: int) -> bool:
        self.polls.append(milliseconds)
        return len(self.polls) > self.silent

    def monotonic(self) -> float:
        return sum(self.polls) / 1000

    async def _recv(self) -> dict[str, str]:
        return {"said": "something"}


def test_a_missed_wake_up_costs_one_slice_and_a_timeout_is_kept(monkeypatch):
    channel = Channel(silent=1)
    assert asyncio.run(_jupyter._get_msg_in_slices(channel)) == {"said": "something"}
    assert channel.polls == [250, 250]
    channel = Channel(silent=9)
    monkeypatch.setattr(_jupyter, "time", channel)
    with pytest.raises(Empty):
        asyncio.run(_jupyter._get_msg_in_slices(channel, timeout=0.375))
    assert channel.polls == [250, 125]


def test_a_kernel_waits_longer_for_its_page_than_it_outlives_it(monkeypatch):
    now, ended = [0.0], []
    monkeypatch.setattr(_jupyter, "time", SimpleNamespace(monotonic=lambda: now[0]))
    _, kernels_class = _jupyter._classes("/")
    kernels = kernels_class(cull_idle_timeout=60)
    kernels._kernels["k"] = SimpleNamespace(execution_state="idle")
    kernels._kernel_connections["k"] = 0

    async def shutdown(kernel_id: str) -> None:
        ended.append(kernel_id)

    monkeypatch.setattr(kernels, "shutdown_kernel", shutdown)

    def ends_within(seconds: int) -> bool:
        for _ in range(2):
            asyncio.run(kernels.cull_kernel_if_idle("k"))
            now[0] += seconds
        return bool(ended)

    assert not ends_within(250)
    kernels.notify_connect("k")
    assert not ends_within(1000)
    kernels.notify_disconnect("k")
    assert ends_within(61)
