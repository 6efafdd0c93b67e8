"""How bytes from a pipe become lines: whoever sends them, they are short, and of printable ASCII."""

LONGEST = 1024
"""The rest of a longer line is dropped, which the protocol allows."""


class LineCutter:
    """Cuts bytes into lines as they come, and holds no more than one line of them."""

    def __init__(self) -> None:
        """Begin with nothing received."""
        self._begun = b""

    def cut(self, received: bytes) -> list[str]:
        """Return the lines that `received` completes, without blanks around them; empty ones mean nothing."""
        *whole, rest = received.replace(b"\r", b"\n").split(b"\n")
        lines = []
        for part in filter(None, whole) if not self._begun else whole:
            lines.append(_text(self._begun + part))
            self._begun = b""
        self._begun = (self._begun + rest)[:LONGEST]
        return [line for line in lines if line]

    @property
    def rest(self) -> str:
        """The line that has begun but not ended."""
        return _text(self._begun)


def _text(line: bytes) -> str:
    """Return a line as text; what is no printable ASCII is a question mark."""
    cut = line[:LONGEST].replace(b"\t", b" ")
    return "".join(chr(byte) if 32 <= byte < 127 else "?" for byte in cut).strip()
