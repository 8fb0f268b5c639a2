"""The page: files, what their columns are, and the answer with everything around it.

Like assigning columns in a statistics program: the first rows of each file, menus that say what the
columns are, filled with what the reader proposes, and a button. Nothing is computed before a person
has pressed it. What comes then is the report, the same document as `permtest report` writes.
Jupyter Server serves the page, with Voila as its extension and a token of its own.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from contextlib import suppress
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

try:
    import ipywidgets as widgets
    import yaml
except ModuleNotFoundError as error:
    message = "the page needs ipywidgets and matplotlib: pip install 'permtest[lab]'"
    raise ImportError(message) from error

from permtest._text import said
from permtest.many import compare_many
from permtest.readers import METRICS, File, read_many
from permtest.readers.tables import listed, table_of
from permtest.statistics import STATISTICS
from permtest.study import report
from permtest.study.report import SETTINGS, TEMPLATES, rendered

__all__ = ["ComparisonApp"]

#: Menus by the keywords of `permtest.read`, and what they offer that are not of columns.
MENUS = {"id": "Item", "a": "System A", "b": "System B", "system": "Names of systems"}
MENUS |= {"score": "Scores", "gold": "Right answers", "prediction": "Predictions", "run": "Runs"}
MENUS |= {"clusters": "Swapped together", "statistic": "Metric", "higher_is_better": "Direction"}
MENUS |= {"missing": "Items without a score"}
TEXTS = {"systems": "Several systems", "pos_label": "Label to find", "records": "Records in JSON"}
CHOICES: dict[str, dict[str, Any]] = {
    "statistic": {"the scores": ""} | {x: x for x in (*STATISTICS, *METRICS)},
    "higher_is_better": {"not said": "", "higher is better": True, "lower is better": False},
    "missing": {"an error": "", "left out": "drop", "as 0": "zero"},
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
        Keyword arguments of `permtest.read` or `read_many`, to which the menus are set.

    Attributes
    ----------
    menus : dict of str to Dropdown or Text
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
        head = widgets.HTML((TEMPLATES / "page.html").read_text("utf-8"))
        self.upload = widgets.FileUpload(multiple=True, description="Choose files")
        self.upload.observe(lambda change: self.take(change["new"]), "value")
        example = widgets.Button(description="Show an example")
        example.on_click(lambda _: self.take([EXAMPLE]))
        self._head = [head, widgets.HBox([self.upload, example])]
        super().__init__()
        self.add_class("permtest-app")
        self.take(files, **declared)

    def take(self, files: Any, **declared: Any) -> None:
        """Show the first rows of files, and menus with what the reader proposes."""
        self.document: Any = None
        self.menus, self.settings = dict[str, Any](), dict[str, dict[str, Any]]()
        self.preview, self.answer = widgets.HTML(), widgets.HTML()
        self.steps = widgets.Accordion([self._step(*x) for x in STEPS.values()], titles=[*STEPS])
        self.compare = _button("Compare", self.answer, self._report)
        self._asked = [*self._head, self.preview]
        self.preview.value = _tried(lambda: self._shown(files, declared)) if files else ""
        self.children = self._asked

    def _shown(self, files: Any, declared: Mapping[str, Any]) -> str:
        """The first rows of files, and what the reader says of them; below come the menus."""
        sent = [x for x in files if isinstance(x, Mapping)]  # by the browser
        self._files = [File(x["name"], bytes(x["content"])) for x in sent] or [*files]
        shown, columns, known, problem = "", {"(none)": ""}, dict(declared), ""
        for one in self._files:
            about, rows = str(getattr(one, "path", one)), ""
            with suppress(Exception):  # the format of a tool, or what the reader will refuse
                table = table_of(File.load(one))
                about += f": {len(table):,} lines"
                rows = table.frame.head(10).to_html(index=False, border=0, na_rep="")
                columns |= {name: name for name in table.names}
            shown += f"<div>{said(about)}{rows}</div>"
        try:
            problem = said(f"Ready to compare {self._read(declared)}.")
        except Exception as error:
            known = {**(getattr(error, "proposal", None) or {}), **declared}
            problem = said("The menus propose what the columns are: check them, then Compare.")
            if known == declared:
                problem = _problem(error)
        systems = listed(known.pop("systems", None))
        if len(systems) == 2:
            known["a"], known["b"], *systems = systems
        known["systems"] = ",".join(map(str, systems))
        choices = CHOICES | {"gold": columns | {str(getattr(x, "path", x)): x for x in self._files}}
        for name, title in MENUS.items():
            options, chosen = choices.get(name, columns), known.get(name, "")
            options = options if chosen in options.values() else options | {str(chosen): chosen}
            self.menus[name] = widgets.Dropdown(description=title, options=options, value=chosen)
        self.menus |= {x: widgets.Text(known.get(x, ""), description=y) for x, y in TEXTS.items()}
        menus = widgets.HBox([*self.menus.values()], layout={"flex_flow": "row wrap"})
        self._asked += [menus, self.compare, self.answer]
        return f"{problem}<div class='permtest-rows'>{shown}</div>"

    def _step(self, steps: str, keys: str) -> widgets.VBox:
        """The settings of a step, a button, and the sections that it makes."""
        found, own = widgets.HTML(), list[Any]()
        for step in steps.split():
            self.settings[step] = {
                x: widgets.Text(description=f"{step}: {x}", placeholder=str(usual or "default"))
                for x, usual in SETTINGS[step].items()
            }
            own += self.settings[step].values()

        def sections() -> str:
            made = [x for x in self._document(study=True).sections if x.key in keys.split()]
            return "".join(f"<h3>{x.heading}</h3>{rendered('section.html', [x])}" for x in made)

        return widgets.VBox([*own, _button("Run", found, sections), found])

    def _read(self, declared: Mapping[str, Any]) -> Any:
        """The scores of two systems, or of several."""
        pair = [declared[x] for x in ("a", "b") if x in declared]
        given = {name: value for name, value in declared.items() if name not in ("a", "b")}
        files = [x for x in self._files if x is not declared.get("gold")]
        return read_many(*files, **{"systems": pair or None} | given)

    def _document(self, *, study: bool = False) -> Any:
        """The document that the menus and settings ask for; a study if there are settings."""
        declared = {name: menu.value for name, menu in self.menus.items() if menu.value != ""}
        scores, metric = self._read(declared), declared.get("statistic", "mean")
        metric = METRICS.get(metric, metric)
        if len(scores.systems) > 2:
            return report(compare_many(scores, statistic=metric, rng=0))
        config = {
            step: {name: yaml.safe_load(text.value) for name, text in own.items() if text.value}
            for step, own in self.settings.items()
        }
        study = study or any(config.values())
        return report(scores, statistic=metric, config=config if study else None)

    def _report(self) -> str:
        """The report in a frame, and its files; below are the steps, if there are two systems."""
        self.document, self.children = None, self._asked
        self.document = self._document()
        files, links = self.document.files(), []
        for name, data in files.items():
            content = f"data:application/octet-stream;base64,{b64encode(data).decode()}"
            links.append(f"<a download='{name}' href='{content}'>{name}</a>")
        if hasattr(self.document.comparison, "test"):
            self.children = [*self._asked, self.steps]
        page = escape(files["report.html"].decode())
        frame = f"<iframe sandbox='' title='the report' srcdoc=\"{page}\"></iframe>"
        return f"<p>Download: {', '.join(links)}</p>{frame}"


def _button(title: str, place: Any, make: Callable[[], str]) -> widgets.Button:
    """A button that puts HTML in its place, or what is wrong with what was asked for."""
    button = widgets.Button(description=title, button_style="primary")

    def press(_: Any) -> None:
        button.disabled, place.value = True, said("Computing ...")
        place.value = _tried(make)
        button.disabled = False

    button.on_click(press)
    return button


def _tried(make: Callable[[], str]) -> str:
    """What is made, or what is wrong with what was asked for."""
    try:
        return make()
    except Exception as error:
        return _problem(error)


def _problem(error: Exception) -> str:
    text = escape(getattr(error, "problem", None) or str(error))
    return f"<p class='permtest-problem' role='alert'>{text}</p>"


# ---- the server ----------------------------------------------------------------------------------

#: The extensions of Lab that a page may load: those that draw widgets.
EXTENSIONS = ["@jupyter-widgets/jupyterlab-manager", "@voila-dashboards/widgets-manager8"]

#: Nothing is loaded from elsewhere; Voila's own pages write scripts and styles into themselves.
POLICY = (
    "default-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
    "connect-src 'self' ws://127.0.0.1:*; frame-ancestors 'none'; base-uri 'none'"
)

#: What Jupyter is told: a kernel outlives its page by a minute, and pictures may be large.
SERVER: dict[str, dict[str, Any]] = {
    "ServerApp": {
        "ip": "127.0.0.1",
        "default_url": "/voila/render/permtest.ipynb",
        "jpserver_extensions": {"voila.server_extension": True},
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
