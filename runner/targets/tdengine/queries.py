"""Renders queries in TDengine's SQL, with placeholders for values that each request draws. Pure.

A query of one device names its table, one of more devices names the super table. A bound is quoted: the server
converts it to a number, and one build took every unquoted fraction as 0. Refuses methods whose rows create their
tables: the server then chooses the names of tables.
"""

from __future__ import annotations

from runner.errors import CannotAsk
from runner.model import Query, Workload
from runner.targets.tdengine.dialect import SCHEMALESS

DATABASE, TABLE = "scale", "meters"
_AGGREGATES = {
    "count": "COUNT",
    "avg": "AVG",
    "sum": "SUM",
    "max": "MAX",
    "min": "MIN",
    "spread": "SPREAD",
    "first": "FIRST",
    "last": "LAST",
}


def rendered(query: Query, data: Workload, method: str) -> str:
    """One statement. Raises CannotAsk."""
    if method in SCHEMALESS:
        raise CannotAsk(f"the server names the tables that --method {method} writes", remedy="--method stmt")
    if query.text:
        return query.text
    if query.sets:
        return _set(query)
    source, order = _source(query), " DESC" if query.newest_first else ""
    if query.function:
        value = ", ".join(f"{_AGGREGATES[query.function]}({_quoted(column)})" for column in query.columns)
        if query.by_tag:
            tag = _quoted(query.tag)
            return f"SELECT {tag}, {value} FROM {source} GROUP BY {tag} ORDER BY {tag}"
        if not query.bucket_ms:
            return f"SELECT {value} FROM {source}"
        device, groups = (", TBNAME", " PARTITION BY TBNAME") if query.by_device else ("", "")
        limit = f" LIMIT {query.limit}" if query.limit else ""
        stretches = f"{groups} INTERVAL({query.bucket_ms}a) ORDER BY _wstart{order}{limit}"
        return f"SELECT _wstart{device}, {value} FROM {source}{stretches}"
    many = query.tells_device
    if query.latest:
        columns = ", ".join(f"LAST_ROW({_quoted(column)})" for column in query.columns)
        device, groups = (", TBNAME", " PARTITION BY TBNAME") if many else ("", "")
        return f"SELECT LAST_ROW(ts){device}, {columns} FROM {source}{groups}"
    cells = ", ".join(("ts", *(("TBNAME",) if many else ()), *map(_quoted, query.columns)))
    return f"SELECT {cells} FROM {source}" + ("" if query.is_unordered else f" ORDER BY ts{order}")


def timed(text: str) -> bool:
    """Whether the rows of the answer begin with a time."""
    return text.startswith(("SELECT _wstart", "SELECT ts", "SELECT LAST_ROW(ts)"))


def _set(query: Query) -> str:
    """Two thirds of the range, and two thirds of it, of the same device. Raises CannotAsk."""
    if query.sets != "union":
        raise CannotAsk(f"TDengine has no {query.sets.upper()}", remedy="of = union")
    cells, third = ", ".join(("ts", *map(_quoted, query.columns))), query.third_ms
    one = f"{DATABASE}.{{device}} WHERE ts >= {{from}} AND ts < {{to}} - {third}a"
    other = f"{DATABASE}.{{again}} WHERE ts >= {{from}} + {third}a AND ts < {{to}}"
    return f"SELECT {cells} FROM {one} UNION SELECT {cells} FROM {other} ORDER BY ts"


def _groups(query: Query) -> list[str]:
    if not query.groups:
        return []
    tag = _quoted(query.tag)
    if query.groups == 1:
        return [f"{tag} = {{value}}"]
    # The sum of two whole numbers is one with a fraction here, which a build took for 0: see the first lines.
    return [f"{tag} >= {{value}} AND {tag} < CAST({{value}} + {query.groups} AS INT)"]


def _source(query: Query) -> str:
    """The table and the conditions of the query."""
    if query.tag:
        return f"{DATABASE}.{TABLE}" + "".join(f" WHERE {chosen}" for chosen in _groups(query))
    marks = ", ".join(["'{device}'"] * query.devices)
    found = [f"TBNAME IN ({marks})"] if query.devices > 1 else []
    if query.when == "at":
        found.append("ts = {at}")
    elif query.when == "range":
        found.append("ts >= {from} AND ts < {to}")
    elif query.when == "before":
        found.append("ts < {to}")
    found += [f"{_quoted(column)} > '{{value}}'" for column in query.bounds]  # see the module's docstring
    table = "{device}" if query.devices == 1 else TABLE
    return f"{DATABASE}.{table}" + (f" WHERE {' AND '.join(found)}" if found else "")


def _quoted(column: str) -> str:
    return f"`{column}`"
