"""taosBenchmark itself as the load generator of a trial."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

from scale_sweep.base.errors import TargetError
from scale_sweep.base.units import counted
from scale_sweep.loadgen.command_load import ToolCommand
from scale_sweep.loadgen.readers import reader_of
from scale_sweep.model.loads import LoadProgram
from scale_sweep.model.planned import Trial
from scale_sweep.server.targets import Address
from scale_sweep.server.targets.installations import version_of
from scale_sweep.server.targets.tdengine.config import client_folder, precision
from scale_sweep.server.targets.tdengine.dialect import UNITS_PER_MS

METHODS = {"stmt": "stmt", "sql": "taosc", "rest": "rest", "sml-line": "sml"}


def command(trial: Trial, address: Address, database: str, table: str) -> ToolCommand:
    """Raises TargetError for what it cannot do."""
    if trial.load.rows is None:
        raise TargetError("taosBenchmark supports fixed work only", remedy="give --rows instead of --duration")
    if trial.subject.method not in METHODS:
        raise TargetError(f"taosBenchmark has no method {trial.subject.method}", remedy=", ".join(METHODS))
    program = Path(address.home) / "bin" / "taosBenchmark"
    if not program.exists():
        remedy = "--load-generator scale, or --home DIR that has it"
        raise TargetError(f"no taosBenchmark in {program.parent}", remedy=remedy)
    folder = client_folder(address.data_dir)
    job, data = _job(trial, address, database, table), trial.work.data
    libraries = {"LD_LIBRARY_PATH": f"{address.home}/lib"}
    return ToolCommand(
        program=LoadProgram(
            name=program.name,
            version=version_of((str(program), "-V"), r"(\d+\.\d+\.\d+[.\d]*)", environment=libraries),
            command=f"{program.name} -f taosBenchmark.json",
            rows=f"{', '.join(data.columns)}; {counted(data.tables, 'table')}, "
            f"{counted(data.rows_per_request, 'row')} per request, insert mode {METHODS[trial.subject.method]}",
        ),
        argv=(str(program), "-f", f"{folder}/taosBenchmark.json"),
        env={**os.environ, **libraries},
        files={f"{folder}/taosBenchmark.json": json.dumps(job, indent=1)},
        reader=reader_of((program.name,)),
        clients=trial.load.connections,
        writes_rows=True,
    )


def _job(trial: Trial, address: Address, database: str, table: str) -> Mapping[str, object]:
    w = trial.work.data
    super_table = {
        "name": table,
        "child_table_exists": "no",
        "childtable_count": w.tables,
        "childtable_prefix": "d",
        "insert_mode": METHODS[trial.subject.method],
        "insert_rows": (trial.load.rows or 0) // w.tables,
        "interlace_rows": w.interlace_rows,
        "timestamp_step": w.step_ms * UNITS_PER_MS[precision(trial)],
        "start_timestamp": w.start_ms * UNITS_PER_MS[precision(trial)],
        "columns": [_column(c) for c in w.columns],
        "tags": [_column(c) for c in w.tags],
    }
    return {
        "filetype": "insert",
        "cfgdir": client_folder(address.data_dir),
        "host": "localhost",
        "port": address.port,
        "user": "root",
        "password": address.secret,
        "thread_count": trial.load.connections,
        "create_table_thread_count": 4,
        "num_of_records_per_req": w.rows_per_request,
        "prepared_rand": max(10_000, w.rows_per_request),
        "confirm_parameter_prompt": "no",
        "result_file": f"{client_folder(address.data_dir)}/taosBenchmark.txt",
        "databases": [
            {"dbinfo": {"name": database, "drop": "no", "precision": precision(trial)}, "super_tables": [super_table]}
        ],
    }


def _column(column: str) -> Mapping[str, object]:
    name, _, kind = column.partition(":")
    match = re.fullmatch(r"(\w+)\((\d+)\)", kind)
    return {"type": match.group(1), "len": int(match.group(2)), "name": name} if match else {"type": kind, "name": name}
