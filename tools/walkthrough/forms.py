"""Whether an output has the form of the shown one: words and columns exactly, numbers by form.

A number, a duration, a size, the name of a run, a path, a fingerprint and the order of trials vary from run to run:
VARIES lists their patterns. Some lines depend on the machine or on its other programs: MACHINE lists them, and they may
be missing or added, as may statements on the noise of a run and MARKS, the words about what a window did not contain.
Whether the interval contains linear scaling is a result as well.
The lines of one trial stand for those of all others, because their number depends on the machine. If a trial is not
VALID, there or here, they may differ. Results may differ (RESULT) if their verdicts do. A line "..." on a page stands
for any lines. Refuses to compare a line that is in no list by anything but its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from scale_sweep.model.derived import BUFFERED, QUICK, SHORT

VARIES = (
    (r"^(ok|no) {2,}(\S+(?: \S+)*) {2,}.*", r"\1 \2"),  # of `scale doctor`, what a part of the machine is
    (r"\d{8}T\d{6}Z-[a-z-]+-[0-9a-f]{6}", "RUN"),
    (r"\b[0-9a-f]{64}\b", "HASH"),
    (r"(?<!\w)/[\w.+~/-]+", "PATH"),
    (r"\b(?:ab-)?cores-[\d.]+-[\w-]+", "TRIAL"),
    (r" \([-+−]?[\d.,]+ to [-+−]?[\d.,]+\)", ""),
    (r"(?:\d+ h )?(?:\d+ min )?\b[\d.]+ s\b", "DURATION"),
    (r"[-+−]?\d[\d.,]*(?: ?[kMG](?:i?B)?\b|(?<=\d)[KMG]i?B)?", "#"),
    (r"of # core\b", "of # cores"),
    (rf" (?:{QUICK}|{BUFFERED})(?:, {BUFFERED})?(?= )| \({SHORT}\)", ""),
    (r" \(# a CPU-second\)|, replicates disagree", ""),
    (r", about DURATION left|; more trials if the time allows", ""),
    (r"\(# % noise[^()]*\)", "(noise)"),
    (r" \+ # longer\b", ""),  # sentinels, if the rows of a trial are not fixed
    (r"^# more warnings?: .*; report: ", "report: "),
    (r"\s+", " "),
    (
        r"a line through the origin gives # rows/s per core|linear scaling, a speedup of # is outside the interval",
        "CURVE",
    ),
)
MACHINE = (
    r"(?:machine|memory|cpus|knobs|target|verdicts|note|--data-dir): ",
    r"plan: (?:scale pre-warms|fresh memory|at |the data)",
    r"TRIAL ",  # of a plan, whose order is drawn
    r"at most # trials, about",
    r"Expected precision|In earlier runs|assumed rate in rows",
)
MARKS = (r"All rates: ", r"All VALID trials: ")
ROW = r"# †? ?#"
RESULT = (ROW, r"# → # ", r"In parentheses|No valid trial|† no VALID trial|# cores? only: |Rates of")
TRIAL = re.compile(r"trial # of #: ")
STATEMENT = re.compile(r"  \S")  # indented by two: what is said of the noise and the verdicts of this run
OTHER_VERDICT = re.compile(
    r"\b(?:UNSTEADY|RESOURCE_NOT_SATURATED|GENERATOR_BOUND|THROTTLED|SOFTWARE_BOTTLENECK|ABORTED|ERRORS|OFFERED_NOT_MET)\b"
)


def form(line: str) -> str:
    """The line without what varies."""
    for pattern, name in VARIES:
        line = re.sub(pattern, name, line)
    return line.strip()


def verdicts(lines: Iterable[str]) -> list[list[str]]:
    """Those other than VALID, in each row of a table."""
    return [OTHER_VERDICT.findall(line) for line in lines if re.match(ROW, form(line))]


def fixed(lines: Iterable[str], varying: Iterable[str]) -> list[str]:
    """The forms of the lines that every machine prints."""
    left_out = re.compile("|".join((*MACHINE, *MARKS, *varying)))
    forms = [form(line) for line in lines if not STATEMENT.match(line)]
    kept = [one for one in forms if one and not left_out.match(one)]
    return [one for i, one in enumerate(kept) if not (TRIAL.match(one) and one in kept[:i])]


def differences(shown: Iterable[str], printed: Iterable[str], *, excerpt: bool = False) -> list[str]:
    """What the page shows and the command did not print, and the reverse; empty if they agree.

    excerpt: the page may leave lines out without saying where.
    """
    shown, printed = list(shown), list(printed)
    all_valid = not any(OTHER_VERDICT.search(line) for line in (*shown, *printed))
    varying = (*(() if all_valid else (TRIAL.pattern,)), *(() if verdicts(shown) == verdicts(printed) else RESULT))
    expected, actual = fixed(shown, varying), fixed(printed, varying)
    found, at, gap = [], 0, excerpt
    for one in expected:
        if one == "...":
            gap = True
            continue
        place = next((i for i in range(at, len(actual)) if actual[i] == one), None)
        if place is None:
            found.append(f"shown, not printed: {one}")
            continue
        if not gap:
            found += [f"printed, not shown: {extra}" for extra in actual[at:place]]
        at, gap = place + 1, excerpt
    if not gap:
        found += [f"printed, not shown: {extra}" for extra in actual[at:]]
    return found
