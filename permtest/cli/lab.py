"""JupyterLab on a notebook whose cells have all been run and whose widgets are alive.

A Lab server is started, a kernel session is opened for the notebook, every code cell is executed
in that kernel, and only then is the browser shown the page: Lab finds the outputs in the file and
the running kernel in the session, so that a slider moves at once.

The notebook is opened where it lives: one copy, so that what is edited in Lab is what git sees.
Nobody's work can be lost by this:

- only outputs and execution counts are written, never a source, and nothing at all if the file
  was saved by somebody else while the cells were running;
- when Lab is stopped, the file gets back exactly the bytes it had, unless more than outputs has
  been changed in it: then it is left as it was saved;
- outputs left in a file by a crash are stripped at commit (pre-commit) and refused by the tests.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import webbrowser
from pathlib import Path
from typing import Any
from urllib.parse import quote

import nbformat
from jupyter_client.asynchronous import AsyncKernelClient
from jupyter_core.paths import jupyter_runtime_dir
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.sign import NotebookNotary

from permtest._jupyter import (
    SOCKETS,
    START_TIMEOUT,
    choose_port,
    poll_in_slices,
    stop_on_signals,
)


class LabServer:
    """A JupyterLab server of our own, on this machine only, stopped on leaving the context."""

    def __init__(self, root: Path, port: int) -> None:
        self.port = port
        self.token = secrets.token_hex(24)
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 - closed on leaving the context
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "jupyterlab", "--no-browser"),
                *("--ip=127.0.0.1", f"--port={self.port}", "--ServerApp.port_retries=0"),
                *(f"--ServerApp.root_dir={root}", f"--ServerApp.tornado_settings={SOCKETS}"),
                *allow_root(),
            ],
            env=os.environ | {"JUPYTER_TOKEN": self.token},
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
            start_new_session=True,  # Ctrl-C is for us; we stop the server in an orderly way
        )

    def __enter__(self) -> LabServer:
        deadline = time.monotonic() + START_TIMEOUT
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                self.request("GET", "api/status")
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
            else:
                return self
        self.log.seek(0)
        print(self.log.read().decode(errors="replace"), file=sys.stderr)
        self.__exit__()
        raise OSError(f"JupyterLab did not start on port {self.port}; its messages are above")

    def __exit__(self, *_: object) -> None:
        try:
            self.request("POST", "api/shutdown")
            self.process.wait(timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        self.log.close()

    def request(self, verb: str, path: str, body: object = None) -> Any:
        """Call the server's REST API; a proxy meant for the outside world is passed by."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/{path}",
            data=json.dumps(body).encode() if body is not None else None,
            headers={"Authorization": f"token {self.token}", "Content-Type": "application/json"},
            method=verb,
        )
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(request, timeout=START_TIMEOUT) as reply:
            return json.loads(reply.read() or "null")

    def start_session(self, name: str) -> Path:
        """Start the kernel that Lab will find for the notebook; return its connection file."""
        kernel = {"name": "python3"}
        body = {"path": name, "name": name, "type": "notebook", "kernel": kernel}
        session = self.request("POST", "api/sessions", body)
        return Path(jupyter_runtime_dir()) / f"kernel-{session['kernel']['id']}.json"

    def url(self, name: str) -> str:
        """Address of the notebook, in a workspace of its own: other work stays as it is."""
        address = f"http://127.0.0.1:{self.port}/lab/workspaces/permtest/tree/{quote(name)}"
        return f"{address}?token={self.token}"


def allow_root() -> list[str]:
    """Jupyter refuses to be run by root, who is the only user in many containers."""
    return ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []


async def run_cells(notebook: NotebookNode, connection_file: Path) -> None:
    """Execute all code cells in the running kernel and keep their outputs in `notebook`."""
    client = NotebookClient(notebook, allow_errors=True, record_timing=False)
    client.kc = AsyncKernelClient(connection_file=str(connection_file))
    client.kc.load_connection_file()
    client.kc.start_channels()
    try:
        await client.kc.wait_for_ready(timeout=START_TIMEOUT)
        code = [i for i, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
        for number, index in enumerate(code, 1):
            show_progress(number, len(code))
            await client.async_execute_cell(notebook.cells[index], index)
    finally:
        client.kc.stop_channels()


def show_progress(number: int, total: int) -> None:
    """One line on a terminal, one line for each tenth of the way elsewhere."""
    filled = 30 * number // total
    line = f"running cell {number:3} of {total}  [{'#' * filled}{'.' * (30 - filled)}]"
    if sys.stdout.isatty():
        print(f"\r{line}", end="\n" if number == total else "", flush=True)
    elif 10 * number // total > 10 * (number - 1) // total:
        print(line, flush=True)


def failures(notebook: NotebookNode) -> list[str]:
    """One line for each code cell that raised without being meant to."""
    return [
        f"cell {index} raised {output.ename}: {output.evalue}"
        for index, cell in enumerate(notebook.cells, 1)
        if cell.cell_type == "code" and "raises-exception" not in cell.metadata.get("tags", [])
        for output in cell.outputs
        if output.output_type == "error"
    ]


def save_outputs(path: Path, notebook: NotebookNode, original: bytes) -> None:
    """Write the executed notebook, trusted so that Lab shows its HTML and its widgets."""
    if path.read_bytes() != original:
        print(f"{path.name} was changed meanwhile: outputs not written; run its cells in Lab")
        return
    NotebookNotary().sign(notebook)
    replace(path, nbformat.writes(notebook).encode())


def put_back(path: Path, original: bytes) -> None:
    """Give the file its original bytes back if nothing but outputs differs."""
    now = path.read_bytes() if path.exists() else original
    if now != original and authored(now) == authored(original):
        replace(path, original)


def authored(raw: bytes) -> Any:
    """Everything in a notebook that a person wrote: all but outputs and what Lab records."""
    notebook = nbformat.reads(raw.decode(), as_version=4)
    for cell in notebook.cells:
        cell.pop("outputs", None)
        cell.pop("execution_count", None)
    for key in ("kernelspec", "language_info", "widgets"):
        notebook.metadata.pop(key, None)
    return notebook.cells, notebook.metadata


def replace(path: Path, content: bytes) -> None:
    """Write a file in one step: whoever reads it sees the old content or the new one."""
    draft = path.with_name(f".{path.name}.draft")
    draft.write_bytes(content)
    draft.replace(path)


def open_notebook(path: Path, *, port: int = 0, browser: bool = True) -> None:
    """Open Lab, wait until somebody has had enough, and leave the file as it was unless edited.

    Parameters
    ----------
    path : Path
        The notebook.
    port : int
        Where to listen; 0 is any free port.
    browser : bool
        Whether to open a browser; else the address is printed alone.
    """
    port = choose_port(port)
    stop_on_signals()
    poll_in_slices()
    original = path.read_bytes()
    try:
        _serve(path, original, port, browser)
    except KeyboardInterrupt:
        print("\nJupyterLab has been stopped")
    finally:
        put_back(path, original)


def _serve(path: Path, original: bytes, port: int, browser: bool) -> None:
    print("starting JupyterLab", flush=True)
    with LabServer(path.parent, port) as server:
        connection_file = server.start_session(path.name)
        notebook = nbformat.reads(original.decode(), as_version=4)
        asyncio.run(run_cells(notebook, connection_file))
        save_outputs(path, notebook, original)
        print(*failures(notebook) or ["all cells ran"], sep="\n")
        print(f"{path.name} is open at\n    {server.url(path.name)}\nCtrl-C stops it", flush=True)
        if browser:
            webbrowser.open(server.url(path.name))
        server.process.wait()
