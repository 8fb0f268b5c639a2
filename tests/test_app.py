"""The page without a browser: menus, what it shows and refuses; and the server that has it."""

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import time
from base64 import b64decode
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from http.client import HTTPConnection
from importlib import import_module
from pathlib import Path
from queue import Empty
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest
from jupyter_client.channels import AsyncZMQSocketChannel
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

import permtest as pt
from permtest import app as page
from permtest.app import EXAMPLE, ComparisonApp
from permtest.readers import File
from tests.html_page import Page

ROOT = Path(__file__).resolve().parents[1]
MARKS = File("marks.csv", b"student,before,after\n17,2.3,2.0\n4,3.7,2.3\n21,1.0,1.3\n8,2.0,1.7\n")
ONES = [
    File(f"{x}.csv", b"id,acc\n" + b"".join(b"q%d,%d\n" % (i, i % (k + 2)) for i in range(9)))
    for k, x in enumerate("xyz", 1)
]
NASTY = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


def upload(*files: File) -> tuple[dict[str, Any], ...]:
    """What the browser sends."""
    more = {"type": "", "last_modified": datetime.now(UTC)}
    return tuple(
        {"name": one.path, "size": len(one.data), "content": one.data} | more for one in files
    )


def visible(widget: Any) -> bool:
    return widget.layout.display != "none"


