"""Solve a game with both solvers, and build or verify its store."""
