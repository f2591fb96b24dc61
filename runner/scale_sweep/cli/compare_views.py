"""A comparison on the terminal: the answer, the points, the cautions, what differs."""

from __future__ import annotations

from scale_sweep.cli import console
from scale_sweep.model.compared import Comparison
from scale_sweep.report.overlay import differing_table, false_alarm_words, ratio_table, session_words


def show(found: Comparison) -> None:
    """Shows a comparison on the terminal."""
    console.show_line(f"A: {found.run_a}")
    console.show_line(f"B: {found.run_b}")
    table = ratio_table(found)
    console.show_table("", table.headers, table.rows)
    console.show_line("")
    console.show_line(found.sentence, "bold")
    for caution in found.cautions:
        console.show_line(f"  but: {caution}", "yellow")
    for words in filter(None, (session_words(found), false_alarm_words(found))):
        console.show_line(words)
    if found.differing:
        differing = differing_table(found)
        console.show_table(f"What else differs ({len(found.differing)})", differing.headers, differing.rows)
    else:
        console.show_line("nothing else differs in what was recorded")
    if found.allowed_percent is not None:
        _show_judgement(found)


def _show_judgement(found: Comparison) -> None:
    for where in found.unjudged:
        console.show_line(f"no VALID trial of B at {where}: cannot be judged", "red")
    for where in found.slower:
        console.show_line(f"slower than allowed ({found.allowed_percent:g} %): {where}", "red")
    if found.not_judged_because:
        console.show_line(f"not judged: {found.not_judged_because}", "yellow")
    elif not (found.slower or found.unjudged):
        console.show_line(f"not slower by more than {found.allowed_percent:g} % beyond noise", "green")
