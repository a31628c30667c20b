// Tables that are sorted by the column whose heading is pressed; where there are several bodies, all are.

function makeSortable() {
  document.querySelectorAll(".sortable table").forEach((table, number) => {
    const headings = [...table.tHead.rows[0].cells];
    headings.forEach((heading, column) => {
      const button = html(
        "button",
        { type: "button", class: "sort", onclick: () => press(table, number, column) },
        ...heading.childNodes,
      );
      heading.replaceChildren(button);
    });
    const before = state.sorts.get(number);
    if (before) sortBy(table, before.column, before.ascending);
  });
}

function press(table, number, column) {
  const before = state.sorts.get(number);
  const ascending = before && before.column === column ? !before.ascending : column === 0;
  state.sorts.set(number, { column, ascending });
  sortBy(table, column, ascending);
}

function sortBy(table, column, ascending) {
  for (const body of table.tBodies) {
    const rows = [...body.rows].map((row) => ({ row, key: sortKey(row, column) }));
    rows.sort((a, b) => {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null);
      const order = typeof a.key === "string" ? a.key.localeCompare(b.key) : a.key - b.key;
      return ascending ? order : -order;
    });
    body.append(...rows.map(({ row }) => row));
  }
  [...table.tHead.rows[0].cells].forEach((heading, i) => {
    if (i === column) heading.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    else heading.removeAttribute("aria-sort");
  });
}

// A name in the first column, a number in the others; null where there is none.
function sortKey(row, column) {
  let at = 0;
  for (const cell of row.cells) {
    if (column < (at += cell.colSpan)) {
      if (column === 0) return cell.textContent;
      return "value" in cell.dataset ? Number(cell.dataset.value) : null;
    }
  }
  return null;
}

// Which reading of λ the table of metrics shows.
function makeReadings() {
  const select = document.getElementById("reading");
  if (!select) return;
  const show = () => {
    state.reading = select.value;
    document
      .querySelectorAll("tbody[data-reading]")
      .forEach((body) => (body.hidden = body.dataset.reading !== select.value));
  };
  select.value = state.reading;
  if (select.selectedIndex < 0) select.selectedIndex = 0;
  select.addEventListener("change", show);
  show();
}
