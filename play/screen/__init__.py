"""A match on a full screen."""
