"""The guard of speed notices what is slow, and lets pass what is not."""

import json

import pytest

from benchmarks import gate
from benchmarks.gate import Job


class Clock:
    """A clock that goes on only where somebody works."""

    now = 0.0

    def perf_counter(self):
        return self.now

    def work(self, seconds):
        self.now += seconds


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(gate, "time", made)
    return made


def job(clock, multiple):
    """It takes so many times as long as its yardstick."""
    return Job("work", lambda: clock.work(0.002 * multiple), lambda: clock.work(0.002))


def test_every_job_is_on_record():
    record = json.loads(gate.RECORD.read_text(encoding="utf-8"))
    assert [one.name for one in gate.jobs()] == list(record)


@pytest.mark.parametrize(("multiple", "slow"), [(1, 0), (2, 0), (30, 1)])
def test_what_became_slow_is_noticed(multiple, slow, clock, monkeypatch, tmp_path, capsys):
    record = tmp_path / "gate.json"
    record.write_text('{"work": 2.0}', encoding="utf-8")
    monkeypatch.setattr(gate, "jobs", lambda: iter([job(clock, multiple)]))
    assert gate.main([], record) == slow
    assert ("times the record: work" in capsys.readouterr().out) == bool(slow)


def test_a_job_that_is_not_on_record_is_asked_for(clock, monkeypatch, tmp_path, capsys):
    record = tmp_path / "gate.json"
    record.write_text("{}", encoding="utf-8")
    monkeypatch.setattr(gate, "jobs", lambda: iter([job(clock, 1)]))
    assert gate.main([], record) == 1
    assert gate.main(["--record"], record) == 0
    assert gate.main([], record) == 0
    assert json.loads(record.read_text(encoding="utf-8")) == {"work": 1.0}
    assert "none is slow" in capsys.readouterr().out


def test_a_slow_moment_is_measured_again(clock):
    laps = iter([1.0, 1.0, *[0.001] * 10_000])
    moody = Job("moody", lambda: clock.work(next(laps)), lambda: clock.work(0.002))
    assert gate.measure(moody, limit=0.6) == pytest.approx((0.001, 0.5))
