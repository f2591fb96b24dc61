"""The settings of a disk sweep: the number of disks, their source, and the disk placement."""

from __future__ import annotations

from scale_sweep.base.units import parse_bytes, parse_count, parse_levels
from scale_sweep.experiment.setting import Setting, Takes, readers
from scale_sweep.experiment.setting import setting as _s
from scale_sweep.experiment.setting import usual as _u

SETTINGS: tuple[Setting, ...] = (
    _s(
        "axis.disks",
        "--disks",
        readers.whole_levels(parse_levels, "disks"),
        "",
        "Disks of the server: 1..3 or 1,2,4. Selects a disk sweep.",
        "LEVELS",
    ),
    _u("disks.dir", "--dir", readers.paths, "", "Existing mounts, one for each disk: /mnt/a,/mnt/b.", "LIST"),
    _u("disks.device", "--device", readers.paths, "", "Block devices, one for each disk; with --format.", "LIST"),
    _u(
        "disks.loop",
        "--loop",
        readers.above_zero(parse_bytes),
        "",
        "Make loop devices of this size. Needs root.",
        "SIZE",
    ),
    _u(
        "disks.cap",
        "--cap",
        readers.rate_of_bytes(parse_bytes),
        "",
        "Limit of each loop device's reads and writes, like 20MiB/s.",
        "SIZE/S",
    ),
    _s(
        "disks.cap_iops",
        "--cap-iops",
        readers.at_least(1, parse_count),
        "",
        "Limit of each loop device in operations per second.",
        "N",
    ),
    _u(
        "disks.format",
        "--format",
        readers.switch,
        "",
        "Make a file system on each --device, after a typed confirmation or with -y.",
        takes=Takes.NOTHING,
    ),
    _s(
        "disks.file_system",
        "--file-system",
        str,
        "ext4",
        "File system to make on loop and block devices: ext4 or xfs.",
        "TYPE",
    ),
    _s(
        "disks.wipe",
        "--wipe",
        readers.switch,
        "",
        "With --format: also format a --device that holds a file system or partitions.",
        takes=Takes.NOTHING,
    ),
    _s(
        "disks.allow_shared_device",
        "--allow-shared-device",
        readers.switch,
        "",
        "Accept two directories of --dir on one device.",
        takes=Takes.NOTHING,
    ),
    _u(
        "disks.placement",
        "--disk-placement",
        readers.OneOf("auto", "tiers", "spread", "stripe"),
        "auto",
        "How the data is distributed over the disks. tiers: by the server, with several dataDir. spread: each vgroup "
        "or partition on one disk. stripe: RAID-0 of --loop or --device. auto: tiers if a test shows that the server "
        "supports it, else spread.",
        "KIND",
    ),
    _u(
        "disks.wal",
        "--wal-disk",
        readers.OneOf("auto", "data", "first", "off-axis"),
        "auto",
        "Place of the write-ahead log: data (with its data, TDengine's default), off-axis (in --data-dir, "
        "PostgreSQL's default) or first (on disk d1).",
        "WHERE",
    ),
    _s(
        "disks.free_min",
        "--disk-free-min",
        parse_bytes,
        "64MiB",
        "A trial ends as ABORTED if a disk has less free space than this.",
        "SIZE",
    ),
)
