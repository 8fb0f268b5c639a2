"""`permtest formats`, `lab`, `app` and `completion`."""

import asyncio
import dataclasses
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
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import packages_distributions
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from tornado.websocket import websocket_connect

from permtest import _jupyter, cli
from permtest.cli import app as app_module
from permtest.cli import completion, formats, lab, notebooks
from permtest.readers import FORMATS

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run `permtest` in an empty folder; exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def run(*argv: object) -> tuple[int, str, str]:
        try:
            code = cli.main(list(map(str, argv)))
        except SystemExit as stop:
            code = stop.code
        return code, *capsys.readouterr()

    return run


@pytest.mark.parametrize("command", ["formats", "lab", "app", "completion"])
def test_help_shows_examples(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0
    assert out[out.index("examples:") :].count(f"  permtest {command}") >= 2


# ---- formats -----------------------------------------------------------------------------------


def test_every_format_is_in_the_table(run):
    code, out, err = run("formats")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split("  ")[0] == "format"
    assert [line.split()[0] for line in lines[1:-2] if line[:1].strip()] == list(FORMATS)
    assert max(map(len, lines)) <= 110
    start = lines[0].index("an item holds")
    end = lines[0].index("paired on")
    said = " ".join(" ".join(line[start:end] for line in lines[1:-2]).split())
    assert said == " ".join(kind.rows for kind in FORMATS.values())


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_in_detail(run, name):
    code, out, err = run("formats", name)
    kind = FORMATS[name]
    assert (code, err) == (0, "")
    assert out.startswith(f"{kind.title}\n")
    assert out.rstrip().endswith(kind.example)
    assert kind.example.startswith("permtest")
    for fact in (kind.rows, kind.pairs_on):
        assert fact in out


def test_formats_as_json(run):
    found = json.loads(run("formats", "--json")[1])
    assert [each["name"] for each in found] == list(FORMATS)
    assert json.loads(run("formats", "table", "--json")[1]) == found[list(FORMATS).index("table")]
    assert {each["installed"] for each in found} <= {True, False}


def test_a_format_that_is_not_there(run):
    code, out, err = run("formats", "tabel")
    assert (code, out) == (2, "")
    assert err.startswith("permtest: error: argument NAME: invalid choice: 'tabel'")
    assert err.count("\n") == 1


def test_what_is_missing_is_said(run, monkeypatch):
    monkeypatch.setitem(
        FORMATS, "odd", dataclasses.replace(FORMATS["table"], name="odd", extra="odd")
    )
    monkeypatch.setitem(formats.MODULES, "odd", ("no_such.module", "neither"))
    assert "pip install 'permtest[odd]'" in run("formats", "odd")[1]
    assert "permtest[odd] (not" in run("formats")[1]
    monkeypatch.setitem(formats.MODULES, "odd", ("neither", "json"))
    assert "permtest[odd] (installed)" in run("formats", "odd")[1]


def test_extras_of_formats_are_those_of_the_package():
    extras = PROJECT["project"]["optional-dependencies"]
    for extra in {kind.extra for kind in FORMATS.values()} - {None}:
        modules = formats.MODULES[extra]
        owners = {owner for m in modules for owner in packages_distributions().get(m, [m])}
        wanted = {re.split(r"[^\w.-]", text)[0] for text in extras[extra]}
        assert wanted & {owner.replace("_", "-") for owner in owners}, extra


# ---- the notebooks -----------------------------------------------------------------------------


def test_a_checkout_opens_its_own_notebooks(run, monkeypatch):
    opened = []
    monkeypatch.setattr(
        lab, "open_notebook", lambda path, **options: opened.append((path, options))
    )
    assert run("lab", "--notebook", "05", "--port", 8123)[0] == 0
    path = ROOT / "notebooks" / "05-f1-and-friends.ipynb"
    assert opened == [(path, {"port": 8123, "browser": True})]
    assert list(Path.cwd().iterdir()) == []


@pytest.fixture
def installed(monkeypatch, tmp_path_factory):
    """The package as a wheel has it: the notebooks within, and no checkout around."""
    package = tmp_path_factory.mktemp("site-packages") / "permtest"
    target = (
        package.parent
        / PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]["notebooks"]
    )
    shutil.copytree(ROOT / "notebooks", target)
    monkeypatch.setattr(notebooks, "PACKAGE", package)
    opened = []
    monkeypatch.setattr(lab, "open_notebook", lambda path, **_: opened.append(path))
    return opened


