"""``permtest study``: describe, test, measure, plan, and write it all down."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from permtest.cli import options
from permtest.cli.inputs import FILES, add_no_clusters, add_rows, add_score, add_systems, reading
from permtest.cli.shared import EXIT_CODES, print_text, print_written
from permtest.readers import read
from permtest.study.pipeline import StudyConfig

if TYPE_CHECKING:
    from permtest.cli.shared import Commands
    from permtest.pairs import Pairs
    from permtest.study.pipeline import Study

TITLE = "compare two systems by all tests, with effect sizes, power and a report"
DESCRIPTION = """\
Everything around one question, is system A better than system B: describes the scores, recommends
tests, makes them side by side, estimates how large the difference is, what power such a test has
and how many items another study needs; and writes a report that says how to repeat it."""

EPILOG = f"""\
{FILES}

Whatever can be chosen is in a configuration, with a comment for each option: --write-config
makes one to edit, --config reads it, and what the command line says goes before it. A report
has the configuration beside it, as study.yml, which repeats the study with the same bytes.

examples:
  permtest study scores.txt
  permtest study results.csv --a new --b old --out report
  permtest study results.csv --a new --b old --write-config study.yml
  permtest study results.csv --config study.yml --out report --force

{EXIT_CODES}"""


def add_study(commands: Commands) -> None:
    """Add the command to the parser of all commands."""
    parser = options.add_command(commands, "study", _study, TITLE, DESCRIPTION, EPILOG)
    add_systems(parser, a="system A: a column by name, or number from 1")
    add_score(parser)
    options.add_direction(parser)
    add_no_clusters(parser, "study items by themselves")
    add_rows(parser)
    parser.add_argument("--config", metavar="YAML", help="options of the study; see below")
    parser.add_argument("--seed", metavar="N", type=int, help="of everything random; default: 0")
    parser.add_argument(
        "--out",
        metavar="FOLDER",
        help="write a report, and print one sentence; default: print all of it",
    )
    parser.add_argument(
        "--write-config",
        metavar="YAML",
        help="write the options, each explained, and stop before the study",
    )
    options.add_json_and_force(parser)


def _study(args: argparse.Namespace) -> None:
    from permtest.study.pipeline import run_study

    config = _configuration(args)
    if args.write_config is not None:
        _check_exclusive(args)
        _write_config(config, Path(args.write_config), args.force)
        return
    if args.out is not None:
        _check_folder(Path(args.out), args.force)
    try:
        pairs = _read(args, config)
    except ValueError as error:
        if "--metric" not in str(error):
            raise
        raise ValueError(
            f"{str(error).partition(';')[0]}; a study is of one score for each item and system "
            "(for counts there is permtest compare --metric)"
        ) from None
    study = run_study(pairs, config=config)
    if args.json:
        print_text(study.to_json())
    else:
        print_text(study.sentence() if args.out is not None else str(study))
    if args.out is not None:
        _report(study, args)


def _read(args: argparse.Namespace, config: StudyConfig) -> Pairs:
    """The scores of items that are independent, as all of a study takes them to be."""
    where = {"a": config.a, "b": config.b, "gold": args.gold}
    pairs = read(args.file, args.file_b, statistic="mean", **where, **reading(args))
    if pairs.clusters is not None:
        raise ValueError(
            f"{args.file}: {len(pairs)} items are in {len(set(pairs.clusters))} clusters, and a "
            "study is of items that are independent; permtest report handles clusters, or "
            "--no-clusters studies the items by themselves"
        )
    return pairs


def _configuration(args: argparse.Namespace) -> StudyConfig:
    """The file's, with what the command line says in its place."""
    config = StudyConfig() if args.config is None else StudyConfig.from_yaml(args.config)
    if args.seed is not None:
        options.check_seed(args.seed)
        config = replace(config, seed=args.seed)
    a, b = (_column(args, key) or getattr(config, key) for key in ("a", "b"))
    way = config.higher_is_better if args.higher_is_better is None else args.higher_is_better
    return replace(config, a=a, b=b, higher_is_better=way)


def _column(args: argparse.Namespace, key: str) -> str | None:
    text: str | None = getattr(args, key)
    if text == "":
        raise ValueError(f"--{key} needs the name of a column, or its number")
    return text


def _check_exclusive(args: argparse.Namespace) -> None:
    """Nothing that was asked for is left out in silence."""
    for option, value in (("--out", args.out), ("--json", args.json)):
        if value:
            raise ValueError(
                f"--write-config stops before the study; leave out {option}, or --write-config"
            )


def _write_config(config: StudyConfig, path: Path, force: bool) -> None:
    from permtest.report import write_files

    options.check_file("--write-config", path, force)
    write_files(path.parent, {path.name: config.to_yaml().encode()})
    print_text(f"wrote {path}; edit it, then: permtest study FILE --config {path}")


def _check_folder(folder: Path, force: bool) -> None:
    """Refuse before computing what could not be written after it."""
    from permtest.report import check_report
    from permtest.study import Study

    with options.checking_out(force, "folder"):
        check_report(folder, overwrite=force, kind=Study)
    options.check_installed(["jinja2", "matplotlib"], "--out", "study")


def _report(study: Study, args: argparse.Namespace) -> None:
    from permtest.report import write_report

    written = write_report(study, args.out, overwrite=args.force)
    if not args.json:
        print_written(written)
