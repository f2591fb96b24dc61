"""Plans: interleaved, seeded, stable, on the right CPUs, every knob with a value, every confound named."""

from dataclasses import replace

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.machine.host import Cpu, Host, cpu_order, place
from scale_sweep.plan import complete, make_plan, plan_sentence, with_constants
from scale_sweep.server.targets import load_target
from scale_sweep.sweep.resolve import resolve_sweep
from tests.unit.factories import make_sweep

POSTGRES = load_target("postgres")


def make_host(cores: int = 12, threads: int = 1, nodes: int = 1) -> Host:
    """Numbered as Linux does: first threads of all cores, then the siblings; cores dealt to nodes in blocks."""
    cpus = tuple(
        Cpu(id=t * cores + c, core=c, package=c * nodes // cores, node=c * nodes // cores)
        for t in range(threads)
        for c in range(cores)
    )
    return Host(
        hostname="h",
        os="",
        kernel="",
        arch="x86_64",
        cpu_model="",
        cpus=cpus,
        allowed=tuple(c.id for c in cpus),
        governor="",
        memory_bytes=2**34,
        cgroup="v2",
        cgroup_writable=True,
        psi=(),
        is_root=False,
    )


def planned(host=None, **flags):
    sweep = replace(make_sweep(**flags), target="postgres", runtime="process")
    return make_plan(complete(sweep, POSTGRES.facts), host or make_host(), POSTGRES.facts)


def test_physical_cores_before_siblings_and_one_node_first():
    assert cpu_order(make_host(cores=4, threads=2, nodes=2)) == (0, 1, 2, 3, 4, 5, 6, 7)
    odd = replace(make_host(4), cpus=tuple(Cpu(id=i, core=i // 2, package=0, node=0) for i in range(4)))
    assert cpu_order(odd) == (0, 2, 1, 3)


def test_the_generator_has_the_same_cpus_at_every_level_where_the_machine_allows():
    plan = planned(cores="1..4")
    assert {t.placement.generator_cpus for t in plan.trials} == {tuple(range(4, 12))}
    assert not any(t.placement.shared for t in plan.trials)


def test_sharing_is_planned_and_said_where_it_cannot_be_avoided():
    plan = planned(make_host(2), cores="1..2")
    by_level = {t.level: t.placement for t in plan.trials}
    assert (by_level[1].server_cpus, by_level[1].generator_cpus, by_level[1].shared) == ((0,), (1,), ())
    assert (by_level[2].server_cpus, by_level[2].generator_cpus, by_level[2].shared) == ((0, 1), (1,), (1,))
    assert any("shares CPU 1" in note for note in plan.notes)


def test_a_part_of_a_core_is_one_cpu_with_a_quota():
    assert place(make_host(2), 0.5, (), (), 1).quota_cores == 0.5
    assert place(make_host(4), 1.5, (), (), 2).server_cpus == (0, 1)


def test_cpus_named_by_the_user_are_used_in_that_order():
    placement = place(make_host(8), 2, (5, 3, 1), (7,), 3)
    assert (placement.server_cpus, placement.generator_cpus) == ((5, 3), (7,))


def test_every_block_holds_every_level_in_an_order_of_its_own():
    plan = planned(cores="1..8", method__replicates="3")
    blocks = [[t.level for t in plan.trials[i : i + 8]] for i in (0, 8, 16)]
    assert all(sorted(b) == list(range(1, 9)) for b in blocks)
    assert len({tuple(b) for b in blocks}) == 3
    assert [t.trial_id for t in plan.trials] == [t.trial_id for t in planned(cores="1..8").trials]
    assert len({t.trial_id for t in plan.trials}) == 25, "24 points and the drift check"


def test_another_seed_is_another_order():
    ids = [
        [t.trial_id for t in planned(cores="1..8", method__seed=s, method__drift_check="off").trials]
        for s in ("1", "2")
    ]
    assert ids[0] != ids[1]
    assert sorted(ids[0]) == sorted(ids[1])


def test_the_order_has_a_seed_of_its_own_and_the_data_keep_theirs():
    one, other, again = (planned(cores="1..8", method__order_seed=s).trials for s in ("1", "2", "1"))
    assert [t.trial_id for t in one] != [t.trial_id for t in other]
    assert one == again
    assert {t.seed for t in (*one, *other)} == {42}


def test_default_knobs_are_constant_and_a_moving_knob_is_a_confound():
    assert planned(cores="1..4").confounds == ()
    moving = planned(cores="1..6", knobs__partitions="1..4=4,5..=12")
    assert [c.knob for c in moving.confounds] == ["partitions"]
    assert "12 at 5" in moving.confounds[0].sentence


@pytest.mark.parametrize(
    ("flags", "word"),
    [
        ({"cores": "1..13"}, "this machine has 12"),
        ({"cores": "1..3", "cpus__server": "0,1"}, "--server-cpus names 2"),
        ({"cores": "1", "cpus__generator": "99"}, "99"),
        ({"cores": "1..4", "knobs__partitions": "1..2=4"}, "has no value for 3"),
        ({"cores": "1", "knobs__partitions": "zero"}, "--partitions"),
        ({"cores": "1", "knobs__vgroups": "4"}, "no knob vgroups"),
        ({"cores": "1", "load__method": "sql"}, "'sql' is not one of copy"),
    ],
)
def test_refusals_name_the_flag(flags, word):
    with pytest.raises(UsageError, match=word):
        planned(**flags)


def test_clients_are_an_axis_whose_levels_set_the_connections_and_nothing_else():
    sweep = replace(
        resolve_sweep("clients", {"axis.clients": "1..64:x2", "axis.cores": "2"}), target="postgres", runtime="process"
    )
    plan = make_plan(complete(with_constants(sweep, make_host(4)), POSTGRES.facts), make_host(4), POSTGRES.facts)
    points = {t.level: t for t in plan.trials if t.role == "point"}
    assert [(n, points[n].load.connections, points[n].knobs["connections"]) for n in (1, 8, 64)] == [
        (1, 1, "1"),
        (8, 8, "8"),
        (64, 64, "64"),
    ]
    assert {(t.cores, t.knobs["partitions"], t.placement) for t in plan.trials} == {(2.0, "4", points[1].placement)}
    assert plan.confounds == (), "the level is what is swept"
    assert "clients-16-r2" in {t.trial_id for t in plan.trials}


def test_a_sweep_of_clients_refuses_what_its_levels_say():
    sweep = replace(
        resolve_sweep("clients", {"axis.clients": "1..4", "knobs.connections": "3"}),
        target="postgres",
        runtime="process",
    )
    with pytest.raises(UsageError, match="--connections: --clients sets how many"):
        complete(with_constants(sweep, make_host(4)), POSTGRES.facts)
    with pytest.raises(UsageError, match="clients come whole"):
        resolve_sweep("clients", {"axis.clients": "0.5,1"})
    with pytest.raises(UsageError, match="--clients: missing"):
        resolve_sweep("clients", {"axis.cores": "2"})


def placements(host, cores, **flags):
    plan = planned(host, cores=cores, **flags)
    return plan, {t.level: t.placement for t in plan.trials}


def test_the_generator_has_whole_cores_and_the_same_ones_at_every_level():
    small = make_host(cores=4, threads=2)
    for cores in ("1..3", "1..4", "1..6", "1..8"):
        plan, at = placements(small, cores)
        assert {p.generator_cpus for p in at.values()} == {(3, 7)}, cores
        assert not any(p.shared or p.sibling_cpus for level, p in at.items() if level <= 6), cores
    assert [at[n].server_cpus for n in (3, 4, 8)] == [(0, 1, 2), (0, 1, 2, 4), (0, 1, 2, 4, 5, 6, 3, 7)]
    assert [at[n].shared for n in (6, 7, 8)] == [(), (3,), (3, 7)]
    assert any("7..8 cores" in note or "at 7 cores" in note for note in plan.notes), plan.notes


def test_siblings_that_the_server_gets_are_a_confound_from_their_level_on():
    plan, _ = placements(make_host(cores=4, threads=2), "1..4")
    (found,) = plan.confounds
    assert (found.knob, found.values) == ("SMT within the server", ("0", "0", "0", "1"))
    assert "at 4 cores the server has SMT siblings" in found.sentence
    assert found.remedy == "1..3 cores have whole cores"
    assert placements(make_host(cores=4, threads=2), "1..3")[0].confounds == ()


def test_a_generator_beside_its_server_on_one_core_is_named():
    plan, at = placements(make_host(cores=4, threads=2), "1..7")
    assert {p.generator_cpus for p in at.values()} == {(7,)}
    assert [at[n].sibling_cpus for n in (6, 7)] == [(), (7,)]
    assert [c.knob for c in plan.confounds] == ["SMT within the server", "SMT between server and load generator"]
    plan, at = placements(make_host(cores=1, threads=2), "1")
    assert any("is an SMT sibling of the server's" in note for note in plan.notes)


def test_the_second_node_is_a_confound_and_comes_before_siblings():
    plan, at = placements(make_host(cores=8, threads=2, nodes=2), "1..12")
    assert at[12].server_cpus == (0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12)
    assert {p.generator_cpus for p in at.values()} == {(7, 15)}
    found = {c.knob: c.values for c in plan.confounds}
    assert found == {
        "SMT within the server": ("0",) * 7 + ("1", "2", "3", "4", "5"),
        "the server's NUMA spread": ("0",) * 4 + ("1",) * 8,
    }


def test_cpus_that_the_user_names_leave_whole_cores_to_the_generator():
    host = make_host(cores=4, threads=2)
    assert place(host, 1, (0, 1), (), 2).generator_cpus == (2, 3, 6, 7)
    assert place(host, 4, (0, 1, 2, 3), (), 4).generator_cpus == (4, 5, 6, 7)
    assert place(host, 4, (0, 1, 2, 3), (), 4).sibling_cpus == (4, 5, 6, 7)
    assert place(host, 4, (), (3,), 7).server_cpus == (0, 1, 2, 4)
    assert place(host, 7, (), (3,), 7).server_cpus == (0, 1, 2, 4, 5, 6, 7)


# As Linux 6.1 numbered them in an emulated machine (QEMU): 2 sockets of 4 cores with 2 threads, one NUMA node each,
# siblings beside each other; (core, package, node) of CPU 0, 1, ...
EMULATED = tuple((core, package, package) for package in (0, 1) for core in range(4) for _ in (0, 1))


def test_siblings_that_are_numbered_beside_each_other_are_known_as_such():
    cpus = tuple(Cpu(id=i, core=c, package=p, node=n) for i, (c, p, n) in enumerate(EMULATED))
    host = replace(make_host(16), cpus=cpus)
    assert cpu_order(host) == (0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15)
    plan, at = placements(host, "1..12")
    assert {p.generator_cpus for p in at.values()} == {(14, 15)}
    assert at[12].server_cpus == (0, 2, 4, 6, 8, 10, 12, 1, 3, 5, 7, 9)
    assert sorted(n for n, p in at.items() if p.smt_cpus) == [8, 9, 10, 11, 12]
    assert sorted(n for n, p in at.items() if len(p.nodes) == 2) == [5, 6, 7, 8, 9, 10, 11, 12]
    assert [c.knob for c in plan.confounds] == ["SMT within the server", "the server's NUMA spread"]


@pytest.mark.parametrize(
    ("cores", "replicates", "said"), [("1", "1", "1 trial: 1 core × 1 replicate "), ("2", "1", "1 trial: 2 cores × ")]
)
def test_one_of_a_thing_is_in_the_singular(cores, replicates, said):
    assert plan_sentence(planned(cores=cores, method__replicates=replicates)).startswith(said)
