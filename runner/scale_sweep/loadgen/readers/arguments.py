"""Finds a tool's program and flags in its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from scale_sweep.loadgen.readers.reader import Reader

# Programs that run the one after them: their flags that take the next word, and how many words they take besides.
_BEFORE: dict[str, tuple[str, int]] = {
    "chrt": ("-T -P -D", 1),
    "env": ("-u --unset -C --chdir", 0),
    "ip": ("", 3),  # ip netns exec NAME
    "ionice": ("-c -n --class --classdata", 0),
    "nice": ("-n --adjustment", 0),
    "nohup": ("", 0),
    "nsenter": ("-t -S -G", 0),
    "numactl": ("-C -N -m -i -p", 0),
    "python": ("-W -X", 0),
    "python3": ("-W -X", 0),
    "setsid": ("", 0),
    "stdbuf": ("-i -o -e", 0),
    "sudo": ("-u -g", 0),
    "taskset": ("", 1),
    "time": ("-f -o", 0),
    "timeout": ("-s -k --signal --kill-after", 1),
}


def program_at(argv: Sequence[str]) -> int:
    """The place of the load's own program, behind those that only start it."""
    at = 0
    while at < len(argv) and (before := _BEFORE.get(PurePath(argv[at]).name)):
        flags, words = before
        at += 1
        while at < len(argv):
            is_flag, is_variable = argv[at].startswith("-"), "=" in argv[at]
            if not (is_flag or is_variable or words):
                break
            words -= not (is_flag or is_variable)
            at += 2 if argv[at] in flags.split() else 1
    return at


def with_progress(reader: Reader, argv: Sequence[str]) -> tuple[str, ...]:
    """The arguments with those for progress, if the program is the reader's and the user asked for none."""
    at = program_at(argv)
    before, own = argv[: at + 1], argv[at + 1 :]
    is_its = any(PurePath(word).name in reader.programs for word in argv[at : at + 1])
    has_progress = value_of(argv, reader.progress_flags) is not None or not {*reader.progress_flags}.isdisjoint(own)
    return (*before, *reader.progress_words, *own) if is_its and not has_progress else (*argv,)


def value_of(argv: Sequence[str], flags: Sequence[str]) -> str | None:
    """The value of the last of these flags: -c8, -c 8, --client=8 or --client 8."""
    own = argv[program_at(argv) + 1 :]
    value = None
    for at, word in enumerate(own):
        for flag in flags:
            if word == flag and at + 1 < len(own):
                value = own[at + 1]
            elif word.startswith(f"{flag}="):
                value = word[len(flag) + 1 :]
            elif len(flag) == 2 and word.startswith(flag) and word[2:3].isdigit():
                value = word[2:]
    return value
