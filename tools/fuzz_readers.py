"""Make hostile files of every format, and hold the readers to their contract.

    PYTHONPATH=. python tools/fuzz_readers.py --files 100000 --seed 0
    PYTHONPATH=. python tools/fuzz_readers.py --seed 0 --only 4711    # one case again
    PYTHONPATH=. python tools/fuzz_readers.py --huge                  # of hundreds of megabytes

The same seed and number make the same files. What breaks the contract is written to
``build/fuzz/SEED-NUMBER``: the files, and why. A process that dies is replaced.
"""

from __future__ import annotations

import argparse
import faulthandler
import multiprocessing
import queue
import resource
import sys
import time
import traceback
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

from fuzz import huge
from fuzz.contract import SECONDS, Broken, Hang, Outcome, check
from fuzz.mutations import hostile, valid
from fuzz.seeds import Case, case, frame_of

from permtest.readers import File

FOLDER = Path(__file__).resolve().parents[1] / "build" / "fuzz"

#: Bytes that a file may make a worker take beyond what it has at the start.
MEMORY = 2**30

#: Seconds without a sign of life after which a worker is dead.
DEAD = 60

#: Cases between two messages of a worker.
BATCH = 100


def sources(chosen: Case, names: list[str], contents: list[bytes], rng: Random) -> tuple[Any, Any]:
    """What is handed to the readers: files or frames, and what is right."""
    files: list[Any] = [File(*both) for both in zip(names, contents, strict=True)]
    gold = files.pop() if chosen.gold == "file" else chosen.gold
    if rng.random() < 0.05:
        gold = rng.choice([None, "y_true", "nonsense", *files])
    if chosen.format == "frame":
        files = [frame_of(file.data, rng) for file in files]
    return files, gold


def attempt(seed: int, number: int, limit: float = SECONDS) -> tuple[int, Outcome]:
    """Make the files of a case and read them; returns how many, and what came of them."""
    rng = Random(f"{seed}:{number}")
    chosen = case(rng)
    names, contents = hostile(chosen, rng)
    files, gold = sources(chosen, names, contents, rng)
    return len(names), check(files, gold, rng, limit)


def save(seed: int, number: int, why: str) -> None:
    """Write the files of a case and why they were kept."""
    rng = Random(f"{seed}:{number}")
    names, contents = hostile(case(rng), rng)
    folder = FOLDER / f"{seed}-{number}"
    folder.mkdir(parents=True, exist_ok=True)
    for i, data in enumerate(contents):
        (folder / f"file{i}").write_bytes(data)
    why = f"{names!r}\n{why}"
    (folder / "why.txt").write_text(why, encoding="utf-8", errors="backslashreplace")


@dataclass
class Summary:
    """What came of many cases."""

    files: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    slowest: tuple[float, int, str] = (0.0, 0, "")
    memory: tuple[int, int] = (0, 0)  # kB, and the case at which it was reached
    broken: dict[int, str] = field(default_factory=dict)

    def add(self, seed: int, number: int) -> None:
        """Try a case."""
        faulthandler.dump_traceback_later(DEAD, exit=True)
        try:
            files, outcome = attempt(seed, number)
        except (Exception, Hang) as error:
            files, outcome = 0, Outcome()
            self.broken[number] = f"{error!s:.300}"
            save(seed, number, "".join(traceback.format_exception(error)))
        faulthandler.cancel_dump_traceback_later()
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self.join(
            Summary(files, outcome.kinds, (outcome.slowest, number, outcome.call), (used, number))
        )

    def join(self, other: Summary) -> None:
        """Add what came of other cases."""
        self.files += other.files
        self.kinds += other.kinds
        self.slowest = max(self.slowest, other.slowest)
        self.memory = max(self.memory, other.memory, key=lambda both: (both[0], -both[1]))
        self.broken |= other.broken


# ---- processes ---------------------------------------------------------------------------------


def work(seed: int, start: int, step: int, at: Any, results: Any) -> None:
    """Try cases without end, beginning with one."""
    warm_up()
    pages = Path("/proc/self/statm")
    if pages.exists():
        most = int(pages.read_text().split()[0]) * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    summary = Summary()
    for done in count(1):
        at.value = start + (done - 1) * step
        summary.add(seed, at.value)
        if done % BATCH == 0:
            results.put(summary)
            summary = Summary()


def warm_up() -> None:
    """Read files that are valid, so that all is loaded and compiled that reading them takes."""
    for number in range(100):
        rng = Random(f"valid:{number}")
        chosen = case(rng)
        with suppress(Broken):
            check(*sources(chosen, *valid(chosen, rng), rng), rng, limit=DEAD)


class Worker:
    """A process that tries every `step`-th case."""

    def __init__(self, seed: int, start: int, step: int, results: Any) -> None:
        spawn = multiprocessing.get_context("spawn")
        self.at = spawn.Value("q", start)
        arguments = (seed, start, step, self.at, results)
        self.process = spawn.Process(target=work, args=arguments, daemon=True)
        self.process.start()


def run(seed: int, files: int, cores: int) -> Summary:
    """Try cases on several cores until there were so many files."""
    total, start = Summary(), time.perf_counter()
    results = multiprocessing.get_context("spawn").Queue()
    workers = [Worker(seed, i, cores, results) for i in range(cores)]
    while total.files < files:
        with suppress(queue.Empty):
            total.join(results.get(timeout=1))
        for i, worker in enumerate(workers):
            if not worker.process.is_alive():
                number = worker.at.value
                total.broken[number] = f"the process died ({worker.process.exitcode})"
                save(seed, number, total.broken[number])
                workers[i] = Worker(seed, number + cores, cores, results)
        rate = total.files / (time.perf_counter() - start)
        line = f"\r{total.files} files, {rate:.0f}/s, {len(total.broken)} broken"
        print(line, end="", file=sys.stderr, flush=True)
    for worker in workers:
        worker.process.terminate()
    print(file=sys.stderr)
    return total


def report(total: Summary, seconds: float) -> None:
    """Print the figures of a run."""
    print(f"{total.files} files in {seconds:.0f} s ({total.files / seconds:.0f}/s)")
    print(f"slowest call {total.slowest[0]:.2f} s: case {total.slowest[1]}, {total.slowest[2]}")
    print(f"largest process {total.memory[0] / 1024:.0f} MiB, from case {total.memory[1]} on")
    number = total.kinds.total()
    print(f"{number} cases, of which came")
    for kind, times in total.kinds.most_common(40):
        print(f"{times / number:8.2%} {kind}")
    rest = total.kinds.most_common()[40:]
    print(f"{sum(times for _, times in rest) / number:8.2%} {len(rest)} other messages")
    for case_, why in sorted(total.broken.items()):
        print(f"BROKEN {case_}: {why}")


def main() -> None:
    """Run what the command line asks for; the exit status says whether the contract held."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--huge", nargs="?", const="", metavar="NAME", help="large files instead")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="one case, in this process")
    options = parser.parse_args()
    if options.only is not None:
        try:
            print(attempt(options.seed, options.only))
        except (Broken, Hang):
            save(options.seed, options.only, traceback.format_exc())
            raise
        return
    if options.huge is not None:
        sys.exit(not huge.try_all(options.huge))
    start = time.perf_counter()
    total = run(options.seed, options.files, options.cores)
    report(total, time.perf_counter() - start)
    sys.exit(1 if total.broken else 0)


if __name__ == "__main__":
    main()
