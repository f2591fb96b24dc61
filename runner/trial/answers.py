"""Checks the answers. Before the window, each operation is asked with its own draws, and its complete answers are
compared with those computed from the load generator's rows. Answers within the load are compared by within.py.

Refuses to judge a text of the user: its right answer is unknown. Its requests are counted all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from runner.loadgen.protocol import Asked
from runner.loadgen.rows import Tables, rows_of, tables_of
from runner.model import AnswersChecked, Cells, Drawn, Query, Work
from runner.trial.asking import asked
from runner.trial.order import TrialOrder
from runner.trial.provision import Reached
from runner.trial.within import Within, numbered
from runner.work import queries_of
from runner.work.answers import (
    Stretch,
    TableRows,
    difference,
    draws,
    is_undecided,
    right_answer,
    stretches,
    with_groups,
)

TIMES = 20  # queries of each operation, enough to find a wrong text
ROWS_MAX = 2_000_000  # of one operation, in answers computed and compared; with more, it is asked less often
COUNTED_MAX = 200  # answers of one operation within the load whose rows are counted again
WRONG_MAX = 3  # sentences of one operation
ASK_S = 300.0


def checked_before(
    order: TrialOrder, reached: Reached, spec: Mapping[str, str], texts: Mapping[str, str]
) -> tuple[AnswersChecked, ...]:
    """The check of every operation whose right answer is known. texts: rendered, by operation. Raises LoadError or
    TargetError."""
    work = order.trial.work
    queries = {name: query for name, query in queries_of(work).items() if not query.text}
    if not queries:
        return ()
    tables = asked(reached, lambda: tables_of(order.program, spec, reached.address.secret), ASK_S)
    found, made = [], _Made(order.program, spec)
    for name, query in queries.items():
        all_drawn = [_resolved(query, one, tables) for one in draws(query, work, TIMES, order.trial.seed)]
        drawn = _affordable(query, work, all_drawn)
        came = asked(reached, _question(reached, texts[name], drawn, tables.names), ASK_S)
        right = _right(made, query, work, drawn)
        wrong = [
            _sentence(name, one, answer, rows, tables.names, query)
            for one, answer, rows in zip(drawn, right, came, strict=True)
            if answer is not None
        ]
        found.append(AnswersChecked(operation=name, whole=len(drawn), wrong=tuple(filter(None, wrong))[:WRONG_MAX]))
    return tuple(found)


def checked_within(
    order: TrialOrder,
    reached: Reached,
    spec: Mapping[str, str],
    answers: Sequence[Asked],
    before: Sequence[AnswersChecked],
    written: int,
) -> tuple[AnswersChecked, ...]:
    """The earlier check, with the answers that the load generator reported during the load. written: rows that the load
    sent, which an answer may contain. Raises LoadError or TargetError."""
    work, known = order.trial.work, {one.operation: one for one in before}
    queries = queries_of(work)
    has_writes = len(queries) < len(work.operations)
    tables = asked(reached, lambda: tables_of(order.program, spec, reached.address.secret), ASK_S)
    made = _Made(order.program, spec)
    for name, one in known.items():
        told = [answer for answer in answers if answer.operation == name]
        query = queries[name]
        chosen = _spread(
            query, work, [(answer, _resolved(query, _drawn(query, answer, work), tables)) for answer in told]
        )
        right = _right(made, query, work, [drawn for _, drawn in chosen])
        cases = [
            (
                drawn,
                Within(
                    query=query, answer=answer, right=rows, names=tables.names, written=written, has_writes=has_writes
                ),
            )
            for (answer, drawn), rows in zip(chosen, right, strict=True)
            if rows is not None
        ]
        wrong = [f"{name} {_of(drawn, ())}: {why}" for drawn, case in cases if (why := case.wrong())]
        compared = sum(case.is_compared for _, case in cases)
        known[name] = replace(one, counted=len(chosen), compared=compared, wrong=(*one.wrong, *wrong)[:WRONG_MAX])
    return tuple(known.values())


def _spread(query: Query, work: Work, told: list[tuple[Asked, Drawn]]) -> list[tuple[Asked, Drawn]]:
    """As many of the answers as can be checked, spread over the load."""
    step = -(-len(told) // COUNTED_MAX) or 1
    while len(chosen := told[::step]) > 1 and len(_affordable(query, work, [one for _, one in chosen])) < len(chosen):
        step *= 2
    return chosen


def _question(
    reached: Reached, text: str, drawn: Sequence[Drawn], names: Sequence[str]
) -> Callable[[], tuple[tuple[Cells, ...], ...]]:
    return partial(reached.session.answers, [(text, one) for one in drawn], names)


def _resolved(query: Query, drawn: Drawn, tables: Tables) -> Drawn:
    """The draw with the devices of its groups, if it draws groups."""
    return with_groups(query, drawn, [int(group) for group in tables.tags[query.tag]]) if query.tag else drawn


def _affordable(query: Query, work: Work, drawn: list[Drawn]) -> list[Drawn]:
    """The first of the draws, as many as depend on ROWS_MAX different rows at most; one at least."""
    needed: set[Stretch] = set()
    for number, one in enumerate(drawn):
        needed |= set(stretches(query, one, work))
        if number and sum(count for _, _, count in needed) > ROWS_MAX:
            return drawn[:number]
    return drawn


class _Made:
    """Rows of the load generator, kept from one operation to the next as long as they are few."""

    def __init__(self, program: str, spec: Mapping[str, str]) -> None:
        self._program, self._spec = program, spec
        self._rows: dict[Stretch, TableRows] = {}

    def rows(self, wanted: Sequence[Stretch]) -> Mapping[Stretch, TableRows]:
        """Of each stretch. Raises LoadError."""
        if sum(count for _, _, count in {*self._rows, *wanted}) > ROWS_MAX:
            self._rows.clear()
        missing = [stretch for stretch in dict.fromkeys(wanted) if stretch not in self._rows]
        self._rows.update(zip(missing, rows_of(self._program, self._spec, missing), strict=True))
        return self._rows


def _right(made: _Made, query: Query, work: Work, drawn: Sequence[Drawn]) -> list[list[Cells] | None]:
    """The right answer to each draw; None if more than one is right."""
    needed = {one: stretches(query, one, work) for one in drawn}
    rows = made.rows([stretch for some in needed.values() for stretch in some])
    answers: dict[Drawn, list[Cells] | None] = {}
    for one, some in needed.items():
        held = {stretch[0]: rows[stretch] for stretch in some}
        answers[one] = None if is_undecided(query, one, held) else right_answer(query, one, held)
    return [answers[one] for one in drawn]


def _drawn(query: Query, answer: Asked, work: Work) -> Drawn:
    """The draw of an answer. A moment lasts until the next row."""
    start = answer.from_ms or 0
    end = start + work.data.step_ms if query.when == "at" else answer.to_ms or 0
    return Drawn(devices=answer.devices, from_ms=start, to_ms=end, value=answer.value or 0.0)


def _sentence(
    name: str, drawn: Drawn, right: Sequence[Cells], came: Sequence[Cells], names: Sequence[str], query: Query
) -> str:
    why = difference(query, right, numbered(query, came, names))
    return f"{name} {_of(drawn, names)}: {why}" if why else ""


def _of(drawn: Drawn, names: Sequence[str]) -> str:
    """The drawn parameters for people."""
    devices = ", ".join(f"{device}" + (f" ({names[device]})" if names else "") for device in drawn.devices)
    value = f", above {drawn.value:.6g}" if drawn.value else ""
    if drawn.groups:
        groups = sorted(set(drawn.groups))
        return f"of {len(drawn.devices)} devices in groups {groups[0]} to {groups[-1]}"
    return f"of device {devices} from {drawn.from_ms} to {drawn.to_ms} ms{value}"
