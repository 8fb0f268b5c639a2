"""The command line finds what the package finds, and fails in one line that helps."""

import hashlib
import json
import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from statistics import fmean, stdev

import pytest
from scipy.stats import binomtest

import permtest
from permtest import cli, compare_many, read_many
from permtest.alternatives import mcnemar
from permtest.cli import compare_files
from permtest.statistics import lookup
from permtest.study import exact_power_n, overview, power_t, sample_size

TAGGERS = Path(__file__).resolve().parents[1] / "notebooks" / "data" / "ud_en_ewt_pos.csv"

SCORES = "id,n_words,new,old,base\n" + "".join(
    f"i{i},7,{3 + i % 3},{2 + i % 2},{(i % 5) // 2}\n" for i in range(12)
)
COUNTS = "id,a_tp,a_fp,a_fn,b_tp,b_fp,b_fn,c_tp,c_fp,c_fn\n" + "".join(
    f"i{i},{i % 4},{i % 2},1,{i % 3},1,{i % 2},0,1,2\n" for i in range(12)
)
GROUPS = "id,system,score,doc\n" + "".join(
    f"i{i},{name},{(i * k) % 5},d{i // 3}\n" for i in range(12) for k, name in enumerate("abc", 1)
)
PAIR = "item,new,old\n" + "".join(f"s{i},{3 + i % 3},{2 + i % 2}\n" for i in range(12))
NEW, OLD = [3 + i % 3 for i in range(12)], [2 + i % 2 for i in range(12)]
# tp, fp, fn, tn of both systems, with as many items to be found
NEW_COUNTS = [[3 + i % 2, i % 3, 1 - i % 2, 4 - i % 3] for i in range(12)]
OLD_COUNTS = [[2 + i % 3, i % 2, 2 - i % 3, 4 - i % 2] for i in range(12)]
TWO_COUNTS = "doc,new_tp,new_fp,new_fn,new_tn,old_tp,old_fp,old_fn,old_tn\n" + "".join(
    f"d{i // 3},{','.join(map(str, u + v))}\n"
    for i, (u, v) in enumerate(zip(NEW_COUNTS, OLD_COUNTS, strict=True))
)
FILES = {"two.csv": TWO_COUNTS, "scores.csv": SCORES, "counts.csv": COUNTS, "groups.csv": GROUPS}
FILES |= {"pair.csv": PAIR, "quick.yml": "K: 99\npower_experiments: 20\npower_sizes: 2\n"}


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A working folder with scores and counts."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(folder, command_line):  # noqa: ARG001
    """Run a command line in `folder`; exit code, standard output, standard error."""
    return command_line


@pytest.fixture
def printed(run):
    """What a command prints that does its job."""

    def printed(*argv: object) -> str:
        code, out, err = run(*argv)
        assert (code, err) == (0, "")
        return out

    return printed


@pytest.fixture
def board(run):
    """What `permtest leaderboard --json` prints."""

    def board(*argv: object) -> dict:
        code, out, err = run("leaderboard", *argv, "--json")
        assert (code, err) == (0, "")
        return json.loads(out)

    return board


@pytest.fixture
def answer(run):
    """What `permtest compare ... --json` prints, parsed; constants such as NaN are refused."""

    def answer(*argv: object) -> dict:
        code, out, err = run("compare", *argv, "--json")
        assert (code, err, out.count("\n")) == (0, "", 1)
        return json.loads(out, parse_constant=pytest.fail)

    return answer


# ---- what is printed ---------------------------------------------------------------------------


def test_sentence_and_table(run):
    code, out, err = run("compare", "pair.csv")
    sentence, scores, facts = out.split("\n\n")
    result = permtest.exact_perm_test(NEW, OLD, names=("new", "old"))
    assert (code, err, sentence) == (0, "", result.sentence(direction=False))
    assert scores.splitlines() == [
        "system       total   mean per pair",
        "new             48               4",
        "old             30             2.5",
        "difference      18             1.5",
    ]
    table = {key: value.strip() for key, value in (x.split("  ", 1) for x in facts.splitlines())}
    assert float(table["p"]) == pytest.approx(result.pvalue, rel=1e-9)
    assert (table["N"], table["informative"]) == ("12", "10 (pairs that differ)")
    assert {"log10 p", "method", "metric", "alternative", "error bound"} <= table.keys()
    Path("thirds.csv").write_text(f"id,a,b\n1,{1 / 3!r},1\n2,3,0\n")
    assert "difference   2.33333 " in run("compare", "thirds.csv")[1]


