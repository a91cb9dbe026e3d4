"""Durable runs: one SQLite file that survives being killed."""
