"""The verb `library`: which client library a driver finds, of which version, and what it lacks. Nothing is loaded."""

from __future__ import annotations

from stub_taos.stub_library import library


def test_path_and_version_are_told_and_nothing_is_connected_to(stub):
    outcome = stub("library")
    assert outcome.code == 0
    said = outcome.one("library")
    assert said["library"] == str(library())
    assert said["library_version"].startswith("3.3")
    assert "taos_connect" not in stub.words()


def test_a_function_that_is_not_there_is_named(stub):
    outcome = stub("library", without="taos_stmt_execute")
    assert outcome.code == 3
    assert "lacks taos_stmt_execute" in outcome.stderr


def test_a_driver_without_a_library_says_null(run):
    assert run({"driver": "null"}, "library").one("library")["library"] is None
