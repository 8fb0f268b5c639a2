"""A notebook as a web page that this machine alone can see, by Voila.

Voila starts a kernel for each page, runs the cells there while the person is shown how far they
are, and then shows text and widgets without code. What is changed here: the page asks nobody but
this server for anything (and the browser is told to hold it to that), only who knows the token of
this run gets a page, files of some size come through, and kernels end that nobody looks at.
"""

from __future__ import annotations

import secrets
import webbrowser
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
import zmq
from jupyter_client.manager import KernelManager
from nbformat import NotebookNode
from tornado.ioloop import IOLoop
from traitlets.config import Config
from voila.app import Voila

from permtest._jupyter import (
    SOCKETS,
    UPLOAD_LIMIT,
    choose_port,
    poll_in_slices,
    stop_on_signals,
)

TEMPLATES = Path(__file__).parents[1] / "templates" / "app"
TITLE = "permtest: compare two systems"
IDLE = 1800  # seconds
PING = 90_000  # milliseconds

#: The extensions of Lab that a page may load: those that draw widgets.
EXTENSIONS = [
    "@jupyter-widgets/jupyterlab-manager",
    "@voila-dashboards/widgets-manager7",
    "@voila-dashboards/widgets-manager8",
]

#: Whom a page may ask for what; Voila's own pages write scripts and styles into themselves.
POLICY = {
    "default-src": "'none'",
    "script-src": "'self' 'unsafe-inline'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "connect-src": "'self' ws://127.0.0.1:{port}",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
}


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


def serve(path: Path, *, port: int = 0, browser: bool = True, idle: int = IDLE) -> None:
    """Serve a notebook until stopped; kernels work in a folder that is removed then.

    Parameters
    ----------
    path : Path
        The notebook; it is executed, so it must be one of ours.
    port : int
        Where to listen; 0 is any free port.
    browser : bool
        Whether to open a browser; else the address is printed alone.
    idle : int
        Seconds after which a kernel ends that has nothing to do and no page.
    """
    poll_in_slices()
    port, token = choose_port(port), secrets.token_hex(24)
    with TemporaryDirectory(prefix="permtest-") as folder:  # where kernels may leave something
        page = Path(folder, path.name)
        nbformat.write(page_of(nbformat.read(path, as_version=4)), page)
        app = App(config=settings(port, token, idle))
        app.initialize([str(page)])
        stop_on_signals()
        address = f"http://127.0.0.1:{port}/?token={token}"
        IOLoop.current().add_callback(_announce, address, browser)
        app.start()
    print("\nthe page has been stopped")


def page_of(notebook: NotebookNode) -> NotebookNode:
    """The set-up of a notebook and the cells tagged `page`, or all where none is; with a title.

    Parameters
    ----------
    notebook : NotebookNode
        Is changed.

    Returns
    -------
    NotebookNode
    """
    tags = [set(cell.metadata.get("tags", ())) for cell in notebook.cells]
    if any("page" in some for some in tags):
        cells = zip(notebook.cells, tags, strict=True)
        notebook.cells = [cell for cell, some in cells if some & {"page", "setup"}]
    notebook.metadata["title"] = TITLE
    return notebook


def _announce(address: str, browser: bool) -> None:
    print(f"the page is at\n    {address}\nfor this machine only. Ctrl-C stops it", flush=True)
    if browser:
        webbrowser.open(address)


def settings(port: int, token: str, idle: int) -> Config:
    """What Voila is told; nothing is read from configuration files.

    Parameters
    ----------
    port : int
    token : str
        Who has it gets a page, and none else.
    idle : int
        See `serve`.

    Returns
    -------
    Config
    """
    policy = "; ".join(f"{key} {value}" for key, value in POLICY.items()).format(port=port)
    config = Config()
    config.Voila = Config(
        ip="127.0.0.1",
        port=port,
        port_retries=0,
        token=token,
        open_browser=False,
        config_file_paths=[],
        log_level="ERROR",
        tornado_settings=SOCKETS
        | {
            "allow_remote_access": False,
            "headers": {"Content-Security-Policy": policy, "Referrer-Policy": "no-referrer"},
            "ws_ping_interval": PING,
            "ws_ping_timeout": PING,
        },
    )
    config.VoilaConfiguration = Config(
        allow_template_override="NO",
        allow_theme_override="NO",
        extension_allowlist=EXTENSIONS,
        file_allowlist=[],
        resources={"upload_limit": UPLOAD_LIMIT},
        show_tracebacks=True,  # who sees the page is who started it
    )
    config.MappingKernelManager = Config(cull_idle_timeout=idle, cull_interval=min(60, idle))
    if hasattr(KernelManager, "transport_encryption") and zmq.has("curve"):
        config.KernelManager.transport_encryption = "auto"  # kernels complain of plain text
    # A picture is larger than what Jupyter lets through in a second.
    config.ZMQChannelsWebsocketConnection.limit_rate = False
    return config
