"""Files of kinds that people have: what the first command says, and what its proposal answers."""

from pathlib import Path
from shlex import split

import pytest

import permtest as pt
from permtest.readers import ReadError

CASES = Path(__file__).parent / "cases"

#: Files, what is declared at once, and the p of what is proposed; None where nothing may be.
PROPOSED = [
    ("messung.csv", "", 0.0756868),
    ("noten.csv", "", 0.0196228),
    ("long_patient_treatment_pain.csv", "", 0.1174316),
    ("wide_student_ours_base.csv", "", 0.9047852),
    ("iou.csv", "", None),
    ("kaggle/sub_lr.csv kaggle/sub_rf.csv", "", None),
    ("kaggle/sub_lr.csv kaggle/sub_rf.csv", "--gold kaggle/truth.csv", None),
    ("spr.csv", "", 0.0734429),
    ("ratings.csv", "", 0.0008337),
    ("regression_preds.csv", "", None),
    ("sacrebleu/nllb.sl sacrebleu/opus.sl", "", None),
    ("squad/albert.json squad/bidaf.json", "", 0.4002370),
    ("squad/albert_f1.json squad/bidaf_f1.json", "", 0.4002370),
    ("conlleval/bilstm.txt conlleval/crf.txt", "", 0.0570046),
    ("trec/bm25.eval trec/colbert.eval", "", None),
    ("trec/bm25.eval trec/colbert.eval", "--id 2 --score 3", None),
]
#: Options that answer, without a proposal.
ANSWERED = {
    "kaggle/sub_lr.csv kaggle/sub_rf.csv --gold kaggle/truth.csv --id 1 --prediction 2": 0.2067366,
    "sacrebleu/nllb.sl sacrebleu/opus.sl --score 3": 0.000318561,
    "squad/albert.json squad/bidaf.json --records . --id key --score exact": 0.5327090,
    "messung.csv --id 1 --a 2 --b 3": 0.0756868,
}


@pytest.fixture(autouse=True)
def in_cases(command_line, monkeypatch):  # noqa: ARG001 - which changes the folder itself
    monkeypatch.chdir(CASES)


def pvalue(command_line, options):
    code, out, err = command_line("compare", *split(options), "--json")
    assert code == 0, err
    return float(out.split('"pvalue": ')[1].split(",")[0])


@pytest.mark.parametrize(("files", "options", "p"), PROPOSED)
def test_the_first_command_stops_and_its_proposal_answers(files, options, p, command_line):
    code, out, err = command_line("compare", *split(files), *split(options))
    assert (code, out) == (2, "")
    assert err.startswith("permtest compare: ")
    proposals = [x for x in err.splitlines() if x.startswith("For example:  permtest compare ")]
    assert len(proposals) == (p is not None)
    for line in proposals:  # the same in Python
        with pytest.raises(ReadError, match="For example: ") as caught:
            pt.read(*split(files))
        assert len(eval(str(caught.value).rpartition(":  ")[2], {"pt": pt}))
        assert not {"--missing", "--by-order", "--prediction"} & {*line.split()}
        found = pvalue(command_line, line.removeprefix("For example:  permtest compare "))
        assert found == pytest.approx(p, rel=1e-5)


def test_what_is_declared_is_answered(command_line):
    for options, p in ANSWERED.items():
        assert pvalue(command_line, options) == pytest.approx(p, rel=1e-5)


def test_a_last_line_of_means_is_refused_by_its_numbers(tmp_path):
    lines = (CASES / "iou.csv").read_text().splitlines()
    with pytest.raises(ReadError, match="line 21: this line has the means of the first 19 lines"):
        pt.read("iou.csv", id="Class", a=2, b=3)
    path = tmp_path / "iou.csv"
    path.write_text("\n".join(lines[:-1]))
    scores = pt.read(path, id="Class", a=2, b=3)
    assert pt.exact_perm_test(scores).pvalue == pytest.approx(0.0068130, rel=1e-5)
    # Others may follow.
    path.write_text("\n".join([*lines, "best,97.85,97.90", "std,20.1,19.8"]))
    with pytest.raises(ReadError, match="line 21: this line has the means of the first 19 lines"):
        pt.read(path, id="Class", a=2, b=3)
    path.write_text("\n".join([*lines[:-1], "mIoU,70.97,69.23"]))  # a hundredth more
    assert len(pt.read(path, id="Class", a=2, b=3)) == 20


def test_one_measure_of_trec_eval(tmp_path, command_line):
    def written(end):
        for name in ("bm25", "colbert"):
            lines = (CASES / f"trec/{name}.eval").read_text().splitlines()
            (tmp_path / name).write_text("\n".join([x for x in lines if x[:4] == "map "][:end]))
        return f"{tmp_path / 'bm25'} {tmp_path / 'colbert'} --id 2 --score 3"

    err = command_line("compare", *split(written(None)))[2]
    assert "line 51: this line has the means of the first 50 lines" in err
    assert pvalue(command_line, written(-1)) == pytest.approx(0.5085, abs=1e-4)
