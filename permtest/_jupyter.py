"""Running Jupyter: the page of `permtest app`, and a cure for cells that wait for ever.

Voila runs a notebook in a kernel of its own for each page, and shows text and widgets without code.
Here, a page loads nothing from other servers (its policy forbids the browser to), needs the token
of this run, and takes large files. One kernel is ready for the next page; a kernel ends when nobody
looks at its page any more.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import socket
import time
import webbrowser
from functools import partial
from html import escape
from math import ceil
from pathlib import Path
from queue import Empty
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

#: Bytes that may come from a page at once, and those of one file; Jupyter's own limit is 10 MB.
UPLOAD_LIMIT, FILE_LIMIT = 2**28, 10**8

SLICE = 0.25  # seconds
IDLE = 60  # seconds
PATIENCE = 5  # times as long a kernel waits for its page, which a busy machine may take to load
PING = 90_000  # milliseconds

PACKAGE = Path(__file__).parent
TEMPLATES = PACKAGE / "templates" / "app"
TITLE = "permtest: compare two systems"

#: The extensions of Lab that a page may load: those that draw widgets.
EXTENSIONS = ["@jupyter-widgets/jupyterlab-manager"]
EXTENSIONS += [f"@voila-dashboards/widgets-manager{version}" for version in (7, 8)]

#: Whom a page may ask for what; Voila's own pages write scripts and styles into themselves.
POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' ws://127.0.0.1:{port}; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)


def notebooks_folder() -> Path:
    """The page's notebook and all data: beside the package in a checkout, else within it."""
    beside = PACKAGE.parent / "notebooks"
    checkout = beside.is_dir() and (PACKAGE.parent / "pyproject.toml").is_file()
    return beside if checkout else PACKAGE / "notebooks"


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
    """Make every kernel client of this process look for messages at least every `SLICE`."""
    # `jupyter_client` waits in one long poll. Now and then, while a cell fills an Output widget, a
    # message does not wake it, and the cell waits for ever (jupyter/nbclient, issue 312).
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


def serve(path: Path, *, port: int = 0, browser: bool = True, idle: int = IDLE) -> None:
    """Serve one of our notebooks as a page that only this machine can see, until stopped."""
    # Shown are the set-up and the cells tagged `page`, or all where none is. Kernels work in a
    # folder that is removed in the end, and end when they have been `idle` seconds without a page.
    import nbformat
    from tornado.ioloop import IOLoop
    from voila.app import Voila

    class App(Voila):  # type: ignore[misc]
        """Voila with a page of our own around the notebook, and room for files."""

        template_paths: list[str]

        def setup_template_dirs(self) -> None:
            """Look for templates here first."""
            super().setup_template_dirs()
            self.template_paths = [str(TEMPLATES), *self.template_paths]

        def listen(self) -> None:
            """Listen until stopped; the buffer has to hold more than the largest message."""
            self.app.listen = partial(self.app.listen, max_buffer_size=UPLOAD_LIMIT + 2**20)
            super().listen()

        async def end(self) -> None:
            """End all kernels, those that are starting too, while their loop still runs."""
            await self.kernel_manager.shutdown_all()
            self.ioloop.stop()

    def announce() -> None:
        print(f"the page is at\n    {address}\nfor this machine only. Ctrl-C stops it", flush=True)
        if browser:
            Thread(target=webbrowser.open, args=[opener.as_uri()], daemon=True).start()  # may wait

    poll_in_slices()
    port, token = choose_port(port), secrets.token_hex(24)
    # Servers at other ports of this machine get the cookies of this one, but for those of a path.
    base = f"/{secrets.token_hex(8)}/"
    address = f"http://127.0.0.1:{port}{base}?token={token}"
    notebook = nbformat.read(path, as_version=4)
    tagged = [c for c in notebook.cells if {"page", "setup"} & {*c.metadata.get("tags", ())}]
    notebook.cells = tagged or notebook.cells
    notebook.metadata["title"] = TITLE
    # Nobody else may read it: kernels may leave something there, and it holds the token.
    with TemporaryDirectory(prefix="permtest-") as folder:
        page, opener = Path(folder, path.name), Path(folder, "open.html")
        nbformat.write(notebook, page)
        opener.touch(mode=0o600)
        # All users see the command line of a browser, so it gets a file that leads to the address.
        opener.write_text(f'<meta http-equiv="refresh" content="0;url={escape(address)}">')
        app = App(config=_settings(port, base, token, idle))
        app.initialize([str(page)])
        loop = IOLoop.current()
        for name in {"SIGINT", "SIGTERM", "SIGHUP"} & set(dir(signal)):
            # Not as KeyboardInterrupt, which would end the start of a kernel in the middle.
            signal.signal(getattr(signal, name), lambda *_: loop.add_callback(app.end))
        loop.add_callback(announce)
        app.start()
    print("\nthe page has been stopped")


