"""Limits provoked on a real PostgreSQL: the verdict names the right one, or, honestly, the others on this machine."""

import json

import pytest

from tests.integration.cli import run

pytestmark = pytest.mark.alone
QUICK = (
    "--runtime process --replicates 1 --duration 4s --warmup 1s --window-max 0 --connections-check off --json".split()
)


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        (("--target", "postgres", "--cores", "0.5"), {"QUOTA"}),
        (("--target", "postgres", "--cores", "2", "--connections", "1"), {"CONNECTIONS"}),
        (("--target", "postgres", "--cores", "1", "--data-dir", "auto"), {"SERVER_CPU"}),  # no wait for a disk
        (("--target", "postgres", "--cores", "1", "--rate", "5k"), {"OFFERED_RATE", "GENERATOR_LATE"}),
        # below its ceiling when the machine has grown slower since that was measured: it is its CPUs all the same
        (("--target", "null", "--cores", "1"), {"GENERATOR_CEILING", "GENERATOR_CPU"}),
    ],
)
def test_the_limit_that_was_provoked_is_named(tmp_path, words, kinds):
    done = run("sweep", "cpu", *QUICK, *words, cwd=tmp_path)
    trial = json.loads(done.stdout)["trials"][0]
    limit, taken_by = (
        trial["verdict"]["bottleneck"],
        {"OTHER_PROCESSES": "other_cpu_cores", "HYPERVISOR": "stolen_cpu_cores"},
    )
    if limit["kind"] in taken_by:
        assert trial["measurement"][taken_by[limit["kind"]]] > 0.05, "named others although there were none"
    else:
        assert limit["kind"] in kinds, (limit, trial["measurement"])
    assert sum(limit["shares"].values()) == pytest.approx(100)
