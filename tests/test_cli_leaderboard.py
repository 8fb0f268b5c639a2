"""`permtest leaderboard` prints what `compare_many` finds, and fails in one line that helps."""

import csv
import hashlib
import json
import re
from itertools import combinations
from pathlib import Path

import pyarrow.parquet
import pytest

from permtest import __version__, cli, compare_many, read_many
from permtest.cli import leaderboard, options
from permtest.cli.rankings import letters_of

DATA = Path(__file__).resolve().parents[1] / "notebooks" / "data"
TAGGERS = DATA / "ud_en_ewt_pos.csv"
SYSTEMS = ["crf_rich", "svm_window", "crf_base"]

SCORES = "id,n_words,new,old,base\n" + "".join(
    f"i{i},7,{3 + i % 3},{2 + i % 2},{(i % 5) // 2}\n" for i in range(12)
)
COUNTS = "id,a_tp,a_fp,a_fn,b_tp,b_fp,b_fn,c_tp,c_fp,c_fn\n" + "".join(
    f"i{i},{i % 4},{i % 2},1,{i % 3},1,{i % 2},0,1,2\n" for i in range(12)
)
GROUPS = "id,system,score,doc,subject\n" + "".join(
    f"i{i},{name},{(i * k) % 5},d{i // 3},s{i // 8}\n"
    for i in range(12)
    for k, name in enumerate("abc", 1)
)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A working folder with scores and counts."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("scores", SCORES), ("counts", COUNTS), ("groups", GROUPS)):
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(folder, capsys):  # noqa: ARG001
    """Run `permtest`; exit code, standard output, standard error."""

    def run(*argv: object) -> tuple[int, str, str]:
        try:
            code = cli.main(list(map(str, argv)))
        except SystemExit as stop:
            code = int(stop.code or 0)
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def board(run):
    """What `permtest leaderboard --json` prints."""

    def board(*argv: object) -> dict:
        code, out, err = run("leaderboard", *argv, "--json")
        assert (code, err) == (0, "")
        return json.loads(out)

    return board


# ---- what is printed -----------------------------------------------------------------------------


def test_the_taggers(run):
    code, out, err = run("leaderboard", TAGGERS, "--metric", "accuracy", "--pairs")
    assert (code, err) == (0, "")
    assert out.startswith(
        """\
rank   system               accuracy   may be   alike
   1   crf_rich_correct        23753   1 to 2      a    *
   2   svm_window_correct      23731   1 to 3      ab   *
   3   crf_base_correct        23662   2 to 3      b
   4   perceptron_correct      23554        4
"""
    )
    assert (
        "* is the best, or does not differ from it; systems that share a letter do not differ\n\n"
        in out
    )
    assert "\ncrf_rich_correct leads; svm_window_correct is tied with it. 13 of 15 pairs" in out
    lines = [line.split() for line in out.splitlines()]
    p = {(line[0], line[2]): float(line[4]) for line in lines if len(line) == 7 and line[1] == "-"}
    assert len(p) == 15
    assert p["crf_rich_correct", "svm_window_correct"] == pytest.approx(0.42904, rel=1e-5)
    assert p["crf_rich_correct", "crf_base_correct"] == pytest.approx(0.000907372, rel=1e-5)
    assert p["crf_base_correct", "perceptron_correct"] == pytest.approx(0.00199676, rel=1e-5)
    assert out.rstrip().endswith(
        "data   a table: 2077 items of 6 systems, paired by row. Columns taken for no systems: "
        "index, sent_id, n_tokens.\n\nscore  correct, higher is better"
    )


