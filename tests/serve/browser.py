"""A real Chromium, told what to do over its own pipe: no driver, no package, no port."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser")
_SECONDS = 60.0


class Browser:
    """One page. What it logs, what it throws and what it asks for is kept."""

    def __init__(self, sending: int, receiving: int) -> None:
        self._sending, self._receiving = sending, receiving
        self._rest = b""
        self._number = 0
        self._session = ""
        self._events: list[str] = []
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self.dialogs: list[str] = []
        target = self._send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self._send(f"{domain}.enable")

    def open(self, address: str) -> None:
        self._events.clear()
        self._send("Page.navigate", url=address)
        self._until(lambda: "Page.loadEventFired" in self._events)

    def run(self, script: str) -> Any:
        """What an expression comes to, as the page sees it; a promise is waited for."""
        done = self._send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def until(self, script: str) -> None:
        """Waits for it to come true."""
        end = time.monotonic() + _SECONDS
        while not self.run(f"Boolean({script})"):
            assert time.monotonic() < end, f"never came true: {script}; {self.text()[:2000]}"
            self._read(0.05)

    def press(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            text = {"text": key} if kind == "keyDown" and len(key) == 1 else {}
            self._send("Input.dispatchKeyEvent", type=kind, key=key, **text)

    def type(self, words: str) -> None:
        for letter in words:
            self.press(letter)

    def text(self) -> str:
        return str(self.run("document.body.innerText"))

    def look(self, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        self._send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        theme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self._send("Emulation.setEmulatedMedia", features=theme)

    def picture(self, path: Path) -> None:
        tall = min(4000, int(self.run("document.documentElement.scrollHeight")))
        wide = int(self.run("innerWidth"))
        area = {"x": 0, "y": 0, "width": wide, "height": tall, "scale": 1}
        taken = self._send("Page.captureScreenshot", format="png", clip=area, captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(taken["data"]))

    def _send(self, method: str, /, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        number = self._number
        told: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self._session:
            told["sessionId"] = self._session
        os.write(self._sending, json.dumps(told).encode() + b"\0")
        end = time.monotonic() + _SECONDS
        while True:
            for message in self._read(end - time.monotonic()):
                if message.get("id") == number:
                    assert "error" not in message, (method, message["error"])
                    return dict(message["result"])
            assert time.monotonic() < end, f"no answer to {method}"

    def _until(self, true: Any) -> None:
        end = time.monotonic() + _SECONDS
        while not true():
            self._read(end - time.monotonic())
            assert time.monotonic() < end, "the page did not load"

    def _read(self, seconds: float) -> list[dict[str, Any]]:
        ready, _, _ = select.select([self._receiving], [], [], max(0.0, seconds))
        if ready:
            data = os.read(self._receiving, 1 << 20)
            assert data, "the browser has ended"
            self._rest += data
        *whole, self._rest = self._rest.split(b"\0")
        messages = [json.loads(each) for each in whole]
        for message in messages:
            self._note(message)
        return messages

    def _note(self, message: dict[str, Any]) -> None:
        method, about = message.get("method", ""), message.get("params", {})
        self._events.append(method)
        if method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(about["exceptionDetails"]))
        elif method == "Log.entryAdded" and about["entry"]["level"] == "error":
            self.complaints.append(f"{about['entry']['text']} {about['entry'].get('url', '')}")
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(json.dumps(about["args"]))
        elif method == "Network.requestWillBeSent":
            self.asked.append(about["request"]["url"])
        elif method == "Page.javascriptDialogOpening":
            self.dialogs.append(about["message"])
            answer = {"id": 0, "method": "Page.handleJavaScriptDialog", "params": {"accept": True}}
            os.write(self._sending, json.dumps({**answer, "sessionId": self._session}).encode() + b"\0")


@contextmanager
def browsing(folder: Path) -> Iterator[Browser]:
    assert PROGRAM
    to_read, sending = os.pipe()
    receiving, to_write = os.pipe()
    options = (
        f"--headless --remote-debugging-pipe --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run "
        f"--hide-scrollbars --disable-background-networking --user-data-dir={folder}"
    )
    line = f'exec "$0" {options} about:blank 3<&{to_read} 4>&{to_write}'
    process = subprocess.Popen(
        ["bash", "-c", line, PROGRAM],
        pass_fds=(to_read, to_write),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(to_read)
    os.close(to_write)
    try:
        yield Browser(sending, receiving)
    finally:
        os.close(sending)
        os.close(receiving)
        process.terminate()
        process.wait(timeout=20)
