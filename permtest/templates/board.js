// Sorts and searches the ranking of a leaderboard. Without it the page shows all rows.
"use strict";

{
  const table = document.querySelector("table.sortable");
  const rows = [...table.querySelectorAll("tbody tr")];
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];

  function number(text) {
    const found = parseFloat(text.replace(/,/g, ""));
    return text === "never" ? Infinity : found;
  }

  // ---- search

  const label = document.createElement("label"), input = document.createElement("input");
  const status = document.createElement("span");
  input.type = "search";
  status.setAttribute("role", "status");
  label.append("Search systems ", input);
  const tools = document.createElement("p");
  tools.className = "tools";
  tools.append(label, " ", status);
  table.closest(".wide").before(tools);
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows) {
      row.hidden = !row.querySelector("th").textContent.toLowerCase().includes(wanted);
      shown += !row.hidden;
    }
    status.textContent = wanted === "" ? "" : `${shown} of ${rows.length} systems`;
  });

  // ---- order

  function sort(column, down) {
    const cells = new Map(rows.map((row) => [row, row.cells[column].textContent.trim()]));
    const numeric = rows.every((row) => cells.get(row) === "" || !isNaN(number(cells.get(row))));
    rows.sort((a, b) => {
      const x = cells.get(a), y = cells.get(b);
      if (x === "" || y === "") return (x === "") - (y === "");  // what has no value comes last
      const order = numeric ? Math.sign(number(x) - number(y)) || 0 : x.localeCompare(y, undefined, { numeric: true });
      return down ? -order : order;
    });
    body.append(...rows);
  }

  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      const first = head.dataset.first || "ascending";
      const other = first === "ascending" ? "descending" : "ascending";
      for (const one of heads) one.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", now === first ? other : first);
      sort(column, head.getAttribute("aria-sort") === "descending");
    });
  });
  if (heads[0].textContent === "rank") heads[0].setAttribute("aria-sort", "ascending");
}
