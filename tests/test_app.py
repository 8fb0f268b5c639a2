"""The page: what it shows and refuses, and that only who has its address sees it."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from base64 import b64decode
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

import permtest as pt
from permtest.app import EXAMPLE, ComparisonApp
from permtest.readers import File

ROOT = Path(__file__).resolve().parents[1]
MARKS = File("marks.csv", b"who,before,after\n" + b"".join(
    b"%d,%d,%d\n" % (17 * i % 23, i * i % 7, i * i % 7 + (i % 3 > 0)) for i in range(20)
))  # fmt: skip
THREE = File("three.csv", b"id,x,y,z\n" + b"".join(
    b"q%d,%d,%d,%d\n" % (i, i * i % 7, i * i % 5, i * i % 11) for i in range(30)
))  # fmt: skip


def upload(app: ComparisonApp, name: str, data: bytes) -> None:
    """What the browser does with a file."""
    more = {"type": "", "last_modified": datetime.now(UTC), "size": len(data)}
    app.upload.value = ({"name": name, "content": data} | more,)


def test_a_plain_table_is_compared_when_the_button_is_pressed():
    app = ComparisonApp(EXAMPLE)
    assert "q1" in app.preview.value
    assert ("then Compare" in app.preview.value, app.document) == (False, None)
    app.compare.click()
    exact = pt.exact_perm_test(pt.read(EXAMPLE), statistic="mean")
    assert app.document.comparison.test.pvalue == exact.pvalue
    assert "sandbox=''" in app.answer.value
    assert exact.sentence() in re.search(r'srcdoc="([^"]*)"', app.answer.value)[1]
    links = dict(re.findall(r"download='([^']+)' href='data:[^,]+,([^']+)'", app.answer.value))
    assert {name: b64decode(data) for name, data in links.items()} == app.document.files()


def test_menus_hold_the_proposal_and_what_is_chosen_counts():
    app = ComparisonApp(MARKS)
    assert "The menus propose what the columns are" in app.preview.value
    menus = {name: menu.value for name, menu in app.menus.items() if menu.value}
    assert menus == {"id": "who", "a": "before", "b": "after"}
    app.menus["a"].value, app.menus["b"].value = "after", "before"
    app.menus["higher_is_better"].value, app.settings["test"]["alternative"].value = True, "greater"
    app.compare.click()
    test = app.document.comparison.test
    assert (test.names, test.higher, test.alternative) == (("after", "before"), "after", "greater")


def test_what_cannot_be_compared_is_said_and_the_page_goes_on():
    app = ComparisonApp(File("empty.csv", b""))
    assert "permtest-problem" in app.preview.value
    app.compare.click()
    assert "permtest-problem" in app.answer.value
    app.take([EXAMPLE], a="old", b="new", missing="drop")
    app.compare.click()
    assert app.document.comparison.test.names == ("old", "new")
    app.menus["statistic"].value = "f1"
    app.compare.click()
    assert app.document is None
    assert "permtest-problem" in app.answer.value


def test_more_than_two_systems_are_a_leaderboard():
    app = ComparisonApp(THREE)
    assert app.menus["systems"].value == "x,y,z"
    app.compare.click()
    assert len(app.document.comparison.systems) == 3
    assert app.steps not in app.children


def test_right_answers_may_be_one_of_the_files():
    files = [File(f"{x}.csv", b"id,answer\n1,yes\n2,no\n3," + x + b"\n") for x in (b"yes", b"no")]
    app = ComparisonApp(*files, File("gold.csv", b"id,right\n1,yes\n2,yes\n3,yes\n"))
    app.menus["gold"].label, app.menus["prediction"].value = "gold.csv", "answer"
    app.compare.click()
    assert app.document.comparison.test.scores == (2 / 3, 1 / 3)
    app.menus["statistic"].value, app.menus["pos_label"].value = "f1", "yes"
    app.compare.click()
    assert app.document.comparison.test.metric == "f1"


def test_what_is_proposed_is_enough():
    lines = [b'{"q1": {"f1": 0.%d}, "q2": {"f1": 0.5}, "q3": {"f1": 1}}' % i for i in (3, 7)]
    records = [File(f"{x}.json", line) for x, line in zip("ab", lines, strict=True)]
    app = ComparisonApp(*records)
    assert app.menus["records"].value == "."
    app.compare.click()
    assert app.document.comparison.test.n == 3


def test_files_come_from_the_browser_and_have_a_limit(monkeypatch):
    app = ComparisonApp()
    upload(app, "<b>.csv", EXAMPLE.data)
    assert "<b>" not in app.preview.value
    app.compare.click()
    assert app.document is not None
    monkeypatch.setattr("permtest.readers.tables.MOST_BYTES", 10)
    upload(app, "large.csv", b"x" * 11)
    assert "large.csv: it is too large" in app.preview.value
    assert app.document is None


def test_each_step_runs_with_its_settings():
    app = ComparisonApp(MARKS)
    app.settings["units"]["size"].value = "2"
    app.settings["power"]["experiments"].value = "20"
    app.settings["test"]["tests"].value = "[sign]"
    boxes = [box.children[-2:] for box in app.steps.children]
    for run, found in boxes:
        run.click()
        assert "<h3>" in found.value, found.value
    assert "10 pairs" in boxes[0][1].value
    assert "sign test" in boxes[1][1].value
    assert "bootstrap" not in boxes[1][1].value
    for value, problem in (("0", "K=0 must be"), ("[", "expected the node content")):
        app.settings["test"]["K"].value = value
        boxes[1][0].click()
        assert problem in boxes[1][1].value


# ---- the server --------------------------------------------------------------------------------


@contextmanager
def running_app(folder: Path) -> Iterator[str]:
    """The address of the page."""
    code = "from permtest.app import serve; serve(browser=False)"
    names = ["JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"]
    homes = {name: str(folder / name.lower()) for name in names} | {"TMPDIR": str(folder)}
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = os.environ | homes | {"PYTHONPATH": path}
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(
            [sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, stderr=log
        ) as app,
    ):
        try:
            lines = [app.stdout.readline().decode() for _ in range(3)]
            assert lines[-1].endswith("Ctrl-C stops it\n"), (folder / "log").read_text()
            address, deadline = lines[1].strip(), time.monotonic() + 60
            while time.monotonic() < deadline:  # until somebody listens
                with suppress(ConnectionRefusedError):
                    fetch(address.partition("?")[0])
                    break
                time.sleep(0.1)
            yield address
        finally:
            app.send_signal(signal.SIGTERM)
            app.wait(timeout=120)
    assert not [*folder.glob("permtest-*")], "what it opened is gone"


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> Iterator[str]:
    with running_app(tmp_path_factory.mktemp("app")) as found:
        yield found


def fetch(url: str, **headers: str) -> tuple[int, dict[str, str], str]:
    """Status, headers and text; redirections are not followed."""
    server = urlsplit(url).netloc
    with closing(HTTPConnection(server, timeout=300)) as connection:
        connection.request("GET", url.partition(server)[2], headers=headers)
        reply = connection.getresponse()
        return reply.status, dict(reply.headers), reply.read().decode()


def test_only_who_has_the_token_gets_a_page(address):
    status, headers, page = fetch(address)
    assert status == 200
    assert "default-src 'self'" in headers["Content-Security-Policy"]
    assert "kernelId" in page
    bare, _, token = address.partition("?")
    assert fetch(bare)[0] == 302
    root = address.partition("/voila")[0]
    assert fetch(f"{root}/api/contents")[0] == 403
    assert fetch(f"{root}/api/status?{token}")[0] == 200
    assert fetch(address, Host="example.org")[0] == 403


def test_another_origin_gets_no_socket_with_the_cookie_of_the_page(address):
    _, headers, page = fetch(address)
    kernel, cookie = re.search(r'"kernelId": "([\w-]+)"', page)[1], headers["Set-Cookie"]
    root = address.partition("/voila")[0]
    where = root.replace("http", "ws") + f"/api/kernels/{kernel}/channels"

    async def connect(**headers: str) -> None:
        (await websocket_connect(HTTPRequest(where, headers=headers))).close()

    own = cookie.partition(";")[0]
    for sent in ({"Cookie": own, "Origin": "https://example.org"}, {"Origin": root}):
        with pytest.raises(HTTPClientError, match="403"):
            asyncio.run(connect(**sent))
    asyncio.run(connect(Cookie=own, Origin=root))
