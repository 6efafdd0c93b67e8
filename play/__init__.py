"""What to do: matches, players, and the terminal."""
