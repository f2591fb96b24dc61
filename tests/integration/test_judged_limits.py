"""Limits that `scale judge` names, or at least calls no server's, also on a busy machine: a part of bench/judge.py."""

import os

import pytest

from bench.judge import CASES, Servers, judged
from tests.needs import need, needs

LOAD_S = 4
VALID = "VALID"


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    need("pgbench")
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("server and load need a CPU each")
    folder = tmp_path_factory.mktemp("judged")
    with Servers(folder) as running:
        yield lambda name: judged(case(name), running.named("postgres"), folder, LOAD_S)


def case(name):
    (found,) = (one for one in CASES if one.name == name)
    return found


def limit(told):
    return told["bottleneck"]["kind"]


def test_both_on_one_cpu(servers):
    told = servers("generator: pgbench -S -c 16 together")
    assert told["verdict"] != VALID
    assert limit(told) in ("SHARED_CPU", "GENERATOR_CPU")


@needs("control groups")
def test_a_load_under_a_quota(servers):
    told = servers("generator: pgbench -S -c 16 limited_load")
    assert told["verdict"] != VALID
    assert limit(told) in ("GENERATOR_CPU", "OTHER_PROCESSES", "HYPERVISOR")


def test_a_load_that_is_stopped(servers):
    told = servers("generator: pgbench -S -c 16 stopped_load")
    assert told["verdict"] != VALID
    assert told["measurement"]["requests"] > 0


def test_few_clients_of_a_server_that_sleeps(servers):
    told = servers("other: pgbench -c 4 -f {folder}/sleep.sql")
    assert told["verdict"] != VALID
    assert limit(told) in ("CONNECTIONS", "OTHER_PROCESSES", "HYPERVISOR")
