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
from permtest.study.report import SETTINGS, TEMPLATES, rendered

__all__ = ["ComparisonApp"]

#: Rows of a file that are shown.
ROWS = 10

#: What may be wrong with what a person asks for; and what is said of a proposal.
PROBLEMS = (
    OSError,
    ImportError,
    TypeError,
    ValueError,
    ArithmeticError,
    MemoryError,
    yaml.YAMLError,
)
CONFIRM = "It is not clear which columns are what. The menus hold a proposal: check it, then press "
CONFIRM += "Compare."

#: Menus of columns by the keywords of `permtest.read`, and menus of other things.
COLUMNS = {"id": "Item", "a": "System A", "b": "System B", "system": "Names of systems"}
COLUMNS |= {"score": "Scores", "gold": "Right answers", "prediction": "Predictions"}
COLUMNS |= {"run": "Runs", "clusters": "Swapped together"}
METRICS = {"the scores themselves": ""} | {name: name for name in STATISTICS}
DIRECTIONS = {"not said": "", "higher is better": True, "lower is better": False}
LACKING = {"an error": "", "left out": "drop", "as 0": "zero"}
MENUS: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (title, {}) for name, title in COLUMNS.items()},
    "statistic": ("Metric", METRICS),
    "higher_is_better": ("Direction", DIRECTIONS),
    "missing": ("Items without a score", LACKING),
}

