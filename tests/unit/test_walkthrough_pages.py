"""The comparison of shown and printed outputs: numbers by form, words and columns exactly (tools/walkthrough)."""

import pytest

from tools.walkthrough.forms import differences
from tools.walkthrough.pages import TUTORIAL, steps_of, with_outputs

HEAD, ROW, END = "cores    rows/s    verdicts", "    1    442 (426 to 459) k    7 VALID (short window)", "the end"
SHOWN = (HEAD, ROW, "...", END)
NOTES = ("† no VALID trial at this level: mean of all its trials", "In parentheses: 95 % interval.")
MARKED = "    1    442 k quick, buffered rate    7 VALID (short window)"
BELOW = ("All rates: quick, buffered rate.", "All VALID trials: short window.")
FIRST = "trial 1 of 6: cores-1-r1 451 k rows/s quick  VALID (short window), about 1 min 24 s left"
LAST = "trial 14 of 14: cores-1-r7 433 k rows/s quick  VALID (short window)"


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        (SHOWN, ("cores     rows/s    verdicts", "    1    1.31 (1.2 to 1.4) M    3 VALID (short window)", "x", END)),
        (SHOWN, (HEAD, "machine: other programs run: load average is 7.7 per CPU", ROW, END)),
        (SHOWN, (HEAD, "    1 †    463 k    1 UNSTEADY", *NOTES, END)),  # results of which one is not VALID
        ((HEAD, MARKED, END), (HEAD, "    1    442 k    7 VALID", *BELOW, END)),
        ((FIRST, "...", LAST, END), (FIRST, LAST, FIRST, END)),
    ],
)
def test_the_same_form_agrees(shown, printed):
    assert differences(shown, list(printed)) == []


@pytest.mark.parametrize(
    ("shown", "printed", "difference"),
    [
        (SHOWN, ("cores    rows/s    verdict", ROW, END), "shown, not printed: cores rows/s verdicts"),
        (SHOWN, (HEAD, "a new line", ROW, END), "printed, not shown: a new line"),
        (SHOWN, (HEAD, ROW), "shown, not printed: the end"),
        (SHOWN, (HEAD, ROW, END, "one more"), "printed, not shown: one more"),
        ((HEAD, END), (HEAD, NOTES[1], END), ""),  # all are VALID
        ((HEAD, MARKED.replace("buffered", "wrong"), END), (HEAD, "    1    442 k    7 VALID", END), ""),
        ((FIRST, END), (FIRST, "trial 2 of 6: cores-2-r1 without a plan", END), ""),
    ],
)
def test_other_words_columns_and_lines_are_named(shown, printed, difference):
    found = differences(shown, list(printed))
    assert difference in found if difference else found


def test_an_excerpt_may_leave_lines_out_and_has_no_other_lines():
    assert differences((HEAD, END), [HEAD, ROW, END], excerpt=True) == []
    assert len(differences((HEAD, "another end"), [HEAD, END], excerpt=True)) == 1


def test_the_tutorial_has_steps_with_outputs_that_can_be_replaced():
    page = TUTORIAL.read_text(encoding="utf-8")
    steps = steps_of(page)
    assert [step.command.split()[1] for step in steps] == ["doctor", "plan", "sweep", "verify"]
    assert all(differences(step.output, step.output) == [] for step in steps)
    written = steps_of(with_outputs(page, {steps[0].command: "new\n"}))
    assert written[0].output == ("new",) and written[1:] == steps[1:]
