"""The schema of sweep files accepts what the reader accepts and refuses unknown keys; `scale init` prints a sweep file."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from scale_sweep.cli.commands import load_command
from scale_sweep.experiment.axes import all_axes
from scale_sweep.machine.host import read_host
from scale_sweep.sweep.find import bundled_sweeps
from scale_sweep.sweep.resolve import resolve_sweep
from scale_sweep.sweep.schema import SCHEMA_FILE, first_file, sweep_schema
from scale_sweep.sweep.settings import SETTINGS

ROOT = Path(__file__).resolve().parents[2]
CHECK = Draft7Validator(sweep_schema())


def mistakes(text: str) -> list[str]:
    return [error.message for error in CHECK.iter_errors(tomllib.loads(text))]


def test_the_schema_is_a_schema_and_has_every_key():
    Draft7Validator.check_schema(sweep_schema())
    sections = sweep_schema()["properties"]
    for setting in SETTINGS:
        section, dot, name = setting.key.partition(".")
        if dot and setting.key != "knobs.other":
            assert name in sections[section]["properties"], setting.key
        elif not dot:
            assert section in sections, setting.key
    json.dumps(sweep_schema())


@pytest.mark.parametrize("path", bundled_sweeps().values(), ids=lambda path: path.name)
def test_every_sweep_of_the_project_follows_the_schema(path):
    assert not mistakes(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[load]\ndurations = '4s'", ["durations"]),
        ("[loads]\nduration = '4s'", ["loads"]),
        ("[load]\narrival = 'burst'", ["burst"]),
        ("[load]\nquick = 'yes'", ["yes"]),
        ("name = 4", ["4"]),
        ("[mix]\nwrite = 'nine'", ["nine"]),
        ("[knobs]\nwal_level = 2\n[tags]\nrack = 'a'\n[vary]\nconnections = [4, 8]", []),
    ],
)
def test_the_schema_names_a_mistake_and_accepts_settings_of_a_server_and_lists(text, named):
    found = mistakes(text)
    assert len(found) == len(named)
    assert all(name in found[0] for name in named)


@pytest.mark.parametrize("axis", all_axes(), ids=lambda axis: axis.facts.command)
def test_a_first_file_is_a_sweep_and_so_is_each_of_its_comments(axis, tmp_path):
    text = first_file(axis, "null")
    assert text.startswith(f"#:schema {SCHEMA_FILE}\n")
    path = tmp_path / "first.toml"
    path.write_text(text, encoding="utf-8")
    assert resolve_sweep(str(path), {}, read_host()).axis == axis.facts.name
    path.write_text(re.sub(r"^# (\w+ = )", r"\1", text, flags=re.MULTILINE), encoding="utf-8")
    assert not mistakes(path.read_text(encoding="utf-8"))
    assert resolve_sweep(str(path), {}, read_host()).target == "null"


def test_the_commands_print_both(capfd):
    for words in (["init", "cpu", "--target", "postgres"], ["schema"]):
        load_command(words[0]).main(words[1:], standalone_mode=False)
    printed = capfd.readouterr().out
    assert 'name = "postgres"' in printed
    assert '"$schema": "http://json-schema.org/' in printed