@pytest.mark.parametrize(
    ("argv", "systems"),
    [
        (("scores.csv",), ["new", "old", "base"]),
        (("counts.csv", "--metric", "f1"), "abc"),
        (("counts.csv", "--metric", "recall", "--zero-division", 1), "abc"),
        (("groups.csv", "--clusters", "doc"), "abc"),
    ],
)
def test_every_pair_is_that_of_compare(run, board, argv, systems):
    found = board(*argv, "--correction", "none")
    assert found["systems"] == list(systems)
    for p, (a, b) in enumerate(combinations(systems, 2)):
        metric = () if "--metric" in argv or argv[0] == "groups.csv" else ("--metric", "mean")
        one = json.loads(run("compare", *argv, *metric, "--a", a, "--b", b, "--json")[1])
        assert found["pvalue"][0][p] == pytest.approx(one["pvalue"], rel=1e-11)
        assert found["n_informative"][0][p] == one["n_informative"]


def test_json_is_one_object_with_all_there_is(board):
    found = board("scores.csv", "--correction", "max-t", "--k", 500, "--seed", 3, "--alpha", 0.1)
    assert (found["correction"], found["K"], found["alpha"]) == ("max_t", 500, 0.1)
    (ranking,) = found["rankings"]
    assert [row["system"] for row in ranking["systems"]] == ["new", "old", "base"]
    assert ranking["tied_with_best"] == ["new"]
    assert found["sources"][""]["no_systems"] == ["id", "n_words"]
    assert (found["overall"], found["replicability"], found["metric"]) == (None, None, "mean")
    wanted = compare_many(read_many("scores.csv"), correction="max_t", K=500, rng=3)
    assert found["adjusted"] == wanted.adjusted.tolist()


def test_a_baseline(run, board):
    code, out, _ = run(
        *("leaderboard", "scores.csv", "--baseline", "base", "--alternative", "greater"),
        *("--systems", "base,old,new"),
    )
    assert code == 0
    assert out.splitlines()[0].split() == [
        *("system", "mean", "less", "base", "p", "adjusted", "p", "differs")
    ]
    assert [line.split()[0] for line in out.splitlines()[1:4]] == ["new", "old", "base"]
    assert "2 of 2 systems score more than base at a level of 0.05 (Holm), over 12 items." in out
    found = board("scores.csv", "--baseline", "base", "--alternative", "greater")
    assert len(found["pvalue"][0]) == 2
    assert "tied_with_best" not in found["rankings"][0]


def test_less_may_be_better(board):
    best = board("scores.csv", "--ascending")["rankings"][0]["systems"][0]
    assert (best["system"], best["rank"]) == ("base", 1)


def test_strata(board):
    found = board("groups.csv", "--strata", "subject")
    assert found["sources"][""]["strata"] == "subject"
    assert found["values"] == compare_many(
        read_many("groups.csv", strata="subject")
    ).values.tolist()  # fmt: skip


def test_a_score_named_as_metric(board, folder):
    for name, right in (("x", "1101"), ("y", "1000"), ("z", "0110")):
        lines = [
            json.dumps({"doc_id": i, "acc": int(c), "len": i}) for i, c in enumerate(right)
        ]  # fmt: skip
        (folder / f"samples_{name}.jsonl").write_text("\n".join(lines))
    files = [f"samples_{name}.jsonl" for name in "xyz"]
    found = board(*files, "--metric", "acc")
    assert found == board(*files, "--score", "acc")
    assert found["values"] == [[0.75, 0.25, 0.5]]
    assert found["metric"] == "mean"


def test_what_is_counted_is_measured(board, folder):
    rows = [(i, name, i % k, i % 2, 1) for i in range(12) for k, name in enumerate("abc", 2)]
    lines = [("id", "system", "tp", "fp", "fn"), *rows]
    (folder / "long.csv").write_text("".join(",".join(map(str, x)) + "\n" for x in lines))
    found = board("long.csv")
    assert found["metric"] == "f1"
    assert found == board("long.csv", "--metric", "f1")


def test_letters_of_many_groups():
    groups = [(f"s{i}", f"s{i + 1}", f"s{i + 2}", f"s{i + 3}") for i in range(30)]
    found = letters_of(groups)
    assert [found[f"s{i}"] for i in (0, 2, 3, 27, 32)] == ["a", "abc", "a-d", "y-ab", "ad-ad"]


# ---- several data sets ---------------------------------------------------------------------------


