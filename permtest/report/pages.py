"""Pages and pictures of a report: what comes from data is text, and nothing else."""

from __future__ import annotations

import re
import warnings
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from permtest._checks import optional
from permtest._parallel import progress
from permtest.study.document import Document, Figure, Section

if TYPE_CHECKING:
    import matplotlib.figure

TEMPLATES = Path(__file__).parents[1] / "templates"

#: Figures of boards, which are too broad for a small screen, where they are moved sideways.
BROAD = ("plot_pairs", "plot_ranking")

#: Width of a figure whose parts stand below each other, so that it can be read on a small screen,
#: heights of the parts, and height of a row of tests and of what is around the rows, in inches.
WIDTH, ROW, REST = 6.8, 0.4, 2.0
STACKED = {"plot_estimation": (4.4, 4.2, 1.8), "plot_histograms": (3.0, 3.0, 3.0)}


def content(
    document: Document,
    kind: str,
    sections: Sequence[Section],
    figures: Mapping[str, bytes],
    stem: str,
) -> bytes:
    """The document in one format."""
    if kind in ("html", "md"):
        sources = {
            key: f"data:image/svg+xml;base64,{b64encode(picture).decode()}"
            if kind == "html"
            else f"{quote(stem)}-{key}.svg"
            for key, picture in figures.items()
        }
        return _page(kind, document, sections, sources).encode()
    if kind == "json":
        return (document.to_json(indent=2) + "\n").encode()
    if kind == "tex":
        return document.to_latex().encode()
    if kind in ("csv", "parquet"):
        frame = document.board.to_frame()  # type: ignore[attr-defined]
        if kind == "csv":
            frame = frame.map(_no_formula)
            return bytes(frame.to_csv(index=False, lineterminator="\n", na_rep="nan").encode())
        optional("pyarrow", needed_by=".parquet", extra="frames")
        return bytes(frame.to_parquet(index=False))
    return picture(document.picture, kind)


def _no_formula(cell: Any) -> Any:
    """A cell that a spreadsheet does not compute: a name may begin with what makes a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in tuple("=+-@\t\r") else cell


# ---- pages -------------------------------------------------------------------------------------


def _page(
    kind: str, document: Document, sections: Sequence[Section], sources: Mapping[str, str]
) -> str:
    """The sections on one page, by the template of the format."""
    jinja2 = optional("jinja2", needed_by="a report", extra="study")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=kind == "html",
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=None if kind == "html" else _markdown,
    )
    environment.filters |= {"code": _Verbatim, "digest": _digest}
    template = environment.get_template(f"report.{kind}")
    found = template.render(document=document, sections=sections, sources=sources, broad=BROAD)
    return str(found)


def _digest(script: str) -> str:
    """By what a page says which script may run in it."""
    return f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}"


class _Verbatim(str):
    """Text in a block of code, where nothing needs escaping."""

    __slots__ = ()


#: What Markdown, or the HTML in it, would take for a mark.
MARKS = {ord(mark): f"\\{mark}" for mark in "\\`*_[]|#~$"}
MARKS |= {ord("<"): "&lt;", ord(">"): "&gt;", ord("&"): "&amp;", ord("\n"): " "}


def _markdown(value: Any) -> Any:
    """Text in which no character is a mark, and nothing becomes a link by itself."""
    if isinstance(value, _Verbatim) or not isinstance(value, str):
        return value
    text = re.sub(r":(?=//)|(?<=www)\.", r"\\\g<0>", value.translate(MARKS), flags=re.IGNORECASE)
    return text.replace("@", "@<!-- -->")  # addresses are looked for when escapes are gone


# ---- pictures ----------------------------------------------------------------------------------


def pictures_of(sections: Sequence[Section]) -> dict[str, bytes]:
    """The figures of all sections as SVG, by the keys of these, with a bar if it takes long."""
    figures = {part.key: part.figure for part in sections if part.figure is not None}
    made = ((key, picture(figure, "svg")) for key, figure in figures.items())
    return dict(progress(made, total=len(figures), what="pictures"))


def picture(figure: Figure, kind: str, **options: Any) -> bytes:
    """A figure as "svg" or "png", without a date; `options` go to ``savefig``."""
    about = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
    file = BytesIO()
    with drawing():
        made = drawn(figure)
        # "tight" draws all of it once more, but at another resolution texts are wider.
        around = made.get_tightbbox().padded(0.1) if kind == "svg" else "tight"
        how: dict[str, Any] = {"bbox_inches": around, "metadata": about, **options}
        made.savefig(file, format=kind, **how)
    return file.getvalue()


@contextmanager
def drawing() -> Iterator[None]:
    """The project's style, no windows, and SVG that is the same every time."""
    mpl = optional("matplotlib", needed_by="a report", extra="study")
    from permtest.plots.sheet import style, without_windows

    settings: Any = {"svg.hashsalt": "permtest", "svg.fonttype": "path"}
    with style(), without_windows(), mpl.rc_context(settings), warnings.catch_warnings():
        # A name in a script that the font has not is drawn as boxes; the text beside has it.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def drawn(figure: Figure) -> matplotlib.figure.Figure:
    """What `permtest.plots` draws, with its axes where the layout put them."""
    from matplotlib.figure import Figure as Sheet

    from permtest import plots

    options: dict[str, Any] = dict(figure.options)
    heights: tuple[float, ...] = STACKED.get(figure.plot, ())
    if figure.plot == "plot_answers":
        heights = (ROW * len(figure.arguments[0].answers) + REST,) * 2
    if heights:
        sheet = Sheet(figsize=(WIDTH, sum(heights)), layout="constrained")
        options["ax"] = sheet.subplots(len(heights), height_ratios=heights)
    axes = getattr(plots, figure.plot)(*figure.arguments, **options)
    if figure.plot == "plot_answers":
        axes[1].tick_params(labelleft=True)
        axes[1].locator_params(axis="x", nbins=3)
        for note in axes[1].texts:  # too broad; the table has it
            note.set_visible(note.get_gid() != "other")
    made: matplotlib.figure.Figure = (axes if hasattr(axes, "figure") else axes[0]).figure
    if (engine := made.get_layout_engine()) is not None:
        engine.execute(made)
    made.set_layout_engine(None)
    # The solver meets its constraints in an order that depends on addresses in memory, which shows
    # in the last digits.
    for ax in made.get_axes():
        left, bottom, width, height = (round(x, 4) for x in ax.get_position().bounds)
        ax.set_position((left, bottom, width, height))
    return made