@pytest.fixture(autouse=True)
def _undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures take longest, and tests of the report look at them."""
    monkeypatch.setattr(import_module("permtest.study.report"), "_drawn", lambda _: "data:,")


# ---- menus and the answer ------------------------------------------------------------------------


def test_nothing_is_computed_before_a_person_has_confirmed_the_proposal() -> None:
    app = ComparisonApp(MARKS)
    assert "say which columns are what" in app.problem.value
    assert "The menus hold a proposal" in app.problem.value
    chosen = {name: menu.value for name, menu in app.menus.items() if menu.value is not None}
    assert chosen == {"id": "student", "a": "before", "b": "after"}
    assert app.preview.value.count("<tr>") == 5
    assert app.document is None
    assert not visible(app._found)
    app.compare.click()
    scores = pt.read(MARKS, **chosen)
    assert app.document.comparison.test.pvalue == pt.exact_perm_test(scores).pvalue
    assert visible(app._found)
    assert app.problem.value == ""


def test_menus_say_what_is_compared_and_the_report_can_be_had() -> None:
    app = ComparisonApp(MARKS, id="student", a="after", b="before", higher_is_better=False)
    app.side.value, app.alpha.value = "less", 0.1
    app.compare.click()
    found = app.document.comparison
    assert found.test.names == ("after", "before")
    assert (found.test.alternative, found.alpha, found.test.better) == ("less", 0.1, "after")
    links = re.findall(r"download='([^']+)' href='data:[^;]+;base64,([^']*)'", app.answer.value)
    assert {name: b64decode(data) for name, data in links} == app.document.files()


def test_a_step_has_settings_of_its_own() -> None:
    app = ComparisonApp(EXAMPLE)
    app.compare.click()
    step = app.steps.children[0]
    *settings, run, found = step.children
    assert [one.description for one in settings] == ["units: size", "data: alpha"]
    settings[0].value = 2
    run.click()
    assert found.value.count("<table") >= 2
    settings[0].value = 50
    run.click()
    assert "role='alert'" in found.value
    assert "units.size" in found.value or "50" in found.value


def test_more_than_two_files_become_a_leaderboard() -> None:
    app = ComparisonApp(*ONES, score="acc")
    app.compare.click()
    assert app.document.title == "Leaderboard of 3 systems"
    assert not visible(app.steps)


def test_uploads_replace_files_and_bad_ones_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    app = ComparisonApp()
    assert not visible(app._asked)
    app.upload.value = upload(MARKS)
    assert visible(app._asked)
    monkeypatch.setattr(page, "LARGEST", 10)
    app.upload.value = upload(EXAMPLE)
    assert "the command line takes larger ones" in app.problem.value
    assert "marks.csv" in app.preview.value
    app.take([File("photo.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)))])
    assert "role='alert'" in app.problem.value
    app.compare.click()
    assert "role='alert'" in app.answer.value
    assert "Traceback" not in app.answer.value


def test_nothing_in_a_file_becomes_markup() -> None:
    quoted = NASTY.replace('"', '""')
    lines = "".join(f'"{k} <b>{k}</b>",{k % 2},{k % 3}\n' for k in range(8))
    table = f'id,"a{quoted}","b{quoted}"\n{lines}'
    app = ComparisonApp(File(f"{NASTY}.csv", table.encode()))
    app.compare.click()
    bad = ComparisonApp(File(f"bad{NASTY}.csv", b"\0"))
    assert app.document.comparison.test.n == 8
    for text in (app.preview.value, app.problem.value, bad.problem.value, bad.preview.value):
        assert not Page(text).acting()
        assert "<script" not in text
        assert "<img" not in text
    assert "<script" not in app.document.to_html()


# ---- the server ----------------------------------------------------------------------------------


def listens(port: int | None) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def running_app(folder: Path) -> Iterator[str]:
    """The address of the page, as the command prints it."""
    names = ["JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"]
    homes = {name: str(folder / name.lower()) for name in names}
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = os.environ | homes | {"PYTHONPATH": path, "TMPDIR": str(folder)}
    command = [sys.executable, "-m", "permtest", "app", "--no-browser"]
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=log) as server,
    ):
        try:
            assert server.stdout is not None
            lines = [server.stdout.readline().decode() for _ in range(4)]
            assert lines[-1].endswith("Ctrl-C stops it\n"), (folder / "log").read_text()
            address, deadline = lines[2].strip(), time.monotonic() + 60
            while not listens(urlsplit(address).port):
                assert time.monotonic() < deadline
                time.sleep(0.1)
            yield address
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(timeout=120)
    assert not [*folder.glob("permtest-*")], "what it opened is gone"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_app(tmp_path_factory.mktemp("app")) as address:
        yield address


def fetch(url: str, **headers: str) -> tuple[int, dict[str, str], str]:
    """Status, headers and text; redirections are not followed."""
    server = urlsplit(url).netloc
    with closing(HTTPConnection(server, timeout=300)) as connection:
        connection.request("GET", url.partition(server)[2], headers=headers)
        reply = connection.getresponse()
        return reply.status, dict(reply.headers), reply.read().decode()


def kernel_of(text: str) -> str:
    found = re.search(r'"kernelId": "([\w-]+)"', text)
    assert found is not None
    return found[1]


def test_the_page_is_for_who_has_the_token_and_asks_nobody_else(address: str) -> None:
    status, headers, text = fetch(address)
    assert status == 200
    assert "<title>permtest</title>" in text
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'self';")
    assert not re.search(r"https?:|[*]", policy.replace("ws://127.0.0.1:*", ""))
    server = "http://" + urlsplit(address).netloc
    assert fetch(address.partition("?")[0])[0] in {302, 403}
    for name in ("api/contents", "api/kernels", "files/permtest.ipynb", "tree", "nothing"):
        assert fetch(f"{server}/{name}")[0] in {302, 403, 404}


def test_no_other_origin_gets_a_socket_and_no_other_name_the_page(address: str) -> None:
    server, token = urlsplit(address).netloc, address.rpartition("=")[2]
    _, headers, text = fetch(address)
    where = f"ws://{server}/api/kernels/{kernel_of(text)}/channels"

    async def connect(url: str, **headers: str) -> None:
        connection = await websocket_connect(HTTPRequest(url, headers=headers))
        connection.close()
        while await connection.read_message() is not None:
            pass

    asyncio.run(connect(f"{where}?token={token}", Origin=f"http://{server}"))
    cookie = headers["Set-Cookie"].partition(";")[0]
    for origin in ("https://example.org", "http://127.0.0.1:1", "null"):
        with pytest.raises(HTTPClientError, match="403"):
            asyncio.run(connect(where, Origin=origin, Cookie=cookie))
    assert fetch(address, Host="example.org")[0] == 403


def test_without_the_extra_and_a_port_that_is_taken(command_line, monkeypatch) -> None:
    said = "--port: 65536 is not a port, a number from 1 to 65535"
    assert said in command_line("app", "--port", 65536)[2]
    monkeypatch.setattr("permtest.cli.find_spec", lambda name: None if name == "voila" else name)
    said = "permtest app needs voila: pip install 'permtest[lab]'\n"
    assert command_line("app") == (2, "", f"permtest app: {said}")


def test_a_port_that_is_taken_is_said() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        command = [sys.executable, "-m", "permtest", "app", "--port", str(other.getsockname()[1])]
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        done = subprocess.run(
            [*command, "--no-browser"],
            env=os.environ | {"PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode != 0
    assert "is not available" in done.stderr


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


def test_a_missed_wake_up_costs_one_slice_and_a_timeout_is_kept(monkeypatch) -> None:
    page.poll_in_slices()
    get_msg = AsyncZMQSocketChannel.get_msg
    channel: Any = Channel(silent=1)
    assert asyncio.run(get_msg(channel)) == {"said": "something"}
    assert channel.polls == [250, 250]
    channel = Channel(silent=9)
    monkeypatch.setattr(page, "time", SimpleNamespace(monotonic=channel.monotonic))
    with pytest.raises(Empty):
        asyncio.run(get_msg(channel, timeout=0.375))
    assert channel.polls == [250, 125]
