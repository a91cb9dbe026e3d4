"""Certification: rounding errors, inductive vectors, certificates."""
