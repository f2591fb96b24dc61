"""Loads rows with the client library that a database's users have, and prints its CPU seconds as JSON.

Runs in an environment that has these libraries; bench/client_cost.py starts it there. The values of all requests are
the same and are made before the clock starts, so the CPU seconds are those of handing rows to the library, encoding
and sending them. The table exists. Each request has rows of one device, devices in turn.

    python bench/reference_clients.py CLIENT 'host=127.0.0.1,port=9000,...'
"""

from __future__ import annotations

import datetime
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

NAMES = ["current", "voltage", "phase"]


@dataclass(frozen=True, kw_only=True)
class Work:
    """What is loaded. rows: a multiple of per_request. parts: tables over which QuestDB's devices are distributed."""

    host: str
    port: int
    rows: int
    devices: int
    per_request: int
    start_ms: int
    parts: int

    def requests(self) -> Iterator[tuple[int, int]]:
        """Of each request its device, and the time of its first row."""
        for n in range(self.rows // self.per_request):
            yield n % self.devices, self.start_ms + n // self.devices * self.per_request

    def columns(self) -> tuple[Any, Any, Any]:
        """As numpy arrays: float, int, float."""
        import numpy as np

        chance = np.random.default_rng(1)
        current, phase = (np.round(chance.uniform(*ends, self.per_request), 3) for ends in ((8, 12), (0, 1)))
        return current.astype("f4"), chance.integers(110, 240, self.per_request, "i4"), phase.astype("f4")

    def values(self) -> list[tuple[float, int, float]]:
        """As Python's numbers."""
        current, voltage, phase = self.columns()
        places = [[round(float(v), 3) for v in column] for column in (current, phase)]
        return list(zip(places[0], map(int, voltage), places[1], strict=True))


def questdb_rows(work: Work) -> Callable[[], None]:
    from questdb.ingress import Sender, TimestampNanos

    values = work.values()
    sender = Sender.from_conf(f"http::addr={work.host}:{work.port};auto_flush=off;")

    def load() -> None:
        with sender:
            for device, first in work.requests():
                table, symbols = f"measurement_p{device % work.parts}", {"device": f"d{device}"}
                for at, (current, voltage, phase) in enumerate(values, first):
                    columns = {"current": current, "voltage": voltage, "phase": phase}
                    sender.row(table, symbols=symbols, columns=columns, at=TimestampNanos(at * 1_000_000))
                sender.flush()

    return load


def questdb_frames(work: Work) -> Callable[[], None]:
    import numpy as np
    import pandas as pd
    from questdb.ingress import Sender

    sender = Sender.from_conf(f"http::addr={work.host}:{work.port};auto_flush=off;")
    columns = dict(zip(NAMES, work.columns(), strict=True))
    steps = np.arange(work.per_request)
    devices = [pd.Categorical([f"d{d}"] * work.per_request) for d in range(work.devices)]

    def load() -> None:
        with sender:
            for device, first in work.requests():
                times = pd.to_datetime(steps + first, unit="ms")
                frame = pd.DataFrame({"device": devices[device], **columns, "timestamp": times})
                table = f"measurement_p{device % work.parts}"
                sender.dataframe(frame, table_name=table, symbols=["device"], at="timestamp")
                sender.flush()

    return load


def psycopg_rows(work: Work) -> Callable[[], None]:
    """executemany, which sends the rows of a request without waiting between them, and a commit."""
    import psycopg

    values = work.values()
    user = {"user": "admin", "password": os.environ["SCALE_PASSWORD"], "dbname": "qdb"}
    connection = psycopg.connect(host=work.host, port=work.port + 1, **user)
    since, step = datetime.datetime(1970, 1, 1), datetime.timedelta(milliseconds=1)

    def load() -> None:
        with connection, connection.cursor() as cursor:
            for device, first in work.requests():
                table, name = f"measurement_p{device % work.parts}", f"d{device}"
                insert = f"INSERT INTO {table} (device, {', '.join(NAMES)}, timestamp) VALUES (%b, %b, %b, %b, %b)"
                cursor.executemany(insert, [(name, *row, since + at * step) for at, row in enumerate(values, first)])
                connection.commit()

    return load


def influxdb_points(work: Work) -> Callable[[], None]:
    from influxdb import InfluxDBClient

    values = work.values()
    client = InfluxDBClient(work.host, work.port, database="scale")

    def load() -> None:
        for device, first in work.requests():
            tags = {"device": f"d{device}"}
            points = [
                {
                    "measurement": "measurement",
                    "tags": tags,
                    "time": at,
                    "fields": {"current": current, "voltage": voltage, "phase": phase},
                }
                for at, (current, voltage, phase) in enumerate(values, first)
            ]
            assert client.write_points(points, time_precision="ms")

    return load


def cassandra_batches(work: Work) -> Callable[[], None]:
    from cassandra import ConsistencyLevel
    from cassandra.cluster import Cluster
    from cassandra.query import BatchStatement, BatchType

    values = work.values()
    session = Cluster([work.host], port=work.port, protocol_version=4).connect()
    insert = session.prepare(
        "INSERT INTO scale.measurement (device, ts, current, voltage, phase) VALUES (?, ?, ?, ?, ?)"
    )
    in_batch = 100

    def load() -> None:
        for device, first in work.requests():
            answers = []
            for begin in range(0, work.per_request, in_batch):
                batch = BatchStatement(BatchType.UNLOGGED, consistency_level=ConsistencyLevel.ONE)
                for i in range(begin, begin + in_batch):
                    batch.add(insert, (f"d{device}", first + i, *values[i]))
                answers.append(session.execute_async(batch))
            for answer in answers:
                answer.result()

    return load


def _iotdb(work: Work) -> tuple[Any, list[Any]]:
    from iotdb.Session import Session
    from iotdb.utils.IoTDBConstants import TSDataType

    session = Session(work.host, work.port, "root", "root", enable_redirection=False)
    session.open(False)
    return session, [TSDataType.FLOAT, TSDataType.INT32, TSDataType.FLOAT]


def iotdb_tablets(work: Work) -> Callable[[], None]:
    from iotdb.utils.Tablet import Tablet

    session, types = _iotdb(work)
    values = [list(row) for row in work.values()]

    def load() -> None:
        for device, first in work.requests():
            times = list(range(first, first + work.per_request))
            session.insert_aligned_tablet(Tablet(f"root.scale.d{device}", NAMES, types, values, times))
        session.close()

    return load


def iotdb_arrays(work: Work) -> Callable[[], None]:
    import numpy as np
    from iotdb.utils.NumpyTablet import NumpyTablet

    session, types = _iotdb(work)
    values = [column.astype(f">{kind}") for column, kind in zip(work.columns(), ("f4", "i4", "f4"), strict=True)]
    steps = np.arange(work.per_request, dtype=">i8")

    def load() -> None:
        for device, first in work.requests():
            times = (steps + first).astype(">i8")
            session.insert_aligned_tablet(NumpyTablet(f"root.scale.d{device}", NAMES, types, values, times))
        session.close()

    return load


CLIENTS = {
    "questdb, Sender.row": questdb_rows,
    "questdb, Sender.dataframe": questdb_frames,
    "psycopg, executemany": psycopg_rows,
    "influxdb, write_points": influxdb_points,
    "cassandra-driver, batches of 100": cassandra_batches,
    "apache-iotdb, Tablet": iotdb_tablets,
    "apache-iotdb, NumpyTablet": iotdb_arrays,
}


def main() -> None:
    given = dict(word.split("=") for word in sys.argv[2].split(","))
    host = given.pop("host")
    load = CLIENTS[sys.argv[1]](Work(host=host, **{key: int(value) for key, value in given.items()}))
    before, begun = time.process_time(), time.monotonic()
    load()
    seen = {"cpu_s": time.process_time() - before, "elapsed_s": time.monotonic() - begun}
    sys.stdout.write(json.dumps(seen) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
