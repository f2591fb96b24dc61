"""The configuration and the results of a load, as IoT-benchmark's tables CONFIG and FINAL_RESULT of an SQL database."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from urllib.parse import quote

from scale_sweep.iotbenchmark.config_values import ConfigValues, shown
from scale_sweep.iotbenchmark.keys import KEYS
from scale_sweep.iotbenchmark.output import LoadDone, rows_of
from scale_sweep.iotbenchmark.spec import IotJob, ResultStore
from scale_sweep.results.sqlexport import SqlTable, write
from scale_sweep.server.targets import all_facts

MYSQL, NONE = "mysql", "none"
PROJECT = "PROJECT_ID"
SECRETS = ("PASSWORD", "TOKEN", "TEST_DATA_STORE_PW")
TEXT_MAX = 150  # characters of a text in IoT-benchmark's tables
_OF_STORE = ("IP", "PORT", "DB", "USER", "PW")
_CSV = "csv"
_COUNTS = {"okOperation": "okOperationNum", "okPoint": "okPointNum", "failPoint": "failPointNum"}
_COUNTS |= {"failOperation": "failOperationNum", "throughput": "throughput"}


def read_store(config: ConfigValues, password: str, now: datetime) -> tuple[ResultStore | None, tuple[str, ...]]:
    """And sentences about keys without an effect. password: counts before the file's."""
    kind = config.text("TEST_DATA_PERSISTENCE").lower()
    named = tuple(f"TEST_DATA_STORE_{part}" for part in _OF_STORE if config.says(f"TEST_DATA_STORE_{part}"))
    unused = tuple(f"{key} has no effect: TEST_DATA_PERSISTENCE is not MySQL" for key in named)
    databases = [facts.iot_benchmark_store for facts in all_facts() if facts.iot_benchmark_store]
    if kind in (_CSV, *(name.lower() for name in databases)):
        sentence = "results are printed, and --json prints them as JSON; MySQL stores them in a database"
        return None, (f"TEST_DATA_PERSISTENCE={kind} has no effect: {sentence}", *unused)
    if kind == NONE:
        return None, unused
    if kind != MYSQL:
        kinds = ", ".join(("None", "MySQL", "CSV", *databases))
        config.refuse("TEST_DATA_PERSISTENCE", f"{shown(kind)} is none of {kinds}")
        return None, ()
    host, port = config.text("TEST_DATA_STORE_IP"), config.text("TEST_DATA_STORE_PORT")
    if not re.fullmatch(r"[A-Za-z0-9._:-]{1,253}", host):
        config.refuse("TEST_DATA_STORE_IP", f"{shown(host)} is not an address")
    config.port("TEST_DATA_STORE_PORT", port)
    if not config.says("TEST_DATA_STORE_DB"):
        config.refuse("TEST_DATA_STORE_DB", "is needed: the database that gets the results")
    read = [name for name, key in KEYS.items() if key.how not in ("only", "idle")]
    user, database = (quote(config.text(f"TEST_DATA_STORE_{part}"), safe="") for part in ("USER", "DB"))
    address = f"[{host}]" if ":" in host else host
    name = f"testW_{config.text('DB_SWITCH').partition('-')[0][:5]}_{config.text('REMARK')}"
    store = ResultStore(
        url=f"mysql://{user}@{address}:{port}/{database}",
        password=password or config.text("TEST_DATA_STORE_PW"),
        project=f"{name[: TEXT_MAX - 24]}_{now:%Y_%m_%d_%H_%M_%S}_{now.microsecond // 1000:03d}",
        settings={key: config.text(key)[:TEXT_MAX] for key in read if key not in SECRETS},
    )
    return store, ("TEST_DATA_PERSISTENCE: the configuration and the results are stored, single requests are not",)


def store_config(job: IotJob, client: str) -> None:
    """client: the name of this machine. Raises StoreError."""
    if job.store is not None:
        address = f"{job.host}:{job.port}"
        items = {"MODE": "DEFAULT_TEST_MODE", "ServerIP": address, "CLIENT": client, **job.store.settings}
        _write(job.store, "CONFIG", ("configuration_item",), "configuration_value", items)


def store_results(job: IotJob, done: LoadDone) -> None:
    """Raises StoreError."""
    if job.store is None:
        return
    summary = done.summary
    names = {operation.name for operation in summary.operations}
    results = {
        ("total", "createSchemaTime"): f"{done.schema_s:.6f}",
        ("total", "elapsedTime"): f"{summary.window_s:.6f}",
    }
    for row in rows_of(job, summary):
        if row.operation in names:
            results |= {(row.name, key): f"{row.counts[name]:.15g}" for name, key in _COUNTS.items()}
            results |= {(row.name, name): f"{value:.6f}" for name, value in row.latencies.items()}
    _write(job.store, "FINAL_RESULT", ("operation", "result_key"), "result_value", results)


def _write(
    store: ResultStore,
    name: str,
    keys: tuple[str, ...],
    value: str,
    items: Mapping[str, str] | Mapping[tuple[str, str], str],
) -> None:
    rows = [(store.project, *(key if isinstance(key, tuple) else (key,)), text) for key, text in items.items()]
    table = SqlTable(
        name=name,
        keys=(PROJECT, *keys),
        kinds=dict.fromkeys((PROJECT, *keys, value), "text"),
        rows=rows,
        run_column=PROJECT,
    )
    write(store.project, (table,), store.url, store.password)
