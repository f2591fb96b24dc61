"""The axis of disks: `scale sweep disk --disks 1..3`. A level is the number of disks that hold the server's data."""

from scale_sweep.experiment.axes.disks.axis import AXIS

__all__ = ["AXIS"]
