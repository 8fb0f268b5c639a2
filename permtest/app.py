"""The page: files, what their columns are, and the answer with everything around it.

Like assigning columns in a statistics program: the first rows of each file, menus that say what the
columns are, filled with what the reader proposes, and a button. Nothing is computed before a person
has pressed it. What comes then is the report, the same document as `permtest report` writes.
Jupyter Server serves the page, with Voila as its extension and a token of its own.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from html import escape
from mimetypes import guess_type
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

try:
    import ipywidgets as widgets
    import yaml
except ModuleNotFoundError as error:
    message = "the page needs ipywidgets and matplotlib: pip install 'permtest[lab]'"
    raise ImportError(message) from error

from permtest._text import said, together
from permtest.many import compare_many
from permtest.readers import File, ReadError, read, read_many
from permtest.readers.tables import table_of
from permtest.statistics import STATISTICS
from permtest.study import report
from permtest.study.report import OPTIONS, TEMPLATES, rendered

__all__ = ["ComparisonApp"]

#: Bytes of a message, which is a file and more; rows of a file that are shown.
MESSAGE, ROWS = 2**29, 10

#: What may be wrong with what a person asks for; and what is said of a proposal.
PROBLEMS = (OSError, ImportError, TypeError, ValueError, ArithmeticError, MemoryError)
CONFIRM = "It is not clear which columns are what. The menus hold a proposal: check it, then press "
CONFIRM += "Compare."

#: Menus that name columns, and those that choose, by the keywords of `permtest.read` and `report`.
COLUMNS = {"id": "Item", "a": "System A", "b": "System B", "system": "Names of systems"}
COLUMNS |= {"score": "Scores", "gold": "Right answers", "prediction": "Predictions"}
COLUMNS |= {"run": "Runs", "clusters": "Swapped together"}
DIRECTIONS = {"not said": None, "higher is better": True, "lower is better": False}
SIDES = {"two-sided": "two-sided", "A higher": "greater", "A lower": "less"}
CHOICES: dict[str, tuple[str, dict[str, Any]]] = {
    "statistic": ("Metric", {"the scores themselves": None} | {name: name for name in STATISTICS}),
    "higher_is_better": ("Direction", DIRECTIONS),
    "missing": ("Items without a score", {"an error": None, "left out": "drop", "as 0": "zero"}),
    "alternative": ("Alternative", SIDES),
    "alpha": ("Level", {str(x): x for x in (0.05, 0.1, 0.01, 0.001)}),
}

#: NLPStatTest's four steps: whose settings of a study they have, and sections of the report.
STEPS = {
    "1. Data: units and assumptions": ("units data", "data units advice"),
    "2. Tests": ("test", "null tests"),
    "3. Effect sizes": ("effects", "effects"),
    "4. Power and the next study": ("power", "power next"),
}

#: Twelve questions that two systems answered.
EXAMPLE = File(
    "example.csv",
    b"item,new,old\nq1,1,0\nq2,1,1\nq3,0,0\nq4,1,0\nq5,1,1\nq6,1,0\nq7,1,0\nq8,0,0\nq9,1,1\n"
    b"q10,1,0\nq11,1,1\nq12,1,0\n",
)


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
    menus : dict of str to widget
        What columns are, by the keywords of `permtest.read`, and what is asked of them.
    settings : dict of str to Text
        Options of the four steps, such as "units.size", as a file of `StudyConfig` has them.
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
        self.settings: dict[str, Any] = {}
        self.upload = widgets.FileUpload(multiple=True, description="Choose files")
        example = widgets.Button(description="Show an example")
        self.preview, self.problem, self.answer = (widgets.HTML() for _ in range(3))
        self.menus = {name: widgets.Dropdown(description=x) for name, x in COLUMNS.items()}
        self.menus["systems"] = widgets.Text(description="Several systems", placeholder="A, B, C")
        for name, (title, options) in CHOICES.items():
            self.menus[name] = widgets.Dropdown(options=[*options.items()], description=title)
        self.compare = widgets.Button(description="Compare", button_style="primary")
        self.steps = widgets.Accordion([self._step(*x) for x in STEPS.values()], titles=[*STEPS])
        flow = widgets.Layout(flex_flow="row wrap", grid_gap="0 1.5em")
        menus = widgets.HBox([*self.menus.values()], layout=flow)
        self._asked = widgets.VBox([self.preview, menus, self.compare])
        self._found = widgets.VBox([self.answer, self.steps])
        head = widgets.HTML((TEMPLATES / "page.html").read_text("utf-8"))
        choose = widgets.HBox([self.upload, example])
        super().__init__([head, choose, self.problem, self._asked, self._found])
        self.add_class("permtest-app")
        self.upload.observe(lambda change: self.take(change["new"]), "value")
        example.on_click(lambda _: self.take([EXAMPLE]))
        self.compare.on_click(lambda _: self._answered())
        self.take(files, **declared)

    def _step(self, steps: str, keys: str) -> widgets.VBox:
        """The settings of a step, a button, and the sections that it makes."""
        run, found, own = widgets.Button(description="Run"), widgets.HTML(), {}
        for name in (f"{step}.{option}" for step in steps.split() for option in OPTIONS[step]):
            if name not in ("test.alternative", "test.alpha"):  # which have menus
                own[name] = widgets.Text(description=name.replace(".", ": "), placeholder="default")

        def sections() -> str:
            made = [x for x in self._document(self._config()).sections if x.key in keys.split()]
            return "".join(f"<h3>{x.heading}</h3>{rendered('section.html', [x])}" for x in made)

        self.settings |= own
        run.on_click(lambda _: _show(found, sections))
        return widgets.VBox([*own.values(), run, found])

    # ---- files and menus

    def take(self, files: Any, **declared: Any) -> None:
        """Show the first rows of files, and fill the menus with what the reader proposes."""
        self._files, self.document, self.problem.value = [], None, ""
        self._found.layout.display = self._asked.layout.display = "none"
        try:
            self._files = [
                File(x["name"], bytes(x["content"])) if isinstance(x, Mapping) else File.load(x)
                for x in files
            ]
        except PROBLEMS as error:
            self.problem.value = _problem(error)
        if not self._files:
            return
        self._asked.layout.display, shown, columns = None, [], dict[str, str]()
        for one in self._files:
            try:
                table = table_of(one)
            except ReadError:  # the format of a tool, which is no table
                shown.append(said(one.path))
                continue
            columns |= {name: name for name in table.names}
            rows = table.frame.head(ROWS).to_html(index=False, border=0, na_rep="")
            shown.append(said(f"{table.path}: {len(table):,} lines") + rows)
        self.preview.value = f"<div class='permtest-rows'>{together(*shown)}</div>"
        for name in COLUMNS:
            self.menus[name].options = [("none", ""), *columns.items()]
            self.menus[name].value = ""
        for name, value in ({"systems": ""} | self._proposal(declared) | declared).items():
            chosen = value[0] if isinstance(value, list | tuple) and len(value) == 1 else value
            if name == "systems":
                chosen = value if isinstance(value, str) else ", ".join(map(str, value))
            elif name not in self.menus:
                continue
            elif chosen not in (choice for _, choice in self.menus[name].options):
                self.menus[name].options = [*self.menus[name].options, (str(chosen), chosen)]
            self.menus[name].value = chosen

    def _proposal(self, declared: Mapping[str, Any]) -> dict[str, Any]:
        """What the reader takes the columns for; the page says that it is a proposal."""
        for many in (False, True):
            try:
                self._read(declared, many=many)
            except PROBLEMS as error:
                if found := getattr(error, "proposal", None):
                    self.problem.value = said(CONFIRM)
                    return dict(found)
                self.problem.value = self.problem.value or _problem(error)
            else:
                self.problem.value = ""
                break
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
        side, alpha = declared.pop("alternative"), declared.pop("alpha")
        scores = self._read(declared)
        if len(scores.systems) <= 2:
            how: dict[str, Any] = {"alternative": side, "alpha": alpha, "config": config}
            return report(scores, statistic=declared.get("statistic"), **how)
        if side != "two-sided":
            raise ValueError("more than two systems are compared two-sided only")
        return report(compare_many(scores, alpha=alpha))

    def _config(self) -> dict[str, dict[str, Any]]:
        """The settings of all steps that have a value."""
        config: dict[str, dict[str, Any]] = {}
        for name, text in self.settings.items():
            step, option = name.split(".")
            if text.value:
                try:
                    config.setdefault(step, {})[option] = yaml.safe_load(text.value)
                except yaml.YAMLError:
                    raise ValueError(f"{name}: {text.value!r} is no value") from None
        return config

    def _answered(self) -> None:
        """Show the report and its files, or why there is none."""
        self.compare.disabled, self.document, self._found.layout.display = True, None, None
        self.answer.value, self.problem.value = said("Comparing ..."), ""
        _show(self.answer, self._report)
        two = self.document is not None and hasattr(self.document.comparison, "test")
        self.compare.disabled, self.steps.layout.display = False, None if two else "none"

    def _report(self) -> str:
        self.document = self._document()
        files = self.document.files()
        links = (
            f"<a download='{name}' href='data:{guess_type(name)[0] or 'text/plain'};base64,"
            f"{b64encode(data).decode()}'>{name}</a>"
            for name, data in files.items()
        )
        page = escape(files["report.html"].decode())
        frame = f"<iframe sandbox='' title='the report' srcdoc=\"{page}\"></iframe>"
        return f"<p>Download: {', '.join(links)}</p>{frame}"


def _show(place: Any, make: Callable[[], str]) -> None:
    """Put HTML in its place, or what is wrong with what was asked for."""
    try:
        place.value = make()
    except PROBLEMS as error:
        place.value = _problem(error)


def _problem(error: Exception) -> str:
    text = escape(getattr(error, "problem", None) or str(error))
    return f"<p class='permtest-problem' role='alert'>{text}</p>"


# ---- the server ----------------------------------------------------------------------------------

#: Seconds that a kernel outlives its page.
IDLE = 60

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

    cell = "from permtest.app import ComparisonApp\nComparisonApp()"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)])
    notebook.metadata = {"title": "permtest", "kernelspec": {"name": "python3", "display_name": ""}}
    with TemporaryDirectory(prefix="permtest-") as folder:
        nbformat.write(notebook, Path(folder, "permtest.ipynb"))
        settings = {"ip": "127.0.0.1", "port": port, "port_retries": 0, "root_dir": folder}
        settings |= {"open_browser": browser, "default_url": "/voila/render/permtest.ipynb"}
        settings |= {"jpserver_extensions": {"voila.server_extension": True}, "allow_root": True}
        settings |= {"terminals_enabled": False, "log_level": "ERROR"}
        headers = {"Content-Security-Policy": POLICY}
        settings["tornado_settings"] = {
            "websocket_max_message_size": MESSAGE,
            "headers": headers,
        }
        config = Config(ServerApp=Config(settings))
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
