"""Machines of every shape and those that are not here: what server and load generator get, and mistakes in their files."""

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.analysis.fit.rows import known_breaks
from scale_sweep.machine.host.host_facts import read_host
from scale_sweep.machine.host.machine_file import read_machine
from scale_sweep.machine.host.placement import Topology, place, server_cpus_max
from scale_sweep.model.resources import Placement, Resources
from scale_sweep.plan.granted import with_constants
from scale_sweep.plan.make import make_plan
from scale_sweep.plan.target_defaults import complete
from scale_sweep.server.runtimes.docker import _core_options
from scale_sweep.server.targets import load_target
from scale_sweep.sweep.resolve import resolve_sweep
from tests.unit.whole_commands import run

MACHINES = Path(__file__).resolve().parents[2] / "sweeps/machines"
NAMES = sorted(path.stem for path in MACHINES.glob("*.toml"))
EIGHT = {"knobs__connections": "8"}
POSTGRES = load_target("postgres")
PLAN = ("plan", "cpu", "--target", "postgres", "--cores", "1..all:x2", "--replicates", "1")
# The physical cores that the load generator keeps, and the CPUs that are left to the server.
KEPT = {
    "chiplets": (8, 112),
    "desktop": (2, 20),
    "eight-nodes": (8, 112),
    "hybrid": (3, 29),
    "one-socket": (6, 84),
    "two-sockets": (8, 112),
}


def machine(name):
    return read_machine(MACHINES / f"{name}.toml")


def planned(name, what="cpu", **flags):
    host = machine(name)
    texts = {key.replace("__", "."): text for key, text in flags.items()}
    sweep = replace(resolve_sweep(what, texts, host), target="postgres", runtime="process")
    return make_plan(complete(with_constants(sweep, host), POSTGRES.facts), host, POSTGRES.facts)


def placements(plan):
    return {trial.level: trial.placement for trial in plan.trials}


@pytest.mark.parametrize("name", NAMES)
def test_the_load_generator_keeps_an_eighth_of_the_cores_and_each_level_holds_the_one_before_it(name, tmp_path):
    host = machine(name)
    top, (kept, left) = Topology(host), KEPT[name]
    assert server_cpus_max(host, (), ()) == left
    at = placements(planned(name, axis__cores="1..all", **EIGHT))
    assert max(at) == left
    (theirs,) = {placement.generator_cpus for placement in at.values()}
    cores = {top.core[cpu] for cpu in theirs}
    assert len(cores) == kept
    assert len(theirs) == sum(len(top.threads[core]) for core in cores), "whole cores, with their siblings"
    assert not set(theirs) & set(at[left].server_cpus)
    assert sorted((*theirs, *at[left].server_cpus)) == list(host.allowed), "no CPU is idle"
    assert not any(placement.sibling_cpus for placement in at.values())
    for level in sorted(at)[1:]:
        assert at[level].server_cpus[:-1] == at[level - 1].server_cpus
    for placement in at.values():
        threads = [top.thread[cpu] for cpu in placement.server_cpus]
        assert threads == sorted(threads), "whole cores come first"
        assert len(placement.smt_cpus) == sum(threads)
    clients = planned(name, "clients", axis__clients="1..4")
    for other in (clients, planned(name, "disk", axis__disks="1..2", disks__dir="/a,/b")):
        of_axis = placements(other).values()
        assert {len(placement.server_cpus) for placement in of_axis} == {left}
        assert not any(placement.shared or placement.sibling_cpus for placement in of_axis)
    done = run(*PLAN, "--machine", str(MACHINES / f"{name}.toml"), cwd=tmp_path, PATH="/nowhere")
    assert done.code == 0, done.stderr
    assert f" {name} (" in done.stdout.splitlines()[0] and "(assumed)" in done.stdout
    assert done.stderr.count("assumes PostgreSQL") == 1
    nodes = {"two-sockets": "on 2 NUMA nodes:", "eight-nodes": "(7 at 64):"}.get(name)
    assert nodes is None or nodes in done.stderr


