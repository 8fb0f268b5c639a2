"""A configuration says everything, comes back as it was written, and names what is wrong."""

import dataclasses
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from permtest.study.config import LARGEST_FILE, StudyConfig
from permtest.study.options import TESTS, options

OTHER = {
    "seed": 7,
    "data": {"a": "new: <x>", "b": 2, "names": ["new", "old"], "higher_is_better": False},
    "units": {
        "size": 15,
        "metric": "median",
        "shuffle": 3,
        "remainder": "keep",
        "tolerance": 1e-05,
        "sizes": [1, 5, 10],
    },
    "recommendation": {"alpha": 0.01, "rule": "manual"},
    "significance": {
        "tests": ["sign", "wilcoxon"],
        "alternative": "greater",
        "delta": -0.5,
        "alpha": 0.1,
        "K": 99,
    },
    "effects": {"estimators": [], "confidence_level": 0.9},
    "power": {
        "test": "paired_t",
        "method": "normal",
        "sizes": [20, 40],
        "experiments": 10,
        "delta": 0.25,
        "K": 50,
        "alpha": 0.2,
    },
    "prospective": {"delta": 2.0, "sigma": 1e22, "power": 0.9, "alpha": 0.05},
    "report": {"formats": ["md"]},
}


def written(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "study.yml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def leaves(values: dict) -> dict[str, object]:
    """Option -> value, sections as prefixes."""
    flat = {key: value for key, value in values.items() if not isinstance(value, dict)}
    for key in values.keys() - flat.keys():
        flat |= {f"{key}.{name}": value for name, value in values[key].items()}
    return flat


# ---- there and back ----------------------------------------------------------------------------


def test_the_other_values_differ_everywhere():
    """So that the next tests see every option."""
    default, other = leaves(StudyConfig().to_dict()), leaves(OTHER)
    assert default.keys() == other.keys()
    assert not [key for key in default if default[key] == other[key]]


@pytest.mark.parametrize("values", [{}, OTHER], ids=["defaults", "others"])
def test_every_value_comes_back(tmp_path, values):
    config = StudyConfig.from_dict(values)
    assert StudyConfig.from_dict(config.to_dict()) == config
    text = config.to_yaml()
    assert StudyConfig.from_yaml(written(tmp_path, text)) == config
    assert yaml.safe_load(text) == config.to_dict()


@given(st.text(min_size=1), st.floats(allow_nan=False, allow_infinity=False))
def test_any_name_and_number_come_back(name, number):
    values = {"data": {"a": name}, "significance": {"delta": number}}
    config = StudyConfig.from_dict(values)
    assert StudyConfig.from_dict(yaml.safe_load(config.to_yaml())) == config


def test_every_option_is_explained():
    lines = StudyConfig().to_yaml().splitlines()
    assert max(map(len, lines)) <= 100
    for i, line in enumerate(lines):
        if re.match(r" *\w+:", line):
            assert lines[i - 1].strip().startswith("#"), line
    assert sum("Allowed: " in line for line in lines) > 0
    text = " ".join(line.strip(" #") for line in lines)
    assert text.count("Allowed: ") == len(leaves(StudyConfig().to_dict()))


def test_comments_alone_are_the_defaults(tmp_path):
    assert StudyConfig.from_yaml(written(tmp_path, "# nothing\n")) == StudyConfig()
    assert StudyConfig.from_yaml(written(tmp_path, "units:\n# size: 3\n")) == StudyConfig()
    assert StudyConfig.from_yaml(written(tmp_path, b"\xef\xbb\xbfseed: 3\n")).seed == 3


def test_a_configuration_does_not_change():
    with pytest.raises(dataclasses.FrozenInstanceError):
        StudyConfig().seed = 3
    with pytest.raises(dataclasses.FrozenInstanceError):
        StudyConfig().units.size = 3


def test_names_of_tests_are_those_of_compare_all():
    """All tests of scores that are 0 or 1, which are all there are."""
    from permtest.alternatives.compare import compare_all

    table = compare_all([1, 1, 0, 1, 1], [0, 1, 1, 0, 0], K=9)
    assert {answer.test for answer in table} == set(TESTS)


# ---- errors ------------------------------------------------------------------------------------

WRONG = [
    ({"sead": 3}, "sead: there is no such option; did you mean seed?"),
    ({"units": {"sise": 3}}, "units.sise: there is no such option; did you mean units.size?"),
    ({"units": {"xyz": 3}}, "units.xyz: there is no such option; there are size, metric, shuffle"),
    ({3: 3}, "3: there is no such option"),
    ({"units": 15}, "units: 15 is no mapping of options to values"),
    ({"units": {"size": "ten"}}, "units.size: 'ten' is not a whole number of at least 1"),
    ({"units": {"size": 0}}, "units.size: 0 is not a whole number of at least 1"),
    ({"units": {"size": True}}, "units.size: True is not a whole number"),
    ({"units": {"size": 1.5}}, "units.size: 1.5 is not a whole number"),
    ({"units": {"metric": "mode"}}, "units.metric: 'mode' is not one of mean, median"),
    ({"units": {"sizes": [5, 1]}}, "units.sizes: [5, 1] is not a list of different whole numbers"),
    ({"units": {"tolerance": -1}}, "units.tolerance: -1 is not a number of at least 0, or null"),
    ({"units": {"sizes": [1, 1]}}, "units.sizes: [1, 1] is not a list of different whole numbers"),
    ({"significance": {"alpha": 5}}, "significance.alpha: 5 is not a number between 0 and 1"),
    (
        {"significance": {"alpha": "5e-2"}},
        "significance.alpha: '5e-2' is not a number between 0 and 1, both excluded; it is text: "
        "without quotes, and with a decimal point, it is the number 0.05",
    ),
    ({"significance": {"delta": float("nan")}}, "significance.delta: nan is not a finite number"),
    (
        {"significance": {"tests": ["sgin"]}},
        "significance.tests: ['sgin'] is not all or recommended or a list without repetition, of",
    ),
    ({"significance": {"tests": "sign"}}, "significance.tests: 'sign' is not all or recommended"),
    ({"significance": {"tests": []}}, "significance.tests: [] is not all"),
    ({"effects": {"estimators": ["cohen_d"] * 2}}, "effects.estimators: ['cohen_d', 'cohen_d'] is"),
    (
        {"data": {"names": ["a", "a"]}},
        "data.names: ['a', 'a'] is not a list of two different names",
    ),
    ({"data": {"a": False}}, "data.a: False is not the name of a column, or its number counted"),
    ({"prospective": {"sigma": 0}}, "prospective.sigma: 0 is not a number above 0"),
    ({"seed": -1}, "seed: -1 is not a whole number of at least 0"),
]


@pytest.mark.parametrize(("values", "message"), WRONG, ids=[text[:30] for _, text in WRONG])
def test_errors_name_option_value_and_what_is_allowed(values, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        StudyConfig.from_dict(values)


def test_errors_are_one_line_however_long_the_value(tmp_path):
    text = f"units:\n  size: {'x' * 3000}\n"
    with pytest.raises(ValueError, match=r"units\.size: ") as caught:
        StudyConfig.from_yaml(written(tmp_path, text))
    assert len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)


FILES = {
    "not a mapping": ("- seed\n", "the configuration: ['seed'] is no mapping"),
    "twice": ("seed: 1\nseed: 2\n", "line 2: 'seed' is there twice; remove one"),
    "twice below": ("units:\n  size: 1\n  size: 2\n", "line 3: 'size' is there twice"),
    "no YAML": ("seed: [1\n", "line 2: not YAML: "),
    "a tab": ("units:\n\tsize: 1\n", "line 2: not YAML: "),
    "an object": ("seed: !!python/object/apply:os.getcwd []\n", "not YAML: could not determine"),
    "deep": ("[" * 1200, "nested too deeply"),
    "long": ("#" * (LARGEST_FILE + 1), "has more than 65536 bytes"),
    "not UTF-8": (b"seed: \xff\n", "byte 7 is not UTF-8"),
    "control": (b"seed: \x01\n", "not YAML: "),
}


@pytest.mark.parametrize(("text", "message"), FILES.values(), ids=FILES)
def test_a_file_that_is_wrong_is_named(tmp_path, text, message):
    path = written(tmp_path, text)
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        StudyConfig.from_yaml(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ValueError, match="there is no such file"):
        StudyConfig.from_yaml(tmp_path / "none.yml")
    with pytest.raises(ValueError, match="this is a folder"):
        StudyConfig.from_yaml(tmp_path)


def test_sections_are_of_their_kind():
    with pytest.raises(ValueError, match="units: 15 is no UnitOptions"):
        StudyConfig(units=15)
    names = [option.name for option in options(StudyConfig)]
    assert names == list(StudyConfig().to_dict())


def test_without_pyyaml(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "yaml", None)
    with pytest.raises(ImportError, match=re.escape("pip install 'permtest[study]'")):
        StudyConfig.from_yaml(written(tmp_path, "seed: 1\n"))
    assert StudyConfig().to_yaml()  # needs none
