"""MariaDB's server in the folders of Debian's package and of MariaDB's archives, and without a library that it needs."""

import shlex
import subprocess

import pytest

from scale_sweep.model.resources import Site
from scale_sweep.server.targets import load_target
from scale_sweep.server.targets.mariadb.mariadb_target import Layout
from tests.unit.test_servers import program
from tests.unit.trial_orders import trial_order


@pytest.mark.parametrize(
    ("server", "tables"),
    [
        ("sbin/mariadbd", "share/mysql/mysql_system_tables"),  # Debian
        ("bin/mariadbd", "share/mysql_system_tables"),  # MariaDB's archives of 10
        ("bin/mariadbd", "share/mariadb_system_tables"),  # and of 11
    ],
)
def test_its_files_are_found_in_each_layout(tmp_path, server, tables):
    home = tmp_path / "a home"
    paths = [home / server, home / f"{tables}.sql", home / f"{tables}_data.sql"]
    for path in paths:
        program(path, "#!/bin/sh\necho Ver 11.4.5\n")
    target, trial = load_target("mariadb"), trial_order(tmp_path, "mariadb").trial
    found = target.find(str(home))
    assert (found.home, found.version) == (str(home), "11.4.5")
    spec = target.server(trial, Site(home=found.home, data_dir="/data", bind_address="127.0.0.1", port=1), "secret")
    ((*_, made),) = spec.setup
    assert spec.argv[0] == str(paths[0])
    assert f"cat {shlex.join(map(str, paths[1:]))})" in made
    assert f"--lc-messages-dir={paths[1].parent}" in spec.argv


@pytest.mark.parametrize("names", [("mariadb", "mysql"), ("mysql",)])
def test_in_an_image_the_shell_takes_the_tables_that_are_there(tmp_path, names):
    there = program(tmp_path / "mariadbd", '#!/bin/sh\ncat; echo "$*"\n')
    shares = [tmp_path / "share" / name for name in ("mysql", "mariadb")]
    for name in names:
        for end in (".sql", "_data.sql"):
            program(shares[1] / f"{name}_system_tables{end}", f"{name}{end}")
    tables = tuple(f"{share}/{name}_system_tables" for share in shares for name in ("mariadb", "mysql"))
    layout = Layout(program=str(there), tables=tables)
    share = f"--lc-messages-dir={shares[1]} --character-sets-dir={shares[1]}/charsets"
    made = subprocess.run(["/bin/sh", "-c", layout.made_by(["--a b"])], capture_output=True, text=True, check=True)
    tables = f"CREATE DATABASE mysql;\nUSE mysql;\n{names[0]}.sql{names[0]}_data.sql"
    assert made.stdout == f"{tables}--a b --bootstrap {share}\n"
    ran = subprocess.run(layout.started_by(["--a b"]), input="", capture_output=True, text=True, check=True)
    assert ran.stdout == f"--a b {share}\n"


def test_an_image_is_started_at_the_paths_of_the_vendor(tmp_path):
    target, trial = load_target("mariadb"), trial_order(tmp_path, "mariadb").trial
    site = Site(home="/usr", data_dir="/data", bind_address="0.0.0.0", port=1, in_image=True)
    spec = target.server(trial, site, "secret")
    assert spec.argv[:2] == ("/bin/sh", "-c") and "\nexec /usr/sbin/mariadbd " in spec.argv[2]
    assert set(target.facts.image_files) >= {"/usr/sbin/mariadbd", "/usr/share/mysql/mariadb_system_tables.sql"}


@pytest.mark.parametrize(
    ("library", "package"),
    [("libcrypt.so.1", "libcrypt1"), ("liburing.so.2", "liburing2"), ("libother.so.9", "libother.so.9")],
)
def test_a_library_that_is_missing_is_named_with_its_package(tmp_path, library, package):
    words = f"mariadbd: error while loading shared libraries: {library}: cannot open shared object file: No such file"
    program(tmp_path / "bin" / "mariadbd", f"#!/bin/sh\necho '{words}' >&2\nexit 127\n")
    target, trial = load_target("mariadb"), trial_order(tmp_path, "mariadb").trial
    (finding,) = target.check_installed(str(tmp_path), trial)
    assert (finding.blocking, finding.subject, finding.remedy.split()[-1]) == (True, "mariadb", package)
    assert ("apt-get" in finding.remedy) is (package != library) and library in finding.sentence
