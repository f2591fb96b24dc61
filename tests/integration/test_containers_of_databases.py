"""Each database in a container: an image of the server that is installed here, made by `scale images build`, and a sweep."""

import csv
import json
import os
import subprocess
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from scale_sweep.server.runtimes.docker_engine import copy_out
from tests.integration.cli import run, start, waited_for
from tests.integration.made_images import require_docker
from tests.integration.real_server import required

pytestmark = pytest.mark.docker
TARGETS = (
    *("prometheus", "victoriametrics", "influxdb", "questdb", "postgres", "iotdb", "clickhouse", "mariadb"),
    *("kairosdb", "opentsdb"),
)
BESIDE = {"kairosdb": ("cassandra",)}  # servers that are in the same image, and start in its container too
# Where a short trial without warm-up is slow.
ROWS_A_SECOND = {"cassandra": "2k", "iotdb": "5k", "kairosdb": "1k", "opentsdb": "500"}
WINDOW = {"kairosdb": "15s", "opentsdb": "15s"}  # their first requests take seconds, and more on a busy machine
MEMORY = 2 * 1024**3


@contextmanager
def engine_with_images(name):
    """The engine; images of the name are removed."""
    require_docker()
    import docker

    engine = docker.from_env()
    yield engine
    for image in engine.images.list(name=name):
        engine.images.remove(image.id, force=True)


@pytest.fixture(scope="module")
def engine():
    with engine_with_images("scale-test/of-database") as engine:
        yield engine


