"""A copy of a run that names nobody: numbers stay, and texts that everybody has who has the tool."""

from __future__ import annotations

import ast
import functools
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from scale_sweep.base.errors import StoreError, UsageError
from scale_sweep.judge import method
from scale_sweep.judge.figures.disturbed import DISTURBANCES
from scale_sweep.judge.figures.trial_facts import STEP_LINES
from scale_sweep.loadgen.readers import from_plain as from_row
from scale_sweep.loadgen.readers import reader_of
from scale_sweep.model.declared import COLUMN_TYPES
from scale_sweep.model.measured import TrialResult
from scale_sweep.model.planned import Plan
from scale_sweep.results.identity import sources
from scale_sweep.results.store.codec import from_plain, parsed, to_json
from scale_sweep.results.store.outside import bundled_tables
from scale_sweep.results.store.reader import done_of, folder_of, read_manifest, read_plan
from scale_sweep.results.store.run_lock import status_of
from scale_sweep.results.store.stored import PLAN, TRIAL, Folder, is_there, lines_of, make_folder, read_text, write
from scale_sweep.verify.digests import as_json, differences
from scale_sweep.verify.trial import trial_again

FIELD = "redacted"  # of the manifest: how many different texts were replaced, by the field that held them first
# All that is taken from a manifest: not its command, findings, hosts, tags, writer and addresses.
_KEPT = """
schema tool_version code method created_utc host python seed order_seed disks new_pages held_bytes released
vendor_defaults confounds ceiling_rows_per_s data_disks disk_ceilings disks_share_a_bottleneck disk_placement
trial_ceilings server reported_by repetitions
""".split()
# Names of a user's own things, also if the tool has the same word.
_HIDDEN = """
hostname host hosts user home image endpoint data_dir path mount_point library database inventory others beside
container image_digest sslrootcert sha256 dirs command argv prepare count
""".split()
_NAMED = ("hosts", "tags")  # whose keys are such names
_NUMBERS = {"port": None, "pid": 0}  # in place of theirs
_STAY = re.compile(
    r"[-+]?\d{1,9}(?:\.\d{1,9})? ?(?:[kKMGT]i?B|B|k|M|G|ms|us|µs|s|min|m|h|d|%|x)?"
    r"|\d{1,4}(?:\.\d{1,5}){2}"  # a version; an address has four parts
    r"|\d{4}-\d\d(?:-\d\d)?(?:T\d\d:\d\d:\d\d(?:\.\d+)?\+00:00)?"
    r"|HISTF[A-Za-z0-9+/]+={0,2}"  # a histogram
    r"|(?:[svx]v?d[a-z]{1,2}|nvme\d+n\d+|dm-\d+|md\d+|loop\d+)(?:p?\d{1,3})?|d\d{1,3}|\d{1,4}:\d{1,4}"  # disks
)
_CPU = r"Intel\(R\)|AMD|Ampere|AWS|ARM|Xeon\(R\)|EPYC|Core\(TM\)|Ryzen|Threadripper|PRO|Platinum|Gold|Silver|Bronze"
_CPU += r"|Altra|Max|Graviton\d?|Neoverse-[NVE]\d|CPU|@|Processor|\d+-Core|i[3579]-\d+\w?|\w?\d{3,5}\w{0,3}|v\d"
_SUM, _RANGES = r"-|nan|[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?", r"\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*"
_VERSION = r"(?!(?:10|127|172|192)\.\d+\.\d+\.\d)\d{1,4}(?:\.\d{1,5}){0,3}"
_SYSTEM = r"(?:Debian GNU/Linux|Ubuntu|Fedora Linux|Rocky Linux|AlmaLinux|Amazon Linux|Red Hat Enterprise Linux)"
# By field, what stays of its text; the rest of it is left out.
_BEGINNINGS = {
    "cpu_model": rf"(?:{_CPU})(?: +(?:{_CPU}|[\d.]+GHz))*",
    "os": rf"{_SYSTEM}(?: {_VERSION})?",
    "tool_version": r"\d+\.\d+\.\d+(?:\.dev\d+|\+checkout)?",
    "code": r"[0-9a-f]{16}",
    **dict.fromkeys(("kernel", "version", "server_version"), _VERSION),
    **dict.fromkeys(("right", "stored", "error"), rf"(?:{_SUM})(?: (?:{_SUM}))*"),
    **dict.fromkeys(("devices", "checked_devices", "cpus_allowed"), _RANGES),
}
_PROCESS = re.compile(r"()(.+)( \(pid \d+\) \d+\.\d+ cores)")
# Names inside texts, whose other part the figures need.
_SHAPES = (
    re.compile(rf"()([^:]+)(:(?:{'|'.join(COLUMN_TYPES)})(?:\(\d+\))?)"),
    re.compile(r"()(.+)(\.(?:values|sum|least|greatest|timed))"),
    re.compile(r"((?:lock|mutex|IO): )(.+)()"),
    re.compile(r"()(\S+)( (?:sent|received))"),
)
_JOINED = {"origin": ".", "trial_id": "-", "point_id": "-", "trial_ceilings": "-"}  # several words in one text
_WORD = r"[^\W\d_]+"
_ADDED = re.compile(r"r\d+|[\d.]+")


