"""Strategies: the checker accepts exactly those that win against every reply, by a slower walk through all games."""

from collections.abc import Callable, Iterator
from functools import cache
from random import Random

import naive
import pytest
from kinds import torus

from solver.certificates.refusals import CheckTooLong, Refuted
from solver.certificates.strategy import WAIT, Strategy, check_strategy
from solver.games.board import cells_of
from solver.games.lines import Game, grid

Board = tuple[int, int]


def put(board: Board, cell: int) -> Board:
    x, o = board
    return (x | 1 << cell, o) if x.bit_count() == o.bit_count() else (x, o | 1 << cell)


def sides(board: Board) -> Board:
    """The cells of the side to move, and of the other."""
    x, o = board
    return (x, o) if x.bit_count() == o.bit_count() else (o, x)


def empty(game: Game, board: Board) -> list[int]:
    return list(cells_of(game.full & ~(board[0] | board[1])))


def completing(game: Game, board: Board, cell: int) -> bool:
    return bool(game.completed(sides(board)[0] | 1 << cell))


def minimax(game: Game) -> Callable[[Board], int]:
    """The score of each position for the side to move."""

    @cache
    def score(board: Board) -> int:
        left = empty(game, board)
        if game.completed(sides(board)[1]):
            return (1 if game.misere else -1) * (len(left) + 1)
        return max((-score(put(board, cell)) for cell in left), default=0)

    return score


def plies_of(game: Game, part: Strategy, board: Board) -> int | None:
    """How many plies a strategy takes at most, by trying every reply; None if it does not win."""
    if part.move == WAIT:
        return after_move(game, part, board)
    if part.move not in empty(game, board):
        return None
    if completing(game, board, part.move):
        return None if game.misere else 1
    plies = after_move(game, part, put(board, part.move))
    return None if plies is None else plies + 1


def after_move(game: Game, part: Strategy, board: Board) -> int | None:
    worst = 0
    for reply in empty(game, board):
        after = put(board, reply)
        if completing(game, board, reply):
            plies: int | None = 0 if game.misere else None
        elif reply in part.replies:
            plies = plies_of(game, part.replies[reply], after)
        elif not game.misere and any(completing(game, after, cell) for cell in empty(game, after)):
            plies = 1
        else:
            plies = plies_of(game, part.other, after) if part.other else None
        if plies is None:
            return None
        worst = max(worst, plies + 1)
    return worst or None


class Extractor:
    """Best strategies by minimax; replies that one part answers as well are put under `other`."""

    def __init__(self, game: Game, random: Random, *, joined: bool) -> None:
        self.game, self.random, self.joined = game, random, joined
        self.score = minimax(game)
        self.known: dict[Board, Strategy] = {}

    def strategy(self, board: Board) -> Strategy:
        """A strategy for the side that wins a position."""
        return self.won(board) if self.score(board) > 0 else self.replied(WAIT, board)

    def won(self, board: Board) -> Strategy:
        if board not in self.known:
            best = [c for c in empty(self.game, board) if -self.score(put(board, c)) == self.score(board)]
            move = self.random.choice(best)
            over = completing(self.game, board, move)
            self.known[board] = Strategy(move) if over else self.replied(move, put(board, move))
        return self.known[board]

    def replied(self, move: int, board: Board) -> Strategy:
        left = [reply for reply in empty(self.game, board) if not completing(self.game, board, reply)]
        replies = {reply: self.won(put(board, reply)) for reply in left}
        if self.joined and not self.game.misere:
            for reply in left:
                after = put(board, reply)
                if any(completing(self.game, after, cell) for cell in empty(self.game, after)):
                    del replies[reply]
        for part in list(replies.values()) if self.joined else []:
            served = [reply for reply in replies if plies_of(self.game, part, put(board, reply))]
            if len(served) > 1:
                return Strategy(move, {r: each for r, each in replies.items() if r not in served}, part)
        return Strategy(move, replies)


def parts_of(root: Strategy) -> list[Strategy]:
    """All parts of a strategy, each once."""
    found: dict[int, Strategy] = {}
    todo = [root]
    while todo:
        part = todo.pop()
        if id(part) not in found:
            found[id(part)] = part
            todo += [*part.replies.values(), *([part.other] if part.other else [])]
    return list(found.values())


