"""Proofs of games too large to solve: certificates that a side cannot win, and strategies by which it does."""
