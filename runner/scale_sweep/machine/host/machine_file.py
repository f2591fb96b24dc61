"""A machine that is not here, from a TOML file (`scale plan --machine FILE`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import UsageError
from scale_sweep.base.input_file import read_input_text, toml_document
from scale_sweep.base.texts import not_one_of, plain_text
from scale_sweep.base.units import counted, parse_bytes
from scale_sweep.machine.host.host_facts import Cpu, Host

FILE_BYTES_MAX = 1 << 16
CORES_MAX, THREADS_MAX = 4096, 8
LAST, BESIDE = "last", "beside"


@dataclass(frozen=True, kw_only=True)
class Machine:
    cores: int  # physical ones, of all nodes
    threads: int = 1  # CPUs of each other core
    nodes: int = 1  # NUMA nodes
    sockets: int = 0  # packages
    cores_per_l3: int = 0  # cores that share an L3 cache
    slow_cores: int = 0  # of these, the last ones, of a slower kind with one thread each
    # how the kernel numbers the second threads: after all cores (last), or each after its first (beside)
    siblings: str = LAST
    memory: str = "256GiB"
    model: str = ""


def read_machine(path: Path) -> Host:
    """Raises UsageError that names the file and each wrong key."""
    text = read_input_text(path, "--machine", FILE_BYTES_MAX)
    document = toml_document(text, f"--machine {path}")
    mistakes: list[str] = []
    values: dict[str, Any] = {key: _read(key, entry, mistakes) for key, entry in document.items()}
    if "cores" not in document:
        mistakes.append("cores: missing; say how many physical cores the machine has")
    mistakes = mistakes or _contradictions(Machine(**values))
    if mistakes:
        raise UsageError(f"--machine {path}:\n  " + "\n  ".join(mistakes), remedy="docs/commands.md explains every key")
    return _host(path.stem, Machine(**values))


def _read(key: str, entry: object, mistakes: list[str]) -> Any:
    if key not in _READERS:
        mistakes.append(f"the key {not_one_of(key, _READERS)}")
        return None
    try:
        return _READERS[key](entry)
    except ValueError as error:
        mistakes.append(f"{key}: {error}")
        return None


def _whole(least: int, most: int) -> Callable[[object], int]:
    def read(entry: object) -> int:
        if isinstance(entry, bool) or not isinstance(entry, int) or not least <= entry <= most:
            raise ValueError(f"a whole number from {least} to {most} is expected")
        return entry

    return read


def _text(entry: object) -> str:
    if not isinstance(entry, str):
        raise ValueError("a text is expected")
    return plain_text(entry) if entry else ""


def _memory(entry: object) -> str:
    if parse_bytes(_text(entry)) < 1:
        raise ValueError("a machine has some memory")
    return _text(entry)


def _numbering(entry: object) -> str:
    if entry not in (LAST, BESIDE):
        raise ValueError(not_one_of(str(entry), (LAST, BESIDE)))
    return str(entry)


_READERS: Mapping[str, Callable[[object], int | str]] = {
    "cores": _whole(1, CORES_MAX),
    "threads": _whole(1, THREADS_MAX),
    "nodes": _whole(1, CORES_MAX),
    "sockets": _whole(1, CORES_MAX),
    "cores_per_l3": _whole(1, CORES_MAX),
    "slow_cores": _whole(0, CORES_MAX),
    "siblings": _numbering,
    "memory": _memory,
    "model": _text,
}


def _contradictions(machine: Machine) -> list[str]:
    m = machine
    mistakes = []
    if m.cores % m.nodes:
        mistakes.append(f"nodes: {m.nodes} do not divide {counted(m.cores, 'core')} evenly")
    elif m.cores_per_l3 and m.cores // m.nodes % m.cores_per_l3:
        mistakes.append(
            f"cores_per_l3: {m.cores_per_l3} do not divide {counted(m.cores // m.nodes, 'core')} of a node evenly"
        )
    if m.sockets and m.nodes % m.sockets:
        mistakes.append(f"sockets: {m.sockets} do not divide {counted(m.nodes, 'node')} evenly")
    if m.slow_cores >= m.cores:
        mistakes.append(f"slow_cores: fewer than all cores ({m.cores}) can be slow")
    if m.slow_cores and m.nodes > 1:
        mistakes.append("slow_cores: only on a machine of one node")
    return mistakes


def _host(name: str, machine: Machine) -> Host:
    cpus = tuple(sorted(_cpus(machine), key=lambda cpu: cpu.id))
    return Host(
        hostname=name,
        os="",
        kernel="",
        arch=os.uname().machine,
        cpu_model=machine.model or name,
        cpus=cpus,
        allowed=tuple(cpu.id for cpu in cpus),
        governor="",
        memory_bytes=parse_bytes(machine.memory),
        cgroup="v2",
        cgroup_writable=True,
        psi=("cpu", "io", "memory"),
        is_root=False,
    )


def _cpus(machine: Machine) -> list[Cpu]:
    """Numbered as Linux does."""
    m = machine
    in_node = m.cores // m.nodes
    in_l3 = m.cores_per_l3 or in_node
    return [
        Cpu(
            id=_number(m, core, thread),
            core=core,
            package=core // in_node * (m.sockets or m.nodes) // m.nodes,
            node=core // in_node,
            l3=_number(m, core // in_l3 * in_l3, 0),
            kind=int(core >= m.cores - m.slow_cores),
        )
        for core in range(m.cores)
        for thread in range(_threads(m, core))
    ]


def _threads(machine: Machine, core: int) -> int:
    return machine.threads if core < machine.cores - machine.slow_cores else 1


def _number(machine: Machine, core: int, thread: int) -> int:
    fast = machine.cores - machine.slow_cores
    if machine.siblings == BESIDE:
        return core * machine.threads + thread if core < fast else fast * machine.threads + core - fast
    return core if thread == 0 else machine.cores + (thread - 1) * fast + core
