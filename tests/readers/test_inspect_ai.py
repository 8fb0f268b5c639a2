"""Logs of Inspect: values, epochs, and archives that may be damaged or malicious."""

import re
import struct
import zipfile
from contextlib import suppress
from fractions import Fraction

import pytest

from permtest.readers import ReadError, inspect_ai
from permtest.readers.evaluation import ItemEvaluation
from permtest.readers.files import File
from permtest.readers.inspect_ai import FORMAT, load
from tests.readers.made import archive, eval_parts, header, inspect_json, sample


def of(*samples, **options):
    return load(inspect_json(samples, **options))[0]


def damaged(problem, parts=None, method=93, change=lambda data: data):
    file = archive(eval_parts([sample(1, 1)]) if parts is None else parts, method)
    with pytest.raises(ReadError, match=problem):
        load(File("a.eval", change(file.data)))


# ---- what a log says ---------------------------------------------------------------------------


def test_values_are_those_of_inspect():
    values = ["C", "I", "P", "N", 0.25, True, "0.5", "yes", "no", float("nan"), None]
    one = of(*(sample(i, value) for i, value in enumerate(values)))
    assert (
        one.scores["match"] == [1, 0, Fraction(1, 2), 0, 0.25, 1, Fraction(1, 2), 1, 0] + [None] * 2
    )


def test_a_scorer_may_have_several_values():
    many = {"scores": {"judge": {"value": {"style": "C", "facts": 0.5}}, "match": {"value": "I"}}}
    unscored = {"scores": {"judge": {"value": float("nan")}, "match": {"value": "C"}}}
    one = of(sample(1, 1, **many), sample(2, 1, **unscored))
    assert one.scores == {"judge.style": [1, None], "judge.facts": [0.5, None], "match": [0, 1]}
    assert one.notes == ("left out, being no number for each item: judge (no item has it)",)
    one = of(sample(1, [1, 2], scores={"a": {"value": [1]}, "b": {"value": "C"}}))
    assert list(one.scores) == ["b"]
    assert "a (an array, sample 1, 'scores')" in one.notes[0]


def test_samples_that_failed_have_no_score():
    one = of(sample(1, "C"), sample(2, 0, scores=None, error={"message": "x"}))
    assert one.scores == {"match": [1, None]}
    with pytest.raises(ReadError, match="there are no scores"):
        of(sample(1, 0, scores=None))


def test_epochs_are_swapped_with_their_sample():
    two = of(*(sample(i, "CI"[i == e], epoch=e) for e in (1, 2) for i in (1, 2)))
    assert two.ids == ["q1", "q2", "q1 (epoch 2)", "q2 (epoch 2)"]
    assert (two.swapped, two.clusters) == ("sample", {"sample": ["q1", "q2", "q1", "q2"]})
    again = of(*(sample(i, "C", epoch=e) for e in (2, 1) for i in (1, 2)), name="other")
    pairs = ItemEvaluation(FORMAT, (two, again)).pairs()
    assert pairs.clusters == ("q1", "q2", "q1", "q2")
    once = of(sample(1, "C"), sample(2, "C"), name="other")
    assert once.swapped is None
    pairs = ItemEvaluation(FORMAT, (two, once)).pairs()
    assert pairs.source["unmatched"] == [2, 0]


def test_a_number_and_its_text_are_one_id():
    one, other = of(sample(1, "C", id=1)), of(sample(1, "C", id="1"), name="other")
    assert len(ItemEvaluation(FORMAT, (one, other)).pairs()) == 1
    with pytest.raises(ReadError, match=r"'1' is the id and epoch of two items \(sample 1 and"):
        of(sample(1, "C", id=1), sample(1, "C", id="1"))


def test_targets_must_agree():
    one = of(sample(1, "C"))
    with pytest.raises(ReadError, match=r"another target \('2'\) than in logs/sums.json \('1'\)"):
        ItemEvaluation(FORMAT, (one, of(sample(1, "C", target="2"), name="b"))).pairs()


def test_a_run_that_did_not_finish_says_so():
    assert of(sample(1, "C")).notes == ()
    (note,) = of(sample(1, "C"), status="cancelled").notes
    assert note.startswith("sums.json is of a run that did not finish (cancelled)")
    with pytest.raises(ReadError, match=r"there are no samples; log them"):
        load(File("a.json", b'{"version": 2, "status": "success", "eval": {"model": "m"}}'))


