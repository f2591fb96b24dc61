"""scale export --redacted and scale import: no planted secret leaves, the figures stay, and an archive is not trusted."""

import gzip
import io
import json
import os
import re
import tarfile
from pathlib import Path

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.loadgen.readers import pattern_reader, reader_of, to_plain
from scale_sweep.results.store.codec import to_json
from scale_sweep.results.store.files import digest, sums_text
from scale_sweep.results.store.reader import done_of, read_plan, read_result, read_run
from scale_sweep.results.store.stored import Folder
from scale_sweep.verify import redact
from scale_sweep.verify.run import verify_run
from scale_sweep.verify.trial import trial_again
from tests.unit import stored_runs
from tests.unit.test_method import bless
from tests.unit.whole_commands import run as command

TRIAL = "trials/cores-1-r1"
SECRET = re.compile(rb"kestrel|10\.77\.\d+\.\d+", re.IGNORECASE)
# Where a run keeps texts: the file, the way to the value, and the secret; {} is its number.
HOST = {
    "manifest.json": {
        "run": "20260102T030405Z-kestrel{}-postgres-1a2b3c",
        "commit": "kestrel{}",
        "command": ["scale", "sweep", "--endpoint", "10.77.0.{}:5432", "--tag", "kestrel{}"],
        "choice": "postgres 16.2 in /opt/kestrel{}",
        "tags": {"kestrel{}": "kestrel{}"},
        "data_dir": "/srv/kestrel{}/data",
        "metrics_url": "http://kestrel{}:9464/metrics",
        "python": "3.11.7-kestrel{}",
        "findings": [{"subject": "kestrel{}", "sentence": "kestrel{} (pid 7) runs", "remedy": "stop kestrel{}"}],
        "host": {"hostname": "kestrel{}", "os": "Debian GNU/Linux 12 (kestrel{})", "kernel": "6.1.0-kestrel{}"},
        "disks": [{"name": "kestrel{}-vg", "mount_point": "/mnt/kestrel{}", "device": "S4EVNX-kestrel{}"}],
        "data_disks": [{"name": "d1", "path": "/mnt/kestrel{}", "block_name": "kestrel{}", "kind": "dir"}],
        "writer": {"pid": 7, "hostname": "kestrel{}", "boot_id": "kestrel{}"},
        "hosts": {"inventory": "/home/kestrel{}/hosts.ini", "server": "kestrel{}", "load": ["10.77.1.{}"]},
        "server": {"user": "kestrel{}", "cgroup": "/sys/fs/cgroup/kestrel{}", "image_digest": "kestrel{}/postgres@sha256:0"},
        "ceiling_rows_per_s": {"4 threads on kestrel{}": 1000},
        "remote": "git@kestrel{}.example:db/scale.git",
    },
    f"{TRIAL}/trial.json": {
        "effective": {"unix_socket_directories": "/run/kestrel{}", "kestrel{}.key": "kestrel{}"},
        "server": {"container": "kestrel{}", "data_dir": "/srv/kestrel{}"},
        "log_tail": "FATAL: role kestrel{} does not exist",
        "loaded_by": {"name": "kestrel{}", "command": "kestrel{} --password=kestrel{}"},
    },
    f"{TRIAL}/facts.json": {
        "effective": {"listen_addresses": "10.77.2.{}", "kestrel{}": "on"},
        "others": ["kestrel{} (pid 587) 0.96 cores", "python3 /home/kestrel{}/job.py"],
        "beside": ["the sweep in '/home/kestrel{}/results'"],
        "mismatches": [],
        "networks": [{"host": "kestrel{}", "sent_bytes_per_s": 1e9, "received_bytes_per_s": 1e9}],
    },
}  # fmt: skip
SUBJECT = {
    "home": "/opt/kestrel{}",
    "image": "registry.kestrel{}.example/postgres",
    "endpoint": "10.77.3.{}:5432",
    "command": "/opt/kestrel{}/bin/serve --port {{port}}",
    "ready": "log:kestrel{} ready",
}
SWEEP = SUBJECT | {
    "question": "How fast is kestrel{}?",
    "name": "kestrel{}",
    "data_dir": "/srv/kestrel{}",
    "reference": "/home/kestrel{}/table.csv",
    "workload": "kestrel{}",
    "tags": {"kestrel{}": "kestrel{}"},
    "vary": {"kestrel{}": ["kestrel{}"]},
    "variants_ab": {"A": "kestrel{}"},
    "tls": {"sslmode": "verify-full", "sslrootcert": "/etc/kestrel{}.pem", "sha256": "kestrel{}"},
    "port": 54321,
}


