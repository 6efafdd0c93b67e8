"""Training: a learner plays games in portions, and at checkpoints is graded and saved."""

from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from play.lab.formats import FORMAT
from play.lab.grades import Grade
from play.lab.grading import Grader
from play.lab.learner import Learner, Played
from play.lab.ntuple import NTuple
from play.lab.policies import Policy, PolicyPlayer
from play.lab.q import QLearner
from play.lab.runs import METRICS, STATE, Run, require_sparring
from play.lab.symmetry import agreement
from play.lab.values import between
from play.match import Match
from play.players.player import PlayerError
from solver.arrays.positions import MOST, Positions, places
from solver.errors import GameError
from solver.games.board import require_solvable
from solver.games.lines import Game
from solver.index.symmetry import symmetries

LEARNERS = ("q", "ntuple")

EPISODES = {"q": 600_000, "ntuple": 1_000_000}
"""How many games a learner plays at most, unless the user says otherwise."""

_GAMES_A_POSITION = 3
"""A table needs no more, so it plays fewer games on small boards."""

_CHECKPOINTS = 40
_LEAST_EVERY = {"q": 1, "ntuple": 10_000}
"""How many games there are between checkpoints at least: grading ntuple takes as long as some thousand games."""

_POSITIONS = 4_000
"""In so many positions a checkpoint is graded where there are too many for all."""

_IMAGES = 500


class Options(NamedTuple):
    """How a learner is trained, besides its game, seed and number of games: fields of config.json."""

    v: str = "self"
    epsilon: float | None = None
    step: float = 1.0
    unmasked: bool = False


class Training:
    """One run being trained; a context manager. It can be stopped at any time, and goes on from its last checkpoint."""

    def __init__(self, run: Run, store: str | None = None) -> None:
        """Prepare to train; a run that was begun before goes on where its state was saved."""
        config = run.config
        self.run = run
        self.grader = Grader(run.game, store)
        try:
            if config["until"] is not None and not self.grader.has_scores:
                raise GameError(f"no scores of {run.game.name} are known, so --until cannot be: build its store first")
            opponent = None if config["v"] == "self" else self.grader.everywhere(self.grader.policy(config["v"]))
            self.learner = learner_of(config, run.game, self.grader.positions, opponent)
            self.games, arrays = run.state()
            if self.games:
                load_state(run, self.learner, arrays)
                if all(line["games"] != self.games for line in run.metrics()):
                    raise run.damaged(METRICS, "it lacks the last checkpoint")
        except BaseException:
            self.grader.__exit__()
            raise

    def __enter__(self) -> "Training":
        return self

    def __exit__(self, *error: object) -> None:
        self.grader.__exit__(*error)

    @property
    def last(self) -> dict[str, Any]:
        """The metrics of the last checkpoint."""
        return (self.run.metrics() or [{}])[-1]

    @property
    def reached(self) -> bool:
        """Whether the share that was asked for is reached."""
        until, share = self.run.config.get("until"), self.last.get(self.learner.goal)
        return until is not None and share is not None and share >= until

    @property
    def done(self) -> bool:
        """Whether there is nothing left to do."""
        return self.games >= self.run.config["episodes"] or self.reached

    def train(self, on_progress: Callable[[int, dict[str, Any]], None] = lambda games, metrics: None) -> None:
        """Play all games that are left; tell, after each portion, how many there were, and the last metrics."""
        self.run.forget_after(self.games)
        before = moves_in(self.learner.policy(), self.grader)
        while not self.done:
            start = perf_counter()
            played = Played(0, 0, 0, 0)
            while played.games < self._left():
                portion = min(self.learner.portion, self._left() - played.games)
                played += self.learner.train(self.games + played.games, portion)
                on_progress(self.games + played.games, self.last)
            policy = self.learner.policy()
            after = moves_in(policy, self.grader)
            changed = float((before != after).mean())
            self._save(self.games + played.games, policy, played, changed, perf_counter() - start)
            before = after
            self.games += played.games
            on_progress(self.games, self.last)

    def _left(self) -> int:
        """Return how many games there are up to the next checkpoint."""
        every, episodes = self.run.config["every"], self.run.config["episodes"]
        return int(min(every - self.games % every, episodes - self.games))

    def _save(self, games: int, policy: Policy, played: Played, changed: float, seconds: float) -> None:
        """Grade the learner after so many games, and keep that and what it has learned."""
        grader = self.grader
        last = games >= self.run.config["episodes"]
        seed = int(self.run.config["seed"])
        whole = grader.positions is not None
        grade = grader.grade(policy, None if whole else _POSITIONS, seed, values=whole or last)
        metrics = {
            "games": games,
            **_graded(grade),
            "by_cell": grade.shares.by_cell(symmetries(grader.game)) if grade.shares else None,
            "v_rules": self._against("rules", policy),
            "x_wins": played.x_wins / played.games,
            "draws": played.draws / played.games,
            "o_wins": played.o_wins / played.games,
            "length": played.plies / played.games,
            "attempts": played.attempts / played.plies,
            "entropy": self.learner.entropy(),
            "changed": changed,
            "agreement": agreement(policy, symmetries(grader.game), *grader.asked_about(_IMAGES), seed),
            "seen": self.learner.seen,
            "seconds": seconds,
            "games_per_second": played.games / seconds,
        }
        self.run.checkpoint(games, self.learner.arrays(), metrics, self._samples(games, policy))

    def _against(self, name: str, policy: Policy) -> dict[str, float] | None:
        """Return the result against a player of the house, as each side, exactly; None if that would take long."""
        if self.grader.positions is None:
            return None
        other = self.grader.policy(name)
        return {"X": between(policy, other), "O": 0.0 - between(other, policy)}

    def _samples(self, games: int, policy: Policy) -> Iterator[dict[str, Any]]:
        """Play some games to be looked at: against itself, `rules` and `random`."""
        rules = self.grader.roster.rules
        seed = self.run.config["seed"]
        name = self.learner.name
        for number, (x, o) in enumerate(((name, name), (name, "rules"), ("rules", name), (name, "random"))):
            identity = f"{games}-{number}"
            start = perf_counter()
            match: Match[Any] = Match(rules, clock=lambda: None)
            players = {
                side: self._player(who, policy, f"{seed} {identity} {side}") for side, who in (("X", x), ("O", o))
            }
            reason = None
            while side := match.to_move:
                move = players[side].choose(match.state)
                reason = rules.refusal(match.state, move)
                if reason:
                    match.forfeit(side, reason)
                    break
                match.play(side, move)
            winner = match.outcome.winner if match.outcome else None
            moves = [rules.write(move) for move in match.moves]
            yield {
                "id": identity, "games": games, "x": x, "o": o, "moves": moves, "winner": winner,
                "winning_move": moves[-1] if winner and not reason else None, "first": rules.sides[0],
                "length": len(moves), "forfeit": reason, "seconds": perf_counter() - start,
            }  # fmt: skip

    def _player(self, who: str, policy: Policy, seed: str) -> Any:
        return PolicyPlayer(policy, seed) if who == self.learner.name else self.grader.roster.player(who, seed)


