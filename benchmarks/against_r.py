"""Hold p and intervals of the other tests against R: ``python -m benchmarks.against_r``.

Writes docs/against-r.md. Needs Rscript with the package exactRankTests.
"""

from __future__ import annotations

import subprocess
from functools import partial
from math import floor, isfinite
from typing import Any

import numpy as np

import permtest as pt
from benchmarks.report import DOCS
from permtest import alternatives as alt

SIDES = "two-sided", "greater", "less"

#: Each test in R, which gives an object with a p.value, or a number. `a` and `b` are the scores,
#: `d` their differences, `k` what makes them integers, `m` the table of right and wrong answers,
#: `w` that of both systems.
IN_R = {
    "paired t": "t.test(a, b, paired = TRUE, alternative = side)",
    "two-sample t": "t.test(a, b, var.equal = TRUE, alternative = side)",
    "Welch's t": "t.test(a, b, alternative = side)",
    "sign": "binom.test(sum(d > 0), sum(d != 0), alternative = side)",
    "Wilcoxon, exact": "wilcox.exact(a, b, paired = TRUE, exact = TRUE, alternative = side)",
    "exact permutation test of the mean": "perm.test(round(k * a), round(k * b), "
    "paired = TRUE, exact = TRUE, alternative = side)",
    "McNemar, exact": "binom.test(m[1, 2], m[1, 2] + m[2, 1], alternative = side)",
    "McNemar, chi-squared": "mcnemar.test(m, correct = FALSE)",
    "McNemar, corrected": "mcnemar.test(m)",
    "chi-squared": "chisq.test(w, correct = FALSE)",
    "z of two proportions": "prop.test(w, correct = FALSE, alternative = side)",
}
WITH_INTERVAL = "paired t", "two-sample t", "Welch's t"
#: The first six tests take all scores, the others only right and wrong ones; three have no sides.
SCRIPT = """
suppressMessages(library(exactRankTests))
options(warn = -1)
sides <- c("two.sided", "greater", "less")
for (i in seq_along(data)) {
  a <- data[[i]][[1]]; b <- data[[i]][[2]]; d <- a - b
  k <- if (all(c(a, b) %% 1 == 0)) 1 else 100
  binary <- all(c(a, b) %in% 0:1)
  m <- table(factor(a, c(1, 0)), factor(b, c(1, 0)))
  w <- rbind(c(sum(a), sum(1 - a)), c(sum(b), sum(1 - b)))
  for (j in if (binary) seq_along(tests) else 1:6) for (s in if (j %in% 8:10) 1 else 1:3) {
    side <- sides[s]; r <- eval(tests[[j]])
    p <- as.numeric(if (is.list(r)) r$p.value else r)
    ends <- if (is.list(r) && length(r$conf.int)) r$conf.int else c(0, 0)
    cat(sprintf("%d %d %d %.17g %.17g %.17g\\n", i, j, as.integer(s), p, ends[1], ends[2]))
  }
}
"""

Data = dict[str, tuple[list[float], list[float]]]


def data_sets() -> Data:
    """Ten pairs of systems: ties, zeros, decimals, heavy tails, and right or wrong answers."""
    rng = np.random.default_rng(20)
    base = rng.integers(0, 50, 80)
    grades = rng.integers(1, 6, (2, 80))
    binary = rng.random((2, 120)) < [[0.7], [0.6]]
    rare = (rng.random(150) < 0.8).astype(int)
    made = {
        "no ties, no zeros": (base[:12], base[:12] - rng.permutation(np.arange(-4, 20))[:12]),
        "ties": (base[:24], base[:24] - rng.integers(-2, 4, 24)),
        "three in four are zeros": (base, base - rng.choice([0, 0, 0, 1, -1, 3], 80)),
        "all differences 1 or -1": (base[:30], base[:30] - rng.choice([1, 1, -1], 30)),
        "one huge outlier": (base[:20], base[:20] - [*rng.integers(-3, 4, 19), 5000]),
        "decimals, Cauchy": tuple(rng.standard_cauchy((2, 30)).round(1)),
        "decimals, lognormal": tuple(rng.lognormal(0, 1, (2, 25)).round(2)),
        "grades from 1 to 5": tuple(grades),
        "right and wrong": tuple(binary.astype(int)),
        "right and wrong, few differ": (rare, np.where(rng.random(150) < 0.1, 1 - rare, rare)),
    }
    # R's perm.test takes no negative scores.
    low = {name: min(floor(np.min(ab)), 0) for name, ab in made.items()}
    return {name: tuple((x - low[name]).round(2).tolist() for x in ab) for name, ab in made.items()}


