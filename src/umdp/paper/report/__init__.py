"""Showing results: tables, figures with their captions, and a report in one page."""
