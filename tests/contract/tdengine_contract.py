"""What the TDengine driver's contract tests share: databases with tables, loads, rows made beside rows stored."""

from __future__ import annotations

import contextlib
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "loadgen"), str(ROOT / "bench")]
from loadgen_program import MadeRow, Outcome, float32, parse, spec_text  # noqa: E402
from tdengine_server import HOW_TO_GET, TdengineServer, find_home  # noqa: E402

HOME = find_home()
IMAGE = "tdengine/tdengine:3.3.0.0"
PROGRAM = os.environ.get("SCALE_LOADGEN") or shutil.which("scale-loadgen", path=str(Path(sys.executable).parent))
PROGRAM = PROGRAM or shutil.which("scale-loadgen")
NOT_BUILT = "scale-loadgen is not built: pip install ., or SCALE_LOADGEN"
REASON = HOW_TO_GET if HOME is None else "" if PROGRAM else NOT_BUILT
NEEDS_SERVER = (pytest.mark.tdengine, pytest.mark.skipif(bool(REASON), reason=REASON or "-"))

FIXED = "b:bool,t:tinyint,s:smallint,i:int,l:bigint,ut:utinyint,us:usmallint,ui:uint,ul:ubigint,f:float,d:double,w:timestamp"
COLUMNS = f"{FIXED},x:binary(20),n:nchar(12),v:varbinary(16),g:geometry(40)"
TAGS = (
    "gb:bool,gt:tinyint,gs:smallint,gi:int,gl:bigint,gut:utinyint,gus:usmallint,gui:uint,gul:ubigint,gf:float,"
    "gd:double,gw:timestamp,gx:binary(24),gn:nchar(12),gv:varbinary(16),gg:geometry(40)"
)
UNSIGNED = {"utinyint": "TINYINT UNSIGNED", "usmallint": "SMALLINT UNSIGNED", "uint": "INT UNSIGNED"}
UNSIGNED |= {"ubigint": "BIGINT UNSIGNED"}
NATIVE, ADAPTER = ("stmt", "sql"), ("rest", "ws")


