"""Infinity Grid Duel: how its positions are numbered, searched and solved."""
