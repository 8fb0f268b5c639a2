"""The page: files, what their columns are, and the answer with everything around it.

Like assigning columns in a statistics program: the first rows of each file, menus that say what the
columns are, filled with what the reader proposes, and a button. Nothing is computed before a person
has pressed it. What comes then is the report, the same document as `permtest report` writes.
Jupyter Server serves the page, with Voila as its extension and a token of its own.
"""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape
from math import ceil
from mimetypes import guess_type
from pathlib import Path
from queue import Empty
from tempfile import TemporaryDirectory
from typing import Any

try:
    import ipywidgets as widgets
except ModuleNotFoundError as error:
    message = "the page needs ipywidgets and matplotlib: pip install 'permtest[lab]'"
    raise ImportError(message) from error

from permtest._text import html_table, said, together
from permtest.many import compare_many
from permtest.readers import File, ReadError, read, read_many
from permtest.readers.tables import table_of
from permtest.statistics import STATISTICS
from permtest.study import report

__all__ = ["ComparisonApp"]

#: Bytes of a file, and of a message, which is a file and more; rows of a file that are shown.
LARGEST, MESSAGE, ROWS = 10**8, 2**29, 10

#: Menus that name columns, by the keywords of `permtest.read`.
COLUMNS = {
    "id": "Item",
    "a": "System A",
    "b": "System B",
    "system": "Names of systems",
    "score": "Scores",
    "gold": "Right answers",
    "prediction": "Predictions",
    "run": "Runs",
    "clusters": "Swapped together",
}
Choices = list[tuple[str, Any]]
WAYS: Choices = [("not said", None), ("higher is better", True), ("lower is better", False)]
GAPS: Choices = [("an error", None), ("left out", "drop"), ("score 0", "zero")]
METRICS: Choices = [("the scores themselves", None), *((name, name) for name in STATISTICS)]
SIDES: Choices = [("two-sided", "two-sided"), ("A higher", "greater"), ("A lower", "less")]

#: NLPStatTest's four steps: settings with what they are at first, and sections of the report.
STEPS: dict[str, tuple[dict[str, float], tuple[str, ...]]] = {
    "1. Data: units and assumptions": ({"units.size": 1, "data.alpha": 0.05}, ("data", "advice")),
    "2. Tests": ({"test.K": 10_000}, ("null", "tests")),
    "3. Effect sizes": ({"effects.alpha": 0.05}, ("effects",)),
    "4. Power and the next study": (
        {"power.experiments": 1_000, "power.alpha": 0.05, "power.target": 0.8},
        ("power", "next"),
    ),
}

#: Twelve questions that two systems answered.
EXAMPLE = File(
    "example.csv",
    b"item,new,old\nq1,1,0\nq2,1,1\nq3,0,0\nq4,1,0\nq5,1,1\nq6,1,0\nq7,1,0\nq8,0,0\nq9,1,1\n"
    b"q10,1,0\nq11,1,1\nq12,1,0\n",
)

HEADING = """<h1>Are two systems different, or is it luck?</h1>
<p>Choose a file with the scores of both systems, or a file for each. Say what the columns are, then
press Compare. With more than two systems you get a leaderboard. Nothing leaves this machine.</p>"""

#: In the colours of the page, so that it can be read by day and by night.
STYLE = """<style>
.permtest-app { max-width: 64rem; }
.permtest-app .widget-label { width: 9rem; text-align: left; }
.permtest-app .widget-dropdown, .permtest-app .widget-text { width: 19.5rem; max-width: 100%; }
.permtest-problem { border-left: 4px solid #c62828; padding-left: 0.7em; white-space: pre-wrap; }
.permtest-app iframe { width: 100%; height: 46rem; border: 1px solid currentColor; }
.permtest-app a { text-decoration: underline; color: inherit; }
.permtest-rows { max-height: 15rem; overflow: auto; }
.permtest-rows td, .permtest-rows th, .permtest-rows p { line-height: 1.3; white-space: nowrap; }
@media (prefers-color-scheme: dark) {
  body { color: #e8edf1; background: #12181e; --jp-layout-color0: #12181e;
    --jp-layout-color1: #1c252d; --jp-layout-color2: #2d3944; --jp-border-color1: #7d8a96;
    --jp-content-font-color1: #e8edf1; --jp-ui-font-color1: #e8edf1; --jp-widgets-color: #e8edf1;
    --jp-widgets-label-color: #e8edf1; --jp-widgets-input-color: #e8edf1;
    --jp-widgets-input-background-color: #1c252d; --jp-widgets-input-border-color: #7d8a96; }
}
</style>"""


