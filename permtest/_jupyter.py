"""Running Jupyter: the page of `permtest app`, and a cure for cells that wait for ever."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import time
import webbrowser
from contextlib import suppress
from html import escape
from math import ceil
from pathlib import Path
from queue import Empty
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

#: Bytes that may come from a page at once, so files to be compared; Jupyter's own limit is 10 MB,
#: and a server's buffer has 100 MiB.
FILE_LIMIT = 10**8

#: For Tornado, which both servers are made of.
SOCKETS = {"websocket_max_message_size": FILE_LIMIT}

SLICE = 0.25  # seconds

PACKAGE = Path(__file__).parent
TEMPLATES = PACKAGE / "templates" / "app"
TITLE = "permtest: compare two systems"

#: The extensions of Lab that a page may load: those that draw widgets.
EXTENSIONS = ["@jupyter-widgets/jupyterlab-manager"]
EXTENSIONS += [f"@voila-dashboards/widgets-manager{version}" for version in (7, 8)]

#: Whom a page may ask: this server alone. Voila writes scripts and styles into its pages.
POLICY = "default-src 'self' 'unsafe-inline' data: blob: ws://127.0.0.1:{}"


def notebooks_folder(package: Path = PACKAGE) -> Path:
    """The notebooks and their data: beside the package in a checkout, else within it."""
    beside = package.parent / "notebooks"
    checkout = beside.is_dir() and (package.parent / "pyproject.toml").is_file()
    return beside if checkout else package / "notebooks"


async def _get_msg_in_slices(channel: Any, timeout: float | None = None) -> dict[str, Any]:
    deadline = float("inf") if timeout is None else time.monotonic() + timeout
    while True:
        wait = max(0.0, min(SLICE, deadline - time.monotonic()))
        if await channel.socket.poll(ceil(1000 * wait)):
            message: dict[str, Any] = await channel._recv()
            return message
        if time.monotonic() >= deadline:
            raise Empty


def poll_in_slices() -> None:
    """Make every kernel client of this process look for messages at least every `SLICE`.

    `jupyter_client` waits for a message in one long poll. Now and then, while a cell fills an
    Output widget, a message does not wake the poll, and the cell waits out its timeout, or for ever
    where there is none (jupyter/nbclient, issue 312).
    """
    from jupyter_client.channels import AsyncZMQSocketChannel

    AsyncZMQSocketChannel.get_msg = _get_msg_in_slices


def choose_port(port: int) -> int:
    """Return `port` if nobody listens on it, and any free one for 0; else raise ValueError."""
    if not 0 <= port < 2**16:
        raise ValueError(f"--port {port}: a port is a number from 1 to {2**16 - 1}")
    with socket.socket() as probe:
        if os.name == "posix":  # one that was just left is free; elsewhere the option means more
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            problem = (error.strerror or str(error)).lower()
            raise ValueError(f"--port {port}: {problem}; choose another, or leave it out") from None
        return int(probe.getsockname()[1])


def serve(path: Path, *, port: int = 0, browser: bool = True) -> None:
    """Serve a notebook as a page that this machine alone can see, until stopped.

    Shown are the set-up of the notebook and the cells tagged `page`, or all where none is. The page
    needs the token of this run, loads nothing from other servers, and has a kernel of its own,
    which works in a folder that is removed in the end.
    """
    import nbformat
    from tornado.ioloop import IOLoop
    from tornado.web import HTTPError
    from voila.app import Voila

    poll_in_slices()
    port, token = choose_port(port), secrets.token_hex(24)
    address = f"http://127.0.0.1:{port}/?token={token}"
    notebook = nbformat.read(path, as_version=4)
    tagged = [c for c in notebook.cells if {"page", "setup"} & {*c.metadata.get("tags", ())}]
    notebook.cells = tagged or notebook.cells
    notebook.metadata["title"] = TITLE
    # Nobody else may read it: kernels may leave something there, and it holds the token.
    with TemporaryDirectory(prefix="permtest-") as folder:
        page, opener = Path(folder, path.name), Path(folder, "open.html")
        nbformat.write(notebook, page)
        # All users see the command line of a browser, so it gets a file that leads to the address.
        opener.write_text(f'<meta http-equiv="refresh" content="0;url={escape(address)}">')
        app = Voila(config=_settings(port, token))
        app.initialize([str(page)])
        app.template_paths = [str(TEMPLATES), *app.template_paths]
        loop = IOLoop.current()
        for name in {"SIGINT", "SIGTERM", "SIGHUP"} & set(dir(signal)):
            signal.signal(getattr(signal, name), lambda *_: loop.add_callback(loop.stop))
        print(f"the page is at\n    {address}\nfor this machine only. Ctrl-C stops it", flush=True)
        if browser:  # when the server listens
            start = Thread(target=webbrowser.open, args=[opener.as_uri()], daemon=True).start
            loop.add_callback(start)
        with suppress(HTTPError):  # of a kernel that was still starting, and ends by itself
            app.start()
    print("\nthe page has been stopped")


def _settings(port: int, token: str) -> Any:
    """What Voila is told; nothing is read from configuration files."""
    from traitlets.config import Config

    headers = {"Content-Security-Policy": POLICY.format(port), "Referrer-Policy": "no-referrer"}
    config = Config()
    config.Voila = Config(
        ip="127.0.0.1",
        port=port,
        port_retries=0,
        token=token,
        open_browser=False,
        config_file_paths=[],
        log_level="ERROR",
        tornado_settings=SOCKETS | {"allow_remote_access": False, "headers": headers},
    )
    config.VoilaConfiguration = Config(
        allow_template_override="NO",
        allow_theme_override="NO",
        extension_allowlist=EXTENSIONS,
        file_allowlist=[],
        preheat_kernel=True,
        resources={"file_limit": FILE_LIMIT},
        show_tracebacks=True,  # who sees the page is who started it
    )
    config.IdentityProvider.cookie_options = {"samesite": "Strict"}
    config.KernelManager.transport_encryption = "auto"  # kernels complain of plain text
    config.VoilaKernelManager.fill_delay = 5.0  # when the page before it has its answer
    # A picture is larger than what Jupyter lets through in a second.
    config.ZMQChannelsWebsocketConnection.limit_rate = False
    return config
