"""A named workload on several real databases by the command: each is asked what it can answer, and every answer is right."""

import json

import pytest

from tests.integration.cli import assert_measured, run
from tests.integration.real_server import required

DATABASES = ("questdb", "victoriametrics")
SMALL = ("--tables", "10", "--preload", "45k", "--duration", "1s", "--warmup", "0s", "--replicates", "1")
CHECKS = ("--connections-check", "off", "--drift-check", "off", "--runtime", "process")


@pytest.mark.parametrize("workload", ["tsbs-devops"])
def test_each_database_is_asked_what_it_can_answer(tmp_path, data_dir, workload):
    targets = [required(name).facts.name for name in DATABASES]
    words = ("sweep", "cpu", "--cores", "1", "--workload", workload, "--target", ",".join(targets), *SMALL, *CHECKS)
    where = ("--results", "r", "--data-dir", str(data_dir), "--no-metrics", "--json", "-y")
    done = run(*words, *where, cwd=tmp_path)
    assert_measured(done)
    assert "is not asked" in done.stderr, "a note says what is left out"
    path = tmp_path / json.loads(done.stdout)["path"]
    checked = {}
    for facts in path.glob("trials/*/facts.json"):
        trial = json.loads((facts.parent / "trial.json").read_text())["trial"]
        answers = json.loads(facts.read_text())["answers"]
        assert answers and not any(one["wrong"] for one in answers), (trial["subject"]["target"], answers)
        checked[trial["subject"]["target"]] = {one["operation"] for one in answers if one["whole"]}
    assert set(checked) == set(targets)
    assert "single-groupby-1-8-1" in set.intersection(*checked.values())
    assert len(checked["questdb"]) == 9
