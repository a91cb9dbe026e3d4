"""Side-by-side benchmarks: this package and Storm on the same models, to the same precision, in one table."""
