"""Other answers to the same question: parametric, rank and bootstrap tests."""
