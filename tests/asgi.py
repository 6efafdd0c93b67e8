"""The application of `ttt4-play serve` in this process: it runs while a test waits for an answer, and only then."""

import asyncio
import io
import shutil
import threading
import warnings
from collections.abc import Awaitable, Coroutine, Iterator
from contextlib import contextmanager, redirect_stderr, suppress
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

import uvicorn
import uvloop
from documented import require_documented
from web import Answer, Client, Event, read_answer, request_of

from oracle.oracle import SearchingLive
from play.server.app import App
from play.server.desk import Desk
from play.server.retention import MOST_OF_ONE
from play.server.serving import listen, server_of
from play.server.worker import _unpacked, answer_of

T = TypeVar("T")


class Exchange:
    """One request to an application, and what the application sends for it."""

    def __init__(self, app: Any, method: str, target: str, headers: dict[str, str], body: bytes, source: str) -> None:
        """Ask, as if from an address."""
        path, _, query = target.partition("?")
        self._scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http", "method": method,
            "path": unquote(path), "raw_path": path.encode(), "query_string": query.encode("ascii"), "root_path": "",
            "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()],
            "client": (source, 50_000), "server": ("127.0.0.1", 4444),
        }  # fmt: skip
        self._app = app
        self._parts = [body[at : at + 65_536] for at in range(0, len(body), 65_536)] or [b""]
        self._gone = asyncio.Event()
        self.status = 0
        self.headers: dict[str, str] = {}
        self.sent: asyncio.Queue[bytes | None] = asyncio.Queue()

    async def run(self) -> None:
        try:
            await self._app(self._scope, self._receive, self._send)
        finally:
            self.sent.put_nowait(None)

    def leave(self) -> None:
        self._gone.set()

    async def body(self) -> bytes:
        parts = []
        while (part := await self.sent.get()) is not None:
            parts.append(part)
        return b"".join(parts)

    async def _receive(self) -> dict[str, Any]:
        if self._parts:
            part = self._parts.pop(0)
            return {"type": "http.request", "body": part, "more_body": bool(self._parts)}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            assert not self.status, "an answer begins once"
            self.status = message["status"]
            self.headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in message["headers"]}
            return
        assert self.status, "an answer begins with its head"
        if self._scope["method"] != "HEAD":
            self.sent.put_nowait(message.get("body", b""))
        if not message.get("more_body"):
            self._gone.set()


