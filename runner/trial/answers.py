"""Checks the answers. Before the window, each operation is asked with its own draws, and its complete answers are
compared with those computed from the load generator's rows. Of answers within the load, the number of rows is compared.

Refuses to judge a text of the user: its right answer is unknown. Its requests are counted all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from runner.loadgen.protocol import Asked
from runner.loadgen.rows import names_of, rows_of
from runner.model import AnswersChecked, Cells, Drawn, Query, Work
from runner.trial.asking import asked
from runner.trial.order import TrialOrder
from runner.trial.provision import Reached
from runner.work import queries_of
from runner.work.answers import TableRows, difference, draws, right_answer, stretches

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
    names = asked(reached, lambda: names_of(order.program, spec, reached.address.secret), ASK_S)
    found = []
    for name, query in queries.items():
        drawn = _affordable(query, work, draws(query, work, TIMES, order.trial.seed))
        came = asked(reached, _question(reached, texts[name], drawn, names), ASK_S)
        right = _right(order.program, spec, query, work, drawn)
        wrong = [_sentence(name, *case, names, query) for case in zip(drawn, right, came, strict=True)]
        found.append(AnswersChecked(operation=name, whole=len(drawn), wrong=tuple(filter(None, wrong))[:WRONG_MAX]))
    return tuple(found)


def checked_within(
    order: TrialOrder, spec: Mapping[str, str], answers: Sequence[Asked], before: Sequence[AnswersChecked]
) -> tuple[AnswersChecked, ...]:
    """The earlier check, with the answers that the load generator reported during the load. Raises LoadError."""
    work, known = order.trial.work, {one.operation: one for one in before}
    queries = queries_of(work)
    for name, one in known.items():
        told = [answer for answer in answers if answer.operation == name]
        told = told[:: -(-len(told) // COUNTED_MAX) or 1]
        width = work.data.step_ms if queries[name].when == "at" else 0
        drawn = [_drawn(answer, width) for answer in told]
        right = _right(order.program, spec, queries[name], work, drawn) if drawn else []
        wrong = [
            f"{name} {_of(case, ())}: {answer.rows:,} rows came while the load ran, {len(rows):,} are right"
            for answer, case, rows in zip(told, drawn, right, strict=True)
            if answer.rows != len(rows) and not _is_nothing(queries[name], rows)
        ]
        known[name] = replace(one, counted=len(told), wrong=(*one.wrong, *wrong)[:WRONG_MAX])
    return tuple(known.values())


def _question(
    reached: Reached, text: str, drawn: Sequence[Drawn], names: Sequence[str]
) -> Callable[[], tuple[tuple[Cells, ...], ...]]:
    return partial(reached.session.answers, [(text, one) for one in drawn], names)


def _affordable(query: Query, work: Work, drawn: list[Drawn]) -> list[Drawn]:
    each = max(1, sum(count for _, _, count in stretches(query, drawn[0], work)))
    return drawn[: max(1, ROWS_MAX // each)]


def _right(
    program: str, spec: Mapping[str, str], query: Query, work: Work, drawn: Sequence[Drawn]
) -> list[list[Cells]]:
    needed = [stretches(query, one, work) for one in drawn]
    rows = iter(rows_of(program, spec, [stretch for some in needed for stretch in some]))
    found = []
    for one, some in zip(drawn, needed, strict=True):
        held: dict[int, TableRows] = {table: next(rows) for table, _, _ in some}
        found.append(right_answer(query, one, held))
    return found


def _is_nothing(query: Query, right: Sequence[Cells]) -> bool:
    """Whether the right answer is an aggregate of no rows. Some databases answer it by no row, others by an empty
    one."""
    return bool(query.function) and not query.bucket_ms and not right


def _drawn(answer: Asked, width_ms: int) -> Drawn:
    """The draw of an answer. width_ms: of a moment, up to the next row; 0: the answer states its end."""
    start = answer.from_ms or 0
    end = start + width_ms if width_ms else answer.to_ms or 0
    return Drawn(devices=answer.devices, from_ms=start, to_ms=end, value=answer.value or 0.0)


def _sentence(
    name: str, drawn: Drawn, right: Sequence[Cells], came: Sequence[Cells], names: Sequence[str], query: Query
) -> str:
    numbers = {text: number for number, text in enumerate(names)}
    if query.devices > 1 and not query.function:
        came = [(row[0], numbers.get(str(row[1]), row[1]), *row[2:]) for row in came]
    why = difference(query, right, came)
    return f"{name} {_of(drawn, names)}: {why}" if why else ""


def _of(drawn: Drawn, names: Sequence[str]) -> str:
    """The drawn parameters for people."""
    devices = ", ".join(f"{device}" + (f" ({names[device]})" if names else "") for device in drawn.devices)
    value = f", above {drawn.value:.6g}" if drawn.value else ""
    return f"of device {devices} from {drawn.from_ms} to {drawn.to_ms} ms{value}"
