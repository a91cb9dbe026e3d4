"""Explaining promises: against finite differences, exact sums and what then happened."""
