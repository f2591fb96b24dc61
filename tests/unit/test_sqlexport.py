"""SQL export: tables that grow with versions, several runs beside each other, and URLs that are refused."""

import sqlite3
from dataclasses import replace

import pytest

from scale_sweep.base.errors import StoreError, UsageError
from scale_sweep.results.sqlexport import tables_of, write
from tests.unit.synthetic_run import mixed_run

RUN = mixed_run()


def kept(file, statement):
    with sqlite3.connect(file) as connection:
        return connection.execute(statement).fetchall()


def test_a_second_run_stands_beside_the_first(tmp_path):
    for run in (RUN, replace(RUN, path="/elsewhere/another"), RUN):
        tables = tables_of(run)
        write(tables[0].rows[0][0], tables, f"sqlite:///{tmp_path}/r.db")
    found = kept(tmp_path / "r.db", "SELECT run, count(*) FROM scale_trials GROUP BY run")
    assert [count for _, count in found] == [len(RUN.results)] * 2


def test_a_column_that_an_older_version_had_not_is_added(tmp_path):
    def without_rates(table):
        kept = [(at, name) for at, name in enumerate(table.kinds) if name != "rows_per_s"]
        rows = [("old", *(row[at] for at, _ in kept[1:])) for row in table.rows]
        return replace(table, kinds={name: table.kinds[name] for _, name in kept}, rows=rows)

    tables = tables_of(RUN)
    name = tables[0].rows[0][0]
    write("old", list(map(without_rates, tables)), f"sqlite:///{tmp_path}/r.db")
    write(name, tables, f"sqlite:///{tmp_path}/r.db")
    rates = dict(kept(tmp_path / "r.db", "SELECT run, max(rows_per_s) FROM scale_trials GROUP BY run"))
    assert rates["old"] is None
    assert rates[name] > 0


def test_settings_are_a_row_each():
    run = RUN.path.rstrip("/").rpartition("/")[2]
    manifest = {**RUN.manifest, "sweep": {"load": {"rate": 0.0, "arrival": "constant"}, "levels": [1, 2]}}
    settings = tables_of(replace(RUN, manifest=manifest))[1]
    assert set(settings.kinds) == {"run", "setting", "value"}
    assert settings.rows == [(run, "levels", "[1, 2]"), (run, "load.arrival", "constant"), (run, "load.rate", "0.0")]


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgresql://me:secret@host/db", "SCALE_SQL_PASSWORD"),
        ("nonsense", "not the URL of a database"),
        ("nosuch://host/db", "does not support the database 'nosuch'"),
    ],
)
def test_a_url_that_cannot_be_used_is_one_message_without_the_password(url, words, tmp_path):
    with pytest.raises(UsageError) as refused:
        write("run", tables_of(RUN), url)
    said = f"{refused.value.message} {refused.value.remedy}"
    assert words in said
    assert "secret@" not in said
    with pytest.raises(StoreError, match="unable to open database file"):
        write("run", tables_of(RUN), f"sqlite:///{tmp_path}/no/such/folder.db")
