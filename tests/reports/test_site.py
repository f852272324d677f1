"""The site: complete, honest when empty, reproducible, and usable in a real browser from file://."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
import samples
from weir_reports.intervals import Interval
from weir_reports.records import seal
from weir_reports.site import build, duration, percent, size
from weir_reports.svg import _apart, forest


class Links(HTMLParser):
    """Collects the addresses and ids of a page."""

    def __init__(self, page: Path):
        super().__init__()
        self.addresses, self.ids = set(), set()
        self.feed(page.read_text())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.addresses |= {attrs[name] for name in ("href", "src") if attrs.get(name)}
        self.ids |= {attrs["id"]} if "id" in attrs else set()


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("site")
    build(samples.everything(), out)
    return out


def test_every_link_leads_somewhere_local(site):
    check_links(site)


def test_links_lead_somewhere_when_long_lists_are_cut(tmp_path, monkeypatch):
    monkeypatch.setattr("weir_reports.site.SHOWN_ITEMS", 1)
    build(samples.everything(), tmp_path)
    assert "more in the JSON file" in next((tmp_path / "records").glob("*.html")).read_text()
    check_links(tmp_path)


def check_links(site):
    for page in site.rglob("*.html"):
        for address in Links(page).addresses:
            assert not re.match(r"[a-z]+:", address), f"{page.name} reaches outside: {address}"
            path, _, anchor = address.partition("#")
            target = (page.parent / path).resolve() if path else page
            assert target.exists(), f"{page.name}: {address}"
            assert not anchor or anchor in Links(target).ids, f"{page.name}: {address}"


def test_same_records_give_the_same_bytes(site, tmp_path):
    build(samples.everything(), tmp_path)
    for file in site.rglob("*.*"):
        assert file.read_bytes() == (tmp_path / file.relative_to(site)).read_bytes(), file.name


def test_a_failure_has_a_page_with_its_script(site):
    page = (site / "failures" / "flip.float32.stride.html").read_text()
    assert "print(torch.flip(x).stride())" in page and "weir-autotest shrink flip --dtype float32" in page
    assert "failures/flip.float32.stride.html" in (site / "generated.html").read_text()


def test_variables_that_choose_kernels_are_published(site):
    assert "OPENBLAS_CORETYPE=Haswell" in (site / "environment.html").read_text()


def test_planted_faults_and_the_trust_in_comparisons_are_published(site):
    page = (site / "generated.html").read_text()
    assert "A stable sort that is none" in page and "66.6%" in page and "argsort.stable int64" in page
    assert "66.6%" in (site / "bench.html").read_text()


def test_instructions_per_call_are_published_those_that_grew_first(site):
    page = (site / "bench.html").read_text()
    section = page[page.index('id="instructions"'):]
    assert "v0.3" in section and "1 of 3 cases need over 1.0% more" in section and "no item" in section
    assert section.index("+5.0%") < section.index("-1.0%") < section.index("no item")


def test_programs_are_published_those_that_differ_first_and_the_slowest_next(site):
    page = (site / "dlperf.html").read_text()
    section = page[page.index('id="programs"'):]
    assert "3 of 4 programs print" in section and "too short" in section and "line 1: 1.0, PyTorch prints 2.0" in section
    assert section.index(">other<") < section.index(">slow<") < section.index(">half<") < section.index(">short<")
    said = {c["metric"]["id"]: c["state"] for c in json.loads((site / "figures.json").read_text())["claims"] if c["metric"]}
    assert said["programs.same"] == said["programs.slowest"] == "fails"


def test_other_frameworks_are_published_and_answer_for_nobody(tmp_path):
    numpy = {**samples.campaign(), "subject": {"name": "weir_autotest.subjects.numpy_arrays", "version": "2.4"}}
    del numpy["run_id"]
    summary = build([seal(numpy), samples.campaign()], tmp_path)
    page = (tmp_path / "generated.html").read_text()
    assert "NumPy 2.4" in page and "Other frameworks" in page
    alone = build([samples.campaign()], tmp_path / "alone")
    assert summary["answers"] == alone["answers"] and summary["tally"] == alone["tally"] and not summary["changed"]
    check_links(tmp_path)


def test_an_inconclusive_case_is_drawn_hollow():
    rows = [("add", Interval(2.0, 1.9, 2.1), "#a", "hollow"), ("sub", Interval(2.0, 1.9, 2.1), "#b", "")]
    first, second = forest(rows, "title", "axis").split("<a ")[1:]
    assert 'class="row hollow"' in first and 'class="row better"' in second


def test_two_records_of_a_series_draw_a_trend(tmp_path):
    build([samples.campaign("2026-01-01T00:00:00", "PASS"), samples.campaign("2026-01-02T00:00:00")], tmp_path)
    assert 'class="trend"' in (tmp_path / "generated.html").read_text()
    check_links(tmp_path)


def test_verdict_counts_claims(site):
    summary = build(samples.everything(), site)
    states = {((c["metric"] or {}).get("id"), c["text"]): c["state"] for c in summary["claims"]}
    mean = "Ops are at least as fast as PyTorch's, on the geometric mean"
    assert states["conformance.fwd.float32", "Forward results agree with PyTorch"] == "holds"
    assert states["complete.fwd.float32", "What PyTorch's op database asks for is there"] == "fails"
    assert states["bench.mean.overhead", mean] == "holds"
    assert states["bench.right.overhead", "Benchmarked ops give PyTorch's answers"] == "fails"
    assert states["dlperf.memory.resnet50.fp32", "Training needs no more memory than PyTorch's best mode"] == "holds"
    assert any(metric == "control.mean.overhead" for metric, _ in states)


def test_empty_store_says_so(tmp_path):
    summary = build([], tmp_path)
    assert set(c["state"] for c in summary["claims"]) == {"unmeasured"}
    text = (tmp_path / "index.html").read_text()
    assert "Nothing has been measured yet" in text and "No bench record" in text


def test_units():
    assert [duration(x) for x in (5, 1820, 23.4e6, None)] == ["5.00 ns", "1.82 µs", "23.4 ms", "–"]
    assert size(3 << 30) == "3.00 GiB" and percent(0.9999) == "99.9%"


def test_in_a_browser(site, browser):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import Select

    browser.get((site / "index.html").as_uri())
    assert "claims hold" in browser.find_element(By.TAG_NAME, "h1").text
    browser.find_element(By.LINK_TEXT, "Conformance").click()

    def shown():
        return [row.get_attribute("data-op") for row in browser.find_elements(By.CSS_SELECTOR, "tr[data-op]")
                if row.is_displayed()]

    assert len(shown()) == 5
    box = browser.find_element(By.ID, "filter-text")
    box.send_keys("conv")
    assert shown() == ["conv3d", "conv2d"], "what is missing comes before what is right"
    Select(browser.find_element(By.ID, "filter-state")).select_by_visible_text("MISSING")
    assert shown() == ["conv3d"] and browser.find_element(By.ID, "filter-count").text == "1 of 5 ops"
    browser.find_element(By.CSS_SELECTOR, "tr[data-op=conv3d] a").click()
    assert samples.conformance()["run_id"][:12] in browser.find_element(By.TAG_NAME, "h1").text

    browser.get((site / "bench.html").as_uri())
    browser.find_element(By.CSS_SELECTOR, "#overhead svg a").click()
    entry = browser.find_element(By.CSS_SELECTOR, "details:target")
    assert entry.get_attribute("open") and "add 64" in entry.text
    assert browser.get_log("browser") == []


def test_a_sweep_draws_a_line_for_every_framework(tmp_path):
    runs = []
    for label, ms, batch in (("weir", 500, 16), ("weir", 300, 8), ("jax", 700, 16), ("jax", 400, 8)):
        run = {**samples.dlperf(label, ms, 0)}
        run["case"]["batch_size"] = batch
        del run["run_id"]
        runs.append(seal(run))
    build(runs, tmp_path)
    page = (tmp_path / "dlperf.html").read_text()
    assert "throughput over batch size" in page and page.count('class="line"') == 2
    check_links(tmp_path)


def test_labels_of_a_sweep_do_not_overlap():
    places = sorted(_apart([20, 21, 22, 100, 101], 15))
    assert all(b - a >= 15 for a, b in zip(places, places[1:])) and places[0] >= 15


def test_what_failed_stands_at_the_top(tmp_path):
    build(samples.everything(), tmp_path, ["Op benchmarks: exit code 124, out of time"])
    page = (tmp_path / "index.html").read_text()
    assert page.index("Op benchmarks: exit code 124, out of time") < page.index('class="answers"')