class InProcess(Client):
    """The application on a log of its own, and a client of it: a context manager.

    All runs in one thread, in turn with the test. Searches, for which the server has a process of its own, run here
    too, when the gate `searching` is open.
    """

    def __init__(
        self, state: Path, *,
        limit: float | None = None, hosts: tuple[str, ...] = (), most_of_one: int = MOST_OF_ONE, **settings: Any,
    ) -> None:  # fmt: skip
        """Keep games below `state`; `settings` are those of the desk."""
        self.file = state / "ttt4" / "matches.sqlite"
        self.limit = limit
        self.hosts = hosts
        self.most_of_one = most_of_one
        self.settings = settings
        self.said_so_far = io.StringIO()
        self.loop = uvloop.new_event_loop()
        self.loop.set_exception_handler(lambda loop, context: self.said_so_far.write(f"Traceback: {context}\n"))
        self._port = 0
        self.start()

    def __enter__(self) -> "InProcess":
        return self

    def __exit__(self, *error: object) -> None:
        if not self.loop.is_closed():
            self.end()
            self.run(self.loop.shutdown_default_executor())
            self.loop.close()

    @property
    def said(self) -> str:
        """What it has written to standard error."""
        return self.said_so_far.getvalue()

    @property
    def host(self) -> str:
        return "127.0.0.1:4444"

    @property
    def url(self) -> str:
        return f"http://{self.host}"

    @property
    def port(self) -> int:
        """A port at which it answers over HTTP while it runs."""
        if not self._port:
            self._port = self.run(self._listen())
        return self._port

    def start(self) -> None:
        desk = Desk(**self.settings)
        with redirect_stderr(self.said_so_far):
            self.app = App(desk, str(self.file), limit=self.limit, hosts=self.hosts, most_of_one=self.most_of_one)
        self.app.log.file._connection.execute("PRAGMA synchronous = OFF")  # no test cuts the power
        self.searching = asyncio.Event()
        self.searching.set()
        store, live, seconds = self.app.desk.settings
        searcher = Desk(store, live=live, seconds=seconds)

        async def answer(question: str) -> bytes:
            await asyncio.sleep(0)
            await self.searching.wait()
            return _unpacked(answer_of(searcher, question).encode() + b"\n")

        self.app.worker._answer = answer  # type: ignore[method-assign]
        self._messages: asyncio.Queue[dict[str, str]] = asyncio.Queue()
        self._lifespan = self.loop.create_task(self.app({"type": "lifespan"}, self._messages.get, self._lived))
        self._lives = asyncio.Event()
        self._messages.put_nowait({"type": "lifespan.startup"})
        self.run(self._lives.wait())

    def end(self) -> None:
        """End the application as the server does."""
        self._messages.put_nowait({"type": "lifespan.shutdown"})
        self.run(self._stopped(self._lifespan))

    def restart(self) -> None:
        """Start again as after kill -9: with the log's file as it is on disk, and nothing else."""
        left = shutil.copy(self.file, self.file.with_suffix(".left"))
        self.end()
        Path(left).rename(self.file)
        self.start()

    def run(self, work: Awaitable[T], within: float = 60.0) -> T:
        async def working() -> T:
            async with asyncio.timeout(within):
                return await work

        with redirect_stderr(self.said_so_far), warnings.catch_warnings():
            warnings.simplefilter("ignore", SearchingLive)
            return self.loop.run_until_complete(working())

    def ask(
        self, method: str, path: str, body: Any = None, token: str | None = None, *,
        source: str = "127.0.0.1", **headers: str,
    ) -> Answer:  # fmt: skip
        """Send one request, as if from an address, and return the answer; a body not of bytes is JSON."""
        return self.run(self.asking(method, path, body, token, source=source, **headers))

    def together(self, *asked: Coroutine[Any, Any, Answer]) -> list[Answer]:
        """Return the answers to requests that are sent at the same time."""

        async def gathered() -> list[Answer]:
            return await asyncio.gather(*asked)

        return self.run(gathered())

    async def asking(
        self, method: str, path: str, body: Any = None, token: str | None = None, *,
        source: str = "127.0.0.1", **headers: str,
    ) -> Answer:  # fmt: skip
        data, named = request_of(body, token, headers)
        return await self.sending(method, path, named, data, source)

    async def sending(
        self, method: str, path: str, headers: dict[str, str], body: bytes, source: str = "127.0.0.1"
    ) -> Answer:
        """Send one request with these headers and no others but for the host, and return the answer."""
        exchange = Exchange(self.app, method, path, {"Host": self.host, **headers}, body, source)
        await exchange.run()
        sent = await exchange.body()
        if method != "HEAD" and "content-length" in exchange.headers:
            assert len(sent) == int(exchange.headers["content-length"]), exchange.headers
        answer = Answer(exchange.status, exchange.headers, sent)
        require_documented(method, path, answer)
        return answer

    def start_asking(self, *asked: Any, **more: Any) -> "asyncio.Task[Answer]":
        """Send a request, and wait for nothing; `run` waits for its answer."""
        return self.loop.create_task(self.asking(*asked, **more))

    @contextmanager
    def writing_held_up(self, *, committed: bool = True) -> Iterator[threading.Event]:
        """Hold up the log's commits, after or before they are made, and yield what says that one waits."""
        reached, let_go, commit = threading.Event(), threading.Event(), self.app.log._commit

        def waiting(batch: Any) -> Any:
            results = commit(batch) if committed else None
            reached.set()
            assert let_go.wait(60)
            return results or commit(batch)

        self.app.log._commit = waiting  # type: ignore[method-assign]
        try:
            yield reached
        finally:
            let_go.set()
            self.app.log._commit = commit  # type: ignore[method-assign]

    def raw(self, data: bytes) -> Answer:
        """Send bytes over HTTP, and return the answer to the request that they are or are not."""
        return self.run(self._raw(self.port, data))

    def follow(self, match: Any, after: int | None = None) -> "Stream":
        """Follow a match, resuming after a version if one is given."""
        headers = {} if after is None else {"Last-Event-ID": str(after)}
        return self.stream(f"/api/matches/{match['id']}/events", **headers)

    def stream(self, path: str, source: str = "127.0.0.1", **headers: str) -> "Stream":
        return Stream(self, Exchange(self.app, "GET", path, {"Host": self.host, **headers}, b"", source))

    def wait_for(self, match: Any, version: int) -> Any:
        """Return the match once its machines have brought it to a version."""

        async def reached() -> None:
            live = self.app.api.matches.find(match["id"])
            while live.version < version:
                assert live.machine, f"no machine moves at version {live.version}: {self.said}"
                rung = asyncio.Event()
                live.followers.add(rung)
                try:
                    await rung.wait()
                finally:
                    live.followers.discard(rung)

        self.run(reached())
        return self.get(f"/api/matches/{match['id']}").json

    def play_out(self, match: Any, machine: str) -> Any:
        """Play a match to its end against a machine, always the last legal move, and return it."""
        now = self.state_of(match)
        while not now["outcome"]:
            if now["to_move"] == machine:
                now = self.wait_for(match, now["version"] + 1)
                assert now["events"][-1]["side"] == machine
            else:
                assert self.move(match, now["to_move"], now["version"], now["legal"][-1]).status == 200
                now = self.state_of(match)
        return now

    async def _lived(self, message: dict[str, str]) -> None:
        self._lives.set()

    async def _stopped(self, lifespan: "asyncio.Task[None]") -> None:
        """Wait for the end, and leave nothing running."""
        await lifespan
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    async def _listen(self) -> int:
        async def app(scope: Any, receive: Any, send: Any) -> None:
            await self.app(scope, receive, send)  # which may have been started anew

        listening, _ = listen("127.0.0.1", 0)
        config, state = server_of(app).config, uvicorn.server.ServerState()
        config.load()
        kind: Any = config.http_protocol_class
        await self.loop.create_server(
            lambda: kind(config=config, server_state=state, app_state={}, _loop=self.loop), sock=listening
        )
        return int(listening.getsockname()[1])

    @staticmethod
    async def _raw(port: int, data: bytes) -> Answer:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            with suppress(ConnectionError):  # the server may have seen enough
                writer.write(data)
                await writer.drain()
            return await read_answer(reader)
        finally:
            writer.transport.abort()


