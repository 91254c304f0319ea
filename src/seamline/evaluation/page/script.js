"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const table = document.getElementById("queries");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const filter = document.getElementById("filter");
  const only = document.getElementById("only");
  const shown = document.getElementById("shown");

  const close = () => {
    body.querySelectorAll("tr.detail").forEach((row) => row.remove());
    rows.forEach((row) => row.classList.remove("open"));
  };

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

  // Where each relevant document stands in each variant's whole ranking.
  const places = (question, relevant) => {
    const inner = document.createElement("table");
    const head = inner.createTHead().insertRow();
    for (const title of ["relevant document", "grade"]) head.append(make("th", title, title === "grade" ? "" : "text"));
    for (const variant of data.variants) head.append(make("th", variant.name));
    const rest = inner.createTBody();
    for (const [id, grade] of relevant) {
      const row = rest.insertRow();
      row.append(make("td", id, "text wrap"), make("td", grade));
      for (const variant of data.variants) {
        const rank = variant.queries[question.id].ranks[id];
        row.append(make("td", rank === undefined ? "not found" : rank, rank === undefined ? "missed" : rank <= 10 ? "found" : ""));
      }
    }
    return inner;
  };

  const ranking = (variant, question, columns) => {
    const holder = document.createElement("details");
    const found = variant.queries[question.id];
    holder.append(make("summary", `${variant.name}${found.error ? ": failed, " + found.error : ""}`));
    holder.open = true;
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
    if (!row.classList.toggle("open")) return row.nextElementSibling.remove();
    const question = data.questions[row.dataset.index];
    const detail = make("tr", undefined, "detail");
    const cell = detail.insertCell();
    cell.colSpan = row.cells.length;
    const inside = make("div", undefined, "inside");
    const relevant = Object.entries(question.relevance).filter(([, grade]) => grade > 0).sort((a, b) => b[1] - a[1]);
    inside.append(make("p", question.query), places(question, relevant.slice(0, 20)));
    if (relevant.length > 20) inside.append(make("p", `and ${relevant.length - 20} more relevant documents`, "soft"));
    for (const variant of data.variants) inside.append(ranking(variant, question, data.hit_columns));
    cell.append(inside);
    row.after(detail);
  };
  for (const row of rows) {
    row.addEventListener("click", () => open(row));
    row.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(row); } });
  }
  document.getElementById("controls").hidden = false;
  apply();
})();
