"""Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Dialog, sync_playwright

PROGRAM = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser"))), None)
"""The first, which has no windows to draw, takes a third of the time; it is a package of its own."""
_OPTIONS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking")
_SECONDS = 60


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PROGRAM, args=_OPTIONS)
        yield browser
        browser.close()


class Tab:
    """One page of a browser that nothing is known of. What it logs, throws and asks for is kept."""

    def __init__(self, browser: Browser, *, width: int = 1280, dark: bool = False) -> None:
        self._context = browser.new_context(
            viewport={"width": width, "height": 900}, is_mobile=width < 600, color_scheme="dark" if dark else "light"
        )
        self._context.set_default_timeout(1000 * _SECONDS)
        self.page = self._context.new_page()
        self.keys = self.page.keyboard
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self.dialogs: list[str] = []
        self.page.on("console", self._logged)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("dialog", self._agree)

    def _logged(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.text} {message.location}")

    def _agree(self, dialog: Dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.accept()

    def run(self, script: str) -> Any:
        """What an expression comes to, as the page sees it; a promise is waited for."""
        return self.page.evaluate(script)

    def until(self, script: str) -> None:
        """Waits for it to come true, asking from outside: Playwright's own waiting is eval, which our pages forbid."""
        end = time.monotonic() + _SECONDS
        while not self.run(f"Boolean({script})"):
            assert time.monotonic() < end, f"never came true: {script}; {self.text()[:2000]}"
            self.page.wait_for_timeout(20)

    def text(self) -> str:
        return self.page.inner_text("body")

    def places(self) -> set[str]:
        """Where anything was asked for."""
        return {urlsplit(address).netloc for address in self.asked}

    def close(self) -> None:
        self._context.close()