def test_json_has_everything(answer):
    found = answer("pair.csv", "--a", "old", "--b", "new")
    expected = permtest.exact_perm_test(OLD, NEW, names=("old", "new"))
    assert found.items() >= expected.to_dict().items()
    more = {"seed", "source", "unit", "version"}
    more |= {"confidence_interval", "confidence_interval_reason", "confidence_level", "paired_by"}
    assert found.keys() - expected.to_dict() == more
    assert found["confidence_interval"] == [12 * x for x in expected.confidence_interval()]
    assert found["version"] == permtest.__version__
    assert found["unit"] == "points in all"
    assert answer("pair.csv", "--metric", "mean")["unit"] == "mean per item"
    assert found["source"]["file"] == "pair.csv"
    assert len(found["source"]["sha256"]) == 64
    assert (found["statistic"], found["n"], found["n_informative"]) == (-18, 12, 10)


@pytest.mark.parametrize(
    "options",
    [{"alternative": "less"}, {"method": "fft"}, {"method": "enumeration"}, {"statistic": "mean"}],
    ids=str,
)
def test_options_reach_the_test(answer, options):
    argv = [x for name, value in options.items() for x in (f"--{name}", value)]
    found = answer("pair.csv", *[x.replace("statistic", "metric") for x in argv])
    expected = permtest.exact_perm_test(NEW, OLD, names=("new", "old"), **options)
    assert {**found, **expected.to_dict()} == found


def test_monte_carlo_is_reproducible(answer, run):
    options = ("pair.csv", "--method", "monte_carlo", "--seed", 7)
    found = answer(*options)
    assert found == answer(*options)
    assert found["pvalue"] == permtest.monte_carlo(NEW, OLD, rng=7).pvalue
    assert (found["n_samples"], found["seed"], found["error_bound"]) == (20_000, 7, None)
    out = run("compare", *options)[1]
    assert "\n95% interval   " in out
    assert "(20000 samples)" in out


# ---- counts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["precision", "f0.5", "iou"])
def test_metrics_of_counts(answer, metric):
    found = answer("two.csv", "--metric", metric)
    width = len(lookup(metric).columns)
    tables = ([row[:width] for row in rows] for rows in (NEW_COUNTS, OLD_COUNTS))
    expected = permtest.exact_perm_test(*tables, statistic=metric, names=("new", "old"))
    assert found.items() >= expected.to_dict().items()
    assert answer("two.csv", "--metric", metric, "--a", "new", "--b", "old") == found


# ---- errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (MemoryError(), 2, "permtest compare: error: MemoryError\n"),
        (ValueError("two\nlines"), 2, "permtest compare: error: two lines\n"),
        (KeyError("a fault"), 2, "Traceback"),  # it must not look as if --fail-if held
        (KeyboardInterrupt(), 130, "permtest compare: error: interrupted\n"),
    ],
)
def test_failures_while_computing(run, monkeypatch, error, code, message):
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(compare_files, "exact_perm_test", fail)
    found, out, err = run("compare", "pair.csv")
    assert (found, out) == (code, "")
    assert message in err


# ---- a script that fails -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "failed", "margin_pvalue"),
    [
        ("--fail-if worse", False, None),
        ("--fail-if not-better --margin 0.5", False, 5 / 512),
        ("--fail-if not-better --margin 1.5", True, None),
        ("--fail-if worse --a old --b new", True, None),
        ("--fail-if worse --a old --b new --method monte_carlo --seed 1", True, None),
    ],
)
def test_json_says_what_the_gate_decided(run, argv, failed, margin_pvalue):
    code, out, err = run("compare", "pair.csv", "--higher-is-better", "--json", *argv.split())
    found = json.loads(out)
    assert (code, bool(err), found["failed"]) == (failed, failed, failed)
    assert err in ("", f"permtest compare: {found['decision']}\n")
    assert ("--margin" in argv) == (found["margin"] is not None)
    if margin_pvalue:
        assert found["margin_pvalue"] <= 0.025
    passed = f"margin        passed: {found['decision']}"
    _, out, _ = run("compare", "pair.csv", "--higher-is-better", *argv.split())
    assert (passed in out) == (margin_pvalue is not None)


