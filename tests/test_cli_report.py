"""`permtest report` writes what `write_overview` writes, and fails in one line that helps."""

import json
import sys
from pathlib import Path

import pytest

import permtest
from permtest.cli.report import add_report
from permtest.cli.shared import Parser
from permtest.study import overview

TABLE = "item,new,old\n" + "".join(f"s{i},{3 + i % 3},{2 + i % 2}\n" for i in range(12))
SPANS = "doc,a_tp,a_fp,a_fn,b_tp,b_fp,b_fn\n" + "".join(
    f"d{i // 3},{i % 4},{i % 2},1,{i % 3},1,{i % 2}\n" for i in range(12)
)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A working folder with scores and counts."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores.csv").write_text(TABLE, encoding="utf-8")
    (tmp_path / "spans.csv").write_text(SPANS, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(folder, capsys):  # noqa: ARG001
    """Run `permtest report`; standard output and standard error."""

    def run(*argv: object) -> str:
        parser = Parser(prog="permtest")
        add_report(parser.add_subparsers())
        args = parser.parse_args(["report", *map(str, argv)])
        args.run(args)
        shown = capsys.readouterr()
        assert shown.err == ""
        return shown.out

    return run


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_all_is_printed_without_out(run, folder):
    before = names_in(folder)
    out = run("scores.csv", "--a", "new", "--b", "old", "--alpha", 0.1, "--seed", 3)
    assert names_in(folder) == before
    pairs = permtest.read("scores.csv", a="new", b="old", statistic="mean")
    found = overview(pairs, alpha=0.1, rng=3)
    assert out.startswith("On 12 items, new scores 4 and old 2.5 (mean; higher taken as better)")
    assert " ".join(found.sentence().split()) in " ".join(out.split())
    assert "HOW TO CITE THIS" in out


def test_counts_and_clusters(run):
    out = run("spans.csv", "--metric", "f1", "--clusters", "doc", "--alternative", "greater")
    assert "On 12 items in 4 clusters, a scores" in " ".join(out.split())
    pairs = permtest.read("spans.csv", statistic="f1", clusters="doc")
    exact = permtest.exact_perm_test(pairs, statistic="f1", alternative="greater")
    assert f"p = {exact.pvalue_text()}, against the alternative" in " ".join(out.split())


def test_one_json_object(run):
    plain = json.loads(run("scores.csv", "--json", "--metric", "accuracy"))
    assert (plain["statistic"], plain["difference"], plain["seed"]) == ("accuracy", 18, 0)
    assert plain["source"]["file"] == "scores.csv"
    assert json.loads(run("scores.csv", "--json"))["statistic"] == "mean"


def test_a_score_named_by_metric_is_the_score(run, folder):
    """Its differences are shown per item, by whichever option it was named."""
    (folder / "runs").mkdir()
    for name, right in (("new", "111101"), ("old", "010100")):
        lines = [json.dumps({"doc_id": i, "acc": int(x)}) for i, x in enumerate(right)]
        (folder / "runs" / f"samples_{name}.jsonl").write_text("\n".join(lines))
    files = [f"runs/samples_{name}.jsonl" for name in ("new", "old")]
    first, other = (
        json.loads(run(*files, "--json", way, "acc")) for way in ("--metric", "--score")
    )
    assert first["statistic"] == "mean"
    assert first == other
    whole = json.loads(run(*files, "--json", "--metric", "accuracy", "--score", "acc"))
    assert whole["difference"] == 3


def test_a_report_is_written_and_named(run, folder):
    out = run("scores.csv", "-o", "table.tex")
    assert out.startswith("On 12 items, new scores")
    assert out.endswith("\nwrote table.tex\n")
    assert r"\toprule" in (folder / "table.tex").read_text()
    assert json.loads(run("scores.csv", "-o", "a.json", "--json"))["n_items"] == 12
    assert (folder / "a.json").exists()
    run("scores.csv", "-o", "page.html")
    assert "<title>new against old</title>" in (folder / "page.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["-o", "there.tex"], r"--out there\.tex: the file exists; choose another name, or add"),
        (["-o", "a.pdf"], r"--out a\.pdf: a report ends in \.html"),
        (["-o", "none/a.html"], r"--out none/a\.html: there is no folder none; create it first"),
        (["-o", "dir.tex/x/a.tex"], "there is no folder"),
        (["--alpha", "5"], "--alpha 5: a level lies between 0 and 1"),
        (["--seed", "-1"], "--seed -1: a seed must not be negative"),
    ],
)
def test_refusals_come_before_the_test(run, folder, argv, message, monkeypatch):
    (folder / "there.tex").write_text("mine")
    monkeypatch.setattr("permtest.cli.report.read_input", lambda _: pytest.fail("read it"))
    with pytest.raises(ValueError, match=message):
        run("scores.csv", *argv)
    assert (folder / "there.tex").read_text() == "mine"


def test_force_overwrites(run, folder):
    (folder / "there.tex").write_text("mine")
    run("scores.csv", "-o", "there.tex", "--force")
    assert "mine" not in (folder / "there.tex").read_text()


def test_without_the_extra(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"--out a\.html needs jinja2: pip install"):
        run("scores.csv", "-o", "a.html")
    run("scores.csv", "-o", "a.json")
