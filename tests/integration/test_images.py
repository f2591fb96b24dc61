"""`scale images build` with a real Docker Engine: the image of a small stand-in for an installed TDengine."""

import json
import subprocess
from pathlib import Path

import pytest

from scale_sweep.server.runtimes.docker_files import copy_out
from tests.integration.cli import run
from tests.integration.made_images import require_docker

pytestmark = pytest.mark.docker
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
def engine():
    """The engine; images of these tests are removed."""
    require_docker()
    import docker

    engine = docker.from_env()
    yield engine
    for image in engine.images.list(name="scale-test/stand-in"):
        engine.images.remove(image.id, force=True)


def build(home, tmp_path, *more):
    words = ("images", "build", "tdengine", "--home", str(home), "--image", IMAGE, *more)
    return run(*words, cwd=tmp_path)


def test_the_image_runs_its_server_and_has_its_library(home, engine, tmp_path):
    done = build(home, tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert (made["image"], made["version"], made["is_default"]) == (IMAGE, "3.3.9.9", False)
    assert made["image_id"] == engine.images.get(IMAGE).id
    said = engine.containers.run(
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


def test_its_own_image_is_replaced_and_another_one_is_not(home, engine, tmp_path):
    assert build(home, tmp_path).returncode == 0
    again = build(home, tmp_path)
    assert again.returncode == 0 and f"--runtime docker --image {IMAGE}" in again.stderr
    engine.images.remove(IMAGE, force=True)
    engine.api.import_image_from_data(b"\0" * 1024, repository="scale-test/stand-in", tag="1")
    refused = build(home, tmp_path)
    assert refused.returncode == 2
    assert "is here already, and `scale` has not built it" in refused.stderr


def test_an_installation_without_its_client_library(home, engine, tmp_path):
    (home / "lib/libtaos.so").rename(home / "lib/libtaos.so.1")
    assert build(home, tmp_path).returncode == 3, "the server does not start without it"
    (home / "bin/taosd").write_text("#!/bin/sh\necho 3.3.9.9\n")
    assert build(home, tmp_path).returncode == 0, "under another name"
    (home / "lib/libtaos.so.1").unlink()
    refused = build(home, tmp_path)
    assert refused.returncode == 2
    assert "there is no lib/libtaos.so or " in refused.stderr