def replaced(root: Strategy, old: Strategy, new: Strategy, known: dict[int, Strategy]) -> Strategy:
    """A strategy with one part replaced."""
    if root is old:
        return new
    if id(root) not in known:
        replies = {reply: replaced(part, old, new, known) for reply, part in root.replies.items()}
        known[id(root)] = Strategy(root.move, replies, root.other and replaced(root.other, old, new, known))
    return known[id(root)]


def faulty(root: Strategy, random: Random, cells: int) -> Strategy:
    """A strategy with one fault: another move, a reply without answer, or the answer of another place."""
    parts = parts_of(root)
    part, other = random.choice(parts), random.choice(parts)
    kind = random.randrange(4)
    if kind == 0:
        new = Strategy(random.randrange(-1, cells + 1), part.replies, part.other)
    elif kind == 1 and part.replies:
        dropped = random.choice(list(part.replies))
        new = Strategy(part.move, {r: each for r, each in part.replies.items() if r != dropped}, part.other)
    elif kind == 2:
        new = Strategy(part.move, part.replies, other)
    else:
        new = Strategy(part.move, {}, other)
    return replaced(root, part, new, {})


def random_game(random: Random) -> Game:
    cells = random.randint(6, 9)
    sizes = [random.randint(2, 4) for _ in range(random.randint(3, 9))]
    drawn = {sum(1 << cell for cell in random.sample(range(cells), size)) for size in sizes}
    lines = tuple(sorted(line for line in drawn if not any(each & line == each != line for each in drawn)))
    return Game("random", 1, cells, lines, misere=random.random() < 0.3)


def won_positions(random: Random, games: int) -> Iterator[tuple[Game, Board, Strategy]]:
    """Positions that a side wins, with strategies by minimax."""
    fixed = [grid(3, 3, 3), grid(3, 3, 3, misere=True), torus(3, 3, 3), grid(2, 4, 3), grid(3, 3, 2, misere=True)]
    for number in range(games):
        game = fixed[number % len(fixed)] if number % 3 == 0 else random_game(random)
        extractor = Extractor(game, random, joined=random.random() < 0.8)
        for _ in range(5):
            board = 0, 0
            for _ in range(random.randint(0, 3)):
                cell = random.choice(empty(game, board))
                if not completing(game, board, cell):
                    board = put(board, cell)
            if extractor.score(board):
                yield game, board, extractor.strategy(board)


def test_a_strategy_by_minimax_is_accepted_with_its_number_of_plies() -> None:
    random, passed = Random(1), 0
    for game, board, strategy in won_positions(random, 40):
        plies = check_strategy(game, *board, strategy)
        exact = len(empty(game, board)) + 1 - abs(minimax(game)(board)) if passed % 7 == 0 else plies
        assert plies >= plies_of(game, strategy, board) >= exact  # type: ignore[operator]
        passed += 1
    assert passed > 60


def test_a_faulty_strategy_is_refuted_exactly_if_some_reply_refutes_it() -> None:
    random, refuted, accepted = Random(2), 0, 0
    for game, board, strategy in won_positions(random, 40):
        for _ in range(5):
            fault = faulty(strategy, random, game.cells)
            plies = plies_of(game, fault, board)
            try:
                found: int | None = check_strategy(game, *board, fault)
            except Refuted:
                found = None
            assert (plies is None) == (found is None), (game, board, fault)
            refuted, accepted = refuted + (plies is None), accepted + (plies is not None)
            if plies is not None:
                assert found is not None
                assert found >= plies
    assert refuted > 80
    assert accepted > 80


def slow_win(random: Random) -> tuple[Game, Board, Strategy]:
    """Two forks, at b1 and e1, that X puts off for some quiet moves, while O may make lines or get in the way."""
    cells = random.randint(11, 13)
    forks = {0b111, 0b1011, 0b110001, 0b1010001}
    sizes = [random.randint(2, 4) for _ in range(random.randint(1, 3))]
    drawn = {
        sum(1 << cell for cell in random.sample(range(7 if random.random() < 0.7 else 1, cells), size))
        for size in sizes
    }
    lines = tuple(line for line in sorted(forks | drawn) if not any(each & line == each != line for each in drawn))
    stones = random.sample(range(7, cells), random.choice([1, 1, 3]))
    board = 1 | sum(1 << cell for cell in stones[1::2]), sum(1 << cell for cell in stones[::2])
    first, second = Strategy(1), Strategy(4)
    quiet = random.sample(range(2, cells), random.randint(1, 2))
    part, near = first, dict.fromkeys([1, *random.sample([2, 3], random.choice([1, 2, 2, 2]))], second)
    for away in quiet:
        part = Strategy(away, near if random.random() < 0.9 else {}, part)
    return Game("fork", 1, cells, lines), board, part