def built(name, cwd) -> str:
    """The name of an image of the installed server, which is made at the first call."""
    import docker

    home = [required(one).find("").home for one in (*BESIDE.get(name, ()), name)][-1]
    image = f"scale-test/of-database:{name}"
    with suppress(docker.errors.ImageNotFound):
        docker.from_env().images.get(image)
        return image
    done = run("images", "build", name, "--home", home, "--image", image, "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert made["image"] == image and made["version"]
    return image


def words(name, image, data_dir):
    return (
        *("sweep", "cpu", "--cores", "1", "--target", name, "--runtime", "docker", "--image", image),
        *("--replicates", "1", "--duration", WINDOW.get(name, "2s"), "--window-max", "0"),
        *("--warmup", "1s", "--tables", "10"),
        *("--rate", ROWS_A_SECOND.get(name, "20k"), "--connections", "2", "--rows-per-request", "200"),
        *("--connections-check", "off", "--drift-check", "off", "--memory", "2GiB", "--data-dir", str(data_dir)),
        *("--results", "r"),
    )


def ours(engine) -> list:
    """Containers of the images of these tests; those of tests beside them may go meanwhile."""
    found = engine.containers.list(all=True, filters={"label": "scale.run"}, ignore_removed=True)
    return [one for one in found if one.attrs["Config"]["Image"].startswith("scale-test/of-database")]


def host_config_of(engine, process):
    """How the engine runs the container of the sweep."""
    (one, *_) = waited_for(lambda: [one for one in ours(engine) if one.status == "running"], process=process)
    return one.attrs["HostConfig"]


@pytest.mark.parametrize("name", [name for name in TARGETS if name != "iotdb" or os.environ.get("SCALE_SLOW_TESTS")])
def test_a_sweep_in_a_container(name, engine, tmp_path, data_dir):
    image = built(name, tmp_path)
    process = start(*words(name, image, data_dir), cwd=tmp_path)
    config = host_config_of(engine, process)
    process.communicate(timeout=400)
    assert len(config["CpusetCpus"].split(",")) == 1 and "-" not in config["CpusetCpus"]
    assert (config["Memory"], config["Privileged"], config["CapDrop"]) == (MEMORY, False, ["ALL"])
    assert all(one["HostIp"] == "127.0.0.1" for ports in config["PortBindings"].values() for one in ports)
    (points,) = tmp_path.glob("r/*/points.csv")
    (row,) = csv.DictReader(points.open())
    assert row["verdict"] not in ("ABORTED", "ERRORS", "LOST_ROWS", "WRONG_ROWS"), row["reasons"]
    assert int(row["rows_counted"]) == int(row["rows_acked"]) > 0
    facts = json.loads(next(tmp_path.glob("r/*/trials/*/facts.json")).read_text())
    assert facts["suspicious"] == [] and facts["mismatches"] == [], facts
    assert ours(engine) == []
    assert [path.name for path in Path(data_dir).iterdir() if path.name not in ("programs", "clients")] == []


def test_a_server_without_memory_in_its_container_is_named(engine, tmp_path, data_dir):
    """Its memory grows fast, beyond the limit. Just below one it reads its program again and again, and answers
    nothing, and the kernel kills nothing."""
    if not required("prometheus").find("").version.startswith("2."):
        pytest.skip("Prometheus 3 keeps its heap below the memory of its container, and is not ended")
    image = built("prometheus", tmp_path)
    given = [*words("prometheus", image, data_dir), "--knob", "storage.tsdb.retention.time=100y"]
    needs_more = {"2GiB": "64MiB", "20k": "100k", "10": "50000", "2s": "20s"}
    given = [needs_more.get(word, word) for word in given]
    done = run(*given, cwd=tmp_path)
    assert "memory" in done.stderr, done.stderr
    rows = [row for points in tmp_path.glob("r/*/points.csv") for row in csv.DictReader(points.open())]
    assert [row["verdict"] for row in rows] == ["ABORTED"], done.stderr
    assert "memory" in rows[0]["reasons"]
    assert ours(engine) == []


IMAGE = "scale-test/stand-in:1"
LIBRARY = 'const char *version(void) { return "taosd version: 3.3.9.9"; }\n'
PROGRAM = "#include <stdio.h>\nconst char *version(void);\nint main(void) { puts(version()); return 0; }\n"


@pytest.fixture
def home(tmp_path) -> Path:
    """bin/taosd, which loads lib/libtaos.so."""
    made = tmp_path / "taos"
    for name in ("bin", "lib"):
        (made / name).mkdir(parents=True)
    for name, text in (("library.c", LIBRARY), ("program.c", PROGRAM)):
        (tmp_path / name).write_text(text)
    flags = ("-Wl,-rpath,$ORIGIN/../lib", f"-L{made / 'lib'}", "-ltaos")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", made / "lib/libtaos.so", tmp_path / "library.c"], check=True)
    subprocess.run(["cc", "-o", made / "bin/taosd", tmp_path / "program.c", *flags], check=True)
    return made


@pytest.fixture
def builder():
    with engine_with_images("scale-test/stand-in") as builder:
        yield builder


def build(home, tmp_path, *more):
    words = ("images", "build", "tdengine", "--home", str(home), "--image", IMAGE, *more)
    return run(*words, cwd=tmp_path)


def test_the_image_runs_its_server_and_has_its_library(home, builder, tmp_path):
    done = build(home, tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert (made["image"], made["version"], made["is_default"]) == (IMAGE, "3.3.9.9", False)
    assert made["image_id"] == builder.images.get(IMAGE).id
    said = builder.containers.run(
        IMAGE,
        entrypoint=["/bin/sh", "-e", "-c", "exec /usr/bin/taosd -V"],
        user="65534:65534",
        read_only=True,
        cap_drop=["ALL"],
        network_mode="none",
        remove=True,
    )
    assert said == b"taosd version: 3.3.9.9\n"
    assert copy_out(IMAGE, "/usr/lib/libtaos.so").read_bytes() == (home / "lib/libtaos.so").read_bytes()


def test_its_own_image_is_replaced_and_another_one_is_not(home, builder, tmp_path):
    assert build(home, tmp_path).returncode == 0
    again = build(home, tmp_path)
    assert again.returncode == 0 and f"--runtime docker --image {IMAGE}" in again.stderr
    builder.images.remove(IMAGE, force=True)
    builder.api.import_image_from_data(b"\0" * 1024, repository="scale-test/stand-in", tag="1")
    refused = build(home, tmp_path)
    assert refused.returncode == 2
    assert "is here already, and `scale` has not built it" in refused.stderr


def test_an_installation_without_its_client_library(home, builder, tmp_path):
    (home / "lib/libtaos.so").rename(home / "lib/libtaos.so.1")
    assert build(home, tmp_path).returncode == 3, "the server does not start without it"
    (home / "bin/taosd").write_text("#!/bin/sh\necho 3.3.9.9\n")
    assert build(home, tmp_path).returncode == 0, "under another name"
    (home / "lib/libtaos.so.1").unlink()
    refused = build(home, tmp_path)
    assert refused.returncode == 2
    assert "there is no lib/libtaos.so or " in refused.stderr
