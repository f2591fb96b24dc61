"""What a server removes while its directory is walked is left out."""

import shutil

from scale_sweep.base.input_file import below


def test_everything_below_and_nothing_of_a_missing_directory(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").touch()
    assert sorted(str(p.relative_to(tmp_path)) for p in below(tmp_path)) == ["a", "a/b", "a/b/file"]
    assert list(below(tmp_path / "missing")) == []


def test_a_directory_that_goes_during_the_walk_is_left_out(tmp_path):
    for name in "abc":
        (tmp_path / name / "deeper").mkdir(parents=True)
        (tmp_path / name / "deeper" / "file").touch()
    seen = []
    for path in below(tmp_path):
        if not seen:
            shutil.rmtree(tmp_path / "b")
        seen.append(str(path.relative_to(tmp_path)))
    assert {"a/deeper/file", "c/deeper/file"} <= set(seen)
    assert "b/deeper/file" not in seen
