"""Solving a game with both solvers, and building or verifying its store."""
