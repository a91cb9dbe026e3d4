"""Independent oracles: slow, simple and exact."""
