"""Everything that `scale` keeps outside of `results/`: where it lies, who may have made it, and how it is removed."""

from scale_sweep.machine.state.copies import copy_of, keep_file, kept_file, reachable
from scale_sweep.machine.state.files import read_own, write_own
from scale_sweep.machine.state.other_sweeps import flocks, other_sweeps
from scale_sweep.machine.state.places import (
    VARIABLE,
    check,
    check_nearest,
    folder,
    folder_path,
    make_ready,
    own_directory,
    ready,
)
from scale_sweep.machine.state.records import (
    SERVER_VARIABLE,
    Directory,
    Record,
    Records,
    directory_at,
    forget,
    is_running,
    read_record,
    read_records,
    record_of,
    save,
)
from scale_sweep.machine.state.removal import remove_folder, remove_recorded
from scale_sweep.machine.state.runs import remember_run, remembers_run
from scale_sweep.machine.state.scratch import scratch
from scale_sweep.machine.state.trusted import distrust, open_trusted

__all__ = [
    "SERVER_VARIABLE",
    "VARIABLE",
    "Directory",
    "Record",
    "Records",
    "check",
    "check_nearest",
    "copy_of",
    "directory_at",
    "distrust",
    "flocks",
    "folder",
    "folder_path",
    "forget",
    "is_running",
    "keep_file",
    "kept_file",
    "make_ready",
    "open_trusted",
    "other_sweeps",
    "own_directory",
    "read_own",
    "read_record",
    "read_records",
    "reachable",
    "ready",
    "record_of",
    "remember_run",
    "remembers_run",
    "remove_folder",
    "remove_recorded",
    "save",
    "scratch",
    "write_own",
]
