"""The arena: play many games between players, and report the results. From Python:

    from play.arena import Roster, find_game, meet
    with Roster(find_game("4,4,4")) as roster:
        meeting = meet(roster, (MyPlayer, "oracle"), 1_000, swap=True, seed=1)
    meeting.first.wins, meeting.first.forfeits

A player is a name, an object with `choose(state)`, or a class or function that makes one from rules and a seed.
"""

from play.arena.meetings import Forfeit, Meeting, Standing, interval, meet, round_robin
from play.players.roster import Roster
from solver.games.registry import find_game

__all__ = ["Forfeit", "Meeting", "Roster", "Standing", "find_game", "interval", "meet", "round_robin"]
