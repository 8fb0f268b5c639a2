"""What the page is made of: notes, pictures, and parts that are folded away."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable
from html import escape

import ipywidgets as widgets

from permtest.report.pages import picture
from permtest.study.document import Figure

STYLE = """<style>
.permtest-app {
  --jp-widgets-font-size: 16px; --jp-widgets-inline-height: 36px; overflow: visible;
  &, & .widget-html-content { font-size: 16px; line-height: 1.45; }
  & .widget-html, & .widget-html-content { height: auto; min-width: 0; }
  & h2 { margin: 1em 0 0.3em; font-size: 1.4em; border-bottom: 2px solid; }
  & p { margin: 0.3em 0; max-width: 50em; overflow-wrap: anywhere; }
  & tbody tr { border-top: 1px solid rgb(128 128 128 / 45%); }
  & tbody th { min-width: 8em; overflow-wrap: anywhere; }
  & .permtest-verdict { font-size: 1.25em; font-weight: 600; }
  & .permtest-problem { border-left: 5px solid; padding: 0.3em 0.7em; font-weight: 600; }
  & .permtest-work:not(:empty) { padding: 0.2em 0.7em; border-left: 5px dotted; }
  & .permtest-old { opacity: 0.45; }
  & .widget-dropdown, & .widget-text { width: auto; height: auto; max-width: calc(100% - 4px); }
  & select, & input { min-width: 5em; min-height: 36px; }
  & [type="checkbox"] { min-width: 0; }
  & select { appearance: auto; background-image: none; }
  & .jupyter-button { width: max-content; max-width: 100%; height: auto; min-height: 36px;
    white-space: normal; text-align: left; }
  & :focus-visible { outline: 3px solid; outline-offset: 2px; }
  & img { display: block; height: auto; max-width: 100%; background: #fff; }
  & a { color: inherit; text-decoration: underline; }
  & pre, & .permtest-wide { overflow-x: auto; }
  @media (max-width: 40rem) {
    & .widget-dropdown, & .widget-text { flex-flow: row wrap; }
    & .permtest-wide img { max-width: none; width: 44rem; }
    & .permtest-wide::before { content: "Move the picture sideways to see all of it."; }
  }
}
</style>"""


#: What an option of the command line is called on the page.
CONTROLS = {
    "--clusters": "choose 'whole groups: {}' under What is swapped",
    "--no-clusters": "choose 'each item' under What is swapped",
    "--metric": "choose {} under Metric",
    "--score": "choose {} under Score",
    "--gold": "choose {} as Column of right answers",
    "--a,": "choose them as System A and System B",
}


def on_page(text: str) -> str:
    """A text in which the page's own controls take the place of command-line options."""

    def control(match: re.Match[str]) -> str:
        option, _, value = match[1].partition(" ")
        if option not in CONTROLS:
            return f" (permtest compare {match[1]})"
        said = CONTROLS[option]
        return f" ({said.format(value)})" if value or "{}" not in said else ""

    text = re.sub(r"--gold (.+?) scores", r"choosing \1 as Column of right answers scores", text)
    return re.sub(r" \((--[^()]+)\)", control, text)


def problem(error: Exception | str, before: str = "") -> str:
    """What went wrong, where the person looks who did it."""
    text = str(error)
    if not isinstance(error, ValueError | ImportError | str) or not text:
        text = f"{type(error).__name__}: {text}"  # it was not written for a person
    return f"<div role='alert' class='permtest-problem'>{escape(before + on_page(text))}</div>"


def working(text: str) -> str:
    """What is being done."""
    said = f"Working on {escape(text)} …" if text else ""
    return f"<div role='status' class='permtest-work'>{said}</div>"


def shown(figure: Figure | None) -> str:
    """A figure of a report, for which no server has to be asked."""
    if figure is None:
        return ""
    image = picture(figure, "png", dpi=100, pil_kwargs={"compress_level": 1})
    width, height = (int.from_bytes(image[i : i + 4], "big") for i in (16, 20))
    alt, wide = escape(figure.alt, quote=True), " class='permtest-wide'" * (width > 1.9 * height)
    return (
        f"<div tabindex='0' role='region' aria-label='{alt}'{wide}><img alt='{alt}' "
        f"width='{width}' height='{height}' decoding='sync' "
        f"src='data:image/png;base64,{b64encode(image).decode()}'></div>"
    )


class Fold(widgets.VBox):  # type: ignore[misc]
    """A part that a button shows and hides; `opened` is called when it is shown."""

    def __init__(self, title: str, opened: Callable[[], None], *inside: widgets.Widget) -> None:
        self.title, self._opened = title, opened
        self.button, self.body = widgets.Button(), widgets.HTML()
        self._inside = widgets.VBox([*inside, self.body])
        self.button.on_click(lambda _: self.turn(not self.is_open))
        self.turn(False)
        super().__init__([self.button, self._inside])

    def turn(self, is_open: bool) -> None:
        """Open it, or close it."""
        self.is_open = is_open
        self.button.description = f"{'Hide' if is_open else 'Show'} {self.title}"
        self._inside.layout.display = None if is_open else "none"
        if is_open:
            self._opened()
