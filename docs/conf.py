"""How Sphinx makes the book; `tools/build_site.py` gathers its sources and runs it."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

from latex2mathml.converter import convert
from sphinx.ext import autosummary

ROOT = Path(__file__).resolve().parents[1]
REPOSITORY = "https://github.com/permtest/permtest"

project = "permtest"
author = copyright = "The permtest developers"
extensions = ["myst_nb", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary"]
templates_path = ["_templates"]
exclude_patterns = ["README.md"]
default_role = "py:obj"

# ---- prose and notebooks -----------------------------------------------------------------------

myst_enable_extensions = ["dollarmath", "amsmath", "html_image"]
myst_heading_anchors = 4
myst_links_external_new_tab = False
# Notebooks come with their outputs. One that has none is run, and what it says is kept.
nb_execution_mode = "cache"
nb_execution_cache_path = str(ROOT / "build" / "executed")
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_execution_excludepatterns = [
    f"notebooks/{path.name}"
    for path in (ROOT / "notebooks").glob("*.ipynb")
    if any(cell.get("outputs") for cell in json.loads(path.read_text("utf-8"))["cells"])
]
nb_merge_streams = True
nb_ipywidgets_js = {}  # nothing is loaded from elsewhere; widgets are shown as they were last
nb_mime_priority_overrides = [("html", "application/vnd.jupyter.widget-view+json", None)]

# ---- reference ---------------------------------------------------------------------------------

autosummary_generate = False
autosummary.WELL_KNOWN_ABBREVIATIONS += ("Alg.", "Fig.")  # which end no sentence
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"  # docstrings have them, in words
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# ---- pages -------------------------------------------------------------------------------------

html_theme = "furo"
html_title = "permtest"
html_static_path = ["_static"]
html_css_files = ["book.css"]
html_sourcelink_suffix = ""
html_show_sphinx = False
html_context = {"repository": REPOSITORY.removeprefix("https://github.com/")}
pygments_style, pygments_dark_style = "a11y-high-contrast-light", "a11y-high-contrast-dark"
html_theme_options = {"top_of_page_buttons": []}
html_math_renderer = "mathml"

# ---- formulas ----------------------------------------------------------------------------------

NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"
THIN = {"width": "0.167em"}
ElementTree.register_namespace("", NAMESPACE.strip("{}"))


def formula(tex: str, display: str) -> str:
    """The MathML of a formula, which browsers draw without scripts and without fonts of others."""
    # The converter does not escape this sign for XML.
    tex = tex.replace("<", r"\lt ").replace(r"\end{aligned}", r"\end{array}")
    markup = convert(tex.replace(r"\begin{aligned}", r"\begin{array}{rlll}"), display=display)
    root = ElementTree.fromstring(markup)
    for element in root.iter():
        if "\\" in (element.text or ""):
            raise ValueError(f"latex2mathml does not know {element.text} in the formula {tex!r}")
        _part_names(element)
    return ElementTree.tostring(root, encoding="unicode")


def _part_names(row: ElementTree.Element) -> None:
    """Put thin spaces between a name such as log and the letters next to it, as TeX does."""
    operator = NAMESPACE + "mo"
    for name in [child for child in row if (child.text or "").isalpha() and len(child.text) > 1]:
        if name.tag not in (operator, NAMESPACE + "mi") or row.tag != NAMESPACE + "mrow":
            continue
        name.tag = NAMESPACE + "mi"
        at = list(row).index(name)
        if at + 1 < len(row) and row[at + 1].tag != operator:
            row.insert(at + 1, ElementTree.Element(NAMESPACE + "mspace", THIN))
        if at and row[at - 1].tag != operator:
            row.insert(at, ElementTree.Element(NAMESPACE + "mspace", THIN))


def visit_math(writer, node):
    """A formula in a sentence."""
    from docutils.nodes import SkipNode

    writer.body.append(formula(node.astext(), "inline"))
    raise SkipNode


def visit_displaymath(writer, node):
    """A formula on a line of its own; what stands in its tags is printed beside it."""
    from docutils.nodes import SkipNode

    tex = node.astext()
    tags = "".join(f"<span>({tag})</span>" for tag in re.findall(r"\\tag\{(.*?)\}", tex))
    markup = formula(re.sub(r"\\tag\{.*?\}", "", tex).strip(), "block")
    writer.body.append(f'<div class="formula">{markup}{tags}</div>')
    raise SkipNode


def setup(app):
    """Sphinx calls this first."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displaymath, None))