#: NLPStatTest's four steps: whose settings of a study they have, and sections of the report.
STEPS = {
    "1. Data: units and assumptions": ("units data", "data advice"),
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
    menus : dict of str to Dropdown
        What columns are, by the keywords of `permtest.read`; `systems` is a text of several.
    settings : dict of str to dict of str to Text
        Of each step its options, such as ``settings["units"]["size"]``, as `report` has them.
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
        self.settings: dict[str, dict[str, widgets.Text]] = {}
        self.upload = widgets.FileUpload(multiple=True, description="Choose files")
        example = widgets.Button(description="Show an example")
        self.preview, self.problem, self.answer = (widgets.HTML() for _ in range(3))
        self.menus = {name: widgets.Dropdown(description=x) for name, (x, _) in MENUS.items()}
        self.systems = widgets.Text(description="Several systems", placeholder="A, B, C")
        self.compare = _button("Compare", self.answer, self._report)
        self.steps = widgets.Accordion([self._step(*x) for x in STEPS.values()], titles=[*STEPS])
        flow = widgets.Layout(flex_flow="row wrap", grid_gap="0 1.5em")
        menus = widgets.HBox([*self.menus.values(), self.systems], layout=flow)
        self._asked = widgets.VBox([self.preview, menus, self.compare])
        self._found = widgets.VBox([self.answer, self.steps])
        head = widgets.HTML((TEMPLATES / "page.html").read_text("utf-8"))
        choose = widgets.HBox([self.upload, example])
        super().__init__([head, choose, self.problem, self._asked, self._found])
        self.add_class("permtest-app")
        self.upload.observe(lambda change: self.take(change["new"]), "value")
        example.on_click(lambda _: self.take([EXAMPLE]))
        self.take(files, **declared)

    def _step(self, steps: str, keys: str) -> widgets.VBox:
        """The settings of a step, a button, and the sections that it makes."""
        found, own = widgets.HTML(), list[Any]()
        for step in steps.split():
            self.settings[step] = {
                x: widgets.Text(description=f"{step}: {x}") for x in SETTINGS[step]
            }
            own += self.settings[step].values()
            for x, text in self.settings[step].items():
                text.placeholder = str(SETTINGS[step][x] or "default")

        def sections() -> str:
            made = [x for x in self._document(study=True).sections if x.key in keys.split()]
            return "".join(f"<h3>{x.heading}</h3>{rendered('section.html', [x])}" for x in made)

        return widgets.VBox([*own, _button("Run", found, sections), found])

    # ---- files and menus

    def take(self, files: Any, **declared: Any) -> None:
        """Show the first rows of files, and fill the menus with what the reader proposes."""
        self._files, self.document, self.problem.value = [], None, ""
        self._found.layout.display = self._asked.layout.display = "none"
        try:
            self._files = [
                File(x["name"], bytes(x["content"])) if isinstance(x, Mapping) else x for x in files
            ]
        except ReadError as error:
            self.problem.value = _problem(error)
        if not self._files:
            return
        shown, columns = list[str](), {"none": ""}
        for one in self._files:
            try:
                table = table_of(File.load(one))
            except PROBLEMS:  # the format of a tool, or what the reader will refuse
                shown.append(said(str(getattr(one, "path", one))))
                continue
            columns |= {name: name for name in table.names}
            rows = table.frame.head(ROWS).to_html(index=False, border=0, na_rep="")
            shown.append(said(f"{table.path}: {len(table):,} lines") + rows)
        self.preview.value = f"<div class='permtest-rows'>{together(*shown)}</div>"
        known = {**self._proposal(declared), **declared}
        systems = known.pop("systems", "")
        self.systems.value = systems if isinstance(systems, str) else ",".join(systems)
        for name, menu in self.menus.items():
            options, chosen = MENUS[name][1] or columns, known.get(name, "")
            more = {} if chosen in options.values() else {str(chosen): chosen}
            menu.options = [*(options | more).items()]
            menu.value = chosen
        for text in (text for own in self.settings.values() for text in own.values()):
            text.value = ""
        self._asked.layout.display = None

    def _proposal(self, declared: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the reader takes the columns for; the page says that it is a proposal."""
        for many in (False, True):
            try:
                self._read(declared, many=many)
                self.problem.value = ""
                break
            except PROBLEMS as error:
                if found := getattr(error, "proposal", None):
                    self.problem.value = said(CONFIRM)
                    return dict(found)
                self.problem.value = self.problem.value or _problem(error)
        return {}

    def _read(self, declared: Mapping[str, Any], *, many: bool = False) -> Any:
        """The scores of two systems, or of several."""
        if not (many or "systems" in declared or len(self._files) > 2):
            return read(*self._files, **declared)
        given = {name: value for name, value in declared.items() if name not in ("a", "b")}
        return read_many(*self._files, **given)

    # ---- the answer

    def _document(self, *, study: bool = False) -> Any:
        """The document that the menus and settings ask for; a study if there are settings."""
        asked = {name: menu.value for name, menu in self.menus.items()}
        asked["systems"] = self.systems.value.replace(", ", ",")
        declared = {name: value for name, value in asked.items() if value != ""}
        scores = self._read(declared)
        if len(scores.systems) > 2:
            return report(compare_many(scores))
        given = {
            step: {name: yaml.safe_load(text.value) for name, text in own.items() if text.value}
            for step, own in self.settings.items()
        }
        config = given if study or any(given.values()) else None
        return report(scores, statistic=declared.get("statistic"), config=config)

    def _report(self) -> str:
        """The report in a frame, and its files; below are the steps, if there are two systems."""
        self.document, self.problem.value, self._found.layout.display = None, "", None
        self.steps.layout.display = "none"
        self.document = document = self._document()
        files, links = document.files(), []
        for name, data in files.items():
            kind, content = guess_type(name)[0] or "text/plain", b64encode(data).decode()
            links.append(f"<a download='{name}' href='data:{kind};base64,{content}'>{name}</a>")
        page = escape(files["report.html"].decode())
        frame = f"<iframe sandbox='' title='the report' srcdoc=\"{page}\"></iframe>"
        if hasattr(document.comparison, "test"):
            self.steps.layout.display = None
        return f"<p>Download: {', '.join(links)}</p>{frame}"


def _button(title: str, place: Any, make: Callable[[], str]) -> widgets.Button:
    """A button that puts HTML in its place, or what is wrong with what was asked for."""
    button = widgets.Button(description=title, button_style="primary")

    def press(_: Any) -> None:
        button.disabled, place.value = True, said("Computing ...")
        try:
            place.value = make()
        except PROBLEMS as error:
            place.value = _problem(error)
        button.disabled = False

    button.on_click(press)
    return button


def _problem(error: Exception) -> str:
    text = escape(getattr(error, "problem", None) or str(error))
    return f"<p class='permtest-problem' role='alert'>{text}</p>"


# ---- the server ----------------------------------------------------------------------------------

#: The extensions of Lab that a page may load: those that draw widgets.
EXTENSIONS = ["@jupyter-widgets/jupyterlab-manager"]
EXTENSIONS += [f"@voila-dashboards/widgets-manager{version}" for version in (7, 8)]

#: Nothing is loaded from elsewhere; Voila's own pages write scripts and styles into themselves.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' ws://127.0.0.1:*; "
    "frame-ancestors 'none'; base-uri 'none'"
)

#: What Jupyter is told: a kernel outlives its page by a minute, and pictures may be larger than
#: what it lets through in a second.
SERVER: dict[str, dict[str, Any]] = {
    "ServerApp": {
        "ip": "127.0.0.1",
        "default_url": "/voila/render/permtest.ipynb",
        "jpserver_extensions": {"voila.server_extension": True},
        "terminals_enabled": False,
        "allow_root": True,
        "log_level": "ERROR",
        "tornado_settings": {
            "websocket_max_message_size": 2**29,  # a file and more
            "headers": {"Content-Security-Policy": POLICY},
        },
    },
    "VoilaConfiguration": {"extension_allowlist": EXTENSIONS},
    "KernelManager": {"transport_encryption": "auto"},
    "MappingKernelManager": {"cull_idle_timeout": 60, "cull_interval": 10},
    "ZMQChannelsWebsocketConnection": {"limit_rate": False},
}


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
        config = Config(SERVER)
        config.ServerApp.update(port=port, open_browser=browser, root_dir=folder)
        app = ServerApp.instance(config=config)
        app.initialize(argv=[], find_extensions=False)
        app.log.setLevel(60)  # the address is printed here
        print(f"the page is at\n    {app.display_url}\nfor this machine only. Ctrl-C stops it")
        app.start()
