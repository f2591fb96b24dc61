"""`scale load --iot` with TEST_DATA_PERSISTENCE=MySQL: a real MariaDB has the configuration and the figures printed."""

from __future__ import annotations

import json
from pathlib import Path

import sqlalchemy

from tests.integration import cli
from tests.integration.test_sql_databases import mariadb, rows

__all__ = ["mariadb"]
FILE = """
DB_SWITCH=FakeDB
LOOP=20
DEVICE_NUMBER=10
SENSOR_NUMBER=5
CLIENT_NUMBER=2
TEST_DATA_PERSISTENCE=MySQL
TEST_DATA_STORE_IP=127.0.0.1
TEST_DATA_STORE_DB=runs
TEST_DATA_STORE_PW=not-used
REMARK=demo
"""


def load(folder: Path, port: int, *overrides: str):
    (folder / "config.properties").write_text(f"{FILE}TEST_DATA_STORE_PORT={port}\n")
    return cli.run(
        "load", "--iot", "config.properties", *overrides, "--json", cwd=folder, SCALE_SQL_PASSWORD="also-not"
    )


def test_configuration_and_results_are_in_the_tables(mariadb, tmp_path):
    port = sqlalchemy.make_url(mariadb).port
    rows_made = "CREATE TABLE CONFIG (id INT UNSIGNED NOT NULL PRIMARY KEY AUTO_INCREMENT, PROJECT_ID VARCHAR(150),"
    rows_made += " configuration_item VARCHAR(150), configuration_value VARCHAR(150))"  # as IoT-benchmark makes it
    engine = sqlalchemy.create_engine(f"mariadb+pymysql://root@127.0.0.1:{port}/runs")
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text(rows_made))
    engine.dispose()
    found = []
    for loop in ("20", "30"):
        done = load(tmp_path, port, f"LOOP={loop}")
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout)["operations"][0])
    projects = [project for (project,) in rows(mariadb, "SELECT DISTINCT PROJECT_ID FROM FINAL_RESULT ORDER BY 1")]
    assert len(projects) == 2 and all(project.startswith("testW_FakeD_demo_2") for project in projects)
    for project, loop, told in zip(projects, ("20", "30"), found, strict=True):
        where = f"WHERE PROJECT_ID = '{project}'"
        items = dict(rows(mariadb, f"SELECT configuration_item, configuration_value FROM CONFIG {where}"))
        assert (items["LOOP"], items["SENSOR_NUMBER"], items["REMARK"]) == (loop, "5", "demo")
        assert "not-used" not in items.values() and "also-not" not in items.values()
        results = rows(mariadb, f"SELECT operation, result_key, result_value FROM FINAL_RESULT {where}")
        figures = {(operation, key): float(value) for operation, key, value in results}
        assert figures["INGESTION", "okPointNum"] == told["okPoint"] == int(loop) * 100 * 10 * 5
        assert figures["INGESTION", "P99"] == round(told["latency_ms"]["P99"], 6)
        assert {operation for operation, _ in figures} == {"INGESTION", "total"}


def test_a_database_that_does_not_answer_ends_it_before_the_load(tmp_path):
    done = load(tmp_path, 1)
    assert done.returncode == 6
    assert "127.0.0.1:1" in done.stderr and "SCALE_SQL_PASSWORD" in done.stderr
    assert done.stdout == ""
