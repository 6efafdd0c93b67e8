"""What a build would take on many machines: a model, fed with costs that are measured here.

Usage: python tests/bench/bench_cluster.py measure --game 4,5,4            CPU and bytes a place, of every phase
       python tests/bench/bench_cluster.py overhead --workers 1000         what the scheduler takes for a task
       python tests/bench/bench_cluster.py model --game 4,7,4 --machines 1 16 100 [--cpu 12 ...]

`measure` builds a game on one thread with pages in files, and counts what is read and written. `overhead` starts so
many dask workers in one process, which do nothing, and gives them tasks. `model` cuts the game into the tasks that a
build would do, and gives them to the cores of so many machines, layer by layer: a task takes its CPU, and its bytes at
its share of the network; the scheduler hands out one after the other; a layer begins when the one before is done; at
the end one process writes the store.

The model cannot show what differs between machines, a network that is shared with others, an object store that slows
down, disks, or failures.
"""

import argparse
import asyncio
import heapq
import resource
import tempfile
from dataclasses import dataclass
from time import perf_counter, process_time
from typing import Any

from solver.games.notation import parse_game
from solver.index.symmetry import symmetries
from solver.proof.crew import threads
from solver.proof.plan import Holder
from solver.proof.progress import duration, silent
from solver.proof.prove import LineProof
from solver.scratch.folder import LocalFolder
from solver.scratch.tasks import TaskFiles
from solver.sweep.layers import page_sizes


class CountingFolder(LocalFolder):
    """A folder that counts the bytes that are read from pages."""

    read = 0

    def ranges(self, wanted: Any) -> list[bytes]:
        found = super().ranges(wanted)
        CountingFolder.read += sum(map(len, found))
        return found


def measure(game_name: str) -> None:
    """Build on one thread with pages in files, and print nanoseconds and bytes a place."""
    game = parse_game(game_name)
    with tempfile.TemporaryDirectory() as name, threads(1) as crew:
        folder = CountingFolder(name)
        files = TaskFiles(folder, game, bytes(4))
        proof = LineProof(
            game, symmetries(game), files.keep, crew=crew, folder=folder, holder=Holder.FILES, on_progress=silent
        )
        written = 0
        start = process_time()
        for stage in proof.stages():
            for _ in stage.made:
                pass
            sizes = folder.sizes()
            written += sum(size for file, size in sizes.items() if file.startswith(f"{stage.number:02}."))
        spent, places = process_time() - start, proof.plan.filled
        records = sum(size for file, size in folder.sizes().items() if file.endswith(".records"))
        for phase, seconds in proof.summary.seconds.items():
            print(f"{phase:8} {1e9 * seconds / places:6.2f} ns a place")
        print(f"{game_name}: {1e9 * spent / places:.2f} ns of CPU a place in all, of {places:,}")
        print(f"bytes a place: read {folder.read / places:.4f}, written {written / places:.4f}, "
              f"of which records {records / places:.4f}")  # fmt: skip
        print(f"peak of the process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10:,} MB")


def overhead(workers: int, tasks: int) -> None:
    """Print the seconds that a scheduler with so many workers takes for each task."""
    from distributed import Client, Scheduler, Worker

    async def run() -> None:
        async with Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
            made = [Worker(scheduler.address, nthreads=1, dashboard=False, memory_limit=0) for _ in range(workers)]
            for at in range(0, workers, 50):
                await asyncio.gather(*made[at : at + 50])
            async with Client(scheduler.address, asynchronous=True) as client:
                await client.gather(client.map(nothing, range(workers)))
                start, cpu = perf_counter(), process_time()
                futures = [client.submit(nothing, i, pure=False) for i in range(workers, workers + tasks)]
                await client.gather(futures)
                wall, spent = perf_counter() - start, process_time() - cpu
                each, used = 1e3 * wall / tasks, 1e3 * spent / tasks
                print(f"{workers:,} workers, {tasks:,} tasks: {each:.2f} ms a task, {used:.2f} ms of CPU")
                print("(scheduler, client and workers in one process)")
            await asyncio.gather(*(worker.close() for worker in made))

    asyncio.run(run())


