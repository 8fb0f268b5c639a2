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


def test_what_is_not_on_record_or_became_slow_is_noticed(clock, monkeypatch, tmp_path, capsys):
    record = tmp_path / "gate.json"
    record.write_text("{}", encoding="utf-8")

    def said(multiple, *options):
        monkeypatch.setattr(gate, "jobs", lambda: iter([job(clock, multiple)]))
        return gate.main([*options], record), capsys.readouterr().out

    assert said(2)[0] == 1
    assert said(2, "--record")[0] == 0
    assert json.loads(record.read_text(encoding="utf-8")) == {"work": 2.0}
    assert all("none is slow" in said(multiple)[1] for multiple in (1, 2))
    assert said(30)[0] == 1
    assert "times the record: work" in said(30)[1]


def test_a_slow_moment_is_measured_again(clock):
    laps = iter([1.0, 1.0, *[0.001] * 10_000])
    moody = Job("moody", lambda: clock.work(next(laps)), lambda: clock.work(0.002))
    assert gate.measure(moody, limit=0.6) == pytest.approx((0.001, 0.5))
