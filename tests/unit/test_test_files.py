"""Test files can all be collected in one run: pytest imports them by their base names, so no two may share one."""

from collections import Counter
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]


def test_each_test_file_has_a_name_of_its_own():
    names = Counter(path.name for path in TESTS.rglob("test_*.py"))
    assert "test_test_files.py" in names
    assert [name for name, count in names.items() if count > 1] == []
