"""The command line: what it prints, its exit codes, and files that it writes."""

import json
import re
import subprocess
import sys
from unittest.mock import Mock

import pytest

import permtest as pt
from permtest.cli import COMMANDS

TABLE = "id,new,old\n" + "".join(f"q{i},{i * i % 7 + (i % 3 > 0)},{i * i % 7}\n" for i in range(40))
#: What --json holds at least.
CONTRACT = """pvalue log10_pvalue smallest_pvalue statistic n n_informative alternative method
    metric score higher_is_better higher difference confidence_interval confidence_level paired_by
    notes"""


@pytest.fixture
def table(tmp_path):
    (tmp_path / "table.csv").write_text(TABLE)
    return "table.csv"


def test_compare_prints_at_most_eight_lines(command_line, table):
    code, out, err = command_line("compare", table, "--higher-is-better")
    result = pt.exact_perm_test(pt.read(table, higher_is_better=True), statistic="mean")
    low, high = result.confidence_interval(0.95)
    lines = out.splitlines()
    assert (code, err, len(lines)) == (0, "", 5)
    assert lines[0] == result.sentence()
    assert (
        lines[1] == f"difference of means: {result.statistic:g}, 95% interval {low:g} to {high:g}"
    )
    assert lines[2].startswith("40 pairs, 26 of which differ; the smallest p")
    assert lines[3:] == ["paired by the lines of one table", "higher is better"]


def test_what_keeps_p_from_being_small_comes_first_and_what_was_left_out_is_said(
    command_line, tmp_path
):
    (tmp_path / "a.csv").write_text("id,score\na,1\nb,1\nc,1\nd,1\n")
    (tmp_path / "b.csv").write_text("id,score\na,0\nb,0\nc,0\n")
    code, _, err = command_line("compare", "a.csv", "b.csv")
    assert (code, "1 of 4 items lack a score: d (b 1)" in err) == (2, True)
    out = command_line("compare", "a.csv", "b.csv", "--missing", "drop")[1].splitlines()
    assert out[0] == "With 3 pairs that differ, p cannot be below 0.25."
    assert out[1:3] == ["a scores 1 on every item.", "b scores 0 on every item."]
    assert out[6] == "paired by id; left out: 1 of 4 items lack a score: d (b 1)"
    assert len(out) <= 8


def test_an_interval_says_where_it_may_not_hold(command_line, tmp_path):
    (tmp_path / "s.csv").write_text("x,y\n" + "0,0\n1,0\n2,0\n" * 7 + "900,0\n")
    said = ["compare", "s.csv", "--a", "x", "--b", "y"]
    assert "only 15 differ, too few to rely on the interval.\n" in command_line(*said)[1]
    warning = json.loads(command_line(*said, "--json")[1])["interval_warning"]
    result = pt.exact_perm_test(pt.read("s.csv", a="x", b="y"))
    assert warning == result.confidence_interval().warning


@pytest.mark.parametrize("options", [[], ["--metric", "sum"], ["--alternative", "less"]])
def test_json_holds_to_the_contract(command_line, table, options):
    found = json.loads(command_line("compare", table, "--json", *options)[1])
    assert {*CONTRACT.split()} <= found.keys()
    about = [found[x] for x in ("higher", "higher_is_better", "paired_by", "notes")]
    assert about == ["new", None, "the lines of one table", []]
    low, high = found["confidence_interval"]
    assert found["difference"] == pytest.approx(26 / 40)
    assert (low or 0) < 0.65 < (high or 1)


def test_json_of_counts_and_of_runs(command_line, tmp_path):
    (tmp_path / "c.csv").write_text(
        "id,a_tp,a_fp,a_fn,b_tp,b_fp,b_fn\n1,3,0,1,2,1,2\n2,2,1,0,1,1,1\n"
    )
    found = json.loads(
        command_line("compare", "c.csv", "--metric=f1", "--a=a", "--b=b", "--json")[1]
    )
    assert {*CONTRACT.split()} <= found.keys()
    keys = "metric", "higher_is_better", "confidence_interval"
    assert [found[key] for key in keys] == ["f1", True, None]
    (tmp_path / "r.csv").write_text("id,system,seed,score\n" + "".join(
        f"{i},{s},{r},{int((i * j + r * r) % 3 > 0)}\n"
        for i in range(6) for j, s in enumerate("xy", 1) for r in range(3)
    ))  # fmt: skip
    said = ["compare", "r.csv", "--system=system", "--score=score", "--run=seed"]
    scores = pt.read("r.csv", system="system", score="score", run="seed")
    for how in ("--null=items", "--null=runs", "--null=systems", "--metric=pass@2"):
        found = json.loads(command_line(*said, how, "--json")[1])
        assert {*CONTRACT.split()} <= found.keys()
        given = {how.split("=")[0].strip("-").replace("metric", "statistic"): how.split("=")[1]}
        assert found["pvalue"] == pt.exact_runs_test(scores, **given).pvalue
    assert "\n6 items; the smallest p" in command_line(*said, "--null=systems")[1]
    code, _, error = command_line("leaderboard", *said[1:], "--metric", "pass@2")
    assert (code, "of repeated runs" in error) == (2, True)


