"""Changed files, read: pairs, or an error that says what to do, and nothing else.

PYTHONPATH=. python tools/fuzz_readers.py --files 100000 --seed 0
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
import warnings
from collections import Counter
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from fuzz.mutations import hostile
from fuzz.seeds import MAKERS, Case, frame_of

from permtest.readers import File, ReadError, recognise

#: Seconds that a case may take.
SLOW = 5.0


def pairs_of(chosen: Case, names: list[str], contents: list[bytes], rng: Random) -> Any:
    """The pairs in the files of a case."""
    made = [File(*both) for both in zip(names, contents, strict=True)]
    gold = made.pop() if chosen.gold == "file" else chosen.gold
    if chosen.format == "frame":
        made = [frame_of(one.data, rng) for one in made]
    found = recognise(*made, gold=gold)
    a, b = found.systems[:2] if len(found.systems) > 1 else (None, None)
    score = next(iter(found.score_names(a, b)), None) if a is not None else None
    statistic = found.statistics(a, b, score)[0] if a is not None else "sum"
    return found.pairs(a, b, score=score, statistic=statistic)


def attempt(number: str) -> str:
    """What became of one case."""
    rng = Random(number)
    chosen, start = MAKERS[rng.choice([*MAKERS])](rng), time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            pairs_of(chosen, *hostile(chosen, rng), rng)
    except (ReadError, ImportError) as error:
        return "refused" if ";" in str(error) and len(str(error)) <= 1000 else f"BAD WORDS {error}"
    except Exception:
        return f"TRACEBACK {number}\n{traceback.format_exc()}"
    return "read" if time.perf_counter() - start < SLOW else f"SLOW {number}"


def main() -> None:
    """Run what the command line asks for; the exit status says whether anything broke."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args()
    numbers = (f"{options.seed}-{i}" for i in range(options.files))
    found: Counter[str] = Counter()
    with get_context("spawn").Pool(options.cores) as pool:
        for outcome in pool.imap_unordered(attempt, numbers, chunksize=50):
            found[outcome.split()[0]] += 1
            if outcome[0].isupper() and found[outcome.split()[0]] <= 20:
                print(outcome, flush=True)
    for outcome, times in found.most_common():
        print(f"{times:8d} {outcome}")
    sys.exit(any(outcome in found for outcome in ("TRACEBACK", "SLOW", "BAD")))


if __name__ == "__main__":
    main()