def test_replies_that_are_passed_over_are_those_that_change_nothing() -> None:
    """On boards where many replies are outside the zone, and stones there can make lines: compared with all games."""
    random, refuted, accepted = Random(5), 0, 0
    while accepted < 150:
        game, board, strategy = slow_win(random)
        if game.completed(board[0]) or game.completed(board[1]):
            continue
        plies = plies_of(game, strategy, board)
        try:
            found: int | None = check_strategy(game, *board, strategy)
        except Refuted:
            found = None
        assert (plies is None) == (found is None), (game, board, strategy)
        refuted, accepted = refuted + (plies is None), accepted + (plies is not None)
    assert refuted > 150


def test_five_in_a_row_by_two_open_fours_takes_three_plies() -> None:
    game = grid(15, 15, 5)
    x = sum(1 << game.cell(name) for name in ("g8", "h8", "i8"))
    o = sum(1 << game.cell(name) for name in ("a1", "c1", "e1"))
    assert check_strategy(game, x, o, Strategy(game.cell("j8"))) == 3
    with pytest.raises(Refuted, match="no answer, after k8 j8"):
        check_strategy(game, x, o, Strategy(game.cell("k8")))


def test_a_three_needs_answers_only_where_the_defender_meets_it() -> None:
    game = grid(20, 20, 5)
    cell = game.cell
    x, o = 1 << cell("j10") | 1 << cell("k10"), 1 << cell("a1") | 1 << cell("t20")
    four = Strategy(cell("i10"))
    with pytest.raises(Refuted):  # it is met by blocking
        check_strategy(game, x, o, Strategy(cell("l10"), {}, four))
    x |= 1 << cell("l9") | 1 << cell("l8")
    o |= 1 << cell("t1") | 1 << cell("a20")
    answers = {cell("i10"): Strategy(cell("l11")), cell("h10"): Strategy(cell("l11"))}
    answers |= {cell("m10"): Strategy(cell("l11")), cell("n10"): Strategy(cell("l11"))}
    assert check_strategy(game, x, o, Strategy(cell("l10"), answers, four)) == 5


def test_a_reply_that_completes_a_line_of_the_losers_refutes() -> None:
    game = grid(15, 15, 5)
    x = sum(1 << game.cell(name) for name in ("g8", "h8", "i8", "a5"))
    o = sum(1 << game.cell(name) for name in ("a1", "b1", "c1", "d1"))
    with pytest.raises(Refuted, match="the loser completes a line, after j8 e1"):
        check_strategy(game, x, o, Strategy(game.cell("j8")))


def test_replies_that_were_passed_over_may_not_complete_a_line_together() -> None:
    """Two replies that no threat meets, each outside the zone of what follows, would make a line with a third."""
    lines = [0b11, 0b101, 0b111000]  # X a1 threatens b1 and c1; O's line is d1 e1 f1
    game = Game("race", 1, 9, tuple(sorted(lines)))
    assert check_strategy(game, 0, 0, Strategy(0)) == 3
    slow = Strategy(6, {}, Strategy(7, {}, Strategy(8, {}, Strategy(0))))
    with pytest.raises(Refuted):
        check_strategy(game, 0, 0, slow)
    assert plies_of(game, slow, (0, 0)) is None


def test_a_check_gives_up_after_so_many_steps() -> None:
    game = grid(3, 3, 3, misere=False)
    extractor = Extractor(game, Random(3), joined=False)
    board = put(put((0, 0), 4), 1)
    with pytest.raises(CheckTooLong):
        check_strategy(game, *board, extractor.strategy(board), most_steps=3)


@pytest.mark.parametrize(("x", "o"), [(1, 1), (1 << 20, 0), (0, 1), (7, 24), (-1, 0)])
def test_a_position_that_is_none_is_refused(x: int, o: int) -> None:
    with pytest.raises(Refuted):
        check_strategy(grid(3, 3, 3), x, o, Strategy(8))


def test_the_twin_agrees_that_the_positions_are_won() -> None:
    game, twin = grid(3, 3, 3), naive.Game(3, 3, 3)
    for board in ("X...O....", "XO.......", "XO..X....", "X.O.O.X.."):
        x, o = naive.masks(board)
        assert minimax(game)((x, o)) == naive.score(twin, board)
