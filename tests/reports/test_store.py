"""The store returns what was put in, once, in order; the command line adds, lists and builds."""

import json
import subprocess
import sys

import pytest
import samples
from weir_reports.records import RecordError, save
from weir_reports.store import Store, store_url


def test_round_trip_is_exact_and_append_only(tmp_path):
    store = Store(str(tmp_path / "weir.db"))
    assert store.add(samples.bench()) and store.add(samples.conformance())
    assert not store.add(samples.bench()), "the second time it is there already"
    assert store.records() == [samples.conformance(), samples.bench()], "oldest first"
    assert store.records("weir.bench/v1") == [samples.bench()]


def test_save_seals_and_refuses_bad_records(tmp_path):
    where = str(tmp_path / "weir.db")
    record = {k: v for k, v in samples.bench().items() if k != "run_id"}
    assert save(record, where) == samples.bench()["run_id"]
    with pytest.raises(RecordError):
        save({**record, "plan": {}}, where)


def test_store_url_keeps_database_urls():
    assert store_url("postgresql+psycopg://host/weir") == "postgresql+psycopg://host/weir"


def test_command_line(tmp_path):
    def weir_report(*args):
        code = "from weir_reports.cli import main; main()"
        return subprocess.run([sys.executable, "-c", code, *args], cwd=tmp_path, capture_output=True, text=True,
                              env={"PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin", "COLUMNS": "120"})

    (tmp_path / "run.json").write_text(json.dumps(samples.conformance()))
    (tmp_path / "bad.json").write_text('{"schema": "weir.bench/v1"}')
    assert weir_report("add", "run.json").returncode == 0
    assert samples.conformance()["run_id"][:12] in weir_report("list").stdout
    built = weir_report("build", "--json")
    assert json.loads(built.stdout)["tally"]["fails"] == 3, built.stderr
    assert (tmp_path / "reports/out/index.html").exists()
    refused = weir_report("add", "bad.json")
    assert refused.returncode == 1 and "required property" in refused.stderr
    assert weir_report("build", "--no-such-option").returncode == 1
