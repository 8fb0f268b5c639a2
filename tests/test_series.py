"""The map of the series, the README and the page for teachers speak of what is there."""

import re
from pathlib import Path

import nbformat
import numpy as np
from scipy.stats import binom

import permtest as pt
from permtest import alternatives as alt
from permtest.course import load

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted((ROOT / "notebooks").glob("[0-9][0-9]-*.ipynb"))
NOTEBOOKS = {path.name[:2]: path for path in FILES}
MAP = NOTEBOOKS["00"]
LESSONS = {number: path for number, path in NOTEBOOKS.items() if path != MAP}
README = (ROOT / "README.md").read_text(encoding="utf-8")
TEACHING = (ROOT / "docs" / "teaching.md").read_text(encoding="utf-8")
ROW = r"^\| \[(\d\d)\]\(([\w.-]+)\) \| (.*?) \|"  # number, file, question


def source(path: Path, kind: str) -> str:
    cells = nbformat.read(path, as_version=4).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == kind)


def prose(number: str) -> str:
    return source(NOTEBOOKS[number], "markdown")


def headings(number: str) -> list[str]:
    return re.findall(r"^#{2,3} (.*)", prose(number), re.M)


def test_the_map_the_readme_and_the_folder_have_the_same_notebooks():
    there = [(number, path.name) for number, path in LESSONS.items()]
    assert there == [(f"{k:02}", path.name) for k, path in enumerate(LESSONS.values(), start=1)]
    shown = re.findall(ROW, prose("00"), re.M)
    assert [row[:2] for row in shown] == there
    assert all(question.endswith("?") for _, _, question in shown)
    assert re.findall(r"<br>\[(\d\d)\]\(notebooks/([\w.-]+)\) (.*?) \|", README) == shown
    assert all((ROOT / "docs" / "gallery" / f"{number}.png").exists() for number in LESSONS)
    assert f"(notebooks/{MAP.name})" in README
    assert f"(../notebooks/{MAP.name})" in TEACHING


def test_the_map_has_the_prerequisites_of_every_notebook():
    """Before its exercises a notebook leans on no earlier one that the map does not lead to it."""
    needs = re.findall(r'"(\d\d)-(\d\d)"', source(MAP, "code"))
    before = {number: {"01"} - {number} for number in LESSONS}
    for start, end in needs:
        before[end] |= {start} | before[start]
    for number in LESSONS:
        text = re.split("^## (?:Three questions|What it means)", prose(number), flags=re.M)[0]
        text = re.sub(r"^## The second half.*?^## ", "", text, flags=re.M | re.S)  # may be skipped
        cited = " ".join(re.findall(r"[Nn]otebooks? [\d, and]+", text))
        used = set(re.findall(r"\b(\d\d)\b", cited))
        assert {x for x in used if "00" < x < number} <= before[number], number


def minutes(number: str) -> tuple[int, int]:
    """How long a notebook takes to read, and how long its exercises, by its first lines."""
    told = re.search(r"about (\d+) minutes, and (\d+) for the exercises", prose(number))
    assert told is not None, number
    return int(told[1]), int(told[2])


def test_the_map_says_how_long_notebooks_and_paths_take():
    rows = re.findall(ROW + r".*\| (\d+) \+ (\d+) \|$", prose("00"), re.M)
    assert {number: (int(a), int(b)) for number, *_, a, b in rows} == {
        number: minutes(number) for number in LESSONS
    }
    paths = prose("00").partition("## Paths")[2].partition("## Notation")[0]
    found = re.findall(r"^\| .* \| (.*) \| (\d+) \|$", paths, re.M)
    sums = [(re.findall(r"\[(\d\d)\]", read), int(total)) for read, total in found]
    assert len(sums) > 8
    for read, total in sums:
        assert not read or total == sum(minutes(number)[0] for number in read), read


def test_sections_exist():
    """A section is named in italics, behind the number of its notebook."""
    text = " ".join(re.sub(r"^\* ", "", TEACHING, flags=re.M).replace("**", "").split())
    sections = re.findall(r"\b(\d\d), \*([^*]+)\*", text)
    assert 2 * len(sections) == text.count("*") > 40
    assert [row for row in sections if row[1] not in headings(row[0])] == []