def ours(a: list[float], b: list[float], side: Any) -> dict[str, Any]:
    """The same tests here."""
    made = {
        "paired t": alt.paired_t(a, b, alternative=side),
        "two-sample t": alt.independent_t(a, b, alternative=side),
        "Welch's t": alt.independent_t(a, b, alternative=side, equal_var=False),
        "sign": alt.sign(a, b, alternative=side),
        "Wilcoxon, exact": alt.wilcoxon(a, b, alternative=side),
        "exact permutation test of the mean": pt.exact_perm_test(a, b, alternative=side),
    }
    if set(a) | set(b) <= {0, 1}:
        u, v, n = np.array(a), np.array(b), len(a)
        mcnemar = partial(alt.mcnemar, int(np.sum(u > v)), int(np.sum(v > u)), alternative=side)
        shares = int(u.sum()), n, int(v.sum()), n
        made |= {
            "McNemar, exact": mcnemar(),
            "McNemar, chi-squared": mcnemar(method="chi2"),
            "McNemar, corrected": mcnemar(method="chi2-corrected"),
            "chi-squared": alt.chi_squared(
                [[sum(x), n - sum(x)] for x in (a, b)], alternative=side
            ),
            "z of two proportions": alt.two_proportion_z(*shares, alternative=side),
        }
    return made


def asked(data: Data) -> list[list[str]]:
    """What R answers: data set, test, side, p and both ends of the interval, in each line."""
    scores = ", ".join(f"list(c({str(a)[1:-1]}), c({str(b)[1:-1]}))" for a, b in data.values())
    said = f"data <- list({scores}); tests <- expression({', '.join(IN_R.values())}); {SCRIPT}"
    command = ["Rscript", "-"]
    run = subprocess.run(command, input=said, capture_output=True, text=True, check=True)
    return [line.split() for line in run.stdout.splitlines()]


def compare(data: Data) -> tuple[list[str], list[str]]:
    """A row of the table for each test, and the data sets for which p differs."""
    said, names, rows, notes = asked(data), list(data), [], []
    mine = {(name, side): ours(*both, side) for name, both in data.items() for side in SIDES}
    for number, (test, call) in enumerate(IN_R.items(), start=1):
        lines = [line for line in said if int(line[1]) == number]
        off, gaps, others = [0.0], [0.0], dict.fromkeys(names, "")
        for i, _, k, *numbers in lines:
            name, side, (p, *ends) = names[int(i) - 1], SIDES[int(k) - 1], map(float, numbers)
            result = mine[name, side][test]
            if abs(result.pvalue / p - 1) > 1e-9:
                others[name] += f"; {side}: {p:.6g} in R, {result.pvalue:.6g} here"
            else:
                off.append(abs(result.pvalue / p - 1))
            if test in WITH_INTERVAL:
                both = zip(result.confidence_interval(), ends, strict=True)
                gaps += [abs(x - y) / max(abs(y), 1e-3) for x, y in both if isfinite(x + y)]
        same = len(lines) - sum(text.count(" in R,") for text in others.values())
        ends_differ = f"{max(gaps):.0e}" if test in WITH_INTERVAL else ""
        cells = test, f"`{call.replace(', alternative = side', '')}`", f"{same} of {len(lines)}"
        rows.append(f"| {' | '.join(cells)} | {max(off):.0e} | {ends_differ} |")
        notes += [f"- {test}, {name}{text}" for name, text in others.items() if text]
    return rows, notes


def document(data: Data) -> str:
    """The page."""
    rows, notes = compare(data)
    sizes = (f"{name} ({len(a)} pairs)" for name, (a, _) in data.items())
    head = f"""# Other tests beside R

This table compares every test that R also has, on ten data sets and for all three alternatives if
R has them. It shows how many p-values agree to a relative 1e-9, the largest relative difference
among these, and the largest relative difference between the ends of 95% intervals of the same
kind. One command makes this file:

    python -m benchmarks.against_r

Data: {"; ".join(sizes)}.
R's `perm.test` takes only integers, so k turns decimals into hundredths. R's Wilcoxon tests rank
floats, so 0.3 - 0.1 does not tie with 0.2; given hundredths, they return the p-values of this
page.

| test | in R | p agree | p differ by | ends differ by |
|---|---|---|---|---|"""
    elsewhere = ["", "## Where p differs", "", *(notes or ["Nowhere."]), ""]
    return "\n".join([head, *rows, *elsewhere])


if __name__ == "__main__":
    text = document(data_sets())
    (DOCS / "against-r.md").write_text(text, encoding="utf-8")
    print(text)
