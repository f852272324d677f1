// Filters the conformance table by op name and state, keeps the filter in the address, sorts tables by their columns, and opens
// the record entry that an address points at.
(() => {
  const text = document.getElementById("filter-text");
  const state = document.getElementById("filter-state");
  const count = document.getElementById("filter-count");

  function filter() {
    const rows = [...document.querySelectorAll("tr[data-op]")];
    const wanted = text.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows) {
      const fits = row.dataset.op.includes(wanted) &&
        (!state.value || row.dataset.states.split("|").includes(state.value));
      row.hidden = !fits;
      shown += fits;
    }
    count.textContent = `${shown} of ${rows.length} ops`;
    const query = new URLSearchParams();
    if (text.value) query.set("op", text.value);
    if (state.value) query.set("state", state.value);
    history.replaceState(null, "", (query.size ? `?${query}` : location.pathname) + location.hash);
  }

  if (text) {
    const asked = new URLSearchParams(location.search);
    text.value = asked.get("op") || "";
    state.value = asked.get("state") || "";
    text.addEventListener("input", filter);
    state.addEventListener("change", filter);
    filter();
  }

  // A cell sorts by its first number, with its unit, or by its text; an em dash comes last.
  const units = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "MiB": 2 ** 20, "GiB": 2 ** 30, "k": 1e3};
  function key(row, column) {
    const said = row.cells[column]?.textContent.trim() || "";
    const number = said.match(/^-?[\d.,]+(?:e[+-]?\d+)?/);
    if (!number) return said === "–" ? Infinity : said.toLowerCase();
    const unit = said.slice(number[0].length).trim().split(/\s/)[0];
    return parseFloat(number[0].replaceAll(",", "")) * (units[unit] || 1);
  }
  function sort(head) {
    const table = head.closest("table"), column = head.cellIndex;
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const rows = [...table.tBodies[0].rows].map((row) => [key(row, column), row]);
    rows.sort(([a], [b]) => (typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1) * (up ? 1 : -1));
    table.tBodies[0].append(...rows.map(([, row]) => row));
  }
  for (const table of document.querySelectorAll("table:not(.claims)")) {
    if (!table.tHead || table.tBodies.length !== 1) continue;
    for (const head of table.tHead.rows[0].cells) {
      head.classList.add("sortable");
      head.tabIndex = 0;
      head.addEventListener("click", () => sort(head));
      head.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(head); });
    }
  }

  function openTarget() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName === "DETAILS") {
      target.open = true;
      target.scrollIntoView();
    }
  }
  addEventListener("hashchange", openTarget);
  openTarget();
})();
