"""Runs an IotJob: the check, the schema, the load, the count. Data stay in the database."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from scale_sweep.base.errors import LoadError, TargetError, UsageError
from scale_sweep.base.input_file import read_input_text
from scale_sweep.base.interrupts import Stop
from scale_sweep.experiment.work import miscounted, row_logical_bytes
from scale_sweep.iotbenchmark.config_values import read_properties
from scale_sweep.iotbenchmark.output import LoadDone, store_config
from scale_sweep.iotbenchmark.read import read_job
from scale_sweep.iotbenchmark.spec import RUNTIME, IotJob, load_spec, texts_of, trial_of
from scale_sweep.loadgen.binary import kept_by, mistake_of
from scale_sweep.loadgen.handle import Every, LoadEnd, LoadHandle, watch
from scale_sweep.measure.trial.loads import load_of
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.measure.trial.provision import Reached
from scale_sweep.measure.trial.waiting import (
    DROP_S,
    SCHEMA_S,
    TABLES_S,
    ask,
    closed_at_last,
    count_s,
    flush_s,
    wait_for,
)
from scale_sweep.model.loads import Interval
from scale_sweep.model.planned import Trial
from scale_sweep.model.resources import ServerOrder, ServerSpec, SiteRequest
from scale_sweep.results.sqlexport import PASSWORD_VARIABLE
from scale_sweep.server.runtimes import load_runtime
from scale_sweep.server.targets import ENDPOINT_PASSWORD, Address, Target, load_facts, load_target

READY_S = 15.0
DROPPED_S = 10.0  # within which what was dropped is gone, so that it can be created again
PAUSE_S = 0.2
LOAD_S_MAX = 7 * 86_400.0
DRAIN_S = 60.0
REPORT_EVERY_S = 5.0
BYTES_MAX = 1 << 20
Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class IotResult:
    done: LoadDone | None
    failure: LoadError | None  # why it is not a success; None: it is one


def read_file(path: str, overrides: tuple[str, ...], environment: Mapping[str, str]) -> IotJob:
    """Also the one in a directory. overrides: KEY=VALUE. Raises UsageError."""
    file = Path(path) / "config.properties" if os.path.isdir(path) else Path(path)
    values = read_properties(read_input_text(file, "--iot", BYTES_MAX))
    for override in overrides:
        key, equals, value = override.partition("=")
        if not equals or key.startswith("-"):
            raise UsageError(f"{override!r}: with --iot, further arguments are KEY=VALUE", remedy="like LOOP=10")
        values = {name: text for name, text in values.items() if name.upper() != key.upper()} | {key: value}
    return read_job(values, environment.get(ENDPOINT_PASSWORD, ""), environment.get(PASSWORD_VARIABLE, ""))


def run_job(job: IotJob, program: str, say: Say, stop: Stop) -> IotResult:
    """Raises UsageError before anything is done; TargetError, LoadError where nothing was measured."""
    facts = load_facts(job.target)
    cpus = tuple(sorted(os.sched_getaffinity(0)))
    trial = trial_of(job, facts, cpus)
    texts = texts_of(job, facts, trial.subject.method)
    home = os.environ.get(facts.home_variable, "") if facts.home_variable else ""
    order = TrialOrder(
        run_id="iot",
        trial=trial,
        axis="",
        data_dir="",
        home=home,
        client_home=home,
        port=None,
        disks=(),
        disk_placement="",
        wal_disk="",
        disk_free_min_bytes=0,
        sample_hz=1.0,
        program=program,
    )
    refuse_wrong_spec(job, trial, load_target(job.target), texts, program)
    for note in job.notes:
        say(note)
    store_config(job, socket.gethostname())
    with ExitStack() as cleanup:
        reached = _reach(job, order, home, facts.accepts, cleanup)
        unready = f"{job.database} at {job.host}:{job.port} is not ready"
        with closed_at_last(reached):
            wait_for(reached, reached.session.not_ready, unready, stop, READY_S)
            schema_s = _schema(job, reached, stop)
            present = 0 if job.writes else _present(job, reached)
            spec = load_spec(job, trial, reached.session.load_spec(), texts, present)
            load = load_of(order, kept_by(program, spec), facts.threads_per_process, reached)
            end = _load(load, say)
            failure, interrupted = end.failure, end.interrupted
            summary = load.summary()
            if summary is None:
                if failure is None and not interrupted:
                    failure = LoadError("the load generator ended without a summary")
                return IotResult(done=None, failure=failure)
            troubles = tuple(f"{t.count} x {t.code}: {t.message}" for t in load.troubles)
            counted, wrong = (None, "") if interrupted else _count(job, reached, summary.rows_acked, load, say)
    done = LoadDone(
        summary=summary, schema_s=schema_s, rows_counted=counted, troubles=troubles, interrupted=interrupted
    )
    if job.reads and not summary.service.count:
        wrong = wrong or "nothing was answered before the load ended; is TEST_MAX_TIME too short?"
    if failure is None and not interrupted and (wrong or summary.outcome != "ok"):
        failure = LoadError(wrong or f"not everything was answered: {'; '.join(troubles[:3]) or summary.outcome}")
    return IotResult(done=done, failure=failure)


def _reach(job: IotJob, order: TrialOrder, home: str, takes: tuple[str, ...], cleanup: ExitStack) -> Reached:
    runtime, target = load_runtime(RUNTIME), load_target(job.target)
    endpoint = order.trial.subject.endpoint
    site = runtime.site(
        SiteRequest(run_id=order.run_id, trial_id=order.run_id, data_dir="", home=home, endpoint=endpoint)
    )
    wanted = ServerOrder(
        spec=ServerSpec(argv=()), site=site, resources=order.trial.resources, run_id=order.run_id, trial_id=order.run_id
    )
    server = runtime.start(wanted, cleanup)
    address = Address(
        host=job.host,
        port=job.port,
        secret=job.password,
        home=home,
        is_ours=False,
        user=job.user if "user" in takes else "",
        database=job.database_name if "database" in takes else "",
    )
    return Reached(server=server, address=address, session=target.session(order.trial, address), who=target.facts.title)


def _schema(job: IotJob, reached: Reached, stop: Stop) -> float:
    """Returns seconds of creating. Without drops, what is there is kept and added to."""
    session = reached.session
    if job.drops:
        with contextlib.suppress(TargetError):
            ask(reached, session.drop_schema, DROP_S)
    begun = time.monotonic()
    if not job.creates:
        return 0.0
    while True:
        try:
            ask(reached, session.create_schema, SCHEMA_S)
            break
        except TargetError:
            if not job.drops and _is_there(job, reached):
                return time.monotonic() - begun
            if not job.drops or time.monotonic() > begun + DROPPED_S:
                raise
        stop.sleep(PAUSE_S)
    wait_for(reached, session.schema_pending, "the schema was not ready", stop)
    ask(reached, session.create_tables, TABLES_S)
    return time.monotonic() - begun


def _is_there(job: IotJob, reached: Reached) -> bool:
    try:
        return ask(reached, reached.session.count, count_s(job.rows_expected * job.work.data.tables)) is not None
    except TargetError:
        return False


def _present(job: IotJob, reached: Reached) -> int:
    """Rows of each device, for a load that only reads. Raises TargetError if there are none."""
    counted = ask(reached, reached.session.count, count_s(job.rows_expected * job.work.data.tables))
    each = job.rows_expected if counted is None else counted.rows // job.work.data.tables
    if each == 0:
        raise TargetError(
            "there are no rows to read",
            remedy="write them first: the same file with OPERATION_PROPORTION=1:0:0:0:0:0:0:0:0:0:0",
        )
    return each


def _load(load: LoadHandle, say: Say) -> LoadEnd:
    due = Every(REPORT_EVERY_S)

    def report(second: Interval) -> None:
        if due.elapsed_s() is not None:
            say(f"{second.t_s:.0f} s: {second.requests} requests and {second.rows} rows in the last second")

    load.start()
    try:
        end = watch(load, report, LOAD_S_MAX, DRAIN_S)
    finally:
        load.stop()
    return replace(end, failure=None) if end.interrupted else end


def _count(job: IotJob, reached: Reached, acknowledged: int, load: LoadHandle, say: Say) -> tuple[int | None, str]:
    """And why it is not that of the acknowledged rows: of an empty database."""
    if not (job.writes and job.drops):
        return None, ""
    try:
        ask(reached, reached.session.flush, flush_s(acknowledged * row_logical_bytes(job.work)))
        counted = ask(reached, reached.session.count, count_s(acknowledged))
    except TargetError as error:
        say(f"rows are not counted: {error.message}")
        return None, ""
    summary = load.summary()
    if counted is None or summary is None:
        return None, ""
    wanted = summary.rows_distinct if counted.is_distinct else summary.rows_acked
    if summary.rows_failed or summary.rows_unanswered:
        return counted.rows, ""
    return counted.rows, miscounted(job.work, wanted, counted.rows)


_KEYS = {
    "tables": "DEVICE_NUMBER",
    "threads": "CLIENT_NUMBER",
    "columns": "SENSOR_NUMBER",
    "tags": "TAG_NUMBER",
    "tag_groups": "TAG_VALUE_CARDINALITY",
    "tag_prefix": "TAG_VALUE_PREFIX",
    "rows": "LOOP",
    "requests": "LOOP",
    "rows_per_request": "BATCH_SIZE_PER_WRITE",
    "interlace_rows": "DEVICE_NUM_PER_WRITE",
    "start_ms": "START_TIME",
    "step_ms": "POINT_STEP",
    "period_rows": "WORKLOAD_BUFFER_SIZE",
    "decimals": "DOUBLE_LENGTH",
    "disorder_ratio": "OUT_OF_ORDER_RATIO",
    "disorder_lambda": "LAMBDA",
    "disorder_max_k": "MAX_K",
    "rate": "OP_MIN_INTERVAL",
    "duration_s": "TEST_MAX_TIME",
    "request_timeout_s": "WRITE_OPERATION_TIMEOUT_MS",
    "seed": "DATA_SEED",
    "read_seed": "QUERY_SEED",
    "operations": "OPERATION_PROPORTION",
}


def refuse_wrong_spec(job: IotJob, trial: Trial, target: Target, texts: Mapping[str, str], program: str) -> None:
    """Raises UsageError that names the key, PreflightError if the load generator cannot check."""
    nowhere = Address(host="", port=0, secret="")  # as of a server of ours, which is asked nothing for its spec
    spec = load_spec(
        job, trial, target.session(trial, nowhere).load_spec(), texts, 0 if job.writes else job.rows_expected
    )
    mistake = mistake_of(program, kept_by(program, spec))
    if mistake is not None:
        key = "OPERATION_PROPORTION" if mistake.key.startswith("ask.") else _KEYS.get(mistake.key, mistake.key)
        raise UsageError(f"{key}: {mistake.sentence}", remedy="docs/iot-benchmark.md has every key")
