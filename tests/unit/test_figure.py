"""The data file below a picture: numbers that `scale verify` computes again must give the same text."""

import base64
import re

import pytest

from scale_sweep.report.forms import figure_html


def data(html: str) -> str:
    return base64.b64decode(re.search(r"data:text/csv;base64,([^\"]+)", html)[1]).decode()


@pytest.mark.parametrize("again", [778_090_000, 778_090_000.0, 778_090_000.0000001, 0.1 + 0.2])
def test_a_whole_number_and_another_last_bit_are_the_same_text(again):
    stored = 0.3 if again < 1 else 778_090_000.0
    rows = [("trial", "rows_per_s", "is_fitted", "none")]
    page = figure_html("curve", "<svg/>", "", [*rows, ("r1", stored, False, None)])
    assert page == figure_html("curve", "<svg/>", "", [*rows, ("r1", again, False, None)])
    assert data(page) == f"trial,rows_per_s,is_fitted,none\nr1,{'0.3' if again < 1 else '778090000'},False,\n"
