"""The allowance: a token bucket for each address, what each kind of work costs, and what a refusal says."""

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from asgi import InProcess
from hypothesis import given
from hypothesis import strategies as st
from web import Answer

from play.server import allowance as charging
from play.server.allowance import BATCH, BURST, RATE, Allowance, address_of
from play.server.fair_queue import FairQueue
from play.server.requests import MOST_BOARDS

BOARD = "X.../.O../..../...."
ONE = f"/api/position?board={BOARD}"
NOBODY = "0123456789abcdef"
COSTLIEST = MOST_BOARDS * BATCH


class Bucket:
    """The slow, obvious twin: a bucket of tokens for each address, which fills at a steady rate."""

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.most = max(BURST, 10 * rate)
        self.tokens: dict[str, float] = defaultdict(lambda: self.most)
        self.filled: dict[str, float] = defaultdict(float)

    def charge(self, address: str, cost: float, now: float) -> float:
        """Take tokens, and return 0; or after how many seconds there are enough, and then none is taken."""
        more = (now - self.filled[address]) * self.rate
        self.tokens[address] = min(self.most, self.tokens[address] + more)
        self.filled[address] = now
        if self.tokens[address] < cost:
            return (cost - self.tokens[address]) / self.rate
        self.tokens[address] -= cost
        return 0.0


# Powers of two, and times and costs that are few binary digits long: all sums are exact, so the twins cannot differ.
RATES = [1, 2, 64, 1024]
asks = st.tuples(
    st.integers(0, 2**12).map(lambda ticks: ticks / 64),  # seconds after the one before it
    st.sampled_from(["1.2.3.4", "1.2.3.5", "2001:db8::"]),
    st.integers(1, 8 * 700).map(lambda eighths: eighths / 8),  # the cost
)
Ask = tuple[float, str, float]


