"""The command ttt4-query, and the drawing and options that ttt4-play shares with it."""
