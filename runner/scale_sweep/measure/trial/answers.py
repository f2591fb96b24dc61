"""Checks the answers of the database before the load against those computed from the load generator's rows, each
operation with its own draws."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from scale_sweep.experiment.work import queries_of
from scale_sweep.experiment.work.answers import (
    Stretch,
    counted,
    difference,
    draws,
    known_answer,
    only,
    stretches,
    with_groups,
)
from scale_sweep.experiment.work.columns import Right, TableRows
from scale_sweep.experiment.work.drawn import as_text
from scale_sweep.loadgen.verbs import Tables, rows_of, tables_of
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.measure.trial.provision import Reached
from scale_sweep.measure.trial.waiting import ask
from scale_sweep.model.declared import Work
from scale_sweep.model.questions import AnswersChecked, Cells, Drawn, Query

TIMES = 20  # of each operation, enough to find a wrong text
TIMES_MAX = 200  # to ask for every device
ROWS_MAX = 2_000_000  # of one operation, in computed answers
WRONG_MAX = 3  # of one operation
ASK_S = 300.0
NAMED_MAX = 8  # devices in a sentence


def checked_before(
    order: TrialOrder, reached: Reached, spec: Mapping[str, str], texts: Mapping[str, str]
) -> tuple[AnswersChecked, ...]:
    """texts: by operation. Raises LoadError or TargetError."""
    work = order.trial.work
    queries = {name: query for name, query in queries_of(work).items() if not query.text}
    if not queries:
        return ()
    tables = ask(reached, lambda: tables_of(order.program, spec, reached.address.secret), ASK_S)
    checks, made = [], Made(order.program, spec)
    times = _times(queries.values(), work)
    place = order.trial.order * times * sum(query.devices for query in queries.values())
    for name, query in queries.items():
        all_drawn = [resolved(query, one, tables) for one in draws(query, work, times, order.trial.seed, place)]
        place += times * query.devices
        drawn = affordable(query, work, all_drawn)
        question = partial(reached.session.answers, [(texts[name], one) for one in drawn], tables.names)
        came = ask(reached, question, ASK_S)
        right, (tested_rows, passed_rows) = right_of(made, query, work, drawn)
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
    """So that all together query every device, TIMES_MAX at most."""
    devices = sum(query.devices for query in queries)
    return min(TIMES_MAX, max(TIMES, -(-work.data.tables // devices))) if devices else TIMES


def resolved(query: Query, drawn: Drawn, tables: Tables) -> Drawn:
    """With all devices, or those of its groups or tag, if it draws none."""
    if query.each_tag:
        resolved = with_groups(query, drawn, [str(value) for value in tables.tags[query.each_tag]])
    else:
        groups = tables.tags[query.tag] if query.tag else [0] * len(tables.names)
        resolved = with_groups(query, drawn, [int(group) for group in groups])
    if query.with_tag is None:
        return resolved
    name, wanted = query.with_tag
    return only(resolved, {device for device, value in enumerate(tables.tags[name]) if str(value) == wanted})


def affordable(query: Query, work: Work, drawn: list[Drawn]) -> list[Drawn]:
    """As many draws as depend on ROWS_MAX different rows, one at least."""
    needed: set[Stretch] = set()
    for number, one in enumerate(drawn):
        needed |= set(stretches(query, one, work))
        if number and sum(count for _, _, count in needed) > ROWS_MAX:
            return drawn[:number]
    return drawn


class Made:
    """Rows are kept from one operation to the next while they are few."""

    def __init__(self, program: str, spec: Mapping[str, str]) -> None:
        self._program, self._spec = program, spec
        self._rows: dict[Stretch, TableRows] = {}

    def rows(self, wanted: Sequence[Stretch]) -> Mapping[Stretch, TableRows]:
        """Raises LoadError."""
        if sum(count for _, _, count in {*self._rows, *wanted}) > ROWS_MAX:
            self._rows.clear()
        missing = [stretch for stretch in dict.fromkeys(wanted) if stretch not in self._rows]
        self._rows.update(zip(missing, rows_of(self._program, self._spec, missing), strict=True))
        return self._rows


def right_of(
    made: Made, query: Query, work: Work, drawn: Sequence[Drawn]
) -> tuple[list[Right | None], tuple[int, int]]:
    """None: several are right. Then rows that are compared with bounds, and those within."""
    needed = {one: stretches(query, one, work) for one in drawn}
    rows = made.rows([stretch for some in needed.values() for stretch in some])
    answers: dict[Drawn, Right | None] = {}
    counts = [(0, 0)]
    for one, some in needed.items():
        held = {stretch[0]: rows[stretch] for stretch in some}
        answers[one] = known_answer(query, one, held)
        counts.append(counted(query, one, held))
    return [answers[one] for one in drawn], (sum(number for number, _ in counts), sum(passed for _, passed in counts))


def _sentence(name: str, drawn: Drawn, right: Right, came: Sequence[Cells], names: Sequence[str], query: Query) -> str:
    why = difference(query, right, numbered(query, came, names))
    return f"{name} {draw_words(drawn, names)}: {why}" if why else ""


def draw_words(drawn: Drawn, names: Sequence[str]) -> str:
    devices = ", ".join(f"{device}" + (f" ({names[device]})" if names else "") for device in drawn.devices[:NAMED_MAX])
    devices += f" and {len(drawn.devices) - NAMED_MAX} more" if len(drawn.devices) > NAMED_MAX else ""
    value = f", above {drawn.value:.6g}" if drawn.value else ""
    if drawn.groups:
        groups = sorted(set(drawn.groups))
        return f"of {len(drawn.devices)} devices in groups {groups[0]} to {groups[-1]}"
    return f"of device {devices} from {drawn.from_ms} to {drawn.to_ms} ms{value}"


def numbered(query: Query, came: Sequence[Cells], names: Sequence[str]) -> Sequence[Cells]:
    """Devices' names as numbers, a tag's values as texts."""
    place = query.keys - 1
    if query.each_tag:
        return [(*row[:place], str(row[place]), *row[place + 1 :]) for row in came]
    if not query.tells_device:
        return came
    numbers = {text: number for number, text in enumerate(names)}
    return [(*row[:place], numbers.get(str(row[place]), row[place]), *row[place + 1 :]) for row in came]
