"""Draws the pictures of the README out of real output: `make pictures`.

`up.svg`: what `hardwon up --demo` prints. `page.png`, `failure.png`, `session.png`: pages of the same examples, where
chromium is installed.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from hardwon import Hardwon

REPOSITORY = Path(__file__).parent.parent
PICTURES = REPOSITORY / "docs" / "pictures"
COLUMNS = 100
UNSTEADY = re.compile(r" in \d+ s(?=\.)")
"""How long it took is another each time."""
ON_A_DAY = """
from hardwon import clock
clock.now = lambda: 1_793_491_200_000_000  # 2026-11-01, a few days after the last of the examples
from hardwon.cli.app import main
main()
"""
FRAME = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font: {char_height}px/{line_height}px ui-monospace, Menlo, Consolas, monospace; }}
.{unique_id}-title {{ font: bold 18px sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal"><rect width="{terminal_width}" height="{terminal_height}"/></clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def environment(home: Path) -> dict[str, str]:
    """An empty home, and nothing of this machine."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    return {
        **kept,
        "HOME": str(home),
        "HARDWON_HOME": str(home / "hardwon"),
        "COLUMNS": str(COLUMNS),
        "FORCE_COLOR": "1",
    }


def terminal() -> str:
    """What a new user sees, as a picture of text."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", ON_A_DAY, "up", "--demo"]
        done = subprocess.run(command, env=environment(Path(folder)), capture_output=True, text=True, check=True)
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.assemble(("$ ", "bold green"), ("hardwon up --demo", "bold")))
    console.print(Text.from_ansi(UNSTEADY.sub("", done.stdout)))
    return console.export_svg(title="hardwon up", theme=MONOKAI, code_format=FRAME, unique_id="up")


def pages(folder: Path, chromium: str) -> None:
    """The first page of the examples, their most widespread failure in the dark, and the session that met it last."""
    with tempfile.TemporaryDirectory() as home, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        variables = environment(Path(home))
        hardwon = [sys.executable, "-m", "hardwon"]
        examples = str(REPOSITORY / "examples" / "sessions")
        subprocess.run([*hardwon, "harvest", examples, "--mine"], env=variables, capture_output=True, check=True)
        with Hardwon(Path(home) / "hardwon") as memory:
            failure = memory.failures.get(memory.failures.list()[0].id)
        free.close()
        serve = subprocess.Popen(
            [*hardwon, "serve", "--port", str(port)],
            env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        try:
            assert serve.stdout is not None
            link = next(found for line in serve.stdout if (found := re.search(r"http://\S+login\S+", line))).group()
            address = link.partition("/login")[0]
            met = failure.occurrences[0].session
            _shots(chromium, folder, link, f"{address}/failures/{failure.failure.id}", f"{address}/sessions/{met}")
        finally:
            serve.terminate()
            serve.wait()


def _shots(chromium: str, folder: Path, link: str, failure: str, session: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.goto(link)
        page.screenshot(path=folder / "page.png")
        page.goto(session)
        page.screenshot(path=folder / "session.png")
        page.emulate_media(color_scheme="dark")
        page.goto(failure)
        page.screenshot(path=folder / "failure.png")
        browser.close()


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    (PICTURES / "up.svg").write_text(terminal(), encoding="utf-8")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        print("no chromium: the pictures of the pages stay as they are", file=sys.stderr)
    else:
        pages(PICTURES, chromium)


if __name__ == "__main__":
    main()
