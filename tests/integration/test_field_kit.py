"""The kit's script as its user runs it, and the file that it makes on another machine: imported, verified, compared."""

import json
import os
import subprocess
from pathlib import Path

from tests.integration.cli import SCALE, as_installed, assert_measured, run

SWEEP = (
    "--target",
    "null",
    "--cores",
    "1",
    "--duration",
    "1s",
    "--warmup",
    "1s",
    "--replicates",
    "2",
    "--tag",
    "a=kestrel",
)


def test_a_kit_measures_a_machine_and_its_file_is_verified_elsewhere(tmp_path: Path):
    made = run("kit", "cpu", *SWEEP, "--out", "kit", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    environment = as_installed({**os.environ, "PATH": f"{Path(SCALE).parent}:{os.environ['PATH']}"})
    done = subprocess.run(
        ["sh", tmp_path / "kit/run.sh", "-y"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert_measured(done)
    (file,) = (tmp_path / "kit").glob("*.tar.gz")
    assert f"send this file: {file}" in done.stdout
    (original,) = (tmp_path / "kit/results").iterdir()
    (tmp_path / "elsewhere").mkdir()
    imported = run("import", str(file), cwd=tmp_path / "elsewhere")
    assert imported.returncode == 0, imported.stderr
    path = tmp_path / "elsewhere" / imported.stdout.strip()
    assert [one for one in path.rglob("*") if one.is_file() and b"kestrel" in one.read_bytes()] == []
    assert "imported, redacted" in (path / "report.md").read_text()
    verified = json.loads(run("verify", str(path), "--json", cwd=tmp_path).stdout)
    assert verified["agrees"] and verified["trials"] == 2
    assert verified["fingerprint"] in done.stderr and verified["fingerprint"] in imported.stderr
    assert run("report", str(path), cwd=tmp_path).returncode == 0
    compared = run("compare", str(original), str(path), cwd=tmp_path)
    assert compared.returncode in (0, 14), compared.stderr  # 14: on this machine no trial of the null target is VALID
    assert run("resume", str(path), cwd=tmp_path).returncode == 2