def test_an_installed_package_copies_its_notebooks(run, installed):
    code, out, err = run("lab", "--no-browser")
    folder = Path.cwd() / "permtest-notebooks"
    assert (code, err) == (0, "")
    assert str(folder) in out
    assert installed == [folder / "01-are-they-different.ipynb"]
    for path in (ROOT / "notebooks").rglob("*.*"):
        if path.is_file() and ".ipynb_checkpoints" not in path.parts:
            copy = folder / path.relative_to(ROOT / "notebooks")
            assert copy.read_bytes() == path.read_bytes()


def test_nothing_is_written_over(run, installed):
    folder = Path("course")
    (folder / "data").mkdir(parents=True)
    mine = [folder / "01-are-they-different.ipynb", folder / "data" / "README.md"]
    for path in mine:
        path.write_text("mine", encoding="utf-8")
    outside = Path("outside")
    (folder / "02-monte-carlo.ipynb").symlink_to(outside.absolute())
    code, out, _ = run("lab", folder)
    assert code == 0
    assert "3 left as they were" in out
    assert [path.read_text(encoding="utf-8") for path in mine] == ["mine", "mine"]
    assert not outside.exists()
    assert (folder / "08-bayes.ipynb").is_file()
    assert installed == [mine[0].absolute()]


def test_a_notebook_that_is_not_there(run, installed):
    for name, said in (("77", "there is no such notebook"), ("0", "this could be several")):
        code, out, err = run("lab", "--notebook", name)
        assert (code, out) == (2, "")
        assert f"--notebook {name}: {said}; choose one of 0" in err
    Path("scores.csv").write_text("1,2\n", encoding="utf-8")
    code, out, err = run("lab", "scores.csv")
    assert (code, out) == (2, "")
    assert err == "permtest: error: scores.csv: this is a file; name a folder\n"
    assert installed == []


@pytest.mark.parametrize(("command", "module"), [("lab", "jupyterlab"), ("app", "voila")])
def test_without_the_extra(run, monkeypatch, command, module):
    monkeypatch.setitem(sys.modules, module, None)
    code, out, err = run(command)
    assert (code, out) == (2, "")
    assert err == f"permtest: error: permtest {command} needs {module}: {INSTALL}\n"


INSTALL = "pip install 'permtest[lab]'"


def test_a_port_that_is_taken_or_none(run):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        code, out, err = run("lab", "--port", port)
        assert (code, out) == (2, "")
        assert err.startswith(f"permtest: error: --port {port}: ")
        assert err.endswith("; choose another, or leave --port out\n")
    assert _jupyter.choose_port(port) == port
    assert "--port 65536: a port is a number from 1 to 65535" in run("lab", "--port", 65536)[2]


# ---- the app -----------------------------------------------------------------------------------


def test_the_app_is_the_notebook_that_comes_with_the_package(run, installed, monkeypatch):
    served = []
    monkeypatch.setattr(app_module, "serve", lambda *args, **named: served.append((*args, named)))
    code, out, err = run("app", "--port", 8123, "--no-browser")
    assert (code, out, err) == (0, "starting the page\n", "")
    path = notebooks.PACKAGE / "notebooks" / "09-your-own-data.ipynb"
    assert served == [(path, {"port": 8123, "browser": False})]
    path.unlink()
    code, _, err = run("app")
    assert (code, err) == (1, f"permtest: error: {path} is missing; install permtest again\n")
    assert installed == []


WIDGETS = """
import ipywidgets as w
said = w.HTML("<p role='status'>ready</p>")
files, slider = w.FileUpload(), w.IntSlider()
def say(text): said.value = f"<p role='status'>{text}</p>"
files.observe(lambda change: say(f"got {len(change.new[0].content)} bytes"), "value")
slider.observe(lambda change: say(f"slid to {change.new}"), "value")
w.VBox([files, slider, said])
"""


@contextmanager
def running_app(folder: Path, idle: int = 1800) -> Iterator[str]:
    """The address of a page with an upload, a slider and a sentence."""
    cells = [new_markdown_cell("# A page\n\n$x^2$"), new_code_cell(WIDGETS)]
    for cell in cells:
        cell.metadata["tags"] = ["page"]
    cells.insert(1, new_code_cell("print('not for the page')"))
    metadata = {"kernelspec": {"name": "python3", "display_name": "", "language": "python"}}
    nbformat.write(new_notebook(cells=cells, metadata=metadata), folder / "page.ipynb")
    code = "import sys; from pathlib import Path; from permtest.cli.app import serve; "
    code += "serve(Path(sys.argv[1]), browser=False, idle=int(sys.argv[2]))"
    command = [sys.executable, "-W", "error", "-c", code, folder / "page.ipynb", str(idle)]
    names = ["JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"]
    homes = {name: str(folder / name.lower()) for name in names}
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = os.environ | homes | {"PYTHONPATH": path}
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


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    with running_app(tmp_path_factory.mktemp("app"), idle=2) as address:
        yield address


