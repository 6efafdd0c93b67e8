"""Who chooses the moves."""
