"""`scale` on an emulated machine with 16 CPUs, two NUMA nodes, systemd and cgroup v2."""
