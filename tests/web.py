"""A server in a process of its own, and small clients: one request at a time, and many at once."""

import asyncio
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

SERVE = [sys.executable, "-c", "from solver.start import play; play()", "serve"]


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> tuple[int, str]:
        """The status and the kind of an error, which has the one shape that all errors have."""
        fields = self.json
        assert self.headers["content-type"] == "application/json"
        assert int(self.headers["content-length"]) == len(self.body)
        assert {name: type(value) for name, value in fields.items() if name not in ("match", "state")} == {
            "error": str, "message": str, "statusCode": int,
        }  # fmt: skip
        assert fields["statusCode"] == self.status
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", fields["error"]), fields
        assert fields["message"], fields
        assert fields["message"].isprintable(), fields
        return self.status, fields["error"]


class Client:
    """What tests ask of a server, however its requests get there."""

    def ask(self, method: str, path: str, body: Any = None, token: str | None = None, **headers: str) -> Answer:
        """Send one request, and return the answer; a body not of bytes is JSON."""
        raise NotImplementedError

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, **headers)

    def post(self, path: str, body: Any, token: str | None = None, **headers: str) -> Answer:
        return self.ask("POST", path, body, token, **headers)

    def begin(self, game: str = "4,4,4", **players: str) -> Any:
        """Begin a match and return its JSON, tokens included."""
        answer = self.post("/api/matches", {"game": game, "players": players})
        assert answer.status == 201, answer
        return answer.json

    def move(self, match: Any, side: str, version: int, move: str, ident: str | None = None) -> Answer:
        """Send a move for a side, by default with an id that no other has."""
        body = {"version": version, "id": ident or os.urandom(8).hex(), "move": move}
        return self.post(f"/api/matches/{match['id']}/moves", body, match["tokens"][side])

    def play(self, match: Any, moves: Sequence[str], version: int = 0) -> list[Any]:
        """Make moves by turns, X first, and return the steps."""
        answers = [self.move(match, "XO"[at % 2], at, move) for at, move in enumerate(moves, version)]
        assert {answer.status for answer in answers} <= {200}, answers
        return [answer.json for answer in answers]

    def state_of(self, match: Any) -> Any:
        """Return a match as it stands."""
        answer = self.get(f"/api/matches/{match['id']}")
        assert answer.status == 200, answer
        return answer.json


class Served(Client):
    """`ttt4-play serve` as a process: a context manager."""

    def __init__(self, state: Path, *options: str, **environment: str) -> None:
        """Keep games below `state`; `environment` is added to this process's own."""
        self.options = options
        self.environment = {**os.environ, "XDG_STATE_HOME": str(state), **environment}
        self.port = 0
        self.log = state / "server.log"
        state.mkdir(parents=True, exist_ok=True)
        self.start()

    def __enter__(self) -> "Served":
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.host}"

    @property
    def said(self) -> str:
        """What it has written to standard error."""
        return self.log.read_text(errors="replace")

    def command(self) -> list[str]:
        """The words that start it."""
        return SERVE

    def start(self) -> None:
        """Start it, on the port that it had before if there is one, and wait until it answers."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*self.command(), "--port", str(self.port), *self.options], stdout=subprocess.PIPE, stderr=log,
                env=self.environment, text=True, start_new_session=True,
            )  # fmt: skip
        line = self.process.stdout.readline()
        found = re.search(r"http://\S+?:(\d+) ", line)
        assert found, f"no address in {line!r}: {self.said}"
        self.port = int(found[1])

    def end(self, number: int = signal.SIGINT, within: float = 10.0) -> int:
        """Send it a signal, and return its exit code and so how it took that."""
        self.process.send_signal(number)
        return self.process.wait(within)

    def restart(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.start()

    def ask(
        self, method: str, path: str, body: Any = None, token: str | None = None, **headers: str
    ) -> Answer:  # fmt: skip
        """Send one request, and return the answer; a body not of bytes is JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        data, named = request_of(body, token, headers)
        try:
            connection.request(method, path, data or None, named)
            response = connection.getresponse()
            return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()

    def wait_for(self, match: Any, version: int, within: float = 10.0) -> Any:
        """Return the match once it has reached a version."""
        until = time.monotonic() + within
        while (now := self.get(f"/api/matches/{match['id']}").json)["version"] < version:
            assert time.monotonic() < until, f"still at version {now['version']}: {self.said}"
            time.sleep(0.02)
        return now

    def memory(self) -> int:
        fields = Path(f"/proc/{self.process.pid}/statm").read_text().split()
        return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")

    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def seconds(self) -> float:
        """Return the seconds of processor time that it has used, its own and the system's for it."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def request_of(body: Any, token: str | None, headers: dict[str, str]) -> tuple[bytes, dict[str, str]]:
    """Return a request's body as bytes, and its headers: what follows from the body and a token, and more."""
    named = {"Content-Type": "application/json"} if body is not None else {}
    named |= {"Authorization": f"Bearer {token}"} if token else {}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    return data, named


async def asked(
    port: int, method: str, path: str, body: Any = None, token: str | None = None, **headers: str
) -> Answer:
    """Send one request on a connection of its own, and return the answer; for many at once."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        data, named = request_of(body, token, headers)
        named |= {"Host": f"127.0.0.1:{port}", "Connection": "close", "Content-Length": str(len(data))}
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in named.items())]
        writer.write("\r\n".join([*lines, "", ""]).encode() + data)
        return await read_answer(reader)
    finally:
        writer.close()


async def read_answer(reader: asyncio.StreamReader) -> Answer:
    """Return the answer that comes on a connection, which may be announced by a 100."""
    status = 100
    while status == 100:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        status = int(head[0].split()[1])
    fields = {name.lower(): value for name, value in (line.split(": ", 1) for line in head[1:] if line)}
    return Answer(status, fields, await reader.readexactly(int(fields.get("content-length", 0))))


class Event(NamedTuple):
    kind: str
    ident: int | None
    data: Any

    @classmethod
    def parsed(cls, text: str) -> "Event | None":
        """Return the event that some lines say; None if they say none."""
        fields = dict(line.split(": ", 1) for line in text.splitlines() if line)
        if "event" not in fields:
            return None
        return cls(fields["event"], int(fields["id"]) if "id" in fields else None, json.loads(fields["data"]))


async def events(port: int, match: str, after: int | None = None) -> AsyncIterator[Event]:
    """Yield a match's events until the connection ends, resuming after a version if one is given."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        resumed = f"Last-Event-ID: {after}\r\n" if after is not None else ""
        writer.write(f"GET /api/matches/{match}/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{resumed}\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        assert b" 200 " in head.split(b"\r\n")[0], head
        lines: list[str] = []
        async for line in _lines(reader):
            lines.append(line)
            event = None if line else Event.parsed("\n".join(lines))
            if event and event.kind != "beat":
                yield event
            lines = lines if line else []
    finally:
        writer.close()


async def _lines(reader: asyncio.StreamReader) -> AsyncIterator[str]:
    """Yield the lines of a body that is sent in chunks."""
    rest = b""
    while size := int(await reader.readline() or b"0", 16):
        rest += (await reader.readexactly(size + 2))[:-2]
        *whole, rest = rest.split(b"\n")
        for line in whole:
            yield line.decode()
