"""Cautions of several databases: one sentence for each kind, with the range of each number."""

import re
from dataclasses import replace

from scale_sweep.model.fitted import FitReport
from scale_sweep.report.conditions import old_servers
from scale_sweep.report.headlines import headline_of_variants
from scale_sweep.report.shared_values import joined_cautions
from tests.unit.test_several_databases import NAMES, measured, several


def test_sentences_that_differ_in_numbers_alone_become_one(wording):
    quick = "quick: windows of {} s (under 40 s) in all 6 trials"
    speed = "they were up to {} % faster ({} times)"
    said = {
        "target a": [quick.format("5"), speed.format("17", "2.15 to 2.52")],
        "target b": [quick.format("6 to 8"), speed.format("9", "2.01 to 2.4")],
        "target c": [quick.format("5 to 7"), "1,000 rows were sent"],
    }
    wording(*joined_cautions(said), *joined_cautions({"x": ["at 1 core: no", "at 12 core: no"], "y": []}))
    others = {"x": ["563 k rows/s", "x 1.6.7~rc0 of 2020-12"], "y": ["2.3 M rows/s", "x 1.6.8~rc0 of 2020-11"]}
    assert len(joined_cautions(others)) == 4


def test_the_page_of_several_databases_has_each_kind_of_caution_once():
    def fit(number):
        cautions = (f"differences under {number} % may stay hidden",)
        return FitReport(points=(), models=(), chosen=None, sentence="", cautions=cautions)

    fits = {f"target {name}": fit(number) for number, name in enumerate(NAMES, 1)}
    page = headline_of_variants(measured(several()), fits)
    kinds = [re.sub(r"\d+", "#", caution) for caution in page.cautions]
    assert len(kinds) == len(set(kinds))
    assert sum("1 to 3 %" in caution for caution in page.cautions) == 1


def test_several_old_servers_are_one_sentence(wording):
    released = {"questdb": {"1.0": "2020-11"}, "postgres": {"1.0": "2022-11"}}
    manifest = {"released": released, "created_utc": "2026-11-25T10:00:00Z"}
    wording(*old_servers(replace(measured(several()), manifest=manifest)))
