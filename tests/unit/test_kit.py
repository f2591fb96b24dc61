"""scale kit: the script and the page, with the flags as they were typed, and nothing that a shell would run instead."""

import re
import subprocess
import tarfile
from pathlib import Path

import pytest

from scale_sweep import __version__
from tests.unit.whole_commands import run as command

MACHINE = Path(__file__).resolve().parents[2] / "sweeps/machines/two-sockets.toml"


def made(tmp_path: Path, *words: str) -> dict[str, str]:
    done = command("kit", *words, "--out", "kit", cwd=tmp_path)
    assert done.code == 0, done.stderr
    return {path.name: path.read_text() for path in (tmp_path / "kit").iterdir()}


def test_a_kit_is_a_script_and_a_page_for_any_machine(tmp_path):
    files = made(tmp_path, "cpu", "--target", "postgres", "--quick")
    assert sorted(files) == ["README.md", "run.sh"]
    assert not re.search(r"@[A-Z]+@", "".join(files.values()))
    assert "scale sweep cpu --target=postgres --quick --cores=1..all:x2 --results results -y" in files["run.sh"]
    assert __version__ in files["README.md"] and "GB free" in files["README.md"]
    assert subprocess.run(["sh", "-n", tmp_path / "kit/run.sh"], check=False).returncode == 0


def test_with_a_machine_the_page_has_the_plan_of_its_cores(tmp_path):
    files = made(tmp_path, "cpu", "--target", "postgres", "--machine", str(MACHINE), "--replicates", "2")
    assert re.search(
        r"on two-sockets: \d+ trials: 1,2,4,8,16,32,64 cores × 2 replicates.*about \d+ min", files["README.md"]
    )


def test_more_time_and_rows_need_more_space(tmp_path):
    spaces = []
    for at, words in enumerate(
        (("--duration", "10s"), ("--duration", "10m"), ("--duration", "10s", "--preload", "1G"))
    ):
        folder = tmp_path / str(at)
        folder.mkdir()
        files = made(folder, "cpu", "--target", "postgres", *words)
        spaces.append(int(re.search(r"may need (\d+) GB", files["run.sh"])[1]))
    assert spaces[0] < spaces[2] < spaces[1]


def test_flags_are_quoted_and_a_sweep_file_comes_along(tmp_path):
    odd = "who=a'b $(touch kestrel); touch kestrel"
    (tmp_path / "my.toml").write_text('[axis]\ncores = "1..2"\n[target]\nname = "postgres"\n')
    files = made(tmp_path, "my.toml", "--tag", odd)
    assert files["my.toml"] == (tmp_path / "my.toml").read_text()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/scale").write_text('#!/bin/sh\nprintf "<%s>" "$@" >> "$CALLS"; echo >> "$CALLS"; echo FILE\n')
    (tmp_path / "bin/scale").chmod(0o755)
    calls = tmp_path / "calls"
    environment = {"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "CALLS": str(calls)}
    done = subprocess.run(
        ["sh", tmp_path / "kit/run.sh", "-y"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert f"<sweep><my.toml><--tag={odd}><--results><results><-y><--no-metrics>" in calls.read_text()
    assert "<export><last><--redacted><--results><results>" in calls.read_text()
    assert "send this file" in done.stdout
    assert list(tmp_path.rglob("kestrel")) == []
    asked = subprocess.run(
        ["sh", tmp_path / "kit/run.sh"], env=environment, input="n\n", capture_output=True, text=True, check=False
    )
    assert asked.returncode == 2 and calls.read_text().count("<sweep>") == 1


def test_an_archive_of_a_kit_names_nobody_and_is_not_replaced(tmp_path):
    done = command("kit", "cpu", "--target", "postgres", "--out", "kit.tar.gz", cwd=tmp_path)
    assert done.code == 0, done.stderr
    with tarfile.open(tmp_path / "kit.tar.gz") as archive:
        members = archive.getmembers()
    assert sorted(member.name for member in members) == ["kit", "kit/README.md", "kit/run.sh"]
    assert {(member.uid, member.uname, member.mtime) for member in members} == {(0, "", 0)}
    again = command("kit", "cpu", "--target", "postgres", "--out", "kit.tar.gz", cwd=tmp_path)
    assert again.code == 2 and "exists already" in again.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [(("cpu", "--cores", "0"), "--cores"), (("disk",), "--disks"), (("cpu", "--target", "kestrel"), "--target")],
)
def test_what_no_sweep_takes_is_refused_before_anything_is_written(words, said, tmp_path):
    done = command("kit", *words, cwd=tmp_path)
    assert done.code == 2 and said in done.stderr
    assert list(tmp_path.iterdir()) == []
