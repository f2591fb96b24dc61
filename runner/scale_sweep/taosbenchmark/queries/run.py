"""Asks what a query file says: one load after another, the lines of each, and the totals."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from scale_sweep.base.errors import LoadError, TargetError
from scale_sweep.base.input_file import read_input_text
from scale_sweep.loadgen.handle import Every
from scale_sweep.loadgen.verbs import run_statements
from scale_sweep.model import Interval, LoadSummary
from scale_sweep.taosbenchmark.job import Refusals, ScaleOptions
from scale_sweep.taosbenchmark.keys import BYTES_MAX
from scale_sweep.taosbenchmark.loading import RESULT, LoadsDone, Say, need_library, run_load, saying
from scale_sweep.taosbenchmark.queries import output
from scale_sweep.taosbenchmark.queries.job import QueryJob
from scale_sweep.taosbenchmark.queries.spec import QueryLoad, specified_loads, subtable_load, subtables_statement
from scale_sweep.taosbenchmark.spec import door_spec

REPORT_EVERY_S = 30.0


QueryResult = LoadsDone[output.QueriesDone]


def read_text(path: str) -> str:
    """A file of statements. Raises UsageError."""
    return read_input_text(path, "", BYTES_MAX)


def check_results(job: QueryJob, refusals: Refusals) -> None:
    """Refuses a result file whose directory does not exist, or is not to be written to."""
    for query in job.queries():
        folder = Path(query.result).parent
        if query.result and not (os.path.isdir(folder) and os.access(folder, os.W_OK)):
            refusals.add(f"{query.key}.result", f"{query.result}: {folder} is not a directory that can be written to")


def run_queries(job: QueryJob, own: ScaleOptions, program: str, say: Say) -> QueryResult:
    """Asks it all. Raises PreflightError without libtaos, TargetError when the server refuses, StoreError when the
    result file cannot be written."""
    need_library(program, door_spec(job, own, job.method))
    with saying(job.result_file, say) as both:
        return _run(job, own, program, both)


def _run(job: QueryJob, own: ScaleOptions, program: str, say: Say) -> QueryResult:
    result = QueryResult()
    for note in job.notes:
        say("INFO", note)
    loads = [(load, False) for load in specified_loads(job, own, job.specified)] if job.specified else []
    if job.of_subtables:
        subtables = _subtables(job, own, program)
        say("INFO", f"{job.of_subtables.supertable}'s childTblCount: {len(subtables)}")
        loads.append((subtable_load(job, own, job.of_subtables, subtables), True))
    for load, of_subtables in loads:
        _ask(job, program, load, result, say, of_subtables=of_subtables)
        if result.is_over:
            break
    if result.done:
        for line in output.total_lines(result.done):
            say(RESULT, line)
    return result


def _subtables(job: QueryJob, own: ScaleOptions, program: str) -> list[str]:
    assert job.of_subtables is not None
    name = job.of_subtables.supertable
    statement = subtables_statement(job, name)
    (answer,) = run_statements(program, door_spec(job, own, job.method), [statement], job.password)
    if not answer.ok:
        raise TargetError(f"TDengine refused {statement!r}: {answer.code} {answer.message}")
    if not answer.rows:
        raise TargetError(f"supertable {job.database}.{name} has no subtable", remedy="correct databases or stblname")
    return [str(row[0]) for row in answer.rows]


def _ask(job: QueryJob, program: str, load: QueryLoad, result: QueryResult, say: Say, *, of_subtables: bool) -> None:
    """Runs one load, and adds its lines and outcome to `result`."""
    spec = dict(load.spec)
    with ExitStack() as stack:
        if load.items:
            file = stack.enter_context(tempfile.NamedTemporaryFile("w", suffix=".items", encoding="utf-8"))
            file.writelines(f"{item}\n" for item in load.items)
            file.flush()
            spec["items"] = file.name
        done = run_load(program, spec, job.password, _reports(say))
    result.failure, result.interrupted = done.failure, done.interrupted
    if done.summary is None:
        return
    queried = output.QueriesDone(load=load, summary=done.summary, of_subtables=of_subtables, troubles=done.troubles)
    result.done.append(queried)
    for line in output.delay_lines(queried):
        say(RESULT, line)
    if not result.is_over:
        result.failure = _failure(job, queried, done.summary, say)


def _reports(say: Say) -> Callable[[Interval], None]:
    due, queries = Every(REPORT_EVERY_S), 0

    def report(second: Interval) -> None:
        nonlocal queries
        queries += second.requests
        if due.elapsed_s() is not None:
            say("INFO", f"has currently completed queries: {queries}, QPS: {second.requests} in a second")

    return report


def _failure(job: QueryJob, queried: output.QueriesDone, summary: LoadSummary, say: Say) -> LoadError | None:
    """A query without an answer is a failure, unless the file says that the others go on."""
    if summary.outcome == "ok":
        return None
    what = f"{queried.failed} queries failed: {'; '.join(queried.troubles[:3]) or summary.outcome}"
    if job.keep_going and summary.outcome == "errors":
        say("WARN", what)
        return None
    return LoadError(what, remedy="correct the statement, or give continue_if_fail: yes")
