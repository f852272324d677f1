"""The profiler: ops and scopes with times, nesting, shapes, threads, backward, and the trace file."""

import gzip
import json
import threading

import pytest
import weir
from weir.profiler import profile, record_function


def profiled(run, **options):
    with profile(**options) as found:
        run()
    return found


def test_ops_are_counted_and_composites_hold_their_parts():
    x = weir.ones(64, 64)
    found = {e.name: e for e in profiled(lambda: [weir.nn.functional.cross_entropy(x, weir.zeros(64, dtype=weir.int64)) for _ in range(3)]).key_averages()}
    whole, part = found["aten::cross_entropy"], found["aten::log_softmax"]
    assert whole.count == part.count == 3
    assert whole.cpu_time_total >= part.cpu_time_total + whole.self_cpu_time_total > 0


def test_scopes_hold_ops():
    def run():
        with record_function("outer"):
            weir.ones(100, 100) @ weir.ones(100, 100)

    found = profiled(run)
    scope, product = (next(e for e in found.events() if e.name == name) for name in ("outer", "aten::matmul"))
    assert scope.start_us <= product.start_us and scope.self_cpu_time_total <= scope.cpu_time_total - product.cpu_time_total


def test_backward_and_other_threads():
    def run():
        x = weir.ones(3, requires_grad=True)
        worker = threading.Thread(target=lambda: weir.cos(x))
        worker.start(), worker.join()
        weir.exp(x).sum().backward()

    names = {e.name: e.thread for e in profiled(run).events()}
    assert names["aten::cos"] != names["aten::exp"]
    assert "aten::mul" in names, "the gradient of exp"


def test_shapes():
    found = profiled(lambda: (weir.ones(2, 3) + weir.ones(3), weir.ones(5) + 1), record_shapes=True).key_averages(group_by_input_shape=True)
    assert sorted(e.input_shapes for e in found if e.name == "aten::add") == [[[2, 3], [3]], [[5], []]]
    assert "Input Shapes" in found.table(sort_by="cpu_time_total", row_limit=2)
    assert all(not e.input_shapes for e in profiled(lambda: weir.ones(5) + 1).events())


def test_nothing_is_recorded_outside():
    first = profiled(lambda: weir.ones(2))
    weir.cos(weir.ones(2))
    assert "aten::cos" not in {e.name for e in profiled(lambda: weir.sin(weir.ones(2))).events() + first.events()}


def test_an_op_that_raises_is_recorded():
    def run():
        with pytest.raises(RuntimeError):
            weir.ones(2) + weir.ones(3)

    assert "aten::add" in {e.name for e in profiled(run).events()}


def test_a_table_is_cut_and_sorted_as_asked():
    def run():
        with record_function("a scope of a long name"):
            for _ in range(3):
                weir.ones(2, 3) + weir.ones(3)

    found = profiled(run, record_shapes=True)
    averages = found.key_averages(group_by_input_shape=True)
    assert "a scope of a long name" in averages.table() and "a scop..." in averages.table(None, 100, 75, 9)
    lines = averages.table("count", header="by count", time_unit="s").splitlines()
    assert lines[1] == "by count" and "a scope" in lines[-3] and lines[-1].endswith("s") and "us" not in lines[-1]
    assert [len(averages.table("self_cuda_time_total", n).splitlines()) for n in (1, 2)] == [6, 7]
    assert "aten::add" not in found.events().table(top_level_events_only=True)
    with pytest.raises(AttributeError):
        averages.table("colour")


def test_a_compressed_trace(tmp_path):
    found = profiled(lambda: weir.ones(2))
    found.export_chrome_trace(str(tmp_path / "trace.json.gz"))
    with gzip.open(tmp_path / "trace.json.gz", "rt") as file:
        assert json.load(file)["traceEvents"]


def test_trace_file(tmp_path):
    found = profiled(lambda: weir.ones(2, 2) @ weir.ones(2, 2), record_shapes=True)
    found.export_chrome_trace(str(tmp_path / "trace.json"))
    events = {e["name"]: e for e in json.loads((tmp_path / "trace.json").read_text())["traceEvents"]}
    assert events["aten::matmul"]["cat"] == "cpu_op" and events["aten::matmul"]["args"]["Input Dims"] == [[2, 2], [2, 2]]
    assert events["aten::matmul"]["dur"] > 0
