"""The file that holds every score of a game."""