@pytest.mark.parametrize("name", ["chiplets", "eight-nodes"])
def test_l3_domains_are_filled_one_after_the_other_and_the_load_generator_has_one_of_its_own(name):
    top = Topology(machine(name))
    at = placements(planned(name, axis__cores="1..56", **EIGHT))
    assert [len(at[n].l3_domains) for n in (1, 8, 9, 16, 17, 56)] == [1, 1, 2, 2, 3, 7]
    assert not any(placement.shared_l3_domains for placement in at.values())
    assert top.domains_of(at[1].generator_cpus) == {7}
    few = place(machine(name), 1, (), (), 1)
    assert not few.shared_l3_domains
    assert len(few.generator_cpus) == 112, "all domains but the server's"


def test_memory_l3_domains_and_slow_cores_are_known():
    at = placements(planned("chiplets", axis__cores="1..58:3", **EIGHT))
    assert {len({cpu % 64 for cpu in placement.generator_cpus}) for placement in at.values()} == {8}
    for cores, own, domains in (("8,60", "56-63", [(), ()]), ("8,58", "60-63", [(), (7,)])):
        plan = planned("chiplets", axis__cores=cores, cpus__generator=own, **EIGHT)
        assert [placement.shared_l3_domains for _, placement in sorted(placements(plan).items())] == domains
    assert any("L3" in confound.knob for confound in plan.confounds)
    host = machine("chiplets")
    top = Topology(host)
    assert top.domains_of(place(host, 8, (), (0, 1), 8).server_cpus) == {1}
    assert 0 not in top.domains_of(place(host, 4, (0, 1, 2, 3), (), 4).generator_cpus)
    at = placements(planned("two-sockets", axis__cores="1,32,33,56", **EIGHT))
    assert [at[n].memory_nodes for n in (1, 32, 33, 56)] == [(0,), (0,), (), ()]
    assert {p.memory_nodes for p in placements(planned("chiplets", axis__cores="1,8")).values()} == {()}, "one node"
    for placement, nodes in ((at[32], {"cpuset_mems": "0"}), (at[33], {})):
        options = _core_options(Resources(amounts={}, placement=placement))
        assert {key: text for key, text in options.items() if key == "cpuset_mems"} == nodes
    plan = planned("hybrid", axis__cores="1..all", **EIGHT)
    at = placements(plan)
    assert at[8].server_cpus == (0, 2, 4, 6, 8, 10, 12, 14)
    assert at[21].server_cpus[8:] == tuple(range(16, 29))
    assert at[29].server_cpus[21:] == (1, 3, 5, 7, 9, 11, 13, 15)
    assert {p.generator_cpus for p in at.values()} == {(29, 30, 31)}
    assert {c.knob.split()[0] for c in plan.confounds} == {"SMT", "slower"}
    assert [(b.after, b.label) for b in known_breaks(at)] == [(8.0, "slower cores"), (21.0, "SMT siblings")]
    of_an_older_run = Placement(server_cpus=(0,), generator_cpus=(1,))
    assert known_breaks({1.0: of_an_older_run}) == ()


def edges(plan):
    return [note for note in plan.notes if "other CPUs begin" in note]


def small_generators(plan):
    return [note for note in plan.notes if "GENERATOR_BOUND" in note]