class Planted:
    """Fills the numbers of secrets."""

    def __init__(self) -> None:
        self.count = 0

    def filled(self, value):
        if isinstance(value, dict):
            return {self.filled(key): self.filled(one) for key, one in value.items()}
        if isinstance(value, list):
            return [self.filled(one) for one in value]
        while isinstance(value, str) and "{}" in value:
            self.count += 1
            value = value.replace("{}", str(self.count), 1)
        return value.replace("{{", "{").replace("}}", "}") if isinstance(value, str) else value

    def into(self, file: Path, *changes) -> None:
        document = json.loads(file.read_text())
        for change in changes:
            change(document)
        file.write_text(json.dumps(document))


def merged(old, new):
    """Objects entry by entry; everything else is replaced."""
    if isinstance(old, dict) and isinstance(new, dict):
        return {**old, **{key: merged(old.get(key), value) for key, value in new.items()}}
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [merged(*pair) for pair in zip(old, new, strict=True)]
    return new


def plant(run: Path) -> int:
    """Texts that nobody else may see, in every file; returns how many."""
    planted = Planted()
    for file, texts in HOST.items():
        planted.into(run / file, lambda document, texts=texts: document.update(merged(document, planted.filled(texts))))
    names = planted.filled({"kestrel{}": "/mnt/kestrel{}"})
    for file in (run / "plan.json", run / "manifest.json"):
        sweep = planted.filled(SWEEP)
        planted.into(file, lambda document, sweep=sweep: document["sweep"].update(sweep))

    def of_plan(document):
        document["notes"] = planted.filled(["kestrel{} shares CPUs"])
        document["confounds"] = planted.filled(
            [{"knob": "kestrel{}", "values": ["kestrel{}"], "sentence": "kestrel{}"}]
        )
        for trial in document["trials"]:
            trial["subject"].update(planted.filled(SUBJECT))
            trial["knobs"].update(names)
            trial["work"]["data"]["columns"] = planted.filled(["kestrel{}:float", "kestrel{}:int"])
            trial["work"]["data"]["tag_prefix"] = planted.filled("kestrel{}")

    planted.into(run / "plan.json", of_plan)
    trials = {trial["trial_id"]: trial for trial in json.loads((run / "plan.json").read_text())["trials"]}
    for folder in (run / "trials").iterdir():
        planted.into(folder / "trial.json", lambda document, own=trials[folder.name]: document.update(trial=own))
        with (folder / "server.log").open("a") as log:
            log.write(planted.filled("LOG: connection received: host=10.77.4.{} user=kestrel{}\n"))
        lines = [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]
        for line in lines:
            for name in ("thread_cpu_s_total", "generator_wanted_cores", "waits_total", "network_bytes_total"):
                line[name] = {"kestrel901": 1.0, "lock: kestrel902": 1.0, "kestrel903 sent": 2.0, "IO: kestrel904": 0.0}
        (folder / "samples.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        text = (folder / "loadgen.jsonl").read_text()
        library = planted.filled('"library": "/home/kestrel{}/libpq.so", "host": "10.77.5.{}"')
        (folder / "loadgen.jsonl").write_text(text.replace('"library": "libpq"', library))
    (run / "trials" / "cores-1-r1" / "spec").write_text("host=10.77.6.1\nuser=kestrel990\n")
    judge_again(run)
    return planted.count


def judge_again(run: Path) -> None:
    """As if it had been measured so."""
    plan = read_plan(Folder(run))
    for trial in plan.trials:
        again = trial_again(Folder(run), plan, read_result(Folder(run), done_of(trial)))
        (run / done_of(trial)).write_text(to_json(again.result))
    bless(run)


def contents(archive: Path) -> dict[str, bytes]:
    with tarfile.open(archive) as opened:
        return {m.name: opened.extractfile(m).read() for m in opened.getmembers() if m.isfile()}


def exported(run: Path, cwd: Path, *more: str) -> Path:
    done = command("export", str(run), "--redacted", "--out", "run.tar.gz", *more, cwd=cwd)
    assert done.code == 0, done.stderr
    return cwd / "run.tar.gz"


def test_no_planted_secret_leaves_and_the_run_is_verified_elsewhere(tmp_path):
    run = stored_runs.unpacked("cpu", tmp_path / "kestrel-results")
    assert plant(run) >= 50
    before = read_run(run)
    archive = exported(run, tmp_path)
    raw = archive.read_bytes()
    assert SECRET.search(gzip.decompress(raw)) is None and SECRET.search(raw) is None
    files = contents(archive)
    assert [name for name in files if name.endswith(("spec", "journal.jsonl", ".html", ".md"))] == []
    (tmp_path / "elsewhere").mkdir()
    done = command("import", str(archive), cwd=tmp_path / "elsewhere")
    assert done.code == 0, done.stderr
    (imported,) = (tmp_path / "elsewhere/results").iterdir()
    assert verify_run(imported).agrees
    for path in imported.rglob("*"):
        assert path.is_dir() or SECRET.search(path.read_bytes()) is None
        assert SECRET.search(str(path.relative_to(imported)).encode()) is None
    after = read_run(imported)
    assert [r.achieved_per_s for r in after.results] == [r.achieved_per_s for r in before.results]
    assert [r.verdict.kind for r in after.results] == [r.verdict.kind for r in before.results]
    assert after.plan.sweep.port is None
    assert "imported, redacted" in (imported / "report.md").read_text()
    assert "imported, redacted" in (imported / "report.html").read_text()
    recorded = json.loads((imported / "manifest.json").read_text())["redacted"]
    assert recorded["hostname"] == 1 and recorded["lines of server.log"] > 0 and sum(recorded.values()) >= 50


def test_every_text_of_the_manifest_and_the_facts_is_replaced_unless_the_tool_has_it(tmp_path):
    """Each one in turn is a secret: whatever its key, it does not leave."""
    run = stored_runs.unpacked("cpu", tmp_path)
    numbers = iter(range(1, 10_000))

    def poisoned(value, key=""):
        if isinstance(value, dict):
            return {name: poisoned(one, name) for name, one in value.items()}
        if isinstance(value, list):
            return [poisoned(one, key) for one in value] or value
        return f"{value} kestrel{next(numbers)}" if isinstance(value, str) and key not in KEPT else value

    for file in ("manifest.json", f"{TRIAL}/facts.json"):
        path = run / file
        document = json.loads(path.read_text())
        sweep = document.pop("sweep", None)
        path.write_text(json.dumps(poisoned(document) | ({"sweep": sweep} if sweep else {})))
    judge_again(run)
    assert next(numbers) > 30
    assert SECRET.search(gzip.decompress(exported(run, tmp_path).read_bytes())) is None


KEPT = ("status", "created_utc", "summed", "tool")


@pytest.mark.parametrize("name", ["varied", "aborted", "ablation", "killed"])
def test_other_runs_go_and_arrive_with_their_figures(name, tmp_path):
    run = stored_runs.unpacked(name, tmp_path)
    archive = exported(run, tmp_path)
    done = command("import", str(archive), "--results", "there", cwd=tmp_path)
    assert done.code == 0, done.stderr
    (imported,) = (tmp_path / "there").iterdir()
    before, after = read_run(run), read_run(imported)
    assert [r.measurement.rows_per_s for r in after.results] == [r.measurement.rows_per_s for r in before.results]
    assert command("verify", str(imported), cwd=tmp_path).code == 0


@pytest.fixture(scope="module")
def archive(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("archive")
    return exported(stored_runs.unpacked("cpu", folder), folder)


def test_an_imported_run_is_read_and_compared_but_never_continued(archive, tmp_path):
    original = stored_runs.unpacked("cpu", tmp_path / "mine")
    assert command("import", str(archive), cwd=tmp_path).code == 0
    refused = command("resume", "last", cwd=tmp_path)
    assert refused.code == 2 and len(refused.stderr.splitlines()) == 2
    assert "an imported run cannot be continued" in refused.stderr
    for words in ("show last", "report last", "verify last", "list", f"compare {original} last"):
        done = command(*words.split(), cwd=tmp_path)
        assert done.code == 0, (words, done.stderr)
    again = command("import", str(archive), cwd=tmp_path)
    assert again.code == 6 and "exists already" in again.stderr


def rewritten(archive: Path, out: Path, change) -> Path:
    """change: of the files by their names without the run's; may return more members."""
    members = contents(archive)
    name = next(iter(members)).partition("/")[0]
    files = {key.partition("/")[2]: value for key, value in members.items()}
    more = change(files) or []
    with tarfile.open(out, "w:gz") as made:
        for key, value in files.items():
            member = tarfile.TarInfo(f"{name}/{key}")
            member.size = len(value)
            made.addfile(member, io.BytesIO(value))
        for member, value in more:
            member.name = member.name.replace("RUN", name)
            made.addfile(member, io.BytesIO(value))
    return out


def with_digests(files: dict[str, bytes]) -> None:
    files.pop("SHA256SUMS")
    files["SHA256SUMS"] = sums_text({name: digest(content) for name, content in files.items()}).encode()


def edited(file: str, old: bytes, new: bytes, *, covers: bool = True):
    def change(files):
        assert old in files[file]
        files[file] = files[file].replace(old, new, 1)
        if covers:
            with_digests(files)

    return change


def added(name: str, content: bytes = b"x", **fields):
    def change(files):
        member = tarfile.TarInfo(name)
        for field, value in fields.items():
            setattr(member, field, value)
        member.size = len(content) if member.isreg() else 0
        return [(member, content)]

    return change


def unlisted(name: str):
    def change(files):
        files[name] = b"<script>"
        with_digests(files)

    return change


ATTACKS = {
    "a changed digest": (edited("plan.json", b'"seed": 42', b'"seed": 43', covers=False), "did not arrive whole"),
    "a changed figure": (edited(f"{TRIAL}/trial.json", b'"kind": "VALID"', b'"kind": "UNSTEADY"'), "does not agree"),
    "no redaction": (edited("manifest.json", b'"redacted"', b'"other"'), "did not make it"),
    "a file to read": (edited("plan.json", b'"reference": ""', b'"reference": "/etc/passwd"'), "did not make it"),
    "a page of its own": (unlisted("report-evil.html"), "did not make it"),
    "a file of no run": (unlisted("trials/cores-1-r1/run.sh"), "did not make it"),
    "an absolute name": (added("/tmp/kestrel"), "not the archive"),
    "a name above": (added("RUN/../../kestrel"), "not the archive"),
    "a second run": (added("kestrel/manifest.json"), "not the archive"),
    "a symbolic link": (added("RUN/link", type=tarfile.SYMTYPE, linkname="/etc/passwd"), "not the archive"),
    "a hard link": (added("RUN/link", type=tarfile.LNKTYPE, linkname="/etc/passwd"), "not the archive"),
    "a device": (added("RUN/null", type=tarfile.CHRTYPE, devmajor=1, devminor=3), "not the archive"),
    "a deep name": (added("RUN/" + "a/" * 2000 + "b"), "not the archive"),
    "a file that is not listed": (added("RUN/trials/cores-1-r1/loadgen.jsonl.old"), "did not make it"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_archive_is_not_trusted(name, archive, tmp_path):
    change, words = ATTACKS[name]
    made = rewritten(archive, tmp_path / "attack.tar.gz", change)
    done = command("import", str(made), "--results", "results", cwd=tmp_path)
    assert done.code == 6 and words in done.stderr, done.stderr
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [made]
    assert list((tmp_path / "results").iterdir()) == []


def bomb(name: str, size: int) -> bytes:
    """A member of so many zeros, which are a thousandth of it compressed."""
    content = io.BytesIO()
    with gzip.GzipFile(fileobj=content, mode="wb", compresslevel=1) as made:
        member = tarfile.TarInfo(name)
        member.size = size
        made.write(member.tobuf())
        block = bytes(1 << 24)
        for _ in range(size >> 24):
            made.write(block)
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "did not arrive"),
        (b"no archive", "did not arrive"),
        (bomb("run/manifest.json", 1 << 26), "too large"),
        (bomb("run/samples.jsonl", 5 << 28), "too large"),
        (gzip.compress(bytes(10240)), "not the archive"),
        (gzip.compress(os.urandom(10240))[:-9000], "did not arrive"),
    ],
    ids=["empty", "no archive", "a huge document", "huge", "no member", "damaged"],
)
def test_what_is_no_archive_or_too_large_is_refused_with_one_message(content, words, tmp_path):
    (tmp_path / "run.tar.gz").write_bytes(content)
    done = command("import", "run.tar.gz", cwd=tmp_path)
    assert done.code == 6 and words in done.stderr, done.stderr
    assert done.memory_mb < 500
    assert list((tmp_path / "results").iterdir()) == []


def test_a_link_to_an_archive_a_folder_and_nothing_are_refused(archive, tmp_path):
    (tmp_path / "link.tar.gz").symlink_to(archive)
    for name, code in (("link.tar.gz", 6), (".", 2), ("absent.tar.gz", 2)):
        done = command("import", name, cwd=tmp_path)
        assert done.code == code and len(done.stderr.splitlines()) <= 2, done.stderr


def test_values_that_no_sweep_makes_are_refused(archive, tmp_path):
    """Digests, names and types are right."""
    change = edited(f"{TRIAL}/facts.json", b'"tool": ""', b'"tool": "{\\"reader\\": {\\"programs\\": [1]}}"')
    done = command("import", str(rewritten(archive, tmp_path / "a.tar.gz", change)), cwd=tmp_path)
    assert done.code == 2 and "--rate-from" in done.stderr

    def change(files):
        files["plan.json"] = files["plan.json"].replace(b'"target": "postgres"', b'"target": "kestreldb"')
        with_digests(files)

    done = command("import", str(rewritten(archive, tmp_path / "b.tar.gz", change)), cwd=tmp_path)
    assert done.code == 2 and "another package" in done.stderr
    change = edited("manifest.json", b'"disks": [', b'"disks": [7, ')
    done = command("import", str(rewritten(archive, tmp_path / "c.tar.gz", change)), cwd=tmp_path)
    assert done.code in (0, 6) and "Traceback" not in done.stderr


PGBENCH = reader_of(("pgbench",))


def test_of_another_program_s_output_the_reader_s_words_and_the_numbers_stay():
    program = {"name": "pgbench", "command": "pgbench -h kestrel -U kestrel"}
    stored = json.dumps({"reader": to_plain(PGBENCH), "program": program, "started_ns": 5})
    text, words = redact.tool_of(stored, redact.Redaction())
    assert "kestrel" not in text and json.loads(text)["reader"]["name"] == "pgbench"
    lines = {
        "progress: 1.0 s, 546.0 tps, lat 7.002 ms, 0 failed": "progress: 1.0 s, 546.0 tps, x 7.002 ms, 0 failed",
        "connection to server at kestrel (10.77.0.1), port 5432": "x x x x x (x), x 5432",
        "tps = 337.157857 (without /home/kestrel)": "tps = 337.157857 (without x)",
    }
    for line, wanted in lines.items():
        assert redact.of_tool({"monotonic_ns": 7, "text": line}, words) == {"monotonic_ns": 7, "text": wanted}
    own = json.dumps({"reader": to_plain(pattern_reader("kestrel ([0-9]+)")), "program": program})
    for odd in (own, "[]", "{", '{"reader": {"programs": []}}'):
        with pytest.raises(UsageError, match="--rate-from"):
            redact.tool_of(odd, redact.Redaction())


def test_runs_that_cannot_be_redacted_are_refused(tmp_path):
    run = stored_runs.unpacked("cpu", tmp_path)
    manifest = run / "manifest.json"
    text = manifest.read_text()
    manifest.write_text(re.sub(r'"method": \d+', '"method": 1', text, count=1))
    done = command("export", str(run), "--redacted", cwd=tmp_path)
    assert done.code == 2 and "method 1" in done.stderr
    manifest.write_text(text)
    plan = (run / "plan.json").read_text()
    (run / "plan.json").write_text(plan.replace('"target": "postgres"', '"target": "kestreldb"'))
    done = command("export", str(run), "--redacted", cwd=tmp_path)
    assert done.code == 2 and "another package" in done.stderr
    done = command("export", str(run), "--out", "x", "--csv", "y", cwd=tmp_path)
    assert done.code == 2 and "--out" in done.stderr
    assert not list(tmp_path.glob("*.tar.gz")) and not (tmp_path / "x").exists()


def test_texts_of_the_tool_stay_and_paths_and_addresses_never_do():
    made = redact.Redaction()
    kept = {"axis": "cores", "cpu_model": "AMD EPYC 9554 64-Core Processor", "note": "128MB", "version": "3.3.6.13"}
    assert made.value(kept) == kept
    gone = {"note": "/var/lib/scale", "sentence": "10.0.0.5", "kernel": "6.1.0-21-kestrel", "hostname": "postgres"}
    assert list(made.value(gone).values()) == ["redacted-1", "redacted-2", "6.1.0", "redacted-3"]
    assert made.value({"note": "/var/lib/scale"}) == {"note": "redacted-1"}
    assert made.value({"version": "10.77.0.1"}) == {"version": "redacted-4"}
    assert +made.replaced == {"note": 1, "sentence": 1, "kernel": 1, "hostname": 1, "version": 1}
