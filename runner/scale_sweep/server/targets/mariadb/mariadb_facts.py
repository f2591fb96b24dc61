"""MariaDB's facts."""

from __future__ import annotations

from scale_sweep.experiment.work.sums import ALL
from scale_sweep.model.questions import FILLS, NEEDS
from scale_sweep.model.resources import ServerSource
from scale_sweep.server.targets import Facts, Knob
from scale_sweep.server.targets.common_facts import connections_knob, partitions_knob, twice_the_cores

PROGRAMS = ("sbin/mariadbd", "bin/mariadbd")  # of a package, of an archive
SHARES = ("share/mysql", "share/mariadb", "share")  # Debian has the second one since MariaDB 11
NAMES = ("mariadb", "mysql")  # of the system tables: the second one until MariaDB 10
IN_IMAGE = "/usr"
SHARES_IN_IMAGE = SHARES[:2]

AT_COMMIT = "innodb_flush_log_at_trx_commit"


def image_files() -> dict[str, tuple[str, ...]]:
    """Where MariaDB's own image has them."""
    share = f"{IN_IMAGE}/{SHARES_IN_IMAGE[0]}"
    tables = {
        f"{share}/{NAMES[0]}_{kind}.sql": tuple(f"{one}/{name}_{kind}.sql" for one in SHARES for name in NAMES)
        for kind in ("system_tables", "system_tables_data")
    }
    folders = {f"{share}/{name}/": tuple(f"{one}/{name}" for one in SHARES) for name in ("charsets", "english")}
    return {f"{IN_IMAGE}/{PROGRAMS[0]}": PROGRAMS, **tables, **folders}


FACTS = Facts(
    name="mariadb",
    title="MariaDB",
    implementation="scale_sweep.server.targets.mariadb.mariadb_target:MariadbTarget",
    methods=("load-data", "insert"),
    runs_from=(ServerSource.INSTALLATION, ServerSource.IMAGE),
    own_columns=("time", "device_id"),
    knobs=(
        partitions_knob(twice_the_cores, "partitions by device"),
        connections_knob(),
        Knob(name="innodb_buffer_pool_size", default="1073741824"),
        Knob(name=AT_COMMIT, default="1"),
    ),
    fixed=r"port|bind_address|socket|datadir|init_file|skip_networking|local_infile",
    any_knob=True,
    loading={AT_COMMIT: "2"},
    vendor_defaults={"innodb_buffer_pool_size": "134217728", AT_COMMIT: "1", "max_connections": "151"},
    fsynced={AT_COMMIT: "1"},
    rows_per_request=2000,
    rows_per_core_s=1e5,
    overhead_s=6.0,
    queries="scale_sweep.server.targets.mariadb.mariadb_session:rendered",
    can_query=NEEDS,
    functions=("stddev", "stddev_samp", "count_distinct"),
    cannot={
        "percentile": "MariaDB's PERCENTILE_CONT is a window function, and no aggregate",
        "median": "MariaDB's MEDIAN is a window function, and no aggregate",
        "rate": "MariaDB has no aggregate for the first and the last value",
        **{f"fill = {name}": "MariaDB is not asked to fill stretches of time" for name in FILLS},
    },
    has_device_table=True,
    sums=ALL,
    keeps_data=True,
    at_rest="`FLUSH TABLES FOR EXPORT` has written every changed page",
    row_overhead_bytes=60,
    beyond_loopback="password",
    image="mariadb",
    image_version="11.4.5",
    image_home="/usr",
    image_files=image_files(),
    image_tools=("cat",),
    released={"10.11.19": "2026-09", "11.4.5": "2025-02"},
    to_install="scale servers install mariadb and apt-get install libmariadb3, or apt-get install mariadb-server-core "
    "libmariadb3 (10.11), or give --home DIR",
)