def fetch(url: str, **headers: str) -> tuple[int, dict[str, str], str]:
    """Status, headers and text; redirections are not followed."""

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_: object) -> None:
            return None

    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), Stay)
    try:
        with opener.open(urllib.request.Request(url, headers=headers), timeout=300) as reply:
            return reply.status, dict(reply.headers), reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read().decode()


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
    assert headers["Location"].startswith("/login")
    status, _, page = fetch(address + "login")
    assert status == 200
    assert not asked_elsewhere(page)


def test_a_page_elsewhere_cannot_pass_for_this_machine(app):
    status, headers, page = fetch(app, Host="example.org")
    assert status == 403
    assert "permtest app" in page
    assert not asked_elsewhere(page)
    assert "default-src 'none'" in headers["Content-Security-Policy"]


@pytest.mark.parametrize("name", ["voila/files/page.ipynb", "voila/files/log", "api/contents"])
def test_no_files_are_served(app, name):
    address, token = app.split("?")
    assert fetch(f"{address}{name}?{token}")[0] in {302, 403, 404}


def test_large_files_come_through_and_kernels_that_nobody_looks_at_end(app):
    address, token = app.split("?")

    def there(kernel: str) -> bool:
        return fetch(f"{address}api/kernels/{kernel}?{token}")[0] == 200

    async def look() -> None:
        kernel = kernel_of((await asyncio.to_thread(fetch, app))[2])
        channels = address.replace("http", "ws") + f"api/kernels/{kernel}/channels"
        connection = await websocket_connect(f"{channels}?session_id=s&{token}")
        other = kernel_of((await asyncio.to_thread(fetch, app))[2])
        assert other != kernel

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


# ---- completion --------------------------------------------------------------------------------

DRIVE = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
call=$(complete -p permtest); call=${call##*-F }; call=${call%% *}
"$call" permtest "${@: -1}" "${@: -2:1}"
printf '%s\\n' "${COMPREPLY[@]}"
"""

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")


@pytest.fixture
def complete(run):
    """What bash makes of the words of a line, of which the last is to be completed."""
    Path("permtest.bash").write_text(run("completion", "bash")[1], encoding="utf-8")
    subprocess.run(["bash", "-n", "permtest.bash"], check=True)

    def complete(*words: str) -> list[str]:
        command = ["bash", "--norc", "-c", DRIVE, "drive", "permtest.bash", *words]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        assert done.stderr == ""
        return done.stdout.split()

    return complete


@needs_bash
def test_bash_completes_commands_options_choices_and_files(complete):
    Path("results.csv").touch()
    Path("reports").mkdir()
    commands = {"compare", "study", "formats", "lab", "app", "completion"}
    assert commands <= set(complete("permtest", ""))
    assert {"--alternative"} == set(complete("permtest", "compare", "--alt"))
    alternatives = ["two-sided", "greater", "less"]
    assert complete("permtest", "compare", "--alternative", "") == alternatives
    assert complete("permtest", "compare", "x.csv", "--alternative", "l") == ["less"]
    assert complete("permtest", "formats", "") == list(FORMATS)
    assert complete("permtest", "completion", "") == list(completion.SHELLS)
    for words in (["re"], ["results.csv", "re"]):
        assert sorted(complete("permtest", "compare", *words)) == ["reports", "results.csv"]
    assert complete("permtest", "study", "--config", "res") == ["results.csv"]
    assert complete("permtest", "lab", "re") == ["reports"]


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_every_shell_gets_a_script(run, shell):
    code, out, err = run("completion", shell)
    assert (code, err) == (0, "")
    for word in ("permtest", "two-sided", "no-browser", *completion.SHELLS):
        assert word in out


def test_arguments_that_are_files_are_known_as_such():
    found = {str(action.metavar) for action in completion._arguments(cli._parser())}
    assert found >= completion.FILES | completion.FOLDERS


def test_completion_without_its_library(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "shtab", None)
    said = "permtest: error: permtest completion needs shtab: pip install 'permtest[completion]'\n"
    assert run("completion", "bash") == (2, "", said)


def test_a_shell_that_is_not_known(run):
    code, out, err = run("completion", "powershell")
    assert (code, out) == (2, "")
    assert "choose from" in err
