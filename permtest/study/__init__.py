"""Around the test: describe the data, recommend a test, effect size, power and sample size."""
