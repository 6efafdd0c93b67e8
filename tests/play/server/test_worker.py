"""The worker: in whose turn questions are answered, who pays, and what goes on while it is flooded."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from asgi import InProcess

from play.server.allowance import Allowance
from play.server.fair_queue import MOST_OF_ONE, MOST_WAITING
from play.server.problems import Problem
from play.server.worker import Worker

POLITE = [f"10.0.1.{number}" for number in range(5)]


class Turns:
    """A worker that answers only when it is told to, each question in a second of its clock."""

    def __init__(self) -> None:
        self.worker = Worker(None, True, 2.0, Allowance(1e9), clock=lambda: float(len(self.taken)))
        self.worker._answer = self._answer  # type: ignore[method-assign]
        self.taken: list[str] = []
        self._gate = asyncio.Semaphore(0)

    def ask(self, address: str, question: object) -> "asyncio.Task[bytes]":
        """Ask something, which is in `taken` under the address's name."""
        asking = asyncio.create_task(self.worker.ask(address, "position", address, question))
        asking.add_done_callback(lambda done: done.cancelled() or done.exception())
        return asking

    async def take(self, count: int = 1) -> list[str]:
        """Let questions be answered; return whose they were."""
        for _ in range(count):
            before = len(self.taken)
            self._gate.release()
            while len(self.taken) == before:
                await asyncio.sleep(0)
            await settled()
        return self.taken[-count:]

    async def _answer(self, question: str) -> bytes:
        await self._gate.acquire()
        self.taken.append(question.split('"')[3])
        return question.encode()


async def settled() -> None:
    """Let everybody go on who can."""
    for _ in range(10):
        await asyncio.sleep(0)


def in_turns(test: Callable[[Turns], Awaitable[None]]) -> None:
    """Run a test."""

    async def running() -> None:
        await test(Turns())

    asyncio.run(running())


def test_five_polite_addresses_get_their_turns_beside_a_greedy_one_that_asks_all_the_time() -> None:
    async def test(turns: Turns) -> None:
        greedy = [turns.ask("greedy", number) for number in range(100)]
        await settled()
        assert sum(task.done() for task in greedy) == 100 - MOST_OF_ONE, "the others are refused at once"
        asked = {address: turns.ask(address, 0) for address in POLITE}
        await settled()
        for number in range(1, 11):  # ten rounds
            round_of = await turns.take(6)
            assert Counter(round_of) == dict.fromkeys(["greedy", *POLITE], 1), round_of
            assert all(task.done() for task in asked.values())
            asked = {address: turns.ask(address, number) for address in POLITE}
            greedy += [turns.ask("greedy", f"{number} {each}") for each in range(100)]
            await settled()

    in_turns(test)


def test_when_many_addresses_flood_it_a_new_one_finds_a_place_and_its_turn() -> None:
    async def test(turns: Turns) -> None:
        turns.ask("first", 0)
        await settled()
        flood = [turns.ask(f"10.0.0.{address}", number) for number in range(9) for address in range(30)]
        await settled()
        waiting = [task for task in flood if not task.done()]
        assert len(waiting) == MOST_WAITING
        polite = turns.ask("polite", 0)
        await settled()
        assert sum(task.done() for task in waiting) == 1, "one that has more gave up a place"
        assert "polite" in await turns.take(1 + 31)
        assert await polite
        refused = [task.exception() for task in flood if task.done() and task.exception()]
        assert {str(error) for error in refused} == {"too many searches are waiting: try again soon"}

    in_turns(test)


def test_what_several_ask_is_answered_once_in_the_first_of_their_turns() -> None:
    async def test(turns: Turns) -> None:
        for number in range(MOST_OF_ONE - 1):
            turns.ask("greedy", number)
        shared = [asyncio.create_task(turns.worker.ask(each, "position", "shared")) for each in ("greedy", "polite")]
        await settled()
        assert await turns.take(2) == ["greedy", "shared"]
        assert await shared[0] == await shared[1]
        assert set(await turns.take(MOST_OF_ONE - 2)) == {"greedy"}
        assert not turns.worker._asked

    in_turns(test)


def test_a_question_that_fails_is_an_error_to_all_who_ask_it_and_the_next_one_is_answered() -> None:
    async def test(turns: Turns) -> None:
        async def fail(question: str) -> bytes:
            turns.worker._answer = turns._answer  # type: ignore[method-assign]
            raise Problem(503, "busy", "it has ended")

        turns.worker._answer = fail  # type: ignore[method-assign]
        failing = [turns.ask("a", 1), turns.ask("a", 1)]
        after = turns.ask("a", 2)
        await turns.take()
        assert await after
        for task in failing:
            with pytest.raises(Problem, match="it has ended"):
                await task
        again = turns.ask("a", 1)
        await turns.take()
        assert await again

    in_turns(test)


def test_while_searches_are_flooded_from_one_and_from_many_addresses_look_ups_and_moves_go_on(
    serve: Callable[..., InProcess], store4: Path
) -> None:
    served = serve(store=str(store4))
    served.searching.clear()
    sources = ["10.0.0.1"] * 40 + [f"10.1.0.{number}" for number in range(123)]
    flood = [
        served.start_asking("GET", f"/api/puzzle?stars=5&outcome=draw&seed={number}", source=source)
        for number, source in enumerate(sources)
    ]
    match = served.begin()
    assert served.move(match, "X", 0, "b2").status == 200
    assert served.move(match, "O", 1, "a1").status == 200
    with_machine = served.begin(O="oracle")
    assert served.move(with_machine, "X", 0, "b2").status == 200
    assert served.wait_for(with_machine, 2)["version"] == 2
    for source in ("10.0.0.1", "10.2.0.1"):
        assert served.ask("GET", "/api/position?board=X.../.O../..../....", source=source).status == 200
        assert served.ask("GET", "/api/games", source=source).status == 200
    told = Counter(task.result().error for task in flood if task.done())
    assert set(told) == {(503, "busy")}, told
    assert sum(not task.done() for task in flood) == MOST_WAITING
    for task in flood:
        task.cancel()