def _settings(port: int, base: str, token: str, idle: int) -> Any:
    """What Voila is told; nothing is read from configuration files."""
    import zmq
    from jupyter_client.manager import KernelManager
    from traitlets.config import Config

    identity, kernels = _classes(base)
    headers = {"Content-Security-Policy": POLICY.format(port=port)}
    sockets = {"websocket_max_message_size": UPLOAD_LIMIT}
    sockets |= {"ws_ping_interval": PING, "ws_ping_timeout": PING}
    config = Config()
    config.Voila = Config(
        ip="127.0.0.1",
        port=port,
        port_retries=0,
        base_url=base,
        token=token,
        identity_provider_class=identity,
        open_browser=False,
        config_file_paths=[],
        log_level="ERROR",
        tornado_settings=sockets
        | {"allow_remote_access": False, "headers": headers | {"Referrer-Policy": "no-referrer"}},
    )
    config.VoilaConfiguration = Config(
        allow_template_override="NO",
        allow_theme_override="NO",
        extension_allowlist=EXTENSIONS,
        file_allowlist=[],
        multi_kernel_manager_class=kernels,
        preheat_kernel=True,
        resources={"upload_limit": UPLOAD_LIMIT, "file_limit": FILE_LIMIT},
        show_tracebacks=True,  # who sees the page is who started it
    )
    config.IdentityProvider.cookie_options = {"samesite": "Strict"}
    # After 4 seconds without a message, cells would lose their outputs, and the page its widgets.
    config.VoilaExecutor = Config(iopub_timeout=60, startup_timeout=300)
    config.VoilaKernelManager.fill_delay = 5.0  # when the page before it has its answer
    config.MappingKernelManager = Config(cull_idle_timeout=idle, cull_interval=max(1, idle // 6))
    if hasattr(KernelManager, "transport_encryption") and zmq.has("curve"):
        config.KernelManager.transport_encryption = "auto"  # kernels complain of plain text
    # A picture is larger than what Jupyter lets through in a second.
    config.ZMQChannelsWebsocketConnection.limit_rate = False
    return config


def _classes(base: str) -> tuple[type, type]:
    """Who may see a page, and how long its kernel lives."""
    from jupyter_server.auth.identity import PasswordIdentityProvider
    from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager
    from jupyter_server.utils import url_path_join

    class Identity(PasswordIdentityProvider):
        """Who has the token; a page of another site has no access even with it."""

        def should_check_origin(self, _: Any) -> bool:
            """Jupyter does not, where an address has the token."""
            return True

        def get_handlers(self) -> list[tuple[str, object]]:
            """The page that asks for the token; there is nothing to log out of."""
            return [(url_path_join(base, "login"), self.login_handler_class)]

    class Kernels(AsyncMappingKernelManager):
        """Kernels that end when their page is gone."""

        def __init__(self, **options: Any) -> None:
            super().__init__(**options)  # type: ignore[no-untyped-call]
            self._alone: dict[str, float] = {}
            self._seen: set[str] = set()  # those whose page has come

        def notify_connect(self, kernel_id: str) -> None:
            """Remember that the page has come."""
            self._seen.add(kernel_id)
            super().notify_connect(kernel_id)  # type: ignore[no-untyped-call]

        async def shutdown_all(self, now: bool = False) -> None:
            """End all kernels; one that is starting can be ended when it has started."""
            starting = [task for task in self._pending_kernels.values() if not task.done()]
            await asyncio.gather(*starting, return_exceptions=True)
            await super().shutdown_all(now=now)

        async def cull_kernel_if_idle(self, kernel_id: str) -> None:
            """End a kernel whose page is gone, or has not come for long."""
            busy = getattr(self._kernels[kernel_id], "execution_state", "") == "busy"
            since = self._alone.setdefault(kernel_id, time.monotonic())
            wait = self.cull_idle_timeout * (1 if kernel_id in self._seen else PATIENCE)
            if busy or self._kernel_connections.get(kernel_id, 0):
                del self._alone[kernel_id]
            elif time.monotonic() - since >= wait:
                del self._alone[kernel_id]
                await self.shutdown_kernel(kernel_id)  # type: ignore[no-untyped-call]

    return Identity, Kernels
