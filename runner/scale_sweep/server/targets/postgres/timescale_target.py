"""TimescaleDB: tsdbperf's measurement table as a hypertable in chunks of time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from scale_sweep.model.planned import Finding, Trial
from scale_sweep.server.targets import Installation, Surroundings
from scale_sweep.server.targets.device_table import TABLE
from scale_sweep.server.targets.postgres.postgres_session import PostgresSession
from scale_sweep.server.targets.postgres.postgres_target import PostgresTarget
from scale_sweep.server.targets.records import COMPRESSION, seconds_of, wrong_input

_OWN_KNOBS = ("connections", "chunk_interval", "space_partitions", "compress")
_CONTROL = ("share/postgresql/extension", "share/extension", "share/postgresql/*/extension")


class TimescaleSession(PostgresSession):
    """With a hypertable instead of hash partitions."""

    def create_schema(self) -> None:
        knobs = self._trial.knobs
        self._rows("CREATE EXTENSION IF NOT EXISTS timescaledb")
        self._create_table("")
        by_time = f"by_range('time', INTERVAL '{seconds_of(knobs['chunk_interval'])} seconds')"
        self._rows(f"SELECT create_hypertable('{TABLE}', {by_time}, create_default_indexes => true)")
        if "space_partitions" in knobs:
            by_device = f"by_hash('device_id', {int(knobs['space_partitions'])})"
            self._rows(f"SELECT add_dimension('{TABLE}', {by_device})")
        self._rows(self._device_index(TABLE))
        if knobs["compress"] == "on":
            self._rows(
                f"ALTER TABLE {TABLE} SET (timescaledb.compress, timescaledb.compress_segmentby = 'device_id',"
                " timescaledb.compress_orderby = 'time')"
            )

    def version(self) -> str:
        rows = self._rows("SELECT extversion FROM pg_extension WHERE extname = 'timescaledb'")
        return f"{rows[0][0]} on PostgreSQL {super().version()}" if rows else super().version()

    def effective(self) -> Mapping[str, str]:
        reported = dict(super().effective())
        del reported["partitions"]
        rows = self._rows(
            "SELECT dimension_number, extract(epoch FROM time_interval)::bigint, num_partitions"
            f" FROM timescaledb_information.dimensions WHERE hypertable_name = '{TABLE}' ORDER BY 1"
        )
        packed = self._rows(
            f"SELECT compression_enabled FROM timescaledb_information.hypertables WHERE hypertable_name = '{TABLE}'"
        )[0][0]
        reported["chunk_interval"] = f"{rows[0][1]}s"
        reported |= {"space_partitions": str(rows[1][2])} if len(rows) > 1 else {}
        reported["compress"] = "on" if packed else "off"
        how = "rows, compressed by device after the load" if packed else "rows, not compressed"
        return {**reported, COMPRESSION: how}

    def expected(self) -> Mapping[str, str]:
        """The interval in seconds, as the catalogue has it."""
        settings = dict(super().expected())
        return {**settings, "chunk_interval": f"{seconds_of(settings['chunk_interval'])}s"}

    def flush(self) -> None:
        """Compresses every chunk if that is asked for."""
        if self._trial.knobs["compress"] == "on":
            self._rows(f"SELECT compress_chunk(c, if_not_compressed => true) FROM show_chunks('{TABLE}') c")
        super().flush()


class TimescaleTarget(PostgresTarget):
    session_type = TimescaleSession
    own_knobs = _OWN_KNOBS
    always: Mapping[str, str] = {
        **PostgresTarget.always,
        "shared_preload_libraries": "timescaledb",
        "timescaledb.telemetry_level": "off",
    }

    def find(self, home: str) -> Installation | None:
        for installation in self.servers(home):
            if has_extension(installation.home):
                return installation
        return None

    def check(self, trial: Trial, around: Surroundings) -> tuple[Finding, ...]:
        interval, switch = trial.knobs["chunk_interval"], trial.knobs["compress"]
        mistakes = []
        try:
            seconds_of(interval)
        except ValueError as error:
            mistakes.append((f"chunk_interval: {error}", "--knob chunk_interval=7d"))
        if switch not in ("on", "off"):
            mistakes.append((f"compress={switch} is neither on nor off", "--knob compress=on"))
        return (*(wrong_input("--knob", *one) for one in mistakes), *super().check(trial, around))


def has_extension(home: str) -> bool:
    """By TimescaleDB's control file."""
    return any(next(Path(home).glob(f"{folder}/timescaledb.control"), None) for folder in _CONTROL)
