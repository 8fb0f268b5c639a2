"""An overview for a paper: a table in LaTeX, and what to cite."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING
from unicodedata import normalize

from permtest.study.overview_words import between, score, sentence, signed
from permtest.study.sections import percent

if TYPE_CHECKING:
    from permtest.study.overview import Overview

PAPER = "Exact Paired-Permutation Testing for Structured Test Statistics"
VENUE = (
    "Proceedings of the 2022 Conference of the North American Chapter of the Association for "
    "Computational Linguistics: Human Language Technologies"
)
PAGES = "4894", "4902"
SOFTWARE = "permtest: exact paired-permutation tests for comparing two systems"
HOME = "https://github.com/permtest/permtest"
AUTHORS = ("Zmigrod, Ran", "Vieira, Tim", "Cotterell, Ryan")

# ---- what to cite ------------------------------------------------------------------------------


def citation(style: str = "text") -> str:
    """The method and the software.

    Parameters
    ----------
    style : {"text", "bibtex"}

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If the style is unknown.

    Examples
    --------
    >>> from permtest.study.overview_latex import citation
    >>> citation("bibtex").startswith("@inproceedings{zmigrod-etal-2022-exact,")
    True
    """
    version = import_module("permtest").__version__
    if style == "text":
        return (
            f"Ran Zmigrod, Tim Vieira and Ryan Cotterell. 2022. {PAPER}. In {VENUE}, pages "
            f"{'-'.join(PAGES)}. The permtest developers. {SOFTWARE}, version {version}. {HOME}."
        )
    if style == "bibtex":
        return (
            "@inproceedings{zmigrod-etal-2022-exact,\n"
            f"  author    = {{{' and '.join(AUTHORS)}}},\n"
            f"  title     = {{{{{PAPER}}}}},\n"
            f"  booktitle = {{{VENUE}}},\n"
            f"  year      = {{2022}},\n"
            f"  pages     = {{{'--'.join(PAGES)}}}\n"
            "}\n\n"
            "@software{permtest,\n"
            "  author    = {{The permtest developers}},\n"
            f"  title     = {{{{{SOFTWARE}}}}},\n"
            f"  version   = {{{version}}},\n"
            f"  url       = {{{HOME}}}\n"
            "}\n"
        )
    raise ValueError(f"style={style!r} is not known; choose 'text' or 'bibtex'")


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
    exact = found.exact
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
    lines = [" & ".join(line) + r" \\" for line in systems]
    more = [" & ".join(line) + r" \\" for line in rest]
    title = tex(found.title)
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            r"\begin{table}",
            r"  \centering",
            rf"  \caption{{{tex(sentence(found))}}}",
            r"  \begin{tabular}{@{}lr@{}}",
            r"    \toprule",
            rf"    System & {title[0].upper()}{title[1:]} \\",
            r"    \midrule",
            *(f"    {line}" for line in lines),
            r"    \midrule",
            *(f"    {line}" for line in more),
            r"    \bottomrule",
            r"  \end{tabular}",
            r"\end{table}",
            "",
        ]
    )
