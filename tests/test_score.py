"""A score has a name, a unit and a direction, and answers are about the better system."""

import json

import pytest

from permtest import Pairs, Score, exact_perm_test, noninferiority_test

HIGH, LOW = [4, 5, 4, 6, 5, 4, 7], [3, 3, 4, 5, 3, 2, 6]
LOSS = Score.of("loss")
#: Names that say nothing of a direction.
NOTHING = (
    *("error_free", "lossless", "time_saved", "win_loss", "1-WER", "ms_marco", "gsm8k"),
    *("tokens_per_second", "acc_stderr", "accuracy_drop", "rank_correlation", "page_rank"),
    *("f1_rank", "rankings_won", "reciprocal_rank", "fp16", "levenshtein_ratio", "bits_per_second"),
)


@pytest.mark.parametrize(
    ("name", "unit", "higher", "basis"),
    [
        ("accuracy", "correct answers", True, "inferred"),
        ("acc_norm", "correct answers", True, "inferred"),
        ("exactMatch", "correct answers", True, "inferred"),
        ("chrF++", "chrF++", True, "inferred"),
        ("rougeL", "rougeL", True, "inferred"),
        ("F1", "F1", True, "inferred"),
        ("pass@1", "passes", True, "inferred"),
        ("num_errors", "errors", False, "inferred"),
        ("error_rate", "error_rate", False, "inferred"),
        ("errors per word", "errors per word", False, "inferred"),
        ("evalLoss", "evalLoss", False, "inferred"),
        ("WER", "WER", False, "inferred"),
        ("latency_ms", "ms", False, "inferred"),
        ("time.seconds", "seconds", False, "inferred"),
        ("cost_usd", "USD", False, "inferred"),
        ("toxicity_score", "toxicity_score", False, "inferred"),
        ("", "", True, "assumed"),
        *(
            (name, name, False, "inferred")
            for name in (
                *("cross_entropy", "bits_per_byte", "logloss", "log_loss", "neg_log_likelihood"),
                *("negative_log_likelihood", "rank", "mean_rank", "false_positives", "fn", "FP"),
                *("false_negatives", "levenshtein", "edits", "deviation"),
            )
        ),
        *((name, name, True, "assumed") for name in NOTHING),
    ],
)
def test_names_say_what_they_say_and_no_more(name, unit, higher, basis):
    assert Score.of(name) == Score(name, unit, higher, basis)
    stated = Score.of(name, not higher)
    assert (stated.higher_is_better, stated.basis) == (not higher, "stated")


@pytest.mark.parametrize(
    ("names", "common"),
    [
        (("errors_A", "errors_B"), "errors"),
        (("crf_rich_correct", "crf_base_correct"), "correct"),
        (("exact_match_1", "exact_match_2"), "exact_match"),
        (("newLoss", "oldLoss"), "Loss"),
        (("loss", "loss_new"), "loss"),
        (("own_gsm8k_6b", "own_gsm8k_175b"), ""),
        (("time_a_saved", "time_b_saved"), ""),
        (("acc_a", "loss_b"), ""),
        (("rank_a", "rank_b"), "rank"),
        (("rank8", "rank16"), ""),
        (("fp16_acc", "fp32_acc"), "acc"),
    ],
)
def test_columns_share_the_name_of_their_score(names, common):
    assert Score.shared(names).name == common
    assert Pairs.of([1], [2], names).score == Score.shared(names)


@pytest.mark.parametrize(
    ("u", "v", "score", "statistic", "words"),
    [
        (HIGH, LOW, Score(), "sum", "u is 9 points ahead of v (35 against 26; higher is taken"),
        ([1, 1], [0, 1], Score(), "sum", "u is 1 correct answer ahead of v (2 against 1; higher"),
        ([1, 5], [0, 1], Score.of("acc"), "sum", "u is 5 correct answers ahead of v (6 against 1"),
        ([0.5], [0.25], Score.of("acc"), "sum", "u's total acc is higher than v's by 0.25 (0.5 ag"),
        (
            LOW,
            HIGH,
            Score.of("errors"),
            "sum",
            "u makes 9 fewer errors than v (26 against 35; lower",
        ),
        ([2], [1], Score.of("errors"), "sum", "u makes 1 more error than v (2 against 1; lower"),
        (
            [0, 2],
            [3, 1],
            Score.of("wrong"),
            "sum",
            "u has 2 fewer wrong answers than v (2 against 4",
        ),
        (HIGH, LOW, LOSS, "sum", "u's total loss is higher than v's by 9 (35 against 26; lower is"),
        (
            HIGH,
            LOW,
            LOSS,
            "mean",
            "u has a mean loss of 5 against 3.71429 for v, 1.28571 higher (lower is better, ",
        ),
        (HIGH, HIGH, LOSS, "mean", "u and v tie at a mean loss of 5 (lower is better, "),
        (LOW, HIGH, Score.of("time_ms"), "sum", "u's total time_ms is lower than v's by 9 ms (26"),
        (HIGH, HIGH, LOSS, "sum", "u and v tie at a total loss of 35 over 7 pairs"),
        ([1, 0], [0, 0], LOSS, "accuracy", "u is 1 correct answer ahead of v (1 against 0) over"),
    ],
)
def test_sentences_are_about_the_right_thing(u, v, score, statistic, words):
    assert str(exact_perm_test(Pairs.of(u, v, score=score), statistic=statistic)).startswith(words)


