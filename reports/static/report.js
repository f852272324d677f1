// Filters the conformance table by op name and state, and opens the record entry that an address points at.
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
  }

  if (text) {
    text.addEventListener("input", filter);
    state.addEventListener("change", filter);
    filter();
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