def nothing(number: int) -> int:
    return number


@dataclass(frozen=True)
class Costs:
    """What is measured: nanoseconds and bytes a place, seconds a task, bytes a second."""

    cpu: float
    read: float
    written: float
    record: float
    handing: float
    network: float
    writing: float


def model(game_name: str, machines: list[int], cores: int, costs: Costs) -> None:
    """Print how long a build takes on so many machines, and what it waits for."""
    game = parse_game(game_name)
    with threads(1) as crew:
        proof = LineProof(game, symmetries(game), None, crew=crew, on_progress=silent)  # type: ignore[arg-type]
        layers = [[places_of(proof, task) for task in layer.tasks] for layer in proof.layers()]
    total = sum(map(sum, layers))
    print(f"{game_name}: {total:,} places, {sum(map(len, layers)):,} tasks in {len(layers)} layers")
    alone = total * costs.cpu * 1e-9 / cores
    for count in machines:
        hours = sum(layer_seconds(layer, count, cores, costs) for layer in layers) if count else 0.0
        store = total * costs.record / costs.writing
        traffic = total * (costs.read + costs.written)
        share = alone / count / (hours + store)
        print(
            f"{count:4} machines of {cores} cores: {duration(hours + store)}, of which {duration(store)} to write the "
            f"store; {share:.0%} of the cores' time is work; {traffic / 1e12:.2f} TB cross the network"
        )


def places_of(proof: "LineProof[Any]", task: Any) -> int:
    x_size, o_size = page_sizes(proof.plan.cells, task.layer)
    return int((task.part.stop - task.part.start) * (o_size + task.part.open * x_size))


def layer_seconds(tasks: list[int], machines: int, cores: int, costs: Costs) -> float:
    """How long the tasks of a layer take: each goes to the core that is free first, when it is its turn."""
    free = [0.0] * (machines * cores)
    handed = ended = 0.0
    for places in tasks:
        handed += costs.handing
        begun = max(heapq.heappop(free), handed)
        sent = places * (costs.read + costs.written) / (costs.network / cores)
        end = begun + places * costs.cpu * 1e-9 + sent
        heapq.heappush(free, end)
        ended = max(ended, end)
    return ended


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    of = commands.add_parser("measure")
    of.add_argument("--game", default="4,5,4")
    of = commands.add_parser("overhead")
    of.add_argument("--workers", type=int, default=1000)
    of.add_argument("--tasks", type=int, default=5000)
    of = commands.add_parser("model")
    of.add_argument("--game", default="4,7,4")
    of.add_argument("--machines", type=int, nargs="+", default=[1, 16, 100])
    of.add_argument("--cores", type=int, default=16)
    of.add_argument("--cpu", type=float, default=COSTS.cpu)
    of.add_argument("--handing", type=float, default=COSTS.handing)
    of.add_argument("--network", type=float, default=COSTS.network)
    options = parser.parse_args()
    if options.command == "measure":
        measure(options.game)
    elif options.command == "overhead":
        overhead(options.workers, options.tasks)
    else:
        costs = Costs(
            options.cpu, COSTS.read, COSTS.written, COSTS.record, options.handing, options.network, COSTS.writing
        )
        model(options.game, options.machines, options.cores, costs)


COSTS = Costs(cpu=21.0, read=0.53, written=0.20, record=0.08, handing=0.0054, network=1.25e9, writing=2e8)
"""CPU as 3,9,3 took it, bytes as 4,5,4 did (larger boards take fewer), and the scheduler with 128 workers. Assumed are
the network, 10 Gbit a second for each machine, and the disk that the store is written to."""


if __name__ == "__main__":
    main()