def test_several_data_sets(run, board, folder):
    rows = [line.split(",") for line in SCORES.splitlines()]
    turned = [[row[0], row[4], row[2], row[3]] for row in rows[:1] + rows[5:]]
    (folder / "web.csv").write_text("".join(",".join(row) + "\n" for row in turned))
    argv = ("--data-set", "news=scores.csv", "--data-set", "web=web.csv")
    code, out, err = run("leaderboard", *argv, "--pairs")
    assert (code, err) == (0, "")
    assert [out.count(f"\n{name}: ") for name in ("news", "web", "all data sets")] == [1, 1, 1]
    assert out.startswith("news\n\nrank   system")
    assert "first is better on" in out
    found = board(*argv)
    assert (found["data_sets"], found["systems"]) == (["news", "web"], ["new", "old", "base"])
    assert found["n"] == [12, 8]
    assert [one["data_set"] for one in found["rankings"]] == ["news", "web", "all data sets"]
    assert found["overall"]["n"] == [20]
    assert found["replicability"]["data_sets"] == ["news", "web"]
    both = {"news": read_many("scores.csv"), "web": read_many("web.csv", systems=found["systems"])}
    assert compare_many(both).pvalue.tolist() == found["pvalue"]
    every = board(*argv, "--family", "all")
    assert every["adjusted"] == compare_many(both, family="all").adjusted.tolist()


def test_a_data_set_of_several_files_with_its_own_gold(run, board, folder):
    for data_set, shift in (("x", 0), ("y", 1)):
        words = [f"{i}\tw{i}\t_\t{'NV'[(i + shift) % 2]}" + "\t_" * 6 for i in range(1, 7)]
        for k, name in enumerate(("gold", "a", "b", "c")):
            wrong = [line.replace("N", "V") if i < k else line for i, line in enumerate(words)]
            (folder / f"{name}_{data_set}.conllu").write_text("\n".join(wrong) + "\n\n")
    argv = [x for d in "xy" for x in ("--data-set", f"{d}=a_{d}.conllu", f"b_{d}.conllu")]
    assert "as gold (--gold)" in run("leaderboard", *argv, "--metric", "upos")[2]
    gold = ("--gold", "x=gold_x.conllu", "--gold", "y=gold_y.conllu")
    err = run("leaderboard", *argv, *gold, "--metric", "upos")[2]
    assert "data set 'y' has no system 'a_x'" in err
    for name in ("a", "b"):
        for d in "xy":
            (folder / d).mkdir(exist_ok=True)
            (folder / f"{name}_{d}.conllu").rename(folder / d / f"{name}.conllu")
    argv = [x for d in "xy" for x in ("--data-set", f"{d}={d}/a.conllu", f"{d}/b.conllu")]
    found = board(*argv, *gold, "--metric", "upos")
    assert found["sources"]["y"]["gold"]["file"] == "gold_y.conllu"
    assert found["systems"] == ["a", "b"]


def test_classes_are_not_joined(board, folder):
    for name, labels in (("x", "ab"), ("y", "bc")):
        rows = [
            f"{i},{labels[i % 2]},{labels[i % 2]},{labels[i // 2 % 2]},{labels[0]}"
            for i in range(6)
        ]
        (folder / f"{name}.csv").write_text("\n".join(["id,gold,m,n,o", *rows]))
    argv = ("--data-set", "x=x.csv", "--data-set", "y=y.csv", "--metric", "macro_f1")
    found = board(*argv, "--gold", "gold")
    assert found["overall"] is None
    assert found["replicability"]["data_sets"] == ["x", "y"]


# ---- files ---------------------------------------------------------------------------------------