class ComparisonApp(widgets.VBox):  # type: ignore[misc]
    """Choose files, say what their columns are, and compare.

    Parameters
    ----------
    *files : path or File
        What to start with.
    **declared
        Keyword arguments of `permtest.read`, to which the menus are set.

    Attributes
    ----------
    menus : dict of str to Dropdown
        What columns are, by the keywords of `permtest.read`.
    compare : Button
    document : Document or None
        The report of the last comparison.

    Examples
    --------
    >>> from permtest.app import EXAMPLE, ComparisonApp
    >>> app = ComparisonApp(EXAMPLE)
    >>> app.document is None
    True
    >>> app.compare.click()
    >>> app.document.comparison.test.pvalue
    0.03125
    """

    def __init__(self, *files: Any, **declared: Any) -> None:
        self.document: Any = None
        self._files: list[File] = []
        self.upload = widgets.FileUpload(multiple=True, description="Choose files")
        self.example = widgets.Button(description="Show an example")
        self.preview, self.problem, self.answer = (widgets.HTML() for _ in range(3))
        self.menus = {name: _menu(title, []) for name, title in COLUMNS.items()}
        self.menus["systems"] = widgets.Text(description="Several systems", placeholder="A, B, C")
        self.menus["statistic"] = _menu("Metric", METRICS)
        self.menus["higher_is_better"] = _menu("Direction", WAYS)
        self.menus["missing"] = _menu("Items without a score", GAPS)
        self.side = _menu("Alternative", SIDES)
        self.alpha = _menu("Level", [("0.05", 0.05), ("0.1", 0.1), ("0.01", 0.01), ("0.001", 1e-3)])
        self.compare = widgets.Button(description="Compare", button_style="primary")
        self.settings: dict[str, Any] = {}
        self.steps = widgets.Accordion([self._step(*step) for step in STEPS.values()])
        self.steps.titles = [*STEPS]
        flow = widgets.Layout(flex_flow="row wrap", grid_gap="0 1.5em")
        menus = widgets.HBox([*self.menus.values(), self.side, self.alpha], layout=flow)
        self._asked = widgets.VBox([self.preview, self.problem, menus, self.compare])
        self._found = widgets.VBox([self.answer, self.steps])
        head = widgets.HBox([self.upload, self.example])
        top = widgets.HTML(STYLE + HEADING)
        super().__init__([top, head, self._asked, self._found])
        self.add_class("permtest-app")
        self.upload.observe(self._uploaded, "value")
        self.example.on_click(lambda _: self.take([EXAMPLE]))
        self.compare.on_click(lambda _: self._show_report())
        self.take([File.load(x) for x in files], **declared)

    def _step(self, options: Mapping[str, float], keys: Sequence[str]) -> widgets.VBox:
        """The settings of a step, a button, and what it finds."""
        run, found = widgets.Button(description="Run"), widgets.HTML()
        for name, value in options.items():
            kind = widgets.IntText if isinstance(value, int) else widgets.FloatText
            self.settings[name] = kind(value, description=name.replace(".", ": "))

        def clicked(_: Any) -> None:
            found.value = self._problem_or(lambda: self._sections(keys))

        run.on_click(clicked)
        return widgets.VBox([*(self.settings[name] for name in options), run, found])

    # ---- files and menus

    def _uploaded(self, change: Mapping[str, Any]) -> None:
        files = [File(str(one["name"]), bytes(one["content"])) for one in change["new"]]
        for one in files:
            if len(one.data) > LARGEST:
                self.problem.value = _problem(
                    f"{one.path} has {len(one.data) / 1e6:,.0f} MB, and the page takes files of "
                    f"{LARGEST / 1e6:,.0f} MB; the command line takes larger ones"
                )
                return
        self.take(files)

    def take(self, files: Sequence[File], **declared: Any) -> None:
        """Show the first rows of files, and fill the menus with what the reader proposes."""
        self._files, self.document = [*files], None
        self._found.layout.display = "none"
        self._asked.layout.display = None if files else "none"
        if not files:
            return
        tables, self.problem.value = [], ""
        for one in files:
            try:
                tables.append(table_of(one))
            except ReadError:  # the format of a tool, which is no table
                continue
        shown = (
            together(*map(_first_rows, tables))
            if tables
            else said(", ".join(one.path for one in files))
        )
        self.preview.value = f"<div class='permtest-rows'>{shown}</div>"
        names = dict.fromkeys(name for table in tables for name in table.names)
        for name in COLUMNS:
            self.menus[name].options = [("none", None), *((x, x) for x in names)]
            self.menus[name].index = 0
        self.menus["systems"].value = ""
        for name, value in (self._proposed(declared) | declared).items():
            listed = [value] if isinstance(value, str | bool) else list(value)
            if name == "systems":
                self.menus[name].value = ", ".join(map(str, listed))
            elif (menu := self.menus.get(name)) is not None:
                chosen = listed[0] if len(listed) == 1 else value
                if chosen not in (choice for _, choice in menu.options):
                    menu.options = [*menu.options, (str(chosen), chosen)]
                menu.value = chosen

    def _proposed(self, declared: Mapping[str, Any]) -> dict[str, Any]:
        """What the reader takes the columns for; the page says that it is a proposal."""
        problem: Exception | None = None
        for many in (False, True):
            try:
                self._read(declared, many=many)
            except (OSError, ImportError, TypeError, ValueError, MemoryError) as error:
                problem = problem or error
                if found := getattr(error, "proposal", None):
                    self.problem.value = said(
                        "It is not clear which columns are what. The menus hold a proposal: check "
                        "it, then press Compare."
                    )
                    return dict(found)
            else:
                return {}
        self.problem.value = _problem(getattr(problem, "problem", None) or str(problem))
        return {}

    def _read(self, declared: Mapping[str, Any], *, many: bool = False) -> Any:
        """The scores of two systems, or of several."""
        systems = declared.get("systems")
        if not (many or systems or len(self._files) > 2):
            return read(*self._files, **declared)
        given = {name: value for name, value in declared.items() if name not in ("a", "b")}
        if systems and "*" not in systems:
            given["systems"] = [name.strip() for name in systems.split(",")]
        return read_many(*self._files, **given)

    # ---- the answer

    def _document(self, config: Any = None) -> Any:
        """The document that the menus ask for."""
        every = ((name, menu.value) for name, menu in self.menus.items())
        declared = {name: value for name, value in every if value not in (None, "")}
        scores = self._read(declared)
        if len(scores.systems) > 2:
            if self.side.value != "two-sided":
                raise ValueError("more than two systems are compared two-sided only")
            return report(compare_many(scores, alpha=self.alpha.value))
        how: dict[str, Any] = {"alternative": self.side.value, "alpha": self.alpha.value}
        return report(scores, statistic=declared.get("statistic"), config=config, **how)

    def _show_report(self) -> None:
        """Show the report and its files, or why there is none."""
        self.compare.disabled, self.answer.value, self.document = True, said("Comparing ..."), None
        self._found.layout.display = None
        try:
            self.answer.value = self._problem_or(self._report_html)
        finally:
            self.compare.disabled = False
            single = self.document is not None and hasattr(self.document.comparison, "test")
            self.steps.layout.display = None if single else "none"

    def _report_html(self) -> str:
        self.problem.value, self.document = "", self._document()
        page = escape(self.document.to_html(), quote=True)
        links = (
            f"<a download='{name}' href='data:{guess_type(name)[0] or 'text/plain'};base64,"
            f"{b64encode(data).decode()}'>{name}</a>"
            for name, data in self.document.files().items()
        )
        files = f"<p>Download: {', '.join(links)}</p>"
        return f"{files}<iframe sandbox='' title='the report' srcdoc=\"{page}\"></iframe>"

    def _sections(self, keys: Sequence[str]) -> str:
        """Some sections of the report with the settings of all steps."""
        config: dict[str, dict[str, Any]] = {}
        for name, setting in self.settings.items():
            step, option = name.split(".")
            config.setdefault(step, {})[option] = setting.value
        document = self._document(config)
        return "".join(part.to_html() for part in document.sections if part.key in keys)

    def _problem_or(self, make: Any) -> str:
        """HTML, or what is wrong with what was asked for."""
        try:
            return str(make())
        except (OSError, ImportError, TypeError, ValueError, ArithmeticError, MemoryError) as error:
            return _problem(getattr(error, "problem", None) or str(error))


