"""Plans: interleaved, seeded, stable, on the right CPUs, every knob with a value, every confound named."""

from dataclasses import replace

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.machine.host.host_facts import Cpu, Host
from scale_sweep.machine.host.placement import cpu_order, place
from scale_sweep.plan.granted import with_constants
from scale_sweep.plan.make import make_plan
from scale_sweep.plan.summary import plan_sentence
from scale_sweep.plan.target_defaults import complete
from scale_sweep.server.targets import load_target
from scale_sweep.sweep.resolve import resolve_sweep
from tests.unit.factories import make_sweep

POSTGRES = load_target("postgres")


def make_host(cores: int = 12, threads: int = 1, nodes: int = 1) -> Host:
    """Numbered as Linux does: first threads of all cores, then the siblings; cores dealt to nodes in blocks."""
    numbered = [(t * cores + c, c, c * nodes // cores) for t in range(threads) for c in range(cores)]
    cpus = tuple(Cpu(id=cpu, core=core, package=node, node=node) for cpu, core, node in numbered)
    unknown = dict.fromkeys(("os", "kernel", "cpu_model", "governor"), "")
    cgroup = {"cgroup": "v2", "cgroup_writable": True, "psi": (), "is_root": False}
    allowed = tuple(c.id for c in cpus)
    return Host(hostname="h", arch="x86_64", cpus=cpus, allowed=allowed, memory_bytes=2**34, **unknown, **cgroup)


def planned(host=None, **flags):
    sweep = replace(make_sweep(**flags), target="postgres", runtime="process")
    return make_plan(complete(sweep, POSTGRES.facts), host or make_host(), POSTGRES.facts)


def test_the_generator_has_the_same_cpus_at_every_level_and_sharing_is_said_where_it_cannot_be_avoided():
    plan = planned(cores="1..4")
    assert {t.placement.generator_cpus for t in plan.trials} == {tuple(range(4, 12))}
    assert not any(t.placement.shared for t in plan.trials)
    plan, at = placements(make_host(2), "1..2")
    assert (at[1].server_cpus, at[1].generator_cpus, at[1].shared) == ((0,), (1,), ())
    assert (at[2].server_cpus, at[2].generator_cpus, at[2].shared) == ((0, 1), (1,), (1,))
    assert any("CPU 1" in note for note in plan.notes)


def test_a_part_of_a_core_is_one_cpu_with_a_quota_and_named_cpus_are_used_in_that_order():
    assert place(make_host(2), 0.5, (), (), 1).quota_cores == 0.5
    assert place(make_host(4), 1.5, (), (), 2).server_cpus == (0, 1)
    named = place(make_host(8), 2, (5, 3, 1), (7,), 3)
    assert (named.server_cpus, named.generator_cpus) == ((5, 3), (7,))


@pytest.mark.parametrize(("kind", "data_seeds"), [("seed", {1, 2}), ("order_seed", {42})])
def test_another_seed_is_another_order_and_the_order_has_a_seed_of_its_own(kind, data_seeds):
    flags = {"cores": "1..8", "method__drift_check": "off"}
    one, other, again = (planned(**flags, **{f"method__{kind}": s}).trials for s in ("1", "2", "1"))
    ids = [[t.trial_id for t in trials] for trials in (one, other)]
    assert ids[0] != ids[1] and sorted(ids[0]) == sorted(ids[1])
    assert one == again
    assert {t.seed for t in (*one, *other)} == data_seeds
    assert len({tuple(t.level for t in one[i : i + 8]) for i in (0, 8, 16)}) == 3  # each block has an order of its own
    assert len({t.trial_id for t in planned(cores="1..8").trials}) == 24 + 1  # the drift check


def test_default_knobs_are_constant_and_a_moving_knob_is_a_confound():
    assert planned(cores="1..4").confounds == ()
    (moving,) = planned(cores="1..6", knobs__partitions="1..4=4,5..=12").confounds
    assert (moving.knob, moving.values) == ("partitions", ("4",) * 4 + ("12",) * 2)


@pytest.mark.parametrize(
    ("flags", "word"),
    [
        ({"cores": "1..13"}, "has 12"),
        ({"cores": "1..3", "cpus__server": "0,1"}, "--server-cpus names 2"),
        ({"cores": "1", "cpus__generator": "99"}, "99"),
        ({"cores": "1..4", "knobs__partitions": "1..2=4"}, "value for 3"),
        ({"cores": "1", "knobs__partitions": "zero"}, "--partitions"),
        ({"cores": "1", "knobs__vgroups": "4"}, "knob vgroups"),
        ({"cores": "1", "load__method": "sql"}, "'sql'"),
    ],
)
def test_refusals_name_the_flag(flags, word):
    with pytest.raises(UsageError, match=word):
        planned(**flags)


@pytest.mark.parametrize(
    ("flags", "word"),
    [
        ({"axis.clients": "1..4", "knobs.connections": "3"}, "--connections: --clients"),
        ({"axis.clients": "0.5,1"}, "come whole"),
        ({"axis.cores": "2"}, "--clients: missing"),
    ],
)
def test_a_sweep_of_clients_refuses_what_its_levels_say(flags, word):
    with pytest.raises(UsageError, match=word):
        complete(with_constants(resolve_sweep("clients", flags), make_host(4)), POSTGRES.facts)


def test_clients_are_an_axis_whose_levels_set_the_connections_and_nothing_else():
    sweep = resolve_sweep("clients", {"axis.clients": "1..64:x2", "axis.cores": "2"})
    sweep = with_constants(replace(sweep, target="postgres", runtime="process"), make_host(4))
    plan = make_plan(complete(sweep, POSTGRES.facts), make_host(4), POSTGRES.facts)
    points = {t.level: t for t in plan.trials if t.role == "point"}
    at = {n: (points[n].load.connections, points[n].knobs["connections"]) for n in (1, 8, 64)}
    assert at == {1: (1, "1"), 8: (8, "8"), 64: (64, "64")}
    assert {(t.cores, t.knobs["partitions"], t.placement) for t in plan.trials} == {(2.0, "4", points[1].placement)}
    assert plan.confounds == ()
    assert "clients-16-r2" in {t.trial_id for t in plan.trials}


def placements(host, cores, **flags):
    plan = planned(host, cores=cores, **flags)
    return plan, {t.level: t.placement for t in plan.trials}


def test_the_generator_has_whole_cores_and_the_same_ones_at_every_level():
    for cores in ("1..3", "1..4", "1..6", "1..8"):
        plan, at = placements(make_host(cores=4, threads=2), cores)
        assert {p.generator_cpus for p in at.values()} == {(3, 7)}, cores
        assert not any(p.shared or p.sibling_cpus for level, p in at.items() if level <= 6), cores
    assert [at[n].server_cpus for n in (3, 4, 8)] == [(0, 1, 2), (0, 1, 2, 4), (0, 1, 2, 4, 5, 6, 3, 7)]
    assert [at[n].shared for n in (6, 7, 8)] == [(), (3,), (3, 7)]
    assert any("7..8 cores" in note or "7 cores" in note for note in plan.notes), plan.notes


def test_siblings_that_the_server_gets_are_a_confound_from_their_level_on(wording):
    plan, _ = placements(make_host(cores=4, threads=2), "1..4")
    (found,) = plan.confounds
    assert found.values == ("0", "0", "0", "1")
    wording(found.knob, found.sentence, found.remedy)
    assert placements(make_host(cores=4, threads=2), "1..3")[0].confounds == ()


def test_a_generator_beside_its_server_on_one_core_is_named(wording):
    plan, at = placements(make_host(cores=4, threads=2), "1..7")
    assert {p.generator_cpus for p in at.values()} == {(7,)}
    assert [at[n].sibling_cpus for n in (6, 7)] == [(), (7,)]
    wording(*(c.knob for c in plan.confounds))
    plan, at = placements(make_host(cores=1, threads=2), "1")
    assert any("SMT sibling" in note for note in plan.notes)


def test_the_second_node_is_a_confound_and_comes_before_siblings():
    plan, at = placements(make_host(cores=8, threads=2, nodes=2), "1..12")
    assert at[12].server_cpus == (0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12)
    assert {p.generator_cpus for p in at.values()} == {(7, 15)}
    smt, numa = (c.values for c in plan.confounds)
    assert smt == ("0",) * 7 + ("1", "2", "3", "4", "5")
    assert numa == ("0",) * 4 + ("1",) * 8


@pytest.mark.parametrize(
    ("cores", "server", "generator", "most", "placed"),
    [
        (1, (0, 1), (), 2, {"generator_cpus": (2, 3, 6, 7)}),
        (4, (0, 1, 2, 3), (), 4, {"generator_cpus": (4, 5, 6, 7), "sibling_cpus": (4, 5, 6, 7)}),
        (4, (), (3,), 7, {"server_cpus": (0, 1, 2, 4)}),
        (7, (), (3,), 7, {"server_cpus": (0, 1, 2, 4, 5, 6, 7)}),
    ],
)
def test_cpus_that_the_user_names_leave_whole_cores_to_the_generator(cores, server, generator, most, placed):
    found = place(make_host(cores=4, threads=2), cores, server, generator, most)
    assert {name: getattr(found, name) for name in placed} == placed


# As Linux 6.1 numbered them in an emulated machine (QEMU): 2 sockets of 4 cores with 2 threads, one NUMA node each,
# siblings beside each other; (core, package) of CPU 0, 1, ...
EMULATED = tuple((core, package) for package in (0, 1) for core in range(4) for _ in (0, 1))


def test_siblings_that_are_numbered_beside_each_other_are_known_as_such():
    cpus = tuple(Cpu(id=i, core=c, package=p, node=p) for i, (c, p) in enumerate(EMULATED))
    host = replace(make_host(16), cpus=cpus)
    assert cpu_order(make_host(cores=4, threads=2, nodes=2)) == (0, 1, 2, 3, 4, 5, 6, 7)
    assert cpu_order(host) == (0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15)
    plan, at = placements(host, "1..12")
    assert {p.generator_cpus for p in at.values()} == {(14, 15)}
    assert at[12].server_cpus == (0, 2, 4, 6, 8, 10, 12, 1, 3, 5, 7, 9)
    assert sorted(n for n, p in at.items() if p.smt_cpus) == [8, 9, 10, 11, 12]
    assert sorted(n for n, p in at.items() if len(p.nodes) == 2) == [5, 6, 7, 8, 9, 10, 11, 12]
    assert len(plan.confounds) == 2


@pytest.mark.parametrize(("cores", "said"), [("1", "1 core × 1 replicate "), ("2", "2 cores × 1 replicate ")])
def test_one_of_a_thing_is_in_the_singular(cores, said):
    assert plan_sentence(planned(cores=cores, method__replicates="1")).startswith(f"1 trial: {said}")
