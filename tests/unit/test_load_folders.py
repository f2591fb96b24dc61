"""The folder of a client's configuration goes to a load host with its own path in it."""

from scale_sweep.loadgen.folders import folders_of, written


def test_a_folder_of_a_spec_is_written_elsewhere_with_its_new_path(tmp_path):
    there, here = tmp_path / "there/client", tmp_path / "here"
    there.mkdir(parents=True)
    here.mkdir()
    (there / "taos.cfg").write_text(f"firstEp 10.0.0.1:6030\nlogDir {there}\n")
    (there / "taoslog0.0").write_text("a log")
    spec = {"client_config": str(there), "method": "stmt"}
    own = written(spec, folders_of(spec), here)
    assert own == {"client_config": str(here / "client_config"), "method": "stmt"}
    (only,) = (here / "client_config").iterdir()
    assert only.read_text().split() == ["firstEp", "10.0.0.1:6030", "logDir", str(here / "client_config")]
    assert (here / "client_config").stat().st_mode & 0o777 == 0o700
    written({}, {"client_config": {"../../x.cfg": "a"}}, tmp_path)
    assert (tmp_path / "client_config/x.cfg").read_text() == "a"
    assert written({"client_config": ""}, folders_of({"client_config": ""}), tmp_path) == {"client_config": ""}
