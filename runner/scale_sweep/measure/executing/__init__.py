"""Executes a plan on this machine: ceilings → disks → trials → fit → report."""
