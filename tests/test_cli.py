"""The command line finds what the package finds, and fails in one line that helps."""

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

import permtest
from permtest import cli
from permtest.cli import compare_files
from permtest.statistics import STATISTICS, lookup

SCORES = "item,new,old\n" + "".join(f"s{i},{3 + i % 3},{2 + i % 2}\n" for i in range(12))
NEW, OLD = [3 + i % 3 for i in range(12)], [2 + i % 2 for i in range(12)]
# tp, fp, fn, tn of both systems, with as many items to be found
NEW_COUNTS = [[3 + i % 2, i % 3, 1 - i % 2, 4 - i % 3] for i in range(12)]
OLD_COUNTS = [[2 + i % 3, i % 2, 2 - i % 3, 4 - i % 2] for i in range(12)]
COUNTS = "doc,new_tp,new_fp,new_fn,new_tn,old_tp,old_fp,old_fn,old_tn\n" + "".join(
    f"d{i // 3},{','.join(map(str, u + v))}\n"
    for i, (u, v) in enumerate(zip(NEW_COUNTS, OLD_COUNTS, strict=True))
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with a file of scores and one of counts."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores.csv").write_text(SCORES, encoding="utf-8")
    (tmp_path / "counts.csv").write_text(COUNTS, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(folder, command_line):  # noqa: ARG001
    """Run a command line in `folder`; exit code, standard output, standard error."""
    return command_line


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
    code, out, err = run("compare", "scores.csv")
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


def test_json_has_everything(answer):
    found = answer("scores.csv", "--a", "old", "--b", "new")
    expected = permtest.exact_perm_test(OLD, NEW, names=("old", "new"))
    assert found.items() >= expected.to_dict().items()
    more = {"seed", "source", "unit", "version"}
    more |= {"confidence_interval", "confidence_interval_reason", "confidence_level", "paired_by"}
    assert found.keys() - expected.to_dict() == more
    assert found["confidence_interval"] == [12 * x for x in expected.confidence_interval()]
    assert found["version"] == permtest.__version__
    assert found["unit"] == "points in all"
    assert answer("scores.csv", "--metric", "mean")["unit"] == "mean per item"
    assert found["source"]["file"] == "scores.csv"
    assert len(found["source"]["sha256"]) == 64
    assert (found["statistic"], found["n"], found["n_informative"]) == (-18, 12, 10)


@pytest.mark.parametrize(
    "options",
    [{"alternative": "less"}, {"method": "fft"}, {"method": "enumeration"}, {"statistic": "mean"}],
    ids=str,
)
def test_options_reach_the_test(answer, options):
    argv = [x for name, value in options.items() for x in (f"--{name}", value)]
    found = answer("scores.csv", *[x.replace("statistic", "metric") for x in argv])
    expected = permtest.exact_perm_test(NEW, OLD, names=("new", "old"), **options)
    assert {**found, **expected.to_dict()} == found


def test_monte_carlo_is_reproducible(answer, run):
    options = ("scores.csv", "--method", "monte_carlo", "--samples", 500, "--seed", 7)
    found = answer(*options)
    assert found == answer(*options)
    assert found["pvalue"] == permtest.monte_carlo(NEW, OLD, K=500, rng=7).pvalue
    assert (found["n_samples"], found["seed"], found["error_bound"]) == (500, 7, None)
    out = run("compare", *options)[1]
    assert "\n95% interval   " in out
    assert "(500 samples)" in out


# ---- counts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["precision", "f0.5", "iou"])
def test_metrics_of_counts(answer, metric):
    found = answer("counts.csv", "--metric", metric)
    width = len(lookup(metric).columns)
    tables = ([row[:width] for row in rows] for rows in (NEW_COUNTS, OLD_COUNTS))
    expected = permtest.exact_perm_test(*tables, statistic=metric, names=("new", "old"))
    assert found.items() >= expected.to_dict().items()
    assert answer("counts.csv", "--metric", metric, "--a", "new", "--b", "old") == found


def test_a_metric_that_is_sampled_says_why(answer, run, folder):
    columns = STATISTICS["bleu"].columns
    header = ",".join(f"{system}_{column}" for system in "xy" for column in columns)
    random, lows = Random(0), ([9, 6, 4, 2] + [20] * 4 + [9] * 2) * 2
    lines = [",".join(str(random.randint(low, 20)) for low in lows) for _ in range(80)]
    (folder / "mt.csv").write_text("\n".join([header, *lines]), encoding="utf-8")
    found = answer("mt.csv", "--metric", "bleu", "--seed", 5)
    assert (found["method"], found["n_samples"], found["seed"]) == ("monte_carlo", 100_000, 5)
    out = run("compare", "mt.csv", "--metric", "bleu")[1]
    assert "\nmethod         monte_carlo (an exact p is out of reach: " in out
    assert out.splitlines()[2].split() == ["system", *columns, "BLEU"]


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
    found, out, err = run("compare", "scores.csv")
    assert (found, out) == (code, "")
    assert message in err


# ---- a script that fails -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "failed", "margin_pvalue"),
    [
        ("--fail-if worse", False, None),
        ("--fail-if not-better", False, None),
        ("--fail-if not-better --margin 0.5", False, 5 / 512),
        ("--fail-if not-better --margin 1.5", True, None),
        ("--fail-if worse --a old --b new", True, None),
        ("--fail-if worse --a old --b new --margin 0.5", True, 5 / 512),
        ("--fail-if worse --a old --b new --method monte_carlo --seed 1", True, None),
    ],
)
def test_json_says_what_the_gate_decided(run, argv, failed, margin_pvalue):
    code, out, err = run("compare", "scores.csv", "--json", *argv.split())
    found = json.loads(out)
    assert (code, bool(err), found["failed"]) == (failed, failed, failed)
    assert found["fail_if"] in argv
    assert err in ("", f"permtest compare: {found['decision']}\n")
    has = "--margin" in argv
    assert has == (found["margin"] is not None) == (found["margin_pvalue"] is not None)
    if margin_pvalue:
        assert found["margin_pvalue"] <= 0.025


def test_a_gate_of_a_sampled_p_needs_its_whole_interval(run, folder):
    (folder / "near.csv").write_text("a,b\n" + "1,0\n" * 6 + "1,1\n", encoding="utf-8")  # p = 1/32
    near = ("compare", "near.csv", "--fail-if", "not-better")
    sampled = (*near, "--method", "monte_carlo", "--seed", 0, "--samples")
    code, out, err = run(*sampled, 20)
    assert (code, out) == (2, "")
    assert "--fail-if cannot be decided: p lies between" in err
    assert "draw more --samples" in err
    assert run(*sampled, 5000)[0] == 0
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
    done = process("-m", "permtest", "compare", "scores.csv", "--json")
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
    done = process("-m", "permtest", "compare", "scores.csv", stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.usefixtures("folder")
def test_nothing_slow_is_imported_that_is_not_needed():
    code = "import sys, permtest.cli; print([m for m in sys.modules if m in sys.argv[1:]])"
    done = process("-c", code, "matplotlib", "scipy", "numba", "pandas", "IPython")
    assert (done.stdout, done.stderr) == ("[]\n", "")
    run = "permtest.cli.main(['compare', 'scores.csv']); print([m for m in sys.modules if m in "
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
