"""The command line finds what the package finds, and fails in one line that helps."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import permtest
from permtest import cli
from permtest.statistics import ALTERNATIVES, STATISTICS

DATA = Path(__file__).resolve().parents[1] / "notebooks" / "data"
SCORES = "item,new,old\n" + "".join(f"s{i},{3 + i % 3},{2 + i % 2}\n" for i in range(12))
NEW, OLD = [3 + i % 3 for i in range(12)], [2 + i % 2 for i in range(12)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with a file of scores."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores.csv").write_text(SCORES, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(folder, capsys):  # noqa: ARG001
    """Run a command line in `folder`; exit code, standard output, standard error."""

    def run(*argv: object) -> tuple[int, str, str]:
        try:
            code = cli.main([str(argument) for argument in argv])
        except SystemExit as stop:
            code = stop.code
        return code, *capsys.readouterr()

    return run


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
    result = permtest.exact_perm_test(NEW, OLD, statistic="accuracy", names=("new", "old"))
    assert (code, err, sentence) == (0, "", str(result))
    assert scores.splitlines() == [
        "system       total   mean per pair",
        "new             48               4",
        "old             30             2.5",
        "difference      18             1.5",
    ]
    table = dict(line.split("  ", 1) for line in facts.splitlines())
    assert float(table["p"]) == pytest.approx(result.pvalue, rel=1e-9)
    assert table["N"].strip() == "12"
    assert table["informative"].strip() == "10 (pairs that differ)"
    assert {"log10 p", "method", "metric", "alternative", "error bound"} <= table.keys()


def test_table_of_a_sampled_test(run):
    code, out, _ = run("compare", "scores.csv", "--method", "monte_carlo", "--samples", 99)
    assert code == 0
    assert "\n95% interval   0" in out
    assert "(99 samples)" in out


def test_json_has_everything(answer):
    found = answer("scores.csv", "--a", "old", "--b", "new")
    expected = permtest.exact_perm_test(OLD, NEW, statistic="accuracy", names=("old", "new"))
    assert found.items() >= expected.to_dict().items()
    assert found.keys() - expected.to_dict() == {"seed", "source", "version"}
    assert found["version"] == permtest.__version__
    assert found["source"]["file"] == "scores.csv"
    assert len(found["source"]["sha256"]) == 64
    assert (found["statistic"], found["n"], found["n_informative"]) == (-18, 12, 10)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_alternatives(answer, alternative):
    found = answer("scores.csv", "--alternative", alternative)
    assert found["alternative"] == alternative
    assert found["pvalue"] == permtest.exact_perm_test(NEW, OLD, alternative=alternative).pvalue


def test_greater_means_that_a_is_better(answer):
    better, worse = (
        answer("scores.csv", "--a", a, "--b", b, "--alternative", "greater")["pvalue"]
        for a, b in (("new", "old"), ("old", "new"))
    )
    assert better < 0.01 < 0.99 < worse


@pytest.mark.parametrize("method", ["auto", "dp", "fft", "enumeration", "integer"])
def test_exact_methods(answer, method):
    found = answer("scores.csv", "--method", method)
    assert found["pvalue"] == pytest.approx(permtest.exact_perm_test(NEW, OLD).pvalue, rel=1e-12)
    assert method in ("auto", found["method"])


def test_monte_carlo_is_reproducible(answer):
    options = ("scores.csv", "--method", "monte_carlo", "--samples", 500, "--seed", 7)
    found = answer(*options)
    assert found == answer(*options)
    assert found["pvalue"] == permtest.monte_carlo(NEW, OLD, K=500, rng=7).pvalue
    assert (found["method"], found["n_samples"], found["seed"]) == ("monte_carlo", 500, 7)
    assert found["error_bound"] is None


@pytest.mark.parametrize("metric", STATISTICS)
def test_metrics(answer, metric):
    assert answer("scores.csv", "--metric", metric)["metric"] == metric


def test_negative_scores_need_the_sum(answer, run, folder):
    (folder / "gains.txt").write_text("3 -2\n-1 0\n", encoding="utf-8")
    assert answer("gains.txt", "--metric", "sum")["totals"] == [2, -2]
    code, out, err = run("compare", "gains.txt")
    assert (code, out) == (2, "")
    assert "gains.txt, line 1, column 2: -2 is below 0, but accuracy counts correct answers" in err


def test_a_tiny_p_is_not_zero(answer, run, folder):
    (folder / "far.csv").write_text("1,0\n" * 5000, encoding="utf-8")
    found = answer("far.csv")
    assert found["pvalue"] > 0
    assert found["log10_pvalue"] == pytest.approx(-4999 * 0.30102999566398120, rel=1e-12)
    assert "e-1505\n" in run("compare", "far.csv")[1]


def test_huge_scores(answer, run, folder):
    (folder / "huge.csv").write_text(f"{10**400},0\n{10**400 + 1},1\n", encoding="utf-8")
    found = answer("huge.csv")
    assert (found["statistic"], found["pvalue"]) == (2 * 10**400, 0.5)
    assert "   1.00000e+400\n" in run("compare", "huge.csv")[1]


def test_names_that_the_terminal_cannot_show(folder, monkeypatch):
    (folder / "names.csv").write_text("système,B\n1,0\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    done = process("-m", "permtest", "compare", "names.csv")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(r"syst\xe8me is 1 correct answer")


# ---- on the bundled data -----------------------------------------------------------------------

PUBLISHED = [
    ("ud_en_ewt_pos.csv", "crf_rich", "crf_base", 0.000907372),
    ("ud_en_ewt_pos.csv", "crf_rich", "svm_window", 0.42904),
    ("ud_en_ewt_pos.csv", "crf_rich", "hmm", 1.70808e-74),
    ("ud_af_afribooms_pos.csv", "perceptron", "hmm", 1),
]


@pytest.mark.parametrize(("file", "a", "b", "p"), PUBLISHED)
def test_published_numbers(answer, file, a, b, p):
    if not (DATA / file).exists():
        pytest.skip(f"{file} is not bundled here")
    found = answer(DATA / file, "--a", f"{a}_correct", "--b", f"{b}_correct")
    assert found["pvalue"] == (1 if p == 1 else pytest.approx(p, rel=5e-6))


# ---- pictures ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "start"), [("null.png", b"\x89PNG"), ("null.SVG", b"<?xml"), ("null.pdf", b"%PDF")]
)
def test_plot(run, folder, name, start):
    pytest.importorskip("matplotlib")
    code, out, err = run("compare", "scores.csv", "--plot", name)
    assert (code, err) == (0, "")
    assert out.startswith("new is 18 correct answers ahead of old")
    assert (folder / name).read_bytes().startswith(start)


def test_plot_overwrites_only_by_force(run, folder):
    pytest.importorskip("matplotlib")
    (folder / "null.png").write_bytes(b"mine")
    code, out, err = run("compare", "scores.csv", "--plot", "null.png")
    assert (code, out) == (2, "")
    assert "--plot null.png: the file exists; choose another name, or add --force" in err
    assert (folder / "null.png").read_bytes() == b"mine"
    assert run("compare", "scores.csv", "--plot", "null.png", "--force")[0] == 0
    assert (folder / "null.png").read_bytes() != b"mine"


def test_plot_without_matplotlib(run, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, err = run("compare", "scores.csv", "--plot", "null.png")
    assert (code, out) == (2, "")
    assert err == "permtest: error: --plot needs matplotlib: pip install 'permtest[plot]'\n"
    assert not (folder / "null.png").exists()


# ---- errors ------------------------------------------------------------------------------------

BAD_LINES = {
    "nothing": ([], "the following arguments are required: COMMAND; see permtest --help"),
    "no file": (["compare"], "are required: FILE; see permtest compare --help"),
    "command": (["contrast", "scores.csv"], "invalid choice: 'contrast'"),
    "option": (["compare", "scores.csv", "--alfa", "new"], "unrecognized arguments: --alfa new"),
    "abbreviation": (["compare", "scores.csv", "--alt", "less"], "unrecognized arguments"),
    "metric": (["compare", "scores.csv", "--metric", "f2"], "--metric: invalid choice: 'f2'"),
    "alternative": (["compare", "scores.csv", "--alternative", "better"], "choose from"),
    "method": (["compare", "scores.csv", "--method", "exact"], "--method: invalid choice"),
    "samples": (
        ["compare", "scores.csv", "--method", "monte_carlo", "--samples", "0"],
        "--samples 0: at least 1 is needed",
    ),
    "samples, no number": (["compare", "scores.csv", "--samples", "1e4"], "invalid int value"),
    "samples of dp": (
        ["compare", "scores.csv", "--samples", "9"],
        "--samples needs --method monte_carlo",
    ),
    "seed of dp": (["compare", "scores.csv", "--seed", "0"], "--seed needs --method monte_carlo"),
    "seed": (
        ["compare", "scores.csv", "--method", "monte_carlo", "--seed", "-1"],
        "--seed -1: a seed must not be negative",
    ),
    "missing file": (["compare", "score.csv"], "score.csv: there is no such file"),
    "folder": (["compare", "."], ".: this is a folder"),
    "column": (
        ["compare", "scores.csv", "--a", "newer", "--b", "old"],
        "scores.csv: no column 'newer' (did you mean 'new'?); its columns are 'item', 'new', 'old'",
    ),
    "one column": (["compare", "scores.csv", "--a", "new"], "a is given without b"),
    "extension": (
        ["compare", "scores.csv", "--plot", "null.bmp"],
        "--plot null.bmp: the name must end in .png or .svg or .pdf",
    ),
    "no extension": (["compare", "scores.csv", "--plot", "null"], "the name must end in"),
    "plot in no folder": (
        ["compare", "scores.csv", "--plot", "new/null.png"],
        "there is no folder new; create it first",
    ),
    "plot is a folder": (["compare", "scores.csv", "--plot", "dir.png"], "this is a folder"),
}


@pytest.mark.parametrize(("argv", "part"), BAD_LINES.values(), ids=BAD_LINES.keys())
def test_bad_usage(run, folder, argv, part):
    (folder / "dir.png").mkdir()
    code, out, err = run(*argv)
    assert (code, out) == (2, "")
    assert err.startswith("permtest: error: ")
    assert part in err
    assert err.count("\n") == 1


def test_too_large_to_compute(run, folder):
    gaps = [(-1) ** i * (3**i * 10**12 + i) for i in range(40)]
    lines = "".join(f"{gap},0\n" for gap in gaps)
    (folder / "wide.csv").write_text(lines, encoding="utf-8")
    wide = ("compare", "wide.csv", "--metric", "sum")
    code, out, err = run(*wide, "--method", "dp")
    assert (code, out) == (1, "")
    assert err.startswith("permtest: error: the null distribution needs")
    assert "monte_carlo" in err
    assert run(*wide, "--method", "integer")[0] == 1
    assert run(*wide)[0] == 0
    assert run(*wide, "--method", "monte_carlo", "--samples", 9)[0] == 0


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (MemoryError(), 1, "MemoryError"),
        (OSError(errno.ENOSPC, "No space left on device"), 1, "No space left on device"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_failures_while_computing(run, monkeypatch, error, code, message):
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(cli, "_test", fail)
    found, out, err = run("compare", "scores.csv")
    assert (found, out) == (code, "")
    assert err.startswith("permtest: error: ")
    assert message in err


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
    assert done.stderr.startswith("permtest: error: nowhere.csv: ")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes end otherwise there")
@pytest.mark.usefixtures("folder")
def test_a_closed_pipe_is_left_in_silence():
    reader, writer = os.pipe()
    os.close(reader)
    done = process("-m", "permtest", "compare", "scores.csv", stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full disk")
@pytest.mark.usefixtures("folder")
def test_a_full_disk_is_told():
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = process("-m", "permtest", "compare", "scores.csv", stdout=full.fileno())
    assert done.returncode == 1
    assert done.stderr == "permtest: error: [Errno 28] No space left on device\n"


def test_nothing_slow_is_imported_at_the_start():
    code = "import sys, permtest.cli; print([m for m in sys.modules if m in sys.argv[1:]])"
    done = process("-c", code, "matplotlib", "scipy", "numba", "pandas", "IPython")
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_version(run):
    assert run("--version") == (0, f"permtest {permtest.__version__}\n", "")


def test_help_shows_examples_and_directions(run):
    code, out, _ = run("compare", "--help")
    assert code == 0
    assert out.count("  permtest compare ") == 2
    assert "greater: A is better than B" in " ".join(out.split())
    assert "exit codes:" in out
