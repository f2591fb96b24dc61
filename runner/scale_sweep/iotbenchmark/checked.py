"""Asks the load generator whether it would refuse the load of a configuration, before anything is connected."""

from __future__ import annotations

from collections.abc import Mapping

from scale_sweep.base.errors import UsageError
from scale_sweep.iotbenchmark.job import IotJob
from scale_sweep.iotbenchmark.spec import load_spec
from scale_sweep.loadgen.checked import mistake_of
from scale_sweep.loadgen.features import kept_by
from scale_sweep.model import Trial
from scale_sweep.server.targets import Address, Target

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