@given(st.sampled_from(RATES), st.lists(asks, max_size=60))
def test_it_lets_through_what_a_bucket_of_tokens_does(rate: float, sequence: list[Ask]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: the allowance is a token bucket for each address
    allowance, bucket, now = Allowance(rate), Bucket(rate), 0.0
    for after, address, cost in sequence:
        now += after
        assert allowance.charge(address, cost, now) == bucket.charge(address, cost, now)


@given(st.floats(1, 10_000), st.lists(asks, max_size=60))
def test_no_address_gets_more_than_the_burst_and_the_rate(rate: float, sequence: list[Ask]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: in any time an address gets at most the burst and what the rate adds to it
    allowance, now, got = Allowance(rate), 0.0, defaultdict(float)
    for after, address, cost in sequence:
        now += after
        got[address] += 0 if allowance.charge(address, cost, now) else cost
        assert got[address] <= max(BURST, 10 * rate) + rate * now + 1e-6


@given(st.floats(1, 10_000), st.lists(asks, min_size=1, max_size=60))
def test_it_is_enough_to_wait_as_long_as_a_refusal_says(rate: float, sequence: list[Ask]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: the same request after the time that a refusal names is let through
    allowance, now = Allowance(rate), 0.0
    for after, address, cost in sequence:
        now += after
        cost = min(cost, COSTLIEST)
        wait = allowance.charge(address, cost, now)
        if wait:
            now += wait + 1e-9
            assert allowance.charge(address, cost, now) == 0


@given(asks, st.integers(1, 20))
def test_a_refusal_costs_nothing(ask: Ask, refusals: int) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: a request that is refused changes nothing
    allowance = Allowance(1)
    _, address, cost = ask
    assert allowance.charge(address, BURST, 0.0) == 0
    assert {allowance.charge(address, cost, 0.0) for _ in range(refusals)} == {cost}


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1"])
def test_this_machine_is_limited_only_if_a_limit_is_given(address: str) -> None:
    free, limited = Allowance(), Allowance(RATE)
    assert not any(free.charge(address, BURST, 0.0) for _ in range(100))
    assert [bool(limited.charge(address, BURST, 0.0)) for _ in range(3)] == [False, True, True]
    assert [bool(free.charge("192.168.1.4", BURST, 0.0)) for _ in range(2)] == [False, True]


def test_of_too_many_addresses_those_that_owe_most_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("play.server.allowance._MOST_ADDRESSES", 100)
    allowance = Allowance(1)
    assert allowance.charge("greedy", BURST, 0.0) == 0
    for number in range(10_000):
        assert allowance.charge(f"address {number}", 1.0, number / 1000) == 0
        assert len(allowance._paid_until) <= 100
    assert allowance.charge("greedy", 11.0, 10.0) > 0


@pytest.mark.parametrize(
    ("client", "address"),
    [
        (("192.168.1.4", 5), "192.168.1.4"),
        (("::1", 5), "127.0.0.1"),
        (("127.9.9.9", 5), "127.0.0.1"),
        (("2001:db8:1:2:3:4:5:6", 5), "2001:db8:1::"),
        (("2001:db8:1:ff:ffff::", 5), "2001:db8:1::"),
        (("2001:db8:1:100:ffff::", 5), "2001:db8:1:100::"),
        (("fe80::1%eth0", 5), "fe80::"),
        (("::ffff:192.168.1.4", 5), "192.168.1.4"),
        (("::ffff:127.0.0.1", 5), "127.0.0.1"),
        (("::ffff:127.9.9.9", 5), "127.0.0.1"),
        (["10.0.0.1", 5], "10.0.0.1"),
        (None, ""),
    ],
)
def test_work_is_charged_to_the_address_and_of_ipv6_to_the_network(client: object, address: str) -> None:
    assert address_of({"client": client}) == address
    assert address_of({}) == ""


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A clock that stands still unless a test moves it: what the allowance takes for the module `time`."""
    clock = SimpleNamespace(now=0.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(charging, "time", clock)
    return clock


@pytest.fixture
def limited(serve: Callable[..., InProcess], store4: Path, clock: SimpleNamespace) -> InProcess:
    """An application that allows 1 unit a second, and 500 at once, to every address."""
    return serve(limit=1, seconds=0.05, store=str(store4))


def spend(served: InProcess, units: float, source: str = "127.0.0.1") -> None:
    """Charge an address for work."""
    assert served.app.api.allowance.charge(source, units) == 0


def is_too_many(answer: Answer) -> bool:
    """Whether a request was refused as one too many, and told when to come back."""
    if answer.status != 429:
        return False
    assert answer.error == (429, "too-many-requests")
    assert answer.headers["cache-control"] == "no-store"
    return int(answer.headers["retry-after"]) >= 1


WORK: list[tuple[float, str, str, object]] = [
    (1, "GET", ONE, None),
    (1, "GET", "/api/position?board=", None),  # one that is refused is charged too
    (1, "GET", "/api/games", None),
    (1.04, "GET", "/api/games/4,4,4", None),  # ten lines of four cells
    (6.76, "GET", "/api/games/20,20,5", None),  # 1,152 lines of five
    (10, "POST", "/api/matches", {}),
    (1, "GET", f"/game/state/{NOBODY}", None),
    (1, "POST", "/game/move", {"gameId": NOBODY, "player": "R", "row": 0, "col": 0}),
    (1, "POST", "/ai/move", {"gameId": NOBODY}),
    (10, "POST", "/game/start", {"mode": "PvAI"}),
    (1, "POST", "/api/positions", {"boards": [BOARD] * 8}),
    (50, "POST", "/api/positions", {"boards": [BOARD] * 400}),
]


@pytest.mark.parametrize(("cost", "method", "path", "body"), WORK)
def test_work_costs_what_the_documentation_says(
    cost: float, method: str, path: str, body: object, limited: InProcess
) -> None:
    def is_refused() -> bool:
        answer = limited.ask(method, path, body)
        if isinstance(answer.json, list):  # a batch may be let through, and not the search for its board
            return any(each.get("statusCode") == 429 for each in answer.json)
        return is_too_many(answer)

    spend(limited, BURST - 3 * cost - 0.01)
    assert [is_refused() for _ in range(4)] == [False, False, False, True]


SEARCHES: list[tuple[str, str, object]] = [
    ("GET", "/api/position?game=6,7,4&board=42", None),
    ("POST", "/api/positions", {"game": "6,7,4", "boards": ["42"]}),
    ("GET", "/api/puzzle?seed=1", None),
]


@pytest.fixture
def working(limited: InProcess, clock: SimpleNamespace) -> Callable[[float], None]:
    """Let each of the worker's answers take some seconds."""
    worker = limited.app.worker
    worker._clock = clock.monotonic
    answer = worker._answer

    def take(seconds: float) -> None:
        async def slow(question: str) -> bytes:
            clock.now += seconds
            return await answer(question)

        worker._answer = slow  # type: ignore[method-assign]

    return take


def units_left(served: InProcess, source: str = "127.0.0.1") -> float:
    """Return how many units an address may spend at once, where it gets one more each second."""
    return BURST - served.app.api.allowance.wait(source, BURST)


@pytest.mark.parametrize(("method", "path", "body"), SEARCHES)
def test_a_search_costs_the_seconds_that_it_takes_and_has_to_afford_one_before(
    method: str, path: str, body: object, limited: InProcess, working: Callable[[float], None]
) -> None:
    working(4.0)
    spend(limited, BURST - 250)
    assert limited.ask(method, path, body).status == 200
    assert units_left(limited) == 250 - 1 - 4 * 50 + 4, "it has got four more meanwhile"
    spend(limited, 3)
    again = limited.ask(method, path.replace("seed=1", "seed=2"), body)
    assert (again.json[0] if isinstance(again.json, list) else again.json)["statusCode"] == 429
    assert units_left(limited) == 49, "what is refused costs a look-up"


def test_an_address_may_come_to_owe_what_a_search_took(limited: InProcess, working: Callable[[float], None]) -> None:
    working(20.0)
    assert limited.get("/api/puzzle?seed=1").status == 200
    assert units_left(limited) == BURST - 1 - 1000 + 20
    assert is_too_many(limited.get(ONE))
    assert limited.ask("GET", ONE, source="10.0.0.2").status == 200


def test_a_search_that_was_made_before_or_is_refused_costs_a_look_up(
    limited: InProcess, working: Callable[[float], None]
) -> None:
    working(1.0)
    first = limited.get("/api/puzzle?seed=1")
    before = units_left(limited)
    assert limited.get("/api/puzzle?seed=1").body == first.body
    assert units_left(limited) == before - 1
    limited.app.worker._queue = FairQueue(most_of_one=0)
    assert limited.get("/api/puzzle?seed=2").error == (503, "busy")
    assert units_left(limited) == before - 2


def test_one_of_those_who_ask_the_same_pays_for_it(limited: InProcess, working: Callable[[float], None]) -> None:
    working(2.0)
    sources = ["10.0.0.1", "10.0.0.2", "10.0.0.1"]
    same = (limited.asking("GET", "/api/puzzle?seed=1", source=each) for each in sources)
    assert {answer.status for answer in limited.together(*same)} == {200}
    assert [units_left(limited, each) for each in sources[:2]] == [BURST - 2 - 100 + 2, BURST]


@pytest.mark.parametrize(("machine", "needed"), [("random", 1), ("search", 51)])
def test_a_step_after_which_a_machine_has_to_search_has_to_afford_that(
    machine: str, needed: float, limited: InProcess
) -> None:
    match = limited.begin("3,3,3", O=machine)
    spend(limited, BURST - 10 - needed + 0.01)
    assert is_too_many(limited.move(match, "X", 0, "b2"))
    spend(limited, -1.01)
    assert limited.move(match, "X", 0, "b2").status == 200


def test_the_address_that_lets_a_machine_search_pays_for_it(
    limited: InProcess, working: Callable[[float], None]
) -> None:
    working(3.0)
    match = limited.begin("3,3,3", O="search")
    moved = limited.start_asking(
        "POST", f"/api/matches/{match['id']}/moves", {"version": 0, "id": "1", "move": "b2"}, match["tokens"]["X"],
        source="10.0.0.1",
    )  # fmt: skip
    assert limited.run(moved).status == 200
    limited.wait_for(match, 2)
    assert units_left(limited, "10.0.0.1") == BURST - 1 - 150 + 3
    first = limited.ask("POST", "/api/matches", {"game": "3,3,3", "players": {"X": "search"}}, source="10.0.0.2").json
    limited.wait_for(first, 1)
    assert units_left(limited, "10.0.0.2") == BURST - 10 - 150 + 3


def test_a_machine_of_the_duel_moves_only_if_that_can_be_afforded(
    limited: InProcess, clock: SimpleNamespace, working: Callable[[float], None]
) -> None:
    working(1.0)
    game = {"gameId": limited.post("/game/start", {"mode": "PvAI", "level": 0}).json["id"]}
    assert limited.post("/game/move", {**game, "player": "R", "row": 0, "col": 0}).status == 200
    spend(limited, units_left(limited) - 50)
    assert is_too_many(limited.post("/ai/move", game))
    assert limited.app.api.matches.find(game["gameId"]).version == 1
    clock.now += 2
    assert limited.post("/ai/move", game).status == 200
    assert units_left(limited) == 49 + 2 - 1 - 50 + 1
    assert limited.post("/ai/move", game).status == 409


def test_a_page_of_another_origin_may_read_that_it_asks_too_much_where_it_may_read(limited: InProcess) -> None:
    spend(limited, BURST)
    for method, path, body in (("GET", ONE, None), ("POST", "/api/positions", {"boards": [BOARD] * 80})):
        answer = limited.ask(method, path, body, Origin="http://a.example")
        assert is_too_many(answer)
        assert answer.headers["access-control-allow-origin"] == "*"
    answer = limited.post("/api/matches", {})
    assert is_too_many(answer)
    assert "access-control-allow-origin" not in answer.headers


def test_an_answer_that_is_kept_is_charged_too_and_a_page_is_not(limited: InProcess) -> None:
    etag = limited.get(ONE).headers["etag"]
    spend(limited, BURST - 3)
    assert [limited.get(ONE, If_None_Match=etag).status for _ in range(3)] == [304, 304, 429]
    assert limited.get("/").status == limited.get("/api/openapi.json").status == 200


def test_it_is_enough_to_wait_as_long_as_retry_after_says(limited: InProcess, clock: SimpleNamespace) -> None:
    spend(limited, BURST - 9.5)
    answer = limited.post("/api/matches", {"game": "3,3,3"})  # 10 units
    assert is_too_many(answer)
    assert answer.headers["retry-after"] == "1"
    clock.now += 1
    assert limited.post("/api/matches", {"game": "3,3,3"}).status == 201


def test_each_address_has_an_allowance_of_its_own(limited: InProcess) -> None:
    spend(limited, BURST, "10.0.0.1")
    assert [limited.ask("GET", ONE, source=each).status for each in ("10.0.0.1", "10.0.0.2")] == [429, 200]
