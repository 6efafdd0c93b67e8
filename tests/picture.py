"""Draw data/picture.svg: what `ttt4-query` prints, in its colours. Run it in a checkout with a store."""

import io
import re
import sys
from contextlib import redirect_stdout
from html import escape
from pathlib import Path

import click

from oracle.cli.main import main

PICTURE = Path(__file__).parents[1] / "data" / "picture.svg"
BOARD = ".XX./O.O./O..O/.X.X"
WIDTH, LINE, COLUMN = 640, 19, 8.43
STYLES = {"1": 'font-weight="bold"', "2": 'opacity="0.6"', "94": 'fill="#6cb6ff"', "33": 'fill="#e3b341"'}
_CODES = re.compile(r"\x1b\[([\d;]*)m")


def printed(*arguments: str) -> str:
    out = io.StringIO()
    with redirect_stdout(out):
        main.main(list(arguments), standalone_mode=False, color=True)
    return out.getvalue().rstrip("\n")


def spans(line: str) -> str:
    """Return one line of text with ANSI codes as SVG spans."""
    parts, column, active = [], 0, [""]
    for i, part in enumerate(_CODES.split(line)):
        if i % 2:
            active = [] if part in ("", "0") else [*active, *part.split(";")]
        elif part:
            style = " ".join(STYLES[code] for code in active if code in STYLES)
            for word in re.finditer(r"\S+", part):  # each in its column: renderers fold blanks
                at = 16 + (column + word.start()) * COLUMN
                parts.append(f'<tspan x="{at:.1f}" {style}>{escape(word[0])}</tspan>')
            column += len(part)
    return "".join(parts)


def draw(store: str | None = None) -> str:
    text = f"$ ttt4-query {BOARD}\n{printed(BOARD, *(['--store', store] if store else []))}"
    lines = text.split("\n")[:-1]  # the last names the store's path
    rows = "\n".join(f'<text y="{30 + i * LINE}">{spans(line)}</text>' for i, line in enumerate(lines))
    height = 30 + len(lines) * LINE
    label = escape(click.unstyle("\n".join(lines)), quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" role="img" '
        f'aria-label="{label}">\n'
        f'<rect width="100%" height="100%" rx="8" fill="#161b22"/>\n'
        f'<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" fill="#e6edf3">\n'
        f"{rows}\n</g>\n</svg>\n"
    )


if __name__ == "__main__":
    PICTURE.write_text(draw(*sys.argv[1:]))
