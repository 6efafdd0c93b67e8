"""A TCP proxy on loopback that can delay, reset, refuse and stall connections."""

import asyncio
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress


class Proxy:
    """A way to a port of this machine, in a thread of its own: a context manager."""

    def __init__(self, port: int) -> None:
        """Lead to a port; nothing is wrong with the way at first."""
        self.delay = 0.0
        self.refusing = False
        self.port = 0
        self._target = port
        self._open: set[asyncio.StreamWriter] = set()
        self._stalled: set[asyncio.StreamWriter] = set()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))

    def __enter__(self) -> "Proxy":
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *error: object) -> None:
        self._do(self._ended.set)
        self._thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def reset(self) -> None:
        """Break every connection that is open, without a farewell."""
        self._do(lambda: [_abort(writer) for writer in self._open])

    def stall(self) -> None:
        """Let nothing more through the connections that are open, and give no sign of it."""
        self._do(lambda: self._stalled.update(self._open))

    def _do(self, action: Callable[[], object]) -> None:
        """Do something in the proxy's thread, and wait until it is done."""

        async def acting() -> None:
            action()

        asyncio.run_coroutine_threadsafe(acting(), self._loop).result()

    async def _serve(self) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._lead, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._ended.wait()

    async def _lead(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.refusing:
            _abort(writer)
            return
        there, back = await asyncio.open_connection("127.0.0.1", self._target)
        both = {writer, back}
        self._open |= both
        with suppress(asyncio.CancelledError):  # the proxy ends
            await asyncio.gather(self._copy(reader, back), self._copy(there, writer))
        self._open -= both

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(1 << 16):
                await asyncio.sleep(self.delay)
                if writer in self._stalled:
                    await self._ended.wait()
                writer.write(data)
                await writer.drain()
        writer.close()


def _abort(writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):  # it has ended by itself
        found = writer.get_extra_info("socket")
        found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
