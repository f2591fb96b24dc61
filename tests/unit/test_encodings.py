"""Files have one encoding, whatever the locale: held by reading the source for calls that leave it open."""

import ast
from pathlib import Path

from tests.offenders import assert_none

SOURCE = Path(__file__).resolve().parents[2] / "runner" / "scale_sweep"
# Calls that open a text, and where their mode stands; without one, "r".
MODES = {"open": 1, "os.fdopen": 1, "tempfile.NamedTemporaryFile": 0}


def leaves_it_open(call: ast.Call) -> bool:
    """Whether the call reads or writes a text by the locale's encoding."""
    given = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
    name = ast.unparse(call.func)
    if "encoding" in given or name == "tempfile.NamedTemporaryFile" and not call.args:
        return False
    if name in MODES:
        mode = call.args[MODES[name]] if len(call.args) > MODES[name] else None
        return "b" not in (ast.unparse(mode) if mode else given.get("mode", ""))
    return name.endswith((".read_text", ".write_text")) or given.get("text") == "True"


def test_every_text_that_is_read_or_written_is_utf_8():
    for words in ("path.read_text()", "subprocess.run(x, text=True)", "open(path)", "os.fdopen(n, 'w')"):
        assert leaves_it_open(ast.parse(words, mode="eval").body), words
    offenders = [
        f"{path.relative_to(SOURCE)}, line {node.lineno}: {ast.unparse(node)[:80]}"
        for path in sorted(SOURCE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and leaves_it_open(node)
    ]
    assert_none(offenders, 'a text without encoding="utf-8"')
