"""Certificates: from a solution to vectors that prove it, found in exact arithmetic."""