def test_pairs_are_written_as_tables(run):
    code, out, _ = run("leaderboard", "scores.csv", "-o", "pairs.csv")
    assert code == 0
    assert out.endswith("\nwrote pairs.csv\n")
    with Path("pairs.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    board = compare_many(read_many("scores.csv"), rng=0)
    assert [float(row["pvalue"]) for row in rows] == board.pvalue[0].tolist()
    assert run("leaderboard", "scores.csv", "-o", "pairs.parquet", "--json")[0] == 0
    table = pyarrow.parquet.read_table("pairs.parquet")
    assert table["adjusted"].to_pylist() == board.adjusted[0].tolist()


def test_a_folder_gets_all(run):
    assert run("leaderboard", "counts.csv", "--metric", "f1", "-o", "out")[0] == 0
    names = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    formats = {f"leaderboard.{x}" for x in ("html", "md", "tex", "csv", "json", "png", "svg")}
    assert set(names) == formats | {"leaderboard-ranking-1.svg", "leaderboard-pairs-1.svg"}
    page = names["leaderboard.html"].decode()
    assert "<h1>Leaderboard of 3 systems</h1>" in page
    assert page.count("<img ") == 2
    assert 'alt="What 3 systems score; best: a"' in page
    assert page.count("a leads") == 1
    assert page.count("That tied systems are equal") == 1
    assert "a table: 12 items of 3 systems, paired by row." in page
    assert names["leaderboard.png"].startswith(b"\x89PNG")
    code, _, err = run("leaderboard", "counts.csv", "--metric", "f1", "-o", "out")
    assert (code, err.count("\n")) == (2, 1)
    assert "--out out/leaderboard.html: the file exists; choose another name, or add" in err
    page = "out/leaderboard.html"
    assert run("leaderboard", "counts.csv", "--metric", "f1", "-o", page, "--force")[0] == 0
    assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == names


def test_the_page_says_what_was_tested_and_on_what(run, folder):
    files = ("--data-set", "news=scores.csv", "--data-set", "web=scores.csv")
    options = ("--correction", "max-t", "--k", 700, "--seed", 5, "--family", "all", "--alpha", 0.1)
    assert run("leaderboard", *files, *options, "-o", "a.html")[0] == 0
    page = (folder / "a.html").read_text(encoding="utf-8")
    section = page[page.index(". What was tested</h2>") :]
    assert "<p>3 systems, mean, by exact two-sided paired-permutation tests." in section
    for head, cell in (
        ("correction", "Westfall-Young max-T"),
        ("it controls", "familywise error, if differences are jointly symmetric"),
        ("level", "0.1"),
        ("tests corrected together", "all data sets"),
        ("random labellings", "700"),
        ("seed", "5"),
        ("permtest", __version__),
    ):
        assert re.search(f'<th scope="row">{head}</th><td[^>]*>{re.escape(cell)}', section), head
    sha256 = hashlib.sha256((folder / "scores.csv").read_bytes()).hexdigest()
    assert section.count(sha256) == 2


def test_an_interrupted_run_ends_in_one_line(run, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("permtest.many.compare_many", stop)
    assert run("leaderboard", "scores.csv")[::2] == (130, "permtest: error: interrupted\n")


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ([], "no file; name files, or all data sets as --data-set NAME=FILE"),
        (["scores.csv", "--data-set", "x=scores.csv"], "scores.csv: no data set is named for it"),
        (["--data-set", "scores.csv"], "--data-set scores.csv: write NAME=FILE"),
        (["--data-set", "x=a", "--data-set", "x=b"], "--data-set x is there twice"),
        (["scores.csv", "--systems", "a,b", "--system", "c"], "--systems and --system exclude"),
        (["scores.csv", "--alternative", "less"], "--alternative less needs --baseline"),
        (["scores.csv", "--alpha", "5"], "--alpha 5: a level lies between 0 and 1"),
        (["scores.csv", "--k", "0"], "--k 0: at least 1 is needed"),
        (["scores.csv", "--seed", "-1"], "--seed -1: a seed must not be negative"),
        (["scores.csv", "-o", "a.pdf"], "--out a.pdf: a report ends in .html, .md, .tex, .json, .png"),
        (["scores.csv", "-o", "none/a.csv"], "there is no folder none; create it first"),
        (["scores.csv", "--gold", "a", "--gold", "b"], "--gold b: there is one already"),
    ],
)
def test_refusals_come_before_files_are_read(run, monkeypatch, argv, message):
    monkeypatch.setattr(leaderboard, "read_table", lambda *_: pytest.fail("read it"))
    code, out, err = run("leaderboard", *argv)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"permtest: error: {message}") or message in err


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (
            ["scores.csv", "--systems", "new"],
            "1 system ('new'); name columns as systems (--systems)",
        ),
        (["scores.csv", "--system", "new", "--system", "nwe"], "no column 'nwe' (did you mean"),
        (["scores.csv", "--baseline", "nwe"], "baseline='nwe' is no system; there are new, old"),
        (["scores.csv", "--metric", "acuracy"], "(did you mean accuracy?)"),
        (["counts.csv"], "choose a statistic of counts, such as 'f1' (--metric f1)"),
        (["none.csv"], "none.csv"),
        (
            ["--data-set", "x=scores.csv", "--data-set", "y=groups.csv"],
            "data set 'y' has no system 'new'; choose those that all data sets have as --systems",
        ),
    ],
)
def test_what_does_not_fit_is_said_in_a_line(run, argv, message):
    code, out, err = run("leaderboard", *argv)
    assert (code != 0, out, err.count("\n")) == (True, "", 1)
    assert message in err


