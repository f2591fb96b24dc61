"""Read-only facts of this machine, and the order in which its CPUs are assigned. Refuses to change anything."""
