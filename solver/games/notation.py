"""The one registry of games: what a person types, and the rules that it names.

4,4,4             rows, columns and how many in a row
3,3,3,misere      the same, where completing a line loses
fano, mine.toml   a game of lines that a file describes (solver/games/files.py)
MODULE:NAME       rules of your own (solver/games/rules.py)
"""

from typing import Any

from solver.errors import GameError
from solver.games.line_rules import LineRules
from solver.games.lines import Game, grid
from solver.games.rules import Rules


def find_game(text: str, *, own_code: bool = True) -> Rules[Any]:
    """Return the rules of the game that a notation names; raise GameError if it names none.

    Without `own_code`, as for a notation that stands in a file, no code of the user's is loaded.
    """
    from solver.own_code import is_own  # only here: most games are named by numbers

    if not is_own(text):
        return LineRules(parse_game(text))
    if not own_code:
        raise GameError(f"game {text[:60]!r} is code of your own, which a file cannot load: add --game {text[:60]}")
    return _own_rules(text.strip())


def parse_game(text: str) -> Game:
    """Return the game of lines that a notation names; raise GameError if it names none."""
    named, _, last = text.strip().rpartition(",")
    misere = last.strip().lower() in ("misere", "misère")
    named = named.strip() if misere else text.strip()
    parts = [part.strip() for part in named.split(",")]
    if len(parts) == 3 and all(part.isascii() and part.isdigit() and len(part) < 4 for part in parts):
        rows, columns, k = map(int, parts)
        return grid(rows, columns, k, misere=misere)
    if named.endswith(".toml") or (named[:1].isalpha() and "," not in named and ":" not in named):
        from solver.games.files import named_game  # only now: it takes as long as an answer

        return named_game(named, misere=misere)
    raise GameError(
        f"cannot read game {text!r}: write rows,columns,k, such as 4,4,4 or 3,3,3,misere, or the path of a file.toml"
    )


def _own_rules(name: str) -> Rules[Any]:
    """Return rules of the user's own, if they have all that rules need."""
    from solver.own_code import load_own, one_line

    factory = load_own(name)
    try:
        rules: Rules[Any] = factory()
        lacking = [part for part in vars(Rules) if not part.startswith("_") and not hasattr(rules, part)]
    except (Exception, SystemExit) as error:  # it is not our code
        raise GameError(f"cannot load game {name!r}: {one_line(error)}") from error
    if lacking:
        raise GameError(f"game {name!r} lacks {', '.join(lacking)}: solver/games/rules.py says what rules have")
    if rules.name != name:
        raise GameError(f"game {name!r} has the name {rules.name!r}: set it to {name!r}, by which it is found again")
    return rules
