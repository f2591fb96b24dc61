"""The plan warns of a capacity search whose rows may fill the place of its data before the last step."""

from whole_commands import run

SEARCH = ("cpu", "--cores", "1", "--target", "postgres", "--slo", "p99 < 20ms", "--data-dir")


def planned(folder, *words):
    done = run("plan", *words, cwd=folder)
    assert "Trials" in done.stdout, done.stderr
    return [line for line in done.stderr.splitlines() if "a search writes up to" in line]


def test_a_search_that_may_fill_its_disk_in_memory_is_named_with_its_bytes(tmp_path):
    (line,) = planned(tmp_path, *SEARCH, "ram:256MiB", "--duration", "10s")
    assert line.strip().startswith("--slo: a search writes up to about ")
    assert "300,000 rows/s, assumed, in " in line and "bytes a row" in line
    assert "0.3 GB are there" in line
    assert "a shorter --duration" in line


def test_what_fits_and_what_searches_nothing_is_not(tmp_path):
    fits = ("--columns", "a:int", "--rows-per-request", "10", "--duration", "1s", "--warmup", "1s")
    assert not planned(tmp_path, *SEARCH, "ram:4GiB", *fits)
    assert not planned(tmp_path, *SEARCH[:5], "--data-dir", "ram:256MiB")