def test_the_plan_names_edges_of_the_machine_and_a_load_generator_that_is_small(wording):
    wording(*edges(planned("two-sockets", axis__cores="1..all:x2", **EIGHT)))
    wording(*edges(planned("eight-nodes", axis__cores="1,56", **EIGHT)))
    assert not edges(planned("eight-nodes", axis__cores="1..56", **EIGHT)), "a level at each edge"
    assert not edges(planned("eight-nodes", "clients", axis__clients="1,64"))
    wording(*small_generators(planned("desktop", axis__cores="1..23", knobs__connections="12")))
    wording(*small_generators(planned("desktop", "clients", axis__clients="1..64:x2")))
    assert not small_generators(planned("desktop", axis__cores="1..8", **EIGHT))
    search = planned("desktop", axis__cores="1..2", load__slo="p99 < 50ms")
    assert min(int(trial.knobs["connections"]) for trial in search.trials) >= 64
    assert not small_generators(search), "of its own default of connections"
    host = machine("desktop")
    sizes = {n: server_cpus_max(replace(host, allowed=tuple(range(n))), (), ()) for n in (1, 2, 3, 4, 8)}
    assert sizes == {1: 1, 2: 2, 3: 2, 4: 3, 8: 7}


@pytest.mark.parametrize(
    ("cores", "flags", "levels"),
    [
        ("1..all:8", {}, [1, 9, 17]),
        ("1..all:x2,all", {}, [1, 2, 4, 8, 16, 20]),
        ("2..all:2", {"cpus__server": "0-5"}, [2, 4, 6]),
        ("20..all", {"cpus__generator": "0,1"}, [20, 21, 22]),
    ],
)
def test_all_is_the_cpus_that_the_server_may_have(cores, flags, levels):
    assert sorted(placements(planned("desktop", axis__cores=cores, **EIGHT, **flags))) == levels


def test_the_kernels_files_say_caches_and_kinds(tmp_path):
    cpus = tmp_path / "sys/devices/system/cpu"
    for cpu in range(4):
        for index, (level, shared) in enumerate([("1", str(cpu)), ("3", "0-1" if cpu < 2 else "2-3")]):
            cache = cpus / f"cpu{cpu}/cache/index{index}"
            cache.mkdir(parents=True)
            (cache / "level").write_text(level)
            (cache / "shared_cpu_list").write_text(shared)
        (cpus / f"cpu{cpu}/cpu_capacity").write_text(str([1024, 1000, 400, 410][cpu]))
    (cpus / "online").write_text("0-3\n")
    assert [(cpu.l3, cpu.kind) for cpu in read_host(tmp_path).cpus] == [(0, 0), (0, 0), (2, 1), (2, 1)]
    for name, listed in (("cpu_core", "0-2"), ("cpu_atom", "3")):
        (tmp_path / f"sys/devices/{name}").mkdir()
        (tmp_path / f"sys/devices/{name}/cpus").write_text(listed)
    assert [cpu.kind for cpu in read_host(tmp_path).cpus] == [0, 0, 0, 1]


