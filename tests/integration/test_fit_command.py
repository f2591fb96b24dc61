"""`scale fit` as its user calls it: the published table, a pipe, and a bad file."""

import json
import subprocess
from pathlib import Path

from tests.integration.cli import SCALE, run

REFERENCE = Path(__file__).resolve().parents[2] / "results" / "reference"


def test_the_published_table(tmp_path):
    done = run(
        "fit",
        str(REFERENCE / "tdengine-cpu.csv"),
        *"--n cores --x rows_per_s --json --predict 16,24 --need 7M".split(),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["verdict"] == "superlinear"
    assert len(document["models"]) == 6
    assert [p["n"] for p in document["predictions"]] == [16, 24]
    assert 14 < document["needs"][0]["n"] < 15


def test_standard_input_and_a_picture(tmp_path):
    text = "n,x\n" + "".join(f"{n},{n / (1 + 0.1 * (n - 1)):.4f}\n" for n in range(1, 9))
    done = subprocess.run(
        [SCALE, "fit", "-", "--n", "n", "--x", "x", "--png", "curve.png"],
        cwd=tmp_path,
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "Contended (Amdahl fits best)" in done.stdout
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_a_bad_file_is_one_message_and_exit_2(tmp_path):
    (tmp_path / "bad.csv").write_text("n,x\n1,10\n2,fast\n")
    done = run("fit", "bad.csv", "--n", "n", "--x", "x", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "line 3: x is 'fast', which is not a number" in done.stderr
