"""Judges how a case ended: what is wrong, in words; nothing if it is right. Pure."""

from __future__ import annotations

import re

from tools.provoking.case import Case, Outcome

DOCUMENTED = (0, 2, 3, 4, 5, 6, 7, 10, 11, 12, 130)  # README, "Exit codes"
RESULTS = (0, 10, 11, 12, 130)  # these come with results, not with one message
MESSAGE_MAX = 4000  # characters on standard error beside a refusal
RAISED = ("Traceback (most recent call last)", "Exception ignored in", "Error in sys.", "Fatal Python error")
UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
REFUSAL = re.compile(r"^scale: .*", re.MULTILINE)
CANNOT_START = re.compile(r"^Cannot start: .*", re.MULTILINE)
REMEDY = re.compile(r"^  → \S", re.MULTILINE)
# Of a mistake in a command or a file: the message names the flag, the key or the file, and what is wrong there.
PLACE = re.compile(
    r"^scale: (sweep file \S+|--?[a-z-]+( \S+)?|[a-z_]+\.[a-z_]+( \(or --[a-z-]+\))?|[^:\s]+\.[a-z]+:.*)", re.MULTILINE
)


def judge(case: Case, outcome: Outcome) -> list[str]:
    """Every fault of the outcome, one sentence each."""
    if outcome.broken:
        return [f"the case could not be run: {outcome.broken}"]
    if outcome.over_time:
        return [f"did not end: {outcome.cpu_s:.1f} s of CPU, {outcome.wall_s:.1f} s; it stood at\n{outcome.stack}"]
    faults = [f"left behind: {what}" for what in outcome.left]
    both = outcome.out + outcome.err
    if any(mark in both for mark in RAISED):
        faults.append("ended with a traceback")
    if outcome.code not in DOCUMENTED:
        faults.append(f"exit code {outcome.code} is in no document")
    elif case.exits and outcome.code not in case.exits:
        faults.append(f"exit code {outcome.code}, not {' or '.join(map(str, case.exits))}")
    if outcome.code not in RESULTS:
        faults += _of_message(outcome.err, sum(map(len, case.words)))
    faults += [f"does not say {text!r}" for text in case.says if text not in both]
    if unseen := UNSEEN.search(both):
        faults.append(f"prints the control character {unseen.group()!r}")
    return faults


def _of_message(err: str, asked: int) -> list[str]:
    """The faults of a refusal: it is one message, not too long, with a place or a remedy.

    asked: the length of the command line, which a message may repeat.
    """
    if reasons := CANNOT_START.findall(err):  # of `scale plan`, which names all of them, each with its remedy
        return [f"no remedy in {reason!r}" for reason in reasons if " → " not in reason]
    faults = []
    messages = REFUSAL.findall(err)
    if len(messages) != 1:
        faults.append(f"{len(messages)} messages instead of one")
    if len(err) > MESSAGE_MAX + 2 * asked:
        faults.append(f"a message of {len(err)} characters")
    if not REMEDY.search(err) and not PLACE.search(err):
        faults.append("no place and no remedy")
    return faults