class Stream:
    """A stream of events that somebody follows; `text` is what was read of it."""

    def __init__(self, server: InProcess, exchange: Exchange) -> None:
        self._server = server
        self._exchange = exchange
        self._task = server.loop.create_task(exchange.run())
        self._events: list[Event] = []
        self.text = ""

    @property
    def headers(self) -> dict[str, str]:
        self._server.run(asyncio.sleep(0))
        return self._exchange.headers

    def next(self) -> Event:
        return self._server.run(self.coming())

    def some(self, count: int) -> list[Event]:
        return [self.next() for _ in range(count)]

    def waiting(self) -> list[Event]:
        """Return the events that have come already, and wait for none."""
        self._server.run(asyncio.sleep(0))
        while not self._exchange.sent.empty():
            self._server.run(self.read())
        found, self._events = self._events, []
        return found

    async def coming(self) -> Event:
        while not self._events:
            await self.read()
        return self._events.pop(0)

    async def read(self) -> None:
        self._events += self._parsed(await self._exchange.sent.get())

    def close(self) -> None:
        self._exchange.leave()
        self._server.run(asyncio.wait_for(self._task, 20))

    def _parsed(self, part: bytes | None) -> list[Event]:
        assert part is not None, f"the stream has ended: {self._server.said}"
        self.text += part.decode()
        found = (Event.parsed(text) for text in part.decode().split("\n\n"))
        return [event for event in found if event and event.kind != "beat"]
