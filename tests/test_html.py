"""Every result can be shown in a notebook: well-formed, harmless, by day and by night."""

import re
from importlib import import_module
from inspect import getmembers, isabstract, isclass
from pkgutil import walk_packages
from xml.etree import ElementTree

import pytest

import permtest as pt
from permtest import alternatives as alt
from permtest import study
from permtest._text import Shown
from permtest.course import check

NAMES = '<b>new</b> & "co"', "<i onload='x'>old"
NEW, OLD = [9, 7, 8, 6, 5, 9, 4, 8], [7, 7, 5, 6, 3, 5, 5, 6]
COUNTS = [[3, 0, 0], [2, 1, 0], [0, 1, 1], [4, 0, 1]], [[2, 1, 1], [2, 0, 0], [0, 2, 1], [2, 2, 3]]
NAMED = {"names": NAMES}
BAYES = alt.bayes_test((20, 3, 4), (22, 2, 5), rope=0.01, **NAMED)
NAMELESS = (
    *("BatchResult", "DifferencePosterior", "MetricPosterior", "PowerCurve"),
    *("Recommendation", "Verdict"),
)


RESULTS = [
    pt.exact_perm_test(NEW, OLD, **NAMED),
    pt.exact_perm_test(NEW, OLD, alternative="greater", **NAMED),
    pt.monte_carlo(NEW, OLD, K=99, rng=0, **NAMED),
    pt.exact_perm_test(*COUNTS, statistic="f1", **NAMED),
    pt.exact_perm_test([[1, 2], [3, 4]], [[0, 2], [4, 4]], axis=1),
    pt.noninferiority_test(NEW, OLD, margin=1, **NAMED),
    pt.equivalence_test(NEW, OLD, margin=2, **NAMED),
    pt.compare_all(NEW, OLD, K=99, **NAMED),
    pt.compare_all(NEW, OLD, tests=["paired_t"], **NAMED)["paired_t"],
    pt.compare_many({NAMES[0]: NEW, NAMES[1]: OLD, "third": OLD[::-1]}),
    pt.compare_many({NAMES[0]: NEW, NAMES[1]: OLD}, baseline=NAMES[1]),
    pt.exact_runs_test([[1, 1], [0, 1]], [[0, 1], [0, 0]], **NAMED),
    pt.e_process(NEW, OLD, **NAMED),
    alt.paired_t(pt.Scores.of(NEW, OLD, NAMES)),
    check("01.2", [5, 10]),
    BAYES,
    BAYES.posterior_a,
    BAYES.difference,
    study.cohen_d(NEW, OLD, **NAMED),
    study.describe(NEW, OLD, **NAMED),
    study.report(NEW, OLD, **NAMED),
    study.report(NEW, OLD, **NAMED)["items"],
    study.power_curve(NEW, OLD, sizes=[4, 8], experiments=20, rng=0),
    study.recommend(pt.Scores.of(NEW, OLD, NAMED["names"])),
]


def classes():
    """All classes of the package that notebooks show as HTML, but for widgets."""
    names = [module.name for module in walk_packages(pt.__path__, "permtest.")]
    modules = [import_module(name) for name in names if not name.endswith(("explorer", "__main__"))]
    found = {kind for module in modules for _, kind in getmembers(module, isclass)} - {Shown}
    shown = {x for x in found if "_repr_html_" in vars(x) or Shown in x.__bases__}
    shown = {x for x in shown if x.__module__.startswith("permtest") and not isabstract(x)}
    return {x for x in shown if not x.__subclasses__()}


def test_there_is_an_example_of_each_class():
    assert classes() - {type(result) for result in RESULTS} == set()


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: type(result).__name__)
def test_a_page_can_show_it(result):
    html = result._repr_html_()
    body = ElementTree.fromstring(f"<body>{html}</body>")
    for element in body.iter():
        assert element.tag not in {"script", "link", "img", "style", "iframe", "a"}
        assert not [name for name in element.attrib if name.startswith("on")]
    text = "".join(body.itertext())
    assert any(name in text for name in NAMES) == (type(result).__name__ not in NAMELESS)
    assert not re.search("<b>|<i ", html)
    assert "&lt;" not in text, "escaped once"
    own = re.search(r"background|fill|stroke|[\s;'\"]color\s*:", html)
    assert not own, "colours are those of the page"
    assert {cell.get("scope") for cell in body.iter("th")} <= {"row", "col"}
    scrolling = [x for x in body.iter("div") if "overflow-x:auto" in x.get("style", "")]
    inside = {id(table) for part in scrolling for table in part.iter("table")}
    assert {id(table) for table in body.iter("table")} <= inside, "wide tables scroll"
