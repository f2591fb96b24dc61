"""The comparison of shown and printed outputs: numbers by form, words and columns exactly (tools/walkthrough)."""

import pytest

from tools.walkthrough.forms import differences
from tools.walkthrough.pages import TUTORIAL, steps_of, with_outputs

SHOWN = ("cores    rows/s    verdicts", "    1    442 (426 to 459) k    7 VALID (short window)", "...", "the end")


def test_other_numbers_of_the_same_form_agree():
    printed = [
        "cores     rows/s    verdicts",
        "    1    1.31 (1.2 to 1.4) M    3 VALID (short window)",
        "left out",
        "the end",
    ]
    assert differences(SHOWN, printed) == []


@pytest.mark.parametrize(
    ("printed", "difference"),
    [
        (("cores    rows/s    verdict", SHOWN[1], "the end"), "shown, not printed: cores rows/s verdicts"),
        ((SHOWN[0], "a new line", SHOWN[1], "the end"), "printed, not shown: a new line"),
        ((SHOWN[0], SHOWN[1]), "shown, not printed: the end"),
        ((*SHOWN[:2], "the end", "one more"), "printed, not shown: one more"),
    ],
)
def test_other_words_columns_and_lines_are_named(printed, difference):
    assert difference in differences(SHOWN, printed)


def test_lines_that_depend_on_the_machine_may_come_and_go():
    printed = [SHOWN[0], "machine: other programs run: load average is 7.7 per CPU", SHOWN[1], "the end"]
    assert differences(SHOWN, printed) == []


def test_results_are_not_compared_if_a_trial_is_not_valid():
    notes = ["† no VALID trial at this level: mean of all its trials", "In parentheses: 95 % interval."]
    printed = [SHOWN[0], "    1 †    463 k    1 UNSTEADY", *notes, "the end"]
    assert differences(SHOWN, printed) == []
    assert len(differences((SHOWN[0], *SHOWN[3:]), [SHOWN[0], notes[1], "the end"])) == 1, "if all are VALID"


def test_marks_of_a_window_may_stand_in_a_row_or_below_the_table():
    row, below = "    1    442 k    7 VALID", ("All rates: quick, buffered rate.", "All VALID trials: short window.")
    marked = "    1    442 k quick, buffered rate    7 VALID (short window)"
    assert differences((SHOWN[0], marked, "the end"), [SHOWN[0], row, *below, "the end"]) == []
    assert differences((SHOWN[0], marked.replace("buffered", "wrong"), "the end"), [SHOWN[0], row, "the end"])


def test_the_lines_of_one_trial_stand_for_all_others():
    first = ("trial 1 of 6: cores-1-r1 451 k rows/s quick  VALID (short window), about 1 min 24 s left",)
    last = ("trial 14 of 14: cores-1-r7 433 k rows/s quick  VALID (short window)",)
    assert differences((*first, "...", *last, "the end"), [*first, *last, *first, "the end"]) == []
    assert differences((*first, "the end"), [*first, "trial 2 of 6: cores-2-r1 without a plan", "the end"])


def test_an_excerpt_may_leave_lines_out_and_has_no_other_lines():
    assert differences((SHOWN[0], "the end"), [SHOWN[0], SHOWN[1], "the end"], excerpt=True) == []
    assert differences((SHOWN[0], "another end"), [SHOWN[0], "the end"], excerpt=True) == [
        "shown, not printed: another end"
    ]


def test_the_tutorial_has_steps_with_outputs_that_can_be_replaced():
    page = TUTORIAL.read_text(encoding="utf-8")
    steps = steps_of(page)
    assert [step.command.split()[1] for step in steps] == ["doctor", "plan", "sweep", "verify"]
    assert all(differences(step.output, step.output) == [] for step in steps)
    written = steps_of(with_outputs(page, {steps[0].command: "new\n"}))
    assert written[0].output == ("new",) and written[1:] == steps[1:]
