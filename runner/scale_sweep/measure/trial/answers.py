"""Checks the answers of the database against those computed from the load generator's rows: before the window each
operation with its own draws; then those that came while the load ran, by their number of rows, and by their content if
it is known.

Refuses to judge a text of the user, whose right answer is unknown, and content that the writes of the load change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from scale_sweep.experiment.work import queries_of, ranked
from scale_sweep.experiment.work.answers import (
    Stretch,
    difference,
    draws,
    grows,
    is_nothing,
    known_answer,
    only,
    stretches,
    with_groups,
)
from scale_sweep.experiment.work.columns import Right, TableRows
from scale_sweep.experiment.work.devices import as_text, from_text
from scale_sweep.experiment.work.filters import counted
from scale_sweep.loadgen.content import content_of
from scale_sweep.loadgen.protocol import ReportedAnswer
from scale_sweep.loadgen.rows import Tables, rows_of, tables_of
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.measure.trial.provision import Reached
from scale_sweep.measure.trial.waiting import ask
from scale_sweep.model import AnswersChecked, Cells, Drawn, Query, Work

TIMES = 20  # queries of each operation at least, enough to find a wrong text
TIMES_MAX = 200  # at most, where it takes more than TIMES to ask for every device
ROWS_MAX = 2_000_000  # of one operation, in answers computed and compared; with more, it is asked less often
COUNTED_MAX = 200  # answers of one operation within the load whose rows are counted again
WRONG_MAX = 3  # sentences of one operation
ASK_S = 300.0
NAMED_MAX = 8  # devices in a sentence


def checked_before(
    order: TrialOrder, reached: Reached, spec: Mapping[str, str], texts: Mapping[str, str]
) -> tuple[AnswersChecked, ...]:
    """The check of every operation whose right answer is known. texts: rendered, by operation. Raises LoadError or
    TargetError."""
    work = order.trial.work
    queries = {name: query for name, query in queries_of(work).items() if not query.text}
    if not queries:
        return ()
    tables = ask(reached, lambda: tables_of(order.program, spec, reached.address.secret), ASK_S)
    checks, made = [], _Made(order.program, spec)
    times = _times(queries.values(), work)
    place = order.trial.order * times * sum(query.devices for query in queries.values())
    for name, query in queries.items():
        all_drawn = [_resolved(query, one, tables) for one in draws(query, work, times, order.trial.seed, place)]
        place += times * query.devices
        drawn = _affordable(query, work, all_drawn)
        came = ask(reached, _question(reached, texts[name], drawn, tables.names), ASK_S)
        right, (tested_rows, passed_rows) = _right(made, query, work, drawn)
        wrong = [
            _sentence(name, one, answer, rows, tables.names, query)
            for one, answer, rows in zip(drawn, right, came, strict=True)
            if answer is not None
        ]
        known = [one for one, answer in zip(drawn, right, strict=True) if answer is not None]
        devices = as_text(device for one in known for device in one.devices)
        some = tuple(filter(None, wrong))[:WRONG_MAX]
        checks.append(
            AnswersChecked(
                operation=name,
                whole=len(known),
                wrong=some,
                devices=devices,
                tested_rows=tested_rows,
                passed_rows=passed_rows,
            )
        )
    return tuple(checks)


def _times(queries: Iterable[Query], work: Work) -> int:
    """The number of queries of each operation, so that all together query every device, TIMES_MAX at most."""
    devices = sum(query.devices for query in queries)
    return min(TIMES_MAX, max(TIMES, -(-work.data.tables // devices))) if devices else TIMES


def checked_within(
    order: TrialOrder,
    reached: Reached,
    spec: Mapping[str, str],
    texts: Mapping[str, str],
    answers: Sequence[ReportedAnswer],
    before: Sequence[AnswersChecked],
    written: int,
) -> tuple[AnswersChecked, ...]:
    """The earlier check, with the answers that the load generator reported during the load. texts: as in the earlier
    check. written: rows that the load sent, which an answer may contain. Raises LoadError or TargetError."""
    work, known = order.trial.work, {one.operation: one for one in before}
    queries = queries_of(work)
    has_writes = len(queries) < len(work.operations)
    tables = ask(reached, lambda: tables_of(order.program, spec, reached.address.secret), ASK_S)
    made = _Made(order.program, spec)
    for name, one in known.items():
        query = queries[name]
        reported = [
            (answer, _resolved(query, _drawn(query, answer, work), tables))
            for answer in answers
            if answer.operation == name
        ]
        chosen = [  # by time those whose content is known, by number the others
            *_spread(query, work, [pair for pair in reported if pair[0].content]),
            *_spread(query, work, [pair for pair in reported if not pair[0].content]),
        ]
        right, (tested_rows, passed_rows) = _right(made, query, work, [drawn for _, drawn in chosen])
        compared, wrong, devices = 0, [], from_text(one.devices)
        for (answer, drawn), rows in zip(chosen, right, strict=True):
            if rows is None:
                continue
            can_compare = is_compared(query, answer, has_writes=has_writes)
            compared += can_compare
            devices.update(drawn.devices if can_compare else ())
            came = _handed(reached, query, texts[name], drawn, tables.names, answer) if can_compare else None
            why = (
                came
                if isinstance(came, str)
                else Within(
                    query=query, answer=answer, right=rows, came=came, names=tables.names, written=written
                ).wrong()
            )
            if why:
                wrong.append(f"{name} {_of(drawn, ())}: {why}")
        known[name] = replace(
            one,
            counted=len(right) - right.count(None),
            compared=compared,
            wrong=(*one.wrong, *wrong)[:WRONG_MAX],
            devices=as_text(devices),
            tested_rows=one.tested_rows + tested_rows,
            passed_rows=one.passed_rows + passed_rows,
        )
    return tuple(known.values())


def _handed(
    reached: Reached, query: Query, text: str, drawn: Drawn, names: Sequence[str], answer: ReportedAnswer
) -> Sequence[Cells] | str:
    """The rows of the content; if it is no answer to the query, a sentence that says so."""
    try:
        return reached.session.rows_handed(query, text, drawn, names, content_of(answer))
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        return f"an answer that came while the load ran cannot be read: {error}"


def _spread(
    query: Query, work: Work, reported: list[tuple[ReportedAnswer, Drawn]]
) -> list[tuple[ReportedAnswer, Drawn]]:
    """The answers to check: as many as are affordable, spread over the load."""
    step = -(-len(reported) // COUNTED_MAX) or 1
    while len(chosen := reported[::step]) > 1 and len(_affordable(query, work, [one for _, one in chosen])) < len(
        chosen
    ):
        step *= 2
    return chosen


def _question(
    reached: Reached, text: str, drawn: Sequence[Drawn], names: Sequence[str]
) -> Callable[[], tuple[tuple[Cells, ...], ...]]:
    return partial(reached.session.answers, [(text, one) for one in drawn], names)


def _resolved(query: Query, drawn: Drawn, tables: Tables) -> Drawn:
    """The draw with all devices or those of its groups, if it draws none by themselves; with those of one tag only."""
    if query.each_tag:
        resolved = with_groups(query, drawn, [str(value) for value in tables.tags[query.each_tag]])
    else:
        groups = tables.tags[query.tag] if query.tag else [0] * len(tables.names)
        resolved = with_groups(query, drawn, [int(group) for group in groups])
    if query.with_tag is None:
        return resolved
    name, wanted = query.with_tag
    return only(resolved, {device for device, value in enumerate(tables.tags[name]) if str(value) == wanted})


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
        """The rows of each stretch. Raises LoadError."""
        if sum(count for _, _, count in {*self._rows, *wanted}) > ROWS_MAX:
            self._rows.clear()
        missing = [stretch for stretch in dict.fromkeys(wanted) if stretch not in self._rows]
        self._rows.update(zip(missing, rows_of(self._program, self._spec, missing), strict=True))
        return self._rows


def _right(made: _Made, query: Query, work: Work, drawn: Sequence[Drawn]) -> tuple[list[Right | None], tuple[int, int]]:
    """The right answer to each draw; None if more than one is right. The number of rows that the different draws
    compare with bounds, and of those within them."""
    needed = {one: stretches(query, one, work) for one in drawn}
    rows = made.rows([stretch for some in needed.values() for stretch in some])
    answers: dict[Drawn, Right | None] = {}
    counts = [(0, 0)]
    for one, some in needed.items():
        held = {stretch[0]: rows[stretch] for stretch in some}
        answers[one] = known_answer(query, one, held)
        counts.append(counted(query, one, held))
    return [answers[one] for one in drawn], (sum(number for number, _ in counts), sum(passed for _, passed in counts))


def _drawn(query: Query, answer: ReportedAnswer, work: Work) -> Drawn:
    """The draw of an answer. A moment lasts until the next row."""
    start = answer.from_ms or 0
    end = start + work.data.step_ms if query.when == "at" else answer.to_ms or 0
    return Drawn(devices=answer.devices, from_ms=start, to_ms=end, value=answer.value or 0.0)


def _sentence(name: str, drawn: Drawn, right: Right, came: Sequence[Cells], names: Sequence[str], query: Query) -> str:
    why = difference(query, right, numbered(query, came, names))
    return f"{name} {_of(drawn, names)}: {why}" if why else ""


def _of(drawn: Drawn, names: Sequence[str]) -> str:
    """The drawn parameters for people."""
    devices = ", ".join(f"{device}" + (f" ({names[device]})" if names else "") for device in drawn.devices[:NAMED_MAX])
    devices += f" and {len(drawn.devices) - NAMED_MAX} more" if len(drawn.devices) > NAMED_MAX else ""
    value = f", above {drawn.value:.6g}" if drawn.value else ""
    if drawn.groups:
        groups = sorted(set(drawn.groups))
        return f"of {len(drawn.devices)} devices in groups {groups[0]} to {groups[-1]}"
    return f"of device {devices} from {drawn.from_ms} to {drawn.to_ms} ms{value}"


@dataclass(frozen=True, kw_only=True)
class Within:
    """An answer, and the right one to its draw. came: the rows of its content; None if it is not compared. names: of
    the tables. written: rows that the load sent, which an answer may contain."""

    query: Query
    answer: ReportedAnswer
    right: Right
    came: Sequence[Cells] | None
    names: Sequence[str]
    written: int

    def wrong(self) -> str:
        """The difference in a few words; "" if the answer is right."""
        more = self.right.optional_rows + (self.written if grows(self.query) else 0)
        least = ranked.rows_of(self.query, self.right) - self.right.optional_rows
        if not 0 <= self.answer.rows - least <= more and not is_nothing(self.query, self.right):
            return f"{self.answer.rows:,} rows came while the load ran, {_right_count(least, more)}"
        if self.came is None:
            return ""
        why = difference(self.query, self.right, numbered(self.query, self.came, self.names))
        return f"{why} (while the load ran)" if why else ""


def is_compared(query: Query, answer: ReportedAnswer, *, has_writes: bool) -> bool:
    """True if the content is known and no write of the load may change it. has_writes: the load sends rows."""
    return bool(answer.content) and (query.when != "always" or not has_writes)


def numbered(query: Query, came: Sequence[Cells], names: Sequence[str]) -> Sequence[Cells]:
    """The rows with the numbers of their devices in place of the names, if they tell the device; with the values of a
    tag as texts."""
    place = query.keys - 1
    if query.each_tag:
        return [(*row[:place], str(row[place]), *row[place + 1 :]) for row in came]
    if not query.tells_device:
        return came
    numbers = {text: number for number, text in enumerate(names)}
    return [(*row[:place], numbers.get(str(row[place]), row[place]), *row[place + 1 :]) for row in came]


def _right_count(least: int, more: int) -> str:
    """The right number of rows: more of them may come where the load writes, and where rows are optional."""
    return f"{least:,} to {least + more:,} are right" if more else f"{least:,} are right"
