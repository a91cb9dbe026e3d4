"""Reduction: decided states become exits, end components one state, the rest strongly connected components in order."""
