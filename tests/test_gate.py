"""The guard of speed notices what is slow, and lets pass what is not."""

import json
import time

import pytest

from benchmarks import gate
from benchmarks.gate import Job


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Little patience, few tries."""
    monkeypatch.setattr(gate, "PATIENCE", 0.01)
    monkeypatch.setattr(gate, "TRIES", 2)


def job(multiple):
    """It takes so many times as long as its yardstick."""
    return Job("sleep", lambda: time.sleep(0.002 * multiple), lambda: time.sleep(0.002))


def test_every_job_is_on_record():
    record = json.loads(gate.RECORD.read_text(encoding="utf-8"))
    assert [one.name for one in gate.jobs()] == list(record)


@pytest.mark.parametrize(("multiple", "slow"), [(1, 0), (2, 0), (30, 1)])
def test_what_became_slow_is_noticed(multiple, slow, monkeypatch, tmp_path, capsys):
    record = tmp_path / "gate.json"
    record.write_text('{"sleep": 2.0}', encoding="utf-8")
    monkeypatch.setattr(gate, "jobs", lambda: iter([job(multiple)]))
    assert gate.main([], record) == slow
    assert ("times the record: sleep" in capsys.readouterr().out) == bool(slow)


def test_a_job_that_is_not_on_record_is_asked_for(monkeypatch, tmp_path, capsys):
    record = tmp_path / "gate.json"
    record.write_text("{}", encoding="utf-8")
    monkeypatch.setattr(gate, "jobs", lambda: iter([job(1)]))
    assert gate.main([], record) == 1
    assert gate.main(["--record"], record) == 0
    assert gate.main([], record) == 0
    assert 0.5 < json.loads(record.read_text(encoding="utf-8"))["sleep"] < 2
    assert "none is slow" in capsys.readouterr().out


def test_a_slow_moment_is_measured_again():
    laps = iter([0.05, 0.05, *[0.0] * 1000])
    moody = Job("moody", lambda: time.sleep(next(laps)), lambda: time.sleep(0.002))
    _, ratio = gate.measure(moody, limit=0.5)
    assert ratio < 0.5
