// Forms: rows grow without a request.
(() => {
  "use strict";
  const addRow = (button) => {
    const rows = button.closest("[data-rows]");
    const row = rows.querySelector("template").content.cloneNode(true);
    const count = rows.querySelectorAll(":scope > .row").length;
    for (const part of row.querySelectorAll("[name], [id], [for], [aria-describedby]")) {
      for (const name of ["name", "id", "for", "aria-describedby"]) {
        const value = part.getAttribute(name);
        if (value) part.setAttribute(name, value.replaceAll("{n}", count));
      }
    }
    const first = row.querySelector("input, select, textarea");
    button.before(row);
    first?.focus();
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-add-row]");
    if (!button) return;
    event.preventDefault();
    addRow(button);
  });
})();