def test_exercises_to_set_exist():
    rows = re.findall(r"^\| (?:easy|medium|hard), .*? \| (.*) \|$", TEACHING, re.M)
    assert len(rows) == 3
    exercises = [exercise for row in rows for exercise in row.split("; ")]
    assert len(set(exercises)) == len(exercises) >= 15
    for exercise in exercises:
        number, title = exercise.split(".", 1)
        which, name = title.split(" ", 1)
        assert f"{which}. {name}" in headings(number), exercise
    for which, number in re.findall(r"exercise (\d) of (\d\d)", TEACHING):
        assert any(heading.startswith(f"{which}. ") for heading in headings(number))


def computed() -> set[str]:
    """What the page says, computed anew."""
    data = load("ud_en_ewt_pos", "correct")
    rich, svm, base = (data[name] for name in ("crf_rich", "svm_window", "crf_base"))
    documents = [name.rpartition("-")[0] for name in data.index]
    result = pt.exact_perm_test(rich, base)
    close = [pt.exact_perm_test(svm, base, clusters=c) for c in (None, documents)]
    copies = pt.exact_perm_test(np.tile(rich, 4), np.tile(base, 4))
    tests = result, *close, pt.exact_perm_test(rich, svm), copies, alt.paired_t(rich, base)
    texts = [test.pvalue_text() for test in (*tests, alt.independent_t(rich, base))]
    texts += [f"{pt.exact_runs_test(*runs(), null=null).pvalue:.3g}" for null in ("runs", "items")]
    six = (rich - base)[rich != base][:6]
    texts += [f"{pt.exact_perm_test(six, 0 * six).pvalue:.3f}", f"{np.mean(rich - base):.4f}"]
    texts += [f"{load('ud_en_ewt_pos')['n_tokens'].sum():,}", f"{len(data):,}"]
    texts += [*first_alarm(rich, base), str(pt.e_process(rich, base).first_below(0.05))]
    texts += [str(pt.exact_perm_test([1] * 5, [0] * 5).pvalue), f"{100 * (1 - result.pvalue):.1f}"]
    return set(texts)


def runs() -> list[np.ndarray]:
    """Right or wrong, for each image and seed: of the forest, and of the network."""
    table = load("clf_digits_runs")
    return [table.filter(like=name).to_numpy() for name in ("forest", "network")]


def first_alarm(u: np.ndarray, v: np.ndarray) -> list[str]:
    """After how many sentences p is below 0.05 for the first time, and when it is not any more."""
    below = [pt.exact_perm_test(u[:n], v[:n]).pvalue < 0.05 for n in range(1, 301)]
    first = below.index(True)
    return [str(first + 1), str(below.index(False, first) + 1)]


def alarms(items: int) -> float:
    """How often p of fair signs is below 0.05 after some item, by dynamic programming."""
    wins, found = np.ones(1), 0.0
    for n in range(1, items + 1):
        wins = np.convolve(wins, [0.5, 0.5])
        k = np.arange(n + 1)
        stop = 2 * binom.cdf(np.minimum(k, n - k), n, 0.5) < 0.05
        found += wins[stop].sum()
        wins[stop] = 0
    return found


def test_figures_are_computed():
    """Numbers of three digits and more, and some of the others."""
    text = re.sub(r"`[^`]*`|\]\([^)]*\)|\b\d\d\.\d (?=[A-Z])", " ", TEACHING)
    numbers = re.findall(r"\d[\d,.]*\d(?:e-\d+)?", text)
    long = {x for x in numbers if len(re.sub(r"\D", "", x.partition("e")[0]).lstrip("0")) >= 3}
    long -= {"100", "1,000", "10,000"}  # how many labellings or experiments somebody draws
    assert long - computed() == set()
    assert len(long) > 15
    assert f"to {100 * np.sqrt((1 - 0.05) / (0.05 * 10_000)):.0f} % of p" in TEACHING
    assert f"after each of 200 items? ({100 * alarms(200):.0f} times in 100)" in TEACHING
    forest, network = runs()
    found = [pt.exact_perm_test(x, y).pvalue <= 0.05 for x in forest.T for y in network.T]
    assert f"Of the {len(found)} pairs of seeds there, only {sum(found)} have" in TEACHING
