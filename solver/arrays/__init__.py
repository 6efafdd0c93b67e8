"""Many positions at once, in numpy arrays: all of a game's, and the scores of any."""
