"""HTTP requests to a database, and sessions by them. Without proxies and redirects: a trial's server must answer."""

from __future__ import annotations

import http.client
import json
import math
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from scale_sweep.base.errors import TargetError
from scale_sweep.model.planned import Trial
from scale_sweep.model.questions import Cells, Drawn, Query
from scale_sweep.server.targets.base import WITHIN_S, Session
from scale_sweep.server.targets.placeholders import filled
from scale_sweep.server.targets.records import Address

if TYPE_CHECKING:
    from scale_sweep.loadgen.kept_files import Content

WORDS_MAX = 300
BASIC = "Basic"


@dataclass(frozen=True, kw_only=True)
class Web:
    who: str  # the server's name for people
    host: str
    port: int
    authorization: str = field(default="", repr=False)  # a header

    def get(self, path: str, within_s: float, **query: str) -> str:
        """As all others it raises TargetError, also after within_s."""
        return self.ask("GET", f"{path}?{urlencode(query)}" if query else path, within_s)

    def post(self, path: str, within_s: float, content: str = "", /, **form: str) -> str:
        """content: JSON; "": the form is posted."""
        kind = "application/json" if content else "application/x-www-form-urlencoded"
        return self.ask("POST", path, within_s, content or urlencode(form), kind)

    def get_json(self, path: str, within_s: float, **query: str) -> Any:
        """Raises TargetError also for other text."""
        return self._json(path, self.get(path, within_s, **query))

    def post_json(self, path: str, within_s: float, content: str = "", /, **form: str) -> Any:
        return self._json(path, self.post(path, within_s, content, **form))

    def _json(self, path: str, text: str) -> Any:
        try:
            return json.loads(text)
        except ValueError:
            raise TargetError(f"{self.who} answered {path} with text that is not JSON: {text[:WORDS_MAX]!r}") from None

    def ask(self, method: str, path: str, within_s: float, body: str = "", kind: str = "") -> str:
        short = path.partition("?")[0]
        headers = {"Content-Type": kind} if body else {}
        headers |= {"Authorization": self.authorization} if self.authorization else {}
        within = within_s if math.isfinite(within_s) else None
        connection = http.client.HTTPConnection(self.host, self.port, timeout=within)
        try:
            connection.request(method, path, body.encode() or None, headers)
            answer = connection.getresponse()
            text = answer.read().decode(errors="replace")
        except (OSError, http.client.HTTPException) as error:
            raise TargetError(f"{self.who} did not answer {short}: {error or type(error).__name__}") from None
        finally:
            connection.close()
        if answer.status >= 300:
            message = " ".join(text.split())[:WORDS_MAX]
            raise TargetError(f"{self.who} refused {short}: HTTP status {answer.status}: {message}")
        return text


class WebSession(Session):
    """One connection for each question."""

    who = ""  # for people
    ready_path = ""  # answers when it can be loaded
    reading: Mapping[str, str] = {}  # lines of the spec for reads

    def __init__(
        self, trial: Trial, address: Address, settings: Mapping[str, str] | None = None, authorization: str = ""
    ) -> None:
        super().__init__(trial, address, settings)
        self._web = Web(who=self.who, host=address.host, port=address.port, authorization=authorization)

    def _pending(self) -> str:
        self.asking = self.ready_path
        self._web.get(self.ready_path, self.left_s(10))
        return ""

    def _get(self, path: str, *, within_s: float = WITHIN_S, **query: str) -> Any:
        """The answer as JSON."""
        self.asking = path
        return self._web.get_json(path, self.left_s(within_s), **query)

    def _posted(self, asking: str, path: str, content: str = "", /, **form: str) -> Any:
        """The answer to POST as JSON."""
        self.asking = asking
        return self._web.post_json(path, self.left_s(WITHIN_S), content, **form)

    def _spec(self, driver: str, **more: str) -> dict[str, str]:
        """As `spec_of`, and where the load reads, with how."""
        return {**self.spec_of(driver, **more), **(self.reading if self._trial.work.counts_requests else {})}

    def _metrics(self) -> Mapping[str, float]:
        self.asking = "/metrics"
        return metrics(self._web.get(self.asking, self.left_s(WITHIN_S)))

    def _filled(self, text: str, drawn: Drawn, names: Sequence[str]) -> str:
        return filled(text, drawn, names, str)

    def _reply(self, statement: str, **more: Any) -> Any:
        """The answer as JSON."""
        raise NotImplementedError

    def _cells(self, statement: str, answer: Any) -> Sequence[Cells]:
        """Its rows, in the form of `answers`."""
        raise NotImplementedError

    def answers(self, questions: Sequence[tuple[str, Drawn]], names: Sequence[str]) -> tuple[tuple[Cells, ...], ...]:
        statements = [self._filled(text, drawn, names) for text, drawn in questions]
        return tuple(tuple(self._cells(statement, self._reply(statement))) for statement in statements)

    def rows_handed(
        self, query: Query, text: str, drawn: Drawn, names: Sequence[str], content: Content
    ) -> Sequence[Cells]:
        if not isinstance(content, str):
            raise TypeError("rows of a driver are no text of a server")
        return self._cells(self._filled(text, drawn, names), json.loads(content))


class SqlSession(WebSession):
    member = ""  # of an answer: its rows

    def _rows(self, sql: str, **more: Any) -> list[list[Any]]:
        """None of a statement without an answer."""
        rows: list[list[Any]] = self._reply(sql, **more).get(self.member, [])
        return rows

    def _cells(self, statement: str, answer: Any) -> Sequence[Cells]:
        return [tuple(row) for row in answer[self.member]]


def basic(user: str, password: str) -> str:
    """A header Authorization."""
    return f"{BASIC} {b64encode(f'{user}:{password}'.encode()).decode()}"


def metrics(text: str) -> Mapping[str, float]:
    """Samples in Prometheus' text format, by name with labels, without those that are no numbers."""
    samples = {}
    for line in text.splitlines():
        name, _, value = line.rpartition(" ")
        if name and not line.startswith("#"):
            try:
                samples[name] = float(value)
            except ValueError:
                continue
    return samples