@functools.cache
def known_texts() -> frozenset[str]:
    """The texts and names in the source of the tool, without paths."""
    texts = {"performance", "powersave", "schedutil", "ondemand", "x86_64", "aarch64"}
    for _, content in sources():
        for node in ast.walk(ast.parse(content)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.add(node.value)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                texts.add(node.target.id)
    return frozenset(text for text in texts if not text.startswith(("/", "~", ".")))


class Redaction:
    """Replaces equal texts by the same name."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self.replaced: Counter[str] = Counter()  # different texts, by field

    def value(self, value: Any, field: str = "") -> Any:
        """A JSON value. field: the nearest name above it that is the tool's own."""
        if isinstance(value, dict):
            return dict(self._entry(key, inner, field) for key, inner in value.items())
        if isinstance(value, list):
            return [self.value(one, field) for one in value]
        if isinstance(value, str):
            return self._text(value, field)
        return _NUMBERS.get(field, value) if isinstance(value, int) else value

    def _entry(self, key: str, inner: Any, field: str) -> tuple[str, Any]:
        if field in _NAMED:
            return self._name(key, field), self.value(inner, "user" if isinstance(inner, str) else "")
        name = self._seen(key, field)
        is_field = field not in _JOINED and name == key and key in known_texts()
        return name, self.value(inner, key if is_field else field)

    def _text(self, text: str, field: str) -> str:
        if field not in _HIDDEN or not text:
            return self._seen(text, field)
        process = _PROCESS.fullmatch(text)
        return self._name(process[2], field) + process[3] if process else self._name(text, field)

    def _seen(self, text: str, field: str) -> str:
        if (beginning := _BEGINNINGS.get(field)) and (match := re.match(beginning, text)):
            self.replaced[field] += match[0] != text
            return match[0]
        if self._stays(text, field):
            return text
        if match := next(filter(None, (shape.fullmatch(text) for shape in _SHAPES)), None):
            return f"{match[1]}{self._seen(match[2], field)}{match[3]}"
        if field == "parameters" and "," in text:
            return ",".join(self._seen(part, field) for part in text.split(","))
        return self._name(text, field)

    @staticmethod
    def _stays(text: str, field: str) -> bool:
        if not text or text in known_texts() or _STAY.fullmatch(text):
            return True
        if field == "label":
            return text.lower().replace(" ", "_") in known_texts()
        parts = text.split(_JOINED[field]) if field in _JOINED else ()
        return bool(parts) and all(part in known_texts() or _ADDED.fullmatch(part) for part in parts)

    def _name(self, text: str, field: str) -> str:
        self.replaced[field or "other"] += text not in self._names
        return self._names.setdefault(text, f"redacted-{len(self._names) + 1}")


def redacted(run: Folder, into: Folder) -> dict[str, Any]:
    """Writes the plan and the trials into the other folder, with what follows from them made again. Returns the copy's
    manifest. Raises UsageError for a run that cannot be redacted, and StoreError."""
    manifest, plan, redaction = read_manifest(run), read_plan(run), Redaction()
    status = status_of(run, manifest)
    if status == "running" or manifest.get("method") != method.METHOD:
        made_by = f"was judged by method {manifest.get('method')}, and this version has {method.METHOD}"
        raise UsageError(f"{run} {'is being written' if status == 'running' else made_by}", remedy="give another run")
    document = redaction.value(parsed(read_text(run, PLAN), run / PLAN)) | {"notes": []}
    if document["sweep"]["reference"] not in bundled_tables():
        document["sweep"]["reference"] = ""
    made = from_plain(document, Plan, into / PLAN)
    refuse_unknown(made, str(run))
    write(into, PLAN, to_json(made).encode())
    for trial, copy in zip(plan.trials, made.trials, strict=True):
        if is_there(run, done_of(trial)):
            make_folder(into, folder_of(copy))
            _trial(run, folder_of(trial), into, made, folder_of(copy), redaction)
    kept = redaction.value({name: manifest[name] for name in _KEPT if name in manifest})
    return {**kept, "sweep": as_json(made.sweep), "status": status, FIELD: dict(sorted((+redaction.replaced).items()))}


def refuse_unknown(plan: Plan, run: str) -> None:
    """Raises UsageError for parts of another package, whose names only it knows."""
    words = {plan.sweep.axis, *(word for t in plan.trials for word in (t.subject.target, t.subject.runtime))}
    if not words | {one.kind_name for t in plan.trials for one in t.work.operations} <= known_texts():
        raise UsageError(f"{run} has a target, an axis or an operation of another package", remedy="export it as --csv")


def _trial(run: Folder, folder: str, into: Folder, plan: Plan, copy: str, redaction: Redaction) -> None:
    for name, text in _raw(run, folder, redaction):
        write(into, f"{copy}/{name}", text.encode())
    path = run / folder / TRIAL
    document = parsed(read_text(run, f"{folder}/{TRIAL}"), path)
    old = redaction.value({**document, "log_tail": "", "verdict": {"kind": document["verdict"]["kind"]}})
    again = trial_again(into, plan, from_plain(old, TrialResult, path))
    write(into, f"{copy}/{TRIAL}", to_json(again.result).encode())
    write(into, f"{copy}/series.csv", again.series.encode())
    new = as_json(again.result)
    figures = (figure for figure, *_ in differences(old["measurement"], new["measurement"]))
    if old["verdict"]["kind"] != new["verdict"]["kind"] or any(not figure.endswith("why") for figure in figures):
        raise StoreError(
            f"{run / folder} cannot be redacted: its raw files without their texts give other figures",
            remedy="scale verify RUN names changed files; scale export RUN --csv FILE writes the table",
        )


def _raw(run: Folder, folder: str, redaction: Redaction) -> Iterator[tuple[str, str]]:
    facts = parsed(read_text(run, f"{folder}/facts.json"), run / folder / "facts.json")
    tool, words = tool_of(facts.get("tool", ""), redaction)
    yield "facts.json", json.dumps({**redaction.value(facts), "tool": tool}, indent=1, ensure_ascii=False)
    yield "server.log", ""
    redaction.replaced["lines of server.log"] += sum(1 for _ in lines_of(run, f"{folder}/server.log"))
    steps = (STEP_LINES.format(number) for number, _ in enumerate(facts.get("step_rates") or (), 1))
    proofs = [DISTURBANCES] if is_there(run, f"{folder}/{DISTURBANCES}") else []
    for name in ("loadgen.jsonl", "samples.jsonl", *steps, *proofs):
        lines = (parsed(line, run / folder / name) for line in lines_of(run, f"{folder}/{name}"))
        is_tool = bool(tool) and name == "loadgen.jsonl"
        made = (of_tool(line, words) if is_tool else redaction.value(line) for line in lines)
        yield name, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in made)


def tool_of(text: str, redaction: Redaction) -> tuple[str, frozenset[str]]:
    """How the output of another program is read, and the words that its reader looks for. Raises UsageError."""
    if not text:
        return "", frozenset()
    try:
        tool = json.loads(text)
        reader = tool["reader"] or {}
        is_ours = not reader or reader_of(reader["programs"]) == from_row(reader)
    except (ValueError, TypeError, KeyError, IndexError):
        is_ours = False
    if not is_ours:
        raise UsageError(
            "a trial's rate is read by an expression of its user (--rate-from)", remedy="export it as --csv"
        )
    patterns = (reader.get("progress", ""), *reader.get("result", ()), *reader.get("details", ()))
    made = {name: redaction.value(value, name) for name, value in tool.items() if name != "reader"}
    return json.dumps({**made, "reader": reader or None}), frozenset(re.findall(_WORD, str(patterns)))


def of_tool(line: dict[str, Any], words: frozenset[str]) -> dict[str, Any]:
    """Numbers and the words of its reader."""
    text = re.sub(r"[^\s(),:;=%]+", lambda m: m[0] if m[0] in words or _STAY.fullmatch(m[0]) else "x", line["text"])
    return {"monotonic_ns": line["monotonic_ns"], "text": text}
