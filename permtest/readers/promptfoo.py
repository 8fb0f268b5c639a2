"""Results of promptfoo, as ``promptfoo eval -o results.json`` writes them.

``results.results`` has a result for each test and each combination of a provider and a prompt,
which is a system: ``testIdx``, ``promptIdx``, ``provider``, ``prompt``, ``success``, ``score``,
``namedScores``. Traps:

- All systems are in one file. ``promptIdx`` numbers the combinations, not the prompts.
- With ``--repeat`` a test has several ``testIdx``; these are not independent: tests with the same
  variables are swapped together.
- A call that failed has ``error`` and ``failureReason`` 2. promptfoo counts it as failed, with
  the score 0, and so does this reader; it has no named scores, and is left out of those.
- Before version 3 of the results there is no ``testIdx``.

``.jsonl`` has one of these results a line.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256

from permtest.readers.files import File, ReadError
from permtest.readers.names import told_apart
from permtest.readers.outline import outline, row_keys
from permtest.readers.scores import Format, SystemScores
from permtest.readers.values import (
    LONGEST,
    MOST,
    TEXT,
    Record,
    Scores,
    records_of,
    rows_of,
    short,
)

#: What promptfoo calls an error, in distinction from an answer that is wrong.
ERROR = 2

OWN = ("score", "success")


@dataclass
class _System:
    """A combination of a provider and a prompt."""

    provider: str
    prompt: str
    number: str
    scores: Scores
    places: dict[str, str] = field(default_factory=dict)  # of each test's result
    errors: int = 0


def recognises(file: File) -> bool:
    """Whether the file begins as results of promptfoo do."""
    if row_keys(file) >= {"testIdx", "promptIdx"}:
        return True
    keys = outline(file)
    return (
        ("results", "results", "*") in keys
        or keys >= {("results", "version"), ("results", "prompts")}
        or keys >= {("results", "*", "testIdx"), ("results", "*", "promptIdx")}
    )


def load(file: File) -> list[SystemScores]:
    """The scores of each combination of a provider and a prompt.

    Parameters
    ----------
    file : File

    Returns
    -------
    list of SystemScores
    """
    systems: dict[str, _System] = {}
    tests: dict[str, tuple[str, str]] = {}
    for result in _results(file):
        test, number = (_index(result, name) for name in ("testIdx", "promptIdx"))
        if number not in systems:
            provider, prompt = _provider(result), _prompt(result)
            systems[number] = _System(provider, prompt, number, Scores(file))
        if len(systems) > MOST:
            raise result.error(f"more than {MOST} combinations of providers and prompts; split it")
        # All systems have had the variables of the first, whatever was added to them on the way.
        if test not in tests:
            tests[test] = _variables(result)
        _keep(systems[number], test, result)
    if not systems:
        raise ReadError.at(file.path, "holds no result; run the evaluation, and write it again")
    found = list(systems.values())
    return [_system(file, name, one, tests) for name, one in zip(_names(found), found, strict=True)]


def _index(result: Record, name: str) -> str:
    if result.get(name) is None:
        remedy = "evaluate again with a newer promptfoo (version 3 of the results)"
        raise result.error(f"there is no {name} to tell results apart by; {remedy}")
    return str(result.whole(name, 0))


def _names(systems: list[_System]) -> list[str]:
    """Names that all differ: of the provider, with the prompt and a number where needed."""
    numbers = [one.number for one in systems]
    providers = [one.provider for one in systems]
    names = told_apart(providers, [one.prompt for one in systems], numbers)
    if len(set(names)) == len(names):
        return names
    return [f"{name} ({number})" for name, number in zip(providers, numbers, strict=True)]


def _results(file: File) -> Iterable[Record]:
    if row_keys(file) >= {"testIdx", "promptIdx"}:
        return rows_of(file)
    whole = Record.of(file, file.document, "the file")
    results = whole.get("results")
    if isinstance(results, dict):
        results = whole.record("results").array("results")
    return records_of(file, results, "result")


def _provider(result: Record) -> str:
    """What the provider is called: its label, else its id."""
    if isinstance(result.get("provider"), str):
        return result.needed("provider")
    provider = result.record("provider")
    return provider.label("label") or provider.needed("id")


def _prompt(result: Record) -> str:
    prompt = result.get("prompt")
    if isinstance(prompt, dict):
        inner = result.record("prompt")
        prompt = inner.get("label") or inner.get("raw")
    return short(prompt or "no prompt", 80)


def _variables(result: Record) -> tuple[str, str]:
    """The variables of a test, "" if it has none, and what it is for people to read."""
    variables = result.record("testCase").record("vars")
    if not variables.values:
        variables = result.record("vars")
    said = {name: one for name, one in variables.values.items() if not name.startswith("_")}
    if not said:
        return "", ""
    text = Record(result.file, said, variables.place).json()
    if len(text) > LONGEST:
        text = f"{text[:TEXT]}... {sha256(text.encode()).hexdigest()}"
    return text, short(next(iter(said.values())) if len(said) == 1 else said)


def _keep(system: _System, test: str, result: Record) -> None:
    if test in system.places:
        problem = f"the test of {system.places[test]} again, with the same provider and prompt"
        raise result.error(f"{problem}; keep one result of each")
    system.places[test] = result.place
    failed = result.get("failureReason") == ERROR
    system.errors += failed
    for name in OWN:
        value = 0 if failed and result.get(name) is None else result.get(name)
        system.scores.put(test, name, value, result)
    for name, value in result.record("namedScores").values.items():
        system.scores.put(test, f"namedScores.{name}" if name in OWN else name, value, result)


def _system(file: File, name: str, one: _System, tests: dict[str, tuple[str, str]]) -> SystemScores:
    # Without variables, as where promptfoo strips them, every test is one of its own.
    groups = [tests[test][0] or test for test in one.places]
    notes = list(one.scores.notes)
    if one.errors:
        notes.append(f"{one.errors} calls of {name} failed and count as wrong, as in promptfoo")
    return SystemScores(
        system=name,
        file=file,
        scores=one.scores.columns(list(one.places)),
        paired_by="testIdx",
        ids=list(one.places),
        clusters={"variables": groups},
        swapped="variables" if len(set(groups)) < len(groups) else None,
        agree={"variables": groups},
        texts=[tests[test][1] for test in one.places],
        notes=tuple(notes),
        places=list(one.places.values()),
    )


FORMAT = Format(
    name="promptfoo",
    title="promptfoo results",
    rows="a test's score, success and named scores for each provider and prompt",
    pairs_on="testIdx",
    example="permtest compare results.json --a openai:gpt-5 --b anthropic:claude --score success",
    names_scores=True,
    recognises=recognises,
    load=load,
)
