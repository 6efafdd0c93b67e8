"""Draw data/screen.svg: a game on a full screen, as a terminal shows it. Run it in a checkout: it builds a store."""

import os
import sys
import tempfile
from html import escape
from pathlib import Path

from screens import ENTER, TerminalScreen

from solver.games.lines import grid
from solver.proof.build import build_store

PICTURE = Path(__file__).parents[1] / "data" / "screen.svg"
ROWS, COLUMNS = 24, 76
LINE, COLUMN = 18, 8.43
COLOURS = {
    "brightblue": "#6cb6ff", "blue": "#6cb6ff", "brown": "#e3b341", "cyan": "#56d4dd", "magenta": "#ff9bce",
    "red": "#ff7b72", "green": "#7ee787",
}  # fmt: skip


def draw(screen: TerminalScreen) -> str:
    """Return the picture of what is shown; each character stands in its column, whatever the font."""
    drawn = []
    for row in range(ROWS):
        for column in range(COLUMNS):
            character, bold, underlined, reverse = screen.look(row, column)
            x, y = 12 + column * COLUMN, 24 + row * LINE
            if reverse:
                drawn.append(f'<rect x="{x:.1f}" y="{y - 14}" width="{COLUMN}" height="{LINE}" fill="#e6edf3"/>')
            if character == " " and not underlined:
                continue
            style = f' fill="{COLOURS[colour]}"' if (colour := screen.colour(row, column)) in COLOURS else ""
            style = ' fill="#161b22"' if reverse else style
            style += ' font-weight="bold"' * bold + ' text-decoration="underline"' * underlined
            drawn.append(f'<text x="{x:.1f}" y="{y}"{style}>{escape(character)}</text>')
    width, height = 24 + COLUMNS * COLUMN, 20 + ROWS * LINE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" role="img" '
        f'aria-label="{escape(screen.text, quote=True)}">\n'
        '<rect width="100%" height="100%" rx="8" fill="#161b22"/>\n'
        '<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" fill="#e6edf3">\n'
        + "\n".join(drawn) + "\n</g>\n</svg>\n"
    )  # fmt: skip


def main() -> None:
    """Play some moves of a game in which X can win, with what every move leads to, and draw that."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "4x4x4.ttt4"
        build_store(grid(4, 4, 4), store, jobs=2)
        os.environ["XDG_STATE_HOME"] = folder
        screen = TerminalScreen("--game", "4,4,4", "--o", "human", "--store", store, rows=ROWS, columns=COLUMNS)
        screen.until("X to move")
        for move in ["b1", "a2", "c1", "c2", "a4", "d3", "b4"]:
            screen.press(*move)
            screen.until(move)
        screen.press("s")
        screen.until("wins in")
        screen.press("\x0c")  # all is drawn again: the emulator does not scroll as real terminals do
        screen.asleep()
        PICTURE.write_text(draw(screen))
        screen.press("q", ENTER)
        screen.close()


if __name__ == "__main__":
    sys.exit(main())
