"""A row that is lost in one table and made up for in another: the total agrees, the count table by table does not."""

import pytest

from scale_sweep.server.targets import Address
from scale_sweep.server.targets.postgres.postgres_session import TABLE, PostgresSession
from tests.loadgen.postgres_server import running_postgres
from tests.unit.factories import make_sweep, make_trial


@pytest.fixture
def session():
    with running_postgres(listen="127.0.0.1") as server:
        server.query("CREATE ROLE scale SUPERUSER LOGIN")
        session = PostgresSession(
            make_trial(make_sweep(workload__columns="v:int", workload__start_ms="60000")),
            Address(host="127.0.0.1", port=server.port, secret=""),
            "",
        )
        assert session.not_ready() == ""
        session.create_schema()
        server.query(
            f"INSERT INTO {TABLE} SELECT to_timestamp(60 + n / 1000.0), d, n FROM generate_series(0, 999) n,"
            " generate_series(1, 3) d"
        )
        yield session, server
        session.close()


def test_lost_rows_show_although_the_total_agrees(session):
    asked, server = session
    assert asked.count().rows == 3000
    assert asked.count().gaps == ()
    server.query(f"DELETE FROM {TABLE} WHERE device_id = 2 AND v = 500")
    server.query(f"INSERT INTO {TABLE} VALUES (to_timestamp(61), 3, 1000)")
    counted = asked.count()
    assert counted.rows == 3000
    assert counted.gaps and "are missing in 1 device;" in counted.gaps[0] and "device 2" in counted.gaps[0]


def test_a_table_that_lacks_its_first_row_is_found(session):
    asked, server = session
    server.query(f"DELETE FROM {TABLE} WHERE device_id = 1 AND v = 0")
    assert "device 1" in asked.count().gaps[0]
