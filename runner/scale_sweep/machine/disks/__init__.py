"""Disks for a sweep: directories, block devices, or capped loop devices."""
