"""LaTeX to MathML, which browsers draw by themselves, and a check that nothing was lost."""

from __future__ import annotations

import re
from html import escape
from xml.etree import ElementTree

from latex2mathml.converter import convert

TAG = re.compile(r"\\tag\{([^{}]*)\}")
CHILDREN = {"mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "mover": 2, "munder": 2} | {
    "msubsup": 3,
    "munderover": 3,
}
NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"
THIN = {"width": "0.167em"}

ElementTree.register_namespace("", NAMESPACE.strip("{}"))


def formula(tex: str, *, block: bool = False) -> str:
    """HTML of a formula; what stands in ``\\tag{}`` is printed beside it, in parentheses.

    Raises ValueError, with the formula, where something of it would not be shown.
    """
    numbers = TAG.findall(tex)
    bare = TAG.sub("", tex).strip()
    markup = _converted(bare, "block" if block else "inline")
    if not block:
        return markup
    number = "".join(f'<span class="number">({escape(text)})</span>' for text in numbers)
    return f'<span class="formula">{markup}{number}</span>'


def _converted(tex: str, display: str) -> str:
    braces = re.sub(r"\\[\\{}]", "", tex)
    if braces.count("{") != braces.count("}"):
        raise ValueError(f"braces do not match in the formula {tex!r}")
    try:
        root = ElementTree.fromstring(convert(tex, display=display))
    except Exception as error:  # the converter has many exceptions, and lets through some others
        raise ValueError(f"cannot convert the formula {tex!r}: {error!r}") from error
    for element in root.iter():
        kind = element.tag.removeprefix(NAMESPACE)
        if "\\" in (element.text or ""):
            raise ValueError(f"cannot convert {element.text} in the formula {tex!r}")
        if len(element) != CHILDREN.get(kind, len(element)):
            raise ValueError(f"something is missing ({kind}) in the formula {tex!r}")
        _part_names(element)
        _raise_exponents(element)
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


def _raise_exponents(row: ElementTree.Element) -> None:
    """Let a large parenthesis with an exponent grow like its partner, which has none."""
    for power in list(row):
        if power.tag == NAMESPACE + "msup" and power[0].get("minsize"):
            row.insert(list(row).index(power), power[0])
            height = {"width": "0", "height": power[0].get("minsize", "")}
            power[0] = ElementTree.Element(NAMESPACE + "mspace", height)
