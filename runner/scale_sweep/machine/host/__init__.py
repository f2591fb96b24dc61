"""Read-only facts of this machine, and the order in which its CPUs are assigned. Refuses to change anything."""

from scale_sweep.machine.host.block_devices import Disk, data_disk, disk_of, memory_disk
from scale_sweep.machine.host.host_facts import Cpu, Host, read_host
from scale_sweep.machine.host.placement import cpu_order, place, server_cpus_max

__all__ = [
    "Cpu",
    "Disk",
    "Host",
    "cpu_order",
    "data_disk",
    "disk_of",
    "memory_disk",
    "place",
    "read_host",
    "server_cpus_max",
]
