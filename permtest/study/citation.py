"""What to cite: the method and the software."""

from __future__ import annotations

from permtest._checks import check_option
from permtest.study.provenance import computed_with

PAPER = "Exact Paired-Permutation Testing for Structured Test Statistics"
VENUE = (
    "Proceedings of the 2022 Conference of the North American Chapter of the Association for "
    "Computational Linguistics: Human Language Technologies"
)
PAGES = "4894", "4902"
SOFTWARE = "permtest: exact paired-permutation tests for comparing two systems"
HOME = "https://github.com/permtest/permtest"
AUTHORS = ("Zmigrod, Ran", "Vieira, Tim", "Cotterell, Ryan")


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
    >>> from permtest.study.citation import citation
    >>> citation("bibtex").startswith("@inproceedings{zmigrod-etal-2022-exact,")
    True
    """
    check_option("style", style, ("text", "bibtex"))
    version = computed_with()["permtest"]
    if style == "text":
        return (
            f"Ran Zmigrod, Tim Vieira and Ryan Cotterell. 2022. {PAPER}. In {VENUE}, pages "
            f"{'-'.join(PAGES)}. The permtest developers. {SOFTWARE}, version {version}. {HOME}."
        )
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
