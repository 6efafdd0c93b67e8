"""The fair queue: whose turn it is, and who finds no place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from play.server.fair_queue import _REMEMBERED, FairQueue, QueueFull

POLITE = ["p1", "p2", "p3", "p4", "p5"]


def serve(queue: FairQueue[str], seconds: float = 1.0) -> tuple[str, str]:
    """Take the next item, and let it take some time."""
    address, item = queue.take()
    queue.charge(address, seconds)
    return address, item


def fill(queue: FairQueue[str], address: str, count: int) -> None:
    """Let items of an address wait."""
    for number in range(count):
        assert queue.put(address, f"{address} {number}") is None


@given(st.lists(st.tuples(st.sampled_from(POLITE), st.integers(0, 4)), max_size=60), st.floats(0.01, 100))
def test_a_polite_address_waits_for_one_item_of_each_other_however_much_a_greedy_one_asks(
    sequence: list[tuple[str, int]], greed: float
) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: an item of an address that owes nothing waits one turn for each other
    queue = FairQueue[str]()
    turns_left: dict[str, int] = {}
    asked = 0
    for address, served in sequence:
        asked += 1
        while queue._waiting.get("greedy") is None or len(queue._waiting["greedy"]) < 8:
            asked += 1
            queue.put("greedy", str(asked))
        if address not in queue._waiting and address not in queue._used:
            turns_left[address] = len(queue._waiting)
        if address not in queue._waiting:
            queue.put(address, f"{address} {asked}")
        for _ in range(served):
            if queue:
                whose, _ = queue.take()
                queue.charge(whose, greed if whose == "greedy" else 1.0)
                turns_left = {each: left - 1 for each, left in turns_left.items() if each != whose}
                assert all(left >= 0 for left in turns_left.values())


def test_one_greedy_address_gets_a_sixth_of_the_turns_beside_five_that_ask_one_thing_after_another() -> None:
    queue = FairQueue[str]()
    fill(queue, "greedy", 8)
    for address in POLITE:
        fill(queue, address, 1)
    turns = []
    for number in range(60):
        address, _ = serve(queue)
        turns.append(address)
        queue.put(address, f"more {number}")
    for first in range(0, 60, 6):
        assert set(turns[first : first + 6]) == {"greedy", *POLITE}, turns


def test_turns_are_by_work_and_not_by_number() -> None:
    queue = FairQueue[str]()
    fill(queue, "slow", 8)
    fill(queue, "quick", 8)
    order = []
    for number in range(44):
        address, _ = queue.take()
        queue.charge(address, 10.0 if address == "slow" else 1.0)
        order.append(address)
        queue.put(address, f"{address} more {number}")
    assert order.count("slow") == 4, order


def test_nobody_saves_up_time_by_asking_nothing() -> None:
    queue = FairQueue[str]()
    fill(queue, "late", 1)
    fill(queue, "busy", 8)
    serve(queue)
    for number in range(100):
        serve(queue)
        queue.put("busy", f"more {number}")
    fill(queue, "late", 8)
    assert [serve(queue)[0] for _ in range(6)] == ["late", "busy"] * 3


def test_each_address_has_some_places_and_when_all_are_taken_one_with_most_gives_up_its_last() -> None:
    queue = FairQueue[str](most=6, most_of_one=4)
    fill(queue, "a", 4)
    with pytest.raises(QueueFull):
        queue.put("a", "a 4")
    fill(queue, "b", 2)
    assert queue.put("c", "c 0") == "a 3"
    assert queue.put("c", "c 1") == "a 2"
    with pytest.raises(QueueFull):  # all have as many
        queue.put("c", "c 2")
    assert queue.put("d", "d 0") == "a 1"
    assert len(queue) == 6
    assert sorted(serve(queue)[1] for _ in range(6)) == ["a 0", "b 0", "b 1", "c 0", "c 1", "d 0"]


def test_an_item_of_several_addresses_is_taken_once_in_the_first_of_their_turns() -> None:
    queue = FairQueue[str](most=6, most_of_one=4)
    fill(queue, "greedy", 3)
    queue.put("greedy", "shared")
    assert queue.put("polite", "shared") is None
    assert queue.put("polite", "shared") is None, "it waits already"
    assert len(queue) == 5
    assert [serve(queue) for _ in range(4)] == [
        ("greedy", "greedy 0"), ("polite", "shared"), ("greedy", "greedy 1"), ("greedy", "greedy 2"),
    ]  # fmt: skip
    assert not queue


def test_an_item_that_waits_for_another_address_too_is_not_dropped() -> None:
    queue = FairQueue[str](most=5, most_of_one=4)
    fill(queue, "greedy", 3)
    queue.put("greedy", "shared")
    queue.put("polite", "shared")
    assert queue.put("third", "third") is None
    assert "shared" in queue
    assert len(queue) == 5


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.booleans()), max_size=120))
def test_what_waits_is_taken_once_or_dropped_and_the_bounds_hold(sequence: list[tuple[int, int, bool]]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: no item of a fair queue is lost or taken twice
    queue, waiting = FairQueue[str](most=7, most_of_one=3), set[str]()
    for number, (address, again, taking) in enumerate(sequence):
        item = str(number - again)
        if taking and queue:
            _, taken = serve(queue, again)
            waiting.remove(taken)
            continue
        try:
            dropped = queue.put(str(address), item)
        except QueueFull:
            continue
        waiting = (waiting | {item}) - {dropped or ""}
        assert len(queue) <= 7
        assert max(map(len, queue._waiting.values())) <= 3
        assert all(each in queue for each in waiting)
    while queue:
        waiting.remove(serve(queue)[1])
    assert not waiting


def test_of_too_many_addresses_those_that_have_used_most_are_remembered() -> None:
    queue = FairQueue[str]()
    fill(queue, "greedy", 8)
    serve(queue, 50.0)
    for number in range(3 * _REMEMBERED):
        queue.put(f"address {number}", "one")
        serve(queue)
        assert len(queue._used) <= _REMEMBERED
    queue.put("new", "one")
    assert [serve(queue)[0] for _ in range(2)] == ["new", "greedy"]