def test_a_gate_of_a_sampled_p_needs_its_whole_interval(run, folder):
    (folder / "near.csv").write_text("a,b\n" + "1,0\n" * 6 + "1,1\n", encoding="utf-8")  # p = 1/32
    near = ("compare", "near.csv", "--fail-if", "not-better")
    sampled = (*near, "--method", "monte_carlo", "--seed", 0)
    code, out, err = run(*sampled, "--alpha", 0.03125)
    assert (code, out) == (2, "")
    assert "--fail-if cannot be decided: p lies between" in err
    assert "; draw more samples in Python: monte_carlo(..., K=...)" in err
    assert run(*sampled)[0] == 0
    assert run(*near, "--alpha", 0.03125)[0] == 0


# ---- as a process ------------------------------------------------------------------------------


def process(*argv: str, stdout: int = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    """Run Python so that it finds this package from any folder."""
    return subprocess.run(
        [sys.executable, *argv],
        stdout=stdout,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        check=False,
        env=os.environ | {"PYTHONPATH": str(Path(permtest.__file__).parents[1])},
    )


@pytest.mark.usefixtures("folder")
def test_python_m_permtest():
    done = process("-m", "permtest", "compare", "pair.csv", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["names"] == ["new", "old"]
    done = process("-m", "permtest", "compare", "nowhere.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("permtest compare: error: nowhere.csv: ")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes end otherwise there")
@pytest.mark.usefixtures("folder")
def test_a_closed_pipe_is_left_in_silence():
    reader, writer = os.pipe()
    os.close(reader)
    done = process("-m", "permtest", "compare", "pair.csv", stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.usefixtures("folder")
def test_nothing_slow_is_imported_that_is_not_needed():
    code = "import sys, permtest.cli; print([m for m in sys.modules if m in sys.argv[1:]])"
    done = process("-c", code, "matplotlib", "scipy", "numba", "pandas", "IPython")
    assert (done.stdout, done.stderr) == ("[]\n", "")
    run = "permtest.cli.main(['compare', 'pair.csv']); print([m for m in sys.modules if m in "
    code = code.replace("print([m for m in sys.modules if m in ", run)
    done = process("-c", code, "matplotlib", "pandas", "statsmodels", "ipywidgets", "jinja2")
    assert done.stdout.endswith("[]\n")


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_help_fits_a_screen(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0
    assert out.count("\n") <= 40
    assert max(map(len, out.splitlines())) <= 100
    assert 1 <= out[out.index("For example:") :].count(f"  permtest {command}") <= 4


# ---- leaderboard ---------------------------------------------------------------------------------


def test_the_taggers(printed):
    out = printed("leaderboard", TAGGERS, "--metric", "accuracy")
    assert out.startswith("rank   system               accuracy    ranks   alike   minus the best")
    assert max(map(len, out.partition("\n\ncrf_rich")[0].splitlines())) <= 100
    assert "Next: these items do not tell in which direction svm_window_correct and" in out
    assert out.endswith("index, sent_id, n_tokens.\n\nscore  correct, higher is better\n")


@pytest.mark.parametrize(
    ("argv", "systems"),
    [
        (("scores.csv",), ["new", "old", "base"]),
        (("counts.csv", "--metric", "f1"), "abc"),
        (("groups.csv", "--clusters", "doc"), "abc"),
    ],
)
def test_every_pair_is_that_of_compare(run, board, argv, systems):
    found = board(*argv, "--correction", "none")
    assert found["systems"] == list(systems)
    for p, (a, b) in enumerate(combinations(systems, 2)):
        metric = () if "--metric" in argv or argv[0] == "groups.csv" else ("--metric", "mean")
        one = json.loads(run("compare", *argv, *metric, "--a", a, "--b", b, "--json")[1])
        assert found["pvalue"][p] == pytest.approx(one["pvalue"], rel=1e-11)
        assert found["n_informative"][p] == one["n_informative"]


def test_json_is_one_object_with_all_there_is(board):
    found = board("scores.csv", "--correction", "max-t", "--seed", 3, "--alpha", 0.1)
    assert (found["correction"], found["K"], found["alpha"]) == ("max_t", 10_000, 0.1)
    assert [row["system"] for row in found["ranking"]] == ["new", "old", "base"]
    assert found["source"]["no_systems"] == ["id", "n_words"]
    wanted = compare_many(read_many("scores.csv"), correction="max_t", rng=3)
    assert found["adjusted"] == wanted.adjusted.tolist()


def test_options_of_a_leaderboard(printed, board):
    argv = ("scores.csv", "--baseline", "base", "--alternative", "greater")
    out = printed("leaderboard", *argv, "--systems", "base,old,new")
    assert [line.split()[0] for line in out.splitlines()[1:4]] == ["new", "old", "base"]
    assert "2 of 2 systems score more than base at a level of 0.05 (Holm), over 12 items." in out
    assert len(board(*argv)["pvalue"]) == 2
    best = board("scores.csv", "--lower-is-better")["ranking"][0]
    assert (best["system"], best["rank"]) == ("base", 1)


@pytest.mark.parametrize("argv", ["leaderboard none.csv -o x.html", "report none.csv --out x"])
def test_what_is_missing_is_said_at_once(run, monkeypatch, argv):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    code, _, err = run(*argv.split())
    assert code == 2
    assert "needs jinja2: pip install 'permtest[" in err


# ---- report --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "read", "options"),
    [
        ("pair.csv --alpha 0.1 --seed 3", {}, {"alpha": 0.1, "rng": 3}),
        ("groups.csv --a a --b c --clusters doc", {"a": "a", "b": "c", "clusters": "doc"}, {}),
        ("counts.csv --a a --b b --metric f1", {"a": "a", "b": "b"}, {"statistic": "f1"}),
    ],
)
def test_a_report_is_the_overview(printed, argv, read, options):
    how = {"statistic": "mean", "rng": 0} | options
    pairs = permtest.read(argv.split()[0], statistic=how["statistic"], **read)
    found = overview(pairs, **how)
    out = printed("report", *argv.split())
    assert " ".join(found.sentence().split()) in " ".join(out.split())
    record = json.loads(printed("report", *argv.split(), "--json"))
    wanted = (how["statistic"], found.to_dict()["difference"])
    assert (record["statistic"], record["difference"]) == wanted


def test_reports_are_written_and_named(run, printed, folder):
    out = printed("report", "pair.csv", "-o", "table.tex")
    assert out.startswith("On 12 items, new scores")
    assert out.endswith("\nwrote table.tex\n")
    digest = hashlib.sha256((folder / "pair.csv").read_bytes()).hexdigest()
    lines = (folder / "table.tex").read_text().splitlines()
    assert lines[0] == f"% pair.csv, SHA-256 {digest}"
    assert r"    \toprule" in lines
    assert "exists" in run("report", "pair.csv", "-o", "table.tex")[2]
    printed("report", "pair.csv", "-o", "table.tex", "--force")
    assert json.loads(printed("report", "pair.csv", "-o", "a.json", "--json"))["n_items"] == 12
    assert (folder / "a.json").exists()
    argv = ("counts.csv", "-o", "b.json", "--json", "--metric", "f1")
    board = json.loads(printed("leaderboard", *argv))
    assert board == json.loads((folder / "b.json").read_text())


# ---- study ---------------------------------------------------------------------------------------


def test_a_report_has_the_checksums_of_both_files(printed, folder):
    names, sums = ("a" * 60 + ".csv", "b.csv"), []
    for name in names:
        (folder / name).write_text(f"id,score\nx,{len(name)}\ny,2\nz,3\n", encoding="utf-8")
        sums.append(hashlib.sha256((folder / name).read_bytes()).hexdigest())
    printed("report", *names, "-o", "report.md")
    text = (folder / "report.md").read_text(encoding="utf-8")
    assert all(x in text for x in (*names, *sums))


def test_a_report_repeats_itself(run, printed, folder):
    options = ("--a", "old", "--b", "new", "--seed", 3, "--config", "quick.yml", "--out", "x")
    told = printed("report", "pair.csv", *options).partition("\nwrote ")[2].split()
    names = sorted(path.name for path in (folder / "x").iterdir())
    assert sorted(Path(path).name for path in told) == names
    assert {"report.html", "report.md", "report.json"} <= set(names)
    printed("report", "pair.csv", *options[:-1], "y")
    assert sorted(path.name for path in (folder / "y").iterdir()) == names
    for name in names:
        assert (folder / "x" / name).read_bytes() == (folder / "y" / name).read_bytes(), name
    assert "the file exists" in run("report", "pair.csv", "--config", "quick.yml", "--out", "x")[2]


def test_the_command_line_wins_over_a_configuration(printed, folder):
    (folder / "one.yml").write_text("alternative: less\nalpha: 0.2\nseed: 4\n", encoding="utf-8")
    options = ("report", "pair.csv", "--config", "one.yml", "--json")
    found = json.loads(printed(*options))
    assert (found["alternative"], found["alpha"], found["seed"]) == ("less", 0.2, 4)
    found = json.loads(printed(*options, "--alternative", "greater", "--alpha", 0.1, "--seed", 5))
    assert (found["alternative"], found["alpha"], found["seed"]) == ("greater", 0.1, 5)
    found = json.loads(printed("report", "pair.csv", "--json"))
    assert (found["alternative"], found["alpha"], found["seed"]) == ("two-sided", 0.05, 0)


# ---- plan ----------------------------------------------------------------------------------------

#: Six questions with two runs each, of which t needs three and the exact test six.
RUNS = "question,run,a,b\n" + "".join(
    f"q{i // 2},{i % 2},{a},{b}\n"
    for i, (a, b) in enumerate(zip("574965764978", "432213423324", strict=True))
)


def test_a_plan_of_a_difference(printed):
    needed = sample_size(0.1, 0.5, power=0.9, alternative="greater")
    options = ("--delta", 0.1, "--sigma", 0.5, "--power", 0.9, "--alternative", "greater")
    out = printed("plan", *options)
    assert f"needs {needed} items for a power of 0.9, if differences per item have a mean" in out
    table = [line.split() for line in out.partition("\n\n")[2].splitlines()]
    power = power_t(needed, 0.1, 0.5, alternative="greater")
    assert table[0] == ["items", "power", "of", "the", "paired", "t-test"]
    assert [str(needed), f"{power:.4f}"] in table
    found = json.loads(printed("plan", *options, "--json"))
    assert (found["n"], found["power"], found["delta"]) == (needed, power, 0.1)


@pytest.mark.parametrize(
    ("options", "needs", "why"),
    [
        (
            "--delta 5 --sigma 0.5",
            "6 items",
            "The paired t-test needs only 3, but with fewer",
        ),
        ("--delta 5 --sigma 0.5 --alternative greater", "5 items", "needs only 2, but with fewer"),
        ("runs.csv --id question", "6 items", "only 3, but with fewer than 6 items the p of"),
        ("--shares 1 0", "6 items", "A scores higher on 100% of the items, and B on 0%."),
    ],
)
def test_a_plan_is_large_enough_for_the_exact_test_to_reject(printed, folder, options, needs, why):
    argv = ("plan", *options.split())
    (folder / "runs.csv").write_text(RUNS, encoding="utf-8")
    out = printed(*argv)
    assert out.startswith("The exact permutation test (")
    assert f" needs {needs} for a power of 0.8, if" in out
    assert why in out
    whose = "exact" if "shares" in options else "paired t-"
    assert f" power of the {whose} test (0 where the exact test cannot".replace("- ", "-") in out
    found = json.loads(printed(*argv, "--json"))
    assert f"{found['n']} {found['unit']}" == needs
    assert {x["n"] < found["n"] for x in found["curve"] if not x["power"]} == {True}


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("report", "On 6 items, 2 runs each, a scores "),
        ("report", "that swaps all runs of an item together rejects the hypothesis"),
        ("report", "exchange their outputs for each item. p is the share of all 2^6 exchanges"),
        ("report", "over 6 items, 2 runs each, of which 6 differ: p = 0.0312"),
        ("report", "Runs are compared by their scores. runs a better 12 "),
        (
            "report",
            "80% power at the observed difference 6 with fewer, p is above 0.05",
        ),
        ("leaderboard", "(Holm), over 6 items, 2 runs each."),
        (
            "plan",
            "6 items for a power of 0.8, if differences per item (2 runs each) have",
        ),
        ("plan", "The pilot has 6 items."),
        ("compare", "a table: 6 items, 12 runs, paired by"),
        ("leaderboard", "Same: the share of runs on which it scores like"),
    ],
)
def test_runs_of_an_item_are_not_called_items(printed, folder, command, said):
    (folder / "runs.csv").write_text(RUNS, encoding="utf-8")
    out = " ".join(printed(command, "runs.csv", "--id", "question").split())
    assert said in out
    assert "12 items" not in out


def test_a_plan_of_a_pilot_says_what_a_report_says(printed, folder):
    (folder / "runs.csv").write_text(RUNS, encoding="utf-8")
    argv = ("runs.csv", "--id", "question")
    plan = json.loads(printed("plan", *argv, "--json"))
    report = json.loads(printed("report", *argv, "--json"))
    assert plan["pilot"] == report["n_items"] == report["power"]["n"] == 6
    assert plan["n"] == report["power"]["needed"]


def test_a_plan_has_numbers_for_both_ends_of_the_interval_of_its_pilot(printed, folder):
    lines = {"clear": (30, 5), "unclear": (12, 8)}
    for name, (b, c) in lines.items():
        rows = ["1,0"] * b + ["0,1"] * c + ["1,1"] * (100 - b - c)
        (folder / f"{name}.csv").write_text("\n".join(["new,old", *rows]), encoding="utf-8")
    found = json.loads(printed("plan", "clear.csv", "--json"))
    low, high = mcnemar(30, 5, n=100).confidence_interval(0.95)
    assert found["interval"] == [low, high]
    shares = [((0.35 + x) / 2, (0.35 - x) / 2) for x in (high, low)]
    assert found["n_at_interval"] == [exact_power_n(max(b, 0), max(c, 0)) for b, c in shares]
    few, many = found["n_at_interval"]
    assert few < found["n"] < many
    out = " ".join(printed("plan", "clear.csv").split())
    assert f"asks for {few:,.0f} to {many:,.0f} items at its ends" in out
    unclear = json.loads(printed("plan", "unclear.csv", "--json"))
    assert (unclear["n"], unclear["power"], unclear["n_at_interval"]) == (None, None, None)
    out = " ".join(printed("plan", "unclear.csv").split())
    assert "contains 0: the pilot does not tell which system is higher, so no number" in out


def test_compare_has_the_intervals_of_shares(printed, folder):
    rows = ["1,0"] * 30 + ["0,1"] * 5 + ["1,1"] * 65
    (folder / "right.csv").write_text("\n".join(["new,old", *rows]), encoding="utf-8")
    lines = printed("compare", "right.csv").splitlines()
    shown = {line.split()[0]: line for line in lines if line}
    for name, right in (("new", 95), ("old", 70)):
        low, high = binomtest(right, 100).proportion_ci(method="wilson")
        assert shown[name].endswith(f"{low:.4g} to {high:.4g}")
    low, high = mcnemar(30, 5, n=100).confidence_interval(0.95)
    assert shown["difference"].endswith(f"{low:.4g} to {high:.4g}")


def test_a_plan_of_a_pilot(printed, folder):
    gaps = [x - y for x, y in zip(NEW, OLD, strict=True)]
    found = json.loads(printed("plan", "pair.csv", "--json"))
    assert (found["pilot"], found["delta"]) == (12, fmean(gaps))
    assert found["sigma"] == pytest.approx(stdev(gaps))
    assert found["n"] == sample_size(found["delta"], found["sigma"])
    lines = "".join(f"d{i // 3},{int(i % 3 > 0)},{int(i % 4 > 2)}\n" for i in range(24))
    (folder / "right.csv").write_text(f"doc,new,old\n{lines}", encoding="utf-8")
    argv = ("plan", "right.csv", "--json", "--a", "new", "--b", "old")
    right = json.loads(printed(*argv, "--no-clusters"))
    assert (right["p_b"], right["p_c"]) == pytest.approx((12 / 24, 2 / 24))
    assert right["n"] == exact_power_n(12 / 24, 2 / 24)
    whole = json.loads(printed(*argv, "--clusters", "doc"))
    assert (whole["pilot"], whole["unit"]) == (8, "clusters")
    sums = [sum(int(i % 3 > 0) - int(i % 4 > 2) for i in range(k, k + 3)) for k in range(0, 24, 3)]
    assert whole["sigma"] == pytest.approx(stdev(sums) / 3), "per item, as a report tells it"
    assert (whole["n"], sample_size(fmean(sums), stdev(sums))) == (6, 4), "2 / 2^5 is above 0.05"


# ---- what is refused -----------------------------------------------------------------------------

#: What comes before a file is read is said of x.csv, which is not there.
BAD = {
    "": "the following arguments are required: COMMAND; see permtest --help",
    "compare": "are required: FILE; see permtest compare --help",
    "compara pair.csv": "invalid choice: 'compara' (choose from",
    "compare x.csv --alfa 1": "unrecognized arguments: --alfa 1 (did you mean '--alpha'",
    "compare x.csv --clusters a --no-clusters": "not allowed with",
    "compare x.csv --seed -1": "--seed: -1 is not a whole number from 0 on",
    "compare x.csv --margin 1": "--margin 1 needs --fail-if",
    "compare x.csv --fail-if worse --margin -1": "--margin: -1 is not a number from 0 on",
    "compare x.csv --fail-if worse --margin 1 --alternative less": "leave --alternative out",
    "compare x.csv --fail-if worse --margin 1 --method monte_carlo": "leave --method out",
    "compare x.csv": "x.csv: there is no such file",
    "compare pair.csv --metric macro-f1": "--metric macro-f1: not known (did you mean 'macro_f1'",
    "compare pair.csv --metric pass@5": "--metric pass@5 with --null runs or --null items",
    "compare scores.csv": "(--a, --b), or compare all with permtest leaderboard",
    "compare pair.csv --metric f1": "in columns such as new_tp, new_fp, new_fn; say which two",
    "compare pair.csv --fail-if worse": "does not say; give --higher-is-better or --lower-is-bett",
    "compare pair.csv --fail-if worse --alternative greater": "needs --alternative less, not great",
    "compare gains.txt --metric accuracy": "line 1, column 2: -2 is below 0, but accuracy",
    "compare counts.csv --a a --b b": "has counts (tp, fp, fn) of each item, but 'sum' takes one",
    "leaderboard": "the following arguments are required: FILE",
    "leaderboard x.csv --alternative less": "--alternative less needs --baseline",
    "leaderboard x.csv --gold a --gold b": "--gold b: there is one already",
    "leaderboard scores.csv --baseline nwe": "baseline='nwe' is not a system; there are new, old",
    "report x.csv -o there.tex": "--out there.tex: the file exists; choose another name, or add",
    "report x.csv -o a.pdf": "--out a.pdf: a report ends in .html",
    "report pair.csv --alpha 5": "--alpha: 5 is not a number between 0 and 1",
    "report pair.csv --config none.yml": "none.yml: ",
    "report pair.csv --config bad.yml": "unit_sise: there is no such option",
    "report pair.csv --config quick.yml --out quick": "this is a file; name a folder",
    "plan": "name --delta and --sigma, or --shares, or the files of a pilot",
    "plan --delta 1": "--sigma is missing",
    "plan --delta 1 --sigma 0": "--sigma: 0 is not a number above 0",
    "plan --shares 0.1 0.2 --delta 1": "leave out --delta",
    "plan --shares 0.1 2": "--shares: 2 is not a number from 0 to 1",
    "plan counts.csv --a a --b b --metric f1": "not --metric f1",
    "plan pair.csv --delta 0": "--delta 0: no number of items finds a difference of 0",
    "plan same.csv --sigma 1": "same.csv: the systems tie; give the difference to find as --delta",
    "plan same.csv": "their spread cannot be estimated; give --sigma and --delta",
    "plan --shares 0.3 0.3": "--shares 0.3 0.3: no number of items finds a difference of 0",
    "plan --shares 0.7 0.6": "--shares 0.7 0.6: shares of the same items cannot add up to more",
    "plan --shares 0.3 0.1 --alternative less": "less cannot find; use greater or two-sided",
}


@pytest.mark.parametrize(("argv", "message"), BAD.items())
def test_errors_in_one_line(run, folder, argv, message):
    files = {"bad.yml": "unit_sise: 3", "there.tex": "", "quick": ""}
    files |= {"gains.txt": "3 -2\n-1 0\n", "same.csv": "a,b\n1,1\n2,2\n"}

    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    before = sorted(folder.iterdir())
    code, out, err = run(*argv.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    command = argv.split()[0] if argv and "compara" not in argv else ""
    assert err.startswith(f"permtest {command}".rstrip() + ": error: ")
    assert message in err
    assert sorted(folder.iterdir()) == before
