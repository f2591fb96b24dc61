"""MariaDB's server in the folders of Debian's package and of MariaDB's archives, and without a library that it needs."""

import shlex

import pytest

from scale_sweep.model import Site
from scale_sweep.server.targets import load_target
from tests.unit.test_servers import program
from tests.unit.trial_orders import trial_order

DEBIAN = ("sbin/mariadbd", "share/mysql/mysql_system_tables.sql", "share/mysql/mysql_system_tables_data.sql")
ARCHIVE_10 = ("bin/mariadbd", "share/mysql_system_tables.sql", "share/mysql_system_tables_data.sql")
ARCHIVE_11 = ("bin/mariadbd", "share/mariadb_system_tables.sql", "share/mariadb_system_tables_data.sql")


@pytest.mark.parametrize("names", [DEBIAN, ARCHIVE_10, ARCHIVE_11])
def test_its_files_are_found_in_each_layout(tmp_path, names):
    home = tmp_path / "a home"
    for name in names:
        program(home / name, "#!/bin/sh\necho Ver 11.4.5\n")
    target, trial = load_target("mariadb"), trial_order(tmp_path, "mariadb").trial
    found = target.find(str(home))
    assert (found.home, found.version) == (str(home), "11.4.5")
    spec = target.server(trial, Site(home=found.home, data_dir="/data", bind_address="127.0.0.1", port=1), "secret")
    ((*_, made),) = spec.setup
    paths = [str(home / name) for name in names]
    assert spec.argv[0] == paths[0]
    assert f"cat {shlex.join(paths[1:])})" in made
    assert f"--lc-messages-dir={(home / names[1]).parent}" in spec.argv


@pytest.mark.parametrize(
    ("library", "remedy"),
    [
        ("libcrypt.so.1", "apt-get install libcrypt1"),
        ("liburing.so.2", "apt-get install liburing2"),
        ("libother.so.9", "install the package that has libother.so.9"),
    ],
)
def test_a_library_that_is_missing_is_named_with_its_package(tmp_path, library, remedy):
    words = f"mariadbd: error while loading shared libraries: {library}: cannot open shared object file: No such file"
    program(tmp_path / "bin" / "mariadbd", f"#!/bin/sh\necho '{words}' >&2\nexit 127\n")
    target, trial = load_target("mariadb"), trial_order(tmp_path, "mariadb").trial
    (finding,) = target.check_installed(str(tmp_path), trial)
    assert (finding.blocking, finding.subject, finding.remedy) == (True, "mariadb", remedy)
    assert f"needs {library}" in finding.sentence
