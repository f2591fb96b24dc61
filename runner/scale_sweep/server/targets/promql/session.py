"""A session that asks PromQL over HTTP: rows of answers, and those that the load generator received."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from scale_sweep.base.errors import TargetError
from scale_sweep.loadgen.content import Content
from scale_sweep.model import Cells, Drawn, Query, Trial
from scale_sweep.server.targets import Address, Session
from scale_sweep.server.targets.placeholders import filled
from scale_sweep.server.targets.promql.answers import rows_of
from scale_sweep.server.targets.promql.selectors import API, PLAIN, in_seconds
from scale_sweep.server.targets.records import parsed
from scale_sweep.server.targets.web import Web, metrics

WITHIN_S = 3600.0


class PromqlSession(Session):
    """One connection for each question. who: the database's name for people."""

    who = ""

    def __init__(self, trial: Trial, address: Address, settings: Mapping[str, str]) -> None:
        super().__init__(trial, address)
        self._settings = settings
        self._web = Web(who=self.who, host=address.host, port=address.port)

    def expected(self) -> Mapping[str, str]:
        """Everything that was set for the trial."""
        return self._settings

    def answers(self, questions: Sequence[tuple[str, Drawn]], names: Sequence[str]) -> tuple[tuple[Cells, ...], ...]:
        return tuple(
            tuple(rows_of(text, self._series(in_seconds(filled(text, one, names, str))))) for text, one in questions
        )

    def rows_handed(
        self, query: Query, text: str, drawn: Drawn, names: Sequence[str], content: Content
    ) -> Sequence[Cells]:
        return rows_of(text, parsed(content)["data"]["result"])

    def _get(self, path: str) -> str:
        self.asking = path
        return self._web.get(path, self.left_s(WITHIN_S))

    def _metrics(self) -> Mapping[str, float]:
        return metrics(self._get("/metrics"))

    def _series(self, path: str) -> list[Mapping[str, Any]]:
        self.asking = path[:60]
        return self._result(path, self._web.get_json(API + quote(path, safe=PLAIN), self.left_s(WITHIN_S)))

    def _at(self, query: str, time: str) -> list[Mapping[str, Any]]:
        """The series of an answer at one moment, in seconds since 1970."""
        self.asking = query[:60]
        return self._result(query, self._web.post_json(f"{API}query", self.left_s(WITHIN_S), query=query, time=time))

    def _result(self, query: str, answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        if answer.get("status") != "success":
            raise TargetError(f"{self.who} refused {query[:60]!r}: {answer}")
        series: list[Mapping[str, Any]] = answer["data"]["result"]
        return series
