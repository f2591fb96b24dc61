"""Names that a client must resolve, and figures of admission in the plan; the real server is in tests/contract."""

from runner.targets import load_target
from runner.targets.tdengine import count
from runner.targets.tdengine.client import names_that_do_not_resolve
from tests.unit.factories import make_sweep, make_trial

TDENGINE = load_target("tdengine")


def trial(**knobs):
    return make_trial(cores=6.0, knobs={"vgroups": "4", "write_threads": "4", "commit_threads": "2", **knobs})


def test_a_name_that_does_not_resolve_is_found_once_with_what_to_do():
    def resolve(host):
        if host == "td1":
            raise OSError("unknown")
        return "127.0.0.1"

    found = names_that_do_not_resolve(["localhost", "td1", "td1"], resolve)
    assert [f.blocking for f in found] == [True]
    assert "td1" in found[0].sentence and "/etc/hosts" in found[0].remedy


def test_the_plan_says_what_derives_from_the_cores_and_what_the_server_admits():
    settings = TDENGINE.settings(trial(buffer="64", keep="10d"), is_ours=True)
    assert settings["numOfCores"] == "6" and settings["numOfRpcThreads"] == "3" and settings["supportVnodes"] == "12"
    assert settings["buffer"] == "64" and settings["vgroups"] == "4"
    assert TDENGINE.reserves(trial(), 16 * 2**30)["vnodes"] == "4 of supportVnodes 12"


def test_too_little_space_for_minimal_data_dir_is_found():
    few = TDENGINE.check(make_sweep(), trial(minimalDataDirGB="50"), 16 * 2**30, 10 * 2**30)
    assert any(f.blocking and "minimalDataDirGB" in f.sentence for f in few)
    assert TDENGINE.check(make_sweep(), trial(minimalDataDirGB="5"), 16 * 2**30, 10 * 2**30) == ()


def test_the_question_for_gaps_is_in_the_units_of_the_database():
    sweep = make_sweep(workload__step_ms="10", workload__start_ms="1000")
    assert "a <> 1000 OR b - a + 10 <> n * 10" in count.not_consecutive(sweep, trial(), "d", "t", "ts")
    assert "a <> 1000000 OR b - a + 10000" in count.not_consecutive(sweep, trial(precision="'us'"), "d", "t", "ts")