def test_the_input_is_shown():
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "What?"}]},
        {"role": "assistant", "content": "That."},
    ]
    one = of(sample(1, "C"), sample(2, "C", input=messages), sample(3, "C", input=[{"role": 1}]))
    assert one.texts == ["What is 1?", "What?", '[{"role": 1}]']


# ---- archives ----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, 93])
@pytest.mark.parametrize(
    "left_out", [[], ["summaries.json"], ["summaries.json", "_journal/summaries/1.json"]]
)
def test_an_archive_holds_what_the_json_does(method, left_out):
    samples = [sample(i, "CIPN"[i]) for i in (3, 0, 2, 1)]
    parts = {name: part for name, part in eval_parts(samples).items() if name not in left_out}
    (one,) = load(archive(parts, method))
    other = of(*samples)
    for name in ("system", "scores", "ids", "clusters", "agree", "texts", "notes"):
        assert getattr(one, name) == getattr(other, name)


def test_a_log_that_broke_off_has_its_samples():
    samples = [sample(i, "C") for i in range(11)]
    parts = {"_journal/start.json": header()} | {
        f"_journal/summaries/{i + 1}.json": [one] for i, one in enumerate(samples)
    }
    del parts["_journal/start.json"]["status"]
    (one,) = load(archive(parts))
    assert one.ids == [f"q{i}" for i in range(11)]
    assert "did not finish (started)" in one.notes[0]
    parts["samples/q11_epoch_1.json"] = sample(11, "C")  # whose summary is missing
    (one,) = load(archive(parts))
    assert one.ids == ["q11"]


def test_early_versions_had_other_names():
    samples = [sample(1, "C")]
    parts = {"start.json": header(), "summary.json": samples, "results.json": {}}
    assert load(archive(parts))[0].ids == ["q1"]


def test_an_archive_of_something_else():
    damaged("an archive without header.json, so no log", {"x": b""})
    damaged("holds no score", {"header.json": header()})
    damaged("the text 'x' instead of an array", {"header.json": header(), "summaries.json": "x"})


def test_damage_is_found():
    damaged("is a damaged archive", change=lambda data: data[:-30])
    damaged(
        r"header.json: is damaged \(.*\); copy", change=lambda data: data.replace(b"(\xb5", b"xx")
    )
    damaged("header.json: not JSON", {"header.json": b"{"})
    damaged("header.json: not JSON", {"header.json": b"\xff"})
    damaged("header.json: JSON that is nested", {"header.json": b"[" * 10**5})
    damaged(
        "not what the archive says", method=0, change=lambda data: data.replace(b"sums", b"sumx")
    )


def test_encrypted_and_unknown_members_are_refused():
    def flagged(data):
        at = data.index(b"PK\1\2")
        return data[: at + 8] + b"\1\0" + data[at + 10 :]

    damaged("header.json: is encrypted", {"header.json": header()}, 0, flagged)
    damaged("compressed with method 12", {"header.json": header()}, zipfile.ZIP_BZIP2)


def test_no_byte_that_is_changed_does_any_harm():
    data = archive(eval_parts([sample(1, "C")]), 93).data
    for at in range(len(data)):
        other = data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]
        with suppress(ReadError):
            load(File("a.eval", other))


def test_bombs_are_refused(monkeypatch):
    parts = {"header.json": header(), "summaries.json": b"[" + b" " * 10**7 + b"]"}
    monkeypatch.setattr(inspect_ai, "MEMORY", 10**6)
    for method in (8, 93):
        damaged(
            r"summaries.json: unpacking the log up to here gives more than 0 MiB", parts, method
        )

    def small(data):  # says the list of the members
        at = data.rindex(struct.pack("<I", 10**7 + 2))
        return data[:at] + struct.pack("<I", 1000) + data[at + 4 :]

    for method in (8, 93):
        damaged("summaries.json: is damaged: not what the archive says", parts, method, small)
    monkeypatch.setattr(inspect_ai, "MEMBERS", 3)
    damaged("has more than 3 members")


def test_names_of_members_are_no_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parts = {"header.json": header(), "samples/../../../x.json": sample(1, "C")}
    assert load(archive(parts))[0].places == ["samples/../../../x.json"]
    assert list(tmp_path.iterdir()) == []


def test_zstandard_is_asked_for(monkeypatch):
    def missing(name):
        raise ImportError(name)

    file = archive(eval_parts([sample(1, "C")]), 93)
    monkeypatch.setattr(inspect_ai, "import_module", missing)
    with pytest.raises(ImportError, match=re.escape("pip install 'permtest[inspect]'")):
        load(file)
    assert load(archive(eval_parts([sample(1, "C")]), 8))[0].ids == ["q1"]
