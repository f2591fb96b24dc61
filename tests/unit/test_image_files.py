"""What an image of an installation has: its root as a tar, the libraries of its programs; and who gets one at all."""

import io
import subprocess
import tarfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from scale_sweep.base.errors import PreflightError
from scale_sweep.cli import app
from scale_sweep.server.images.root_files import SHELL, needed_libraries, write_root
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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("questdb", "--home", "/usr"), "--home /usr: there is no QuestDB"),
        (("greptimedb", "--home", "/usr"), "cannot be an image of an installation; possible: "),
        (("tdengine", "--home", "/usr/share"), "--home /usr/share: there is no TDengine"),
        (("tdengine", "--home", "/nope"), "--home /nope: does not exist"),
        (("nosuch", "--home", "/usr"), "'nosuch' is not one of"),
    ],
)
def test_what_cannot_be_an_image(words, message):
    done = CliRunner().invoke(app, ["images", "build", *words])
    assert done.exception.exit_code == 2
    assert message in done.exception.message


def test_a_server_of_another_machine(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/taosd").write_bytes(b"no program")
    Path(tmp_path / "bin/taosd").chmod(0o755)
    done = CliRunner().invoke(app, ["images", "build", "tdengine", "--home", str(tmp_path)])
    assert done.exception.exit_code == 3
    assert "does not report its version" in done.exception.message
