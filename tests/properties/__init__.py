"""Property tests over random models."""