@contextlib.contextmanager
def running(make: Callable[[Path], Any], prefix: str) -> Iterator[Any]:
    """A server made in a directory of its own, started; stopped and removed afterwards, come what may."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir="/var/tmp"))
    one = make(folder)
    try:
        one.start()
        yield one
    finally:
        one.stop()
        shutil.rmtree(folder)


def run(spec: dict[str, Any], verb: str = "load", password: str = "") -> Outcome:
    environment = os.environ | {"SCALE_PASSWORD": password}
    words = [PROGRAM, verb, "-"]
    done = subprocess.run(words, input=spec_text(spec), capture_output=True, text=True, timeout=200, env=environment)
    return parse(done.returncode, done.stdout, done.stderr)


def ask(server: TdengineServer, *statements: str, method: str = "stmt") -> list[list[list[Any]]]:
    """The rows of each statement, by the driver itself."""
    with tempfile.NamedTemporaryFile("w", suffix=".sql", encoding="utf-8") as file:
        file.write("".join(f"{statement}\n" for statement in statements))
        file.flush()
        outcome = run(server.spec() | {"method": method, "statements": file.name}, "sql")
    assert outcome.code == 0, outcome.stderr + str(outcome.events)
    return [event["rows"] for event in outcome.of("result")]


def declared(columns: str) -> str:
    parts = [column.partition(":") for column in columns.split(",")]
    return ", ".join(f"`{name}` {UNSIGNED.get(kind, kind)}" for name, _, kind in parts)


def spec_of(server: TdengineServer, database: str, **more: object) -> dict[str, Any]:
    base = {"database": database, "tables": 6, "partitions": 4, "threads": 2, "rows": 1200, "rows_per_request": 50}
    return server.spec() | base | {"columns": COLUMNS, "tags": "gid:int", "seed": 5} | more


def prepared(server: TdengineServer, database: str, options: str = "", **more: object) -> dict[str, Any]:
    """A database with its supertable and tables; the spec to load them."""
    spec = spec_of(server, database, **more)
    options = f"VGROUPS {spec['partitions']} PRECISION '{spec.get('precision', 'ms')}' {options}"
    ask(server, f"DROP DATABASE IF EXISTS {database}", f"CREATE DATABASE {database} {options}")
    if not str(spec.get("method", "")).startswith("sml"):
        tags = declared(spec["tags"])
        ask(server, f"CREATE STABLE {database}.meters (ts TIMESTAMP, {declared(spec['columns'])}) TAGS ({tags})")
        made = run(spec, "tables")
        assert made.code == 0, made.stderr
    return spec


def loaded(spec: dict[str, Any]) -> Outcome:
    outcome = run(spec)
    assert outcome.code == 0, outcome.stderr + str(outcome.summary["error_kinds"])
    assert outcome.summary["rows_acked"] == spec["rows"]
    return outcome


def expected(spec: dict[str, Any], tmp_path: Path) -> list[list[Any]]:
    """The rows as the null driver has them: time and values, sorted."""
    own = ("driver", "host", "port", "adapter_port", "library", "client_config", "table_prefix", "method", "database")
    kept = {k: v for k, v in spec.items() if k not in own}
    outcome = run(kept | {"driver": "null", "dump": tmp_path / "rows"})
    assert outcome.code == 0, outcome.stderr
    lines = [line for path in tmp_path.glob("rows.*") for line in path.read_text().splitlines()]
    rows = (MadeRow.read(line, spec["columns"]) for line in lines)
    is_bool = [column.endswith(":bool") for column in spec["columns"].split(",")]
    return sorted(([row.at, *map(as_stored, is_bool, row.values)] for row in rows), key=str)


def as_stored(is_bool: bool, value: Any) -> Any:
    return bool(value) if is_bool and value is not None else value


def stored(server: TdengineServer, spec: dict[str, Any]) -> list[list[Any]]:
    """As `expected`."""
    is_line = str(spec.get("method", "")).startswith("sml")
    names, kinds = zip(*(column.split(":") for column in spec["columns"].split(",")), strict=True)
    selected = ", ".join(f"`{name}`" for name in names) if names != ("v",) or not is_line else "_value"
    rows = ask(server, f"SELECT {'_ts' if is_line else 'ts'}, {selected} FROM {spec['database']}.meters")[0]
    for row in rows:
        row[1:] = [float32(value) if kind == "float" else value for kind, value in zip(kinds, row[1:], strict=True)]
    return sorted(rows, key=str)


def tables_of_vgroups(server: TdengineServer, database: str) -> list[int]:
    """In the order of their ids. ins_vgroups has these numbers too, but some seconds late."""
    tables = f"information_schema.ins_tables WHERE db_name = '{database}'"
    (rows,) = ask(server, f"SELECT vgroup_id, COUNT(*) FROM {tables} GROUP BY vgroup_id")
    return [tables for _, tables in sorted(rows)]


def count(server: TdengineServer, database: str) -> int:
    return ask(server, f"SELECT COUNT(*) FROM {database}.meters")[0][0][0]


def tag_of(literal: str, kind: str) -> Any:
    """What a tag's SQL literal means."""
    if kind == "bool":
        return literal == "true"
    if kind.startswith("varbinary"):
        return literal.strip("'").encode().hex()
    if kind.startswith("geometry"):
        x, y = literal.removeprefix("'POINT(").removesuffix(")'").split()
        return (b"\1\1\0\0\0" + struct.pack("<dd", float(x), float(y))).hex()
    return literal.strip("'") if "(" in kind else round(float(literal), 3)


def tag_value(value: Any, kind: str) -> Any:
    return round(float(value), 3) if "(" not in kind and kind != "bool" else value
