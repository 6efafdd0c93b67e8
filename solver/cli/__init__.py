"""The command ttt4-solve, and what all commands share."""
