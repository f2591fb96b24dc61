"""From options or a file to what is done with them: which kind of file it is, and one shape for all kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from scale_sweep.base.errors import LoadError
from scale_sweep.taosbenchmark import output
from scale_sweep.taosbenchmark.job import Job, Refusals, ScaleOptions
from scale_sweep.taosbenchmark.loading import Say
from scale_sweep.taosbenchmark.queries import output as query_output
from scale_sweep.taosbenchmark.queries.job import QueryJob
from scale_sweep.taosbenchmark.queries.read import read_queries
from scale_sweep.taosbenchmark.queries.run import check_results, read_text, run_queries
from scale_sweep.taosbenchmark.run import beside_file, client_folder, read_document, read_job, run_job
from scale_sweep.taosbenchmark.subscriptions import output as subscription_output
from scale_sweep.taosbenchmark.subscriptions.job import SubscribeJob
from scale_sweep.taosbenchmark.subscriptions.read import read_subscriptions
from scale_sweep.taosbenchmark.subscriptions.run import check_files, run_subscriptions


@dataclass(frozen=True, kw_only=True)
class CommandOutcome:
    document: Mapping[str, Any]  # for --json
    interrupted: bool
    failure: LoadError | None  # raised by the caller after the lines were shown


@dataclass(frozen=True, kw_only=True)
class LoadCommand:
    """Something to do."""

    ask: bool
    settings: tuple[str, ...]  # lines for a person, who is asked first where `ask` is set
    run: Callable[[str, Say], CommandOutcome]


def read_command(
    options: Mapping[str, str], refusals: Refusals, own: ScaleOptions, environment: Mapping[str, str], now: datetime
) -> LoadCommand:
    """Reads the command of the options, or of the file that they name. Raises UsageError with all mistakes."""
    document = read_document(options["file"]) if "file" in options else {}
    kind = str(document.get("filetype", "insert")).lower()
    if kind == "query":
        return _queries(document, options, refusals, own, environment)
    if kind == "subscribe":
        job = read_subscribe_job(document, options, refusals, environment, now, row_times=own.row_times)
        return _subscriptions(job, own)
    return _insert(read_job(options, refusals, own, environment, now), own)


def _insert(job: Job, own: ScaleOptions) -> LoadCommand:
    def run(program: str, say: Say) -> CommandOutcome:
        result = run_job(job, own, program, say)
        return CommandOutcome(
            document=output.document(job, result.loads, interrupted=result.interrupted)
            | {"aggregates": [asdict(one) for one in result.took]},
            interrupted=result.interrupted,
            failure=result.failure,
        )

    return LoadCommand(ask=job.ask, settings=output.settings_lines(job), run=run)


def _queries(
    document: Mapping[str, Any],
    options: Mapping[str, str],
    refusals: Refusals,
    own: ScaleOptions,
    environment: Mapping[str, str],
) -> LoadCommand:
    job = read_query_job(document, options, refusals, environment)

    def run(program: str, say: Say) -> CommandOutcome:
        result = run_queries(job, own, program, say)
        return CommandOutcome(
            document=query_output.document(job, result.done, interrupted=result.interrupted),
            interrupted=result.interrupted,
            failure=result.failure,
        )

    return LoadCommand(ask=False, settings=query_output.settings_lines(job), run=run)


def read_query_job(
    document: Mapping[str, Any], options: Mapping[str, str], refusals: Refusals, environment: Mapping[str, str]
) -> QueryJob:
    """The job of a query file. Raises UsageError with all mistakes."""
    folder, client = beside_file(options, document, refusals)
    password = options.get("password") or environment.get("SCALE_PASSWORD", "")
    job = read_queries(document, options, client, password, read_text, refusals)
    check_results(job, refusals)
    refusals.raise_any()
    return replace(job, client_config=client_folder(folder))


def _subscriptions(job: SubscribeJob, own: ScaleOptions) -> LoadCommand:
    def run(program: str, say: Say) -> CommandOutcome:
        result = run_subscriptions(job, own, program, say)
        return CommandOutcome(
            document=subscription_output.document(job, result.done, interrupted=result.interrupted),
            interrupted=result.interrupted,
            failure=result.failure,
        )

    return LoadCommand(ask=False, settings=subscription_output.settings_lines(job), run=run)


def read_subscribe_job(
    document: Mapping[str, Any],
    options: Mapping[str, str],
    refusals: Refusals,
    environment: Mapping[str, str],
    now: datetime,
    *,
    row_times: bool = False,
) -> SubscribeJob:
    """The job of a subscribe file. Raises UsageError with all mistakes."""
    folder, client = beside_file(options, document, refusals)
    password = options.get("password") or environment.get("SCALE_PASSWORD", "")
    new_group = f"scale_{round(now.timestamp() * 1e6):x}"
    job = read_subscriptions(document, options, client, password, new_group, refusals)
    check_files(job, refusals, row_times=row_times)
    refusals.raise_any()
    return replace(job, client_config=client_folder(folder))