def test_two_tables_of_the_same_systems_are_two_data_sets(run, folder):
    (folder / "more.csv").write_text(SCORES, encoding="utf-8")
    (folder / "x.csv").write_text("id,acc,f\n1,2,3\n2,4,5\n", encoding="utf-8")
    code, _, err = run("leaderboard", "scores.csv", "more.csv")
    assert (code, err.count("\n")) == (2, 1)
    assert "give each file as a data set: --data-set NAME=FILE" in err
    err = run("leaderboard", "scores.csv", "x.csv")[2]
    assert err
    assert "--data-set" not in err
    err = run("leaderboard", "scores.csv", "more.csv", "none.csv")[2]
    assert "none.csv" in err
    assert "--data-set" not in err


def test_repeats_are_swapped_together(run, board, folder):
    lines = [f"q{i // 3},x,{i % 3},{i % 2},1,{i % 5 % 2}" for i in range(12)]
    (folder / "epochs.csv").write_text("\n".join(["id,category,epoch,a,b,c", *lines]))
    assert max(board("epochs.csv")["n_informative"][0]) <= 4  # told apart by the epoch
    found = board("epochs.csv", "--clusters", "id")
    assert found["systems"] == ["a", "b", "c"]
    assert max(found["n_informative"][0]) <= 4
    assert run("compare", "epochs.csv", "--a", "a", "--b", "b", "--clusters", "id")[0] == 0


def test_metrics_of_all_data_sets_must_agree(run, folder):
    (folder / "long.csv").write_text("id,system,tp,fp,fn\n1,new,1,0,0\n1,old,0,1,1\n")
    argv = ("--data-set", "x=scores.csv", "--data-set", "y=long.csv", "--systems", "new,old")
    code, _, err = run("leaderboard", *argv)
    assert (code, err.count("\n")) == (2, 1)
    assert "data set 'y' is of f1, but 'x' of mean; choose one as --metric" in err


@pytest.mark.parametrize(
    ("argv", "module"),
    [(("-o", "x.parquet"), "pyarrow"), (("-o", "x.html"), "jinja2")],
)
def test_what_is_missing_is_said_at_once(run, monkeypatch, argv, module):
    monkeypatch.setattr(options, "find_spec", lambda name: None if name == module else 1)
    code, _, err = run("leaderboard", "none.csv", *argv)
    assert code == 2
    assert f"needs {module}: pip install 'permtest[" in err


def test_help_has_examples(run):
    code, out, _ = run("leaderboard", "--help")
    assert code == 0
    assert out[out.index("examples:") :].count("  permtest leaderboard") == 5
    assert max(map(len, out.splitlines())) <= 110


def test_completion_knows_the_command(run):
    script = run("completion", "bash")[1]
    for word in ("leaderboard", "--data-set", "--correction", "max-t"):
        assert word in script