def test_the_direction_changes_words_and_the_better_system_but_not_p():
    pairs = Pairs.of(HIGH, LOW, ("new", "old"), score=LOSS)
    plain = exact_perm_test(HIGH, LOW, names=("new", "old"), alternative="greater")
    found = exact_perm_test(pairs, alternative="greater")
    assert (found.pvalue, found.difference) == (plain.pvalue, plain.difference) == (1 / 64, 9)
    assert (found.better, plain.better, exact_perm_test(HIGH, HIGH).better) == ("old", "new", None)
    assert "one-sided (greater: new has a higher loss than old)" in str(found)
    assert "lower is better, inferred from" in found._repr_html_()
    assert found.to_dict().items() >= {"score": "loss", "higher_is_better": False}.items()
    wer = exact_perm_test([[1, 4], [0, 3]], [[2, 4], [1, 3]], statistic="wer")
    assert (wer.better, wer.score.basis) == ("u", "known")
    assert "; lower is better)" in str(wer)


def test_pairs_keep_their_score_and_say_it():
    pairs = Pairs(
        HIGH, LOW, ("a", "b"), score=LOSS, ids=tuple("1234567"), clusters=tuple("aabbccc")
    )
    assert {pairs.score, pairs.by_cluster().score, pairs.folded(range(7)).score} == {LOSS}
    assert str(pairs).splitlines() == [
        "a against b, 7 pairs in 3 clusters",
        "paired by their ids",
        "score loss, lower is better, inferred from the name 'loss'",
    ]
    counts = Pairs.of_counts([[1, 2]], [[2, 1]], [("tp", "incorrect")])
    assert str(counts).splitlines()[2] == "tp, incorrect"


def test_numbers_without_a_header_have_no_name(command_line, tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("1\n0\n1\n", encoding="utf-8")
    found = json.loads(command_line("compare", "a.txt", "b.txt", "--json")[1])
    assert (found["score"], found["direction"]) == ("", "higher is taken as better")


@pytest.mark.parametrize(("stated", "side"), [(None, "less"), (True, "greater")])
def test_not_worse_depends_on_the_direction(stated, side):
    pairs = Pairs.of(HIGH, LOW, score=LOSS)
    found = noninferiority_test(pairs, margin=2, higher_is_better=stated)
    assert found.alternative == side
    assert "u is not worse than v by 2" in str(found)
    mirrored = noninferiority_test([-x for x in HIGH], [-x for x in LOW], margin=2)
    if side == "less":
        assert found.pvalue == mirrored.pvalue
        assert "lower is better, inferred from the name 'loss'" in str(found)


# ---- files and the command line ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "score", "better"),
    [
        ((), "errors, lower is better, inferred from the name 'errors'; --higher-is", "errors_B"),
        (("--lower-is-better",), "errors, lower is better", "errors_B"),
        (("--higher-is-better",), None, "errors_A"),
    ],
)
def test_commands_say_which_direction_they_took(command_line, tmp_path, options, score, better):
    rows = enumerate(zip(HIGH, LOW, strict=True))
    text = "id,errors_A,errors_B\n" + "".join(f"s{i},{x},{y}\n" for i, (x, y) in rows)
    (tmp_path / "errors.csv").write_text(text, encoding="utf-8")
    run = command_line
    _, out, _ = run("compare", "errors.csv", "--alternative", "greater", *options)
    assert (f"\nscore         {score}" in out) == (score is not None)
    assert out.count("inferred from") == (not options)
    assert "\nalternative   greater (errors_A " in out
    found = json.loads(run("compare", "errors.csv", "--json", *options)[1])
    expected = {"score": "errors", "higher_is_better": better == "errors_A", "better": better}
    expected |= {"difference": 9, "confidence_level": 0.95, "paired_by": "row", "metric": "sum"}
    assert found.items() >= expected.items()
    low, high = found["confidence_interval"]
    assert low <= 9 <= high
    board = json.loads(run("leaderboard", "errors.csv", "--json", *options)[1])
    assert board["ranking"][0]["system"] == better
    (tmp_path / "study.yml").write_text("K: 99\npower_sizes: 0\n", encoding="utf-8")
    for config in ((), ("--config", "study.yml")):
        argv = ("report", "errors.csv", *config, "--json", *options)
        assert json.loads(run(*argv)[1])["better"] == better
    assert run("compare", "errors.csv", "--fail-if", "worse", *options)[0] == (better == "errors_B")
    behind = run("compare", "errors.csv", "--fail-if", "not-better", *options)[0]
    assert behind == (better == "errors_B")
