"""Sessions by processes of the load generator, which has the client libraries."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from scale_sweep.base.errors import TargetError
from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.loadgen.verbs import run_statements
from scale_sweep.model.planned import Trial
from scale_sweep.server.targets.base import WITHIN_S, Session
from scale_sweep.server.targets.records import Address

Rows = tuple[tuple[Any, ...], ...]


class StatementSession(Session):
    """A process for each question."""

    who = ""  # for people

    def __init__(self, trial: Trial, address: Address, settings: Mapping[str, str] | None = None) -> None:
        super().__init__(trial, address, settings)
        self._children: set[subprocess.Popen[str]] = set()
        self._password = address.secret

    def give_up(self) -> None:
        """Each would wait until its own deadline."""
        for child in tuple(self._children):
            child.kill()

    def _door(self) -> dict[str, str]:
        """The spec's lines that reach the server."""
        raise NotImplementedError

    def _rows(self, *statements: str) -> Rows:
        """Those of the last one."""
        return self._all(statements)[-1]

    def _all(self, statements: Sequence[str]) -> list[Rows]:
        self.asking = statements[0][:80]
        within = self.left_s(WITHIN_S)
        spec = {"protocol": "1", **self._door(), "statement_timeout_s": f"{within:.0f}"}
        answers = run_statements(loadgen_path(), spec, statements, self._password, within, self._children)
        for statement, answer in zip(statements, answers, strict=True):
            if not answer.ok:
                raise TargetError(f"{self.who} refused {statement[:80]!r}: {answer.message} (code {answer.code})")
        return [answer.rows for answer in answers]

    def _first_question(self) -> str:
        """As `not_ready`, once it listens."""
        raise NotImplementedError

    def _pending(self) -> str:
        self.asking = "a connection"
        try:
            socket.create_connection((self._address.host, self._address.port), timeout=self.left_s(5)).close()
            return self._first_question()
        except OSError as error:
            return f"{self.who} does not listen yet: {error.strerror or error}"
