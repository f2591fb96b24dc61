"""What an image of an installation has, who gets one at all, and the list of pinned images."""

import io
import re
import subprocess
import tarfile
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from scale_sweep.base.errors import PreflightError
from scale_sweep.cli import app
from scale_sweep.server.images import SHELL, needed_libraries, write_root
from scale_sweep.server.targets import all_facts
from tests.needs import need


def test_the_root_is_the_same_for_the_same_files(tmp_path):
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    archives = []
    for _ in range(2):
        program.touch()
        archives.append(io.BytesIO())
        assert write_root(archives[-1], {"/usr/bin/program": program, "/etc/file": program}) == 2 * 10
    assert archives[0].getvalue() == archives[1].getvalue()
    archives[0].seek(0)
    with tarfile.open(fileobj=archives[0]) as tar:
        members = {member.name: member for member in tar.getmembers()}
        assert tar.extractfile("usr/bin/program").read() == b"#!/bin/sh\n"
    assert set(members) == {"tmp", "var/tmp", "etc/passwd", "etc/file", "usr/bin/program"}
    assert members["usr/bin/program"].mode == 0o755, "every user may start it"
    assert members["tmp"].mode == 0o1777
    assert {(m.uid, m.gid, m.mtime) for m in members.values()} == {(0, 0, 0)}


def test_the_libraries_of_a_program_and_those_that_are_missing(tmp_path):
    names = {path.name.split(".")[0] for path in needed_libraries((SHELL,), ())}
    assert "libc" in names and any(name.startswith("ld-linux") for name in names)
    compiler = need("cc")
    library, program = tmp_path / "lib" / "libown.so", tmp_path / "program"
    library.parent.mkdir()
    source = tmp_path / "own.c"
    source.write_text("int own(void) { return 0; }\n")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    source.write_text("int own(void);\nint main(void) { return own(); }\n")
    subprocess.run([compiler, "-o", program, source, f"-L{library.parent}", "-lown"], check=True)
    assert library in needed_libraries((program,), (library.parent,))
    with pytest.raises(PreflightError, match=r"missing here: libown\.so"):
        needed_libraries((program,), ())


def test_images_are_pinned_and_what_cannot_be_one_is_said(tmp_path, wording):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/taosd").write_bytes(b"no program")
    (tmp_path / "bin/taosd").chmod(0o755)
    asked = ("questdb /usr", "null /usr", "tdengine /usr/share", "tdengine /nope", "nosuch /usr")
    for words, code in (*((one, 2) for one in asked), (f"tdengine {tmp_path}", 3)):
        name, home = words.split()
        done = CliRunner().invoke(app, ["images", "build", name, "--home", home])
        assert done.exception.exit_code == code
        wording(re.split("; possible:| of auto", done.exception.message.replace(str(tmp_path), "HOME"))[0])
    pins = tomllib.loads(PINS.read_text(encoding="utf-8"))["databases"]
    pulled = [facts for facts in all_facts() if facts.image and not facts.is_image_built]
    wanted = {facts.name: (facts.image, facts.image_version) for facts in pulled}
    assert {name: (one["image"], one["version"]) for name, one in pins.items()} == wanted
    built = [facts for facts in all_facts() if facts.is_image_built]
    assert {facts.name for facts in built} == {"kairosdb", "opentsdb"}
    assert all(facts.image.startswith("localhost/scale-") and facts.image_files for facts in built)
    for facts in all_facts():
        has_image = facts.image and facts.image_version and facts.image_home
        assert has_image or facts.by_command or "image" not in facts.runs_from, facts.name


PINS = Path(__file__).resolve().parents[2] / "images/pins.toml"
