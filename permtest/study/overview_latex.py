"""An overview for a paper: a table in LaTeX."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from unicodedata import normalize

from permtest.study.overview_words import amount, between, name_of_test, score, signed
from permtest.study.sections import percent

if TYPE_CHECKING:
    from permtest.study.overview import Overview

# ---- text in LaTeX -----------------------------------------------------------------------------

#: Letters that mean something to LaTeX, and some that it has by another name.
LETTERS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    '"': r"{}\char34{}",
    "`": r"{}\char96{}",
    "[": "{[}",  # which after the end of a row would be an option
    "]": "{]}",
    "*": "{*}",
    "ß": r"\ss{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "œ": r"\oe{}",
    "Œ": r"\OE{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "ł": r"\l{}",
    "Ł": r"\L{}",
    "ı": r"\i{}",
    "…": r"\dots{}",
    "–": r"\textendash{}",
    "—": r"\textemdash{}",
    "−": "$-$",
    "×": r"$\times$",
    "≈": r"$\approx$",
    "≤": r"$\le$",
} | {letter: f"\\{letter}" for letter in "%_&#${}"}

#: Accents that follow their letter.
ACCENTS = dict(
    zip(
        "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327",
        "`'^~=u.\"rHvc",
        strict=True,
    )
)


def tex(text: str) -> str:
    r"""Text in which LaTeX takes nothing for a command, in ASCII.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        Accented letters are written as LaTeX writes them everywhere; a letter that it has only
        with the right fonts stands as its number.

    Examples
    --------
    >>> from permtest.study.overview_latex import tex
    >>> tex("50% of a_b"), tex("é"), tex("中")
    ('50\\% of a\\_b', "\\'{e}", '{[}U+4E2D{]}')
    """
    found: list[str] = []
    for letter in normalize("NFD", text):
        if letter in ACCENTS and found and re.fullmatch(r"[A-Za-z]|\\i\{\}", found[-1]):
            found[-1] = f"\\{ACCENTS[letter]}{{{found[-1]}}}"
        elif letter in LETTERS:
            found.append(LETTERS[letter])
        else:
            found.append(letter if " " <= letter <= "}" else f"{{[}}U+{ord(letter):04X}{{]}}")
    joined = re.sub(r"([-',])(?=\1)", r"\1{}", "".join(found))  # these make ligatures
    return re.sub(r"(?<![\w}-])-(?=\d)", "$-$", joined)


def tex_number(text: str) -> str:
    """A number with a proper minus and, if it has an exponent, as a power of ten."""
    if match := re.fullmatch(r"([+-]?[\d.,]+)e([+-]?\d+)", text):
        return rf"${match[1]} \times 10^{{{int(match[2])}}}$"
    return f"${text}$" if re.fullmatch(r"[+-][\d.,]+", text) else tex(text)


# ---- the table ---------------------------------------------------------------------------------


def to_latex(found: Overview) -> str:
    """The table of `Overview.to_latex`."""
    exact, title = found.exact, tex(found.title)
    a, b = found.names
    caption = f"{a} against {b} on {amount(found)}, by the {name_of_test(found)}."
    p = exact.bracket_text() if exact.method == "bracket" else exact.pvalue_text()
    systems = [
        (tex(n), tex(score(found, x))) for n, x in zip(found.names, found.scores, strict=True)
    ]
    rest = [("Difference", tex_number(signed(found)))]
    if ends := between(found):
        rest.append((tex(f"{percent(found.confidence_level)} interval"), tex(ends)))
    kind = "Sampled" if exact.n_samples is not None else "Exact"
    rest += [
        (f"{kind} $p$, {tex(found.alternative)}", tex_number(p)),
        (f"{found.unit.capitalize()}", f"{exact.n:,}"),
    ]
    lines, more = ([rf"    {x} & {y} \\" for x, y in part] for part in (systems, rest))
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            r"\begin{table}",
            r"  \centering",
            rf"  \caption{{{tex(caption)}}}",
            r"  \begin{tabular}{@{}lr@{}}",
            r"    \toprule",
            rf"    System & {title[0].upper()}{title[1:]} \\",
            r"    \midrule",
            *lines,
            r"    \midrule",
            *more,
            r"    \bottomrule",
            r"  \end{tabular}",
            r"\end{table}",
            "",
        ]
    )
