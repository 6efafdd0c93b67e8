"""The arena's results as tables of 80 columns."""

import re
from collections.abc import Sequence

from play.arena.meetings import Meeting, Standing, interval
from solver.text import printable

_PATH_OF_PROGRAM = re.compile(r"^gomocup:([\d.]+s:)?(?:\S*/)?(?:pbrain-)?")


def result_table(meeting: Meeting, sides: Sequence[str], *, swap: bool) -> str:
    """Return the results of one meeting."""
    standings = meeting.players
    every = " and ".join(sides) if len(sides) == 2 else "".join(sides)
    width = max(len(_short(standing.name)) for standing in standings)
    lines = [f"{'player':{width}} side    {'wins':18} {'draws':18} losses"]
    for standing, side in zip(standings, sides, strict=True):
        counts = (_share(count, standing.games) for count in (standing.wins, standing.draws, standing.losses))
        lines.append(f"{_short(standing.name):{width}} {every if swap else side:7} {' '.join(counts)}".rstrip())
    lines += ["", "In percent of the games, with 95% confidence intervals.", ""]
    for standing in standings:
        lines += _about(standing)
    plies = meeting.lengths
    lines.append(f"{len(plies)} games of {sum(plies) / len(plies):.1f} plies ({min(plies)} to {max(plies)}).")
    return "\n".join(lines)


def cross_table(names: Sequence[str], meetings: Sequence[Meeting]) -> str:
    """Return every player's share of the points in all, the strongest first, and how it fared against every other.

    Against one other that is the share of the games between them in which it came out ahead, equal shares counting
    half: in games of two, the share of the points.
    """
    met = {one: [standing for each in meetings for standing in each.players if standing.name == one] for one in names}
    total = {one: sum(each.scored for each in met[one]) / max(sum(each.games for each in met[one]), 1) for one in names}
    against = {pair: ahead / games for pair, (ahead, games) in _pairs(meetings).items()}
    ranked = sorted(names, key=lambda name: -total[name])
    width = max(len(_short(name)) for name in names) + 2
    lines = [f"{'':4}{'':{width}}  all" + "".join(f"{number:5}" for number in range(1, len(names) + 1))]
    for number, one in enumerate(ranked, 1):
        cells = "".join(f"{100 * against[one, other]:5.0f}" if one != other else "    -" for other in ranked)
        lines.append(f"{number:3} {_short(one):{width}}{100 * total[one]:5.1f}{cells}")
    lines += ["", *_explained(len(meetings[0].players))]
    forfeits = [
        f"{one.name}: game {forfeit.game}: {forfeit.reason}"
        for each in meetings
        for one in each.players
        for forfeit in one.forfeits
    ]
    return "\n".join(_short(line, 79) for line in lines + forfeits[:10])


def _pairs(meetings: Sequence[Meeting]) -> dict[tuple[str, str], tuple[float, int]]:
    """Return by the names of two players in how many games the first came out ahead, and how many they played."""
    found: dict[tuple[str, str], tuple[float, int]] = {}
    for met in meetings:
        for (one, other), ahead in met.ahead.items():
            pair = met.players[one].name, met.players[other].name
            before, games = found.get(pair, (0.0, 0))
            found[pair] = before + ahead, games + len(met.lengths)
    return found


def _explained(sides: int) -> list[str]:
    """Return what the numbers of a cross table mean."""
    if sides == 2:
        return ["Points in percent: 1 for a win, a half for a draw."]
    return [
        f"all: points in percent: 1 for a win, an equal share for a draw; {100 / sides:.0f} is average.",
        "1, 2, ...: in how many percent of their games it came out ahead of the other;",
        "games that ended alike for both count half.",
    ]


def _short(text: str, most: int = 12) -> str:
    text = printable(_PATH_OF_PROGRAM.sub(r"\1", text))
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _share(count: int, games: int) -> str:
    low, high = interval(count, games)
    return f"{100 * count / games:5.1f} ({100 * low:.1f}-{100 * high:.1f})".ljust(18)


def _about(standing: Standing) -> list[str]:
    kept = f", {100 * standing.kept / standing.graded:.1f} % of {standing.graded:,} moves kept the outcome" \
        if standing.graded else ""  # fmt: skip
    mean = 1000 * standing.seconds / standing.moves if standing.moves else 0.0
    lines = [f"{printable(standing.name)}: {mean:.2f} ms a move, at most {1000 * standing.slowest:.2f}{kept}."]
    lines += [_short(f"  forfeited game {forfeit.game}: {forfeit.reason}", 79) for forfeit in standing.forfeits[:5]]
    if len(standing.forfeits) > 5:
        lines.append(f"  and {len(standing.forfeits) - 5} more games")
    return lines


def tracebacks(meetings: Sequence[Meeting]) -> str:
    """Return where the code of players that forfeited failed, once for each reason."""
    return "\n".join(
        f"{printable(one.name)}, game {forfeit.game}:\n{forfeit.traceback}"
        for met in meetings
        for one in met.players
        for forfeit in one.forfeits
        if forfeit.traceback
    )
