"""The one registry of games: from what a person types to the rules that it names.

A notation names a game on a board (solver/games/notation.py), the same for more than two sides as 3p:NOTATION
(solver/games/multiplayer.py), or rules of your own as MODULE:NAME (solver/games/rules.py).
"""

from typing import Any

from solver.errors import GameError
from solver.games.board import BoardGame
from solver.games.line_rules import LineRules
from solver.games.lines import NARROW_CELLS, Game
from solver.games.notation import parse_game, read_size
from solver.games.rules import PlaysOn, Rules
from solver.own_code import is_own, load_own, one_line


def find_game(text: str) -> Rules[Any]:
    """Return the rules of the game that a notation names; raise GameError if it names none.

    MODULE:NAME loads code, and a path opens a file: ask `may_be_recorded` first where the notation comes from a file.
    """
    if is_own(text):
        return _own_rules(text.strip())
    count, prefix, game = text.strip().partition("p:")
    if prefix and count.isdecimal():
        from solver.games.multiplayer import multiplayer  # only now: games of two sides do not need it

        return multiplayer(parse_game(game), int(count[:9]))
    size = read_size(text)
    if size and size.cells > NARROW_CELLS:
        from solver.games.wide import wide_rules  # only now: most games do without

        return wide_rules(size)
    return rules_of(parse_game(text))


def rules_of(game: BoardGame[Any]) -> Rules[Any]:
    """Return the rules of a game on a board."""
    if isinstance(game, Game):
        return LineRules(game)
    from solver.games.duel import Duel
    from solver.games.duel_rules import DuelRules  # only now: the default game does not need them

    if isinstance(game, Duel):
        return DuelRules(game)
    raise GameError(f"nobody knows the rules of {game.name}")


def may_be_recorded(text: str) -> bool:
    """Tell whether a file may name a game so: by numbers or by a name, but not as code or by a path."""
    return not is_own(text) and ".toml" not in text and "/" not in text


def _own_rules(name: str) -> Rules[Any]:
    """Return rules of the user's own, if they have all that rules need."""
    factory = load_own(name)
    try:
        rules: Rules[Any] = factory()
        shape = Rules if len(getattr(rules, "sides", ())) <= 2 else PlaysOn
        lacking = [part for part in dir(shape) if not part.startswith("_") and not hasattr(rules, part)]
    except (Exception, SystemExit) as error:  # it is not our code
        raise GameError(f"cannot load game {name!r}: {one_line(error)}") from error
    if lacking:
        raise GameError(f"game {name!r} lacks {', '.join(lacking)}: solver/games/rules.py says what rules have")
    if rules.name != name:
        raise GameError(f"game {name!r} has the name {rules.name!r}: set it to {name!r}, by which it is found again")
    return rules
