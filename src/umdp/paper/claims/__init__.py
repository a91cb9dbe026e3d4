"""Judging runs: measures over them, the paper's claims with a verdict each, and what a guarantee costs."""