# core_id of each CPU, the file with the CPUs of its core (None: the kernel writes none), them, and the cores.
DIES = [0, 1, 2, 3, 4, 5] * 2
CORES = [
    (DIES, "core_cpus_list", [[cpu] for cpu in range(12)], 12),
    (DIES, "thread_siblings_list", [[cpu] for cpu in range(12)], 12),
    (DIES, "core_cpus_list", [[cpu // 2 * 2, cpu // 2 * 2 + 1] for cpu in range(12)], 6),
    ([0, 0, 1, 1, 0, 0, 1, 1], "core_cpus_list", [[cpu] for cpu in range(8)], 8),
    ([0, 1, 0, 1], None, [], 2),
]


@pytest.mark.parametrize(("numbers", "name", "siblings", "cores"), CORES)
def test_a_core_is_the_cpus_that_the_kernel_lists_whatever_its_number_in_a_die_or_cluster(
    tmp_path, numbers, name, siblings, cores
):
    cpus = tmp_path / "sys/devices/system/cpu"
    for cpu, number in enumerate(numbers):
        files = {"core_id": number, "physical_package_id": 0}
        files |= {name: ",".join(map(str, siblings[cpu]))} if name else {}
        (cpus / f"cpu{cpu}/topology").mkdir(parents=True)
        for file, text in files.items():
            (cpus / f"cpu{cpu}/topology" / file).write_text(f"{text}\n")
    (cpus / "online").write_text(f"0-{len(numbers) - 1}\n")
    found = read_host(tmp_path)
    top = Topology(replace(found, allowed=tuple(range(len(numbers)))))
    assert len(top.cores) == cores
    seconds = ((cores, "SMT siblings"),) if cores < len(numbers) else ()
    assert top.changes(top.order) == seconds


def test_the_plan_of_another_machine_says_so_in_json_and_gives_each_client_a_table(tmp_path):
    done = run(*PLAN, "--json", "--machine", str(MACHINES / "chiplets.toml"), cwd=tmp_path)
    document = json.loads(done.stdout)
    assert {"8 L3 domains", "1 NUMA node", "512GiB"} <= set(document["machine"].split(", "))
    assert document["assumed"] == ["postgres"]
    here = json.loads(run(*PLAN[:4], "--cores", "1", "--json", cwd=tmp_path).stdout)
    assert here["machine"] is None
    done = run(*shlex.split(CLIENTS), cwd=tmp_path)
    assert done.code == 0, done.stderr
    assert " 600 tables" in done.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("threads = 2", "cores:"),
        ("cores = 0", "cores: 4096"),
        ('cores = "12"', "cores:"),
        ("cores = true", "cores:"),
        ("cores = 12\ncore = 3", "'core' cores?"),
        ("cores = 12\nnodes = 5", "nodes: 5 12"),
        ("cores = 12\nnodes = 2\ncores_per_l3 = 4", "cores_per_l3: 4 6"),
        ("cores = 12\nnodes = 2\nsockets = 3", "sockets: 3 2"),
        ("cores = 12\nslow_cores = 12", "slow_cores: (12)"),
        ("cores = 12\nnodes = 2\nslow_cores = 2", "slow_cores: node"),
        ('cores = 12\nsiblings = "besides"', "siblings: 'besides' beside?"),
        ('cores = 12\nmemory = "lots"', "memory: 'lots'"),
        ("cores = 12\nmemory = 64", "memory: text"),
        ('cores = 12\nmodel = "a\\u001bb"', "model:"),
        ("cores = 12\nthreads = 99\nnodes = 0", "threads: 8 nodes:"),
        ("cores = ", "TOML"),
        ("a=" + "[" * 5000, "TOML"),
        ("[cores]", "cores:"),
    ],
)
def test_a_wrong_file_is_refused_with_the_key_and_nothing_else(text, words, tmp_path):
    (tmp_path / "m.toml").write_text(text)
    done = run(*PLAN, "--machine", "m.toml", cwd=tmp_path)
    assert (done.code, done.stdout) == (2, "")
    assert "--machine m.toml" in done.stderr
    assert all(word in done.stderr for word in words.split()), done.stderr
    assert done.stderr.count("scale:") == 1


DESKTOP, HYBRID = (shlex.join(["--machine", f"{MACHINES}/{name}.toml"]) for name in ("desktop", "hybrid"))
CLIENTS = f"plan clients --target postgres --clients 1..512:x4 --replicates 1 {HYBRID}"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("plan cpu --cores 1 --target postgres --machine absent.toml", "--machine absent.toml"),
        ("plan cpu --cores 1 --target postgres --machine .", "--machine ."),
        (f"sweep cpu --cores 1 --target postgres {DESKTOP}", "--machine:"),
        (f"plan cpu --cores 1..200 --target postgres {DESKTOP}", "200 24"),
        ("plan cpu --cores 1..all --target tdengine --endpoint 127.0.0.1:1", "--cores: '1..all': `all`"),
        (f"{CLIENTS} --tables 100", "--clients: 256 100"),
    ],
    ids=["absent", "folder", "sweep", "more-cores", "elsewhere", "tables"],
)
def test_what_no_machine_has_is_refused(line, words, tmp_path):
    done = run(*shlex.split(line), cwd=tmp_path)
    assert (done.code, list(tmp_path.iterdir())) == (2, [])
    assert all(word in done.stderr for word in words.split()), done.stderr
