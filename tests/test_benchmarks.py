"""The benchmark is right about what it measures, and notices what is wrong."""

from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given

from benchmarks import __main__ as command
from benchmarks import accuracy, calibration, paper, report, speed
from permtest.null.distribution import Probability
from tests import naive, strategies

CONVOLVERS = [paper.convolve_dp, paper.convolve_fft]


@pytest.mark.parametrize("convolve", CONVOLVERS)
@given(strategies.pairs(("binary", "small", "signed", "even"), max_size=8))
def test_the_papers_algorithms_give_the_share_of_labellings(convolve, columns):
    assume(columns[0])
    u, v = (np.array(column, dtype=np.int64) for column in columns)
    exact = naive.pvalue(u.tolist(), v.tolist())
    assert paper.exact_perm_test(u, v, convolve) == pytest.approx(float(exact), abs=1e-14)
    above = naive.pvalue(u.tolist(), v.tolist(), h=lambda s: s)
    one_sided = paper.exact_perm_test(u, v, convolve, h=lambda s: s)
    assert one_sided == pytest.approx(float(above), abs=1e-14)


@pytest.mark.parametrize("convolve", CONVOLVERS)
@given(strategies.count_tables(max_size=6, largest=2))
def test_algorithm_5_gives_the_share_of_labellings(convolve, rows):
    u, v = map(np.array, rows)
    exact = naive.measure_pvalue(*rows, naive.MEASURES["f1"])
    h = paper.f1_gap_with_ties
    found = paper.perm_test_f1(u, v, convolve, h)
    assert found == pytest.approx(float(exact), abs=1e-12)
    assert paper.perm_test_f1(u, v, convolve) <= found + 1e-12


@pytest.mark.parametrize("convolve", CONVOLVERS)
def test_algorithm_5_loses_a_tie_as_it_is_printed(convolve):
    """Half of all labellings are as extreme, and floats tell half of those from the others."""
    u = np.array([(2, 0, 0), (1, 1, 1), (2, 0, 0)])
    v = np.array([(0, 1, 1), (0, 0, 1), (2, 1, 1)])
    printed = paper.perm_test_f1(u, v, convolve)
    tied = paper.perm_test_f1(u, v, convolve, paper.f1_gap_with_ties)
    assert [printed, tied] == pytest.approx([0.25, 0.5], abs=1e-12)


@pytest.mark.parametrize(
    ("name", "factor", "words"),
    [
        ("dp", 1 + 1e-9, "dp: error 1e-09 above"),
        ("tilted", 1 + 1e-11, "tilted: error 1e-11 above 1e-12"),
        ("fft", 1.001, "fft: error 0.001 above"),
    ],
)
def test_a_broken_bound_and_a_broken_promise_are_named(tmp_path, monkeypatch, name, factor, words):
    assert accuracy.run(tmp_path / "error.png", entries=40).failures == []
    right = accuracy.OURS[name]

    def wrong(law, t0):
        p = right(law, t0)
        bound = 1.0 if name == "tilted" else p.error_bound
        return Probability.of(p.value * factor, bound)

    monkeypatch.setitem(accuracy.OURS, name, wrong)
    lines = accuracy.run(tmp_path / "error.png", entries=40).failures
    assert {line.startswith(words) for line in lines} == {True}


def test_the_command_writes_a_report(tmp_path, monkeypatch, capsys):
    """Of few and small cases, with a clock that says the same of each."""
    monkeypatch.setattr(report, "time", SimpleNamespace(process_time=count(0, 0.125).__next__))
    of_times = {"sizes": (50, 200), "gaps": (1,), "f1_sizes": (20, 200), "float_sizes": (50,)}
    of_times |= {"long_sizes": (50,), "n": 200}
    monkeypatch.setattr(speed, "cold", len)  # no processes
    assert command.main(tmp_path, entries=20, **of_times) == 0
    files = {path.name for path in tmp_path.iterdir()}
    assert files == {"report.md", "error.png", "time.png", "time-f1.png"}
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    titles = ["Accuracy", "Time by N", "Time by G, N = 200", "F1: time by N, 0.25 spans per token"]
    titles += ["Scores with all digits: time by N, and the width of the bounds"]
    assert [title for title in titles if f"## {title}\n" not in text] == []
    assert "every bound holds" in capsys.readouterr().out


def failures(title, sets, **changes):
    """What a section with fewer kinds of data, or with other promises, finds amiss."""
    (part,) = (part for part in calibration.PARTS if part.title == title)
    part = part._replace(**{"kinds": part.kinds[:1]} | changes)
    rows = [calibration.shares(part, row, sets) for row in range(len(part.kinds))]
    return calibration.section(part, rows, sets).failures


@pytest.mark.parametrize(
    ("title", "wrong"),
    [
        ("Graded scores", {"permtest": False, "level": True}),
        ("What a run is", {"systems": True}),
        ("Intervals of boards", {"board": False}),
        ("Corrections and ranks of boards", {"Holm": True, "ranks, max-T": False}),
        ("What looking at any time costs", {"e-process, any item": True}),
    ],
)
def test_what_errs_too_often_is_noticed(title, wrong):
    assert failures(title, 40) == []
    (part,) = (part for part in calibration.PARTS if part.title == title)
    lines = failures(title, 40, questions=lambda *data: part.questions(*data) | wrong)
    assert {line.rsplit(" in ", 1)[0].split(f"{part.kinds[0].name}: ")[1] for line in lines} == {
        *wrong
    }


def test_a_textbook_interval_in_place_of_tangos_is_noticed():
    kinds, asked = [calibration.every_table(20, 0.05, 0.0)], calibration.of_shares

    def questions(counts, truth):
        found = asked(counts, truth)
        return found | {calibration.TANGO: found["Wald"]}

    assert failures("Right or wrong: intervals", 0, kinds=kinds) == []
    (line,) = failures("Right or wrong: intervals", 0, kinds=kinds, questions=questions)
    assert line == "Right or wrong: intervals, 20; 0.05, 0.0: Tango (permtest) in 0.639"


def test_the_page_has_every_section(tmp_path, monkeypatch):
    found = report.Section("Shares", "a table", ["something"])
    monkeypatch.setattr(calibration, "measure", lambda sets: [found] * (sets // 20))
    path = tmp_path / "validation.md"
    monkeypatch.setattr("sys.argv", ["calibration", "--sets", "40", "--output", str(path)])
    assert calibration.main() == 1
    assert path.read_text().count("## Shares\n\na table\n") == 2
