"""Level and coverage, measured: what p, intervals and boards claim, and how often it holds."""
