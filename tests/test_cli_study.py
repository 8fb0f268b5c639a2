"""`permtest study` does what the package does, and fails in one line that helps."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import permtest
from permtest import cli
from permtest.study import StudyConfig, run_study

TABLE = "item,new,old\n" + "".join(f"s{i},{3 + i % 3},{2 + i % 2}\n" for i in range(12))
# as the manual of NLPStatTest has its data: two columns, blanks between them, no header
COLUMNS = "1.1373 -0.4661\n0.7997 1.4805\n0.3074 -0.0963\n1.6159 -0.2737\n1.5926 -0.5972\n"
QUICK = "K: 99\npower_experiments: 20\npower_sizes: 2\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with scores and a configuration."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores.csv").write_text(TABLE, encoding="utf-8")
    (tmp_path / "columns.txt").write_text(COLUMNS, encoding="utf-8")
    (tmp_path / "quick.yml").write_text(QUICK, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(folder, capsys):  # noqa: ARG001
    """Run `permtest study`; exit code, standard output, standard error."""

    def run(*argv: object) -> tuple[int, str, str]:
        try:
            code = cli.main(["study", *map(str, argv)])
        except SystemExit as stop:
            code = stop.code
        return code, *capsys.readouterr()

    return run


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# ---- what is printed and written ---------------------------------------------------------------


def test_summary_is_all_there_is_without_out(run, folder):
    before = names_in(folder)
    code, out, err = run("scores.csv", "--config", "quick.yml")
    config = StudyConfig.from_yaml("quick.yml")
    study = run_study(permtest.read("scores.csv", statistic="mean"), config=config)
    assert (code, err, out) == (0, "", f"{study}\n")
    assert names_in(folder) == before


def test_two_columns_as_nlpstattest_has_them(run):
    code, out, err = run("columns.txt", "--config", "quick.yml")
    assert (code, err) == (0, "")
    a, b = zip(*(map(float, line.split()) for line in COLUMNS.splitlines()), strict=True)
    p = permtest.exact_perm_test(a, b).pvalue_text()
    assert out.startswith("On 5 items, A scores ")
    assert f"(p = {p}; permtest" in " ".join(out.split())


def test_report(run, folder):
    code, out, err = run("scores.csv", "--config", "quick.yml", "--out", "made/report")
    assert (code, err) == (0, "")
    names = names_in(folder / "made" / "report")
    assert {"report.html", "report.md", "study.yml", "report-test.svg"} <= set(names)
    told = out[out.index("\nwrote ") :].split()[1:]
    assert sorted(Path(path).name for path in told) == names


def test_a_report_repeats_itself(run, folder):
    run(
        "scores.csv", "--a", "old", "--b", "new", "--seed", 3, "--config", "quick.yml", "--out", "x"
    )
    assert run("scores.csv", "--config", "x/study.yml", "--out", "y")[0] == 0
    assert names_in(folder / "x") == names_in(folder / "y")
    for name in names_in(folder / "x"):
        assert (folder / "x" / name).read_bytes() == (folder / "y" / name).read_bytes(), name


def test_json_alone(run):
    code, out, err = run("scores.csv", "--config", "quick.yml", "--json", "--out", "x")
    assert (code, err, out.count("\n")) == (0, "", 1)
    found = json.loads(out, parse_constant=pytest.fail)
    assert found["exact"]["pvalue"] == permtest.exact_perm_test(*columns_of(TABLE)).pvalue
    assert found["provenance"]["file"] == "scores.csv"
    assert len(found["provenance"]["sha256"]) == 64


def columns_of(table: str) -> list[list[int]]:
    rows = [line.split(",")[1:] for line in table.splitlines()[1:]]
    return [list(map(int, column)) for column in zip(*rows, strict=True)]


def test_the_command_line_goes_before_the_file(run, folder):
    (folder / "c.yml").write_text(f"seed: 5\na: new\nb: old\n{QUICK}", encoding="utf-8")
    first = json.loads(run("scores.csv", "--config", "c.yml", "--json")[1])
    assert (first["config"]["seed"], first["names"]) == (5, ["new", "old"])
    options = ("--a", "old", "--b", "new", "--seed", 6)
    other = json.loads(run("scores.csv", "--config", "c.yml", "--json", *options)[1])
    assert (other["config"]["seed"], other["names"]) == (6, ["old", "new"])


def test_write_config(run, folder):
    options = ("scores.csv", "--a", "old", "--b", "new", "--seed", 3)
    code, out, err = run(*options, "--write-config", "study.yml")
    assert (code, err) == (0, "")
    assert "study.yml" in out
    found = StudyConfig.from_yaml("study.yml")
    assert (found.seed, found.a, found.b) == (3, "old", "new")
    again = run("scores.csv", "--write-config", "study.yml")
    assert again[:2] == (2, "")
    assert "study.yml: the file exists; choose another name, or add --force" in again[2]
    assert run("scores.csv", "--write-config", "study.yml", "--force")[0] == 0
    assert StudyConfig.from_yaml("study.yml") == StudyConfig()
    assert names_in(folder) == ["columns.txt", "quick.yml", "scores.csv", "study.yml"]


CLUSTERED = "cluster,new,old\n" + "".join(
    f"d{i // 4},{int(i % 3 > 0)},{int(i % 4 > 1)}\n" for i in range(24)
)


def test_clusters_are_refused_or_taken_apart(run, folder):
    """Sums of clusters are not studied as if they were items."""
    (folder / "grouped.csv").write_text(CLUSTERED, encoding="utf-8")
    code, out, err = run("grouped.csv", "--config", "quick.yml")
    assert (code, out) == (2, "")
    assert "grouped.csv: 24 items are in 6 clusters" in err
    assert "permtest report handles clusters, or --no-clusters studies the items by" in err
    code, out, err = run("grouped.csv", "--config", "quick.yml", "--no-clusters")
    assert (code, err) == (0, "")
    assert "On 24 items, new scores 0.6667 and old 0.5 " in " ".join(out.split())


# ---- errors ------------------------------------------------------------------------------------

BAD = {
    "no file": (["none.csv"], "none.csv: there is no such file"),
    "columns": (["scores.csv", "--a", "new"], "scores.csv: a is given without b"),
    "column": (["scores.csv", "--a", "nwe", "--b", "old"], "no column 'nwe' (did you mean 'new'?)"),
    "empty": (["scores.csv", "--a", "", "--b", "old"], "--a needs the name of a column"),
    "seed": (["scores.csv", "--seed", "-1"], "--seed -1: a seed must not be negative"),
    "config": (["scores.csv", "--config", "none.yml"], "none.yml: "),
    "option": (["scores.csv", "--config", "bad.yml"], "bad.yml: unit_sise: there is no such"),
    "units": (["scores.csv", "--config", "units.yml"], "size=5 leaves 2 of 12 items over"),
    "both": (["scores.csv", "--write-config", "x", "--out", "y"], "leave out --out"),
    "parent": (["scores.csv", "--write-config", "no/x.yml"], "there is no folder no"),
    "a folder": (["scores.csv", "--write-config", "."], "this is a folder; name a file"),
    "a file": (["scores.csv", "--out", "quick.yml"], "--out quick.yml: a report ends in"),
    "usage": (["scores.csv", "--metric", "f1"], "unrecognized arguments: --metric f1"),
}


@pytest.mark.parametrize(("argv", "message"), BAD.values(), ids=BAD)
def test_errors_in_one_line(run, folder, argv, message):
    (folder / "bad.yml").write_text("unit_sise: 3\n", encoding="utf-8")
    (folder / "units.yml").write_text("unit_size: 5\n", encoding="utf-8")
    before = names_in(folder)
    code, out, err = run(*argv)
    assert (code, out) == (2, "")
    assert err.startswith("permtest: error: ")
    assert message in err
    assert err.count("\n") == 1
    assert names_in(folder) == before


def test_reports_are_not_overwritten(run, folder):
    (folder / "x").mkdir()
    (folder / "x" / "study.yml").write_text("mine")
    options = ("scores.csv", "--config", "quick.yml", "--out", "x")
    code, out, err = run(*options)
    assert (code, out) == (2, "")
    assert "x/study.yml: the file exists" in err
    assert names_in(folder / "x") == ["study.yml"]
    assert run(*options, "--force")[0] == 0
    assert (folder / "x" / "study.yml").read_text() != "mine"


@pytest.mark.parametrize("module", ["jinja2", "matplotlib"])
def test_without_the_extra(run, monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    code, out, err = run("scores.csv", "--config", "quick.yml", "--out", "x")
    assert (code, out) == (2, "")
    assert err == f"permtest: error: --out needs {module}: pip install 'permtest[study]'\n"
    assert run("scores.csv", "--config", "quick.yml")[0] == 0


def test_names_that_the_terminal_cannot_show(folder):
    (folder / "odd.csv").write_text("né,ö\n1,0\n1,1\n0,1\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "permtest", "study", "odd.csv", "--config", "quick.yml"],
        capture_output=True,
        encoding="ascii",
        check=False,
        env=os.environ
        | {"PYTHONPATH": str(Path(permtest.__file__).parents[1]), "PYTHONIOENCODING": "ascii"},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "n\\xe9" in done.stdout


def test_help_shows_examples(run):
    code, out, _ = run("--help")
    assert code == 0
    assert out.count("  permtest study ") == 4
    assert "exit codes:" in out
