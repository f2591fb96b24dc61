"""Compares the answers that came while the load ran with the right ones: by their content if it is known and no write
of the load changes it, otherwise by their number of rows."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from scale_sweep.experiment.work import queries_of
from scale_sweep.experiment.work.answers import difference, grows, is_nothing
from scale_sweep.experiment.work.columns import Right, rows_of
from scale_sweep.experiment.work.drawn import as_text, from_text
from scale_sweep.loadgen.kept_files import content_of
from scale_sweep.loadgen.protocol import ReportedAnswer
from scale_sweep.loadgen.verbs import tables_of
from scale_sweep.measure.trial.answers import (
    ASK_S,
    WRONG_MAX,
    Made,
    affordable,
    draw_words,
    numbered,
    resolved,
    right_of,
)
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.measure.trial.provision import Reached
from scale_sweep.measure.trial.waiting import ask
from scale_sweep.model.declared import Work
from scale_sweep.model.questions import AnswersChecked, Cells, Drawn, Query

COUNTED_MAX = 200  # of which only the rows are counted
Asked = tuple[ReportedAnswer, Drawn]


def checked_within(
    order: TrialOrder,
    reached: Reached,
    spec: Mapping[str, str],
    texts: Mapping[str, str],
    answers: Sequence[ReportedAnswer],
    before: Sequence[AnswersChecked],
    written: int,
) -> tuple[AnswersChecked, ...]:
    """The earlier check, with answers of the load. written: rows that an answer may contain. Raises LoadError or
    TargetError."""
    work = order.trial.work
    queries = queries_of(work)
    tables = ask(reached, lambda: tables_of(order.program, spec, reached.address.secret), ASK_S)
    made, checks = Made(order.program, spec), []
    for check in before:
        query, begun = queries[check.operation], time.monotonic()
        reported = [
            (answer, resolved(query, _drawn(query, answer, work), tables))
            for answer in answers
            if answer.operation == check.operation
        ]
        comparing = _Comparing(
            query=query,
            text=texts[check.operation],
            has_writes=len(queries) < len(work.operations),
            names=tables.names,
            written=written,
            reached=reached,
        )
        after = replace(check, within=0)
        for portion in _portions(query, work, reported):
            right, (tested, passed) = right_of(made, query, work, [drawn for _, drawn in portion])
            after = comparing.added(after, portion, right)
            after = replace(after, tested_rows=after.tested_rows + tested, passed_rows=after.passed_rows + passed)
        checks.append(replace(after, seconds=time.monotonic() - begun))
    return tuple(checks)


@dataclass(frozen=True, kw_only=True)
class _Comparing:
    query: Query
    text: str
    has_writes: bool
    names: Sequence[str]  # of the tables
    written: int  # rows of the load
    reached: Reached

    def added(self, check: AnswersChecked, reported: Sequence[Asked], right: Sequence[Right | None]) -> AnswersChecked:
        """right: to each; None: several are."""
        known = [
            (answer, drawn, rows) for (answer, drawn), rows in zip(reported, right, strict=True) if rows is not None
        ]
        whole = [one[:2] for one in known if is_compared(self.query, one[0], has_writes=self.has_writes)]
        wrong = [f"{check.operation} {draw_words(one[1], ())}: {why}" for one in known if (why := self._wrong(*one))]
        devices = {device for _, drawn in whole for device in drawn.devices}
        return replace(
            check,
            counted=check.counted + len(known),
            compared=check.compared + len(whole),
            within=(check.within or 0) + sum(answer.in_window for answer, _ in whole),
            wrong=(*check.wrong, *wrong)[:WRONG_MAX],
            devices=as_text(from_text(check.devices) | devices),
        )

    def _wrong(self, answer: ReportedAnswer, drawn: Drawn, right: Right) -> str:
        came = None
        if is_compared(self.query, answer, has_writes=self.has_writes):
            session, content = self.reached.session, content_of(answer)
            try:
                came = session.rows_handed(self.query, self.text, drawn, self.names, content)
            except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
                return f"an answer that came while the load ran cannot be read: {error}"
        return why_wrong(self.query, answer, right, came, self.names, self.written)


def _portions(query: Query, work: Work, reported: Sequence[Asked]) -> Iterator[Sequence[Asked]]:
    """Those with known content, as many as fit into memory; then some of the others, spread over the load."""
    known = [pair for pair in reported if pair[0].content]
    while known:
        count = len(affordable(query, work, [drawn for _, drawn in known]))
        yield known[:count]
        known = known[count:]
    yield _spread(query, work, [pair for pair in reported if not pair[0].content])


def _spread(query: Query, work: Work, reported: Sequence[Asked]) -> Sequence[Asked]:
    step = -(-len(reported) // COUNTED_MAX) or 1
    while len(chosen := reported[::step]) > 1 and len(affordable(query, work, [one for _, one in chosen])) < len(
        chosen
    ):
        step *= 2
    return chosen


def _drawn(query: Query, answer: ReportedAnswer, work: Work) -> Drawn:
    start = answer.from_ms or 0
    end = start + work.data.step_ms if query.when == "at" else answer.to_ms or 0
    return Drawn(devices=answer.devices, from_ms=start, to_ms=end, value=answer.value or 0.0)


def why_wrong(
    query: Query, answer: ReportedAnswer, right: Right, came: Sequence[Cells] | None, names: Sequence[str], written: int
) -> str:
    """ "" if the answer is right. came: its rows; None: not compared. names: of the tables. written: rows that it may
    contain."""
    more = right.optional_rows + (written if grows(query) else 0)
    least = rows_of(query, right) - right.optional_rows
    if not 0 <= answer.rows - least <= more and not is_nothing(query, right):
        are_right = f"{least:,} to {least + more:,} are right" if more else f"{least:,} are right"
        return f"{answer.rows:,} rows came while the load ran, {are_right}"
    if came is None:
        return ""
    why = difference(query, right, numbered(query, came, names))
    return f"{why} (while the load ran)" if why else ""


def is_compared(query: Query, answer: ReportedAnswer, *, has_writes: bool) -> bool:
    """The content is known, and no write of the load may change it."""
    return bool(answer.content) and (query.when != "always" or not has_writes)
