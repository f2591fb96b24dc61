"""What is chosen for each arm of a sweep, what a runtime cannot do for an axis, and the findings of each server."""

from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.experiment.axes import Axis, load_axis
from scale_sweep.model.resources import ServerSource
from scale_sweep.plan.preparing.choice import choose, chosen_arms, refuse_unable, runtimes_of, subject_key
from scale_sweep.plan.preparing.findings import client, without_root
from scale_sweep.plan.preparing.prepared import prepare, with_order_seed
from scale_sweep.server.runtimes import RUNTIMES, Capabilities, load_runtime
from scale_sweep.server.targets import load_facts, load_target
from scale_sweep.sweep.resolve import resolve_sweep
from tests.unit.factories import make_sweep
from tests.unit.test_plan import make_host

RUNS_ALREADY = {"target.name": "tdengine", "target.endpoint": "127.0.0.1:6030"}
DISKS = {"axis.disks": "1..2", "disks.dir": "/mnt/a,/mnt/b"}


def refused(what, flags):
    sweep = resolve_sweep(what, {**flags, **RUNS_ALREADY})
    with pytest.raises(UsageError) as error:
        refuse_unable(sweep, choose(sweep))
    return error.value


def test_an_axis_asks_for_what_the_runtime_can(wording):
    for axis, flags in (("cpu", {"axis.cores": "1..2"}), ("disk", DISKS), ("disk", {**DISKS, "axis.disks": "1"})):
        error = refused(axis, flags)
        wording(f"{error.message}: {error.remedy}")
    one = resolve_sweep("cpu", {"axis.cores": "2", **RUNS_ALREADY})
    refuse_unable(one, choose(one))  # one number of cores needs no pinning
    assert not list(client(replace(choose(one), runtime="docker", home="/nowhere")))  # the image has the library
    assert refused("cpu", {"axis.cores": "1", "target.memory": "1GiB"}).message.startswith("--memory: ")
    here = replace(make_sweep(target__memory="1GiB"), target="null")
    refuse_unable(here, choose(here))


def test_what_a_runtime_needs_follows_from_what_it_can():
    sources = {name: load_runtime(name).CAN.source for name in RUNTIMES.names()}
    known = (ServerSource.INSTALLATION, ServerSource.IMAGE, ServerSource.ENDPOINT, ServerSource.SIMULATION)
    assert sources == dict(zip(("process", "docker", "endpoint", "simulated"), known, strict=True))
    assert runtimes_of(load_facts("tdengine")) == ("docker", "process", "endpoint")
    assert runtimes_of(load_facts("postgres")) == ("process", "docker", "endpoint")
    assert runtimes_of(load_facts("null")) == ("process",)
    assert runtimes_of(load_facts("simulated")) == ("simulated",)


def test_what_cannot_be_had_is_refused_before_a_server_is_searched(tmp_path):
    sweep = resolve_sweep("cpu", {"axis.cores": "100000", "target.name": "tdengine", "target.runtime": "docker"})
    with pytest.raises(UsageError, match="100,000 cores"):
        prepare(sweep, tmp_path)
    with pytest.raises(UsageError, match="'oracle'"):
        chosen_arms(make_sweep(vary=["target=postgres,oracle"]))
    with pytest.raises(UsageError, match="--image: null .* as process"):
        choose(replace(make_sweep(), target="null", image="null:1"))


def test_each_arm_gets_the_server_that_it_asks_for_and_each_server_is_looked_for_once():
    arms = chosen_arms(replace(make_sweep(vary=["target=postgres,null", "connections=1,2"]), runtime="auto"))
    assert [arm.sweep.target for arm in arms] == ["postgres", "postgres", "null", "null"]
    assert {arm.choice.runtime for arm in arms} == {"process"}
    assert arms[0].choice is arms[1].choice and arms[2].choice is arms[3].choice
    assert len({subject_key(arm.sweep) for arm in arms}) == 2
    assert arms[0].sweep.home == load_target("postgres").find("").home


class Network(Axis):
    """An axis of a quantity that no runtime gives."""

    facts = replace(load_axis("cores"), name="network", unit="MB/s", one_without="")


def test_a_quantity_that_the_runtime_does_not_give_is_refused_by_its_name(monkeypatch):
    monkeypatch.setattr("scale_sweep.plan.preparing.choice.axis_of", lambda name: Network())
    sweep = replace(make_sweep(), target="null")
    with pytest.raises(UsageError, match="--runtime process: process gives a server no network, so its network cannot"):
        refuse_unable(sweep, choose(sweep))
    able = Capabilities(gives=frozenset({"network"}), is_local=True, owns_server=True, has_images=False)
    monkeypatch.setattr(load_runtime("process"), "CAN", able)
    refuse_unable(sweep, choose(sweep))


@pytest.mark.parametrize(("is_root", "closed"), [(True, True), (False, True), (True, False)])
def test_a_server_that_gives_up_root_must_reach_its_data(tmp_path, is_root, closed):
    tmp_path.chmod(0o700)
    folder, host = tmp_path if closed else Path("/var/tmp"), replace(make_host(), is_root=is_root)
    postgres = choose(replace(make_sweep(), target="postgres", runtime="process"))
    assert [f.blocking for f in without_root(postgres, host, folder)] == [True] * (is_root and closed)
    assert not list(without_root(choose(replace(make_sweep(), target="null")), host, folder))


def test_each_run_draws_an_order_of_its_own_unless_its_seed_is_given():
    drawn = {with_order_seed(make_sweep()).order_seed for _ in range(20)}
    assert len(drawn) > 10 and None not in drawn
    assert with_order_seed(make_sweep(method__order_seed="7")).order_seed == 7
    assert make_sweep(method__seed="9").seed_of_order == 9  # a run of before the order had a seed