def _menu(title: str, options: Choices) -> widgets.Dropdown:
    return widgets.Dropdown(options=options, description=title, index=0 if options else None)


def _problem(text: str) -> str:
    return f"<p class='permtest-problem' role='alert'>{escape(text)}</p>"


def _first_rows(table: Any) -> str:
    rows = table.frame.head(ROWS).astype(str).to_dict("records")
    titles = {name: name for name in table.names}
    return html_table(rows, titles, f"{table.path}: {len(table):,} lines")


# ---- the server ----------------------------------------------------------------------------------

#: Seconds between two looks for a message, and those that a kernel outlives its page.
SLICE, IDLE = 0.25, 60

#: The extensions of Lab that a page may load: those that draw widgets.
EXTENSIONS = ["@jupyter-widgets/jupyterlab-manager"]
EXTENSIONS += [f"@voila-dashboards/widgets-manager{version}" for version in (7, 8)]

#: Nothing is loaded from elsewhere; Voila's own pages write scripts and styles into themselves.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' ws://127.0.0.1:*; "
    "frame-ancestors 'none'; base-uri 'none'"
)


def serve(*, port: int = 0, browser: bool = True) -> None:
    """Serve the page for this machine alone, until stopped; its address has the token."""
    import nbformat
    from jupyter_server.serverapp import ServerApp
    from traitlets.config import Config

    poll_in_slices()
    cell = "from permtest.app import ComparisonApp\nComparisonApp()"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)])
    notebook.metadata = {"title": "permtest", "kernelspec": {"name": "python3", "display_name": ""}}
    with TemporaryDirectory(prefix="permtest-") as folder:
        nbformat.write(notebook, Path(folder, "permtest.ipynb"))
        config = Config()
        config.ServerApp = Config(
            ip="127.0.0.1",
            port=port,
            port_retries=0,
            root_dir=folder,
            open_browser=browser,
            default_url="/voila/render/permtest.ipynb",
            jpserver_extensions={"voila.server_extension": True},
            terminals_enabled=False,
            allow_root=True,
            log_level="ERROR",
            tornado_settings={
                "websocket_max_message_size": MESSAGE,
                "headers": {"Content-Security-Policy": POLICY},
            },
        )
        config.VoilaConfiguration = Config(show_tracebacks=True, extension_allowlist=EXTENSIONS)
        config.KernelManager.transport_encryption = "auto"
        config.MappingKernelManager = Config(cull_idle_timeout=IDLE, cull_interval=10)
        # A picture is larger than what Jupyter lets through in a second.
        config.ZMQChannelsWebsocketConnection.limit_rate = False
        app = ServerApp.instance(config=config)
        app.initialize(argv=[], find_extensions=False)
        app.log.setLevel(60)  # the address is printed here
        print(f"the page is at\n    {app.display_url}\nfor this machine only. Ctrl-C stops it")
        app.start()


def poll_in_slices() -> None:
    """Make every kernel client of this process look for messages at least every `SLICE`."""
    # `jupyter_client` waits in one long poll. Now and then, while a cell fills an Output widget, a
    # message does not wake it, and the cell waits for ever (jupyter/nbclient, issue 312).
    from jupyter_client.channels import AsyncZMQSocketChannel

    async def get_msg(channel: Any, timeout: float | None = None) -> dict[str, Any]:
        deadline = float("inf") if timeout is None else time.monotonic() + timeout
        while True:
            wait = max(0.0, min(SLICE, deadline - time.monotonic()))
            if await channel.socket.poll(ceil(1000 * wait)):
                message: dict[str, Any] = await channel._recv()
                return message
            if time.monotonic() >= deadline:
                raise Empty

    AsyncZMQSocketChannel.get_msg = get_msg
