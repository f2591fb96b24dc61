"""`scale load` with options and files of taosBenchmark, in a forked process, and patches that need no server for it."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from scale_sweep.base.errors import PreflightError, UsageError
from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.taosbenchmark import server, spec
from tests.unit.whole_commands import run

for _part in ("run_inserts", "run_queries", "run_subscriptions"):
    importlib.import_module(f"scale_sweep.taosbenchmark.{_part}")  # once, and not in each process


def skip_without_loadgen() -> None:
    try:
        loadgen_path()
    except PreflightError as error:
        pytest.skip(error.message)


def load(folder: Path, *words: str, code: int = 0, **environment: str) -> tuple[str, str]:
    """Standard output and standard error of `scale load` in this folder, which ends with this code within 20 s."""
    ended = run("load", *words, cwd=folder, **environment)
    assert ended.code == code, ended.stderr
    return ended.stdout, ended.stderr


def load_file(folder: Path, content: Mapping[str, Any], *words: str, **given: Any) -> tuple[str, str]:
    """The same with a file of taosBenchmark."""
    (folder / "load.json").write_text(json.dumps(content))
    return load(folder, "-f", "load.json", *words, **given)


def refused_line(read: Callable[..., Any], *given: Any, **named: Any) -> str:
    """The one line that a refused file has, without its indent."""
    with pytest.raises(UsageError) as refused:
        read(*given, **named)
    assert refused.value.exit_code == 2
    (line,) = refused.value.message.splitlines()[1:]
    return line.strip()


def null_key(name: str, variable: str) -> dict[str, str]:
    """A key of the null driver, if the environment has the variable."""
    return {name: os.environ[variable]} if variable in os.environ else {}


def insert_without_server(replace: Callable[[Any, str, Any], None] = setattr) -> None:
    """Rows go to the null driver; SQL is answered here and added to the file ASKED. LATENCY_US, FAIL_EVERY: of a
    request."""

    def ask(self: object, method: str, statements: list[str]) -> list[Any]:
        with open(os.environ["ASKED"], "a", encoding="utf-8") as asked:
            asked.writelines(f"{statement}\n" for statement in statements)
        shown = {"ins_databases": (("ready", "ms"),), "v1_status": (("leader",),) * 2, "SUM(": ((16, 9),)}
        return [next((rows for word, rows in shown.items() if word in s), ()) for s in statements]

    spec_of = spec.load_spec

    def load_spec(*given: Any) -> dict[str, str]:
        lines = dict(spec_of(*given))
        for key in ("host", "port", "user", "library", "database", "table", "table_prefix"):
            lines.pop(key, None)
        more = null_key("null_latency_us", "LATENCY_US") | null_key("null_fail_every", "FAIL_EVERY")
        return lines | {"driver": "null", "method": "discard"} | more

    replace(server.TdengineServer, "_ask", ask)
    replace(server, "create_tables", lambda program, lines, secret: None)
    replace(spec, "load_spec", load_spec)
