"""TLS to a server that runs already: flags, the file of authorities, what a connection gets, and a resume."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.model.declared import Subject, Tls
from scale_sweep.plan.preparing.own_runs import named
from scale_sweep.results.store.reader import read_run
from scale_sweep.server.targets import load_target
from scale_sweep.server.targets.certificates import root_certificate, root_file
from scale_sweep.server.targets.planned import planned_spec
from tests.unit import whole_commands
from tests.unit.factories import make_trial
from tests.unit.stored_runs import unpacked

AT = ("plan", "cpu", "--cores", "1", "--endpoint", "127.0.0.1:1")


def make_authority(path):
    words = (
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=ca -keyout /dev/null -out"
    )
    subprocess.run(["openssl", *words.split(), path], check=True, capture_output=True)


@pytest.fixture
def authority(tmp_path):
    """The file of a certificate."""
    make_authority(tmp_path / "ca.pem")
    return tmp_path / "ca.pem"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--target questdb --sslmode require", "--sslmode: is only for postgres"),
        ("--target mariadb --sslmode disable", "--sslmode: is only for postgres"),
        ("--target postgres --sslmode requir", "did you mean require?"),
        ("--target postgres --sslmode verify-full", "Add --sslrootcert FILE"),
        ("--target postgres --sslmode require --sslrootcert ca.pem", "is not read with --sslmode require"),
        ("--target postgres --sslrootcert ca.pem", "is not read with --sslmode prefer"),
        ("--target postgres --sslmode verify-ca --sslrootcert none.pem", "none.pem: No such file"),
        ("--target postgres --sslmode verify-ca --sslrootcert system", "/etc/ssl/certs/ca-certificates.crt"),
        ("--target postgres --sslmode verify-ca --sslrootcert .", "Is a directory"),
        ("--target postgres --sslmode verify-ca --sslrootcert /dev/null", "is not a regular file"),
        ("--target postgres --sslmode verify-ca --sslrootcert link.pem", "is a link; name the file itself"),
        ("--target postgres --sslmode verify-ca --sslrootcert text.pem", "is no certificate in PEM"),
        ("--target postgres --sslmode verify-ca --sslrootcert binary.pem", "openssl x509 -inform der"),
        ("--target postgres --sslmode verify-ca --sslrootcert open.pem", "can be changed by other users (mode 0666)"),
        (
            "--target postgres --sslmode verify-ca --sslrootcert open/ca.pem",
            "can be changed by other users (mode 0777)",
        ),
    ],
)
def test_a_wrong_flag_or_file_is_refused_in_one_sentence(words, said, authority, tmp_path):
    (tmp_path / "link.pem").symlink_to(authority)
    (tmp_path / "text.pem").write_text("-----BEGIN CERTIFICATE-----\n")
    (tmp_path / "binary.pem").write_bytes(b"\x30\x82\xff")
    (tmp_path / "open.pem").write_text(authority.read_text())
    (tmp_path / "open.pem").chmod(0o666)
    (tmp_path / "open").mkdir(mode=0o777)
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "open/ca.pem").write_text(authority.read_text())
    done = whole_commands.run(*AT, *words.split(), cwd=tmp_path)
    assert done.code == 2 and said in done.stderr, done.stderr
    assert len([line for line in done.stderr.splitlines() if line.startswith(("scale:", "--"))]) == 1, done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--target postgres --sslmode require", "name the server with --endpoint HOST:PORT"),
        ("--target questdb --sslmode require", "--sslmode: is only for postgres"),
        ("--target postgres,questdb --sslmode verify-full", "questdb is not reached by libpq"),
    ],
)
def test_tls_without_a_running_server_is_refused(words, said, tmp_path):
    done = whole_commands.run("plan", "cpu", "--cores", "1", *words.split(), cwd=tmp_path)
    assert done.code == 2 and said in done.stderr and done.stderr.count("--ssl") == 1, done.stderr


def test_a_sweep_file_names_mode_and_file_and_the_plan_shows_them(authority, tmp_path):
    target = (
        f'[target]\nname = "postgres"\nendpoint = "127.0.0.1:1"\nsslmode = "verify-ca"\nsslrootcert = "{authority}"\n'
    )
    (tmp_path / "file.toml").write_text(f'{target}[axis]\ncores = "1"\n')
    done = whole_commands.run("plan", "file.toml", cwd=tmp_path)
    assert "verify-ca" in done.stdout and "ca.pem" in done.stdout, done.stdout


def spec_of(tls):
    subject = Subject(target="postgres", runtime="endpoint", method="copy", endpoint="127.0.0.1:1", tls=tls)
    return planned_spec(replace(make_trial(), subject=subject), load_target("postgres"))


def test_the_environment_does_not_choose_the_mode_or_the_file(monkeypatch):
    monkeypatch.setenv("PGSSLMODE", "verify-full")
    monkeypatch.setenv("PGSSLROOTCERT", "/x")
    spec = spec_of(None)
    assert (spec["sslmode"], spec["sslrootcert"]) == ("prefer", "/nonexistent") and "gssencmode" not in spec
    spec = spec_of(Tls(sslmode="require"))
    assert (spec["sslmode"], spec["sslrootcert"], spec["gssencmode"]) == ("require", "/nonexistent", "disable")


def test_a_connection_reads_what_was_read_once(authority):
    fields = root_certificate(str(authority))
    tls, read = Tls(sslmode="verify-ca", **fields), authority.read_text()
    authority.write_text("changed")
    path = spec_of(tls)["sslrootcert"]
    assert Path(path).read_text() == Path(path).read_text() == read and fields["sslrootcert"] == str(authority)


def test_a_resume_needs_the_same_file(authority):
    tls = Tls(sslmode="verify-ca", sslrootcert=str(authority), sha256="0" * 64)
    with pytest.raises(UsageError, match="was changed since the run began") as refused:
        root_file(tls)
    assert "start a new sweep" in refused.value.remedy


def test_a_run_of_somebody_else_reads_no_file_until_it_is_named_again(tmp_path):
    run = read_run(unpacked("killed", tmp_path))
    trials = [
        replace(t, subject=replace(t.subject, tls=Tls(sslmode="verify-ca", sslrootcert="/x"))) for t in run.plan.trials
    ]
    assert named(replace(run, plan=replace(run.plan, trials=tuple(trials))))["--sslrootcert"] == ("/x",)


@pytest.mark.parametrize(
    ("reason", "remedy"),
    [
        ('server certificate for "db.test" does not match host name "127.0.0.1"', "--endpoint"),
        ("SSL error: certificate verify failed", "--sslrootcert"),
        ("server does not support SSL, but SSL was required", "ssl = on"),
        ('no pg_hba.conf entry for host "::1", user "u", database "d", no encryption', "--sslmode require"),
        ("password authentication failed", ""),
    ],
)
def test_each_refusal_of_libpq_has_its_remedy(reason, remedy):
    said = load_target("postgres").remedy_for(f"connection failed: {reason}")
    assert remedy in said and bool(said) == bool(remedy)