HIGHER, LOWER = "--higher-is-better", "--lower-is-better"


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ("--fail-if worse", 2, "needs to know the direction"),
        (f"--fail-if worse {HIGHER} {LOWER}", 2, "not allowed with argument"),
        (f"--fail-if worse {HIGHER}", 0, "new is not significantly worse than old"),
        (f"--fail-if worse {LOWER}", 1, "new is significantly worse than old (p = "),
        (f"--fail-if not-better {HIGHER}", 0, "new is significantly better"),
        (f"--fail-if not-better {LOWER}", 1, "new is not significantly better"),
        ("--gold id --pos-label x --metric f1", 2, "permtest compare: "),
        ("--metric f7x", 2, "'f7x' is not known"),
        ("--alpha 2", 2, "--alpha must lie in (0, 1), got 2"),
        ("--thousands", 2, "unrecognized arguments: --thousands"),
    ],
)
def test_exit_codes(command_line, table, options, code, said):
    found, out, err = command_line("compare", table, *options.split())
    assert found == code
    assert said in (err if code == 2 else out)


@pytest.mark.parametrize(
    ("error", "exit_code", "said"),
    [(KeyboardInterrupt, 130, "interrupted"), (AssertionError, 2, "Traceback"),
     (FileNotFoundError("none.csv"), 2, "permtest compare: none.csv")],
)  # fmt: skip
def test_interruptions_and_faults(command_line, table, monkeypatch, error, exit_code, said):
    monkeypatch.setattr("permtest.readers.tables.File.load", Mock(side_effect=error))
    code, out, err = command_line("compare", table)
    assert (code, out, said in err) == (exit_code, "", True)


def test_leaderboard(command_line, tmp_path):
    text = "id,a,b,c\n" + "".join(f"{i},{i % 2},{i * i % 3},{i * i % 5}\n" for i in range(30))
    (tmp_path / "all.csv").write_text(text)
    code, _, err = command_line("leaderboard", "all.csv")
    proposal = re.search(r"permtest (leaderboard all.csv .*)", err)[1].split()
    assert (code, proposal) == (2, ["leaderboard", "all.csv", "--systems", "a,b,c"])
    code, out, err = command_line(*proposal, "--correction", "max_t", "-o", "board.json")
    assert (code, out.partition(" ")[0], err) == (0, "c", "wrote board.json\n")
    assert out.endswith("\n\n3 systems, 30 items paired by the lines of one table\n")
    assert json.loads((tmp_path / "board.json").read_text())["systems"] == ["a", "b", "c"]
    assert command_line(*proposal, "--baseline", "a")[0] == 0


def test_report(command_line, table, tmp_path):
    assert command_line("report", table, "-o", "r.json")[0] == 0
    found = json.loads((tmp_path / "r.json").read_text())
    assert found["pvalue"] == pt.exact_perm_test(pt.read(table)).pvalue
    (tmp_path / "study.yml").write_text("test: {alpha: 0.01}\npower: {experiments: 20}\n")
    found = json.loads(command_line("report", table, "--config", "study.yml", "--json")[1])
    assert (found["alpha"], "power" in found["sections"]) == (0.01, True)
    assert "'doc' is not known" in command_line("report", table, "-o", "r.doc")[2]
    assert "r.json exists" in command_line("report", table, "-o", "r.json")[2]
    assert command_line("report", table, "-o", "r.json", "--force")[0] == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--delta .1 --sigma .5", "needs 199 items for a power of 0.8"),
        ("--delta .1 --sigma .5 --json", '{"n": 199, "wanted": 0.8, "unit": "items", "delta": 0.1'),
        ("--shares .06 .03", "A alone is right on 0.06 of the items"),
        ("--delta .1", "name --delta and --sigma"),
        ("--delta .1 --sigma .5 --shares .1 .2", "name --delta and --sigma, or --shares"),
        ("--delta 0 --sigma 1", "the difference is too small, 0"),
    ],
)
def test_plan(command_line, options, said):
    _, out, err = command_line("plan", *options.split())
    assert said in out + err


@pytest.mark.parametrize("command", [x.__name__ for x in COMMANDS])
def test_help_names_every_option(command_line, command):
    code, out, _ = command_line(command, "--help")
    names = next(y for x, y in COMMANDS.items() if x.__name__ == command)
    assert code == 0
    assert all(name in out for name in names.split() if name.startswith("-"))
    assert max(map(len, out.splitlines())) <= 100


def test_a_cold_start_loads_no_compiler_and_is_quick(tmp_path):
    lines = "".join(f"q{i},{i * 7 % 20},{i * 11 % 19}\n" for i in range(2077))
    (tmp_path / "wide.csv").write_text("id,new,old\n" + lines)
    code = "import sys, permtest.cli as c; c.main(['compare', 'wide.csv'])\n"
    code += "assert not {'numba', 'scipy', 'matplotlib'} & sys.modules.keys()\n"
    code += "assert __import__('time').process_time() < 1"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True)
