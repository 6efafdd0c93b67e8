"""Make the picture of the page in the READMEs: `python tests/page_picture.py` writes data/page.png anew.

It needs Chromium. What it shows follows from the page; fonts are the system's.
"""

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright
from web import Served

from solver.games.lines import grid
from solver.proof.build import build_store

PICTURE = Path(__file__).parents[1] / "data" / "page.png"
ADDRESS = "/explore/4,4,4/.XX./O.O./O..O/.X.X"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "4x4x4.ttt4"
        build_store(grid(4, 4, 4), store, jobs=2)
        with Served(Path(folder) / "state", TTT4_STORE=str(store)) as server, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1000, "height": 720}, reduced_motion="reduce")
            page.goto(server.url + ADDRESS)
            page.get_by_role("button", name="a4, empty, wins in 7 plies").hover()
            page.get_by_text("wins in 7 plies:").wait_for()
            page.screenshot(path=PICTURE)
            browser.close()


if __name__ == "__main__":
    main()
