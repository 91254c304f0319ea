"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const table = document.getElementById("queries");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const filter = document.getElementById("filter");
  const only = document.getElementById("only");
  const shown = document.getElementById("shown");

  const close = () => body.querySelectorAll("tr.detail").forEach((row) => row.remove());

  const apply = () => {
    close();
    const words = filter.value.toLowerCase();
    let count = 0;
    for (const row of rows) {
      const kept = row.dataset.text.includes(words) && (only.value === "" || row.dataset.moved.split(" ").includes(only.value));
      row.hidden = !kept;
      count += kept;
    }
    shown.textContent = `${count} of ${rows.length} queries`;
  };
  filter.addEventListener("input", apply);
  only.addEventListener("change", apply);

  const sort = (header) => {
    close();
    const column = header.cellIndex;
    const down = header.getAttribute("aria-sort") !== "descending";
    const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
    const numeric = rows.every((row) => value(row) === "" || !Number.isNaN(Number(value(row))));
    const order = (a, b) => (numeric ? Number(value(a)) - Number(value(b)) : value(a).localeCompare(value(b)));
    rows.sort((a, b) => (down ? order(b, a) : order(a, b)));
    body.append(...rows);
    for (const other of header.parentElement.cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", down ? "descending" : "ascending");
  };
  for (const header of table.tHead.rows[0].cells) header.querySelector("button").addEventListener("click", () => sort(header));

  const make = (name, text, kind) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  };
  const number = (value) => (value === null ? "–" : typeof value === "number" ? String(Math.round(value * 1e4) / 1e4) : Array.isArray(value) ? value.join(" ") : value);

  const ranking = (variant, question, columns) => {
    const holder = document.createDocumentFragment();
    const found = variant.queries[question.id];
    holder.append(make("h3", `${variant.name}${found.error ? ": failed, " + found.error : ""}`));
    if (found.error) return holder;
    const inner = document.createElement("table");
    const head = inner.createTHead().insertRow();
    const kept = columns.filter((_, place) => found.hits.some((hit) => hit[place] !== null));
    for (const title of ["rank", "grade", ...kept]) head.append(make("th", title.replaceAll("_", " "), title === "document" || title === "matched_terms" ? "text" : ""));
    const rest = inner.createTBody();
    found.hits.forEach((hit, index) => {
      const row = rest.insertRow();
      const grade = question.relevance[hit[0]];
      row.append(make("td", index + 1), make("td", grade === undefined ? "unjudged" : grade));
      hit.forEach((value, place) => {
        if (!kept.includes(columns[place])) return;
        const kind = (place === 0 || Array.isArray(value) ? "text wrap" : "") + (place === 0 && grade > 0 ? " relevant" : "");
        row.append(make("td", number(value), kind));
      });
    });
    holder.append(inner);
    return holder;
  };

  const open = (row) => {
    if (row.nextElementSibling?.classList.contains("detail")) return row.nextElementSibling.remove();
    const question = data.questions[row.dataset.index];
    const detail = make("tr", undefined, "detail");
    const cell = detail.insertCell();
    cell.colSpan = row.cells.length;
    cell.append(make("p", question.query));
    const relevant = Object.entries(question.relevance).filter(([, grade]) => grade > 0).map(([id, grade]) => `${id} (${grade})`);
    cell.append(make("p", `Relevant: ${relevant.join(", ")}`, "soft"));
    for (const variant of data.variants) cell.append(ranking(variant, question, data.hit_columns));
    row.after(detail);
  };
  for (const row of rows) {
    row.addEventListener("click", () => open(row));
    row.addEventListener("keydown", (event) => { if (event.key === "Enter") open(row); });
  }
  document.getElementById("controls").hidden = false;
  apply();
})();
