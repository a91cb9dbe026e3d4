"""Running experiments: described in small files, split into trials, swept in parallel, kept in an archive."""
