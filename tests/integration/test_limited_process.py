"""`scale` where it may use a part of the machine, as it is typed: a control group with half a CPU and 600 MiB, and a
/dev/shm of 64 MB without the right to mount, as in a container with default settings. There root may not make a namespace for itself."""

import json
import os
import re
import shlex
import uuid

import pytest

from scale_sweep.model import CORES, MEMORY, Amount, Placement, Resources
from scale_sweep.server.runtimes.cgroup import make_group
from tests.integration.cli import assert_measured, run
from tests.needs import needs

pytestmark = needs("mount", "control groups")
QUICK = ("cpu", "--quick", "--target", "postgres")
SMALL_MEMORY = """
mount -t tmpfs -o size=64m tmpfs /dev/shm
exec setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin "$@"
"""


@pytest.fixture
def half_a_cpu():
    """The words that start a program in a control group."""
    limits = {CORES: Amount(value=0.5, unit="core"), MEMORY: Amount(value=600 * 2**20, unit="byte")}
    placement = Placement(server_cpus=(), generator_cpus=(), quota_cores=0.5)
    group = make_group(f"scale-test-{uuid.uuid4().hex}", Resources(amounts=limits, placement=placement))
    assert group is not None
    joins = "; ".join(f"echo $$ >{shlex.quote(file)}" for file in group.procs_files)
    yield ("/bin/sh", "-ec", f'{joins}; exec "$@"', "sh")
    group.remove()
    assert not any(map(os.path.exists, group.procs_files))


def test_the_quota_and_the_limit_of_the_group_are_what_can_be_used(tmp_path, half_a_cpu):
    said = run("doctor", cwd=tmp_path, under=half_a_cpu).stdout
    assert "0.5 usable of " in said and "(quota of the control group)" in said
    assert re.search(r"memory +0\.6 GB", said), said
    refused = run("plan", *QUICK, "--cores", "1..all", cwd=tmp_path, under=half_a_cpu)
    assert refused.returncode == 2
    assert "--cores: 1 core asked for, the quota of this process' control group is 0.5 CPUs" in refused.stderr
    refused = run("plan", *QUICK, "--cores", "0.5", "--data-dir", "ram", cwd=tmp_path, under=half_a_cpu)
    assert refused.returncode == 3
    assert re.search(r"ram: the machine's memory has [345]\d\d(\.\d+)?MiB free, half of it for data", refused.stderr)


def test_without_memory_for_data_a_sweep_works_on_the_disk(tmp_path):
    under = ("unshare", "--mount", "/bin/sh", "-ec", SMALL_MEMORY, "sh")
    words = (*QUICK, "--cores", "1", "--rows", "20k", "--replicates", "1", "--no-metrics", "--results", str(tmp_path))
    done = run("sweep", *words, "--data-dir", "auto", cwd=tmp_path, under=under)
    assert_measured(done)
    (run_dir,) = tmp_path.glob("*-postgres-*")
    manifest = json.loads((run_dir / "manifest.json").read_text())
    assert "--data-dir auto takes a disk: /dev/shm has 64MiB free" in json.dumps(manifest["findings"])
    assert manifest["sweep"]["data_dir"] == ""
    refused = run("plan", *QUICK, "--cores", "1", "--data-dir", "ram", cwd=tmp_path, under=under)
    assert refused.returncode == 3
    assert "ram: /dev/shm has 64MiB free, half of it for data, and a trial needs about " in refused.stderr
    assert "→ --data-dir auto, which takes a disk then" in refused.stderr
