"""HTTP requests to a database on this machine: one request, one answer, the server's message if it refuses."""

from __future__ import annotations

import http.client
import json
import math
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from scale_sweep.base.errors import TargetError

WORDS_MAX = 300
BASIC = "Basic"
FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, kw_only=True)
class Web:
    """A server's address."""

    who: str  # its name for people
    host: str
    port: int
    authorization: str = field(default="", repr=False)  # the header of that name; "": none

    def get(self, path: str, within_s: float, **query: str) -> str:
        """The body of the answer to GET. Raises TargetError, also if it takes longer than within_s."""
        return self._ask("GET", f"{path}?{urlencode(query)}" if query else path, within_s)

    def refusal(self, path: str, within_s: float) -> str:
        """The server's message instead of an answer to GET; "" if it answers."""
        try:
            self.get(path, within_s)
        except TargetError as error:
            return error.message
        return ""

    def post(self, path: str, within_s: float, **form: str) -> str:
        """The body of the answer to POST of a form. Raises as `get`."""
        return self._ask("POST", path, within_s, urlencode(form))

    def get_json(self, path: str, within_s: float, **query: str) -> Any:
        """The answer to GET as JSON. Raises as `get`, and for text that is not JSON."""
        return self._json(path, self.get(path, within_s, **query))

    def post_json(self, path: str, within_s: float, **form: str) -> Any:
        """The answer to POST of a form as JSON. Raises as `get_json`."""
        return self._json(path, self.post(path, within_s, **form))

    def post_text(self, path: str, within_s: float, text: str) -> str:
        """The body of the answer to POST of JSON text. Raises as `get`."""
        return self._ask("POST", path, within_s, text, "application/json")

    def ask_json(self, path: str, within_s: float, text: str) -> Any:
        """The answer to POST of JSON text as JSON. Raises as `get_json`."""
        return self._json(path, self.post_text(path, within_s, text))

    def delete(self, path: str, within_s: float) -> str:
        """The body of the answer to DELETE. Raises as `get`."""
        return self._ask("DELETE", path, within_s)

    def _json(self, path: str, text: str) -> Any:
        try:
            return json.loads(text)
        except ValueError:
            raise TargetError(f"{self.who} answered {path} with text that is not JSON: {text[:WORDS_MAX]!r}") from None

    def _ask(self, method: str, path: str, within_s: float, body: str = "", kind: str = FORM) -> str:
        headers = {"Content-Type": kind} if body else {}
        headers |= {"Authorization": self.authorization} if self.authorization else {}
        within = within_s if math.isfinite(within_s) else None
        connection = http.client.HTTPConnection(self.host, self.port, timeout=within)
        try:
            connection.request(method, path, body.encode() or None, headers)
            answer = connection.getresponse()
            text = answer.read().decode(errors="replace")
        except (OSError, http.client.HTTPException) as error:
            raise TargetError(f"{self.who} did not answer {_short(path)}: {error or type(error).__name__}") from None
        finally:
            connection.close()
        if answer.status >= 300:
            message = " ".join(text.split())[:WORDS_MAX]
            raise TargetError(f"{self.who} refused {_short(path)}: HTTP status {answer.status}: {message}")
        return text


def basic(user: str, password: str) -> str:
    """The header Authorization of this login."""
    return f"{BASIC} {b64encode(f'{user}:{password}'.encode()).decode()}"


def metrics(text: str) -> Mapping[str, float]:
    """The samples of a page in Prometheus' text format, by name with labels. Values that are not numbers are left
    out."""
    samples = {}
    for line in text.splitlines():
        name, _, value = line.rpartition(" ")
        if name and not line.startswith("#"):
            try:
                samples[name] = float(value)
            except ValueError:
                continue
    return samples


def _short(path: str) -> str:
    return path.partition("?")[0]
