"""Tests that databases share are the same functions in each module: what one module marks holds for all of them."""

import importlib

import pytest

from tests.integration import database_contract
from tests.needs import needs
from tools.claimed_tests import DATABASES

SHARED = [name for name in vars(database_contract) if name.startswith("test_")]


@pytest.mark.parametrize("name", DATABASES)
def test_no_database_marks_a_test_that_it_shares(name):
    importlib.import_module(f"tests.integration.{name}")
    marks = [mark for test in SHARED for mark in getattr(getattr(database_contract, test), "pytestmark", ())]
    assert len(SHARED) == 3
    assert marks == [needs("root").mark]
