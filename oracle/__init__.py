"""What to answer: a position's score, its moves and why, from a store or by live search."""

from oracle.answers import Analysis, Move
from oracle.oracle import Oracle
from solver.errors import NotSettled

__all__ = ["Analysis", "Move", "NotSettled", "Oracle"]
