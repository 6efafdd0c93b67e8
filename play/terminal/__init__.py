"""A match at a prompt."""
