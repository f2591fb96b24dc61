"""A headless Chromium, spoken to by its DevTools protocol: opens a page, listens to its requests, takes pictures."""

import base64
import contextlib
import json
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
START_S = 30.0


class Tab:
    """One page. requests: every address that it asked for."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket, self._number = socket, 0
        self.requests: list[str] = []
        for domain in ("Page", "Network", "Runtime"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        """One command and its answer."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=60))
            self._note(message)
            if message.get("id") == self._number:
                assert "error" not in message, message["error"]
                return message["result"]

    def _note(self, message: dict[str, Any]) -> None:
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(message["params"]["request"]["url"])

    def size(self, width: int, height: int) -> None:
        """Of the visible part, in pixels."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def open(self, url: str) -> None:
        """Goes there and does not wait."""
        self.call("Page.navigate", url=url)

    def value(self, expression: str) -> Any:
        """What the expression gives in the page."""
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def wait(self, expression: str, seconds: float) -> bool:
        """Until it is true in the page."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.value(expression) is True:
                return True
            time.sleep(0.25)
        return False

    def picture(self) -> bytes:
        """PNG of the visible part."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])


def browser() -> str:
    """Its path, "" without one."""
    return next((path for name in NAMES if (path := shutil.which(name))), "")


@contextlib.contextmanager
def opened_tab() -> Iterator[Tab]:
    """A fresh browser with one tab, ended afterwards. All names but this machine's lead nowhere."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [
            browser(),
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-component-update",
            "--hide-scrollbars",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            "--remote-debugging-port=0",
            f"--user-data-dir={profile}",
            "about:blank",
        ]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            with connect(_address(Path(profile)), max_size=None) as socket:
                yield Tab(socket)
        finally:
            process.terminate()
            process.wait()


def _address(profile: Path) -> str:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError, ValueError, IndexError, StopIteration):  # the file may still be empty
            port = int((profile / "DevToolsActivePort").read_text().splitlines()[0])
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json", timeout=5) as answer:
                pages = json.load(answer)
            return str(next(p["webSocketDebuggerUrl"] for p in pages if p["type"] == "page"))
        time.sleep(0.1)
    raise TimeoutError("Chromium did not open its DevTools port")
