"""Matches written down: as text, as JSON, in files, and those that are kept."""
