"""A configuration of IoT-benchmark → IotJob."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from scale_sweep.base.errors import UsageError
from scale_sweep.experiment.work import queries_of
from scale_sweep.iotbenchmark.config_values import ConfigValues, shown
from scale_sweep.iotbenchmark.keys import TIME_FUNCTIONS
from scale_sweep.iotbenchmark.output import read_store
from scale_sweep.iotbenchmark.shape import (
    aggregate_function,
    queried_sensors,
    tag_notes,
    within_ms,
    workload,
    written_operations,
)
from scale_sweep.iotbenchmark.spec import IotJob
from scale_sweep.model.declared import Work
from scale_sweep.server.targets import Facts, all_facts

ROWS_MAX = REQUESTS_MAX = 10**15
ROWS_OF_REQUEST_MAX = 1_000_000
RATE_MAX = 1e12


def read_job(
    values: Mapping[str, str], password: str = "", store_password: str = "", now: datetime | None = None
) -> IotJob:
    """password, store_password: of the server and of the database for results, count before the file's. now: in the
    name of the load. Raises one UsageError for all mistakes."""
    config = ConfigValues(values)
    notes = config.check_keys()
    store, store_notes = read_store(config, store_password, now or datetime.now())
    facts, method, versions = _facts(config)
    clients, devices = config.whole(_clients_key(config)), config.whole("DEVICE_NUMBER")
    written = config.number("REAL_INSERT_RATE")
    if written <= 0:
        config.refuse("REAL_INSERT_RATE", "must be above 0")
    tables = min(devices, int(devices * written) + 1)
    loop, batch = config.whole("LOOP"), config.whole("BATCH_SIZE_PER_WRITE")
    batches = tables / clients / config.whole("DEVICE_NUM_PER_WRITE")
    operations, part = written_operations(config, batches)
    rows_each = max(1, round(loop * part * batch))
    data = workload(config, facts, tables, rows_each)
    work = Work(data=data, operations=operations)
    _check_work(config, work, rows_each, clients)
    function = aggregate_function(config)
    reads_only = part == 0
    sides = [side for side, is_used in (("WRITE", part > 0), ("READ", part < 1)) if is_used]
    units = 0 if work.counts_requests else rows_each * tables
    requests = max(1, round(loop * clients * (part * batches + 1 - part))) if work.counts_requests else 0
    rate = _rate(config, units or requests, loop, part, batches)
    _check_amounts(config, units, requests, rate)
    job = IotJob(
        database=config.text("DB_SWITCH"),
        target=facts.name if facts else "",
        method=method,
        host=_first(config, "HOST"),
        port=config.port("PORT", _first(config, "PORT")),
        user=config.text("USERNAME"),
        password=password or config.text("TOKEN" if facts and "token" in facts.accepts else "PASSWORD"),
        database_name=config.text("DB_NAME"),
        drops=config.flag("IS_DELETE_DATA") and not reads_only,
        creates=config.flag("CREATE_SCHEMA") and not reads_only,
        clients=clients,
        work=work,
        rows=units,
        requests=requests,
        duration_s=config.whole("TEST_MAX_TIME") / 1000,
        rate=rate,
        timeout_s=max(config.whole(f"{one}_OPERATION_TIMEOUT_MS") / 1000 for one in sides),
        seed=config.whole("DATA_SEED"),
        read_seed=config.whole("QUERY_SEED"),
        rows_expected=rows_each,
        within_ms=within_ms(config, loop, part),
        follows=config.flag("IS_RECENT_QUERY") and part > 0,
        sensors={o.name: tuple(queried_sensors(config, o.name)) for o in operations if o.unit != "rows"},
        time_function=function if function in TIME_FUNCTIONS else "",
        store=store,
        notes=(*notes, *versions, *store_notes, *_notes(config, facts, work), *tag_notes(config)),
    )
    config.raise_any()
    return job


def names_of(facts: Facts) -> dict[str, str]:
    """In DB_SWITCH, each with the way in which rows are then written."""
    named = (entry.partition("=") for entry in (*facts.iot_benchmark, *facts.iot_benchmark_versions))
    return {name: method or facts.methods[0] for name, _, method in named}


def _facts(config: ConfigValues) -> tuple[Facts | None, str, tuple[str, ...]]:
    wanted, known = config.text("DB_SWITCH"), all_facts()
    for facts in known:
        for name, method in names_of(facts).items():
            if wanted.lower() == name.lower():
                is_version = any(entry.partition("=")[0] == name for entry in facts.iot_benchmark_versions)
                sentence = f"{name} names a version of {facts.title}; the version that answers at HOST is loaded"
                return facts, method, (f"DB_SWITCH: {sentence}",) if is_version else ()
    names = ", ".join(sorted(name for facts in known for name in names_of(facts)))
    where = "" if config.says("DB_SWITCH") else " (its default)"
    config.refuse("DB_SWITCH", f"there is no target for {shown(wanted, quoted=False)}{where}", f"there are {names}")
    return None, "", ()


def _first(config: ConfigValues, key: str) -> str:
    text = config.text(key)
    if "," in text:
        config.refuse(key, f"{shown(text)}: one server is loaded", "name one")
    return text.split(",")[0].strip()


def _clients_key(config: ConfigValues) -> str:
    return "DATA_CLIENT_NUMBER" if config.says("DATA_CLIENT_NUMBER") else "CLIENT_NUMBER"


def _check_amounts(config: ConfigValues, rows: int, requests: int, rate: float) -> None:
    if rows > ROWS_MAX:
        config.refuse("LOOP", f"makes {rows:,} rows; {ROWS_MAX:,} at most")
    if requests > REQUESTS_MAX:
        config.refuse("LOOP", f"makes {requests:,} requests; {REQUESTS_MAX:,} at most")
    if rate > RATE_MAX:
        config.refuse("OP_MIN_INTERVAL", f"makes a rate of {rate:g} per second; {RATE_MAX:g} at most")
    each = config.whole("BATCH_SIZE_PER_WRITE") * config.whole("DEVICE_NUM_PER_WRITE")
    if each > ROWS_OF_REQUEST_MAX:
        config.refuse("BATCH_SIZE_PER_WRITE", f"a request has {each:,} rows; {ROWS_OF_REQUEST_MAX:,} at most")


def _check_work(config: ConfigValues, work: Work, rows_each: int, clients: int) -> None:
    devices, tables = config.whole("DEVICE_NUMBER"), work.data.tables
    if work.counts_requests:
        if tables < devices:
            config.refuse("REAL_INSERT_RATE", f"queries would ask for {devices - tables} devices that have no rows")
        _check_queries(config, work, rows_each)
    if clients > tables:
        why = f"{clients} clients cannot share {tables} devices: each device belongs to one client"
        config.refuse(_clients_key(config), why)
    for key, there in (("QUERY_DEVICE_NUM", devices), ("QUERY_SENSOR_NUM", config.whole("SENSOR_NUMBER"))):
        if config.whole(key) > there:
            config.refuse(key, f"{config.whole(key)}: there are {there} {'devices' if 'DEV' in key else 'sensors'}")


def _check_queries(config: ConfigValues, work: Work, rows_each: int) -> None:
    span = config.whole("QUERY_INTERVAL") // work.data.step_ms + 1
    enough = Work(data=work.data, operations=work.operations, preload_rows=(rows_each + span) * work.data.tables)
    try:
        queries_of(enough)
    except (ValueError, UsageError) as error:
        config.refuse("OPERATION_PROPORTION", str(error))


def _rate(config: ConfigValues, units: int, loop: int, part: float, batches: float) -> float:
    """Units per second of all clients; a loop takes OP_MIN_INTERVAL (-1: POINT_STEP), a batch
    INTERVAL_BETWEEN_WRITE_BATCH; 0: as fast as they are answered."""
    each = config.whole("OP_MIN_INTERVAL")
    least_ms = float(config.whole("POINT_STEP") if each == -1 else each)
    if config.flag("OP_MIN_INTERVAL_RANDOM"):
        least_ms /= 2
    writes_ms = max(least_ms, batches * config.whole("INTERVAL_BETWEEN_WRITE_BATCH"))
    loop_ms = part * writes_ms + (1 - part) * least_ms
    return units / (loop * loop_ms / 1000) if loop_ms else 0.0


def _notes(config: ConfigValues, facts: Facts | None, work: Work) -> Sequence[str]:
    notes = []
    title = facts.title if facts else ""
    taken = facts.accepts if facts else ()
    for key, what in (("USERNAME", "user"), ("DB_NAME", "database"), ("TOKEN", "token")):
        if config.says(key) and what not in taken:
            has = "takes no token" if what == "token" else f"has a {what} of its own"
            notes.append(f"{key} has no effect: the target {title} {has}")
    if config.says("PASSWORD") and "token" in taken:
        notes.append(f"PASSWORD has no effect: the target {title} takes TOKEN")
    if config.flag("OP_MIN_INTERVAL_RANDOM") and config.text("OP_MIN_INTERVAL") != "0":
        notes.append("OP_MIN_INTERVAL_RANDOM: requests are due at their mean distance, evenly")
    if not config.flag("IS_CLIENT_BIND"):
        notes.append("IS_CLIENT_BIND: each device belongs to one client all the same")
    if config.flag("IS_RECENT_QUERY") and work.counts_requests and all(o.unit != "rows" for o in work.operations):
        notes.append("IS_RECENT_QUERY has no effect without writes, as in IoT-benchmark")
    if work.counts_requests and config.whole("QUERY_SENSOR_NUM") < len(work.data.columns):
        notes.append("QUERY_SENSOR_NUM: each query asks for the same sensors, the first that fit")
    return notes