def new_run(
    folder: str, player: str, game: Game, seed: int, *,
    episodes: int | None = None, until: float | None = None, every: int | None = None, options: Options,
) -> Run:  # fmt: skip
    """Return a run that is about to begin; raise an error if it makes no sense."""
    if player not in LEARNERS:
        raise PlayerError(f"no learner {player!r}: choose {' or '.join(LEARNERS)}")
    if player == "ntuple" and options != Options():
        raise PlayerError("only q has --v, --epsilon, --step and --unmasked: ntuple plays itself")
    require_sparring(options.v)
    require_solvable(game)
    if player == "q" and places(game) > MOST:
        raise GameError(f"{game.name} has too many positions for a table: train --player ntuple")
    if episodes is None:
        episodes = EPISODES[player]
        if player == "q":
            episodes = max(2_000, min(episodes, _GAMES_A_POSITION * places(game)))
    every = max(_LEAST_EVERY[player], -(-episodes // _CHECKPOINTS)) if every is None else every
    config = {
        "format": FORMAT, "player": player, "game": game.notation, "seed": seed, "episodes": episodes, "until": until,
        "every": every, **options._asdict(),
    }  # fmt: skip
    return Run(folder, config)


def learner_of(
    config: dict[str, Any], game: Game, positions: Positions | None = None, opponent: np.ndarray | None = None
) -> Learner:
    """Return the learner that a config asks for, which has learned nothing yet."""
    if config["player"] == "ntuple":
        return NTuple(game, config["seed"], config["episodes"])
    return QLearner(
        positions or Positions(game), config["seed"],
        epsilon=config["epsilon"], step=config["step"], unmasked=config["unmasked"], opponent=opponent,
    )  # fmt: skip


def load_state(run: Run, learner: Learner, arrays: dict[str, np.ndarray]) -> None:
    """Let a learner go on from a run's arrays; raise RunError if they are not its own."""
    try:
        learner.load(arrays)
    except ValueError as error:
        raise run.damaged(STATE, str(error)) from error


def moves_in(policy: Policy, grader: Grader) -> np.ndarray:
    """Return the likeliest moves in all canonical positions or, if they are too many, in some."""
    x, o = grader.asked_about(None if grader.positions is not None else _POSITIONS)
    moves: np.ndarray = policy.chances(x, o).argmax(axis=1)
    return moves


def _graded(grade: Grade) -> dict[str, Any]:
    return {
        "kept": grade.kept, "decisive": grade.decisive, "optimal": grade.optimal, "value": grade.value or None,
        "given_away": grade.given_away, "nash_conv": grade.nash_conv, "v_random": grade.v_random,
        "positions": grade.positions, "invalid": grade.shares.invalid if grade.shares else None,
        "by_ply": {ply: decisive.kept for ply, _, decisive in grade.by_ply},
    }  # fmt: skip
