"""Options, or the file that they name → the job, and the module that does it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import ModuleType

from scale_sweep.base.errors import UsageError
from scale_sweep.base.input_file import read_input
from scale_sweep.taosbenchmark import run_inserts, run_queries, run_subscriptions
from scale_sweep.taosbenchmark.flags import read_flags
from scale_sweep.taosbenchmark.job import Connection, QueryJob, Remarks, ScaleOptions, SubscribeJob
from scale_sweep.taosbenchmark.objects import BYTES_MAX, Invocation, ObjectReader, read_document
from scale_sweep.taosbenchmark.options import name_of, parse
from scale_sweep.taosbenchmark.read_inserts import read_inserts
from scale_sweep.taosbenchmark.read_queries import read_queries
from scale_sweep.taosbenchmark.read_subscriptions import read_subscriptions

CLIENT_FILE = "taos.cfg"
Reader = Callable[[ObjectReader, Invocation], Connection]
BESIDE_FILE = frozenset(
    ("file", "config-dir", "host", "port", "user", "password", "output", "answer-yes", "debug", "performance")
)


def module_of(job: Connection) -> ModuleType:
    """The module with `run`, `document` and `settings_lines` of a job."""
    return {QueryJob: run_queries, SubscribeJob: run_subscriptions}.get(type(job), run_inserts)


def read_given(arguments: Sequence[str]) -> tuple[Mapping[str, str], Remarks]:
    """With the mistakes so far, which `read_job` reports together with its own."""
    remarks = Remarks()
    return parse(arguments, remarks), remarks


def read_job(
    options: Mapping[str, str], remarks: Remarks, own: ScaleOptions, environment: Mapping[str, str], now: datetime
) -> Connection:
    """Raises UsageError with all mistakes."""
    password = options.get("password") or environment.get("SCALE_PASSWORD", "")
    folder = options.get("config-dir", "")
    readers: Mapping[str, Reader] = {"query": read_queries, "subscribe": read_subscriptions}
    if "file" not in options:
        job: Connection = read_flags(options, _client(folder), password or "taosdata", remarks)
    else:
        keys = ObjectReader("", read_document(options["file"]), remarks)
        for long in options:
            if long not in BESIDE_FILE:
                remarks.refuse(name_of(long), "cannot be joined with -f: the file says it")
        from_file = str(keys.value("cfgdir") or "")
        client = {} if keys.has("host") and not folder else _client(folder or from_file)
        folder = folder or from_file
        around = Invocation(options=options, client=client, own=own, now=now, password=password)
        kind = str(keys.value("filetype", "insert")).lower()
        job = readers.get(kind, read_inserts)(keys, around)
    remarks.raise_any()
    return replace(job, client_config=_client_folder(folder))


def _client_folder(folder: str) -> str:
    path = Path(folder).resolve() if folder else None
    if path is None or not os.path.exists(path):
        return ""
    return str(path if path.is_dir() else path.parent)


def _client(folder: str) -> Mapping[str, str]:
    """Reads its taos.cfg; {} without a directory, or without this file: libtaos has defaults."""
    if not folder:
        return {}
    path = Path(folder) / CLIENT_FILE if os.path.isdir(folder) else Path(folder)
    if os.path.isdir(folder) and not os.path.lexists(path):
        return {}
    lines = read_input(path, "-c", BYTES_MAX).decode("utf-8", errors="replace").splitlines()
    items = {w[0].lower(): w[1] for w in (line.split("#")[0].split() for line in lines) if len(w) >= 2}
    host, _, port = items.get("firstep", items.get("fqdn", "")).partition(":")
    port = port or items.get("serverport", "")
    if port and not (port.isdecimal() and 1 <= int(port) <= 65_535):
        raise UsageError(f"-c {folder}: {path}: {port!r} is not a port")
    return {key: value for key, value in {"host": host, "port": port}.items() if value}
